"""States keep the types of their arrays when they are pickled."""

from __future__ import annotations

from typing import Any

from quotakernels._array import packed, unpacked


def pickled(state: Any) -> Any:
    """What ``__reduce__`` of a state has to return."""
    return _restored, _packed(state)


def _packed(x: Any) -> Any:
    """A tuple of packed fields with its type before them, or an array as `packed` leaves it."""
    if isinstance(x, tuple):
        return (type(x), *map(_packed, x))
    if isinstance(x, dict):
        return {name: packed(column) for name, column in x.items()}
    return x if x is None else packed(x)


def _restored(kind: type[Any], *fields: Any) -> Any:
    parts = [_unpacked(x) for x in fields]
    return tuple(parts) if kind is tuple else kind(*parts)


def _unpacked(x: Any) -> Any:
    if x is None:
        return None
    if isinstance(x, dict):
        return {name: unpacked(*column) for name, column in x.items()}
    return _restored(*x) if isinstance(x[0], type) else unpacked(*x)
