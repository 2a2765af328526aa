"""What examples bring, by group: each group has the totals of its own examples alone."""

from __future__ import annotations

import numpy as np
import pytest
from backends import DISTINCT, mode_fixture
from everything import MAIN

import quotakernels as qk

SIZE, GROUPS = 40, 6
RNG = np.random.default_rng(8)
mode = mode_fixture([m for m in DISTINCT if m.name in (*MAIN, "strictest", "jax32-vmap")])


def data() -> dict[str, np.ndarray]:
    """Two models of the same examples; group 4 has none, and group 1 has large amounts."""
    groups = RNG.choice([0, 1, 2, 3, 5], SIZE)
    gain = RNG.integers(-9, 10, SIZE) * np.where(groups == 1, 2**20, 1)
    return {
        "y": RNG.integers(0, 2, SIZE),
        "s": RNG.choice([-1.0, 0.25, 0.5, 3.0], (2, SIZE)),
        "groups": groups,
        "gain": gain.astype(float),
        "other": RNG.integers(-4, 5, SIZE).astype(float),
        "cost": RNG.integers(1, 4, SIZE).astype(float),
        "w": RNG.choice([0.0, 0.5, 1.0, 2.0], SIZE),
        "where": RNG.random(SIZE) < 0.8,
    }


DATA = data()


def test_small_amounts_are_not_lost_behind_another_group():
    """Sums begin anew in each group, from both ends."""
    groups, gain = np.asarray([0, 0, 1, 1, 2, 2]), np.asarray([1e20, 1e20, 1e-20, 3e-20, 1e20, 7.0])
    found = qk.impact_at_quota(None, -gain, gain=gain, gain_rejected=gain, groups=groups, quota=1)
    assert found.selected.tolist() == [1e20, 1e-20, 7.0]
    assert found.rejected.tolist() == [1e20, 3e-20, 1e20]


def test_their_mean_and_its_interval():
    given = {name: DATA[name] for name in ("groups", "gain", "cost")}
    each = qk.budgets.gain_per_cost(DATA["y"], DATA["s"][0], quota=2, when_short="all", **given)
    mean = qk.group_mean(qk.budgets.gain_per_cost, quota=2, when_short="all")
    assert mean(DATA["y"], DATA["s"][0], **given).value == np.mean(each)
    with pytest.warns(UserWarning, match="^only 5 groups"):
        drawn = qk.bootstrap(
            mean, DATA["y"], DATA["s"][0], n_resamples=200, random_state=1, **given
        )
    assert drawn.value.lower < np.mean(each) < drawn.value.upper
