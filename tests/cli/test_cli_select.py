"""`select`: who fills the quota; `tables`: the confusion table of every cut."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from backends import in_full
from command import CREDIT, CREDIT_FILE, run, table
from expected import compact
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet

import quotakernels as qk
from quotakernels.cli import files


def test_select_draws_among_ties(tmp_path: Path) -> None:
    scores = [0.1 + 0.2] * 40 + [0.9] * 3 + [0.1] * 5
    path = table(tmp_path, id=list(range(48)), s=scores)
    output = path.with_name("chosen.csv")
    given = ("select", path, "--score", "s", "--quota", 13, "-o", output)
    rows = []
    for seed in ((), ("--seed", 0), ("--seed", 1)):
        outcome = run(*given, *seed)
        assert outcome.out.splitlines() == [
            "13 places: 3 above the threshold 0.30000000000000004, 10 of the 40 tied at it",
            "chosen.csv: 13 rows, best first",
        ]
        number = seed[-1] if seed else 0
        said = f"10 of 40 tied rows were drawn (seed {number}); --all-ties writes all of them, each"
        assert outcome.err.startswith(said)
        content = read_output(output)
        assert list(content) == ["id", "s"]
        taken = qk.select(scores, quota=13, whole=True, random_state=number)
        assert sorted(content["id"]) == np.flatnonzero(taken).tolist()
        rows.append(content["id"])
    assert rows[0] == rows[1] != rows[2]
    threshold = ("--threshold", "0.30000000000000004")
    assert "43 rows" in run(*given[:4], *threshold, "-o", output).out
    assert run(*given[:5], 43, "-o", output).err == ""
    assert "cannot be combined with --seed" in run(*given, "--all-ties", "--seed", 1).error
    for option in ("--all-ties",), ("--seed", 1):
        said = "--all-ties and --seed go with --quota or --budget."
        assert said in run(*given[:4], *threshold, *option, "-o", output).error


@pytest.mark.parametrize("name", ["chosen.csv", "chosen.tsv", "chosen.parquet", "chosen.feather"])
@pytest.mark.parametrize("quota", ["100", "17.5", "5%", "100%"])
def test_select_agrees_with_the_library(tmp_path: Path, name: str, quota: str) -> None:
    output = tmp_path / name
    given = ("--score", "tree", "--quota", quota, "-o", output)
    outcome = run("select", CREDIT_FILE, *given, "--all-ties")
    assert outcome.status == 0
    argument: dict[str, Any]
    argument = {"fraction": float(quota[:-1]) / 100} if "%" in quota else {"quota": float(quota)}
    probability = qk.select(CREDIT["tree"], **argument)
    order = [row for row in np.argsort(-CREDIT["tree"], kind="stable") if probability[row] > 0]
    content = read_output(output)
    assert content["applicant"] == CREDIT["applicant"][order].tolist()
    assert content["selection_probability"] == probability[order].tolist()
    assert list(content) == [*CREDIT, "selection_probability"]


def read_output(path: Path) -> dict[str, list[Any]]:
    if path.suffix == ".parquet":
        content = parquet.read_table(path)
    elif path.suffix == ".feather":
        content = feather.read_table(path)
    else:
        options = arrow_csv.ParseOptions(delimiter="\t" if path.suffix == ".tsv" else ",")
        content = arrow_csv.read_csv(path, parse_options=options)
    columns: dict[str, list[Any]] = content.to_pydict()
    return columns


def test_many_rows_are_written_with_marks_of_thousands(tmp_path: Path) -> None:
    path = table(tmp_path, s=[1] * 9_000 + [0.5] * 1_200)
    given = ("--score", "s", "--quota", 10_000, "-o", tmp_path / "out.csv")
    said = "10,000 places: 9,000 above the threshold 0.5, 1,000 of the 1,200 tied at it\n"
    assert run("select", path, *given).out.startswith(said)


def test_what_takes_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    @contextmanager
    def bar() -> Iterator[Callable[[str], None]]:
        yield steps.append

    monkeypatch.setattr("quotakernels.cli.run.progress_bar", bar)
    path = table(tmp_path, y=[0, 1], s=[1, 2])
    given = (path, "--score", "s", "--quota", 1, "-o", tmp_path / "out.csv")
    assert run("select", *given).status == 0
    assert steps == ["selecting rows of data.csv"]


def test_every_line_end_in_a_cell_is_quoted(tmp_path: Path) -> None:
    notes = ["a\rb", "c\nd", "e\r\nf", "\r", "plain", 'say "x"']
    content = pa.table({"s": np.arange(6.0), "no\rte": notes})
    parquet.write_table(content, tmp_path / "a.parquet")
    output = tmp_path / "a.csv"
    given = ("--score", "s", "--quota", 6, "-o", output)
    assert run("select", tmp_path / "a.parquet", *given).status == 0
    text = output.read_bytes()
    assert b'5.0,"say ""x"""\n4.0,plain\n3.0,"\r"\n' in text
    with output.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["s", "no\rte"], *([str(k), notes[int(k)]] for k in np.arange(5.0, -1, -1))]
    options = arrow_csv.ParseOptions(newlines_in_values=True)
    assert arrow_csv.read_csv(output, parse_options=options).num_rows == 6


