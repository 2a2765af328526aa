"""Measures at a quota: hit rate, Qrecall, lift; and the lift table."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, device
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.groups import MOST_POINTS, size_of
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, QuotaMeasure, measure
from quotakernels.ops import namespace


@plainly
class LiftTable(NamedTuple, Generic[T]):
    """The examples in bins of equal size, best first; every field has shape (..., bins), or
    (..., S, bins) with groups.

    Attributes
    ----------
    start, stop : array
        Edges of the bin on the quota axis, i·n/bins: fractional, so that no bin is empty.
    positives : array
        Expected number (or mass) of positives in the bin.
    hit_rate : array
        Share of positives in the bin.
    lift : array
        That share over the prevalence; the mean over the bins is 1.
    cumulative_hit_rate, cumulative_lift, qrecall : array
        Hit rate, lift and Qrecall of all bins down to this one.
    """

    start: T
    stop: T
    positives: T
    hit_rate: T
    lift: T
    cumulative_hit_rate: T
    cumulative_lift: T
    qrecall: T


_Table: TypeAlias = Any


class _Filled(NamedTuple):
    """Expected positives within each wanted mass as a fraction: ``numerator / denominator``.

    For counts both are whole numbers below 2**53 (n up to 9e7), so that one division of
    products of them is the exact value rounded once.  The `row` is that in which the mass ends,
    after a part of it, the mass `within`.
    """

    numerator: Array
    denominator: Array
    row: ops.Rows
    within: Array
    place: Array | None = None


def _filled(xp: Namespace, table: _Table, wanted: Array) -> _Filled:
    index, row, mass, within = ops.part_of_row_at(xp, table, wanted)
    return _Filled(row.positive_before * mass + within * row.positive, mass, row, within, index)


def share_found(xp: Namespace, table: _Table, wanted: Array) -> Array:
    """T(j) / j, of counts rounded once."""
    return _hit_rate(xp, table, wanted, _filled(xp, table, wanted))


def _of_counts(xp: Namespace, table: _Table, share: Array) -> Array:
    """Shares that are rounded only where there is more than floats can count, or where floats have
    32 bits.
    """
    if share.dtype == xp.float64 and not table.rounded:
        return share
    return ops.at_most(xp, share, 1.0)


def _hit_rate(xp: Namespace, table: _Table, wanted: Array, filled: _Filled) -> Array:
    """Exactly 1 where there is no negative down to the row in which the quota ends."""
    rate = filled.numerator / (filled.denominator * wanted)
    if not table.weighted:
        return _of_counts(xp, table, rate)
    row = filled.row
    pure = (row.positive_before >= row.mass_before) & (row.positive >= row.mass)
    return ops.at_most(xp, rate, xp.ones_like(rate), lambda: pure)


def _qrecall(xp: Namespace, table: _Table, wanted: Array, filled: _Filled) -> Array:
    """Exactly 1 where no positive is left."""
    total = Totals(xp, table)
    share = filled.numerator / (filled.denominator * total.positive[..., None])
    if not table.weighted:
        return _of_counts(xp, table, share)

    def all_found() -> Array:
        row = filled.row
        ended = (row.positive == 0) | (filled.within >= row.mass)
        behind = ops.sums_behind(xp, table, table.positive, filled.place)
        return ended & (behind == 0)

    positive = total.positive[..., None]
    share = xp.where(wanted >= total.whole[..., None], positive / positive, share)
    return ops.at_most(xp, share, xp.ones_like(share), all_found)


def positives_at(xp: Namespace, table: _Table, wanted: Array) -> Array:
    """T(q), the expected positive mass within each wanted mass ([AR] eq. 5), shape (..., K)."""
    filled = _filled(xp, table, wanted)
    return filled.numerator / filled.denominator


@measure(
    QuotaMeasure,
    greater_is_better=True,
    monotone="always",
    by_positives=True,
    by_group=True,
    by_counts=True,
)
def hit_rate(table: ops.Groups | ops.Around, wanted: Array) -> Array:
    """Hit rate: the share of positives among the selected ([AR] eq. 4), T(j) / j.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    quota : number or array, shape Q, optional
        How many examples are selected (with weights: how much mass), from 0 to n.  It need not be a
        whole number.
    fraction : number or array, shape Q, optional
        The same as a share of all examples (of the whole mass), in (0, 1].
    budget : number or array, shape Q, optional
        What the selected examples may cost together, from 0 to what all examples cost, in the unit
        of `cost` of `rank`.  The best are taken until it is spent.  Give exactly one of `quota`,
        `fraction` and `budget`.  With `groups` each group has it for itself.  An array of shape
        (S, Q) has a row for each group; a list holds several numbers for all groups.
    when_short : {"all", "nan"}, optional
        What happens if there are fewer examples than the quota, or all cost less than the budget.
        "all" selects all of them, which is the default with `groups`; "nan" gives NaN.

    Returns
    -------
    array, shape (..., *Q)
        From 0 to 1; NaN where nothing is selected and where there are no examples.  With `groups`
        the shape is (..., S, *Q).

    Raises
    ------
    TypeError
        None or several of `quota`, `fraction` and `budget`, one that is not a number, a budget
        without costs.
    ValueError
        A quota below 0 or above n, a fraction outside (0, 1], a budget below 0 or above what all
        examples cost; infinite ones in any case.  Where values cannot be read, such a quota gives
        NaN.  In a batch it gives NaN for the rows with fewer examples, unless `when_short` is
        "all".

    Warns
    -----
    UserWarning
        A single quota between 0 and 1.  As many numbers as groups, in neither rising nor falling
        order: one for each group may be meant.

    Notes
    -----
    T(j) is the expected number of positives among the j best, when ties are broken at random ([AR]
    eq. 5).  Inside a tie group it grows linearly, so a quota may be any real number.  A product
    ``fraction * n`` counts as whole if only rounding makes it fractional.  With weights, j and T(j)
    are masses.  The optimistic and the pessimistic policy give bounds.

    A budget stands for the largest j for which the j best cost no more.  In the tie group at its
    end the same part of every example is taken: the remaining money divided by the cost of the
    group.  If costs are equal within the group, that is the expectation over the order of ties.  A
    free example is taken as soon as all above it are.

    References
    ----------
    [AR] eq. 4-5.

    Examples
    --------
    >>> from quotakernels import hit_rate
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(hit_rate(y_true, y_score, quota=2))
    0.75
    >>> print(hit_rate(y_true, y_score, quota=2, ties="pessimistic"))
    0.5
    >>> print(hit_rate(y_true, y_score, fraction=[0.2, 0.5, 1.0]))
    [1.  0.7 0.6]
    >>> print(hit_rate(y_true, y_score, quota=2, groups=["a", "a", "a", "b", "b"]))
    [0.75 0.5 ]
    >>> print(hit_rate(y_true, y_score, cost=[20, 10, 30, 10, 40], budget=[20, 40]))
    [1.   0.75]
    """
    return share_found(namespace(wanted), table, wanted)


@measure(
    QuotaMeasure,
    greater_is_better=True,
    monotone="always",
    by_positives=True,
    by_group=True,
    by_counts=True,
)
def qrecall(table: ops.Groups | ops.Around, wanted: Array) -> Array:
    """Qrecall: the share of all positives that the quota catches ([AR] eq. 6), T(j) / P.

    Takes what `hit_rate` takes: labels and scores, or a `Ranking`, and a quota, fraction or budget.

    Returns
    -------
    array, shape (..., *Q)
        From 0 to 1; NaN where there are no positives.

    Notes
    -----
    T(j) as in `hit_rate`.  Qrecall does not decrease with the quota; it is 0 at 0 and 1 at n.  At
    quota P it equals the hit rate (the break-even point).  The optimistic and the pessimistic
    policy give bounds.

    References
    ----------
    [AR] eq. 5-6.

    Examples
    --------
    >>> from quotakernels import qrecall
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(qrecall(y_true, y_score, quota=[0, 2, 5]))
    [0.  0.5 1. ]
    """
    xp = namespace(wanted)
    return _qrecall(xp, table, wanted, _filled(xp, table, wanted))


@measure(
    QuotaMeasure,
    greater_is_better=True,
    monotone="always",
    most=None,
    by_positives=True,
    by_group=True,
    by_counts=True,
)
def lift(table: ops.Groups | ops.Around, wanted: Array) -> Array:
    """Cumulative lift: the hit rate divided by the prevalence, (T(j) / j) / (P / n).

    Takes what `hit_rate` takes: labels and scores, or a `Ranking`, and a quota, fraction or budget.

    Returns
    -------
    array, shape (..., *Q)
        From 0 to n/P, and 1 at quota n; NaN for quota 0 and where there are no positives.

    See Also
    --------
    lift_table : the lift of each tenth of the ranking.

    Notes
    -----
    T(j) as in `hit_rate`.  A constant score has lift 1 at every quota.  The optimistic and the
    pessimistic policy give bounds.

    References
    ----------
    [AR] eq. 4-5 and section 2.2.5.

    Examples
    --------
    >>> from quotakernels import lift
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(lift(y_true, y_score, quota=2))
    1.25
    >>> print(lift(y_true, [0.5] * 5, fraction=0.1))
    1.0
    """
    xp = namespace(wanted)
    filled = _filled(xp, table, wanted)
    total = Totals(xp, table)
    prevalence = xp.expand_dims(total.positive / total.whole, axis=-1)
    return (filled.numerator / (filled.denominator * wanted)) / prevalence


@measure(Measure, greater_is_better=None, by_group=True, by_sums=True, by_counts=True)
def lift_table(table: ops.Groups, *, bins: int = 10) -> LiftTable:
    """Lift of each of `bins` parts of equal size, best examples first.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    bins : int
        Number of bins, from 1 to 2**24.

    Returns
    -------
    LiftTable
        Lifts and ``qrecall`` are NaN where there are no positives.  Without examples everything is
        NaN.

    Notes
    -----
    The edges i·n/bins may be fractional.  A bin then takes a part of an example, just as a quota
    does, so no bin is empty, all are of one size, and the lifts have the mean 1.  The tie
    policies bound the cumulative columns and ``qrecall``, not the columns of a single bin.

    References
    ----------
    [AR] section 2.2.5.

    Examples
    --------
    >>> from quotakernels import lift_table
    >>> table = lift_table([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], bins=2)
    >>> print(table.start, table.stop, table.positives)
    [0.  2.5] [2.5 5. ] [1.75 1.25]
    >>> print(table.lift.round(3), table.qrecall.round(3))
    [1.167 0.833] [0.583 1.   ]
    """
    bins = size_of("bins", bins, most=MOST_POINTS)
    xp = namespace(table[0])
    total = Totals(xp, table, summed=True)
    whole, positives = (xp.expand_dims(x, axis=-1) for x in (total.whole, total.positive))
    edge = xp.arange(bins + 1, dtype=whole.dtype, device=device(whole))
    edges = edge * whole / bins * (whole / whole)  # NaN where there are no examples
    filled = _filled(xp, table, edges)
    found = filled.numerator / filled.denominator
    start, stop = edges[..., :-1], edges[..., 1:]
    size = stop - start
    inside = xp.minimum(found[..., 1:] - found[..., :-1], size)
    if total.rounded:
        inside = xp.clip(inside, min=0.0)
        cumulative = _hit_rate(xp, table, edges, filled)[..., 1:]
        recall = _qrecall(xp, table, edges, filled)[..., 1:]
    else:
        cumulative, recall = found[..., 1:] / stop, found[..., 1:] / positives
    share, prevalence = inside / size, positives / whole
    return LiftTable(
        start,
        stop,
        inside,
        share,
        share / prevalence,
        cumulative,
        cumulative / prevalence,
        recall,
    )
