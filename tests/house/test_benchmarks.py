"""The benchmark suite runs from end to end, checks what it times, and its page is up to date."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import exact as ex
import numpy as np
import pytest

from benchmarks import __main__ as program
from benchmarks import cases, checks, data, groups, reference, report, streaming, suite, tables
from benchmarks.backends import BACKENDS, Backend
from benchmarks.harness import Entry, WrongResultError, contest
from benchmarks.misses import REASONS

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]
STORED = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
PAGE = ROOT / "docs" / "benchmarks.md"
NUMPY = BACKENDS["numpy"]
SMALL = [name for name in cases.CASES if name != "batch"]  # which has a fixed size, and a slow peer


# the exact values


def table(labels: Any, scores: Any, weights: Any = None) -> reference.Table:
    y, s = np.array(labels, dtype=bool), np.array(scores, dtype=np.float32)
    return reference.table_of(data.Data(y, s, weights))


def both_classes(labels: Any) -> bool:
    return 0 < sum(labels) < len(labels)


def close(found: Any, wanted: Any) -> bool:
    return float(found) == pytest.approx(float(wanted), rel=1e-15)


def test_reference_is_that_of_the_tests():
    seen = 0
    for labels, scores in ex.cases(5, 2):
        if not both_classes(labels):
            continue
        seen += 1
        rows, groups = table(labels, scores), ex.groups(labels, scores)
        assert reference.roc_auc(rows) == ex.roc_auc(groups)
        assert reference.pem(rows) == ex.pem(groups)
        assert reference.average_qrecall(rows) == ex.average_qrecall(groups)
        assert reference.roc_hull_auc(rows) == ex.roc_hull_auc(groups)
        assert reference.roc_hull(rows) == [(v.fp, v.tp) for v in ex.roc_hull(groups)]
        assert all(reference.hit_rate(rows, q) == ex.hit_rate(groups, q) for q in (1, 2))
        assert close(reference.average_hit_rate(rows), ex.average_hit_rate(groups))
        assert close(reference.average_precision(rows), ex.average_precision(groups))
        assert close(reference.pr_auc(rows), ex.pr_auc_exact(groups))
    assert seen > 300


def test_weighted_reference_is_that_of_the_tests():
    rng = np.random.default_rng(3)
    for n in (2, 3, 5, 20):
        for _ in range(20):
            scores = rng.integers(0, 4, n).astype(np.float32)
            labels = rng.random(n) < 0.5
            labels[:2] = True, False
            weights = data.quarters(n, rng)
            rows = table(labels, scores, weights)
            groups = ex.groups(labels.tolist(), scores.tolist(), weights.tolist())
            assert reference.roc_auc(rows) == ex.roc_auc(groups)
            assert reference.average_qrecall(rows) == ex.average_qrecall(groups)
            assert close(reference.average_hit_rate(rows), ex.average_hit_rate(groups))


def test_reference_of_a_quota():
    scores = np.array([0.1, 0.5, 0.9, 0.5])
    assert reference.quota_end(scores, 2) == (0.5, 1, 2)
    assert reference.shares(scores, 2).tolist() == [0, 0.5, 1, 0.5]


# the harness


def entry(function: Any, exact: Any) -> Entry:
    return Entry(function, (2.0,), checks.values("twice", NUMPY, lambda: [exact]))


def test_wrong_results_are_not_timed():
    with pytest.raises(WrongResultError, match=r"wrong: twice off by"):
        contest(NUMPY, {"wrong": entry(lambda x: 2 * x, 4.1)}, 0)


# runs


def run(plan: suite.Plan) -> Any:
    return suite.run(plan, "", lambda _: None, lambda _: None)


@pytest.fixture(scope="module")
def small_run() -> Any:
    plan = suite.Plan(sizes=(50,), backends=("numpy",), only=tuple(SMALL), seconds=0)
    with pytest.warns(UserWarning, match="^only 3 positives"):
        return run(plan)


def test_every_case_runs_and_is_exact(small_run: Any):
    assert small_run["skipped"] == []
    assert {result["case"] for result in small_run["results"]} == set(SMALL)
    assert len(small_run["results"]) == len(SMALL) + 2  # of calls there are three sizes
    others = {*small_run["peers"], cases.SORT, cases.TIE_FREE_SORT, streaming.BINCOUNT}
    for result in small_run["results"]:
        own = result["checks"].keys() - small_run["peers"].keys()
        assert own == result["times"].keys() - others
        assert all(result["checks"][name]["ulps"] <= checks.ULPS for name in own)


def test_batch_is_exact(monkeypatch: pytest.MonkeyPatch):
    entries = cases.batch(NUMPY, 12)
    found, _ = contest(NUMPY, entries, 0)
    assert found[cases.ONE_CALL].check.what == "AUC of each class"
    assert all(x.check.error < 1e-12 for x in found.values() if x.check)


def test_wrong_results_are_left_out_and_fail_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def wrong(backend: Backend, n: int) -> dict[str, Entry]:
        return {"wrong": entry(lambda x: x, 4)}

    broken = cases.CASES["uniform"]._replace(build=wrong)
    monkeypatch.setitem(cases.CASES, "uniform", broken)
    arguments = ["--backends", "numpy", "--sizes", "50", "--only", "uniform"]
    assert program.main(arguments) == 1
    assert "wrong result: wrong: twice off by" in capsys.readouterr().out


def test_command_line_stores_and_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    stored, page = tmp_path / "run.json", tmp_path / "page.md"
    own = ["--backends", "numpy", "--sizes", "50", "--only", "uniform", "on top, rare"]
    assert program.main(["--seconds", "0", *own, "--json", str(stored)]) == 0
    printed = capsys.readouterr().out
    assert "Marks" in printed
    found = json.loads(stored.read_text("utf-8"))
    assert found["command"] == (
        "python -m benchmarks --sizes 50 --seconds 0 --backends numpy --only uniform 'on top, rare'"
    )
    assert found["machine"].keys() > {"cpu", "cores", "gpu", "date", "versions"}
    assert str(tmp_path) not in stored.read_text("utf-8")
    assert program.main(["report", str(stored), "--all"]) == 0
    assert capsys.readouterr().out.startswith(printed.strip())
    assert program.main(["report", str(stored), "-o", str(page)]) == 0
    assert page.read_text("utf-8") == report.page({"run": found})


@pytest.mark.skipif(bool(BACKENDS["jax-cpu"].why_not()), reason="jax is not available")
def test_quotas_compile_nothing_anew():
    for way in suite.recompilations(BACKENDS["jax-cpu"]):
        assert (way["first"] > 0, way["later"]) == (True, 0)


# the page


@pytest.fixture(scope="module")
def stored_runs() -> Any:
    return {path.stem: json.loads(path.read_text("utf-8")) for path in STORED}


def test_page_is_made_of_the_stored_runs(stored_runs: Any):
    assert PAGE.read_text("utf-8") == report.page(stored_runs)


def test_each_missed_target_has_one_reason(stored_runs: Any):
    texts = [x.text for x in report.misses(stored_runs)]
    named = {x: [y.what for y in REASONS if re.search(y.pattern, x)] for x in texts}
    assert {x: y for x, y in named.items() if len(y) != 1} == {}
    assert {y for (y,) in named.values()} == {x.what for x in REASONS}


def test_page_shows_what_peers_do_faster(stored_runs: Any):
    """The same call and peer, of some size."""
    shown = {(cases.CASES[x.case].title, x.backend, x.peer) for x in report.RIVALS[:-3]}
    rows = tables.slower(stored_runs).rows
    assert {(case, backend, peer) for _, case, backend, _, _, peer, _ in rows} <= shown


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name)
def test_stored_runs_name_no_place(path: Path):
    texts = re.findall(r'"([^"]*)"', path.read_text("utf-8"))
    assert [x for x in texts if re.search(r"(^|[ '])[/~]|[/\\][\w.]+[/\\]|https?:", x)] == []


def test_stored_runs_are_whole():
    assert STORED
    for path in STORED:
        found = json.loads(path.read_text("utf-8"))
        assert all(not x["why"].startswith("wrong") for x in found["skipped"])
        assert {x["case"] for x in found["results"]} <= cases.CASES.keys()


def test_contenders_of_groups_agree(capsys: pytest.CaptureFixture[str]):
    """Each is checked before it is timed; how long it takes is not judged here."""
    assert groups.main(["--queries", "60", "--looped", "30", "--turns", "1"]) in (0, 1)
    printed = capsys.readouterr().out
    for what in (*groups.OURS, "all three"):
        assert re.search(f"{what} +{groups.BY_HAND} ", printed)
    assert groups.missed("AUC", {groups.HERE: 3.1, groups.BY_HAND: 2.0}) != []
    assert groups.missed("AUC", {groups.HERE: 2.9, groups.BY_HAND: 2.0, groups.LOOP: 15.0}) == []


def test_contenders_of_groups_that_differ_are_not_timed():
    there = np.array([True])
    with pytest.raises(AssertionError, match="pandas"):
        groups.check("AUC", {groups.HERE: np.array([0.5]), groups.PANDAS: np.array([0.6])}, there)
