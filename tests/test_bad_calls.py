"""Arguments that are missing, unknown, given twice, or make no sense together."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters

import quotakernels as qk

Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0])
S = np.asarray([0.875, 0.75, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0])


def test_measures_and_rankings_can_be_pickled():
    ranking = qk.rank(Y, S)
    measure, again = pickle.loads(pickle.dumps((qk.roc_auc, ranking)))
    assert measure is qk.roc_auc
    assert measure(again) == qk.roc_auc(Y, S)


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name == "jax32"]))
def test_a_pickled_ranking_keeps_every_bit(mode: Mode):
    counts, weights = np.asarray([2**40, 3]), np.asarray([1e200, 0.1])
    with mode.context():
        thresholds = mode.array(np.asarray([2.0, 1.0]))
        masses = {"weights": weights, "positive_weights": weights}
        ranking = qk.Ranking.from_counts(thresholds, counts, counts, **masses)
        again = pickle.loads(pickle.dumps(ranking))
    assert again.columns == ranking.columns == {}
    for before, after in zip(ranking[:5], again[:5], strict=True):
        assert after.dtype == before.dtype
        np.testing.assert_array_equal(np.asarray(after), np.asarray(before))
    np.testing.assert_array_equal(np.asarray(again.counts), counts)
    assert type(again.thresholds) is type(thresholds)


def test_amounts_go_to_functions_from_elsewhere_too():
    """Of which nobody knows whether they take a budget, gains or treatments."""
    rng = np.random.default_rng(5)
    y, s, amount = rng.integers(0, 2, 60), rng.random(60), rng.random(60)
    cases: tuple[tuple[dict[str, Any], Any], ...] = (
        ({"cost": amount}, qk.hit_rate.with_options(budget=5)),
        ({"cost": amount, "gain": amount}, qk.budgets.gain_per_cost.with_options(budget=5)),
        ({"treatment": np.arange(60) % 2}, qk.uplift.uplift_at_quota.with_options(quota=9)),
    )
    for given, measure in cases:
        own = {"n_resamples": 9, "random_state": 1, **given}
        wanted = qk.bootstrap(measure, y, s, **own)
        found = qk.bootstrap(lambda ranking, measure=measure: measure(ranking), y, s, **own)
        np.testing.assert_allclose(found.lower, wanted.lower, rtol=1e-12)
