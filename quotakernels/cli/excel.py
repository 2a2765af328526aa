"""Spreadsheets in .xlsx files: the first sheet, with the names of the columns in its first row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import click
import openpyxl
import pyarrow as pa
from openpyxl.utils.exceptions import InvalidFileException

from quotakernels.cli.dialect import MISSING
from quotakernels.cli.errors import InputError
from quotakernels.cli.streams import name_of
from quotakernels.cli.terminal import printable


def names(path: Path) -> list[str]:
    """The names of the columns."""
    with _rows(path) as rows:
        return _names(next(rows, ()))


def read(path: Path, picked: Sequence[str]) -> pa.Table:
    """The columns of these names; what is no value in a CSV file is none here."""
    with _rows(path) as rows:
        places = {name: k for k, name in enumerate(_names(next(rows, ())))}
        filled = [row for row in rows if any(cell is not None for cell in row)]
    return pa.table(
        {name: _column([_cell(row, places[name]) for row in filled]) for name in picked}
    )


def write(table: pa.Table, file: BinaryIO) -> None:
    """Write a table as the only sheet."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append(table.schema.names)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        sheet.append(row)
    book.save(file)


@contextmanager
def _rows(path: Path) -> Iterator[Iterator[tuple[Any, ...]]]:
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except (InvalidFileException, KeyError) as error:
        raise InputError(f"{name_of(path)} is not an .xlsx file") from error
    try:
        first, *others = book.worksheets
        if others:
            said = f"{name_of(path)}: the sheet {first.title!r} is read, the first of several"
            click.echo(printable(said), err=True)
        yield first.iter_rows(values_only=True)
    finally:
        book.close()


def _names(row: tuple[Any, ...]) -> list[str]:
    return ["" if cell is None else str(cell) for cell in row]


def _cell(row: tuple[Any, ...], place: int) -> Any:
    value = row[place] if place < len(row) else None
    return None if value in MISSING else value


def _column(cells: list[Any]) -> pa.Array:
    """Values of one type, or else their texts."""
    try:
        return pa.array(cells)
    except pa.ArrowException:
        return pa.array([None if cell is None else str(cell) for cell in cells])
