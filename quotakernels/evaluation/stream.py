"""Models evaluated by passes over batches of rows, in memory that does not grow with them.

The first pass counts the scores of each model in cells of neighbouring ones. A cell in which all
scores are equal is a tie group. Of others the order within is not known, and the best and the worst
one bound the measures that never fall where the ROC curve rises. Further passes find the ties in
the cells in which quotas end, so that the measures at these are exact, and divide all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotakernels import ops
from quotakernels._array import namespace
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.measures import AT_QUOTA, OVER_ALL, Column
from quotakernels.evaluation.results import Values
from quotakernels.evaluation.settings import Counts, Settings
from quotakernels.measures.over_quotas.areas import gini, roc_auc
from quotakernels.measures.over_quotas.averages import average_qrecall
from quotakernels.ranking import Ranking, rank, ranking_of
from quotakernels.states._compute import Bounds, bounds_of

_BITS = 20
_AT_ONCE = 2**22
"""Scores of one cell that are kept; cells of more are divided until they are few."""


class Batch(NamedTuple):
    """Some of the rows: which are positive, and the scores of each model, always of one type."""

    labels: NDArray[np.bool_]
    scores: Mapping[str, NDArray[Any]]


Passes = Callable[[], Iterable[Batch]]
"""Goes once over all rows whenever it is called."""


_CHANGED = "the rows changed between two passes over them"


class ChangedError(ValueError):
    """Rows that were not the same in two passes."""


@dataclass(frozen=True)
class Cells:
    """How many examples have scores from the least to the greatest of each cell; best first."""

    least: NDArray[Any]
    greatest: NDArray[Any]
    counts: NDArray[np.int64]
    positives: NDArray[np.int64]

    @property
    def ties(self) -> NDArray[np.bool_]:
        """In which cells all scores are equal."""
        found: NDArray[np.bool_] = self.least == self.greatest
        return found

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Where the order within a cell matters."""
        return ~self.ties & (self.positives > 0) & (self.positives < self.counts)

    def last_for(self, places: float) -> int:
        """The cell in which so many places end."""
        return min(int(np.searchsorted(self.counts.cumsum(), places)), len(self.counts) - 1)

    def rankings(self) -> tuple[Ranking, Ranking]:
        """The worst and the best order of what is not known; one ranking if nothing is."""
        if not self.unknown.any():
            return (self._ranking(best=True),) * 2
        return self._ranking(best=False), self._ranking(best=True)

    def _ranking(self, best: bool) -> Ranking:
        of_each = self.positives if best else self.counts - self.positives
        first = np.where(self.unknown, of_each, self.counts)
        positive = np.where(self.unknown & ~np.bool_(best), 0, self.positives)
        counts = np.stack([first, self.counts - first], axis=-1).ravel()
        positives = np.stack([positive, self.positives - positive], axis=-1).ravel()
        there = counts > 0
        least = self.least.repeat(2)[there]
        return ranking_of(ops.Groups(least, counts[there], positives[there], None, None))

    def replaced(self, inner: Sequence[Inner]) -> Cells:
        """The cells, those of which the inner ones are known replaced by them."""
        places = np.concatenate([x.places for x in inner])
        inside = np.concatenate([x.cells.counts for x in inner])
        sums = np.bincount(places, inside, minlength=len(self.counts))
        gone = np.concatenate([x.of for x in inner])
        if (sums[gone] != self.counts[gone]).any():
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

    def __init__(self, size: int, dtype: np.dtype[Any]) -> None:
        whole = np.iinfo(dtype if dtype.kind in "iu" else np.int8)
        ends = (np.inf, -np.inf) if dtype.kind == "f" else (whole.max, whole.min)
        self.counts = np.zeros((size, 2), dtype=np.int64)
        self.least, self.greatest = (np.full(size, x, dtype=dtype) for x in ends)

    def add(self, cells: NDArray[Any], labels: NDArray[np.bool_], scores: NDArray[Any]) -> None:
        """Count examples in their cells."""
        codes = 2 * cells.astype(np.int64) + labels
        self.counts += np.bincount(codes, minlength=self.counts.size).reshape(self.counts.shape)
        np.minimum.at(self.least, cells, scores)
        np.maximum.at(self.greatest, cells, scores)

    @property
    def cells(self) -> Cells:
        """All cells, also those that hold no examples."""
        return Cells(self.least, self.greatest, self.counts.sum(axis=-1), self.counts[:, 1])


def counted(passes: Passes, models: Sequence[str]) -> dict[str, Cells]:
    """The cells of every model, after one pass."""
    counters: dict[str, _Counter] = {}
    for labels, scores in passes():
        for name in models:
            bins, number = _bins(scores[name])
            counter = counters.setdefault(name, _Counter(number, scores[name].dtype))
            counter.add(bins, labels, scores[name])
    return {name: x.cells.rows(x.counts.any(axis=-1)) for name, x in counters.items()}


