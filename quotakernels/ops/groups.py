"""Tables of several groups of examples: what belongs to each group, and sums over its rows."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels._array import Array, Namespace, device, known
from quotakernels.ops._table import CutRow, GroupIndex, QuotaCut, TieTable
from quotakernels.ops.arrays import Arrays, is_float


class Combined(NamedTuple):
    """Scores and groups of examples as one integer, which falls from the best row to the last.

    Its upper half counts the groups down from 0.  The lower one is the score's key, if that has
    32 bits or fewer, or else its place among the distinct keys, the `levels`.
    """

    scores: Array
    levels: Array
    dtype: Any


class Grouped(Arrays):
    """Tables of several groups of examples: what belongs to each group, and sums over its rows."""

    def combined(self, scores: Array, codes: Array, valid: Array | None) -> Combined:
        """Scores with the group of each example, from 0 on; what does not count is last."""
        key = self.order_key(scores)
        levels = key[..., :0]
        if is_float(self, key) or self.key_bits(key.dtype) > 32:
            levels, key = self.ranked(key)
        both = self.cast(codes, self.int64) * -(1 << 32) + key
        if offset := _offset(self, levels):
            both = both - offset
        both = both if valid is None else self.where(valid, both, self.lowest_key(both))
        return Combined(both, levels, scores.dtype)

    def of_each_group(self, thresholds: Array, size: int) -> Combined:
        """The rows of as many groups of examples, all with the same thresholds, best first."""
        levels = self.flip(self.order_key(thresholds), axis=-1)
        place = device(thresholds)
        upper, lower = (
            self.arange(first, first - number, -1, dtype=self.int64, device=place)
            for first, number in ((0, size), (thresholds.shape[-1] - 1, thresholds.shape[-1]))
        )
        both = (self.expand_dims(upper, axis=-1) << 32) + lower
        return Combined(self.reshape(both, (-1,)), levels, thresholds.dtype)

    def parted(self, table: TieTable, given: Combined, ids: Array) -> TieTable:
        """The table of the combined scores with scores and groups apart."""
        key, group = self.halves(table.thresholds)
        if offset := _offset(self, given.levels):
            key = self.cast(key, self.int64) + offset
        if (most := given.levels.shape[-1]) > 0:
            key = self.take_last_axis(given.levels, self.clip(key, min=0, max=most - 1))
        key = self.cast(key, given.levels.dtype)
        thresholds = self.from_order_key(key, given.dtype)
        return table._replace(thresholds=thresholds, groups=self.group_index(group, ids))

    def halves(self, both: Array) -> tuple[Array, Array]:
        """The lower half, as a signed number, and how many groups the upper one counts down."""
        upper = (both + (1 << 31)) >> 32
        return both - (upper << 32), -upper

    def group_index(self, group: Array, ids: Array, behind: bool = True) -> GroupIndex:
        """Where groups of examples begin, by the group of each row; some are `behind` the last."""
        size = ids.shape[-1]
        starts = self.first_of_each(group, size)
        ids = self.broadcast_to(ids, (*group.shape[:-1], size))
        behind = behind and not known(group[..., -1:] < size)  # groups rise
        of_row = self.clip(group, min=0, max=max(size - 1, 0)) if behind else group
        return GroupIndex(ids, starts, of_row)

    def first_of_each(self, group: Array, size: int) -> Array:
        """Where each number from 0 on up to `size` begins in a rising list, or would begin."""
        every = self.arange(size + 1, dtype=group.dtype, device=device(group))
        return self.bisect(group, self.broadcast_to(every, (*group.shape[:-1], size + 1)))

    def ranked(self, key: Array) -> tuple[Array, Array]:
        """The distinct keys, padded, and the place of each key among them."""
        order = self.argsort(key, axis=-1)
        rising = self.take_last_axis(key, order)
        differs = rising[..., 1:] != rising[..., :-1]
        first = self.ones((*key.shape[:-1], 1), dtype=self.bool, device=device(key))
        first = self.concat([first, differs], axis=-1)
        place = self.prefix_sum(self.cast(first, self.int64)) - 1
        levels = self.take_last_axis(rising, self.flagged_first(first))
        return levels, self.take_last_axis(place, self.argsort(order, axis=-1))

    def repeat_per_row(self, table: TieTable, x: Array) -> Array:
        """What belongs to each group of examples, shape (..., S), beside the rows of the group.

        Of one table of all examples: its number, shape (...), with a last axis of length 1.
        """
        if not table.groups:
            return x[..., None]
        if x.shape[-1] == 0:  # no groups, but one empty row
            x = self.zeros((*x.shape[:-1], 1), dtype=x.dtype, device=device(x))
        return self.take_last_axis(x, self.group_of_row(table))

    def group_of_row(self, table: TieTable) -> Array:
        """The group of examples of each row; rows behind all count for one of them."""
        if not table.running:
            return table.groups.of_row
        first = self.clip(table.counts[..., :-1], max=table.counts.shape[-1] - 2)
        group = self.take_last_axis(table.groups.of_row, first)
        return self.clip(group, min=0, max=table.groups.ids.shape[-1] - 1)

    def first_row(self, table: TieTable) -> Array:
        """The first row of each group of examples, and the row behind the last one."""
        starts: Array = table.groups.starts
        return self.bisect(table.counts, starts) if table.running else starts

    def group_total(self, table: TieTable, x: Array) -> Array:
        """The sum over all rows, or over those of each group of examples, shape (..., S)."""
        if not table.groups:
            return self.total(x)
        starts = self.first_row(table)
        if self.of_kind(x.dtype, "integral"):
            at = self.take_last_axis(self.running_sums(x, self.int64), starts)
            return at[..., 1:] - at[..., :-1]
        ends = self.take_last_axis(
            self.running_total(table, x), self.clip(starts[..., 1:] - 1, min=0)
        )
        return self.where(starts[..., 1:] > starts[..., :-1], ends, self.zeros_like(ends))

    def group_max(self, table: TieTable, x: Array, least: Any = 0) -> Array:
        """The largest number of each group of examples, shape (..., S), `least` of no rows."""
        starts = table.groups.starts
        upto = self.segment_max(x, self.first_rows(table))
        ends = self.take_last_axis(upto, self.clip(starts[..., 1:] - 1, min=0))
        return self.where(starts[..., 1:] > starts[..., :-1], ends, self.full_like(ends, least))

    def first_flagged(self, table: TieTable, flags: Array) -> tuple[Array, Array]:
        """The first row of each group of examples that is flagged, shape (..., S), and if there is
        one.
        """
        upto = self.running_sums(self.cast(flags, self.int64), self.int64)
        before = self.take_last_axis(upto, table.groups.starts)
        index = self.bisect(upto[..., 1:], before[..., :-1] + 1)
        return _row_of(self, index, flags), before[..., 1:] > before[..., :-1]

    def number_of(self, table: Any, name: str, summed: bool = False) -> Array:
        """How many examples, "counts", or "positives" there are, exact, shape (...) or (..., S)."""
        if not table.running:
            return self.number(table, getattr(table, name), summed)
        if not table.groups:
            found: Array = getattr(table, name)
            return found[-1] if found.ndim == 1 else found[..., -1]  # NumPy is fast with scalars
        upto = table.groups.starts
        upto = upto if name == "counts" else self.take_last_axis(table.positives, upto)
        return upto[1:] - upto[:-1]

    def number(self, table: TieTable, x: Array, summed: bool = False) -> Array:
        """The sum of counts, exact; they may be `summed` row by row anyway."""
        if table.groups:
            return self.group_total(table, x)
        return self.sum(x, axis=-1, dtype=self.int64)

    def running_sums(self, x: Array, dtype: Any) -> Array:
        """Sums of what stands before each place, and of all, of whole numbers."""
        none = self.zeros((*x.shape[:-1], 1), dtype=x.dtype, device=device(x))
        return self.prefix_sum(self.concat([none, x], axis=-1), dtype, whole=True)

    def running_total(self, table: TieTable, x: Array, exact: bool = False) -> Array:
        """Sums up to and with each row, within its group of examples.

        Sums of numbers that are `exact` may cross groups on the way.
        """
        whole = self.of_kind(x.dtype, "integral")
        dtype = self.int64 if whole else x.dtype
        if not table.groups:
            return self.prefix_sum(x, dtype, whole=exact or whole)
        if exact or whole:
            sums = self.running_sums(x, dtype)
            upto, starts = sums[..., 1:], self.first_row(table)[..., :-1]
            before = self.repeat_per_row(table, self.take_last_axis(sums, starts))
            return upto - before
        return self.segment_sum(x, self.first_rows(table))

    def first_rows(self, table: TieTable) -> Array:
        """Which rows begin a group of examples."""
        own = self.repeat_per_row(table, self.first_row(table)[..., :-1])
        return self.arange(own.shape[-1], dtype=self.int64, device=device(own)) == own

    def row_before(self, table: TieTable, x: Array) -> Array:
        """What stands in the row before each, 0 before the first one of all and of each group."""
        before = self.shift_right(x, 1, 0)
        if not table.groups:
            return before
        return self.where(self.first_rows(table), self.zeros_like(before), before)

    def rows_of_groups_at(self, table: TieTable, wanted: Array) -> tuple[Array, CutRow]:
        """The row of each group of examples that owns each wanted mass, shape (..., S, K)."""
        if not table.weighted:
            return _counted_rows_of_groups_at(self, table, wanted)
        columns = (table.mass, table.positive)
        sums = [self.running_total(table, x) for x in columns]
        low, stop = _ends(self, table)
        whole = _at(self, sums[0], self.clip(stop - 1, min=0))
        whole = self.where(stop > low, whole, self.zeros_like(whole))
        found = _searched(self, sums[0], self.minimum(wanted, whole), low, stop)
        index = _row_of(self, _within(self, found, low, stop), sums[0])
        first = index <= low

        def at(x: Array, place: Array) -> Array:
            return self.wide(_at(self, x, place))

        def before(upto: Array) -> Array:
            found = at(upto, self.clip(index - 1, min=0))
            return self.where(first, self.zeros_like(found), found)

        return index, CutRow(*map(before, sums), *(at(x, index) for x in columns))

    def column_at(self, table: TieTable | QuotaCut, x: Array, index: Any) -> Array:
        """What a column has in rows that `rows_at` found."""
        if index is None:
            return x
        return _at(self, x, index) if table.groups else self.take_last_axis(x, index)

    def last_row(self, table: TieTable, like: Array) -> Array:
        """The last row of the table, or of each group of examples, as indices of that shape."""
        if not table.groups:
            return self.full_like(like, table.counts.shape[-1] - 1)
        stop = _ends(self, table)[1]
        return self.broadcast_to(self.clip(self.cast(stop, like.dtype) - 1, min=0), like.shape)

    def sums_before(self, table: TieTable, x: Array, index: Array) -> Array:
        """Sums of the rows before those that `rows_at` found, of groups of examples within each."""
        if not table.groups:
            return self.exclusive_at(x, index)
        upto = self.segment_sum(x, self.first_rows(table))
        found = _at(self, upto, self.clip(index - 1, min=0))
        return self.where(index > _ends(self, table)[0], found, self.zeros_like(found))

    def sums_behind(self, table: TieTable, x: Array, index: Array) -> Array:
        """Sums of the rows behind them."""
        if not table.groups:
            return self.exclusive_at(self.flip(x, axis=-1), x.shape[-1] - 1 - index)
        return _at(self, self.total_behind(table, x), index)

    def total_behind(self, table: TieTable, x: Array) -> Array:
        """Sums of what stands behind each row, within its group of examples."""
        rows = self.arange(x.shape[-1], dtype=self.int64, device=device(x))
        last = rows == self.repeat_per_row(table, table.groups.starts[..., 1:]) - 1
        since = self.segment_sum(self.flip(x, axis=-1), self.flip(last, axis=-1))
        behind = self.flip(self.shift_right(since, 1, 0), axis=-1)
        return self.where(last, self.zeros_like(behind), behind)

    def first_beyond(self, table: TieTable, upto: Array, wanted: Array) -> Array:
        """The first row of each group whose sum exceeds a number, or the group's last one."""
        low, stop = _ends(self, table)
        found = _searched(self, upto, wanted, low, stop, beyond=True)
        return _row_of(self, _within(self, found, low, stop), upto)


