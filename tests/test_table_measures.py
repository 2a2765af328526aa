"""Measures of confusion tables, against the plain formulas in rational numbers."""

from __future__ import annotations

import math
from decimal import localcontext
from typing import Any

import numpy as np
import pytest
from backends import Mode
from everything import main_modes
from public_names import PUBLIC
from table_formulas import (
    NAMES,
    OWN,
    SMALL,
    F,
    assert_near,
    each,
    of_information,
    wanted,
    wanted_of_small,
)

import quotakernels as qk
from quotakernels.tables import ConfusionTable


@main_modes
@pytest.mark.long_program
def test_all_small_tables(mode: Mode):
    assert_near(mode.run(each, *SMALL), wanted_of_small(), 4)


def large_tables() -> np.ndarray:
    """Cells up to 2**62, of one size and of very different sizes."""
    random = np.random.default_rng(5)
    powers = random.integers(0, 62, (4, 60))
    powers[:, :30] = random.integers(30, 62, 30)
    cells = 2**powers + random.integers(0, 2**powers)
    edges = np.asarray([[2**53 - 1, 2**53 + 1, 2**31, 2**62], [2**62] * 4, [2**31 + 1] * 4]).T
    return np.concatenate([cells, edges], axis=-1)


@main_modes
def test_large_counts(mode: Mode):
    if mode.float32:
        pytest.skip("no int64 can be passed")
    cells = large_tables()
    found, exact = mode.run(each, *cells), wanted(cells)
    del found["base_ratio"], exact["base_ratio"]  # its denominator is a difference
    assert_near(found, exact, 4)


def test_nearly_independent_labels_have_information():
    """Where the sum of c/n·log(c·n/(t·p)) itself would have lost every digit."""
    cells = (2**24 + 1, 2**24, 2**24, 2**24)
    with localcontext(prec=60):
        exact = of_information([[cells[3], cells[1]], [cells[2], cells[0]]])[0]
    assert abs(F(float(qk.tables.mutual_information(ConfusionTable(*cells)))) / exact - 1) < 1e-14


# of labels and scores

Y = np.asarray([[1, 0, 1, 1, 0, 1, 0, 0], [0, 1, 0, 0, 1, 1, 0, 1]])
S = np.asarray(
    [[0.875, 0.75, 0.75, 0.625, 0.125, 0.625, 0.625, 0.25], [3, 3, 1, 7, 6, -0.0, 0.0, np.inf]]
)


def test_every_measure_takes_labels_scores_and_a_cut():
    table = qk.confusion_table(Y, S, threshold=[0.625, 0.25])
    for name in NAMES:
        function, more = PUBLIC[name], OWN.get(name, {})
        value = function(table, **more)
        np.testing.assert_array_equal(function(Y, S, threshold=[0.625, 0.25], **more), value)
        ranking = qk.rank(Y, S)
        np.testing.assert_array_equal(function(ranking, threshold=[0.625, 0.25], **more), value)
        assert value.shape == (2, 2)


# own numbers


@main_modes
def test_own_numbers_may_be_arrays(mode: Mode):
    cells = [np.asarray([3.0, 1]), np.asarray([1.0, 2]), np.asarray([2.0, 0]), np.asarray([4.0, 1])]
    betas, cost = np.asarray([0.0, 2.0]), np.asarray([1.0, 5.0])

    def measures(tp: Any, fp: Any, fn: Any, tn: Any, beta: Any, cost: Any) -> Any:
        table = ConfusionTable(tp, fp, fn, tn)
        return (
            qk.f_score(table, beta=beta),
            qk.expected_cost(table, cost_fp=cost, cost_fn=1),
            qk.tables.base_ratio(table, impacts=(cost, 1, 1, 0)),
            qk.tables.mutual_information(table, base=cost + 1),
        )

    found = mode.run(measures, *cells, betas, cost)
    for k in range(2):
        one = ConfusionTable(*(x[k] for x in cells))
        alone = measures(*one, betas[k], cost[k])
        np.testing.assert_allclose([x[k] for x in found], alone, 1e-6 if mode.float32 else 1e-15)


def test_extreme_betas():
    table = ConfusionTable(3, 1, 2, 4)
    np.testing.assert_allclose(
        qk.f_score(table, beta=[0, 1e-200, 1e200, math.inf]), [0.75] * 2 + [0.6] * 2
    )


def test_a_cell_that_is_undefined():
    assert np.isnan(qk.accuracy(ConfusionTable(np.nan, 1, 1, 1)))
