"""Sums, maxima, places and counts along the last axis; leading axes are batches."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from quotakernels._array import (
    Array,
    Namespace,
    cast,
    compiled,
    device,
    known,
    namespace,
    of_kind,
    readable,
)
from quotakernels.ops import native
from quotakernels.ops._lengths import is_below, is_symbolic
from quotakernels.ops.elementwise import clip


def shifted(xp: Namespace, x: Array, by: int, fill: Any) -> Array:
    """`x` moved `by` places towards the end, with `fill` moving in."""
    pad = xp.full((*x.shape[:-1], by), fill, dtype=x.dtype, device=device(x))
    return xp.concat([pad, x[..., :-by]], axis=-1)


def running_max(xp: Namespace, x: Array) -> Array:
    """The largest value up to each position, of non-negative numbers."""
    library = native.library(xp)
    if library == "numpy":
        return native.numpy_.running_max(x)
    if library == "jax":
        return native.jax_.running_max(x)
    if library == "torch":
        return native.torch_.running_max(x)
    by = 1
    while by < x.shape[-1]:
        x = xp.maximum(x, shifted(xp, x, by, 0))
        by *= 2
    return x


def prefix_sum(xp: Namespace, x: Array, dtype: Any = None, whole: bool = False) -> Array:
    """Sums up to and with each position, by default in the type of the numbers.

    Where all are `whole`, PyTorch sums integers: its CUDA has no deterministic sum of floats.
    """
    dtype = x.dtype if dtype is None else dtype
    if native.library(xp, beyond=True) == "torch":
        sums = native.torch_.prefix_sum(x, xp.int64 if whole else dtype)
        return cast(xp, sums, dtype)
    return xp.cumulative_sum(x, axis=-1, dtype=dtype)


def running_count(xp: Namespace, x: Array) -> Array:
    """Sums of fewer than 2**31 examples: XLA widens them in the loops that read them."""
    return prefix_sum(xp, x, x.dtype if native.library(xp) == "jax" else xp.int64)


def rising_sum(xp: Namespace, x: Array) -> Array:
    """Sums up to and with each position, of which none is above the last, and all are equal from
    where nothing follows: libraries that add in parallel round each sum in another order.
    """
    sums = prefix_sum(xp, x)
    if native.library(xp) == "numpy":
        return sums
    place = xp.arange(x.shape[-1], dtype=xp.int64, device=device(x))
    end = xp.max(xp.where(x > 0, place, xp.zeros_like(place)), axis=-1, keepdims=True)
    last = sums[..., -1:]
    return xp.where(place >= end, last, xp.minimum(sums, last))


def exclusive(xp: Namespace, x: Array, start: Array | None = None) -> Array:
    """Sums of what stands before each position, on from a `start`, shape (..., 1)."""
    if start is not None:
        return prefix_sum(xp, xp.concat([start, x], axis=-1))[..., :-1]
    return shifted(xp, prefix_sum(xp, x), 1, 0) if x.shape[-1] else x


def exclusive_at(xp: Namespace, x: Array, index: Array) -> Array:
    """What `exclusive` has at each index, of floats."""
    if native.library(xp) == "numpy" and x.ndim == 1:
        return native.numpy_.exclusive_at(x, index)
    return taken(xp, exclusive(xp, x), index)


def segment_sum(xp: Namespace, x: Array, first: Array) -> Array:
    """Sums from the first element of each segment up to each position.

    No sum crosses a segment, so that one of huge weights leaves no trace in the next.
    """
    if native.library(xp) == "jax":
        return native.jax_.segment_sum(x, first)
    return _segment_scan(xp, x, first, xp.add)


def segment_max(xp: Namespace, x: Array, first: Array) -> Array:
    """The largest number from the first of each segment to each position."""
    return _segment_scan(xp, x, first, xp.maximum)


def _segment_scan(
    xp: Namespace, x: Array, first: Array, combine: Callable[[Array, Array], Array]
) -> Array:
    if is_symbolic(x.shape[-1]):
        return native.jax_.segment_scan(x, first, combine)
    by = 1
    while by < x.shape[-1] and not known(first):
        x = xp.where(first, x, combine(shifted(xp, x, by, 0), x))
        first = first | shifted(xp, first, by, True)
        by *= 2
    return x


def total(xp: Namespace, x: Array) -> Array:
    """Sum over the last axis by a balanced tree: the rounding error grows with log n only."""
    if x.shape[-1] == 1:
        return x[..., 0]
    library = native.library(xp)
    if library == "numpy":
        return native.numpy_.total(x)
    if library == "torch":
        return native.torch_.total(x)
    if library == "cupy":
        return native.cupy_.total(x)
    if of_kind(xp, x.dtype, "integral"):
        return xp.sum(x, axis=-1, dtype=x.dtype)
    if is_symbolic(x.shape[-1]):
        return _segment_scan(xp, x, xp.zeros_like(x, dtype=xp.bool), xp.add)[..., -1]
    return compiled(_sum_of_halves, xp)(x)


def _sum_of_halves(x: Array) -> Array:
    """By additions: XLA on CPU errs where it fuses sums with their terms.

    The first half is a power of two, so that no other is shorter than its neighbour.
    """
    xp = namespace(x)
    while (size := x.shape[-1]) > 1:
        half = 1 << ((size - 1).bit_length() - 1)
        rest = x[..., half:]
        if (lacking := 2 * half - size) > 0:
            pad = xp.zeros((*x.shape[:-1], lacking), dtype=x.dtype, device=device(x))
            rest = xp.concat([rest, pad], axis=-1)
        x = x[..., :half] + rest
    return xp.sum(x, axis=-1, dtype=x.dtype)


def count(xp: Namespace, flags: Array) -> Array:
    """The number of raised flags, with the last axis kept at length 1; XLA widens it last."""
    if native.library(xp) == "jax" and is_below(flags.shape[-1], 2**31):
        return cast(xp, xp.sum(flags, axis=-1, keepdims=True, dtype=xp.int32), xp.int64)
    if native.library(xp, beyond=True) == "torch":  # before 2.13 its `vmap` loops over the other
        return xp.sum(flags, axis=-1, keepdims=True, dtype=xp.int64)
    return xp.count_nonzero(flags, axis=-1, keepdims=True)


def counts(xp: Namespace, flags: list[Array]) -> Array:
    """The number of raised flags of each of several kinds, shape (..., kinds)."""
    if native.library(xp) == "numpy" and flags[0].ndim == 1:
        return native.numpy_.counts(flags)
    if native.library(xp) in ("cupy", "torch"):
        return count(xp, xp.stack(flags, axis=-2))[..., 0]
    return xp.concat([count(xp, x) for x in flags], axis=-1)


def nans(xp: Namespace, x: Array) -> Array:
    """Where floats are NaN, or of each list, shape (..., 1), whether one is."""
    if native.library(xp) in ("cupy", "torch"):  # whose largest number it is
        return xp.isnan(xp.max(x, axis=-1, keepdims=True))
    return xp.isnan(x)


def bincount(xp: Namespace, codes: Array, length: int) -> Array:
    """How often each number below `length` occurs in each list, where `length` itself may too."""
    library = native.library(xp)
    if library == "numpy":
        return native.numpy_.bincount(codes, length)
    if library == "jax":
        return native.jax_.bincount(codes, length)
    if library == "torch":
        return native.torch_.bincount(codes, length)
    if library == "cupy":
        return native.cupy_.bincount(codes, length)
    place = xp.arange(length, dtype=codes.dtype, device=device(codes))
    place = xp.broadcast_to(place, (*codes.shape[:-1], length))
    upto = bisect(xp, xp.sort(codes, axis=-1), place, beyond=True)
    return upto - shifted(xp, upto, 1, 0)


def any_of_each(
    xp: Namespace, flags: Array, codes: Array, size: int, anyway: Array | None = None
) -> Array:
    """For each number below `size`, whether a flag is raised where it is the code.

    In a list with one flag raised `anyway`, it is of all numbers.
    """
    codes = xp.broadcast_to(codes, flags.shape)
    some = None if anyway is None else xp.any(anyway, axis=-1, keepdims=True)
    if native.library(xp) == "torch":
        return native.torch_.any_of_each(flags, codes, size, some)
    counted = xp.where(flags, codes, xp.full_like(codes, size))
    found = bincount(xp, counted, size) > 0
    return found if some is None else found | some


def increased(
    xp: Namespace, counts: Array, codes: Array, valid: Array | None
) -> tuple[Array, Array]:
    """Counts of each number in lists, with how often it occurs among the codes that are valid.

    The second are those of the codes, in their order.
    """
    library = native.library(xp)
    if library == "jax":
        return native.jax_.increased(counts, codes, valid)
    if library == "torch":
        return native.torch_.increased(counts, codes, valid)
    length, counted = counts.shape[-1], codes
    if valid is not None:
        counted = xp.where(valid, codes, xp.full_like(codes, length))
    raised = counts + cast(xp, bincount(xp, counted, length), counts.dtype)
    return raised, taken(xp, raised, codes)


def bisect(xp: Namespace, ends: Array, wanted: Array, beyond: bool = False) -> Array:
    """Index of the first of the non-decreasing `ends` that reaches each wanted value, or that
    lies `beyond` it.
    """
    length = ends.shape[-1]
    if native.library(xp) == "numpy" and math.prod(ends.shape[:-1]) <= length:
        return native.numpy_.bisect(ends, wanted, beyond)
    if native.library(xp) == "jax" and not is_symbolic(length):
        return native.jax_.bisect(ends, wanted, beyond)
    if native.library(xp) == "torch" and not native.torch_.are_mapped(ends, wanted):
        return native.torch_.bisect(ends, wanted, beyond)
    if native.library(xp) == "cupy" and ends.ndim == 1:
        return native.cupy_.bisect(ends, wanted, beyond)
    if wanted.shape[-1] == 1:
        return count(xp, ends <= wanted if beyond else ends < wanted)

    def below(place: Array) -> Array:
        inside = place <= length
        index = xp.where(inside, place - 1, xp.zeros_like(place))
        end = taken(xp, ends, index)
        return inside & (end <= wanted if beyond else end < wanted)

    none = xp.zeros(wanted.shape, dtype=xp.int64, device=device(ends))
    return last_below(xp, length, none, below)


def last_below(xp: Namespace, length: int, low: Array, below: Callable[[Array], Array]) -> Array:
    """The last place down to which all behind `low` are `below`, of at most a length of places."""
    bits = 62 if is_symbolic(length) else max(length - 1, 0).bit_length()

    def halved(number: Any, found: Array) -> Array:
        place = found + ((1 << bits) >> number)
        return xp.where(below(place), place, found)

    loop = native.jax_.repeated if native.library(xp) == "jax" else repeated
    return loop(bits + 1, halved, low)


def repeated(times: int, step: Callable[[Any, Array], Array], state: Array) -> Array:
    """The state after a number of steps."""
    for number in range(times):
        state = step(number, state)
    return state


def flagged_first(xp: Namespace, flags: Array) -> Array:
    """Places of the raised flags, in order; then that of the last of them again and again.

    Of one list that can be read, the places only, if there are any.
    """
    library, size = native.library(xp), flags.shape[-1]
    if library == "jax":
        return native.jax_.flagged_first(flags)
    if library in ("numpy", "torch") and flags.ndim == 1 and readable(flags) and flags.any():
        return xp.nonzero(flags)[0]
    upto = prefix_sum(xp, cast(xp, flags, xp.int64))
    wanted = xp.arange(1, size + 1, dtype=xp.int64, device=device(flags))
    index = bisect(xp, upto, xp.minimum(xp.broadcast_to(wanted, flags.shape), upto[..., -1:]))
    return clip(xp, index, high=max(size - 1, 0))


def taken(xp: Namespace, x: Array, index: Array) -> Array:
    """What stands at each index, of numbers of any type."""
    if native.library(xp, beyond=True) == "torch":
        return native.torch_.taken(x, index)
    if native.library(xp) == "jax":
        return native.jax_.taken(x, index)
    if native.library(xp) == "numpy" and x.ndim == index.ndim == 1 and index.dtype == xp.int64:
        return x.take(index)  # which would copy other indices
    return xp.take_along_axis(x, index, axis=-1)


def written(
    xp: Namespace, target: Array, source: Array, start: Array, length: Array | int
) -> Array:
    """`target` with the first `length` of the `source` written to it, from the place `start` on.

    What would be written beyond its end is lost.
    """
    if native.library(xp) == "numpy":
        return native.numpy_.written(target, source, start, length)
    if native.library(xp) == "torch" and native.all_readable(target, source, start):
        return native.torch_.written(target, source, start, length)
    index = xp.arange(target.shape[-1], dtype=xp.int64, device=device(target)) - start
    there = (index >= 0) & (index < source.shape[-1])
    index = xp.where(there, index, xp.zeros_like(index))
    found = taken(xp, source, xp.broadcast_to(index, target.shape))
    return xp.where(xp.broadcast_to(there & (index < length), target.shape), found, target)
