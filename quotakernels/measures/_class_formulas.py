"""Measures of the tables of several classes; for two they are the same as those of the cells."""

from __future__ import annotations

import math
from typing import NamedTuple

from quotakernels._array import Array, Namespace, namespace
from quotakernels.measures._cells import ClassTable, same_class

__all__ = [
    "accuracy_of_classes",
    "correlation_of_classes",
    "errors_of_classes",
    "geometric_mean",
    "informedness_of_classes",
    "kappa_of_classes",
    "markedness_of_classes",
]


class _Margins(NamedTuple):
    """Sums of the cells of K classes: over rows, over columns, and over all."""

    truth: Array
    predicted: Array
    whole: Array


def _margins(xp: Namespace, cells: Array) -> _Margins:
    truth = xp.sum(cells, axis=-1)
    return _Margins(truth, xp.sum(cells, axis=-2), xp.sum(truth, axis=-1))


def _right(xp: Namespace, cells: Array) -> Array:
    """The diagonal, shape (..., K)."""
    return xp.sum(xp.where(same_class(xp, cells), cells, xp.zeros_like(cells)), axis=-1)


def _wrong(xp: Namespace, cells: Array) -> Array:
    """The sum of all other cells."""
    other = xp.where(same_class(xp, cells), xp.zeros_like(cells), cells)
    return xp.sum(other, axis=(-2, -1))


def _wrong_by_chance(xp: Namespace, rows: Array, columns: Array) -> Array:
    """n² times the probability that independent draws from the two margins differ."""
    return _wrong(xp, rows[..., :, None] * columns[..., None, :])


def accuracy_of_classes(table: ClassTable) -> Array:
    xp = namespace(table.cells)
    right = xp.sum(_right(xp, table.cells), axis=-1)
    return right / (right + _wrong(xp, table.cells))


def errors_of_classes(table: ClassTable) -> Array:
    xp = namespace(table.cells)
    wrong = _wrong(xp, table.cells)
    return wrong / (wrong + xp.sum(_right(xp, table.cells), axis=-1))


def informedness_of_classes(table: ClassTable) -> Array:
    return _informedness_of_cells(table.cells)


def markedness_of_classes(table: ClassTable) -> Array:
    return _informedness_of_cells(namespace(table.cells).matrix_transpose(table.cells))


def _informedness_of_cells(cells: Array) -> Array:
    """The mean over predictions of the edge TPR - FPR that the predicted class has.

    A class that has no label and no prediction is left out.
    """
    xp = namespace(cells)
    truth, predicted, whole = _margins(xp, cells)
    whole = whole[..., None]
    surplus = _right(xp, cells) * whole - truth * predicted
    edge = predicted * (surplus / (truth * (whole - truth)))
    edge = xp.where((truth == 0) & (predicted == 0) & (whole > 0), xp.zeros_like(edge), edge)
    return xp.sum(edge, axis=-1) / whole[..., 0]


def geometric_mean(a: Array, b: Array) -> Array:
    """√(a·b), also where the product leaves the range of floats.

    Both are multiplied by a power of two first if they are large or small, which changes no digit.
    """
    xp = namespace(a)
    small = math.sqrt(xp.finfo(a.dtype).smallest_normal)
    larger, one = xp.maximum(a, b), xp.ones_like(a)
    shrunk = xp.where(larger > 1 / small, small * one, one)
    factor = xp.where(larger < small, one / small, shrunk)
    return xp.sqrt((a * factor) * (b * factor)) / factor


def correlation_of_classes(table: ClassTable) -> Array:
    xp = namespace(table.cells)
    truth, predicted, whole = _margins(xp, table.cells)
    surplus = _wrong_by_chance(xp, truth, predicted) - whole * _wrong(xp, table.cells)
    return surplus / geometric_mean(*(_wrong_by_chance(xp, x, x) for x in (truth, predicted)))


def kappa_of_classes(table: ClassTable) -> Array:
    xp = namespace(table.cells)
    truth, predicted, whole = _margins(xp, table.cells)
    chance = _wrong_by_chance(xp, truth, predicted)
    return (chance - whole * _wrong(xp, table.cells)) / chance
