"""Reductions over processes of PyTorch, all in one start of three of them; see ranks.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from backends import available, missing

if lacking := missing("torch"):
    pytest.skip(lacking, allow_module_level=True)


from adapters import ranks

RANKS = Path(__file__).with_name("ranks.py")
WITH_METRICS = available("torchmetrics")
LOOPBACK = "lo" if sys.platform == "linux" else "lo0"


def all_ranks(folder: Path) -> list[dict[str, Any]]:
    """What each rank wrote."""
    env = {**os.environ, "GLOO_SOCKET_IFNAME": LOOPBACK, "TORCH_CPP_LOG_LEVEL": "ERROR"}
    env["PYTHONPATH"] = os.pathsep.join([str(RANKS.parents[2]), env.get("PYTHONPATH", "")])
    common = [str(folder)] + WITH_METRICS * ["torchmetrics"]
    started = [
        subprocess.Popen(
            [sys.executable, str(RANKS), str(rank), *common],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(ranks.SIZE)
    ]
    try:
        for process in started:
            print(process.communicate(timeout=4 * ranks.PATIENCE)[0])
    finally:
        for process in started:
            process.kill()
            process.wait()
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(ranks.SIZE)]


def test_three_ranks(tmp_path: Path):
    found = all_ranks(tmp_path)
    cases = ranks.CASES + (ranks.METRIC_CASES if WITH_METRICS else [])
    for case in cases:
        for rank, results in enumerate(found):
            assert results[case.__name__] == "ok", f"rank {rank}: {results[case.__name__]}"
