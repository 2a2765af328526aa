"""Metrics of torchmetrics: what they say, save, restore, merge and share, in one process."""

from __future__ import annotations

import io
import pickle
from functools import partial
from typing import Any

import pytest
from backends import missing
from copies import host_copies

import quotakernels as qk

if lacking := missing("torch", "torchmetrics"):
    pytest.skip(lacking, allow_module_level=True)

import torch
import torchmetrics
from torch._subclasses.fake_tensor import FakeTensorMode

from quotakernels.adapters.torchmetrics import RankingMetric
from quotakernels.measures._facts import title_of
from quotakernels.measures._measure import Measure

N = 999
MEASURES = {"hits": partial(qk.hit_rate, quota=100), "auc": qk.roc_auc}
KINDS: dict[str, dict[str, Any]] = {
    "buffer": {},
    "histogram": {"state": "histogram", "dtype": torch.bfloat16},
    "weighted buffer": {"weighted": True, "dtype": torch.float64},
    "weighted histogram": {"state": "histogram", "dtype": torch.int8, "weighted": True},
}
EVERY_KIND = pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)


def batches(options: dict[str, Any]) -> list[tuple[Any, ...]]:
    draw = torch.Generator().manual_seed(5)
    values = 9 * torch.randn(N, generator=draw)
    labels = (torch.rand(N, generator=draw) < torch.sigmoid(values / 9)).long()
    scores = values.to(options.get("dtype", torch.float32))
    columns = [scores, labels]
    if options.get("weighted"):
        columns.append(torch.randint(1, 9, (N,), generator=draw) / 4)
    return list(zip(*(x.split(400) for x in columns), strict=True))


def at_once(parts: list[tuple[Any, ...]], measure: Any = None) -> Any:
    scores, labels, *weights = (torch.cat(column) for column in zip(*parts, strict=True))
    ranking = qk.rank(labels, scores, sample_weight=weights[0] if weights else None)
    if measure is not None:
        return measure(ranking)
    return {name: function(ranking) for name, function in MEASURES.items()}


def filled(options: dict[str, Any], parts: list[tuple[Any, ...]]) -> RankingMetric:
    metric = RankingMetric(MEASURES, **options)
    for part in parts:
        metric.update(*part)
    return metric


# values


@EVERY_KIND
def test_batches_give_what_all_at_once_gives(options: dict[str, Any]):
    parts = batches(options)
    metric = filled(options, parts)
    assert metric.compute() == at_once(parts)
    metric.reset()
    metric.update(*parts[1])
    assert metric.compute() == at_once(parts[1:2])


@EVERY_KIND
def test_forward_gives_the_batch_and_keeps_all(options: dict[str, Any]):
    parts = batches(options)
    metric = RankingMetric(MEASURES, **options)
    for part in parts:
        assert metric(*part) == at_once([part])
    assert metric.compute() == at_once(parts)


def test_sums_of_weights_lose_nothing_by_forward():
    options = {"dtype": torch.float16, "bits": 4, "weighted": True}
    metric = RankingMetric(qk.roc_auc, state="histogram", **options)
    score, label = torch.tensor([1.0]).half(), torch.tensor([1])
    for weight in (1.0, *[2.0**-60] * 4):
        metric(score, label, torch.tensor([weight], dtype=torch.float64))
    assert metric.sums[0].max() == 1
    assert metric.sums[1].max() == 2.0**-58


@EVERY_KIND
def test_masked_examples_and_other_labels(options: dict[str, Any]):
    metric = RankingMetric(partial(qk.hit_rate, quota=[1, 2, 3]), pos_label=7, **options)
    scores = torch.tensor([2.5, 1.25, 4, 3]).to(options.get("dtype", torch.float32))
    labels, mask = torch.tensor([7, 0, 7, 7]), torch.tensor([True, True, False, True])
    metric.update(scores, labels, where=mask)
    assert metric.compute().tolist() == [1, 1, 2 / 3]


