"""Groups of examples: their counts, means of measures over them, and what each gets of a quota."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, tree_map
from quotakernels._records import plainly
from quotakernels._types import Generic, Numbers, T
from quotakernels.inputs.columns import COLUMNS
from quotakernels.inputs.cuts import wanted_masses, whole_if_close
from quotakernels.inputs.examples import good_rows, nan_unless_valid
from quotakernels.inputs.keywords import forwarding, keywords_of, public, refuse_unknown, show_value
from quotakernels.inputs.numbers import AMOUNT, checked, numbers_like
from quotakernels.inputs.totals import Totals
from quotakernels.measures._facts import (
    fact,
    made_here,
    needs_ideal,
    of_all_groups,
    takes,
    title_of,
    unwrapped,
)
from quotakernels.measures._measure import Measure, measure, repr_of_measure, taken_of_rank
from quotakernels.measures.at_quota import float_thresholds, positives_at
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, rank, ranked, table_of

_OF_RANK = tuple(inspect.signature(rank).parameters)
WEIGHTS = ("examples", "positives", "negatives")
GroupWeights: TypeAlias = Literal["examples", "positives", "negatives"]


@plainly
class GroupCounts(NamedTuple, Generic[T]):
    """What each group of examples has.

    Attributes
    ----------
    ids : array, shape (..., S)
        The ids of the groups, in ascending order.
    examples : array, shape (..., S)
        How many examples each group has, without masked ones: integers, or floats where a group may
        be NaN.
    positives : array, shape (..., S)
        How many of these are positive.
    """

    ids: Any
    examples: T | Any
    positives: T | Any


@plainly
class GroupMean(NamedTuple, Generic[T]):
    """The mean of a measure over groups of examples.

    Attributes
    ----------
    value : array, shape (..., *rest)
        The mean over the groups where the measure is defined.  NaN if there is none, if their
        weights are all 0, and if a group has a bad value that could not be read.
    defined : integer array, shape (..., *rest)
        How many these are.
    """

    value: T
    defined: Any


@public
def group_counts(ranking: Ranking[T]) -> GroupCounts[T]:
    """Count the examples and the positives of each group.

    Parameters
    ----------
    ranking : Ranking
        A ranking that `rank` made with `groups`.

    Returns
    -------
    GroupCounts
        The counts are NaN for a group with a bad value that could not be read.

    Raises
    ------
    TypeError
        Anything but a ranking with groups.

    See Also
    --------
    group_mean : the mean of a measure over the groups.

    References
    ----------
    [Zhu 2017], where such counts weigh the users.

    Examples
    --------
    >>> from quotakernels import group_counts, rank
    >>> ranking = rank([1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.1], groups=list("aabbb"))
    >>> found = group_counts(ranking)
    >>> print(found.ids, found.examples, found.positives)
    ['a' 'b'] [2 3] [1 1]
    """
    _check_groups(ranking)
    xp = namespace(ranking.counts)
    with xp.computing():
        counts = xp.compiled(_counted)(table_of(xp, ranking, by_group=True))
        examples, positives = nan_unless_valid(xp, counts, good_rows(ranking))
        return GroupCounts(ranking.groups.ids, examples, positives)


def _counted(table: ops.TieTable) -> tuple[Array, Array]:
    xp = namespace(table.counts)
    return xp.group_total(table, table.counts), xp.group_total(table, table.positives)


def _check_groups(ranking: Any) -> None:
    if not isinstance(ranking, Ranking):
        raise TypeError(f"ranking must be a Ranking; got {show_value(ranking)}")
    if not ranking.groups:
        raise TypeError("the ranking has no groups; give them to rank")


@plainly
class Entities(NamedTuple, Generic[T]):
    """Groups of examples as examples themselves, each field of shape (..., S).

    Attributes
    ----------
    y_true : array
        1 where an example of the group is positive, else 0.
    y_score : array
        The best score of the group; NaN of a group without examples.
    gain : array
        What the positives of the group bring together; an empty tuple if no gains were given.
    """

    y_true: T
    y_score: Any
    gain: T | Any


@measure(Measure, takes=("gain",), greater_is_better=None, by_group=True)
def entities(table: ops.TieTable) -> Entities:
    """Labels and scores of groups: cards, customers or patients, of which one alert finds all.

    A group is positive if one of its examples is, and has the best of their scores.  Measures of
    these labels and scores count groups: their hit rate at a quota of k is card precision at k.

    Takes labels, scores and `groups`, or a `Ranking` with groups; the other keywords are those of
    `rank`.

    Returns
    -------
    Entities
        In the order of `group_counts`, which has the ids.  A group with a bad value that could not
        be read has NaN.

    Raises
    ------
    TypeError
        No groups.

    See Also
    --------
    group_mean : a measure of each group, and their mean.

    Notes
    -----
    Pass ``entities.gain`` as `gain` of `value_found`.  Weights say which examples count, not how
    much a group does.  With fewer groups than `num_groups`, pass ``where=~isnan(y_score)``.

    References
    ----------
    [Le Borgne 2022], card precision.

    Examples
    --------
    >>> from quotakernels import hit_rate
    >>> from quotakernels.groups import entities
    >>> fraud, score = [1, 1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.1]
    >>> cards = entities(fraud, score, groups=["a", "a", "b", "c", "c"])
    >>> print(cards.y_true, cards.y_score)
    [1. 0. 1.] [0.9 0.7 0.6]
    >>> print(hit_rate(cards.y_true, cards.y_score, quota=2))
    0.5
    """
    if not table.groups:
        raise TypeError("entities are groups of examples: pass groups=")
    xp = namespace(table.counts)
    first = xp.first_flagged(table, table.counts > 0)
    score = xp.take_last_axis(float_thresholds(xp, table.thresholds), first[0])
    positive = xp.group_total(table, table.positive)
    gain: Any = ()
    if "gain" in table.columns:
        gain = xp.group_total(table, table.columns["gain"].positive)
    return Entities(xp.wide(positive > 0), xp.nan_unless(first[1], score), gain)


class GroupValues(NamedTuple):
    """A measure of each group, shape (..., S, *rest), or a record of such, and what a group counts
    for, shape (..., S).
    """

    values: Any
    size: Array


class MeanOverGroups:
    """The mean of a measure over groups of examples, a measure itself.

    Callable on labels and scores with their `groups`, or on a `Ranking` that has groups.
    """

    made_here = True

    def __init__(self, measure: Any, weights: Any, own: dict[str, Any]):
        self.measure = functools.partial(measure, **own) if own else measure
        self.weights = weights
        self.greater_is_better = fact(measure, "greater_is_better")
        self.headline = ".".join(filter(None, ("value", fact(measure, "headline", ""))))
        self.own_keywords = keywords_of(measure)
        self.takes = tuple(x for x in COLUMNS if takes(measure, x))
        self.ideal = needs_ideal(measure)
        self.__name__ = f"group_mean({title_of(measure)})"

    def __call__(self, y_true: Any, y_score: Any = None, **keywords: Any) -> Any:
        """The mean over the groups of labels and scores, or over those of a ranking."""
        given, own = _parted(keywords)
        if "weights" in own:
            raise TypeError(f"pass weights to group_mean, which made {self.__name__}")
        if not isinstance(y_true, Ranking):
            y_true = self._ranking_of(y_true, y_score, given)
        elif extra := [*(() if y_score is None else ("y_score",)), *given]:
            raise TypeError(f"{extra[0]} cannot be combined with a Ranking; pass it to rank")
        return mean_of_groups(self.of_groups(y_true, **own))

    def _ranking_of(self, y_true: Any, y_score: Any, given: dict[str, Any]) -> Ranking:
        taken = taken_of_rank(self.takes, by_group=True)
        refuse_unknown(self.__name__, given, list(taken))
        if given.get("groups") is None:
            raise TypeError("group_mean needs groups, the group of each example")
        if y_true is None:
            self.check_unlabelled()
        return ranked(y_true, y_score, **given, ideal=self.ideal)

    def check_unlabelled(self) -> None:
        """Raise for weights by class, which gains without labels do not tell."""
        if isinstance(self.weights, str) and self.weights in WEIGHTS[1:]:
            raise TypeError(f'weights="{self.weights}" needs y_true, which tells the classes')

    def of_groups(self, ranking: Ranking, **own: Any) -> GroupValues:
        """What is averaged."""
        _check_groups(ranking)
        values = self.measure(ranking, **own)
        xp = namespace(ranking.counts)
        with xp.computing():
            size = _weights(xp, table_of(xp, ranking, by_group=True), self.weights)
            if (good := good_rows(ranking)) is not None:
                size = xp.nan_unless(good[..., 0], size)
        return GroupValues(values, size)

    __repr__ = repr_of_measure


@forwarding(rank)
def group_mean(
    measure: Any,
    y_true: Any = None,
    y_score: Any = None,
    *,
    weights: GroupWeights | Numbers | None = None,
    **options: Any,
) -> Any:
    """Mean of a measure over groups of examples.

    Takes labels and scores with the keywords of `rank`, including `groups`; or a `Ranking` that was
    made with groups in place of `y_true`.  Without data it returns a measure that takes the same.
    `bootstrap`, `compare` and the functions of folds accept it.

    Parameters
    ----------
    measure : measure of this library
        A measure that takes groups, such as `roc_auc`, or `functools.partial` of one.
    weights : {"examples", "positives", "negatives"} or array, shape (S,) or (..., S), optional
        The weight of each group: 1 by default; the mass of its examples, of its positives or of its
        negatives (without sample weights their number); or numbers, not negative, in ascending
        order of the ids.
    **options
        The measure's own arguments, such as `quota`.

    Returns
    -------
    GroupMean
        Or the measure.

    Raises
    ------
    TypeError
        A measure that takes no groups, no groups, unusable weights; weights by positives or
        negatives where gains come without labels.
    ValueError
        Weights that are negative, not finite, or of another shape.  Where they cannot be read the
        mean is NaN.

    Notes
    -----
    A group without a value, such as the AUC of a single class, is left out of the sum and of the
    weights.  The AUC weighted by examples is known as GAUC.

    References
    ----------
    [Zhu 2017].

    Examples
    --------
    >>> import numpy as np
    >>> from quotakernels import bootstrap, group_mean, hit_rate, roc_auc
    >>> y_true, y_score = [1, 0, 1, 0, 0], [0.9, 0.8, 0.5, 0.6, 0.1]
    >>> user = ["ann", "ann", "bob", "bob", "bob"]
    >>> print(*group_mean(roc_auc, y_true, y_score, groups=user))
    0.75 2
    >>> print(*group_mean(roc_auc, y_true, y_score, groups=user, weights="examples"))
    0.7 2
    >>> mean_hit_rate = group_mean(hit_rate, quota=1)
    >>> print(*mean_hit_rate(y_true, y_score, groups=user))
    0.5 2
    >>> rng = np.random.default_rng(1)
    >>> user, y_true = rng.integers(0, 30, size=600), rng.random(600) < 0.3
    >>> y_score = rng.normal(y_true)
    >>> found = bootstrap(group_mean(roc_auc), y_true, y_score, groups=user, random_state=1)
    >>> print(found.value.lower.round(2), found.value.upper.round(2))
    0.76 0.84
    """
    if not made_here(measure) or isinstance(measure, Mapping):
        raise TypeError(f"measure must be a measure of this library; got {show_value(measure)}")
    if name := of_all_groups(measure):
        raise TypeError(f"{name} is about all groups together, so it has no mean over them")
    given, own = _parted(options)
    mean = MeanOverGroups(measure, weights, own)
    if y_true is None and y_score is None:
        for name in given:
            raise TypeError(f"{name} goes with labels and scores; group_mean has none")
        return mean
    return mean(y_true, y_score, **given)


def _parted(keywords: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What goes with labels and scores, and what is the measure's own."""
    given = {name: x for name, x in keywords.items() if name in _OF_RANK}
    return given, {name: x for name, x in keywords.items() if name not in given}


