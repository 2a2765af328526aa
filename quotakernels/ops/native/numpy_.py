"""Native forms for NumPy: compact tables, counts in bins, blocks in cache."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from quotakernels._array import Across, Array
from quotakernels.ops._draws import poisson_steps
from quotakernels.ops._table import (
    Around,
    ByClass,
    Cumulative,
    Groups,
    Rows,
    to_sum,
)
from quotakernels.ops.native._numpy_hull import hull_ends as hull_ends
from quotakernels.ops.native._numpy_hull import merged as merged
from quotakernels.ops.native._numpy_keys import bits_of_key as bits_of_key
from quotakernels.ops.native._numpy_keys import from_order_key as from_order_key
from quotakernels.ops.native._numpy_keys import key_of_bits as key_of_bits
from quotakernels.ops.native._numpy_keys import order_key as order_key
from quotakernels.ops.native._numpy_merged import merged_groups as merged_groups
from quotakernels.ops.native._numpy_merged import merged_of_lists, merged_of_words, side_by_side
from quotakernels.ops.native._numpy_rows import BLOCK, blocks
from quotakernels.ops.native._numpy_rows import blocks_of_counts as blocks_of_counts
from quotakernels.ops.native._numpy_rows import blocks_of_rows as blocks_of_rows
from quotakernels.ops.native._numpy_rows import head as head
from quotakernels.ops.native._numpy_rows import in_parts as in_parts
from quotakernels.ops.native._numpy_rows import partial_harmonic_sums as partial_harmonic_sums
from quotakernels.ops.native._numpy_rows import rows_at as rows_at
from quotakernels.ops.native._numpy_rows import total_of_blocks as total_of_blocks
from quotakernels.ops.native._numpy_rows import total_of_rows as total_of_rows
from quotakernels.ops.native._numpy_segments import first_of_each as first_of_each
from quotakernels.ops.native._numpy_segments import largest_between as largest_between
from quotakernels.ops.native._numpy_segments import segmented_groups as segmented_groups
from quotakernels.ops.native._numpy_segments import sums_before as sums_before
from quotakernels.ops.native._numpy_segments import sums_between as sums_between
from quotakernels.ops.native._numpy_summed import by_argsort, each_by_itself
from quotakernels.ops.native._numpy_words import (
    compact_groups,
    groups_around_zero,
    packed_words,
    rising_order,
)
from quotakernels.ops.standard import Standard, flagged_places

NDArray = np.ndarray[Any, Any]


def number(x: NDArray) -> NDArray:
    """Without the checks of NumPy's function, which take longer than few counts."""
    return np.add.reduce(x, axis=-1, dtype=np.int64)  # type: ignore[no-any-return]


def _filling(shape: tuple[int, ...], x: NDArray) -> NDArray:
    return x if x.shape == shape else np.broadcast_to(x, shape)


def around(scores: NDArray, labels: NDArray, masses: list[float]) -> Around:
    """See `tables.around`."""
    key, size = order_key(scores), scores.shape[0]
    places = [size - max(math.ceil(mass), 1) for mass in masses]
    parted = key.copy()
    parted.partition(places)
    there = parted[places]
    before, found_before, end, found = _counts_beside(key, labels, there)
    here, positive = end - before, found - found_before
    row = Rows(before, before, found_before, here, here, positive)
    whole, positives = np.asarray([[size], [np.count_nonzero(labels)]], dtype=np.float64)
    return Around(np.asarray(masses), from_order_key(there, scores.dtype), row, whole, positives)


def _counts_beside(key: NDArray, labels: NDArray, bounds: NDArray) -> NDArray:
    """How many keys are above each bound, and how many reach it; all of them and positive ones."""
    found = []
    for bound in bounds:
        above, upto = key > bound, key >= bound
        flags = (above, above & labels, upto, upto & labels)
        found.append([np.count_nonzero(x) for x in flags])
    return np.asarray(found, dtype=np.float64).T


