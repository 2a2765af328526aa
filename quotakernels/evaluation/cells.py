"""Scores counted in cells of neighbouring ones by passes over batches of rows, and finer cells.

A cell in which all scores are equal is a tie group.  Of others the order within is not known; the
best and the worst one are rankings.  Further passes find the ties of single cells, or divide them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quotakernels import ops
from quotakernels._array import namespace
from quotakernels.ranking import Ranking, ranking_of

_BITS = 20
_AT_ONCE = 2**22
"""Scores of one cell that are kept; cells of more are divided until they are few."""


Key: TypeAlias = str | tuple[str, int]
"""A model, or a model and one of the groups of rows."""


class Batch(NamedTuple):
    """Some of the rows: which are positive, the scores of each model, always of one type, and the
    weights and the groups, if rows have some.
    """

    labels: NDArray[np.bool_]
    scores: Mapping[str, NDArray[Any]]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None

    def of(self, keys: Iterable[Key]) -> Iterator[tuple[Key, _Examples]]:
        """The rows of each key in turn; those of weight 0 count for nothing."""
        kept = slice(None) if self.weights is None else self.weights > 0
        whole: dict[str, _Examples] = {}
        parted: dict[str, _Examples] = {}
        for key in keys:
            model, group = (key, None) if isinstance(key, str) else key
            if model not in whole:
                examples = _Examples(self.labels, self.scores[model], self.weights)
                whole[model] = examples.where(kept)
            if group is None or self.groups is None:
                yield key, whole[model]
                continue
            if not parted:
                groups = self.groups[kept]
                order = np.argsort(groups, kind="stable")
                starts = np.searchsorted(groups[order], np.arange(groups.max(initial=0) + 2))
            if model not in parted:
                parted[model] = whole[model].where(order)
            if group + 1 < len(starts) and starts[group] < starts[group + 1]:
                yield key, parted[model].where(slice(starts[group], starts[group + 1]))


class _Examples(NamedTuple):
    labels: NDArray[np.bool_]
    scores: NDArray[Any]
    weights: NDArray[np.float64] | None

    def where(self, rows: Any) -> _Examples:
        """Some of the rows."""
        return _Examples._make(None if x is None else x[rows] for x in self)

    @classmethod
    def joined(cls, parts: Sequence[_Examples]) -> _Examples:
        """The rows of several."""
        columns = zip(*parts, strict=True)
        return cls._make(None if x[0] is None else np.concatenate(x) for x in columns)


Passes = Callable[[], Iterable[Batch]]
"""Goes once over all rows whenever it is called."""


_CHANGED = "the rows changed between two passes over them"


class ChangedError(ValueError):
    """Rows that were not the same in two passes."""


@dataclass(frozen=True)
class Cells:
    """How many negatives and positives have scores from the least to the greatest of each cell, and
    their masses, which are the counts if they have no weights; best first.
    """

    least: NDArray[Any]
    greatest: NDArray[Any]
    counts: NDArray[np.int64]
    masses: NDArray[Any]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many examples each cell has."""
        sizes: NDArray[np.int64] = self.counts.sum(axis=-1)
        return sizes

    @property
    def weighted(self) -> bool:
        """Whether examples have weights."""
        return bool(self.masses.dtype.kind == "f")

    @property
    def ties(self) -> NDArray[np.bool_]:
        """In which cells all scores are equal."""
        found: NDArray[np.bool_] = self.least == self.greatest
        return found

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Where the order within a cell matters."""
        return ~self.ties & (self.counts > 0).all(axis=-1)

    @property
    def loose(self) -> NDArray[np.bool_]:
        """In which cells some scores differ."""
        return ~self.ties & (self.sizes > 0)

    def last_for(self, places: float) -> int:
        """The cell in which so many places, or so much weight, end."""
        reached = self.masses.sum(axis=-1).cumsum()
        return min(int(np.searchsorted(reached, places)), len(reached) - 1)

    def rankings(self) -> tuple[Ranking, Ranking]:
        """The worst and the best order of what is not known; one ranking if nothing is."""
        if not self.unknown.any():
            return (self._ranking(best=True),) * 2
        return self._ranking(best=False), self._ranking(best=True)

    def _ranking(self, best: bool) -> Ranking:
        found = self.in_order(best)
        masses = found.masses[:, ::-1].T if self.weighted else (None, None)
        return ranking_of(ops.Groups(found.least, found.sizes, found.counts[:, 1], *masses))

    def in_order(self, best: bool) -> Cells:
        """Two cells for each: what is not known as one class and the other, all else first.

        The ends of the two are equal, the greatest or the least score.
        """

        def rows(cells: NDArray[Any]) -> NDArray[Any]:
            first = cells.copy()
            first[self.unknown, 0 if best else 1] = 0
            return np.stack([first, cells - first], axis=1).reshape(-1, 2)

        counts = rows(self.counts)
        there = _filled(counts)
        first = np.where(self.unknown, self.greatest, self.least)
        ends = np.stack([first, self.least], axis=1).reshape(-1)[there]
        return Cells(ends, ends, counts[there], rows(self.masses)[there])

    def replaced(self, inner: Sequence[Inner]) -> Cells:
        """The cells, those of which the inner ones are known replaced by them."""
        places = np.concatenate([x.places for x in inner])
        inside = np.concatenate([x.cells.sizes for x in inner])
        sums = np.bincount(places, inside, minlength=len(self.counts))
        gone = np.concatenate([x.of for x in inner])
        if (sums[gone] != self.sizes[gone]).any():
            raise ChangedError(_CHANGED)
        left = np.delete(np.arange(len(self.counts)), gone)
        every = [Inner(left, left, self.rows(left)), *inner]
        order = np.argsort(np.concatenate([x.places for x in every]), kind="stable")
        columns = zip(*(vars(x.cells).values() for x in every), strict=True)
        return Cells(*map(np.concatenate, columns)).rows(order)

    def rows(self, rows: Any) -> Cells:
        """Some of the cells."""
        return Cells(*(x[rows] for x in vars(self).values()))


def rankings_of_groups(of_each: Sequence[Cells]) -> tuple[Ranking, Ranking]:
    """The worst and the best order of what is not known, of a ranking of groups."""
    worst = _ranking_of_groups([x.in_order(best=False) for x in of_each])
    if not any(x.unknown.any() for x in of_each):
        return worst, worst
    return worst, _ranking_of_groups([x.in_order(best=True) for x in of_each])


def _ranking_of_groups(of_each: Sequence[Cells]) -> Ranking:
    groups = np.repeat(np.arange(len(of_each)), [len(x.counts) for x in of_each])
    every = Cells(*map(np.concatenate, zip(*(vars(x).values() for x in of_each), strict=True)))
    masses: dict[str, Any] = {}
    if every.weighted:
        masses = {"weights": every.masses.sum(axis=-1), "positive_weights": every.masses[:, 1]}
    counts = every.sizes, every.counts[:, 1]
    beside = {"groups": groups, "num_groups": len(of_each), **masses}
    return Ranking.from_counts(every.least, *counts, **beside)


class Inner(NamedTuple):
    """Cells, the places of those that were divided, and of that of which each is a part."""

    of: NDArray[np.intp]
    places: NDArray[np.intp]
    cells: Cells


class _Counter:
    """Counts examples in numbered cells, best first, and knows the ends of each."""

    def __init__(self, size: int, dtype: np.dtype[Any], weighted: bool) -> None:
        whole = np.iinfo(dtype if dtype.kind in "iu" else np.int8)
        ends = (np.inf, -np.inf) if dtype.kind == "f" else (whole.max, whole.min)
        self.counts = np.zeros((size, 2), dtype=np.int64)
        self.masses = np.zeros((size, 2)) if weighted else self.counts
        self.least, self.greatest = (np.full(size, x, dtype=dtype) for x in ends)

    def add(self, cells: NDArray[Any], examples: _Examples) -> None:
        """Count examples in their cells."""
        labels, scores, weights = examples
        codes = 2 * cells.astype(np.int64) + labels
        size, shape = self.counts.size, self.counts.shape
        self.counts += np.bincount(codes, minlength=size).reshape(shape)
        if weights is not None:
            with np.errstate(over="ignore"):  # infinite sums are refused
                self.masses += np.bincount(codes, weights, minlength=size).reshape(shape)
        np.minimum.at(self.least, cells, scores)
        np.maximum.at(self.greatest, cells, scores)

    @property
    def cells(self) -> Cells:
        """The cells that hold examples."""
        found = Cells(self.least, self.greatest, self.counts, self.masses)
        return found.rows(self.there)

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which cells these are."""
        return _filled(self.counts)


