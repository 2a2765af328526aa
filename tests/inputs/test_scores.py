"""Scores are compared and never computed with: any real dtype ranks by its exact value."""

from __future__ import annotations

import importlib
from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, parameters
from expected import as_floats

import quotakernels as qk

Y = np.asarray([1, 0, 1, 0, 0, 1, 1, 0])
HALF = np.asarray([0.9, 0.8, 0.7, 0.7, 0.4, 0.3, 0.2, 0.1])


def by_name(*names: str) -> list[Mode]:
    return [mode for mode in MODES if mode.name in names]


# ranked as they are


def shapes_of_scores(dtype: Any) -> np.ndarray:
    """One row for each way in which real scores look, with and without ties."""
    logits = np.log(HALF / (1 - HALF))
    tiny = np.finfo(dtype).smallest_subnormal
    step = 1e-12 if dtype == np.float64 else 2.0**-20
    rows = [
        [np.inf, 3, 2, 2, 1, -np.inf, -np.inf, 0],
        logits,
        np.log(HALF),
        850 - 550 * HALF[::-1],
        1 + step * np.arange(8),
        0.5 - step * np.asarray([0, 1, 2, 3, 3, 4, 5, 6]),
        HALF - 5,
        HALF * 0.004,
        np.full(8, 0.3),
        [0.0, -0.0, 1, -1, 0.0, -0.0, -0.0, 0.0],
        tiny * np.asarray([0, 1, 2, -1, -2, 3, -3, 1]),
        [np.finfo(dtype).max, np.finfo(dtype).min, 1, 0, tiny, -tiny, np.inf, -np.inf],
    ]
    return np.asarray(rows, dtype=dtype)


def ranked(y_true: Any, y_score: Any) -> dict[str, Any]:
    ranking = qk.rank(y_true, y_score)
    found = {"counts": ranking.counts, "roc_auc": qk.roc_auc(ranking)}
    found["select"] = qk.select(y_score, quota=every.SELECTED)
    ends = qk.quota_threshold(y_score, quota=[float(q) for q in every.QUOTAS])
    return found | every.record("quota_threshold", ends)


@every.reading_modes
@pytest.mark.long_program
def test_scores_are_ranked_as_they_are(mode: Mode):
    """No sigmoid, no clip, no rule about their range; subnormals are distinct, in XLA too."""
    scores = shapes_of_scores(np.float32 if mode.float32 else np.float64)
    found = mode.run(ranked, np.broadcast_to(Y, scores.shape), scores)
    for index, row in enumerate(scores):
        values = every.of_row(found, index)
        groups = np.unique(row, return_counts=True)[1][::-1].tolist()
        assert [count for count in values.pop("counts") if count] == groups
        every.assert_exact(values, Y, row)


# the total order


