"""Tables of several groups of examples: what belongs to each group, and sums over its rows."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels._array import Array, Namespace, cast, device, of_kind, wide_float
from quotakernels.ops import native
from quotakernels.ops._table import Cumulative, Groups, Rows, Segments
from quotakernels.ops.keys import from_order_key, is_float, key_bits, lowest_key, order_key
from quotakernels.ops.scans import (
    bisect,
    flagged_first,
    prefix_sum,
    segment_sum,
    shifted,
    taken,
    total,
)


class Combined(NamedTuple):
    """Scores and groups of examples as one integer, which falls from the best row to the last.

    Its upper half counts the groups from the end.  The lower one is the score's key, if that has
    32 bits or fewer, or else its place among the distinct keys, the `levels`.
    """

    scores: Array
    levels: Array
    dtype: Any


def combined(
    xp: Namespace, scores: Array, codes: Array, size: int, valid: Array | None
) -> Combined:
    """Scores with the group of each example, from 0 to size - 1; what does not count is last."""
    key = order_key(xp, scores)
    levels = key[..., :0]
    if is_float(xp, key) or key_bits(xp, key.dtype) > 32:
        levels, key = _ranked(xp, key)
    upper = size - 1 - cast(xp, codes, xp.int64)
    both = (upper << 32) + cast(xp, key, xp.int64) - _offset(xp, levels)
    both = both if valid is None else xp.where(valid, both, lowest_key(xp, both))
    return Combined(both, levels, scores.dtype)


def of_each_group(xp: Namespace, thresholds: Array, size: int) -> Combined:
    """The rows of as many groups of examples, all with the same thresholds, best first."""
    levels = xp.flip(order_key(xp, thresholds), axis=-1)
    place = device(thresholds)
    upper, lower = (
        xp.arange(number - 1, -1, -1, dtype=xp.int64, device=place)
        for number in (size, thresholds.shape[-1])
    )
    both = (xp.expand_dims(upper, axis=-1) << 32) + lower
    return Combined(xp.reshape(both, (-1,)), levels, thresholds.dtype)


def parted(xp: Namespace, table: Groups, given: Combined, ids: Array) -> Groups:
    """The table of the combined scores with scores and groups apart."""
    size, half = ids.shape[-1], 1 << 31
    upper = (table.thresholds + half) >> 32
    key = table.thresholds - (upper << 32) + _offset(xp, given.levels)
    if (most := given.levels.shape[-1]) > 0:
        key = taken(xp, given.levels, xp.clip(key, min=0, max=most - 1))
    key = cast(xp, key, given.levels.dtype)
    group = size - 1 - upper
    every = xp.arange(size + 1, dtype=group.dtype, device=device(group))
    starts = bisect(xp, group, xp.broadcast_to(every, (*group.shape[:-1], size + 1)))
    ids = xp.broadcast_to(ids, (*group.shape[:-1], size))
    segments = Segments(ids, starts, xp.clip(group, min=0, max=max(size - 1, 0)))
    return table._replace(thresholds=from_order_key(xp, key, given.dtype), segments=segments)


def _offset(xp: Namespace, levels: Array) -> int:
    """What brings keys into the range of 32-bit integers; levels are of their type."""
    unsigned = levels.shape[-1] == 0 and xp.isdtype(levels.dtype, "unsigned integer")
    return 1 << 31 if unsigned and key_bits(xp, levels.dtype) == 32 else 0


def _ranked(xp: Namespace, key: Array) -> tuple[Array, Array]:
    """The distinct keys, padded, and the place of each key among them."""
    if native.library(xp) == "numpy" and key.ndim == 1:
        return native.numpy_.ranked(key)
    order = xp.argsort(key, axis=-1)
    rising = taken(xp, key, order)
    differs = rising[..., 1:] != rising[..., :-1]
    first = xp.ones((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    first = xp.concat([first, differs], axis=-1)
    place = prefix_sum(xp, cast(xp, first, xp.int64)) - 1
    levels = taken(xp, rising, flagged_first(xp, first))
    return levels, taken(xp, place, xp.argsort(order, axis=-1))


def spread(xp: Namespace, table: Groups, x: Array) -> Array:
    """What belongs to each group of examples, shape (..., S), beside the rows of the group.

    Of one table of all examples: its number, shape (...), with a last axis of length 1.
    """
    if not table.segments:
        return xp.expand_dims(x, axis=-1)
    if x.shape[-1] == 0:  # no groups, but one empty row
        x = xp.zeros((*x.shape[:-1], 1), dtype=x.dtype, device=device(x))
    return taken(xp, x, table.segments.of_row)


def group_total(xp: Namespace, table: Groups | Cumulative, x: Array) -> Array:
    """The sum over all rows, or over those of each group of examples, shape (..., S)."""
    if isinstance(table, Cumulative) or not table.segments:
        return total(xp, x)
    starts = table.segments.starts
    if of_kind(xp, x.dtype, "integral"):
        return _between(xp, prefix_sum(xp, x, xp.int64), starts)
    if native.library(xp) == "numpy" and x.ndim == 1:
        return native.numpy_.sums_between(x, starts)
    ends = taken(xp, running_total(xp, table, x), xp.clip(starts[..., 1:] - 1, min=0))
    return xp.where(starts[..., 1:] > starts[..., :-1], ends, xp.zeros_like(ends))


def _between(xp: Namespace, sums: Array, starts: Array) -> Array:
    """What running sums of whole numbers grow by within each group."""
    none = xp.zeros((*sums.shape[:-1], 1), dtype=sums.dtype, device=device(sums))
    at = taken(xp, xp.concat([none, sums], axis=-1), starts)
    return at[..., 1:] - at[..., :-1]


def running_total(xp: Namespace, table: Groups, x: Array, exact: bool = False) -> Array:
    """Sums up to and with each row, within its group of examples.

    Sums of numbers that are `exact` may cross groups on the way.
    """
    whole = of_kind(xp, x.dtype, "integral")
    dtype = xp.int64 if whole else x.dtype
    if not table.segments:
        return prefix_sum(xp, x, dtype)
    if exact or whole:
        sums = prefix_sum(xp, x, dtype)
        before = shifted(xp, sums, 1, 0) if sums.shape[-1] else sums
        start = xp.clip(table.segments.starts[..., :-1], max=max(sums.shape[-1] - 1, 0))
        return sums - spread(xp, table, taken(xp, before, start))
    return segment_sum(xp, x, first_rows(xp, table))


def first_rows(xp: Namespace, table: Groups) -> Array:
    """Which rows begin a group of examples."""
    rows = xp.arange(table.counts.shape[-1], dtype=xp.int64, device=device(table.counts))
    return rows == spread(xp, table, table.segments.starts[..., :-1])


def rows_of_groups_at(xp: Namespace, table: Groups, wanted: Array) -> tuple[Array, Rows]:
    """The row of each group of examples that owns each wanted mass, shape (..., S, K)."""
    wide = wide_float(xp, device(table.counts))
    columns = (table.counts, table.mass, table.positive, table.negative)
    sums = [running_total(xp, table, x) for x in columns[:3]]
    index = _reached(xp, table, sums[1], wanted)
    first = index <= xp.expand_dims(table.segments.starts[..., :-1], axis=-1)

    def at(x: Array, place: Array) -> Array:
        return cast(xp, _at(xp, x, place), wide)

    def before(upto: Array) -> Array:
        found = at(upto, xp.clip(index - 1, min=0))
        return xp.where(first, xp.zeros_like(found), found)

    return index, Rows(*map(before, sums), *(at(x, index) for x in columns))


def column_at(xp: Namespace, table: Groups, x: Array, index: Array) -> Array:
    """What a column has in rows that `rows_at` found."""
    return _at(xp, x, index) if table.segments else taken(xp, x, index)


def _at(xp: Namespace, x: Array, index: Array) -> Array:
    """What stands at each index, of shape (..., S, K)."""
    return xp.reshape(taken(xp, x, _flat(xp, index)), index.shape)


def _flat(xp: Namespace, x: Array) -> Array:
    """All groups of examples in one list, shape (..., S * K)."""
    return xp.reshape(x, (*x.shape[:-2], x.shape[-2] * x.shape[-1]))


def _reached(xp: Namespace, table: Groups, upto: Array, wanted: Array) -> Array:
    """The first row of each group of which the sum reaches a wanted mass, or the group's last."""
    starts = table.segments.starts
    low, stop = (xp.expand_dims(x, axis=-1) for x in (starts[..., :-1], starts[..., 1:]))
    last = xp.clip(stop - 1, min=0)
    whole = cast(xp, _at(xp, upto, last), wanted.dtype)
    whole = xp.where(stop > low, whole, xp.zeros_like(whole))
    wanted = xp.minimum(wanted, whole)
    found = (
        _searched(xp, upto, wanted, low, stop)
        if table.weighted
        else (_searched_among_all(xp, table, wanted, low))
    )
    return xp.clip(xp.maximum(xp.minimum(found, stop - 1), low), max=max(upto.shape[-1] - 1, 0))


