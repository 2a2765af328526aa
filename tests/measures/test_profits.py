"""Cost curves, and expected maximum profit: exact values, and those of peers."""

from __future__ import annotations

from functools import cache
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import QUICK, Mode, mode_fixture
from exact import profits
from expected import as_floats, assert_within

import quotakernels as qk
from measures.test_small_cases import padded_cases
from quotakernels.decisions import brier_curve, cost_curve, emp_churn, emp_credit

mode = mode_fixture(QUICK)
MONEY = {"clv": 8, "incentive": 2, "contact": 0.5}
KNOWN = {name: {**MONEY, "acceptance": name} for name in (0, 0.75)}
CHURN = {"default": (profits.beta(6, 14), {})}
CHURN |= {"even": (profits.beta(2, 3), {"acceptance": (2, 3), **MONEY})}
CHURN |= {f"known {x}": (profits.known(x), own) for x, own in KNOWN.items()}
CREDIT = {"default": (profits.uniform(0.55, 0.1), {})}
CREDIT |= {"free": (profits.uniform(0, 0.25), {"loss": (0, 0.25), "roi": 0})}
CREDIT |= {"known": (profits.known(0.5), {"loss": 0.5, "roi": 0.25})}


def found(ranking: qk.Ranking) -> dict[str, Any]:
    values = {f"churn {name}": emp_churn(ranking, **own) for name, (_, own) in CHURN.items()}
    return values | {f"credit {k}": emp_credit(ranking, **own) for k, (_, own) in CREDIT.items()}


def wanted(groups: list[ex.Group]) -> dict[str, Any]:
    values = {}
    for kind, cases in (("churn", CHURN), ("credit", CREDIT)):
        for name, (distribution, own) in cases.items():
            own = {key: x for key, x in own.items() if key not in ("acceptance", "loss")}
            exact = getattr(profits, f"emp_{kind}")(groups, distribution, **own)
            values[f"{kind} {name}"] = exact or [None, None]
    return values


@cache
def exact_rows() -> list[dict[str, Any]]:
    return [wanted(ex.groups(y, s)) for y, s in ex.ordered_cases(3)]


def check(results: dict[str, Any], rows: Any) -> None:
    for name, value in results.items():
        for k, part in enumerate(value):
            exact = as_floats([row[name][k] for row in rows])
            unit = float(np.finfo(np.asarray(part).dtype).eps)
            money = 200 if name == "churn default" and k == 0 else 8
            assert_within(np.asarray(part), exact, 16 * money * unit, name)


@pytest.mark.long_program
def test_every_small_case(mode: Mode):
    results = mode.run(lambda y, s, mask: found(qk.rank(y, s, where=mask)), *padded_cases(3))
    check(results, exact_rows())


@pytest.mark.parametrize("ties", ["optimistic", "pessimistic", "given"])
def test_policies_and_weights(ties: Any):
    rng = np.random.default_rng(4)
    for _ in range(4):
        y, s, w = rng.integers(0, 2, 9), rng.integers(0, 5, 9), rng.integers(0, 4, 9)
        lists = [x.tolist() for x in (y, s, w)]
        ranking = qk.rank(y, s, sample_weight=w.astype(float), ties=ties)
        one = {k: tuple(np.asarray([x]) for x in v) for k, v in found(ranking).items()}
        check(one, [wanted(ex.groups(*lists, ties=ties))])


def test_empulse():
    """empulse 0.13.1: the scores empc, mpc, empcs and mpcs, and two of the optimal rates."""
    y, s = [0, 1, 0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.8, 0.9]
    assert emp_churn(y, s) == pytest.approx([23.875593418348124, 0.8743700763487141], rel=1e-14)
    assert emp_churn(y, s, acceptance=0.3).profit == pytest.approx(23.875, rel=1e-14)
    assert emp_credit(y, s) == pytest.approx([0.09747017050000001, 0.324345], rel=1e-14)
    assert emp_credit(y, s, loss=0.275).profit == pytest.approx(0.03835, rel=1e-14)


@pytest.mark.parametrize("pair", [(1, 1), (1, 50), (500, 20), (40, 60), (1000, 1)])
def test_any_distribution(pair: tuple[int, int]):
    rng = np.random.default_rng(6)
    y, s = rng.integers(0, 2, 12), rng.integers(0, 9, 12)
    exact = profits.emp_churn(ex.groups(y.tolist(), s.tolist()), profits.beta(*pair), **MONEY)
    assert_within(
        np.asarray(emp_churn(y, s, acceptance=pair, **MONEY)), as_floats(exact), 1e-11, ""
    )


# cost curves


SHARES = [0.0, 0.125, 0.5, 0.75, 1.0]


@pytest.mark.long_program
def test_cost_and_brier_curves_of_every_small_case(mode: Mode):
    def curves(y: Any, s: Any, mask: Any) -> Any:
        ranking = qk.rank(y, s, where=mask)
        costs = cost_curve(ranking, probability_cost=SHARES)
        losses = brier_curve(ranking, cost_proportion=SHARES)
        return (costs.cost, costs.trivial, costs.quota), losses[1:]

    for measure, found in zip(
        (profits.cost_curve, profits.brier_curve), mode.run(curves, *padded_cases(3)), strict=True
    ):
        cases = [ex.groups(y, s) for y, s in ex.ordered_cases(3)]
        exact = as_floats([[measure(groups, x) for x in SHARES] for groups in cases])
        for k, value in enumerate(found):
            unit = float(np.finfo(np.asarray(value).dtype).eps)
            assert_within(np.asarray(value), exact[..., k], 16 * unit, f"{measure.__name__} {k}")


def test_cost_curves_with_weights():
    rng = np.random.default_rng(8)
    y, s, w = rng.integers(0, 2, 30), rng.integers(0, 9, 30) / 8, rng.integers(0, 4, 30)
    groups = ex.groups(*(x.tolist() for x in (y, s, w)))
    costs = cost_curve(y, s, sample_weight=w, probability_cost=SHARES)
    losses = brier_curve(y, s, sample_weight=w, cost_proportion=SHARES)
    exact = as_floats([profits.cost_curve(groups, x) for x in SHARES])
    np.testing.assert_allclose(np.stack(costs[1:3], axis=-1), exact[:, :2], atol=1e-15)
    exact = as_floats([profits.brier_curve(groups, x) for x in SHARES])
    np.testing.assert_allclose(np.stack(losses[1:], axis=-1), exact, atol=1e-15)


def test_the_area_under_a_brier_curve_is_the_brier_score():
    """Between scores it is straight, so that the middles of their steps give the area."""
    rng = np.random.default_rng(9)
    y, s = rng.integers(0, 2, 200), rng.integers(0, 9, 200) / 8
    middles = (np.arange(8) + 0.5) / 8
    curve = brier_curve(y, s, cost_proportion=middles)
    assert curve.loss.mean() == pytest.approx(np.mean((y - s) ** 2), rel=1e-13)
    benefit = qk.decisions.net_benefit(y, s, threshold=middles)
    assert curve.loss == pytest.approx(2 * (1 - middles) * (y.mean() - benefit), rel=1e-12)
    best = qk.best_operating_point(y, s, cost_fp=middles, cost_fn=1 - middles).cost
    assert curve.best == pytest.approx(2 * best, rel=1e-13)
    x = 1 - middles
    odds = y.mean() * x / (y.mean() * x + (1 - y.mean()) * middles)
    unit = 2 * (y.mean() * x + (1 - y.mean()) * middles)
    assert curve.best == pytest.approx(unit * cost_curve(y, s, probability_cost=odds).cost)
