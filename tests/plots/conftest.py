"""Figures of tests are drawn in memory, in one style."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

try:
    import matplotlib
except ImportError:
    collect_ignore_glob = ["test_*.py"]

import quotakernels as qk


@pytest.fixture(autouse=True)
def figures() -> Iterator[None]:
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, "backend": "Agg"}):
        yield


@pytest.fixture
def ax() -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(4, 3)).subplots()


def scored(n: int = 60, seed: int = 3) -> tuple[Any, dict[str, Any]]:
    """Labels, and scores of three models: one with ties, one without, one worse than chance."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < 0.4).astype(int)
    scores = rng.normal(labels)
    return labels, {"tied": np.round(scores), "distinct": scores, "reversed": -np.round(scores, 1)}


LABELS, SCORES = scored()
TIED = qk.rank(LABELS, SCORES["tied"])
