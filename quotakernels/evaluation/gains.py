"""What selecting brings, in the user's own unit: the best cut of every model, and each quota."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotakernels._text import digits, money, number, percent
from quotakernels.evaluation.measures import Column
from quotakernels.evaluation.quota import QuotaArgument, UnfitError
from quotakernels.evaluation.settings import Sample, Unit
from quotakernels.measures.gains.impact_at_quota import best_quota, impact_at_quota
from quotakernels.measures.tables.boundary import BestBoundary

__all__ = ["AT_BEST_CUT", "BROUGHT", "Cut", "RowGains", "gains_of"]


BROUGHT = (
    Column("brings", "brings", form=money),
    Column("per_place", "per\nplace", form=digits, compared=False),
    Column("best_places"),
    Column("best_places_bring"),
)
AT_BEST_CUT = (
    Column("threshold", "score\nfrom", form=str, compared=False),
    Column("quota", "quota", form=number, compared=False),
    Column("fraction", "of all", form=percent, compared=False),
    *BROUGHT[:2],
)


class Cut(NamedTuple):
    """A cut, the weight that it selects, and what all rows bring then."""

    threshold: float
    quota: float
    total: float


@dataclass(frozen=True)
class RowGains:
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

    def every_cut(self, scores: NDArray[Any]) -> BestBoundary:
        """What every cut of a model brings, and the best of them."""
        return best_quota(
            None,
            scores,
            gain=self.selected,
            gain_rejected=self.rejected,
            sample_weight=self.weights,
        )

    def best(self, cuts: BestBoundary) -> Cut:
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

    def at_quota(
        self, scores: NDArray[Any], cuts: BestBoundary, quota: QuotaArgument
    ) -> list[float]:
        """The values BROUGHT by a quota, and by the best of all cuts that do not exceed it."""
        total = impact_at_quota(
            None,
            scores,
            gain=self.selected,
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


def gains_of(unit: Unit, sample: Sample) -> RowGains:
    """The gains that a unit stands for."""
    if unit.impacts is not None:
        tp, fp, fn, tn = unit.impacts
        selected, rejected = np.where(sample.labels, tp, fp), np.where(sample.labels, fn, tn)
    else:
        assert sample.gains is not None
        selected, rejected = sample.gains - unit.cost, np.zeros(len(sample.labels))
    with np.errstate(over="ignore"):
        mass = 1 if sample.weights is None else sample.weights
        size = np.sum((np.abs(selected) + np.abs(rejected)) * mass)
    if not np.isfinite(size):
        raise UnfitError("the sum of what the rows bring is too large for a number")
    return RowGains(selected, rejected, sample.weights)
