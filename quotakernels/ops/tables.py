"""Tables of tie groups: how they are made of scores, and how their rows are read.

Without native forms all shapes are fixed by the shapes of the inputs, no value is read, and no
boolean mask is used as an index, so that each function can be traced.
"""

from __future__ import annotations

import functools
from typing import Any

from quotakernels._array import Across, Array, Namespace, device
from quotakernels._types import TiePolicy
from quotakernels.ops._table import (
    ByClass,
    CutRow,
    ExampleColumns,
    InPlace,
    Layout,
    QuotaCut,
    TieTable,
    columns_by_class,
)
from quotakernels.ops.arrays import is_below, is_float
from quotakernels.ops.groups import Grouped


class Tables(Grouped):
    """Tables of tie groups: how they are made of scores, and how their rows are read."""

    def tie_groups(self, examples: ExampleColumns, given: bool = False) -> TieTable:
        """The tie groups of the scores, best first, in as many rows as there are examples.

        A group stands in the row of its last example; all other rows are empty. With `given` every
        example is a group of its own, and ties keep the order of the input. Further `columns` are 0
        where an example does not count. One list of scores in the host's memory gives a table
        without empty rows.
        """
        scores, labels, weights, valid, columns = examples
        key = self.order_key(scores)
        code = self.cast(labels, self.int8)
        if valid is not None:
            key = self.where(valid, key, self.lowest_key(key))
            code = self.where(valid, code + 2, self.zeros_like(code))
            weights = (
                None if weights is None else self.where(valid, weights, self.zeros_like(weights))
            )
        payload = (*(() if weights is None else (weights,)), *columns.values())
        key, code, *found = self.sort_coded(key, code, payload, given)
        weights = None if weights is None else found.pop(0)
        columns = dict(zip(columns, found, strict=True))
        integer = self.int32 if is_below(key.shape[-1], 2**31) else self.int64
        positive = self.cast(code & 1, integer)
        counts = self.ones_like(positive) if valid is None else self.cast(code >> 1, integer)
        thresholds = self.from_order_key(key, scores.dtype, None if valid is None else counts > 0)
        mass = weights
        if mass is None and valid is not None and "treatment" in columns:
            dtype = columns["treatment"].dtype  # what does not count is no control
            mass = self.cast(counts, dtype)
        split = functools.partial(self.by_class, positive > 0)
        masses: Any = (None, None) if weights is None else split(weights)
        sums = columns_by_class(split, columns, mass)
        every = TieTable(thresholds, counts, positive, *masses)._replace(columns=sums)
        groups = every if given or key.shape[-1] == 0 else _merge_equal(self, key, every)
        return groups._replace(layout=self.layout_of(scores, valid, not is_float(self, key)))

    def tie_groups_by_group(
        self, examples: tuple[Array, Array, Array | None, Array | None], codes: Array, ids: Array
    ) -> TieTable | None:
        """The tie groups of groups of examples, where that takes fewer steps than joint keys."""
        return None

    def layout_of(self, scores: Array, valid: Array | None, has_bits: bool = True) -> Layout:
        """In place, unless a score may have the key of examples that do not count."""
        apart = valid is None or (has_bits and self.of_kind(scores.dtype, "real floating"))
        return InPlace() if apart and scores.shape[-1] and is_below(scores.shape[-1], 2**31) else ()

    def by_class(self, positive: Array, x: Array) -> ByClass:
        """The values of the positives and of the negatives, 0 in examples of the other class."""
        nothing = self.zeros_like(x)
        return ByClass(self.where(positive, x, nothing), self.where(positive, nothing, x))

    def merged(self, table: TieTable, last: Array) -> TieTable:
        """Each run of rows as one, in the row that is its `last`; all other rows are empty.

        After the final `last` there are empty rows only.
        """
        first = self.shift_right(last, 1, True)

        def mass(x: Array | None) -> Array | None:
            return (
                None
                if x is None
                else self.where(last, self.segment_sum(x, first), self.zeros_like(x))
            )

        whole = self.counts_of_runs(table.counts, table.positives, last)
        masses = mass(table.positive_weights), mass(table.negative_weights)
        sums = table.sums()
        if sums:  # all together: on a device that is one scan
            found: Any = mass(self.stack(sums, axis=0))
            sums = [found[k, ...] for k in range(found.shape[0])]
        return table.with_sums(whole, masses, sums)

    def counts_of_runs(self, counts: Array, positives: Array, last: Array) -> tuple[Array, Array]:
        """Sums of two columns of whole numbers over each run of rows, where its `last` row stands.

        Each is the running sum at the end of the run less that at the end of the run before.
        """

        def of_runs(x: Array) -> Array:
            sums = self.where(last, self.prefix_sum(x), self.zeros_like(x))
            ends = self.running_max(sums)
            return ends - self.shift_right(ends, 1, 0)

        return of_runs(counts), of_runs(positives)

    def counts_around(
        self,
        scores: Array,
        labels: Array,
        valid: Array | None,
        place: Array | int,
        across: Across | None = None,
    ) -> tuple[Array, Array]:
        """The score at a place, best first, shape (..., 1), and numbers of examples, shape (...,
        5).

        Those above it and the positives among them, those down to it and theirs, and all positives;
        where only some are `valid`, how many in a sixth. They are of all shards together.
        """
        key = self.comparable(scores) if across is None else self.order_key(scores)
        if valid is not None:
            key = self.where(valid, key, self.lowest_key(key))
        there = self.kth_largest(key, place, across)
        upto, above = key >= there, key > there
        if valid is not None:
            upto, above, labels = upto & valid, above & valid, labels & valid
        parts = [above, above & labels, upto, upto & labels, labels]
        found = self.counts(parts if valid is None else [*parts, valid])
        return self.from_order_key(there, scores.dtype), found if across is None else across(found)

    def cut_of_scores(self, scores: Array, labels: Array, masses: list[float]) -> QuotaCut | None:
        """The tie group in which each mass ends, of one list without weights, where that is found
        without a sort; None otherwise.
        """
        return None

    def rows_at(self, table: Any, wanted: Array) -> tuple[Any, CutRow]:
        """The row that owns each wanted mass, shape (..., K): the first whose end reaches it.

        A mass beyond the end is given the last row that is not empty.  A cut is its own row, which
        has no index.
        """
        if table.wanted is not None:
            return None, table.row
        if table.running:
            return _running_rows_at(self, table, wanted)
        if table.groups:
            return self.rows_of_groups_at(table, wanted)
        if not table.weighted:
            return _counted_rows_at(self, table, wanted)
        mass, positive = table.mass, table.positive
        before = self.exclusive(mass)
        ends = before + mass
        place = self.arange(ends.shape[-1], dtype=self.int64, device=device(ends))
        last = self.max(self.where(mass > 0, place, self.zeros_like(place)), axis=-1, keepdims=True)
        # behind the last row a device that adds in parallel may have other sums
        index = self.minimum(_reached(self, ends, wanted), last)
        columns = (before, self.exclusive(positive), mass, positive)
        return index, CutRow(*(self.take_last_axis(x, index) for x in columns))

    def part_of_row_at(
        self, table: TieTable | QuotaCut, wanted: Array
    ) -> tuple[Any, CutRow, Array, Array]:
        """The row in which each wanted mass ends, and how much of it is wanted.

        Returns the index of the row, the row, its mass to divide by (1 of an empty row), and
        ``min(wanted - mass_before, mass)``.  Running counts, and those around a cut, have no empty
        row, and are exact.
        """
        index, row = self.rows_at(self.head(table, wanted), wanted)
        within = wanted - row.mass_before
        if table.running:
            return index, row, row.mass, within
        mass = self.where(row.mass > 0, row.mass, self.ones_like(row.mass))
        return index, row, mass, self.minimum(within, row.mass)

    def ends_of_row_at(self, table: TieTable, place: Array) -> tuple[Array, ...]:
        """The ends of the row that owns each place, counted from 1 on, shape (..., K), as floats.

        The numbers of examples before it and down to its end, and of positive ones.  No place is
        behind the last example.  In each list, or group of examples, one place is asked for.
        """
        if table.groups or not (table.running or table.in_place):
            index, row = self.rows_at(table, self.wide(place))
            before, found = row.mass_before, row.positive_before
            return index, before, before + row.mass, found, found + row.positive
        if table.in_place:
            index = self.owner_in_place(table.counts, place)
            upto = self.running_count(table.positives)
            items, here, positive = (
                self.wide(self.take_last_axis(x, index))
                for x in (table.counts, table.positives, upto)
            )
            end = self.wide(index) + 1
            return index, end - items, end, positive - here, positive
        index = self.bisect(table.counts[..., 1:], place)
        ends = self.concat([index, index + 1], axis=-1)
        sums = (self.wide(self.take_last_axis(x, ends)) for x in (table.counts, table.positives))
        size = index.shape[-1]
        return (index, *(part for x in sums for part in (x[..., :size], x[..., size:])))

    def owner_in_place(self, counts: Array, place: Array) -> Array:
        """The first row from a place on that is filled, or the last one; there are below 2**31."""
        last = counts.shape[-1] - 1
        rows = self.arange(last + 1, dtype=self.int32, device=device(counts))
        reaching = (counts > 0) & (rows >= place - 1)
        row = self.min(self.where(reaching, rows, rows[-1:]), axis=-1, keepdims=True)
        return self.cast(row, self.int64)

    def filled_first(self, table: TieTable) -> TieTable:
        """The rows that hold examples, in order, and after them empty ones if shapes are fixed."""
        filled = table.counts > 0
        index = self.flagged_first(filled)
        place = self.arange(index.shape[-1], dtype=self.int64, device=device(index))
        there = place < self.count(filled)
        chosen = table.map(lambda x: self.take_last_axis(x, index))
        sums = chosen._replace(thresholds=chosen.counts)
        sums = sums.map(lambda x: self.where(there, x, self.zeros_like(x)))
        return sums._replace(thresholds=chosen.thresholds)

    def without_empty_rows(self, table: TieTable) -> TieTable:
        """The table without rows that hold no example, where shapes may depend on values.

        At least one row stays.
        """
        return table

    def in_parts(self, table: TieTable) -> list[TieTable]:
        """The rows in parts that need little memory beside the table, where shapes may differ."""
        return [table]

    def head(self, table: Any, wanted: Array) -> Any:
        """The rows down to the largest wanted mass, or more; all rows where shapes are fixed."""
        return table

    def running_counts(
        self, scores: Array, labels: Array, valid: Array | None, by_positives: bool = False
    ) -> TieTable | None:
        """The tie groups of counted examples by running counts, where that takes fewer steps.

        For measures that are `by_positives`, neighbouring groups without positives may be one row.
        """
        return None

    def merged_groups(self, table: TieTable) -> TieTable | None:
        """The running counts of known tie groups, where rows without positives are worth
        merging.

        That is one list of NumPy without weights.
        """
        return None

    def running_counts_by_group(
        self,
        examples: tuple[Array, Array, Array | None],
        invalid: Array | None,
        codes: Array,
        number: int,
    ) -> TieTable | None:
        """The running counts of a number of groups, where it takes fewer steps to count examples
        and to tell which groups have a bad value at once; `invalid` are those with a bad label.
        """
        return None

    def split_ties(self, table: TieTable, ties: TiePolicy) -> TieTable:
        """Each group as two, positives and negatives, the better or the worse class first."""
        if ties not in ("optimistic", "pessimistic"):
            return table

        def interleaved(positive: Array, negative: Array) -> Array:
            pair = (positive, negative) if ties == "optimistic" else (negative, positive)
            both = self.stack(pair, axis=-1)
            return self.reshape(both, (*both.shape[:-2], 2 * both.shape[-2]))

        def split(sums: ByClass) -> ByClass:
            nothing = self.zeros_like(sums.positive)
            return ByClass(interleaved(sums.positive, nothing), interleaved(nothing, sums.negative))

        counts = interleaved(table.positives, table.counts - table.positives)
        positives = interleaved(table.positives, self.zeros_like(table.positives))
        masses: Any = (
            split(ByClass(table.positive, table.negative)) if table.weighted else (None, None)
        )
        columns = {name: split(x) for name, x in table.columns.items()}
        thresholds = interleaved(table.thresholds, table.thresholds)
        return self.without_empty_rows(
            TieTable(thresholds, counts, positives, *masses)._replace(columns=columns)
        )

    def with_filled_thresholds(self, table: TieTable) -> TieTable:
        """The table with thresholds of 0 in empty rows, where they may be infinite or NaN."""
        filled = table.counts > 0
        thresholds = self.where(filled, table.thresholds, self.zeros_like(table.thresholds))
        return table._replace(thresholds=thresholds)

    def mass_within(self, table: TieTable, budget: Array) -> Array:
        """The mass of the best that each budget pays for, shape (..., K), or (..., S, K) of groups.

        They are the rows down to the first whose end costs more, and of this one the part that the
        rest of the budget pays for. What is free is taken as soon as all above it is.
        """
        cost = table.columns["cost"].whole
        spent = self.running_total(table, cost)
        index = _row_beyond(self, table, spent, budget)
        mass = self.cast(self.running_total(table, table.mass), budget.dtype)
        spent_before, mass_before = (_before(self, table, x, index) for x in (spent, mass))
        own, size = (
            self.cast(self.column_at(table, x, index), budget.dtype) for x in (cost, table.mass)
        )
        one = self.ones_like(own)
        share = self.where(own > 0, (budget - spent_before) / self.where(own > 0, own, one), one)
        found = mass_before + self.minimum(share, one) * size
        as_mass = (spent_before == mass_before) & (own == size) & (share <= one)
        return self.where(
            as_mass, budget, found
        )  # where costs are masses, as they are, not rounded

    def cost_within(self, table: TieTable, wanted: Array) -> Array:
        """What the best of each wanted mass cost, shape (..., K), or (..., S, K) of groups."""
        return self.sums_within(table, wanted, table.columns["cost"].whole)[0]

    def sums_within(self, table: TieTable, wanted: Array, *columns: Array) -> list[Array]:
        """Sums of columns over the best of each wanted mass, with a part of the last row."""
        index, row = self.rows_at(table, wanted)
        one = self.ones_like(wanted)
        share = (wanted - row.mass_before) / self.where(row.mass > 0, row.mass, one)
        share = self.minimum(share, one)

        def within(column: Array) -> Array:
            own = self.column_at(table, column, index)
            return _before(self, table, self.running_total(table, column), index) + share * own

        return [within(x) for x in columns]


