"""How sure an evaluation is: intervals of its measures, and the tests of all pairs of models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels.evaluation.results import (
    APART,
    AREAS,
    AT_BEST_CUT,
    AT_QUOTA_IN_GROUPS,
    EXPECTED,
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
from quotakernels.evaluation.settings import Quota, QuotaArgument, Resampling, Settings
from quotakernels.groups import selection_by_group
from quotakernels.inference import auc_interval, average_precision_interval, hit_rate_interval
from quotakernels.inference.areas import PrecisionName
from quotakernels.inference.bands import ValueAt, optima
from quotakernels.inference.comparing import PairTest, Tests, comparison_of, tests_of
from quotakernels.inference.hit_rates import impact_ends, selections
from quotakernels.inputs.keywords import silently
from quotakernels.inputs.models import stacked
from quotakernels.results import BestCutInterval, BootstrapResult, Comparison, CurveBand
from quotakernels.uplift import uplift_at_quota

# what quotas bring where labels alone decide it


def by_labels(quota: Quota, results: Results) -> bool:
    """Whether it is so: by impacts, of rows without weights, in a fixed number of places."""
    unit = results.settings.unit
    impacts = unit is not None and unit.impacts is not None
    return impacts and not (results.weighted or quota.is_budget)


def _impacts(results: Results) -> tuple[float, ...]:
    unit = results.settings.unit
    assert unit is not None
    impacts = unit.tuned(results.total, results.positive_total)
    assert impacts is not None
    return impacts


def impact_ends_at(quota: Quota, results: Results, rankings: Sequence[qk.Ranking]) -> Ends:
    """The intervals of what a quota brings."""
    at, impacts = results.places_at_random(quota), _impacts(results)
    ends = np.stack([impact_ends(x, impacts, at, results.level) for x in rankings])
    return Ends(ends[:, 0], ends[:, 1], np.zeros(len(ends), dtype=np.int64))


def worth_of_rates(quota: Quota, results: Results) -> float:
    """How much more a quota brings with a hit rate that is 1 more; 0 where it is not so."""
    if not by_labels(quota, results):
        return 0.0
    tp, fp, fn, tn = _impacts(results)
    return (tp - fp - fn + tn) * results.places_at_random(quota)


def tests_by_rates(
    y_true: Any, models: dict[str, Any], at: QuotaArgument, worth: float, level: float
) -> Tests:
    """The tests of what a quota brings: those of hit rates, times what these are worth."""
    given = {"sample_weight": None, "where": None, "pos_label": None, "validate": True}
    both = selections(y_true, stacked(models, y_true), given, dict(at))

    def tested(first: int, second: int) -> PairTest:
        found, error = both.by_score(first, second, level)
        lower, upper = np.sort([worth * found.lower, worth * found.upper]).tolist()
        return PairTest(lower, upper, found.p_value, abs(worth) * error)

    return Tests(tested, "score")


# intervals and tests


Tell = Callable[[int, int], None]
_BY_PAIRS: tuple[Literal["roc_auc", "gini", "pem"], ...] = ("roc_auc", "gini", "pem")
_BY_PRECISION: tuple[PrecisionName, ...] = ("average_precision", "average_hit_rate")
CLOSED_FORMS = dict.fromkeys((*_BY_PAIRS, *_BY_PRECISION), "logit") | {"hit_rate": "score"}
"""Measures of rows without weights whose intervals are not of resamples, and their method."""
_Key = tuple[Any, ...]  # the name of a measure, behind its quota if it has one
_Found = dict[_Key, Any]
"""What has a lower and an upper end, by the key of its measure."""
_SUMMARY = ("summary",)
_TOLD = ("hit_rate", "uplift_at_quota")
"""Of what the answer tells an interval; the first one has a formula where rows have no weights."""
_R = TypeVar("_R", bound=Results)


@dataclass(frozen=True)
class Resampled:
    """What is resampled: models, quotas over all, the labels, scores and weights of each model, and
    the group of each row.

    `on_step` hears about each step before it begins, and `tell` how much of it is done.
    """

    settings: Settings
    quotas: Mapping[Quota, QuotaArgument]
    examples: Callable[[str], dict[str, Any]]
    on_step: Callable[[str], object]
    tell: Tell
    groups: NDArray[np.int64] | None = None
    treated: Mapping[str, Any] = field(default_factory=dict)

    @property
    def resampling(self) -> Resampling:
        """How often, and for which level."""
        assert self.settings.resampling is not None
        return self.settings.resampling

    @property
    def costs(self) -> dict[str, Any]:
        """What each row costs, if anything, as a keyword."""
        first = self.examples(self.settings.models[0])
        return {"cost": first["cost"]} if "cost" in first else {}

    def drawn(self, resamples: int) -> dict[str, Any]:
        """The keywords of functions that resample."""
        return {
            "n_resamples": resamples,
            "confidence_level": self.resampling.tested_level,
            "random_state": self.resampling.seed,
            "progress": self.tell,
        }


def without_costs(examples: dict[str, Any]) -> dict[str, Any]:
    """Examples for measures that are of no budget, which take no costs."""
    return {name: x for name, x in examples.items() if name != "cost"}


def with_certainty(
    results: _R, data: Resampled, brings: dict[str, Any], thresholds: list[float] | None
) -> _R:
    """The results with the intervals and the tests that were asked for."""
    resampling, gains = data.resampling, results.gains
    if resampling.level is not None:
        ends = _of_all(data, _intervals_of_model)
        if not results.weighted:  # which the formulas are for
            ends |= _closed_forms(results) | _hit_rate_ends(results, results.rankings)
        results = _with_ends(results, ends)
    if gains is not None and results.total:
        drawn = resampled_gains(data, brings, thresholds)
        gains = replace(gains, tests=tuple(_tests_of_gains(gains, drawn, data, results)))
        if resampling.level is not None:
            gains = _with_ends_of_gains(gains, drawn, results)
        results = replace(results, gains=gains)
    if not resampling.compare:
        return results
    return replace(results, differences=(*_tests(data), *(() if gains is None else gains.tests)))


# measures


def _with_ends(results: _R, ends: dict[_Key, Ends]) -> _R:
    """The results with ends of intervals, by the names of measures, behind their quotas."""
    at_quota = {quota: _sure(values, ends, quota) for quota, values in results.at_quota.items()}
    over_all, areas = _sure(results.over_all, ends), _sure(results.areas, ends)
    return replace(results, over_all=over_all, areas=areas, at_quota=at_quota)


def _named(values: Values, ends: Mapping[_Key, Ends], *key: Any) -> dict[str, Ends]:
    """Those of the measures, which are told by more than their names."""
    return {x.name: ends[*key, x.name] for x in values.measures if (*key, x.name) in ends}


def _sure(values: Values, ends: Mapping[_Key, Ends], *key: Any) -> Values:
    return replace(values, ends={**values.ends, **_named(values, ends, *key)})


def with_closed_forms(results: _R, rankings: Sequence[qk.Ranking]) -> _R:
    """The results with those intervals at quotas that need no resamples."""
    found = _with_ends(results, _hit_rate_ends(results, rankings))
    if found.gains is None:
        return found
    at_quota = {
        quota: replace(values, ends={"brings": impact_ends_at(quota, results, rankings)})
        for quota, values in found.gains.at_quota.items()
    }
    return replace(found, gains=replace(found.gains, at_quota=at_quota))


def _of_all(data: Resampled, of_model: Callable[[Resampled, str], _Found]) -> dict[_Key, Ends]:
    """The ends of all models, of what is found for each."""
    models = [of_model(data, name) for name in data.settings.models]
    return {key: _ends([found[key] for found in models]) for key in models[0]}


def _bootstrapped(data: Resampled, measures: dict[_Key, Any], given: dict[str, Any]) -> _Found:
    with silently():  # the notes tell
        found: _Found = qk.bootstrap(measures, **given, **data.drawn(data.resampling.resamples))
    return found


def _intervals_of_model(data: Resampled, name: str) -> _Found:
    """Intervals by resamples."""
    data.on_step(f"resampling {name}")
    examples, measures = data.examples(name), _measures(data)
    given = examples if data.quotas else without_costs(examples)
    found = _bootstrapped(data, measures, {**given, **data.treated}) if measures else {}
    if _SUMMARY in found:
        found |= {(x,): result for x, result in found.pop(_SUMMARY)._asdict().items()}
    return found


def _closed_forms(results: Results) -> dict[_Key, Ends]:
    """The intervals of measures over all quotas that need no resamples."""
    closed: dict[_Key, Ends] = {}
    how = {"confidence_level": results.level}
    for name in () if results.settings.brief else (*_BY_PAIRS, *_BY_PRECISION):
        interval: Any = auc_interval if name in _BY_PAIRS else average_precision_interval
        closed[name,] = _ends([interval(x, measure=name, **how) for x in results.rankings])
    return closed


def _hit_rate_ends(results: Results, rankings: Sequence[qk.Ranking]) -> dict[_Key, Ends]:
    """The intervals of hit rates at quotas; the places of a budget are not fixed."""
    ends: dict[_Key, Ends] = {}
    for quota in results.settings.quotas_over_all:
        if not quota.is_budget:
            at = {"confidence_level": results.level, **quota.argument(results.total)}
            ends[quota, "hit_rate"] = _ends([hit_rate_interval(x, **at) for x in rankings])
    return ends


def _ends(found: Sequence[Any]) -> Ends:
    """The ends of all models' intervals; closed forms have no resamples that are undefined."""
    ends = [(float(x.lower), float(x.upper), getattr(x, "undefined", 0)) for x in found]
    return Ends(*np.transpose(ends))


