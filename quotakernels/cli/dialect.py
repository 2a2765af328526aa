"""How a CSV file is written: its separator, its decimal mark and its encoding."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from quotakernels.cli.errors import InputError
from quotakernels.cli.formats import suffix_of
from quotakernels.cli.given import given
from quotakernels.cli.header import (
    ROWS_TRIED,
    header_row,
    names_below,
    no_header_row,
    row_of,
    title_above,
)
from quotakernels.cli.kinds import refuse_other_kinds
from quotakernels.cli.missing import missing_words
from quotakernels.cli.quotes import refuse_stray_quotes
from quotakernels.cli.streams import name_of

_BYTES = 2**16
"""Of the beginning, which tells how the file is written."""
_SEPARATORS = (",", ";", "\t", "|")
_NUMBER = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+(,\d+)?|\d*(,\d+|\d))([eE][+-]?\d+)?")
_EMPTY = re.compile(r"([ ,;|\t\"]*\r?\n)+")
_TOLD = re.compile(r"sep=([,;|\t])\r?\n")
_POINTS = re.compile(r"[+-]?[\d.]*\d([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?(\d{1,3}|[1-9]\d{0,2}(\.\d{3})+)")
"""A number of thousands with all its points, or of less."""
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")


class Dialect(NamedTuple):
    """The separator of columns, the decimal mark of numbers, the encoding, lines to skip, and the
    columns whose points may mark thousands.
    """

    separator: str
    decimal: str
    encoding: str
    skipped: int = 0
    doubtful: tuple[str, ...] = ()

    def refuse_doubtful(self, names: Sequence[str]) -> None:
        """Raise if one of the columns is in doubt."""
        for name in names:
            if name in self.doubtful:
                raise InputError(
                    f"column {name!r}: all its points may mark thousands, so 1.250 may be 1250; "
                    "give --decimal , if they do, or --decimal . if they mark decimals"
                )


def dialect_of(path: Path, separator: str = ",") -> Dialect:
    """What the user says, or else what the beginning of a file tells.

    Of separators that fit alike, the one that is usual for the file's name is taken.
    """
    import pyarrow as pa

    said = given()
    with pa.input_stream(str(path), compression="detect") as stream:
        first = stream.read(_BYTES)
    refuse_other_kinds(path, first)
    encoding = said.get("encoding") or _encoding(path, first)
    text = first.decode(encoding, errors="replace").removeprefix("\ufeff")
    if len(first) == _BYTES:  # the last record may be cut
        text = text[: text.rfind("\n") + 1] or text
    told = _TOLD.match(text)  # a first line for the spreadsheet, which is no record
    skipped, text = _from_header(path, text, told.end() if told else 0)
    found = said.get("sep") or (told[1] if told else _separator(text, separator))
    records = _records(text, found)
    others = () if said.get("sep") or _are_alike(records) else _SEPARATORS
    if "\0" not in text and (title := _title(path, text, skipped, (found, *others))):
        refuse_stray_quotes(path, found, encoding, skipped)  # which make it look so
        raise title
    if (decimal := said.get("decimal")) is not None:
        return Dialect(found, decimal, encoding, skipped)
    decimal = _decimal(records, found)
    doubtful = _doubtful(records) if decimal == "." and found != "," else ()
    return Dialect(found, decimal, encoding, skipped, doubtful)


def written_like(output: Path, source: Path | None) -> Dialect:
    """How to write a CSV file beside the one that was read: for the same spreadsheet."""
    source_dialect = Dialect(",", ".", "utf-8") if source is None else dialect_of(source)
    separator, decimal = source_dialect.separator, source_dialect.decimal
    renamed = source is not None and suffix_of(source) != output.suffix.lower()
    if output.suffix.lower() == ".tsv":
        separator = "\t"
    elif separator == decimal or (separator == "\t" and renamed):
        separator = ";" if decimal == "," else ","
    encoding = _encoding_to_write(source, source_dialect.encoding)
    return Dialect(separator, decimal, encoding)


def _encoding_to_write(source: Path | None, encoding: str) -> str:
    """UTF-8; with a byte order mark, by which spreadsheets know it, if the source has one or is in
    another encoding.
    """
    import pyarrow as pa

    if source is None:
        return "utf-8"
    with pa.input_stream(str(source), compression="detect") as stream:
        marked = stream.read(3) == codecs.BOM_UTF8
    return "utf-8-sig" if marked or encoding not in ("utf-8", "ascii") else "utf-8"


@contextmanager
def decoding(path: Path, encoding: str) -> Iterator[None]:
    """Say what helps where a file is in another encoding."""
    import pyarrow as pa

    try:
        yield
    except (UnicodeError, pa.ArrowInvalid) as error:
        if isinstance(error, UnicodeError) or "invalid UTF8" in str(error):
            raise wrong_encoding(path, encoding) from error
        raise


def wrong_encoding(path: Path, encoding: str) -> InputError:
    """The error of a file in another encoding."""
    name = "UTF-8" if encoding == "utf-8" else encoding
    return InputError(
        f"{name_of(path)} is not text in {name}; files of older spreadsheets are often in "
        "Latin-1: try --encoding latin-1 (or cp1252), or save it as UTF-8"
    )


def _encoding(path: Path, first: bytes) -> str:
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in first:
        raise InputError(
            f"{name_of(path)} is not text in UTF-8; it looks like UTF-16 without a byte order "
            "mark: try --encoding utf-16-le (or utf-16-be)"
        )
    return "utf-8"


def _from_header(path: Path, text: str, start: int) -> tuple[int, str]:
    """How many lines come before the names of the columns, and the text from there on.

    Lines without values are not counted among the records, wherever they are.
    """
    if (row := header_row()) is None:
        empty = _EMPTY.match(text, start)
        start = start if empty is None else empty.end()
        return text.count("\n", 0, start), text[start:]
    *above, below = text.split("\n", row - 1)
    if len(above) < row - 1 or not below:
        raise no_header_row(name_of(path))
    return row - 1, below


def _title(path: Path, text: str, skipped: int, separators: Iterable[str]) -> InputError | None:
    """The error of a first line that holds a title by one of some separators, if it does."""
    for separator in separators:
        rows = _numbered(text, separator, skipped)
        beginning = [row_of(*x) for x in islice(rows, 1 + ROWS_TRIED)]
        if names := names_below(beginning):
            return title_above(name_of(path), beginning[0], names)
    return None


def _records(text: str, separator: str) -> list[list[str]]:
    return [cells for _, cells in _numbered(text, separator)]


def _numbered(text: str, separator: str, before: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The records, each with the number of its first line, where some lines come before all."""
    reader, number = csv.reader(io.StringIO(text, newline=""), delimiter=separator), 1
    for cells in reader:
        if cells:
            yield before + number, cells
        number = reader.line_num + 1


