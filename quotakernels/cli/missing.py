"""Rows with missing values: they are an error, unless the user leaves them out."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import click

from quotakernels._text import counted, number
from quotakernels.cli.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

_ASKED = f"{__name__}.asked"


def keep(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    """Keep what the user asks for as long as the command runs."""
    ctx.meta[_ASKED] = value


def are_left_out() -> bool:
    """Whether the user asked for it."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(_ASKED))


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
