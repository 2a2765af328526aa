"""Exact values at any size, in plain NumPy: fractions, or 80-bit floats for sums of quotients.

Nothing is shared with the library. Masses are integers, in units of the smallest weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from benchmarks.data import WEIGHT_UNIT, Data

Array = np.ndarray[Any, Any]
BLOCK = 1 << 20
LONG = np.longdouble


class Table(NamedTuple):
    """Tie groups, best first: how many items, their mass, and the mass of the positives."""

    items: Array
    mass: Array
    positive: Array

    @property
    def mass_before(self) -> Array:
        return np.cumsum(self.mass) - self.mass

    @property
    def found_before(self) -> Array:
        return np.cumsum(self.positive) - self.positive

    @property
    def totals(self) -> tuple[int, int, int]:
        """Items, mass, positive mass."""
        return tuple(int(x.sum()) for x in self)  # type: ignore[return-value]


def table_of(data: Data) -> Table:
    """By a count of the distinct scores."""
    labels, scores, weights = data
    if scores.dtype.itemsize < 4:
        scores = scores.astype(np.float32)
    _, which = np.unique(scores, return_inverse=True)
    items = np.bincount(which)
    units = np.ones(1) if weights is None else weights.astype(np.float64) * WEIGHT_UNIT
    mass = items if weights is None else np.bincount(which, weights=units)
    positive = np.bincount(which, weights=units * labels)
    return Table(*(x.astype(np.int64)[::-1] for x in (items, mass, positive)))


def roc_auc(table: Table) -> Fraction:
    """Pairs won, a tie counting half, over all pairs."""
    _, mass, positives = table.totals
    negative = table.mass - table.positive
    below = mass - positives - np.cumsum(negative)
    twice = int((table.positive * (2 * below + negative)).sum())
    return Fraction(twice, 2 * positives * (mass - positives))


def pem(table: Table) -> Fraction:
    return 2 * roc_auc(table) - 1


def _owner(table: Table, quota: int) -> int:
    """The group in which a quota, in units, ends."""
    return int(np.searchsorted(np.cumsum(table.mass), quota))


def found(table: Table, quota: int) -> Fraction:
    """T at a quota in units: whole groups, then a share of one."""
    g = _owner(table, quota)
    before, here = int(table.mass_before[g]), int(table.found_before[g])
    return here + Fraction(int(table.positive[g]) * (quota - before), int(table.mass[g]))


def hit_rate(table: Table, quota: int) -> Fraction:
    return found(table, quota) / quota


def average_qrecall(table: Table) -> Fraction:
    """[2·∫ T from P to n, + T(P) + P] / (2P(N+1)) on masses of mean one."""
    items, mass, positives = table.totals
    g = _owner(table, positives)
    trapezoids = table.mass * (2 * table.found_before + table.positive)
    end = int(table.mass_before[g] + table.mass[g])
    at_start, at_end = found(table, positives), int(table.found_before[g] + table.positive[g])
    twice = (end - positives) * (at_start + at_end) + int(trapezoids[g + 1 :].sum())
    scale = Fraction(items, mass)
    p, negatives = scale * positives, scale * (mass - positives)
    return (scale * scale * twice + scale * at_start + p) / (2 * p * (negatives + 1))


def _blocks(table: Table) -> Iterator[slice]:
    """Slices of about a million items."""
    block = np.cumsum(table.items) // BLOCK
    ends = np.flatnonzero(np.diff(block)) + 1
    yield from map(slice, [0, *ends], [*ends, len(block)])


def average_hit_rate(table: Table) -> Any:
    """Each item adds its share of the positive mass times the hit rate up to it."""
    columns = (table.items, table.mass, table.positive, table.mass_before, table.found_before)
    total = LONG(0)
    for block in _blocks(table):
        own = [x[block] for x in columns]
        own = [x[own[2] > 0] for x in own]
        m, mass, positive, before, found_before = (np.repeat(x, own[0]).astype(LONG) for x in own)
        starts = np.cumsum(own[0]) - own[0]
        k = (np.arange(len(m)) - np.repeat(starts, own[0]) + 1).astype(LONG)
        rates = (m * found_before + k * positive) / (m * before + k * mass)
        total += np.sum(positive / m * rates)
    return total / table.totals[2]


def pr_auc(table: Table) -> Any:
    """Each group adds ∫ (C + t)/(S + t·m/p) dt from 0 to p; p²/m where nothing lies before it."""
    some = table.positive > 0
    mass, positive, before, found_before = (
        x[some].astype(LONG)
        for x in (table.mass, table.positive, table.mass_before, table.found_before)
    )
    share = positive / mass
    first = before == 0
    logs = np.log1p(mass / np.where(first, LONG(1), before))
    rest = np.where(first, LONG(0), (found_before - before * share) * logs)
    return np.sum(share * (positive + rest)) / table.totals[2]


def average_precision(table: Table) -> Any:
    """Σ p·precision at the end of each group, over P."""
    ends = (np.cumsum(table.positive).astype(LONG), np.cumsum(table.mass).astype(LONG))
    return np.sum(table.positive * (ends[0] / ends[1])) / table.totals[2]


def roc_hull(table: Table) -> list[tuple[int, int]]:
    """The vertices of the upper hull of the ROC points, all of which are integers."""
    y = np.concatenate([[0], np.cumsum(table.positive)])
    x = np.concatenate([[0], np.cumsum(table.mass)]) - y
    for _ in range(30):
        x, y = _without_dents(x, y)
    return _upper_hull(list(zip(x.tolist(), y.tolist(), strict=True)))


def roc_hull_auc(table: Table) -> Fraction:
    """The area below the hull."""
    _, mass, positives = table.totals
    hull = roc_hull(table)
    twice = sum((x1 - x0) * (y0 + y1) for (x0, y0), (x1, y1) in pairwise(hull))
    return Fraction(twice, 2 * positives * (mass - positives))


def _without_dents(x: Array, y: Array) -> tuple[Array, Array]:
    """Points on or below the chord of their neighbours are no vertices of the hull."""
    dx, dy = np.diff(x), np.diff(y)
    kept = np.ones(len(x), dtype=bool)
    kept[1:-1] = dy[:-1] * dx[1:] > dy[1:] * dx[:-1]
    return x[kept], y[kept]


def _upper_hull(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    hull: list[tuple[int, int]] = []
    for x, y in points:
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (y1 - y0) * (x - x1) > (y - y1) * (x1 - x0):
                break
            hull.pop()
        hull.append((x, y))
    return hull


class End(NamedTuple):
    """Where a quota ends among scores."""

    threshold: Any
    above: int
    tied: int


def quota_end(scores: Array, quota: int) -> End:
    n = len(scores)
    threshold = np.partition(scores, n - quota)[n - quota]
    return End(threshold, int((scores > threshold).sum()), int((scores == threshold).sum()))


def shares(scores: Array, quota: int) -> Array:
    """The probability of each to be among the best."""
    end = quota_end(scores, quota)
    share = (quota - end.above) / end.tied
    return np.where(scores > end.threshold, 1.0, np.where(scores == end.threshold, share, 0.0))


def distance(value: Any, exact: Any) -> float:
    """Distance from the exact value, in units of the last place of the value's type."""
    value = np.asarray(value)[()]
    if not np.isfinite(value):
        return float("inf")
    place = np.spacing(abs(value.dtype.type(float(exact))))
    if isinstance(exact, Fraction):
        return float(abs(Fraction(float(value)) - exact) / Fraction(float(place)))
    return float(abs(LONG(value) - exact) / LONG(place))
