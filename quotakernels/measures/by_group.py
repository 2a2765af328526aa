"""Groups of examples: how many each has, and the mean of a measure over them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    compiled,
    computing,
    device,
    finished,
    mapped,
    namespace,
    result_float,
)
from quotakernels._types import Generic, T
from quotakernels.inputs.invalid_rows import invalid_rows, nan_in_invalid
from quotakernels.inputs.keywords import brief, forwarding, public
from quotakernels.inputs.numbers import checked
from quotakernels.inputs.quotas import Totals, numbers_like
from quotakernels.measures._measure import Measure, made_here
from quotakernels.ranking import Ranking, rank, table_of

WEIGHTS = ("examples", "positives", "negatives")
FINITE = (lambda x: (x >= 0) & (x < math.inf), "a finite number, not negative")


class GroupCounts(NamedTuple, Generic[T]):
    """What each group of examples has.

    Attributes
    ----------
    ids : array, shape (..., S)
        What names the groups, in order.
    examples : array, shape (..., S)
        How many examples of it take part: integers, or floats where a group may be NaN.
    positives : array, shape (..., S)
        How many of them are positive.
    """

    ids: Any
    examples: T | Any
    positives: T | Any


class GroupMean(NamedTuple, Generic[T]):
    """The mean of a measure over groups of examples.

    Attributes
    ----------
    value : array, shape (..., *rest)
        The mean over the groups where the measure is defined; NaN if there is none, if their
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
        One that `rank` made with `groups`.

    Returns
    -------
    GroupCounts
        The counts are NaN for a group with a bad value that could not be read.

    Raises
    ------
    TypeError
        A ranking without groups, or something else.

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
        examples, positives = nan_in_invalid(xp, counts, invalid_rows(ranking))
        return GroupCounts(ranking.groups.ids, examples, positives)


def _counted(table: ops.Groups) -> tuple[Array, Array]:
    xp = namespace(table.counts)
    counts = (ops.group_total(xp, table, x) for x in (table.counts, table.positives))
    examples, positives = counts
    return examples, positives


def _check_groups(ranking: Any) -> None:
    if not isinstance(ranking, Ranking):
        raise TypeError(f"ranking must be a Ranking; got {brief(ranking)}")
    if not ranking.groups:
        raise TypeError("the ranking has no groups; give them to rank")


@forwarding(rank)
def group_mean(
    measure: Measure | Callable[..., Any],
    y_true: Any,
    y_score: Any = None,
    *,
    weights: Literal["examples", "positives", "negatives"] | Any = None,
    **keywords: Any,
) -> GroupMean:
    """Mean of a measure over groups of examples.

    Takes labels and scores, with the keywords of `rank`, among them `groups`; or in place of
    `y_true` a `Ranking` that was made with groups.

    Parameters
    ----------
    measure : measure of this library
        One that knows groups, such as `roc_auc`, or `functools.partial` of one.
    weights : {"examples", "positives", "negatives"} or array, shape (S,) or (..., S), optional
        What a group counts for: 1 by default, the mass of its examples, of its positives or of its
        negatives (without sample weights their number), or numbers, not negative, in the rising
        order of the ids.
    **keywords
        The measure's own, such as `quota`.

    Returns
    -------
    GroupMean

    Raises
    ------
    TypeError
        A measure that does not know groups, no groups, unusable weights.
    ValueError
        Weights that are negative, not finite, or of another shape.  Where they cannot be read the
        mean is NaN.

    Notes
    -----
    A group without a value, such as the AUC of one class alone, is left out: it counts neither for
    the sum nor for the weights.  Weighted by examples, the AUC is known as GAUC.

    References
    ----------
    [Zhu 2017].

    Examples
    --------
    >>> from quotakernels import group_mean, hit_rate, roc_auc
    >>> y_true, y_score = [1, 0, 1, 0, 0], [0.9, 0.8, 0.5, 0.6, 0.1]
    >>> user = ["ann", "ann", "bob", "bob", "bob"]
    >>> print(*group_mean(roc_auc, y_true, y_score, groups=user))
    0.75 2
    >>> print(*group_mean(roc_auc, y_true, y_score, groups=user, weights="examples"))
    0.7 2
    >>> print(*group_mean(hit_rate, y_true, y_score, groups=user, quota=1))
    0.5 2
    """
    if not made_here(measure):
        raise TypeError(f"measure must be a measure of this library; got {brief(measure)}")
    of_rank = inspect.signature(rank).parameters
    own = {name: x for name, x in keywords.items() if name not in of_rank}
    given = {name: x for name, x in keywords.items() if name in of_rank}
    if isinstance(y_true, Ranking):
        for name in given:
            raise TypeError(f"{name} cannot be combined with a Ranking; pass it to rank")
        ranking = y_true
    else:
        ranking = rank(y_true, y_score, **given)
    _check_groups(ranking)
    values = measure(ranking, **own)
    xp = namespace(ranking.counts)
    dtype = result_float(xp, device(ranking.counts))
    with computing(xp):
        size = _weights(xp, table_of(xp, ranking, by_group=True), weights)
        mean = mapped(lambda x: compiled(_average, xp)(x, size), values)
        if (invalid := invalid_rows(ranking)) is not None:
            mean = nan_in_invalid(xp, mean, xp.any(invalid, axis=-2))
        defined = mapped(lambda x: xp.count_nonzero(~xp.isnan(x), axis=size.ndim - 1), values)
        return GroupMean(finished(xp, mean, dtype), defined)


def _weights(xp: Namespace, table: ops.Groups, weights: Any) -> Array:
    """What each group counts for, shape (..., S); NaN where a weight is bad."""
    whole, positive, negative = Totals(xp, table)
    if weights is None:
        return xp.ones_like(whole)
    if isinstance(weights, str):
        if weights not in WEIGHTS:
            named = ", ".join(map(repr, WEIGHTS))
            raise ValueError(f"weights must be one of {named} or an array; got {brief(weights)}")
        return dict(zip(WEIGHTS, (whole, positive, negative), strict=True))[weights]
    given = numbers_like(table.counts, "weights", weights)
    if given.shape not in (whole.shape, whole.shape[-1:]):
        raise ValueError(
            f"weights must have shape {tuple(whole.shape[-1:])}, one for each group; "
            f"got shape {tuple(given.shape)}"
        )
    given = checked(xp, {"weights": given}, {"weights": FINITE})["weights"]
    return xp.broadcast_to(given, whole.shape)


def _average(values: Array, size: Array) -> Array:
    """The weighted mean of what is defined over the groups, the last axis of the weights."""
    xp, axis = namespace(values), size.ndim - 1
    size = xp.reshape(size, (*size.shape, *(1 for _ in values.shape[size.ndim :])))
    values = cast(xp, values, size.dtype)
    weight = xp.where(xp.isnan(values), xp.zeros_like(values), size)
    weighted = xp.where(xp.isnan(values), weight, weight * values)

    def along(x: Array) -> Array:
        """The sum over the groups."""
        return ops.total(xp, xp.permute_dims(x, (*range(axis), *range(axis + 1, x.ndim), axis)))

    return along(weighted) / along(weight)