# the rows of several files are those of one, with few rows in memory

N = 400
RNG = np.random.default_rng(8)
ROWS = pa.table(
    {
        "id": np.arange(N),
        "s": RNG.normal(size=N).astype("f4"),
        "tied": RNG.integers(0, 9, N),
        "cost": RNG.random(N),
        "part": np.repeat(["a", "b"], N // 2),
    }
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same rows, in the same order, as one file and as two."""
    monkeypatch.setattr(files, "_ROWS_AT_ONCE", 64)
    parquet.write_table(ROWS, tmp_path / "all.parquet")
    parquet.write_to_dataset(ROWS, tmp_path / "parts", partition_cols=["part"])
    return tmp_path


ASKED = [
    ("--score", "s", "--quota", "37"),
    ("--score", "s", "--quota", "3.3%"),
    ("--score", "s", "--quota", "400"),
    ("--score", "s", "--quota", "1"),
    ("--score", "s", "--threshold", "0.5"),
    ("--score", "s", "--threshold", "50"),
    ("--score", "tied", "--quota", "100", "--all-ties"),
    ("--score", "tied", "--quota", "100"),
    ("--score", "s", "--quota", "10", "--where", "part=b", "--where", "id<350"),
    ("--score", "s", "--quota", "10", "--per", "tied"),
    ("--score", "s", "--budget", "3", "--cost", "cost"),
]


@pytest.mark.parametrize("asked", [x if k % 3 == 1 else in_full(x) for k, x in enumerate(ASKED)])
def test_several_files_give_the_rows_of_one(data: Path, asked: tuple[str, ...]) -> None:
    told, written = [], []
    for name in ("all.parquet", "parts"):
        output = data / "chosen.parquet"
        outcome = run("select", data / name, *asked, "-o", output)
        assert outcome.status == 0, outcome.err
        told.append(outcome.out)
        found = parquet.read_table(output)
        names = [x for x in found.column_names if x != "part"]
        written.append(found.select(names))
    assert told[0] == told[1]
    assert written[0].equals(written[1])


# what `tables` writes


@pytest.mark.parametrize("name", ["cuts.csv", "cuts.tsv", "cuts.parquet", "cuts.feather"])
@pytest.mark.parametrize("ratio", [None, 1])
def test_the_reader_finds_the_best_boundary(tmp_path: Path, name: str, ratio: float | None) -> None:
    """With impacts of their own, and a class ratio of their own."""
    output, impacts = tmp_path / name, (5, -8, 0, 0)
    more = () if ratio is None else ("--ratio", ratio)
    given = ("--label", "repaid", "--score", "tree", *more, "-o", output)
    assert run("tables", CREDIT_FILE, *given).status == 0
    columns = {x: np.array(cells, dtype=float) for x, cells in read_output(output).items()}
    published = qk.tables.ConfusionTable(*(columns[cell] for cell in ("tp", "fp", "fn", "tn")))
    best = qk.best_boundary(CREDIT["repaid"], CREDIT["tree"], impacts=impacts)
    positives = float(np.sum(CREDIT["repaid"]))
    own_ratio = positives / (len(CREDIT["repaid"]) - positives)
    tuned = published if ratio is None else qk.tables.tune_ratio(published, own_ratio)
    found = qk.tables.impact(tuned, impacts=impacts).whole
    quota, value, threshold = compact(best.curve.quota, *best.curve)
    np.testing.assert_allclose(found, value, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(columns["threshold"], threshold)
    np.testing.assert_array_equal(columns["quota"], quota)
