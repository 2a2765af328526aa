"""What torchmetrics asks of its own metrics, asked of ours: the steps of its class tests."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from backends import missing

import quotakernels as qk

if lacking := missing("torch", "torchmetrics"):
    pytest.skip(lacking, allow_module_level=True)

import torch
import torchmetrics
from torchmetrics.wrappers import MultioutputWrapper

from quotakernels.adapters.torchmetrics import RankingMetric

BATCHES, SIZE = 4, 32
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "one measure": (qk.roc_auc, {}),
    "with options": (qk.hit_rate.with_options(quota=3), {}),
    "at a threshold": (qk.precision.with_options(threshold=0.5), {}),
    "weights": (qk.average_precision, {"weighted": True}),
    "histogram": (qk.roc_auc, {"state": "histogram", "dtype": torch.uint8}),
    "midpoint": (qk.roc_auc, {"state": "histogram", "bits": 9}),
    "several": ({"auc": qk.roc_auc, "pem": qk.pem}, {}),
    "curve": (qk.roc_curve, {}),
}
EVERY_CASE = pytest.mark.parametrize(("measures", "options"), CASES.values(), ids=CASES)


def data(dtype: Any = torch.float32) -> tuple[Any, Any]:
    draw = torch.Generator().manual_seed(1)
    preds = torch.rand(BATCHES, SIZE, generator=draw)
    target = (torch.rand(BATCHES, SIZE, generator=draw) < preds).long()
    return (preds if dtype.is_floating_point else 100 * preds).to(dtype), target


def same(found: Any, wanted: Any) -> None:
    if isinstance(found, dict):
        assert found.keys() == wanted.keys()
    pairs = zip(found.values(), wanted.values(), strict=True) if isinstance(found, dict) else None
    for a, b in pairs or [(found, wanted)]:
        assert isinstance(a, torch.Tensor)
        assert not a.requires_grad
        assert torch.allclose(a, b, rtol=0, atol=0, equal_nan=True)


def alone(measures: Any, options: dict[str, Any], *batch: Any) -> Any:
    """What a new metric finds in one batch."""
    metric = RankingMetric(measures, **options)
    metric.update(*batch)
    return metric.compute()


def scripted(metric: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of torch.jit, which torchmetrics uses
        torch.jit.script(metric)


@EVERY_CASE
def test_a_metric_lives_as_torchmetrics_asks(measures: Any, options: dict[str, Any]):
    preds, target = data(options.get("dtype", torch.float32))
    metric = RankingMetric(measures, **options)
    for name in ("is_differentiable", "higher_is_better", "full_state_update"):
        with pytest.raises(RuntimeError, match="const"):
            setattr(metric, name, not getattr(metric, name))
    scripted(metric)
    clone = metric.clone()
    assert clone is not metric
    assert type(clone) is type(metric)
    metric = copy.deepcopy(pickle.loads(pickle.dumps(metric.to("cpu"))))
    for i in range(BATCHES):
        same(metric(preds[i], target[i]), alone(measures, options, preds[i], target[i]))
    assert isinstance(hash(metric), int)
    assert hash(metric) != hash(clone)
    assert metric.state_dict() == {}
    same(metric.compute(), alone(measures, options, preds.flatten(), target.flatten()))
    metric.reset()
    assert not metric.update_called
    clone.update(preds[0], target[0])  # the copy from before has stayed as it was
    same(clone.compute(), alone(measures, options, preds[0], target[0]))


@EVERY_CASE
def test_ranks_on_each_step_or_at_the_end(measures: Any, options: dict[str, Any]):
    """Two ranks with the same batch, by a gathering that is put in torchmetrics' place."""
    preds, target = data(options.get("dtype", torch.float32))
    ranks: dict[str, Any] = {"dist_sync_fn": lambda x, group: [x, x.clone()]}
    ranks |= {"distributed_available_fn": lambda: True}
    twice = alone(measures, options, preds[0].repeat(2), target[0].repeat(2))
    once = alone(measures, options, preds[0], target[0])
    for each_step, wanted in ((True, twice), (False, once)):
        metric = RankingMetric(measures, dist_sync_on_step=each_step, **options, **ranks)
        same(metric(preds[0], target[0]), wanted)
        same(metric.compute(), twice)


@pytest.mark.parametrize("convert", ["half", "float", "double"])
def test_scores_and_modules_of_any_precision(convert: str):
    preds, target = data()
    preds = getattr(preds[0], convert)()
    metric = RankingMetric(qk.roc_auc)
    assert getattr(metric, convert)() is metric
    assert metric(preds, target[0]) == qk.roc_auc(target[0], preds)


def test_gradients_end_at_the_metric():
    preds, target = data()
    preds.requires_grad = True
    metric = RankingMetric(qk.roc_auc)
    found = metric(preds[0], target[0])
    assert found.requires_grad is metric.is_differentiable is False
    assert not any(x.requires_grad for x in metric.scores)


def test_collections_take_it_beside_metrics_of_torchmetrics():
    preds, target = data()
    together = torchmetrics.MetricCollection(
        {
            "ours": RankingMetric(qk.roc_auc),
            "theirs": torchmetrics.classification.BinaryAUROC(),
            "lift": RankingMetric(qk.lift.with_options(fraction=0.1)),
        },
        prefix="val/",
    )
    together.update(preds[0], target[0])
    for i in range(1, BATCHES):
        now = together(preds[i], target[i])
        assert torch.isclose(now["val/ours"], now["val/theirs"].double(), atol=1e-6)
    assert sorted(map(sorted, together.compute_groups.values())) == [["lift", "ours"], ["theirs"]]
    found = together.clone(prefix="test/").compute()
    assert torch.isclose(found["test/ours"], found["test/theirs"].double(), atol=1e-6)


def test_wrappers_of_torchmetrics_take_it():
    preds, target = data()
    columns = MultioutputWrapper(RankingMetric(qk.roc_auc), BATCHES)
    columns.update(preds.T, target.T)
    assert torch.equal(columns.compute(), qk.roc_auc(target, preds))
    best = torchmetrics.MetricTracker(RankingMetric(qk.roc_auc), maximize=True)
    for i in range(BATCHES):
        best.increment()
        best.update(preds[i], target[i])
    assert best.best_metric() == max(columns.compute())
    total = RankingMetric(qk.roc_auc) + RankingMetric(qk.pem)
    total.update(preds[0], target[0])
    assert total.compute() == qk.roc_auc(target[0], preds[0]) + qk.pem(target[0], preds[0])


@pytest.mark.parametrize("values", [lambda metric: None, lambda metric: [metric.compute()] * 3])
def test_plots(values: Callable[[RankingMetric], Any]):
    if lacking := missing("matplotlib"):
        pytest.skip(lacking)
    import matplotlib.pyplot as plt

    preds, target = data()
    metric = RankingMetric({"auc": qk.roc_auc, "ap": qk.average_precision})
    metric.update(preds[0], target[0])
    figure, axes = metric.plot(values(metric))
    assert {x.get_label() for x in axes.lines} == {"auc", "ap"}
    plt.close(figure)
