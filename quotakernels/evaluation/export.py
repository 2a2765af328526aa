"""An evaluation for programs: everything in one record of plain values."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from quotakernels.evaluation.groups import APART, GroupResults, GroupValues
from quotakernels.evaluation.intervals import CLOSED_FORMS
from quotakernels.evaluation.notes import notes_of_hit_rates, notes_of_intervals, pairs_of
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.results import Differences, GainResults, Results, Values
from quotakernels.evaluation.segments import dominant

_CONTROL = re.compile(r"[\x7f-\x9f]")


def as_json(content: dict[str, Any]) -> str:
    """A record as JSON, in which no text controls a terminal."""
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_dict(results: Results) -> dict[str, Any]:
    """All of an evaluation: full precision, None where a measure is undefined or infinite."""
    settings, unit = results.settings, results.settings.unit
    return {
        "source": settings.source,
        "label": settings.label,
        "pos_label": settings.pos_label,
        "weight": settings.weight,
        "cost": settings.cost,
        "treatment": settings.treatment,
        "treated": settings.treated,
        "where": [x.option for x in settings.where],
        "tune": [x.option for x in settings.tune],
        "unit": None
        if unit is None
        else {**asdict(unit), "impacts": unit.impacts and [*unit.impacts]},
        "rows": results.rows,
        "positives": results.positives,
        "total_weight": results.total,
        "positive_weight": results.positive_total,
        "total_cost": _defined(results.total_cost),
        "prevalence": _defined(results.prevalence),
        **_groups(results),
        **_confidence(results),
        **_gains(results.gains),
        "models": [
            {"score": name, **_model(results, row)} for row, name in enumerate(settings.models)
        ],
        **_best(results),
    }


def _best(results: Results) -> dict[str, Any]:
    """Who is the best at which quotas, which rankings tell; without these it is not known."""
    if not results.rankings:
        return {"dominant": None, "best_by_quota": None}
    names = results.models
    segments = [
        {**x._asdict(), "models": [names[model] for model in x.models]} for x in results.best
    ]
    return {"dominant": [names[x] for x in dominant(results.best)], "best_by_quota": segments}


def _gains(gains: GainResults | None) -> dict[str, float]:
    if gains is None:
        return {}
    return {"brought_by_nobody": gains.nobody, "brought_by_all": gains.everybody}


def _groups(results: Results) -> dict[str, Any]:
    """By what rows are grouped, whose quotas are meant, and what the groups are."""
    groups, settings = results.groups, results.settings
    if groups is None:
        return {}
    own = settings.per is not None
    found = {
        "column": settings.grouped_by,
        "quotas": "of each group" if own else "over all",
        "names": [*groups.names],
        "rows": groups.rows.tolist(),
        "positives": groups.positives.tolist(),
        "total_weight": groups.masses.tolist(),
        "positive_weight": groups.positive_masses.tolist(),
    }
    return {"groups": found}


def _in_groups(values: GroupValues, row: int) -> dict[str, Any]:
    """What a model has in the groups: of each measure the mean over them, the spread and all."""
    found: dict[str, Any] = {}
    for name in (x.name for x in values.measures):
        if name in values.bounds:
            both = [_in_groups(values.at_bound(k), row)[name] for k in (0, 1)]
            found[name] = _if_equal(*both) | {"bounds": both}
            continue
        column = values.of(name)[row].tolist()
        found[name] = {
            "mean": _defined(values.mean(name, row)),
            "groups": len(values.defined(name, row)),
            "spread": [*map(_defined, values.spread(name, row))],
            "values": [*map(_defined, column)],
        }
        if name in values.mean_ends:
            found[name]["interval"] = [*map(_defined, values.mean_interval(name, row))]
        if name in values.ends:
            ends = (values.interval(name, row, k) for k in range(len(column)))
            found[name]["intervals"] = [[*map(_defined, both)] for both in ends]
    return found


def _if_equal(lower: Any, upper: Any) -> Any:
    """What both bounds have in common; None in the place of numbers between them."""
    if isinstance(lower, dict):
        return {name: _if_equal(lower[name], upper[name]) for name in lower}
    if isinstance(lower, list):
        return [*map(_if_equal, lower, upper)]
    return lower if lower == upper else None


def _between(groups: GroupResults, quota: Quota, row: int) -> dict[str, Any]:
    """How far groups are apart by a model, and the intervals of that, if there are."""
    names, values = [x.name for x in APART], groups.apart[quota][row].tolist()
    found: dict[str, Any] = dict(zip(names, map(_defined, values), strict=True))
    if quota in groups.apart_ends:
        ends = (groups.apart_interval(quota, row, k) for k in range(len(names)))
        of_each = ([*map(_defined, both)] for both in ends)
        found["intervals"] = dict(zip(names, of_each, strict=True))
    return found


def _model(results: Results, row: int) -> dict[str, Any]:
    """What a model has of all tables: values first, then their intervals."""
    content: dict[str, Any] = {}
    quotas: dict[str, Any] = {
        str(quota): {"places": float(results.places(quota)[row])} for quota in results.at_quota
    }
    best_cut: dict[str, Any] = {}
    sure: list[tuple[dict[str, Any], Values]] = []
    for part, quota, values in results.sections:
        over_all = best_cut if part == "gains" else content
        target = over_all if quota is None else quotas[str(quota)]
        target |= {name: _defined(x) for name, x in values.of_model(row).items()}
        if bounds := values.bounds_of_model(row):
            target["bounds"] = {**target.get("bounds", {}), **{k: [*x] for k, x in bounds.items()}}
        sure.append((target, values))
    for target, values in sure:
        for name, ends in values.ends.items():
            both = [_defined(x) for x in values.interval(name, row)]
            target.setdefault("intervals", {})[name] = both
            target.setdefault("undefined", {})[name] = int(ends.undefined[row])
    if results.groups is not None:
        for quota, in_groups in results.groups.values.items():
            target = content if quota is None else quotas[str(quota)]
            target["groups"] = _in_groups(in_groups, row)
        for quota in results.groups.apart:
            quotas[str(quota)]["between_groups"] = _between(results.groups, quota, row)
    at = "quotas" if results.settings.cost is None else "budgets"
    parts = {"best_cut": best_cut, at: quotas}
    return content | {name: part for name, part in parts.items() if part}


def _confidence(results: Results) -> dict[str, Any]:
    """How resamples were drawn, and the tests of differences."""
    resampling = results.settings.resampling
    if resampling is None:
        return {}
    if not resampling.resamples:  # as of passes over the rows
        notes = [*notes_of_hit_rates(results)]
        return {
            "confidence": {
                "level": resampling.tested_level,
                "closed_forms": {"hit_rate": CLOSED_FORMS["hit_rate"]},
                "notes": notes,
            }
        }
    drawn: dict[str, Any] = {
        "level": resampling.tested_level,
        "resamples": resampling.resamples,
        "seed": resampling.seed,
    }
    if resampling.test_resamples != resampling.resamples:
        drawn["test_resamples"] = resampling.test_resamples
    if results.weighted:
        drawn["effective_rows"] = _defined(results.effective_rows)
    if resampling.level is not None:
        drawn["closed_forms"] = _closed_forms(results)
        drawn["notes"] = list(notes_of_intervals(results))
    tests = [_tests(x) for x in results.differences]
    return {"confidence": drawn, **({"differences": tests} if tests else {})}


def _closed_forms(results: Results) -> dict[str, str]:
    """Of which measures intervals are closed forms, and which; under a budget not of hit rates."""
    settings = results.settings
    if settings.weight is not None:
        return {}
    return {k: x for k, x in CLOSED_FORMS.items() if settings.cost is None or k != "hit_rate"}


def _tests(differences: Differences) -> dict[str, Any]:
    found, quota = differences.found, differences.quota
    return {
        "measure": differences.measure,
        "budget" if quota is not None and quota.is_budget else "quota": quota and str(quota),
        "test": found.test,
        "expected": _defined(found.expected),
        "pairs": [
            {
                "better": found.names[i],
                "worse": found.names[j],
                "difference": _defined(found.difference[i, j]),
                "interval": [_defined(found.lower[i, j]), _defined(found.upper[i, j])],
                "p_value": _defined(found.p_value[i, j]),
                "p_adjusted": _defined(found.p_adjusted[i, j]),
            }
            for i, j in pairs_of(differences)
        ],
        "notes": list(differences.notes),
        "not_told_apart": [list(group) for group in found.groups if len(group) > 1],
    }


def _defined(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def as_rows(results: Results) -> dict[str, list[Any]]:
    """Every value by columns: model, quota or budget, measure, value and both ends of its interval;
    behind the quota the group, if there are groups, which is None of all rows.
    """
    rows = [
        (name, _places(results, quota), None, measure, value, *values.interval(measure, row))
        for _, quota, values in results.sections
        for row, name in enumerate(results.models)
        for measure, value in values.of_model(row).items()
    ]
    if results.groups is not None:
        rows += _rows_of_groups(results, results.groups)
    at = "quota" if results.settings.cost is None else "budget"
    names = ("model", at, "group", "measure", "value", "lower", "upper")
    columns = zip(names, map(list, zip(*rows, strict=True)), strict=True)
    return {name: x for name, x in columns if name != "group" or results.groups is not None}


def _places(results: Results, quota: Quota | None) -> float:
    if quota is None:
        return math.nan
    return quota.amount if quota.is_budget else results.places_at_random(quota)


def _rows_of_groups(results: Results, groups: GroupResults) -> Iterator[tuple[Any, ...]]:
    for over_all, apart in groups.apart.items():
        for (row, k), value in np.ndenumerate(apart):
            between = (results.models[row], _places(results, over_all), None, APART[k].name)
            yield (*between, float(value), *groups.apart_interval(over_all, row, k))
    for quota, values in groups.values.items():
        places = _places(results, quota)
        for measure in (x.name for x in values.measures):
            for (row, k), value in np.ndenumerate(values.of(measure)):
                ends = values.interval(measure, row, k)
                name = str(groups.names[k])
                yield (results.models[row], places, name, measure, float(value), *ends)
