"""Lines in Powers' charts along which a measure is the same."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, tolerance
from quotakernels._records import plainly
from quotakernels._types import A, Generic, NumberOf, T
from quotakernels.inputs.cuts import ROUNDING
from quotakernels.inputs.groups import MOST_POINTS, size_of
from quotakernels.inputs.keywords import public, show_value
from quotakernels.inputs.numbers import COST, POSITIVE, Domains, of_numbers
from quotakernels.inputs.totals import divisor
from quotakernels.measures.charts.powers import ChartKind, check_kind, coordinates, decisions
from quotakernels.measures.roc_pr.points import CLASSES


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
    fpr, tpr, last_fpr, last_tpr = (ops.nan_unless(xp, exists, x) for x in ends)
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


Of: TypeAlias = Literal[
    "informedness",
    "cost",
    "skew",
    "arithmetic_mean",
    "harmonic_mean",
    "geometric_mean",
    "chance",
    "break_even",
]

_INFORMEDNESS = (lambda x: (x >= -1) & (x <= 1), "a level from -1 to 1")
_MEAN = (lambda x: (x >= 0) & (x <= 1), "a level from 0 to 1")
_LEVELS: Domains = {
    "informedness": _INFORMEDNESS,
    "cost": COST,
    "skew": (lambda x: x >= 0, "a ratio, not negative"),
    "arithmetic_mean": _MEAN,
    "harmonic_mean": _MEAN,
    "geometric_mean": _MEAN,
}
_WITHOUT_LEVEL = ("chance", "break_even")


@plainly
class ChartLine(NamedTuple, Generic[T]):
    """A line of a chart, as points on it.

    Attributes
    ----------
    x, y : array, shape (..., points)
        The coordinates; NaN where undefined, and all along a line that does not exist.
    """

    x: T
    y: T


@public
def iso_line(
    level: NumberOf[A] | None = None,
    *,
    of: Of,
    kind: ChartKind,
    positives: NumberOf[A],
    negatives: NumberOf[A],
    points: int = 101,
    cost_fp: NumberOf[A] | None = None,
    cost_fn: NumberOf[A] | None = None,
    smoothing: NumberOf[A] = 1.0,
) -> ChartLine[A]:
    """The line in one of Powers' charts along which a measure has a given level.

    Parameters
    ----------
    level : number or array
        The level.  Not for the two lines that have none.
    of : str
        "informedness" TPR - FPR; "cost" (cost_fp·FP + cost_fn·FN)/n, as `expected_cost`; "skew"
        rejected/selected, lines of equal bias; "arithmetic_mean", "harmonic_mean" (F₁) and
        "geometric_mean" (the G-measure) of recall and precision; "chance", where TPR = FPR;
        "break_even", where as many are selected as are positive, and recall = precision.
    kind, positives, negatives, smoothing : optional
        The chart, as in `chart_points`.
    points : int
        How many points a line has, from 2 to 2**24.
    cost_fp, cost_fn : numbers or arrays
        Costs of a false positive and a false negative, not negative; for "cost" only.

    Returns
    -------
    ChartLine
        All numbers are broadcast together to (...).  Each line goes from border to border of the
        ROC square, from the smaller FPR to the larger, or else from the smaller TPR.  NaN where the
        level cannot be reached, for absent classes, and where the chart has no such point.

    Raises
    ------
    TypeError
        A level or costs that are missing, or given where they have no meaning.
    ValueError
        Another `of` or `kind`; too few or too many `points`; a level that no decisions can have,
        such as an informedness of 2; negative or infinite numbers.  NaN instead where values cannot
        be read.

    See Also
    --------
    powers_chart : the cuts of a ranking in the same chart.
    iso_performance_slope : the slope of lines of equal cost in ROC space.

    Notes
    -----
    Straight lines of the ROC square have evenly spaced points.  Those of equal arithmetic and
    geometric mean are curves, with FP = P·r·(1 - p)/p and the precision p = 2L - r and L²/r at
    the recall r; half of their points are spaced evenly along each of the two axes.  In "pr" a line
    that begins at (0, 0) has its limit there, as `powers_chart` has.

    References
    ----------
    [PW], isobars, isoskew and break-even lines.

    Examples
    --------
    >>> from quotakernels.charts import iso_line
    >>> sizes = {"positives": 40, "negatives": 60}
    >>> line = iso_line(0.5, of="informedness", kind="roc", points=3, **sizes)
    >>> print(line.x, line.y)
    [0.   0.25 0.5 ] [0.5  0.75 1.  ]
    >>> line = iso_line(of="break_even", kind="pr", points=3, **sizes)
    >>> print(line.x, line.y)
    [1.  0.5 0. ] [1.  0.5 0. ]
    """
    check_kind(kind)
    _check_call(of, level, points, cost_fp, cost_fn)
    named: dict[str, Any] = {"positives": positives, "negatives": negatives}
    named |= {"smoothing": smoothing}
    named |= {} if level is None else {"level": level}
    named |= {} if of != "cost" else {"cost_fp": cost_fp, "cost_fn": cost_fn}
    domains: Domains = {**CLASSES, "smoothing": POSITIVE, "cost_fp": COST, "cost_fn": COST}
    domains = {**domains, **({} if level is None else {"level": _LEVELS[of]})}

    def line(xp: Namespace, *arrays: Array) -> ChartLine:
        wide = (xp.expand_dims(x, axis=-1) for x in xp.broadcast_arrays(*arrays))
        numbers = dict(zip(named, wide, strict=True))
        return _drawn(xp, of, kind, points, numbers)

    result: ChartLine = of_numbers(line, named, {x: domains[x] for x in named})
    return result


def _check_call(of: Any, level: Any, points: Any, *costs: Any) -> None:
    if not isinstance(of, str) or of not in (*_LEVELS, *_WITHOUT_LEVEL):
        names = ", ".join(map(repr, (*_LEVELS, *_WITHOUT_LEVEL)))
        raise ValueError(f"of must be one of {names}; got {show_value(of)}")
    if (level is None) != (of in _WITHOUT_LEVEL):
        raise TypeError(f"of={of!r} {'needs a' if level is None else 'takes no'} level")
    if any((cost is None) == (of == "cost") for cost in costs):
        raise TypeError("cost_fp and cost_fn are both needed for of='cost', and for that only")
    if isinstance(points, bool) or not isinstance(points, Integral):
        raise TypeError(f"points must be an integer; got {show_value(points)}")
    size_of("points", points, least=2, most=MOST_POINTS)


def _drawn(
    xp: Namespace, of: Of, kind: ChartKind, points: int, numbers: dict[str, Array]
) -> ChartLine:
    """The line in the chart, of numbers of shape (..., 1)."""
    whole, rest = numbers["positives"], numbers["negatives"]
    fpr, tpr = _in_roc_space(xp, of, evenly(xp, points, whole), numbers)
    both = (whole > 0) & (rest > 0)
    fp, tp = (ops.nan_unless(xp, both, x) for x in (fpr * rest, tpr * whole))
    arrays = xp.broadcast_arrays(fp, tp, whole, rest, numbers["smoothing"])
    x, y = coordinates(xp, kind, decisions(xp, *arrays[:-1]), arrays[-1])
    if kind == "pr":  # what is straight from the origin on has one precision there
        limit = 2 * numbers["level"] if of == "arithmetic_mean" else y[..., 1:2]
        y = xp.where((fp == 0) & (tp == 0), limit, y)
    return ChartLine(x, y)


def _in_roc_space(xp: Namespace, of: Of, t: Array, numbers: dict[str, Array]) -> Line:
    """The line as rates."""
    whole, rest = numbers["positives"], numbers["negatives"]
    level, one = numbers.get("level", xp.zeros_like(whole)), xp.ones_like(whole)
    if of in ("informedness", "chance"):
        return rising(xp, t, one, one, level, 1 - level)
    if of == "cost":
        dearest, spent = numbers["cost_fn"] * whole, level * (whole + rest)
        return rising(xp, t, numbers["cost_fp"] * rest, dearest, dearest - spent, spent)
    if of == "harmonic_mean":
        low, high = level * whole, 2 * (1 - level) * whole
        return rising(xp, t, level * rest, (2 - level) * whole, low, high)
    if of in ("skew", "break_even"):
        selected = whole if of == "break_even" else (whole + rest) / (1 + level)
        return falling(xp, t, selected, whole, rest)
    mean = of_arithmetic_mean if of == "arithmetic_mean" else of_geometric_mean
    return mean(xp, t, level, rest / whole)
