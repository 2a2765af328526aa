"""Rankings of resamples: one sort serves all of them, each is another list of counts."""

from __future__ import annotations

import functools
import math
import operator
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, cast, compiled, computing, device, is_array, namespace
from quotakernels.inference._tree import leaves, tree_map, trees_map
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.keywords import brief
from quotakernels.inputs.quotas import silently
from quotakernels.measures._direction import title_of
from quotakernels.measures._measure import depends_on_positives_only, made_here
from quotakernels.measures.over_quotas.summary import in_one_pass, sharing
from quotakernels.ranking import Ranking, TiePolicy, ranking_of, split_ties

NDArray = np.ndarray[Any, Any]
WORKING_COPIES = 60
"""Arrays as long as the examples that a batch of resamples needs at once."""


LONG = 64_000
"""Examples of resamples that are measured together: with fewer, the price of a call is more."""
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

    def map(self, function: Callable[[Array], Array]) -> Sorted:
        """The same with every column that it has put through the function."""
        return Sorted(*(None if x is None else function(x) for x in self))


class Plan(NamedTuple):
    """What is drawn, and of what.

    ``counts(numbers)`` gives, for a range of resamples, how often each example is in them, shape
    (R, n).  Where their size `varies`, a quota may be more than there is, and is undefined then.
    Each of so many `units` is drawn whole; the `owner` of an example is the unit that it is in.
    Measured `by_row`, all tables have the same rows, since these show in the measure.
    """

    examples: Sorted
    counts: Callable[[range], Array]
    ties: TiePolicy
    varies: bool
    units: int
    owner: Array | None
    by_row: bool = False


