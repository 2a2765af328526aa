"""Functions of each number by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quotakernels._array import Array, Namespace, cast, constant, device, known
from quotakernels.ops import native

_FEW = 2**12
"""Numbers of which all terms are summed at once."""


def clip(xp: Namespace, x: Array, low: float | None = None, high: float | None = None) -> Array:
    """Each number, or the bound that it is beyond."""
    library = native.library(xp, beyond=True)
    if library == "numpy":
        return native.numpy_.clip(x, low, high)
    if library == "jax":
        return native.jax_.clip(x, low, high)
    if library == "torch":
        return native.torch_.clip(x, low, high)
    return xp.clip(x, low, high)


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
        return clip(xp, value, high=most)
    if known((value < 0.99 * most) | (value == most)):
        return value
    return xp.where(reached() & (value > 0), most, xp.minimum(value, most))


def rate(xp: Namespace, part: Array, whole: Array) -> Array:
    """The quotient, of equals exactly 1: XLA multiplies by the inverse of what it spreads."""
    quotient = part / whole
    if native.library(xp, beyond=True) != "jax":
        return quotient
    return xp.where(part == whole, whole / whole, quotient)


def nan_unless(
    xp: Namespace, defined: Array, x: Array, nans: dict[Any, Array] | None = None
) -> Array:
    """Each number that is `defined`, and NaN elsewhere; `nans` keeps the one made for each type.

    JAX makes no NaN beside those, so that its `debug_nans` stops at undefined results only.
    """
    if native.library(xp, beyond=True) == "jax":
        return native.jax_.nan_unless(defined, x)
    kept = {} if nans is None else nans
    if x.dtype not in kept:
        kept[x.dtype] = constant(xp, xp.nan, x.dtype, device(x))
    return xp.where(defined, x, kept[x.dtype])


def neither(xp: Namespace, whole: Array, one: Array) -> Array:
    """Where whole numbers are neither 0 nor 1, of which it is known where they are `one`."""
    mixes_types = native.library(xp) in ("cupy", "torch")
    return whole != one if mixes_types else one == (whole == 0)


def piecewise(
    xp: Namespace,
    rare: Array,
    if_rare: Callable[..., Array],
    otherwise: Callable[..., Array],
    *arguments: Array,
) -> Array:
    """`if_rare(*arguments)` where the condition `rare` holds, else `otherwise(*arguments)`.

    `otherwise` may be evaluated everywhere, so it should be the cheaper of the two.
    """
    library = native.library(xp)
    if library == "numpy":
        return native.numpy_.piecewise(rare, if_rare, otherwise, *arguments)
    if library == "jax":
        return native.jax_.piecewise(rare, if_rare, otherwise, *arguments)
    return xp.where(rare, if_rare(*arguments), otherwise(*arguments))


def where_rare(
    xp: Namespace,
    rare: Array,
    parts: int,
    function: Callable[..., tuple[Array, ...]],
    *arguments: Array,
) -> list[Array]:
    """The arrays, as many as `parts`, that a function gives where `rare` holds, and else 0."""
    library = native.library(xp)
    if library == "numpy":
        return native.numpy_.where_rare(rare, parts, function, *arguments)
    if library == "jax":
        return native.jax_.where_rare(rare, parts, function, *arguments)
    return [xp.where(rare, x, xp.zeros_like(x)) for x in function(*arguments)]


def partial_harmonic_sums(
    xp: Namespace, before: Array, number: Array, most: int
) -> tuple[Array, Array]:
    """Σ 1/(S+k) and Σ k/(S+k) for k = 1..number, which is `most` at most."""
    one_list = native.library(xp) == "numpy" and before.ndim == 1
    if one_list and before.shape[0] <= _FEW and before.dtype == xp.float64:
        return native.numpy_.partial_harmonic_sums(before, number, most)
    ones, ramps = xp.zeros_like(before), xp.zeros_like(before)
    for k in range(1, most + 1):
        one = cast(xp, k <= number, before.dtype) / (before + k)
        ones, ramps = ones + one, ramps + k * one
    return ones, ramps
