"""What a confidence level is as a number of standard errors, and that number as a p-value."""

from __future__ import annotations

import math

from quotakernels._array import Array, Namespace

__all__ = ["check_level", "quantile", "two_sided"]

_STEP = 0.5
"""Of the midpoint rule, whose error is about exp(-(pi / step)²) of the whole: 7e-18."""
_NODES = tuple((k + 0.5) * _STEP for k in range(13))
_MOST_ROUNDS = 50


def check_level(confidence_level: float) -> None:
    """Raise unless it is a share that an interval can have."""
    number = type(confidence_level) in (int, float)
    if not (number and 0 < confidence_level < 1):
        raise ValueError(
            f"confidence_level must be a number above 0 and below 1; got {confidence_level!r}"
        )


def quantile(confidence_level: float) -> float:
    """How many standard deviations around the mean hold a share of a normal distribution.

    Newton's method on the logarithm of what is outside; that is concave, so no step leads back.
    """
    outside = math.log1p(-confidence_level)
    z = 0.0
    for _ in range(_MOST_ROUNDS):
        tail = math.erfc(z / math.sqrt(2))
        slope = math.sqrt(2 / math.pi) * math.exp(-z * z / 2) / tail
        step = (math.log(tail) - outside) / slope
        z += step
        if abs(step) <= 1e-15 * z:
            break
    return z


def two_sided(xp: Namespace, z: Array) -> Array:
    """The probability of a normal number that is at least as far from 0: erfc(|z|/√2).

    The midpoint rule for erfc(x) = (2x·exp(-x²)/pi)·∫ exp(-t²)/(x² + t²) dt, t from 0 on, with the
    residue at the pole (Hunter & Regan, Mathematics of Computation 26, 1972).  All terms are
    positive, so that also tiny probabilities are right to about 1e-13 of themselves.
    """
    x = xp.abs(z) / math.sqrt(2)
    square = x * x
    parts = [math.exp(-t * t) / (square + t * t) for t in _NODES]
    integral = _STEP * sum(parts[1:], start=parts[0])
    pole = 2 / (1 + xp.exp(xp.minimum(x * (2 * math.pi / _STEP), xp.full_like(x, 80.0))))
    near = xp.where(x < math.pi / _STEP, pole, xp.zeros_like(pole))
    tail = (2 / math.pi) * xp.exp(-square) * xp.minimum(x, xp.full_like(x, 1e9)) * integral + near
    return xp.minimum(tail, xp.ones_like(tail))
