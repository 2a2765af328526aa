"""Sums of the cells of several classes, and what chance makes of them."""

from __future__ import annotations

from typing import NamedTuple

from quotakernels._array import Array, Namespace
from quotakernels.measures.tables.cells import same_class


class Margins(NamedTuple):
    """Sums of the cells of K classes: over rows, over columns, and over all."""

    truth: Array
    predicted: Array
    whole: Array


def margins(xp: Namespace, cells: Array) -> Margins:
    """The sums of the cells, shapes (..., K), (..., K) and (...)."""
    truth = xp.sum(cells, axis=-1)
    return Margins(truth, xp.sum(cells, axis=-2), xp.sum(truth, axis=-1))


def diagonal(xp: Namespace, cells: Array) -> Array:
    """The diagonal, shape (..., K)."""
    return xp.sum(xp.where(same_class(xp, cells), cells, xp.zeros_like(cells)), axis=-1)


def off_diagonal(xp: Namespace, cells: Array) -> Array:
    """The sum of all other cells."""
    other = xp.where(same_class(xp, cells), xp.zeros_like(cells), cells)
    return xp.sum(other, axis=(-2, -1))


def off_diagonal_by_chance(xp: Namespace, rows: Array, columns: Array) -> Array:
    """n² times the probability that independent draws from the two margins differ."""
    return off_diagonal(xp, rows[..., :, None] * columns[..., None, :])
