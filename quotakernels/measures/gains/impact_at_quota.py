"""What decisions bring when every example has a gain of its own (Eiland & Liebrock)."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    compiled,
    computing,
    device,
    finished,
    namespace,
    result_float,
    tolerance,
)
from quotakernels.inputs.bad_rows import without_the_bad
from quotakernels.inputs.keywords import public
from quotakernels.inputs.quotas import beside, mass_totals, wanted_masses
from quotakernels.measures.at_quota.curves import Curve, cut_quotas, cut_thresholds
from quotakernels.measures.gains.columns import (
    Cut,
    GainGroups,
    Gains,
    Split,
    admit_gains,
    after,
    before,
    cut_at_quotas,
    cut_at_thresholds,
    gain_groups,
    split,
)
from quotakernels.measures.tables.boundary import BestBoundary
from quotakernels.measures.tables.cells import ConfusionTable, wanted_cut
from quotakernels.measures.tables.optimal import SAME_VALUE, best_cut, real_cuts

__all__ = ["QuotaImpact", "best_quota", "cell_impacts", "impact_at_quota"]


class QuotaImpact(NamedTuple):
    """What a quota brings in all, in the unit of the gains.

    Attributes
    ----------
    whole : array, shape (..., *Q)
        What all examples bring together; the sum of the next two.
    selected, rejected : array, shape (..., *Q)
        What the selected bring, and what the rejected bring.
    net : array, shape (..., *Q)
        What `whole` is above that of selecting nobody.
    """

    whole: Array
    selected: Array
    rejected: Array
    net: Array


@public
def impact_at_quota(
    y_score: Any,
    gain: Any,
    *,
    gain_rejected: Any = 0,
    quota: Any = None,
    fraction: Any = None,
    sample_weight: Any = None,
    where: Any = None,
    validate: bool = True,
) -> QuotaImpact:
    """What it brings in all to select the best of a quota, each example with its own gain (EL).

    Σ s_i·gain_i + Σ (1 - s_i)·gain_rejected_i, with s_i the probability of `select`: the
    expectation over the order of ties.

    Parameters
    ----------
    y_score : array, shape (..., n)
        Scores, as in `rank`.
    gain : array, shape (n,) or that of `y_score`
        What each example brings if it is selected, net of its cost (pass ``gain - cost``); of any
        sign.
    gain_rejected : number, or array of shape (n,) or that of `y_score`
        What each example brings if it is not.
    quota : number or array, shape Q, optional
        How many examples are selected (with weights: how much mass), from 0 to n.  It need not
        be whole.
    fraction : number or array, shape Q, optional
        The same as a share of all examples (of the whole mass), in (0, 1].  Exactly one of
        `quota` and `fraction` is given.
    sample_weight, where, validate : optional
        As in `rank`.  An example of weight w brings w times its gain.

    Returns
    -------
    QuotaImpact
        Totals in the unit of the gains, arrays of shape (..., *Q) in the library and on the
        device of the input, in the widest real float there (float64; float32 under JAX without
        x64, on TPU and on MPS).  NaN in a row of the batch that has no examples, fewer than the
        quota, or a bad value that cannot be read.

    Raises
    ------
    TypeError
        Both or none of `quota` and `fraction`, or one that is not a number; gains that are not
        numbers; and as in `rank`.
    ValueError
        A quota below 0 or above n, a fraction outside (0, 1]; a gain that is NaN or infinite; and
        as in `rank`.  A gain that `where` masks, or whose weight is 0, may be anything.

    See Also
    --------
    best_quota : the quota that brings the most.
    cell_impacts : the means over true and false positives and negatives.
    impact : what a decision brings where all examples of a cell bring the same.

    Notes
    -----
    Without weights, whole gains and quotas give the exact value rounded once, while its sums are
    below 2**53; the error for other gains is at most (n + 8)·2**-53·Σ (|gain| + |gain_rejected|).
    With weights the quota's end is rounded too: at most by n·2**-53 of the whole mass.

    References
    ----------
    EL section 4: Eiland & Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for
    End Users".

    Examples
    --------
    >>> from quotakernels import impact_at_quota
    >>> score, brings = [0.9, 0.8, 0.8, 0.3], [120, 300, -500, 80]
    >>> loans = impact_at_quota(score, brings, quota=[1, 2, 3])
    >>> print(loans.whole, loans.net)
    [120.  20. -80.] [120.  20. -80.]
    """
    gains = admit_gains(_columns(y_score, gain, sample_weight, where), gain_rejected, validate)
    gains = beside(gains, quota, fraction)
    xp = namespace(gains.scores)
    dtype = result_float(xp, device(gains.scores))
    with computing(xp):
        groups = compiled(gain_groups, xp)(gains)
        (wanted,), shape = wanted_masses(xp, groups.table, quota=quota, fraction=fraction)
        totals = compiled(_at_quotas, xp)(groups, wanted)
        batch = tuple(wanted.shape[:-1])
        shaped = QuotaImpact(*(xp.reshape(x, (*batch, *shape)) for x in totals))
        return finished(xp, shaped, dtype)  # type: ignore[no-any-return]


def _columns(y_score: Any, gain: Any, sample_weight: Any, where: Any) -> dict[str, Any]:
    return {"y_score": y_score, "gain": gain, "sample_weight": sample_weight, "where": where}


def _at_quotas(groups: GainGroups, wanted: Array) -> QuotaImpact:
    cut = cut_at_quotas(groups.table, wanted)
    selected = split(groups.selected.positive, cut).selected
    if groups.rejected is None:
        other = Split(0 * cut.part, 0 * cut.part)
    else:
        other = split(groups.rejected.positive, cut)
    sums = (selected + other.rejected, selected, other.rejected, selected - other.selected)
    return QuotaImpact(*(x / cut.unit for x in sums))


@public
def best_quota(
    y_score: Any,
    gain: Any,
    *,
    gain_rejected: Any = 0,
    sample_weight: Any = None,
    where: Any = None,
    validate: bool = True,
) -> BestBoundary:
    """The quota that brings the most in all, each example with its own gain (EL, B*).

    Parameters
    ----------
    y_score : array, shape (..., n)
        Scores, as in `rank`.
    gain : array, shape (n,) or that of `y_score`
        What each example brings if it is selected, net of its cost (pass ``gain - cost``); of any
        sign.
    gain_rejected : number, or array of shape (n,) or that of `y_score`
        What each example brings if it is not.
    sample_weight, where, validate : optional
        As in `rank`.  An example of weight w brings w times its gain.

    Returns
    -------
    BestBoundary
        ``value`` and ``curve`` are totals in the unit of the gains, `impact_at_quota`'s
        ``whole``.  Of several best quotas the smallest is reported.  Floats in the widest real
        float (float64; float32 under JAX without x64, on TPU and on MPS); NaN in a row of the batch
        that has no examples, or a bad value that cannot be read.

    Raises
    ------
    TypeError
        Gains that are not numbers; and as in `rank`.
    ValueError
        A gain that is NaN or infinite; and as in `rank`.

    See Also
    --------
    impact_at_quota : what any quota brings.
    best_boundary : the same where all examples of a cell bring the same.

    Notes
    -----
    All cuts between tie groups are compared.  No other quota is better: between two cuts the
    total is linear in the quota.  Totals count as equal if they differ by at most 2**-49 of
    Σ (|gain| + |gain_rejected|), with weights the sum of these times the weight.

    References
    ----------
    EL section 6: Eiland & Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for
    End Users".

    Examples
    --------
    >>> from quotakernels import best_quota
    >>> best = best_quota([0.9, 0.8, 0.8, 0.3], [120, 300, -250, -80])
    >>> print(best.value, best.threshold, best.quota)
    170.0 0.8 3.0
    >>> print(best.curve.value)
    [  0. 120. 170.  90.]
    """
    gains = admit_gains(_columns(y_score, gain, sample_weight, where), gain_rejected, validate)
    xp = namespace(gains.scores)
    dtype = result_float(xp, device(gains.scores))
    with computing(xp):
        best = finished(xp, compiled(_best, xp)(gains), dtype)
        result: BestBoundary = without_the_bad(xp, best, gains.good)
        return result


def _best(gains: Gains) -> BestBoundary:
    xp = namespace(gains.scores)
    groups = gain_groups(gains)
    table = groups.table
    selected = groups.selected.positive
    rejected = xp.zeros_like(selected) if groups.rejected is None else groups.rejected.positive
    value = _defined(xp, table, before(xp, selected) + after(xp, rejected))
    curve = Curve(cut_quotas(xp, table), value, cut_thresholds(xp, table))
    best = best_cut(curve, real_cuts(xp, table), _rounding(xp, gains))
    return BestBoundary(*best, curve)


def _defined(xp: Namespace, table: ops.Groups, value: Array) -> Array:
    """The value, NaN where there are no examples."""
    whole = xp.expand_dims(mass_totals(xp, table)[0], axis=-1)
    return xp.where(whole > 0, value, xp.full_like(value, xp.nan))


def _rounding(xp: Namespace, gains: Gains) -> Array:
    """The share `SAME_VALUE` of the sum of all absolute gains, which itself could overflow."""
    same = tolerance(gains.selected, SAME_VALUE)
    size = same * xp.abs(gains.selected)
    if gains.rejected is not None:
        size = size + same * xp.abs(gains.rejected)
    size = size if gains.weights is None else size * gains.weights
    if gains.valid is not None:
        size = xp.where(gains.valid, size, xp.zeros_like(size))
    return xp.expand_dims(ops.total(xp, size), axis=-1)


@public
def cell_impacts(
    y_true: Any,
    y_score: Any,
    gain: Any,
    *,
    gain_rejected: Any = 0,
    threshold: Any = None,
    quota: Any = None,
    fraction: Any = None,
    inclusive: bool = True,
    sample_weight: Any = None,
    where: Any = None,
    pos_label: Any = None,
    validate: bool = True,
) -> ConfusionTable:
    """What the examples of each cell of a confusion table bring on average at a cut (EL eq. 11).

    These are the impacts with which `impact` of that table gives what the examples bring.

    Parameters
    ----------
    y_true, y_score : arrays, shape (..., n)
        Labels 0 and 1, and scores, as in `rank`.
    gain : array, shape (n,) or that of `y_score`
        What each example brings if it is selected, net of its cost (pass ``gain - cost``); of any
        sign.
    gain_rejected : number, or array of shape (n,) or that of `y_score`
        What each example brings if it is not.
    threshold, quota, fraction, inclusive : optional
        One kind of cut, a number or an array of shape Q, as in `confusion_table`.
    sample_weight, where, pos_label, validate : optional
        As in `rank`.

    Returns
    -------
    ConfusionTable
        Means of shape (..., *Q): of `gain` over the selected positives and negatives, and of
        `gain_rejected` over the rejected ones.  Where a quota ends among ties, each of them
        counts with its probability of being in the cell, see `select`.  NaN for an empty cell.

    Raises
    ------
    TypeError, ValueError
        As in `confusion_table`; gains that are not finite numbers.

    See Also
    --------
    impact_at_quota : the totals.

    References
    ----------
    EL eq. 11: Eiland & Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for End
    Users".

    Examples
    --------
    >>> from quotakernels import cell_impacts
    >>> repaid, score, brings = [1, 1, 0, 1], [0.9, 0.8, 0.8, 0.3], [120, 300, -500, 80]
    >>> print(*cell_impacts(repaid, score, brings, threshold=0.8))
    210.0 -500.0 0.0 nan
    """
    columns = _columns(y_score, gain, sample_weight, where) | {"y_true": y_true}
    gains = admit_gains(columns, gain_rejected, validate, pos_label)
    gains = beside(gains, threshold, quota, fraction)
    xp = namespace(gains.scores)
    dtype = result_float(xp, device(gains.scores))
    with computing(xp):
        groups = compiled(gain_groups, xp)(gains)
        cut = {"threshold": threshold, "quota": quota, "fraction": fraction}
        wanted, shape = wanted_cut(xp, groups.table, **cut, inclusive=inclusive)
        if threshold is None:
            means = compiled(_means_at_quotas, xp)(groups, wanted)
        else:
            find = compiled(_means_at_thresholds, xp, ("inclusive",))
            means = find(groups, wanted, inclusive=inclusive)
        means = ConfusionTable(*(xp.reshape(x, (*x.shape[:-1], *shape)) for x in means))
        return finished(xp, means, dtype)  # type: ignore[no-any-return]


def _means_at_quotas(groups: GainGroups, wanted: Array) -> ConfusionTable:
    return _means(groups, cut_at_quotas(groups.table, wanted))


def _means_at_thresholds(groups: GainGroups, wanted: Array, *, inclusive: bool) -> ConfusionTable:
    return _means(*cut_at_thresholds(groups, wanted, inclusive))


def _means(groups: GainGroups, cut: Cut) -> ConfusionTable:
    """What each cell brings over its mass."""
    xp = namespace(cut.part)

    def mean(brought: Array, mass: Array) -> Array:
        return xp.where(mass > 0, brought / mass, xp.full_like(mass, xp.nan))

    def of_class(name: str) -> tuple[Array, Array]:
        mass = split(getattr(groups.table, name), cut)
        selected = split(getattr(groups.selected, name), cut).selected
        rejected = 0 * mass.rejected
        if groups.rejected is not None:
            rejected = split(getattr(groups.rejected, name), cut).rejected
        return mean(selected, mass.selected), mean(rejected, mass.rejected)

    (tp, fn), (fp, tn) = of_class("positive"), of_class("negative")
    return ConfusionTable(tp, fp, fn, tn)
