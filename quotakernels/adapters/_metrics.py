"""What metrics of other frameworks share: measures that fit what they keep, and bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quotakernels.inputs.keywords import show_value
from quotakernels.measures._facts import refuse_arms
from quotakernels.measures.by_group import check_complete, needs_costs
from quotakernels.states._compute import BOUNDS, Bounds, check_bounded


def check_measures_fit(measures: Iterable[Any], exact: bool, instead: str) -> None:
    """Raise for measures that need what no metric keeps, that lack an option, or have no bounds
    where scores are not kept exactly, and say what to do instead.
    """
    for measure in measures:
        refuse_arms(measure, "a metric")
        check_complete(measure)
        if not exact:
            check_bounded(measure, {}, instead)


def costly(measures: Iterable[Any]) -> str:
    """The name of the first measure that needs what each example costs; empty if none does."""
    return next(filter(None, map(needs_costs, measures)), "")


def check_bound(bound: Any) -> None:
    """Raise unless it says which of two bounds to report."""
    if bound not in BOUNDS:
        raise ValueError(f"bound must be one of {', '.join(BOUNDS)}; got {show_value(bound)}")


def reported(found: Any, bound: str) -> Any:
    """Each of what was found, with one number in place of two bounds, if it is wanted."""
    if isinstance(found, Mapping):
        return {name: reported(value, bound) for name, value in found.items()}
    return found.reported(bound) if isinstance(found, Bounds) else found
