"""Files from spreadsheets: titles above the names, sheets, cells without a value, several types."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from records import by_model

from quotakernels.cli import csv_files
from quotakernels.cli.app import app
from quotakernels.cli.options import READING

Run = Callable[..., Any]
HEADER = "Nr;Antwort;Wert"
ROWS = ["1;Ja;0,75", "2;Nein;0,25", "3;Ja;0,5"]
GIVEN = ("--label", "Antwort", "--pos-label", "Ja", "--score", "Wert")
READ = {"evaluate", "report", "select", "tables"}


def write_csv(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\r\n" for line in lines), encoding="utf-8", newline="")
    return path


def write_excel(path: Path, lines: list[str], *before: str) -> Path:
    """A sheet of these lines, after sheets with one cell."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title in before:
        book.create_sheet(title).append(["Deckblatt"])
    sheet = book.create_sheet("Daten")
    for line in lines:
        cells = [cell.strip() or None for cell in line.split(";")]
        sheet.append([float(x.replace(",", ".")) if x and "," in x else x for x in cells])
    book.save(path)
    return path


WRITERS: dict[str, Callable[..., Path]] = {"a.csv": write_csv, "a.xlsx": write_excel}


def auc(run: Run, path: Path, *options: object) -> float:
    outcome = run("evaluate", path, *GIVEN, "--json", *options)
    assert outcome.status == 0, outcome.err
    found: float = by_model(outcome.out)["models"][0]["roc_auc"]
    return found


@pytest.mark.parametrize("command", app.commands)
def test_all_commands_read_files_alike(command: str) -> None:
    own = [x for x in READING if x in app.commands[command].params]
    assert own == (list(READING) if command in READ else [])


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("above", [[], [""], [";;", " ; ;"], ["", ";;"]])
def test_empty_rows_above_the_names_are_left_out(
    run: Run, tmp_path: Path, name: str, above: list[str]
) -> None:
    assert auc(run, WRITERS[name](tmp_path / name, [*above, HEADER, *ROWS])) == 1


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("above", [["Kampagne 1"], ["Kampagne 1;;", ";;"], ["", "Kampagne 1"]])
def test_a_title_above_the_names(run: Run, tmp_path: Path, name: str, above: list[str]) -> None:
    path, row = WRITERS[name](tmp_path / name, [*above, HEADER, *ROWS]), len(above) + 1
    error = run("evaluate", path, *GIVEN).error
    assert "--header-row" in error
    assert auc(run, path, "--header-row", row) == 1
    assert f"{name} has no row 99, which" in run("evaluate", path, *GIVEN, "--header-row", 99).error
    output = tmp_path / "b.csv"
    chosen = run("select", path, "--score", "Wert", "--quota", 1, "--header-row", row, "-o", output)
    assert chosen.status == 0, chosen.err
    expected = [HEADER, ROWS[0]] if name == "a.csv" else ["Nr,Antwort,Wert", "1,Ja,0.75"]
    assert output.read_text(encoding="utf-8").split() == expected


def test_sheets(run: Run, tmp_path: Path) -> None:
    path = write_excel(tmp_path / "a.xlsx", ["Titel", HEADER, *ROWS], "Deckblatt", "2")
    assert auc(run, path, "--sheet", "daten", "--header-row", 2) == 1
    assert auc(run, path, "--sheet", "3", "--header-row", 2) == 1
    given = ("evaluate", path, *GIVEN)
    first = run(*given).error
    other = "the first of several; --sheet reads another: '2', 'Daten'\n"
    assert first.count(f"the sheet 'Deckblatt' is read, {other}") == 1
    for sheet in ("2", "1"):
        assert "it has Deckblatt" in run(*given, "--sheet", sheet).error
    for sheet in ("4", "0", "x"):
        error = run(*given, "--sheet", sheet).error
        assert f"a.xlsx has no sheet '{sheet}'; it has 'Deckblatt', '2', 'Daten'" in error


