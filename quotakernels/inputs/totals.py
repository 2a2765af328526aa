"""The masses of all examples, and of each class."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, known, once


def divisor(xp: Namespace, mass: Array) -> Array:
    """The mass as a divisor: tiny where it is 0, and unchanged otherwise."""
    on_host = isinstance(mass, np.ndarray)  # torch.compile warns of a cache
    return mass + (_smallest_normal if on_host else _smallest_normal.__wrapped__)(xp, mass.dtype)


@cache
def _smallest_normal(xp: Namespace, dtype: Any) -> Any:
    return xp.finfo(dtype).smallest_normal


class Totals:
    """The masses of a table, each of shape (...), summed when it is first read.

    With `summed` the caller sums the rows anyway.
    """

    def __init__(self, xp: Namespace, table: Any, summed: bool = False):
        self._xp, self._table, self._summed, self._mark = xp, table, summed, table.mark

    def __iter__(self) -> Iterator[Array]:
        return iter((self.whole, self.positive, self.negative))

    @once
    def whole(self) -> Array:
        """Mass of all examples."""
        if self._table.weighted:
            return self.positive + self.negative
        return self._as_mass(self.examples)

    @once
    def positive(self) -> Array:
        """Mass of the positive ones."""
        if self._table.weighted:
            return self._xp.group_total(self._table, self._table.positive)
        return self._as_mass(self.positives)

    @once
    def negative(self) -> Array:
        """Mass of the negative ones."""
        if self._table.weighted:
            return self._xp.group_total(self._table, self._table.negative)
        if self._mark is not None:
            return self.whole - self.positive
        return self._as_mass(self.examples - self.positives)

    def _as_mass(self, number: Array) -> Array:
        """A number of examples as a float; NaN if there was a bad value."""
        if self._mark is not None:
            return number * self._mark
        return self._xp.wide(number)

    @once
    def examples(self) -> Array:
        """The number of examples, an integer; any number if there was a bad value."""
        return self._xp.number_of(self._table, "counts", self._summed)

    @once
    def positives(self) -> Array:
        """The number of positive examples, an integer; any number if there was a bad value."""
        return self._xp.number_of(self._table, "positives", self._summed)

    @once
    def cost(self) -> Array:
        """What all examples cost."""
        return self._xp.group_total(self._table, self._table.columns["cost"].whole)

    @once
    def positive_before(self) -> Array:
        """How many positive examples come before each group of examples."""
        upto = self._xp.prefix_sum(self.positives)
        return self._xp.cast(upto - self.positives, self.positive.dtype)

    @once
    def pairs(self) -> Array:
        """The product of both masses: without weights how many pairs have one of each class."""
        return self.positive * self.negative

    @once
    def perfect(self) -> Array:
        """Whether every positive is above all negatives."""
        xp = self._xp

        def worse_above(rows: Any) -> tuple[Array]:
            negative = rows.negative_upto
            return (xp.where(rows.positive > 0, negative, xp.zeros_like(negative)),)

        return xp.sum_rows(self._table, ops.RowSum(worse_above, lambda above: above == 0))[0]

    @property
    def rounded(self) -> bool:
        """Whether sums over the rows may be rounded."""
        if not self._table.rounded:
            return False
        return self._table.weighted or not known(self.whole < ops.EXACT_IN_FLOAT64)

    def within(self, value: Array, most: Array) -> Array:
        """The value, at most `most` in spite of rounding, and exactly that for a perfect order."""
        return self._xp.at_most(value, most, lambda: self.perfect)

    def of_sums(self, value: Array, most: Array) -> Array:
        """The value, limited as by `within` where sums over the rows are rounded."""
        return self.within(value, most) if self.rounded else value
