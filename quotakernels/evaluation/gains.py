"""What selecting brings, in the user's own unit: the best cut of every model, and each quota."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from quotakernels._text import digits, money, number, percent
from quotakernels.evaluation.measures import BRINGS, Column, places
from quotakernels.evaluation.quota import Quota, UnfitError
from quotakernels.evaluation.results import GainResults, Results, Values
from quotakernels.evaluation.settings import Counts, Sample
from quotakernels.evaluation.unit import Unit
from quotakernels.measures.at_quota.curves import Curve
from quotakernels.measures.gains.impact_at_quota import best_quota, impact_at_quota
from quotakernels.measures.tables.boundary import BestBoundary
from quotakernels.ops import GAIN_SCALE, Gains
from quotakernels.ranking import Ranking

_ROUNDING = 1e-12


BROUGHT = (
    BRINGS,
    Column("per_place", "per\nplace", form=money, compared=False),
    Column("best_places"),
    Column("best_places_bring"),
)
AT_BEST_CUT = (
    Column("threshold", "score\nfrom", form=str, end_form=digits, compared=False),
    Column("quota", "quota", form=number, end_form=number, compared=False),
    Column("fraction", "of all", form=percent, compared=False),
    *BROUGHT[:2],
)
EXPECTED = Column("expected", "brings on\nother rows", form=money, end_form=money)
"""Of best cuts, where resamples tell it."""


def gain_results(
    rankings: Sequence[Ranking],
    quotas: Sequence[Quota],
    counts: Counts,
    thresholds: list[float] | None,
) -> GainResults:
    """What each model brings at its best cut, or at a threshold chosen elsewhere, and at quotas."""
    total = counts.total
    cuts = [best_quota(ranking) for ranking in rankings] if total else []

    def values(measures: tuple[Column, ...], row: Callable[[int], list[float]]) -> Values:
        undefined = [math.nan] * len(measures)
        rows = [row(model) if cuts else undefined for model in range(len(rankings))]
        return Values(measures, np.asarray(rows))

    def at_best_cut(model: int) -> list[float]:
        own = float(cuts[model].threshold)
        return _at_cut(cuts[model].curve, own if thresholds is None else thresholds[model], total)

    def at_quota(quota: Quota) -> Values:
        return values(BROUGHT, lambda k: _at_quota(rankings[k], cuts[k], quota, counts))

    nobody, everybody, losses = _whole_gains(rankings[0].gains)
    by_quota = {quota: at_quota(quota) for quota in quotas}
    best = values(AT_BEST_CUT, at_best_cut)
    return GainResults(nobody, everybody, by_quota, losses, best, cuts)


def gains_at_quotas(
    results: Results, rankings: Sequence[Ranking], counts: Counts, unit: Unit
) -> GainResults:
    """What each quota brings, of rankings that need be exact only where quotas end.

    So the best cuts are not known.  What impacts bring follows from the positives found.
    """
    impacts = unit.tuned(counts.total, counts.positive_total)
    positives, negatives = counts.positive_total, counts.total - counts.positive_total
    if impacts is None:
        nobody, everybody, _ = _whole_gains(rankings[0].gains)
    else:
        tp, fp, fn, tn = impacts
        nobody, everybody = fn * positives + tn * negatives, tp * positives + fp * negatives

    def at_quota(quota: Quota) -> Values:
        filled = results.places(quota)
        if impacts is None:
            argument = quota.argument(counts.most)
            total = np.asarray([float(impact_at_quota(x, **argument).whole) for x in rankings])
        else:
            rate = results.at_quota[quota].of("hit_rate")
            found = np.where(filled > 0, rate * filled, 0.0)
            total = nobody + (tp - fn) * found + (fp - tn) * (filled - found)
        with np.errstate(invalid="ignore", divide="ignore"):
            per_place = np.where(filled > 0, (total - nobody) / filled, math.nan)
        return Values(BROUGHT[:2], np.stack([total, per_place], axis=-1))

    by_quota = {quota: at_quota(quota) for quota in results.settings.quotas_over_all}
    return GainResults(nobody, everybody, by_quota)


def _at_cut(curve: Curve, threshold: float, whole: float) -> list[float]:
    """The values AT_BEST_CUT of a threshold; where it selects all, that is the whole weight."""
    cut = int(np.max(np.flatnonzero(curve.threshold >= threshold), initial=0))  # of NaN none
    everybody = curve.quota[cut] == curve.quota[-1]
    quota, total = whole if everybody else float(curve.quota[cut]), float(curve.value[cut])
    return [threshold, quota, quota / whole, total, _per_place(curve, total, quota)]


def _at_quota(ranking: Ranking, best: BestBoundary, quota: Quota, counts: Counts) -> list[float]:
    """The values BROUGHT by a quota, and by the best of all cuts that do not exceed it."""
    curve, argument = best.curve, quota.argument(counts.most)
    filled = quota.places(counts.total)
    if quota.is_budget:
        filled = float(places(ranking, **argument))
    total = float(impact_at_quota(ranking, **argument).whole)
    fewer = np.argmax(np.where(curve.quota <= filled, curve.value, -np.inf))
    best_of_fewer = [float(curve.quota[fewer]), float(curve.value[fewer])]
    return [total, _per_place(curve, total, filled), *best_of_fewer]


def _per_place(curve: Curve, total: float, places: float) -> float:
    return (total - float(curve.value[0])) / places if places else math.nan


def _whole_gains(gains: Gains) -> tuple[float, float, bool]:
    """What selecting nobody and all brings, and whether some row brings less than nothing."""
    everybody = math.fsum([*gains.positive, *gains.negative])
    nobody = math.fsum([*gains.positive_rejected, *gains.negative_rejected])
    amounts = math.fsum(gains.size) / GAIN_SCALE
    return nobody, everybody, amounts > everybody + _ROUNDING * abs(everybody)


def gains_of(unit: Unit, sample: Sample) -> dict[str, Any]:
    """The gains that a unit stands for, and the weights, by the names that `rank` gives them."""
    selected, rejected = sample.gains, np.zeros(1)
    if impacts := unit.tuned(sample.counts.total, sample.counts.positive_total):
        tp, fp, fn, tn = impacts
        selected, rejected = np.where(sample.labels, tp, fp), np.where(sample.labels, fn, tn)
    else:
        assert selected is not None
        selected = selected - unit.place_cost
    with np.errstate(over="ignore"):
        mass = 1 if sample.weights is None else sample.weights
        size = np.sum((np.abs(selected) + np.abs(rejected)) * mass)
    if not np.isfinite(size):
        raise UnfitError("the sum of what the rows bring is too large for a number")
    beside = {"gain_rejected": rejected if rejected.any() else 0, "sample_weight": sample.weights}
    return {"gain": selected, **beside}
