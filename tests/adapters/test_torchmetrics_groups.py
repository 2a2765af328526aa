"""Metrics of torchmetrics that keep groups: equal to the mean over groups, and to each of them."""

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
    "hits": partial(qk.hit_rate, quota=3),
    "auc": qk.roc_auc,
    "first": qk.retrieval.reciprocal_rank,
}


def columns(dtype: Any = torch.float32) -> dict[str, Any]:
    draw = torch.Generator().manual_seed(3)
    scores = torch.randn(N, generator=draw).to(dtype)
    return {
        "preds": scores,
        "target": (torch.rand(N, generator=draw) < torch.sigmoid(scores.float())).long(),
        "indexes": torch.randint(-4, 30, (N,), generator=draw, dtype=torch.int32) ** 3,
        "sample_weight": torch.randint(0, 9, (N,), generator=draw).double() / 4,
        "where": torch.rand(N, generator=draw) < 0.9,
    }


def batches(given: dict[str, Any]) -> list[dict[str, Any]]:
    split = {name: x.split(120) for name, x in given.items()}
    return [dict(zip(split, parts, strict=True)) for parts in zip(*split.values(), strict=True)]


def without(given: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: x for name, x in given.items() if name not in names}


def ranking(given: dict[str, Any]) -> Any:
    others = {name: given[name] for name in ("sample_weight", "where") if name in given}
    return qk.rank(given["target"], given["preds"], groups=given["indexes"], **others)


def filled(given: dict[str, Any], *arguments: Any, **options: Any) -> RankingMetric:
    metric = RankingMetric(*arguments, weighted="sample_weight" in given, **options)
    for batch in batches(given):
        metric.update(**batch)
    return metric


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_values_of_each_group(dtype: Any):
    given = without(columns(dtype), "sample_weight")
    metric = filled(given, {**MEASURES, "of": qk.group_counts}, groups="each")
    found, whole = metric.compute(), ranking(given)
    for name, measure in MEASURES.items():
        torch.testing.assert_close(found[name], measure(whole), rtol=0, atol=0, equal_nan=True)
    assert torch.equal(found["of_ids"], given["indexes"].unique())
    assert torch.equal(found["of_examples"], qk.group_counts(whole).examples)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_over_groups(weighted: bool):
    given = columns() if weighted else without(columns(), "sample_weight")
    measures = without(MEASURES, "first") if weighted else MEASURES  # positions take no weights
    found = filled(given, measures, groups="mean").compute()
    assert found == {
        name: qk.group_mean(measure, ranking(given)).value for name, measure in measures.items()
    }


def test_what_groups_count_for_is_said_by_the_mean():
    given = without(columns(), "sample_weight", "where")
    gauc = qk.group_mean(qk.roc_auc, weights="examples")
    wanted = gauc(ranking(given))
    assert filled(given, gauc, groups="mean").compute() == wanted.value
    both = filled(given, {"gauc": gauc, "gini": qk.gini}, groups="mean").compute()
    assert both == {"gauc": wanted.value, "gini": qk.group_mean(qk.gini, ranking(given)).value}
    found = filled(given, {"gauc": gauc}, groups="each").compute()
    assert found == {"gauc_value": wanted.value, "gauc_defined": wanted.defined}
    assert RankingMetric(gauc, groups="mean").higher_is_better is True


def test_forward_merging_saving_and_ranks():
    given = without(columns(), "sample_weight")
    metric = RankingMetric(qk.roc_auc, groups="mean")
    for batch in batches(given):
        assert metric(**batch) == qk.group_mean(qk.roc_auc, ranking(batch)).value
    wanted = metric.compute()
    assert wanted == qk.group_mean(qk.roc_auc, ranking(given)).value
    assert pickle.loads(pickle.dumps(metric)).compute() == wanted
    metric.persistent(True)
    other = RankingMetric(qk.roc_auc, groups="each")
    other.load_state_dict(metric.state_dict())
    assert torch.equal(other.compute().nanmean(), wanted)
    with pytest.raises(RuntimeError, match="grouped is False here and True there"):
        RankingMetric(qk.roc_auc).load_state_dict(metric.state_dict())
    first, *others = (filled(batch, qk.roc_auc, groups="mean") for batch in batches(given))
    for other in others:
        first.merge_state(other)
    assert first.compute() == wanted
    ranks = {"dist_sync_fn": lambda x, group: [x, x.clone()]}
    ranks |= {"distributed_available_fn": lambda: True}
    twice = {name: x.repeat(2) for name, x in given.items()}
    found = filled(given, qk.roc_auc, groups="mean", **ranks).compute()
    assert found == qk.group_mean(qk.roc_auc, ranking(twice)).value


