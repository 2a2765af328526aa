"""Measures of the best examples that fill a quota, also as curves of all cuts; the lift table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import chain, count
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, device
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.cuts import wanted_masses
from quotakernels.inputs.groups import MOST_POINTS, size_of
from quotakernels.inputs.keywords import check_choice
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import Measure, QuotaMeasure, measure
from quotakernels.measures._units import usual_unit
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
    capture : array
        Share of all positives that are in the bin.
    fpr : array
        False positive rate of all bins down to this one: the share of all negatives in them.
    ks : array
        Qrecall less this rate; the largest of them is the KS of a table of deciles.
    """

    start: T
    stop: T
    positives: T
    hit_rate: T
    lift: T
    cumulative_hit_rate: T
    cumulative_lift: T
    qrecall: T
    capture: T
    fpr: T
    ks: T


_Table: TypeAlias = Any


class _Positives(NamedTuple):
    """Expected positives within each wanted mass as a fraction: ``numerator / denominator``.

    For counts and whole quotas both are whole numbers below 2**53 (n up to 9e7), so that one
    division of products of them is the exact value rounded once; other quotas are within a few
    ulp.  The mass ends in `row`, of which it takes `within`; `place` is the index of that row.
    """

    numerator: Array
    denominator: Array
    row: ops.CutRow
    within: Array
    place: Array | None = None


def _positives_within(xp: Namespace, table: _Table, wanted: Array) -> _Positives:
    index, row, mass, within = xp.part_of_row_at(table, wanted)
    return _Positives(row.positive_before * mass + within * row.positive, mass, row, within, index)


def hit_rate_at(xp: Namespace, table: _Table, wanted: Array) -> Array:
    """The hit rate T(j) / j at each wanted mass."""
    return _hit_rate(xp, table, wanted, _positives_within(xp, table, wanted))


def _of_counts(xp: Namespace, table: _Table, share: Array) -> Array:
    """Shares of counts, clipped to 1 where sums are rounded: in float32, and with more examples
    than floats can count.
    """
    if share.dtype == xp.float64 and not table.rounded:
        return share
    return xp.at_most(share, 1.0)


def _hit_rate(xp: Namespace, table: _Table, wanted: Array, found: _Positives) -> Array:
    """T(j) / j; exactly 1 if no negative stands in the row in which the quota ends, or above it."""
    rate = found.numerator / (found.denominator * wanted)
    if not table.weighted:
        return _of_counts(xp, table, rate)
    row = found.row
    pure = (row.positive_before >= row.mass_before) & (row.positive >= row.mass)
    return xp.at_most(rate, xp.ones_like(rate), lambda: pure)


def _qrecall(xp: Namespace, table: _Table, wanted: Array, found: _Positives) -> Array:
    """T(j) / P; exactly 1 if no positive is left below the quota."""
    total = Totals(xp, table)
    share = found.numerator / (found.denominator * total.positive[..., None])
    if not table.weighted:
        return _of_counts(xp, table, share)

    def all_found() -> Array:
        row = found.row
        ended = (row.positive == 0) | (found.within >= row.mass)
        behind = xp.sums_behind(table, table.positive, found.place)
        return ended & (behind == 0)

    positive = total.positive[..., None]
    share = xp.where(wanted >= total.whole[..., None], positive / positive, share)
    return xp.at_most(share, xp.ones_like(share), all_found)


def positives_at(xp: Namespace, table: _Table, wanted: Array) -> Array:
    """T(q), the expected positive mass within each wanted mass ([AR] eq. 5), shape (..., K)."""
    found = _positives_within(xp, table, wanted)
    return found.numerator / found.denominator


