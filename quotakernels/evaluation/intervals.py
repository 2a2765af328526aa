"""How sure an evaluation is: intervals of its measures, and the tests of all pairs of models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels.evaluation.results import (
    APART,
    AREAS,
    AT_QUOTA_IN_GROUPS,
    EXPECTED,
    EXPECTED_WITHIN,
    OVER_ALL_IN_GROUPS,
    Differences,
    Ends,
    Floats,
    GainResults,
    GroupResults,
    Results,
    Values,
    measures_at,
)
from quotakernels.evaluation.settings import (
    MANY_ROWS,
    Quota,
    QuotaArgument,
    Resampling,
    Sample,
    Settings,
    UnfitError,
)
from quotakernels.groups import selection_by_group
from quotakernels.inference.bands import ValueAt, optima
from quotakernels.inference.comparing import by_resamples, comparison_of, few_resamples, tests_of
from quotakernels.inference.gains import Gains, Total, tests_of_totals
from quotakernels.inference.hit_rates import impact_ends, uplift_ends
from quotakernels.inputs.keywords import silently
from quotakernels.inputs.models import stacked
from quotakernels.results import BestCutInterval, BootstrapResult, Comparison
from quotakernels.uplift import uplift_at_quota

# intervals and tests


_BY_PAIRS: tuple[Literal["roc_auc", "gini", "pem"], ...] = ("roc_auc", "gini", "pem")
_BY_PRECISION: tuple[Literal["average_precision", "average_hit_rate"], ...] = (
    "average_precision",
    "average_hit_rate",
)
_AT_QUOTA: dict[str, Any] = {
    "hit_rate": qk.inference.hit_rate_interval,
    "qrecall": qk.inference.qrecall_interval,
    "lift": partial(qk.inference.qrecall_interval, measure="lift"),
}
_VALUES, _GAINS, _MEANS, _APART = "values", "gains", "means", "apart"
_Key = tuple[str, Quota | None, str]
"""Of what part of the results something is, at which quota, and of which measure."""
_Found = dict[_Key, Any]
"""What has a lower and an upper end."""
_SUMMARY: _Key = (_VALUES, None, "summary")
_ALSO_IF_BRIEF = ("hit_rate", "uplift_at_quota")
"""Of what the answer tells an interval."""
_ONE_GROUP = "intervals and tests draw whole groups, and there is only one by"
_R = TypeVar("_R", bound=Results)


@dataclass(frozen=True)
class Resampled:
    """What is resampled: the sample that results are of, with what its rows bring and, if best cuts
    were chosen elsewhere, their thresholds.

    `on_step` hears about each step before it begins; `progress` is that of `bootstrap`.
    """

    results: Results
    sample: Sample
    brings: dict[str, Any]
    thresholds: list[float] | None
    on_step: Callable[[str], object]
    progress: Any

    @property
    def settings(self) -> Settings:
        """What is evaluated."""
        return self.results.settings

    @property
    def resampling(self) -> Resampling:
        """How often, and for which level."""
        assert self.settings.resampling is not None
        return self.settings.resampling

    @property
    def quotas(self) -> dict[Quota, QuotaArgument]:
        """The quotas that one ranking of the rows fills."""
        return {x: x.argument(self.results.most) for x in self.settings.quotas_over_all}

    @cached_property
    def rough(self) -> Sample:
        """The sample with scores of which many rows have fewer different ones: for resamples.

        Those from a threshold on that was chosen elsewhere stay above all others.
        """
        scores, cuts = self.sample.scores, self.thresholds or len(self.sample.scores) * [np.nan]
        pairs = zip(scores.items(), cuts, strict=True)
        return self.sample._replace(scores={name: _rounded(x, cut) for (name, x), cut in pairs})

    @property
    def groups(self) -> dict[str, Any]:
        """The group of each row, as a keyword."""
        return {} if self.sample.groups is None else {"groups": self.sample.groups.codes}

    def drawn(self, resamples: int) -> dict[str, Any]:
        """The keywords of functions that resample."""
        return {
            "n_resamples": resamples,
            "confidence_level": self.resampling.tested_level,
            "random_state": self.resampling.seed,
            "progress": self.progress,
            "clusters": None if self.sample.clusters is None else self.sample.clusters.codes,
        }


_FINENESS = 0.001


def _rounded(scores: NDArray[Any], cut: float) -> NDArray[Any]:
    """The scores; those of many rows rounded down to every one whose place is a thousandth further,
    or to the lowest from the cut on.

    That ties rows beside each other, but the first thousand.  Values differ by a small part of
    their standard errors, and resamples have some thousand rows in place of a million.  Scores of
    which there are no more different ones stay as they are.
    """
    if len(scores) <= MANY_ROWS:
        return scores
    places = np.exp(np.arange(0, np.log(len(scores)), _FINENESS)).astype(np.int64)
    ordered = np.sort(scores)
    from_cut = ordered[ordered >= cut][:1]  # of NaN none
    levels = np.append(ordered[-np.append(places, len(scores))], from_cut)
    levels.sort()
    if np.count_nonzero(ordered[1:] > ordered[:-1]) < len(levels):
        return scores
    rounded: NDArray[Any] = levels[np.searchsorted(levels, scores, side="right") - 1]
    return rounded


def with_certainty(results: _R, data: Resampled) -> _R:
    """The results with the intervals and the tests that were asked for."""
    resampling, groups, gains, ends = data.resampling, results.groups, results.gains, {}
    several = groups is not None and np.count_nonzero(groups.masses) > 1
    if data.settings.per is not None and not several:
        raise UnfitError(f"{_ONE_GROUP} {data.settings.per!r}")
    if resampling.compare and results.rows == 1:
        raise UnfitError("compare= needs at least two rows")
    if resampling.level is not None:
        ends = _of_all(data, _intervals_of_model)
    if gains is not None and results.total:
        gains, ends_of_gains = _sure_gains(gains, data)
        ends |= ends_of_gains
    if resampling.level is not None and data.settings.cluster is None:  # the formulas are for it
        of_each = [_ranked(data, name) for name in data.settings.models]
        ends |= _closed_forms(results, of_each) | _closed_forms_at_quotas(results, of_each)
    differences = [*_tests(data)] if resampling.compare else []
    if resampling.compare and gains is not None:
        differences += gains.tests
    if groups is not None and resampling.level is not None:
        ends |= _of_all(data, partial(_means_of_model, groups=groups)) if several else {}
        ends |= {key: x for quota in groups.apart for key, x in _apart(data, groups, quota)}
    if groups is not None and resampling.compare and data.settings.per is not None:
        differences += _tests_of_groups(data, groups)
    return _with_ends(replace(results, gains=gains, differences=tuple(differences)), ends)


def with_closed_forms(results: _R) -> _R:
    """The results with those intervals at quotas that need no resamples."""
    of_each = [{"ranking": x} for x in results.worst]
    return _with_ends(results, _closed_forms_at_quotas(results, of_each))


def _with_ends(results: _R, ends: Mapping[_Key, Ends]) -> _R:
    """The results with the ends of intervals, where they belong."""

    def of(part: str, quota: Quota | None, values: Values) -> dict[str, Ends]:
        names = (x.name for x in values.measures)
        return {x: ends[part, quota, x] for x in names if (part, quota, x) in ends}

    def sure(part: str, at: Mapping[Any, Values]) -> dict[Any, Values]:
        return {quota: replace(x, ends=of(part, quota, x)) for quota, x in at.items()}

    gains, groups = results.gains, results.groups
    if gains is not None:
        at_quota, best_cut = sure(_GAINS, gains.at_quota), sure(_GAINS, {None: gains.at_best_cut})
        gains = replace(gains, at_best_cut=best_cut[None], at_quota=at_quota)
    if groups is not None:
        values = {k: replace(x, mean_ends=of(_MEANS, k, x)) for k, x in groups.values.items()}
        groups = replace(groups, values=values, apart=sure(_APART, groups.apart))
    of_values = {(quota, name): x for (part, quota, name), x in ends.items() if part == _VALUES}
    return replace(results, ends=of_values, gains=gains, groups=groups)


# measures


def _of_all(data: Resampled, of_model: Callable[[Resampled, str], _Found]) -> dict[_Key, Ends]:
    """The ends of all models, of what is found for each."""
    models = [of_model(data, name) for name in data.settings.models]
    return {key: Ends.of([found[key] for found in models]) for key in models[0]}


def _bootstrapped(data: Resampled, measures: dict[_Key, Any], given: dict[str, Any]) -> _Found:
    with silently():  # the notes tell
        found: _Found = qk.bootstrap(measures, **given, **data.drawn(data.resampling.resamples))
    return found


def _intervals_of_model(data: Resampled, name: str) -> _Found:
    """Intervals by resamples."""
    data.on_step(f"resampling {name}")
    sample, measures = data.rough, _measures(data)
    given = {**sample.of(name), **(sample.cost if data.quotas else {})}
    given |= {} if _of_arms(data.settings) else sample.treated
    found = _bootstrapped(data, measures, given) if measures else {}
    if _SUMMARY in found:
        summary = found.pop(_SUMMARY)._asdict()
        found |= {(_VALUES, None, x): result for x, result in summary.items()}
    return found


def closed_forms(settings: Settings) -> dict[str, str]:
    """Measures whose intervals are no resamples', and their method: of rows drawn one by one."""
    if settings.cluster is not None or settings.resampling is None:
        return {}
    at_quota = tuple(_AT_QUOTA)
    if settings.per is not None:
        at_quota = ("hit_rate",) if settings.one_by_one else ()  # of single groups
    at_quota = () if settings.cost else at_quota
    if not settings.resampling.resamples:
        return dict.fromkeys(at_quota, "score")
    at_quota += ("uplift_at_quota",) if _of_arms(settings) else ()
    closed = dict.fromkeys((*_BY_PAIRS, *at_quota), "score")
    return closed | dict.fromkeys(_BY_PRECISION if settings.weight is None else (), "logit")


