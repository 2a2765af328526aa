"""How sure the measures of an evaluation are: intervals, and which differences are real."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels._text import plain
from quotakernels.cli.measures import AREAS, AT_QUOTA, OVER_ALL, Measure
from quotakernels.cli.quota import Quota, QuotaArgument

__all__ = [
    "CLOSED_FORMS",
    "RESAMPLES",
    "Certainty",
    "Differences",
    "Ends",
    "Intervals",
    "Resampled",
    "differences_of",
    "intervals_of",
    "resamples_for",
]

Tell = Callable[[int, int], None]
_LEVEL = 0.95
RESAMPLES, _MOST_RESAMPLES, _AMPLE = 1000, 20_000, 8
_AREAS_IN_CLOSED_FORM: tuple[Literal["roc_auc", "gini", "pem"], ...] = ("roc_auc", "gini", "pem")
CLOSED_FORMS = dict.fromkeys(_AREAS_IN_CLOSED_FORM, "logit") | {"hit_rate": "wilson"}
"""Measures of rows without weights whose intervals are not of resamples, and their method."""
_AREAS = tuple(measure for measure in AREAS if measure.resampled)


@dataclass(frozen=True)
class Certainty:
    """What is asked for: intervals of a level, tests of differences, and how to resample.

    `resamples` are those of intervals, `test_resamples` those of tests.
    """

    level: float | None
    compare: bool
    resamples: int
    seed: int
    test_resamples: int

    @property
    def tested_level(self) -> float:
        """The level of the tests, with or without intervals of measures."""
        return _LEVEL if self.level is None else self.level

    def tells(self, models: int) -> bool:
        """Whether there are resamples enough to tell any of so many models apart."""
        return self.test_resamples >= _needed(models, self.tested_level)

    def in_words(self, weighted: bool, quotas: bool) -> Iterator[str]:
        """Tell what the ends are, and what was resampled; of the hit rate only at quotas."""
        percent = f"{plain(100 * self.tested_level)}%"
        rows = "rows with their weights" if weighted else "rows"
        rate = "hit rate: Wilson's; " if quotas else ""

        def resamples(number: int) -> str:
            return f"percentiles of {number} resamples of the {rows} (seed {self.seed})"

        if self.level is not None and weighted:
            yield (
                f"[lower, upper]: {percent} intervals, {resamples(self.resamples)}, also of "
                f"{'AUC, Gini and the hit rate' if quotas else 'AUC and Gini'}, whose formulas are "
                "for rows without weights."
            )
        elif self.level is not None:
            yield (
                f"[lower, upper]: {percent} intervals. AUC and Gini: logit, by DeLong's variance; "
                f"{rate}all others: {resamples(self.resamples)}."
            )
        if self.compare:
            yield (
                f"[lower, upper] of a difference: {percent} interval of one pair, "
                f"{resamples(self.test_resamples)}. "
                f"Models differ where p (Holm) is at most {plain(1 - self.tested_level)}."
            )

    def steps(self, models: int, quotas: int, gains: bool) -> int:
        """How many steps of work this is."""
        intervals = 0 if self.level is None else models + gains
        return intervals + (1 + quotas if self.compare else 0)


def resamples_for(models: int, level: float | None) -> int:
    """How many resamples tests take by default: more of many models, whose pairs are more.

    With just as many as are needed a single resample decides, and so the seed.
    """
    ample = _AMPLE * _needed(models, _LEVEL if level is None else level)
    return min(max(RESAMPLES, ample), _MOST_RESAMPLES)


def _needed(models: int, level: float) -> int:
    """The resamples whose smallest p-value, 2/(1 + R), is small enough for all pairs together."""
    return math.ceil(round(models * (models - 1) / (1 - level) - 1, 6))


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
class Ends:
    """Both ends of the interval of each model (row) and measure (column).

    `undefined` counts the resamples that leave the measure undefined.
    """

    measures: tuple[Measure, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    undefined: NDArray[np.int64]


@dataclass(frozen=True)
class Intervals:
    """The intervals of every table of measures."""

    over_all: Ends
    areas: Ends
    at_quota: dict[Quota, Ends]


@dataclass(frozen=True)
class Differences:
    """The tests of all pairs of models by one measure, over all quotas or at one.

    `too_few` says that no resamples of this number could tell models apart, and `notes` what else
    makes the tests worth little.
    """

    measure: str
    quota: Quota | None
    found: qk.Comparison
    notes: tuple[str, ...]
    too_few: bool = False


def intervals_of(data: Resampled, certainty: Certainty) -> Intervals:
    """The intervals of all models."""
    models = []
    for name in data.scores:
        data.on_step(f"resampling {name}")
        examples = data.examples(name)
        found = qk.bootstrap(
            _measures(data),
            **examples,
            n_resamples=certainty.resamples,
            confidence_level=certainty.tested_level,
            random_state=certainty.seed,
            progress=data.tell,
        )
        if examples.pop("sample_weight") is None:
            found |= _closed_forms(data, found["summary"], examples, certainty.tested_level)
        models.append(found)

    def ends(of_model: Callable[[Any], list[Any]], measures: tuple[Measure, ...]) -> Ends:
        shape = (len(models), len(measures))
        every = [x for found in models for x in of_model(found)]
        lower = np.asarray([float(x.lower) for x in every], dtype=np.float64)
        upper = np.asarray([float(x.upper) for x in every], dtype=np.float64)
        undefined = np.asarray([int(x.undefined) for x in every], dtype=np.int64)
        return Ends(measures, lower.reshape(shape), upper.reshape(shape), undefined.reshape(shape))

    return Intervals(
        ends(lambda found: [getattr(found["summary"], m.name) for m in OVER_ALL], OVER_ALL),
        ends(lambda found: [found[m.name] for m in _AREAS], _AREAS),
        {quota: ends(partial(_at_quota, quota), AT_QUOTA) for quota in data.quotas},
    )


def _closed_forms(
    data: Resampled, summary: Any, examples: dict[str, Any], level: float
) -> dict[Hashable, Any]:
    """Intervals that hold their level without resamples, in the place of those of resamples."""

    def closed(found: Any) -> qk.BootstrapResult:
        nothing = np.empty(0)
        ends = found.estimate, found.lower, found.upper
        return qk.BootstrapResult(*ends, nothing, np.int64(0), nothing)

    ranking = qk.rank(**examples)
    areas: dict[str, Any] = {
        name: closed(qk.auc_interval(ranking, measure=name, confidence_level=level))
        for name in _AREAS_IN_CLOSED_FORM
    }
    rates: dict[Hashable, Any] = {
        (quota, "hit_rate"): closed(
            qk.hit_rate_interval(ranking, confidence_level=level, **argument)
        )
        for quota, argument in data.quotas.items()
    }
    return {"summary": summary._replace(**areas), **rates}


def _at_quota(quota: Quota, found: Any) -> list[Any]:
    return [found[quota, measure.name] for measure in AT_QUOTA]


def _measures(data: Resampled) -> dict[Hashable, Any]:
    """All measures that tables show, by what finds them in the result."""
    measures: dict[Hashable, Any] = {"summary": qk.summary}
    measures |= {measure.name: measure.function for measure in _AREAS}
    for quota, argument in data.quotas.items():
        for measure in AT_QUOTA:
            measures[quota, measure.name] = partial(measure.function, **argument)
    return measures


def differences_of(data: Resampled, certainty: Certainty) -> Iterator[Differences]:
    """The tests by AUC, and by the hit rate at every quota."""
    given = {name: data.examples(name) for name in data.scores}
    first = given[data.scores[0]]
    models = {name: columns["y_score"] for name, columns in given.items()}
    asked: list[tuple[str, Quota | None]] = [("roc_auc", None)]
    asked += [("hit_rate", quota) for quota in data.quotas]
    for measure, quota in asked:
        data.on_step(f"comparing {measure}")
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            found = qk.compare(
                first["y_true"],
                models,
                getattr(qk, measure),
                sample_weight=first["sample_weight"],
                n_resamples=certainty.test_resamples,
                confidence_level=certainty.tested_level,
                random_state=certainty.seed,
                progress=data.tell,
                **({} if quota is None else data.quotas[quota]),
            )
        said = (str(each.message) for each in noted)
        notes = tuple(x.replace("pass n_resamples=", "give --resamples ") for x in said)
        yield Differences(measure, quota, found, notes, not certainty.tells(len(models)))
