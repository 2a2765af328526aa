"""The one error that the command line shows for input it cannot use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

import click

from quotakernels.cli.terminal import printable

_LISTED = 20
"""Names of columns that a message lists at most."""


class InputError(click.ClickException):
    """A file or a column that cannot be used: shown on stderr, exit status 2."""

    exit_code = 2

    def format_message(self) -> str:
        """The message, in which names from files control no terminal."""
        return printable(self.message)


class RowError(InputError):
    """The error of a row, which counts from 1; what is said of it needs the place of the row."""

    def __init__(self, said: Callable[[str], str], row: int) -> None:
        super().__init__(said(f"row {row}"))
        self.said, self.row = said, row

    def at(self, place: str) -> InputError:
        """The error for those who know where the row is."""
        return InputError(self.said(place))


def no_column(source: str, name: str, available: Sequence[str]) -> InputError:
    """The error of a column that is not there, with the name that was probably meant."""
    by_spelling = {other.casefold(): other for other in available}
    near = [by_spelling[other] for other in get_close_matches(name.casefold(), by_spelling, n=1)]
    start = f"did you mean {near[0]!r}? It has" if near else "it has"
    return InputError(f"{source} has no column {name!r}; {start} {listed(available)}")


def no_rows(source: str) -> InputError:
    """The error of data in which nothing can be evaluated or selected."""
    return InputError(f"{source} has no rows")


def missing_value(name: str, place: str, count: int) -> str:
    """What is said of missing values, the first of which is at a place."""
    more = f", {count} in all" if count > 1 else ""
    return (
        f"column {name!r}: missing value at {place}{more}; "
        "fill these rows, or leave them out by --drop-missing"
    )


def third_label(name: str, number: str, values: Sequence[object], place: str) -> str:
    """What is said of labels that are not binary: how many, the first ones, where the third is."""
    shown = ", ".join(map(repr, values))
    return (
        f"column {name!r}: labels are not binary: {number} different values ({shown}; "
        f"the third one first in {place}); "
        "make a column for each class that has 1 where a row is of it and 0 elsewhere"
    )


def merged_scores(name: str, ties: int, example: str = "") -> InputError:
    """The error of scores that differ in the file, and not as floats of 64 bits."""
    more = "is 1 more tie" if ties == 1 else f"are {ties} more ties"
    return InputError(
        f"column {name!r}: there {more} among the scores as 64-bit floats than in the file"
        f"{example}; write fewer digits, or their ranks"
    )


def listed(names: Sequence[str]) -> str:
    """The first of the names of columns, and how many more there are."""
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return printable(", ".join(names[:_LISTED]) + more)
