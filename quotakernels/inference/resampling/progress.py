"""How far a long computation is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from quotakernels.inputs.keywords import check_flag

PATIENCE = 3.0
"""Seconds before a line appears on a terminal."""


def silent(_done: int, _whole: int) -> None:
    """Nothing is told of what is soon done."""


def reporter(
    progress: bool | Callable[[int, int], None] | None, what: str
) -> Callable[[int, int], None]:
    """A function of what is done and what there is to do.

    It is the caller's, or writes a line to a terminal once it takes long, or at once with True.
    """
    if callable(progress):
        return progress
    if progress is not None:
        check_flag("progress", progress)
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return silent
    began = time.monotonic()

    def write(done: int, whole: int) -> None:
        if progress or time.monotonic() - began > PATIENCE:
            end = "\n" if done == whole else ""
            print(f"\r{what}: {done} of {whole}", end=end, file=sys.stderr, flush=True)

    return write
