"""Evaluations of Parquet data that DuckDB groups: memory holds the distinct scores, not the rows.

Errors name the column, the number of bad rows and one bad value; rows have no number here.
"""

from __future__ import annotations

import glob
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

import quotakernels as qk
from quotakernels.adapters import _sql as sql
from quotakernels.adapters.duckdb import ranking
from quotakernels.cli.columns import parse_label, positive_value
from quotakernels.cli.errors import InputError, no_column
from quotakernels.cli.evaluation import Evaluation, Task, Totals, evaluate_rankings

__all__ = ["Source", "evaluate_source", "opened"]

_POSITIVE = "it is positive"
"""A column beside those of the data, whose label it is."""


@dataclass(frozen=True)
class Source:
    """Parquet files as one table of DuckDB."""

    connection: Any
    rows: Any

    def share_done(self) -> float:
        """How much of the query in progress is done, from 0 to 1; asked for in another thread."""
        return float(min(max(self.connection.query_progress(), 0.0), 100.0)) / 100


@contextmanager
def opened(files: Sequence[Path], task: Task, memory_limit: str | None) -> Iterator[Source]:
    """Yield the columns of files that a task needs; what DuckDB complains about names its data."""
    with tempfile.TemporaryDirectory(prefix="quotakernels-") as scratch:
        settings = {"temp_directory": scratch, "preserve_insertion_order": "false"}
        settings |= {} if memory_limit is None else {"memory_limit": memory_limit}
        try:
            with duckdb.connect(config=settings) as connection:
                for name in ("enable_progress_bar = true", "enable_progress_bar_print = false"):
                    connection.execute(f"SET {name}")
                yield Source(connection, _columns(connection, files, task))
        except (duckdb.Error, TypeError, ValueError) as error:
            raise InputError(f"{task.source}: {error}") from error


def _columns(connection: Any, files: Sequence[Path], task: Task) -> Any:
    """The columns that the task needs; decimals as floats, as they are read into memory."""
    listed = ", ".join(sql.literal(glob.escape(str(file))) for file in files)
    in_parts = len(files) > 1 and any("=" in name for file in files for name in file.parent.parts)
    hive = "true, hive_types_autocast = false" if in_parts else "false"
    found = connection.sql(f"FROM read_parquet([{listed}], hive_partitioning = {hive})")
    kinds = dict(zip(found.columns, found.types, strict=True))
    for name in task.columns:
        if name not in kinds:
            raise no_column(task.source, name, list(kinds))
    return found.project(", ".join(_column(x, kinds[x]) for x in dict.fromkeys(task.columns)))


def _column(name: str, kind: Any) -> str:
    column = sql.identifier(name)
    if kind.id != "decimal":
        return column
    exact = dict(kind.children)["precision"] <= sql.EXACT_DIGITS
    number = column if exact else f"CAST({column} AS VARCHAR)"  # which is rounded once
    return f"CAST({number} AS DOUBLE) AS {column}"


def evaluate_source(source: Source, task: Task, on_step: Callable[[str], object]) -> Evaluation:
    """Evaluate each score column against the labels, a query for each."""
    rows = source.rows if task.where is None else _chosen(source.rows, *task.where)
    labels = _labels(rows, task.label)
    positive = positive_value(labels, task.label, task.pos_label) if labels else None
    totals = _totals(rows, positive, task)
    task.check_quotas(totals)
    sign = "false" if positive is None else _equals(task.label, positive)
    columns = ", ".join(map(sql.identifier, dict.fromkeys([*task.scores, *_weight(task)])))
    ready = rows.project(f"{sign} AS {sql.identifier(_POSITIVE)}, {columns}")

    def ranked(name: str) -> qk.Ranking:
        return ranking(source.connection, ready, label=_POSITIVE, score=name, weight=task.weight)

    return evaluate_rankings(task, totals, ranked, on_step)


def _weight(task: Task) -> list[str]:
    return [] if task.weight is None else [task.weight]


