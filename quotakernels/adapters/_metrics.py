"""Shared by metrics of other frameworks: checks of measures, and bounds as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from quotakernels.inputs.keywords import check_choice
from quotakernels.measures._measure import Measure
from quotakernels.measures.by_group import needed_columns, without_options
from quotakernels.states._batch import names_of
from quotakernels.states._compute import BOUNDS, Bounds, check_bounded, check_measures

NEEDED = {
    "groups": "the group of each example",
    "gain": "what each example brings",
    "cost": "what each example costs",
    "treatment": "the treatment of each example",
}
"""What columns of examples mean, for messages."""


def named_measures(measures: Any, name: str = "") -> Mapping[str, Any]:
    """Measures by name; a single one is named after itself."""
    return measures if isinstance(measures, Mapping) else {name: measures}


def check_measures_fit(measures: Iterable[Any], exact: bool, instead: str) -> None:
    """Raise for measures that lack an option or, without `exact` scores, bounds; and say what to do
    instead.
    """
    for measure in measures:
        function, options = without_options(measure)
        lacking = function.lacking(options) if isinstance(function, Measure) else ()
        if lacking:
            name, either = function.__name__, " or ".join(f"{x}=" for x in lacking)
            raise TypeError(f"{name} needs {either}; pass {name}.with_options({lacking[0]}=…)")
        if not exact:
            check_bounded(measure, {}, instead)


def checked_metric(
    measures: Any, like: Any, bound: Any, given: Iterable[str] | None
) -> tuple[str, ...]:
    """The names of the columns that a metric keeps: those given, or those that measures need.

    Raises
    ------
    TypeError
        What is no measure, of such scores.
    ValueError
        Names of no columns; a measure that needs another column; no bound to report.
    """
    check_measures(measures, like)
    check_choice("bound", bound, *BOUNDS)
    several = named_measures(measures).values()
    needed = {name: title for x in several for name, title in needed_columns(x).items()}
    names = names_of(needed if given is None else given)
    for name in (x for x in needed if x not in names):
        raise ValueError(f"{needed[name]} needs {NEEDED[name]}; columns must hold {name!r}")
    return names


def reported(found: Any, bound: str) -> Any:
    """The results, with one number in place of two bounds if that is wanted."""
    if isinstance(found, Mapping):
        return {name: reported(value, bound) for name, value in found.items()}
    return found.reported(bound) if isinstance(found, Bounds) else found
