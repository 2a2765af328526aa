"""The door for several models: rankings of the same examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, computing, library, namespace, readable
from quotakernels.measures._reduction import totals
from quotakernels.ranking import Ranking, table_of
from quotakernels.validation import MASS_ROUNDING

__all__ = ["Family", "Models", "family_of"]

Models: TypeAlias = Ranking | Sequence[Ranking] | Mapping[Any, Ranking]


class Family(NamedTuple):
    """The tables of the models, and for each row of the batch: have all the same P and N?"""

    tables: tuple[ops.Groups, ...]
    agree: Array


def family_of(models: Models) -> Family:
    """Check that the models have ranked the same examples, as far as their totals tell."""
    rankings = _rankings(models)
    xp = namespace(rankings[0].counts)
    with computing(xp):
        tables = tuple(table_of(xp, ranking) for ranking in rankings)
        first, *others = (totals(xp, table) for table in tables)
        agree = xp.ones_like(first.whole, dtype=xp.bool)
        for number, other in enumerate(others, start=1):
            for name in ("positive", "negative"):
                mine, theirs = getattr(first, name), getattr(other, name)
                same = xp.abs(mine - theirs) <= MASS_ROUNDING * mine
                if readable(same) and not bool(xp.all(same)):
                    raise ValueError(
                        f"models must rank the same examples; model 0 has {name} mass {mine} and "
                        f"model {number} has {theirs}"
                    )
                agree = agree & same
    return Family(tables, agree)


def _rankings(models: Models) -> list[Ranking]:
    if isinstance(models, Ranking):
        if models.counts.ndim < 2:
            raise ValueError("one Ranking of several models must have an axis of models before G")
        rows = range(models.counts.shape[-2])
        rankings = [Ranking(*(x[..., row, :] for x in models)) for row in rows]
    elif not isinstance(models, Iterable):
        raise TypeError(f"models must be Rankings; got {type(models).__name__}")
    else:
        rankings = list(models.values() if isinstance(models, Mapping) else models)
    if not rankings:
        raise ValueError("models must hold at least one Ranking")
    for x in rankings:
        if not isinstance(x, Ranking):
            raise TypeError(f"models must hold Rankings; got {type(x).__name__}")
        if namespace(x.counts) is not namespace(rankings[0].counts):
            raise TypeError(
                f"models are of {library(rankings[0].counts)} and of {library(x.counts)}; "
                "rank them in one library"
            )
        if tuple(x.counts.shape[:-1]) != tuple(rankings[0].counts.shape[:-1]):
            raise ValueError("models must have the same batch axes")
    return rankings
