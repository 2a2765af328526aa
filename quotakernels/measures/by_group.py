"""Groups of examples: how many each has, and the mean of a measure over them."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    compiled,
    computing,
    device,
    finished,
    namespace,
    result_float,
    tree_map,
)
from quotakernels._records import plainly
from quotakernels._types import Generic, Numbers, T
from quotakernels.inputs.examples import good_rows, nan_unless_valid
from quotakernels.inputs.keywords import forwarding, keywords_of, public, refuse_unknown, show_value
from quotakernels.inputs.numbers import checked, numbers_like
from quotakernels.inputs.totals import Totals
from quotakernels.measures._facts import (
    headline_of,
    made_here,
    needs_ideal,
    of_all_groups,
    own_direction,
    title_of,
    without_arms,
    without_costs,
    without_gains,
)
from quotakernels.measures._measure import Measure, taken_of_rank
from quotakernels.ranking import Ranking, rank, ranked, table_of

_OF_RANK = tuple(inspect.signature(rank).parameters)
WEIGHTS = ("examples", "positives", "negatives")
GroupWeights: TypeAlias = Literal["examples", "positives", "negatives"]
FINITE = (lambda x: (x >= 0) & (x < math.inf), "a finite number, not negative")


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
    with computing(xp):
        counts = compiled(_counted, xp)(table_of(xp, ranking, by_group=True))
        examples, positives = nan_unless_valid(xp, counts, good_rows(ranking))
        return GroupCounts(ranking.groups.ids, examples, positives)


def _counted(table: ops.Groups) -> tuple[Array, Array]:
    xp = namespace(table.counts)
    counts = (ops.group_total(xp, table, x) for x in (table.counts, table.positives))
    examples, positives = counts
    return examples, positives


def _check_groups(ranking: Any) -> None:
    if not isinstance(ranking, Ranking):
        raise TypeError(f"ranking must be a Ranking; got {show_value(ranking)}")
    if not ranking.groups:
        raise TypeError("the ranking has no groups; give them to rank")


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
        self.greater_is_better = own_direction(measure)
        self.headline = ".".join(filter(None, ("value", headline_of(measure))))
        self.own_keywords = keywords_of(measure)
        self.takes_costs = not without_costs(measure)
        self.of_gains = not without_gains(measure)
        self.of_arms = not without_arms(measure)
        self.of_ideal = needs_ideal(measure)
        self.__name__ = f"group_mean({title_of(measure)})"

    def __call__(self, y_true: Any, y_score: Any = None, **keywords: Any) -> Any:
        """The mean over the groups of labels and scores, or over those of a ranking."""
        given, own = _parted(keywords)
        if "weights" in own:
            raise TypeError(f"pass weights to group_mean, which made {self.__name__}")
        if not isinstance(y_true, Ranking):
            y_true = self._ranked(y_true, y_score, given)
        elif extra := [*(() if y_score is None else ("y_score",)), *given]:
            raise TypeError(f"{extra[0]} cannot be combined with a Ranking; pass it to rank")
        return mean_of_groups(self.of_groups(y_true, **own))

    def _ranked(self, y_true: Any, y_score: Any, given: dict[str, Any]) -> Ranking:
        taken = taken_of_rank(self.of_gains, self.takes_costs, self.of_arms, by_group=True)
        refuse_unknown(self.__name__, given, list(taken))
        if given.get("groups") is None:
            raise TypeError("group_mean needs groups, the group of each example")
        if y_true is None:
            self.check_unlabelled()
        return ranked(y_true, y_score, **given, ideal=self.of_ideal)

    def check_unlabelled(self) -> None:
        """Raise for weights by class, which gains without labels do not tell."""
        if isinstance(self.weights, str) and self.weights in WEIGHTS[1:]:
            raise TypeError(f'weights="{self.weights}" needs y_true, which tells the classes')

    def of_groups(self, ranking: Ranking, **own: Any) -> GroupValues:
        """What is averaged."""
        _check_groups(ranking)
        values = self.measure(ranking, **own)
        xp = namespace(ranking.counts)
        with computing(xp):
            size = _weights(xp, table_of(xp, ranking, by_group=True), self.weights)
            if (good := good_rows(ranking)) is not None:
                size = ops.nan_unless(xp, good[..., 0], size)
        return GroupValues(values, size)

    def __repr__(self) -> str:
        return f"<measure {self.__name__}>"


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
    0.76 0.83
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
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = {}
    while isinstance(measure, functools.partial):
        arguments, options = (*measure.args, *arguments), measure.keywords | options
        measure = measure.func
    if measure is group_mean and len(arguments) == 1:
        found: MeanOverGroups = group_mean(*arguments, **options)
        return found
    if not isinstance(measure, MeanOverGroups) or arguments:
        return None
    return MeanOverGroups(measure.measure, measure.weights, options)


def as_mean_over_groups(measure: Any) -> MeanOverGroups:
    """The mean over groups that a measure is, or else that of the measure."""
    return mean_over_groups(measure) or group_mean(measure)


def needs_costs(measure: Any, **options: Any) -> str:
    """The name of a measure, or of one that is averaged over groups, if it needs what each example
    costs; else empty.
    """
    function, options = without_options(measure, **options)
    needed = getattr(function, "of_costs", False) or options.get("budget") is not None
    return title_of(function) if needed else ""


def check_complete(measure: Any) -> None:
    """Raise for a measure, or a mean of one over groups, to which labels and scores say too little.

    Those that come as functions from elsewhere are not known.
    """
    function, options = without_options(measure)
    if not isinstance(function, Measure):
        return
    name = function.__name__
    if function.of_gains and function.needs_gains:
        what = "what each example brings, which a metric does not keep; a ScoreBuffer keeps it"
        raise TypeError(f"{name} needs {what}")
    if lacking := function.lacking(options):
        either = " or ".join(f"{x}=" for x in lacking)
        raise TypeError(f"{name} needs {either}; pass {name}.with_options({lacking[0]}=…)")


def without_options(measure: Any, /, **options: Any) -> tuple[Any, dict[str, Any]]:
    """The measure in `functools.partial` and in a mean over groups, and its options."""
    mean = mean_over_groups(measure)
    function: Any = measure if mean is None else mean.measure
    while isinstance(function, functools.partial):
        function, options = function.func, function.keywords | options
    return function, options


def _weights(xp: Namespace, table: ops.Groups, weights: Any) -> Array:
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
    given = checked(xp, {"weights": given}, {"weights": FINITE})["weights"]
    return xp.broadcast_to(given, whole.shape)


def mean_of_groups(groups: GroupValues, drawn: Array | None = None) -> GroupMean[Any]:
    """The mean over groups; of resamples, shape (..., *rest, R), in which each group is `drawn` so
    often, shape (R, S).
    """
    values, size = groups
    xp = namespace(size)
    dtype = result_float(xp, device(size))
    with computing(xp):
        mean = tree_map(lambda x: compiled(_average, xp)(x, size, drawn), values)
        defined = tree_map(lambda x: _defined(x, size.ndim - 1, drawn), values)
        return GroupMean(finished(xp, mean, dtype), defined)


def _average(values: Array, size: Array, drawn: Array | None) -> Array:
    """The weighted mean of what is defined over the groups, the last axis of the weights.

    A size that is NaN spoils it.
    """
    xp, axis = namespace(values), size.ndim - 1
    values = _groups_last(xp, cast(xp, values, size.dtype), axis)
    between = (1,) * (values.ndim - size.ndim)
    size = xp.reshape(size, (*size.shape[:-1], *between, size.shape[-1]))
    left_out = xp.isnan(values) & ~xp.isnan(size)
    nothing = xp.zeros_like(values)
    weight = xp.where(left_out, nothing, size)
    sums = (xp.where(left_out, nothing, weight * values), weight)
    if drawn is not None:
        often = cast(xp, drawn, size.dtype)
        sums = tuple(xp.expand_dims(x, axis=-2) * often for x in sums)
    weighted, weight = (ops.total(xp, x) for x in sums)
    return weighted / weight


def _defined(values: Array, axis: int, drawn: Array | None) -> Array:
    """How many groups have the measure defined; a group that is drawn twice counts twice."""
    xp = namespace(values)
    there = _groups_last(xp, ~xp.isnan(values), axis)
    if drawn is None:
        return ops.count(xp, there)[..., 0]
    often = cast(xp, xp.expand_dims(there, axis=-2), xp.int64) * cast(xp, drawn, xp.int64)
    return xp.sum(often, axis=-1)


def _groups_last(xp: Namespace, x: Array, axis: int) -> Array:
    """Arrays with the axis of the groups moved to the end."""
    return xp.permute_dims(x, (*range(axis), *range(axis + 1, x.ndim), axis))
