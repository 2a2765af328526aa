"""Histograms by group of examples: what they have seen in batches is what `rank` sees at once."""

from __future__ import annotations

import functools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters

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
MEASURES = {
    "auc": qk.roc_auc,
    "hits": functools.partial(qk.hit_rate, quota=[2, 30]),
    "gauc": lambda ranking: GAUC(ranking).value,
}
MOST = ("numpy", "strictest-device1", "jax32-jit", "jax32-vmap", "torch", "torch-vmap", "cupy")


def streamed(y: Any, s: Any, groups: Any, w: Any, m: Any, bits: int | None = None) -> Any:
    """The state of two batches and that of a third one together."""
    given = {"y_true": y, "y_score": s, "groups": groups, "sample_weight": w, "where": m}
    parts = [
        {name: None if x is None else x[..., part] for name, x in given.items()}
        for part in (slice(0, 20), slice(20, 21), slice(21, SIZE))
    ]
    empty = ScoreHistogram.empty(s, weighted=w is not None, num_groups=GROUPS, bits=bits)
    one, two, three = parts
    return empty.update(**one).update(**two).merge(empty.update(**three))


@pytest.mark.long_program
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in MOST]))
def test_a_stream_of_groups_is_measured_as_a_whole(mode: Mode, weighted: bool):
    def computed(y: Any, s: Any, groups: Any, w: Any, m: Any) -> Any:
        return streamed(y, s, groups, w if weighted else None, m).compute(MEASURES)

    found = mode.run(computed, np.stack([Y, Y]), S, np.stack([ID, ID]), np.stack([W, W]), M)
    weights = W if weighted else None
    ranking = qk.rank(Y, S, groups=ID, num_groups=GROUPS, sample_weight=weights, where=M)
    for name, measure in MEASURES.items():
        np.testing.assert_allclose(
            found[name], measure(ranking), rtol=1e-6 if mode.float32 else 1e-15, err_msg=name
        )
    assert np.isnan(found["auc"][:, 3]).all()


@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic"])
def test_the_ranking_is_that_of_rank(ties: str):
    state = streamed(Y, S[0], ID, None, M)
    found, wanted = (
        state.ranking(ties),
        qk.rank(Y, S[0], groups=ID, num_groups=GROUPS, ties=ties, where=M),
    )
    for name in ("thresholds", "counts", "positives"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    for one, other in zip(found.groups[:3], wanted.groups[:3], strict=True):
        np.testing.assert_array_equal(one, other)


def test_bounds_hold_of_groups_and_of_their_mean():
    exact = qk.rank(Y, S, groups=ID, num_groups=GROUPS)
    state = streamed(Y, S, ID, None, None, bits=3)
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
    weighted = streamed(Y, S, ID, np.stack([W, W]), None, bits=3)
    found = weighted.compute(qk.average_qrecall)
    assert found.lower.shape == (2, GROUPS)
    with pytest.raises(ValueError, match="average_hit_rate has no certified bounds"):
        state.compute(qk.group_mean(qk.average_hit_rate))


def test_what_does_not_fit_is_told():
    empty, plain = ScoreHistogram.empty(S[0], num_groups=GROUPS), ScoreHistogram.empty(S[0])
    assert (empty.num_groups, plain.num_groups) == (GROUPS, None)
    with pytest.raises(ValueError, match="^the state has groups and needs groups="):
        empty.update(Y, S[0])
    with pytest.raises(
        ValueError, match=r"^groups are given and the state has none; .* num_groups="
    ):
        plain.update(Y, S[0], groups=ID)
    with pytest.raises(ValueError, match=r"^groups is \d at position 0; expected an id "):
        empty.update(Y, S[0], groups=ID + 5)
    with pytest.raises(ValueError, match="^num_groups must be at least 1"):
        ScoreHistogram.empty(S[0], num_groups=0)
    with pytest.raises(ValueError, match="^the states differ in num_groups: 5 and None"):
        empty.merge(plain)
    for other in (ScoreBuffer.empty(S[0]), FixedScoreBuffer.empty(S[0], capacity=9)):
        with pytest.raises(TypeError, match=r"^update takes no groups here; a ScoreHistogram made"):
            other.update(Y, S[0], groups=ID)


def test_what_is_masked_may_be_of_any_group():
    state = ScoreHistogram.of(Y, S[0], groups=np.where(M, ID, 99), num_groups=GROUPS, where=M)
    wanted = qk.roc_auc(Y, S[0], groups=ID, num_groups=GROUPS, where=M)
    np.testing.assert_array_equal(state.compute(qk.roc_auc), wanted)


def test_a_bad_value_in_a_program_spoils_its_group_and_a_bad_id_all():
    jax = pytest.importorskip("jax")
    scores = S[0].astype(np.float16)
    empty = ScoreHistogram.empty(jax.numpy.asarray(scores), bits=8, num_groups=GROUPS)
    auc = jax.jit(lambda s, groups: empty.update(Y, s, groups=groups).bounds(qk.roc_auc).lower)
    whole = np.asarray(auc(scores, ID))
    bad = scores.copy()
    bad[7] = np.nan
    assert np.array_equal(np.isnan(auc(bad, ID)), np.isnan(whole) | (np.arange(GROUPS) == ID[7]))
    ids = ID.copy()
    ids[7] = GROUPS
    assert np.isnan(auc(scores, ids)).all()


def test_they_are_kept_in_files_and_pickled(tmp_path: Path):
    state = streamed(Y, S, ID, None, None)
    path = tmp_path / "state"
    qk.states.save_state(state, path)
    again = qk.states.load_state(path, like=ScoreHistogram.empty(S, num_groups=GROUPS))
    for found in (again, pickle.loads(pickle.dumps(state))):
        assert found.num_groups == GROUPS
        np.testing.assert_array_equal(found.counts, state.counts)
    assert qk.states.state_info(path).num_groups == GROUPS
    with pytest.raises(ValueError, match="differ in num_groups: the file has 5, and like has None"):
        qk.states.load_state(path, like=ScoreHistogram.empty(S))
