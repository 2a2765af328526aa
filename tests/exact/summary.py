"""Measures over all quotas: average hit rate, average Qrecall, PEM and its parts, AUC, chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from .at_quota import T, cuts, expected_labels, ratio
from .pr import decimal
from .table import Group, Number, is_weighted, total_count, total_positive_weight, total_weight


class PemAreas(NamedTuple):
    """S1, S2 and S3 of AR's Figure 3."""

    s1: Fraction
    s2: Fraction
    s3: Fraction


def average_hit_rate(ranking: Sequence[Group]) -> Fraction | None:
    """AHR = Σ_j t[j]·HitRate(j) / P (AR eq 12), item by item.

    With weights a group's W⁺ and W are spread evenly over its m items: item j adds W⁺/m times the
    hit rate of the mass up to and including it, and the sum is divided by all positive mass.
    """
    mass = found = weighted_rates = Fraction(0)
    for group in ranking:
        for _ in range(group.count):
            mass += group.weight / group.count
            found += group.positive_weight / group.count
            weighted_rates += group.positive_weight / group.count * (found / mass)
    return ratio(weighted_rates, total_positive_weight(ranking))


def mean_hit_rate(ranking: Sequence[Group], first: Number, last: Number) -> Fraction | None:
    """Σ HitRate(j) over the whole quotas j = first, …, last, over their number."""
    quotas = range(max(1, math.ceil(first)), math.floor(last) + 1)
    rates = (T(ranking, Fraction(j)) / j for j in quotas)
    return ratio(sum(rates, Fraction(0)), Fraction(len(quotas)))


def area_of_hit_rate(ranking: Sequence[Group], first: Number, last: Number) -> float | None:
    """∫ HitRate(q) dq / (last - first); T(q)/q = c/q + t within a group, with 40 digits."""
    start, stop = Fraction(first), Fraction(last)
    if start == stop:
        return None
    knots = sorted({start, stop, *(x for x in cuts(ranking) if start < x < stop)})
    with localcontext() as context:
        context.prec = 40
        area = Decimal(0)
        for left, right in pairwise(knots):
            share = (T(ranking, right) - T(ranking, left)) / (right - left)
            constant = T(ranking, left) - share * left
            log = decimal(right / left).ln() if constant else Decimal(0)
            area += decimal(constant) * log + decimal(share * (right - left))
        return float(area / decimal(stop - start))


def average_qrecall(ranking: Sequence[Group], start: str = "P") -> Fraction | None:
    """AQR = Σ_{j=P}^n Q(j) / (N + 1) (AR eq 13); ``start="P+1"``: Σ_{j=P+1}^n Q(j) / N.

    With weights the sums become the areas that they equal without:
    [∫_P^n T(x)dx ± (T(P) ± P)/2] on masses rescaled to a mean of one.
    """
    if start not in ("P", "P+1"):
        raise ValueError(f"start must be 'P' or 'P+1', not {start!r}")
    if total_positive_weight(ranking) == 0:
        return None
    if is_weighted(ranking):
        return _average_qrecall_by_area(rescaled(ranking), start)
    n, positives = total_count(ranking), sum(group.positives for group in ranking)
    first = positives if start == "P" else positives + 1
    recalls = [Fraction(found, positives) for found in _prefix_sums(expected_labels(ranking))]
    return ratio(sum(recalls[first:], Fraction(0)), Fraction(n - first + 1))


def _average_qrecall_by_area(ranking: Sequence[Group], start: str) -> Fraction | None:
    """[∫_P^n T dx + (P + T(P))/2] / (P(N+1)), or [∫_P^n T dx + (P - T(P))/2] / (PN).

    The trapezoid rule Σ_{j=P}^n T(j) = ∫_P^n T dx + (T(P) + T(n))/2 is exact at integer
    breakpoints; leaving out j = P takes T(P) away.
    """
    whole, positives = total_weight(ranking), total_positive_weight(ranking)
    area = integral(ranking, positives, whole)
    if start == "P":
        correction, width = (positives + T(ranking, positives)) / 2, whole - positives + 1
    else:
        correction, width = (positives - T(ranking, positives)) / 2, whole - positives
    return ratio(area + correction, positives * width)


def rescaled(ranking: Sequence[Group]) -> list[Group]:
    """The same groups with masses of mean one, so that their total is the number of items."""
    factor = total_count(ranking) / total_weight(ranking)
    return [
        g._replace(weight=g.weight * factor, positive_weight=g.positive_weight * factor)
        for g in ranking
    ]


def integral(ranking: Sequence[Group], start: Fraction, stop: Fraction) -> Fraction:
    """∫ T(x) dx: the trapezoid rule between the breakpoints of T, where it is exact."""
    knots = sorted({start, stop, *(x for x in cuts(ranking) if start < x < stop)})
    area = Fraction(0)
    for left, right in pairwise(knots):
        area += (right - left) * (T(ranking, left) + T(ranking, right)) / 2
    return area


