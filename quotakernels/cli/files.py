"""Data files as tables of named columns, whatever their format."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from quotakernels._text import counted, number
from quotakernels.cli.columns import filtered, of_files
from quotakernels.cli.csv_files import (
    as_decimals,
    csv_dialect,
    csv_names,
    csv_texts,
    has_marked_numbers,
    typed,
)
from quotakernels.cli.errors import InputError, no_rows
from quotakernels.cli.given import given
from quotakernels.cli.paths import (
    READABLE,
    file_format,
    files_of,
    means_files,
    name_of,
    picked_columns,
    refusing,
    unknown_kind,
)


def read_table(
    path: Path,
    names: Sequence[str] | None = None,
    scores: Sequence[str] = (),
    *,
    as_text: bool = False,
) -> pa.Table:
    """Read the named columns of a file, or all of them; scores that become equal as floats are an
    error.

    `as_text` keeps the cells of text files exactly as they are written there.
    """
    with refusing(path):
        parts = {x: _part(x, names, means_files(path)) for x in files_of(path)}
        table = _together(parts)
        if not table.num_rows:
            raise no_rows(name_of(path))
        if file_format(path) in ("csv", "json"):
            decimal = _decimal(parts) if file_format(path) == "csv" else "."
            table = table if as_text else _of_texts(parts, table, decimal, scores)
        for name in scores:
            if pa.types.is_decimal(table[name].type):
                texts = table[name].cast(pa.string())
                _refuse_merged(name, texts, texts.cast(pa.float64()))
    if names is None:  # all is written, and has no errors to place
        return table
    rows = {file: x.num_rows for file, x in parts.items()}
    return without_words(of_files(table, rows) if means_files(path) else table)


def _part(file: Path, names: Sequence[str] | None, in_folders: bool) -> pa.Table:
    """The columns of one file, with those that the folders of a directory tell."""
    names_of, read = _reader(file)
    with refusing(file):
        told = told_by_folders(file, names_of(file), names) if in_folders else {}
        own = names if names is None else [x for x in names if x not in told]
        return with_told(read(file, own), told)


def _decimal(parts: Mapping[Path, pa.Table]) -> str:
    """The decimal mark of CSV files; one without decimals goes with any other."""
    commas = [x for x in parts if csv_dialect(x).decimal == ","]
    for file, part in parts.items() if commas else ():
        if file not in commas and has_marked_numbers(part):
            raise InputError(
                f"the decimal mark of {commas[0]} is a comma and that of {file} is a point; "
                "write them alike"
            )
    return "," if commas else "."


def _of_texts(
    parts: Mapping[Path, pa.Table], texts: pa.Table, decimal: str, scores: Sequence[str]
) -> pa.Table:
    """The values of cells, of which scores stay distinct."""
    for file, part in parts.items():
        if file_format(file) == "csv":
            csv_dialect(file).refuse_doubtful(part.column_names)
    table = typed(texts, decimal)
    for name in scores:
        if pa.types.is_float64(table[name].type):
            _refuse_merged(name, as_decimals(texts[name], decimal), table[name])
    return table


def told_by_folders(
    file: Path, available: Sequence[str], names: Sequence[str] | None
) -> dict[str, str]:
    """Columns that are in the names of folders, such as `day=7`, and not in the file, as texts."""
    pairs = (x.partition("=") for x in file.parent.parts)
    told = {name: unquote(text) for name, equals, text in pairs if equals}
    wanted = told if names is None else dict.fromkeys(names)
    return {name: told[name] for name in wanted if name in told and name not in available}


def with_told(table: pa.Table, told: Mapping[str, str]) -> pa.Table:
    """The table with the same category in every row for each column that folders tell."""
    for name, text in told.items():
        rows = pa.array(np.zeros(table.num_rows, dtype=np.int32))
        column = pa.DictionaryArray.from_arrays(rows, pa.array([text]))
        table = table.append_column(name, column)
    return table


def column_names(path: Path) -> list[str]:
    """Return the names of a file's columns, of several files the first one's."""
    with refusing(first := files_of(path)[0]):
        names = list(_reader(first)[0](first))
        return [*names, *told_by_folders(first, names, None)] if means_files(path) else names


def _reader(path: Path) -> tuple[Callable[[Path], list[str]], Callable[..., pa.Table]]:
    """What reads the names of the columns, and what reads columns."""
    try:
        return _READERS[file_format(path)]
    except KeyError:
        raise unknown_kind(path, READABLE) from None


def _parquet_names(path: Path) -> list[str]:
    from pyarrow import parquet

    return list(parquet.read_schema(path).names)


def _read_parquet(path: Path, names: Sequence[str] | None) -> pa.Table:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        picked = picked_columns(path, file.schema_arrow.names, names)
        # Parquet takes `a` for the parent of `a.b` as well, hence the selection afterwards.
        return file.read(columns=picked).select(picked)


def _arrow_names(path: Path) -> list[str]:
    with pa.memory_map(str(path)) as source:
        return list(open_arrow(source).schema.names)


def _read_arrow(path: Path, names: Sequence[str] | None) -> pa.Table:
    with pa.memory_map(str(path)) as source:
        available = open_arrow(source).schema.names
        picked = picked_columns(path, available, names)
        fields = [available.index(name) for name in picked]
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        return open_arrow(source, options).read_all().select(picked)


def open_arrow(source: pa.NativeFile, options: pa.ipc.IpcReadOptions | None = None) -> Any:
    """Open the layout for files, or else the one for streams, which carries the same suffix."""
    for opener in (pa.ipc.open_file, pa.ipc.open_stream):
        source.seek(0)
        try:
            return opener(source, options=options)
        except pa.ArrowInvalid as error:
            failure = error
    raise failure


def _json_names(path: Path) -> list[str]:
    return list(dict.fromkeys(name for row in _json_rows(path) for name in row))


def _read_json(path: Path, names: Sequence[str] | None) -> pa.Table:
    rows = list(_json_rows(path))
    picked = picked_columns(path, list(dict.fromkeys(name for row in rows for name in row)), names)
    return pa.table(
        {x: pa.array([_json_cell(y.get(x)) for y in rows], pa.string()) for x in picked}
    )


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows one after the other, whose numbers are texts with all their digits."""
    with pa.input_stream(str(path), compression="detect") as stream:
        lines = io.TextIOWrapper(stream, "utf-8-sig", errors="replace")
        for place, line in enumerate(lines, 1):
            if line.strip():
                try:
                    row = json.loads(line, parse_float=str, parse_int=str, parse_constant=str)
                except (ValueError, RecursionError) as error:
                    said = f"{name_of(path)}: line {place} is no JSON: {error}"
                    raise InputError(said) from error
                if not isinstance(row, dict):
                    raise InputError(f"{name_of(path)}: line {place} is no object with names")
                yield row


