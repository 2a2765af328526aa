"""Groups of examples: their ids become numbers from 0 on."""

from __future__ import annotations

import datetime
from operator import index
from typing import Any, NamedTuple

import numpy as np

from quotakernels._array import (
    Array,
    Namespace,
    concrete,
    device,
    instead_of,
    is_array,
    is_tensor,
    library,
    readable,
)
from quotakernels.inputs.columns import adopt, as_column, check_shapes, first_bad, refuse_missing
from quotakernels.inputs.keywords import show_value
from quotakernels.ops import namespace

DENSE = 4
"""Integers are looked up in a table if their range is at most so many times their number."""

MOST_PLACES = 2**28
"""The longest axis that callers may ask for: a column of this length takes 2 GiB."""
MOST_POINTS = 2**24
"""The longest axis of results that have several columns."""
MOST_CLASSES = 2**14
"""A table of so many classes has as many cells as the longest axis."""
ID_EXPECTED = "an integer, a string or a date"
_DATES = (datetime.datetime, datetime.date)
_TYPES_OF_IDS = (str, int, *_DATES)
"""Types of ids, all of which must have the same; to Python a datetime is a date too."""
_HINT_OF_WHOLE_FLOATS = (
    "; pandas makes floats of integers where some are missing: give those an id or leave them out, "
    "and pass numpy.asarray({}, dtype=int)"
)


class GroupCodes(NamedTuple):
    """The number of each example's group, from 0 on, and the ids of the groups, in that order."""

    codes: Array
    ids: Array


def with_codes(
    named: dict[str, Array], num_groups: int | None
) -> tuple[dict[str, Array], Array | int | None]:
    """The columns with groups as numbers, and the ids of the groups, in order.

    With `num_groups`, their number instead of the ids, which are then 0, 1, ….
    """
    if "groups" not in named:
        if num_groups is not None:
            raise TypeError("num_groups needs groups, the group of each example")
        return named, None
    column = _checked_ids("groups", named["groups"])
    xp = namespace(column)
    if num_groups is not None:
        if isinstance(column, np.ndarray) and column.dtype.kind not in "biu":
            raise TypeError("with num_groups, groups must be integers from 0 on")
        with xp.computing():
            size = size_of("num_groups", num_groups)
            return named | {"groups": xp.cast(column, xp.int64)}, size
    _refuse_texts(next(iter(named.values())), column)
    codes, ids = numbered(column)
    return named | {"groups": codes}, ids


def numbered(ids: Array) -> GroupCodes:
    """The groups that occur in a column of ids, numbered in rising order."""
    if isinstance(ids, np.ndarray):
        distinct, codes = _found(ids)
    elif concrete(ids):
        distinct, codes = namespace(ids).unique_inverse(ids)
    else:
        raise ValueError(
            "in a compiled program groups need num_groups=, their number; ids are then 0, 1, …"
        )
    return GroupCodes(codes, distinct)


def size_of(name: str, number: Any, *, least: int = 1, most: int = MOST_PLACES) -> int:
    """An integer, which is the length of an axis, from `least` to `most`.

    An axis that no memory can hold ends some libraries together with the process.
    """
    whole = isinstance(number, int) or hasattr(number, "__index__")  # torch.compile: an int alone
    if isinstance(number, bool) or not whole:
        raise TypeError(f"{name} must be an integer; got {show_value(number)}")
    if is_array(number) and not concrete(number):
        traced = "traced, but shapes depend on it: make it a static argument of the program"
        raise TypeError(instead_of(name, number) or f"{name} is {traced}")
    if index(number) < least:
        raise ValueError(f"{name} must be at least {least}; got {show_value(number)}")
    if index(number) > most:
        raise ValueError(f"{name} must be at most {most}; got {show_value(number)}")
    return index(number)


def groups_of(name: str, column: np.ndarray[Any, Any]) -> GroupCodes:
    """The group of each example, from a column of ids."""
    return numbered(_checked_ids(name, column))


def ids_of(scores: Array, groups: Any, batched: bool = False) -> Array:
    """The checked id of each example, in the library, on the device and of the shape of scores."""
    column = _checked_ids("groups", as_column("groups", groups))
    _refuse_texts(scores, column)
    xp, columns = adopt({"y_score": scores, "groups": column})
    check_shapes(columns, batched=batched)
    with xp.computing():
        return xp.broadcast_to(columns["groups"], scores.shape)


def _refuse_texts(scores: Array, ids: Array) -> None:
    """Raise for strings and dates if the scores are of another library, which lacks such types."""
    has_texts = isinstance(ids, np.ndarray) and ids.dtype.kind not in "biu"
    if not has_texts or isinstance(scores, np.ndarray):
        return
    own, numbers = library(scores), "numpy.unique(groups, return_inverse=True)[1]"
    numbers = f"{own}.as_tensor({numbers})" if is_tensor(scores) else numbers
    raise TypeError(f"groups must be integers if the scores are of {own}; pass {numbers}")


