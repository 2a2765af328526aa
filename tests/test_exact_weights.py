"""Weights in the exact reference, and its fast functions against its literal ones."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import exact as ex
import pytest
from exact import cases, weighted_cases

pytestmark = pytest.mark.full

F = Fraction


def test_integer_weights_are_repetitions():
    for labels, scores in cases(3):
        for weights in product((1, 3), repeat=len(labels)):
            again = [
                [v for v, w in zip(c, weights, strict=True) for _ in range(w)]
                for c in (labels, scores)
            ]
            weighted, repeated = ex.groups(labels, scores, weights), ex.groups(*again)
            assert ex.roc_auc(weighted) == ex.roc_auc(repeated)
            assert ex.pem(weighted) == ex.pem(repeated)
            assert ex.lift_table(weighted, 4) == ex.lift_table(repeated, 4)
            for quota in (0, 0.5, 1, len(again[0])):
                for measure in (ex.T, ex.hit_rate, ex.qrecall, ex.lift, ex.pearson_signed_square):
                    assert measure(weighted, quota) == measure(repeated, quota)


def test_repeating_every_example():
    changed = set()
    for labels, scores in cases(3):
        once, thrice = ex.groups(labels, scores), ex.groups(labels * 3, scores * 3)
        n = len(labels)
        assert (ex.roc_auc(once), ex.pem(once)) == (ex.roc_auc(thrice), ex.pem(thrice))
        for j in range(1, n + 1):
            for measure in (ex.hit_rate, ex.qrecall, ex.lift, ex.pearson):
                assert measure(once, j) == measure(thrice, 3 * j)
        for measure in (ex.average_hit_rate, ex.average_qrecall, ex.pem_areas):
            if measure(once) != measure(thrice):
                changed.add(measure)
    assert changed == {ex.average_hit_rate, ex.average_qrecall, ex.pem_areas}


def test_constant_weights_change_nothing():
    for labels, scores in cases(3):
        for ties in ("expected", "pessimistic"):
            plain = ex.groups(labels, scores, ties=ties)
            scaled = ex.groups(labels, scores, [0.75] * len(labels), ties=ties)
            assert ex.is_weighted(scaled)
            assert not ex.is_weighted(plain)
            assert ex.pem_areas(plain, "area") == ex.pem_areas(scaled, "area")
            for measure in (ex.average_hit_rate, ex.average_qrecall, ex.pem, ex.roc_auc):
                assert measure(plain) == measure(scaled)
            assert ex.average_qrecall(plain, "P+1") == ex.average_qrecall(scaled, "P+1")
            for j in range(len(labels) + 1):
                for measure in (ex.hit_rate, ex.qrecall, ex.lift, ex.pearson_signed_square):
                    assert measure(plain, j) == measure(scaled, 0.75 * j)


def test_the_scale_of_the_weights_does_not_matter():
    for labels, scores, weights in weighted_cases(3):
        one = ex.groups(labels, scores, weights)
        other = ex.groups(labels, scores, [w * 1e20 for w in weights])
        for measure in (ex.average_hit_rate, ex.average_qrecall, ex.pem, ex.roc_auc):
            assert measure(one) == measure(other)
        assert ex.pem_areas(one, "area") == ex.pem_areas(other, "area")


def test_weighted_pem_is_twice_auc_minus_one():
    for labels, scores, weights in weighted_cases(3):
        ranking = ex.groups(labels, scores, weights)
        assert ex.pem(ranking) == ex.gini(ranking)
        areas = ex.pem_areas(ranking, "area")
        if areas is not None:
            negative = 1 - ex.total_positive_weight(ranking) / ex.total_weight(ranking)
            assert areas.s3 == len(labels) * negative / 2


def test_weighted_auc_by_pairs_of_examples():
    for labels, scores, weights in weighted_cases(3):
        rows = list(zip(labels, scores, weights, strict=True))
        pairs = [(a, b) for a in rows for b in rows if a[0] > b[0]]
        total = sum(F(a[2] * b[2]) for a, b in pairs)
        right = sum(
            F(a[2] * b[2]) * (a[1] > b[1]) + F(a[2] * b[2], 2) * (a[1] == b[1]) for a, b in pairs
        )
        assert ex.roc_auc(ex.groups(labels, scores, weights)) == (right / total if total else None)


def test_weighted_average_hit_rate_without_ties_is_weighted_average_precision():
    for labels in product((0, 1), repeat=3):
        for weights in product((1, F(5, 2)), repeat=3):
            hits = [w * y for y, w in zip(labels, weights, strict=True)]
            precision = [sum(hits[: j + 1]) / F(sum(weights[: j + 1])) for j in range(3)]
            total = sum(h * p for h, p in zip(hits, precision, strict=True))
            ranking = ex.groups(labels, (3, 2, 1), weights)
            assert ex.average_hit_rate(ranking) == (total / sum(hits) if sum(hits) else None)


def test_weighted_sums_are_refused():
    ranking = ex.groups((1, 0), (2, 1), (1, 2))
    for measure in (ex.pem_areas, ex.large_pem_areas):
        with pytest.raises(ValueError, match="areas"):
            measure(ranking)


def test_areas_above_and_below_zero():
    # d falls to -1/7 at 1, rises through 0 at 7/4 to 3/7 at 4 and falls to 0 at 7.
    labels, scores = (0, 1, 1, 0, 0, 0, 0), (3, 2, 2, 2, 1, 1, 1)
    for weights in (None, [0.5] * 7):
        ranking = ex.groups(labels, scores, weights)
        assert ex.pem_areas(ranking, "area") == (F(9, 8), F(1, 8), F(5, 2))
    # The same line over a tied group of uneven masses: d is -1/7 at 1 and 3/7 at 4.
    ranking = ex.groups((0, 1, 0, 0), (3, 2, 2, 1), (1, 2, 1, 3))
    assert ex.pem_areas(ranking, "area") == (F(9, 14), F(1, 14), F(10, 7))


def fast_pairs(ranking):
    """(literal value, fast value) of everything that has both."""
    yield ex.roc_auc(ranking), ex.large_roc_auc(ranking)
    yield ex.pem(ranking), ex.large_pem(ranking)
    for start in ("P", "P+1"):
        yield ex.average_qrecall(ranking, start), ex.large_average_qrecall(ranking, start)
    if not ex.is_weighted(ranking):
        yield ex.pem_areas(ranking), ex.large_pem_areas(ranking)
    for share in (0, F(1, 7), F(1, 2), 1):
        quota = share * ex.total_weight(ranking)
        yield ex.hit_rate(ranking, quota), ex.large_hit_rate(ranking, quota)
        yield ex.qrecall(ranking, quota), ex.large_qrecall(ranking, quota)
        for labels in ("expected", "observed"):
            yield ex.pearson(ranking, quota, labels), ex.large_pearson(ranking, quota, labels)


def assert_fast_is_literal(ranking):
    for literal, fast in fast_pairs(ranking):
        assert literal == fast
    literal, fast = ex.average_hit_rate(ranking), ex.large_average_hit_rate(ranking)
    assert (literal is None) == (fast is None)
    if literal is not None:
        assert 0 <= literal - fast < literal / 2**200


def test_fast_functions_on_all_small_cases():
    assert_fast_is_literal([])
    for labels, scores in cases(4):
        for ties in ("expected", "given"):
            assert_fast_is_literal(ex.groups(labels, scores, ties=ties))
    for labels, scores, weights in weighted_cases(3):
        assert_fast_is_literal(ex.groups(labels, scores, weights))


@pytest.mark.parametrize("levels", [2, 17, 10**6])
def test_fast_functions_on_longer_cases(levels):
    draw = random.Random(levels)
    labels = [int(draw.random() < 0.3) for _ in range(80)]
    scores = [draw.randrange(levels) for _ in range(80)]
    weights = [10 ** draw.uniform(-20, 20) for _ in range(80)]
    assert_fast_is_literal(ex.groups(labels, scores))
    assert_fast_is_literal(ex.groups(labels, scores, weights))
