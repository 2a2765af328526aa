"""Scores with more digits than floats of 64 bits have: those that would tie without a word."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from quotakernels.cli.dialect import as_decimals
from quotakernels.cli.errors import InputError, merged_scores
from quotakernels.cli.files import csv_dialect, csv_table, read_table, refusing
from quotakernels.cli.formats import file_format, files_of
from quotakernels.cli.json_lines import numbers_as_written


def read_with_scores(path: Path, names: Sequence[str], scores: Sequence[str]) -> pa.Table:
    """Read columns of a file; scores among them that become equal as floats are an error."""
    table = read_table(path, names)
    kinds = {name: table.schema.field(name).type for name in dict.fromkeys(scores)}
    floats = [x for x, kind in kinds.items() if pa.types.is_float64(kind)]
    if floats and (as_written := _AS_WRITTEN.get(file_format(path))):
        with refusing(path):
            written = [as_written(x, floats) for x in files_of(path)]
            for name in floats:
                chunks = (chunk for x in written for chunk in x[name].chunks)
                texts = pa.chunked_array(chunks, pa.string())
                in_csv = as_written is _of_csv  # where some cells are no numbers
                _refuse_texts(name, texts, table[name] if in_csv else texts.cast(pa.float64()))
    for name, kind in kinds.items():
        if pa.types.is_decimal(kind):
            texts = table[name].cast(pa.string())
            _refuse_texts(name, texts, texts.cast(pa.float64()))
    return table


def _of_csv(file: Path, names: Sequence[str]) -> pa.Table:
    """Columns of numbers with all digits that a file has."""
    texts, decimal = csv_table(file, names, True), csv_dialect(file).decimal
    return pa.table({name: as_decimals(texts.column(name), decimal) for name in names})


def _of_excel(file: Path, names: Sequence[str]) -> Mapping[str, pa.ChunkedArray]:
    from quotakernels.cli import excel

    return excel.numbers_as_written(file, names)


_AS_WRITTEN: dict[str, Callable[[Path, Sequence[str]], Any]] = {
    "csv": _of_csv,
    "json": numbers_as_written,
    "excel": _of_excel,
}
"""What reads numbers with all their digits, by the formats of text."""


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
