"""States of streams: what they have seen in batches is what `rank` sees at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, parameters, tree_leaves
from expected import filled
from hypothesis import given
from hypothesis import strategies as st

import quotakernels as qk
from quotakernels.states import ScoreHistogram

Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1])
S = np.asarray([9, 9, 7, 7, 7, 5, 4, 4, 4, 4, -3, -8], dtype=np.int8)
EAGER = parameters([m for m in MODES if m.name in ("numpy", "strict", "jax32", "torch", "cupy")])
LAZY = parameters([m for m in MODES if m.name in ("strictest-device1", "jax32-jit", "cupy")])

Make = Callable[..., Any]
STATES: dict[str, Make] = {
    "histogram": lambda like, weighted, **more: qk.states.ScoreHistogram.empty(
        like, weighted=weighted, **more
    ),
    "buffer": lambda like, weighted, **_: qk.states.ScoreBuffer.empty(like),
    "fixed": lambda like, weighted, **more: qk.states.FixedScoreBuffer.empty(
        like, capacity=15, weighted=weighted, **more
    ),
}
every_state = pytest.mark.parametrize("name", STATES)


# one stream, one result


@every_state
def test_nothing_seen_is_undefined(name: str):
    state = STATES[name](np.zeros((2, 0), dtype=np.int8), False)
    assert np.array_equal(state.compute(qk.roc_auc), [np.nan, np.nan], equal_nan=True)
    state = state.update(np.zeros((2, 0)), np.zeros((2, 0), dtype=np.int8))
    assert np.array_equal(state.compute(qk.qrecall, quota=0), [np.nan, np.nan], equal_nan=True)


@pytest.mark.parametrize("mode", EAGER)
def test_what_is_kept_does_not_change_with_its_source(mode: Mode):
    with mode.context():
        labels, scores = mode.array(Y), mode.array(S.astype(np.float32))
        state = qk.states.ScoreBuffer.empty(scores).update(labels, scores)
        before = mode.to_numpy(state.compute(qk.roc_auc))
        if mode.library != "jax":
            scores[:] = 0.0
        assert mode.to_numpy(state.compute(qk.roc_auc)) == before


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_scores_are_counted_alike_in_one_pass_or_in_several(dtype: str):
    torch = pytest.importorskip("torch")
    draws = np.random.default_rng(3)
    words = np.arange(-(2**15), 2**15, dtype=np.int16)
    if dtype in ("float32", "float64"):
        words = draws.integers(0, 2**16, (2**16, 4 if dtype == "float64" else 2)).astype(np.int16)
        words[:2] = 0
        words[0, -1] = -(2**15)  # -0.0
    scores = torch.from_numpy(words).view(getattr(torch, dtype)).reshape(-1)
    scores = scores[~scores.isnan()]
    labels = torch.from_numpy(draws.integers(0, 2, scores.shape[0]))
    empty = qk.states.ScoreHistogram.empty(scores)
    wanted = empty.update(labels, scores, where=torch.ones_like(scores, dtype=torch.bool)).counts
    few = empty
    for batch in zip(labels.split(5000), scores.split(5000), strict=True):
        few = few.update(*batch)
    assert torch.equal(few.counts, wanted)
    unread = torch.func.vmap(lambda y, s: empty.update(y, s))(labels[None], scores[None])
    assert torch.equal(unread.counts[0], wanted)
    assert int(few.bad) == int(unread.bad) == 0
    if dtype == "float32":
        host = qk.states.ScoreHistogram.empty(scores.numpy()).update(
            labels[:99].numpy(), scores[:99].numpy()
        )
        assert np.array_equal(host.counts, empty.update(labels[:99], scores[:99]).counts)


@pytest.mark.parametrize("label", [2, -1, 2**40, -(2**63), np.nan])
def test_a_bad_example_is_seen_in_the_pass_that_counts(label: float):
    torch = pytest.importorskip("torch")
    scores = torch.tensor([[1.0, 2.0]] * 2, dtype=torch.bfloat16)
    labels = torch.tensor([[0, 1], [1, 0]])
    if np.isnan(label):
        scores[1, 0] = torch.nan
    else:
        labels[1, 1] = int(label)
    empty = qk.states.ScoreHistogram.empty(scores[0])
    state = torch.func.vmap(lambda y, s: empty.update(y, s))(labels, scores)
    assert state.bad.tolist() == [0, 1]


@every_state
def test_no_examples_change_nothing(name: str):
    torch = pytest.importorskip("torch")
    scores = torch.tensor([2, 1], dtype=torch.float16)
    state = STATES[name](scores, False).update(torch.tensor([1, 0]), scores)
    for none in (torch.zeros(0), torch.zeros(0, dtype=torch.int64)):
        state = state.update(none, scores[:0])
    assert state.compute(qk.roc_auc) == 1


@pytest.mark.full
@pytest.mark.parametrize("name", ["histogram", "fixed"])
def test_batches_of_other_sizes_need_no_other_program(name: str):
    torch = pytest.importorskip("torch")
    from torch._dynamo.testing import CompileCounter

    programs = CompileCounter()
    update = torch.compile(lambda state, y, s: state.update(y, s), backend=programs)
    scores = torch.arange(6).to(torch.bfloat16)
    labels = (scores > 2).to(torch.int64)
    state = STATES[name](scores, False)
    for size in (6, 2, 3, 4):
        state = update(state, labels[-size:], scores[-size:])
    assert programs.frame_count <= 2  # one of the first size, one of all others
    if name == "histogram":
        assert int(state.counts.sum()) == 15
    else:
        assert int(state.filled) == 15


# merging


scores = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=1, max_size=30)


@given(scores, st.lists(st.integers(0, 30), max_size=4))
def test_splits_and_orders_leave_the_same_histogram(examples: list[Any], cuts: list[int]):
    labels, values = (np.asarray(x) for x in zip(*examples, strict=True))
    values = values.astype(np.float16)
    parts = zip(np.split(labels, sorted(cuts)), np.split(values, sorted(cuts)), strict=True)
    states = [qk.states.ScoreHistogram.of(*part) for part in parts]
    whole = qk.states.ScoreHistogram.of(labels, values)
    for merged in (states[0].merge(*states[1:]), states[-1].merge(*states[-2::-1])):
        assert all(np.array_equal(x, y) for x, y in zip(merged, whole, strict=True))


@pytest.mark.full
def test_many_weights_are_summed_without_losing_any():
    rng = np.random.default_rng(5)
    weights = rng.random(3000) * 10.0 ** rng.integers(-12, 12, 3000)
    state = qk.states.ScoreHistogram.empty(S, weighted=True)
    for weight in weights:
        state = state.update([1], np.asarray([7], np.int8), sample_weight=[weight])
    half = qk.states.ScoreHistogram.of([0], np.asarray([7], np.int8), sample_weight=[1.0])
    ranking = filled(state.merge(half).ranking())
    exact = float(sum(map(Fraction, weights.tolist())))
    assert ranking.positive_weights == [exact]
    assert ranking.negative_weights == [1.0]


# batches that do not fit


@pytest.mark.long_program
@pytest.mark.parametrize("mode", LAZY)
@every_state
def test_bad_values_that_cannot_be_read_make_their_row_invalid_for_good(mode: Mode, name: str):
    def stream(y: Any, bad: Any, good: Any) -> dict[str, Any]:
        make = STATES[name]
        invalid = make(good, False).update(y, bad).update(y, good)
        merged = make(good, False).update(y, good).merge(invalid)
        return {"auc": qk.roc_auc(invalid.ranking()), "merged": qk.roc_auc(merged.ranking())}

    values = np.asarray([[0.5, 0.25, 0.125], [0.5, 0.25, 0.125]], np.float32)
    unfit = values.copy()
    unfit[0, 1] = np.nan
    found = mode.run(stream, np.asarray([[0, 1, 1], [0, 1, 1]]), unfit, values)
    for value in found.values():
        assert np.array_equal(value, [np.nan, 0.0], equal_nan=True)


@pytest.mark.parametrize("kind", ["fake", "meta"])
@every_state
def test_no_value_is_read_of_tensors_that_have_none(kind: str, name: str):
    torch = pytest.importorskip("torch")
    from torch._subclasses.fake_tensor import FakeTensorMode

    place = FakeTensorMode() if kind == "fake" else torch.device("meta")
    with place:
        labels, scores = torch.ones(8), torch.ones(8, dtype=torch.bfloat16)
        weights = torch.ones(8)
        state = STATES[name](scores, True).update(labels, scores, sample_weight=weights)
        assert state.merge(state).compute(qk.roc_auc).shape == ()


# the buffer of fixed length


def test_a_full_buffer_is_undefined_in_a_program_and_an_error_after_it():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy
    state = qk.states.FixedScoreBuffer.empty(jnp.zeros(1), capacity=3)
    step = jax.jit(lambda state, y, s: (x := state.update(y, s), x.compute(qk.roc_auc)))
    once, found = step(state, jnp.asarray([1, 0]), jnp.asarray([0.5, 0.25]))
    assert once.compute(qk.roc_auc) == found == 1.0
    twice, found = step(once, jnp.asarray([1, 0]), jnp.asarray([0.5, 0.25]))
    assert np.isnan(found)
    for read in (lambda: twice.compute(qk.roc_auc), twice.ranking):
        with pytest.raises(ValueError, match="has place for 3 examples and 4 came, 1 too many, in"):
            read()


@pytest.mark.parametrize("mode", EAGER)
def test_one_example_too_many_is_seen_where_it_can_be_read(mode: Mode):
    with mode.context():
        y, s = mode.array(np.asarray([1, 0])), mode.array(np.asarray([0.5, 0.25]))
        full = qk.states.FixedScoreBuffer.empty(s, capacity=2).update(y, s)
        assert mode.to_numpy(full.compute(qk.roc_auc)) == 1.0
        if mode.lazy:
            assert np.isnan(mode.to_numpy(full.update(y, s).compute(qk.roc_auc)))
            return
        with pytest.raises(ValueError, match="has place for 2 examples and 3 came, 1 too many"):
            full._replace(filled=mode.array(np.asarray(3))).compute(qk.roc_auc)


def test_buffers_side_by_side_are_undefined_one_by_one():
    full = qk.states.FixedScoreBuffer.empty(np.zeros((2, 0)), capacity=2)
    full = full.update([1, 0], [[0.5, 0.25], [0.5, 0.25]])
    full = full._replace(filled=np.asarray([2, 3]), bad=np.asarray([0, 1]))
    with pytest.warns(UserWarning, match="^the measures of 1 of 2 lists of this state are NaN: 1"):
        found = full.compute(qk.roc_auc)
    assert np.array_equal(found, [1.0, np.nan], equal_nan=True)


def test_a_bad_batch_of_a_program_is_told_after_it():
    """Once, whatever is computed, and not in the program itself."""
    jax = pytest.importorskip("jax")
    scores = jax.numpy.asarray([0.5, np.nan])

    @jax.jit
    def step(state: Any, y: Any, s: Any) -> Any:
        state = state.update(y, s)
        return state, state.ranking()

    for name, make in STATES.items():
        if name == "buffer":
            continue
        state = make(scores, False)
        for _ in range(2):
            state, _ = step(state, jax.numpy.asarray([1, 0]), scores)
        with pytest.warns(UserWarning, match="^all measures of this state are NaN: 2 b") as told:
            state.compute(qk.roc_auc)
        (warning,) = told
        assert warning.filename == __file__


# several measures


class Counted:
    """An object that is called with a ranking, as a function or by a method."""

    def __call__(self, ranking: qk.Ranking) -> Any:
        return ranking.counts.sum()

    def of(self, ranking: qk.Ranking) -> Any:
        return self(ranking)


@every_state
def test_own_functions_of_a_ranking_are_measures(name: str):
    state = STATES[name](S, False).update(Y, S)
    for own in (Counted(), Counted().of, functools.partial(Counted().of), Counted.of):
        asked = functools.partial(own, Counted()) if own is Counted.of else own
        assert state.compute(asked) == 12


@pytest.mark.parametrize("name", ["histogram", "fixed"])
def test_own_functions_are_measures_in_compiled_programs(name: str):
    torch = pytest.importorskip("torch")

    def measured(state: Any, y: Any, s: Any) -> Any:
        return state.update(y, s).compute(lambda ranking: qk.roc_auc(ranking) / 2)

    scores = torch.arange(6).to(torch.bfloat16)
    labels = (scores > 2).to(torch.int64)
    program = torch.compile(measured, backend="eager", fullgraph=True)
    assert program(STATES[name](scores, False), labels, scores) == 0.5


# what a state keeps of each batch and of each state that it is merged with


LABELS, SCORES = np.array([1, 0, 1]), np.array([[3, 2, 1], [1, 2, 3]], np.int8)
every_make = pytest.mark.parametrize("make", STATES.values(), ids=STATES)


@every_make
def test_merging_changes_no_state(make: Make):
    one, two = (make(SCORES, False).update(LABELS, SCORES + k) for k in (0, 10))
    one.merge(two, two)
    assert np.array_equal(one.merge().compute(qk.roc_auc), qk.roc_auc(LABELS, SCORES))


@pytest.mark.parametrize("kind", ["buffer", "fixed"])
def test_buffers_keep_the_order(kind: str):
    one, two, three = (STATES[kind](SCORES, False).update(LABELS, SCORES + k) for k in (0, 10, 20))
    merged = one.merge(two, three)
    kept = merged.examples().scores if kind == "buffer" else merged.scores[..., :9]
    assert kept.dtype == np.int8
    np.testing.assert_array_equal(kept, np.concatenate([SCORES, SCORES + 10, SCORES + 20], axis=-1))


def test_the_place_for_several_is_counted_together():
    full = STATES["fixed"](SCORES, False).update(LABELS, SCORES)
    assert int(full.merge(full, full).filled) == 9
    small = qk.states.FixedScoreBuffer.empty(SCORES, capacity=3).update(LABELS, SCORES)
    assert full.merge(small).capacity == 15


@every_make
def test_a_bad_row_stays_bad_on_either_side(make: Make):
    """Without validation a bad value is not read; its row, and no other, is NaN for good."""
    scores = SCORES.astype(np.float16)
    invalid = scores.copy()
    invalid[1, 2] = np.nan
    good = make(scores, False).update(LABELS, scores)
    bad = make(scores, False).update(LABELS, invalid, validate=False)
    twice = bad.update(LABELS, invalid, validate=False)
    for state in (bad, good.merge(bad), bad.merge(good), bad.update(LABELS, scores), twice):
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
    state = qk.states.ScoreHistogram.of(LABELS, scores)
    assert (state.like.dtype.name, state.bits) == ("float64", 19)
    lower, upper = state.compute(qk.roc_auc)
    assert lower <= qk.roc_auc(LABELS, scores) <= upper < lower + 1e-12
    assert state.update(LABELS, scores.astype(float)).counts.sum() == 6


def test_options_of_a_call_stand_before_those_of_a_partial():
    state = qk.states.ScoreHistogram.of(LABELS, SCORES[0].astype(np.float32))
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
        assert STATES[kind](SCORES, False, columns=[name]).column_names == (name,)
    assert qk.states.ScoreHistogram.of(LABELS, SCORES, **{name: LABELS}).column_names == (name,)


@every_make
def test_what_rejected_examples_bring_is_nothing_unless_said(make: Make):
    gain, rejected = SCORES - 2.5, 0.5 - SCORES
    state = make(SCORES, False, columns=["gain", "gain_rejected"]).update(None, SCORES, gain=gain)
    state = state.update(None, SCORES, gain=gain, gain_rejected=rejected)
    given = {"gain": np.tile(gain, 2), "gain_rejected": np.append(0 * gain, rejected, axis=-1)}
    wanted = qk.impact_at_quota(None, np.tile(SCORES, 2), quota=4, **given)
    np.testing.assert_allclose(state.compute(qk.impact_at_quota, quota=4), wanted)


# states that forget: what was seen weighs less, exactly as examples with such weights


RNG = np.random.default_rng(41)
DAYS, SIZE = 4, 12
DAILY_LABELS = RNG.integers(0, 2, (DAYS, SIZE))
DAILY_SCORES = RNG.choice([-1.0, 0.25, 0.5, 3.0], (DAYS, SIZE)).astype(np.float16)
DAILY_WEIGHTS = RNG.choice([0.0, 0.5, 1.0, 3.0], (DAYS, SIZE))
AGED = DAILY_WEIGHTS * 0.5 ** np.arange(DAYS)[::-1, None]
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

    auc, rate, weights = mode.run(computed, DAILY_LABELS, DAILY_SCORES, DAILY_WEIGHTS)
    table = ex.groups(
        DAILY_LABELS.ravel().tolist(), DAILY_SCORES.ravel().tolist(), AGED.ravel().tolist()
    )
    assert float(auc) == pytest.approx(float(ex.roc_auc(table)), rel=1e-15)
    assert float(rate) == pytest.approx(float(ex.hit_rate(table, 5.5)), rel=1e-15)
    assert weights[weights > 0].tolist() == [float(g.weight) for g in table if g.weight]


def test_forgetting_goes_with_merging_and_ends_in_nothing():
    states = [
        ScoreHistogram.of(y, s, sample_weight=w)
        for y, s, w in zip(DAILY_LABELS, DAILY_SCORES, DAILY_WEIGHTS, strict=True)
    ]
    one = states[0].merge(states[1]).decay(0.25)
    other = states[0].decay(0.25).merge(states[1].decay(0.25))
    np.testing.assert_equal(one._asdict(), other._asdict())
    for _ in range(3):
        one = one.decay(2.0**-500)
    empty = ScoreHistogram.empty(DAILY_SCORES[0], weighted=True)
    np.testing.assert_equal(one._asdict(), empty._asdict())


def test_columns_decay_with_the_masses():
    cost = np.abs(DAILY_SCORES)
    state = ScoreHistogram.empty(DAILY_SCORES[0], weighted=True, columns=["cost"])
    state = state.update(DAILY_LABELS[0], DAILY_SCORES[0], cost=cost[0]).decay(0.25)
    given = {"cost": cost[0], "sample_weight": np.full(SIZE, 0.25)}
    wanted = qk.budgets.cost_at_quota(DAILY_LABELS[0], DAILY_SCORES[0], quota=2.5, **given)
    np.testing.assert_allclose(state.compute(qk.budgets.cost_at_quota, quota=2.5), wanted)


# states whose memory a step may use for the state that it makes


OF_DONATED, DONATED = np.array([True, False, True]), np.array([0.3, 0.2, 0.1], dtype=np.float32)


@pytest.mark.full
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [qk.states.ScoreHistogram, qk.states.FixedScoreBuffer])
def test_each_array_of_a_state_may_be_donated(kind: Any, weighted: bool):
    jax = pytest.importorskip("jax")
    options = {"capacity": 10} if kind is qk.states.FixedScoreBuffer else {"bits": 8}
    step = jax.jit(lambda state, y, s: state.update(y, s), donate_argnums=0)
    first = kind.empty(jax.numpy.asarray(DONATED), weighted=weighted, **options)
    state = first
    for _ in range(3):
        state = step(state, OF_DONATED, DONATED)
    assert all(x.is_deleted() for x in tree_leaves(first) if x.size)
    wanted = kind.empty(DONATED, weighted=weighted, **options)
    for _ in range(3):
        wanted = wanted.update(OF_DONATED, DONATED)
    for x, y in zip(tree_leaves(state), tree_leaves(wanted), strict=True):
        np.testing.assert_array_equal(x, y)
