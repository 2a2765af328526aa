"""Budgets in resamples, comparisons and folds: each is the budget of the rows really repeated."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, mode_fixture
from exact.budgets import priced, priced_groups, quota_of_budget
from resamples import counts_drawn

import quotakernels as qk
from quotakernels.inference import fold_summary, fold_test

pytestmark = pytest.mark.filterwarnings("ignore:only .* with fewer than")  # the data are few
RNG = np.random.default_rng(31)
N, R, BUDGET = 40, 30, 30
Y = RNG.integers(0, 2, N)
S = np.stack([RNG.integers(0, 6, N) / 4, RNG.normal(Y)])
COST = RNG.choice([0.0, 0.5, 1.0, 4.0], N)
WEIGHT = RNG.choice([0.0, 0.5, 1.0, 3.0], N)
GROUPS = np.arange(N) % 5
NEAR = {"rtol": 2**-46, "atol": 2**-46}
MEASURES = {
    "hit_rate": functools.partial(qk.hit_rate, budget=BUDGET),
    "qrecall": functools.partial(qk.qrecall, budget=BUDGET),
    "per_cost": functools.partial(qk.budgets.positives_per_cost, budget=BUDGET),
}
mode = mode_fixture(
    [m for m in MODES if m.name in ("numpy", "strictest-device1", "torch", "jax64")]
)


def exact(name: str, scores: np.ndarray, index: np.ndarray, weights: Any) -> float:
    """What the budget finds of some rows, in fractions; NaN where they cost less."""
    beside = {} if weights is None else {"sample_weight": weights[index].tolist()}
    data = Y[index].tolist(), scores[index].tolist()
    rows = priced_groups(priced(*data, COST[index].tolist(), **beside))
    quota = quota_of_budget(rows, Fraction(BUDGET))
    found = None if quota is None else getattr(ex, name)(ex.groups(*data, **beside), quota)
    return float("nan") if found is None else float(found)


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        ({}, None),
        ({"clusters": GROUPS}, WEIGHT),
        ({}, WEIGHT),
        ({"clusters": GROUPS}, None),
        *((x, w) for x in ({"stratified": True}, {"poisson": True}) for w in (None, WEIGHT)),
    ],
)
def test_a_resample_spends_the_budget_on_rows_that_are_repeated(kind: Any, weights: Any):
    given = {"sample_weight": weights, "random_state": 3, "n_resamples": R, **kind}
    found = qk.bootstrap(MEASURES, Y, S, cost=COST, **given)
    counts = counts_drawn(Y, R, weights, **kind)
    for name, (model, scores), k in itertools.product(MEASURES, enumerate(S), range(R)):
        index = np.repeat(np.arange(N), counts[k])
        again = None if weights is None else weights[index]
        ranking = qk.rank(Y[index], scores[index], sample_weight=again, cost=COST[index])
        value = found[name].resamples[model, k]
        wanted = MEASURES[name].func(ranking, budget=BUDGET, when_short="nan")
        np.testing.assert_allclose(value, wanted, **NEAR)
        if name != "per_cost":
            np.testing.assert_allclose(value, exact(name, scores, index, weights), **NEAR)


def test_resamples_of_every_library(mode: Mode):
    y, s, cost = (mode.array(x) for x in (Y, S, COST))
    given = {"random_state": 3, "n_resamples": R, "budget": BUDGET, "when_short": "nan"}
    with mode.context():
        found = qk.bootstrap(qk.hit_rate, y, s, cost=cost, **given)
        best = qk.compare(qk.hit_rate, y, s, cost=cost, test="permutation", **given)
    wanted = qk.hit_rate(Y, S, cost=COST, budget=BUDGET)
    np.testing.assert_allclose(mode.to_numpy(found.estimate), wanted, rtol=1e-6)
    assert np.all(mode.to_numpy(found.undefined) < R)
    assert np.all(mode.to_numpy(found.lower) <= wanted)
    np.testing.assert_allclose(sorted(best.estimate), sorted(wanted), rtol=1e-6)


def test_resamples_that_cost_less_than_the_budget_are_undefined():
    whole = float(COST.sum())
    rate = functools.partial(qk.hit_rate, budget=whole)
    given = {"n_resamples": R, "random_state": 3}
    for scores in (S, S[0]):
        found = qk.bootstrap(rate, Y, scores, cost=COST, **given)
        assert np.all((found.undefined > 0) & (found.undefined < R))
        np.testing.assert_allclose(found.estimate, Y.mean())
    costs = counts_drawn(Y, R) @ COST
    assert np.all(qk.bootstrap(rate, Y, S, cost=COST, **given).undefined == (costs < whole).sum())
    everybody = functools.partial(rate, when_short="all")
    assert np.all(qk.bootstrap(everybody, Y, S, cost=COST, **given).undefined == 0)


def test_whole_groups_are_drawn_with_their_budgets():
    rate = qk.group_mean(qk.hit_rate, budget=3)
    given = {"n_resamples": R, "random_state": 3}
    found = qk.bootstrap(rate, Y, S, cost=COST, groups=GROUPS, **given)
    each = qk.hit_rate(Y, S, cost=COST, groups=GROUPS, budget=3)
    np.testing.assert_allclose(found.value.estimate, np.nanmean(each, axis=-1))
    ones = {"groups": GROUPS, **given}
    by_budget = qk.bootstrap(rate, Y, S, cost=np.ones(N), **ones).value
    by_quota = qk.bootstrap(qk.group_mean(qk.hit_rate, quota=3), Y, S, **ones).value
    np.testing.assert_array_equal(by_budget.resamples, by_quota.resamples)


MODELS = {"first": S[0], "second": S[1]}
FEW = pytest.mark.filterwarnings("ignore:.*cannot tell any")


@pytest.mark.full
@FEW
def test_exchanges_leave_costs_with_their_examples():
    """Two examples can change places in four ways, of which each is drawn."""
    y, cost = np.asarray([1, 0]), np.asarray([1.0, 3.0])
    models = {"right": np.asarray([2.0, 1.0]), "wrong": np.asarray([1.0, 2.0])}
    rate = functools.partial(qk.qrecall, budget=1.5)
    found = qk.compare(
        rate, y, models, cost=cost, test="permutation", n_resamples=400, random_state=3
    )
    assert found.estimate.tolist() == [1, 0]
    swapped = []
    for coins in itertools.product([False, True], repeat=2):
        first, second = (
            float(rate(y, np.where(coins, *pair), cost=cost))
            for pair in ((models["wrong"], models["right"]), (models["right"], models["wrong"]))
        )
        swapped.append(abs(first - second) >= 1)
    assert found.p_value[0, 1] == pytest.approx(np.mean(swapped), abs=0.08)


def test_folds_have_a_budget_each():
    folds = np.arange(N) % 4
    found = fold_summary(qk.hit_rate, Y, S[0], folds, cost=COST, budget=5, pooled=True)
    each = [folds == k for k in range(4)]
    values = [float(qk.hit_rate(Y[x], S[0][x], cost=COST[x], budget=5)) for x in each]
    np.testing.assert_array_equal(found.values, values)
    assert found.pooled == qk.hit_rate(Y, S[0], cost=COST, budget=5)
    tested = fold_test(qk.hit_rate, Y, MODELS, folds, cost=COST, budget=5)
    others = [float(qk.hit_rate(Y[x], S[1][x], cost=COST[x], budget=5)) for x in each]
    np.testing.assert_array_equal(tested.values, np.asarray(values) - others)
