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
from benchmarks.tables import Table

STORED = Path(__file__).with_name("host.json")
ABOUT = """\
## On the host, in CPU time

NumPy alone, on machines on which others computed too. So these are medians of CPU times, and each
call took turns with its rival. `summary` of raw labels and scores gives AUC, PEM, average hit rate
and average Qrecall, and S1 and S2. With AVX-512 `np.sort` takes several times as long on some
processors, so that a ratio to it says little there. `NPY_DISABLE_CPU_FEATURES=X86_V4` makes NumPy
sort with AVX2.

```sh
export NPY_DISABLE_CPU_FEATURES=X86_V4   # where np.sort is faster without AVX-512
python -m benchmarks.host                # all, or those that are named
python -m benchmarks.host --json benchmarks/host.json
```

The columns with letters are the [machines](#machines). "Worst" is the machine with the worst figure
of the mark, and the nanoseconds are its own. "Before" is what the version took that had no direct
way for plain calls and no sums over positives alone, where `np.sort` takes 3.2 ns an element.
"Bare" is what a script of NumPy calls took there that does nothing but this, without checks; it is
a floor for this library.

Several runs with AVX-512 gave 2.99 to 3.23 for 10⁶ uniform scores, 1.97 to 2.09 for float64 scores
and 14.6 to 15.6 with random weights.

The command `evaluate --confidence 0.95 --compare` takes 2.7 s for three models and 10⁶ rows of
Parquet with AVX-512. Its mark is 30 s, and before it took more than 100 s. The mark of the
bootstrap with 30 % positives is 0.06; its figure stands under [Marks](#marks).

Measured: {days}.

Where the time of `summary` of 10⁶ uniform scores goes, in hundredths: sort 29, finding the groups
with positives 27, sums 21, checks 8, packing 6, AUC and average Qrecall 5, the rest 4. To be 20
times as fast as scikit-learn's AUC, it would have to take 2.7 times as long as the sort. The figure
of torchmetrics varies between 7 and 8.4 from run to run. The largest parts: NumPy needs 1.1 ns to
list the place of a positive (6), and 0.4 ns to read the word there and the same for the word before
(3 in all). Flags of ties, in 3 % of the rows, take 7, and the columns 7. Of the sums, the average
hit rate takes 12 and the smaller one of S1 and S2 9.

With weights, in hundredths: order of the examples 16, tie groups and their sums 14, gathering the
weights 11, running sums of two masses 11, S1 and S2 11. The average hit rate takes 7, average
Qrecall 7 and totals 5. The words have 64 bits. Sorting them takes 1.8 times as long as sorting the
32 bits of the scores.

Where the time of a small summary with many ties goes, in µs of 230: average hit rate 64, of which
the harmonic sums of 21 tie groups are 42; S1 and S2 44; AUC and average Qrecall 35; the table 24.
The rest finds out what is wanted, and gives the results their types. All these are some 300 calls
of NumPy on about twenty numbers, and each takes half a microsecond or more. Sums over the single
places would take 140 µs, but are less exact: they moved results by up to 7 ulp.

On a machine without vector instructions the sort is nearly all that the time goes to. There lists
of a batch gain little from being measured together, and no peer can be many times slower.

Where memory goes: while a ranking is made it takes 4 times the bytes of its scores, or 8 with
weights. Of these, 7 are its columns: threshold, two counts and two masses. One column is written
over the sorted words. The rest is flags and blocks. So with weights 7 would leave no room for a
block. `summary` without weights takes less, as it tells only groups with positives apart. At a
quota of n `pearson` adds blocks to the ranking.
"""


class Row(NamedTuple):
    """What is measured, of how many examples, in which unit; the mark, at most or at least; and
    what the version before and bare calls of NumPy took.
    """

    name: str
    size: int
    unit: str
    mark: str
    measured: Callable[[], tuple[float, float | None]]
    """The figure, and the CPU time of a call in seconds."""
    before: str = ""
    bare: str = ""


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


