"""The beta distribution: its normaliser, shares of it, and expected losses over it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from quotakernels._array import Array, Namespace

AROUND_ROUNDS = 10
"""Rounds of the continued fraction that are enough for parameters from 1 to 2."""


class Beta(NamedTuple):
    """Beta(a, b): its parameters, the logarithm of B(a, b), and the rounds that it takes."""

    a: Any
    b: Any
    log_normaliser: Any
    rounds: int


def given(a: float, b: float) -> Beta:
    """Beta(a, b) of two numbers; no rounds for Beta(2, 2), of which all is known."""
    if a == b == 2:
        return Beta(a, b, -math.log(6), 0)
    return Beta(a, b, _log_beta(a, b), rounds_for(max(a, b)))


def rounds_for(largest: float) -> int:
    """Rounds of the continued fraction for parameters of which this is the largest."""
    return AROUND_ROUNDS + math.ceil(3 * math.sqrt(largest))


def _log_beta(a: float, b: float) -> float:
    """The logarithm of B(a, b), by steps of one from the parameters' fractions in (0, 1].

    Differences of large log-gammas would lose digits.
    """
    above_a, above_b = math.ceil(a) - 1, math.ceil(b) - 1
    x, y = a - above_a, b - above_b
    steps = [math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)]
    steps += [math.log((x + k) / (x + y + k)) for k in range(above_a)]
    steps += [math.log((y + k) / (a + y + k)) for k in range(above_b)]
    return math.fsum(steps)


def around(xp: Namespace, share: Array, other: Array) -> Beta:
    """Beta(1 + π, 2 - π) of a share π and 1 - π: B = π(1 - π)·(pi/2)/sin(pi·π)."""
    small, large = xp.minimum(share, other), xp.maximum(share, other)
    angle = math.pi * small
    normaliser = large * (angle / xp.sin(angle)) / 2
    return Beta(1 + share, 1 + other, xp.log(normaliser), AROUND_ROUNDS)


def cumulative(xp: Namespace, beta: Beta, share: Array, other: Array) -> Array:
    """The regularised incomplete beta function I_v(a, b) of shares v and 1 - v."""
    a, b, log_normaliser, rounds = beta
    swapped = share * (a + b + 2) > a + 1
    v, rest = xp.where(swapped, other, share), xp.where(swapped, share, other)
    a, b = a + xp.zeros_like(v), b + xp.zeros_like(v)
    a, b = xp.where(swapped, b, a), xp.where(swapped, a, b)
    density = xp.exp(a * _log(xp, v, rest) + b * _log(xp, rest, v) - log_normaliser)
    part = density / (a * _fraction(xp, a, b, v, rest, rounds))
    return xp.where(swapped, 1 - part, part)


def expected_losses(xp: Namespace, beta: Beta, share: Array, other: Array) -> tuple[Array, Array]:
    """Expected losses of a negative and of a positive, times a + b, of shares v and 1 - v.

    They are A = a·I_v(a + 1, b) and B = b·I_{1-v}(b + 1, a) with the regularised incomplete beta
    function I.  The expectation of min(c·(1 - v), (1 - c)·v) over c is (1 - v)·A + v·B, whose slope
    is B - A.  The two change places with v and 1 - v.  For v below the mean, roughly, the continued
    fraction of the first is quick, and the second follows from it without loss.
    """
    a, b, log_normaliser, rounds = beta
    if rounds == 0:
        return 2 * share**3 * (1 + 3 * other), 2 * other**3 * (1 + 3 * share)
    swapped = share * (a + b + 2) > a + 1
    v, rest = xp.where(swapped, other, share), xp.where(swapped, share, other)
    a, b = a + xp.zeros_like(v), b + xp.zeros_like(v)
    a, b = xp.where(swapped, b, a), xp.where(swapped, a, b)
    exponent = a * _log(xp, v, rest) + b * _log(xp, rest, v) - log_normaliser
    density = xp.exp(exponent) * (1 / a + 1 / b)
    first = v * b * density / ((a + 1) * _fraction(xp, a + 1, b, v, rest, rounds))
    negative, positive = a * first, b * (1 - density - first)
    return xp.where(swapped, positive, negative), xp.where(swapped, negative, positive)


def _log(xp: Namespace, share: Array, other: Array) -> Array:
    """The logarithm of a share, from 1 minus it where that is known better."""
    return xp.where(share > 0.5, xp.log1p(-other), xp.log(share))


def _fraction(xp: Namespace, a: Array, b: Array, x: Array, rest: Array, rounds: int) -> Array:
    """The continued fraction 1 + d₁/(1 + d₂/(1 + …)) in I_x(a, b) (DLMF 8.17.22), from its tail.

    The coefficients d tend to -x/4, of which the tail is made.
    """
    value = (1 + xp.sqrt(rest)) / 2
    for m in range(rounds, 0, -1):
        value = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / value
        k = m - 1
        value = 1 - (a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1)) / value
    return value