def _measures(data: Resampled) -> dict[_Key, Any]:
    """All measures that tables show, by what finds them in the result; for the answer alone those
    that it tells.
    """
    brief, closed = data.settings.brief, CLOSED_FORMS if data.settings.weight is None else ()
    measures: dict[_Key, Any] = {} if brief else {_SUMMARY: qk.summary}
    areas = (x for x in AREAS if x.resampled and not brief and x.name not in closed)
    measures |= {(measure.name,): measure.function for measure in areas}
    for quota, argument in data.quotas.items():
        told = _TOLD if quota.is_budget or not closed else _TOLD[1:]
        for measure in measures_at(quota, bool(data.treated)):
            if measure.resampled and (not brief or measure.name in told):
                measures[quota, measure.name] = partial(measure.function, **argument)
    return measures


# gains


class ResampledGains(NamedTuple):
    """What the best cuts, under None, and the quotas bring on the resamples, the same for all
    models; and the best of all cuts and of those within each quota, unless they were chosen on
    other rows.
    """

    totals: dict[Quota | None, BootstrapResult]
    best: BestCutInterval | None = None
    within: Mapping[Quota, BestCutInterval] = {}


def _no_more_than_here(best: BestCutInterval) -> NDArray[np.float64]:
    """What to expect on other rows: chance in the resamples is no reason to expect more."""
    most: NDArray[np.float64] = np.minimum(best.expected.estimate, best.value.estimate)
    return most


