"""How sure an evaluation is: intervals of its measures, and the tests of all pairs of models."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from quotakernels.evaluation.by_labels import (
    by_labels,
    impact_ends_at,
    tests_by_rates,
    worth_of_rates,
)
from quotakernels.evaluation.gains import AT_BEST_CUT, EXPECTED
from quotakernels.evaluation.measures import AREAS, measures_at
from quotakernels.evaluation.quota import Quota, QuotaArgument
from quotakernels.evaluation.results import (
    Differences,
    Ends,
    GainResults,
    Results,
    Values,
)
from quotakernels.evaluation.settings import Resampling, Settings
from quotakernels.inference.average_precision import PrecisionName, average_precision_interval
from quotakernels.inference.best_cuts import BestCutInterval, ValueAt, optima
from quotakernels.inference.bootstrapping import BootstrapResult, bootstrap
from quotakernels.inference.comparing import Comparison, compare, comparison_of, tests_of
from quotakernels.inference.delong import auc_interval
from quotakernels.inference.hit_rates import hit_rate_interval
from quotakernels.inputs.keywords import silently
from quotakernels.inputs.models import stacked
from quotakernels.measures.at_quota.hit_rate import hit_rate, qrecall
from quotakernels.measures.gains.impact_at_quota import best_quota, impact_at_quota
from quotakernels.measures.over_quotas.areas import roc_auc
from quotakernels.measures.over_quotas.summary import summary
from quotakernels.measures.uplift import uplift_at_quota
from quotakernels.ranking import Ranking, rank

Tell = Callable[[int, int], None]
_BY_PAIRS: tuple[Literal["roc_auc", "gini", "pem"], ...] = ("roc_auc", "gini", "pem")
_BY_PRECISION: tuple[PrecisionName, ...] = ("average_precision", "average_hit_rate")
CLOSED_FORMS = dict.fromkeys((*_BY_PAIRS, *_BY_PRECISION), "logit") | {"hit_rate": "score"}
"""Measures of rows without weights whose intervals are not of resamples, and their method."""
_Key = tuple[Any, ...]  # the name of a measure, behind its quota if it has one
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
    """The same for measures that are of no budget."""
    return {name: x for name, x in examples.items() if name != "cost"}


def with_certainty(
    results: _R, data: Resampled, brings: dict[str, Any], thresholds: list[float] | None
) -> _R:
    """The same results with the intervals and the tests that were asked for."""
    resampling, gains = data.resampling, results.gains
    if resampling.level is not None:
        results = _with_intervals(results, data)
    if gains is not None and results.total:
        drawn = resampled_gains(data, brings, thresholds)
        gains = replace(gains, tests=tuple(_tests_of_gains(gains, drawn, data, results)))
        if resampling.level is not None:
            gains = _with_ends(gains, drawn, results)
        results = replace(results, gains=gains)
    if not resampling.compare:
        return results
    return replace(results, differences=(*_tests(data), *(() if gains is None else gains.tests)))


# measures


def _with_intervals(results: _R, data: Resampled) -> _R:
    models = [_intervals_of_model(data, name) for name in data.settings.models]
    ends = {key: Ends(*np.transpose([found[key] for found in models])) for key in models[0]}

    def sure(values: Values, *quota: Quota) -> Values:
        names = [x.name for x in values.measures if (*quota, x.name) in ends]
        return replace(values, ends={name: ends[*quota, name] for name in names})

    filled = {quota: sure(results.at_quota[quota], quota) for quota in data.quotas}
    at_quota = {**results.at_quota, **filled}
    over_all, areas = sure(results.over_all), sure(results.areas)
    return replace(results, over_all=over_all, areas=areas, at_quota=at_quota)


def _intervals_of_model(data: Resampled, name: str) -> dict[_Key, tuple[float, float, float]]:
    """Intervals by resamples; where a formula holds its level without them, by that."""
    data.on_step(f"resampling {name}")
    examples, level = data.examples(name), data.resampling.tested_level
    given = examples if data.quotas else without_costs(examples)
    drawn = data.drawn(data.resampling.resamples)
    measures, found = _measures(data), {}
    if measures:
        with silently():  # the notes tell
            found = bootstrap(measures, **given, **data.treated, **drawn)
    if _SUMMARY in found:
        found |= {(x,): result for x, result in found.pop(_SUMMARY)._asdict().items()}
    ends = {k: (float(x.lower), float(x.upper), float(x.undefined)) for k, x in found.items()}
    if examples["sample_weight"] is not None:
        return ends
    closed = _closed_forms(data, rank(**examples), level)
    return ends | {k: (float(x.lower), float(x.upper), 0.0) for k, x in closed.items()}


def _closed_forms(data: Resampled, ranking: Ranking, level: float) -> dict[_Key, Any]:
    """The intervals that need no resamples."""
    closed: dict[_Key, Any] = {}
    if not data.settings.brief:
        for pairs in _BY_PAIRS:
            closed[pairs,] = auc_interval(ranking, measure=pairs, confidence_level=level)
        for name in _BY_PRECISION:
            found = average_precision_interval(ranking, measure=name, confidence_level=level)
            closed[name,] = found
    for quota, argument in data.quotas.items():
        if quota.is_budget:  # whose places are not fixed
            continue
        rate = hit_rate_interval(ranking, confidence_level=level, **argument)
        closed[quota, "hit_rate"] = rate
    return closed


def _measures(data: Resampled) -> dict[_Key, Any]:
    """All measures that tables show, by what finds them in the result; for the answer alone those
    that it tells.
    """
    brief, closed = data.settings.brief, CLOSED_FORMS if data.settings.weight is None else ()
    measures: dict[_Key, Any] = {} if brief else {_SUMMARY: summary}
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

    @property
    def expected(self) -> NDArray[np.float64]:
        """What each model's best cut will bring on other rows."""
        assert self.best is not None
        return _no_more_than_here(self.best)


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
        (best, _), *within = optima(best_quota, {}, [*data.quotas.values()], None, scores, **given)
        by_quota = dict(zip(data.quotas, within, strict=True))
        totals: dict[Quota | None, BootstrapResult] = {None: best.value}
        totals |= {quota: filled for quota, (_, filled) in by_quota.items()}
        return ResampledGains(totals, best, {quota: x for quota, (x, _) in by_quota.items()})
    chosen: dict[Any, Any] = {None: ValueAt(best_quota, thresholds)}
    chosen |= {quota: partial(impact_at_quota, **x) for quota, x in data.quotas.items()}
    with silently():
        found = bootstrap(chosen, None, scores, method="percentile", **given)
    own = np.arange(len(thresholds))  # each with the cut that was chosen for it
    best_cut = BootstrapResult(*(x[own, own] for x in found.pop(None)))
    return ResampledGains({None: best_cut, **{quota: x.whole for quota, x in found.items()}})


