"""The tests that `compare` offers, each a function of two of the models."""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from quotakernels._array import tolerance
from quotakernels._text import counted
from quotakernels.inference._areas import area_name, refuse_weights, scale_of
from quotakernels.inference.comparison.permutation import (
    differences,
    differences_of_groups,
    exchange_of_groups,
    permutation_of,
)
from quotakernels.inference.comparison.selections import selections
from quotakernels.inference.delong.difference import delong_test
from quotakernels.inference.resampling.bootstrap import bootstrap
from quotakernels.inference.resampling.few import TESTS, warn_of_equal_rates, warn_of_few
from quotakernels.inference.resampling.group_means import draws_groups
from quotakernels.inference.resampling.options import check_resampling
from quotakernels.inference.resampling.values import reporter
from quotakernels.inputs.examples import Examples, Validated
from quotakernels.inputs.keywords import brief
from quotakernels.inputs.models import host_floats
from quotakernels.inputs.warned import level_of_caller, silently
from quotakernels.measures.at_quota.hit_rate import hit_rate
from quotakernels.ranking import TiePolicy

NDArray = np.ndarray[Any, Any]
TestName: TypeAlias = Literal["bootstrap", "permutation", "delong", "score"]
_ROUNDING = 2.0**-40
"""Of the largest estimate: differences below it count as 0."""
_SAME = 2.0**-30
"""Of an estimate: how far that of the ranks may be from it in a measure of nothing but order."""
_STEPS = {"bootstrap": 2, "permutation": 1}
"""The smallest p-value of each test, in units of 1/(1 + R)."""
_NORMALS = 2**12
"""Draws of normal estimates, for what the best of several is expected to have."""


class PairTest(NamedTuple):
    """An interval of the difference of two models, the p-value of the test that it is 0, and in
    closed form the standard error.
    """

    lower: float
    upper: float
    p_value: float
    error: float = math.nan


class Tests(NamedTuple):
    """A test of two models by their places, which it is, and the resamples of all, shape (M, R)."""

    of_pair: Callable[[int, int], PairTest]
    name: TestName
    resamples: NDArray | None = None


class Measured(NamedTuple):
    """What is compared: a measure of the scores of M models, shape (M, n), and its estimates.

    `data` goes with labels and scores, `drawn` says how resamples are drawn.
    """

    measure: Any
    y_true: Any
    found: Validated
    confidence_level: float
    data: dict[str, Any]
    drawn: dict[str, Any]
    estimate: NDArray = np.empty(0)

    @property
    def examples(self) -> Examples:
        """Labels, and the scores of all models."""
        return self.found.examples


def test_for(measured: Measured, stratified: bool) -> TestName:
    """A closed form where its variance is that of the examples, or the bootstrap."""
    weighted = measured.data["sample_weight"] is not None
    if weighted or stratified or _no_closed_form(measured):
        return "bootstrap"
    if area_name(measured.measure):
        return "delong"
    return "score" if quota_of(measured.measure) else "bootstrap"


def _no_closed_form(measured: Measured) -> str:
    """Why formulas do not hold, with what does instead; nothing where they do."""
    if measured.drawn["clusters"] is not None:
        return 'is for single examples; with clusters use test="bootstrap"'
    if measured.drawn["ties"] != "expected":
        return 'counts ties half; use ties="expected" or test="bootstrap"'
    return ""


def quota_of(measure: Any) -> dict[str, Any] | None:
    """The quota or fraction at which a measure is the hit rate; None of anything else."""
    at: dict[str, Any] = {}
    while isinstance(measure, functools.partial) and not measure.args:
        at = measure.keywords | at
        measure = measure.func
    if measure is not hit_rate or len(at) != 1 or not at.keys() <= {"quota", "fraction"}:
        return None
    return at


def check_test(
    test: str | None,
    n_resamples: int,
    confidence_level: float,
    ties: TiePolicy,
    stratified: bool,
) -> int:
    """The number of resamples; raise for a test that there is not."""
    n_resamples = check_resampling(n_resamples, confidence_level, "percentile", ties)
    if test not in (*get_args(TestName), None):
        *most, last = map('"{}"'.format, get_args(TestName))
        raise ValueError(f"test must be {', '.join(most)} or {last}; got {brief(test)}")
    if stratified and test not in ("bootstrap", None):
        raise ValueError(f'stratified has no meaning for test="{test}", which keeps all labels')
    return n_resamples


def few_resamples(
    n_resamples: int, models: int, confidence_level: float, test: str = "bootstrap"
) -> str:
    """What is wrong with too few resamples; nothing if they can tell models apart."""
    needed = resamples_needed(models, confidence_level, test)
    if n_resamples >= needed:
        return ""
    drawn = counted(n_resamples, "resample", "resamples")
    few = f"{drawn} cannot tell any of {models} models apart"
    return f"{few}; pass n_resamples={needed} or more"


