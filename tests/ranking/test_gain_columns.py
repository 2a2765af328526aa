"""Gains as columns of the ranking: any way in, and nothing of them where there are none."""

from __future__ import annotations

import copy
import functools
import pickle
from typing import Any

import everything as every
import numpy as np
import pytest
from backends import (
    MODES,
    QUICK,
    Mode,
    in_full,
    mode_fixture,
    parameters,
    random_state,
)
from expected import arrays_of

import quotakernels as qk

mode = mode_fixture(QUICK)
DICE = np.random.default_rng(4)
N = 40
Y = DICE.random((2, N)) < 0.3
S = DICE.integers(0, 12, (2, N)) / 4.0
G = DICE.integers(-9, 10, (2, N)).astype(float)
R = DICE.integers(-4, 5, (2, N)).astype(float)
W = DICE.integers(0, 4, (2, N)).astype(float)
M = DICE.random((2, N)) < 0.8
NAMES = ("gain", "gain_rejected", "gain_size")


def columns_by_hand(y: Any, s: Any, g: Any, r: Any, m: Any) -> list[list[float]]:
    """For each score, best first: what each class brings if selected, and if not, and the sizes."""
    amounts = (g, r, (np.abs(g) + np.abs(r)) * 2.0**-32)
    scores = sorted(set(s[m]), reverse=True)
    classes = [[m & (s == score) & (y == label) for label in (1, 0)] for score in scores]
    return [[x[rows].sum() for x in amounts for rows in both] for both in classes]


@every.main_modes
def test_columns_are_sums_by_class(mode: Mode):
    def run(y: Any, s: Any, g: Any, r: Any, m: Any) -> Any:
        ranking = qk.rank(y, s, gain=g, gain_rejected=r, where=m)
        return ranking.counts, tuple(x for name in NAMES for x in ranking.columns[name])

    counts, gains = mode.run(run, Y, S, G, R, M)
    for row in range(2):
        found = np.stack([x[row][counts[row] > 0] for x in gains], axis=-1)
        wanted = columns_by_hand(Y[row], S[row], G[row], R[row], M[row])
        np.testing.assert_array_equal(found.astype(np.float64), wanted)


# nothing without gains


def test_without_gains_a_ranking_holds_no_further_array():
    for options in ({}, {"sample_weight": W}, {"ties": "optimistic"}, {"ties": "given"}):
        ranking = qk.rank(Y, S, **options)
        assert ranking.columns == {}
        assert len(arrays_of(ranking)) == 5
        assert len(arrays_of(ranking.map(np.copy))) == 5


# through everything that takes rankings


def test_pickles_copies_and_columns_by_hand():
    beside = {"gain": G, "gain_rejected": R, "cost": abs(G), "treatment": M}
    ranking = qk.rank(Y, S, **beside)
    for again in (
        pickle.loads(pickle.dumps(ranking)),
        copy.deepcopy(ranking),
        qk.Ranking(*ranking),
        ranking.map(lambda x: x),
    ):
        assert again.columns.keys() == ranking.columns.keys() >= {*NAMES, "cost"}
        for x, y in zip(arrays_of(again), arrays_of(ranking), strict=True):
            np.testing.assert_array_equal(x, y)
    for x, y in zip(qk.rank(Y, S)[:5], ranking[:5], strict=True):
        np.testing.assert_array_equal(x, y)
    assert pickle.loads(pickle.dumps(qk.rank(Y, S))).columns == {}


@pytest.mark.parametrize("ties", ["expected", "optimistic", "pessimistic", "given"])
@pytest.mark.parametrize("shape", ["list", "batch"])
def test_tie_policies_share_out_gains_as_they_do_examples(ties: Any, shape: str):
    y, s, g, r = (x[0] if shape == "list" else x for x in (Y, S, G, R))
    ranking = qk.rank(y, s, gain=g, gain_rejected=r, ties=ties)
    for name, amounts in zip(NAMES, (g, r, 2.0**-32 * (abs(g) + abs(r))), strict=True):
        for column, members in zip(ranking.columns[name], (y, ~y), strict=True):
            np.testing.assert_array_equal(column.sum(axis=-1), (amounts * members).sum(axis=-1))
            assert not np.any(column[ranking.counts == 0])
    if ties in ("optimistic", "pessimistic"):
        pure = (ranking.positives == 0) | (ranking.positives == ranking.counts)
        assert pure.all()
        assert not np.any(ranking.columns["gain"].positive[ranking.positives == 0])


def test_a_huge_gain_leaves_no_trace_in_another_group():
    ranking = qk.rank([1] * 4, [3.0, 3.0, 2.0, 2.0], gain=[1e300, -1.0, 1e-20, 2e-20])
    assert ranking.columns["gain"].positive.tolist() == [1e300, 1e-20 + 2e-20]
    batch = qk.rank([1] * 4, [[3.0, 3.0, 2.0, 2.0]], gain=[1e300, -1.0, 1e-20, 2e-20])
    assert batch.columns["gain"].positive[batch.counts > 0].tolist() == [1e300, 1e-20 + 2e-20]


