"""CSV as spreadsheets and databases write it: separators, decimal marks, encodings."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from records import by_model

Run = Callable[..., Any]
GIVEN = ("--label", "y", "--score", "s")
RECORDS = [["näme", "y", "s"], ["Müller; x", "1", "0.75"], ["a", "0", "-0.25"], ["b", "1", "1e-3"]]


def written(separator: str = ",", decimal: str = ".", records: list[list[str]] = RECORDS) -> str:
    lines = []
    for name, y, s in records:
        cell = s.replace(".", decimal)
        cells = (f'"{name}"', y, f'"{cell}"' if separator in cell else cell)
        lines.append(separator.join(cells))
    return "\n".join(lines) + "\n"


def auc(run: Run, path: Path, *options: str) -> float:
    outcome = run("evaluate", path, *GIVEN, "--json", *options)
    assert outcome.status == 0, outcome.err
    found: float = by_model(outcome.out)["models"][0]["roc_auc"]
    return found


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_separators_and_decimals_are_found(
    run: Run, tmp_path: Path, name: str, separator: str, decimal: str
) -> None:
    content = written(separator, decimal).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    if (separator, decimal) == (",", ","):
        assert "'0,75' at row 1 is not a number" in run("evaluate", path, *GIVEN).error
        assert auc(run, path, "--decimal", ",") == 1
    else:
        assert auc(run, path) == 1


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("y\ts\n1\t1,234\n0\t0,500\n", ()),  # 0,500 is no number of thousands
        ("y;s\n1;2,500\n0;1,234\n", ()),
        ("y\ts\n1\t2,500\n0\t1,234\n", ("--decimal", ",")),
        ("y,s,note (a; b; c; d)\n1,2,x\n0,1,y\n", ()),
        ("sep=;\r\ny;s\r\n1;0,5\r\n0;0,25\r\n", ()),
        ("y;s;t\n1;0,5;NA\n0;0,25;0,5\n", ()),
        ("y;t;s\n1;NA;0,5\n0;,5;-1,5e-3\n", ()),
        ("y s\n1 2\n0 1\n", ("--sep", " ")),
        ("y\ts,t\n1\t2\n0\t1\n", ("--sep", "tab", "--score", "s,t")),
        ("y;s\r\n1;0,5\r\n\r\n0;0,25\r\n", ()),
        ("y;s\n1;1.060\n0;960\n", ("--decimal", ",")),
        ("y;s\n0;1.060\n1;960\n", ("--decimal", ".")),
        ("y;s;t\n1;1.060;0,5\n0;960;0,5\n", ("--decimal", ",")),
        ("y;s\n1;1.060\n0;960,25\n", ("--decimal", ",")),
        ("y;s\n0;1.060\n1;960\n0;0.5\n", ()),  # the last number tells
        ("y;s\n0;1.060\n1;1960\n", ()),
        ('y,s\n1,"1,060"\n0,960\n', ("--decimal", ".")),
    ],
)
def test_what_can_be_told(run: Run, tmp_path: Path, content: str, options: tuple[str, ...]) -> None:
    (tmp_path / "a.csv").write_bytes(content.encode())
    given = ("--label", "y", *(() if "--score" in options else ("--score", "s")), *options)
    outcome = run("evaluate", tmp_path / "a.csv", *given, "--json")
    assert outcome.status == 0, outcome.err
    assert by_model(outcome.out)["models"][0]["roc_auc"] == 1


def test_a_long_file_is_told_by_its_beginning(run: Run, tmp_path: Path) -> None:
    rows = [[f"n;{k}", str(k % 2), f"{k % 2}.{k}"] for k in range(9000)]
    (tmp_path / "a.csv").write_text(written(";", ",", [["n", "y", "s"], *rows]))
    assert auc(run, tmp_path / "a.csv") == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_encodings(run: Run, tmp_path: Path, encoding: str) -> None:
    path, output = tmp_path / "a.csv", tmp_path / "chosen.csv"
    path.write_bytes(written(";", ",").encode(encoding))
    line = ("select", path, "--score", "s", "--quota", 1, "-o", output)
    outcome = run(*line)
    if encoding in ("utf-16-le", "latin-1"):
        assert f"try --encoding {encoding}" in outcome.error
        assert "a.csv is not text in UTF-8" in outcome.err
        outcome = run(*line, "--encoding", encoding)
    assert outcome.status == 0, outcome.err
    mark = "" if encoding == "utf-8" else "\ufeff"
    assert output.read_text(encoding="utf-8") == mark + 'näme;y;s\n"Müller; x";1;0,75\n'
    if encoding != "utf-16-le":  # without a mark all its bytes are letters
        assert "a.csv is not text in ascii" in run(*line, "--encoding", "ascii").error


def test_the_output_is_written_as_the_input(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("y;s\n1;0,5\n0;0,5\n", encoding="utf-8")
    given = ("select", path, "--score", "s", "--quota", 1, "--all-ties", "-o")
    expected = "y;s;selection_probability\n1;0,5;0,5\n0;0,5;0,5\n"
    for name, separator in {"b.csv": ";", "b.tsv": "\t"}.items():
        assert run(*given, tmp_path / name).status == 0
        found = (tmp_path / name).read_text(encoding="utf-8")
        assert found == expected.replace(";", separator)
    output = tmp_path / "b.parquet"
    assert run(*given, output).status == 0
    again = run("select", output, "--score", "s", "--quota", 1, "-o", tmp_path / "c.csv")
    assert again.status == 0
    text = (tmp_path / "c.csv").read_text(encoding="utf-8")
    assert text.startswith("y,s,selection_probability\n")


@pytest.mark.parametrize(
    ("name", "separator", "decimal", "output", "written"),
    [
        ("a.csv", "\t", ",", "b.csv", "\t"),
        ("a.txt", "\t", ",", "b.txt", "\t"),
        ("a.txt", "\t", ",", "b.csv", ";"),
        ("a.tsv", "\t", ".", "b.csv", ","),
        ("a.csv", "|", ",", "b.csv", "|"),
        ("a.csv", ";", ".", "b.csv", ";"),
        ("a.csv", ",", ",", "b.csv", ";"),
    ],
)
def test_the_separator_of_the_output(
    run: Run, tmp_path: Path, name: str, separator: str, decimal: str, output: str, written: str
) -> None:
    lines, path = ["y;s;t", "1;0.5;2.5"], tmp_path / output
    cells = [[x.replace(".", decimal) for x in line.split(";")] for line in lines]
    quoted = [[f'"{x}"' if separator in x else x for x in row] for row in cells]
    text = "".join(f"{separator.join(row)}\n" for row in quoted)
    (tmp_path / name).write_text(text, encoding="utf-8")
    given = ("select", tmp_path / name, "--score", "s", "--quota", 1, "--decimal", decimal)
    assert run(*given, "-o", path).status == 0
    assert path.read_text(encoding="utf-8").splitlines() == [written.join(row) for row in cells]


def test_numbers_on_the_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("y,s\n" + "1,0.5\n0,0.2\n" * 600, encoding="utf-8")
    line = ("evaluate", path, *GIVEN, "--json", "--resamples", 9)
    short = run(*line, "--quota", "1,000", "--confidence", "95%")
    assert short.status == 0, short.err
    for level in ("0.95", "95.0%"):
        assert short.out == run(*line, "--quota", 1000, "--confidence", level).out
    for quota in ("1,00", "1,5", ",100"):
        assert "is neither a number of places" in run(*line, "--quota", quota).error
    doubt = run(*line, "--quota", "1.000").error
    assert "'1.000' may mean 1000 or 1.0000: write one of these." in doubt
    for level in ("100%", "0%", "x%", "95"):
        assert "--confidence" in run(*line, "--confidence", level).error


@pytest.mark.parametrize(
    "text",
    [
        "y;s;g\n1;1.250,50;-2.000,5\n0;1.250,5;\n0;3;1.000\n1;1.234.567;12,25\n",
        'y,s,g\n1,"1,250.50","-2,000.5"\n0,"1,250.5",\n0,3,"1,000"\n1,"1,234,567",12.25\n',
    ],
)
def test_marks_of_thousands_beside_decimals(run: Run, tmp_path: Path, text: str) -> None:
    """Where one number has both, the others are not in doubt."""
    path, plain = tmp_path / "grouped.csv", tmp_path / "plain.csv"
    path.write_text(text)
    plain.write_text("y,s,g\n1,1250.5,-2000.5\n0,1250.5,\n0,3,1000\n1,1234567,12.25\n")
    asked = ("--label", "y", "--score", "s", "--gain", "g", "--drop-missing", "--json")
    outcomes = [json.loads(run("evaluate", x, *asked).out) for x in (path, plain)]
    assert outcomes[0] == {**outcomes[1], "source": "grouped.csv"}


def test_text_of_a_spreadsheet(run: Run, tmp_path: Path) -> None:
    """Text in UTF-16 with tabs is what spreadsheets write as .txt, and their errors are missing."""
    path = tmp_path / "kunden.txt"
    rows = ["Käufer\tWert", "1\t0,9", "0\t#NV", "0\t0,2", "1\t#DIV/0!", "1\t0,4"]
    path.write_text("\n".join(rows), encoding="utf-16")
    given = ("evaluate", path, "--label", "Käufer", "--score", "Wert")
    assert "'Wert': missing value at row 2, 2 in all" in run(*given).error
    kept = run(*given, "--drop-missing", "--quota", 2)
    assert kept.status == 0, kept.err
    assert "2 of 5 rows have a missing value and are left out: 2 in 'Wert'" in kept.err
    assert "Take the first 2 rows by Wert: 2 are positive" in kept.out


STRAY = "in the row that begins in line {}, a quotation mark is not closed, or text follows a"


def stray(lines: dict[int, str], rows: int = 20) -> str:
    """A file in which some lines, counted from 1, are others."""
    every = ["y,s,note", *(f"{k % 2},0.{k % 2}{k},x" for k in range(rows))]
    return "\n".join(lines.get(k, line) for k, line in enumerate(every, start=1)) + "\n"


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_stray_quotation_marks_swallow_no_rows(run: Run, tmp_path: Path, engine: str) -> None:
    path = tmp_path / "a.csv"
    both = {4: '0,0.2,"x', 9: '1,0.5,"x'}
    cases = {
        stray(both): STRAY.format(4),
        stray({4: '0,0.2,"a"b'}): STRAY.format(4),
        stray({1: 'y,s,"no"te'}): STRAY.format(1),
        stray({9000: '0,0.2,"x', 9500: '1,0.5,"x'}, 10_000): STRAY.format(9000),
        stray({9000: '0,0.2,"x'}, 10_000): STRAY.format(9000),
        "a title\n" + stray(both): STRAY.format(5),
    }
    for text, said in cases.items():
        path.write_text(text)
        given = ("--header-row", "2") if text.startswith("a") else ()
        assert said in run("evaluate", path, *GIVEN, "--engine", engine, *given).error


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_quotation_marks_that_are_closed(run: Run, tmp_path: Path, encoding: str) -> None:
    cells = ['"a ""b"""', '""', '5" wide', '"two\nlines, one ""mark"', 'a"b"', '""""', '"c\r\n"']
    lines = [f"{k % 2},{k},{cells[k % 7]}" for k in range(70)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(['"y","s","a,b"', *lines]), encoding=encoding, newline="")
    outcome = run("evaluate", path, *GIVEN, "--json")
    assert outcome.status == 0, outcome.err
    assert json.loads(outcome.out)["rows"] == 70
