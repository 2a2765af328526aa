"""What a call says of measures and of resamples, checked; and why something is refused."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np

from quotakernels import ops
from quotakernels.inference._distributions import check_level
from quotakernels.inputs.examples import check_tie_policy
from quotakernels.inputs.gains import Beside
from quotakernels.inputs.groups import size_of
from quotakernels.inputs.keywords import show_value, warn_once
from quotakernels.measures._facts import (
    OneField,
    best_of_cuts,
    refusal,
    title_of,
    without_arms,
    without_costs,
    without_gains,
)
from quotakernels.measures._measure import Measure
from quotakernels.measures.by_group import mean_over_groups
from quotakernels.measures.over_quotas.areas import gini, pem, roc_auc

IntervalMethod: TypeAlias = Literal["expanded", "bca", "percentile", "basic"]


CORRECTED = ("expanded", "bca")
"""Methods that also want to know what the parts of the examples do."""

AreaName: TypeAlias = Literal["roc_auc", "gini", "pem"]
AreaMeasure: TypeAlias = AreaName | Measure
Name = TypeVar("Name", bound=str)
_AREAS: dict[AreaName, Any] = {"roc_auc": roc_auc, "gini": gini, "pem": pem}
_SCALES = {"roc_auc": 1, "gini": 2, "pem": 2}
"""How much each grows where AUC grows by 1."""


def area_name(measure: Any) -> AreaName | None:
    """The name of an area that is given by its name or function; None of anything else."""
    return name_if_any(measure, _AREAS)


def scale_of(measure: Any) -> int:
    return _SCALES[name_of(measure, _AREAS)]


def name_of(measure: Any, known: Mapping[Name, Any]) -> Name:
    """The name of a measure that must be one of those that are known."""
    name = name_if_any(measure, known)
    if name is None:
        *names, last = (f'"{x}"' for x in known)
        raise ValueError(f"measure must be {', '.join(names)} or {last}; got {show_value(measure)}")
    return name


def name_if_any(measure: Any, known: Mapping[Name, Any]) -> Name | None:
    while isinstance(measure, functools.partial) and not (measure.args or measure.keywords):
        measure = measure.func
    named = measure if isinstance(measure, str) else None
    return next((name for name, x in known.items() if measure is x or named == name), None)


def refuse_weights(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise TypeError("sample_weight is refused: the variance assumes single examples")


def refuse_masses(table: ops.Groups, name: str) -> None:
    if table.weighted:
        raise TypeError(f"{name} has weights, but the variance assumes examples drawn one by one")


def check_resampling(
    n_resamples: int,
    confidence_level: float,
    method: str,
    ties: str,
    stratified: bool = False,
    clusters: Any = None,
) -> int:
    """The number of resamples; raise for arguments that are out of range."""
    n_resamples = size_of("n_resamples", from_one("n_resamples", n_resamples))
    check_level(confidence_level)
    if method not in get_args(IntervalMethod):
        *most, last = map('"{}"'.format, get_args(IntervalMethod))
        raise ValueError(f"method must be {', '.join(most)} or {last}; got {show_value(method)}")
    check_tie_policy(ties)
    if ties == "given":
        raise ValueError('ties="given" has no meaning for rows that are drawn several times')
    if clusters is not None and stratified:
        raise ValueError("stratified and clusters cannot be combined: clusters are drawn whole")
    return n_resamples


def with_options(
    measure: Any,
    options: Mapping[str, Any],
    beside: Beside,
    labelled: bool = True,
) -> Any:
    """A measure with its options, or a mapping of measures that has none."""
    _check_functions(measure, options)
    refuse_unused(measure, beside)
    check_groups(measure, beside.groups, labelled)
    if not isinstance(measure, Mapping):
        applied = functools.partial(measure, **options) if options else measure
        one_field = isinstance(applied, OneField)
        return applied if one_field else mean_over_groups(applied) or applied
    if options:
        raise TypeError(
            f"{next(iter(options))} would go to all of several measures; give it to one by "
            "with_options or functools.partial"
        )
    return measure


def warn_of_maxima(measure: Any) -> None:
    for each in measure.values() if isinstance(measure, Mapping) else [measure]:
        if best_of_cuts(each):
            warn_once(
                f"{title_of(each)} takes the best of many cuts, of which resamples find better "
                "ones than there are: its interval lies too high"
            )


def refuse_unused(measure: Any, beside: Beside) -> None:
    """Raise for gains, costs and treatments that no measure uses."""
    for name, without, use in _USES:
        if getattr(beside, name) is not None and without(measure):
            raise TypeError(f"{name} is not for {_titles(measure)}; it is for {use}")


_USES: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    (
        "gain",
        without_gains,
        "measures of what each example brings, such as impact_at_quota and best_quota",
    ),
    ("cost", without_costs, "measures at a budget, such as hit_rate"),
    ("treatment", without_arms, "measures of uplift, such as uplift_at_quota"),
)


def _titles(measure: Any) -> str:
    """What messages call a measure, or those of a mapping."""
    named = measure if isinstance(measure, Mapping) else [title_of(measure)]
    return ", ".join(map(str, named))


def _check_functions(measure: Any, options: Mapping[str, Any]) -> None:
    expected = (
        "measure must be a function of a ranking, such as quotakernels.roc_auc, or a mapping "
        "of names to them"
    )
    if isinstance(measure, Mapping):
        for each in measure.values():
            _check_functions(each, {})
    elif not callable(measure):
        raise TypeError(f"{expected}, and it comes first; got {show_value(measure)}")
    elif (wrong := refusal(measure, options)) is not None:
        raise TypeError(f"{expected}; {wrong}")


def from_one(name: str, number: Any) -> int:
    """A whole number, 1 or more."""
    try:
        if isinstance(number, (bool, np.bool_)):
            raise TypeError
        whole = operator.index(number)
    except TypeError:
        raise TypeError(f"{name} must be a whole number; got {show_value(number)}") from None
    if whole < 1:
        raise ValueError(f"{name} must be at least 1; got {whole}")
    return whole


def draws_groups(measure: Any, clusters: Any, groups: Any, stratified: bool = False) -> bool:
    """Whether groups are what is drawn: of means over groups, where no clusters are given."""
    means = check_groups(measure, groups)
    if clusters is not None or not any(means):
        return False
    if not all(means):
        raise TypeError(
            "group_mean draws groups, but the other measures draw examples: make two calls, or "
            "pass clusters="
        )
    if stratified:
        raise ValueError("stratified and group_mean cannot be combined: groups are drawn whole")
    return True


def check_groups(measure: Any, groups: Any, labelled: bool = True) -> list[bool]:
    """Which of the measures are means over groups; raise for these where there are no groups, or
    no labels that they need.
    """
    each = measure.values() if isinstance(measure, Mapping) else [measure]
    means = [mean_over_groups(x) for x in each]
    for mean in means:
        if mean is not None and groups is None:
            raise TypeError("group_mean needs groups, the group of each example")
        if mean is not None and not labelled:
            mean.check_unlabelled()
    return [mean is not None for mean in means]
