"""What was counted as tables: beside the marks, and what it predicts for two devices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.cases import MEASURES, SORT
from benchmarks.device.marks import COMPILING, LAUNCHES, PROGRAMS
from benchmarks.marks import digits, power
from benchmarks.misses import Miss
from benchmarks.tables import Table

Result = dict[str, Any]


STORED = Path(__file__).with_name("counted.json")
TIMED = Path(__file__).with_name("gpu.json")
ENTRIES = {
    "summary": ("uniform", MEASURES),
    "roc_auc": ("AUC", "roc_auc"),
    "roc_auc, weights": ("AUC, weights", "roc_auc, weights"),
    "hit_rate": ("one quota", "hit_rate"),
    "pr_auc": ("on top, useful", "pr_auc"),
    "roc_hull_auc": ("on top, useful", "roc_hull_auc"),
}
"""Calls as the cases and entries of the other benchmarks."""
RIVALS = ("torchmetrics", "torcheval")


class Device(NamedTuple):
    """What a launch costs, and how fast memory is."""

    name: str
    launch: float
    bandwidth: float

    def seconds(self, launches: float, moved: float) -> float:
        return launches * self.launch + moved / self.bandwidth


DEVICES = (Device("H200", 4e-6, 3.5e12), Device("laptop", 4e-6, 0.25e12))


def tables(run: Result) -> list[Table]:
    found = [_launches(run["torch"], run["n"])] if "torch" in run else []
    return found + ([_programs(run["jax"])] if "jax" in run else [])


def as_run(timed: Result) -> Result:
    """What was timed on a GPU in the form of a run of the other benchmarks."""
    sizes = dict.fromkeys((x["backend"], x["n"]) for x in timed["results"])
    listed = []
    for backend, n in sizes:
        own = [x for x in timed["results"] if (x["backend"], x["n"]) == (backend, n)]
        times = {x["call"]: {"median": x["seconds"]} for x in own if "seconds" in x}
        beside = {name: times[name] for name in (SORT, *RIVALS) if name in times}
        for call, (case, entry) in ENTRIES.items():
            if call in times:
                found = {entry: times[call], **beside}
                place = {"case": case, "backend": backend, "n": n}
                listed.append({**place, "times": found, "waits_for_host": None})
    return {
        "machine": timed["machine"],
        "backends": {backend: None for backend, _ in sizes},
        "peers": dict.fromkeys(RIVALS),
        "results": listed,
        "skipped": [],
    }


def misses(run: Result) -> Iterator[Miss]:
    """What costs more than its mark, of all that was counted."""
    kinds: tuple[tuple[str, Any, Any], ...] = (
        ("PyTorch", LAUNCHES, lambda name: run["torch"][name]),
        ("XLA", PROGRAMS, lambda name: run["jax"][name]["long"]),
    )
    for library, limits, counted in kinds:
        for name, mark in limits.items():
            for what, limit in mark._asdict().items():
                if (value := counted(name)[what]) > limit:
                    yield Miss(f"{library}, {name}: {what}", f"≤ {digits(limit)}", [value])
    for name, limits in COMPILING.items():
        for size, limit in limits._asdict().items():
            if (value := run["jax"][name][size]["seconds"]) > limit:
                yield Miss(f"XLA, {name}: compiling", f"≤ {digits(limit)} s", [value])


def timed_tables(results: list[Result]) -> Iterator[Table]:
    """The times of each library, over that of the sort of the same size."""
    for backend in dict.fromkeys(x["backend"] for x in results):
        own = [x for x in results if x["backend"] == backend]
        sizes = sorted({x["n"] for x in own})
        head = (f"{backend}: ms (× the sort), peak / float32 scores", *map(power, sizes))
        calls = dict.fromkeys(x["call"] for x in own)
        found = {(x["call"], x["n"]): x for x in own}
        rows = [(call, *(_cell(found, call, n) for n in sizes)) for call in calls]
        yield Table(backend, head, rows)


def _cell(found: dict[tuple[str, int], Result], call: str, n: int) -> str:
    here, floor = found.get((call, n), {"why": "not timed"}), found[SORT, n]
    if "why" in here:
        return str(here["why"]).replace("|", "/").replace("\n", " ")
    ratio = f" ({digits(here['seconds'] / floor['seconds'])})" if "seconds" in floor else ""
    room = f", {digits(here['peak'] / (4 * n))}" if here.get("peak") is not None else ""
    return f"{digits(here['seconds'] * 1e3)}{ratio}{room}"


def _launches(counts: Result, n: int) -> Table:
    title = f"PyTorch, n = {n:,}: operations that are no views, and bytes moved over the scores'"
    predicted = tuple(f"{device.name}, ms" for device in DEVICES)
    head = ("call", "launches", "mark", "bytes", "mark", *predicted)
    return Table(title, head, tuple(_launched(name, x) for name, x in counts.items()))


def _launched(name: str, count: Result) -> tuple[str, ...]:
    mark = LAUNCHES.get(name)
    both = [
        cell
        for what in ("launches", "bytes")
        for cell in (digits(count[what]), _bound(mark and getattr(mark, what), count[what]))
    ]
    moved = count["bytes"] * count["score_bytes"]
    times = (digits(x.seconds(count["launches"], moved) * 1e3) for x in DEVICES)
    return (name, *both, *times)


def _programs(counts: Result) -> Table:
    title = "JAX on the CPU, without x64: programs for a million examples, and for 1024"
    head = ("call", "temporaries", "mark", "lines", "mark", "fusions", "compile s", "mark")
    short = ("1024: fusions", "compile s", "mark")
    return Table(title, (*head, *short), tuple(_compiled(name, x) for name, x in counts.items()))


def _compiled(name: str, found: Result) -> tuple[str, ...]:
    mark, limit = PROGRAMS.get(name), COMPILING.get(name)
    long, short = found["long"], found["short"]
    cells = [
        *(digits(long["temporaries"]), _bound(mark and mark.temporaries, long["temporaries"])),
        *(str(long["lines"]), _bound(mark and mark.lines, long["lines"])),
        str(long["fusions"]),
        *(digits(long["seconds"]), _bound(limit and limit.long, long["seconds"])),
        str(short["fusions"]),
        *(digits(short["seconds"]), _bound(limit and limit.short, short["seconds"])),
    ]
    return (name, *cells)


def _bound(mark: float | None, value: float) -> str:
    if mark is None or mark == float("inf"):
        return ""
    return f"≤ {digits(mark)}{'' if value <= mark else ', missed'}"
