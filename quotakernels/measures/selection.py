"""Who fills the quota: decisions from scores alone, and one quota of scores on many devices."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Across,
    Array,
    Namespace,
    device,
    is_array,
    readable,
    to_numpy,
    with_fields,
)
from quotakernels._records import plainly
from quotakernels._types import Generic, T, WhenShort
from quotakernels.inputs.columns import COLUMNS, MASS_ROUNDING, as_column
from quotakernels.inputs.cuts import wanted_masses
from quotakernels.inputs.examples import Examples, check_tie_policy, validated
from quotakernels.inputs.keywords import forwarding, show_value
from quotakernels.inputs.numbers import in_library_of
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import (
    CUTS,
    GROUPS,
    RankingAtQuota,
    last_place,
    quota_cut_of,
    ranking_at,
)
from quotakernels.measures.at_quota import float_thresholds
from quotakernels.ops import namespace
from quotakernels.ranking import TiePolicy, rank, table_of

NDArray = np.ndarray[Any, Any]


def whole_cases(examples: Examples, limit: Array, codes: Array | None, random_state: Any) -> Array:
    """1 for each example that is taken, 0 for others: best first, all that still fit the limit.

    Limits are of shape (..., 1), or (..., S, 1) of groups; NaN where there are none.
    """
    xp = namespace(limit)
    factors = [x for x in (examples.weights, examples.columns.get("cost")) if x is not None]
    given = [xp.order_key(examples.scores), limit, *factors]
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
        dtype is that of the scores, or a float dtype where they are integers.
    above : array
        Number (or mass) of examples with a higher score, all of which are selected.
    tied : array
        Number (or mass) of examples with exactly this score, which share the remaining places.
    """

    threshold: T | Any
    above: Any
    tied: Any


_UNUSED = ("y_true", "pos_label", "ties", "gain", "gain_rejected", "treatment")
_SORTED = dict.fromkeys(
    ("sample_weight", *COLUMNS, *GROUPS), ": it sorts no scores; use rank, on all examples together"
)
"""What `rank_at_quota` refuses, and why."""


def _at_cut(
    y_score: Any, cut: dict[str, Any], data: dict[str, Any], answer: Callable[..., Any]
) -> Any:
    """``answer(examples, table, wanted, shape, codes)`` of checked scores and where the cut ends.

    They come without labels, as those of negative examples.
    """
    if data.get("cost") is not None and cut["budget"] is None:
        raise TypeError("cost has no meaning without budget=")
    found = validated({"y_score": y_score, **data})
    scores = found.examples.scores
    labels = namespace(scores).zeros(
        scores.shape, dtype=namespace(scores).bool, device=device(scores)
    )
    found = found._replace(examples=found.examples._replace(labels=labels))
    examples = in_library_of(found.examples, *(cut[name] for name in CUTS))
    xp = namespace(examples.scores)
    dtype = xp.result_float(device(examples.scores))
    with xp.computing():
        table = table_of(xp, ranking_at(found, "expected", cut), by_group=True)
        (wanted,), shape = wanted_masses(xp, table, **cut)
        codes = None if found.groups is None else found.groups.codes
        return xp.finished(answer(examples, table, wanted, shape, codes), dtype)


