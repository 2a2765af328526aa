"""The exact relations between measures of tables, in every mode and of random data."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from test_relations import ranked_data

import quotakernels as qk

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
