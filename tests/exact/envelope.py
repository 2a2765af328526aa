"""Which of several models is best where: on the quota axis, in ROC and in PR space."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from .pr import Piece, difference, piecewise, pr_pieces
from .roc import roc_curve
from .table import Group, Number, total_weight


class Region(NamedTuple):
    """A stretch of the axis, and whether each model is best (ties included) inside it."""

    start: Fraction
    stop: Fraction
    best: tuple[bool, ...]


def axis_pieces(ranking: Sequence[Group], axis: str) -> list[Piece] | None:
    """The curve piece by piece: recall over the mass of the quota, tpr over fpr, or precision
    over recall. Undefined without positives, over fpr also without negatives.
    """
    if axis == "recall":
        return pr_pieces(ranking)
    curve = roc_curve(ranking)
    if curve[0].tpr is None or (axis == "fpr" and curve[0].fpr is None):
        return None
    abscissae = {"quota": [v.fp + v.tp for v in curve], "fpr": [v.fpr for v in curve]}[axis]
    heights, one, zero = [v.tpr for v in curve], Fraction(1), Fraction(0)
    pieces = []
    for (x0, x1), (y0, y1) in zip(pairwise(abscissae), pairwise(heights), strict=True):
        if x1 > x0:
            slope = (y1 - y0) / (x1 - x0)
            pieces.append(Piece(x0, x1, y0 - slope * x0, slope, one, zero))
    return pieces


def curve_value(
    ranking: Sequence[Group], axis: str, x: Number, side: str = "right"
) -> Fraction | None:
    """The curve's limit at x from one side; undefined outside the axis."""
    pieces = axis_pieces(ranking, axis)
    return None if pieces is None else piecewise(pieces, Fraction(x), side)


def best_value(
    models: Sequence[Sequence[Group]], axis: str, x: Number, side: str = "right"
) -> Fraction | None:
    """The upper envelope's limit at x from one side."""
    values = [curve_value(ranking, axis, x, side) for ranking in models]
    return None if None in values else max(values)


def best_models(
    models: Sequence[Sequence[Group]], axis: str, x: Number, side: str = "right"
) -> list[bool] | None:
    """Which models reach the envelope in the limit at x; inside a region, which are best there."""
    best = best_value(models, axis, x, side)
    if best is None:
        return None
    return [curve_value(ranking, axis, x, side) == best for ranking in models]


def best_regions(models: Sequence[Sequence[Group]], axis: str) -> list[Region] | None:
    """The axis divided where the set of best models changes; undefined if some curve is.

    Neighbouring regions differ; a curve that touches the envelope in one point is not best there.
    """
    curves = [axis_pieces(ranking, axis) for ranking in models]
    if None in curves:
        return None
    if axis == "quota" and len({total_weight(ranking) for ranking in models}) > 1:
        raise ValueError("models of different masses have no common quota")
    regions: list[Region] = []
    for start, stop in pairwise(sorted(_knots(curves))):
        best = tuple(best_models(models, axis, (start + stop) / 2))
        if regions and regions[-1].best == best:
            start = regions.pop().start
        regions.append(Region(start, stop, best))
    return regions


def _knots(curves: Sequence[Sequence[Piece]]) -> set[Fraction]:
    """Every end of a piece, and every place where two curves cross."""
    pieces = [piece for curve in curves for piece in curve]
    knots = {end for piece in pieces for end in (piece.start, piece.stop)}
    for p in pieces:
        for q in pieces:
            root = _crossing(p, q)
            if root is not None and max(p.start, q.start) < root < min(p.stop, q.stop):
                knots.add(root)
    return knots


def _crossing(p: Piece, q: Piece) -> Fraction | None:
    """Where two pieces are equal, but for recall 0: their difference has one other root."""
    constant, linear, square = difference(p, q)
    if square == 0:
        return -constant / linear if linear else None
    if constant:
        raise ValueError("no curve here has such pieces")
    return -linear / square
