"""Scores of more digits than a float has: refused where they would tie, and only there."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from records import by_model

Run = Callable[..., Any]
Y = [0, 1, 0, 1]

MERGED = {
    "integers beside a fraction": ("9007199254740992", "9007199254740993", "0.5", "3"),
    "integers beyond 64 bits": ("18446744073709551616", "18446744073709551617", "1", "99"),
    "decimals": ("0.12345678901234567890", "0.12345678901234567891", "0.1", "0.9"),
    "beyond the range": ("1e400", "2e400", "1", "2"),
    "next to 0": ("0", "1e-400", "1", "2"),
    "many": ("1", "1.00000000000000000001", "1.00000000000000000002", "2"),
}
KEPT = {
    "the same number in other digits": ("0.5", "0.50", "5e-1", "0.500000000000000000000"),
    "doubles": ("0.1", "0.30000000000000004", "0.3", "0.10000000000000002"),
    "64 bits": ("9007199254740992", "9007199254740993", "-9223372036854775808", "3"),
    "infinite": ("inf", "-inf", "0.5", "inf"),
    "zeros of both signs": ("0", "-0.0", "0.0", "1"),
}


def commands(path: Path) -> list[tuple[object, ...]]:
    output = path.with_name("output.csv")
    return [
        ("evaluate", path, "--label", "y", "--score", "s"),
        ("select", path, "--score", "s", "--quota", "1", "-o", output),
        ("tables", path, "--label", "y", "--score", "s", "-o", output),
    ]


@pytest.mark.parametrize("name", MERGED)
def test_distinct_scores_never_tie(run: Run, table: Callable[..., Path], name: str) -> None:
    ties = "2 more ties" if name == "many" else "1 more tie"
    for command in commands(table(y=Y, s=MERGED[name])):
        error = run(*command).error
        assert f"column 's': as 64-bit floats the scores have {ties} than in the file" in error
        assert not Path(command[1]).with_name("output.csv").exists()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", KEPT)
def test_scores_that_floats_hold_are_read(run: Run, table: Callable[..., Path], name: str) -> None:
    for command in commands(table(y=Y, s=KEPT[name])):
        outcome = run(*command)
        assert outcome.status == 0, outcome.err


@pytest.mark.parametrize(("step", "tied"), [("1e-20", True), ("1e-10", False)])
def test_wide_decimals(run: Run, tmp_path: Path, step: str, tied: bool) -> None:
    scores = [Decimal("0.5") + k * Decimal(step) for k in (0, 2, 1, 3)]
    content = pa.table({"y": Y, "s": pa.array(scores, pa.decimal128(30, 20))})
    parquet.write_table(content, tmp_path / "a.parquet")
    given = ("--label", "y", "--score", "s", "--json")
    outcome = run("evaluate", tmp_path / "a.parquet", *given)
    if tied:
        assert "column 's': as 64-bit floats the scores have 3 more ties" in outcome.error
    else:
        assert by_model(outcome.out)["models"][0]["roc_auc"] == 1


def test_decimals_in_arrow_files(run: Run, tmp_path: Path) -> None:
    scores = pa.array([Decimal(2**70), Decimal(2**70 + 1), Decimal(1), Decimal(2)])
    feather.write_feather(pa.table({"y": Y, "s": scores}), str(tmp_path / "a.feather"))
    given = ("--label", "y", "--score", "s")
    assert "1 more tie than" in run("evaluate", tmp_path / "a.feather", *given).error


def test_missing_scores_are_said_before(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=Y, s=["0.5", "", "NaN", np.float64(0.25)])
    error = run("evaluate", path, "--label", "y", "--score", "s").error
    assert "column 's': missing value at row 2" in error
