"""Which points of a curve are drawn: not more than can be seen, and those between two cuts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from quotakernels.plots._host import Numbers

Place = Callable[[Numbers, Numbers], tuple[Numbers, Numbers]]
"""The coordinates of false and true positives."""
STEPS = 200
"""A piece of a curve that is drawn straight has at most this part of the axis."""
HALVINGS = 24


def thinned(x: Numbers, y: Numbers, columns: int) -> Numbers:
    """Which points of a curve to draw: the first, last, lowest and highest in each column.

    The range of x is divided into columns of equal width.  A line through the points that are left
    enters and leaves each column where the whole curve does, and covers the same heights in it, so
    that the two are nowhere further apart than a column is wide.

    Parameters
    ----------
    x, y : arrays, shape (n,)
        The curve; x does not fall, or does not rise.  Where either is not finite it is broken.
    columns : int
        How many columns.

    Returns
    -------
    integer array
        Positions of the points, in order: at most four of each column, and one of each break.
    """
    if len(x) <= 4 * columns:
        return np.arange(len(x))
    if x[0] > x[-1]:
        return len(x) - 1 - thinned(x[::-1], y[::-1], columns)[::-1]
    finite = np.isfinite(x) & np.isfinite(y)
    changes = np.flatnonzero(finite[1:] != finite[:-1]) + 1
    runs = list(pairwise([0, *changes.tolist(), len(x)]))
    whole = [x[k] for start, stop in runs if finite[start] for k in (start, stop - 1)]
    if not whole:
        return np.arange(1)
    edges = np.linspace(min(whole), max(whole), columns + 1)[1:-1]
    kept: list[int] = []
    for start, stop in runs:
        kept += _of_run(x, y, start, stop, edges) if finite[start] else [start]
    return np.asarray(kept)


def _of_run(x: Numbers, y: Numbers, start: int, stop: int, edges: Numbers) -> list[int]:
    """The points to draw of a stretch in which all are finite."""
    ends = start + np.maximum.accumulate(np.searchsorted(x[start:stop], edges))
    kept: list[int] = []
    for first, end in pairwise(np.unique([start, *ends, stop]).tolist()):
        if end - first <= 4:
            kept += range(first, end)
        else:
            column = y[first:end]
            extremes = (first + int(column.argmin()), first + int(column.argmax()))
            kept += sorted({first, *extremes, end - 1})
    return kept


def curved(
    fp: Numbers,
    tp: Numbers,
    x: Numbers,
    y: Numbers,
    place: Place,
    position: Callable[[Numbers], Numbers],
) -> tuple[Numbers, Numbers]:
    """The points (x, y) of cuts, with more between any two of them that are far apart.

    On the way from one cut to the next false and true positives grow in proportion.  Their middle
    is added until no two points are further apart along the axis than a 200th of it.  `position`
    is where on the axis an x is.
    """
    for _ in range(HALVINGS):
        along = position(x)
        with np.errstate(invalid="ignore"):
            apart = np.abs(np.diff(along))
        range_ = np.ptp(along[np.isfinite(along)]) if np.isfinite(along).any() else 0
        wide = np.flatnonzero(np.isfinite(apart) & (apart > range_ / STEPS))
        if not len(wide):
            break
        middle = ((fp[wide] + fp[wide + 1]) / 2, (tp[wide] + tp[wide + 1]) / 2)
        added = (*middle, *place(*middle))
        after = wide + 1
        fp, tp, x, y = (np.insert(a, after, b) for a, b in zip((fp, tp, x, y), added, strict=True))
    return x, y
