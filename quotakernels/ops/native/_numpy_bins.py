"""Counts of scores in bins, for NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from quotakernels.ops.native._numpy_keys import key_of_bits
from quotakernels.ops.native._numpy_rows import BLOCK, blocks

NDArray = np.ndarray[Any, Any]

_INFINITIES = {16: 0x7C00, 32: 0x7F80_0000, 64: 0x7FF0_0000_0000_0000}
"""The bits of infinite floats, by how many there are."""

FEW = 2**20
"""Fewer scores are put in order by themselves, and not their counts."""


def binned(
    counts: NDArray,
    scores: NDArray,
    labels: NDArray,
    valid: NDArray | None,
    bits: int,
    rows_of: Callable[[NDArray], NDArray],
) -> tuple[NDArray, np.bool]:
    """The counts with those of one list, and whether one has left the integers.

    `rows_of` are the rows of the bins of scores.
    """
    if valid is not None and not valid.all():
        scores, labels = scores[valid], labels[valid]
    if 4 * scores.shape[0] > counts.size:
        counts = counts + _binned(scores, labels, bits, rows_of)
        return counts, counts.min() < 0
    raised = counts.reshape(-1).copy()
    codes = 2 * rows_of(scores).astype(np.intp) + labels
    np.add.at(raised, codes, 1)
    return raised.reshape(counts.shape), (raised[codes] < 0).any()


def counted(counts: NDArray, scores: NDArray, labels: NDArray, bits: int) -> NDArray | None:
    """The counts with those of one list, None unless all is good."""
    width = 8 * scores.itemsize
    if scores.ndim != 1 or 4 * scores.size > counts.size or width > 64:
        return None
    if scores.dtype.kind != "f" or labels.dtype.kind not in "biu":
        return None
    key = key_of_bits(scores.view(f"i{scores.itemsize}"))
    infinity = _INFINITIES[width]
    if np.maximum.reduce(key) > infinity or np.minimum.reduce(key) < ~infinity:  # NaN
        return None
    if np.bitwise_or.reduce(labels) >> 1:
        return None
    raised = counts.reshape(-1).copy()
    rows = (key >> (width - bits)).astype(np.intp)
    codes = (2**bits - 2) - 2 * rows + labels.astype(np.bool)
    np.add.at(raised, codes, 1)
    return None if np.minimum.reduce(raised[codes]) < 0 else raised.reshape(counts.shape)


def _binned(
    scores: NDArray, labels: NDArray, bits: int, rows_of: Callable[[NDArray], NDArray]
) -> NDArray:
    """The counts of one list of many scores."""
    if scores.dtype.itemsize > 2 or scores.shape[0] < FEW:
        return _counted(lambda block: rows_of(scores[block]), labels, bits)
    patterns = scores.view(f"u{scores.dtype.itemsize}")  # cheaper to put in order afterwards
    width = np.iinfo(patterns.dtype).bits
    found = _counted(lambda block: patterns[block].astype(np.int32), labels, width)
    every = np.arange(len(found), dtype=patterns.dtype)
    every = every if scores.dtype.kind == "b" else every.view(scores.dtype)
    counts = np.zeros((2**bits, 2), dtype=np.int64)
    np.add.at(counts, rows_of(every), found)
    return counts


def _counted(codes_of: Callable[[slice], NDArray], labels: NDArray, bits: int) -> NDArray:
    """How many examples of each class have each code below 2**bits; codes may be written to."""
    counts = np.zeros(2 << bits, dtype=np.int64)
    for block in blocks(labels.shape[0], max(BLOCK, 2 << bits)):
        codes = codes_of(block)
        codes <<= 1
        codes |= labels[block]
        counts += np.bincount(codes, minlength=2 << bits)
    return counts.reshape(-1, 2)
