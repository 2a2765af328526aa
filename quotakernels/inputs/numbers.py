"""Plain numbers, checked: rates, counts and costs that come without examples."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from quotakernels._array import Array, Namespace, device, is_array, library, readable, tree_map
from quotakernels.inputs.columns import (
    adopt,
    as_column,
    check_one_device,
    read_and_good,
    refuse_records,
)
from quotakernels.inputs.keywords import show_value
from quotakernels.ops import namespace

N = TypeVar("N", bound=NamedTuple)

Domain: TypeAlias = tuple[Callable[[Any], Any], str]
"""A test of which values an argument may have, and these in words."""
Domains: TypeAlias = Mapping[str, Domain]

POSITIVE: Domain = (lambda x: (x > 0) & (x < float("inf")), "a finite number above 0")
AMOUNT: Domain = (lambda x: (x >= 0) & (x < float("inf")), "a finite number, not negative")
COST: Domain = (AMOUNT[0], "a finite cost, not negative")
RATE: Domain = (lambda x: ~((x < 0) | (x > 1)), "a rate, from 0 to 1")
"""NaN, an undefined rate, is allowed too."""


def plain_number(name: str, value: Any) -> float:
    """A number of Python or NumPy, of any precision, as Python's float."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number:
        raise TypeError(f"{name} must be a number; got {show_value(value)}")
    return as_float(value)


def of_numbers(formula: Callable[..., Any], named: dict[str, Any], domains: Domains) -> Any:
    """``formula(xp, *arrays)`` of numbers and arrays that broadcast, NaN where a value is bad."""
    xp, arrays = validate_numbers(named)
    common_shape(arrays)
    first = next(iter(arrays.values()))
    dtype = xp.result_float(device(first))
    with xp.computing():
        arrays = {name: xp.wide(x) for name, x in arrays.items()}
        arrays = checked(xp, arrays, domains)
        return xp.finished(formula(xp, *arrays.values()), dtype)


def validate_numbers(named: dict[str, Any]) -> tuple[Namespace, dict[str, Array]]:
    """Numbers and arrays in one library; single numbers go wherever the arrays are."""
    plain = {name for name, x in named.items() if type(x) in (int, float)}  # no arrays in a trace
    columns = {name: as_column(name, x) for name, x in named.items() if name not in plain}
    for name, x in columns.items():
        _check_kind(name, named[name], x)
    single = {name for name, x in columns.items() if isinstance(x, np.ndarray) and x.ndim == 0}
    xp, arrays = adopt({name: x for name, x in columns.items() if name not in single})
    data = next(iter(arrays.values()), np.empty(0))
    with xp.computing():
        numbers = {name: numbers_like(data, name, named[name]) for name in plain | single}
    return xp, {name: numbers[name] if name in numbers else arrays[name] for name in named}


def common_shape(named: dict[str, Array]) -> tuple[int, ...]:
    """The shape that the arrays have when they are broadcast together."""
    shape: list[int] = []
    for x in named.values():
        own = [1] * (len(shape) - x.ndim) + list(x.shape)
        shape = [1] * (len(own) - len(shape)) + shape
        if any(1 not in pair and pair[0] != pair[1] for pair in zip(shape, own, strict=True)):
            large = {name: x for name, x in named.items() if x.ndim}
            shapes = ", ".join(str(tuple(x.shape)) for x in large.values())
            raise ValueError(f"{', '.join(large)} must fit together; got the shapes {shapes}")
        shape = [b if a == 1 else a for a, b in zip(shape, own, strict=True)]
    return tuple(shape)


def checked(xp: Namespace, arrays: dict[str, Array], domains: Domains) -> dict[str, Array]:
    """The arrays, with NaN for bad values that cannot be read; others raise."""
    good = dict(arrays)
    for name, (fits, expected) in domains.items():
        x = arrays[name]
        invalid = ~fits(x)
        if not read_and_good(xp, name, x, invalid, expected):
            good[name] = xp.nan_unless(~invalid, x)
    return good


def whole_steps(named: dict[str, Any], start: str, stop: str) -> Array:
    """From the first of two readable numbers in steps of one to the second, which is included.

    The array is in the library of the arguments.
    """

    def end(name: str) -> float:
        x = validate_numbers({name: named[name]})[1][name]
        if x.ndim or not readable(x):
            raise ValueError(f"{name} must be one number that can be read; or pass recall=")
        return float(x)

    first, last = end(start), end(stop)
    count = max(math.ceil(last - first), 0) if math.isfinite(last - first) else 1
    xp, arrays = validate_numbers(named)
    with xp.computing():
        dev = device(arrays[start])
        wide = xp.wide_float(dev)
        steps = xp.cast(xp.arange(count, dtype=xp.int64, device=dev), wide)
        return xp.concat([steps + first, xp.constant([last], wide, dev)])


def in_library_of(data: N, *quotas: Any) -> N:
    """The arrays of `data`, moved to the library of the quota if that accepts NumPy arrays."""
    if not isinstance(data[0], np.ndarray):
        return data
    for quota in quotas:
        foreign = is_array(quota) and not isinstance(quota, (np.ndarray, np.generic))
        if foreign and (xp := namespace(quota)).takes_host_arrays:
            with xp.computing():
                return tree_map(xp.asarray, data)
    return data


def numbers_like(data: Array, name: str, value: Any) -> Array:
    """Numbers as a wide float array of the library and on the device of the data."""
    xp, dev = namespace(data), device(data)
    wide = xp.wide_float(dev)
    if type(value) in (int, float):
        return xp.constant(as_float(value), wide, dev)
    refuse_records(name, value)
    if isinstance(value, (list, tuple)) and all(type(x) in (int, float) for x in value):
        return xp.constant([as_float(x) for x in value], wide, dev)
    column = as_column(name, value)
    _check_kind(name, value, column)
    if isinstance(column, np.ndarray):
        return xp.asarray(column.astype(np.float64), dtype=wide, device=dev)
    return xp.cast(beside(data, name, column), wide)


def _check_kind(name: str, given: Any, column: Array) -> None:
    """Raise unless the column holds numbers; flags are not."""
    has_flag = isinstance(given, (list, tuple)) and any(isinstance(x, bool) for x in given)
    if has_flag or not namespace(column).of_kind(column.dtype, ("integral", "real floating")):
        percent = isinstance(given, str) and given.endswith("%")
        hint = "; for 5 % pass fraction=0.05" if percent and name == "quota" else ""
        raise TypeError(
            f"{name} must be a number or an array of numbers; got {show_value(given)}{hint}"
        )


def beside(data: Array, name: str, column: Array) -> Array:
    """A column in the library and on the device of the data; NumPy arrays are copied there."""
    if isinstance(column, np.ndarray):
        return namespace(data).asarray(column.copy(), device=device(data))
    if namespace(column) is not namespace(data):
        raise TypeError(
            f"{name} is an array of {library(column)} and the scores are of {library(data)}"
        )
    check_one_device({name: column, "y_score": data})
    return column


def as_float(number: int | float) -> float:
    """The number as a float; infinite if it is an integer beyond all floats."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
