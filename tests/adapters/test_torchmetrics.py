"""Metrics of torchmetrics: each kind through all that a metric lives through, in one process."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from backends import missing
from copies import host_copies
from public_names import MEASURES

import quotakernels as qk

if lacking := missing("torch", "torchmetrics"):
    pytest.skip(lacking, allow_module_level=True)

import torch
import torchmetrics
from torch._subclasses.fake_tensor import FakeTensorMode

from quotakernels.adapters.torchmetrics import RankingMetric

N = 300
TWO = {"hits": partial(qk.hit_rate, quota=30), "auc": qk.roc_auc}
PAID = {
    "hits": partial(qk.hit_rate, budget=40, when_short="all"),
    "per cost": partial(qk.budgets.positives_per_cost, quota=3, when_short="all"),
    "auc": qk.roc_auc,
}
GAUC = qk.group_mean(qk.roc_auc, weights="examples")
OF_GROUPS = {"hits": partial(qk.hit_rate, quota=3), "auc": qk.roc_auc}
COARSE: dict[str, Any] = {"state": "histogram", "bits": 9}
HALF: dict[str, Any] = {"state": "histogram", "dtype": torch.bfloat16}
CASES: dict[str, tuple[Any, dict[str, Any], tuple[str, ...]]] = {
    "buffer": (TWO, {}, ()),
    "masked": (TWO, {}, ("where",)),
    "one measure": (qk.roc_auc, {}, ()),
    "at a threshold": (qk.precision.with_options(threshold=0.5), {}, ()),
    "curve": (qk.roc_curve, {}, ()),
    "weighted": (TWO, {"dtype": torch.float64}, ("sample_weight",)),
    "histogram": (TWO, HALF, ("where",)),
    "weighted histogram": (TWO, {**HALF, "dtype": torch.int8}, ("sample_weight",)),
    "midpoint": (TWO, COARSE, ()),
    "costs": (PAID, {}, ("cost", "where")),
    "weighted costs": (PAID, {}, ("cost", "sample_weight")),
    "costs in a histogram": (PAID, HALF, ("cost",)),
    "gains": (partial(qk.impact_at_quota, quota=20), {}, ("gain",)),
    "gains in a histogram": (partial(qk.impact_at_quota, quota=20), HALF, ("gain",)),
    "treatment": (partial(qk.uplift.uplift_at_quota, quota=40), {}, ("treatment",)),
    "mean of groups": (OF_GROUPS, {"groups": "mean"}, ("indexes",)),
    "weighted groups": ({"gauc": GAUC}, {"groups": "mean"}, ("indexes", "sample_weight")),
    "each group": (OF_GROUPS, {"groups": "each"}, ("indexes", "where")),
    "costs of groups": (PAID, {"groups": "mean"}, ("cost", "indexes")),
}
EVERY_CASE = pytest.mark.parametrize("case", CASES)
SOME = pytest.mark.parametrize("case", ["buffer", "weighted", "histogram", "weighted histogram"])


def columns(case: str) -> dict[str, Any]:
    """What all updates of a metric are given, as one."""
    _, options, names = CASES[case]
    draw = torch.Generator().manual_seed(5)
    values = 9 * torch.randn(N, generator=draw)
    every = {
        "preds": values.to(options.get("dtype", torch.float32)),
        "target": (torch.rand(N, generator=draw) < torch.sigmoid(values / 9)).long(),
        "cost": torch.randint(0, 9, (N,), generator=draw),
        "gain": torch.randint(-9, 9, (N,), generator=draw),
        "treatment": torch.randint(0, 2, (N,), generator=draw),
        "sample_weight": torch.randint(1, 9, (N,), generator=draw).double() / 4,
        "where": torch.rand(N, generator=draw) < 0.9,
        "indexes": torch.randint(-4, 9, (N,), generator=draw, dtype=torch.int32) ** 3,
    }
    return {name: every[name] for name in ("preds", "target", *names)}


def batches(case: str) -> list[dict[str, Any]]:
    split = {name: x.split(120) for name, x in columns(case).items()}
    return [dict(zip(split, parts, strict=True)) for parts in zip(*split.values(), strict=True)]


def joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


def new(case: str, **others: Any) -> RankingMetric:
    measures, options, names = CASES[case]
    return RankingMetric(measures, weighted="sample_weight" in names, **options, **others)


def filled(case: str, parts: list[dict[str, Any]], **others: Any) -> RankingMetric:
    metric = new(case, **others)
    for part in parts:
        metric.update(**part)
    return metric


def wanted(case: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """What the measures say of all examples at once."""
    measures, options, _ = CASES[case]
    given = joined(parts)
    if options is COARSE:  # the midpoint of two bounds
        state = qk.states.ScoreHistogram.of(given["target"], given["preds"], bits=9)
        return {name: sum(state.compute(measures)[name]) / 2 for name in measures}
    beside = {"groups" if x == "indexes" else x: given[x] for x in list(given)[2:]}
    ranking = qk.rank(given["target"], given["preds"], **beside)
    found: dict[str, Any] = {}
    for name, measure in (measures if isinstance(measures, dict) else {"": measures}).items():
        if options.get("groups") == "mean":
            mean = measure if measure is GAUC else qk.group_mean(measure)
            found[name] = mean(ranking).value
        elif hasattr(value := measure(ranking), "_fields"):
            found |= dict(zip(value._fields, value, strict=True))
        else:
            found[name] = value
    return found


def same(found: Any, expected: dict[str, Any]) -> None:
    values = list(found.values()) if isinstance(found, dict) else [found]
    for a, b in zip(values, expected.values(), strict=True):
        assert isinstance(a, torch.Tensor)
        assert not a.requires_grad
        torch.testing.assert_close(a, b, rtol=1e-13, atol=0, equal_nan=True)


# values


@EVERY_CASE
def test_batches_give_what_all_at_once_gives(case: str):
    parts = batches(case)
    metric = filled(case, parts)
    same(metric.compute(), wanted(case, parts))
    metric.reset()
    assert not metric.update_called
    for part in parts:  # forward gives the batch and keeps all
        same(metric(**part), wanted(case, [part]))
    same(metric.compute(), wanted(case, parts))


@EVERY_CASE
def test_a_metric_lives_as_torchmetrics_asks(case: str):
    parts, metric = batches(case), new(case)
    for name in ("is_differentiable", "higher_is_better", "full_state_update"):
        with pytest.raises(RuntimeError, match="const"):
            setattr(metric, name, not getattr(metric, name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of torch.jit, which torchmetrics uses
        torch.jit.script(metric)
    metric.update(**parts[0])
    copies = [metric.clone(), copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))]
    for other in copies:
        assert hash(other) != hash(metric)
        other.update(**parts[1])
        same(other.compute(), wanted(case, parts[:2]))
    same(metric.compute(), wanted(case, parts[:1]))
    assert metric.state_dict() == {}


@EVERY_CASE
def test_states_merge_and_are_restored(case: str):
    parts = batches(case)
    metric, other = filled(case, parts[:1]), filled(case, parts[1:2])
    same(metric.compute(), wanted(case, parts[:1]))
    metric.merge_state(other)
    same(metric.compute(), wanted(case, parts[:2]))
    metric.merge_state(filled(case, parts[2:]).metric_state)
    same(metric.compute(), wanted(case, parts))
    other.persistent(True)
    state = saved(other.state_dict())
    last = filled(case, parts[2:])
    same(last.compute(), wanted(case, parts[2:]))  # which is kept until another update
    for _ in range(2):  # what comes later does not change what was loaded
        last.load_state_dict(state)
        same(last.compute(), wanted(case, parts[1:2]))
        last.update(**parts[0])
        same(last.compute(), wanted(case, [parts[1], parts[0]]))


def saved(state: dict[str, Any]) -> dict[str, Any]:
    """By way of a file, as a checkpoint goes."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    restored: dict[str, Any] = torch.load(file, weights_only=True)
    return restored


