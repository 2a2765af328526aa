"""Every measure of every model: over all quotas, at each, in groups of rows, and in gains."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quotakernels import (
    Ranking,
    best_quota,
    group_counts,
    impact_at_quota,
    rank,
    summary,
)
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.intervals import Resampled, Tell, with_certainty, with_groups_drawn
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
from quotakernels.states._compute import Bounds, bounds_of

# what selecting brings: the best cut of every model, and each quota


_ROUNDING = 1e-12


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
        return values(BROUGHT, lambda k: _brought_at_quota(rankings[k], cuts[k], quota, counts))

    nobody, everybody, losses = _whole_gains(rankings[0].columns)
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
        nobody, everybody, _ = _whole_gains(rankings[0].columns)
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


def _brought_at_quota(
    ranking: Ranking, best: BestBoundary, quota: Quota, counts: Counts
) -> list[float]:
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
    settings: Settings, rankings: Sequence[Ranking], names: NDArray[Any]
) -> GroupResults:
    """Measure each model in each group, by its ranking of groups, and call these by their names."""
    _, rows, positives = group_counts(rankings[0])
    masses, found, costs = _masses_of_groups(rankings[0])
    whole = costs if settings.cost is not None else masses
    if settings.per is not None:
        settings.check_quotas(float(whole.max(initial=0)), settings.per)
    resampling = settings.resampling
    closed = resampling is not None and settings.weight is None  # intervals of single rows
    level = resampling.level if resampling is not None and closed else None
    values: dict[Quota | None, GroupValues] = {None: _groups_over_all(rankings, level)}
    apart: dict[Quota, Floats] = {}
    for quota in settings.quotas:
        if settings.per is not None:
            filled = [_places_of_groups(ranking, quota, masses) for ranking in rankings]
        else:
            argument = quota.argument(float(whole.sum()))
            shared = [selection_by_group(ranking, **argument) for ranking in rankings]
            filled = [np.asarray(x.selected) for x in shared]
            apart[quota] = np.asarray([[getattr(x, m.name) for m in APART] for x in shared])
        fixed = None if quota.is_budget else level  # the places of a budget are not fixed
        values[quota] = _groups_at_quota(rankings, filled, masses, fixed)
    return GroupResults(tuple(names.tolist()), rows, positives, masses, found, costs, values, apart)


def bounded_in_groups(
    settings: Settings, both: Sequence[tuple[Ranking, Ranking]], names: NDArray[Any]
) -> GroupResults:
    """Measure models in groups where only the worst and best order of some examples are known.

    What quotas select is certain; measures over all quotas have bounds.
    """
    found = group_results(settings, [worst for worst, _ in both], names)
    measures = tuple(x for x in OVER_ALL_IN_GROUPS if bounded_by_ties(x.function, {}))
    bounds = {
        x.name: np.stack([bounds_between(x.function, *two) for two in both], axis=1)
        for x in measures
    }
    lower = np.stack([bounds[x.name][0] for x in measures], axis=-1)
    over_all = GroupValues(measures, lower, bounds=bounds)
    return replace(found, values={**found.values, None: over_all})


def bounds_between(measure: Any, worst: Ranking, best: Ranking) -> Bounds:
    """Both bounds of a measure, which are equal where nothing is unknown."""
    if worst is best:
        return Bounds(measure(worst), measure(worst))
    return bounds_of(measure, {}, worst, best)


def _places_of_groups(ranking: Ranking, quota: Quota, masses: Floats) -> Floats:
    """How many places each group fills."""
    if not quota.is_budget:
        return quota.of_each(masses)
    paid: Floats = np.asarray(places(ranking, budget=quota.amount), dtype=np.float64)
    return np.where(masses > 0, paid, 0.0)


def _groups_over_all(rankings: Sequence[Ranking], level: float | None) -> GroupValues:
    values = np.stack(
        [np.stack([m.function(x) for m in OVER_ALL_IN_GROUPS], axis=-1) for x in rankings]
    )
    if level is None:
        return GroupValues(OVER_ALL_IN_GROUPS, values)
    return GroupValues(
        OVER_ALL_IN_GROUPS,
        values,
        {"roc_auc": _ends_of_groups([auc_interval(x, confidence_level=level) for x in rankings])},
    )


def _masses_of_groups(ranking: Ranking) -> tuple[Floats, Floats, Floats]:
    """The mass of each group, that of its positives, and what it costs; NaN without costs."""
    xp = namespace(ranking.counts)
    total = Totals(xp, table_of(xp, ranking, by_group=True))
    cost = total.cost if "cost" in ranking.columns else np.full(total.whole.shape, np.nan)
    whole, positive, cost = (np.asarray(x, np.float64) for x in (total.whole, total.positive, cost))
    return whole, positive, cost


def _groups_at_quota(
    rankings: Sequence[Ranking], filled: Sequence[Floats], masses: Floats, level: float | None
) -> GroupValues:
    """The measures of groups in which each model fills so many places, by its own order there."""
    measures, values = (*FILLED, *AT_QUOTA_IN_GROUPS), []
    paid = [BRINGS] if rankings and "gain" in rankings[0].columns else []
    for ranking, taken in zip(rankings, filled, strict=True):
        of_each = [x.function(ranking, quota=taken[:, None])[:, 0] for x in AT_QUOTA_IN_GROUPS]
        of_each += [impact_at_quota(ranking, quota=taken[:, None]).whole[:, 0] for _ in paid]
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
        ends = {"hit_rate": _ends_of_groups(rates)}
    return GroupValues((*measures, *paid), np.stack(values), ends)


def _ends_of_groups(found: Sequence[Any]) -> Floats:
    """Both ends of the intervals of each model and group."""
    return np.stack([[np.ravel(x.lower) for x in found], [np.ravel(x.upper) for x in found]])


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
        by_group = [rank(**sample.of(model) | brings, groups=codes) for model in settings.models]
        groups = group_results(settings, by_group, names)
    thresholds = None if tuning is None else _best_thresholds(settings, tuning)
    treated = {} if sample.treatment is None else {"treatment": sample.treatment}

    def ranked(model: str) -> Ranking:
        return rank(**sample.of(model) | brings | treated)

    evaluation = evaluate_rankings(settings, counts, ranked, on_step, thresholds)
    evaluation = evaluation if groups is None else with_groups(evaluation, groups)
    if settings.resampling is None:
        return evaluation
    quotas = {quota: quota.argument(counts.most) for quota in settings.quotas_over_all}
    codes = None if sample.groups is None else sample.groups.codes
    data = Resampled(settings, quotas, sample.of, on_step, tell, codes, treated)
    evaluation = with_certainty(evaluation, data, brings, thresholds)
    return evaluation if groups is None else with_groups_drawn(evaluation, data)


def values_at(
    quota: Quota, measures: tuple[Column, ...], counts: Counts, rankings: Sequence[Ranking]
) -> Values:
    """What each model has at a quota."""
    argument = quota.argument(counts.most)
    rows = [[x.value(ranking, **argument) for x in measures] for ranking in rankings]
    return Values(measures, np.asarray(rows))


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
    return [float(best_quota(None, scores, **brings).threshold) for scores in models]


def evaluate_rankings(
    settings: Settings,
    counts: Counts,
    ranked: Callable[[str], Ranking],
    on_step: OnStep,
    thresholds: list[float] | None = None,
) -> Evaluation:
    """Evaluate each model by its ranking, which `ranked` makes when its turn has come.

    If gains are counted in a unit, rankings have them; best cuts are at thresholds, if any.
    """
    rankings: list[Ranking] = []
    over_all: list[list[float]] = []
    areas: list[list[float]] = []
    for name in settings.models:
        on_step(f"evaluating {name}")
        ranking = ranked(name)
        rankings.append(ranking)
        found = summary(ranking)
        over_all.append([float(getattr(found, x.name)) for x in OVER_ALL])
        areas.append([x.value(ranking) for x in AREAS])
    treated, gains = settings.treatment is not None, None
    at_quota = {
        x: values_at(x, measures_at(x, treated), counts, rankings) for x in settings.quotas_over_all
    }
    if settings.unit is not None:
        gains = gain_results(rankings, settings.quotas_over_all, counts, thresholds)
    return Evaluation(
        settings,
        *counts,
        over_all=Values(OVER_ALL, np.asarray(over_all)),
        areas=Values(AREAS, np.asarray(areas)),
        at_quota=at_quota,
        best=best_by_quota(rankings),
        rankings=rankings,
        rows_read=counts.rows,
        gains=gains,
    )
