"""Native forms for NumPy: compact tables, counts in bins, blocks in cache."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from quotakernels._array import Across, Array, Device, Namespace, standard_namespace, tree_map
from quotakernels.ops._table import (
    ByClass,
    CutRow,
    ExampleColumns,
    Few,
    Layout,
    QuotaCut,
    RowSum,
    TieTable,
    shared,
    to_sum,
)
from quotakernels.ops.arrays import flagged_places
from quotakernels.ops.drawing import poisson_steps
from quotakernels.ops.native._numpy_groups import (
    largest_between,
    sums_before,
    sums_between,
    tie_groups_by_group,
    total_in_list,
)
from quotakernels.ops.native._numpy_hull import hull_ends
from quotakernels.ops.native._numpy_merged import (
    merged_groups,
    merged_of_lists,
    merged_of_words,
    side_by_side,
)
from quotakernels.ops.native._numpy_rows import (
    BLOCK,
    blocks,
    head,
    in_parts,
    rows_at,
    total_of_blocks,
    totals_of_counts,
    totals_of_list,
)
from quotakernels.ops.native._numpy_words import (
    by_argsort,
    compact_groups,
    count_keys,
    counted_groups,
    each_by_itself,
    from_order_key,
    order_key,
    packed_words,
    rising_order,
)
from quotakernels.ops.standard import Standard

NDArray = np.ndarray[Any, Any]


def _filling(shape: tuple[int, ...], x: NDArray) -> NDArray:
    return x if x.shape == shape else np.broadcast_to(x, shape)


def _counts_beside(key: NDArray, labels: NDArray, bounds: NDArray) -> NDArray:
    """Numbers of keys beside each bound, in four rows.

    All keys above the bound and the positive ones, all keys that reach it and the positive ones.
    """
    found = []
    for bound in bounds:
        above, upto = key > bound, key >= bound
        flags = (above, above & labels, upto, upto & labels)
        found.append([np.count_nonzero(x) for x in flags])
    return np.asarray(found, dtype=np.float64).T


def _merged_list(scores: NDArray, labels: NDArray) -> TieTable | None:
    if (counted := counted_groups(scores, labels)) is not None:
        return merged_groups(counted)
    if (parts := packed_words(scores, labels)) is None:
        return None
    for part in parts:
        part.words.sort()
    return merged_of_words(parts, int(np.count_nonzero(labels)))


def _merged_lists(scores: NDArray, labels: NDArray) -> TieTable | None:
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


def _empty_row(scores: NDArray, weights: NDArray | None, columns: dict[str, NDArray]) -> TieTable:
    count = np.zeros(1, dtype=np.int32)
    mass = None if weights is None else np.zeros(1, dtype=weights.dtype)
    zeros = {name: np.zeros(1) for name in columns}
    sums = {name: ByClass(x, x) for name, x in to_sum(zeros, None).items()}
    return TieTable(np.zeros(1, dtype=scores.dtype), count, count, mass, mass, sums)


def _layout(groups: TieTable) -> Layout:
    """The counts of fewer than 2**31 examples are of 32 bits."""
    return Few() if groups.counts.dtype == np.int32 else ()


def _is_list(table: TieTable) -> bool:
    return table.counts.ndim == 1 and not table.groups


def _filled_rows(table: TieTable) -> TieTable:
    """At least one row stays."""
    kept = table.counts > 0
    kept[0] |= not kept.any()
    return table.map(lambda x: x[kept])


_SCANNED = 4096
"""Length of a list that is compared with one number as fast as it is searched in Python."""


def _drawn(source: Any, number: int, sizes: tuple[int, ...], length: int, poisson: bool) -> NDArray:
    seed = np.random.SeedSequence(source, spawn_key=(number,))
    generator = np.random.Generator(np.random.PCG64(seed))
    if poisson:
        steps = poisson_steps()
        parts = [np.searchsorted(steps, generator.random(size), side="right") for size in sizes]
    else:
        parts = [_counts(generator, size) for size in sizes]
    rest = length - sum(sizes)
    if len(parts) == 1 and not rest:
        return parts[0]
    return np.concatenate([*parts, np.zeros(rest, dtype=parts[0].dtype)])


def _counts(generator: np.random.Generator, size: int) -> NDArray:
    """How often each of so many places is drawn; block by block, in memory that stays in the cache.

    New pages of memory would cost as much as the draws.
    """
    dtype = np.int32 if size < 2**31 else np.int64
    if size < BLOCK:
        return np.bincount(generator.integers(0, size, size), minlength=size).astype(dtype)
    counts = np.zeros(size, dtype=dtype)
    for block in blocks(size):
        drawn = generator.integers(0, size, block.stop - block.start)
        np.add.at(counts, drawn, counts.dtype.type(1))
    return counts


class NumPyTypes(Standard):
    """What the standard cannot say of NumPy's arrays."""

    def cast(self, x: Array, dtype: Any) -> Array:
        """Without the checks of the standard's function; the type itself is ten times as fast."""
        if dtype is np.float64 and isinstance(x, np.generic):
            return np.float64(x)
        return x.astype(dtype, copy=False)

    def wide(self, x: Array) -> Array:
        """Without asking for the device."""
        return np.float64(x) if isinstance(x, np.generic) else x.astype(np.float64, copy=False)

    def constant(self, value: Any, dtype: Any, dev: Device) -> Array:
        """Without the checks of the standard's function."""
        return np.asarray(value, dtype=dtype)

    def finish(self, x: Array, dtype: Any) -> Array:
        """A number is a scalar, as NumPy's own functions give it."""
        x = self.cast(x, dtype)
        return x[()] if isinstance(x, np.ndarray) else x

    def finished(self, result: Any, dtype: Any) -> Any:
        """Most results are one number."""
        if isinstance(result, np.floating) and result.dtype == dtype:
            return result
        return super().finished(result, dtype)

    def clip(self, x: NDArray, min: float | None = None, max: float | None = None) -> Array:
        """Without the checks of the standard's function, which take longer."""
        x = x if min is None else np.maximum(x, min)
        return x if max is None else np.minimum(x, max)

    def has_nan(self, x: NDArray) -> Array:
        """It is the largest number, and of short ones, which compare slowly, the largest bits."""
        if x.dtype.itemsize != 2:
            best = np.maximum.reduce(x, axis=None)
            return best != best
        infinity = int(np.asarray(np.inf, dtype=x.dtype).view(np.int16))
        ends = (np.int16, infinity), (np.uint16, infinity + 2**15)
        return any(np.maximum.reduce(x.view(bits), axis=None) > end for bits, end in ends)

    def prefix_sum(self, x: NDArray, dtype: Any = None, whole: bool = False) -> Array:
        """A sum of integers need not wait for the rounding of the one before: it is faster."""
        if whole and x.dtype.kind in "iu":
            return self.cast(x.cumsum(axis=-1, dtype=np.int64), dtype or x.dtype)
        return super().prefix_sum(x, dtype, whole)

    def order_key(self, scores: NDArray) -> Array:
        """The bits are a view."""
        return order_key(scores)

    def comparable(self, scores: NDArray) -> Array:
        """NumPy compares all floats exactly, but short ones slowly."""
        exact = scores.dtype.kind == "f" and scores.dtype.itemsize > 2
        return scores if exact else order_key(scores)

    def unkeyed(self, key: NDArray, dtype: Any) -> Array:
        """The bits are a view."""
        return from_order_key(key, dtype)

    def filled_first(self, table: TieTable) -> TieTable:
        """Of one list the rows that hold examples, only."""
        filled = table.counts > 0
        if filled.ndim != 1 or not filled.any():
            return super().filled_first(table)
        return table if filled.all() else _filled_rows(table)