def _of_arms(settings: Settings) -> bool:
    """Whether the uplift of rows drawn one by one is told."""
    return settings.treatment is not None and settings.one_by_one and not settings.cost


def _ranked(data: Resampled, name: str) -> dict[str, Any]:
    """What closed forms take of a model: its ranking, or its rows, as a ranking lacks the squares
    of weights.
    """
    if data.sample.weights is not None:
        return data.sample.of(name)
    return {"ranking": data.results.worst[data.settings.models.index(name)]}


def _closed_forms(results: Results, of_each: Sequence[dict[str, Any]]) -> dict[_Key, Ends]:
    """The intervals of measures over all quotas that need no resamples."""
    closed: dict[_Key, Ends] = {}
    how = {"confidence_level": results.level}
    intervals: dict[str, Any] = dict.fromkeys(_BY_PAIRS, qk.inference.auc_interval)
    if results.settings.weight is None:
        intervals |= dict.fromkeys(_BY_PRECISION, qk.inference.average_precision_interval)
    for name, interval in intervals.items() if not results.settings.brief else ():
        with silently():
            found = [interval(**x, measure=name, **how) for x in of_each]
        closed[_VALUES, None, name] = Ends.of(found)
    return closed


def _impacts_at(quota: Quota, results: Results) -> tuple[float, ...] | None:
    """The impacts, where labels alone decide what a quota brings: of rows drawn one by one, in a
    fixed number of places.
    """
    unit = results.settings.unit
    if unit is None or not results.settings.one_by_one or quota.is_budget:
        return None
    return unit.tuned(results.total, results.positive_total)


