"""Scores counted in bins of their order-preserving bits, in nothing but the standard.

A bin holds all scores whose order keys begin with the same bits.  So the bins are in the order of
the scores, and no range of the scores is assumed.  Tables of bins have a row for each of them, best
first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels._array import Array, Namespace, cast, constant, device, namespace, of_kind
from quotakernels.ops import standard

__all__ = ["bin_codes", "bin_rows", "bin_thresholds", "binned", "key_bits"]


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


def _highest_key(xp: Namespace, dtype: Any) -> int:
    """The largest order key of a type: those of floats and signed integers are signed."""
    width = key_bits(xp, dtype)
    signed = of_kind(xp, dtype, "real floating") or xp.isdtype(dtype, "signed integer")
    highest: int = 2 ** (width - 1) - 1 if signed else 2**width - 1
    return highest


def _beyond_reach(xp: Namespace, key: Array) -> bool:
    """Whether the library has no access to the bits of floats, which are their own keys."""
    return of_kind(xp, key.dtype, "real floating")


def bin_thresholds(xp: Namespace, like: Array, bits: int) -> Array:
    """The lowest score of each bin, best first, in the type of `like`; never NaN."""
    from quotakernels import ops

    like = like[..., :0]
    key = ops.order_key(xp, like)
    if _beyond_reach(xp, key):
        host = np.empty(0, dtype=f"f{key_bits(xp, like.dtype) // 8}")
        return xp.asarray(bin_thresholds(namespace(host), host, bits), device=device(like))
    shift = key_bits(xp, like.dtype) - bits
    top = _highest_key(xp, like.dtype) >> shift
    number = top - xp.arange(2**bits, dtype=xp.int64, device=device(like))
    lowest = number << shift
    if of_kind(xp, like.dtype, "real floating"):
        ends = constant(xp, [-xp.inf, xp.inf], like.dtype, device(like))
        ends = cast(xp, ops.order_key(xp, ends), xp.int64)
        lowest = xp.maximum(ends[:1], xp.minimum(ends[1:], lowest))
    return ops.from_order_key(xp, cast(xp, lowest, key.dtype), like.dtype)


def bin_rows(xp: Namespace, scores: Array, bits: int) -> Array:
    """The row of the bin of each score, in a table of 2**bits bins, as int32."""
    from quotakernels import ops

    key = ops.order_key(xp, scores)
    if _beyond_reach(xp, key):
        falling = bin_thresholds(xp, scores, bits)
        wanted = xp.reshape(-scores, (-1,))
        return cast(xp, xp.reshape(standard.bisect(xp, -falling, wanted), scores.shape), xp.int32)
    shift = key_bits(xp, scores.dtype) - bits
    top = _highest_key(xp, scores.dtype) >> shift
    return top - cast(xp, key >> shift, xp.int32)


def bin_codes(xp: Namespace, rows: Array, labels: Array, valid: Array | None, bits: int) -> Array:
    """Twice the row of each example's bin, and 1 more for positives: its place in a flat table.

    Examples that do not count are given the place behind the last.
    """
    codes = 2 * rows + cast(xp, labels, rows.dtype)
    return codes if valid is None else xp.where(valid, codes, xp.full_like(codes, 2 << bits))


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
    from quotakernels import ops

    rows = bin_rows(xp, scores, bits)
    groups = ops.tie_groups(xp, ~rows, labels, weights, valid, False)
    owners = ~groups.thresholds
    wanted = xp.arange(2**bits, dtype=owners.dtype, device=device(owners))
    wanted = xp.broadcast_to(wanted, (*owners.shape[:-1], 2**bits))
    index = ops.bisect(xp, owners, wanted, beyond=True) - 1
    there = index >= 0
    index = xp.where(there, index, xp.zeros_like(index))
    there = there & (xp.take_along_axis(owners, index, axis=-1) == wanted)

    def spread(negative: Array, positive: Array) -> Array:
        both = [xp.take_along_axis(x, index, axis=-1) for x in (negative, positive)]
        return xp.stack([xp.where(there, x, xp.zeros_like(x)) for x in both], axis=-1)

    counts = spread(groups.counts - groups.positives, groups.positives)
    if not groups.weighted:
        return counts, None
    return counts, spread(groups.negative_weights, groups.positive_weights)
