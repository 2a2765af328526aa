"""Metrics of torchmetrics at a budget, which keep what each example costs."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import pytest
from backends import missing

import quotakernels as qk

if lacking := missing("torch", "torchmetrics"):
    pytest.skip(lacking, allow_module_level=True)

import torch
import torchmetrics

from quotakernels.adapters.torchmetrics import RankingMetric

N = 300
MEASURES = {
    "hits": partial(qk.hit_rate, budget=40, when_short="all"),
    "per cost": partial(qk.budgets.positives_per_cost, quota=3, when_short="all"),
    "auc": qk.roc_auc,
}


def columns() -> dict[str, Any]:
    draw = torch.Generator().manual_seed(5)
    scores = torch.randn(N, generator=draw)
    return {
        "preds": scores,
        "target": (torch.rand(N, generator=draw) < torch.sigmoid(scores)).long(),
        "cost": torch.randint(0, 9, (N,), generator=draw),
        "sample_weight": torch.randint(0, 9, (N,), generator=draw).double() / 4,
        "where": torch.rand(N, generator=draw) < 0.9,
        "indexes": torch.randint(0, 12, (N,), generator=draw),
    }


def batches(given: dict[str, Any]) -> list[dict[str, Any]]:
    split = {name: x.split(120) for name, x in given.items()}
    return [dict(zip(split, parts, strict=True)) for parts in zip(*split.values(), strict=True)]


def ranking(given: dict[str, Any]) -> Any:
    beside = {"groups" if name == "indexes" else name: given[name] for name in list(given)[2:]}
    return qk.rank(given["target"], given["preds"], **beside)


def only(*names: str) -> dict[str, Any]:
    given = columns()
    return {name: given[name] for name in ("preds", "target", "cost", *names)}


def filled(given: dict[str, Any], *arguments: Any, **options: Any) -> RankingMetric:
    metric = RankingMetric(*arguments, weighted="sample_weight" in given, **options)
    for batch in batches(given):
        metric.update(**batch)
    return metric


@pytest.mark.parametrize("names", [(), ("where",), ("sample_weight", "where")])
def test_values_at_a_budget(names: tuple[str, ...]):
    given = only(*names)
    whole = ranking(given)
    found = filled(given, MEASURES).compute()
    assert found == {name: measure(whole) for name, measure in MEASURES.items()}


@pytest.mark.parametrize("groups", ["mean", "each"])
def test_a_budget_of_each_group(groups: Any):
    given = only("where", "indexes")
    whole = ranking(given)
    for name, measure in MEASURES.items():
        found = filled(given, {name: measure}, groups=groups, costs=True).compute()[name]
        if groups == "mean":
            assert found == qk.group_mean(measure, whole).value
        else:
            torch.testing.assert_close(found, measure(whole), rtol=0, atol=0, equal_nan=True)


def test_forward_merging_saving_and_ranks():
    given, measure = only("where"), MEASURES["hits"]
    metric = RankingMetric(measure)
    for batch in batches(given):
        assert metric(**batch) == measure(ranking(batch))
    wanted = metric.compute()
    assert wanted == measure(ranking(given))
    assert pickle.loads(pickle.dumps(metric)).compute() == wanted
    metric.persistent(True)
    other = RankingMetric(measure)
    other.load_state_dict(metric.state_dict())
    assert other.compute() == wanted
    with pytest.raises(RuntimeError, match="costs is False here and True there"):
        RankingMetric(qk.roc_auc).load_state_dict(metric.state_dict())
    first, *others = (filled(batch, measure) for batch in batches(given))
    for other in others:
        first.merge_state(other)
    assert first.compute() == wanted
    ranks = {"dist_sync_fn": lambda x, group: [x, x.clone()]}
    ranks |= {"distributed_available_fn": lambda: True}
    twice = {name: x.repeat(2) for name, x in given.items()}
    assert filled(given, measure, **ranks).compute() == measure(ranking(twice))


def test_metrics_that_keep_costs_share_their_states():
    given = only()
    metrics = torchmetrics.MetricCollection(
        {"hits": RankingMetric(MEASURES["hits"]), "auc": RankingMetric(qk.roc_auc, costs=True)}
    )
    for batch in batches(given):
        metrics.update(**batch)
    assert metrics.compute() == {name: MEASURES[name](ranking(given)) for name in ("hits", "auc")}
    assert list(map(sorted, metrics.compute_groups.values())) == [["auc", "hits"]]


def test_no_examples():
    metric = RankingMetric(MEASURES["hits"])
    with pytest.warns(UserWarning, match="before the ``update``"):
        assert metric.compute().isnan()


@pytest.mark.parametrize(
    ("measure", "options", "error", "message"),
    [
        (
            MEASURES["hits"],
            {"costs": False},
            ValueError,
            "^hit_rate needs what .*, and costs=False",
        ),
        (MEASURES["hits"], {"state": "histogram"}, ValueError, "^a histogram keeps no costs; a b"),
        (qk.roc_auc, {"costs": 1}, TypeError, "^costs must be True or False"),
    ],
)
def test_bad_settings(measure: Any, options: Any, error: Any, message: str):
    with pytest.raises(error, match=message):
        RankingMetric(measure, **options)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (None, "^the metric keeps costs and needs cost=, what each example costs"),
        (torch.ones(3), r"^cost must have shape \(2,\)"),
        (torch.tensor([1.0, -2.0]), "^cost is -2.0 at position 1; expected a finite cost, not neg"),
    ],
)
def test_bad_costs(cost: Any, message: str):
    metric = RankingMetric(MEASURES["hits"])
    batch = torch.tensor([0.5, 0.2]), torch.tensor([0, 1])
    with pytest.raises(ValueError, match=message):
        metric.update(*batch, cost=cost)
    assert metric.scores == metric.costs == []
    with pytest.raises(ValueError, match="^cost is given and the metric keeps no costs; make it"):
        RankingMetric(qk.roc_auc).update(*batch, cost=torch.ones(2))
