"""The normal distribution: of a confidence level, and for arrays of any library."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from quotakernels._array import Array, Namespace, device, special
from quotakernels.inputs.keywords import brief
from quotakernels.inputs.models import host_floats

_NORMAL = NormalDist()


def check_level(confidence_level: float) -> None:
    """Raise unless it is a share that an interval can have."""
    number = isinstance(confidence_level, (float, np.floating))  # no whole number is between
    if not (number and 0 < confidence_level < 1):
        raise ValueError(
            f"confidence_level must be a number above 0 and below 1; got {brief(confidence_level)}"
        )


def quantile(confidence_level: float) -> float:
    """How many standard deviations around the mean hold a share of a normal distribution."""
    z = -_NORMAL.inv_cdf((1 - confidence_level) / 2)
    if confidence_level > 0.5:
        return z
    away = confidence_level - math.erf(z / math.sqrt(2))  # the tail has rounded a small level
    return z + away / (2 * _NORMAL.pdf(z))


def two_sided(xp: Namespace, z: Array) -> Array:
    """The probability of a normal number that is at least as far from 0, also a tiny one."""
    return _each(xp, "erfc", math.erfc, xp.abs(z) / math.sqrt(2))


def normal_cdf(xp: Namespace, x: Array) -> Array:
    """The share of the normal distribution below a point, precise in both tails."""
    beyond = two_sided(xp, x) / 2
    return xp.where(x > 0, 1 - beyond, beyond)


def normal_quantile(xp: Namespace, share: Array) -> Array:
    """The point below which a share of the normal distribution lies; infinite for 0 and 1."""
    return _each(xp, "ndtri", _point, share)


def _each(xp: Namespace, name: str, of_number: Callable[[float], float], x: Array) -> Array:
    """A special function of the library, or one of numbers: these are the few of a result."""
    function = special(xp, name)
    if function is not None:
        return function(x)
    found = np.vectorize(of_number, otypes=[np.float64])(host_floats(x))
    return xp.asarray(found, dtype=x.dtype, device=device(x))


def _point(share: float) -> float:
    if 0 < share < 1:
        return _NORMAL.inv_cdf(share)
    return {0.0: -math.inf, 1.0: math.inf}.get(share, math.nan)
