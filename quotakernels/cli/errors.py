"""The one error that the command line shows for input it cannot use."""

from __future__ import annotations

import click

__all__ = ["InputError"]


class InputError(click.ClickException):
    """A file or a column that cannot be used: shown on stderr, exit status 2."""

    exit_code = 2
