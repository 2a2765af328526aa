"""Rankings that callers make of the columns of others."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters

import quotakernels as qk

READ_LATER = parameters([m for m in MODES if m.name in ("numpy", "jax32", "torch", "torch-vmap")])


@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic", "given"])
@pytest.mark.parametrize("mode", READ_LATER)
def test_every_ranking_that_is_made_here_can_be_made_by_hand(mode: Mode, ties: Any):
    """Padded tables too, and those of merged, resampled or chosen rows."""
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 2, (2, 3, 20)) > 0, rng.integers(-2, 3, (2, 3, 20)) / 2
    weights, there = rng.integers(0, 3, (2, 3, 20)) / 4, rng.random((2, 3, 20)) < 0.7

    def made(y: Any, s: Any, w: Any, m: Any) -> Any:
        weighted = qk.rank(y, s, sample_weight=w, where=m, ties=ties)
        plain = qk.rank(y, s, where=m, ties=ties)
        return weighted, plain, plain.at_thresholds(plain.thresholds[..., ::7])

    for ranking in mode.run(made, labels, scores, weights, there):
        by_hand = qk.Ranking(*ranking)
        np.testing.assert_array_equal(qk.roc_auc(by_hand), qk.roc_auc(ranking))
        for same in (copy.deepcopy(by_hand), pickle.loads(pickle.dumps(by_hand))):
            assert type(same) is qk.Ranking
            np.testing.assert_array_equal(same.counts, ranking.counts)
    points = qk.Ranking.from_points([0.5, 0.5, 2], [0.25, 1, 1])
    assert qk.roc_auc(qk.Ranking(*points)) == qk.roc_auc(points)


def test_what_is_no_array_passes():
    """Trees of axes, for example, which JAX maps over."""
    assert qk.Ranking(0, 0, 0, None, None).counts == 0
