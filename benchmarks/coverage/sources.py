"""Where data sets come from: populations whose true values are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

import quotakernels as qk

Array = np.ndarray[Any, Any]
FRACTION = 0.1
WHOLE, CELLS = 10**12, 20_000
ALIKE = 0.6
"""Correlation of the scores of two models beside what the labels explain."""
UNLIKE = 0.5
"""By which share branches have more positives than all, or fewer."""
WORSE = 0.75
"""The shift of the second of two models, where they differ, as a share of the first one's."""
MEASURES: dict[str, Callable[..., Any]] = {
    "AUC": qk.roc_auc,
    "AHR": qk.average_hit_rate,
    "AQR": qk.average_qrecall,
    "AP": qk.average_precision,
    "AUC-PR": qk.pr_auc,
    "hull AUC": qk.roc_hull_auc,
    "achievable AUC-PR": qk.achievable_pr_auc,
    "hit rate": partial(qk.hit_rate, fraction=FRACTION),
    "Qrecall": partial(qk.qrecall, fraction=FRACTION),
    "lift": partial(qk.lift, fraction=FRACTION),
}


class Draw(NamedTuple):
    """The chance that makes a data set, and how many resamples of it are drawn."""

    rng: np.random.Generator
    resamples: int

    def arguments(self) -> dict[str, Any]:
        """Those of whatever draws resamples."""
        return {"n_resamples": self.resamples, "random_state": int(self.rng.integers(2**32))}


class Scores(NamedTuple):
    """Normal scores, those of positives higher by `apart`.

    They are rounded to multiples of `step`, if it is not 0.  If the number of positives is not
    `fixed`, it is left to chance.
    """

    title: str
    n: int
    positive: float
    apart: float
    step: float = 0.0
    fixed: bool = False

    def labels(self, rng: np.random.Generator) -> Array:
        if self.fixed:
            return np.arange(self.n) < round(self.n * self.positive)
        return rng.random(self.n) < self.positive

    def scored(self, labels: Array, noise: Array, apart: float | None = None) -> Array:
        scores = noise + (self.apart if apart is None else apart) * labels
        return np.round(scores / self.step) * self.step if self.step else scores

    def sample(self, rng: np.random.Generator) -> tuple[Array, Array]:
        labels = self.labels(rng)
        return labels, self.scored(labels, rng.normal(size=self.n))

    def pair(self, rng: np.random.Generator, same: bool) -> tuple[Array, Array, Array]:
        """The scores of two models, which are equally good if they are the same."""
        labels = self.labels(rng)
        noise = np.sqrt(1 - ALIKE) * rng.normal(size=(2, self.n))
        noise += np.sqrt(ALIKE) * rng.normal(size=self.n)
        worse = self.apart if same else WORSE * self.apart
        return labels, self.scored(labels, noise[0]), self.scored(labels, noise[1], worse)

    def models(
        self, rng: np.random.Generator, shares: Sequence[float]
    ) -> tuple[Array, list[Array]]:
        """The scores of several models, whose shifts are shares of that of the population."""
        labels, both = self.labels(rng), rng.normal(size=self.n)
        own = rng.normal(size=(len(shares), self.n))
        noise = np.sqrt(1 - ALIKE) * own + np.sqrt(ALIKE) * both
        return labels, [
            self.scored(labels, *x)
            for x in zip(noise, self.apart * np.asarray(shares), strict=True)
        ]

    def customers(self, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """One to three rows of each of n customers, with one label and scores that are alike."""
        owner = np.repeat(np.arange(self.n), rng.integers(1, 4, self.n))
        noise = np.sqrt(0.5) * (rng.normal(size=self.n)[owner] + rng.normal(size=owner.size))
        labels = self.labels(rng)[owner]
        return labels, self.scored(labels, noise), owner

    def branches(
        self, rng: np.random.Generator, number: int
    ) -> tuple[Array, tuple[Array, Array], Array]:
        """The rows of few branches, each with a prevalence and a level of scores of its own, by two
        models that are equally good.
        """
        owner = np.arange(self.n) % number
        share = self.positive * rng.choice([1 - UNLIKE, 1 + UNLIKE], number)
        labels = rng.random(self.n) < share[owner]
        noise = [rng.normal(size=(3, number))[:, owner], rng.normal(size=(3, self.n))]
        both, *own = np.sqrt(0.5) * (noise[0] + noise[1])
        a, b = (self.scored(labels, np.sqrt(ALIKE) * both + np.sqrt(1 - ALIKE) * x) for x in own)
        return labels, (a, b), owner

    def everybody(self) -> qk.Ranking:
        """The whole population, in cells so narrow that the ties in them do not matter."""
        return _everybody(self)

    def truth(self, name: str) -> float:
        """The measure of the whole population."""
        return _truth(self, name)


SOURCES = {
    "tied": Scores("tied scores", 300, 0.3, 1.0, 1.0),
    "rare": Scores("rare positives", 1000, 0.02, 1.2),
    "strong": Scores("strong model", 300, 0.4, 3.0),
    "moderate": Scores("moderate model", 300, 0.3, 1.0),
    "steep": Scores("steep cut", 300, 0.1, 4.0),
    "steeper": Scores("steep cut, large", 4000, 0.1, 3.0),
    "late": Scores("late cut", 300, 0.08, 4.0),
    "coarse": Scores("five ratings", 300, 0.1, 1.0, 1.5),
    "weak": Scores("weak model", 2000, 0.01, 0.5),
}


@lru_cache(maxsize=64)
def _everybody(source: Scores) -> qk.Ranking:
    step = source.step or 20 / CELLS
    places = np.arange(-round(9 / step), round((9 + source.apart) / step) + 1) * step
    negative, positive = (_cells(places - away, step) for away in (0.0, source.apart))
    positive = np.round(WHOLE * source.positive * positive).astype(np.int64)
    counts = positive + np.round(WHOLE * (1 - source.positive) * negative).astype(np.int64)
    return qk.Ranking.from_counts(places, counts, positive)


def _cells(places: Array, step: float) -> Array:
    """The share of the normal distribution around each place."""
    edges = [*(places - step / 2), places[-1] + step / 2]
    return np.diff([NormalDist().cdf(x) for x in edges])


@lru_cache(maxsize=1024)
def _truth(source: Scores, name: str) -> float:
    return float(MEASURES[name](source.everybody()))