def in_order(examples: Examples) -> Sorted:
    """Checked examples, sorted once; those that do not count come last."""
    xp = namespace(examples.scores)
    scores, labels, weights, valid, gain, rejected = examples
    key = ops.order_key(xp, scores)
    if valid is not None:
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
    weights, valid, gain, rejected = (
        None if x is None else xp.take_along_axis(x, order, axis=-1)
        for x in (weights, valid, gain, rejected)
    )
    edge = xp.ones((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    last = xp.concat([key[..., 1:] != key[..., :-1], edge], axis=-1)
    return Sorted(order, scores, labels, weights, valid, last, gain, rejected)


def value_of(measure: Any, ranking: Ranking) -> Any:
    """A measure of a ranking, or the mapping of several."""
    if isinstance(measure, Mapping):
        return {name: value_of(each, ranking) for name, each in measure.items()}
    value = measure(ranking)
    if not isinstance(value, (tuple, Mapping)) and not is_array(value):
        raise TypeError(f"measure must give arrays; {title_of(measure)} gives {brief(value)}")
    return value


def value_again(measure: Any, ranking: Ranking) -> Any:
    """The same, without the warnings that there were for the first ranking."""
    with silently():
        return value_of(measure, ranking)


def _value_of_table(measure: Any, table: ops.Groups) -> Any:
    """The same of a table; measures of a mapping that can share a pass over it do."""
    shared = sharing(measure) if isinstance(measure, Mapping) else {}
    if len(shared) < 2:
        return value_again(measure, ranking_of(table))
    values = in_one_pass(shared, table)
    others = {name: each for name, each in measure.items() if name not in values}
    if others:
        values |= value_again(others, ranking_of(table))
    return {name: values[name] for name in measure}


def estimated(measure: Any, ranking: Ranking, plan: Plan) -> tuple[Any, Plan]:
    """The measure of the examples themselves, and the plan, which says whether rows show in it.

    Then it is that of a table with as many rows as those of the resamples have.
    """
    value, xp = value_of(measure, ranking), namespace(ranking.counts)
    if not (made_here(measure) and _shows_rows(measure, value, ranking)):
        return value, plan
    length = plan.examples.order.shape[-1]

    def once(numbers: range) -> Array:
        return xp.ones((len(numbers), length), dtype=xp.int64, device=device(ranking.counts))

    plan = plan._replace(by_row=True)
    value = _runner(measure, plan._replace(counts=once), value, 1)(range(1))
    return tree_map(lambda x: x[..., 0], value), plan


def _shows_rows(measure: Any, value: Any, ranking: Ranking) -> bool:
    """Whether one more row of the table, in a batch, which is never shortened, changes shapes."""
    xp, rows = namespace(ranking.counts), ranking.counts.shape[-1]
    if all(x.ndim < ranking.counts.ndim for x in leaves(value)):
        return False
    shapes = []
    for more in (1, 2):
        with computing(xp):
            places = xp.arange(rows + more, device=device(ranking.counts))
            places = xp.where(places < rows, places, xp.full_like(places, rows - 1))
            longer = ranking.map(lambda x: xp.take(x, places, axis=-1)[None, ...])  # noqa: B023
        shapes.append([x.shape for x in leaves(value_again(measure, longer))])
    return shapes[0] != shapes[1]


def values_of(
    measure: Any,
    estimate: Any,
    workers: int | None,
    max_memory: int,
    plan: Plan,
    numbers: range,
    progress: Callable[[int, int], None],
) -> Any:
    """The measure of each resample, on a last axis that is added; the estimate shows its shape."""
    order = plan.examples.order
    size = at_once(max_memory, 8 * math.prod(order.shape))
    run = _runner(measure, plan, estimate, 1 if workers is None else threads(workers))
    if isinstance(order, np.ndarray):
        size = min(size, 64)
    parts = []
    for start in range(0, len(numbers), size):
        parts.append(run(numbers[start : start + size]))
        progress(min(start + size, len(numbers)), len(numbers))
    xp = namespace(order)
    with computing(xp):
        return trees_map(lambda x: x[0] if len(x) == 1 else xp.concat(x, axis=-1), parts)


def _runner(measure: Any, plan: Plan, estimate: Any, workers: int) -> Callable[[range], Any]:
    """A function of the numbers of some resamples, which measures them."""
    order = plan.examples.order
    if not isinstance(order, np.ndarray) or (plan.by_row and order.ndim > 1):
        return functools.partial(_in_batch, measure, plan)
    return _OnHost(measure, plan, estimate, workers)


def threads(workers: int | None) -> int:
    """How many threads there may be."""
    return min(os.cpu_count() or 1, 8) if workers is None else from_one("workers", workers)


def at_once(max_memory: int, length: int) -> int:
    """How many resamples may be in a batch, by the bytes that one of them takes for each copy."""
    return max(1, from_one("max_memory", max_memory) // (WORKING_COPIES * length))


def from_one(name: str, number: Any) -> int:
    """A whole number, 1 or more."""
    try:
        if isinstance(number, (bool, np.bool_)):
            raise TypeError
        whole = operator.index(number)
    except TypeError:
        raise TypeError(f"{name} must be a whole number; got {brief(number)}") from None
    if whole < 1:
        raise ValueError(f"{name} must be at least 1; got {whole}")
    return whole


# batches of resamples, on a device or in a program


def _in_batch(measure: Any, plan: Plan, numbers: range) -> Any:
    xp = namespace(plan.examples.order)
    with computing(xp):
        table = compiled(resampled, xp, ("ties",))(
            plan.examples, plan.counts(numbers), ties=plan.ties
        )
    values = _value_of_table(measure, table)
    with computing(xp):
        return trees_map(lambda x: xp.moveaxis(x[0], 0, -1), [values])


def resampled(examples: Sorted, counts: Array, *, ties: TiePolicy) -> ops.Groups:
    """The tables of resamples, shape (R, ..., n), in which examples are so often: shape (R, n)."""
    xp = namespace(counts)
    shape = (counts.shape[0], *examples.order.shape)
    between = (1,) * (len(shape) - 2)
    counts = xp.reshape(counts, (shape[0], *between, shape[-1]))
    examples = examples.map(lambda x: xp.broadcast_to(x, shape))
    counts = xp.take_along_axis(xp.broadcast_to(counts, shape), examples.order, axis=-1)
    return split_ties(xp, ops.merged(xp, counted(examples, counts), examples.last), ties)


def counted(examples: Sorted, counts: Array) -> ops.Groups:
    """Each example as a row of a table, so often as it is there."""
    counts = counts if examples.there is None else counts * examples.there
    rows = ops.Groups(examples.thresholds, counts, counts * examples.labels, None, None)
    return rows._replace(**_sums_of(examples, counts))


def _sums_of(examples: Sorted, counts: Array) -> dict[str, Any]:
    """The columns of a table that are floats, by name: masses and gains, where there are any."""
    xp = namespace(counts)
    weights, gain, positive = examples.weights, examples.gain, examples.labels > 0
    floats = gain if weights is None else weights
    if floats is None:
        return {}
    mass, found = cast(xp, counts, floats.dtype), {}
    if weights is not None:
        mass = mass * weights
        nothing = xp.zeros_like(mass)
        found["positive_weights"] = xp.where(positive, mass, nothing)
        found["negative_weights"] = xp.where(positive, nothing, mass)
    if gain is not None:
        found["gains"] = ops.gain_columns(xp, positive, mass, gain, examples.gain_rejected)
    return found


# in memory that NumPy reads


class _OnHost:
    """Measures resamples of each model by itself: several together if they are short, or if the
    rows of the table show in the measure; else one after the other, which is faster then.
    """

    def __init__(self, measure: Any, plan: Plan, estimate: Any, workers: int):
        self.measure, self.plan, self.estimate, self.workers = measure, plan, estimate, workers
        merging = depends_on_positives_only(measure) and not plan.by_row
        self.models = list(_host_tables(plan, merging))
        short = LONG // max(plan.examples.order.shape[-1], 1) if made_here(measure) else 0
        self.together = max(short, int(plan.by_row))

    def __call__(self, numbers: range) -> Any:
        if self.together > 1 or self.plan.by_row:
            step = min(self.together, len(numbers))
            starts = range(0, len(numbers), step)
            values = [self._several(numbers[k : k + step]) for k in starts]
            return trees_map(lambda x: np.concatenate(x, axis=-1), values)
        return self._one_by_one(numbers)

    def _several(self, numbers: range) -> Any:
        counts = self.plan.counts(numbers)
        try:
            values = [_value_of_table(self.measure, table(counts)) for table in self.models]
        except ValueError:  # a quota is beyond all of them
            return self._one_by_one(numbers)
        return trees_map(lambda x: np.moveaxis(self._of_models(x, 1), 0, -1), values)

    def _one_by_one(self, numbers: range) -> Any:
        if self.workers == 1 or len(numbers) == 1:
            values = [self._one(number) for number in numbers]
        else:
            with ThreadPoolExecutor(self.workers) as pool:
                values = list(pool.map(self._one, numbers))
        return trees_map(lambda x: np.stack(x, axis=-1), values)

    def _one(self, number: int) -> Any:
        counts = self.plan.counts(range(number, number + 1))[0]
        try:
            values = [_value_of_table(self.measure, table(counts)) for table in self.models]
        except ValueError:
            if not self.plan.varies:
                raise
            return _beside_all(self.measure, self.plan, self.estimate, counts)
        return trees_map(lambda x: self._of_models(x, 0), values)

    def _of_models(self, values: list[NDArray], axis: int) -> NDArray:
        """The values of all models in the shape in which they came."""
        stacked = np.stack(values, axis=axis)
        shape = self.plan.examples.order.shape[:-1]
        return np.reshape(stacked, (*stacked.shape[:axis], *shape, *stacked.shape[axis + 1 :]))


def _beside_all(measure: Any, plan: Plan, estimate: Any, counts: NDArray) -> Any:
    """A resample that lacks a quota, in a batch with all examples: only there it is undefined."""
    if not made_here(measure):
        return tree_map(lambda x: np.full(np.shape(x), np.nan), estimate)
    both = np.stack([counts, np.ones_like(counts)])
    values = _value_of_table(measure, resampled(plan.examples, both, ties=plan.ties))
    return tree_map(lambda x: x[0, ...], values)


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


def _host_tables(plan: Plan, merging: bool) -> Iterator[Callable[[NDArray], ops.Groups]]:
    """For each model the function that makes tables of the counts of resamples, shape (..., n)."""
    length = plan.examples.order.shape[-1]
    models = plan.examples.map(lambda x: x.reshape(-1, length))
    for number in range(models.order.shape[0]):
        spans = _spans(models.map(operator.itemgetter(number)), merging)
        yield functools.partial(_host_table, spans, plan.ties)


def _spans(examples: Sorted, merging: bool) -> _Spans:
    ends = np.flatnonzero(examples.last)
    starts = np.append(0, ends[:-1] + 1)
    positives = np.add.reduceat(examples.labels, starts)
    merging = merging and examples.weights is None and examples.gain is None
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


def _host_table(spans: _Spans, ties: TiePolicy, counts: NDArray) -> ops.Groups:
    examples = spans.examples
    counts = counts if spans.order is None else counts.take(spans.order, axis=-1)
    counts = counts if examples.there is None else counts * examples.there
    table = _whole_table(spans, counts)
    for name, x in _sums_of(examples, counts).items():
        table = table._replace(**{name: x.map(spans.sums) if name == "gains" else spans.sums(x)})
    return split_ties(namespace(table.counts), table, ties)


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
