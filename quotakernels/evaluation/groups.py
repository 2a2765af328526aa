"""What groups of rows have: a quota of their own each, or their parts of one quota over all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quotakernels._array import namespace
from quotakernels._text import number
from quotakernels.evaluation.measures import AT_QUOTA, Column
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.settings import Settings
from quotakernels.inference.delong.interval import auc_interval
from quotakernels.inference.proportions.hit_rate import hit_rate_interval
from quotakernels.inputs.quotas import Totals
from quotakernels.measures.at_quota.selection_by_group import selection_by_group
from quotakernels.measures.by_group import group_counts
from quotakernels.measures.over_quotas.areas import roc_auc
from quotakernels.ranking import Ranking, table_of

Floats = NDArray[np.float64]
OVER_ALL = (Column("roc_auc", "AUC", roc_auc),)
_FILLED = (
    Column("places", "places", form=number, compared=False),
    Column("selection_rate", "selection\nrate", compared=False),
)
MEASURES = AT_QUOTA[:3]
TOGETHER = AT_QUOTA[:2]
"""Of all rows that quotas of groups select."""
APART = (
    Column("demographic_parity_ratio", "parity\nratio", compared=False),
    Column("equal_opportunity_difference", "equal opportunity\ndifference", compared=False),
    Column("split_cost", "split\ncost", form=number, compared=False),
)
"""How far groups are apart in what they get of one quota over all."""
_SPREAD = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class GroupValues:
    """One value for each model, group and measure, shape (M, S, K), NaN where undefined.

    `ends` are those of each group's interval, lower and upper, shape (2, M, S), by the names of the
    measures that have intervals, and `mean_ends` those of the means, shape (2, M).
    """

    measures: tuple[Column, ...]
    array: Floats
    ends: Mapping[str, Floats] = field(default_factory=dict)
    mean_ends: Mapping[str, Floats] = field(default_factory=dict)

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
    """Every model in every group, under None over all quotas and then at each.

    Of each group there are its name, the numbers of its rows and positives, and their masses
    (without weights the same numbers).  `apart` has the values APART at each quota over all, shape
    (M, 3).
    """

    names: tuple[Any, ...]
    rows: NDArray[np.int64]
    positives: NDArray[np.int64]
    masses: Floats
    positive_masses: Floats
    values: Mapping[Quota | None, GroupValues]
    apart: Mapping[Quota, Floats] = field(default_factory=dict)

    def places(self, quota: Quota) -> float:
        """How many places there are where each group has the quota."""
        return float(quota.of_each(self.masses).sum())

    def together(self, quota: Quota) -> Floats:
        """The values TOGETHER of all that the groups' quotas select, shape (M, 2)."""
        at_quota = self.values[quota]
        found = np.nansum(at_quota.of("places") * at_quota.of("hit_rate"), axis=1)
        with np.errstate(invalid="ignore"):
            shares = [found / x for x in (self.places(quota), self.positive_masses.sum())]
        return np.stack(shares, axis=-1)

    def at_random(self, quota: Quota) -> float:
        """How many positives a random choice for these places finds."""
        there = self.masses > 0
        found = (quota.of_each(self.masses) * self.positive_masses)[there] / self.masses[there]
        return float(found.sum())

    def short(self, quota: Quota) -> int:
        """How many groups have fewer rows, or less weight, than the quota."""
        return 0 if quota.percent else int(np.count_nonzero(self.masses < quota.amount))


def group_results(
    settings: Settings, rankings: Sequence[Ranking], names: NDArray[Any]
) -> GroupResults:
    """Measure each model in each group, by its ranking of groups, and call these by their names."""
    _, rows, positives = group_counts(rankings[0])
    masses, found = _masses(rankings[0])
    if settings.per is not None:
        settings.check_quotas(float(masses.max(initial=0)), settings.per)
    resampling = settings.resampling
    closed = resampling is not None and settings.weight is None  # intervals of single rows
    level = resampling.level if resampling is not None and closed else None
    values: dict[Quota | None, GroupValues] = {None: _over_all(rankings, level)}
    apart: dict[Quota, Floats] = {}
    for quota in settings.quotas:
        if settings.per is not None:
            filled = [quota.of_each(masses)] * len(rankings)
        else:
            argument = quota.argument(float(masses.sum()))
            shared = [selection_by_group(ranking, **argument) for ranking in rankings]
            filled = [np.asarray(x.selected) for x in shared]
            apart[quota] = np.asarray([[getattr(x, m.name) for m in APART] for x in shared])
        values[quota] = _at_quota(rankings, filled, masses, level)
    return GroupResults(tuple(names.tolist()), rows, positives, masses, found, values, apart)


def _over_all(rankings: Sequence[Ranking], level: float | None) -> GroupValues:
    values = np.stack([roc_auc(x) for x in rankings])[..., None]
    if level is None:
        return GroupValues(OVER_ALL, values)
    return GroupValues(
        OVER_ALL,
        values,
        {"roc_auc": _ends([auc_interval(x, confidence_level=level) for x in rankings])},
    )


def _masses(ranking: Ranking) -> tuple[Floats, Floats]:
    """The mass of each group, and that of its positives."""
    xp = namespace(ranking.counts)
    whole, positive, _ = Totals(xp, table_of(xp, ranking, by_group=True))
    return whole.astype(np.float64), positive.astype(np.float64)


def _at_quota(
    rankings: Sequence[Ranking], filled: Sequence[Floats], masses: Floats, level: float | None
) -> GroupValues:
    """The measures of groups in which each model fills so many places, by its own order there."""
    values = []
    for ranking, places in zip(rankings, filled, strict=True):
        of_each = [x.function(ranking, quota=places[:, None])[:, 0] for x in MEASURES]
        with np.errstate(invalid="ignore"):
            values.append(np.stack([places, places / masses, *of_each], axis=-1))
    ends = {}
    if level is not None:
        found = [
            hit_rate_interval(ranking, quota=places[:, None], confidence_level=level)
            for ranking, places in zip(rankings, filled, strict=True)
        ]
        ends = {"hit_rate": _ends(found)}
    return GroupValues((*_FILLED, *MEASURES), np.stack(values), ends)


def _ends(found: Sequence[Any]) -> Floats:
    """Both ends of the intervals of each model and group."""
    return np.stack([[np.ravel(x.lower) for x in found], [np.ravel(x.upper) for x in found]])
