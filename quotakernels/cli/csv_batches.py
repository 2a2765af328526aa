"""CSV files in batches; scores are floats, no two of which were different numbers in the file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from quotakernels.cli.dialect import (
    Dialect,
    are_grouped,
    as_decimals,
    decoding,
    mark_of_thousands,
    wrong_encoding,
)
from quotakernels.cli.errors import InputError
from quotakernels.cli.files import csv_dialect, csv_names, csv_options, picked_columns
from quotakernels.cli.missing import missing_words
from quotakernels.cli.quotes import refuse_stray_quotes

_SURE_LENGTH = 16  # fifteen digits and a decimal point stay distinct as floats


def csv_batches(
    path: Path, names: Sequence[str] | None, scores: Sequence[str], amounts: Sequence[str]
) -> Iterator[pa.Table]:
    """Go over the columns of a file that are named, or all, once; scores and amounts among them as
    floats, of which scores stay distinct.
    """
    dialect = csv_dialect(path)
    refuse_stray_quotes(path, dialect.separator, dialect.encoding, dialect.skipped)
    texts_of = [*scores, *amounts]
    marked: dict[str, bool] = {}

    def as_written(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
        """Numbers as texts with decimal points; marks of thousands are left out where the column,
        of which a batch tells too little, has no doubt.
        """
        texts, doubtful = pc.utf8_trim_whitespace(column), None
        if name not in marked:
            doubtful = _with_mark(texts, mark_of_thousands(dialect.decimal))
        if doubtful is not None:
            whole = (pc.utf8_trim_whitespace(x[name]) for x in _read(path, dialect, [name], [name]))
            marked[name] = are_grouped(whole, dialect.decimal)
        if doubtful is not None and not marked[name]:
            raise _in_doubt(name, doubtful)
        if name in marked:
            return as_decimals(texts, dialect.decimal)
        return texts if dialect.decimal == "." else pc.replace_substring(texts, ",", ".")

    for batch in _read(path, dialect, names, texts_of):
        table = batch
        for name in {*texts_of} & set(table.column_names):
            place = table.column_names.index(name)
            floats = _as_floats(as_written(table.column(name), name), name, name in scores)
            if floats is not None:
                table = table.set_column(place, name, floats)
        if table.num_rows:
            yield table


def _read(
    path: Path, dialect: Dialect, names: Sequence[str] | None, texts: Sequence[str]
) -> Iterator[pa.Table]:
    """Go over columns of a file, some of them as texts."""
    options = csv_options(dialect)
    picked = picked_columns(path, csv_names(path), names)
    dialect.refuse_doubtful(picked)
    convert = csv.ConvertOptions(
        include_columns=picked,
        null_values=missing_words(),
        strings_can_be_null=True,
        column_types=dict.fromkeys(texts, pa.string()),
        decimal_point=dialect.decimal,
    )
    with (
        decoding(path, dialect.encoding),
        csv.open_csv(path, **options, convert_options=convert) as reader,
    ):
        if any(pa.types.is_binary(kind) for kind in reader.schema.types):
            raise wrong_encoding(path, dialect.encoding)
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
