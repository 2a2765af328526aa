"""States by group of examples: what they have seen in batches is what `rank` sees at once."""

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
MOST = ("numpy", "strictest-device1", "jax32-vmap", "torch", "torch-vmap", "cupy")


def an_empty_state(kind: str, s: Any, weighted: bool, bits: int | None = None) -> Any:
    if kind == "ids":
        return ScoreBuffer.empty(s)
    if kind == "buffer":
        return ScoreBuffer.empty(s, num_groups=GROUPS)
    if kind == "fixed":
        return FixedScoreBuffer.empty(s, capacity=SIZE + 3, weighted=weighted, num_groups=GROUPS)
    return ScoreHistogram.empty(s, weighted=weighted, num_groups=GROUPS, bits=bits)


def streamed(
    y: Any, s: Any, groups: Any, w: Any, m: Any, bits: int | None = None, kind: str = "histogram"
) -> Any:
    """The state of two batches and that of a third one together."""
    given = {"y_true": y, "y_score": s, "groups": groups, "sample_weight": w, "where": m}
    parts = [
        {name: None if x is None else x[..., part] for name, x in given.items()}
        for part in (slice(0, 20), slice(20, 21), slice(21, SIZE))
    ]
    empty = an_empty_state(kind, s, w is not None, bits)
    one, two, three = parts
    return empty.update(**one).update(**two).merge(empty.update(**three))


@pytest.mark.long_program
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["histogram", "buffer", "fixed"])
@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in MOST]))
def test_a_stream_of_groups_is_measured_as_a_whole(mode: Mode, kind: str, weighted: bool):
    def computed(y: Any, s: Any, groups: Any, w: Any, m: Any) -> Any:
        state = streamed(y, s, groups, w if weighted else None, m, kind=kind)
        return state.compute(MEASURES)

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


def test_what_is_masked_may_be_of_any_group():
    state = ScoreHistogram.of(Y, S[0], groups=np.where(M, ID, 99), num_groups=GROUPS, where=M)
    wanted = qk.roc_auc(Y, S[0], groups=ID, num_groups=GROUPS, where=M)
    np.testing.assert_array_equal(state.compute(qk.roc_auc), wanted)


@pytest.mark.full
def test_a_bad_value_in_a_program_spoils_its_group_and_a_bad_id_all():
    jax = pytest.importorskip("jax")
    scores = S[0].astype(np.float16)
    empty = ScoreHistogram.empty(jax.numpy.asarray(scores), bits=8, num_groups=GROUPS)
    fixed = an_empty_state("fixed", empty.like, False)

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


@pytest.mark.parametrize("kind", ["histogram", "buffer", "fixed", "ids"])
def test_they_are_kept_in_files_and_pickled(kind: str, tmp_path: Path):
    state = streamed(Y, S, ID, None, None, kind=kind)
    path = tmp_path / "state"
    qk.states.save_state(state, path)
    empty = an_empty_state(kind, S, False)
    again = qk.states.load_state(path, like=empty)
    for found in (again, pickle.loads(pickle.dumps(state))):
        assert found.num_groups == empty.num_groups
        np.testing.assert_array_equal(found.compute(qk.roc_auc), state.compute(qk.roc_auc))
    assert qk.states.state_info(path).num_groups == empty.num_groups
    qk.states.save_state(empty, path)
    assert qk.states.load_state(path).num_groups == empty.num_groups
    if kind != "ids":
        like = type(empty).empty(S, **({"capacity": SIZE + 3} if kind == "fixed" else {}))
        with pytest.raises(ValueError, match="^the states differ in num_groups: the file has 5, "):
            qk.states.load_state(path, like=like)


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
