"""What a curve does between two cuts, where that is no straight line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from quotakernels.plots._host import Numbers

Place = Callable[[Numbers, Numbers], tuple[Numbers, Numbers]]
"""The coordinates of false and true positives."""
STEPS = 200
"""A piece of a curve that is drawn straight has at most this part of the axis."""
HALVINGS = 24


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
