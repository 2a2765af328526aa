"""The one place where arrays of any library become NumPy's, to be drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels import Ranking
from quotakernels._array import (
    Array,
    cast,
    computing,
    concrete,
    device,
    namespace,
    tree_map,
    wide_float,
)
from quotakernels._bits import host_array

Numbers = np.ndarray[Any, Any]


def on_host(result: Any) -> Any:
    """The arrays of a ranking or of any other named tuple, in NumPy.

    The thresholds of a ranking become floats that NumPy has, and rows without examples go.
    """
    if isinstance(result, Ranking):
        return _ranking_on_host(result)
    return tree_map(_values, result)


def _ranking_on_host(ranking: Ranking) -> Ranking:
    xp = namespace(ranking.counts)
    with computing(xp):
        wide = cast(xp, ranking.thresholds, wide_float(xp, device(ranking.counts)))
    found = ranking._replace(thresholds=wide).map(_values)
    filled = found.counts > 0
    if found.counts.ndim > 1 or filled.all() or not filled.any():
        return found
    return found.map(lambda x: x[filled])


def _values(x: Array) -> Numbers:
    if not concrete(x):
        raise TypeError("traced arrays, and arrays of shapes only, have no values to draw")
    return host_array(x)
