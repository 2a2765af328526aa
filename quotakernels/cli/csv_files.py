"""CSV files: how each is written, as far as it tells, and its columns, first as texts."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from quotakernels.cli.errors import InputError
from quotakernels.cli.given import given, missing_words
from quotakernels.cli.paths import BLOCK_BYTES, blocks_of, name_of, refuse_other_kinds, suffix_of

# how a file is written


_BYTES = 2**16
"""Of the beginning, which tells how the file is written."""
_SEPARATORS = (",", ";", "\t", "|")
_EMPTY = re.compile(r"([ ,;|\t\"]*\r?\n)+")
_SEPARATOR_LINE = re.compile(r"sep=([,;|\t])\r?\n")
_COMMA_NUMBER = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+(,\d+)?|\d*(,\d+|\d))([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_POINT_NUMBER = re.compile(r"[+-]?[\d.]*\d([eE][+-]?\d+)?")
_COMMA_WHOLE = re.compile(r"[+-]?(\d{1,3}|[1-9]\d{0,2}(\.\d{3})+)")
"""A number of thousands with all its points, or of less."""


class Dialect(NamedTuple):
    """The separator of columns, the decimal mark of numbers, the encoding, lines to skip, the
    columns whose points may mark thousands, and whether numbers tell the decimal mark.
    """

    separator: str
    decimal: str
    encoding: str
    skipped: int = 0
    doubtful: tuple[str, ...] = ()
    told: bool = False

    def refuse_doubtful(self, names: Sequence[str]) -> None:
        """Raise if one of the columns is in doubt."""
        for name in names:
            if name in self.doubtful:
                raise InputError(
                    f"column {name!r}: all its points may mark thousands, so 1.250 may be 1250; "
                    "give --decimal , if they do, or --decimal . if they mark decimals"
                )


def header_row() -> int | None:
    """The row with the names of the columns, if the user gives it."""
    found: int | None = given().get("header_row")
    return found


def no_header_row(source: str) -> InputError:
    """The error of a row that the file does not have."""
    return InputError(f"{source} has no row {header_row()}, which --header-row asks for")


def csv_dialect(path: Path) -> Dialect:
    """What the user says of how a file is written, or else what its beginning tells."""
    return _dialect(path, _changed(path), tuple(given().items()))


def _changed(path: Path) -> tuple[int, int]:
    return path.stat().st_mtime_ns, path.stat().st_size


@lru_cache(maxsize=64)  # a file is read in several passes
def _dialect(path: Path, _: tuple[int, int], _said: tuple[Any, ...]) -> Dialect:
    said = given()
    with pa.input_stream(str(path), compression="detect") as stream:
        first = stream.read(_BYTES)
    refuse_other_kinds(path, first)
    encoding = said.get("encoding") or _encoding(path, first)
    text = first.decode(encoding, errors="replace").removeprefix("\ufeff")
    if len(first) == _BYTES:  # the last record may be cut
        text = text[: text.rfind("\n") + 1] or text
    told = _SEPARATOR_LINE.match(text)  # a first line for the spreadsheet, which is no record
    skipped, text = _from_header(path, text, told.end() if told else 0)
    usual = "\t" if suffix_of(path) == ".tsv" else ","
    separator = said.get("sep") or (told[1] if told else _separator(text, usual))
    decimal, doubtful, sure = _marks(_records(text, separator), separator)
    if said.get("decimal") is not None:
        decimal, doubtful, sure = said["decimal"], (), False
    dialect = Dialect(separator, decimal, encoding, skipped, doubtful, sure)
    _refuse_stray_quotes(path, dialect)
    return dialect


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


def _records(text: str, separator: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return [cells for cells in reader if cells]


def _separator(text: str, usual: str) -> str:
    """The separator that cuts all records alike, into most columns; or else the first record.

    Of separators that fit alike, the usual one of the file's name is taken.
    """

    def columns(separator: str) -> tuple[bool, int, bool]:
        records = _records(text, separator)
        width = len(records[0]) if records else 0
        return width > 1 and len(set(map(len, records))) == 1, width, separator == usual

    return max(_SEPARATORS, key=columns)


def _marks(records: list[list[str]], separator: str) -> tuple[str, tuple[str, ...], bool]:
    """The decimal mark, the columns of numbers whose points may all mark thousands, and whether
    numbers tell the mark.

    It is a comma where a column has numbers with commas that are not those of thousands. No column
    is in doubt if one tells that points mark decimals.
    """
    none, doubtful, sure = {*missing_words(), "NaN", "nan"}, [], False
    for name, *column in zip(*records, strict=False):
        cells = [x for cell in column if (x := cell.strip()) not in none]
        commas = [x for x in cells if "," in x]
        only_thousands = separator != ";" and all(map(_THOUSANDS.fullmatch, commas))
        decimal_comma = commas and separator != "," and not only_thousands
        if decimal_comma and all(map(_COMMA_NUMBER.fullmatch, cells)):
            return ",", (), True
        if any("." in x for x in cells) and all(map(_POINT_NUMBER.fullmatch, cells)):
            sure = sure or separator == "," or not all(map(_COMMA_WHOLE.fullmatch, cells))
            doubtful.append(name)
    return ".", () if sure else tuple(doubtful), sure


def written_like(output: Path, source: Path | None) -> Dialect:
    """How to write a CSV file beside the one that was read: for the same spreadsheet.

    In UTF-8; with a byte order mark, by which spreadsheets know it, if the source has one or is in
    another encoding.
    """
    if source is None:
        return Dialect("\t" if output.suffix.lower() == ".tsv" else ",", ".", "utf-8")
    separator, decimal, encoding, *_ = csv_dialect(source)
    renamed = suffix_of(source) != output.suffix.lower()
    if output.suffix.lower() == ".tsv":
        separator = "\t"
    elif separator == decimal or (separator == "\t" and renamed):
        separator = ";" if decimal == "," else ","
    with pa.input_stream(str(source), compression="detect") as stream:
        marked = stream.read(3) == codecs.BOM_UTF8 or encoding not in ("utf-8", "ascii")
    return Dialect(separator, decimal, "utf-8-sig" if marked else "utf-8")


# its columns, as they are written


def open_csv(path: Path) -> tuple[list[str], Callable[[list[str]], Iterator[pa.RecordBatch]]]:
    """The names of the columns, and what reads some of them, as they are written."""
    dialect = csv_dialect(path)

    def read(names: list[str]) -> Iterator[pa.RecordBatch]:
        with _decoding(path), arrow_csv.open_csv(path, **_options(dialect, names)) as reader:
            yield from reader

    with _decoding(path), arrow_csv.open_csv(path, **_options(dialect)) as first_block:
        return list(first_block.schema.names), read


def _options(dialect: Dialect, names: Sequence[str] | None = None) -> dict[str, Any]:
    """How Arrow's readers take such a file, the named columns as texts."""
    parse = arrow_csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True)
    read = arrow_csv.ReadOptions(
        block_size=BLOCK_BYTES, encoding=dialect.encoding, skip_rows=dialect.skipped
    )
    options = {"parse_options": parse, "read_options": read}
    if names is None:
        return options
    kinds = dict.fromkeys(names, pa.string())
    convert = arrow_csv.ConvertOptions(include_columns=list(names), column_types=kinds)
    return {**options, "convert_options": convert}


