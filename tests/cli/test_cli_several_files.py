"""`evaluate` on a directory or a pattern of CSV files: the answer for all rows in one file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
ASKED = ("--label", "y", "--score", "s", "--json")
PARTS = {"a.csv": "y;s\n1;0,5\n0;1\n", "b.csv": "s,y\n2,1\n3,0\n", "empty.csv": "y,s\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of other separators, orders of columns and types of numbers."""
    (tmp_path / "parts").mkdir()
    for name, text in PARTS.items():
        (tmp_path / "parts" / name).write_text(text)
    (tmp_path / "parts" / "notes.txt").write_text("of no interest")
    return tmp_path / "parts"


def test_a_directory_is_all_its_files(run: Run, folder: Path) -> None:
    whole = folder.with_name("whole.csv")
    whole.write_text("y,s\n1,0.5\n0,1\n1,2\n0,3\n")
    wanted = json.loads(run("evaluate", whole, *ASKED, "--confidence", 0.9).out)
    for path, source in ((folder, "parts"), (folder / "*.csv", str(folder / "*.csv"))):
        outcome = run("evaluate", path, *ASKED, "--confidence", 0.9)
        assert outcome.status == 0, outcome.err
        assert json.loads(outcome.out) == {**wanted, "source": source}


def test_what_does_not_go_together(run: Run, folder: Path) -> None:
    (folder / "c.csv").write_text("y,s\n1,high\n")
    assert "parts cannot be read" in run("evaluate", folder, *ASKED).error
    (folder / "c.csv").write_text("y\n1\n")
    assert "c.csv has no column 's'" in run("evaluate", folder, *ASKED).error
    (folder / "c.jsonl").write_text('{"y": 1, "s": 2}\n')
    several = "holds files of several types, such as a.csv and c.jsonl"
    assert several in " ".join(run("evaluate", folder, *ASKED).error.split())
