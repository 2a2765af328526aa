"""Single points of ROC and precision-recall space, and the way between two of them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from quotakernels._array import Array, Namespace, tolerance
from quotakernels._records import plainly
from quotakernels._types import A, Generic, NumberOf, T
from quotakernels.inputs.keywords import public, show_value
from quotakernels.inputs.numbers import (
    AMOUNT,
    POSITIVE,
    RATE,
    Domains,
    checked,
    of_numbers,
    whole_steps,
)

POINT_ROUNDING = 2.0**-40
"""Relative excess of a rate over 1 that is put down to rounding."""

Cut: TypeAlias = tuple[NumberOf[A], NumberOf[A]]
"""False and true positives."""


@plainly
class RocPoints(NamedTuple, Generic[T]):
    """Points of ROC space.

    Attributes
    ----------
    fpr, tpr : array
        False positive rates, true positive rates.
    """

    fpr: T
    tpr: T


@plainly
class PrPoints(NamedTuple, Generic[T]):
    """Points of precision-recall space.

    Attributes
    ----------
    recall, precision : array
        Recall, which is the true positive rate, and precision.
    """

    recall: T
    precision: T


CLASSES: Domains = {"positives": AMOUNT, "negatives": AMOUNT}


@public
def roc_to_pr(
    fpr: NumberOf[A], tpr: NumberOf[A], *, positives: NumberOf[A], negatives: NumberOf[A]
) -> PrPoints[A]:
    """Points of ROC space in precision-recall space ([DG] Theorem 3.1).

    recall = TPR, precision = TP/(TP + FP) with TP = TPR·P and FP = FPR·N, which need not be
    whole numbers.

    Parameters
    ----------
    fpr, tpr : numbers or arrays
        False and true positive rates.
    positives, negatives : numbers or arrays
        P and N.  All four are broadcast together.

    Returns
    -------
    PrPoints
        The precision is NaN at (0, 0), where nothing is selected.

    Raises
    ------
    ValueError
        Rates outside 0…1, negative or infinite P or N; NaN instead where values cannot be read.

    See Also
    --------
    pr_to_roc : the way back.
    pr_curve : the curve of a ranking; `Ranking.from_points` makes one of such points.

    References
    ----------
    [DG] Theorem 3.1.

    Examples
    --------
    >>> from quotakernels import roc_to_pr
    >>> print(*roc_to_pr(0.25, 1.0, positives=20, negatives=2000))
    1.0 0.038461538461538464
    """

    def points(xp: Namespace, fpr: Array, tpr: Array, whole: Array, rest: Array) -> PrPoints:
        found, wrong = tpr * whole, fpr * rest
        return PrPoints(tpr + xp.zeros_like(found + wrong), found / (found + wrong))

    named = {"fpr": fpr, "tpr": tpr, "positives": positives, "negatives": negatives}
    result: PrPoints = of_numbers(points, named, {"fpr": RATE, "tpr": RATE, **CLASSES})
    return result


@public
def pr_to_roc(
    recall: NumberOf[A], precision: NumberOf[A], *, positives: NumberOf[A], negatives: NumberOf[A]
) -> RocPoints[A]:
    """Points of precision-recall space in ROC space ([DG] Theorem 3.1).

    TPR = recall, FPR = TP·(1 - precision)/precision/N with TP = recall·P.

    Parameters
    ----------
    recall, precision : numbers or arrays
        Recall and precision; NaN is taken as undefined.
    positives, negatives : numbers or arrays
        As in `roc_to_pr`.

    Returns
    -------
    RocPoints
        The false positive rate is NaN where the precision is NaN, or 0, which does not determine
        it.

    Raises
    ------
    ValueError
        Recall or precision outside 0…1, negative or infinite P or N, points that need more than
        N false positives; NaN instead where these cannot be read.

    See Also
    --------
    roc_to_pr : the way back.

    References
    ----------
    [DG] Theorem 3.1.

    Examples
    --------
    >>> from quotakernels import pr_to_roc
    >>> print(*pr_to_roc(0.5, 0.25, positives=20, negatives=2000))
    0.015 0.5
    """

    def points(
        xp: Namespace, recall: Array, precision: Array, whole: Array, rest: Array
    ) -> RocPoints:
        fpr = recall * whole * (1 - precision) / (precision * rest)
        fpr = xp.nan_unless(precision > 0, fpr)
        fpr = checked(xp, {"fpr": fpr}, {"fpr": _REACHABLE})["fpr"]
        return RocPoints(xp.clip(fpr, max=1.0), recall + xp.zeros_like(fpr))

    named = {
        "recall": recall,
        "precision": precision,
        "positives": positives,
        "negatives": negatives,
    }
    domains = {"recall": RATE, "precision": RATE, **CLASSES}
    result: RocPoints = of_numbers(points, named, domains)
    return result


_REACHABLE = (
    lambda x: ~(x > 1 + tolerance(x, POINT_ROUNDING)),
    "at most 1 at this recall and precision",
)


@public
def interpolate_pr(
    start: Cut[A], stop: Cut[A], *, positives: NumberOf[A], recall: NumberOf[A] | None = None
) -> PrPoints[A]:
    """Precision-recall points between two cuts ([DG] Table 1).

    From (FP_A, TP_A) to (FP_B, TP_B) the false positives grow in proportion to the true ones, by
    the local skew (FP_B - FP_A)/(TP_B - TP_A) for each.

    Parameters
    ----------
    start, stop : pairs of numbers
        False and true positives (FP, TP) of the two cuts, whole or not; TP must grow and FP must
        not fall.
    positives : number
        P, all positives.
    recall : array, optional
        Where to find the precision.  By default at TP_A, TP_A + 1, … and TP_B.

    Returns
    -------
    PrPoints
        The precision is NaN at a recall beyond the two cuts; at (0, 0) it is the limit along the
        segment.

    Raises
    ------
    ValueError
        Negative, infinite or falling counts, a TP that does not grow or exceeds P; NaN instead
        where values cannot be read.  Without `recall`, counts that cannot be read.

    References
    ----------
    [DG] section 4, Table 1.

    Examples
    --------
    >>> from quotakernels import interpolate_pr
    >>> points = interpolate_pr((5, 5), (30, 10), positives=20)
    >>> print(points.recall, points.precision.round(3))
    [0.25 0.3  0.35 0.4  0.45 0.5 ] [0.5   0.375 0.318 0.286 0.265 0.25 ]
    """
    named: dict[str, Any] = {}
    for name, cut in (("start", start), ("stop", stop)):
        named[f"{name} FP"], named[f"{name} TP"] = _pair(name, cut)
    named["positives"] = positives
    domains = dict.fromkeys(named, AMOUNT)
    if recall is None:
        named["TP"] = whole_steps(named, "start TP", "stop TP")
    else:
        named["recall"] = recall

    def points(
        xp: Namespace, fp: Array, tp: Array, last_fp: Array, last_tp: Array, whole: Array, at: Array
    ) -> PrPoints:
        found, reached = (at, at / whole) if recall is None else (at * whole, at)
        steps = {
            "stop TP - start TP": last_tp - tp,
            "stop FP - start FP": last_fp - fp,
            "stop TP": last_tp + xp.zeros_like(whole),
        }
        rounding = tolerance(found, POINT_ROUNDING)
        within = (lambda x: ~(x > whole * (1 + rounding)), "at most all positives")
        grown, along, last_tp = checked(xp, steps, {**_STEPS, "stop TP": within}).values()
        skew = along / grown
        selected = found + fp + skew * (found - tp)
        precision = xp.where(selected > 0, found / selected, 1 / (1 + skew))
        between = (found >= tp * (1 - rounding)) & (found <= last_tp * (1 + rounding))
        precision = xp.nan_unless(between, precision)
        return PrPoints(reached + xp.zeros_like(precision), precision + xp.zeros_like(reached))

    result: PrPoints = of_numbers(points, named, domains)
    return result


def _pair(name: str, cut: Any) -> tuple[Any, Any]:
    try:
        fp, tp = cut
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be a pair of numbers, (FP, TP); got {show_value(cut)}"
        ) from None
    return fp, tp


_STEPS: Domains = {
    "stop TP - start TP": (POSITIVE[0], "above 0"),
    "stop FP - start FP": AMOUNT,
}
