"""Data files as tables of named columns, whatever their format: read, and written."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from quotakernels._replacing import is_stdout, is_stream, replacing
from quotakernels._text import counted, number
from quotakernels.cli.columns import filtered, origins, placed, plain
from quotakernels.cli.csv_files import Dialect, csv_dialect, escaped, open_csv, typed, written_like
from quotakernels.cli.errors import InputError, no_rows
from quotakernels.cli.given import given
from quotakernels.cli.paths import (
    FORMATS,
    READABLE,
    WRITABLE,
    file_format,
    files_of,
    means_files,
    name_of,
    picked_columns,
    refusing,
    unknown_kind,
)

_ROWS_AT_ONCE = 2**18
_Opened = tuple[list[str], Callable[[list[str]], Iterable[pa.RecordBatch]]]
"""The names of a file's columns, and what reads some of them."""


def read_batches(path: Path, names: Sequence[str] | None = None) -> Iterator[pa.Table]:
    """Go over the rows of a file, or of several, as they are: all columns, or the named ones in
    types that Arrow can compare, which know where their rows are from.

    Cells of text files are as they are written there.
    """
    several = means_files(path)
    for file in files_of(path):
        with refusing(file):
            available, read = _opened(file)
            told = _told_by_folders(file, available, names) if several else {}
            own = None if names is None else [x for x in names if x not in told]
            picked, before = picked_columns(file, available, own), 0
            for batch in read(picked):
                whole = pa.Table.from_batches([batch]).select(picked)
                for part in whole.to_batches(_ROWS_AT_ONCE):
                    table = _with_told(pa.Table.from_batches([part]), told)
                    origin = (str(file) if several else "", before, table.num_rows)
                    yield table if names is None else placed(plain(table), [origin])
                    before += table.num_rows


def read_table(
    path: Path, names: Sequence[str] | None = None, *, as_text: bool = False
) -> pa.Table:
    """Read the named columns of a file, or all of them.

    `as_text` keeps the cells of text files exactly as they are written there.
    """
    if not (parts := list(read_batches(path, names))):
        raise no_rows(name_of(path))
    with refusing(path):
        table = pa.concat_tables(parts, promote_options="permissive")
    if not as_text:
        table = values_of(path)(table)
    if names is None:  # all is written, and has no errors to place
        return table
    return _without_words(placed(table, [x for part in parts for x in origins(part)]))


def read_rows(path: Path, rows: NDArray[np.intp], *, as_text: bool) -> pa.Table:
    """The rows at these places, in this order; of Parquet and Arrow files few others are read."""
    if file_format(path) not in ("parquet", "arrow"):
        return read_table(path, as_text=as_text).take(rows)
    order, found, before = np.argsort(rows), [], 0
    for table in read_batches(path):
        first, last = np.searchsorted(rows, [before, before + table.num_rows], sorter=order)
        found.append(table.take(rows[order[first:last]] - before))
        before += table.num_rows
    with refusing(path):
        return pa.concat_tables(found, promote_options="permissive").take(np.argsort(order))


def values_of(path: Path) -> Callable[[pa.Table], pa.Table]:
    """What makes values of the cells of text files; one of them tells the decimal mark of all."""
    if file_format(path) == "json":
        return lambda texts: typed(texts, ".")
    if file_format(path) != "csv":
        return lambda table: table
    dialects = {x: csv_dialect(x) for x in files_of(path)}
    told = {dialect.decimal: x for x, dialect in dialects.items() if dialect.told}
    if len(told) > 1:
        raise InputError(
            f"the decimal mark of {told[',']} is a comma and that of {told['.']} is a point; use "
            "the same in all files"
        )
    decimal = "," if any(x.decimal == "," for x in dialects.values()) else "."

    def values(texts: pa.Table) -> pa.Table:
        for dialect in dialects.values():
            dialect.refuse_doubtful(texts.column_names)
        return typed(texts, decimal)

    return values


def column_names(path: Path) -> list[str]:
    """Return the names of a file's columns, of several files the first one's."""
    with refusing(first := files_of(path)[0]):
        names, _ = _opened(first)
        return [*names, *_told_by_folders(first, names, None)] if means_files(path) else names


