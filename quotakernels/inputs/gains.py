"""Gains, checked: what each example brings if it is selected, and if it is not."""

from __future__ import annotations

from typing import Any

from quotakernels._array import Array, computing, device, namespace
from quotakernels.inputs.columns import as_column, read_without_fault
from quotakernels.inputs.examples import Validated, validate_columns
from quotakernels.inputs.quotas import numbers_like


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
) -> Validated:
    """Check and convert what `rank` takes."""
    given = {"y_score": y_score, "y_true": y_true, "sample_weight": sample_weight, "where": where}
    given |= {"groups": groups}
    return validate_with_gains(
        given, gain, gain_rejected, pos_label, validate, num_groups=num_groups
    )


def validate_with_gains(
    given: dict[str, Any],
    gain: Any,
    gain_rejected: Any,
    pos_label: Any,
    validate: bool,
    leader: str = "y_score",
    batched: bool = False,
    num_groups: int | None = None,
) -> Validated:
    """Check and convert labels and scores, and what is given beside them, gains too if there are.

    With gains there may be no labels.  Then all examples are positive, since what they bring does
    not depend on their classes.
    """
    if gain is None and _is_zero(gain_rejected):
        return validate_columns(given, pos_label, validate, (), leader, batched, num_groups)
    given, numbers = with_gains(given, gain, gain_rejected, leader)
    found = validate_columns(given, pos_label, validate, numbers, leader, batched, num_groups)
    examples, columns = found.examples, found.numbers
    xp = namespace(examples.scores)
    with computing(xp):
        if examples.labels is None:
            place = device(examples.scores)
            positive = xp.ones(examples.scores.shape, dtype=xp.bool, device=place)
            examples = examples._replace(labels=positive)
        if (valid := examples.valid) is not None:
            columns = {k: xp.where(valid, x, xp.zeros_like(x)) for k, x in columns.items()}
    return found._replace(examples=examples._replace(**columns), numbers={})


def with_gains(
    given: dict[str, Any], gain: Any, gain_rejected: Any, leader: str = "y_score"
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What is given with the gains, and their names; without labels where there are none."""
    if gain is None:
        raise TypeError("gain_rejected needs gain, what each example brings if it is selected")
    gains = {"gain": gain}
    if not _is_zero(gain_rejected):
        gains["gain_rejected"] = _one_for_all(given[leader], gain_rejected)
    kept = {name: x for name, x in given.items() if not (name == "y_true" and x is None)}
    return kept | gains, tuple(gains)


def _is_zero(gain: Any) -> bool:
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


def gain_of_each(y_score: Any, given: dict[str, Any]) -> tuple[Array, Array]:
    """The gain of each score, and which lists have none that is negative and counts."""
    scores, where = as_column("y_score", y_score), given.get("where")
    xp, place = namespace(scores), device(scores)
    with computing(xp):
        gain = xp.asarray(as_column("gain", given["gain"]), device=place)
        wrong = gain < 0
        if where is not None:
            wrong = wrong & xp.asarray(as_column("where", where), device=place)
        expected = "a number, not negative"
        read_without_fault(xp, "gain", gain, wrong, expected, given.get("validate", True))
        return xp.broadcast_to(gain, tuple(scores.shape)), ~xp.any(wrong, axis=-1)
