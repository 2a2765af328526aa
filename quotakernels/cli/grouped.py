"""Evaluations of Parquet data that DuckDB groups: memory holds the distinct scores, not the rows.

Errors name the column, the file and the row, as those of rows in memory do.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import duckdb

import quotakernels as qk
from quotakernels.adapters import _sql as sql
from quotakernels.adapters._sql import DATES, group_of
from quotakernels.adapters.duckdb import FILE, ROW, AbsentColumnError, dataset, ranking, with_rows
from quotakernels.cli.columns import columns_read, compared, no_row_has, of_all, positive_value
from quotakernels.cli.errors import (
    InputError,
    merged_scores,
    missing_value,
    no_columns,
    no_groups,
    no_rows,
    printable,
    third_label,
)
from quotakernels.cli.paths import files_of, means_files
from quotakernels.evaluation.compute import evaluate_rankings, group_results, with_groups
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.settings import Counts, Settings, UnfitError
from quotakernels.evaluation.words import Condition, Conditions

_POSITIVE, _GROUP = "it is positive", "its group"
"""Columns beside those of the data: its label, and what names its group."""
_DIGITS = 38
"""Of numbers that DuckDB compares exactly; no column of a file has more."""


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files as one table of DuckDB, and the same with the file and the row of each row."""

    connection: Any
    rows: Any
    numbered: Any
    several: bool

    def share_done(self) -> float:
        """How much of the query in progress is done, from 0 to 1; asked for in another thread."""
        return float(min(max(self.connection.query_progress(), 0.0), 100.0)) / 100

    def filter(self, condition: str) -> ParquetFiles:
        """The rows for which a condition of SQL is true."""
        rows, numbered = (x.filter(condition) for x in (self.rows, self.numbered))
        return replace(self, rows=rows, numbered=numbered)

    def with_floats(self) -> ParquetFiles:
        """The same rows with decimals as floats, as they are read into memory."""
        kinds = zip(self.rows.columns, self.rows.types, strict=True)
        columns = ", ".join(_column(name, kind) for name, kind in kinds)
        place = f"{sql.identifier(FILE)}, {sql.identifier(ROW)}"
        numbered = self.numbered.project(f"{columns}, {place}")
        return replace(self, rows=self.rows.project(columns), numbered=numbered)

    def first(self, name: str, condition: str = "true") -> tuple[Any, str] | None:
        """The value in the first row for which a condition is true, and where that is."""
        place = f"{sql.identifier(FILE)}, {sql.identifier(ROW)}"
        found = self.numbered.filter(condition).order(place).limit(1)
        for value, file, row in found.project(f"{sql.identifier(name)}, {place}").fetchall():
            where = "a row" if row is None else f"row {row}"
            return value, f"{where} of {file}" if self.several else where
        return None


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
                yield _source(connection, path, settings)
        except UnfitError as error:
            raise InputError(str(error)) from error
        except (duckdb.Error, TypeError, ValueError) as error:
            raise InputError(f"{settings.source}: {error}") from error


def _source(connection: Any, path: Path, settings: Settings) -> ParquetFiles:
    """The columns that are needed."""
    files, several = files_of(path), means_files(path)
    full = with_rows(connection, [str(file) for file in files if file.stat().st_size])
    if not full:
        raise no_rows(settings.source)
    _tell_empty(sorted(set(map(str, files)) - set(full)))
    in_parts = several and any("=" in name for file in files for name in file.parent.parts)
    filtered = [
        settings.label,
        *_amounts(settings),
        *(x.column for x in settings.where),
    ]
    try:
        found = dataset(connection, full, columns_read(settings), in_parts, filtered)
    except AbsentColumnError as error:
        raise no_columns(settings.source, error.columns, error.available) from error
    kinds = dict(zip(found.rows.columns, found.rows.types, strict=True))
    _refuse_merged(found.rows, [x for x in settings.models if _is_wide(kinds[x])])
    return ParquetFiles(connection, found.rows, found.numbered, several)


def _tell_empty(files: Sequence[str]) -> None:
    if files:
        others = len(files) - 1
        who = f"{files[0]} and {others} more have" if others else f"{files[0]} has"
        click.echo(printable(f"{who} no rows: left out"), err=True)


def _is_wide(kind: Any) -> bool:
    """Whether a DOUBLE may not tell decimals apart."""
    return bool(kind.id == "decimal" and dict(kind.children)["precision"] > sql.EXACT_DIGITS)


