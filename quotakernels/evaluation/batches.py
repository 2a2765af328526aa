"""Models evaluated by passes over batches of rows, in memory that does not grow with them.

Each pass counts the scores of each model in cells of neighbouring ones.  The first divides all
scores, the second the cells that hold both classes, and any further one those in which quotas end,
until these hold a single score.  So the measures at quotas are exact.  The best and the worst order
within the other cells bound the measures that never fall where the ROC curve rises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quotakernels import Ranking
from quotakernels.evaluation.evaluate import evaluate_rankings, group_results
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.intervals import with_closed_forms
from quotakernels.evaluation.results import Orders
from quotakernels.evaluation.settings import Counts, Sample, Settings, UnfitError
from quotakernels.inference.hit_rates import around_cut
from quotakernels.ops import GAIN_SCALE, ByClass, namespace

# batches, and passes over them


Key: TypeAlias = tuple[str, int | None]
"""A model, and one of the groups of rows or None for all rows."""
_Amounts: TypeAlias = dict[str, NDArray[Any]]

Passes = Callable[[], Iterable[Sample]]
"""Goes once over all rows, in batches, whenever it is called; scores are always of one type, and
gains less what a place costs.
"""


def _parts(batch: Sample) -> dict[int | None, Any]:
    """The places of all rows that count, which those of weight 0 do not, and of each group's."""
    rows = slice(None) if batch.weights is None else np.flatnonzero(batch.weights > 0)
    if batch.groups is None:
        return {None: rows}
    groups = batch.groups.codes
    order = np.arange(len(groups))[rows]
    order = order[np.argsort(groups[order], kind="stable")]
    found, starts = np.unique(groups[order], return_index=True)
    return {None: rows, **dict(zip(found.tolist(), np.split(order, starts[1:]), strict=False))}


def _amounts(batch: Sample) -> _Amounts:
    """The weights of rows, and their weighted costs, gains and arms, of what they have."""
    given = {"weight": batch.weights, "cost": batch.costs, "gain": batch.gains}
    if batch.treatment is not None:
        given |= {"treated": batch.treatment, "control": 1 - batch.treatment}
    found = {name: x for name, x in given.items() if x is not None}
    with np.errstate(over="ignore"):  # infinite sums are refused
        weights = found.get("weight", np.ones(1))
        return {name: x if name == "weight" else x * weights for name, x in found.items()}


_CHANGED = "the rows changed between two passes over them"


# scores counted in cells of neighbouring ones


_BITS = 20
_OF_ALL = 4
"""The cell in which a quota ends is divided as if it had one of so many parts of all examples."""


