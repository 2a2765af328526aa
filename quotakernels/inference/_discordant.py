"""Two numbers of successes that are equally likely: exact and approximate tests, and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable

from quotakernels.inference._normal import quantile

__all__ = ["by_halves", "by_sizes", "interval_by_halves", "interval_by_sizes", "normal_tails"]

_NEGLIGIBLE = 2.0**-60
_FEW = 5000
"""Up to which numbers binomial coefficients are made of whole numbers."""


def by_halves(first: int, second: int, mid_p: bool) -> float:
    """McNemar: each of the successes is the first's with probability ½."""
    least, number = min(first, second), first + second
    if number <= _FEW:
        at = math.comb(number, least) / 2**number
    else:
        at = math.exp(_log_ways(number, least) - number * math.log(2))
    return _two_sided(at, least, lambda k: k / (number - k + 1), mid_p)


def by_sizes(first: int, second: int, size: int, mid_p: bool) -> float:
    """Fisher: the successes are spread at random over two times so many trials."""
    least, number = min(first, second), first + second
    ways, rest = (size, least), (size, number - least)
    if size <= _FEW:
        at = math.comb(*ways) * math.comb(*rest) / math.comb(2 * size, number)
    else:
        at = math.exp(_log_ways(*ways) + _log_ways(*rest) - _log_ways(2 * size, number))

    def ratio(k: int) -> float:
        return k / (size - k + 1) * ((size - number + k) / (number - k + 1))

    return _two_sided(at, least, ratio, mid_p)


def _two_sided(at: float, least: int, ratio: Callable[[int], float], mid_p: bool) -> float:
    """Twice the probability of `least` or less, at most 1; with `mid_p` less once that of `least`.

    ``ratio(k)`` is the probability of k - 1 over that of k.
    """
    tail, term = at, at
    for k in range(least, 0, -1):
        term *= ratio(k)
        tail += term
        if term <= _NEGLIGIBLE * tail:
            break
    return min(1.0, 2 * tail - at if mid_p else 2 * tail)


def _log_ways(number: int, taken: int) -> float:
    return math.lgamma(number + 1) - math.lgamma(taken + 1) - math.lgamma(number - taken + 1)


def normal_tails(first: float, second: float, size: float | None, corrected: bool) -> float:
    """The same by the normal distribution, for numbers that need not be whole.

    Corrected for continuity it is near the exact test, else near its mid-p.
    """
    apart = max(abs(first - second) - (1 if corrected else 0), 0.0)
    variance = first + second
    if size is not None:
        variance *= 1 - variance / (2 * size) if size else 0
    return math.erfc(apart / math.sqrt(2 * variance)) if apart else 1.0


def interval_by_halves(
    first: float, second: float, examples: float, confidence_level: float
) -> tuple[float, float]:
    """Of first - second, where examples were counted by one, the other or neither."""
    size = examples + 2
    centre, both = (first - second) / size, (first + second + 2) / size
    half = quantile(confidence_level) * math.sqrt((both - centre * centre) / size)
    return examples * (centre - half), examples * (centre + half)


def interval_by_sizes(
    first: float, second: float, size: float, confidence_level: float
) -> tuple[float, float]:
    """Of first - second, each of so many trials."""
    shares = [(x + 1) / (size + 2) for x in (first, second)]
    error = math.sqrt(sum(x * (1 - x) for x in shares) / (size + 2))
    half, centre = quantile(confidence_level) * error, shares[0] - shares[1]
    return size * (centre - half), size * (centre + half)
