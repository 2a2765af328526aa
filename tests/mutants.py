"""Change the library a little at a time and see whether a test notices.

``python tests/mutants.py --sample 200`` changes one operator, constant or condition of the ranking,
the operations, the measures and the inference at a time, in a copy, and runs NumPy tests that
reach the changed line, the quickest first.  A change that no test notices is a survivor; it is
printed, unless ``DECIDED`` says why it changes no result.  Needs ``coverage``.
"""

from __future__ import annotations

import argparse
import ast
import concurrent.futures
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("ranking.py", "ops", "measures", "inference")
LEFT_OUT = ("native/cupy_.py", "native/jax_.py", "native/torch_.py")
"""Forms of libraries that the NumPy tests do not run."""
TESTS = ("tests", "quotakernels")
NOT_RUN = ("cli", "report", "plots", "adapters", "experiments", "peers")
MODES = "not jax and not torch and not cupy and not compile and (not strict or strictest)"
"""NumPy, and the strictest standard, which runs the standard forms of the operations."""

COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
COMPARE |= {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is}
COMPARE |= {ast.In: ast.NotIn, ast.NotIn: ast.In}
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
ARITHMETIC |= {ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult}
ARITHMETIC |= {ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift}
ARITHMETIC |= {ast.RShift: ast.LShift}


class Mutant(NamedTuple):
    """One change: the place, the number of the node in the file, and the line that is changed."""

    path: str
    line: int
    node: int
    change: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.change}"


DECIDED: dict[tuple[str, str], str] = {
    (
        "quotakernels/inference/areas.py",
        "defined = (((sizes[0] >= 1)) & (sizes[1] > 1))[..., None] & good",
    ): "the deviation of a single example is 0/0, NaN too",
    (
        "quotakernels/inference/_resamples.py",
        "places = xp.argsort(xp.argsort(number, stable=True), stable=(False))",
    ): "the numbers that this one puts in order are all different",
    (
        "quotakernels/inference/bands.py",
        "ERROR_ROUNDING = 2.0**-(41)",
    ): "far from rounding and from real differences, too",
    (
        "quotakernels/inference/bootstrapping.py",
        "max_memory: int = (2 * 30),",
    ): "how many resamples are held at once",
    (
        "quotakernels/measures/hull.py",
        "return xp.where(share > (1.5), xp.log1p(-other), xp.log(share))",
    ): "last places alone",
    (
        "quotakernels/measures/charts.py",
        "return xp.where((direct >= FAR), xp.log2(rest) - xp.log2(part), direct)",
    ): "both forms hold at the bound",
    (
        "quotakernels/inputs/numbers.py",
        "return math.inf if number > (1) else -math.inf",
    ): "the number is beyond all floats",
    (
        "quotakernels/measures/tables/rates.py",
        "near = (surplus > -base / (3)) & (surplus < base)",
    ): "both forms hold between the two bounds",
    (
        "quotakernels/measures/tables/rates.py",
        "shares = xp.nan_unless(truth > 0, cells / truth / cells.shape[-(2)])",
    ): "tables are square",
    (
        "quotakernels/inference/_distributions.py",
        "return 1.0 + (1) * statistic",
    ): "a statistic that is not above 0 is 0 or NaN",
    (
        "quotakernels/ops/native/_numpy_rows.py",
        "for rows in blocks(table.counts.shape[0], (9) * BLOCK):  # masses are made anew",
    ): "how many rows are held at once",
    (
        "quotakernels/inference/bands.py",
        "at = xp.broadcast_to(at, (*curve.value.shape[:(1)], at.shape[0]))",
    ): "models have one axis",
    (
        "quotakernels/ops/binning.py",
        "layout = Few() if is_below(size, 2**(32)) else ()",
    ): "more examples than memory holds",
    (
        "quotakernels/measures/at_quota.py",
        "if (not len(parts) > 1):",
    ): "a single part ends where nothing follows",
    (
        "quotakernels/measures/_measure.py",
        'if (len(cut) == 1) or not (cut.keys() <= {"quota", "fraction"}):',
    ): "the general way finds the same, after a sort",
    (
        "quotakernels/measures/_units.py",
        "limit = most - most // (41)  # where the power and its inverse are usual floats",
    ): "a power of two that is as usual",
}
"""Survivors that change no result, by file and changed line, with the reason."""


# changes


def files() -> list[Path]:
    """The files that are changed."""
    package = ROOT / "quotakernels"
    found = [p for part in PARTS for p in sorted((package / part).rglob("*.py"))]
    found += [package / part for part in PARTS if part.endswith(".py")]
    return [path for path in found if not str(path).endswith(LEFT_OUT)]


