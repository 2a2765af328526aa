"""Data files as tables of named columns, whatever their format."""

from __future__ import annotations

import io
import json
import zipfile
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
from quotakernels.cli.columns import first_text, of_files
from quotakernels.cli.csv_files import (
    as_decimals,
    csv_dialect,
    csv_names,
    csv_table,
    has_marked_numbers,
    ungrouped,
)
from quotakernels.cli.errors import InputError, merged_scores, no_rows
from quotakernels.cli.given import given
from quotakernels.cli.paths import (
    BLOCK_BYTES,
    READABLE,
    blocks_of,
    file_format,
    files_of,
    means_files,
    name_of,
    picked_columns,
    refusing,
    unknown_kind,
)


def read_table(
    path: Path, names: Sequence[str] | None = None, *, as_text: bool = False
) -> pa.Table:
    """Read the named columns of a file, or all of them.

    `as_text` keeps the cells of a CSV file exactly as they are written there.
    """
    with refusing(path):
        if not means_files(path):
            table = _reader(path)[1](path, names, as_text)
        else:
            parts = {x: _part(x, names, as_text) for x in files_of(path)}
            if as_text and file_format(path) == "csv":
                _refuse_mixed_decimals(parts)
            table = together(parts)
            if names is not None:  # else all is written, and has no errors to place
                table = of_files(table, {file: x.num_rows for file, x in parts.items()})
    if not table.num_rows:
        raise no_rows(name_of(path))
    return table if names is None else without_words(table)


def _part(file: Path, names: Sequence[str] | None, as_text: bool) -> pa.Table:
    """The columns of one file of a directory, with those that its folders tell."""
    names_of, read = _reader(file)
    with refusing(file):
        told = told_by_folders(file, names_of(file), names)
        own = names if names is None else [x for x in names if x not in told]
        return with_told(read(file, own, as_text), told)


def _refuse_mixed_decimals(parts: Mapping[Path, pa.Table]) -> None:
    """Raise if cells that stay as they are written have decimal commas in one file and not in all.

    A file without decimals goes with any other.
    """
    commas = [x for x in parts if csv_dialect(x).decimal == ","]
    points = [x for x in parts if x not in commas and has_marked_numbers(parts[x])]
    if commas and points:
        raise InputError(
            f"the decimal mark of {commas[0]} is a comma and that of {points[0]} is a point; "
            "write them alike, or give an output that is not CSV"
        )


def told_by_folders(
    file: Path, available: Sequence[str], names: Sequence[str] | None
) -> dict[str, str]:
    """Columns that are in the names of folders, such as `day=7`, and not in the file, as texts."""
    pairs = (x.partition("=") for x in file.parent.parts)
    told = {name: unquote(text) for name, equals, text in pairs if equals}
    wanted = told if names is None else dict.fromkeys(names)
    return {name: told[name] for name in wanted if name in told and name not in available}


def with_told(table: pa.Table, told: Mapping[str, str]) -> pa.Table:
    """The table with the same text in every row for each column that folders tell."""
    for name, text in told.items():
        table = table.append_column(name, pa.repeat(text, table.num_rows))
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


def _read_parquet(path: Path, names: Sequence[str] | None, _: bool) -> pa.Table:
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        picked = picked_columns(path, file.schema_arrow.names, names)
        # Parquet takes `a` for the parent of `a.b` as well, hence the selection afterwards.
        return file.read(columns=picked).select(picked)


def _arrow_names(path: Path) -> list[str]:
    with pa.memory_map(str(path)) as source:
        return list(open_arrow(source).schema.names)


def _read_arrow(path: Path, names: Sequence[str] | None, _: bool) -> pa.Table:
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
    return list(_json_table(path).schema.names)


def _read_json(path: Path, names: Sequence[str] | None, _: bool) -> pa.Table:
    table = _json_table(path)
    return table.select(picked_columns(path, table.schema.names, names))


def _npz_names(path: Path) -> list[str]:
    with np.load(path, allow_pickle=False) as archive:
        return list(archive.files)


def _read_npz(path: Path, names: Sequence[str] | None, _: bool) -> pa.Table:
    if not zipfile.is_zipfile(path):
        raise InputError(f"{name_of(path)} is not an NPZ archive")
    with np.load(path, allow_pickle=False) as archive:
        picked = picked_columns(path, archive.files, names)
        columns = {name: _array_column(path, name, archive[name]) for name in picked}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise InputError(f"{name_of(path)}: the arrays differ in length ({listed})")
    return pa.table(columns)