def _json_cell(value: Any) -> str | None:
    return value if isinstance(value, str) or value is None else json.dumps(value)


def _excel_names(path: Path) -> list[str]:
    from quotakernels.cli import excel

    return excel.names(path)


def _read_excel(path: Path, names: Sequence[str] | None) -> pa.Table:
    from quotakernels.cli import excel

    table = excel.read(path, picked_columns(path, excel.names(path), names))
    decimal = given().get("decimal")
    return table if decimal is None else typed(table, decimal)


_READERS: dict[str, tuple[Callable[[Path], list[str]], Callable[..., pa.Table]]] = {
    "csv": (csv_names, csv_texts),
    "parquet": (_parquet_names, _read_parquet),
    "arrow": (_arrow_names, _read_arrow),
    "excel": (_excel_names, _read_excel),
    "json": (_json_names, _read_json),
}


# several files as one table


_Kinds = Mapping[pa.DataType, Path]
"""The types of a column, each with the first file that has it."""


def _together(parts: Mapping[Path, pa.Table]) -> pa.Table:
    """The rows of all files; those that have none need no types that fit."""
    filled = {file: x for file, x in parts.items() if x.num_rows} or dict(list(parts.items())[:1])
    names = dict.fromkeys(name for x in filled.values() for name in x.column_names)
    known = {name: _kinds(name, filled) for name in names}
    tables = {file: _as_others(table, known) for file, table in filled.items()}
    for name in names:
        kinds = _kinds(name, tables)
        for one, other in combinations(kinds, 2):
            if not _go_together(one, other):
                held = f"{one} in {kinds[one]} and {other} in {kinds[other]}"
                raise InputError(f"column {name!r} holds {held}; write it alike in both")
    return pa.concat_tables(tables.values(), promote_options="permissive")


