"""Measures with some of their keyword arguments fixed."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

from quotakernels.inputs.keywords import brief

R = TypeVar("R")


class MeasureWithOptions(functools.partial[R]):
    """A ``functools.partial`` of a measure that has a ``__name__``, as some libraries want.

    It is a partial function, so it stands wherever one of a measure may.
    """

    __name__: str

    def __repr__(self) -> str:
        return f"<measure {self.__name__}>"


def named(measure: Any, name: str | None, options: dict[str, Any]) -> MeasureWithOptions[Any]:
    """The measure with its options, by default named after both: ``hit_rate_quota_100``."""
    found: MeasureWithOptions[Any] = MeasureWithOptions(measure, **options)
    if name is None:
        words = (f"{option}_{_word(option, value)}" for option, value in options.items())
        name = "_".join((measure.__name__, *words))
    elif not isinstance(name, str):
        raise TypeError(f"name must be a string; got {brief(name)}")
    found.__name__ = name
    return found


def _word(option: str, value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "_".join(_word(option, x) for x in value)
    if value is None or isinstance(value, (str, int, float)):
        return str(value)
    word = getattr(value, "__name__", None)
    if not isinstance(word, str):
        kind = type(value).__name__
        raise TypeError(f"pass name=, because {option} is of type {kind} and makes no name")
    return word
