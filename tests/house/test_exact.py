"""The exact reference itself: worked numbers, exact relations, one count against another."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from statistics import mean

import exact as ex
import numpy as np
import pytest
from exact import cases, charts, confusion, weighted_cases, without_ties
from exact.small_tables import rankings as small_rankings

F = Fraction


def literal_pearson(x, t):
    """sign(r)·r² from Σxt, Σx², Σt² of the listed positions."""
    x = [F(value) for value in x]
    n, sx, st = len(x), sum(x), sum(t)
    cov = n * sum(a * b for a, b in zip(x, t, strict=True)) - sx * st
    var = (n * sum(a * a for a in x) - sx**2) * (n * sum(b * b for b in t) - st**2)
    return None if var == 0 else cov * abs(cov) / var


# Worked numbers, and all orders of ties


def test_published_table_2():
    ranking = without_ties([1, 0, 1, 1, 0, 0, 1, 0, 0, 0])
    assert ex.average_qrecall(ranking) == F(25, 28)
    assert ex.average_hit_rate(ranking) == F(251, 336)
    assert ex.pem_areas(ranking) == (F(7, 4), 0, 3)
    assert (ex.pem(ranking), ex.roc_auc(ranking)) == (F(7, 12), F(19, 24))


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


# ROC and PR space


NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(60)


def rankings(largest=4):
    """Small rankings with both classes."""
    for labels, scores in cases(largest, 2):
        if 0 < sum(labels) < len(labels):
            yield ex.groups(labels, scores)


def random_rankings(number, largest=9):
    """Rankings of mixed groups with both classes."""
    dice = random.Random(7)
    while number:
        counts = [dice.randint(1, 5) for _ in range(dice.randint(2, largest))]
        positives = [dice.randint(0, m) for m in counts]
        if 0 < sum(positives) < sum(counts):
            number -= 1
            yield ex.groups_from_counts(range(len(counts), 0, -1), counts, positives)


def quadrature(function, start, stop):
    """∫ function by Gauss and Legendre."""
    half = float(stop - start) / 2
    places = (float(start) + half * (1 + x) for x in NODES)
    return half * sum(w * function(x) for w, x in zip(NODE_WEIGHTS, places, strict=True))


# Precision-recall space


@pytest.mark.full
def test_expected_average_precision_is_the_mean_over_tie_orders():
    for labels, scores in cases(4):
        value = ex.expected_average_precision(ex.groups(labels, scores))
        assert value == ex.average_precision_over_orders(labels, scores)


@pytest.mark.full
@pytest.mark.parametrize("start", ["roc", "horizontal"])
def test_exact_area_is_the_integral(start):
    weighted = (ex.groups(*case) for case in weighted_cases(3) if any(case[0]))
    for ranking in (*rankings(), *random_rankings(30), *weighted):
        pieces = ex.pr_pieces(ranking, start)
        area = sum(
            quadrature(lambda x, p=p: float(p.at(Fraction(x))), p.start, p.stop) for p in pieces
        )
        assert ex.pr_auc_exact(ranking, start) == pytest.approx(area, abs=1e-12)


# Costs


@pytest.mark.full
def test_h_measure_of_beta_2_2_in_closed_form():
    def g(v):
        return v * (1 - v) * (1 + v * (1 - v)) / 2

    for ranking in random_rankings(60):
        rows, n = ex.hull_groups(ranking), ex.total_weight(ranking)
        loss = sum(r.weight / n * g(r.positive_weight / r.weight) for r in rows)
        expected = 1 - loss / g(ex.prevalence_of(ranking))
        assert ex.h_measure(ranking) == expected
        assert ex.h_measure_float(ranking, 2, 2) == float(expected)


@pytest.mark.full
@pytest.mark.parametrize(("a", "b"), [("1.3", "2.2"), ("2.5", "40.25"), ("1", "1")])
def test_real_beta_is_the_integral(a, b):
    for x in (Fraction(1, 9), Fraction(1, 2), Fraction(7, 9)):
        area = quadrature(lambda c: c ** float(a) * (1 - c) ** float(b), Fraction(1, 20), x)
        head = ex.real_beta(Fraction(1, 20), Decimal(a) + 1, Decimal(b) + 1)
        value = ex.real_beta(x, Decimal(a) + 1, Decimal(b) + 1) - head
        assert float(value) == pytest.approx(area, rel=1e-13)


# Tables and impacts


@pytest.mark.full
def test_area_under_kappa_is_the_integral():
    for ranking in small_rankings(4):
        negatives, total = ex.roc_curve(ranking)[-1].fp, 0.0
        for a, b in pairwise(ex.roc_curve(ranking)):
            for x, w in zip(NODES, NODE_WEIGHTS, strict=True):
                quota = a.fp + a.tp + Fraction((1 + x) / 2) * (b.fp + b.tp - a.fp - a.tp)
                kappa = confusion.cohen_kappa(confusion.table_at_quota(ranking, quota))
                total += float(w * float(kappa) / 2 * float((b.fp - a.fp) / negatives))
        assert charts.auk(ranking) == pytest.approx(total, abs=1e-12)
