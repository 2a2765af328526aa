"""Measures of confusion tables, against the plain formulas in rational numbers."""

from __future__ import annotations

import itertools
import math
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import Mode
from everything import main_modes
from hypothesis import given
from hypothesis import strategies as st
from public_names import PUBLIC
from table_formulas import NAMES, OWN, SMALL, assert_near, each, wanted, wanted_of_small

import quotakernels as qk
from measures.test_relations import ranked_data
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
    exact = ex.confusion.mutual_information(ex.confusion.table(*cells))
    found = qk.tables.mutual_information(ConfusionTable(*cells))
    assert found == pytest.approx(exact, rel=1e-14, abs=0)


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


# the exact relations between measures of tables, in every mode and of random data


# relation 8


@given(ranked_data())
def test_classes_of_the_same_mass(data: Any):
    """Relation 8 of weights that make the classes even, at every cut."""
    labels, scores = data
    shares = np.where(labels == 1, 1 / labels.sum(), 1 / (1 - labels).sum())
    ranking = qk.rank(labels, scores, sample_weight=shares)
    kappa, informed = (
        qk.tables.table_curve(f, ranking).value for f in (qk.tables.cohen_kappa, qk.informedness)
    )
    np.testing.assert_allclose(kappa, informed, rtol=1e-12, atol=1e-13)


# relation 11


def points(fp: np.ndarray, tp: np.ndarray) -> set[tuple[int, int]]:
    return {(round(float(x)), round(float(y))) for x, y in zip(fp, tp, strict=True)}


def assert_on_hull(optima: set[tuple[int, int]], hull: set[tuple[int, int]]) -> None:
    """Some optimum is a vertex; one that is none lies on an edge."""
    assert optima & hull
    edges = list(itertools.pairwise(sorted(hull)))
    for x, y in optima:
        between = [(a, b) for a, b in edges if a[0] <= x <= b[0] and a[1] <= y <= b[1]]
        cross = [(b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) for a, b in between]
        assert 0 in cross


def best_and_hull(best: Any, *data: Any) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    cuts, hull = qk.tables.cut_tables(*data).table, qk.roc_hull(*data)
    return points(cuts.fp[best.optima], cuts.tp[best.optima]), points(hull.fp, hull.tp)


def test_a_tied_optimum_may_lie_on_an_edge():
    data = [1, 1, 0, 1, 0, 0], [4, 3, 3, 2, 2, 1]
    optima, hull = best_and_hull(qk.best_cut(qk.accuracy, *data), *data)
    assert optima == {(0, 1), (1, 2), (2, 3)}
    assert optima - hull == {(1, 2)}
    assert_on_hull(optima, hull)


def test_what_is_needed_for_the_hull():
    """An MCC that is not positive, and errors that pay, have their optimum below it."""
    data = [0, 0, 1], [3, 2, 1]
    mcc = qk.best_cut(qk.matthews_corrcoef, *data)
    assert mcc.value < 0
    for best in (mcc, qk.best_boundary(*data, impacts=(0, 3, 1, 0))):
        optima, hull = best_and_hull(best, *data)
        assert optima
        assert optima.isdisjoint(hull)


@given(ranked_data(), st.lists(st.integers(-6, 6), min_size=4, max_size=4))
def test_best_boundaries_of_any_impacts_lie_on_the_hull(data: Any, impacts: list[int]):
    i_tp, i_fp, i_fn, i_tn = impacts
    ordered = (max(i_tp, i_fn) + 1, min(i_fp, i_tn), min(i_tp, i_fn), max(i_fp, i_tn) + 1)
    ranking = qk.rank(*data)
    assert_on_hull(*best_and_hull(qk.best_boundary(ranking, impacts=ordered), ranking))
