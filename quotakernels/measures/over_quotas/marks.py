"""Marks on one axis: how far each average measure is from chance, or between compared models."""

from __future__ import annotations

from typing import Literal, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, namespace
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.keywords import show_value
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._reduction import reduced
from quotakernels.measures.at_quota.pearson import correlation_within
from quotakernels.measures.over_quotas.areas import pairs_won
from quotakernels.measures.over_quotas.averages import hit_rate_mean, qrecall_mean
from quotakernels.measures.over_quotas.harmonic import harmonic_sums


@plainly
class Marks(NamedTuple, Generic[T]):
    """Normalised measures, each of shape (...), or (..., S) of S groups: 0 is chance and 1 the
    optimum, or worst and best.

    Attributes
    ----------
    average_hit_rate, average_qrecall, pem, roc_auc, pearson : array
        The mark of that measure; `pearson` of all examples with their own labels.
    """

    average_hit_rate: T
    average_qrecall: T
    pem: T
    roc_auc: T
    pearson: T


@measure(Measure, greater_is_better=None, by_group=True)
def normalized_marks(table: ops.Groups, *, method: Literal["chance", "minmax"] = "chance") -> Marks:
    """AHR, AQR, PEM, AUC and Pearson's correlation on one axis ([AR] Figure 10).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    method : {"chance", "minmax"}
        "chance" gives (v - c) / (1 - c), where c is the expectation of the measure under random
        order; it refuses sample weights.  "minmax" gives (v - min) / (max - min) over the models,
        which are the last batch axis of the scores.

    Returns
    -------
    Marks
        "chance" gives NaN where the measure is undefined, such as Pearson's correlation of constant
        scores, or where c = 1 (all examples positive).  "minmax" gives NaN where all models have
        the same value or one of them is undefined.

    Notes
    -----
    [AR] section 4.2.1 normalises AHR and AQR and does not say how.  "chance" changes just these two
    of its four measures, because PEM, and `pearson` with ``labels="observed"``, are 0 by chance.
    The expectations are (n + P)/(2n) for AQR, 0 for PEM, 1/2 for AUC, and for AHR b + (1 - b)·H/n
    with b = (P - 1)/(n - 1) and H = 1 + 1/2 + … + 1/n.  They are over orders without ties: a
    constant score has AHR = P/n, below that expectation, and so a negative mark.  The marks of PEM
    and AUC are equal by "chance".  Marks of different measures are not comparable with each other.

    References
    ----------
    [AR] section 4.2.1, Figure 10.

    Examples
    --------
    >>> from quotakernels import normalized_marks
    >>> marks = normalized_marks([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1])
    >>> print(marks.average_qrecall.round(4), marks.pem.round(4), marks.roc_auc.round(4))
    0.4444 0.3333 0.3333
    """
    if method not in ("chance", "minmax"):
        raise ValueError(f'method must be "chance" or "minmax"; got {show_value(method)}')
    xp = namespace(table.counts)
    total = Totals(xp, table)
    won, hit_rate, qrecall = reduced(
        xp,
        table,
        pairs_won(xp, table, total),
        hit_rate_mean(xp, table, total),
        qrecall_mean(xp, table, total),
    )
    correlation = correlation_within(xp, table, total.whole[..., None], "observed")[..., 0]
    values = Marks(hit_rate, qrecall, won.surplus, won.share, correlation)
    if method == "minmax":
        models = -2 if table.segments else -1
        return Marks(*(_between_models(xp, x, models) for x in values))
    if table.weighted:
        raise ValueError(
            "the expectation under random order is not defined with sample weights; "
            'use method="minmax"'
        )
    chance = _chance(xp, total.whole, total.positive)
    pairs = zip(values, chance, strict=True)
    return Marks(*((value - expected) / (1 - expected) for value, expected in pairs))


def _between_models(xp: Namespace, values: Array, axis: int) -> Array:
    if values.ndim < -axis:
        raise ValueError('method="minmax" compares models; give scores of shape (models, n)')
    low = xp.min(values, axis=axis, keepdims=True)
    return (values - low) / (xp.max(values, axis=axis, keepdims=True) - low)


def _chance(xp: Namespace, whole: Array, positive: Array) -> Marks:
    """The expectation of each measure when the examples are in random order."""
    harmonic, _ = harmonic_sums(xp, xp.zeros_like(whole), whole)
    others = xp.where(whole > 1, whole - 1, xp.ones_like(whole))
    share = (positive - 1) / others
    zero = xp.zeros_like(whole)
    hit_rate = share + (1 - share) * harmonic / whole
    return Marks(hit_rate, (whole + positive) / (2 * whole), zero, zero + 0.5, zero)