# resamples and comparisons


@pytest.mark.parametrize("test", ["bootstrap", in_full("permutation")])
@pytest.mark.parametrize("measure", [qk.impact_at_quota.with_options(quota=9), qk.best_quota])
def test_models_are_compared_by_what_they_bring(test: Any, measure: Any):
    y = np.tile(Y[0], 8)
    gain = np.where(y, 9.0, -3.0)
    dice = np.random.default_rng(2)
    models = {"blind": dice.random(y.size), "good": y + dice.random(y.size)}
    found = qk.compare(measure, y, models, gain=gain, test=test, random_state=0, n_resamples=300)
    assert found.names == ("good", "blind")
    assert found.p_value[0, 1] < 0.05
    same = qk.compare(measure, None, models, gain=gain, test=test, random_state=0, n_resamples=300)
    np.testing.assert_array_equal(same.estimate, found.estimate)


def test_the_optimism_of_the_best_quota():
    """Of gains by class it is that of the best boundary, in all instead of per example."""
    y, s = np.tile(Y[0], 4), np.tile(S[0], 4) + np.tile(Y[0], 4)
    gain = np.where(y, 5.0, -2.0)
    given: dict[str, Any] = {"random_state": 1, "n_resamples": 100}
    found = qk.inference.best_cut_interval(qk.best_quota, y, s, gain=gain, **given)
    wanted = qk.inference.best_cut_interval(qk.best_boundary, y, s, impacts=(5, -2, 0, 0), **given)
    for name in ("value", "expected"):
        for field in ("estimate", "lower", "upper"):
            x, z = (getattr(getattr(each, name), field) for each in (found, wanted))
            np.testing.assert_allclose(x, len(y) * z, rtol=1e-12)
    np.testing.assert_array_equal(found.threshold.lower, wanted.threshold.lower)


DRAWING = [m for m in MODES if m.name in every.MAIN and m.name != "torch-vmap"]  # draws nothing


@pytest.mark.parametrize("mode", parameters(DRAWING))
@pytest.mark.long_program
def test_the_best_cut_within_a_limit(mode: Mode):
    """The best of the cuts that select no more, in every resample; less is better of costs."""

    def run(y: Any, s: Any, g: Any) -> Any:
        given: dict[str, Any] = {"random_state": random_state(mode), "n_resamples": 6}
        limits: list[dict[str, Any]] = [{}, {"quota": 3}, {"fraction": 0.5}, {"quota": 0}]
        best = functools.partial(qk.inference.best_cut_interval, qk.best_quota, y, s, gain=g)
        return tuple(best(**given, **x)[:3] for x in limits)

    found = mode.run(run, Y, S, G)
    own = qk.best_quota(Y, S, gain=G)
    for (value, threshold, quota), most in zip(found, (N, 3, N / 2, 0), strict=True):
        fits = np.where(own.curve.quota <= most, own.curve.value, -np.inf)
        cut = np.argmax(np.isclose(fits, fits.max(-1, keepdims=True), 1e-6, 1e-6), -1)[..., None]
        np.testing.assert_allclose(value.estimate, fits.max(-1), rtol=1e-6)
        for x, along in ((threshold, own.curve.threshold), (quota, own.curve.quota)):
            at = np.take_along_axis(np.asarray(along), cut, -1)[..., 0]
            np.testing.assert_allclose(x.estimate, at, rtol=1e-6)
        assert np.all(np.asarray(quota.resamples) <= most)
        assert np.all(np.asarray(value.resamples) <= np.asarray(found[0][0].resamples))


def test_limits_of_other_best_cuts():
    interval = functools.partial(qk.inference.best_cut_interval, n_resamples=5, random_state=1)
    y, s = Y[0], S[0]
    cheap = {"measure": qk.expected_cost, "cost_fp": 1, "cost_fn": 3}
    curve = qk.tables.table_curve(qk.expected_cost, y, s, cost_fp=1, cost_fn=3)
    found = interval(qk.best_cut, y, s, quota=4, **cheap)
    assert found.value.estimate == curve.value[curve.quota <= 4].min()
    assert np.all(found.value.resamples >= interval(qk.best_cut, y, s, **cheap).value.resamples)


# what is refused


def test_measures_of_a_mapping_that_use_no_gains_may_come_too():
    """Beside one that uses them."""
    both = {"auc": qk.roc_auc, "brings": functools.partial(qk.impact_at_quota, quota=2)}
    assert set(qk.bootstrap(both, Y[0], S[0], gain=G[0], n_resamples=5)) == set(both)
