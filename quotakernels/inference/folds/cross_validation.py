"""Cross-validation: measures of the folds, their mean, and the comparison of two models."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Unpack, overload

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    cast,
    computing,
    device,
    finished,
    float_of,
    mapped,
    namespace,
    readable,
    to_numpy,
    wide_float,
)
from quotakernels._records import plainly
from quotakernels.inference._normal import check_level
from quotakernels.inference.folds.corrected_t import ahead, corrected, first_less_second, two_sided
from quotakernels.inference.folds.splits import (
    Folds,
    each_fold,
    pooled_value,
    split_groups,
    validate_folds,
    why_undefined,
)
from quotakernels.inference.resampling.bootstrap import DataOptions
from quotakernels.inference.resampling.few import warn_of_equal_rates
from quotakernels.inference.resampling.group_means import check_groups
from quotakernels.inference.resampling.options import with_options
from quotakernels.inference.resampling.values import leaves, trees_map
from quotakernels.inputs.columns import adopt, as_column, check_types
from quotakernels.inputs.examples import Validated, check_tie_policy
from quotakernels.inputs.gains import Beside, validated
from quotakernels.inputs.keywords import public
from quotakernels.inputs.models import two_models
from quotakernels.inputs.warned import level_of_caller, silently
from quotakernels.measures._direction import direction_if_any
from quotakernels.measures._measure import ValueMeasure
from quotakernels.ranking import TiePolicy


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
    better : array, shape (...)
        1 where the first model is better by the difference, -1 where the second is, 0 where they
        are equal.  NaN where the difference is undefined, or the measure has no direction.
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
    better: Array


class FoldOptions(DataOptions, total=False):
    """What else the functions of folds take."""

    n_train: float | None
    method: Any


class FoldSummaryOptions(FoldOptions, total=False):
    """Those of `fold_summary`."""

    pooled: bool


class FoldTestOptions(FoldOptions, total=False):
    """Those of `fold_test`."""

    greater_is_better: bool | None


@overload
def fold_summary(
    measure: ValueMeasure,
    y_true: Any,
    y_score: Any,
    folds: Any,
    **options: Unpack[FoldSummaryOptions],
) -> FoldSummary: ...


@overload
def fold_summary(
    measure: Callable[..., Any] | Mapping[Any, Any],
    y_true: Any,
    y_score: Any,
    folds: Any,
    **options: Unpack[FoldSummaryOptions],
) -> Any: ...


@public
def fold_summary(
    measure: Any,
    y_true: Any,
    y_score: Any,
    folds: Any,
    *,
    pooled: bool = False,
    confidence_level: float = 0.95,
    n_train: float | None = None,
    sample_weight: Any = None,
    where: Any = None,
    pos_label: Any = None,
    ties: TiePolicy = "expected",
    validate: bool = True,
    gain: Any = None,
    gain_rejected: Any = 0,
    groups: Any = None,
    num_groups: int | None = None,
    cost: Any = None,
    treatment: Any = None,
    **options: Any,
) -> Any:
    """The mean of a measure over the folds of a cross-validation, with an interval.

    Each fold is ranked separately, because the scores of two folds come from two models and need
    not be comparable.  Needs SciPy, the extra `inference`.

    Parameters
    ----------
    measure : callable, or a mapping from names to callables
        A function of a `Ranking`: a measure of this library, or your own.
    y_true, y_score, sample_weight, where, pos_label, ties, validate, gain, gain_rejected, cost
        As in `rank`; each score comes from a model that has not seen its example.  Repeats are an
        axis before the last, shape (..., repeats, n); axes before it are models.
    treatment
        As in `rank`, for measures of uplift.
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
    groups, num_groups
        As in `rank`, for measures that take groups, and for `group_mean`.  A fold measures its own
        examples of each group.  If a group is split over folds, its quota applies to the part in
        each fold.
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
        `group_mean`: groups are split over folds.  All folds have the same hit rate, so that its
        interval has no width.

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
    check_tie_policy(ties)
    beside = Beside(gain, gain_rejected, groups, num_groups, cost, treatment)
    applied = with_options(measure, options, beside, y_true is not None)
    found = validated(y_true, y_score, sample_weight, where, pos_label, validate, *beside)
    split = validate_folds(folds, tuple(found.examples.scores.shape), n_train)
    values = each_fold(applied, found, split, ties)
    _warn(measure, values, found, split)
    _warn_of_equal_rates(measure, values, found, split)
    together = [pooled_value(applied, found, split, ties)] if pooled else []
    summarised = functools.partial(_summary, split, confidence_level)
    return trees_map(summarised, [values, *together])