def _closed_forms_at_quotas(
    results: Results, of_each: Sequence[dict[str, Any]]
) -> dict[_Key, Ends]:
    """The intervals of what quotas find and so bring; the places of a budget are not fixed."""
    ends: dict[_Key, Ends] = {}
    for quota in results.settings.quotas_over_all if not results.settings.cost else ():
        at = quota.argument(results.total)
        intervals: dict[_Key, Any] = {
            (_VALUES, quota, name): partial(x, **at) for name, x in _AT_QUOTA.items()
        }
        places = results.places_at_random(quota)
        if results.exact and _of_arms(results.settings):
            intervals[_VALUES, quota, "uplift_at_quota"] = partial(_of_uplift, places)
        if (impacts := _impacts_at(quota, results)) is not None:
            intervals[_GAINS, quota, "brings"] = partial(_of_impacts, impacts, places)
        for key, interval in intervals.items():
            found = [interval(**x, confidence_level=results.level) for x in of_each]
            again = partial(_lower_end, interval, of_each)
            ends[key] = Ends.of(found)._replace(at_level=again)
    return ends


def _of_uplift(places: float, ranking: qk.Ranking, confidence_level: float) -> Ends:
    return Ends(*uplift_ends(ranking, places, confidence_level))


def _of_impacts(
    impacts: tuple[float, ...], places: float, ranking: qk.Ranking, confidence_level: float
) -> Ends:
    return Ends(*impact_ends(ranking, impacts, places, confidence_level))


