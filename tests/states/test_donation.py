"""States whose memory a step may use for the state that it makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import tree_leaves

import quotakernels as qk

jax = pytest.importorskip("jax")

LABELS, SCORES = np.array([True, False, True]), np.array([0.3, 0.2, 0.1], dtype=np.float32)


@pytest.mark.full
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [qk.states.ScoreHistogram, qk.states.FixedScoreBuffer])
def test_each_array_of_a_state_may_be_donated(kind: Any, weighted: bool):
    options = {"capacity": 10} if kind is qk.states.FixedScoreBuffer else {"bits": 8}
    step = jax.jit(lambda state, y, s: state.update(y, s), donate_argnums=0)
    first = kind.empty(jax.numpy.asarray(SCORES), weighted=weighted, **options)
    state = first
    for _ in range(3):
        state = step(state, LABELS, SCORES)
    assert all(x.is_deleted() for x in tree_leaves(first) if x.size)
    wanted = kind.empty(SCORES, weighted=weighted, **options)
    for _ in range(3):
        wanted = wanted.update(LABELS, SCORES)
    for x, y in zip(tree_leaves(state), tree_leaves(wanted), strict=True):
        np.testing.assert_array_equal(x, y)
