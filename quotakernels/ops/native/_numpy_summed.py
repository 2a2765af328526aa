"""Tables of examples that have weights, gains or costs, which are put in order and summed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quotakernels.ops._table import GAIN_SCALE, Amounts, Arms, Costs, Gains, Groups
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
    key: NDArray, labels: NDArray, weights: NDArray | None, amounts: Amounts
) -> Groups:
    """In the order of the input where keys are equal."""
    order = key.shape[0] - 1 - rising_order(key[::-1])[::-1]
    key, labels = key[order], labels[order]
    positives = labels.astype(count_type(key.shape[0]))
    table = Groups(key, np.ones_like(positives), positives, None, None)
    weights = None if weights is None else weights[order]
    if amounts.columns():
        every = Runs.starting(np.arange(key.shape[0]), key.shape[0])
        amounts = amounts.map(lambda x: x[order])
        table = table._replace(**_amounts_of_groups(every, labels, weights, amounts))
    if weights is None:
        return table
    nothing = weights.dtype.type(0)
    positive, negative = np.where(labels, weights, nothing), np.where(labels, nothing, weights)
    return table._replace(positive_weights=positive, negative_weights=negative)


def by_argsort(key: NDArray, labels: NDArray, weights: NDArray | None, amounts: Amounts) -> Groups:
    """In blocks that stay in the cache; there are no more groups than examples."""
    length, rows = key.shape[0], 0
    memory, examples = in_order(key, labels)
    table: list[NDArray] = []
    for own_key, own_labels, places in examples:
        own_weights = None if weights is None else weights.take(places)
        own = amounts.of([x.take(places) for x in amounts.columns()])
        block = _groups_in_order(own_key, own_labels, own_weights, own)
        if own_key.shape[0] == length:
            return block
        found = list(block.arrays())
        if not table:
            table = _columns([x.dtype for x in found], length, memory)
        behind = rows + found[0].shape[0]
        for column, x in zip(table, found, strict=True):
            column[rows:behind] = x
        rows = behind
    several = 2 * rows < length  # of which a copy takes less than the memory of all
    made = (x[:rows].copy() if several else x[:rows] for x in table)
    return block.map(lambda _: next(made))


def _columns(dtypes: list[Any], length: int, memory: NDArray) -> list[NDArray]:
    """Thresholds, counts, positives and sums; the last one has the memory that is left."""
    dtypes[1:3] = [count_type(length)] * 2
    return [*columns(length, *dtypes[:-1]), memory.view(dtypes[-1])]


def _groups_in_order(
    key: NDArray, labels: NDArray, weights: NDArray | None, amounts: Amounts
) -> Groups:
    """The table of examples that are in order; the weights are used up."""
    differs = np.ones(key.shape, dtype=bool)
    np.not_equal(key[1:], key[:-1], out=differs[1:])
    runs = Runs.starting(np.flatnonzero(differs), key.shape[0])
    positives = runs.sums(labels, runs.lengths.dtype)
    sums = _amounts_of_groups(runs, labels, weights, amounts)
    masses = (None, None) if weights is None else _by_class(runs, labels, weights)
    return Groups(key.take(runs.starts), runs.lengths, positives, *masses)._replace(**sums)


def _by_class(runs: Runs, labels: NDArray, amounts: NDArray) -> tuple[NDArray, NDArray]:
    """Sums over the positives and over the negatives of each group; the amounts are used up."""
    positive = np.empty_like(amounts)
    for block in blocks(labels.shape[0]):  # by bits, which takes a third of the time of a choice
        mask, bits = -labels[block].astype(np.int64), amounts[block].view(np.int64)
        np.bitwise_and(bits, mask, out=positive[block].view(np.int64))
        bits &= ~mask
    positive = runs.sums(positive)
    return positive, runs.sums(amounts)


def _amounts_of_groups(
    runs: Runs, labels: NDArray, weights: NDArray | None, amounts: Amounts
) -> dict[str, Any]:
    """The sums of examples in order; see `tables.amount_columns`, of which these are the sums."""
    found: dict[str, Any] = {}
    if amounts.gains:
        found["gains"] = _gains_of_groups(runs, labels, weights, amounts.gains)
    if (cost := amounts.cost) is not None:
        cost = cost if weights is None else cost * weights
        found["costs"] = Costs(*_by_class(runs, labels, cost))
    if (treated := amounts.treatment) is not None:
        both = (x if weights is None else x * weights for x in (treated, 1 - treated))
        found["arms"] = Arms(*(sums for x in both for sums in _by_class(runs, labels, x)))
    return found


def _gains_of_groups(
    runs: Runs, labels: NDArray, weights: NDArray | None, gains: tuple[NDArray, ...]
) -> Gains:
    """The sums of examples in order; see `tables.gain_columns`, of which these are the sums."""
    size = np.abs(gains[0])
    size *= GAIN_SCALE
    for gain in gains[1:]:
        size += GAIN_SCALE * np.abs(gain)
    if weights is not None:
        size *= weights
        gains = tuple(x * weights for x in gains)
    selected, *rejected = (_by_class(runs, labels, x) for x in gains)
    sizes = runs.sums(size)
    return Gains(*selected, sizes, *(x for pair in rejected for x in pair))
