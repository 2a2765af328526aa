"""The array operations the standard lacks, written in nothing but the standard.

All shapes are fixed by the shapes of the inputs, no value is read, and no
boolean mask is used as an index, so that each of them can be traced.  The last
axis is the one operated on; leading axes are batches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quotakernels._array import Array, Namespace, cast, constant, device, wide_float
from quotakernels.ops._table import Groups, Rows

__all__ = [
    "bisect",
    "clip",
    "column",
    "count",
    "exclusive",
    "filled_first",
    "flagged_first",
    "from_order_key",
    "head",
    "lowest_key",
    "merged",
    "near_terms",
    "order_key",
    "piecewise",
    "prefix_sum",
    "rows_at",
    "running_max",
    "scaled",
    "segment_max",
    "segment_sum",
    "shifted",
    "sort_coded",
    "sum_rows",
    "table_rows",
    "tie_groups",
    "total",
    "widened",
    "without_empty_rows",
    "written",
]


def order_key(xp: Namespace, scores: Array) -> Array:
    """Numbers that compare as the exact values of the scores do, on hardware that flushes too.

    Without access to the bits a float is its own key.
    """
    if xp.isdtype(scores.dtype, "bool"):
        return xp.astype(scores, xp.uint8)
    return scores


def from_order_key(xp: Namespace, key: Array, dtype: Any) -> Array:
    """The scores to which `order_key` gave these keys (0.0 for -0.0)."""
    return cast(xp, key, dtype)


def widened(xp: Namespace, scores: Array) -> Array:
    """The scores as the widest floats, none of them changed but integers beyond 2**53."""
    return cast(xp, scores, wide_float(xp, device(scores)))


def scaled(xp: Namespace, x: Array, power: Array) -> Array:
    """Floats times powers of two, of one float type; subnormal ones are not taken for 0."""
    return x * power


def lowest_key(xp: Namespace, key: Array) -> Array:
    """A key that no score undercuts; examples that do not count are given it."""
    if xp.isdtype(key.dtype, "real floating"):
        return constant(xp, -xp.inf, key.dtype, device(key))
    return constant(xp, xp.iinfo(key.dtype).min, key.dtype, device(key))


def sort_coded(
    xp: Namespace, key: Array, code: Array, weights: Array | None, stable: bool
) -> tuple[Array, Array, Array | None]:
    """Sort by key, largest first; a small integer code and optional weights come along.

    Only `stable` promises an order among equal keys: that of the input.
    """
    order = xp.argsort(key, axis=-1, descending=True, stable=True)
    key, code = (xp.take_along_axis(x, order, axis=-1) for x in (key, code))
    if weights is not None:
        weights = xp.take_along_axis(weights, order, axis=-1)
    return key, code, weights


def shifted(xp: Namespace, x: Array, by: int, fill: Any) -> Array:
    """`x` moved `by` places towards the end, with `fill` moving in."""
    pad = xp.full((*x.shape[:-1], by), fill, dtype=x.dtype, device=device(x))
    return xp.concat([pad, x[..., :-by]], axis=-1)


def running_max(xp: Namespace, x: Array) -> Array:
    """The largest value up to each position, of non-negative numbers."""
    by = 1
    while by < x.shape[-1]:
        x = xp.maximum(x, shifted(xp, x, by, 0))
        by *= 2
    return x


def segment_sum(xp: Namespace, x: Array, first: Array) -> Array:
    """Sums from the first element of each segment up to each position.

    No sum crosses a segment, so that one of huge weights leaves no trace in the next.
    """
    return _segment_scan(xp, x, first, lambda before, here: before + here)


def segment_max(xp: Namespace, x: Array, first: Array) -> Array:
    """The largest of the non-negative numbers from the first of each segment to each position."""
    return _segment_scan(xp, x, first, xp.maximum)


def _segment_scan(
    xp: Namespace, x: Array, first: Array, combine: Callable[[Array, Array], Array]
) -> Array:
    by = 1
    while by < x.shape[-1]:
        x = xp.where(first, x, combine(shifted(xp, x, by, 0), x))
        first = first | shifted(xp, first, by, True)
        by *= 2
    return x


def total(xp: Namespace, x: Array) -> Array:
    """Sum over the last axis by a balanced tree: the rounding error grows with log n only."""
    while x.shape[-1] > 1:
        half = (x.shape[-1] + 1) // 2
        rest = x[..., half:]
        if rest.shape[-1] < half:
            pad = xp.zeros((*x.shape[:-1], 1), dtype=x.dtype, device=device(x))
            rest = xp.concat([rest, pad], axis=-1)
        x = x[..., :half] + rest
    return xp.sum(x, axis=-1, dtype=x.dtype)


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
    return xp.where(rare, if_rare(*arguments), otherwise(*arguments))


def clip(xp: Namespace, x: Array, low: float | None = None, high: float | None = None) -> Array:
    """Each number, or the bound that it is beyond."""
    return xp.clip(x, low, high)


def near_terms(xp: Namespace, before: Array, number: Array, most: int) -> tuple[Array, Array]:
    """Σ 1/(S+k) and Σ k/(S+k) for k = 1..number, which is `most` at most."""
    ones, ramps = xp.zeros_like(before), xp.zeros_like(before)
    for k in range(1, most + 1):
        one = cast(xp, k <= number, before.dtype) / (before + k)
        ones, ramps = ones + one, ramps + k * one
    return ones, ramps


def prefix_sum(xp: Namespace, x: Array) -> Array:
    """Sums up to and with each position, in the type of the numbers."""
    return xp.cumulative_sum(x, axis=-1, dtype=x.dtype)


def count(xp: Namespace, flags: Array) -> Array:
    """The number of raised flags, with the last axis kept at length 1."""
    return xp.count_nonzero(flags, axis=-1, keepdims=True)


def exclusive(xp: Namespace, x: Array) -> Array:
    """Sums of what stands before each position."""
    from quotakernels import ops

    return shifted(xp, ops.prefix_sum(xp, x), 1, 0) if x.shape[-1] else x


def tie_groups(
    xp: Namespace,
    scores: Array,
    labels: Array,
    weights: Array | None,
    valid: Array | None,
    given: bool,
) -> Groups:
    """The tie groups of the scores, best first, in as many rows as there are examples.

    A group stands in the row of its last example; all other rows are empty.  With `given`
    every example is a group of its own, and ties keep the order of the input.
    """
    from quotakernels import ops

    key = ops.order_key(xp, scores)
    code = cast(xp, labels, xp.int8)
    if valid is not None:
        key = xp.where(valid, key, lowest_key(xp, key))
        code = xp.where(valid, code + 2, xp.zeros_like(code))
        weights = None if weights is None else xp.where(valid, weights, xp.zeros_like(weights))
    key, code, weights = ops.sort_coded(xp, key, code, weights, given)
    integer = xp.int32 if key.shape[-1] < 2**31 else xp.int64
    positive = cast(xp, code & 1, integer)
    counts = xp.ones_like(positive) if valid is None else cast(xp, code >> 1, integer)
    thresholds = ops.from_order_key(xp, key, scores.dtype)
    examples = Groups(thresholds, counts, positive, *_masses(xp, positive, weights))
    return examples if given or key.shape[-1] == 0 else _merge_equal(xp, key, examples)


def _masses(
    xp: Namespace, positive: Array, weights: Array | None
) -> tuple[Array | None, Array | None]:
    """The weights of positive and of negative examples, each 0 where the other is not."""
    if weights is None:
        return None, None
    nothing = xp.zeros_like(weights)
    return xp.where(positive > 0, weights, nothing), xp.where(positive > 0, nothing, weights)


def _merge_equal(xp: Namespace, key: Array, examples: Groups) -> Groups:
    """Sorted examples as tie groups, each in the row of its last example."""
    from quotakernels import ops

    differs = key[..., 1:] != key[..., :-1]
    edge = xp.ones((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    return ops.merged(xp, examples, xp.concat([differs, edge], axis=-1))


def merged(xp: Namespace, table: Groups, last: Array) -> Groups:
    """Each run of rows as one, in the row that is its `last`; all other rows are empty.

    After the final `last` there are empty rows only.
    """
    from quotakernels import ops

    first = shifted(xp, last, 1, True)

    def count(x: Array) -> Array:
        """Whole numbers: what the running sum at a run's end exceeds the one before by."""
        sums = xp.where(last, ops.prefix_sum(xp, x), xp.zeros_like(x))
        ends = ops.running_max(xp, sums)
        return ends - shifted(xp, ends, 1, 0)

    def mass(x: Array | None) -> Array | None:
        if x is None:
            return None
        return xp.where(last, ops.segment_sum(xp, x, first), xp.zeros_like(x))

    return Groups(
        table.thresholds,
        count(table.counts),
        count(table.positives),
        mass(table.positive_weights),
        mass(table.negative_weights),
    )


