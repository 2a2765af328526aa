"""The area under a part of the ROC curve."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, namespace
from quotakernels.inputs.keywords import brief
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._reduction import Reduction, reduced

Standardized: TypeAlias = Literal["mcclish", False]


def check_part(max_fpr: Any, min_tpr: Any, standardized: Any) -> None:
    """Raise unless these say which part of the ROC curve, and in which unit its area is."""
    for name, rate, at_most in (("max_fpr", max_fpr, True), ("min_tpr", min_tpr, False)):
        if rate is None:
            continue
        if isinstance(rate, bool) or not isinstance(rate, (int, float)):
            raise TypeError(f"{name} must be a number; got {brief(rate)}")
        if not (0 < rate <= 1 if at_most else 0 <= rate < 1):
            expected = "above 0 and at most 1" if at_most else "from 0 to below 1"
            raise ValueError(f"{name} must be a rate {expected}; got {brief(rate)}")
    if not (standardized is False or standardized == "mcclish"):
        raise ValueError(f'standardized must be "mcclish" or False; got {brief(standardized)}')
    if standardized and max_fpr is not None and min_tpr is not None:
        raise ValueError(
            "McClish's standard is for an area with one bound; with max_fpr= and min_tpr= pass "
            "standardized=False"
        )


def partial_auc(
    table: ops.Groups, max_fpr: float | None, min_tpr: float | None, standardized: Standardized
) -> Array:
    """The area below the ROC curve to the left of one rate and above the other."""
    xp = namespace(table[0])
    width, height = 1.0 if max_fpr is None else max_fpr, 1 - (min_tpr or 0.0)
    part = _left_and_above(xp, table, Totals(xp, table), width, min_tpr or 0.0)
    area: Array = reduced(xp, table, part)[0]
    if not standardized:
        return area
    chance = width * width / 2 if min_tpr is None else height * height / 2
    best = width * height
    return (1 + (area - chance) / (best - chance)) / 2


def _left_and_above(
    xp: Namespace, table: ops.Groups, total: Totals, max_fpr: float, min_tpr: float
) -> Reduction:
    """∫ max(TPR - min_tpr, 0) dFPR from 0 to max_fpr, segment by segment."""
    most = ops.spread(xp, table, max_fpr * total.negative)
    least = ops.spread(xp, table, min_tpr * total.positive)

    def terms(left: Array, wide: Array, low: Array, high: Array) -> tuple[Array]:
        enters = ops.clip(xp, (least - low) / divisor(xp, high), 0.0, 1.0)
        leaves = ops.clip(xp, (most - left) / divisor(xp, wide), 0.0, 1.0)
        share = ops.clip(xp, leaves - enters, 0.0)
        return (wide * share * (ops.clip(xp, low - least, 0.0) + high * share / 2),)

    columns = ("negative_before", "negative", "positive_before", "positive")
    return Reduction(columns, terms, lambda x: x / (total.positive * total.negative))
