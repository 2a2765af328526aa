"""What a call may give: how resamples are drawn, and a measure with the options that it takes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, get_args

from quotakernels.inference._normal import check_level
from quotakernels.inference.resampling.group_means import check_groups
from quotakernels.inference.resampling.intervals import IntervalMethod
from quotakernels.inference.resampling.values import from_one
from quotakernels.inputs.examples import check_tie_policy
from quotakernels.inputs.gains import Beside
from quotakernels.inputs.groups import size_of
from quotakernels.inputs.keywords import brief
from quotakernels.inputs.warned import warn_once
from quotakernels.measures._direction import OneField, best_of_cuts, title_of
from quotakernels.measures._facts import without_arms, without_costs, without_gains
from quotakernels.measures._foreign import refusal
from quotakernels.measures.by_group import mean_over_groups


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
        raise ValueError(f"method must be {', '.join(most)} or {last}; got {brief(method)}")
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


def _warn_of_maxima(measure: Any) -> None:
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
            raise TypeError(f"{name} is not for {_names_of(measure)}; it is for {use}")


_USES: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    (
        "gain",
        without_gains,
        "measures of what each example brings, such as impact_at_quota and best_quota",
    ),
    ("cost", without_costs, "measures at a budget, such as hit_rate"),
    ("treatment", without_arms, "measures of uplift, such as uplift_at_quota"),
)


def _names_of(measure: Any) -> str:
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
        raise TypeError(f"{expected}, and it comes first; got {brief(measure)}")
    elif (wrong := refusal(measure, options)) is not None:
        raise TypeError(f"{expected}; {wrong}")
