"""Pairs that each example loses, and how much that varies: the placements of DeLong's variance."""

from __future__ import annotations

from typing import NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, device, wide_float
from quotakernels.inputs.totals import Totals
from quotakernels.measures._reduction import Reduction, reduced


class Area(NamedTuple):
    """The pairs lost by a ranking, twice, and all pairs; the variance of AUC; the class sizes."""

    lost: Array
    pairs: Array
    variance: Array
    positive: Array
    negative: Array


class Spread(NamedTuple):
    """The pairs lost, twice, and all pairs, shape (...), and what each example adds to AUC beside
    its mean, shape (..., n).

    The covariance of two AUC is the sum of the products of what the examples add.
    """

    lost: Array
    pairs: Array
    positive: Array
    negative: Array

    def covariance(self, xp: Namespace, positive: Array, negative: Array) -> Array:
        """With another AUC, to which the examples add this."""
        return ops.total(xp, self.positive * positive) + ops.total(xp, self.negative * negative)


def lost_pairs(xp: Namespace, scores: Array, positive: Array, negative: Array) -> Array:
    """How many examples of the other class beat each example, twice, ties counted half.

    Whole numbers.  Of an example of neither class it means nothing.
    """
    key = ops.order_key(xp, scores)
    key = xp.where(positive | negative, key, xp.zeros_like(key))  # NaN would be its own group
    positives, negatives = twice_below(xp, key, [positive, negative])
    whole = cast(xp, ops.count(xp, negative), negatives.dtype)
    return xp.where(positive, 2 * whole - negatives, positives)


def twice_below(xp: Namespace, key: Array, flags: list[Array]) -> list[Array]:
    """How many of those flagged have a lower key than each example, twice, ties counted half."""
    order = xp.argsort(key, axis=-1, stable=False)
    back = xp.argsort(order, axis=-1, stable=False)
    key = xp.take_along_axis(key, order, axis=-1)
    integer = xp.int32 if ops.is_below(key.shape[-1], 2**30) else xp.int64
    edge = xp.ones((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    differs = key[..., 1:] != key[..., :-1]
    first = xp.concat([edge, differs], axis=-1)
    last = xp.flip(xp.concat([differs, edge], axis=-1), axis=-1)

    def before(x: Array, first: Array) -> Array:
        """Sums of what stands before the group of each place."""
        return ops.running_max(xp, xp.where(first, ops.exclusive(xp, x), xp.zeros_like(x)))

    found = []
    for flag in flags:
        x = cast(xp, xp.take_along_axis(flag, order, axis=-1), integer)
        above = xp.flip(before(xp.flip(x, axis=-1), last), axis=-1)
        twice = before(x, first) + xp.sum(x, axis=-1, keepdims=True, dtype=integer) - above
        found.append(xp.take_along_axis(twice, back, axis=-1))
    return found


def spread_of(
    xp: Namespace, lost: Array, positive: Array, negative: Array, good: Array | bool = True
) -> Spread:
    """The spread of what `lost_pairs` found, or of the difference of that for two models.

    It is NaN in rows that are not good.  Deviations from the means are squared, not the numbers;
    these are whole.
    """
    wide = wide_float(xp, device(lost))
    lost = cast(xp, lost, wide)
    flags = (positive, negative)
    sizes = [cast(xp, ops.count(xp, x)[..., 0], wide) for x in flags]
    defined = ((sizes[0] > 1) & (sizes[1] > 1))[..., None] & good
    nothing, parts = xp.zeros_like(lost), []
    for own, size, other in zip(flags, sizes, sizes[::-1], strict=True):
        twice = ops.total(xp, xp.where(own, lost, nothing))  # the same for both classes
        deviation = lost - (twice / size)[..., None]
        scale = (2 * other * xp.sqrt(size * (size - 1)))[..., None]
        parts.append(ops.nan_unless(xp, defined, xp.where(own, deviation / scale, nothing)))
    return Spread(twice, sizes[0] * sizes[1], *parts)


def area_of(xp: Namespace, table: ops.Groups) -> Area:
    """The AUC of a table without weights, or of each of its groups, and its variance, from the
    rows.
    """
    total = Totals(xp, table)
    (twice,) = reduced(xp, table, _LOST_TWICE)
    sizes = (total.positive, total.negative)
    positive, negative = (ops.spread(xp, table, x) for x in sizes)
    lost = [ops.spread(xp, table, twice / x) for x in sizes]

    def squares(before: Array, found: Array, good: Array, bad: Array) -> tuple[Array, Array]:
        of_positive = 2 * (before - found) + bad - lost[0]
        of_negative = 2 * (positive - found) - good - lost[1]
        of_positive, of_negative = of_positive / negative, of_negative / positive
        return good * (of_positive * of_positive), bad * (of_negative * of_negative)

    sums = reduced(xp, table, Reduction(_COLUMNS, squares, lambda *sums: sums))[0]
    parts = [x / (4 * (n * (n - 1))) for x, n in zip(sums, sizes, strict=True)]
    defined = (total.positive > 1) & (total.negative > 1)
    variance = ops.nan_unless(xp, defined, parts[0] + parts[1])
    return Area(twice, total.positive * total.negative, variance, *sizes)


def share(xp: Namespace, lost: Array, pairs: Array, scale: int) -> Array:
    """1 less a multiple of the share of pairs that are lost, of twice their number: rounded once
    where the numbers are whole; NaN of no pairs.
    """
    value = (2 * pairs - scale * lost) / (2 * pairs)
    return ops.nan_unless(xp, pairs > 0, value)


def _lost_twice(before: Array, found: Array, good: Array, bad: Array) -> tuple[Array]:
    """The pairs lost by the positives of a row, twice, ties counted half."""
    return (good * (2 * (before - found) + bad),)


_COLUMNS = ("mass_before", "positive_before", "positive", "negative")
_LOST_TWICE = Reduction(_COLUMNS, _lost_twice, lambda lost: lost)
