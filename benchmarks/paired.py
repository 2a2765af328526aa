"""CPU time of the library in two checkouts, side by side in one run.

`python -m benchmarks.paired ../before 1000000 roc_auc summary` runs the calls in the other checkout
and in this one by turns, each in a process of its own with one thread, and prints the least time of
each call, their ratio, and np.sort of the same scores beside them.  Without names it runs all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROUNDS = 3
MEASURES = (
    *("roc_auc", "pem", "average_hit_rate", "average_qrecall"),
    *("pem_areas", "pr_auc", "summary"),
)


def calls(n: int) -> dict[str, Callable[[], Any]]:
    """Calls of random scores, of which three in ten are positive."""
    import quotakernels as qk

    rng = np.random.default_rng(1)
    labels, scores = (rng.random(n) < 0.3).astype(int), rng.random(n, dtype=np.float32)
    weights, groups = rng.random(n), rng.integers(0, max(n // 1000, 1), n)
    found: dict[str, Callable[[], Any]] = {"np.sort": partial(np.sort, scores)}
    for name in MEASURES:
        found[name] = partial(getattr(qk, name), labels, scores)
    for name in ("roc_auc", "summary"):
        measure = getattr(qk, name)
        found[f"{name}, weights"] = partial(measure, labels, scores, sample_weight=weights)
        found[f"{name}, groups"] = partial(measure, labels, scores, groups=groups)
    found["hit_rate at a quota"] = partial(qk.hit_rate, labels, scores, quota=10)
    found["hit_rate at three"] = partial(qk.hit_rate, labels, scores, quota=[10, 20, 30])
    return found


def least(call: Callable[[], Any], n: int) -> float:
    """The least CPU time of a call in microseconds."""
    repeats, inner = (9, 1) if n > 10**5 else (30, 50)
    times = []
    for _ in range(repeats + 1):  # the first may import, and does not count
        start = time.process_time()
        for _ in range(inner):
            call()
        times.append((time.process_time() - start) / inner * 1e6)
    return min(times[1:])


def measured(checkout: Path, arguments: list[str]) -> dict[str, float]:
    """What a process prints that has the library of a checkout and these calls."""
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve()), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), "--child", *arguments]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


def main(other: str, size: str, *names: str) -> None:
    """Print a line for each call."""
    if other == "--child":
        chosen = {k: f for k, f in calls(int(size)).items() if not names or k in names}
        print(json.dumps({k: least(f, int(size)) for k, f in chosen.items()}))
        return
    arguments = [size, "np.sort", *names] if names else [size]
    checkouts = Path(other), Path(__file__).resolve().parents[1]
    rounds = [[measured(x, arguments) for x in checkouts] for _ in range(ROUNDS)]
    for name in rounds[0][0]:
        before, now = (min(times[name] for times in own) for own in zip(*rounds, strict=True))
        print(f"{name:22} {before:12,.1f} {now:12,.1f} µs   {now / before:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
