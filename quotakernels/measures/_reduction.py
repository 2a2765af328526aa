"""Measures that are sums over the rows of the table; several of them can share one pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast
from quotakernels.inputs.totals import Totals


class Reduction(NamedTuple):
    """A value made of sums over the rows, or over the positions.

    ``terms(*columns)`` gives the arrays to sum, of columns named as in `ops.Columns`;
    ``value(*sums)`` makes the value of the sums.  `whole` terms are whole numbers where the masses
    are.  Summands `by_position` have the same sums, for tables in place.
    """

    columns: tuple[str, ...]
    terms: Callable[..., tuple[Array, ...]]
    value: Callable[..., Any]
    whole: bool = False
    by_position: ops.Summands | None = None

    def summands(self, xp: Namespace, table: Any) -> ops.Summands:
        """What is summed of this table."""
        if self.by_position is not None and ops.summed_by_position(xp, table):
            return self.by_position
        return ops.Summands(self.columns, self.terms, self.whole)


class Sums(NamedTuple):
    """How a measure is made of a reduction: ``take(value)`` of what ``make(…)`` makes."""

    make: Callable[..., Reduction]
    take: Callable[[Any], Any] = lambda value: value


def item_scale(xp: Namespace, table: ops.Groups, total: Totals) -> Array:
    """The factor that gives masses a mean of one per example."""
    if table.weighted:
        return cast(xp, total.examples, total.whole.dtype) / total.whole
    return xp.ones_like(total.whole)


def reduced(xp: Namespace, table: Any, *reductions: Reduction) -> list[Any]:
    """The values of all the reductions, from one pass over the table."""
    sums = ops.sum_rows(xp, table, *(r.summands(xp, table) for r in reductions))
    return [r.value(*own) for r, own in zip(reductions, sums, strict=True)]
