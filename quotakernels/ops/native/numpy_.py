"""Native forms for NumPy: sorted words that carry their label, compact tables, blocks in cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from quotakernels._array import Namespace
from quotakernels.ops import standard
from quotakernels.ops._table import Groups, Rows
from quotakernels.ops.native._bits import bits_from_key, key_from_bits

NDArray = np.ndarray[Any, Any]
BLOCK = 1 << 15


def _blocks(length: int) -> Iterator[slice]:
    for start in range(0, length, BLOCK):
        yield slice(start, min(start + BLOCK, length))


def _has_bits(dtype: Any) -> bool:
    """Floats of up to 64 bits, the extension type bfloat16 (kind V) included."""
    return (dtype.kind == "f" or dtype.name == "bfloat16") and dtype.itemsize <= 8


def order_key(xp: Namespace, scores: NDArray) -> NDArray:
    """See `standard.order_key`."""
    if not _has_bits(scores.dtype):
        return scores.view(np.uint8) if scores.dtype.kind == "b" else scores
    width = 8 * scores.dtype.itemsize
    word = np.dtype(f"i{scores.dtype.itemsize}")
    if scores.ndim != 1:
        return key_from_bits(np.ascontiguousarray(scores).view(word), width)
    key = np.empty(scores.shape, dtype=word)
    for block in _blocks(scores.shape[0]):
        key[block] = key_from_bits(np.ascontiguousarray(scores[block]).view(word), width)
    return key


def from_order_key(xp: Namespace, key: NDArray, dtype: Any) -> NDArray:
    """See `standard.from_order_key`."""
    if not _has_bits(dtype):
        return key.view(dtype) if dtype.kind == "b" else key.astype(dtype, copy=False)
    return bits_from_key(key, 8 * dtype.itemsize).view(dtype)


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
    condition: NDArray,
    if_true: Callable[..., NDArray],
    if_false: Callable[..., NDArray],
    *arguments: NDArray,
) -> NDArray:
    """See `standard.piecewise`; each formula is evaluated only where it is wanted."""
    if not condition.any():
        return if_false(*arguments)
    if condition.all():
        return if_true(*arguments)
    result = np.empty(condition.shape, dtype=np.float64)
    for where, formula in ((condition, if_true), (~condition, if_false)):
        result[where] = formula(*(np.broadcast_to(x, where.shape)[where] for x in arguments))
    return result


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
    return Groups(*(None if x is None else np.zeros(1, dtype=x.dtype) for x in groups))


def compact_groups(key: NDArray, labels: NDArray, weights: NDArray | None) -> Groups:
    """The table of one non-empty list of keys, without empty rows; thresholds are keys."""
    if weights is not None or key.dtype.kind == "f":
        return _by_argsort(key, labels, weights)
    low, high = int(key.min()), int(key.max())
    if high - low >= 2**63 or (key.dtype.itemsize <= 4 and high - low >= 2**31):
        above = key >= (low + high + 1) // 2
        parts = (compact_groups(key[part], labels[part], None) for part in (above, ~above))
        return Groups(*(_joined(columns) for columns in zip(*parts, strict=True)))
    return _by_packed_words(key, labels, low, high)


def _joined(columns: tuple[NDArray | None, ...]) -> NDArray | None:
    return None if columns[0] is None else np.concatenate(columns)  # type: ignore[arg-type]


def _count_type(length: int) -> Any:
    return np.int32 if length < 2**31 else np.int64


def _by_packed_words(key: NDArray, labels: NDArray, low: int, high: int) -> Groups:
    """Sort words that hold the distance from the best key and, in the lowest bit, the label."""
    word: Any = np.uint32 if high - low < 2**31 else np.uint64
    words = np.empty(key.shape, dtype=word)
    top = np.asarray(high % 2 ** (8 * words.itemsize), dtype=word)
    for block in _blocks(key.shape[0]):
        distance = top - key[block].astype(word)  # modulo 2^32 or 2^64, where it is exact
        words[block] = (distance << 1) | labels[block]
    words.sort()
    return _rows_of_words(words, top, key.dtype)


def _rows_of_words(words: NDArray, top: NDArray, key_type: Any) -> Groups:
    length = words.shape[0]
    integer = _count_type(length)
    keys = np.empty(length, dtype=key_type)
    counts, positives = np.empty(length, dtype=integer), np.empty(length, dtype=integer)
    rows = end = found = found_at_end = 0
    for block in _blocks(length):
        distance = words[block] >> 1
        following = words[block.stop] >> 1 if block.stop < length else ~distance[-1]
        last = np.flatnonzero(np.append(distance[1:], following) != distance)
        found_until = np.cumsum(words[block] & 1, dtype=integer) + integer(found)
        found = int(found_until[-1])
        if last.shape[0]:
            into = slice(rows, rows + last.shape[0])
            keys[into] = (top - distance[last]).astype(key_type)
            counts[into] = np.diff(last + (block.start + 1), prepend=end)
            positives[into] = np.diff(found_until[last], prepend=integer(found_at_end))
            rows, end = into.stop, int(last[-1]) + block.start + 1
            found_at_end = int(found_until[last[-1]])
    return Groups(keys[:rows], counts[:rows], positives[:rows], None, None)


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
    masses = (np.add.reduceat(x, starts) for x in (weights, weights * labels))
    return Groups(key[starts], counts, positives, *masses)


def sum_rows(
    xp: Namespace,
    table: Groups,
    term: Callable[..., NDArray],
    parameters: tuple[NDArray, ...],
) -> NDArray:
    """See `standard.sum_rows`; a long table is read in blocks that stay in the cache."""
    if table.counts.ndim != 1 or table.counts.shape[0] <= BLOCK:
        return standard.sum_rows(xp, table, term, parameters)
    sums = (float(np.sum(term(rows, *parameters))) for rows in _rows_by_block(xp, table))
    return np.asarray(math.fsum(sums))


def _rows_by_block(xp: Namespace, table: Groups) -> Iterator[Rows]:
    items_before = mass_before = positive_before = 0.0
    for block in _blocks(table.counts.shape[0]):
        part = Groups(*(None if x is None else x[block] for x in table))
        rows = standard.table_rows(xp, part)
        rows = rows._replace(
            items_before=rows.items_before + items_before,
            mass_before=rows.mass_before + mass_before,
            positive_before=rows.positive_before + positive_before,
        )
        yield rows
        items_before = rows.items_before[-1] + rows.items[-1]
        mass_before = rows.mass_before[-1] + rows.mass[-1]
        positive_before = rows.positive_before[-1] + rows.positive[-1]


def rows_at(
    xp: Namespace, table: Groups, wanted: NDArray, by_items: bool
) -> tuple[NDArray, Rows]:
    """See `standard.rows_at`; NumPy searches one list of ends directly."""
    if table.counts.ndim != 1:
        return standard.rows_at(xp, table, wanted, by_items)
    size = table.counts if by_items or table.weights is None else table.weights
    index = np.searchsorted(np.cumsum(size), wanted, side="left")
    index = np.minimum(index, size.shape[0] - 1)
    table = standard.mass_groups(xp, table)
    items, mass, positive = table.counts, table.weights, table.positive_weights
    befores = [_sums_before(x, index) for x in (items, mass, positive)]
    return index, Rows(*befores, *(x[index] for x in (items, mass, positive)))


def _sums_before(x: NDArray, index: NDArray) -> NDArray:
    ends = np.cumsum(x)
    return np.where(index > 0, ends[np.maximum(index, 1) - 1], 0.0)


def without_empty_rows(xp: Namespace, table: Groups) -> Groups:
    """See `standard.without_empty_rows`; at least one row stays."""
    if table.counts.ndim != 1:
        return table
    kept = table.counts > 0
    kept[0] |= not kept.any()
    return Groups(*(None if x is None else x[kept] for x in table))


def head(xp: Namespace, table: Groups, wanted: NDArray) -> Groups:
    """See `standard.head`; whole blocks of one long table are left out."""
    size = table.counts if table.weights is None else table.weights
    if size.ndim != 1 or size.shape[0] <= BLOCK:
        return table
    ends = np.cumsum(np.add.reduceat(size, np.arange(0, size.shape[0], BLOCK)))
    largest = np.max(wanted, where=wanted == wanted, initial=0)
    stop = BLOCK * (int(np.searchsorted(ends, largest)) + 2)
    return Groups(*(None if x is None else x[:stop] for x in table))
