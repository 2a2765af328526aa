"""Simulate, or write the page of a stored run."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks.coverage.page import PAGE, STORED, everything, page
from benchmarks.coverage.sources import SOURCES
from benchmarks.coverage.study import KINDS, Plan, Run, simulated


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["report"]:
        return _report(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    plan = Plan()
    parser.add_argument("--replications", type=int, default=plan.replications, metavar="N")
    parser.add_argument("--resamples", type=int, default=plan.resamples, metavar="R")
    parser.add_argument("--seed", type=int, default=plan.seed)
    parser.add_argument("--kinds", nargs="+", choices=tuple(KINDS), default=plan.kinds)
    parser.add_argument("--sources", nargs="+", choices=tuple(SOURCES), default=plan.sources)
    parser.add_argument("--json", metavar="FILE", help="store the results")
    chosen = parser.parse_args(arguments)
    several = tuple(chosen.kinds), tuple(chosen.sources)
    plan = Plan(chosen.replications, chosen.resamples, chosen.seed, *several)
    run: Run = {}
    for found in simulated(plan, lambda line: print(line, file=sys.stderr, flush=True)):
        run = _stored(found, Path(chosen.json)) if chosen.json else found
    print(everything(run))
    return 0


def _stored(run: Run, file: Path) -> Run:
    """The run, and what a file already holds of others, stored there."""
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    both = {kind: before.get(kind, {}) | run.get(kind, {}) for kind in KINDS}
    whole = {
        kind: {name: found[name] for name in SOURCES if name in found}
        for kind, found in both.items()
        if found
    }
    file.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return whole


def _report(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage report")
    parser.add_argument("json", nargs="?", default=STORED, help="what a run has stored")
    parser.add_argument("-o", "--output", default=PAGE, help="the page")
    parser.add_argument("--all", action="store_true", help="print every figure instead")
    chosen = parser.parse_args(arguments)
    run = json.loads(Path(chosen.json).read_text(encoding="utf-8"))
    if chosen.all:
        print(everything(run))
    else:
        Path(chosen.output).write_text(page(run), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
