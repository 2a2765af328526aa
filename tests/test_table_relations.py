"""The exact relations between measures of tables, in every mode and of random data."""

from __future__ import annotations

import itertools
from functools import cache, partial
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import QUICK, Mode, mode_fixture
from hypothesis import given
from hypothesis import strategies as st
from test_relations import ranked_data

import quotakernels as qk

mode = mode_fixture(QUICK)


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

BY_MEASURE: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "accuracy": (qk.accuracy, {}, ex.confusion.accuracy),
    "f_score": (qk.f_score, {}, ex.confusion.f_score),
    "f_score, β = 3": (qk.f_score, {"beta": 3.0}, partial(ex.confusion.f_score, beta=3)),
    "f_score, β = ½": (qk.f_score, {"beta": 0.5}, partial(ex.confusion.f_score, beta=0.5)),
    "informedness": (qk.informedness, {}, ex.confusion.informedness),
    "cohen_kappa": (qk.tables.cohen_kappa, {}, ex.confusion.cohen_kappa),
    "matthews_corrcoef": (qk.matthews_corrcoef, {}, ex.confusion.matthews_signed_square),
}
"""A measure, its own numbers, and the exact one, or another that is largest at the same cuts."""
BY_IMPACT = {
    "right and wrong": (1.0, -1.0, -1.0, 1.0),
    "loans": (5.0, -0.5, -3.0, 0.0),
    "alarms": (0.0, -3.0, -1.0, 2.0),
}
"""A true positive brings more than a false negative, a true negative more than a false positive."""
N = 7


def rankings() -> tuple[np.ndarray, np.ndarray]:
    """Labels of both classes and scores, with ties of every kind and none."""
    dice = np.random.default_rng(12)
    labels = dice.integers(0, 2, (150, N))
    labels[:, :2] = 0, 1
    levels = dice.integers(1, 3 * N, (150, 1))
    return labels, dice.integers(0, levels, (150, N)).astype(float)


def best_cuts(labels: Any, scores: Any) -> dict[str, Any]:
    ranking = qk.rank(labels, scores)
    found: dict[str, Any] = {
        name: qk.best_cut(measure, ranking, **own).optima
        for name, (measure, own, _) in BY_MEASURE.items()
    }
    for name, impacts in BY_IMPACT.items():
        found[name] = qk.best_boundary(ranking, impacts=impacts).optima
    hull = qk.roc_hull(ranking)
    rates = [
        qk.tables.table_curve(f, ranking).value for f in (qk.tables.false_positive_rate, qk.recall)
    ]
    return found | {"cuts": rates, "hull": (hull.fp, hull.tp)}


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


@cache
def exact_optima() -> list[dict[str, tuple[Any, set[tuple[int, int]]]]]:
    """For each ranking and measure the largest value, and the vertices that have it."""
    rows = []
    for labels, scores in zip(*(x.tolist() for x in rankings()), strict=True):
        groups = ex.groups(labels, scores)
        best: dict[str, Any] = {
            name: ex.confusion.best_cut(groups, measure)
            for name, (*_, measure) in BY_MEASURE.items()
        }
        best |= {name: ex.impact.best_boundary(groups, i) for name, i in BY_IMPACT.items()}
        curve = ex.roc_curve(groups)
        row: dict[str, Any] = {}
        for name, cut in best.items():
            optima = [False] * len(curve) if cut is None else cut.optima
            tied = {(int(v.fp), int(v.tp)) for v, at in zip(curve, optima, strict=True) if at}
            row[name] = (None if cut is None else cut.value, tied)
        rows.append(row)
    return rows


@pytest.mark.full
@pytest.mark.long_program
def test_best_cuts_lie_on_the_hull(mode: Mode):
    """They are the exact ones; of float32 some of them, since rounding may part equal values."""
    found = mode.run(best_cuts, *rankings())
    rates, hulls = found.pop("cuts"), found.pop("hull")
    positives = rankings()[0].sum(axis=-1, keepdims=True)
    cuts = (rates[0] * (N - positives), rates[1] * positives)
    unconditional = 0
    for row, wanted in enumerate(exact_optima()):
        hull = points(*(x[row] for x in hulls))
        assert wanted.keys() == found.keys()
        for name, (value, exact) in wanted.items():
            optima = points(*(x[row][found[name][row]] for x in cuts))
            assert optima <= exact if mode.float32 else optima == exact, (row, name)
            if name != "matthews_corrcoef" or (value is not None and value > 0):
                assert_on_hull(optima, hull)
            else:
                unconditional += 1
    assert unconditional > 0


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
