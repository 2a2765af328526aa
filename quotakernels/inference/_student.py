"""Student's t of any degrees of freedom from 1 on, for arrays of any library.

With t = √(ν·expm1(2v²/ν)) its density is a smooth function of v that falls like exp(-v²): one rule
of double exponential type gives the tail beyond any v to rounding, in relation to exp(-v²).
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, constant, device, namespace
from quotakernels.inference._normal import quantile

_NODES, _STEP = 128, 0.05
_END = 40.0
"""Where exp(-v²) has fallen by exp(-40) nothing is left."""
_STEPS, _DEGREE = 6, 32


def two_sided(xp: Namespace, t: Array, freedom: Array) -> Array:
    """The probability of a value beyond ±t, also a tiny one; NaN below 1 degree of freedom."""
    known = freedom >= 1
    number = xp.where(known, freedom, xp.ones_like(freedom))
    place = xp.sqrt(number / 2 * xp.log1p(t / number * t))
    tail = _tail(xp, place, number) / _tail(xp, xp.zeros_like(place), number)
    return ops.nan_unless(xp, known, xp.exp(-place * place) * tail)


def quantiles(xp: Namespace, confidence_level: float, freedom: Array) -> Array:
    """The t that so large a share lies within, ±t; NaN below 1 degree of freedom."""
    known = freedom >= 1
    number = xp.where(known, freedom, xp.ones_like(freedom))
    dtype, dev = number.dtype, device(number)
    degree = xp.arange(_DEGREE + 1, dtype=dtype, device=dev)
    polynomials = xp.cos(degree * xp.expand_dims(xp.acos(2 / number - 1), axis=-1))
    place = ops.total(xp, polynomials * constant(xp, _places(confidence_level), dtype, dev))
    t = xp.sqrt(number * xp.expm1(2 * place * place / number))
    return ops.nan_unless(xp, known, t)


@functools.lru_cache(maxsize=64)
def _places(confidence_level: float) -> list[float]:
    """Chebyshev coefficients of the v of a quantile by 2/ν - 1."""
    normal, outside = quantile(confidence_level) / math.sqrt(2), math.log1p(-confidence_level)

    def place(at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        xp, freedom = namespace(at), 2 / (at + 1)
        wanted = np.log(_tail(xp, np.zeros_like(at), freedom)) + outside
        found = np.full_like(at, normal)
        for _ in range(_STEPS):  # of Newton in the logarithm of the tail, which is concave in v
            tail = _tail(xp, found, freedom)
            away = np.log(tail) - found * found - wanted
            found = found + away * tail / _slope(xp, found, freedom)
        return found

    interpolate: Any = np.polynomial.chebyshev.chebinterpolate
    coefficients: list[float] = interpolate(place, _DEGREE).tolist()
    return coefficients


def _tail(xp: Namespace, place: Array, freedom: Array) -> Array:
    """The integral of the density from v on, over exp(-v²), but for a factor of ν."""
    half = xp.expand_dims(_END / (place + xp.sqrt(place * place + _END)) / 2, axis=-1)
    place, freedom = (xp.expand_dims(x, axis=-1) for x in (place, freedom))
    step = xp.arange(_NODES, dtype=place.dtype, device=device(place)) - (_NODES - 1) / 2
    bent = math.pi / 2 * xp.sinh(_STEP * step)  # the nodes are 1 + tanh(bent), from 0 to 2
    weight = _STEP * math.pi / 2 * xp.cosh(_STEP * step) / xp.cosh(bent) ** 2
    on = half * (2 / (1 + xp.exp(-2 * bent)))
    height = xp.exp(-on * (2 * place + on)) * _slope(xp, place + on, freedom)
    return ops.total(xp, height * weight * half)


def _slope(xp: Namespace, place: Array, freedom: Array) -> Array:
    """The density at v over exp(-v²), but for the same factor."""
    square = -freedom * xp.expm1(-2 * place * place / freedom)
    there = square > 0
    at_0 = xp.full_like(square, math.sqrt(2))
    return xp.where(there, 2 * place / xp.sqrt(xp.where(there, square, at_0)), at_0)
