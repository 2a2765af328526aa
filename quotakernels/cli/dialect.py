"""How a CSV file is written: its separator, its decimal mark and its encoding."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click

from quotakernels.cli.errors import InputError
from quotakernels.cli.streams import name_of

_BYTES = 2**16
"""Of the beginning, which tells how the file is written."""
_SEPARATORS = (",", ";", "\t", "|")
MISSING = (
    *("", "NA", "N/A", "n/a", "null", "NULL", "None"),
    *("#N/A", "#NV", "#N/D", "#DIV/0!", "#VALUE!", "#WERT!", "#REF!", "#NUM!", "#NAME?"),
)
"""A NaN is not among them: it is a number that the user shall hear about."""
_NUMBER = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+(,\d+)?|\d*(,\d+|\d))([eE][+-]?\d+)?")
_TOLD = re.compile(r"sep=([,;|\t])\r?\n")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_GIVEN = f"{__name__}.given"


class Dialect(NamedTuple):
    """The separator of columns, the decimal mark of numbers, the encoding, and lines to skip."""

    separator: str
    decimal: str
    encoding: str
    skipped: int = 0


def keep(ctx: click.Context, option: click.Parameter, value: str | None) -> None:
    """Keep what the user says of a dialect for as long as the command runs."""
    ctx.meta.setdefault(_GIVEN, {})[option.name] = value


def given() -> dict[str, str | None]:
    """What the user says of a dialect, by the names of the options."""
    ctx = click.get_current_context(silent=True)
    return {} if ctx is None else ctx.meta.get(_GIVEN, {})


def dialect_of(path: Path, separator: str = ",") -> Dialect:
    """What the user says, or else what the beginning of a file tells.

    Of separators that fit alike, the one that is usual for the file's name is taken.
    """
    import pyarrow as pa

    said = given()
    with pa.input_stream(str(path), compression="detect") as stream:
        first = stream.read(_BYTES)
    encoding = said.get("encoding") or _encoding(path, first)
    text = first.decode(encoding, errors="replace").removeprefix("\ufeff")
    if len(first) == _BYTES:  # the last record may be cut
        text = text[: text.rfind("\n") + 1] or text
    told = _TOLD.match(text)  # a first line for the spreadsheet, which is no record
    text = text[told.end() :] if told else text
    found = said.get("sep") or (told[1] if told else _separator(text, separator))
    decimal = said.get("decimal") or _decimal(_records(text, found), found)
    return Dialect(found, decimal, encoding, 1 if told else 0)


def written_like(output: Path, source: Path | None) -> Dialect:
    """How to write a CSV file beside the one that was read: for the same spreadsheet."""
    source_dialect = Dialect(",", ".", "utf-8") if source is None else dialect_of(source)
    semicolons = source_dialect.separator == ";" or source_dialect.decimal == ","
    separator = "\t" if output.suffix.lower() == ".tsv" else ";" if semicolons else ","
    return Dialect(separator, source_dialect.decimal, _encoding_to_write(source))


def _encoding_to_write(source: Path | None) -> str:
    """UTF-8; with a byte order mark, which spreadsheets look for, if the source has one."""
    import pyarrow as pa

    if source is None:
        return "utf-8"
    with pa.input_stream(str(source), compression="detect") as stream:
        first = stream.read(3)
    marks = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return "utf-8-sig" if first.startswith(marks) else "utf-8"


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


def _records(text: str, separator: str) -> list[list[str]]:
    return [x for x in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if x]


def as_decimals(texts: Any, decimal: str) -> Any:
    """Numbers as texts with a decimal point and without marks of thousands."""
    import pyarrow.compute as pc

    ungrouped = pc.replace_substring(texts, mark_of_thousands(decimal), "")
    return pc.replace_substring(ungrouped, decimal, ".")


def are_grouped(columns: Iterable[Any], decimal: str) -> bool:
    """Whether all texts, of all parts of a column, are numbers, of which some have marks of
    thousands and of decimals: `1.250,00`.

    Where none has both, `1.250` may be either; `0.250` is no number of thousands.
    """
    import pyarrow.compute as pc

    group, point = re.escape(mark_of_thousands(decimal)), re.escape(decimal)
    number = rf"^[+-]?([1-9]\d{{0,2}}({group}\d{{3}})+|\d+)({point}\d+)?$"
    some = False
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
        sizes = [len(record) for record in _records(text, separator)]
        alike = len(set(sizes)) == 1 and sizes[0] > 1
        return alike, sizes[0] if sizes else 0, separator == usual

    return max(_SEPARATORS, key=columns)


def _decimal(records: list[list[str]], separator: str) -> str:
    """A comma where a column has numbers with commas that are not those of thousands."""
    if separator == ",":
        return "."
    for column in zip(*records[1:], strict=False):
        cells = [cell.strip() for cell in column if cell.strip() not in (*MISSING, "NaN", "nan")]
        commas = [cell for cell in cells if "," in cell]
        numbers = commas and all(_NUMBER.fullmatch(cell) for cell in cells)
        if numbers and (separator == ";" or not all(_THOUSANDS.fullmatch(x) for x in commas)):
            return ","
    return "."
