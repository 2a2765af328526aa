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
    are.  Summands `by_position` have the same sums, for tables in place.  The reduction
    `of_positives` has the same value, of the tie groups alone that hold positives: there
    ``mass_next`` is what stands before the next, and ``single`` the positive of a group of one.
    """

    columns: tuple[str, ...]
    terms: Callable[..., tuple[Array, ...]]
    value: Callable[..., Any]
    whole: bool = False
    by_position: ops.Summands | None = None
    of_positives: Reduction | None = None
    beside: tuple[Array, ...] = ()
    ties: ops.Summands | None = None

    def summands(self, xp: Namespace, table: Any) -> ops.Summands:
        """What is summed of this table."""
        if self.by_position is not None and ops.summed_by_position(xp, table):
            return self.by_position
        return ops.Summands(self.columns, self.terms, self.whole, self.beside, self.ties)


def without_sums(value: Callable[[], Any]) -> Reduction:
    """A value that needs no sums but totals."""
    return Reduction((), lambda: (), value)


class Sums(NamedTuple):
    """How a measure is made of a reduction: ``take(value)`` of what ``make(…)`` makes.

    The measure may take `ops.Moments` too, in place of a table.
    """

    make: Callable[..., Reduction]
    take: Callable[[Any], Any] = lambda value: value
    by_moments: bool = False


def item_scale(xp: Namespace, table: ops.Groups, total: Totals) -> Array:
    """The factor that gives masses a mean of one per example."""
    if table.weighted:
        return cast(xp, total.examples, total.whole.dtype) / total.whole
    return xp.ones_like(total.whole)


def reduced(xp: Namespace, table: Any, *reductions: Reduction) -> list[Any]:
    """The values of all the reductions, from one pass over the table."""
    if isinstance(table, ops.Positives):
        own = [r.of_positives for r in reductions if r.of_positives is not None]
        if len(own) == len(reductions):
            if not any(r.columns for r in own):  # of totals alone
                return [r.value() for r in own]
            reductions = tuple(own)
        else:
            table = ops.all_groups(table)
    sums = ops.sum_rows(xp, table, *(r.summands(xp, table) for r in reductions))
    return [r.value(*own) for r, own in zip(reductions, sums, strict=True)]