def groups_of(scores: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
    """Values, counts and positives of the groups, best first, by NumPy's own unique."""
    distinct, which = np.unique(scores, return_inverse=True)
    counts = np.bincount(which)[::-1], np.bincount(which, labels)[::-1].astype(int)
    return [distinct[::-1], *counts]


def compact(ranking: Any) -> list[np.ndarray]:
    filled = np.asarray(ranking.counts) > 0
    return [np.asarray(x)[filled] for x in ranking[:3]]


def check_order(found: Any, exact: np.ndarray, labels: np.ndarray, dtype: Any) -> None:
    for got, want in zip(compact(found), groups_of(exact, labels), strict=True):
        np.testing.assert_array_equal(got.astype(want.dtype), want)
    assert found.thresholds.dtype == dtype


def half_dtype(name: str) -> Any:
    return np.dtype(
        getattr(importlib.import_module("ml_dtypes"), name) if name == "bfloat16" else name
    )


def to_mode(mode: Mode, x: np.ndarray) -> Any:
    """Also where neither DLPack nor `torch.from_numpy` knows the dtype."""
    if mode.library == "torch" and x.dtype.name == "bfloat16":
        import torch

        return torch.from_numpy(x.view(np.int16).copy()).view(torch.bfloat16)
    return mode.array(x)


def as_float64(x: Any) -> np.ndarray:
    if type(x).__module__ == "torch":
        x = x.double()
    return np.asarray(x).astype(np.float64)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.parametrize("mode", parameters(by_name("numpy", "jax64", "jax32", "torch")))
def test_all_patterns_of_half_precision(mode: Mode, name: str):
    dtype = half_dtype(name)
    patterns = np.random.default_rng(5).permutation(2**16).astype(np.uint16).view(dtype)
    with np.errstate(invalid="ignore"):
        values = patterns.astype(np.float64)
    numbers = ~np.isnan(values)
    labels = np.arange(numbers.sum()) % 3 == 0
    with mode.context():
        found = qk.rank(to_mode(mode, labels), to_mode(mode, patterns[numbers]))
        assert name in str(found.thresholds.dtype)
        counts, positives = (np.asarray(x) for x in (found.counts, found.positives))
        alone = to_mode(mode, patterns[:, None])
        each = qk.rank(to_mode(mode, np.zeros(1, bool)), alone, validate=False)
    filled = counts > 0
    wanted = groups_of(values[numbers], labels)
    np.testing.assert_array_equal(as_float64(found.thresholds)[filled], wanted[0])
    np.testing.assert_array_equal(counts[filled], wanted[1])
    np.testing.assert_array_equal(positives[filled], wanted[2])
    np.testing.assert_array_equal(np.asarray(each.counts)[:, 0], numbers)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.parametrize("mode", parameters(by_name("numpy", "jax32", "torch")))
def test_half_precision_in_everything_that_returns_scores(mode: Mode, name: str):
    scores = (8 * HALF).round().astype(half_dtype(name))
    distinct = np.unique(scores.astype(float))[::-1]
    with mode.context():
        y, s = to_mode(mode, Y), to_mode(mode, scores)
        curve, end = qk.hit_rate_curve(y, s), qk.quota_threshold(s, quota=[0, 3, 8])
        assert name in str(curve.threshold.dtype)
        assert name in str(end.threshold.dtype)
        seen = as_float64(curve.threshold)
        np.testing.assert_array_equal(np.unique(seen[~np.isnan(seen)])[::-1], distinct)
        np.testing.assert_array_equal(as_float64(end.threshold), [np.nan, 6, 1])
        wide = qk.summary(Y, scores.astype(float))
        np.testing.assert_allclose(as_float64(qk.summary(y, s)), wide, rtol=1e-6)
        moment = qk.pearson(Y, scores.astype(float), quota=5)
        np.testing.assert_allclose(as_float64(qk.pearson(y, s, quota=5)), moment, rtol=1e-5)


def boundaries(dtype: Any) -> np.ndarray:
    """Values where something changes, and their neighbours, of both signs, shuffled."""
    info = np.finfo(dtype)
    edges = [0, info.smallest_subnormal, info.tiny, info.eps, 0.5, 1, 2, 1 / 3, 2.0**24, info.max]
    edges = np.asarray([*edges, np.inf], dtype=dtype)
    with np.errstate(over="ignore", under="ignore"):
        near = [np.nextafter(edges, dtype(to)) for to in (-np.inf, np.inf)]
    positive = np.concatenate([edges, *near])
    return np.random.default_rng(3).permutation(np.concatenate([positive, -positive]))


@pytest.mark.long_program
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mode", parameters())
def test_neighbouring_floats_are_distinct(mode: Mode, dtype: Any):
    if mode.float32 and dtype == np.float64:
        pytest.skip("no float64 in this mode")
    scores = boundaries(dtype)
    labels = np.arange(scores.size) % 2
    found = mode.run(qk.rank, labels, scores)
    check_order(found, scores, labels, dtype)


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    "mode", parameters(by_name("numpy", "strictest", "jax64", "jax32", "torch", "torch-vmap"))
)
def test_extreme_integers(mode: Mode, dtype: str):
    if mode.float32 and dtype.endswith("64"):
        pytest.skip("no 64-bit integers in this mode")
    info = np.iinfo(dtype)
    edges = [info.min, info.min + 1, 0, 1, 2, info.max - 1, info.max, info.max, 1, info.min]
    scores = np.random.default_rng(1).permutation(np.asarray(edges, dtype=dtype))
    labels = np.arange(scores.size) % 2
    check_order(mode.run(qk.rank, labels, scores), scores, labels, np.dtype(dtype))
    in_batch = mode.run(masked_rank, labels, np.stack([scores, scores]), np.ones(10, dtype=bool))
    check_order(in_batch.map(lambda x: x[1]), scores, labels, np.dtype(dtype))


