"""States that have counted more examples than fit a float, up to the last that int64 can count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, parameters, tree_map
from expected import as_floats, ulps
from large_tables import check_measures, large_tables
from public_names import PUBLIC

import quotakernels as qk

BINS = 2**8
LAST = 2**63 - 1
BEST_FIRST = (90, 5, 0, -128)
"""Scores of one byte, each of which has a bin: rows of the tables."""
ROWS = [127 - score for score in BEST_FIRST]
LABELS, SCORES = np.array([True, False]), np.array([5, 0], dtype=np.int8)
BATCH = ([0, 1, 1, 0], [0, 1, 0, 0])
"""One more batch, and its table: a positive in the second row, a negative in the third."""

CHOSEN = ("numpy", "strictest-device1", "jax64-jit", "jax32", "jax32-vmap", "torch", "torch-vmap")
SOME = parameters([mode for mode in MODES if mode.name in (*CHOSEN, "cupy")])
QUICK = [mode for mode in SOME if mode.id != "jax32"]
"""Without JAX outside of a program, where each operation is compiled by itself."""


def state_of(mode: Mode, counts: np.ndarray) -> qk.states.ScoreHistogram:
    """A state that has seen so many negatives and positives."""
    like = mode.array(np.zeros((*counts.shape[:-2], 0), dtype=np.int8))
    empty = qk.states.ScoreHistogram.empty(like)
    return empty._replace(counts=in_64_bits(mode, counts))


def in_64_bits(mode: Mode, numbers: np.ndarray) -> Any:
    with replace(mode, float32=False).context():
        return mode.array(numbers)


def bins_of(tables: Any) -> np.ndarray:
    """Counts and positives of four rows as negatives and positives of all bins."""
    bins = np.zeros((len(tables), BINS, 2), dtype=np.int64)
    for row, (counts, positives) in zip(bins, tables, strict=True):
        row[ROWS, 0] = np.subtract(counts, positives)
        row[ROWS, 1] = positives
    return bins


def batch_of(mode: Mode, n: int) -> list[Any]:
    return [mode.array(np.stack([x] * n)) for x in (LABELS, SCORES)]


def run(mode: Mode, function: Any, *arguments: Any) -> Any:
    """A function of states and arrays as NumPy arrays; the vmap modes map over their first axis."""
    return tree_map(mode.to_numpy, mode._transformed(function)(*arguments))


def streamed(first: Any, second: Any, labels: Any, scores: Any) -> Any:
    """Two states that become one, and one more batch."""
    return first.merge(second).update(labels, scores)


def measured(state: Any, names: Iterable[str]) -> dict[str, Any]:
    ranking = state.ranking()
    at_quota = {"hit_rate", "qrecall", "lift"}
    options = {name: {"fraction": [0.25, 0.5, 1]} for name in at_quota}
    return {name: PUBLIC[name](ranking, **options.get(name, {})) for name in names}


ALL = ("roc_auc", "gini", "pem", "average_qrecall", "average_hit_rate")
ALL += ("hit_rate", "qrecall", "lift")
COMPILED = ("roc_auc", "pem", "hit_rate")
"""To compile them all takes long; of rankings from elsewhere they are tested by themselves."""


@pytest.mark.long_program
@pytest.mark.parametrize("mode", QUICK)
def test_counts_stay_exact_and_measures_near_exact(mode: Mode, tmp_path: Path):
    names = COMPILED if mode.library == "jax" else ALL
    tables = large_tables()
    whole, batch = bins_of(tables), bins_of([BATCH] * len(tables))
    with mode.context():
        first = whole // 3
        states = [state_of(mode, x) for x in (first, whole - batch - first)]
        qk.states.save_state(states[0], tmp_path / "state")
        loaded = qk.states.load_state(tmp_path / "state", like=states[1])

        def everything(*arguments: Any) -> Any:
            state = streamed(*arguments)
            return state, measured(state, names)

        state, found = run(mode, everything, loaded, states[1], *batch_of(mode, len(tables)))
    np.testing.assert_array_equal(state.counts, whole)
    assert not state.bad.any()
    check_measures(found, tables, names)


FULL = [
    ([LAST - 2, 1, 1, 0], [LAST - 9, 1, 0, 0]),
    ([LAST - 8, 2, 2, 4], [0, 1, 1, 0]),
    ([2**62, 2**61, 2**60, 2**60 - 2], [1, 2, 3, 4]),
]
"""As many as can be counted, or in the last case one less."""


def beyond(mode: Mode) -> list[Any]:
    """Pairs of states that together hold too many, in one bin or in several."""
    pairs = [
        ([LAST, 0, 0, 0], [0, 0, 1, 0]),
        ([0, 0, LAST, 0], [0, 0, 0, 0]),
        ([2**62, 0, 0, 0], [2**62, 0, 0, 0]),
        ([LAST, 0, 0, LAST], [LAST, 0, 0, LAST]),
    ]
    counts = [bins_of([(row, [0] * 4) for row in side]) for side in zip(*pairs, strict=True)]
    return [state_of(mode, x) for x in counts]


def value(state: Any) -> Any:
    return {"auc": qk.roc_auc(state.ranking())}


@pytest.mark.full
@pytest.mark.parametrize("mode", QUICK)
def test_the_last_that_can_be_counted(mode: Mode):
    whole, batch = bins_of(FULL), bins_of([BATCH] * len(FULL))
    with mode.context():
        states = [state_of(mode, x) for x in (whole - batch, np.zeros_like(whole))]
        examples = batch_of(mode, len(FULL))
        state, found = run(mode, lambda *x: (y := streamed(*x), value(y)), *states, *examples)
    np.testing.assert_array_equal(state.counts, whole)
    assert [sum(counts) for counts, _ in FULL] == [LAST, LAST, LAST - 1]
    assert not state.bad.any()
    exact = [ex.large_roc_auc(ex.groups_from_counts([4, 3, 2, 1], *table)) for table in FULL]
    assert ulps(found["auc"], as_floats(exact)) <= 4


@pytest.mark.parametrize("mode", SOME)
def test_too_many_to_be_counted_are_refused_or_nan(mode: Mode):
    """What leaves int64 in one bin is bad for good; in several bins it is seen in the ranking."""
    with mode.context():
        states = beyond(mode)
        batch = batch_of(mode, 4)
        state = run(mode, streamed, *states, *batch)
        assert (state.bad > 0).tolist() == [False, True, True, True]
        if not mode.lazy:
            with pytest.raises(ValueError, match=r"^the state holds 2\*\*63 examples or more"):
                value(streamed(*states, *batch))
        else:
            found = run(mode, lambda *x: value(streamed(*x)), *states, *batch)
            assert np.isnan(found["auc"]).all()


@pytest.mark.full
def test_a_fixed_buffer_that_has_been_given_too_many():
    """However many, also where their number leaves int64."""
    jax = pytest.importorskip("jax")
    state = qk.states.FixedScoreBuffer.empty(jax.numpy.zeros(1), capacity=4)
    with jax.enable_x64(True):
        filled = jax.numpy.asarray(LAST)
    for full in (state._replace(filled=filled), state.update([1, 0, 1], [3.0, 2, 1])):
        after = jax.jit(lambda x: x.update(jax.numpy.array([0, 1]), jax.numpy.array([1.0, 2])))(
            full
        )
        assert int(after.bad) == 1
        both = jax.jit(lambda x, y: x.merge(y))(full, full)
        assert int(both.bad) == 1