def test_bounds_are_one_number_by_default_and_two_on_request():
    parts = batches({})
    coarse = {"state": "histogram", "bits": 10}
    both = filled({**coarse, "bound": "both"}, parts).compute()
    wanted = at_once(parts)
    assert list(both) == ["hits_lower", "hits_upper", "auc_lower", "auc_upper"]
    assert both["auc_lower"] < wanted["auc"] < both["auc_upper"]
    for bound in ("lower", "upper"):
        metric = RankingMetric(MEASURES["hits"], **coarse, bound=bound)
        for part in parts:
            metric.update(*part)
        assert metric.compute() == both[f"hits_{bound}"]
    middle = filled(coarse, parts).compute()
    assert list(middle) == ["hits", "auc"]
    assert middle["auc"] == (both["auc_lower"] + both["auc_upper"]) / 2
    metric = RankingMetric(qk.roc_auc, **coarse, bound="both")
    metric.update(*parts[0])
    assert list(metric.compute()) == ["roc_auc_lower", "roc_auc_upper"]


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool]
)
def test_a_measure_alone_is_exact_for_scores_of_any_type(dtype: Any):
    parts = [(scores.to(dtype), labels) for scores, labels in batches({})]
    metric = RankingMetric(qk.roc_auc)
    for part in parts:
        metric.update(*part)
    found = metric.compute()
    assert isinstance(found, torch.Tensor)
    assert found == at_once(parts, qk.roc_auc)
    metric.reset()
    metric.update(parts[0][0].double(), parts[0][1])  # another stream, another type


def test_nothing_seen_is_undefined():
    for state in ("buffer", "histogram"):
        metric = RankingMetric(MEASURES, state=state)
        with pytest.warns(UserWarning, match="before the ``update``"):
            found = metric.compute()
        assert all(value.isnan() for value in found.values())


def test_what_a_metric_says_of_itself():
    metric = RankingMetric(qk.roc_auc)
    assert (metric.is_differentiable, metric.full_state_update) == (False, False)
    rates = (qk.tables.false_positive_rate, qk.tables.false_negative_rate)
    losses = [partial(rate, threshold=0.5) for rate in rates]
    for measures, better in (
        (qk.roc_auc, True),
        (losses[0], False),
        (MEASURES, True),
        ({"a": losses[0], "b": losses[1]}, False),
        ({"a": qk.roc_auc, "b": losses[1]}, None),
        (lambda ranking: ranking.counts.sum(), None),
    ):
        assert RankingMetric(measures).higher_is_better is better
        for given in (True, False):
            assert RankingMetric(measures, higher_is_better=given).higher_is_better is given


# errors


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (("auc",), {}, TypeError, r"^measures must be a function of a Ranking or a mapping"),
        (({"auc": 1},), {}, TypeError, r"^measures must be a function"),
        (({},), {}, ValueError, r"^measures must name at least one"),
        ((qk.roc_auc,), {"state": "list"}, ValueError, r"^state must be \"buffer\" or \"hist"),
        ((qk.roc_auc,), {"bound": "mean"}, ValueError, r"^bound must be one of midpoint, lower, u"),
        (
            (qk.roc_auc,),
            {"state": "histogram", "bits": 40},
            ValueError,
            "^bits must be at most 26",
        ),
        ((qk.roc_auc,), {"bits": 9}, ValueError, r"^bits= is for a histogram"),
        ((qk.roc_auc,), {"dtype": torch.complex64}, TypeError, r"^like must be an array of scores"),
    ],
)
def test_bad_settings(arguments: Any, options: Any, error: Any, message: str):
    with pytest.raises(error, match=message):
        RankingMetric(*arguments, **options)


UNBOUNDED = [
    (qk.average_hit_rate, {}),
    (partial(qk.pr_auc, max_recall=0.5), {}),
    (lambda ranking: ranking.counts.sum(), {"dtype": torch.bfloat16, "bits": 9}),
]


@pytest.mark.parametrize(("measure", "options"), UNBOUNDED)
def test_what_a_histogram_has_no_bounds_of_is_told_before_the_stream(measure: Any, options: Any):
    histogram = {"state": "histogram", **options}
    message = 'has no guaranteed bounds.*; make the metric with state="buffer", or with dtype=torch'
    with pytest.raises(ValueError, match=message):
        RankingMetric({"a": qk.roc_auc, "b": measure}, **histogram)
    for right in ({"state": "histogram", "dtype": torch.float16}, {"state": "buffer"}):
        assert RankingMetric(measure, **right).measures is measure
    assert RankingMetric(MEASURES, **histogram).measures == MEASURES


def measures_of_the_library() -> list[Any]:
    families = ("tables", "charts", "points", "budgets", "inference", "retrieval")
    names = {id(x): x for f in (qk, *(getattr(qk, f) for f in families)) for x in vars(f).values()}
    return sorted(filter(lambda x: isinstance(x, Measure), names.values()), key=title_of)


