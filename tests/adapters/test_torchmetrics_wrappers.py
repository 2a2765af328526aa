"""Metrics in what people build around them: subclasses, wrappers, copies and parallel modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from backends import missing

import quotakernels as qk

if lacking := missing("torch", "torchmetrics"):
    pytest.skip(lacking, allow_module_level=True)

import torch
from torchmetrics import MetricCollection, wrappers

from quotakernels.adapters.torchmetrics import RankingMetric

SIZE = 40
KINDS: dict[str, dict[str, Any]] = {
    "buffer": {},
    "weighted buffer": {"weighted": True},
    "histogram": {"state": "histogram", "dtype": torch.float16},
    "weighted histogram": {"state": "histogram", "dtype": torch.float16, "weighted": True},
}
EVERY_KIND = pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)


def batches(options: dict[str, Any], count: int = 5) -> list[tuple[Any, ...]]:
    draw = torch.Generator().manual_seed(9)
    scores = torch.rand(count, SIZE, generator=draw).to(options.get("dtype", torch.float32))
    labels = (torch.rand(count, SIZE, generator=draw) < scores).long()
    weights = torch.randint(1, 9, (count, SIZE), generator=draw) / 4
    columns = (scores, labels, weights) if options.get("weighted") else (scores, labels)
    return list(zip(*columns, strict=True))


def auc(*parts: tuple[Any, ...]) -> Any:
    """Of the examples of all parts."""
    scores, labels, *weights = (torch.cat(x) for x in zip(*parts, strict=True))
    return qk.roc_auc(labels, scores, sample_weight=weights[0] if weights else None)


# subclasses


class OfLogits(RankingMetric):
    """Takes two arguments alone."""

    def update(self, preds: Any, target: Any) -> None:  # type: ignore[override]
        super().update(-preds, target)


class Named(RankingMetric):
    """Has arguments of its own."""

    def update(self, *, batch: dict[str, Any], sign: int = 1) -> None:  # type: ignore[override]
        super().update(sign * batch["scores"], batch["labels"])


class Halved(RankingMetric):
    """Makes another result of the measure."""

    def compute(self) -> Any:
        return super().compute() / 2


def test_forward_calls_the_update_of_a_subclass_with_what_was_given():
    parts = batches({})
    metric, named = OfLogits(qk.roc_auc), Named(qk.roc_auc)
    for scores, labels in parts:
        reverse = auc((-scores, labels))
        assert metric(scores, labels) == reverse
        assert metric(scores, target=labels) == reverse
        assert named(batch={"scores": scores, "labels": labels}, sign=-1) == reverse
    assert named.compute() == metric.compute() == auc(*((-x, y) for x, y in parts))
    with pytest.raises(TypeError, match="unexpected keyword argument 'where'"):
        metric(scores, labels, where=labels == 1)


@EVERY_KIND
def test_forward_calls_the_compute_of_a_subclass(options: dict[str, Any]):
    parts = batches(options)
    metric = Halved(qk.roc_auc, **options)
    for part in parts:
        assert metric(*part) == auc(part) / 2
    assert metric.compute() == auc(*parts) / 2


@pytest.mark.parametrize(
    "make",
    [lambda: Halved(qk.roc_auc), lambda: wrappers.Running(RankingMetric(qk.roc_auc), window=2)],
)
def test_batches_of_two_types_are_refused_where_only_the_result_sees_both(make: Any):
    scores, labels = batches({})[0]
    metric = make()
    metric(scores, labels)
    metric(scores.double(), labels)
    with pytest.raises(TypeError, match=r"^the batches have scores of torch.float32 and torch.flo"):
        metric.compute()


# wrappers


@pytest.mark.parametrize("call", ["update", "forward"])
@EVERY_KIND
def test_a_running_window_has_the_last_batches(options: dict[str, Any], call: str):
    parts = batches(options)
    metric = wrappers.Running(RankingMetric(qk.roc_auc, **options), window=2)
    for i, part in enumerate(parts):
        found = getattr(metric, call)(*part)
        assert call == "update" or found == auc(part)
        for _ in range(2):  # computing changes nothing
            assert metric.compute() == auc(*parts[max(i - 1, 0) : i + 1])
    metric.reset()
    metric.update(*parts[0])
    assert metric.compute() == auc(parts[0])


def test_a_running_window_of_groups_and_costs():
    (scores, labels), (more, others) = batches({}, 2)
    indexes = torch.arange(SIZE) % 4
    metric = wrappers.Running(RankingMetric(qk.roc_auc, groups="mean", columns=["cost"]), window=1)
    for x, y in ((more, others), (scores, labels)):
        metric.update(x, y, indexes=indexes, cost=x)
    wanted = qk.group_mean(qk.roc_auc, labels, scores, groups=indexes, num_groups=4).value
    assert metric.compute() == wanted


def test_bootstrap_copies_are_resampled_each_for_itself():
    (scores, labels, weights), *_ = batches({"weighted": True})
    inner = RankingMetric({"auc": qk.roc_auc}, weighted=True)
    wrapped = wrappers.BootStrapper(inner, num_bootstraps=2)
    wrapped.update(scores, labels, sample_weight=weights)
    with pytest.raises(TypeError, match="dict"):  # of torchmetrics, which stacks tensors alone
        wrapped.compute()
    torch.manual_seed(3)
    inner = RankingMetric(qk.roc_auc, weighted=True)
    wrapped = wrappers.BootStrapper(inner, num_bootstraps=9, raw=True, sampling_strategy="poisson")
    wrapped.update(scores, labels, sample_weight=weights)
    torch.manual_seed(3)
    draws = [torch.distributions.Poisson(1).sample((SIZE,)).long() for _ in range(9)]
    rows = [torch.arange(SIZE).repeat_interleave(x) for x in draws]
    found = wrapped.compute()
    assert torch.equal(
        found["raw"], torch.stack([auc((scores[x], labels[x], weights[x])) for x in rows])
    )
    assert found["mean"] == found["raw"].mean()


def test_extremes_over_an_epoch():
    parts = batches({})
    metric = wrappers.MinMaxMetric(RankingMetric(qk.roc_auc))
    seen = []
    for i, part in enumerate(parts, 1):
        metric.update(*part)
        seen.append(metric.compute()["raw"])
        assert seen[-1] == auc(*parts[:i])
    assert metric.compute() == {"raw": seen[-1], "max": max(seen), "min": min(seen)}


def test_several_quotas_as_classes_by_name():
    parts = batches({})
    measure = qk.hit_rate.with_options(quota=[5, 10])
    metric = wrappers.ClasswiseWrapper(RankingMetric(measure), labels=["five", "ten"], prefix="at_")
    scores, labels = parts[0]
    found = metric(scores, labels)
    five, ten = qk.hit_rate(labels, scores, quota=[5, 10])
    assert found == {"at_five": five, "at_ten": ten}
    metric.update(*parts[1])
    whole = [torch.cat(x) for x in zip(*parts[:2], strict=True)]
    five, ten = qk.hit_rate(whole[1], whole[0], quota=[5, 10])
    assert metric.compute() == {"at_five": five, "at_ten": ten}
    together = MetricCollection({"auc": RankingMetric(qk.roc_auc), "at": metric.clone()})
    together.reset()
    assert together(scores, labels).keys() == {"auc", "at_five", "at_ten"}


def test_classes_are_columns_of_labels_that_are_one_hot():
    draw = torch.Generator().manual_seed(4)
    preds = torch.rand(SIZE, 3, generator=draw)
    target = torch.randint(0, 3, (SIZE,), generator=draw)
    metric = wrappers.MultioutputWrapper(RankingMetric(qk.roc_auc), 3)
    metric.update(preds, torch.nn.functional.one_hot(target, 3))
    assert torch.equal(metric.compute(), qk.one_vs_rest(qk.roc_auc, target, preds).per_class)
    with pytest.raises(ValueError, match=r"one for each of K columns of .* one_hot\(target, K\)$"):
        RankingMetric(qk.roc_auc).update(preds, target)


def test_a_tracker_knows_the_best_epoch():
    parts = batches({})
    for inner in (RankingMetric(qk.roc_auc), RankingMetric(qk.roc_auc, state="histogram")):
        tracker = wrappers.MetricTracker(inner)
        for part in parts:
            tracker.increment()
            tracker(*part)
        best, step = tracker.best_metric(return_step=True)
        assert step == max(range(len(parts)), key=lambda i: auc(parts[i]))
        assert best == pytest.approx(auc(parts[step]).item(), abs=1e-4)


# copies and places


class Module(torch.nn.Module):
    """Measures its own outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(()))
        self.metric = RankingMetric(qk.roc_auc)

    def forward(self, scores: Any, labels: Any) -> Any:
        return self.metric(self.scale * scores, labels)


