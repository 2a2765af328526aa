"""Measures of resamples, in batches or one by one; and means over groups, each measured once."""

from __future__ import annotations

import functools
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    compiled,
    computing,
    device,
    is_array,
    like_tuple,
    readable,
    to_numpy,
    tree_map,
)
from quotakernels.inference._call import Drawing, draws_groups
from quotakernels.inference._few import INTERVALS, few_clusters, few_groups, warn_of_few
from quotakernels.inference._resamples import (
    Plan,
    by_group,
    counting,
    freedom_of,
    host_tables,
    owners,
    parts_left_out,
    plan_of,
    resampled,
    without_parts,
)
from quotakernels.inputs.examples import Validated
from quotakernels.inputs.keywords import check_flag, show_value, silently
from quotakernels.inputs.models import host_floats
from quotakernels.measures._facts import OneField, depends_on_positives_only, made_here, title_of
from quotakernels.measures.by_group import GroupValues, mean_of_groups, mean_over_groups
from quotakernels.measures.over_quotas import in_one_pass, roc_auc, sharing
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, ranking_of

NDArray = np.ndarray[Any, Any]
Progress: TypeAlias = Callable[[int, int], None]
WORKING_COPIES = 60
"""Arrays as long as the examples that a batch of resamples needs at once."""
HOST_BATCH = 64
LONG = 16_000
"""Examples of resamples that are measured together: with fewer, the price of a call is more."""
_OVER_ALL_CUTS = {
    *("roc_auc", "gini", "pem", "average_hit_rate", "average_qrecall"),
    *("average_precision", "expected_average_precision", "pr_auc"),
}
"""Whose intervals are too narrow near an AUC of 1; those at one place of a curve mostly are not."""
PATIENCE = 3.0
"""Seconds before a line appears on a terminal."""


class Draws(NamedTuple):
    """An estimate, and functions for its values in resamples and without each part of the data;
    and the degrees of freedom, of each list and before that of each group, as far as known.
    """

    estimate: Any
    values: Callable[[range, Progress], Any]
    left_out: Callable[[int], Any]
    freedom: Sequence[Array]


def examples_drawn(measure: Any, ranking: Ranking, found: Validated, how: Drawing) -> Draws:
    """A measure of examples that are drawn."""
    plan = plan_of(found.examples, *how[:5], found.groups, found.good)
    _warn_of_few(measure, ranking, found, how, plan.units)
    estimate, plan = estimated(measure, ranking, plan)
    values = functools.partial(values_of, measure, estimate, how.max_memory)

    def left_out(resamples: int) -> Any:
        return values(*parts_left_out(plan, resamples), silent)

    freedom = freedom_of(plan, ranking, how.clusters is not None)
    return Draws(estimate, functools.partial(values, plan), left_out, freedom)


def _warn_of_few(
    measure: Any, ranking: Ranking, found: Validated, how: Drawing, units: int
) -> None:
    """Say where intervals are too narrow; of classes where labels decide and can be read."""
    if how.clusters is not None and few_clusters(units):
        return
    if readable(found.examples.labels) and "gain" not in found.examples.columns:
        codes = None if found.groups is None or how.clusters is not None else found.groups.codes
        area = 0.5 if found.groups else _largest_area(measure, ranking)
        warn_of_few(INTERVALS, found.examples, how.clusters, codes, area=area)


def _largest_area(measure: Any, ranking: Ranking) -> float:
    """The largest AUC, if averages over all cuts are asked for, which it makes hard to know."""
    each = measure.values() if isinstance(measure, Mapping) else [measure]
    if _OVER_ALL_CUTS.isdisjoint(map(title_of, each)):
        return 0.5
    areas = host_floats(roc_auc(ranking))
    return float(np.max(areas, initial=0.5, where=~np.isnan(areas)))


def value_of(measure: Any, ranking: Ranking) -> Any:
    """A measure of a ranking, or the mapping of several."""
    if isinstance(measure, Mapping):
        return {name: value_of(each, ranking) for name, each in measure.items()}
    value = measure(ranking)
    if not isinstance(value, (tuple, Mapping)) and not is_array(value):
        raise TypeError(f"measure must give arrays; {title_of(measure)} gives {show_value(value)}")
    return value


def value_again(measure: Any, ranking: Ranking) -> Any:
    """A measure of one more ranking, without the warnings that there were for the first."""
    with silently():
        return value_of(measure, ranking)


def _value_of_table(measure: Any, table: ops.Groups) -> Any:
    """A measure of a table, or several, which share a pass over the table if they can."""
    if not isinstance(measure, Mapping):
        return _value_of_table({"": measure}, table)[""]
    shared = sharing(measure)
    values = in_one_pass(shared, table) if len(shared) > 1 or (shared and _is_plain(table)) else {}
    others = {name: each for name, each in measure.items() if name not in values}
    if others:
        values |= value_again(others, ranking_of(table))
    return {name: values[name] for name in measure}


