"""ROC and precision-recall curves, and areas under the latter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, device, wide_float
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.keywords import show_value
from quotakernels.inputs.numbers import plain_number
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import (
    CutoffMeasure,
    Measure,
    measure,
)
from quotakernels.measures._reduction import Reduction, reduced
from quotakernels.measures.at_quota.curves import cut_masses, cut_thresholds
from quotakernels.measures.over_quotas.averages import harmonic_sums, log_and_deficit
from quotakernels.ops import namespace

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
    negatives, positives = (
        ops.repeat_per_row(xp, table, x) for x in (total.negative, total.positive)
    )

    def terms(left: Array, wide: Array, low: Array, high: Array) -> tuple[Array]:
        run, rise = divisor(xp, wide), divisor(xp, high)
        lacking, over = beside_level(low, high, positives, min_tpr)
        inside, outside = beside_level(left, wide, negatives, max_fpr)
        enters, stays = (xp.clip(x / rise, 0.0, 1.0) for x in (lacking, over))
        leaves, beyond = (xp.clip(x / run, 0.0, 1.0) for x in (inside, outside))
        share = xp.where(leaves < 0.5, leaves - enters, stays - beyond)
        share = xp.clip(share, 0.0)
        return (wide * share * (xp.clip(-lacking, 0.0) + high * share / 2),)

    def value(area: Array) -> Array:
        most = max_fpr * (1 - min_tpr) * total.pairs
        return total.within(area, most) / most

    columns = ("negative_before", "negative", "positive_before", "positive")
    return Reduction(columns, terms, value)


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
        Score of the last selected example, as in `Curve`.
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
def roc_curve(table: ops.Groups) -> RocCurve:
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
    return roc_vertices(xp, ops.filled_first(xp, table))


def roc_vertices(xp: Namespace, table: ops.Groups) -> RocCurve:
    """The curve of a table whose empty rows stand at the end.

    Totals added in another order could differ by rounding; with the last sums it ends at (1, 1).
    """
    fp, tp = cut_masses(xp, table)
    wide = wide_float(xp, device(table.counts))
    masses = (cast(xp, x, wide) for x in (fp, tp))
    fpr, tpr = (xp.rate(x, x[..., -1:]) for x in masses)
    return RocCurve(fpr, tpr, cut_thresholds(xp, table), fp, tp)


Start = Literal["roc", "horizontal"]
_COLUMNS = ("mass_before", "positive_before", "mass", "positive")


@plainly
class PrCurve(NamedTuple, Generic[T]):
    """The vertices of a precision-recall curve: the empty cut, and the end of each tie group.

    Between two vertices the curve is not a straight line: see `interpolate_pr`.  The last one is
    repeated as in `RocCurve`.

    Attributes
    ----------
    recall : array, shape (..., V)
        TP/P; NaN where there are no positives.
    precision : array, shape (..., V)
        TP/(TP + FP); at the empty cut as `start` says.  NaN where there are no examples.
    threshold, fp, tp : array, shape (..., V)
        As in `RocCurve`.
    """

    recall: T
    precision: T
    threshold: T | Any
    fp: Any
    tp: Any


@measure(Measure, greater_is_better=None)
def pr_curve(table: ops.Groups, *, start: Start = "roc") -> PrCurve:
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
    return pr_vertices(xp, ops.filled_first(xp, table), start)


def pr_vertices(xp: Namespace, table: ops.Groups, start: Start) -> PrCurve:
    """The curve of a table whose empty rows stand at the end."""
    fp, tp = cut_masses(xp, table)
    wide = wide_float(xp, device(table.counts))
    found, selected = cast(xp, tp, wide), cast(xp, fp + tp, wide)
    precision = found / selected
    undecided = (selected if start == "roc" else found) == 0
    first = xp.clip(xp.count(undecided), max=selected.shape[-1] - 1)
    precision = xp.where(undecided, xp.take_last_axis(precision, first), precision)
    recall = xp.rate(found, found[..., -1:])
    return PrCurve(recall, precision, cut_thresholds(xp, table), fp, tp)


@measure(Measure, greater_is_better=True, by_positives=True, by_group=True)
def average_precision(table: ops.Groups) -> Array:
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
    The same as scikit-learn's ``average_precision_score``.  A tie group counts with the
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

    def steps(before: Array, found: Array, mass: Array, here: Array) -> tuple[Array]:
        return (here * ((found + here) / divisor(xp, before + mass)),)

    return reduced(xp, table, _over_positives(total, steps))[0]


@measure(CutoffMeasure, greater_is_better=True, by_positives=True, by_group=True)
def expected_average_precision(table: ops.Groups, wanted: Array) -> Array:
    """Average precision, expected over all orders of tied examples; at a cutoff AP at k.

    AP is the sum of the precision at each positive, over the number of all positives.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    quota, fraction, when_short : optional
        A cutoff, as in `hit_rate`: positives after it add nothing, but count in the number of all
        positives.  By default all examples.
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
        Reduction(
            _COLUMNS,
            partial(_precisions, xp, ops.repeat_per_row(xp, table, wanted[..., k])),
            lambda value: value / total.positive,  # a perfect order may be cut
        )
        for k in range(wanted.shape[-1])
    )
    return xp.stack(reduced(xp, table, *parts), axis=-1)


