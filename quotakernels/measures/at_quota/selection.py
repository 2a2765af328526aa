"""Who fills the quota: decisions from scores alone, without labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    compiled,
    computing,
    device,
    finished,
    namespace,
    readable,
    result_float,
    to_numpy,
)
from quotakernels._records import plainly
from quotakernels._types import Generic, T, WhenShort
from quotakernels.inputs.columns import MASS_ROUNDING, as_column
from quotakernels.inputs.cuts import wanted_masses
from quotakernels.inputs.examples import Examples, Validated
from quotakernels.inputs.gains import validate_scores
from quotakernels.inputs.keywords import public
from quotakernels.inputs.numbers import in_library_of
from quotakernels.inputs.totals import Totals
from quotakernels.measures._unsorted import ranking_at
from quotakernels.measures.at_quota.curves import float_thresholds
from quotakernels.ranking import table_of

NDArray = np.ndarray[Any, Any]


def whole_cases(examples: Examples, limit: Array, codes: Array | None, random_state: Any) -> Array:
    """1 for each example that is taken, 0 for others: best first, all that still fit the limit.

    Limits are of shape (..., 1), or (..., S, 1) of groups; NaN where there are none.
    """
    xp = namespace(limit)
    factors = [x for x in (examples.weights, examples.columns.get("cost")) if x is not None]
    given = [ops.order_key(xp, examples.scores), limit, *factors]
    if not all(map(readable, given)):
        raise TypeError("whole=True needs scores that the host can read, outside of programs")
    key, limits, *factors = map(to_numpy, given)
    shape = (-1, key.shape[-1])

    def rows(x: Any) -> NDArray:
        return np.broadcast_to(x, key.shape).reshape(shape)

    there = rows(True if examples.valid is None else to_numpy(examples.valid))
    price = np.prod([rows(1.0), *map(rows, factors)], axis=0)
    limits = limits.reshape(-1, 1 if codes is None else limits.shape[-2])
    groups = rows(0 if codes is None else to_numpy(codes))
    generator = np.random.default_rng(ops.entropy(random_state))
    columns = zip(rows(key), price, there, groups, limits, strict=True)
    taken = np.stack([_taken(*each, generator.random(shape[-1])) for each in columns])
    return xp.asarray(taken.reshape(key.shape), dtype=limit.dtype, device=device(limit))


def _taken(
    key: NDArray, price: NDArray, there: NDArray, group: NDArray, limit: NDArray, draws: NDArray
) -> NDArray:
    """Of one list; equal keys are in the order of the draws."""
    order = np.lexsort((draws, key))[::-1]
    order = order[there[order]]
    left, slack = limit.tolist(), (MASS_ROUNDING * limit).tolist()
    chosen = []
    columns = (order, price[order], group[order])
    for place, cost, of in zip(*(x.tolist() for x in columns), strict=True):
        if cost <= left[of] + slack[of]:
            left[of] -= cost
            chosen.append(place)
    taken = np.where(np.isnan(limit[group]), np.nan, 0.0)
    taken[chosen] = 1.0
    return taken


@plainly
class QuotaThreshold(NamedTuple, Generic[T]):
    """Where a quota ends; every field has the shape of the batch and the quota.

    Attributes
    ----------
    threshold : array
        Score of the last selected example, shared by those tied with it; NaN for quota 0.  The
        dtype is as in `Curve`.
    above : array
        Number (or mass) of examples with a higher score, all of which are selected.
    tied : array
        Number (or mass) of examples with exactly this score, which share the remaining places.
    """

    threshold: T | Any
    above: Any
    tied: Any


def _unlabelled(found: Validated) -> Validated:
    """The examples, all of them negative."""
    scores = found.examples.scores
    xp = namespace(scores)
    labels = xp.zeros(scores.shape, dtype=xp.bool, device=device(scores))
    return found._replace(examples=found.examples._replace(labels=labels))


@public
def select(
    y_score: Any,
    *,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
    cost: Any = None,
    sample_weight: Any = None,
    where: Any = None,
    validate: bool = True,
    groups: Any = None,
    num_groups: int | None = None,
    when_short: WhenShort | None = None,
    whole: bool = False,
    random_state: Any = None,
) -> Array:
    """The probability that each example is among the j best, when ties are broken at random.

    It is 1 above the threshold and 0 below it.  At the threshold it is the number of places that
    remain, divided by the number of tied examples.

    Takes scores, without labels, and the other keywords of `rank`.

    Parameters
    ----------
    quota, fraction, budget : number, optional
        One quota, as in `hit_rate`; with `groups` one for each group.
    cost : array, shape (n,) or that of `y_score`, optional
        As in `rank`, for a budget.
    when_short : {"all", "nan"}, optional
        As in `hit_rate`.
    whole : bool
        With True each example is taken (1) or not (0), best first and ties in random order.  An
        example that costs more than the remaining budget is skipped.  This runs on the host, so
        values must be readable.
    random_state : None, int, or a random generator of NumPy, optional
        The seed or generator for the order of ties.

    Returns
    -------
    array, shape (..., n)
        The values add up to the quota; with weights, the values times the weights do.  For a
        budget, the values times the costs add up to the budget.  An example that `where` masks, or
        whose weight is 0, has 0.  NaN in a row of the batch that has no examples, fewer than the
        quota, or a bad value that cannot be read.

    Raises
    ------
    TypeError
        `whole` where values cannot be read; `cost` without `budget`; `random_state` without
        `whole`.
    ValueError
        More than one quota; a quota that `hit_rate` refuses.

    See Also
    --------
    quota_threshold : the score at which the quota ends, for one or more quotas.

    Notes
    -----
    The sum of these probabilities over the positives is T(j), the numerator of `hit_rate` and
    `qrecall`.

    References
    ----------
    [AR] eq. 5.

    Examples
    --------
    >>> from quotakernels import select
    >>> print(select([0.1, 0.5, 0.9, 0.5], quota=2))
    [0.  0.5 1.  0.5]
    >>> print(select([0.1, 0.5, 0.9, 0.5], quota=1, groups=["x", "y", "y", "x"]))
    [0. 0. 1. 1.]
    >>> print(select([0.1, 0.5, 0.9, 0.5], cost=[4, 1, 2, 3], budget=4))
    [0.  0.5 1.  0.5]
    >>> print(select([0.1, 0.5, 0.9, 0.7], cost=[1, 3, 2, 3], budget=4, whole=True))
    [1. 0. 1. 0.]
    """
    _refuse_unused(cost=(cost, "budget=", budget), random_state=(random_state, "whole=True", whole))
    scores = y_score if hasattr(y_score, "shape") else as_column("y_score", y_score)
    beside = (sample_weight, where, validate, groups, num_groups, cost)
    found = _unlabelled(validate_scores(scores, *beside))
    examples = in_library_of(found.examples, quota, fraction, budget)
    xp = namespace(examples.scores)
    dtype = result_float(xp, device(examples.scores))
    with computing(xp):
        cut = {"quota": quota, "fraction": fraction, "budget": budget, "when_short": when_short}
        table = table_of(xp, ranking_at(found, "expected", **cut), by_group=True)
        (wanted,), shape = wanted_masses(xp, table, **cut)
        codes = None if found.groups is None else found.groups.codes
        if _no_groups(wanted, shape, codes):
            return xp.zeros((*scores.shape[:-1], 0), dtype=dtype, device=device(wanted))
        of = (examples, table, wanted, codes)
        taken = _whole(*of, random_state) if whole else compiled(_shares, xp)(*of)
        chosen = finished(xp, taken, dtype)
        return chosen if scores.shape[-1] else chosen[..., :0]


def _refuse_unused(**given: tuple[Any, str, Any]) -> None:
    """Refuse what would change nothing without another keyword."""
    for name, (value, needed, there) in given.items():
        if value is not None and (there is None or there is False):
            raise TypeError(f"{name} has no meaning without {needed}")


def _no_groups(wanted: Array, shape: tuple[int, ...], codes: Array | None) -> bool:
    """Whether no example has a group; raise for several quotas."""
    if codes is not None and not wanted.shape[-2]:
        return True
    if shape and (codes is None or shape != (1,)):
        hint = "" if codes is None else ", or with groups one for each, shape (S, 1)"
        raise ValueError(f"select takes one quota{hint}; got an array of shape {shape}")
    return False


def _whole(
    examples: Examples, table: Any, wanted: Array, codes: Array | None, random_state: Any
) -> Array:
    """Whole cases, as many as the quota has places for, or as the budget pays for."""
    if "cost" in examples.columns:
        wanted = ops.cost_within(namespace(wanted), table, wanted)
    return whole_cases(examples, wanted, codes, random_state)


class _Edge(NamedTuple):
    """Where a quota ends: the mass it stands for, the last score's key, and masses around it."""

    wanted: Array
    last: Array
    above: Array
    tied: Array
    whole: Array


