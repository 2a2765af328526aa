"""The upper hull for NumPy: rounds that drop points, and then chords split where they must be."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from quotakernels.ops._table import EXACT_IN_INT64, TOLERANCE, TieTable

NDArray = np.ndarray[Any, Any]


def hull_ends(table: TieTable) -> NDArray:
    """All lists of a batch are one list of points, in pieces."""
    there = table.counts.reshape(-1) > 0
    rows = slice(None) if there.all() else np.flatnonzero(there)
    up, along = (x.reshape(-1)[rows] for x in (table.positive, table.negative))
    final = _final(table.counts.shape, rows, up.shape[0])
    exact = np.zeros_like(final) if table.weighted else _fits(up, along, final)
    ends = np.zeros_like(final)
    for chosen, number in ((exact, np.int64), (~exact, np.float64)):
        part = slice(None) if chosen.all() else np.flatnonzero(chosen)
        ends[part] = _ends(up[part].astype(number), along[part].astype(number), final[part])
    there[rows] = ends
    return np.asarray(there.reshape(table.counts.shape))


def _ends(up: NDArray, along: NDArray, final: NDArray) -> NDArray:
    """A flag for each step: does it end at a vertex?"""
    ends = np.zeros_like(final)
    ends[_hull(up, along, final)] = True
    return ends


def _final(shape: tuple[int, ...], rows: Any, size: int) -> NDArray:
    """Which of the rows that hold examples is the last in its list."""
    final = np.zeros(size, dtype=bool)
    final[-1:] = True
    if len(shape) > 1:
        owner = np.repeat(np.arange(math.prod(shape[:-1])), shape[-1])[rows]
        final[:-1] = owner[1:] != owner[:-1]
    return final


def _fits(up: NDArray, along: NDArray, final: NDArray) -> NDArray:
    """For each step: do the products of the sums of its list fit integers?"""
    closing = np.flatnonzero(final) + 1
    starts = np.append(0, closing[:-1])
    if not closing.size:
        return final
    positive, negative = (np.add.reduceat(x, starts, dtype=np.float64) for x in (up, along))
    return np.repeat(positive * negative < EXACT_IN_INT64, closing - starts)


def _hull(up: NDArray, along: NDArray, final: NDArray) -> NDArray:
    """Which steps end at a vertex.  A round drops every point that is not above its neighbours'
    chord; where few points go, the hull of the rest is found from above.
    """
    kept = np.arange(up.shape[0])
    while True:
        ends = np.flatnonzero(_turns(up, along, final))
        dropped = up.shape[0] - ends.shape[0]
        if not dropped:
            return kept
        kept, final = kept[ends], final[ends]
        up, along = _runs(up, ends), _runs(along, ends)
        if 5 * dropped < ends.shape[0]:
            return kept[_split_lists(up, along, final)]


def _turns(up: NDArray, along: NDArray, final: NDArray) -> NDArray:
    """Whether the next step is less steep."""
    steeper, rest = up[:-1] * along[1:], along[:-1] * up[1:]
    turns = final.copy()
    if up.dtype.kind == "f":
        rest += TOLERANCE * steeper
    turns[:-1] |= steeper > rest
    return turns


def _runs(x: NDArray, ends: NDArray) -> NDArray:
    """Sums of the runs that end there; those of floats see nothing of each other."""
    if x.dtype.kind == "f":
        return np.asarray(np.add.reduceat(x, np.append(0, ends[:-1] + 1))) if ends.size else x[:0]
    return np.diff(np.cumsum(x)[ends], prepend=0)


def _split_lists(up: NDArray, along: NDArray, final: NDArray) -> NDArray:
    """Indices of the vertices.  All lists together; but floats each by itself, as the sums of one
    would take the digits of the next.
    """
    if up.dtype.kind != "f":
        return _split_chords(up, along, final)
    stops = (np.flatnonzero(final) + 1).tolist()
    lists = (slice(*pair) for pair in pairwise([0, *stops]))
    return np.concatenate([x.start + _split_chords(up[x], along[x], final[x]) for x in lists])


def _split_chords(up: NDArray, along: NDArray, final: NDArray) -> NDArray:
    """Indices of the vertices, by splitting chords at the points farthest above them."""
    x, y = (np.append(0, np.cumsum(step)) for step in (along, up))
    closing = np.flatnonzero(final) + 1
    piece = np.cumsum(final) - final
    left, right = np.append(0, closing)[piece], closing[piece]
    point = np.arange(1, x.shape[0])
    vertices = [closing]
    while True:
        above = (y[point] - y[left]) * (x[right] - x[left])
        below = (x[point] - x[left]) * (y[right] - y[left])
        height = above - below
        stays = height > (TOLERANCE * above if height.dtype.kind == "f" else 0)
        point, left, right, height = (z[stays] for z in (point, left, right, height))
        if not point.size:
            return np.sort(np.concatenate(vertices)) - 1
        top = _first_highest(point, left, height)
        vertices.append(np.unique(top))
        before = point < top
        left, right = np.where(before, left, top), np.where(before, top, right)


def _first_highest(point: NDArray, left: NDArray, height: NDArray) -> NDArray:
    """For each point, the first of the highest above its chord."""
    starts = np.append(0, np.flatnonzero(left[1:] != left[:-1]) + 1)
    sizes = np.diff(starts, append=point.size)
    peak = np.repeat(np.maximum.reduceat(height, starts), sizes)
    none = point.max() + 1
    first = np.minimum.reduceat(np.where(height == peak, point, none), starts)
    return np.repeat(first, sizes)
