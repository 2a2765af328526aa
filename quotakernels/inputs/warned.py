"""Warnings that name the caller's line, and are left out where they were given before."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator
from contextvars import ContextVar

_SILENT: ContextVar[bool] = ContextVar("_SILENT", default=False)


def warn_once(message: str) -> None:
    """Warn the caller of this library, unless that was done, or is not meant (`silently`)."""
    if not _SILENT.get():
        warnings.warn(message, stacklevel=level_of_caller())


def level_of_caller() -> int:
    """How many calls up from `warnings.warn` the first one outside of this library is."""
    level, frame = 1, sys._getframe(1)
    package = __name__.partition(".")[0]
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level


@contextlib.contextmanager
def silently(again: bool = True) -> Iterator[None]:
    """Where a quota is used `again`, there was a warning the first time."""
    token = _SILENT.set(again)
    try:
        yield
    finally:
        _SILENT.reset(token)
