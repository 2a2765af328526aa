"""The documents' page of the stored runs, and everything that they hold, for the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from benchmarks import host, marks
from benchmarks.cases import LOOP, MEASURES, ONE_CALL, SORT
from benchmarks.device import page as device
from benchmarks.marks import digits, elements, power, results
from benchmarks.misses import REASONS, Miss
from benchmarks.resampling import BOOTSTRAP, ROWS
from benchmarks.streaming import BUFFER
from benchmarks.tables import Table, aligned, markdown, short, slower, tables

Result = dict[str, Any]

ABOUT = """\
# Benchmarks

This page is written by `python -m benchmarks report`; edit `benchmarks/`, not it. With `--all` it
prints all stored figures. Measure yours:

```sh
pip install -e ".[bench]"
python -m benchmarks --json benchmarks/results/
python -m benchmarks.host --json benchmarks/host.json
```

{machines}

Read the ratios rather than the times. Rivals take turns on the same data, and each result is
compared with the exact value before it is timed. Times are nanoseconds of CPU time for each score,
of all threads; with the slow sort and on the GPU, elapsed time. [A setting of
NumPy](backends.md#a-faster-sort-on-amd-zen-4) mends some slow sorts.
"""
PEERS_ABOUT = """\
## Against peers

Our time, and in parentheses how many times as long the peer takes. Below 1 the peer is faster.
Peers compute AUC alone, Metrax approximately; "six measures" is one `summary`.
"""
SORT_ABOUT = """\
## Against the sort

Our time, and in parentheses the multiple of the backend's own sort. On CPUs AUC-PR and hull start
from a ranking.
"""
MISSES_ABOUT = """\
## What misses its target

Worst and best machine:
"""
GPU = """\
## On a GPU

Times are of one {gpu} on {date}, with PyTorch {torch}. JAX {jax} was timed at an earlier commit,
with 10⁶ scores only. Nothing waited for the host. {failed} of {tests} tests failed there, on
subnormal numbers in CuPy and on functions that PyTorch could not compile. The fixes have not run on
a GPU. Nothing has ever run on an AMD GPU or a TPU. Beyond 2²⁷ scores the hull takes seconds.

`benchmarks/gpu.sh WHEELS OUT` repeats this on your GPU. `python -m benchmarks.device` counts
launches and XLA programs without one.
"""


class Rival(NamedTuple):
    """What is compared with a peer: the entry of a case, and the peer's entry."""

    title: str
    case: str
    backend: str
    n: int
    entry: str
    peer: str


RIVALS = (
    Rival("NumPy: six measures", "uniform", "numpy", 10**6, MEASURES, "scikit-learn"),
    Rival("AUC", "call", "numpy", 1000, "roc_auc", "scikit-learn"),
    Rival("AUC of 1000 classes", "batch", "numpy", 1000, ONE_CALL, LOOP),
    Rival("a bootstrap resample", "bootstrap, 30 %", "numpy", 10**5, BOOTSTRAP, ROWS),
    Rival("PyTorch, CPU: six measures", "uniform", "torch-cpu", 10**6, MEASURES, "torchmetrics"),
    Rival("six measures", "uniform", "torch-cpu", 10**6, MEASURES, "torcheval"),
    Rival("six measures", "uniform", "torch-cpu", 1000, MEASURES, "torchmetrics"),
    Rival("AUC", "call", "torch-cpu", 1000, "roc_auc", "torchmetrics"),
    Rival("AUC", "call", "torch-cpu", 1000, "roc_auc", "torcheval"),
    Rival("update of a buffer", "streaming", "torch-cpu", 4096, BUFFER, "torchmetrics, exact"),
    Rival("JAX, CPU: six measures", "uniform", "jax-cpu", 10**6, MEASURES, "metrax"),
    *(
        Rival(f"{lead}{title}", case, "torch-gpu", 10**7, entry, peer)
        for lead, title, case, entry, peer in (
            ("PyTorch, GPU: ", "AUC", "AUC", "roc_auc", "torchmetrics"),
            ("", "AUC", "AUC", "roc_auc", "torcheval"),
            ("", "six measures", "uniform", MEASURES, "torchmetrics"),
        )
    ),
)
OVER_SORT = {
    "six measures": ("uniform", MEASURES),
    "six measures, weights": ("weighted", MEASURES),
    "six measures, bfloat16": ("bfloat16", MEASURES),
    "hit rate": ("one quota", "hit_rate"),
    "AUC-PR": ("on top, useful", "pr_auc"),
    "ROC hull": ("on top, useful", "roc_hull_auc"),
}
"""Rows of the table, by case and entry."""
BACKENDS = {
    "NumPy": ("numpy", 10**6),
    "PyTorch": ("torch-cpu", 10**6),
    "JAX": ("jax-cpu", 10**6),
    "PyTorch, GPU": ("torch-gpu", 10**7),
    "CuPy": ("cupy", 10**7),
    "JAX, GPU": ("jax-gpu", 10**6),
}
"""Its columns, with the number of scores."""


def page(runs: Mapping[str, Result]) -> str:
    """Three tables: against peers, against the sort, and what misses."""
    gpu = json.loads(device.TIMED.read_text(encoding="utf-8"))
    by_sort = sorted(runs.values(), key=lambda run: run["machine"]["sort_ns"])
    every = [*by_sort, device.as_run(gpu)]
    parts = [
        *(ABOUT.format(machines="\n".join(map(_machine, by_sort))), PEERS_ABOUT),
        *(markdown(against_peers(every)), SORT_ABOUT, markdown(against_sort(every))),
        *(MISSES_ABOUT, markdown(missing_targets(misses(runs))), _on_gpu(gpu)),
    ]
    return "\n".join(parts)


def _machine(run: Result) -> str:
    about = run["machine"]
    return f"- {_name(run)}: {about['cpu']}, {about['cores']} cores, {about['date']}"


def _name(run: Result) -> str:
    """By the processor's sort, which decides most ratios; or the GPU."""
    about = run["machine"]
    return (about["gpu"] and about["gpu"].split()[1]) or f"sort {about['sort_ns']:.2g} ns"


def _on_gpu(run: Result) -> str:
    about, said = run["machine"], " ".join(run["tests"].values())
    failed, passed = (sum(map(int, re.findall(rf"(\d+) {x}", said))) for x in ("failed", "passed"))
    known = {"torch": about["versions"]["torch"], "jax": about["versions"]["jax"]}
    known |= {"failed": failed, "tests": failed + passed}
    return GPU.format(gpu=about["gpu"], date=about["date"], **known)


def against_peers(runs: list[Result]) -> Table:
    head = ("what", "scores", "peer", *map(_name, runs))
    rows = [
        (x.title, power(x.n), x.peer, *(_beside(run, x, x.entry, x.peer) for run in runs))
        for x in RIVALS
    ]
    return Table("", head, [row for row in rows if any(row[3:])])


def _beside(run: Result, place: Rival, entry: str, other: str) -> str:
    """Nanoseconds an element, and how many times as long another one takes."""
    found = _at(run, place.case, place.backend, place.n, entry, other)
    if not found:
        return ""
    own, theirs = (cpu_seconds(found, x) for x in (entry, other))
    return f"{digits(own / elements(found) * 1e9)} ({short(theirs / own)})"


def _at(run: Result, case: str, backend: str, n: int, *entries: str) -> Result | None:
    """The result of a size that has all entries."""
    found = (r for r in results(run, case, backend) if r["n"] == n)
    return next((r for r in found if set(entries) <= r["times"].keys()), None)


def cpu_seconds(result: Result, entry: str) -> float:
    """Of all threads; by the clock on the wall if the run had no other."""
    times = result["times"][entry]
    return float(times.get("cpu") or times["median"])


def against_sort(runs: list[Result]) -> Table:
    """NumPy on each machine, and the other backends on the first that has them."""
    columns = []
    for title, place in BACKENDS.items():
        having = [run for run in runs if _at(run, "uniform", *place, MEASURES, SORT)]
        columns += [(title, run, *place) for run in having[: None if title == "NumPy" else 1]]
    rows = []
    for what, (case, entry) in OVER_SORT.items():
        cells = (_multiple(run, case, backend, n, entry) for _, run, backend, n in columns)
        rows.append((what, *cells))
    titles = (f"{title}, {power(n)}, {_name(run)}" for title, run, _, n in columns)
    return Table("", ("what", *titles), [row for row in rows if any(row[1:])])


def _multiple(run: Result, case: str, backend: str, n: int, entry: str) -> str:
    found = _at(run, case, backend, n, entry, SORT)
    if not found:
        return ""
    own, sort = (cpu_seconds(found, x) for x in (entry, SORT))
    return f"{short(own / elements(found) * 1e9)} ({short(own / sort)})"


def misses(runs: Mapping[str, Result]) -> Iterator[Miss]:
    """Every target that is missed, by the worst machine."""
    every = {**runs, "GPU": device.as_run(json.loads(device.TIMED.read_text(encoding="utf-8")))}
    yield from marks.misses(every)
    yield from host.misses(host.stored())
    yield from device.misses(json.loads(device.STORED.read_text(encoding="utf-8")))


def missing_targets(found: Iterator[Miss]) -> Table:
    """The misses of each reason."""
    listed = list(found)
    rows = []
    for reason in REASONS:
        by_target: dict[str, list[Miss]] = {}
        for miss in (x for x in listed if re.search(reason.pattern, x.text)):
            by_target.setdefault(miss.target, []).append(miss)
        figures = (f"{_extremes(own)} ({target})" for target, own in by_target.items())
        rows.append((reason.what, ", ".join(figures), reason.why))
    return Table("", ("what", "figure (target)", "why"), [row for row in rows if row[1]])


def _extremes(found: list[Miss]) -> str:
    """The worst and the best of all figures."""
    ordered = sorted((x for miss in found for x in miss.figures), reverse=not found[0].at_least)
    return "–".join(dict.fromkeys(map(digits, (ordered[0], ordered[-1]))))


def everything(runs: Mapping[str, Result]) -> str:
    """All tables of all stored runs."""
    gpu = json.loads(device.TIMED.read_text(encoding="utf-8"))
    counted = json.loads(device.STORED.read_text(encoding="utf-8"))
    others = [slower(runs), host.table(host.stored()), *device.timed_tables(gpu["results"])]
    others += device.tables(counted)
    return "\n\n".join([*map(terminal, runs.values()), *map(aligned, others)])


def terminal(run: Result) -> str:
    """A run for the terminal, the marks last."""
    first, *rest = tables(run)
    return "\n\n".join([description(run), *(aligned(table) for table in (*rest, first))])


def description(run: Result) -> str:
    """The machine, the versions and the command in a few lines."""
    about = run["machine"]
    memory = f", {about['memory_gib']} GiB of memory free" if about["memory_gib"] else ""
    load = about["load_per_core"]
    busy = "" if load is None else f"; load before the run {load:g} per core"
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return (
        f"{about['cpu']}, {about['architecture']}, {about['cores']} cores{memory}; "
        f"{about['gpu'] or 'no GPU'}{busy}. {about['date']}.\n{versions}.\n`{run['command']}`"
    )