def _summary(folds: Folds, confidence_level: float, found: list[Array]) -> FoldSummary:
    """From the values of the folds, and those of all folds together if these were asked for."""
    values, *together = found
    xp = namespace(values)
    dtype = float_of(values)
    with computing(xp):
        values = cast(xp, values, wide_float(xp, device(values)))
        *t, freedom = corrected(xp, values, folds.ratio, confidence_level)
        shaped = xp.reshape(values, (*values.shape[:-1], *folds.shape))
        pooled = [xp.mean(cast(xp, x, values.dtype), axis=-1) for x in together] or [None]
        parts = (*t, values.shape[-1] - 1 - freedom, shaped, *pooled)
        return finished(xp, FoldSummary._make(parts), dtype)  # type: ignore[no-any-return]


def _warn(measure: Any, values: Any, data: Validated, folds: Folds) -> None:
    """Tell what a reader of the results has to know of the folds."""
    _warn_of_split_groups(measure, data, folds)
    _warn_of_undefined(measure, values, data, folds)


def _warn_of_equal_rates(measure: Any, values: Any, data: Validated, folds: Folds) -> None:
    if data.groups is None:
        lists = data.examples.scores.ndim - len(folds.shape)
        warn_of_equal_rates(measure, values, lists, "folds")


def _warn_of_split_groups(measure: Any, data: Validated, folds: Folds) -> None:
    """Say that a mean over groups is over their parts; groups that are no sample stay in peace."""
    if not any(check_groups(measure, data.groups)) or data.groups is None:
        return
    if split := split_groups(data, folds):
        warnings.warn(
            f"{split} of {data.groups.ids.shape[0]} groups have examples in several folds: each "
            "fold measures its part of them, by a model that has seen the rest; to keep groups "
            "whole, split by them, as GroupKFold of scikit-learn does",
            stacklevel=level_of_caller(),
        )


def _warn_of_undefined(measure: Any, values: Any, data: Validated, folds: Folds) -> None:
    """Say which folds are left out, where values can be read."""
    found = leaves(values)
    if not all(readable(x) for x in found):
        return
    unknown = [np.isnan(to_numpy(x)).reshape(-1, len(folds.places)).any(axis=0) for x in found]
    undefined = np.any(unknown, axis=0)
    if undefined.any():
        name = getattr(measure, "__name__", "a measure")
        each = data.groups is not None and not all(check_groups(measure, data.groups))
        where = f"{'for some groups ' * each}in {undefined.sum()} of {undefined.size} folds"
        warnings.warn(
            f"{name} is undefined {where}, which are left out: "
            f"{why_undefined(data, folds, undefined)}",
            stacklevel=level_of_caller(),
        )


@overload
def fold_test(
    measure: ValueMeasure, y_true: Any, models: Any, folds: Any, **options: Unpack[FoldTestOptions]
) -> FoldTest: ...


@overload
def fold_test(
    measure: Callable[..., Any] | Mapping[Any, Any],
    y_true: Any,
    models: Any,
    folds: Any,
    **options: Unpack[FoldTestOptions],
) -> Any: ...


