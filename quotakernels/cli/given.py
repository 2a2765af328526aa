"""What the user says of how a file is read; it holds for as long as the command runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import Any

import click

_GIVEN = f"{__name__}.given"


def keep(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    """Keep the value of an option."""
    ctx.meta.setdefault(_GIVEN, {})[option.name] = value


def given() -> dict[str, Any]:
    """The values of these options, by their names; none outside a command."""
    ctx = click.get_current_context(silent=True)
    return {} if ctx is None else ctx.meta.get(_GIVEN, {})


def on_the_line() -> Iterator[str]:
    """The options that were given, as words of a command."""
    for name, value in given().items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            yield from [option] if value else []
            continue
        for one in value if isinstance(value, tuple) else (value,):
            if one is not None:
                yield from (option, "tab" if one == "\t" else str(one))


_SPECIAL = frozenset('"$`\\!%\n\r')
"""What some shell reads in double quotes too."""


def quoted(word: str) -> str:
    """A word of a command, in the double quotes that shells of Windows know too if they will do."""
    safe = shlex.quote(word)
    return safe if safe == word or set(word) & _SPECIAL or not word else f'"{word}"'


def command_line(words: Iterable[str]) -> str:
    """Words as a command for a shell."""
    return " ".join(map(quoted, words))


_MISSING = (
    *("", "NA", "N/A", "n/a", "null", "NULL", "None"),
    *("#N/A", "#NV", "#N/D", "#DIV/0!", "#VALUE!", "#WERT!", "#REF!", "#NUM!", "#NAME?"),
)
"""A NaN is not among them: it is a number that the user shall hear about."""


def missing_words() -> list[str]:
    """The cells of text files and spreadsheets that hold no value; the user may add some."""
    return [*_MISSING, *given().get("missing", ())]
