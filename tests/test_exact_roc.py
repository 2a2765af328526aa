"""The exact reference of ROC and PR space: worked numbers, and one count against another."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product

import exact as ex
import numpy as np
import pytest
from exact import cases, weighted_cases, without_ties

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


def test_published_table_2_as_average_precision():
    ranking = without_ties([1, 0, 1, 1, 0, 0, 1, 0, 0, 0])
    assert ex.average_precision(ranking) == F(251, 336) == ex.expected_average_precision(ranking)


# ROC space


def test_hull_by_chords_is_the_chain():
    for ranking in (*rankings(5), *random_rankings(100)):
        hull = ex.roc_hull(ranking)
        assert hull == ex.roc_hull(ranking, "brute")
        assert ex.area(ex.roc_curve(ranking)) == ex.roc_auc(ranking) <= ex.roc_hull_auc(ranking)
        slopes = [v.slope_max for v in hull]
        assert slopes[0] == math.inf
        assert all(a > b for a, b in pairwise(slopes[1:]))
        assert slopes[1:] == [v.slope_min for v in hull[:-1]]
        merged = ex.hull_groups(ranking)
        assert [v[2:] for v in ex.roc_curve(merged)] == [v[2:5] for v in hull]
        assert ex.at_thresholds(ranking, [v.threshold for v in hull]) == merged


def test_family_hull_is_the_hull_of_all_points():
    dice = random.Random(1)
    for _ in range(60):
        labels = [0, 1, *(dice.randint(0, 1) for _ in range(6))]
        models = [ex.groups(labels, [dice.randint(0, 4) for _ in labels]) for _ in range(3)]
        hull = ex.family_hull(models)
        assert hull == ex.family_hull(models, "brute")
        curves = [ex.roc_curve(model) for model in models]
        for v in hull:
            assert v.model == min(i for i in range(3) if v[:2] in {x[:2] for x in curves[i]})
            assert v[:5] in curves[v.model]
        assert all(ex.dominates_roc(hull, model) for model in models)
        assert [hull[0].model, hull[-1].model] == [0, 0]


def test_mixtures_lie_on_the_hull():
    for ranking in random_rankings(30):
        hull = ex.roc_hull(ranking)
        whole = hull[-1].fp + hull[-1].tp
        for k in range(9):
            quota = whole * k / 8
            m = ex.mixture(hull, quota=quota)
            assert m.fpr * hull[-1].fp + m.tpr * hull[-1].tp == quota
            assert ex.mixture(hull, fpr=m.fpr).tpr >= m.tpr
            assert ex.mixture(hull, tpr=m.tpr).fpr <= m.fpr
            a, b = hull[m.lower], hull[m.upper]
            assert m.fpr == (1 - m.share) * a.fpr + m.share * b.fpr
            assert 0 <= m.share < 1
            assert (m.share == 0) == (m.lower == m.upper)


# Precision-recall space


def test_pr_curve_starts():
    ranking = without_ties((0, 1, 0))
    assert [v.precision for v in ex.pr_curve(ranking)] == [0, 0, F(1, 2), F(1, 3)]
    flat = [v.precision for v in ex.pr_curve(ranking, "horizontal")]
    assert flat == [F(1, 2), F(1, 2), F(1, 2), F(1, 3)]
    nothing = ex.pr_curve(without_ties((0, 0)), "horizontal")
    assert [v[:2] for v in nothing] == [(None, 0)] * 3
    assert ex.pr_curve([]) == [(None, None, None, 0, 0)]
    for undefined in (
        ex.average_precision,
        ex.expected_average_precision,
        ex.pr_auc_exact,
        ex.pr_auc_trapezoid,
        ex.achievable_pr_auc,
        ex.pr_pieces,
        ex.roc_hull,
        ex.h_measure,
        ex.h_measure_float,
    ):
        assert undefined([]) is undefined(without_ties((0, 0))) is None


def test_precision_limits_are_the_vertices():
    for ranking in rankings():
        for before, after in pairwise(ex.pr_curve(ranking)):
            if after.recall > before.recall:
                left = ex.precision_at_recall(ranking, after.recall, "left")
                assert left == after.precision
                right = ex.precision_at_recall(ranking, before.recall, "right")
                assert right == before.precision


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


def test_exact_area_of_a_small_group_far_down():
    ranking = ex.groups_from_counts((2, 1), (10**12, 1), (0, 1))
    # ∫ t/(S + t) dt = 1/(2S) - 1/(3S²) + …
    assert ex.pr_auc_exact(ranking) == float(F(1, 2 * 10**12) - F(1, 3 * 10**24))


def test_areas_without_ties():
    for labels in product((0, 1), repeat=7):
        if any(labels):
            ranking = without_ties(labels)
            step, exact = ex.average_precision(ranking), ex.pr_auc_exact(ranking)
            assert step >= F(exact) - F(1, 10**15)
            assert exact >= ex.pr_auc_trapezoid(ranking) - F(1, 10**15)


def test_achievable_curve_is_never_lower():
    for ranking in random_rankings(50):
        assert ex.dominates_pr(ex.achievable_pr_curve(ranking), ranking)
        assert ex.achievable_pr_auc(ranking) >= ex.pr_auc_exact(ranking) - 1e-15


def test_points_there_and_back():
    for fpr, tpr in product((F(0), F(1, 3), F(1)), (F(1, 4), F(1))):
        point = ex.roc_to_pr(fpr, tpr, positives=3, negatives=8)
        assert ex.pr_to_roc(*point, positives=3, negatives=8) == (fpr, tpr)
    assert ex.roc_to_pr(0, 0, positives=3, negatives=8) == (0, None)
    assert ex.pr_to_roc(0, 0.5, positives=3, negatives=8) == (0, 0)
    assert ex.pr_to_roc(0, 0, positives=3, negatives=8) == (None, 0)
    with pytest.raises(ValueError, match="no classifier"):
        ex.pr_to_roc(1, F(1, 9), positives=3, negatives=8)


# Comparison


def test_dominance_is_the_same_in_both_spaces():
    models = [ex.groups(labels, scores) for labels, scores in cases(5) if sum(labels) == 2]
    for n in (4, 5):
        same = [r for r in models if sum(g.count for g in r) == n]
        for a, b in product(same, same):
            answer = ex.dominates_roc(a, b)
            assert ex.dominates_pr(a, b) == answer
            area = ex.roc_auc(a) >= ex.roc_auc(b)
            assert area or not answer


def test_best_regions():
    dice = random.Random(3)
    for axis in ("quota", "fpr", "recall") * 10:
        labels = [0, 1, *(dice.randint(0, 1) for _ in range(6))]
        models = [ex.groups(labels, [dice.randint(0, 4) for _ in labels]) for _ in range(3)]
        regions = ex.best_regions(models, axis)
        assert (regions[0].start, regions[-1].stop) == (0, 8 if axis == "quota" else 1)
        for a, b in pairwise(regions):
            assert a.stop == b.start
            assert a.best != b.best
        for start, stop, best in regions:
            for x in (start + (stop - start) * F(k, 997) for k in (1, 400, 996)):
                assert ex.best_models(models, axis, x) == list(best)
        for i in range(3):
            others = [ex.dominates_roc(models[i], other) for other in models]
            assert all(region.best[i] for region in regions) == all(others)


# Costs


def test_best_operating_point_is_on_the_hull():
    for ranking in random_rankings(40):
        hull, prevalence = ex.roc_hull(ranking), ex.prevalence_of(ranking)
        for costs in ((1, 1), (1, 3), (F(5, 2), 1), (0, 1), (1, 0)):
            best = ex.best_operating_point(ranking, *costs)
            cheapest = min(ex.expected_cost(*v[:2], *costs, prevalence) for v in hull)
            assert best.cost == cheapest
            if costs[1]:
                slope = ex.iso_performance_slope(*costs, prevalence)
                fitting = [v for v in hull if v.slope_min <= slope <= v.slope_max]
                assert (best.fpr, best.tpr) == fitting[0][:2]


def test_h_measure_of_beta_2_2_in_closed_form():
    def g(v):
        return v * (1 - v) * (1 + v * (1 - v)) / 2

    for ranking in random_rankings(60):
        rows, n = ex.hull_groups(ranking), ex.total_weight(ranking)
        loss = sum(r.weight / n * g(r.positive_weight / r.weight) for r in rows)
        expected = 1 - loss / g(ex.prevalence_of(ranking))
        assert ex.h_measure(ranking) == ex.h_measure(ranking, method="brute") == expected
        assert ex.h_measure_float(ranking, 2, 2) == float(expected)


def test_h_measure_of_real_parameters():
    for ranking in random_rankings(20):
        assert ex.h_measure_float(ranking, 5, 3) == float(ex.h_measure(ranking, 5, 3, "brute"))
        share = ex.prevalence_of(ranking)
        assert ex.h_measure_float(ranking) == ex.h_measure_float(ranking, 1 + share, 2 - share)
    assert ex.h_measure_float(without_ties((1, 1, 0)), 0.5, 0.25) == 1
    assert ex.h_measure_float(without_ties((0, 1, 1)), 0.5, 0.25) == 0


@pytest.mark.parametrize(("a", "b"), [("1.3", "2.2"), ("2.5", "40.25"), ("1", "1")])
def test_real_beta_is_the_integral(a, b):
    for x in (F(1, 9), F(1, 2), F(7, 9)):
        area = quadrature(lambda c: c ** float(a) * (1 - c) ** float(b), F(1, 20), x)
        head = ex.real_beta(F(1, 20), Decimal(a) + 1, Decimal(b) + 1)
        value = ex.real_beta(x, Decimal(a) + 1, Decimal(b) + 1) - head
        assert float(value) == pytest.approx(area, rel=1e-13)
