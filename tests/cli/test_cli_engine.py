"""`evaluate` by DuckDB: the same numbers as from memory, of data that memory does not hold."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from backends import in_full
from pyarrow import parquet
from rich.progress import Progress

from quotakernels.cli import batches, rendering
from quotakernels.ops import STANDARD_ONLY

duckdb = pytest.importorskip("duckdb")

Run = Callable[..., Any]
N = 3000
SCORES = ("f8", "f4", "f2", "i2", "d", "b")
ARGUMENTS = ("--quota", "100", "--quota", "5%", *(x for name in SCORES for x in ("--score", name)))


def parsed(text: str) -> Any:
    """JSON; a table of distinct scores and a padded one may differ in the last bit of a sum."""
    return json.loads(
        text, parse_float=lambda x: round(float(x), 12) if STANDARD_ONLY else float(x)
    )


def content() -> pa.Table:
    random = np.random.default_rng(8)
    y = random.integers(0, 2, N)
    scores = random.normal(size=N) + y / 2
    tied = scores.round(1)
    columns = {
        "y": y,
        "bool": y == 1,
        "text": np.where(y, "it's", "no"),
        "float": np.where(y, 0.1, 0.7).astype("f4"),
        "f8": scores,
        "f4": scores.astype("f4"),
        "f2": scores.astype("f2"),
        "i2": (10 * tied).astype("i2"),
        "d": pa.array(tied).cast(pa.decimal128(30, 1)),
        "b": scores > 0,
        "eighths": random.integers(0, 9, N) / 8,
        "w": random.random(N),
        "part": random.integers(0, 3, N),
        "since": np.datetime64("2024-01-01") + random.integers(0, 5, N),
        "nan": np.where(random.random(N) < 0.5, np.nan, random.normal(size=N)),
        "letter": np.array(list("abc"))[random.integers(0, 3, N)],
    }
    return pa.table(columns)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file, the same rows as a directory of partitions, and some of them as two files."""
    folder = tmp_path_factory.mktemp("data")
    rows = content()
    parquet.write_table(rows, folder / "all.parquet")
    parquet.write_to_dataset(rows, folder / "parts", partition_cols=["letter"])
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("--label", "y"),
        in_full(("--label", "bool")),
        in_full(("--label", "text", "--pos-label", "it's")),
        in_full(("--label", "float", "--pos-label", "0.10000000149011612")),
        in_full(("--label", "y", "--pos-label", "0", "--weight", "eighths")),
        ("--label", "y", "--where", "part=2", "--weight", "i2", "--weight", "part"),
        in_full(("--label", "y", "--where", "letter=b")),
        ("--label", "y", "--where", "since>=2024-01-03", "--where", "i2!=3", "--where", "nan>0"),
        in_full(("--label", "y", "--where", "bool=true")),
        in_full(("--label", "y", "--by", "letter")),
        in_full(("--label", "y", "--weight", "eighths", "--by", "part")),
    ],
)
def test_both_engines_print_the_same(run: Run, data: Path, arguments: tuple[str, ...]) -> None:
    given = ("evaluate", data / "all.parquet", *arguments, *ARGUMENTS)
    memory = run(*given, "--engine", "memory")
    assert memory.status == 0, memory.err
    assert run(*given, "--engine", "duckdb") == memory
    one, other = (parsed(run(*given, "--json", "--engine", x).out) for x in ("memory", "duckdb"))
    assert one == other


