"""What data beyond memory cost: a row where it lies, a group wherever tables are put together.

``python -m benchmarks.scale`` measures this machine and extrapolates to 10^12 rows;
``docs/benchmarks_scale.md`` tells what the numbers are for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import quotakernels as qk
from benchmarks import machine
from benchmarks.data import Array

REPEATS = 3
FAN_IN = 8
"""So many tables are combined at once, as by the adapter for Dask."""
KINDS: dict[str, Callable[[Array], Array]] = {
    "half precision": lambda x: x.astype(np.float16),
    "six decimals": lambda x: x.round(6).astype(np.float32),
    "all distinct": lambda x: x,
}


class Cost(NamedTuple):
    """Nanoseconds of one core, and bytes, for one kind of scores."""

    kind: str
    distinct: int
    rank_row: float
    duckdb_row: float
    file_row: float
    combine_group: float
    measure_group: float
    group_bytes: int


def fastest(call: Callable[[], Any]) -> float:
    """Seconds of processor time, on all cores together, of the best of a few calls."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def cost(kind: str, rows: int) -> Cost:
    from quotakernels.adapters._tables import merged
    from quotakernels.ops import namespace
    from quotakernels.ranking import table_of

    rng = np.random.default_rng(0)
    y_true = rng.random(rows) < 0.1
    y_score = KINDS[kind](rng.random(rows))
    ranking = qk.rank(y_true, y_score)
    table = table_of(namespace(ranking.counts), ranking)
    groups = len(ranking.counts)
    return Cost(
        kind,
        groups,
        fastest(lambda: qk.rank(y_true, y_score)) / rows * 1e9,
        *_duckdb(y_true, y_score),
        fastest(lambda: merged([table] * FAN_IN)) / (FAN_IN * groups) * 1e9,
        fastest(lambda: qk.summary(ranking)) / groups * 1e9,
        ranking.thresholds.itemsize + 2 * np.dtype(np.int64).itemsize,
    )


def _duckdb(y_true: Array, y_score: Array) -> tuple[float, float]:
    """Of reading Parquet, grouping and returning the groups; and bytes of the file, by row."""
    import duckdb
    import pyarrow as pa
    from pyarrow import parquet

    from quotakernels.adapters.duckdb import ranking

    # DuckDB has no half floats, and reads those of Parquet as single ones.
    stored = y_score.astype(np.float32) if y_score.dtype == np.float16 else y_score
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        path = Path(folder) / "scores.parquet"
        parquet.write_table(pa.table({"y": y_true, "s": stored}), path)
        source = connection.read_parquet(str(path))
        seconds = fastest(lambda: ranking(connection, source, label="y", score="s"))
        size = path.stat().st_size
    return seconds / len(y_true) * 1e9, size / len(y_true)


def measured(costs: list[Cost]) -> str:
    """What was measured, a line per kind of scores."""
    lines = [
        "scores          distinct    rank  DuckDB    file  combine  measure   table",
        "                          ns/row  ns/row   B/row ns/group ns/group B/group",
    ]
    for x in costs:
        rows = f"{x.rank_row:8.1f}{x.duckdb_row:8.1f}{x.file_row:8.1f}"
        groups = f"{x.combine_group:9.1f}{x.measure_group:9.1f}{x.group_bytes:8d}"
        lines.append(f"{x.kind:14s}{x.distinct:10d}{rows}{groups}")
    return "\n".join(lines)


def extrapolated(costs: list[Cost], rows: float, partition: float, cores: int) -> str:
    """What many rows would take, in partitions of so many rows, if every one has all groups."""
    partitions = rows / partition
    lines = [f"{rows:.0e} rows in {partitions:,.0f} partitions of {partition:.0e}, {cores} cores:"]
    for x in costs:
        tables = partitions * x.distinct
        combining = tables * FAN_IN / (FAN_IN - 1) * x.combine_group
        ranking, grouping, together = (
            ns / 3.6e12 for ns in (rows * x.rank_row, rows * x.duckdb_row, combining)
        )
        lines.append(
            f"- {x.kind}: {rows * x.file_row / 1e12:.1f} TB to read; core hours: {ranking:.1f} to "
            f"rank or {grouping:.1f} to group by DuckDB, {together:.2g} to combine "
            f"{tables * x.group_bytes / 1e9:,.0f} GB of tables; "
            f"{(ranking + together) / cores * 60:.0f} minutes by partitions"
        )
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--rows", type=int, default=8_000_000, help="rows to measure with")
    parser.add_argument("--target", type=float, default=1e12, help="rows to extrapolate to")
    parser.add_argument("--partition", type=float, default=1e8, help="rows of a partition there")
    parser.add_argument("--cores", type=int, default=64, help="cores there")
    chosen = parser.parse_args(arguments)
    costs = [cost(kind, chosen.rows) for kind in KINDS]
    print(f"{machine.cpu()}, {machine.cores()} cores; {chosen.rows} rows")
    print(measured(costs))
    # Where all scores are distinct, those of more rows would be too, and make another table.
    known = [x for x in costs if x.distinct < chosen.rows / 2]
    print(extrapolated(known, chosen.target, chosen.partition, chosen.cores))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