@forwarding(rank, without=_UNUSED)
def select(
    y_score: Any,
    *,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
    when_short: WhenShort | None = None,
    whole: bool = False,
    random_state: Any = None,
    **data: Any,
) -> Array:
    """The probability that each example is among the j best, when ties are broken at random.

    It is 1 above the threshold and 0 below it.  At the threshold it is the number of places that
    remain, divided by the number of tied examples.

    Takes scores, without labels, and the other keywords of `rank`.

    Parameters
    ----------
    quota, fraction, budget : number, optional
        How many examples are selected (with weights, how much mass), which share of all, or what
        they may cost together: one number, with `groups` one for each group.
    cost : array, shape (n,) or that of `y_score`, optional
        What each example costs if it is selected, finite and not negative, for a budget.
    when_short : {"all", "nan"}, optional
        For a quota above the number of examples, or a budget above what they all cost: "all"
        selects all of them, the default with `groups`; "nan" gives NaN.
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
    if random_state is not None and not whole:
        raise TypeError("random_state has no meaning without whole=True")
    scores = y_score if hasattr(y_score, "shape") else as_column("y_score", y_score)
    cut = {"quota": quota, "fraction": fraction, "budget": budget, "when_short": when_short}

    def taken(examples: Examples, table: Any, wanted: Array, shape: Any, codes: Any) -> Array:
        xp = namespace(wanted)
        if _no_groups(wanted, shape, codes):
            return xp.zeros((*scores.shape[:-1], 0), dtype=wanted.dtype, device=device(wanted))
        if whole:
            return _whole(examples, table, wanted, codes, random_state)
        return xp.compiled(_shares)(examples, table, wanted, codes)

    chosen: Array = _at_cut(scores, cut, data, taken)
    return chosen if scores.shape[-1] else chosen[..., :0]


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
        wanted = namespace(wanted).cost_within(table, wanted)
    return whole_cases(examples, wanted, codes, random_state)


class _Edge(NamedTuple):
    """Where a quota ends: the mass it stands for, the last score's key, and masses around it."""

    wanted: Array
    last: Array
    above: Array
    tied: Array
    whole: Array


def _shares(
    examples: Examples, table: ops.TieTable | ops.QuotaCut, wanted: Array, codes: Array | None
) -> Array:
    xp = namespace(wanted)
    index, row = xp.rows_at(table, wanted)
    last = xp.column_at(table, xp.order_key(table.thresholds), index)
    whole = xp.expand_dims(Totals(xp, table).whole, axis=-1)
    edge = _Edge(wanted, last, row.mass_before, row.mass, whole)
    if codes is not None:  # each example has the edge of its group
        codes = xp.broadcast_to(codes, examples.scores.shape)
        codes = xp.clip(codes, min=0, max=wanted.shape[-2] - 1)
        edge = _Edge(*(xp.take_last_axis(x[..., 0], codes) for x in edge))
    return _share_of_each(xp, examples, edge)


def _share_of_each(xp: Namespace, examples: Examples, edge: _Edge) -> Array:
    wanted, last, above, tied, whole = edge
    key = xp.order_key(examples.scores)
    one, zero = xp.ones_like(wanted), xp.zeros_like(wanted)
    taken = xp.minimum((wanted - above) / xp.where(tied > 0, tied, one), one)  # sums are rounded
    share = xp.where(wanted > above, taken, zero)
    within = xp.where(key == last, share, xp.where(key > last, one, zero))
    within = xp.where(wanted >= whole, one, within)  # whatever the rounding of the sums
    if examples.valid is not None:
        within = xp.where(examples.valid, within, xp.zeros_like(within))
    return xp.where(xp.isnan(wanted), wanted, within)


