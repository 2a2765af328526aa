"""What is drawn in a resample: examples, strata of them, or whole clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    computing,
    device,
    host_view,
    namespace,
    readable,
    to_numpy,
)
from quotakernels.inference.resampling.few import kish
from quotakernels.inference.resampling.resamples import Plan, in_order, keys_of
from quotakernels.inputs.columns import as_column
from quotakernels.inputs.examples import Examples, Validated
from quotakernels.inputs.groups import GroupsOfExamples
from quotakernels.inputs.shapes import column_hint, refuse_symbolic
from quotakernels.ranking import Ranking, TiePolicy, table_of

FEWEST_PARTS, PARTS = 20, 200
"""Parts of the examples that are left out, one at a time, for the acceleration of BCa."""


class Drawing(NamedTuple):
    """How resamples are drawn, and in how many threads or how much memory they are measured."""

    clusters: Any
    stratified: bool
    poisson: bool
    random_state: Any
    ties: TiePolicy
    workers: int | None
    max_memory: int


def to_draw_from(examples: Examples, random_state: Any) -> Examples:
    """The examples, of which tensors in host memory become NumPy's where that draws."""
    refuse_symbolic(examples.scores.shape[-1], "resamples")
    seeds_numpy = isinstance(random_state, (type(None), int, np.integer, np.random.Generator))
    on_host = host_view(examples) if seeds_numpy else None
    return examples if on_host is None else Examples(*on_host)


def groups_to_draw_from(found: Validated, random_state: Any) -> Validated:
    """The same with their groups, and which of these are good."""
    examples = to_draw_from(found.examples, random_state)
    if examples is found.examples:
        return found
    groups, good = found.groups, found.good
    if groups is not None:
        groups = GroupsOfExamples(*map(to_numpy, groups))
    good = None if good is None else to_numpy(good)
    return found._replace(examples=examples, groups=groups, good=good)


def _unequal(examples: Examples) -> bool:
    """Whether equally many examples may weigh or cost more or less."""
    return examples.weights is not None or examples.cost is not None


def plan_of(
    examples: Examples,
    clusters: Any,
    stratified: bool,
    poisson: bool,
    random_state: Any,
    ties: TiePolicy,
    groups: GroupsOfExamples | None = None,
    good: Array | None = None,
) -> Plan:
    """How resamples of checked examples are made, and of their groups.

    A single list is put in order first, so that its resamples do not depend on the order in which
    it came.
    """
    xp = namespace(examples.scores)
    _refuse_no_models(examples.scores)
    with computing(xp):
        source = ops.source_of_draws(xp, random_state, device(examples.scores))
        keys = None if groups is None else keys_of(examples, groups, good)
        ordered = in_order(examples, keys)
        given, members = examples, None
        if examples.scores.ndim == 1:
            members = ordered.order
            examples = _taken(xp, examples, members)
            ordered = ordered._replace(order=xp.arange(members.shape[0], device=device(members)))
        if clusters is not None:
            units, owner = owners(xp, given, clusters, members)
            sizes: tuple[Any, ...] = (units,)
        else:
            units, (sizes, owner) = examples.scores.shape[-1], _strata(xp, examples, stratified)
        like = xp.zeros(units, dtype=xp.int8, device=device(examples.scores))

    def counts(numbers: range) -> Array:
        with computing(xp):
            drawn = ops.draws(xp, source, numbers, sizes, like, poisson)
            return drawn if owner is None else xp.take(drawn, owner, axis=-1)

    varies = poisson or clusters is not None or _unequal(examples)
    return Plan(ordered, counts, ties, varies, units, owner, keys=keys)


def _refuse_no_models(scores: Array) -> None:
    if 0 in scores.shape[:-1]:
        raise ValueError(f"y_score holds no model: its shape is {tuple(scores.shape)}")


def _taken(xp: Namespace, examples: Examples, order: Array) -> Examples:
    return examples.map(lambda x: xp.take(x, order, axis=-1))


def _first_row(x: Array) -> Array:
    """One list of a batch of lists."""
    while x.ndim > 1:
        x = x[0, ...]
    return x


def _strata(
    xp: Namespace, examples: Examples, stratified: bool
) -> tuple[tuple[Any, ...], Array | None]:
    """Sizes of the strata, and the place of each example among them; None where it is its own.

    Examples that do not count come last and are not drawn.
    """
    valid, length = examples.valid, examples.scores.shape[-1]
    if valid is not None:
        while valid.ndim > 1:
            valid = xp.any(valid, axis=0)
        if readable(valid) and bool(xp.all(valid)):
            valid = None
    if valid is None and not stratified:
        return (length,), None
    there = xp.ones((length,), dtype=xp.bool, device=device(examples.scores))
    there = there if valid is None else valid
    strata = [there]
    if stratified:
        positive = _first_row(examples.labels)
        _check_one_labelling(xp, examples.labels, positive)
        strata = [there & positive, there & ~positive]
    number = xp.full((length,), len(strata), dtype=xp.int64, device=device(there))
    for index, flags in enumerate(strata):
        number = xp.where(flags, index, number)
    sizes = [xp.count_nonzero(flags) for flags in strata]
    places = xp.argsort(xp.argsort(number, stable=True), stable=True)
    return tuple(sizes), places