def _bins(scores: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """The cell of each score in the first pass, and how many there are."""
    xp = namespace(scores)
    bits = min(_BITS, ops.key_bits(xp, scores.dtype))
    return ops.bin_rows(xp, scores, bits), 2**bits


class _Kept:
    """The examples of one cell in a further pass."""

    def __init__(self, cells: Cells, place: int) -> None:
        self.place, self.ends = place, (cells.least[place], cells.greatest[place])
        self.examples: list[tuple[NDArray[np.bool_], NDArray[Any]]] = []

    def add(self, labels: NDArray[np.bool_], scores: NDArray[Any]) -> None:
        """Keep those examples of a batch that are of the cell."""
        inside = (scores >= self.ends[0]) & (scores <= self.ends[1])
        self.examples.append((labels[inside], scores[inside]))

    def inner(self) -> Inner:
        """The ties of the cell."""
        found = rank(*(np.concatenate(x) for x in zip(*self.examples, strict=True)))
        columns = (found.thresholds, found.thresholds, found.counts, found.positives)
        ties = Cells(*columns).rows(found.counts > 0)
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
        parts = 2**_BITS * chosen.counts / chosen.counts.sum()
        bits = np.frexp(span.astype(np.float64))[1] - np.maximum(np.log2(parts), 1).astype(int)
        self.shift = np.maximum(bits, 0).astype(np.uint64)
        self.sizes = (span >> self.shift).astype(np.int64) + 1
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.counter = _Counter(int(self.sizes.sum()), cells.least.dtype)

    def add(self, labels: NDArray[np.bool_], scores: NDArray[Any]) -> None:
        """Count those examples of a batch that are of the cells."""
        number = self.number[self.find(scores)]
        inside = np.flatnonzero(number >= 0)
        labels, scores, number = labels[inside], scores[inside], number[inside]
        below = (self.top[number] - _keys(scores)).view(np.uint64) >> self.shift[number]
        if (below >= self.sizes[number].view(np.uint64)).any():
            raise ChangedError(_CHANGED)
        self.counter.add(self.starts[number] + below.astype(np.int64), labels, scores)

    def inner(self) -> Inner:
        """The finer cells that hold examples."""
        there = self.counter.counts.any(axis=-1)
        places = self.places.repeat(self.sizes)[there]
        return Inner(self.places, places, self.counter.cells.rows(there))


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
        kept = [k for k in sorted(ends.get(name, ())) if x.counts[k] <= _AT_ONCE]
        openings[name] = [_Kept(x, k) for k in kept]
        wanted = x.unknown
        wanted[list(ends.get(name, ()))] = True
        wanted[kept] = False
        if wanted.any():
            openings[name].append(_Divided(x, np.flatnonzero(wanted)))
    for labels, scores in passes():
        for name, of_model in openings.items():
            for opening in of_model:
                opening.add(labels, scores[name])
    inner = {name: [x.inner() for x in of_model] for name, of_model in openings.items()}
    return {name: x.replaced(inner[name]) if inner[name] else x for name, x in cells.items()}


def evaluate_stream(
    settings: Settings, passes: Passes, on_step: Callable[[str], object] = lambda _: None
) -> Evaluation:
    """Evaluate models by passes over the rows: exactly at quotas, by bounds over all of them.

    There are no intervals and tests, no gains, costs, groups and weights, and no rankings.
    """
    on_step("counting scores")
    cells = counted(passes, settings.models)
    counts = _counts(cells[settings.models[0]])
    settings.check_quotas(counts.total)
    while wanted := _open_at_quotas(settings, cells, counts):
        on_step("opening the cells in which quotas end")
        cells = opened(passes, cells, wanted)
    both = [cells[name].rankings() for name in settings.models]
    at_quota = {
        quota: _exact(AT_QUOTA[:3], [worst for worst, _ in both], quota.argument(counts.total))
        for quota in settings.quotas
    }
    over_all, areas = _bounded(both), Values((), np.empty((len(both), 0)))
    return Evaluation(
        settings, *counts, over_all, areas, at_quota, best=[], rankings=[], rows_read=counts.rows
    )


_FUNCTIONS = {"roc_auc": roc_auc, "gini": gini, "average_qrecall": average_qrecall}
_OVER_ALL = tuple(replace(x, function=_FUNCTIONS[x.name]) for x in OVER_ALL if x.name in _FUNCTIONS)


def _counts(cells: Cells) -> Counts:
    rows, positives = int(cells.counts.sum()), int(cells.positives.sum())
    return Counts(rows, positives, float(rows), float(positives))


def _open_at_quotas(
    settings: Settings, cells: Mapping[str, Cells], counts: Counts
) -> dict[str, set[int]]:
    """The cells of each model in which a quota ends and that are no tie, if there are any."""
    places = [quota.places(counts.total) for quota in settings.quotas]
    ends = {name: {x.last_for(k) for k in places} for name, x in cells.items()}
    found = {name: {k for k in ends[name] if x.unknown[k]} for name, x in cells.items()}
    return {name: x for name, x in found.items() if x}


def _exact(measures: Sequence[Column], rankings: Sequence[Ranking], quota: Any) -> Values:
    rows = [[x.value(ranking, **quota) for x in measures] for ranking in rankings]
    return Values(tuple(measures), np.asarray(rows))


def _bounded(both: Sequence[tuple[Ranking, Ranking]]) -> Values:
    """Both bounds of each measure, which are equal where nothing is unknown, and the lower ones."""
    ends = np.asarray([[_ends(x.function, *two) for x in _OVER_ALL] for two in both])
    bounds = {x.name: (ends[:, k, 0], ends[:, k, 1]) for k, x in enumerate(_OVER_ALL)}
    return Values(_OVER_ALL, ends[..., 0], bounds=bounds)


def _ends(measure: Any, worst: Ranking, best: Ranking) -> Bounds:
    if worst is best:
        return Bounds(measure(worst), measure(worst))
    return bounds_of(measure, {}, worst, best)