@pytest.mark.parametrize(
    "arguments",
    [
        ("--per", "day", "--quota", "40", "--quota", "5%"),
        *(in_full(("--by", unit, "--quota", "40")) for unit in ("ms", "ns")),
        ("--by", "us", "--quota", "40"),
        in_full(("--per", "part", "--quota", "2000", "--weight", "eighths")),
        in_full(("--by", "bool", "--where", "letter=b")),
    ],
)
def test_groups_are_those_of_memory(
    run: Run, data: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    days = np.datetime64("2026-03-01") + np.arange(N) % 7
    times = days + 250 * (np.arange(N) % 3).astype("m8[ms]")
    path = tmp_path / "days.parquet"
    of_time = {"day": days, "ms": times, "us": times.astype("M8[us]"), "ns": times.astype("M8[ns]")}
    rows = content()
    for name, column in of_time.items():
        rows = rows.append_column(name, pa.array(column))
    parquet.write_table(rows, path)
    given = ("evaluate", path, "--label", "y", "--score", "f8", "--score", "i2", *arguments)
    memory = run(*given, "--all", "--engine", "memory")
    if "2000" in arguments:
        assert "--quota 2000 is more than the total weight of the largest group" in memory.error
    else:
        assert memory.status == 0, memory.err
    assert run(*given, "--all", "--engine", "duckdb") == memory
    if memory.status == 0:
        one, two = (parsed(run(*given, "--json", "--engine", x).out) for x in ("memory", "duckdb"))
        assert one == two


@pytest.mark.full
def test_weights_of_any_digits(run: Run, data: Path) -> None:
    """Sums of them are rounded in other places, which four decimals do not show."""
    given = ("evaluate", data / "all.parquet", "--label", "y", "--weight", "w", *ARGUMENTS)
    assert run(*given, "--engine", "duckdb") == run(*given, "--engine", "memory")
    totals = [json.loads(run(*given, "--json", "--engine", x).out) for x in ("duckdb", "memory")]
    assert totals[0]["total_weight"] == totals[1]["total_weight"]
    assert totals[0]["positive_weight"] == totals[1]["positive_weight"]


def test_directories_and_patterns(run: Run, data: Path) -> None:
    given = ("--label", "y", *ARGUMENTS, "--json")
    one = parsed(run("evaluate", data / "all.parquet", *given, "--where", "letter=b").out)
    for many in (data / "parts", data / "parts" / "letter=*" / "*.parquet"):
        outcome = run("evaluate", many, *given, "--where", "letter=b")
        assert outcome.status == 0, outcome.err
        source = "parts" if many.exists() else str(many)
        assert parsed(outcome.out) == {**one, "source": source}


def test_no_rows(run: Run, tmp_path: Path) -> None:
    parquet.write_table(
        pa.table({"y": pa.array([], "i8"), "s": pa.array([], "f8")}), tmp_path / "a.pq"
    )
    given = ("evaluate", tmp_path / "a.pq", "--label", "y", "--score", "s")
    for name in ("memory", "duckdb"):
        assert run(*given, "--engine", name).error == "Error: a.pq has no rows\n"


BAD = [
    ({"y": [1, 2, 2]}, (), "column 'y': labels are 1 and 2, expected 0 and 1"),
    ({"y": ["a", "b", "b"]}, ("--pos-label", "c"), "--pos-label c is not among the labels"),
    ({"s": ["1", "2", "3"]}, (), "column 's' is of type VARCHAR; expected numbers"),
    ({"w": [1, None, None]}, ("--weight", "w"), "column 'w': missing value at row 2, 2 in all"),
    ({"w": [1e308, 1e308, 0.0]}, ("--weight", "w"), "the sum of the weights is too large"),
    ({}, ("--weight", "z"), "data.parquet has no column 'z'; it has y, s, w"),
    ({}, ("--where", "w=7"), "no row has w = 7"),
    ({}, ("--where", "w=many"), "w = many: column 'w' needs a number"),
    ({"w": [1, None, 1]}, ("--where", "w=1"), "column 'w': missing value at row 2"),
    ({}, ("--quota", "4"), "--quota 4 is more than the 3 rows"),
    ({}, ("--per", "w", "--quota", "3"), "--quota 3 is more than the 1 row of the largest group"),
    (
        {},
        ("--by", "s"),
        "column 's' holds numbers with decimals, but groups are whole numbers, texts or",
    ),
    ({"w": ["a", None, "b"]}, ("--by", "w"), "column 'w': missing value at row 2; fill these"),
    ({}, ("--gain", "w"), "--gain, --impact and --tune need every row in memory"),
    ({}, ("--impact", "1,0,0,0"), "--gain, --impact and --tune need every row in memory"),
    ({}, ("--memory-limit", "much"), "'much' is not a size of memory, as 4GB and 512MB are."),
]


@pytest.mark.parametrize(("columns", "options", "message"), BAD)
def test_bad_values_and_options(
    run: Run, tmp_path: Path, columns: dict[str, list[Any]], options: tuple[str, ...], message: str
) -> None:
    good = {"y": [0, 1, 0], "s": [0.1, 0.9, 0.5], "w": [1, 2, 3]}
    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table(good | columns), path)
    given = ("--label", "y", "--score", "s", *options, "--engine", "duckdb")
    assert message in run("evaluate", path, *given).error


