"""Run the command line as `python -m quotakernels`."""

from __future__ import annotations

import sys

from quotakernels.cli import command

if __name__ == "__main__":
    sys.exit(command())