@measure(
    QuotaMeasure,
    greater_is_better=True,
    monotone="always",
    by_positives=True,
    by_group=True,
    by_counts=True,
)
def hit_rate(table: ops.TieTable | ops.QuotaCut, wanted: Array) -> Array:
    """Hit rate: the share of positives among the selected ([AR] eq. 4), T(j) / j.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    quota : number or array, shape Q, optional
        How many examples are selected (with weights: how much mass), from 0 to n.  It need not be a
        whole number.
    fraction : number or array, shape Q, optional
        The share of all examples that is selected (with weights: of the mass), in (0, 1].
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
    return hit_rate_at(namespace(wanted), table, wanted)


@measure(
    QuotaMeasure,
    greater_is_better=True,
    monotone="always",
    by_positives=True,
    by_group=True,
    by_counts=True,
)
def qrecall(table: ops.TieTable | ops.QuotaCut, wanted: Array) -> Array:
    """Qrecall: the share of all positives that the quota catches ([AR] eq. 6), T(j) / P.

    Takes what `hit_rate` takes: labels and scores, or a `Ranking`, and a quota, fraction or budget.

    Returns
    -------
    array, shape (..., *Q)
        From 0 to 1; NaN where there are no positives.

    Notes
    -----
    T(j) is the expected number of positives among the j best.  Qrecall does not decrease with the
    quota; it is 0 at 0 and 1 at n.  At quota P it equals the hit rate (the break-even point).  The
    optimistic and the pessimistic policy give bounds.

    With weights the quota is a mass too: if amounts of money are the weights, ``quota=100`` selects
    100 units of money, not 100 examples.  The share of the money that 100 examples find is
    `value_found`.

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
    return _qrecall(xp, table, wanted, _positives_within(xp, table, wanted))


@measure(
    QuotaMeasure,
    greater_is_better=True,
    monotone="always",
    most=None,
    by_positives=True,
    by_group=True,
    by_counts=True,
)
def lift(table: ops.TieTable | ops.QuotaCut, wanted: Array) -> Array:
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
    T(j) is the expected number of positives among the j best.  A constant score has lift 1 at every
    quota.  The optimistic and the pessimistic policy give bounds.

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
    found = _positives_within(xp, table, wanted)
    total = Totals(xp, table)
    prevalence = xp.expand_dims(total.positive / total.whole, axis=-1)
    return (found.numerator / (found.denominator * wanted)) / prevalence


@measure(
    QuotaMeasure,
    greater_is_better=True,
    monotone="always",
    by_positives=True,
    by_group=True,
    by_counts=True,
)
def normalized_enrichment_factor(table: ops.TieTable | ops.QuotaCut, wanted: Array) -> Array:
    """Normalized enrichment factor: lift over its largest value at the quota, T(j) / min(j, P).

    Takes what `hit_rate` takes: labels and scores, or a `Ranking`, and a quota, fraction or budget.

    Returns
    -------
    array, shape (..., *Q)
        From 0 to 1; NaN where nothing is selected and where there are no positives.

    See Also
    --------
    lift : the enrichment factor itself.

    Notes
    -----
    It is the hit rate up to the quota P, and Qrecall from there on: the share of what a perfect
    ranking finds.  The optimistic and the pessimistic policy give bounds.

    References
    ----------
    [Liu 2019].

    Examples
    --------
    >>> from quotakernels.screening import normalized_enrichment_factor
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(normalized_enrichment_factor(y_true, y_score, quota=[1, 2, 4]))
    [1.   0.75 1.  ]
    """
    xp = namespace(wanted)
    found = _positives_within(xp, table, wanted)
    return xp.maximum(_hit_rate(xp, table, wanted, found), _qrecall(xp, table, wanted, found))


