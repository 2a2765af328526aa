"""Columns: what callers pass as arrays of one library on one device, or an error."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from quotakernels._array import (
    Array,
    Namespace,
    backend,
    from_host,
    instead_of,
    is_array,
    is_tensor,
    library,
    namespace,
    of_kind,
    placement,
    readable,
    takes_host_arrays,
    to_numpy,
)
from quotakernels.inputs.labels import NAMED_LABELS, equals
from quotakernels.inputs.warned import warn_once

MASS_ROUNDING = 2.0**-40
"""Relative difference between two sums of the same weights that is put down to rounding."""

_OLDEST = "2024.12"
"""The first version of the standard that has all operations, such as ``take_along_axis``."""


_COLUMNS = (
    *("y_true", "y_score", "y_pred", "sample_weight", "where"),
    *("gain", "gain_rejected", "cost", "treatment", "groups"),
)


_REAL = ("bool", "integral", "real floating")
_KINDS = {"where": ("booleans", ("bool",)), "groups": ("integers", ("bool", "integral"))}
"""Of columns that are no real numbers: what they hold."""


_STACK = "; for several models pass an array, numpy.stack(list({}.values()))"


def example_columns(given: dict[str, Any]) -> dict[str, Array]:
    """Each as an array, without the weights and the mask that are None."""
    absent = {name for name in ("sample_weight", "where") if given.get(name) is None}
    columns = {name: as_column(name, x) for name, x in given.items() if name not in absent}
    for name, x in columns.items():
        if isinstance(x, np.ndarray) and x.ndim == 0 and x.dtype.kind in NAMED_LABELS:
            value = x.item()
            models = isinstance(value, dict) and any(np.ndim(x) for x in value.values())
            raise TypeError(
                f"{name} must be an array or a list; got a {type(value).__name__}"
                f"{_STACK.format(name) if models else ''}"
            )
    return columns


def warn_of_other_order(given: dict[str, Any]) -> None:
    """Warn if columns of pandas have indexes that name other rows: no index is looked at.

    One that only numbers the rows names none.
    """
    indexes = {
        name: x.index
        for name, x in given.items()
        if not is_array(x) and hasattr(getattr(x, "index", None), "sort_values")
    }
    first = "y_true" if "y_true" in indexes else next(iter(indexes), "")
    for name, own in indexes.items():
        if _alike(own, indexes[first]):
            continue
        if _same_labels(own, indexes[first]):
            warn_once(
                f"{first} and {name} have the same index in different orders, and are matched by "
                f"position; pass {name}.reindex({first}.index), or to_numpy() of both if the "
                "positions are right"
            )
        elif len(own) == len(indexes[first]) and not any(_counts(given[x]) for x in (first, name)):
            warn_once(
                f"{first} and {name} have indexes that differ, and are matched by position; pass "
                "to_numpy() of both if the positions are right"
            )


def _alike(one: Any, other: Any) -> bool:
    """Whether two indexes name the same rows, be it in other types."""
    if one.dtype != other.dtype:
        one, other = one.astype(object), other.astype(object)
    return bool(one.equals(other))


def _counts(column: Any) -> bool:
    """Whether its index is the number of each row, as pandas makes it."""
    return _alike(column.index, column.reset_index(drop=True).index)


def _same_labels(one: Any, other: Any) -> bool:
    try:
        if (len(one), one.min(), one.max()) != (len(other), other.min(), other.max()):
            return False
        return _alike(one.sort_values(), other.sort_values())
    except (TypeError, ValueError):  # which have no order, or of which one has several levels
        return False


def as_column(name: str, x: Any) -> Any:
    """`x` as an array: lists and data-frame columns become NumPy arrays."""
    if x is None:
        raise TypeError(f"{name} must be an array; got None")
    if type(x) is np.ndarray and x.dtype.kind in "biuf" and x.dtype.isnative:
        return x
    if instead := instead_of(name, x):
        raise TypeError(instead)
    if is_tensor(x):
        return x
    refuse_records(name, x)
    if is_array(x) and not isinstance(x, (np.ndarray, np.generic)):
        _refuse_unknown_size_or_old_standard(name, x)
        return _in_own_precision(x)
    _refuse_list_of_arrays(name, x)
    refuse_missing(name, _nulls(x))
    if hasattr(getattr(x, "dtype", None), "numpy_dtype") and x.dtype.kind in "biuf":
        x = x.to_numpy(dtype=x.dtype.numpy_dtype)  # pandas' nullable types
    try:
        column = np.asarray(x)
    except ValueError as error:
        why = _way_out(name, x) if name in _COLUMNS else ""
        raise ValueError(f"{name} must be an array of numbers: {why or error}") from None
    if column.dtype.kind == "U" and isinstance(x, (list, tuple)):
        column = _as_given(column, x)
    if column.dtype.kind == "O":
        lacking = [_is_missing(value) for value in column.ravel()]
        refuse_missing(name, np.reshape(lacking, column.shape))
    return column if column.dtype.isnative else column.astype(column.dtype.newbyteorder("="))


def _refuse_unknown_size_or_old_standard(name: str, x: Array) -> None:
    """Raise for an array whose size is not known, and for a library of an older standard."""
    if x.shape is None or any(size is None for size in x.shape):
        raise TypeError(
            f"{name} has the shape {x.shape}, in which a size is not known; pass arrays with values"
        )
    xp = namespace(x)
    version = getattr(xp, "__array_api_version__", _OLDEST)
    if backend(xp) == "standard" and version < _OLDEST:
        raise TypeError(
            f"{name} is an array of {xp.__name__} in version {version} of the array API standard; "
            f"versions from {_OLDEST} on are supported"
        )


def _way_out(name: str, x: Any) -> str:
    """What to do with parts of different shapes: batches, or all that a model has put out."""
    if not isinstance(x, (list, tuple)):
        return ""
    if all(hasattr(part, "__len__") and getattr(part, "ndim", 1) == 1 for part in x):
        return f"pass numpy.concatenate({name}) of batches of different lengths"
    return f"pass one part of the tuple, such as {name}[0]" if isinstance(x, tuple) else ""


def _refuse_list_of_arrays(name: str, x: Any) -> None:
    """Raise for what loops over batches collect, which would be taken for models.

    Lists of numbers that are arrays, and of NumPy's arrays, are NumPy input.
    """
    first: Any = x[0] if isinstance(x, (list, tuple)) and x else None
    on_host = isinstance(first, (np.ndarray, np.generic)) or not is_array(first)
    if not on_host and first.ndim:
        own = namespace(first).__name__.removeprefix("array_api_compat.")
        instead = f"{own}.concat({name}) of batches, or {own}.stack({name}) of models"
        if any(getattr(part, "ndim", 0) != first.ndim for part in x):
            instead = f"one of them, such as {name}[0]"
        kind = type(x).__name__
        raise TypeError(f"{name} is a {kind} of arrays of {library(first)}; pass {instead}")


def _in_own_precision(x: Array) -> Array:
    """The array, or a copy of what `jax.vmap` maps over an array of NumPy's.

    Without x64 that says 32 bits but holds 64, with which JAX fails where it computes in 64.
    """
    held = x
    while hasattr(held, "val"):
        held = held.val
    mapped = held is not x and isinstance(held, np.ndarray)
    return namespace(x).asarray(x, copy=True) if mapped else x


def _as_given(column: np.ndarray[Any, Any], x: Any) -> np.ndarray[Any, Any]:
    """The column of a list, or its objects if not all are strings: NumPy makes "nan" of a NaN."""
    given = np.asarray(x, dtype=object)
    return column if all(isinstance(value, str) for value in given.ravel()) else given


def refuse_records(name: str, x: Any) -> None:
    """Raise for a named tuple, whose fields would be taken for the rows of a batch."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        kind = type(x).__name__
        hint = "; pass one of its fields"
        if kind == "Ranking":
            hint = ": it has lost the order of the examples, and their scores are needed"
        raise TypeError(f"{name} must be an array; got a {kind}{hint}")