def _searched_among_all(xp: Namespace, table: Groups, wanted: Array, low: Array) -> Array:
    """Numbers of examples go on from group to group: one search serves all groups."""
    ends = prefix_sum(xp, table.counts, xp.int64)
    none = xp.zeros((*ends.shape[:-1], 1), dtype=ends.dtype, device=device(ends))
    before = _at(xp, xp.concat([none, ends], axis=-1), low)
    known = xp.where(xp.isnan(wanted), xp.zeros_like(wanted), wanted)
    target = before + cast(xp, xp.ceil(known), ends.dtype)
    return xp.reshape(bisect(xp, ends, _flat(xp, target)), target.shape)


def first_beyond(xp: Namespace, table: Groups, upto: Array, wanted: Array) -> Array:
    """The first row of each group of which the sum exceeds a number, or the group's last one."""
    starts = table.segments.starts
    low, stop = (xp.expand_dims(x, axis=-1) for x in (starts[..., :-1], starts[..., 1:]))
    found = _searched(xp, upto, wanted, low, stop, beyond=True)
    return xp.clip(xp.maximum(xp.minimum(found, stop - 1), low), max=max(upto.shape[-1] - 1, 0))


def _searched(
    xp: Namespace, upto: Array, wanted: Array, low: Array, stop: Array, beyond: bool = False
) -> Array:
    """Sums of weights begin anew in each group: each is searched by itself."""
    found = xp.broadcast_to(low, wanted.shape)
    most = max(upto.shape[-1] - 1, 0)
    step = 1 << most.bit_length()
    while step:
        probe = found + step
        inside = probe <= stop
        end = _at(xp, upto, xp.clip(probe - 1, max=most))
        below = end <= wanted if beyond else end < wanted
        found = xp.where(inside & below, probe, found)
        step //= 2
    return found