def _column(name: str, kind: Any) -> str:
    column = sql.identifier(name)
    return column if kind.id != "decimal" else f"{_as_double(column, kind)} AS {column}"


def _as_double(column: str, kind: Any) -> str:
    number = f"CAST({column} AS VARCHAR)" if _is_wide(kind) else column  # which is rounded once
    return f"CAST({number} AS DOUBLE)"


def _refuse_merged(rows: Any, names: Sequence[str]) -> None:
    """Raise for decimals that are distinct and are not as floats."""
    for name in names:
        column = sql.identifier(name)
        number = _as_double(column, rows.types[rows.columns.index(name)])
        counts = f"count(DISTINCT {column}) - count(DISTINCT {number})"
        if merged := _first_row(rows, counts)[0]:
            raise merged_scores(name, merged)


def evaluate_source(
    source: ParquetFiles, settings: Settings, on_step: Callable[[str], object]
) -> Evaluation:
    """Evaluate each score column against the labels, a query for each."""
    chosen = _chosen(source, settings.where).with_floats()
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
    ready = chosen.rows.project(", ".join(columns))

    def ranked(name: str, group: str | None = None) -> qk.Ranking:
        columns: dict[str, Any] = {"weight": settings.weight, "cost": settings.cost, "group": group}
        try:
            found: qk.Ranking = ranking(
                source.connection, ready, label=_POSITIVE, score=name, **columns
            )
            return found
        except ValueError as error:
            _refuse_score(chosen, name, settings.weight)
            raise error from None

    if settings.grouped_by is None:
        return evaluate_rankings(settings, counts, ranked, on_step)
    by_group = []
    for name in settings.models:
        on_step(f"grouping {name}")
        by_group.append(ranked(name, _GROUP))
    groups = group_results(settings, by_group, by_group[0].groups.ids)
    return with_groups(evaluate_rankings(settings, counts, ranked, on_step), groups)


def _group(rows: ParquetFiles, name: str) -> str:
    """What names the group of each row, in SQL; dates become texts."""
    kind = rows.rows.types[rows.rows.columns.index(name)]
    try:
        text = f"CAST({sql.identifier(name)} AS VARCHAR)"
        column = text if kind.id in DATES else group_of(rows.rows, name)
    except TypeError:
        raise no_groups(name, kind, kind.id in ("double", "float", "decimal")) from None
    _refuse_missing(rows, name, _first_row(rows.rows, _missing(name))[0])
    return column


def _refuse_score(rows: ParquetFiles, name: str, weight: str | None) -> None:
    """Raise for the first score that is none, of the rows that count."""
    counted = rows if weight is None else rows.filter(f"{_double(weight)} IS DISTINCT FROM 0")
    _refuse_missing(counted, name, _first_row(counted.rows, _missing(name))[0])
    _refuse_nan(counted, name)


def _amounts(settings: Settings) -> list[str]:
    return [name for name in (settings.weight, settings.cost) if name is not None]


def _double(name: str) -> str:
    return f"CAST({sql.identifier(name)} AS DOUBLE)"


def _chosen(source: ParquetFiles, conditions: Conditions) -> ParquetFiles:
    """The rows that fulfil all conditions; there is one."""
    chosen = source
    for condition in conditions:
        chosen = chosen.filter(_holds(source, condition))
    if conditions and not _first_row(chosen.rows, "count(*)")[0]:
        raise no_row_has(conditions)
    return chosen


def _holds(source: ParquetFiles, condition: Condition) -> str:
    """A condition in SQL, where NaN is above all numbers; it fulfils none that compares."""
    name = condition.column
    column = sql.identifier(name)
    missing, sample = _first_row(source.rows, f"{_missing(name)}, any_value({column})")
    _refuse_missing(source, name, missing)
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


def _missing(name: str) -> str:
    return f"count(*) FILTER ({sql.identifier(name)} IS NULL)"


def _refuse_missing(source: ParquetFiles, name: str, missing: int) -> None:
    if missing and (found := source.first(name, f"{sql.identifier(name)} IS NULL")):
        raise InputError(missing_value([name], found[1], missing))


def _refuse_nan(source: ParquetFiles, name: str) -> None:
    if found := source.first(name, sql.is_nan(sql.identifier(name))):
        raise InputError(f"column {name!r}: NaN at {found[1]}, expected a number")


