"""The normal distribution: of a confidence level, and for arrays of any library."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from quotakernels._array import Array, Namespace
from quotakernels.inputs.keywords import brief

__all__ = ["check_level", "normal_cdf", "normal_quantile", "quantile", "two_sided"]

_STEP = 0.5
"""Of the midpoint rule, whose error is about exp(-(pi / step)²) of the whole: 7e-18."""
_NODES = tuple((k + 0.5) * _STEP for k in range(13))
_MOST_ROUNDS = 50


def check_level(confidence_level: float) -> None:
    """Raise unless it is a share that an interval can have."""
    number = isinstance(confidence_level, (float, np.floating))  # no whole number is between
    if not (number and 0 < confidence_level < 1):
        raise ValueError(
            f"confidence_level must be a number above 0 and below 1; got {brief(confidence_level)}"
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
    residue at the pole ([Hunter 1972]).  All terms are
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


def normal_cdf(xp: Namespace, x: Array) -> Array:
    """The share of the normal distribution below a point, precise in both tails."""
    beyond = two_sided(xp, x) / 2
    return xp.where(x > 0, 1 - beyond, beyond)


# Coefficients of the rational approximations of Wichura (1988), algorithm AS 241, PPND16.
_CENTRE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3),
)  # fmt: skip
_MIDDLE = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9),
)  # fmt: skip
_TAIL = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15),
)  # fmt: skip

Coefficients: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]


def _ratio(x: Array, coefficients: Coefficients) -> Array:
    """A ratio of polynomials, of which the coefficients rise with the power."""
    above, below = (x * 0 for _ in coefficients)
    for p, q in zip(*(reversed(part) for part in coefficients), strict=True):
        above, below = above * x + p, below * x + q
    return above / below


def normal_quantile(xp: Namespace, share: Array) -> Array:
    """The point below which a share of the normal distribution lies; infinite for 0 and 1."""
    away = share - 0.5
    centre = away * _ratio(0.180625 - away * away, _CENTRE)
    tail = xp.minimum(share, 1 - share)
    depth = xp.sqrt(-xp.log(tail))
    outer = xp.where(depth <= 5, _ratio(depth - 1.6, _MIDDLE), _ratio(depth - 5, _TAIL))
    outer = xp.where(tail > 0, outer, xp.full_like(outer, xp.inf))
    value = xp.where(xp.abs(away) <= 0.425, centre, xp.where(away < 0, -outer, outer))
    inside = (share >= 0) & (share <= 1)
    return xp.where(inside, value, xp.full_like(value, xp.nan))
