"""Batches: examples that fit the state which they are added to."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from quotakernels._array import (
    Array,
    Namespace,
    cast,
    computing,
    device,
    from_host,
    library,
    namespace,
    of_kind,
    placement,
    takes_host_arrays,
    wide_float,
)
from quotakernels.inputs.columns import as_column, check_one_device
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.gains import validate_with_gains
from quotakernels.inputs.keywords import brief, public
from quotakernels.inputs.shapes import column_hint, refuse_columns

F = TypeVar("F", bound=Callable[..., Any])


def without_gains(update: F) -> F:
    """Make the `update` of a state public that keeps no gains, and says which state does."""
    checked = public(update)

    @functools.wraps(checked)
    def told(*arguments: Any, **keywords: Any) -> Any:
        for name in ("gain", "gain_rejected"):
            if name in keywords:
                raise TypeError(f"update takes no {name} here; a ScoreBuffer keeps gains")
        return checked(*arguments, **keywords)

    return told  # type: ignore[return-value]


class Batch(NamedTuple):
    """Checked examples, and which rows of the batch have a bad value; None where all were read."""

    examples: Examples
    fault: Array | None


def scores_like(like: Any) -> tuple[Namespace, Array]:
    """The namespace of an example of scores, and what keeps its type, device and leading shape."""
    like = as_column("like", like)
    xp = namespace(like)
    if like.ndim == 0 or not of_kind(xp, like.dtype, ("bool", "integral", "real floating")):
        raise TypeError(
            "like must be an array of scores, of which the last axis holds the examples; got "
            f"dtype {like.dtype} and shape {tuple(like.shape)}"
        )
    refuse_columns({"like": tuple(like.shape)})
    return xp, like[..., :0]


def validate_batch(
    like: Array,
    columns: tuple[Any, Any, Any, Any],
    pos_label: Any,
    validate: bool,
    weighted: bool | None = None,
    gain: Any = None,
    gain_rejected: Any = 0,
) -> Batch:
    """Check and convert labels, scores, weights and a mask for a state of scores such as `like`.

    A state that is `weighted` gets weights in any case, one that is not takes none.
    """
    y_true, y_score, sample_weight, where = columns
    if sample_weight is not None and weighted is False:
        raise ValueError("sample_weight is given and the state has no weights; make it weighted")
    xp = namespace(like)
    y_score = as_column("y_score", y_score)
    if isinstance(y_score, np.ndarray) and takes_host_arrays(xp):
        y_score = from_host(xp, "y_score", y_score, is_score=True)
    check_fits(like, y_score)
    given = {"y_score": y_score, "y_true": y_true, "sample_weight": sample_weight, "where": where}
    batched = like.ndim > 1
    examples, _, good, *_ = validate_with_gains(
        given, gain, gain_rejected, pos_label, validate, batched=batched
    )
    if weighted and examples.weights is None:
        with computing(xp):
            place = device(like)
            ones = xp.ones(y_score.shape, dtype=wide_float(xp, place), device=place)
        examples = examples._replace(weights=ones)
    return Batch(examples, None if good is None else ~good[..., 0])


def check_fits(like: Array, scores: Array) -> None:
    """Raise unless the scores are of the library, device, type and batch that the state is for."""
    alike = type(scores) is type(like) and scores.dtype == like.dtype
    if alike and scores.shape[:-1] == like.shape[:-1] and placement(scores) == placement(like):
        return
    if namespace(scores) is not namespace(like):
        raise TypeError(
            f"the state holds arrays of {library(like)} and y_score is one of {library(scores)}; "
            "pass arrays of one library"
        )
    check_one_device({"the state": like, "y_score": scores})
    if scores.dtype != like.dtype:
        raise TypeError(
            f"y_score has dtype {scores.dtype} and the state is for {like.dtype}; "
            "make it with like=y_score, or convert the scores yourself"
        )
    if scores.shape[:-1] != like.shape[:-1]:
        batch = [str(size) for size in like.shape[:-1]]
        wanted = ", ".join([*batch, "n"]) if batch else "n,"
        own = tuple(scores.shape)
        hint = column_hint("y_score", own)
        raise ValueError(f"y_score must have shape ({wanted}), as the state has; got {own}{hint}")


def with_fault(xp: Namespace, bad: Array, *faults: Array | None) -> Array:
    """The number of faults in each row of the batch, with one more where there is any of these."""
    there = [x for x in faults if x is not None]
    return bad + cast(xp, functools.reduce(operator.or_, there), bad.dtype) if there else bad


def whole_number(name: str, value: Any) -> int:
    """An argument as an int, if it is an integer of any kind."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number; got {brief(value)}") from None
    return number
