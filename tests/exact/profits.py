"""Costs of the best cut for every weight of the classes, and profits for a random share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from .costs import integer_beta
from .roc import roc_curve
from .table import Group, Number

Moments = Callable[[Fraction], tuple[Fraction, Fraction]]
"""The probability that a share lies between 0 and x, and the expectation of those that do."""
Points = Sequence[tuple[Fraction, Fraction]]
"""Single shares, with their probabilities."""


class Line(NamedTuple):
    """What a cut earns at a share: slope·share - price; and what it selects."""

    slope: Fraction
    price: Fraction
    mass: Fraction

    def at(self, share: Fraction) -> Fraction:
        """What it earns."""
        return self.slope * share - self.price


def best_profit(
    ranking: Sequence[Group],
    gain: Fraction,
    of_positive: Fraction,
    of_negative: Fraction,
    distribution: tuple[Moments, Points],
) -> list[Fraction] | None:
    """The expectation of the best cut's profit and mass, per example, between all meeting points.

    Of equally good cuts it is the one with the smallest mass.
    """
    lines = [
        Line(gain * v.tp, of_positive * v.tp + of_negative * v.fp, v.fp + v.tp)
        for v in roc_curve(ranking)
    ]
    whole = lines[-1].mass
    if not whole:
        return None
    moments, points = distribution

    def best(share: Fraction) -> Line:
        return min(lines, key=lambda x: (-x.at(share), x.mass))

    meeting = {
        (a.price - b.price) / (a.slope - b.slope)
        for a in lines
        for b in lines
        if a.slope != b.slope
    }
    ends = [Fraction(0), *sorted(x for x in meeting if 0 < x < 1), Fraction(1)]
    profit = mass = Fraction(0)
    for low, high in pairwise(ends):
        line = best((low + high) / 2)
        (p, mean), (p_low, mean_low) = moments(high), moments(low)
        profit += line.slope * (mean - mean_low) - line.price * (p - p_low)
        mass += line.mass * (p - p_low)
    for share, probability in points:
        profit += probability * best(share).at(share)
        mass += probability * best(share).mass
    return [profit / whole, mass / whole]


def beta(a: int, b: int) -> tuple[Moments, Points]:
    """A beta distribution with whole parameters."""
    whole = integer_beta(Fraction(1), a, b)
    return lambda x: (integer_beta(x, a, b) / whole, integer_beta(x, a + 1, b) / whole), ()


def known(share: Number) -> tuple[Moments, Points]:
    """One share."""
    return lambda _: (Fraction(0), Fraction(0)), [(Fraction(share), Fraction(1))]


def uniform(none: Number, everything: Number) -> tuple[Moments, Points]:
    """Probabilities of 0 and 1, and the same of all between."""
    none, everything = Fraction(none), Fraction(everything)
    between = 1 - none - everything
    points = [(Fraction(0), none), (Fraction(1), everything)]
    return lambda x: (between * x, between * x * x / 2), points


def emp_churn(
    ranking: Sequence[Group],
    acceptance: tuple[Moments, Points],
    clv: Number = 200,
    incentive: Number = 10,
    contact: Number = 1,
) -> list[Fraction] | None:
    """Of campaigns against churn."""
    clv, d, f = Fraction(clv), Fraction(incentive), Fraction(contact)
    return best_profit(ranking, clv - d, f, d + f, acceptance)


def emp_credit(
    ranking: Sequence[Group], loss: tuple[Moments, Points], roi: Number = 0.2644
) -> list[Fraction] | None:
    """Of loans that are rejected."""
    return best_profit(ranking, Fraction(1), Fraction(0), Fraction(roi), loss)


def cost_curve(ranking: Sequence[Group], share: Number) -> list[Fraction | None]:
    """The smallest FNR·x + FPR·(1 - x), that of no cut at all, and the quota of its first cut."""
    x, vertices = Fraction(share), roc_curve(ranking)
    if vertices[-1].fpr is None or vertices[-1].tpr is None:
        return [None] * 3
    costs = [((1 - v.tpr) * x + v.fpr * (1 - x), v.fp + v.tp) for v in vertices]
    cost, quota = min(costs)
    return [cost, min(costs[0][0], costs[-1][0]), quota]


def brier_curve(ranking: Sequence[Group], share: Number) -> list[Fraction | None]:
    """2·(c·FP + (1 - c)·FN)/n at the threshold c, at the best cut, and without any."""
    c, vertices = Fraction(share), roc_curve(ranking)
    end = vertices[-1]
    if not (end.fp and end.tp):
        return [None] * 3
    losses = [2 * (c * v.fp + (1 - c) * (end.tp - v.tp)) / (end.fp + end.tp) for v in vertices]
    chosen = sum(v.threshold is not None and v.threshold >= share for v in vertices)
    return [losses[chosen], min(losses), min(losses[0], losses[-1])]