class NumPy(NumPyTypes):
    """What NumPy does faster, mostly for one list: compact tables, blocks that fit the cache."""

    # groups of examples

    def first_of_each(self, group: NDArray, size: int) -> Array:
        """Of one list by how often each number occurs."""
        if group.ndim != 1:
            return super().first_of_each(group, size)
        found = np.bincount(group[: group.searchsorted(size)], minlength=size)
        return sums_before(found, np.int64)

    def ranked(self, key: NDArray) -> tuple[Array, Array]:
        """The distinct keys only."""
        if key.ndim > 1:
            return super().ranked(key)
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

    def group_total(self, table: TieTable, x: NDArray) -> Array:
        """From the start of a group to the next."""
        if not table.groups or x.ndim != 1:
            return super().group_total(table, x)
        return sums_between(x, table.groups.starts, x.dtype.kind in "iu")

    def group_max(self, table: TieTable, x: NDArray, least: Any = 0) -> Array:
        """From the start of a group to the next."""
        if x.ndim != 1:
            return super().group_max(table, x, least)
        return largest_between(x, table.groups.starts, least)

    def number(self, table: TieTable, x: NDArray, summed: bool = False) -> Array:
        """Without the checks of NumPy's function, which take longer than few counts."""
        if table.groups:
            return self.group_total(table, x)
        return np.add.reduce(x, axis=-1, dtype=np.int64)

    # tables

    def tie_groups(self, examples: ExampleColumns, given: bool = False) -> TieTable:
        """One list gives a table without empty rows but for that of an empty list."""
        scores, labels, weights, valid, columns = examples
        if scores.ndim > 1:
            return super().tie_groups(examples, given)
        if valid is not None and not valid.all():
            scores, labels = scores[valid], labels[valid]
            weights = None if weights is None else weights[valid]
            columns = {name: x[valid] for name, x in columns.items()}
        if scores.shape[0] == 0:
            return _empty_row(scores, weights, columns)
        plain = not given and weights is None and not columns
        if plain and (groups := compact_groups(scores, labels)) is not None:
            return groups._replace(layout=_layout(groups))
        ordered = each_by_itself if given else by_argsort
        groups = ordered(order_key(scores), labels, weights, columns)
        thresholds = from_order_key(groups.thresholds, scores.dtype, over=True)
        return groups._replace(thresholds=thresholds, layout=_layout(groups))

    def tie_groups_by_group(
        self,
        examples: tuple[NDArray, NDArray, NDArray | None, NDArray | None],
        codes: NDArray,
        ids: NDArray,
    ) -> TieTable | None:
        """Words that begin with the group are sorted."""
        found = tie_groups_by_group(*examples, codes, ids.shape[-1])
        if found is None:
            return None
        groups = self.group_index(found[1], ids, behind=False)
        return found[0]._replace(layout=_layout(found[0]), groups=groups)

    def merged(self, table: TieTable, last: NDArray) -> TieTable:
        """Lists whose runs end in the same rows become tables without empty ones."""
        if last.ndim != 1 or not last.any():
            return super().merged(table, last)
        if table.thresholds.shape == table.counts.shape and last.all():
            return table
        ends = np.flatnonzero(last)
        starts = np.append(0, ends[:-1] + 1)
        until = int(ends[-1]) + 1

        def of_runs(x: NDArray) -> NDArray:
            if x is table.thresholds:
                return np.broadcast_to(x, table.counts.shape)[..., ends]
            if x.dtype.kind == "f":
                return np.add.reduceat(x[..., :until], starts, axis=-1)
            found = x.cumsum(axis=-1, dtype=x.dtype).take(ends, axis=-1)
            found[..., 1:] -= found[..., :-1].copy()
            return found

        return table.map(of_runs)

    def cut_of_scores(self, scores: NDArray, labels: NDArray, masses: list[float]) -> QuotaCut:
        """The scores are partitioned, and those above and at each bound are counted.

        A mass below one example ends in the best group, that of 0 too, where the rate is 0/0.
        """
        key, size = order_key(scores), scores.shape[0]
        places = [size - max(math.ceil(mass), 1) for mass in masses]
        parted = key.copy()
        parted.partition(places)
        there = parted[places]
        before, found_before, end, found = _counts_beside(key, labels, there)
        here, positive = end - before, found - found_before
        row = CutRow(before, found_before, here, positive)
        whole, positives = np.asarray([[size], [np.count_nonzero(labels)]], dtype=np.float64)
        return QuotaCut(
            np.asarray(masses), from_order_key(there, scores.dtype), row, whole, positives
        )

    def rows_at(self, table: Any, wanted: NDArray) -> tuple[Any, CutRow]:
        """Only the blocks that own a wanted mass are searched."""
        if table.running or not _is_list(table):
            return super().rows_at(table, wanted)
        return rows_at(table, wanted)

    def without_empty_rows(self, table: TieTable) -> TieTable:
        """One list needs no fixed number of rows."""
        return table if table.counts.ndim > 1 else _filled_rows(table)

    def in_parts(self, table: TieTable) -> list[TieTable]:
        """One list comes in blocks."""
        return in_parts(table) if _is_list(table) else [table]

    def ends_of_row_at(self, table: TieTable, place: NDArray) -> tuple[Array, ...]:
        """What is between two rows of groups with positives is a row too."""
        index, before, upto, *found = super().ends_of_row_at(table, place)
        if not table.running:
            return index, before, upto, *found
        start = self.take_last_axis(table.layout.starts, index)
        within = place > start
        ends = np.where(within, start, before), np.where(within, upto, start)
        return index, *ends, found[0], np.where(within, found[1], found[0])

    def head(self, table: Any, wanted: NDArray) -> Any:
        """Of one list, whole blocks below the largest wanted mass are left out."""
        return table if table.running or not _is_list(table) else head(table, wanted)

    def running_counts(
        self, scores: NDArray, labels: NDArray, valid: NDArray | None, by_positives: bool = False
    ) -> TieTable | None:
        """Neighbouring groups without positives are one row; None of keys that are no integers."""
        if not by_positives or valid is not None:
            return None
        if scores.ndim == 1:
            return _merged_list(scores, labels)
        *shape, size = scores.shape
        if not scores.size:
            return None
        found = _merged_lists(scores.reshape(-1, size), labels.reshape(-1, size))
        return found and tree_map(lambda x: x.reshape(*shape, x.shape[-1]), found)

    def merged_groups(self, table: TieTable) -> TieTable | None:
        """Of one list without weights; a ranking keeps them."""
        return shared(table, "merged", lambda: merged_groups(table))

    # sums over rows

    def row_of_each(self, table: TieTable, ends: NDArray, numbers: NDArray) -> Array:
        """Each row is repeated as often as it has examples, and the last one up to the end."""
        lacking = -1 if ends.ndim > 1 else numbers.shape[0] - int(ends[-1])
        if table.in_place or lacking < 0:
            return super().row_of_each(table, ends, numbers)
        rows = np.repeat(np.arange(ends.shape[0]), table.counts)
        return np.pad(rows, (0, lacking), constant_values=ends.shape[0] - 1)

    def read_by_position(self, table: TieTable) -> bool:
        """NumPy computes what only few rows need for these alone."""
        return False

    def totals_of_rows(self, table: TieTable, sums: tuple[RowSum, ...]) -> list[tuple[Array, ...]]:
        """Rows of one list are read in blocks that stay in the cache."""
        if table.running:
            every = list(totals_of_counts(table, sums))
        elif table.counts.ndim > 1 or table.groups:
            if table.counts.ndim > 1 or not all(each.in_list for each in sums):
                return super().totals_of_rows(table, sums)
            return [(total_in_list(self, table, each.terms),) for each in sums]
        else:
            every = list(totals_of_list(self, table, sums))
        if len(every) == 1:
            return every[0]
        return [tuple(map(total_of_blocks, *own)) for own in zip(*every, strict=True)]

    # the hull, resamples and bins

    def hull_ends(self, table: TieTable) -> Array:
        """Rounds drop points, and then chords are split where they must be."""
        return hull_ends(table)

    def draws(
        self, source: Any, resamples: range, sizes: tuple[Any, ...], like: NDArray, poisson: bool
    ) -> Array:
        """Each resample has a stream of its own."""
        whole = tuple(int(size) for size in sizes)
        drawn = [_drawn(source, number, whole, like.shape[-1], poisson) for number in resamples]
        return drawn[0][None] if len(drawn) == 1 else np.stack(drawn)

    def binned(
        self, counts: NDArray, examples: ExampleColumns, bits: int, groups: NDArray | None = None
    ) -> tuple[Array, dict[str, Array], Array]:
        """Those of one list are counted where they belong, in blocks."""
        scores, labels, weights, valid, columns = examples
        if scores.ndim != 1 or weights is not None or columns or groups is not None:
            return super().binned(counts, examples, bits, groups)
        if valid is not None and not valid.all():
            scores, labels = scores[valid], labels[valid]
        raised = counts.reshape(-1).copy()
        seen = raised[:0]
        for block in blocks(scores.shape[0]):
            key, best = self.bin_keys(scores[block], bits)
            places = count_keys(key, labels[block], best, raised)
            seen = raised if scores.shape[0] > BLOCK else raised.take(places)
        return raised.reshape(counts.shape), {}, np.minimum.reduce(seen, initial=0) < 0

    # plain arrays

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
        return sums_before(x[: int(index.max(initial=0))], x.dtype).take(index)

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
        """List by list, unless these are many or short."""
        lists, length = math.prod(ends.shape[:-1]), ends.shape[-1]
        if lists > length or (lists > 1 == wanted.shape[-1] and length < _SCANNED):
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
        target, first = target.copy(), int(start)
        length = max(0, min(int(length), target.shape[-1] - first))
        target[..., first : first + length] = source[..., :length]
        return target

    def kth_largest(self, key: NDArray, k: NDArray | int, across: Across | None = None) -> Array:
        """Lists are only partitioned, unless each has a rank of its own."""
        if across is not None or not (isinstance(k, int) or key.ndim == 1):
            return super().kth_largest(key, k, across)
        rank = key.shape[-1] - (k if isinstance(k, int) else int(k[0]))
        parted = key.copy()
        parted.partition(rank)
        return parted[..., rank, None]

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


HOST: Namespace = NumPy(standard_namespace(np.empty(0)))
"""For arrays of other libraries in memory that NumPy can read."""
