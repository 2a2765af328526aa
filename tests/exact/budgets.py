"""Budgets: how much of the best their cost allows, and what it finds over all orders of ties."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, chain, permutations, product
from typing import NamedTuple

from .at_quota import ratio
from .impact import GainGroup, example_impact
from .table import Number, tied_parts


class Priced(NamedTuple):
    """One example that takes part; a weight of w stands for w such examples."""

    score: Number
    label: int
    weight: Fraction
    cost: Fraction


class PricedGroup(NamedTuple):
    """What the examples of one tie group weigh and cost together."""

    weight: Fraction
    cost: Fraction


def priced(
    y_true: Sequence[Number],
    y_score: Sequence[Number],
    cost: Sequence[Number],
    sample_weight: Sequence[Number] | None = None,
    where: Sequence[bool] | None = None,
) -> list[Priced]:
    """The examples that take part, best first, in input order among equal scores."""
    weights = [1] * len(y_score) if sample_weight is None else sample_weight
    present = [True] * len(y_score) if where is None else where
    rows = [
        Priced(score, int(label), Fraction(w), Fraction(c))
        for label, score, c, w, there in zip(y_true, y_score, cost, weights, present, strict=True)
        if there and w > 0
    ]
    return sorted(rows, key=lambda row: row.score, reverse=True)


def priced_groups(rows: Sequence[Priced], ties: str = "expected") -> list[PricedGroup]:
    """The tie groups of examples, best first, under one tie policy."""
    return [_together(part) for part in tied_parts(rows, ties)]


def _together(rows: Sequence[Priced]) -> PricedGroup:
    weight = sum((row.weight for row in rows), Fraction(0))
    return PricedGroup(weight, sum((row.weight * row.cost for row in rows), Fraction(0)))


def quota_of_budget(ranking: Sequence[PricedGroup], budget: Number) -> Fraction | None:
    """The mass of the best until the budget is spent; the group at the edge gives the part λ =
    money left / its cost.  Undefined beyond what all cost, and of no examples.
    """
    left, mass = Fraction(budget), Fraction(0)
    if not ranking or not 0 <= left <= sum(group.cost for group in ranking):
        return None
    for group in ranking:
        if group.cost > left:
            return mass + left / group.cost * group.weight
        left, mass = left - group.cost, mass + group.weight
    return mass


class Spent(NamedTuple):
    """What a budget pays for: examples, and positives among them."""

    examples: Fraction
    positives: Fraction


def mean_over_orders(rows: Sequence[Priced], budget: Number) -> Spent:
    """The mean over all orders of tied examples, which are taken one by one, the last in part."""
    tied = tied_parts(rows, "expected")
    orders = [
        _spent(list(chain(*each)), Fraction(budget)) for each in product(*map(permutations, tied))
    ]
    return Spent(*(sum(column, Fraction(0)) / len(orders) for column in zip(*orders, strict=True)))


def _spent(order: Sequence[Priced], left: Fraction) -> Spent:
    examples = positives = Fraction(0)
    for row in order:
        part = min(Fraction(1), left / row.cost) if row.cost else Fraction(1)
        examples, positives = examples + part, positives + part * row.label
        left -= part * row.cost
        if part < 1:
            break
    return Spent(examples, positives)


def cost_of_quota(ranking: Sequence[PricedGroup], quota: Number) -> Fraction:
    """What the best of mass ``quota`` cost; a divided group costs its part."""
    rest, cost = Fraction(quota), Fraction(0)
    for group in ranking:
        share = min(rest / group.weight, Fraction(1))
        rest, cost = rest - share * group.weight, cost + share * group.cost
    return cost


def budgets_of_cuts(ranking: Sequence[PricedGroup]) -> list[Fraction]:
    """What every cut costs, the empty one first."""
    return list(accumulate((group.cost for group in ranking), initial=Fraction(0)))


def positives_per_cost(
    ranking: Sequence[PricedGroup], found: Fraction, quota: Number
) -> Fraction | None:
    """What a quota finds over what it costs."""
    return ratio(found, cost_of_quota(ranking, quota))


def gain_per_cost(
    ranking: Sequence[PricedGroup], gains: Sequence[GainGroup], quota: Number
) -> Fraction | None:
    """What a quota brings above nobody, over what it costs."""
    return ratio(example_impact(gains, quota).net, cost_of_quota(ranking, quota))
