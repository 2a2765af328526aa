"""Closed forms where scores are not normal, or an AUC is near 1, with few and many positives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

import quotakernels as qk
from benchmarks.coverage.seen import LEVEL, Seen
from benchmarks.coverage.sources import Array, Draw, Scores
from quotakernels.inference.hit_rates import uplift_ends

SIZES = ((5, 1000), (20, 1000), (40, 400), (100, 1000), (30, 30))
"""Positives and negatives."""
LISTS = ((200, 0.1), (1000, 0.03), (300, 0.4))
"""Rows, and the share of positives."""
FRACTIONS = (0.05, 0.15, 0.5)
MANY = 1_000_000
Rng = np.random.Generator


class Shape(NamedTuple):
    """How the scores of positives and of negatives are drawn."""

    positives: Callable[[Rng, int], Array]
    negatives: Callable[[Rng, int], Array] = lambda rng, n: rng.normal(size=n)


def normal(auc: float, spread: float = 1.0) -> Shape:
    """Of this AUC; `spread` is the standard deviation of positives."""
    apart = NormalDist().inv_cdf(auc) * (1 + spread**2) ** 0.5
    return Shape(lambda rng, n: rng.normal(apart, spread, n))


def levels(auc: float, cuts: list[float]) -> Shape:
    """Normal scores, cut into few levels."""
    return Shape(*(lambda rng, n, x=x: np.digitize(x(rng, n), cuts) for x in normal(auc)))


def student(freedom: float, apart: float) -> Shape:
    """With heavy tails on both sides."""
    return Shape(
        lambda rng, n: apart + rng.standard_t(freedom, n),
        lambda rng, n: rng.standard_t(freedom, n),
    )


def missed(share: float, apart: float) -> Shape:
    """Normal, but a share of the positives scores like negatives."""
    return Shape(lambda rng, n: rng.normal(apart * (rng.random(n) >= share)))


SHAPES = {
    "normal, AUC 0.7": normal(0.7),
    "normal, AUC 0.9": normal(0.9),
    "normal, AUC 0.98": normal(0.98),
    "normal, AUC 0.998": normal(0.998),
    "wide positives": normal(0.96, 2.5),
    "narrow positives": normal(0.96, 0.4),
    "heavy tails": student(2, 3),
    "Cauchy": student(1, 8),
    "exponential": Shape(
        lambda rng, n: rng.exponential(20, n), lambda rng, n: rng.exponential(1, n)
    ),
    "binary": Shape(lambda rng, n: rng.random(n) < 0.95, lambda rng, n: rng.random(n) < 0.01),
    "three levels": levels(0.96, [1, 2]),
    "eight levels": levels(0.96, [-1, -0.3, 0.3, 1, 1.7, 2.3, 3]),
    "5 % missed": missed(0.05, 3),
    "3 % missed by far": missed(0.03, 4),
}


def areas(_: Scores, draw: Draw) -> Iterator[Seen]:
    """Intervals of AUC."""
    for name, shape in SHAPES.items():
        for positives, negatives in SIZES:
            labels = np.arange(positives + negatives) < positives
            scores = np.concatenate(
                [shape.positives(draw.rng, positives), shape.negatives(draw.rng, negatives)]
            )
            what = f"{name.replace(',', '')}, {positives} against {negatives}"
            for method in ("score", "wald"):
                found = qk.inference.auc_interval(labels, scores, method=method)
                yield Seen(what, method, found.lower, found.upper, truth(name))


def quotas(_: Scores, draw: Draw) -> Iterator[Seen]:
    """Intervals of Qrecall at early and late quotas; the number of positives is random."""
    for name in SHAPES:
        for rows, share in LISTS:
            labels, scores = sample(name, draw.rng, rows, share)
            for fraction, exact in zip(FRACTIONS, found_of(name, share), strict=True):
                found = qk.inference.qrecall_interval(labels, scores, fraction=fraction)
                what = f"{name.replace(',', '')}, {fraction:.0%} of {rows}"
                yield Seen(what, "score", found.lower, found.upper, exact)


CAMPAIGNS = (
    # rows, fraction, share treated, response, added to the best tenth
    (400, 0.1, 0.5, 0.1, 0.2),
    (400, 0.3, 0.5, 0.05, 0.1),
    (2000, 0.05, 0.5, 0.02, 0.05),
    (2000, 0.1, 0.2, 0.1, 0.3),
    (1000, 0.1, 0.8, 0.3, 0.4),
    (1000, 0.1, 0.5, 0.02, 0.9),
    (300, 0.1, 0.1, 0.2, 0.3),
    (4000, 0.02, 0.5, 0.01, 0.03),
)


def campaigns(_: Scores, draw: Draw) -> Iterator[Seen]:
    """Intervals of uplift, as `evaluate` has them, where only the best tenth responds to it."""
    for rows, fraction, treated, response, more in CAMPAIGNS:
        scores, arm = draw.rng.random(rows), draw.rng.random(rows) < treated
        labels = draw.rng.random(rows) < response + more * (arm & (scores > 0.9))
        ranking = qk.rank(labels, scores, treatment=arm)
        lower, upper = uplift_ends(ranking, fraction * rows, LEVEL)
        what = f"{fraction:.0%} of {rows}, {treated:.0%} treated, {response:.0%} respond"
        yield Seen(what, "uplift", lower, upper, more * min(1.0, 0.1 / fraction))


def sample(name: str, rng: Rng, rows: int, share: float) -> tuple[Array, Array]:
    """Labels and scores, the positives at random."""
    labels = rng.random(rows) < share
    positive, negative = (draw(rng, rows).astype(float) for draw in SHAPES[name])
    return labels, np.where(labels, positive, negative)


@lru_cache
def found_of(name: str, share: float) -> list[float]:
    """Qrecall of as many examples, at each of the fractions."""
    labels, scores = sample(name, np.random.default_rng(0), 2 * MANY, share)
    found: list[float] = qk.qrecall(labels, scores, fraction=FRACTIONS).tolist()
    return found


@lru_cache
def truth(name: str) -> float:
    """The AUC of so many examples that chance in them does not matter."""
    rng = np.random.default_rng(0)
    scores = [np.asarray(draw(rng, MANY), float) for draw in SHAPES[name]]
    return float(qk.roc_auc(np.repeat([True, False], MANY), np.concatenate(scores)))