@measure(Measure, greater_is_better=None, by_sums=True, by_counts=True)
def lift_table(table: ops.TieTable, *, bins: int = 10) -> LiftTable:
    """Lift and KS of each of `bins` parts of equal size, such as deciles, best examples first.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    bins : int
        Number of bins, from 1 to 2**24.

    Returns
    -------
    LiftTable
        Lifts, ``qrecall`` and ``capture`` are NaN where there are no positives, ``fpr`` where there
        are no negatives, and ``ks`` in both cases.  Without examples everything is NaN.

    See Also
    --------
    quotakernels.points.kolmogorov_smirnov : the largest of all cuts, which no table exceeds.

    Notes
    -----
    The edges i·n/bins may be fractional.  A bin then takes a part of an example, just as a quota
    does, so no bin is empty, all are of one size, and the lifts have the mean 1.  The tie
    policies bound the cumulative columns, not the columns of a single bin.  Programs that make
    bins of whole examples, or of whole tie groups, have tables that are a little different.

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
    >>> print(table.capture.round(3), table.fpr.round(3), table.ks.round(3))
    [0.583 0.417] [0.375 1.   ] [0.208 0.   ]
    """
    bins = size_of("bins", bins, most=MOST_POINTS)
    xp = namespace(table[0])
    total = Totals(xp, table, summed=True)
    whole, positives = (xp.expand_dims(x, axis=-1) for x in (total.whole, total.positive))
    edge = xp.arange(bins + 1, dtype=whole.dtype, device=device(whole))
    edges = edge * whole / bins * (whole / whole)  # NaN where there are no examples
    ends = _positives_within(xp, table, edges)
    found = ends.numerator / ends.denominator
    start, stop = edges[..., :-1], edges[..., 1:]
    size = stop - start
    inside = xp.minimum(found[..., 1:] - found[..., :-1], size)
    cumulative, recall = found[..., 1:] / stop, found[..., 1:] / positives
    if total.rounded:
        inside = xp.clip(inside, min=0.0)
        cumulative, recall = (f(xp, table, edges, ends)[..., 1:] for f in (_hit_rate, _qrecall))
    share, prevalence = inside / size, positives / whole
    lifts = share / prevalence, cumulative / prevalence
    fpr = _negatives_found(xp, total, stop, found[..., 1:])
    captured = inside / positives, fpr, recall - fpr
    return LiftTable(start, stop, inside, share, lifts[0], cumulative, lifts[1], recall, *captured)


def _negatives_found(xp: Namespace, total: Totals, quota: Array, found: Array) -> Array:
    """The share of the negatives within quotas of which the positives are known; all at the end."""
    whole, positive, negative = (xp.expand_dims(x, axis=-1) for x in total)
    wrong, every = xp.clip(quota - found, 0.0), negative
    if total.rounded:
        every = wrong + xp.clip((whole - quota) - (positive - found), 0.0)
    return xp.nan_unless(negative > 0, wrong / every)


# curves: the values at every cut


@plainly
class Curve(NamedTuple, Generic[T]):
    """A measure at every cut: cut g selects the first g tie groups, cut 0 nothing.

    A ranking of G rows has G + 1 cuts; rows that are padding repeat the cut before them.  Between
    two cuts T is a straight line; for values there use the measure with ``quota=``.

    Attributes
    ----------
    quota : array, shape (..., G + 1)
        Number of the selected examples, a whole number; with weights their mass, a float.  Where
        values cannot be read the whole numbers come as floats, NaN in a row with a bad value.
    value : array, shape (..., G + 1)
        The measure; NaN where it is undefined.
    threshold : array, shape (..., G + 1)
        Score of the last selected example: ``score >= threshold`` selects.  NaN at cut 0.  In
        the dtype of the scores, or in a float dtype where they are integers.
    """

    quota: Any
    value: T
    threshold: T | Any


def above_cuts(xp: Namespace, table: ops.TieTable, column: Array) -> Array:
    """Sums of the rows above each cut, shape (..., G + 1).

    Of S groups of examples there are G + S cuts: one below each row, and then the empty ones.
    """
    if table.groups:
        return _with_empty(xp, table, xp.running_total(table, column), 0)
    sums = xp.prefix_sum(column)
    return xp.concat([xp.zeros_like(sums[..., :1]), sums], axis=-1)


def below_cuts(xp: Namespace, table: ops.TieTable, column: Array) -> Array:
    """Sums of the rows below each cut.  As a difference of larger sums they would lose digits."""
    if table.groups:
        behind = xp.total_behind(table, column)
        return xp.concat([behind, xp.group_total(table, column)], axis=-1)
    sums = xp.flip(xp.prefix_sum(xp.flip(column, axis=-1)), axis=-1)
    return xp.concat([sums, xp.zeros_like(sums[..., :1])], axis=-1)


