"""The last axis holds the examples: column vectors, and tables with a row for each, are errors."""

from __future__ import annotations

import re

import everything as every
import numpy as np
import pytest
from backends import MODES, Mode, available, parameters

import quotakernels as qk

Y = np.asarray([1, 0, 1, 0, 0, 1, 1, 0])
S = np.asarray([0.9, 0.8, 0.7, 0.7, 0.4, 0.3, 0.2, 0.1])
COLUMN, LABELS = S[:, None], Y[:, None]
AXIS = re.escape(", and the last axis holds the examples")

SOME = parameters(
    [m for m in MODES if m.name in ("numpy", "strictest-device1", "jax32-jit", "torch")]
)


# column vectors


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("mode", SOME)
def test_columns_of_scores_are_no_batch(mode: Mode, validate: bool):
    """Of labels as well, as models for one number have them; in programs too."""
    for labels, pass_too in ((Y, ""), (LABELS, r" and y_true\[:, 0\]")):
        message = rf"^y_score has shape \(8, 1\){AXIS}; pass y_score\[:, 0\]{pass_too}"
        with every.raises(mode, ValueError, message):
            mode.run(lambda s, y: qk.roc_auc(y, s, validate=validate), COLUMN, labels)
    deep = np.stack([COLUMN, COLUMN])
    with every.raises(mode, ValueError, r"^y_score has shape .* pass y_score\[\.\.\., 0\]"):
        mode.run(lambda s, y: qk.hit_rate(y, s, quota=1, validate=validate), deep, Y)


# what stays possible


@pytest.mark.full
@pytest.mark.parametrize("mode", SOME)
def test_models_of_one_example(mode: Mode):
    """The labels say so, or the mask of an example more."""
    found = mode.run(lambda s, y: qk.rank(y, s).positives, COLUMN, Y[:1])
    assert found.tolist() == [[1]] * 8
    scores, there = np.pad(COLUMN, ((0, 0), (0, 1))), np.asarray([True, False])
    found = mode.run(lambda s, y, m: qk.hit_rate(y, s, where=m, quota=1), scores, scores > 1, there)
    assert found.tolist() == [0] * 8
    chosen = mode.run(lambda s, m: qk.select(s, where=m, quota=1), scores, there)
    assert chosen.tolist() == [[1, 0]] * 8


def test_a_state_of_several_models_takes_one_example():
    empty = qk.states.FixedScoreBuffer.empty(np.zeros((8, 0)), capacity=20)
    state = empty.update(LABELS, COLUMN).update(1 - LABELS, 1 - COLUMN)
    assert state.compute(qk.roc_auc).tolist() == ((S > 1 - S) == Y).tolist()


def test_one_example_is_no_column():
    assert qk.hit_rate([[1]], [[0.5]], quota=1).tolist() == [1]
    found = qk.one_vs_rest(qk.hit_rate, [1], [[0.2, 0.8]], quota=1, average=None)
    assert found.value.tolist() == [0, 1]
    for library in ("torch", "jax"):
        if available(library):
            mode = next(m for m in MODES if m.name == {"torch": library}.get(library, "jax64-jit"))
            mapped = next(m for m in MODES if m.name in (f"{library}-vmap", f"{library}32-vmap"))
            assert mode.run(lambda s, y: qk.hit_rate(y, s, quota=1), S[:1], Y[:1]) == 1
            assert mapped.run(lambda s, y: qk.hit_rate(y, s, quota=1), S[:1], Y[:1]) == 1
            assert np.isnan(mapped.run(lambda s, y: qk.roc_auc(y, s), S[:1], Y[:1]))


# a row for each example


def test_scores_of_several_models_are_to_be_rows():
    assert qk.roc_auc(Y, np.stack([S, S, S], axis=-1).T).shape == (3,)
