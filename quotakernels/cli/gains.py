"""What selecting brings, in the user's own unit: the best cut of every model, and each quota."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels._text import digits, money, number, percent, plain
from quotakernels.cli.columns import number_column
from quotakernels.cli.errors import InputError
from quotakernels.cli.measures import Measure
from quotakernels.cli.quota import QuotaArgument

__all__ = ["AT_BEST_CUT", "BROUGHT", "Cut", "Gains", "Unit", "gains_of"]


BROUGHT = (
    Measure("brings", "brings", form=money),
    Measure("per_place", "per\nplace", form=digits, compared=False),
    Measure("best_places"),
    Measure("best_places_bring"),
)
AT_BEST_CUT = (
    Measure("threshold", "score\nfrom", form=str, compared=False),
    Measure("quota", "quota", form=number, compared=False),
    Measure("fraction", "of all", form=percent, compared=False),
    *BROUGHT[:2],
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


class Cut(NamedTuple):
    """A cut, the weight that it selects, and what all rows bring then."""

    threshold: float
    quota: float
    total: float


@dataclass(frozen=True)
class Gains:
    """What each row brings if it is selected, and if it is not."""

    selected: NDArray[np.float64]
    rejected: NDArray[np.float64]
    weights: NDArray[np.float64] | None

    @property
    def nobody(self) -> float:
        """The total without any selected row."""
        return self._sum(self.rejected)

    @property
    def everybody(self) -> float:
        """The total with all rows selected."""
        return self._sum(self.selected)

    @property
    def whole(self) -> float:
        """The number of rows, or their weight."""
        return self._sum(np.ones(len(self.selected)))

    def _sum(self, amounts: NDArray[np.float64]) -> float:
        return math.fsum(amounts if self.weights is None else amounts * self.weights)

    def every_cut(self, scores: NDArray[Any]) -> qk.BestBoundary:
        """What every cut of a model brings, and the best of them."""
        return qk.best_quota(
            scores, self.selected, gain_rejected=self.rejected, sample_weight=self.weights
        )

    def best(self, cuts: qk.BestBoundary) -> Cut:
        """The best cut of a model; one that selects all has the whole weight exactly."""
        everybody = cuts.quota == cuts.curve.quota[-1]
        quota = self.whole if everybody else float(cuts.quota)
        return Cut(float(cuts.threshold), quota, float(cuts.value))

    def from_threshold(self, scores: NDArray[Any], threshold: float) -> Cut:
        """The cut that selects the scores from a threshold on, none from NaN."""
        chosen = scores >= threshold
        total = self._sum(np.where(chosen, self.selected, self.rejected))
        return Cut(threshold, self._sum(chosen.astype(np.float64)), total)

    def at_best_cut(self, cut: Cut) -> list[float]:
        """The values AT_BEST_CUT."""
        values = [cut.threshold, cut.quota, cut.quota / self.whole, cut.total]
        return [*values, self._per_place(cut.total, cut.quota)]

    def brought(
        self, scores: NDArray[Any], cuts: qk.BestBoundary, quota: QuotaArgument
    ) -> list[float]:
        """The values BROUGHT by a quota, and by the best of all cuts that do not exceed it."""
        total = qk.impact_at_quota(
            scores,
            self.selected,
            gain_rejected=self.rejected,
            sample_weight=self.weights,
            **quota,
        ).whole
        places = quota["quota"] if "quota" in quota else quota["fraction"] * self.whole
        within = np.where(cuts.curve.quota <= places, cuts.curve.value, -np.inf)
        best = int(np.argmax(within))
        fewer = [float(cuts.curve.quota[best]), float(within[best])]
        return [float(total), self._per_place(float(total), places), *fewer]

    def _per_place(self, total: float, places: float) -> float:
        return (total - self.nobody) / places if places else math.nan


def gains_of(
    unit: Unit, table: pa.Table, labels: NDArray[np.bool_], weights: NDArray[np.float64] | None
) -> Gains:
    """The gains that a unit stands for."""
    if unit.impacts is not None:
        tp, fp, fn, tn = unit.impacts
        selected, rejected = np.where(labels, tp, fp), np.where(labels, fn, tn)
    else:
        assert unit.column is not None
        selected = number_column(table, unit.column) - unit.cost
        rejected = np.zeros(len(labels))
    with np.errstate(over="ignore"):
        size = np.sum((np.abs(selected) + np.abs(rejected)) * (1 if weights is None else weights))
    if not np.isfinite(size):
        raise InputError("the sum of what the rows bring is too large for a number")
    return Gains(selected, rejected, weights)