def _are_alike(records: list[list[str]]) -> bool:
    """Whether all records have as many columns, of which there are several."""
    return len({len(x) for x in records}) == 1 and len(records[0]) > 1


def as_decimals(texts: Any, decimal: str) -> Any:
    """Numbers as texts with a decimal point and without marks of thousands."""
    import pyarrow.compute as pc

    ungrouped = pc.replace_substring(texts, mark_of_thousands(decimal), "")
    return pc.replace_substring(ungrouped, decimal, ".")


def are_grouped(columns: Iterable[Any], decimal: str) -> bool:
    """Whether all texts, of all parts of a column, are numbers, of which some have marks of
    thousands and of decimals: `1.250,00`.

    Where none has both, `1.250` may be either, unless the user says which mark is that of decimals;
    `0.250` is no number of thousands.
    """
    import pyarrow.compute as pc

    group, point = re.escape(mark_of_thousands(decimal)), re.escape(decimal)
    number = rf"^[+-]?([1-9]\d{{0,2}}({group}\d{{3}})+|\d+)({point}\d+)?$"
    some = given().get("decimal") is not None
    for texts in columns:
        if pc.all(pc.match_substring_regex(texts, number)).as_py() is False:
            return False
        both = pc.match_substring_regex(texts, rf"{group}\d{{3}}{point}\d")
        some = some or bool(pc.any(both).as_py())
    return some


def has_marked_numbers(table: Any) -> bool:
    """Whether some texts of a table are numbers with points or commas."""
    import pyarrow.compute as pc

    number = r"^\s*[+-]?[\d,]*[.,]\d+([eE][+-]?\d+)?\s*$"
    return any(pc.any(pc.match_substring_regex(x, number)).as_py() for x in table.itercolumns())


def mark_of_thousands(decimal: str) -> str:
    """The other one of point and comma."""
    return "," if decimal == "." else "."


def _separator(text: str, usual: str) -> str:
    """The separator that cuts all records alike, into most columns; or else the first record."""

    def columns(separator: str) -> tuple[bool, int, bool]:
        records = _records(text, separator)
        return _are_alike(records), len(records[0]) if records else 0, separator == usual

    return max(_SEPARATORS, key=columns)


def _decimal(records: list[list[str]], separator: str) -> str:
    """A comma where a column has numbers with commas that are not those of thousands."""
    if separator == ",":
        return "."
    for _, cells in _columns(records):
        commas = [cell for cell in cells if "," in cell]
        numbers = commas and all(_NUMBER.fullmatch(cell) for cell in cells)
        if numbers and (separator == ";" or not all(_THOUSANDS.fullmatch(x) for x in commas)):
            return ","
    return "."


def _doubtful(records: list[list[str]]) -> tuple[str, ...]:
    """The columns of numbers whose points may all mark thousands; none if a column tells that
    points mark decimals.
    """
    found = []
    for name, cells in _columns(records):
        if any("." in x for x in cells) and all(map(_POINTS.fullmatch, cells)):
            if not all(map(_WHOLE.fullmatch, cells)):
                return ()
            found.append(name)
    return tuple(found)


def _columns(records: list[list[str]]) -> Iterator[tuple[str, list[str]]]:
    """The columns with their names, without the cells that hold no value."""
    none = (*missing_words(), "NaN", "nan")
    for name, *column in zip(*records, strict=False):
        yield name, [cell.strip() for cell in column if cell.strip() not in none]
