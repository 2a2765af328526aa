"""The whole simulation: every kind of interval and test, on every population."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks import machine
from benchmarks.coverage import along, few, folds, gains, pairs, shapes, single, verdicts
from benchmarks.coverage.seen import Sights, rows, summed
from benchmarks.coverage.sources import SOURCES, Draw, Scores

Run = dict[str, Any]


class Kind(NamedTuple):
    """What is simulated; its number is part of its seeds, and stays its own."""

    number: int
    sights: Callable[[Scores, Draw], Sights]


KINDS = {
    "bootstrap": Kind(0, single.bootstrap),
    "closed forms": Kind(1, single.closed_forms),
    "groups": Kind(2, single.groups),
    "finite list": Kind(3, single.finite_list),
    "differences": Kind(4, pairs.differences),
    "levels": Kind(5, pairs.levels),
    "bands": Kind(6, along.bands),
    "optimum": Kind(7, along.optimum),
    "folds": Kind(8, folds.summaries),
    "levels over folds": Kind(9, folds.levels),
    "poisson": Kind(10, single.poisson),
    "verdicts": Kind(11, verdicts.verdicts),
    "averages": Kind(12, single.averages),
    "lift": Kind(18, single.lift),
    "weights": Kind(13, single.weights),
    "few positives": Kind(14, few.positives),
    "few clusters": Kind(15, few.clusters),
    "few groups": Kind(17, few.groups),
    "hulls": Kind(16, single.hulls),
    "shapes": Kind(19, shapes.areas),
    "quotas": Kind(20, shapes.quotas),
    "planned": Kind(30, pairs.planned),
    "winners": Kind(23, verdicts.winners),
    "unequal weights": Kind(21, single.unequal),
    "campaigns": Kind(22, shapes.campaigns),
    "gains": Kind(24, gains.gains),
    "early quotas": Kind(25, pairs.early),
}
POPULATIONS = {
    "tied": 0,
    "rare": 1,
    "strong": 2,
    "moderate": 3,
    "steep": 4,
    "steeper": 5,
    "late": 6,
    "coarse": 7,
    "weak": 8,
}
"""Their numbers, for the seeds too."""

OF_ONE = (
    *("few positives", "few clusters", "few groups", "shapes", "quotas", "planned"),
    *("winners", "campaigns", "gains", "early quotas"),
)
"""Kinds that have their own data sets, most of them made of the moderate population."""

FURTHER = {
    "moderate": (
        *("closed forms", "optimum", "bootstrap", "averages", "lift", "unequal weights"),
        *OF_ONE,
    ),
    "steep": (
        *("closed forms", "finite list", "bootstrap", "differences", "levels", "verdicts"),
        *("averages", "lift", "unequal weights"),
    ),
    "late": ("closed forms", "finite list", "averages", "lift", "unequal weights"),
    "steeper": ("closed forms", "finite list"),
    "coarse": ("closed forms", "bootstrap", "bands", "averages", "lift"),
    "weak": ("closed forms", "averages", "lift", "unequal weights"),
}
"""Populations that are simulated for these kinds only; all others for all but those of one."""


class Plan(NamedTuple):
    """How much is simulated."""

    replications: int = 500
    resamples: int = 300
    seed: int = 1
    kinds: tuple[str, ...] = tuple(KINDS)
    sources: tuple[str, ...] = tuple(SOURCES)


def simulated(plan: Plan, say: Callable[[str], None]) -> Iterator[Run]:
    """The run as far as it has come, after each population of each kind."""
    about = machine.describe(False)
    how = {
        "command": f"python -m benchmarks.coverage --replications {plan.replications}"
        f" --resamples {plan.resamples} --seed {plan.seed}",
        "date": about["date"],
        "versions": {name: about["versions"].get(name) for name in ("quotakernels", "numpy")},
    }
    run: Run = {}
    for kind in plan.kinds:
        for name in (x for x in plan.sources if kind in kinds_of(x)):
            found = {**how, **_of_kind(plan, kind, name)}
            run.setdefault(kind, {})[name] = found
            say(f"{kind}, {name}: {found['cpu_seconds']} s")
            yield run


def kinds_of(name: str) -> Sequence[str]:
    """What is simulated of a population."""
    return FURTHER.get(name) or [kind for kind in KINDS if kind not in OF_ONE]


def _of_kind(plan: Plan, kind: str, name: str) -> Run:
    found: dict[tuple[str, str], dict[str, float]] = {}
    place = KINDS[kind].number, POPULATIONS[name]
    start = time.process_time()
    for number in range(plan.replications):
        rng = np.random.default_rng([plan.seed, *place, number])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            summed(found, KINDS[kind].sights(SOURCES[name], Draw(rng, plan.resamples)))
    return {
        "replications": plan.replications,
        "resamples": plan.resamples,
        "cpu_seconds": round(time.process_time() - start, 1),
        "rows": rows(found),
    }
