"""Keys of scores for NumPy: integers in the same order, made of the bits of floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels.ops._bits import bits_from_key, key_from_bits
from quotakernels.ops.native._numpy_rows import BLOCK, blocks

NDArray = np.ndarray[Any, Any]


def _has_bits(dtype: Any) -> bool:
    """Floats of up to 64 bits, the extension type bfloat16 (kind V) included."""
    if dtype.kind == "f":
        return bool(dtype.itemsize <= 8)
    return bool(dtype.kind == "V" and dtype.name == "bfloat16")


def order_key(scores: NDArray) -> NDArray:
    """See `keys.order_key`."""
    if not _has_bits(scores.dtype):
        return scores.view(np.uint8) if scores.dtype.kind == "b" else scores
    return key_of_bits(scores.view(np.dtype(f"i{scores.dtype.itemsize}")))


def key_of_bits(bits: NDArray) -> NDArray:
    """The keys of floats, of which these are the bits as signed integers."""
    width = 8 * bits.dtype.itemsize
    if bits.size and np.minimum.reduce(bits, axis=None) >= 0:
        return bits  # those of a float that is not negative are its key
    if bits.ndim != 1 or bits.shape[0] <= BLOCK:
        return np.asarray(key_from_bits(bits, width))
    key = np.empty(bits.shape, dtype=bits.dtype)
    for block in blocks(bits.shape[0]):
        key[block] = key_from_bits(bits[block], width)
    return key


def from_order_key(key: NDArray, dtype: Any) -> NDArray:
    """See `keys.from_order_key`."""
    if not _has_bits(dtype):
        return key.view(dtype) if dtype.kind == "b" else key.astype(dtype, copy=False)
    return bits_of_key(key).view(dtype)


def bits_of_key(key: NDArray) -> NDArray:
    """The bits of the floats that have these keys."""
    if key.size and np.minimum.reduce(key, axis=None) >= 0:  # see `key_of_bits`
        return key
    return np.asarray(bits_from_key(key, 8 * key.dtype.itemsize))
