"""Undefined values stay NaN in one compiled program, where XLA may know that a numerator is 0.

On the CPU it takes (0/0)·x for 0 then, so formulas that rely on 0/0 are checked one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters, tree_leaves, tree_map
from expected import AT_QUOTA
from public_names import PUBLIC
from table_formulas import PLAIN

import quotakernels as qk
from libraries.test_lazy import OF_IMPACT

LABELS = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 1], [1, 0, 0, 0]])
SCORES = np.array(
    [[0.9, 0.8, 0.7, 0.1], [0.9, 0.8, 0.7, 0.1], [0.9, 0.8, 0.7, 0.1], [0.5] * 4, [0, 1, 1, 0.5]],
    dtype=np.float32,
)
KINDS = ("pn", "roc", "boc", "boc_dual", "pr", "pr_reciprocal", "pr_log", "lift", "bift", "bprd")
CURVES = ("roc_curve", "pr_curve", "hit_rate_curve", "qrecall_curve", "lift_curve", "pearson_curve")
AREAS = ("roc_auc", "pem", "average_hit_rate", "average_qrecall", "pr_auc", "average_precision")
MORE = ("gini", "auk", "h_measure", "roc_hull_auc", "achievable_pr_auc")
OWN = {name: {"impacts": (3, -1, -2, 1)} for name in (*OF_IMPACT, "base_ratio", "total_impact")}
OWN["expected_cost"] = {"cost_fp": 1, "cost_fn": 3}


def functions() -> dict[str, Callable[[qk.Ranking], Any]]:
    found: dict[str, Any] = {name: PUBLIC[name] for name in (*CURVES, *AREAS, *MORE)}
    for name in (*PLAIN, *OWN):
        own, measure = OWN.get(name, {}), PUBLIC[name]
        found[name] = lambda r, m=measure, own=own: m(qk.tables.cut_tables(r).table, **own)
    for kind in KINDS:
        found[f"chart {kind}"] = lambda r, kind=kind: qk.charts.powers_chart(r, kind=kind)
    for name in AT_QUOTA:
        measure = PUBLIC[name]
        found[name] = lambda r, m=measure: m(r, quota=np.array([0.0, 1.0, 2.5]))
    found["cut_tables"] = lambda r: qk.tables.cut_tables(r, ratio=2)
    return found


FUNCTIONS = functions()
PROGRAMS = [mode for mode in MODES if mode.name == "jax32-jit"]


@pytest.mark.full
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("mode", parameters(PROGRAMS))
def test_nan_where_it_is_nan(mode: Mode, name: str) -> None:
    def run(labels: Any, scores: Any) -> Any:
        return tuple(tree_leaves(FUNCTIONS[name](qk.rank(labels, scores))))

    found = mode.run(run, LABELS, SCORES)
    for value, wanted in zip(found, run(LABELS, SCORES), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)


# counts and masses of a row of the batch with a bad value that cannot be read: NaN, never 0


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