def _checked_ids(name: str, column: Array) -> Array:
    """The ids, or an error for the first that is missing or is no integer, string or date."""
    if isinstance(column, np.ndarray) and column.size == 0:  # an empty list has no type
        return column.astype(np.int64)
    if isinstance(column, np.ndarray) and column.dtype.kind in "OUSTM":
        if column.dtype.kind == "M":
            refuse_missing(name, np.isnat(column))
        if column.dtype.kind in "OT":
            return _plain_ids(name, column.astype(object))
        return column
    xp = namespace(column)
    if xp.of_kind(column.dtype, ("bool", "integral")):
        return column
    if not xp.of_kind(column.dtype, "real floating") or 0 in column.shape or not readable(column):
        raise TypeError(f"{name} must hold integers, strings or dates; got dtype {column.dtype}")
    missing = column != column
    if name == "clusters" and not bool(xp.any(missing)):  # which are only told apart
        return column
    invalid = missing if bool(xp.any(missing)) else ~missing
    hint = _HINT_OF_WHOLE_FLOATS if bool(xp.all(missing | (column == xp.floor(column)))) else ""
    raise TypeError(first_bad(name, column, invalid, ID_EXPECTED) + hint.format(name))


def _plain_ids(name: str, column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Objects that are all strings, all integers or all dates, in an array of that type."""
    values = column.ravel().tolist()
    kinds = [next((k for k in _TYPES_OF_IDS if isinstance(x, k)), None) for x in values]
    for place, (kind, value) in enumerate(zip(kinds, values, strict=True)):
        if kind is None or kind is not kinds[0]:
            wanted = f"{ID_EXPECTED}, as the others" if kind else ID_EXPECTED
            whole = isinstance(value, float) and (value != value or value.is_integer())
            hint = _HINT_OF_WHOLE_FLOATS.format(name) if whole and str not in kinds else ""
            raise TypeError(f"{name} is {value!r} at position {place}; expected {wanted}{hint}")
        if getattr(value, "tzinfo", None) is not None:
            raise TypeError(
                f"{name} is {value!r} at position {place}; expected a date without a time zone"
            )
    if kinds[0] in _DATES:
        values = [_as_datetime64(x) for x in values]
    return np.asarray(values).reshape(column.shape)


def _as_datetime64(date: Any) -> Any:
    of_pandas = getattr(date, "to_datetime64", None)  # which knows nanoseconds
    return of_pandas() if of_pandas else np.datetime64(date)


def _found(column: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The distinct ids, rising, and the place of each example's id among them."""
    if column.dtype.kind in "iu" and column.size:
        low, high = int(column.min()), int(column.max())
        if high - low < DENSE * column.size:
            return _found_in_range(column, low, high)
    ids, codes = np.unique(column, return_inverse=True)
    return ids, codes.reshape(column.shape)


def _found_in_range(
    column: np.ndarray[Any, Any], low: int, high: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The distinct ids and their places, by a lookup table of all integers in their range."""
    whole = np.dtype(np.int64) if column.dtype.kind == "i" else column.dtype
    places = column.astype(whole, copy=False) - whole.type(low) if low else column
    places = places.astype(np.int64, copy=False)
    there = np.zeros(high - low + 1, dtype=bool)
    there[places] = True
    ids = (np.flatnonzero(there).astype(whole) + whole.type(low)).astype(column.dtype)
    return ids, places if ids.size == there.size else (there.cumsum(dtype=np.int64) - 1)[places]


def kept_within(
    xp: Namespace, scores: Array, codes: Array, named: Any
) -> tuple[GroupCodes, tuple[Array, str]]:
    """Groups with all codes moved into range; where they were not, and what was expected.

    Only if the number of groups was given can a code be outside.
    """
    dev, within, ids = device(scores), codes, named
    if isinstance(named, int):
        within = xp.clip(codes, 0, max(named - 1, 0))
        ids = xp.arange(named, dtype=xp.int64, device=dev)
    elif isinstance(named, np.ndarray) and not isinstance(scores, np.ndarray):
        ids = xp.asarray(named, device=dev)
    size = ids.shape[0]
    if size == 0 or within is codes:
        outside = xp.full(codes.shape, size == 0, dtype=xp.bool, device=dev)
    else:
        outside = within != codes
    return GroupCodes(within, ids), (outside, f"an id from 0 to {size - 1}")


def good_groups(
    xp: Namespace, groups: GroupCodes, invalid: Array, outside: Array | None = None
) -> Array:
    """Which groups have no bad example, shape (..., S, 1); a bad id may stand for any group."""
    bad = xp.any_of_each(invalid, groups.codes, groups.ids.shape[0], outside)
    return xp.expand_dims(~bad, axis=-1)


def of_their_group(xp: Namespace, groups: GroupCodes, flags: Array) -> Array:
    """For each example, the flag of its group, of shape (..., S, 1)."""
    flags = flags[..., 0]
    codes = xp.broadcast_to(groups.codes, (*flags.shape[:-1], groups.codes.shape[-1]))
    if flags.shape[-1] == 0:  # no groups, but one absent example
        return xp.zeros_like(codes, dtype=xp.bool)
    return xp.take_last_axis(flags, codes)
