"""Order-preserving integers made of the bits of floats; the same for every library.

Read as signed integers, the bits of non-negative floats are in order already; those of negative
floats are in reverse order, so all their bits but the sign are flipped.  Minus zero, which that
sends to -1, is moved to 0, where plus zero is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from quotakernels._array import Across, Array, Namespace

Repeat: TypeAlias = Callable[[int, Callable[[Any, Array], Array], Array], Array]


def key_from_bits(bits: Array, width: int) -> Array:
    """Order-preserving key of the bit patterns, given and returned as signed integers."""
    key = bits ^ ((bits >> (width - 1)) & (2 ** (width - 1) - 1))
    return key + (key == -1)


def bits_from_key(key: Array, width: int) -> Array:
    """The bit patterns of which `key_from_bits` made these keys."""
    return key ^ ((key >> (width - 1)) & (2 ** (width - 1) - 1))


def key_at_by_bits(
    xp: Namespace, key: Array, place: Array, repeated: Repeat, across: Across | None = None
) -> Array:
    """See `around.key_at`; the key is made bit by bit, each of which takes a count.

    The smallest integer differs from 0 in the highest bit only, so that also this one is tried by
    flipping it.
    """
    width = xp.iinfo(key.dtype).bits
    lowest = xp.full_like(place, xp.iinfo(key.dtype).min, dtype=key.dtype)

    def next_bit(number: Any, found: Array) -> Array:
        tried = found ^ (xp.ones_like(found) << (width - 1 - number))
        reached = xp.count_nonzero(key >= tried, axis=-1, keepdims=True)
        reached = reached if across is None else across(reached)
        return xp.where(reached >= place, tried, found)

    return repeated(width, next_bit, lowest)


def in_python(times: int, step: Callable[[Any, Array], Array], state: Array) -> Array:
    """The state after a number of steps."""
    for number in range(times):
        state = step(number, state)
    return state