def tie_groups(
    scores: NDArray,
    labels: NDArray,
    weights: NDArray | None,
    valid: NDArray | None,
    given: bool,
    columns: dict[str, NDArray],
) -> Groups:
    """The table of one list of scores, without empty rows but for that of an empty list."""
    if valid is not None and not valid.all():
        scores, labels = scores[valid], labels[valid]
        weights = None if weights is None else weights[valid]
        columns = {name: x[valid] for name, x in columns.items()}
    if scores.shape[0] == 0:
        return _empty_row(scores, weights, columns)
    plain = not given and weights is None and not columns
    if plain and (groups := groups_around_zero(scores, labels)) is not None:
        return groups
    key = order_key(scores)
    if given:
        groups = each_by_itself(key, labels, weights, columns)
    elif not plain or key.dtype.kind == "f":
        groups = by_argsort(key, labels, weights, columns)
    else:
        groups = compact_groups(key, labels)
    thresholds = from_order_key(groups.thresholds, scores.dtype, over=True)
    return groups._replace(thresholds=thresholds)


def merged_of_scores(scores: NDArray, labels: NDArray) -> Cumulative | None:
    """See `tables.cumulative_groups`; None of types without an integer key."""
    if scores.ndim == 1:
        return _merged_list(scores, labels)
    *shape, size = scores.shape
    if not scores.size:
        return None
    scores, labels = scores.reshape(-1, size), labels.reshape(-1, size)
    if (found := _merged_lists(scores, labels)) is None:
        return None
    items, upto = (x.reshape(*shape, x.shape[-1]) for x in found[:2])
    return Cumulative(items, upto)


def _merged_list(scores: NDArray, labels: NDArray) -> Cumulative | None:
    if (parts := packed_words(scores, labels)) is None:
        return None
    for part in parts:
        part.words.sort()
    return merged_of_words(parts, int(np.count_nonzero(labels)))


def _merged_lists(scores: NDArray, labels: NDArray) -> Cumulative | None:
    """Of several lists, short ones together where one kind of word holds all of their scores."""
    if scores.shape[1] <= BLOCK:
        parts = packed_words(scores.reshape(-1), labels.reshape(-1))
        if parts is None:
            return None
        if len(parts) == 1:
            words = parts[0].words.reshape(scores.shape)
            return merged_of_lists(words, np.count_nonzero(labels, axis=-1))
    every = [_merged_list(*x) for x in zip(scores, labels, strict=True)]
    tables = [x for x in every if x is not None]
    return side_by_side(tables) if len(tables) == len(every) else None


def _empty_row(scores: NDArray, weights: NDArray | None, columns: dict[str, NDArray]) -> Groups:
    count = np.zeros(1, dtype=np.int32)
    mass = None if weights is None else np.zeros(1, dtype=weights.dtype)
    zeros = {name: np.zeros(1) for name in columns}
    sums = {name: ByClass(x, x) for name, x in to_sum(zeros, None).items()}
    return Groups(np.zeros(1, dtype=scores.dtype), count, count, mass, mass, sums)


def without_empty_rows(table: Groups) -> Groups:
    """At least one row stays."""
    kept = table.counts > 0
    kept[0] |= not kept.any()
    return table.map(lambda x: x[kept])


def ranked(key: NDArray) -> tuple[NDArray, NDArray]:
    """See `segments`: the distinct keys, and the place of each key among them."""
    order = rising_order(key)
    rising = key.take(order)
    first = np.ones(key.shape, dtype=bool)
    np.not_equal(rising[1:], rising[:-1], out=first[1:])
    place, before = np.empty(key.shape, dtype=np.int64), -1
    for block in blocks(key.shape[0]):
        number = first[block].cumsum(dtype=np.int64)
        number += before
        place[order[block]] = number
        before = int(number[-1])
    return rising[first], place


