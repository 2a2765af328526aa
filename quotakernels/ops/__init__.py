"""The few array operations that the standard lacks, for every backend.

Each has a form in nothing but the standard (``standard.py``).  Where a library
does it faster by itself, ``native/`` has a function of the same name, which
gives the same answer.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from quotakernels._array import Namespace, backend
from quotakernels.ops import around, binning, drawing, hull, standard
from quotakernels.ops._table import Groups, Rows
from quotakernels.ops.native import natives

P = ParamSpec("P")
R = TypeVar("R")

__all__ = [
    "Groups",
    "Rows",
    "bin_rows",
    "bin_thresholds",
    "binned",
    "bisect",
    "clip",
    "coins",
    "count",
    "draws",
    "exclusive",
    "filled_first",
    "flagged_first",
    "from_order_key",
    "groups_around",
    "head",
    "hull_ends",
    "key_at",
    "key_bits",
    "merged",
    "near_terms",
    "order_key",
    "piecewise",
    "prefix_sum",
    "rows_at",
    "running_max",
    "scaled",
    "segment_sum",
    "shifted",
    "sort_coded",
    "source_of_draws",
    "sum_rows",
    "table_rows",
    "tie_groups",
    "total",
    "widened",
    "without_empty_rows",
    "written",
]


STANDARD_ONLY = os.environ.get("QUOTAKERNELS_STANDARD_ONLY", "") not in ("", "0")
"""Whether the faster forms stay unused, which have standard twins: to look for a fault in them."""

BEYOND_THE_STANDARD = (
    "clip",
    "filled_first",
    "from_order_key",
    "order_key",
    "prefix_sum",
    "scaled",
    "widened",
)
"""Native forms that do what their standard twins cannot on that library: bits, types, bounds.

The standard's running sum of tensors inspects caches, which torch.compile warns of.
"""


def _native_where_there_is_one(function: Callable[P, R]) -> Callable[P, R]:
    name = function.__name__
    if STANDARD_ONLY and name not in BEYOND_THE_STANDARD:
        return function

    @functools.wraps(function)
    def operation(*args: P.args, **kwargs: P.kwargs) -> R:
        xp: Namespace = args[0]
        native: Any = getattr(natives(backend(xp)), name, function)
        result: R = native(*args, **kwargs)
        return result

    return operation


bin_rows = binning.bin_rows
bin_thresholds = binning.bin_thresholds
key_bits = binning.key_bits
binned = _native_where_there_is_one(binning.binned)
bisect = _native_where_there_is_one(standard.bisect)
clip = _native_where_there_is_one(standard.clip)
coins = _native_where_there_is_one(drawing.coins)
count = standard.count
exclusive = standard.exclusive
shifted = standard.shifted
table_rows = standard.table_rows
filled_first = _native_where_there_is_one(standard.filled_first)
flagged_first = _native_where_there_is_one(standard.flagged_first)
draws = _native_where_there_is_one(drawing.draws)
source_of_draws = _native_where_there_is_one(drawing.source_of_draws)
from_order_key = _native_where_there_is_one(standard.from_order_key)
groups_around = _native_where_there_is_one(around.groups_around)
hull_ends = _native_where_there_is_one(hull.hull_ends)
key_at = _native_where_there_is_one(around.key_at)
merged = _native_where_there_is_one(standard.merged)
near_terms = _native_where_there_is_one(standard.near_terms)
head = _native_where_there_is_one(standard.head)
order_key = _native_where_there_is_one(standard.order_key)
piecewise = _native_where_there_is_one(standard.piecewise)
prefix_sum = _native_where_there_is_one(standard.prefix_sum)
rows_at = _native_where_there_is_one(standard.rows_at)
running_max = _native_where_there_is_one(standard.running_max)
scaled = _native_where_there_is_one(standard.scaled)
segment_sum = _native_where_there_is_one(standard.segment_sum)
sort_coded = _native_where_there_is_one(standard.sort_coded)
sum_rows = _native_where_there_is_one(standard.sum_rows)
tie_groups = _native_where_there_is_one(standard.tie_groups)
total = _native_where_there_is_one(standard.total)
widened = _native_where_there_is_one(standard.widened)
without_empty_rows = _native_where_there_is_one(standard.without_empty_rows)
written = _native_where_there_is_one(standard.written)
