"""The two records that the operations exchange."""

from __future__ import annotations

from typing import NamedTuple

from quotakernels._array import Array


class Groups(NamedTuple):
    """One row per tie group, best score first; masses are None where they are the counts."""

    thresholds: Array
    counts: Array
    positives: Array
    weights: Array | None
    positive_weights: Array | None


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