@forwarding(rank, without=_UNUSED)
def quota_threshold(
    y_score: Any,
    *,
    quota: Any = None,
    fraction: Any = None,
    budget: Any = None,
    when_short: WhenShort | None = None,
    **data: Any,
) -> QuotaThreshold:
    """The score at which a quota ends, how many examples are above it, and how many are tied at it.

    Takes scores, without labels, and the other keywords of `rank`; and, like `hit_rate`, one or
    more quotas (numbers of examples), fractions of all examples, or budgets.

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
    cut = {"quota": quota, "fraction": fraction, "budget": budget, "when_short": when_short}

    def ends(_: Any, table: Any, wanted: Array, shape: tuple[int, ...], __: Any) -> QuotaThreshold:
        xp = namespace(wanted)
        of_each = xp.compiled(_threshold)(table, wanted)
        return QuotaThreshold(*(xp.reshape(x, (*wanted.shape[:-1], *shape)) for x in of_each))

    found: QuotaThreshold = _at_cut(y_score, cut, data, ends)
    return found


def _threshold(table: ops.TieTable | ops.QuotaCut, wanted: Array) -> QuotaThreshold:
    xp = namespace(wanted)
    index, row = xp.rows_at(table, wanted)
    threshold = xp.column_at(table, float_thresholds(xp, table.thresholds), index)
    filled = wanted > 0
    unknown = xp.nan_unless(wanted == wanted, xp.zeros_like(wanted))
    return QuotaThreshold(
        xp.nan_unless(filled, threshold),
        xp.where(filled, row.mass_before, unknown),
        xp.where(filled, row.mass, unknown),
    )


_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
)


def checked_sum(across: Any) -> Across:
    """The caller's sum over the shards, from which something else than a sum is an error."""
    if not callable(across):
        raise TypeError(
            f"across must be a function that sums over the shards; got {show_value(across)}"
        )

    def summed(x: Array) -> Array:
        total = across(x)
        if is_array(total) and (total.shape, total.dtype) == (x.shape, x.dtype):
            return total
        what = type(total).__name__
        if is_array(total):
            what = f"an array of dtype {total.dtype} and shape {tuple(total.shape)}"
        raise TypeError(
            f"across must return the sum over all shards, an array of dtype {x.dtype} and shape "
            f"{tuple(x.shape)}; got {what}"
        )

    return summed


def good_examples(examples: Examples, good: Array | None, across: Across) -> tuple[Examples, Array]:
    """The examples, without those of a row of the batch that holds a bad value on any shard.

    And which rows of the batch hold none, shape (..., 1).

    `good` tells the good rows of this shard.
    """
    xp, scores = namespace(examples.scores), examples.scores
    with xp.computing():
        invalid = xp.zeros((*scores.shape[:-1], 1), dtype=xp.int64, device=device(scores))
        if good is not None:
            invalid = invalid + xp.cast(~good, xp.int64)
        own = xp.broadcast_to(_type_marks(xp, scores), (*invalid.shape[:-1], 3))
        sums = across(xp.concat([invalid, own], axis=-1))
        _check_one_type(scores, sums)
        good = sums[..., :1] == 0
        of_good = xp.broadcast_to(good, scores.shape)
        valid = of_good if examples.valid is None else examples.valid & of_good
        return examples._replace(valid=valid), good


def _type_marks(xp: Namespace, scores: Array) -> Array:
    """1, the number of the scores' type, and its square, to be summed over the shards."""
    name = str(scores.dtype).rpartition(".")[2]
    number = _DTYPES.index(name) if name in _DTYPES else len(_DTYPES)
    return xp.constant([1, number, number**2], xp.int64, device(scores))


def _check_one_type(scores: Array, sums: Array) -> None:
    """Raise, on every shard, if their scores differ in type; their bits could not be compared."""
    shards, number, squares = (sums[..., k] for k in (1, 2, 3))
    differ = shards * squares != number * number  # equal only where nothing varies
    if readable(differ) and bool(namespace(differ).any(differ)):
        raise TypeError(
            f"y_score has dtype {scores.dtype} here and another on other shards; "
            "all need the same, those without examples too"
        )