def mean_over_groups(measure: Any) -> MeanOverGroups | None:
    """The mean over groups that a measure is, in `functools.partial` or not; None of any other."""
    measure, arguments, options = unwrapped(measure)
    if measure is group_mean and len(arguments) == 1:
        found: MeanOverGroups = group_mean(*arguments, **options)
        return found
    if not isinstance(measure, MeanOverGroups) or arguments:
        return None
    return MeanOverGroups(measure.measure, measure.weights, options)


def as_mean_over_groups(measure: Any) -> MeanOverGroups:
    """The mean over groups that a measure is, or else that of the measure."""
    return mean_over_groups(measure) or group_mean(measure)


def needed_columns(measure: Any, **options: Any) -> dict[str, str]:
    """The gains, costs and treatments that a measure needs, or one that is averaged over groups,
    and its name for each.
    """
    function, options = without_options(measure, **options)
    paid = ("cost",) if options.get("budget") is not None else ()
    names = (*getattr(function, "needs", ()), *paid)
    return {name: title_of(function) for name in COLUMNS if name in names}


def without_options(measure: Any, /, **options: Any) -> tuple[Any, dict[str, Any]]:
    """The measure in `functools.partial` and in a mean over groups, and its options."""
    mean = mean_over_groups(measure)
    function, _, own = unwrapped(measure if mean is None else mean.measure)
    return function, own | options


