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
from records import by_model

Run = Callable[..., Any]


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


@pytest.mark.parametrize("dtype", [bool, "u1", "f2", "f4", "i2"])
def test_number_types(run: Run, tmp_path: Path, dtype: str) -> None:
    labels, scores = np.array([1, 0, 1, 0]).astype(dtype), np.array([1, 0, 0, 0]).astype(dtype)
    parquet.write_table(pa.table({"y": labels, "s": scores}), tmp_path / "a.parquet")
    outcome = run("evaluate", tmp_path / "a.parquet", "--label", "y", "--score", "s", "--json")
    assert by_model(outcome.out)["models"][0]["roc_auc"] == 0.75


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
    content = by_model(run("evaluate", tmp_path / "a.arrow", *arguments).out)
    assert (content["positives"], content["pos_label"]) == (1, positive)
    assert content["models"][0]["roc_auc"] == 1


def test_parquet_column_beside_its_namesake(run: Run, tmp_path: Path) -> None:
    content = pa.table({"y": [0, 1, 0], "s": [0.1, 0.9, 0.5], "s.x": [0.9, 0.1, 0.5]})
    parquet.write_table(content, tmp_path / "a.parquet")
    for score, auc in (("s", 1), ("s.x", 0)):
        arguments = ("--label", "y", "--score", score, "--json")
        outcome = run("evaluate", tmp_path / "a.parquet", *arguments)
        assert by_model(outcome.out)["models"][0]["roc_auc"] == auc


@pytest.mark.parametrize(
    ("labels", "positive"),
    [(["b", "a", "b"], "a"), ([1, 2, 1], "2.0"), ([-1, 1, -1], "1"), ([0, 1, 0], "1")],
)
def test_pos_label(
    run: Run, table: Callable[..., Path], labels: list[object], positive: str
) -> None:
    path = table(y=labels, s=[0.1, 0.9, 0.5])
    arguments = ("--label", "y", "--score", "s", "--pos-label", positive, "--json")
    content = by_model(run("evaluate", path, *arguments).out)
    assert content["positives"] == 1
    assert content["models"][0]["roc_auc"] == 1


def test_one_class_with_pos_label(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=[0, 0], s=[0.1, 0.9])
    arguments = ("--label", "y", "--score", "s", "--pos-label", "1", "--json")
    assert json.loads(run("evaluate", path, *arguments).out)["positives"] == 0


def test_a_name_that_begins_as_other_files_do(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for name in ("PAR1", "ARROW1", "PK"):
        path.write_text(f"{name},y\n1,0\n2,1\n")
        outcome = run("evaluate", path, "--label", "y", "--score", name)
        assert outcome.status == 0, outcome.err


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_files_that_cannot_be_read(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("nothing of that kind")
    error = run("evaluate", tmp_path / name, "--label", "y", "--score", "s").error
    assert f"{name} cannot be read" in error
