"""What the folds of a cross-validation say of their mean (Nadeau and Bengio)."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels._array import (
    Array,
    Namespace,
    cast,
    computing,
    device,
    namespace,
    of_kind,
    result_float,
    tolerance,
)
from quotakernels.inference.folds.student import quantiles
from quotakernels.inference.resampling.intervals import defined, spread

__all__ = ["SAME_VALUE", "Corrected", "ahead", "corrected", "first_less_second", "float_of"]

SAME_VALUE = 2.0**-44
"""Relative difference of two values that is put down to rounding."""


class Corrected(NamedTuple):
    """Mean, half of its confidence interval, its standard error; and the folds' own deviation."""

    mean: Array
    half: Array
    error: Array
    deviation: Array
    freedom: Array


def corrected(xp: Namespace, values: Array, ratio: float, confidence_level: float) -> Corrected:
    """The corrected resampled t of wide floats on the last axis, of those that are defined.

    The `ratio` is that of examples tested to examples trained on.
    """
    there, number = values == values, defined(xp, values)
    counted = cast(xp, number, values.dtype)
    mean = xp.sum(xp.where(there, values, xp.zeros_like(values)), axis=-1) / counted
    deviation = spread(xp, values)
    same = deviation <= tolerance(values, SAME_VALUE) * xp.abs(mean)
    deviation = xp.where(same, xp.zeros_like(deviation), deviation)
    error = deviation * xp.sqrt(1 / counted + ratio)
    half = quantiles(xp, confidence_level, number - 1, values) * error
    mean = xp.where(number > 0, mean, xp.full_like(mean, xp.nan))
    return Corrected(mean, half, error, deviation, number - 1)


def float_of(values: Array) -> Any:
    """The float type of what is made of values; to be asked before `computing` is entered."""
    xp = namespace(values)
    is_float = of_kind(xp, values.dtype, "real floating")
    return values.dtype if is_float else result_float(xp, device(values))


def first_less_second(pair: list[Array]) -> Array:
    """The first less the second; 0 where that is rounding."""
    a, b = pair
    xp = namespace(a)
    dtype = float_of(a)
    with computing(xp):
        a, b = (cast(xp, x, dtype) for x in (a, b))
        less = a - b
        same = xp.abs(less) <= tolerance(less, SAME_VALUE) * (xp.abs(a) + xp.abs(b))
        return xp.where(same, xp.zeros_like(less), less)


def ahead(difference: Array, maximize: bool | None) -> Array:
    """1 where a difference is in favour of the first, -1 of the second, 0 of neither."""
    xp = namespace(difference)
    if maximize is None:
        return xp.full_like(difference, xp.nan)
    signs = (difference > 0, difference < 0) if maximize else (difference < 0, difference > 0)
    first, second = (cast(xp, x, difference.dtype) for x in signs)
    return xp.where(xp.isnan(difference), difference, first - second)