@EVERY_CASE
@pytest.mark.parametrize("each_step", [True, False])
def test_ranks_on_each_step_or_at_the_end(case: str, each_step: bool):
    """Two ranks with the same batch, by a gathering in place of torchmetrics' own, and back."""
    first, second, *_ = batches(case)
    ranks: dict[str, Any] = {"dist_sync_fn": lambda x, group: [x, x.clone()]}
    ranks |= {"distributed_available_fn": lambda: True, "dist_sync_on_step": each_step}
    metric = new(case, **ranks)
    same(metric(**first), wanted(case, 2 * [first] if each_step else [first]))
    same(metric.compute(), wanted(case, 2 * [first]))
    metric.update(**second)
    same(metric.compute(), wanted(case, 2 * [first, second]))


@SOME
def test_states_keep_their_types(case: str):
    parts = batches(case)
    model = torch.nn.ModuleDict({"linear": torch.nn.Linear(1, 1), "metric": new(case)})
    model["metric"].update(**parts[0])
    model.half().to(torch.bfloat16)
    model["metric"].half().set_dtype(torch.float16)
    assert model["linear"].weight.dtype == torch.bfloat16
    model["metric"].update(**parts[1])
    same(model["metric"].compute(), wanted(case, parts[:2]))


@SOME
def test_update_reads_no_value(case: str):
    """Tensors without values, and without a copy from the host; all states move along."""
    parts, metric = batches(case), new(case)
    metric.update(**parts[0])
    metric.to("meta")
    moved = [{name: x.to("meta") for name, x in part.items()} for part in parts]
    with host_copies() as copies:
        for part in moved:
            metric.update(**part)
    assert copies == []
    kept = metric.metric_state.values()
    assert {x.device.type for y in kept for x in (y if isinstance(y, list) else [y])} == {"meta"}
    faked = new(case)
    with FakeTensorMode() as fakes:
        faked._apply(fakes.from_tensor)
        faked.update(**{name: fakes.from_tensor(x) for name, x in parts[0].items()})


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no CUDA device")
@SOME
def test_update_does_not_wait_for_a_cuda_device(case: str):
    parts, metric = batches(case), new(case).to("cuda")
    moved = [{name: x.to("cuda") for name, x in part.items()} for part in parts]
    torch.cuda.set_sync_debug_mode("error")
    try:
        for part in moved:
            metric.update(**part)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    for name, value in wanted(case, parts).items():
        assert abs(metric.compute()[name].cpu() - value) < 1e-12, name


