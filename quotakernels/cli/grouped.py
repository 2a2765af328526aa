"""Evaluations of Parquet data that DuckDB groups: memory holds the distinct scores, not the rows.

Queries tell only that some value is bad. A pass over the rows then finds the first one, so that the
error names the column, the file and the row, as for rows in memory.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import click
import duckdb

import quotakernels as qk
from quotakernels.adapters import _sql as sql
from quotakernels.adapters._sql import DATES, group_of
from quotakernels.adapters.duckdb import AbsentColumnError, dataset, ranking, with_rows
from quotakernels.cli.batches import Rows
from quotakernels.cli.columns import columns_read, compared, no_row_has, of_all, positive_value
from quotakernels.cli.errors import (
    InputError,
    merged_scores,
    no_columns,
    no_groups,
    no_rows,
    printable,
)
from quotakernels.cli.paths import files_of, means_files
from quotakernels.evaluation.compute import evaluate_rankings, group_results, with_groups
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.settings import Counts, Settings, UnfitError
from quotakernels.evaluation.words import Condition

_POSITIVE, _GROUP = "it is positive", "its group"
"""Columns beside those of the data: its label, and what names its group."""
_DIGITS = 38
"""Of numbers that DuckDB compares exactly; no column of a file has more."""


class _BadValueError(Exception):
    """A column has a value that cannot be used in some row."""


class ParquetFiles(NamedTuple):
    """Parquet files, and the columns that are needed as one table of DuckDB."""

    path: Path
    connection: Any
    rows: Any

    def share_done(self) -> float:
        """How much of the query in progress is done, from 0 to 1; asked for in another thread."""
        return float(min(max(self.connection.query_progress(), 0.0), 100.0)) / 100


@contextmanager
def opened(path: Path, settings: Settings, memory_limit: str | None) -> Iterator[ParquetFiles]:
    """Yield the columns that are needed; what DuckDB complains about names its data."""
    with tempfile.TemporaryDirectory(prefix="quotakernels-") as scratch:
        config = {"temp_directory": scratch, "preserve_insertion_order": "false"}
        config |= {} if memory_limit is None else {"memory_limit": memory_limit}
        try:
            with duckdb.connect(config=config) as connection:
                for name in ("enable_progress_bar = true", "enable_progress_bar_print = false"):
                    connection.execute(f"SET {name}")
                yield ParquetFiles(path, connection, _columns(connection, path, settings))
        except UnfitError as error:
            raise InputError(str(error)) from error
        except (duckdb.Error, TypeError, ValueError) as error:
            raise InputError(f"{settings.source}: {error}") from error


def _columns(connection: Any, path: Path, settings: Settings) -> Any:
    """The columns that are needed."""
    files = files_of(path)
    full = with_rows(connection, [str(file) for file in files if file.stat().st_size])
    if not full:
        raise no_rows(settings.source)
    _tell_empty(sorted(set(map(str, files)) - set(full)))
    in_parts = any("=" in name for file in files for name in file.parent.parts)
    filtered = [settings.label, *_amounts(settings), *(x.column for x in settings.where)]
    names = columns_read(settings)
    try:
        rows = dataset(connection, full, names, in_parts and means_files(path), filtered)
    except AbsentColumnError as error:
        raise no_columns(settings.source, error.columns, error.available) from error
    for name in settings.models:
        kind = rows.types[rows.columns.index(name)]
        if _is_wide(kind):
            _refuse_merged(rows, name, kind)
    return rows


def _tell_empty(files: Sequence[str]) -> None:
    if files:
        others = len(files) - 1
        who = f"{files[0]} and {others} more have" if others else f"{files[0]} has"
        click.echo(printable(f"{who} no rows: left out"), err=True)


def _is_wide(kind: Any) -> bool:
    """Whether a DOUBLE may not tell decimals apart."""
    return bool(kind.id == "decimal" and dict(kind.children)["precision"] > sql.EXACT_DIGITS)


def _refuse_merged(rows: Any, name: str, kind: Any) -> None:
    """Raise for decimals that are distinct and are not as floats."""
    column = sql.identifier(name)
    merged = f"count(DISTINCT {column}) - count(DISTINCT {_as_double(column, kind)})"
    if ties := _first_row(rows, merged)[0]:
        raise merged_scores(name, ties)


def _as_double(column: str, kind: Any) -> str:
    number = f"CAST({column} AS VARCHAR)" if _is_wide(kind) else column  # which is rounded once
    return f"CAST({number} AS DOUBLE)"


def evaluate_source(
    source: ParquetFiles, settings: Settings, on_step: Callable[[str], object]
) -> Evaluation:
    """Evaluate each score column against the labels, a query for each."""
    try:
        return _evaluated(source, settings, on_step)
    except _BadValueError as error:
        rows = Rows(settings.source, source.path, settings.where, settings.models)
        rows.refuse_bad_values(settings)
        raise InputError(f"{settings.source}: {error}") from error


def _evaluated(
    source: ParquetFiles, settings: Settings, on_step: Callable[[str], object]
) -> Evaluation:
    chosen = _with_floats(_chosen(source.rows, settings))
    positive = positive_value(_labels(chosen, settings.label), settings.label, settings.pos_label)
    counts = _counts(chosen, positive, settings)
    counts = counts._replace(total_cost=_total_cost(chosen, settings))
    if settings.per is None:
        settings.check_quotas(counts.most)
    made = {_POSITIVE: _equals(settings.label, positive)}
    if settings.grouped_by is not None:
        made[_GROUP] = _group(chosen, settings.grouped_by)
    columns = [f"{value} AS {sql.identifier(name)}" for name, value in made.items()]
    columns += map(sql.identifier, dict.fromkeys([*settings.models, *_amounts(settings)]))
    ready = chosen.project(", ".join(columns))

    def ranked(name: str, group: str | None = None) -> qk.Ranking:
        named: dict[str, Any] = {"weight": settings.weight, "cost": settings.cost, "group": group}
        try:
            return ranking(source.connection, ready, label=_POSITIVE, score=name, **named)  # type: ignore[no-any-return]
        except ValueError as error:
            raise _BadValueError(error) from error

    if settings.grouped_by is None:
        return evaluate_rankings(settings, counts, ranked, on_step)
    by_group = []
    for name in settings.models:
        on_step(f"grouping {name}")
        by_group.append(ranked(name, _GROUP))
    groups = group_results(settings, by_group, by_group[0].groups.ids)
    return with_groups(evaluate_rankings(settings, counts, ranked, on_step), groups)


def _with_floats(rows: Any) -> Any:
    """The same rows with decimals as floats, as they are read into memory."""
    columns = []
    for name, kind in zip(rows.columns, rows.types, strict=True):
        column = sql.identifier(name)
        decimal = kind.id == "decimal"
        columns.append(f"{_as_double(column, kind)} AS {column}" if decimal else column)
    return rows.project(", ".join(columns))


def _group(rows: Any, name: str) -> str:
    """What names the group of each row, in SQL; dates become texts."""
    kind = rows.types[rows.columns.index(name)]
    try:
        text = f"CAST({sql.identifier(name)} AS VARCHAR)"
        column = text if kind.id in DATES else group_of(rows, name)
    except TypeError:
        raise no_groups(name, kind, kind.id in ("double", "float", "decimal")) from None
    _refuse_any(rows, name, f"{sql.identifier(name)} IS NULL")
    return column


def _amounts(settings: Settings) -> list[str]:
    return [name for name in (settings.weight, settings.cost) if name is not None]


def _double(name: str) -> str:
    return f"CAST({sql.identifier(name)} AS DOUBLE)"


def _chosen(rows: Any, settings: Settings) -> Any:
    """The rows that fulfil all conditions; there is one."""
    chosen = rows
    for condition in settings.where:
        chosen = chosen.filter(_holds(rows, condition))
    if settings.where and not _first_row(chosen, "count(*)")[0]:
        raise no_row_has(settings.where)
    return chosen


def _holds(rows: Any, condition: Condition) -> str:
    """A condition in SQL, where NaN is above all numbers; it fulfils none that compares."""
    column = sql.identifier(condition.column)
    _refuse_any(rows, condition.column, f"{column} IS NULL")
    (sample,) = _first_row(rows, f"any_value({column})")
    found = compared(condition, sample)
    if isinstance(found, bool):
        return str(found)
    relation, value = found
    if isinstance(value, (int, Decimal)) and len(Decimal(value).as_tuple().digits) > _DIGITS:
        return str(of_all(relation, value > 0))
    held = f"{column} {relation} {sql.literal(value)}"
    numbers = relation.startswith(">") and isinstance(sample, float)
    return f"({held} AND NOT {sql.is_nan(column)})" if numbers else f"({held})"


def _equals(name: str, value: Any) -> str:
    return f"({sql.identifier(name)} = {sql.literal(value)})"


def _first_row(rows: Any, aggregates: str) -> Any:
    return rows.aggregate(aggregates).fetchall()[0]


def _refuse_any(rows: Any, name: str, bad: str) -> None:
    """Raise if a condition of SQL is true in any row."""
    if _first_row(rows, f"count(*) FILTER ({bad})")[0]:
        raise _BadValueError(f"column {name!r} has a value that cannot be used")


def _labels(rows: Any, name: str) -> list[Any]:
    """The values of the labels, of which there are at most two."""
    column = sql.identifier(name)
    _refuse_any(rows, name, f"{column} IS NULL")
    low, high = _first_row(rows, f"min({column}), max({column})")
    if not isinstance(low, (bool, int, float, str)) or high != high:
        raise _BadValueError(f"column {name!r} holds no labels")
    _refuse_any(rows, name, f"NOT {_equals(name, low)} AND NOT {_equals(name, high)}")
    return [low] if low == high else [low, high]


def _counts(rows: Any, positive: Any, settings: Settings) -> Counts:
    """Numbers and weights of all rows and of the positive ones; sums are rounded once."""
    column = sql.identifier(settings.label)
    sign = _equals(settings.label, positive)
    if settings.weight is None:
        count, positives = _first_row(rows, f"count({column}), count(*) FILTER ({sign})")
        return Counts(count, positives, float(count), float(positives))
    weight = _double(settings.weight)
    unfit = f"NOT coalesce({weight} >= 0 AND isfinite({weight}), false)"
    _refuse_any(rows, settings.weight, unfit)
    scale = sql.scale(weight, sql.is_weight(weight))
    weighed = rows.project(f"{sign} AS positive, {weight} AS weight, {scale} AS scale")
    counts = f"count(*), sum({sql.units('weight', 'scale')})"
    found = weighed.aggregate(f"positive, scale, {counts}", "positive, scale").fetchall()
    return _summed(found, settings.weight)


def _summed(found: list[Any], weight: str) -> Counts:
    counts = {True: 0, False: 0}
    sums = {True: Fraction(0), False: Fraction(0)}
    for positive, scale, count, units in found:
        counts[positive] += count
        sums[positive] += 0 if scale is None else sql.exact_mass(units, scale)
    try:
        total, positive_total = float(sums[True] + sums[False]), float(sums[True])
    except OverflowError:
        total = positive_total = math.inf
    if math.isinf(total):
        raise InputError(f"column {weight!r}: the sum of the weights is too large for a number")
    return Counts(counts[True] + counts[False], counts[True], total, positive_total)


def _total_cost(rows: Any, settings: Settings) -> float:
    """What all rows cost, rounded once, NaN without costs; one without weight may cost anything."""
    name, weight = settings.cost, settings.weight
    if name is None:
        return math.nan
    counted, value = rows, _double(name)
    if weight is not None:
        counted = rows.filter(f"{_double(weight)} IS DISTINCT FROM 0")
        value = f"{value} * {_double(weight)}"
    _refuse_any(counted, name, f"NOT {sql.is_cost(_double(name))}")
    costs = counted.project(f"{value} AS cost, {sql.scale(value, sql.is_cost(value))} AS scale")
    sums = costs.aggregate(f"scale, sum({sql.units('cost', 'scale')})", "scale").fetchall()
    return float(sum((sql.exact_mass(units, k) for k, units in sums if k is not None), Fraction(0)))
