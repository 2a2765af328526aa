"""The ROC curve."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Namespace, cast, device, namespace, wide_float
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures.at_quota.curves import cut_masses, cut_thresholds


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
    fpr, tpr = (ops.rate(xp, x, x[..., -1:]) for x in masses)
    return RocCurve(fpr, tpr, cut_thresholds(xp, table), fp, tp)
