"""Every measure of every model, of one list of examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.gain_intervals import (
    GainIntervals,
    gain_intervals,
    impact_intervals,
)
from quotakernels.evaluation.gains import (
    AT_BEST_CUT,
    BROUGHT,
    at_cut,
    at_quota,
    gains_of,
    whole_gains,
)
from quotakernels.evaluation.intervals import (
    Differences,
    Resampled,
    Tell,
    differences_of,
    intervals_of,
)
from quotakernels.evaluation.measures import AREAS, AT_QUOTA, OVER_ALL, Column
from quotakernels.evaluation.results import GainResults, Values
from quotakernels.evaluation.segments import best_by_quota
from quotakernels.evaluation.settings import Counts, Resampling, Sample, Settings
from quotakernels.inference.comparison.compare import comparison_of
from quotakernels.measures.gains.impact_at_quota import best_quota
from quotakernels.measures.over_quotas.summary import summary
from quotakernels.ranking import Ranking, rank

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
    settings.check_quotas(counts)
    thresholds = None if tuning is None else _best_thresholds(settings, tuning)
    brings = {} if settings.unit is None else gains_of(settings.unit, sample)

    def ranked(model: str) -> Ranking:
        return rank(**sample.of(model) | brings)

    evaluation = evaluate_rankings(settings, counts, ranked, on_step, thresholds)
    resampling = settings.resampling
    if resampling is None:
        return evaluation
    quotas = {quota: quota.argument(evaluation.total) for quota in settings.quotas}
    data = Resampled(settings.models, quotas, sample.of, on_step, tell)
    gains = evaluation.gains
    if resampling.level is not None:
        evaluation = replace(evaluation, intervals=intervals_of(data, resampling))
    if gains is not None and evaluation.total:
        ends = _gain_intervals(evaluation, data, resampling, brings, thresholds)
        gains = replace(gains, tests=tuple(_gain_differences(gains, ends, settings)))
        gains = gains if resampling.level is None else replace(gains, ends=ends)
        evaluation = replace(evaluation, gains=gains)
    if not resampling.compare:
        return evaluation
    tests = (_named(settings, test) for test in differences_of(data, resampling))
    return replace(evaluation, differences=(*tests, *(() if gains is None else gains.tests)))


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
    models = len(settings.models)
    evaluation = Evaluation(
        settings,
        *counts,
        over_all=_no_values(OVER_ALL, models),
        areas=_no_values(AREAS, models),
        at_quota={quota: _no_values(AT_QUOTA, models) for quota in settings.quotas},
        best=[],
        rankings=[],
        rows_read=counts.rows,
    )
    for row, name in enumerate(settings.models):
        on_step(f"evaluating {name}")
        ranking = ranked(name)
        evaluation.rankings.append(ranking)
        found = summary(ranking)
        evaluation.over_all.array[row] = [float(getattr(found, x.name)) for x in OVER_ALL]
        evaluation.areas.array[row] = [x.value(ranking) for x in AREAS]
        for quota, values in evaluation.at_quota.items():
            argument = quota.argument(evaluation.total)
            values.array[row] = [x.value(ranking, **argument) for x in AT_QUOTA]
    evaluation.best.extend(best_by_quota(evaluation.rankings))
    if settings.unit is None:
        return evaluation
    return replace(evaluation, gains=_gain_results(evaluation, thresholds))


def _no_values(measures: tuple[Column, ...], models: int) -> Values:
    return Values(measures, np.full((models, len(measures)), np.nan))


def _best_thresholds(settings: Settings, tuning: Sample) -> list[float]:
    """The threshold of every model's best cut; of none, where nobody should be selected, NaN."""
    assert settings.unit is not None
    brings = gains_of(settings.unit, tuning)
    models = (tuning.scores[name] for name in settings.models)
    return [float(best_quota(None, scores, **brings).threshold) for scores in models]


def _gain_results(evaluation: Evaluation, thresholds: list[float] | None) -> GainResults:
    """What each model brings at its best cut, or one chosen elsewhere, and at quotas."""
    models, total = len(evaluation.models), evaluation.total
    found = GainResults(
        *whole_gains(evaluation.rankings[0].gains),
        _no_values(AT_BEST_CUT, models),
        {quota: _no_values(BROUGHT, models) for quota in evaluation.at_quota},
        [],
    )
    for row, ranking in enumerate(evaluation.rankings if total else ()):
        best = best_quota(ranking)
        found.cuts.append(best)
        threshold = float(best.threshold) if thresholds is None else thresholds[row]
        found.at_best_cut.array[row] = at_cut(best, threshold, total)
        for quota, values in found.at_quota.items():
            values.array[row] = at_quota(ranking, best, quota.argument(total))
    return found


def _gain_intervals(
    evaluation: Evaluation,
    data: Resampled,
    resampling: Resampling,
    brings: dict[str, Any],
    thresholds: list[float] | None,
) -> GainIntervals:
    ends = gain_intervals(data, resampling, brings, thresholds)
    unit = evaluation.settings.unit
    if unit is None or unit.impacts is None or evaluation.weighted:
        return ends
    level = resampling.tested_level
    by_labels = impact_intervals(evaluation.rankings, data, level, unit.impacts)
    return replace(ends, at_quota=by_labels)


def _gain_differences(
    gains: GainResults, ends: GainIntervals, settings: Settings
) -> Iterator[Differences]:
    """The tests by what the best cuts bring, and by what each quota does."""
    resampling, models = settings.resampling, settings.models
    assert resampling is not None
    level, notes = resampling.tested_level, tuple(resampling.notes_of_gains(len(models)))
    too_few = not resampling.tells(len(models), resampling.resamples)
    for quota in (None, *gains.at_quota) if len(models) > 1 else ():
        brings = (gains.at_best_cut if quota is None else gains.at_quota[quota]).of("brings")
        tested = partial(ends.difference, quota, level=level)
        found = comparison_of(list(models), brings, brings, tested, level)
        yield _named(settings, Differences("brings", quota, found, notes, too_few))


def _named(settings: Settings, test: Differences) -> Differences:
    """A test whose notes name what the caller can give."""
    give = "give --resamples " if settings.command else "pass n_resamples="
    return replace(test, notes=tuple(x.replace("pass n_resamples=", give) for x in test.notes))
