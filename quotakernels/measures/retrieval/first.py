"""The chance that tied examples in random order begin without a positive.

Of m examples with p positives, d drawn without replacement have none with probability
C(m - p, d)/C(m, d).  Differences of logarithms of factorials would lose m·log(m) units in the last
place; nothing is subtracted here that is nearly equal.
"""

from __future__ import annotations

from typing import NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace

NEAR = 8
"""Draws that are multiplied one by one: all of few, or the last of many, beyond which the
asymptotic series of the logarithms of factorials holds."""

_TAIL = (
    -1 / 24,
    7 / 2880,
    -31 / 40320,
    127 / 215040,
    -511 / 608256,
    1414477 / 738017280,
    -8191 / 1277952,
    118518239 / 4010803200,
)
"""Coefficients of x⁻¹, x⁻³, … in ln Γ(x + ½) - x·ln x + x - ½·ln 2π."""


class Chance(NamedTuple):
    """The probabilities that there is no positive, and that there is one; each is accurate."""

    none: Array
    some: Array


def chance_of_none(xp: Namespace, items: Array, positives: Array, drawn: Array) -> Chance:
    """Whether whole numbers of draws, 0 to `items`, find a positive.

    The formula is the same with draws and positives exchanged, so that the fewer of them are
    multiplied.
    """
    few, many = xp.minimum(positives, drawn), xp.maximum(positives, drawn)
    far = ops.clip(xp, few - NEAR, 0.0)
    log = ops.piecewise(
        xp,
        far > 0,
        lambda *x: _log_of_far(xp, *x),
        lambda items, _, __: xp.zeros_like(items),
        *(items, many, far),
    )
    none, some = xp.exp(log), -xp.expm1(log)
    for k in range(NEAR):
        left = items - (far + k)
        there = far + k < few
        left = xp.where(there, left, xp.ones_like(left))
        hit = xp.where(there, xp.minimum(many, left), xp.zeros_like(left)) / left
        none, some = none * (1 - hit), some + (1 - some) * hit
    return Chance(none, some)


def _log_of_far(xp: Namespace, items: Array, positives: Array, drawn: Array) -> Array:
    """The logarithm for at least 8 examples that are neither drawn nor positive."""
    top = items + 0.5
    least = xp.full_like(top, NEAR + 0.5)
    left, other = xp.maximum(top - drawn, least), xp.maximum(top - positives, least)
    rest = xp.maximum(left - positives, least)
    both = xp.log1p(-drawn / xp.maximum(top, drawn + least)) * positives
    both = both + xp.log1p(-positives / xp.maximum(top, positives + least)) * drawn
    log = both - rest * _log_ratio(xp, top, left, other, rest)
    return log + (_tail(other) - _tail(top)) + (_tail(left) - _tail(rest))


def _log_ratio(xp: Namespace, top: Array, left: Array, other: Array, rest: Array) -> Array:
    """ln(top·rest/(left·other)), whose argument is 1 - (top - left)·(top - other)/(left·other)."""
    part = (top - left) / left * ((top - other) / other)
    near = part < 0.5
    nothing = xp.zeros_like(part)
    return xp.where(
        near,
        xp.log1p(-xp.where(near, part, nothing)),
        xp.log(top / left * (rest / other)),
    )


def _tail(x: Array) -> Array:
    square = 1 / (x * x)
    value = _TAIL[-1] * square
    for coefficient in reversed(_TAIL[1:-1]):
        value = (value + coefficient) * square
    return (value + _TAIL[0]) / x