@pytest.mark.parametrize("measure", measures_of_the_library(), ids=title_of)
def test_what_a_measure_lacks_is_told_before_the_stream(measure: Any):
    """As the measure itself would after it, with the words that the metric takes."""
    ranking = qk.rank(torch.tensor([1, 0, 1]), torch.tensor([0.5, 0.2, 0.1]), cost=torch.ones(3))
    try:
        measure(ranking)
    except TypeError:
        with pytest.raises(TypeError, match=rf"^{title_of(measure)} needs .*(; pass|ScoreBuffer)"):
            RankingMetric({"a": measure}, costs=True)
    else:
        RankingMetric({"a": measure}, costs=True)


def test_options_of_measures_are_no_options_of_metrics():
    message = "^quota is an option of the measure and not of the metric; fix it by with_options"
    for measures in (qk.hit_rate, {"top": qk.hit_rate}):
        with pytest.raises(TypeError, match=message):
            RankingMetric(measures, quota=2)
    with pytest.raises(ValueError, match="quotas"):
        RankingMetric(qk.hit_rate, quotas=2)


@pytest.mark.parametrize(("theirs", "ours"), [("mask", "where"), ("groups", "indexes")])
def test_a_collection_does_not_drop_what_is_misnamed(theirs: str, ours: str):
    metrics = torchmetrics.MetricCollection({"auc": RankingMetric(qk.roc_auc)})
    batch = torch.tensor([0.5, 0.2, 0.1]), torch.tensor([1, 0, 1])
    given = torch.tensor([True, True, False])
    message = f"^update takes no {theirs}=; pass {ours}=, or .* into a collection of their own$"
    with pytest.raises(TypeError, match=message):
        metrics.update(*batch, **{theirs: given})
    metrics.update(*batch, where=given, elsewhere=given, **{theirs: None})
    assert metrics.compute()["auc"] == 1


def test_a_collection_has_metrics_of_either_name():
    rates = torchmetrics.classification.BinaryGroupStatRates(num_groups=2)
    metrics = torchmetrics.MetricCollection({"auc": RankingMetric(qk.roc_auc, groups="mean")})
    metrics.add_metrics({"rates": rates})
    scores, labels = torch.tensor([0.5, 0.2, 0.1]), torch.tensor([1, 0, 1])
    metrics.update(scores, labels, groups=labels, indexes=torch.tensor([3, 3, 5]))
    found = metrics.compute()
    assert found["auc"] == 1
    assert {"group_0", "group_1"} <= found.keys()


def test_functions_of_labels_and_scores_are_told_before_the_epoch():
    message = "^expected a measure, .*; <lambda> cannot be called with a ranking alone: missing"
    for measures in (lambda _, __: 0, {"a": qk.roc_auc, "b": lambda _, __: 0}):
        with pytest.raises(TypeError, match=message):
            RankingMetric(measures)


@pytest.mark.parametrize("state", ["histogram", "buffer"])
def test_bad_batches(state: Any):
    metric = RankingMetric(qk.roc_auc, state=state)
    labels, scores = torch.tensor([0, 1]), torch.tensor([0.5, 0.2])
    with pytest.raises(ValueError, match=r"^y_score is nan at position 1"):
        metric.update(scores / torch.tensor([1, 0]) * 0, labels)
    with pytest.raises(ValueError, match=r"^preds .*\(n,\), .*; got \(2, 1\); pass preds\[:, 0\]$"):
        metric.update(scores[:, None], labels)
    both = r"pass preds\[:, 1\] of probabilities, preds\[:, 1\] - preds\[:, 0\] of logits, or "
    with pytest.raises(ValueError, match=both):
        metric.update(scores.expand(3, -1), torch.ones(3))
    with pytest.raises(ValueError, match=r"^preds must have shape \(n,\).*MultioutputWrapper"):
        metric.update(scores.expand(2, -1), torch.ones((2, 2)))
    with pytest.raises(ValueError, match=r"^preds .*; got \(\); pass preds\.reshape\(-1\)$"):
        metric.update(scores[0], labels[0])
    with pytest.raises(ValueError, match=r"^target must have shape \(2,\).*got \(2, 3\)"):
        metric.update(scores, labels[:, None].expand(-1, 3))
    with pytest.raises(TypeError, match=r"^preds must be a tensor; got list"):
        metric.update([0.5, 0.2], labels)
    metric.update(scores, labels)
    message = r"^preds has dtype torch.float64 and .*torch.float32; .* with dtype=torch.float64$"
    with pytest.raises(TypeError, match=message):
        metric.update(scores.double(), labels)
    with pytest.raises(ValueError, match=r"^sample_weight is given"):
        metric.update(scores[:1], labels[:1], labels[:1])