def without_effect(tree: ast.AST) -> set[ast.AST]:
    """Nodes of types and of zip's `strict`, which do nothing, and of texts, which have no place.

    A measure that is not known to be `by_positives` is computed in a slower way to the same value.
    """
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        parts = [getattr(node, name, None) for name in ("annotation", "returns")]
        if isinstance(node, ast.keyword) and node.arg in ("strict", "by_positives"):
            parts.append(node.value)
        types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if types or isinstance(node, ast.JoinedStr):
            parts.append(node)
        skipped.update(x for part in parts if part is not None for x in ast.walk(part))
    return skipped


def changed(node: ast.AST) -> ast.expr | None:
    """Another expression in place of one, or None."""
    match node:
        case ast.Compare(left, [op, *rest], others) if type(op) in COMPARE:
            return ast.Compare(left, [COMPARE[type(op)](), *rest], others)
        case ast.BinOp(left, op, right) if type(op) in ARITHMETIC:
            return ast.BinOp(left, ARITHMETIC[type(op)](), right)
        case ast.BoolOp(op, values):
            return ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(_, operand):
            return operand
        case ast.Constant(value) if type(value) is bool:
            return ast.Constant(not value)
        case ast.Constant(value) if type(value) in (int, float):
            return ast.Constant(value + 1)
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, orelse, body)
    return None


def changes_of(path: Path) -> Iterator[tuple[Mutant, str]]:
    """All changes of one file, and the file with each; what is not changed stays in its line."""
    text = path.read_bytes()
    tree, lines = ast.parse(text), text.splitlines(keepends=True)
    skipped = without_effect(tree)
    for number, node in enumerate(ast.walk(tree)):
        before, after = node, changed(node)
        if isinstance(node, ast.If):
            before, after = node.test, ast.UnaryOp(ast.Not(), node.test)
        if node in skipped or after is None:
            continue
        first, last = before.lineno - 1, before.end_lineno - 1
        head = b"".join(lines[:first]) + lines[first][: before.col_offset]
        tail = lines[last][before.end_col_offset :] + b"".join(lines[last + 1 :])
        source = (head + f"({ast.unparse(after)})".encode() + tail).decode()
        change = source.splitlines()[first].strip()
        yield Mutant(str(path.relative_to(ROOT)), first + 1, number, change), source


def source_of(mutant: Mutant) -> str:
    """The file with the change."""
    return next(source for other, source in changes_of(ROOT / mutant.path) if other == mutant)


def sampled(only: str, size: int, seed: int) -> tuple[int, list[Mutant]]:
    """How many changes there are in files whose path holds a text, and some of them."""
    every = [x[0] for path in files() if only in str(path) for x in changes_of(path)]
    return len(every), random.Random(seed).sample(every, min(size, len(every)))


# tests


@contextlib.contextmanager
def checkout() -> Iterator[Path]:
    """A copy of the repository."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "checkout"
        kept_out = shutil.ignore_patterns(".git", ".*cache", "__pycache__", ".venv", ".site")
        shutil.copytree(ROOT, copy, ignore=kept_out)
        if (shared := ROOT.parent / "shared").is_dir():
            (copy.parent / "shared").symlink_to(shared.resolve())
        yield copy


def run(copy: Path, *arguments: str, seconds: float | None = None, **environment: str) -> Any:
    """Run Python in a copy."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


RECORDER = """
import coverage, json, os, pytest
seconds, failed = {}, set()
@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    coverage.Coverage.current().switch_context(item.nodeid)
    result = yield
    coverage.Coverage.current().switch_context("")
    return result
def pytest_runtest_logreport(report):
    seconds[report.nodeid] = seconds.get(report.nodeid, 0) + report.duration
    if report.failed:
        failed.add(report.nodeid)
def pytest_sessionfinish(session):
    with open("seconds.json", "w") as file:
        json.dump({name: x for name, x in seconds.items() if name not in failed}, file)
    print("left out, since they fail without a change:", *failed)
"""

Reached = dict[str, dict[str, list[str]]]
"""The tests that reach each line of each file."""


def tests_by_line() -> tuple[Reached, dict[str, float]]:
    """The tests that reach each line of each file, and the seconds of each test that passes."""
    from coverage import CoverageData

    ignored = [f"--ignore=tests/{name}" for name in NOT_RUN]
    with checkout() as copy:
        (copy / "recorder.py").write_text(RECORDER)
        command = ["-m", "coverage", "run", "--source=quotakernels", "-m", "pytest", "-q"]
        command += ["-m", ""]  # the full matrix too
        ended = run(copy, *command, "-p", "recorder", "-k", MODES, *ignored, *TESTS)
        print(ended.stdout[-2000:], ended.stderr[-2000:])
        data = CoverageData(str(copy / ".coverage"))
        data.read()
        reached = {
            str(Path(path).relative_to(copy.resolve())): {
                str(line): tests for line, tests in data.contexts_by_lineno(path).items()
            }
            for path in data.measured_files()
        }
        return reached, json.loads((copy / "seconds.json").read_text())


