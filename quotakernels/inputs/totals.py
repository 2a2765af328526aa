"""The masses of all examples, and of each class."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, known


def divisor(xp: Namespace, mass: Array) -> Array:
    """The mass, or where it is 0 something to divide by; no other mass is changed by it."""
    on_host = isinstance(mass, np.ndarray)  # torch.compile warns of a cache
    return mass + (_smallest_normal if on_host else _smallest_normal.__wrapped__)(xp, mass.dtype)


@cache
def _smallest_normal(xp: Namespace, dtype: Any) -> Any:
    return xp.finfo(dtype).smallest_normal


class Totals:
    """The masses of a table, each of shape (...), summed when it is first read.

    Its readers may have `summed` the rows anyway.
    """

    def __init__(self, xp: Namespace, table: Any, summed: bool = False):
        self._xp, self._table, self._summed = xp, table, summed
        self._made: dict[str, Array] = {}

    @property
    def rounded(self) -> bool:
        """Whether sums over the rows may be rounded."""
        if not self._table.rounded:
            return False
        return self._table.weighted or not known(self.whole < 2.0**53)

    @property
    def whole(self) -> Array:
        """Mass of all examples."""
        return self._read("whole")

    @property
    def positive(self) -> Array:
        """Mass of the positive ones."""
        return self._read("positive")

    @property
    def negative(self) -> Array:
        """Mass of the negative ones."""
        return self._read("negative")

    @property
    def positives(self) -> Array:
        """The number of positive examples, whole, and some number where a value was bad."""
        return self._read("positives")

    @property
    def positive_before(self) -> Array:
        """How many positive examples stand before each group of examples."""
        upto = self._xp.prefix_sum(self.positives)
        return self._xp.cast(upto - self.positives, self.positive.dtype)

    @property
    def examples(self) -> Array:
        """The number of examples, whole, and some number where a value was bad."""
        return self._read("counts")

    @property
    def pairs(self) -> Array:
        """The product of both masses: without weights how many pairs have one of each class."""
        if "pairs" not in self._made:
            self._made["pairs"] = self.positive * self.negative
        return self._made["pairs"]

    @property
    def perfect(self) -> Array:
        """Whether no negative stands above a positive or beside it."""
        if "perfect" not in self._made:
            xp, table = self._xp, self._table

            def worse_above(negative: Array, here: Array) -> tuple[Array]:
                return (xp.where(here > 0, negative, xp.zeros_like(negative)),)

            summands = ops.Summands(("negative_upto", "positive"), worse_above)
            ((above,),) = xp.sum_rows(table, summands)
            self._made["perfect"] = above == 0
        return self._made["perfect"]

    def within(self, value: Array, most: Array) -> Array:
        """What is the most of a perfect order, and less of any other, in spite of rounding."""
        return self._xp.at_most(value, most, lambda: self.perfect)

    def of_sums(self, value: Array, most: Array) -> Array:
        """The same of sums over the rows, which are not rounded where masses are counts."""
        return self.within(value, most) if self.rounded else value

    @property
    def cost(self) -> Array:
        """What all examples cost."""
        return self._read("cost")

    def __iter__(self) -> Iterator[Array]:
        return iter((self.whole, self.positive, self.negative))

    def _read(self, name: str) -> Array:
        if name not in self._made:
            self._made[name] = self._new(name)
        return self._made[name]

    def _new(self, name: str) -> Array:
        xp, table = self._xp, self._table
        if name in ("counts", "positives"):
            return xp.number_of(table, name, self._summed)
        if name == "cost":
            return xp.group_total(table, table.columns["cost"].whole)
        if table.weighted:
            if name == "whole":
                return self.positive + self.negative
            return xp.group_total(table, getattr(table, name))
        if name == "negative" and table.mark is not None:
            return self.whole - self.positive
        if name == "negative":
            number = self.examples - self.positives
        else:
            number = self._read("counts" if name == "whole" else "positives")
        if table.mark is not None:
            return number * table.mark
        return xp.cast(number, xp.wide_float(device(number)))
