"""Streams of batches: histograms and buffers that are updated, merged, saved and measured."""

from quotakernels.states._compute import Bounds
from quotakernels.states.buffer import ScoreBuffer
from quotakernels.states.files import (
    DamagedFileError,
    StateInfo,
    load_state,
    save_state,
    state_info,
)
from quotakernels.states.fixed_buffer import FixedScoreBuffer
from quotakernels.states.histogram import ScoreHistogram

__all__ = [
    "Bounds",
    "DamagedFileError",
    "FixedScoreBuffer",
    "ScoreBuffer",
    "ScoreHistogram",
    "StateInfo",
    "load_state",
    "save_state",
    "state_info",
]
