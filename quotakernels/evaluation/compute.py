"""Every measure of every model: over all quotas, at each, in groups of rows, and in gains."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.intervals import Resampled, Tell, with_certainty
from quotakernels.evaluation.results import (
    APART,
    AREAS,
    AT_BEST_CUT,
    AT_QUOTA_IN_GROUPS,
    BRINGS,
    BROUGHT,
    FILLED,
    OVER_ALL,
    OVER_ALL_IN_GROUPS,
    Column,
    Ends,
    Floats,
    GainResults,
    GroupResults,
    GroupValues,
    Results,
    Values,
    best_by_quota,
    measures_at,
    places,
    together_at,
)
from quotakernels.evaluation.settings import Counts, Quota, Sample, Settings, UnfitError, Unit
from quotakernels.groups import selection_by_group
from quotakernels.inference import auc_interval, hit_rate_interval
from quotakernels.inputs.totals import Totals
from quotakernels.measures._facts import bounded_by_ties
from quotakernels.ops import GAIN_SCALE, Columns, namespace
from quotakernels.ranking import table_of
from quotakernels.results import BestBoundary, Curve
from quotakernels.states._compute import bounds_of

# what selecting brings: the best cut of every model, and each quota


_ROUNDING = 1e-12


def gain_results(
    results: Results, rankings: Sequence[qk.Ranking], counts: Counts, thresholds: list[float] | None
) -> GainResults:
    """What each model brings at quotas, and at its best cut or at a threshold chosen elsewhere.

    Best cuts are known where whole rankings are, not only where quotas end.
    """
    nobody, everybody, losses = _whole_gains(rankings[0].columns)
    cuts = [qk.best_quota(x) for x in rankings] if results.rankings and counts.total else []

    def at_quota(quota: Quota) -> Values:
        argument, filled = quota.argument(counts.most), results.places(quota)
        brings = [float(qk.impact_at_quota(x, **argument).whole) for x in rankings]
        rows = [[x, _per_place(x - nobody, y)] for x, y in zip(brings, filled, strict=True)]
        if not cuts:
            return Values(BROUGHT[:2], np.asarray(rows))
        fewer = [_best_of_fewer(*x) for x in zip(cuts, filled, strict=True)]
        return Values(BROUGHT, np.hstack([rows, fewer]))

    def at_cut(curve: Curve, threshold: float) -> list[float]:
        cut = int(np.max(np.flatnonzero(curve.threshold >= threshold), initial=0))  # of NaN none
        everybody = curve.quota[cut] == curve.quota[-1]
        quota = counts.total if everybody else float(curve.quota[cut])
        brings = float(curve.value[cut])
        return [threshold, quota, quota / counts.total, brings, _per_place(brings - nobody, quota)]

    by_quota = {quota: at_quota(quota) for quota in results.settings.quotas_over_all}
    if not cuts:
        return GainResults(nobody, everybody, by_quota, losses)
    chosen = [float(x.threshold) for x in cuts] if thresholds is None else thresholds
    rows = [at_cut(x.curve, threshold) for x, threshold in zip(cuts, chosen, strict=True)]
    best_cut = Values(AT_BEST_CUT, np.asarray(rows))
    return GainResults(nobody, everybody, by_quota, losses, best_cut, cuts)


def _per_place(more: float, places: float) -> float:
    return more / places if places else math.nan


def _best_of_fewer(best: BestBoundary, places: float) -> list[float]:
    """The best of all cuts that select no more than so many, and what it brings."""
    curve = best.curve
    fewer = np.argmax(np.where(curve.quota <= places, curve.value, -np.inf))
    return [float(curve.quota[fewer]), float(curve.value[fewer])]


def _whole_gains(columns: Columns) -> tuple[float, float, bool]:
    """What selecting nobody and all brings, and whether some row brings less than nothing."""
    everybody, nobody, size = (
        math.fsum(x for sums in columns.get(name, ()) for x in sums)
        for name in ("gain", "gain_rejected", "gain_size")
    )
    amounts = size / GAIN_SCALE
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


# groups of rows: a quota of their own each, or their parts of one over all


def group_results(
    settings: Settings, both: Sequence[Orders], names: NDArray[Any], exact: bool = True
) -> GroupResults:
    """Measure each model in each group, by its ranking of groups, and call these by their names."""
    rankings = [worst for worst, _ in both]
    _, rows, positives = qk.group_counts(rankings[0])
    masses, found, costs = _masses_of_groups(rankings[0])
    whole = costs if settings.cost is not None else masses
    if settings.per is not None:
        settings.check_quotas(float(whole.max(initial=0)), settings.per)
    resampling = settings.resampling
    closed = resampling is not None and settings.weight is None  # intervals of single rows
    level = resampling.level if resampling is not None and closed else None
    over_all = GroupValues(*_measured(OVER_ALL_IN_GROUPS, both, exact))
    if level is not None and exact:
        areas = [auc_interval(x, confidence_level=level) for x in rankings]
        over_all = replace(over_all, ends={"roc_auc": Ends.of(areas)})
    values: dict[Quota | None, GroupValues] = {None: over_all}
    apart: dict[Quota, Values] = {}
    for quota in settings.quotas:
        if settings.per is not None:
            filled = [_places_of_groups(ranking, quota, masses) for ranking in rankings]
        else:
            argument = quota.argument(float(whole.sum()))
            shared = [selection_by_group(ranking, **argument) for ranking in rankings]
            filled = [np.asarray(x.selected) for x in shared]
            far = [[getattr(x, m.name) for m in APART] for x in shared]
            apart[quota] = Values(APART, np.asarray(far, dtype=np.float64))
        fixed = None if quota.is_budget else level  # the places of a budget are not fixed
        values[quota] = _groups_at_quota(rankings, filled, masses, fixed)
    return GroupResults(tuple(names.tolist()), rows, positives, masses, found, costs, values, apart)


def _places_of_groups(ranking: qk.Ranking, quota: Quota, masses: Floats) -> Floats:
    """How many places each group fills."""
    if not quota.is_budget:
        return quota.of_each(masses)
    paid: Floats = np.asarray(places(ranking, budget=quota.amount), dtype=np.float64)
    return np.where(masses > 0, paid, 0.0)


def _masses_of_groups(ranking: qk.Ranking) -> tuple[Floats, Floats, Floats]:
    """The mass of each group, that of its positives, and what it costs; NaN without costs."""
    xp = namespace(ranking.counts)
    total = Totals(xp, table_of(xp, ranking, by_group=True))
    cost = total.cost if "cost" in ranking.columns else np.full(total.whole.shape, np.nan)
    whole, positive, cost = (np.asarray(x, np.float64) for x in (total.whole, total.positive, cost))
    return whole, positive, cost


def _groups_at_quota(
    rankings: Sequence[qk.Ranking], filled: Sequence[Floats], masses: Floats, level: float | None
) -> GroupValues:
    """The measures of groups in which each model fills so many places, by its own order there."""
    measures, values = (*FILLED, *AT_QUOTA_IN_GROUPS), []
    paid = [BRINGS] if rankings and "gain" in rankings[0].columns else []
    for ranking, taken in zip(rankings, filled, strict=True):
        of_each = [x.function(ranking, quota=taken[:, None])[:, 0] for x in AT_QUOTA_IN_GROUPS]
        of_each += [qk.impact_at_quota(ranking, quota=taken[:, None]).whole[:, 0] for _ in paid]
        with np.errstate(invalid="ignore"):
            rate = of_each[[x.name for x in AT_QUOTA_IN_GROUPS].index("hit_rate")]
            found = np.where(taken == 0, taken, taken * rate)
            values.append(np.stack([taken, found, taken / masses, *of_each], axis=-1))
    ends = {}
    if level is not None:
        rates = [
            hit_rate_interval(ranking, quota=taken[:, None], confidence_level=level)
            for ranking, taken in zip(rankings, filled, strict=True)
        ]
        lower, upper, _ = Ends.of(rates)
        ends = {"hit_rate": Ends(lower[..., 0], upper[..., 0])}
    return GroupValues((*measures, *paid), np.stack(values), ends)


# what is known of rankings whose order is known in part


Orders = tuple[qk.Ranking, qk.Ranking]
"""The worst and the best order of what is not known; twice one ranking where all is known."""


def _measured(
    measures: Sequence[Column], both: Sequence[Orders], exact: bool = True, **cut: Any
) -> tuple[tuple[Column, ...], Floats, dict[str, Ends], bool]:
    """What each model has, as `Values` take it.

    Of what is not `exact`, only measures that never fall where the order gets better: the lower
    bounds as values, and both bounds.
    """
    known = tuple(x for x in measures if exact or bounded_by_ties(x.function, {}))

    def of(measure: Column, worst: qk.Ranking, best: qk.Ranking) -> Any:
        if worst is best:
            return (measure.function(worst, **cut),) * 2
        return bounds_of(measure.function, cut, worst, best)

    found = np.asarray([[of(x, *two) for x in known] for two in both], dtype=np.float64)
    lower, upper = np.moveaxis(found, (1, 2), (-1, 0))
    bounds = {x.name: Ends(lower[..., k], upper[..., k]) for k, x in enumerate(known)}
    return known, lower, {} if exact else bounds, not exact


# an evaluation


OnStep = Callable[[str], object]


def evaluate_sample(
    settings: Settings,
    sample: Sample,
    tuning: Sample | None = None,
    on_step: OnStep = lambda _: None,
    tell: Tell = lambda _done, _whole: None,
) -> Evaluation:
    """Evaluate the scores of each model; best cuts are chosen on the rows for tuning, if any.

    `on_step` hears about each model before its turn, and `tell` how much of a step is done.
    """
    counts = sample.counts
    if (resampling := settings.resampling) is not None:
        settings = replace(settings, resampling=resampling.for_rows(counts.rows))
    if settings.per is None:
        settings.check_quotas(counts.most)
    brings = {} if settings.unit is None else gains_of(settings.unit, sample)
    groups = None
    if sample.groups is not None:
        codes, names = sample.groups
        beside = {**sample.cost, **brings, "groups": codes}
        by_group = [qk.rank(**sample.of(model) | beside) for model in settings.models]
        groups = group_results(settings, [(x, x) for x in by_group], names)
    thresholds = None if tuning is None else _best_thresholds(settings, tuning)

    def ranked(model: str) -> Orders:
        on_step(f"evaluating {model}")
        return (qk.rank(**sample.of(model) | sample.cost | brings | sample.treated),) * 2

    evaluation = evaluate_rankings(settings, counts, ranked, thresholds)
    evaluation = evaluation if groups is None else with_groups(evaluation, groups)
    if settings.resampling is None:
        return evaluation
    quotas = {quota: quota.argument(counts.most) for quota in settings.quotas_over_all}
    data = Resampled(settings, sample, quotas, on_step, tell)
    return with_certainty(evaluation, data, brings, thresholds)


def with_groups(evaluation: Evaluation, groups: GroupResults) -> Evaluation:
    """The evaluation with what groups of rows have; quotas of theirs are filled together."""
    own = groups.values if evaluation.settings.per is not None else ()
    filled = {x: Values(together_at(x), groups.together(x)) for x in own if x is not None}
    return replace(evaluation, at_quota={**evaluation.at_quota, **filled}, groups=groups)


def _best_thresholds(settings: Settings, tuning: Sample) -> list[float]:
    """The threshold of every model's best cut; of none, where nobody should be selected, NaN."""
    assert settings.unit is not None
    brings = gains_of(settings.unit, tuning)
    models = (tuning.scores[name] for name in settings.models)
    return [float(qk.best_quota(None, scores, **brings).threshold) for scores in models]


