"""The H-measure: extreme distributions, relations, and what is no distribution."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from backends import MODES, parameters
from expected import as_floats, assert_within
from hypothesis import given
from hypothesis import strategies as st
from test_costs import DISTRIBUTIONS, S, W, Y, distribution

import quotakernels as qk


@pytest.mark.parametrize("name", ["prevalence", (2, 2), (1, 1), (0.5, 0.5), (30, 4), (0.1, 90.5)])
def test_h_of_large_counts(name):
    dice = np.random.default_rng(5)
    for size in (2, 5, 9) * 4:
        counts = dice.integers(1, 10 ** dice.integers(1, 9), size)
        positives = (counts * dice.random(size) ** dice.integers(1, 9)).astype(int)
        check_h(name, counts, positives, 1e-13)


@pytest.mark.parametrize("name", [(1000, 1000), (0.1, 1000), (1000, 0.1), (2, 1000.0), (150, 1.5)])
def test_h_of_extreme_distributions(name):
    dice = np.random.default_rng(6)
    for size in (2, 6, 12):
        counts = dice.integers(1, 3000, size)
        positives = (counts * dice.random(size) ** dice.integers(1, 9)).astype(int)
        check_h(name, counts, positives, 1e-12)


def check_h(name: Any, counts: np.ndarray, positives: np.ndarray, tolerance: float) -> None:
    scores = np.arange(counts.size, 0, -1)
    groups = ex.groups_from_counts(scores.tolist(), counts.tolist(), positives.tolist())
    pair = () if name == "prevalence" else map(Fraction, name)
    wanted = np.asarray(as_floats(ex.h_measure_float(groups, *pair)))
    ranking = qk.Ranking.from_counts(scores, counts, positives)
    assert_within(qk.h_measure(ranking, cost_distribution=name), wanted, tolerance, str(name))


def test_h_where_one_class_is_rare():
    for rare in (1e-3, 1e-6, 1e-9):
        counts, n = np.asarray([10, 10, 980]), round(1 / rare)
        for positives in ([1, 0, 0], [1, 3, 1]):
            scaled = counts * (n // 1000)
            check_h("prevalence", scaled, np.asarray(positives), 1e-13)
            check_h("prevalence", scaled, scaled - positives, 1e-13)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_h_of_chance_the_optimum_and_the_worst(name):
    given = {"cost_distribution": distribution(name)}
    labels = np.sort(Y)
    assert qk.h_measure(labels, np.arange(8), **given) == 1
    assert qk.h_measure(labels, -np.arange(8), **given) == 0
    assert qk.h_measure(labels, np.zeros(8), **given) == 0
    assert qk.h_measure(labels, np.zeros(8), sample_weight=W / 3 + 0.1, **given) == 0


@given(st.integers(0, 2**32 - 1))
def test_what_h_does_not_change_with(seed):
    dice = np.random.default_rng(seed)
    n = int(dice.integers(2, 40))
    labels, scores = dice.integers(0, 2, n), np.round(dice.normal(size=n), 1)
    labels[:2] = 0, 1
    weights = dice.integers(1, 4, n)
    for a, b in ((2, 2), (0.7, 3.5)):
        value = qk.h_measure(labels, scores, cost_distribution=(a, b))
        assert 0 <= value <= 1
        other = qk.h_measure(1 - labels, -scores, cost_distribution=(b, a))
        np.testing.assert_allclose(other, value, atol=2e-14)
    value = qk.h_measure(labels, scores)
    np.testing.assert_allclose(qk.h_measure(1 - labels, -scores), value, atol=2e-14)
    order = dice.permutation(n)
    assert qk.h_measure(labels[order], np.exp(scores[order])) == value
    repeated = qk.h_measure(np.repeat(labels, weights), np.repeat(scores, weights))
    weighted = qk.h_measure(labels, scores, sample_weight=weights * 0.3)
    np.testing.assert_allclose(weighted, repeated, atol=2e-14)
    bounds = [qk.h_measure(labels, scores, ties=t) for t in ("pessimistic", "optimistic")]
    assert bounds[0] <= value + 1e-15
    assert value <= bounds[1] + 1e-15


def test_h_of_the_hull_is_h():
    hull = qk.roc_hull(Y, S)
    counts = np.diff(hull.fp + hull.tp)
    of_hull = qk.Ranking.from_counts(-np.arange(counts.size), counts, np.diff(hull.tp))
    for name in DISTRIBUTIONS:
        given = {"cost_distribution": distribution(name)}
        assert qk.h_measure(of_hull, **given) == qk.h_measure(Y, S, **given)


def test_kinds_of_numbers_for_a_distribution():
    wanted = qk.h_measure(Y, S, cost_distribution=(1.5, 3.0))
    for pair in ([1.5, 3], (np.float32(1.5), np.int64(3)), (1.5, np.float64(3))):
        assert qk.h_measure(Y, S, cost_distribution=pair) == wanted


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in ("jax32", "strict")]))
def test_kinds_of_numbers_for_a_distribution_elsewhere(mode):
    wanted = qk.h_measure(Y, S, cost_distribution=(1.5, 3.0))
    for pair in ([1.5, 3], (np.float32(1.5), np.int64(3))):
        found = mode.run(lambda y, s, d=pair: qk.h_measure(y, s, cost_distribution=d), Y, S)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.long_program
@every.reading_modes
def test_a_distribution_is_no_array(mode):
    for value in (np.asarray([2.0, 2.0]), {"a": 2}):
        with every.raises(mode, TypeError, r"^cost_distribution must be a plain value; got "):
            mode.run(lambda y, s, d=value: qk.h_measure(y, s, cost_distribution=d), Y, S)


@pytest.mark.parametrize("name", ["prevalence", (2, 2), (0.1, 0.1), (84, 27)], ids=str)
def test_a_small_h_is_the_same_of_a_list_and_of_a_batch(name: Any):
    rng = np.random.default_rng(6)
    for size in (50, 1000, 40_000):
        y, s, w = rng.integers(0, 2, size), rng.random(size), rng.random(size)
        for weights, close in (({}, {"rtol": 1e-14}), ({"sample_weight": w}, {"atol": 2e-15})):
            alone = qk.h_measure(y, s, cost_distribution=name, **weights)
            batch = {key: np.stack([x, x]) for key, x in weights.items()}
            found = qk.h_measure(y, np.stack([s, s]), cost_distribution=name, **batch)
            np.testing.assert_allclose(found, [alone, alone], **({"rtol": 0.0} | close))
