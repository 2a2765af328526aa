"""Cross-validation: measures of the folds, their mean, and the comparison of two models."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from quotakernels._array import Array, Namespace, device, readable, to_numpy, tolerance, tree_map
from quotakernels._records import plainly
from quotakernels.inference._call import (
    PRECISION,
    Call,
    call_of,
    check_groups,
    warn_of_equal_rates,
    warn_of_few,
)
from quotakernels.inference._distributions import check_level, student_p_value, student_t
from quotakernels.inference._resamples import units_by_class
from quotakernels.inference.bootstrapping import (
    check_one_shape,
    defined,
    groups_there,
    is_of_precision,
    leaves,
    standard_deviation,
    trees_map,
    value_again,
    value_of,
)
from quotakernels.inputs.columns import adopt, as_column, check_types, column_hint, refuse_symbolic
from quotakernels.inputs.examples import Validated
from quotakernels.inputs.keywords import forwarding, show_value, silently, warn_once
from quotakernels.inputs.models import two_models
from quotakernels.inputs.numbers import plain_number
from quotakernels.measures._facts import needs_ideal
from quotakernels.ops import namespace
from quotakernels.ops.programs import float_of
from quotakernels.ranking import TiePolicy, rank, ranked_by_group

NDArray = np.ndarray[Any, Any]
_FOLDS_NAMED = 5
"""Folds that a warning names at most."""


# which examples each fold holds, and measures of them one by one


class Folds(NamedTuple):
    """The folds of all repeats, one after the other: the name of each, and where its examples are.

    `shape` is (k,), or (repeats, k) where the scores have an axis of repeats; `ratio` is that of
    examples tested to examples trained on.
    """

    shape: tuple[int, ...]
    names: list[str]
    places: list[NDArray]
    ratio: float


def validate_folds(folds: Any, scores: tuple[int, ...], n_train: Any) -> Folds:
    """Check the folds of scores of a shape."""
    refuse_symbolic(scores[-1], "folds")
    column = as_column("folds", folds)
    if not readable(column):
        raise TypeError("folds must be readable: pass them as a NumPy array")
    column = to_numpy(column)
    if column.ndim not in (1, 2) or column.shape != scores[len(scores) - column.ndim :]:
        raise ValueError(
            f"folds must have shape (n,), or (repeats, n) where the scores have such axes; got "
            f"{column.shape} and scores of shape {scores}{column_hint('folds', column.shape)}"
        )
    if column.dtype.kind == "f" and np.isnan(column).any():
        raise ValueError("folds must not be NaN; -1 marks examples that are in none")
    names, places = [], []
    for repeat, row in enumerate(np.atleast_2d(column)):
        numbered = [(x, np.flatnonzero(row == x)) for x in np.unique(row)]
        numbered = [(x, at) for x, at in numbered if column.dtype.kind not in "if" or x != -1]
        beside = f" of repeat {repeat}" if column.ndim == 2 else ""
        names += [f"{x}{beside}" for x, _ in numbered]
        places.append([at for _, at in numbered])
    if len({len(part) for part in places}) != 1 or not places[0]:
        raise ValueError("folds must have the same number in each repeat, and at least one")
    shape = (*column.shape[:-1], len(places[0]))
    flat = [at for part in places for at in part]
    return Folds(shape, names, flat, _ratio(flat, column.shape[-1], n_train))


def _ratio(places: list[NDArray], whole: int, n_train: Any) -> float:
    """The mean number of examples tested, over that of examples trained on."""
    tested = math.fsum(at.shape[0] for at in places) / len(places)
    trained = whole - tested if n_train is None else plain_number("n_train", n_train)
    if not 0 < trained < math.inf:
        hint = "; pass it, as the folds hold all examples" if n_train is None else ""
        raise ValueError(f"n_train must be above 0; got {show_value(trained)}{hint}")
    return float(tested / trained)


def _part(xp: Namespace, x: Array, folds: Folds, repeat: int, places: NDArray) -> Array:
    row = x[..., repeat, :] if len(folds.shape) == 2 else x
    index = xp.asarray(places, device=device(x))
    return xp.take_last_axis(row, xp.broadcast_to(index, (*row.shape[:-1], index.shape[0])))


def _examples_at(found: Validated, folds: Folds, repeat: int, places: NDArray) -> Validated:
    xp, groups, good = namespace(found.examples.scores), found.groups, found.good
    with xp.computing():
        examples = found.examples.map(lambda x: _part(xp, x, folds, repeat, places))
        if groups is not None:
            groups = groups._replace(codes=_part(xp, groups.codes, folds, repeat, places))
        if good is not None and len(folds.shape) == 2:
            good = good[..., repeat, :] if groups is None else good[..., repeat, :, :]
    return found._replace(examples=examples, groups=groups, good=good)


def parts_of(found: Validated, folds: Folds) -> list[Validated]:
    """The examples of each fold."""
    k = folds.shape[-1]
    return [_examples_at(found, folds, number // k, at) for number, at in enumerate(folds.places)]


def each_fold(measure: Any, parts: list[Validated], ties: TiePolicy) -> Any:
    """The measure of each fold, on a new last axis."""
    ideal = needs_ideal(measure)
    first, *others = (ranked_by_group(x, ties, ideal) for x in parts)
    return _stacked([value_of(measure, first), *(value_again(measure, x) for x in others)])


def pooled_value(measure: Any, found: Validated, folds: Folds, ties: TiePolicy) -> Any:
    """The measure of all folds of a repeat ranked together, on a new last axis of repeats."""
    k, values = folds.shape[-1], []
    for repeat in range(len(folds.places) // k):
        places = np.sort(np.concatenate(folds.places[repeat * k : (repeat + 1) * k]))
        taken = _examples_at(found, folds, repeat, places)
        values.append(value_again(measure, ranked_by_group(taken, ties, needs_ideal(measure))))
    return _stacked(values)


def split_groups(parts: list[Validated], folds: Folds) -> int:
    """How many groups have examples that count in several folds; 0 if values cannot be read."""
    there = [groups_there(part) for part in parts]
    if not all(map(readable, there)):
        return 0
    by_repeat = np.reshape([to_numpy(x) for x in there], (-1, folds.shape[-1], there[0].shape[0]))
    return int((by_repeat.sum(axis=1) > 1).any(axis=0).sum())


def _stacked(values: list[Any]) -> Any:
    def joined(parts: list[Array]) -> Array:
        check_one_shape(parts)
        return namespace(parts[0]).stack(parts, axis=-1)

    return trees_map(joined, values)


def why_undefined(parts: list[Validated], folds: Folds, undefined: NDArray) -> str:
    """Which folds leave a measure undefined, and which classes they lack, if that can be read."""
    told = []
    for number in np.flatnonzero(undefined)[:_FOLDS_NAMED].tolist():
        examples = parts[number].examples
        units = units_by_class(namespace(examples.scores), examples, None)
        each = zip(("no positives", "no negatives"), units, strict=True)
        missing = [none for none, x in each if readable(x) and not to_numpy(x).any()]
        absent = f" ({' and '.join(missing)})" if missing else ""
        told.append(f"{folds.names[number]}{absent}")
    more = int(undefined.sum()) - len(told)
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")


FOLD_ROUNDING = 2.0**-44
"""Relative difference of two values that counts as rounding."""


# the corrected t of Nadeau and Bengio


class Corrected(NamedTuple):
    """The mean, its confidence interval and standard error; the standard deviation of the folds."""

    mean: Array
    lower: Array
    upper: Array
    error: Array
    deviation: Array
    freedom: Array


def corrected(xp: Namespace, values: Array, ratio: float, confidence_level: float) -> Corrected:
    """The corrected resampled t for the defined values on the last axis, as wide floats.

    The `ratio` is that of examples tested to examples trained on.
    """
    there, number = values == values, defined(xp, values)
    counted = xp.cast(number, values.dtype)
    mean = xp.sum(xp.where(there, values, xp.zeros_like(values)), axis=-1) / counted
    deviation = standard_deviation(xp, values)
    same = deviation <= tolerance(values, FOLD_ROUNDING) * xp.abs(mean)
    deviation = xp.where(same, xp.zeros_like(deviation), deviation)
    error = deviation * xp.sqrt(1 / counted + ratio)
    half = student_t(xp, confidence_level, xp.cast(number - 1, values.dtype)) * error
    mean = xp.nan_unless(number > 0, mean)
    return Corrected(mean, mean - half, mean + half, error, deviation, number - 1)


def first_less_second(pair: list[Array]) -> Array:
    """The first minus the second; 0 if the difference is only rounding."""
    a, b = pair
    xp = namespace(a)
    dtype = float_of(a)
    with xp.computing():
        a, b = (xp.cast(x, dtype) for x in (a, b))
        less = a - b
        same = xp.abs(less) <= tolerance(less, FOLD_ROUNDING) * (xp.abs(a) + xp.abs(b))
        return xp.where(same, xp.zeros_like(less), less)


# the mean over folds, and the difference of two models


@plainly
class FoldSummary(NamedTuple):
    """A measure over the folds of a cross-validation.

    Attributes
    ----------
    estimate : array, shape (...)
        The mean over the folds where the measure is defined.
    lower, upper : arrays, shape (...)
        Ends of the confidence interval, of the corrected resampled t.  NaN for fewer than two
        defined folds.
    standard_error : array, shape (...)
        s·√(1/J + n_test/n_train) of J defined folds; NaN for fewer than two.
    standard_deviation : array, shape (...)
        s, of the folds; NaN for fewer than two.
    undefined : integer array, shape (...)
        How many folds leave the measure undefined, for example without positives.
    values : array, shape (..., k) or (..., repeats, k)
        The measure of each fold.
    pooled : array, shape (...), or None
        The measure of all folds ranked together, or the mean of that over the repeats; None unless
        it was asked for.
    """

    estimate: Array
    lower: Array
    upper: Array
    standard_error: Array
    standard_deviation: Array
    undefined: Array
    values: Array
    pooled: Array | None


@plainly
class FoldTest(NamedTuple):
    """The difference of two models over the folds, and the test that it is 0.

    Attributes
    ----------
    difference : array, shape (...)
        The mean of the first minus the second, over the folds where both are defined.
    lower, upper : arrays, shape (...)
        Ends of its confidence interval.
    standard_error : array, shape (...)
        s·√(1/J + n_test/n_train) of J differences.
    statistic, degrees_of_freedom : arrays, shape (...)
        The difference over its standard error, t, and J - 1.
    p_value : array, shape (...)
        The probability of a |t| at least as large if the models are equally good.
    undefined : integer array, shape (...)
        How many folds leave one or both undefined.
    values : array, shape (..., k) or (..., repeats, k)
        The difference of each fold.
    """

    difference: Array
    lower: Array
    upper: Array
    standard_error: Array
    statistic: Array
    degrees_of_freedom: Array
    p_value: Array
    undefined: Array
    values: Array


@forwarding(rank)
def fold_summary(
    measure: Any,
    y_true: Any,
    y_score: Any,
    folds: Any,
    *,
    pooled: bool = False,
    confidence_level: float = 0.95,
    n_train: float | None = None,
    **options: Any,
) -> Any:
    """The mean of a measure over the folds of a cross-validation, with an interval.

    Each fold is ranked separately, because the scores of two folds come from two models and need
    not be comparable.

    Parameters
    ----------
    measure : callable, or a mapping from names to callables
        A function of a `Ranking`: a measure of this library, or your own.
    y_true, y_score, sample_weight, where, pos_label, ties, validate, gain, gain_rejected, cost
        The examples, given as to `rank`; each score comes from a model that has not seen its
        example.  Repeats are an axis before the last, shape (..., repeats, n); axes before it are
        models.
    treatment : array, shape (n,), optional
        1 for each treated example, 0 for each control, for measures of uplift.
    folds : array, shape (n,) or (repeats, n)
        The fold of each example: whole numbers, strings or other values, in readable memory.  -1
        marks examples that were not tested.
    pooled : bool
        Also rank the examples of all folds together, as if one model had made all scores.
    confidence_level : float
        The share of such intervals that should contain the true value.
    n_train : number, optional
        The number of examples that each model was trained on; by default all that are not in its
        fold.
    groups, num_groups : array and int, optional
        The group of each example, and how many groups there are, for measures that accept groups,
        and for `group_mean`.  A fold measures its own examples of each group.  If a group is split
        over folds, its quota applies to the part in each fold.
    **options
        The measure's own arguments, such as ``fraction=0.1``.

    Returns
    -------
    FoldSummary
        For a mapping, or a measure that returns a record, the same with a result in place of each
        array.

    Raises
    ------
    TypeError, ValueError
        What the measure raises; folds that do not fit the scores.

    Warns
    -----
    UserWarning
        A measure is undefined in some folds; the warning names them if values can be read.  For
        `group_mean`: groups are split over folds.  Intervals of hit rates and their averages, and
        those of repeated cross-validation, are too narrow with fewer than 30 positives or
        negatives.  All folds have the same hit rate, so that its interval has no width.

    See Also
    --------
    fold_test : compares two models over the same folds.

    Notes
    -----
    Two training sets of k folds share most of their examples, so the folds' values vary less than
    those of independent studies.  Nadeau and Bengio correct the variance s²/J of their mean to (1/J
    + n_test/n_train)·s².  It is used with Student's t with J - 1 degrees of freedom, also for J
    values of repeated cross-validation.  This is an approximation: no estimate from one
    cross-validation is unbiased.  The interval is not cut at the range of the measure.  In
    simulations 95 % intervals of 5 folds covered AUC in 96 to 99 %.  They covered a hit rate in 98,
    but in 91 with 20 positives, where 5 times 5 folds covered it in 86 to 89.  If all folds have a
    hit rate of 1 the interval has no width, and coverage was 3 to 5.

    References
    ----------
    [Nadeau 2003]; [Bouckaert 2004], the same for repeated cross-validation; [Forman 2010],
    what pooled scores do to AUC.

    Examples
    --------
    >>> import numpy as np
    >>> from quotakernels import roc_auc
    >>> from quotakernels.inference import fold_summary
    >>> rng, folds = np.random.default_rng(1), np.arange(200) % 5
    >>> labels = rng.random(200) < 0.3
    >>> scores = rng.normal(labels) + folds  # each model has a scale of its own
    >>> found = fold_summary(roc_auc, labels, scores, folds, pooled=True)
    >>> print(found.values.round(2), found.estimate.round(2))
    [0.86 0.73 0.76 0.87 0.73] 0.79
    >>> print(found.lower.round(2), found.upper.round(2), found.pooled.round(2))
    0.66 0.92 0.66
    """
    check_level(confidence_level)
    call = call_of(measure, y_true, options)
    found = call.validated(y_score)
    split = validate_folds(folds, tuple(found.examples.scores.shape), n_train)
    parts = parts_of(found, split)
    values = each_fold(call.measure, parts, call.ties)
    _warn(measure, values, parts, split)
    if found.groups is None:
        _warn_of_few(call, found, len(split.shape) > 1)
        lists = found.examples.scores.ndim - len(split.shape)
        warn_of_equal_rates(measure, values, lists, "folds")
    together = [pooled_value(call.measure, found, split, call.ties)] if pooled else []
    summarised = functools.partial(_summary, split, confidence_level)
    return trees_map(summarised, [values, *together])


def _summary(folds: Folds, confidence_level: float, found: list[Array]) -> FoldSummary:
    """The summary of the values of folds, and of pooled values if these were asked for."""
    values, *together = found
    xp = namespace(values)
    dtype = float_of(values)
    with xp.computing():
        values = xp.wide(values)
        *t, freedom = corrected(xp, values, folds.ratio, confidence_level)
        shaped = xp.reshape(values, (*values.shape[:-1], *folds.shape))
        pooled = [xp.mean(xp.cast(x, values.dtype), axis=-1) for x in together] or [None]
        parts = (*t, values.shape[-1] - 1 - freedom, shaped, *pooled)
        return xp.finished(FoldSummary._make(parts), dtype)


def _warn(measure: Any, values: Any, parts: list[Validated], folds: Folds) -> None:
    """Warn of groups that are split over folds, and of folds that leave a measure undefined.

    Groups that are not averaged cause no warning.
    """
    groups = parts[0].groups
    means = check_groups(measure, groups)
    if any(means) and groups and (split := split_groups(parts, folds)):
        warn_once(
            f"{split} of {groups.ids.shape[0]} groups have examples in several folds: each "
            "fold measures its part of them, by a model that has seen the rest; to keep groups "
            "whole, split by them, as GroupKFold of scikit-learn does"
        )
    found = leaves(values)
    if not all(readable(x) for x in found):
        return
    unknown = [np.isnan(to_numpy(x)).reshape(-1, len(folds.places)).any(axis=0) for x in found]
    undefined = np.any(unknown, axis=0)
    if undefined.any():
        name = getattr(measure, "__name__", "a measure")
        each = "for some groups " if groups and not all(means) else ""
        warn_once(
            f"{name} is undefined {each}in {undefined.sum()} of {undefined.size} folds, which are "
            f"left out: {why_undefined(parts, folds, undefined)}"
        )


def _warn_of_few(call: Call, found: Validated, repeated: bool) -> None:
    """Warn of few positives or negatives, with which folds are more alike than other samples."""
    readable_classes = readable(found.examples.labels) and "gain" not in call.data
    if readable_classes and (repeated or is_of_precision(call.measure)):
        few = PRECISION._replace(wrong="intervals over folds are too narrow")
        warn_of_few(few, units_by_class(namespace(found.examples.scores), found.examples, None))


@forwarding(rank)
def fold_test(
    measure: Any,
    y_true: Any,
    models: Any,
    folds: Any,
    *,
    confidence_level: float = 0.95,
    n_train: float | None = None,
    **options: Any,
) -> Any:
    """Whether two models differ over the same folds: the corrected resampled t-test.



    Parameters
    ----------
    measure : callable, or a mapping from names to callables
        A function of a `Ranking`: a measure of this library, or your own.
    y_true, sample_weight, where, pos_label, ties, validate, gain, gain_rejected, cost, treatment
        The examples, given as to `rank`, for both models.
    models : mapping from names to arrays, shape (..., n) or (..., repeats, n), or an array
        Scores of two models on examples that they have not seen.  In an array the first axis is the
        models.
    folds : array, shape (n,) or (repeats, n)
        The fold of each example: whole numbers, strings or other values.  Both models were trained
        on the same folds.
    confidence_level : float
        Of the interval; above 0 and below 1.
    n_train : number, optional
        The number of examples that each model was trained on; by default all that are not in its
        fold.
    groups, num_groups : array and int, optional
        The group of each example, and how many groups there are, for `group_mean`.
    **options
        The measure's own arguments, such as ``fraction=0.1``.

    Returns
    -------
    FoldTest
        For a mapping, or a measure that returns a record, the same with a result in place of each
        array.  The statistic and p-value are NaN where all folds have the same difference.  If
        fewer than two folds have a difference, the interval and the standard error are NaN too; if
        none has one, so is the difference.

    Raises
    ------
    TypeError, ValueError
        What the measure raises; folds that do not fit the scores.

    Warns
    -----
    UserWarning
        A measure is undefined in some folds; for `group_mean`, groups are split over folds; all
        folds have the same hit rate.

    See Also
    --------
    fold_summary : the mean of one model.

    Notes
    -----
    For J differences with the mean d and the standard deviation s, t = d/(s·√(1/J +
    n_test/n_train)) is compared with Student's t with J - 1 degrees of freedom, two-sided.  The
    uncorrected t, without n_test/n_train, too often finds differences where there are none.

    References
    ----------
    [Nadeau 2003].

    Examples
    --------
    >>> from quotakernels import roc_auc
    >>> from quotakernels.inference import fold_test
    >>> labels, folds = [1, 0, 1, 0] * 3, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
    >>> models = {"new": [4, 1, 3, 2, 4, 2, 3, 1, 4, 1, 2, 3]}
    >>> models["old"] = [4, 3, 2, 1, 1, 4, 3, 2, 4, 2, 1, 3]
    >>> found = fold_test(roc_auc, labels, models, folds)
    >>> print(found.values, found.difference.round(3), found.p_value.round(3))
    [0.25 0.75 0.25] 0.417 0.255
    """
    check_level(confidence_level)
    call = call_of(measure, y_true, options)
    found: list[Any] = []
    for column in _scores(models, y_true):
        data = call.validated(column)
        split = validate_folds(folds, tuple(data.examples.scores.shape), n_train)
        parts = parts_of(data, split)
        with silently(again=bool(found)):
            found.append(each_fold(call.measure, parts, call.ties))
    differences = trees_map(first_less_second, found)
    _warn(measure, differences, parts, split)
    return tree_map(functools.partial(_tested, split, confidence_level), differences)


def _scores(models: Any, y_true: Any) -> Iterable[Array]:
    """The scores of both models, in one library."""
    scores = {name: as_column(name, x) for name, x in two_models(models, y_true).items()}
    check_types(scores)
    return adopt(scores)[1].values()


def _tested(folds: Folds, confidence_level: float, values: Array) -> FoldTest:
    xp = namespace(values)
    dtype = values.dtype
    with xp.computing():
        values = xp.wide(values)
        found = corrected(xp, values, folds.ratio, confidence_level)
        statistic = found.mean / found.error
        statistic = xp.nan_unless(found.error > 0, statistic)
        p_value = student_p_value(xp, statistic, xp.cast(found.freedom, values.dtype))
        undefined = values.shape[-1] - 1 - found.freedom
        shaped = xp.reshape(values, (*values.shape[:-1], *folds.shape))
        tested = (statistic, found.freedom, p_value, undefined, shaped)
        return xp.finished(FoldTest(*found[:4], *tested), dtype)