def kept_tests_by_line(file: Path | None) -> tuple[Reached, dict[str, float]]:
    """`tests_by_line`, kept in a file, since finding it takes longer than the tests."""
    if file is None:
        return tests_by_line()
    if not file.is_file():
        file.write_text(json.dumps(tests_by_line()))
    reached, seconds = json.loads(file.read_text())
    return reached, seconds


class Tests(NamedTuple):
    """Which tests reach what, how long they take, and how many seconds of them run."""

    reached: Reached
    seconds: dict[str, float]
    budget: float

    def of(self, mutant: Mutant) -> list[str]:
        """The tests of a line, or of its file where none has run it: it runs at import.

        The quickest case of every test comes first, then the second of each, and so on.
        """
        lines = self.reached.get(mutant.path, {})
        found = set(lines.get(str(mutant.line), ())) & self.seconds.keys()
        if not found:
            found = {test for tests in lines.values() for test in tests} & self.seconds.keys()
        cases: Counter[str] = Counter()
        ordered = []
        for test in sorted(found, key=lambda x: (self.seconds[x], x)):
            function = test.partition("[")[0]
            cases[function] += 1
            ordered.append((cases[function], self.seconds[test], test))
        return self.within_budget([test for *_, test in sorted(ordered)])

    def within_budget(self, ordered: list[str]) -> list[str]:
        """The first tests, as many as there are seconds for, and no test that lasts longer."""
        chosen, spent = [], 0.0
        for test in ordered:
            if spent + self.seconds[test] <= self.budget:
                chosen.append(test)
                spent += self.seconds[test]
        return chosen


def failing(copy: Path, tests: list[str], *options: str, seconds: float | None = None) -> set[str]:
    """The tests that fail in a copy, or why they did not run to the end."""
    (copy / "chosen.txt").write_text("\n".join(tests))
    try:
        ended = run(copy, "-m", "pytest", "-q", "-m", "", *options, "@chosen.txt", seconds=seconds)
    except subprocess.TimeoutExpired:
        return {"no end"}
    if ended.returncode not in (0, 1, 2):
        return {"no import"} if run(copy, "-c", "import quotakernels").returncode else set()
    last = copy / ".pytest_cache" / "v" / "cache" / "lastfailed"
    return set(json.loads(last.read_text())) if ended.returncode else set()


def noticed(mutant: Mutant, tests: list[str], budget: float) -> set[str]:
    """The first test that fails on a copy of the library with the change."""
    if not tests:
        return set()
    with checkout() as copy:
        (copy / mutant.path).write_text(source_of(mutant), encoding="utf-8")
        found = failing(copy, tests, "-x", seconds=300 + 5 * budget)
    print("." if found else f"\n{mutant}", end="", flush=True)
    return found


def noticed_by(tried: list[Mutant], tests: Tests, workers: int) -> dict[Mutant, set[str]]:
    """What notices each change; a test that fails without a change is taken out, and all redone."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        found = pool.map(lambda m: noticed(m, tests.of(m), tests.budget), tried)
        by = dict(zip(tried, found, strict=True))
    with checkout() as copy:
        named = {test for found in by.values() for test in found if test in tests.seconds}
        wrong = failing(copy, sorted(named)) if named else set()
    if not wrong:
        return by
    print("\nleft out, since they fail without a change:", *wrong)
    left = {test: x for test, x in tests.seconds.items() if test not in wrong}
    again = [mutant for mutant, found in by.items() if found & wrong]
    return by | noticed_by(again, tests._replace(seconds=left), workers)


def main() -> None:
    """Print the survivors and how many changes were noticed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sample", type=int, default=200, help="how many changes")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", default="", help="change files whose path holds this")
    options.add_argument("--budget", type=float, default=100, help="seconds of tests for a change")
    options.add_argument("--workers", type=int, default=os.cpu_count())
    options.add_argument(
        "--keep", type=Path, help="a file that keeps which tests reach what, until lines move"
    )
    given = options.parse_args()
    there_are, tried = sampled(given.only, given.sample, given.seed)
    tests = Tests(*kept_tests_by_line(given.keep), given.budget)
    by = noticed_by(tried, tests, given.workers)
    survivors = [mutant for mutant in tried if not by[mutant]]
    decided = [mutant for mutant in survivors if (mutant.path, mutant.change) in DECIDED]
    print("\n\nnoticed by no test:", *(set(survivors) - set(decided)), sep="\n")
    print("\nwithout an end:", *(m for m, found in by.items() if "no end" in found), sep="\n")
    count, seen = len(tried) - len(decided), len(tried) - len(survivors)
    print(f"\n{there_are} changes, {len(tried)} tried, {len(decided)} of them without effect")
    print(f"{seen} of {count} noticed: {seen / max(count, 1):.1%}")


if __name__ == "__main__":
    main()
