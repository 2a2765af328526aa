"""Spreadsheets in .xlsx files, which the extra `excel` reads and writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

openpyxl = pytest.importorskip("openpyxl")

Run = Callable[..., Any]
ROWS = [
    ("y", "s", "day", "note"),
    ("yes", 2, datetime(2026, 1, 1), "x"),
    ("no", 0.5, datetime(2026, 1, 2), 7),
    ("yes", 1, datetime(2026, 1, 3)),
    ("no", "#N/A", datetime(2026, 1, 4), None),
    (None, None, None, None),
]
ASKED = ("--label", "y", "--pos-label", "yes", "--score", "s")


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    book = openpyxl.Workbook()
    for row in ROWS:
        book.active.append(row)
    book.create_sheet("others")
    book.save(tmp_path / "a.xlsx")
    return tmp_path / "a.xlsx"


def test_evaluate(run: Run, sheet: Path) -> None:
    missing = run("evaluate", sheet, *ASKED).err
    assert "column 's': missing value at row 4" in missing
    outcome = run(
        "evaluate", sheet, *ASKED, "--where", "day<2026-01-04", "--drop-missing", "--json"
    )
    assert "the sheet 'Sheet' is read, the first of several" in outcome.err
    content = json.loads(outcome.out)
    assert (content["rows"], content["positives"]) == (3, 2)
    assert content["models"][0]["roc_auc"] == 1


def test_select_writes_what_it_reads(run: Run, sheet: Path) -> None:
    output = sheet.with_name("chosen.xlsx")
    outcome = run("select", sheet, "--score", "s", "--quota", 2, "--drop-missing", "-o", output)
    assert outcome.status == 0, outcome.err
    found = list(openpyxl.load_workbook(output).active.iter_rows(values_only=True))
    assert found == [ROWS[0], ROWS[1], (*ROWS[3], None)]


def test_what_is_no_spreadsheet(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_text("y,s\n1,2\n")
    assert "a.xlsx is not an .xlsx file, whatever its name" in run("evaluate", path, *ASKED).error
