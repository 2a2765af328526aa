"""The last axis holds the examples: column vectors, and tables with a row for each, are errors."""

from __future__ import annotations

import re
from typing import Any

import everything as every
import numpy as np
import pandas as pd
import polars as pl
import pytest
from backends import MODES, Mode, available, parameters

import quotakernels as qk

Y = np.asarray([1, 0, 1, 0, 0, 1, 1, 0])
S = np.asarray([0.9, 0.8, 0.7, 0.7, 0.4, 0.3, 0.2, 0.1])
COLUMN, LABELS = S[:, None], Y[:, None]
BOTH = np.stack([1 - S, S], axis=-1)
AXIS = re.escape(", and the last axis holds the examples")

SOME = parameters(
    [m for m in MODES if m.name in ("numpy", "strictest-device1", "jax32-jit", "torch")]
)


def state_of(scores: Any) -> Any:
    return qk.states.FixedScoreBuffer.empty(scores, capacity=20)


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


def of_scores(name: str) -> Any:
    return {
        "select": lambda y, s: qk.select(s, quota=1),
        "quota_threshold": lambda y, s: qk.quota_threshold(s, quota=1),
        "hit_rate": lambda y, s: qk.hit_rate(y, s, fraction=0.5),
        "rank_at_quota": lambda y, s: qk.rank_at_quota(y, s, quota=1),
        "accuracy": lambda y, s: qk.accuracy(y, s, threshold=0.5),
        "impact": lambda y, s: qk.impact_at_quota(None, s, gain=s, gain_rejected=2.0, quota=1),
        "one_vs_rest": lambda y, s: qk.one_vs_rest(qk.roc_auc, y, s),
        "bootstrap": lambda y, s: qk.bootstrap(qk.roc_auc, y, s),
        "auc_interval": lambda y, s: qk.inference.auc_interval(y, s),
        "auc_covariance": lambda y, s: qk.inference.auc_covariance(y, s),
        "histogram": lambda y, s: qk.states.ScoreHistogram.of(y, s),
        "buffer": lambda y, s: qk.states.ScoreBuffer.empty(S).update(y, s),
        "fixed buffer": lambda y, s: state_of(S).update(y, s),
        "counts": lambda y, s: qk.states.ScoreHistogram.empty(S).update(y, s),
    }[name]


NAMES = ["select", "quota_threshold", "hit_rate", "rank_at_quota", "accuracy", "impact"]
NAMES += ["one_vs_rest", "bootstrap", "auc_interval", "auc_covariance", "histogram", "buffer"]
NAMES += ["fixed buffer", "counts"]


@pytest.mark.parametrize("name", NAMES)
def test_columns_are_refused_by_whatever_takes_scores(name: str):
    for labels in (Y, LABELS):
        with pytest.raises(
            ValueError, match=r"^y_score .*\(8, 1\).* the examples; pass y_score\[:, 0\]"
        ):
            of_scores(name)(labels, COLUMN)


def test_other_columns_are_refused_under_their_names():
    models, folds = {"a": S, "b": COLUMN}, (np.arange(8) % 2)[:, None]
    calls = {
        "y_true": lambda: qk.roc_auc(LABELS, S),
        "sample_weight": lambda: qk.roc_auc(Y, S, sample_weight=COLUMN),
        "where": lambda: qk.select(S, quota=1, where=LABELS == 1),
        "y_pred": lambda: qk.tables.confusion_table_from_predictions(LABELS, LABELS),
        "gain": lambda: qk.impact_at_quota(None, S, gain=COLUMN, quota=1),
        "like": lambda: qk.states.ScoreBuffer.empty(COLUMN),
        "models[1]": lambda: qk.inference.delong_test(Y, [S, COLUMN]),
        "models[0]": lambda: qk.inference.delong_test(Y, [COLUMN, COLUMN]),
        "models['b']": lambda: qk.compare(qk.roc_auc, Y, models),
        "folds": lambda: qk.inference.fold_summary(qk.roc_auc, Y, S, folds),
        "clusters": lambda: qk.bootstrap(qk.roc_auc, Y, S, clusters=folds),
        "thresholds": lambda: qk.Ranking.from_counts(COLUMN, LABELS, LABELS),
        "fp": lambda: qk.Ranking.from_points(LABELS, LABELS),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=rf"the last axis .* pass {re.escape(name)}\[:, 0\]"):
            call()
    with pytest.raises(ValueError, match=r"^y_true must have shape \(8,\).*pass y_true\[:, 0\]"):
        qk.one_vs_rest(qk.roc_auc, LABELS, BOTH)


def test_columns_of_lists_and_frames():
    with pytest.raises(ValueError, match=r"pass numpy\.asarray\(y_score\)\[:, 0\]"):
        qk.roc_auc(Y, COLUMN.tolist())
    for frame in (pd.DataFrame, pl.DataFrame):
        with pytest.raises(ValueError, match=r"pass y_true\.to_numpy\(\)\[:, 0\]"):
            qk.roc_auc(frame({"bought": Y}), S)


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
    state = state_of(np.zeros((8, 0))).update(LABELS, COLUMN).update(1 - LABELS, 1 - COLUMN)
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


def test_scores_of_two_classes_are_to_be_one_column():
    message = (
        r"^y_score has shape \(8, 2\), and the last axis holds the examples, 8 in y_true; pass "
        r"y_score\[:, 1\] of probabilities, y_score\[:, 1\] - y_score\[:, 0\] of logits, "
        r"y_score\.T of 2 models, or take one_vs_rest for 2 classes$"
    )
    with pytest.raises(ValueError, match=message):
        qk.roc_auc(Y, BOTH)
    with pytest.raises(ValueError, match=r"^y_score has shape \(8, 2\).* 8 in sample_weight; pass"):
        qk.select(BOTH, quota=1, sample_weight=S)
    for frame in (pd.DataFrame, pl.DataFrame):
        message = r"pass y_score\.to_numpy\(\)\[:, 1\] of .*, y_score\.to_numpy\(\)\.T of 2 mod"
        with pytest.raises(ValueError, match=message):
            qk.hit_rate(Y, frame({"no": 1 - S, "yes": S}), quota=2)


def test_a_frame_without_labels_is_to_be_one_column_or_transposed():
    """Its shape tells nothing, but the rows of a frame are examples."""
    for frame in (pd.DataFrame({"no": 1 - S, "yes": S}), pl.DataFrame({"no": 1 - S, "yes": S})):
        for call in (qk.select, qk.quota_threshold):
            with pytest.raises(
                ValueError, match=r"a data frame of shape \(8, 2\).*to_numpy\(\)\.T"
            ):
                call(frame, quota=1)
            call(frame["yes"], quota=1)
    assert qk.select(BOTH.T, quota=1).shape == (2, 8)


def test_scores_of_several_models_are_to_be_rows():
    message = r"8 in y_true; pass y_score\.T of 3 models, or take one_vs_rest for 3 classes"
    with pytest.raises(ValueError, match=message):
        qk.roc_auc(Y, np.stack([S, S, S], axis=-1))
    assert qk.roc_auc(Y, np.stack([S, S, S], axis=-1).T).shape == (3,)
    with pytest.raises(ValueError, match=r"^y_true must have shape \(9,\) or \(8, 9\)"):
        qk.roc_auc(Y, np.zeros((8, 9)))