def evaluate_rankings(
    settings: Settings,
    counts: Counts,
    ranked: Callable[[str], Orders],
    thresholds: list[float] | None = None,
    exact: bool = True,
) -> Evaluation:
    """Evaluate each model by its ranking, which `ranked` makes when its turn has come.

    If gains are counted in a unit, rankings have them; best cuts are at thresholds, if any.  Those
    that are not `exact` are so only where quotas end: of all else there are bounds, or nothing.
    """
    both = [ranked(name) for name in settings.models]
    rankings = [worst for worst, _ in both]
    if exact:
        found = [qk.summary(x) for x in rankings]
        rows = [[float(getattr(x, m.name)) for m in OVER_ALL] for x in found]
        over_all = Values(OVER_ALL, np.asarray(rows))
    else:
        over_all = Values(*_measured(OVER_ALL, both, exact))
    areas, at_quota = Values(*_measured(AREAS, both, exact)), {}
    for quota in settings.quotas_over_all:
        measures = measures_at(quota, settings.treatment is not None, exact)
        ends, cut = [(x, x) for x in rankings], quota.argument(counts.most)
        at_quota[quota] = Values(*_measured(measures, ends, **cut))
    evaluation = Evaluation(
        settings,
        *counts,
        over_all,
        areas,
        at_quota,
        best=best_by_quota(rankings) if exact else [],
        rankings=rankings if exact else [],
        rows_read=counts.rows,
    )
    if settings.unit is None:
        return evaluation
    return replace(evaluation, gains=gain_results(evaluation, rankings, counts, thresholds))
