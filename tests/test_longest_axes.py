"""Sizes that callers name: one that no memory can hold is an error that names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from backends import QUICK, Mode, parameters

import quotakernels as qk

Y, S, IDS = np.asarray([1, 0, 1, 0]), np.asarray([0.9, 0.8, 0.8, 0.1]), np.asarray([0, 1, 0, 1])
SIZE = {"positives": 40, "negatives": 60}
CALLS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "bins": lambda y, s, _, n: qk.lift_table(y, s, bins=n),
    "points": lambda _y, _s, _g, n: qk.charts.iso_line(
        0.5, of="skew", kind="roc", points=n, **SIZE
    ),
    "num_groups": lambda y, s, g, n: qk.roc_auc(y, s, groups=g, num_groups=n),
    "num_classes": lambda y, _, g, n: qk.tables.confusion_table_from_predictions(
        y, g, num_classes=n
    ),
    "n_resamples": lambda y, s, _, n: qk.bootstrap(qk.roc_auc, y, s, n_resamples=n),
    "capacity": lambda _, s, _g, n: qk.states.FixedScoreBuffer.empty(s, capacity=n),
}


@pytest.mark.parametrize("mode", parameters([m for m in QUICK if not m.lazy]))
@pytest.mark.parametrize("name", CALLS)
def test_a_size_beyond_all_memory_is_refused_by_name(name: str, mode: Mode):
    columns = [mode.array(x) for x in (Y, S, IDS)]
    for size in (10**12, 10**30):
        with pytest.raises(ValueError, match=rf"^{name} must be .*\d; got 10"):
            CALLS[name](*columns, size)


def test_sizes_of_several_tables():
    many = {"bits": 19, "num_groups": 10**6}
    kinds: dict[Any, Any] = {
        qk.states.ScoreHistogram: {},
        qk.states.ScoreBuffer: {},
        qk.states.FixedScoreBuffer: {"capacity": 4},
    }
    for state, own in kinds.items():
        with pytest.raises(ValueError, match="^num_groups must be at most 268435456; got 10000000"):
            state.empty(S, num_groups=10**12, **own)
    with pytest.raises(ValueError, match=r"^bits=19 makes 1048576000000 counts for 1000000 lists"):
        qk.states.ScoreHistogram.empty(S, **many)
    with pytest.raises(ValueError, match="^n_resamples must be at most 268435456; got 10000000"):
        qk.compare(qk.roc_auc, Y, {"a": S, "b": S}, n_resamples=10**12)


def test_the_longest_that_is_taken():
    assert qk.lift_table(Y, S, bins=np.int64(2**10)).lift.shape == (2**10,)
    for bad in (0, -1):
        with pytest.raises(ValueError, match=f"^bins must be at least 1; got {bad}"):
            qk.lift_table(Y, S, bins=bad)
    for bad in (2.0, True, "3", None):
        with pytest.raises(TypeError, match="^bins must be an integer; got "):
            qk.lift_table(Y, S, bins=bad)
