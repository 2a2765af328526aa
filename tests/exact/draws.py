"""Tails of the binomial and the hypergeometric distribution, and the intervals that they give."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def binomial_tail(found: int, trials: int, share: Fraction) -> Fraction:
    """The probability of so many successes or more."""
    parts = (
        comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(found, trials + 1)
    )
    return sum(parts, Fraction(0))


def hypergeometric_tail(found: int, drawn: int, good: int, listed: int) -> Fraction:
    """The probability of so many good ones or more among those drawn, of so many on a list."""
    ways = (comb(good, k) * comb(listed - good, drawn - k) for k in range(found, drawn + 1))
    return Fraction(sum(ways), comb(listed, drawn))


def listed_interval(
    found: int, missed: int, drawn: int, listed: int, tail: Fraction
) -> tuple[Fraction, Fraction]:
    """The least and the greatest share on the list that leaves the tail."""
    ends = []
    for count in (found, missed):
        possible = range(count, listed - drawn + count + 1)
        ends.append(
            next(k for k in possible if hypergeometric_tail(count, drawn, k, listed) >= tail)
        )
    return Fraction(ends[0], listed), 1 - Fraction(ends[1], listed)


def variance_of_found(ranked: list[int], quota: int, share: Fraction) -> Fraction:
    """The sum of squares of what each example adds to the positives found less a share of all.

    The quota is at most 17, so that the rate at the cut is that of 5 places on either side.
    """
    n, positives = len(ranked), sum(ranked)
    near, negatives = ranked[max(quota - 5, 0) : quota + 5], quota - sum(ranked[:quota])
    rate = Fraction(2 * sum(near) + 1, 2 * (len(near) + 1))
    above, below = -rate * Fraction(n - quota, n), rate * Fraction(quota, n)
    return (
        positives * share * (1 - share + above) ** 2
        + positives * (1 - share) * (below - share) ** 2
        + max(negatives, quota - share * positives) * above**2
        + max(n - positives - negatives, n - quota - (1 - share) * positives) * below**2
    )
