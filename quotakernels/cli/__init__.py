"""The command line, which needs the packages of the `cli` extra.

Importing this package imports none of them, so that the command can say what to install.
"""

from __future__ import annotations

import os
import sys

__all__ = ["command", "main"]

_EXTRAS = {
    **dict.fromkeys(("click", "pyarrow", "rich"), "cli"),
    "openpyxl": "excel",
    **dict.fromkeys(("jinja2", "markupsafe", "matplotlib"), "report"),
}
"""Which extra brings a package that a command may lack."""


class _NoPandas:
    """Hides pandas from PyArrow, which imports it unasked: that takes a quarter of the time."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Raise for pandas, as if it were not installed."""
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)


def _failed(error: OSError) -> int:
    """Say what cannot be written, unless a pipe was closed, and keep Python from trying again."""
    if isinstance(error, BrokenPipeError):
        status = 1
    else:
        what = error.filename or "the standard output"
        print(f"Error: {what} cannot be written: {error.strerror}", file=sys.stderr)
        status = 2
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    return status


def main() -> int:
    """Run the `quotakernels` command on `sys.argv` and return its exit status."""
    try:
        from quotakernels.cli.app import app

        try:
            app(prog_name="quotakernels")
        finally:
            sys.stdout.flush()
    except OSError as error:
        return _failed(error)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        print(
            f"The quotakernels command needs the package {package!r}, which is not installed.\n"
            f'Install what it needs with:  pip install "quotakernels[{_EXTRAS[package]}]"',
            file=sys.stderr,
        )
        return 2
    return 0


def command() -> int:
    """Run `main` in a process of its own, in which PyArrow finds no pandas."""
    sys.meta_path.insert(0, _NoPandas)
    return main()
