"""Short lists for NumPy, of which a step takes longer than its numbers: in few steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels.ops._table import Positives
from quotakernels.ops.native._numpy_positives import of_sorted, places_of_positives
from quotakernels.ops.native._numpy_rows import BLOCK

NDArray = np.ndarray[Any, Any]

SHORT = BLOCK
"""Lists of more scores are not short."""
WIDENED = 2**12
"""So many words of eight bytes are sorted sooner than it is seen whether four suffice."""
_MOST: dict[int, tuple[Any, Any, Any]] = {
    4: (np.dtype(np.int32), np.dtype(np.uint32), np.int32(2**31 - 1)),
    8: (np.dtype(np.int64), np.dtype(np.uint64), np.int64(2**63 - 1)),
}
"""By bytes of a key: its type, that of a word, and the largest key."""


def packed_bits(scores: NDArray, labels: NDArray) -> NDArray | None:
    """The words of numbers of four or eight bytes, if none has the bit of the sign."""
    signed, unsigned, most = _MOST[scores.dtype.itemsize]
    bits = scores.view(signed)
    if np.minimum.reduce(bits) < 0:
        return None
    words = np.subtract(most, bits).view(unsigned)
    return _with_labels(words, labels)


def packed_wide(key: NDArray, labels: NDArray) -> NDArray:
    """The words of keys of at most four bytes."""
    return _with_labels(np.subtract(2**32, key, dtype=np.int64), labels)


def _with_labels(words: NDArray, labels: NDArray) -> NDArray:
    words += words
    words |= labels
    return words


def of_words(words: NDArray) -> Positives:
    """The tie groups that hold positives, of words that are not sorted yet; they are."""
    words.sort()
    if words.shape[0] == 1 or np.minimum.reduce(words[1:] ^ words[:-1]) <= 1:
        return of_sorted(words)
    places = places_of_positives(words)  # each group is one example
    number = places.shape[0]
    starts, ends = np.empty(number + 2, places.dtype), np.empty(number + 1, places.dtype)
    starts[0] = ends[0] = 0
    starts[1:-1], starts[-1] = places, words.shape[0]
    np.add(places, 1, out=ends[1:])
    found = np.arange(-1, number + 1)
    found[0] = 0
    return Positives(starts, ends, found)
