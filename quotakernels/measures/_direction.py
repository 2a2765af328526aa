"""Which of two values of a measure is the better one, and what is no value of a measure."""

from __future__ import annotations

import functools
import operator
from typing import Any

from quotakernels.inputs.keywords import brief


def own_direction(measure: Any) -> bool | None:
    """Whether more is better of a measure or a `functools.partial` of one; None of others."""
    direction: bool | None = getattr(_inner(measure), "greater_is_better", None)
    return direction


def direction_if_any(measure: Any, given: bool | None) -> bool | None:
    """Whether more of a measure is better: what is given, or the measure's own."""
    if given is not None and not isinstance(given, bool):
        raise TypeError(f"greater_is_better must be True, False or None; got {brief(given)}")
    return own_direction(measure) if given is None else given


def direction_of(measure: Any, given: bool | None) -> bool:
    """The same where there must be one."""
    direction = direction_if_any(measure, given)
    if direction is None:
        raise TypeError(
            f"{title_of(measure)} does not say whether more is better; give greater_is_better=True "
            f"or greater_is_better=False{getattr(_inner(measure), 'advice', '')}"
        )
    return direction


class OneField(functools.partial[Any]):
    """A measure of whose record one field is taken."""

    @property
    def __name__(self) -> str:
        """The measure's own."""
        return title_of(self)

    def __call__(self, /, *arguments: Any, **keywords: Any) -> Any:
        return self.of(super().__call__(*arguments, **keywords))

    def of(self, record: Any) -> Any:
        """That field of what the measure gives."""
        return operator.attrgetter(headline_of(self))(record)


def compared(measure: Any) -> Any:
    """The measure, or where it gives a record the one number of it by which models are compared."""
    return OneField(measure) if headline_of(measure) else measure


def headline_of(measure: Any) -> str:
    """The field of a record by which models are compared; empty of a measure without one."""
    return getattr(_inner(measure), "headline", "")


def title_of(measure: Any) -> str:
    """What messages call a measure."""
    inner = _inner(measure)
    return getattr(inner, "__name__", repr(inner))


def best_of_cuts(measure: Any) -> bool:
    """Whether a measure, or a `functools.partial` of one, takes the best of many cuts."""
    flattered: bool = getattr(_inner(measure), "best_of_cuts", False)
    return flattered


def _inner(measure: Any) -> Any:
    """What is called by `functools.partial`, at any depth."""
    while isinstance(measure, functools.partial):
        measure = measure.func
    return measure


def check_value(measure: Any, value: Any) -> None:
    """Raise for what no measure gives, as ``len`` does."""
    if value is None or isinstance(value, (int, str)):
        raise TypeError(f"measure must give a float or arrays; {title_of(measure)} gives {value!r}")
