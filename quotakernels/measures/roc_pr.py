"""ROC and precision-recall curves, areas under the latter, and single points of both spaces."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, tolerance
from quotakernels._records import plainly
from quotakernels._types import A, Generic, NumberOf, T
from quotakernels.inputs.cuts import masses_or_all
from quotakernels.inputs.keywords import check_choice, public, show_value
from quotakernels.inputs.numbers import (
    AMOUNT,
    POSITIVE,
    RATE,
    Domains,
    checked,
    of_numbers,
    plain_number,
    whole_steps,
)
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._sums import harmonic_sums, log_and_deficit
from quotakernels.measures.at_quota import cut_masses, cut_thresholds
from quotakernels.measures.over_quotas import beside_level
from quotakernels.ops import namespace


@plainly
class RocCurve(NamedTuple, Generic[T]):
    """The vertices of a ROC curve: the empty cut, and one at the end of each tie group.

    Between two vertices the curve is a straight line.  Where shapes are fixed (in a batch, in a
    trace, on an accelerator) the last vertex is repeated up to the length G + 1.

    Attributes
    ----------
    fpr : array, shape (..., V)
        False positive rate FP/N; NaN where there are no negatives.
    tpr : array, shape (..., V)
        True positive rate TP/P, the recall; NaN where there are no positives.
    threshold : array, shape (..., V)
        Score of the last selected example: ``score >= threshold`` selects.  NaN at the empty cut.
    fp, tp : array, shape (..., V)
        Selected negatives and positives: whole numbers, or with weights their masses.  Where
        values cannot be read the whole numbers come as floats, NaN in a row with a bad value.
    """

    fpr: T
    tpr: T
    threshold: T | Any
    fp: Any
    tp: Any


@measure(Measure, greater_is_better=None)
def roc_curve(table: ops.TieTable) -> RocCurve:
    """ROC curve: true positive rate against false positive rate at every cut.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    RocCurve
        The rate of an absent class is NaN.

    See Also
    --------
    roc_auc : the area under it.
    roc_hull : its upper convex hull.
    pr_curve : the same cuts in precision-recall space.

    Notes
    -----
    No vertex is left out.  Rules that keep only the cuts where the class changes lose vertices if a
    tie group has both classes.

    References
    ----------
    [DG] section 2.

    Examples
    --------
    >>> from quotakernels import roc_curve
    >>> curve = roc_curve([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(curve.fp, curve.tp, curve.threshold)
    [0 0 1 1 2] [0 1 2 3 3] [nan 0.9 0.8 0.6 0.1]
    >>> print(curve.fpr, curve.tpr.round(3))
    [0.  0.  0.5 0.5 1. ] [0.    0.333 0.667 1.    1.   ]
    """
    xp = namespace(table.counts)
    return roc_vertices(xp, xp.filled_first(table))


def roc_vertices(xp: Namespace, table: ops.TieTable) -> RocCurve:
    """The curve of a table whose empty rows stand at the end.

    Totals added in another order could differ by rounding; with the last sums it ends at (1, 1).
    """
    fp, tp = cut_masses(xp, table)
    masses = (xp.wide(x) for x in (fp, tp))
    fpr, tpr = (xp.rate(x, x[..., -1:]) for x in masses)
    return RocCurve(fpr, tpr, cut_thresholds(xp, table), fp, tp)


Start = Literal["roc", "horizontal"]


@plainly
class PrCurve(NamedTuple, Generic[T]):
    """The vertices of a precision-recall curve: the empty cut, and the end of each tie group.

    Between two vertices the curve is not a straight line; `interpolate_pr` gives points there.
    Where shapes are fixed (in a batch, in a trace, on an accelerator) the last vertex is repeated.

    Attributes
    ----------
    recall : array, shape (..., V)
        TP/P; NaN where there are no positives.
    precision : array, shape (..., V)
        TP/(TP + FP); at the empty cut as `start` says.  NaN where there are no examples.
    threshold : array, shape (..., V)
        Score of the last selected example; NaN at the empty cut.
    fp, tp : array, shape (..., V)
        Selected negatives and positives: whole numbers, or with weights their masses.
    """

    recall: T
    precision: T
    threshold: T | Any
    fp: Any
    tp: Any


@measure(Measure, greater_is_better=None)
def pr_curve(table: ops.TieTable, *, start: Start = "roc") -> PrCurve:
    """Precision-recall curve: precision against recall at every cut.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    start : {"roc", "horizontal"}
        Precision of the empty cut, 0/0.  "roc" takes the limit along the first segment of the ROC
        curve: p/m if the best tie group has m examples, p of them positive, and so 0 if they are
        all negative.  "horizontal" takes that of the first cut that has a positive, also for the
        cuts before it.

    Returns
    -------
    PrCurve
        Recall is NaN where there are no positives.

    See Also
    --------
    pr_auc : the area under it.
    achievable_pr_curve : the curve of the ROC hull.

    References
    ----------
    [DG] sections 2-4.

    Examples
    --------
    >>> from quotakernels import pr_curve
    >>> curve = pr_curve([0, 1, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(curve.recall.round(3), curve.precision.round(3))
    [0.    0.    0.667 1.    1.   ] [0.    0.    0.667 0.75  0.6  ]
    >>> print(pr_curve([0, 1], [0.9, 0.8], start="horizontal").precision)
    [0.5 0.5 0.5]
    """
    _check_start(start)
    xp = namespace(table[0])
    return pr_vertices(xp, xp.filled_first(table), start)


def pr_vertices(xp: Namespace, table: ops.TieTable, start: Start) -> PrCurve:
    """The curve of a table whose empty rows stand at the end."""
    fp, tp = cut_masses(xp, table)
    found, selected = xp.wide(tp), xp.wide(fp + tp)
    precision = found / selected
    undecided = (selected if start == "roc" else found) == 0
    first = xp.clip(xp.count(undecided), max=selected.shape[-1] - 1)
    precision = xp.where(undecided, xp.take_last_axis(precision, first), precision)
    recall = xp.rate(found, found[..., -1:])
    return PrCurve(recall, precision, cut_thresholds(xp, table), fp, tp)


@measure(Measure, greater_is_better=True, by_positives=True, by_sums=True)
def average_precision(table: ops.TieTable) -> Array:
    """Average precision: the precision at each cut, weighted with the recall that it adds.

    AP = Σ (recall_g - recall_(g-1)) · precision_g over the cuts between tie groups: the area
    under a curve of steps.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        From 0 to 1; NaN where there are no positives.

    See Also
    --------
    pr_auc : the area under the interpolated curve.
    expected_average_precision : the mean over all orders of tied examples.
    average_hit_rate : the same number where there are no ties.

    Notes
    -----
    Equals scikit-learn's ``average_precision_score``.  A tie group counts with the
    precision at its end.  Without ties AP ≥ exact AUC-PR ≥ trapezoid AUC-PR.

    References
    ----------
    [DG] section 2, precision and recall.

    Examples
    --------
    >>> from quotakernels import average_precision
    >>> print(average_precision([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1]).round(4))
    0.8056
    """
    xp = namespace(table[0])
    total = Totals(xp, table)

    def steps(rows: Any) -> tuple[Array]:
        before, found, mass, here = ops.CutRow.of(rows)
        return (here * ((found + here) / divisor(xp, before + mass)),)

    return xp.sum_rows(table, _over_positives(total, steps))[0]


@measure(Measure, numbers=masses_or_all, greater_is_better=True, by_positives=True, by_group=True)
def expected_average_precision(table: ops.TieTable, wanted: Array) -> Array:
    """Average precision, expected over all orders of tied examples; at a cutoff AP at k.

    AP is the sum of the precision at each positive, over the number of all positives.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    quota, fraction, when_short : optional
        A cutoff, a number or a share of the best examples: positives after it add nothing, but
        count in the number of all positives.  By default all examples.
    sample_weight : None
        Refused, because positions are examples here.

    Returns
    -------
    array, shape (..., *Q)
        From 0 to 1; NaN where there are no positives.  With `groups` the shape is (..., S, *Q).

    See Also
    --------
    average_precision : where a tie group counts with the precision at its end.

    Notes
    -----
    A group of m examples, p of them positive, after S examples with C positives adds
    p/m · Σ_k (C + 1 + (k - 1)·b)/(S + k), k = 1..m, with b = (p - 1)/(m - 1): given that
    position k holds a positive, the other p - 1 are spread over the other m - 1 positions.  A
    fractional quota takes a part of the last position.

    References
    ----------
    [McSherry 2008] for ties; ``map`` and ``map_cut`` of [Buckley 2008].

    Examples
    --------
    >>> from quotakernels import expected_average_precision
    >>> print(expected_average_precision([1, 0], [0.5, 0.5]))
    0.75
    """
    if table.weighted:
        raise ValueError(
            "with sample weights or other masses there are no positions to take the expectation "
            "over; use average_precision"
        )
    xp = namespace(table[0])
    total = Totals(xp, table)
    parts = (
        ops.RowSum(
            partial(_precisions, xp, xp.repeat_per_row(table, wanted[..., k])),
            lambda value: value / total.positive,  # a perfect order may be cut
        )
        for k in range(wanted.shape[-1])
    )
    return xp.stack(xp.sum_rows(table, *parts), axis=-1)


def _precisions(xp: Namespace, limit: Array, rows: Any) -> tuple[Array]:
    """The expected sum of the precisions at the positives of each group within a limit."""
    before, items, here = rows.mass_before, rows.mass, rows.positive
    others = xp.clip(items - 1, 1.0)
    share = xp.clip(here - 1, 0.0) / others
    inside = xp.minimum(xp.clip(limit - before, 0.0), items)
    whole = xp.floor(inside)
    ones, ramps = harmonic_sums(xp, before, whole)
    next_one = (inside - whole) / (before + whole + 1)
    ones, ramps = ones + next_one, ramps + next_one * (whole + 1)
    return (
        here / divisor(xp, items) * ((rows.positive_before + (1 - share)) * ones + share * ramps),
    )


@measure(Measure, greater_is_better=True, monotone="by default", by_positives=True, by_sums=True)
def pr_auc(
    table: ops.TieTable,
    *,
    method: Literal["exact", "trapezoid"] = "exact",
    start: Start = "roc",
    min_recall: float = 0.0,
    max_recall: float = 1.0,
) -> Array:
    """Area under the precision-recall curve, with its nonlinear interpolation.

    Between two cuts the false positives grow in proportion to the true positives, so that
    precision = TP/(TP + FP) follows a hyperbola, never a straight line.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    method : {"exact", "trapezoid"}
        "exact" is the integral of the curve.  "trapezoid" is the trapezoid rule on its points at
        every whole number of true positives; it is close to the integral and refuses sample
        weights.
    start : {"roc", "horizontal"}
        Whether the curve follows the ROC curve from recall 0 on, or runs horizontally from
        recall 0 to the first cut that has a positive.
    min_recall, max_recall : float
        The range of recalls, 0 ≤ min_recall < max_recall ≤ 1, only with "exact".  The area of a
        part is at most max_recall - min_recall; divided by that it is the mean precision.

    Returns
    -------
    array, shape (...)
        From 0 to 1; NaN where there are no positives.

    See Also
    --------
    average_precision : the area under a curve of steps, another number.
    achievable_pr_auc : the area under the curve of the ROC hull.

    Notes
    -----
    A group of mass m with p positive, after S with C positive, adds the integral over t from 0
    to p of (C + t)/(S + t·m/p), over P: with x = m/S that is
    p/m · [C·log(1 + x) + p·(x - log(1 + x))/x] / P.  The optimistic and the pessimistic policy
    give bounds.

    References
    ----------
    [DG] section 4, the interpolation.

    Examples
    --------
    >>> from quotakernels import pr_auc
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(pr_auc(y_true, y_score).round(4))
    0.829
    >>> print(pr_auc(y_true, y_score, method="trapezoid").round(4))
    0.8472
    >>> print(pr_auc([1, 0], [0.5, 0.5]))
    0.5
    >>> print(pr_auc(y_true, y_score, min_recall=0.5).round(4))
    0.3546
    """
    between = _band_of(min_recall, max_recall, method)
    check_choice("method", method, "exact", "trapezoid")
    _check_start(start)
    if method == "trapezoid" and table.weighted:
        raise ValueError(
            "with sample weights or other masses there are no whole numbers of true positives; "
            'use method="exact"'
        )
    xp = namespace(table[0])
    total = Totals(xp, table)
    if method == "trapezoid":
        return xp.sum_rows(table, _trapezoids(xp, total, start))[0]
    if between is None:
        return xp.sum_rows(table, area_under_pr(xp, total, start))[0]
    band = (xp.repeat_per_row(table, total.positive), *between)
    mean = xp.sum_rows(table, area_under_pr(xp, total, start, band))[0]
    return mean * (between[1] - between[0])


@measure(Measure, greater_is_better=True, by_sums=True)
def normalized_pr_auc(table: ops.TieTable) -> Array:
    """AUC-PR above its floor: (A - A₀)/(1 - A₀), A₀ being that of the worst order.

    A₀ = 1 - N/P·log(1 + P/N): no ranking gets below it, and it rises with the prevalence.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        From 0 to 1; NaN where one class is absent.

    See Also
    --------
    pr_auc : A itself.
    pr_gain_auc : which is 0 for a random order, whatever the prevalence.

    Notes
    -----
    Chance is above 0.  The optimistic and the pessimistic policy give bounds.

    References
    ----------
    [Boyd 2012].

    Examples
    --------
    >>> from quotakernels.retrieval import normalized_pr_auc
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(normalized_pr_auc(y_true, y_score).round(4))
    0.7201
    """
    xp = namespace(table[0])
    total = Totals(xp, table)
    area = xp.sum_rows(table, area_under_pr(xp, total, "roc"))[0]
    odds = xp.clip(total.positive / total.negative, max=xp.finfo(area.dtype).max)
    _, floor = log_and_deficit(xp, odds)
    value = xp.clip((area - floor) / (1 - floor), 0.0, 1.0)
    return xp.nan_unless(total.negative > 0, value)


@plainly
class PrGainCurve(NamedTuple, Generic[T]):
    """The vertices of a precision-recall-gain curve: the empty cut, and the end of each tie group.

    Between two vertices the curve is a straight line.  Where shapes are fixed the last vertex is
    repeated.

    Attributes
    ----------
    recall_gain : array, shape (..., V)
        1 - (P/N)·FN/TP, at most 1; negative where the recall is below the prevalence.
    precision_gain : array, shape (..., V)
        1 - (P/N)·FP/TP, at most 1; 0 where the precision is the prevalence.
    threshold : array, shape (..., V)
        Score of the last selected example; NaN at the empty cut.
    """

    recall_gain: T
    precision_gain: T
    threshold: T | Any


@measure(Measure, greater_is_better=None)
def pr_gain_curve(table: ops.TieTable) -> PrGainCurve:
    """Precision-recall-gain curve: precision and recall on the scale on which F scores are linear.

    A rate r becomes (r - π)/((1 - π)·r), π being the prevalence: 0 there, and 1 at 1.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    PrGainCurve
        NaN where no positive is selected, and where one class is absent.

    See Also
    --------
    pr_gain_auc : the area under it.
    pr_curve : precision and recall themselves.

    References
    ----------
    [Flach 2015].

    Examples
    --------
    >>> from quotakernels.retrieval import pr_gain_curve
    >>> curve = pr_gain_curve([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(curve.recall_gain.round(3), curve.precision_gain.round(3))
    [  nan -2.     0.25   1.     1.   ] [  nan 1.    0.25  0.5   0.   ]
    """
    xp = namespace(table[0])
    table = xp.filled_first(table)
    wrong, found = map(xp.wide, cut_masses(xp, table))
    positive, negative = found[..., -1:], wrong[..., -1:]
    unit = xp.nan_unless((found > 0) & (negative > 0), negative / positive * found)
    missed = positive - found
    return PrGainCurve(1 - missed / unit, 1 - wrong / unit, cut_thresholds(xp, table))


@measure(Measure, greater_is_better=True, by_positives=True, by_group=True)
def pr_gain_auc(table: ops.TieTable) -> Array:
    """Area under the precision-recall-gain curve, AUPRG, over recall gains from 0 to 1.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        1 for the best order, 0 for one tie group of all; negative where the precision lies below
        the prevalence.  NaN where one class is absent.

    See Also
    --------
    normalized_pr_auc : AUC-PR above its floor.

    Notes
    -----
    It weighs precision gains by the recall gain that they come with, that is by expected F scores,
    where AUC-PR weighs precisions by recall.  In precision-recall-gain space the way between two
    cuts is a straight line, so the area is that of trapezoids.

    References
    ----------
    [Flach 2015].

    Examples
    --------
    >>> from quotakernels.retrieval import pr_gain_auc
    >>> print(pr_gain_auc([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]).round(4))
    0.3542
    """
    xp = namespace(table[0])
    total = Totals(xp, table)
    whole, positive, negative = (xp.repeat_per_row(table, x) for x in total)
    ratio, least = positive / negative, positive * (positive / whole)

    def trapezoids(rows: Any) -> tuple[Array]:
        before, found, wrong, here = (
            *(rows.negative_before, rows.positive_before),
            *(rows.negative, rows.positive),
        )
        start = xp.maximum(found, least)
        end = found + here
        share = (start - found) / divisor(xp, here)
        ends = (before + share * wrong) / start + (before + wrong) / end
        width = (end - start) / start * (ratio * positive / end)
        return (xp.where(end > start, width * (1 - ratio * ends / 2), xp.zeros_like(width)),)

    area = xp.sum_rows(table, ops.RowSum(trapezoids, lambda x: x))[0]
    return xp.nan_unless(total.pairs > 0, xp.at_most(area, 1.0))


def _band_of(min_recall: Any, max_recall: Any, method: str) -> tuple[float, float] | None:
    """The ends of a part of the curve; None of the whole."""
    low, high = plain_number("min_recall", min_recall), plain_number("max_recall", max_recall)
    if not 0 <= low < high <= 1:
        raise ValueError(
            "min_recall and max_recall must be recalls, the first below the second; got "
            f"{min_recall!r} and {max_recall!r}"
        )
    if (low, high) == (0, 1):
        return None
    if method != "exact":
        raise ValueError('min_recall and max_recall need method="exact"')
    return low, high


def _check_start(start: str) -> None:
    check_choice("start", start, "roc", "horizontal")


def _over_positives(
    total: Totals, terms: Callable[..., tuple[Array, ...]], part: float | None = None
) -> ops.RowSum:
    """A sum over the groups, divided by the number of positives, or by a part of it."""

    def value(found: Array) -> Array:
        if part is None:
            return total.of_sums(found, total.positive) / total.positive
        most = total.positive * part
        return total.within(found, most) / most

    return ops.RowSum(terms, value, positives_suffice=True)


def area_under_pr(
    xp: Namespace, total: Totals, start: Start, band: tuple[Array, float, float] | None = None
) -> ops.RowSum:
    """The integral of precision over recall, hyperbola by hyperbola.

    It may be the mean over a band: all positives, as each row needs them, and two recalls.
    """

    def integral(rows: Any) -> tuple[Array]:
        before, found, mass, here = ops.CutRow.of(rows)
        if start == "horizontal":
            level, is_level = here / divisor(xp, before + mass), found == 0
        if band is not None:  # a part of a group is a group that begins and ends within it
            whole, low, high = band
            lacking, above = beside_level(found, here, whole, low)
            below, _ = beside_level(found, here, whole, high)
            inside = xp.minimum(xp.minimum(above, below), (high - low) * whole)
            enters, share = (xp.clip(x / divisor(xp, here), 0.0, 1.0) for x in (lacking, inside))
            before, found = before + enters * mass, found + enters * here
            mass, here = share * mass, share * here
        some = divisor(xp, mass)
        growth = xp.clip(some / before, max=xp.finfo(mass.dtype).max)
        log, deficit = log_and_deficit(xp, growth)
        area = here / some * (found * log + here * deficit)
        if start == "roc":  # before the first group nothing is found, and the deficit is 1
            return (area,)
        return (xp.where(is_level, here * level, area),)

    return _over_positives(total, integral, band and band[2] - band[1])


def _trapezoids(xp: Namespace, total: Totals, start: Start) -> ops.RowSum:
    """Sums of the precision at every whole TP, half of it at the ends of each group."""

    def terms(rows: Any) -> tuple[Array]:
        before, found, mass, here = ops.CutRow.of(rows)
        share = here / divisor(xp, mass)
        ones, ramps = harmonic_sums(xp, before * share, here)
        begin = xp.where(before > 0, found / divisor(xp, before), share)
        end = (found + here) / divisor(xp, before + mass)
        sums = share * (found * ones + ramps) - (end - begin) / 2
        is_level = (before if start == "roc" else found) == 0
        area = xp.where(is_level, here * (here / divisor(xp, before + mass)), sums)
        return (xp.where(here > 0, area, xp.zeros_like(area)),)

    return _over_positives(total, terms)


# single points, and the way between two


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
        P and N, the numbers of all positives and negatives.  All four are broadcast together.

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
        grown, along, last_tp = checked(xp, steps, {**_RISES, "stop TP": within}).values()
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


_RISES: Domains = {"stop TP - start TP": (POSITIVE[0], "above 0"), "stop FP - start FP": AMOUNT}
