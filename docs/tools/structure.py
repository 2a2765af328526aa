"""How large the library is, and how much of it one call visits.

`python docs/tools/structure.py` prints lines of code (no blanks, comments, docstrings) and files,
how often a measure asks for the type of its table, and what a few usual calls visit.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np

import quotakernels as qk

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(qk.__file__).parent
TABLES = {"TieTable", "QuotaCut", "CellsBeyond"}
NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(source: str) -> int:
    """How many lines hold code: no blanks, no comments, no strings that stand alone."""
    texts = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = (t for t in tokens if t.type not in NOT_CODE)
    return len({line for t in code for line in range(t.start[0], t.end[0] + 1)} - texts)


def asks_for_a_table(source: str) -> int:
    """How often a module asks `isinstance` whether a value is one of the tables."""
    return sum(
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "isinstance"
        and any(getattr(n, "id", getattr(n, "attr", "")) in TABLES for n in ast.walk(node.args[1]))
        for node in ast.walk(ast.parse(source))
    )


def visited(call: Callable[[], object]) -> tuple[int, int]:
    """How many calls of functions of the package, in how many files, a second call makes."""
    call()  # which imports
    files: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            files.append(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(files), len(set(files))


def main() -> None:
    """Print all figures."""
    for name, folder in (("package", PACKAGE), ("tests", ROOT / "tests")):
        sources = [path.read_text() for path in sorted(folder.rglob("*.py"))]
        print(f"{name}: {sum(map(code_lines, sources)):,} lines of code in {len(sources)} files")
    for room in sorted({path.parent for path in PACKAGE.rglob("*.py")}):
        lines = sum(code_lines(path.read_text()) for path in room.glob("*.py"))
        print(f"  {room.relative_to(PACKAGE.parent)}: {lines:,}")
    asked = sum(asks_for_a_table(path.read_text()) for path in (PACKAGE / "measures").rglob("*.py"))
    print(f"measures that ask for the type of their table: {asked}")
    rng = np.random.default_rng(0)
    y, s, other = rng.integers(0, 2, 1000), rng.random(1000).round(2), rng.random(1000)
    models = {"a": s, "b": other}
    for text, call in (
        ("hit_rate(y, s, quota=10)", lambda: qk.hit_rate(y, s, quota=10)),
        ("hit_rate(y, s, quota=[10, 20])", lambda: qk.hit_rate(y, s, quota=[10, 20])),
        ("evaluate of two models", lambda: qk.evaluate(y, models, quota=100)),
        ("the same, printed", lambda: str(qk.evaluate(y, models, quota=100))),
    ):
        calls, opened = visited(call)
        print(f"{text}: {calls:,} calls in {opened} files")


if __name__ == "__main__":
    main()