def _shares(
    examples: Examples, table: ops.Groups | ops.Around, wanted: Array, codes: Array | None
) -> Array:
    xp = namespace(wanted)
    index, row = ops.rows_at(xp, table, wanted)
    last = ops.column_at(xp, table, ops.order_key(xp, table.thresholds), index)
    whole = xp.expand_dims(Totals(xp, table).whole, axis=-1)
    edge = _Edge(wanted, last, row.mass_before, row.mass, whole)
    if codes is not None:  # each example has the edge of its group
        codes = xp.broadcast_to(codes, examples.scores.shape)
        codes = ops.clip(xp, codes, low=0, high=wanted.shape[-2] - 1)
        edge = _Edge(*(ops.taken(xp, x[..., 0], codes) for x in edge))
    return _share_of_each(xp, examples, edge)


def _share_of_each(xp: Namespace, examples: Examples, edge: _Edge) -> Array:
    wanted, last, above, tied, whole = edge
    key = ops.order_key(xp, examples.scores)
    one, zero = xp.ones_like(wanted), xp.zeros_like(wanted)
    taken = xp.minimum((wanted - above) / xp.where(tied > 0, tied, one), one)  # sums are rounded
    share = xp.where(wanted > above, taken, zero)
    within = xp.where(key == last, share, xp.where(key > last, one, zero))
    within = xp.where(wanted >= whole, one, within)  # whatever the rounding of the sums
    if examples.valid is not None:
        within = xp.where(examples.valid, within, xp.zeros_like(within))
    return xp.where(xp.isnan(wanted), wanted, within)


