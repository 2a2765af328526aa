"""A new quota, fraction, cost or threshold is a new value, not a new program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import in_full

import quotakernels as qk

jax = pytest.importorskip("jax")

Y = np.asarray([1, 0, 1, 1, 0, 0, 1])
S = np.asarray([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3], dtype=np.float32)


def traces_of(function: Any, *calls: tuple[Any, ...]) -> int:
    """How often `jit` traces a function for these calls."""
    count = 0

    def counted(*arrays: Any) -> Any:
        nonlocal count
        count += 1
        return function(*arrays)

    jitted = jax.jit(counted)
    for arrays in calls:
        jitted(*(jax.numpy.asarray(x) for x in arrays))
    return count


BY_NUMBER = {
    "quota": lambda y, s, q: qk.hit_rate(y, s, quota=q),
    "fraction": lambda y, s, q: qk.lift(y, s, fraction=q / 8),
    "quotas": lambda y, s, q: qk.qrecall(y, s, quota=[q, q - 1]),
    "threshold": lambda y, s, q: qk.accuracy(y, s, threshold=q / 8),
    "cost": lambda y, s, q: qk.expected_cost(y, s, quota=2, cost_fp=q, cost_fn=1.0),
}
IN_A_TRACE = {name: BY_NUMBER[name] for name in ("quota", "fraction", "threshold")} | {
    "cost": lambda y, s, q: qk.best_operating_point(y, s, cost_fp=q, cost_fn=1),
    "select": lambda y, s, q: qk.select(s, quota=q),
}


@pytest.mark.parametrize("name", ["quota", *map(in_full, sorted(IN_A_TRACE.keys() - {"quota"}))])
def test_values_in_a_trace(name: str):
    calls = [(Y, S, np.float32(q)) for q in (1, 2.5, 6, 99)]
    assert traces_of(IN_A_TRACE[name], *calls) == 1


def test_traces_are_counted():
    assert traces_of(lambda x: x + 1, (S,), (S[:3],), (S,)) == 2


NUMBERS = (1, 2, 3, 4.5)
SHARES = (0.75, 0.25, 0.5)
LISTS = ([1, 2], [3.5, 7], np.asarray([2, 5]))
EAGER: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "quota": (qk.hit_rate, [{"quota": x} for x in NUMBERS] + [{"fraction": 0.25}]),
    "quotas": (qk.hit_rate, [{"quota": x} for x in LISTS]),
    "fraction": (qk.qrecall, [{"fraction": x} for x in SHARES]),
    "quota of a table": (qk.f_score, [{"quota": x} for x in NUMBERS]),
    "threshold": (qk.precision, [{"threshold": x} for x in NUMBERS]),
}


@pytest.mark.parametrize("name", EAGER)
def test_values_of_eager_calls(name: str, caplog: pytest.LogCaptureFixture):
    """JAX compiles nothing for the second value: not the measure, and nothing around it."""
    measure, (first, *others) = EAGER[name]
    labels, scores = jax.numpy.asarray(Y), jax.numpy.asarray(S)
    measure(labels, scores, **first)
    with jax.log_compiles(True), caplog.at_level("WARNING"):
        for keywords in others:
            measure(labels, scores, **keywords)
    assert [x for x in caplog.messages if x.startswith("Compiling")] == []


def test_several_thresholds_make_one_graph_each_without_a_break():
    """From the second one on torch.compile takes a number for any."""
    torch = pytest.importorskip("torch")
    y, s = torch.tensor([1, 0, 1, 0]), torch.tensor([3.0, 2.0, 1.0, 0.0])
    torch._dynamo.reset()
    program = torch.compile(
        lambda t: qk.precision(y, s, threshold=t), fullgraph=True, backend="eager"
    )
    for threshold in (1.5, 2.5, 0.1, -3.0, 9.0):
        exact = qk.precision(y, s, threshold=threshold)
        torch.testing.assert_close(program(threshold), exact, equal_nan=True, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["quota", *map(in_full, sorted(BY_NUMBER.keys() - {"quota"}))])
def test_plain_numbers_in_torch_compile(name: str):
    """The second number makes a program for all others, but those beyond the middle of the list
    and near a whole one.
    """
    torch = pytest.importorskip("torch")
    labels, scores, programs = torch.from_numpy(Y), torch.from_numpy(S), []

    def kept(graph: Any, _: Any) -> Any:
        programs.append(graph)
        return graph

    torch._dynamo.reset()
    function = torch.compile(BY_NUMBER[name], backend=kept, fullgraph=True)
    for number in (1, 2, 3, 4, 5, 6, 7):
        found = function(labels, scores, number)
        assert torch.equal(found, BY_NUMBER[name](labels, scores, number))
    assert len(programs) <= 4
