"""NumPy beside its own sort, in CPU time: each call in turns with its rival, on the same data.

``python -m benchmarks.host --json benchmarks/host.json`` stores what is found beside that of other
machines.  Names choose.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import quotakernels as qk
from benchmarks.machine import label, measured
from benchmarks.marks import digits, power
from benchmarks.misses import Miss
from benchmarks.tables import Table

STORED = Path(__file__).with_name("host.json")


class Row(NamedTuple):
    """What is measured, of how many examples, in which unit; the mark, at most or at least."""

    name: str
    size: int
    unit: str
    mark: str
    measured: Callable[[], tuple[float, float | None]]
    """The figure, and the CPU time of a call in seconds."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.host", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="with all that begins so")
    parser.add_argument("--json", metavar="FILE", help="store the figures beside those in it")
    chosen = parser.parse_args(arguments)
    kept = Path(chosen.json) if chosen.json else None
    runs = stored(kept) if kept and kept.exists() else {}
    about = measured(on_gpu=False)
    run = runs.setdefault(label(about, runs), {})
    if "machine" not in run or not chosen.names:
        run["machine"] = about
    for row in ROWS:
        if chosen.names and not any(row.name.startswith(x) for x in chosen.names):
            continue
        figure, seconds = row.measured()
        found = {"figure": figure, "ns": None if seconds is None else seconds / row.size * 1e9}
        run.setdefault("now", {})[f"{row.name}, {row.size}"] = found
        print(row.name, row.size, digits(figure), row.unit, row.mark, flush=True)
        if kept:
            kept.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
    return 0


def stored(path: Path = STORED) -> dict[str, dict[str, Any]]:
    """The figures of each machine, by its label."""
    found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def table(runs: dict[str, dict[str, Any]]) -> Table:
    """All that is stored, of machines by their labels."""
    rows = []
    for row in ROWS:
        figures = (run["now"].get(f"{row.name}, {row.size}") for run in runs.values())
        cells = ("" if x is None else digits(x["figure"]) for x in figures)
        rows.append((row.name, power(row.size), row.unit, row.mark, *cells))
    return Table("On the host, in CPU time", ("call", "n", "unit", "mark", *runs), rows)


def misses(runs: dict[str, dict[str, Any]]) -> Iterator[Miss]:
    """Marks that the worst machine misses."""
    for row in ROWS:
        sign, _, bound = row.mark.partition(" ")
        known = (run["now"].get(f"{row.name}, {row.size}") for run in runs.values())
        figures = [x["figure"] for x in known if x]
        if figures and bound:
            worst = min(figures) if sign == "≥" else max(figures)
            if (worst <= float(bound)) != (sign == "≤"):
                yield Miss(row.name, row.mark, figures)


def paired(call: Callable[[], Any], rival: Callable[[], Any], pairs: int) -> tuple[float, float]:
    """The CPU times of a call and of its rival, in turns."""
    call(), rival()
    times: list[tuple[float, float]] = []
    for _ in range(pairs):
        start = time.process_time()
        call()
        between = time.process_time()
        rival()
        times.append((between - start, time.process_time() - between))
    return median(x for x, _ in times), median(y for _, y in times)


