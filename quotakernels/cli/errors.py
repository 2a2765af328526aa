"""The one error that the command line shows for input it cannot use."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import click

__all__ = ["InputError", "listed", "no_column"]

_LISTED = 20
"""Names of columns that a message lists at most."""


class InputError(click.ClickException):
    """A file or a column that cannot be used: shown on stderr, exit status 2."""

    exit_code = 2


def no_column(source: str, name: str, available: Sequence[str]) -> InputError:
    """The error of a column that is not there, with the name that was probably meant."""
    if len(available) == 1 and (other := set(available[0]) & set(";|\t")):
        return InputError(
            f"{source} has one column, {available[0]!r}; columns are separated by commas in CSV "
            f"and by tabs in TSV, not by {other.pop()!r}"
        )
    by_spelling = {other.casefold(): other for other in available}
    near = [by_spelling[other] for other in get_close_matches(name.casefold(), by_spelling, n=1)]
    start = f"did you mean {near[0]!r}? It has" if near else "it has"
    return InputError(f"{source} has no column {name!r}; {start} {listed(available)}")


def listed(names: Sequence[str]) -> str:
    """The first of the names of columns, and how many more there are."""
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