def test_a_metric_in_a_module_in_parallel():
    parts = batches({})
    module = Module()
    parallel = torch.nn.DataParallel(module)  # without a GPU, or with one, there are no replicas
    for part in parts:
        assert parallel(*part) == auc(part)
    assert module.metric.compute() == auc(*parts)


def test_a_module_and_a_window_with_distributed_processes(tmp_path: Path):
    parts = batches({})
    place = {"init_method": f"file://{tmp_path}/store", "rank": 0, "world_size": 1}
    torch.distributed.init_process_group("gloo", **place)
    try:
        parallel = torch.nn.parallel.DistributedDataParallel(Module())
        window = wrappers.Running(RankingMetric(qk.roc_auc), window=2)
        for part in parts:
            assert parallel(*part) == auc(part)
            window.update(*part)
        assert parallel.module.metric.compute() == auc(*parts)
        assert window.compute() == window.compute() == auc(*parts[-2:])
    finally:
        torch.distributed.destroy_process_group()


def test_a_replica_of_a_metric_says_that_its_examples_would_be_lost():
    metric = RankingMetric(qk.roc_auc)
    part = batches({})[0]
    metric(*part)
    replica = metric._replicate_for_data_parallel()
    for call in (replica, replica.update, replica.forward):
        with pytest.raises(RuntimeError, match=r"^DataParallel drops .*DistributedDataParallel"):
            call(*part)
    with pytest.raises(RuntimeError, match="^DataParallel drops"):
        replica.compute()
    assert metric.compute() == auc(part)
    assert len(metric.scores) == 1
