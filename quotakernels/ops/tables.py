"""Tables of tie groups: how they are made of scores, and how their rows are read.

Without native forms all shapes are fixed by the shapes of the inputs, no value is read, and no
boolean mask is used as an index, so that each function can be traced.
"""

from __future__ import annotations

from typing import Any

from quotakernels._array import Across, Array, Namespace, cast, device, of_kind, wide_float
from quotakernels.ops import native
from quotakernels.ops._lengths import is_below
from quotakernels.ops._table import (
    Around,
    ByClass,
    Columns,
    Cumulative,
    Groups,
    InPlace,
    Layout,
    Rows,
    to_sum,
)
from quotakernels.ops.keys import is_float, key_bits, sort_coded
from quotakernels.ops.segments import rows_of_groups_at, segments_of, summed_rows_of_groups_at


def tie_groups(
    xp: Namespace,
    scores: Array,
    labels: Array,
    weights: Array | None,
    valid: Array | None,
    given: bool,
    columns: dict[str, Array] | None = None,
) -> Groups:
    """The tie groups of the scores, best first, in as many rows as there are examples.

    A group stands in the row of its last example; all other rows are empty.  With `given`
    every example is a group of its own, and ties keep the order of the input.  Further `columns`
    are 0 where an example does not count.  One list of scores in the host's memory gives a table
    without empty rows.
    """
    columns = columns or {}
    library, one_list = native.library(xp), scores.ndim == 1
    if library == "numpy" and one_list:
        return native.numpy_.tie_groups(scores, labels, weights, valid, given, columns)
    arrays = (scores, labels, weights, valid, *columns.values())
    if library == "torch" and one_list and native.all_readable(*arrays):
        return native.torch_.tie_groups(scores, labels, weights, valid, given, columns)
    if not columns and not given and on_device(xp, *arrays):
        return native.torch_.device_groups(*arrays)._replace(layout=layout_of(xp, scores, valid))
    return _sorted_groups(xp, scores, labels, weights, valid, given, columns)


def segmented_groups(
    xp: Namespace,
    examples: tuple[Array, Array, Array | None, Array | None],
    codes: Array,
    ids: Array,
) -> Groups | None:
    """The tie groups of groups of examples, where that takes fewer steps than joint keys."""
    arrays = (*examples, codes)
    if native.library(xp) == "numpy":
        found = native.numpy_.segmented_groups(*arrays, ids.shape[-1])
        return found and found[0]._replace(segments=segments_of(xp, found[1], ids, behind=False))
    if native.all_readable(*arrays) or not on_device(xp, *arrays):
        return None
    valid = examples[3]
    table, codes = native.torch_.segmented_groups(*arrays, ids.shape[-1])
    table = table._replace(layout=layout_of(xp, codes, valid))  # as joint keys have it
    segments = segments_of(xp, codes, ids, behind=valid is not None)
    return table._replace(segments=segments)


def on_device(xp: Namespace, scores: Array, *arrays: Array | None) -> bool:
    """Whether they are on a device of PyTorch, which sorts examples faster than words."""
    some = native.library(xp) == "torch" and 0 not in scores.shape
    return some and not native.torch_.are_mapped(scores, *arrays)


