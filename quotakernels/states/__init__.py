"""Streams of batches: histograms and buffers that are updated, merged, saved and measured."""

import sys as _sys

from quotakernels.states._compute import Bounds as Bounds
from quotakernels.states.buffer import ScoreBuffer as ScoreBuffer
from quotakernels.states.files import (
    DamagedFileError as DamagedFileError,
    StateInfo as StateInfo,
    load_state as load_state,
    save_state as save_state,
    state_info as state_info,
)
from quotakernels.states.fixed_buffer import FixedScoreBuffer as FixedScoreBuffer
from quotakernels.states.histogram import ScoreHistogram as ScoreHistogram

_NAMES = (x for x in dir() if not x.startswith("_"))
__all__ = [x for x in _NAMES if f"{__name__}.{x}" not in _sys.modules]
