"""The few array operations that the standard lacks, for every backend.

Each is written in nothing but the standard.  Where a library does it faster by itself, or the
standard cannot reach what it needs, the function begins with a branch to the form of that
library, which gives the same answer (``native/``).
"""

from quotakernels.ops._draws import entropy as entropy
from quotakernels.ops._table import GAIN_SCALE as GAIN_SCALE
from quotakernels.ops._table import Amounts as Amounts
from quotakernels.ops._table import Around as Around
from quotakernels.ops._table import Costs as Costs
from quotakernels.ops._table import CostsOrNone as CostsOrNone
from quotakernels.ops._table import Gains as Gains
from quotakernels.ops._table import GainsOrNone as GainsOrNone
from quotakernels.ops._table import Groups as Groups
from quotakernels.ops._table import InPlace as InPlace
from quotakernels.ops._table import Layout as Layout
from quotakernels.ops._table import Rows as Rows
from quotakernels.ops._table import Segments as Segments
from quotakernels.ops._table import SegmentsOrNone as SegmentsOrNone
from quotakernels.ops._table import Summands as Summands
from quotakernels.ops.binning import bin_thresholds as bin_thresholds
from quotakernels.ops.binning import binned as binned
from quotakernels.ops.binning import counted as counted
from quotakernels.ops.binning import few_patterns as few_patterns
from quotakernels.ops.binning import flat as flat
from quotakernels.ops.binning import pattern_groups as pattern_groups
from quotakernels.ops.budgets import cost_within as cost_within
from quotakernels.ops.budgets import mass_within as mass_within
from quotakernels.ops.columns import row_of_each as row_of_each
from quotakernels.ops.columns import sum_rows as sum_rows
from quotakernels.ops.columns import summed_by_position as summed_by_position
from quotakernels.ops.drawing import coins as coins
from quotakernels.ops.drawing import draws as draws
from quotakernels.ops.drawing import source_of_draws as source_of_draws
from quotakernels.ops.elementwise import clip as clip
from quotakernels.ops.elementwise import neither as neither
from quotakernels.ops.elementwise import partial_harmonic_sums as partial_harmonic_sums
from quotakernels.ops.elementwise import piecewise as piecewise
from quotakernels.ops.hull import hull_ends as hull_ends
from quotakernels.ops.keys import from_order_key as from_order_key
from quotakernels.ops.keys import key_bits as key_bits
from quotakernels.ops.keys import lowest_key as lowest_key
from quotakernels.ops.keys import order_key as order_key
from quotakernels.ops.keys import plain_threshold as plain_threshold
from quotakernels.ops.keys import reaching as reaching
from quotakernels.ops.keys import scaled as scaled
from quotakernels.ops.keys import widened as widened
from quotakernels.ops.native import STANDARD_ONLY as STANDARD_ONLY
from quotakernels.ops.scans import bincount as bincount
from quotakernels.ops.scans import bisect as bisect
from quotakernels.ops.scans import count as count
from quotakernels.ops.scans import counts as counts
from quotakernels.ops.scans import exclusive as exclusive
from quotakernels.ops.scans import flagged_first as flagged_first
from quotakernels.ops.scans import nans as nans
from quotakernels.ops.scans import prefix_sum as prefix_sum
from quotakernels.ops.scans import running_max as running_max
from quotakernels.ops.scans import shifted as shifted
from quotakernels.ops.scans import taken as taken
from quotakernels.ops.scans import total as total
from quotakernels.ops.scans import written as written
from quotakernels.ops.segments import Combined as Combined
from quotakernels.ops.segments import column_at as column_at
from quotakernels.ops.segments import combined as combined
from quotakernels.ops.segments import group_total as group_total
from quotakernels.ops.segments import parted as parted
from quotakernels.ops.segments import running_total as running_total
from quotakernels.ops.segments import spread as spread
from quotakernels.ops.tables import amount_columns as amount_columns
from quotakernels.ops.tables import counts_around as counts_around
from quotakernels.ops.tables import filled_first as filled_first
from quotakernels.ops.tables import head as head
from quotakernels.ops.tables import merged as merged
from quotakernels.ops.tables import rows_at as rows_at
from quotakernels.ops.tables import tie_groups as tie_groups
from quotakernels.ops.tables import without_empty_rows as without_empty_rows
