"""Powers' charts of the cuts of a ranking and of single points, and the areas under them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, device, namespace, wide_float
from quotakernels._records import plainly
from quotakernels._types import A, Generic, NumberOf, T
from quotakernels.inputs.keywords import public, show_value
from quotakernels.inputs.numbers import POSITIVE, Domains, checked, of_numbers, plain_number
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._reduction import Reduction, reduced
from quotakernels.measures._scale import in_usual_units
from quotakernels.measures.at_quota.curves import cut_quotas, cut_thresholds
from quotakernels.measures.over_quotas.areas import Won, pairs_won
from quotakernels.measures.roc_pr.points import CLASSES, ROUNDING
from quotakernels.measures.roc_pr.precision_recall import area_under_pr, pr_vertices
from quotakernels.measures.tables.cells import ConfusionTable, cut_cells
from quotakernels.measures.tables.informedness import informedness
from quotakernels.measures.tables.measure import TableMeasure
from quotakernels.measures.tables.rates import bias, false_positive_rate, precision, recall

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
    drift = ops.nan_unless(xp, positive > 0, drift)
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
}


def check_kind(kind: Any) -> None:
    """Refuse what is no kind of chart."""
    if not isinstance(kind, str) or kind not in _CHARTS:
        names = ", ".join(map(repr, _CHARTS))
        raise ValueError(f"kind must be one of {names}; got {show_value(kind)}")


def coordinates(
    xp: Namespace, kind: ChartKind, table: ConfusionTable, smoothing: Any
) -> tuple[Array, ...]:
    """The places of decisions whose cells are floats of one shape; NaN without examples."""
    there = (table.tp + table.fn) + (table.fp + table.tn) > 0
    place = _CHARTS[kind](table, smoothing)
    return tuple(ops.nan_unless(xp, there, x) for x in place)


def decisions(
    xp: Namespace, fp: Array, tp: Array, positives: Array, negatives: Array
) -> ConfusionTable:
    """The cells of decisions that select these of so many; arrays of one shape."""
    return ConfusionTable(tp, fp, ops.clip(xp, positives - tp, 0), ops.clip(xp, negatives - fp, 0))


@plainly
class Chart(NamedTuple, Generic[T]):
    """The cuts of a ranking in a chart: the empty cut, and one at the end of each tie group.

    The last point is repeated as the last vertex of a `RocCurve`.

    Attributes
    ----------
    x, y : array, shape (..., V)
        The coordinates; NaN where they are undefined.
    threshold, quota : array, shape (..., V)
        The cuts, as in `Curve`.
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
def powers_chart(table: ops.Groups, *, kind: ChartKind, smoothing: float = 1.0) -> Chart:
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
        "bird_informedness" -log₂(1 - informedness) on the same x.
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
    [PW], precision-recall, PN, ROC, LIFT, BIFT, BPRD and BIRD.

    Examples
    --------
    >>> from quotakernels.charts import powers_chart
    >>> chart = powers_chart([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], kind="bift")
    >>> print(chart.x, chart.y.round(3))
    [0.  0.2 0.6 0.8 1. ] [0.    0.333 0.167 0.5   0.   ]
    >>> print(chart.threshold, chart.quota)
    [nan 0.9 0.8 0.6 0.1] [0 1 3 4 5]
    """
    check_kind(kind)
    _check_smoothing(smoothing)
    xp = namespace(table.counts)
    table = ops.filled_first(xp, table)
    wide = wide_float(xp, device(table.counts))
    cells = ConfusionTable(*(cast(xp, x, wide) for x in cut_cells(xp, table)))
    x, y = coordinates(xp, kind, cells, smoothing)
    if kind == "pr":
        y = pr_vertices(xp, table, "roc").precision
    return Chart(x, y, cut_thresholds(xp, table), cut_quotas(xp, table))


def _check_smoothing(smoothing: Any) -> None:
    if not 0 < plain_number("smoothing", smoothing) < float("inf"):
        raise ValueError(f"smoothing must be a finite number above 0; got {show_value(smoothing)}")


_MASS = (lambda x: ~((x < 0) | (x == float("inf"))), "a finite number, not negative")
_POINTS: Domains = {
    **dict.fromkeys(("fp", "tp"), _MASS),
    **CLASSES,
    "smoothing": POSITIVE,
}


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
    check_kind(kind)

    def points(xp: Namespace, *arrays: Array) -> ChartPoints:
        fp, tp, whole, rest, s = xp.broadcast_arrays(*arrays)
        within = {
            "fp": (lambda x: ~(x > rest * (1 + ROUNDING)), "at most all negatives"),
            "tp": (lambda x: ~(x > whole * (1 + ROUNDING)), "at most all positives"),
        }
        fp, tp = checked(xp, {"fp": fp, "tp": tp}, within).values()
        return ChartPoints(*coordinates(xp, kind, decisions(xp, fp, tp, whole, rest), s))

    named = {"fp": fp, "tp": tp, "positives": positives, "negatives": negatives}
    result: ChartPoints = of_numbers(points, {**named, "smoothing": smoothing}, _POINTS)
    return result


@measure(Measure, greater_is_better=True, in_masses=True, by_group=True)
def chart_area(table: ops.Groups, *, kind: ChartKind) -> Array:
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
    check_kind(kind)
    _check_area(kind)
    found: Array = (_found_area if kind == "pn" else _SCALE_FREE_AREA)(table, kind=kind)
    return found


def _found_area(table: ops.Groups, *, kind: ChartKind) -> Array:
    xp = namespace(table.counts)
    total = Totals(xp, table)
    if kind == "pr":
        return reduced(xp, table, area_under_pr(xp, total, "roc"))[0]
    return reduced(xp, table, _area(xp, table, kind, total))[0]


_SCALE_FREE_AREA = in_usual_units(_found_area)


def _check_area(kind: ChartKind) -> None:
    if kind.startswith("bird"):
        raise ValueError(
            f"kind {kind!r} has no area: its axes are logarithms, on which no straight line "
            "joins two cuts"
        )
    if kind.startswith("pr_"):
        raise ValueError(f"kind {kind!r} has no area: it goes to infinity where recall is 0")


def _area(xp: Namespace, table: ops.Groups, kind: ChartKind, total: Totals) -> Reduction:
    """The area of a chart, from twice the pairs that are won."""
    whole, positive, _ = total
    areas: Mapping[str, Callable[[Won], Array]] = {
        "pn": lambda won: ops.nan_unless(xp, whole > 0, won.twice / 2),
        "roc": lambda won: won.share,
        "lift": lambda won: (positive * positive + won.twice) / (2 * whole * positive),
        "bprd": lambda won: won.surplus / 2 * (whole / positive),
    }
    informed: Callable[[Won], Array] = lambda won: won.surplus / 2  # noqa: E731
    area = areas.get(kind, informed)
    won = pairs_won(xp, table, total)
    return won._replace(value=lambda *sums: area(won.value(*sums)))