def _nulls(x: Any) -> Any:
    """Which values masked arrays of NumPy, and columns of pandas, polars or Arrow, lack."""
    if isinstance(x, (int, float, list, tuple)):
        return False
    if isinstance(x, np.ma.MaskedArray):
        return np.ma.getmaskarray(x)
    if hasattr(getattr(x, "dtype", None), "na_value"):
        return x.isna()
    nulls = getattr(x, "null_count", 0)
    there = bool(np.any(np.asarray(nulls() if callable(nulls) else nulls)))
    return x.is_null() if there and hasattr(x, "is_null") else there


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def refuse_missing(name: str, lacking: Any) -> None:
    """Raise where an argument lacks values; one flag may stand for all of them."""
    if lacking is False or not np.any(lacking := np.asarray(lacking)):
        return
    hint = "they have no place here"
    if name in ("groups", "clusters", "by", "per"):
        hint = "give these examples an id, or leave them out"
    elif name in _COLUMNS or name.startswith("models["):
        hint = "fill them with any number and pass where= with False at their positions"
    first = tuple(int(i) for i in np.argwhere(lacking)[0])
    place = f"; the first is at position {first[0] if len(first) == 1 else first}" if first else ""
    raise ValueError(f"{name} has missing values; {hint}{place}")


def check_types(named: dict[str, Array]) -> None:
    """Raise unless the mask holds booleans and everything else real numbers."""
    for name, x in named.items():
        what, kinds = _KINDS.get(name, ("real numbers or booleans", _REAL))
        empty_list = isinstance(x, np.ndarray) and x.shape == (0,)
        if not (empty_list or of_kind(namespace(x), x.dtype, kinds)):
            raise TypeError(f"{name} must hold {what}; got dtype {x.dtype}{_type_hint(name, x)}")