def _weights(xp: Namespace, table: ops.TieTable, weights: Any) -> Array:
    """What each group counts for, shape (..., S); NaN where a weight is bad."""
    whole, positive, negative = Totals(xp, table)
    if weights is None:
        return xp.ones_like(whole)
    if isinstance(weights, str):
        if weights not in WEIGHTS:
            named = ", ".join(map(repr, WEIGHTS))
            raise ValueError(
                f"weights must be one of {named} or an array; got {show_value(weights)}"
            )
        return dict(zip(WEIGHTS, (whole, positive, negative), strict=True))[weights]
    given = numbers_like(table.counts, "weights", weights)
    if given.shape not in (whole.shape, whole.shape[-1:]):
        raise ValueError(
            f"weights must have shape {tuple(whole.shape[-1:])}, one for each group; "
            f"got shape {tuple(given.shape)}"
        )
    given = checked(xp, {"weights": given}, {"weights": AMOUNT})["weights"]
    return xp.broadcast_to(given, whole.shape)


def mean_of_groups(groups: GroupValues, drawn: Array | None = None) -> GroupMean[Any]:
    """The mean over groups; of resamples, shape (..., *rest, R), in which each group is `drawn` so
    often, shape (R, S).
    """
    values, size = groups
    xp = namespace(size)
    dtype = xp.result_float(device(size))
    with xp.computing():
        mean = tree_map(lambda x: xp.compiled(_average)(x, size, drawn), values)
        defined = tree_map(lambda x: _defined(x, size.ndim - 1, drawn), values)
        return GroupMean(xp.finished(mean, dtype), defined)


