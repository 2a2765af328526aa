"""Rows of a table for NumPy, in blocks that stay in the cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from quotakernels._array import Namespace, once
from quotakernels.ops._table import CutRow, RowSum, TieTable
from quotakernels.ops.rows import Rows

NDArray = np.ndarray[Any, Any]

BLOCK = 1 << 15


def blocks(length: int, size: int = BLOCK) -> Iterator[slice]:
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


def columns(length: int, *dtypes: Any) -> list[NDArray]:
    """Empty columns of these types, in one array: the system gives large pages, and keeps them."""
    places, start, found = -(-length // 8), 0, []  # of eight items each, so that all are aligned
    every = np.empty(8 * places * sum(np.dtype(x).itemsize for x in dtypes), dtype=np.uint8)
    for dtype in map(np.dtype, dtypes):
        stop = start + 8 * places * dtype.itemsize
        found.append(every[start:stop].view(dtype)[:length])
        start = stop
    return found


def _part(table: TieTable, rows: slice) -> TieTable:
    is_whole = rows.stop - rows.start >= table.counts.shape[0]
    return table if is_whole else table.map(lambda x: x[rows])


def in_parts(table: TieTable) -> list[TieTable]:
    """The rows in blocks of which many columns stay in the cache."""
    return [_part(table, rows) for rows in blocks(table.counts.shape[0], BLOCK // 2)]


def _sums_before(values: NDArray, before: float, dtype: Any = np.float64) -> NDArray:
    """The sum before each value and after the last, `before` included.

    The sum of 32-bit counts fits 32 bits.
    """
    sums = np.empty(values.shape[0] + 1, dtype=dtype)
    sums[0], sums[1:] = 0, values.cumsum(dtype=values.dtype)
    if before:
        sums += before
    return sums


def total_of_blocks(*sums: NDArray) -> NDArray:
    """What the sums of all blocks come to, of each list."""
    if len(sums) <= 2:
        return sums[0] if len(sums) == 1 else np.asarray(sums[0] + sums[1])
    lists = np.stack(sums, axis=-1)
    totals = [_rounded_once(x) for x in lists.reshape(-1, len(sums)).tolist()]
    return np.asarray(totals).reshape(lists.shape[:-1])


def _rounded_once(sums: list[float]) -> float:
    """Beyond the range of floats, infinite or NaN as plain sums are."""
    try:
        return math.fsum(sums)
    except (OverflowError, ValueError):
        return sum(sums)


class _RowsOfBlock(Rows):
    """The rows of one block in numbers of one type; sums go on from those `before` it."""

    def __init__(self, xp: Namespace, table: TieTable, before: dict[str, float], dtype: Any):
        super().__init__(xp, table)
        self._before, self._dtype = before, dtype
        self._sums: dict[str, NDArray] = {}

    def own(self, name: str) -> NDArray:
        """A column that is no sum, in the type of this block."""
        column: NDArray = self._column(name)
        return column.astype(self._dtype, copy=False)

    def upto(self, name: str) -> NDArray:
        """The sums of a column down to the end of each row, from the first block on."""
        return self._sums_of(name)[1:]

    def before(self, name: str) -> NDArray:
        """The sums of a column over all rows before each, from the first block on."""
        return self._sums_of(name)[:-1]

    def _sums_of(self, name: str) -> NDArray:
        """The sum before each row and after the last."""
        if name not in self._sums:
            before = self._before.get(name, 0)
            self._sums[name] = _sums_before(self._column(name), before, self._dtype)
            self._before[name] = self._sums[name][-1].item()
        return self._sums[name]


class _RowsBetween(Rows):
    """Rows whose sums of examples and of positives, before and down to their ends, are given."""

    def __init__(self, *sums: NDArray):
        self.sums = sums
        self.mass_before, self.mass_upto, self.positive_before, self.positive_upto = sums

    @once
    def items(self) -> NDArray:
        """The number of examples, which is the mass of rows without weights."""
        return self.mass

    def own(self, name: str) -> NDArray:
        """What the sums rise by."""
        found: NDArray = getattr(self, f"{name}_upto") - getattr(self, f"{name}_before")
        return found

    def upto(self, name: str) -> NDArray:
        """The sums of the negatives down to the end of each row; the other sums are given."""
        return self.mass_upto - self.positive_upto

    def before(self, name: str) -> NDArray:
        """The sums of the negatives before each row; the other sums are given."""
        return self.mass_before - self.positive_before


class _RowsOfPositives(_RowsBetween):
    """The groups with positives in a block of a table, by the sums where each begins and ends.

    What each of them finds counts on to the end of the table, so that areas leave nothing out.
    """

    def __init__(self, table: TieTable, starts: NDArray, ends: NDArray, found: NDArray):
        super().__init__(starts, ends[..., 1:], found[..., :-1], found[..., 1:])
        self._ends, self._table = ends, table

    @once
    def between(self) -> _RowsBetween:
        """The negatives before each of these groups, as rows of their own."""
        found = self.positive_before
        return _RowsBetween(self._ends[..., :-1], self.mass_before, found, found)

    @once
    def won_twice(self) -> NDArray:
        """Twice the pairs that each row's positives win, ties half: all rows have the same sum as
        by the pairs that negatives lose.
        """
        starts, ends, found_before, found = self.sums
        twice = 2.0 * (self._table.counts[..., -1:] - self._table.positives[..., -1:])
        return self.positive * (twice - (starts + ends - found_before - found))

    def below_from(self, first: NDArray, end: NDArray) -> NDArray:
        """Twice the area below T behind the place `end`, by the positives of each row."""
        since = np.maximum(self.mass_before, end) + np.maximum(self.mass_upto, end)
        found: NDArray = self.positive * (2.0 * self._table.counts[..., -1:] - since)
        return found


def totals_of_list(xp: Namespace, table: TieTable, sums: tuple[RowSum, ...]) -> Iterator[Any]:
    """The sums of all terms over each block of rows of one list, which stays in the cache.

    All numbers are floats.
    """
    length = table.counts.shape[0]
    # Few rows in shorter blocks, of which the memory is not given back to the system each time.
    for rows in blocks_of_rows(xp, table, BLOCK if length > 4 * BLOCK else BLOCK // 2):
        yield [_totals(each, rows) for each in sums]


def blocks_of_rows(
    xp: Namespace, table: TieTable, size: int = BLOCK, dtype: Any = np.float64
) -> Iterator[Rows]:
    """The rows of one list in blocks, in numbers of one type."""
    before = dict[str, float]()
    for rows in blocks(table.counts.shape[0], size):
        yield _RowsOfBlock(xp, _part(table, rows), before, dtype)


def _totals(each: RowSum, rows: Rows) -> tuple[NDArray, ...]:
    """The sum of each list, pairwise where rows are contiguous."""
    return tuple([np.add.reduce(x, axis=-1) for x in each.terms(rows)])


def totals_of_counts(table: TieTable, sums: tuple[RowSum, ...]) -> Iterator[Any]:
    """The sums of all terms over each block of groups with positives, of one list or several."""
    columns = every = (table.layout.starts, *table[1:3])
    *lists, length = every[0].shape
    size = max(2 * BLOCK // math.prod(lists), 1)
    for block in blocks(length, size):
        if length > size:
            upto = slice(block.start, block.stop + 1)
            columns = every[0][..., block], *(x[..., upto] for x in every[1:])
        rows = _RowsOfPositives(table, *[x.astype(np.float64, copy=False) for x in columns])
        yield [_totals_with_between(each, rows) for each in sums]


READ_AT_ONCE = 2**12
"""Up to so many rows are read in one block, which takes fewer calls."""


def _totals_with_between(each: RowSum, rows: _RowsOfPositives) -> tuple[NDArray, ...]:
    """The sums over groups with positives and, if they are wanted, over what is between them."""
    if each.positives_suffice:
        return _totals(each, rows)
    if (
        each.by_stretch is None
        or rows.mass_upto.ndim > 1
        or rows.mass_upto.shape[0] <= READ_AT_ONCE
    ):
        return _totals(each, _together(rows.sums, rows.between.sums))
    return _totals_by_stretch(each, each.by_stretch, rows)


def _together(*parts: Sequence[NDArray]) -> _RowsBetween:
    return _RowsBetween(*(np.concatenate(x, axis=-1) for x in zip(*parts, strict=True)))


STRETCH = 2**4
"""How many rows are looked at together; of more, fewer stretches add up as one row would."""


def _totals_by_stretch(
    each: RowSum, by_stretch: Callable[..., Any], rows: _RowsOfPositives
) -> tuple[NDArray, ...]:
    """Row by row where that is needed.  What a row finds counts on to the end of its stretch."""
    between, stop = rows.between, rows.mass_upto.shape[0] // STRETCH * STRETCH
    first, last = slice(0, stop, STRETCH), slice(STRETCH - 1, stop, STRETCH)
    begins, ends = between.mass_before[first], rows.mass_upto[last]
    stretches = _RowsBetween(begins, ends, rows.positive_before[first], rows.positive_upto[last])
    moments = rows.positive * (rows.mass_before + rows.mass_upto)
    moments = moments[:stop].reshape(-1, STRETCH) @ np.ones(STRETCH)
    as_one, *terms = by_stretch(stretches, 2 * ends * stretches.positive - moments)
    singly = np.ones(rows.mass_upto.shape, dtype=np.bool)
    singly[:stop] = np.repeat(~as_one, STRETCH)
    places = singly.nonzero()[0]
    few = ([x.take(places) for x in part.sums] for part in (rows, between))
    rest = _totals(each, _together(*few))
    return tuple(x + np.add.reduce(y[as_one]) for x, y in zip(rest, terms, strict=True))


def rows_at(table: TieTable, wanted: NDArray) -> tuple[NDArray, CutRow]:
    """Only the blocks that own a wanted mass are searched."""
    if table.counts.shape[0] <= BLOCK:
        return _rows_within(table, wanted, (0.0, 0.0))
    last = (table.counts.shape[0] - 1) // BLOCK
    before = [_sums_of_blocks(table, name) for name in ("mass", "positive")]
    wanted = np.minimum(wanted, before[0][-1])
    owner = np.minimum(np.searchsorted(before[0][1:], wanted), last)
    index = np.empty(wanted.shape, dtype=np.int64)
    rows = CutRow(*(np.empty(wanted.shape) for _ in CutRow._fields))
    for number in np.unique(owner):
        here, start = owner == number, number * BLOCK
        block = _part(table, slice(start, start + BLOCK))
        place, found = _rows_within(block, wanted[here], [x[number] for x in before])
        index[here] = start + place
        for column, x in zip(rows, found, strict=True):
            column[here] = x
    return index, rows


def _rows_within(
    table: TieTable, wanted: NDArray, before: Sequence[float]
) -> tuple[NDArray, CutRow]:
    """The owners of the wanted masses among the rows of one block, with what is `before` it."""
    columns = table.mass, table.positive
    sums = [_sums_before(*x) for x in zip(columns, before, strict=True)]
    ends = sums[0][1:]
    place = ends.searchsorted(np.minimum(wanted, ends[-1]))
    place = np.where(wanted == wanted, np.minimum(place, ends.shape[0] - 1), 0)
    own = (x[place].astype(np.float64) for x in columns)
    return place, CutRow(*(x[place] for x in sums), *own)


def _sums_of_blocks(table: TieTable, name: str) -> NDArray:
    """The sum before each block and after the last."""
    sums = [0.0]
    for rows in blocks(table.counts.shape[0], 8 * BLOCK):  # masses are made anew
        x = getattr(_part(table, rows), name)
        sums += np.add.reduceat(x, np.arange(0, x.shape[0], BLOCK), dtype=x.dtype).tolist()
    return np.cumsum(sums, dtype=np.float64)


def head(table: TieTable, wanted: NDArray) -> TieTable:
    """Whole blocks of one long table are left out."""
    if table.counts.shape[0] <= BLOCK:
        return table
    largest = np.max(wanted, where=wanted == wanted, initial=0)
    stop = BLOCK * int(np.searchsorted(_sums_of_blocks(table, "mass"), largest) + 1)
    return table.map(lambda x: x[:stop])
