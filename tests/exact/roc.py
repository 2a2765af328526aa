"""ROC space: the curve, its convex hull (also of several models), mixtures, dominance.

``DG`` is Davis & Goadrich, "The Relationship Between Precision-Recall and ROC Curves", ICML 2006.
Every count is a mass; without weights it is the number of examples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from .at_quota import ratio
from .table import Group, Number, total_positive_weight, total_weight

Slope: TypeAlias = Fraction | float
"""A slope; the only float is infinity."""

ORIGIN = (Fraction(0), Fraction(0))


class RocVertex(NamedTuple):
    """One cut: its rates, the score of the last selected example (none at cut 0), its masses."""

    fpr: Fraction | None
    tpr: Fraction | None
    threshold: Number | None
    fp: Fraction
    tp: Fraction


class HullVertex(NamedTuple):
    """A vertex of the hull: best for slopes in [slope_min, slope_max]; the model that has it."""

    fpr: Fraction
    tpr: Fraction
    threshold: Number | None
    fp: Fraction
    tp: Fraction
    slope_min: Slope
    slope_max: Slope
    model: int


class Mixture(NamedTuple):
    """A point of the hull as a coin toss: the vertex ``upper`` with probability ``share``."""

    lower: int
    upper: int
    share: Fraction
    fpr: Fraction
    tpr: Fraction
    threshold_lower: Number | None
    threshold_upper: Number | None
    model_lower: int
    model_upper: int


Curve: TypeAlias = Sequence[Group] | Sequence[RocVertex] | Sequence[HullVertex]


def roc_curve(ranking: Sequence[Group]) -> list[RocVertex]:
    """One vertex per cut, the origin first."""
    positives = total_positive_weight(ranking)
    negatives = total_weight(ranking) - positives
    zeros = [ratio(Fraction(0), total) for total in (negatives, positives)]
    vertices = [RocVertex(*zeros, None, *ORIGIN)]
    for group in ranking:
        tp = vertices[-1].tp + group.positive_weight
        fp = vertices[-1].fp + group.weight - group.positive_weight
        vertices.append(RocVertex(ratio(fp, negatives), ratio(tp, positives), group.score, fp, tp))
    return vertices


def partial_auc(
    ranking: Sequence[Group],
    max_fpr: Number | None = None,
    min_tpr: Number | None = None,
    standardized: str | bool = "mcclish",
) -> Fraction | None:
    """∫ max(TPR - min_tpr, 0) dFPR from 0 to max_fpr, by the corners of each segment's part."""
    vertices = roc_curve(ranking)
    if vertices[-1].fpr is None or vertices[-1].tpr is None:
        return None
    right = Fraction(1) if max_fpr is None else Fraction(max_fpr)
    floor = Fraction(0) if min_tpr is None else Fraction(min_tpr)
    area = Fraction(0)
    for a, b in pairwise(vertices):
        if a.fpr == b.fpr or a.fpr >= right:
            continue
        slope = (b.tpr - a.tpr) / (b.fpr - a.fpr)
        stop = min(b.fpr, right)
        places = {a.fpr, stop}
        if slope and a.fpr < (crossing := a.fpr + (floor - a.tpr) / slope) < stop:
            places.add(crossing)
        heights = [(x, max(a.tpr + slope * (x - a.fpr) - floor, 0)) for x in sorted(places)]
        area += sum((x - w) * (g + h) / 2 for (w, g), (x, h) in pairwise(heights))
    if not standardized:
        return area
    width, height = right, 1 - floor
    chance = width**2 / 2 if min_tpr is None else height**2 / 2
    return (1 + (area - chance) / (width * height - chance)) / 2


def groups_from_points(
    fp: Sequence[Number], tp: Sequence[Number], thresholds: Sequence[Number] | None = None
) -> list[Group]:
    """The ranking with these cuts, in rising order; a mass that is no integer counts as one item.

    The origin may be left out. Without thresholds the scores fall by one from group to group.
    """
    scores = list(range(len(fp), 0, -1)) if thresholds is None else thresholds
    points = [(Fraction(x), Fraction(y)) for x, y in zip(fp, tp, strict=True)]
    whole = all(value.denominator == 1 for point in points for value in point)
    table = []
    for (x0, y0), (x1, y1), score in zip([ORIGIN, *points[:-1]], points, scores, strict=True):
        if x1 < x0 or y1 < y0:
            raise ValueError("the points fall")
        mass, positive = x1 - x0 + y1 - y0, y1 - y0
        items = (int(mass), int(positive)) if whole else (1, int(positive > 0))
        if mass > 0:
            table.append(Group(score, *items, mass, positive))
    return table


# The hull


def roc_hull(ranking: Sequence[Group]) -> list[HullVertex] | None:
    """Upper hull from (0, 0) to (1, 1), its strict vertices only; undefined without a class."""
    return family_hull([ranking])


def family_hull(models: Sequence[Sequence[Group]]) -> list[HullVertex] | None:
    """Hull of the points of all models; a point that several have belongs to the first of them.

    Undefined when some model lacks a class.
    """
    owners: dict[tuple[Fraction, Fraction], tuple[RocVertex, int]] = {}
    for model, ranking in enumerate(models):
        for vertex in roc_curve(ranking):
            if vertex.fpr is None or vertex.tpr is None:
                return None
            owners.setdefault((vertex.fpr, vertex.tpr), (vertex, model))
    kept = upper_hull(list(owners))
    slopes = [math.inf, *(_slope(a, b) for a, b in pairwise(kept)), Fraction(0)]
    return [
        HullVertex(*owners[point][0], slopes[i + 1], slopes[i], owners[point][1])
        for i, point in enumerate(kept)
    ]


