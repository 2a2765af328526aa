"""What an evaluation found: records of numbers, from which tables and sentences are made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotakernels.evaluation.groups import GroupResults, most
from quotakernels.evaluation.measures import Column
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.segments import Segment
from quotakernels.evaluation.settings import Settings
from quotakernels.evaluation.words import Size, amount
from quotakernels.inference.comparing import Comparison
from quotakernels.measures.tables.boundary import BestBoundary
from quotakernels.ranking import Ranking

_SUMMED, _ROUNDING = 1e-12, 1e-9


class Ends(NamedTuple):
    """Both ends of each model's interval, and how many resamples leave its measure undefined."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    undefined: NDArray[np.int64]


def certain_ends(both: NDArray[np.float64]) -> Ends:
    """Ends of intervals without resamples, lower and upper ones of each model, shape (M, 2)."""
    return Ends(both[:, 0], both[:, 1], np.zeros(len(both), dtype=np.int64))


@dataclass(frozen=True)
class Values:
    """One value per model (row) and measure (column), NaN where undefined.

    Attributes
    ----------
    measures : tuple of columns
        What the measures are; each column has a `name`, that of the library's function.
    array : array, shape (models, measures)
        The values.
    ends : mapping from name to a named tuple of arrays, shape (models,)
        The `lower` and `upper` ends of the measures that have intervals, and how many resamples
        leave them `undefined`.
    bounds : mapping from name to two arrays, shape (models,)
        Lower and upper bounds of measures that are not known exactly; the values are then the lower
        ones.
    """

    measures: tuple[Column, ...]
    array: NDArray[np.float64]
    ends: Mapping[str, Ends] = field(default_factory=dict)
    bounds: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = field(
        default_factory=dict
    )

    def of(self, name: str) -> NDArray[np.float64]:
        """Return what each model has of a measure."""
        column: NDArray[np.float64] = self.array[:, [m.name for m in self.measures].index(name)]
        return column

    def of_model(self, model: int) -> dict[str, float]:
        """Return what a model has of each measure; NaN of those of which only bounds are known."""
        found = {m.name: float(x) for m, x in zip(self.measures, self.array[model], strict=True)}
        return found | dict.fromkeys(self.bounds_of_model(model), math.nan)

    def bounds_of_model(self, model: int) -> dict[str, tuple[float, float]]:
        """Return both bounds of each measure of a model that is not known exactly."""
        both = {k: (float(x[model]), float(y[model])) for k, (x, y) in self.bounds.items()}
        return {name: (lower, upper) for name, (lower, upper) in both.items() if lower < upper}

    def interval(self, name: str, model: int) -> tuple[float, float]:
        """Both ends of a model's measure; NaN of one that has no interval."""
        if name not in self.ends:
            return math.nan, math.nan
        return float(self.ends[name].lower[model]), float(self.ends[name].upper[model])

    @property
    def shown(self) -> tuple[Column, ...]:
        """The measures that tables show."""
        return tuple(measure for measure in self.measures if measure.heading)

    @property
    def first_best(self) -> int:
        """The model that brings the most; of those that are equal but for rounding the first."""
        brings = self.of("brings")
        top = np.nanmax(brings)
        return int(np.argmax(brings >= top - _ROUNDING * np.abs(top)))

    def best(self, rows: int) -> NDArray[np.bool_]:
        """Tell which values are the best of their column, unless all of it are, or there are bounds
        of some.
        """
        smaller = np.array([measure.less_is_better for measure in self.measures])
        worth = np.where(smaller, -self.array, self.array)
        # What is best when 0 is a sum over the rows, so that rounding can leave that much of it.
        marked = most(worth, nothing=np.where(smaller, _SUMMED * rows, 0.0))
        bounded = {name for k in range(len(self.array)) for name in self.bounds_of_model(k)}
        marked &= np.array(
            [x.compared and x.name not in bounded for x in self.measures], dtype=bool
        )
        return marked


NO_VALUES = Values((), np.empty((0, 0)))


@dataclass(frozen=True)
class Differences:
    """The tests of all pairs of models by one measure, over all quotas or at one.

    Attributes
    ----------
    measure : str
        The name of the measure.  By what models bring, "brings", the tests over all quotas are of
        the best cuts.
    quota : Quota or None
        At which quota; None over all quotas.
    found : Comparison
        The differences, their intervals and p-values.
    notes : tuple of str
        Why the tests tell little.
    too_few : bool
        Whether no resamples of this number could tell models apart.
    """

    measure: str
    quota: Quota | None
    found: Comparison
    notes: tuple[str, ...]
    too_few: bool = False