def resampled_gains(
    data: Resampled, brings: dict[str, Any], thresholds: list[float] | None
) -> ResampledGains:
    """What models bring on resamples; by cuts at thresholds that were chosen elsewhere, if any."""
    models = {name: data.examples(name)["y_score"] for name in data.settings.models}
    scores = stacked(models, None, **brings)
    data.on_step("resampling what they bring")
    given = {**brings, **data.costs, **data.drawn(data.resampling.resamples)}
    if thresholds is None:
        (best, _), *within = optima(
            qk.best_quota, {}, [*data.quotas.values()], None, scores, **given
        )
        by_quota = dict(zip(data.quotas, within, strict=True))
        totals: dict[Quota | None, BootstrapResult] = {None: best.value}
        totals |= {quota: filled for quota, (_, filled) in by_quota.items()}
        return ResampledGains(totals, best, {quota: x for quota, (x, _) in by_quota.items()})
    chosen: dict[Any, Any] = {None: ValueAt(qk.best_quota, thresholds)}
    chosen |= {quota: partial(qk.impact_at_quota, **x) for quota, x in data.quotas.items()}
    with silently():
        found = qk.bootstrap(chosen, None, scores, method="percentile", **given)
    own = np.arange(len(thresholds))  # each with the cut that was chosen for it
    best_cut = BootstrapResult(*(x[own, own] for x in found.pop(None)))
    return ResampledGains({None: best_cut, **{quota: x.whole for quota, x in found.items()}})


