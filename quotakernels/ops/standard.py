"""The operations that the array API standard lacks, written in nothing but the standard."""

from __future__ import annotations

from quotakernels.ops.binning import Binning
from quotakernels.ops.drawing import Drawing
from quotakernels.ops.hull import Hulls
from quotakernels.ops.rows import RowSums


class Standard(RowSums, Hulls, Drawing, Binning):
    """A namespace with the operations that it lacks, for any library.

    A class for each library overrides what that does otherwise: first what goes beyond the
    standard, such as the bits of a float, and in a class derived from it what is only faster.
    """
