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

from quotakernels.cli.dialect import MISSING, decoding, mark_of_thousands, wrong_encoding
from quotakernels.cli.errors import InputError
from quotakernels.cli.files import csv_dialect, csv_names, csv_options, picked_columns

_BLOCK_BYTES = 2**24
_SURE_LENGTH = 16  # fifteen digits and a decimal point stay distinct as floats


def csv_batches(
    path: Path, names: Sequence[str] | None, scores: Sequence[str], amounts: Sequence[str]
) -> Iterator[pa.Table]:
    """Go over the columns of a file that are named, or all, once; scores and amounts among them as
    floats, of which scores stay distinct.
    """
    dialect = csv_dialect(path)
    options = csv_options(dialect)
    options["read_options"].block_size = _BLOCK_BYTES
    convert = csv.ConvertOptions(
        include_columns=picked_columns(path, csv_names(path), names),
        null_values=list(MISSING),
        strings_can_be_null=True,
        column_types=dict.fromkeys([*scores, *amounts], pa.string()),
        decimal_point=dialect.decimal,
    )
    with (
        decoding(path, dialect.encoding),
        csv.open_csv(path, **options, convert_options=convert) as reader,
    ):
        if any(pa.types.is_binary(kind) for kind in reader.schema.types):
            raise wrong_encoding(path, dialect.encoding)
        for batch in reader:
            table = pa.Table.from_batches([batch])
            for name in {*scores, *amounts} & set(table.column_names):
                place = table.column_names.index(name)
                texts = _with_points(table.column(name), name, dialect.decimal)
                floats = _as_floats(texts, name, name in scores)
                table = table.set_column(
                    place, name, table.column(name) if floats is None else floats
                )
            if table.num_rows:
                yield table


def _with_points(column: pa.ChunkedArray, name: str, decimal: str) -> pa.ChunkedArray:
    texts = pc.utf8_trim_whitespace(column)
    _refuse_marks(texts, name, mark_of_thousands(decimal))
    return texts if decimal == "." else pc.replace_substring(texts, decimal, ".")


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
                f"column {name!r}: {text} has more digits than a 64-bit float, which --engine "
                "stream does not tell apart; write fewer digits"
            )
    return floats


def _refuse_marks(texts: pa.ChunkedArray, name: str, mark: str) -> None:
    """Raise for numbers with marks of thousands: a batch does not tell whether they are decimal."""
    number = rf"^[+-]?[\d.,]*{re.escape(mark)}[\d.,]*([eE][+-]?\d+)?$"
    for text in texts.filter(pc.match_substring_regex(texts, number)).slice(0, 1).to_pylist():
        raise InputError(
            f"column {name!r}: {text!r} has a {'comma' if mark == ',' else 'point'} that may mark "
            "thousands or decimals, which --engine stream does not tell apart; write the numbers "
            "without marks of thousands, or give --engine memory"
        )


def _is_rounded(text: str) -> bool:
    """Whether a number is a float, rounded to as many digits as are written."""
    value = float(text)
    if not math.isfinite(value):
        return "inf" in text.lower() or "nan" in text.lower()
    written = Decimal(text)
    digits = max(len(written.as_tuple().digits), 1)
    return written == Decimal(format(value, f".{digits}g"))