def _with_empty(xp: Namespace, table: ops.TieTable, rows: Array, fill: Any) -> Array:
    """What stands at the cuts below all rows, and at the empty ones."""
    number = table.groups.ids.shape[-1] if table.groups else 1
    shape = (*rows.shape[:-1], number)
    empty = xp.full(shape, fill, dtype=rows.dtype, device=device(rows))
    return xp.concat([rows, empty] if table.groups else [empty, rows], axis=-1)


def beside_cuts(xp: Namespace, table: ops.TieTable, x: Array) -> Array:
    """What belongs to each list, shape (...), or to each group, (..., S), beside its cuts."""
    if table.groups:
        return xp.concat([xp.repeat_per_row(table, x), x], axis=-1)
    return xp.expand_dims(x, axis=-1)


def row_ends(xp: Namespace, table: ops.TieTable, x: Array) -> tuple[Array, Array]:
    """What stands at the cut above each row and at that below it, of numbers of all cuts."""
    if not table.groups:
        return x[..., :-1], x[..., 1:]
    rows = table.counts.shape[-1]
    below, empty = x[..., :rows], xp.repeat_per_row(table, x[..., rows:])
    return xp.where(xp.first_rows(table), empty, xp.shift_right(below, 1, 0)), below


def cut_quotas(xp: Namespace, table: ops.TieTable) -> Array:
    """The selected mass at every cut; without weights whole numbers, exact."""
    return above_cuts(xp, table, table.mass)


def cut_masses(xp: Namespace, table: ops.TieTable) -> tuple[Array, Array]:
    """The selected negative and positive mass at every cut; without weights whole numbers."""
    return _mass_at_cuts(xp, table, table.negative), _mass_at_cuts(xp, table, table.positive)


def _mass_at_cuts(xp: Namespace, table: ops.TieTable, column: Array) -> Array:
    sums = xp.rising_sum if table.weighted else xp.prefix_sum
    return _with_empty(xp, table, sums(column), 0)


def _cut_positives(xp: Namespace, table: ops.TieTable) -> Array:
    """The selected positive mass at every cut, as floats."""
    return xp.wide(_mass_at_cuts(xp, table, table.positive))


def real_cuts(xp: Namespace, table: ops.TieTable) -> Array:
    """Which cuts are not padding; the empty ones are none."""
    return _with_empty(xp, table, table.counts > 0, True)


def cut_thresholds(xp: Namespace, table: ops.TieTable) -> Array:
    """The threshold of every cut, NaN for an empty one; padding repeats the group before it."""
    thresholds = _with_empty(xp, table, float_thresholds(xp, table.thresholds), xp.nan)
    if table.groups:
        return thresholds
    filled = table.counts > 0
    places = xp.arange(1, filled.shape[-1] + 1, dtype=xp.int64, device=device(filled))
    owner = xp.running_max(xp.where(filled, places, xp.zeros_like(places)))
    owner = xp.concat([xp.zeros_like(owner[..., :1]), owner], axis=-1)
    return xp.take_last_axis(thresholds, owner)


def curve_of(xp: Namespace, table: ops.TieTable, value: Array) -> Curve:
    """A value at every cut, with its quota and its threshold."""
    return Curve(cut_quotas(xp, table), value, cut_thresholds(xp, table))


def float_thresholds(xp: Namespace, thresholds: Array) -> Array:
    """Thresholds in a type that has NaN."""
    if not xp.of_kind(thresholds.dtype, "real floating"):
        return xp.wide(thresholds)
    return thresholds


@measure(Measure, greater_is_better=None)
def hit_rate_curve(table: ops.TieTable) -> Curve:
    """Hit rate at every cut: the share of positives among the selected ([AR] eq. 4).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    Curve
        ``value`` is from 0 to 1, and NaN at the empty cut.

    References
    ----------
    [AR] eq. 4 and section 2.2.3.

    Examples
    --------
    >>> from quotakernels import hit_rate_curve
    >>> curve = hit_rate_curve([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(curve.quota, curve.threshold)
    [0 1 3 4 5] [nan 0.9 0.8 0.6 0.1]
    >>> print(curve.value.round(3))
    [  nan 1.    0.667 0.75  0.6  ]
    """
    xp = namespace(table.counts)
    quota, positive = cut_quotas(xp, table), _cut_positives(xp, table)
    return Curve(quota, positive / xp.cast(quota, positive.dtype), cut_thresholds(xp, table))


