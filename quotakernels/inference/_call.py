"""Checks of calls: their measures, how resamples are drawn, and whether there are too few data."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, readable
from quotakernels.inference._distributions import check_level
from quotakernels.inputs.columns import COLUMNS
from quotakernels.inputs.examples import Validated, check_tie_policy, validated
from quotakernels.inputs.groups import size_of
from quotakernels.inputs.keywords import check_choice, show_value, warn_once
from quotakernels.inputs.models import host_floats
from quotakernels.measures._facts import OneField, fact, refusal, takes, title_of
from quotakernels.measures._measure import GROUPS, Measure
from quotakernels.measures.by_group import mean_over_groups
from quotakernels.measures.over_quotas import gini, pem, roc_auc
from quotakernels.ranking import TiePolicy, rank

IntervalMethod: TypeAlias = Literal["expanded", "bca", "percentile", "basic", "student"]
CORRECTED = ("expanded", "bca", "student")
"""Methods that also need the measure without each part of the examples."""
DATA = {
    name: p.default
    for name, p in inspect.signature(rank).parameters.items()
    if p.kind is p.KEYWORD_ONLY and name != "ties"
}
"""The keywords of `rank`, with their defaults."""

AreaName: TypeAlias = Literal["roc_auc", "gini", "pem"]
AreaMeasure: TypeAlias = AreaName | Measure
Name = TypeVar("Name", bound=str)
_AREAS: dict[AreaName, Any] = {"roc_auc": roc_auc, "gini": gini, "pem": pem}
_SCALES = {"roc_auc": 1, "gini": 2, "pem": 2}
"""How much each area grows if AUC grows by 1."""


def area_name(measure: Any) -> AreaName | None:
    """The name of an area that is given by name or as a function; None for anything else."""
    return name_if_any(measure, _AREAS)


def scale_of(measure: Any) -> int:
    return _SCALES[name_of(measure, _AREAS)]


def name_of(measure: Any, known: Mapping[Name, Any]) -> Name:
    """The name of a measure, which must be one of the known ones."""
    name = name_if_any(measure, known)
    check_choice("measure", measure if name is None else name, *known)
    return name  # type: ignore[return-value]


def name_if_any(measure: Any, known: Mapping[Name, Any]) -> Name | None:
    while isinstance(measure, functools.partial) and not (measure.args or measure.keywords):
        measure = measure.func
    named = measure if isinstance(measure, str) else None
    return next((name for name, x in known.items() if measure is x or named == name), None)


OF_LABELS = {
    **dict.fromkeys(("ties", *COLUMNS), ": it needs labels and scores alone"),
    **dict.fromkeys(GROUPS, "; call it with one group's examples"),
    "y_score": ": the scores are those of the models",
    "sample_weight": ": the variance assumes single examples",
}
"""Keywords of `rank` that tests of single examples refuse, and why."""


def refuse_weights(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise TypeError("sample_weight is refused: the variance assumes single examples")


def refuse_masses(table: ops.TieTable, name: str) -> None:
    if table.weighted:
        raise TypeError(f"{name} has weights, but the variance assumes examples drawn one by one")


class IntervalMeasure(Measure):
    """An interval in closed form: with weights it also reads the sums of their squares."""

    def _validated(self, given: dict[str, Any], ties: TiePolicy) -> Validated:
        found = super()._validated(given, ties)
        if (weights := found.examples.weights) is None:
            return found
        return found._replace(examples=found.examples._replace(columns={"square": weights}))

    def _check_columns(self, table: Any) -> None:
        super()._check_columns(table)
        if table.weighted and "square" not in table.columns:
            missing = "the ranking has weights, but not the sums of their squares"
            raise TypeError(f"{missing}: pass labels and scores")


class DrawOptions(NamedTuple):
    """How resamples are drawn, how many, and in how much memory."""

    clusters: Any
    stratified: bool
    poisson: bool
    random_state: Any
    ties: TiePolicy
    n_resamples: int
    max_memory: int
    progress: bool | Callable[[int, int], None] | None

    def checked(self, confidence_level: float, method: str) -> DrawOptions:
        """The options with plain numbers of resamples and bytes; raise for those out of range."""
        number = size_of("n_resamples", from_one("n_resamples", self.n_resamples))
        memory = from_one("max_memory", self.max_memory)
        check_level(confidence_level)
        check_choice("method", method, *get_args(IntervalMethod))
        if self.ties == "given":
            raise ValueError('ties="given" has no meaning for rows that are drawn several times')
        if self.clusters is not None and self.stratified:
            raise ValueError("stratified and clusters cannot be combined: clusters are drawn whole")
        return self._replace(n_resamples=number, max_memory=memory)


class Call(NamedTuple):
    """A measure with its options, or a mapping of measures, and the arguments of `rank`.

    `data` contains the keywords that differ from their defaults.
    """

    measure: Any
    y_true: Any
    data: dict[str, Any]
    ties: TiePolicy

    def validated(self, y_score: Any) -> Validated:
        """Scores, checked with the labels and other columns."""
        return validated({"y_true": self.y_true, "y_score": y_score, **self.data})


def call_of(measure: Any, y_true: Any, keywords: Mapping[str, Any]) -> Call:
    """The keywords of a call, divided into those of `rank` and options of the measure."""
    data = {x: keywords[x] for x in DATA if x in keywords and keywords[x] is not DATA[x]}
    options = {x: keywords[x] for x in keywords if x not in DATA and x != "ties"}
    ties = keywords.get("ties", "expected")
    check_tie_policy(ties)
    _check_functions(measure, options)
    refuse_unused(measure, data)
    check_groups(measure, data.get("groups"), y_true is not None)
    return Call(_applied(measure, options), y_true, data, ties)


def _applied(measure: Any, options: dict[str, Any]) -> Any:
    """A measure with its options applied, or a mapping of measures, which has none."""
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
        if fact(each, "best_of_cuts"):
            warn_once(
                f"{title_of(each)} takes the best of many cuts. In resamples the best "
                "looks better than it is, so its interval lies too high"
            )


def refuse_unused(measure: Any, data: Mapping[str, Any]) -> None:
    """Raise for gains, costs and treatments that no measure uses."""
    for name, use in _USES.items():
        if data.get(name) is not None and not takes(measure, name):
            raise TypeError(f"{name} is not for {_titles(measure)}; it is for {use}")


_USES = {
    "gain": "measures of what each example brings, such as impact_at_quota and best_quota",
    "cost": "measures at a budget, such as hit_rate",
    "treatment": "measures of uplift, such as uplift_at_quota",
}


def _titles(measure: Any) -> str:
    """The name of a measure, or the names in a mapping, for messages."""
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
    """Whether whole groups are drawn: for means over groups, if no clusters are given."""
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
    """Which of the measures are means over groups; raise if these lack groups or labels that they
    need.
    """
    each = measure.values() if isinstance(measure, Mapping) else [measure]
    means = [mean_over_groups(x) for x in each]
    for mean in means:
        if mean is not None and groups is None:
            raise TypeError("group_mean needs groups, the group of each example")
        if mean is not None and not labelled:
            mean.check_unlabelled()
    return [mean is not None for mean in means]


# data that are too few for what intervals and tests say of them


NDArray = np.ndarray[Any, Any]
ENOUGH_CLUSTERS = 60
"""With 40 clusters tests at 5 % rejected in 7 %, and 95 % intervals covered AHR in 91 %."""
ENOUGH_GROUPS = 20
"""95 % intervals of means covered 75 to 84 % with 4 groups, 86 to 96 % with 6 to 15."""
ENOUGH_SCORES = 20
"""Where so few scores can be cut at, resamples hardly choose other cuts."""
ENOUGH_LOST, NEAR_ONE, NEAREST = 3.0, 0.97, 0.999
"""Above such an AUC intervals of 95 % mostly held 80 to 93 % where (1 - AUC), times how many there
are of the rarer class, was less.  Beyond the last it is hardly known how near 1 an AUC is.
"""

_SEVERAL = {"resamples": 20, "folds": 2}
"""Fewer resamples are too often alike by chance."""


class Purpose(NamedTuple):
    """How many examples of a class are enough, or how many clusters with one, by simulations; and
    what is wrong with fewer.
    """

    examples: int
    clusters: int
    wrong: str


INTERVALS = Purpose(5, 5, "intervals are too narrow")
PRECISION = Purpose(30, 30, "intervals of hit rates and their averages, such as AP, are too narrow")
TESTS = Purpose(
    30, ENOUGH_CLUSTERS, "p-values are too small, and intervals near an AUC of 1 too narrow,"
)


def warn_of_few(
    purpose: Purpose,
    units: tuple[Array, Array],
    unit: str = "",
    where: str = "",
    area: float = 0.5,
    of_precision: bool = False,
) -> None:
    """Warn of few positives or negatives in a list or group that has both, or few units with one.

    More are few where the `area` under the ROC curve is near 1, and for hit rates and AP.
    """
    negatives_first = np.stack([host_floats(x).ravel() for x in reversed(units)])
    both = negatives_first[:, np.all(negatives_first > 0, axis=0)]
    if not both.size:
        return
    fewest, kind = min(zip(both.min(axis=1).tolist(), ("negatives", "positives"), strict=True))
    some = f"{kind.removesuffix('s') if fewest == 1 else kind}{where}"
    if unit:
        some = f"{unit}{'s' * (fewest > 1)} with {kind}"
    enough = [(x.wrong, x.clusters if unit else x.examples) for x in (purpose, PRECISION)]
    near = ("intervals near an AUC of 1 are too narrow", 0 if unit else enough_near_one(area))
    limits = [enough[0], near, *enough[1:] * of_precision]
    any(warn_below(fewest, some, *limit) for limit in limits)


def enough_near_one(area: float) -> int:
    """How many examples of a class are enough near an AUC of 1; 0 for any other AUC."""
    return math.ceil(ENOUGH_LOST / (1 - min(area, NEAREST))) if area > NEAR_ONE else 0


def few_near_one(units: Array) -> bool:
    """Whether so few examples of a class could be too few, if the AUC is near enough to 1."""
    return bool(np.any(host_floats(units) < enough_near_one(1.0)))


def largest_of(areas: Array) -> float:
    """The largest AUC, at least 0.5; areas that are undefined do not count."""
    found = host_floats(areas)
    return float(np.max(found, initial=0.5, where=~np.isnan(found)))


def few_whole(units: int, what: str = "clusters") -> bool:
    """Whether there are so few clusters or groups that resamples vary too little; warns of it."""
    enough = ENOUGH_GROUPS if what == "groups" else ENOUGH_CLUSTERS
    return warn_below(units, what, INTERVALS.wrong, enough)


def warn_of_equal_rates(measure: Any, values: Any, lists: int, what: str = "resamples") -> None:
    """Warn where the middle 95% of the resamples of a list have one hit rate, as where nearly all
    of the selected are positive; lists have so many axes, and a curve has one more.
    """
    if isinstance(measure, Mapping):
        for name, each in measure.items():
            warn_of_equal_rates(each, values[name], lists, what)
    elif title_of(measure) == "hit_rate" and values.ndim == lists + 1 and readable(values):
        found = np.sort(host_floats(values), axis=-1)
        apart = found.shape[-1] // 40
        if found.shape[-1] < _SEVERAL[what]:
            return
        if np.any(found[..., apart] == found[..., found.shape[-1] - 1 - apart]):
            every = "all" if np.any(found[..., 0] == found[..., -1]) else "nearly all"
            warn_once(
                f"{every} {what} have the same hit rate, which does not mean certainty: intervals "
                "of hit rates near 0 or 1 are too narrow"
            )


def warn_below(number: float, what: str, wrong: str, enough: int) -> bool:
    """Whether a number is too small, of which it warns."""
    if number < enough:
        warn_once(f"only {round(number, 1):g} {what}: {wrong} with fewer than {enough}")
    return number < enough
