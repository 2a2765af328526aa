"""What groups of rows have: a quota of their own each, or their parts of one quota over all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quotakernels._array import namespace
from quotakernels._text import number
from quotakernels.evaluation.measures import AT_BUDGET, AT_QUOTA, BRINGS, Column, places
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.settings import Settings
from quotakernels.inference.delong import auc_interval
from quotakernels.inference.hit_rates import hit_rate_interval
from quotakernels.inputs.totals import Totals
from quotakernels.measures._facts import bounded_by_ties
from quotakernels.measures.at_quota.selection_by_group import selection_by_group
from quotakernels.measures.by_group import group_counts
from quotakernels.measures.gains.impact_at_quota import impact_at_quota
from quotakernels.measures.over_quotas.areas import roc_auc
from quotakernels.measures.over_quotas.averages import average_hit_rate, average_qrecall
from quotakernels.ranking import Ranking, table_of
from quotakernels.states._compute import Bounds, bounds_of

Floats = NDArray[np.float64]
OVER_ALL = (
    Column("roc_auc", "AUC", roc_auc),
    Column("average_hit_rate", "average\nhit rate", average_hit_rate),
    Column("average_qrecall", "average\nQrecall", average_qrecall),
)
_FILLED = (
    Column("places", "places", form=number, compared=False),
    Column("found", "found", form=number, compared=False),
    Column("selection_rate", "selection\nrate", compared=False),
)
MEASURES = AT_QUOTA[:3]
APART = (
    Column("demographic_parity_ratio", "parity\nratio", compared=False),
    Column("equal_opportunity_difference", "equal opportunity\ndifference", compared=False),
    Column("split_cost", "split\ncost", form=number, compared=False),
)
"""How far groups are apart in what they get of one quota over all."""
_SPREAD = (0.0, 0.25, 0.5, 0.75, 1.0)
_SAME = 1e-12  # equal rankings whose weights are summed in another order


def together_at(quota: Quota) -> tuple[Column, ...]:
    """The measures of all rows that a quota, or a budget, of each group selects."""
    return AT_BUDGET if quota.is_budget else AT_QUOTA[:2]


def most(worth: Floats, nothing: Floats | float = 0.0) -> NDArray[np.bool_]:
    """Tell which models, along the first axis, have the most; none where all of them do.

    `nothing` is what may be left of 0 by rounding.
    """
    defined = ~np.isnan(worth)
    top = np.max(worth, axis=0, initial=-np.inf, where=defined)
    marked: NDArray[np.bool_] = np.isclose(worth, top, rtol=_SAME, atol=nothing)
    marked &= marked.sum(axis=0) < defined.sum(axis=0)
    return marked


@dataclass(frozen=True)
class GroupValues:
    """One value for each model, group and measure, NaN where undefined.

    Attributes
    ----------
    measures : tuple of columns
        What the measures are; each column has a `name`, that of the library's function.
    array : array, shape (M, S, K)
        The values of K measures of M models in S groups.
    ends : mapping from name to array, shape (2, M, S)
        Lower and upper ends of each group's interval, of the measures that have intervals.
    mean_ends : mapping from name to array, shape (2, M)
        Those of the means over the groups.
    bounds : mapping from name to array, shape (2, M, S)
        Lower and upper bounds of measures that are not known exactly; the values are then the lower
        ones.
    """

    measures: tuple[Column, ...]
    array: Floats
    ends: Mapping[str, Floats] = field(default_factory=dict)
    mean_ends: Mapping[str, Floats] = field(default_factory=dict)
    bounds: Mapping[str, Floats] = field(default_factory=dict)

    def at_bound(self, which: int) -> GroupValues:
        """The same with the lower bounds (0) or the upper ones (1) as values."""
        columns = [
            self.bounds[x.name][which] if x.name in self.bounds else self.of(x.name)
            for x in self.measures
        ]
        return replace(self, array=np.stack(columns, axis=-1), bounds={})

    def of(self, name: str) -> Floats:
        """Return what each model and group has of a measure, shape (M, S)."""
        column: Floats = self.array[..., [m.name for m in self.measures].index(name)]
        return column

    def interval(self, name: str, model: int, group: int) -> tuple[float, float]:
        """Both ends of a group's measure; NaN of one that has no interval."""
        if name not in self.ends:
            return np.nan, np.nan
        lower, upper = self.ends[name][:, model, group].tolist()
        return lower, upper

    def mean_interval(self, name: str, model: int) -> tuple[float, float]:
        """Both ends of the interval of the mean; NaN of one that has none."""
        if name not in self.mean_ends:
            return np.nan, np.nan
        lower, upper = self.mean_ends[name][:, model].tolist()
        return lower, upper

    def best(self, measure: Column) -> NDArray[np.bool_]:
        """Tell which models have the most in each group, shape (M, S)."""
        values = self.of(measure.name)
        known = measure.compared and measure.name not in self.bounds
        return most(values) if known else np.zeros(values.shape, dtype=bool)

    def defined(self, name: str, model: int) -> Floats:
        """Return a model's values of the groups in which a measure is defined."""
        values = self.of(name)[model]
        kept: Floats = values[~np.isnan(values)]
        return kept

    def mean(self, name: str, model: int) -> float:
        """The mean over those groups; NaN of none."""
        values = self.defined(name, model)
        return float(np.mean(values)) if len(values) else np.nan

    def spread(self, name: str, model: int) -> list[float]:
        """The lowest value of those groups, the three quartiles, and the highest."""
        values = self.defined(name, model)
        found = np.quantile(values, _SPREAD) if len(values) else np.full(len(_SPREAD), np.nan)
        return list(map(float, found))


