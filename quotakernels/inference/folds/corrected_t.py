"""What the folds of a cross-validation say of their mean (Nadeau and Bengio)."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    computing,
    constant,
    device,
    float_of,
    namespace,
    tolerance,
)
from quotakernels.inference._scipy import scipy
from quotakernels.inference.resampling.intervals import defined, spread
from quotakernels.measures.roc_pr.beta import Beta, cumulative, rounds_for

SAME_VALUE = 2.0**-44
"""Relative difference of two values that is put down to rounding."""


class Corrected(NamedTuple):
    """Mean, the ends of its confidence interval, its standard error; the folds' own deviation."""

    mean: Array
    lower: Array
    upper: Array
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
    mean = ops.nan_unless(xp, number > 0, mean)
    return Corrected(mean, mean - half, mean + half, error, deviation, number - 1)


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


def ahead(difference: Array, greater_is_better: bool | None) -> Array:
    """1 where a difference is in favour of the first, -1 of the second, 0 of neither."""
    xp = namespace(difference)
    if greater_is_better is None:
        return xp.full_like(difference, xp.nan)
    signs = (
        (difference > 0, difference < 0) if greater_is_better else (difference < 0, difference > 0)
    )
    first, second = (cast(xp, x, difference.dtype) for x in signs)
    return xp.where(xp.isnan(difference), difference, first - second)


# Student's t, of whole degrees of freedom


def two_sided(xp: Namespace, t: Array, freedom: Array, most: int) -> Array:
    """The probability of a value beyond ±t with ν degrees of freedom, which are at most `most`.

    It is I_x(ν/2, 1/2) with x = ν/(ν + t²); NaN without a degree of freedom.
    """
    normalisers = constant(xp, _log_normalisers(most), t.dtype, device(t))
    known = freedom >= 1
    places = xp.where(known, freedom, xp.ones_like(freedom))
    number = cast(xp, places, t.dtype)
    beta = Beta(number / 2, 0.5, _taken(xp, normalisers, places), rounds_for((most + 1) / 2))
    square = t * t
    share = number / (number + square)
    p = cumulative(xp, beta, share, square / (number + square))
    return ops.nan_unless(xp, known & (t == t), p)


def quantiles(xp: Namespace, confidence_level: float, freedom: Array, like: Array) -> Array:
    """The t that so large a share lies within, ±t, with each of some degrees of freedom.

    NaN without any; the degrees are at most the length of `like`, of which the type counts.
    """
    known = freedom >= 1
    table = constant(xp, _quantiles(confidence_level, like.shape[-1]), like.dtype, device(like))
    found = _taken(xp, table, xp.where(known, freedom, xp.ones_like(freedom)))
    return ops.nan_unless(xp, known, found)


def _taken(xp: Namespace, table: Array, places: Array) -> Array:
    """Entries of a list, in the shape of their places."""
    return xp.reshape(xp.take(table, xp.reshape(places, (-1,)), axis=0), places.shape)


@functools.cache
def _log_normalisers(most: int) -> list[float]:
    """The logarithm of B(ν/2, 1/2) for ν from 1 on; the first entry is unused."""
    found = scipy().special.betaln(np.arange(1, most + 1) / 2, 0.5)
    return [0.0, *found.tolist()]


@functools.cache
def _quantiles(confidence_level: float, most: int) -> list[float]:
    """For ν from 1 on; the first entry is unused."""
    below = scipy().special.stdtrit(np.arange(1, most + 1), (1 - confidence_level) / 2)
    return [0.0, *(-below).tolist()]
