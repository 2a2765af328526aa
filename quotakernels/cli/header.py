"""The row with the names of the columns, which tables for people have a title above."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from quotakernels.cli.errors import InputError
from quotakernels.cli.given import given
from quotakernels.cli.terminal import printable

ROWS_TRIED = 20
"""Below the first, in which the names are looked for."""
_VALUE = re.compile(r"[-+.,':/ \d]*\d[-+.,':/ \d]*(e[-+]?\d+)?%?", re.IGNORECASE)


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
