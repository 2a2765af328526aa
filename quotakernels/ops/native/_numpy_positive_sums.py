"""Sums over the tie groups that hold positives, for NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from quotakernels.ops._table import Positives, Summands
from quotakernels.ops.native._numpy_positives import EXACT
from quotakernels.ops.native._numpy_rows import (
    BLOCK,
    blocks,
    by_items,
    rare_places,
    total_of_blocks,
)
from quotakernels.ops.native._numpy_words import count_type

NDArray = np.ndarray[Any, Any]

MANY = 2**4
"""Where there is a group to at most so many rows, sums of each are taken off running ones."""
LONG = 2**12
"""Lists of as many groups are read one by one."""


class _Visited(NamedTuple):
    """What stands before some groups, down to their ends, and before the next ones."""

    before: NDArray
    upto: NDArray
    found: NDArray
    found_upto: NDArray
    next: NDArray | None = None


_COLUMNS: dict[str, Callable[[Any], NDArray]] = {
    "items_before": lambda groups: groups.before,
    "items_upto": lambda groups: groups.upto,
    "items_next": lambda groups: groups.next,
    "items": lambda groups: groups.upto - groups.before,
    "positive_before": lambda groups: groups.found,
    "positive_upto": lambda groups: groups.found_upto,
    "positive": lambda groups: groups.found_upto - groups.found,
    "single": lambda groups: (
        (groups.upto - groups.before == 1) * (groups.found_upto - groups.found)
    ),
}


def sum_positives(table: Positives, parts: tuple[Summands, ...]) -> list[tuple[NDArray, ...]]:
    """See `columns.sum_rows`.  The groups of several examples are few, and read all together."""
    if not any(part.columns for part in parts):
        return [() for _ in parts]
    if table.ends.ndim > 1 and table.ends.shape[-1] >= LONG:
        return _sums_of_lists(table, parts)
    every = [_sums_of_block(groups, parts) for groups in _blocks(table)]
    if any(part.ties for part in parts) and (rows := _several(table)).shape[0]:
        every += _sums_of_ties(table, rows, tuple(part.ties or _NOTHING for part in parts))
    found = []
    for part in zip(*every, strict=True):
        sums = zip(*(x for x in part if x), strict=True)
        found.append(tuple(map(total_of_blocks, sums)))
    return found


def _sums_of_lists(table: Positives, parts: tuple[Summands, ...]) -> list[tuple[NDArray, ...]]:
    """Long lists one by one."""
    shape = table.ends.shape[:-1]
    every = [
        sum_positives(table.of_list(i), tuple(part.of_list(i) for part in parts))
        for i in np.ndindex(shape)
    ]
    lists = (zip(*part, strict=True) for part in zip(*every, strict=True))
    return [tuple(np.asarray(x).reshape(shape) for x in part) for part in lists]


_NOTHING = Summands((), lambda: ())


def _sums_of_block(groups: _Visited, parts: tuple[Summands, ...]) -> list[tuple[NDArray, ...]]:
    terms = _terms(groups, parts, lambda x: x[..., None] if x.ndim else x)
    return [tuple(map(_sum, part)) for part in terms]


def _terms(
    groups: _Visited, parts: tuple[Summands, ...], spread: Callable[[NDArray], NDArray]
) -> Iterator[tuple[NDArray, ...]]:
    """What is summed of these groups; each column is made once."""
    made: dict[str, NDArray] = {}
    for part in parts:
        names = by_items(part.columns)
        for name in names:
            if name not in made:
                made[name] = _COLUMNS[name](groups).astype(np.float64)
        yield part.terms(*(made[x] for x in names), *map(spread, part.beside))


def _blocks(table: Positives) -> Iterator[_Visited]:
    *lists, length = table.ends.shape
    for block in blocks(length, max(2 * BLOCK // math.prod(lists), 1)):
        here, behind = (..., block), (..., slice(block.start + 1, block.stop + 1))
        starts, found = table.starts, table.found
        yield _Visited(starts[here], table.ends[here], found[here], found[behind], starts[behind])


def _sums_of_ties(
    table: Positives, rows: NDArray, parts: tuple[Summands, ...]
) -> Iterator[list[tuple[NDArray, ...]]]:
    """The sums over groups of several examples alone, of one list in blocks."""
    starts, ends, found = (x.reshape(-1) for x in table[:3])
    *shape, length = table.ends.shape
    for block in blocks(rows.shape[0], rows.shape[0] if shape else 2 * BLOCK):
        row = rows[block]
        lists = row // length
        first = row + lists  # columns of starts have one more row in each list
        before, upto = starts.take(first), ends.take(row)
        groups = _Visited(before, upto, found.take(first), found.take(first + 1))
        terms = _terms(groups, parts, partial(_of_lists, lists=lists))
        yield [tuple(_by_list(x, lists, shape) for x in part) for part in terms]


def _of_lists(x: NDArray, lists: NDArray) -> NDArray:
    """Beside each row the number of its list."""
    return x.reshape(-1).take(lists) if x.ndim else x


def _several(table: Positives) -> NDArray:
    """The places, in the flat table, of groups of several examples."""
    before, upto = table.starts[..., :-1], table.ends
    if upto.ndim > 1 or upto.shape[0] <= BLOCK:
        rows: NDArray = (upto - before > 1).reshape(-1).nonzero()[0]
        return rows
    flags = np.empty(upto.shape, dtype=np.bool)
    for block in blocks(upto.shape[0], 2 * BLOCK):
        np.greater(upto[block] - before[block], 1, out=flags[block])
    return rare_places(flags)


def summed_where(chosen: NDArray, function: Callable[..., NDArray], *arguments: NDArray) -> NDArray:
    """See `columns.summed_where`: what is not wanted is not computed."""
    places = chosen.reshape(-1).nonzero()[0]
    *shape, length = chosen.shape
    if not shape:
        return _sum(function(*(x.take(places) if x.ndim else x for x in arguments)))
    lists = places // length
    taken = (x.reshape(-1).take(places if x.shape[-1] == length else lists) for x in arguments)
    return _by_list(function(*taken), lists, shape)


def moment(table: Positives) -> NDArray:
    """See `columns.moment`."""
    starts, ends, found, _ = table
    if ends.ndim > 1 or ends.shape[0] > LONG or starts.dtype != np.int64:
        return moments(table, starts[..., -1])[0]
    both: NDArray = (starts[:-1] + ends).dot(found[1:] - found[:-1])
    return both


def moments(table: Positives, least: NDArray) -> tuple[NDArray, NDArray]:
    """See `columns.moments`; exact, as integers."""
    if table.ends.ndim > 1:
        return _moments_of_lists(table, least)
    starts, ends, found, _ = table
    row = int(starts[:-1].searchsorted(least))
    wide = np.float64 if 2 * int(starts[-1]) * int(found[-1]) < EXACT else np.int64
    integer = count_type(2 * int(starts[-1]))
    whole, later = 0, 2 * int(least) * int(found[row])
    for block in blocks(ends.shape[0], 2 * BLOCK):
        behind = slice(block.start + 1, block.stop + 1)
        terms = (starts[block].astype(integer) + ends[block]).astype(wide)
        terms *= (found[behind] - found[block]).astype(wide)
        whole += int(np.add.reduce(terms))
        if block.stop > row:
            later += int(np.add.reduce(terms[max(row - block.start, 0) :]))
    return np.asarray(whole)[()], np.asarray(later)[()]


def _moments_of_lists(table: Positives, least: NDArray) -> tuple[NDArray, NDArray]:
    if table.ends.shape[-1] >= LONG:
        every = [moments(table.of_list(i), least[i]) for i in np.ndindex(least.shape)]
        both, later = (np.asarray(x).reshape(least.shape) for x in zip(*every, strict=True))
        return both, later
    starts, ends, found, _ = table
    here = (found[..., 1:] - found[..., :-1]).astype(np.int64)
    before, upto = starts[..., :-1].astype(np.int64), ends.astype(np.int64)
    whole = np.add.reduce(here * (before + upto), axis=-1)
    first = least[..., None].astype(np.int64)
    later = np.maximum(before, first) + np.maximum(upto, first)
    return whole, np.add.reduce(here * later, axis=-1)


def _sum(x: NDArray) -> NDArray:
    found: NDArray = np.add.reduce(x, axis=-1)
    return found


def _by_list(x: NDArray, lists: NDArray, shape: list[int]) -> NDArray:
    """The sum of each list, of which there are so many; each term belongs to one."""
    if not shape:
        return _sum(x)
    starts = lists.searchsorted(np.arange(math.prod(shape) + 1))
    return sums_between(x, starts).reshape(shape)


def sums_before(x: NDArray, dtype: Any) -> NDArray:
    """See `segments._sums_before`; NumPy takes less time to write to an array that it has."""
    sums = np.empty((*x.shape[:-1], x.shape[-1] + 1), dtype=dtype)
    sums[..., 0] = 0
    x.cumsum(axis=-1, dtype=dtype, out=sums[..., 1:])
    return sums


def sums_between(x: NDArray, starts: NDArray, whole: bool = False) -> NDArray:
    """Sums from each start to the next, 0 where they are the same; `whole` ones of 64 bits."""
    if whole and starts.shape[0] > x.shape[0] // MANY:
        return np.diff(sums_before(x, np.int64).take(starts))
    return _between(np.add, x, starts, 0, np.int64 if whole else x.dtype)


def largest_between(x: NDArray, starts: NDArray, least: float) -> NDArray:
    """The largest from each start to the next, `least` where they are the same."""
    return _between(np.maximum, x, starts, least, x.dtype)


def _between(combine: np.ufunc, x: NDArray, starts: NDArray, nothing: float, dtype: Any) -> NDArray:
    found = np.full(starts.shape[0] - 1, nothing, dtype=dtype)
    there = np.flatnonzero(starts[1:] > starts[:-1])
    if there.size:
        found[there] = combine.reduceat(x[: starts[-1]], starts[there], dtype=dtype)
    return found