def _labels(source: ParquetFiles, name: str) -> list[Any]:
    """The values of the labels, of which there are at most two."""
    column = sql.identifier(name)
    wanted = f"{_missing(name)}, min({column}), max({column})"
    missing, low, high = _first_row(source.rows, wanted)
    _refuse_missing(source, name, missing)
    if not isinstance(low, (bool, int, float, str)):
        kind = source.rows.types[source.rows.columns.index(name)]
        raise InputError(f"column {name!r} holds values of type {kind}, expected numbers")
    if high != high:
        _refuse_nan(source, name)
    others = source.rows.filter(f"NOT {_equals(name, low)} AND NOT {_equals(name, high)}")
    if others.limit(1).fetchall():
        _refuse_third(source, name)
    return [low] if low == high else [low, high]


def _refuse_third(source: ParquetFiles, name: str) -> None:
    """Raise for the first row that has neither of the two labels before it."""
    values: list[Any] = []
    while len(values) < 3:
        new = " AND ".join(["true", *(f"NOT {_equals(name, x)}" for x in values)])
        value, place = source.first(name, new) or (None, "")
        values.append(value)
    raise InputError(third_label(name, "more than 2", values, place))


def _counts(source: ParquetFiles, positive: Any, settings: Settings) -> Counts:
    """Numbers and weights of all rows and of the positive ones; sums are rounded once."""
    column = sql.identifier(settings.label)
    sign = _equals(settings.label, positive)
    if settings.weight is None:
        count, positives = _first_row(source.rows, f"count({column}), count(*) FILTER ({sign})")
        return Counts(count, positives, float(count), float(positives))
    weight = _double(settings.weight)
    fits = f"coalesce({weight} >= 0 AND isfinite({weight}), false)"
    scale = sql.scale(weight, sql.is_weight(weight))
    wanted = f"{sign} AS positive, {weight} AS weight, {scale} AS scale, {fits} AS fits"
    units = f"sum({sql.units('weight', 'scale')})"
    counts = f"count(*), count(*) FILTER (NOT fits), {units}"
    groups = source.rows.project(wanted).aggregate(f"positive, scale, {counts}", "positive, scale")
    found = groups.fetchall()
    if any(unfit for *_, unfit, _ in found):
        _refuse_weight(source, settings.weight)
    return _summed(found, settings.weight)


def _refuse_weight(source: ParquetFiles, name: str) -> None:
    _refuse_missing(source, name, _first_row(source.rows, _missing(name))[0])
    weight = _double(name)
    unfit = f"{weight} < 0 OR {weight} = 'inf'::DOUBLE OR {sql.is_nan(weight)}"
    if found := source.first(name, unfit):
        value = "NaN" if found[0] != found[0] else float(found[0])
        expected = "a finite weight of 0 or more"
        raise InputError(f"column {name!r}: {value} at {found[1]}, expected {expected}")


def _total_cost(source: ParquetFiles, settings: Settings) -> float:
    """What all rows cost, rounded once, NaN without costs; one without weight may cost anything."""
    name, weight = settings.cost, settings.weight
    if name is None:
        return math.nan
    counted, value = source, _double(name)
    if weight is not None:
        counted = source.filter(f"{_double(weight)} IS DISTINCT FROM 0")
        value = f"{value} * {_double(weight)}"
    _refuse_missing(counted, name, _first_row(counted.rows, _missing(name))[0])
    column = _double(name)
    unfit = f"{column} < 0 OR {column} = 'inf'::DOUBLE OR {sql.is_nan(column)}"
    if found := counted.first(name, unfit):
        shown = "NaN" if found[0] != found[0] else float(found[0])
        raise InputError(f"column {name!r}: {shown} at {found[1]}, expected a cost of 0 or more")
    scale = sql.scale(value, sql.is_cost(value))
    rows = counted.rows.project(f"{value} AS cost, {scale} AS scale")
    sums = rows.aggregate(f"scale, sum({sql.units('cost', 'scale')})", "scale").fetchall()
    return float(sum((sql.exact_mass(units, k) for k, units in sums if k is not None), Fraction(0)))


def _summed(found: list[Any], weight: str) -> Counts:
    counts = {True: 0, False: 0}
    sums = {True: Fraction(0), False: Fraction(0)}
    for positive, scale, count, _, units in found:
        counts[positive] += count
        sums[positive] += 0 if scale is None else sql.exact_mass(units, scale)
    try:
        total, positive_total = float(sums[True] + sums[False]), float(sums[True])
    except OverflowError:
        total = positive_total = math.inf
    if math.isinf(total):
        raise InputError(f"column {weight!r}: the sum of the weights is too large for a number")
    return Counts(counts[True] + counts[False], counts[True], total, positive_total)
