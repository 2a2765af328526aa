"""Several models: rankings of the same examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, tolerance
from quotakernels._types import T
from quotakernels.inputs.columns import MASS_ROUNDING, adopt, check_same_totals
from quotakernels.inputs.examples import good_rows
from quotakernels.inputs.numbers import common_shape
from quotakernels.inputs.totals import Totals
from quotakernels.measures.at_quota import cut_masses
from quotakernels.ranking import Ranking, refuse_groups, table_of

Models: TypeAlias = Ranking[T] | Sequence[Ranking[T]] | Mapping[Any, Ranking[T]]


class Family(NamedTuple):
    """The tables of the models, and for each row of the batch: have all the same P and N?

    A row that is invalid in one of them does not agree.
    """

    tables: tuple[ops.TieTable, ...]
    agree: Array


def family_of(named: dict[str, Any]) -> tuple[Namespace, Family, float]:
    """The models, if they rank the same examples, as far as their totals tell; batches broadcast.

    Masses may differ by the last number, relatively, which is 0 for counts.
    """
    for name, model in named.items():
        if not isinstance(model, Ranking):
            raise TypeError(f"{name} must be a Ranking; got {type(model).__name__}")
    xp, rankings = in_one_library(named)
    lists = (ranking.counts[..., 0] for ranking in rankings)
    batch = common_shape(dict(zip(named, lists, strict=True)))
    with xp.computing():
        tables = tuple(_in_batch(xp, table_of(xp, ranking), batch) for ranking in rankings)
        masses = [x.positive_weights for x in rankings]
        weighted = [x for x in masses if xp.of_kind(x.dtype, "real floating")]
        rounding = max([0.0, *(tolerance(x, MASS_ROUNDING) for x in weighted)])
        agree = xp.ones(batch, dtype=xp.bool, device=device(masses[0]))
        for rows in (good_rows(ranking) for ranking in rankings):
            agree = agree if rows is None else agree & rows[..., 0]
        sums = [Totals(xp, table) for table in tables]
        positive = xp.stack([x.positive for x in sums], axis=-1)
        negative = xp.stack([x.negative for x in sums], axis=-1)
        differ = _differs(xp, positive, rounding) | _differs(xp, negative, rounding)
        differ = differ & xp.expand_dims(agree, axis=-1)
        check_same_totals(list(named), negative, positive, differ)
        return xp, Family(tables, agree & ~xp.any(differ, axis=-1)), rounding


def cut_masses_of(
    xp: Namespace, family: Family, rounding: float, integer: Any
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """The selected negative and positive masses of each model at every cut: `integer`, or floats
    where these have a `rounding`.
    """
    number = xp.wide_float(device(family.agree)) if rounding else integer
    columns = zip(*(cut_masses(xp, table) for table in family.tables), strict=True)
    negative, positive = (tuple(xp.cast(x, number) for x in column) for column in columns)
    return negative, positive


def _in_batch(xp: Namespace, table: ops.TieTable, batch: tuple[int, ...]) -> ops.TieTable:
    if table.counts.shape[:-1] == batch:
        return table
    return table.map(lambda x: xp.broadcast_to(x, (*batch, x.shape[-1])))


def _differs(xp: Namespace, masses: Array, rounding: float) -> Array:
    """Which of the last axis differ from the first by more than the rounding of sums."""
    first = masses[..., :1]
    return xp.abs(masses - first) > rounding * first


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
