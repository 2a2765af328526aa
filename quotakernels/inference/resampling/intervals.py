"""Intervals from the values of resamples, which stand on the last axis."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, Literal, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast
from quotakernels.inference._normal import normal_cdf, normal_quantile

IntervalMethod: TypeAlias = Literal["percentile", "basic", "bca"]


def defined(xp: Namespace, values: Array) -> Array:
    """How many values are not NaN, shape (...)."""
    return xp.count_nonzero(values == values, axis=-1)


def spread(xp: Namespace, values: Array) -> Array:
    """The standard deviation of the values that are defined; NaN for fewer than two."""
    there = values == values
    number = cast(xp, xp.count_nonzero(there, axis=-1, keepdims=True), values.dtype)
    mean = xp.sum(xp.where(there, values, xp.zeros_like(values)), axis=-1, keepdims=True) / number
    square = xp.where(there, (values - mean) ** 2, xp.zeros_like(values))
    freedom = number[..., 0] - 1
    freedom = xp.where(freedom > 0, freedom, xp.full_like(freedom, xp.nan))
    return xp.sqrt(xp.sum(square, axis=-1) / freedom)


def interval(
    xp: Namespace,
    method: IntervalMethod,
    estimate: Array,
    values: Array,
    left_out: Array | None,
    confidence_level: float,
) -> tuple[Array, Array]:
    """Both ends; NaN where the estimate is, or where no resample has the measure defined."""
    tail = (1 - confidence_level) / 2
    ranked = _ranked(xp, values)
    number = defined(xp, values)
    shares = [xp.full_like(estimate, x) for x in (tail, 1 - tail)]
    if method == "bca":
        shares = [_shifted(xp, estimate, values, number, left_out, x) for x in (tail, 1 - tail)]
    low, high = (_quantile(xp, ranked, number, share) for share in shares)
    if method == "basic":
        low, high = 2 * estimate - high, 2 * estimate - low
    unknown = xp.isnan(estimate)
    low, high = (xp.where(unknown, xp.full_like(x, xp.nan), x) for x in (low, high))
    return low, high


def quantile(xp: Namespace, values: Array, share: float) -> Array:
    """A quantile of the values that are defined; NaN where none is."""
    shares = xp.full_like(values[..., 0], share)
    return _quantile(xp, _ranked(xp, values), defined(xp, values), shares)


def _ranked(xp: Namespace, values: Array) -> Array:
    """The values in rising order, those that are undefined behind the others."""
    return xp.sort(xp.where(values == values, values, xp.full_like(values, xp.inf)), axis=-1)


def _quantile(xp: Namespace, ranked: Array, number: Array, share: Array) -> Array:
    """Linear between the order statistics of the first `number` values, as in NumPy."""
    place = share * cast(xp, number - 1, ranked.dtype)
    place = xp.where(place > 0, place, xp.zeros_like(place))  # also for NaN
    below = xp.floor(place)
    index = cast(xp, below, xp.int64)
    after = xp.minimum(index + 1, xp.maximum(number - 1, xp.zeros_like(number)))
    low, high = (
        xp.take_along_axis(ranked, xp.expand_dims(x, axis=-1), axis=-1)[..., 0]
        for x in (index, after)
    )
    part = place - below
    between = xp.where(part > 0, low + part * (high - low), low)
    return xp.where((number > 0) & (share == share), between, xp.full_like(between, xp.nan))


def _shifted(
    xp: Namespace,
    estimate: Array,
    values: Array,
    number: Array,
    left_out: Array | None,
    share: float,
) -> Array:
    """The share of the distribution that is corrected for bias and acceleration."""
    at = xp.expand_dims(estimate, axis=-1)
    below = xp.count_nonzero(values < at, axis=-1) + xp.count_nonzero(values <= at, axis=-1)
    bias = normal_quantile(
        xp, cast(xp, below, estimate.dtype) / cast(xp, 2 * number, estimate.dtype)
    )
    shift = bias + NormalDist().inv_cdf(share)
    return normal_cdf(xp, bias + shift / (1 - _acceleration(xp, left_out) * shift))


def _acceleration(xp: Namespace, left_out: Any) -> Array:
    """From the values without one part of the examples each; NaN where one is undefined."""
    mean = ops.total(xp, left_out) / left_out.shape[-1]
    away = xp.expand_dims(mean, axis=-1) - left_out
    cubes, squares = ops.total(xp, away**3), ops.total(xp, away**2)
    skewness = xp.where(squares > 0, cubes / (6 * squares**1.5), xp.zeros_like(squares))
    return xp.where(squares == squares, skewness, squares)
