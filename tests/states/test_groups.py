"""States by group of examples: bounds, ids, and bad values."""

from __future__ import annotations

import functools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quotakernels as qk
from quotakernels.states import FixedScoreBuffer, ScoreBuffer, ScoreHistogram

SIZE, GROUPS = 60, 5
RNG = np.random.default_rng(5)
Y = RNG.integers(0, 2, SIZE)
S = np.stack([RNG.integers(-9, 9, SIZE), RNG.integers(-128, 128, SIZE)]).astype(np.int8)
ID = RNG.choice([0, 1, 2, 4], SIZE)
W = RNG.integers(0, 5, SIZE) / 4
M = RNG.random(SIZE) < 0.9
GAUC = qk.group_mean(qk.roc_auc, weights="examples")


def test_bounds_hold_of_groups_and_of_their_mean():
    given: dict[str, Any] = {"groups": ID, "num_groups": GROUPS}
    exact, state = qk.rank(Y, S, **given), ScoreHistogram.of(Y, S, bits=3, **given)
    lower, upper = state.compute(qk.roc_auc)
    value = qk.roc_auc(exact)
    there = ~np.isnan(value)
    assert np.array_equal(there, ~np.isnan(lower))
    assert (lower <= value)[there].all()
    assert (value <= upper)[there].all()
    for measure in (GAUC, functools.partial(qk.group_mean(qk.lift), quota=3)):
        found = state.compute(measure)
        assert (found.lower <= measure(exact).value).all()
        assert (measure(exact).value <= found.upper).all()
        assert (found.width > 0).all()
    weighted = ScoreHistogram.of(Y, S, bits=3, sample_weight=W, **given)
    assert weighted.compute(qk.average_qrecall).lower.shape == (2, GROUPS)


def test_what_is_masked_may_be_of_any_group():
    state = ScoreHistogram.of(Y, S[0], groups=np.where(M, ID, 99), num_groups=GROUPS, where=M)
    wanted = qk.roc_auc(Y, S[0], groups=ID, num_groups=GROUPS, where=M)
    np.testing.assert_array_equal(state.compute(qk.roc_auc), wanted)


@pytest.mark.full
def test_a_bad_value_in_a_program_spoils_its_group_and_a_bad_id_all():
    jax = pytest.importorskip("jax")
    scores = S[0].astype(np.float16)
    empty = ScoreHistogram.empty(jax.numpy.asarray(scores), bits=8, num_groups=GROUPS)
    fixed = FixedScoreBuffer.empty(empty.like, capacity=SIZE, num_groups=GROUPS)

    @jax.jit
    def aucs(s: Any, groups: Any) -> Any:
        states = (x.update(Y, s, groups=groups) for x in (empty, fixed))
        histogram, buffer = states
        return histogram.bounds(qk.roc_auc).lower, buffer.compute(qk.roc_auc)

    bad, ids = scores.copy(), ID.copy()
    bad[7], ids[7] = np.nan, GROUPS
    every = zip(aucs(scores, ID), aucs(bad, ID), aucs(scores, ids), strict=True)
    for whole, one, none in every:
        spoilt = np.isnan(whole) | (np.arange(GROUPS) == ID[7])
        assert np.array_equal(np.isnan(one), spoilt)
        assert np.isnan(none).all()


def test_a_buffer_takes_any_ids():
    names = np.array(["north", "south", "east", "", "west"])[ID]
    for ids in (ID, ID.astype(np.uint8), names, names.tolist(), ID.astype("M8[D]")):
        state = ScoreBuffer.empty(S[0])
        for part in (slice(0, 20), slice(20, 20), slice(20, SIZE)):
            state = state.update(Y[part], S[0][part], groups=ids[part], gain=W[part])
        wanted = qk.rank(Y, S[0], groups=ids, gain=W)
        found = state.ranking()
        assert np.array_equal(qk.group_counts(found).ids, qk.group_counts(wanted).ids)
        assert np.array_equal(qk.roc_auc(found), qk.roc_auc(wanted))
        np.testing.assert_array_equal(
            pickle.loads(pickle.dumps(state)).compute(qk.pem), qk.pem(wanted)
        )
    nothing = ScoreBuffer.empty(S[0]).update([], S[0][:0], groups=[])
    assert nothing.compute(qk.roc_auc).shape == (0,)
    assert np.isnan(ScoreBuffer.empty(S[0], num_groups=2).compute(qk.roc_auc)).tolist() == [1, 1]


def test_the_number_of_groups_is_kept_in_files(tmp_path: Path):
    path = tmp_path / "state"
    for number in (GROUPS, None):
        state = ScoreBuffer.empty(S[0], num_groups=number).update(Y, S[0], groups=ID)
        qk.states.save_state(state, path)
        again = qk.states.load_state(path, like=ScoreBuffer.empty(S[0], num_groups=number))
        assert again.num_groups == qk.states.state_info(path).num_groups == number
        np.testing.assert_array_equal(again.compute(qk.roc_auc), state.compute(qk.roc_auc))
    qk.states.save_state(ScoreHistogram.empty(S[0], num_groups=GROUPS), path)
    with pytest.raises(ValueError, match="^the states differ in num_groups: the file has 5, "):
        qk.states.load_state(path, like=ScoreHistogram.empty(S[0]))


def test_names_of_groups_are_not_kept_in_files(tmp_path: Path):
    named = ScoreBuffer.empty(S[0]).update(Y[:1], S[0][:1], groups=["a"])
    with pytest.raises(TypeError, match="^groups in a file are integers; got ids of type <U1"):
        qk.states.save_state(named, tmp_path / "state")


def in_a_program() -> tuple[Any, Any]:
    jax = pytest.importorskip("jax")
    scores = jax.numpy.asarray(S[0])
    return jax, jax.jit(lambda s: ScoreBuffer.empty(s).update(Y, s, groups=ID * 7))(scores)


@pytest.mark.full
def test_groups_of_a_program_are_found_outside():
    _, state = in_a_program()
    wanted = qk.roc_auc(Y, state.pieces[0].scores, groups=ID * 7)
    assert np.array_equal(state.compute(qk.roc_auc), wanted)


def test_ids_stay_in_a_program_and_are_numbered_outside():
    jax, state = in_a_program()
    assert np.array_equal(state.groups[0], ID * 7)
    with pytest.raises(ValueError, match="^in a compiled program groups need num_groups="):
        jax.jit(lambda state: state.compute(qk.roc_auc))(state)
    with pytest.raises(TypeError, match="^groups must be integers if the scores are of jax"):
        state.update(Y, jax.numpy.asarray(S[0]), groups=ID.astype(str))
    torch = pytest.importorskip("torch")
    scores = torch.asarray(S[0])
    with pytest.raises(TypeError, match="pass arrays of one library"):
        ScoreBuffer.empty(scores).update(torch.asarray(Y), scores, groups=ID)
