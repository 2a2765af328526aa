"""How sure means over groups are, and what quotas of groups find: groups are drawn whole.  How far
groups are apart under one quota: rows are drawn.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from quotakernels.evaluation.groups import (
    APART,
    MEASURES,
    OVER_ALL,
    Floats,
    GroupResults,
    GroupValues,
)
from quotakernels.evaluation.intervals import Resampled, differences_of, without_costs
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.results import Differences, Ends, Results, Values
from quotakernels.inference.bootstrapping import bootstrap
from quotakernels.inference.comparing import compare
from quotakernels.inputs.keywords import silently
from quotakernels.measures.at_quota.hit_rate import hit_rate, qrecall
from quotakernels.measures.at_quota.selection_by_group import selection_by_group
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
        apart = {quota: _ends_apart(data, groups, quota) for quota in groups.apart}
        groups = replace(groups, values=values, apart_ends=apart)
        results = replace(results, at_quota=at_quota, groups=groups)
    if data.resampling.compare and data.settings.per is not None:
        tests = _tests(data, groups)
        results = replace(results, differences=(*results.differences, *tests))
    return results


def _hit_rate_together(groups: GroupResults, quota: Quota, model: int = 0) -> Any:
    """The hit rate of all that the quotas of groups select, as a mean over groups.

    Only of a budget models fill other places.
    """
    places = groups.values[quota].of("places")[model]
    return group_mean(hit_rate, weights=places, **quota.argument(groups.most))


def _qrecall_together(groups: GroupResults, quota: Quota) -> Any:
    return group_mean(qrecall, weights="positives", **quota.argument(groups.most))


def _ends_of_model(
    data: Resampled, groups: GroupResults, name: str
) -> dict[tuple[Any, ...], tuple[float, float, float]]:
    """The intervals of its means; of one quota over all, whose parts are not of groups, none."""
    data.on_step(f"drawing groups of {name}")
    measures: dict[tuple[Any, ...], Any]
    measures = {(None, x.name): group_mean(x.function) for x in OVER_ALL}
    for quota in data.settings.quotas if data.settings.per is not None else ():
        argument = quota.argument(groups.most)
        for measure in MEASURES:
            measures[quota, measure.name] = group_mean(measure.function, **argument)
        model = data.settings.models.index(name)
        measures[_TOGETHER, quota, "hit_rate"] = _hit_rate_together(groups, quota, model)
        measures[_TOGETHER, quota, "qrecall"] = _qrecall_together(groups, quota)
    examples = data.examples(name)
    examples = without_costs(examples) if data.settings.per is None else examples
    given = {**examples, "groups": data.groups}
    with silently():  # the notes tell
        drawn = bootstrap(measures, **given, **data.drawn(data.resampling.resamples))
    each = {key: x.value for key, x in drawn.items()}
    return {k: (float(x.lower), float(x.upper), float(x.undefined)) for k, x in each.items()}


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
            found = bootstrap(selection_by_group, **given)
        each = [getattr(found, x.name) for x in APART]
        ends.append([[float(x.lower) for x in each], [float(x.upper) for x in each]])
    return np.swapaxes(np.asarray(ends), 0, 1)


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
    beside = {"sample_weight": first["sample_weight"], **data.costs}
    test: Any = functools.partial(compare, y_true=first["y_true"], models=models, **beside)
    for quota in data.settings.quotas:
        data.on_step("comparing what quotas of groups find")
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            of_all = _qrecall_together if quota.is_budget else _hit_rate_together
            found = test(of_all(groups, quota), groups=data.groups, **data.drawn(resamples))
        notes = [str(each.message) for each in noted]
        name = "qrecall" if quota.is_budget else "hit_rate"
        yield differences_of(data, name, quota, found, notes, resamples)
