"""What was counted as tables: beside the marks, and what it predicts for two devices."""

from __future__ import annotations

from typing import Any, NamedTuple

from benchmarks.device.marks import COMPILING, LAUNCHES, PROGRAMS
from benchmarks.marks import digits
from benchmarks.tables import Table

Result = dict[str, Any]


class Device(NamedTuple):
    """What a launch costs, and how fast memory is."""

    name: str
    launch: float
    bandwidth: float

    def seconds(self, launches: float, moved: float) -> float:
        return launches * self.launch + moved / self.bandwidth


DEVICES = (Device("H200", 4e-6, 3.5e12), Device("laptop GPU, 8 GB", 4e-6, 0.25e12))


def tables(run: Result) -> list[Table]:
    found = [_launches(run["torch"], run["n"])] if "torch" in run else []
    return found + ([_programs(run["jax"])] if "jax" in run else [])


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
