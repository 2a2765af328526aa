"""`select`: who fills the quota."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet

import quotakernels as qk
from quotakernels.cli import selecting
from quotakernels.evaluation.choice import how_filled

Run = Callable[..., Any]


def test_select_writes_who_is_in(run: Run, table: Callable[..., Path]) -> None:
    path = table(
        id=["007", "008", "009", "010", "011"],
        s=["0.50", "0.90", "0.5", "0.10", "1e-1"],
        note=["x,y", "", 'say "hi"', "NULL", "NA"],
    )
    output = path.with_name("chosen.csv")
    outcome = run("select", path, "--score", "s", "--quota", 2, "--all-ties", "-o", output)
    assert outcome.status == 0
    assert outcome.out.splitlines() == [
        "2 places: 1 above the threshold 0.5, 1 of the 2 tied at it",
        "chosen.csv: 3 rows, best first",
    ]
    assert outcome.err == ""
    with output.open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["id", "s", "note", "selection_probability"],
            ["008", "0.90", "", "1.0"],
            ["007", "0.50", "x,y", "0.5"],
            ["009", "0.5", 'say "hi"', "0.5"],
        ]


def test_select_draws_among_ties(run: Run, table: Callable[..., Path]) -> None:
    scores = [0.1 + 0.2] * 40 + [0.9] * 3 + [0.1] * 5
    path = table(id=list(range(48)), s=scores)
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


def test_select_of_the_example(run: Run, tmp_path: Path) -> None:
    chosen = ("--score", "tree", "--quota", "3", "-o", tmp_path / "chosen.csv")
    assert run("select", "--example", "credit", *chosen).out.endswith("rows, best first\n")
    assert "Give FILE, or --example credit." in run("select", *chosen).err
    assert run("select", tmp_path, "--example", "credit", *chosen).status == 2


def test_select_from_a_threshold_on_among_some_rows(run: Run, table: Callable[..., Path]) -> None:
    path = table(s=["0.50", "0.9", "0.5", "0.1"], part=["a", "b", "b", "b"])
    output = path.with_name("chosen.csv")
    given = ("--score", "s", "--threshold", "0.5", "-o", output)
    outcome = run("select", path, *given, "--where", "part=b")
    assert outcome.status == 0
    with output.open(newline="") as file:
        assert list(csv.reader(file))[1:] == [["0.9", "b"], ["0.5", "b"]]
    assert run("select", path, *given, "--threshold", "2").status == 0
    assert output.read_text().splitlines() == ["s,part"]
    assert "Give one of --quota and --threshold" in run("select", path, *given, "--quota", 1).error
    assert "Give one of" in run("select", path, "--score", "s", "-o", output).error
    assert "nan is not a number" in run("select", path, *given, "--threshold", "nan").error


@pytest.mark.parametrize("name", ["chosen.csv", "chosen.tsv", "chosen.parquet", "chosen.feather"])
@pytest.mark.parametrize("quota", ["100", "17.5", "5%", "100%"])
def test_select_agrees_with_the_library(
    run: Run,
    credit: dict[str, np.ndarray[Any, Any]],
    credit_file: Path,
    tmp_path: Path,
    name: str,
    quota: str,
) -> None:
    output = tmp_path / name
    given = ("--score", "tree", "--quota", quota, "-o", output)
    outcome = run("select", credit_file, *given, "--all-ties")
    assert outcome.status == 0
    argument: dict[str, Any]
    argument = {"fraction": float(quota[:-1]) / 100} if "%" in quota else {"quota": float(quota)}
    probability = qk.select(credit["tree"], **argument)
    order = [row for row in np.argsort(-credit["tree"], kind="stable") if probability[row] > 0]
    content = read_output(output)
    assert content["applicant"] == credit["applicant"][order].tolist()
    assert content["selection_probability"] == probability[order].tolist()
    assert list(content) == [*credit, "selection_probability"]


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


@pytest.mark.parametrize(
    ("quota", "summary", "shared"),
    [
        ("0", "0 places: nobody is in", ""),
        ("1", "1 place: 0 above the threshold 9, 1 at it", ""),
        (
            "1.5",
            "1 place: 0 above the threshold 9, 1 at it; 1.5, rounded down",
            "1.5 places: 1 above the threshold 4, 0.5 of the 2 tied at it",
        ),
        ("3", "3 places: 1 above the threshold 4, 2 at it", ""),
        (
            "87.5%",
            "3 places: 1 above the threshold 4, 2 at it; 87.5% of 4 rows is 3.5, rounded down",
            "3.5 places: 3 above the threshold 2, 0.5 of the one at it",
        ),
    ],
)
def test_select_says_how_it_came_about(
    run: Run, tmp_path: Path, quota: str, summary: str, shared: str
) -> None:
    np.savez(tmp_path / "a.npz", s=np.array([4, 9, 4, 2], dtype=np.uint8))
    given = ("--score", "s", "--quota", quota, "-o", tmp_path / "b.csv")
    outcome = run("select", tmp_path / "a.npz", *given)
    assert outcome.out.splitlines()[0] == summary
    assert outcome.err == ""
    outcome = run("select", tmp_path / "a.npz", *given, "--all-ties")
    assert outcome.out.splitlines()[0] == (shared or summary)


def test_select_refuses(run: Run, table: Callable[..., Path], tmp_path: Path) -> None:
    path = table(s=[0.1, 0.2])
    other = table("other.csv", s=[0.1, "nan"])
    named = table("named.csv", s=[0.1, 0.2], selection_probability=[1, 1])
    out = tmp_path / "chosen.csv"
    for arguments, message in {
        (path, "s", "3", out): "--quota 3 is more than the 2 rows",
        (path, "z", "1", out): "no column 'z'",
        (path, "s", "1", path): "data.csv is the input",
        (other, "s", "1", out): "column 's': NaN at row 2",
        (path, "s", "1", tmp_path / "nowhere" / "a.csv"): "cannot be written",
        (path, "s", "1", tmp_path / "a.ods"): "unknown file type to write",
        (path, "s", "1", tmp_path / "a.npz"): "unknown file type to write",
        (path, "s", "1", tmp_path / "a.csv.gz"): "unknown file type to write",
    }.items():
        file, score, quota, output = arguments
        outcome = run("select", file, "--score", score, "--quota", quota, "-o", output)
        assert message in outcome.error
    ties = ("--score", "s", "--quota", 1, "--all-ties", "-o", out)
    assert "column 'selection_probability' already" in run("select", named, *ties).error
    assert not out.exists()


BRANCHES = {
    "branch": ["south", "north", "south", "north", "west", "south"],
    "day": ["2026-05-02", "2026-05-01", "2026-05-01", "2026-05-02", "2026-05-02", "2026-05-02"],
    "s": [0.7, 0.2, 0.9, 0.8, 0.1, 0.7],
    "rate": [0.5, 1, 1, 1, 1, 1],
}


def test_a_quota_of_each_group_in_whole_rows(run: Run, table: Callable[..., Path]) -> None:
    path = table(**BRANCHES)
    output = path.with_name("chosen.parquet")
    given = ("--score", "s", "--quota", "70%", "--per", "branch", "--seed", 5, "-o", output)
    outcome = run("select", path, *given)
    assert outcome.out.splitlines() == [
        "3 places: 70% of each branch (3 groups), rounded down in each",
        "chosen.parquet: 3 rows, best first of each branch",
    ]
    assert outcome.err.startswith("1 of 2 tied rows was drawn (seed 5)")
    assert read_output(output)["branch"] == ["north", "south", "south"]


@pytest.mark.parametrize("quota", ["2", "50%"])
@pytest.mark.parametrize("column", ["branch", "day"])
def test_a_quota_of_each_group(
    run: Run, table: Callable[..., Path], column: str, quota: str
) -> None:
    path = table(**BRANCHES)
    output = path.with_name("chosen.parquet")
    given = ("--score", "s", "--quota", quota, "--per", column, "--all-ties", "-o", output)
    outcome = run("select", path, *given)
    argument = {"quota": 2} if quota == "2" else {"fraction": 0.5}
    probability = qk.select(BRANCHES["s"], groups=BRANCHES[column], **argument)
    chosen = [row for row in range(6) if probability[row] > 0]
    order = sorted(chosen, key=lambda row: (BRANCHES[column][row], -BRANCHES["s"][row]))
    content = read_output(output)
    assert list(map(str, content[column])) == [BRANCHES[column][row] for row in order]
    assert content["selection_probability"] == probability[order].tolist()
    said = {
        ("branch", "2"): "5 places: 2 of each branch (3 groups, 1 of them with fewer rows)",
        ("branch", "50%"): "3 places: 50% of each branch (3 groups)",
        ("day", "2"): "4 places: 2 of each day (2 groups)",
        ("day", "50%"): "3 places: 50% of each day (2 groups)",
    }
    rows = f"chosen.parquet: {len(order)} rows, best first of each {column}"
    assert outcome.out.splitlines() == [said[column, quota], rows]


def test_a_quota_of_each_group_is_refused(run: Run, table: Callable[..., Path]) -> None:
    path, gaps = table(**BRANCHES), table("gaps.csv", s=[1, 2, 3], branch=["a", "", "b"])
    for file, column, quota, message in (
        (
            path,
            "rate",
            1,
            "column 'rate' holds numbers with decimals, but groups are whole numbers, text",
        ),
        (path, "brnch", 1, "data.csv has no column 'brnch'; did you mean 'branch'?"),
        (
            gaps,
            "branch",
            1,
            "column 'branch': missing value at row 2; fill these rows, or leave th",
        ),
        (path, "branch", 4, "--quota 4 is more than the 3 rows of the largest group by 'branch'"),
    ):
        given = ("--score", "s", "--quota", quota, "--per", column, "-o", path.with_name("a.csv"))
        assert message in run("select", file, *given).error
    given = ("--score", "s", "--threshold", 1, "--per", "branch", "-o", path.with_name("a.csv"))
    assert "--per goes with --quota or --budget." in run("select", path, *given).error


@pytest.mark.parametrize("more", [("--all-ties",), ("--seed", 3), ("--over-cost",)])
def test_a_budget_of_each_group(
    run: Run, table: Callable[..., Path], more: tuple[Any, ...]
) -> None:
    cost = [3, 1, 2, 2, 1, 2]
    path = table(**BRANCHES, cost=cost)
    output = path.with_name("chosen.parquet")
    given = ("--score", "s", "--budget", 4, "--cost", "cost", "--per", "branch", "-o", output)
    outcome = run("select", path, *given, *more)
    scores = np.array(BRANCHES["s"]) / (cost if "--over-cost" in more else 1)
    options = {"cost": cost, "budget": 4, "groups": BRANCHES["branch"], "when_short": "all"}
    whole = "--all-ties" not in more
    options |= {"whole": True, "random_state": 3 if "--seed" in more else 0} if whole else {}
    parts = qk.select(scores, **options)
    chosen = [row for row in range(6) if parts[row] > 0]
    order = sorted(chosen, key=lambda row: (BRANCHES["branch"][row], -scores[row]))
    content = read_output(output)
    assert content["branch"] == [BRANCHES["branch"][row] for row in order]
    if not whole:
        assert content["selection_probability"] == parts[order].tolist()
    said, rows = outcome.out.splitlines()
    spent = float(parts @ cost)
    assert said.endswith(f" for {spent:g}, of a budget of 4 of each branch (3 groups)")
    assert rows.endswith(
        "best first by score over cost of each branch"
        if "--over-cost" in more
        else "best first of each branch"
    )


def test_select_within_a_budget(run: Run, table: Callable[..., Path]) -> None:
    path = table(s=[0.9, 0.7, 0.7, 0.2], amount=[20, 10, 30, 5], part=["a", "a", "a", "b"])
    output = path.with_name("chosen.csv")
    given = ("--score", "s", "--cost", "amount", "-o", output)
    outcome = run("select", path, *given, "--budget", 30, "--all-ties")
    assert outcome.status == 0
    assert outcome.out.splitlines() == [
        "1.5 rows for 30, of a budget of 30",
        "chosen.csv: 3 rows, best first",
    ]
    with output.open(newline="") as file:
        assert [row[-1] for row in csv.reader(file)][1:] == ["1.0", "0.25", "0.25"]
    outcome = run("select", path, *given, "--budget", 36, "--seed", 1)
    assert outcome.out.startswith("3 rows for 35, of a budget of 36\n")
    assert outcome.err.startswith("1 of 2 tied rows was drawn (seed 1)")
    outcome = run("select", path, *given, "--budget", 30, "--over-cost")
    assert outcome.out.startswith("2 rows for 30, of a budget of 30\n")
    assert outcome.out.endswith("2 rows, best first by score over cost\n")
    outcome = run("select", path, *given, "--budget", 100, "--where", "part=b")
    assert outcome.out.startswith("1 row for 5, of a budget of 100\n")


def test_select_refuses_budgets_that_are_none(run: Run, table: Callable[..., Path]) -> None:
    path = table(s=[0.9, -0.7], amount=[20, -10], hours=[1, 2])
    given = ("select", path, "--score", "s", "-o", path.with_name("chosen.csv"))
    assert "--budget needs --cost" in run(*given, "--budget", 3).error
    assert "go with --budget" in run(*given, "--cost", "hours", "--quota", 1).error
    both = run(*given, "--cost", "hours", "--budget", 1, "--quota", 1)
    assert "Give one of --quota and --threshold, or --budget with --cost" in both.error
    below = run(*given, "--cost", "amount", "--budget", 1).error
    assert "'amount': -10.0 at row 2, expected a cost of 0 or more" in below
    shares = run(*given, "--cost", "hours", "--budget", 1, "--over-cost")
    assert "--over-cost divides the scores" in shares.error
    assert "'cost'" in run(*given, "--cost", "cost", "--budget", 1).error


def test_many_rows_are_written_with_marks_of_thousands() -> None:
    said = how_filled(10_000, "0.5", 9_000, 1_200)
    assert said == "10,000 places: 9,000 above the threshold 0.5, 1,000 of the 1,200 tied at it"


def test_what_takes_long_is_told(
    run: Run, table: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    @contextmanager
    def bar(_: int) -> Iterator[Callable[[str], None]]:
        yield steps.append

    monkeypatch.setattr(selecting, "progress_bar", bar)
    given = (table(y=[0, 1], s=[1, 2]), "--score", "s", "--quota", 1, "-o", tmp_path / "out.csv")
    assert run("select", *given).status == 0
    assert steps == ["selecting rows of data.csv"]


def test_every_line_end_in_a_cell_is_quoted(run: Run, tmp_path: Path) -> None:
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


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_formulas_are_escaped_if_asked(run: Run, tmp_path: Path, kind: str) -> None:
    texts = ["=1+1", "+31 20 1", "-x", "@a", "\tb", "\rc", "-5", "+1.5e3", "-1,5", "-5%", "a=1", ""]
    columns = {"s": [*map(float, range(11)), -np.inf], "=note": texts}
    source, output = tmp_path / f"a.{kind}", tmp_path / "chosen.csv"
    if kind == "parquet":
        parquet.write_table(pa.table(columns), source)
    else:
        with source.open("w", newline="") as file:
            csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    given = ("select", source, "--score", "s", "--quota", 12, "-o", output)
    for option, escaped in ((), 0), (("--escape-formulas",), 6):
        assert run(*given, *option).status == 0
        with output.open(newline="") as file:
            header, *rows = csv.reader(file)
        wanted = [f"'{x}" for x in texts[:escaped]] + texts[escaped:]
        assert [x for _, x in rows[::-1]] == [wanted[-1], *wanted[:-1]]
        assert header[1] == ("'=note" if escaped else "=note")
        assert rows[-1][0] == "-inf"


def test_formulas_of_other_files(run: Run, credit_file: Path, tmp_path: Path) -> None:
    given = ("--score", "tree", "--quota", 5, "--escape-formulas", "-o", tmp_path / "a.parquet")
    error = run("select", credit_file, *given).error
    assert "--escape-formulas is for CSV; a.parquet keeps texts as texts." in error