@public
def fold_test(
    measure: Any,
    y_true: Any,
    models: Any,
    folds: Any,
    *,
    greater_is_better: bool | None = None,
    confidence_level: float = 0.95,
    n_train: float | None = None,
    sample_weight: Any = None,
    where: Any = None,
    pos_label: Any = None,
    ties: TiePolicy = "expected",
    validate: bool = True,
    gain: Any = None,
    gain_rejected: Any = 0,
    groups: Any = None,
    num_groups: int | None = None,
    cost: Any = None,
    treatment: Any = None,
    **options: Any,
) -> Any:
    """Whether two models differ over the same folds: the corrected resampled t-test.

    Needs SciPy, the extra `inference`.

    Parameters
    ----------
    measure : callable, or a mapping from names to callables
        As in `fold_summary`.
    y_true, sample_weight, where, pos_label, ties, validate, gain, gain_rejected, cost, treatment
        As in `fold_summary`.
    models : mapping from names to arrays, shape (..., n) or (..., repeats, n), or an array
        Scores of two models on examples that they have not seen.  In an array the first axis is the
        models.
    folds : array, shape (n,) or (repeats, n)
        The fold of each example, as in `fold_summary`; both models were trained on the same.
    greater_is_better : bool, optional
        Whether more is better, for the field `better` only.  By default as the measure says; give
        it for functions of your own.
    confidence_level : float
        Of the interval; above 0 and below 1.
    n_train, groups, num_groups, **options
        As in `fold_summary`.

    Returns
    -------
    FoldTest
        For a mapping, or a measure that returns a record, the same with a result in place of each
        array.  The statistic and p-value are NaN where all folds have the same difference.  If
        fewer than two folds have a difference, the interval and the standard error are NaN too; if
        none has one, so are the difference and `better`.

    Raises
    ------
    TypeError, ValueError
        As `fold_summary`.

    Warns
    -----
    UserWarning
        As `fold_summary`.

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
    check_tie_policy(ties)
    beside = Beside(gain, gain_rejected, groups, num_groups, cost, treatment)
    applied = with_options(measure, options, beside, y_true is not None)
    found: list[Any] = []
    for column in _scores(models, y_true):
        data = validated(y_true, column, sample_weight, where, pos_label, validate, *beside)
        split = validate_folds(folds, tuple(data.examples.scores.shape), n_train)
        with silently(again=bool(found)):
            found.append(each_fold(applied, data, split, ties))
    differences = trees_map(first_less_second, found)
    _warn(measure, differences, data, split)
    return _each_tested(split, confidence_level, measure, greater_is_better, differences)


def _scores(models: Any, y_true: Any) -> Iterable[Array]:
    """Those of both models, of one library."""
    scores = {name: as_column(name, x) for name, x in two_models(models, y_true).items()}
    check_types(scores)
    return adopt(scores)[1].values()


def _each_tested(
    folds: Folds,
    confidence_level: float,
    measure: Any,
    greater_is_better: bool | None,
    differences: Any,
) -> Any:
    """The test of a measure's differences, or those of each in a mapping, by its own direction."""
    if isinstance(measure, Mapping):
        return {
            name: _each_tested(folds, confidence_level, each, greater_is_better, differences[name])
            for name, each in measure.items()
        }
    direction = direction_if_any(measure, greater_is_better)
    return mapped(lambda x: _tested(x, folds, confidence_level, direction), differences)


def _tested(
    values: Array, folds: Folds, confidence_level: float, greater_is_better: bool | None
) -> FoldTest:
    xp = namespace(values)
    dtype = values.dtype
    with computing(xp):
        values = cast(xp, values, wide_float(xp, device(values)))
        found = corrected(xp, values, folds.ratio, confidence_level)
        statistic = found.mean / found.error
        statistic = ops.nan_unless(xp, found.error > 0, statistic)
        p_value = two_sided(xp, statistic, found.freedom, len(folds.places))
        undefined = values.shape[-1] - 1 - found.freedom
        shaped = xp.reshape(values, (*values.shape[:-1], *folds.shape))
        tested = (statistic, found.freedom, p_value, undefined, shaped)
        test = FoldTest(*found[:4], *tested, ahead(found.mean, greater_is_better))
        return finished(xp, test, dtype)  # type: ignore[no-any-return]
