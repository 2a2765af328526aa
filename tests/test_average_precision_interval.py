"""Intervals of average precision and average hit rate by their influence functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, mode_fixture
from everything import MAIN, raises
from exact import influence
from hypothesis import given
from hypothesis import strategies as st

import quotakernels as qk
from quotakernels.inference import average_precision_interval
from quotakernels.inference._distributions import student_t
from quotakernels.ops import namespace

XP = namespace(np.empty(0))

mode = mode_fixture([m for m in MODES if m.name in (*MAIN, "strictest", "jax64-jit")])
RNG = np.random.default_rng(12)
N = 30
Y = RNG.integers(0, 2, N)
S = np.stack([RNG.integers(0, 4, N) / 2.0, RNG.normal(Y), np.repeat([1.0, 0.0], N // 2)])
WHERE = RNG.random(N) < 0.8
NAMES = ("average_precision", "average_hit_rate")


def wanted(name: str, y: np.ndarray, s: np.ndarray) -> tuple[float, float]:
    """The measure and its standard error, from fractions."""
    measure = getattr(influence, name)
    value, variance = influence.value_and_variance(y.tolist(), s.tolist(), measure)
    return float(value), float(variance) ** 0.5


def near(found: Any, exact: Any, factor: float = 64) -> None:
    rounding = factor * np.finfo(found.dtype).eps
    np.testing.assert_allclose(found, exact, rtol=rounding, atol=rounding)


@pytest.mark.long_program
@pytest.mark.parametrize("masked", [False, True])
def test_standard_errors_are_those_of_the_influences(mode: Mode, masked: bool):
    def computed(y: Any, s: Any, where: Any) -> Any:
        ranking = qk.rank(y, s, where=where if masked else None)
        return {name: average_precision_interval(ranking, measure=name) for name in NAMES}

    for scores in S:
        found = mode.run(computed, Y, scores, WHERE)
        there = WHERE if masked else np.ones(N, dtype=bool)
        for name in NAMES:
            value, error = wanted(name, Y[there], scores[there])
            near(found[name].estimate, value)
            near(found[name].standard_error, error, 512)


@given(st.data())
def test_small_cases(data: st.DataObject):
    size = data.draw(st.integers(4, 8))
    lists = {"min_size": size, "max_size": size}
    y = np.asarray(data.draw(st.lists(st.integers(0, 1), **lists)))
    s = np.asarray(data.draw(st.lists(st.integers(0, 3), **lists)))
    fewer = min(y.sum(), size - y.sum())
    for name in NAMES:
        found = average_precision_interval(y, s, measure=name)
        if fewer < 2:
            assert np.isnan(found[1:]).all()
            continue
        value, error = wanted(name, y, s)
        near(found.estimate, value)
        if value < 1:
            near(found.standard_error, error, 512)
            t = student_t(XP, 0.95, np.asarray(fewer - 1.0))
            logit = np.log(value / (1 - value))
            half = t * error / (value * (1 - value))
            ends = 1 / (1 + np.exp(-(logit + np.asarray([-half, half]))))
            np.testing.assert_allclose([found.lower, found.upper], ends, rtol=1e-9)


def test_large_tie_groups():
    """Sums over positions are closed forms there; in fractions they would take long."""
    y = np.arange(3000) % 7 < 2
    s = np.repeat([5.0, 4.0, 3.0, 2.0], [9, 900, 2000, 91])
    base = np.ones(3000)
    ranking = qk.rank(y, s)
    squares = np.zeros(len(s))
    for group in np.unique(s):
        for label in (False, True):
            members = np.flatnonzero((s == group) & (y == label))
            up, down = base.copy(), base.copy()
            up[members[0]] += 1e-4
            down[members[0]] -= 1e-4
            pair = [qk.average_hit_rate(y, s, sample_weight=x) for x in (up, down)]
            squares[members] = ((pair[0] - pair[1]) / 2e-4) ** 2
    error = np.sqrt(squares.sum() * 3000 / 2999)
    found = average_precision_interval(ranking, measure="average_hit_rate")
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-7)
    np.testing.assert_allclose(found.estimate, qk.average_hit_rate(ranking), rtol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_all_positives_first(name: Any):
    y = np.asarray([1] * 5 + [0] * 7)
    for scores in (-np.arange(12), y, np.asarray([3] * 3 + [2] * 2 + [1] * 7)):
        found = average_precision_interval(y, scores, measure=name)
        assert found.standard_error == 0
        near(found.estimate, 1.0)
        near(found.lower, 0.025 ** (1 / 5))
        near(found.upper, 1.0)


def test_groups_of_examples_and_models():
    groups = np.arange(N) % 2
    for name in NAMES:
        both = average_precision_interval(Y, S, measure=name)
        each = average_precision_interval(Y, S[0], measure=name, groups=groups)
        for k in range(len(S)):
            alone = average_precision_interval(Y, S[k], measure=name)
            for x, one in zip(both, alone, strict=True):
                near(x[k], one, 512)
        for k in range(2):
            here = groups == k
            alone = average_precision_interval(Y[here], S[0][here], measure=name)
            for x, one in zip(each, alone, strict=True):
                near(x[k], one, 512)


@pytest.mark.long_program
def test_bad_scores(mode: Mode):
    scores = np.stack([S[0], np.where(np.arange(N) == 3, np.nan, S[0])])
    if mode.lazy:
        found = mode.run(average_precision_interval, Y, scores)
        np.testing.assert_array_equal(np.isnan(found.estimate), [False, True])
        np.testing.assert_array_equal(np.isnan(found.lower), [False, True])
        return
    with raises(mode, ValueError, "^y_score is nan at position"):
        mode.run(average_precision_interval, Y, scores)
