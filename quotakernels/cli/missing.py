"""Rows with missing values: they are an error, unless the user leaves them out."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import click

from quotakernels._text import counted, number
from quotakernels.cli.errors import InputError
from quotakernels.cli.given import given

if TYPE_CHECKING:
    import pyarrow as pa

_WORDS = (
    *("", "NA", "N/A", "n/a", "null", "NULL", "None"),
    *("#N/A", "#NV", "#N/D", "#DIV/0!", "#VALUE!", "#WERT!", "#REF!", "#NUM!", "#NAME?"),
)
"""A NaN is not among them: it is a number that the user shall hear about."""


def missing_words() -> list[str]:
    """The cells of text files and spreadsheets that hold no value; the user may add some."""
    asked = given().get("missing", ())
    return [*_WORDS, *(text for x in asked for text in (x, f" {x}", f"{x} "))]


def given_options() -> list[str]:
    """What the user asks for of missing values, which only rows in memory allow."""
    return [f"--{x.replace('_', '-')}" for x in ("drop_missing", "missing") if given().get(x)]


def are_left_out() -> bool:
    """Whether the user asked for it."""
    return bool(given().get("drop_missing"))


def without_words(table: pa.Table) -> pa.Table:
    """The table with no value where a cell, as text, is what the user says means so."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words, rows = given().get("missing"), pa.array(range(table.num_rows))
    for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if words and not pa.types.is_nested(column.type):
            texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
            missing = pc.is_in(texts.combine_chunks(), value_set=pa.array(words))
            # Taking the row None gives a missing value of any type.
            table = table.set_column(place, name, column.take(pc.if_else(missing, None, rows)))
    return table


def kept_rows(table: pa.Table) -> pa.Array | None:
    """Which rows have a value in every column, where others are left out; their number is said."""
    import pyarrow.compute as pc

    if not are_left_out():
        return None
    missing = {name: _is_missing(table.column(name)) for name in table.column_names}
    counts = {name: pc.sum(column).as_py() or 0 for name, column in missing.items()}
    left_out = reduce(pc.or_, missing.values())
    if rows := pc.sum(left_out).as_py():
        where = ", ".join(f"{number(n)} in {name!r}" for name, n in counts.items() if n)
        have = "has a missing value and is" if rows == 1 else "have a missing value and are"
        of_all = f"{number(rows)} of {counted(table.num_rows, 'row', 'rows')}"
        if rows == table.num_rows:
            raise InputError(f"no row is left: all have a missing value: {where}")
        click.echo(f"{of_all} {have} left out: {where}", err=True)
    return pc.invert(left_out)


def without_missing(table: pa.Table) -> pa.Table:
    """The rows that have a value in every column, where others are left out."""
    from quotakernels.cli.places import filtered

    kept = kept_rows(table)
    return table if kept is None else filtered(table, kept)


def _is_missing(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return pc.is_null(column.combine_chunks(), nan_is_null=pa.types.is_floating(column.type))
