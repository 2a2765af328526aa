"""Costs: iso-performance lines, the best cut, and Hand's H-measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import NamedTuple, TypeVar

from .pr import DIGITS, decimal
from .roc import RocVertex, roc_curve, roc_hull
from .table import Group, Number, total_positive_weight, total_weight

Real = TypeVar("Real", Fraction, Decimal)


class OperatingPoint(NamedTuple):
    """A cut with its expected cost per example; the quota is the mass that it selects."""

    threshold: Number | None
    quota: Fraction
    fpr: Fraction
    tpr: Fraction
    cost: Fraction


def prevalence_of(ranking: Sequence[Group]) -> Fraction | None:
    """π = P/n, undefined when there are not examples of both classes."""
    positives, whole = total_positive_weight(ranking), total_weight(ranking)
    return positives / whole if 0 < positives < whole else None


def iso_performance_slope(cost_fp: Number, cost_fn: Number, prevalence: Number) -> Fraction:
    """Δtpr/Δfpr along a line of equal cost."""
    share = Fraction(prevalence)
    return Fraction(cost_fp) * (1 - share) / (Fraction(cost_fn) * share)


def expected_cost(
    fpr: Number, tpr: Number, cost_fp: Number, cost_fn: Number, prevalence: Number
) -> Fraction:
    """cost_fp·(1 - π)·FPR + cost_fn·π·FNR, per example."""
    share = Fraction(prevalence)
    wrong_negatives = Fraction(cost_fp) * (1 - share) * Fraction(fpr)
    return wrong_negatives + Fraction(cost_fn) * share * (1 - Fraction(tpr))


def best_operating_point(
    ranking: Sequence[Group], cost_fp: Number, cost_fn: Number, prevalence: Number | None = None
) -> OperatingPoint | None:
    """The cheapest of all cuts, the smallest quota among equal ones; undefined without a class."""
    own = prevalence_of(ranking)
    if own is None:
        return None
    share = own if prevalence is None else prevalence
    points = [
        OperatingPoint(
            v.threshold, v.fp + v.tp, v.fpr, v.tpr, expected_cost(*v[:2], cost_fp, cost_fn, share)
        )
        for v in roc_curve(ranking)
    ]
    return min(points, key=lambda point: (point.cost, point.quota))


# The H-measure: 1 - L/Lmax, L the expectation over c of the smallest c·π₀·FPR + (1-c)·π₁·FNR


class Stretch(NamedTuple):
    """The costs c in [start, stop], for which one cut is best."""

    start: Fraction
    stop: Fraction
    vertex: RocVertex


def best_cuts_by_cost(ranking: Sequence[Group]) -> list[Stretch]:
    """Which cut is best for which c, over [0, 1]: neighbours on the hull are equally good at
    c/(1 - c) = ΔTP/ΔFP.
    """
    curve = {(v.fp, v.tp): v for v in roc_curve(ranking)}
    best = [curve[v.fp, v.tp] for v in reversed(roc_hull(ranking))]
    ends = [Fraction(0), *(_indifference(a, b) for a, b in pairwise(best)), Fraction(1)]
    return [Stretch(*pair, v) for pair, v in zip(pairwise(ends), best, strict=True)]


def _indifference(a: RocVertex, b: RocVertex) -> Fraction:
    """The cost c at which two cuts are equally good."""
    return (b.tp - a.tp) / (b.tp - a.tp + b.fp - a.fp)


def _h(
    ranking: Sequence[Group],
    number: Callable[[Fraction], Real],
    of_fp: Callable[[Fraction], Real],
    of_fn: Callable[[Fraction], Real],
) -> Real:
    """1 - L/Lmax from the antiderivatives of c·w(c) and (1 - c)·w(c)."""
    last, losses = roc_curve(ranking)[-1], []
    trivial = [Group(0, 1, 1, last.fp + last.tp, last.tp)]
    for curve in (ranking, trivial):
        loss = number(Fraction(0))
        for start, stop, vertex in best_cuts_by_cost(curve):
            loss += number(vertex.fp) * (of_fp(stop) - of_fp(start))
            loss += number(last.tp - vertex.tp) * (of_fn(stop) - of_fn(start))
        losses.append(loss)
    return 1 - losses[0] / losses[1]


def h_measure(ranking: Sequence[Group], a: int = 2, b: int = 2) -> Fraction | None:
    """H for c ~ Beta(a, b) with integers a, b ≥ 1, exactly; undefined without a class."""
    if prevalence_of(ranking) is None:
        return None
    return _h(
        ranking, Fraction, lambda x: integer_beta(x, a + 1, b), lambda x: integer_beta(x, a, b + 1)
    )


def integer_beta(x: Fraction, a: int, b: int) -> Fraction:
    """∫₀ˣ c^(a-1)·(1 - c)^(b-1) dc, the polynomial expanded."""
    terms = (comb(b - 1, k) * (-1) ** k * x ** (a + k) / (a + k) for k in range(b))
    return sum(terms, Fraction(0))


def h_measure_float(
    ranking: Sequence[Group], a: Number | None = None, b: Number | None = None
) -> float | None:
    """H for c ~ Beta(a, b) with real a, b > 0, as the nearest float; Beta(1 + π, 2 - π) by default.

    Undefined without a class.
    """
    share = prevalence_of(ranking)
    if share is None:
        return None
    with localcontext() as context:
        context.prec = DIGITS
        p = decimal(1 + share if a is None else Fraction(a))
        q = decimal(2 - share if b is None else Fraction(b))
        return float(
            _h(ranking, decimal, lambda x: real_beta(x, p + 1, q), lambda x: real_beta(x, p, q + 1))
        )


def real_beta(x: Fraction, a: Decimal, b: Decimal) -> Decimal:
    """∫₀ˣ c^(a-1)·(1 - c)^(b-1) dc, from whichever end of [0, 1] is nearer."""
    if 2 * x <= 1:
        return _beta_series(decimal(x), a, b)
    half = Decimal("0.5")
    whole = _beta_series(half, a, b) + _beta_series(half, b, a)
    return whole - _beta_series(decimal(1 - x), b, a)


def _beta_series(x: Decimal, a: Decimal, b: Decimal) -> Decimal:
    """The same by x^a·(1 - x)^b/a · Σ_k Π_{i<k} (a + b + i)·x/(a + 1 + i), for x ≤ 1/2."""
    if x == 0:
        return Decimal(0)
    total = term = Decimal(1)
    k = 0
    while term > total.scaleb(-DIGITS - 2):
        term *= (a + b + k) * x / (a + 1 + k)
        total += term
        k += 1
    return x**a * (1 - x) ** b / a * total
