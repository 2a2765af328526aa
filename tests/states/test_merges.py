"""What a state keeps of each batch and of each state that it is merged with."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import quotakernels as qk
from quotakernels._bits import dtype_name
from states.test_states import STATES, Make

Y, S = np.array([1, 0, 1]), np.array([[3, 2, 1], [1, 2, 3]], np.int8)
every_state = pytest.mark.parametrize("make", STATES.values(), ids=STATES)


@every_state
def test_merging_changes_no_state(make: Make):
    one, two = (make(S, False).update(Y, S + k) for k in (0, 10))
    one.merge(two, two)
    assert np.array_equal(one.merge().compute(qk.roc_auc), qk.roc_auc(Y, S))


@pytest.mark.parametrize("kind", ["buffer", "fixed"])
def test_buffers_keep_the_order(kind: str):
    one, two, three = (STATES[kind](S, False).update(Y, S + k) for k in (0, 10, 20))
    merged = one.merge(two, three)
    kept = merged.examples().scores if kind == "buffer" else merged.scores[..., :9]
    assert kept.dtype == np.int8
    np.testing.assert_array_equal(kept, np.concatenate([S, S + 10, S + 20], axis=-1))


def test_the_place_for_several_is_counted_together():
    full = STATES["fixed"](S, False).update(Y, S)
    assert int(full.merge(full, full).filled) == 9
    small = qk.states.FixedScoreBuffer.empty(S, capacity=3).update(Y, S)
    assert full.merge(small).capacity == 15


@every_state
def test_a_bad_row_stays_bad_on_either_side(make: Make):
    """Without validation a bad value is not read; its row, and no other, is NaN for good."""
    scores = S.astype(np.float16)
    invalid = scores.copy()
    invalid[1, 2] = np.nan
    good = make(scores, False).update(Y, scores)
    bad = make(scores, False).update(Y, invalid, validate=False)
    twice = bad.update(Y, invalid, validate=False)
    for state in (bad, good.merge(bad), bad.merge(good), bad.update(Y, scores), twice):
        with pytest.warns(UserWarning, match="^the measures of 1 of 2 lists of this state are NaN"):
            found = state.compute(lambda ranking: qk.roc_auc(ranking))
        np.testing.assert_array_equal(found, [0.5, np.nan])
    assert twice.bad.tolist() == [0, 2]
    assert bad.merge(twice).bad.tolist() == [0, 3]


def test_what_rounding_took_is_kept_of_both_sides():
    like, small = np.zeros(1, np.int8), 2.0**-60
    state = qk.states.ScoreHistogram.empty(like, weighted=True)
    one = state.update([1], like, sample_weight=[1.0]).update([1], like, sample_weight=[small])
    found = [one, one.merge(state), state.merge(one), one.merge(one)]
    errors = [x.columns["weight"][..., 1].sum() for x in found]
    assert errors == [small, small, small, 2 * small]
    assert state.update([1], like).columns["weight"][..., 0].sum() == 1.0


@pytest.mark.parametrize(
    ("dtype", "usual", "most"),
    [("int8", 8, 8), ("float16", 16, 16), ("float32", 16, 26), ("float64", 19, 26)],
)
def test_how_many_bits_there_are(dtype: str, usual: int, most: int):
    like = np.zeros(1, dtype)
    state = qk.states.ScoreHistogram.empty(like)
    assert (state.bits, state.exact) == (usual, usual == most)
    assert qk.states.ScoreHistogram.empty(like, bits=1).counts.shape == (2, 2)
    assert not qk.states.ScoreHistogram.empty(like, bits=7).exact


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64"])
def test_wide_integers_are_counted_as_floats(dtype: str):
    scores = np.array([3, 2, 1], dtype)
    state = qk.states.ScoreHistogram.of(Y, scores)
    assert (dtype_name(state.like.dtype), state.bits) == ("float64", 19)
    lower, upper = state.compute(qk.roc_auc)
    assert lower <= qk.roc_auc(Y, scores) <= upper < lower + 1e-12
    assert state.update(Y, scores.astype(float)).counts.sum() == 6


def test_options_of_a_call_stand_before_those_of_a_partial():
    state = qk.states.ScoreHistogram.of(Y, S[0].astype(np.float32))
    for asked in (qk.hit_rate, functools.partial(qk.hit_rate, quota=1)):
        assert state.compute(asked, quota=3).lower == pytest.approx(2 / 3)
    trapezoid = functools.partial(qk.pr_auc, method="trapezoid")
    assert state.compute(trapezoid, method="exact").width >= 0


def test_states_on_two_devices_are_not_merged():
    torch = pytest.importorskip("torch")
    for make in STATES.values():
        here, there = (make(torch.zeros(1, device=x), False) for x in ("cpu", "meta"))
        with pytest.raises((TypeError, ValueError), match=r"device|meta"):
            here.merge(there)


def test_the_example_of_scores_has_axes():
    for make in STATES.values():
        assert make(np.ones((2, 5)), False).like.shape == (2, 0)


@pytest.mark.parametrize("name", ["gain", "cost", "treatment"])
def test_states_of_fixed_size_name_their_columns(name: str):
    for kind in ("histogram", "fixed"):
        assert STATES[kind](S, False, columns=[name]).column_names == (name,)
    assert qk.states.ScoreHistogram.of(Y, S, **{name: Y}).column_names == (name,)


@every_state
def test_what_rejected_examples_bring_is_nothing_unless_said(make: Make):
    gain, rejected = S - 2.5, 0.5 - S
    state = make(S, False, columns=["gain", "gain_rejected"]).update(None, S, gain=gain)
    state = state.update(None, S, gain=gain, gain_rejected=rejected)
    given = {"gain": np.tile(gain, 2), "gain_rejected": np.append(0 * gain, rejected, axis=-1)}
    wanted = qk.impact_at_quota(None, np.tile(S, 2), quota=4, **given)
    np.testing.assert_allclose(state.compute(qk.impact_at_quota, quota=4), wanted)
