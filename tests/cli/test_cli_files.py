"""The files that commands read: formats, types of columns, CSV and JSON lines that are long or odd,
and what spreadsheets write.  Most of what is read or refused is in the transcript of the contracts.
"""

from __future__ import annotations

import gzip
import html
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from command import CREDIT_FILE, run, write_excel
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet

from quotakernels.cli import csv_files

GIVEN = ("--label", "y", "--score", "s", "--json")
ENGINES = ("memory", "stream")


def write_stream(content: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, content.schema) as writer:
        writer.write_table(content)


def write_tsv(content: pa.Table, path: Path) -> None:
    arrow_csv.write_csv(content, path, arrow_csv.WriteOptions(delimiter="\t"))


def write_json_lines(content: pa.Table, path: Path) -> None:
    lines = "\n".join(map(json.dumps, content.to_pylist())).encode()
    path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)


def write_gzip(content: pa.Table, path: Path) -> None:
    plain = pa.BufferOutputStream()
    arrow_csv.write_csv(content, plain)
    path.write_bytes(gzip.compress(plain.getvalue().to_pybytes()))


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.csv", arrow_csv.write_csv),
        ("a.tsv", write_tsv),
        ("a.csv.gz", write_gzip),
        ("a.jsonl", write_json_lines),
        ("a.ndjson.gz", write_json_lines),
        ("a.parquet", parquet.write_table),
        ("a.feather", lambda content, path: feather.write_feather(content, str(path))),
        ("a.arrow", write_stream),
    ],
)
def test_every_format_gives_the_same(
    tmp_path: Path, name: str, write: Callable[[pa.Table, Path], object]
) -> None:
    write(arrow_csv.read_csv(CREDIT_FILE), tmp_path / name)
    arguments = ("--label", "repaid", "--score", "tree", "--score", "neural_net", "--quota", "5%")
    outcome = run("evaluate", tmp_path / name, *arguments, "--json")
    assert outcome.status == 0
    content = json.loads(outcome.out)
    expected = json.loads(run("evaluate", CREDIT_FILE, *arguments, "--json").out)
    assert content == {**expected, "source": name}


@pytest.mark.parametrize("dtype", [bool, "u1", "f2", "f4", "i2"])
def test_number_types(tmp_path: Path, dtype: str) -> None:
    labels, scores = np.array([1, 0, 1, 0]).astype(dtype), np.array([1, 0, 0, 0]).astype(dtype)
    parquet.write_table(pa.table({"y": labels, "s": scores}), tmp_path / "a.parquet")
    assert run("evaluate", tmp_path / "a.parquet", *GIVEN).auc == 0.75


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["no", "yes", "no"]).dictionary_encode(),
        pa.array(["no", "yes", "no"], pa.large_string()),
        pa.array(["no", "yes", "no"], pa.string_view()),
        pa.array([False, True, False]),
    ],
)
def test_label_types(tmp_path: Path, column: pa.Array) -> None:
    write_stream(pa.table({"y": column, "s": [0.1, 0.9, 0.5]}), tmp_path / "a.arrow")
    positive = "true" if pa.types.is_boolean(column.type) else "yes"
    content = run("evaluate", tmp_path / "a.arrow", *GIVEN, "--pos-label", positive).record
    assert (content["positives"], content["pos_label"]) == (1, positive)
    assert content["models"][0]["roc_auc"] == 1


def test_all_commands_read_files_alike() -> None:
    pages = [run(x, "--help").out for x in ("evaluate", "report", "select", "tables")]
    sections = {x.partition("\nHow FILE is read:\n")[2].partition("\n\n")[0] for x in pages}
    assert len(sections) == 1
    assert "--header-row N" in sections.pop()


