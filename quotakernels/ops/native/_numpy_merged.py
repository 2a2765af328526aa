"""Running counts for NumPy of the tie groups that hold positives, and of what is between them.

T(j) is a straight line between two such groups as well, so no sum over rows or positions changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from quotakernels.ops._table import EXACT_IN_FLOAT64, Running, Shared, TieTable
from quotakernels.ops.native._numpy_rows import BLOCK, blocks
from quotakernels.ops.native._numpy_words import Part, count_type, whole_groups

NDArray = np.ndarray[Any, Any]

ROOM, MOST_ROOM = 4, 1 << 20
"""So many rows for each example, and at most, has the array of the columns of one list.

What is not written takes no memory; but the system takes back what is free beyond twice the largest
array, and would clear it in each call for the many arrays of sums.
"""
SHORT = 2
"""Runs of a few words more than one are measured step by step."""


def merged_of_words(parts: list[Part], positives: int) -> TieTable:
    """The table of one list of sorted words, so many of which belong to positives."""
    size = sum([part.words.shape[0] for part in parts])
    rows = max(positives + 2, min(ROOM * size, MOST_ROOM))
    columns = np.empty((3, rows), dtype=np.float64 if size <= BLOCK else count_type(size))
    every = [words for part in parts for words in whole_groups(part.words)]
    return _written(columns, size, map(_groups_with_positives, every))


def _written(columns: NDArray, size: int, every: Iterable[_Groups]) -> TieTable:
    """The table of the groups of all blocks, in columns that have at least as many rows."""
    columns[1:, 0] = row = done = 0
    for groups in every:
        row = _write(columns, row, done, groups)
        done += groups.size
    starts, ends, found = columns[:, : row + 2]
    return _table(starts, ends, found, size)


def _table(starts: NDArray, ends: NDArray, found: NDArray, size: int) -> TieTable:
    """The table of so many examples; the last row, behind all groups with positives, is empty."""
    starts[-2] = ends[-1] = size
    found[-1] = found[-2]
    return TieTable.of_running(ends, found, Running(starts=starts[:-1]))


class _Groups(NamedTuple):
    """Tie groups that hold positives: the words before each, and down to its end.

    `number` counts the positives of each; None where it is one everywhere.  `size` is that of all
    groups.
    """

    starts: NDArray
    ends: NDArray
    number: NDArray | None
    size: int


def _groups_with_positives(words: NDArray) -> _Groups:
    """The groups with positives of lists of sorted words, shape (n,) or (L, n), by places in all
    lists together.

    In each group the negatives come first.
    """
    positive = (words.astype(np.uint8) & 1).view(np.bool).reshape(-1)  # the fastest way
    change = words[..., 1:] ^ words[..., :-1]
    if np.minimum.reduce(change, axis=None, initial=2) > 1:  # no ties
        starts = positive.nonzero()[0]
        return _Groups(starts, starts + 1, None, words.size)
    begins, mixed = np.empty((2, *words.shape), dtype=np.bool)
    begins[..., 0], mixed[..., 0] = True, False
    np.not_equal(change, 0, out=begins[..., 1:])
    np.equal(change, 1, out=mixed[..., 1:])  # a positive right behind a negative of its group
    begins, mixed = begins.reshape(-1), mixed.reshape(-1)
    starts = first = (positive & begins).nonzero()[0]
    behind = mixed.take(first).nonzero()[0]
    if behind.shape[0]:
        starts = first.copy()
        starts[behind] = _first_negatives(begins, first.take(behind))
    if first.shape[0] == np.count_nonzero(positive):
        return _Groups(starts, first + 1, None, words.size)
    positive[:-1] &= begins[1:]
    ends = positive.nonzero()[0] + 1
    return _Groups(starts, ends, ends - first, words.size)


def _first_negatives(begins: NDArray, behind: NDArray) -> NDArray:
    """Where runs of equal words begin that end before these places; most of them are short."""
    first = behind - 1
    longer = (~begins.take(first)).nonzero()[0]
    for _ in range(SHORT):
        first[longer] -= 1
        longer = longer[~begins.take(first.take(longer))]
    if longer.shape[0]:
        runs = (begins[:-1] > begins[1:]).nonzero()[0]  # of several words
        first[longer] = runs.take(runs.searchsorted(first.take(longer)) - 1)
    return first


def _write(columns: NDArray, row: int, done: int, groups: _Groups) -> int:
    """Write the groups from a `row` on, behind so many words; the row behind the last one."""
    starts, ends, number, _ = groups
    behind = row + starts.shape[0]
    begin, end, found = columns[0, row:behind], *columns[1:, row + 1 : behind + 1]
    begin[:], end[:] = starts, ends
    before = int(columns[2, row])
    if done:
        begin += done
        end += done
    if number is None:
        found[:] = np.arange(before + 1, before + 1 + starts.shape[0], dtype=found.dtype)
    else:
        np.cumsum(number, dtype=found.dtype, out=found)
        found += before
    return behind


def merged_of_lists(words: NDArray, positives: NDArray) -> TieTable:
    """The tables of short lists of words, shape (L, n), which are sorted in parts that stay in the
    cache.  Behind the last row of each list there are empty ones.
    """
    lists, size = words.shape
    columns = np.empty((3, lists, int(positives.max()) + 2), dtype=count_type(size))
    columns[:2], columns[2] = size, positives[:, None]
    columns[1:, :, 0] = most = 0
    for block in blocks(lists, max(BLOCK // size, 1)):
        own = words[block]
        own.sort(axis=-1)
        groups = _groups_with_positives(own)
        most = max(most, _write_lists(columns[:, block], size, groups))
    starts, ends, found = columns[..., : most + 2]
    return TieTable.of_running(ends, found, Running(starts=starts[:, :-1]))


def _write_lists(columns: NDArray, size: int, groups: _Groups) -> int:
    """Write the groups of lists of so many words; the largest number of groups of a list."""
    starts, ends, number, _ = groups
    every = np.arange(columns.shape[1] + 1)
    here = np.diff(starts.searchsorted(size * every))
    most, before = int(here.max()), size * every[:-1].repeat(here)
    place = np.arange(1, most + 1)
    there = place <= here[:, None]
    columns[0, :, :most][there], columns[1, :, 1 : most + 1][there] = starts - before, ends - before
    upto = np.minimum(place, here[:, None])
    if number is not None:
        upto = np.zeros_like(there, dtype=columns.dtype)
        upto[there] = number
        upto = upto.cumsum(axis=-1)
    columns[2, :, 1 : most + 1] = upto
    return most


def merged_groups(table: TieTable) -> TieTable | None:
    """The running counts of the groups with positives, of one list without weights; else None."""
    counts, positives = table.counts, table.positives
    if counts.ndim > 1 or table.weighted or table.groups:
        return None
    whole = int(np.add.reduce(counts, dtype=np.int64))
    if whole >= EXACT_IN_FLOAT64:
        return None
    counts = counts.astype(count_type(whole), copy=False)
    rows = np.count_nonzero(positives != 0)  # NumPy looks at integers one by one
    columns = np.empty((3, rows + 2), dtype=counts.dtype)
    tied = whole != counts.shape[0] or np.maximum.reduce(counts, initial=0) > 1
    every = blocks(counts.shape[0], 2 * BLOCK)
    found = _written(columns, whole, (_of_rows(counts[x], positives[x], tied) for x in every))
    return found._replace(layout=Shared(*found.layout))


def _of_rows(counts: NDArray, positives: NDArray, tied: bool) -> _Groups:
    """The groups with positives of some rows, each of one example unless some are `tied`."""
    rows = (positives != 0).nonzero()[0]
    if not tied:
        return _Groups(rows, rows + 1, None, counts.shape[0])
    upto = counts.cumsum(dtype=counts.dtype)
    ends = upto.take(rows)
    return _Groups(ends - counts.take(rows), ends, positives.take(rows), int(upto[-1]))


def side_by_side(tables: list[TieTable]) -> TieTable:
    """The tables of long lists of a batch, with empty rows behind the last one of each."""
    rows = max(table.counts.shape[0] for table in tables)
    columns = np.empty((3, len(tables), rows), dtype=tables[0].counts.dtype)
    for number, (_, ends, found, *_, layout, _, _) in enumerate(tables):
        for column, x in zip(columns[:, number], (layout.starts, ends, found), strict=True):
            column[: x.shape[0]], column[x.shape[0] :] = x, x[-1]
    starts, ends, found = columns
    return TieTable.of_running(ends, found, Running(starts=starts[:, :-1]))
