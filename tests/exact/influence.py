"""How much a measure changes for a little more weight of one example, in fractions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple, TypeAlias


class Dual(NamedTuple):
    """A number and how fast it changes."""

    value: Fraction
    slope: Fraction = Fraction(0)

    def plus(self, other: Dual) -> Dual:
        """The sum."""
        return Dual(self.value + other.value, self.slope + other.slope)

    def times(self, other: Dual) -> Dual:
        """The product."""
        slope = self.slope * other.value + self.value * other.slope
        return Dual(self.value * other.value, slope)

    def over(self, other: Dual) -> Dual:
        """The quotient."""
        value = self.value / other.value
        return Dual(value, (self.slope - value * other.slope) / other.value)


Group: TypeAlias = tuple[int, Dual, Dual]
"""The number of tied examples, their mass and the mass of their positives."""
ZERO = Dual(Fraction(0))


def weighed(y: Sequence[int], s: Sequence[float], which: int) -> list[Group]:
    """The tie groups, best first, where the weight of one example changes."""
    order = sorted(range(len(s)), key=lambda i: -s[i])
    found = []
    for _, tied in groupby(order, key=lambda i: s[i]):
        members = list(tied)
        mass = positive = ZERO
        for i in members:
            own = Dual(Fraction(1), Fraction(i == which))
            mass = mass.plus(own)
            positive = positive.plus(own) if y[i] else positive
        found.append((len(members), mass, positive))
    return found


def average_precision(groups: Sequence[Group]) -> Dual:
    """The precision at the end of each group, weighted with its positives."""
    total = above = before = ZERO
    for _, mass, positive in groups:
        above, before = above.plus(positive), before.plus(mass)
        total = total.plus(positive.times(above.over(before)))
    return total.over(above)


def average_hit_rate(groups: Sequence[Group]) -> Dual:
    """The hit rate at each position, weighted with its part of the positives."""
    total = above = before = ZERO
    for size, mass, positive in groups:
        for k in range(1, size + 1):
            part = Dual(Fraction(k, size))
            upto = above.plus(positive.times(part)), before.plus(mass.times(part))
            own = positive.times(Dual(Fraction(1, size)))
            total = total.plus(own.times(upto[0].over(upto[1])))
        above, before = above.plus(positive), before.plus(mass)
    return total.over(above)


def value_and_variance(
    y: Sequence[int], s: Sequence[float], measure: Callable[[Sequence[Group]], Dual]
) -> tuple[Fraction, Fraction]:
    """The measure, and n/(n - 1) times the sum of the squared changes."""
    changes = [measure(weighed(y, s, k)) for k in range(len(y))]
    n, squares = len(y), sum((x.slope**2 for x in changes), Fraction(0))
    return changes[0].value, squares * Fraction(n, n - 1)
