"""Tie groups that hold positives, by the counts before and down to their ends, for NumPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quotakernels.ops._table import Cumulative, Groups, Positives
from quotakernels.ops.native._numpy_rows import BLOCK
from quotakernels.ops.native._numpy_words import (
    Part,
    count_type,
    extent_at_most,
    sorted_words,
    whole_groups,
)

NDArray = np.ndarray[Any, Any]


EXACT = 2**53
"""Whole numbers up to this are exact in floating point."""


def of_one_list(key: NDArray, labels: NDArray) -> Positives:
    """The tie groups of one list of keys that hold positives."""
    return of_parts(sorted_words(key, labels, *extent_at_most(key)), labels)


def of_parts(parts: list[Part], labels: NDArray) -> Positives:
    """The same of sorted words."""
    if labels.shape[0] <= BLOCK and len(parts) == 1:
        return of_sorted(parts[0].words)
    columns = np.empty((3, np.count_nonzero(labels) + 2), dtype=count_type(labels.shape[0]))
    rows = _write(parts, columns)  # in one array the system gives large pages
    starts, ends, found = columns[:, : rows + 1]
    return Positives(starts, ends[:-1], found)


def of_sorted(words: NDArray) -> Positives:
    """The same of sorted words of one block."""
    runs = _runs(words)
    columns = np.zeros((3, runs.groups + 2), dtype=np.int64)
    rows, positives = _fill(columns, 1, runs, 0, 0)
    starts, ends, found = columns
    starts[rows], found[rows] = words.shape[0], positives
    return Positives(starts, ends[:-1], found)


def of_lists(key: NDArray, labels: NDArray) -> Positives:
    """Those of several lists, with empty groups behind the last one of each."""
    shape, length = key.shape[:-1], key.shape[-1]
    most = int(np.count_nonzero(labels, axis=-1).max()) + 2
    columns = np.empty((3, *shape, most), dtype=count_type(length))
    rows = np.empty(shape, dtype=np.int64)
    for i in np.ndindex(shape):
        rows[i] = _write(sorted_words(key[i], labels[i], *extent_at_most(key[i])), columns[:, *i])
    columns = columns[..., : rows.max() + 1]
    for i in np.ndindex(shape):
        starts, ends, found = columns[:, *i, rows[i] :]
        starts[:], ends[:], found[:] = starts[0], starts[0], found[0]
    starts, ends, found = columns
    return Positives(starts, ends[..., :-1], found)


def _write(parts: list[Part], columns: NDArray) -> int:
    """Write the columns of one list, and tell how many rows it has."""
    starts, ends, found = columns
    starts[0] = ends[0] = found[0] = done = found_before = 0
    rows = 1
    for part in parts:
        for words in whole_groups(part.words):
            rows, found_before = _fill(columns, rows, _runs(words), done, found_before)
            done += words.shape[0]
    starts[rows], found[rows] = done, found_before
    return rows


def totals(table: Positives) -> dict[str, Any]:
    """Numbers of examples and of positive ones, whole and as floats."""
    if table.starts.ndim == 1:  # of numbers each step takes a tenth of the time
        counts, positives = np.int64(table.starts[-1]), np.int64(table.found[-1])
        return _totals(counts, positives, np.float64(counts), np.float64(positives))
    sums = [x[..., -1].astype(np.int64) for x in (table.starts, table.found)]
    return _totals(*sums, *(x.astype(np.float64) for x in sums))


def _totals(counts: Any, positives: Any, whole: Any, positive: Any) -> dict[str, Any]:
    return {
        "counts": counts,
        "positives": positives,
        "whole": whole,
        "positive": positive,
        "negative": whole - positive,
    }


def all_groups(table: Positives) -> Cumulative:
    """With rows for what is between the groups."""
    starts, ends, found, mark = table
    items, positives = np.empty((2, *ends.shape[:-1], 2 * ends.shape[-1] + 1), dtype=ends.dtype)
    items[..., ::2], items[..., 1::2] = starts, ends
    positives[..., ::2], positives[..., 1::2] = found, found[..., 1:]
    return Cumulative(items, positives, mark=mark)


def with_positives(table: Groups) -> Positives | None:
    """See `cumulative.with_positives`."""
    counts, positives = table.counts, table.positives
    if counts.ndim > 1 or table.weighted or table.segments:
        return None
    whole = np.add.reduce(counts, dtype=np.int64)
    integer = count_type(whole)
    rows = (positives != 0).nonzero()[0]  # NumPy looks at integers one by one
    starts, ends, found = np.zeros((3, rows.shape[0] + 2), dtype=integer)
    upto = counts.cumsum(dtype=integer).take(rows)
    ends[1:-1], starts[1:-1], starts[-1] = upto, upto - counts.take(rows), whole
    np.add.accumulate(positives.take(rows), dtype=integer, out=found[2:])
    return Positives(starts, ends[:-1], found)


def every_group(table: Groups) -> Positives | None:
    """See `cumulative.every_group`; columns of many rows would take more memory than the table."""
    if table.counts.shape[0] > BLOCK:
        return None
    sums = np.zeros((2, table.counts.shape[0] + 1), dtype=np.int64)
    items, found = sums
    np.add.accumulate(table.counts, out=items[1:])
    np.add.accumulate(table.positives, out=found[1:])
    if 2 * int(items[-1]) * int(found[-1]) >= EXACT:
        return None
    return Positives(items, items[1:], found)


def place_among(table: Positives, place: NDArray) -> tuple[NDArray, ...]:
    """See `tables.ends_of_row_at`: of one place in each list; between groups it is the next row."""
    lists = [x.reshape(-1, x.shape[-1]) for x in table[:3]]
    rows, sides = np.empty(place.size, dtype=np.int64), np.empty((4, place.size))
    for k, (wanted, starts, ends, found) in enumerate(zip(place.reshape(-1), *lists, strict=True)):
        rows[k] = row = int(ends.searchsorted(wanted))
        if starts[row] < wanted:
            sides[:, k] = starts[row], ends[row], found[row], found[row + 1]
        else:
            sides[:, k] = ends[row - 1], starts[row], found[row], found[row]
    return tuple(x.reshape(place.shape) for x in (rows, *sides))


def places_of_positives(words: NDArray) -> NDArray:
    """The places of words of positives, in the fastest way."""
    places: NDArray = (words.astype(np.uint8) & 1).view(np.bool).nonzero()[0]
    return places


class _Runs(NamedTuple):
    """The places of positives, where the group of each begins, and which of them are the last of
    their groups, but for the very last one.
    """

    places: NDArray
    starts: NDArray
    last: NDArray

    @property
    def groups(self) -> int:
        """The number of groups with positives."""
        return self.last.shape[0] + 1 if self.places.shape[0] else 0


def _runs(words: NDArray) -> _Runs:
    """Those of sorted words."""
    starts = places = places_of_positives(words)
    here = words.take(places)
    tied = (words.take(places - 1) ^ here == 1).nonzero()[0]
    if tied.shape[0]:  # with negatives, which stand before them
        starts = places.copy()
        starts[tied] = _first(words, here.take(tied) - here.dtype.type(1), places.take(tied))
    last = (here[1:] != here[:-1]).nonzero()[0]
    return _Runs(places, starts, last)


def _fill(columns: NDArray, row: int, runs: _Runs, done: int, found: int) -> tuple[int, int]:
    """Write the groups from a row on, behind so many words and positives; and what is then next."""
    places, starts, last = runs
    if not runs.groups:
        return row, found
    behind = row + runs.groups
    begin, end, before = columns[:, row:behind]
    begin[0], end[-1], before[0] = starts[0] + done, places[-1] + 1 + done, found
    if runs.groups == places.shape[0]:
        begin[1:], end[:-1] = starts[1:], places[:-1]
    else:
        begin[1:], end[:-1] = starts[1:].take(last), places.take(last)
    before[1:] = last
    begin[1:] += done
    end[:-1] += done + 1
    before[1:] += found + 1
    return behind, found + places.shape[0]


MANY = 2**5
"""Where so many words are to a search, all runs of words are looked at."""


def _first(words: NDArray, wanted: NDArray, behind: NDArray) -> NDArray:
    """Where runs of words begin that end before these places; only the longer ones are searched."""
    first = behind - 1
    longer = (words.take(first - 1) == wanted).nonzero()[0]
    if MANY * longer.shape[0] > words.shape[0]:
        return _first_of_all(words)
    if longer.shape[0]:
        first[longer] = words.searchsorted(wanted.take(longer))
    return first


def _first_of_all(words: NDArray) -> NDArray:
    """Where all runs of negatives begin that have positives of their group behind them."""
    starts = np.append(0, (words[1:] != words[:-1]).nonzero()[0] + 1)
    runs = words.take(starts)
    first: NDArray = starts.take((runs[1:] ^ runs[:-1] == 1).nonzero()[0])
    return first
