"""States with what examples bring and cost and which were treated: what they have seen is what
`rank` sees at once.
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


COLUMNS = ("gain", "gain_rejected", "cost", "treatment")
KINDS = ("buffer", "fixed", "histogram")


def empty(kind: str, scores: Any, **options: Any) -> Any:
    if kind == "buffer":
        return ScoreBuffer.empty(scores, **{k: x for k, x in options.items() if k == "num_groups"})
    if kind == "fixed":
        return FixedScoreBuffer.empty(scores, capacity=99, **options)
    return ScoreHistogram.empty(scores, **options)


def streamed(
    y: Any,
    s: Any,
    cost: Any,
    treated: Any,
    kind: str = "buffer",
    options: Any = None,
    **beside: Any,
) -> Any:
    """The state of one batch and that of another together."""
    given = {"y_true": y, "y_score": s, "cost": cost, "treatment": treated, **beside}
    names = [name for name in COLUMNS if name in given]
    start = empty(kind, s, columns=names, **(options or {}))
    first, second = (
        start.update(**{name: x[..., part] for name, x in given.items()})
        for part in (slice(0, 17), slice(17, None))
    )
    return first.merge(second)


def measured(state: Any) -> dict[str, Any]:
    return {
        "qrecall": state.compute(qk.qrecall, budget=[3.0, 20.0]),
        "cost": state.compute(qk.budgets.cost_at_quota, quota=[2, 9]),
        "uplift": state.compute(qk.uplift.uplift_at_quota, quota=[2, 9]),
    }


GAIN, REJECTED = COST - 2, TREATED - 0.5
WEIGHTS = RNG.integers(0, 4, (2, SIZE)) / 2.0


@pytest.mark.long_program
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@every.main_modes
def test_every_state_keeps_every_column(mode: Mode, kind: str, weighted: bool):
    """Scores of two bytes, so that a histogram is exact."""

    def run(y: Any, s: Any, cost: Any, treated: Any, gain: Any, rejected: Any, w: Any) -> Any:
        beside = {"gain": gain, "gain_rejected": rejected}
        beside |= {"sample_weight": w} if weighted else {}
        options = {"weighted": weighted} if kind != "buffer" else {}
        state = streamed(y, s, cost, treated, kind, options, **beside)
        return (*measured(state).values(), state.compute(qk.impact_at_quota, quota=5).whole)

    scores = (4 * S).astype(np.int16)
    found = mode.run(run, Y, scores, COST, TREATED, GAIN, REJECTED, WEIGHTS)
    given: dict[str, Any] = {"cost": COST, "treatment": TREATED, "gain": GAIN}
    given |= {"gain_rejected": REJECTED} | ({"sample_weight": WEIGHTS} if weighted else {})
    ranking = qk.rank(Y, scores, **given)
    wanted = (
        qk.qrecall(ranking, budget=[3.0, 20.0]),
        qk.budgets.cost_at_quota(ranking, quota=[2, 9]),
        qk.uplift.uplift_at_quota(ranking, quota=[2, 9]),
        qk.impact_at_quota(ranking, quota=5).whole,
    )
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_each_group_has_a_budget_of_its_own(kind: str, tmp_path: Path):
    given = {"cost": COST[0], "treatment": TREATED[0], "groups": ID}
    scores, options = S[0].astype(np.float16), {"num_groups": 3}
    state = streamed(Y[0], scores, COST[0], TREATED[0], kind, options, groups=ID)
    qk.states.save_state(state, tmp_path / "state")
    wanted = qk.qrecall(qk.rank(Y[0], S[0], **given), budget=7)
    kept = qk.states.load_state(tmp_path / "state"), pickle.loads(pickle.dumps(state))
    for same in (state, *kept):
        np.testing.assert_array_equal(same.compute(qk.qrecall, budget=7), wanted)


@pytest.mark.parametrize("name", ["gain", "cost", "treatment"])
def test_states_of_fixed_size_name_their_columns(name: str):
    s = S[0].astype(np.float16)
    for kind in ("fixed", "histogram"):
        assert empty(kind, s, columns=[name]).column_names == (name,)
    of = ScoreHistogram.of(Y[0], s, **{name: TREATED[0]})
    assert of.column_names == (name,)


def test_what_rejected_examples_bring_is_nothing_unless_said():
    s, gain, rejected = S[0].astype(np.float16), GAIN[0], REJECTED[0]
    for kind in KINDS:
        state = empty(kind, s, columns=["gain", "gain_rejected"]).update(None, s, gain=gain)
        state = state.update(None, s, gain=gain, gain_rejected=rejected)
        given = {"gain": np.tile(gain, 2), "gain_rejected": np.append(0 * gain, rejected)}
        wanted = qk.impact_at_quota(None, np.tile(s, 2), quota=7, **given)
        np.testing.assert_allclose(state.compute(qk.impact_at_quota, quota=7), wanted)


def test_columns_decay_with_the_masses():
    s, cost = S[0].astype(np.float16), COST[0]
    state = ScoreHistogram.empty(s, weighted=True, columns=["cost"])
    state = state.update(Y[0], s, cost=cost).decay(0.25)
    weights = np.full(SIZE, 0.25)
    wanted = qk.budgets.cost_at_quota(Y[0], s, cost=cost, sample_weight=weights, quota=2.5)
    np.testing.assert_allclose(state.compute(qk.budgets.cost_at_quota, quota=2.5), wanted)
