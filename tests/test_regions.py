"""The regions in which models are best: crossing lines, sampled points, and no region at all."""

from __future__ import annotations

from itertools import pairwise

import exact as ex
import numpy as np
import pytest
from test_dominance import AXES, check_regions, real_regions

import quotakernels as qk
from quotakernels.measures import dominance


def test_several_lines_overtake_between_two_cuts():
    early, late = (10, 9, 7, 4, 4), (40, 44, 47, 50, 48)
    tables = [
        ((3, 2, 1), (10, 80, 10), (a, b - a, 50 - b)) for a, b in zip(early, late, strict=True)
    ]
    models = [qk.Ranking.from_counts(*table) for table in tables]
    wanted = [ex.groups_from_counts(*table) for table in tables]
    for axis in AXES:
        check_regions(qk.compare_curves(models, axis=axis), wanted, axis)
    start, _, best = real_regions(qk.compare_curves(models))
    assert best.argmax(axis=-1).tolist() == [0, 1, 2, 3]
    assert not best[:, 4].any()
    inside = start[1:]
    assert (inside > 10).all()
    assert (inside < 90).all()


@pytest.mark.parametrize("seed", range(5))
def test_regions_of_larger_families_by_sampling(seed: int):
    """Any point inside a region has exactly its models as the best, by another function."""
    dice = np.random.default_rng(seed)
    y, s = dice.integers(0, 2, 60), dice.integers(0, 40, (6, 60))
    ranking = qk.rank(y, s)
    start, stop, best = qk.compare_curves(ranking)
    real = stop > start
    start, stop, best = start[real], stop[real], best[real]
    assert (start[0], stop[-1]) == (0, 60)
    np.testing.assert_array_equal(start[1:], stop[:-1])
    assert all((a != b).any() for a, b in pairwise(best))
    for share in (0.001, 0.5, 0.999):
        quota = start + share * (stop - start)
        heights = qk.qrecall(ranking, quota=quota)
        np.testing.assert_array_equal((heights >= heights.max(axis=0) - 1e-9).T, best)


@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_of_stretches_change_nothing(monkeypatch: pytest.MonkeyPatch, weighted: bool):
    dice = np.random.default_rng(1)
    y, s = dice.integers(0, 2, 80), dice.integers(0, 60, (7, 80))
    ranking = qk.rank(y, s, sample_weight=dice.random(80) if weighted else None)
    whole = qk.compare_curves(ranking)
    monkeypatch.setattr(dominance, "_AT_ONCE", 7 * 11)
    for x, y in zip(qk.compare_curves(ranking), whole, strict=True):
        np.testing.assert_array_equal(x, y)
