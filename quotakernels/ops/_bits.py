"""Order-preserving integers made of the bits of floats; the same for every library.

Read as signed integers, the bits of non-negative floats are in order already; those of negative
floats are in reverse order, so all their bits but the sign are flipped.  Minus zero, which that
sends to -1, is moved to 0, where plus zero is.
"""

from __future__ import annotations

from quotakernels._array import Array


def key_from_bits(bits: Array, width: int) -> Array:
    """Order-preserving key of the bit patterns, given and returned as signed integers."""
    key = bits ^ ((bits >> (width - 1)) & (2 ** (width - 1) - 1))
    return key + (key == -1)


def bits_from_key(key: Array, width: int) -> Array:
    """The bit patterns of which `key_from_bits` made these keys."""
    return key ^ ((key >> (width - 1)) & (2 ** (width - 1) - 1))
