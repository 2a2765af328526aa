"""`evaluate`: the files and columns it takes, and those it refuses."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet

Run = Callable[..., Any]


def write_npz(content: pa.Table, path: Path) -> None:
    np.savez(path, **{name: content.column(name).to_numpy() for name in content.column_names})


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
        ("a.npz", write_npz),
    ],
)
def test_every_format_gives_the_same(
    run: Run,
    credit_file: Path,
    tmp_path: Path,
    name: str,
    write: Callable[[pa.Table, Path], object],
) -> None:
    write(arrow_csv.read_csv(credit_file), tmp_path / name)
    arguments = ("--label", "repaid", "--score", "tree", "--score", "neural_net", "--quota", "5%")
    outcome = run("evaluate", tmp_path / name, *arguments, "--json")
    assert outcome.status == 0
    content = json.loads(outcome.out)
    expected = json.loads(run("evaluate", credit_file, *arguments, "--json").out)
    assert content == {**expected, "source": name}


@pytest.mark.parametrize("dtype", [bool, "u1", "f2", "f4", ">f8", ">i2"])
def test_number_types(run: Run, tmp_path: Path, dtype: str) -> None:
    labels, scores = np.array([1, 0, 1, 0]).astype(dtype), np.array([1, 0, 0, 0]).astype(dtype)
    np.savez(tmp_path / "a.npz", y=labels, s=scores)
    outcome = run("evaluate", tmp_path / "a.npz", "--label", "y", "--score", "s", "--json")
    assert json.loads(outcome.out)["models"][0]["roc_auc"] == 0.75


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["no", "yes", "no"]).dictionary_encode(),
        pa.array(["no", "yes", "no"], pa.large_string()),
        pa.array(["no", "yes", "no"], pa.string_view()),
        pa.array([False, True, False]),
    ],
)
def test_label_types(run: Run, tmp_path: Path, column: pa.Array) -> None:
    write_stream(pa.table({"y": column, "s": [0.1, 0.9, 0.5]}), tmp_path / "a.arrow")
    positive = "true" if pa.types.is_boolean(column.type) else "yes"
    arguments = ("--label", "y", "--score", "s", "--pos-label", positive, "--json")
    content = json.loads(run("evaluate", tmp_path / "a.arrow", *arguments).out)
    assert (content["positives"], content["pos_label"]) == (1, positive)
    assert content["models"][0]["roc_auc"] == 1


def test_parquet_column_beside_its_namesake(run: Run, tmp_path: Path) -> None:
    content = pa.table({"y": [0, 1, 0], "s": [0.1, 0.9, 0.5], "s.x": [0.9, 0.1, 0.5]})
    parquet.write_table(content, tmp_path / "a.parquet")
    for score, auc in (("s", 1), ("s.x", 0)):
        arguments = ("--label", "y", "--score", score, "--json")
        outcome = run("evaluate", tmp_path / "a.parquet", *arguments)
        assert json.loads(outcome.out)["models"][0]["roc_auc"] == auc


@pytest.mark.parametrize(
    ("labels", "positive"),
    [(["b", "a", "b"], "a"), ([1, 2, 1], "2.0"), ([-1, 1, -1], "1"), ([0, 1, 0], "1")],
)
def test_pos_label(
    run: Run, table: Callable[..., Path], labels: list[object], positive: str
) -> None:
    path = table(y=labels, s=[0.1, 0.9, 0.5])
    arguments = ("--label", "y", "--score", "s", "--pos-label", positive, "--json")
    content = json.loads(run("evaluate", path, *arguments).out)
    assert content["positives"] == 1
    assert content["models"][0]["roc_auc"] == 1


def test_one_class_with_pos_label(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=[0, 0], s=[0.1, 0.9])
    arguments = ("--label", "y", "--score", "s", "--pos-label", "1", "--json")
    assert json.loads(run("evaluate", path, *arguments).out)["positives"] == 0


def test_reference_scores(run: Run, shared: Path) -> None:
    path = shared / "published" / "yardstick_two_class_example.csv"
    arguments = ("--label", "truth", "--pos-label", "Class1", "--score", "Class1", "--json")
    model = json.loads(run("evaluate", path, *arguments).out)["models"][0]
    assert model["roc_auc"] == pytest.approx(0.93931386, abs=5e-9)
    assert model["pem"] == pytest.approx(0.87862771, abs=5e-9)


def test_direct_mail_campaign(run: Run, shared: Path) -> None:
    path = shared / "quota" / "hillstrom_scores.csv.gz"
    scores = ("--score", "logistic.score", "--score", "svm.score")
    quotas = ("--quota", "1000", "--quota", "5%")
    outcome = run("evaluate", path, "--label", "conversion", *scores, *quotas, "--json")
    content = json.loads(outcome.out)
    assert (content["rows"], content["positives"]) == (64000, 578)
    assert content["models"][1]["quotas"]["5%"]["places"] == 3200


GOOD: dict[str, list[Any]] = {"y": [0, 1] * 10, "s": [i / 20 for i in range(20)], "w": [1.0] * 20}


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("s", "NaN", "column 's': NaN at row 17, expected a number"),
        ("s", "", "column 's': missing value at row 17"),
        ("s", "high", "column 's': 'high' at row 17 is not a number"),
        ("y", "", "column 'y': missing value at row 17"),
        ("y", "NaN", "column 'y': NaN at row 17"),
        ("y", 2, "column 'y': labels are not binary: 3 different values"),
        ("y", 0.5, "the third one first in row 17); make a column for each class"),
        ("w", "", "column 'w': missing value at row 17"),
        ("w", -1, "column 'w': -1.0 at row 17, expected a finite weight of 0 or more"),
        ("w", "inf", "column 'w': inf at row 17"),
        ("w", "NaN", "column 'w': NaN at row 17"),
    ],
)
def test_bad_values_are_found(
    run: Run, table: Callable[..., Path], column: str, value: object, message: str
) -> None:
    columns = {name: list(values) for name, values in GOOD.items()}
    columns[column][16] = value
    path = table(**columns)
    outcome = run("evaluate", path, "--label", "y", "--score", "s", "--weight", "w")
    assert message in outcome.error


def test_a_column_of_words_is_told_to_be_that(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=[0, 1, 1], s=["north", "south", "south"])
    outcome = run("evaluate", path, "--label", "y", "--score", "s")
    said = "column 's': 'north' at row 1 is not a number, and no cell of this column is\n"
    assert outcome.error == f"Error: {said}"


def test_missing_values_are_counted(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=[0, 1, 1], s=[0.5, "", ""])
    outcome = run("evaluate", path, "--label", "y", "--score", "s")
    missing = "missing value at row 2, 2 in all; fill these rows, or leave them out with"
    assert f"column 's': {missing} --drop-missing" in outcome.error
    path = table(y=[0, 1, "", ""], a=[1, 2, "", ""], b=["", 2, 3, 4], c=[1, 2, "", ""])
    scores = ("--score", "a", "--score", "b", "--score", "c")
    assert run("evaluate", path, "--label", "y", *scores).error == (
        "Error: columns 'y', 'a' and 'c': missing value at row 3, 2 in each; fill these rows, or "
        "leave them out with --drop-missing\ncolumn 'b': missing value at row 1; fill these rows, "
        "or leave them out with --drop-missing\n"
    )


def test_rows_with_missing_values_are_left_out(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=[0, 1, "", 1, 0], a=[0.5, "nan", 0.1, 0.7, 0.2], b=[1, 2, 3, "", 5])
    given = ("evaluate", path, "--label", "y", "--drop-missing", "--json", "--score", "a")
    one = run(*given)
    assert one.err == "2 of 5 rows have a missing value and are left out: 1 in 'y', 1 in 'a'\n"
    assert json.loads(one.out)["rows"] == 3
    assert json.loads(run(*given, "--score", "b").out)["rows"] == 2
    whole = run("evaluate", "--example", "credit", "--drop-missing")
    assert (whole.status, whole.err) == (0, "")


def test_missing_scores_are_not_selected(run: Run, table: Callable[..., Path]) -> None:
    path = table(id=[1, 2, 3, 4], s=["", 0.2, 0.4, 0.3])
    output = path.with_name("chosen.csv")
    given = ("select", path, "--score", "s", "--quota", 2, "-o", output)
    assert "missing value at row 1" in run(*given).error
    outcome = run(*given, "--drop-missing")
    assert outcome.err == "1 of 4 rows has a missing value and is left out: 1 in 's'\n"
    assert output.read_text().splitlines() == ["id,s", "3,0.4", "4,0.3"]
    cuts = path.with_name("cuts.csv")
    made = run("tables", path, "--label", "id", "--score", "s", "--drop-missing", "-o", cuts)
    assert "labels are not binary" in made.error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--score", "nope"), "data.csv has no column 'nope'; it has y, s, w"),
        (("--label", "nope", "--score", "s"), "no column 'nope'"),
        (("--score", "s", "--weight", "nope"), "no column 'nope'"),
        (("--label", "w", "--score", "s", "--pos-label", "x"), "--pos-label x is not among"),
        (("--label", "s", "--score", "y"), "labels are not binary: 20 different values"),
        (("--score", "s", "--quota", "21"), "--quota 21 is more than the 20 rows"),
        (("--score", "s", "--quota", "21", "--weight", "w"), "more than the total weight, 20"),
        (("--score", "s", "--quota", "101%"), "'101%' is not a percentage"),
        (("--score", "s", "--quota", "-1"), "'-1' is neither a number of places"),
        (("--score", "s", "--quota", "nan"), "'nan' is neither"),
        (("--score", "s", "--quota", "many"), "'many' is neither"),
        ((), "--label and --score are needed"),
        (("--score", "s", "--example", "credit"), "--example cannot be combined with"),
    ],
)
def test_bad_options(
    run: Run, table: Callable[..., Path], arguments: tuple[str, ...], message: str
) -> None:
    label = () if "--label" in arguments else ("--label", "y")
    assert message in run("evaluate", table(**GOOD), *label, *arguments).error


def test_weights_without_a_sum(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=[0, 1], s=[0.1, 0.2], w=[1e308, 1e308])
    outcome = run("evaluate", path, "--label", "y", "--score", "s", "--weight", "w")
    assert "column 'w': the sum of the weights is too large" in outcome.error


@pytest.mark.parametrize("labels", [["a", "b"], [1, 2], [-1, 1]])
def test_labels_that_need_pos_label(
    run: Run, table: Callable[..., Path], labels: list[object]
) -> None:
    path = table(y=labels, s=[0.1, 0.2])
    message = run("evaluate", path, "--label", "y", "--score", "s").error
    assert f"labels are {labels[0]!r} and {labels[1]!r}, expected 0 and 1" in message
    assert "--pos-label" in message
    message = run("evaluate", path, "--label", "y", "--score", "s", "--pos-label", "9").error
    assert "--pos-label 9 is not among the labels of column 'y'" in message


def test_files_that_cannot_be_read(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("y,s\n")
    (tmp_path / "ragged.csv").write_text("y,s\n1,2\n3\n")
    (tmp_path / "twice.csv").write_text("y,s,s\n1,2,3\n")
    for name in ("a.parquet", "a.arrow", "a.npz", "a.jsonl", "a.ods", "a.xls", "a.zip", "a.doc"):
        (tmp_path / name).write_text("nothing of that kind")
    np.savez(tmp_path / "square.npz", y=[0, 1], s=np.zeros((2, 2)))
    np.savez(tmp_path / "uneven.npz", y=[0, 1], s=np.zeros(3))
    np.savez(tmp_path / "complex.npz", y=[0, 1], s=np.zeros(2, dtype=complex))
    np.savez(tmp_path / "objects.npz", y=[0, 1], s=np.array([0, None]))
    np.savez(tmp_path / "dates.npz", y=[0, 1], s=np.array(["2020-01-01"] * 2, "M8[D]"))
    expected = {
        "empty.csv": "Empty CSV file",
        "header.csv": "Error: header.csv has no rows\n",
        "ragged.csv": "Expected 2 columns, got 1: 3; put a cell that holds the separator in quot",
        "twice.csv": "2 columns with the name 's': give each its own\n",
        "a.parquet": "a.parquet cannot be read",
        "a.arrow": "a.arrow cannot be read",
        "a.jsonl": "a.jsonl cannot be read: JSON parse error",
        "a.npz": "a.npz is not an NPZ archive",
        "a.ods": "Parquet, Arrow/Feather, NPZ; save it as .xlsx or as CSV UTF-8\n",
        "a.xls": "Parquet, Arrow/Feather, NPZ; save it as .xlsx or as CSV UTF-8\n",
        "a.zip": "Parquet, Arrow/Feather, NPZ; unpack it\n",
        "a.doc": "unknown file type, expected CSV, TSV, TXT or JSON lines (also .gz",
        "square.npz": "array 's' has 2 dimensions",
        "uneven.npz": "differ in length (y: 2, s: 3)",
        "complex.npz": "array 's' of type complex128",
        "objects.npz": "objects.npz cannot be read",
        "dates.npz": "column 's' holds values of type date32[day], expected numbers",
        "absent.csv": "does not exist",
    }
    for name, message in expected.items():
        assert message in run("evaluate", tmp_path / name, "--label", "y", "--score", "s").error


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04\x14\0\x06\0", "looks like a zip archive, as .xlsx files are; give it that"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0",
            "looks like a file of an older Excel; save it as",
        ),
        (b"%PDF-1.4\n%\xe2\xe3", "looks like a PDF; export the table as CSV"),
        (b"PAR1\x15\x04\x15", "looks like a Parquet file; give it the ending .parquet"),
        (b"ARROW1\0\0\xff\xff", "looks like an Arrow file; give it the ending .arrow"),
        (b"\x1f\x8b\x08\0\0", "looks like a gzip archive; give it the ending .csv.gz"),
        (
            b"<!doctype html>\n<title>Login</title>",
            "looks like a web page; download the file itself",
        ),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1", "is no CSV; it is not text\n"),
    ],
)
def test_what_is_no_csv_whatever_its_name(
    run: Run, tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    for options in ((), ("--encoding", "latin-1")):
        error = run("evaluate", path, "--label", "y", "--score", "s", *options).error
        assert error.startswith("Error: a.csv is no CSV; it ")
        assert said in error


def test_a_name_that_begins_as_other_files_do(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for name in ("PAR1", "ARROW1", "PK"):
        path.write_text(f"{name},y\n1,0\n2,1\n")
        outcome = run("evaluate", path, "--label", "y", "--score", name)
        assert outcome.status == 0, outcome.err
