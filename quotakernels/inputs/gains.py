"""Gains, costs and treatments, checked: what examples bring if they are selected or not, what they
cost, and which were treated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels._array import computing, device
from quotakernels.inputs.columns import as_column, read_without_fault
from quotakernels.inputs.examples import Validated, validate_columns
from quotakernels.inputs.groups import good_groups
from quotakernels.inputs.numbers import numbers_like
from quotakernels.ops import namespace


class Beside(NamedTuple):
    """What callers pass beside labels, scores and weights, as `rank` takes it; not checked."""

    gain: Any = None
    gain_rejected: Any = 0
    groups: Any = None
    num_groups: int | None = None
    cost: Any = None
    treatment: Any = None


def validated(
    y_true: Any,
    y_score: Any,
    sample_weight: Any = None,
    where: Any = None,
    pos_label: Any = None,
    validate: bool = True,
    gain: Any = None,
    gain_rejected: Any = 0,
    groups: Any = None,
    num_groups: int | None = None,
    cost: Any = None,
    treatment: Any = None,
    by_counts: bool = False,
) -> Validated:
    """Check and convert what `rank` takes."""
    given = {"y_score": y_score, "y_true": y_true, "sample_weight": sample_weight, "where": where}
    given |= {"groups": groups}
    beside = {"num_groups": num_groups, "cost": cost, "treatment": treatment}
    beside |= {"by_counts": by_counts}
    return validate_with_gains(given, gain, gain_rejected, pos_label, validate, **beside)


def validate_scores(
    y_score: Any,
    sample_weight: Any = None,
    where: Any = None,
    validate: bool = True,
    groups: Any = None,
    num_groups: int | None = None,
    cost: Any = None,
) -> Validated:
    """Check and convert scores that come without labels."""
    given = {"y_score": y_score, "sample_weight": sample_weight, "where": where, "groups": groups}
    given, numbers = with_numbers(given, cost=cost)
    return validate_columns(given, None, validate, numbers, num_groups=num_groups)


def validate_with_gains(
    given: dict[str, Any],
    gain: Any,
    gain_rejected: Any,
    pos_label: Any,
    validate: bool,
    leader: str = "y_score",
    batched: bool = False,
    num_groups: int | None = None,
    cost: Any = None,
    treatment: Any = None,
    by_counts: bool = False,
) -> Validated:
    """Check and convert labels and scores, and what is given beside them: gains, costs, treatments.

    With gains there may be no labels.  Then all examples are positive, since what they bring does
    not depend on their classes.
    """
    given, numbers = with_numbers(given, cost=cost, treatment=treatment)
    if not (gain is None and is_zero(gain_rejected)):
        given, gains = with_gains(given, gain, gain_rejected, leader)
        numbers = (*gains, *numbers)
    known = (leader, batched, num_groups, by_counts)
    found = validate_columns(given, pos_label, validate, numbers, *known)
    examples = found.examples
    if "gain" not in numbers or examples.labels is not None:
        return found
    xp, place = namespace(examples.scores), device(examples.scores)
    with computing(xp):
        positive = xp.ones(examples.scores.shape, dtype=xp.bool, device=place)
    return found._replace(examples=examples._replace(labels=positive))


def with_numbers(given: dict[str, Any], **numbers: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What is given with the columns of numbers that there are, and their names."""
    there = {name: x for name, x in numbers.items() if x is not None}
    return given | there, tuple(there)


def with_gains(
    given: dict[str, Any], gain: Any, gain_rejected: Any, leader: str = "y_score"
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What is given with the gains, and their names; without labels where there are none."""
    if gain is None:
        raise TypeError("gain_rejected needs gain, what each example brings if it is selected")
    gains = {"gain": gain}
    if not is_zero(gain_rejected):
        gains["gain_rejected"] = _one_for_all(given[leader], gain_rejected)
    kept = {name: x for name, x in given.items() if not (name == "y_true" and x is None)}
    return kept | gains, tuple(gains)


def is_zero(gain: Any) -> bool:
    """Whether a gain is the plain number 0, which stands for none."""
    return type(gain) in (int, float) and gain == 0


def _one_for_all(y_score: Any, gain: Any) -> Any:
    """What each example brings if it is not selected; a single number stands for all of them."""
    if type(gain) not in (int, float):
        gain = as_column("gain_rejected", gain)
        if gain.ndim:
            return gain
    scores = as_column("y_score", y_score)
    xp = namespace(scores)
    with computing(xp):
        number = numbers_like(scores, "gain_rejected", gain)
        return xp.broadcast_to(number, tuple(scores.shape[-1:]))


def without_negative_gains(found: Validated) -> Validated:
    """The same if no gain is negative; where that is not read, a list or group with one is bad."""
    gain, groups = found.examples.columns["gain"], found.groups
    xp = namespace(gain)
    with computing(xp):
        invalid, expected = gain < 0, "a number, not negative"
        if read_without_fault(xp, "gain", gain, invalid, expected, found.good is None):
            return found
        bad = xp.any(invalid, axis=-1, keepdims=True)
        good = ~bad if groups is None else good_groups(xp, groups, invalid)
        return found._replace(good=good if found.good is None else found.good & good)
