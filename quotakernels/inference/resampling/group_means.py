"""Means over groups of examples that are drawn whole: each group is measured once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, cast, computing, device, namespace, readable, to_numpy
from quotakernels.inference.resampling.few import few_clusters, few_groups
from quotakernels.inference.resampling.plan import Drawing, counting, owners, without_parts
from quotakernels.inference.resampling.values import Draws, at_once, in_parts, silent
from quotakernels.inputs.examples import Validated
from quotakernels.measures._direction import OneField
from quotakernels.measures.by_group import GroupValues, mean_of_groups, mean_over_groups
from quotakernels.ranking import Ranking

_HOST_BATCH = 64


def draws_groups(measure: Any, clusters: Any, groups: Any, stratified: bool = False) -> bool:
    """Whether groups are what is drawn: of means over groups, where no clusters are given."""
    means = check_groups(measure, groups)
    if clusters is not None or not any(means):
        return False
    if not all(means):
        raise TypeError(
            "group_mean draws groups, but the other measures draw examples: make two calls, or "
            "pass clusters="
        )
    if stratified:
        raise ValueError("stratified and group_mean cannot be combined: groups are drawn whole")
    return True


def check_groups(measure: Any, groups: Any, labelled: bool = True) -> list[bool]:
    """Which of the measures are means over groups; raise for these where there are no groups, or
    no labels that they need.
    """
    each = measure.values() if isinstance(measure, Mapping) else [measure]
    means = [mean_over_groups(x) for x in each]
    for mean in means:
        if mean is not None and groups is None:
            raise TypeError("group_mean needs groups, the group of each example")
        if mean is not None and not labelled:
            mean.check_unlabelled()
    return [mean is not None for mean in means]


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
    there = ops.bincount(xp, codes, size) > 0
    while there.ndim > 1:
        there = xp.any(there, axis=0)
    units = xp.count_nonzero(there)
    if readable(units):
        units = int(units)
        if units == 1:
            raise ValueError("groups must have at least two different values; got one")
    owner = ops.prefix_sum(xp, cast(xp, there, xp.int64)) - 1
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
    size = min(size, _HOST_BATCH) if isinstance(whole.owner, np.ndarray) else size

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
