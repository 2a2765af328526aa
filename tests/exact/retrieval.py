"""Ranked lists: success, reciprocal rank, DCG, NDCG and AP at a cutoff, over random tie orders.

Of a quota that is not whole the last position takes a part, so that every measure is a sum over
positions of what each is expected to add.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import permutations
from math import comb

from .at_quota import ratio
from .table import Group, Number, groups, is_weighted, total_count

DIGITS = 40
Values = Sequence[Fraction]


@cache
def discount(position: int) -> Fraction:
    """1/log2(1 + position) to so many digits."""
    with localcontext(prec=DIGITS):
        return Fraction(Decimal(2).ln() / Decimal(1 + position).ln())


def within(values: Values, quota: Number | None) -> Fraction:
    """The sum of the first values, the last of them taken in part."""
    left = Fraction(len(values)) if quota is None else Fraction(quota)
    total = Fraction(0)
    for value in values:
        total += value * min(max(left, Fraction(0)), Fraction(1))
        left -= 1
    return total


def chances_of_first(ranking: Sequence[Group]) -> list[Fraction]:
    """For each position the probability that the first positive stands there."""
    if is_weighted(ranking):
        raise ValueError("positions are items: there is no weighted form")
    chances, found = [], 0
    for _, m, p, *_ in ranking:
        for i in range(1, m + 1):
            first = Fraction(comb(m - i, p - 1), comb(m, p)) if p and not found else Fraction(0)
            chances.append(first)
        found += p
    return chances


def success(ranking: Sequence[Group], quota: Number | None = None) -> Fraction | None:
    """The probability of a positive within the quota."""
    return within(chances_of_first(ranking), quota) if ranking else None


def reciprocal_rank(ranking: Sequence[Group], quota: Number | None = None) -> Fraction | None:
    """E[1/position of the first positive], 0 where that is behind the quota."""
    chances = enumerate(chances_of_first(ranking), start=1)
    return within([x / i for i, x in chances], quota) if ranking else None


def dcg(
    ranking: Sequence[Group], quota: Number | None = None, gains: Values | None = None
) -> Fraction | None:
    """E[Σ gain/log2(1 + position)]; `gains` are those of each group, by default of its labels."""
    own = [Fraction(g.positives) for g in ranking] if gains is None else gains
    means = [x / g.count for g, x in zip(ranking, own, strict=True) for _ in range(g.count)]
    terms = [x * discount(i) for i, x in enumerate(means, start=1)]
    return within(terms, quota) if ranking else None


def ndcg(ranking: Sequence[Group], quota: Number | None = None) -> Fraction | None:
    """DCG over that of all positives first."""
    found, positives = dcg(ranking, quota), sum(g.positives for g in ranking)
    ideal = [
        discount(i) if i <= positives else Fraction(0) for i in range(1, total_count(ranking) + 1)
    ]
    return None if found is None else ratio(found, within(ideal, quota))


def average_precision_at(ranking: Sequence[Group], quota: Number | None = None) -> Fraction | None:
    """E[Σ precision at the positives within the quota] / P."""
    terms, above, found = [], 0, 0
    for _, m, p, *_ in ranking:
        others = Fraction(p - 1, m - 1) if m > 1 else Fraction(0)
        terms += [
            Fraction(p, m) * (found + 1 + (k - 1) * others) / (above + k) for k in range(1, m + 1)
        ]
        above, found = above + m, found + p
    return ratio(within(terms, quota), Fraction(found))


# the same by brute force, from labels in one order


def orders(labels: Sequence[int], scores: Sequence[Number]) -> Iterator[list[int]]:
    """The labels in rank order, for all n! orders of the examples."""
    for order in permutations(zip(labels, scores, strict=True)):
        ranked = groups(*zip(*order, strict=True), ties="given")
        yield [group.positives for group in ranked]


def mean_over_orders(
    of_list: Callable[[list[int], int], Fraction],
    labels: Sequence[int],
    scores: Sequence[Number],
    k: int,
) -> Fraction:
    """The mean of a measure of the k first labels of a list."""
    values = [of_list(order, k) for order in orders(labels, scores)]
    return sum(values, Fraction(0)) / len(values)


def reciprocal_rank_of_list(labels: list[int], k: int) -> Fraction:
    """1 over the position of the first positive among the k first, or 0."""
    return Fraction(1, labels.index(1) + 1) if 1 in labels[:k] else Fraction(0)


def dcg_of_list(labels: list[int], k: int) -> Fraction:
    """Σ label·discount."""
    return sum((x * discount(i) for i, x in enumerate(labels[:k], start=1)), Fraction(0))


def precisions_of_list(labels: list[int], k: int) -> Fraction:
    """The sum of the precisions at the positives among the k first."""
    places = [i for i, x in enumerate(labels[:k], start=1) if x]
    return sum((Fraction(n, i) for n, i in enumerate(places, start=1)), Fraction(0))
