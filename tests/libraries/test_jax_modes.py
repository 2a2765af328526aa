"""The modes that people set in JAX: none stops a defined result, and programs take any length."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from backends import available, in_full, in_turns, of_fast_forms
from capabilities import ARGUMENTS, OF_FILES, ON_HOST, REFUSED, called, functions, has

import quotakernels as qk
from libraries.test_lazy import CASES, IDS, S, Y, confusion, folds, points, tables
from quotakernels.states import FixedScoreBuffer, ScoreHistogram

pytestmark = pytest.mark.skipif(not available("jax"), reason="jax is not available")
OF_SCORES = [x for x in functions() if has(x, "weights") or has(x, "batch axes")]
COMPUTED = [x for x in OF_SCORES if x not in (*OF_FILES, *ON_HOST)]
SEEN = ("best_cut", "expected_average_precision", "hit_rate", "roc_auc")
"""Functions that have stopped at a NaN which was not theirs; the full matrix has all of them."""


def labels_and_scores() -> tuple[Any, Any]:
    import jax.numpy as jnp

    return jnp.asarray(Y[0]), jnp.asarray(S[0], dtype=jnp.float32)


def floats_of(result: Any) -> list[np.ndarray[Any, Any]]:
    import jax

    leaves = (np.asarray(x) for x in jax.tree.leaves(result))
    return [x.astype(np.float64) for x in leaves if x.dtype.kind not in "biu"]


@contextlib.contextmanager
def stopping_beside(result: Any) -> Iterator[None]:
    """JAX stops at NaN and at infinite numbers, if the result has none."""
    import jax

    floats = floats_of(result)
    with contextlib.ExitStack() as stack:
        if not any(np.isnan(x).any() for x in floats):
            stack.enter_context(jax.debug_nans(True))
        if not any(np.isinf(x).any() for x in floats):
            stack.enter_context(jax.debug_infs(True))
        yield


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", in_turns(COMPUTED, SEEN))
def test_debugging_stops_at_undefined_results_alone(name: str):
    import jax.numpy as jnp

    for argument in ("", *ARGUMENTS):
        if argument in REFUSED.get(name, {}) or (argument and not has(name, argument)):
            continue
        result = called(name, argument, jnp.asarray)
        with stopping_beside(result):
            called(name, argument, jnp.asarray)


def test_debugging_does_not_stop_a_ranking_with_a_mask():
    """Of examples that do not count, and of bit patterns that are no numbers, there is no score."""
    import jax
    import jax.numpy as jnp

    labels, scores = labels_and_scores()
    of_half = jnp.tile(scores.astype(jnp.bfloat16), 2**14)
    with jax.debug_nans(True), jax.debug_infs(True):
        masked = qk.rank(labels, scores, where=scores > 0.3)
        assert np.isfinite(masked.thresholds).all()
        counted = jax.jit(qk.rank)(jnp.tile(labels, 2**14), of_half)
        assert counted.thresholds.shape[-1] == 2**16 < of_half.shape[0]


def test_bins_that_begin_at_infinity_stop_nothing():
    """They hold no example; single steps are checked where nothing is compiled."""
    import jax
    import jax.numpy as jnp

    labels, scores = labels_and_scores()
    state = ScoreHistogram.of(labels, scores.astype(jnp.bfloat16), bits=6)
    with jax.disable_jit(True), jax.debug_nans(True), jax.debug_infs(True):
        found = state.compute(qk.hit_rate, fraction=1.0)
    np.testing.assert_allclose(found, np.mean(labels, axis=-1), 1e-6)


def of_states(y: Any, s: Any) -> Any:
    """What states of JAX say of two batches."""
    import jax.numpy as jnp

    half = s.astype(jnp.bfloat16)
    start = FixedScoreBuffer.empty(s, capacity=20)
    buffer = start.update(y, s).update(y, -s, where=s > 0.3)
    weighted = FixedScoreBuffer.empty(s, capacity=20, weighted=True, num_groups=2)
    weighted = weighted.update(y, s, sample_weight=s, groups=y * 0)
    weighted = weighted.update(y, s, groups=y * 0 + 1)
    states = [buffer, buffer.merge(start), weighted, ScoreHistogram.of(y, half)]
    states.append(ScoreHistogram.empty(half, weighted=True).update(y, half, sample_weight=s))
    return [(x.compute(qk.roc_auc), x.compute(qk.hit_rate, quota=1)) for x in states]


SETTINGS: dict[str, dict[str, Any]] = {
    "strict": {
        "debug_nans": True,
        "debug_infs": True,
        "numpy_dtype_promotion": "strict",
        "numpy_rank_promotion": "raise",
    },
    "check_tracer_leaks": {"check_tracer_leaks": True},
    "disable_jit": {"disable_jit": True},
}


def of_all_kinds(y: Any, s: Any) -> Any:
    """Measures of one sort, at one quota, of weights, of groups, of hulls and of states."""
    ranking = qk.rank(y, s, sample_weight=s)
    found = [qk.summary(y, s).roc_auc, qk.roc_auc(ranking), qk.hit_rate(ranking, quota=1.5)]
    found += [qk.average_hit_rate(y, s, where=s > 0.15), qk.hit_rate(y, s, fraction=0.5)]
    found += [qk.roc_auc(y, s, groups=y * 0, num_groups=1), qk.h_measure(y, s)]
    return found, of_states(y, s)


@pytest.fixture(scope="module")
def wanted() -> list[np.ndarray[Any, Any]]:
    """The results of single calls as JAX is set."""
    return floats_of(of_all_kinds(*labels_and_scores()))


@pytest.mark.parametrize("name", ["strict", *map(in_full, list(SETTINGS)[1:])])
def test_every_mode_has_the_same_results(name: str, wanted: list[np.ndarray[Any, Any]]):
    """Single calls, and a program that is traced in that mode."""
    import jax

    data = labels_and_scores()
    with contextlib.ExitStack() as stack:
        for setting, value in SETTINGS[name].items():
            stack.enter_context(getattr(jax, setting)(value))
        single = of_all_kinds(*data)
        program = single if name == "disable_jit" else jax.jit(lambda *x: of_all_kinds(*x))(*data)
    for found in (single, program):
        for x, y in zip(floats_of(found), wanted, strict=True):
            np.testing.assert_allclose(x, y, 1e-6)


def test_programs_transfer_nothing(wanted: list[np.ndarray[Any, Any]]):
    """Of single calls JAX moves every plain number to the device, as in ``scores + 1``."""
    import jax

    data = labels_and_scores()
    program = jax.jit(of_all_kinds)
    with jax.transfer_guard("disallow"):
        found = program(*data)
    for x, y in zip(floats_of(found), wanted, strict=True):
        np.testing.assert_allclose(x, y, 1e-6)


# symbolic lengths


def exported(function: Any, arrays: Any, constraint: str = "n >= 1") -> Any:
    """A program of any number of examples, the length of the last axis but of classes and costs."""
    import jax

    scope = jax.export.SymbolicScope([constraint])
    specs = []
    for x in arrays:
        shape = ["n" if size == Y.shape[-1] else str(size) for size in x.shape]
        symbols = jax.export.symbolic_shape(f"{','.join(shape)},", scope=scope)
        specs.append(jax.ShapeDtypeStruct(symbols, x.dtype))
    return jax.export.export(jax.jit(function))(*specs)


def longer(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """With nearly twice as many examples."""
    if Y.shape[-1] not in x.shape:
        return x
    axis = x.shape.index(Y.shape[-1])
    rng = np.random.default_rng(0)
    return np.take(x, rng.integers(0, x.shape[axis], 9), axis=axis)


NEED_MORE = {confusion: "n >= 4"}
"""Cases that take four columns of an array."""
SYMBOLIC = [
    pytest.param(*case, id=name, marks=[] if name == "groups" else [pytest.mark.full])
    for name, case in zip(IDS, CASES, strict=True)
    if case[0] is not folds and "one list" not in name  # refused; lists are traced as batches are
]


@of_fast_forms
@pytest.mark.parametrize(("function", "arrays"), SYMBOLIC)
def test_programs_take_any_number_of_examples(function: Any, arrays: Any):
    import jax

    others = [longer(x) for x in arrays]
    if function is points:
        others[2] = np.sort(others[2], axis=-1)
    if function is tables:
        others[0] = -np.arange(9.0)[None]
    with jax.enable_x64(True):
        program = exported(function, arrays, NEED_MORE.get(function, "n >= 1"))
        found = program.call(*others)
    wanted = function(*(np.stack([x, x]) for x in others))
    for name, x in found.items():
        np.testing.assert_allclose(x, wanted[name][0], 1e-12, 1e-12, err_msg=name)


@of_fast_forms
def test_programs_take_one_example_and_many():
    import jax

    def measures(y: Any, s: Any) -> Any:
        weighted = qk.rank(y, s, sample_weight=s)
        found = qk.roc_auc(y, s), qk.average_hit_rate(y, s), qk.hit_rate(y, s, fraction=0.5)
        return *found, qk.roc_auc(weighted), qk.average_hit_rate(weighted)

    rng = np.random.default_rng(0)
    for x64 in (True, False):
        with jax.enable_x64(x64):
            program = exported(measures, (Y[0].astype("i4"), S[0].astype("f4")))
            for size in (1, 2, 3, 40_000):
                labels, scores = rng.integers(0, 2, size, "i4"), rng.random(size, "f4").round(3)
                wanted = measures(labels, scores)
                found = program.call(labels, scores)
                np.testing.assert_allclose(found, wanted, 1e-12 if x64 else 1e-6)


@of_fast_forms
def test_constraints_choose_faster_forms():
    """Of fewer than 2**31 examples for certain, counts are narrow."""

    counts = [exported(qk.rank, (Y[0], S[0]), x).out_avals[1].dtype for x in ("n >= 1", "n <= 99")]
    assert counts == [np.int64, np.int32]


@of_fast_forms
def test_states_take_batches_of_any_length():

    data = [np.asarray(x) for x in labels_and_scores()]
    program = exported(of_states, data)
    for x, y in zip(floats_of(program.call(*data)), floats_of(of_states(*data)), strict=True):
        np.testing.assert_allclose(x, y, 1e-6)
    found = program.call(*(np.tile(x, 30) for x in data))
    assert np.isnan(found[0][0])  # the batch is larger than the buffer
    with pytest.raises(ValueError, match="the state has place for 20 examples"):
        exported(of_states, data, "n >= 21")


REFUSED_LENGTHS: dict[str, Callable[[Any, Any], Any]] = {
    "resamples": lambda y, s: qk.bootstrap(qk.roc_auc, y, s, n_resamples=9),
    "folds": lambda y, s: qk.inference.fold_summary(qk.roc_auc, y, s, [0, 0, 1, 1, 1]),
}


@pytest.mark.parametrize("name", REFUSED_LENGTHS)
def test_what_needs_a_number_of_examples_says_so(name: str):
    with pytest.raises(TypeError, match=rf"^{name} need a known number of examples, and n is"):
        exported(REFUSED_LENGTHS[name], (Y[0], S[0]))
