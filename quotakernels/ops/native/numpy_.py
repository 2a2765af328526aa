"""Native forms for NumPy: sorted words that carry their label, compact tables, blocks in cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from quotakernels._array import Namespace
from quotakernels.ops import standard
from quotakernels.ops._table import Groups, Rows
from quotakernels.ops.native._bits import bits_from_key, key_from_bits
from quotakernels.ops.native._numpy_hull import hull_ends as hull_ends
from quotakernels.ops.native._numpy_hull import merged as merged

NDArray = np.ndarray[Any, Any]
BLOCK = 1 << 15


def _blocks(length: int) -> Iterator[slice]:
    for start in range(0, length, BLOCK):
        yield slice(start, min(start + BLOCK, length))


def _has_bits(dtype: Any) -> bool:
    """Floats of up to 64 bits, the extension type bfloat16 (kind V) included."""
    if dtype.kind == "f":
        return bool(dtype.itemsize <= 8)
    return bool(dtype.kind == "V" and dtype.name == "bfloat16")


def order_key(xp: Namespace, scores: NDArray) -> NDArray:
    """See `standard.order_key`."""
    if not _has_bits(scores.dtype):
        return scores.view(np.uint8) if scores.dtype.kind == "b" else scores
    width = 8 * scores.dtype.itemsize
    bits = scores.view(np.dtype(f"i{scores.dtype.itemsize}"))
    if bits.size and bits.min() >= 0:  # the bits of a float that is not negative are its key
        return bits
    if bits.ndim != 1 or bits.shape[0] <= BLOCK:
        return np.asarray(key_from_bits(bits, width))
    key = np.empty(bits.shape, dtype=bits.dtype)
    for block in _blocks(bits.shape[0]):
        key[block] = key_from_bits(bits[block], width)
    return key


def from_order_key(xp: Namespace, key: NDArray, dtype: Any) -> NDArray:
    """See `standard.from_order_key`."""
    if not _has_bits(dtype):
        return key.view(dtype) if dtype.kind == "b" else key.astype(dtype, copy=False)
    if key.size and key.min() >= 0:  # see `order_key`
        return key.view(dtype)
    return np.asarray(bits_from_key(key, 8 * dtype.itemsize)).view(dtype)


def sort_coded(
    xp: Namespace, key: NDArray, code: NDArray, weights: NDArray | None, stable: bool
) -> tuple[NDArray, NDArray, NDArray | None]:
    """See `standard.sort_coded`; keys of up to 32 bits are sorted as words that end in the code."""
    if stable or weights is not None or key.dtype.kind == "f" or key.dtype.itemsize > 4:
        return standard.sort_coded(xp, key, code, weights, stable)
    words = np.sort((~key.astype(np.int64) << 2) | code, axis=-1)
    return (~(words >> 2)).astype(key.dtype), (words & 3).astype(code.dtype), None


def running_max(xp: Namespace, x: NDArray) -> NDArray:
    """See `standard.running_max`."""
    result: NDArray = np.maximum.accumulate(x, axis=-1)
    return result


def total(xp: Namespace, x: NDArray) -> NDArray:
    """See `standard.total`; NumPy's own sum is pairwise along a contiguous axis."""
    return np.asarray(np.sum(np.ascontiguousarray(x), axis=-1))


def piecewise(
    xp: Namespace,
    rare: NDArray,
    if_rare: Callable[..., NDArray],
    otherwise: Callable[..., NDArray],
    *arguments: NDArray,
) -> NDArray:
    """See `standard.piecewise`; the rare formula is evaluated only where it is wanted."""
    result = otherwise(*arguments)
    places = np.flatnonzero(rare)
    if places.size:
        if not (result.flags.owndata and result.shape == rare.shape):
            result = np.array(_filling(rare.shape, result), order="C")
        chosen = (_filling(rare.shape, x).reshape(-1)[places] for x in arguments)
        result.reshape(-1)[places] = if_rare(*chosen)
    return result


