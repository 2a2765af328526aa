"""How tests run the command and read its record, and the files that it reads."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from quotakernels.cli import main

ROOT = Path(__file__).resolve().parents[1]
CREDIT_FILE = ROOT / "quotakernels" / "data" / "german_credit_scores.csv"
_ROWS = np.genfromtxt(CREDIT_FILE, delimiter=",", names=True)
CREDIT = {name: _ROWS[name].copy() for name in _ROWS.dtype.names}
BEST_CUT = ("threshold", "quota", "fraction", "brings", "per_place", "expected")


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

    @property
    def record(self) -> Any:
        """What a run with --json that went well has printed, with values by model and measure."""
        assert self.status == 0, self.err
        return by_model(self.out)

    @property
    def auc(self) -> float:
        """The AUC of the first model, of a run with --json."""
        found: float = self.record["models"][0]["roc_auc"]
        return found


def run(*arguments: object) -> Outcome:
    """Run the command in this process, as the console script does."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["quotakernels", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            status = main()
        except SystemExit as stop:
            status = int(stop.code or 0)
    return Outcome(status, out.getvalue(), err.getvalue())


def by_model(record: Any) -> Any:
    """A record, or its JSON, with values by model, quota and measure."""
    record = json.loads(record) if isinstance(record, str) else record
    models: dict[str, Any] = {name: {"score": name} for name in record["models"]}
    for row in record.pop("values"):
        target, measure = models[row["model"]], row["measure"]
        at = "budget" if "budget" in row else "quota"
        if row[at] is not None:
            target = target.setdefault(f"{at}s", {}).setdefault(row[at], {})
        elif measure in BEST_CUT and row["group"] is None:
            target = target.setdefault("best_cut", {})
        if row["group"] is not None:
            target = target.setdefault("groups", {}).setdefault(row["group"], {})
        target[measure] = row["value"]
        if row["lower"] is not None:
            kind = "bounds" if row["value"] is None else "intervals"
            target.setdefault(kind, {})[measure] = [row["lower"], row["upper"]]
    return {**record, "models": list(models.values())}


def table(folder: Path, **columns: Any) -> Path:
    """Write columns to `data.csv` in a folder."""
    return write_csv(folder / "data.csv", **columns)


def write_csv(path: Path, **columns: Any) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def write_excel(path: Path, lines: list[str], *before: str) -> Path:
    """Write a sheet of lines with semicolons, after sheets with one cell.

    What has a decimal comma is a number, and what begins with an apostrophe a text.
    """
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title in before:
        book.create_sheet(title).append(["Deckblatt"])
    sheet = book.create_sheet("Daten")
    for line in lines:
        sheet.append([excel_cell(x.strip()) for x in line.split(";")])
    book.save(path)
    return path


def excel_cell(text: str) -> str | float | None:
    if text.startswith("'"):
        return text[1:]
    return float(text.replace(",", ".")) if "," in text else text or None