def _sorted_groups(
    xp: Namespace,
    scores: Array,
    labels: Array,
    weights: Array | None,
    valid: Array | None,
    given: bool,
    columns: dict[str, Array],
) -> Groups:
    """See `tie_groups`, of any library."""
    key = xp.order_key(scores)
    code = cast(xp, labels, xp.int8)
    if valid is not None:
        key = xp.where(valid, key, xp.lowest_key(key))
        code = xp.where(valid, code + 2, xp.zeros_like(code))
        weights = None if weights is None else xp.where(valid, weights, xp.zeros_like(weights))
    payload = (*(() if weights is None else (weights,)), *columns.values())
    key, code, *found = sort_coded(xp, key, code, payload, given)
    weights = None if weights is None else found.pop(0)
    columns = dict(zip(columns, found, strict=True))
    integer = xp.int32 if is_below(key.shape[-1], 2**31) else xp.int64
    positive = cast(xp, code & 1, integer)
    counts = xp.ones_like(positive) if valid is None else cast(xp, code >> 1, integer)
    thresholds = xp.from_order_key(key, scores.dtype, None if valid is None else counts > 0)
    mass = weights
    if mass is None and valid is not None and "treatment" in columns:
        mass = cast(xp, counts, columns["treatment"].dtype)  # what does not count is no control
    masses: Any = (None, None) if weights is None else _by_class(xp, positive > 0, weights)
    sums = columns_by_class(xp, positive > 0, mass, columns)
    examples = Groups(thresholds, counts, positive, *masses)._replace(columns=sums)
    groups = examples if given or key.shape[-1] == 0 else _merge_equal(xp, key, examples)
    return groups._replace(layout=layout_of(xp, scores, valid, not is_float(xp, key)))


def layout_of(xp: Namespace, scores: Array, valid: Array | None, has_bits: bool = True) -> Layout:
    """In place, unless a score may have the key of examples that do not count."""
    apart = valid is None or (has_bits and of_kind(xp, scores.dtype, "real floating"))
    return InPlace() if apart and scores.shape[-1] and is_below(scores.shape[-1], 2**31) else ()


def columns_by_class(
    xp: Namespace, positive: Array, mass: Array | None, columns: dict[str, Array]
) -> Columns:
    """The columns of a table of which each example is a row by itself."""
    return {name: _by_class(xp, positive, x) for name, x in to_sum(columns, mass).items()}


def _by_class(xp: Namespace, positive: Array, x: Array) -> ByClass:
    """What positives have and what negatives have, each 0 where the other is not."""
    nothing = xp.zeros_like(x)
    return ByClass(xp.where(positive, x, nothing), xp.where(positive, nothing, x))


