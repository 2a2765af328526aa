"""What is brought on either side of a cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, device, namespace, wide_float
from quotakernels.inputs.cuts import cut_ends
from quotakernels.inputs.totals import Totals


class CutRows(NamedTuple):
    """Rows in which selections end, shape (..., K), and the share ``part / unit`` they take."""

    index: Array
    part: Array
    unit: Array


def cut_at_quotas(table: ops.Groups, wanted: Array) -> CutRows:
    """Where the wanted masses end; the whole mass takes every row, however sums are rounded."""
    xp = namespace(wanted)
    index, row = ops.rows_at(xp, table, wanted)
    one = xp.ones_like(wanted)
    unit = xp.where(row.mass > 0, row.mass, one)
    part = xp.minimum(wanted - row.mass_before, unit)  # rounded sums may overshoot
    if table.weighted:  # products with masses of any size could overflow
        part, unit = part / unit, one
    everybody = wanted >= xp.expand_dims(Totals(xp, table).whole, axis=-1)
    last = ops.last_row(xp, table, index)
    return CutRows(xp.where(everybody, last, index), xp.where(everybody, unit, part), unit)


def rows_to_cut(xp: Namespace, table: ops.Groups) -> ops.Groups:
    """The table with its empty rows behind the others; of groups of examples as it is."""
    return table if table.segments else ops.filled_first(xp, table)


def cut_at_thresholds(table: ops.Groups, wanted: Array, inclusive: bool) -> CutRows:
    """Where the thresholds cut the `rows_to_cut`."""
    xp = namespace(table.counts)
    if table.segments:
        return _groups_cut(xp, table, wanted, inclusive)
    wanted = xp.broadcast_to(wanted, (*table.counts.shape[:-1], *wanted.shape))
    ends = cut_ends(xp, table, wanted, inclusive)
    index = ops.clip(xp, ends, high=table.counts.shape[-1] - 1)
    part = cast(xp, ends > index, wide_float(xp, device(ends)))
    return CutRows(index, part, xp.ones_like(part))


def _groups_cut(xp: Namespace, table: ops.Groups, wanted: Array, inclusive: bool) -> CutRows:
    """Each group ends above its first row that does not reach the threshold, if there is one."""
    index, part = [], []
    for k in range(wanted.shape[-1]):
        reached = ops.reaching(xp, table.thresholds, wanted[..., k], inclusive)
        first, there = ops.first_flagged(xp, table, (table.counts > 0) & ~reached)
        last = ops.last_row(xp, table, xp.expand_dims(first, axis=-1))[..., 0]
        index.append(xp.where(there, first, last))
        part.append(there)
    whole = cast(xp, ~xp.stack(part, axis=-1), wide_float(xp, device(table.counts)))
    empty = xp.expand_dims(Totals(xp, table).examples == 0, axis=-1)
    whole = ops.nan_unless(xp, ~empty, whole)
    return CutRows(xp.stack(index, axis=-1), whole, xp.ones_like(whole))


def selected(table: ops.Groups, column: Array, cut: CutRows) -> Array:
    """The sums of a column above each cut, times its `unit`; in whole numbers they are exact."""
    return _beside(ops.sums_before, table, column, cut, cut.part)


def rejected(table: ops.Groups, column: Array, cut: CutRows) -> Array:
    """The same below each cut: in a difference of sums a small one would be lost."""
    return _beside(ops.sums_behind, table, column, cut, cut.unit - cut.part)


def _beside(
    sums: Callable[..., Array], table: ops.Groups, column: Array, cut: CutRows, part: Array
) -> Array:
    xp = namespace(part)
    column = cast(xp, column, wide_float(xp, device(column)))
    own = ops.column_at(xp, table, column, cut.index)
    return sums(xp, table, column, cut.index) * cut.unit + own * part
