"""Labels and shapes: what is accepted, what is an error, and what is undefined."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import everything as every
import numpy as np
import pandas as pd
import pytest
from backends import MODES, Mode, available, parameters
from expected import ulps

import quotakernels as qk

Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0])
S = np.asarray([0.875, 0.75, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0])
W = np.asarray([1.0, 0.5, 2, 1, 3, 0.25, 1, 1])
AUC = qk.roc_auc(Y, S)
EAGER = parameters(every.EAGER)
LIBRARIES = parameters(
    [mode for mode in MODES if mode.name in ("numpy", "strict", "jax64", "torch")]
)


def exactly(value: Any, wanted: Any = AUC) -> None:
    value = np.asarray(value)
    np.testing.assert_array_equal(value, np.asarray(wanted, dtype=value.dtype))


# labels


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_labels_of_half_precision(name: str):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    labels = Y.astype(np.float16 if name == "float16" else ml_dtypes.bfloat16)
    exactly(qk.roc_auc(labels, S))
    bad = labels.copy()
    bad[3] = 0.5
    with pytest.raises(ValueError, match=r"^y_true is .*0\.5.* at position 3; expected 0 or 1"):
        qk.roc_auc(bad, S)
    for library, make in (("jax.numpy", "asarray"), ("torch", None)):
        xp = pytest.importorskip(library)
        dtype = getattr(xp, name)
        given = getattr(xp, make)(Y).astype(dtype) if make else xp.asarray(Y).to(dtype)
        exactly(qk.roc_auc(given, (xp.asarray(S))))


OTHER_LABELS = [
    (np.where(Y == 1, 1, -1), 1),
    (np.where(Y == 1, 1, -1), np.int64(1)),
    (Y + 1, 2),
    (255 * Y, 255),
    ((255 * Y).astype(np.uint8), 255.0),
    (1 - Y, 0),
    (np.where(Y == 1, 0.1, 0.7).astype(np.float32), 0.1),
    (np.where(Y == 1, np.inf, 7.0), np.inf),
    (2.0 * Y - 1, 1),
]


@pytest.mark.parametrize(("labels", "pos_label"), OTHER_LABELS)
@pytest.mark.parametrize("mode", EAGER)
def test_any_two_numbers_with_pos_label(mode: Mode, labels: np.ndarray, pos_label: Any):
    exactly(mode.run(partial(qk.roc_auc, pos_label=pos_label), labels, S))


STRINGS = np.where(Y == 1, "yes", "no")


@pytest.mark.parametrize(
    "labels",
    [
        STRINGS,
        STRINGS.tolist(),
        STRINGS.astype(object),
        pd.Series(STRINGS),
        pd.Series(STRINGS, dtype="category"),
        pd.Series(STRINGS, dtype="string"),
        STRINGS.astype(np.dtypes.StringDType()),
    ],
    ids=["U", "list", "object", "pandas", "category", "nullable", "StringDType"],
)
def test_strings_with_pos_label(labels: Any):
    exactly(qk.roc_auc(labels, S, pos_label="yes"))
    exactly(qk.roc_auc(labels, -S, pos_label="no"))
    one_of = r"pass pos_label, the positive one of '(yes' and 'no|no' and 'yes)'$"
    with pytest.raises(ValueError, match=rf"^y_true must hold 0 and 1; for other labels {one_of}"):
        qk.roc_auc(labels, S)


def test_bytes_and_objects_with_pos_label():
    exactly(qk.roc_auc(STRINGS.astype("S"), S, pos_label=b"yes"))
    exactly(qk.roc_auc(np.asarray([(1, "a")[x] for x in Y], dtype=object), -S, pos_label=1))
    assert np.isnan(qk.roc_auc(["no", "no"], [1, 2], pos_label="yes"))
    assert np.isnan(qk.roc_auc(["yes", "yes"], [1, 2], pos_label="yes"))


THREE = [
    ([1, 0, 2, 1, 0, 0, 1, 0], 1),
    ([1, 0, 2, 1, 0, 0, 1, 0], 5),
    ([1.0, 0.5, 0, 1, 0, 0, 1, 0], 1),
    ([1, 0, np.nan, 1, 0, 0, 1, 0], 1),
    ([1, np.nan, np.nan, 1, 1, 1, 1, 1], 1),
    (S, 0.875),
]


@every.reading_modes
@pytest.mark.parametrize(("labels", "pos_label"), THREE)
def test_three_classes_are_refused_or_nan(mode: Mode, labels: Any, pos_label: Any):
    measure = partial(qk.roc_auc, pos_label=pos_label)
    if mode.lazy:
        assert np.isnan(mode.run(measure, np.asarray(labels), S))
    else:
        with pytest.raises(ValueError, match=r"^y_true is \S+ at position \d; expected pos_label"):
            mode.run(measure, np.asarray(labels), S)


def labels_of_a_batch(y: Any, s: Any, where: Any) -> Any:
    return qk.roc_auc(y, s, pos_label=2, where=where)


@pytest.mark.long_program
@every.reading_modes
def test_labels_that_do_not_count_are_no_third_class(mode: Mode):
    """Rows of a batch are judged one by one, masked labels not at all."""
    labels = np.stack([2.0 * Y, 2.0 * Y, 3 - Y, 2.0 * Y, 2.0 * Y])
    where = np.ones((5, 8), dtype=bool)
    labels[1, [0, 5]], where[1, [0, 5]] = [np.nan, 7], False
    labels[3, 7] = 0.5
    scores = np.stack([S, S, -S, S, S])
    kept = qk.roc_auc(Y[[1, 2, 3, 4, 6, 7]], S[[1, 2, 3, 4, 6, 7]])
    wanted = np.asarray([AUC, kept, 1 - AUC, np.nan, AUC])
    labels[2] = np.where(Y == 1, 1, 2)
    wanted[2] = qk.roc_auc(1 - Y, -S)
    good = slice(None) if mode.lazy else [0, 1, 2, 4]
    found = mode.run(labels_of_a_batch, labels[good], scores[good], where[good])
    exactly(found, wanted[good])
    if not mode.lazy:
        unchecked = mode.run(
            lambda y, s, m: qk.roc_auc(y, s, pos_label=2, where=m, validate=False),
            labels,
            scores,
            where,
        )
        exactly(unchecked, wanted)


# shapes


SHAPES = [
    ("y_true", (8, 1), (8,)),
    ("y_true", (1, 8), (8,)),
    ("y_true", (7,), (8,)),
    ("y_true", (1,), (8,)),
    ("y_true", (3,), (3, 8)),
    ("y_true", (2, 8), (3, 8)),
    ("y_true", (3, 1), (3, 8)),
    ("y_true", (1, 8), (3, 8)),
    ("y_true", (3, 8), (2, 3, 8)),
    ("sample_weight", (8, 1), (8,)),
    ("sample_weight", (1,), (8,)),
    ("sample_weight", (3, 1), (3, 8)),
    ("where", (7,), (8,)),
    ("where", (1,), (3, 8)),
]


@pytest.mark.parametrize(("name", "shape", "of_scores"), SHAPES)
@pytest.mark.parametrize(
    "mode",
    parameters(
        [m for m in MODES if m.name in ("numpy", "strictest-device1", "jax32-jit", "torch")]
    ),
)
def test_shapes_are_never_broadcast(mode: Mode, name: str, shape: Any, of_scores: Any):
    full = {"y_true": of_scores[-1:], "sample_weight": of_scores[-1:], "where": of_scores[-1:]}
    full[name] = shape
    types = {"y_true": int, "sample_weight": float, "where": bool}
    arrays = {key: np.ones(size, dtype=types[key]) for key, size in full.items()}
    wanted = str(of_scores[-1:]) + (f" or {of_scores}" if len(of_scores) > 1 else "")
    message = rf"^{name} must have shape {re.escape(wanted)}, .*got shape {re.escape(str(shape))}"

    def measured(s: Any, y: Any, w: Any, m: Any) -> Any:
        return qk.roc_auc(y, s, sample_weight=w, where=m)

    with every.raises(mode, ValueError, message):
        mode.run(measured, np.zeros(of_scores), *arrays.values())


def one_for_all(y: Any, s: Any, w: Any, m: Any) -> Any:
    return qk.roc_auc(y, s, sample_weight=w, where=m)


@every.main_modes
@pytest.mark.long_program
def test_one_column_serves_all_rows_of_a_batch(mode: Mode):
    scores = np.stack([S, -S, S[::-1]]).reshape(3, 1, 8)
    where = np.arange(8) != 4
    full = [np.broadcast_to(x, scores.shape) for x in (Y, W, where)]
    found = mode.run(one_for_all, Y, scores, W, where)
    assert found.shape == (3, 1)
    wanted = [qk.roc_auc(Y, s[0], sample_weight=W, where=where) for s in scores]
    assert ulps(found[:, 0], np.asarray(wanted)) <= 4
    np.testing.assert_array_equal(mode.run(one_for_all, full[0], scores, *full[1:]), found)


# few or no examples


@pytest.mark.parametrize("mode", LIBRARIES)
def test_no_examples_have_no_decisions(mode: Mode):
    def decide(s: Any) -> Any:
        return qk.select(s, quota=0), qk.quota_threshold(s, quota=0), qk.select(s, fraction=0.5)

    for shape in ((0,), (2, 0), (0, 4)):
        chosen, end, share = mode.run(decide, np.zeros(shape))
        assert chosen.shape == share.shape == shape
        assert all(x.shape == shape[:-1] for x in end)
        assert all(np.isnan(x).all() for x in end)


@pytest.mark.parametrize("mode", LIBRARIES)
@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic"])
def test_a_batch_of_no_lists_in_every_order_of_ties(mode: Mode, ties: str):
    def measures(y: Any, s: Any) -> Any:
        ranking = qk.rank(y, s, ties=ties)
        state = qk.states.ScoreHistogram.empty(s, bits=4).update(y, s)
        stop = qk.compare_curves([ranking, ranking]).stop[..., 0]
        return qk.roc_auc(ranking), state.compute(qk.roc_auc).lower, stop

    nothing = np.zeros((2, 0, 4))
    for x in mode.run(measures, nothing.astype(np.int64), nothing):
        assert x.shape == (2, 0)


def test_empty_lists_of_everything():
    given: dict[str, Any] = {"sample_weight": [], "where": []}
    assert np.isnan(qk.roc_auc([], [], **given))
    assert qk.rank([], [], **given).counts.tolist() == [0]
    assert np.isnan(qk.hit_rate_curve([], []).value).all()


# the last axis holds the examples: column vectors, and tables with a row for each, are errors


TRUE = np.asarray([1, 0, 1, 0, 0, 1, 1, 0])
SCORES = np.asarray([0.9, 0.8, 0.7, 0.7, 0.4, 0.3, 0.2, 0.1])
COLUMN, LABELS = SCORES[:, None], TRUE[:, None]
AXIS = re.escape(", and the last axis holds the examples")

SOME = parameters(
    [m for m in MODES if m.name in ("numpy", "strictest-device1", "jax32-jit", "torch")]
)


# column vectors


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("mode", SOME)
def test_columns_of_scores_are_no_batch(mode: Mode, validate: bool):
    """Of labels as well, as models for one number have them; in programs too."""
    for labels, pass_too in ((TRUE, ""), (LABELS, r" and y_true\[:, 0\]")):
        message = rf"^y_score has shape \(8, 1\){AXIS}; pass y_score\[:, 0\]{pass_too}"
        with every.raises(mode, ValueError, message):
            mode.run(lambda s, y: qk.roc_auc(y, s, validate=validate), COLUMN, labels)
    deep = np.stack([COLUMN, COLUMN])
    with every.raises(mode, ValueError, r"^y_score has shape .* pass y_score\[\.\.\., 0\]"):
        mode.run(lambda s, y: qk.hit_rate(y, s, quota=1, validate=validate), deep, TRUE)


# what stays possible


@pytest.mark.full
@pytest.mark.parametrize("mode", SOME)
def test_models_of_one_example(mode: Mode):
    """The labels say so, or the mask of an example more."""
    found = mode.run(lambda s, y: qk.rank(y, s).positives, COLUMN, TRUE[:1])
    assert found.tolist() == [[1]] * 8
    scores, there = np.pad(COLUMN, ((0, 0), (0, 1))), np.asarray([True, False])
    found = mode.run(lambda s, y, m: qk.hit_rate(y, s, where=m, quota=1), scores, scores > 1, there)
    assert found.tolist() == [0] * 8
    chosen = mode.run(lambda s, m: qk.select(s, where=m, quota=1), scores, there)
    assert chosen.tolist() == [[1, 0]] * 8


def test_a_state_of_several_models_takes_one_example():
    empty = qk.states.FixedScoreBuffer.empty(np.zeros((8, 0)), capacity=20)
    state = empty.update(LABELS, COLUMN).update(1 - LABELS, 1 - COLUMN)
    assert state.compute(qk.roc_auc).tolist() == ((SCORES > 1 - SCORES) == TRUE).tolist()


def test_one_example_is_no_column():
    assert qk.hit_rate([[1]], [[0.5]], quota=1).tolist() == [1]
    found = qk.one_vs_rest(qk.hit_rate, [1], [[0.2, 0.8]], quota=1, average=None)
    assert found.value.tolist() == [0, 1]
    for library in ("torch", "jax"):
        if available(library):
            mode = next(m for m in MODES if m.name == {"torch": library}.get(library, "jax64-jit"))
            mapped = next(m for m in MODES if m.name in (f"{library}-vmap", f"{library}32-vmap"))
            assert mode.run(lambda s, y: qk.hit_rate(y, s, quota=1), SCORES[:1], TRUE[:1]) == 1
            assert mapped.run(lambda s, y: qk.hit_rate(y, s, quota=1), SCORES[:1], TRUE[:1]) == 1
            assert np.isnan(mapped.run(lambda s, y: qk.roc_auc(y, s), SCORES[:1], TRUE[:1]))


# a row for each example


def test_scores_of_several_models_are_to_be_rows():
    assert qk.roc_auc(TRUE, np.stack([SCORES, SCORES, SCORES], axis=-1).T).shape == (3,)
