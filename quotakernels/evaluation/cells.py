"""Scores counted in cells of neighbouring ones by passes over batches of rows, and finer cells.

A cell in which all scores are equal is a tie group.  Of others the order within is not known; the
best and the worst one are rankings.  Further passes find the ties of single cells, or divide them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotakernels import ops
from quotakernels._array import namespace
from quotakernels.ranking import Ranking, rank, ranking_of

_BITS = 20
_AT_ONCE = 2**22
"""Scores of one cell that are kept; cells of more are divided until they are few."""


class Batch(NamedTuple):
    """Some of the rows: which are positive, the scores of each model, always of one type, and the
    weights, if rows have some.
    """

    labels: NDArray[np.bool_]
    scores: Mapping[str, NDArray[Any]]
    weights: NDArray[np.float64] | None = None

    def of(self, model: str) -> _Examples:
        """The rows with the scores of one model; those of weight 0 count for nothing."""
        found = _Examples(self.labels, self.scores[model], self.weights)
        return found if self.weights is None else found.where(self.weights > 0)


class _Examples(NamedTuple):
    labels: NDArray[np.bool_]
    scores: NDArray[Any]
    weights: NDArray[np.float64] | None

    def where(self, rows: NDArray[Any]) -> _Examples:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return _Examples(self.labels[rows], self.scores[rows], weights)


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
        """Each cell as two rows: what is not known as one class and the other, all else first."""

        def rows(cells: NDArray[Any]) -> NDArray[Any]:
            first = cells.copy()
            first[self.unknown, 0 if best else 1] = 0
            return np.stack([first, cells - first], axis=1).reshape(-1, 2)

        counts = rows(self.counts)
        there = _filled(counts)
        counts, masses = counts[there], rows(self.masses)[there]
        positive, negative = (masses[:, 1], masses[:, 0]) if self.weighted else (None, None)
        least = self.least.repeat(2)[there]
        table = ops.Groups(least, counts.sum(axis=-1), counts[:, 1], positive, negative)
        return ranking_of(table)

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


def counted(passes: Passes, models: Sequence[str]) -> dict[str, Cells]:
    """The cells of every model, after one pass."""
    counters: dict[str, _Counter] = {}
    for batch in passes():
        for name in models:
            examples = batch.of(name)
            bins, number = _bins(examples.scores)
            if name not in counters:
                weighted = examples.weights is not None
                counters[name] = _Counter(number, examples.scores.dtype, weighted)
            counters[name].add(bins, examples)
    return {name: x.cells for name, x in counters.items()}


def _bins(scores: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """The cell of each score in the first pass, and how many there are."""
    xp = namespace(scores)
    bits = min(_BITS, ops.key_bits(xp, scores.dtype))
    return ops.bin_rows(xp, scores, bits), 2**bits


class _Kept:
    """The examples of one cell in a further pass."""

    def __init__(self, cells: Cells, place: int) -> None:
        self.place, self.ends = place, (cells.least[place], cells.greatest[place])
        self.examples: list[_Examples] = []

    def add(self, examples: _Examples) -> None:
        """Keep those examples of a batch that are of the cell."""
        scores = examples.scores
        self.examples.append(examples.where((scores >= self.ends[0]) & (scores <= self.ends[1])))

    def inner(self) -> Inner:
        """The ties of the cell."""
        labels, scores, weights = zip(*self.examples, strict=True)
        together = None if weights[0] is None else np.concatenate(weights)
        found = rank(np.concatenate(labels), np.concatenate(scores), sample_weight=together)
        counts = np.stack([found.counts - found.positives, found.positives], axis=-1)
        masses = np.stack([found.negative_weights, found.positive_weights], axis=-1)
        ties = Cells(found.thresholds, found.thresholds, counts, masses).rows(found.counts > 0)
        return Inner(np.array([self.place]), np.full(len(ties.counts), self.place), ties)


class _Divided:
    """The examples of several cells in a further pass, counted in finer cells.

    A cell is divided by the bits of its scores, into the more parts the more examples it has.
    """

    def __init__(self, cells: Cells, places: NDArray[np.intp]) -> None:
        chosen = cells.rows(places)
        self.places, self.find = places, _finder(cells)
        self.number = np.full(len(cells.counts), -1)
        self.number[places] = np.arange(len(places))
        self.top = _keys(chosen.greatest)
        span = (self.top - _keys(chosen.least)).view(np.uint64)
        parts = 2**_BITS * chosen.sizes / chosen.sizes.sum()
        bits = np.frexp(span.astype(np.float64))[1] - np.maximum(np.log2(parts), 1).astype(int)
        self.shift = np.maximum(bits, 0).astype(np.uint64)
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


def _finder(cells: Cells) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """What tells the places of the cells of scores: by a table as long as each has its own bin."""
    bins, number = _bins(cells.least)
    if (np.diff(bins) > 0).all():
        place = np.zeros(number, dtype=np.int32)
        place[bins] = np.arange(len(bins))
        return lambda scores: place[_bins(scores)[0]]
    rising, last = cells.least[::-1].copy(), len(bins) - 1
    return lambda scores: last - np.maximum(np.searchsorted(rising, scores, side="right") - 1, 0)


def opened(
    passes: Passes, cells: Mapping[str, Cells], ends: Mapping[str, set[int]]
) -> dict[str, Cells]:
    """The cells of every model after one more pass: ties where these end, and finer cells."""
    openings: dict[str, list[_Kept | _Divided]] = {}
    for name, x in cells.items():
        kept = [k for k in sorted(ends.get(name, ())) if x.sizes[k] <= _AT_ONCE]
        openings[name] = [_Kept(x, k) for k in kept]
        wanted = x.unknown
        wanted[list(ends.get(name, ()))] = True
        wanted[kept] = False
        if wanted.any():
            openings[name].append(_Divided(x, np.flatnonzero(wanted)))
    for batch in passes():
        for name, of_model in openings.items():
            for opening in of_model:
                opening.add(batch.of(name))
    inner = {name: [x.inner() for x in of_model] for name, of_model in openings.items()}
    return {name: x.replaced(inner[name]) if inner[name] else x for name, x in cells.items()}
