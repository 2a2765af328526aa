"""CSV files: how each is written, as far as it tells, and its columns as a table or in batches."""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from quotakernels.cli.errors import InputError, printable
from quotakernels.cli.given import given, missing_words
from quotakernels.cli.paths import (
    BLOCK_BYTES,
    blocks_of,
    name_of,
    picked_columns,
    refuse_other_kinds,
    suffix_of,
)

ROWS_TRIED = 20
"""Below the first, in which the names are looked for."""
_VALUE = re.compile(r"[-+.,':/ \d]*\d[-+.,':/ \d]*(e[-+]?\d+)?%?", re.IGNORECASE)


# the row with the names of the columns, above which tables for people have a title


class Row(NamedTuple):
    """The number of a row in its file, from 1, and the cells with something in them."""

    number: int
    filled: list[str]


def row_of(number: int, cells: Iterable[object]) -> Row:
    """The row of these cells."""
    texts = ("" if cell is None else str(cell).strip() for cell in cells)
    return Row(number, [text for text in texts if text])


def header_row() -> int | None:
    """The row that the user gives, if any."""
    found: int | None = given().get("header_row")
    return found


def names_below(rows: Sequence[Row]) -> Row | None:
    """The row that has the names, where it is not the first: the first of the widest, if that is
    twice as wide and has no values.
    """
    if header_row() is not None or len(rows) < 2:
        return None
    widest = max(rows[1:], key=lambda x: len(x.filled))
    wide = len(widest.filled) >= 2 * max(len(rows[0].filled), 1)
    return widest if wide and not any(map(_VALUE.fullmatch, widest.filled)) else None


def title_above(source: str, title: Row, names: Row) -> InputError:
    """The error of a first row that is a title."""
    first = printable(repr(title.filled[0])) if title.filled else "nothing"
    return InputError(
        f"{source}: row {title.number} holds {first} and looks like a title; the names of the "
        f"columns seem to be in row {names.number}: give --header-row {names.number}"
    )


def no_header_row(source: str) -> InputError:
    """The error of a row that the file does not have."""
    return InputError(f"{source} has no row {header_row()}, which --header-row asks for")


# quotation marks: a cell that begins with one must also end with one


_SHOWN = 40
_QUOTED = re.compile(r'"[^"]*+(?:""[^"]*+)*+"')


def refuse_stray_quotes(path: Path, dialect: Dialect) -> None:
    """Raise for the first quoted cell that does not end with its quotation mark.

    Arrow reads on where it does not, so that one cell swallows the rows up to the next mark.
    """
    written = dialect.separator, dialect.encoding, dialect.skipped
    if found := _stray_quote(path, _changed(path), *written):
        raise InputError(f"{name_of(path)}: {found}")


@lru_cache(maxsize=64)  # as `_dialect`
def _stray_quote(
    path: Path, _: tuple[int, int], separator: str, encoding: str, skipped: int
) -> str | None:
    """What is wrong with the first such cell, below some lines that are skipped."""
    if not any(b'"' in block for block in blocks_of(path)):
        return None
    edge = rf"[^{re.escape(separator)}\r\n]"
    # Outside of quoted cells, a mark within a cell is part of its text.
    cells = re.compile(rf'(?:[^"]++|(?<!{edge}){_QUOTED.pattern}(?!{edge})|(?<={edge})")*+')
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    text, line = "", 1 + skipped
    for block in chain(blocks_of(path), [b""]):
        text += decoder.decode(block, final=not block)
        if len(text) > 2 * BLOCK_BYTES or "\0" in text:  # which reading refuses
            return None
        if skipped or text.startswith("\ufeff"):
            text, skipped = text.removeprefix("\ufeff").split("\n", skipped)[-1], 0
        whole = text[: max(text.rfind("\n"), text.rfind("\r")) + 1] if block else text
        found = cells.match(whole)
        end = 0 if found is None else found.end()
        line += whole.count("\n", 0, end)
        text, whole = text[end:], whole[end:]
        closed = _QUOTED.match(whole)
        if whole and (closed or not block or len(text) > BLOCK_BYTES):
            first = whole[1:].split("\n", 1)[0].rstrip("\r")[:_SHOWN]
            if not closed:
                return f"the quotation mark before {first!r} in line {line} is not closed"
            last = line + whole.count("\n", 0, closed.end())
            return (
                f"in line {last}, text follows a closing quotation mark; its cell begins in line "
                f"{line}, with {first!r}"
            )
    return None


