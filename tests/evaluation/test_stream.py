"""Rows that are read as a stream: exact at quotas, bounds over all, whatever the cells are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends import in_full

import quotakernels as qk

pa = pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
from command import run  # noqa: E402
from pyarrow import parquet  # noqa: E402

from quotakernels.cli import files  # noqa: E402
from quotakernels.evaluation import batches  # noqa: E402

N = 700
QUOTAS: dict[str, dict[str, float]] = {
    "1": {"quota": 1},
    "33": {"quota": 33},
    "12.5%": {"quota": 87},
    "700": {"quota": N},
    "100%": {"fraction": 1.0},
}
RNG = np.random.default_rng(5)
NEAR = 1 + RNG.integers(0, 200, N) * 2.0**-30
SCORES = {
    "normal": RNG.normal(size=N),
    "single": RNG.normal(size=N).astype("f4"),
    "half": RNG.normal(size=N).astype("f2"),
    "near": NEAR,
    "tied": RNG.normal(size=N).round(1),
    "bytes": RNG.integers(-100, 100, N).astype("i1"),
    "ends": RNG.choice([-np.inf, np.inf, 0.0, -0.0, 5e-324, 1e308], N),
    "equal": np.full(N, 0.5),
}
LABELS = RNG.random(N) < 0.3
OVER_ALL = ("roc_auc", "gini", "pem", "average_qrecall")
NAMES = {"hit_rate": qk.hit_rate, "qrecall": qk.qrecall, "lift": qk.lift}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_ROWS_AT_ONCE", 100)


def streamed(
    folder: Path, models: Any, quotas: Any = (), labels: Any = LABELS, weights: Any = None
) -> Any:
    path, weighted = folder / "rows.parquet", weights is not None
    columns = {"y": labels, **SCORES, **({"w": weights} if weighted else {})}
    parquet.write_table(pa.table(columns), path)
    options = [x for name in models for x in ("--score", name)]
    options += [x for quota in quotas for x in ("--quota", quota)]
    options += ["--weight", "w"] if weighted else []
    return run("evaluate", path, "--label", "y", *options, "--engine", "stream", "--json")


def bounds(model: dict[str, Any]) -> dict[str, tuple[float, float]]:
    """Of all measures over all quotas, those that are known twice the value."""
    known = {name: (x, x) for name, x in model.items() if isinstance(x, float)}
    return known | {name: tuple(x) for name, x in model.get("bounds", {}).items()}


@pytest.mark.parametrize("bits", [in_full(20), 6, in_full(4)])
def test_quotas_are_exact_and_bounds_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int
) -> None:
    monkeypatch.setattr(batches, "_BITS", bits)
    found = streamed(tmp_path, SCORES, QUOTAS).record
    assert (found["rows"], found["positives"]) == (N, LABELS.sum())
    for model, scores in zip(found["models"], SCORES.values(), strict=True):
        ranking = qk.rank(LABELS, scores)
        for text, cut in QUOTAS.items():
            wanted = {name: f(ranking, **cut) for name, f in NAMES.items()}
            assert model["quotas"][text] == wanted
        ends = bounds(model)
        assert len(ends) >= 7
        for name, (lower, upper) in ends.items():
            slack = 0 if name in OVER_ALL else 1e-15
            assert lower - slack <= getattr(qk, name)(ranking) <= upper + slack, name


@pytest.mark.parametrize("bits", [in_full(20), 6, in_full(4)])
def test_weights_count_as_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int
) -> None:
    monkeypatch.setattr(batches, "_BITS", bits)
    weights = RNG.choice([0.0, 0.1, 3.0, 1e-9, 1e9], N)
    quotas: dict[str, dict[str, float]] = {
        "2000000000": {"quota": 2e9},
        "12.5%": {"fraction": 0.125},
    }
    found = streamed(tmp_path, SCORES, quotas, weights=weights).record
    assert (found["rows"], found["positives"]) == (N, LABELS.sum()), "also those without weight"
    assert found["total_weight"] == pytest.approx(weights.sum(), rel=1e-13)
    assert found["positive_weight"] == pytest.approx(weights[LABELS].sum(), rel=1e-13)
    narrow = 0
    for model, scores in zip(found["models"], SCORES.values(), strict=True):
        ranking = qk.rank(LABELS, scores, sample_weight=weights)
        for text, cut in quotas.items():
            wanted = {name: float(f(ranking, **cut)) for name, f in NAMES.items()}
            assert model["quotas"][text] == pytest.approx(wanted, rel=1e-12)
        for name, (lower, upper) in bounds(model).items():
            exact = getattr(qk, name)(ranking)
            assert lower - 1e-12 <= exact <= upper + 1e-12, name
            narrow += bool(upper - lower < 0.2)
    assert narrow > 20


def test_rows_without_any_weight_are_undefined(tmp_path: Path) -> None:
    found = streamed(tmp_path, ["normal"], ["5%"], weights=np.zeros(N)).record
    assert found["models"][0]["roc_auc"] is None
    assert (found["rows"], found["total_weight"]) == (N, 0)
    error = streamed(tmp_path, ["normal"], ["5%"], weights=np.full(N, 1e308)).error
    assert "the sum of the weights is too large for a number" in error


def test_ties_alone_leave_nothing_unknown(tmp_path: Path) -> None:
    found = streamed(tmp_path, ["half", "tied", "bytes"]).record["models"]
    assert [x["roc_auc"] for x in found] == [
        qk.roc_auc(LABELS, SCORES[x]) for x in ("half", "tied", "bytes")
    ]


@pytest.mark.parametrize("label", [True, False])
def test_one_class_is_undefined(tmp_path: Path, label: bool) -> None:
    (found,) = streamed(tmp_path, ["near"], ["1"], np.full(N, label)).record["models"]
    assert found["roc_auc"] is None
    assert found["quotas"]["1"]["hit_rate"] == label


@pytest.mark.parametrize("now", [slice(0, N - 1), slice(None, None, -1)])
def test_rows_that_change_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: slice
) -> None:
    """Somebody else writes fewer rows, or other scores, before the last pass."""
    opened, times = parquet.ParquetFile, 0
    last: float = np.inf

    def counted(path: Path) -> Any:
        nonlocal times
        times += 1
        if times == last:
            scores = np.abs(SCORES["normal"])[now]
            parquet.write_table(pa.table({"y": LABELS[now], "normal": scores}), path)
        return opened(path)

    monkeypatch.setattr(batches, "_BITS", 4)
    monkeypatch.setattr(parquet, "ParquetFile", counted)
    assert streamed(tmp_path, ["normal"], ["33"]).status == 0
    times, last = 0, times
    assert "changed between two passes" in streamed(tmp_path, ["normal"], ["33"]).error


@pytest.mark.parametrize("quotas", [[], ["1"]])
def test_a_second_pass_narrows_the_bounds(tmp_path: Path, quotas: list[str]) -> None:
    (found,) = streamed(tmp_path, ["near"], quotas).record["models"]
    lower, upper = bounds(found)["roc_auc"]
    assert upper - lower < 1e-4