def column(xp: Namespace, table: Groups, name: str) -> Array:
    """A column of `Rows` that needs no running sum, as floats."""
    values = table.counts if name == "items" else getattr(table, name)
    return cast(xp, values, wide_float(xp, device(table.counts)))


def table_rows(xp: Namespace, table: Groups) -> Rows:
    """Every row of the table with what stands before it."""
    items, mass, positive, negative = (
        column(xp, table, name) for name in ("items", "mass", "positive", "negative")
    )
    mass_before = exclusive(xp, mass)
    items_before = exclusive(xp, items) if table.weighted else mass_before
    positive_before = exclusive(xp, positive)
    return Rows(items_before, mass_before, positive_before, items, mass, positive, negative)


def sum_rows(
    xp: Namespace,
    table: Groups,
    terms: Callable[..., tuple[Array, ...]],
    columns: tuple[str, ...],
) -> tuple[Array, ...]:
    """Sums over the rows of each array that ``terms(*columns)`` returns.

    Columns are named as in `Rows`.
    """
    from quotakernels import ops

    rows = table_rows(xp, table)
    return tuple(ops.total(xp, x) for x in terms(*(getattr(rows, name) for name in columns)))


def bisect(xp: Namespace, ends: Array, wanted: Array, beyond: bool = False) -> Array:
    """Index of the first of the non-decreasing `ends` that reaches each wanted value, or that
    lies `beyond` it.
    """
    length = ends.shape[-1]
    low = xp.zeros(wanted.shape, dtype=xp.int64, device=device(ends))
    step = 1 << max(length - 1, 0).bit_length()
    while step:
        probe = low + step
        inside = probe <= length
        index = xp.where(inside, probe - 1, xp.zeros_like(probe))
        end = xp.take_along_axis(ends, index, axis=-1)
        below = end <= wanted if beyond else end < wanted
        low = xp.where(inside & below, probe, low)
        step //= 2
    return low