@contextmanager
def _decoding(path: Path) -> Iterator[None]:
    """Say what helps where a file is in another encoding."""
    try:
        yield
    except (UnicodeError, pa.ArrowInvalid) as error:
        if not isinstance(error, UnicodeError) and "invalid UTF8" not in str(error):
            raise
        encoding = csv_dialect(path).encoding
        raise InputError(
            f"{name_of(path)} is not text in {'UTF-8' if encoding == 'utf-8' else encoding}; files "
            "of older spreadsheets are often in Latin-1: try --encoding latin-1 (or cp1252), or "
            "save it as UTF-8"
        ) from error


def _refuse_stray_quotes(path: Path, dialect: Dialect) -> None:
    """Raise for the first quoted cell that does not end with its quotation mark.

    Arrow reads on where it does not, so that one cell swallows the rows up to the next mark.
    """
    if not any(b'"' in block for block in blocks_of(path)):
        return
    encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
    csv.field_size_limit(BLOCK_BYTES)
    with pa.input_stream(str(path), compression="detect") as stream:
        lines = io.TextIOWrapper(stream, encoding, errors="replace", newline="")
        for _ in range(dialect.skipped):
            lines.readline()
        reader, ended = csv.reader(lines, delimiter=dialect.separator, strict=True), 0
        try:
            for _ in reader:
                ended = reader.line_num
        except csv.Error as error:
            what = "a quotation mark is not closed, or text follows a closing one"
            place = f"in the row that begins in line {dialect.skipped + ended + 1}"
            raise InputError(f"{name_of(path)}: {place}, {what}") from error


# texts as numbers


def typed(texts: pa.Table, decimal: str) -> pa.Table:
    """Numbers, or true and false, where all cells of a column of texts are, without those that
    mean no value.
    """
    words = pa.array(missing_words())
    for place, (name, column) in enumerate(zip(texts.column_names, texts.columns, strict=True)):
        if pa.types.is_string(column.type):
            missing = pc.is_in(pc.utf8_trim_whitespace(column), value_set=words)
            cells = pc.if_else(missing, None, column)
            texts = texts.set_column(place, name, _typed(cells, decimal))
    return texts


def _typed(cells: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    plain = _as_decimals(cells, decimal)
    for kind in (pa.int64(), pa.float64(), pa.bool_()):
        try:
            return plain.cast(kind)
        except pa.ArrowInvalid:
            continue
    return cells


def _as_decimals(cells: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Texts of numbers with a decimal point and without marks of thousands; the other mark makes a
    text no number where it may be one of decimals, too.
    """
    texts, other = pc.utf8_trim_whitespace(cells), "," if decimal == "." else "."
    texts = pc.replace_substring(texts, other, "" if _are_grouped(texts, decimal, other) else "_")
    return texts if decimal == "." else pc.replace_substring(texts, decimal, ".")


def _are_grouped(texts: pa.ChunkedArray, decimal: str, other: str) -> bool:
    """Whether all texts are numbers, of which some have marks of thousands and of decimals:
    `1.250,00`.

    Where none has both, `1.250` may be either, unless the user says which mark is that of decimals;
    `0.250` is no number of thousands.
    """
    group, point = re.escape(other), re.escape(decimal)
    both = pc.match_substring_regex(texts, rf"{group}\d{{3}}{point}\d")
    if given().get("decimal") is None and not pc.any(both).as_py():
        return False
    number = rf"^[+-]?([1-9]\d{{0,2}}({group}\d{{3}})+|\d+)({point}\d+)?$"
    return pc.all(pc.match_substring_regex(texts, number)).as_py() is not False


# texts that spreadsheets run as formulas


FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How texts begin that spreadsheets may run."""
_NO_FORMULA = re.compile(r"[+-]?([.,]?\d[\d.,]*(e[+-]?\d+)?%?|inf(inity)?)", re.IGNORECASE)


def escaped(cell: Any) -> Any:
    """The cell with an apostrophe before a text that may be run; numbers stay numbers."""
    if isinstance(cell, str) and cell.startswith(FORMULAS) and not _NO_FORMULA.fullmatch(cell):
        return f"'{cell}"
    return cell
