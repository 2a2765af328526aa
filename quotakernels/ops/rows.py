"""The rows of a table as formulas read them, and sums over them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quotakernels._array import Array, Namespace, device, once
from quotakernels.ops._table import RowSum, TieTable
from quotakernels.ops.tables import Tables


def _column(name: str) -> Any:
    """A column of `Rows`: its `own` numbers, or sums `before` each row or `upto` its end."""
    column, _, which = name.partition("_")

    def make(rows: Any) -> Array:
        return getattr(rows, which or "own")(column)

    make.__name__ = name
    return once(make)


class Areas:
    """Twice the areas below T, row by row, of which the sums are wanted."""

    @once
    def twice_found(self: Any) -> Array:
        """Twice the height of T in the middle of each row."""
        return self.positive_before + self.positive_upto

    @once
    def won_twice(self: Any) -> Array:
        """Along the negative mass: twice the pairs that each row's negatives lose, ties half."""
        return self.negative * self.twice_found

    def below_from(self: Any, first: Array, end: Array) -> Array:
        """Along the mass of the rows behind the one that owns the place `first`.

        The place stands beside each row, and the `end` of its owner beside each list.
        """
        before, twice = self.mass_before, self.mass * self.twice_found
        return self.xp.where(before >= first, twice, self.xp.zeros_like(first, dtype=before.dtype))


class Rows(Areas):
    """The columns of a table by row, each made when it is first read.

    ``items`` counts examples; ``mass``, ``positive`` and ``negative`` are masses, which without
    weights are counts too.  ``x_before`` and ``x_upto`` are sums over the rows before, and with the
    row; those of the mass mean nothing in the empty rows of a table of counts in place.
    """

    def __init__(self, xp: Namespace, table: Any):
        self.xp, self.table = xp, table

    @once
    def items(self) -> Array:
        """The number of examples."""
        return self.own("items") if self.table.weighted else self.mass

    mass, positive, negative = map(_column, ("mass", "positive", "negative"))
    mass_before, mass_upto = map(_column, ("mass_before", "mass_upto"))
    positive_before, positive_upto = map(_column, ("positive_before", "positive_upto"))
    negative_before, negative_upto = map(_column, ("negative_before", "negative_upto"))

    @once
    def positions(self) -> Any:
        """These columns with one entry per position, for a table in place."""
        return Positions(self)

    def own(self, name: str) -> Array:
        """A column that is no sum."""
        return self._widened(self._column(name))

    def upto(self, name: str) -> Array:
        """The sums of a column down to the end of each row."""
        table = self.table
        if table.weighted:
            return self.xp.running_total(table, getattr(self, name))
        if table.in_place and name == "mass":
            position: Array = self.positions.position
            return position
        if table.in_place and not table.groups:
            return self.xp.running_count(getattr(self, name))
        return self._widened(self.xp.running_total(table, self._column(name)))

    def before(self, name: str) -> Array:
        """Differences of whole numbers are exact, and need no copy of the sums."""
        own, upto = getattr(self, name), getattr(self, f"{name}_upto")
        if self.xp.of_kind(own.dtype, "integral") or not upto.shape[-1]:
            return upto - own
        return self.xp.row_before(self.table, upto)

    def _column(self, name: str) -> Array:
        counted = name == "items" or (name == "mass" and not self.table.weighted)
        return self.table.counts if counted else getattr(self.table, name)

    def _widened(self, x: Array) -> Array:
        return x if self.table.of_few else self.xp.wide(x)