def resamples_needed(models: int, confidence_level: float, test: str = "bootstrap") -> int:
    """The fewest whose smallest p-value is small enough for all pairs of models together."""
    pairs = models * (models - 1) / 2
    return math.ceil(round(_STEPS[test] * pairs / (1 - confidence_level) - 1, 6))


def by_test(test: TestName, measured: Measured, stratified: bool) -> Tests:
    """The tests of all pairs of models; warns where the test cannot find anything, and where
    its p-values are too small.
    """
    if test in _STEPS:
        number, models = measured.drawn["n_resamples"], measured.estimate.shape[0]
        if few := few_resamples(number, models, measured.confidence_level, test):
            warnings.warn(few, stacklevel=level_of_caller())
    if test == "permutation":
        return _permuted(measured)
    if test == "score":
        return _by_score(measured)
    tested = _bootstrapped(measured, stratified) if test == "bootstrap" else _by_delong(measured)
    if "gain" not in measured.data:  # which may come without classes
        clusters, groups = measured.drawn["clusters"], measured.found.groups
        if groups is not None and draws_groups(measured.measure, clusters, groups):
            codes = host_floats(groups.codes)
            own = codes.reshape(-1, codes.shape[-1])[0]
            warn_of_few(TESTS, measured.examples, own, unit="group")
        else:
            warn_of_few(TESTS, measured.examples, clusters, area=_largest_area(measured))
    return tested


def _largest_area(measured: Measured) -> float:
    """The largest AUC of the models, if they are compared by it."""
    if area_name(measured.measure) is None:
        return 0.5
    largest = float(np.max(measured.estimate, initial=-1, where=~np.isnan(measured.estimate)))
    return 1 - (1 - largest) / scale_of(measured.measure)


def _bootstrapped(measured: Measured, stratified: bool) -> Tests:
    drawn = {**measured.data, **measured.drawn, "method": "percentile"}
    with silently():
        found = bootstrap(
            measured.measure,
            measured.y_true,
            measured.examples.scores,
            stratified=stratified,
            **drawn,
        )
    values = host_floats(found.resamples).astype(np.float64)
    warn_of_equal_rates(measured.measure, values, 1)
    warn_of_undefined(np.isnan(values).sum(axis=-1), values.shape[-1])
    return tests_of(measured.estimate, values, measured.confidence_level)


def tests_of(estimate: NDArray, resamples: NDArray, confidence_level: float) -> Tests:
    """The tests of models, shape (M,), that were measured on the same resamples, shape (M, R)."""

    def tested(first: int, second: int) -> PairTest:
        with np.errstate(invalid="ignore"):
            apart = resamples[first] - resamples[second]
        by = _difference(estimate, first, second)
        return of_resamples(by, apart, confidence_level, _rounding(estimate))

    return Tests(tested, "bootstrap", resamples)


def optimism(worth: NDArray, resamples: NDArray) -> float:
    """How much more the best of several models is worth on the examples that chose it than on
    others, from what they are worth, shape (M,), and in resamples, shape (M, R).

    It is the mean over resamples of what the best of each is worth there, less what it is worth on
    the examples themselves.
    """
    there = resamples[:, ~np.isnan(resamples).any(axis=0)]
    if not there.size:
        return np.nan
    best = np.argmax(there, axis=0)
    with np.errstate(invalid="ignore"):
        return float(np.mean(there[best, np.arange(best.size)] - worth[best]))


def normal_optimism(worth: NDArray, errors: NDArray) -> float:
    """The same of normal estimates, best first; of the standard errors of all their differences,
    shape (M, M), which are all that it takes.
    """
    if np.isnan(errors).any():
        return np.nan
    squares = errors**2
    values, axes = np.linalg.eigh((squares[:, :1] + squares[:1] - squares) / 2)
    normals = np.random.default_rng(0).standard_normal((worth.size, _NORMALS))
    away = (axes * np.sqrt(np.maximum(values, 0))) @ normals
    return optimism(worth, worth[:, None] + away)


def _rounding(estimate: NDArray) -> float:
    """The difference that is put down to rounding."""
    largest = np.max(np.abs(estimate[np.isfinite(estimate)]), initial=0)
    return float(largest) * tolerance(estimate, _ROUNDING)


def _difference(estimate: NDArray, first: int, second: int) -> float:
    """The first estimate less the second; NaN of two that are infinite."""
    with np.errstate(invalid="ignore"):
        return float(estimate[first]) - float(estimate[second])


