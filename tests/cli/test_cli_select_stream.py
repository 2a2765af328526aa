"""`select` of several Parquet files: the rows that one file gives, with few rows in memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from backends import in_full
from pyarrow import parquet

from quotakernels.cli import files

Run = Callable[..., Any]
N = 400
RNG = np.random.default_rng(8)
ROWS = pa.table(
    {
        "id": np.arange(N),
        "s": RNG.normal(size=N).astype("f4"),
        "tied": RNG.integers(0, 9, N),
        "cost": RNG.random(N),
        "part": np.repeat(["a", "b"], N // 2),
    }
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same rows, in the same order, as one file and as two."""
    monkeypatch.setattr(files, "_ROWS_AT_ONCE", 64)
    parquet.write_table(ROWS, tmp_path / "all.parquet")
    parquet.write_to_dataset(ROWS, tmp_path / "parts", partition_cols=["part"])
    return tmp_path


ASKED = [
    ("--score", "s", "--quota", "37"),
    ("--score", "s", "--quota", "3.3%"),
    ("--score", "s", "--quota", "400"),
    ("--score", "s", "--quota", "0"),
    ("--score", "s", "--threshold", "0.5"),
    ("--score", "s", "--threshold", "50"),
    ("--score", "tied", "--quota", "100", "--all-ties"),
    ("--score", "s", "--quota", "10", "--where", "part=b", "--where", "id<350"),
    ("--score", "s", "--quota", "10", "--per", "tied"),
    ("--score", "s", "--budget", "3", "--cost", "cost"),
]


@pytest.mark.parametrize("asked", [x if k % 3 == 1 else in_full(x) for k, x in enumerate(ASKED)])
def test_several_files_give_the_rows_of_one(run: Run, data: Path, asked: tuple[str, ...]) -> None:
    told, written = [], []
    for name in ("all.parquet", "parts"):
        output = data / "chosen.parquet"
        outcome = run("select", data / name, *asked, "-o", output)
        assert outcome.status == 0, outcome.err
        told.append(outcome.out)
        found = parquet.read_table(output)
        names = [x for x in found.column_names if x != "part"]
        written.append(found.select(names))
    assert told[0] == told[1]
    assert written[0].equals(written[1])


def test_drawn_ties_fill_the_quota(run: Run, data: Path) -> None:
    output = data / "chosen.csv"
    given = ("select", data / "parts", "--score", "tied", "--quota", "100", "-o", output)
    outcome = run(*given)
    assert "tied rows were drawn (seed 0)" in outcome.err
    first = output.read_text()
    assert first.count("\n") == 101
    run(*given)
    assert output.read_text() == first
    run(*given, "--seed", "1")
    assert output.read_text() != first


def test_what_is_refused(run: Run, data: Path) -> None:
    given = ("select", data / "parts", "--score", "s", "-o")
    out = data / "chosen.csv"
    assert "is more than the 400 rows" in run(*given, out, "--quota", "401").error
    inside = run(*given, data / "parts" / "chosen.parquet", "--quota", "4").error
    assert "would be part of the input" in " ".join(inside.split())
    some = next((data / "parts" / "part=a").iterdir())
    pattern = ("select", data / "parts/*/*.parquet", "--score", "s", "--quota", "4", "-o", some)
    assert "is the input" in run(*pattern).error
    assert not out.exists()
