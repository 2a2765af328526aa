"""Precision-recall space (DG): vertices, precision at a recall, areas, dominance.

Between two vertices TP and FP grow in a fixed proportion, so that precision over recall is a
quotient of two linear functions. Nothing here goes through ROC space but the hull of the
achievable curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, permutations
from typing import NamedTuple

from .at_quota import ratio
from .roc import Curve, hull_groups
from .table import Group, Number, groups, is_weighted, total_positive_weight

DIGITS = 50
STARTS = ("roc", "horizontal")


class PrVertex(NamedTuple):
    """One cut: its recall and precision, the score of the last selected example, its masses."""

    recall: Fraction | None
    precision: Fraction | None
    threshold: Number | None
    fp: Fraction
    tp: Fraction


class Piece(NamedTuple):
    """(a + b·x)/(c + d·x) for start < x < stop."""

    start: Fraction
    stop: Fraction
    a: Fraction
    b: Fraction
    c: Fraction
    d: Fraction

    def at(self, x: Fraction) -> Fraction:
        """The value at x, or its limit where both parts of the quotient vanish."""
        below = self.c + self.d * x
        return (self.a + self.b * x) / below if below else self.b / self.d


class Step(NamedTuple):
    """A group with what lies above it."""

    above: Fraction
    found: Fraction
    mass: Fraction
    positive: Fraction


def steps(ranking: Sequence[Group]) -> list[Step]:
    """S, C, m and p of each group, in masses."""
    rows, above, found = [], Fraction(0), Fraction(0)
    for group in ranking:
        rows.append(Step(above, found, group.weight, group.positive_weight))
        above, found = above + group.weight, found + group.positive_weight
    return rows


# The curve


def pr_curve(ranking: Sequence[Group], start: str = "roc") -> list[PrVertex]:
    """One vertex per cut. At cut 0 ``"roc"`` has the precision of the first group, the limit on
    the first ROC segment. ``"horizontal"`` gives all cuts before the first positive the
    precision of the first cut that has one.
    """
    positives = total_positive_weight(ranking)
    first = _start_precision(ranking, start)
    vertices = [PrVertex(ratio(Fraction(0), positives), first, None, Fraction(0), Fraction(0))]
    for group, row in zip(ranking, steps(ranking), strict=True):
        tp, selected = row.found + row.positive, row.above + row.mass
        precision = first if tp == 0 and start == "horizontal" else tp / selected
        recall = ratio(tp, positives)
        vertices.append(PrVertex(recall, precision, group.score, selected - tp, tp))
    return vertices


def _start_precision(ranking: Sequence[Group], start: str) -> Fraction | None:
    """Precision at cut 0; undefined without examples."""
    if start not in STARTS:
        raise ValueError(start)
    if not ranking:
        return None
    if start == "roc":
        return ranking[0].positive_weight / ranking[0].weight
    with_positives = (row for row in steps(ranking) if row.positive > 0)
    first = next(with_positives, None)
    return Fraction(0) if first is None else first.positive / (first.above + first.mass)


def pr_pieces(curve: Curve | Sequence[PrVertex], start: str = "roc") -> list[Piece] | None:
    """Precision over recall, one piece per segment on which recall grows; undefined if P = 0.

    At recall r the selection has TP = P·r and S + (TP - C)·m/p examples.
    """
    points = _masses(curve)
    positives = points[-1][1]
    if positives == 0:
        return None
    pieces, zero = [], Fraction(0)
    for (fp0, tp0), (fp1, tp1) in pairwise(points):
        if tp1 == tp0:
            continue
        ends = tp0 / positives, tp1 / positives
        if tp0 == 0 and start == "horizontal":
            pieces.append(Piece(*ends, tp1 / (fp1 + tp1), zero, Fraction(1), zero))
            continue
        skew = (fp1 - fp0) / (tp1 - tp0)
        pieces.append(Piece(*ends, zero, positives, fp0 - tp0 * skew, (1 + skew) * positives))
    return pieces


def _masses(curve: Curve | Sequence[PrVertex]) -> list[tuple[Fraction, Fraction]]:
    """(fp, tp) at each cut of a ranking or at each vertex of a curve."""
    rows = curve if curve and hasattr(curve[0], "fp") else pr_curve(curve)
    return [(row.fp, row.tp) for row in rows]


def piecewise(pieces: Sequence[Piece], x: Fraction, side: str) -> Fraction | None:
    """The limit at x from the left or the right; undefined where there is no piece."""
    for piece in pieces:
        inside = piece.start < x <= piece.stop if side == "left" else piece.start <= x < piece.stop
        if inside:
            return piece.at(x)
    return None


# Areas


def average_precision(ranking: Sequence[Group]) -> Fraction | None:
    """Σ p/P · (C + p)/(S + m), the step-wise sum."""
    terms = (r.positive * (r.found + r.positive) / (r.above + r.mass) for r in steps(ranking))
    return ratio(sum(terms, Fraction(0)), total_positive_weight(ranking))


def expected_average_precision(ranking: Sequence[Group]) -> Fraction | None:
    """E[AP] over random tie orders.

    Position k of a group is a positive with probability p/m, and then (k - 1)·(p - 1)/(m - 1)
    positives of the group are expected before it.
    """
    if is_weighted(ranking):
        raise ValueError("positions are items: there is no weighted form")
    total, above, found = Fraction(0), 0, 0
    for _, m, p, *_ in ranking:
        others = Fraction(p - 1, m - 1) if m > 1 else Fraction(0)
        for k in range(1, m + 1):
            total += Fraction(p, m) * (found + 1 + (k - 1) * others) / (above + k)
        above, found = above + m, found + p
    return ratio(total, Fraction(found))


def average_precision_over_orders(
    labels: Sequence[int], scores: Sequence[Number]
) -> Fraction | None:
    """E[AP] as the mean over all n! orders of the examples, each breaking the ties its way."""
    rows = list(zip(labels, scores, strict=True))
    values = [
        average_precision(groups(*zip(*order, strict=True), ties="given"))
        for order in permutations(rows)
    ]
    return None if values[0] is None else sum(values, Fraction(0)) / len(values)


def pr_auc_trapezoid(ranking: Sequence[Group], start: str = "roc") -> Fraction | None:
    """DG's area: the trapezoid rule on points at every integer TP; no weighted form.

    A jump of precision has no width. At recall 0 precision is that of ``start``; a horizontal
    start goes on to the end of the first group that has positives.
    """
    if is_weighted(ranking):
        raise ValueError("TP must be an integer at every cut")
    if total_positive_weight(ranking) == 0:
        return None
    doubled, positives = Fraction(0), total_positive_weight(ranking)
    for above, found, mass, positive in steps(ranking):
        if positive == 0:
            continue
        marks = [
            (found + k) / (above + k * mass / positive) if above + k else None
            for k in range(int(positive) + 1)
        ]
        if found == 0:
            marks[0] = _start_precision(ranking, start)
        if found == 0 and start == "horizontal":
            marks = marks[:1] * len(marks)
        doubled += sum(a + b for a, b in pairwise(marks))
    return doubled / positives / 2


def pr_auc_exact(ranking: Sequence[Group], start: str = "roc") -> float | None:
    """The integral of precision over recall, as the nearest float."""
    return partial_pr_auc(ranking, 0, 1, start)


def partial_pr_auc(
    ranking: Sequence[Group], min_recall: Number, max_recall: Number, start: str = "roc"
) -> float | None:
    """The integral between two recalls: of the part of each step that lies between them."""
    positives = total_positive_weight(ranking)
    if positives == 0:
        return None
    ends = [Fraction(x) * positives for x in (min_recall, max_recall)]
    rational, rest = Fraction(0), Decimal(0)
    with localcontext() as context:
        context.prec = 2 * DIGITS
        for row in steps(ranking):
            if row.positive == 0:
                continue
            first, last = (min(max(x - row.found, 0), row.positive) for x in ends)
            if first == last:
                continue
            slope = row.mass / row.positive
            part = row._replace(
                above=row.above + first * slope,
                mass=(last - first) * slope,
                found=row.found + first,
                positive=last - first,
            )
            if row.above == 0 or (row.found == 0 and start == "horizontal"):
                rational += part.positive * row.positive / (row.above + row.mass)
            else:
                rest += _log_part(part)
        return float((decimal(rational) + rest) / decimal(positives))


def _log_part(row: Step) -> Decimal:
    """∫₀ᵖ (C + t)/(S + t·m/p) dt = p²/m + (C - S·p/m)·(p/m)·ln((S + m)/S) for S > 0."""
    label = row.positive / row.mass
    growth = (row.above + row.mass) / row.above
    with localcontext() as context:
        # A small m/S costs its digits twice: in the logarithm, and where the two terms cancel.
        small = row.above / row.mass
        lost = max(0, small.numerator.bit_length() - small.denominator.bit_length() + 1)
        context.prec = 2 * DIGITS + lost
        factor = decimal((row.found - row.above * label) * label)
        return decimal(row.positive * label) + factor * decimal(growth).ln()


def decimal(value: Fraction) -> Decimal:
    """The fraction, rounded to the context's digits."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def achievable_pr_auc(ranking: Sequence[Group]) -> float | None:
    """The area under the achievable curve, that of the ROC hull; undefined without positives."""
    merged = hull_groups(ranking)
    return pr_auc_exact(ranking if merged is None else merged)


