"""The exact reference of ROC and PR space: worked numbers, and one count against another."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import exact as ex
import numpy as np
import pytest
from exact import cases, charts, confusion, impact, weighted_cases
from exact.small_tables import rankings as small_rankings

pytestmark = pytest.mark.full

F = Fraction
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(60)
CURVE_I = ex.groups_from_points((0, 1500, 2000), (10, 20, 20))
CURVE_II = ex.groups_from_points((500, 2000), (20, 20))


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


# Worked numbers


def test_interpolation_of_davis_and_goadrich_table_1():
    points = ex.interpolate_pr((5, 5), (30, 10), positives=20)
    printed = [round(float(point.precision), 3) for point in points]
    assert printed == [0.5, 0.375, 0.318, 0.286, 0.265, 0.25]
    assert [p.recall for p in points] == [F(k, 20) for k in range(5, 11)]
    asked = ex.interpolate_pr((5, 5), (30, 10), positives=20, recall=(0.25, 0.5, 0.75))
    assert asked[:2] == [points[0], points[-1]]
    assert asked[2].precision is None


def test_davis_and_goadrich_figure_7():
    assert (ex.roc_auc(CURVE_I), ex.roc_auc(CURVE_II)) == (F(13, 16), F(7, 8))
    assert ex.pr_auc_exact(CURVE_II) == float(F(1, 26)) == float(ex.pr_auc_trapezoid(CURVE_II))
    assert round(ex.pr_auc_exact(CURVE_I), 4) == 0.5198
    assert round(float(ex.pr_auc_trapezoid(CURVE_I)), 4) == 0.5373
    assert ex.roc_hull_auc(CURVE_I) == F(13, 16)
    assert ex.dominates_roc(CURVE_I, CURVE_II) is ex.dominates_pr(CURVE_I, CURVE_II) is False
    assert ex.dominates_roc(CURVE_II, CURVE_I) is ex.dominates_pr(CURVE_II, CURVE_I) is False
    assert ex.best_regions((CURVE_I, CURVE_II), "fpr") == [
        (0, F(3, 20), (True, False)),
        (F(3, 20), F(3, 4), (False, True)),
        (F(3, 4), 1, (True, True)),
    ]


def test_davis_and_goadrich_figure_6():
    # One point of PR space, recall .02 with precision 1.
    point = ex.pr_to_roc(F(1, 50), 1, positives=433, negatives=56164)
    assert point == (0, F(1, 50))
    ranking = ex.groups_from_points((0, 56164), (point.tpr * 433, 433))
    assert round(ex.pr_auc_exact(ranking), 4) == 0.0287
    points = ex.interpolate_pr((0, point.tpr * 433), (56164, 433), positives=433)
    strips = ((b.recall - a.recall) * (a.precision + b.precision) / 2 for a, b in pairwise(points))
    assert round(float(point.tpr + sum(strips)), 4) == 0.0295
    straight = point.tpr + (1 - point.tpr) * (1 + points[-1].precision) / 2
    assert round(float(straight), 2) == 0.51


# Precision-recall space


def test_expected_average_precision_is_the_mean_over_tie_orders():
    for labels, scores in cases(4):
        value = ex.expected_average_precision(ex.groups(labels, scores))
        assert value == ex.average_precision_over_orders(labels, scores)


@pytest.mark.parametrize("start", ["roc", "horizontal"])
def test_exact_area_is_the_integral(start):
    weighted = (ex.groups(*case) for case in weighted_cases(3) if any(case[0]))
    for ranking in (*rankings(), *random_rankings(30), *weighted):
        pieces = ex.pr_pieces(ranking, start)
        area = sum(quadrature(lambda x, p=p: float(p.at(F(x))), p.start, p.stop) for p in pieces)
        assert ex.pr_auc_exact(ranking, start) == pytest.approx(area, abs=1e-12)


# Costs


def test_h_measure_of_beta_2_2_in_closed_form():
    def g(v):
        return v * (1 - v) * (1 + v * (1 - v)) / 2

    for ranking in random_rankings(60):
        rows, n = ex.hull_groups(ranking), ex.total_weight(ranking)
        loss = sum(r.weight / n * g(r.positive_weight / r.weight) for r in rows)
        expected = 1 - loss / g(ex.prevalence_of(ranking))
        assert ex.h_measure(ranking) == expected
        assert ex.h_measure_float(ranking, 2, 2) == float(expected)


@pytest.mark.parametrize(("a", "b"), [("1.3", "2.2"), ("2.5", "40.25"), ("1", "1")])
def test_real_beta_is_the_integral(a, b):
    for x in (F(1, 9), F(1, 2), F(7, 9)):
        area = quadrature(lambda c: c ** float(a) * (1 - c) ** float(b), F(1, 20), x)
        head = ex.real_beta(F(1, 20), Decimal(a) + 1, Decimal(b) + 1)
        value = ex.real_beta(x, Decimal(a) + 1, Decimal(b) + 1) - head
        assert float(value) == pytest.approx(area, rel=1e-13)


# Tables and impacts

# EL section 7.3: impacts in thousands of dollars, and the two tests of Table 7.
IMPACTS = (0, F("-7.9"), -13, 0)
ANTI_CCP = confusion.table_from_rates(F(1, 2), F(".67"), F(".05"))
RF = confusion.table_from_rates(F(1, 2), F(".69"), F(".15"))


def rounded(values, digits=3):
    return [round(float(value), digits) for value in values]


def test_area_under_kappa_is_the_integral():
    for ranking in small_rankings(4):
        negatives, total = ex.roc_curve(ranking)[-1].fp, 0.0
        for a, b in pairwise(ex.roc_curve(ranking)):
            for x, w in zip(NODES, NODE_WEIGHTS, strict=True):
                quota = a.fp + a.tp + F((1 + x) / 2) * (b.fp + b.tp - a.fp - a.tp)
                kappa = confusion.cohen_kappa(confusion.table_at_quota(ranking, quota))
                total += float(w * float(kappa) / 2 * float((b.fp - a.fp) / negatives))
        assert charts.auk(ranking) == pytest.approx(total, abs=1e-12)


# Eiland & Liebrock: worked numbers


def test_eiland_and_liebrock_blood_tests():
    assert rounded(impact.outcome_impact(ANTI_CCP, IMPACTS)) == [-0.549, -3.352, -1.950]
    assert rounded(impact.outcome_impact(RF, IMPACTS)) == [-1.411, -3.474, -2.442]