def test_sums_of_weights_lose_nothing_by_forward():
    options = {"dtype": torch.float16, "bits": 4, "weighted": True}
    metric = RankingMetric(qk.roc_auc, state="histogram", **options)
    score, label = torch.tensor([1.0]).half(), torch.tensor([1])
    for weight in (1.0, *[2.0**-60] * 4):
        metric(score, label, torch.tensor([weight], dtype=torch.float64))
    assert metric.sums_weight[0].max() == 1
    assert metric.sums_weight[1].max() == 2.0**-58


@pytest.mark.parametrize("options", [{}, HALF])
def test_other_labels_and_what_is_rejected(options: Any):
    scores = torch.tensor([2.5, 1.25, 4, 3]).to(options.get("dtype", torch.float32))
    labels, mask = torch.tensor([7, 0, 7, 7]), torch.tensor([True, True, False, True])
    metric = RankingMetric(partial(qk.hit_rate, quota=[1, 2, 3]), pos_label=7, **options)
    metric.update(scores, labels, where=mask)
    assert metric.compute().tolist() == [1, 1, 2 / 3]
    measure = partial(qk.impact_at_quota, quota=2)
    metric = RankingMetric(measure, columns=["gain", "gain_rejected"], **options)
    metric.update(scores, mask, gain=labels, gain_rejected=-labels)
    metric.update(scores, mask, gain=labels)
    beside = {"gain": labels.repeat(2), "gain_rejected": torch.cat([-labels, 0 * labels])}
    whole = measure(mask.repeat(2), scores.repeat(2), **beside)
    assert list(metric.compute().values()) == list(whole)


def test_bounds_are_one_number_by_default_and_two_on_request():
    parts = batches("midpoint")
    both = filled("midpoint", parts, bound="both").compute()
    exact = wanted("buffer", parts)
    assert list(both) == ["hits_lower", "hits_upper", "auc_lower", "auc_upper"]
    assert both["auc_lower"] < exact["auc"] < both["auc_upper"]
    for bound in ("lower", "upper"):
        found = filled("midpoint", parts, bound=bound).compute()
        assert found == {name: both[f"{name}_{bound}"] for name in TWO}
    metric = RankingMetric(qk.roc_auc, **COARSE, bound="both")
    metric.update(**parts[0])
    assert list(metric.compute()) == ["roc_auc_lower", "roc_auc_upper"]


DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "bool")


@pytest.mark.parametrize("dtype", DTYPES)
def test_scores_and_modules_of_any_type(dtype: str):
    given = columns("buffer")
    given["preds"] = given["preds"].to(getattr(torch, dtype)).requires_grad_(dtype == "float64")
    metric = RankingMetric(qk.roc_auc).half()
    assert metric(**given) == qk.roc_auc(given["target"], given["preds"].detach())
    assert not any(x.requires_grad for x in metric.scores)
    metric.reset()
    metric.update(given["preds"].double(), given["target"])  # another stream, another type


@pytest.mark.parametrize(
    ("options", "shape"),
    [({}, ()), (HALF, ()), ({"groups": "mean"}, ()), ({"groups": "each"}, (0,))],
)
def test_nothing_seen_is_undefined(options: Any, shape: Any):
    with pytest.warns(UserWarning, match="before the ``update``"):
        found = RankingMetric(qk.roc_auc, **options).compute()
    assert (found.shape, found.dtype) == (shape, torch.float64)
    assert found.isnan().all()


