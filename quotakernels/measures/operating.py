"""Points of the curves that are asked for by a rate, or that stand out."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, tolerance
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.columns import MASS_ROUNDING
from quotakernels.inputs.numbers import RATE, checked, numbers_like
from quotakernels.measures._measure import Measure, Validator, measure, one_value
from quotakernels.measures.at_quota import Curve, cut_masses, cut_thresholds
from quotakernels.measures.tables.best_cut import SAME_VALUE, best_of_these
from quotakernels.measures.tables.confusion import cells_as_floats, cut_cells
from quotakernels.ops import namespace

SAME_RATE = 2.0**-49
"""Relative difference up to which two rates are taken as equal."""


@plainly
class CurvePoint(NamedTuple, Generic[T]):
    """A point of a curve, and the cut that reaches it.

    Attributes
    ----------
    value : array, shape (..., *Q)
        The rate there; NaN where no point has the wanted rate, or a rate is undefined.
    threshold : array, shape (..., *Q)
        Score of the last selected example; NaN for the empty cut, and where there is
        no point.  At a point between two cuts only a part of the examples with this score is
        selected.
    quota : array, shape (..., *Q)
        The number of the selected, with weights their mass; NaN where there is no point.
    """

    value: T
    threshold: T | Any
    quota: T


@plainly
class DetCurve(NamedTuple, Generic[T]):
    """The points of a DET curve, one for each vertex of the ROC curve.

    Attributes
    ----------
    fpr : array, shape (..., V)
        False positive rate FP/N; NaN where there are no negatives.
    fnr : array, shape (..., V)
        False negative rate FN/P; NaN where there are no positives.
    threshold : array, shape (..., V)
        Score of the last selected example; NaN at the empty cut.
    """

    fpr: T
    fnr: T
    threshold: T | Any


# candidates, and the best of them


class _Points(NamedTuple):
    """Candidates, shape (..., K, V), and which of them are any."""

    fp: Array
    tp: Array
    threshold: Array
    there: Array


class _RocPath:
    """The cuts of a table as points of a ROC curve, shape (..., 1, V).

    With `interpolate`, points between two neighbouring cuts are candidates too.
    """

    def __init__(self, table: ops.TieTable, interpolate: bool = True):
        xp = namespace(table.counts)
        self.fp, self.tp = (xp.wide(x)[..., None, :] for x in cut_masses(xp, table))
        self.selected = self.tp + self.fp
        self.negative, self.positive = self.fp[..., -1:], self.tp[..., -1:]
        self.threshold = cut_thresholds(xp, table)[..., None, :]
        self.slack = tolerance(self.fp, MASS_ROUNDING) if table.weighted else 0.0
        self._xp, self._interpolate = xp, interpolate

    def reaches(self, rate: Array, wanted: Array) -> Array:
        """Where a rate of the cuts is at least the wanted one, but for the rounding of masses."""
        return rate >= wanted * (1 - self.slack)

    def points(self, there: Array, level: Callable[[], Array]) -> _Points:
        """The cuts, and the points at which a level that is linear along each segment is 0."""
        cuts = _Points(self.fp, self.tp, self.threshold, there)
        parts = (cuts, self._crossings(level())) if self._interpolate else (cuts,)
        xp, shape = self._xp, there.shape[:-1]
        return _Points._make(
            xp.concat([xp.broadcast_to(x, (*shape, x.shape[-1])) for x in column], axis=-1)
            for column in zip(*parts, strict=True)
        )

    def where_zero(self, level: Array) -> _Points:
        """The cut, or the point between two cuts, at which what rises along the curve is 0."""
        return self.points(level == 0, lambda: level)

    def _crossings(self, level: Array) -> _Points:
        """Where what is given at the cuts changes its sign between two of them."""
        first, last = level[..., :-1], level[..., 1:]
        share = first / (first - last)
        fp, tp = (x[..., :-1] + share * (x[..., 1:] - x[..., :-1]) for x in (self.fp, self.tp))
        changes = (first < 0) & (last > 0) | (first > 0) & (last < 0)
        return _Points(fp, tp, self.threshold[..., 1:], changes)


def _extreme(points: _Points, value: Array, largest: bool = True, most: bool = False) -> CurvePoint:
    """The largest or smallest value; of equal ones that which selects most, or least."""
    xp = namespace(value)
    there, quota = points.there & ~xp.isnan(value), points.fp + points.tp
    rank = xp.where(there, value if largest else -value, xp.full_like(value, -xp.inf))
    top = xp.max(rank, axis=-1, keepdims=True)
    best = there & (top - rank <= tolerance(top, SAME_RATE) * xp.abs(top))
    rank = xp.where(best, quota if most else -quota, xp.full_like(quota, -xp.inf))
    best = best & (rank == xp.max(rank, axis=-1, keepdims=True))
    places = xp.arange(best.shape[-1], dtype=xp.int64, device=device(best))
    places = xp.where(best, places, xp.full_like(places, best.shape[-1] - 1))
    place, none = xp.min(places, axis=-1, keepdims=True), ~xp.any(best, axis=-1)

    def at_place(x: Array) -> Array:
        return xp.nan_unless(~none, xp.take_last_axis(x, place)[..., 0])

    return CurvePoint(at_place(value), at_place(points.threshold), at_place(quota))


def wanted_rate(name: str) -> Validator:
    """What checks a wanted rate of that name, one or several."""

    def validator(
        xp: Namespace, table: ops.TieTable, **given: Any
    ) -> tuple[tuple[Array], tuple[int, ...]]:
        number = numbers_like(table.counts, name, given[name])
        value = checked(xp, {name: number}, {name: RATE})[name]
        return (xp.reshape(value, (-1,)),), tuple(value.shape)

    parameter = Parameter(name, Parameter.KEYWORD_ONLY, annotation="Any")
    validator.__signature__ = Signature([parameter])  # type: ignore[attr-defined]
    return validator


# at a rate


@measure(Measure, numbers=wanted_rate("precision"), greater_is_better=True, headline="value")
def recall_at(table: ops.TieTable, wanted: Array, *, interpolate: bool = False) -> CurvePoint:
    """The largest recall of the cuts with at least a given precision.

    Among cuts with the same recall the result is the one that selects least.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    precision : number or array, shape Q
        The wanted rate, from 0 to 1.
    interpolate : bool
        Whether points between two cuts count too.  On the hyperbola between them a part of the tied
        examples is selected.

    Returns
    -------
    CurvePoint
        The recall; NaN where no cut has such a precision, or there are no positives.

    Raises
    ------
    ValueError
        A rate outside 0…1; NaN instead where values cannot be read.

    See Also
    --------
    precision_at : the other way round.

    Notes
    -----
    Rates are compared as floats; with weights, up to a relative 2**-40.

    References
    ----------
    [DG] sections 2 and 4, the two spaces and the way between two cuts.

    Examples
    --------
    >>> from quotakernels.points import recall_at
    >>> y_true, y_score = [1, 1, 1, 0, 0, 0], [0.9, 0.9, 0.8, 0.8, 0.8, 0.1]
    >>> print(*recall_at(y_true, y_score, precision=0.75))
    0.6666666666666666 0.9 2.0
    >>> print(recall_at(y_true, y_score, precision=0.75, interpolate=True).value.round(4))
    0.8
    """
    line, wanted = _RocPath(table, interpolate), wanted[..., None]
    there = line.reaches(line.tp / line.selected, wanted)
    found = line.points(there, lambda: line.tp - wanted * line.selected)
    return _extreme(found, namespace(wanted).rate(found.tp, line.positive))


@measure(Measure, numbers=wanted_rate("recall"), greater_is_better=True, headline="value")
def precision_at(table: ops.TieTable, wanted: Array, *, interpolate: bool = False) -> CurvePoint:
    """The largest precision of the cuts with at least a given recall.

    Among cuts with the same precision the result is the one that selects most.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    recall : number or array, shape Q
        The wanted rate, from 0 to 1.
    interpolate : bool
        Whether the point at the wanted recall itself counts too, where only a part of the tied
        examples is selected.

    Returns
    -------
    CurvePoint
        The precision; NaN where there are no positives.

    Raises
    ------
    ValueError
        A rate outside 0…1; NaN instead where values cannot be read.

    See Also
    --------
    recall_at : the other way round.

    Notes
    -----
    Rates are compared as floats; with weights, up to a relative 2**-40.

    References
    ----------
    [DG] sections 2 and 4, the two spaces and the way between two cuts.

    Examples
    --------
    >>> from quotakernels.points import precision_at
    >>> y_true, y_score = [1, 1, 1, 0, 0, 0], [0.9, 0.9, 0.8, 0.8, 0.8, 0.1]
    >>> print(*precision_at(y_true, y_score, recall=0.8))
    0.6 0.8 5.0
    >>> print(precision_at(y_true, y_score, recall=0.8, interpolate=True).value.round(4))
    0.75
    """
    line, wanted = _RocPath(table, interpolate), wanted[..., None]
    there = line.reaches(line.tp / line.positive, wanted)
    found = line.points(there, lambda: line.tp - wanted * line.positive)
    return _extreme(found, found.tp / (found.tp + found.fp), most=True)


@measure(Measure, numbers=wanted_rate("fpr"), greater_is_better=True, headline="value")
def tpr_at(table: ops.TieTable, wanted: Array, *, interpolate: bool = False) -> CurvePoint:
    """The largest true positive rate of the cuts with at most a given false positive rate.

    Among cuts with the same rate the result is the one that selects least, perhaps nothing.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    fpr : number or array, shape Q
        The wanted rate, from 0 to 1.
    interpolate : bool
        Whether points between two cuts count too.  On the straight line between them a part of the
        tied examples is selected.

    Returns
    -------
    CurvePoint
        The true positive rate; NaN where one class is absent.

    Raises
    ------
    ValueError
        A rate outside 0…1; NaN instead where values cannot be read.

    See Also
    --------
    fpr_at : the other way round.
    roc_auc : with ``max_fpr=`` the area up to a false positive rate.

    Notes
    -----
    Rates are compared as floats; with weights, up to a relative 2**-40.

    References
    ----------
    [DG] sections 2 and 4, the two spaces and the way between two cuts.

    Examples
    --------
    >>> from quotakernels.points import tpr_at
    >>> y_true, y_score = [1, 1, 1, 0, 0, 0], [0.9, 0.9, 0.8, 0.8, 0.8, 0.1]
    >>> print(*tpr_at(y_true, y_score, fpr=0.5))
    0.6666666666666666 0.9 2.0
    >>> print(tpr_at(y_true, y_score, fpr=0.5, interpolate=True).value.round(4))
    0.9167
    """
    line, wanted = _RocPath(table, interpolate), wanted[..., None]
    there = line.fp / line.negative <= wanted * (1 + line.slack)
    found = line.points(there, lambda: line.fp - wanted * line.negative)
    return _extreme(found, namespace(wanted).rate(found.tp, line.positive))


@measure(Measure, numbers=wanted_rate("tpr"), greater_is_better=False, headline="value")
def fpr_at(table: ops.TieTable, wanted: Array, *, interpolate: bool = False) -> CurvePoint:
    """The smallest false positive rate of the cuts with at least a given true positive rate.

    Among cuts with the same rate the result is the one that selects most.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    tpr : number or array, shape Q
        The wanted rate, from 0 to 1.
    interpolate : bool
        Whether points between two cuts count too.  On the straight line between them a part of the
        tied examples is selected.

    Returns
    -------
    CurvePoint
        The false positive rate; NaN where one class is absent.

    Raises
    ------
    ValueError
        A rate outside 0…1; NaN instead where values cannot be read.

    See Also
    --------
    tpr_at : the other way round.

    Notes
    -----
    Rates are compared as floats; with weights, up to a relative 2**-40.

    References
    ----------
    [DG] sections 2 and 4, the two spaces and the way between two cuts.

    Examples
    --------
    >>> from quotakernels.points import fpr_at
    >>> y_true, y_score = [1, 1, 1, 0, 0, 0], [0.9, 0.9, 0.8, 0.8, 0.8, 0.1]
    >>> print(*fpr_at(y_true, y_score, tpr=0.8))
    0.6666666666666666 0.8 5.0
    >>> print(fpr_at(y_true, y_score, tpr=0.8, interpolate=True).value.round(4))
    0.2667
    """
    line, wanted = _RocPath(table, interpolate), wanted[..., None]
    there = line.reaches(line.tp / line.positive, wanted)
    found = line.points(there, lambda: line.tp - wanted * line.positive)
    rate = namespace(wanted).rate(found.fp, line.negative)
    return _extreme(found, rate, largest=False, most=True)


# points that stand out


@measure(Measure, numbers=one_value, greater_is_better=False, headline="value")
def equal_error_rate(table: ops.TieTable) -> CurvePoint:
    """Equal error rate: the false positive rate where it equals the false negative rate.

    It is read off the ROC curve, on which cuts are joined by straight lines.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    CurvePoint
        The rate, 0.5 by chance; NaN where one class is absent.

    See Also
    --------
    det_curve : both rates at every cut.

    References
    ----------
    [Martin 1997].

    Examples
    --------
    >>> from quotakernels.points import equal_error_rate
    >>> y_true, y_score = [1, 1, 1, 0, 0, 0], [0.9, 0.9, 0.8, 0.8, 0.8, 0.1]
    >>> point = equal_error_rate(y_true, y_score)
    >>> print(point.value.round(4), point.threshold, point.quota)
    0.2222 0.8 3.0
    """
    xp = namespace(table.counts)
    line = _RocPath(table)
    pairs = line.negative * line.positive
    level = line.fp * line.positive + line.tp * line.negative - pairs
    found = line.where_zero(xp.nan_unless(pairs > 0, level))
    return _extreme(found, xp.rate(found.fp, line.negative))


@measure(Measure, numbers=one_value, greater_is_better=True, headline="value")
def break_even_point(table: ops.TieTable) -> CurvePoint:
    """Break-even point: the precision where it equals the recall, at the quota P.

    It is the hit rate at this quota, also called R-precision.  If the quota ends inside a tie
    group, a part of the group is selected.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    CurvePoint
        The precision; by chance it is the prevalence.  NaN where there are no positives.

    References
    ----------
    [PW], break-even.

    Examples
    --------
    >>> from quotakernels.points import break_even_point
    >>> y_true, y_score = [1, 1, 1, 0, 0, 0], [0.9, 0.9, 0.8, 0.8, 0.8, 0.1]
    >>> point = break_even_point(y_true, y_score)
    >>> print(point.value.round(4), point.threshold, point.quota)
    0.7778 0.8 3.0
    """
    line = _RocPath(table)
    found = line.where_zero(line.selected - line.positive)
    return _extreme(found, namespace(found.tp).rate(found.tp, line.positive))


@plainly
class KolmogorovSmirnov(NamedTuple, Generic[T]):
    """Where the classes are farthest apart.

    Attributes
    ----------
    value : array, shape (...)
        The difference of the rates there; NaN where one class is absent.
    threshold : array, shape (...)
        Score of the last selected example; NaN for the empty cut.
    quota : array, shape (...)
        The number of the selected, with weights their mass.
    sign : array, shape (...)
        1 where the positives have the higher scores, TPR > FPR, and -1 where the negatives have.
    """

    value: T
    threshold: T | Any
    quota: Any
    sign: T


@measure(Measure, numbers=one_value, greater_is_better=True, headline="value", by_group=True)
def kolmogorov_smirnov(table: ops.TieTable, *, two_sided: bool = False) -> KolmogorovSmirnov:
    """Kolmogorov-Smirnov statistic: the largest TPR - FPR of all cuts, also the empty one.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    two_sided : bool
        Whether FPR - TPR counts too, where it is larger: the largest distance of the distributions
        of both classes, as scorecards report it, whichever class has the higher scores.

    Returns
    -------
    KolmogorovSmirnov
        From 0 to 1; among cuts with this value the result is the one that selects least, of both
        sides that with TPR > FPR.  NaN where one class is absent.

    See Also
    --------
    best_cut : of `informedness` it is the same cut.

    Notes
    -----
    By default a reversed ranking has 0, as no cut of it is of use.  SciPy's ``ks_2samp`` is
    two-sided.

    References
    ----------
    [Hand 2009].

    Examples
    --------
    >>> from quotakernels.points import kolmogorov_smirnov
    >>> y_true, y_score = [1, 1, 1, 0, 0, 0], [0.9, 0.9, 0.8, 0.8, 0.8, 0.1]
    >>> print(*kolmogorov_smirnov(y_true, y_score))
    0.6666666666666666 0.9 2.0 1.0
    >>> print(*kolmogorov_smirnov([0, 0, 0, 1, 1, 1], y_score, two_sided=True))
    0.6666666666666666 0.9 2.0 -1.0
    """
    xp = namespace(table.counts)
    tp, fp, fn, tn = cells_as_floats(xp, cut_cells(xp, table))
    value = (tp * tn - fp * fn) / ((tp + fn) * (fp + tn))
    cuts = Curve(fp + tp, value, cut_thresholds(xp, table))
    found = best_of_these(table, cuts)[:3]
    sign = xp.nan_unless(found[0] == found[0], xp.ones_like(found[0]))
    if two_sided:
        other = best_of_these(table, cuts._replace(value=-value))[:3]
        below = other[0] - found[0] > tolerance(value, SAME_VALUE)
        found = tuple(xp.where(below, x, y) for x, y in zip(other, found, strict=True))
        sign = xp.where(below, -sign, sign)
    return KolmogorovSmirnov(*(xp.expand_dims(x, axis=-1) for x in (*found, sign)))


@measure(Measure, greater_is_better=None)
def det_curve(table: ops.TieTable) -> DetCurve:
    """Detection error tradeoff: false negative rate against false positive rate at every cut.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    DetCurve
        Plain rates, from (0, 1) to (1, 0).  The rate of an absent class is NaN.

    See Also
    --------
    roc_curve : the same cuts with the true positive rate.
    equal_error_rate : the point where both rates are equal.

    Notes
    -----
    The axes of a DET plot are normal deviates of these rates.

    References
    ----------
    [Martin 1997].

    Examples
    --------
    >>> from quotakernels.points import det_curve
    >>> curve = det_curve([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(curve.fpr, curve.fnr.round(3), curve.threshold)
    [0.  0.  0.5 0.5 1. ] [1.    0.667 0.333 0.    0.   ] [nan 0.9 0.8 0.6 0.1]
    """
    xp = namespace(table.counts)
    table = xp.filled_first(table)
    _, fp, fn, _ = cells_as_floats(xp, cut_cells(xp, table))
    return DetCurve(fp / fp[..., -1:], fn / fn[..., :1], cut_thresholds(xp, table))
