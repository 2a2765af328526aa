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


def timed(case: str, n: int, **times: float) -> dict[str, Any]:
    entries = {name: {"median": seconds} for name, seconds in times.items()}
    return {"case": case, "backend": "numpy", "n": n, "times": entries}


def row(text: str, *results: Any, **changes: Any) -> marks.Row:
    found = {**EMPTY, "results": list(results), **changes}
    return next(x for x in marks.rows(found) if x.text == text)


TIE_FREE = f"{marks.SCALAR}: no ties, 10⁷, / np.sort"
TORCH = "PyTorch CPU, the four, 10⁶: torchmetrics binary_auroc takes × as long"
PEERS = (
    "the four, uniform, 10⁶: scikit-learn's roc_auc_score takes × as long",
    TORCH,
    "JAX CPU, the four, 10⁶: metrax's AUCROC takes × as long",
)
"""Those of which the README speaks, in its order."""
README = Path(__file__).resolve().parents[1] / "README.md"
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


def test_marks_hold_or_miss():
    result = timed("tie-free", 10**7, measures=2.0, sort=1.0)
    assert row(TIE_FREE, result) == (TIE_FREE, "≤ 2.5", "2", "holds")
    result = timed("tie-free", 10**7, measures=3.0, sort=1.0)
    assert row(TIE_FREE, result)[2:] == ("3", "misses")


def test_marks_say_where_a_smaller_size_was_measured():
    results = [timed("tie-free", n, measures=2.0, sort=1.0) for n in (10**5, 10**6, 10**8)]
    assert row(TIE_FREE, *results)[2:] == ("2", "holds, at 10⁶ only")


def test_marks_say_why_they_were_not_measured():
    assert row(TORCH).verdict == "not measured: torchmetrics not installed"
    assert row(TIE_FREE).verdict == "not measured: not run"
    skipped = [{"case": "tie-free", "backend": "numpy", "n": 10, "why": "no room"}]
    assert row(TIE_FREE, skipped=skipped).verdict == "not measured: no room"
    absent = {**EMPTY["backends"], "numpy": "numpy not installed"}
    assert row(TIE_FREE, backends=absent).verdict == "not measured: numpy not installed"
    assert row(TIE_FREE, backends={}).verdict == "not measured: numpy was not asked for"


def test_marks_of_peers_say_what_the_sort_alone_would_reach():
    text = "the four, uniform, 10⁷: scikit-learn's roc_auc_score takes × as long"
    for sort, remark in ((0.5, ", the sort alone would reach 20"), (2.0, "")):
        times = {"measures": 1.0, "scikit-learn": 10.0, "sort": sort}
        assert row(text, timed("uniform", 10**7, **times)).verdict == f"misses{remark}"


def test_marks_of_calls_growth_and_memory():
    call = timed("call", 1000, roc_auc=2e-4, pem=1e-4, sort=1.0)
    call["times"] |= timed("call", 1000, **{cases.RANK: 3e-4, cases.OF_RANKING: 5e-5})["times"]
    call["times"]["scikit-learn"] = {"median": 1.0}
    text = "NumPy, one measure, n = 1000, one call"
    assert row(text, call)[1:] == (
        "≤ 100 µs",
        "200 µs",
        "misses, roc_auc; checks and table take 300 µs, AUC of a ranking 50 µs",
    )
    grown = [
        timed("uniform", 10**5, measures=2, sort=1),
        timed("uniform", 10**6, measures=6, sort=2),
    ]
    text = "NumPy, uniform: growth beyond that of the sort"
    assert row(text, *grown)[2:] == ("1.5", "holds, from 10⁵ to 10⁶")
    assert row(text, grown[0]).verdict == "not measured: not run"
    used = {**timed("logits", 10**6), "memory": {"over_scores": 7.0}}
    text = "NumPy, peak extra memory / bytes of the scores"
    assert row(text, used)[2:] == ("7", "misses, logits, 10⁶")


def test_marks_of_waiting_for_the_host():
    text = "torch-gpu, calls that wait for the host"
    waits = [
        {"case": "uniform", "backend": "torch-gpu", "n": n, "times": {}, "waits_for_host": x}
        for n, x in ((10, False), (20, True))
    ]
    assert row(text, waits[0])[2:] == ("0", "holds")
    assert row(text, *waits)[2:] == ("1", "misses")


def test_marks_of_machines_are_judged_by_the_worst():
    results = {x: timed("tie-free", 10**7, measures=x, sort=1.0) for x in (2.0, 3.0)}
    runs = {f"at {x:g}": {**EMPTY, "results": [results[x]]} for x in (2.0, 3.0)}
    runs["none"] = EMPTY
    found = {x.text: x for x in marks.worst_rows(runs)}
    assert found[TIE_FREE] == (TIE_FREE, "≤ 2.5", ("2", "3", ""), "at 3", "300", "misses")
    wanted = (("", "", ""), "", "", "not measured: torchmetrics not installed")
    assert found[TORCH][2:] == wanted
    for x, run in zip((30.0, 10.0), runs.values(), strict=False):
        run["results"] = [timed("uniform", 10**7, **{"measures": 1.0, "scikit-learn": x})]
    text = "the four, uniform, 10⁷: scikit-learn's roc_auc_score takes × as long"
    found = {x.text: x for x in marks.worst_rows(runs)}
    assert found[text][2:] == (("30", "10", ""), "at 3", "100", "misses")