def _is_plain(table: ops.Groups) -> bool:
    """Whether sums over rows with positives serve, which differ in the last digit from others."""
    on_host = isinstance(table.counts, np.ndarray) and table.counts.ndim == 1
    return on_host and not (table.weighted or table.segments)


def estimated(measure: Any, ranking: Ranking, plan: Plan) -> tuple[Any, Plan]:
    """The measure of the examples themselves, and the plan, which says whether rows show in it.

    Then it is that of a table with as many rows as those of the resamples have.
    """
    value, xp = value_of(measure, ranking), namespace(ranking.counts)
    if ranking.groups or not (made_here(measure) and _shows_rows(measure, value, ranking)):
        return value, plan
    length = plan.examples.order.shape[-1]

    def once(numbers: range) -> Array:
        return xp.ones((len(numbers), length), dtype=xp.int64, device=device(ranking.counts))

    plan = plan._replace(by_row=True)
    value = _runner(measure, plan._replace(counts=once), value)(range(1))
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
    max_memory: int,
    plan: Plan,
    numbers: range,
    progress: Progress,
) -> Any:
    """The measure of each resample, on a last axis that is added; the estimate shows its shape."""
    order = plan.examples.order
    size = at_once(max_memory, 8 * math.prod(order.shape))
    run = _runner(measure, plan, estimate)
    if isinstance(order, np.ndarray):
        size = min(size, HOST_BATCH)
    return in_parts(namespace(order), run, numbers, size, progress)


def in_parts(
    xp: Namespace, run: Callable[[range], Any], numbers: range, size: int, progress: Progress
) -> Any:
    """What a function gives of all numbers, of so many at once, joined along the last axis."""
    parts = []
    for start in range(0, len(numbers), size):
        parts.append(run(numbers[start : start + size]))
        progress(min(start + size, len(numbers)), len(numbers))
    with computing(xp):
        return trees_map(lambda x: x[0] if len(x) == 1 else xp.concat(x, axis=-1), parts)


def _runner(measure: Any, plan: Plan, estimate: Any) -> Callable[[range], Any]:
    """A function of the numbers of some resamples, which measures them."""
    order = plan.examples.order
    if not isinstance(order, np.ndarray) or (plan.by_row and order.ndim > 1):
        return functools.partial(_in_batch, measure, plan)
    return _OnHost(measure, plan, estimate)