@pytest.mark.parametrize("options", [KINDS["buffer"], KINDS["histogram"]])
def test_bad_values_that_are_not_read_are_remembered(options: dict[str, Any]):
    metric = RankingMetric(qk.roc_auc, validate_args=False, **options)
    scores = torch.tensor([0.5, torch.nan]).to(options.get("dtype", torch.float32))
    metric.update(scores, torch.tensor([0, 1]))
    metric.update(torch.ones_like(scores), torch.tensor([0, 1]))
    with pytest.warns(UserWarning, match="^all measures of this state are NaN: 1 batch held a bad"):
        assert metric.compute().isnan()


# saved and restored


def saved(state: dict[str, Any]) -> dict[str, Any]:
    """By way of a file, as a checkpoint goes."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    restored: dict[str, Any] = torch.load(file, weights_only=True)
    return restored


def saved_states(state: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix("metric."): x for name, x in state.items()}


@EVERY_KIND
def test_state_dict_restores(options: dict[str, Any]):
    parts = batches(options)
    model = torch.nn.ModuleDict({"metric": filled(options, parts[:2])})
    model["metric"].persistent(True)
    state = saved(model.state_dict())
    other = torch.nn.ModuleDict({"metric": filled(options, parts[2:])})
    assert other["metric"].compute() == at_once(parts[2:])  # which is kept until another update
    for _ in range(2):  # what comes later does not change what was loaded
        other.load_state_dict(state)
        assert other["metric"].compute() == at_once(parts[:2])
        other["metric"].update(*parts[2])
        assert other["metric"].compute() == at_once(parts)
    fresh = torch.nn.ModuleDict({"metric": RankingMetric(MEASURES, **options)})
    fresh.load_state_dict(state)
    assert fresh["metric"].compute() == at_once(parts[:2])
    fresh["metric"].to("meta").load_state_dict(saved_states(state))
    kept = fresh["metric"].metric_state.values()
    assert {x.device.type for y in kept for x in (y if isinstance(y, list) else [y])} == {"meta"}


def persistent(metric: RankingMetric) -> RankingMetric:
    metric.persistent(True)
    return metric


def test_states_of_other_settings_are_not_loaded():
    coarse = {"state": "histogram", "bits": 12}
    state = persistent(RankingMetric(qk.roc_auc, **coarse)).state_dict()
    for options, message in (
        ({"bits": 13}, "bits is 13 here and 12 there"),
        ({"dtype": torch.float64}, "dtype is 'torch.float64' here and 'torch.float32'"),
        ({"pos_label": 2}, "pos_label is 2 here and None there"),
    ):
        metric = RankingMetric(qk.roc_auc, **(coarse | options))
        with pytest.raises(RuntimeError, match=message):
            metric.load_state_dict(state)
        assert metric.counts.shape[0] == 2 ** options.get("bits", 12)
    with pytest.raises(RuntimeError, match=r"Missing key.*\"scores\", \"targets\""):
        persistent(RankingMetric(qk.roc_auc)).load_state_dict({})
    with pytest.raises(RuntimeError, match=r"Missing key.*\"settings\""):
        RankingMetric(qk.roc_auc, **coarse).load_state_dict({"counts": state["counts"]})


def test_checkpoints_from_before_the_metric_still_load():
    """A metric that is added to a module adds no keys, unless its states are made persistent."""
    old = torch.nn.ModuleDict({"linear": torch.nn.Linear(1, 1)}).state_dict()
    new = torch.nn.ModuleDict({"linear": torch.nn.Linear(1, 1)})
    new["metric"] = RankingMetric(qk.roc_auc)
    new["metric"].update(*batches({})[0])
    assert new.state_dict().keys() == old.keys()
    new.load_state_dict(old)
    assert new["metric"].compute() == at_once(batches({})[:1], qk.roc_auc)


@EVERY_KIND
def test_copies_go_on_by_themselves(options: dict[str, Any]):
    parts = batches(options)
    metric = filled(options, parts[:1])
    for copy in (metric.clone(), pickle.loads(pickle.dumps(metric))):
        copy.update(*parts[1])
        assert copy.compute() == at_once(parts[:2])
    assert metric.compute() == at_once(parts[:1])


# merged and shared


@EVERY_KIND
def test_merge_state_after_compute(options: dict[str, Any]):
    parts = batches(options)
    metric, other = filled(options, parts[:1]), filled(options, parts[1:2])
    assert metric.compute() == at_once(parts[:1])
    metric.merge_state(other)
    assert metric.compute() == at_once(parts[:2])
    metric.merge_state(filled(options, parts[2:]).metric_state)
    assert metric.compute() == at_once(parts)
    assert other.compute() == at_once(parts[1:2])


def test_metrics_of_other_settings_are_not_merged():
    metric = RankingMetric(qk.roc_auc, state="histogram", bits=12)
    with pytest.raises(ValueError, match=r"^the states of the metrics do not fit: bits is 12 here"):
        metric.merge_state(RankingMetric(qk.roc_auc, state="histogram", bits=13))
    with pytest.raises(ValueError, match="Expected incoming state"):
        metric.merge_state(torchmetrics.SumMetric())


@EVERY_KIND
def test_reductions_of_torchmetrics(options: dict[str, Any]):
    """As on two ranks with the same data, and back."""
    parts = batches(options)
    ranks = {"dist_sync_fn": lambda x, group: [x, x.clone()]}
    metric = filled({**options, **ranks, "distributed_available_fn": lambda: True}, parts)
    assert metric.compute() == at_once(parts + parts)
    metric.update(*parts[0])
    assert metric.compute() == at_once(2 * [*parts, parts[0]])


def collection() -> torchmetrics.MetricCollection:
    options: dict[str, Any] = {"weighted": True, "dtype": torch.bfloat16}
    return torchmetrics.MetricCollection(
        {
            f"{kind}_{name}": RankingMetric(measure, state=kind, **options)
            for kind in ("histogram", "buffer")
            for name, measure in MEASURES.items()
        }
    )


def test_collections_share_states():
    parts = batches({"dtype": torch.bfloat16, "weighted": True})
    together = collection()
    for scores, labels, weights in parts:
        together.update(scores, labels, sample_weight=weights)
    wanted = at_once(parts)
    found = together.compute()
    assert {name: found[f"{kind}_{name}"] for name in wanted for kind in ("buffer",)} == wanted
    assert {name: found[f"histogram_{name}"] for name in wanted} == wanted
    groups = sorted(map(sorted, together.compute_groups.values()))
    assert groups == [["buffer_auc", "buffer_hits"], ["histogram_auc", "histogram_hits"]]
    together.reset()
    scores, labels, weights = parts[0]
    now = together(scores, labels, sample_weight=weights)
    assert {name: now[f"buffer_{name}"] for name in wanted} == at_once(parts[:1])


def test_states_that_are_equal_by_chance_are_not_shared():
    """As many of either label, of one score: only the settings differ."""
    metrics = {str(x): RankingMetric(MEASURES["hits"], pos_label=x) for x in (0, 1)}
    together = torchmetrics.MetricCollection(metrics)
    together.update(torch.zeros(200), torch.arange(200) % 2)
    assert len(together.compute_groups) == 2


# types and devices


class Model(torch.nn.Module):
    def __init__(self, options: dict[str, Any]):
        super().__init__()
        self.linear = torch.nn.Linear(1, 1)
        self.metric = RankingMetric(MEASURES, **options)


@EVERY_KIND
def test_states_keep_their_types(options: dict[str, Any]):
    parts = batches(options)
    model = Model(options)
    model.metric.update(*parts[0])
    model.half().to(torch.bfloat16)
    model.metric.half().set_dtype(torch.float16)
    assert model.linear.weight.dtype == torch.bfloat16
    model.metric.update(*parts[1])
    assert model.metric.compute() == at_once(parts[:2])
    model.metric.reset()
    model.metric.update(*parts[2])
    assert model.metric.compute() == at_once(parts[2:])


@EVERY_KIND
def test_update_reads_no_value(options: dict[str, Any]):
    """Tensors without values, and without a copy from the host."""
    parts = batches(options)
    metric = RankingMetric(MEASURES, **options).to("meta")
    moved = [tuple(x.to("meta") for x in part) for part in parts]
    with host_copies() as copies:
        for part in moved:
            metric.update(*part)
    assert copies == []
    assert metric.bad.device.type == "meta"
    faked = RankingMetric(MEASURES, **options)
    with FakeTensorMode() as fakes:
        faked._apply(fakes.from_tensor)
        faked.update(*(fakes.from_tensor(x) for x in parts[0]))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no CUDA device")
@EVERY_KIND
def test_update_does_not_wait_for_a_cuda_device(options: dict[str, Any]):
    parts = batches(options)
    metric = RankingMetric(MEASURES, **options).to("cuda")
    moved = [tuple(x.to("cuda") for x in part) for part in parts]
    torch.cuda.set_sync_debug_mode("error")
    try:
        for part in moved:
            metric.update(*part)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    for name, value in at_once(parts).items():
        assert abs(metric.compute()[name].cpu() - value) < 1e-12, name
