"""The upper convex hull of the ROC curve, and what can be achieved on it."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, device, namespace
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._reduction import reduced
from quotakernels.measures.over_quotas.areas import pairs_won
from quotakernels.measures.roc_pr.precision_recall import PrCurve, area_under_pr, pr_vertices
from quotakernels.measures.roc_pr.roc import roc_vertices


@plainly
class RocHull(NamedTuple, Generic[T]):
    """The vertices of the upper convex hull of a ROC curve, from (0, 0) to (1, 1).

    No vertex lies on the straight line between others.  The last one is repeated as in `RocCurve`.

    Attributes
    ----------
    fpr, tpr, threshold, fp, tp : array, shape (..., V)
        As in `RocCurve`; both rates are NaN where one class is absent.
    slope_min, slope_max : array, shape (..., V)
        The slopes ΔTPR/ΔFPR of the hull after and before the vertex.  The vertex is the best of all
        cuts if one unit of FPR costs as much as s units of TPR, with s between these: s is
        ``cost_fp * (1 - π) / (cost_fn * π)`` with the prevalence π.  Both are 0 for repeated
        vertices.
    model : integer array, shape (..., V)
        Which model of a family the cut belongs to; 0 for a single ranking.
    """

    fpr: T
    tpr: T
    threshold: T | Any
    fp: Any
    tp: Any
    slope_min: T
    slope_max: T
    model: Any


@measure(Measure, greater_is_better=None)
def roc_hull(table: ops.Groups) -> RocHull:
    """Upper convex hull of the ROC curve: the cuts that are best for some costs.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    RocHull
        Its rates and slopes are NaN where one class is absent.

    See Also
    --------
    family_hull : the hull of several models together.
    mixture : how to reach any point between two vertices.

    Notes
    -----
    Slopes are compared in whole numbers, exactly while 2PN < 2**63.  With weights, slopes that
    differ by less than a relative 2**-48 count as equal.

    References
    ----------
    [DG] section 3, the convex hull.

    Examples
    --------
    >>> from quotakernels import roc_hull
    >>> hull = roc_hull([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.2, 0.1])
    >>> print(hull.fp, hull.tp, hull.threshold)
    [0 0 1 3] [0 1 3 3] [nan 0.9 0.6 0.1]
    >>> print(hull.slope_min, hull.slope_max)
    [inf  2.  0.  0.] [inf inf  2.  0.]
    """
    xp = namespace(table.counts)
    return hull_vertices(xp, ops.filled_first(xp, hull_table(xp, table)))


def hull_table(xp: Namespace, table: ops.Groups) -> ops.Groups:
    """The table in which the groups along each edge of the hull are one."""
    return ops.merged(xp, table, hull_ends(xp, table))


def hull_ends(xp: Namespace, table: ops.Groups) -> Array:
    """Which rows end at a vertex; masses as shares of their class, whose products stay in range."""
    if table.weighted:
        classes = (table.positive, table.negative)
        shares = (x / divisor(xp, ops.total(xp, x)[..., None]) for x in classes)
        table = ops.Groups(*table[:3], *shares)
    return ops.hull_ends(xp, table)


def hull_vertices(xp: Namespace, table: ops.Groups, model: Array | None = None) -> RocHull:
    """The hull of a table of its edges, empty rows at the end; `model` is that of each vertex."""
    curve = roc_vertices(xp, table)
    _, positive, negative = (xp.expand_dims(x, axis=-1) for x in Totals(xp, table))
    up, along = (cast(xp, x, positive.dtype) for x in (table.positive, table.negative))
    slope = up * negative / (along * positive)
    slope = xp.where(table.counts > 0, slope, xp.zeros_like(slope))
    slope_min = xp.concat([slope, xp.zeros_like(slope[..., :1])], axis=-1)
    slope_max = xp.concat([xp.full_like(slope[..., :1], xp.inf), slope], axis=-1)
    defined = (positive > 0) & (negative > 0)
    floats = (curve.fpr, curve.tpr, slope_min, slope_max)
    fpr, tpr, slope_min, slope_max = (ops.nan_unless(xp, defined, x) for x in floats)
    if model is None:
        model = xp.zeros(fpr.shape, dtype=xp.int32, device=device(fpr))
    return RocHull(fpr, tpr, *curve[2:], slope_min, slope_max, model)


@measure(
    Measure,
    greater_is_better=True,
    monotone="always",
    by_positives=True,
    best_of_cuts=True,
)
def roc_hull_auc(table: ops.Groups) -> Array:
    """Area under the upper convex hull of the ROC curve.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        From 0.5 to 1; NaN where one class is absent.

    See Also
    --------
    roc_auc : the area under the curve itself, which is not larger.

    Notes
    -----
    It is the AUC of a ranking in which the groups along each edge of the hull are tied.  On the
    data on which the hull was found it is too high; `Ranking.at_thresholds` applies the hull to
    other data.

    References
    ----------
    [DG] section 3, convex hulls.

    Examples
    --------
    >>> from quotakernels import roc_auc, roc_hull_auc
    >>> y_true, y_score = [1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.2, 0.1]
    >>> print(roc_hull_auc(y_true, y_score).round(4), roc_auc(y_true, y_score).round(4))
    0.8889 0.7778
    """
    xp = namespace(table.counts)
    won = reduced(xp, hull_table(xp, table), pairs_won(xp, table, Totals(xp, table)))[0]
    return won.share


@measure(Measure, greater_is_better=None)
def achievable_pr_curve(table: ops.Groups) -> PrCurve:
    """Achievable precision-recall curve: the vertices of the ROC hull in precision-recall space.

    It is the best curve that can be reached by mixing cuts, as the hull is in ROC space.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    PrCurve
        The recall is NaN where there are no positives.

    References
    ----------
    [DG] section 3, the achievable curve and Corollary 3.1.

    Examples
    --------
    >>> from quotakernels import achievable_pr_curve
    >>> curve = achievable_pr_curve([0, 1, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> print(curve.recall, curve.precision.round(3))
    [0. 1. 1.] [0.667 0.667 0.5  ]
    """
    xp = namespace(table.counts)
    return pr_vertices(xp, ops.filled_first(xp, hull_table(xp, table)), "roc")


@measure(Measure, greater_is_better=True, monotone="always", best_of_cuts=True)
def achievable_pr_auc(table: ops.Groups) -> Array:
    """Exact area under the achievable precision-recall curve.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        From the prevalence to 1; NaN where there are no positives.

    See Also
    --------
    pr_auc : the area under the curve of the cuts themselves, which is not larger.

    References
    ----------
    [DG] sections 3-5, the area under the achievable curve.

    Examples
    --------
    >>> from quotakernels import achievable_pr_auc, pr_auc
    >>> y_true, y_score = [0, 1, 1, 0], [0.9, 0.8, 0.7, 0.1]
    >>> print(achievable_pr_auc(y_true, y_score).round(4), pr_auc(y_true, y_score).round(4))
    0.6667 0.4507
    """
    xp = namespace(table.counts)
    area = area_under_pr(xp, Totals(xp, table), "roc")
    return reduced(xp, hull_table(xp, table), area)[0]