# how a file is written


_BYTES = 2**16
"""Of the beginning, which tells how the file is written."""
_SEPARATORS = (",", ";", "\t", "|")
_NUMBER = r"[+-]?(\d{1,3}(\.\d{3})+(,\d+)?|\d*(,\d+|\d))([eE][+-]?\d+)?"
_EMPTY = re.compile(r"([ ,;|\t\"]*\r?\n)+")
_TOLD = re.compile(r"sep=([,;|\t])\r?\n")
_POINTS = r"[+-]?[\d.]*\d([eE][+-]?\d+)?"
_WHOLE = r"[+-]?(\d{1,3}|[1-9]\d{0,2}(\.\d{3})+)"
"""A number of thousands with all its points, or of less."""
_THOUSANDS = r"[+-]?[1-9]\d{0,2}(,\d{3})+"


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


def csv_dialect(path: Path) -> Dialect:
    """What the user says of how a file is written, or else what its beginning tells."""
    return _dialect(path, _changed(path), tuple(given().items()))


def _changed(path: Path) -> tuple[int, int]:
    return path.stat().st_mtime_ns, path.stat().st_size


@lru_cache(maxsize=64)  # a file is read in several passes
def _dialect(path: Path, _: tuple[int, int], _said: tuple[Any, ...]) -> Dialect:
    """How a file is written; of separators that fit alike, the usual one of its name is taken."""
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
    usual = "\t" if suffix_of(path) == ".tsv" else ","
    found = said.get("sep") or (told[1] if told else _separator(text, usual))
    records = _records(text, found)
    dialect = Dialect(found, said.get("decimal") or _decimal(records, found), encoding, skipped)
    others = () if said.get("sep") or _are_alike(records) else _SEPARATORS
    if "\0" not in text and (title := _title(path, text, skipped, (found, *others))):
        refuse_stray_quotes(path, dialect)  # which make it look so
        raise title
    if said.get("decimal") is None and dialect.decimal == "." and found != ",":
        return dialect._replace(doubtful=_doubtful(records))
    return dialect


def written_like(output: Path, source: Path | None) -> Dialect:
    """How to write a CSV file beside the one that was read: for the same spreadsheet."""
    source_dialect = Dialect(",", ".", "utf-8") if source is None else csv_dialect(source)
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
    if source is None:
        return "utf-8"
    with pa.input_stream(str(source), compression="detect") as stream:
        marked = stream.read(3) == codecs.BOM_UTF8
    return "utf-8-sig" if marked or encoding not in ("utf-8", "ascii") else "utf-8"


@contextmanager
def _decoding(path: Path) -> Iterator[None]:
    """Say what helps where a file is in another encoding."""
    try:
        yield
    except (UnicodeError, pa.ArrowInvalid) as error:
        if isinstance(error, UnicodeError) or "invalid UTF8" in str(error):
            raise _wrong_encoding(path) from error
        raise


def _refuse_bytes(path: Path, schema: pa.Schema) -> None:
    """Raise for what Arrow takes for bytes, as it is no text."""
    if any(map(pa.types.is_binary, schema.types)):
        raise _wrong_encoding(path)


def _wrong_encoding(path: Path) -> InputError:
    encoding = csv_dialect(path).encoding
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
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return [cells for cells in reader if cells]


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
    plain = pc.replace_substring(texts, mark_of_thousands(decimal), "")
    return pc.replace_substring(plain, decimal, ".")


