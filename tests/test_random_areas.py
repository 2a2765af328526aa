"""Areas in ROC and PR space on ten thousand random small cases with ties, and again weighted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import exact as ex
import numpy as np
import pytest
from expected import as_floats, ulps

import quotakernels as qk

pytestmark = pytest.mark.full

CASES, LENGTH = 10_000, 12
AREAS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "pr_auc": (qk.pr_auc, ex.pr_auc_exact),
    "roc_hull_auc": (qk.roc_hull_auc, ex.roc_hull_auc),
    "achievable_pr_auc": (qk.achievable_pr_auc, ex.achievable_pr_auc),
}


@pytest.mark.parametrize(("weighted", "units"), [(False, 4), (True, 16)])
def test_areas_are_within_some_units_of_the_exact_ones(weighted: bool, units: int):
    draw = np.random.default_rng(17)
    shape = (CASES, LENGTH)
    labels = draw.integers(0, 2, shape)
    scores = draw.integers(0, draw.integers(2, 12, (CASES, 1)), shape)
    where = np.arange(LENGTH) < draw.integers(1, LENGTH + 1, (CASES, 1))
    weights = draw.random(shape) * 10.0 ** draw.integers(-3, 4, shape) if weighted else None
    ranking = qk.rank(labels, scores, sample_weight=weights, where=where)
    groups = [
        ex.groups(
            labels[row].tolist(),
            scores[row].tolist(),
            None if weights is None else weights[row].tolist(),
            where[row].tolist(),
        )
        for row in range(CASES)
    ]
    for name, (found, exact) in AREAS.items():
        values = found(ranking)
        assert ulps(values, as_floats([exact(row) for row in groups])) <= units, name
        for row in range(0, CASES, 50):
            there = where[row]
            w = None if weights is None else weights[row, there]
            alone = found(labels[row, there], scores[row, there], sample_weight=w)
            assert ulps(alone, as_floats(exact(groups[row]))) <= units, name