def _check_one_labelling(xp: Namespace, labels: Array, first: Array) -> None:
    differ = labels != first
    if readable(differ) and bool(xp.any(differ)):
        raise ValueError("stratified needs the same labels for all models")


def owners(
    xp: Namespace, examples: Examples, clusters: Any, order: Array | None
) -> tuple[int, Array]:
    """The number of clusters that have an example that counts, and to which one each belongs.

    `order` puts the owners, not the examples, in another order.  Examples that count for no model
    get any owner.
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
    _check_names(given, there)
    names = np.unique(given[there])
    if names.shape[0] == 1:
        raise ValueError(
            "clusters must have at least two different values; got one, "
            f"{names[0].item()!r}, so all resamples would be alike"
        )
    owner = np.zeros(shape, dtype=np.int64)
    owner[there] = np.searchsorted(names, given[there])
    owner = xp.asarray(owner, device=device(examples.scores))
    owner = cast(xp, owner, xp.int64)
    units = max(1, names.shape[0])
    return units, owner if order is None else xp.take(owner, order, axis=-1)


def counting(examples: Examples) -> np.ndarray[Any, Any]:
    """Which examples count for any of the models, on the host."""
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


def _check_names(names: np.ndarray[Any, Any], there: np.ndarray[Any, Any]) -> None:
    """Raise for a cluster without a name, which would put strangers together."""
    nameless = np.flatnonzero(there & (names != names))
    if nameless.size:
        first = int(nameless[0])
        raise ValueError(
            f"clusters is {str(names[first]).lower()} at position {first}; "
            "expected the cluster's name"
        )


def parts_left_out(plan: Plan, resamples: int) -> tuple[Plan, range]:
    """A plan whose resamples lack one unit each, or one of many parts of the units."""
    counts, numbers = without_parts(plan.units, plan.owner, plan.examples.order, resamples)
    return plan._replace(counts=counts, varies=True), numbers


def without_parts(
    units: int, owner: Array | None, like: Array, resamples: int
) -> tuple[Callable[[range], Array], range]:
    """How often what has these owners is there without each part of the units: 0 or 1.

    There are about as many parts as resamples, as more would cost more than these.
    """
    xp = namespace(like)
    parts = min(units, PARTS, max(resamples, FEWEST_PARTS))
    shuffled = np.random.default_rng(0).permutation(units) % parts
    with computing(xp):
        part = xp.asarray(shuffled, device=device(like))
        part = part if owner is None else xp.take(part, owner, axis=-1)

    def counts(numbers: range) -> Array:
        with computing(xp):
            number = xp.arange(numbers.start, numbers.stop, dtype=part.dtype, device=device(part))
            return cast(xp, part != xp.expand_dims(number, axis=-1), xp.int64)

    return counts, range(parts)


def freedom_of(plan: Plan, ranking: Ranking, clustered: bool) -> list[Array]:
    """One less than the fewer of positives and negatives, but 1 at least, shape (...); before that,
    where examples are in groups and drawn one by one, the same of each group, shape (..., S).

    Unequal weights amount to fewer examples (Kish), and those of a cluster to one.  Where there is
    one class only, as with gains and no labels, it is one less than all.
    """
    examples, owner = plan.examples, plan.owner if clustered else None
    xp = namespace(examples.labels)
    with computing(xp):
        positive = cast(xp, examples.labels, xp.bool)
        there = xp.ones_like(positive) if examples.there is None else examples.there > 0
        if owner is not None:
            owner = xp.take(owner, examples.order, axis=-1)
        flags = (there & positive, there & ~positive)
        units = [[_units(xp, x, owner, examples.weights) for x in flags]]
        if ranking.groups and not clustered:
            table = table_of(xp, ranking, by_group=True)
            items, found = (ops.number(xp, table, x) for x in (table.counts, table.positives))
            units = [[found, items - found], *units]
        return [_less_one(xp, *both) for both in units]


def _less_one(xp: Namespace, first: Array, second: Array) -> Array:
    fewer = xp.minimum(xp.where(first > 0, first, second), xp.where(second > 0, second, first))
    return xp.maximum(fewer - 1, xp.ones_like(fewer))


def _units(xp: Namespace, flags: Array, owner: Array | None, weights: Array | None) -> Array:
    """How many units the raised flags belong to, shape (...)."""
    number = xp.count_nonzero(flags, axis=-1)
    if weights is not None:
        number = xp.where(number > 0, kish(xp, flags, weights)[..., 0], 0.0)
    if owner is None:
        return number
    last = xp.max(owner) + 1
    own = xp.sort(xp.where(flags, owner, last), axis=-1)
    first = xp.concat([xp.ones_like(flags[..., :1]), own[..., 1:] != own[..., :-1]], axis=-1)
    found = xp.count_nonzero(first & (own < last), axis=-1)
    return found if weights is None else xp.minimum(number, cast(xp, found, number.dtype))
