"""The area under Cohen's κ over the false positive rate."""

from __future__ import annotations

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, device, namespace, wide_float
from quotakernels.inputs.quotas import Totals
from quotakernels.measures._kinds import NumberMeasure
from quotakernels.measures._measure import measure
from quotakernels.measures.over_quotas.harmonic import log_and_remainder
from quotakernels.measures.tables.cells import ConfusionTable, cut_cells
from quotakernels.measures.tables.informedness import surplus

LEVEL = 2.0**-60
"""Relative growth of a denominator up to which it is taken as constant."""


@measure(NumberMeasure, greater_is_better=True, monotone="always", signed=True)
def auk(table: ops.Groups) -> Array:
    """AUK, the area under Cohen's κ over the false positive rate, exactly.

    AUK = ∫ κ dFPR along the segments of the ROC curve, on which κ is a quotient of two linear
    functions, κ = 2(N·TP - P·FP)/(P·(FN + TN) + N·(TP + FP)).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        From -1 to 1, 0 by chance; NaN where one class is absent.

    See Also
    --------
    cohen_kappa : κ of one table.
    chart_area : the areas under informedness and others.

    Notes
    -----
    With as many positives as negatives κ is informedness, and AUK is Gini/2.  The integral over
    t from 0 to 1 of (a + b·t)/(c + d·t) is [a·(L - M) + (a + b)·M]/c with x = d/c,
    L = log(1 + x)/x and M = (x - log(1 + x))/x², none of which cancels; c is the smaller one of
    the denominators at both ends.  The optimistic and the pessimistic policy give bounds.

    References
    ----------
    [PW], AUK.

    Examples
    --------
    >>> from quotakernels import gini
    >>> from quotakernels.charts import auk
    >>> print(auk([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]).round(4))
    0.2553
    >>> print(auk([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), gini([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]))
    0.25 0.5
    """
    xp = namespace(table.counts)
    wide = wide_float(xp, device(table.counts))
    _, positive, negative = Totals(xp, table)
    whole, rest = (xp.expand_dims(x, axis=-1) for x in (positive, negative))
    cells = ConfusionTable(*(cast(xp, x, wide) for x in cut_cells(xp, table)))
    chance = (cells.tp + cells.fp) * rest + whole * (cells.fn + cells.tn)
    kappa = 2 * _mean_quotient(xp, surplus(cells), chance)
    area = ops.total(xp, cast(xp, table.negative, wide) / rest * kappa)
    defined = (positive > 0) & (negative > 0)
    return xp.where(defined, area, xp.full_like(area, xp.nan))


def _mean_quotient(xp: Namespace, above: Array, below: Array) -> Array:
    """Means of quotients whose parts grow linearly from each place of the last axis to the next.

    `below` is positive.
    """
    falls = below[..., 1:] < below[..., :-1]
    ends = above[..., :-1], above[..., 1:]
    near, far = xp.where(falls, *ends[::-1]), xp.where(falls, *ends)
    base = xp.minimum(below[..., 1:], below[..., :-1])
    growth = xp.abs(below[..., 1:] - below[..., :-1])
    is_level = growth <= LEVEL * base
    growth = xp.where(is_level, base, growth)
    x = growth / base
    log, remainder = log_and_remainder(xp, x)
    mean = xp.where(is_level, xp.ones_like(x), log / x)
    late = xp.where(is_level, xp.full_like(x, 0.5), remainder / x / x)
    return (near * (mean - late) + far * late) / base
