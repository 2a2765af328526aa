"""The charts of Powers, point by point, and the areas under them.

``PW`` is Powers, "Visualization of Tradeoff in Evaluation: from Precision-Recall & PN to LIFT,
ROC & BIRD", 2015. A chart is a list of points (x, y), one per cut, that of the empty cut first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from .at_quota import ratio
from .confusion import (
    Table,
    bias,
    cohen_kappa,
    false_positive_rate,
    informedness,
    prevalence,
    recall,
    scott_pi,
    tables_at_cuts,
)
from .pr import DIGITS, decimal
from .table import Group, Number

Coordinate: TypeAlias = Callable[[Table], Fraction | None]


class Point(NamedTuple):
    """A point of a chart; a coordinate may be undefined."""

    x: Fraction | float | None
    y: Fraction | float | None


# Rational charts


def chart(ranking: Sequence[Group], x: Coordinate, y: Coordinate) -> list[Point]:
    """One measure on another at every cut."""
    return [Point(x(t), y(t)) for t in tables_at_cuts(ranking)]


def pn_points(ranking: Sequence[Group]) -> list[Point]:
    """PN: true positives on false positives."""
    return chart(ranking, lambda t: t.fp, lambda t: t.tp)


def lift_points(ranking: Sequence[Group]) -> list[Point]:
    """LIFT: recall on bias."""
    return chart(ranking, bias, recall)


def bift_points(ranking: Sequence[Group]) -> list[Point]:
    """BIFT: informedness on bias."""
    return chart(ranking, bias, informedness)


def boc_points(ranking: Sequence[Group]) -> list[Point]:
    """BOC: informedness on FPR."""
    return chart(ranking, false_positive_rate, informedness)


def boc_dual_points(ranking: Sequence[Group]) -> list[Point]:
    """BOC': informedness on TPR."""
    return chart(ranking, recall, informedness)


def bprd_points(ranking: Sequence[Group]) -> list[Point]:
    """BPRD: informedness on the relative drift bias/prevalence."""
    return chart(ranking, relative_drift, informedness)


def kappa_points(ranking: Sequence[Group]) -> list[Point]:
    """Cohen's κ on FPR."""
    return chart(ranking, false_positive_rate, cohen_kappa)


def kappa_bias_points(ranking: Sequence[Group]) -> list[Point]:
    """Cohen's κ on bias."""
    return chart(ranking, bias, cohen_kappa)


def scott_points(ranking: Sequence[Group]) -> list[Point]:
    """Scott's π on FPR."""
    return chart(ranking, false_positive_rate, scott_pi)


def scott_bias_points(ranking: Sequence[Group]) -> list[Point]:
    """Scott's π on bias."""
    return chart(ranking, bias, scott_pi)


def relative_drift(t: Table) -> Fraction | None:
    """bias/prevalence, selected over positives."""
    share, drift = prevalence(t), bias(t)
    return None if share is None or drift is None else ratio(drift, share)


def area_under(points: Sequence[Point]) -> Fraction | None:
    """Area under straight lines between the points; undefined when a coordinate is."""
    if any(value is None for point in points for value in point):
        return None
    strips = ((b.x - a.x) * (a.y + b.y) / 2 for a, b in pairwise(points))
    return sum(strips, Fraction(0))


def lift_area(ranking: Sequence[Group]) -> Fraction | None:
    """Area under LIFT."""
    return area_under(lift_points(ranking))


def bift_area(ranking: Sequence[Group]) -> Fraction | None:
    """Area under BIFT."""
    return area_under(bift_points(ranking))


def boc_area(ranking: Sequence[Group]) -> Fraction | None:
    """Area under BOC."""
    return area_under(boc_points(ranking))


def boc_dual_area(ranking: Sequence[Group]) -> Fraction | None:
    """Area under BOC'."""
    return area_under(boc_dual_points(ranking))


def bprd_area(ranking: Sequence[Group]) -> Fraction | None:
    """Area under BPRD, from relative drift 0 to 1/π."""
    return area_under(bprd_points(ranking))


# BIRD


