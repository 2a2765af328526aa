"""What metrics of other frameworks share: measures that fit a state, names of outputs, bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from quotakernels._array import concrete
from quotakernels.inputs.keywords import show_value
from quotakernels.measures._facts import refuse_arms
from quotakernels.measures.by_group import check_complete, needs_costs
from quotakernels.states import ScoreBuffer, ScoreHistogram
from quotakernels.states._compute import BOUNDS, Bounds, check_bounded, check_measures

SAMPLE_WEIGHT, WHERE, GROUPS = "sample_weight", "mask", "groups"
"""The usual names, of outputs that may be absent."""
_OTHERWISE = {
    SAMPLE_WEIGHT: ("sample_weight", ("sample_weights", "weights", "weight")),
    WHERE: ("where", ("where",)),
    GROUPS: ("groups", ("group", "indexes")),
}
"""The option that gives another name, and what is likely to be meant for it."""


_EXACT = (
    "make the metric with FixedScoreBuffer.empty(like, capacity=…), or with a ScoreHistogram of "
    "bfloat16 or float16 scores"
)


def check_bound(bound: Any) -> None:
    """Raise unless it says which of two bounds to report."""
    if bound not in BOUNDS:
        raise ValueError(f"bound must be one of {', '.join(BOUNDS)}; got {show_value(bound)}")


def reported(found: Any, bound: str) -> Any:
    """Each of what was found, with one number in place of two bounds, if it is wanted."""
    if isinstance(found, Mapping):
        return {name: reported(value, bound) for name, value in found.items()}
    return found.reported(bound) if isinstance(found, Bounds) else found


def check_metric(measures: Any, state: Any, cost: str | None, bound: Any) -> None:
    """Raise for something else than measures, for those that the state has no value of, for costs
    that are not kept, and for a state of several lists of scores.
    """
    check_measures(measures, state.like)
    check_bound(bound)
    several = measures.values() if isinstance(measures, Mapping) else [measures]
    name = next(filter(None, map(needs_costs, several)), "")
    if name and cost is None:
        raise TypeError(f"{name} needs what each example costs; cost= names that output")
    if cost is not None and not isinstance(state, ScoreBuffer):
        raise TypeError(f"a {type(state).__name__} keeps no costs, a ScoreBuffer does")
    refuse_arms(measures, "a metric")
    for measure in several:
        check_complete(measure)
        if isinstance(state, ScoreHistogram) and not state.exact:
            check_bounded(measure, {}, _EXACT)
    batch = tuple(state.like.shape[:-1])
    if batch:
        raise ValueError(
            f"state must be for one list of scores, of shape (n,); got one with batch axes "
            f"{batch}: make a metric for each model or class, from like=scores[:, 0]"
        )


def in_place_of(state: Any) -> Any:
    """The state that a metric keeps next; raise for one that grows in a compiled step."""
    if isinstance(state, ScoreBuffer) and not concrete(state.bad):
        raise TypeError(
            "a ScoreBuffer grows, so each step would be compiled anew; make the metric with "
            "FixedScoreBuffer.empty(like, capacity=…), or update it outside of compiled steps"
        )
    return state


class OutputNames(NamedTuple):
    """What the outputs that a state needs are called, of which four may be None, and the positive
    label.
    """

    labels: str
    scores: str
    sample_weight: str | None
    where: str | None
    groups: str | None
    cost: str | None
    pos_label: Any

    def updated(self, state: Any, outputs: Mapping[str, Any]) -> Any:
        """The state after one more batch, out of all that a model and its step have put out."""
        groups = _named(self.groups, outputs, GROUPS)
        beside = {} if groups is None else {"groups": groups}
        if self.cost is not None:
            beside["cost"] = _named(self.cost, outputs)
        return state.update(
            _named(self.labels, outputs),
            _named(self.scores, outputs),
            sample_weight=_named(self.sample_weight, outputs, SAMPLE_WEIGHT),
            where=_named(self.where, outputs, WHERE),
            pos_label=self.pos_label,
            **beside,
        )


def _named(name: str | None, outputs: Mapping[str, Any], usual: str | None = None) -> Any:
    """The output of that name, which may be absent if it is the usual one."""
    if name is None and usual is not None:
        return None
    if name not in outputs and name != usual:
        off = "" if usual is None else "; pass None if there is no such output"
        if name in ("labels", "logits"):
            off = "; labels= and scores= of the metric are for other names"
        raise TypeError(
            f"expected a keyword argument {name!r}; got {', '.join(outputs) or 'none'}{off}"
        )
    if name not in outputs:
        option, others = _OTHERWISE[str(name)]
        for other in (x for x in others if outputs.get(x) is not None):
            raise TypeError(
                f"got {other} and no {name}; make the metric with {option}={other!r}, or with "
                f"{option}=None if that is something else"
            )
    return outputs.get(str(name))
