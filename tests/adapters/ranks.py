"""What each rank does in `test_torch_distributed`: all cases, one after the other.

``python ranks.py RANK FOLDER`` writes what happened to FOLDER/RANK.json.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

import quotakernels
from quotakernels import hit_rate, impact_at_quota, qrecall, rank, roc_auc
from quotakernels.adapters.torch_distributed import reduced
from quotakernels.states import ScoreBuffer, ScoreHistogram
from quotakernels.uplift import uplift_at_quota

SIZE = 3
N = 3001
SHARDS = (0, 1900, N)  # the first rank has no examples
PATIENCE = 60
"""Seconds after which what hangs has failed."""
MEASURES = {"hits": partial(hit_rate, quota=200), "found": partial(qrecall, quota=50.5)}
MEASURES |= {"auc": roc_auc}


def data(dtype: Any = torch.float32) -> tuple[Any, Any, Any, Any]:
    """Labels, scores, weights and a mask, the same on every rank."""
    draw = torch.Generator().manual_seed(11)
    scores = torch.randn(N, generator=draw)
    labels = (torch.rand(N, generator=draw) < torch.sigmoid(scores)).long()
    weights = torch.rand(N, generator=draw, dtype=torch.float64)
    return labels, scores.to(dtype), weights, torch.rand(N, generator=draw) < 0.9


def shard() -> list[slice]:
    """Batches of this rank, of uneven lengths."""
    own = dist.get_rank()
    start, end = (0, *SHARDS)[own], SHARDS[own]
    return [slice(i, min(i + 170, end)) for i in range(start, end, 170)]


def filled(state: Any, columns: tuple[Any, ...], batches: list[slice] | None = None) -> Any:
    for part in shard() if batches is None else batches:
        labels, scores, weights, mask = (None if x is None else x[part] for x in columns)
        state = state.update(labels, scores, sample_weight=weights, where=mask)
    return state


def same_on_all(*tensors: Any) -> None:
    text = hashlib.sha256(b"".join(x.contiguous().numpy().tobytes() for x in tensors)).hexdigest()
    found: list[Any] = [None] * SIZE
    dist.all_gather_object(found, text)
    assert len(set(found)) == 1, found


def equal(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found == wanted, (found, wanted)


def told(call: Callable[[], Any]) -> list[Any]:
    """The type of the error and its message."""
    try:
        return ["nothing", str(call())]
    except Exception as error:
        return [type(error).__name__, str(error)]


# reductions


def exact_histogram() -> None:
    labels, scores, _, mask = data(torch.bfloat16)
    whole = reduced(filled(ScoreHistogram.empty(scores), (labels, scores, None, mask)))
    assert whole.exact
    assert torch.equal(whole.counts, ScoreHistogram.of(labels, scores, where=mask).counts)
    equal(whole.compute(MEASURES), rank_all(labels, scores, where=mask))


def rank_all(labels: Any, scores: Any, **columns: Any) -> dict[str, Any]:
    ranking = rank(labels, scores, **columns)
    return {name: measure(ranking) for name, measure in MEASURES.items()}


def histogram_in_bounds() -> None:
    labels, scores, _, _ = data()
    whole = reduced(filled(ScoreHistogram.empty(scores, bits=12), (labels, scores, None, None)))
    wanted = rank_all(labels, scores)
    for name, (lower, upper) in whole.compute(MEASURES).items():
        assert lower <= wanted[name] <= upper, name
        assert lower < upper, name


def histogram_of_models() -> None:
    """With batch axes, and bad values that were not read on one rank only."""
    labels, scores, _, _ = data()
    state = ScoreHistogram.empty(scores.expand(2, -1), bits=8)
    if dist.get_rank() == 1:
        both = torch.stack([scores, scores])
        both[1, 3] = torch.nan
        state = state.update(labels, both, validate=False)
    whole = reduced(state)
    assert whole.bad.tolist() == [0, 1]
    assert int(whole.counts[0].sum()) == N
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        lower, upper = whole.compute(roc_auc)
    assert [str(x.message)[:36] for x in told] == ["the measures of 1 of 2 lists of this"]
    assert lower[0] <= roc_auc(labels, scores) <= upper[0]
    assert torch.isnan(lower[1])


def weighted_histogram() -> None:
    labels, scores, weights, _ = data(torch.float16)
    state = ScoreHistogram.empty(scores, weighted=True, bits=9)
    whole = reduced(filled(state, (labels, scores, weights, None)))
    found = whole.columns["weight"].sum(-1)
    single = ScoreHistogram.of(labels, scores, sample_weight=weights, bits=9)
    wanted = single.columns["weight"].sum(-1)
    assert bool(torch.all((found - wanted).abs() <= 4 * 2.0**-53 * wanted))
    same_on_all(*whole[:3], *whole.columns.values())


def counts_beyond_the_integers() -> None:
    state = ScoreHistogram.empty(torch.empty(0), bits=1)
    state = state._replace(counts=state.counts + 2**62)
    assert int(reduced(state).bad) == SIZE


def buffers() -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.int16, torch.bool):
        labels, scores, weights, mask = data(dtype)
        whole = reduced(filled(ScoreBuffer.empty(scores), (labels, scores, weights, mask)))
        equal(whole.compute(MEASURES), rank_all(labels, scores, sample_weight=weights, where=mask))
        assert len(whole.pieces) == 2


def buffer_columns_of_one_rank() -> None:
    """Weights and masks that the others do not have."""
    labels, scores, weights, mask = data()
    state = ScoreBuffer.empty(scores)
    if dist.get_rank() == 1:
        state = state.update(labels, scores, sample_weight=weights, where=mask)
    elif dist.get_rank() == 2:
        state = state.update(labels[:9], scores[:9])
    examples = reduced(state).examples()
    assert torch.equal(examples.weights, torch.cat([weights, torch.ones(9, dtype=torch.float64)]))
    assert torch.equal(examples.valid, torch.cat([mask, torch.ones(9, dtype=torch.bool)]))
    assert torch.equal(examples.scores, torch.cat([scores, scores[:9]]))


def buffers_with_gains() -> None:
    """Gains of the rejected on one rank only; there they are 0 elsewhere."""
    labels, scores, weights, mask = data()
    gain, rejected = torch.sin(scores).double(), torch.cos(scores).double()
    state = ScoreBuffer.empty(scores)
    for part in shard():
        last = {"gain_rejected": rejected[part]} if dist.get_rank() == 2 else {}
        beside = {"sample_weight": weights[part], "where": mask[part]}
        state = state.update(labels[part], scores[part], gain=gain[part], **beside, **last)
    whole = reduced(state)
    others = torch.where(torch.arange(N) < SHARDS[1], torch.zeros_like(rejected), rejected)
    given = {"gain": gain, "gain_rejected": others, "sample_weight": weights, "where": mask}
    for found, wanted in zip(
        whole.compute(impact_at_quota, quota=200),
        impact_at_quota(None, scores, quota=200, **given),
        strict=True,
    ):
        assert found == wanted
    same_on_all(*whole.examples().named().values())
    if dist.get_rank() == 1:
        state = ScoreBuffer.empty(scores).update(labels, scores)
    message = "some ranks have gain= and some have none; give it with all"
    refused(message, lambda: reduced(state))


def buffers_with_groups_and_costs() -> None:
    """Ids of other types on each rank, and treatments, as of all examples at once."""
    labels, scores, _, _ = data()
    ids = (scores.abs() * 3).long()
    given = {"cost": scores.abs().double(), "treatment": (scores.exp() > 1).long()}
    types = (torch.int32, torch.int16, torch.int64)
    for size, own in ((None, types[dist.get_rank()]), (int(ids.max()) + 2, torch.int64)):
        state = ScoreBuffer.empty(scores, num_groups=size)
        for part in shard():
            columns = {name: x[part] for name, x in given.items()}
            state = state.update(labels[part], scores[part], groups=ids[part].to(own), **columns)
        whole = reduced(state)
        wanted = rank(labels, scores, groups=ids, num_groups=size, **given)
        for found, same in zip(whole.ranking().groups[:3], wanted.groups[:3], strict=True):
            assert torch.equal(found, same)
        for measure in (roc_auc, partial(qrecall, budget=2), partial(uplift_at_quota, quota=40)):
            found, same = whole.compute(measure), measure(wanted)
            assert torch.equal(found.nan_to_num(-1), same.nan_to_num(-1))
    state = ScoreBuffer.empty(scores)
    ids = ids if dist.get_rank() == 1 else None
    state = state.update(labels, scores, groups=ids, **given)
    refused("some ranks have groups= and some have none", lambda: reduced(state))
    sized = ScoreHistogram.empty(scores, bits=4, num_groups=2 + dist.get_rank())
    refused("num_groups: 2 on rank 0, 3 on rank 1, 4 on rank 2", lambda: reduced(sized))


def no_data_at_all() -> None:
    like = torch.empty(0, dtype=torch.float16)
    for state in (ScoreBuffer.empty(like), ScoreHistogram.empty(like)):
        assert torch.isnan(reduced(state).compute(roc_auc))


def some_ranks_only() -> None:
    group = dist.new_group([1, 2])
    labels, scores, _, _ = data()
    state = filled(ScoreBuffer.empty(scores), (labels, scores, None, None))
    if dist.get_rank() == 0:
        refused("rank 0 is not in the group", lambda: reduced(state, group))
        return
    assert reduced(state, group).compute(roc_auc) == roc_auc(labels, scores)
    state = ScoreBuffer.empty(scores[:, None][:, :0] if dist.get_rank() == 2 else scores)
    refused(r"batch axes: [] on rank 1, [3001] on rank 2", lambda: reduced(state, group))


def refused(message: str, call: Callable[[], Any]) -> None:
    kind, found = told(call)
    assert kind == "ValueError", (kind, found)
    assert message in found, found


def misfits() -> None:
    """On every rank the same message; what fits is reduced afterwards."""
    own, single = dist.get_rank(), torch.zeros(1)
    one = single if own == 1 else single.bfloat16()
    message = 'type of scores: "torch.bfloat16" on ranks 0, 2, "torch.float32" on rank 1'
    refused(message, lambda: reduced(ScoreHistogram.empty(one, bits=16)))
    refused(message, lambda: reduced(ScoreBuffer.empty(one)))
    coarse = ScoreHistogram.empty(single, bits=9 + own)
    refused("bits: 9 on rank 0, 10 on rank 1, 11 on rank 2", lambda: reduced(coarse))
    weighted = ScoreHistogram.empty(single, weighted=own == 0)
    refused("weighted: true on rank 0, false on ranks 1, 2", lambda: reduced(weighted))
    kind: Any = ScoreBuffer if own == 2 else ScoreHistogram
    message = 'state: "ScoreHistogram" on ranks 0, 1, "ScoreBuffer" on rank 2'
    refused(message, lambda: reduced(kind.empty(single)))
    version = quotakernels.__version__
    quotakernels.__version__ = "of rank 1" if own == 1 else version
    refused('"of rank 1" on rank 1', lambda: reduced(ScoreBuffer.empty(single)))
    quotakernels.__version__ = version
    exact_histogram()


def faults_of_one_rank() -> None:
    """The rank raises its own error, and the others that they do not have such a state."""
    state = ScoreBuffer.empty(torch.zeros(1))
    faults: list[tuple[Any, str, str]] = [
        ([1, 0], "state must be a ScoreHistogram or", '"list"'),
        (ScoreBuffer.empty([0.5]), "hold tensors; got ndarray", '"ScoreBuffer of ndarray"'),
        (None, "state must be a ScoreHistogram", '"NoneType"'),
    ]
    for unfit, message, name in faults:
        if dist.get_rank() == 0:
            found = told(partial(reduced, unfit))
            assert found[0] == "TypeError", found
            assert message in found[1], found
        else:
            refused(f'state: {name} on rank 0, "ScoreBuffer" on ranks 1, 2', lambda: reduced(state))
    kind, found = told(lambda: reduced([1, 0]))
    assert kind == "TypeError", found


# metrics


def metrics() -> None:
    """By the reductions of torchmetrics, and once more after more data."""
    from quotakernels.adapters.torchmetrics import RankingMetric

    for dtype, kind, bits in (
        (torch.bfloat16, "histogram", None),
        (torch.bfloat16, "buffer", None),
        (torch.float64, "buffer", None),
        (None, "buffer", None),  # which the rank without examples learns
    ):
        labels, scores, weights, mask = data(dtype or torch.float16)
        weights = weights * 0 + 0.5  # sums without rounding
        for weight in (None, weights):
            metric = RankingMetric(
                MEASURES, state=kind, dtype=dtype, bits=bits, weighted=weight is not None
            )
            for part in shard():
                weight_of_part = None if weight is None else weight[part]
                metric.update(scores[part], labels[part], weight_of_part, mask[part])
            with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a rank without data
                found = metric.compute()
            equal(found, rank_all(labels, scores, sample_weight=weight, where=mask))
            metric.update(scores[:5], labels[:5], None if weight is None else weight[:5])
            assert int(metric.compute()["auc"].isnan()) == 0


def metrics_that_do_not_fit() -> None:
    from quotakernels.adapters.torchmetrics import RankingMetric

    scores, labels = torch.tensor([0.5, 0.2]), torch.tensor([1, 0])
    own = dist.get_rank()
    metric = RankingMetric(roc_auc, state="histogram", bits=8 + (own == 1))
    metric.update(scores, labels)
    refused("bits: 8 on ranks 0, 2, 9 on rank 1", metric.compute)
    metric = RankingMetric(roc_auc)
    metric.update(scores.half() if own == 2 else scores, labels)
    refused('dtype: "float32" on ranks 0, 1, "float16" on rank 2', metric.compute)


CASES = [
    exact_histogram,
    histogram_in_bounds,
    histogram_of_models,
    weighted_histogram,
    counts_beyond_the_integers,
    buffers,
    buffer_columns_of_one_rank,
    buffers_with_gains,
    buffers_with_groups_and_costs,
    no_data_at_all,
    some_ranks_only,
    misfits,
    faults_of_one_rank,
]
METRIC_CASES = [metrics, metrics_that_do_not_fit]


def store_of(own: int, folder: Path) -> Any:
    """Of the first rank, on a port that is free."""
    note, limit = folder / "port", timedelta(seconds=PATIENCE)
    if own == 0:
        store = dist.TCPStore("127.0.0.1", 0, SIZE, True, limit, wait_for_workers=False)
        note.with_suffix(".new").write_text(str(store.port))
        note.with_suffix(".new").replace(note)
        return store
    while not note.exists():
        time.sleep(0.01)
    return dist.TCPStore("127.0.0.1", int(note.read_text()), SIZE, False, limit)


def main(own: int, folder: Path) -> None:
    found: dict[str, Any] = {}

    def write(name: str, value: Any) -> None:
        found[name] = value
        (folder / f"{own}.json").write_text(json.dumps(found))

    with_metrics = "torchmetrics" in sys.argv
    limit = timedelta(seconds=PATIENCE)
    store = store_of(own, folder)
    dist.init_process_group("gloo", store=store, rank=own, world_size=SIZE, timeout=limit)
    for case in CASES + (METRIC_CASES if with_metrics else []):
        start = time.monotonic()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                case()
            write(case.__name__, "ok")
        except Exception:
            write(case.__name__, traceback.format_exc())
        print(case.__name__, round(time.monotonic() - start, 2))
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # the groups need not be taken down in order


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]), Path(sys.argv[2]))
