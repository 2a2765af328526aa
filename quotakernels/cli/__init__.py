"""The command line, which needs the packages of the `cli` extra.

Importing this package imports none of them, so that the command can say what to install.
"""

from __future__ import annotations

import sys

__all__ = ["main"]

_EXTRAS = {
    **dict.fromkeys(("click", "pyarrow", "rich"), "cli"),
    **dict.fromkeys(("jinja2", "markupsafe", "matplotlib"), "report"),
}
"""Which extra brings a package that a command may lack."""


def main() -> int:
    """Run the `quotakernels` command on `sys.argv` and return its exit status."""
    try:
        from quotakernels.cli.app import app

        app(prog_name="quotakernels")
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
