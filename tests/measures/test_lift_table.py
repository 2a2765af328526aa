"""Every column of the lift table, with any number of bins, against the exact one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, in_full, mode_fixture, parameters
from expected import as_floats, assert_vertices, assert_within, row_of

import quotakernels as qk
from measures.test_small_cases import padded_cases

BINS = (10, 1, 3)
USED = ("numpy", "strictest", "jax32-jit", "torch", "torch-vmap", "cupy")
modes = pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in USED]))


@cache
def cases() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores and weights, one example of weight 0 in those that have one less."""
    every = [case for case in ex.weighted_cases(3) if len(case[0]) > 1]
    rows = [[(*column, 0)[:3] for column in case] for case in every]
    labels, scores, weights = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    return labels, scores, weights


def default_and_chosen(y: Any, s: Any, w: Any = None) -> dict[int, qk.results.LiftTable]:
    """The tables of each number of bins, that of ten by default."""
    ranking = qk.rank(y, s, sample_weight=w)
    chosen = {bins: qk.lift_table(ranking, bins=bins) for bins in BINS[1:]}
    return {BINS[0]: qk.lift_table(ranking)} | chosen


def check(found: dict[int, qk.results.LiftTable], rankings: list[list[ex.Group]]) -> None:
    for bins, table in found.items():
        exact = [ex.lift_table(ranking, bins) for ranking in rankings]
        for name in ex.LiftBin._fields:
            wanted = as_floats([[getattr(row, name) for row in rows] for rows in exact])
            value = getattr(table, name)
            assert value.shape == wanted.shape, (bins, name)
            near = 1e-13 if value.dtype == np.float64 else 1e-5
            assert_within(value, wanted, near * np.maximum(1, wanted), f"{bins} {name}")


@modes
@pytest.mark.long_program
def test_every_column_is_exact(mode: Mode):
    found = mode.run(default_and_chosen, *cases())
    rows = zip(*(column.tolist() for column in cases()), strict=True)
    check(found, [ex.groups(*row) for row in rows])


@pytest.mark.parametrize("length", [3, in_full(4)])
def test_one_list_has_the_same_columns_as_a_batch(length: int):
    for labels, scores in ex.cases(length):
        found = default_and_chosen(labels, scores)
        one = {k: qk.results.LiftTable(*(x[None] for x in table)) for k, table in found.items()}
        check(one, [ex.groups(labels, scores)])


def test_columns_are_in_the_order_of_the_exact_table():
    assert qk.results.LiftTable._fields == ex.LiftBin._fields


def test_one_bin_is_the_whole():
    table = qk.lift_table([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], bins=1)
    assert np.stack(table).ravel().tolist() == [0, 5, 3, 0.6, 1, 0.6, 1, 1, 1, 1, 0]


def test_without_examples_nothing_is_defined():
    for table in default_and_chosen(np.zeros((2, 0)), np.zeros((2, 0))).values():
        assert np.isnan(np.stack(table)).all()


def test_many_bins():
    assert qk.lift_table([1, 0, 1, 0], [4, 3, 3, 1], bins=np.int64(2**10)).lift.shape == (2**10,)


# vertices of curves and hulls against the exact ones, in every mode


mode = mode_fixture(QUICK)

LENGTH = 4
CASES = list(ex.cases(LENGTH))
GROUPS = [ex.groups(y, s) for y, s in CASES]
STARTS = ("roc", "horizontal")


def curves(ranking: qk.Ranking) -> dict[str, Any]:
    found = {f"pr_{start}": qk.pr_curve(ranking, start=start) for start in STARTS}
    return found | {
        "roc": qk.roc_curve(ranking),
        "hull": qk.roc_hull(ranking),
        "achievable": qk.achievable_pr_curve(ranking),
    }


def wanted_curves(groups: list[ex.Group]) -> dict[str, Sequence[Any] | None]:
    found: dict[str, Any] = {f"pr_{start}": ex.pr_curve(groups, start) for start in STARTS}
    return found | {
        "roc": ex.roc_curve(groups),
        "hull": ex.roc_hull(groups),
        "achievable": ex.achievable_pr_curve(groups),
    }


@pytest.mark.long_program
def test_vertices_of_every_small_case(mode: Mode):
    found = mode.run(
        lambda y, s, mask: curves(qk.rank(y, s, where=mask)), *padded_cases(LENGTH, ex.cases)
    )
    for row, groups in enumerate(GROUPS):
        for name, wanted in wanted_curves(tuple(groups)).items():
            assert_vertices(name, row_of(found[name], row), wanted)


@pytest.mark.full
def test_one_list_of_scores_gives_no_padding():
    for (y, s), groups in zip(CASES, GROUPS, strict=True):
        found = curves(qk.rank(y, s))
        for name, wanted in wanted_curves(groups).items():
            curve = found[name]
            assert_vertices(name, curve, wanted)
            if wanted is not None:
                assert len(curve.fp) == len(wanted), name


@pytest.mark.parametrize("length", [2, in_full(3)])
def test_weights(length: int):
    for y, s, w in ex.weighted_cases(length):
        weights = [float(x) for x in w]
        found = curves(qk.rank(y, s, sample_weight=weights))
        for name, wanted in wanted_curves(ex.groups(y, s, weights)).items():
            assert_vertices(name, found[name], wanted)