def _with_ends_of_gains(gains: GainResults, drawn: ResampledGains, results: Results) -> GainResults:
    best, at_best_cut = drawn.best, gains.at_best_cut
    if best is None:
        at_best_cut = replace(at_best_cut, ends={"brings": _ends_of(drawn.totals[None])})
    else:
        values = np.column_stack([at_best_cut.array, _no_more_than_here(best)])
        ends = {"threshold": _ends_of(best.threshold), "quota": _ends_of(best.quota)}
        ends["expected"] = _ends_of(best.expected)
        at_best_cut = Values((*AT_BEST_CUT, EXPECTED), values, ends)
    at_quota = {
        quota: replace(values, ends={"brings": _ends_at(quota, drawn, results)})
        for quota, values in gains.at_quota.items()
    }
    within = {quota: _no_more_than_here(x) for quota, x in drawn.within.items()}
    return replace(gains, at_best_cut=at_best_cut, at_quota=at_quota, expected_within=within)


def _ends_of(found: BootstrapResult) -> Ends:
    return Ends(found.lower, found.upper, found.undefined)


def _ends_at(quota: Quota, drawn: ResampledGains, results: Results) -> Ends:
    """Of what a quota brings; where labels alone decide, from those of two hit rates."""
    if not by_labels(quota, results):
        return _ends_of(drawn.totals[quota])
    return impact_ends_at(quota, results, results.rankings)


# tests


def _tests_of_gains(
    gains: GainResults, drawn: ResampledGains, data: Resampled, results: Results
) -> Iterator[Differences]:
    """The tests by what the best cuts bring, and by what each quota does."""
    resampling, models = data.resampling, list(data.settings.models)
    level, notes = resampling.tested_level, [*resampling.notes_of_gains(len(models))]
    labels = data.examples(models[0])["y_true"]
    scores = {name: data.examples(name)["y_score"] for name in models}
    for quota in (None, *gains.at_quota) if len(models) > 1 else ():
        brings = (gains.at_best_cut if quota is None else gains.at_quota[quota]).of("brings")
        total = drawn.totals[quota]
        tests = tests_of(total.estimate, total.resamples, level)
        if quota is not None and (worth := worth_of_rates(quota, results)):
            tests = tests_by_rates(labels, scores, data.quotas[quota], worth, level)
        said = notes if tests.resamples is not None else []
        found = comparison_of(models, brings, 1, tests, level)
        few = _too_few(data, found, resampling.resamples)
        yield Differences("brings", quota, found, tuple(said), few)


def _tests(data: Resampled) -> Iterator[Differences]:
    """The tests by AUC, by the hit rate at every quota, and of a treatment by the uplift there."""
    for quota, measure, at in _tested(data):
        name = measure.__name__
        yield _compared(data, f"comparing {name}", name, quota, measure, at)


def _compared(
    data: Resampled, step: str, name: str, quota: Quota | None, measure: Any, at: dict[str, Any]
) -> Differences:
    """The test of all pairs of models by a measure, and what it warns of as notes."""
    data.on_step(step)
    given = {model: data.examples(model) for model in data.settings.models}
    models = {model: columns["y_score"] for model, columns in given.items()}
    labels, weights = (given[data.settings.models[0]][x] for x in ("y_true", "sample_weight"))
    resamples = data.resampling.test_resamples
    at = {**at, **data.drawn(resamples)}
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        found = qk.compare(measure, labels, models, sample_weight=weights, **at)
    notes = tuple(str(each.message) for each in noted)
    return Differences(name, quota, found, notes, _too_few(data, found, resamples))


def _tested(data: Resampled) -> Iterator[tuple[Quota | None, Any, dict[str, Any]]]:
    """By what models are tested at which quota, and its arguments; of a budget by Qrecall, as the
    same money finds most where that is.
    """
    yield None, qk.roc_auc, {}
    given = {x: {**at, **(data.costs if x.is_budget else {})} for x, at in data.quotas.items()}
    for quota, at in given.items():
        yield quota, qk.qrecall if quota.is_budget else qk.hit_rate, at
    if data.treated:
        for quota, at in given.items():
            yield quota, uplift_at_quota, {**at, **data.treated}


def _too_few(data: Resampled, found: Comparison, resamples: int) -> bool:
    """Whether so many resamples could tell no models apart."""
    return found.test == "bootstrap" and bool(data.resampling.few(len(found.names), resamples))


# groups, drawn whole or by their rows


_TOGETHER = "together"


