"""Sums of 1/(S+k) and k/(S+k) over a tie group, in a constant number of operations.

Differences of digammas, and m - S·ΔH, lose up to nine digits; nothing is subtracted here that
is nearly equal.
"""

from __future__ import annotations

from quotakernels import ops
from quotakernels._array import Array, Namespace

NEAR = 8
"""Terms that are summed one by one: all of a small group, or those before S = 8, from where on
the asymptotic series holds."""

_TAIL = (
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

_SMALL_STEP, _FEW_TERMS = 16, 5
"""Where |h| is at most 1/16, so that |y| is below 1/30, five terms leave out less than 2**-58."""
_ATANH_TERMS = 24


def _tail(xp: Namespace, x: Array) -> Array:
    """H(x - ½) - γ - ln x for x ≥ 8½."""
    y = 1 / (x * x)
    value = xp.zeros_like(x)
    for coefficient in reversed(_TAIL):
        value = (value + coefficient) * y
    return value


def log_remainder(xp: Namespace, base: Array, items: Array) -> Array:
    """The value of h - log(1 + h) with h = items/base, to full precision."""

    def large(base: Array, items: Array) -> Array:
        return ops.piecewise(
            xp,
            items < 2 * base,
            lambda *x: _log_remainder_series(xp, _ATANH_TERMS, *x),
            lambda base, items: items / base - xp.log1p(items / base),
            base,
            items,
        )

    return ops.piecewise(
        xp,
        _SMALL_STEP * xp.abs(items) > base,
        large,
        lambda *x: _log_remainder_series(xp, _FEW_TERMS, *x),
        base,
        items,
    )


def _log_remainder_series(xp: Namespace, terms: int, base: Array, items: Array) -> Array:
    """With y = h/(2+h): log(1+h) = 2·atanh(y) and h = 2y/(1-y); h is items/base."""
    y = items / (2 * base + items)
    square = y * y
    series = xp.zeros_like(y)
    for k in range(terms, 0, -1):
        series = series * square + 1 / (2 * k + 1)
    return 2 * square * ((2 * base + items) / (2 * base) - y * series)


def _far_sums(xp: Namespace, before: Array, items: Array) -> tuple[Array, Array]:
    half = items / (2 * before + 1)
    tail = _tail(xp, before + items + 0.5) - _tail(xp, before + 0.5)
    ones = xp.log1p(2 * half) + tail
    return ones, before * (log_remainder(xp, before + 0.5, items) - tail) + half


def harmonic_sums(xp: Namespace, before: Array, items: Array) -> tuple[Array, Array]:
    """Σ 1/(S+k) and Σ k/(S+k) for k = 1..m; S ≥ 0 is real, m a whole number."""
    near = ops.clip(xp, xp.ceil(NEAR - before), 0.0, float(NEAR))
    near = xp.where(items <= NEAR, items, near)
    ones, ramps = ops.partial_harmonic_sums(xp, before, near, NEAR)
    is_far = items > near

    def far(kind: int) -> Array:
        return ops.piecewise(
            xp,
            is_far,
            lambda *x: _far_sums(xp, *x)[kind],
            lambda *x: xp.zeros_like(x[0]),
            before + near,
            items - near,
        )

    far_ones = far(0)
    return ones + far_ones, ramps + far(1) + near * far_ones
