"""Measures that are sums over the rows of the table, and the series that their terms need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace
from quotakernels.inputs.totals import Totals


class OfRowSum(NamedTuple):
    """How a measure is made of a sum over rows, which several measures may share.

    ``make(xp, table, total)`` makes the sum, and ``take(value)`` the measure of its value.
    """

    make: Callable[..., ops.RowSum]
    take: Callable[[Any], Any] = lambda value: value


def item_scale(xp: Namespace, table: ops.TieTable, total: Totals) -> Array:
    """The factor that gives masses a mean of one per example."""
    if table.weighted:
        return xp.cast(total.examples, total.whole.dtype) / total.whole
    return xp.ones_like(total.whole)


# Series that terms need


NEAR = 8
"""Terms that are summed, or multiplied, one by one: all of a small group, or those up to position
8, beyond which asymptotic series hold."""

WIDE = 200
"""Groups of at most as many examples as this part of those before them are narrow."""

_HARMONIC = (
    1 / 24,
    -7 / 960,
    31 / 8064,
    -127 / 30720,
    511 / 67584,
    -1414477 / 67092480,
    8191 / 98304,
    -118518239 / 267386880,
    5749691557 / 1882718208,
    -91546277357 / 3460300800,
)
"""Coefficients of x⁻², x⁻⁴, … in H(x - ½) - γ - ln x."""

_BERNOULLI = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
)
"""Coefficients of u², u⁴, … in (u/2)·coth(u/2) - 1."""
_NEAR_ZERO = 0.56**2
"""Where u² is below this, they leave out less than 2**-52 of the deficit."""


def series(coefficients: tuple[float, ...], y: Array) -> Array:
    """The sum of c·y, c·y², c·y³, … over the coefficients."""
    value = coefficients[-1] * y
    for coefficient in reversed(coefficients[:-1]):
        value = (value + coefficient) * y
    return value


def _tail(x: Array) -> Array:
    """H(x - ½) - γ - ln x for x ≥ 8½."""
    return series(_HARMONIC, 1 / (x * x))


def log_and_deficit(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """log(1 + x), and 1 - log(1 + x)/x to full precision; x is finite."""
    log, is_near, near = _near_zero(xp, x)
    return log, xp.where(is_near, near, 1 - log / x)


def log_and_remainder(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """log(1 + x), and x - log(1 + x) to full precision."""
    log, is_near, near = _near_zero(xp, x)
    return log, xp.where(is_near, x * near, x - log)


def _near_zero(xp: Namespace, x: Array) -> tuple[Array, Array, Array]:
    """The logarithm u = log(1 + x), whether x is near 0, and 1 - u/x if it is.

    The quotient u/x is u/(e^u - 1) = (u/2)·coth(u/2) - u/2.
    """
    log = xp.log1p(x)
    square = log * log
    return log, square < _NEAR_ZERO, log / 2 - series(_BERNOULLI, square)


def _near_sums(xp: Namespace, before: Array, items: Array) -> tuple[Array, Array]:
    """The harmonic sums of at most `NEAR` places, term by term."""
    ones, ramps = xp.zeros_like(before), xp.zeros_like(before)
    for k in range(1, NEAR + 1):
        one = xp.cast(k <= items, before.dtype) / (before + k)
        ones, ramps = ones + one, ramps + k * one
    return ones, ramps


def _far_sums(xp: Namespace, before: Array, items: Array) -> tuple[Array, Array]:
    x = items / (before + 0.5)
    log, remainder = log_and_remainder(xp, x)
    tail = _tail(before + items + 0.5) - _tail(before + 0.5)
    return log + tail, before * (remainder - tail) + x / 2


def narrow_sums(_xp: Namespace, before: Array, items: Array) -> tuple[Array, Array]:
    """The harmonic sums of m ≤ S / `WIDE` places, by powers of the distances from the middle."""
    middle = before + (items + 1) / 2
    square = items * items
    second = (square - 1) / (12 * middle * middle)
    fourth = second * (3 * square - 7) / (20 * middle * middle)
    bent = items * (second + fourth)
    ones = (items + bent) / middle
    return ones, (items + 1) / 2 * ones - bent


def harmonic_sums(xp: Namespace, before: Array, items: Array) -> tuple[Array, Array]:
    """Σ 1/(S+k) and Σ k/(S+k) for k = 1..m; S ≥ 0 is real, m a whole number."""
    near = xp.clip(xp.ceil(NEAR - before), 0.0, float(NEAR))
    near = xp.where(items <= NEAR, items, near)
    ones, ramps = _near_sums(xp, before, near)
    far = _far_sums(xp, before + near, items - near)
    far_ones, far_ramps = (xp.where(items > near, x, xp.zeros_like(x)) for x in far)
    return ones + far_ones, ramps + far_ramps + near * far_ones
