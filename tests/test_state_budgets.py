"""States with what examples cost and which were treated: what a buffer has seen is what `rank`
sees at once; other states say which one keeps them.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import everything as every
import numpy as np
import pytest
from backends import QUICK, Mode, mode_fixture

import quotakernels as qk
from quotakernels.states import FixedScoreBuffer, ScoreBuffer, ScoreHistogram

mode = mode_fixture(QUICK)
SIZE = 40
RNG = np.random.default_rng(18)
Y = RNG.integers(0, 2, (2, SIZE))
S = RNG.integers(0, 12, (2, SIZE)) / 4.0
COST = RNG.integers(0, 9, (2, SIZE)) / 2.0
TREATED = RNG.integers(0, 2, (2, SIZE))
ID = RNG.integers(0, 3, SIZE)


def streamed(y: Any, s: Any, cost: Any, treated: Any, **beside: Any) -> Any:
    """The state of one batch and that of another together."""
    given = {"y_true": y, "y_score": s, "cost": cost, "treatment": treated, **beside}
    first, second = (
        ScoreBuffer.empty(s).update(**{name: x[..., part] for name, x in given.items()})
        for part in (slice(0, 17), slice(17, None))
    )
    return first.merge(second)


def measured(state: Any) -> dict[str, Any]:
    return {
        "qrecall": state.compute(qk.qrecall, budget=[3.0, 20.0]),
        "cost": state.compute(qk.budgets.cost_at_quota, quota=[2, 9]),
        "uplift": state.compute(qk.uplift.uplift_at_quota, quota=[2, 9]),
    }


@pytest.mark.long_program
@every.main_modes
def test_a_buffer_keeps_costs_and_treatments(mode: Mode):
    found = mode.run(lambda *columns: measured(streamed(*columns)), Y, S, COST, TREATED)
    ranking = qk.rank(Y, S, cost=COST, treatment=TREATED)
    wanted = {
        "qrecall": qk.qrecall(ranking, budget=[3.0, 20.0]),
        "cost": qk.budgets.cost_at_quota(ranking, quota=[2, 9]),
        "uplift": qk.uplift.uplift_at_quota(ranking, quota=[2, 9]),
    }
    for name, x in wanted.items():
        np.testing.assert_allclose(found[name], x, rtol=1e-6, atol=1e-6, err_msg=name)


def test_each_group_has_a_budget_of_its_own(tmp_path: Path):
    given = {"cost": COST[0], "treatment": TREATED[0], "groups": ID}
    state = streamed(Y[0], S[0], COST[0], TREATED[0], groups=ID)
    qk.states.save_state(state, tmp_path / "state")
    wanted = qk.qrecall(qk.rank(Y[0], S[0], **given), budget=7)
    kept = qk.states.load_state(tmp_path / "state"), pickle.loads(pickle.dumps(state))
    for same in (state, *kept):
        np.testing.assert_array_equal(same.compute(qk.qrecall, budget=7), wanted)


def test_all_batches_have_costs_or_none():
    state = ScoreBuffer.empty(S[0]).update(Y[0], S[0], cost=COST[0]).update(Y[0], S[0])
    with pytest.raises(ValueError, match=r"^some batches came with cost= and some without; give"):
        state.compute(qk.qrecall, budget=7)
    state = ScoreBuffer.empty(S[0]).update(Y[0], S[0])
    with pytest.raises(TypeError, match=r"costs: pass cost=, here, to rank or to a ScoreBuffer$"):
        state.compute(qk.qrecall, budget=7)
    with pytest.raises(ValueError, match="^cost is -1 at position 1; expected a finite cost"):
        state.update(Y[0, :2], S[0, :2], cost=[2, -1])


@pytest.mark.parametrize("name", ["cost", "treatment"])
def test_other_states_say_which_one_keeps_them(name: str):
    s = S[0].astype(np.float16)
    told = f"takes no {name} here; a ScoreBuffer keeps {name}s$"
    for state in (FixedScoreBuffer.empty(s, capacity=99), ScoreHistogram.empty(s)):
        with pytest.raises(TypeError, match=f"^update {told}"):
            state.update(Y[0], s, **{name: TREATED[0]})
