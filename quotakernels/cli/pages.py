"""Help pages: options under headings, commands in the order of their use, examples as typed."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import click

_WIDEST = 24
"""Of the options' names, for the texts beside them to begin in one column."""
_UNDERLINED = "\nExamples\n--------\n"


class _Page(click.Command):
    """A command whose help ends with the examples of its docstring, as they are written there."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        options["help"], _, self.examples = inspect.cleandoc(options["help"]).partition(_UNDERLINED)
        super().__init__(*arguments, **options)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples after everything else."""
        if self.examples:
            formatter.write(f"\nExamples:\n{self.examples}\n")


class CommandPage(_Page):
    """A command whose options stand under headings, in its help too; those in none come last."""

    def __init__(
        self,
        *arguments: Any,
        sections: Mapping[str, Sequence[click.Option]],
        params: Sequence[click.Parameter] = (),
        **options: Any,
    ) -> None:
        of_sections = [option for section in sections.values() for option in section]
        super().__init__(*arguments, params=[*params, *of_sections], **options)
        self.sections = sections

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Tell of words too many that a name with spaces is one word in quotes only."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if "unexpected extra argument" not in error.message:
                raise
            said = f'{error.message}; names with spaces need quotes, as in "model a"'
            raise click.UsageError(said, ctx) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        named = [option for section in self.sections.values() for option in section]
        options = [x for x in self.get_params(ctx) if isinstance(x, click.Option)]
        others = [x for x in options if x not in named]
        for heading, section in {**self.sections, "Other" if named else "Options": others}.items():
            records = (option.get_help_record(ctx) for option in section)
            if rows := [(name.ljust(_WIDEST), text) for name, text in filter(None, records)]:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=_WIDEST)


class GroupPage(_Page, click.Group):
    """Commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in order."""
        return list(self.commands)