def _filling(shape: tuple[int, ...], x: NDArray) -> NDArray:
    return x if x.shape == shape else np.broadcast_to(x, shape)


def key_at(xp: Namespace, key: NDArray, place: NDArray) -> NDArray:
    """See `standard.key_at`; one list is only partitioned."""
    if key.ndim != 1:
        found: NDArray = standard.key_at(xp, key, place)
        return found
    rank = key.shape[0] - int(place[0])
    return np.partition(key, rank)[rank : rank + 1]


def tie_groups(
    xp: Namespace,
    scores: NDArray,
    labels: NDArray,
    weights: NDArray | None,
    valid: NDArray | None,
    given: bool,
) -> Groups:
    """See `standard.tie_groups`; one list of scores gives a table without empty rows."""
    if scores.ndim != 1:
        return standard.tie_groups(xp, scores, labels, weights, valid, given)
    if valid is not None and not valid.all():
        scores, labels = scores[valid], labels[valid]
        weights = None if weights is None else weights[valid]
    if given or scores.shape[0] == 0:
        return _or_one_empty_row(standard.tie_groups(xp, scores, labels, weights, None, given))
    groups = compact_groups(order_key(xp, scores), labels, weights)
    return groups._replace(thresholds=from_order_key(xp, groups.thresholds, scores.dtype))


def _or_one_empty_row(groups: Groups) -> Groups:
    if groups.counts.shape[0]:
        return groups
    return groups.map(lambda x: np.zeros(1, dtype=x.dtype))


def compact_groups(key: NDArray, labels: NDArray, weights: NDArray | None) -> Groups:
    """The table of one non-empty list of keys, without empty rows; thresholds are keys."""
    if weights is not None or key.dtype.kind == "f":
        return _by_argsort(key, labels, weights)
    low, high = int(key.min()), int(key.max())
    bits = 31 if high - low < 2**31 or key.dtype.itemsize <= 4 else 63
    if high - low < 2**bits:
        parts = [_Part(_packed(key, labels, high, bits), high)]
    else:
        parts = _packed_halves(key, labels, high, bits)
    for part in parts:
        part.words.sort()
    return _rows_of_words(parts, key.dtype)


class _Part(NamedTuple):
    """Words that hold the distance from a part's best key and, in the lowest bit, the label."""

    words: NDArray
    best: int


def _count_type(length: int) -> Any:
    return np.int32 if length < 2**31 else np.int64


def _pack(key: NDArray, labels: NDArray, best: int, packed: NDArray) -> None:
    top = np.asarray(best % 2 ** (8 * packed.itemsize), dtype=packed.dtype)
    np.subtract(top, key.astype(packed.dtype), out=packed)  # modulo 2**32 or 2**64 it is exact
    packed <<= 1
    packed |= labels


def _packed(key: NDArray, labels: NDArray, best: int, bits: int) -> NDArray:
    words = np.empty(key.shape, dtype=f"u{(bits + 1) // 8}")
    for block in _blocks(key.shape[0]):
        _pack(key[block], labels[block], best, words[block])
    return words


def _packed_halves(key: NDArray, labels: NDArray, best: int, bits: int) -> list[_Part]:
    """Keys too far apart for one kind of word: the upper ones, and those whose distance from the
    best has a bit too many, which it loses: they count from 2**bits below the best.
    """
    words = np.empty(key.shape, dtype=f"u{(bits + 1) // 8}")
    front, back = 0, key.shape[0]
    for block in _blocks(key.shape[0]):
        packed = np.empty(block.stop - block.start, dtype=words.dtype)
        below = key[block] <= best - 2**bits
        _pack(key[block], labels[block], best, packed)
        above, below = np.flatnonzero(~below), np.flatnonzero(below)
        words[front : front + above.size] = packed[above]
        words[back - below.size : back] = packed[below]
        front, back = front + above.size, back - below.size
    return [_Part(words[:front], best), _Part(words[front:], best - 2**bits)]


