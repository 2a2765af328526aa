"""One quota of scores that lie on many devices or processes, and are not gathered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from quotakernels import ops
from quotakernels._array import (
    Across,
    Array,
    Namespace,
    cast,
    compiled,
    computing,
    constant,
    device,
    finished,
    is_array,
    namespace,
    readable,
    result_float,
    with_fields,
)
from quotakernels.inputs.cuts import wanted_masses
from quotakernels.inputs.examples import Examples, check_tie_policy, validate_columns
from quotakernels.inputs.keywords import public, show_value
from quotakernels.inputs.numbers import in_library_of
from quotakernels.measures._unsorted import RankingAtQuota, around_of, last_place
from quotakernels.measures.at_quota.curves import float_thresholds
from quotakernels.ranking import TiePolicy

_TYPES = (
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


def sound_examples(
    examples: Examples, good: Array | None, across: Across
) -> tuple[Examples, Array]:
    """The examples, without those of a row of the batch that holds a bad value on any shard.

    And which rows of the batch hold none, shape (..., 1).

    `good` tells the good rows of this shard.
    """
    xp, scores = namespace(examples.scores), examples.scores
    with computing(xp):
        invalid = xp.zeros((*scores.shape[:-1], 1), dtype=xp.int64, device=device(scores))
        if good is not None:
            invalid = invalid + cast(xp, ~good, xp.int64)
        own = xp.broadcast_to(_type_marks(xp, scores), (*invalid.shape[:-1], 3))
        sums = across(xp.concat([invalid, own], axis=-1))
        _check_one_type(scores, sums)
        good = sums[..., :1] == 0
        sound = xp.broadcast_to(good, scores.shape)
        valid = sound if examples.valid is None else examples.valid & sound
        return examples._replace(valid=valid), good


def _type_marks(xp: Namespace, scores: Array) -> Array:
    """1, the number of the scores' type, and its square, to be summed over the shards."""
    name = str(scores.dtype).rpartition(".")[2]
    number = _TYPES.index(name) if name in _TYPES else len(_TYPES)
    return constant(xp, [1, number, number**2], xp.int64, device(scores))


def _check_one_type(scores: Array, sums: Array) -> None:
    """Raise, on every shard, if their scores differ in type; their bits could not be compared."""
    shards, number, squares = (sums[..., k] for k in (1, 2, 3))
    differ = shards * squares != number * number  # equal only where nothing varies
    if readable(differ) and bool(namespace(differ).any(differ)):
        raise TypeError(
            f"y_score has dtype {scores.dtype} here and another on other shards; "
            "all need the same, those without examples too"
        )


@public
def rank_at_quota(
    y_true: Any,
    y_score: Any,
    *,
    quota: Any = None,
    fraction: Any = None,
    sample_weight: None = None,
    where: Any = None,
    pos_label: Any = None,
    ties: TiePolicy = "expected",
    validate: bool = True,
    across: Across | None = None,
) -> RankingAtQuota:
    """All that measures need at one quota, without a sort; the scores may lie on many shards.

    It gives the exact hit rate, Qrecall, lift and confusion table at that quota, and the measures
    of that table.  Pass it in place of a `Ranking`, without a quota.  All other measures refuse it.

    Takes labels, scores and keywords as `rank` does, except the following.

    Parameters
    ----------
    y_true : array, shape (n,) or that of `y_score`
        Labels of this shard.
    y_score : array, shape (..., n)
        Scores of this shard.  Shards may have any number of examples, even none, but must have the
        same dtype and the same leading axes.
    quota, fraction : number, optional
        One quota of all shards together, as in `hit_rate`; the same on every shard.
    sample_weight : None
        Refused, because exact sums of weights need sorted scores.
    ties : {"expected", "optimistic", "pessimistic"}
        Not "given": the shards have no order.
    across : callable, optional
        Sums an array of int64 over all shards and returns the sum on each of them, in an array of
        the same shape.  Without it there is one shard.

    Returns
    -------
    RankingAtQuota
        The same on all shards, in the library and on the device of the input.

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
    if sample_weight is not None:
        raise TypeError("sample_weight needs sorted scores; use rank, on all examples together")
    check_tie_policy(ties)
    if ties == "given":
        raise ValueError('ties="given" needs the order of all examples; use rank')
    given = {"y_score": y_score, "y_true": y_true, "sample_weight": None, "where": where}
    examples, good, *_ = validate_columns(given, pos_label, validate and across is None)
    examples = in_library_of(examples, quota, fraction)
    if across is not None:
        across = checked_sum(across)
        examples, good = sound_examples(examples, good, across)
    xp = namespace(examples.scores)
    with computing(xp):
        whole = _program(_in_one_group, xp, across)(examples)
        (wanted,), shape = wanted_masses(xp, whole, quota=quota, fraction=fraction)
        if shape:
            raise ValueError("rank_at_quota takes one quota; got several")
        find = _program(_at_quota, xp, across, ("ties",))
        found: RankingAtQuota = find(examples, good, wanted, ties=ties)
        dtype = result_float(xp, device(examples.scores))
        threshold = finished(xp, found.threshold, dtype)
        return with_fields(found, threshold=threshold)  # type: ignore[no-any-return]


def _program(
    function: Callable[..., Any], xp: Namespace, across: Across | None, static: tuple[str, ...] = ()
) -> Callable[..., Any]:
    """Outside of a trace shards are summed outside of programs."""
    return compiled(function, xp, static) if across is None else partial(function, across=across)


def _in_one_group(examples: Examples, across: Across | None = None) -> ops.Groups:
    """The table of examples as if all scores were equal."""
    xp = namespace(examples.scores)
    labels: Array = examples.labels
    everything = xp.ones_like(labels) if examples.valid is None else examples.valid
    sizes = ops.counts(xp, [everything, everything & labels])
    sizes = sizes if across is None else across(sizes)
    return ops.Groups(examples.scores[..., :1], sizes[..., :1], sizes[..., 1:], None, None)


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
    around = around_of(examples, good, wanted, last_place(xp, wanted), ties=ties, across=across)
    score, filled = float_thresholds(xp, around.thresholds), around.wanted > 0
    threshold = ops.nan_unless(xp, filled, score)
    return RankingAtQuota(threshold[..., 0], around)