@measure(Measure, greater_is_better=None)
def qrecall_curve(table: ops.TieTable) -> Curve:
    """Qrecall at every cut: the share of all positives that is selected ([AR] eq. 6).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    Curve
        ``value`` rises from 0 to 1; all NaN where there are no positives.

    References
    ----------
    [AR] eq. 6.

    Examples
    --------
    >>> from quotakernels import qrecall_curve
    >>> curve = qrecall_curve([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(curve.quota, curve.value.round(3))
    [0 1 3 4 5] [0.    0.333 0.667 1.    1.   ]
    """
    xp = namespace(table.counts)
    positive = _cut_positives(xp, table)
    return curve_of(xp, table, xp.rate(positive, positive[..., -1:]))


@measure(Measure, greater_is_better=None)
def lift_curve(table: ops.TieTable) -> Curve:
    """Cumulative lift at every cut: the hit rate divided by the prevalence.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    Curve
        ``value`` is NaN at the empty cut, and everywhere if there are no positives.

    References
    ----------
    [AR] eq. 4 and section 2.2.5.

    Examples
    --------
    >>> from quotakernels import lift_curve
    >>> curve = lift_curve([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(curve.quota, curve.value.round(3))
    [0 1 3 4 5] [  nan 1.667 1.111 1.25  1.   ]
    """
    xp = namespace(table.counts)
    quota, positive = cut_quotas(xp, table), _cut_positives(xp, table)
    total = Totals(xp, table)
    prevalence = xp.expand_dims(total.positive / total.whole, axis=-1)
    value = (positive / xp.cast(quota, positive.dtype)) / prevalence
    # XLA knows that the first numerator is 0, and on the CPU takes (0/0)·x for 0.
    value = xp.nan_unless(quota > 0, value)
    return Curve(quota, value, cut_thresholds(xp, table))


# Pearson's correlation


Labels: TypeAlias = Literal["expected", "observed"]
_Numbers: TypeAlias = Callable[[], Iterable[Array]]
"""What gives the numbers of each part of a table."""


class _Moments(NamedTuple):
    """Mass, its sum of scores and of labels, and the three centred second moments."""

    mass: Array
    score: Array
    label: Array
    score_score: Array
    score_label: Array
    label_label: Array


class _Part(NamedTuple):
    """The mass taken of a tie group, and the group's own mass, positive mass and score.

    `within` is the variance of its labels; None if its expected label is correlated, of which it
    has one only.
    """

    taken: Array
    mass: Array
    positive: Array
    score: Array
    within: Array | None


def _again(parts: list[ops.TieTable], make: Callable[[], Iterator[Array]]) -> _Numbers:
    """What is made for each part, made anew for each reader where all together may be long."""
    if len(parts) > 1:
        return make
    made = list(make())
    return lambda: made


def _relative_scores(xp: Namespace, parts: list[ops.TieTable]) -> Iterable[Array]:
    """Scores minus the best one of the list or group, in units of their range; 0 in empty rows.

    Squares of such numbers neither lose an offset's worth of digits nor overflow.
    """
    filled = _again(parts, lambda: (part.counts > 0 for part in parts))
    scores = _near_one(xp, parts, filled)
    first = next(iter(scores()))
    inf = xp.constant(xp.inf, first.dtype, device(first))
    counted = (xp.where(there, x, -inf) for x, there in zip(scores(), filled(), strict=True))
    best = _largest(xp, parts, counted)

    def below_best() -> Iterator[Array]:
        for x, there in zip(scores(), filled(), strict=True):
            yield xp.where(there, x - best, xp.zeros_like(x))

    below = _again(parts, below_best)
    span = _largest(
        xp, parts, (xp.where(xp.isfinite(x), xp.abs(x), xp.zeros_like(x)) for x in below())
    )
    span = xp.where(span > 0, span, xp.ones_like(span))
    return (x / span for x in below())


