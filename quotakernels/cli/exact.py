"""Scores with more digits than floats of 64 bits have: those that would tie without a word."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from quotakernels.cli.dialect import as_decimals
from quotakernels.cli.errors import InputError, merged_scores
from quotakernels.cli.files import csv_dialect, csv_table, read_table
from quotakernels.cli.formats import file_format, files_of


def read_with_scores(path: Path, names: Sequence[str], scores: Sequence[str]) -> pa.Table:
    """Read columns of a file; scores among them that become equal as floats are an error."""
    table = read_table(path, names)
    kinds = {name: table.schema.field(name).type for name in dict.fromkeys(scores)}
    in_text = file_format(path) == "csv"
    floats = [x for x, kind in kinds.items() if in_text and pa.types.is_float64(kind)]
    if floats:
        texts = _as_written(path, floats)
        for name in floats:
            _refuse_texts(name, texts.column(name), table.column(name))
    for name, kind in kinds.items():
        if pa.types.is_decimal(kind):
            column = table.column(name).cast(pa.string())
            _refuse_texts(name, column, column.cast(pa.float64()))
    return table


def _as_written(path: Path, names: Sequence[str]) -> pa.Table:
    """Columns of numbers with all digits that the files have."""

    def columns(file: Path) -> pa.Table:
        texts, decimal = csv_table(file, names, True), csv_dialect(file).decimal
        return pa.table({name: as_decimals(texts.column(name), decimal) for name in names})

    return pa.concat_tables([columns(x) for x in files_of(path)])


def _refuse_texts(name: str, texts: pa.ChunkedArray, floats: pa.ChunkedArray) -> None:
    """Raise if different numbers, as they are written, are the same float."""
    if pc.count_distinct(texts) == pc.count_distinct(floats):
        return
    pairs = pa.table({"text": texts, "float": floats}).group_by(["text", "float"]).aggregate([])
    pairs = pairs.filter(pc.invert(pc.is_nan(pairs["float"])))  # nor what is missing
    counts = pairs.group_by("float").aggregate([("text", "count")])
    several = counts.filter(pc.greater(counts["text_count"], 1))["float"]
    pairs = pairs.filter(pc.is_in(pairs["float"], several))
    numbers: dict[float, set[Decimal]] = {}
    for pair in pairs.to_pylist():
        numbers.setdefault(pair["float"], set()).add(_number(pair["text"]))
    merged = [sorted(found) for found in numbers.values() if len(found) > 1]
    if merged:
        raise _merged(name, merged)


def _number(text: str) -> Decimal:
    """The number of a cell; in one of several files true and false may stand for 1 and 0."""
    return Decimal({"true": 1, "false": 0}.get(text.strip().lower(), text))


def _merged(name: str, merged: list[list[Decimal]]) -> InputError:
    low, high, *_ = min(merged)
    ties = sum(len(found) - 1 for found in merged)
    return merged_scores(name, ties, f", such as {low} and {high}")