def _array_column(path: Path, name: str, array: np.ndarray[Any, Any]) -> pa.Array:
    if array.ndim != 1:
        raise InputError(f"{name_of(path)}: array {name!r} has {array.ndim} dimensions, expected 1")
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    try:
        return pa.array(native)
    except pa.ArrowException as error:
        raise InputError(
            f"{name_of(path)}: array {name!r} of type {array.dtype} is neither numbers nor text"
        ) from error


def _excel_names(path: Path) -> list[str]:
    from quotakernels.cli import excel

    return excel.names(path)


def _read_excel(path: Path, names: Sequence[str] | None, _: bool) -> pa.Table:
    from quotakernels.cli import excel

    table = excel.read(path, picked_columns(path, excel.names(path), names))
    decimal = given().get("decimal")
    return table if decimal is None else ungrouped(table, decimal)


_READERS: dict[str, tuple[Callable[[Path], list[str]], Callable[..., pa.Table]]] = {
    "csv": (csv_names, csv_table),
    "parquet": (_parquet_names, _read_parquet),
    "arrow": (_arrow_names, _read_arrow),
    "excel": (_excel_names, _read_excel),
    "npz": (_npz_names, _read_npz),
    "json": (_json_names, _read_json),
}


# several files as one table


_WORDS: dict[str, Callable[[pa.DataType], bool]] = {
    "text": lambda x: pa.types.is_string(x) or pa.types.is_large_string(x),
    "true and false": pa.types.is_boolean,
    "whole numbers": pa.types.is_integer,
    "floats": pa.types.is_floating,
    "decimals": pa.types.is_decimal,
    "dates": pa.types.is_date,
    "times": pa.types.is_timestamp,
}

_Kinds = Mapping[pa.DataType, Path]
"""The types of a column, each with the first file that has it."""


def together(parts: Mapping[Path, pa.Table]) -> pa.Table:
    """The rows of all files; those that have none need no types that fit."""
    filled = {file: x for file, x in parts.items() if x.num_rows} or dict(list(parts.items())[:1])
    names = dict.fromkeys(name for x in filled.values() for name in x.column_names)
    known = {name: _kinds(name, filled) for name in names}
    tables = {file: _as_others(table, known) for file, table in filled.items()}
    for name in names:
        _refuse_unlike(name, _kinds(name, tables), tables)
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
        kinds = known[name]
        if pa.types.is_dictionary(column.type) and len(kinds) > 1:
            table = table.set_column(place, name, column.cast(column.type.value_type))
        elif pa.types.is_boolean(column.type) and any(map(_is_number, kinds)):
            table = table.set_column(place, name, column.cast(pa.int8()))
    return table


def _refuse_unlike(name: str, kinds: _Kinds, tables: Mapping[Path, pa.Table]) -> None:
    for pair in combinations(kinds, 2):
        if not _go_together(pair):
            one, other = (f"{_held(kind)} in {kinds[kind]}" for kind in pair)
            first = _text_among_numbers(name, pair, kinds, tables)
            raise InputError(
                f"column {name!r} holds {one} and {other}{first}; write it alike in both"
            )


def _text_among_numbers(
    name: str, pair: Sequence[pa.DataType], kinds: _Kinds, tables: Mapping[Path, pa.Table]
) -> str:
    """The first text that is no number, and its row, where the other file has numbers."""
    texts = [x for x in pair if _WORDS["text"](x)]
    if not texts or not any(map(_is_number, pair)):
        return ""
    column = tables[kinds[texts[0]]].column(name).to_pylist()
    _, text = first_text([x for x in column if x is not None])
    return f" ({text!r} in row {column.index(text) + 1})"


def _go_together(kinds: Sequence[pa.DataType]) -> bool:
    """Whether a type holds the values of two; floats do not hold those of decimals."""
    if any(map(pa.types.is_decimal, kinds)) and any(map(pa.types.is_floating, kinds)):
        return False
    try:
        pa.unify_schemas([pa.schema([("", x)]) for x in kinds], promote_options="permissive")
    except pa.ArrowException:
        return False
    return True


def _is_number(kind: pa.DataType) -> bool:
    return any(_WORDS[x](kind) for x in ("whole numbers", "floats", "decimals"))


def _held(kind: pa.DataType) -> str:
    """What a column holds, in words."""
    return next((words for words, holds in _WORDS.items() if holds(kind)), f"{kind} values")


# JSON lines


_DEEPEST = 100
"""Levels of nesting; Arrow's parser calls itself for each, until the process dies."""
_OTHERS = bytes(set(range(256)) - set(b'"[]{}'))


def _json_table(path: Path) -> pa.Table:
    """All columns of a file."""
    from pyarrow import json as arrow_json

    _refuse_deep(path)
    return arrow_json.read_json(path, arrow_json.ReadOptions(block_size=BLOCK_BYTES))


