"""`evaluate` at budgets: each model has as many places as the money pays for by its own order."""

from __future__ import annotations

import functools
import json
from html import unescape
from typing import Any

import numpy as np
import pytest

import quotakernels as qk

pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

import pandas as pd
from command import CREDIT_FILE

NAMES = ("naive_bayes", "neural_net", "tree")
Y = np.array([1, 0, 1, 1, 0, 0])
S = {"a": np.array([6, 5, 4, 4, 2, 1]), "b": np.array([1, 6, 5, 2, 4, 3])}
COST = np.array([0.0, 1, 2, 3, 1, 1])
GAIN = np.array([3.0, -2, 4, -1, 2, 1])
WEIGHT = np.array([1.0, 2, 1, 0.5, 3, 1])


@pytest.fixture(scope="module")
def credit() -> Any:
    return pd.read_csv(CREDIT_FILE)


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_the_values_are_those_of_the_measures(weight: Any):
    found = qk.evaluate(Y, S, budget=[2.5, 4, 0], cost=COST, sample_weight=weight)
    given = {"cost": COST, "budget": [2.5, 4, 0], "sample_weight": weight}
    table = qk.confusion_table(Y, np.stack([*S.values()]), **given)
    expected = {
        "places": table.tp + table.fp,
        "hit_rate": qk.hit_rate(Y, np.stack([*S.values()]), **given),
        "qrecall": qk.qrecall(Y, np.stack([*S.values()]), **given),
        "positives_per_cost": qk.budgets.positives_per_cost(Y, np.stack([*S.values()]), **given),
    }
    for k, values in enumerate(found.at_quota.values()):
        assert [x.name for x in values.measures] == [*expected]
        for name, x in expected.items():
            np.testing.assert_allclose(values.of(name), x[:, k], rtol=1e-15)
    paid = COST if weight is None else COST * weight
    assert found.total_cost == paid.sum()
    if weight is None:
        rankings = {name: qk.rank(Y, x, cost=COST) for name, x in S.items()}
        alone = qk.evaluate(rankings, budget=[2.5, 4, 0])
        assert [x.tolist() for x in map(alone.places, alone.at_quota)] == [
            x.tolist() for x in map(found.places, found.at_quota)
        ]
        assert alone.answers == found.answers


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("unit", [{"gain": GAIN, "place_cost": 0.5}, {"impacts": (5, -1, -2, 1)}])
def test_what_a_budget_brings(unit: dict[str, Any], weight: Any):
    found = qk.evaluate(Y, S, budget=[2.5, 4], cost=COST, sample_weight=weight, **unit)
    brings = (GAIN - 0.5, 0) if "gain" in unit else (np.where(Y, 5, -1), np.where(Y, -2, 1))
    given = {"gain": brings[0], "gain_rejected": brings[1], "sample_weight": weight, "cost": COST}
    gains = found.gains
    assert gains is not None
    for budget, values in gains.at_quota.items():
        for k, scores in enumerate(S.values()):
            whole = qk.impact_at_quota(None, scores, budget=budget.amount, **given).whole
            of_model = values.of_model(k)
            assert of_model["brings"] == pytest.approx(float(whole))
            per_place = (whole - gains.nobody) / found.places(budget)[k]
            assert of_model["per_place"] == pytest.approx(float(per_place))
    share = 2.5 / found.total_cost
    at_random = share * gains.everybody + (1 - share) * gains.nobody
    (answer,) = (x for x in found.answers if x.question == "What will it bring?")
    assert f", at random {at_random:,.2f}" in answer.verdict


def test_intervals_of_what_a_budget_brings(credit: Any):
    y, models, cost = credit["repaid"], credit[[*NAMES]], credit["credit_amount"]
    gain, drawn = np.where(y, 1, -5) * cost, {"n_resamples": 40, "random_state": 3}
    given = {"gain": gain, "cost": cost}
    found = qk.evaluate(y, models, budget=2e5, confidence_level=0.9, compare=True, **given, **drawn)
    assert found.gains is not None
    ((_, values),) = found.gains.at_quota.items()
    measure = functools.partial(qk.impact_at_quota, budget=2e5)
    options = {"confidence_level": 0.9, **given, **drawn}
    scores = np.stack([credit[x] for x in NAMES])
    alone = qk.bootstrap(measure, None, scores, method="percentile", **options).whole
    for k, ends in enumerate(zip(alone.lower, alone.upper, strict=True)):
        np.testing.assert_allclose(values.interval("brings", k), ends, rtol=1e-12)
    assert [x.measure for x in found.differences] == ["roc_auc", "qrecall", "brings", "brings"]
    assert "What budget 200,000 brings" in [x.caption for x in found.tables]
    json.loads(found.to_json())


