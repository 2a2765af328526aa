"""`evaluate --engine stream`: exact at quotas, bounds over all of them, and what it refuses."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from backends import in_full
from command import run
from pyarrow import feather, parquet

import quotakernels as qk
from quotakernels.cli import csv_files, files
from quotakernels.cli import run as engines
from quotakernels.evaluation import batches as passes

N = 900
RNG = np.random.default_rng(2)
Y = RNG.random(N) < 0.4
COLUMNS = {
    "y": Y.astype(int),
    "text": np.where(Y, "it's", "no"),
    "a": RNG.normal(Y),
    "b": RNG.normal(Y).astype("f4"),
    "h": RNG.normal(Y).astype("f2"),
    "part": np.array(list("nns"))[RNG.integers(0, 3, N)],
    "large": np.where(Y, 2**53 + 1, 5),
    "w": RNG.random(N),
    "row": np.arange(N),
    "day": np.array(["2026-01-01", "2026-01-02"], "M8[D]")[RNG.integers(0, 2, N)],
    "branch": RNG.integers(0, 40, N).astype("i2"),
    "t": RNG.normal(Y).round(1),
    "c": RNG.choice([0.0, 0.5, 3.25], N),
    "v": RNG.normal(2 * Y - 1),
    "mailed": RNG.integers(0, 2, N),
    "arm": np.where(np.arange(N) < 140, "no", np.array(["no", "mail"])[RNG.integers(0, 2, N)]),
}
GIVEN = ("--label", "y", "--score", "a", "--score", "b", "--score", "h")
ENGINES = ("stream", "memory")
QUOTAS = ("--quota", "40", "--quota", "5%")


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_ROWS_AT_ONCE", 128)
    monkeypatch.setattr(engines, "_MAX_GROUPS", 400)
    monkeypatch.setattr(passes, "_BITS", 17)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    table = pa.table(COLUMNS)
    parquet.write_table(table, tmp_path / "all.parquet")
    feather.write_feather(table, tmp_path / "all.arrow")
    parquet.write_to_dataset(table, tmp_path / "parts", partition_cols=["part"])
    return tmp_path


@pytest.mark.parametrize("name", [in_full("all.parquet"), "all.arrow", "parts"])
def test_the_answer_is_that_of_other_engines(data: Path, name: str) -> None:
    exact = run("evaluate", data / "all.parquet", *GIVEN, *QUOTAS)
    found = run("evaluate", data / name, *GIVEN, *QUOTAS, "--engine", "stream")
    assert found.status == 0, found.err
    wanted, told = exact.out.splitlines(), found.out.splitlines()
    which = wanted.index("How sure is the order of the models? Unknown.")
    assert told[1:which] == wanted[1:which]
    for model, scores in (("a", COLUMNS["a"]), ("b", COLUMNS["b"])):
        rows = [[x.split() for x in out if x.startswith(f"{model}   ")] for out in (wanted, told)]
        assert len(rows[0]) == len(rows[1]) == 2
        for row, streamed in zip(*rows, strict=True):
            assert streamed[:4] == row[:4]
            lower, upper = float(streamed[4]), float(streamed[-1])
            assert lower - 5e-5 <= qk.roc_auc(Y, scores) <= upper + 5e-5
            assert upper < lower + 2e-4
    assert "what quotas find is exact" in told[-1]


def by_both(data: Path, name: str, *given: Any) -> tuple[Any, Any]:
    """The record of all rows in memory, and that of a stream of a file or directory."""
    files_of = {"memory": "all.parquet", "stream": name}
    memory, stream = (
        run("evaluate", data / file, *given, "--json", "--engine", engine).record
        for engine, file in files_of.items()
    )
    return memory, stream


@pytest.mark.parametrize("name", ["all.parquet", in_full("parts")])
def test_weights_and_json_are_those_of_other_engines(data: Path, name: str) -> None:
    given = (*GIVEN, "--weight", "w", *QUOTAS)
    exact, found = by_both(data, name, *given)
    assert (found["dominant"], found["best_by_quota"]) == (None, None)
    for wanted, told in zip(exact.pop("models"), found.pop("models"), strict=True):
        assert told["quotas"].keys() == wanted["quotas"].keys()
        for quota, at_quota in told["quotas"].items():
            for measure, value in at_quota.items():
                assert value == pytest.approx(wanted["quotas"][quota][measure], rel=1e-12)
        bounds = told.get("bounds", {})
        for measure in ("roc_auc", "gini", "pem", "average_qrecall", "pr_auc", "roc_hull_auc"):
            lower, upper = bounds.get(measure, (told[measure],) * 2)
            assert lower - 1e-12 <= wanted[measure] <= upper + 1e-12
            assert (told[measure] is None) == (measure in bounds)
        assert ("roc_auc" in bounds) == (told["score"] == "a"), "17 bits tell the others apart"
    same = ("label", "weight", "rows", "positives", "where")
    assert [found[x] for x in same] == [exact[x] for x in same]
    for sums in ("total_weight", "positive_weight", "prevalence"):
        assert found[sums] == pytest.approx(exact[sums], rel=1e-13)


def test_conditions_labels_and_no_quota(data: Path) -> None:
    given = ("--label", "text", "--pos-label", "it's", "--score", "h", "--where", "part=s")
    outcome = run("evaluate", data / "parts", *given, "--engine", "stream")
    kept = COLUMNS["part"] == "s"
    auc = qk.roc_auc(Y[kept], COLUMNS["h"][kept])
    assert f"{kept.sum()} rows" in outcome.out
    assert "Over all quotas" in outcome.out
    assert f"h      {auc:.4f}" in outcome.out
    assert "Which model" not in outcome.out


BY_GROUP = [
    ("all.parquet", ("--per", "branch", "--quota", "4", "--quota", "10%")),
    ("parts", ("--per", "part", "--quota", "40.5", "--weight", "w")),
    ("all.arrow", ("--by", "branch", "--quota", "70", "--quota", "5%", "--quota", "900")),
    ("parts", ("--by", "day", "--quota", "9.5%", "--weight", "w", "--where", "part=n")),
    ("all.parquet", ("--by", "branch")),
]


@pytest.mark.parametrize(("name", "options"), [BY_GROUP[0], *(in_full(*x) for x in BY_GROUP[1:])])
def test_groups_are_those_of_other_engines(
    data: Path, monkeypatch: pytest.MonkeyPatch, name: str, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr(passes, "_BITS", 11)
    given = (*GIVEN, *options)
    wanted, told = by_both(data, name, *given)
    _assert_alike(told["groups"], wanted["groups"])
    for mine, other in zip(told["models"], wanted["models"], strict=True):
        assert mine.get("quotas", {}).keys() == other.get("quotas", {}).keys()
        for quota, at_quota in mine.get("quotas", {}).items():
            _assert_alike(at_quota, other["quotas"][quota])
        for measure in ("roc_auc", "average_qrecall"):
            _assert_between(mine, other, f"mean_{measure}")
            for group, values in other["groups"].items():
                _assert_between(mine["groups"][group], values, measure)


def _assert_alike(found: Any, wanted: Any) -> None:
    """All that the first has is in the other."""
    if isinstance(found, dict):
        for name, x in found.items():
            _assert_alike(x, wanted[name])
    elif isinstance(found, list):
        assert len(found) == len(wanted)
        for x, y in zip(found, wanted, strict=True):
            _assert_alike(x, y)
    elif isinstance(found, float):
        assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    else:
        assert found == wanted


def _assert_between(found: Any, wanted: Any, measure: str) -> None:
    """The value that the second has lies between the bounds that the first one has."""
    exact = wanted[measure]
    lower, upper = found.get("bounds", {}).get(measure, (found[measure],) * 2)
    assert (lower is None) == (exact is None)
    assert exact is None or lower - 1e-12 <= exact <= upper + 1e-12


MONEY = [
    ("all.parquet", ("--quota", "40", "--quota", "7.5%", "--gain", "v", "--place-cost", "0.25")),
    ("parts", ("--quota", "40.5", "--quota", "0.001%", "--gain", "v", "--weight", "w")),
    ("all.arrow", ("--quota", "40", "--impact", "3,-1,-0.5,0.25", "--ratio", "2", "--by", "part")),
    ("parts", ("--budget", "33.3", "--budget", "0", "--cost", "c", "--gain", "v")),
    ("all.parquet", ("--budget", "100.1", "--cost", "c", "--weight", "w", "--by", "branch")),
    ("parts", ("--budget", "7", "--cost", "c", "--per", "branch", "--where", "part=n")),
    ("all.parquet", ("--quota", "40", "--treatment", "mailed", "--weight", "w")),
    ("parts", ("--budget", "60", "--cost", "c", "--treatment", "arm", "--treated", "mail")),
]
IN_ALL_RUNS = (0, 3, 7)


@pytest.mark.parametrize(
    ("name", "options"), [*(MONEY[k] for k in IN_ALL_RUNS), *(in_full(*x) for x in MONEY)]
)
def test_gains_and_budgets_are_those_of_other_engines(
    data: Path, monkeypatch: pytest.MonkeyPatch, name: str, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr(passes, "_BITS", 9)
    given = (*GIVEN, "--score", "t", *options)
    wanted, told = by_both(data, name, *given)
    models = zip(told.pop("models"), wanted.pop("models"), strict=True)
    for name in ("source", "dominant", "best_by_quota"):
        told.pop(name)
    _assert_alike(told, wanted)
    for mine, other in models:
        at = "budgets" if "--budget" in options else "quotas"
        assert mine[at].keys() == other[at].keys()
        assert mine[at] != {}
        _assert_alike(mine[at], other[at])
        for at_quota in mine[at].values():
            assert ("brings" in at_quota) == ("--gain" in options or "--impact" in options)
            assert ("uplift_at_quota" in at_quota) == ("--treatment" in options)


@pytest.mark.parametrize("options", [(), ("--impact", "3,-1,-0.5,0.25", "--ratio", "2")])
def test_intervals_at_quotas_are_those_of_other_engines(
    data: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr(passes, "_BITS", 6)
    quotas = ("--quota", "40", "--quota", "7.5%", "--quota", "0.001%")
    given = (*GIVEN, "--score", "t", *quotas, *options, "--confidence", "90%")
    wanted, told = by_both(data, "parts", *given)
    closed = dict.fromkeys(("hit_rate", "qrecall", "lift"), "score")
    sure = {"level": 0.9, "resamples": 0, "closed_forms": closed, "notes": []}
    assert told["confidence"].items() >= sure.items()
    assert wanted["confidence"]["closed_forms"].items() >= closed.items()
    for mine, other in zip(told["models"], wanted["models"], strict=True):
        assert "intervals" not in mine
        for quota in ("40", "7.5%"):
            intervals = mine["quotas"][quota]["intervals"]
            assert intervals.keys() == {*closed, *(["brings"] if options else [])}
            _assert_alike(intervals, other["quotas"][quota]["intervals"])
    lines = [run("evaluate", data / "parts", *given, "--engine", x).out for x in ENGINES]
    rows = [re.findall(r"^(\w) +.* (\S+% to \S+%) ", x, re.MULTILINE) for x in lines]
    assert sorted(rows[0]) == sorted(rows[1]), "b and h bring the same but for rounding"
    assert len(rows[0]) == 8
    assert "90% intervals: score intervals of hit rate, Qrecall and lift, and of" in lines[0]
    number = r"\d[\d.]*"
    told = rf" {number} \(90% interval {number} to {number}( as the best of \d)?\) are positive"
    assert bool(re.search(told, lines[0])) != bool(options)
    assert ("That is with 40 places (90% interval" in lines[0]) == bool(options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--by", "row"), "column 'row' has more than 400 groups, for which --engine stream does"),
        (("--score", "large"), "whole numbers beyond 2**53 need another engine"),
    ],
)
def test_what_a_stream_cannot_do(data: Path, options: tuple[str, ...], message: str) -> None:
    given = ("--label", "y", "--score", "a", "--engine", "stream", *options)
    assert message in " ".join(run("evaluate", data / "all.parquet", *given).error.split())


@pytest.mark.parametrize(("separator", "decimal"), [in_full(",", "."), (";", ",")])
def test_csv_is_read_in_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separator: str, decimal: str
) -> None:
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 2**12)
    scores = COLUMNS["a"]
    texts = [repr(float(x)) if k % 2 else f"{x:.17g}" for k, x in enumerate(scores)]
    lines = [f"{int(y)}{separator}{x.replace('.', decimal)}" for y, x in zip(Y, texts, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join([f"y{separator}s", *lines]))
    given = ("evaluate", tmp_path / "data.csv", "--label", "y", "--score", "s", "--quota", "40")
    exact = run(*given, "--memory-limit", "1MB")
    found = run(*given, "--engine", "stream")
    assert found.status == 0, found.err
    assert run(*given, "--memory-limit", "1kB").out == found.out
    told, wanted = found.out.splitlines(), exact.out.splitlines()
    assert told[:5] == wanted[:5]
    rows = [[x.split()[:4] for x in out if x.startswith("s ")] for out in (told, wanted)]
    assert rows[0] == rows[1]
    assert rows[0]


def test_weights_of_csv_may_begin_as_whole_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 2**9)
    path = tmp_path / "data.csv"
    rows = [f"{k % 2};0,{k:03d};{k if k < 300 else '0,12345678901234567'}" for k in range(600)]
    path.write_text("\n".join(["y;s;w", *rows]))
    given = ("evaluate", path, "--label", "y", "--score", "s", "--weight", "w", "--quota", "5%")
    told, wanted = (run(*given, "--engine", x).out for x in ("stream", "memory"))
    assert told.splitlines()[:4] == wanted.splitlines()[:4]
    assert "total weight 44,887" in told
    path.write_text(path.read_text() + "\n1;0,5;-1\n")
    error = run(*given, "--engine", "stream").error
    assert "column 'w': -1.0 at row 601, expected a finite weight" in " ".join(error.split())


@pytest.mark.parametrize(
    ("labels", "pos_label", "message"),
    [
        ([0] * 130 + [5] * 9, "yes", "--pos-label yes is not among the labels"),
        ([0] * 139, "5", "--pos-label 5 is not among the labels"),
        ([0] * 130 + [5] * 9, "5", ""),
        ([False] * 130 + [True] * 9, "true", ""),
        (["no"] * 130 + ["yes"] * 9, "yes", ""),
        (["no"] * 130 + ["yes"] * 9, None, "say which one is positive with --pos-label"),
    ],
)
def test_batches_may_lack_the_positive_label(
    tmp_path: Path, labels: list[Any], pos_label: str | None, message: str
) -> None:
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"y": labels, "s": np.arange(139.0)}), path)
    given = ("--label", "y", "--score", "s", "--quota", "9", "--engine", "stream")
    outcome = run("evaluate", path, *given, *(("--pos-label", pos_label) if pos_label else ()))
    if message:
        assert message in " ".join(outcome.error.split())
    else:
        assert "139 rows, 9 positive" in outcome.out
        assert "a hit rate of 100.0%" in outcome.out


def test_types_of_files_may_differ(tmp_path: Path) -> None:
    for k, (labels, scores) in enumerate(
        [(pa.array([0, 1, 1]), pa.array([3, 1, 2])), (pa.array([True]), pa.array([2.5], "f4"))]
    ):
        parquet.write_table(pa.table({"y": labels, "s": scores}), tmp_path / f"{k}.parquet")
    given = ("--label", "y", "--score", "s", "--quota", "2", "--engine", "stream")
    outcome = run("evaluate", tmp_path, *given)
    assert "4 rows, 3 positive" in outcome.out
    assert "a hit rate of 50.0%" in outcome.out


def test_beyond_the_memory_limit_auto_takes_it_and_says_so(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("evaluate", data / "all.parquet", "--label", "y", "--score", "a", "--quota", "9")
    stream = run(*given, "--engine", "stream").out
    limited = run(*given, "--memory-limit", "10 kB")
    assert limited.out == stream
    assert "and the limit is 1e-05 GB: read as a stream" in " ".join(limited.err.split())
    assert "stream" not in run(*given, "--memory-limit", "1MiB").err
    for available, status in ((8 * 4 * N, ""), (0, "read as a stream"), (np.inf, "")):
        monkeypatch.setattr(engines, "_available_bytes", lambda found=available: found)
        assert status in run(*given).err
        assert "stream" not in run(*given, "--engine", "memory").err
    monkeypatch.setattr(engines, "_available_bytes", lambda: 0)
    refused = " ".join(run(*given, "--compare", "--score", "b").error.split())
    assert "limit is 0 GB: a stream keeps no rows to resample" in refused
    assert "give --engine memory" in refused


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells")
def test_available_memory_is_found() -> None:
    found = engines._available_bytes()
    assert 2**20 < found < 2**50
