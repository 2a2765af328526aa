"""Count all calls, or those of the names that are given, and print them beside their marks."""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.__main__ import dump
from benchmarks.backends import missing
from benchmarks.device.calls import CALLS
from benchmarks.device.marks import COMPILING, N
from benchmarks.device.page import tables
from benchmarks.tables import aligned

Result = dict[str, Any]
LIBRARIES = ("torch", "jax")
SHORT = 1024


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.device", description=__doc__)
    parser.add_argument("calls", nargs="*", metavar="CALL", help="with all that goes by the name")
    parser.add_argument("--only", nargs="+", choices=LIBRARIES, default=LIBRARIES)
    parser.add_argument("--every", action="store_true", help="compile measures without marks too")
    parser.add_argument("--operations", action="store_true", help="print what PyTorch runs")
    parser.add_argument("--json", metavar="FILE", help="store the counts")
    chosen = parser.parse_args(arguments)
    named = [x for x in CALLS if x.partition(",")[0] in chosen.calls]
    if chosen.calls and not named:
        parser.error(f"none of {', '.join(CALLS)} goes by {' or '.join(chosen.calls)}")
    if chosen.operations:
        return _print_operations(named)
    present = [x for x in chosen.only if not missing(x)]
    run = counted(named, present, chosen.every)
    if chosen.json:
        Path(chosen.json).write_text(dump(run), encoding="utf-8")
    print("\n\n".join(map(aligned, tables(run))))
    return 0


def counted(named: list[str], libraries: Iterable[str], every: bool = False) -> Result:
    """The costs of the calls, or of all; programs of those with marks, since compiling is slow."""
    run: Result = {"n": N, "versions": {x: importlib.metadata.version(x) for x in libraries}}
    if "torch" in libraries:
        run["torch"] = _launches(named or list(CALLS))
    if "jax" in libraries:
        wanted = named or [name for name in CALLS if every or name in COMPILING]
        run["jax"] = _programs([name for name in wanted if CALLS[name].n == N])
    return run


def _launches(names: list[str]) -> Result:
    from benchmarks.device import launches

    found = {name: launches.counted(CALLS[name]) for name in names}
    scores = {name: CALLS[name].n * (2 if CALLS[name].half else 4) for name in names}
    return {
        name: {**x._asdict(), "score_bytes": scores.get(name, 4 * N)}
        for name, x in (found | launches.others()).items()
    }


def _programs(names: list[str]) -> Result:
    from benchmarks.device import programs

    found: Result = {}
    for name in names:
        call = CALLS[name]
        found[name] = _both(programs.program(call), programs.program(call, SHORT))
    long, short = programs.others(N), programs.others(SHORT)
    return found | {name: _both(long[name], short[name]) for name in long}


def _both(long: Any, short: Any) -> Result:
    return {"long": long._asdict(), "short": short._asdict()}


def _print_operations(names: list[str]) -> int:
    from benchmarks.device import launches

    for name in names:
        parts = [f"{n} {what}" for what, n in launches.operations(CALLS[name]).items()]
        print(f"{name}: {', '.join(parts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