def achievable_pr_curve(ranking: Sequence[Group]) -> list[PrVertex] | None:
    """The vertices of the ROC hull in precision-recall space; undefined without a class."""
    merged = hull_groups(ranking)
    return None if merged is None else pr_curve(merged)


# Dominance


def dominates_pr(a: Curve | Sequence[PrVertex], b: Curve | Sequence[PrVertex]) -> bool | None:
    """Whether a's precision is at least b's at every recall; undefined without positives.

    Limits count: on each stretch between neighbouring recalls of vertices the numerator of the
    difference is a quadratic that must be nowhere negative.
    """
    one, other = pr_pieces(a), pr_pieces(b)
    if one is None or other is None:
        return None
    return all(
        _nowhere_negative(difference(p, q), max(p.start, q.start), min(p.stop, q.stop))
        for p in one
        for q in other
        if max(p.start, q.start) < min(p.stop, q.stop)
    )


def difference(p: Piece, q: Piece) -> tuple[Fraction, Fraction, Fraction]:
    """Coefficients of the numerator of p - q, constant first; both denominators are positive."""
    return (
        p.a * q.c - q.a * p.c,
        p.a * q.d + p.b * q.c - q.a * p.d - q.b * p.c,
        p.b * q.d - q.b * p.d,
    )


def _nowhere_negative(
    polynomial: tuple[Fraction, Fraction, Fraction], low: Fraction, high: Fraction
) -> bool:
    """Whether a quadratic is ≥ 0 on [low, high]: at both ends, and at its lowest point between."""
    constant, linear, square = polynomial
    places = [low, high]
    if square > 0 and low < -linear / (2 * square) < high:
        places.append(-linear / (2 * square))
    return all(constant + linear * x + square * x * x >= 0 for x in places)
