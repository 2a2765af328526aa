"""How sure the measures of an evaluation are: intervals, and which differences are real."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from quotakernels.evaluation.measures import AREAS, AT_QUOTA, OVER_ALL, Column
from quotakernels.evaluation.quota import Quota, QuotaArgument
from quotakernels.evaluation.settings import Resampling
from quotakernels.inference.comparison.compare import Comparison, compare
from quotakernels.inference.delong.interval import auc_interval
from quotakernels.inference.proportions.hit_rate import hit_rate_interval
from quotakernels.inference.resampling.bootstrap import bootstrap
from quotakernels.measures.at_quota.hit_rate import hit_rate
from quotakernels.measures.over_quotas.areas import roc_auc
from quotakernels.measures.over_quotas.summary import summary
from quotakernels.ranking import rank

Tell = Callable[[int, int], None]
_AREAS_IN_CLOSED_FORM: tuple[Literal["roc_auc", "gini", "pem"], ...] = ("roc_auc", "gini", "pem")
CLOSED_FORMS = dict.fromkeys(_AREAS_IN_CLOSED_FORM, "logit") | {"hit_rate": "wilson"}
"""Measures of rows without weights whose intervals are not of resamples, and their method."""
_Key = tuple[Any, ...]  # the name of a measure, behind its quota if it has one
_Ends = tuple[float, float, float]
_SUMMARY = ("summary",)
_AREAS = tuple(measure for measure in AREAS if measure.resampled)


@dataclass(frozen=True)
class Resampled:
    """What is resampled: models, quotas, and the labels, scores and weights of each model.

    `on_step` hears about each step before it begins, and `tell` how much of it is done.
    """

    scores: tuple[str, ...]
    quotas: Mapping[Quota, QuotaArgument]
    examples: Callable[[str], dict[str, Any]]
    on_step: Callable[[str], object]
    tell: Tell


@dataclass(frozen=True)
class Limits:
    """Both ends of the interval of each model (row) and measure (column).

    `undefined` counts the resamples that leave the measure undefined.
    """

    measures: tuple[Column, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    undefined: NDArray[np.int64]

    def of(self, name: str, row: int) -> tuple[float, float]:
        """Return both ends of a model's measure; NaN of one that is not here."""
        for k, measure in enumerate(self.measures):
            if measure.name == name:
                return float(self.lower[row, k]), float(self.upper[row, k])
        return math.nan, math.nan


@dataclass(frozen=True)
class Intervals:
    """The intervals of every table of measures."""

    over_all: Limits
    areas: Limits
    at_quota: dict[Quota, Limits]


@dataclass(frozen=True)
class Differences:
    """The tests of all pairs of models by one measure, over all quotas or at one.

    By what they bring, "brings", those over all quotas are of the best cuts.

    `too_few` says that no resamples of this number could tell models apart, and `notes` what else
    makes the tests worth little.
    """

    measure: str
    quota: Quota | None
    found: Comparison
    notes: tuple[str, ...]
    too_few: bool = False


def intervals_of(data: Resampled, resampling: Resampling) -> Intervals:
    """The intervals of all models."""
    models = [_intervals_of_model(data, name, resampling) for name in data.scores]

    def limits(measures: tuple[Column, ...], *quota: Quota) -> Limits:
        ends = np.asarray([[found[*quota, m.name] for m in measures] for found in models])
        return Limits(measures, ends[..., 0], ends[..., 1], ends[..., 2].astype(np.int64))

    at_quota = {quota: limits(AT_QUOTA, quota) for quota in data.quotas}
    return Intervals(limits(OVER_ALL), limits(_AREAS), at_quota)


def _intervals_of_model(data: Resampled, name: str, resampling: Resampling) -> dict[_Key, _Ends]:
    """Intervals by resamples; where a formula holds its level without them, by that."""
    data.on_step(f"resampling {name}")
    examples, level = data.examples(name), resampling.tested_level
    found = bootstrap(
        _measures(data),
        **examples,
        n_resamples=resampling.resamples,
        confidence_level=level,
        random_state=resampling.seed,
        progress=data.tell,
    )
    found |= {(x,): result for x, result in found.pop(_SUMMARY)._asdict().items()}
    ends = {k: (float(x.lower), float(x.upper), float(x.undefined)) for k, x in found.items()}
    if examples["sample_weight"] is not None:
        return ends
    ranking = rank(**examples)
    closed: dict[_Key, Any] = {
        (x,): auc_interval(ranking, measure=x, confidence_level=level)
        for x in _AREAS_IN_CLOSED_FORM
    }
    for quota, argument in data.quotas.items():
        rate = hit_rate_interval(ranking, confidence_level=level, **argument)
        closed[quota, "hit_rate"] = rate
    return ends | {k: (float(x.lower), float(x.upper), 0.0) for k, x in closed.items()}


def _measures(data: Resampled) -> dict[_Key, Any]:
    """All measures that tables show, by what finds them in the result."""
    measures: dict[_Key, Any] = {_SUMMARY: summary}
    measures |= {(measure.name,): measure.function for measure in _AREAS}
    for quota, argument in data.quotas.items():
        for measure in AT_QUOTA:
            measures[quota, measure.name] = partial(measure.function, **argument)
    return measures


def differences_of(data: Resampled, resampling: Resampling) -> Iterator[Differences]:
    """The tests by AUC, and by the hit rate at every quota."""
    given = {name: data.examples(name) for name in data.scores}
    first = given[data.scores[0]]
    models = {name: columns["y_score"] for name, columns in given.items()}
    for quota in (None, *data.quotas):
        measure: Any = roc_auc if quota is None else hit_rate
        data.on_step(f"comparing {measure.__name__}")
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            found = compare(
                measure,
                first["y_true"],
                models,
                sample_weight=first["sample_weight"],
                n_resamples=resampling.test_resamples,
                confidence_level=resampling.tested_level,
                random_state=resampling.seed,
                progress=data.tell,
                **({} if quota is None else data.quotas[quota]),
            )
        notes = tuple(str(each.message) for each in noted)
        too_few = not resampling.tells(len(models), resampling.test_resamples)
        yield Differences(measure.__name__, quota, found, notes, too_few)
