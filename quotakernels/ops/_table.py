"""The two records that the operations exchange, and when slopes of a table are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from quotakernels._array import Array

EXACT = 2.0**62
"""Below this P·N all turns of a table's curve are exact in 64-bit integers."""
TOLERANCE = 2.0**-48
"""Relative difference below which two slopes made of rounded sums are taken as equal."""


class Groups(NamedTuple):
    """One row per tie group, best score first; masses are None where they are the counts.

    The two classes have masses of their own: in their sum one of little weight would be lost
    beside one of much.
    """

    thresholds: Array
    counts: Array
    positives: Array
    positive_weights: Array | None
    negative_weights: Array | None

    @property
    def weighted(self) -> bool:
        """Whether masses are other than counts."""
        return self.positive_weights is not None

    @property
    def positive(self) -> Array:
        """Mass of the positives of each row; without weights their number."""
        return self.positive_weights if self.weighted else self.positives

    @property
    def negative(self) -> Array:
        """Mass of the negatives of each row; without weights their number."""
        return self.negative_weights if self.weighted else self.counts - self.positives

    @property
    def mass(self) -> Array:
        """Mass of each row; without weights the number of its examples."""
        return self.positive + self.negative if self.weighted else self.counts

    def map(self, function: Callable[[Array], Array]) -> Groups:
        """The table with every column that it has put through the function."""
        return Groups(*(None if x is None else function(x) for x in self))


class Rows(NamedTuple):
    """Rows of a table in floating point, with the sums over the rows before each.

    ``items`` and ``items_before`` count examples; the other columns are masses, which without
    weights are counts too.
    """

    items_before: Array
    mass_before: Array
    positive_before: Array
    items: Array
    mass: Array
    positive: Array
    negative: Array
