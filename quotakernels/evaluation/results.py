"""What an evaluation found: records of numbers, from which tables and sentences are made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotakernels.evaluation.gain_intervals import GainIntervals
from quotakernels.evaluation.intervals import Differences, Intervals, Limits
from quotakernels.evaluation.measures import Column
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.segments import Segment
from quotakernels.evaluation.settings import Settings
from quotakernels.measures.tables.boundary import BestBoundary
from quotakernels.ranking import Ranking

# Equal rankings whose weights are summed in another order may differ in the last bits.
_SAME, _ROUNDING = 1e-12, 1e-9


@dataclass(frozen=True)
class Values:
    """One value per model (row) and measure (column), NaN where undefined."""

    measures: tuple[Column, ...]
    array: NDArray[np.float64]

    def of(self, name: str) -> NDArray[np.float64]:
        """Return what each model has of a measure."""
        column: NDArray[np.float64] = self.array[:, [m.name for m in self.measures].index(name)]
        return column

    def of_model(self, model: int) -> dict[str, float]:
        """Return what a model has of each measure."""
        return {m.name: float(x) for m, x in zip(self.measures, self.array[model], strict=True)}

    @property
    def first_best(self) -> int:
        """The model that brings the most; of those that are equal but for rounding the first."""
        brings = self.of("brings")
        top = np.nanmax(brings)
        return int(np.argmax(brings >= top - _ROUNDING * np.abs(top)))

    def best(self, rows: int) -> NDArray[np.bool_]:
        """Tell which values are the best of their column, if it has two to compare."""
        smaller = np.array([measure.less_is_better for measure in self.measures])
        worth = np.where(smaller, -self.array, self.array)
        defined = ~np.isnan(worth)
        top = np.max(worth, axis=0, initial=-math.inf, where=defined)
        # What is best when 0 is a sum over the rows, so that rounding can leave that much of it.
        nothing = np.where(smaller, _SAME * rows, 0.0)
        marked: NDArray[np.bool_] = np.isclose(worth, top, rtol=_SAME, atol=nothing)
        marked &= defined.sum(axis=0) > 1
        marked &= np.array([measure.compared for measure in self.measures], dtype=bool)
        return marked


@dataclass(frozen=True)
class GainResults:
    """What every model brings at its best cut and at each quota, in the user's unit.

    `nobody` and `everybody` are what selecting none and all brings, and `losses` whether selecting
    some row brings less than nothing.  `cuts` are all cuts of each model, and what they bring.
    `tests` are of the best cuts, and of each quota.
    """

    nobody: float
    everybody: float
    losses: bool
    at_best_cut: Values
    at_quota: dict[Quota, Values]
    cuts: list[BestBoundary]
    ends: GainIntervals | None = None
    tests: tuple[Differences, ...] = ()

    @property
    def best_model(self) -> int:
        """The model whose best cut brings the most."""
        return self.at_best_cut.first_best


class Section(NamedTuple):
    """A table of values with their intervals; `part` names it in `Results`, or "gains"."""

    part: str
    quota: Quota | None
    values: Values
    limits: Limits | None


@dataclass(frozen=True)
class Results:
    """The data in numbers, and the measures of every model over all quotas and at each.

    `rows_read` are those that were given, of which `rows` were chosen.
    """

    settings: Settings
    rows: int
    positives: int
    total: float
    positive_total: float
    over_all: Values
    areas: Values
    at_quota: dict[Quota, Values]
    best: list[Segment]
    rankings: list[Ranking]
    rows_read: int = 0
    gains: GainResults | None = None
    intervals: Intervals | None = None
    differences: tuple[Differences, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return self.settings.models

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
        found, gains = self.intervals, self.gains
        over_all, areas = (None, None) if found is None else (found.over_all, found.areas)
        tables = [
            Section("over_all", None, self.over_all, over_all),
            Section("areas", None, self.areas, areas),
        ]
        for quota, values in self.at_quota.items():
            limits = None if found is None else found.at_quota[quota]
            tables.append(Section("at_quota", quota, values, limits))
        if gains is not None:
            ends = gains.ends
            best_cut = None if ends is None else ends.at_best_cut
            tables.append(Section("gains", None, gains.at_best_cut, best_cut))
            for quota, values in gains.at_quota.items():
                limits = None if ends is None else ends.at_quota[quota]
                tables.append(Section("gains", quota, values, limits))
        return tables

    def places(self, quota: Quota) -> float:
        """Return how many examples (or how much weight) a quota selects."""
        return quota.places(self.total)
