"""The command line: ``python -m benchmarks`` runs, ``… report`` writes the documents' page."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.backends import BACKENDS
from benchmarks.cases import CASES
from benchmarks.machine import label
from benchmarks.report import everything, page, terminal
from benchmarks.suite import Plan, run

Result = dict[str, Any]
STORED = Path("benchmarks/results")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["report"]:
        return report(arguments[1:])
    return measure(arguments)


def measure(arguments: list[str]) -> int:
    """Run, print, and write what is asked for; 1 if a result was wrong."""
    chosen = _run_parser().parse_args(arguments)
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the GPU has other users
    plan = Plan(
        quick=chosen.quick,
        sizes=tuple(chosen.sizes),
        largest=chosen.largest,
        seconds=chosen.seconds,
        patience=chosen.patience,
        backends=tuple(chosen.backends),
        only=tuple(chosen.only),
    )

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def keep(found: Result) -> None:
        if chosen.json:
            _file(Path(chosen.json), found).write_text(dump(found), encoding="utf-8")

    found = json.loads(dump(run(plan, _command(chosen), say, keep)))  # as it is stored
    keep(found)
    print(terminal(found))
    return int(any(skip["why"].startswith("wrong result") for skip in found["skipped"]))


def report(arguments: list[str]) -> int:
    """Write the page of stored runs, or print all that they hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks report", description=report.__doc__)
    parser.add_argument("json", nargs="*", help=f"results that runs have stored; else {STORED}/")
    parser.add_argument("-o", "--output", default="docs/benchmarks.md", help="the page")
    parser.add_argument("--all", action="store_true", help="print everything instead")
    chosen = parser.parse_args(arguments)
    paths = [Path(path) for path in chosen.json] or sorted(STORED.glob("*.json"))
    runs = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}
    if chosen.all:
        print(everything(runs))
    else:
        Path(chosen.output).write_text(page(runs), encoding="utf-8")
    return 0


def _file(given: Path, found: Result) -> Path:
    """What is given, or in a folder the file of this machine."""
    if not given.is_dir():
        return given
    return given / f"{label(found['machine'], (x.stem for x in given.glob('*.json')))}.json"


def dump(found: Result) -> str:
    """Numbers with five digits: more would be noise."""
    return json.dumps(_rounded(found), indent=1, ensure_ascii=False) + "\n"


def _rounded(x: Any) -> Any:
    if isinstance(x, dict):
        return {name: _rounded(value) for name, value in x.items()}
    if isinstance(x, list):
        return [_rounded(value) for value in x]
    return float(f"{x:.5g}") if isinstance(x, float) else x


def _run_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Times the library beside the bare sort of the scores, and beside its peers.",
        epilog="python -m benchmarks report JSON ... writes the page of stored results.",
    )
    parser.add_argument("--quick", action="store_true", help="a few minutes; every mark")
    parser.add_argument("--sizes", nargs="+", type=_whole, default=[], metavar="N")
    parser.add_argument("--largest", type=_whole, metavar="N", help="leave out larger sizes")
    parser.add_argument("--seconds", type=float, metavar="S", help="time for each contender")
    parser.add_argument(
        "--patience",
        type=float,
        default=Plan().patience,
        metavar="S",
        help="leave out sizes of which a call would take longer",
    )
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=[], metavar="NAME")
    parser.add_argument("--only", nargs="+", choices=CASES, default=[], metavar="CASE")
    parser.add_argument(
        "--json", metavar="FILE", help="store the results; in a folder, as this machine's"
    )
    return parser


def _whole(text: str) -> int:
    value = float(text)
    if value < 10 or value != int(value):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 10")
    return int(value)


def _plain(x: Any) -> str:
    return f"{x:g}" if isinstance(x, float) else str(x)


def _command(chosen: argparse.Namespace) -> str:
    """What was run, without the files it wrote."""
    words = ["python -m benchmarks"]
    words += ["--quick"] if chosen.quick else []
    for name in ("sizes", "largest", "seconds", "patience", "backends", "only"):
        given = getattr(chosen, name)
        unset = given is None or (name == "patience" and given == Plan().patience)
        listed = given if isinstance(given, list) else [] if unset else [given]
        values = [f"'{x}'" if " " in str(x) else _plain(x) for x in listed]
        words += [f"--{name} {' '.join(values)}"] if values else []
    return " ".join(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