def _average(values: Array, size: Array, drawn: Array | None) -> Array:
    """The weighted mean of what is defined over the groups, the last axis of the weights.

    A size that is NaN spoils it.
    """
    xp, axis = namespace(values), size.ndim - 1
    values = _groups_last(xp, xp.cast(values, size.dtype), axis)
    between = (1,) * (values.ndim - size.ndim)
    size = xp.reshape(size, (*size.shape[:-1], *between, size.shape[-1]))
    left_out = xp.isnan(values) & ~xp.isnan(size)
    nothing = xp.zeros_like(values)
    weight = xp.where(left_out, nothing, size)
    sums = (xp.where(left_out, nothing, weight * values), weight)
    if drawn is not None:
        often = xp.cast(drawn, size.dtype)
        sums = tuple(xp.expand_dims(x, axis=-2) * often for x in sums)
    weighted, weight = (xp.total(x) for x in sums)
    return weighted / weight


def _defined(values: Array, axis: int, drawn: Array | None) -> Array:
    """How many groups have the measure defined; a group that is drawn twice counts twice."""
    xp = namespace(values)
    there = _groups_last(xp, ~xp.isnan(values), axis)
    if drawn is None:
        return xp.count(there)[..., 0]
    often = xp.cast(xp.expand_dims(there, axis=-2), xp.int64) * xp.cast(drawn, xp.int64)
    return xp.sum(often, axis=-1)


