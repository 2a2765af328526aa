"""What is known of measures: what they need, and which value is the better one."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Iterator, Mapping
from typing import Any

from quotakernels.inputs.columns import COLUMNS
from quotakernels.inputs.keywords import show_value
from quotakernels.measures._measure import Measure


def depends_on_positives_only(measure: Any) -> bool:
    """Whether a measure, or each one in a mapping or a `functools.partial`, is `by_positives`."""
    return all(isinstance(x, Measure) and x.by_positives for x in _within(measure))


def takes(measure: Any, column: str) -> bool:
    """Whether a measure, or one in a mapping, takes that column; one from elsewhere may."""
    return any(column in getattr(x, "takes", COLUMNS) for x in _within(measure))


def needs_ideal(measure: Any) -> bool:
    """Whether a measure, or one in a mapping, compares with the ideal order of the gains."""
    return any(getattr(x, "ideal", False) for x in _within(measure))


def made_here(measure: Any) -> bool:
    """Whether a measure, or each one in a mapping, is of this library, and so takes batches too."""
    return all(isinstance(x, Measure) or getattr(x, "made_here", False) for x in _within(measure))


def of_all_groups(measure: Any) -> str:
    """The name of a measure, or one in a mapping, of all groups together; empty if none is."""
    names = (x.__name__ for x in _within(measure) if getattr(x, "over_groups", False))
    return next(names, "")


def _within(measure: Any) -> Iterator[Any]:
    """The measures in mappings and partial functions, at any depth."""
    if isinstance(measure, Mapping):
        for each in measure.values():
            yield from _within(each)
    elif isinstance(measure, functools.partial):
        yield from _within(measure.func)
    else:
        yield measure


def bounded_by_ties(measure: Any, options: dict[str, Any]) -> bool:
    """Whether a measure with these options is `monotone`."""
    when = measure.monotone if isinstance(measure, Measure) else ""
    if when != "by default":
        return when == "always"
    parameters = measure.__signature__.parameters
    defaults = {name: x.default for name, x in parameters.items()}
    return all(defaults.get(name) == value for name, value in options.items())


def fact(measure: Any, name: str, default: Any = None) -> Any:
    """The fact of that name about a measure, or about the one in a `functools.partial`."""
    return getattr(unwrapped(measure)[0], name, default)


def direction_of(measure: Any, given: bool | None) -> bool:
    """Whether more is better, as given or as the measure says; raise if neither says it."""
    if given is not None and not isinstance(given, bool):
        raise TypeError(f"greater_is_better must be True, False or None; got {show_value(given)}")
    direction: bool | None = fact(measure, "greater_is_better") if given is None else given
    if direction is None:
        raise TypeError(
            f"{title_of(measure)} does not say whether more is better; give greater_is_better=True "
            f"or greater_is_better=False{fact(measure, 'advice', '')}"
        )
    return direction


class OneField(functools.partial[Any]):
    """A measure that gives a record, reduced to one field of it."""

    @property
    def __name__(self) -> str:
        """The measure's own."""
        return title_of(self)

    def __call__(self, /, *arguments: Any, **keywords: Any) -> Any:
        return self.of(super().__call__(*arguments, **keywords))

    def of(self, record: Any) -> Any:
        """The field of that record."""
        return operator.attrgetter(fact(self, "headline"))(record)


def compared(measure: Any) -> Any:
    """The measure, reduced to its headline if it gives a record, so that models can be compared."""
    return OneField(measure) if fact(measure, "headline") else measure


def title_of(measure: Any) -> str:
    """What messages call a measure."""
    return fact(measure, "__name__", repr(unwrapped(measure)[0]))


def unwrapped(measure: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The function inside a `functools.partial`, at any depth, and its arguments and keywords."""
    arguments: tuple[Any, ...] = ()
    keywords: dict[str, Any] = {}
    while isinstance(measure, functools.partial):
        arguments, keywords = (*measure.args, *arguments), measure.keywords | keywords
        measure = measure.func
    return measure, arguments, keywords


def check_value(measure: Any, value: Any) -> None:
    """Raise for a value that no measure gives, such as that of ``len``."""
    if value is None or isinstance(value, (int, str)):
        raise TypeError(f"measure must give a float or arrays; {title_of(measure)} gives {value!r}")


def refusal(measure: Any, options: Mapping[str, Any]) -> str | None:
    """Why a function from elsewhere cannot be called with a ranking, if its signature tells."""
    inner = unwrapped(measure)[0]
    if str(getattr(inner, "__module__", "")).partition(".")[0] == "quotakernels":
        return None  # its signature is the one for labels and scores
    try:
        signature = inspect.signature(measure)
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(None, **options)
    except TypeError as error:
        name = getattr(measure, "__name__", repr(measure))
        return f"{name} cannot be called with a ranking: {error}"
    return None
