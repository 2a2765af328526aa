"""What selecting brings, in the user's own unit: row by row, or by the cells of a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels.cli.columns import number_column
from quotakernels.cli.measures import Measure
from quotakernels.cli.quota import QuotaArgument, plain

__all__ = [
    "AT_BEST_CUT",
    "BROUGHT",
    "Gains",
    "Scored",
    "Unit",
    "at_best_cut",
    "brought",
    "gains_of",
]

_MONEY = "z,.2f"
BROUGHT = (
    Measure("brings", "brings", form=_MONEY),
    Measure("per_place", "per\nplace", form="z,.4g", compared=False),
)
AT_BEST_CUT = (
    Measure("threshold", "score\nfrom", form=".6g", compared=False),
    Measure("quota", "quota", form=",.10g", compared=False),
    Measure("fraction", "of all", form=".1%", compared=False),
    *BROUGHT,
)


@dataclass(frozen=True)
class Unit:
    """Where the gains come from, as it was asked for: a column and a cost, or four impacts."""

    column: str | None = None
    cost: float = 0.0
    impacts: tuple[float, ...] | None = None

    def __str__(self) -> str:
        if self.impacts is not None:
            named = zip(qk.ConfusionTable._fields, self.impacts, strict=True)
            return ", ".join(f"{cell} {plain(impact)}" for cell, impact in named)
        cost = f" - {plain(self.cost)} for each place" if self.cost else ""
        return f"{self.column}{cost}"


class Scored(NamedTuple):
    """The scores of a model, and their ranking with the labels."""

    scores: NDArray[Any]
    ranking: qk.Ranking


class Gains(Protocol):
    """What the rows bring, whichever of them are selected."""

    @property
    def nobody(self) -> float:
        """The total without any selected row."""

    @property
    def everybody(self) -> float:
        """The total with all rows selected."""

    def best(self, model: Scored) -> qk.BestBoundary:
        """The best cut of a model, by the total that it brings."""

    def total(self, model: Scored, quota: QuotaArgument) -> float:
        """What all rows bring when the best of a model fill the quota."""


@dataclass(frozen=True)
class RowGains:
    """What each row brings if it is selected."""

    gain: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    nobody: float = 0.0

    @property
    def everybody(self) -> float:
        """The total with all rows selected."""
        return math.fsum(self.gain if self.weights is None else self.gain * self.weights)

    def best(self, model: Scored) -> qk.BestBoundary:
        """The best cut of a model, by the total that it brings."""
        return qk.best_quota(model.scores, self.gain, sample_weight=self.weights)

    def total(self, model: Scored, quota: QuotaArgument) -> float:
        """What all rows bring when the best of a model fill the quota."""
        found = qk.impact_at_quota(model.scores, self.gain, sample_weight=self.weights, **quota)
        return float(found.whole)


@dataclass(frozen=True)
class CellGains:
    """What one row of each cell of the confusion table brings."""

    impacts: tuple[float, ...]
    positives: float
    negatives: float

    @property
    def nobody(self) -> float:
        """The total without any selected row."""
        return self.impacts[2] * self.positives + self.impacts[3] * self.negatives

    @property
    def everybody(self) -> float:
        """The total with all rows selected."""
        return self.impacts[0] * self.positives + self.impacts[1] * self.negatives

    def best(self, model: Scored) -> qk.BestBoundary:
        """The best cut of a model, by the total that it brings."""
        best = qk.best_boundary(model.ranking, impacts=self.impacts)
        total: QuotaArgument = {"quota": float(best.quota)}
        return best._replace(value=np.float64(self.total(model, total)))

    def total(self, model: Scored, quota: QuotaArgument) -> float:
        """What all rows bring when the best of a model fill the quota."""
        return float(qk.total_impact(model.ranking, impacts=self.impacts, **quota).whole)


def gains_of(
    unit: Unit, table: pa.Table, labels: NDArray[np.bool_], weights: NDArray[np.float64] | None
) -> Gains:
    """The gains that a unit stands for."""
    if unit.impacts is not None:
        masses = np.ones(len(labels)) if weights is None else weights
        return CellGains(unit.impacts, math.fsum(masses[labels]), math.fsum(masses[~labels]))
    assert unit.column is not None
    return RowGains(number_column(table, unit.column) - unit.cost, weights)


def brought(gains: Gains, total: float, places: float) -> list[float]:
    """The values BROUGHT by a number of places."""
    return [total, (total - gains.nobody) / places if places else math.nan]


def at_best_cut(gains: Gains, best: qk.BestBoundary, rows: float) -> list[float]:
    """The values AT_BEST_CUT."""
    quota = float(best.quota)
    cut = [float(best.threshold), quota, quota / rows if rows else math.nan]
    return [*cut, *brought(gains, float(best.value), quota)]
