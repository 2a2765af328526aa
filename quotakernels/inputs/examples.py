"""Examples: what callers pass becomes clean arrays of one library on one device, or an error.

Values that can be read are checked here and raise.  Where they cannot (in a trace, on an
accelerator) a bad value makes its whole row of the batch invalid: none of its examples counts, and
all its results are NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    device,
    from_host_view,
    host_view,
    known,
    known_end,
    readable,
    with_fields,
)
from quotakernels.inputs.columns import (
    COLUMNS,
    adopt,
    as_column,
    check_shapes,
    check_types,
    example_columns,
    numeric_labels,
    positive_labels,
    read_and_good,
    told_of_labels,
)
from quotakernels.inputs.groups import (
    GroupCodes,
    good_groups,
    kept_within,
    of_their_group,
    with_codes,
)
from quotakernels.inputs.keywords import check_choice, check_flag, warn_once
from quotakernels.inputs.numbers import numbers_like
from quotakernels.ops import namespace

NDArray = np.ndarray[Any, Any]

TIE_POLICIES = ("expected", "optimistic", "pessimistic", "given")


class Examples(NamedTuple):
    """Checked input: labels are boolean, weights float, and ``valid`` is None where all count.

    The `columns` are those of `COLUMNS` that were given: floats, 0 where an example does not count.
    """

    scores: Array
    labels: Array | None
    weights: Array | None
    valid: Array | None
    columns: dict[str, Array] = ops.NO_COLUMNS

    def map(self, function: Callable[[Array], Array]) -> Examples:
        """The examples with the function applied to each of their arrays."""
        own = (None if x is None else function(x) for x in self[:4])
        columns = {name: function(x) for name, x in self.columns.items()}
        return Examples._make((*own, columns))

    def named(self) -> dict[str, Array]:
        """The arrays by name, without those that are None."""
        own = {name: x for name, x in zip(self._fields[:4], self, strict=False) if x is not None}
        return own | self.columns

    @classmethod
    def of(cls, named: Mapping[str, Array]) -> Examples:
        """The examples made of these arrays; other names are ignored."""
        columns = {name: named[name] for name in COLUMNS if name in named}
        return cls._make((*(named.get(name) for name in cls._fields[:4]), columns))


class Validated(NamedTuple):
    """Checked examples, and which rows of the batch are `good`, shape (..., 1): have no bad value.

    `good` is None if all values were read, since a bad one raises.  With `groups` it has an entry
    for each group, shape (..., S, 1).  The `mask` is the caller's own, in which the examples of
    rows with a bad value still count.  Where `counts` of groups were made in the same pass, these
    tell which groups are good, and nothing else does.
    """

    examples: Examples
    good: Array | None
    mask: Array | None
    groups: GroupCodes | None = None
    counts: ops.TieTable | None = None

    @property
    def masked(self) -> Examples:
        """The examples under the caller's mask, so that rows with a bad value are ranked too.

        Rows with gains, costs or treatments are not, because these may be unknown.
        """
        if self.good is None or self.examples.columns:
            return self.examples
        return self.examples._replace(valid=self.mask)


def check_tie_policy(ties: str) -> None:
    """Raise unless `ties` names a tie policy."""
    check_choice("ties", ties, *TIE_POLICIES)


def check_grouped_ties(ties: str) -> None:
    """Raise unless `ties` names a policy that needs no order of the examples."""
    check_tie_policy(ties)
    if ties == "given":
        raise ValueError('ties="given" needs the order of the examples; use rank')


def validated(
    given: Mapping[str, Any],
    *,
    leader: str = "y_score",
    batched: bool = False,
    by_counts: bool = False,
) -> Validated:
    """Check and convert the arguments of `rank`, by name; the leader is the name of the scores.

    The columns of `COLUMNS` come out as wide floats, 0 where they do not count, else finite, costs
    not negative, treatments 0 or 1.  With gains there may be no labels: then all examples are
    positive, since gains do not depend on classes.  With `batched`, as in a state, leading axes are
    known to be a batch.  With `by_counts` groups may only be counted: see `Validated`.
    """
    pos_label, num_groups = given.get("pos_label"), given.get("num_groups")
    validate: bool = given.get("validate", True)
    check_flag("validate", validate)
    given = _what_is_there(given, leader)
    alone = given.keys() == {"y_score", "y_true"} and validate and pos_label is None is num_groups
    if alone and (good := good_lists(given["y_true"], given["y_score"])) and good[1].ndim == 1:
        labels, scores = given["y_true"], given["y_score"]
        flags = labels if good[0] is labels else from_host_view(good[0], scores)
        return Validated(Examples(scores, flags, None, None), None, None)
    as_given = example_columns(given)
    named, ids = with_codes(dict(as_given), num_groups)
    if "y_true" in named:
        named["y_true"], pos_label = numeric_labels(named["y_true"], pos_label)
    check_types(named)
    arrays = adopt(named, (leader,))[1]
    check_shapes(arrays, leader, given, batched)
    on_host = host_view(tuple(arrays.values()))
    columns = arrays if on_host is None else dict(zip(arrays, on_host, strict=True))
    if pos_label is None and (flags := zero_or_one(columns.get("y_true"))) is not None:
        columns = columns | {"y_true": flags}
    found = _clean(columns, as_given, pos_label, validate, leader, ids, by_counts)
    return found if on_host is None else from_host_view(found, arrays[leader])


def _what_is_there(given: Mapping[str, Any], leader: str) -> dict[str, Any]:
    """The arguments that are not None, scores first; labels are None only if there are gains."""
    names = ("y_true", "sample_weight", "where", "groups", *COLUMNS)
    there = {name: given[name] for name in names if given.get(name) is not None}
    if is_zero(given.get("gain_rejected", 0)):
        there.pop("gain_rejected", None)
    elif "gain" not in there:
        raise TypeError("gain_rejected needs gain, what each example brings if it is selected")
    else:
        rejected = given["gain_rejected"]
        there["gain_rejected"] = _one_for_all(given[leader], rejected)
    if "y_true" in given and "gain" not in there:
        there["y_true"] = given["y_true"]
    return {leader: given[leader], **there}


def is_zero(gain: Any) -> bool:
    """Whether a gain is the plain number 0, which stands for none."""
    return type(gain) in (int, float) and gain == 0


def _one_for_all(y_score: Any, gain: Any) -> Any:
    """The gains of examples that are not selected; a single number is repeated for all of them."""
    if type(gain) not in (int, float):
        gain = as_column("gain_rejected", gain)
        if gain.ndim:
            return gain
    scores = as_column("y_score", y_score)
    xp = namespace(scores)
    with xp.computing():
        number = numbers_like(scores, "gain_rejected", gain)
        return xp.broadcast_to(number, tuple(scores.shape[-1:]))


def good_lists(labels: Any, scores: Any) -> tuple[NDArray, NDArray] | None:
    """Labels as flags, and scores, if both are good arrays of NumPy or CPU tensors, as most are.

    The arrays returned are NumPy's, and share the memory of tensors.  For anything else the result
    is None: `validated` finds out what it is, or what is wrong with it.
    """
    if type(scores) is not np.ndarray:
        scores, labels = host_view((scores, labels)) or (None, None)
    if not (type(scores) is type(labels) is np.ndarray):
        return None
    flags = _good_labels(scores, labels)
    return None if flags is None else (flags, scores)


def _good_labels(scores: NDArray, labels: NDArray) -> NDArray | None:
    """The labels of NumPy's arrays as flags, or None unless they and the scores are good.

    All lists of a batch may share one list of labels.
    """
    kind, type_, shape = labels.dtype.kind, scores.dtype, scores.shape
    is_float = type_.kind == "f" or type_.name == "bfloat16"
    if kind not in "iub" or not (is_float or type_.kind in "iub"):
        return None
    if scores.size == 0 or (shape != labels.shape and shape[-1:] != labels.shape):
        return None
    if shape[-1] == 1 < len(shape):  # they may be column vectors
        return None
    if not (labels.dtype.isnative and type_.isnative):
        return None
    if is_float and namespace(scores).has_nan(scores):
        return None
    if kind == "b":
        return labels
    return zero_or_one(labels)


def zero_or_one(labels: Any) -> np.ndarray[Any, Any] | None:
    """NumPy integers that are all 0 or 1, as booleans; None for anything else."""
    if not (isinstance(labels, np.ndarray) and labels.dtype.kind in "iu" and labels.size):
        return None
    if np.bitwise_or.reduce(labels, axis=None) >> 1:
        return None
    return labels.astype(np.uint8).view(np.bool)  # the faster cast


def _clean(
    arrays: dict[str, Array],
    as_given: dict[str, Array],
    pos_label: Any,
    validate: bool,
    leader: str,
    ids: Array | int | None,
    by_counts: bool,
) -> Validated:
    """The examples of arrays of one library and of fitting shapes, with their values checked."""
    xp = namespace(arrays[leader])
    with xp.computing():
        arrays = one_absent_example(xp, arrays)
        columns = {name: _stretched(xp, x, arrays[leader].shape) for name, x in arrays.items()}
        scores, labels = columns[leader], columns.get("y_true")
        wide = xp.wide_float(device(scores))
        floats = {name: xp.cast(columns[name], wide) for name in COLUMNS if name in columns}
        weights, mask = weights_and_mask(xp, columns, wide)
        labels, bad = _positive(xp, arrays.get("y_true"), labels, pos_label, mask)
        examples = Examples(scores, labels, weights, mask, floats)
        if by_counts and (counts := _counts_by_group(examples, bad, columns.get("groups"), ids)):
            return Validated(examples, None, mask, None, counts)
        by_list = mask is None and ids is None and not (validate and readable(scores))
        bad = bad_values(xp, scores, weights, leader, by_list) | bad
        bad |= {name: bad_amounts(xp, name, x, weights) for name, x in floats.items()}
        groups = None
        if ids is not None:
            groups, bad["groups"] = kept_within(xp, scores, columns["groups"], ids)
        valid, good = raise_or_exclude(xp, as_given, bad, mask, validate, groups=groups)
        if valid is not None:
            valid = _stretched(xp, valid, scores.shape)
            floats = {name: xp.where(valid, x, xp.zeros_like(x)) for name, x in floats.items()}
        if labels is None and "gain" in floats:
            labels = xp.ones(scores.shape, dtype=xp.bool, device=device(scores))
    return Validated(Examples(scores, labels, weights, valid, floats), good, mask, groups)


def _counts_by_group(
    examples: Examples,
    bad: dict[str, tuple[Array, str]],
    codes: Array | None,
    ids: Array | int | None,
) -> ops.TieTable | None:
    """The counts of groups, with flags of bad ones; None if weights or other columns are needed."""
    scores, labels, weights, mask, columns = examples
    if ids is None or weights is not None or columns:
        return None
    invalid = bad["y_true"][0] if bad else None
    number = ids if isinstance(ids, int) else ids.shape[0]
    xp = namespace(scores)
    return xp.running_counts_by_group((scores, labels, mask), invalid, codes, number)


def _positive(
    xp: Namespace, one: Array | None, labels: Array | None, pos_label: Any, valid: Array | None
) -> tuple[Array | None, dict[str, tuple[Array, str]]]:
    """Which labels are positive, and which are bad, in the shape of the scores; no flag is bad.

    Labels of `one` list, shared by all lists of a batch, are looked at once, unless a mask differs
    between these.
    """
    if labels is None or (labels.dtype == xp.bool and pos_label is None):
        return labels, {}
    shape = labels.shape
    labels = one if valid is None else labels
    labels, (invalid, expected) = positive_labels(xp, labels, pos_label, valid)
    return _stretched(xp, labels, shape), {"y_true": (_stretched(xp, invalid, shape), expected)}


def _stretched(xp: Namespace, x: Array, shape: tuple[int, ...]) -> Array:
    return x if x.shape == shape else xp.broadcast_to(x, shape)


def one_absent_example(xp: Namespace, arrays: dict[str, Array]) -> dict[str, Array]:
    """Empty lists become one example that does not count, so that every table has a row."""
    leader = next(iter(arrays.values()))
    if leader.shape[-1]:
        return arrays
    absent = {
        name: xp.zeros((*x.shape[:-1], 1), dtype=x.dtype, device=device(x))
        for name, x in arrays.items()
    }
    return absent | {"where": xp.zeros((1,), dtype=xp.bool, device=device(leader))}


def weights_and_mask(
    xp: Namespace, columns: dict[str, Array], wide: Any
) -> tuple[Array | None, Array | None]:
    """The weights as floats, None without any; and which examples count, None if all do."""
    weights, valid = columns.get("sample_weight"), columns.get("where")
    if weights is None:
        return None, valid
    weights = xp.cast(weights, wide)
    counted = weights != 0
    return weights, counted if valid is None else valid & counted


def bad_values(
    xp: Namespace,
    scores: Array,
    weights: Array | None,
    leader: str = "y_score",
    by_list: bool = False,
) -> dict[str, tuple[Array, str]]:
    """For scores and weights: where they are bad, and what was expected.

    With `by_list` there is one flag for each list of scores: whether it has a bad one.
    """
    bad = {}
    is_read = isinstance(scores, np.ndarray) and scores.size
    if xp.of_kind(scores.dtype, "real floating") and not (is_read and not xp.has_nan(scores)):
        invalid = xp.nans(scores) if by_list else xp.isnan(scores)
        bad[leader] = (invalid, "a number, or where=False for an example to leave out")
    return bad if weights is None else bad | bad_weights(xp, weights)


def bad_weights(xp: Namespace, weights: Array) -> dict[str, tuple[Array, str]]:
    """Where weights are bad, with what was expected; empty where NumPy finds that all are good."""
    most = float(xp.finfo(weights.dtype).max) / max(weights.shape[-1], 1)  # their sum is finite
    if isinstance(weights, np.ndarray) and _all_between(weights, 0, most):
        return {}
    fits = (weights >= 0) & (weights <= most)
    expected = "a finite weight, not negative, and small enough for a finite sum"
    return {"sample_weight": (~fits, expected)}


def _all_between(x: np.ndarray[Any, Any], low: float, high: float) -> bool:
    """Whether all are in a range, by two passes; finding each that is not would take several."""
    return bool(x.size and np.minimum.reduce(x, None) >= low and np.maximum.reduce(x, None) <= high)


def bad_amounts(
    xp: Namespace, name: str, amount: Array, weights: Array | None
) -> tuple[Array, str]:
    """For gains, costs and treatments: where they are bad, and what was expected."""
    if name == "treatment":
        return (amount != 0) & (amount != 1), "1 for a treated example, or 0 for a control"
    info, whole = xp.finfo(amount.dtype), amount if weights is None else amount * weights
    most = float(info.max) / max(amount.shape[-1], 1)
    if name != "cost":  # of which there are differences
        return ~(xp.abs(whole) <= most / 2), "a finite number, small enough for a finite sum"
    fits = (amount >= 0) & xp.isfinite(amount) & (whole <= most)
    least = xp.constant([float(info.smallest_normal)], amount.dtype, device(amount))
    lost = xp.order_key(whole) < xp.order_key(least)  # XLA compares with 0 instead
    fits = fits & ~(lost & (xp.order_key(amount) > 0))
    smallest = f"{float(info.smallest_normal):.1e}"
    expected = "a finite cost, not negative, small enough for a finite sum, and, times its weight,"
    return ~fits, f"{expected} 0 or at least {smallest}"


def raise_or_exclude(
    xp: Namespace,
    as_given: dict[str, Array],
    bad: dict[str, tuple[Array, str]],
    valid: Array | None,
    validate: bool = True,
    by_class: bool = False,
    groups: GroupCodes | None = None,
) -> tuple[Array | None, Array | None]:
    """Raise for the first bad value that counts, or exclude the rows of the batch that have one.

    What is masked or has weight 0 does not count; a bad weight is not 0.  Beside what is left, it
    returns which rows of the batch are good, shape (..., 1), or which groups, shape (..., S, 1);
    None where all values were read.
    Scores that come `by_class` have one more axis, which was the last one as they were given.
    """
    not_read: Array | None = None
    for name, (invalid, expected) in bad.items():
        several = by_class and name == "y_score"
        if validate and readable(invalid) and (valid is None or readable(valid)):
            counted = xp.expand_dims(valid, axis=-2) if several and valid is not None else valid
            found = invalid if counted is None else invalid & counted
            place = xp.matrix_transpose(found) if several else found
            _raise_for(xp, name, as_given, place, expected)
        elif name != "groups" or not_read is None:  # which are looked at below
            flags = xp.any(invalid, axis=-2) if several else invalid
            not_read = flags if not_read is None else not_read | flags
    if not_read is None:
        return valid, None
    found = not_read if valid is None else not_read & valid
    if groups is not None:
        outside, _ = bad.get("groups", (None, ""))
        if outside is not None and valid is not None:
            outside = outside & valid
        good = good_groups(xp, groups, found, outside)
        there = of_their_group(xp, groups, good)
        return there if valid is None else valid & there, good
    good = ~(found if found.shape[-1] == 1 else xp.any(found, axis=-1, keepdims=True))
    return good if valid is None else valid & good, good


def _raise_for(
    xp: Namespace, name: str, as_given: dict[str, Array], invalid: Array, expected: str
) -> None:
    """Raise for the first bad value of a column; about labels the message says which occur."""
    try:
        read_and_good(xp, name, as_given[name], invalid, expected)
    except ValueError as error:
        if name not in ("y_true", "y_pred"):
            raise
        raise ValueError(told_of_labels(str(error), name, as_given)) from None


def without_negative_gains(found: Validated) -> Validated:
    """The examples; a negative gain raises or, if not read, makes its list or group bad."""
    gain, groups = found.examples.columns["gain"], found.groups
    xp = namespace(gain)
    with xp.computing():
        invalid, expected = gain < 0, "a number, not negative"
        if read_and_good(xp, "gain", gain, invalid, expected, found.good is None):
            return found
        bad = xp.any(invalid, axis=-1, keepdims=True)
        good = ~bad if groups is None else good_groups(xp, groups, invalid)
        return found._replace(good=good if found.good is None else found.good & good)


NUMBERS = ("model",)
"""Fields of results that number things and so cannot be NaN: which of several models it is."""


def with_marks(masses: tuple[Array, ...], good: Array | None) -> tuple[Array, ...]:
    """Masses of a ranking, NaN or, of integers, -1 in rows that are not `good`, shape (..., 1)."""
    if good is None:
        return masses
    xp = namespace(masses[0])
    if not xp.of_kind(masses[0].dtype, "integral"):
        nans: dict[Any, Array] = {}
        return tuple(xp.nan_unless(good, x, nans) for x in masses)
    mark = xp.constant(-1, masses[0].dtype, device(good))
    return tuple(xp.where(good, x, mark) for x in masses)


def good_rows(ranking: Any) -> Array | None:
    """The rows of the batch that had no bad value, shape (..., 1), or the groups, (..., S, 1).

    None if all are known to be good.
    """
    if ranking.groups:
        good = ranking.groups.good
        return None if isinstance(good, tuple) or known(good) else good
    mass = ranking.positive_weights
    end = known_end(mass)
    if end is not None and (end >= 0).all():
        return None
    return mass[..., -1:] >= 0


def warn_of_bad(bad: Array) -> None:
    """Warn of the batches of a state that had a bad value, if their numbers, of each list of
    scores, can be read.
    """
    host = known_end(bad[..., None])
    if host is None or not host.any():
        return
    few = f"the measures of {(host > 0).sum()} of {host.size} lists"
    batches = "1 batch" if host.sum() == 1 else f"{host.sum()} batches"
    warn_once(
        f"{few if bad.ndim else 'all measures'} of this state are NaN: {batches} held a bad value, "
        "such as a NaN score or a wrong label, which a program or validate=False let pass"
    )


def nan_unless_valid(xp: Namespace, result: Any, good: Array | None) -> Any:
    """The result with NaN where a row of the batch is not `good`, shape (..., 1).

    Whole numbers become the widest floats, which are exact up to 2**53; flags and `NUMBERS` stay.
    """
    return result if good is None or known(good) else xp.compiled(_with_nan)(result, good)


def _with_nan(result: Any, good: Array) -> Any:
    return _masked(result, good, {})


def _masked(result: Any, good: Array, nans: dict[Any, Array]) -> Any:
    if hasattr(result, "_fields"):
        parts = {k: x for k, x in result._asdict().items() if k not in NUMBERS}
        return with_fields(result, **{k: _masked(x, good, nans) for k, x in parts.items()})
    if isinstance(result, tuple):
        return tuple(_masked(x, good, nans) for x in result)
    xp = namespace(result)
    if xp.of_kind(result.dtype, "bool"):
        return result
    if xp.of_kind(result.dtype, "integral"):
        result = xp.wide(result)
    batch = tuple(good.shape[:-1])
    where = xp.reshape(good, (*batch, *(1 for _ in result.shape[len(batch) :])))
    return xp.finish(xp.nan_unless(where, result, nans), result.dtype)
