"""Tables of several groups of examples: what belongs to each group, and sums over its rows."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels._array import (
    Array,
    Namespace,
    cast,
    device,
    known,
    of_kind,
    wide_float,
)
from quotakernels.ops import native
from quotakernels.ops._table import Around, Cumulative, Groups, Rows, Segments
from quotakernels.ops.keys import is_float, key_bits


class Combined(NamedTuple):
    """Scores and groups of examples as one integer, which falls from the best row to the last.

    Its upper half counts the groups down from 0.  The lower one is the score's key, if that has
    32 bits or fewer, or else its place among the distinct keys, the `levels`.
    """

    scores: Array
    levels: Array
    dtype: Any


def combined(xp: Namespace, scores: Array, codes: Array, valid: Array | None) -> Combined:
    """Scores with the group of each example, from 0 on; what does not count is last."""
    key = xp.order_key(scores)
    levels = key[..., :0]
    if is_float(xp, key) or key_bits(xp, key.dtype) > 32:
        levels, key = _ranked(xp, key)
    both = cast(xp, codes, xp.int64) * -(1 << 32) + key
    if offset := _offset(xp, levels):
        both = both - offset
    both = both if valid is None else xp.where(valid, both, xp.lowest_key(both))
    return Combined(both, levels, scores.dtype)


def of_each_group(xp: Namespace, thresholds: Array, size: int) -> Combined:
    """The rows of as many groups of examples, all with the same thresholds, best first."""
    levels = xp.flip(xp.order_key(thresholds), axis=-1)
    place = device(thresholds)
    upper, lower = (
        xp.arange(first, first - number, -1, dtype=xp.int64, device=place)
        for first, number in ((0, size), (thresholds.shape[-1] - 1, thresholds.shape[-1]))
    )
    both = (xp.expand_dims(upper, axis=-1) << 32) + lower
    return Combined(xp.reshape(both, (-1,)), levels, thresholds.dtype)


def parted(xp: Namespace, table: Groups, given: Combined, ids: Array) -> Groups:
    """The table of the combined scores with scores and groups apart."""
    key, group = _halves(xp, table.thresholds)
    if offset := _offset(xp, given.levels):
        key = cast(xp, key, xp.int64) + offset
    if (most := given.levels.shape[-1]) > 0:
        key = xp.take_last_axis(given.levels, xp.clip(key, min=0, max=most - 1))
    key = cast(xp, key, given.levels.dtype)
    thresholds = xp.from_order_key(key, given.dtype)
    return table._replace(thresholds=thresholds, segments=segments_of(xp, group, ids))


def _halves(xp: Namespace, both: Array) -> tuple[Array, Array]:
    """The lower half, as a signed number, and how many groups the upper one counts down."""
    if native.library(xp) == "numpy":
        return native.numpy_.halves(both)
    upper = (both + (1 << 31)) >> 32
    return both - (upper << 32), -upper


def segments_of(xp: Namespace, group: Array, ids: Array, behind: bool = True) -> Segments:
    """Where groups of examples begin, by the group of each row; some may be `behind` the last."""
    size = ids.shape[-1]
    if native.library(xp) == "numpy" and group.ndim == 1:
        starts = native.numpy_.first_of_each(group, size)
    else:
        every = xp.arange(size + 1, dtype=group.dtype, device=device(group))
        starts = xp.bisect(group, xp.broadcast_to(every, (*group.shape[:-1], size + 1)))
    ids = xp.broadcast_to(ids, (*group.shape[:-1], size))
    behind = behind and not known(group[..., -1:] < size)  # groups rise
    of_row = xp.clip(group, min=0, max=max(size - 1, 0)) if behind else group
    return Segments(ids, starts, of_row)


def _offset(xp: Namespace, levels: Array) -> int:
    """What brings keys into the range of 32-bit integers; levels are of their type."""
    unsigned = levels.shape[-1] == 0 and xp.isdtype(levels.dtype, "unsigned integer")
    return 1 << 31 if unsigned and key_bits(xp, levels.dtype) == 32 else 0


def _ranked(xp: Namespace, key: Array) -> tuple[Array, Array]:
    """The distinct keys, padded, and the place of each key among them."""
    if native.library(xp) == "numpy" and key.ndim == 1:
        return native.numpy_.ranked(key)
    order = xp.argsort(key, axis=-1)
    rising = xp.take_last_axis(key, order)
    differs = rising[..., 1:] != rising[..., :-1]
    first = xp.ones((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    first = xp.concat([first, differs], axis=-1)
    place = xp.prefix_sum(cast(xp, first, xp.int64)) - 1
    levels = xp.take_last_axis(rising, xp.flagged_first(first))
    return levels, xp.take_last_axis(place, xp.argsort(order, axis=-1))


def repeat_per_row(xp: Namespace, table: Groups | Cumulative, x: Array) -> Array:
    """What belongs to each group of examples, shape (..., S), beside the rows of the group.

    Of one table of all examples: its number, shape (...), with a last axis of length 1.
    """
    if not table.segments:
        return x[..., None]
    if x.shape[-1] == 0:  # no groups, but one empty row
        x = xp.zeros((*x.shape[:-1], 1), dtype=x.dtype, device=device(x))
    return xp.take_last_axis(x, segment_of_row(xp, table))


def segment_of_row(xp: Namespace, table: Groups | Cumulative) -> Array:
    """The group of examples of each row; rows behind all count for one of them."""
    if not isinstance(table, Cumulative):
        return table.segments.of_row
    first = xp.clip(table.items[..., :-1], max=table.items.shape[-1] - 2)
    group = xp.take_last_axis(table.segments.of_example, first)
    return xp.clip(group, min=0, max=table.segments.ids.shape[-1] - 1)


def first_row(xp: Namespace, table: Groups | Cumulative) -> Array:
    """The first row of each group of examples, and the row behind the last one."""
    if not isinstance(table, Cumulative):
        return table.segments.starts
    return xp.bisect(table.items, table.segments.items)


def group_total(xp: Namespace, table: Groups | Cumulative, x: Array) -> Array:
    """The sum over all rows, or over those of each group of examples, shape (..., S)."""
    if not table.segments:
        return xp.total(x)
    starts, whole = first_row(xp, table), of_kind(xp, x.dtype, "integral")
    if native.library(xp) == "numpy" and x.ndim == 1:
        return native.numpy_.sums_between(x, starts, whole)
    if whole:
        at = xp.take_last_axis(_sums_before(xp, x, xp.int64), starts)
        return at[..., 1:] - at[..., :-1]
    ends = xp.take_last_axis(running_total(xp, table, x), xp.clip(starts[..., 1:] - 1, min=0))
    return xp.where(starts[..., 1:] > starts[..., :-1], ends, xp.zeros_like(ends))


def group_max(xp: Namespace, table: Groups, x: Array, least: Any = 0) -> Array:
    """The largest number of each group of examples, shape (..., S), `least` of no rows."""
    starts = table.segments.starts
    if native.library(xp) == "numpy" and x.ndim == 1:
        return native.numpy_.largest_between(x, starts, least)
    upto = xp.segment_max(x, first_rows(xp, table))
    ends = xp.take_last_axis(upto, xp.clip(starts[..., 1:] - 1, min=0))
    return xp.where(starts[..., 1:] > starts[..., :-1], ends, xp.full_like(ends, least))


def first_flagged(xp: Namespace, table: Groups, flags: Array) -> tuple[Array, Array]:
    """The first row of each group of examples that is flagged, shape (..., S), and if there is
    one.
    """
    upto = _sums_before(xp, cast(xp, flags, xp.int64), xp.int64)
    before = xp.take_last_axis(upto, table.segments.starts)
    index = xp.bisect(upto[..., 1:], before[..., :-1] + 1)
    return _row_of(xp, index, flags), before[..., 1:] > before[..., :-1]


def number_of(
    xp: Namespace, table: Groups | Cumulative | Around, name: str, summed: bool = False
) -> Array:
    """How many examples, "counts", or "positives" there are, exact, shape (...) or (..., S)."""
    if isinstance(table, Groups):
        return number(xp, table, getattr(table, name), summed)
    if isinstance(table, Around):
        return (table.whole if name == "counts" else table.positives)[..., 0]
    items = (table.segments or table).items
    upto = items if name == "counts" else found_down_to(xp, table, items)
    return upto[1:] - upto[:-1] if table.segments else upto[..., -1]


def found_down_to(xp: Namespace, table: Cumulative, items: Array) -> Array:
    """How many positive examples there are among the first `items`, the ends of rows or groups."""
    return xp.take_last_axis(table.segments.upto, items) if table.segments else table.found


def number(xp: Namespace, table: Groups, x: Array, summed: bool = False) -> Array:
    """The sum of counts, exact; in place, where there are no more than rows, XLA widens it last.

    If they are `summed` row by row anyway, XLA needs no sum of its own beside the last of these.
    """
    if table.segments:
        return group_total(xp, table, x)
    library = native.library(xp)
    if library == "numpy":
        return native.numpy_.number(x)
    if library == "jax" and table.in_place:
        whole = xp.running_count(x)[..., -1] if summed else xp.sum(x, axis=-1, dtype=x.dtype)
        return cast(xp, whole, xp.int64)
    return xp.sum(x, axis=-1, dtype=xp.int64)


def _sums_before(xp: Namespace, x: Array, dtype: Any) -> Array:
    """Sums of what stands before each place, and of all, of whole numbers."""
    if native.library(xp) == "numpy":
        return native.numpy_.sums_before(x, dtype)
    none = xp.zeros((*x.shape[:-1], 1), dtype=x.dtype, device=device(x))
    return xp.prefix_sum(xp.concat([none, x], axis=-1), dtype, whole=True)


def running_total(
    xp: Namespace, table: Groups | Cumulative, x: Array, exact: bool = False
) -> Array:
    """Sums up to and with each row, within its group of examples.

    Sums of numbers that are `exact` may cross groups on the way.
    """
    whole = of_kind(xp, x.dtype, "integral")
    dtype = xp.int64 if whole else x.dtype
    if not table.segments:
        return xp.prefix_sum(x, dtype, whole=exact or whole)
    if exact or whole:
        sums = _sums_before(xp, x, dtype)
        upto, starts = sums[..., 1:], first_row(xp, table)[..., :-1]
        before = repeat_per_row(xp, table, xp.take_last_axis(sums, starts))
        if native.library(xp) == "numpy":  # in the memory of sums that nothing else reads
            upto -= before
            return upto
        return upto - before
    return xp.segment_sum(x, first_rows(xp, table))


def first_rows(xp: Namespace, table: Groups | Cumulative) -> Array:
    """Which rows begin a group of examples."""
    own = repeat_per_row(xp, table, first_row(xp, table)[..., :-1])
    return xp.arange(own.shape[-1], dtype=xp.int64, device=device(own)) == own


def row_before(xp: Namespace, table: Groups, x: Array) -> Array:
    """What stands in the row before each, 0 before the first one of all and of each group."""
    before = xp.shift_right(x, 1, 0)
    if not table.segments:
        return before
    return xp.where(first_rows(xp, table), xp.zeros_like(before), before)


def rows_of_groups_at(xp: Namespace, table: Groups, wanted: Array) -> tuple[Array, Rows]:
    """The row of each group of examples that owns each wanted mass, shape (..., S, K)."""
    if not table.weighted:
        return _counted_rows_of_groups_at(xp, table, wanted)
    wide = wide_float(xp, device(table.counts))
    columns = (table.counts, table.mass, table.positive)
    sums = [running_total(xp, table, x) for x in columns]
    low, stop = _ends(xp, table)
    whole = _at(xp, sums[1], xp.clip(stop - 1, min=0))
    whole = xp.where(stop > low, whole, xp.zeros_like(whole))
    found = _searched(xp, sums[1], xp.minimum(wanted, whole), low, stop)
    index = _row_of(xp, _within(xp, found, low, stop), sums[1])
    first = index <= low

    def at(x: Array, place: Array) -> Array:
        return cast(xp, _at(xp, x, place), wide)

    def before(upto: Array) -> Array:
        found = at(upto, xp.clip(index - 1, min=0))
        return xp.where(first, xp.zeros_like(found), found)

    return index, Rows(*map(before, sums), *(at(x, index) for x in columns))


def _counted_rows_of_groups_at(xp: Namespace, table: Groups, wanted: Array) -> tuple[Array, Rows]:
    """Numbers of examples go on from group to group, so that one search serves all groups.

    All and the positive examples are counted together, in an axis before the others.
    """
    wide = wide_float(xp, device(table.counts))
    columns = xp.stack([table.counts, table.positives])
    sums = _sums_before(xp, columns, xp.int64)
    low, stop = _ends(xp, table)
    begins = _at(xp, sums, xp.expand_dims(low, axis=0))
    whole = _at(xp, sums[0, ...], stop) - begins[0, ...]
    wanted = xp.minimum(wanted, cast(xp, whole, wanted.dtype))
    known = xp.where(xp.isnan(wanted), xp.zeros_like(wanted), wanted)
    target = begins[0, ...] + cast(xp, xp.ceil(known), xp.int64)
    found = xp.reshape(xp.bisect(sums[0, ..., 1:], _flat(xp, target)), target.shape)
    place = _within(xp, found, low, stop)
    index = _row_of(xp, place, table.counts)
    before = cast(xp, _at(xp, sums, xp.expand_dims(place, axis=0)) - begins, wide)
    own = cast(xp, _at(xp, columns, xp.expand_dims(index, axis=0)), wide)
    items_before, positive_before = before[0, ...], before[1, ...]
    items, positive = own[0, ...], own[1, ...]
    return index, Rows(items_before, items_before, positive_before, items, items, positive)


def summed_rows_of_groups_at(table: Cumulative, wanted: Array) -> tuple[Array, Rows]:
    """The same of cumulative counts.

    Of no mass it is the row before the group, or its first one; either gives no positives.  No
    mass is beyond the group.
    """
    return native.torch_.rows_of_groups_at(table, wanted)


def won_twice_by_group(table: Cumulative) -> tuple[Array, Array]:
    """Twice the pairs won within each group of examples, ties counted half, and all pairs."""
    return native.torch_.won_twice_by_group(table)


def _ends(xp: Namespace, table: Groups) -> tuple[Array, Array]:
    """The first row of each group, and the one behind its last, shape (..., S, 1)."""
    starts = xp.expand_dims(table.segments.starts, axis=-1)
    return starts[..., :-1, :], starts[..., 1:, :]


def _within(xp: Namespace, found: Array, low: Array, stop: Array) -> Array:
    """Rows kept within their group; of one that has none, where it would begin."""
    return xp.maximum(xp.minimum(found, stop - 1), low)


def _row_of(xp: Namespace, place: Array, column: Array) -> Array:
    """A row of the table, also for a group without rows behind the last one."""
    return xp.clip(place, max=max(column.shape[-1] - 1, 0))


def column_at(xp: Namespace, table: Groups | Around, x: Array, index: Array) -> Array:
    """What a column has in rows that `rows_at` found."""
    return _at(xp, x, index) if table.segments else xp.take_last_axis(x, index)


def _at(xp: Namespace, x: Array, index: Array) -> Array:
    """What stands at each index, of shape (..., S, K)."""
    found = xp.take_last_axis(x, _flat(xp, index))
    return xp.reshape(found, (*found.shape[:-1], *index.shape[-2:]))


def _flat(xp: Namespace, x: Array) -> Array:
    """All groups of examples in one list, shape (..., S * K)."""
    return xp.reshape(x, (*x.shape[:-2], x.shape[-2] * x.shape[-1]))


def last_row(xp: Namespace, table: Groups, like: Array) -> Array:
    """The last row of the table, or of each group of examples, as indices of that shape."""
    if not table.segments:
        return xp.full_like(like, table.counts.shape[-1] - 1)
    stop = _ends(xp, table)[1]
    return xp.broadcast_to(xp.clip(cast(xp, stop, like.dtype) - 1, min=0), like.shape)


def sums_before(xp: Namespace, table: Groups, x: Array, index: Array) -> Array:
    """Sums of the rows before those that `rows_at` found, of groups of examples within each."""
    if not table.segments:
        return xp.exclusive_at(x, index)
    upto = xp.segment_sum(x, first_rows(xp, table))
    found = _at(xp, upto, xp.clip(index - 1, min=0))
    return xp.where(index > _ends(xp, table)[0], found, xp.zeros_like(found))


def sums_behind(xp: Namespace, table: Groups, x: Array, index: Array) -> Array:
    """Sums of the rows behind them."""
    if not table.segments:
        return xp.exclusive_at(xp.flip(x, axis=-1), x.shape[-1] - 1 - index)
    return _at(xp, total_behind(xp, table, x), index)


def total_behind(xp: Namespace, table: Groups, x: Array) -> Array:
    """Sums of what stands behind each row, within its group of examples."""
    rows = xp.arange(x.shape[-1], dtype=xp.int64, device=device(x))
    last = rows == repeat_per_row(xp, table, table.segments.starts[..., 1:]) - 1
    since = xp.segment_sum(xp.flip(x, axis=-1), xp.flip(last, axis=-1))
    behind = xp.flip(xp.shift_right(since, 1, 0), axis=-1)
    return xp.where(last, xp.zeros_like(behind), behind)


def first_beyond(xp: Namespace, table: Groups, upto: Array, wanted: Array) -> Array:
    """The first row of each group of which the sum exceeds a number, or the group's last one."""
    low, stop = _ends(xp, table)
    found = _searched(xp, upto, wanted, low, stop, beyond=True)
    return _row_of(xp, _within(xp, found, low, stop), upto)


def _searched(
    xp: Namespace, upto: Array, wanted: Array, low: Array, stop: Array, beyond: bool = False
) -> Array:
    """Sums of weights begin anew in each group: each is searched by itself."""
    found = xp.broadcast_to(low, wanted.shape)
    most = max(upto.shape[-1] - 1, 0)

    def below(place: Array) -> Array:
        end = _at(xp, upto, xp.clip(place - 1, max=most))
        return (place <= stop) & (end <= wanted if beyond else end < wanted)

    return xp.last_below(upto.shape[-1], found, below)
