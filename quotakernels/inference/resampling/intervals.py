"""Intervals from the values of resamples, which stand on the last axis."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, compiled
from quotakernels.inference import _normal as normal
from quotakernels.inference import _student as student

IntervalMethod: TypeAlias = Literal["expanded", "bca", "percentile", "basic"]
CORRECTED = ("expanded", "bca")
"""Methods that also want to know what the parts of the examples do."""


def defined(xp: Namespace, values: Array) -> Array:
    """How many values are not NaN, shape (...)."""
    return ops.count(xp, values == values)[..., 0]


def spread(xp: Namespace, values: Array) -> Array:
    """The standard deviation of the values that are defined; NaN for fewer than two."""
    there = values == values
    number = cast(xp, ops.count(xp, there), values.dtype)
    mean = xp.sum(xp.where(there, values, xp.zeros_like(values)), axis=-1, keepdims=True) / number
    square = xp.where(there, (values - mean) ** 2, xp.zeros_like(values))
    freedom = number[..., 0] - 1
    freedom = ops.nan_unless(xp, freedom > 0, freedom)
    return xp.sqrt(xp.sum(square, axis=-1) / freedom)


def interval(
    xp: Namespace,
    method: IntervalMethod,
    estimate: Array,
    values: Array,
    left_out: Array | None,
    confidence_level: float,
    freedom: Array | None = None,
) -> tuple[Array, Array]:
    """Both ends; NaN where the estimate is, or where no resample has the measure defined.

    The expanded ones want the degrees of freedom of Student's t.
    """
    tail = (1 - confidence_level) / 2
    ranked = _ranked(xp, values)
    number = defined(xp, values)
    shares = [xp.full_like(estimate, x) for x in (tail, 1 - tail)]
    if method in CORRECTED:
        away = xp.full_like(estimate, normal.quantile(confidence_level))
        if freedom is not None:
            away = away * 0 + student.quantiles(xp, confidence_level, freedom)
        bias, slant = _bias(xp, estimate, values, number), _acceleration(xp, left_out)
        shifted = compiled(_shifted, xp, ("xp",))
        shares = [shifted(xp, bias, slant, x) for x in (-away, away)]
    low, high = (_quantile(xp, ranked, number, share) for share in shares)
    if method == "basic":
        low, high = 2 * estimate - high, 2 * estimate - low
    unknown = xp.isnan(estimate)
    low, high = (ops.nan_unless(xp, ~unknown, x) for x in (low, high))
    return low, high


def quantile(xp: Namespace, values: Array, share: float) -> Array:
    """A quantile of the values that are defined; NaN where none is."""
    shares = xp.full_like(values[..., 0], share)
    return _quantile(xp, _ranked(xp, values), defined(xp, values), shares)


def _ranked(xp: Namespace, values: Array) -> Array:
    """The values in rising order, those that are undefined behind the others.

    There all libraries sort NaN; infinity in its place would stop JAX with `debug_infs`.
    """
    return xp.sort(values, axis=-1)


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
    return ops.nan_unless(xp, (number > 0) & (share == share), between)


def _bias(xp: Namespace, estimate: Array, values: Array, number: Array) -> Array:
    """How far the estimate is from the middle of the resamples, as a normal number.

    Of one that is beyond all of them, as if half a resample were.
    """
    at = xp.expand_dims(estimate, axis=-1)
    below = (ops.count(xp, values < at) + ops.count(xp, values <= at))[..., 0]
    twice = cast(xp, 2 * number, estimate.dtype)
    least = xp.ones_like(twice)
    found = xp.minimum(xp.maximum(cast(xp, below, estimate.dtype), least), twice - least)
    return normal.normal_quantile(xp, found / twice)


def _shifted(xp: Namespace, bias: Array, slant: Array, away: Array) -> Array:
    """The share of the distribution below a normal number, corrected for bias and acceleration."""
    shift = bias + away
    slope = 1 - slant * shift
    there = slope > 0  # else beyond all resamples
    far = xp.where(shift > 0, xp.full_like(shift, xp.inf), xp.full_like(shift, -xp.inf))
    found = xp.where(there, shift / xp.where(there, slope, xp.ones_like(slope)), far)
    return normal.normal_cdf(xp, bias + xp.where(xp.isnan(slope), slope, found))


def _acceleration(xp: Namespace, left_out: Any) -> Array:
    """From the values without one part of the examples each, but for those that are undefined."""
    there = left_out == left_out
    known = xp.where(there, left_out, xp.zeros_like(left_out))
    number = cast(xp, ops.count(xp, there), left_out.dtype)
    some = xp.maximum(number, xp.ones_like(number))
    away = xp.expand_dims(ops.total(xp, known), axis=-1) / some - known
    away = xp.where(there, away, xp.zeros_like(away))
    cubes, squares = ops.total(xp, away**3), ops.total(xp, away**2)
    varies = squares > 0
    root = xp.where(varies, squares, xp.ones_like(squares))
    return xp.where(varies, cubes / (6 * root**1.5), xp.zeros_like(squares))
