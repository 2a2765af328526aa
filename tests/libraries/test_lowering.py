"""Programs for hardware that is not here: every public function is lowered for each platform."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
from typing import Any

import numpy as np
import pytest
from backends import tree_map

import quotakernels as qk
from libraries.test_lazy import CASES, IDS, S, W, Y

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.full

FLOAT64 = re.compile(r"^.*[<x]f64>.*$", re.MULTILINE)
LEAVES_THE_DEVICE = re.compile(
    r"^.*(?:custom_call|stablehlo\.(?:send|recv|infeed|outfeed)\b).*$", re.MULTILINE
)
"""How calls of the host are written, and of anything else that is not a plain operation."""
NARROW = {"f": np.float32, "i": np.int32}


def tpu() -> Any:
    """Traces in this context are made for a TPU."""
    from jax.sharding import AbstractDevice, AbstractMesh, use_abstract_mesh

    kind: dict[str, Any] = {"device_kind": "TPU v5e", "num_cores": 1, "platform": "tpu"}
    known = {field.name for field in dataclasses.fields(AbstractDevice)}
    device = AbstractDevice(**{name: x for name, x in kind.items() if name in known})
    return use_abstract_mesh(AbstractMesh((), (), abstract_device=device))


def target(platform: str) -> Any:
    return tpu() if platform == "tpu" else contextlib.nullcontext()


@functools.cache
def jitted(function: Any) -> Any:
    """One object for all platforms, so that those of one kind share a trace."""
    return jax.jit(function)


def program(function: Any, arrays: Any, platform: str) -> str:
    """What is compiled on the platform, of inputs as JAX has them without x64."""
    shapes = [jax.ShapeDtypeStruct(x.shape, NARROW.get(x.dtype.kind, x.dtype)) for x in arrays]
    with target(platform):
        exported = jax.export.export(jitted(function), platforms=[platform])(*shapes)
    assert exported.platforms == (platform,)
    return exported.mlir_module()


def first_line(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[0].strip() if found else ""


@pytest.mark.parametrize("platform", ["cpu", "cuda", "rocm", "tpu"])
@pytest.mark.parametrize(("function", "arrays"), CASES, ids=IDS)
def test_every_function_is_lowered(platform: str, function: Any, arrays: Any):
    text = program(function, arrays, platform)
    assert first_line(LEAVES_THE_DEVICE, text) == ""
    if platform == "tpu":
        assert first_line(FLOAT64, text) == "", (
            "a plain bound of xp.clip? that of a library has none"
        )


def test_float64_is_found():
    """On other platforms measures are computed in it."""
    assert first_line(FLOAT64, program(qk.roc_auc, (Y, S), "cpu"))


def test_calls_of_the_host_are_found():
    def called(x: Any) -> Any:
        return jax.pure_callback(np.asarray, x, x)

    text = jax.jit(called).lower(np.ones(3, np.float32)).as_text()
    assert "callback" in first_line(LEAVES_THE_DEVICE, text)


@pytest.mark.parametrize("wide", [False, True])
def test_numpy_input_in_a_program_for_tpu(wide: bool):
    """Constants of the program are float32 too; so is everything where the caller has x64."""

    def mixed(scores: Any) -> Any:
        ranking = qk.rank(Y, scores, sample_weight=W)
        table = qk.confusion_table(ranking, threshold=np.asarray([0.5, 0.2]))
        return qk.lift(ranking, fraction=np.asarray([0.5, 1])), qk.accuracy(table)

    with jax.enable_x64(wide):
        assert first_line(FLOAT64, program(mixed, (S,), "tpu")) == ""


IN_FLOAT32 = [
    case
    for name, case in zip(IDS, CASES, strict=True)
    if name in ("one list", "points", "counted tables", "costs")
]


@pytest.mark.parametrize(("function", "arrays"), IN_FLOAT32)
def test_float32_is_enough(function: Any, arrays: Any):
    """The computations for a TPU, run here: the results are those in float64, to its precision.

    Scores that JAX rounds keep their order and their ties, so no cut moves.
    """
    wanted = function(*(np.stack([x, x]) for x in arrays))
    with jax.enable_x64(False), target("tpu"):
        found = jitted(function)(*(jax.numpy.asarray(x) for x in arrays))
    for name, value in tree_map(np.asarray, found).items():
        assert value.dtype != np.float64, name
        np.testing.assert_allclose(value, wanted[name][0], 1e-5, 2e-6, err_msg=name)


def test_rounding_of_float32_is_allowed_for():
    """0.07 of 100 examples is 7 in float32 as well, and a straight line has no vertices."""
    labels = np.arange(100) % 2
    scores = np.repeat(np.arange(50.0), 2)
    weights = np.repeat(np.linspace(0.1, 0.7, 50), 2) * np.where(labels, 1, 3)
    fractions = [k / 100 for k in range(1, 101)]

    def results(y: Any, s: Any, w: Any) -> Any:
        hull = qk.roc_hull(y, s, sample_weight=w)
        return qk.quota_threshold(2 * s + y, fraction=fractions).threshold, hull.fpr

    with jax.enable_x64(False), target("tpu"):
        ends, fpr = jax.jit(results)(*map(jax.numpy.asarray, (labels, scores, weights)))
    np.testing.assert_array_equal(ends, np.arange(99.0, -1, -1))
    assert set(np.asarray(fpr).round(6).tolist()) == {0, 1}