class Positions:
    """The columns of a table in place by position: those of `Rows` of the tie group that it is in.

    Behind the last example there is nothing.
    """

    def __init__(self, rows: Any):
        self.rows, self.xp = rows, rows.xp

    @once
    def place_in_list(self) -> Array:
        """The positions of all groups of examples as one list."""
        xp, counts = self.xp, self.rows.table.counts
        return xp.arange(1, counts.shape[-1] + 1, dtype=xp.int64, device=device(counts))

    @once
    def position(self) -> Array:
        """The number of the position, from 1 on, in its group of examples."""
        table = self.rows.table
        if not table.groups:
            return self.place_in_list
        return self.place_in_list - self.xp.repeat_per_row(table, table.groups.starts[..., :-1])

    @once
    def row(self) -> Array:
        """The row of the tie group."""
        return self.xp.rows_of_positions(self.rows.table.counts, self.place_in_list)

    @once
    def place(self) -> Array:
        """The place within the tie group, from 1 on."""
        return self.place_in_list - self.row + self.items - 1

    @once
    def items(self) -> Array:
        """The number of examples."""
        return self.of_tie_group("items") if self.rows.table.weighted else self.mass

    @once
    def mass(self) -> Array:
        """What the examples weigh."""
        return self.of_tie_group("mass")

    @once
    def size(self) -> Array:
        """How many examples the tie group has, at least 1."""
        return self.xp.clip(self.items, min=1)

    def __getattr__(self, name: str) -> Any:
        found = self.of_tie_group(name)
        setattr(self, name, found)
        return found

    def of_tie_group(self, name: str) -> Array:
        """A column of the rows; sums before a row are those before its group."""
        if name == "mass_before" and not self.rows.table.weighted:
            return self.position - self.place
        own = getattr(self.rows, name)
        return own if name.endswith("_before") else self.xp.take_last_axis(own, self.row)


class Numbers(Areas):
    """Rows or positions whose columns are read as numbers of one type.

    They are floats, or whole numbers as they are.  Sums of these are wide, for products.
    """

    def __init__(self, columns: Any, dtype: Any):
        self.xp, self._columns, self._dtype = columns.xp, columns, dtype

    def __getattr__(self, name: str) -> Any:
        xp, found = self.xp, getattr(self._columns, name)
        if self._dtype is not None:
            found = xp.cast(found, self._dtype)
        elif "_" in name and xp.of_kind(found.dtype, "integral"):
            found = xp.cast(found, xp.int64)
        setattr(self, name, found)
        return found

    @once
    def positions(self) -> Any:
        """These columns with one entry per position, as numbers of the same type."""
        return Numbers(self._columns.positions, self._dtype)

    def at_most(self, mass: Array, whole: Array) -> Array:
        """The mass before each position, of which that of all stands behind the last example."""
        return self.xp.minimum(mass, whole)


class RunningRows(Rows):
    """The rows of running counts, in numbers of one type, which they get before all else."""

    def __init__(self, xp: Namespace, table: Any, dtype: Any, in_list: bool = False):
        super().__init__(xp, table)
        self.dtype, self._in_list = dtype, in_list or not table.groups
        self._ends: dict[str, Array] = {}

    @once
    def positions(self) -> Any:
        """The columns with one entry per position, of one list that was sorted."""
        return RunningPositions(self)

    def own(self, name: str) -> Array:
        """What the sums rise by."""
        ends = self._sums(name)
        return ends[..., 1:] - ends[..., :-1]

    def upto(self, name: str) -> Array:
        """The sums at the end of each row."""
        return self._in_group(name, self._sums(name)[..., 1:])

    def before(self, name: str) -> Array:
        """The sums at the end of the row before."""
        return self._in_group(name, self._sums(name)[..., :-1])

    def _sums(self, name: str) -> Array:
        if name not in self._ends:
            self._ends[name] = self._down_to(name, self.table.counts)
        return self._ends[name]

    def _in_group(self, name: str, sums: Array) -> Array:
        """Without what stands before the group of examples of each row."""
        if self._in_list:
            return sums
        before = self._down_to(name, self.table.groups.starts)
        return sums - self.xp.take_last_axis(before, self._group)

    @once
    def _group(self) -> Array:
        return self.xp.group_of_row(self.table)

    def _down_to(self, name: str, items: Array) -> Array:
        sums = items
        if name in ("positive", "negative"):
            found = self.table.positives
            found = self.xp.take_last_axis(found, items) if self.table.groups else found
            sums = found if name == "positive" else items - found
        return sums if self.dtype == items.dtype else self.xp.cast(sums, self.dtype)