def _examples(kind: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    labels = (rng.random(n) < (0.01 if kind == "1 % positive" else 0.3)).astype(np.int64)
    scores: Any = rng.random(n, dtype=np.float32)
    if kind == "logits":
        scores = rng.normal(size=n).astype(np.float32)
    elif kind == "n/10 levels":
        scores = (np.floor(scores * (n // 10)) / (n // 10)).astype(np.float32)
    elif kind == "float64":
        scores = rng.random(n)
    return labels, scores


def _over_sort(kind: str, n: int, weights: str = "") -> tuple[float, float]:
    labels, scores = _examples(kind, n)
    rng, beside = np.random.default_rng(1), {}
    if weights:
        drawn = rng.random(n) if weights == "random" else rng.integers(1, 9, n) / 4
        beside = {"sample_weight": drawn}
    call = partial(qk.summary, labels, scores, **beside)
    ours, sort = paired(call, partial(np.sort, scores), 11 if n < 10**7 else 3)
    return ours / sort, ours


def _sort(n: int) -> tuple[float, float]:
    found, _ = paired(partial(np.sort, _examples("uniform", n)[1]), lambda: None, 15)
    return found * 1e3, found


def _called(name: str, n: int, ranked: bool = False, ties: bool = False) -> tuple[float, float]:
    """Microseconds of one call, of many at a time."""
    labels, scores = _examples("uniform", n)
    data: Any = (labels, np.round(scores * 20) / 20 if ties else scores)
    data = (qk.rank(*data),) if ranked else data
    beside = {"quota": 10} if name == "hit_rate" else {}
    call = partial(getattr(qk, name), *data, **beside)

    def often() -> None:
        for _ in range(10):
            call()

    found, _ = paired(often, lambda: None, 201)
    return found / 10 * 1e6, found / 10


def _over_loop(name: str, shape: tuple[int, int]) -> tuple[float, float]:
    labels, _ = _examples("uniform", shape[1])
    scores = np.random.default_rng(2).random(shape, dtype=np.float32)
    measure = getattr(qk, name)
    batch, loop = paired(
        partial(measure, labels, scores), lambda: [measure(labels, x) for x in scores], 5
    )
    return batch / loop, batch


def _gains(rejected: bool, n: int) -> tuple[float, float]:
    """Milliseconds beyond a ranking without gains."""
    labels, scores = _examples("uniform", n)
    gain = np.random.default_rng(3).normal(size=n)
    beside = {"gain_rejected": -gain} if rejected else {}
    call = partial(qk.impact_at_quota, labels, scores, gain=gain, quota=n // 10, **beside)
    ours, rank = paired(call, partial(qk.rank, labels, scores), 7)
    return (ours - rank) * 1e3, ours


def _sklearn(n: int) -> tuple[float, float]:
    from sklearn.metrics import roc_auc_score

    data = _examples("uniform", n)
    ours, theirs = paired(partial(qk.summary, *data), partial(roc_auc_score, *data), 3)
    return theirs / ours, ours


def _torchmetrics(n: int) -> tuple[float, float]:
    import torch
    from torchmetrics.functional.classification import binary_auroc

    labels, scores = map(torch.from_numpy, _examples("uniform", n))
    ours, theirs = paired(
        partial(qk.summary, labels, scores), partial(binary_auroc, scores, labels), 3
    )
    return theirs / ours, ours


def _memory(name: str, n: int, weighted: bool = False) -> tuple[float, None]:
    """The peak of NumPy's allocations over the bytes of the scores."""
    labels, scores = _examples("uniform", n)
    beside: dict[str, Any] = (
        {"sample_weight": np.random.default_rng(4).random(n)} if weighted else {}
    )
    beside |= {"quota": n} if name == "pearson" else {}
    call = partial(getattr(qk, name), labels, scores, **beside)
    call()
    gc.collect()
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / scores.nbytes, None


def _rows() -> Iterator[Row]:
    million, sort = 10**6, "× np.sort"
    yield Row("np.sort", million, "ms", "", partial(_sort, million))
    for kind, n, most in (
        ("uniform", million, 3),
        ("uniform", 10**7, 3.5),
        ("logits", million, 3.5),
        ("n/10 levels", million, 4),
        ("n/10 levels", 10**7, 3),
        ("1 % positive", million, 3),
        ("float64", million, 2),
    ):
        yield Row(f"summary, {kind}", n, sort, f"≤ {most}", partial(_over_sort, kind, n))
    for kind in ("random", "quarters"):
        over = partial(_over_sort, "uniform", million, kind)
        yield Row(f"summary, weights, {kind}", million, sort, "≤ 15", over)
    ties = partial(_called, "summary", 1000, ties=True)
    yield Row("summary, many ties", 1000, "µs", "≤ 200", ties)
    for name, most in (("roc_auc", 40), ("hit_rate", 50)):
        for n in (100, 1000):
            yield Row(name, n, "µs", f"≤ {most}", partial(_called, name, n))
    of_ranking = partial(_called, "roc_auc", 1000, True)
    yield Row("roc_auc of a ranking", 1000, "µs", "≤ 20", of_ranking)
    for name in ("summary", "roc_auc"):
        for shape, most in (((10, 10**5), 1), ((1000, 1000), 0.25)):
            over = partial(_over_loop, name, shape)
            yield Row(f"{name}, {shape[0]} lists", million, "× a loop", f"≤ {most}", over)
    for rejected, most in ((False, 60), (True, 80)):
        name = f"impact_at_quota{', gain_rejected' * rejected}, beyond rank"
        yield Row(name, million, "ms", f"≤ {most}", partial(_gains, rejected, million))
    for n in (million, 10**7):
        yield Row("scikit-learn's AUC / summary", n, "×", "≥ 20", partial(_sklearn, n))
    name, over = "torchmetrics' AUC / summary, CPU tensors", partial(_torchmetrics, million)
    yield Row(name, million, "×", "≥ 8", over)
    for name, weighted, most in (
        ("summary", False, 4),
        ("summary", True, 7),
        ("pearson", False, 6),
    ):
        found = partial(_memory, name, million, weighted)
        yield Row(
            f"{name}{', weights' * weighted}, memory", million, "× scores", f"≤ {most}", found
        )


ROWS = tuple(_rows())

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
