"""The upper convex hull of the ROC points of a table.

A chord between two points of a chain is split at the points farthest above it, all chords at
once, until no point lies above any.  Each split leaves at most a quarter of the triangle in which
further points may lie, which bounds the number of rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from quotakernels._array import Array, Namespace, device, tolerance
from quotakernels.ops._table import EXACT_IN_INT64, TOLERANCE, TieTable
from quotakernels.ops.arrays import Arrays

_ROUNDS_OF_COUNTS = 32
"""Enough for any P·N that is exact: after 31 the triangles hold no more whole points."""

_ROUNDS_OF_FLOATS = 64
"""Enough for counts of which the products are rounded."""

_ROUNDS_OF_MASSES = 192
"""Enough for 2**31 weights from 1e-20 to 1e20, down to the tolerance."""


class _Points(NamedTuple):
    """Points from the origin on, and which of them end a row that is not empty."""

    x: Array
    y: Array
    filled: Array


class Hulls(Arrays):
    """The upper convex hull of the ROC points of a table."""

    def hull_ends(self, table: TieTable) -> Array:
        """Which rows end at a vertex of the hull, the last example's row among them; shape (...,
        G).

        Points on a straight line between vertices are none.  Whole numbers are compared as such
        where their products fit.
        """
        wide = self.wide_float(device(table.counts))
        if table.weighted:
            return _ends(self, table, wide, _ROUNDS_OF_MASSES)
        if table.counts.dtype == self.int32:
            return _ends(self, table, self.int64, _ROUNDS_OF_COUNTS)
        positive, negative = (
            self.cast(self.sum(x, axis=-1, keepdims=True, dtype=self.int64), wide)
            for x in (table.positive, table.negative)
        )
        exact = positive * negative < EXACT_IN_INT64
        return _ends(self, _only(self, table, exact), self.int64, _ROUNDS_OF_COUNTS) | _ends(
            self, _only(self, table, ~exact), wide, _ROUNDS_OF_FLOATS
        )

    def grown(
        self, flags: Array, some: Array, more: Callable[[Array], Array], rounds: int
    ) -> Array:
        """The flags, if there are `some`, with more of them raised in so many rounds, which is
        enough, or in one for each flag, rounded up to a power of two, if that is fewer.
        """
        enough = 1  # a program serves all sizes up to this
        while enough < rounds and enough < flags.shape[-1]:
            enough *= 2
        for _ in range(min(enough, rounds)):
            flags = flags | more(flags)
        return flags


def _only(xp: Namespace, table: TieTable, rows: Array) -> TieTable:
    """The counts of some rows of the batch, and none in the others."""
    counts, positives = (
        xp.where(rows, x, xp.zeros_like(x)) for x in (table.counts, table.positives)
    )
    return table._replace(counts=counts, positives=positives)


def _ends(xp: Namespace, table: TieTable, number: Any, rounds: int) -> Array:
    x, y = (_from_zero(xp, xp.cast(column, number)) for column in (table.negative, table.positive))
    nothing = xp.zeros_like(table.counts[..., :1], dtype=xp.bool)
    points = _Points(x, y, xp.concat([nothing, table.counts > 0], axis=-1))
    index = xp.arange(x.shape[-1], device=device(x))
    ends = xp.broadcast_to((index == 0) | (index == x.shape[-1] - 1), x.shape)
    return _strict_ends(xp, table, points, _split(xp, points, ends, rounds))


def _split(xp: Namespace, points: _Points, chain: Array, rounds: int) -> Array:
    """The chain with no point above it."""
    return xp.grown(chain, xp.any(points.filled), partial(_farthest_above, xp, points), rounds)


def _farthest_above(xp: Namespace, points: _Points, chain: Array) -> Array:
    """The points farthest above each chord of the chain, where any point is above it."""
    x, y, filled = points
    left, right = _neighbours(xp, chain)
    above = xp.where(filled & ~chain, _height(xp, x, y, left, right), xp.zeros_like(x))
    first = xp.shift_right(chain, 1, True)
    peak = xp.take_last_axis(xp.segment_max(above, first), right)
    return (above > 0) & (above == peak)


def _strict_ends(xp: Namespace, table: TieTable, points: _Points, chain: Array) -> Array:
    """The rows whose ends are in the chain, but for points between others on one line."""
    left, right = _neighbours(xp, chain)
    before = xp.shift_right(left, 1, 0)
    last = xp.full_like(right[..., :1], chain.shape[-1] - 1)
    after = xp.concat([right[..., 1:], last], axis=-1)
    turns = chain & (_height(xp, *points[:2], before, after) > 0)
    upto = xp.prefix_sum(xp.cast(table.counts, xp.int64))
    final = (table.counts > 0) & (upto == upto[..., -1:])
    return turns[..., 1:] | final


def _height(xp: Namespace, x: Array, y: Array, left: Array, right: Array) -> Array:
    """Height of each point above the chord between two others, times the length of the chord.

    0 for points below it, and for floats where the difference may be rounding alone.
    """
    left_x, left_y, right_x, right_y = (
        xp.take_last_axis(z, at) for at in (left, right) for z in (x, y)
    )
    up, along = (y - left_y) * (right_x - left_x), (x - left_x) * (right_y - left_y)
    height = up - along
    if xp.isdtype(height.dtype, "real floating"):
        height = xp.where(height > tolerance(up, TOLERANCE) * up, height, xp.zeros_like(height))
    return xp.maximum(height, xp.zeros_like(height))


def _neighbours(xp: Namespace, chain: Array) -> tuple[Array, Array]:
    """Index of the chain's last point up to each point, and of its first from there on."""
    size = chain.shape[-1]
    index = xp.arange(size, dtype=xp.int64, device=device(chain))
    nothing = xp.zeros(chain.shape, dtype=xp.int64, device=device(chain))
    left = xp.running_max(xp.where(chain, index, nothing))
    from_end = xp.running_max(xp.flip(xp.where(chain, size - 1 - index, nothing), axis=-1))
    return left, size - 1 - xp.flip(from_end, axis=-1)


def _from_zero(xp: Namespace, x: Array) -> Array:
    return xp.concat([xp.zeros_like(x[..., :1]), xp.prefix_sum(x)], axis=-1)
