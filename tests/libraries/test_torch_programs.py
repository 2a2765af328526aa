"""PyTorch: one graph for all lengths, exported programs, traces, shards, empty batches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends import in_full, in_turns, missing
from capabilities import BY_DOUBLING, WITHOUT, arguments, functions, parameters

import quotakernels as qk

if lacking := missing("torch"):
    pytest.skip(lacking, allow_module_level=True)

import torch
from torch.utils._pytree import tree_leaves

LENGTHS = (8, 9, 13, 40)
FEW = ("rank", "roc_auc", "summary", "hit_rate")
OF_SCORES = [
    name
    for name in functions()
    if "torch.compile" not in WITHOUT.get(name, ()) and "y_score" in parameters(name)
]
MORE = {name: {"num_groups": 2} for name in ("entities", "group_mean", "selection_by_group")}


def leaves(found: Any) -> list[Any]:
    """The arrays of a result, however deep."""
    return [x for x in tree_leaves(found) if hasattr(x, "shape")]


def of_length(x: Any, length: int) -> Any:
    """A column of eight examples again and again, as a tensor; others as they are."""
    if np.shape(x)[-1:] != (8,):
        return x
    return torch.from_numpy(np.resize(np.asarray(x), length))


def call(name: str, length: int) -> tuple[Any, list[Any]]:
    """A function of the columns alone, and these, of so many examples."""
    positional, named = arguments(name)
    named |= MORE.get(name, {})
    given = {**dict(enumerate(positional)), **named}
    columns = {k: x for k, x in given.items() if np.shape(x)[-1:] == (8,)}

    def function(*tensors: Any) -> Any:
        all_given = {**given, **dict(zip(columns, tensors, strict=True))}
        by_place = [all_given[k] for k in range(len(positional))]
        return functions()[name](*by_place, **{k: all_given[k] for k in named})

    return function, [of_length(x, length) for x in columns.values()]


@pytest.mark.parametrize("name", in_turns(OF_SCORES, FEW))
def test_one_graph_serves_all_lengths(name: str):
    """What a function returns is that of an eager call, records too."""
    torch._dynamo.reset()
    graphs = []

    def kept(graph: Any, _: Any) -> Any:
        graphs.append(graph)
        return graph

    function, _ = call(name, 8)
    program = torch.compile(function, fullgraph=True, dynamic=True, backend=kept)
    for length in LENGTHS:
        columns = call(name, length)[1]
        found, exact = program(*columns), function(*columns)
        assert type(found) is type(exact)
        for x, y in zip(leaves(found), leaves(exact), strict=True):
            if x.shape == y.shape:  # and no padded table beside a compact one
                torch.testing.assert_close(x, y, rtol=1e-12, atol=1e-13, equal_nan=True)
    assert len(graphs) <= (3 if name in BY_DOUBLING else 1)


EXPORTED: dict[str, dict[str, Any]] = {
    "roc_auc": {},
    "summary": {},
    "average_hit_rate": {},
    "hit_rate": {"quota": 2},
    "lift_table": {"bins": 2},
    "accuracy": {"threshold": 0.5},
}


class Measuring(torch.nn.Module):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, y_true: Any, y_score: Any) -> Any:
        return functions()[self.name](y_true, y_score, **EXPORTED[self.name])


@pytest.mark.parametrize("name", ["roc_auc", *map(in_full, sorted(EXPORTED.keys() - {"roc_auc"}))])
def test_an_exported_program_takes_other_lengths(name: str):
    """As docs/backends/pytorch.md says."""
    number = torch.export.Dim("number", min=4, max=2**30 - 1)
    model, shapes = Measuring(name), ({0: number}, {0: number})
    program = torch.export.export(model, tuple(columns(16)), dynamic_shapes=shapes).module()
    for length in (5, 40):
        for x, y in zip(
            leaves(program(*columns(length))), leaves(model(*columns(length))), strict=True
        ):
            torch.testing.assert_close(x, y, rtol=1e-12, atol=1e-13, equal_nan=True)


def columns(length: int) -> list[Any]:
    return call("roc_auc", length)[1]


TRACED = {
    "roc_auc": lambda y, s: qk.roc_auc(y, s),
    "select": lambda y, s: qk.select(s, quota=2),
    "threshold": lambda y, s: qk.accuracy(y, s, threshold=0.5),
    "histogram": lambda y, s: qk.states.ScoreHistogram.empty(like=s).update(y, s).counts,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TRACED)
def test_a_trace_that_keeps_values_is_refused(name: str):
    with pytest.raises(TypeError, match=r"torch\.jit\.trace would return this result"):
        torch.jit.trace(TRACED[name], tuple(columns(8)))


@pytest.fixture
def shards(tmp_path: Path) -> Iterator[Any]:
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    store = f"file://{tmp_path / 'store'}"
    dist.init_process_group("gloo", init_method=store, rank=0, world_size=1)
    mesh = init_device_mesh("cpu", (1,))
    yield lambda x: distribute_tensor(x, mesh, [Shard(0)])
    dist.destroy_process_group()


@pytest.mark.skipif(not torch.distributed.is_available(), reason="PyTorch without processes")
def test_distributed_tensors_are_refused(shards: Any):
    y, s = columns(8)
    for name, given in {"y_true": {"y_true": shards(y)}, "y_score": {"y_score": shards(s)}}.items():
        own = {"y_true": y, "y_score": s, **given}
        for function in (qk.rank, qk.roc_auc):
            with pytest.raises(TypeError, match=rf"^{name} is a DTensor; pass {name}\.full_tensor"):
                function(own["y_true"], own["y_score"])
    with pytest.raises(TypeError, match=r"^y_score is a DTensor"):
        qk.select(shards(s), quota=2)
    for name, x in {"sample_weight": s, "where": s > 0.2, "groups": y}.items():
        with pytest.raises(TypeError, match=rf"^{name} is a DTensor; pass {name}\.full_tensor"):
            qk.roc_auc(y, s, **{name: shards(x)})
    one = torch.ones(1)
    for name in ("quota", "fraction", "threshold"):
        with pytest.raises(TypeError, match=rf"^{name} is a DTensor; pass {name}\.full_tensor"):
            qk.recall(y, s, **{name: shards(one)})
    for function, name in ((qk.roc_auc, "num_groups"), (qk.lift_table, "bins")):
        given = {"groups": y} if name == "num_groups" else {}
        with pytest.raises(TypeError, match=rf"^{name} is a DTensor; pass {name}\.full_tensor"):
            function(y, s, **given, **{name: shards(one.long())})


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_batch_of_no_models(device: str):
    y, s = np.zeros((0, 5), dtype=np.int64), np.zeros((0, 5), dtype=np.float32)
    for name in ("rank", "roc_auc", "summary", "average_hit_rate", "average_qrecall", "roc_hull"):
        function = functions()[name]
        found = function(*(torch.from_numpy(x).to(device) for x in (y, s)))
        wanted = [x.shape for x in leaves(function(y, s))]
        assert [tuple(x.shape) for x in leaves(found)] == wanted, name


class Sums(torch.utils._python_dispatch.TorchDispatchMode):
    """Counts what has no deterministic form on CUDA: running sums of floats, and what PyTorch's
    `use_deterministic_algorithms` lists as raising.
    """

    REFUSED = ("bincount", "histc", "kthvalue", "median", "nanmedian", "cumsum", "put_")

    def __init__(self) -> None:
        super().__init__()
        self.found = 0

    def __torch_dispatch__(self, operation: Any, types: Any, given: Any = (), named: Any = None):
        found = operation(*given, **(named or {}))
        refused = operation.overloadpacket.__name__ in self.REFUSED
        self.found += refused and not (isinstance(found, torch.Tensor) and _is_whole(found))
        return found


def _is_whole(x: Any) -> bool:
    return not x.is_floating_point()


OF_FLOATS = ("normalized_marks", "pearson", "pearson_curve")
"""Pearson's correlation sums scores."""
OF_AMOUNTS = tuple(
    name
    for name in OF_SCORES
    if not arguments(name)[1].keys().isdisjoint({"gain", "cost", "treatment"})
)


@pytest.mark.parametrize("name", OF_SCORES)
def test_whole_numbers_are_summed_as_integers(name: str):
    """So that these run under `torch.use_deterministic_algorithms`, as the page says."""
    function, columns = call(name, 24)
    with Sums() as sums:
        function(*(x.to("meta") for x in columns))
    assert (sums.found > 0) <= (name in (*OF_FLOATS, *OF_AMOUNTS)), sums.found
