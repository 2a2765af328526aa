"""Rankings that callers make of columns: what cannot be one is an error, where it can be read."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters

import quotakernels as qk

THRESHOLDS, COUNTS, FOUND = np.asarray([3.0, 2, 1]), np.asarray([2, 0, 3]), np.asarray([2, 0, 1])
COLUMNS = {
    "thresholds": THRESHOLDS,
    "counts": COUNTS,
    "positives": FOUND,
    "positive_weights": FOUND,
    "negative_weights": COUNTS - FOUND,
}
READ = parameters([m for m in MODES if m.name in ("numpy", "torch")])
READ_LATER = parameters([m for m in MODES if m.name in ("numpy", "jax32", "torch", "torch-vmap")])

BAD = [
    ("counts", [2, -1, 3], r"counts is -1 at position 1; expected a count, not negative"),
    ("positives", [3, 0, 1], r"positives is 3 at position 0; expected between 0 and the row's"),
    ("positives", [2, 0, -1], r"positives is -1 at position 2; expected between 0 and the row's"),
    ("thresholds", [1.0, 2, 3], r"thresholds is 3\.0 at position 2; expected scores from high to"),
    ("thresholds", [np.nan, 2, 1], r"thresholds is nan at position 0; expected a number"),
    (
        "positive_weights",
        [2.0, 0, np.inf],
        r"positive_weights is inf at position 2; expected a f",
    ),
    ("negative_weights", [0.0, -1, 1], r"negative_weights is -1\.0 at position 1; expected a f"),
    ("positive_weights", [2, 0, 3], r"positive_weights is 3 at position 2; expected the number"),
    ("counts", [2, 3], r"counts must have the shape of thresholds, \(3,\); got \(2,\)"),
]


@pytest.mark.parametrize(("name", "values", "message"), BAD)
@pytest.mark.parametrize("mode", READ)
def test_columns_that_are_no_ranking(mode: Mode, name: str, values: Any, message: str):
    columns = {field: mode.array(x) for field, x in COLUMNS.items()}
    with pytest.raises(ValueError, match=f"^{message}"):
        qk.Ranking(**columns | {name: mode.array(np.asarray(values))})


def test_a_row_of_a_batch():
    batch = {name: np.stack([x, x]) for name, x in COLUMNS.items()}
    np.testing.assert_array_equal(qk.roc_auc(qk.Ranking(**batch)), [5 / 6, 5 / 6])
    batch["counts"][1, 2] = -3
    with pytest.raises(ValueError, match=r"^counts is -3 at position \(1, 2\)"):
        qk.Ranking(**batch)
    with pytest.raises(ValueError, match=r"^thresholds must have a row or more; got shape \(0,\)"):
        qk.Ranking(*(x[:0] for x in COLUMNS.values()))
    with pytest.raises(TypeError, match="^counts must hold integers; got dtype float64"):
        qk.Ranking(**COLUMNS | {"counts": COUNTS.astype(float)})


@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic", "given"])
@pytest.mark.parametrize("mode", READ_LATER)
def test_every_ranking_that_is_made_here_can_be_made_by_hand(mode: Mode, ties: Any):
    """Padded tables too, and those of merged, resampled or chosen rows."""
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 2, (2, 3, 20)) > 0, rng.integers(-2, 3, (2, 3, 20)) / 2
    weights, there = rng.integers(0, 3, (2, 3, 20)) / 4, rng.random((2, 3, 20)) < 0.7

    def made(y: Any, s: Any, w: Any, m: Any) -> Any:
        weighted = qk.rank(y, s, sample_weight=w, where=m, ties=ties)
        plain = qk.rank(y, s, where=m, ties=ties)
        return weighted, plain, plain.at_thresholds(plain.thresholds[..., ::7])

    for ranking in mode.run(made, labels, scores, weights, there):
        by_hand = qk.Ranking(*ranking)
        np.testing.assert_array_equal(qk.roc_auc(by_hand), qk.roc_auc(ranking))
        for same in (copy.deepcopy(by_hand), pickle.loads(pickle.dumps(by_hand))):
            assert type(same) is qk.Ranking
            np.testing.assert_array_equal(same.counts, ranking.counts)
    points = qk.Ranking.from_points([0.5, 0.5, 2], [0.25, 1, 1])
    assert qk.roc_auc(qk.Ranking(*points)) == qk.roc_auc(points)


def test_what_is_no_array_passes():
    """Trees of axes, for example, which JAX maps over."""
    assert qk.Ranking(0, 0, 0, None, None).counts == 0
    ranking = qk.Ranking(**COLUMNS)
    assert ranking._replace(counts=-COUNTS).counts[0] == -2


GAINED = qk.rank([1, 0, 1], [3.0, 2, 2], gain=[5, -1, 2], gain_rejected=[0, 1, 0])


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("positive", [5.0, np.nan], "positive is nan at position 1; expected a finite sum"),
        (
            "negative",
            [1.0, -1],
            r"negative is 1\.0 at position 0; expected a finite sum, and 0 for",
        ),
        ("size", [1.0, -1], r"size is -1\.0 at position 1; expected a finite sum, and 0 for no ex"),
        ("negative_rejected", [0, np.inf], "negative_rejected is inf at position 1"),
        ("positive", [5.0], r"positive must have the shape of thresholds, \(2,\); got \(1,\)"),
    ],
)
@pytest.mark.parametrize("mode", READ)
def test_gains_that_are_none_of_a_ranking(mode: Mode, name: str, values: Any, message: str):
    columns = [mode.array(x) for x in GAINED[:5]]
    gains = GAINED.gains.map(mode.array)
    assert qk.best_quota(qk.Ranking(*columns, gains)).value == qk.best_quota(GAINED).value
    with pytest.raises(ValueError, match=rf"^gains\.{message}"):
        qk.Ranking(*columns, gains._replace(**{name: mode.array(np.asarray(values))}))
    whole = gains._replace(positive=mode.array(np.asarray([5, 2])))
    with pytest.raises(TypeError, match=r"^gains\.positive must hold floats; got dtype int64"):
        qk.Ranking(*columns, whole)
    with pytest.raises(TypeError, match="^gains must be those of a Ranking; got a list"):
        qk.Ranking(*columns, [1.0, 2.0])


def test_the_order_of_rows_of_one_example_and_of_none():
    one, ones = np.asarray([1, 1]), np.asarray([1, 1, 1])
    with pytest.raises(ValueError, match=r"^thresholds is 2\.0 at position 1; expected scores fro"):
        qk.Ranking(np.asarray([1.0, 2.0]), one, one, one, 0 * one)
    for between in (0.0, np.nan, 9.0):
        counts = np.asarray([1, 0, 1])
        ranking = qk.Ranking(np.asarray([2.0, between, 1.0]), counts, 0 * ones, 0 * ones, counts)
        assert np.isnan(qk.roc_auc(ranking))
