"""How sure means over groups are, and what quotas of groups find: groups are drawn whole."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from quotakernels.evaluation.groups import MEASURES, OVER_ALL, GroupResults, GroupValues
from quotakernels.evaluation.intervals import Resampled, differences_of
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.results import Differences, Ends, Results, Values
from quotakernels.inference.comparison.compare import compare
from quotakernels.inference.resampling.bootstrap import bootstrap
from quotakernels.measures.at_quota.hit_rate import hit_rate, qrecall
from quotakernels.measures.by_group import group_mean

R = TypeVar("R", bound=Results)
_TOGETHER = "together"


def with_groups_drawn(results: R, data: Resampled) -> R:
    """The results with intervals of means over groups, and tests of what their quotas find."""
    groups = results.groups
    assert groups is not None
    if data.resampling.level is not None:
        models = [_ends_of_model(data, groups, name) for name in data.settings.models]
        ends = {key: Ends(*np.transpose([found[key] for found in models])) for key in models[0]}
        at_quota = {k: _sure_together(x, ends, k) for k, x in results.at_quota.items()}
        values = {quota: _sure(x, ends, quota) for quota, x in groups.values.items()}
        results = replace(results, at_quota=at_quota, groups=replace(groups, values=values))
    if data.resampling.compare and data.settings.per is not None:
        tests = _tests(data, groups)
        results = replace(results, differences=(*results.differences, *tests))
    return results


def _argument(groups: GroupResults, quota: Quota) -> dict[str, Any]:
    return quota.argument(float(groups.masses.max(initial=0)))


def _hit_rate_together(groups: GroupResults, quota: Quota) -> Any:
    """The hit rate of all that the quotas of groups select, as a mean over groups."""
    places = quota.of_each(groups.masses)
    return group_mean(hit_rate, weights=places, **_argument(groups, quota))


def _ends_of_model(
    data: Resampled, groups: GroupResults, name: str
) -> dict[tuple[Any, ...], tuple[float, float, float]]:
    """The intervals of its means; of one quota over all, whose parts are not of groups, none."""
    data.on_step(f"drawing groups of {name}")
    measures: dict[tuple[Any, ...], Any]
    measures = {(None, x.name): group_mean(x.function) for x in OVER_ALL}
    for quota in data.settings.quotas if data.settings.per is not None else ():
        argument = _argument(groups, quota)
        for measure in MEASURES:
            measures[quota, measure.name] = group_mean(measure.function, **argument)
        measures[_TOGETHER, quota, "hit_rate"] = _hit_rate_together(groups, quota)
        found = group_mean(qrecall, weights="positives", **argument)
        measures[_TOGETHER, quota, "qrecall"] = found
    given = {**data.examples(name), "groups": data.groups}
    drawn = bootstrap(measures, **given, **data.drawn(data.resampling.resamples))
    each = {key: x.value for key, x in drawn.items()}
    return {k: (float(x.lower), float(x.upper), float(x.undefined)) for k, x in each.items()}


def _sure(values: GroupValues, ends: dict[Any, Ends], quota: Quota | None) -> GroupValues:
    names = [x.name for x in values.measures if (quota, x.name) in ends]
    found = {name: ends[quota, name] for name in names}
    return replace(values, mean_ends={k: np.stack([x.lower, x.upper]) for k, x in found.items()})


def _sure_together(values: Values, ends: dict[Any, Ends], quota: Quota) -> Values:
    names = [x.name for x in values.measures if (_TOGETHER, quota, x.name) in ends]
    return replace(values, ends={**values.ends, **{x: ends[_TOGETHER, quota, x] for x in names}})


def _tests(data: Resampled, groups: GroupResults) -> Iterator[Differences]:
    """The tests of all pairs of models by what their quotas of groups find together."""
    examples = {name: data.examples(name) for name in data.settings.models}
    first, *_ = examples.values()
    models = {name: columns["y_score"] for name, columns in examples.items()}
    resamples = data.resampling.test_resamples
    test = functools.partial(
        compare, y_true=first["y_true"], models=models, sample_weight=first["sample_weight"]
    )
    for quota in data.settings.quotas:
        data.on_step("comparing what quotas of groups find")
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            measure = _hit_rate_together(groups, quota)
            found = test(measure, groups=data.groups, **data.drawn(resamples))
        notes = [str(each.message) for each in noted]
        yield differences_of(data, "hit_rate", quota, found, notes, resamples)