def _with_ends(gains: GainResults, drawn: ResampledGains, results: Results) -> GainResults:
    best, at_best_cut = drawn.best, gains.at_best_cut
    if best is None:
        at_best_cut = replace(at_best_cut, ends={"brings": _ends(drawn.totals[None])})
    else:
        values = np.column_stack([at_best_cut.array, drawn.expected])
        ends = {"threshold": _ends(best.threshold), "quota": _ends(best.quota)}
        ends["expected"] = _ends(best.expected)
        at_best_cut = Values((*AT_BEST_CUT, EXPECTED), values, ends)
    at_quota = {
        quota: replace(values, ends={"brings": _ends_at(quota, drawn, results)})
        for quota, values in gains.at_quota.items()
    }
    within = {quota: _no_more_than_here(x) for quota, x in drawn.within.items()}
    return replace(gains, at_best_cut=at_best_cut, at_quota=at_quota, expected_within=within)


def _ends(found: BootstrapResult) -> Ends:
    return Ends(found.lower, found.upper, found.undefined)


def _ends_at(quota: Quota, drawn: ResampledGains, results: Results) -> Ends:
    """Of what a quota brings; where labels alone decide, from those of two hit rates."""
    if not by_labels(quota, results):
        return _ends(drawn.totals[quota])
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
        yield differences_of(data, "brings", quota, found, said, resampling.resamples)


def _tests(data: Resampled) -> Iterator[Differences]:
    """The tests by AUC, by the hit rate at every quota, and of a treatment by the uplift there."""
    given = {name: data.examples(name) for name in data.settings.models}
    first, *_ = given.values()
    models = {name: columns["y_score"] for name, columns in given.items()}
    resamples = data.resampling.test_resamples
    for quota, measure, at in _tested(data):
        data.on_step(f"comparing {measure.__name__}")
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            found = compare(
                measure,
                first["y_true"],
                models,
                sample_weight=first["sample_weight"],
                **data.drawn(resamples),
                **at,
            )
        notes = [str(each.message) for each in noted]
        yield differences_of(data, measure.__name__, quota, found, notes, resamples)


def _tested(data: Resampled) -> Iterator[tuple[Quota | None, Any, dict[str, Any]]]:
    """By what models are tested at which quota, and its arguments; of a budget by Qrecall, as the
    same money finds most where that is.
    """
    yield None, roc_auc, {}
    given = {x: {**at, **(data.costs if x.is_budget else {})} for x, at in data.quotas.items()}
    for quota, at in given.items():
        yield quota, qrecall if quota.is_budget else hit_rate, at
    if data.treated:
        for quota, at in given.items():
            yield quota, uplift_at_quota, {**at, **data.treated}


def differences_of(
    data: Resampled,
    measure: str,
    quota: Quota | None,
    found: Comparison,
    notes: Sequence[str],
    resamples: int,
) -> Differences:
    """A test whose notes name what the caller can give."""
    give = "give --resamples " if data.settings.command else "pass n_resamples="
    said = tuple(x.replace("pass n_resamples=", give) for x in notes)
    few = found.test == "bootstrap" and data.resampling.few(len(found.names), resamples)
    return Differences(measure, quota, found, said, bool(few))
