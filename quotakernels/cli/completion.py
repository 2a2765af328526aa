"""What the Tab key offers: columns of the file that is on the line; and the shells' scripts."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    get_completion_class,
)

from quotakernels.cli.errors import InputError
from quotakernels.cli.terminal import printable

SHELLS = ("bash", "zsh", "fish")


def columns_on_the_line(ctx: click.Context) -> list[str]:
    """The columns of FILE or --example, if one is on the line and can be read.

    Names that would control the terminal are left out.
    """
    return [name for name in _columns_on_the_line(ctx) if name == printable(name)]


def _columns_on_the_line(ctx: click.Context) -> list[str]:
    from quotakernels.cli.example import EXAMPLES, example_file

    example = ctx.params.get("example")
    if example not in EXAMPLES:
        # An option whose value is still to come keeps click from parsing the arguments.
        rest = ctx.args[0] if ctx.args else None
        return columns_of(ctx.params.get("file") or rest)
    with example_file(EXAMPLES[example]) as path:
        return columns_of(path)


def columns_of(file: Path | str | None) -> list[str]:
    """The columns of a file, or of the first of several; none of one that cannot be read."""
    from quotakernels.cli.files import column_names

    if file is None:
        return []
    path = Path(file)
    try:
        return column_names(path)
    except InputError:
        return []


class _QuotingBash(BashComplete):
    """Bash takes a word as it is offered, so that a name with spaces needs its quotes."""

    def format_completion(self, item: CompletionItem) -> str:
        value = shlex.quote(item.value) if item.type == "plain" else item.value
        return f"{item.type},{value}"


add_completion_class(_QuotingBash)


def script(app: click.Command, shell: str) -> str:
    """What a shell must run for its Tab key to complete the command."""
    found = get_completion_class(shell)
    assert found is not None
    return found(app, {}, "quotakernels", "_QUOTAKERNELS_COMPLETE").source()