def _offset(xp: Namespace, levels: Array) -> int:
    """What brings keys into the range of 32-bit integers; levels are of their type."""
    unsigned = levels.shape[-1] == 0 and xp.isdtype(levels.dtype, "unsigned integer")
    return 1 << 31 if unsigned and xp.key_bits(levels.dtype) == 32 else 0


def _counted_rows_of_groups_at(
    xp: Namespace, table: TieTable, wanted: Array
) -> tuple[Array, CutRow]:
    """Numbers of examples go on from group to group, so that one search serves all groups.

    All and the positive examples are counted together, in an axis before the others.
    """
    columns = xp.stack([table.counts, table.positives])
    sums = xp.running_sums(columns, xp.int64)
    low, stop = _ends(xp, table)
    begins = _at(xp, sums, xp.expand_dims(low, axis=0))
    whole = _at(xp, sums[0, ...], stop) - begins[0, ...]
    wanted = xp.minimum(wanted, xp.cast(whole, wanted.dtype))
    known = xp.where(xp.isnan(wanted), xp.zeros_like(wanted), wanted)
    target = begins[0, ...] + xp.cast(xp.ceil(known), xp.int64)
    found = xp.reshape(xp.bisect(sums[0, ..., 1:], _flat(xp, target)), target.shape)
    place = _within(xp, found, low, stop)
    index = _row_of(xp, place, table.counts)
    before = xp.wide(_at(xp, sums, xp.expand_dims(place, axis=0)) - begins)
    own = xp.wide(_at(xp, columns, xp.expand_dims(index, axis=0)))
    (before, positive_before), (mass, positive) = ((x[0, ...], x[1, ...]) for x in (before, own))
    return index, CutRow(before, positive_before, mass, positive)


def _ends(xp: Namespace, table: TieTable) -> tuple[Array, Array]:
    """The first row of each group, and the one behind its last, shape (..., S, 1)."""
    starts = xp.expand_dims(table.groups.starts, axis=-1)
    return starts[..., :-1, :], starts[..., 1:, :]


def _within(xp: Namespace, found: Array, low: Array, stop: Array) -> Array:
    """Rows kept within their group; of one that has none, where it would begin."""
    return xp.maximum(xp.minimum(found, stop - 1), low)


def _row_of(xp: Namespace, place: Array, column: Array) -> Array:
    """A row of the table, also for a group without rows behind the last one."""
    return xp.clip(place, max=max(column.shape[-1] - 1, 0))


def _at(xp: Namespace, x: Array, index: Array) -> Array:
    """What stands at each index, of shape (..., S, K)."""
    found = xp.take_last_axis(x, _flat(xp, index))
    return xp.reshape(found, (*found.shape[:-1], *index.shape[-2:]))


def _flat(xp: Namespace, x: Array) -> Array:
    """All groups of examples in one list, shape (..., S * K)."""
    return xp.reshape(x, (*x.shape[:-2], x.shape[-2] * x.shape[-1]))


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