def _told_by_folders(
    file: Path, available: Sequence[str], names: Sequence[str] | None
) -> dict[str, str]:
    """Columns that are in the names of folders, such as `day=7`, and not in the file, as texts."""
    pairs = (x.partition("=") for x in file.parent.parts)
    told = {name: unquote(text) for name, equals, text in pairs if equals}
    wanted = told if names is None else dict.fromkeys(names)
    return {name: told[name] for name in wanted if name in told and name not in available}


def _with_told(table: pa.Table, told: Mapping[str, str]) -> pa.Table:
    """The table with the same text in every row for each column that folders tell."""
    for name, text in told.items():
        table = table.append_column(name, pa.repeat(text, table.num_rows))
    return table


def _opened(path: Path) -> _Opened:
    try:
        return _OPENERS[file_format(path)](path)
    except KeyError:
        raise unknown_kind(path, READABLE) from None


def _parquet(path: Path) -> _Opened:
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    # Parquet takes `a` for the parent of `a.b` as well.
    return file.schema_arrow.names, lambda names: file.iter_batches(_ROWS_AT_ONCE, columns=names)


def _arrow(path: Path) -> _Opened:
    source = pa.memory_map(str(path))
    available = _open_arrow(source).schema.names

    def read(names: list[str]) -> Iterable[pa.RecordBatch]:
        fields = [available.index(name) for name in names]
        reader = _open_arrow(source, pa.ipc.IpcReadOptions(included_fields=fields))
        if isinstance(reader, pa.ipc.RecordBatchFileReader):
            return map(reader.get_batch, range(reader.num_record_batches))
        return reader

    return available, read


def _open_arrow(source: pa.NativeFile, options: pa.ipc.IpcReadOptions | None = None) -> Any:
    """Open the layout for files, or else the one for streams, which carries the same suffix."""
    for opener in (pa.ipc.open_file, pa.ipc.open_stream):
        source.seek(0)
        try:
            return opener(source, options=options)
        except pa.ArrowInvalid as error:
            failure = error
    raise failure


def _json(path: Path) -> _Opened:
    rows = list(_json_rows(path))
    available = list(dict.fromkeys(name for row in rows for name in row))

    def read(names: list[str]) -> Iterable[pa.RecordBatch]:
        cells = [pa.array([_json_cell(x.get(name)) for x in rows], pa.string()) for name in names]
        return [pa.record_batch(cells, names)]

    return available, read


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows one after the other, whose numbers are texts with all their digits."""
    with pa.input_stream(str(path), compression="detect") as stream:
        lines = io.TextIOWrapper(stream, "utf-8-sig", errors="replace")
        for place, line in enumerate(lines, 1):
            if line.strip():
                try:
                    row = json.loads(line, parse_float=str, parse_int=str, parse_constant=str)
                except (ValueError, RecursionError) as error:
                    said = f"{name_of(path)}: line {place} is not JSON: {error}"
                    raise InputError(said) from error
                if not isinstance(row, dict):
                    raise InputError(f"{name_of(path)}: line {place} is not an object")
                yield row


def _json_cell(value: Any) -> str | None:
    return value if isinstance(value, str) or value is None else json.dumps(value)


def _excel(path: Path) -> _Opened:
    from quotakernels.cli import excel

    return excel.open_sheet(path)


_OPENERS: dict[str, Callable[[Path], _Opened]] = {
    "csv": open_csv,
    "parquet": _parquet,
    "arrow": _arrow,
    "excel": _excel,
    "json": _json,
}


# rows with missing values


def _without_words(table: pa.Table) -> pa.Table:
    """The table with no value where a cell, as text, is what the user says means so."""
    words, rows = given().get("missing"), pa.array(range(table.num_rows))
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if words and not pa.types.is_nested(column.type):
            texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
            missing = pc.is_in(texts.combine_chunks(), value_set=pa.array(words))
            # Taking the row None gives a missing value of any type.
            table = table.set_column(place, name, column.take(pc.if_else(missing, None, rows)))
    return table


def without_missing(table: pa.Table) -> pa.Table:
    """The rows with a value in every column, where others are left out; their number is said."""
    if not given().get("drop_missing"):
        return table
    missing = [pc.is_null(x, nan_is_null=True) for x in table.columns]
    left_out = reduce(pc.or_, missing)
    if rows := pc.sum(left_out).as_py():
        counts = zip(table.column_names, (pc.sum(x).as_py() for x in missing), strict=True)
        where = ", ".join(f"{number(n)} in {name!r}" for name, n in counts if n)
        have = "has a missing value and is" if rows == 1 else "have a missing value and are"
        of_all = f"{number(rows)} of {counted(table.num_rows, 'row', 'rows')}"
        if rows == table.num_rows:
            raise InputError(f"no row is left: all have a missing value: {where}")
        click.echo(f"{of_all} {have} left out: {where}", err=True)
    return filtered(table, pc.invert(left_out))


# files that are written


_ROWS_WRITTEN = 2**16
_LINE_END = "\r\n"


def output_format(path: Path) -> str:
    """Tell the format in which to write a file by its name; CSV to a stream without a suffix."""
    found = FORMATS.get(path.suffix.lower(), "")
    if found == "csv" or found in _WRITERS:
        return found
    if not path.suffix and is_stream(path):
        return "csv"
    raise InputError(f"{path.name}: unknown file type to write, expected {WRITABLE}")


def write_table(path: Path, table: pa.Table, source: Path | None = None) -> None:
    """Write a table in the format that the file's name asks for; CSV as that of a source is."""
    if output_format(path) == "csv":
        in_text = source is not None and file_format(source) == "csv"
        dialect = written_like(path, _telling(files_of(source)) if source and in_text else None)
        with output_file(path) as file:
            _write_csv(table, file, dialect)
        return
    with output_file(path) as file:
        _WRITERS[output_format(path)](table, file)