def _chosen(rows: Any, name: str, text: str) -> Any:
    """The rows that hold a value, which is written as a text, in a column; there is one."""
    column = sql.identifier(name)
    missing, sample = _first_row(rows, f"count(*) FILTER ({column} IS NULL), any_value({column})")
    _refuse_missing(name, missing)
    wanted = parse_label(text, sample)
    chosen = None if wanted is None else rows.filter(_equals(name, wanted))
    if chosen is None or not _first_row(chosen, "count(*)")[0]:
        raise InputError(f"no row has {text} in column {name!r}")
    return chosen


def _equals(name: str, value: Any) -> str:
    return f"({sql.identifier(name)} = {sql.literal(value)})"


def _first_row(rows: Any, aggregates: str) -> Any:
    return rows.aggregate(aggregates).fetchall()[0]


def _refuse_missing(name: str, missing: int) -> None:
    if missing:
        raise InputError(f"column {name!r}: {missing} missing value{'' if missing == 1 else 's'}")


def _labels(rows: Any, name: str) -> list[Any]:
    """The values of the labels, of which there are at most two."""
    column = sql.identifier(name)
    wanted = f"count(*) FILTER ({column} IS NULL), min({column}), max({column})"
    missing, low, high = _first_row(rows, wanted)
    _refuse_missing(name, missing)
    if low is None:
        return []
    if not isinstance(low, (bool, int, float, str)):
        raise InputError(f"column {name!r} holds values of type {rows.types[0]}, expected numbers")
    if high != high:
        raise InputError(f"column {name!r}: NaN is among the labels, expected a number")
    others = rows.filter(f"NOT {_equals(name, low)} AND NOT {_equals(name, high)}")
    other = others.project(column).limit(1).fetchall()
    if other:
        listed = f"{low!r}, {high!r} and {other[0][0]!r}"
        raise InputError(
            f"column {name!r}: labels are not binary: more than 2 different values, {listed}"
        )
    return [low] if low == high else [low, high]


def _totals(rows: Any, positive: Any, task: Task) -> Totals:
    """Numbers and weights of all rows and of the positive ones; sums are rounded once."""
    column = sql.identifier(task.label)
    sign = "false" if positive is None else _equals(task.label, positive)
    if task.weight is None:
        count, positives = _first_row(rows, f"count({column}), count(*) FILTER ({sign})")
        return Totals(count, positives, float(count), float(positives))
    weight = f"CAST({sql.identifier(task.weight)} AS DOUBLE)"
    fits = f"coalesce({weight} >= 0 AND isfinite({weight}), false)"
    wanted = f"{sign} AS positive, {weight} AS weight, {sql.scale(weight)} AS scale, {fits} AS fits"
    units = f"sum({sql.units('weight', 'scale')})"
    counts = f"count(*), count(*) FILTER (NOT fits), min(weight) FILTER (NOT fits), {units}"
    groups = rows.project(wanted).aggregate(f"positive, scale, {counts}", "positive, scale")
    found = groups.fetchall()
    for *_, unfit, value, _ in found:
        if unfit:
            raise InputError(
                f"column {task.weight!r}: {unfit} without a finite weight of 0 or more"
                f"{'' if value is None else f', for example {value}'}"
            )
    return _summed(found, task.weight)


def _summed(found: list[Any], weight: str) -> Totals:
    counts = {True: 0, False: 0}
    sums = {True: Fraction(0), False: Fraction(0)}
    for positive, scale, count, _, _, units in found:
        counts[positive] += count
        sums[positive] += 0 if scale is None else sql.exact_mass(units, scale)
    try:
        total, positive_total = float(sums[True] + sums[False]), float(sums[True])
    except OverflowError:
        total = positive_total = math.inf
    if math.isinf(total):
        raise InputError(f"column {weight!r}: the sum of the weights is too large for a number")
    return Totals(counts[True] + counts[False], counts[True], total, positive_total)