@forwarding(rank, without=_SORTED)
def rank_at_quota(
    y_true: Any,
    y_score: Any,
    *,
    quota: Any = None,
    fraction: Any = None,
    ties: TiePolicy = "expected",
    across: Across | None = None,
    **data: Any,
) -> RankingAtQuota:
    """All that measures need at one quota, without a sort; the scores may lie on many shards.

    It gives the exact hit rate, Qrecall, lift and confusion table at that quota, and the measures
    of that table.  Pass it in place of a `Ranking`, without a quota.  All other measures refuse it.

    Takes labels, scores and keywords as `rank` does, but no weights, whose exact sums need sorted
    scores, and no gains, costs or groups.

    Parameters
    ----------
    y_true : array, shape (n,) or that of `y_score`
        Labels of this shard.
    y_score : array, shape (..., n)
        Scores of this shard.  Shards may have any number of examples, even none, but must have the
        same dtype and the same leading axes.
    quota, fraction : number, optional
        How many examples, or which share of all, are selected from all shards together; the same on
        every shard.
    ties : {"expected", "optimistic", "pessimistic"}
        Not "given": the shards have no order.
    across : callable, optional
        Sums an array of int64 over all shards and returns the sum on each of them, in an array of
        the same shape.  Without it there is one shard.

    Returns
    -------
    RankingAtQuota
        Identical on all shards, in the library and on the device of the input.

    Raises
    ------
    TypeError
        Sample weights; scores of different types on the shards, or of a type whose bits cannot be
        read; an `across` that does not return such a sum.
    ValueError
        Several quotas; ``ties="given"``.  With `across` a bad score or label does not raise,
        because the other shards would wait.  Instead all measures of that row of the batch are
        NaN, on all shards.

    See Also
    --------
    rank : for all quotas, if the scores are in one place.
    quota_threshold : the score at which a quota ends.

    Notes
    -----
    The score at position j is found bit by bit: a bit is set if at least j of all scores reach the
    number with this bit.  So `across` is called 3 times more often than a score has bits: 35 times
    for float32, 67 for float64, 19 for float16 and bfloat16, 11 for bool.  Each call sums one
    number per row of the batch; the three other calls sum 4, 2 and 6.  Wrong types, shapes and tie
    policies raise at once on their own shard.  Each shard checks only its own labels: that they are
    `pos_label` and one other.

    References
    ----------
    [AR] eq. 5.

    Examples
    --------
    >>> from quotakernels import hit_rate, rank_at_quota
    >>> found = rank_at_quota([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], quota=2)
    >>> print(found.threshold, hit_rate(found))
    0.8 0.75
    """
    check_tie_policy(ties)
    if ties == "given":
        raise ValueError('ties="given" needs the order of all examples; use rank')
    data["validate"] = data.get("validate", True) and across is None
    examples, good, *_ = validated({"y_score": y_score, "y_true": y_true, **data})
    examples = in_library_of(examples, quota, fraction)
    if across is not None:
        across = checked_sum(across)
        examples, good = good_examples(examples, good, across)
    xp = namespace(examples.scores)
    with xp.computing():
        whole = _program(_in_one_group, xp, across)(examples)
        (wanted,), shape = wanted_masses(xp, whole, quota=quota, fraction=fraction)
        if shape:
            raise ValueError("rank_at_quota takes one quota; got several")
        find = _program(_at_quota, xp, across, ("ties",))
        found: RankingAtQuota = find(examples, good, wanted, ties=ties)
        dtype = xp.result_float(device(examples.scores))
        threshold = xp.finished(found.threshold, dtype)
        return with_fields(found, threshold=threshold)


def _program(
    function: Callable[..., Any], xp: Namespace, across: Across | None, static: tuple[str, ...] = ()
) -> Callable[..., Any]:
    """Outside of a trace shards are summed outside of programs."""
    return xp.compiled(function, static) if across is None else partial(function, across=across)


def _in_one_group(examples: Examples, across: Across | None = None) -> ops.TieTable:
    """The table of examples as if all scores were equal."""
    xp = namespace(examples.scores)
    labels: Array = examples.labels
    everything = xp.ones_like(labels) if examples.valid is None else examples.valid
    sizes = xp.counts([everything, everything & labels])
    sizes = sizes if across is None else across(sizes)
    return ops.TieTable(examples.scores[..., :1], sizes[..., :1], sizes[..., 1:], None, None)


def _at_quota(
    examples: Examples,
    good: Array | None,
    wanted: Array,
    *,
    ties: TiePolicy,
    across: Across | None = None,
) -> RankingAtQuota:
    xp, labels = namespace(wanted), examples.labels
    if examples.valid is None:  # the shards of the others are counted too
        examples = examples._replace(valid=xp.ones_like(labels))
    around = quota_cut_of(examples, good, wanted, last_place(xp, wanted), ties=ties, across=across)
    score, filled = float_thresholds(xp, around.thresholds), around.wanted > 0
    return RankingAtQuota(xp.nan_unless(filled, score)[..., 0], around)