def _rows_of_words(parts: list[_Part], key_type: Any) -> Groups:
    length = sum(part.words.shape[0] for part in parts)
    integer = _count_type(length)
    keys = np.empty(length, dtype=key_type)
    ends, found = np.empty(length, dtype=integer), np.empty(length, dtype=integer)
    rows = done = found_before = 0
    for part in parts:
        for block in _blocks(part.words.shape[0]):
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
    for block in reversed(list(_blocks(sums.shape[0]))):
        start = max(block.start, 1)
        sums[start : block.stop] -= sums[start - 1 : block.stop - 1].copy()
    return sums


def _by_argsort(key: NDArray, labels: NDArray, weights: NDArray | None) -> Groups:
    order = np.argsort(key, kind="stable")[::-1]
    key, labels = key[order], labels[order]
    starts = np.append(0, np.flatnonzero(key[1:] != key[:-1]) + 1)
    integer = _count_type(key.shape[0])
    counts = np.diff(starts, append=key.shape[0]).astype(integer)
    positives = np.add.reduceat(labels, starts, dtype=integer)
    if weights is None:
        return Groups(key[starts], counts, positives, None, None)
    weights = weights[order]
    masses = (np.add.reduceat(x, starts) for x in (weights * labels, weights * ~labels))
    return Groups(key[starts], counts, positives, *masses)


def _read(table: Groups, name: str) -> NDArray:
    """A column of `Rows` that needs no running sum, as it is stored."""
    return np.asarray(table.counts if name == "items" else getattr(table, name))


def _sums_before(values: NDArray, before: float) -> NDArray:
    """The sum before each value and after the last, `before` included."""
    sums = np.empty(values.shape[0] + 1)
    sums[0] = 0.0
    if values.dtype.kind == "f":
        values.cumsum(out=sums[1:])
    else:  # whole numbers add up several times faster
        sums[1:] = values.cumsum(dtype=np.int64)
    if before:
        sums += before
    return sums


def sum_rows(
    xp: Namespace,
    table: Groups,
    terms: Callable[..., tuple[NDArray, ...]],
    columns: tuple[str, ...],
) -> tuple[NDArray, ...]:
    """See `standard.sum_rows`; one table is read in blocks that stay in the cache."""
    if table.counts.ndim != 1:
        return standard.sum_rows(xp, table, terms, columns)
    blocks = _column_blocks(table, columns)
    sums = [[float(x.sum()) for x in terms(*block)] for block in blocks]
    return tuple(np.asarray(_sum_of_sums(x)) for x in zip(*sums, strict=True))


def _sum_of_sums(sums: tuple[float, ...]) -> float:
    """Rounded once; beyond the range of floats, infinite or NaN as plain sums are."""
    if len(sums) == 1:
        return sums[0]
    try:
        return math.fsum(sums)
    except (OverflowError, ValueError):
        return sum(sums)


def _column_blocks(table: Groups, columns: tuple[str, ...]) -> Iterator[list[NDArray]]:
    """The named columns of `Rows`, block by block; sums before a row are made as they are read."""
    before = dict.fromkeys(columns, 0.0)
    for block in _blocks(table.counts.shape[0]):
        part, read = table.map(lambda x, block=block: x[block]), []
        for column in columns:
            name = column.removesuffix("_before")
            values = _read(part, name)
            if name == column:
                read.append(values.astype(np.float64))
            else:
                sums = _sums_before(values, before[column])
                before[column] = float(sums[-1])
                read.append(sums[:-1])
        yield read