def test_numbers_that_are_text_in_a_spreadsheet(run: Run, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book, path = openpyxl.Workbook(), tmp_path / "a.xlsx"
    for row in (("Antwort", "Wert"), ("Ja", "1.250,5"), ("Nein", 0.5), ("Nein", "960")):
        book.active.append(row)
    book.save(path)
    assert "'1.250,5' at row 1 is not a number" in run("evaluate", path, *GIVEN).error
    assert auc(run, path, "--decimal", ",") == 1


@pytest.mark.parametrize("name", WRITERS)
def test_words_for_missing_values(run: Run, tmp_path: Path, name: str) -> None:
    rows = [*ROWS, "4;Nein;k. A. ", "5;-;0,9", "6;Nein;-99"]
    path = WRITERS[name](tmp_path / name, [HEADER, *rows])
    given = ("evaluate", path, *GIVEN)
    assert "or name the one that means no value with --missing" in run(*given).error
    error = run(*given, "--where", "Nr!=5").error
    assert "column 'Wert': 'k. A." in error
    assert 'if it means that there is no value, give --missing "k. A.' in error
    words = [x for word in ("-", "k. A.", "-99") for x in ("--missing", word)]
    assert "column 'Antwort': missing value at row 5; fill" in run(*given, *words).error
    kept = run(*given, *words, "--drop-missing", "--json")
    assert "3 of 6 rows have a missing value and are left out: 1 in 'Antwort', 2 in" in kept.err
    assert by_model(kept.out)["models"][0]["roc_auc"] == 1
    output = tmp_path / "b.csv"
    chosen = ("select", path, "--score", "Wert", "--quota", 5, "--drop-missing", "-o", output)
    assert "--quota 5 is more than the 4 rows" in run(*chosen, *words).error
    assert run(*chosen[:5], 4, *chosen[6:], *words).status == 0
    assert "-99" not in output.read_text(encoding="utf-8")


def test_missing_values_of_types_with_numbers(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    labels = pa.array(["Ja", "Nein", "k.A.", "Nein"]).dictionary_encode()
    more = {"Wert": [0.9, 0.1, 0.5, -99.0], "seen": [[1]] * 4}
    parquet.write_table(pa.table({"Antwort": labels, **more}), path)
    words = ("--missing", "k.A.", "--missing", "-99", "--drop-missing")
    assert auc(run, path, *words) == 1
    error = run("evaluate", path, *GIVEN, *words, "--engine", "stream").error
    assert "takes no --drop-missing and --missing; give --engine memory" in " ".join(error.split())


def test_how_a_file_is_read_is_in_the_commands_of_a_page(run: Run, tmp_path: Path) -> None:
    rows = [f"{k};{('Ja', 'Nein')[k % 3 > 0]};{k % 7},5" for k in range(30)]
    path = write_excel(tmp_path / "a.xlsx", ["Titel", HEADER, *rows, "31;-;5,5"], "Deckblatt")
    page, chosen = tmp_path / "a.html", tmp_path / "b.csv"
    words = ("--sheet", "Daten", "--header-row", 2, "--missing", "-", "--missing", "k. A.")
    asked = ("report", path, *GIVEN, "--quota", 5, *words, "--drop-missing", "--decimal", ",")
    outcome = run(*asked, "--resamples", 20, "-o", page)
    assert outcome.status == 0, outcome.err
    command = re.search(
        r"<code>(quotakernels select .*?)</code>", page.read_text("utf-8"), re.DOTALL
    )
    assert command is not None
    line = shlex.split(html.unescape(command[1]).replace("\\\n", " "))
    for name in ("--sheet Daten", "--header-row 2", "--missing - --missing 'k. A.'", "--decimal ,"):
        assert name in shlex.join(line)
    assert run(*(chosen if x.endswith(".csv") else x for x in line[1:])).status == 0
    assert len(chosen.read_text("utf-8").splitlines()) == 6


@pytest.mark.parametrize("rows", [["1;0,5", "0;2", "1;1.250"], ["1;1.250", "0;960"]])
def test_streams_take_marks_of_thousands_by_the_decimal_mark(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[str]
) -> None:
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 16)
    path = write_csv(tmp_path / "a.csv", ["y;s", *rows])
    given = ("evaluate", path, "--label", "y", "--score", "s", "--decimal", ",", "--quota", 1)
    told, wanted = (run(*given, "--engine", x).out.splitlines() for x in ("stream", "memory"))
    assert told[:6] == wanted[:6]
    assert "the first row by s: 1 is positive" in wanted[4]
    assert "--decimal" in run(*given[:6], "--engine", "stream").error


@pytest.mark.parametrize("engine", ["memory", "stream"])
@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ("day>=01.12.2025", 2),
        ("day >= 1.12.2025", 2),
        ("day > 2025-12-01", 1),
        ("day<1.12.2025", 1),
        ("day=01.12.2025", 1),
    ],
)
def test_days_in_the_german_way(
    run: Run, tmp_path: Path, engine: str, asked: str, rows: int
) -> None:
    """In a text file they are texts, in others dates, which the condition may write either way."""
    days = ["30.11.2025", "01.12.2025", "02.01.2026"]
    path = write_csv(tmp_path / "a.csv", ["y;s;day", *(f"1;0,5;{x}" for x in days)])
    dates = pa.array([date(2025, 11, 30), date(2025, 12, 1), date(2026, 1, 2)])
    times = dates.cast(pa.timestamp("us"))
    content = pa.table({"y": [1] * 3, "s": [0.5] * 3, "day": dates, "time": times})
    parquet.write_table(content, tmp_path / "a.parquet")
    given = ("--label", "y", "--score", "s", "--engine", engine)
    for file, condition in (
        (path, asked),
        (tmp_path / "a.parquet", asked),
        (tmp_path / "a.parquet", asked.replace("day", "time")),
    ):
        outcome = run("evaluate", file, *given, "--where", condition)
        assert outcome.status == 0, outcome.err
        assert f"\n{rows} row" in outcome.out
