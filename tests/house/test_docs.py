"""The documents tell the truth: their code runs and prints what they say, their tables are whole.

A block fenced as ``python`` is run by itself, one fenced as ``python continued`` after the blocks
before it in its document, and ``python after-first`` after the first of them; what it prints must
be the comments behind its ``print`` calls.  A block fenced as ``python no-run`` is only compiled.
One that is also ``compact`` prints tables that only the fast forms do not pad; without them it is
run, and what it prints is not compared.  A block fenced as ``output`` shows what the command in the
``sh`` block before it prints; lines of ``…`` stand for what is left out.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from backends import missing
from command import run
from public_names import PUBLIC

from quotakernels.ops import STANDARD_ONLY

pytestmark = pytest.mark.filterwarnings("error:only .* with fewer than")
ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\S+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)[^)]*\)")
OPTIONAL = (
    *("catboost", "clu", "cupy", "dask", "duckdb", "flax", "jax", "keras", "lightgbm"),
    *("lightning", "matplotlib", "metrax", "mlflow", "optax", "optuna", "pandas", "sklearn"),
    *("skorch", "tensorboard", "torch", "torchmetrics", "transformers", "xgboost"),
)
EXAMPLE = ["evaluate", "--example", "credit", "--quota", "100"]


def place(path: Path) -> str:
    """Where a document is in the repository."""
    return path.relative_to(ROOT).as_posix()


class Block(NamedTuple):
    """A fenced block of a document."""

    path: Path
    line: int
    language: str
    marks: frozenset[str]
    text: str

    def __str__(self) -> str:
        return f"{place(self.path)}:{self.line}"


def blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    found = []
    for fence in FENCE.finditer(text):
        line, (language, marks, body) = text.count("\n", 0, fence.start()) + 1, fence.groups()
        found.append(Block(path, line, language, frozenset(marks.split()), body))
    return found


def imported(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.partition(".")[0] for name in names}


def earlier(block: Block, all_blocks: list[Block]) -> list[Block]:
    """The blocks of its document that run before it."""
    before = all_blocks[: all_blocks.index(block)]
    ran = [x for x in before if x.path == block.path and "no-run" not in x.marks]
    return ran if "continued" in block.marks else ran[:1] if "after-first" in block.marks else []


def needed(block: Block, all_blocks: list[Block]) -> set[str]:
    """The optional packages that a block and those that run before it import."""
    texts = [x.text for x in (*earlier(block, all_blocks), block)]
    return set().union(*(imported(ast.parse(text)) for text in texts)) & set(OPTIONAL)


BLOCKS = [block for path in DOCUMENTS for block in blocks(path)]
PYTHON = [block for block in BLOCKS if block.language == "python"]


REACHED: dict[Path, tuple[list[Block], dict[str, Any]]] = {}
"""The blocks of a document that ran together, and the names they left."""


def names_after(before: list[Block]) -> dict[str, Any]:
    """The names that blocks of a document leave; none runs twice."""
    path = before[0].path if before else Path()
    ran, namespace = REACHED.pop(path, ([], {}))
    if not ran or ran != before[: len(ran)]:
        ran, namespace = [], {"__name__": "__document__"}
    for block in before[len(ran) :]:
        exec(block.text, namespace)
    return namespace


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_code_runs_and_prints_what_it_says(block: Block, capsys: pytest.CaptureFixture[str]):
    source = "\n" * block.line + block.text  # so that a traceback names the document's line
    code = compile(source, str(block.path), "exec", dont_inherit=True)
    if "no-run" in block.marks:
        return
    for name in needed(block, PYTHON):
        if reason := missing(name):
            pytest.skip(reason)
    before = earlier(block, PYTHON)
    namespace = names_after(before)
    capsys.readouterr()
    exec(code, namespace)
    if "continued" in block.marks:
        REACHED[block.path] = ([*before, block], namespace)
    said = PRINTED.findall(block.text)
    printed = capsys.readouterr().out.splitlines()
    other = "compact" in block.marks or "random_state" in block.text  # padded tables, other draws
    assert printed == said or (STANDARD_ONLY and other)


def test_a_continued_block_needs_what_the_blocks_before_it_import(tmp_path: Path):
    page = tmp_path / "page.md"
    fences = {"python": "import torch", "python no-run": "import jax", "python continued": "a = 1"}
    page.write_text("".join(f"```{fence}\n{text}\n```\n" for fence, text in fences.items()))
    first, shown, last = found = blocks(page)
    others = [first._replace(path=tmp_path / "other.md", text="import sklearn"), *found]
    assert earlier(last, others) == [first]
    assert needed(last, others) == {"torch"}
    alone = first._replace(marks=frozenset({"after-first"}), text="import optax")
    assert earlier(alone, [*others, alone]) == [first]
    assert needed(alone, [*others, last, alone]) == {"torch", "optax"}
    assert (needed(shown, others), needed(others[0], others)) == ({"jax"}, {"sklearn"})


def test_marks_of_code_blocks_are_known():
    known = {"after-first", "continued", "no-run", "compact"}
    assert frozenset().union(*(block.marks for block in PYTHON)) <= known
    assert len(PYTHON) == sum(d.read_text(encoding="utf-8").count("```python") for d in DOCUMENTS)


OTHERS = {"evaluate", "rank", "load_state", "save_state", "state_info"}
"""Functions that are no measures."""


def measures() -> set[str]:
    """The public functions but those that are none."""
    return {name for name in PUBLIC if name.islower()} - OTHERS


def test_the_table_has_every_measure():
    text = (ROOT / "docs" / "all_measures.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
    named = {name for row in rows for name in re.findall(r"`(?:\w+\.)?(\w+)`", row[2])}
    assert named == measures(), "docs/all_measures.md has a row for every measure, and no other"


@pytest.mark.parametrize("path", DOCUMENTS, ids=place)
def test_links_lead_somewhere(path: Path):
    links = LINK.findall(path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def printed_by(arguments: list[str]) -> list[str]:
    """The lines that the command prints in a process of its own."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": path}
    command = [sys.executable, "-m", "quotakernels", *arguments]
    done = subprocess.run(
        command, capture_output=True, check=True, cwd=ROOT, env=environment, timeout=120
    )
    return without_trailing_spaces(done.stdout.decode())


def without_trailing_spaces(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def test_readme_shows_what_the_example_prints():
    for name in ("click", "pyarrow", "rich"):
        pytest.importorskip(name)
    shown = [block for block in BLOCKS if block.language == "text"]
    assert len(shown) == 1
    assert f"quotakernels {' '.join(EXAMPLE)}\n" in (ROOT / "README.md").read_text("utf-8")
    assert shown[0].text.splitlines() == printed_by(EXAMPLE)


COMMANDS = [
    (command, output)
    for command, output in pairwise(BLOCKS)
    if command.path == output.path and (command.language, output.language) == ("sh", "output")
]


@pytest.mark.parametrize(("command", "output"), COMMANDS, ids=[str(x) for x, _ in COMMANDS])
def test_commands_print_what_is_shown_of_them(
    command: Block, output: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("click", "pyarrow", "rich"):
        pytest.importorskip(name)
    (tmp_path / "docs").symlink_to(ROOT / "docs")  # so that what commands write stays outside
    monkeypatch.chdir(tmp_path)
    outcome = run(*shlex.split(command.text.replace("\\\n", ""))[1:])
    assert outcome.status == 0, outcome.err
    printed = "\n".join(without_trailing_spaces(outcome.out)) + "\n"
    if STANDARD_ONLY and "--confidence" in command.text:
        return  # other draws
    parts = output.text.split("…\n")
    places = [printed.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