@public
def quota_threshold(
    y_score: Any,
    *,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
    cost: Any = None,
    sample_weight: Any = None,
    where: Any = None,
    validate: bool = True,
    groups: Any = None,
    num_groups: int | None = None,
    when_short: WhenShort | None = None,
) -> QuotaThreshold:
    """The score at which a quota ends, how many examples are above it, and how many are tied at it.

    Takes scores, without labels, and the other keywords of `rank`; quotas or budgets (one or more)
    as in `hit_rate`.

    Returns
    -------
    QuotaThreshold
        Arrays of shape (..., *Q).  For quota 0 the threshold is NaN and nothing is above or at
        it.  All NaN in a row of the batch that has no examples, fewer than the quota, or a bad
        value that cannot be read.

    See Also
    --------
    select : the probability that each example is selected.

    Notes
    -----
    ``score > threshold`` selects ``above``, at most the quota; ``score >= threshold`` selects
    ``above + tied``, at least the quota.

    References
    ----------
    [AR] eq. 5.

    Examples
    --------
    >>> from quotakernels import quota_threshold
    >>> end = quota_threshold([0.1, 0.5, 0.9, 0.5], quota=2)
    >>> print(end.threshold, end.above, end.tied)
    0.5 1.0 2.0
    """
    _refuse_unused(cost=(cost, "budget=", budget))
    checked = validate_scores(y_score, sample_weight, where, validate, groups, num_groups, cost)
    found = _unlabelled(checked)
    scores = in_library_of(found.examples, quota, fraction, budget).scores
    xp = namespace(scores)
    dtype = result_float(xp, device(scores))
    with computing(xp):
        cut = {"quota": quota, "fraction": fraction, "budget": budget, "when_short": when_short}
        table = table_of(xp, ranking_at(found, "expected", **cut), by_group=True)
        (wanted,), shape = wanted_masses(xp, table, **cut)
        result = compiled(_threshold, xp)(table, wanted)
        batch = wanted.shape[:-1]
        shaped = QuotaThreshold(*(xp.reshape(x, (*batch, *shape)) for x in result))
        return finished(xp, shaped, dtype)  # type: ignore[no-any-return]


def _threshold(table: ops.Groups | ops.Around, wanted: Array) -> QuotaThreshold:
    xp = namespace(wanted)
    index, row = ops.rows_at(xp, table, wanted)
    threshold = ops.column_at(xp, table, float_thresholds(xp, table.thresholds), index)
    filled = wanted > 0
    unknown = ops.nan_unless(xp, wanted == wanted, xp.zeros_like(wanted))
    return QuotaThreshold(
        ops.nan_unless(xp, filled, threshold),
        xp.where(filled, row.mass_before, unknown),
        xp.where(filled, row.mass, unknown),
    )
