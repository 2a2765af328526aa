"""One quota of scores that lie on many shards: equal to that of one ranking of all of them."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends import any_quota, available
from capabilities import NUMBERS
from public_names import MEASURES, PUBLIC
from sharded import POLICIES, assert_same, in_threads, scores_of

import quotakernels as qk

TESTS = Path(__file__).parents[1]
Y, S = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
DTYPES = ("float16", "float32", "float64", "int8", "uint16", "int64", "uint64", "bool")


@any_quota
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ties", POLICIES)
def test_shards_of_any_sizes(dtype: str, ties: qk.ranking.TiePolicy):
    rng = np.random.default_rng(11)
    check_three_shards(dtype, ties, (), rng)
    check_three_shards(dtype, ties, (2,), rng)


def check_three_shards(dtype: str, ties: Any, batch: Any, rng: np.random.Generator) -> None:
    """Of random sizes, also 0; a batch has a mask."""
    size = int(rng.integers(1, 30))
    bounds = [0, *sorted(rng.integers(0, size + 1, 2)), size]
    y, mask = rng.random(size) < 0.5, rng.random((2, size)) < 0.8 if batch else None
    scores = scores_of(dtype, (*batch, size), rng)
    quota = float(rng.uniform(0, size if mask is None else mask.sum(-1).min()))

    def on_shard(k: int, across: Any) -> Any:
        own = slice(bounds[k], bounds[k + 1])
        keep = None if mask is None else mask[:, own]
        given: Any = {"quota": quota, "where": keep, "ties": ties, "across": across}
        return qk.rank_at_quota(y[own], scores[..., own], **given)

    wanted = qk.rank(y, scores, where=mask, ties=ties)
    end = qk.quota_threshold(scores, where=mask, quota=quota).threshold
    for found in in_threads(3, on_shard):
        assert_same(found, wanted, quota, (ties, batch, bounds))
        np.testing.assert_array_equal(found.threshold, end)


@pytest.mark.parametrize(
    ("dtype", "calls"), [("float16", 19), ("float32", 35), ("float64", 67), ("bool", 11)]
)
def test_number_of_sums(dtype: str, calls: int):
    shapes = []

    def across(x: Any) -> Any:
        assert x.dtype == np.int64
        shapes.append(x.shape)
        return x

    qk.rank_at_quota(Y, np.asarray(S).astype(dtype), quota=2, across=across)
    assert (len(shapes), max(shapes)) == (calls, (6,))


def test_bad_values_make_all_shards_undefined():
    labels = [[1, 0, 0], [1, 2, 0]]  # the second shard's has a bad one

    def on_shard(k: int, across: Any, **own: Any) -> Any:
        return qk.rank_at_quota(labels[k], [3.0, 2.0, 1.0], quota=2, across=across, **own)

    rates = [qk.hit_rate(x) for x in in_threads(2, on_shard)]
    assert np.isnan(rates).all()
    mask = [True, False, True]
    found = in_threads(2, lambda k, across: on_shard(k, across, where=mask))
    assert [qk.hit_rate(x) for x in found] == [1, 1]
    found = in_threads(2, lambda k, across: on_shard(k, across, where=[k == 0] * 3))
    assert [qk.hit_rate(x) for x in found] == [0.5, 0.5]


def test_a_quota_above_all_examples_is_an_error_on_every_shard():
    messages = []

    def on_shard(k: int, across: Any) -> None:
        with pytest.raises(ValueError, match=r"^quota is 7\.0; expected a number from 0 to 6\.0"):
            qk.rank_at_quota([1, 0, 0], [3.0, 2.0, 1.0], quota=7.0, across=across)
        messages.append(k)

    in_threads(2, on_shard)
    assert sorted(messages) == [0, 1]


def test_shards_of_different_types_are_an_error_on_every_shard():
    def on_shard(k: int, across: Any) -> None:
        scores = np.asarray([3, 2, 1], dtype=("float32", "int32")[k])
        with pytest.raises(TypeError, match="another on other shards"):
            qk.rank_at_quota([1, 0, 0], scores, quota=2, across=across)

    in_threads(2, on_shard)


def test_bits_that_cannot_be_read():
    xs = pytest.importorskip("array_api_strict")
    with pytest.raises(TypeError, match=r"^y_score has dtype .*float64, whose bits"):
        qk.rank_at_quota(xs.asarray(Y), xs.asarray(S), quota=2, across=lambda x: x)
    assert qk.hit_rate(qk.rank_at_quota(xs.asarray(Y), xs.asarray(S), quota=2)) == 0.75


@pytest.mark.parametrize("name", MEASURES)
def test_measures_are_right_at_the_quota_or_need_the_whole_ranking(name: str):
    measure = PUBLIC[name]
    own = {x: value for x, value in NUMBERS.items() if x in inspect.signature(measure).parameters}
    at_quota = qk.rank_at_quota(Y, S, quota=2)
    if not measure.at_quota_only:
        with pytest.raises(TypeError, match=f"^{name} needs the whole ranking; rank_at_quota"):
            measure(at_quota, **own)
        return
    np.testing.assert_equal(measure(at_quota, **own), measure(qk.rank(Y, S), quota=2, **own))
    for other in ({"quota": 2}, {"fraction": 0.4}):
        with pytest.raises(TypeError, match="^(quota|fraction) cannot be combined with a RankingA"):
            measure(at_quota, **own, **other)


def run(name: str, *arguments: str, **env: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    return subprocess.Popen(
        [sys.executable, "-W", "error", str(TESTS / name), *arguments],
        env=os.environ | {"PYTHONPATH": path} | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.full
@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_eight_devices_of_jax():
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    output = run("sharded_jax.py", XLA_FLAGS=flags, JAX_PLATFORMS="cpu").communicate()[0]
    assert output.endswith("checked\n"), output


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
def test_three_processes_of_torch(tmp_path: Path):
    store = str(tmp_path / "store")
    started = [
        run("sharded_torch.py", str(k), store, GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1")
        for k in range(3)
    ]
    outputs = [process.communicate()[0] for process in started]
    assert all(output.endswith("checked\n") for output in outputs), "\n".join(outputs)
