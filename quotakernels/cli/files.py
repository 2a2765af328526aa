"""Data files as tables of named columns, whatever their format."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from quotakernels.cli import json_lines
from quotakernels.cli.dialect import (
    Dialect,
    are_grouped,
    as_decimals,
    decoding,
    dialect_of,
    has_marked_numbers,
    wrong_encoding,
)
from quotakernels.cli.errors import InputError, no_columns, no_rows
from quotakernels.cli.formats import (
    BLOCK_BYTES,
    READABLE,
    file_format,
    files_of,
    means_files,
    suffix_of,
)
from quotakernels.cli.given import given
from quotakernels.cli.kinds import unknown_kind
from quotakernels.cli.missing import missing_words, without_words
from quotakernels.cli.places import of_files
from quotakernels.cli.quotes import refuse_stray_quotes
from quotakernels.cli.streams import name_of
from quotakernels.cli.together import together

_TOO_LONG = f"a row has more than {BLOCK_BYTES // 2**20} MB"
_OF_RECORDS = "; put a cell that holds the separator in quotation marks, and close each of them"


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


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Turn what readers complain about into the error that names the file."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        said = _TOO_LONG if "straddl" in str(error) else str(error)
        hint = _OF_RECORDS if "columns, got" in said else ""
        raise InputError(f"{name_of(path)} cannot be read: {said}{hint}") from error


def picked_columns(path: Path, available: Sequence[str], names: Sequence[str] | None) -> list[str]:
    """Return the columns to read; refuse one that is not there, or there more than once."""
    picked = list(dict.fromkeys(available if names is None else names))
    if absent := [name for name in picked if name not in available]:
        raise no_columns(name_of(path), absent, available)
    for name in picked:
        if (count := available.count(name)) > 1:
            which = f"with the name {name!r}" if name else "without a name"
            raise InputError(f"{name_of(path)} has {count} columns {which}: give each its own")
    return picked


def csv_dialect(path: Path) -> Dialect:
    """How a file is written, as far as it and the options of the command tell."""
    return dialect_of(path, "\t" if suffix_of(path) == ".tsv" else ",")


def csv_options(dialect: Dialect) -> dict[str, Any]:
    """The same for Arrow's readers."""
    from pyarrow import csv as arrow_csv

    parse = arrow_csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True)
    read = arrow_csv.ReadOptions(
        block_size=BLOCK_BYTES, encoding=dialect.encoding, skip_rows=dialect.skipped
    )
    return {"parse_options": parse, "read_options": read}


def csv_names(path: Path) -> list[str]:
    """The names in the first line that counts."""
    from pyarrow import csv as arrow_csv

    dialect = csv_dialect(path)
    with (
        decoding(path, dialect.encoding),
        arrow_csv.open_csv(path, **csv_options(dialect)) as first_block,
    ):
        return list(first_block.schema.names)


def csv_table(path: Path, names: Sequence[str] | None, as_text: bool) -> pa.Table:
    """The columns of a CSV file, as numbers where they are, or exactly as they are written."""
    from pyarrow import csv as arrow_csv

    dialect = csv_dialect(path)
    refuse_stray_quotes(path, dialect.separator, dialect.encoding, dialect.skipped)
    picked = picked_columns(path, csv_names(path), names)
    if not as_text:
        dialect.refuse_doubtful(picked)
    convert = arrow_csv.ConvertOptions(
        include_columns=picked,
        null_values=[] if as_text else missing_words(),
        strings_can_be_null=not as_text,
        column_types=dict.fromkeys(picked, pa.string()) if as_text else None,
        decimal_point=dialect.decimal,
    )
    with decoding(path, dialect.encoding):
        table = arrow_csv.read_csv(path, **csv_options(dialect), convert_options=convert)
    if any(pa.types.is_binary(kind) for kind in table.schema.types):
        raise wrong_encoding(path, dialect.encoding)
    return table if as_text else _ungrouped(table, dialect.decimal)


def _ungrouped(table: pa.Table, decimal: str) -> pa.Table:
    """The table with numbers where texts are numbers with marks of thousands."""
    for place, name in enumerate(table.column_names):
        texts = table.column(place)
        if pa.types.is_string(texts.type) and are_grouped([texts], decimal):
            numbers = as_decimals(texts, decimal).cast(pa.float64())
            table = table.set_column(place, name, numbers)
    return table


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
    return list(json_lines.table_of(path).schema.names)


def _read_json(path: Path, names: Sequence[str] | None, _: bool) -> pa.Table:
    table = json_lines.table_of(path)
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
    return table if decimal is None else _ungrouped(table, decimal)


_READERS: dict[str, tuple[Callable[[Path], list[str]], Callable[..., pa.Table]]] = {
    "csv": (csv_names, csv_table),
    "parquet": (_parquet_names, _read_parquet),
    "arrow": (_arrow_names, _read_arrow),
    "excel": (_excel_names, _read_excel),
    "npz": (_npz_names, _read_npz),
    "json": (_json_names, _read_json),
}
