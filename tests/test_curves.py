"""Vertices of curves and hulls against the exact ones, in every mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import QUICK, Mode, in_full, mode_fixture
from expected import assert_vertices, row_of

import quotakernels as qk

mode = mode_fixture(QUICK)

LENGTH = 4
CASES = list(ex.cases(LENGTH))
GROUPS = [ex.groups(y, s) for y, s in CASES]
RNG = np.random.default_rng(4)
STARTS = ("roc", "horizontal")


def padded() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All cases in one batch; what the mask hides is made to look like data."""
    labels = RNG.integers(0, 2, (len(CASES), LENGTH))
    scores = RNG.choice([2.0, 0.5, -1.0], labels.shape)
    mask = np.zeros(labels.shape, dtype=bool)
    for row, (y, s) in enumerate(CASES):
        labels[row, : len(y)], scores[row, : len(y)], mask[row, : len(y)] = y, s, True
    return labels, scores, mask


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
    found = mode.run(lambda y, s, mask: curves(qk.rank(y, s, where=mask)), *padded())
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