def _telling(files: Sequence[Path]) -> Path:
    """The file that tells how to write the rows of all: the first with decimal commas, if any."""
    return next((x for x in files if csv_dialect(x).decimal == ","), files[0])


@contextmanager
def output_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that is written whole or not at all; an error names it."""
    try:
        with replacing(path) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, BrokenPipeError) and is_stdout(path):
            raise
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be written: {reason}") from error


class _Lines(io.StringIO):
    """Lines that end in a line feed, of a writer that quotes cells with a carriage return too."""

    def write(self, line: str) -> int:
        """Write a line, which the writer passes on whole."""
        return super().write(line.removesuffix(_LINE_END) + "\n")


def _write_csv(table: pa.Table, file: BinaryIO, dialect: Dialect) -> None:
    # Python's writer quotes only what needs it; Arrow's puts quotes around every text.
    text = _Lines(newline="")
    if dialect.encoding == "utf-8-sig":
        file.write(codecs.BOM_UTF8)
    writer = csv.writer(text, delimiter=dialect.separator, lineterminator=_LINE_END)
    kept = escaped if given().get("escape_formulas") else lambda cell: cell
    writer.writerow(map(kept, table.schema.names))
    for batch in table.to_batches(max_chunksize=_ROWS_WRITTEN):
        cells = (map(kept, _cells(x, dialect)) for x in batch.columns)
        writer.writerows(zip(*cells, strict=True))
        file.write(text.getvalue().encode())
        text.seek(0)
        text.truncate()
    file.write(text.getvalue().encode())


def _cells(column: pa.Array, dialect: Dialect) -> list[Any]:
    cells: list[Any] = column.to_pylist()
    if dialect.decimal == "." or not pa.types.is_floating(column.type):
        return cells
    return [None if cell is None else str(cell).replace(".", dialect.decimal) for cell in cells]


def _write_parquet(table: pa.Table, file: BinaryIO) -> None:
    from pyarrow import parquet

    parquet.write_table(table, file)


def _write_arrow(table: pa.Table, file: BinaryIO) -> None:
    from pyarrow import feather

    feather.write_feather(table, file)


def _write_excel(table: pa.Table, file: BinaryIO) -> None:
    from quotakernels.cli import excel

    excel.write(table, file)


_WRITERS = {"parquet": _write_parquet, "arrow": _write_arrow, "excel": _write_excel}
