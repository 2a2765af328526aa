"""The exact reference itself: worked numbers, exact relations, one count against another."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, permutations, product
from statistics import mean

import exact as ex
import pytest
from exact import cases, ordered_cases, without_ties

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


def test_normalized_marks():
    assert ex.chance_average_qrecall(10, 4) == F(7, 10)
    assert ex.normalized_mark(F(25, 28), F(7, 10)) == F(9, 14)
    assert ex.normalized_mark(F(1), F(1)) is None
    assert ex.normalized_mark(None, F(0)) is None
    assert ex.minmax_marks([F(1, 2), F(1), F(3, 4)]) == [0, 1, F(1, 2)]
    assert ex.minmax_marks([F(1, 2)]) == [None]


# The ranking


def test_tie_policies():
    labels, scores, weights = (0, 1, 1, 0), (5, 5, 7, 7), (2, 3, F(1, 2), 1)
    both = ex.groups(labels, scores, weights)
    assert both == [(7, 2, 1, F(3, 2), F(1, 2)), (5, 2, 1, 5, 3)]
    one, three, half, two = (
        (7, 1, 0, 1, 0),
        (5, 1, 1, 3, 3),
        (7, 1, 1, F(1, 2), F(1, 2)),
        (5, 1, 0, 2, 0),
    )
    assert ex.groups(labels, scores, weights, ties="optimistic") == [half, one, three, two]
    assert ex.groups(labels, scores, weights, ties="pessimistic") == [one, half, two, three]
    assert ex.groups(labels, scores, weights, ties="given") == [half, one, two, three]
    assert ex.groups((1, 1), (0.0, -0.0), ties="pessimistic") == [(0, 2, 2, 2, 2)]


def test_rows_that_take_no_part():
    labels, scores = (1, 9, 0, 1), (1, math.nan, -math.inf, math.inf)
    ranking = ex.groups(labels, scores, (1, 0, 1, 2), (True, True, True, True))
    assert ranking == ex.groups(labels, scores, (1, 5, 1, 2), (True, False, True, True))
    assert [group.score for group in ranking] == [math.inf, 1, -math.inf]
    assert ex.groups((0, 1), (1, 2), where=(False, False)) == []


@pytest.mark.parametrize(
    ("labels", "scores", "weights"),
    [((2,), (1,), None), ((1,), (math.nan,), None), ((1,), (1,), (-1,)), ((1,), (1,), (math.nan,))],
)
def test_bad_rows_are_refused(labels, scores, weights):
    with pytest.raises(ValueError, match="bad row"):
        ex.groups(labels, scores, weights)


def test_counted_tables():
    empty = (0, 0, 0, F(0), F(0))
    for labels, scores in cases(4):
        table = ex.groups(labels, scores)
        scored, counts, positives, *masses = zip(*table, empty, strict=True)
        assert ex.groups_from_counts(scored, counts, positives) == table
        for ties in ("expected", "optimistic", "pessimistic"):
            counted = ex.groups_from_counts(scored, counts, positives, *masses, ties=ties)
            assert counted == ex.groups(labels, scores, ties=ties)
    with pytest.raises(ValueError, match="input order"):
        ex.groups_from_counts((1,), (2,), (1,), ties="given")


def test_the_order_of_the_examples_does_not_matter():
    for labels, scores in ordered_cases(4):
        columns = zip(*sorted(zip(labels, scores, strict=True)), strict=True)
        sorted_labels, sorted_scores = columns
        for ties in ("expected", "optimistic", "pessimistic"):
            ranking = ex.groups(sorted_labels, sorted_scores, ties=ties)
            assert ex.groups(labels, scores, ties=ties) == ranking


# At a quota


def test_quota_measures_count_positions():
    for labels, scores in cases(5):
        ranking, n, positives = ex.groups(labels, scores), len(labels), sum(labels)
        t = ex.expected_labels(ranking)
        assert len(t) == n
        for j in range(n + 1):
            assert ex.T(ranking, j) == sum(t[:j])
            assert ex.hit_rate(ranking, j) == (sum(t[:j]) / j if j else None)
            assert ex.qrecall(ranking, j) == (sum(t[:j]) / positives if positives else None)
            assert ex.lift(ranking, j) == (
                sum(t[:j]) / j / F(positives, n) if j and positives else None
            )
        for j in range(n):
            assert ex.T(ranking, j + 0.25) == sum(t[:j]) + t[j] / 4
        assert all(ex.T(ranking, end).denominator == 1 for end in ex.cuts(ranking))


def test_hit_rate_at_the_number_of_positives_is_the_break_even_point():
    for labels, scores in cases(5):
        if positives := sum(labels):
            ranking = ex.groups(labels, scores)
            assert ex.qrecall(ranking, positives) == ex.hit_rate(ranking, positives)


def test_pearson_counts_positions():
    for labels, scores in cases(5):
        ranking = ex.groups(labels, scores)
        x, t = sorted(scores, reverse=True), ex.expected_labels(ranking)
        assert ex.pearson_signed_square(ranking, 0) is None
        for j in range(1, len(x) + 1):
            assert ex.pearson_signed_square(ranking, j) == literal_pearson(x[:j], t[:j])
            value = ex.pearson_signed_square(ranking, j - F(1, 2))
            # Half an example at the end is one example among twice as many.
            twice_x, twice_t = [v for v in x for _ in "ab"], [v for v in t for _ in "ab"]
            assert value == literal_pearson(twice_x[: 2 * j - 1], twice_t[: 2 * j - 1])


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


def test_few_scores_without_information_do_not_correlate_more_with_the_labels():
    """The mean square over all orders of the labels is 1/(n - 1) for any scores that vary."""
    for labels, scores in cases(4):
        if len(set(labels)) == 2 <= len(set(scores)):
            found = [
                ex.pearson_signed_square(ex.groups(order, scores), len(scores), "observed")
                for order in permutations(labels)
            ]
            assert sum(map(abs, found)) / len(found) == F(1, len(scores) - 1)


def test_pearson_of_two_distinct_scores_is_degenerate():
    for labels, scores in cases(5):
        if len(set(scores)) == 2:
            ranking = ex.groups(labels, scores)
            same = len({group.positive_weight / group.weight for group in ranking}) == 1
            assert ex.pearson_signed_square(ranking, len(labels)) in ([None] if same else [1, -1])


def test_pearson_of_infinite_scores():
    ranking = ex.groups((1, 0, 1, 0), (3, 2, 1, -math.inf))
    assert ex.pearson(ranking, 3) == 0.0
    assert ex.pearson(ranking, 3.5) is None
    assert ex.pearson(ex.groups((1, 0), (math.inf, 0)), 1) is None
    ranking = ex.groups((1, 0, 0), (1e308, -1e308, 5e-324))
    assert ex.pearson(ranking, 3) == math.sqrt(3) / 2


@pytest.mark.parametrize(
    "square",
    [
        F(2),
        F(1, 2),
        F(9, 16),
        F(1),
        F(0),
        F(10**60 + 1, 10**90),
        F(1, 3 * 10**500),
        F(2**53 + 1) ** 2,
    ],
)
def test_signed_root_is_the_nearest_float(square):
    with localcontext() as context:
        context.prec = 1000
        root = (Decimal(square.numerator) / Decimal(square.denominator)).sqrt()
        assert ex.signed_root(square) == float(root)
        assert ex.signed_root(-square) == -float(root)


def test_lift_table_has_fractional_edges():
    for labels, scores in cases(4):
        ranking, n = ex.groups(labels, scores), len(labels)
        table = ex.lift_table(ranking)
        assert [row.start for row in table] == [F(i * n, 10) for i in range(10)]
        assert sum(row.positives for row in table) == sum(labels)
        assert all(row.hit_rate == row.positives / F(n, 10) for row in table)
        if sum(labels):
            assert mean(row.lift for row in table) == 1
            assert table[-1][-3:] == (F(sum(labels), n), 1, 1)
        else:
            assert {(row.lift, row.cumulative_lift, row.qrecall) for row in table} == {(None,) * 3}
    assert [row.lift for row in ex.lift_table(without_ties(TABLE_2), 2)] == [F(3, 2), F(1, 2)]


def test_quota_outside_the_examples():
    for measure in (
        ex.T,
        ex.hit_rate,
        ex.qrecall,
        ex.lift,
        ex.pearson,
        ex.large_hit_rate,
        ex.large_qrecall,
    ):
        for quota in (-1, 2.5):
            with pytest.raises(ValueError, match="quota"):
                measure(without_ties((1, 0)), quota)


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


def test_select_by_mass():
    scores, weights, where = (3, 1, 2, 2, 9, 9), (1, 1, F(1, 2), F(3, 2), 0, 1), (1, 1, 1, 1, 1, 0)
    assert ex.quota_threshold(scores, 1.5, weights, where) == (2, 1, 2)
    assert ex.select(scores, 1.5, weights, where) == [1, 0, F(1, 4), F(1, 4), 0, 0]
    assert ex.select(scores, 0, weights, where) == [0] * 6


# Over all quotas


def test_pem_is_twice_auc_minus_one():
    for labels, scores in cases(5):
        ranking, n, p = ex.groups(labels, scores), len(labels), sum(labels)
        auc, pem = ex.roc_auc(ranking), ex.pem(ranking)
        assert (auc is None) == (pem is None) == (p in (0, n))
        if pem is not None:
            recalls = [ex.qrecall(ranking, j) for j in range(1, n + 1)]
            assert sum(recalls) == F(p + 1, 2) + (n - p) * auc
            assert pem == ex.gini(ranking) == (sum(recalls) - F(n + 1, 2)) / F(n - p, 2)
            areas = ex.pem_areas(ranking, "area")
            assert (areas.s1 - areas.s2) / areas.s3 == pem
            assert areas.s3 == ex.pem_areas(ranking, "sum").s3 == F(n - p, 2)
            assert ex.integral(ranking, F(0), F(n)) / n / p == F(p, 2 * n) + (1 - F(p, n)) * auc


def test_average_qrecall_counts_what_the_quotas_miss():
    for labels, scores in cases(5):
        n, p = len(labels), sum(labels)
        if p in (0, n):
            continue
        ranking = ex.groups(labels, scores)
        swapped = ex.groups([1 - y for y in labels], [-x for x in scores])
        missed = [p - ex.T(ranking, j) for j in range(p, n + 1)]
        inversions = p * (n - p) * (1 - ex.roc_auc(ranking))
        loss = p * (n - p + 1) * (1 - ex.average_qrecall(ranking))
        assert loss == sum(missed) <= inversions
        assert (loss == 0) == (inversions == 0)
        other = (n - p) * (p + 1) * (1 - ex.average_qrecall(swapped))
        assert loss + other == inversions + missed[0]
        later = [ex.qrecall(ranking, j) for j in range(p + 1, n + 1)]
        assert ex.average_qrecall(ranking, "P+1") == mean(later)


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


def test_scores_that_say_nothing_and_the_worst_ranking():
    for n in range(2, 7):
        for p in range(1, n):
            labels = [1] * p + [0] * (n - p)
            same = ex.groups(labels, [0] * n)
            assert ex.average_hit_rate(same) == F(p, n)
            assert ex.average_qrecall(same) == (1 + F(p, n)) / 2
            assert (ex.pem(same), ex.roc_auc(same)) == (0, F(1, 2))
            assert ex.pem(without_ties(labels[::-1])) == -1


def test_average_hit_rate_without_ties_is_average_precision():
    for n in range(1, 8):
        for labels in product((0, 1), repeat=n):
            hits = [j for j in range(n) if labels[j]]
            precision = [F(sum(labels[: j + 1]), j + 1) for j in hits]
            assert ex.average_hit_rate(without_ties(labels)) == (mean(precision) if hits else None)


def test_one_class():
    positive, negative, empty = without_ties((1, 1)), without_ties((0, 0)), []
    assert (ex.average_hit_rate(positive), ex.average_qrecall(positive)) == (1, 1)
    assert ex.average_qrecall(positive, "P+1") is None
    assert ex.pem_areas(positive) == ex.pem_areas(positive, "area") == (0, 0, 0)
    for ranking in (negative, empty):
        assert ex.average_hit_rate(ranking) is ex.average_qrecall(ranking) is None
        assert ex.pem_areas(ranking) is ex.pem_areas(ranking, "area") is None
    for ranking in (positive, negative, empty):
        assert ex.pem(ranking) is ex.roc_auc(ranking) is ex.gini(ranking) is None
    assert ex.hit_rate(empty, 0) is ex.qrecall(empty, 0) is ex.pearson(empty, 0) is None
    assert ex.qrecall(positive, 0) == ex.hit_rate(negative, 1) == 0
