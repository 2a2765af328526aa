"""What resamples draw, and their tables: the examples are sorted once for all of them."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    device,
    host_view,
    known,
    readable,
    to_numpy,
    tree_map,
)
from quotakernels.inputs.columns import as_column, column_hint, first_bad, refuse_symbolic
from quotakernels.inputs.examples import Examples, Validated
from quotakernels.inputs.groups import GroupCodes, groups_of
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, TiePolicy, table_of

NDArray = np.ndarray[Any, Any]
FEWEST_PARTS, MOST_PARTS = 20, 200
"""Parts of the examples that are left out, one at a time, for the acceleration of BCa."""


# tables of resamples: one sort, and other counts


class Sorted(NamedTuple):
    """Examples best first, and where rows of a ranking end among them.

    `order` contains their places in the input.  Scores are thresholds; labels and `valid` are 0 or
    1.
    """

    order: Array
    last: Array
    examples: Examples

    def map(self, function: Callable[[Array], Array]) -> Sorted:
        """The examples with the function applied to each of their arrays."""
        return Sorted(function(self.order), function(self.last), self.examples.map(function))


class Keys(NamedTuple):
    """How to take thresholds apart that combine scores and groups, and which groups are good."""

    combined: ops.Combined
    ids: Array
    good: Array | None

    def of_model(self, number: int) -> Keys:
        """The keys of one of several lists of scores."""
        levels = self.combined.levels
        levels = levels.reshape(math.prod(levels.shape[:-1]), levels.shape[-1])[number]
        return self._replace(combined=self.combined._replace(levels=levels))


Counts: TypeAlias = Callable[[range], Array]
"""For a range of resamples, how often each example or group is in them, shape (R, n)."""


class Units(NamedTuple):
    """What is drawn whole: single examples, clusters or groups.

    Strata of these `sizes` follow each other in so many `places`; what comes after them is never
    drawn.  The `owner` of an example, or of a group, is the place with which it is drawn; None if
    each has a place of its own.
    """

    sizes: tuple[Any, ...]
    places: int
    owner: Array | None

    def drawn(self, like: Array, random_state: Any, poisson: bool) -> Counts:
        """The counts of resamples, in the library and on the device of an array."""
        xp = namespace(like)

        def draws(source: Any, numbers: range, each: Array) -> Array:
            return xp.draws(source, numbers, self.sizes, each, poisson)

        return self._each(like, random_state, draws)

    def coins(self, like: Array, random_state: Any) -> Counts:
        """Heads or tails for each example or group; all with one owner share a coin."""
        return self._each(like, random_state, namespace(like).coins)

    def parts(self, like: Array) -> Counts:
        """Every part of a few units: the bits of its number."""
        xp, bits = namespace(like), np.arange(self.places)

        def taken(_source: Any, numbers: range, each: Array) -> Array:
            return xp.asarray(np.asarray(numbers)[:, None] >> bits & 1 > 0, device=device(each))

        return self._each(like, 0, taken)

    def _each(self, like: Array, random_state: Any, drawn: Callable[..., Array]) -> Counts:
        xp, dev = namespace(like), device(like)
        with xp.computing():
            source = xp.source_of_draws(random_state, dev)
            each = xp.zeros(self.places, dtype=xp.int8, device=dev)

        def counts(numbers: range) -> Array:
            with xp.computing():
                found = drawn(source, numbers, each)
                return found if self.owner is None else xp.take(found, self.owner, axis=-1)

        return counts

    def without_parts(self, like: Array, resamples: int) -> tuple[Counts, range]:
        """Counts of 0 in one part of the units and 1 in the others, and the numbers of the parts.

        There are about as many parts as resamples; more would take longer than these.
        """
        xp = namespace(like)
        parts = min(self.places, MOST_PARTS, max(resamples, FEWEST_PARTS))
        shuffled = np.random.default_rng(0).permutation(self.places) % parts
        with xp.computing():
            part = xp.asarray(shuffled, device=device(like))
            part = part if self.owner is None else xp.take(part, self.owner, axis=-1)

        def counts(numbers: range) -> Array:
            with xp.computing():
                number = xp.arange(
                    numbers.start, numbers.stop, dtype=part.dtype, device=device(part)
                )
                return xp.cast(part != xp.expand_dims(number, axis=-1), xp.int64)

        return counts, range(parts)


class Plan(NamedTuple):
    """Examples in order, of which resamples are drawn; with `keys` they are in groups."""

    examples: Sorted
    units: Units
    ties: TiePolicy
    keys: Keys | None


def keys_of(examples: Examples, groups: GroupCodes, good: Array | None) -> Keys:
    """Scores and groups in one, whose order puts the rows of each group together."""
    xp, codes = namespace(examples.scores), groups.codes
    return Keys(xp.combined(examples.scores, codes, examples.valid), groups.ids, good)


def in_order(examples: Examples, keys: Keys | None = None) -> Sorted:
    """Checked examples, sorted once; those that do not count come last."""
    xp, valid = namespace(examples.scores), examples.valid
    key = xp.order_key(examples.scores)
    if keys is not None:
        key = keys.combined.scores
        examples = examples._replace(scores=key)
    elif valid is not None:
        key = xp.where(valid, key, xp.min(key, axis=-1, keepdims=True))
    labels = xp.cast(examples.labels, xp.int8)
    order = xp.argsort(labels, axis=-1, stable=True)  # among ties not as they came
    falling = xp.take_along_axis(key, order, axis=-1)
    falling = xp.argsort(falling, axis=-1, descending=True, stable=True)
    order = xp.take_along_axis(order, falling, axis=-1)
    valid = None if valid is None else xp.cast(valid, xp.int8)
    examples = examples._replace(labels=labels, valid=valid)
    examples = examples.map(lambda x: xp.take_along_axis(x, order, axis=-1))
    key = xp.take_along_axis(key, order, axis=-1)
    edge = xp.ones((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    last = xp.concat([key[..., 1:] != key[..., :-1], edge], axis=-1)
    return Sorted(order, last, examples)


def by_group(table: ops.TieTable, keys: Keys | None) -> ops.TieTable:
    """The table of groups of examples, if there are any."""
    if keys is None:
        return table
    xp = namespace(table.counts)
    combined, ids, good = keys
    batch = table.thresholds.shape[:-1]
    levels = xp.broadcast_to(combined.levels, (*batch, combined.levels.shape[-1]))
    table = xp.parted(table, combined._replace(levels=levels), ids)
    if good is None:
        return table
    good = xp.broadcast_to(good, (*batch, *good.shape[-2:]))
    return table._replace(groups=table.groups._replace(good=good))


def resampled(examples: Sorted, counts: Array, *, ties: TiePolicy) -> ops.TieTable:
    """The tables of resamples, (R, ..., n), from how often each example is in them, (R, n)."""
    xp = namespace(counts)
    shape = (counts.shape[0], *examples.order.shape)
    between = (1,) * (len(shape) - 2)
    counts = xp.reshape(counts, (shape[0], *between, shape[-1]))
    examples = examples.map(lambda x: xp.broadcast_to(x, shape))
    counts = xp.take_along_axis(xp.broadcast_to(counts, shape), examples.order, axis=-1)
    return xp.split_ties(xp.merged(counted(examples.examples, counts), examples.last), ties)


def counted(examples: Examples, counts: Array) -> ops.TieTable:
    """A table with a row for each example, which counts as often as it was drawn."""
    counts = counts if examples.valid is None else counts * examples.valid
    rows = ops.TieTable(examples.scores, counts, counts * examples.labels, None, None)
    return rows._replace(**_sums_of(examples, counts))


def _sums_of(examples: Examples, counts: Array) -> dict[str, Any]:
    """The fields of a table that are floats: masses and further columns, where there are any."""
    xp = namespace(counts)
    _, labels, weights, _, columns = examples
    if weights is None and not columns:
        return {}
    first = next(iter(columns.values())) if weights is None else weights
    split = functools.partial(xp.by_class, xp.cast(labels, xp.bool))
    mass, found = xp.cast(counts, first.dtype), {}
    if weights is not None:
        mass = mass * weights
        found["positive_weights"], found["negative_weights"] = split(mass)
    return found | {"columns": ops.columns_by_class(split, columns, mass)}


def host_tables(plan: Plan, merging: bool) -> Iterator[Callable[[NDArray], ops.TieTable]]:
    """For each model the function that makes tables of the counts of resamples, shape (..., n).

    With `merging`, neighbouring rows without positives become one.
    """
    examples = plan.examples.examples
    merging = merging and plan.keys is None and examples.weights is None and not examples.columns
    length = plan.examples.order.shape[-1]
    models = plan.examples.map(lambda x: x.reshape(-1, length))
    for number in range(models.order.shape[0]):
        own = models.map(operator.itemgetter(number))
        own = own._replace(last=_with_positives(own)) if merging else own
        keys = None if plan.keys is None else plan.keys.of_model(number)
        yield functools.partial(_host_table, own, plan.ties, keys)


def _with_positives(model: Sorted) -> NDArray:
    """Where rows end: those with positives, and the last of each run of others."""
    last, labels = (np.asarray(x) for x in (model.last, model.examples.labels))
    ends = np.flatnonzero(last)
    found = np.add.reduceat(labels, np.append(0, ends[:-1] + 1), dtype=np.int64) > 0
    kept = np.zeros_like(last)
    kept[ends] = found | np.append(found[1:], True)
    return kept


def _host_table(model: Sorted, ties: TiePolicy, keys: Keys | None, counts: NDArray) -> ops.TieTable:
    xp: Namespace = namespace(counts)
    rows = counted(model.examples, counts.take(model.order, axis=-1))
    return by_group(xp.split_ties(xp.merged(rows, model.last), ties), keys)


# what is drawn: examples, strata of them, or whole clusters


def to_draw_from(found: Validated, random_state: Any) -> Validated:
    """The examples; tensors in host memory become NumPy arrays if NumPy draws."""
    examples = found.examples
    refuse_symbolic(examples.scores.shape[-1], "resamples")
    if 0 in examples.scores.shape[:-1]:
        raise ValueError(f"y_score holds no model: its shape is {tuple(examples.scores.shape)}")
    seeds_numpy = isinstance(random_state, (type(None), int, np.integer, np.random.Generator))
    on_host = host_view(examples) if seeds_numpy else None
    if on_host is None:
        return found
    good, mask, groups = tree_map(to_numpy, found[1:4])
    return Validated(Examples(*on_host), good, mask, groups)


def plan_of(found: Validated, clusters: Any, stratified: bool, ties: TiePolicy) -> Plan:
    """Examples, with their groups if there are any, in order; and the units that are drawn.

    A single list is put in order first, so that its resamples do not depend on the order in which
    it came.
    """
    examples, groups = found.examples, found.groups
    xp = namespace(examples.scores)
    with xp.computing():
        keys = None if groups is None else keys_of(examples, groups, found.good)
        ordered = in_order(examples, keys)
        members = None
        if examples.scores.ndim == 1:
            members = ordered.order
            ordered = ordered._replace(order=xp.arange(members.shape[0], device=device(members)))
        if clusters is None:
            units = _strata(xp, examples, stratified, members)
        else:
            number, owner = owners(xp, examples, clusters)
            owner = owner if members is None else xp.take(owner, members, axis=-1)
            units = Units((number,), number, owner)
    return Plan(ordered, units, ties, keys)


def _strata(xp: Namespace, examples: Examples, stratified: bool, members: Array | None) -> Units:
    """Single examples as units, ordered by the stratum in `members`; those that do not count come
    last and are not drawn.
    """
    if members is not None:
        examples = examples.map(lambda x: xp.take(x, members, axis=-1))
    valid, labels, length = examples.valid, examples.labels, examples.scores.shape[-1]
    if valid is not None:
        valid = xp.any(xp.reshape(valid, (-1, length)), axis=0)
    if not stratified and (valid is None or known(valid)):
        return Units((length,), length, None)
    there = xp.ones((length,), dtype=xp.bool, device=device(examples.scores))
    strata = [there := there if valid is None else valid]
    if stratified:
        positive = xp.reshape(labels, (-1, length))[0, ...]
        if not known(labels == positive) and readable(labels):
            raise ValueError("stratified needs the same labels for all models")
        strata = [there & positive, there & ~positive]
    number = xp.full((length,), len(strata), dtype=xp.int64, device=device(there))
    for index, flags in enumerate(strata):
        number = xp.where(flags, index, number)
    places = xp.argsort(xp.argsort(number, stable=True), stable=True)
    return Units(tuple(xp.count_nonzero(flags) for flags in strata), length, places)


def owners(xp: Namespace, examples: Examples, clusters: Any) -> tuple[int, Array]:
    """The number of clusters with an example that counts, and the cluster of each example.

    Examples that count for no model get any cluster.
    """
    column = as_column("clusters", clusters)
    shape = (examples.scores.shape[-1],)
    own = tuple(column.shape)
    if own != shape:
        hint = column_hint("clusters", own)
        raise ValueError(f"clusters must have shape {shape}; got {own}{hint}")
    if not readable(column):
        raise TypeError("clusters must be readable: pass them as a NumPy array")
    given, there = to_numpy(column), counting(examples)
    if (nameless := there & (given != given)).any():  # strangers would be put together
        raise ValueError(first_bad("clusters", given, nameless, "the cluster's name"))
    codes, names = groups_of("clusters", given[there])
    if names.shape[0] == 1:
        raise ValueError(
            "clusters must have at least two different values; got one, "
            f"{names[0].item()!r}, so all resamples would be alike"
        )
    owner = np.zeros(shape, dtype=np.int64)
    owner[there] = codes
    owner = xp.asarray(owner, device=device(examples.scores))
    return max(1, names.shape[0]), xp.cast(owner, xp.int64)


def counting(examples: Examples) -> np.ndarray[Any, Any]:
    """Which examples count for at least one model, on the host."""
    length = examples.scores.shape[-1]
    if examples.valid is None:
        return np.ones(length, dtype=np.bool_)
    if not readable(examples.valid):
        raise TypeError(
            "with clusters, the mask must be readable; pass where as a NumPy array, or leave "
            "masked examples out"
        )
    there: np.ndarray[Any, Any] = np.any(to_numpy(examples.valid).reshape(-1, length), axis=0)
    return there


# how many units tell of each class


def units_by_class(xp: Namespace, examples: Examples, owner: Array | None) -> tuple[Array, Array]:
    """How many positives and negatives there are in each list, shape (...).

    Unequal weights amount to fewer examples (Kish), and all examples of a cluster count as one.
    """
    positive = xp.cast(examples.labels, xp.bool)
    valid = examples.valid
    there = xp.ones_like(positive) if valid is None else xp.cast(valid, xp.bool)
    flags = (there & positive, there & ~positive)
    with xp.computing():
        positives, negatives = (_units(xp, x, owner, examples.weights) for x in flags)
    return positives, negatives


def _units(xp: Namespace, flags: Array, owner: Array | None, weights: Array | None) -> Array:
    """How many units the raised flags belong to, shape (...)."""
    number = xp.count_nonzero(flags, axis=-1)
    if weights is not None:
        own = xp.where(flags, weights, xp.zeros_like(weights))
        number = xp.where(number > 0, kish(xp, own), 0.0)
    if owner is None:
        return number
    last = xp.max(owner) + 1
    own = xp.sort(xp.where(flags, owner, last), axis=-1)
    first = xp.concat([xp.ones_like(flags[..., :1]), own[..., 1:] != own[..., :-1]], axis=-1)
    found = xp.count_nonzero(first & (own < last), axis=-1)
    return found if weights is None else xp.minimum(number, xp.cast(found, number.dtype))


def kish(xp: Namespace, weights: Array) -> Array:
    """How many equal weights tell as much (Kish); NaN if all are 0."""
    own = weights / xp.max(weights, axis=-1, keepdims=True)
    return xp.total(own) ** 2 / xp.total(own * own)


def plan_units(plan: Plan, ranking: Ranking, clustered: bool) -> list[tuple[Array, Array]]:
    """The positives and negatives of each list; before that, where examples are in groups and drawn
    one by one, those of each group, shape (..., S).
    """
    order, _, examples = plan.examples
    xp = namespace(order)
    with xp.computing():
        owner = plan.units.owner
        owner = xp.take(owner, order, axis=-1) if clustered and owner is not None else None
        found = [units_by_class(xp, examples, owner)]
        if ranking.groups and not clustered:
            table = table_of(xp, ranking, by_group=True)
            items, positives = (xp.number(table, x) for x in (table.counts, table.positives))
            found = [(positives, items - positives), *found]
        return found


def freedom_of(xp: Namespace, positives: Array, negatives: Array) -> Array:
    """The degrees of freedom: the number of the rarer class less 1, but at least 1.

    With one class only, as for gains without labels, it is the number of all less 1.
    """
    with xp.computing():
        more, fewer = xp.maximum(positives, negatives), xp.minimum(positives, negatives)
        fewer = xp.where(fewer > 0, fewer, more)
        return xp.maximum(fewer - 1, xp.ones_like(fewer))
