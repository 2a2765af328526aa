"""Scores as numbers that compare as they do: order keys, and what is found by comparing them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quotakernels._array import (
    Array,
    Namespace,
    cast,
    is_compiling,
    of_kind,
)


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
            scores, threshold = xp.widened(scores), xp.widened(threshold)
        known = ~xp.isnan(threshold) if is_float(xp, threshold) else None
        scores, threshold = xp.comparable(scores), xp.comparable(threshold)
    reached = scores >= threshold if inclusive else scores > threshold
    return reached if known is None or is_float(xp, scores) else reached & known


def sort_coded(
    xp: Namespace, key: Array, code: Array, payload: tuple[Array, ...], stable: bool
) -> tuple[Array, ...]:
    """Sort by key, largest first; an integer code of two bits and any other columns come along.

    Only `stable` promises an order among equal keys: that of the input.
    """
    if stable or payload or is_float(xp, key) or key_bits(xp, key.dtype) > 32:
        found: tuple[Array, ...] = xp.sort_with(key, code, *payload)
        return found
    words = (~cast(xp, key, xp.int64) << 2) | code  # sorted several times faster than gathered
    words = xp.sort(words, axis=-1, stable=xp.stable_sort_is_faster)  # equal ones are the same
    return cast(xp, ~(words >> 2), key.dtype), cast(xp, words & 3, code.dtype)
