"""Tables of groups of examples for NumPy: words that begin with the group are sorted once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from quotakernels._array import Namespace
from quotakernels.ops._table import TieTable
from quotakernels.ops.native._numpy_rows import BLOCK, blocks, blocks_of_rows, columns
from quotakernels.ops.native._numpy_words import (
    count_type,
    counted_runs,
    extent,
    from_order_key,
    order_key,
    pack,
    rising_order,
    whole_groups,
)

NDArray = np.ndarray[Any, Any]

ROWS_PER_GROUP = 2**4
"""With fewer rows per group, the sums of groups are differences of running sums."""


class _Words(NamedTuple):
    """Sorted words: the group, `below` it so many bits, and the label in the last of these.

    `read` gives their keys, and `blocks` whole rows, as `_blocks_of_keys` and `_blocks_of_places`.
    """

    words: NDArray
    below: int
    read: Callable[[NDArray], NDArray]
    blocks: Iterator[tuple[NDArray, NDArray, NDArray | None]]


def tie_groups_by_group(
    scores: NDArray,
    labels: NDArray,
    weights: NDArray | None,
    valid: NDArray | None,
    codes: NDArray,
    size: int,
) -> tuple[TieTable, NDArray] | None:
    """The tie groups of groups of examples, one list without weights, and the group of each row.

    None of all else, of no example, and where 64 bits do not hold a group and a place.
    """
    if weights is not None or codes.ndim != 1:
        return None
    if valid is not None and not valid.all():
        scores, labels, codes = scores[valid], labels[valid], codes[valid]
    key, codes = order_key(scores), codes.astype(np.int64, copy=False).view(np.uint64)
    if key.shape[0] == 0 or key.dtype.kind == "f":
        return None
    (low, high), length = extent(key), key.shape[0]
    bits, upper, place = (x.bit_length() for x in (high - low, size - 1, length - 1))
    words, *table = columns(length, np.uint64, key.dtype, *[count_type(length)] * 2)
    if upper + bits < 63:
        space = words if upper + bits >= 31 else words.view(np.uint32)[length:]
        found = _of_keys(space, key, labels, codes, high, bits)
    elif upper + place < 63:
        found = _of_places(words, key, labels, codes, high, bits, upper)
    else:
        return None
    group, key, counts, positives = _rows(found, words, *table)
    thresholds = from_order_key(key, scores.dtype, over=True)
    return TieTable(thresholds, counts, positives, None, None), group.view(np.int64)


def _of_keys(
    words: NDArray, key: NDArray, labels: NDArray, codes: NDArray, best: int, bits: int
) -> _Words:
    """Words of the distance from the best key, in so many bits."""
    narrow, top = np.dtype(np.uint32 if bits < 32 else np.uint64), np.asarray(best, dtype=key.dtype)
    lower = np.empty(BLOCK, dtype=narrow)
    for block in blocks(key.shape[0], BLOCK):
        packed, distance = words[block], lower[: block.stop - block.start]
        pack(key[block], labels[block], best, distance)
        np.left_shift(codes[block], np.uint64(bits + 1), out=packed, casting="unsafe")
        packed |= distance
    words.view(f"i{words.itemsize}").sort()

    def read(words: NDArray) -> NDArray:
        distance = words.astype(narrow)
        distance >>= narrow.type(1)
        distance &= narrow.type(2**bits - 1)
        found: NDArray = np.subtract(top, distance.astype(key.dtype))
        return found

    return _Words(words, bits + 1, read, _blocks_of_keys(words))


def _blocks_of_keys(words: NDArray) -> Iterator[tuple[NDArray, NDArray, None]]:
    """Which words are of one row with the next."""
    for here in whole_groups(words):
        distance = here >> 1
        yield here, distance[1:] == distance[:-1], None


def _of_places(
    words: NDArray, key: NDArray, labels: NDArray, codes: NDArray, best: int, bits: int, upper: int
) -> _Words:
    """Words of as much of the distance as there is space for, below the group, and of the place."""
    lower = (key.shape[0] - 1).bit_length() + 1
    lost = np.uint64(upper + bits + lower - 63)
    ramp = np.arange(0, 2 * BLOCK, 2, dtype=np.uint64)
    for block in blocks(key.shape[0], BLOCK):
        packed = words[block]
        packed[:] = key[block]
        np.subtract(np.uint64(best % 2**64), packed, out=packed)  # modulo 2**64 it is exact
        packed >>= lost
        packed <<= np.uint64(lower)
        packed |= codes[block] << np.uint64(63 - upper)
        packed |= ramp[: packed.shape[0]] + np.uint64(2 * block.start)
        packed |= labels[block]
    words.view(np.int64).sort()

    def read(words: NDArray) -> NDArray:
        place = words & np.uint64(2**lower - 1)
        place >>= np.uint64(1)
        found: NDArray = key.take(place.view(np.int64))
        return found

    return _Words(words, 63 - upper, read, _blocks_of_places(words, lower, read))


def _blocks_of_places(
    words: NDArray, lower: int, read: Callable[[NDArray], NDArray]
) -> Iterator[tuple[NDArray, NDArray, NDArray]]:
    """Blocks of whole groups and their keys; words equal above the place are ordered by these."""
    for here in whole_groups(words, lower):
        begin, own = here >> np.uint64(lower), read(here)
        same = begin[1:] == begin[:-1]
        if same.any():
            if (same & (own[1:] > own[:-1])).any():
                at = np.flatnonzero(np.append(same, False) | np.append(False, same))
                order = at[rising_order(own[at])[::-1]]
                order = order[rising_order(begin[order])]
                here[at], own[at] = here[order], own[order]
            same &= own[1:] == own[:-1]
        yield here, same, own


def _rows(
    found: _Words, groups: NDArray, keys: NDArray, counts: NDArray, positives: NDArray
) -> list[NDArray]:
    """The columns, which are written; the first is over words that have been read."""
    length, rows = keys.shape[0], 0
    for here, same, own in found.blocks:
        chosen = counted_runs(here, same, counts[rows:], positives[rows:])
        into = slice(rows, rows + chosen.shape[0])
        keys[into] = found.read(chosen) if own is None or chosen is not here else own
        np.right_shift(chosen, chosen.dtype.type(found.below), out=groups[into])
        rows = into.stop
    several = 2 * rows < length  # of which a copy takes less than the memory of all
    written = (x[:rows] for x in (groups, keys, counts, positives))
    return [x.copy() if several else x for x in written]


def sums_before(x: NDArray, dtype: Any) -> NDArray:
    """Sums before each place, and of all; NumPy takes less time to write to an array it has."""
    sums = np.empty((*x.shape[:-1], x.shape[-1] + 1), dtype=dtype)
    sums[..., 0] = 0
    x.cumsum(axis=-1, dtype=dtype, out=sums[..., 1:])
    return sums


def sums_between(x: NDArray, starts: NDArray, whole: bool = False) -> NDArray:
    """Sums from each start to the next, 0 where they are the same; `whole` ones of 64 bits."""
    if whole and starts.shape[0] > x.shape[0] // ROWS_PER_GROUP:
        return np.diff(sums_before(x, np.int64).take(starts))
    return _between(np.add, x, starts, 0, np.int64 if whole else x.dtype)


def total_in_list(xp: Namespace, table: TieTable, term: Callable[[Any], tuple[NDArray]]) -> NDArray:
    """The sum over each group of examples of a term `in_list`, from blocks of the list."""
    starts, done = table.groups.starts, 0
    total = np.zeros(starts.shape[0] - 1)
    for rows in blocks_of_rows(xp, table._replace(groups=()), dtype=np.int64):
        behind = done + rows.table.counts.shape[0]
        own = slice(int(starts.searchsorted(done, "right")) - 1, int(starts.searchsorted(behind)))
        ends = starts[own.start : own.stop + 1].clip(done, behind) - done
        total[own] += sums_between(*term(rows), ends, whole=True)
        done = behind
    return total


def largest_between(x: NDArray, starts: NDArray, least: float) -> NDArray:
    """The largest from each start to the next, `least` where they are the same."""
    return _between(np.maximum, x, starts, least, x.dtype)


def _between(combine: np.ufunc, x: NDArray, starts: NDArray, nothing: float, dtype: Any) -> NDArray:
    found = np.full(starts.shape[0] - 1, nothing, dtype=dtype)
    there = np.flatnonzero(starts[1:] > starts[:-1])
    if there.size:
        found[there] = combine.reduceat(x[: starts[-1]], starts[there], dtype=dtype)
    return found
