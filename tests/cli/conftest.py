"""How the tests of the command line run it, and what they run it on."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import csv as arrow_csv

from quotakernels.cli import main

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """What a run left behind."""

    status: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The message of a run that failed in the way that every wrong input must."""
        assert self.status == 2
        assert self.out == ""
        assert "Traceback" not in self.err
        return self.err


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """Run the command in this process, as the console script does."""
    for variable in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(variable, raising=False)

    def run_main(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["quotakernels", *map(str, arguments)])
        try:
            status = main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        return Outcome(status, *capsys.readouterr())

    return run_main


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """Write columns to a CSV file."""

    def write(name: str = "data.csv", **columns: list[Any]) -> Path:
        path = tmp_path / name
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        return path

    return write


@pytest.fixture
def root() -> Path:
    """The project's root."""
    return ROOT


@pytest.fixture
def credit_file() -> Path:
    """The file behind the example."""
    return ROOT / "quotakernels" / "data" / "german_credit_scores.csv"


@pytest.fixture
def credit(credit_file: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The columns of the example."""
    content = arrow_csv.read_csv(credit_file)
    return {name: content.column(name).to_numpy() for name in content.column_names}