def _lower_end(interval: Any, of_each: Sequence[dict[str, Any]], model: int, level: float) -> float:
    return float(interval(**of_each[model], confidence_level=level).lower)


def _measures(data: Resampled) -> dict[_Key, Any]:
    """All measures that tables show, by what finds them in the result; for the answer alone those
    that it tells.
    """
    brief, closed = data.settings.brief, closed_forms(data.settings)
    measures: dict[_Key, Any] = {} if brief else {_SUMMARY: qk.summary}
    areas = (x for x in AREAS if x.resampled and not brief and x.name not in closed)
    measures |= {(_VALUES, None, measure.name): measure.function for measure in areas}
    for quota, argument in data.quotas.items():
        for measure in measures_at(quota, bool(data.sample.treated)):
            asked = not brief or measure.name in _ALSO_IF_BRIEF
            if measure.resampled and asked and measure.name not in closed:
                measures[_VALUES, quota, measure.name] = partial(measure.function, **argument)
    return measures


# gains


_Gained = dict[Quota | None, tuple[BestCutInterval | None, BootstrapResult]]
"""What the best cuts, under None, and the quotas bring on the resamples, the same for all models;
before it the best of all cuts, or of those within the quota, unless they were chosen elsewhere.
"""


def _resampled_gains(data: Resampled) -> _Gained:
    """What models bring on resamples; by cuts at thresholds that were chosen elsewhere, if any."""
    scores = stacked(data.rough.scores, None, **data.brings)
    data.on_step("resampling what they bring")
    given = {**data.brings, **data.sample.cost, **data.drawn(data.resampling.resamples)}
    if data.thresholds is None:
        with silently():
            found = optima(qk.best_quota, {}, [*data.quotas.values()], None, scores, **given)
        of_each: _Gained = dict(zip((None, *data.quotas), found, strict=True))
        return of_each | {None: (found[0][0], found[0][0].value)}
    chosen: dict[Any, Any] = {None: ValueAt(qk.best_quota, data.thresholds)}
    chosen |= {quota: partial(qk.impact_at_quota, **x) for quota, x in data.quotas.items()}
    with silently():
        brought = qk.bootstrap(chosen, None, scores, method="percentile", **given)
    own = np.arange(len(data.thresholds))  # each with the cut that was chosen for it
    best_cut = BootstrapResult(*(x[own, own] for x in brought.pop(None)))
    return {None: (None, best_cut), **{quota: (None, x.whole) for quota, x in brought.items()}}


_Totals = dict[Quota | None, list[Total]]
"""What the best cuts, under None, and the quotas bring by each model."""


