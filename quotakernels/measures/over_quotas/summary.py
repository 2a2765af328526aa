"""Several averages over quotas in one pass, and marks from 0 to 1 made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    compiled,
    computing,
    device,
    finished,
    result_float,
)
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.keywords import show_value
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._reduction import Reduction, reduced
from quotakernels.measures.at_quota.pearson import correlation_within
from quotakernels.measures.over_quotas.areas import advantage_areas, pairs_won
from quotakernels.measures.over_quotas.averages import harmonic_sums, hit_rate_mean, qrecall_mean
from quotakernels.ops import namespace


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


@plainly
class Summary(NamedTuple, Generic[T]):
    """All measures over all quotas, each of shape (...).

    Attributes
    ----------
    roc_auc, gini, pem, average_hit_rate, average_qrecall : array
        As the functions of these names give them.
    s1, s2, s3 : array
        As `pem_areas` gives them: by sums, or with sample weights by areas.
    """

    roc_auc: T
    gini: T
    pem: T
    average_hit_rate: T
    average_qrecall: T
    s1: T
    s2: T
    s3: T


@measure(Measure, greater_is_better=None, by_positives=True, by_group=True, by_sums=True)
def summary(table: ops.Groups) -> Summary:
    """All measures over all quotas in one pass, for less than the time of two of them.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    Summary
        Each value equals that of its own function, and is NaN where it is undefined.

    References
    ----------
    [AR] eq. 12-15.

    Examples
    --------
    >>> from quotakernels import summary
    >>> values = summary([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1])
    >>> print(values.pem.round(4), values.average_qrecall.round(4))
    0.3333 0.8889
    """
    xp = namespace(table[0])
    total = Totals(xp, table)
    method: Literal["sum", "area"] = "area" if table.weighted else "sum"
    won, hit_rate, qrecall, areas = reduced(
        xp,
        table,
        pairs_won(xp, table, total),
        hit_rate_mean(xp, table, total),
        qrecall_mean(xp, table, total),
        advantage_areas(xp, table, total, method),
    )
    surplus = won.surplus
    return Summary(won.share, surplus, surplus, hit_rate, qrecall, *areas)


def sharing(measures: Mapping[str, Any]) -> dict[str, Measure]:
    """Those that are sums over the rows, and can share a pass."""
    return {
        name: each
        for name, each in measures.items()
        if isinstance(each, Measure) and each.sums is not None
    }


def in_one_pass(measures: Mapping[str, Measure], table: ops.Groups) -> dict[str, Any]:
    """The values of measures that share a pass, each the one that the measure gives by itself."""
    xp = namespace(table.counts)
    dtype = result_float(xp, device(table.counts))
    sums = {name: measure.sums for name, measure in measures.items() if measure.sums is not None}
    makes = tuple(dict.fromkeys(each.make for each in sums.values()))
    with computing(xp):
        by_positives = all(measure.by_positives for measure in measures.values())
        rows = (by_positives and ops.merged_groups(xp, table)) or table
        found = compiled(_reduced, xp, ("makes",))(rows, makes=makes)
        values = dict(zip(makes, found, strict=True))
        return {
            name: finished(xp, each.take(values[each.make]), dtype) for name, each in sums.items()
        }


def _reduced(table: Any, *, makes: tuple[Callable[..., Reduction], ...]) -> list[Any]:
    xp: Any = namespace(table[0])
    total = Totals(xp, table)
    return reduced(xp, table, *(make(xp, table, total) for make in makes))
