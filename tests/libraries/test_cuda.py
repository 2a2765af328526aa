"""What only a CUDA device shows of PyTorch: graphs, compiled kernels, determinism, memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from backends import tree_leaves

import quotakernels as qk
from libraries.test_lazy import EVERY_CASE, folds
from libraries.test_transfers import has_cuda

pytestmark = pytest.mark.skipif(not has_cuda(), reason="PyTorch sees no CUDA device")
SIZE = 100_000

MEASURES: dict[str, Callable[[Any, Any], Any]] = {
    "roc_auc": qk.roc_auc,
    "average_hit_rate": qk.average_hit_rate,
    "average_qrecall": qk.average_qrecall,
    "summary": qk.summary,
    "hit_rate": lambda y, s: qk.hit_rate(y, s, quota=1000),
    "hit_rate at quotas": lambda y, s: qk.hit_rate(y, s, quota=[10, 1000]),
    "f_score": lambda y, s: qk.f_score(y, s, threshold=0.5),
    "pr_auc": qk.pr_auc,
    "lift_table": qk.lift_table,
    "roc_hull_auc": qk.roc_hull_auc,
    "weights": lambda y, s: qk.roc_auc(y, s, sample_weight=s),
    "groups": lambda y, s: qk.roc_auc(y, s, groups=y, num_groups=2),
    "mask": lambda y, s: qk.roc_auc(y, s, where=s > 0.1),
}
EACH = pytest.mark.parametrize("name", MEASURES)


def examples(seed: int) -> tuple[Any, Any]:
    """Labels and scores of which some are tied, on the device."""
    import torch

    draw = np.random.default_rng(seed)
    scores = np.round(draw.random(SIZE, dtype=np.float32), 5)
    labels = (draw.random(SIZE) < scores).astype(np.int64)
    return torch.from_numpy(labels).cuda(), torch.from_numpy(scores).cuda()


def check(found: Any, wanted: Any, rtol: float = 0) -> None:
    import torch

    for x, y in zip(tree_leaves(found), tree_leaves(wanted), strict=True):
        torch.testing.assert_close(x, y, rtol=rtol, atol=rtol, equal_nan=True)


@EACH
def test_a_captured_graph_measures_what_it_is_given(name: str):
    """Replayed with other examples in the same memory, it gives their values."""
    import torch

    measure = MEASURES[name]
    labels, scores = examples(0)
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        measure(labels, scores)  # what is made once is made outside of the graph
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = measure(labels, scores)
    for seed in (1, 2):
        others = examples(seed)
        labels.copy_(others[0])
        scores.copy_(others[1])
        graph.replay()
        check(found, measure(*others))


@EACH
def test_compiled_kernels_give_the_values_of_single_calls(name: str):
    import torch

    torch._dynamo.reset()
    compiled = torch.compile(MEASURES[name], fullgraph=True)
    check(compiled(*examples(0)), MEASURES[name](*examples(0)), rtol=1e-12)


@contextlib.contextmanager
def deterministic() -> Iterator[None]:
    import torch

    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@EVERY_CASE
def test_deterministic_algorithms_are_enough(function: Any, arrays: Any):
    import torch

    if function is folds:
        pytest.skip("the places of the folds are copied to the device")
    moved = [torch.as_tensor(np.array(x), device="cuda") for x in arrays]
    wanted = function(*moved)
    with deterministic():
        found = function(*moved)
    for name, value in found.items():
        torch.testing.assert_close(value, wanted[name], rtol=1e-12, atol=1e-12, equal_nan=True)


@EACH
def test_values_are_those_of_numpy(name: str):
    labels, scores = examples(3)
    here = tree_leaves(MEASURES[name](labels, scores))
    host = tree_leaves(MEASURES[name](labels.cpu().numpy(), scores.cpu().numpy()))
    for x, y in zip(here, host, strict=False):
        if x.numel() == np.size(y):  # tables of one list are compact on the host
            np.testing.assert_allclose(x.cpu().numpy().reshape(np.shape(y)), y, 1e-12, 1e-15)


@EACH
def test_a_second_call_allocates_no_more(name: str):
    """Nothing is kept of a call but its result."""
    import torch

    given = examples(0)
    measure = MEASURES[name]
    measure(*given)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    measure(*given)
    assert torch.cuda.memory_allocated() == before
