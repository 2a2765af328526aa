"""Help pages: options under headings, commands in the order of their use, examples as typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

_WIDEST = 24
"""Of the options' names, for the texts beside them to begin in one column."""


class CommandPage(click.Command):
    """A command whose help has its options under headings, and examples.

    `sections` maps a heading to the names of its options; those in none come last.
    `examples` maps what one does to the command that does it, with a line break where it is long.
    """

    def __init__(
        self,
        *arguments: Any,
        sections: Mapping[str, Sequence[str]] | None = None,
        examples: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.sections = dict(sections or {})
        self.examples = dict(examples or {})

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        options = [x for x in self.get_params(ctx) if isinstance(x, click.Option)]
        records = {x.name: x.get_help_record(ctx) for x in options}
        shown = {name: record for name, record in records.items() if record is not None}
        named = {name for names in self.sections.values() for name in names}
        others = [name for name in shown if name not in named]
        for heading, names in {**self.sections, "Other" if named else "Options": others}.items():
            rows = [shown[name] for name in names if name in shown]
            if rows:
                with formatter.section(heading):
                    padded = [(name.ljust(_WIDEST), text) for name, text in rows]
                    formatter.write_dl(padded, col_max=_WIDEST)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples after the options."""
        _write_examples(self.examples, formatter)


class GroupPage(click.Group):
    """Commands in the order in which they were added, and examples."""

    def __init__(
        self, *arguments: Any, examples: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.examples = dict(examples or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in order."""
        return list(self.commands)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples after the commands."""
        _write_examples(self.examples, formatter)


def _write_examples(examples: Mapping[str, str], formatter: click.HelpFormatter) -> None:
    if not examples:
        return
    with formatter.section("Examples"):
        for number, (purpose, command) in enumerate(examples.items()):
            if number:
                formatter.write_paragraph()
            formatter.write_text(purpose)
            for line in command.splitlines():
                formatter.write(f"{'':>{formatter.current_indent + 2}}{line}\n")