def _totals(gains: GainResults, data: Resampled) -> _Totals:
    """The totals whose intervals and tests are formulas; none of budgets, whose places vary."""
    if data.settings.cost is not None:
        return {}
    of, scores = _gains_of(data), [*data.sample.scores.values()]
    totals: _Totals = {None: _from_thresholds(of, scores, gains.at_best_cut.of("threshold"))}
    for quota in (x for x in gains.at_quota if not _impacts_at(x, data.results)):
        places = data.results.places_at_random(quota)
        totals[quota] = [of.in_places(x, places) for x in scores]
    return totals


def _gains_of(data: Resampled) -> Gains:
    given_up, sample = data.brings["gain_rejected"], data.sample
    clusters = None if sample.clusters is None else sample.clusters.codes
    return Gains(data.brings["gain"] - given_up, given_up, sample.weights, clusters)


def _from_thresholds(of: Gains, scores: list[Any], thresholds: Any) -> list[Total]:
    return [of.from_threshold(*x) for x in zip(scores, thresholds, strict=True)]


def _ends_of(totals: list[Total], values: Floats, level: float) -> Ends:
    """The intervals of totals, around the values; none where all rows agree."""

    def at(model: int, level: float) -> float:
        return float(values[model] + totals[model].ends(level)[0])

    lower, upper = np.transpose([x.ends(level) for x in totals]) + values
    return Ends(lower, upper, np.zeros(len(values), int), at)


def _few_in(totals: list[Total], level: float) -> NDArray[np.int64]:
    """How many rows bring half of what each model does, where its total is too skewed."""
    return np.asarray([x.few if x.is_skewed(level) else 0 for x in totals])


def _sure_gains(gains: GainResults, data: Resampled) -> tuple[GainResults, dict[_Key, Ends]]:
    """What models bring with tests, and with intervals what to expect; and the ends of these."""
    totals, level, chosen_here = _totals(gains, data), data.resampling.level, not data.thresholds
    drawn = _resampled_gains(data) if not totals or (chosen_here and level is not None) else {}
    tested = data.resampling.tested_level
    few = {(quota, "brings"): _few_in(x, tested) for quota, x in totals.items()}
    gains = replace(gains, few=few, tests=tuple(_tests_of_gains(gains, totals, drawn, data)))
    if level is None:
        return gains, {}
    ends = {(_GAINS, quota, "brings"): Ends.of(x) for quota, (_, x) in drawn.items()}
    for quota, of_each in totals.items():
        ends[_GAINS, quota, "brings"] = _ends_of(of_each, _values_at(gains, quota), level)
    if chosen_here:
        del ends[_GAINS, None, "brings"]
        return _expecting(gains, drawn, data, ends)
    return gains, ends


def _values_at(gains: GainResults, quota: Quota | None) -> Floats:
    """What the models bring at a quota or, under None, at their best cuts."""
    return (gains.at_best_cut if quota is None else gains.at_quota[quota]).of("brings")


def _expecting(
    gains: GainResults, drawn: _Gained, data: Resampled, ends: dict[_Key, Ends]
) -> tuple[GainResults, dict[_Key, Ends]]:
    """What models bring with what to expect of their best cuts, and the ends of that, too."""
    sure: dict[Any, Values] = {}
    few, (first, _) = dict(gains.few), drawn[None]
    assert first is not None
    ends |= {(_GAINS, None, x): Ends.of(getattr(first, x)) for x in ("threshold", "quota")}
    for quota, (best, _) in drawn.items():
        assert best is not None
        values = gains.at_best_cut if quota is None else gains.at_quota[quota]
        column = EXPECTED if quota is None else EXPECTED_WITHIN
        # chance in the resamples is no reason to expect more than there was
        expected = np.minimum(best.expected.estimate, best.value.estimate)
        of_best = Ends.of(best.expected)
        if data.settings.cost is None:
            scores, level = [*data.sample.scores.values()], data.results.level
            totals = _from_thresholds(_gains_of(data), scores, best.threshold.estimate)
            of_best = _ends_of(totals, expected, level).with_width()
            few[quota, column.name] = _few_in(totals, level)
        ends[_GAINS, quota, column.name] = of_best
        array = np.column_stack([values.array, expected])
        sure[quota] = Values((*values.measures, column), array)
    at_best_cut = sure.pop(None)
    return replace(gains, few=few, at_best_cut=at_best_cut, at_quota=sure), ends


