"""The permutation test of two models: coins decide which examples' scores change places."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, computing, device
from quotakernels.inference._resamples import groups_to_draw_from, owners, to_draw_from
from quotakernels.inference._values import (
    Progress,
    at_once,
    in_parts,
    threads,
    value_again,
    whole_groups,
)
from quotakernels.inference.delong import twice_below
from quotakernels.inputs.examples import Examples, Validated
from quotakernels.inputs.models import host_floats
from quotakernels.measures.by_group import GroupValues, mean_of_groups, mean_over_groups
from quotakernels.ops import namespace
from quotakernels.ranking import TiePolicy, rank_examples, ranked_by_group, ranking_of

NDArray = np.ndarray[Any, Any]
_HOST_BATCH = 64
_HOST: Namespace = namespace(np.empty(0))


class Permutation(NamedTuple):
    """What is measured, of models whose scores are ranks, shape (M, n), and whose coins fall.

    ``flips(numbers)`` gives for a range of exchanges which examples take part, shape (R, n).
    """

    measure: Any
    examples: Examples
    ties: TiePolicy
    flips: Callable[[range], Array]

    def values(self, scores: Array, valid: Array | None) -> NDArray:
        """The measure of scores of these examples, shape (..., n), on the host."""
        xp = namespace(scores)
        with computing(xp):
            columns = self.examples.map(lambda x: x[0, ...])
            columns = columns._replace(scores=scores, valid=valid)
            columns = columns.map(lambda x: xp.broadcast_to(x, scores.shape))
        ranking = rank_examples(columns, self.ties)
        return host_floats(value_again(self.measure, ranking))


def permutation_of(
    measure: Any, examples: Examples, clusters: Any, random_state: Any, ties: TiePolicy
) -> Permutation:
    """Coins for checked examples, or for clusters; of tensors NumPy draws if it may."""
    examples = to_draw_from(examples, random_state)
    xp = namespace(examples.scores)
    with computing(xp):
        ranks = _mid_ranks(xp, examples)
        source = ops.source_of_draws(xp, random_state, device(ranks))
        units, owner = ranks.shape[-1], None
        if clusters is not None:
            units, owner = owners(xp, examples, clusters, None)
        like = xp.zeros(units, dtype=xp.int8, device=device(ranks))

    def flips(numbers: range) -> Array:
        with computing(xp):
            coins = ops.coins(xp, source, numbers, like)
            return coins if owner is None else xp.take(coins, owner, axis=-1)

    return Permutation(measure, examples._replace(scores=ranks), ties, flips)


def _mid_ranks(xp: Namespace, examples: Examples) -> Array:
    """Twice the mean rank of each example's tie group, from below: whole numbers up to 2n.

    Less 1, so that one example of n has 2k - 1 if k - 1 are below it.
    """
    scores, valid = examples.scores, examples.valid
    key = xp.order_key(scores)
    there = xp.ones(scores.shape, dtype=xp.bool, device=device(scores)) if valid is None else valid
    key = xp.where(there, key, xp.zeros_like(key))
    return twice_below(xp, key, [there])[0]


def differences(
    permutation: Permutation,
    pair: tuple[int, int],
    n_resamples: int,
    workers: int | None,
    max_memory: int,
    progress: Progress,
) -> NDArray:
    """The first model's measure less the second's, after each of the exchanges."""
    ranks, valid = permutation.examples.scores, permutation.examples.valid
    first, second = (ranks[model, ...] for model in pair)
    if valid is not None:
        valid = valid[pair[0], ...] & valid[pair[1], ...]
    batch = at_once(max_memory, 16 * ranks.shape[-1])
    run = functools.partial(_in_batch, permutation, first, second, valid)
    with ThreadPoolExecutor(threads(workers)) as pool:
        if isinstance(ranks, np.ndarray):
            batch, run = (
                _HOST_BATCH,
                functools.partial(_on_host, permutation, first, second, valid, pool),
            )
        found: NDArray = in_parts(_HOST, run, range(n_resamples), batch, progress)
    return found


def _on_host(
    permutation: Permutation,
    first: NDArray,
    second: NDArray,
    valid: NDArray | None,
    pool: ThreadPoolExecutor,
    numbers: range,
) -> NDArray:
    """Each list by itself, which is much faster than a batch of lists in NumPy."""
    here = slice(None) if valid is None else np.flatnonzero(valid)
    columns = permutation.examples.map(lambda x: x[0][here])
    first, second = first[here], second[here]

    def one(number: int) -> NDArray:
        flips = permutation.flips(range(number, number + 1))[0][here]
        swapped = (np.where(flips, second, first), np.where(flips, first, second))
        tables = (ops.split_ties(_HOST, _counted(x, columns), permutation.ties) for x in swapped)
        a, b = (
            host_floats(value_again(permutation.measure, ranking_of(table))) for table in tables
        )
        return a - b

    return np.stack(list(pool.map(one, numbers)))


def _counted(ranks: NDArray, examples: Examples) -> ops.Groups:
    """The table of examples by their ranks, without a sort: these are small whole numbers."""
    labels: Any = examples.labels
    weights = examples.weights
    place = np.max(ranks, initial=0) - ranks
    counts = np.bincount(place, minlength=1)
    rows = np.flatnonzero(counts) if ranks.size else np.zeros(1, dtype=np.int64)
    positives = np.bincount(place[labels], minlength=counts.size)[rows]

    def sums(x: NDArray) -> NDArray:
        return np.asarray(np.bincount(place, x, minlength=counts.size)[rows])

    masses: Any = [None, None]
    if weights is not None:
        masses = [sums(np.where(one, weights, 0.0)) for one in (labels, ~labels)]
    columns = ops.columns_by_class(_HOST, labels, weights, examples.columns)
    columns = ops.map_columns(sums, columns)
    table = ops.Groups(-rows.astype(np.float64), counts[rows], positives, *masses)
    return table._replace(columns=columns)


def _in_batch(
    permutation: Permutation, first: Array, second: Array, valid: Array | None, numbers: range
) -> NDArray:
    """All at once, on the device."""
    xp = namespace(first)
    flips = permutation.flips(numbers)
    with computing(xp):
        swapped = xp.stack(
            [xp.where(flips, second, first), xp.where(flips, first, second)], axis=-2
        )
    values = permutation.values(swapped, valid)
    return values[:, 0] - values[:, 1]


# whole groups of examples, each of which was measured once


class Exchange(NamedTuple):
    """What models have in each group, shape (M, S), and coins of groups: shape (R, S)."""

    groups: GroupValues
    flips: Callable[[range], Array]


def exchange_of_groups(
    measure: Any, found: Validated, clusters: Any, random_state: Any, ties: TiePolicy
) -> Exchange:
    """Coins for groups of checked examples, or for the clusters that they are in."""
    found = groups_to_draw_from(found, random_state)
    mean, whole = mean_over_groups(measure), whole_groups(found, clusters)
    if mean is None or whole is None:
        raise ValueError(
            'test="permutation" with groups exchanges whole groups, so it needs group_mean; '
            'use test="bootstrap"'
        )
    xp, owner = namespace(whole.owner), whole.owner
    with computing(xp):
        source = ops.source_of_draws(xp, random_state, device(owner))
        like = xp.zeros(owner.shape[0], dtype=xp.int8, device=device(owner))

    def flips(numbers: range) -> Array:
        with computing(xp):
            return xp.take(ops.coins(xp, source, numbers, like), owner, axis=-1)

    return Exchange(mean.of_groups(ranked_by_group(found, ties, mean.of_ideal)), flips)


def differences_of_groups(
    exchange: Exchange,
    pair: tuple[int, int],
    n_resamples: int,
    max_memory: int,
    progress: Progress,
) -> NDArray:
    """The first model's mean less the second's, after each of the exchanges."""
    values, size = exchange.groups
    xp = namespace(size)
    on_host = isinstance(size, np.ndarray)
    batch = _HOST_BATCH if on_host else at_once(max_memory, 16 * size.shape[-1])

    def run(numbers: range) -> NDArray:
        flips, means = exchange.flips(numbers), []
        for one, other in (pair, pair[::-1]):
            with computing(xp):
                swapped = [xp.where(flips, x[other, :], x[one, :]) for x in (values, size)]
            means.append(host_floats(mean_of_groups(GroupValues(*swapped)).value))
        return means[0] - means[1]

    found: NDArray = in_parts(_HOST, run, range(n_resamples), batch, progress)
    return found
