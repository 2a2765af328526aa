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