def rows_at(xp: Namespace, table: Groups, wanted: NDArray) -> tuple[NDArray, Rows]:
    """See `standard.rows_at`; only the blocks that own a wanted mass are searched."""
    if table.counts.ndim != 1:
        return standard.rows_at(xp, table, wanted)
    if table.counts.shape[0] <= BLOCK:
        return _rows_within(table, wanted, dict.fromkeys(_SUMMED, 0.0))
    starts = np.arange(0, table.counts.shape[0], BLOCK)
    before = {name: _sums_of_blocks(_read(table, name)) for name in _SUMMED}
    wanted = np.minimum(wanted, before["mass"][-1])
    owner = np.minimum(np.searchsorted(before["mass"][1:], wanted), starts.shape[0] - 1)
    index = np.empty(wanted.shape, dtype=np.int64)
    rows = Rows(*(np.empty(wanted.shape) for _ in Rows._fields))
    for number in np.unique(owner):
        here, start = owner == number, starts[number]
        block = table.map(lambda x, start=start: x[start : start + BLOCK])
        place, found = _rows_within(block, wanted[here], {k: x[number] for k, x in before.items()})
        index[here] = start + place
        for column, x in zip(rows, found, strict=True):
            column[here] = x
    return index, rows


_SUMMED = ("items", "mass", "positive")


def _rows_within(
    table: Groups, wanted: NDArray, before: dict[str, float]
) -> tuple[NDArray, Rows]:
    """The owners of the wanted masses among the rows of one block, with what is `before` it."""
    names = _SUMMED if table.weighted else _SUMMED[1:]
    values = {name: _read(table, name) for name in (*names, "negative")}
    sums = {name: _sums_before(values[name], before[name]) for name in names}
    ends = sums["mass"][1:]
    place = ends.searchsorted(np.minimum(wanted, ends[-1]))
    place = np.where(wanted == wanted, np.minimum(place, ends.shape[0] - 1), 0)
    stored = {name: x[place].astype(np.float64) for name, x in values.items()}
    stored |= {f"{name}_before": x[place] for name, x in sums.items()}
    if not table.weighted:
        stored |= {"items": stored["mass"], "items_before": stored["mass_before"]}
    return place, Rows(**stored)


def _sums_of_blocks(x: NDArray) -> NDArray:
    """The sum before each block and after the last; the sum of 32-bit counts fits 32 bits."""
    starts = np.arange(0, x.shape[0], BLOCK)
    return np.append(0.0, np.cumsum(np.add.reduceat(x, starts, dtype=x.dtype), dtype=np.float64))


def filled_first(xp: Namespace, table: Groups) -> Groups:
    """See `standard.filled_first`; of one table, the rows that hold examples only."""
    if table.counts.ndim != 1 or not table.counts.any():
        return standard.filled_first(xp, table)
    return table if table.counts.all() else without_empty_rows(xp, table)


def without_empty_rows(xp: Namespace, table: Groups) -> Groups:
    """See `standard.without_empty_rows`; at least one row stays."""
    if table.counts.ndim != 1:
        return table
    kept = table.counts > 0
    kept[0] |= not kept.any()
    return table.map(lambda x: x[kept])


def flagged_first(xp: Namespace, flags: NDArray) -> NDArray:
    """See `standard.flagged_first`; of one list of flags, the places of the raised ones only."""
    if flags.ndim == 1 and flags.any():
        return np.flatnonzero(flags)
    return np.asarray(standard.flagged_first(xp, flags))


def bisect(xp: Namespace, ends: NDArray, wanted: NDArray, beyond: bool = False) -> NDArray:
    """See `standard.bisect`; list by list, where the lists are not shorter than they are many."""
    if math.prod(ends.shape[:-1]) > ends.shape[-1]:
        return np.asarray(standard.bisect(xp, ends, wanted, beyond))
    index = np.empty(wanted.shape, dtype=np.int64)
    for row in np.ndindex(ends.shape[:-1]):
        index[row] = np.searchsorted(ends[row], wanted[row], side="right" if beyond else "left")
    return np.where(wanted == wanted, index, 0)  # NaN is below everything


def head(xp: Namespace, table: Groups, wanted: NDArray) -> Groups:
    """See `standard.head`; whole blocks of one long table are left out."""
    if table.counts.ndim != 1 or table.counts.shape[0] <= BLOCK:
        return table
    largest = np.max(wanted, where=wanted == wanted, initial=0)
    stop = BLOCK * int(np.searchsorted(_sums_of_blocks(table.mass), largest) + 1)
    return table.map(lambda x: x[:stop])