def upper_hull(points: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The strict vertices of the upper hull, by a monotone chain from (0, 0) to (1, 1)."""
    chain: list[tuple[Fraction, Fraction]] = []
    for x, y in sorted(points):
        if x == 1 and y < 1:
            continue
        while len(chain) > 1:
            (x0, y0), (x1, y1) = chain[-2:]
            if (y1 - y0) * (x - x1) > (y - y1) * (x1 - x0):
                break
            chain.pop()
        chain.append((x, y))
    return chain


def _chord(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], x: Fraction) -> Fraction:
    """The height at x of the line through a and b."""
    return a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])


def _slope(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction]) -> Slope:
    """Δtpr/Δfpr."""
    return math.inf if a[0] == b[0] else (b[1] - a[1]) / (b[0] - a[0])


def hull_groups(ranking: Sequence[Group]) -> list[Group] | None:
    """The ranking with the groups of each segment of the hull merged into one."""
    hull = roc_hull(ranking)
    if hull is None:
        return None
    vertices = {(vertex.fp, vertex.tp) for vertex in hull}
    curve = roc_curve(ranking)
    return _merged_at(ranking, {i for i, cut in enumerate(curve) if (cut.fp, cut.tp) in vertices})


def at_thresholds(ranking: Sequence[Group], thresholds: Sequence[Number | None]) -> list[Group]:
    """The ranking with only the cuts ``score >= threshold``, and the rest in one last group.

    A threshold that is None or NaN selects nothing.
    """
    sizes = {
        sum(group.score >= threshold for group in ranking)
        for threshold in thresholds
        if threshold is not None
    }
    return _merged_at(ranking, sizes)


def _merged_at(ranking: Sequence[Group], ends: set[int]) -> list[Group]:
    """The groups between these cuts as one, with the last (lowest) score of each."""
    table = []
    for start, stop in pairwise(sorted({0, len(ranking), *ends})):
        rows = ranking[start:stop]
        items, positives = sum(g.count for g in rows), sum(g.positives for g in rows)
        masses = total_weight(rows), total_positive_weight(rows)
        table.append(Group(rows[-1].score, items, positives, *masses))
    return table


def roc_hull_auc(ranking: Sequence[Group]) -> Fraction | None:
    """Area under the hull."""
    hull = roc_hull(ranking)
    return None if hull is None else area(hull)


def area(curve: Sequence[RocVertex] | Sequence[HullVertex]) -> Fraction:
    """Area under straight lines between the vertices."""
    strips = ((b.fpr - a.fpr) * (a.tpr + b.tpr) / 2 for a, b in pairwise(curve))
    return sum(strips, Fraction(0))


# Mixtures


def mixture(
    hull: Sequence[HullVertex],
    *,
    fpr: Number | None = None,
    tpr: Number | None = None,
    quota: Number | None = None,
) -> Mixture:
    """The best point of the hull with this fpr, this tpr or this selected mass (give one).

    At a vertex ``lower`` and ``upper`` are both that vertex, and ``share`` is 0. The best point
    with an fpr has the highest tpr, the best one with a tpr the lowest fpr.
    """
    target = Fraction(next(value for value in (fpr, tpr, quota) if value is not None))
    axis = [v.fpr if fpr is not None else v.tpr if tpr is not None else v.fp + v.tp for v in hull]
    if not axis[0] <= target <= axis[-1]:
        raise ValueError(f"{target} is no point of the hull's axis")
    if target in axis:
        last = len(axis) - 1 - axis[::-1].index(target)
        vertex = axis.index(target) if tpr is not None else last
        return _mixed(hull, vertex, vertex, Fraction(0))
    upper = next(i for i, value in enumerate(axis) if value > target)
    low, high = axis[upper - 1], axis[upper]
    return _mixed(hull, upper - 1, upper, (target - low) / (high - low))


def _mixed(hull: Sequence[HullVertex], lower: int, upper: int, share: Fraction) -> Mixture:
    """The mixture of two vertices."""
    a, b = hull[lower], hull[upper]
    rates = [x + share * (y - x) for x, y in zip(a[:2], b[:2], strict=True)]
    return Mixture(lower, upper, share, *rates, a.threshold, b.threshold, a.model, b.model)


# Dominance


def dominates_roc(a: Curve, b: Curve) -> bool | None:
    """Whether every point of b's curve lies on or under a's curve; undefined without a class.

    A curve is a ranking or the vertices of a curve or hull. Between two neighbouring abscissae of
    vertices both curves are straight, so that the limits there decide: the top of a vertical
    jump is the limit from the right, its bottom the one from the left.
    """
    one, other = rates(a), rates(b)
    if one is None or other is None:
        return None
    return all(
        bottom <= height
        for x in {x for x, _ in one} | {x for x, _ in other}
        for height, bottom in zip(limits(one, x), limits(other, x), strict=True)
    )


def rates(curve: Curve) -> list[tuple[Fraction, Fraction]] | None:
    """(fpr, tpr) of each vertex; undefined without a class."""
    rows = curve if curve and hasattr(curve[0], "fpr") else roc_curve(curve)
    if any(row.fpr is None or row.tpr is None for row in rows):
        return None
    return [(row.fpr, row.tpr) for row in rows]


def limits(points: Sequence[tuple[Fraction, Fraction]], x: Fraction) -> tuple[Fraction, Fraction]:
    """Lowest and highest point of the curve at x."""
    heights = []
    for a, b in pairwise(points):
        if a[0] <= x <= b[0]:
            heights += [a[1], b[1]] if a[0] == b[0] else [_chord(a, b, x)]
    return min(heights), max(heights)
