"""Spreadsheets in .xlsx files, which the extra `excel` reads and writes."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from command import run
from pyarrow import parquet

openpyxl = pytest.importorskip("openpyxl")

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


def test_evaluate(sheet: Path) -> None:
    missing = run("evaluate", sheet, *ASKED).err
    assert "column 's': missing value at row 4" in missing
    outcome = run(
        "evaluate", sheet, *ASKED, "--where", "day<2026-01-04", "--drop-missing", "--json"
    )
    assert "the sheet 'Sheet' is read, the first of several" in outcome.err
    content = outcome.record
    assert (content["rows"], content["positives"]) == (3, 2)
    assert content["models"][0]["roc_auc"] == 1


def test_select_writes_what_it_reads(sheet: Path) -> None:
    output = sheet.with_name("chosen.xlsx")
    outcome = run("select", sheet, "--score", "s", "--quota", 2, "--drop-missing", "-o", output)
    assert outcome.status == 0, outcome.err
    found = list(openpyxl.load_workbook(output).active.iter_rows(values_only=True))
    assert found == [ROWS[0], ROWS[1], (*ROWS[3], None)]


HOSTILE = ["=1+1", '=cmd|"/c calc"!A1', "+1", "-x", "@SUM(A1)", "\t=1", "#N/A", "plain"]


def test_text_stays_text(tmp_path: Path) -> None:
    """In cells and headers: no formula, no error, and none after editing the cell."""
    content = {"s": np.arange(8.0), "=2+2": HOSTILE, "raw": [x.encode() for x in HOSTILE]}
    parquet.write_table(pa.table(content), tmp_path / "a.parquet")
    output = tmp_path / "a.xlsx"
    outcome = run("select", tmp_path / "a.parquet", "--score", "s", "--quota", 8, "-o", output)
    assert outcome.status == 0, outcome.err
    header, *rows = openpyxl.load_workbook(output).active.iter_rows()
    texts = [header[1], *(cell for row in rows for cell in row[1:])]
    assert [x.value for x in rows[-1][1:]] == [HOSTILE[0]] * 2
    for cell in texts:
        assert cell.data_type == "s"
        assert cell.quotePrefix == cell.value.startswith(("=", "+", "-", "@", "\t"))


def test_numbers_stay_the_same(tmp_path: Path) -> None:
    """Whole numbers of more digits than a spreadsheet keeps are written as texts."""
    scores = [0.1 + 0.2, 0.3, 1 / 3]
    ids = [2**53 + 1, -(10**14), 12345678901234567]
    many = [Decimal("1.234567890123456789"), Decimal("0.5"), None]
    ids_and_scores = pa.table({"s": scores, "id": ids, "many": many, "list": [[1]] * 3})
    parquet.write_table(ids_and_scores, tmp_path / "a.parquet")
    output = tmp_path / "a.xlsx"
    outcome = run("select", tmp_path / "a.parquet", "--score", "s", "--quota", 3, "-o", output)
    assert outcome.status == 0, outcome.err
    rows = list(openpyxl.load_workbook(output).active.iter_rows(min_row=2, values_only=True))
    assert [x[0] for x in rows] == sorted(scores, reverse=True)
    assert [x[1] for x in rows] == ["12345678901234567", str(2**53 + 1), -(10**14)]
    assert [x[2] for x in rows] == [None, "1.234567890123456789", 0.5]
    assert rows[0][3] == "[1]"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("\x07", r"column 'note': '\x07' in row 1 of the output cannot be written to .xlsx"),
        ("x" * 40_000, "column 'note': a text of 40,000 characters in row 1"),
    ],
)
def test_what_xlsx_cannot_hold(tmp_path: Path, text: str, error: str) -> None:
    parquet.write_table(pa.table({"s": [1.0], "note": [text]}), tmp_path / "a.parquet")
    given = ("--score", "s", "--quota", 1, "-o", tmp_path / "a.xlsx")
    assert error in run("select", tmp_path / "a.parquet", *given).error
    assert not (tmp_path / "a.xlsx").exists()


def test_too_many_rows(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"s": np.arange(2**20)}), tmp_path / "a.parquet")
    given = ("--score", "s", "--quota", 2**20, "-o", tmp_path / "a.xlsx")
    assert "holds 1,048,576 rows at most" in run("select", tmp_path / "a.parquet", *given).error


def changed(sheet: Path, part: str, change: Callable[[bytes], bytes] | None) -> Path:
    """The file with another content of a part, or without it."""
    path = sheet.with_name("changed.xlsx")
    with zipfile.ZipFile(sheet) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            if name != part or change is not None:
                content = old.read(name)
                new.writestr(name, change(content) if name == part and change else content)
    return path


DAMAGED: dict[str, list[Callable[[bytes], bytes] | None]] = {
    "xl/workbook.xml": [None, lambda _: b"\0\1\2", lambda x: x[: len(x) // 2]],
    "[Content_Types].xml": [None, lambda _: b"<a/>"],
    "xl/styles.xml": [lambda x: x[: len(x) // 2], lambda x: x.replace(b'xfId="0"', b'xfId="x"')],
    "xl/worksheets/sheet1.xml": [
        lambda _: b"",
        lambda x: x[: len(x) // 2],
        lambda x: x.replace(b"<v>2</v>", b"<v>two</v>"),
    ],
}


@pytest.mark.parametrize(("part", "change"), [(x, y) for x, each in DAMAGED.items() for y in each])
def test_damaged_files(sheet: Path, part: str, change: Any) -> None:
    error = run("evaluate", changed(sheet, part, change), *ASKED, "--drop-missing").error
    assert "Error: changed.xlsx cannot be read: it is damaged" in error


def test_only_charts(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.create_chartsheet("chart").add_chart(openpyxl.chart.BarChart())
    book.active.append(["y", "s"])
    book.save(tmp_path / "a.xlsx")
    del book[book.sheetnames[0]]
    book.save(tmp_path / "b.xlsx")
    given = ("--sheet", "chart")
    assert "has no sheet 'chart'" in run("evaluate", tmp_path / "a.xlsx", *ASKED, *given).error
    assert (
        "has no sheet with cells, only charts" in run("evaluate", tmp_path / "b.xlsx", *ASKED).error
    )
