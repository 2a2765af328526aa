"""The area under a part of the ROC curve."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, namespace
from quotakernels.inputs.keywords import show_value
from quotakernels.inputs.numbers import plain_number
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._reduction import Reduction, reduced

Standardized: TypeAlias = Literal["mcclish", False]


def checked_part(
    max_fpr: Any, min_tpr: Any, standardized: Any
) -> tuple[float | None, float | None]:
    """Both rates as Python's floats; raise unless they say which part of the ROC curve, and in
    which unit its area is.
    """
    rates = {"max_fpr": max_fpr, "min_tpr": min_tpr}
    numbers = {name: None if x is None else plain_number(name, x) for name, x in rates.items()}
    fpr, tpr = numbers.values()
    if not (fpr is None or 0 < fpr <= 1):
        raise ValueError(f"max_fpr must be a rate above 0 and at most 1; got {show_value(max_fpr)}")
    if not (tpr is None or 0 <= tpr < 1):
        raise ValueError(f"min_tpr must be a rate from 0 to below 1; got {show_value(min_tpr)}")
    if not (standardized is False or standardized == "mcclish"):
        raise ValueError(f'standardized must be "mcclish" or False; got {show_value(standardized)}')
    if standardized and fpr is not None and tpr is not None:
        raise ValueError(
            "McClish's standard is for an area with one bound; with max_fpr= and min_tpr= pass "
            "standardized=False"
        )
    return fpr, tpr


def partial_auc(
    table: ops.Groups, max_fpr: float | None, min_tpr: float | None, standardized: Standardized
) -> Array:
    """The area below the ROC curve to the left of one rate and above the other."""
    xp = namespace(table[0])
    width, height = 1.0 if max_fpr is None else max_fpr, 1 - (min_tpr or 0.0)
    best = width * height
    part = _left_and_above(xp, table, Totals(xp, table), width, min_tpr or 0.0)
    area: Array = reduced(xp, table, part)[0] * best
    if not standardized:
        return area
    chance = width * width / 2 if min_tpr is None else height * height / 2
    return (1 + (area - chance) / (best - chance)) / 2


def beside_level(before: Array, here: Array, whole: Array, level: float) -> tuple[Array, Array]:
    """How far a group begins below a level, and how far it ends above it.

    The group follows on the mass `before`; the level is a share of the whole.  In the upper half
    masses are measured from the end: the share up to there has lost digits of a small rest.
    """
    if level < 0.5:
        lacking = level * whole - before
        return lacking, here - lacking
    rest, room = whole - before, (1 - level) * whole
    return rest - room, room - (rest - here)


def _left_and_above(
    xp: Namespace, table: ops.Groups, total: Totals, max_fpr: float, min_tpr: float
) -> Reduction:
    """∫ max(TPR - min_tpr, 0) dFPR from 0 to max_fpr, segment by segment, of the most it can be."""
    negatives, positives = (ops.spread(xp, table, x) for x in (total.negative, total.positive))

    def terms(left: Array, wide: Array, low: Array, high: Array) -> tuple[Array]:
        run, rise = divisor(xp, wide), divisor(xp, high)
        lacking, over = beside_level(low, high, positives, min_tpr)
        inside, outside = beside_level(left, wide, negatives, max_fpr)
        enters, stays = (ops.clip(xp, x / rise, 0.0, 1.0) for x in (lacking, over))
        leaves, beyond = (ops.clip(xp, x / run, 0.0, 1.0) for x in (inside, outside))
        share = xp.where(leaves < 0.5, leaves - enters, stays - beyond)
        share = ops.clip(xp, share, 0.0)
        return (wide * share * (ops.clip(xp, -lacking, 0.0) + high * share / 2),)

    def value(area: Array) -> Array:
        most = max_fpr * (1 - min_tpr) * total.pairs
        return total.within(area, most) / most

    columns = ("negative_before", "negative", "positive_before", "positive")
    return Reduction(columns, terms, value)
