"""The benchmark suite runs from end to end, checks what it times, and its page is up to date."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import of_fast_forms, tree_leaves

import quotakernels as qk
from benchmarks import __main__ as program
from benchmarks import (
    cases,
    checks,
    data,
    groups,
    host,
    machine,
    marks,
    memory,
    reference,
    report,
    resampling,
    streaming,
    suite,
    tables,
)
from benchmarks.backends import BACKENDS, Backend
from benchmarks.harness import Entry, Turn, WrongResultError, contest
from benchmarks.peers import peers_of

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[1]
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
        assert [reference.hit_rate(rows, q) for q in (1, 2)] == [
            ex.hit_rate(groups, q) for q in (1, 2)
        ]
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


def test_distance_is_in_units_of_the_last_place():
    assert reference.distance(1.0, Fraction(1)) == 0
    assert reference.distance(np.nextafter(1.0, 2), Fraction(1)) == 1
    assert reference.distance(np.nextafter(np.float32(1), np.float32(2)), Fraction(1)) == 1
    assert reference.distance(float("nan"), Fraction(1)) == float("inf")
    assert reference.distance(0.5, np.longdouble(0.5)) == 0


@pytest.mark.parametrize("fractions", [10**6, 1])
def test_tie_free_scores_have_no_ties(fractions: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(data, "DISTINCT_FRACTIONS", fractions)
    for n in (10, 10**5):
        scores = np.sort(data.tie_free(n, np.random.default_rng(0)))
        assert (np.diff(scores) > 0).all()
        assert 0 <= scores[0] < scores[-1] < 1


# the harness


def entry(function: Any, exact: Any) -> Entry:
    return Entry(function, (2.0,), checks.values("twice", NUMPY, lambda: [exact]))


def test_contest_times_and_checks_every_entry():
    entries = {"right": entry(lambda x: 2 * x, 4), "floor": Entry(np.sqrt, (2.0,))}
    found, failures = contest(NUMPY, entries, 0)
    assert failures == {}
    assert found.keys() == {"right", "floor"}
    assert found["right"].check == ("twice", 0, 0, checks.ULPS)
    assert found["floor"].check is None
    timing = found["right"].timing
    assert 0 < timing.lower <= timing.median <= timing.upper
    assert timing.cpu > 0
    assert timing.runs == 1


def test_wrong_results_are_not_timed():
    with pytest.raises(WrongResultError, match=r"wrong: twice off by"):
        contest(NUMPY, {"wrong": entry(lambda x: 2 * x, 4.1)}, 0)


def test_peers_may_fail():
    def full(x: float) -> float:
        raise MemoryError("no room")

    entries = {"right": entry(lambda x: 2 * x, 4), "peer": Entry(full, (2.0,), peer=True)}
    found, failures = contest(NUMPY, entries, 0)
    assert found.keys() == {"right"}
    assert failures == {"peer": "MemoryError: no room"}
    entries["peer"].peer = False
    with pytest.raises(MemoryError):
        contest(NUMPY, entries, 0)


def test_approximations_are_reported_and_not_judged():
    check = checks.seen("AUC", NUMPY, lambda: [0.5])(np.float64(0.75))
    assert check.holds
    assert check.error == 0.25


def test_turns_end():
    turn = Turn(lambda: None, first=1.0, number=1)
    assert turn.goes_on(0)
    turn.times += [1.0]
    assert not turn.goes_on(0.1)
    assert turn.goes_on(0.5)
    turn.times += [1.0, 1.0]
    assert not turn.goes_on(2)
    assert turn.goes_on(4)


def test_memory_of_a_process_rises_by_what_is_allocated():
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("the system does not tell the peak of a process")
    size = 2**26
    assert size / 2 < memory.growth(lambda: np.ones(size, dtype=np.uint8)) < 2 * size


def test_memory_of_numpy_is_what_it_allocates():
    size = 2**20
    assert size <= NUMPY.peak_bytes(lambda x: x + x, (np.ones(size, dtype=np.uint8),)) < 2 * size


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
    for result in small_run["results"]:
        own = result["checks"].keys() - small_run["peers"].keys()
        assert own == result["times"].keys() - small_run["peers"].keys() - {
            cases.SORT,
            cases.TIE_FREE_SORT,
            streaming.BINCOUNT,
        }
        assert all(result["checks"][name]["ulps"] <= checks.ULPS for name in own)


def test_batch_is_exact(monkeypatch: pytest.MonkeyPatch):
    entries = cases.batch(NUMPY, 12)
    found, _ = contest(NUMPY, entries, 0)
    assert found[cases.ONE_CALL].check.what == "AUC of each class"
    assert all(x.check.error < 1e-12 for x in found.values() if x.check)


def test_states_of_streams_take_batch_after_batch():
    entries = streaming.streaming(NUMPY, 30)
    update = entries[streaming.TWO_BYTES].function
    for _ in range(3):
        state = update(*entries[streaming.TWO_BYTES].arguments)
    assert int(state.counts.sum()) == 90
    assert entries[streaming.TWO_BYTES].holds == 2**16 * 2 * 8 + 8
    assert not entries[streaming.TWO_BYTES].check(state).holds
    assert streaming.BUFFER not in streaming.streaming(NUMPY, streaming.BUFFERS_UP_TO + 10)


@pytest.mark.parametrize("name", ["torch-cpu", "jax-cpu"])
def test_streams_of_peers_take_batch_after_batch(name: str):
    backend = BACKENDS[name]
    if backend.why_not() or any(peer.why_not for peer in peers_of(name)):
        pytest.skip("its library or the peer is missing")
    entries = streaming.streaming(backend, 30)
    kept = {x: entries[x] for x in streaming.PEERS if x in entries}
    assert len(kept) == (2 if name == "torch-cpu" else 1)
    found, failures = contest(backend, kept, 0)
    assert failures == {}
    assert all(x.timing.median > 0 for x in found.values())


def test_rows_where_a_peer_is_faster_are_listed():
    def of(case: str, backend: str, n: int, **times: float) -> Any:
        entries = {name.replace("_", " "): {"median": x} for name, x in times.items()}
        return {"case": case, "backend": backend, "n": n, "times": entries}

    peers = {"scikit-learn": None, "torchmetrics": None}
    results = [
        of("uniform", "torch-cpu", 1000, measures=2.0, torchmetrics=1.0, sort=0.1),
        of("uniform", "torch-cpu", 10**6, measures=2.0, torchmetrics=3.0, sort=0.1),
        of("batch", "numpy", 1000, one_call=3.0, loop_of_scikit_learn=1.0),
        of("bootstrap, 2 %", "numpy", 1000, bootstrap=1.0),
        of("bootstrap, 2 %", "jax-cpu", 1000, bootstrap=5.0),
    ]
    results[2]["times"][cases.LOOP] = results[2]["times"].pop("loop of scikit learn")
    results[3]["times"][resampling.ROWS] = {"median": 4.0}
    run = {"backends": dict.fromkeys(BACKENDS), "peers": peers, "results": results}
    rows = tables.slower({"A": run}).rows
    assert [(x[0], x[2], x[3], x[5], x[6]) for x in rows] == [
        ("A", "torch-cpu", "10³", "torchmetrics", "1 s"),
        ("A", "numpy", "10³", cases.LOOP, "1 s"),
        ("A", "jax-cpu", "10³", resampling.ROWS, "4 s"),
    ]


def test_states_of_streams_are_donated():
    jax = BACKENDS["jax-cpu"]
    if jax.why_not():
        pytest.skip(jax.why_not())
    entries = streaming.streaming(jax, 30)
    kept = {name: entries[name] for name in (streaming.TWO_BYTES, streaming.BUFFER)}
    first = [x.function.state for x in kept.values()]
    assert contest(jax, kept, 0).failures == {}
    assert all(x.is_deleted() for x in tree_leaves(first) if x.size > 1)


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


def test_sizes_beyond_the_memory_are_left_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(suite.machine, "available_bytes", lambda: 2**20)
    found = run(suite.Plan(sizes=(10**6,), backends=("numpy",), only=("uniform",)))
    assert found["results"] == []
    assert "would need" in found["skipped"][0]["why"]


def test_sizes_beyond_the_patience_are_left_out():
    plan = suite.Plan(sizes=(20, 50), backends=("numpy",), only=("uniform",), seconds=0, patience=0)
    found = run(plan)
    assert [result["n"] for result in found["results"]] == [20]
    assert [(x["n"], x["why"]) for x in found["skipped"]] == [(50, "a call would take about 0 s")]


def test_plans_choose_sizes():
    case = cases.CASES["uniform"]
    assert suite.Plan().sizes_of(case, NUMPY) == tuple(10**e for e in range(3, 9))
    assert suite.Plan(largest=10**4).sizes_of(case, NUMPY) == (1000, 10**4)
    assert suite.Plan(sizes=(7,)).sizes_of(case, NUMPY) == (7,)
    assert suite.Plan(sizes=(7,)).sizes_of(cases.CASES["call"], NUMPY) == (10, 100, 1000)


def test_command_line_writes_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    stored, page = tmp_path / "run.json", tmp_path / "page.md"
    own = ["--backends", "numpy", "--sizes", "50", "--only", "uniform", "on top, rare"]
    files = ["--json", str(stored), "--docs", str(page)]
    assert program.main(["--seconds", "0", *own, *files]) == 0
    printed = capsys.readouterr().out
    assert "Marks" in printed
    found = json.loads(stored.read_text("utf-8"))
    assert found["command"] == (
        "python -m benchmarks --sizes 50 --seconds 0 --backends numpy --only uniform 'on top, rare'"
    )
    assert found["machine"].keys() > {"cpu", "cores", "gpu", "date", "versions"}
    assert str(tmp_path) not in stored.read_text("utf-8")
    name = machine.label(found["machine"], ())
    assert page.read_text("utf-8") == report.page({name: json.loads(program.dump(found))})
    again = tmp_path / "again.md"
    assert program.main(["report", str(stored), "-o", str(again)]) == 0
    assert again.read_text("utf-8") == report.page({"run": found})


def test_a_machine_without_vector_instructions_has_a_name():
    code = "from benchmarks import machine as m; print(m.label(m.measured(on_gpu=False), ()))"
    env = {
        **os.environ,
        "NPY_DISABLE_CPU_FEATURES": " ".join(machine.features()),
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, env=env, text=True
    )
    assert re.search(r"-baseline-[\d.]+ns$", done.stdout.strip())


def test_results_in_a_folder_are_those_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    own = ["--backends", "numpy", "--sizes", "50", "--only", "uniform", "--seconds", "0"]
    for ns in (10.0, 12.0, 40.0):  # the second is the first machine again
        monkeypatch.setattr(machine, "sort_ns", lambda ns=ns: ns)
        assert program.main([*own, "--json", str(tmp_path)]) == 0
    found = {path.stem: json.loads(path.read_text("utf-8")) for path in tmp_path.iterdir()}
    assert sorted(run["machine"]["sort_ns"] for run in found.values()) == [12, 40]
    assert {name.rpartition("-")[2] for name in found} == {"10ns", "40ns"}


def test_host_figures_are_kept_beside_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stored = tmp_path / "host.json"
    for ns, name in ((5.0, "np.sort"), (5.0, "roc_auc of a ranking"), (30.0, "np.sort")):
        monkeypatch.setattr(machine, "sort_ns", lambda ns=ns: ns)
        assert host.main([name, "--json", str(stored)]) == 0
    first, second = json.loads(stored.read_text("utf-8")).values()
    assert first["now"].keys() == {"np.sort, 1000000", "roc_auc of a ranking, 1000"}
    assert second["now"].keys() == {"np.sort, 1000000"}
    assert first.keys() == second.keys() == {"machine", "now"}


def test_host_figures_are_judged_by_the_worst_machine():
    def of(figure: float, ns: float | None = None) -> Any:
        return {"roc_auc, 100": {"figure": figure, "ns": ns}, "gone, 1": {"figure": 1.0, "ns": 2.0}}

    runs = {
        "A": {"machine": {"date": "2020-01-01"}, "now": of(39.0, 3.0)},
        "B": {"machine": {"date": "2020-01-02"}, "now": of(41.0, 4.0)},
    }
    page = host.section(runs, report.markdown)
    assert "| roc_auc | 10² | µs | 108 to 320 | 8 to 20 | ≤ 40 | 39 | 41 | B, missed | 4 |" in page
    assert "| hit_rate | 10² | µs | 180 to 220 | 9 to 11 | ≤ 50 |  |  |  |  |" in page
    runs["B"]["now"] = of(38.0)
    assert "| ≤ 40 | 39 | 38 | A | 3 |" in host.section(runs, report.markdown)


def test_figure_is_drawn_or_said_to_be_missing(
    small_run: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    stored, page, figure = (tmp_path / name for name in ("run.json", "page.md", "lines.svg"))
    stored.write_text(program.dump(small_run), "utf-8")
    program.main(["report", str(stored), "-o", str(page), "--figure", str(figure)])
    if figure.exists():
        assert "](lines.svg)" in page.read_text("utf-8")
    else:
        assert "no figure: matplotlib not installed" in capsys.readouterr().err
        assert "](lines.svg)" not in page.read_text("utf-8")


@pytest.mark.parametrize("argument", ["5", "1.5e1.5", "10.5"])
def test_sizes_are_whole_numbers(argument: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        program.main(["--sizes", argument])
    assert "--sizes" in capsys.readouterr().err


def test_quotas_compile_nothing_anew():
    jax = BACKENDS["jax-cpu"]
    if jax.why_not():
        pytest.skip(jax.why_not())
    for way in suite.recompilations(jax):
        assert way["first"] > 0
        assert way["later"] == 0


# the page


def test_numbers_are_short():
    assert [tables.short(x) for x in (0.123, 1.26, 12.3, 123.4)] == ["0.12", "1.3", "12", "123"]
    assert [tables.duration(x) for x in (1.5, 2e-3, 3e-6)] == ["1.5 s", "2 ms", "3 µs"]
    assert [marks.digits(x) for x in (1234.5, 0.12345)] == ["1230", "0.123"]
    assert [marks.power(n) for n in (10, 10**7, 250)] == ["10¹", "10⁷", "250"]


def test_tables_are_rectangular(small_run: Any):
    found = tables.tables(small_run)
    assert len(found) >= 5
    for one in found:
        assert {len(x) for x in one.rows} == {len(one.head)}


def test_page_is_made_of_the_stored_runs():
    runs = {path.stem: json.loads(path.read_text("utf-8")) for path in STORED}
    figure = PAGE.with_suffix(".svg")
    shown = figure.name if figure.exists() else None
    assert PAGE.read_text("utf-8") == report.page(runs, shown)


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


def test_four_measures_are_those_of_the_library():
    labels, scores, _ = cases.problem("uniform", 50)
    ranking = qk.rank(labels, scores)
    wanted = (qk.roc_auc, qk.pem, qk.average_hit_rate, qk.average_qrecall)
    found = cases.four_measures(labels, scores)  # summed by positives, and not by tie groups
    assert found == pytest.approx([measure(ranking) for measure in wanted], rel=5e-16, abs=0)


@of_fast_forms  # without them the tables are padded, and larger than extrapolated
def test_costs_at_scale(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    from benchmarks import scale

    assert scale.main(["--rows", "20000", "--target", "1e9", "--partition", "1e6"]) == 0
    printed = capsys.readouterr().out
    for kind in scale.KINDS:
        assert f"\n{kind} " in printed
    assert "1e+09 rows in 1,000 partitions of 1e+06, 64 cores:\n- half precision: " in printed
    assert "- all distinct" not in printed


def test_extrapolation_multiplies() -> None:
    from benchmarks import scale

    cost = scale.Cost("k", 1000, 36.0, 72.0, 4.0, 63.0, 1.0, 20)
    line = scale.extrapolated([cost], 1e12, 1e8, 60).splitlines()[1]
    assert line == (
        "- k: 4.0 TB to read; core hours: 10.0 to rank or 20.0 to group by DuckDB, 0.0002 to "
        "combine 0 GB of tables; 10 minutes by partitions"
    )


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
