"""Budgets: how much of the best their running cost allows; and what a quota costs, and has of
other sums.
"""

from __future__ import annotations

from quotakernels._array import Array, Namespace, cast
from quotakernels.ops._table import Groups
from quotakernels.ops.segments import column_at, first_beyond, running_total
from quotakernels.ops.tables import rows_at


def mass_within(xp: Namespace, table: Groups, budget: Array) -> Array:
    """The mass of the best that each budget pays for, shape (..., K), or (..., S, K) of groups.

    They are the rows down to the first whose end costs more, and of this one the part that the rest
    of the budget pays for.  What is free is taken as soon as all above it is.
    """
    cost = table.columns["cost"].whole
    spent = running_total(xp, table, cost)
    index = _first_beyond(xp, table, spent, budget)
    mass = cast(xp, running_total(xp, table, table.mass), budget.dtype)
    spent_before, mass_before = (_before(xp, table, x, index) for x in (spent, mass))
    own, size = (cast(xp, column_at(xp, table, x, index), budget.dtype) for x in (cost, table.mass))
    one = xp.ones_like(own)
    share = xp.where(own > 0, (budget - spent_before) / xp.where(own > 0, own, one), one)
    found = mass_before + xp.minimum(share, one) * size
    as_mass = (spent_before == mass_before) & (own == size) & (share <= one)
    return xp.where(as_mass, budget, found)  # where costs are masses, as they are, not rounded


def cost_within(xp: Namespace, table: Groups, wanted: Array) -> Array:
    """What the best of each wanted mass cost, shape (..., K), or (..., S, K) of groups."""
    return sums_within(xp, table, wanted, table.columns["cost"].whole)[0]


def sums_within(xp: Namespace, table: Groups, wanted: Array, *columns: Array) -> list[Array]:
    """Of sums of the rows, what the best of each wanted mass have; of the last row the part."""
    index, row = rows_at(xp, table, wanted)
    one = xp.ones_like(wanted)
    share = (wanted - row.mass_before) / xp.where(row.mass > 0, row.mass, one)
    share = xp.minimum(share, one)

    def within(column: Array) -> Array:
        own = column_at(xp, table, column, index)
        return _before(xp, table, running_total(xp, table, column), index) + share * own

    return [within(x) for x in columns]


def _first_beyond(xp: Namespace, table: Groups, spent: Array, budget: Array) -> Array:
    """The row in which each budget ends, or the last one."""
    if table.segments:
        return first_beyond(xp, table, spent, budget)
    return xp.clip(xp.bisect(spent, budget, beyond=True), max=spent.shape[-1] - 1)


def _before(xp: Namespace, table: Groups, sums: Array, index: Array) -> Array:
    """Running sums before a row, which begin anew in each group of examples."""
    found = column_at(xp, table, sums, xp.clip(index - 1, min=0))
    start = xp.expand_dims(table.segments.starts[..., :-1], axis=-1) if table.segments else 0
    return xp.where(index <= start, xp.zeros_like(found), found)
