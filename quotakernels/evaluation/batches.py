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

from quotakernels import Ranking, average_qrecall, gini, ops, pem, roc_auc
from quotakernels.evaluation.compute import (
    bounded_in_groups,
    bounds_between,
    gains_at_quotas,
    values_at,
    with_groups,
)
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.intervals import impact_ends_at
from quotakernels.evaluation.results import (
    AREAS,
    AT_BUDGET,
    AT_QUOTA,
    OVER_ALL,
    Column,
    Values,
    certain_ends,
)
from quotakernels.evaluation.settings import Counts, Quota, Settings, UnfitError
from quotakernels.inference import hit_rate_interval
from quotakernels.inference.hit_rates import around_cut
from quotakernels.measures._facts import bounded_by_ties
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
        whole: dict[str, Examples] = {}
        parted: dict[str, Examples] = {}
        for key in keys:
            model, group = (key, None) if isinstance(key, str) else key
            if model not in whole:
                amounts = self.weights, self.costs, self.gains
                examples = Examples(self.labels, self.scores[model], *amounts)
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


class Examples(NamedTuple):
    """The rows with the scores of one model."""

    labels: NDArray[np.bool_]
    scores: NDArray[Any]
    weights: NDArray[np.float64] | None
    costs: NDArray[np.float64] | None
    gains: NDArray[np.float64] | None

    def where(self, rows: Any) -> Examples:
        """Some of the rows."""
        return Examples._make(None if x is None else x[rows] for x in self)

    @classmethod
    def joined(cls, parts: Sequence[Examples]) -> Examples:
        """The rows of several."""
        columns = zip(*parts, strict=True)
        return cls._make(None if x[0] is None else np.concatenate(x) for x in columns)


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
    their masses, which are the counts if they have no weights; best first.

    `costs` and `gains` are sums of each class, by weight, or have no columns.
    """

    least: NDArray[Any]
    greatest: NDArray[Any]
    counts: NDArray[np.int64]
    masses: NDArray[Any]
    costs: NDArray[np.float64]
    gains: NDArray[np.float64]

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

    def ends(self, amount: float, of_costs: bool = False) -> set[int]:
        """The cells in which so many places, or so much weight, end, or a budget of so much; where
        that is between two, both are told of a budget, as sums are rounded.
        """
        reached = (self.costs if of_costs else self.masses).sum(axis=-1).cumsum()
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
        masses = found.masses[:, ::-1].T if self.weighted else (None, None)
        table = ops.Groups(found.least, found.sizes, found.counts[:, 1], *masses)
        columns: ops.Columns = {}
        if found.costs.size:
            columns["cost"] = ops.ByClass(found.costs[:, 1], found.costs[:, 0])
        if found.gains.size:
            columns["gain"] = ops.ByClass(found.gains[:, 1], found.gains[:, 0])
            columns["gain_size"] = columns["gain"].map(lambda x: ops.GAIN_SCALE * np.abs(x))
        return ranking_of(table._replace(columns=columns))

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
        ends = np.stack([first, self.least], axis=1).reshape(-1)[there]
        sums = (self.counts, self.masses, self.costs, self.gains)
        return Cells(ends, ends, *(rows(x)[there] for x in sums))

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
        columns = zip(*(vars(x.cells).values() for x in every), strict=True)
        return Cells(*map(np.concatenate, columns)).rows(order)

    def rows(self, rows: Any) -> Cells:
        """Some of the cells."""
        return Cells(*(x[rows] for x in vars(self).values()))

    def emptied(self) -> Cells:
        """The cells without any examples."""
        least, greatest, *sums = vars(self).values()
        return Cells(least, greatest, *map(np.zeros_like, sums))


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
    if every.costs.size:
        masses |= {"positive_costs": every.costs[:, 1], "negative_costs": every.costs[:, 0]}
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
        self.masses = self.counts if like.weights is None else np.zeros((size, 2))
        amounts = (like.costs, like.gains)
        self.costs, self.gains = (np.zeros((size, 0 if x is None else 2)) for x in amounts)
        self.least, self.greatest = (np.full(size, x, dtype=dtype) for x in ends)

    def add(self, cells: NDArray[Any], examples: Examples) -> None:
        """Count examples in their cells."""
        labels, scores, weights, costs, gains = examples
        codes = 2 * cells.astype(np.int64) + labels

        def summed(amounts: NDArray[Any] | None = None) -> NDArray[Any]:
            found = np.bincount(codes, amounts, minlength=self.counts.size)
            return found.reshape(self.counts.shape)

        self.counts += summed()
        with np.errstate(over="ignore", invalid="ignore"):  # infinite sums are refused
            if weights is not None:
                self.masses += summed(weights)
            mass = 1.0 if weights is None else weights
            if costs is not None:
                self.costs += summed(costs * mass)
            if gains is not None:
                self.gains += summed(gains * mass)
        np.minimum.at(self.least, cells, scores)
        np.maximum.at(self.greatest, cells, scores)

    @property
    def cells(self) -> Cells:
        """The cells that hold examples."""
        sums = self.counts, self.masses, self.costs, self.gains
        found = Cells(self.least, self.greatest, *sums)
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
            found[key] = found[key[0]].rows(slice(1)).emptied()
    return found


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
        self.examples: list[Examples] = []

    def add(self, examples: Examples) -> None:
        """Keep those examples of a batch that are of the cell."""
        scores = examples.scores
        self.examples.append(examples.where((scores >= self.ends[0]) & (scores <= self.ends[1])))

    def inner(self) -> Inner:
        """The ties of the cell."""
        if not self.examples:
            raise ChangedError
        examples = Examples.joined(self.examples)
        ties, rising = np.unique(examples.scores, return_inverse=True)
        counter = _Counter(max(len(ties), 1), examples)
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
    rows = _Rows(passes)
    groups = 0 if names is None else len(names)
    keys: list[Key] = [*settings.models, *((x, k) for x in settings.models for k in range(groups))]
    cells = counted_cells(rows, keys, groups)
    counts = rows.counts(cells[settings.models[0]])
    if settings.per is None:
        settings.check_quotas(counts.most)
    ends_of = _Ends(settings, counts, names is not None)
    cells = _narrowed(cells, keys[len(settings.models) :], ends_of, passes, groups, on_step)
    both = [cells[x].rankings() for x in settings.models]
    worst_first = [worst for worst, _ in both]
    found = Evaluation(
        settings,
        *counts,
        _bounded(_OVER_ALL, both),
        _bounded(_AREAS, both),
        {x: _exact(settings, x, worst_first, counts) for x in settings.quotas_over_all},
        best=[],
        rankings=[],
        rows_read=counts.rows,
    )
    found = _with_gains(found, worst_first, counts)
    return found if names is None else _with_groups(found, cells, names)


_FUNCTIONS = {"roc_auc": roc_auc, "gini": gini, "pem": pem, "average_qrecall": average_qrecall}
_OVER_ALL = tuple(replace(x, function=_FUNCTIONS[x.name]) for x in OVER_ALL if x.name in _FUNCTIONS)
_AREAS = tuple(x for x in AREAS if bounded_by_ties(x.function, {}))


class _Rows:
    """The batches of the first pass, and how many rows and positives they have."""

    def __init__(self, passes: Passes) -> None:
        self.passes, self.rows, self.positives = passes, 0, 0

    def __call__(self) -> Iterator[Batch]:
        for batch in self.passes():
            self.rows += len(batch.labels)
            self.positives += int(batch.labels.sum())
            yield batch

    def counts(self, cells: Cells) -> Counts:
        """All rows in numbers, those without weight too."""
        with np.errstate(over="ignore"):
            negative, positive = cells.masses.sum(axis=0).tolist()
        if math.isinf(total := negative + positive):
            raise UnfitError("the sum of the weights is too large for a number")
        with np.errstate(invalid="ignore"):
            cost = float(cells.costs.sum()) if cells.costs.size else math.nan
            brings = float(np.abs(cells.gains).sum())
        for sums, what in ((cost, "costs"), (brings, "gains")):
            if math.isinf(sums):
                raise UnfitError(f"the sum of the {what} is too large for a number")
        return Counts(self.rows, self.positives, float(total), float(positive), cost)


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
        most = (x.costs if self.of_costs else x.masses).sum()
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


def _with_gains(found: Evaluation, rankings: Sequence[Ranking], counts: Counts) -> Evaluation:
    """With what the quotas bring and, where intervals are asked for, its ends."""
    settings, unit = found.settings, found.settings.unit
    if unit is None:
        return found
    gains = gains_at_quotas(found, rankings, counts, unit)
    if settings.resampling is not None:
        sure = {
            q: replace(x, ends={"brings": impact_ends_at(q, found, rankings)})
            for q, x in gains.at_quota.items()
        }
        gains = replace(gains, at_quota=sure)
    return replace(found, gains=gains)


def _with_groups(found: Evaluation, cells: Mapping[Key, Cells], names: NDArray[Any]) -> Evaluation:
    """With what each group has."""
    of_each = ([cells[x, k] for k in range(len(names))] for x in found.settings.models)
    by_group = [rankings_of_groups(x) for x in of_each]
    return with_groups(found, bounded_in_groups(found.settings, by_group, names))


def _exact(settings: Settings, quota: Quota, rankings: Sequence[Ranking], counts: Counts) -> Values:
    """What each model has at a quota, with the intervals that are closed forms."""
    measures = AT_BUDGET if quota.is_budget else AT_QUOTA[:3]
    values, resampling = values_at(quota, measures, counts, rankings), settings.resampling
    if resampling is None:
        return values
    at = {"confidence_level": resampling.tested_level, **quota.argument(counts.most)}
    found = [hit_rate_interval(x, **at) for x in rankings]
    both = np.asarray([[float(x.lower), float(x.upper)] for x in found])
    return replace(values, ends={"hit_rate": certain_ends(both)})


def _bounded(measures: tuple[Column, ...], both: Sequence[tuple[Ranking, Ranking]]) -> Values:
    """Both bounds of each measure, which are equal where nothing is unknown, and the lower ones."""
    both_ends = np.asarray([[bounds_between(x.function, *two) for x in measures] for two in both])
    bounds = {x.name: (both_ends[:, k, 0], both_ends[:, k, 1]) for k, x in enumerate(measures)}
    return Values(measures, both_ends[..., 0], bounds=bounds)
