"""The few array operations that the standard lacks, for every backend.

They are methods of the `namespace` of an array.  `Standard` writes each in nothing but the
standard, in chapters: plain arrays, groups of examples, tables of tie groups, sums over their rows,
hulls, resamples, bins.  Where a library does one faster by itself, or the standard cannot reach
what it needs, ``native/`` has a class for that library that overrides it, with the same answer.
"""

from quotakernels.ops._table import EXACT_IN_FLOAT64 as EXACT_IN_FLOAT64
from quotakernels.ops._table import GAIN_SCALE as GAIN_SCALE
from quotakernels.ops._table import NO_COLUMNS as NO_COLUMNS
from quotakernels.ops._table import ByClass as ByClass
from quotakernels.ops._table import Columns as Columns
from quotakernels.ops._table import CutRow as CutRow
from quotakernels.ops._table import Few as Few
from quotakernels.ops._table import GroupIndex as GroupIndex
from quotakernels.ops._table import GroupIndexOrNone as GroupIndexOrNone
from quotakernels.ops._table import InPlace as InPlace
from quotakernels.ops._table import Layout as Layout
from quotakernels.ops._table import QuotaCut as QuotaCut
from quotakernels.ops._table import RowSum as RowSum
from quotakernels.ops._table import Running as Running
from quotakernels.ops._table import TieTable as TieTable
from quotakernels.ops._table import columns_by_class as columns_by_class
from quotakernels.ops._table import shared as shared
from quotakernels.ops._table import map_columns as map_columns
from quotakernels.ops._table import to_sum as to_sum
from quotakernels.ops.arrays import is_below as is_below
from quotakernels.ops.arrays import is_symbolic as is_symbolic
from quotakernels.ops.drawing import entropy as entropy
from quotakernels.ops.native import STANDARD_ONLY as STANDARD_ONLY
from quotakernels.ops.native import namespace as namespace
from quotakernels.ops.groups import Combined as Combined
from quotakernels.ops.standard import Standard as Standard