def _near_one(xp: Namespace, parts: list[ops.TieTable], filled: _Numbers) -> _Numbers:
    """The scores times a power of two for each list or group, where they are far from 1.

    Then their range is no more than the largest float, and they are not subnormal.
    """

    def size(scores: Array, filled: Array) -> Array:
        key = xp.order_key(xp.abs(scores))
        return xp.where(filled & xp.isfinite(scores), key, xp.zeros_like(key))

    wide = _again(parts, lambda: (xp.widened(part.thresholds) for part in parts))
    largest = _largest(xp, parts, map(size, wide(), filled()))
    largest = xp.from_order_key(largest, next(iter(wide())).dtype)
    power = usual_unit(xp, largest)
    if power is None:
        return wide
    return _again(parts, lambda: (xp.scaled(x, power) for x in wide()))


def _largest(xp: Namespace, parts: list[ops.TieTable], numbers: Iterable[Array]) -> Array:
    """The largest number of all parts of a list, shape (..., 1), or of the group of each row."""
    if parts[0].groups:
        return xp.repeat_per_row(parts[0], xp.group_max(parts[0], *numbers))
    return reduce(xp.maximum, (xp.max(x, axis=-1, keepdims=True) for x in numbers))


def _moment_steps(
    xp: Namespace, mass: Array, score: Array, label: Array, part: _Part
) -> Iterator[Array]:
    """What a part adds to the second moments of what is before it (the parallel-variance rule).

    Nothing where there is no mass before it, but for the variance within, or none in it.
    """
    share = mass * (part.taken / divisor(xp, mass + part.taken))
    gap = part.score - score / divisor(xp, mass)
    weighted = gap * share
    yield gap * weighted
    del gap
    # a difference of fractions over their common denominator: exactly 0 where they are equal
    unequal = part.positive * mass - label * part.mass
    label_gap = unequal / divisor(xp, part.mass * mass)
    del unequal
    yield label_gap * weighted
    del weighted
    between = label_gap * label_gap * share
    yield between if part.within is None else between + part.taken * part.within


def _moments_before(
    xp: Namespace, table: ops.TieTable, labels: Labels
) -> Iterator[tuple[Iterator[Array], _Part]]:
    """For each part of a table: the moments of all rows before each of its rows, and these.

    The moments are made one after the other, since each may be as long as the table.
    """
    wide, parts = xp.wide_float(device(table.counts)), xp.in_parts(table)
    ends: list[Array | None] = [None] * len(_Moments._fields)

    def before(column: int, x: Array) -> Array:
        if table.groups:
            exact = column in (0, 2) and not table.weighted
            return xp.row_before(table, xp.running_total(table, x, exact))
        sums = xp.exclusive(x, ends[column])
        if len(parts) > 1:
            ends[column] = sums[..., -1:] + x[..., -1:]
        return sums

    for part, score in zip(parts, _relative_scores(xp, parts), strict=True):
        mass, positive = (xp.cast(x, wide) for x in (part.mass, part.positive))
        row = _Part(mass, mass, positive, score, _variance_within(xp, part, labels))
        first = before(0, mass), before(1, mass * score), before(2, positive)
        yield chain(first, map(before, count(3), _moment_steps(xp, *first, row))), row


def _variance_within(xp: Namespace, table: ops.TieTable, labels: Labels) -> Array | None:
    """The variance of the labels of each group; None of expected ones, which are all the same."""
    if labels == "expected":
        return None
    check_choice("labels", labels, "expected", "observed")
    mass = divisor(xp, xp.wide(table.mass))
    positive, negative = (xp.wide(x) / mass for x in (table.positive, table.negative))
    return positive * negative


def _correlation(xp: Namespace, before: _Moments, part: _Part) -> Array:
    """Correlation over what stands before and a part; NaN where either does not vary."""
    steps = _moment_steps(xp, before.mass, before.score, before.label, part)
    score, both, label = (x + step for x, step in zip(before[3:], steps, strict=True))
    varies = (score > 0) & (label > 0)
    value = both / (xp.sqrt(score) * xp.sqrt(label))
    value = xp.clip(value, -1.0, 1.0)
    return xp.nan_unless(varies, value)


