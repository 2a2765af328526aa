"""Scores as numbers that compare as they do: order keys, and what is found by comparing them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from quotakernels._array import (
    Across,
    Array,
    Namespace,
    cast,
    concrete,
    constant,
    device,
    is_compiling,
    of_kind,
    readable,
    wide_float,
)
from quotakernels.ops import native
from quotakernels.ops._lengths import is_below
from quotakernels.ops.scans import count, repeated, taken


def order_key(xp: Namespace, scores: Array) -> Array:
    """Numbers that compare as the exact values of the scores do, on hardware that flushes too.

    Without access to the bits a float is its own key.
    """
    library = native.library(xp, beyond=True)
    if library == "numpy":
        return native.numpy_.order_key(scores)
    if library == "jax":
        return native.jax_.order_key(scores)
    if library == "torch":
        return native.torch_.order_key(scores)
    if library == "cupy":
        return native.cupy_.order_key(scores)
    return cast(xp, scores, xp.uint8) if xp.isdtype(scores.dtype, "bool") else scores


def comparable(xp: Namespace, scores: Array) -> Array:
    """The scores themselves where a library compares all floats exactly, else their keys."""
    if native.library(xp) == "torch" and of_kind(xp, scores.dtype, "real floating"):
        return scores.detach()
    return order_key(xp, scores)


def from_order_key(xp: Namespace, key: Array, dtype: Any, counted: Array | None = None) -> Array:
    """The scores to which `order_key` gave these keys (0.0 for -0.0).

    Where they are not `counted` floats are 0: the lowest key is that of a NaN.
    """
    if counted is not None and of_kind(xp, dtype, "real floating"):
        key = xp.where(counted, key, xp.zeros_like(key))
    if is_float(xp, key):
        return key + 0
    library = native.library(xp, beyond=True)
    if library == "numpy":
        return native.numpy_.from_order_key(key, dtype)
    if library == "jax":
        return native.jax_.from_order_key(key, dtype)
    if library == "torch":
        return native.torch_.from_order_key(key, dtype)
    if library == "cupy":
        return native.cupy_.from_order_key(key, dtype)
    return cast(xp, key, dtype)


def lowest_key(xp: Namespace, key: Array) -> Array:
    """A key that no score undercuts; examples that do not count are given it."""
    if is_float(xp, key):
        return constant(xp, -xp.inf, key.dtype, device(key))
    return constant(xp, xp.iinfo(key.dtype).min, key.dtype, device(key))


def is_float(xp: Namespace, key: Array) -> bool:
    """Whether the keys are the scores themselves, as the library has no access to their bits."""
    return of_kind(xp, key.dtype, "real floating")


def key_bits(xp: Namespace, dtype: Any) -> int:
    """The number of bits that tell all scores of a type apart."""
    size = getattr(dtype, "itemsize", None)
    if isinstance(size, int):
        return 8 * size
    if of_kind(xp, dtype, "bool"):
        return 8
    info = xp.iinfo if of_kind(xp, dtype, "integral") else xp.finfo
    width: int = info(dtype).bits
    return width


def widened(xp: Namespace, scores: Array) -> Array:
    """The scores as the widest floats, none of them changed but integers beyond 2**53."""
    library = native.library(xp, beyond=True)
    if library == "jax":
        return native.jax_.widened(scores)
    if library == "cupy":
        return native.cupy_.widened(scores)
    return cast(xp, scores, wide_float(xp, device(scores)))


def scaled(xp: Namespace, x: Array, power: Array) -> Array:
    """Floats times powers of two, of one float type; subnormal ones are not taken for 0."""
    if native.library(xp, beyond=True) == "jax":
        return native.jax_.scaled(x, power)
    return x * power


def nearest(xp: Namespace, scores: Array, number: float) -> float:
    """The number of the scores' floating type that is nearest to a plain one, of two the even one.

    It is left to the library where it may be a symbol, and where the scores are no floats.
    """
    if not of_kind(xp, scores.dtype, "real floating") or is_compiling():
        return number
    if isinstance(scores, np.ndarray) and scores.dtype.kind != "f":
        return number  # bfloat16, of which NumPy knows no limits
    info = xp.finfo(scores.dtype)
    if info.bits == 64 or not math.isfinite(number):
        return number
    least, most = math.frexp(info.smallest_normal)[1], math.ldexp(info.max, 0)  # Python's float
    unit = math.ldexp(info.eps, max(math.frexp(number)[1], least) - 1)
    rounded = round(number / unit) * unit
    return rounded if abs(rounded) <= most else math.copysign(math.inf, number)


def reaching(xp: Namespace, scores: Array, threshold: Array | float, inclusive: bool) -> Array:
    """Which scores are at least a threshold, or above it; none if that is NaN."""
    known = None
    if not isinstance(threshold, float):
        if scores.dtype != threshold.dtype:
            scores, threshold = widened(xp, scores), widened(xp, threshold)
        known = ~xp.isnan(threshold) if is_float(xp, threshold) else None
        scores, threshold = comparable(xp, scores), comparable(xp, threshold)
    reached = scores >= threshold if inclusive else scores > threshold
    return reached if known is None or is_float(xp, scores) else reached & known


def sort_coded(
    xp: Namespace, key: Array, code: Array, payload: tuple[Array, ...], stable: bool
) -> tuple[Array, Array, tuple[Array, ...]]:
    """Sort by key, largest first; an integer code of two bits and any other columns come along.

    Only `stable` promises an order among equal keys: that of the input.
    """
    if not stable and not payload and not is_float(xp, key) and key_bits(xp, key.dtype) <= 32:
        return *_sorted_words(xp, key, code), ()
    library = native.library(xp)
    if library == "jax":
        short = is_below(key.shape[-1], 2**31) and key_bits(xp, key.dtype) <= 32
        by_words = native.jax_.sorted_by_words if short else native.jax_.sort_coded
        return by_words(key, (code, *payload))
    if library == "torch":
        return native.torch_.sort_coded(key, code, payload)
    order = xp.argsort(key, axis=-1, descending=True, stable=True)
    key, code, *rest = (xp.take_along_axis(x, order, axis=-1) for x in (key, code, *payload))
    return key, code, tuple(rest)


def _sorted_words(xp: Namespace, key: Array, code: Array) -> tuple[Array, Array]:
    """Words that end in the code, which are sorted several times faster than they are gathered."""
    words = (~cast(xp, key, xp.int64) << 2) | code
    faster_stable = native.library(xp) == "jax"
    words = xp.sort(words, axis=-1, stable=faster_stable)  # equal words cannot be told apart
    return cast(xp, ~(words >> 2), key.dtype), cast(xp, words & 3, code.dtype)


def kth_largest(xp: Namespace, key: Array, k: Array | int, across: Across | None = None) -> Array:
    """The k-th largest key, shape (..., 1), where k is 1 for the largest: a number, or (..., 1).

    The keys are those of all shards that are summed `across`, which get the same answer.
    """
    library, one_list = native.library(xp), key.ndim == 1 and across is None
    plain = isinstance(k, int)
    if library == "numpy" and one_list:
        return native.numpy_.kth_largest(key, k)
    if library == "torch" and one_list and readable(key) and (plain or readable(k)):
        return native.torch_.kth_largest(key, k)
    if library == "jax" and (across is None or not concrete(key)):
        return _kth_largest_by_bits(xp, key, k, native.jax_.repeated, across)
    if across is not None:
        return _kth_largest_by_bits(xp, key, k, repeated, across)
    if library == "torch" and plain:
        return native.torch_.selected(key, k)
    rising = xp.sort(key, axis=-1)
    if plain:
        return rising[..., -k, None]
    return taken(xp, rising, key.shape[-1] - k)


def _kth_largest_by_bits(
    xp: Namespace, key: Array, k: Array, repeated: Callable[..., Array], across: Across | None
) -> Array:
    """The key is made bit by bit, each of which takes a count.

    The smallest integer differs from 0 in the highest bit only, so that also this one is tried by
    flipping it.
    """
    if is_float(xp, key):
        raise TypeError(f"y_score has dtype {key.dtype}, whose bits shards cannot count here")
    width = xp.iinfo(key.dtype).bits
    like = key[..., :1] if isinstance(k, int) else k  # which is the same on all shards
    lowest = xp.full_like(like, xp.iinfo(key.dtype).min, dtype=key.dtype)

    def next_bit(number: Any, found: Array) -> Array:
        tried = found ^ (xp.ones_like(found) << (width - 1 - number))
        reached = count(xp, key >= tried)
        reached = reached if across is None else across(reached)
        return xp.where(reached >= k, tried, found)

    return repeated(width, next_bit, lowest)