def at_once(max_memory: int, length: int) -> int:
    """How many resamples may be in a batch, by the bytes that one of them takes for each copy."""
    return max(1, max_memory // (WORKING_COPIES * length))


# batches of resamples, on a device or in a program


def _in_batch(measure: Any, plan: Plan, numbers: range) -> Any:
    xp = namespace(plan.examples.order)
    with computing(xp):
        table = compiled(resampled, xp, ("ties",))(
            plan.examples, plan.counts(numbers), ties=plan.ties
        )
        table = by_group(table, plan.keys)
    values = _value_of_table(measure, table)
    with computing(xp):
        return trees_map(lambda x: xp.moveaxis(x[0], 0, -1), [values])


# in memory that NumPy reads


class _OnHost:
    """Measures resamples of each model by itself: several together if they are short, or if the
    rows of the table show in the measure; else one after the other, which is faster then.
    """

    def __init__(self, measure: Any, plan: Plan, estimate: Any):
        self.measure, self.plan, self.estimate = measure, plan, estimate
        merging = depends_on_positives_only(measure) and not (plan.by_row or plan.keys)
        self.models = list(host_tables(plan, merging))
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
        return trees_map(lambda x: np.stack(x, axis=-1), [self._one(k) for k in numbers])

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
    table = by_group(resampled(plan.examples, both, ties=plan.ties), plan.keys)
    return tree_map(lambda x: x[0, ...], _value_of_table(measure, table))


# results: arrays, and records and mappings of them


def trees_map(function: Callable[[list[Any]], Any], trees: Sequence[Any]) -> Any:
    """One tree, of what the function makes of the arrays that stand in one place of all trees."""
    first = trees[0]
    if isinstance(first, Mapping):
        return {key: trees_map(function, [tree[key] for tree in trees]) for key in first}
    if isinstance(first, tuple):
        parts = [trees_map(function, list(part)) for part in zip(*trees, strict=True)]
        return like_tuple(first, parts)
    return function(list(trees))


def leaves(tree: Any) -> list[Any]:
    """The arrays of a tree."""
    found: list[Any] = []
    tree_map(found.append, tree)
    return found


# progress


def silent(_done: int, _whole: int) -> None:
    """Nothing is told of what is soon done."""


def reporter(progress: bool | Progress | None, what: str) -> Progress:
    """A function of what is done and what there is to do.

    It is the caller's, or writes a line to a terminal once it takes long, or at once with True.
    """
    if callable(progress):
        return progress
    if progress is not None:
        check_flag("progress", progress)
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return silent
    began = time.monotonic()

    def write(done: int, whole: int) -> None:
        if progress or time.monotonic() - began > PATIENCE:
            end = "\n" if done == whole else ""
            print(f"\r{what}: {done} of {whole}", end=end, file=sys.stderr, flush=True)

    return write


# means over groups that are drawn whole: each is measured once


class WholeGroups(NamedTuple):
    """How many clusters there are, and in which of them each group is, shape (S,)."""

    units: Any
    owner: Array


def whole_groups(found: Validated, clusters: Any) -> WholeGroups | None:
    """The clusters of the groups, or each group by itself; None if a group is in several.

    A group without an example that counts is in none, but not drawn then.
    """
    if found.groups is None:
        return None
    with computing(namespace(found.examples.scores)):
        return _each_by_itself(found) if clusters is None else _within_clusters(found, clusters)


def _each_by_itself(found: Validated) -> WholeGroups:
    xp, examples, groups = namespace(found.examples.scores), found.examples, found.groups
    assert groups is not None
    codes, size = groups.codes, groups.ids.shape[0]
    if examples.valid is not None:
        codes = xp.where(examples.valid, codes, xp.full_like(codes, size))
    there = xp.bincount(codes, size) > 0
    while there.ndim > 1:
        there = xp.any(there, axis=0)
    units = xp.count_nonzero(there)
    if readable(units):
        units = int(units)
        if units == 1:
            raise ValueError("groups must have at least two different values; got one")
    owner = xp.prefix_sum(cast(xp, there, xp.int64)) - 1
    return WholeGroups(units, xp.clip(owner, min=0))


def _within_clusters(found: Validated, clusters: Any) -> WholeGroups | None:
    xp, examples, groups = namespace(found.examples.scores), found.examples, found.groups
    assert groups is not None
    units, owner = owners(xp, examples, clusters, None)
    if not readable(groups.codes):
        raise TypeError("with clusters, groups must be readable: pass them as a NumPy array")
    there = counting(examples)
    codes = to_numpy(groups.codes).reshape(-1, there.shape[0])[:, there]
    each = np.broadcast_to(to_numpy(owner)[there], codes.shape)
    of_group = np.zeros(groups.ids.shape[0], dtype=np.int64)
    of_group[codes] = each
    if np.any(of_group[codes] != each):
        return None
    return WholeGroups(units, xp.asarray(of_group, device=device(examples.scores)))


def means_drawn(measure: Any, ranking: Ranking, found: Validated, how: Drawing) -> Draws | None:
    """Means over groups of which whole ones are drawn; None of anything else."""
    draws_groups(measure, how.clusters, found.groups, how.stratified)
    means = means_of(measure, ranking)
    whole = whole_groups(found, how.clusters) if means is not None else None
    if means is None or whole is None:
        return None
    if isinstance(whole.units, int):
        few_groups(whole.units) if how.clusters is None else few_clusters(whole.units)
    xp = namespace(whole.owner)
    with computing(xp):
        source = ops.source_of_draws(xp, how.random_state, device(whole.owner))
        places = whole.units if isinstance(whole.units, int) else whole.owner.shape[0]
        like = xp.zeros(places, dtype=xp.int8, device=device(whole.owner))

    def drawn(numbers: range) -> Array:
        with computing(xp):
            counts = ops.draws(xp, source, numbers, (whole.units,), like, how.poisson)
            return xp.take(counts, whole.owner, axis=-1)

    models = ranking.counts[..., 0].size if ranking.counts.ndim > 1 else 1
    size = at_once(how.max_memory, 8 * models * whole.owner.shape[0])
    size = min(size, HOST_BATCH) if isinstance(whole.owner, np.ndarray) else size

    def values(counts: Callable[[range], Array], numbers: range, progress: Any) -> Any:
        return in_parts(xp, lambda some: means(counts(some)), numbers, size, progress)

    def left_out(resamples: int) -> Any:
        return values(*without_parts(places, whole.owner, like, resamples), silent)

    with computing(xp):
        freedom = xp.asarray(whole.units, device=device(whole.owner)) - 1
    return Draws(means(None), functools.partial(values, drawn), left_out, [freedom])


def means_of(measure: Any, ranking: Ranking) -> Callable[[Array | None], Any] | None:
    """Measures each group once; then the mean of any resample of them.  None of other measures."""
    if isinstance(measure, Mapping):
        each = {name: means_of(x, ranking) for name, x in measure.items()}
        known = {name: x for name, x in each.items() if x is not None}
        if len(known) < len(each):
            return None
        return lambda drawn: {name: mean(drawn) for name, mean in known.items()}
    mean = mean_over_groups(measure)
    return None if mean is None else functools.partial(_mean, measure, mean.of_groups(ranking))


def _mean(measure: Any, groups: GroupValues, drawn: Array | None) -> Any:
    found = mean_of_groups(groups, drawn)
    return measure.of(found) if isinstance(measure, OneField) else found
