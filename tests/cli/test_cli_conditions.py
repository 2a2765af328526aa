"""Conditions for rows, `--where`: the same rows from memory and from a stream."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from command import run, table
from pyarrow import feather, parquet

WIDE = 12345678901234567890
HOURS = [datetime(2026, 1, k + 1, 12) for k in range(6)]
COLUMNS = {
    "y": [0, 1, 0, 1, 1, 0],
    "s": [0.1, 0.9, 0.3, 0.7, 0.5, 0.2],
    "train": [False, True, False, False, False, True],
    "big": [2**53, 2**53 + 1, 2**53 + 2, 2**60, 5, 6],
    "u1": pa.array([1, 2, 3, 200, 255, 0], pa.uint8()),
    "u8": pa.array([2**64 - 1, 2**64 - 2, 1, 2, 3, 4], pa.uint64()),
    "price": pa.array(
        map(Decimal, ("1.50", "2.25", "-3.10", "0.01", "9.99", "0")), pa.decimal128(9, 2)
    ),
    "wide": pa.array([Decimal(WIDE + k) for k in range(6)], pa.decimal128(38, 0)),
    "k": [1.0, 2.0, np.nan, 4.0, np.inf, -6.0],
    "text": ["a", "b", "nan", "1", "a", "0"],
    "day": [date(2026, 1, k + 1) for k in range(6)],
    "zoned": pa.array([x.replace(tzinfo=UTC) for x in HOURS], pa.timestamp("us", "UTC")),
    "hour": [time(k) for k in range(6)],
    "list": [[1]] * 6,
}
ROWS = {
    "train=0": [0, 2, 3, 4],
    "train=1": [1, 5],
    "train!=0": [1, 5],
    "train=False": [0, 2, 3, 4],
    "big=9007199254740993": [1],
    "big>9007199254740992": [1, 2, 3],
    "big>=9007199254740992.5": [1, 2, 3],
    "big<9007199254740992.5": [0, 4, 5],
    "big!=9007199254740992.5": range(6),
    "big!=99999999999999999999": range(6),
    "big>-1e400": range(6),
    "big<inf": range(6),
    "u1<300": range(6),
    "u1>=-1": range(6),
    "u1<=254.5": [0, 1, 2, 3, 5],
    "u8>18446744073709551614.5": [0],
    "u8>-1": range(6),
    "price=1.5": [0],
    "price<1.505": [0, 2, 3, 5],
    "price>-3.1": [0, 1, 3, 4, 5],
    "price<1e37": range(6),
    f"wide={WIDE + 1}": [1],
    f"wide>{WIDE + 3}.5": [4, 5],
    "wide<1e50": range(6),
    "k>3": [3, 4],
    "k!=2": [0, 2, 3, 4, 5],
    "text=nan": [2],
    "text=1": [3],
    "day>=02.01.2026": [1, 2, 3, 4, 5],
    "zoned>2026-01-02T13:00:00+01:00": [2, 3, 4, 5],
}
ERRORS = {
    "train=0.5": "train = 0.5: column 'train': Failed to parse value: 0.5",
    "train>0": "column 'train' holds true and false; > is for numbers and dates",
    "big=9007199254740992.5": "no row has big = 9007199254740992.5",
    "big=99999999999999999999": "no row has big = 99999999999999999999",
    "big=nan": "big = nan: column 'big' needs a number",
    "wide>1e50": "no row has wide > 1e50",
    "k=nan": "k = nan: column 'k' needs a number",
    "k!=NaN": "k != NaN: column 'k' needs a number",
    "zoned>2026-01-02": "zoned > 2026-01-02: column 'zoned': Failed to parse",
    "hour=3": "hour = 3: column 'hour': Unsupported cast",
    "list=1": "list = 1: column 'list': Unsupported cast from string to list",
}
READ = [("arrow", "memory"), ("arrow", "stream"), ("parquet", "memory"), ("parquet", "stream")]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    parquet.write_table(pa.table(COLUMNS), folder / "a.parquet", row_group_size=4)
    feather.write_feather(pa.table(COLUMNS), folder / "a.arrow", compression="uncompressed")
    return folder


@pytest.mark.parametrize(("kind", "engine"), READ)
def test_the_same_rows_in_every_engine(files: Path, kind: str, engine: str) -> None:
    asked = ("--label", "y", "--score", "s", "--engine", engine, "--json")
    for condition, rows in ROWS.items():
        outcome = run("evaluate", files / f"a.{kind}", *asked, "--where", condition)
        assert outcome.status == 0, (condition, outcome.err)
        found = json.loads(outcome.out)
        wanted = len(rows), sum(COLUMNS["y"][k] for k in rows)
        assert (found["rows"], found["positives"]) == wanted, condition
    for condition, error in ERRORS.items():
        found = run("evaluate", files / f"a.{kind}", *asked, "--where", condition).error
        assert error in found


def test_half_precision_and_text_files(tmp_path: Path) -> None:
    path = table(tmp_path, y=COLUMNS["y"], s=COLUMNS["s"], train=["false", "true"] * 3)
    half = pa.table({"y": COLUMNS["y"], "s": COLUMNS["s"], "h": np.float16(COLUMNS["s"])})
    feather.write_feather(half, path.with_name("h.arrow"))
    for engine in ("memory", "stream"):
        asked = ("--label", "y", "--score", "s", "--engine", engine, "--json")
        found = json.loads(run("evaluate", path, *asked, "--where", "train=0").out)
        assert (found["rows"], found["positives"]) == (3, 1)
        found = run("evaluate", path.with_name("h.arrow"), *asked, "--where", "h>=0.5").out
        assert json.loads(found)["rows"] == 3


def test_select(files: Path) -> None:
    output = files / "chosen.parquet"
    given = ("select", files / "a.parquet", "--score", "s", "--quota", 2, "-o", output)
    assert run(*given, "--where", "train=0").status == 0
    assert parquet.read_table(output)["s"].to_pylist() == [0.7, 0.5]