def _merge_equal(xp: Namespace, key: Array, examples: TieTable) -> TieTable:
    """Sorted examples as tie groups, each in the row of its last example."""
    edge = xp.ones((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    return xp.merged(examples, xp.concat([key[..., 1:] != key[..., :-1], edge], axis=-1))


def _reached(xp: Namespace, ends: Array, wanted: Array) -> Array:
    """The first row of which the end reaches each wanted mass, or the last row that is filled."""
    wanted = xp.minimum(wanted, xp.cast(ends[..., -1:], wanted.dtype))
    if xp.of_kind(ends.dtype, "integral"):  # what a NaN becomes does not matter
        wanted = xp.cast(xp.ceil(wanted), ends.dtype)
    return xp.clip(xp.bisect(ends, wanted), max=ends.shape[-1] - 1)


def _counted_rows_at(xp: Namespace, table: TieTable, wanted: Array) -> tuple[Array, CutRow]:
    """Rows of counts.  The sum before a row is that with it less its own: no other row is read."""
    wide = xp.wide_float(device(table.counts))
    columns = (table.counts, table.positives)
    few = table.in_place
    upto = [xp.running_count(x) if few else xp.prefix_sum(x, wide, whole=True) for x in columns]
    index = _reached(xp, upto[0], wanted)
    mass, positive, end, found = (
        xp.cast(xp.take_last_axis(x, index), wide) for x in (*columns, *upto)
    )
    before, positive_before = end - mass, found - positive
    return index, CutRow(before, positive_before, mass, positive)


def _running_rows_at(xp: Namespace, table: TieTable, wanted: Array) -> tuple[Array, CutRow]:
    """Rows of running counts, which are whole numbers; a mass of 0 gets the first example's row."""
    place = xp.clip(xp.cast(xp.ceil(wanted), table.counts.dtype), min=1)
    place = xp.minimum(place, table.counts[..., -1:])
    index, before, upto, positive_before, positive_upto = xp.ends_of_row_at(table, place)
    mass, positive = upto - before, positive_upto - positive_before
    return index, CutRow(before, positive_before, mass, positive)


def _row_beyond(xp: Namespace, table: TieTable, spent: Array, budget: Array) -> Array:
    """The row in which each budget ends, or the last one."""
    if table.groups:
        return xp.first_beyond(table, spent, budget)
    return xp.clip(xp.bisect(spent, budget, beyond=True), max=spent.shape[-1] - 1)


def _before(xp: Namespace, table: TieTable, sums: Array, index: Array) -> Array:
    """Running sums before a row, which begin anew in each group of examples."""
    found = xp.column_at(table, sums, xp.clip(index - 1, min=0))
    start = xp.expand_dims(table.groups.starts[..., :-1], axis=-1) if table.groups else 0
    return xp.where(index <= start, xp.zeros_like(found), found)