def _groups_last(xp: Namespace, x: Array, axis: int) -> Array:
    """Arrays with the axis of the groups moved to the end."""
    return xp.permute_dims(x, (*range(axis), *range(axis + 1, x.ndim), axis))


@plainly
class SelectionByGroup(NamedTuple, Generic[T]):
    """What each group gets of one quota over all examples, and how far the groups are apart.

    Attributes
    ----------
    selected : array, shape (..., S, *Q)
        Expected number (or mass) of examples of the group that are selected.
    found : array, shape (..., S, *Q)
        Expected number (or mass) of positives among them.
    selection_rate : array, shape (..., S, *Q)
        The share of the group that is selected.
    hit_rate : array, shape (..., S, *Q)
        The share of positives among its selected.
    qrecall : array, shape (..., S, *Q)
        The share of its positives that are selected, its true positive rate.
    demographic_parity_ratio : array, shape (..., *Q)
        The smallest selection rate over the largest.
    equal_opportunity_difference : array, shape (..., *Q)
        The largest Qrecall minus the smallest.
    found_by_split : array, shape (..., S, *Q)
        The positives found in the group if each group has its own quota, in proportion to its size,
        or its own budget, in proportion to its cost.
    split_cost : array, shape (..., *Q)
        How many fewer positives these quotas find in total; negative if they find more.
    """

    selected: T
    found: T
    selection_rate: T
    hit_rate: T
    qrecall: T
    demographic_parity_ratio: T
    equal_opportunity_difference: T
    found_by_split: T
    split_cost: T


def _wanted_over_all(
    xp: Namespace,
    table: ops.TieTable,
    *,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
) -> tuple[tuple[Array, Array], tuple[int, ...]]:
    """The wanted masses of all groups together, shape (..., K), and of each in proportion, shape
    (..., S, K).
    """
    if not table.groups:
        raise TypeError("selection_by_group needs groups, the group of each example")
    paid = budget is not None and "cost" in table.columns
    together = xp.compiled(_together)(table) if paid else table._replace(groups=())
    (wanted,), shape = wanted_masses(xp, together, quota=quota, fraction=fraction, budget=budget)
    if not paid:
        return (wanted, xp.compiled(_in_proportion)(table, wanted)), shape
    money = xp.reshape(numbers_like(table.counts, "budget", budget), (-1,))
    return (wanted, xp.compiled(_paid_in_proportion)(table, wanted, money)), shape


def _in_proportion(table: ops.TieTable, wanted: Array) -> Array:
    xp = namespace(wanted)
    whole = Totals(xp, table).whole
    everybody = xp.total(whole)[..., None, None]
    return whole_if_close(xp, wanted[..., None, :] * whole[..., None] / everybody)


