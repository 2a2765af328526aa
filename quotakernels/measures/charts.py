"""Powers' charts of ROC space, lines in them, and the area under kappa."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, tolerance
from quotakernels._records import plainly
from quotakernels._types import A, Generic, NumberOf, T
from quotakernels.inputs.groups import MOST_POINTS, size_of
from quotakernels.inputs.keywords import check_choice, public, show_value
from quotakernels.inputs.numbers import COST, POSITIVE, Domains, checked, of_numbers, plain_number
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._sums import log_and_remainder
from quotakernels.measures._units import in_usual_units
from quotakernels.measures.at_quota import cut_quotas, cut_thresholds, row_ends
from quotakernels.measures.over_quotas import Won, pairs_won
from quotakernels.measures.roc_pr import CLASSES, POINT_ROUNDING, area_under_pr, pr_vertices
from quotakernels.measures.tables.confusion import (
    ConfusionTable,
    TableMeasure,
    cells_as_floats,
    cut_cells,
)
from quotakernels.measures.tables.rates import (
    bias,
    cohen_kappa,
    false_positive_rate,
    informedness,
    precision,
    recall,
    scott_pi,
    surplus,
)
from quotakernels.ops import namespace

ChartKind: TypeAlias = Literal[
    "pn",
    "roc",
    "boc",
    "boc_dual",
    "pr",
    "pr_reciprocal",
    "pr_log",
    "lift",
    "bift",
    "bprd",
    "bird",
    "bird_informedness",
    "kappa",
    "kappa_bias",
    "scott",
    "scott_bias",
]

FAR = 1000
"""Bits of a quotient beyond which it may leave the range of floats, or lose its digits there."""


_Chart: TypeAlias = Callable[[ConfusionTable, Any], tuple[Array, Array]]


def _of(x: TableMeasure, y: TableMeasure) -> _Chart:
    """The chart of one measure of tables on another."""

    def chart(table: ConfusionTable, _: Any) -> tuple[Array, Array]:
        xp = namespace(table.tp)
        return x.value(xp, table, {}), y.value(xp, table, {})

    return chart


def _counts(table: ConfusionTable, _: Any) -> tuple[Array, Array]:
    return table.fp, table.tp


def _reciprocals(table: ConfusionTable, _: Any) -> tuple[Array, Array]:
    return (table.tp + table.fn) / table.tp, (table.tp + table.fp) / table.tp


def _logarithms(table: ConfusionTable, _: Any) -> tuple[Array, Array]:
    return _bits_of_share(table.tp, table.fn), _bits_of_share(table.tp, table.fp)


def _on_drift(table: ConfusionTable, _: Any) -> tuple[Array, Array]:
    xp, positive = namespace(table.tp), table.tp + table.fn
    drift = (table.tp + table.fp) / positive
    drift = xp.nan_unless(positive > 0, drift)
    return drift, informedness.value(xp, table, {})


def _bird(table: ConfusionTable, s: Any) -> tuple[Array, Array]:
    found = (s + table.tp) / (s + (table.tp + table.fn))
    wrong = (s + table.fp) / (s + (table.fp + table.tn))
    return _bits_of_drift(table, s), _bits(found, wrong)


def _bird_informedness(table: ConfusionTable, s: Any) -> tuple[Array, Array]:
    """1 - informedness is FNR + FPR, which is exact near 0, as informedness is near chance."""
    xp = namespace(table.tp)
    value = informedness.value(xp, table, {})
    missed = table.fn / (table.tp + table.fn) + table.fp / (table.fp + table.tn)
    near_chance = xp.log1p(-value) / math.log(2)
    y = xp.where(xp.abs(value) < 0.5, near_chance, xp.log2(missed))
    return _bits_of_drift(table, s), -y


def _bits_of_drift(table: ConfusionTable, s: Any) -> Array:
    """Smoothed bias over prevalence."""
    return _bits(s + (table.tp + table.fp), s + (table.tp + table.fn))


def _bits(over: Array, under: Array) -> Array:
    """Logarithm to base 2 of a quotient, also of one that no float holds."""
    xp = namespace(over)
    direct = xp.log2(over / under)
    return xp.where(xp.abs(direct) > FAR, xp.log2(over) - xp.log2(under), direct)


def _bits_of_share(part: Array, rest: Array) -> Array:
    """-log₂(part/(part + rest)), to full precision also where that is small."""
    xp = namespace(part)
    direct = xp.log1p(rest / part) / math.log(2)
    return xp.where(direct > FAR, xp.log2(rest) - xp.log2(part), direct)


_CHARTS: Mapping[str, _Chart] = {
    "pn": _counts,
    "roc": _of(false_positive_rate, recall),
    "boc": _of(false_positive_rate, informedness),
    "boc_dual": _of(recall, informedness),
    "pr": _of(recall, precision),
    "pr_reciprocal": _reciprocals,
    "pr_log": _logarithms,
    "lift": _of(bias, recall),
    "bift": _of(bias, informedness),
    "bprd": _on_drift,
    "bird": _bird,
    "bird_informedness": _bird_informedness,
    "kappa": _of(false_positive_rate, cohen_kappa),
    "kappa_bias": _of(bias, cohen_kappa),
    "scott": _of(false_positive_rate, scott_pi),
    "scott_bias": _of(bias, scott_pi),
}


def coordinates(
    xp: Namespace, kind: ChartKind, table: ConfusionTable, smoothing: Any
) -> tuple[Array, ...]:
    """The places of decisions whose cells are floats of one shape; NaN without examples."""
    there = (table.tp + table.fn) + (table.fp + table.tn) > 0
    place = _CHARTS[kind](table, smoothing)
    return tuple(xp.nan_unless(there, x) for x in place)


def decisions(
    xp: Namespace, fp: Array, tp: Array, positives: Array, negatives: Array
) -> ConfusionTable:
    """The cells of decisions that select these of so many; arrays of one shape."""
    return ConfusionTable(tp, fp, xp.clip(positives - tp, 0), xp.clip(negatives - fp, 0))


@plainly
class Chart(NamedTuple, Generic[T]):
    """The cuts of a ranking in a chart: the empty cut, and one at the end of each tie group.

    Where shapes are fixed, the last point is repeated up to the length G + 1.

    Attributes
    ----------
    x, y : array, shape (..., V)
        The coordinates; NaN where they are undefined.
    threshold, quota : array, shape (..., V)
        Score of the last selected example, NaN for the empty cut; number of the selected, with
        weights their mass.
    """

    x: T
    y: T
    threshold: T | Any
    quota: Any


@plainly
class ChartPoints(NamedTuple, Generic[T]):
    """Points of a chart.

    Attributes
    ----------
    x, y : array
        Their coordinates, NaN where a rate in them is undefined.
    """

    x: T
    y: T


@measure(Measure, greater_is_better=None, in_masses=True)
def powers_chart(table: ops.TieTable, *, kind: ChartKind, smoothing: float = 1.0) -> Chart:
    """One of Powers' charts of a ranking: its cuts in the coordinates of the chart.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    kind : str
        y on x: "pn" TP on FP; "roc" TPR on FPR; "boc" informedness on FPR, "boc_dual" on TPR;
        "pr" precision on recall; "pr_reciprocal" 1/precision on 1/recall; "pr_log" -log₂ precision
        on -log₂ recall; "lift" recall on bias; "bift" informedness on bias; "bprd" informedness on
        bias/prevalence; "bird" log₂ sTPR - log₂ sFPR on log₂[(s + S)/(s + P)], with the smoothed
        rates sTPR = (s + TP)/(s + P) and sFPR = (s + FP)/(s + N) and S = TP + FP;
        "bird_informedness" -log₂(1 - informedness) on the same x; "kappa" Cohen's κ on FPR,
        "kappa_bias" on bias; "scott" and "scott_bias" Scott's π on the same two.
    smoothing : number
        s of the two BIRD charts, finite and above 0.

    Returns
    -------
    Chart
        Rates of an absent class, and coordinates that use them, are NaN; "bird" has no undefined
        point.  1/0 and -log₂ 0 are ∞.  At the empty cut the precision of "pr" is the limit as in
        `pr_curve`; its reciprocal and its logarithm are NaN.

    See Also
    --------
    chart_area : the area under it.
    chart_points : other operating points in the same chart.
    iso_line : lines to compare it with.

    Notes
    -----
    The available text of [PW] has lost its equations, so BIRD can be read in two ways: as
    logarithms of the smoothed rates, "bird", or as information of informedness,
    "bird_informedness".  With weights, masses replace counts; those of the two classes are added up
    from either end of the ranking.

    References
    ----------
    [PW], precision-recall, PN, ROC, LIFT, BIFT, BPRD and BIRD, kappa variants.

    Examples
    --------
    >>> from quotakernels.charts import powers_chart
    >>> chart = powers_chart([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], kind="bift")
    >>> print(chart.x, chart.y.round(3))
    [0.  0.2 0.6 0.8 1. ] [0.    0.333 0.167 0.5   0.   ]
    >>> print(chart.threshold, chart.quota)
    [nan 0.9 0.8 0.6 0.1] [0 1 3 4 5]
    """
    check_choice("kind", kind, *_CHARTS)
    _check_smoothing(smoothing)
    xp = namespace(table.counts)
    table = xp.filled_first(table)
    cells = cells_as_floats(xp, cut_cells(xp, table))
    x, y = coordinates(xp, kind, cells, smoothing)
    if kind == "pr":
        y = pr_vertices(xp, table, "roc").precision
    return Chart(x, y, cut_thresholds(xp, table), cut_quotas(xp, table))


def _check_smoothing(smoothing: Any) -> None:
    if not 0 < plain_number("smoothing", smoothing) < float("inf"):
        raise ValueError(f"smoothing must be a finite number above 0; got {show_value(smoothing)}")


_MASS = (lambda x: ~((x < 0) | (x == float("inf"))), "a finite number, not negative")
_POINT_DOMAINS: Domains = {**dict.fromkeys(("fp", "tp"), _MASS), **CLASSES, "smoothing": POSITIVE}


@public
def chart_points(
    fp: NumberOf[A],
    tp: NumberOf[A],
    *,
    positives: NumberOf[A],
    negatives: NumberOf[A],
    kind: ChartKind,
    smoothing: NumberOf[A] = 1.0,
) -> ChartPoints[A]:
    """Single operating points in one of Powers' charts.

    Parameters
    ----------
    fp, tp : numbers or arrays
        Selected negatives and positives, or their masses; they need not be whole numbers.  NaN
        is taken as undefined.
    positives, negatives : numbers or arrays
        P and N; broadcast together with the points and the smoothing.
    kind, smoothing : optional
        The chart, as in `powers_chart`.

    Returns
    -------
    ChartPoints
        NaN and ∞ as in `powers_chart`; the precision at (0, 0) is NaN.

    Raises
    ------
    ValueError
        Another `kind`; negative or infinite numbers, more than P true or N false positives;
        NaN instead where values cannot be read.

    See Also
    --------
    powers_chart : all cuts of a ranking.
    roc_to_pr : the same from rates.

    References
    ----------
    [PW], the same charts.

    Examples
    --------
    >>> from quotakernels.charts import chart_points
    >>> points = chart_points(fp=[0, 10], tp=[30, 40], positives=50, negatives=50, kind="boc")
    >>> print(points.x, points.y)
    [0.  0.2] [0.6 0.6]
    """
    check_choice("kind", kind, *_CHARTS)

    def points(xp: Namespace, *arrays: Array) -> ChartPoints:
        fp, tp, whole, rest, s = xp.broadcast_arrays(*arrays)
        within = {
            "fp": (lambda x: ~(x > rest * (1 + POINT_ROUNDING)), "at most all negatives"),
            "tp": (lambda x: ~(x > whole * (1 + POINT_ROUNDING)), "at most all positives"),
        }
        fp, tp = checked(xp, {"fp": fp, "tp": tp}, within).values()
        return ChartPoints(*coordinates(xp, kind, decisions(xp, fp, tp, whole, rest), s))

    named = {"fp": fp, "tp": tp, "positives": positives, "negatives": negatives}
    result: ChartPoints = of_numbers(points, {**named, "smoothing": smoothing}, _POINT_DOMAINS)
    return result


@measure(Measure, greater_is_better=True, in_masses=True, by_group=True)
def chart_area(table: ops.TieTable, *, kind: ChartKind) -> Array:
    """Exact area under one of Powers' charts of a ranking.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    kind : {"pn", "roc", "boc", "boc_dual", "pr", "lift", "bift", "bprd"}
        Those charts of `powers_chart` that have a finite area.

    Returns
    -------
    array, shape (...)
        NaN where a coordinate is undefined: for "pn" without examples, for "lift" and "pr"
        without positives, for the others where one class is absent.

    See Also
    --------
    auk : the area under κ.
    roc_auc, pr_auc : two of these areas as functions of their own.

    Notes
    -----
    With Gini = 2·AUC - 1: pn P·N·AUC; roc AUC; boc, boc_dual and bift Gini/2; bprd Gini/(2π) up to
    bias/prevalence = 1/π; lift π/2 + (1 - π)·AUC; pr as `pr_auc`, hyperbolas between the cuts.  In
    all other charts straight lines join the cuts.  The area below 0 counts as negative.

    References
    ----------
    [PW], AUC, Gini and the other areas.

    Examples
    --------
    >>> from quotakernels import rank
    >>> from quotakernels.charts import chart_area
    >>> ranking = rank([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(chart_area(ranking, kind="bift"), chart_area(ranking, kind="lift").round(3))
    0.25 0.6
    """
    check_choice("kind", kind, *_CHARTS)
    _check_area(kind)
    found: Array = (_found_area if kind == "pn" else _SCALE_FREE_AREA)(table, kind=kind)
    return found


def _found_area(table: ops.TieTable, *, kind: ChartKind) -> Array:
    xp = namespace(table.counts)
    total = Totals(xp, table)
    if kind == "pr":
        return xp.sum_rows(table, area_under_pr(xp, total, "roc"))[0]
    return xp.sum_rows(table, _area(xp, table, kind, total))[0]


_SCALE_FREE_AREA = in_usual_units(_found_area)


def _check_area(kind: ChartKind) -> None:
    if kind.startswith("bird"):
        raise ValueError(
            f"kind {kind!r} has no area: its axes are logarithms, on which no straight line "
            "joins two cuts"
        )
    if kind.startswith(("kappa", "scott")):
        raise ValueError(f"kind {kind!r} has no area here; auk is the one under κ on FPR")
    if kind.startswith("pr_"):
        raise ValueError(f"kind {kind!r} has no area: it goes to infinity where recall is 0")


def _area(xp: Namespace, table: ops.TieTable, kind: ChartKind, total: Totals) -> ops.RowSum:
    """The area of a chart, from twice the pairs that are won."""
    whole, positive, _ = total
    areas: Mapping[str, Callable[[Won], Array]] = {
        "pn": lambda won: xp.nan_unless(whole > 0, won.twice / 2),
        "roc": lambda won: won.share,
        "lift": lambda won: (positive * positive + won.twice) / (2 * whole * positive),
        "bprd": lambda won: won.surplus / 2 * (whole / positive),
    }
    informed: Callable[[Won], Array] = lambda won: won.surplus / 2  # noqa: E731
    area = areas.get(kind, informed)
    won = pairs_won(xp, table, total)
    return won._replace(value=lambda *sums: area(won.value(*sums)))


class Line(NamedTuple):
    """False and true positive rates along a line; one of them is NaN where it does not exist."""

    fpr: Array
    tpr: Array


LINE_ROUNDING = 2.0**-50
"""Of a + b: how far a line may miss the unit square by rounding."""


def rising(xp: Namespace, t: Array, a: Array, b: Array, low: Array, high: Array) -> Line:
    """The line b·TPR - a·FPR = low, where a and b are not negative and high is b - low."""
    none, whole = xp.zeros_like(low), xp.ones_like(low)
    from_left, to_top = (low >= 0) & (b > 0), (high <= a) & (a > 0)
    start = Line(xp.where(from_left, none, -low / a), xp.where(from_left, low / b, none))
    stop = Line(xp.where(to_top, high / a, whole), xp.where(to_top, whole, (low + a) / b))
    slack = tolerance(a, LINE_ROUNDING) * (a + b)
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
    ends = (xp.clip(x, 0.0, 1.0) for x in (*start, *stop))
    fpr, tpr, last_fpr, last_tpr = (xp.nan_unless(exists, x) for x in ends)
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
    end = xp.where(to_top, xp.clip(wrong_at(one) / ratio, 0.0, 1.0), one)
    half = t.shape[-1] // 2 + 1
    step, stride = (evenly(xp, n, ratio) for n in (half, t.shape[-1] - half + 2))
    recalls, rates = _along(xp, step, first, last), end * stride[1:-1]
    wrong = xp.clip(wrong_at(recalls) / ratio, 0.0, 1.0)
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
    check_choice("kind", kind, *_CHARTS)
    _check_call(of, level, points, cost_fp, cost_fn)
    named: dict[str, Any] = {"positives": positives, "negatives": negatives}
    named |= {"smoothing": smoothing}
    named |= {} if level is None else {"level": level}
    named |= {} if of != "cost" else {"cost_fp": cost_fp, "cost_fn": cost_fn}
    domains: Domains = {**CLASSES, "smoothing": POSITIVE, "cost_fp": COST, "cost_fn": COST}
    domains = {**domains, **({} if level is None else {"level": _LEVELS[of]})}

    def line(xp: Namespace, *arrays: Array) -> ChartLine:
        wide = (xp.expand_dims(x, axis=-1) for x in xp.broadcast_arrays(*arrays))
        return _drawn(xp, of, kind, points, dict(zip(named, wide, strict=True)))

    result: ChartLine = of_numbers(line, named, {x: domains[x] for x in named})
    return result


def _check_call(of: Any, level: Any, points: Any, *costs: Any) -> None:
    check_choice("of", of, *_LEVELS, *_WITHOUT_LEVEL)
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
    fp, tp = (xp.nan_unless(both, x) for x in (fpr * rest, tpr * whole))
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


Kappa = Literal["cohen", "scott", "fleiss", "bennett"]
Ends: TypeAlias = Callable[[Array], tuple[Array, Array]]
"""What stands above and below each row, of numbers of all cuts."""
FLAT_GROWTH = 2.0**-60
"""Relative growth of a denominator up to which it is taken as constant."""


@measure(Measure, greater_is_better=True, monotone="always", signed=True, by_group=True)
def auk(table: ops.TieTable, *, kappa: Kappa = "cohen") -> Array:
    """AUK, the exact area under κ over the false positive rate.

    AUK = ∫ κ dFPR along the segments of the ROC curve, on which Cohen's κ is a quotient of two
    linear functions, κ = 2(N·TP - P·FP)/(P·(FN + TN) + N·(TP + FP)).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    kappa : {"cohen", "scott", "fleiss", "bennett"}
        Which κ: `cohen_kappa`, `scott_pi` (equal to `fleiss_kappa`) or `bennett_s`.

    Returns
    -------
    array, shape (...)
        From -1 to 1; Cohen's is 0 by chance.  NaN where one class is absent.

    Raises
    ------
    ValueError
        Another κ.

    See Also
    --------
    cohen_kappa, scott_pi, bennett_s : κ of one table.
    chart_area : the areas under other charts.

    Notes
    -----
    With as many positives as negatives κ is informedness, and AUK is Gini/2.  The integral over
    t from 0 to 1 of (a + b·t)/(c + d·t) is [a·(L - M) + (a + b)·M]/c with x = d/c,
    L = log(1 + x)/x and M = (x - log(1 + x))/x², none of which cancels; c is the smaller one of
    the denominators at both ends.  Scott's π is 1 - w/A - w/(2n - A) with w = FP + FN and
    A = P + TP + FP, two such quotients; Bennett's S is linear.  The optimistic and the pessimistic
    policy give bounds.

    References
    ----------
    [PW], AUK, and AUK of other kappas.

    Examples
    --------
    >>> from quotakernels import gini
    >>> from quotakernels.charts import auk
    >>> print(auk([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]).round(4))
    0.2553
    >>> print(auk([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), gini([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]))
    0.25 0.5
    >>> print(auk([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], kappa="scott").round(4))
    0.1842
    """
    check_choice("kappa", kappa, *_MEANS)
    xp = namespace(table.counts)
    _, positive, negative = Totals(xp, table)
    cells = cells_as_floats(xp, cut_cells(xp, table))
    share = xp.wide(table.negative) / xp.repeat_per_row(table, negative)
    area = xp.group_total(table, share * _MEANS[kappa](partial(row_ends, xp, table), cells))
    defined = (positive > 0) & (negative > 0)
    return xp.nan_unless(defined, area)


def _cohen(ends: Ends, cells: ConfusionTable) -> Array:
    """The mean of κ along each segment."""
    positive, negative = cells.tp + cells.fn, cells.fp + cells.tn
    chance = (cells.tp + cells.fp) * negative + positive * (cells.fn + cells.tn)
    return 2 * _mean_quotient(ends(surplus(cells)), ends(chance))


def _scott(ends: Ends, cells: ConfusionTable) -> Array:
    wrong = cells.fp + cells.fn
    chances = 2 * cells.tp + wrong, 2 * cells.tn + wrong
    first, second = (_mean_quotient(ends(wrong), ends(chance)) for chance in chances)
    return 1 - first - second


def _bennett(ends: Ends, cells: ConfusionTable) -> Array:
    right, wrong = cells.tp + cells.tn, cells.fp + cells.fn
    first, last = ends((right - wrong) / (right + wrong))
    return (last + first) / 2


_MEANS = {"cohen": _cohen, "scott": _scott, "fleiss": _scott, "bennett": _bennett}


def _mean_quotient(above: tuple[Array, Array], below: tuple[Array, Array]) -> Array:
    """Means of quotients whose parts grow linearly from their first to their last number.

    Those `below` are positive.
    """
    xp = namespace(above[0])
    first, last = below
    falls = last < first
    near, far = xp.where(falls, *above[::-1]), xp.where(falls, *above)
    base = xp.minimum(last, first)
    growth = xp.abs(last - first)
    is_level = growth <= FLAT_GROWTH * base
    growth = xp.where(is_level, base, growth)
    x = growth / base
    log, remainder = log_and_remainder(xp, x)
    mean = xp.where(is_level, xp.ones_like(x), log / x)
    late = xp.where(is_level, xp.full_like(x, 0.5), remainder / x / x)
    return (near * (mean - late) + far * late) / base
