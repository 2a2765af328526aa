"""Scores counted in bins of their order-preserving bits.

A bin holds all scores whose order keys begin with the same bits.  So the bins are in the order of
the scores, and no range of the scores is assumed.  Tables of bins have a row for each of them, best
first.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from quotakernels._array import Array, Namespace, cast, constant, device, namespace, of_kind
from quotakernels.ops import native
from quotakernels.ops.keys import from_order_key, is_float, key_bits, order_key
from quotakernels.ops.scans import bincount, bisect
from quotakernels.ops.tables import tie_groups


def _highest_key(xp: Namespace, dtype: Any) -> int:
    """The largest order key of a type: those of floats and signed integers are signed."""
    width = key_bits(xp, dtype)
    signed = of_kind(xp, dtype, "real floating") or xp.isdtype(dtype, "signed integer")
    highest: int = 2 ** (width - 1) - 1 if signed else 2**width - 1
    return highest


def bin_thresholds(xp: Namespace, like: Array, bits: int) -> Array:
    """The lowest score of each bin, best first, in the type of `like`; never NaN."""
    like = like[..., :0]
    key = order_key(xp, like)
    if is_float(xp, key):
        host = np.empty(0, dtype=f"f{key_bits(xp, like.dtype) // 8}")
        return xp.asarray(bin_thresholds(namespace(host), host, bits), device=device(like))
    shift = key_bits(xp, like.dtype) - bits
    top = _highest_key(xp, like.dtype) >> shift
    number = top - xp.arange(2**bits, dtype=xp.int64, device=device(like))
    lowest = number << shift
    if of_kind(xp, like.dtype, "real floating"):
        ends = constant(xp, [-xp.inf, xp.inf], like.dtype, device(like))
        ends = cast(xp, order_key(xp, ends), xp.int64)
        lowest = xp.maximum(ends[:1], xp.minimum(ends[1:], lowest))
    return from_order_key(xp, cast(xp, lowest, key.dtype), like.dtype)


def bin_rows(xp: Namespace, scores: Array, bits: int) -> Array:
    """The row of the bin of each score, in a table of 2**bits bins, as int32."""
    key = order_key(xp, scores)
    if is_float(xp, key):
        falling = bin_thresholds(xp, scores, bits)
        wanted = xp.reshape(-scores, (-1,))
        return cast(xp, xp.reshape(bisect(xp, -falling, wanted), scores.shape), xp.int32)
    shift = key_bits(xp, scores.dtype) - bits
    top = _highest_key(xp, scores.dtype) >> shift
    return top - cast(xp, key >> shift, xp.int32)


def binned(
    xp: Namespace,
    scores: Array,
    labels: Array,
    weights: Array | None,
    valid: Array | None,
    bits: int,
) -> tuple[Array, Array | None]:
    """For each bin the number of negatives and of positives, and with weights their masses.

    Both have the shape (..., 2**bits, 2); counts are integers of any type that holds them.
    """
    library, one_list = native.library(xp), scores.ndim == 1
    if library == "torch" and (one_list or weights is not None):
        key = order_key(xp, scores)
        alike = key_bits(xp, key.dtype) == key_bits(xp, scores.dtype)
        if alike and native.all_readable(key, labels, weights, valid):
            on_host = partial(_binned_on_host, bits=bits)
            counts, masses = native.torch_.on_host(on_host, key, labels, weights, valid)
            return counts, masses
    if weights is not None:
        return _weighed(xp, scores, labels, weights, valid, bits)
    if library == "numpy" and one_list:
        rows_of = partial(bin_rows, xp, bits=bits)
        return native.numpy_.binned(scores, labels, valid, bits, rows_of), None
    codes = 2 * bin_rows(xp, scores, bits) + cast(xp, labels, xp.int32)
    if valid is not None:
        codes = xp.where(valid, codes, xp.full_like(codes, 2 << bits))
    return xp.reshape(bincount(xp, codes, 2 << bits), (*codes.shape[:-1], 2**bits, 2)), None


def _binned_on_host(
    scores: Array, labels: Array, weights: Array | None, valid: Array | None, bits: int
) -> tuple[Array, Array | None]:
    return binned(namespace(scores), scores, labels, weights, valid, bits)


def _weighed(
    xp: Namespace, scores: Array, labels: Array, weights: Array, valid: Array | None, bits: int
) -> tuple[Array, Array]:
    """The sums of tie groups that are the bins."""
    groups = tie_groups(xp, ~bin_rows(xp, scores, bits), labels, weights, valid, False)
    owners = ~groups.thresholds
    wanted = xp.arange(2**bits, dtype=owners.dtype, device=device(owners))
    wanted = xp.broadcast_to(wanted, (*owners.shape[:-1], 2**bits))
    index = bisect(xp, owners, wanted, beyond=True) - 1
    there = index >= 0
    index = xp.where(there, index, xp.zeros_like(index))
    there = there & (xp.take_along_axis(owners, index, axis=-1) == wanted)

    def spread(negative: Array, positive: Array) -> Array:
        both = [xp.take_along_axis(x, index, axis=-1) for x in (negative, positive)]
        return xp.stack([xp.where(there, x, xp.zeros_like(x)) for x in both], axis=-1)

    counts = spread(groups.counts - groups.positives, groups.positives)
    return counts, spread(groups.negative_weights, groups.positive_weights)
