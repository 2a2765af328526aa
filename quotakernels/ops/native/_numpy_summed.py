"""Tables of examples that have weights, gains or costs, which are put in order and summed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quotakernels.ops._table import ByClass, Columns, TieTable, to_sum
from quotakernels.ops.native._numpy_rows import blocks, columns
from quotakernels.ops.native._numpy_words import count_type, in_order, rising_order

NDArray = np.ndarray[Any, Any]


class Runs(NamedTuple):
    """Runs of rows that follow each other: where they start, and how long they are.

    Sums over single rows would take longer than over ten times as many in long runs.  So where few
    rows are in runs of several, the `long` ones, these are summed apart: `rows` are theirs, among
    which each starts at a place `within`.
    """

    starts: NDArray
    lengths: NDArray
    long: NDArray
    rows: NDArray | None
    within: NDArray

    @classmethod
    def starting(cls, starts: NDArray, behind: int) -> Runs:
        """Runs that fill the rows up to the one behind the last."""
        lengths = np.empty(starts.shape, dtype=count_type(behind))
        np.subtract(starts[1:], starts[:-1], out=lengths[:-1], casting="unsafe")
        lengths[-1] = behind - starts[-1]
        long = (lengths > 1).nonzero()[0]
        number = lengths[long].astype(np.int64)
        upto = number.cumsum()
        within, rows = upto - number, None
        if 4 * (behind - starts.shape[0] + long.shape[0]) <= behind:
            rows = np.repeat(starts[long] - within, number)
            rows += np.arange(rows.shape[0])
        return cls(starts, lengths, long, rows, within)

    def sums(self, x: NDArray, dtype: Any = None) -> NDArray:
        """The sum of each run."""
        if self.rows is None:
            return np.asarray(np.add.reduceat(x, self.starts, dtype=dtype))
        sums = x.take(self.starts).astype(dtype or x.dtype, copy=False)
        if self.long.shape[0]:
            sums[self.long] = np.add.reduceat(x.take(self.rows), self.within, dtype=dtype)
        return sums


def each_by_itself(
    key: NDArray, labels: NDArray, weights: NDArray | None, columns: dict[str, NDArray]
) -> TieTable:
    """In the order of the input where keys are equal."""
    order = key.shape[0] - 1 - rising_order(key[::-1])[::-1]
    key, labels = key[order], labels[order]
    positives = labels.astype(count_type(key.shape[0]))
    table = TieTable(key, np.ones_like(positives), positives, None, None)
    weights = None if weights is None else weights[order]
    if columns:
        every = Runs.starting(np.arange(key.shape[0]), key.shape[0])
        columns = {name: x[order] for name, x in columns.items()}
        table = table._replace(columns=_columns_of_groups(every, labels, weights, columns))
    if weights is None:
        return table
    nothing = weights.dtype.type(0)
    positive, negative = np.where(labels, weights, nothing), np.where(labels, nothing, weights)
    return table._replace(positive_weights=positive, negative_weights=negative)


def by_argsort(
    key: NDArray, labels: NDArray, weights: NDArray | None, columns: dict[str, NDArray]
) -> TieTable:
    """In blocks that stay in the cache; there are no more groups than examples."""
    length, rows = key.shape[0], 0
    memory, examples = in_order(key, labels)
    table: list[NDArray] = []
    for own_key, own_labels, places in examples:
        own_weights = None if weights is None else weights.take(places)
        own = {name: x.take(places) for name, x in columns.items()}
        block = _groups_in_order(own_key, own_labels, own_weights, own)
        if own_key.shape[0] == length:
            return block
        found = list(block.arrays())
        if not table:
            table = _memory([x.dtype for x in found], length, memory)
        behind = rows + found[0].shape[0]
        for column, x in zip(table, found, strict=True):
            column[rows:behind] = x
        rows = behind
    several = 2 * rows < length  # of which a copy takes less than the memory of all
    made = (x[:rows].copy() if several else x[:rows] for x in table)
    return block.map(lambda _: next(made))


def _memory(dtypes: list[Any], length: int, memory: NDArray) -> list[NDArray]:
    """Thresholds, counts, positives and sums; the last one has the memory that is left."""
    dtypes[1:3] = [count_type(length)] * 2
    return [*columns(length, *dtypes[:-1]), memory.view(dtypes[-1])]


def _groups_in_order(
    key: NDArray, labels: NDArray, weights: NDArray | None, columns: dict[str, NDArray]
) -> TieTable:
    """The table of examples that are in order; the weights are used up."""
    differs = np.ones(key.shape, dtype=bool)
    np.not_equal(key[1:], key[:-1], out=differs[1:])
    runs = Runs.starting(np.flatnonzero(differs), key.shape[0])
    positives = runs.sums(labels, runs.lengths.dtype)
    sums = _columns_of_groups(runs, labels, weights, columns)
    masses: Any = (None, None) if weights is None else _by_class(runs, labels, weights)
    table = TieTable(key.take(runs.starts), runs.lengths, positives, *masses)
    return table._replace(columns=sums)


def _by_class(runs: Runs, labels: NDArray, x: NDArray) -> ByClass:
    """Sums over the positives and over the negatives of each group; the numbers are used up."""
    positive = np.empty_like(x)
    for block in blocks(labels.shape[0]):  # by bits, which takes a third of the time of a choice
        mask, bits = -labels[block].astype(np.int64), x[block].view(np.int64)
        np.bitwise_and(bits, mask, out=positive[block].view(np.int64))
        bits &= ~mask
    positive = runs.sums(positive)
    return ByClass(positive, runs.sums(x))


def _columns_of_groups(
    runs: Runs, labels: NDArray, weights: NDArray | None, columns: dict[str, NDArray]
) -> Columns:
    """Further columns of the table of examples that are in order; they are used up."""
    return {name: _by_class(runs, labels, x) for name, x in to_sum(columns, weights).items()}
