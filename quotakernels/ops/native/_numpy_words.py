"""Keys sorted as words that carry the label or the place in their last bits.

Such a sort is several times faster than an argsort and a gather.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quotakernels.ops._table import Groups
from quotakernels.ops.native._numpy_rows import blocks

NDArray = np.ndarray[Any, Any]


def compact_groups(key: NDArray, labels: NDArray) -> Groups:
    """The table of one non-empty list of keys, without empty rows; thresholds are keys."""
    low, high = extent(key)
    parts = sorted_words(key, labels, low, high)
    return _rows_of_words(parts, key.dtype, min(key.shape[0], high - low + 1))


class Part(NamedTuple):
    """Words that hold the distance from a part's best key and, in the lowest bit, the label."""

    words: NDArray
    best: int


def extent(key: NDArray) -> tuple[int, int]:
    """The lowest key and the highest one."""
    return int(np.minimum.reduce(key)), int(np.maximum.reduce(key))


def sorted_words(key: NDArray, labels: NDArray, low: int, high: int) -> list[Part]:
    """Keys from low to high with their labels, in one part or two, of which the first is better."""
    bits = 31 if high - low < 2**31 or key.dtype.itemsize <= 4 else 63
    if high - low < 2**bits:
        parts = [Part(_packed(key, labels, high, bits), high)]
    else:
        parts = _packed_halves(key, labels, high, bits)
    for part in parts:
        part.words.sort()
    return parts


def count_type(length: int) -> Any:
    return np.int32 if length < 2**31 else np.int64


def _pack(key: NDArray, labels: NDArray, best: int, packed: NDArray) -> None:
    top = np.asarray(best % 2 ** (8 * packed.itemsize), dtype=packed.dtype)
    np.subtract(top, key.astype(packed.dtype), out=packed)  # modulo 2**32 or 2**64 it is exact
    packed <<= 1
    packed |= labels


def _packed(key: NDArray, labels: NDArray, best: int, bits: int) -> NDArray:
    words = np.empty(key.shape, dtype=f"u{(bits + 1) // 8}")
    for block in blocks(key.shape[0]):
        _pack(key[block], labels[block], best, words[block])
    return words


def _packed_halves(key: NDArray, labels: NDArray, best: int, bits: int) -> list[Part]:
    """Keys too far apart for one kind of word: the upper ones, and those whose distance from the
    best has a bit too many, which it loses: they count from 2**bits below the best.
    """
    words = np.empty(key.shape, dtype=f"u{(bits + 1) // 8}")
    front, back = 0, key.shape[0]
    for block in blocks(key.shape[0]):
        packed = np.empty(block.stop - block.start, dtype=words.dtype)
        below = key[block] <= best - 2**bits
        _pack(key[block], labels[block], best, packed)
        above, below = np.flatnonzero(~below), np.flatnonzero(below)
        words[front : front + above.size] = packed[above]
        words[back - below.size : back] = packed[below]
        front, back = front + above.size, back - below.size
    return [Part(words[:front], best), Part(words[front:], best - 2**bits)]


def _rows_of_words(parts: list[Part], key_type: Any, most: int) -> Groups:
    """The table, of at most so many rows, of sorted words."""
    integer = count_type(sum(part.words.shape[0] for part in parts))
    keys = np.empty(most, dtype=key_type)
    ends, found = np.empty(most, dtype=integer), np.empty(most, dtype=integer)
    rows = done = found_before = 0
    for part in parts:
        for block in blocks(part.words.shape[0]):
            last, distance = _ends(part.words, block)
            found_until = (part.words[block] & 1).cumsum(dtype=integer)
            into = slice(rows, rows + last.shape[0])
            best = np.asarray(part.best, dtype=key_type)
            np.subtract(best, distance.astype(key_type), out=keys[into])
            np.add(last, done + block.start + 1, out=ends[into], casting="unsafe")
            np.add(found_until[last], integer(found_before), out=found[into])
            rows, found_before = into.stop, found_before + int(found_until[-1])
        done += part.words.shape[0]
    counts, positives = (_steps_in_place(x[:rows]) for x in (ends, found))
    return Groups(keys[:rows], counts, positives, None, None)


def _ends(words: NDArray, block: slice) -> tuple[NDArray, NDArray]:
    """Where groups end in a block of sorted words, and their distances from the best key."""
    distance = words[block] >> 1
    following = words[block.stop] >> 1 if block.stop < words.shape[0] else ~distance[-1]
    differs = np.empty(distance.shape, dtype=bool)
    np.not_equal(distance[1:], distance[:-1], out=differs[:-1])
    differs[-1] = distance[-1] != following
    last = differs.nonzero()[0]
    return last, distance[last]


def _steps_in_place(sums: NDArray) -> NDArray:
    """What each running sum adds to the one before it; from the back, so that none is lost."""
    for block in reversed(list(blocks(sums.shape[0]))):
        start = max(block.start, 1)
        sums[start : block.stop] -= sums[start - 1 : block.stop - 1]
    return sums


def rising_order(key: NDArray) -> NDArray:
    """A stable argsort: words that end in the place are sorted several times faster."""
    if key.dtype.kind == "f":
        return np.argsort(key, kind="stable")
    low, high, bits = int(key.min()), int(key.max()), (key.shape[0] - 1).bit_length()
    words = key.astype(np.uint64)
    words -= np.uint64(low % 2**64)  # modulo 2**64 it is exact
    words >>= np.uint64(max(0, (high - low).bit_length() + bits - 64))
    words <<= np.uint64(bits)
    words |= np.arange(key.shape[0], dtype=np.uint64)
    words.sort()
    order = (words & np.uint64(2**bits - 1)).view(np.int64)
    if (high - low).bit_length() + bits > 64:
        words >>= np.uint64(bits)
        _order_within(order, key, words[1:] == words[:-1])
    return order


def _order_within(order: NDArray, key: NDArray, same: NDArray) -> None:
    """Put keys in order that follow each other as the `same`, since they were cut short."""
    there = key[order]
    if bool((there[1:] >= there[:-1]).all()):
        return
    places = np.flatnonzero(np.append(same, False) | np.append(False, same))
    order[places] = order[places[np.argsort(there[places], kind="stable")]]