def pem(ranking: Sequence[Group]) -> Fraction | None:
    """PEM = (S1 - S2)/S3 (AR eq 14); through areas when there are weights."""
    areas = pem_areas(ranking, "area" if is_weighted(ranking) else "sum")
    return None if areas is None else ratio(areas.s1 - areas.s2, areas.s3)


def pem_areas(ranking: Sequence[Group], method: str = "sum") -> PemAreas | None:
    """S1, S2, S3: the positive and the negative part of d = Q - chance, and the optimum's.

    ``"sum"``: d(j) = Q(j) - j/n summed over j = 1, …, n. ``"area"``: the integral of
    d(x) = Q(x) - x/W over x, in units of items. Undefined without positives.
    """
    if method == "sum" and is_weighted(ranking):
        raise ValueError("weighted S1 and S2 exist only as areas")
    if total_positive_weight(ranking) == 0:
        return None
    parts = {"sum": _parts_by_sum, "area": _parts_by_area}[method]
    s1, s2 = parts(ranking)
    return PemAreas(s1, s2, parts(optimum(ranking))[0])


def optimum(ranking: Sequence[Group]) -> list[Group]:
    """The groups of a ranking that puts every positive before every negative."""
    n, positives = total_count(ranking), sum(group.positives for group in ranking)
    mass, positive_mass = total_weight(ranking), total_positive_weight(ranking)
    pure = [
        Group(1, positives, positives, positive_mass, positive_mass),
        Group(0, n - positives, 0, mass - positive_mass, Fraction(0)),
    ]
    return [group for group in pure if group.count > 0]


def _parts_by_sum(ranking: Sequence[Group]) -> tuple[Fraction, Fraction]:
    """Sums of the positive d(j) and of the negative -d(j), j = 1, …, n."""
    n, positives = total_count(ranking), total_positive_weight(ranking)
    found = _prefix_sums(expected_labels(ranking))
    d = [found[j] / positives - Fraction(j, n) for j in range(1, n + 1)]
    return (
        sum((value for value in d if value > 0), Fraction(0)),
        sum((-value for value in d if value < 0), Fraction(0)),
    )


def _parts_by_area(ranking: Sequence[Group]) -> tuple[Fraction, Fraction]:
    """Areas of d above and below 0, over the quota axis in items."""
    items = rescaled(ranking)
    whole, positives = total_weight(items), total_positive_weight(items)
    knots = cuts(items)
    d = [T(items, x) / positives - x / whole for x in knots]
    above = below = Fraction(0)
    for i in range(len(items)):
        width = knots[i + 1] - knots[i]
        above += area_above_zero(d[i], d[i + 1], width)
        below += area_above_zero(-d[i], -d[i + 1], width)
    return above, below


def area_above_zero(left: Fraction, right: Fraction, width: Fraction) -> Fraction:
    """Area between 0 and the positive part of a straight line from ``left`` to ``right``."""
    if left <= 0 and right <= 0:
        return Fraction(0)
    if left >= 0 and right >= 0:
        return width * (left + right) / 2
    high = max(left, right)
    return width * high / (abs(left) + abs(right)) * high / 2


def roc_auc(ranking: Sequence[Group]) -> Fraction | None:
    """Share of the pairs (positive, negative) ranked rightly, a tie counting half; by mass."""
    right = pairs = Fraction(0)
    for i, one in enumerate(ranking):
        for j, other in enumerate(ranking):
            mass = one.positive_weight * (other.weight - other.positive_weight)
            pairs += mass
            right += mass if i < j else mass / 2 if i == j else 0
    return ratio(right, pairs)


def gini(ranking: Sequence[Group]) -> Fraction | None:
    """Gini = 2·AUC - 1."""
    auc = roc_auc(ranking)
    return None if auc is None else 2 * auc - 1


def chance_average_hit_rate(n: int, positives: int) -> Fraction | None:
    """E[AHR] = b + (1 - b)·H_n/n, b = (P - 1)/(n - 1), under a random order without ties."""
    if positives == 0:
        return None
    if n == 1:
        return Fraction(1)
    b = Fraction(positives - 1, n - 1)
    return b + (1 - b) * sum((Fraction(1, k) for k in range(1, n + 1)), Fraction(0)) / n


def chance_average_qrecall(n: int, positives: int, start: str = "P") -> Fraction | None:
    """E[AQR] = (n + P)/(2n): the mean of j/n over the quotas that are averaged."""
    first = positives if start == "P" else positives + 1
    if positives == 0 or first > n:
        return None
    return Fraction(n + first, 2 * n)


def normalized_mark(value: Fraction | None, chance: Fraction | None) -> Fraction | None:
    """(v - chance)/(1 - chance): 0 for a random order, 1 for the optimum."""
    return None if value is None or chance is None else ratio(value - chance, 1 - chance)


def _prefix_sums(values: Sequence[Fraction]) -> list[Fraction]:
    """T(0), T(1), …, T(n)."""
    sums = [Fraction(0)]
    for value in values:
        sums.append(sums[-1] + value)
    return sums
