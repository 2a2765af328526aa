"""Running counts for NumPy in which neighbouring tie groups without positives are one row.

T(j) is a straight line over such a row as well, so no sum over rows or positions changes.  Rows of
negatives and tie groups with positives take turns; a row of negatives may be empty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quotakernels.ops._table import TieTable
from quotakernels.ops.native._numpy_rows import BLOCK, blocks, places_of
from quotakernels.ops.native._numpy_words import Part, count_type, whole_groups

NDArray = np.ndarray[Any, Any]


def merged_of_words(parts: list[Part], positives: int) -> TieTable:
    """The table of one list of sorted words, so many of which belong to positives."""
    size = sum(part.words.shape[0] for part in parts)
    dtype = np.float64 if size <= BLOCK else count_type(size)
    table = np.empty((2, 2 * positives + 2), dtype=dtype)
    table[:, 0] = table[1, 1] = row = done = 0
    for part in parts:
        for words in whole_groups(part.words):
            groups = _groups_with_positives(words[None, :])
            row = _write(table, row, done, groups)
            done += words.shape[0]
    items, found = table[:, : row + 2]
    items[-1] = size
    return TieTable.of_running(items, found)


class _Groups(NamedTuple):
    """Tie groups that hold positives: the words before each, and down to its end.

    `number` counts the positives of each; None where it is one everywhere.
    """

    starts: NDArray
    ends: NDArray
    number: NDArray | None


def _groups_with_positives(words: NDArray) -> _Groups:
    """Those of lists of sorted words, shape (L, n), by places in all lists together.

    In each group the negatives come first.
    """
    positive = (words.astype(np.uint8) & 1).view(np.bool).reshape(-1)  # the fastest way
    change = words[:, 1:] ^ words[:, :-1]
    if np.minimum.reduce(change, axis=None, initial=2) > 1:  # no ties
        starts = positive.nonzero()[0]
        return _Groups(starts, starts + 1, None)
    begins, mixed = np.ones(words.shape, dtype=np.bool), np.zeros(words.shape, dtype=np.bool)
    np.not_equal(change, 0, out=begins[:, 1:])
    np.equal(change, 1, out=mixed[:, 1:])  # a positive right behind a negative of its group
    begins, mixed = begins.reshape(-1), mixed.reshape(-1)
    first = (positive & begins).nonzero()[0]
    starts = first
    if mixed.any():
        starts = first.copy()
        behind = mixed.take(first).nonzero()[0]
        starts[behind] = _first_negatives(begins, first.take(behind))
    if first.shape[0] == np.count_nonzero(positive):
        return _Groups(starts, first + 1, None)
    positive[:-1] &= begins[1:]
    ends = positive.nonzero()[0] + 1
    return _Groups(starts, ends, ends - first)


def _first_negatives(begins: NDArray, behind: NDArray) -> NDArray:
    """Where runs of equal words begin that end before these places."""
    first = behind - 1
    longer = (~begins.take(first)).nonzero()[0]
    if longer.shape[0]:
        runs = places_of(begins[:-1] > begins[1:])  # of several words
        first[longer] = runs.take(runs.searchsorted(first.take(longer)) - 1)
    return first


def _write(table: NDArray, row: int, done: int, groups: _Groups) -> int:
    """Write two ends of rows for each group, behind a `row` and so many words; the last row."""
    items, found = table
    starts, ends, number = groups
    before, behind = int(found[row]), row + 2 * int(starts.shape[0])
    items[row + 1 : behind : 2], items[row + 2 : behind + 1 : 2] = starts, ends
    items[row + 1 : behind + 1] += done
    if number is None:
        upto = np.arange(before + 1, before + 1 + starts.shape[0])
    else:
        upto = number.cumsum()
        upto += before
    found[row + 2 : behind + 1 : 2] = found[row + 3 : behind + 2 : 2] = upto
    return behind


def merged_of_lists(words: NDArray, positives: NDArray) -> TieTable:
    """The tables of short lists of words, shape (L, n), which are sorted in parts that stay in the
    cache.  Behind the last row of each list there are empty ones.
    """
    lists, size = words.shape
    rows = 2 * int(positives.max()) + 2
    items, found = np.empty((2, lists, rows), dtype=count_type(size))
    items[:], found[:] = size, positives[:, None]
    items[:, 0] = found[:, :2] = 0
    most = 0
    for block in blocks(lists, max(BLOCK // size, 1)):
        own = words[block]
        own.sort(axis=-1)
        groups = _groups_with_positives(own)
        most = max(most, _write_lists(items[block], found[block], size, groups))
    return TieTable.of_running(items[:, : 2 * most + 2], found[:, : 2 * most + 2])


def _write_lists(items: NDArray, found: NDArray, size: int, groups: _Groups) -> int:
    """Write the ends of rows of lists of so many words; the largest number of groups of a list."""
    starts, ends, number = groups
    every = np.arange(items.shape[0] + 1)
    here = np.diff(starts.searchsorted(size * every))
    most, before = int(here.max()), size * every[:-1].repeat(here)
    place, behind = np.arange(1, most + 1), 2 * most + 1
    there = place <= here[:, None]
    items[:, 1:behind:2][there], items[:, 2:behind:2][there] = starts - before, ends - before
    upto = np.minimum(place, here[:, None])
    if number is not None:
        upto = np.zeros_like(there, dtype=found.dtype)
        upto[there] = number
        upto = upto.cumsum(axis=-1)
    found[:, 2:behind:2] = found[:, 3 : behind + 1 : 2] = upto
    return most


def merged_groups(table: TieTable) -> TieTable | None:
    """See `tables.merged_groups`."""
    counts, positives = table.counts, table.positives
    if counts.ndim > 1 or table.weighted or table.groups:
        return None
    whole = np.add.reduce(counts, dtype=np.int64)
    rows = (positives != 0).nonzero()[0]  # NumPy looks at integers one by one
    items, found = np.zeros((2, 2 * rows.shape[0] + 2), dtype=count_type(whole))
    upto = counts.cumsum(dtype=items.dtype).take(rows)
    items[1:-1:2], items[2::2], items[-1] = upto - counts.take(rows), upto, whole
    found[2::2] = found[3::2] = positives.take(rows).cumsum(dtype=found.dtype)
    return TieTable.of_running(items, found)


def side_by_side(tables: list[TieTable]) -> TieTable:
    """The tables of long lists of a batch, with empty rows behind the last one of each."""
    rows = max(table.counts.shape[0] for table in tables)
    columns = np.empty((2, len(tables), rows), dtype=tables[0].counts.dtype)
    for number, table in enumerate(tables):
        for column, x in zip(columns[:, number], table[1:3], strict=True):
            column[: x.shape[0]], column[x.shape[0] :] = x, x[-1]
    return TieTable.of_running(*columns)
