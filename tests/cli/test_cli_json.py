"""JSON lines: long numbers, long rows, and values within values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from records import by_model

from quotakernels.cli import paths

Run = Callable[..., Any]
GIVEN = ("--label", "y", "--score", "s", "--json")


def lines(scores: list[str], more: str = "null") -> str:
    rows = (f'{{"y": {k % 2}, "s": {x}, "more": {more}}}\n' for k, x in enumerate(scores))
    return "".join(rows)


def test_bytes_in_other_columns_are_not_read(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(["0.5", "0.25"], '"M\xfcller"').encode("latin-1"))
    assert run("evaluate", path, *GIVEN).status == 0


@pytest.mark.parametrize(
    ("scores", "auc"),
    [
        (["9007199254740993", "9007199254740992", "1"], 0.5),
        (["0.30000000000000004", "0.3", "0.30"], 0.25),
        (["1e-3", "0.001", "1E300"], 0.25),
    ],
)
def test_scores_that_stay_distinct(run: Run, tmp_path: Path, scores: list[str], auc: float) -> None:
    """Of the second row alone, which is positive, and of the two others."""
    path = tmp_path / "a.jsonl"
    path.write_text(lines(scores).replace("\n", "\r\n\n"))
    outcome = run("evaluate", path, *GIVEN)
    assert outcome.status == 0, outcome.err
    assert by_model(outcome.out)["models"][0]["roc_auc"] == auc


def test_rows_beyond_a_megabyte(run: Run, tmp_path: Path) -> None:
    for name, text in {
        "a.jsonl": lines(["0.1", "0.2"], f'"{"x" * 2_200_000}"'),
        "a.csv": "y,s,more\n" + "".join(f"{k},0.{k},{'x' * 2_200_000}\n" for k in (0, 1)),
        "header.csv": f"y,s,{'x' * 2_200_000}\n1,0.5,x\n0,0.2,y\n",
    }.items():
        (tmp_path / name).write_text(text)
        outcome = run("evaluate", tmp_path / name, *GIVEN)
        assert outcome.status == 0, outcome.err
        assert by_model(outcome.out)["models"][0]["roc_auc"] == 1


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_a_row_that_is_too_long(run: Run, tmp_path: Path, engine: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"y,s,n\n0,1,{'x' * 3 * paths.BLOCK_BYTES}\n1,2,x\n")
    error = run("evaluate", path, *GIVEN, "--engine", engine).error
    assert "a.csv cannot be read: a row has more than 16 MB\n" in error


def test_values_within_values(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for more in ("[" * 40 + "]" * 40, f'"{"[" * 20_000}"', '{"a": [1, null]}'):
        path.write_text(lines(["0.5", "0.25"], more))
        assert run("evaluate", path, *GIVEN).status == 0
    path.write_text(lines(["0.5", "0.25"], "[" * 20_000 + "]" * 20_000))
    assert "a.jsonl: line 1 is no JSON: maximum recursion" in run("evaluate", path, *GIVEN).error