def test_a_long_file_is_told_by_its_beginning(tmp_path: Path) -> None:
    rows = ['"n";y;s', *(f'"n;{k}";{k % 2};{k % 2},{k}' for k in range(9000))]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    assert run("evaluate", tmp_path / "a.csv", *GIVEN).auc == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_stray_quotation_marks_swallow_no_rows(tmp_path: Path, engine: str) -> None:
    rows = ["y,s,note", *(f"{k % 2},0.{k % 2}{k},x" for k in range(10_000))]
    for stray in ((9000, 9500), (9000,)):
        lines = ['0,0.2,"x' if k in stray else row for k, row in enumerate(rows, start=1)]
        (tmp_path / "a.csv").write_text("\n".join(lines))
        error = run("evaluate", tmp_path / "a.csv", *GIVEN, "--engine", engine).error
        assert "in the row that begins in line 9000, a quotation mark is not closed, or" in error


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_quotation_marks_that_are_closed(tmp_path: Path, encoding: str) -> None:
    cells = ['"a ""b"""', '""', '5" wide', '"two\nlines, one ""mark"', 'a"b"', '""""', '"c\r\n"']
    lines = [f"{k % 2},{k},{cells[k % 7]}" for k in range(70)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(['"y","s","a,b"', *lines]), encoding=encoding, newline="")
    assert run("evaluate", path, *GIVEN).record["rows"] == 70


def json_lines(scores: list[str], more: str) -> str:
    rows = (f'{{"y": {k % 2}, "s": {x}, "more": {more}}}\n' for k, x in enumerate(scores))
    return "".join(rows)


def test_rows_beyond_a_megabyte(tmp_path: Path) -> None:
    for name, text in {
        "a.jsonl": json_lines(["0.1", "0.2"], f'"{"x" * 2_200_000}"'),
        "a.csv": "y,s,more\n" + "".join(f"{k},0.{k},{'x' * 2_200_000}\n" for k in (0, 1)),
        "header.csv": f"y,s,{'x' * 2_200_000}\n1,0.5,x\n0,0.2,y\n",
    }.items():
        (tmp_path / name).write_text(text)
        assert run("evaluate", tmp_path / name, *GIVEN).auc == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_that_is_too_long(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"y,s,n\n0,1,{'x' * 3 * 2**24}\n1,2,x\n")
    error = run("evaluate", path, *GIVEN, "--engine", engine).error
    assert "a.csv cannot be read: a row has more than 16 MB\n" in error


def test_values_within_values(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json_lines(["0.5", "0.25"], f'"{"[" * 20_000}"'))
    assert run("evaluate", path, *GIVEN).auc == 0
    path.write_text(json_lines(["0.5", "0.25"], "[" * 20_000 + "]" * 20_000))
    assert "a.jsonl: line 1 is not JSON: maximum recursion" in run("evaluate", path, *GIVEN).error


# from spreadsheets

HEADER = "Nr;Antwort;Wert"
ANSWERS = ("--label", "Antwort", "--pos-label", "Ja", "--score", "Wert")


def test_missing_values_of_types_with_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    labels = pa.array(["Ja", "Nein", "k.A.", "Nein"]).dictionary_encode()
    more = {"Wert": [0.9, 0.1, 0.5, -99.0], "seen": [[1]] * 4}
    parquet.write_table(pa.table({"Antwort": labels, **more}), path)
    words = ("--missing", "k.A.", "--missing", "-99", "--drop-missing")
    assert run("evaluate", path, *ANSWERS, *words, "--json").auc == 1
    error = run("evaluate", path, *ANSWERS, *words, "--engine", "stream").error
    assert "takes no --drop-missing and --missing; give --engine memory" in " ".join(error.split())


def test_how_a_file_is_read_is_in_the_commands_of_a_page(tmp_path: Path) -> None:
    rows = [f"{k};{('Ja', 'Nein')[k % 3 > 0]};{k % 7},5" for k in range(30)]
    path = write_excel(tmp_path / "a.xlsx", ["Titel", HEADER, *rows, "31;-;5,5"], "Deckblatt")
    page, chosen = tmp_path / "a.html", tmp_path / "b.csv"
    words = ("--sheet", "Daten", "--header-row", 2, "--missing", "-", "--missing", "k. A.")
    asked = ("report", path, *ANSWERS, "--quota", 5, *words, "--drop-missing", "--decimal", ",")
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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: list[str]
) -> None:
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 16)
    path = tmp_path / "a.csv"
    path.write_bytes("".join(f"{x}\r\n" for x in ("y;s", *rows)).encode())
    given = ("evaluate", path, *GIVEN[:4], "--decimal", ",", "--quota", 1)
    told, wanted = (run(*given, "--engine", x).out.splitlines() for x in ("stream", "memory"))
    assert told[:6] == wanted[:6]
    assert "the first row by s: 1 is positive" in wanted[4]
    assert "--decimal" in run(*given[:6], "--engine", "stream").error
