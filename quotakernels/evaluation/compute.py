"""Every measure of every model, of one list of examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.gains import gain_results, gains_of
from quotakernels.evaluation.group_intervals import with_groups_drawn
from quotakernels.evaluation.groups import GroupResults, group_results, together_at
from quotakernels.evaluation.intervals import Resampled, Tell, with_certainty
from quotakernels.evaluation.measures import AREAS, OVER_ALL, measures_at
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.results import Values
from quotakernels.evaluation.segments import best_by_quota
from quotakernels.evaluation.settings import Counts, Sample, Settings
from quotakernels.measures.gains.impact_at_quota import best_quota
from quotakernels.measures.over_quotas.summary import summary
from quotakernels.ranking import Ranking, rank

OnStep = Callable[[str], object]
OnPoints = Callable[[Evaluation], object]


def evaluate_sample(
    settings: Settings,
    sample: Sample,
    tuning: Sample | None = None,
    on_step: OnStep = lambda _: None,
    tell: Tell = lambda _done, _whole: None,
    on_points: OnPoints = lambda _: None,
) -> Evaluation:
    """Evaluate the scores of each model; best cuts are chosen on the rows for tuning, if any.

    `on_step` hears about each model before its turn, and `tell` how much of a step is done.
    `on_points` gets what is known before anything is drawn again.
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
    on_points(replace(evaluation, settings=replace(settings, resampling=None)))
    quotas = {quota: quota.argument(counts.most) for quota in settings.quotas_over_all}
    codes = None if sample.groups is None else sample.groups.codes
    data = Resampled(settings, quotas, sample.of, on_step, tell, codes, treated)
    evaluation = with_certainty(evaluation, data, brings, thresholds)
    return evaluation if groups is None else with_groups_drawn(evaluation, data)


def _values_at(quota: Quota, settings: Settings, counts: Counts, rankings: list[Ranking]) -> Values:
    """What each model has at a quota."""
    measures = measures_at(quota, settings.treatment is not None)
    argument = quota.argument(counts.most)
    rows = [[x.value(ranking, **argument) for x in measures] for ranking in rankings]
    return Values(measures, np.asarray(rows))


def with_groups(evaluation: Evaluation, groups: GroupResults) -> Evaluation:
    """The evaluation with what groups of rows have; quotas of theirs are filled together."""
    filled = {} if evaluation.settings.per is None else _together(groups)
    return replace(evaluation, at_quota={**evaluation.at_quota, **filled}, groups=groups)


def _together(groups: GroupResults) -> dict[Quota, Values]:
    """What quotas of groups select in all, for each quota."""
    quotas = [quota for quota in groups.values if quota is not None]
    return {quota: Values(together_at(quota), groups.together(quota)) for quota in quotas}


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
    gains = None
    if settings.unit is not None:
        gains = gain_results(rankings, settings.quotas_over_all, counts, thresholds)
    return Evaluation(
        settings,
        *counts,
        over_all=Values(OVER_ALL, np.asarray(over_all)),
        areas=Values(AREAS, np.asarray(areas)),
        at_quota={x: _values_at(x, settings, counts, rankings) for x in settings.quotas_over_all},
        best=best_by_quota(rankings),
        rankings=rankings,
        rows_read=counts.rows,
        gains=gains,
    )