def are_grouped(columns: Iterable[Any], decimal: str) -> bool:
    """Whether all texts, of all parts of a column, are numbers, of which some have marks of
    thousands and of decimals: `1.250,00`.

    Where none has both, `1.250` may be either, unless the user says which mark is that of decimals;
    `0.250` is no number of thousands.
    """
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
        commas = cells.filter(pc.match_substring(cells, ","))
        numbers = len(commas) > 0 and _are_all(_NUMBER, cells)
        if numbers and (separator == ";" or not _are_all(_THOUSANDS, commas)):
            return ","
    return "."


def _doubtful(records: list[list[str]]) -> tuple[str, ...]:
    """The columns of numbers whose points may all mark thousands; none if a column tells that
    points mark decimals.
    """
    found = []
    for name, cells in _columns(records):
        if pc.any(pc.match_substring(cells, ".")).as_py() and _are_all(_POINTS, cells):
            if not _are_all(_WHOLE, cells):
                return ()
            found.append(name)
    return tuple(found)


def _are_all(pattern: str, cells: pa.Array) -> bool:
    return bool(pc.all(pc.match_substring_regex(cells, f"^(?:{pattern})$")).as_py())


def _columns(records: list[list[str]]) -> Iterator[tuple[str, pa.Array]]:
    """The columns with their names, without the cells that hold no value."""
    none = pa.array([*missing_words(), "NaN", "nan"])
    for name, *column in zip(*records, strict=False):
        cells = pc.utf8_trim_whitespace(pa.array(column, pa.string()))
        yield name, cells.filter(pc.invert(pc.is_in(cells, value_set=none)))


# its columns


def _options(dialect: Dialect) -> dict[str, Any]:
    """How Arrow's readers take such a file."""
    parse = arrow_csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True)
    read = arrow_csv.ReadOptions(
        block_size=BLOCK_BYTES, encoding=dialect.encoding, skip_rows=dialect.skipped
    )
    return {"parse_options": parse, "read_options": read}


def _options_for(
    path: Path, names: Sequence[str] | None, texts: Sequence[str] = (), as_text: bool = False
) -> dict[str, Any]:
    """How Arrow's readers take the named columns, some of them or all as texts."""
    dialect = csv_dialect(path)
    refuse_stray_quotes(path, dialect)
    picked = picked_columns(path, csv_names(path), names)
    if not as_text:
        dialect.refuse_doubtful(picked)
    convert = arrow_csv.ConvertOptions(
        include_columns=picked,
        null_values=[] if as_text else missing_words(),
        strings_can_be_null=not as_text,
        column_types=dict.fromkeys(picked if as_text else texts, pa.string()),
        decimal_point=dialect.decimal,
    )
    return {**_options(dialect), "convert_options": convert}


def csv_names(path: Path) -> list[str]:
    """The names in the first line that counts."""
    with _decoding(path), arrow_csv.open_csv(path, **_options(csv_dialect(path))) as first_block:
        return list(first_block.schema.names)


def csv_table(path: Path, names: Sequence[str] | None, as_text: bool) -> pa.Table:
    """The columns of a CSV file, as numbers where they are, or exactly as they are written."""
    options = _options_for(path, names, as_text=as_text)
    with _decoding(path):
        table = arrow_csv.read_csv(path, **options)
    _refuse_bytes(path, table.schema)
    return table if as_text else ungrouped(table, csv_dialect(path).decimal)


def ungrouped(table: pa.Table, decimal: str) -> pa.Table:
    """The table with numbers where texts are numbers with marks of thousands."""
    for place, name in enumerate(table.column_names):
        texts = table.column(place)
        if pa.types.is_string(texts.type) and are_grouped([texts], decimal):
            numbers = as_decimals(texts, decimal).cast(pa.float64())
            table = table.set_column(place, name, numbers)
    return table


# its columns in batches


_SURE_LENGTH = 16  # fifteen digits and a decimal point stay distinct as floats


