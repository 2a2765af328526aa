"""The upper convex hull of the ROC points of a table, in nothing but the standard.

A chord between two points of a chain is split at the points farthest above it, all chords at
once, until no point lies above any.  Each split leaves at most a quarter of the triangle in which
further points may lie, so that as many rounds as the number of examples has bits suffice.
"""

from __future__ import annotations

from quotakernels._array import Array, Namespace, cast, device, wide_float
from quotakernels.ops import standard
from quotakernels.ops._table import Groups

__all__ = ["TOLERANCE", "farthest_above", "hull_ends", "rounds_at_most", "strict_ends"]

TOLERANCE = 2.0**-48
"""Relative difference below which two slopes made of rounded sums are taken as equal."""


def hull_ends(xp: Namespace, table: Groups) -> Array:
    """Which rows end at a vertex of the hull, the last example's row among them; shape (..., G).

    Points on a straight line between vertices are none.
    """
    x, y, filled, chain = start(xp, table)
    for _ in range(rounds_at_most(xp, table)):
        chain = chain | farthest_above(xp, x, y, filled, chain)
    return strict_ends(xp, table, x, y, chain)


def start(xp: Namespace, table: Groups) -> tuple[Array, Array, Array, Array]:
    """Points (negatives, positives) from the origin on, which of them are the end of a row that
    is not empty, and the chain of the first and the last.

    Counts of 32 bits have products of 64 bits, in which all turns are exact.
    """
    narrow = not table.weighted and table.counts.dtype == xp.int32
    number = xp.int64 if narrow else wide_float(xp, device(table.counts))
    x, y = (_from_zero(xp, cast(xp, column, number)) for column in (table.negative, table.positive))
    nothing = xp.zeros_like(table.counts[..., :1], dtype=xp.bool)
    filled = xp.concat([nothing, table.counts > 0], axis=-1)
    index = xp.arange(x.shape[-1], device=device(x))
    ends = xp.broadcast_to((index == 0) | (index == x.shape[-1] - 1), x.shape)
    return x, y, filled, ends


def rounds_at_most(xp: Namespace, table: Groups) -> int:
    """How often a chord may have to be split; each time adds a vertex at least."""
    bits = 32 if table.counts.dtype == xp.int32 and not table.weighted else 64
    rows: int = table.counts.shape[-1]
    return min(rows, bits)


def farthest_above(xp: Namespace, x: Array, y: Array, filled: Array, chain: Array) -> Array:
    """The points farthest above each chord of the chain, where any point is above it."""
    left, right = _neighbours(xp, chain)
    above = xp.where(filled & ~chain, _height(xp, x, y, left, right), xp.zeros_like(x))
    first = standard.shifted(xp, chain, 1, True)
    peak = xp.take_along_axis(standard.segment_max(xp, above, first), right, axis=-1)
    return (above > 0) & (above == peak)


def strict_ends(xp: Namespace, table: Groups, x: Array, y: Array, chain: Array) -> Array:
    """The rows whose ends are in the chain, but for points between others on one line."""
    from quotakernels import ops

    left, right = _neighbours(xp, chain)
    before = standard.shifted(xp, left, 1, 0)
    last = xp.full_like(right[..., :1], chain.shape[-1] - 1)
    after = xp.concat([right[..., 1:], last], axis=-1)
    turns = chain & (_height(xp, x, y, before, after) > 0)
    upto = ops.prefix_sum(xp, cast(xp, table.counts, xp.int64))
    final = (table.counts > 0) & (upto == upto[..., -1:])
    return turns[..., 1:] | final


def _height(xp: Namespace, x: Array, y: Array, left: Array, right: Array) -> Array:
    """Height of each point above the chord between two others, times the length of the chord.

    0 for points below it, and for floats where the difference may be rounding alone.
    """
    left_x, left_y, right_x, right_y = (
        xp.take_along_axis(z, at, axis=-1) for at in (left, right) for z in (x, y)
    )
    up, along = (y - left_y) * (right_x - left_x), (x - left_x) * (right_y - left_y)
    height = up - along
    if xp.isdtype(height.dtype, "real floating"):
        height = xp.where(height > TOLERANCE * up, height, xp.zeros_like(height))
    return xp.maximum(height, xp.zeros_like(height))


def _neighbours(xp: Namespace, chain: Array) -> tuple[Array, Array]:
    """Index of the chain's last point up to each point, and of its first from there on."""
    from quotakernels import ops

    size = chain.shape[-1]
    index = xp.arange(size, dtype=xp.int64, device=device(chain))
    nothing = xp.zeros(chain.shape, dtype=xp.int64, device=device(chain))
    left = ops.running_max(xp, xp.where(chain, index, nothing))
    from_end = ops.running_max(xp, xp.flip(xp.where(chain, size - 1 - index, nothing), axis=-1))
    return left, size - 1 - xp.flip(from_end, axis=-1)


def _from_zero(xp: Namespace, x: Array) -> Array:
    from quotakernels import ops

    return xp.concat([xp.zeros_like(x[..., :1]), ops.prefix_sum(xp, x)], axis=-1)
