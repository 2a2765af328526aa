"""Scores counted in bins of their order-preserving bits.

A bin holds all scores whose order keys begin with the same bits.  So the bins are in the order of
the scores, and no range of the scores is assumed.  Tables of bins have a row for each of them, best
first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels._array import Array, Namespace, device, readable
from quotakernels.ops._table import ExampleColumns, Few, TieTable
from quotakernels.ops.arrays import bits_from_key, is_below, is_float
from quotakernels.ops.tables import Tables


class Binning(Tables):
    """Scores counted in bins of their order-preserving bits."""

    def bin_thresholds(self, like: Array, bits: int, counted: Array | None = None) -> Array:
        """The lowest score of each bin, best first, in the type of `like`; never NaN.

        Where they are not `counted` floats are 0: the first and the last bin may begin at infinity.
        """
        like = like[..., :0]
        key = self.order_key(like)
        if is_float(self, key):
            host = _falling_floats(self.key_bits(like.dtype), bits)
            falling = self.asarray(host, device=device(like))
            return (
                falling
                if counted is None
                else self.where(counted, falling, self.zeros_like(falling))
            )
        best = self.bin_keys(like, bits)[1]
        number = best - self.arange(2**bits, dtype=self.int64, device=device(like))
        lowest = number << (self.key_bits(like.dtype) - bits)
        if self.of_kind(like.dtype, "real floating"):
            ends = self.infinite_keys(like)
            lowest = self.maximum(ends[:1], self.minimum(ends[1:], lowest))
        return self.from_order_key(self.cast(lowest, key.dtype), like.dtype, counted)

    def infinite_keys(self, like: Array) -> Array:
        """The order keys of both infinities of a type of floats."""
        ends = self.constant([-self.inf, self.inf], like.dtype, device(like))
        return self.cast(self.order_key(ends), self.int64)

    def bin_rows(self, scores: Array, bits: int) -> Array:
        """The row of the bin of each score, in a table of 2**bits bins, as int32."""
        key = self.order_key(scores)
        if is_float(self, key):
            falling = self.bin_thresholds(scores, bits)
            wanted = self.reshape(-scores, (-1,))
            return self.cast(self.reshape(self.bisect(-falling, wanted), scores.shape), self.int32)
        key, best = self.bin_keys(scores, bits)
        return best - self.cast(key, self.int32)

    def bin_keys(self, scores: Array, bits: int) -> tuple[Array, int]:
        """The bits of its order key by which the bin of each score is known, and the largest."""
        key, dtype, shift = self.order_key(scores), scores.dtype, self.key_bits(scores.dtype) - bits
        signed = self.of_kind(dtype, "real floating") or self.isdtype(dtype, "signed integer")
        return (key >> shift if shift else key), 2 ** (bits - 1 if signed else bits) - 1

    def few_patterns(self, scores: Array) -> bool:
        """Whether scores on a device, or in a program, are more than there are floats of their
        type.
        """
        if readable(scores) or not self.of_kind(scores.dtype, "real floating"):
            return False
        return is_below(2 ** self.key_bits(scores.dtype), scores.shape[-1])

    def pattern_groups(self, scores: Array, labels: Array, valid: Array | None) -> TieTable:
        """The tie groups of scores of few bits: a row for each bit pattern, best first."""
        bits, size = self.key_bits(scores.dtype), scores.shape[-1]
        codes = self.bin_rows(scores, bits) + 2**bits * self.cast(labels, self.int32)
        if valid is not None:
            codes = self.where(valid, codes, self.full_like(codes, 2 * 2**bits))
        integer = self.int32 if is_below(size, 2**31) else self.int64
        found = self.cast(self.bincount(codes, 2 * 2**bits), integer)
        negatives, positives = found[..., : 2**bits], found[..., 2**bits :]
        counts = negatives + positives
        thresholds = self.bin_thresholds(scores, bits, counts > 0)
        layout = Few() if is_below(size, 2**31) else ()
        return TieTable(thresholds, counts, positives, None, None, layout=layout)

    def binned(
        self, counts: Array, examples: ExampleColumns, bits: int, groups: Array | None = None
    ) -> tuple[Array, dict[str, Array], Array]:
        """The counts of bins with those of more scores, and sums of the weights and of the columns
        of the latter, by name, as far as they have any.

        All have the shape (..., 2**bits, 2): the negatives and the positives of each bin; of
        `groups` of examples, from 0 to S - 1, (..., S, 2**bits, 2).  The third tells of each list
        whether a count has left the integers.
        """
        scores, labels, weights, valid, columns = examples
        rows, size, lists = self.bin_rows(scores, bits), 2**bits, counts.shape[:-2]
        if groups is not None:
            *lists, number = lists
            rows = self.cast(rows, self.int64) + size * self.clip(groups, min=0, max=number - 1)
            size = number * size
        if weights is not None or columns:
            more, sums = _summed(self, rows, size, labels, weights, valid, columns)
            sums = {name: self.reshape(x, counts.shape) for name, x in sums.items()}
            raised = counts + self.reshape(more, counts.shape)
            return raised, sums, self.any(self.flat(raised) < 0, axis=-1)
        codes = self.cast(2 * rows + self.cast(labels, rows.dtype), self.int64)
        raised, seen = self.increased(self.reshape(counts, (*lists, 2 * size)), codes, valid)
        left = self.any(seen < 0, axis=-1, keepdims=groups is not None)
        return self.reshape(raised, counts.shape), {}, left

    def binned_if_good(
        self, counts: Array, scores: Array, labels: Any, bits: int
    ) -> tuple[Array, Array | None] | None:
        """`binned` of floats that nothing stands beside, which are checked in the same pass.

        The second tells whether something was bad; None where it was read that nothing was. None of
        all else: it has to be checked by itself, or to be told what is wrong.
        """
        return None

    def flat(self, counts: Array) -> Array:
        """The counts of both classes in one axis, since reductions of an axis of two are slow."""
        return self.reshape(counts, (*counts.shape[:-2], 2 * counts.shape[-2]))


def _falling_floats(width: int, bits: int) -> np.ndarray[Any, Any]:
    """The lowest float of each of 2**bits bins, best first, of floats of a width in bits."""
    size, highest = width // 8, 2 ** (bits - 1) - 1
    end = np.asarray(np.inf, dtype=f"f{size}").view(f"i{size}")
    lowest = np.clip((highest - np.arange(2**bits)) << (width - bits), ~end, end)
    floats: np.ndarray[Any, Any] = bits_from_key(lowest.astype(f"i{size}"), width).view(f"f{size}")
    return floats


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
    groups = xp.tie_groups((~rows, labels, weights, valid, columns))
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
