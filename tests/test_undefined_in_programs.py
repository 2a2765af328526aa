"""Undefined values stay NaN in one compiled program, where XLA may know that a numerator is 0.

On the CPU it takes (0/0)·x for 0 then, so formulas that rely on 0/0 are checked one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters, tree_leaves
from expected import AT_QUOTA
from public_names import PUBLIC
from table_formulas import PLAIN
from test_lazy import OF_IMPACT

import quotakernels as qk

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
