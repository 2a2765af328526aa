"""What is known of measures, also of those that mappings and partial functions hold."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from quotakernels.measures._measure import Measure


def depends_on_positives_only(measure: Any) -> bool:
    """Whether a measure, or every one of a mapping or `functools.partial`, is `by_positives`."""
    return all(isinstance(x, Measure) and x.by_positives for x in _within(measure))


def without_gains(measure: Any) -> bool:
    """Whether the same are all of this library and not of gains."""
    return not any(getattr(x, "of_gains", True) for x in _within(measure))


def without_costs(measure: Any) -> bool:
    """Whether the same are all of this library and take no budget."""
    return not any(getattr(x, "takes_costs", True) for x in _within(measure))


def without_arms(measure: Any) -> bool:
    """Whether the same are all of this library and not of uplift."""
    return not any(getattr(x, "of_arms", True) for x in _within(measure))


def refuse_arms(measure: Any, place: str) -> None:
    """Raise for measures of uplift in a place that does not keep treatments."""
    for name in (x.__name__ for x in _within(measure) if getattr(x, "of_arms", False)):
        raise TypeError(
            f"{name} needs the treatment of each example, which {place} does not keep; rank takes "
            "it, and a ScoreBuffer keeps it"
        )


def needs_ideal(measure: Any) -> bool:
    """Whether one of the same compares with the ideal order."""
    return any(getattr(x, "of_ideal", False) for x in _within(measure))


def made_here(measure: Any) -> bool:
    """Whether the same are all of this library, which measures batches as well as lists."""
    return all(isinstance(x, Measure) or getattr(x, "made_here", False) for x in _within(measure))


def of_all_groups(measure: Any) -> str:
    """The name of one of the same that is of all groups together; empty if there is none."""
    names = (x.__name__ for x in _within(measure) if getattr(x, "over_groups", False))
    return next(names, "")


def _within(measure: Any) -> Iterator[Any]:
    """What mappings and partial functions hold."""
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