def _kinds(name: str, parts: Mapping[Path, pa.Table]) -> _Kinds:
    found: dict[pa.DataType, Path] = {}
    for file, part in parts.items():
        if name in part.column_names:
            found.setdefault(part.schema.field(name).type, file)
    return found


def _as_others(table: pa.Table, known: Mapping[str, _Kinds]) -> pa.Table:
    """The table with plain values for categories, and 0 and 1 for booleans, where others differ."""
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if len(known[name]) > 1:
            kind = column.type
            if pa.types.is_dictionary(kind):
                kind = kind.value_type
            elif pa.types.is_boolean(kind):
                kind = pa.int8()
            table = table.set_column(place, name, column.cast(kind))
    return table


def _go_together(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether a type holds the values of two; floats do not hold those of decimals."""
    pair = one, other
    if any(map(pa.types.is_decimal, pair)) and any(map(pa.types.is_floating, pair)):
        return False
    try:
        pa.unify_schemas([pa.schema([("", x)]) for x in pair], promote_options="permissive")
    except pa.ArrowException:
        return False
    return True


# rows with missing values


def without_words(table: pa.Table) -> pa.Table:
    """The table with no value where a cell, as text, is what the user says means so."""
    words, rows = given().get("missing"), pa.array(range(table.num_rows))
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if words and not pa.types.is_nested(column.type):
            texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
            missing = pc.is_in(texts.combine_chunks(), value_set=pa.array(words))
            # Taking the row None gives a missing value of any type.
            table = table.set_column(place, name, column.take(pc.if_else(missing, None, rows)))
    return table


def kept_rows(table: pa.Table) -> pa.Array | None:
    """Which rows have a value in every column, where others are left out; their number is said."""
    if not given().get("drop_missing"):
        return None
    missing = {name: _is_missing(table.column(name)) for name in table.column_names}
    counts = {name: pc.sum(column).as_py() or 0 for name, column in missing.items()}
    left_out = reduce(pc.or_, missing.values())
    if rows := pc.sum(left_out).as_py():
        where = ", ".join(f"{number(n)} in {name!r}" for name, n in counts.items() if n)
        have = "has a missing value and is" if rows == 1 else "have a missing value and are"
        of_all = f"{number(rows)} of {counted(table.num_rows, 'row', 'rows')}"
        if rows == table.num_rows:
            raise InputError(f"no row is left: all have a missing value: {where}")
        click.echo(f"{of_all} {have} left out: {where}", err=True)
    return pc.invert(left_out)


def without_missing(table: pa.Table) -> pa.Table:
    """The rows that have a value in every column, where others are left out."""
    kept = kept_rows(table)
    return table if kept is None else filtered(table, kept)


def _is_missing(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return pc.is_null(column.combine_chunks(), nan_is_null=pa.types.is_floating(column.type))


# scores with more digits than floats of 64 bits have


def _refuse_merged(name: str, texts: pa.ChunkedArray, floats: pa.ChunkedArray) -> None:
    """Raise if different numbers, as they are written, are the same float."""
    if pc.count_distinct(texts) == pc.count_distinct(floats):
        return
    pairs = pa.table({"text": texts, "float": floats}).group_by(["text", "float"]).aggregate([])
    pairs = pairs.filter(pc.invert(pc.is_nan(pairs["float"])))  # nor what is missing
    counts = pairs.group_by("float").aggregate([("text", "count")])
    several = counts.filter(pc.greater(counts["text_count"], 1))["float"]
    pairs = pairs.filter(pc.is_in(pairs["float"], several))
    numbers: dict[float, set[Decimal]] = {}
    for pair in pairs.to_pylist():
        numbers.setdefault(pair["float"], set()).add(Decimal(pair["text"]))
    merged = [sorted(found) for found in numbers.values() if len(found) > 1]
    if merged:
        low, high, *_ = min(merged)
        ties = counted(sum(len(found) - 1 for found in merged), "more tie", "more ties")
        raise InputError(
            f"column {name!r}: as 64-bit floats the scores have {ties} than in the file, such as "
            f"{low} and {high}; write fewer digits, or ranks"
        )
