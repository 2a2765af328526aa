"""McNemar's test of two numbers that are equally likely to grow, and the interval beside it."""

from __future__ import annotations

import math

from quotakernels.inference._z_values import quantile

__all__ = ["chi_square", "exact", "paired_interval"]

_NEGLIGIBLE = 2.0**-60
_FEW = 5000


def exact(first: int, second: int, mid_p: bool) -> float:
    """Twice the probability that the lesser of two numbers of coins' falls is as small as it is.

    With `mid_p` less once the probability of just that number; at most 1.
    """
    least, number = min(first, second), first + second
    at = _probability(least, number)
    tail, term, below = at, at, least
    while below > 0 and term > _NEGLIGIBLE * tail:
        term *= below / (number - below + 1)
        tail += term
        below -= 1
    return min(1.0, 2 * tail - at if mid_p else 2 * tail)


def _probability(falls: int, coins: int) -> float:
    """That so many of the coins fall on one side."""
    if coins <= _FEW:
        return math.comb(coins, falls) / 2**coins
    logarithm = math.lgamma(coins + 1) - math.lgamma(falls + 1) - math.lgamma(coins - falls + 1)
    return math.exp(logarithm - coins * math.log(2))


def chi_square(first: float, second: float, corrected: bool) -> float:
    """The same by the normal distribution, for numbers that need not be whole.

    Corrected for continuity it is near the exact test, else near its mid-p.
    """
    apart = max(abs(first - second) - (1 if corrected else 0), 0.0)
    return math.erfc(apart / math.sqrt(2 * (first + second))) if apart else 1.0


def paired_interval(
    first: float, second: float, examples: float, selected: float, confidence_level: float
) -> tuple[float, float]:
    """Of (first - second)/selected, where examples were counted by one, the other or neither.

    One is added to both numbers, and two to that of the examples.
    """
    size = examples + 2
    centre, both = (first - second) / size, (first + second + 2) / size
    half = quantile(confidence_level) * math.sqrt((both - centre * centre) / size)
    scale = examples / selected
    return max(scale * (centre - half), -1.0), min(scale * (centre + half), 1.0)
