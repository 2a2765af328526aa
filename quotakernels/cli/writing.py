"""Tables as files, in the format that a name asks for."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from quotakernels._replacing import is_stdout, is_stream, replacing
from quotakernels.cli.csv_files import Dialect, csv_dialect, escaped, written_like
from quotakernels.cli.errors import InputError
from quotakernels.cli.given import given
from quotakernels.cli.paths import FORMATS, WRITABLE, file_format, files_of

_ROWS_AT_ONCE = 2**16
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
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
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