def flagged_first(xp: Namespace, flags: Array) -> Array:
    """Places of the raised flags, in order; then that of the last of them again and again."""
    from quotakernels import ops

    upto = ops.prefix_sum(xp, cast(xp, flags, xp.int64))
    size = flags.shape[-1]
    wanted = xp.arange(1, size + 1, dtype=xp.int64, device=device(flags))
    index = bisect(xp, upto, xp.minimum(xp.broadcast_to(wanted, flags.shape), upto[..., -1:]))
    return xp.clip(index, max=max(size - 1, 0))


def written(xp: Namespace, target: Array, source: Array, start: Array, length: Array) -> Array:
    """`target` with the first `length` of the `source` written to it, from the place `start` on.

    What would be written beyond its end is lost.
    """
    index = xp.arange(target.shape[-1], dtype=xp.int64, device=device(target)) - start
    inside = xp.broadcast_to((index >= 0) & (index < length), target.shape)
    index = xp.clip(index, min=0, max=source.shape[-1] - 1)
    index = xp.broadcast_to(index, target.shape)
    return xp.where(inside, xp.take_along_axis(source, index, axis=-1), target)


def rows_at(xp: Namespace, table: Groups, wanted: Array) -> tuple[Array, Rows]:
    """The row that owns each wanted mass, shape (..., K): the first whose end reaches it.

    A mass beyond the end is given the last row that is not empty.
    """
    rows = table_rows(xp, table)
    ends = rows.mass_before + rows.mass
    index = bisect(xp, ends, xp.minimum(wanted, ends[..., -1:]))
    index = xp.clip(index, max=rows.mass.shape[-1] - 1)
    return index, Rows(*(xp.take_along_axis(x, index, axis=-1) for x in rows))


def filled_first(xp: Namespace, table: Groups) -> Groups:
    """The rows that hold examples, in order, and after them empty ones, where shapes are fixed."""
    from quotakernels import ops

    filled = table.counts > 0
    index = ops.flagged_first(xp, filled)
    place = xp.arange(index.shape[-1], dtype=xp.int64, device=device(index))
    there = place < count(xp, filled)
    taken = table.map(lambda x: xp.take_along_axis(x, index, axis=-1))
    zeroed = taken.map(lambda x: xp.where(there, x, xp.zeros_like(x)))
    return zeroed._replace(thresholds=taken.thresholds)


def without_empty_rows(xp: Namespace, table: Groups) -> Groups:
    """The table without rows that hold no example, where shapes may depend on values."""
    return table


def head(xp: Namespace, table: Groups, wanted: Array) -> Groups:
    """The rows down to the largest wanted mass, and more; all rows where shapes are fixed."""
    return table
