"""Bare points of ROC and PR space and the way between two of them (DG section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from .at_quota import ratio
from .table import Number


class RocPoint(NamedTuple):
    """A point of ROC space."""

    fpr: Fraction | None
    tpr: Fraction | None


class PrPoint(NamedTuple):
    """A point of precision-recall space."""

    recall: Fraction | None
    precision: Fraction | None


def roc_to_pr(fpr: Number, tpr: Number, *, positives: Number, negatives: Number) -> PrPoint:
    """(recall, precision); precision is undefined where nothing is selected."""
    fp, tp = Fraction(fpr) * Fraction(negatives), Fraction(tpr) * Fraction(positives)
    return PrPoint(Fraction(tpr), ratio(tp, tp + fp))


def pr_to_roc(
    recall: Number, precision: Number, *, positives: Number, negatives: Number
) -> RocPoint:
    """(fpr, tpr); precision 0 leaves the fpr open, and an fpr above 1 is an error."""
    tp, share = Fraction(recall) * Fraction(positives), Fraction(precision)
    if share == 0:
        return RocPoint(None, Fraction(recall))
    fpr = ratio(tp / share - tp, Fraction(negatives))
    if fpr is not None and fpr > 1:
        raise ValueError(f"no classifier has recall {recall} and precision {precision}")
    return RocPoint(fpr, Fraction(recall))


def interpolate_pr(
    a: tuple[Number, Number],
    b: tuple[Number, Number],
    *,
    positives: Number,
    recall: Sequence[Number] | None = None,
) -> list[PrPoint]:
    """Points between the (fp, tp) counts a and b (DG Table 1): FP grows linearly with TP.

    One point for each TP_a + k up to TP_b, and TP_b; or one for each recall, undefined outside.
    """
    (fp0, tp0), (fp1, tp1) = (tuple(map(Fraction, point)) for point in (a, b))
    if tp1 <= tp0 or fp1 < fp0:
        raise ValueError("b must have more true positives, and no fewer false ones")
    if recall is None:
        counts = [tp0 + k for k in range(int(tp1 - tp0) + 1)]
        counts += [tp1] if counts[-1] < tp1 else []
    else:
        counts = [Fraction(x) * Fraction(positives) for x in recall]
    points = []
    for tp in counts:
        fp = fp0 + (fp1 - fp0) * (tp - tp0) / (tp1 - tp0)
        precision = None
        if tp0 <= tp <= tp1:
            precision = tp / (tp + fp) if tp + fp else (tp1 - tp0) / (tp1 - tp0 + fp1 - fp0)
        points.append(PrPoint(tp / Fraction(positives), precision))
    return points
