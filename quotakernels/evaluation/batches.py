"""Models evaluated by passes over batches of rows, in memory that does not grow with them.

The first pass counts the scores of each model in cells of neighbouring ones, whose best and worst
order bound the measures that never fall where the ROC curve rises.  Further passes find the ties in
the cells in which quotas end, so that the measures at these are exact, and divide all others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quotakernels import Ranking, ops
from quotakernels.evaluation.compute import (
    Orders,
    evaluate_rankings,
    group_results,
    with_groups,
)
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.intervals import with_closed_forms
from quotakernels.evaluation.settings import Counts, Settings, UnfitError
from quotakernels.inference.hit_rates import around_cut
from quotakernels.ops import namespace
from quotakernels.ranking import ranking_of

# batches, and passes over them


Key: TypeAlias = str | tuple[str, int]
"""A model, or a model and one of the groups of rows."""


class Batch(NamedTuple):
    """Some of the rows: which are positive, the scores of each model, always of one type, and the
    weights, the groups, the costs and the gains, if rows have some.
    """

    labels: NDArray[np.bool_]
    scores: Mapping[str, NDArray[Any]]
    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.int64] | None = None
    costs: NDArray[np.float64] | None = None
    gains: NDArray[np.float64] | None = None

    def of(self, keys: Iterable[Key]) -> Iterator[tuple[Key, Examples]]:
        """The rows of each key in turn; those of weight 0 count for nothing."""
        kept = slice(None) if self.weights is None else self.weights > 0
        amounts = self._amounts(kept)
        whole: dict[str, Examples] = {}
        parted: dict[str, Examples] = {}
        for key in keys:
            model, group = (key, None) if isinstance(key, str) else key
            if model not in whole:
                whole[model] = Examples(self.labels[kept], self.scores[model][kept], amounts)
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

    def _amounts(self, kept: Any) -> _Amounts:
        """The weights of rows, and their weighted costs and gains, of what they have."""
        given = {"weight": self.weights, "cost": self.costs, "gain": self.gains}
        found = {name: x[kept] for name, x in given.items() if x is not None}
        weights = found.get("weight", np.ones(1))
        with np.errstate(over="ignore"):  # infinite sums are refused
            return {name: x if name == "weight" else x * weights for name, x in found.items()}


_Amounts = dict[str, NDArray[Any]]


class Examples(NamedTuple):
    """The rows with the scores of one model."""

    labels: NDArray[np.bool_]
    scores: NDArray[Any]
    amounts: _Amounts

    def where(self, rows: Any) -> Examples:
        """Some of the rows."""
        amounts = {name: x[rows] for name, x in self.amounts.items()}
        return Examples(self.labels[rows], self.scores[rows], amounts)


Passes = Callable[[], Iterable[Batch]]
"""Goes once over all rows whenever it is called."""


class ChangedError(ValueError):
    """Rows that were not the same in two passes."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__("the rows changed between two passes over them")


# scores counted in cells of neighbouring ones


