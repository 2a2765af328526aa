"""What an interpreter shows of the named tuples that functions return."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

Record = TypeVar("Record", bound=type)


def plainly(record: Record) -> Record:
    """Make a kind of named tuple show its numbers as Python's own: 0.5, not np.float64(0.5)."""

    def shown(self: Any) -> str:
        named = (f"{name}={_plain(x)}" for name, x in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({', '.join(named)})"

    record.__repr__ = shown  # type: ignore[method-assign,assignment]
    return record


def _plain(value: Any) -> str:
    return str(value) if isinstance(value, (np.number, np.bool)) else repr(value)
