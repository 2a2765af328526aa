"""The same measures in time O(groups) or O(items) with plain integers, for a million examples.

Masses are multiples of one unit, so that no fraction has to be reduced on the way. The library is
compared with these on long lists, and with their literal twins on short ones.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

from .at_quota import portions, ratio, signed_root
from .summary import PemAreas, optimum
from .table import Group, Number, is_weighted


class Counts(NamedTuple):
    """A tie group with its masses in units."""

    items: int
    mass: int
    positive: int


_latest: list[Any] = [None, None]
"""A tuple of groups, which may be a million, and what became of it."""


def in_units(ranking: Sequence[Group]) -> tuple[list[Counts], int]:
    """The groups in integer masses, and the number of units in a mass of one."""
    if not isinstance(ranking, tuple):
        return _in_units(ranking)
    if _latest[0] is not ranking:
        _latest[:] = ranking, _in_units(ranking)
    found: tuple[list[Counts], int] = _latest[1]
    return found


def _in_units(ranking: Sequence[Group]) -> tuple[list[Counts], int]:
    denominators = {g.weight.denominator for g in ranking}
    denominators |= {g.positive_weight.denominator for g in ranking}
    unit = math.lcm(*denominators)
    return [
        Counts(g.count, _times(g.weight, unit), _times(g.positive_weight, unit)) for g in ranking
    ], unit


def _times(mass: Fraction, unit: int) -> int:
    """mass·unit, which is an integer."""
    return mass.numerator * (unit // mass.denominator)


def _totals(table: Sequence[Counts]) -> tuple[int, int]:
    """All mass and all positive mass."""
    return sum(row.mass for row in table), sum(row.positive for row in table)


def _found(table: Sequence[Counts], quota: Fraction) -> Fraction:
    """T at a quota in units: whole groups, then a share of one."""
    if quota < 0:
        raise ValueError("negative quota")
    mass = found = 0
    for row in table:
        if mass + row.mass >= quota:
            return found + row.positive * (quota - mass) / row.mass
        mass += row.mass
        found += row.positive
    if quota > mass:
        raise ValueError("quota above the mass of all examples")
    return Fraction(found)


def large_hit_rate(ranking: Sequence[Group], quota: Number) -> Fraction | None:
    """T(q)/q."""
    table, unit = in_units(ranking)
    units = Fraction(quota) * unit
    return ratio(_found(table, units), units)


def large_qrecall(ranking: Sequence[Group], quota: Number) -> Fraction | None:
    """T(q)/P."""
    table, unit = in_units(ranking)
    return ratio(_found(table, Fraction(quota) * unit), Fraction(_totals(table)[1]))


def large_roc_auc(ranking: Sequence[Group]) -> Fraction | None:
    """Σ_g p·(2·(negatives below) + negatives tied) / (2PN)."""
    table, _ = in_units(ranking)
    mass, positives = _totals(table)
    below, twice = mass - positives, 0
    for row in table:
        tied = row.mass - row.positive
        below -= tied
        twice += row.positive * (2 * below + tied)
    return ratio(Fraction(twice), Fraction(2 * positives * (mass - positives)))


def large_pem(ranking: Sequence[Group]) -> Fraction | None:
    """(∫Q - n/2)/(N/2) with ∫Q = ∫T/P; the same as (ΣQ(j) - (n+1)/2)/(N/2)."""
    table, _ = in_units(ranking)
    mass, positives = _totals(table)
    twice_area = _twice_area(table, 0)
    return ratio(twice_area - positives * mass, Fraction(positives * (mass - positives)))


def _twice_area(table: Sequence[Counts], start: int) -> Fraction:
    """2·∫ T dx from ``start`` to the end, in units."""
    mass = found = whole = 0
    share = Fraction(0)
    for row in table:
        end = mass + row.mass
        if mass >= start:
            whole += row.mass * (2 * found + row.positive)
        elif end > start:
            first = found + Fraction(row.positive * (start - mass), row.mass)
            share = (end - start) * (first + found + row.positive)
        mass = end
        found += row.positive
    return whole + share


def large_average_qrecall(ranking: Sequence[Group], start: str = "P") -> Fraction | None:
    """[2∫_P^n T dx + P ± T(P)] / (2P·width) on masses of mean one; width N + 1 or N."""
    table, _ = in_units(ranking)
    mass, positives = _totals(table)
    if positives == 0:
        return None
    scale = Fraction(sum(row.items for row in table), mass)
    twice_area = scale * scale * _twice_area(table, positives)
    at_start = scale * _found(table, Fraction(positives))
    p, negatives = scale * positives, scale * (mass - positives)
    if start == "P":
        return (twice_area + p + at_start) / (2 * p * (negatives + 1))
    return ratio(twice_area + p - at_start, 2 * p * negatives)


def large_average_hit_rate(ranking: Sequence[Group], bits: int = 256) -> Fraction | None:
    """AR eq 12 in fixed point: Σ over items of (W⁺/m)·(m·C + k·W⁺)/(m·S + k·W), each rounded
    down to a multiple of 2^-bits units, so at most n·2^-bits units below the exact sum.
    """
    table, _ = in_units(ranking)
    mass = found = total = 0
    for m, weight, positive in table:
        if positive:
            hits, size = m * found, m * mass
            for _ in range(m):
                hits += positive
                size += weight
                total += (positive * hits << bits) // (m * size)
        mass += weight
        found += positive
    return ratio(Fraction(total, 1 << bits), Fraction(found))


def large_pem_areas(ranking: Sequence[Group]) -> PemAreas | None:
    """S1, S2, S3 as sums over positions; unweighted."""
    if is_weighted(ranking):
        raise ValueError("weighted S1 and S2 exist only as areas")
    if not any(group.positives for group in ranking):
        return None
    s1, s2 = _signed_sums(ranking)
    return PemAreas(s1, s2, _signed_sums(optimum(ranking))[0])


def _signed_sums(ranking: Sequence[Group]) -> tuple[Fraction, Fraction]:
    """Sums of positive d and negative -d; m·P·n·d(j) = n·(m·C + k·p) - m·P·j is an integer."""
    table, _ = in_units(ranking)
    n, positives = _totals(table)
    above: defaultdict[int, int] = defaultdict(int)
    below: defaultdict[int, int] = defaultdict(int)
    j = found = 0
    for m, _mass, p in table:
        for k in range(1, m + 1):
            d = n * (m * found + k * p) - m * positives * (j + k)
            if d > 0:
                above[m] += d
            else:
                below[m] -= d
        j += m
        found += p
    return _over(above, positives * n), _over(below, positives * n)


def _over(sums: dict[int, int], denominator: int) -> Fraction:
    """Σ_m sums[m] / (m·denominator)."""
    return sum((Fraction(value, m * denominator) for m, value in sums.items()), Fraction(0))


def large_pearson(
    ranking: Sequence[Group], quota: Number, labels: str = "expected"
) -> float | None:
    """(Σw·Σwxt - Σwx·Σwt) / √[(Σw·Σwx² - (Σwx)²)·(Σw·Σwt² - (Σwt)²)], the sums being exact.

    Scores are integers in a unit of their own, masses w and positive masses wt in another, which
    the ratio does not see; only wt² = (wt)²/w is a fraction where a group has both classes.
    With observed labels it is wt.
    """
    taken = portions(ranking, quota)
    if not taken or any(isinstance(p.score, float) and math.isinf(p.score) for p in taken):
        return None
    x = _integers([Fraction(portion.score) for portion in taken])
    masses = [portion.weight for portion in taken]
    both = _integers([*masses, *(portion.weight * portion.label for portion in taken)])
    w, wt = both[: len(taken)], both[len(taken) :]
    sw, swt = sum(w), sum(wt)
    swx, swxt = sum(map(mul, w, x)), sum(map(mul, wt, x))
    swxx = sum(a * b * b for a, b in zip(w, x, strict=True))
    covariance = sw * swxt - swx * swt
    swtt = swt if labels == "observed" else _sum_of_ratios(wt, w)
    variances = (sw * swxx - swx**2) * (sw * swtt - swt**2)
    square = ratio(Fraction(covariance * abs(covariance)), variances)
    return None if square is None else signed_root(square)


def _integers(values: Sequence[Fraction]) -> list[int]:
    """The values as multiples of a common unit."""
    unit = math.lcm(*{value.denominator for value in values})
    return [_times(value, unit) for value in values]


def _sum_of_ratios(parts: Sequence[int], wholes: Sequence[int]) -> Fraction:
    """Σ part²/whole, with one division for each whole that does not divide its part."""
    integer = 0
    rest: defaultdict[int, int] = defaultdict(int)
    for part, whole in zip(parts, wholes, strict=True):
        if part % whole == 0:
            integer += part // whole * part
        else:
            rest[whole] += part * part
    return integer + _over(rest, 1)
