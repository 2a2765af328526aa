"""How sure it is what selecting brings: the rows are drawn again and again, in the user's unit."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quotakernels._text import digits, money, number
from quotakernels.evaluation.gains import best_within, places_of, reaching
from quotakernels.evaluation.intervals import Limits, Resampled
from quotakernels.evaluation.measures import Column
from quotakernels.evaluation.quota import Quota, QuotaArgument
from quotakernels.evaluation.settings import Resampling
from quotakernels.inference.comparison.paired import PairTest, of_resamples
from quotakernels.inference.proportions.hit_rate import hit_rate_interval
from quotakernels.inference.resampling.bootstrap import BootstrapResult, bootstrap, summary
from quotakernels.inputs.models import stacked
from quotakernels.measures.at_quota.curves import Curve
from quotakernels.measures.gains.impact_at_quota import best_quota
from quotakernels.ranking import Ranking, rank

Floats = NDArray[np.float64]
_CHOSEN = (
    Column("threshold", "score\nfrom", end_form=digits),
    Column("quota", "quota", end_form=number),
    Column("expected", "brings on\nother rows", end_form=money),
)
TOTAL_AT_QUOTA = (Column("brings", "brings", end_form=money),)
_ROUNDING = 1e-12
_SIDES = np.asarray([-1.0, 1.0])


@dataclass(frozen=True)
class GainIntervals:
    """Intervals of the best cuts and of what they and the quotas bring.

    `expected` is what each model's best cut will bring on other rows, and `expected_within` that
    of each quota's best use of its places or of fewer; None if they were not chosen on these rows.
    `drawn` has what each quota brings by the models (columns) on the resamples (rows), which are
    the same for all models, and under None what the best cuts do.
    """

    at_best_cut: Limits
    at_quota: dict[Quota, Limits]
    expected: Floats | None
    expected_within: dict[Quota, Floats] | None
    drawn: dict[Quota | None, Floats]

    def difference(self, quota: Quota | None, model: int, other: int, level: float) -> PairTest:
        """The interval of how much more a model brings than another, and how sure that is."""
        one, two = self.drawn[quota][:, [model, other]].T
        rounding = _ROUNDING * max(
            np.abs(x).max(initial=0.0, where=~np.isnan(x)) for x in (one, two)
        )
        return of_resamples(0.0, one - two, level, rounding)


class _Cuts(NamedTuple):
    """What the best of all cuts brings and where it is, what quotas and the best cuts within them
    bring, and what cuts that were chosen elsewhere do.
    """

    value: Floats
    threshold: Floats
    quota: Floats
    at_quota: Floats
    within: Floats
    within_threshold: Floats
    chosen_before: Floats


def _cuts(ranking: Ranking, quotas: list[QuotaArgument], thresholds: list[float] | None) -> _Cuts:
    """What some cuts of rankings with gains bring, of a batch one after the other."""
    if ranking.counts.ndim > 1:
        rows = (ranking.map(operator.itemgetter(row)) for row in range(len(ranking.counts)))
        found = [_cuts(row, quotas, thresholds) for row in rows]
        return _Cuts(*(np.stack(x) for x in zip(*found, strict=True)))
    best = best_quota(ranking)
    curve = best.curve
    at_quota, *within = np.asarray([_at_quota(curve, x) for x in quotas]).reshape(-1, 3).T
    before = [curve.value[reaching(curve, x)] for x in thresholds or []]
    chosen = (best.value, best.threshold, best.quota)
    return _Cuts._make((*chosen, at_quota, *within, np.asarray(before)))


def _at_quota(curve: Curve, argument: QuotaArgument) -> tuple[float, float, float]:
    """What a quota brings, part of a tie group in proportion; what the best cut that does not
    exceed it brings, and where that is.  NaN of more places than there are.
    """
    places = places_of(argument, curve)
    if places > curve.quota[-1] * (1 + _ROUNDING):
        return np.nan, np.nan, np.nan
    best = best_within(curve, places)
    brings = np.interp(places, curve.quota, curve.value)
    return float(brings), float(curve.value[best]), float(curve.threshold[best])


def gain_intervals(
    data: Resampled, resampling: Resampling, brings: dict[str, Any], thresholds: list[float] | None
) -> GainIntervals:
    """The intervals of all models; of cuts that were chosen elsewhere, if thresholds are given."""
    scores = stacked({name: data.examples(name)["y_score"] for name in data.scores}, None, **brings)
    data.on_step("resampling what they bring")
    cuts = bootstrap(
        partial(_cuts, quotas=list(data.quotas.values()), thresholds=thresholds),
        None,
        scores,
        **brings,
        n_resamples=resampling.resamples,
        confidence_level=resampling.tested_level,
        random_state=resampling.seed,
        progress=data.tell,
    )
    level = resampling.tested_level
    drawn: dict[Quota | None, Floats] = {
        quota: cuts.at_quota.resamples[:, k].T for k, quota in enumerate(data.quotas)
    }
    at_quota = {q: _ends(TOTAL_AT_QUOTA, level, drawn[q][None]) for q in data.quotas}
    if thresholds is not None:
        models = np.arange(len(thresholds))  # each with the cut that was chosen for it
        drawn[None] = cuts.chosen_before.resamples[models, models].T
        best = _ends(TOTAL_AT_QUOTA, level, drawn[None][None])
        return GainIntervals(best, at_quota, None, None, drawn)
    drawn[None] = cuts.value.resamples.T
    whole = [best_quota(None, x, **brings).curve for x in scores]
    expected = _expected(whole, brings, None, cuts.value, cuts.threshold)
    best = _ends(_CHOSEN, level, np.stack([_drawn(cuts.threshold), _drawn(cuts.quota), expected]))
    within = _expected_within(data, whole, brings, cuts)
    # chance in the resamples is no reason to expect more than there was
    most = np.minimum(expected.mean(axis=0), cuts.value.estimate)
    return GainIntervals(best, at_quota, most, within, drawn)


def _expected_within(
    data: Resampled, whole: list[Curve], brings: dict[str, Any], cuts: Any
) -> dict[Quota, Floats]:
    """What to expect of each model's best cut that does not exceed each quota."""
    within = {}
    for k, (quota, argument) in enumerate(data.quotas.items()):
        one = (BootstrapResult(*(x[:, k] for x in y)) for y in (cuts.within, cuts.within_threshold))
        within[quota] = _mean(_expected(whole, brings, argument, *one))
    return within