def with_groups_drawn(results: _R, data: Resampled) -> _R:
    """The results with intervals of means over groups, and tests of what their quotas find."""
    groups = results.groups
    assert groups is not None
    if data.resampling.level is not None:
        ends = _of_all(data, partial(_means_of_model, groups=groups))
        at_quota = {k: _sure(x, ends, _TOGETHER, k) for k, x in results.at_quota.items()}
        values = {
            quota: replace(x, mean_ends=_named(x, ends, quota))
            for quota, x in groups.values.items()
        }
        apart = {quota: _ends_apart(data, groups, quota) for quota in groups.apart}
        groups = replace(groups, values=values, apart_ends=apart)
        results = replace(results, at_quota=at_quota, groups=groups)
    if data.resampling.compare and data.settings.per is not None:
        tests = _tests_of_groups(data, groups)
        results = replace(results, differences=(*results.differences, *tests))
    return results


def _hit_rate_together(groups: GroupResults, quota: Quota, model: int = 0) -> Any:
    """The hit rate of all that the quotas of groups select, as a mean over groups.

    Only of a budget models fill other places.
    """
    places = groups.values[quota].of("places")[model]
    return qk.group_mean(qk.hit_rate, weights=places, **quota.argument(groups.most))


def _qrecall_together(groups: GroupResults, quota: Quota) -> Any:
    return qk.group_mean(qk.qrecall, weights="positives", **quota.argument(groups.most))


def _means_of_model(data: Resampled, name: str, groups: GroupResults) -> _Found:
    """The intervals of its means; of one quota over all, whose parts are not of groups, none."""
    data.on_step(f"drawing groups of {name}")
    measures: dict[_Key, Any] = {
        (None, x.name): qk.group_mean(x.function) for x in OVER_ALL_IN_GROUPS
    }
    for quota in data.settings.quotas if data.settings.per is not None else ():
        argument = quota.argument(groups.most)
        for measure in AT_QUOTA_IN_GROUPS:
            measures[quota, measure.name] = qk.group_mean(measure.function, **argument)
        model = data.settings.models.index(name)
        measures[_TOGETHER, quota, "hit_rate"] = _hit_rate_together(groups, quota, model)
        measures[_TOGETHER, quota, "qrecall"] = _qrecall_together(groups, quota)
    examples = data.examples(name)
    examples = without_costs(examples) if data.settings.per is None else examples
    drawn = _bootstrapped(data, measures, {**examples, "groups": data.groups})
    return {key: x.value for key, x in drawn.items()}


def _ends_apart(data: Resampled, groups: GroupResults, quota: Quota) -> Floats:
    """The intervals of how far groups are apart by each model, on resamples of rows."""
    data.on_step("drawing rows of groups that share a quota")
    whole = groups.masses if data.settings.cost is None else groups.costs
    argument = quota.argument(float(whole.sum()))
    drawn = data.drawn(data.resampling.resamples)
    ends = []
    for name in data.settings.models:
        given = {**data.examples(name), "groups": data.groups, **argument, **drawn}
        with silently():
            found = qk.bootstrap(selection_by_group, **given)
        each = [getattr(found, x.name) for x in APART]
        ends.append([[float(x.lower) for x in each], [float(x.upper) for x in each]])
    return np.swapaxes(np.asarray(ends), 0, 1)


def _tests_of_groups(data: Resampled, groups: GroupResults) -> Iterator[Differences]:
    """The tests of all pairs of models by what their quotas of groups find together."""
    at, step = {**data.costs, "groups": data.groups}, "comparing what quotas of groups find"
    for quota in data.settings.quotas:
        of_all = _qrecall_together if quota.is_budget else _hit_rate_together
        name = "qrecall" if quota.is_budget else "hit_rate"
        yield _compared(data, step, name, quota, of_all(groups, quota), at)


# bands of curves


_PLACES = 120


def hit_rate_band(evaluation: Results, model: int) -> CurveBand | None:
    """The score interval of a model's hit rate at each of many quotas.

    None without a confidence, without positives, and of rows with weights, for which there is no
    such formula.
    """
    if not evaluation.has_intervals or evaluation.weighted or not evaluation.positives:
        return None
    at = np.unique(np.geomspace(1, evaluation.rows, _PLACES).round())
    found = hit_rate_interval(
        evaluation.rankings[model], quota=at, confidence_level=evaluation.level
    )
    undefined = np.zeros(at.shape, dtype=np.int64)
    nothing = np.full(at.shape, np.nan)
    return CurveBand(at, found.estimate, found.lower, found.upper, nothing, undefined)