def _precisions(
    xp: Namespace, limit: Array, before: Array, found: Array, items: Array, here: Array
) -> tuple[Array]:
    """The expected sum of the precisions at the positives of each group within a limit."""
    others = xp.clip(items - 1, 1.0)
    share = xp.clip(here - 1, 0.0) / others
    inside = xp.minimum(xp.clip(limit - before, 0.0), items)
    whole = xp.floor(inside)
    ones, ramps = harmonic_sums(xp, before, whole)
    next_one = (inside - whole) / (before + whole + 1)
    ones, ramps = ones + next_one, ramps + next_one * (whole + 1)
    return (here / divisor(xp, items) * ((found + (1 - share)) * ones + share * ramps),)


@measure(Measure, greater_is_better=True, monotone="by default", by_group=True, by_sums=True)
def pr_auc(
    table: ops.Groups,
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
    between = _between(min_recall, max_recall, method)
    if method not in ("exact", "trapezoid"):
        raise ValueError(f'method must be "exact" or "trapezoid"; got {show_value(method)}')
    _check_start(start)
    if method == "trapezoid" and table.weighted:
        raise ValueError(
            "with sample weights or other masses there are no whole numbers of true positives; "
            'use method="exact"'
        )
    xp = namespace(table[0])
    total = Totals(xp, table)
    if method == "trapezoid":
        return reduced(xp, table, _trapezoids(xp, total, start))[0]
    if between is None:
        return reduced(xp, table, area_under_pr(xp, total, start))[0]
    band = (ops.repeat_per_row(xp, table, total.positive), *between)
    mean = reduced(xp, table, area_under_pr(xp, total, start, band))[0]
    return mean * (between[1] - between[0])


def _between(min_recall: Any, max_recall: Any, method: str) -> tuple[float, float] | None:
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
    if start not in ("roc", "horizontal"):
        raise ValueError(f'start must be "roc" or "horizontal"; got {show_value(start)}')


def _over_positives(
    total: Totals, terms: Callable[..., tuple[Array, ...]], part: float | None = None
) -> Reduction:
    """A sum over the groups, divided by the number of positives, or by a part of it."""

    def value(found: Array) -> Array:
        if part is None:
            return total.of_sums(found, total.positive) / total.positive
        most = total.positive * part
        return total.within(found, most) / most

    return Reduction(_COLUMNS, terms, value)


def area_under_pr(
    xp: Namespace, total: Totals, start: Start, band: tuple[Array, float, float] | None = None
) -> Reduction:
    """The integral of precision over recall, hyperbola by hyperbola.

    It may be the mean over a band: all positives, as each row needs them, and two recalls.
    """

    def integral(before: Array, found: Array, mass: Array, here: Array) -> tuple[Array]:
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


def _trapezoids(xp: Namespace, total: Totals, start: Start) -> Reduction:
    """Sums of the precision at every whole TP, half of it at the ends of each group."""

    def terms(before: Array, found: Array, mass: Array, here: Array) -> tuple[Array]:
        share = here / divisor(xp, mass)
        ones, ramps = harmonic_sums(xp, before * share, here)
        begin = xp.where(before > 0, found / divisor(xp, before), share)
        end = (found + here) / divisor(xp, before + mass)
        sums = share * (found * ones + ramps) - (end - begin) / 2
        is_level, level = _level(xp, start, before, found, mass, here)
        area = xp.where(is_level, level, sums)
        return (xp.where(here > 0, area, xp.zeros_like(area)),)

    return _over_positives(total, terms)


def _level(
    xp: Namespace, start: Start, before: Array, found: Array, mass: Array, here: Array
) -> tuple[Array, Array]:
    """Whether the precision stays what it is at the group's end, and the area below it then."""
    is_level = (before if start == "roc" else found) == 0
    return is_level, here * (here / divisor(xp, before + mass))
