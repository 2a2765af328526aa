"""Eight devices of JAX that are made of one CPU: run as a program, since JAX counts them once."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np
from backends import tree_map
from jax.sharding import Mesh, PartitionSpec
from sharded import assert_same, scores_of

import quotakernels as qk
from quotakernels.adapters.jax import roc_auc_across

MESH = Mesh(np.asarray(jax.devices()), ("data",))
SIZE = 64
TYPES = ("float32", "bfloat16", "uint32", "bool")


def across(x: Any) -> Any:
    return jax.lax.psum(x, "data")


def at_quota(y: Any, scores: Any, mask: Any, quota: Any) -> Any:
    """Rankings of several kinds of scores, and a measure within the same program."""
    given = {"where": mask, "across": across}
    found = {k: qk.rank_at_quota(y, s, quota=quota, **given) for k, s in scores.items()}
    share = qk.rank_at_quota(y, scores["float32"], fraction=0.3, ties="pessimistic", **given)
    areas = {k: roc_auc_across(y, s, "data", where=mask) for k, s in scores.items()}
    return found, share, qk.hit_rate(found["float32"]), areas


def check(types: tuple[str, ...]) -> None:
    rng = np.random.default_rng(3)
    over, whole = PartitionSpec("data"), PartitionSpec()
    specs = (over, dict.fromkeys(types, over) | {"rows": PartitionSpec(None, "data")}, over, whole)
    mapped = jax.jit(jax.shard_map(at_quota, mesh=MESH, in_specs=specs, out_specs=whole))
    for quota in (0.0, 1.0, 12.5, 30.0):
        y, mask = rng.random(SIZE) < 0.4, rng.random(SIZE) < 0.7
        y[:8], mask[8:16] = False, False  # one class alone, and padding alone
        scores = {k: scores_of(jax.numpy.dtype(k), SIZE, rng) for k in types}
        rows = scores_of("float32", (3, SIZE), rng)
        rows[:, 8] = np.nan  # under the mask
        rows[1, np.flatnonzero(mask)[-1]] = np.nan  # on one device
        scores["rows"] = rows
        found, share, rate, areas = mapped(y, scores, mask, quota)
        for name, ranking in found.items():
            wanted = qk.rank(y, scores[name], where=mask, validate=False)
            assert_same(ranking, wanted, quota, (name, quota))
            area = np.asarray(qk.roc_auc(wanted)).astype(areas[name].dtype)
            np.testing.assert_array_equal(areas[name], area, err_msg=name)
        pessimistic = qk.rank(y, scores["float32"], where=mask, ties="pessimistic")
        wanted_share = qk.hit_rate(pessimistic, fraction=0.3)
        assert qk.hit_rate(tree_map(np.asarray, share)) == wanted_share
        assert np.isnan(qk.qrecall(found["rows"])).tolist() == [False, True, False]
        right = qk.hit_rate(qk.rank(y, scores["float32"], where=mask), quota=quota)
        np.testing.assert_array_equal(rate, right.astype(rate.dtype))


def check_memory() -> None:
    """No device holds the scores of all, which take eight times the room of its own."""
    over = PartitionSpec("data")
    area = partial(roc_auc_across, axis_name="data")
    mapped = jax.shard_map(area, mesh=MESH, in_specs=(over, over), out_specs=PartitionSpec())
    columns = [jax.ShapeDtypeStruct((2**20,), dtype) for dtype in ("int32", "float32")]
    made = jax.jit(mapped).lower(*columns).compile()
    assert made.memory_analysis().temp_size_in_bytes <= 7.1 * 4 * 2**20 / 8


if __name__ == "__main__":
    assert jax.device_count() == 8
    check(TYPES)
    check_memory()
    with jax.enable_x64(True):
        check(("float32", "float64"))
    print("checked")