def _json_as_written(path: Path, names: Sequence[str]) -> pa.Table:
    """Columns of numbers with all digits that the file has."""
    columns: dict[str, list[str | None]] = {name: [] for name in names}
    for row in _json_rows(path):
        for name, cells in columns.items():
            cell = row.get(name)
            cells.append(cell if isinstance(cell, str) else None)
    return pa.table({name: pa.array(x, pa.string()) for name, x in columns.items()})


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows one after the other, whose numbers are texts; one may take several lines."""
    decoder, pending = json.JSONDecoder(parse_float=str, parse_int=str), ""
    with pa.input_stream(str(path), compression="detect") as stream:
        for line in io.TextIOWrapper(stream, "utf-8-sig", errors="replace"):
            pending = (pending + line).lstrip()
            while pending:
                try:
                    row, end = decoder.raw_decode(pending)
                except ValueError:  # it goes on in the next line
                    break
                yield row
                pending = pending[end:].lstrip()


def _refuse_deep(path: Path) -> None:
    """Raise for values within values within values, of more levels than any table has."""
    quotes = depth = 0
    rest = b""
    for block in blocks_of(path):
        text = rest + block
        rest = text[len(text.rstrip(b"\\")) :]  # which may escape what comes next
        kept = text[: len(text) - len(rest)].replace(b"\\\\", b"").replace(b'\\"', b"")
        marks = np.frombuffer(kept.translate(None, _OTHERS), np.uint8)
        is_quote = marks == ord('"')
        within = (quotes + np.cumsum(is_quote)) % 2 == 1
        steps = np.where(np.isin(marks, list(b"[{")), 1, -1) * ~(is_quote | within)
        if depth + np.cumsum(steps).max(initial=0) > _DEEPEST:
            raise InputError(f"{name_of(path)} has values nested more than {_DEEPEST} levels deep")
        quotes, depth = quotes + int(is_quote.sum()), depth + int(steps.sum())


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
    from quotakernels.cli.columns import filtered

    kept = kept_rows(table)
    return table if kept is None else filtered(table, kept)


def _is_missing(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return pc.is_null(column.combine_chunks(), nan_is_null=pa.types.is_floating(column.type))


# scores with more digits than floats of 64 bits have


def read_with_scores(path: Path, names: Sequence[str], scores: Sequence[str]) -> pa.Table:
    """Read columns of a file; scores among them that become equal as floats are an error."""
    table = read_table(path, names)
    kinds = {name: table.schema.field(name).type for name in dict.fromkeys(scores)}
    floats = [x for x, kind in kinds.items() if pa.types.is_float64(kind)]
    if floats and (as_written := _AS_WRITTEN.get(file_format(path))):
        with refusing(path):
            written = [as_written(x, floats) for x in files_of(path)]
            for name in floats:
                chunks = (chunk for x in written for chunk in x[name].chunks)
                texts = pa.chunked_array(chunks, pa.string())
                in_csv = as_written is _of_csv  # where some cells are no numbers
                _refuse_texts(name, texts, table[name] if in_csv else texts.cast(pa.float64()))
    for name, kind in kinds.items():
        if pa.types.is_decimal(kind):
            texts = table[name].cast(pa.string())
            _refuse_texts(name, texts, texts.cast(pa.float64()))
    return table


def _of_csv(file: Path, names: Sequence[str]) -> pa.Table:
    """Columns of numbers with all digits that a file has."""
    texts, decimal = csv_table(file, names, True), csv_dialect(file).decimal
    return pa.table({name: as_decimals(texts.column(name), decimal) for name in names})


def _of_excel(file: Path, names: Sequence[str]) -> Mapping[str, pa.ChunkedArray]:
    from quotakernels.cli import excel

    return excel.numbers_as_written(file, names)


_AS_WRITTEN: dict[str, Callable[[Path, Sequence[str]], Any]] = {
    "csv": _of_csv,
    "json": _json_as_written,
    "excel": _of_excel,
}
"""What reads numbers with all their digits, by the formats of text."""


def _refuse_texts(name: str, texts: pa.ChunkedArray, floats: pa.ChunkedArray) -> None:
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
        numbers.setdefault(pair["float"], set()).add(_as_decimal(pair["text"]))
    merged = [sorted(found) for found in numbers.values() if len(found) > 1]
    if merged:
        raise _merged(name, merged)


def _as_decimal(text: str) -> Decimal:
    """The number of a cell; in one of several files true and false may stand for 1 and 0."""
    return Decimal({"true": 1, "false": 0}.get(text.strip().lower(), text))


def _merged(name: str, merged: list[list[Decimal]]) -> InputError:
    low, high, *_ = min(merged)
    ties = sum(len(found) - 1 for found in merged)
    return merged_scores(name, ties, f", such as {low} and {high}")