class Cells(NamedTuple):
    """How many negatives and positives have scores from the least to the greatest of each cell, and
    the sums of what they weigh, cost and bring, under "weight", "cost" and "gain"; best first.
    """

    least: NDArray[Any]
    greatest: NDArray[Any]
    counts: NDArray[np.int64]
    amounts: _Amounts

    @property
    def sizes(self) -> NDArray[Any]:
        """How many examples each cell has."""
        return _of_both(self.counts)

    @property
    def masses(self) -> NDArray[Any]:
        """The weights of each class, or its numbers."""
        return self.amounts.get("weight", self.counts)

    @property
    def loose(self) -> NDArray[np.bool_]:
        """In which cells some scores differ."""
        return (self.least != self.greatest) & (self.sizes > 0)

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Where the order within a cell matters."""
        negatives, positives = self.counts.T
        return self.loose & (negatives > 0) & (positives > 0)

    def spent(self, of_costs: bool) -> NDArray[Any]:
        """How many places, how much weight or how much of a budget each cell takes."""
        return _of_both(self.amounts["cost"] if of_costs else self.masses)

    def at(self, amounts: Iterable[float], of_costs: bool = False) -> NDArray[np.bool_]:
        """The cells in which so many places, so much weight or a budget of so much end; where that
        is between two, both, as sums are rounded.
        """
        reached = np.concatenate([[0.0], self.spent(of_costs).cumsum()])
        found = np.zeros(len(self.counts), dtype=bool)
        for amount in amounts:
            end = min(amount, reached[-1])
            found |= (reached[:-1] <= end) & (end <= reached[1:])
        return found

    def rows(self, rows: Any) -> Cells:
        """Some of the cells."""
        amounts = {name: x[rows] for name, x in self.amounts.items()}
        return Cells(self.least[rows], self.greatest[rows], self.counts[rows], amounts)

    def with_impacts(self, impacts: Sequence[float]) -> Cells:
        """The cells with what their rows bring by the impacts of the four cells of a table."""
        tp, fp, fn, tn = impacts
        gains = {"gain": self.masses * [fp, tp], "gain_rejected": self.masses * [tn, fn]}
        return self._replace(amounts={**self.amounts, **gains})

    def in_order(self, best: bool) -> Cells:
        """Two cells for each: what is not known as one class and the other, all else first.

        The ends of the two are equal, the greatest or the least score.
        """

        def rows(cells: NDArray[Any]) -> NDArray[Any]:
            first = cells.copy()
            first[self.unknown, 0 if best else 1] = 0
            return np.stack([first, cells - first], axis=1).reshape(2 * len(cells), 2)

        first = np.where(self.unknown, self.greatest, self.least)
        ends = np.stack([first, self.least], axis=1).reshape(-1)
        amounts = {name: rows(x) for name, x in self.amounts.items()}
        return _filled(Cells(ends, ends, rows(self.counts), amounts))


def _of_both(classes: NDArray[Any]) -> NDArray[Any]:
    """The sum over the two classes, which is slow along so short an axis."""
    total: NDArray[Any] = classes[:, 0] + classes[:, 1]
    return total


def _filled(cells: Cells) -> Cells:
    """The cells that hold examples; if none does, the first, since no table is without rows."""
    there = cells.sizes > 0
    there[:1] |= not there.any()
    return cells.rows(there)


class _Counter:
    """Counts the examples of former cells in parts of these, each as wide as a power of 2.

    A cell has the more parts the more it is wanted.
    """

    def __init__(self, former: Cells, wanted: NDArray[Any], amounts: _Amounts, bits: int) -> None:
        self.top = _keys(former.greatest)
        self.upwards = np.ascontiguousarray(self.top[::-1])  # which else is copied for each batch
        span = (self.top - _keys(former.least)).view(np.uint64)
        parts = 2.0**bits * wanted / max(wanted.sum(), 1)
        halved = np.log2(np.maximum(parts, 2)).astype(int)
        width = np.maximum(np.frexp(span.astype(np.float64))[1] - halved, 0)
        self.shift = width.astype(np.uint64)
        self.parts = np.where(wanted > 0, (span >> self.shift).astype(np.int64), 0) + 1
        self.span, self.sizes = span, former.sizes
        self.starts = np.cumsum(self.parts) - self.parts
        size = int(self.parts.sum())
        self.counts = np.zeros((size, 2), dtype=np.int64)
        self.amounts = {name: np.zeros((size, 2)) for name in amounts}
        ends = former.greatest, former.least  # beyond all scores of the cell
        self.least, self.greatest = (x.repeat(self.parts) for x in ends)

    def add(self, batch: Sample, model: str, rows: Any, amounts: _Amounts) -> None:
        """Count some rows of a batch in their cells, by the scores of a model."""
        scores = batch.scores[model][rows]
        keys = _keys(scores)
        cell = len(self.top) - 1 - np.searchsorted(self.upwards, keys)
        below = (self.top[cell] - keys).view(np.uint64)
        if (below > self.span[cell]).any():
            raise UnfitError(_CHANGED)
        part = np.minimum(below >> self.shift[cell], (self.parts[cell] - 1).view(np.uint64))
        place = self.starts[cell] + part.astype(np.int64)
        codes = 2 * place + batch.labels[rows]

        def summed(of_rows: NDArray[Any] | None = None) -> NDArray[Any]:
            found = np.bincount(codes, of_rows, minlength=self.counts.size)
            return found.reshape(self.counts.shape)

        self.counts += summed()
        with np.errstate(over="ignore", invalid="ignore"):  # infinite sums are refused
            for name, x in amounts.items():
                self.amounts[name] += summed(x[rows])
        np.minimum.at(self.least, place, scores)
        np.maximum.at(self.greatest, place, scores)

    @property
    def cells(self) -> Cells:
        """The cells that hold examples, as many of each former one as before."""
        found = Cells(self.least, self.greatest, self.counts, self.amounts)
        if self.sizes[0] and (np.add.reduceat(found.sizes, self.starts) != self.sizes).any():
            raise UnfitError(_CHANGED)
        return _filled(found)


def _keys(scores: NDArray[Any]) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = namespace(scores).order_key(scores).astype(np.int64)
    return keys


def _all_scores(dtype: np.dtype[Any]) -> Cells:
    """A cell for all scores of a type, of which none is counted yet."""
    whole = None if dtype.kind == "f" else np.iinfo(dtype)
    worst, best = (-np.inf, np.inf) if whole is None else (whole.min, whole.max)
    least, greatest = (np.asarray([x], dtype=dtype) for x in (worst, best))
    return Cells(least, greatest, np.zeros((1, 2), dtype=np.int64), {})


class Pass(NamedTuple):
    """The cells of every key after a pass, and how many rows and positive ones it went over."""

    cells: dict[Key, Cells]
    rows: int = 0
    positives: int = 0

    def next(self, passes: Passes, keys: Sequence[Key], wanted: Mapping[Key, NDArray[Any]]) -> Pass:
        """One more pass, which divides cells by how much they are wanted; the first, all scores.

        All groups together have as many cells as all rows.
        """
        counters: dict[Key, _Counter] = {}
        rows, positives, groups = 0, 0, len({group for _, group in keys}) - 1
        for batch in passes():
            rows, positives = rows + len(batch.labels), positives + int(batch.labels.sum())
            amounts, parts = _amounts(batch), _parts(batch)
            for model, group in keys:
                if (key := (model, group)) not in counters:
                    bits = _BITS if group is None else max(_BITS - (groups - 1).bit_length(), 1)
                    former = self.cells.get(key) or _all_scores(batch.scores[model].dtype)
                    every = np.ones(len(former.counts), dtype=bool)
                    counters[key] = _Counter(former, wanted.get(key, every), amounts, bits)
                if group in parts:  # which some batches lack, or all if none of its rows counts
                    counters[key].add(batch, model, parts[group], amounts)
        cells = {key: x.cells for key, x in counters.items()}
        if self.cells and (rows, positives) != (self.rows, self.positives):
            raise UnfitError(_CHANGED)
        return Pass(cells, rows, positives)


# an evaluation


def evaluate_stream(
    settings: Settings,
    passes: Passes,
    on_step: Callable[[str], object] = lambda _: None,
    names: NDArray[Any] | None = None,
) -> Evaluation:
    """Evaluate models by passes over the rows: exactly at quotas, by bounds over all of them.

    `names` are those of the groups, if the rows have some.  There are intervals at quotas where
    these are closed forms, and no tests, no best cuts and no rankings.
    """
    if settings.resampling is not None:
        drawn = replace(settings.resampling, resamples=0, test_resamples=0)
        settings = replace(settings, resampling=drawn)
    models, groups = settings.models, range(0 if names is None else len(names))
    on_step("counting scores")
    keys = [(x, group) for x in models for group in (None, *groups)]
    cells, counts = _counted(settings, passes, keys, on_step)
    if settings.unit is not None and (
        impacts := settings.unit.tuned(counts.total, counts.positive_total)
    ):
        cells = {key: x.with_impacts(impacts) for key, x in cells.items()}
    of_groups = None
    if names is not None:
        by_group = [_rankings([cells[x, k] for k in groups], grouped=True) for x in models]
        of_groups = group_results(settings, by_group, names, exact=False)
    orders = [_rankings([cells[x, None]]) for x in models]
    found = evaluate_rankings(settings, counts, orders, exact=False, groups=of_groups)
    return found if settings.resampling is None else with_closed_forms(found)


def _counted(
    settings: Settings, passes: Passes, keys: Sequence[Key], on_step: Callable[[str], object]
) -> tuple[dict[Key, Cells], Counts]:
    """The cells of every key, divided until it is known where quotas end, and all in numbers."""
    found = Pass({}).next(passes, keys, {})
    counts = _counts(found)
    if settings.per is None:
        settings.check_quotas(counts.most)
    wanted: dict[Key, NDArray[Any]] = _where_quotas_end(settings, counts, found.cells)
    for key, x in found.cells.items():
        wanted[key] = wanted[key] * x.sizes.sum() / _OF_ALL + x.unknown * x.sizes
    while any(x.any() for x in wanted.values()):
        on_step("opening the cells in which quotas end")
        found = found.next(passes, keys, wanted)
        wanted = {**_where_quotas_end(settings, counts, found.cells)}
    return found.cells, counts


def _counts(found: Pass) -> Counts:
    """All rows in numbers, those without weight too."""
    cells = next(iter(found.cells.values()))
    for name, amounts in cells.amounts.items():
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(np.abs(amounts).sum()):
                raise UnfitError(f"the sum of the {name}s is too large for a number")
    negative, positive = (float(x) for x in cells.masses.sum(axis=0))
    cost = float(cells.amounts["cost"].sum()) if "cost" in cells.amounts else math.nan
    return Counts(found.rows, found.positives, negative + positive, positive, cost)


def _where_quotas_end(
    settings: Settings, counts: Counts, cells: Mapping[Key, Cells]
) -> dict[Key, NDArray[np.bool_]]:
    """The cells of several scores in which quotas end.

    Of groups these are the ends of their own quotas, or of their shares of one over all, and the
    cells with scores on both sides of its end.
    """
    of_costs, found = settings.cost is not None, {}
    over_all = [x.places(counts.most) for x in settings.quotas_over_all if counts.total]
    around = around_cut(np, np.asarray(over_all), np.asarray(counts.total))
    sure = np.concatenate(around).tolist() if settings.resampling is not None else []
    for (model, group), x in cells.items():
        of_group = x.spent(of_costs).sum()
        if group is None:
            ends = x.at([*over_all, *sure], of_costs)
        elif settings.per is not None:
            ends = x.at([float(q.of_each(of_group)) for q in settings.quotas], of_costs)
        else:
            share, whole = of_group / (counts.most or 1.0), cells[model, None]
            ends = x.at([share * places for places in over_all], of_costs)
            for end in np.flatnonzero(whole.at(over_all, of_costs)):
                ends |= (x.least <= whole.greatest[end]) & (x.greatest >= whole.least[end])
        found[model, group] = ends & x.loose
    return found


def _rankings(of_each: Sequence[Cells], grouped: bool = False) -> Orders:
    """The worst and the best order of what is not known, of groups if the cells are of groups."""
    worst = _ranking([x.in_order(best=False) for x in of_each], grouped)
    if not any(x.unknown.any() for x in of_each):
        return worst, worst
    return worst, _ranking([x.in_order(best=True) for x in of_each], grouped)


def _ranking(of_each: Sequence[Cells], grouped: bool) -> Ranking:
    least, _, counts, amounts = zip(*of_each, strict=True)
    thresholds, counts = np.concatenate(least), np.concatenate(counts)
    columns = {}
    for name in amounts[0]:
        sums = np.concatenate([x[name] for x in amounts])
        columns[name] = ByClass(sums[:, 1], sums[:, 0])
    rows, positives = counts.sum(axis=-1), counts[:, 1]
    positive, negative = columns.pop("weight", (positives, counts[:, 0]))
    if "gain" in columns:
        gains = [columns[x].map(np.abs) for x in ("gain", "gain_rejected") if x in columns]
        columns["gain_size"] = ByClass(*(GAIN_SCALE * sum(x) for x in zip(*gains, strict=True)))
    index: Any = ()
    if grouped:
        group = np.repeat(np.arange(len(of_each)), [len(x.counts) for x in of_each])
        index = namespace(group).group_index(group, np.arange(len(of_each)), behind=False)
    return Ranking(thresholds, rows, positives, positive, negative, columns, groups=index)