class RunningPositions(Positions):
    """The positions of running counts of one list that was sorted."""

    rows: RunningRows

    def at_most(self, mass: Array, _whole: Array) -> Array:
        """The mass before each position, as it is: no position is behind the last example."""
        return mass

    @once
    def position(self) -> Array:
        """The number of each position in the list, from 1 on."""
        begins = self.rows.table.layout.begins
        size = begins.shape[-1] + 1
        return self.xp.arange(1, size, dtype=self.rows.dtype, device=device(begins))

    @once
    def row(self) -> Array:
        """The row of the tie group of each position."""
        return self.xp.prefix_sum(self.rows.table.layout.begins, self.xp.int64) - 1

    @once
    def place(self) -> Array:
        """The place of each position within its tie group, from 1 on."""
        return self.position - self.mass_before

    def of_tie_group(self, name: str) -> Array:
        """A column of the rows, with one entry per position: that of its tie group."""
        return self.xp.take_last_axis(getattr(self.rows, name), self.row)


class RowSums(Tables):
    """The rows of a table as formulas read them, and sums over them."""

    def rows_of_positions(self, counts: Array, places: Array) -> Array:
        """The row of the group of each of the places 1, 2, …, in a table in place.

        Behind all examples it is the last row.
        """
        last = counts.shape[-1] - 1
        behind = self.arange(last + 1, 0, -1, dtype=self.int64, device=device(counts))
        behind = self.where(counts > 0, behind, self.ones_like(behind))
        return last + 1 - self.flip(self.running_max(self.flip(behind, axis=-1)), axis=-1)

    def row_of_each(self, table: TieTable, ends: Array, numbers: Array) -> Array:
        """The row of each of the positions 1, 2, …, by the last position of each row.

        Behind all examples it is the last row.
        """
        counts = table.counts
        if table.in_place:
            return self.rows_of_positions(counts, numbers)[..., : numbers.shape[0]]
        found = self.bisect(
            ends, self.broadcast_to(numbers, (*counts.shape[:-1], numbers.shape[0]))
        )
        return self.clip(found, max=counts.shape[-1] - 1)

    def read_by_position(self, table: TieTable) -> bool:
        """Whether that is fast: NumPy computes what only few rows need for these alone."""
        return table.in_place or (table.running and not isinstance(table.layout.begins, tuple))

    def sum_rows(self, table: TieTable, *sums: RowSum) -> list[Any]:
        """The values of the sums, in floating point, from one pass over the table."""
        totals = self.totals_of_rows(table, sums)
        return [x.value(*own) for x, own in zip(sums, totals, strict=True)]

    def totals_of_rows(self, table: TieTable, sums: tuple[RowSum, ...]) -> list[tuple[Array, ...]]:
        """The sums of all terms.

        NumPy reads the rows in blocks that stay in the cache, all other libraries the whole
        columns.
        """
        wide = self.wide_float(device(table[0]))
        return [
            tuple(self.cast(self.group_total(table, x), wide) for x in terms)
            for terms in self.terms_of_rows(table, sums)
        ]

    def terms_of_rows(
        self, table: TieTable, sums: tuple[RowSum, ...]
    ) -> Iterator[tuple[Array, ...]]:
        """The terms of each sum, by row or by position."""
        wide = self.wide_float(device(table[0]))
        readers = {x: _readers(self, table, wide, x) for x in {each.in_list for each in sums}}
        by_position = self.read_by_position(table)
        for each in sums:
            whole, floats = readers[each.in_list]
            rows = whole if each.whole else floats
            if by_position and each.by_position is not None:
                yield each.by_position(rows.positions)
            else:
                yield each.terms(rows)


def _readers(xp: Namespace, table: TieTable, wide: Any, in_list: bool) -> tuple[Any, Any]:
    """The rows in whole numbers where these are, and in floats; of groups, or of one list."""
    if table.running:
        whole = RunningRows(xp, table, table.counts.dtype, in_list)
        return whole, RunningRows(xp, table, wide, in_list)
    rows = Rows(xp, table._replace(groups=()) if in_list else table)
    return Numbers(rows, None), Numbers(rows, wide)
