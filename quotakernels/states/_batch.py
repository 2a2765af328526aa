"""What states have in common: batches that fit them, states that are alike, and their pickles."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from quotakernels._array import Array, Namespace, device, library
from quotakernels._bits import dtype_name
from quotakernels._types import BatchData
from quotakernels.inputs.columns import (
    COLUMNS,
    as_column,
    check_one_device,
    column_hint,
    of_two_columns,
    refuse_columns,
)
from quotakernels.inputs.examples import Examples, is_zero, validated
from quotakernels.inputs.groups import size_of
from quotakernels.inputs.keywords import refuse_unknown, show_value
from quotakernels.ops import namespace

MOST_KEPT = 2**34
"""Numbers in one array of a state: beyond that, some libraries end the process for want of
memory.
"""


class Batch(NamedTuple):
    """Checked examples, and which lists have a bad value, None if all values were read.

    With groups, which groups have a bad value, and the number of each example's group.
    """

    examples: Examples
    bad: Array | None
    groups: Array | None = None


def scores_like(like: Any) -> tuple[Namespace, Array]:
    """The namespace of given scores, and an empty array of their type, device and leading axes."""
    if isinstance(like, type) or type(like).__name__.lower().endswith("dtype"):
        raise TypeError(f"like must be an array of scores, not a type; got {show_value(like)}")
    like = as_column("like", like)
    xp = namespace(like)
    if like.ndim == 0 or not xp.of_kind(like.dtype, ("bool", "integral", "real floating")):
        raise TypeError(
            "like must be an array of scores, of which the last axis holds the examples; got "
            f"dtype {like.dtype} and shape {tuple(like.shape)}"
        )
    refuse_columns({"like": tuple(like.shape)})
    return xp, like[..., :0]


def names_of(columns: Iterable[str]) -> tuple[str, ...]:
    """The checked names of the columns that a state keeps, in the order of `COLUMNS`."""
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    for name in names:
        if name not in COLUMNS:
            raise ValueError(f"columns must be among {', '.join(COLUMNS)}; got {show_value(name)}")
    if "gain_rejected" in names and "gain" not in names:
        raise ValueError("columns with gain_rejected need gain")
    return tuple(name for name in COLUMNS if name in names)


def lists_of(like: Array, num_groups: int | None) -> tuple[int, ...]:
    """The shape of arrays with an entry for each list of scores, or for each of its groups."""
    lists = tuple(like.shape[:-1])
    return lists if num_groups is None else (*lists, size_of("num_groups", num_groups))


def groups_of_state(state: Any) -> int | None:
    """The number of groups that a state was made for; None without."""
    size: int | None = state.bad.shape[-1] if state.bad.ndim == state.like.ndim else None
    return size


def checked_batch(state: Any, y_true: Any, y_score: Any, data: Mapping[str, Any]) -> Batch:
    """Check and convert labels, scores and other columns for a state.

    A state that is weighted gets weights of 1 if none are given.  Others refuse weights; groups and
    columns must be given if the state has them, and only then.  A growing buffer accepts all.
    """
    _check_given(state, data)
    xp, like = namespace(state.like), state.like
    given = {**data, "y_true": y_true, "y_score": _scores_for(xp, like, y_score)}
    given["num_groups"] = state.num_groups
    examples, good, _, groups, _ = validated(given, batched=like.ndim > 1)
    examples = _completed(xp, examples, state)
    bad = None if good is None else ~good[..., 0]
    return Batch(examples, bad, None if groups is None else groups.codes)


def _check_given(state: Any, data: Mapping[str, Any]) -> None:
    """Raise for columns that the state does not keep, and for those it keeps but are not given.

    Without `gain_rejected`, rejected examples bring 0.
    """
    refuse_unknown("update", data, BatchData.__annotations__)
    if data.get("sample_weight") is not None and not getattr(state, "weighted", True):
        raise ValueError("sample_weight is given and the state has no weights; make it weighted")
    if (data.get("groups") is None) != (state.num_groups is None):
        raise ValueError(
            "groups are given and the state has none; make it with num_groups="
            if state.num_groups is None
            else "the state has groups and needs groups=, the group of each example"
        )
    if not hasattr(state, "column_names"):
        return
    given, kept = columns_in(data), state.column_names
    for name in COLUMNS:
        if name in given and name not in kept:
            raise ValueError(
                f"{name} is given and the state keeps none; make it with columns=, which names it"
            )
        if name in kept and name not in given and name != "gain_rejected":
            raise ValueError(f"the state keeps {name} and needs {name}= with every batch")


def columns_in(data: Mapping[str, Any]) -> list[str]:
    """The names of the columns that are given; a ``gain_rejected`` of 0 is not one."""
    there = [name for name in COLUMNS if data.get(name) is not None]
    return [x for x in there if x != "gain_rejected" or not is_zero(data[x])]


def _scores_for(xp: Namespace, like: Array, y_score: Any) -> Array:
    """Scores as an array that fits the state."""
    y_score = as_column("y_score", y_score)
    if isinstance(y_score, np.ndarray) and xp.takes_host_arrays:
        y_score = xp.from_host("y_score", y_score, is_score=True)
    check_fits(like, y_score)
    return y_score


def _completed(xp: Namespace, examples: Examples, state: Any) -> Examples:
    """The examples with columns that a state keeps but were not given: weights of 1, and gains of 0
    if rejected.
    """
    scores, weights, columns = examples.scores, examples.weights, examples.columns
    with xp.computing():
        if weights is None and getattr(state, "weighted", False):
            wide = xp.wide_float(device(scores))
            weights = xp.ones(tuple(scores.shape), dtype=wide, device=device(scores))
        if "gain_rejected" in getattr(state, "column_names", ()):
            columns = {"gain_rejected": xp.zeros_like(columns["gain"]), **columns}
    return examples._replace(weights=weights, columns=columns)


def check_fits(like: Array, scores: Array) -> None:
    """Raise unless scores have the library, device, type and leading axes of the state."""
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
        hint = column_hint("y_score", own) or _list_hint(like, own)
        raise ValueError(f"y_score must have shape ({wanted}), as the state has; got {own}{hint}")


def _list_hint(like: Array, shape: tuple[int, ...]) -> str:
    """The hint that a message adds about several lists of scores for a state of one."""
    if like.ndim > 1 or len(shape) != 2:
        return ""
    if shape[1] == 2 < shape[0]:
        return f"; pass {of_two_columns('y_score')}"
    return "; pass y_score.reshape(-1) of batches, or make the state with like=y_score of models"


def with_bad(xp: Namespace, bad: Array, *flags: Array | None) -> Array:
    """How many batches were bad for each list of scores: one more where any of the flags is set."""
    there = [x for x in flags if x is not None]
    return bad + xp.cast(functools.reduce(operator.or_, there), bad.dtype) if there else bad


TITLES = {
    "column_names": "columns",
    "kind": "kind",
    "scores": "type of scores",
    "batch": "batch axes",
}
"""Facts that messages call otherwise than the properties of a state."""


def facts_of(state: Any) -> dict[str, Any]:
    """The facts that two states must share to be alike."""
    own = ("bits", "capacity", "weighted", "num_groups", "column_names")
    return {
        "kind": type(state).__name__,
        "scores": dtype_name(state.like.dtype),
        "batch": tuple(state.like.shape[:-1]),
        **{name: getattr(state, name) for name in own if hasattr(state, name)},
    }


def check_alike(state: Any, other: Any) -> None:
    """Raise unless another state is of the same kind, library and device; of any capacity."""
    kind = type(state).__name__
    if not isinstance(other, type(state)):
        raise TypeError(f"only a {kind} can be merged into one; got {type(other).__name__}")
    if namespace(other.like) is not namespace(state.like):
        raise TypeError(
            f"a {kind} of {library(other.like)} cannot be merged into one of {library(state.like)}"
        )
    check_one_device({"the state": state.bad, "the other": other.bad})
    found = facts_of(other)
    for name, value in facts_of(state).items():
        if name != "capacity" and found[name] != value:
            title = TITLES.get(name, name)
            raise ValueError(f"the states differ in {title}: {value} and {found[name]}")