@dataclass(frozen=True)
class GroupResults:
    """Every model in every group.

    Attributes
    ----------
    names : tuple, length S
        The groups, in order.
    rows, positives : integer arrays, shape (S,)
        How many rows each group has, and how many positive ones.
    masses, positive_masses : arrays, shape (S,)
        Their total weights; without weights the same numbers.
    costs : array, shape (S,)
        With budgets what the rows of each group cost; else NaN.
    values : mapping from Quota, or None, to GroupValues
        The measures at each quota, and under None those over all quotas.
    apart : mapping from Quota to an array, shape (M, 3)
        At each quota over all: demographic parity ratio, equal opportunity difference and split
        cost, as in `SelectionByGroup`.
    apart_ends : mapping from Quota to an array, shape (2, M, 3)
        Lower and upper ends of their intervals.
    """

    names: tuple[Any, ...]
    rows: NDArray[np.int64]
    positives: NDArray[np.int64]
    masses: Floats
    positive_masses: Floats
    costs: Floats
    values: Mapping[Quota | None, GroupValues]
    apart: Mapping[Quota, Floats] = field(default_factory=dict)
    apart_ends: Mapping[Quota, Floats] = field(default_factory=dict)

    def apart_interval(self, quota: Quota, model: int, k: int) -> tuple[float, float]:
        """Both ends of one of APART; NaN of one that has no interval."""
        if quota not in self.apart_ends:
            return np.nan, np.nan
        lower, upper = self.apart_ends[quota][:, model, k].tolist()
        return lower, upper

    @property
    def most(self) -> float:
        """The most that a quota, or a budget, of a group may be."""
        whole = self.masses if np.isnan(self.costs).all() else self.costs
        return float(whole.max(initial=0))

    def at_random(self, quota: Quota) -> tuple[float, float]:
        """How many places a random choice has where each group has the quota, and what it finds."""
        whole = self.costs if quota.is_budget else self.masses
        there = whole > 0
        share = np.where(self.masses > 0, 1.0, 0.0)
        share[there] = quota.of_each(whole[there]) / whole[there]
        return float(share @ self.masses), float(share @ self.positive_masses)

    def together(self, quota: Quota) -> Floats:
        """The values `together_at` of all that the groups' quotas select, shape (M, K)."""
        at_quota = self.values[quota]
        places = at_quota.of("places").sum(axis=1)
        found = np.nansum(at_quota.of("places") * at_quota.of("hit_rate"), axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = [found / places, found / self.positive_masses.sum()]
            if not quota.is_budget:
                return np.stack(shares, axis=-1)
            spent = quota.of_each(self.costs).sum()
            return np.stack([places, *shares, found / spent], axis=-1)

    def short(self, quota: Quota) -> int:
        """How many groups have fewer rows, or less weight, than the quota, or cost less."""
        whole = self.costs if quota.is_budget else self.masses
        return 0 if quota.percent else int(np.count_nonzero(whole < quota.amount))


def group_results(
    settings: Settings, rankings: Sequence[Ranking], names: NDArray[Any]
) -> GroupResults:
    """Measure each model in each group, by its ranking of groups, and call these by their names."""
    _, rows, positives = group_counts(rankings[0])
    masses, found, costs = _masses(rankings[0])
    whole = costs if settings.cost is not None else masses
    if settings.per is not None:
        settings.check_quotas(float(whole.max(initial=0)), settings.per)
    resampling = settings.resampling
    closed = resampling is not None and settings.weight is None  # intervals of single rows
    level = resampling.level if resampling is not None and closed else None
    values: dict[Quota | None, GroupValues] = {None: _over_all(rankings, level)}
    apart: dict[Quota, Floats] = {}
    for quota in settings.quotas:
        if settings.per is not None:
            filled = [_places(ranking, quota, masses) for ranking in rankings]
        else:
            argument = quota.argument(float(whole.sum()))
            shared = [selection_by_group(ranking, **argument) for ranking in rankings]
            filled = [np.asarray(x.selected) for x in shared]
            apart[quota] = np.asarray([[getattr(x, m.name) for m in APART] for x in shared])
        fixed = None if quota.is_budget else level  # the places of a budget are not fixed
        values[quota] = _at_quota(rankings, filled, masses, fixed)
    return GroupResults(tuple(names.tolist()), rows, positives, masses, found, costs, values, apart)


def bounded_in_groups(
    settings: Settings, both: Sequence[tuple[Ranking, Ranking]], names: NDArray[Any]
) -> GroupResults:
    """The same where only the worst and the best order of some examples are known.

    What quotas select is certain; measures over all quotas have bounds.
    """
    found = group_results(settings, [worst for worst, _ in both], names)
    measures = tuple(x for x in OVER_ALL if bounded_by_ties(x.function, {}))
    bounds = {x.name: np.stack([ends(x.function, *two) for two in both], axis=1) for x in measures}
    lower = np.stack([bounds[x.name][0] for x in measures], axis=-1)
    over_all = GroupValues(measures, lower, bounds=bounds)
    return replace(found, values={**found.values, None: over_all})


def ends(measure: Any, worst: Ranking, best: Ranking) -> Bounds:
    """Both bounds of a measure, which are equal where nothing is unknown."""
    if worst is best:
        return Bounds(measure(worst), measure(worst))
    return bounds_of(measure, {}, worst, best)


def _places(ranking: Ranking, quota: Quota, masses: Floats) -> Floats:
    """How many places each group fills."""
    if not quota.is_budget:
        return quota.of_each(masses)
    paid: Floats = np.asarray(places(ranking, budget=quota.amount), dtype=np.float64)
    return np.where(masses > 0, paid, 0.0)


def _over_all(rankings: Sequence[Ranking], level: float | None) -> GroupValues:
    values = np.stack([np.stack([m.function(x) for m in OVER_ALL], axis=-1) for x in rankings])
    if level is None:
        return GroupValues(OVER_ALL, values)
    return GroupValues(
        OVER_ALL,
        values,
        {"roc_auc": _ends([auc_interval(x, confidence_level=level) for x in rankings])},
    )


def _masses(ranking: Ranking) -> tuple[Floats, Floats, Floats]:
    """The mass of each group, that of its positives, and what it costs; NaN without costs."""
    xp = namespace(ranking.counts)
    total = Totals(xp, table_of(xp, ranking, by_group=True))
    cost = total.cost if ranking.costs else np.full(total.whole.shape, np.nan)
    whole, positive, cost = (np.asarray(x, np.float64) for x in (total.whole, total.positive, cost))
    return whole, positive, cost


def _at_quota(
    rankings: Sequence[Ranking], filled: Sequence[Floats], masses: Floats, level: float | None
) -> GroupValues:
    """The measures of groups in which each model fills so many places, by its own order there."""
    measures, values = (*_FILLED, *MEASURES), []
    paid = [BRINGS] if rankings and rankings[0].gains else []
    for ranking, taken in zip(rankings, filled, strict=True):
        of_each = [x.function(ranking, quota=taken[:, None])[:, 0] for x in MEASURES]
        of_each += [impact_at_quota(ranking, quota=taken[:, None]).whole[:, 0] for _ in paid]
        with np.errstate(invalid="ignore"):
            rate = of_each[[x.name for x in MEASURES].index("hit_rate")]
            found = np.where(taken == 0, taken, taken * rate)
            values.append(np.stack([taken, found, taken / masses, *of_each], axis=-1))
    ends = {}
    if level is not None:
        rates = [
            hit_rate_interval(ranking, quota=taken[:, None], confidence_level=level)
            for ranking, taken in zip(rankings, filled, strict=True)
        ]
        ends = {"hit_rate": _ends(rates)}
    return GroupValues((*measures, *paid), np.stack(values), ends)


def _ends(found: Sequence[Any]) -> Floats:
    """Both ends of the intervals of each model and group."""
    return np.stack([[np.ravel(x.lower) for x in found], [np.ravel(x.upper) for x in found]])