@dataclass(frozen=True)
class Cells:
    """How many negatives and positives have scores from the least to the greatest of each cell, and
    the sums of what they weigh, cost and bring, under "weight", "cost" and "gain"; best first.
    """

    least: NDArray[Any]
    greatest: NDArray[Any]
    counts: NDArray[np.int64]
    amounts: _Amounts

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many examples each cell has."""
        sizes: NDArray[np.int64] = self.counts.sum(axis=-1)
        return sizes

    @property
    def masses(self) -> NDArray[Any]:
        """The weights of each class, or its numbers."""
        return self.amounts.get("weight", self.counts)

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

    def ends(self, amount: float, of_costs: bool = False) -> set[int]:
        """The cells in which so many places, or so much weight, end, or a budget of so much; where
        that is between two, both are told of a budget, as sums are rounded.
        """
        reached = (self.amounts["cost"] if of_costs else self.masses).sum(axis=-1).cumsum()
        sides: tuple[Literal["left", "right"], ...] = ("left", "right")
        found = {int(np.searchsorted(reached, amount, side=x)) for x in sides[: 1 + of_costs]}
        return {min(k, len(reached) - 1) for k in found}

    def rankings(self) -> tuple[Ranking, Ranking]:
        """The worst and the best order of what is not known; one ranking if nothing is."""
        if not self.unknown.any():
            return (self._ranking(best=True),) * 2
        return self._ranking(best=False), self._ranking(best=True)

    def _ranking(self, best: bool) -> Ranking:
        found = self.in_order(best)
        columns = {name: ops.ByClass(x[:, 1], x[:, 0]) for name, x in found.amounts.items()}
        positive, negative = columns.pop("weight", (None, None))
        if "gain" in columns:
            columns["gain_size"] = columns["gain"].map(lambda x: ops.GAIN_SCALE * np.abs(x))
        groups = found.least, found.sizes, found.counts[:, 1]
        return ranking_of(ops.TieTable(*groups, positive, negative, columns))

    def in_order(self, best: bool) -> Cells:
        """Two cells for each: what is not known as one class and the other, all else first.

        The ends of the two are equal, the greatest or the least score.
        """

        def rows(cells: NDArray[Any]) -> NDArray[Any]:
            first = cells.copy()
            if first.size:
                first[self.unknown, 0 if best else 1] = 0
            return np.stack([first, cells - first], axis=1).reshape(2 * len(cells), -1)

        there = filled(rows(self.counts))
        first = np.where(self.unknown, self.greatest, self.least)
        ends = np.stack([first, self.least], axis=1).reshape(-1)
        amounts = {name: rows(x) for name, x in self.amounts.items()}
        return Cells(ends, ends, rows(self.counts), amounts).rows(there)

    def replaced(self, inner: Sequence[Inner]) -> Cells:
        """The cells, those of which the inner ones are known replaced by them."""
        places = np.concatenate([x.places for x in inner])
        inside = np.concatenate([x.cells.sizes for x in inner])
        sums = np.bincount(places, inside, minlength=len(self.counts))
        gone = np.concatenate([x.of for x in inner])
        if (sums[gone] != self.sizes[gone]).any():
            raise ChangedError
        left = np.delete(np.arange(len(self.counts)), gone)
        every = [Inner(left, left, self.rows(left)), *inner]
        order = np.argsort(np.concatenate([x.places for x in every]), kind="stable")
        return _joined([x.cells for x in every]).rows(order)

    def rows(self, rows: Any) -> Cells:
        """Some of the cells."""
        return self.map(lambda x: x[rows])

    def map(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Cells:
        """The cells with other columns."""
        least, greatest, counts = map(function, (self.least, self.greatest, self.counts))
        return Cells(least, greatest, counts, {k: function(x) for k, x in self.amounts.items()})

    def emptied(self) -> Cells:
        """A cell without any examples."""
        found = self.rows(slice(1)).map(np.zeros_like)
        return replace(found, least=self.least[:1], greatest=self.greatest[:1])


def _joined(parts: Sequence[Cells]) -> Cells:
    """The cells of several, one after the other."""
    columns = zip(*((x.least, x.greatest, x.counts) for x in parts), strict=True)
    least, greatest, counts = map(np.concatenate, columns)
    names = parts[0].amounts
    amounts = {name: np.concatenate([x.amounts[name] for x in parts]) for name in names}
    return Cells(least, greatest, counts, amounts)


def rankings_of_groups(of_each: Sequence[Cells]) -> tuple[Ranking, Ranking]:
    """The worst and the best order of what is not known, of a ranking of groups."""
    worst = _ranking_of_groups([x.in_order(best=False) for x in of_each])
    if not any(x.unknown.any() for x in of_each):
        return worst, worst
    return worst, _ranking_of_groups([x.in_order(best=True) for x in of_each])


def _ranking_of_groups(of_each: Sequence[Cells]) -> Ranking:
    groups = np.repeat(np.arange(len(of_each)), [len(x.counts) for x in of_each])
    every = _joined(of_each)
    masses: dict[str, Any] = {}
    if "weight" in every.amounts:
        masses = {"weights": every.masses.sum(axis=-1), "positive_weights": every.masses[:, 1]}
    if (costs := every.amounts.get("cost")) is not None:
        masses |= {"positive_costs": costs[:, 1], "negative_costs": costs[:, 0]}
    counts = every.sizes, every.counts[:, 1]
    beside = {"groups": groups, "num_groups": len(of_each), **masses}
    return Ranking.from_counts(every.least, *counts, **beside)


class Inner(NamedTuple):
    """Cells, the places of those that were divided, and of that of which each is a part."""

    of: NDArray[np.intp]
    places: NDArray[np.intp]
    cells: Cells


def filled(counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which cells hold examples; where none does, the first, since no table is without rows."""
    there: NDArray[np.bool_] = np.asarray(counts.any(axis=-1))
    if not there.any():
        there[:1] = True
    return there


