"""Runs laid out for the terminal, and as the page of the documents."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_uppercase as LETTERS  # noqa: N812
from typing import Any

from benchmarks import host, machine
from benchmarks.device import page as counted
from benchmarks.tables import (
    Table,
    aligned,
    markdown,
    measurements,
    slower,
    tables,
    worst_table,
)

Result = dict[str, Any]

ABOUT = """\
# Benchmarks

This page is made of stored results by `python -m benchmarks report`; change `benchmarks/`, not it.

Absolute times differ from machine to machine, so read the ratios. Each contender was timed in
turns with its rivals, on the same data, in one run. After a peer's turn it is called once untimed.
Times are medians of a clock on the wall; "of CPU time" is what all threads took. "Middle half"
gives the quartiles. "Ns an element" is the library's own time for each score. Before timing, each
result is compared with the exact value. That is computed with whole numbers and fractions in plain
NumPy, or with 80-bit floats for average hit rate and AUC-PR. "Off by" is the largest distance from
it, in units of the last place of the result's type.

The floor is each backend's own bare sort of the same scores. The peers are scikit-learn's
`roc_auc_score`, torchmetrics' exact `binary_auroc`, and metrax's `AUCROC`, which approximates by
200 thresholds. They compute AUC alone. "Peer's AUC / time" is the time of the peer divided by our
time for all four measures. JAX computes inside `jit` and without x64; compiling is reported
separately. Memory is the peak beyond the input, in units of the scores. For NumPy it is what is
allocated, for JAX the plan of the compiled program, and for PyTorch the resident set of a process
on the CPU.

```sh
pip install -e ".[bench]"
python -m benchmarks --quick                              # a few minutes, all marks
python -m benchmarks --json benchmarks/results/           # kept as those of this machine
python -m benchmarks.host --json benchmarks/host.json     # NumPy alone, in CPU time; kept too
python -m benchmarks report --figure docs/benchmarks.svg  # this page, of all machines
```

A file of results is named by its machine: the processor, the vector instructions that NumPy uses,
and the nanoseconds that `np.sort` takes for an element. A later run on the same machine replaces
it. On some processors with AVX-512 `np.sort` is faster with narrower instructions. There run both
commands once more after `export NPY_DISABLE_CPU_FEATURES=X86_V4`: that counts as another machine.

metrax is measured if it is installed (`pip install google-metrax`); the extra leaves it out,
because it brings some twenty packages. `--only`, `--backends` and `--sizes` choose what runs,
`--figure` draws. On a machine with a GPU the same commands measure it, if `torch` for CUDA,
`jax[cuda12]` and `cupy-cuda12x` are installed. Sizes that need more than half of the available
memory are left out.
"""

MACHINES = """\
## Machines

`np.sort` is timed for 10⁶ uniform float32, before a run. For each mark the worst machine counts.
The measurements of one machine stand below, under its letter.
"""

SLOWER = """\
## Where a peer is faster

These are all the rows of this page in which a peer takes less time than this library. Peers compute
AUC alone, and this library the four measures, or five in a bootstrap. In calls and streams both
compute the same.
"""

READING = """\
## What the numbers depend on

A ratio depends on how fast the library sorts. On a machine where `np.sort` takes a quarter of the
time, ratios to it may be up to four times as high.

The keys of probabilities in float32 and their labels fit into 31 bits. Those of scores of both
signs need 33. They are sorted as two lists of 32-bit words, the upper and the lower half. That
costs one more pass over the words, but less than sorting 64-bit words, which takes twice as long.

If a peer's mark is missed, the remark says what the bare sort of the same scores would reach. There
is none where this library takes less time than that sort, as words sort faster than floats in JAX
and PyTorch. In JAX half of the time of the four measures is the sort of words.

AUC-PR spends a third of its time on logarithms and a quarter on reading the columns of the table.
The hull spends three quarters on rounds that drop the points below the line through their
neighbours. `select` spends four fifths on writing the share of each score: several arrays of eight
bytes for each, which mostly are new pages of memory.

A call of `roc_auc` on a thousand examples makes 50 calls of Python and NumPy functions, and
`pr_auc` makes 340. For several measures, call `summary`, or rank once.

For a resample with 30 % positives, a quarter of the time goes into the draws, a fifth into the
table and the rest into the five measures. Draws and table alone would take 1/30 of scikit-learn's
loop.
The time of the default interval is part of the figure. It leaves out 200 parts of the
examples in turn, beside the 1000 resamples of NumPy. Beside the 64 resamples of JAX and PyTorch it
leaves out 64 parts, which doubles their time.

The states of a stream are histograms of 65536 bins, which are exact for scores of 16 bits, and
buffers. Buffers grow, or in JAX have room for 16 batches. In JAX updates are jitted, and the
memory of the state is donated. Elsewhere an update of a histogram copies its bins and adds the
batch to them, so all small batches cost about the same. The bare count counts the patterns of the
16-bit scores, without their labels. AUC is measured of the histogram after one batch, and of the
buffer after 16. Peers get the float32 batch: torchmetrics' exact metric keeps it, and with 200
thresholds torchmetrics and metrax count it. metrax' update is jitted too.
"""


def page(runs: Mapping[str, Result], figure: str | None = None) -> str:
    """The document: all machines and marks, then a section for each run, by its label."""
    on_host = host.stored()
    names = dict(zip(sorted({*runs, *on_host}), LETTERS, strict=False))
    shown = {names[label]: run for label, run in sorted(runs.items())}
    about = {label: run["machine"] for label, run in (*on_host.items(), *runs.items())}
    machines = [(names[label], *machine.row(about[label])) for label in names]
    parts = [ABOUT]
    if figure:
        parts.append(f"![time over the sort's, by number of scores]({figure})\n")
    parts += [MACHINES, markdown(Table("", ("", *machine.HEAD), machines))]
    parts += ["## Marks\n", markdown(worst_table(shown)), SLOWER, markdown(slower(shown))]
    parts += [_section(name, run) for name, run in shown.items()]
    of_host = {names[label]: on_host[label] for label in names if label in on_host}
    return "\n".join((*parts, host.section(of_host, markdown), counted.section(markdown), READING))


def _section(name: str, run: Result) -> str:
    about = run["machine"]
    lines = [f"## {name}: {about['gpu'] or about['cpu']}\n", description(run), ""]
    for table in measurements(run):
        if table.rows:
            lines += [f"### {table.title}\n", markdown(table)]
    return "\n".join(lines)


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


def terminal(run: Result) -> str:
    """The same for a terminal, the marks last."""
    first, *rest = tables(run)
    blocks = [aligned(table) for table in (*rest, first)]
    return "\n\n".join([description(run), *blocks])