def halves(both: NDArray) -> tuple[NDArray, NDArray]:
    """See `segments._halves`; the cast keeps the lower bits."""
    lower = both.astype(np.int32)
    group = both - lower
    group >>= 32
    return lower, np.negative(group, out=group)


def repeated_rows(counts: NDArray, length: int) -> NDArray:
    """Each row as often as it has examples, and the last one up to a length."""
    rows = np.repeat(np.arange(counts.shape[0]), counts)
    return np.pad(rows, (0, length - rows.shape[0]), constant_values=counts.shape[0] - 1)


def write(target: Array, source: Array, start: int, length: int) -> Array:
    """Write what there is place for into an array that is the caller's own."""
    length = max(0, min(length, target.shape[-1] - start))
    target[..., start : start + length] = source[..., :length]
    return target


_INFINITIES = {16: 0x7C00, 32: 0x7F80_0000, 64: 0x7FF0_0000_0000_0000}
"""The bits of infinite floats, by how many there are."""

_FEW_SUMS = 2**12
"""Numbers of which all terms of harmonic sums are summed at once."""

FEW = 2**20
"""Fewer scores are put in order by themselves, and not their counts."""


def binned(
    counts: NDArray,
    scores: NDArray,
    labels: NDArray,
    valid: NDArray | None,
    bits: int,
    rows_of: Callable[[NDArray], NDArray],
) -> tuple[NDArray, np.bool]:
    """The counts with those of one list, and whether one has left the integers.

    `rows_of` are the rows of the bins of scores.
    """
    if valid is not None and not valid.all():
        scores, labels = scores[valid], labels[valid]
    if 4 * scores.shape[0] > counts.size:
        counts = counts + _binned(scores, labels, bits, rows_of)
        return counts, counts.min() < 0
    raised = counts.reshape(-1).copy()
    codes = 2 * rows_of(scores).astype(np.intp) + labels
    np.add.at(raised, codes, 1)
    return raised.reshape(counts.shape), (raised[codes] < 0).any()


def counted(counts: NDArray, scores: NDArray, labels: NDArray, bits: int) -> NDArray | None:
    """The counts with those of one list, None unless all is good."""
    width = 8 * scores.itemsize
    if scores.ndim != 1 or 4 * scores.size > counts.size or width > 64:
        return None
    if scores.dtype.kind != "f" or labels.dtype.kind not in "biu":
        return None
    key = key_of_bits(scores.view(f"i{scores.itemsize}"))
    infinity = _INFINITIES[width]
    if np.maximum.reduce(key) > infinity or np.minimum.reduce(key) < ~infinity:  # NaN
        return None
    if np.bitwise_or.reduce(labels) >> 1:
        return None
    raised = counts.reshape(-1).copy()
    rows = (key >> (width - bits)).astype(np.intp)
    codes = (2**bits - 2) - 2 * rows + labels.astype(np.bool)
    np.add.at(raised, codes, 1)
    return None if np.minimum.reduce(raised[codes]) < 0 else raised.reshape(counts.shape)


def _binned(
    scores: NDArray, labels: NDArray, bits: int, rows_of: Callable[[NDArray], NDArray]
) -> NDArray:
    """The counts of one list of many scores."""
    if scores.dtype.itemsize > 2 or scores.shape[0] < FEW:
        return _counted(lambda block: rows_of(scores[block]), labels, bits)
    patterns = scores.view(f"u{scores.dtype.itemsize}")  # cheaper to put in order afterwards
    width = np.iinfo(patterns.dtype).bits
    found = _counted(lambda block: patterns[block].astype(np.int32), labels, width)
    every = np.arange(len(found), dtype=patterns.dtype)
    every = every if scores.dtype.kind == "b" else every.view(scores.dtype)
    counts = np.zeros((2**bits, 2), dtype=np.int64)
    np.add.at(counts, rows_of(every), found)
    return counts