def _paid_in_proportion(table: ops.TieTable, wanted: Array, money: Array) -> Array:
    """What each group's part of the money pays for; nobody costs nothing, or all do."""
    xp = namespace(wanted)
    total = Totals(xp, table)
    whole, cost = total.whole[..., None], total.cost[..., None]
    spent = xp.sum(cost, axis=-2, keepdims=True)
    own = xp.minimum(money * cost / xp.where(spent > 0, spent, xp.ones_like(spent)), cost)
    found = xp.minimum(xp.mass_within(table, own), whole)
    found = xp.where(own < cost, found, whole)
    undefined = xp.isnan(wanted)[..., None, :]
    return xp.nan_unless(~undefined, found)


@measure(Measure, numbers=_wanted_over_all, greater_is_better=None, by_group=True, over_groups=True)
def selection_by_group(table: ops.TieTable, wanted: Array, apart: Array) -> SelectionByGroup[Array]:
    """One quota or budget over all examples, and what each group gets of it.

    Takes labels and scores with `groups`, or a `Ranking` that was made with groups; the other
    keywords are those of `rank`.

    Parameters
    ----------
    quota, fraction, budget : number or array, shape Q, optional
        How many examples are selected in all groups together (with weights, how much mass), which
        share of all, or what they may cost.

    Returns
    -------
    SelectionByGroup
        A rate of a group without examples, selected examples or positives is NaN, and is left out
        of the ratio and the difference.  Everything is NaN if a group has a bad value that could
        not be read.

    Raises
    ------
    TypeError
        No groups.
    ValueError
        A quota or budget that `hit_rate` refuses.

    See Also
    --------
    hit_rate, qrecall : with `groups`, a quota of each group.

    Notes
    -----
    Groups that are tied where the quota ends share the remaining places in proportion to their tied
    examples.  Within a group the tie policy says which of these are selected.  With weights all
    numbers are masses.  The ratio and the difference say how far the groups are apart at this
    quota, but not why.

    References
    ----------
    [Hardt 2016], equal opportunity; [Feldman 2015], the ratio of selection rates; [Bird 2020], the
    names.

    Examples
    --------
    >>> from quotakernels.groups import selection_by_group
    >>> y_true, y_score = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.6, 0.1]
    >>> region = ["n", "n", "n", "s", "s", "s"]
    >>> found = selection_by_group(y_true, y_score, groups=region, quota=4)
    >>> print(found.selected, found.found, found.hit_rate.round(2), found.qrecall)
    [3. 1.] [2.  0.5] [0.67 0.5 ] [1.  0.5]
    >>> print(found.demographic_parity_ratio.round(2), found.equal_opportunity_difference)
    0.33 0.5
    >>> print(found.found_by_split, found.split_cost)
    [1. 1.] 0.5
    """
    xp, number = namespace(wanted), wanted.shape[-1]
    if number == 0:  # any quota tells the shapes of none
        shapes, where = [(*x.shape[:-1], 1) for x in (wanted, apart)], device(wanted)
        wanted, apart = (xp.zeros(x, dtype=wanted.dtype, device=where) for x in shapes)
    edges, by_split = _edges(xp, table, wanted), positives_at(xp, table, apart)
    total, keyed = Totals(xp, table), table._replace(thresholds=_keys(xp, table))
    found = [
        _at_one_quota(keyed, total, _Edge(*(x[..., k : k + 1] for x in edges)), by_split[..., k])
        for k in range(wanted.shape[-1])
    ]
    fields = (xp.stack(x, axis=-1)[..., :number] for x in zip(*found, strict=True))
    return SelectionByGroup(*fields)


class _Edge(NamedTuple):
    """Where quotas end in all groups together, shapes (..., K): the key, how many are tied there,
    and how many of these are taken.
    """

    key: Array
    tied: Array
    taken: Array


