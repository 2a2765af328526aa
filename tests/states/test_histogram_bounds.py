"""Histograms of score bits: exact for short types, certified bounds for long ones."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters
from expected import filled
from hypothesis import given
from hypothesis import strategies as st
from public_names import MEASURES

import quotakernels as qk

GROWING: dict[str, Callable[..., Any]] = {
    "roc_auc": qk.roc_auc,
    "gini": qk.gini,
    "pem": qk.pem,
    "hits": functools.partial(qk.hit_rate, quota=2.5),
    "qrecall": functools.partial(qk.qrecall, fraction=0.3),
    "lift": functools.partial(qk.lift, quota=1),
    "average_qrecall": qk.average_qrecall,
    "pr_auc": qk.pr_auc,
    "auk": qk.charts.auk,
    "roc_hull_auc": qk.roc_hull_auc,
    "achievable_pr_auc": qk.achievable_pr_auc,
    "mean_hit_rate": functools.partial(qk.mean_hit_rate, between=(1, 3)),
    "ndcg": qk.retrieval.ndcg,
    "enrichment": functools.partial(qk.screening.normalized_enrichment_factor, quota=2.5),
}
OF_WEIGHTS = {k: x for k, x in GROWING.items() if k not in ("mean_hit_rate", "ndcg")}
"""Those that know weights without an option of their own."""
floats = st.floats(width=32, allow_nan=False)
near = st.integers(-6, 6).map(lambda k: 1 + k * 2.0**-20)
examples = st.lists(st.tuples(st.booleans(), near | floats), min_size=3, max_size=25)
BITS = st.integers(1, 14)


def columns(pairs: list[Any], dtype: Any) -> tuple[Any, Any]:
    labels, values = zip(*pairs, strict=True)
    return np.asarray(labels), np.asarray(values, dtype=dtype)


def check_contained(bounds: dict[str, qk.states.Bounds], exact: dict[str, Any]) -> None:
    for name, (lower, upper) in bounds.items():
        value = exact[name]
        assert np.isnan(lower) == np.isnan(upper) == np.isnan(value), name
        assert np.isnan(value) or lower <= value <= upper, name


@given(examples, BITS, st.sampled_from([np.float32, np.float64]))
def test_bounds_hold_the_exact_value(pairs: list[Any], bits: int, dtype: Any):
    labels, values = columns(pairs, dtype)
    state = qk.states.ScoreHistogram.of(labels, values, bits=bits)
    assert not state.exact
    ranking = qk.rank(labels, values)
    check_contained(state.compute(GROWING), {k: f(ranking) for k, f in GROWING.items()})


@given(examples, BITS, st.integers(0, 2**16))
def test_bounds_hold_the_exact_value_of_weighted_scores(pairs: list[Any], bits: int, seed: int):
    labels, values = columns(pairs, np.float32)
    rng = np.random.default_rng(seed)
    weights = rng.random(len(labels)) * 10.0 ** rng.integers(-9, 9, len(labels))
    quota = weights.sum() / 3
    measures = {
        name: functools.partial(f, quota=quota) if "quota" in getattr(f, "keywords", ()) else f
        for name, f in OF_WEIGHTS.items()
    }
    state = qk.states.ScoreHistogram.of(labels, values, sample_weight=weights, bits=bits)
    ranking = qk.rank(labels, values, sample_weight=weights)
    check_contained(state.bounds(measures), {k: f(ranking) for k, f in measures.items()})


def test_the_named_measures_are_those_with_bounds():
    plain = {getattr(f, "func", f) for f in GROWING.values()}
    marked = {x for x in MEASURES.values() if x.monotone}
    assert plain == marked, "GROWING of this file has every measure marked monotone"
    document = qk.states.ScoreHistogram.bounds.__doc__
    unnamed = {x.__name__ for x in marked if f"`{x.__name__}`" not in document}
    assert unnamed == set(), "the docstring of ScoreHistogram.bounds names every one"


@pytest.mark.full
def test_bounds_hold_what_rounding_makes_of_weighted_measures():
    """Weights of sixteen magnitudes, of one positive too: 1 comes out some last places off."""
    measures = {"average": qk.average_qrecall, "gini": qk.gini, "pem": qk.pem, "auk": qk.charts.auk}
    rng = np.random.default_rng(3)
    for n in [*range(3, 63), 3000, 3000]:
        labels, values = rng.random(n) < 0.9, rng.normal(size=n).astype(np.float32)
        weights = 10 ** (rng.uniform(-8, 8, n) - 6 * ~labels)
        state = qk.states.ScoreHistogram.of(labels, values, sample_weight=weights, bits=12)
        ranking = qk.rank(labels, values, sample_weight=weights)
        check_contained(state.compute(measures), {k: f(ranking) for k, f in measures.items()})


@pytest.mark.full
def test_bounds_of_weighted_measures_are_as_near_as_rounding():
    """Every score has a bin of its own, so that rounding alone keeps the bounds apart."""
    rng = np.random.default_rng(5)
    labels, values = rng.random(2000) < 0.3, rng.permutation(2000).astype(np.float32)
    state = qk.states.ScoreHistogram.of(labels, values, sample_weight=rng.random(2000), bits=20)
    for name, (lower, upper) in state.bounds(OF_WEIGHTS).items():
        drifts = name == "average_qrecall"
        width = 1e-9 if drifts else 2**-45
        assert upper - lower <= width * max(1, upper), name


# bins


def every_pattern(dtype: Any) -> np.ndarray:
    patterns = np.arange(2**16, dtype=np.uint16).view(dtype)
    with np.errstate(invalid="ignore"):
        return patterns[~np.isnan(patterns)]


@pytest.mark.parametrize("name", ["float16", "bfloat16", "int16", "uint16", "int8", "bool"])
def test_scores_of_two_bytes_have_a_bin_each(name: str):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    values = every_pattern(dtype) if dtype.kind in "fV" else np.arange(2**16).astype(dtype)
    labels = np.random.default_rng(1).random(values.shape) < 0.3
    state = qk.states.ScoreHistogram.of(labels, values)
    assert state.exact
    both = filled(state.ranking()), filled(qk.rank(labels, values))
    assert all(np.array_equal(x, y) for x, y in zip(*both, strict=True))
    assert state.ranking().thresholds.dtype == dtype


EDGES = [0.0, -0.0, 1e-45, -1e-45, 1.5, -1.5, np.inf, -np.inf, 3e38, -3e38, 1e-38, 7.0]


@pytest.mark.parametrize("bits", [1, 5, 12, 18])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_bin_begins_at_its_threshold(dtype: Any, bits: int):
    """So the cuts of the histogram are cuts of the scores."""
    values = np.asarray(EDGES, dtype=dtype)
    labels = np.arange(len(EDGES)) % 2
    ranking = filled(qk.states.ScoreHistogram.of(labels, values, bits=bits).ranking())
    assert np.all(np.diff(ranking.thresholds) < 0)
    at_or_above = (values >= ranking.thresholds[:, None]).sum(axis=-1)
    assert np.array_equal(ranking.counts.cumsum(), at_or_above)


FEW = parameters([m for m in MODES if m.name in ("jax32", "torch", "strictest-device1", "cupy")])


@pytest.mark.parametrize("mode", FEW)
def test_libraries_agree_on_the_bins(mode: Mode):
    values = np.asarray(EDGES, dtype=np.float32)
    labels = np.arange(len(EDGES)) % 2
    wanted = qk.states.ScoreHistogram.of(labels, values, bits=12)
    with mode.context():
        state = qk.states.ScoreHistogram.of(mode.array(labels), mode.array(values), bits=12)
        found = mode.to_numpy(state.counts)
        thresholds = mode.to_numpy(state.ranking().thresholds)
    kept = found.sum(axis=-1) > 0
    assert np.array_equal(found[kept], wanted.counts[wanted.counts.sum(axis=-1) > 0])
    kept = kept[: len(thresholds)] if len(thresholds) == len(kept) else slice(None)
    assert np.array_equal(thresholds[kept], filled(wanted.ranking()).thresholds)
