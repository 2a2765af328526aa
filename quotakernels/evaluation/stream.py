"""Models evaluated by passes over batches of rows, in memory that does not grow with them.

The first pass counts the scores of each model in cells of neighbouring ones. A cell in which all
scores are equal is a tie group. Of others the order within is not known, and the best and the worst
one bound the measures that never fall where the ROC curve rises. Further passes open the cells in
which quotas end, so that the measures at these are exact.
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
"""Scores of one cell that are kept; of more the cell is divided, and those that are open again."""


class Batch(NamedTuple):
    """Some of the rows: which are positive, and the scores of each model, always of one type."""

    labels: NDArray[np.bool_]
    scores: Mapping[str, NDArray[Any]]


Passes = Callable[[], Iterable[Batch]]
"""Goes once over all rows whenever it is called."""


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

    def with_opened(self, opened: Mapping[int, Cells]) -> Cells:
        """The cells, some of them replaced by those that they were divided into."""
        parts, start = [], 0
        for cell, inner in sorted(opened.items()):
            if inner.counts.sum() != self.counts[cell]:
                raise ChangedError("the rows changed between two passes over them")
            parts += [self.rows(slice(start, cell)), inner]
            start = cell + 1
        parts.append(self.rows(slice(start, None)))
        columns = zip(*(vars(x).values() for x in parts), strict=True)
        return Cells(*map(np.concatenate, columns))

    def rows(self, rows: Any) -> Cells:
        """Some of the cells."""
        return Cells(*(x[rows] for x in vars(self).values()))


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

    def cells(self) -> Cells:
        """The cells that hold examples."""
        counts, positives = self.counts.sum(axis=-1), self.counts[:, 1]
        return Cells(self.least, self.greatest, counts, positives).rows(counts > 0)


def counted(passes: Passes, models: Sequence[str]) -> dict[str, Cells]:
    """The cells of every model, after one pass."""
    counters: dict[str, tuple[int, _Counter]] = {}
    for labels, scores_of in passes():
        for name in models:
            scores = scores_of[name]
            xp = namespace(scores)
            if name not in counters:
                bits = min(_BITS, ops.key_bits(xp, scores.dtype))
                counters[name] = bits, _Counter(2**bits, scores.dtype)
            bits, counter = counters[name]
            counter.add(ops.bin_rows(xp, scores, bits), labels, scores)
    return {name: counter.cells() for name, (_, counter) in counters.items()}


class _Opening:
    """The examples of one cell in a further pass: their scores or, of many, finer cells."""

    def __init__(self, cells: Cells, cell: int) -> None:
        self.least, self.greatest = cells.least[cell], cells.greatest[cell]
        self.kept: list[tuple[NDArray[np.bool_], NDArray[Any]]] = []
        self.rising = self.finer = None
        if cells.counts[cell] > _AT_ONCE:
            self.rising = _between(self.least, self.greatest)
            self.finer = _Counter(len(self.rising), self.rising.dtype)

    def add(self, labels: NDArray[np.bool_], scores: NDArray[Any]) -> None:
        """Take those examples of a batch that are of the cell."""
        inside = (scores >= self.least) & (scores <= self.greatest)
        labels, scores = labels[inside], scores[inside]
        if self.finer is None or self.rising is None:
            self.kept.append((labels, scores))
        else:
            at_or_below = np.searchsorted(self.rising, scores, side="right")
            self.finer.add(len(self.rising) - at_or_below, labels, scores)

    def cells(self) -> Cells:
        """The cells into which it is divided, ties if all examples were kept."""
        if self.finer is not None:
            return self.finer.cells()
        found = rank(*(np.concatenate(x) for x in zip(*self.kept, strict=True)))
        columns = (found.thresholds, found.thresholds, found.counts, found.positives)
        return Cells(*columns).rows(found.counts > 0)


def _between(least: Any, greatest: Any) -> NDArray[Any]:
    """Scores from one to another as evenly as their bits allow, rising, all if they are few."""
    ends = np.asarray([least, greatest])
    keys = ops.order_key(namespace(ends), ends)
    start, stop = map(int, keys)
    step = (stop - start) // 2**_BITS + 1
    number = np.arange((stop - start) // step + 1, dtype=np.int64)
    between = (start + step * number).astype(keys.dtype)
    found: NDArray[Any] = ops.from_order_key(namespace(ends), between, ends.dtype)
    return found


def opened(
    passes: Passes, cells: Mapping[str, Cells], wanted: Mapping[str, set[int]]
) -> dict[str, Cells]:
    """The cells of every model, those that are wanted divided, after one more pass."""
    inner = {(name, cell): _Opening(cells[name], cell) for name in wanted for cell in wanted[name]}
    for labels, scores in passes():
        for (name, _), opening in inner.items():
            opening.add(labels, scores[name])
    return {
        name: x.with_opened({k: y.cells() for (own, k), y in inner.items() if own == name})
        for name, x in cells.items()
    }


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