def _filled(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which cells hold examples; where none does, the first, since no table is without rows."""
    there: NDArray[np.bool_] = np.asarray(counts.any(axis=-1))
    if not there.any():
        there[:1] = True
    return there


def counted(passes: Passes, keys: Sequence[Key], groups: int = 1) -> dict[Key, Cells]:
    """The cells of every key, after one pass; one of a group has the fewer the more groups are."""
    counters: dict[Key, _Counter] = {}
    for batch in passes():
        for key, examples in batch.of(keys):
            bins, number = _bins(examples.scores, _bits(key, groups))
            if key not in counters:
                weighted = examples.weights is not None
                counters[key] = _Counter(number, examples.scores.dtype, weighted)
            counters[key].add(bins, examples)
    for key in keys:
        if key not in counters:  # a group of which no row has any weight
            like = counters[key[0]]
            counters[key] = _Counter(1, like.least.dtype, like.masses is not like.counts)
    return {key: counters[key].cells for key in keys}


def _bits(key: Key, groups: int) -> int:
    """How finely scores are counted: all groups together have as many cells as all rows."""
    return _BITS if isinstance(key, str) else max(_BITS - (groups - 1).bit_length(), 1)


def _bins(scores: NDArray[Any], bits: int) -> tuple[NDArray[Any], int]:
    """The cell of each score in the first pass, and how many there are."""
    xp = namespace(scores)
    bits = min(bits, ops.key_bits(xp, scores.dtype))
    return ops.bin_rows(xp, scores, bits), 2**bits


class _Kept:
    """The examples of one cell in a further pass."""

    def __init__(self, cells: Cells, place: int) -> None:
        self.place, self.ends = place, (cells.least[place], cells.greatest[place])
        self.weighted = cells.weighted
        self.examples: list[_Examples] = []

    def add(self, examples: _Examples) -> None:
        """Keep those examples of a batch that are of the cell."""
        scores = examples.scores
        self.examples.append(examples.where((scores >= self.ends[0]) & (scores <= self.ends[1])))

    def inner(self) -> Inner:
        """The ties of the cell."""
        if not self.examples:
            raise ChangedError(_CHANGED)
        examples = _Examples.joined(self.examples)
        ties, rising = np.unique(examples.scores, return_inverse=True)
        counter = _Counter(max(len(ties), 1), ties.dtype, self.weighted)
        counter.add(len(ties) - 1 - rising, examples)
        found = counter.cells
        return Inner(np.array([self.place]), np.full(len(found.counts), self.place), found)


class _Divided:
    """The examples of several cells in a further pass, counted in finer cells.

    A cell is divided by the bits of its scores, into the more parts the more examples it has.
    """

    def __init__(self, cells: Cells, places: NDArray[np.intp], bits: int) -> None:
        chosen = cells.rows(places)
        self.places, self.find = places, _finder(cells, bits)
        self.number = np.full(len(cells.counts), -1)
        self.number[places] = np.arange(len(places))
        self.top = _keys(chosen.greatest)
        span = (self.top - _keys(chosen.least)).view(np.uint64)
        parts = 2**bits * chosen.sizes / chosen.sizes.sum()
        width = np.frexp(span.astype(np.float64))[1] - np.maximum(np.log2(parts), 1).astype(int)
        self.shift = np.maximum(width, 0).astype(np.uint64)
        self.sizes = (span >> self.shift).astype(np.int64) + 1
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.counter = _Counter(int(self.sizes.sum()), cells.least.dtype, cells.weighted)

    def add(self, examples: _Examples) -> None:
        """Count those examples of a batch that are of the cells."""
        number = self.number[self.find(examples.scores)]
        inside = np.flatnonzero(number >= 0)
        examples, number = examples.where(inside), number[inside]
        below = (self.top[number] - _keys(examples.scores)).view(np.uint64) >> self.shift[number]
        if (below >= self.sizes[number].view(np.uint64)).any():
            raise ChangedError(_CHANGED)
        self.counter.add(self.starts[number] + below.astype(np.int64), examples)

    def inner(self) -> Inner:
        """The finer cells that hold examples."""
        places = self.places.repeat(self.sizes)[self.counter.there]
        return Inner(self.places, places, self.counter.cells)


def _keys(scores: NDArray[Any]) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = ops.order_key(namespace(scores), scores).astype(np.int64)
    return keys


def _finder(cells: Cells, bits: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """What tells the places of the cells of scores: by a table as long as each has its own bin."""
    bins, number = _bins(cells.least, bits)
    if (np.diff(bins) > 0).all():
        place = np.zeros(number, dtype=np.int32)
        place[bins] = np.arange(len(bins))
        return lambda scores: place[_bins(scores, bits)[0]]
    rising, last = cells.least[::-1].copy(), len(bins) - 1
    return lambda scores: last - np.maximum(np.searchsorted(rising, scores, side="right") - 1, 0)


def opened(
    passes: Passes, cells: Mapping[Key, Cells], ends: Mapping[Key, set[int]], groups: int = 1
) -> dict[Key, Cells]:
    """The cells of every key after one more pass: ties where these end, and finer cells."""
    openings: dict[Key, list[_Kept | _Divided]] = {}
    for key, x in cells.items():
        bits = _bits(key, groups)
        kept = [k for k in sorted(ends.get(key, ())) if x.sizes[k] <= _AT_ONCE >> (_BITS - bits)]
        openings[key] = [_Kept(x, k) for k in kept]
        wanted = x.unknown
        wanted[list(ends.get(key, ()))] = True
        wanted[kept] = False
        if wanted.any():
            openings[key].append(_Divided(x, np.flatnonzero(wanted), bits))
    for batch in passes():
        for key, examples in batch.of(key for key, of_key in openings.items() if of_key):
            for opening in openings[key]:
                opening.add(examples)
    inner = {key: [x.inner() for x in of_key] for key, of_key in openings.items()}
    return {key: x.replaced(inner[key]) if inner[key] else x for key, x in cells.items()}
