"""Lines through the unit ROC square from border to border, as points of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, tolerance
from quotakernels.measures._quota import ROUNDING, divisor

__all__ = ["Line", "evenly", "falling", "of_arithmetic_mean", "of_geometric_mean", "rising"]


class Line(NamedTuple):
    """False and true positive rates along a line; one of them is NaN where it does not exist."""

    fpr: Array
    tpr: Array


def rising(xp: Namespace, t: Array, a: Array, b: Array, low: Array, high: Array) -> Line:
    """The line b·TPR - a·FPR = low, where a and b are not negative and high is b - low."""
    none, whole = xp.zeros_like(low), xp.ones_like(low)
    from_left, to_top = (low >= 0) & (b > 0), (high <= a) & (a > 0)
    start = Line(xp.where(from_left, none, -low / a), xp.where(from_left, low / b, none))
    stop = Line(xp.where(to_top, high / a, whole), xp.where(to_top, whole, (low + a) / b))
    slack = tolerance(a, ROUNDING) * (a + b)
    return _between(xp, t, start, stop, (high >= -slack) & (low + a >= -slack) & (a + b > 0))


def falling(xp: Namespace, t: Array, selected: Array, positives: Array, negatives: Array) -> Line:
    """The line on which so many are selected in all."""
    none, whole = xp.zeros_like(selected), xp.ones_like(selected)
    from_top, to_bottom = selected >= positives, selected <= negatives
    start = Line(
        xp.where(from_top, (selected - positives) / negatives, none),
        xp.where(from_top, whole, selected / positives),
    )
    stop = Line(
        xp.where(to_bottom, selected / negatives, whole),
        xp.where(to_bottom, none, (selected - negatives) / positives),
    )
    return _between(xp, t, start, stop, selected >= 0)


def _between(xp: Namespace, t: Array, start: Line, stop: Line, exists: Array) -> Line:
    """Points of the straight line between two ends, which they are exactly at t = 0 and 1."""
    ends = (ops.clip(xp, x, 0.0, 1.0) for x in (*start, *stop))
    fpr, tpr, last_fpr, last_tpr = (xp.where(exists, x, xp.full_like(x, xp.nan)) for x in ends)
    return Line(_along(xp, t, fpr, last_fpr), _along(xp, t, tpr, last_tpr))


def _along(xp: Namespace, t: Array, start: Array, stop: Array) -> Array:
    """From one number to another; exactly both of them at the ends, and between if they are one."""
    return xp.where(t == 1, stop, start + (stop - start) * t)


def of_arithmetic_mean(xp: Namespace, t: Array, level: Array, ratio: Array) -> Line:
    """Where (recall + precision)/2 is the level; N/P is the ratio."""

    def recall_at(wrong: Array) -> Array:
        """The positive root of r² + (1 - 2L + f)·r - 2L·f, f being FP/P."""
        linear, constant = 1 - 2 * level + wrong, 2 * level * wrong
        root = xp.sqrt(linear * linear + 4 * constant)
        small = 2 * constant / divisor(xp, xp.abs(linear) + root)
        return xp.where(linear >= 0, small, (root - linear) / 2)

    def wrong_at(recall: Array) -> Array:
        return recall * (1 - 2 * level + recall) / (2 * level - recall)

    return _bent(xp, t, level == 0, ratio, recall_at, wrong_at)


def of_geometric_mean(xp: Namespace, t: Array, level: Array, ratio: Array) -> Line:
    """Where √(recall·precision) is the level; N/P is the ratio."""
    square = level * level

    def recall_at(wrong: Array) -> Array:
        """The positive root of r² - L²·r - L²·f, f being FP/P."""
        return (square + xp.sqrt(square * square + 4 * square * wrong)) / 2

    def wrong_at(recall: Array) -> Array:
        return recall * (recall - square) / square

    return _bent(xp, t, square == 0, ratio, recall_at, wrong_at)


def _bent(
    xp: Namespace,
    t: Array,
    at_bottom: Array,
    ratio: Array,
    recall_at: Callable[[Array], Array],
    wrong_at: Callable[[Array], Array],
) -> Line:
    """A curve that rises from the left border, or that runs along the bottom.

    Half of its points are spaced evenly along each axis, so that neither a flat nor a steep part
    is left without any.
    """
    none, one = xp.zeros_like(ratio), xp.ones_like(ratio)
    first, last = recall_at(none), recall_at(ratio)
    to_top = last >= 1
    last = xp.where(to_top, one, last)
    end = xp.where(to_top, ops.clip(xp, wrong_at(one) / ratio, 0.0, 1.0), one)
    half = t.shape[-1] // 2 + 1
    step, stride = (evenly(xp, n, ratio) for n in (half, t.shape[-1] - half + 2))
    recalls, rates = _along(xp, step, first, last), end * stride[1:-1]
    wrong = ops.clip(xp, wrong_at(recalls) / ratio, 0.0, 1.0)
    wrong = xp.where(step == 0, none, xp.where(step == 1, end, wrong))
    fpr = xp.sort(xp.concat([wrong, rates], axis=-1), axis=-1)
    tpr = xp.sort(xp.concat([recalls, recall_at(rates * ratio)], axis=-1), axis=-1)
    return Line(xp.where(at_bottom, t, fpr), xp.where(at_bottom, none, tpr))


def evenly(xp: Namespace, points: int, like: Array) -> Array:
    """So many numbers from 0 to 1, both of them exactly."""
    return xp.arange(points, dtype=like.dtype, device=device(like)) / (points - 1)
