"""What is brought on either side of a cut."""

from __future__ import annotations

from typing import NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, device, namespace, wide_float
from quotakernels.inputs.curve_points import cut_ends
from quotakernels.inputs.quotas import Totals


class CutRows(NamedTuple):
    """Rows in which selections end, shape (..., K), and the share ``part / unit`` they take."""

    index: Array
    part: Array
    unit: Array


class Split(NamedTuple):
    """Sums over the selected and over the rejected, times the cut's ``unit``."""

    selected: Array
    rejected: Array


def before(xp: Namespace, column: Array) -> Array:
    """Sums of the rows above each cut, shape (..., G + 1)."""
    sums = ops.prefix_sum(xp, column)
    return xp.concat([xp.zeros_like(sums[..., :1]), sums], axis=-1)


def after(xp: Namespace, column: Array) -> Array:
    """Sums of the rows below each cut; in a difference of sums a small one would be lost."""
    return xp.flip(before(xp, xp.flip(column, axis=-1)), axis=-1)


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


def cut_at_thresholds(table: ops.Groups, wanted: Array, inclusive: bool) -> CutRows:
    """Where the thresholds cut a table without empty rows before others."""
    xp = namespace(wanted)
    wanted = xp.broadcast_to(wanted, (*table.counts.shape[:-1], *wanted.shape))
    ends = cut_ends(xp, table, wanted, inclusive)
    index = xp.clip(ends, max=table.counts.shape[-1] - 1)
    part = cast(xp, ends > index, wide_float(xp, device(ends)))
    return CutRows(index, part, xp.ones_like(part))


def split(table: ops.Groups, column: Array, cut: CutRows) -> Split:
    """The sums of a column on either side of the cut; in whole numbers they are exact."""
    xp = namespace(cut.part)
    column = cast(xp, column, wide_float(xp, device(column)))
    own = ops.column_at(xp, table, column, cut.index)
    if table.segments:
        above, below = ops.sums_of_groups_beside(xp, table, column, cut.index)
    else:
        above = xp.take_along_axis(before(xp, column)[..., :-1], cut.index, axis=-1)
        below = xp.take_along_axis(after(xp, column)[..., 1:], cut.index, axis=-1)
    return Split(above * cut.unit + own * cut.part, below * cut.unit + own * (cut.unit - cut.part))