def test_what_groups_count_for_is_said_by_the_mean():
    parts = batches("each group")
    given = joined(parts)
    beside = {"groups": given["indexes"], "where": given["where"]}
    ranking = qk.rank(given["target"], given["preds"], **beside)
    metric = RankingMetric({"gauc": GAUC, "of": qk.group_counts}, groups="each")
    for part in parts:
        metric.update(**part)
    found = metric.compute()
    assert found["gauc_value"] == GAUC(ranking).value
    assert torch.equal(found["of_ids"], given["indexes"].unique())
    assert torch.equal(found["of_examples"], qk.group_counts(ranking).examples)
    assert RankingMetric(GAUC, groups="mean").higher_is_better is True


def test_what_a_metric_says_of_itself():
    rates = (qk.tables.false_positive_rate, qk.tables.false_negative_rate)
    losses = [partial(rate, threshold=0.5) for rate in rates]
    for measures, better in (
        (qk.roc_auc, True),
        (losses[0], False),
        ({"a": losses[0], "b": losses[1]}, False),
        ({"a": qk.roc_auc, "b": losses[1]}, None),
        (lambda ranking: ranking.counts.sum(), None),
    ):
        assert RankingMetric(measures).higher_is_better is better
        for given in (True, False):
            assert RankingMetric(measures, higher_is_better=given).higher_is_better is given


# errors


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_what_a_measure_lacks_is_told_before_the_stream(name: str):
    """As the measure itself would after it; what it needs of each example is kept."""
    measure = MEASURES[name]
    ones = torch.ones(3)
    beside = {"cost": ones, "treatment": torch.tensor([1, 0, 1])}
    beside |= {"gain": ones} if "gain" in measure.needs else {}
    ranking = qk.rank(torch.tensor([1, 0, 1]), torch.tensor([0.5, 0.2, 0.1]), **beside)
    try:
        measure(ranking)
    except TypeError:
        with pytest.raises(TypeError, match=f"^{name} needs .*; pass"):
            RankingMetric({"a": measure})
    else:
        RankingMetric({"a": measure})


LABELS, SCORES = torch.tensor([0, 1]), torch.tensor([0.5, 0.2])
IDS = torch.tensor([1, 1])


@pytest.mark.parametrize("state", ["histogram", "buffer"])
def test_another_type_of_scores(state: Any):
    metric = RankingMetric(qk.roc_auc, state=state)
    metric.update(SCORES, LABELS)
    message = r"^preds has dtype torch.float64 and .*torch.float32; .* with dtype=torch.float64$"
    with pytest.raises(TypeError, match=message):
        metric.update(SCORES.double(), LABELS)


@pytest.mark.parametrize("options", [{}, HALF, {"groups": "mean"}])
def test_bad_values_that_are_not_read_are_remembered(options: dict[str, Any]):
    metric = RankingMetric(qk.roc_auc, validate_args=False, **options)
    scores = torch.tensor([0.5, torch.nan]).to(options.get("dtype", torch.float32))
    beside = {"indexes": IDS} if "groups" in options else {}
    metric.update(scores, LABELS, **beside)
    metric.update(torch.ones_like(scores), LABELS, **beside)
    with pytest.warns(UserWarning, match="^all measures of this state are NaN: 1 batch held a bad"):
        assert metric.compute().isnan()


def test_a_collection_may_have_what_a_metric_takes_by_another_name():
    metrics = torchmetrics.MetricCollection({"auc": RankingMetric(qk.roc_auc)})
    batch = torch.tensor([0.5, 0.2, 0.1]), torch.tensor([1, 0, 1])
    given = torch.tensor([True, True, False])
    metrics.update(*batch, where=given, elsewhere=given, mask=None, groups=None)
    assert metrics.compute()["auc"] == 1


def test_measures_without_bounds_are_those_of_whole_scores():
    for measure in (qk.average_hit_rate, partial(qk.pr_auc, max_recall=0.5)):
        for right in (HALF, {"state": "buffer"}):
            assert RankingMetric(measure, **right).measures is measure
    with pytest.raises(ValueError, match="quotas"):  # in words of torchmetrics
        RankingMetric(qk.hit_rate, quotas=2)