def test_metrics_of_groups_share_their_states():
    given = without(columns(), "sample_weight", "where")
    metrics = torchmetrics.MetricCollection(
        {
            "auc": RankingMetric(qk.roc_auc, groups="mean"),
            "each": RankingMetric(qk.roc_auc, groups="each"),
            "theirs": torchmetrics.retrieval.RetrievalMRR(empty_target_action="neg"),
            "first": RankingMetric(qk.retrieval.reciprocal_rank, groups="mean"),
        }
    )
    given["indexes"] = given["indexes"].long()
    for batch in batches(given):
        metrics.update(**batch)
    found = metrics.compute()
    assert sorted(map(sorted, metrics.compute_groups.values())) == [
        ["auc", "each", "first"],
        ["theirs"],
    ]
    assert found["auc"] == found["each"].nanmean()
    torch.testing.assert_close(found["first"].float(), found["theirs"])


def test_no_groups_and_bad_values():
    for groups, shape in (("mean", ()), ("each", (0,))):
        metric = RankingMetric(qk.roc_auc, groups=groups)
        with pytest.warns(UserWarning, match="before the ``update``"):
            found = metric.compute()
        assert (found.shape, found.dtype) == (shape, torch.float64)
        assert found.isnan().all()
    given = without(columns(), "sample_weight", "where")
    metric = filled(given, qk.roc_auc, groups="mean")
    metric.bad += 1
    metric._computed = None
    with pytest.warns(UserWarning, match="^all measures of this state are NaN: 1 batch held a bad"):
        assert metric.compute().isnan()


@pytest.mark.parametrize(
    ("measure", "options", "error", "message"),
    [
        (qk.roc_auc, {"groups": "median"}, ValueError, r'^groups must be "mean", "each" or None'),
        (qk.roc_auc, {"groups": "mean", "state": "histogram"}, ValueError, "^a histogram keeps no"),
        (len, {"groups": "mean"}, TypeError, "^measure must be a measure of this library"),
        (qk.group_mean(qk.roc_auc), {}, ValueError, 'mean over groups; it needs groups="mean"$'),
    ],
)
def test_bad_settings(measure: Any, options: Any, error: Any, message: str):
    with pytest.raises(error, match=message):
        RankingMetric(measure, **options)


@pytest.mark.parametrize(
    ("indexes", "error", "message"),
    [
        (None, ValueError, "^the metric has groups and needs indexes=, the group of each example"),
        ([1, 1], TypeError, "^indexes must be a tensor of integers; got list"),
        (torch.ones(2), TypeError, "^indexes must be a tensor of integers; got torch.float32"),
        (torch.ones(3, dtype=torch.int64), ValueError, r"^indexes must have shape \(2,\).*\(3,\)"),
    ],
)
def test_bad_indexes(indexes: Any, error: Any, message: str):
    metric = RankingMetric(qk.roc_auc, groups="mean")
    batch = torch.tensor([0.5, 0.2]), torch.tensor([0, 1])
    with pytest.raises(error, match=message):
        metric.update(*batch, indexes=indexes)
    assert metric.scores == []
    message = "^indexes are given and the metric has no groups; .* into a collection of their own$"
    with pytest.raises(ValueError, match=message):
        RankingMetric(qk.roc_auc).update(*batch, indexes=torch.tensor([1, 1]))


def test_curves_have_no_groups():
    metric = RankingMetric(qk.roc_curve, groups="each")
    metric.update(torch.ones(2), torch.tensor([0, 1]), indexes=torch.ones(2, dtype=torch.int64))
    with pytest.raises(TypeError, match="groups"):
        metric.compute()
