"""One quota over all examples, and what each group of them gets of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, compiled, namespace, tree_map
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.cuts import wanted_masses, whole_if_close
from quotakernels.inputs.numbers import numbers_like
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures.at_quota.hit_rate import positives_at


@plainly
class SelectionByGroup(NamedTuple, Generic[T]):
    """What each group gets of one quota over all examples, and how far the groups are apart.

    Attributes
    ----------
    selected : array, shape (..., S, *Q)
        Expected number (or mass) of examples of the group that are selected.
    found : array, shape (..., S, *Q)
        Expected number (or mass) of positives among them.
    selection_rate : array, shape (..., S, *Q)
        The share of the group that is selected.
    hit_rate : array, shape (..., S, *Q)
        The share of positives among its selected.
    qrecall : array, shape (..., S, *Q)
        The share of its positives that are selected, its true positive rate.
    demographic_parity_ratio : array, shape (..., *Q)
        The smallest selection rate over the largest.
    equal_opportunity_difference : array, shape (..., *Q)
        The largest Qrecall minus the smallest.
    found_by_split : array, shape (..., S, *Q)
        The positives found in the group if each group has its own quota, in proportion to its size,
        or its own budget, in proportion to its cost.
    split_cost : array, shape (..., *Q)
        How many fewer positives these quotas find in total; negative if they find more.
    """

    selected: T
    found: T
    selection_rate: T
    hit_rate: T
    qrecall: T
    demographic_parity_ratio: T
    equal_opportunity_difference: T
    found_by_split: T
    split_cost: T


def _wanted_over_all(
    xp: Namespace,
    table: ops.Groups,
    *,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
) -> tuple[tuple[Array, Array], tuple[int, ...]]:
    """The wanted masses of all groups together, shape (..., K), and of each in proportion, shape
    (..., S, K).
    """
    if not table.segments:
        raise TypeError("selection_by_group needs groups, the group of each example")
    paid = budget is not None and "cost" in table.columns
    together = compiled(_together, xp)(table) if paid else table._replace(segments=())
    (wanted,), shape = wanted_masses(xp, together, quota=quota, fraction=fraction, budget=budget)
    if not paid:
        return (wanted, compiled(_in_proportion, xp)(table, wanted)), shape
    money = xp.reshape(numbers_like(table.counts, "budget", budget), (-1,))
    return (wanted, compiled(_paid_in_proportion, xp)(table, wanted, money)), shape


def _in_proportion(table: ops.Groups, wanted: Array) -> Array:
    xp = namespace(wanted)
    whole = Totals(xp, table).whole
    everybody = ops.total(xp, whole)[..., None, None]
    return whole_if_close(xp, wanted[..., None, :] * whole[..., None] / everybody)


def _paid_in_proportion(table: ops.Groups, wanted: Array, money: Array) -> Array:
    """What each group's part of the money pays for; nobody costs nothing, or all do."""
    xp = namespace(wanted)
    total = Totals(xp, table)
    whole, cost = total.whole[..., None], total.cost[..., None]
    spent = xp.sum(cost, axis=-2, keepdims=True)
    own = xp.minimum(money * cost / xp.where(spent > 0, spent, xp.ones_like(spent)), cost)
    found = xp.minimum(ops.mass_within(xp, table, own), whole)
    found = xp.where(own < cost, found, whole)
    undefined = xp.isnan(wanted)[..., None, :]
    return ops.nan_unless(xp, ~undefined, found)


class _SelectionByGroup(Measure):
    validator = staticmethod(_wanted_over_all)
    over_groups = True


@measure(_SelectionByGroup, greater_is_better=None, by_group=True)
def selection_by_group(table: ops.Groups, wanted: Array, apart: Array) -> SelectionByGroup[Array]:
    """One quota or budget over all examples, and what each group gets of it.

    Takes labels and scores with `groups`, or a `Ranking` that was made with groups; the other
    keywords are those of `rank`.

    Parameters
    ----------
    quota, fraction, budget : number or array, shape Q, optional
        As in `hit_rate`, of all examples together.

    Returns
    -------
    SelectionByGroup
        A rate of a group without examples, selected examples or positives is NaN, and is left out
        of the ratio and the difference.  Everything is NaN if a group has a bad value that could
        not be read.

    Raises
    ------
    TypeError
        No groups.
    ValueError
        A quota or budget that `hit_rate` refuses.

    See Also
    --------
    hit_rate, qrecall : with `groups`, a quota of each group.

    Notes
    -----
    Groups that are tied where the quota ends share the remaining places in proportion to their tied
    examples.  Within a group the tie policy says which of these are selected.  With weights all
    numbers are masses.  The ratio and the difference say how far the groups are apart at this
    quota, but not why.

    References
    ----------
    [Hardt 2016], equal opportunity; [Feldman 2015], the ratio of selection rates; [Bird 2020], the
    names.

    Examples
    --------
    >>> from quotakernels.groups import selection_by_group
    >>> y_true, y_score = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.6, 0.1]
    >>> region = ["n", "n", "n", "s", "s", "s"]
    >>> found = selection_by_group(y_true, y_score, groups=region, quota=4)
    >>> print(found.selected, found.found, found.hit_rate.round(2), found.qrecall)
    [3. 1.] [2.  0.5] [0.67 0.5 ] [1.  0.5]
    >>> print(found.demographic_parity_ratio.round(2), found.equal_opportunity_difference)
    0.33 0.5
    >>> print(found.found_by_split, found.split_cost)
    [1. 1.] 0.5
    """
    xp, number = namespace(wanted), wanted.shape[-1]
    if number == 1:
        return _quota_last(xp, _at_one_quota(table, wanted, apart[..., 0]))

    def each(x: Array) -> Array:
        """One more axis before the last, of the quotas."""
        return xp.broadcast_to(x[..., None, :], (*x.shape[:-1], number, x.shape[-1]))

    ids, starts, of_row, *_ = table.segments
    segments = ops.Segments(*map(each, (ids, starts, of_row)))
    wide = table.map(each)._replace(segments=segments)
    split = xp.matrix_transpose(apart)
    found = _at_one_quota(wide, xp.expand_dims(wanted, axis=-1), split)
    return tree_map(lambda x: x if x.shape == wanted.shape else xp.matrix_transpose(x), found)  # type: ignore[no-any-return]