@dataclass(frozen=True)
class GainResults:
    """What every model brings at its best cut and at each quota, in the user's unit.

    Attributes
    ----------
    nobody, everybody : float
        What selecting none and all brings.
    at_quota : dict from Quota to Values
        What the models bring at each quota.
    losses : bool
        Whether selecting some row brings less than nothing.
    at_best_cut : Values
        What they bring at their best cuts.
    cuts : list of BestBoundary
        All cuts of each model, and what they bring.
    expected_within : mapping from Quota to an array, shape (models,)
        What the best use of the quota's places, or of fewer, will bring on other rows, if there are
        intervals and the cuts were chosen here.
    tests : tuple of Differences
        The tests of the best cuts, and of each quota.
    """

    nobody: float
    everybody: float
    at_quota: dict[Quota, Values]
    losses: bool = False
    at_best_cut: Values = NO_VALUES
    cuts: list[BestBoundary] = field(default_factory=list)
    expected_within: Mapping[Quota, NDArray[np.float64]] = field(default_factory=dict)
    tests: tuple[Differences, ...] = ()

    @property
    def best_model(self) -> int:
        """The model whose best cut brings the most."""
        return self.at_best_cut.first_best


class Section(NamedTuple):
    """A table of values; `part` names it in `Results`, or is "gains"."""

    part: str
    quota: Quota | None
    values: Values


@dataclass(frozen=True)
class Results:
    """The data in numbers, and the measures of every model over all quotas and at each.

    `total_cost` is what all rows cost together, NaN without costs, and `effective_rows` how many
    rows of one weight tell as much as those with weights.  `rows_read` are those that were
    given, of which `rows` were chosen.
    """

    settings: Settings
    rows: int
    positives: int
    total: float
    positive_total: float
    total_cost: float
    effective_rows: float
    over_all: Values
    areas: Values
    at_quota: dict[Quota, Values]
    best: list[Segment]
    rankings: list[Ranking]
    rows_read: int = 0
    rows_missing: int = 0
    gains: GainResults | None = None
    differences: tuple[Differences, ...] = ()
    groups: GroupResults | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return self.settings.models

    def amount(self, value: float) -> str:
        """Write an amount in the user's currency."""
        return amount(value, self.settings.currency)

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.settings.weight is not None

    @property
    def prevalence(self) -> float:
        """The share of positives, by weight if there are weights; NaN without any."""
        return self.positive_total / self.total if self.total else float("nan")

    @property
    def sections(self) -> list[Section]:
        """Every table of values: over all quotas, at each, and of gains."""
        found = [Section("over_all", None, self.over_all), Section("areas", None, self.areas)]
        found += [Section("at_quota", *x) for x in self.at_quota.items()]
        if self.gains is not None:
            best_cut = self.gains.at_best_cut
            found += [Section("gains", None, best_cut)] if best_cut.measures else []
            found += [Section("gains", *x) for x in self.gains.at_quota.items()]
        return found

    @property
    def has_intervals(self) -> bool:
        """Whether a confidence was given."""
        resampling = self.settings.resampling
        return resampling is not None and resampling.level is not None

    def size(self, places: float) -> Size:
        """So many places, or so much weight, in words."""
        return Size(places, self.weighted)

    def places(self, quota: Quota) -> NDArray[np.float64]:
        """Return how many examples (or how much weight) each model selects, of all groups if the
        quota is one of each.
        """
        if quota.is_budget:
            return self.at_quota[quota].of("places")
        return np.full(len(self.models), self.places_at_random(quota))

    def places_at_random(self, quota: Quota) -> float:
        """Return how many a random choice selects; a budget is shared by all alike."""
        if self.groups is not None and self.settings.per is not None:
            return self.groups.at_random(quota)[0]
        if quota.is_budget:
            spent = quota.places(self.total_cost)
            return self.total * spent / self.total_cost if self.total_cost else self.total
        return quota.places(self.total)

    def found_at_random(self, quota: Quota) -> float:
        """Return how many positives a random choice for these places finds."""
        if self.groups is not None and self.settings.per is not None:
            return self.groups.at_random(quota)[1]
        return self.places_at_random(quota) * self.prevalence
