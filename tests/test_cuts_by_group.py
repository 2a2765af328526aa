"""The best cut of each group, means of the cells at its cut, marks, correlations, chart areas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import DISTINCT, Mode, mode_fixture
from everything import MAIN

import quotakernels as qk

SIZE, GROUPS = 40, 6
IMPACTS = (5, -4, -1, 0)
RNG = np.random.default_rng(12)
mode = mode_fixture([m for m in DISTINCT if m.name in (*MAIN, "strictest", "jax32-vmap")])


def data() -> dict[str, np.ndarray]:
    """Group 4 has no examples, group 2 one class, and group 1 large gains."""
    groups = RNG.choice([0, 1, 2, 3, 5], SIZE)
    return {
        "y": RNG.integers(0, 2, SIZE) * (groups != 2),
        "s": RNG.choice([-1.0, 0.25, 0.5, 3.0], SIZE),
        "groups": groups,
        "gain": RNG.integers(-9, 10, SIZE) * np.where(groups == 1, 2.0**20, 1.0),
        "gain_rejected": RNG.integers(-4, 5, SIZE).astype(float),
        "w": RNG.choice([0.0, 0.5, 1.0, 2.0], SIZE),
        "where": RNG.random(SIZE) < 0.8,
    }


DATA = data()


def test_marks_between_models():
    """The models are compared within each group, as if it were alone."""
    scores = np.stack([DATA["s"], np.arange(SIZE), -np.arange(SIZE) % 7])
    marks = qk.normalized_marks(DATA["y"], scores, groups=DATA["groups"], method="minmax")
    for place, group in enumerate(np.unique(DATA["groups"])):
        here = DATA["groups"] == group
        alone = qk.normalized_marks(DATA["y"][here], scores[:, here], method="minmax")
        for found, wanted in zip(marks, alone, strict=True):
            np.testing.assert_allclose(found[:, place], wanted, rtol=1e-12, atol=1e-12)


def test_bad_values_spoil_the_best_cut_of_their_group_alone(mode: Mode):
    y, gain, groups = np.array([1, 0, 1, 0, 1, 0]), np.arange(6) - 2.0, np.array([0, 0, 1, 1, 2, 2])
    scores = np.array([0.9, 0.8, np.nan, 0.6, 0.5, 0.4])

    def computed(y: Any, s: Any, gain: Any, groups: Any) -> Any:
        given = {"gain": gain, "groups": groups, "num_groups": 4, "validate": False}
        ranking = qk.rank(y, s, **given)
        return (
            qk.best_quota(ranking).value,
            qk.best_boundary(ranking, impacts=IMPACTS).quota,
            qk.best_cut(qk.f_score, ranking).value,
            qk.tables.cell_impacts(ranking, threshold=0.0).tp,
            qk.pearson(ranking, quota=2, labels="observed"),
        )

    for found in mode.run(computed, y, scores, gain, groups):
        assert np.isnan(found).tolist() == [False, True, False, True]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("labels", ["expected", "observed"])
def test_a_group_of_huge_scores_or_weights_leaves_no_trace_in_the_next(labels: Any, weighted: bool):
    """Sums of floats begin anew in each group; only whole numbers may cross them."""
    rng = np.random.default_rng(4)
    y, s, w = rng.integers(0, 2, 60), rng.random(60), rng.random(60)
    groups = np.arange(60) // 20
    for unit in (1e12, 1e-12):
        scores, weights = s * unit ** (groups - 1.0), w * unit ** (1.0 - groups)
        given = {"sample_weight": weights} if weighted else {}
        own: dict[str, Any] = {"fraction": 0.7, "labels": labels}
        found = qk.pearson(y, scores, groups=groups, **given, **own)
        for group in range(3):
            here = groups == group
            alone = {name: x[here] for name, x in given.items()}
            wanted = qk.pearson(y[here], scores[here], **alone, **own)
            assert found[group] == pytest.approx(wanted, rel=1e-12)


def test_a_long_group_leaves_no_trace_in_the_next():
    rng = np.random.default_rng(4)
    sizes = (300_000, 6)
    groups, n = np.repeat([0, 1], sizes), sum(sizes)
    y, s = rng.integers(0, 2, n), rng.random(n)
    found = qk.pearson(y, s, groups=groups, fraction=0.7)
    alone = qk.pearson(y[-6:], s[-6:], fraction=0.7)
    assert found[1] == pytest.approx(alone, rel=1e-14, abs=0)