def _counted(codes_of: Callable[[slice], NDArray], labels: NDArray, bits: int) -> NDArray:
    """How many examples of each class have each code below 2**bits; codes may be written to."""
    counts = np.zeros(2 << bits, dtype=np.int64)
    for block in blocks(labels.shape[0], max(BLOCK, 2 << bits)):
        codes = codes_of(block)
        codes <<= 1
        codes |= labels[block]
        counts += np.bincount(codes, minlength=2 << bits)
    return counts.reshape(-1, 2)


def draws(
    source: Any, resamples: range, sizes: tuple[Any, ...], like: NDArray, poisson: bool
) -> NDArray:
    """Each resample has a stream of its own."""
    whole = tuple(int(size) for size in sizes)
    drawn = [_drawn(source, number, whole, like.shape[-1], poisson) for number in resamples]
    return drawn[0][None] if len(drawn) == 1 else np.stack(drawn)


def _drawn(source: Any, number: int, sizes: tuple[int, ...], length: int, poisson: bool) -> NDArray:
    seed = np.random.SeedSequence(source, spawn_key=(number,))
    generator = np.random.Generator(np.random.PCG64(seed))
    if poisson:
        steps = poisson_steps()
        parts = [np.searchsorted(steps, generator.random(size), side="right") for size in sizes]
    else:
        parts = [_counts(generator, size) for size in sizes]
    rest = length - sum(sizes)
    whole = (
        parts if len(parts) == 1 and not rest else [*parts, np.zeros(rest, dtype=parts[0].dtype)]
    )
    return whole[0] if len(whole) == 1 else np.concatenate(whole)


def _counts(generator: np.random.Generator, size: int) -> NDArray:
    """How often each of so many places is drawn; block by block, in memory that stays in the cache.

    New pages of memory would cost as much as the draws.
    """
    counts = np.zeros(size, dtype=np.int32 if size < 2**31 else np.int64)
    for block in blocks(size):
        drawn = generator.integers(0, size, block.stop - block.start)
        np.add.at(counts, drawn, counts.dtype.type(1))
    return counts


def kth_largest(key: NDArray, k: NDArray | int) -> NDArray:
    """One list is only partitioned."""
    rank = key.shape[0] - (k if isinstance(k, int) else int(k[0]))
    parted = key.copy()
    parted.partition(rank)
    return parted[rank : rank + 1]


class NumPyTypes(Standard):
    """What the standard cannot say of NumPy's arrays."""

    def clip(self, x: NDArray, min: float | None = None, max: float | None = None) -> Array:
        """Without the checks of the standard's function, which take longer."""
        x = x if min is None else np.maximum(x, min)
        return x if max is None else np.minimum(x, max)

    def order_key(self, scores: NDArray) -> Array:
        """The bits are a view."""
        return order_key(scores)

    def unkeyed(self, key: NDArray, dtype: Any) -> Array:
        """The bits are a view."""
        return from_order_key(key, dtype)


