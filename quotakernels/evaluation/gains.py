"""What selecting brings, in the user's own unit: the best cut of every model, and each quota."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quotakernels._text import digits, money, number, percent
from quotakernels.evaluation.measures import Column
from quotakernels.evaluation.quota import QuotaArgument, UnfitError
from quotakernels.evaluation.settings import Sample, Unit
from quotakernels.measures.at_quota.curves import Curve
from quotakernels.measures.gains.impact_at_quota import impact_at_quota
from quotakernels.measures.tables.boundary import BestBoundary
from quotakernels.ops import GAIN_SCALE, Gains
from quotakernels.ranking import Ranking

_ROUNDING = 1e-12


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


def at_cut(best: BestBoundary, threshold: float, whole: float) -> list[float]:
    """The values AT_BEST_CUT of a threshold; where it selects all, that is the whole weight."""
    curve, cut = best.curve, reaching(best.curve, threshold)
    everybody = curve.quota[cut] == curve.quota[-1]
    quota, total = whole if everybody else float(curve.quota[cut]), float(curve.value[cut])
    return [threshold, quota, quota / whole, total, _per_place(curve, total, quota)]


def at_quota(ranking: Ranking, best: BestBoundary, quota: QuotaArgument) -> list[float]:
    """The values BROUGHT by a quota, and by the best of all cuts that do not exceed it."""
    curve, total = best.curve, float(impact_at_quota(ranking, **quota).whole)
    places = places_of(quota, curve)
    fewer = best_within(curve, places)
    brings = float(curve.value[fewer])
    return [total, _per_place(curve, total, places), float(curve.quota[fewer]), brings]


def _per_place(curve: Curve, total: float, places: float) -> float:
    return (total - float(curve.value[0])) / places if places else math.nan


def reaching(curve: Curve, threshold: float) -> int:
    """The cut that selects the scores from a threshold on, none from NaN."""
    return int(np.max(np.flatnonzero(curve.threshold >= threshold), initial=0))


def best_within(curve: Curve, places: float) -> int:
    """The cut that brings the most of those that select no more than so many places."""
    return int(np.argmax(np.where(curve.quota <= places, curve.value, -np.inf)))


def places_of(quota: QuotaArgument, curve: Curve) -> float:
    """How much a quota selects of the rows that have these cuts."""
    if "quota" in quota:
        return float(quota["quota"])
    return float(quota["fraction"] * curve.quota[-1])


def whole_gains(gains: Gains) -> tuple[float, float, bool]:
    """What selecting nobody and all brings, and whether some row brings less than nothing."""
    everybody = math.fsum([*gains.positive, *gains.negative])
    nobody = math.fsum([*gains.positive_rejected, *gains.negative_rejected])
    amounts = math.fsum(gains.size) / GAIN_SCALE
    return nobody, everybody, amounts > everybody + _ROUNDING * abs(everybody)


def gains_of(unit: Unit, sample: Sample) -> dict[str, Any]:
    """The gains that a unit stands for, and the weights, by the names that `rank` gives them."""
    selected, rejected = sample.gains, np.zeros(1)
    if unit.impacts is not None:
        tp, fp, fn, tn = unit.impacts
        selected, rejected = np.where(sample.labels, tp, fp), np.where(sample.labels, fn, tn)
    else:
        assert selected is not None
        selected = selected - unit.cost
    with np.errstate(over="ignore"):
        mass = 1 if sample.weights is None else sample.weights
        size = np.sum((np.abs(selected) + np.abs(rejected)) * mass)
    if not np.isfinite(size):
        raise UnfitError("the sum of what the rows bring is too large for a number")
    beside = {"gain_rejected": rejected if rejected.any() else 0, "sample_weight": sample.weights}
    return {"gain": selected, **beside}