def _drawn(found: BootstrapResult) -> Floats:
    """The resamples (rows) of each model (columns)."""
    return np.asarray(found.resamples, dtype=np.float64).T


def _expected(
    curves: list[Curve],
    brings: dict[str, Any],
    argument: QuotaArgument | None,
    value: BootstrapResult,
    threshold: BootstrapResult,
) -> Floats:
    """What to expect of each model's best cut of all rows, by each resample: shape (R, M).

    That is less than it brings by as much as the resample's best brings more on the resample than
    on all rows.  To select nobody, or all, may bring the same on any rows.
    """
    found = np.empty(_drawn(value).shape)
    for model, curve in enumerate(curves):
        fits = curve.value
        if argument is not None:
            fits = fits[curve.quota <= places_of(argument, curve)]
        rounding = _ROUNDING * np.abs(curve.value).max()
        first = int(np.argmax(fits >= fits.max() - rounding))
        sides = {0: brings.get("gain_rejected", 0), curve.value.size - 1: brings["gain"]}
        falling, chosen = -curve.threshold[1:], -threshold.resamples[model]
        taken = np.searchsorted(falling, np.nan_to_num(chosen, nan=-np.inf), side="right")
        more = value.resamples[model] - curve.value[taken]
        alike = first in sides and np.ptp(sides[first]) == 0
        found[:, model] = fits.max() - (0.0 if alike else more)
    return found


def _mean(values: Floats) -> Floats:
    """The means of columns, of what is defined in them."""
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(there, values, 0.0).sum(axis=0) / there.sum(axis=0))


def _ends(measures: tuple[Column, ...], level: float, values: Floats) -> Limits:
    """Percentiles of values of shape (measures, resamples, models), of those that are defined."""
    by_model = np.moveaxis(values, -1, 0)
    found = summary("percentile", level, [np.zeros(by_model.shape[:2]), by_model, by_model])
    return Limits(measures, found.lower, found.upper, found.undefined)


def impact_intervals(
    data: Resampled, resampling: Resampling, impacts: tuple[float, ...]
) -> dict[Quota, Limits]:
    """The interval of what each quota brings, from Wilson's of two hit rates.

    What is brought is a sum over the positives among the selected, and those among the others.
    Either has an interval that has a width even where all are positive, as resamples have not. The
    distances of the ends add up as those of independent estimates do, by their squares.
    """
    level, ends = resampling.tested_level, {}
    for quota in data.quotas:
        both = np.empty((2, len(data.scores), 1))
        for row, name in enumerate(data.scores):
            examples = data.examples(name)
            labels, scores = examples["y_true"], examples["y_score"]
            total = float(labels.size)
            places = quota.places(total)
            falling = -np.unique(scores, return_inverse=True)[1].astype(np.float64)
            found = _positives(labels, -falling, places, level)
            left = _positives(labels, falling, total - places, level)
            both[:, row, 0] = _total_ends(impacts, found, left, places, total)
        none = np.zeros((len(data.scores), 1), dtype=np.int64)
        ends[quota] = Limits(TOTAL_AT_QUOTA, both[0], both[1], none)
    return ends


def _positives(labels: NDArray[np.bool_], scores: Floats, places: float, level: float) -> Floats:
    """How many positives so many places find, and both ends."""
    if not places > 0:
        return np.zeros(3)
    ranking = rank(labels, scores)
    found = hit_rate_interval(ranking, quota=places, confidence_level=level)
    return places * np.asarray([found.estimate, found.lower, found.upper], dtype=np.float64)


def _total_ends(
    impacts: tuple[float, ...], found: Floats, left: Floats, places: float, total: float
) -> Floats:
    """Both ends of what positives that are found and left bring."""
    tp, fp, fn, tn = impacts
    estimate = fp * places + tn * (total - places) + (tp - fp) * found[0] + (fn - tn) * left[0]
    far = np.zeros(2)
    for worth, positives in ((tp - fp, found), (fn - tn, left)):
        ways = np.sort(worth * (positives[1:] - positives[0]))
        far += ways**2
    return np.asarray(estimate + _SIDES * np.sqrt(far))
