"""The H-measure: large counts, rare classes, and what is no distribution."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from expected import as_floats, assert_within
from test_costs import S, Y

import quotakernels as qk


@pytest.mark.parametrize("name", ["prevalence", (2, 2)])
def test_h_of_large_counts(name):
    dice = np.random.default_rng(5)
    for size in (2, 5, 9) * 4:
        counts = dice.integers(1, 10 ** dice.integers(1, 9), size)
        positives = (counts * dice.random(size) ** dice.integers(1, 9)).astype(int)
        check_h(name, counts, positives, 1e-13)


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


def test_kinds_of_numbers_for_a_distribution():
    wanted = qk.h_measure(Y, S, cost_distribution=(2, 2))
    for pair in ([2.0, 2], (np.float32(2), np.int64(2)), (2, np.float64(2))):
        assert qk.h_measure(Y, S, cost_distribution=pair) == wanted


@pytest.mark.long_program
@every.reading_modes
def test_a_distribution_is_no_array(mode):
    for value in (np.asarray([2.0, 2.0]), {"a": 2}):
        with every.raises(mode, TypeError, r"^cost_distribution must be a plain value; got "):
            mode.run(lambda y, s, d=value: qk.h_measure(y, s, cost_distribution=d), Y, S)


@pytest.mark.parametrize("name", ["prevalence", (2, 2)], ids=str)
def test_a_small_h_is_the_same_of_a_list_and_of_a_batch(name: Any):
    rng = np.random.default_rng(6)
    for size in (50, 1000, 40_000):
        y, s, w = rng.integers(0, 2, size), rng.random(size), rng.random(size)
        for weights, close in (({}, {"rtol": 1e-14}), ({"sample_weight": w}, {"atol": 2e-15})):
            alone = qk.h_measure(y, s, cost_distribution=name, **weights)
            batch = {key: np.stack([x, x]) for key, x in weights.items()}
            found = qk.h_measure(y, np.stack([s, s]), cost_distribution=name, **batch)
            np.testing.assert_allclose(found, [alone, alone], **({"rtol": 0.0} | close))