def _merge_equal(xp: Namespace, key: Array, examples: Groups) -> Groups:
    """Sorted examples as tie groups, each in the row of its last example."""
    edge = xp.ones((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    return merged(xp, examples, xp.concat([key[..., 1:] != key[..., :-1], edge], axis=-1))


def merged(xp: Namespace, table: Groups, last: Array) -> Groups:
    """Each run of rows as one, in the row that is its `last`; all other rows are empty.

    After the final `last` there are empty rows only.
    """
    library = native.library(xp)
    if library == "numpy" and last.ndim == 1 and last.any():
        return native.numpy_.merged(table, last)
    if library == "torch" and last.ndim == 1 and _readable(last, table) and last.any():
        return native.torch_.merged(table, last)  # of one row, vmap may go over `last` alone
    first = xp.shift_right(last, 1, True)

    def count(x: Array) -> Array:
        """Whole numbers: what the running sum at a run's end exceeds the one before by."""
        sums = xp.where(last, xp.prefix_sum(x), xp.zeros_like(x))
        ends = xp.running_max(sums)
        return ends - xp.shift_right(ends, 1, 0)

    def mass(x: Array | None) -> Array | None:
        return None if x is None else xp.where(last, xp.segment_sum(x, first), xp.zeros_like(x))

    if on_device(xp, last, *table.arrays()):
        return native.torch_.summed_runs(table, last)
    if library == "jax" and table.counts.dtype == xp.int32:
        whole = native.jax_.counts_of_runs(table.counts, table.positives, last)
    else:
        whole = count(table.counts), count(table.positives)
    masses = mass(table.positive_weights), mass(table.negative_weights)
    sums = table.sums()
    if sums:  # all together: on a device that is one scan
        found: Any = mass(xp.stack(sums, axis=0))
        sums = [found[k, ...] for k in range(found.shape[0])]
    return table.with_sums(whole, masses, sums)


def _readable(last: Array, table: Groups) -> bool:
    return native.all_readable(last, *table.arrays())


def counts_around(
    xp: Namespace,
    scores: Array,
    labels: Array,
    valid: Array | None,
    place: Array | int,
    across: Across | None = None,
) -> tuple[Array, Array]:
    """The score at a place, best first, shape (..., 1), and numbers of examples, shape (..., 5).

    Those above it and the positives among them, those down to it and theirs, and all positives;
    where only some are `valid`, how many in a sixth.  They are of all shards together.
    """
    key = xp.comparable(scores) if across is None else xp.order_key(scores)
    if valid is not None:
        key = xp.where(valid, key, xp.lowest_key(key))
    there = xp.kth_largest(key, place, across)
    upto, above = key >= there, key > there
    if valid is not None:
        upto, above, labels = upto & valid, above & valid, labels & valid
    parts = [above, above & labels, upto, upto & labels, labels]
    found = xp.counts(parts if valid is None else [*parts, valid])
    return xp.from_order_key(there, scores.dtype), found if across is None else across(found)


def around(xp: Namespace, scores: Array, labels: Array, masses: list[float]) -> Around | None:
    """Where each mass ends in one list of counted scores, of NumPy; None of other libraries."""
    return native.numpy_.around(scores, labels, masses) if native.library(xp) == "numpy" else None


def table_rows(xp: Namespace, table: Groups) -> Rows:
    """Every row of the table with what stands before it."""
    wide = wide_float(xp, device(table.counts))
    items, mass, positive = (cast(xp, x, wide) for x in (table.counts, table.mass, table.positive))
    mass_before = xp.exclusive(mass)
    items_before = xp.exclusive(items) if table.weighted else mass_before
    positive_before = xp.exclusive(positive)
    return Rows(items_before, mass_before, positive_before, items, mass, positive)


def rows_at(
    xp: Namespace, table: Groups | Around | Cumulative, wanted: Array
) -> tuple[Array, Rows]:
    """The row that owns each wanted mass, shape (..., K): the first whose end reaches it.

    A mass beyond the end is given the last row that is not empty.
    """
    if isinstance(table, Around):
        return xp.zeros(wanted.shape, dtype=xp.int64, device=device(wanted)), table.row
    if isinstance(table, Cumulative):
        return _summed_rows_at(xp, table, wanted)
    if table.segments:
        return rows_of_groups_at(xp, table, wanted)
    if native.library(xp) == "numpy" and table.counts.ndim == 1:
        return native.numpy_.rows_at(table, wanted)
    if not table.weighted:
        return _counted_rows_at(xp, table, wanted)
    rows = table_rows(xp, table)
    ends = rows.mass_before + rows.mass
    place = xp.arange(ends.shape[-1], dtype=xp.int64, device=device(ends))
    last = xp.max(xp.where(rows.mass > 0, place, xp.zeros_like(place)), axis=-1, keepdims=True)
    # sums of a device that adds in parallel may differ behind the last row, though nothing is added
    index = xp.minimum(_reached(xp, ends, wanted), last)
    return index, Rows(*(xp.take_last_axis(x, index) for x in rows))


def part_of_row_at(
    xp: Namespace, table: Groups | Around | Cumulative, wanted: Array
) -> tuple[Array | None, Rows, Array, Array]:
    """The row that owns each wanted mass, a number to divide by what it has, and what is wanted
    of it.

    Of counts each row has something, and no rounded sum goes beyond it.
    """
    if isinstance(table, Cumulative):
        index, row = rows_at(xp, table, wanted)
        return index, row, row.mass, wanted - row.mass_before
    if isinstance(table, Around):
        index, row, mass = None, table.row, table.row.mass
    else:
        index, row = rows_at(xp, head(xp, table, wanted), wanted)
        mass = xp.where(row.mass > 0, row.mass, xp.ones_like(row.mass))
    return index, row, mass, xp.minimum(wanted - row.mass_before, row.mass)


def _reached(xp: Namespace, ends: Array, wanted: Array) -> Array:
    """The first row of which the end reaches each wanted mass, or the last row that is filled."""
    wanted = xp.minimum(wanted, cast(xp, ends[..., -1:], wanted.dtype))
    if of_kind(xp, ends.dtype, "integral"):  # what a NaN becomes does not matter
        wanted = cast(xp, xp.ceil(wanted), ends.dtype)
    return xp.clip(xp.bisect(ends, wanted), max=ends.shape[-1] - 1)


def _counted_rows_at(xp: Namespace, table: Groups, wanted: Array) -> tuple[Array, Rows]:
    """Of counts, sums before a row are those up to it without its own: only rows found are read."""
    wide = wide_float(xp, device(table.counts))
    columns = (table.counts, table.positives)
    few = table.in_place
    upto = [xp.running_count(x) if few else xp.prefix_sum(x, wide, whole=True) for x in columns]
    index = _reached(xp, upto[0], wanted)
    mass, positive, end, found = (
        cast(xp, xp.take_last_axis(x, index), wide) for x in (*columns, *upto)
    )
    before, positive_before = end - mass, found - positive
    return index, Rows(before, before, positive_before, mass, mass, positive)


def _summed_rows_at(xp: Namespace, table: Cumulative, wanted: Array) -> tuple[Array, Rows]:
    """Of cumulative counts, which are whole numbers: of no mass the row of the first example."""
    if table.segments:
        return summed_rows_of_groups_at(table, wanted)
    place = xp.clip(cast(xp, xp.ceil(wanted), table.items.dtype), min=1)
    place = xp.minimum(place, table.items[..., -1:])
    index, before, upto, positive_before, positive_upto = ends_of_row_at(xp, table, place)
    mass, positive = upto - before, positive_upto - positive_before
    return index, Rows(before, before, positive_before, mass, mass, positive)


def ends_of_row_at(xp: Namespace, table: Groups | Cumulative, place: Array) -> tuple[Array, ...]:
    """The ends of the row that owns each place, counted from 1 on, shape (..., K), as floats.

    The numbers of examples before it and down to its end, and of positive ones.  No place is
    behind the last example.  In each list, or group of examples, one place is asked for.
    """
    wide = wide_float(xp, device(place))
    if table.segments or not (isinstance(table, Cumulative) or table.in_place):
        index, row = rows_at(xp, table, cast(xp, place, wide))
        before, found = row.mass_before, row.positive_before
        return index, before, before + row.mass, found, found + row.positive
    if not isinstance(table, Cumulative):
        index = _owner_in_place(xp, table.counts, place)
        upto = xp.running_count(table.positives)
        items, here, positive = (
            cast(xp, xp.take_last_axis(x, index), wide)
            for x in (table.counts, table.positives, upto)
        )
        end = cast(xp, index, wide) + 1
        return index, end - items, end, positive - here, positive
    index = xp.bisect(table.items[..., 1:], place)
    ends = xp.concat([index, index + 1], axis=-1)
    sums = (cast(xp, xp.take_last_axis(x, ends), wide) for x in (table.items, table.found))
    size = index.shape[-1]
    return (index, *(part for x in sums for part in (x[..., :size], x[..., size:])))


def _owner_in_place(xp: Namespace, counts: Array, place: Array) -> Array:
    """The first row from a place on that is filled, or the last one; there are below 2**31."""
    if native.library(xp) == "torch":  # which searches in one step
        upto = xp.prefix_sum(counts, xp.int64)
        return xp.bisect(upto, xp.minimum(place, upto[..., -1:]))
    last = counts.shape[-1] - 1
    rows = xp.arange(last + 1, dtype=xp.int32, device=device(counts))
    reaching = (counts > 0) & (rows >= place - 1)
    row = xp.min(xp.where(reaching, rows, rows[-1:]), axis=-1, keepdims=True)
    return cast(xp, row, xp.int64)


def filled_first(xp: Namespace, table: Groups) -> Groups:
    """The rows that hold examples, in order, and after them empty ones, where shapes are fixed."""
    filled = table.counts > 0
    if native.library(xp, beyond=True) == "numpy" and filled.ndim == 1 and filled.any():
        return table if filled.all() else native.numpy_.without_empty_rows(table)
    index = xp.flagged_first(filled)
    place = xp.arange(index.shape[-1], dtype=xp.int64, device=device(index))
    there = place < xp.count(filled)
    chosen = table.map(lambda x: xp.take_last_axis(x, index))
    sums = chosen._replace(thresholds=chosen.counts)
    sums = sums.map(lambda x: xp.where(there, x, xp.zeros_like(x)))
    return sums._replace(thresholds=chosen.thresholds)


def without_empty_rows(xp: Namespace, table: Groups) -> Groups:
    """The table without rows that hold no example, where shapes may depend on values.

    At least one row stays.
    """
    if native.library(xp) == "numpy" and table.counts.ndim == 1:
        return native.numpy_.without_empty_rows(table)
    return table


def in_parts(xp: Namespace, table: Groups) -> list[Groups]:
    """The rows in parts that need little memory beside the table, where shapes may differ."""
    if native.library(xp) == "numpy" and table.counts.ndim == 1 and not table.segments:
        return native.numpy_.in_parts(table)
    return [table]


def head(xp: Namespace, table: Groups, wanted: Array) -> Groups:
    """The rows down to the largest wanted mass, and more; all rows where shapes are fixed."""
    if native.library(xp) == "numpy" and table.counts.ndim == 1 and not table.segments:
        return native.numpy_.head(table, wanted)
    return table


def cumulative_groups(
    xp: Namespace, scores: Array, labels: Array, valid: Array | None, by_positives: bool = False
) -> Cumulative | None:
    """The tie groups of counted examples by sums alone, where that takes fewer steps.

    For measures that are `by_positives`, neighbouring groups without positives may be one row.
    """
    arrays, library = (scores, labels, valid), native.library(xp)
    if by_positives and valid is None:
        if library == "numpy":
            return native.numpy_.merged_of_scores(scores, labels)
        if library == "torch" and native.all_readable(scores, labels):
            return native.torch_.merged_of_scores(scores, labels)
    if library != "torch" or scores.ndim != 1:
        return None
    if native.all_readable(*arrays) or native.torch_.are_mapped(*arrays):
        return None
    counted = native.torch_.cumulative_groups(*arrays)
    apart = isinstance(layout_of(xp, scores, valid), InPlace)
    return counted if apart else counted._replace(begins=())


def merged_groups(xp: Namespace, table: Groups) -> Cumulative | None:
    """The cumulative counts of known tie groups, where rows without positives are worth merging.

    That is one list of NumPy without weights.
    """
    return native.numpy_.merged_groups(table) if native.library(xp) == "numpy" else None


def counts_segments(
    xp: Namespace,
    scores: Array,
    labels: Array | None,
    valid: Array | None,
    codes: Array,
) -> bool:
    """Whether `cumulative_segments` serves: PyTorch, on a device, one list of what floats hold."""
    if labels is None or scores.ndim != 1:
        return False
    arrays = (scores, labels, valid, codes)
    exact = of_kind(xp, scores.dtype, "real floating") or key_bits(xp, scores.dtype) <= 32
    return exact and on_device(xp, *arrays) and not native.all_readable(*arrays)


def cumulative_segments(
    examples: tuple[Array, Array, Array | None],
    codes: Array,
    ids: Array | int,
    unfit: Array | None,
) -> Cumulative:
    """The tie groups of groups of counted examples, of a list that `counts_segments`.

    Labels may be `unfit`, scores NaN and codes those of no group, which the marks tell.
    """
    return native.torch_.cumulative_segments(*examples, codes, ids, unfit)
