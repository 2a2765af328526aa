"""Rankings of resamples: one sort serves all of them, each is another list of counts."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, cast, device, namespace
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.groups import GroupsOfExamples
from quotakernels.ranking import TiePolicy

NDArray = np.ndarray[Any, Any]
_IN_TURN = 8
"""So many numbers and fewer are summed one after the other by every sum of NumPy."""


class Sorted(NamedTuple):
    """Examples best first, and where rows of a ranking end among them.

    `order` holds their places among the examples as they came; `there` is 0 for those that do not
    count, and None where all do.
    """

    order: Array
    thresholds: Array
    labels: Array
    weights: Array | None
    there: Array | None
    last: Array
    gain: Array | None = None
    gain_rejected: Array | None = None
    cost: Array | None = None
    treatment: Array | None = None

    @property
    def amounts(self) -> ops.Amounts:
        """What there is of the gains, the costs and the treatments."""
        return ops.Amounts.given(self.gain, self.gain_rejected, self.cost, self.treatment)

    def map(self, function: Callable[[Array], Array]) -> Sorted:
        """The same with every column that it has put through the function."""
        return Sorted(*(None if x is None else function(x) for x in self))


class Keys(NamedTuple):
    """What becomes of thresholds that are scores and groups in one, and which groups are good."""

    combined: ops.Combined
    ids: Array
    good: Array | None

    def of_model(self, number: int) -> Keys:
        """Those of one of several lists of scores."""
        levels = self.combined.levels
        levels = levels.reshape(math.prod(levels.shape[:-1]), levels.shape[-1])[number]
        return self._replace(combined=self.combined._replace(levels=levels))


class Plan(NamedTuple):
    """What is drawn, and of what.

    ``counts(numbers)`` gives, for a range of resamples, how often each example is in them, shape
    (R, n).  Where their size `varies`, a quota may be more than there is, and is undefined then.
    Each of so many `units` is drawn whole; the `owner` of an example is the unit that it is in.
    Measured `by_row`, all tables have the same rows, since these show in the measure.  With `keys`
    tables are of groups of examples.
    """

    examples: Sorted
    counts: Callable[[range], Array]
    ties: TiePolicy
    varies: bool
    units: int
    owner: Array | None
    by_row: bool = False
    keys: Keys | None = None


def keys_of(examples: Examples, groups: GroupsOfExamples, good: Array | None) -> Keys:
    """Scores and groups in one, whose order puts the rows of each group together."""
    xp, codes = namespace(examples.scores), groups.codes
    return Keys(ops.combined(xp, examples.scores, codes, examples.valid), groups.ids, good)


def in_order(examples: Examples, keys: Keys | None = None) -> Sorted:
    """Checked examples, sorted once; those that do not count come last."""
    xp = namespace(examples.scores)
    scores, labels, weights, valid, *amounts = examples
    key = ops.order_key(xp, scores)
    if keys is not None:
        key = scores = keys.combined.scores
    elif valid is not None:
        lowest = xp.min(key, axis=-1, keepdims=True)
        key = xp.where(valid, key, lowest)
    labels = cast(xp, labels, xp.int64)
    order = xp.argsort(labels, axis=-1, stable=True)  # among ties not as they came
    falling = xp.take_along_axis(key, order, axis=-1)
    falling = xp.argsort(falling, axis=-1, descending=True, stable=True)
    order = xp.take_along_axis(order, falling, axis=-1)
    key, scores, labels = (xp.take_along_axis(x, order, axis=-1) for x in (key, scores, labels))
    if valid is not None:
        valid = cast(xp, valid, xp.int64)
    weights, valid, *amounts = (
        None if x is None else xp.take_along_axis(x, order, axis=-1)
        for x in (weights, valid, *amounts)
    )
    edge = xp.ones((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    last = xp.concat([key[..., 1:] != key[..., :-1], edge], axis=-1)
    return Sorted(order, scores, labels, weights, valid, last, *amounts)


def by_group(table: ops.Groups, keys: Keys | None) -> ops.Groups:
    """The table of groups of examples, if there are any."""
    if keys is None:
        return table
    xp = namespace(table.counts)
    combined, ids, good = keys
    batch = table.thresholds.shape[:-1]
    levels = xp.broadcast_to(combined.levels, (*batch, combined.levels.shape[-1]))
    table = ops.parted(xp, table, combined._replace(levels=levels), ids)
    if good is None:
        return table
    good = xp.broadcast_to(good, (*batch, *good.shape[-2:]))
    return table._replace(segments=table.segments._replace(good=good))


def resampled(examples: Sorted, counts: Array, *, ties: TiePolicy) -> ops.Groups:
    """The tables of resamples, shape (R, ..., n), in which examples are so often: shape (R, n)."""
    xp = namespace(counts)
    shape = (counts.shape[0], *examples.order.shape)
    between = (1,) * (len(shape) - 2)
    counts = xp.reshape(counts, (shape[0], *between, shape[-1]))
    examples = examples.map(lambda x: xp.broadcast_to(x, shape))
    counts = xp.take_along_axis(xp.broadcast_to(counts, shape), examples.order, axis=-1)
    return ops.split_ties(xp, ops.merged(xp, counted(examples, counts), examples.last), ties)


def counted(examples: Sorted, counts: Array) -> ops.Groups:
    """Each example as a row of a table, so often as it is there."""
    counts = counts if examples.there is None else counts * examples.there
    rows = ops.Groups(examples.thresholds, counts, counts * examples.labels, None, None)
    return rows._replace(**_sums_of(examples, counts))


def _sums_of(examples: Sorted, counts: Array) -> dict[str, Any]:
    """The columns of a table that are floats, by name: masses and amounts, where there are any."""
    xp = namespace(counts)
    weights, amounts, positive = examples.weights, examples.amounts, examples.labels > 0
    floats = amounts.columns() if weights is None else (weights,)
    if not floats:
        return {}
    mass, found = cast(xp, counts, floats[0].dtype), {}
    if weights is not None:
        mass = mass * weights
        nothing = xp.zeros_like(mass)
        found["positive_weights"] = xp.where(positive, mass, nothing)
        found["negative_weights"] = xp.where(positive, nothing, mass)
    return found | ops.amount_columns(xp, positive, mass, amounts)


class _Spans(NamedTuple):
    """Rows of a table among the examples of one model, best first; a row's positives come last.

    `order` is None where the examples already are in that order, and `row`, of which row each
    example is, where sums by it are those by spans.  Where `merging`, rows without positives become
    one with their neighbours.
    """

    merging: bool
    examples: Sorted
    order: NDArray | None
    row: NDArray | None
    start: NDArray
    positive: NDArray
    stop: NDArray

    def sums(self, x: NDArray) -> NDArray:
        """The sum of each row, shape (..., G)."""
        if len(self.start) == x.shape[-1]:
            return x
        if self.row is None:
            return np.asarray(np.add.reduceat(x, self.start, axis=-1))
        rows = [
            np.bincount(self.row, each, len(self.start)) for each in x.reshape(-1, len(self.row))
        ]
        return np.reshape(rows, (*x.shape[:-1], len(self.start)))


def host_tables(plan: Plan, merging: bool) -> Iterator[Callable[[NDArray], ops.Groups]]:
    """For each model the function that makes tables of the counts of resamples, shape (..., n)."""
    length = plan.examples.order.shape[-1]
    models = plan.examples.map(lambda x: x.reshape(-1, length))
    for number in range(models.order.shape[0]):
        spans = _spans(models.map(operator.itemgetter(number)), merging)
        keys = None if plan.keys is None else plan.keys.of_model(number)
        yield functools.partial(_host_table, spans, plan.ties, keys)


def _spans(examples: Sorted, merging: bool) -> _Spans:
    ends = np.flatnonzero(examples.last)
    starts = np.append(0, ends[:-1] + 1)
    positives = np.add.reduceat(examples.labels, starts)
    merging = merging and examples.weights is None and examples.amounts.none()
    if merging:
        ends = ends[_last_of_runs(positives)]
        starts = np.append(0, ends[:-1] + 1)
        positives = np.add.reduceat(examples.labels, starts)
    rows = examples._replace(thresholds=examples.thresholds[ends])
    order = examples.order
    in_place = order[0] == 0 and bool((order[1:] > order[:-1]).all())
    order_or_none = None if in_place else order
    sizes = ends + 1 - starts
    row = np.repeat(np.arange(len(ends)), sizes) if sizes.max() <= _IN_TURN else None
    return _Spans(merging, rows, order_or_none, row, starts, ends + 1 - positives, ends + 1)


def _last_of_runs(positives: NDArray) -> NDArray:
    """The rows with positives, and of others that follow each other the last one."""
    found = positives > 0
    kept = np.empty_like(found)
    np.logical_or(found[1:], found[:-1], out=kept[:-1])
    kept[-1:] = True
    return np.flatnonzero(kept)


def _host_table(spans: _Spans, ties: TiePolicy, keys: Keys | None, counts: NDArray) -> ops.Groups:
    examples = spans.examples
    counts = counts if spans.order is None else counts.take(spans.order, axis=-1)
    counts = counts if examples.there is None else counts * examples.there
    table = _whole_table(spans, counts)
    for name, x in _sums_of(examples, counts).items():
        table = table._replace(**{name: x.map(spans.sums) if hasattr(x, "map") else spans.sums(x)})
    return by_group(ops.split_ties(namespace(table.counts), table, ties), keys)


def _whole_table(spans: _Spans, counts: NDArray) -> ops.Groups:
    """Examples and positives of each row, as differences of running sums."""
    most = counts.shape[-1] * int(counts.max())
    integer = np.int32 if most < 2**31 else np.int64
    upto = np.empty((*counts.shape[:-1], counts.shape[-1] + 1), dtype=integer)
    upto[..., 0] = 0
    counts.cumsum(axis=-1, out=upto[..., 1:])
    thresholds, ends = spans.examples.thresholds, upto.take(spans.stop, axis=-1)
    positives = ends - upto.take(spans.positive, axis=-1)
    if spans.merging and counts.ndim == 1:
        rows = _last_of_runs(positives)
        thresholds, ends, positives = thresholds[rows], ends[rows], positives[rows]
    items = ends.copy()
    items[..., 1:] -= ends[..., :-1]
    return ops.Groups(np.broadcast_to(thresholds, items.shape), items, positives, None, None)
