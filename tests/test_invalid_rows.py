"""Counts and masses of a row of the batch with a bad value that cannot be read: NaN, never 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters, tree_map
from public_names import PUBLIC

import quotakernels as qk

Y = np.asarray([[1.0, 0, 1, 0], [1, 0, 1, 0], [1, 2, 1, 0], [1, 0, 1, 0]])
S = np.asarray([[0.9, 0.8, 0.3, 0.1], [0.9, np.nan, 0.3, 0.1], [0.9, 0.8, 0.3, 0.1], [0.0] * 4])
P = np.asarray([[1.0, 1, 0, 0], [1, 0, 7, 0], [1, 1, 0, 0], [1, 1, 0, 0]])
W = np.asarray([1.0, 2, 0.5, 1])
M = np.asarray([[True] * 4, [True] * 4, [True] * 4, [False] * 4])
INVALID, EMPTY = (1, 2), 3
NAMES = ("numpy", "strictest-device1", "jax32-vmap", "torch-vmap")
modes = pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in NAMES]))


def amounts(y: Any, s: Any, p: Any, m: Any, **given: Any) -> dict[str, Any]:
    """What a caller reads as counts or masses."""
    ranking = qk.rank(y, s, where=m, **given)
    found: dict[str, Any] = {
        "at_threshold": qk.confusion_table(ranking, threshold=0.5),
        "unsorted": qk.confusion_table(y, s, where=m, quota=0, **given),
        "total": qk.tables.total_impact(
            y, s, where=m, threshold=0.5, impacts=(1, -1, 0, 0), **given
        ),
        "cuts": qk.tables.cut_tables(ranking).table,
        "predicted": qk.tables.confusion_table_from_predictions(y, p, where=m, **given),
        "classes": qk.tables.confusion_table_from_predictions(
            y, p, where=m, num_classes=2, **given
        ),
        "again": qk.confusion_table(ranking.at_thresholds(s[..., :1]), threshold=0.5),
    }
    for name in ("roc_curve", "pr_curve", "hit_rate_curve", "lift_table"):
        found[name] = PUBLIC[name](ranking)
    if "sample_weight" not in given:
        found["at_one_quota"] = qk.confusion_table(
            qk.rank_at_quota(y, s, where=m, quota=0, **given)
        )
    hull = qk.family_hull([qk.rank(y, s, where=m, **given)] * 2)
    return found | {
        "hull": (hull.fp, hull.tp),
        "curve": qk.tables.table_curve(qk.recall, ranking).quota,
    }


def check(found: dict[str, Any]) -> None:
    def of_each(x: np.ndarray) -> None:
        assert x.dtype.kind == "f"
        assert np.isnan(x[list(INVALID)]).all()
        assert not np.isnan(x[0]).all()

    tree_map(of_each, found)
    for name in ("at_threshold", "cuts", "predicted", "classes", "total"):
        tree_map(lambda x: np.testing.assert_array_equal(x[EMPTY], 0), found[name])


@modes
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.long_program
def test_an_invalid_row_is_nan_and_an_empty_one_is_0(mode: Mode, weighted: bool):
    given: dict[str, Any] = {"validate": False}

    def function(y: Any, s: Any, p: Any, m: Any, *w: Any) -> Any:
        return amounts(y, s, p, m, **given, **dict(zip(["sample_weight"], w, strict=False)))

    arrays = (Y, S, P, M, *([np.broadcast_to(W, Y.shape).copy()] if weighted else []))
    check(mode.run(function, *arrays))


COMPILED = parameters([m for m in MODES if m.name in ("torch-compile", "jax64-jit")])


@pytest.mark.parametrize("mode", COMPILED)
def test_total_impact_of_a_bad_score_in_a_program(mode: Mode):
    def total(y: Any, s: Any) -> Any:
        return qk.tables.total_impact(y, s, threshold=0.5, impacts=(1, -1, 0, 0)).whole

    np.testing.assert_array_equal(mode.run(total, Y, S), [0, np.nan, np.nan, 0])
