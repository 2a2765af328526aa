"""What was counted as tables: beside the marks, and what it predicts for two devices."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.device.marks import COMPILING, LAUNCHES, PROGRAMS
from benchmarks.marks import digits, power
from benchmarks.tables import Table

Result = dict[str, Any]


SORT = "sort"
STORED = Path(__file__).with_name("counted.json")
TIMED = Path(__file__).with_name("gpu.json")
ON_GPU = """\
## On a GPU

{machine}.

{tests}. No call waited for the host. Of the tests that failed, two compared subnormal float32
in a standard form that CuPy does not use: its kernels flush them. In the other four, PyTorch 2.11
could not compile a search or a view for CUDA. Both are mended, but have not run on a GPU since.

Scores are uniform float32, or bfloat16 (float16 in CuPy). Labels are int64 (int32 in JAX). A cell
gives milliseconds, then in brackets the multiple of the library's own sort of the float32 scores,
then the peak of memory beyond the arguments over the bytes of those scores. The peers compute AUC
alone. JAX computes in `jit`, without x64, and was timed at an earlier commit. "torch-graph" replays
a captured CUDA graph: without Python's time, `roc_auc` of 10⁶ scores takes a quarter.

The marks are missed. "Four" take 10 to 12 times the sort from 10⁷ on (mark 2.5). torchmetrics takes
1.6 to 1.8 times as long as `roc_auc` (mark 3). Weights take 40 times the sort. The hull takes
seconds beyond 2²⁵ examples, and CuPy, which has few native forms, up to 60 times the sort.

"""
ABOUT = """\
## Counted, not timed

What a call launches and moves on a GPU can be counted without one. On PyTorch's meta device
operations have shapes but no values. We count those that are not views, and the bytes that they
read and write. For JAX we count in the program that XLA compiles for the CPU: lines, fused loops,
and memory beside arguments and results. CuPy does not report what its functions launch, so it is
not counted.

The calls start from {n:,} float32 or bfloat16 scores and int64 labels (int32 in JAX). "Four" are
AUC, PEM, average hit rate and average Qrecall of one ranking. Bytes and temporaries are multiples
of those of the scores. The times are predictions: a launch is assumed to take 4 µs, and memory to
move 3.5 TB/s (H200) or 0.25 TB/s (a laptop's GPU). A sort counts as one launch that reads and
writes once. Compiling is CPU time, on a machine that also ran other programs. "Mark" is what the
call should need at most. Versions: {versions}.

```sh
python -m benchmarks.device                # all calls
python -m benchmarks.device roc_auc        # those of a name
python -m benchmarks.device --json benchmarks/device/counted.json
benchmarks/gpu.sh WHEELS OUT               # tests and times on the GPU at hand, offline
```

`benchmarks/gpu.sh` takes eight minutes. `--cpu` rehearses it on CPUs.

Without groups PyTorch misses one mark, the launches of "four". Of these 141, 32 make the ranking.
AUC and PEM take 15 each, average hit rate 26 and average Qrecall 53, since each sums its columns
anew. `summary` shares them.

`torch.compile` fuses most of this. On the CPU, Inductor writes 15 loops for `summary`, 10 for
`roc_auc` and 5 for `hit_rate`, beside sorts, searches and other calls of the library. The first
call then takes 2 to 6 s of CPU time.

By group the mark is 1.5 times the launches without groups: 48 for `rank`, 46 for `roc_auc` and 45
for `hit_rate`. They take 43, 45 and 45. `rank` sorts by score and then by group, and joins no keys.
The others make running counts and no more. They look at nothing before the sort: then bad labels
and scores are the first ones of their group, and bad ids the first or the last of all. `roc_auc`
sums over all groups at once, and takes off at the end what stands before each. `hit_rate` needs no
sort of one list, only a selection. PyTorch has none for lists of several lengths.

Where XLA misses a mark, its list of buffers shows why. `summary` has room for 13.2 times the bytes
of the scores. Alone, average hit rate takes 8.1, average Qrecall 5.3 and AUC 5.3. Columns of all of
them are there at once. The hull takes 10.5 times, of which 3 are the chain that it grows; of its
509 lines, 127 are the loop over the rows. Of the 492 lines of weighted AUC, 142 make the ranking
and 68 are a sum that is called five times. Floats are added in halves, and each half is written
out, because XLA on the CPU gives wrong sums where it fuses the terms. Seconds of compiling depend
on the load: metrax's `AUCROC`, which took 0.24 s of 1024 scores when the marks were set, took 0.23
s beside these.
"""


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


def section(markdown: Any) -> str:
    """What was timed and counted, for the documents' page."""
    return f"{_on_gpu(markdown)}\n{_counted(markdown)}"


def _on_gpu(markdown: Any) -> str:
    run = json.loads(TIMED.read_text(encoding="utf-8"))
    about = run["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    ends = {name: re.findall(r"\d+ (?:failed|passed)", x) for name, x in run["tests"].items()}
    tests = "; ".join(f"{name} {', '.join(found)}" for name, found in ends.items())
    parts = (markdown(x) for x in timed_tables(run["results"]))
    machine = f"{about['gpu']}, {about['date']}; {versions}"
    return ON_GPU.format(machine=machine, tests=f"Tests: {tests}") + "\n".join(parts)


def _counted(markdown: Any) -> str:
    run = json.loads(STORED.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    about = ABOUT.format(n=run["n"], versions=versions)
    return "\n".join([about, *(f"{x.title}.\n\n{markdown(x)}" for x in tables(run))])


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
