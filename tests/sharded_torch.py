"""One of several processes of torch.distributed, each with its own part of the examples."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from sharded import POLICIES, assert_same, scores_of

import quotakernels as qk

BOUNDS = (0, 21, 21, 34)  # the second of three processes has no examples


def across(x: Any) -> Any:
    dist.all_reduce(x)
    return x


def check(shard: int) -> None:
    rng = np.random.default_rng(5)
    own = slice(*BOUNDS[shard : shard + 2])
    y = rng.random(BOUNDS[-1]) < 0.4
    for dtype in ("float16", "float32", "float64", "uint8", "int32", "bool"):
        for ties, quota in zip(POLICIES, (0, 7.5, 34), strict=True):
            scores = scores_of(dtype, BOUNDS[-1], rng)
            part = torch.from_numpy(y[own]), torch.from_numpy(scores[own])
            ranking = qk.rank_at_quota(*part, quota=quota, ties=ties, across=across)
            assert_same(ranking, qk.rank(y, scores, ties=ties), quota, (dtype, ties, quota))
    check_bad(shard, y[own], scores[own].astype(np.float32))


def check_bad(shard: int, labels: Any, scores: Any) -> None:
    y, s = torch.from_numpy(labels), torch.from_numpy(scores)
    if shard == 2:
        s[0] = torch.nan
    ranking = qk.rank_at_quota(y, s, quota=3, across=across)
    assert torch.isnan(qk.hit_rate(ranking)), "one bad score makes all shards invalid"
    masked = qk.rank_at_quota(y, s, quota=3, where=~torch.isnan(s), across=across)
    assert not torch.isnan(qk.hit_rate(masked))
    with pytest.raises(TypeError, match="another on other shards"):
        qk.rank_at_quota(y, s.double() if shard == 1 else s, quota=3, across=across)


if __name__ == "__main__":
    rank, store = int(sys.argv[1]), sys.argv[2]
    group = {"init_method": f"file://{store}", "rank": rank, "world_size": 3}
    dist.init_process_group("gloo", timeout=timedelta(minutes=2), **group)
    check(rank)
    dist.destroy_process_group()
    print("checked")