def _type_hint(name: str, x: Array) -> str:
    """What a message adds about a column of the wrong type."""
    if name == "where" and of_kind(namespace(x), x.dtype, _REAL):
        return f"; if it holds 0 and 1 pass {equals(name, x, '1')}"
    if not (isinstance(x, np.ndarray) and x.dtype.kind in NAMED_LABELS):
        return ""
    numbers = (Real, Decimal, np.bool_)
    if x.dtype.kind == "O" and all(isinstance(value, numbers) for value in x.ravel()):
        return f"; pass numpy.asarray({name}, dtype={'bool' if name == 'where' else 'float'})"
    classes = "; pass scores, such as predict_proba gives, not classes"
    return classes if name == "y_score" else ""


def adopt(
    named: dict[str, Array], scores: tuple[str, ...] = ("y_score",)
) -> tuple[Namespace, dict[str, Array]]:
    """All arrays in the namespace and on the device of those that are not NumPy's."""
    foreign = {name: x for name, x in named.items() if not isinstance(x, np.ndarray)}
    if not foreign:
        return namespace(np.empty(0)), named
    first, leader = next(iter(foreign.items()))
    xp = namespace(leader)
    for name, x in named.items():
        may_join = name not in foreign and takes_host_arrays(xp)
        if namespace(x) is not xp and not may_join:
            on_host = is_tensor(leader) and name not in foreign
            own, make = library(leader), f"as_tensor({name}, device={first}.device)"
            hint = f", here {own}.{make}" if on_host else ""
            raise TypeError(
                f"{first} is an array of {own} and {name} one of {library(x)}; "
                f"pass arrays of one library{hint}"
            )
    check_one_device(foreign)
    return xp, {
        name: x if name in foreign else from_host(xp, name, x, is_score=name in scores)
        for name, x in named.items()
    }


def check_one_device(named: dict[str, Array]) -> None:
    """Raise if two of the arrays have to stay on different devices."""
    places = {name: placement(x) for name, x in named.items()}
    fixed = [name for name, place in places.items() if place is not None]
    for name in fixed[1:]:
        if places[name] != places[fixed[0]]:
            raise TypeError(
                f"{fixed[0]} is on device {places[fixed[0]]} and {name} on device {places[name]}; "
                "move them to one device"
            )


def read_without_fault(
    xp: Namespace, name: str, x: Array, wrong: Array, expected: str, validate: bool = True
) -> bool:
    """Raise for the first bad value of an argument; False where values are not to be read."""
    if not validate or not readable(wrong):
        return False
    if bool(xp.any(wrong)):
        raise ValueError(first_bad(name, x, wrong, expected))
    return True


def first_bad(name: str, x: Array, wrong: Array, expected: str) -> str:
    """The message about the first bad value of an argument."""
    index = tuple(int(i) for i in np.argwhere(to_numpy(wrong))[0])
    value = x[index[len(index) - x.ndim :]]
    value = value.item() if hasattr(value, "item") else np.asarray(value).item()
    place = f" at position {index[0] if len(index) == 1 else index}" if index else ""
    return f"{name} is {value!r}{place}; expected {expected}"


def check_same_totals(names: list[str], negative: Array, positive: Array, differ: Array) -> None:
    """Raise for the first of several rankings that differs from the first in its totals.

    All have the shape (..., M), with an entry for each name.
    """
    if not (readable(differ) and bool(namespace(differ).any(differ))):
        return
    index = tuple(int(i) for i in np.argwhere(to_numpy(differ))[0])
    row, model = index[:-1], index[-1]
    place = f" in row {row[0] if len(row) == 1 else row} of the batch" if row else ""
    counts = [[to_numpy(x)[*row, k].item() for x in (positive, negative)] for k in (model, 0)]
    found, wanted = (f"{p:.15g} positives and {n:.15g} negatives" for p, n in counts)
    raise ValueError(
        f"{names[model]} has {found}{place} and {names[0]} {wanted}; "
        "curves are compared on the same examples"
    )