def test_states_of_other_settings_are_neither_loaded_nor_merged():
    coarse = {**COARSE, "bits": 12}
    other = RankingMetric(qk.roc_auc, **coarse)
    other.persistent(True)
    state = other.state_dict()
    for options, message in (
        ({"bits": 13}, "bits is 13 here and 12 there"),
        ({"dtype": torch.float64}, "dtype is 'torch.float64' here and 'torch.float32'"),
        ({"pos_label": 2}, "pos_label is 2 here and None there"),
    ):
        metric = RankingMetric(qk.roc_auc, **(coarse | options))
        with pytest.raises(RuntimeError, match=message):
            metric.load_state_dict(state)
        assert metric.counts.shape[0] == 2 ** options.get("bits", 12)
        with pytest.raises(ValueError, match=f"^the states of the metrics do not fit: .*{message}"):
            metric.merge_state(other)
    paid = RankingMetric(qk.roc_auc, columns=["cost"], **coarse)
    paid.persistent(True)
    with pytest.raises(RuntimeError, match=r"columns is \[\] here and \['cost'\] there"):
        other.load_state_dict(paid.state_dict())
    with pytest.raises(ValueError, match="Expected incoming state"):
        metric.merge_state(torchmetrics.SumMetric())
    buffer = RankingMetric(qk.roc_auc)
    buffer.persistent(True)
    with pytest.raises(RuntimeError, match=r"Missing key.*\"scores\", \"targets\""):
        buffer.load_state_dict({})
    with pytest.raises(RuntimeError, match=r"Missing key.*\"settings\""):
        other.load_state_dict({"counts": state["counts"]})


def test_checkpoints_from_before_the_metric_still_load():
    """A metric that is added to a module adds no keys, unless its states are made persistent."""
    old = torch.nn.ModuleDict({"linear": torch.nn.Linear(1, 1)}).state_dict()
    new = torch.nn.ModuleDict({"linear": torch.nn.Linear(1, 1)})
    new["metric"] = RankingMetric(qk.roc_auc)
    new["metric"].update(SCORES, LABELS)
    assert new.state_dict().keys() == old.keys()
    new.load_state_dict(old)
    assert new["metric"].compute() == 0


# collections


def test_collections_share_states_and_stand_beside_metrics_of_torchmetrics():
    given = columns("costs of groups")
    given["preds"] = torch.sigmoid(given["preds"] / 9)
    given["indexes"] = given["indexes"].long()
    grouped: dict[str, Any] = {"groups": "mean", "columns": ["cost"]}
    ours = {
        "hits": RankingMetric(PAID["hits"], groups="mean"),
        "auc": RankingMetric(qk.roc_auc, **grouped),
        "each": RankingMetric(qk.roc_auc, groups="each", columns=["cost"]),
        "rank": RankingMetric(qk.retrieval.reciprocal_rank, **grouped),
    }
    theirs = {"mrr": torchmetrics.retrieval.RetrievalMRR(empty_target_action="neg")}
    rates = torchmetrics.classification.BinaryGroupStatRates(num_groups=2)
    metrics = torchmetrics.MetricCollection({**ours, **theirs, "rates": rates}, prefix="val/")
    for k in range(0, N, 120):
        part = {name: x[k : k + 120] for name, x in given.items()}
        metrics.update(**part, groups=part["target"])
    found = metrics.clone(prefix="test/").compute()
    shared = sorted(map(sorted, metrics.compute_groups.values()))
    assert shared == [["auc", "each", "hits", "rank"], ["mrr"], ["rates"]]
    assert found["test/auc"] == found["test/each"].nanmean()
    torch.testing.assert_close(found["test/rank"].float(), found["test/mrr"])
    metrics.reset()
    now = metrics(**part, groups=part["target"])
    of_part = {"groups": part["indexes"], "cost": part["cost"]}
    ranking = qk.rank(part["target"], part["preds"], **of_part)
    assert now["val/hits"] == qk.group_mean(PAID["hits"], ranking).value


def test_states_that_are_equal_by_chance_are_not_shared():
    """As many of either label, of one score: only the settings differ."""
    metrics = {str(x): RankingMetric(TWO["hits"], pos_label=x) for x in (0, 1)}
    together = torchmetrics.MetricCollection(metrics)
    together.update(torch.zeros(200), torch.arange(200) % 2)
    assert len(together.compute_groups) == 2


@pytest.mark.parametrize("values", [lambda metric: None, lambda metric: [metric.compute()] * 3])
def test_plots(values: Callable[[RankingMetric], Any]):
    if lacking := missing("matplotlib"):
        pytest.skip(lacking)
    import matplotlib.pyplot as plt

    metric = filled("buffer", batches("buffer"))
    figure, axes = metric.plot(values(metric))
    assert {x.get_label() for x in axes.lines} == {"auc", "hits"}
    plt.close(figure)