def test_what_each_engine_reads(
    run: Run, data: Path, table: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = ("--label", "y", "--score", "f8")
    refused = run("evaluate", table(y=[0, 1], f8=[1, 2]), *rest, "--engine", "duckdb").error
    assert "data.csv: --engine duckdb reads Parquet only" in refused
    (data / "nothing").mkdir()
    assert (
        "nothing holds no file that can be read" in run("evaluate", data / "nothing", *rest).error
    )
    asked = (data / "parts", *rest, "--engine", "duckdb")
    assert "need every row in memory" in run("evaluate", *asked, "--gain", "w").error
    monkeypatch.setattr(batches, "find_spec", lambda _: None)
    missing = run("evaluate", *asked).error
    assert 'pip install "quotakernels[duckdb]"' in missing


def test_large_files_are_grouped_first(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = []

    def noted(*arguments: Any) -> Any:
        used.append(arguments)
        return opened(*arguments)

    from quotakernels.cli import grouped

    opened = grouped.opened
    monkeypatch.setattr(grouped, "opened", noted)
    given = ("evaluate", data / "all.parquet", "--label", "y", "--score", "f8")
    needed = 16 * N
    for available, options, count in (
        (4 * needed, (), 0),
        (4 * needed - 4, (), 1),
        (4 * needed - 4, ("--gain", "w", "--engine", "memory"), 1),
        (0, ("--engine", "memory"), 1),
        (None, (), 1),
    ):
        monkeypatch.setattr(batches, "_available_bytes", lambda found=available: found)
        assert run(*given, *options).status == 0
        assert len(used) == count


@pytest.mark.parametrize("options", [("--gain", "w"), ("--confidence", "0.9")])
def test_large_files_are_not_read_into_memory_unasked(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr(batches, "_available_bytes", lambda: 0)
    for name in ("all.parquet", "parts"):
        error = run("evaluate", data / name, "--label", "y", "--score", "f8", *options).error
        assert f"{name} is large for the memory: --" in error
        assert "give --engine memory" in error


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells")
def test_available_memory_is_found() -> None:
    found = batches._available_bytes()
    assert found is not None
    assert 2**20 < found < 2**50


@pytest.mark.full
def test_more_rows_than_the_memory_limit(run: Run, tmp_path: Path) -> None:
    """160 MB of columns, in files of 20 MB, through 48 MB."""
    rows = 1_250_000
    copy = (
        "COPY (SELECT hash(i) % 2 AS y, (hash(3 * i + {k}) % 9973)::DOUBLE / 9973 AS s FROM "
        f"range({rows}) AS t(i)) TO '{tmp_path}/{{k}}.parquet' (COMPRESSION uncompressed)"
    )
    for k in range(8):
        duckdb.execute(copy.format(k=k))
    given = ("evaluate", tmp_path, "--label", "y", "--score", "s", "--json")
    limited = json.loads(run(*given, "--memory-limit", "48MB").out)
    assert limited["rows"] == 8 * rows
    assert limited == json.loads(run(*given).out)
    assert "memory" in run(*given, "--memory-limit", "100KB").error.lower()


def test_the_bar_moves_within_a_step() -> None:
    done = iter([0.25, 0.5, 0.0])
    bar = rendering._Bar(lambda: next(done))
    steps = Progress(bar)
    steps.add_task("", total=2, completed=1)
    assert [bar.render(steps.tasks[0]).completed for _ in range(3)] == [1.25, 1.5, 1.5]
