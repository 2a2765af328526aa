"""Directories and patterns of files: each command tells what it tells of all rows in one file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import csv, parquet

from quotakernels.cli.files import column_names

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


@pytest.fixture
def dated(tmp_path: Path) -> Path:
    """Parquet files whose folders tell a column, and the same rows as `whole.parquet`."""
    rows = pa.table({"y": [1, 0, 1, 0], "s": [4, 3, 2, 1], "day": ["a", "a", "b", "b"]})
    parquet.write_table(rows, tmp_path / "whole.parquet")
    for day, part in (("a", rows.slice(0, 2)), ("b", rows.slice(2))):
        (tmp_path / "days" / f"day={day}").mkdir(parents=True)
        parquet.write_table(part.select(["y", "s"]), tmp_path / "days" / f"day={day}" / "x.parquet")
    return tmp_path / "days"


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_folders_tell_columns_also_of_one_file(run: Run, dated: Path, engine: str) -> None:
    """A directory and a pattern tell them, however many files they hold; a file by itself none."""
    (dated / "day=b" / "x.parquet").unlink()
    asked = (*ASKED[:4], "--where", "day=a", "--quota", 1, "--engine", engine)
    for path in (dated, dated / "day=a", dated / "*" / "*.parquet"):
        assert "2 rows, 1 positive" in run("evaluate", path, *asked).out
    file = dated / "day=a" / "x.parquet"
    assert "has no column 'day'" in run("evaluate", file, *asked).error


def test_a_selection_has_the_columns_of_folders(run: Run, dated: Path) -> None:
    (dated / "day=b" / "x.parquet").unlink()
    out = dated.parent / "out.csv"
    assert run("select", dated, "--score", "s", "--quota", 1, "-o", out).status == 0
    assert out.read_text() == "y,s,day\n1,4,a\n"
    assert column_names(dated) == ["y", "s", "day"]
    assert column_names(dated / "day=a" / "x.parquet") == ["y", "s"]


def test_every_command_takes_them(run: Run, folder: Path, dated: Path) -> None:
    """What `select` and `tables` write; CSV like the first of the files."""
    whole = folder.with_name("whole.csv")
    whole.write_text("y;s\n1;0,5\n0;1\n1;2\n0;3\n")
    columns = ("--score", "s", "-o")
    for several, one in ((folder, whole), (dated, dated.parent / "whole.parquet")):
        out = folder.parent / "out.csv"
        for command in (
            ("select", "--quota", 3),
            ("select", "--budget", 4, "--cost", "s"),
            ("tables", "--label", "y"),
        ):
            written = []
            for path in (several, one):
                outcome = run(command[0], path, *command[1:], *columns, out)
                assert outcome.status == 0, outcome.err
                written.append(out.read_text())
            assert written[0] == written[1]
        page = folder.parent / "page.html"
        assert run("report", several, *ASKED[:4], "--quota", 2, "-o", page).status == 0
        assert f"quotakernels select {several} --score s" in page.read_text()


def test_texts_and_categories_may_differ(run: Run, tmp_path: Path) -> None:
    groups = pa.array(["u", "v"])
    parts = [
        pa.table({"y": [0, 1], "s": [3, 1], "g": groups}),
        pa.table({"y": [0, 1], "s": [0, 2], "g": groups.dictionary_encode()}),
        pa.table({"y": [0.0, 1.0], "s": [5, 4], "g": groups}),
    ]
    whole = {"y": [0, 1] * 3, "s": [3, 1, 0, 2, 5, 4], "g": ["u", "v"] * 3}
    parquet.write_table(pa.table(whole), tmp_path / "whole.parquet")
    (tmp_path / "parts").mkdir()
    for k, part in enumerate(parts):
        parquet.write_table(part, tmp_path / "parts" / f"{k}.parquet")
    asked = (*ASKED, "--by", "g", "--quota", 2, "--engine", "memory")
    found, wanted = (run("evaluate", tmp_path / x, *asked) for x in ("parts", "whole.parquet"))
    assert found.status == 0, found.err
    assert json.loads(found.out) == {**json.loads(wanted.out), "source": "parts"}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(
    ("column", "value", "options", "message"),
    [
        ("s", None, (), "column 's': missing value at {}"),
        ("s", float("nan"), (), "column 's': NaN at {}, expected a number"),
        ("y", 2, (), "(0, 1, 2; the third one first in {})"),
        ("y", float("nan"), (), "column 'y': NaN at {}, expected a number"),
        ("y", None, (), "column 'y': missing value at {}; fill"),
        ("w", -1.0, ("--weight", "w"), "column 'w': -1.0 at {}, expected a finite weight"),
        ("w", float("nan"), ("--weight", "w"), "column 'w': NaN at {}, expected a number"),
        ("w", None, ("--where", "w=1"), "column 'w': missing value at {}"),
        ("w", -1.0, ("--weight", "w", "--where", "part=v"), "column 'w': -1.0 at {}, expected"),
        ("part", None, ("--where", "part=v"), "column 'part': missing value at {}"),
        ("s", float("nan"), ("--where", "part=v"), "column 's': NaN at {}, expected a number"),
    ],
)
def test_bad_values_tell_their_file_and_row(
    run: Run, tmp_path: Path, suffix: str, column: str, value: Any, options: Any, message: str
) -> None:
    """Also where the conditions leave rows out, and where the statistics of the file, which have no
    NaN, would answer; from memory and from a stream.
    """
    good: dict[str, list[Any]] = {
        "y": [0, 1, 0, 1, 0],
        "s": [0.5, 0.25, 1.5, 2.5, 3.5],
        "w": [1.0] * 5,
        "part": ["u", "v", "u", "v", "u"],
    }
    bad = {**good, column: [*good[column][:3], value, *good[column][4:]]}
    (tmp_path / "parts").mkdir()
    paths = [tmp_path / "parts" / f"{name}{suffix}" for name in "ab"]
    for path, columns in zip(paths, (good, bad), strict=True):
        write = csv.write_csv if suffix == ".csv" else parquet.write_table
        write(pa.table(columns), path)
    engines = ["memory", "stream"] if "--weight" not in options else ["memory"]
    for engine in engines:
        asked = (*ASKED[:4], *options, "--engine", engine)
        error = " ".join(run("evaluate", tmp_path / "parts", *asked).error.split())
        assert message.format(f"row 4 of {paths[1]}") in error
        assert "rows with" not in error
        error = " ".join(run("evaluate", paths[1], *asked).error.split())
        assert message.format("row 4") in error
        assert "rows with" not in error
