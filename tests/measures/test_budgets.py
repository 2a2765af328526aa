"""Budgets: the best are taken until the money is spent; with costs of 1 a budget is a quota."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, in_full, mode_fixture, parameters
from everything import MAIN, raises
from exact.budgets import (
    Spent,
    budgets_of_cuts,
    cost_of_quota,
    gain_per_cost,
    mean_over_orders,
    positives_per_cost,
    priced,
    priced_groups,
    quota_of_budget,
)
from exact.confusion import f_score, table_at_quota
from expected import as_floats
from hypothesis import given
from hypothesis import strategies as st
from public_names import PUBLIC

import quotakernels as qk

SIZE = 24
RNG = np.random.default_rng(18)
mode = mode_fixture([m for m in MODES if m.name in (*MAIN, "strictest", "jax64-jit")])
READ = ("numpy", "strictest", "jax32", "torch")
SHARES = ("hit_rate", "qrecall", "lift")
DATA = {
    "y": RNG.integers(0, 2, SIZE),
    "s": RNG.choice([-1.0, 0.25, 0.5, 3.0, 4.0], (2, SIZE)),
    "cost": RNG.choice([0.0, 0.5, 1.0, 6.0], SIZE),
    "w": RNG.choice([0.0, 0.5, 1.0, 3.0], SIZE),
    "where": RNG.random(SIZE) < 0.8,
    "groups": RNG.choice([0, 1, 3], SIZE),
    "treatment": np.random.default_rng(19).integers(0, 2, SIZE),
}
NAMES = {"w": "sample_weight", "where": "where"}
BUDGETS = (Fraction(0), Fraction(1), Fraction(17, 4), Fraction(20), Fraction(10**4))
BESIDE: dict[str, tuple[str, ...]] = {
    "alone": (),
    "weights": ("w",),
    "mask": ("where",),
    "weights and mask": ("w", "where"),
}


every_way = pytest.mark.parametrize("names", BESIDE.values(), ids=BESIDE)
every_policy = pytest.mark.parametrize(
    "ties", ["expected", *map(in_full, ("optimistic", "pessimistic", "given"))]
)


def of_each_list(
    mode: Mode,
    measured: Callable[[qk.Ranking], Any],
    column: str,
    names: tuple[str, ...],
    ties: Any,
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """What is measured of the ranking of each list of scores, and what that was made of."""
    keys = ("y_true", column, *(NAMES[name] for name in names), "y_score")

    def computed(*columns: Any) -> Any:
        return measured(qk.rank(**dict(zip(keys, columns, strict=True)), ties=ties))

    for scores in DATA["s"]:
        columns = [*(DATA[name] for name in ("y", column, *names)), scores]
        yield mode.run(computed, *columns), dict(zip(keys, columns, strict=True))


def at_budgets(ranking: qk.Ranking, budget: Any) -> dict[str, Any]:
    """What a budget finds, from one ranking."""
    values = {x: PUBLIC[x](ranking, budget=budget, when_short="nan") for x in (*SHARES, "f_score")}
    table = qk.confusion_table(ranking, budget=budget, when_short="nan")
    return values | {f"confusion_table.{name}": x for name, x in table._asdict().items()}


def wanted_at(
    y_true: Any, y_score: Any, cost: Any, ties: str, **beside: Any
) -> dict[str, np.ndarray]:
    """The exact values at each of the budgets."""
    y, s, cost = (x.tolist() for x in (y_true, y_score, cost))
    beside = {name: x.tolist() for name, x in beside.items()}
    table = ex.groups(y, s, **beside, ties=ties)
    rows = priced_groups(priced(y, s, cost, **beside), ties)
    values: dict[str, list[Any]] = {}
    for quota in (quota_of_budget(rows, budget) for budget in BUDGETS):
        cells = None if quota is None else table_at_quota(table, quota)
        found = {x: None if quota is None else getattr(ex, x)(table, quota) for x in SHARES}
        found["f_score"] = cells and f_score(cells)
        for name in ("tp", "fp", "fn", "tn"):
            found[f"confusion_table.{name}"] = cells and getattr(cells, name)
        for name, x in found.items():
            values.setdefault(name, []).append(x)
    return {name: as_floats(x) for name, x in values.items()}


def near(name: str, found: Any, wanted: Any) -> None:
    """The quota for which a budget stands is rounded, and what it finds after it."""
    rounding = 64 * np.finfo(found.dtype).eps
    np.testing.assert_allclose(found, wanted, rtol=rounding, atol=rounding, err_msg=name)


@pytest.mark.long_program
@every_way
@every_policy
def test_what_a_budget_finds(mode: Mode, names: tuple[str, ...], ties: str):
    budgets = mode.array([float(x) for x in BUDGETS])
    measured = functools.partial(at_budgets, budget=budgets)
    for found, columns in of_each_list(mode, measured, "cost", names, ties):
        for name, value in wanted_at(**columns, ties=ties).items():
            near(name, found[name], value)


@pytest.mark.full
@given(st.data())
def test_one_part_of_a_group_is_the_mean_over_the_orders_of_equal_costs(data: st.DataObject):
    size = data.draw(st.integers(1, 5))
    y = data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    s = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    price = data.draw(st.lists(st.sampled_from([0, 0.5, 1, 3]), min_size=3, max_size=3))
    cost = [price[x] for x in s]
    budget = data.draw(st.integers(0, 4 * sum(map(int, np.ceil(cost)))).map(lambda x: x / 4))
    budget = min(budget, float(sum(cost)))
    rows = priced(y, s, cost)
    mean = mean_over_orders(rows, budget)
    quota = quota_of_budget(priced_groups(rows), budget)
    assert quota is not None
    assert mean == Spent(quota, ex.T(ex.groups(y, s), quota))
    table = qk.confusion_table(y, s, cost=cost, budget=budget)
    found = float(table.tp + table.fp), float(table.tp)
    assert found == pytest.approx(tuple(map(float, mean)), rel=1e-12)


def test_all_measures_at_a_quota_take_a_budget():
    y, s, cost = DATA["y"], DATA["s"][0], DATA["cost"]
    cut: dict[str, Any] = {"cost": cost, "budget": 4.25}
    rows = priced_groups(priced(y.tolist(), s.tolist(), cost.tolist()))
    quota = float(quota_of_budget(rows, 4.25) or 0)
    gain = RNG.integers(-3, 5, SIZE)
    for name in ("pearson", "g_measure", "informedness"):
        found = PUBLIC[name](y, s, **cut)
        np.testing.assert_allclose(found, PUBLIC[name](y, s, quota=quota))
    for measure in (qk.impact_at_quota, qk.tables.cell_impacts):
        found = measure(y, s, gain=gain, **cut)
        np.testing.assert_allclose(found, measure(y, s, gain=gain, quota=quota))
    found = qk.tables.impact(y, s, impacts=(1, -1, 0, 0), **cut)
    np.testing.assert_allclose(found, qk.tables.impact(y, s, impacts=(1, -1, 0, 0), quota=quota))
    assert qk.expected_cost(y, s, cost_fp=1, cost_fn=2, **cut) > 0


@pytest.mark.long_program
def test_selection_and_its_threshold(mode: Mode):
    scores, cost = np.array([0.1, 0.5, 0.9, 0.5]), np.array([4.0, 1.0, 2.0, 3.0])

    def computed(s: Any, c: Any) -> Any:
        ends = qk.quota_threshold(s, cost=c, budget=mode.array([0.0, 2.0, 4.0, 10.0]))
        return qk.select(s, cost=c, budget=4), ends

    chosen, ends = mode.run(computed, scores, cost)
    np.testing.assert_array_equal(chosen, [0, 0.5, 1, 0.5])
    np.testing.assert_allclose(ends.threshold, [np.nan, 0.9, 0.5, 0.1], rtol=1e-6)
    np.testing.assert_array_equal(ends.above, [0, 0, 1, 3])
    np.testing.assert_array_equal(ends.tied, [0, 1, 2, 1])


def test_selection_spends_the_budget():
    s, cost, w = DATA["s"][0], DATA["cost"], DATA["w"]
    assert (qk.select(s, cost=cost, budget=7.3) * cost).sum() == pytest.approx(7.3)
    chosen = qk.select(s, cost=cost, budget=7.3, sample_weight=w)
    assert (chosen * w * cost).sum() == pytest.approx(7.3)
    groups = DATA["groups"]
    chosen = qk.select(s, cost=cost, budget=[[2.0], [3.0], [1.5]], groups=groups)
    spent = [(chosen * cost)[groups == group].sum() for group in np.unique(groups)]
    np.testing.assert_allclose(spent, [2, 3, 1.5])


# bad input

Y, S, C = np.array([1, 0, 1, 0]), np.array([0.9, 0.8, 0.8, 0.1]), np.array([2.0, 1.0, 3.0, 4.0])


@pytest.mark.parametrize("mode", parameters([m for m in QUICK if not m.float32]))
def test_costs_that_lose_their_digits(mode: Mode):
    """XLA takes them for 0, NumPy rounds them to a few units of 5e-324."""
    ones, scores = np.ones((2, 4)), np.stack([S, S])
    for unit, weight in ((1e-310, 1.0), (5e-324, 1.0), (1e-200, 1e-200), (1e-308, 0.1)):
        costs, weights = np.stack([C, unit * C]), np.stack([1.0 * ones[0], weight * ones[0]])
        run = lambda y, s, c, w: qk.hit_rate(y, s, cost=c, sample_weight=w, budget=2)  # noqa: E731
        if mode.lazy:
            found = mode.run(run, Y, scores, costs, weights)
            np.testing.assert_array_equal(np.isnan(found), [False, True])
            continue
        expected = (
            r"^cost is .* at position \(1, [01]\); .* times its weight, 0 or at least 2.2e-308"
        )
        with raises(mode, ValueError, expected):
            mode.run(run, Y, scores, costs, weights)
    small = qk.hit_rate(Y, S, cost=C * 1e-307, budget=2e-307)
    assert small == pytest.approx(qk.hit_rate(Y, S, cost=C, budget=2), rel=1e-15)


def test_a_budget_above_all_costs():
    assert qk.hit_rate(Y, S, cost=C, budget=11, when_short="all") == 0.5
    assert np.isnan(qk.hit_rate(Y, S, cost=C, budget=11, when_short="nan"))
    np.testing.assert_array_equal(qk.select(S, cost=C, budget=11, when_short="all"), np.ones(4))


# whole cases


def test_whole_cases_skip_what_no_longer_fits():
    s, cost = [0.1, 0.5, 0.9, 0.7], [1, 3, 2, 3]
    chosen = qk.select(s, cost=cost, budget=4, whole=True)
    np.testing.assert_array_equal(chosen, [1, 0, 1, 0])
    chosen = qk.select(s, cost=cost, budget=9, whole=True)
    np.testing.assert_array_equal(chosen, [1, 1, 1, 1])
    np.testing.assert_array_equal(qk.select(s, quota=2.5, whole=True), [0, 0, 1, 1])
    np.testing.assert_array_equal(qk.select(s, fraction=0.75, whole=True), [0, 1, 1, 1])
    tenths = qk.select([3.0, 2.0, 1.0], cost=[0.1, 0.2, 0.3], budget=0.3, whole=True)
    np.testing.assert_array_equal(tenths, [1, 1, 0])


def test_whole_cases_of_groups_weights_masks_and_models():
    s, cost = np.array([[4.0, 3, 2, 1], [1, 2, 3, 4]]), np.array([2.0, 2, 1, 1])
    chosen = qk.select(s, cost=cost, budget=3, whole=True)
    np.testing.assert_array_equal(chosen, [[1, 0, 1, 0], [0, 0, 1, 1]])
    weighted = qk.select(s[0], cost=cost, budget=4, whole=True, sample_weight=[2, 1, 0, 0.5])
    np.testing.assert_array_equal(weighted, [1, 0, 0, 0])
    masked = qk.select(s[0], cost=cost, budget=3, whole=True, where=np.arange(4) > 0)
    np.testing.assert_array_equal(masked, [0, 1, 1, 0])
    each = qk.select(s, cost=cost, budget=[[2], [1]], whole=True, groups=[5, 5, 7, 7])
    np.testing.assert_array_equal(each, [[1, 0, 1, 0], [0, 1, 0, 1]])
    short = qk.select(s[0], cost=cost, budget=9, whole=True, when_short="nan")
    np.testing.assert_array_equal(short, np.full(4, np.nan))


def test_whole_cases_among_ties_are_drawn():
    s, cost = np.zeros(200), np.ones(200)
    draws = [qk.select(s, cost=cost, budget=50, whole=True, random_state=k) for k in range(20)]
    assert all(x.sum() == 50 for x in draws)
    assert len({x.tobytes() for x in draws}) == 20
    again = qk.select(s, cost=cost, budget=50, whole=True, random_state=3)
    np.testing.assert_array_equal(again, draws[3])
    assert 2 < np.mean(draws, axis=0).max() * 20 < 16


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in (*READ, "jax64-jit")]))
def test_whole_cases_are_of_the_host(mode: Mode):
    scores, cost = np.array([0.1, 0.5, 0.9, 0.7]), np.array([1.0, 3, 2, 3])
    run = lambda s, c: qk.select(s, cost=c, budget=4, whole=True)  # noqa: E731
    if mode.lazy:
        with pytest.raises(TypeError, match="^whole=True needs scores that the host can read"):
            mode.run(run, scores, cost)
    else:
        np.testing.assert_array_equal(mode.run(run, scores, cost), [1, 0, 1, 0])


# values per cost, and curves


@pytest.mark.long_program
def test_what_a_quota_costs_and_a_unit_of_cost_finds(mode: Mode):
    quotas, budgets = np.array([0.0, 1, 2.5, 9]), np.array([0.0, 1, 4.25, 20])
    gain = RNG.integers(-5, 9, SIZE).astype(float)

    def computed(y: Any, s: Any, cost: Any, gain: Any, w: Any) -> Any:
        cut = {"quota": mode.array(quotas)}
        by_budget = {"budget": mode.array(budgets)}
        found = []
        for weights in (None, w):
            ranking = qk.rank(y, s, cost=cost, gain=gain, sample_weight=weights)
            found += [
                qk.budgets.cost_at_quota(ranking, **cut),
                qk.budgets.positives_per_cost(ranking, **cut),
                qk.budgets.gain_per_cost(ranking, **cut),
                qk.budgets.cost_at_quota(ranking, **by_budget),
                qk.budgets.budget_curve(ranking).value[..., -1],
            ]
        return found

    data = [DATA["s"][0] if name == "s" else DATA[name] for name in ("y", "s", "cost")]
    found = mode.run(computed, *data, gain, DATA["w"])
    for k, weights in enumerate((None, DATA["w"].tolist())):
        cost, found_per, gain_per, spent, whole = found[5 * k : 5 * k + 5]
        rows = priced(*(x.tolist() for x in data), weights)
        table, sums = ex.groups(*(x.tolist() for x in data[:2]), weights), priced_groups(rows)
        gains = ex.impact.gain_groups(data[1].tolist(), gain.tolist(), 0, weights)
        near("cost", cost, as_floats([cost_of_quota(sums, x) for x in quotas]))
        per = [positives_per_cost(sums, ex.T(table, x), x) for x in quotas]
        near("positives", found_per, as_floats(per))
        near("gain", gain_per, as_floats([gain_per_cost(sums, gains, x) for x in quotas]))
        near("spent", spent, budgets)
        near("whole", whole, float(sum(group.cost for group in sums)))


def test_curves_over_the_budget():
    y, s, cost = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], [2, 1, 3, 1, 4]
    ranking = qk.rank(y, s, cost=cost)
    curve = qk.budgets.budget_curve(ranking)
    np.testing.assert_array_equal(curve.value, [0, 2, 6, 7, 11])
    np.testing.assert_array_equal(curve.quota, qk.qrecall_curve(ranking).quota)
    rows = priced_groups(priced(y, s, cost))
    np.testing.assert_array_equal(curve.value, as_floats(budgets_of_cuts(rows)))
    found = qk.qrecall(ranking, budget=curve.value)
    np.testing.assert_allclose(found, qk.qrecall_curve(ranking).value)
    between = qk.qrecall(ranking, budget=[1.0, 4.0, 6.5])
    np.testing.assert_allclose(between, np.interp([1, 4, 6.5], curve.value, found))
