"""Populations of which it is known which models are good, to judge what an evaluation says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import quotakernels as qk
from benchmarks.coverage.sources import ALIKE, Array
from quotakernels.evaluation.results import first_choice

LARGE = 150_000
"""About as many rows tell the truth."""
HEAVY: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "uniform": lambda rng, rows: rng.uniform(0.5, 1.5, rows),
    "normal": lambda rng, rows: rng.normal(1.0, 0.5, rows),
    "lognormal 1": lambda rng, rows: rng.lognormal(-0.5, 1.0, rows),
    "lognormal": lambda rng, rows: rng.lognormal(-2.0, 2.0, rows),
    "pareto": lambda rng, rows: 0.5 * rng.pareto(1.5, rows),
    "pareto 2.5": lambda rng, rows: 1.5 * rng.pareto(2.5, rows),
}
"""Amounts of a mean of 1."""
COLUMNS = {"per": "group", "by": "group"}
"""What an option names, unless that has the name of the option."""
Number = Mapping[str, float]
"""Of each model."""


@dataclass(frozen=True)
class Population:
    """Normal scores of several models, those of positives higher by a shift.

    Models of the same shift are equally good, and those without one are noise.  Rows of a `cluster`
    have one label, and scores that are alike; each `group` has a share of positives and, with a
    quota of its own, a level of scores.  A positive has a `gain` from `HEAVY`, times `worth`, and
    each row costs 1.
    """

    rows: int
    shifts: tuple[float, ...]
    quota: float = 0.0
    positive: float = 0.2
    step: float = 0.0
    cluster: int = 1
    group: int = 1
    gain: str = ""
    worth: float = 0.0
    impacts: tuple[float, ...] = ()
    effect: float = 0.0
    options: tuple[str, ...] = ()
    everything: bool = False

    @property
    def models(self) -> dict[str, float]:
        """The shift of each model, by its name."""
        return {f"m{k}": x for k, x in enumerate(self.shifts)}

    @property
    def line(self) -> list[str]:
        """The options of the command."""
        named = [("--score", x) for x in self.models]
        named += [(f"--{x}", COLUMNS.get(x, x)) for x in self.options]
        named += [("--gain", "gain")] if self.gain else []
        if self.impacts:
            named.append(("--impact", ",".join(f"{x:g}" for x in self.impacts)))
        if self.quota:
            named.append(("--budget" if "cost" in self.options else "--quota", f"{self.quota:g}"))
        flags = ["--all"] * self.everything
        return ["--label", "label", *(x for pair in named for x in pair), *flags]

    def sample(self, rng: np.random.Generator) -> dict[str, Array]:
        """The columns of a data set."""
        return self._drawn(rng, self.rows, self.models)

    def _drawn(
        self, rng: np.random.Generator, rows: int, models: Number, large: bool = False
    ) -> dict[str, Array]:
        owner, group = np.arange(rows) // self.cluster, np.arange(rows) // self.group
        of_groups, chance = np.zeros(rows), np.full(rows, self.positive)
        if "per" in self.options:
            of_groups = 0.5 * rng.normal(size=group[-1] + 1)[group]
            chance *= rng.choice([0.5, 1.5], group[-1] + 1)[group]
        elif "by" in self.options:
            chance *= 0.5 + group % 2
        both, treated = _noise(rng, owner) + of_groups, rng.random(rows) < 0.5
        labels = rng.random(owner[-1] + 1)[owner] < chance + self.effect * treated * (both > 0)
        columns: dict[str, Array] = {}
        for name, shift in models.items():
            own = np.sqrt(ALIKE) * both + np.sqrt(1 - ALIKE) * _noise(rng, owner)
            scores = own + shift * labels
            columns[name] = np.round(scores / self.step) * self.step if self.step else scores
        amounts = 1.0 if large else HEAVY[self.gain or "uniform"](rng, rows)
        weight, cost = rng.lognormal(-0.32, 0.8, (2, rows))
        beside = {"cluster": owner, "group": group, "weight": weight, "cost": cost}
        beside |= {"treatment": treated * 1, "gain": self.worth * labels * amounts - 1.0}
        asked = {COLUMNS.get(x, x) for x in (*self.options, *(["gain"] if self.gain else []))}
        return {"label": labels * 1, **columns, **{x: beside[x] for x in asked}}

    @cached_property
    def truth(self) -> Truth:
        """What is true of it."""
        times = LARGE // self.rows
        alike = {f"{x:g}": x for x in self.shifts}
        rng = np.random.default_rng(0)
        columns = self._drawn(rng, times * self.rows, alike, large=True)
        asked = {"weight": "sample_weight"}
        given: dict[str, Any] = {
            asked.get(x, x): columns[COLUMNS.get(x, x)] for x in self.options if x != "cluster"
        }
        given |= {"gain": columns["gain"]} if self.gain else {}
        given |= {"impacts": self.impacts} if self.impacts else {}
        if self.quota:
            each = 1 if "per" in self.options else times
            given["budget" if "cost" in self.options else "quota"] = self.quota * each
        found = qk.evaluate(columns["label"], {x: columns[x] for x in alike}, **given)
        return Truth(self, found, times)


def _noise(rng: np.random.Generator, owner: Array) -> Array:
    """Standard normal, half of it that of the cluster if these have several rows."""
    own = rng.normal(size=owner.size)
    if owner[-1] + 1 == owner.size:
        return own
    return np.sqrt(0.5) * (own + rng.normal(size=owner[-1] + 1)[owner])


class Truth:
    """What models have in as many rows of the population as a data set has, by the names of models.

    `compared` is what they are compared by: what they bring, or else find, at the quota; without
    one what their best cuts bring, or else the AUC.  `random` is what a random choice has of it.
    `rank` orders the models: it is above 0 of those that are better than a random choice, and 0 of
    those that are as good.
    """

    def __init__(self, source: Population, large: qk.results.Evaluation, times: int) -> None:
        self._times, self._shifts, choice = times, source.models, first_choice(large)
        whole = source.quota == source.rows  # of which all models select the same
        self.rank = {name: 0.0 if whole else x for name, x in self._shifts.items()}
        self.adds = self.rank if source.effect else dict.fromkeys(self.rank, 0.0)
        self.area = self.compared = self._named(large, large.over_all.of("roc_auc"))
        if (gains := large.gains) is not None:
            self.nobody, self.everybody = gains.nobody / times, gains.everybody / times
            self._curves = dict(zip(large.models, (x.curve for x in gains.cuts), strict=True))
            self.compared = self._named(large, gains.at_best_cut.of("brings") / times)
        if choice is None:
            return
        self.random = choice.random_found / times
        self.found = self.compared = self._named(large, choice.found / times)
        self.places = self._named(large, choice.filled / times)
        if choice.brings is not None:
            self.random = choice.random_brings / times
            self.compared = self._named(large, choice.brings / times)
        if large.settings.treatment is not None:
            added = 100 * large.at_quota[choice.quota].of("uplift_at_quota")
            self.uplift = self._named(large, added)

    def _named(self, large: qk.results.Evaluation, values: Array) -> dict[str, float]:
        of_shift = dict(zip(large.models, values.tolist(), strict=True))
        return {name: of_shift[f"{x:g}"] for name, x in self._shifts.items()}

    def brings(self, model: str, places: float) -> float:
        """What so many places bring by a model."""
        curve, times = self._curves[f"{self._shifts[model]:g}"], self._times
        return float(np.interp(places * times, curve.quota, curve.value)) / times

    def most(self, places: float) -> float:
        """The most that up to so many places bring by any model."""
        fewer = (x.value[x.quota <= places * self._times].max() for x in self._curves.values())
        return float(max(fewer)) / self._times


ONE_GOOD = (0.5, *(0.0,) * 7)
POPULATIONS = {
    "noise": Population(500, (0.0,), 50),
    "two of noise": Population(500, (0.0,) * 2, 50),
    "eight of noise": Population(500, (0.0,) * 8, 50),
    "twenty of noise": Population(400, (0.0,) * 20, 40),
    "worse than chance": Population(500, (-0.3,), 50),
    "useful": Population(500, (0.6,), 50),
    "two alike": Population(500, (1.0,) * 2, 50),
    "three alike": Population(600, (1.0,) * 3, 60, everything=True),
    "eight alike": Population(500, (1.0,) * 8, 50),
    "twenty alike": Population(400, (0.8,) * 20, 40),
    "one good": Population(500, (1.0, *(0.0,) * 7), 50),
    "one better": Population(1000, (1.5, 1.0, 1.0), 100, everything=True),
    "two good of five": Population(800, (1.2, 1.2, 0.3, 0.3, 0.3), 80),
    "eight alike, any quota": Population(400, (1.0,) * 8),
    "rare, useful": Population(1000, (1.0,), 10, positive=0.01),
    "rare, two alike": Population(2000, (1.2,) * 2, 20, positive=0.01),
    "rare, eight of noise": Population(1000, (0.0,) * 8, 5, positive=0.01),
    "late quota": Population(200, (4.0,) * 2, 30, positive=0.1),
    "all rows": Population(300, (1.0, 0.3), 300),
    "three scores": Population(500, (0.8,) * 2, 50, step=1.5),
    "300 clusters": Population(600, (1.0,) * 2, 60, cluster=2, options=("cluster",)),
    "120 clusters": Population(600, (1.0,) * 2, 60, cluster=5, options=("cluster",)),
    "120 clusters of noise": Population(600, (0.0,) * 3, 60, cluster=5, options=("cluster",)),
    "30 groups": Population(600, (1.0,) * 2, 3, group=20, options=("per",)),
    "8 groups": Population(400, (1.0,) * 2, 8, group=50, options=("per",)),
    "one quota of groups": Population(400, (1.0, 1.0, 0.0), 40, group=100, options=("by",)),
    "weights": Population(600, (1.0,) * 2, 60, options=("weight",)),
    "weights and noise": Population(600, (0.0,), 60, options=("weight",)),
    "budget": Population(500, (1.0,) * 2, 50, options=("cost",)),
    "impacts": Population(800, (1.0,) * 2, 80, impacts=(5.0, -1.0, 0.0, 0.0)),
    "impacts of noise": Population(500, (0.0,) * 3, 50, impacts=(3.0, -1.0, 0.0, 0.0)),
    "gains of noise": Population(500, (0.0,), positive=0.2, gain="uniform", worth=4.5),
    "gains of noise, quota": Population(500, (0.0,) * 2, 100, gain="lognormal", worth=4.5),
    "lognormal gains": Population(800, (1.0,) * 2, 80, gain="lognormal", worth=8.0),
    "pareto gains": Population(500, (0.8,) * 3, positive=0.2, gain="pareto", worth=4.0),
    "gains of nearly all": Population(500, (0.7,), 300, positive=0.5, gain="uniform", worth=6.0),
    "treatment": Population(1000, (0.5,) * 2, 200, effect=0.2, options=("treatment",)),
    "treatment without effect": Population(800, (0.8, 0.0), 160, options=("treatment",)),
}