def _permuted(measured: Measured) -> Tests:
    drawn = dict(measured.drawn)
    number, progress = drawn.pop("n_resamples"), drawn.pop("progress")
    workers, max_memory = drawn.pop("workers"), drawn.pop("max_memory")
    apart: Callable[..., NDArray]
    if measured.found.groups is None:
        permutation = permutation_of(measured.measure, measured.examples, **drawn)
        examples = permutation.examples
        _check_of_order(measured, permutation.values(examples.scores, examples.valid))
        apart = functools.partial(differences, permutation, workers=workers)
    else:
        exchange = exchange_of_groups(measured.measure, measured.found, **drawn)
        apart = functools.partial(differences_of_groups, exchange)
    models = measured.estimate.shape[0]
    whole, tell = number * models * (models - 1) // 2, reporter(progress, "compare")
    done = itertools.count()

    def tested(first: int, second: int) -> PairTest:
        start = next(done) * number
        pair, so_far = (first, second), lambda k: tell(start + k, whole)
        values = apart(pair=pair, n_resamples=number, max_memory=max_memory, tell=so_far)
        by = _difference(measured.estimate, first, second)
        return of_permutations(by, values, _rounding(measured.estimate))

    return Tests(tested, "permutation")


def _check_of_order(measured: Measured, of_ranks: NDArray) -> None:
    """Raise unless ranks in the place of the scores leave the measure as it is."""
    relative = tolerance(measured.estimate, _SAME)
    if not np.allclose(of_ranks, measured.estimate, relative, relative, equal_nan=True):
        raise ValueError(
            'test="permutation" replaces scores by ranks, but this measure depends on the values '
            'of the scores; use test="bootstrap"'
        )


def _by_delong(measured: Measured) -> Tests:
    name = area_name(measured.measure)
    if name is None:
        raise ValueError('test="delong" is for roc_auc, gini and pem without options of their own')
    if wrong := _no_closed_form(measured):
        raise ValueError(f'test="delong" {wrong}')
    given = {**measured.data, "measure": name, "confidence_level": measured.confidence_level}

    def tested(first: int, second: int) -> PairTest:
        pair = [measured.examples.scores[model, ...] for model in (first, second)]
        found = delong_test(measured.y_true, pair, **given)
        ends = (found.lower, found.upper, found.p_value, found.standard_error)
        alike = found.difference == 0 and found.standard_error == 0
        return PairTest(0.0, 0.0, 1.0, 0.0) if alike else PairTest(*map(_number, ends))

    return Tests(tested, "delong")


def _number(x: Any) -> float:
    return float(host_floats(x))


def _by_score(measured: Measured) -> Tests:
    at, data = quota_of(measured.measure), dict(measured.data)
    if at is None or data.keys() & {"groups", "cost", "gain"}:
        raise ValueError('test="score" is for hit_rate at one quota or fraction')
    if wrong := _no_closed_form(measured):
        raise ValueError(f'test="score" {wrong}')
    refuse_weights(data.pop("sample_weight"))
    both = selections(measured.y_true, measured.examples.scores, data, at)

    def tested(first: int, second: int) -> PairTest:
        found, error = both.by_score(first, second, measured.confidence_level)
        return PairTest(found.lower, found.upper, found.p_value, error)

    return Tests(tested, "score")


def of_resamples(
    difference: float, values: NDArray, confidence_level: float, rounding: float
) -> PairTest:
    """From the differences in resamples, of which those within the rounding count as 0.

    1 - p is the level of the widest percentile interval that leaves 0 out, the estimate counted as
    one more resample.
    """
    values = values[~np.isnan(values)]
    if np.isnan(difference) or not values.size:
        return PairTest(np.nan, np.nan, np.nan)
    values = np.where(np.abs(values) <= rounding, 0.0, values)
    tail = (1 - confidence_level) / 2
    lower, upper = np.quantile(values, [tail, 1 - tail])
    fewer = min(np.count_nonzero(values <= 0), np.count_nonzero(values >= 0))
    p_value = min(1.0, 2 * (1 + fewer) / (1 + values.size))
    return PairTest(float(lower), float(upper), p_value)


def of_permutations(difference: float, values: NDArray, rounding: float) -> PairTest:
    """From the differences after permutations; there is no interval."""
    values = values[~np.isnan(values)]
    if np.isnan(difference) or not values.size:
        return PairTest(np.nan, np.nan, np.nan)
    as_far = np.count_nonzero(np.abs(values) >= abs(difference) - rounding)
    return PairTest(np.nan, np.nan, (1 + as_far) / (1 + values.size))


def warn_of_undefined(undefined: np.ndarray[Any, Any], n_resamples: int) -> None:
    """Warn where some of the resamples of a model do not count; all of them give NaN anyway."""
    some = undefined[undefined < n_resamples]
    most = int(np.max(some, initial=0))
    if most:
        warnings.warn(
            f"the measure is undefined in {most} of {n_resamples} resamples: intervals and "
            "p-values use the others",
            stacklevel=level_of_caller(),
        )