def section(runs: dict[str, dict[str, Any]], markdown: Callable[[Table], str]) -> str:
    """The part of the page that is made of what is stored, of machines by the names given."""
    head = ("call", "n", "unit", "before", "bare", "mark", *runs, "worst", "ns an element")
    table = Table("", head, tuple(_cells(runs, row) for row in ROWS))
    days = ", ".join(f"{name} on {run['machine']['date']}" for name, run in runs.items())
    return f"{ABOUT.format(days=days)}\n{markdown(table)}"


def _cells(runs: dict[str, dict[str, Any]], row: Row) -> tuple[str, ...]:
    name = f"{row.name}, {row.size}"
    now = {x: run["now"][name] for x, run in runs.items() if name in run["now"]}
    figures = (digits(now[x]["figure"]) if x in now else "" for x in runs)
    sign, _, bound = row.mark.partition(" ")
    choose = min if sign == "≥" else max
    worst = choose(now, key=lambda x: now[x]["figure"]) if now else ""
    verdict, per = worst, now[worst]["ns"] if now else None
    if now and bound and (now[worst]["figure"] <= float(bound)) != (sign == "≤"):
        verdict += ", missed"
    beside = "" if per is None else digits(per)
    known = (row.name, power(row.size), row.unit, row.before, row.bare, row.mark)
    return (*known, *figures, verdict, beside)


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
    for kind, n, most, before, bare in (
        ("uniform", million, 3, "8 to 10", "2.5"),
        ("uniform", 10**7, 3.5, "6.3 to 8.1", "3.0"),
        ("logits", million, 3.5, "10 to 11", "2.8"),
        ("n/10 levels", million, 4, "5.3", "2.8 to 5.2"),
        ("n/10 levels", 10**7, 3, "3.8", "2.2"),
        ("1 % positive", million, 3, "", ""),
        ("float64", million, 2, "5.6 to 6.9", "1.5 to 1.8"),
    ):
        over = partial(_over_sort, kind, n)
        yield Row(f"summary, {kind}", n, sort, f"≤ {most}", over, before, bare)
    for kind in ("random", "quarters"):
        over = partial(_over_sort, "uniform", million, kind)
        yield Row(f"summary, weights, {kind}", million, sort, "≤ 15", over, "50 to 58", "9.7 to 13")
    ties = partial(_called, "summary", 1000, ties=True)
    yield Row("summary, many ties", 1000, "µs", "≤ 200", ties, "310 to 550")
    for name, most, before, bare in (
        ("roc_auc", 40, "108 to 320", "8 to 20"),
        ("hit_rate", 50, "180 to 220", "9 to 11"),
    ):
        for n in (100, 1000):
            yield Row(name, n, "µs", f"≤ {most}", partial(_called, name, n), before, bare)
    of_ranking = partial(_called, "roc_auc", 1000, True)
    yield Row("roc_auc of a ranking", 1000, "µs", "≤ 20", of_ranking, "41 to 58")
    for name in ("summary", "roc_auc"):
        for shape, most, before in (((10, 10**5), 1, "over 1"), ((1000, 1000), 0.25, "0.25")):
            called = f"{name}, {shape[0]} lists"
            over = partial(_over_loop, name, shape)
            yield Row(called, million, "× a loop", f"≤ {most}", over, before)
    for rejected, most, before in ((False, 60, "150 to 250"), (True, 80, "300")):
        name = f"impact_at_quota{', gain_rejected' * rejected}, beyond rank"
        over = partial(_gains, rejected, million)
        yield Row(name, million, "ms", f"≤ {most}", over, before)
    for n, before in ((million, "6"), (10**7, "10")):
        yield Row("scikit-learn's AUC / summary", n, "×", "≥ 20", partial(_sklearn, n), before)
    name, over = "torchmetrics' AUC / summary, CPU tensors", partial(_torchmetrics, million)
    yield Row(name, million, "×", "≥ 8", over, "2 to 2.6, slow sort")
    for name, weighted, most, before in (
        ("summary", False, 4, "5.3"),
        ("summary", True, 7, "12 to 13"),
        ("pearson", False, 6, "23"),
    ):
        called = f"{name}{', weights' * weighted}, memory"
        found = partial(_memory, name, million, weighted)
        yield Row(called, million, "× scores", f"≤ {most}", found, before)


ROWS = tuple(_rows())

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
