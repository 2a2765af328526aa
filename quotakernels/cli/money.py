"""Who is selected for a budget: the rows behind the command `select --budget`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels._text import counted, number
from quotakernels.cli.columns import cost_column
from quotakernels.cli.conditions import of_rows
from quotakernels.cli.errors import InputError
from quotakernels.cli.selection import Selection, Ties, best_first, by_group, selected
from quotakernels.evaluation.words import Conditions
from quotakernels.inputs.groups import GroupsOfExamples


@dataclass(frozen=True)
class Money:
    """A budget, the column of costs, and how they rank."""

    budget: float
    cost: str
    over_cost: bool


def money_of(budget: float | None, cost: str | None, over_cost: bool) -> Money | None:
    """Return what the options say of a budget, None if nothing."""
    if budget is None or cost is None:
        if budget is not None:
            raise click.UsageError("--budget needs --cost.")
        if cost is not None or over_cost:
            raise click.UsageError("--cost and --over-cost go with --budget.")
        return None
    return Money(budget, cost, over_cost)


def select_paid(
    table: pa.Table,
    scores: NDArray[Any],
    money: Money,
    typed: pa.Table,
    where: Conditions,
    ties: Ties,
    per: tuple[str, GroupsOfExamples] | None = None,
) -> Selection:
    """Return the best rows that a budget pays for.

    With a column and its groups each group has the budget, and they come one after the other.
    """
    cost = of_rows(typed, where, lambda rows: cost_column(rows, money.cost))
    if money.over_cost:
        scores = _over_cost(scores, cost)
    limit: dict[str, Any] = {"cost": cost, "budget": money.budget, "when_short": "all"}
    limit |= {} if per is None else {"groups": per[1].codes}
    parts = qk.select(scores, **limit, **ties.argument)
    rows = best_first(scores, np.flatnonzero(parts))
    spent, many = number(float(parts @ cost)), counted(float(parts.sum()), "row", "rows")
    said = f"{many} for {spent}, of a budget of {number(money.budget)}"
    order = "best first by score over cost" if money.over_cost else "best first"
    if per is not None:
        column, groups = per
        rows = by_group(rows, groups)
        said += f" of each {column} ({counted(len(groups.ids), 'group', 'groups')})"
        order += f" of each {column}"
    codes = 0 if per is None else per[1].codes
    found = selected(table, scores, rows, parts, ties, codes)
    return found._replace(said=said, order=order)


def _over_cost(scores: NDArray[Any], cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores over the costs; what is free comes first."""
    if (scores < 0).any():
        raise InputError("--over-cost divides the scores, which must not be negative")
    free = cost == 0
    return np.where(free, np.inf, scores / np.where(free, 1.0, cost))
