"""Functions of each number by itself."""

from __future__ import annotations

from collections.abc import Callable

from quotakernels._array import Array, Namespace, known


def at_most(
    xp: Namespace,
    value: Array,
    most: Array | float,
    reached: Callable[[], Array] | None = None,
) -> Array:
    """Each value, but no more than the most, beyond which rounding alone can lift it.

    Where it is known that the most is `reached` it is given exactly.
    """
    if reached is None:
        return xp.clip(value, max=most)
    if known((value < 0.99 * most) | (value == most)):
        return value
    return xp.where(reached() & (value > 0), most, xp.minimum(value, most))