def bird_points(ranking: Sequence[Group], smoothing: Number = 1) -> list[Point]:
    """BIRD: log₂ sTPR - log₂ sFPR on log₂((s + selected)/(s + P)), as the nearest floats.

    Smoothed rates are (s + tp)/(s + P) and (s + fp)/(s + N), s > 0: nothing is undefined.
    """
    s = Fraction(smoothing)
    points = []
    for t in tables_at_cuts(ranking):
        hits = (s + t.tp) / (s + t.tp + t.fn)
        false = (s + t.fp) / (s + t.fp + t.tn)
        points.append(Point(_bird_x(t, s), log2(hits / false)))
    return points


def bird_informedness_points(ranking: Sequence[Group], smoothing: Number = 1) -> list[Point]:
    """BIRD in its other reading: -log₂(1 - informedness) on the same x.

    It is infinite where informedness is 1 and undefined without a class.
    """
    points = []
    for t in tables_at_cuts(ranking):
        value = informedness(t)
        y = None if value is None else math.inf if value == 1 else log2(1 / (1 - value))
        points.append(Point(_bird_x(t, Fraction(smoothing)), y))
    return points


def _bird_x(t: Table, s: Fraction) -> float:
    """Smoothed relative drift, in bits."""
    return log2((s + t.tp + t.fp) / (s + t.tp + t.fn))


def log2(value: Fraction) -> float:
    """The nearest float; exact for powers of two."""
    with localcontext() as context:
        context.prec = 2 * DIGITS
        return float(decimal(value).ln() / Decimal(2).ln())


# Area under kappa


def auk(ranking: Sequence[Group], kappa: str = "cohen") -> float | None:
    """∫ κ dFPR along the segments of the ROC curve; undefined without a class."""
    cuts = tables_at_cuts(ranking)
    positives, negatives = cuts[0].fn, cuts[0].tn
    if positives == 0 or negatives == 0:
        return None
    quotients = {"cohen": _cohen, "scott": _scott, "fleiss": _scott, "bennett": _bennett}[kappa]
    rational, rest = Fraction(0), Decimal(0)
    with localcontext() as context:
        context.prec = 2 * DIGITS
        for before, after in pairwise(cuts):
            width = (after.fp - before.fp) / negatives
            for (a, c), (a_end, c_end) in zip(quotients(before), quotients(after), strict=True):
                b, d = a_end - a, c_end - c
                if d == 0:
                    rational += width * (a + b / 2) / c
                else:
                    rational += width * b / d
                    rest += _log_part(width * a, width * b, c, d)
        return float(decimal(rational) + rest)


def _cohen(t: Table) -> list[tuple[Fraction, Fraction]]:
    """κ = 2·(tp·tn - fp·fn)/(P·rejected + N·selected), numerator and denominator linear."""
    positives, negatives, selected = t.tp + t.fn, t.fp + t.tn, t.tp + t.fp
    above = 2 * (negatives * t.tp - positives * t.fp)
    return [(above, positives * (positives + negatives - selected) + negatives * selected)]


def _scott(t: Table) -> list[tuple[Fraction, Fraction]]:
    """π = (a - e)/(1 - e) = 1 - w/(P + selected) - w/(N + rejected), w = fp + fn."""
    wrong = t.fp + t.fn
    both = t.tp + t.fn + t.tp + t.fp, t.tn + t.fp + t.tn + t.fn
    return [(Fraction(1), Fraction(1)), *((-wrong, x) for x in both)]


def _bennett(t: Table) -> list[tuple[Fraction, Fraction]]:
    """S = 2a - 1."""
    return [(t.tp + t.tn - t.fp - t.fn, sum(t, Fraction(0)))]


def _log_part(a: Fraction, b: Fraction, c: Fraction, d: Fraction) -> Decimal:
    """∫₀¹ (a + b·u)/(c + d·u) du - b/d = (a/d - b·c/d²)·ln(1 + d/c)."""
    inverse = abs(c / d)
    with localcontext() as context:
        # A small d/c costs its digits twice, as in the logarithms of the area under precision.
        lost = max(0, inverse.numerator.bit_length() - inverse.denominator.bit_length() + 1)
        context.prec = 2 * DIGITS + lost
        return decimal(a / d - b * c / (d * d)) * decimal(1 + d / c).ln()
