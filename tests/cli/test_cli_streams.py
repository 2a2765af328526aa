"""Pipes and devices as input and output, and names that would control a terminal."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from command import by_model, run, table
from pyarrow import feather, parquet

posix = pytest.mark.skipif(os.name != "posix", reason="pipes and devices are POSIX's")
Y, S = [0, 1, 0, 1], [0.1, 0.9, 0.2, 0.95]
CSV = b"y,s\n0,0.1\n1,0.9\n0,0.2\n1,0.95\n"
COMMAND = [sys.executable, "-m", "quotakernels", "evaluate"]


def columnar(write: Callable[[pa.Table, Any], object]) -> bytes:
    sink = pa.BufferOutputStream()
    write(pa.table({"y": Y, "s": S}), sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


CONTENTS = {
    "csv": CSV,
    "tsv": CSV.replace(b",", b"\t"),
    "csv.gz": gzip.compress(CSV),
    "jsonl": b'{"y": 0, "s": 0.1}\n{"y": 1, "s": 0.9}\n',
    "parquet": columnar(parquet.write_table),
    "arrow": columnar(feather.write_feather),
}


def piped(path: Path, content: bytes, *arguments: object) -> Any:
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(content))
    writer.start()
    outcome = run("evaluate", path, "--score", "s", *arguments)
    writer.join()
    return outcome


@posix
@pytest.mark.parametrize("suffix", CONTENTS)
@pytest.mark.parametrize("named", [False, True])
def test_pipes_are_read_as_what_they_are(tmp_path: Path, suffix: str, named: bool) -> None:
    path = tmp_path / (f"pipe.{suffix}" if named else "pipe")
    outcome = piped(path, CONTENTS[suffix], "--label", "y", "--json")
    found = outcome.record
    assert found["source"] == path.name
    assert found["models"][0]["roc_auc"] == 1


@posix
def test_what_cannot_be_read_from_a_pipe(tmp_path: Path) -> None:
    assert "a cannot be read: Empty CSV" in piped(tmp_path / "a", b"", "--label", "y").err
    assert "b has the columns y, s" in piped(tmp_path / "b", CSV).error
    error = run("evaluate", "/dev/null", "--label", "y", "--score", "s").error
    assert error == "Error: /dev/null is a device or a terminal, not a file\n"
    os.mkfifo(tmp_path / "c")


@pytest.mark.full
@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="there is no /dev/stdin")
@pytest.mark.parametrize("from_file", [False, True])
def test_standard_input(tmp_path: Path, from_file: bool) -> None:
    name = "/dev/stdin" if from_file else "-"
    given = [*COMMAND, name, "--label", "y", "--score", "s", "--json"]
    (tmp_path / "data").write_bytes(CSV)
    with (tmp_path / "data").open("rb") as file:
        how: dict[str, Any] = {"stdin": file} if from_file else {"input": CSV}
        done = subprocess.run(given, capture_output=True, check=True, **how)
    assert json.loads(done.stdout)["source"] == "standard input"


@pytest.mark.full
@posix
def test_a_report_names_the_pipe_and_not_its_copy(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    quota = ["--quota", "2", "--resamples", "9"]
    given = [*COMMAND[:-1], "report", "/dev/stdin", "--label", "y", "--score", "s", *quota]
    subprocess.run([*given, "-o", page], input=CSV, capture_output=True, check=True)
    content = page.read_text(encoding="utf-8")
    assert "standard input" in content
    assert "quotakernels select /dev/stdin --score s" in content
    assert "stdin.csv" not in content
    bad = [*COMMAND, "/dev/stdin", "--label", "y", "--score", "t"]
    done = subprocess.run(bad, input=CSV, capture_output=True, check=False)
    assert done.stderr.startswith(b"Error: standard input has no column 't'")


@pytest.mark.full
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["--example", "credit"], ["--example", "credit", "--json"]])
def test_a_full_standard_output_is_one_line(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=-1, check=False)
    assert done.returncode == 2
    assert done.stderr == b"Error: the standard output cannot be written: No space left on device\n"


@pytest.mark.full
@posix
def test_a_closed_pipe_is_quiet() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    given = [*COMMAND, "--example", "credit", "--json"]
    done = subprocess.run(given, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


EVIL = "s\x1b[31m\x9b2J\x7f"
SHOWN = r"s\x1b[31m\x9b2J\x7f"


def controls(text: str) -> set[str]:
    return {x for x in text if x != "\n" and (x < " " or "\x7f" <= x < "\xa0")}


def test_names_and_values_do_not_control_the_terminal(tmp_path: Path) -> None:
    labels = {f"y\x1b]0;{k}\x07": [x + k for x in Y] for k in range(2)}
    label = "y\x1b]0;0\x07"
    path = table(tmp_path, **{**labels, EVIL: S, "t": S[::-1], "p\x1bc": ["\x1b[2J"] * 4, "g": Y})
    models = ("--score", EVIL, "--score", "t")
    where = ("--where", "p\x1bc=\x1b[2J")
    more = ("--weight", "g", "--gain", "g", "--confidence", "0.9", "--compare", "--resamples", "9")
    for options in ((), where, (*where, *more, "--quota", "1"), ("--impact", "1,0,0,0")):
        outcome = run("evaluate", path, "--label", label, *models, *options)
        assert outcome.status == 0, outcome.err
        assert controls(outcome.out + outcome.err) == set()
        assert SHOWN in outcome.out
    bad = [
        ("--label", label, "--score", f"{EVIL}2"),
        ("--label", label, "--score", EVIL, "--where", "p\x1bc=\x1b[3J"),
        ("--label", EVIL, "--score", "t"),
        (),
    ]
    for options in bad:
        error = run("evaluate", path, *options).error
        assert controls(error) == set()
        assert r"\x1b" in error
    content = run("evaluate", path, "--label", label, *models, "--json").out
    assert controls(content) == set()
    assert by_model(content)["models"][0]["score"] == EVIL


def test_styles_still_reach_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    path = table(tmp_path, y=Y, **{EVIL: S, "t": S[::-1]})
    said = run("evaluate", path, "--label", "y", "--score", EVIL, "--score", "t").out
    assert f"\x1b[1mWhich model should fill my quota? {SHOWN}.\x1b[0m\n" in said
