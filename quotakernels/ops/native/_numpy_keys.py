"""Keys of scores for NumPy: integers in the same order, made of the bits of floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from quotakernels.ops.arrays import bits_from_key, key_from_bits
from quotakernels.ops.native._numpy_rows import BLOCK, blocks

NDArray = np.ndarray[Any, Any]


def _has_bits(dtype: Any) -> bool:
    """Floats of up to 64 bits, the extension type bfloat16 (kind V) included."""
    if dtype.kind == "f":
        return bool(dtype.itemsize <= 8)
    return bool(dtype.kind == "V" and dtype.name == "bfloat16")


def order_key(scores: NDArray) -> NDArray:
    """See `Arrays.order_key`."""
    if not _has_bits(scores.dtype):
        return scores.view(np.uint8) if scores.dtype.kind == "b" else scores
    return key_of_bits(scores.view(np.dtype(f"i{scores.dtype.itemsize}")))


def key_of_bits(bits: NDArray) -> NDArray:
    """The keys of floats, of which these are the bits as signed integers."""
    return _unless_positive(key_from_bits, bits)


def _unless_positive(
    function: Callable[[NDArray, int], NDArray], x: NDArray, over: bool = False
) -> NDArray:
    """What a function makes of numbers and their width, which may be written over them; the key of
    a float that is not negative is its bits.
    """
    width = 8 * x.dtype.itemsize
    if x.size and np.minimum.reduce(x, axis=None) >= 0:
        return x
    if x.ndim != 1 or x.shape[0] <= BLOCK:
        return np.asarray(function(x, width))
    found = x if over else np.empty(x.shape, dtype=x.dtype)
    for block in blocks(x.shape[0]):
        found[block] = function(x[block], width)
    return found


def from_order_key(key: NDArray, dtype: Any, over: bool = False) -> NDArray:
    """See `Arrays.unkeyed`; the scores may be written over the keys."""
    if not _has_bits(dtype):
        return key.view(dtype) if dtype.kind == "b" else key.astype(dtype, copy=False)
    return bits_of_key(key, over).view(dtype)


def bits_of_key(key: NDArray, over: bool = False) -> NDArray:
    """The bits of the floats that have these keys."""
    return _unless_positive(bits_from_key, key, over)
