"""Rankings of resamples: one sort serves all of them, each is another list of counts."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, compiled, computing, device, namespace
from quotakernels.inference._tree import trees_map
from quotakernels.measures._measure import merges_negatives
from quotakernels.ranking import Ranking, TiePolicy, ranking_of, split_ties
from quotakernels.validation import Examples

__all__ = ["Plan", "Sorted", "in_order", "resampled", "values_of"]

NDArray = np.ndarray[Any, Any]
WORKING_COPIES = 60
"""Arrays as long as the examples that a batch of resamples needs at once."""


class Sorted(NamedTuple):
    """Examples best first, and where rows of a ranking end among them.

    `order` holds their places among the examples as they came.
    """

    order: Array
    thresholds: Array
    labels: Array
    weights: Array | None
    last: Array


class Plan(NamedTuple):
    """What is drawn, and of what.

    ``counts(numbers)`` gives, for a range of resamples, how often each example is in them, shape
    (R, n).
    """

    examples: Sorted
    counts: Callable[[range], Array]
    ties: TiePolicy


def in_order(examples: Examples) -> Sorted:
    """Checked examples, sorted once; those that do not count come last."""
    xp = namespace(examples.scores)
    scores, labels, weights, valid = examples
    key = ops.order_key(xp, scores)
    if valid is not None:
        lowest = xp.min(key, axis=-1, keepdims=True)
        key = xp.where(valid, key, lowest)
    order = xp.argsort(key, axis=-1, descending=True, stable=True)
    key, scores = (xp.take_along_axis(x, order, axis=-1) for x in (key, scores))
    labels = xp.take_along_axis(cast(xp, labels, xp.int64), order, axis=-1)
    if weights is not None:
        weights = xp.take_along_axis(weights, order, axis=-1)
    edge = xp.ones((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    last = xp.concat([key[..., 1:] != key[..., :-1], edge], axis=-1)
    return Sorted(order, scores, labels, weights, last)


def values_of(
    measure: Callable[[Ranking], Any],
    plan: Plan,
    n_resamples: int,
    workers: int | None,
    max_memory: int,
    progress: Callable[[int, int], None],
) -> Any:
    """The measure of each resample, on a last axis that is added."""
    order = plan.examples.order
    xp = namespace(order)
    if isinstance(order, np.ndarray):
        run = functools.partial(_on_host, measure, plan, _threads(workers))
        size = 64
    else:
        run = functools.partial(_in_batch, measure, plan)
        size = max(1, max_memory // (8 * WORKING_COPIES * max(order.size, 1)))
    parts = []
    for start in range(0, n_resamples, size):
        numbers = range(start, min(start + size, n_resamples))
        parts.append(run(numbers))
        progress(numbers.stop, n_resamples)
    with computing(xp):
        return trees_map(lambda x: x[0] if len(x) == 1 else xp.concat(x, axis=-1), parts)


def _threads(workers: int | None) -> int:
    if workers is None:
        return min(os.cpu_count() or 1, 8)
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers must be a whole number from 1 on; got {workers!r}")
    return workers


# batches of resamples, on a device or in a program


def _in_batch(measure: Callable[[Ranking], Any], plan: Plan, numbers: range) -> Any:
    xp = namespace(plan.examples.order)
    with computing(xp):
        table = compiled(resampled, xp, ("ties",))(
            plan.examples, plan.counts(numbers), ties=plan.ties
        )
        ranking = ranking_of(table)
    values = measure(ranking)
    with computing(xp):
        return trees_map(lambda x: xp.moveaxis(x[0], 0, -1), [values])


def resampled(examples: Sorted, counts: Array, *, ties: TiePolicy) -> ops.Groups:
    """The tables of resamples, shape (R, ..., n), in which examples are so often: shape (R, n)."""
    xp = namespace(counts)
    shape = (counts.shape[0], *examples.order.shape)
    between = (1,) * (len(shape) - 2)
    counts = xp.reshape(counts, (shape[0], *between, shape[-1]))
    order, thresholds, labels, weights, last = (
        None if x is None else xp.broadcast_to(x, shape) for x in examples
    )
    counts = xp.take_along_axis(xp.broadcast_to(counts, shape), order, axis=-1)
    masses: tuple[Array | None, Array | None] = (None, None)
    if weights is not None:
        mass = counts * weights
        masses = (mass * labels, mass * (1 - labels))
    rows = ops.Groups(thresholds, counts, counts * labels, *masses)
    return split_ties(xp, ops.merged(xp, rows, last), ties)


# one resample after the other, in memory that NumPy reads


def _on_host(measure: Callable[[Ranking], Any], plan: Plan, workers: int, numbers: range) -> Any:
    """Each of the models by itself: a list is much faster than a batch of lists in NumPy."""
    models = list(_host_tables(plan, merges_negatives(measure)))
    shape = plan.examples.order.shape[:-1]

    def one(number: int) -> Any:
        counts = plan.counts(range(number, number + 1))[0]
        values = [measure(ranking_of(table(counts))) for table in models]
        return trees_map(lambda x: np.reshape(np.stack(x), (*shape, *np.shape(x[0]))), values)

    if workers == 1 or len(numbers) == 1:
        values = [one(number) for number in numbers]
    else:
        with ThreadPoolExecutor(workers) as pool:
            values = list(pool.map(one, numbers))
    return trees_map(lambda x: np.stack(x, axis=-1), values)


def _host_tables(plan: Plan, merging: bool) -> Iterator[Callable[[NDArray], ops.Groups]]:
    """For each model the function that makes a table of the counts of a resample."""
    length = plan.examples.order.shape[-1]
    columns = [None if x is None else x.reshape(-1, length) for x in plan.examples]
    for model in range(columns[0].shape[0]):
        examples = Sorted(*(None if x is None else x[model] for x in columns))
        yield functools.partial(_host_table, *_rows(examples, merging), plan.ties)


def _rows(examples: Sorted, merging: bool) -> tuple[Sorted, NDArray]:
    """The examples, with the threshold of each row in place of theirs, and where rows start."""
    ends = np.flatnonzero(examples.last)
    starts = np.append(0, ends[:-1] + 1)
    if merging and examples.weights is None:
        found = np.add.reduceat(examples.labels, starts) > 0
        kept = np.append(True, found[1:] | found[:-1])  # not a second row without positives
        starts, ends = starts[kept], ends[np.append(kept[1:], True)]
    in_place = bool((examples.order == np.arange(examples.order.shape[0])).all())
    order = None if in_place else examples.order
    return examples._replace(order=order, thresholds=examples.thresholds[ends]), starts


def _host_table(examples: Sorted, starts: NDArray, ties: TiePolicy, counts: NDArray) -> ops.Groups:
    if examples.order is not None:
        counts = counts[examples.order]
    columns = [counts, counts * examples.labels]
    if examples.weights is not None:
        mass = counts * examples.weights
        columns += [mass * examples.labels, mass * (1 - examples.labels)]
    sums = [np.add.reduceat(x, starts) for x in columns]
    masses = sums[2:] or [None, None]
    table = ops.Groups(examples.thresholds, *sums[:2], *masses)
    return split_ties(_HOST, table, ties)


_HOST: Namespace = namespace(np.empty(0))
