"""Help pages: options under headings, commands in the order of their use, examples as typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

_WIDEST = 24
"""Of the options' names, for the texts beside them to begin in one column."""


class _Page(click.Command):
    """A command whose help ends with examples.

    `examples` maps what one does to the command that does it, with a line break where it is long.
    """

    def __init__(
        self, *arguments: Any, examples: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.examples = dict(examples or {})

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples after everything else."""
        if not self.examples:
            return
        with formatter.section("Examples"):
            for number, (purpose, command) in enumerate(self.examples.items()):
                if number:
                    formatter.write_paragraph()
                formatter.write_text(purpose)
                for line in command.splitlines():
                    formatter.write(f"{'':>{formatter.current_indent + 2}}{line}\n")


class CommandPage(_Page):
    """A command whose help has its options under headings.

    `sections` maps a heading to the names of its options; those in none come last.
    """

    def __init__(
        self, *arguments: Any, sections: Mapping[str, Sequence[str]] | None = None, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.sections = dict(sections or {})

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


class GroupPage(_Page, click.Group):
    """Commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in order."""
        return list(self.commands)