# passes that count and divide cells


_BITS = 20
_AT_ONCE = 2**22
"""Scores of one cell that are kept; cells of more are divided until they are few."""


class _Counter:
    """Counts examples in numbered cells, best first, and knows the ends of each."""

    def __init__(self, size: int, like: Examples) -> None:
        dtype = like.scores.dtype
        whole = np.iinfo(dtype if dtype.kind in "iu" else np.int8)
        ends = (np.inf, -np.inf) if dtype.kind == "f" else (whole.max, whole.min)
        self.counts = np.zeros((size, 2), dtype=np.int64)
        self.amounts = {name: np.zeros((size, 2)) for name in like.amounts}
        self.least, self.greatest = (np.full(size, x, dtype=dtype) for x in ends)

    def add(self, cells: NDArray[Any], examples: Examples) -> None:
        """Count examples in their cells."""
        codes = 2 * cells.astype(np.int64) + examples.labels

        def summed(amounts: NDArray[Any] | None = None) -> NDArray[Any]:
            found = np.bincount(codes, amounts, minlength=self.counts.size)
            return found.reshape(self.counts.shape)

        self.counts += summed()
        with np.errstate(over="ignore", invalid="ignore"):  # infinite sums are refused
            for name, amounts in examples.amounts.items():
                self.amounts[name] += summed(amounts)
        np.minimum.at(self.least, cells, examples.scores)
        np.maximum.at(self.greatest, cells, examples.scores)

    @property
    def cells(self) -> Cells:
        """The cells that hold examples."""
        found = Cells(self.least, self.greatest, self.counts, self.amounts)
        return found.rows(self.there)

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which cells these are."""
        return filled(self.counts)


def counted_cells(passes: Passes, keys: Sequence[Key], groups: int = 1) -> dict[Key, Cells]:
    """The cells of every key, after one pass; one of a group has the fewer the more groups are."""
    counters: dict[Key, _Counter] = {}
    for batch in passes():
        for key, examples in batch.of(keys):
            bins, number = _bins(examples.scores, _bits(key, groups))
            if key not in counters:
                counters[key] = _Counter(number, examples)
            counters[key].add(bins, examples)
    found = {key: x.cells for key, x in counters.items()}
    for key in keys:
        if key not in found:  # a group of which no row has any weight
            found[key] = found[key[0]].emptied()
    return found


def _bits(key: Key, groups: int) -> int:
    """How finely scores are counted: all groups together have as many cells as all rows."""
    return _BITS if isinstance(key, str) else max(_BITS - (groups - 1).bit_length(), 1)


def _bins(scores: NDArray[Any], bits: int) -> tuple[NDArray[Any], int]:
    """The cell of each score in the first pass, and how many there are."""
    xp = namespace(scores)
    bits = min(bits, xp.key_bits(scores.dtype))
    return xp.bin_rows(scores, bits), 2**bits


class _Kept:
    """The examples of one cell in a further pass."""

    def __init__(self, cells: Cells, place: int) -> None:
        self.place, self.ends = place, (cells.least[place], cells.greatest[place])
        self.examples: list[Examples] = []

    def add(self, examples: Examples) -> None:
        """Keep those examples of a batch that are of the cell."""
        scores = examples.scores
        self.examples.append(examples.where((scores >= self.ends[0]) & (scores <= self.ends[1])))

    def inner(self) -> Inner:
        """The ties of the cell."""
        if not self.examples:
            raise ChangedError
        ties = np.unique(np.concatenate([x.scores for x in self.examples]))
        counter = _Counter(max(len(ties), 1), self.examples[0])
        for examples in self.examples:
            counter.add(len(ties) - 1 - np.searchsorted(ties, examples.scores), examples)
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
        self.counter: _Counter | None = None

    def add(self, examples: Examples) -> None:
        """Count those examples of a batch that are of the cells."""
        number = self.number[self.find(examples.scores)]
        inside = np.flatnonzero(number >= 0)
        examples, number = examples.where(inside), number[inside]
        below = (self.top[number] - _keys(examples.scores)).view(np.uint64) >> self.shift[number]
        if (below >= self.sizes[number].view(np.uint64)).any():
            raise ChangedError
        if self.counter is None:
            self.counter = _Counter(int(self.sizes.sum()), examples)
        self.counter.add(self.starts[number] + below.astype(np.int64), examples)

    def inner(self) -> Inner:
        """The finer cells that hold examples."""
        if self.counter is None:
            raise ChangedError
        places = self.places.repeat(self.sizes)[self.counter.there]
        return Inner(self.places, places, self.counter.cells)


def _keys(scores: NDArray[Any]) -> NDArray[np.int64]:
    keys: NDArray[np.int64] = namespace(scores).order_key(scores).astype(np.int64)
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
    on_step("counting scores")
    groups = 0 if names is None else len(names)
    keys: list[Key] = [*settings.models, *((x, k) for x in settings.models for k in range(groups))]
    cells, rows = _counted_rows(passes, keys, groups)
    counts = _counts(cells[settings.models[0]], *rows)
    if settings.per is None:
        settings.check_quotas(counts.most)
    ends_of = _Ends(settings, counts, names is not None)
    cells = _narrowed(cells, keys[len(settings.models) :], ends_of, passes, groups, on_step)
    both = {x: cells[x].rankings() for x in settings.models}
    if settings.unit is not None and (impacts := settings.unit.tuned(counts.total, counts[3])):
        both = {x: _with_impacts(two, impacts) for x, two in both.items()}
    found = evaluate_rankings(settings, counts, both.__getitem__, exact=False)
    if settings.resampling is not None:
        found = with_closed_forms(found, [worst for worst, _ in both.values()])
    if names is None:
        return found
    of_each = ([cells[x, k] for k in range(len(names))] for x in settings.models)
    by_group = [rankings_of_groups(x) for x in of_each]
    return with_groups(found, group_results(settings, by_group, names, exact=False))


def _counted_rows(
    passes: Passes, keys: Sequence[Key], groups: int
) -> tuple[dict[Key, Cells], tuple[int, int]]:
    """The cells after the first pass, and how many rows and positive ones it went over."""
    rows = positives = 0

    def counting() -> Iterator[Batch]:
        nonlocal rows, positives
        for batch in passes():
            rows, positives = rows + len(batch.labels), positives + int(batch.labels.sum())
            yield batch

    cells = counted_cells(counting, keys, groups)
    return cells, (rows, positives)


def _counts(cells: Cells, rows: int, positives: int) -> Counts:
    """All rows in numbers, those without weight too."""
    for name, amounts in cells.amounts.items():
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(np.abs(amounts).sum()):
                raise UnfitError(f"the sum of the {name}s is too large for a number")
    negative, positive = (float(x) for x in cells.masses.sum(axis=0))
    cost = float(cells.amounts["cost"].sum()) if "cost" in cells.amounts else math.nan
    return Counts(rows, positives, negative + positive, positive, cost)


def _with_impacts(both: Orders, impacts: Sequence[float]) -> Orders:
    """The rankings with what rows bring by the impacts of the four cells."""
    worst, best = (_bringing(x, *impacts) for x in both)
    return worst, worst if both[0] is both[1] else best


def _bringing(ranking: Ranking, tp: float, fp: float, fn: float, tn: float) -> Ranking:
    masses = ranking.positive_weights, ranking.negative_weights
    positive, negative = (np.asarray(x, np.float64) for x in masses)
    gain = ops.ByClass(tp * positive, fp * negative)
    rejected = ops.ByClass(fn * positive, tn * negative)
    size = ops.ByClass((abs(tp) + abs(fn)) * positive, (abs(fp) + abs(tn)) * negative)
    columns = {"gain": gain, "gain_rejected": rejected}
    columns["gain_size"] = size.map(lambda x: ops.GAIN_SCALE * x)
    return ranking._replace(columns={**ranking.columns, **columns})


class _Ends:
    """In which cells quotas end, of those that passes over the rows have to open."""

    def __init__(self, settings: Settings, counts: Counts, grouped: bool) -> None:
        self.quotas = settings.quotas if counts.total else ()
        self.per, self.counts = settings.per is not None, counts
        self.over_all = () if self.per else self.quotas
        self.of_costs = settings.cost is not None
        self.amounts = self.of_costs or settings.gain is not None
        self.shared = grouped and not self.per
        self.sure = settings.resampling is not None

    def wanted(self, cells: Mapping[Key, Cells]) -> dict[Key, set[int]]:
        """The cells of every key that are to be opened, if there are any."""
        found: dict[Key, set[int]] = {}
        for key, x in cells.items():
            if isinstance(key, str):
                found[key] = self._of_all(x)
            elif x.masses.any():
                found[key] = self._of_group(x, cells[key[0]])
        return {key: places for key, places in found.items() if places}

    def _at_ends(self, x: Cells, quotas: Iterable[float]) -> set[int]:
        """Where quotas end in the order of a cell that matters: of one class alone only if rows
        cost or bring something, or groups share the quota.
        """
        ends = set().union(*(x.ends(quota, self.of_costs) for quota in quotas))
        open_ones = x.loose if self.amounts or self.shared else x.unknown
        return {k for k in ends if open_ones[k]}

    def _of_all(self, x: Cells) -> set[int]:
        places = np.asarray([quota.places(self.counts.most) for quota in self.over_all])
        if not self.sure:
            return self._at_ends(x, places)
        around = around_cut(namespace(places), places, np.asarray(self.counts.total))
        return self._at_ends(x, np.concatenate([places, *around]))

    def _of_group(self, x: Cells, whole: Cells) -> set[int]:
        """Those of a group: where its own quota ends, or its share of one over all, and where its
        scores are on both sides of the end of that.
        """
        most = (x.amounts["cost"] if self.of_costs else x.masses).sum()
        if self.per:
            return self._at_ends(x, (float(quota.of_each(most)) for quota in self.quotas))
        share = most / self.counts.most if self.counts.most else 0.0
        over_all = [quota.places(self.counts.most) for quota in self.over_all]
        found = self._at_ends(x, (share * quota for quota in over_all))
        for end in set().union(*(whole.ends(quota, self.of_costs) for quota in over_all)):
            across = (x.least <= whole.greatest[end]) & (x.greatest >= whole.least[end])
            found |= set(np.flatnonzero(across & x.loose).tolist())
        return found


def _narrowed(
    cells: dict[Key, Cells],
    of_groups: Sequence[Key],
    ends_of: _Ends,
    passes: Passes,
    groups: int,
    on_step: Callable[[str], object],
) -> dict[Key, Cells]:
    """The cells, opened until it is known where the quotas end and what the groups have."""
    narrowed = not any(cells[key].unknown.any() for key in of_groups)
    while (wanted := ends_of.wanted(cells)) or not narrowed:
        on_step("opening the cells in which quotas end")
        cells, narrowed = opened(passes, cells, wanted, groups), True
    return cells
