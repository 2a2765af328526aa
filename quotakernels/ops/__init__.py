"""The few array operations that the standard lacks, for every backend.

They are methods of the `namespace` of an array.  `Standard` writes each in nothing but the
standard, in chapters: plain arrays, groups of examples, tables of tie groups, sums over their rows,
hulls, resamples, bins.  Where a library does one faster by itself, or the standard cannot reach
what it needs, ``native/`` has a class for that library that overrides it, with the same answer.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from quotakernels.ops._table import GAIN_SCALE as GAIN_SCALE
from quotakernels.ops._table import NO_COLUMNS as NO_COLUMNS
from quotakernels.ops._table import Around as Around
from quotakernels.ops._table import ByClass as ByClass
from quotakernels.ops._table import Columns as Columns
from quotakernels.ops._table import Cumulative as Cumulative
from quotakernels.ops._table import Few as Few
from quotakernels.ops._table import Groups as Groups
from quotakernels.ops._table import InPlace as InPlace
from quotakernels.ops._table import Layout as Layout
from quotakernels.ops._table import Rows as Rows
from quotakernels.ops._table import Segments as Segments
from quotakernels.ops._table import SegmentsOrNone as SegmentsOrNone
from quotakernels.ops._table import Summands as Summands
from quotakernels.ops._table import map_columns as map_columns
from quotakernels.ops._table import to_sum as to_sum
from quotakernels.ops.arrays import is_below as is_below
from quotakernels.ops.arrays import is_symbolic as is_symbolic
from quotakernels.ops.drawing import entropy as entropy
from quotakernels.ops.native import STANDARD_ONLY as STANDARD_ONLY
from quotakernels.ops.native import namespace as namespace
from quotakernels.ops.segments import Combined as Combined
from quotakernels.ops.standard import Standard as Standard


def _function(name: str) -> Callable[..., Any]:
    def operation(xp: Any, *arguments: Any, **options: Any) -> Any:
        return getattr(xp, name)(*arguments, **options)

    return operation


_METHODS = {
    "around": "cut_of_scores",
    "counted": "binned_if_good",
}
globals().update(
    {name: _function(name) for name in dir(Standard) if not name.startswith("_")}
    | {name: _function(method) for name, method in _METHODS.items()}
)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