def _quota_last(xp: Namespace, found: SelectionByGroup[Array]) -> SelectionByGroup[Array]:
    return SelectionByGroup(*(xp.expand_dims(x, axis=-1) for x in found))


class _Edge(NamedTuple):
    """Where the quota ends in all groups together, shapes (..., 1): the key, how many are tied
    there, and how many of these are taken.
    """

    key: Array
    tied: Array
    taken: Array


def _at_one_quota(table: ops.Groups, wanted: Array, split: Array) -> SelectionByGroup[Array]:
    """The same for one quota, shape (..., 1), and one of each group, shape (..., S): fields of
    shapes (..., S) and (...).
    """
    xp = namespace(wanted)
    edge = _edge(xp, table, wanted)
    total = Totals(xp, table)
    selected, found = _shares(xp, table, edge)
    size = ops.nan_unless(xp, total.whole > 0, total.whole)
    by_split = positives_at(xp, table, split[..., None])[..., 0]
    rate = _share(xp, selected / (edge.tied * size))
    recall = _share(xp, found / (edge.tied * total.positive))
    lowest, highest = _ends(xp, rate)
    least, most = _ends(xp, recall)
    return SelectionByGroup(
        selected / edge.tied,
        found / edge.tied,
        rate,
        _share(xp, found / selected),
        recall,
        lowest / highest,
        most - least,
        by_split,
        ops.total(xp, found) / edge.tied[..., 0] - ops.total(xp, by_split),
    )


def _share(xp: Namespace, value: Array) -> Array:
    """A share, which rounded sums of weights may lift above 1 by an ulp."""
    return ops.at_most(xp, value, 1.0)


def _ends(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """The least and the most of a value of groups, of those that have one."""
    there = xp.any(x == x, axis=-1)
    low = xp.min(xp.where(x == x, x, xp.full_like(x, xp.inf)), axis=-1)
    high = xp.max(xp.where(x == x, x, xp.full_like(x, -xp.inf)), axis=-1)
    return ops.nan_unless(xp, there, low), ops.nan_unless(xp, there, high)


def _keys(xp: Namespace, table: ops.Groups) -> Array:
    """The score of each row as a number; rows without examples are last."""
    key = ops.order_key(xp, table.thresholds)
    return xp.where(table.counts > 0, key, ops.lowest_key(xp, key))


def _edge(xp: Namespace, table: ops.Groups, wanted: Array) -> _Edge:
    """Where the quota ends when the rows of all groups are ranked together."""
    together = _together(table)
    index, row = ops.rows_at(xp, together, wanted)
    tied = xp.where(row.mass > 0, row.mass, xp.ones_like(row.mass))
    taken = xp.minimum(wanted - row.mass_before, row.mass)  # sums are rounded
    return _Edge(ops.column_at(xp, together, together.thresholds, index), tied, taken)


def _together(table: ops.Groups) -> ops.Groups:
    """The rows of all groups as one table, best first, in which keys stand for thresholds."""
    xp = namespace(table.counts)
    key = _keys(xp, table)
    order = xp.argsort(key, axis=-1, descending=True, stable=True)
    columns = {name: x for name, x in table.columns.items() if name == "cost"}
    rows = table._replace(thresholds=key, columns=columns)
    rows = rows.map(lambda x: ops.taken(xp, x, order))
    key = rows.thresholds
    last = xp.ones_like(key[..., :1]) == 1
    last = xp.concat([key[..., 1:] != key[..., :-1], last], axis=-1)
    return ops.merged(xp, rows, last)._replace(segments=())


def _shares(xp: Namespace, table: ops.Groups, edge: _Edge) -> tuple[Array, Array]:
    """How much of each group is selected, and the positives of that, `tied` times."""
    key, dtype = _keys(xp, table), edge.taken.dtype
    there = table.counts > 0
    above, at = there & (key > edge.key), there & (key == edge.key)
    mass, positive = (cast(xp, x, dtype) for x in (table.mass, table.positive))
    nothing = xp.zeros_like(mass)

    def of_groups(rows: Array, x: Array) -> Array:
        return ops.group_total(xp, table, xp.where(rows, x, nothing))

    here = xp.where(at, mass, nothing)
    own = of_groups(at, mass)
    before = ops.running_total(xp, table, here) - here
    part = ops.spread(xp, table, edge.taken * own) - edge.tied * before
    part = xp.minimum(xp.maximum(part, nothing), edge.tied * here)
    part = part / xp.where(here > 0, here, xp.ones_like(here))
    selected = edge.tied * of_groups(above, mass) + edge.taken * own
    return selected, edge.tied * of_groups(above, positive) + of_groups(at, part * positive)
