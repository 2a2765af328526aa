"""Marks that the benchmarks hold or miss, and when they were not measured."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from benchmarks import cases, marks, resampling
from benchmarks.backends import BACKENDS

EMPTY: dict[str, Any] = {
    "backends": dict.fromkeys(BACKENDS),
    "peers": {"scikit-learn": None, "torchmetrics": "torchmetrics not installed", "metrax": None},
    "results": [],
    "skipped": [],
}


TORCH = "PyTorch CPU, the four, 10⁶: torchmetrics binary_auroc takes × as long"
PEERS = (
    "the four, uniform, 10⁶: scikit-learn's roc_auc_score takes × as long",
    TORCH,
    "JAX CPU, the four, 10⁶: metrax's AUCROC takes × as long",
)
"""Those of which the README speaks, in its order."""
README = Path(__file__).resolve().parents[2] / "README.md"
RESULTS = README.parent / "benchmarks" / "results"


def test_the_readme_says_at_most_what_each_machine_measured():
    found = [json.loads(path.read_text("utf-8")) for path in RESULTS.glob("*.json")]
    rows = [x for run in found for x in marks.rows(run) if x.text in PEERS]
    slowest = [min(float(x.measured) for x in rows if x.text == peer) for peer in PEERS]
    said = README.read_text("utf-8").partition("- **Speed.**")[2].partition("[Benchmarks]")[0]
    assert re.findall(r"1/(\d+) of", said) == [str(int(x)) for x in slowest]


def test_every_mark_has_a_row():
    rows = marks.rows(EMPTY)
    assert len(rows) == len(marks.MARKS) == len({mark.text for mark in marks.MARKS}) > 40
    assert all(x.verdict.startswith("not measured: ") and not x.measured for x in rows)
    assert all(x.verdict != "not measured: " for x in rows)


def test_marks_read_cases_and_entries_that_there_are():
    small = {name: case.build(BACKENDS["numpy"], 20).keys() for name, case in cases.CASES.items()}
    peers = EMPTY["peers"].keys()
    for mark in marks.MARKS:
        if isinstance(mark.read, marks.Ratio):
            assert mark.read.backend in BACKENDS
            assert {mark.read.top, mark.read.bottom} - peers - {
                cases.LOOP,
                resampling.ROWS,
            } <= small[mark.read.case]
