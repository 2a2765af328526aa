"""The exact reference itself: worked numbers, exact relations, one count against another."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product
from statistics import mean

import exact as ex
import pytest
from exact import cases, without_ties

F = Fraction
TABLE_2 = [1, 0, 1, 1, 0, 0, 1, 0, 0, 0]
TABLE_3 = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]


def literal_pearson(x, t):
    """sign(r)·r² from Σxt, Σx², Σt² of the listed positions."""
    x = [F(value) for value in x]
    n, sx, st = len(x), sum(x), sum(t)
    cov = n * sum(a * b for a, b in zip(x, t, strict=True)) - sx * st
    var = (n * sum(a * a for a in x) - sx**2) * (n * sum(b * b for b in t) - st**2)
    return None if var == 0 else cov * abs(cov) / var


# Worked numbers


def test_published_table_2():
    ranking = without_ties(TABLE_2)
    assert ex.average_qrecall(ranking) == F(25, 28)
    assert ex.average_hit_rate(ranking) == F(251, 336)
    assert ex.pem_areas(ranking) == (F(7, 4), 0, 3)
    assert ex.pem(ranking) == F(7, 12)
    assert ex.roc_auc(ranking) == F(19, 24)


def test_published_table_3():
    ranking = without_ties(TABLE_3)
    assert ex.average_qrecall(ranking) == 1
    assert ex.average_hit_rate(ranking) == 1
    assert ex.pem_areas(ranking) == (3, 0, 3)


def test_expected_average_hit_rate_may_lie_below_every_tie_order():
    labels, scores = (0, 0, 1), (0, 1, 0)
    values = [
        ex.average_hit_rate(ex.groups(labels, scores, ties=t)) for t in ("expected", "pessimistic")
    ]
    assert values == [F(7, 24), F(1, 3)]


@pytest.mark.parametrize("start", ["P", "P+1"])
def test_chance_marks_are_the_mean_over_all_orders(start):
    for n in range(1, 8):
        for p in range(1, n + 1):
            orders = [
                without_ties([int(i in chosen) for i in range(n)])
                for chosen in combinations(range(n), p)
            ]
            hit_rates = [ex.average_hit_rate(order) for order in orders]
            recalls = [ex.average_qrecall(order, start) for order in orders]
            assert ex.chance_average_hit_rate(n, p) == mean(hit_rates)
            assert ex.chance_average_qrecall(n, p, start) == (
                None if None in recalls else mean(recalls)
            )
            assert p == n or mean(map(ex.pem, orders)) == 0


# At a quota


def test_pearson_with_the_labels_has_the_mean_moments_of_all_tie_orders():
    for labels, scores in cases(4):
        ranking = ex.groups(labels, scores)
        best = sorted(set(scores), reverse=True)
        tied = [[y for y, s in zip(labels, scores, strict=True) if s == x] for x in best]
        x = sorted(scores, reverse=True)
        orders = [sum(order, ()) for order in product(*map(permutations, tied))]
        for j in range(1, len(x) + 1):
            of_all = [y for order in orders for y in order[:j]]
            value = ex.pearson_signed_square(ranking, j, "observed")
            assert value == literal_pearson(x[:j] * len(orders), of_all)


def test_select_is_the_share_of_tie_orders_that_select():
    for _, scores in cases(4):
        n = len(scores)
        orders = [sorted(order, key=lambda i: -scores[i]) for order in permutations(range(n))]
        for j in range(n + 1):
            chosen = ex.select(scores, j)
            assert chosen == [mean(F(i in order[:j]) for order in orders) for i in range(n)]
            threshold, above, tied = ex.quota_threshold(scores, j)
            if j == 0:
                assert (threshold, above, tied) == (None, 0, 0)
            else:
                assert threshold == sorted(scores)[-j]
                assert above == sum(score > threshold for score in scores) < j <= above + tied
                assert tied == scores.count(threshold)


# Over all quotas


def test_tie_orders():
    for labels, scores in cases(4):
        n, p = len(labels), sum(labels)
        if p in (0, n):
            continue
        rows = list(zip(labels, scores, strict=True))
        orders = {
            tuple(ex.groups(*zip(*order, strict=True), ties="given"))
            for order in permutations(rows)
        }
        ranking, best, worst = (
            ex.groups(labels, scores, ties=ties)
            for ties in ("expected", "optimistic", "pessimistic")
        )
        for measure in (ex.pem, ex.average_qrecall, ex.roc_auc, lambda g: ex.qrecall(g, F(3, 2))):
            values = [measure(order) for order in orders]
            assert measure(ranking) == mean(values)
            assert (measure(best), measure(worst)) == (max(values), min(values))
        values = [ex.average_hit_rate(order) for order in orders]
        pure = all(group.positives in (0, group.count) for group in ranking)
        assert ex.average_hit_rate(ranking) <= mean(values)
        assert (ex.average_hit_rate(ranking) == mean(values)) == pure
        assert (ex.average_hit_rate(best), ex.average_hit_rate(worst)) == (max(values), min(values))