def csv_batches(
    path: Path, names: Sequence[str] | None, scores: Sequence[str], amounts: Sequence[str]
) -> Iterator[pa.Table]:
    """Go over the columns of a file that are named, or all, once; scores and amounts among them as
    floats, of which scores stay distinct.
    """
    decimal, texts_of = csv_dialect(path).decimal, [*scores, *amounts]
    marked: dict[str, bool] = {}

    def as_written(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        """Numbers as texts with decimal points; marks of thousands are left out where the column,
        of which a batch tells too little, has no doubt.
        """
        texts, doubtful = pc.utf8_trim_whitespace(column), None
        if name not in marked:
            doubtful = _with_mark(texts, mark_of_thousands(decimal))
        if doubtful is not None:
            whole = (pc.utf8_trim_whitespace(x[name]) for x in _read(path, [name], [name]))
            marked[name] = are_grouped(whole, decimal)
        if doubtful is not None and not marked[name]:
            raise _in_doubt(name, doubtful)
        if name in marked:
            return as_decimals(texts, decimal)
        return texts if decimal == "." else pc.replace_substring(texts, ",", ".")

    for batch in _read(path, names, texts_of):
        table = batch
        for name in {*texts_of} & set(table.column_names):
            place = table.column_names.index(name)
            floats = _as_floats(as_written(table.column(name), name), name, name in scores)
            if floats is not None:
                table = table.set_column(place, name, floats)
        if table.num_rows:
            yield table


def _read(path: Path, names: Sequence[str] | None, texts: Sequence[str]) -> Iterator[pa.Table]:
    """Go over columns of a file, some of them as texts."""
    options = _options_for(path, names, texts)
    with _decoding(path), arrow_csv.open_csv(path, **options) as reader:
        _refuse_bytes(path, reader.schema)
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _as_floats(texts: pa.ChunkedArray, name: str, distinct: bool) -> pa.ChunkedArray | None:
    """Texts as floats, which are to stay distinct; None where one is no number, as others tell."""
    try:
        floats = texts.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    if not distinct:
        return floats
    extreme = pc.or_(pc.equal(floats, 0.0), pc.is_inf(floats))
    unsure = pc.or_(pc.greater(pc.utf8_length(texts), _SURE_LENGTH), extreme)
    unsure = pc.and_(unsure, pc.not_equal(floats.cast(pa.string()), texts))
    for text in pc.unique(texts.filter(unsure)).to_pylist():
        if not _is_rounded(text):
            raise InputError(
                f"column {name!r}: {text} has more digits than a 64-bit float, and --engine stream "
                "cannot tell such numbers apart; write fewer digits"
            )
    return floats


def _with_mark(texts: pa.ChunkedArray, mark: str) -> str | None:
    """The first number with a mark that may be one of thousands."""
    number = rf"^[+-]?[\d.,]*{re.escape(mark)}[\d.,]*([eE][+-]?\d+)?$"
    found: list[str] = texts.filter(pc.match_substring_regex(texts, number)).slice(0, 1).to_pylist()
    return found[0] if found else None


def _in_doubt(name: str, text: str) -> InputError:
    mark = "comma" if "," in text else "point"
    return InputError(
        f"column {name!r}: {text!r} has a {mark} that may mark thousands or decimals, and no "
        "number of the column has both marks; write the numbers without marks of thousands, or "
        "give the decimal mark with --decimal"
    )


def _is_rounded(text: str) -> bool:
    """Whether a number is a float, rounded to as many digits as are written."""
    value = float(text)
    if not math.isfinite(value):
        return "inf" in text.lower() or "nan" in text.lower()
    written = Decimal(text)
    digits = max(len(written.as_tuple().digits), 1)
    return written == Decimal(format(value, f".{digits}g"))


# texts that spreadsheets run as formulas


FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""How texts begin that spreadsheets may run."""
_NO_FORMULA = re.compile(r"[+-]?([.,]?\d[\d.,]*(e[+-]?\d+)?%?|inf(inity)?)", re.IGNORECASE)


def escaped(cell: Any) -> Any:
    """The cell with an apostrophe before a text that may be run; numbers stay numbers."""
    if isinstance(cell, str) and cell.startswith(FORMULAS) and not _NO_FORMULA.fullmatch(cell):
        return f"'{cell}"
    return cell
