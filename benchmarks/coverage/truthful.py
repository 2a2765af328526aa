"""How often what the command says is false: `python -m benchmarks.coverage.truthful`."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.coverage.claims import judged
from benchmarks.coverage.populations import POPULATIONS, Population
from quotakernels.cli import main as command

RESAMPLES = 200
Counts = dict[str, tuple[int, int]]
"""By claim: how often it was made, and how often it was false."""


def printed(source: Population, seed: Sequence[int], directory: str) -> str:
    """What the command prints of a data set."""
    columns = source.sample(np.random.default_rng(seed))
    path = Path(directory) / "rows.parquet"
    parquet.write_table(pa.table(columns), path)
    line = ["quotakernels", "evaluate", str(path), *source.line, "--confidence", "95%"]
    line += ["--resamples", str(RESAMPLES), "--seed", str(seed[-1])]
    line += ["--compare"] if len(source.shifts) > 1 else []
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", line),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.suppress(SystemExit),
    ):
        command()
    if not out.getvalue():
        raise RuntimeError(f"{' '.join(line)}: {err.getvalue()}")
    return out.getvalue()


def counted(name: str, replications: Iterable[int]) -> Counts:
    """The claims about a population."""
    source, made, false = POPULATIONS[name], Counter[str](), Counter[str]()
    place = list(POPULATIONS).index(name)
    with tempfile.TemporaryDirectory() as directory:
        for k in replications:
            found = judged(
                printed(source, (place, k), directory), source.truth, len(source.shifts) > 1
            )
            made.update(found.keys())
            false.update(x for x, is_false in found.items() if is_false)
    return {x: (made[x], false[x]) for x in made}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the claims that are false somewhere, with how often."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage.truthful")
    parser.add_argument("--replications", type=int, default=200, metavar="N")
    parser.add_argument(
        "--first", type=int, default=0, metavar="K", help="of which this is the first"
    )
    parser.add_argument(
        "--populations", nargs="+", choices=tuple(POPULATIONS), default=[*POPULATIONS]
    )
    parser.add_argument("--json", metavar="FILE", help="store all counts")
    chosen = parser.parse_args(arguments)
    all_counts = {}
    for name in chosen.populations:
        start = time.process_time()
        found = counted(name, range(chosen.first, chosen.first + chosen.replications))
        all_counts[name] = found
        print(f"{name} ({time.process_time() - start:.1f} s)", flush=True)
        for claim, (made, false) in sorted(found.items()):
            if false:
                share = 100 * false / chosen.replications
                print(f"  {share:5.1f} % false of {chosen.replications}, said in {made}: {claim}")
        if chosen.json:
            Path(chosen.json).write_text(json.dumps(all_counts, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
