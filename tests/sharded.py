"""Data in parts of any sizes, and what one ranking of all of them says at a quota."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from backends import tree_map

import quotakernels as qk

LOCAL = (qk.hit_rate, qk.qrecall, qk.lift, qk.f_score, qk.confusion_table)
POLICIES = ("expected", "optimistic", "pessimistic")
FLOATS = (-np.inf, -1.5, -1e-7, -0.0, 0.0, 1e-7, 1.5, np.inf)
WIDE = (*FLOATS, -1e-45, 1e-45)  # subnormals of float32, distinct from 0 for every library


def scores_of(dtype: Any, shape: Any, rng: np.random.Generator) -> np.ndarray:
    """Few distinct scores, the extreme ones of the type among them."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.random(shape) < 0.5
    if kind in "iu":
        info = np.iinfo(dtype)
        return rng.choice(np.asarray([info.min, info.max, 0, 1, 100], dtype=dtype), shape)
    values = np.asarray(WIDE if np.dtype(dtype).itemsize > 2 else FLOATS)
    if np.dtype(dtype) == np.float64:
        values = np.concatenate([values, [5e-324, 1 + 2**-52, 1.0]])
    return rng.choice(values, shape).astype(dtype)


def assert_same(found: Any, wanted: qk.Ranking, quota: Any, note: Any) -> None:
    """They agree, to the last bit, on all that is known at this quota."""
    found = tree_map(np.asarray, found)
    for measure in LOCAL:
        values, right = measure(found), measure(wanted, quota=quota)
        np.testing.assert_array_equal(values, right, err_msg=f"{measure.__name__} {note}")


def in_threads(number: int, function: Callable[[int, Callable[[Any], Any]], Any]) -> list[Any]:
    """``function(shard, across)`` for each shard, all at the same time."""
    barrier = threading.Barrier(number)
    parts: list[Any] = [None] * number

    def run(shard: int) -> Any:
        def across(x: Any) -> Any:
            parts[shard] = x
            barrier.wait()
            total = sum(parts)
            barrier.wait()
            return total

        try:
            return function(shard, across)
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(number) as pool:
        return [done.result() for done in [pool.submit(run, k) for k in range(number)]]