# tests


def _tests_of_gains(
    gains: GainResults, totals: _Totals, drawn: _Gained, data: Resampled
) -> Iterator[Differences]:
    """The tests by what the best cuts bring, and by what each quota does."""
    resampling, models = data.resampling, list(data.settings.models)
    level, notes = resampling.tested_level, [*resampling.notes_of_gains] if drawn else []
    for quota in (None, *gains.at_quota) if len(models) > 1 else ():
        brings, notes_of = _values_at(gains, quota), notes
        if quota is not None and (impacts := _impacts_at(quota, data.results)):
            yield Differences("brings", quota, _by_rates(data, quota, impacts, brings), ())
            continue
        if quota in totals:
            tests, notes_of = tests_of_totals(brings, totals[quota], level), []
        else:
            _, total = drawn[quota]
            test = by_resamples(data.results.clusters)
            tests = tests_of(total.estimate, total.resamples, level, 0.0, test)
        found = comparison_of(models, brings, 1, tests, level)
        yield _of_test("brings", quota, found, notes_of, resampling.resamples, data)


def _by_rates(
    data: Resampled, quota: Quota, impacts: tuple[float, ...], brings: Floats
) -> Comparison:
    """The tests of what a quota brings: those of hit rates, times what these are worth."""
    tp, fp, fn, tn = impacts
    worth = (tp - fp - fn + tn) * data.results.places_at_random(quota)
    at = {"confidence_level": data.resampling.tested_level, **data.quotas[quota]}
    labels, scores, more = data.sample.labels, data.sample.scores, worth >= 0
    with silently():  # the tests of hit rates warn
        found = qk.compare(qk.hit_rate, labels, scores, greater_is_better=more, **at)
    ordered = brings[[data.settings.models.index(name) for name in found.names]]
    lower, upper = np.sort([worth * found.lower, worth * found.upper], axis=0) + 0.0
    return found._replace(
        estimate=ordered,
        difference=ordered[:, None] - ordered,
        lower=lower,
        upper=upper,
        expected=float(ordered[0] + worth * (found.expected - found.estimate[0])),
    )


def _tests(data: Resampled) -> Iterator[Differences]:
    """The tests by AUC, by the hit rate at every quota, and of a treatment by the uplift there; of
    a budget by Qrecall, as the same money finds most where that is.
    """
    yield _compared(data, None, qk.roc_auc, {})
    cost, treated = data.sample.cost, data.sample.treated
    given = {x: {**at, **(cost if x.is_budget else {})} for x, at in data.quotas.items()}
    for quota, at in given.items():
        yield _compared(data, quota, qk.qrecall if quota.is_budget else qk.hit_rate, at)
    for quota, at in given.items() if treated else ():
        yield _compared(data, quota, uplift_at_quota, {**at, **treated})


def _compared(
    data: Resampled, quota: Quota | None, measure: Any, at: dict[str, Any], name: str = ""
) -> Differences:
    """The test of all pairs of models by a measure, and what it warns of as notes."""
    name = name or measure.__name__
    data.on_step(f"comparing {name}")
    sample, resamples = data.sample, data.resampling.test_resamples
    at = {"sample_weight": sample.weights, **at, **data.drawn(resamples)}
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        found = qk.compare(measure, sample.labels, sample.scores, **at)
    # of all pairs, of which only those of the first are shown
    pairs = few_resamples(resamples, len(sample.scores), data.resampling.tested_level)
    told = [str(each.message) for each in noted]
    notes = [x for x in told if x != pairs]
    if pairs in told and (few := data.resampling.few(resamples)):
        notes.append(few)
    return _of_test(name, quota, found, notes, resamples, data)


