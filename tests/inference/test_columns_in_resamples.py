"""Costs and treatments in resamples, comparisons and folds: they stay with their examples.

A resample has the budget of the rows really repeated, and both arms are drawn together.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, in_full, mode_fixture
from exact import uplift as arms
from exact.budgets import positives_per_cost, priced, priced_groups, quota_of_budget
from resamples import counts_drawn

import quotakernels as qk
from quotakernels.inference import fold_summary, fold_test

RNG = np.random.default_rng(31)
N, R, BUDGET, QUOTA = 40, 30, 30, 24
Y, TREATED = RNG.integers(0, 2, (2, N))
S = np.stack([RNG.integers(0, 6, N) / 4, RNG.normal(Y * TREATED)])
COST = RNG.choice([0.0, 0.5, 1.0, 4.0], N)
WEIGHT = RNG.choice([0.0, 0.5, 1.0, 3.0], N)
GROUPS = np.arange(N) % 5
MODELS = {"first": S[0], "second": S[1]}
mode = mode_fixture(
    [m for m in MODES if m.name in ("numpy", "strictest-device1", "torch", "jax64")]
)


def bought(index: np.ndarray, scores: np.ndarray, beside: dict[str, Any]) -> list[Any]:
    """What the budget finds of some rows, in fractions; None where they cost less."""
    data = Y[index].tolist(), scores[index].tolist()
    rows = priced_groups(priced(*data, COST[index].tolist(), **beside))
    quota, groups = quota_of_budget(rows, Fraction(BUDGET)), ex.groups(*data, **beside)
    if quota is None:
        return [None] * 3
    found = positives_per_cost(rows, ex.T(groups, quota), quota)
    return [ex.hit_rate(groups, quota), ex.qrecall(groups, quota), found]


def added(index: np.ndarray, scores: np.ndarray, beside: dict[str, Any]) -> list[Any]:
    """What the treatment adds to some rows, in fractions."""
    rows = arms.people(*(x[index].tolist() for x in (Y, scores, TREATED)), **beside)
    groups, size = arms.arm_groups(rows), arms.together(rows).mass
    uplift = arms.uplift(groups, size * 3 / 10) if size else None
    return [
        uplift,
        arms.auuc(rows, groups, "uplift", None),
        arms.auuc(rows, groups, "qini", "perfect"),
    ]


class Case(NamedTuple):
    """A column, measures that need it, and their exact values; one at a cut, and one of folds."""

    column: dict[str, np.ndarray]
    measures: dict[str, Any]
    exact: Callable[..., list[Any]]
    one: Any
    of_group: dict[str, Any]
    of_fold: Any
    near: float


CASES = {
    "cost": Case(
        {"cost": COST},
        {
            x.__name__: functools.partial(x, budget=BUDGET)
            for x in (qk.hit_rate, qk.qrecall, qk.budgets.positives_per_cost)
        },
        bought,
        qk.hit_rate.with_options(budget=BUDGET, when_short="nan"),
        {"budget": 3},
        qk.hit_rate.with_options(budget=5),
        2**-46,
    ),
    "treatment": Case(
        {"treatment": TREATED},
        {
            "uplift": functools.partial(qk.uplift.uplift_at_quota, fraction=0.3),
            "auuc": qk.uplift.auuc,
            "qini": qk.uplift.qini_coefficient,
        },
        added,
        qk.uplift.uplift_at_quota.with_options(quota=QUOTA),
        {"quota": 4},
        qk.uplift.auuc,
        2**-44,
    ),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@every_case
@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        ({}, None),
        ({"clusters": GROUPS}, WEIGHT),
        in_full({}, WEIGHT),
        in_full({"clusters": GROUPS}, None),
        *(in_full(x, w) for x in ({"stratified": True}, {"poisson": True}) for w in (None, WEIGHT)),
    ],
)
def test_a_resample_is_of_rows_that_are_repeated(case: Case, kind: Any, weights: Any):
    given = {"sample_weight": weights, "random_state": 3, "n_resamples": R, **kind}
    found = qk.bootstrap(case.measures, Y, S, **case.column, **given)
    counts = counts_drawn(Y, R, weights, **kind)
    for (model, scores), k in itertools.product(enumerate(S), range(R)):
        index = np.repeat(np.arange(N), counts[k])
        beside = {} if weights is None else {"sample_weight": weights[index].tolist()}
        wanted = case.exact(index, scores, beside)
        for name, exact in zip(case.measures, wanted, strict=True):
            value = np.nan if exact is None else float(exact)
            drawn = found[name].resamples[model, k]
            np.testing.assert_allclose(drawn, value, case.near, case.near, err_msg=name)


@every_case
def test_resamples_of_every_library(mode: Mode, case: Case):
    y, s = mode.array(Y), mode.array(S)
    given: dict[str, Any] = {name: mode.array(x) for name, x in case.column.items()}
    with mode.context():
        found = qk.bootstrap(case.one, y, s, random_state=3, n_resamples=R, **given)
    wanted = case.one(Y, S, **case.column)
    np.testing.assert_allclose(mode.to_numpy(found.estimate), wanted, rtol=1e-6)
    assert np.all(mode.to_numpy(found.undefined) < R)
    assert np.all(mode.to_numpy(found.lower) < wanted)
    assert np.all(wanted < mode.to_numpy(found.upper))


@every_case
@pytest.mark.filterwarnings("ignore:.*cannot tell any", "ignore:the measure is undefined in")
@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
def test_models_are_compared(mode: Mode, case: Case, test: Any):
    given: dict[str, Any] = {name: mode.array(x) for name, x in case.column.items()}
    given |= {"test": test, "n_resamples": 40, "random_state": 3}
    with mode.context():
        models = {name: mode.array(x) for name, x in MODELS.items()}
        found = qk.compare(case.one, mode.array(Y), models, **given)
    wanted = [float(case.one(Y, MODELS[x], **case.column)) for x in found.names]
    np.testing.assert_allclose(found.estimate, wanted, rtol=1e-6)
    assert wanted == sorted(wanted, reverse=True)
    assert found.test == test


@every_case
def test_folds(case: Case):
    folds, one = np.arange(N) % 4, case.of_fold
    found = fold_summary(one, Y, S[0], folds, **case.column, pooled=True)
    values, others = (
        [
            float(one(Y[k::4], scores[k::4], **{name: x[k::4] for name, x in case.column.items()}))
            for k in range(4)
        ]
        for scores in S
    )
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_array_equal(found.pooled, one(Y, S[0], **case.column))
    tested = fold_test(one, Y, MODELS, folds, **case.column)
    np.testing.assert_array_equal(tested.values, np.subtract(values, others))


@every_case
def test_whole_groups_are_drawn(case: Case):
    mean = qk.group_mean(case.one.func, **case.of_group)
    found = qk.bootstrap(mean, Y, S, **case.column, groups=GROUPS, n_resamples=R, random_state=3)
    each = case.one.func(Y, S, **case.column, groups=GROUPS, **case.of_group)
    np.testing.assert_allclose(found.value.estimate, np.nanmean(each, axis=-1))


# budgets alone


def test_resamples_that_cost_less_than_the_budget_are_undefined():
    whole = float(COST.sum())
    rate = functools.partial(qk.hit_rate, budget=whole)
    given: dict[str, Any] = {"n_resamples": R, "random_state": 3, "cost": COST}
    for scores in (S, S[0]):
        found = qk.bootstrap(rate, Y, scores, **given)
        assert np.all((found.undefined > 0) & (found.undefined < R))
        np.testing.assert_allclose(found.estimate, Y.mean())
    costs = counts_drawn(Y, R) @ COST
    assert np.all(qk.bootstrap(rate, Y, S, **given).undefined == (costs < whole).sum())
    everybody = functools.partial(rate, when_short="all")
    assert np.all(qk.bootstrap(everybody, Y, S, **given).undefined == 0)


def test_a_budget_of_each_group_is_a_quota_where_all_cost_one():
    given: dict[str, Any] = {"groups": GROUPS, "n_resamples": R, "random_state": 3}
    by_budget = qk.bootstrap(qk.group_mean(qk.hit_rate, budget=3), Y, S, cost=np.ones(N), **given)
    by_quota = qk.bootstrap(qk.group_mean(qk.hit_rate, quota=3), Y, S, **given)
    np.testing.assert_array_equal(by_budget.value.resamples, by_quota.value.resamples)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:.*cannot tell any")
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
