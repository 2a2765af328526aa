"""States that forget: what was seen weighs less, exactly as examples with such weights."""

from __future__ import annotations

from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, parameters

import quotakernels as qk
from quotakernels.states import ScoreHistogram

RNG = np.random.default_rng(41)
DAYS, SIZE = 4, 12
Y = RNG.integers(0, 2, (DAYS, SIZE))
S = RNG.choice([-1.0, 0.25, 0.5, 3.0], (DAYS, SIZE)).astype(np.float16)
W = RNG.choice([0.0, 0.5, 1.0, 3.0], (DAYS, SIZE))
AGED = W * 0.5 ** np.arange(DAYS)[::-1, None]
modes = [m for m in MODES if m.name in ("numpy", "torch", "jax64-jit")]


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters(modes))
def test_an_example_weighs_less_with_every_period(mode: Mode):
    def computed(y: Any, s: Any, w: Any) -> Any:
        state = ScoreHistogram.empty(s[0], weighted=True)
        for day in range(DAYS):
            state = state.decay(0.5).update(y[day], s[day], sample_weight=w[day])
        ranking = state.ranking()
        return state.compute(qk.roc_auc), state.compute(qk.hit_rate, quota=5.5), ranking.weights

    auc, rate, weights = mode.run(computed, Y, S, W)
    table = ex.groups(Y.ravel().tolist(), S.ravel().tolist(), AGED.ravel().tolist())
    assert float(auc) == pytest.approx(float(ex.roc_auc(table)), rel=1e-15)
    assert float(rate) == pytest.approx(float(ex.hit_rate(table, 5.5)), rel=1e-15)
    assert weights[weights > 0].tolist() == [float(g.weight) for g in table if g.weight]


def test_forgetting_goes_with_merging_and_ends_in_nothing():
    states = [ScoreHistogram.of(y, s, sample_weight=w) for y, s, w in zip(Y, S, W, strict=True)]
    one = states[0].merge(states[1]).decay(0.25)
    other = states[0].decay(0.25).merge(states[1].decay(0.25))
    np.testing.assert_equal(one._asdict(), other._asdict())
    for _ in range(3):
        one = one.decay(2.0**-500)
    empty = ScoreHistogram.empty(S[0], weighted=True)
    np.testing.assert_equal(one._asdict(), empty._asdict())


def test_columns_decay_with_the_masses():
    cost = np.abs(S)
    state = ScoreHistogram.empty(S[0], weighted=True, columns=["cost"])
    state = state.update(Y[0], S[0], cost=cost[0]).decay(0.25)
    given = {"cost": cost[0], "sample_weight": np.full(SIZE, 0.25)}
    wanted = qk.budgets.cost_at_quota(Y[0], S[0], quota=2.5, **given)
    np.testing.assert_allclose(state.compute(qk.budgets.cost_at_quota, quota=2.5), wanted)