def _at_one_quota(
    table: ops.TieTable, total: Totals, edge: _Edge, by_split: Array
) -> SelectionByGroup[Array]:
    """What one quota gives each group, of a table with keys for thresholds, and what a split one
    finds, shape (..., S): fields of shapes (..., S) and (...).
    """
    xp = namespace(by_split)
    selected, found = _shares(xp, table, edge)
    size = xp.nan_unless(total.whole > 0, total.whole)
    rate = _share(xp, selected / (edge.tied * size))
    recall = _share(xp, found / (edge.tied * total.positive))
    lowest, highest = _ends(xp, rate)
    least, most = _ends(xp, recall)
    return SelectionByGroup(
        selected / edge.tied,
        found / edge.tied,
        rate,
        _share(xp, found / selected),
        recall,
        lowest / highest,
        most - least,
        by_split,
        xp.total(found) / edge.tied[..., 0] - xp.total(by_split),
    )


def _share(xp: Namespace, value: Array) -> Array:
    """A share, which rounded sums of weights may lift above 1 by an ulp."""
    return xp.at_most(value, 1.0)


def _ends(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """The least and the most of a value of groups, of those that have one."""
    there = xp.any(x == x, axis=-1)
    low = xp.min(xp.where(x == x, x, xp.full_like(x, xp.inf)), axis=-1)
    high = xp.max(xp.where(x == x, x, xp.full_like(x, -xp.inf)), axis=-1)
    return xp.nan_unless(there, low), xp.nan_unless(there, high)


def _keys(xp: Namespace, table: ops.TieTable) -> Array:
    """The score of each row as a number; rows without examples are last."""
    key = xp.order_key(table.thresholds)
    return xp.where(table.counts > 0, key, xp.lowest_key(key))


def _edges(xp: Namespace, table: ops.TieTable, wanted: Array) -> _Edge:
    """Where the quotas end when the rows of all groups are ranked together."""
    together = _together(table)
    index, row = xp.rows_at(together, wanted)
    tied = xp.where(row.mass > 0, row.mass, xp.ones_like(row.mass))
    taken = xp.minimum(wanted - row.mass_before, row.mass)  # sums are rounded
    return _Edge(xp.column_at(together, together.thresholds, index), tied, taken)


def _together(table: ops.TieTable) -> ops.TieTable:
    """The rows of all groups as one table, best first, in which keys stand for thresholds."""
    xp = namespace(table.counts)
    key = _keys(xp, table)
    order = xp.argsort(key, axis=-1, descending=True, stable=True)
    columns = {name: x for name, x in table.columns.items() if name == "cost"}
    rows = table._replace(thresholds=key, columns=columns)
    rows = rows.map(lambda x: xp.take_last_axis(x, order))
    key = rows.thresholds
    last = xp.ones_like(key[..., :1]) == 1
    last = xp.concat([key[..., 1:] != key[..., :-1], last], axis=-1)
    return xp.merged(rows, last)._replace(groups=())


def _shares(xp: Namespace, table: ops.TieTable, edge: _Edge) -> tuple[Array, Array]:
    """How much of each group is selected, and the positives of that, `tied` times."""
    key, dtype = table.thresholds, edge.taken.dtype
    there = table.counts > 0
    above, at = there & (key > edge.key), there & (key == edge.key)
    mass, positive = table.mass, table.positive

    def of_groups(rows: Array, x: Array) -> Array:
        return xp.cast(xp.group_total(table, xp.where(rows, x, xp.zeros_like(x))), dtype)

    here = xp.where(at, mass, xp.zeros_like(mass))
    own = of_groups(at, mass)
    before = xp.cast(xp.running_total(table, here) - here, dtype)
    here, positive_here = (xp.cast(x, dtype) for x in (here, positive))
    part = xp.repeat_per_row(table, edge.taken * own) - edge.tied * before
    part = xp.minimum(xp.maximum(part, xp.zeros_like(here)), edge.tied * here)
    part = part / xp.where(here > 0, here, xp.ones_like(here))
    selected = edge.tied * of_groups(above, mass) + edge.taken * own
    return selected, edge.tied * of_groups(above, positive) + of_groups(at, part * positive_here)
