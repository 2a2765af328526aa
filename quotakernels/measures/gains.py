"""What decisions bring and cost, where every example has a gain or a cost of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, tolerance
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.cuts import wanted_masses
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures.at_quota import (
    Curve,
    above_cuts,
    below_cuts,
    beside_cuts,
    curve_of,
    positives_at,
)
from quotakernels.measures.tables.best_cut import SAME_VALUE, BestBoundary, best_of_these
from quotakernels.measures.tables.confusion import (
    ConfusionTable,
    at_cuts,
    cells_as_floats,
    cells_at_thresholds,
)
from quotakernels.ops import namespace


class RowShares(NamedTuple):
    """Rows in which selections end, shape (..., K), and the share of each, ``part / unit``, that is
    selected.
    """

    index: Array
    part: Array
    unit: Array


def cut_at_quotas(table: ops.TieTable, wanted: Array) -> RowShares:
    """Where the wanted masses end; the whole mass takes every row, however sums are rounded."""
    xp = namespace(wanted)
    index, row = xp.rows_at(table, wanted)
    one = xp.ones_like(wanted)
    unit = xp.where(row.mass > 0, row.mass, one)
    part = xp.minimum(wanted - row.mass_before, unit)  # rounded sums may overshoot
    if table.weighted:  # products with masses of any size could overflow
        part, unit = part / unit, one
    everybody = wanted >= xp.expand_dims(Totals(xp, table).whole, axis=-1)
    last = xp.last_row(table, index)
    return RowShares(xp.where(everybody, last, index), xp.where(everybody, unit, part), unit)


def selected(table: ops.TieTable, column: Array, cut: RowShares) -> Array:
    """The sums of a column above each cut, times its `unit`; in whole numbers they are exact."""
    return _beside(namespace(cut.part).sums_before, table, column, cut, cut.part)


def rejected(table: ops.TieTable, column: Array, cut: RowShares) -> Array:
    """The sums of a column below each cut, times its `unit`; a difference would lose small ones."""
    return _beside(namespace(cut.part).sums_behind, table, column, cut, cut.unit - cut.part)


def _beside(
    sums: Callable[..., Array], table: ops.TieTable, column: Array, cut: RowShares, part: Array
) -> Array:
    xp = namespace(part)
    column = xp.wide(column)
    own = xp.column_at(table, column, cut.index)
    return sums(table, column, cut.index) * cut.unit + own * part


@plainly
class QuotaImpact(NamedTuple, Generic[T]):
    """Total gain at a quota, in the unit of the gains.

    Attributes
    ----------
    whole : array, shape (..., *Q)
        What all examples bring together: `selected` plus `rejected`.
    selected, rejected : array, shape (..., *Q)
        What the selected and what the rejected examples bring.
    net : array, shape (..., *Q)
        `whole` minus what selecting nobody brings.
    """

    whole: T | Any
    selected: T | Any
    rejected: T | Any
    net: T | Any


@measure(
    Measure,
    numbers=wanted_masses,
    needs=("gain",),
    greater_is_better=True,
    headline="whole",
    by_group=True,
)
def impact_at_quota(table: ops.TieTable, wanted: Array) -> QuotaImpact:
    """Total gain of all decisions at a quota, where each example has its own gain ([EL]).

    Σ s_i·gain_i + Σ (1 - s_i)·gain_rejected_i, with s_i the probability of `select`: the
    expectation over the order of ties.

    Takes what `hit_rate` takes, and `gain`, what each example brings if it is selected; or a
    `Ranking` that was made with gains.

    Returns
    -------
    QuotaImpact
        Arrays of shape (..., *Q), or (..., S, *Q) of S groups.  NaN in a row of the batch that has
        no examples, fewer than the quota, or a bad value that cannot be read.

    Raises
    ------
    ValueError
        A gain that is NaN or infinite, unless `where` masks it or its weight is 0.

    See Also
    --------
    best_quota : the quota that brings the most.
    cell_impacts : the means over true and false positives and negatives.
    impact : the same if all examples of a cell bring the same.

    Notes
    -----
    Without weights, whole gains and quotas give the exact value rounded once, while the sums are
    below 2**53.  For other gains the error is at most (n + 8)·2**-53·Σ (|gain| + |gain_rejected|).
    With weights the quota's end is rounded too, by at most n·2**-53 of the whole mass.

    References
    ----------
    [EL] section 6.4, the impact of each output.

    Examples
    --------
    >>> from quotakernels import impact_at_quota
    >>> score, brings = [0.9, 0.8, 0.8, 0.3], [120, 300, -500, 80]
    >>> loans = impact_at_quota(None, score, gain=brings, quota=[1, 2, 3])
    >>> print(loans.whole, loans.net)
    [120.  20. -80.] [120.  20. -80.]
    >>> branch = ["A", "A", "B", "B"]
    >>> print(impact_at_quota(None, score, gain=brings, groups=branch, quota=1).whole)
    [ 120. -500.]
    """
    if_selected, if_rejected = _both_classes(table)
    cut = cut_at_quotas(table, wanted)
    brought = selected(table, if_selected, cut)
    given_up = beside = 0 * cut.part  # NaN where the quota is undefined
    if if_rejected is not None:
        given_up, beside = (side(table, if_rejected, cut) for side in (selected, rejected))
    sums = (brought + beside, brought, beside, brought - given_up)
    return QuotaImpact(*(x / cut.unit for x in sums))


def net_gain(table: ops.TieTable, wanted: Array) -> Array:
    """What the selected bring above what they would bring if they were rejected."""
    if_selected, if_rejected = _both_classes(table)
    cut = cut_at_quotas(table, wanted)
    gained = if_selected if if_rejected is None else if_selected - if_rejected
    return selected(table, gained, cut) / cut.unit


def _both_classes(table: ops.TieTable) -> tuple[Array, Array | None]:
    """What each row brings if it is selected, and if it is not; None where that is nothing."""
    rejected = table.columns.get("gain_rejected")
    return table.columns["gain"].whole, None if rejected is None else rejected.whole


@measure(Measure, numbers=wanted_masses, needs=("gain",), greater_is_better=True, by_group=True)
def value_found(table: ops.TieTable, wanted: Array) -> Array:
    """Value found: the share of the positives' gain that the quota finds, such as of fraud money.

    Σ s_i·gain_i / Σ gain_i over the positives, with s_i the probability of `select`.

    Takes what `hit_rate` takes, and `gain`, what each example is worth; or a `Ranking` that was
    made with gains.

    Parameters
    ----------
    y_true : array or None
        Labels, so that only the positives' gains count, such as the amounts of the fraudulent
        payments.  With None every example's gain counts, such as what each customer spent.

    Returns
    -------
    array, shape (..., *Q)
        From 0 to 1 if no gain is negative; NaN where all gains are 0, and where there are no
        positives.  With `groups` the shape is (..., S, *Q).

    See Also
    --------
    qrecall : the share of the positives that the quota finds.
    impact_at_quota : gains and losses of all decisions.

    Notes
    -----
    The quota counts examples.  Gains as sample weights would make it a sum of money.  Where one
    alert finds all of a card or a customer, rank these: `entities`.

    References
    ----------
    [AR] eq. 6, with gains in place of labels.

    Examples
    --------
    >>> from quotakernels.budgets import value_found
    >>> fraud, score, amount = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], [900, 50, 80, 20, 40]
    >>> print(value_found(fraud, score, gain=amount, quota=[1, 2, 4]))
    [0.9  0.94 1.  ]
    """
    cut, gain = cut_at_quotas(table, wanted), table.columns["gain"].positive
    found, missed = (side(table, gain, cut) for side in (selected, rejected))
    return found / (found + missed)


@measure(
    Measure,
    needs=("gain",),
    greater_is_better=True,
    in_masses=True,
    headline="value",
    by_group=True,
)
def best_quota(table: ops.TieTable) -> BestBoundary:
    """The quota with the largest total gain, where each example has its own gain ([EL], B*).

    Takes what `rank` takes, including gains; or a `Ranking` that was made with gains.

    Returns
    -------
    BestBoundary
        ``value`` and ``curve`` are totals, `impact_at_quota`'s ``whole``.  If several quotas are
        best, the smallest is reported.  NaN in a row of the batch that has no examples, or a bad
        value that cannot be read.

    See Also
    --------
    impact_at_quota : what any quota brings.
    best_boundary : the same where all examples of a cell bring the same.

    Notes
    -----
    All cuts between tie groups are compared.  No other quota is better: between two cuts the total
    is linear in the quota.  Totals count as equal if they differ by at most 2**-49 of Σ (|gain| +
    |gain_rejected|); with weights each term is multiplied by its weight.

    References
    ----------
    [EL] section 4, the boundary of the optimum impact.

    Examples
    --------
    >>> from quotakernels import best_quota
    >>> best = best_quota(None, [0.9, 0.8, 0.8, 0.3], gain=[120, 300, -250, -80])
    >>> print(best.value, best.threshold, best.quota)
    170.0 0.8 3.0
    >>> print(best.curve.value)
    [  0. 120. 170.  90.]
    """
    xp = namespace(table.counts)
    if_selected, if_rejected = _both_classes(table)
    value = above_cuts(xp, table, if_selected)
    if if_rejected is not None:
        value = value + below_cuts(xp, table, if_rejected)
    nobody = beside_cuts(xp, table, Totals(xp, table).whole) == 0
    value = xp.nan_unless(~nobody, value)
    curve = curve_of(xp, table, value)
    best = best_of_these(table, curve, _rounding(xp, table))
    return BestBoundary(*best, () if table.groups else curve)


def _rounding(xp: Namespace, table: ops.TieTable) -> Array:
    """The share `SAME_VALUE` of the sum of all absolute gains, beside the cuts."""
    size = table.columns["gain_size"].whole
    whole = beside_cuts(xp, table, xp.group_total(table, size))
    return tolerance(size, SAME_VALUE) / ops.GAIN_SCALE * whole


def _sums_at_quotas(table: ops.TieTable, wanted: Array) -> tuple[Array, ...]:
    cut = cut_at_quotas(table, wanted)

    def cells(column: ops.ByClass) -> ConfusionTable:
        above, below = ([side(table, x, cut) for x in column] for side in (selected, rejected))
        return ConfusionTable(*above, *below)

    return _sums_in_cells(table, cells)


def _sums_at_thresholds(
    table: ops.TieTable, wanted: Array, *, inclusive: bool = True
) -> tuple[Array, ...]:
    """Sums at thresholds, read as cells of tables with what is summed in place of the masses."""

    def cells(column: ops.ByClass) -> ConfusionTable:
        masses = {"positive_weights": column.positive, "negative_weights": column.negative}
        return cells_at_thresholds(table._replace(**masses), wanted, inclusive=inclusive)

    return _sums_in_cells(table, cells)


def _sums_in_cells(
    table: ops.TieTable, cells: Callable[[ops.ByClass], ConfusionTable]
) -> tuple[Array, ...]:
    """The mass of the examples in each cell, and what they bring."""
    xp = namespace(table.counts)
    masses = cells_as_floats(xp, cells(ops.ByClass(table.positive, table.negative)))
    gain = table.columns["gain"]
    nothing = gain.map(xp.zeros_like)
    if_selected, if_rejected = map(cells, (gain, table.columns.get("gain_rejected", nothing)))
    return (*masses, *if_selected[:2], *if_rejected[2:])


_SUMS_AT = at_cuts(_sums_at_quotas, _sums_at_thresholds)


@measure(Measure, numbers=_SUMS_AT, needs=("gain", "y_true"), greater_is_better=None, by_group=True)
def cell_impacts(_table: ops.TieTable, *sums: Array) -> ConfusionTable:
    """Mean gain of the examples in each cell of a confusion table at a cut ([EL] eq. 11).

    With these impacts, `impact` of that table equals the mean gain of the examples.

    Takes what `confusion_table` takes, and `gain`, what each example brings if it is selected.

    Returns
    -------
    ConfusionTable
        Means of shape (..., *Q): of `gain` over the selected positives and negatives, and of
        `gain_rejected` over the rejected ones.  Where a quota ends among ties, each of them
        counts with its probability of being in the cell.  NaN for an empty cell.

    See Also
    --------
    impact_at_quota : the totals.

    References
    ----------
    [EL] eq. 11.

    Examples
    --------
    >>> from quotakernels.tables import cell_impacts
    >>> repaid, score, brings = [1, 1, 0, 1], [0.9, 0.8, 0.8, 0.3], [120, 300, -500, 80]
    >>> print(*cell_impacts(repaid, score, gain=brings, threshold=0.8))
    210.0 -500.0 0.0 nan
    """
    xp, cells = namespace(sums[0]), zip(sums[4:], sums[:4], strict=True)
    return ConfusionTable(*(xp.nan_unless(mass > 0, gain / mass) for gain, mass in cells))


# what the selected cost


@measure(
    Measure,
    numbers=wanted_masses,
    needs=("cost",),
    greater_is_better=None,
    in_masses=True,
    by_group=True,
)
def cost_at_quota(table: ops.TieTable, wanted: Array) -> Array:
    """Total cost of the selected examples; a tie group at the edge counts in part.

    Takes what `hit_rate` takes, and `cost`, that of each example; or a `Ranking` made with costs.

    Returns
    -------
    array, shape (..., *Q)
        In the unit of the costs; NaN where there are no examples.  With `budget` it is the budget,
        up to rounding.

    References
    ----------
    [AR] eq. 5, with costs in place of labels.

    Examples
    --------
    >>> from quotakernels.budgets import cost_at_quota
    >>> y_true, y_score, hours = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], [2, 1, 3, 1, 4]
    >>> print(cost_at_quota(y_true, y_score, cost=hours, quota=[1, 2, 5]))
    [ 2.  4. 11.]
    """
    return namespace(wanted).cost_within(table, wanted)


@measure(
    Measure,
    numbers=wanted_masses,
    needs=("cost",),
    greater_is_better=True,
    in_masses=True,
    by_group=True,
)
def positives_per_cost(table: ops.TieTable, wanted: Array) -> Array:
    """Positives per unit of cost: T(j) divided by the cost of the selected.

    Takes what `hit_rate` takes, and `cost`, that of each example; or a `Ranking` made with costs.
    Its inverse is the cost of a positive.

    Returns
    -------
    array, shape (..., *Q)
        Infinite where positives cost nothing, NaN where nothing is spent and no positive is found.

    See Also
    --------
    gain_per_cost : gain per unit of cost.

    References
    ----------
    [AR] eq. 5, for T(j).

    Examples
    --------
    >>> from quotakernels.budgets import positives_per_cost
    >>> y_true, y_score, hours = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], [2, 1, 3, 1, 4]
    >>> print(positives_per_cost(y_true, y_score, cost=hours, budget=[2, 4]))
    [0.5   0.375]
    """
    xp = namespace(wanted)
    return _per(positives_at(xp, table, wanted), xp.cost_within(table, wanted))


@measure(
    Measure,
    numbers=wanted_masses,
    needs=("gain", "cost"),
    greater_is_better=True,
    in_masses=True,
    by_group=True,
)
def gain_per_cost(table: ops.TieTable, wanted: Array) -> Array:
    """Gain per unit of cost: `impact_at_quota`'s ``net`` divided by the cost of the selected.

    Takes what `hit_rate` takes, and `gain` and `cost`, what each example brings and costs if it is
    selected; or a `Ranking` that was made with both.

    Returns
    -------
    array, shape (..., *Q)
        In units of gain per unit of cost; NaN for 0/0, infinite where only the cost is 0.

    See Also
    --------
    positives_per_cost : positives per unit of cost.

    References
    ----------
    [EL] section 6.4, the impact of each output.

    Examples
    --------
    >>> from quotakernels.budgets import gain_per_cost
    >>> score, interest, loan = [0.9, 0.8, 0.8, 0.3], [120, 300, -500, 80], [1000, 2000, 500, 400]
    >>> print(gain_per_cost(None, score, gain=interest, cost=loan, budget=[1000, 2250]))
    [0.12       0.00888889]
    """
    xp = namespace(wanted)
    return _per(net_gain(table, wanted), xp.cost_within(table, wanted))


def _per(found: Array, cost: Array) -> Array:
    """The quotient; of nothing for nothing NaN, also where XLA knows that the first is 0."""
    xp = namespace(found)
    undefined = (found == 0) & (cost == 0)
    return xp.nan_unless(~undefined, found / cost)


@measure(Measure, needs=("cost",), greater_is_better=None, in_masses=True)
def budget_curve(table: ops.TieTable) -> Curve:
    """Total cost of the selected examples at every cut, the ends of the tie groups.

    Takes labels, scores and `cost`, that of each example; or a `Ranking` made with costs.  The
    other keywords are those of `rank`.

    Returns
    -------
    Curve
        ``value`` is the budget that each cut spends.

    Notes
    -----
    All curves of a ranking have the same cuts.  So ``qrecall_curve(ranking).value`` over
    ``budget_curve(ranking).value`` is Qrecall over the budget, straight lines between the cuts.

    References
    ----------
    [AR] eq. 5, with costs in place of labels.

    Examples
    --------
    >>> from quotakernels import qrecall_curve, rank
    >>> from quotakernels.budgets import budget_curve
    >>> y_true, y_score, hours = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], [2, 1, 3, 1, 4]
    >>> ranking = rank(y_true, y_score, cost=hours)
    >>> print(budget_curve(ranking).value, qrecall_curve(ranking).value.round(3))
    [ 0.  2.  6.  7. 11.] [0.    0.333 0.667 1.    1.   ]
    """
    xp = namespace(table.counts)
    return curve_of(xp, table, above_cuts(xp, table, table.columns["cost"].whole))
