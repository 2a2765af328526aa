"""The exact reference of tables, impacts and charts: worked numbers, one count against another.

``EL`` is Eiland & Liebrock, "Efficacious Discriminant Analysis (Classifier) Measures for End
Users", 2016; ``PW`` is Powers, "Visualization of Tradeoff in Evaluation", 2015.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise

import exact as ex
import numpy as np
import pytest
from exact import cases, charts, classes, confusion, impact, weighted_cases, without_ties
from exact.confusion import table
from exact.roc import limits
from exact.small_tables import class_tables, rankings, tables, within

pytestmark = pytest.mark.full

F = Fraction
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(20)
TABLES = list(tables(3))
FULL = list(tables(3, 1))
# EL section 7.3: impacts in thousands of dollars, and the two tests of Table 7.
IMPACTS = (0, F("-7.9"), -13, 0)
ANTI_CCP = confusion.table_from_rates(F(1, 2), F(".67"), F(".05"))
RF = confusion.table_from_rates(F(1, 2), F(".69"), F(".15"))


def rounded(values, digits=3):
    return [round(float(value), digits) for value in values]


# Where a table comes from


def test_tables_at_cuts_thresholds_and_quotas_agree():
    for labels, scores, weights in weighted_cases(2):
        ranking = ex.groups(labels, scores, weights)
        vertices = ex.roc_curve(ranking)
        for vertex, t in zip(vertices, confusion.tables_at_cuts(ranking), strict=True):
            assert (vertex.fp, vertex.tp) == (t.fp, t.tp)
            assert confusion.table_at_threshold(ranking, vertex.threshold) == t
            assert confusion.table_at_quota(ranking, t.tp + t.fp) == t
            assert confusion.table_at_fraction(ranking, confusion.bias(t)) == t
        for threshold in (3, 2, 1, 0.5, 0, -1, -2, math.inf, -math.inf, math.nan):
            for inclusive in (True, False):
                chosen = [x >= threshold if inclusive else x > threshold for x in scores]
                t = confusion.table_at_threshold(ranking, threshold, inclusive)
                assert t == confusion.table_from_predictions(labels, chosen, weights)


def test_strict_threshold_is_the_next_cut_above():
    ranking = ex.groups((1, 0, 1, 0), (3, 3, 2, 1))
    t = confusion.table_at_threshold(ranking, 2, inclusive=False)
    assert t == confusion.table_at_threshold(ranking, 3) == (1, 1, 1, 1)
    assert confusion.table_at_quota(ranking, F(1, 2)) == (F(1, 4), F(1, 4), F(7, 4), F(7, 4))


def test_rates_and_likelihood_ratios_lead_back():
    for t in TABLES:
        share, n = confusion.prevalence(t), sum(t)
        hits, false = confusion.recall(t), confusion.false_positive_rate(t)
        if hits is None or false is None:
            continue
        assert confusion.table_from_rates(share, hits, false, n) == t
        ratios = confusion.positive_likelihood_ratio(t), confusion.negative_likelihood_ratio(t)
        if None not in ratios:
            expected = None if hits == false else (hits, false)
            assert confusion.rates_from_likelihood_ratios(*ratios) == expected
    for bad in ((2, 3), (F(1, 2), F(1, 3)), (math.inf, math.inf), (2, -1)):
        with pytest.raises(ValueError):
            confusion.rates_from_likelihood_ratios(*bad)


# Measures of a table


def test_two_classes_are_the_case_of_k():
    shared = ("accuracy", "misclassification_rate", "cohen_kappa", "scott_pi", "bennett_s")
    shared += ("informedness", "markedness", "matthews_signed_square", "matthews_corrcoef")
    for t in TABLES:
        cells = confusion.as_cells(t)
        for name in shared:
            assert getattr(confusion, name)(t) == getattr(classes, name)(cells), (name, t)
        assert confusion.fleiss_kappa(t) == confusion.scott_pi(t)
        if confusion.matthews_signed_square(t) is not None:
            assert classes.bookmaker_signed_square(cells) == confusion.matthews_signed_square(t)


def test_measures_of_k_classes():
    for cells in class_tables(60):
        n, truth, output = classes.mass(cells), classes.row_sums(cells), classes.column_sums(cells)
        assert classes.fleiss_kappa(cells) == classes.scott_pi(cells)
        assert classes.markedness(cells) == classes.informedness(classes.transposed(cells))
        ones = [confusion.one_against_rest(cells, label) for label in range(3)]
        if min(truth) > 0 and min(output) > 0:
            hits = sum(x / n * confusion.recall(t) for x, t in zip(truth, ones, strict=True))
            right = sum(x / n * confusion.precision(t) for x, t in zip(output, ones, strict=True))
            assert hits == right == classes.accuracy(cells)
            informed = [confusion.informedness(t) for t in ones]
            total = sum(x / n * value for x, value in zip(output, informed, strict=True))
            assert total == classes.informedness(cells)
        assert classes.matthews_signed_square(cells) == classes.matthews_over_examples(cells)


def test_a_class_that_never_occurs_changes_nothing():
    names = ("accuracy", "cohen_kappa", "scott_pi", "matthews_signed_square", "informedness")
    names += ("markedness", "bookmaker_signed_square", "mutual_information")
    for t in TABLES:
        cells, wide = confusion.as_cells(t), within(confusion.as_cells(t), 3)
        for name in names:
            assert getattr(classes, name)(wide) == getattr(classes, name)(cells), (name, t)


def test_bookmaker_correlation_has_no_root_of_opposite_signs():
    products = []
    for cells in class_tables(500):
        b, m = classes.informedness(cells), classes.markedness(cells)
        if b is not None and m is not None:
            products.append(b * m)
            assert (classes.bookmaker_correlation(cells) is None) == (b * m < 0)
    assert min(products) < 0 < max(products)


def test_f_and_accuracy_are_base_ratios():
    for t in TABLES:
        assert confusion.base_ratio(t, (1, 1, 1, 1)) == confusion.accuracy(t)
        for beta in (F(1, 2), F(1), F(2)):
            weights = (1 + beta**2, 1, beta**2, 0)
            assert confusion.base_ratio(t, weights) == confusion.f_score(t, beta)
        assert confusion.f_score(t, 0) == confusion.precision(t)
        p, r, f = confusion.precision(t), confusion.recall(t), confusion.f_score(t)
        if p and r:
            assert f == 2 * p * r / (p + r)
            assert confusion.g_measure(t) == pytest.approx(math.sqrt(p * r), rel=1e-15)


def test_errors_of_both_kinds():
    # AR eq 16-19: 1 - recall = α, 1 - precision = β·N/(tp + fp).
    for t in TABLES:
        alpha, beta = confusion.false_negative_rate(t), confusion.false_positive_rate(t)
        if alpha is not None:
            assert 1 - confusion.recall(t) == alpha
        if beta is not None and t.tp + t.fp:
            assert 1 - confusion.precision(t) == beta * (t.fp + t.tn) / (t.tp + t.fp)
        if sum(t):
            wrong = confusion.misclassification_rate(t)
            assert confusion.expected_cost(t, 1, 1) == wrong == 1 - confusion.accuracy(t)


def test_odds_and_likelihoods():
    for t in FULL:
        plus, minus = confusion.positive_likelihood_ratio(t), confusion.negative_likelihood_ratio(t)
        odds = confusion.diagnostic_odds_ratio(t)
        assert odds == plus / minus
        power = math.sqrt(3) / math.pi * math.log(odds)
        assert confusion.discriminant_power(t) == pytest.approx(power, rel=1e-14, abs=1e-15)
    measures = (confusion.diagnostic_odds_ratio, confusion.discriminant_power)
    measures += (confusion.positive_likelihood_ratio,)
    assert [measure(table(1, 0, 1, 1)) for measure in measures] == [math.inf] * 3
    assert [measure(table(0, 1, 1, 1)) for measure in measures] == [0, -math.inf, 0]
    undefined = [table(1, 0, 1, 0), table(0, 0, 0, 1), table(0, 1, 0, 1)]
    assert [measure(t) for t in undefined for measure in measures] == [None] * 9


def test_mutual_information():
    def entropy(masses):
        whole = float(sum(masses))
        return -sum(x / whole * math.log(x / whole) for x in map(float, masses) if x)

    for t in TABLES:
        cells = confusion.as_cells(t)
        value, truth = confusion.mutual_information(t), classes.row_sums(cells)
        if value is None:
            assert sum(t) == 0
            continue
        expected = entropy(truth) + entropy(classes.column_sums(cells)) - entropy(t)
        assert value == pytest.approx(expected, abs=1e-14)
        assert confusion.mutual_information(t, 2) == pytest.approx(value / math.log(2), rel=1e-15)
        assert (value == 0) == (t.tp * t.tn == t.fp * t.fn)
        share = confusion.information_coefficient(t)
        assert (share is None) == (min(truth) == 0)
        if share is not None:
            assert share == pytest.approx(value / entropy(truth), rel=1e-14)
            assert (share == 1) == (t.tp == t.tn == 0 or t.fp == t.fn == 0)


# Relations


def test_areas_of_the_charts():
    # PW: LIFT = π/2 + (1 - π)·AUC, BIFT = BOC = BOC' = Gini/2.
    for ranking in rankings():
        n, share = ex.total_weight(ranking), ex.prevalence_of(ranking)
        auc, half = ex.roc_auc(ranking), ex.gini(ranking) / 2
        assert charts.lift_area(ranking) == share / 2 + (1 - share) * auc
        assert charts.bift_area(ranking) == charts.boc_area(ranking) == half
        weighted = (1 - share) * charts.boc_area(ranking) + share * charts.boc_dual_area(ranking)
        assert n * charts.bift_area(ranking) == n * weighted
        assert charts.bprd_area(ranking) == charts.bift_area(ranking) / share
        assert charts.area_under(charts.pn_points(ranking)) == auc * n * share * n * (1 - share)
    one_class = ex.groups((1, 1), (1, 0))
    assert charts.lift_area(one_class) == F(1, 2)
    for area in (charts.bift_area, charts.boc_area, charts.bprd_area, charts.auk):
        assert area(one_class) is None


def test_bird_is_the_smoothed_likelihood_ratio():
    ranking = without_ties((1, 1, 0, 0, 0, 0))
    points = charts.bird_points(ranking)
    # s = 1, P = 2, N = 4: at two selected sTPR = 3/3 and sFPR = 1/5.
    assert (points[2].x, points[-1].y) == (0, 0)
    found = (2 ** points[2].y, 2 ** points[0].x, 2 ** points[0].y, 2 ** points[-1].x)
    assert found == pytest.approx((5, 1 / 3, 5 / 3, 7 / 3), rel=1e-14)
    other = charts.bird_informedness_points(ranking)
    assert [p.x for p in other] == [p.x for p in points]
    assert [p.y for p in other[:4]] == [0, 1, math.inf, 2]
    assert charts.bird_points(without_ties((0, 0, 0)))[0] == (0, 2)
    assert charts.bird_informedness_points(without_ties((0, 0, 0)))[0] == (0, None)


def test_area_under_kappa_is_the_integral():
    for ranking in rankings(4):
        negatives, total = ex.roc_curve(ranking)[-1].fp, 0.0
        for a, b in pairwise(ex.roc_curve(ranking)):
            for x, w in zip(NODES, NODE_WEIGHTS, strict=True):
                quota = a.fp + a.tp + F((1 + x) / 2) * (b.fp + b.tp - a.fp - a.tp)
                kappa = confusion.cohen_kappa(confusion.table_at_quota(ranking, quota))
                total += float(w * float(kappa) / 2 * float((b.fp - a.fp) / negatives))
        assert charts.auk(ranking) == pytest.approx(total, abs=1e-12)


def test_balanced_classes():
    for ranking in rankings(6):
        if ex.prevalence_of(ranking) == F(1, 2):
            assert charts.auk(ranking) == float(ex.gini(ranking) / 2)
            for t in confusion.tables_at_cuts(ranking):
                assert confusion.cohen_kappa(t) == confusion.informedness(t)


def test_bias_equal_to_prevalence():
    for ranking in rankings():
        t = confusion.table_at_quota(ranking, ex.total_positive_weight(ranking))
        assert confusion.recall(t) == confusion.precision(t) == confusion.f_score(t)
        value = confusion.informedness(t)
        assert value == confusion.markedness(t) == confusion.cohen_kappa(t)
        assert value * abs(value) == confusion.matthews_signed_square(t)


def test_two_scores_correlate_fully_with_their_groups():
    for labels, scores in cases(6, 2):
        ranking = ex.groups(labels, scores)
        if len(ranking) == 2:
            rates = [g.positive_weight / g.weight for g in ranking]
            expected = None if rates[0] == rates[1] else 1 if rates[0] > rates[1] else -1
            assert ex.pearson(ranking, len(labels)) == expected


def test_impact_of_right_and_wrong():
    unit = (1, -1, -1, 1)
    for t in TABLES:
        found, outcome = impact.impact(t, unit), impact.outcome_impact(t, unit)
        if sum(t) == 0:
            assert found == (None, None, None)
            continue
        assert found.whole == 2 * confusion.accuracy(t) - 1 == found.selected + found.rejected
        assert impact.impact(t, unit, total=True).whole == sum(t) * found.whole
        normalized = impact.normalize_table(t)
        if normalized is None:
            assert outcome == (None, None, None)
        else:
            assert outcome.mean == confusion.markedness(normalized)
            assert sum(normalized) == 1
            assert impact.outcome_impact(normalized, unit, normalize=False) == outcome


@pytest.mark.parametrize("impacts", [(1, -1, -1, 1), (5, F(-1, 2), -3, 0), (0, -3, -1, 2)])
def test_best_boundary_of_impact_lies_on_the_hull(impacts):
    for ranking in rankings():
        best = impact.best_boundary(ranking, impacts)
        assert_on_hull(ranking, best)
        assert best.value == max(point.value for point in best.curve)
        assert best.curve[best.optima.index(True)] == (best.quota, best.value, best.threshold)


@pytest.mark.parametrize(
    "measure",
    [
        confusion.accuracy,
        confusion.f_score,
        lambda t: confusion.f_score(t, F(3)),
        lambda t: confusion.f_score(t, F(1, 3)),
        confusion.informedness,
        confusion.cohen_kappa,
        confusion.matthews_signed_square,
    ],
)
def test_best_cut_lies_on_the_hull(measure):
    for ranking in rankings():
        best = confusion.best_cut(ranking, measure)
        if measure is not confusion.matthews_signed_square or (best and best.value > 0):
            assert_on_hull(ranking, best)


def assert_on_hull(ranking, best):
    hull = [(v.fpr, v.tpr) for v in ex.roc_hull(ranking)]
    optima = [v[:2] for v, tied in zip(ex.roc_curve(ranking), best.optima, strict=True) if tied]
    assert all(limits(hull, x)[1] == y for x, y in optima)
    assert set(hull) & set(optima)


def test_best_boundary_by_outcome():
    for ranking in rankings(4):
        best = impact.best_boundary(ranking, IMPACTS, "outcome")
        assert (best is None) == (len(ranking) == 1)
        if best:
            first, *inner, last = [point.value for point in best.curve]
            assert (first, max(inner), last) == (None, best.value, None)


# Impacts of K classes, and of examples


def test_class_impacts_are_those_of_the_table():
    tp, fp, fn, tn = IMPACTS
    for t in TABLES:
        cells, matrix = confusion.as_cells(t), ((tn, fp), (fn, tp))
        for total in (False, True):
            whole, outputs = impact.class_impact(cells, matrix, total)
            assert impact.impact(t, IMPACTS, total) == (whole, *reversed(outputs))
        for normalize in (False, True):
            mean, outputs = impact.class_outcome_impact(cells, matrix, normalize)
            assert impact.outcome_impact(t, IMPACTS, normalize) == (*reversed(outputs), mean)


def test_example_impacts_aggregate_to_category_means():
    dice = random.Random(5)
    for labels, scores, weights in weighted_cases(3):
        gains = [dice.randint(-3, 3) for _ in labels]
        others = [dice.randint(-2, 1) for _ in labels]
        rows = impact.gain_groups(scores, gains, others, weights)
        for quota in (0, sum(weights) / F(3), sum(weights)):
            found = impact.example_impact(rows, quota)
            shares = ex.select(scores, quota, weights)
            columns = zip(weights, shares, gains, others, strict=True)
            brought = sum(w * (s * g + (1 - s) * o) for w, s, g, o in columns)
            assert found.whole == brought == found.selected + found.rejected
            means = impact.category_means(labels, scores, gains, others, quota, weights)
            t = confusion.table_at_quota(ex.groups(labels, scores, weights), quota)
            assert [mean is None for mean in means] == [cell == 0 for cell in t]
            filled = [mean or F(0) for mean in means]
            parts = impact.impact(t, filled, total=True)
            assert parts == (found.whole, found.selected, found.rejected)


def test_best_quota_of_examples():
    rows = impact.gain_groups((9, 8, 8, 5, 3), (4, 3, -3, -6, 2))
    best = impact.best_example_quota(rows)
    assert best == (4, 9, 1, (False, True, True, False, False))
    assert impact.example_impact(rows, 2) == (4, 4, 0, 4)
    refused = impact.gain_groups((9, 8, 8, 5, 3), (4, 3, -3, -6, 2), -1)
    assert impact.best_example_quota(refused).quota == 3
    assert impact.example_impact(refused, 3) == (2, 4, -2, 7)


# Eiland & Liebrock: worked numbers


def test_eiland_and_liebrock_blood_tests():
    assert rounded(impact.outcome_impact(ANTI_CCP, IMPACTS)) == [-0.549, -3.352, -1.950]
    assert rounded(impact.outcome_impact(RF, IMPACTS)) == [-1.411, -3.474, -2.442]