def _of_test(
    name: str,
    quota: Quota | None,
    found: Comparison,
    notes: Sequence[str],
    resamples: int,
    data: Resampled,
) -> Differences:
    """A test, with whether so many resamples could tell no models apart, and their least p."""
    drawn = found.test in ("bootstrap", "permutation")
    few = drawn and bool(data.resampling.few(resamples))
    return Differences(name, quota, found, tuple(notes), few, drawn * 2 / (1 + resamples))


# groups, drawn whole or by their rows


def _hit_rate_together(groups: GroupResults, quota: Quota, model: int = 0) -> Any:
    """The hit rate of all that the quotas of groups select, as a mean over groups.

    Only of a budget models fill other places.
    """
    places = groups.values[quota].of("places")[model]
    return qk.group_mean(qk.hit_rate, weights=places, **quota.argument(groups.most))


def _qrecall_together(groups: GroupResults, quota: Quota) -> Any:
    return qk.group_mean(qk.qrecall, weights="positives", **quota.argument(groups.most))


def _means_of_model(data: Resampled, name: str, groups: GroupResults) -> _Found:
    """The intervals of its means, within the range of each; of one quota over all, whose parts are
    not of groups, none.
    """
    data.on_step(f"drawing groups of {name}")
    measures: dict[_Key, Any] = {
        (_MEANS, None, x.name): qk.group_mean(x.function) for x in OVER_ALL_IN_GROUPS
    }
    for quota in data.settings.quotas if data.settings.per is not None else ():
        argument = quota.argument(groups.most)
        for measure in AT_QUOTA_IN_GROUPS:
            measures[_MEANS, quota, measure.name] = qk.group_mean(measure.function, **argument)
        model = data.settings.models.index(name)
        measures[_VALUES, quota, "hit_rate"] = _hit_rate_together(groups, quota, model)
        measures[_VALUES, quota, "qrecall"] = _qrecall_together(groups, quota)
    cost = {} if data.settings.per is None else data.sample.cost
    drawn = _bootstrapped(data, measures, {**data.sample.of(name), **cost, **data.groups})
    return {key: _in_range(x.value, np.inf if key[-1] == "lift" else 1) for key, x in drawn.items()}


def _in_range(found: BootstrapResult, most: float) -> BootstrapResult:
    lower, upper = np.clip([found.lower, found.upper], 0, most)
    return found._replace(lower=lower, upper=upper)


def _apart(data: Resampled, groups: GroupResults, quota: Quota) -> Iterator[tuple[_Key, Ends]]:
    """The intervals of how far groups are apart by each model, on resamples of rows."""
    data.on_step("drawing rows of groups that share a quota")
    given = {**data.sample.cost, **data.groups, **quota.argument(float(groups.whole.sum()))}
    given |= {"method": "percentile", **data.drawn(data.resampling.resamples)}
    with silently():
        models = (data.sample.of(name) for name in data.settings.models)
        found = [qk.bootstrap(selection_by_group, **x, **given) for x in models]
    for x in APART:
        each = [getattr(one, x.name) for one in found]
        yield (_APART, quota, x.name), Ends.of([_around(x) for x in each])


def _around(found: qk.results.BootstrapResult) -> qk.results.BootstrapResult:
    """An interval that reaches to its estimate, beside which all resamples of an extreme may be."""
    lower, upper = np.fmin(found.lower, found.estimate), np.fmax(found.upper, found.estimate)
    return found._replace(lower=lower, upper=upper)


def _tests_of_groups(data: Resampled, groups: GroupResults) -> Iterator[Differences]:
    """The tests of all pairs of models by what their quotas of groups find together."""
    at = {**data.sample.cost, **data.groups}
    for quota in data.settings.quotas:
        of_all = _qrecall_together if quota.is_budget else _hit_rate_together
        name = "qrecall" if quota.is_budget else "hit_rate"
        yield _compared(data, quota, of_all(groups, quota), at, name)