def masked_rank(labels: Any, scores: Any, where: Any) -> Any:
    return qk.rank(labels, scores, where=where)


def test_long_doubles_are_ranked_exactly():
    scores = 1 + np.arange(4, dtype=np.longdouble) * np.finfo(np.longdouble).eps
    assert qk.roc_auc([0, 0, 1, 1], scores) == 1


# what is not a real number


def test_tensors_of_numbers_are_no_mask():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"torch\.int64; if it holds 0 and 1 pass where == 1$"):
        qk.rank(*torch.eye(2), where=torch.tensor([1, 0]))


PLACES = np.asarray([7.0, 6, 6, 4, 3, 3, 2, 1])
SPANS = np.stack(
    [
        PLACES * 5e-324,
        PLACES * 1e-310,
        PLACES,
        (PLACES - 4) * 2.0**1021,
        np.where(PLACES > 4, 1.5e308, -1.5e308),
        np.where(PLACES > 6, 1e308, -PLACES * 5e-324),
        [*PLACES[:-1] * 1e-310, -np.inf],
    ]
)
SPANNED = [m for m in MODES if m.name in ("numpy", "strict", "jax64", "jax64-jit", "torch-vmap")]


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters(SPANNED))
def test_pearson_of_scores_that_span_all_floats_or_are_subnormal(mode: Mode):
    labels = np.asarray([1, 0, 1, 1, 0, 0, 1, 0])
    batch = np.broadcast_to(labels, SPANS.shape).copy()
    found = mode.run(lambda y, s: qk.pearson(y, s, quota=[4, 8]), batch, SPANS)
    for row, scores in zip(found, SPANS, strict=True):
        groups = ex.groups(labels.tolist(), scores.tolist())
        wanted = as_floats([ex.pearson(groups, quota) for quota in (4, 8)])
        np.testing.assert_allclose(row, wanted, rtol=1e-14)


@pytest.mark.parametrize("mode", parameters(QUICK))
def test_the_lowest_scores_beside_examples_that_do_not_count(mode: Mode):
    """Which have the key of the lowest float where a library does not give its bits."""
    rng = np.random.default_rng(8)
    scores = rng.choice([-np.inf, -np.inf, 0.5, 2.0], (20, 12))
    labels, there = rng.integers(0, 2, (20, 12)), rng.random((20, 12)) < 0.6
    labels[:, :2], there[:, :2], scores[:, 1] = (0, 1), True, -np.inf

    def found(y: Any, s: Any, m: Any) -> Any:
        return qk.summary(qk.rank(y, s, where=m)), qk.average_precision(y, s, where=m)

    several, precisions = mode.run(found, labels, scores, there)
    for row, here in enumerate(there):
        y, s = labels[row, here], scores[row, here]
        near: dict[str, Any] = {"rtol": 1e-5 if mode.float32 else 1e-13}
        np.testing.assert_allclose(precisions[row], qk.average_precision(y, s), **near)
        for value, wanted in zip(several, qk.summary(y, s), strict=True):
            np.testing.assert_allclose(value[row], wanted, **near)