@measure(
    Measure,
    numbers=wanted_masses,
    greater_is_better=None,
    by_group=True,
    advice=', and labels="observed": with the expected labels few distinct scores make it large',
)
def pearson(table: ops.TieTable, wanted: Array, *, labels: Labels = "expected") -> Array:
    """Pearson's correlation of the j best scores with their labels ([AR] eq. 8-11).

    Takes what `hit_rate` takes: labels and scores, or a `Ranking`, and a quota, fraction or budget.

    Parameters
    ----------
    labels : {"expected", "observed"}
        The labels that are correlated with the scores.  "expected" is the share of positives in the
        tie group of each example ([AR] eq. 5); "observed" is its own label, 0 or 1.

    Returns
    -------
    array, shape (..., *Q), or (..., S, *Q) of S groups
        From -1 to 1; NaN where the scores or these labels within the quota do not vary, and where
        a score within the quota is infinite.

    Notes
    -----
    The moments are those of a population.  A quota that ends inside a group takes that part of the
    group's mass, positives and negatives alike.  This is the only measure that computes with the
    scores, so it changes when they are transformed.  The optimistic and the pessimistic policy give
    no bounds here.

    With expected labels, few distinct scores make the value large by themselves, and two distinct
    scores make it 1, -1 or NaN: a coin toss gets 1.  So this measure has no direction, and
    `compare` asks for `greater_is_better`.  Compare models by observed labels.  These have the same
    covariance with the scores and the variance h(1 - h), where h is the hit rate; the result is the
    point-biserial correlation.  If no tie group has both classes, both correlations are the same.

    Moments are updated from tie group to tie group, without differences of sums of squares, so a
    common offset of the scores costs no digits.

    References
    ----------
    [AR] eq. 8-11.

    Examples
    --------
    >>> from quotakernels import pearson
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(pearson(y_true, y_score, quota=[1, 3, 5]).round(3))
    [  nan 1.    0.708]
    >>> print(pearson(y_true, y_score, quota=[1, 3, 5], labels="observed").round(3))
    [ nan 0.5  0.54]
    """
    return correlation_within(namespace(wanted), table, wanted, labels)


def correlation_within(xp: Namespace, table: ops.TieTable, wanted: Array, labels: Labels) -> Array:
    """The correlation within each wanted mass, shape (..., K), or (..., S, K) of groups."""
    table = xp.head(table, wanted)
    index, _ = xp.rows_at(table, wanted)
    start, value = 0, wanted
    for moments, row in _moments_before(xp, table, labels):
        length = row.mass.shape[-1]
        is_whole = length == table.counts.shape[-1]
        at = index if is_whole else xp.clip(index - start, 0, length - 1)
        before = _Moments(*(xp.column_at(table, x, at) for x in moments))
        part = _Part(*(None if x is None else xp.column_at(table, x, at) for x in row))
        part = part._replace(taken=xp.minimum(wanted - before.mass, part.mass))
        here = _correlation(xp, before, part)
        value = here if is_whole else xp.where(index >= start, here, value)
        start += length
    return value


@measure(Measure, greater_is_better=None)
def pearson_curve(table: ops.TieTable, *, labels: Labels = "expected") -> Curve:
    """Pearson's correlation of the selected scores with their labels, at every cut ([AR] eq. 8-11).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    labels : {"expected", "observed"}
        "expected" correlates scores with the share of positives in their tie group, "observed" with
        each example's own label.

    Returns
    -------
    Curve
        ``value`` is NaN where `pearson` is NaN, such as at the empty cut and the one after it.

    References
    ----------
    [AR] eq. 8-11.

    Examples
    --------
    >>> from quotakernels import pearson_curve
    >>> curve = pearson_curve([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(curve.quota, curve.value.round(3))
    [0 1 3 4 5] [   nan    nan  1.    -0.229  0.708]
    """
    xp = namespace(table.counts)
    values = [
        _correlation(xp, _Moments(*moments), row)
        for moments, row in _moments_before(xp, table, labels)
    ]
    value = xp.concat([xp.full_like(values[0][..., :1], xp.nan), *values], axis=-1)
    return curve_of(xp, table, value)