class NumPy(NumPyTypes):
    """What NumPy does faster."""

    def running_max(self, x: NDArray) -> Array:
        """NumPy accumulates."""
        result: NDArray = np.maximum.accumulate(x, axis=-1)
        return result

    def rising_sum(self, x: NDArray) -> Array:
        """NumPy adds in order."""
        found: NDArray = self.prefix_sum(x)
        return found

    def exclusive_at(self, x: NDArray, index: NDArray) -> Array:
        """What is behind the last index of one list is not read."""
        if x.ndim != 1:
            return super().exclusive_at(x, index)
        found, upto = np.zeros(index.shape), 0.0
        for block in blocks(int(index.max(initial=0))):
            sums = x[block].copy()
            sums[0] += upto
            upto = np.add.accumulate(sums, out=sums)[-1]
            here = (block.start < index) & (index <= block.stop)
            found[here] = sums[index[here] - block.start - 1]
        return found

    def total(self, x: NDArray) -> Array:
        """NumPy's own sum is pairwise along a contiguous axis."""
        if x.shape[-1] == 1:
            return x[..., 0]
        return np.asarray(np.add.reduce(np.ascontiguousarray(x), axis=-1))

    def counts(self, flags: list[NDArray]) -> Array:
        """Of whole lists, which NumPy counts several times faster than along an axis."""
        if flags[0].ndim != 1:
            return super().counts(flags)
        return np.asarray([np.count_nonzero(x) for x in flags])

    def bincount(self, codes: NDArray, length: int) -> Array:
        """List by list."""
        counts = np.empty((*codes.shape[:-1], length), dtype=np.int64)
        for row in np.ndindex(codes.shape[:-1]):
            counts[row] = np.bincount(codes[row], minlength=length + 1)[:length]
        return counts

    def bisect(self, ends: NDArray, wanted: NDArray, beyond: bool = False) -> Array:
        """List by list, unless these are many and short."""
        if math.prod(ends.shape[:-1]) > ends.shape[-1]:
            return super().bisect(ends, wanted, beyond)
        index = np.empty(wanted.shape, dtype=np.int64)
        for row in np.ndindex(ends.shape[:-1]):
            index[row] = np.searchsorted(ends[row], wanted[row], side="right" if beyond else "left")
        return np.where(wanted == wanted, index, 0)  # NaN is below everything

    def flagged_first(self, flags: NDArray) -> Array:
        """Of one list the places only."""
        return flagged_places(self, flags)

    def take_last_axis(self, x: NDArray, index: NDArray) -> Array:
        """Of one list without the checks of the standard's function; NumPy copies other indices."""
        if x.ndim == index.ndim == 1 and index.dtype == np.int64:
            return x.take(index)
        return super().take_last_axis(x, index)

    def write_slice(
        self, target: NDArray, source: NDArray, start: NDArray, length: NDArray | int
    ) -> Array:
        """A copy is written to."""
        found: NDArray = write(target.copy(), source, int(start), int(length))
        return found

    def kth_largest(self, key: NDArray, k: NDArray | int, across: Across | None = None) -> Array:
        """One list is only partitioned."""
        if key.ndim != 1 or across is not None:
            return super().kth_largest(key, k, across)
        return kth_largest(key, k)

    def piecewise(
        self,
        rare: NDArray,
        if_rare: Callable[..., NDArray],
        otherwise: Callable[..., NDArray],
        *arguments: NDArray,
    ) -> Array:
        """The rare formula is evaluated only where it is wanted, and the other unless it is not."""
        places = rare.reshape(-1).nonzero()[0]
        if places.size == rare.size > 0:
            return if_rare(*(_filling(rare.shape, x) for x in arguments))
        result = otherwise(*arguments)
        if places.size:
            own = result.flags.owndata and result.flags.c_contiguous  # or else it is not written to
            if not (own and result.shape == rare.shape):
                result = np.array(_filling(rare.shape, result), order="C")
            chosen = (_filling(rare.shape, x).reshape(-1).take(places) for x in arguments)
            result.reshape(-1)[places] = if_rare(*chosen)
        return result

    def where_rare(
        self,
        rare: NDArray,
        parts: int,
        function: Callable[..., tuple[NDArray, ...]],
        *arguments: NDArray,
    ) -> list[NDArray]:
        """What is not wanted is not computed."""
        results = [np.zeros(rare.shape) for _ in range(parts)]
        places = rare.reshape(-1).nonzero()[0]
        if places.size:
            chosen = (_filling(rare.shape, x).reshape(-1).take(places) for x in arguments)
            for result, x in zip(results, function(*chosen), strict=True):
                result.reshape(-1)[places] = x
        return results

    def partial_harmonic_sums(
        self, before: NDArray, number: NDArray, most: int
    ) -> tuple[NDArray, NDArray]:
        """All terms of few numbers are summed at once."""
        few = before.ndim == 1 and before.shape[0] <= _FEW_SUMS and before.dtype == np.float64
        sums = partial_harmonic_sums if few else super().partial_harmonic_sums
        return sums(before, number, most)