GROUP = np.array(["n", "n", "s", "s", "n", "s"])


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_each_group_has_the_budget(weight: Any):
    found = qk.evaluate(Y, S, budget=[1.5, 0], cost=COST, sample_weight=weight, per=GROUP)
    masses = np.ones(6) if weight is None else weight
    for budget, values in found.at_quota.items():
        assert found.groups is not None
        of_groups = found.groups.values[budget]
        for k, scores in enumerate(S.values()):
            given = {"groups": GROUP, "cost": COST, "sample_weight": weight}
            at = {**given, "budget": budget.amount, "when_short": "all"}
            table = qk.confusion_table(Y, scores, **at)
            places = table.tp + table.fp
            np.testing.assert_allclose(of_groups.of("places")[k], places, rtol=1e-14)
            hit = qk.hit_rate(Y, scores, **at)
            np.testing.assert_allclose(of_groups.of("hit_rate")[k], hit, rtol=1e-14)
            of_model = values.of_model(k)
            assert of_model["places"] == pytest.approx(places.sum())
            assert of_model["qrecall"] == pytest.approx(table.tp.sum() / (masses * Y).sum())
            if budget.amount:
                assert of_model["hit_rate"] == pytest.approx(table.tp.sum() / places.sum())
        costs = np.array([(masses * COST)[g == GROUP].sum() for g in "ns"])
        share = np.minimum(budget.amount / costs, 1)
        sizes = np.array([masses[g == GROUP].sum() for g in "ns"])
        assert found.places_at_random(budget) == pytest.approx(share @ sizes)
    assert "to spend in each group, choosing by" in found.recommendation
    json.loads(found.to_json())


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_groups_share_one_budget(weight: Any):
    found = qk.evaluate(Y, S, budget=2.5, cost=COST, sample_weight=weight, by=GROUP)
    ((budget, _),) = found.at_quota.items()
    assert found.groups is not None
    for k, scores in enumerate(S.values()):
        taken = qk.select(scores, budget=2.5, cost=COST, sample_weight=weight)
        taken = taken if weight is None else taken * weight
        each = [taken[g == GROUP].sum() for g in "ns"]
        np.testing.assert_allclose(found.groups.values[budget].of("places")[k], each, rtol=1e-14)
    assert "At budget 2.5: how far the groups of group are apart" in [
        x.caption for x in found.tables
    ]


def test_intervals_and_tests_are_those_of_the_same_resamples(credit: Any):
    y, cost = credit["repaid"].to_numpy(), credit["credit_amount"].to_numpy()
    models = {name: credit[name].to_numpy() for name in NAMES[:2]}
    drawn = {"n_resamples": 60, "random_state": 3}
    found = qk.evaluate(
        y, models, budget=2e5, cost=cost, confidence_level=0.9, compare=True, **drawn
    )
    ((_, values),) = found.at_quota.items()
    priced_drawn = {"cost": cost, "confidence_level": 0.9, **drawn}
    for name in ("hit_rate", "qrecall", "positives_per_cost"):
        measure = getattr(qk, name, None) or getattr(qk.budgets, name)
        measure = functools.partial(measure, budget=2e5)
        for k, scores in enumerate(models.values()):
            ends = qk.bootstrap(measure, y, scores, **priced_drawn)
            np.testing.assert_allclose(values.interval(name, k), (ends.lower, ends.upper))
    _, test = found.differences
    other = qk.compare(qk.qrecall, y, models, budget=2e5, **priced_drawn)
    assert test.measure == "qrecall"
    np.testing.assert_allclose(test.found.p_value, other.p_value)
    assert 250 * float(other.difference[0, 1]) == pytest.approx(6, abs=0.05)
    said = found.answers[3].sentences[0]
    assert "naive_bayes finds 6 more than neural_net for 200,000" in said
    closed = found.to_dict()["confidence"]["closed_forms"]
    precision = dict.fromkeys(("average_precision", "average_hit_rate"), "logit")
    assert closed == dict.fromkeys(("roc_auc", "gini", "pem"), "score") | precision


@pytest.mark.full
def test_the_page(credit: Any):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    found = qk.evaluate(Y, S, budget=[2.5, 0.5], cost=COST)
    page = unescape(found.to_html())
    for said in (
        "Which model for a budget of 2.5?",
        "Where budget 2.5 ends",
        "quotakernels.select(models['a'], budget=2.5, cost=cost)",
        "Each model's dashed vertical line is where its budget ends.",
        "Cost of all rows (cost)",
    ):
        assert said in page
    part = qk.select(S["a"], budget=2.5, cost=COST)
    assert part.sum() == pytest.approx(found.places(next(iter(found.at_quota)))[0])
