"""Several models: rankings of the same examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, tolerance
from quotakernels._types import T
from quotakernels.inputs.columns import MASS_ROUNDING, adopt, check_same_totals
from quotakernels.inputs.examples import good_rows
from quotakernels.inputs.totals import Totals
from quotakernels.ranking import Ranking, refuse_groups, table_of

Models: TypeAlias = Ranking[T] | Sequence[Ranking[T]] | Mapping[Any, Ranking[T]]


class Family(NamedTuple):
    """The tables of the models, and for each row of the batch: have all the same P and N?

    A row that is invalid in one of them does not agree.
    """

    tables: tuple[ops.TieTable, ...]
    agree: Array


def family_of(models: Models) -> Family:
    """Check that the models have ranked the same examples, as far as their totals tell."""
    named = named_models(models)
    for name, model in named.items():
        if not isinstance(model, Ranking):
            raise TypeError(f"{name} must be a Ranking; got {type(model).__name__}")
    xp, rankings = in_one_library(named)
    shapes = {tuple(ranking.counts.shape[:-1]) for ranking in rankings}
    if len(shapes) > 1:
        listed = " and ".join(str(shape) for shape in sorted(shapes))
        raise ValueError(f"models must have the same batch axes; got {listed}")
    with xp.computing():
        tables = tuple(table_of(xp, ranking) for ranking in rankings)
        sums = [Totals(xp, table) for table in tables]
        positive = xp.stack([x.positive for x in sums], axis=-1)
        negative = xp.stack([x.negative for x in sums], axis=-1)
        differ = _differs(xp, positive) | _differs(xp, negative)
        check_same_totals(list(named), negative, positive, differ)
        agree = ~xp.any(differ, axis=-1)
        good = [good_rows(ranking) for ranking in rankings]
        for rows in (x[..., 0] for x in good if x is not None):
            agree = agree & rows
        return Family(tables, agree)


def _differs(xp: Namespace, masses: Array) -> Array:
    """Which of the last axis differ from the first by more than the rounding of sums.

    Masses of invalid rows are NaN, and differ from nothing.
    """
    first = masses[..., :1]
    return xp.abs(masses - first) > tolerance(first, MASS_ROUNDING) * first


def in_one_library(named: dict[str, Ranking]) -> tuple[Namespace, list[Ranking]]:
    """The rankings, in the library and on the device of those that are not NumPy's.

    Without further columns, which no function of several rankings needs.
    """
    for name, model in named.items():
        refuse_groups(model, name)
    columns = {
        f"{name}.{field}": x
        for name, model in named.items()
        for field, x in zip(Ranking._fields[:5], model, strict=False)
    }
    xp, columns = adopt(columns)
    values = iter(columns.values())
    return xp, [Ranking(*(next(values) for _ in range(5))) for _ in named]


def _model(models: Ranking, number: int) -> Ranking:
    return models.map(lambda x: x[..., number, :])


def named_models(models: Models) -> dict[str, Any]:
    """Each of the models under the name that messages call it."""
    if isinstance(models, Ranking):
        if models.counts.ndim < 2:
            raise ValueError(
                "a single Ranking needs an axis of models before that of its groups; "
                f"got shape {tuple(models.counts.shape)}"
            )
        number = models.counts.shape[-2]
        named = {f"model {m}": _model(models, m) for m in range(number)}
    elif isinstance(models, Mapping):
        named = {f"models[{name!r}]": model for name, model in models.items()}
    elif isinstance(models, Iterable):
        named = {f"models[{m}]": model for m, model in enumerate(models)}
    else:
        raise TypeError(
            "models must be a mapping or a sequence of Rankings, or one Ranking; "
            f"got {type(models).__name__}"
        )
    if not named:
        raise ValueError("models must hold at least one Ranking; got none")
    return named
