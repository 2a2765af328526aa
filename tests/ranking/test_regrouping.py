"""Rankings made of cuts: of the points of a curve, and at chosen thresholds."""

from __future__ import annotations

from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from array_api_compat import array_namespace
from backends import LAZY, MODES, QUICK, Mode, in_full, mode_fixture, parameters
from expected import as_floats, assert_compact, check, expected, row_of, ulps
from measures.test_small_cases import padded_cases
from public_names import PUBLIC

import quotakernels as qk

mode = mode_fixture(QUICK)

from_points = qk.Ranking.from_points
LENGTH = 4
CASES = list(ex.cases(LENGTH))
CUTS = [
    [0.5, np.nan, 2.0, 0.5],
    [-1.0, 3.0, 0.75, -2.0],
    [np.nan, np.nan, np.nan, np.nan],
    [np.inf, -np.inf, 0.5, np.nan],
]
FP, TP = np.asarray([0, 2, 2, 5]), np.asarray([1, 1, 3, 4])
MASS_FP, MASS_TP = np.asarray([0, 0.5, 2.25, 5]), np.asarray([1.5, 1.5, 3, 4.75])
Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0])
S = np.asarray([0.875, 0.75, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0])


def rows(ranking: Any) -> list[tuple[float, ...]]:
    """The rows that are not empty."""
    columns = (np.asarray(x, dtype=float) for x in ranking[:5])
    return [row for row in zip(*columns, strict=True) if row[1] > 0]


def exact_rows(groups: list[ex.Group]) -> list[tuple[float, ...]]:
    return [
        (*map(float, g[:3]), float(g.positive_weight), float(g.weight - g.positive_weight))
        for g in groups
    ]


# chosen thresholds


@pytest.mark.long_program
def test_every_small_case_at_thresholds(mode: Mode):
    """Unsorted, repeated, NaN and infinite thresholds, between the scores and at them."""

    def cut(y: Any, s: Any, mask: Any) -> Any:
        ranking = qk.rank(y, s, where=mask)
        return [ranking.at_thresholds(mode.array(np.asarray(cuts))) for cuts in CUTS]

    found = mode.run(cut, *padded_cases(LENGTH, ex.cases))
    for row, (y, s) in enumerate(CASES):
        for cuts, ranking in zip(CUTS, found, strict=True):
            wanted = exact_rows(ex.at_thresholds(ex.groups(y, s), cuts))
            assert rows(row_of(ranking, row)) == wanted, (y, s, cuts)


@pytest.mark.parametrize("length", [2, in_full(3)])
def test_one_list_at_thresholds_has_no_padding(length: int):
    for y, s, w in ex.weighted_cases(length):
        ranking = qk.rank(y, s, sample_weight=[float(x) for x in w])
        for cuts in (*CUTS, [], [0.5]):
            found = ranking.at_thresholds(cuts)
            wanted = exact_rows(ex.at_thresholds(ex.groups(y, s, w), cuts))
            assert rows(found) == wanted
            assert_compact(found.counts > 0)


TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
EAGER = parameters([m for m in MODES if m.name in ("numpy", "strict", "jax64", "torch")])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("mode", EAGER)
def test_thresholds_of_another_type(mode: Mode, dtype: str):
    """Both are compared by their exact values."""
    scores = np.asarray([1.1, 0.6, 0.1, 0.3, 3.0]).astype(dtype)
    for kind in ("f8", "f4", "i2", "u1", "?"):
        cuts = np.asarray([0.1, 0.3, 0.9, 1.1]).astype(kind)
        ranking = mode.run(lambda y, s, at: qk.rank(y, s).at_thresholds(at), Y[:5], scores, cuts)
        exact_scores = mode.run(lambda x: x, scores).astype(float).tolist()
        groups = ex.groups(Y[:5].tolist(), exact_scores)
        wanted = ex.at_thresholds(groups, cuts.astype(float).tolist())
        assert rows(ranking) == exact_rows(wanted), kind


@pytest.mark.parametrize("mode", EAGER)
def test_subnormal_scores_and_thresholds(mode: Mode):
    """Those that are 0 on hardware that flushes."""
    scores = np.asarray([3e-45, 1e-40, 0.0, -1e-40, -3e-45], dtype=np.float32)
    groups = ex.groups(Y[:5].tolist(), scores.astype(float).tolist())
    for kind in (np.float32, np.float64):
        cuts = np.asarray([2e-45, 5e-41, -2e-45, -5e-41]).astype(kind)
        found = mode.run(lambda y, s, at: qk.rank(y, s).at_thresholds(at), Y[:5], scores, cuts)
        given_cuts = mode.run(lambda x: x, cuts).astype(float).tolist()
        assert rows(found) == exact_rows(ex.at_thresholds(groups, given_cuts)), kind


# points of a curve


def points_measures(ranking: qk.Ranking) -> dict[str, Any]:
    names = ("roc_auc", "average_precision", "pr_auc", "roc_hull_auc", "achievable_pr_auc")
    return {name: PUBLIC[name](ranking) for name in names}


@pytest.mark.long_program
@pytest.mark.parametrize(("fp", "tp", "kind"), [(FP, TP, "i"), (MASS_FP, MASS_TP, "f")])
def test_points(mode: Mode, fp: np.ndarray, tp: np.ndarray, kind: str):
    found = mode.run(lambda fp, tp: list(from_points(fp, tp)), fp, tp)
    wanted = ex.groups_from_points(fp.tolist(), tp.tolist())
    assert rows(found) == exact_rows(wanted)
    assert found[3].dtype.kind == found[4].dtype.kind == kind
    values = mode.run(lambda fp, tp: points_measures(from_points(fp, tp)), fp, tp)
    exact = expected(wanted, (), weighted=kind == "f")
    for name, value in values.items():
        check(name, value, as_floats(exact[name]), weighted=kind == "f")


