"""What the selected cost, and what a unit of cost finds or brings."""

from __future__ import annotations

from quotakernels import ops
from quotakernels._array import Array
from quotakernels.inputs.cuts import wanted_masses
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures.at_quota.curves import Curve, above_cuts, cut_quotas, cut_thresholds
from quotakernels.measures.at_quota.hit_rate import positives_at
from quotakernels.measures.gains import net_gain
from quotakernels.ops import namespace


class _CostMeasure(Measure):
    """A measure of what the selected cost."""

    validator = staticmethod(wanted_masses)
    of_costs = True


class _GainPerCost(Measure):
    """What a unit of cost brings."""

    validator = staticmethod(wanted_masses)
    of_gains = of_costs = True


class _BudgetCurve(Measure):
    of_costs = True


@measure(_CostMeasure, greater_is_better=None, in_masses=True, by_group=True)
def cost_at_quota(table: ops.Groups, wanted: Array) -> Array:
    """Total cost of the selected examples; a tie group at the edge counts in part.

    Takes what `hit_rate` takes, and `cost` as `rank` does; or a `Ranking` that was made with it.

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
    return ops.cost_within(namespace(wanted), table, wanted)


@measure(_CostMeasure, greater_is_better=True, in_masses=True, by_group=True)
def positives_per_cost(table: ops.Groups, wanted: Array) -> Array:
    """Positives per unit of cost: T(j) divided by the cost of the selected.

    Takes what `hit_rate` takes, and `cost` as `rank` does; or a `Ranking` that was made with it.
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
    return _per(positives_at(xp, table, wanted), ops.cost_within(xp, table, wanted))


@measure(_GainPerCost, greater_is_better=True, in_masses=True, by_group=True)
def gain_per_cost(table: ops.Groups, wanted: Array) -> Array:
    """Gain per unit of cost: `impact_at_quota`'s ``net`` divided by the cost of the selected.

    Takes what `hit_rate` takes, and `gain` and `cost` as `rank` does; or a `Ranking` that was made
    with both.

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
    return _per(net_gain(table, wanted), ops.cost_within(xp, table, wanted))


def _per(found: Array, cost: Array) -> Array:
    """The quotient; of nothing for nothing NaN, also where XLA knows that the first is 0."""
    xp = namespace(found)
    undefined = (found == 0) & (cost == 0)
    return xp.nan_unless(~undefined, found / cost)


@measure(_BudgetCurve, greater_is_better=None, in_masses=True)
def budget_curve(table: ops.Groups) -> Curve:
    """Total cost of the selected examples at every cut: see `Curve`.

    Takes labels and scores, and `cost` as `rank` does; or a `Ranking` that was made with it.

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
    return Curve(
        cut_quotas(xp, table),
        above_cuts(xp, table, table.columns["cost"].whole),
        cut_thresholds(xp, table),
    )
