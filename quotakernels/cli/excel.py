"""Spreadsheets in .xlsx files: one sheet, with the names of the columns above their values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import chain, dropwhile, islice
from pathlib import Path
from types import NoneType
from typing import Any, BinaryIO
from zipfile import is_zipfile

import click
import openpyxl
import pyarrow as pa
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from quotakernels.cli.csv_files import FORMULAS, header_row, no_header_row, typed
from quotakernels.cli.errors import InputError, first_names, printable
from quotakernels.cli.given import given, missing_words
from quotakernels.cli.paths import name_of

_Row = tuple[Any, ...]
_SAID = f"{__name__}.said"
_VALUES = (bool, int, Decimal, date, time, timedelta)
_SURE_DIGITS = 15
"""Of numbers that spreadsheets keep; longer ones, such as those of customers, become texts."""
_MOST_ROWS, _MOST_CHARACTERS = 2**20, 2**15 - 1


def open_sheet(path: Path) -> tuple[list[str], Callable[[list[str]], list[pa.RecordBatch]]]:
    """The names of the columns, and what reads some of them; what is no value in a CSV file is none
    here.
    """
    words, decimal = frozenset(missing_words()), given().get("decimal")
    with _from_header(path) as rows:
        available = ["" if cell is None else str(cell) for cell in next(rows, ())]
        filled = [cells for cells in rows if any(cell is not None for cell in cells)]

    def read(names: list[str]) -> list[pa.RecordBatch]:
        places = {name: available.index(name) for name in names}
        cells = {name: [_cell(row, k, words) for row in filled] for name, k in places.items()}
        table = pa.table({name: _column(x) for name, x in cells.items()})
        return (table if decimal is None else typed(table, decimal)).to_batches()

    return available, read


def write(table: pa.Table, file: BinaryIO) -> None:
    """Write a table as the only sheet; a text stays a text, and a number the same number."""
    if table.num_rows >= _MOST_ROWS:
        raise InputError(f".xlsx holds {_MOST_ROWS:,} rows at most; write CSV or Parquet instead")
    book = openpyxl.Workbook(write_only=True)
    sheet, header = book.create_sheet(), table.schema.names
    with closing(sheet):
        sheet.append([_written(sheet, name, name, "the header") for name in header])
        for number, row in enumerate(zip(*(x.to_pylist() for x in table.columns), strict=True), 1):
            place = f"row {number} of the output"
            sheet.append([_written(sheet, *x, place) for x in zip(row, header, strict=True)])
    book.save(file)


def _written(sheet: Any, value: Any, name: str, place: str) -> Any:
    """A value, or a cell for one that would be taken for a formula or an error, or be rounded."""
    if isinstance(value, float) and math.isfinite(value):
        return _cell_of(sheet, repr(value), "n")
    if value is None or (isinstance(value, _VALUES) and getattr(value, "tzinfo", None) is None):
        if not isinstance(value, (int, Decimal)):
            return value
        digits = str(value).rstrip("0") if "." in str(value) else str(value)
        if sum(map(str.isdigit, digits)) <= _SURE_DIGITS:
            return value
        value = digits
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    if len(text) > _MOST_CHARACTERS or ILLEGAL_CHARACTERS_RE.search(text):
        what = f"a text of {len(text):,} characters" if len(text) > _MOST_CHARACTERS else repr(text)
        raise InputError(f"column {name!r}: {what} in {place} cannot be written to .xlsx")
    return _cell_of(sheet, text, "s")


def _cell_of(sheet: Any, text: str, kind: str) -> Any:
    """A cell of a kind; a text that editing would turn into a formula is marked as one."""
    cell = WriteOnlyCell(sheet, text)
    cell.data_type = kind
    if kind == "s" and text.startswith(FORMULAS):
        cell.quotePrefix = True
    return cell


@contextmanager
def _from_header(path: Path) -> Iterator[Iterator[_Row]]:
    """The rows of the sheet from the one that names the columns on."""
    with _opened(path) as sheet:
        rows = sheet.iter_rows(values_only=True)
        filled = dropwhile(_is_empty, islice(rows, (header_row() or 1) - 1, None))
        if (first := next(filled, None)) is None and header_row() is not None:
            raise no_header_row(name_of(path))
        yield filled if first is None else chain([first], filled)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The sheet; what is wrong with the file shows up when it is opened or while it is read."""
    if not is_zipfile(path):
        what = "is not an .xlsx file, whatever its name; save it as one, or as CSV UTF-8"
        raise InputError(f"{name_of(path)} {what}")
    try:
        with path.open("rb") as file:  # which openpyxl leaves open if it is damaged
            yield _sheet(path, openpyxl.load_workbook(file, True, data_only=True).worksheets)
    except InputError:
        raise
    except Exception as error:  # of many kinds: XML, zip, missing parts, values
        said = f"cannot be read: it is damaged, or not an .xlsx file ({error})"
        raise InputError(f"{name_of(path)} {said}; save it again as .xlsx, or as CSV") from error


def _sheet(path: Path, sheets: Sequence[Any]) -> Any:
    """The sheet that the user names or counts, or else the first."""
    asked = given().get("sheet")
    if not sheets:
        raise InputError(f"{name_of(path)} has no sheet with cells, only charts")
    if asked is None:
        if len(sheets) > 1:
            which = f"the sheet {sheets[0].title!r} is read, the first of several"
            others = first_names([repr(x.title) for x in sheets[1:]])
            _say_once(f"{name_of(path)}: {which}; --sheet reads another: {others}")
        return sheets[0]
    named = [x for x in sheets if x.title.casefold() == asked.casefold()]
    if not named and asked.isdecimal():
        named = list(sheets[int(asked) - 1 :])[:1] if int(asked) else []
    if not named:
        titles = first_names([repr(x.title) for x in sheets])
        raise InputError(f"{name_of(path)} has no sheet {asked!r}; it has {titles}")
    return named[0]


def _say_once(text: str) -> None:
    """Tell something of a file that may be opened several times."""
    ctx = click.get_current_context(silent=True)
    said = set() if ctx is None else ctx.meta.setdefault(_SAID, set())
    if text not in said:
        said.add(text)
        click.echo(printable(text), err=True)


def _is_empty(row: _Row) -> bool:
    return all(cell is None or not str(cell).strip() for cell in row)


def _cell(row: _Row, place: int, words: frozenset[str]) -> Any:
    value = row[place] if place < len(row) else None
    return None if str(value) in words else value


def _column(cells: list[Any]) -> pa.Array:
    """Values of one type; of numbers floats, or else texts with the decimal mark of the others."""
    numbers = all(isinstance(x, (int, float, NoneType)) and not isinstance(x, bool) for x in cells)
    with suppress(pa.ArrowException, OverflowError):
        return pa.array(cells)
    if numbers:
        return pa.array([x if x is None else float(x) for x in cells])
    return pa.array([None if cell is None else _text(cell) for cell in cells])


def _text(cell: Any) -> str:
    mark = given().get("decimal") or "."
    return str(cell).replace(".", mark) if isinstance(cell, float) else str(cell)