@every.main_modes
def test_whole_numbers_beside_masses_are_masses(mode: Mode):
    for fp, tp in ((FP, MASS_TP), (MASS_FP, TP), (FP.astype(float), TP.astype(float))):
        found = mode.run(lambda fp, tp: list(from_points(fp, tp)), fp, tp)
        points = list(zip(fp.tolist(), tp.tolist(), strict=True))
        steps = np.diff([(0.0, 0.0), *points], axis=0)
        np.testing.assert_array_equal([row[4:2:-1] for row in rows(found)], steps)
        assert [row[1] for row in rows(found)] == [1] * len(steps)
        assert found[3].dtype == found[4].dtype == np.float64


@every.main_modes
def test_the_origin_and_repeated_points_add_nothing(mode: Mode):
    full_fp, full_tp = np.repeat(np.append(0, FP), 2), np.repeat(np.append(0, TP), 2)
    found = mode.run(lambda fp, tp: list(from_points(fp, tp)), full_fp, full_tp)
    wanted = exact_rows(ex.groups_from_points(FP.tolist(), TP.tolist()))
    assert [row[1:] for row in rows(found)] == [row[1:] for row in wanted]


@every.main_modes
@pytest.mark.long_program
def test_points_of_a_curve_are_its_ranking(mode: Mode):
    """With its thresholds, of which the first is NaN; counts are floats in programs.

    The table has a row more, so that sums of floats may pair other terms.
    """

    def again(y: Any, s: Any) -> Any:
        ranking = qk.rank(y, s)
        curve = qk.roc_curve(ranking)
        xp = array_namespace(curve.fp)
        fp, tp = (xp.astype(x, xp.int32) for x in (curve.fp, curve.tp))
        made = from_points(fp, tp, thresholds=curve.threshold)
        return list(ranking), list(made), points_measures(ranking), points_measures(made)

    ranking, made, wanted, found = mode.run(again, np.stack([Y, 1 - Y]), np.stack([S, -S]))
    for row in range(2):
        assert rows([x[row] for x in made[:5]]) == rows([x[row] for x in ranking[:5]])
    by_halves = mode.library in ("jax", "array_api_strict")
    for name, value in wanted.items():
        if name == "pr_auc" or (by_halves and name == "average_precision"):
            assert ulps(found[name], value) <= 4
        else:
            np.testing.assert_array_equal(found[name], value, err_msg=name)


BAD_POINTS = [
    ({"fp": [3, 2]}, r"fp is 2 at position 1; expected finite numbers that rise from 0"),
    ({"tp": [-1, 2]}, r"tp is -1 at position 0; expected finite numbers that rise"),
    ({"fp": [0, np.nan]}, r"fp is nan at position 1; expected finite"),
    ({"tp": [0, np.inf]}, r"tp is inf at position 1; expected finite"),
    ({"thresholds": [0.5, 0.5]}, r"thresholds is 0\.5 at position 1; expected scores that fall"),
    ({"thresholds": [0.5, 0.75]}, r"thresholds is 0\.75 at position 1; expected scores that"),
    ({"thresholds": [0.5, np.nan]}, r"thresholds is nan at position 1; expected scores that fall"),
    ({"fp": [2**62, 2**63 - 1]}, r"fp is \d+ at position 1; expected fewer than 2\*\*63 examples"),
]


@pytest.mark.parametrize("mode", parameters(LAZY))
@pytest.mark.long_program
def test_bad_points_of_a_batch_are_nan(mode: Mode):
    fits = [bad for bad, message in BAD_POINTS if "fewer" not in message]
    wanted = points_measures(from_points([0, 2], [1, 2]))
    good: dict[str, Any] = {"fp": [0, 2], "tp": [1, 2], "thresholds": [2.0, 1.0]}
    batch = [good, *({**good, **bad} for bad in fits), good]
    columns = [np.asarray([each[key] for each in batch]) for key in good]
    found = mode.run(
        lambda fp, tp, at: points_measures(from_points(fp, tp, thresholds=at)), *columns
    )
    for measure, value in found.items():
        assert np.isnan(value[1:-1]).all(), measure
        assert ulps(value[[0, -1]], np.asarray([wanted[measure]] * 2)) <= 4


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.lazy and not m.float32]))
def test_more_than_63_bits_of_examples_are_nan(mode: Mode):
    fp, tp = np.asarray([[2**61, 2**63 - 1], [2**61, 2**62]]), np.asarray([[0, 1], [2**60, 2**61]])
    found = mode.run(lambda fp, tp: qk.roc_auc(from_points(fp, tp)), fp, tp)
    assert np.isnan(found[0])
    assert found[1] == float(ex.roc_auc(ex.groups_from_points(fp[1].tolist(), tp[1].tolist())))


def test_thresholds_fall_across_points_that_add_nothing():
    made = from_points([0, 1, 1, 2], [0, 0, 0, 1], thresholds=[np.nan, 1.0, 7.0, 0.5])
    assert [row[0] for row in rows(made)] == [1.0, 0.5]
    assert_compact(made.counts > 0)
