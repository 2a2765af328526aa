"""Help for newcomers: the pages, and what is said about typical mistakes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from backends import in_full
from command import ROOT, run, table

import quotakernels as qk

PAGE = run("--help").out
COMMANDS = re.findall(r"^  (\w+)  +\w", PAGE.partition("\nCommands:\n")[2], re.MULTILINE)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_pages_fit_a_terminal(command: str) -> None:
    outcome = run(*command.split(), "--help")
    assert outcome.status == 0
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert run(*command.split(), "-h") == outcome


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_shown_once_under_a_heading(command: str) -> None:
    page = run(command, "--help").out
    options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", page, re.MULTILINE)
    assert sorted(options) == sorted(set(options))
    assert "\nOptions:\n" not in page, "each option has a heading of its own"


def test_commands_are_in_the_order_of_their_use() -> None:
    assert COMMANDS == ["evaluate", "report", "select", "plan", "tables", "sql"]


BY_COMMAND = [
    re.findall(r"^    (quotakernels .*(?:\n        .*)*)", page, re.MULTILINE)
    for page in (PAGE, *(run(command, "--help").out for command in COMMANDS))
]
EXAMPLES = [example for found in BY_COMMAND for example in found]


def test_every_command_has_examples() -> None:
    assert all(BY_COMMAND)
    assert len(EXAMPLES) == 21


@pytest.mark.parametrize("example", [x if x in EXAMPLES[::7] else in_full(x) for x in EXAMPLES])
def test_examples_can_be_typed(tmp_path: Path, example: str) -> None:
    columns = {"bought": [0, 1] * 150, "a": list(range(300)), "b": [3, 1, 2] * 100}
    columns |= {"spend": [1] * 300, "amount": [1] * 300}
    path = table(tmp_path, **columns, part=["a", "a", "b"] * 100, branch=["n", "s"] * 150)
    words = example.replace("\\\n", " ").replace('"scores/*.parquet"', "FILE").split()
    written = ("chosen.csv", "report.html", "tables.csv")
    places = {"FILE": path, **{name: tmp_path / name for name in written}}
    outcome = run(*(places.get(word, word) for word in words[1:]))
    assert outcome.status == 0, outcome.err


def test_many_columns_are_not_all_listed(tmp_path: Path) -> None:
    path = table(tmp_path, **{f"column_{i}": [1, 2] for i in range(100)})
    message = run("evaluate", path, "--label", "y", "--score", "s").error
    assert "column_19 and 80 more" in message
    assert "column_20" not in message


# the command as it is installed: without its extra, and as a module


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.parametrize("package", ["click", "pyarrow", "rich"])
def test_missing_extra_says_what_to_install(package: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None; from quotakernels.cli import main; "
        "sys.argv = ['quotakernels', 'evaluate', '--example', 'credit']; sys.exit(main())"
    )
    done = python("-c", code)
    assert done.returncode == 2
    assert done.stdout == ""
    assert 'pip install "quotakernels[cli]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_module_can_be_run() -> None:
    done = python("-m", "quotakernels", "--help")
    assert done.returncode == 0
    assert "evaluate" in done.stdout
    assert done.stdout == run("--help").out


def test_version() -> None:
    assert run("--version").out == f"quotakernels, version {qk.__version__}\n"
