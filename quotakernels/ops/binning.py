"""Scores counted in bins of their order-preserving bits.

A bin holds all scores whose order keys begin with the same bits.  So the bins are in the order of
the scores, and no range of the scores is assumed.  Tables of bins have a row for each of them, best
first.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from quotakernels._array import (
    Array,
    Namespace,
    cast,
    constant,
    device,
    from_host_view,
    host_view,
    of_kind,
    readable,
)
from quotakernels.ops import native
from quotakernels.ops._lengths import is_below
from quotakernels.ops._table import Few, Groups
from quotakernels.ops.keys import is_float, key_bits
from quotakernels.ops.native import namespace
from quotakernels.ops.tables import tie_groups


def _highest_key(xp: Namespace, dtype: Any) -> int:
    """The largest order key of a type: those of floats and signed integers are signed."""
    width = key_bits(xp, dtype)
    signed = of_kind(xp, dtype, "real floating") or xp.isdtype(dtype, "signed integer")
    highest: int = 2 ** (width - 1) - 1 if signed else 2**width - 1
    return highest


def bin_thresholds(xp: Namespace, like: Array, bits: int, counted: Array | None = None) -> Array:
    """The lowest score of each bin, best first, in the type of `like`; never NaN.

    Where they are not `counted` floats are 0: the first and the last bin may begin at infinity.
    """
    like = like[..., :0]
    key = xp.order_key(like)
    if is_float(xp, key):
        host = np.empty(0, dtype=f"f{key_bits(xp, like.dtype) // 8}")
        falling = xp.asarray(bin_thresholds(namespace(host), host, bits), device=device(like))
        return falling if counted is None else xp.where(counted, falling, xp.zeros_like(falling))
    shift = key_bits(xp, like.dtype) - bits
    top = _highest_key(xp, like.dtype) >> shift
    number = top - xp.arange(2**bits, dtype=xp.int64, device=device(like))
    lowest = number << shift
    if of_kind(xp, like.dtype, "real floating"):
        is_jax = native.library(xp, beyond=True) == "jax"  # which may stop at infinite constants
        end, beyond = (xp.finfo(like.dtype).max, 1) if is_jax else (xp.inf, 0)
        ends = xp.order_key(constant(xp, [-end, end], like.dtype, device(like)))
        ends = cast(xp, ends, xp.int64)
        lowest = xp.maximum(ends[:1] - beyond, xp.minimum(ends[1:] + beyond, lowest))
    return xp.from_order_key(cast(xp, lowest, key.dtype), like.dtype, counted)


def bin_rows(xp: Namespace, scores: Array, bits: int) -> Array:
    """The row of the bin of each score, in a table of 2**bits bins, as int32."""
    key = xp.order_key(scores)
    if is_float(xp, key):
        falling = bin_thresholds(xp, scores, bits)
        wanted = xp.reshape(-scores, (-1,))
        return cast(xp, xp.reshape(xp.bisect(-falling, wanted), scores.shape), xp.int32)
    shift = key_bits(xp, scores.dtype) - bits
    top = _highest_key(xp, scores.dtype) >> shift
    return top - cast(xp, key >> shift if shift else key, xp.int32)


def few_patterns(xp: Namespace, scores: Array) -> bool:
    """Whether scores on a device, or in a program, are more than there are floats of their type."""
    if readable(scores) or not of_kind(xp, scores.dtype, "real floating"):
        return False
    few: bool = is_below(2 ** key_bits(xp, scores.dtype), scores.shape[-1])
    return few and native.library(xp, beyond=True) != "standard"


def pattern_groups(xp: Namespace, scores: Array, labels: Array, valid: Array | None) -> Groups:
    """The tie groups of scores of few bits: a row for each of their bit patterns, best first."""
    bits, size = key_bits(xp, scores.dtype), scores.shape[-1]
    given, one_list = (scores, labels, valid), scores.ndim == 1 and bits == 16
    layout = Few() if is_below(size, 2**31) else ()
    if native.library(xp) == "torch" and one_list and not native.torch_.are_mapped(*given):
        return native.torch_.pattern_groups(*given)._replace(layout=layout)
    codes = bin_rows(xp, scores, bits) + 2**bits * cast(xp, labels, xp.int32)
    if valid is not None:
        codes = xp.where(valid, codes, xp.full_like(codes, 2 * 2**bits))
    integer = xp.int32 if is_below(size, 2**31) else xp.int64
    found = cast(xp, xp.bincount(codes, 2 * 2**bits), integer)
    negatives, positives = found[..., : 2**bits], found[..., 2**bits :]
    counts = negatives + positives
    thresholds = bin_thresholds(xp, scores, bits, counts > 0)
    return Groups(thresholds, counts, positives, None, None, layout=layout)


def binned(
    xp: Namespace,
    counts: Array,
    scores: Array,
    labels: Array,
    weights: Array | None,
    valid: Array | None,
    columns: dict[str, Array],
    bits: int,
) -> tuple[Array, dict[str, Array], Array]:
    """The counts of bins with those of more scores, and sums of the weights and of the columns of
    the latter, by name, as far as they have any.

    All have the shape (..., 2**bits, 2): the negatives and the positives of each bin.  The third
    tells of each list whether a count has left the integers.
    """
    library, one_list = native.library(xp), scores.ndim == 1
    arrays = (counts, scores, labels, weights, valid)
    plain = (one_list or weights is not None) and not columns
    if library == "torch" and plain and native.all_readable(*arrays):
        key = xp.order_key(scores)
        if key_bits(xp, key.dtype) == key_bits(xp, scores.dtype):
            on_host = partial(_binned_on_host, bits=bits)
            found = native.torch_.on_host(on_host, counts, key, labels, weights, valid)
            sums = {} if found[1] is None else {"weight": found[1]}
            return found[0], sums, found[2]
    if weights is not None or columns:
        rows = bin_rows(xp, scores, bits)
        more, sums = _summed(xp, rows, 2**bits, labels, weights, valid, columns)
        return counts + more, sums, xp.any(flat(xp, counts + more) < 0, axis=-1)
    if library == "numpy" and one_list:
        rows_of = partial(bin_rows, xp, bits=bits)
        counts, left = native.numpy_.binned(counts, scores, labels, valid, bits, rows_of)
        return counts, {}, left
    codes = cast(xp, 2 * bin_rows(xp, scores, bits) + cast(xp, labels, xp.int32), xp.int64)
    raised, seen = xp.increased(flat(xp, counts), codes, valid)
    return xp.reshape(raised, counts.shape), {}, xp.any(seen < 0, axis=-1)


def binned_by_group(
    xp: Namespace,
    counts: Array,
    groups: Array,
    scores: Array,
    labels: Array,
    weights: Array | None,
    valid: Array | None,
    columns: dict[str, Array],
    bits: int,
) -> tuple[Array, dict[str, Array], Array]:
    """`binned` of examples in groups, from 0 to S - 1, with the shape (..., S, 2**bits, 2)."""
    size, bins = counts.shape[-3], 2**bits
    rows = cast(xp, bin_rows(xp, scores, bits), xp.int64)
    rows = rows + bins * xp.clip(groups, min=0, max=size - 1)
    if weights is not None or columns:
        more, sums = _summed(xp, rows, size * bins, labels, weights, valid, columns)
        sums = {name: xp.reshape(x, counts.shape) for name, x in sums.items()}
        raised = counts + xp.reshape(more, counts.shape)
        return raised, sums, xp.any(flat(xp, raised) < 0, axis=-1)
    codes = 2 * rows + cast(xp, labels, xp.int64)
    whole = xp.reshape(counts, (*counts.shape[:-3], -1))
    raised, seen = xp.increased(whole, codes, valid)
    return xp.reshape(raised, counts.shape), {}, xp.any(seen < 0, axis=-1, keepdims=True)


def counted(
    xp: Namespace, counts: Array, scores: Array, labels: Any, bits: int
) -> tuple[Array, Array | None] | None:
    """`binned` of a few floats that nothing stands beside, which are checked in the same pass.

    The second tells whether something was bad; None where it was read that nothing was.  None of
    all else: it has to be checked by itself, or to be told what is wrong.
    """
    library = native.library(xp)
    if library not in ("numpy", "torch") or type(labels) is not type(scores):
        return None
    if labels.shape != scores.shape or 0 in (scores.ndim, *scores.shape):
        return None
    if library == "numpy":
        raised = native.numpy_.counted(counts, scores, labels, bits)
        return None if raised is None else (raised, None)
    shares_bits = scores.dtype.itemsize > 1  # as bfloat16 does with float32, which stands for it
    if shares_bits and (on_host := host_view((counts, scores.detach(), labels))):
        raised = native.numpy_.counted(on_host[0], on_host[1], on_host[2], bits)
        return None if raised is None else (from_host_view(raised, counts), None)
    if not of_kind(xp, labels.dtype, ("bool", "integral")) or device(labels) != device(scores):
        return None
    return native.torch_.counted(counts, scores, labels, bits)


def flat(xp: Namespace, counts: Array) -> Array:
    """The counts of both classes in one axis, since reductions of an axis of two are slow."""
    return xp.reshape(counts, (*counts.shape[:-2], -1))


def _binned_on_host(
    counts: Array,
    scores: Array,
    labels: Array,
    weights: Array | None,
    valid: Array | None,
    bits: int,
) -> tuple[Array, Array | None, Array]:
    counts, sums, left = binned(namespace(scores), counts, scores, labels, weights, valid, {}, bits)
    return counts, sums.get("weight"), left


def _summed(
    xp: Namespace,
    rows: Array,
    size: int,
    labels: Array,
    weights: Array | None,
    valid: Array | None,
    columns: dict[str, Array],
) -> tuple[Array, dict[str, Array]]:
    """The sums of tie groups that are the bins, of which each example has one of `size` rows."""
    groups = tie_groups(xp, ~rows, labels, weights, valid, False, columns)
    owners = ~groups.thresholds
    wanted = xp.arange(size, dtype=owners.dtype, device=device(owners))
    wanted = xp.broadcast_to(wanted, (*owners.shape[:-1], size))
    index = xp.bisect(owners, wanted, beyond=True) - 1
    there = index >= 0
    index = xp.where(there, index, xp.zeros_like(index))
    there = there & (xp.take_last_axis(owners, index) == wanted)

    def spread(negative: Array, positive: Array) -> Array:
        both = [xp.take_last_axis(x, index) for x in (negative, positive)]
        return xp.stack([xp.where(there, x, xp.zeros_like(x)) for x in both], axis=-1)

    counts = spread(groups.counts - groups.positives, groups.positives)
    sums = {name: spread(x.negative, x.positive) for name, x in groups.columns.items()}
    if groups.weighted:
        sums["weight"] = spread(groups.negative_weights, groups.positive_weights)
    return counts, sums
