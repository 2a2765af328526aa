"""The one error that the command line shows for input it cannot use."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from quotakernels._text import plain
from quotakernels.evaluation.words import listed, meant_by

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    r"""Write control characters but line feeds as escapes, such as `\x1b`."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


_RENAMED = {
    "clusters": "cluster",
    "confidence_level": "confidence",
    "impacts": "impact",
    "n_resamples": "resamples",
    "random_state": "seed",
}
_SAME = "quota fraction budget cost gain place_cost ratio tune per by treatment treated"
_ARGUMENT = re.compile(
    rf"(?<!\w)({'|'.join([*_SAME.split(), 'compare', *_RENAMED])})=(True|-?[\d.]*\d|nan|-?inf)?"
)


def in_options(said: object) -> str:
    """What the library says of arguments of `evaluate`, such as `quota=`, with options for them."""

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        if value and name in ("fraction", "confidence_level"):
            value = f"{plain(100 * float(value))}%"
        if name == "fraction":
            return str(value)
        option = f"--{_RENAMED.get(name, name.replace('_', '-'))}"
        return option if value in (None, "True") else f"{option} {value}"

    return _ARGUMENT.sub(option, str(said))


_LISTED = 20
"""Names of columns that a message lists at most."""

_FIRST = 5
"""Values of a column that a message shows at most."""


class InputError(click.ClickException):
    """A file or a column that cannot be used: shown on stderr, exit status 2."""

    exit_code = 2

    def format_message(self) -> str:
        """The message, in which names from files control no terminal."""
        return printable(self.message)


class PlacedError(InputError):
    """An error that says where it is, or of which columns."""


def no_columns(source: str, names: Sequence[str], available: Sequence[str]) -> InputError:
    """The error of columns that are not there, with the names that were probably meant."""
    meant = meant_by(names, available)
    absent = f"column{'s' if len(names) > 1 else ''} {listed(list(map(repr, names)))}"
    start = f"{meant} It has" if meant else "it has"
    named = [x for x in available if x.strip()]
    held = [first_names(named)] if named else []
    if nameless := len(available) - len(named):
        held.append(f"{nameless} without a name")
    few = nameless or len(available) == 1
    hint = "; --header-row tells in which row names are" if few and not meant else ""
    return InputError(f"{source} has no {absent}; {start} {' and '.join(held)}{hint}")


def no_rows(source: str) -> InputError:
    """The error of data in which nothing can be evaluated or selected."""
    return InputError(f"{source} has no rows")


def missing_value(name: str, place: str, count: int) -> PlacedError:
    """The error of a column of which so many values are missing, the first at a place."""
    more = f", {count} in all" if count > 1 else ""
    return PlacedError(
        f"column {name!r}: missing value at {place}{more}; "
        "fill these rows, or leave them out with --drop-missing"
    )


def third_label(name: str, number: int | str, values: Sequence[object], place: str) -> str:
    """What is said of labels that are not binary: how many, the first ones, where the third is."""
    words = any(isinstance(x, str) for x in values)
    more = ", or name the one that means no value with --missing" if words else ""
    return (
        f"column {name!r}: labels are not binary: {number} different values "
        f"({first_values(values)}; the third first appears in {place}); write the two labels alike "
        "in all rows, or make a column for each class, with 1 in its rows and 0 in all others"
        f"{more}"
    )


def first_values(values: Sequence[object]) -> str:
    """The first values of a column."""
    return ", ".join(map(repr, values[:_FIRST])) + (", …" if len(values) > _FIRST else "")


def first_names(names: Sequence[str]) -> str:
    """The first of the names of columns, and how many more there are."""
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return printable(", ".join(names[:_LISTED]) + more)
