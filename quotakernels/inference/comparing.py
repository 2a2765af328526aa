"""Which of several models is better: tests of all pairs, groups of equals, votes of the best."""

from __future__ import annotations

import functools
import itertools
import math
import string
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from quotakernels._array import Array, is_array, tolerance
from quotakernels._frames import Library, frame_of
from quotakernels._records import plainly
from quotakernels._text import counted, digits, formatted
from quotakernels.inference._call import (
    ENOUGH_CLUSTERS,
    TESTS,
    Call,
    DrawOptions,
    area_name,
    call_of,
    draws_groups,
    refuse_weights,
    warn_of_equal_rates,
    warn_of_few,
)
from quotakernels.inference._distributions import (
    Alternative,
    Side,
    as_best,
    chi_square_p_value,
    holm,
    normal_tail,
)
from quotakernels.inference._resamples import Counts, Units, owners, to_draw_from, units_by_class
from quotakernels.inference.areas import delong_test, twice_below
from quotakernels.inference.bootstrapping import (
    HOST_BATCH,
    at_once,
    in_parts,
    intervals_of,
    largest_area,
    reporter,
    value_again,
    value_of,
    whole_groups,
)
from quotakernels.inference.hit_rates import NUMPY, PairTest, by_student, selections
from quotakernels.inputs.examples import Validated
from quotakernels.inputs.keywords import check_choice, forwarding, silently, warn_once
from quotakernels.inputs.models import host_floats, label_of, named_scores, stacked
from quotakernels.measures._facts import compared, direction_of, needs_ideal
from quotakernels.measures.at_quota import hit_rate
from quotakernels.measures.by_group import mean_of_groups, mean_over_groups
from quotakernels.ops import namespace
from quotakernels.ranking import rank, rank_examples, ranked_by_group

NDArray = np.ndarray[Any, Any]
TestName: TypeAlias = Literal["bootstrap", "permutation", "delong", "score"]
Tested: TypeAlias = TestName | Literal["student"]
_DIFFERENCE_ROUNDING = 2.0**-40
"""Share of the largest estimate below which differences count as 0."""
_RANKS_ROUNDING = 2.0**-30
"""Share of an estimate by which ranks may change it, if the measure depends on order alone."""
_LEAST_P = {"bootstrap": 2, "permutation": 1}
"""The smallest p-value of each test, in units of 1/(1 + R)."""
_NORMALS = 2**12
"""Draws of normal estimates, to find the expected maximum of several."""


# tests of two models


class Tests(NamedTuple):
    """A test of two models, given by their places; its name; and all resamples, shape (M, R)."""

    of_pair: Callable[[int, int], PairTest]
    name: Tested
    resamples: NDArray | None = None
    side: Side = Side()


class Compared(NamedTuple):
    """A comparison: a measure, the scores of M models, shape (M, n), and their estimates."""

    call: Call
    found: Validated
    confidence_level: float
    side: Side
    drawn: DrawOptions
    estimate: NDArray


def test_for(models: Compared) -> TestName:
    """The default test: exchanges of whole groups for means over them, a closed form where its
    variance is right, else the bootstrap.
    """
    if draws_groups(models.call.measure, models.drawn.clusters, models.found.groups):
        return "bootstrap" if models.drawn.stratified else "permutation"
    weighted = "sample_weight" in models.call.data
    if weighted or models.drawn.stratified or _no_closed_form(models):
        return "bootstrap"
    if area_name(models.call.measure):
        return "delong"
    return "score" if quota_of(models.call.measure) else "bootstrap"


def _no_closed_form(models: Compared) -> str:
    """Why the closed forms do not apply, and what to use instead; empty where they apply."""
    if models.drawn.clusters is not None:
        return 'is for single examples; with clusters use test="bootstrap"'
    if models.drawn.ties != "expected":
        return 'counts ties half; use ties="expected" or test="bootstrap"'
    return ""


def quota_of(measure: Any) -> dict[str, Any] | None:
    """The quota or fraction at which a measure is the hit rate; None for other measures."""
    at: dict[str, Any] = {}
    while isinstance(measure, functools.partial) and not measure.args:
        at = measure.keywords | at
        measure = measure.func
    if measure is not hit_rate or len(at) != 1 or not at.keys() <= {"quota", "fraction"}:
        return None
    return at


def _check_test(test: str | None, stratified: bool) -> None:
    """Raise for an unknown test, and for `stratified` unless the test has it."""
    if test is not None:
        check_choice("test", test, *get_args(TestName))
    if stratified and test not in ("bootstrap", None):
        raise ValueError(f'stratified has no meaning for test="{test}", which keeps all labels')


def few_resamples(
    n_resamples: int, models: int, confidence_level: float, test: str = "bootstrap"
) -> str:
    """The warning about too few resamples; empty if they can tell models apart."""
    needed = resamples_needed(models, confidence_level, test)
    if n_resamples >= needed:
        return ""
    drawn = counted(n_resamples, "resample", "resamples")
    return f"{drawn} cannot tell any of {models} models apart; pass n_resamples={needed} or more"


def resamples_needed(models: int, confidence_level: float, test: str = "bootstrap") -> int:
    """The fewest resamples whose smallest p-value can be significant among all pairs of models."""
    pairs = models * (models - 1) / 2
    return math.ceil(round(_LEAST_P[test] * pairs / (1 - confidence_level) - 1, 6))


def groups_needed(confidence_level: float) -> int:
    """The fewest groups whose exchanges can tell two models apart."""
    return math.ceil(math.log2(1 + resamples_needed(2, confidence_level)))


def by_test(test: TestName, models: Compared) -> Tests:
    """The tests of all pairs of models; warns where the test cannot find anything, and where
    its p-values are too small.
    """
    if test == "permutation" and models.found.groups is not None:
        return _by_groups(models)
    if test in _LEAST_P:
        count, level = models.estimate.shape[0], models.confidence_level
        if few := few_resamples(models.drawn.n_resamples, count, level, test):
            warn_once(few)
    if test == "permutation":
        return _by_ranks(models)
    if test == "score":
        return _by_score(models)
    units = _whole_units(models)
    tested = _bootstrapped(models, units) if test == "bootstrap" else _by_delong(models)
    if not units and "gain" not in models.call.data:  # which may come without classes
        _warn_of_few(models)
    return tested


def _warn_of_few(models: Compared) -> None:
    """Warn of p-values that are too small: with few examples."""
    examples = models.found.examples
    xp = namespace(examples.scores)
    kish = "" if examples.weights is None else " of equal weight (Kish)"
    with xp.computing():
        ranking = ranked_by_group(models.found, models.drawn.ties, needs_ideal(models.call.measure))
        units = units_by_class(xp, examples, None)
    warn_of_few(TESTS, units, "", kish, largest_area(models.call.measure, ranking))


def _whole_units(models: Compared) -> int:
    """How many clusters, or groups that are drawn whole, have the rarer class; 0 if single examples
    are drawn.
    """
    examples, clusters, groups = models.found.examples, models.drawn.clusters, models.found.groups
    xp = namespace(examples.scores)
    if clusters is not None:
        owner = owners(xp, examples, clusters)[1]
    elif groups is not None and draws_groups(models.call.measure, clusters, groups):
        owner = groups.codes
    else:
        return 0
    with xp.computing():
        units = units_by_class(xp, examples, owner)
    found = np.stack([host_floats(x).ravel() for x in units])
    return int(min(found[found > 0], default=2))


def _bootstrapped(models: Compared, units: int) -> Tests:
    level = models.side.level
    with silently():
        found = intervals_of(models.call.measure, models.found, models.drawn, "percentile", level)
    values = host_floats(found.resamples).astype(np.float64)
    warn_of_equal_rates(models.call.measure, values, 1)
    warn_of_undefined(np.isnan(values).sum(axis=-1), values.shape[-1])
    return tests_of(models.estimate, values, level, models.side.margin, by_resamples(units))


def tests_of(
    estimate: NDArray, resamples: NDArray, level: float, margin: float, test: OfDifferences
) -> Tests:
    """The tests of models, shape (M,), that were measured on the same resamples, shape (M, R), or
    parts of groups.
    """

    def tested(first: int, second: int) -> PairTest:
        with np.errstate(invalid="ignore"):
            by, apart = (x[first] - x[second] for x in (estimate, resamples))
        return test(by, apart, level, rounding_of(estimate), margin)

    return Tests(tested, "permutation" if test is of_parts else "bootstrap", resamples)


def optimism(worth: NDArray, resamples: NDArray) -> float:
    """How much too high the value of the best of several models is on the examples that chose it,
    from the values of all, shape (M,), and those in resamples, shape (M, R).

    It is the mean over resamples of the best value there, minus the value of that model on the
    examples themselves.
    """
    there = resamples[:, ~np.isnan(resamples).any(axis=0)]
    if not there.size:
        return np.nan
    best = np.argmax(there, axis=0)
    with np.errstate(invalid="ignore"):
        return float(np.mean(there[best, np.arange(best.size)] - worth[best]))


def normal_optimism(worth: NDArray, errors: NDArray) -> float:
    """The expected excess of the best of normal estimates, best first, from the standard errors of
    all their differences, shape (M, M).
    """
    if np.isnan(errors).any():
        return np.nan
    values, axes = _axes(errors)
    normals = np.random.default_rng(0).standard_normal((worth.size, _NORMALS))
    away = (axes * np.sqrt(np.maximum(values, 0))) @ normals
    return optimism(worth, worth[:, None] + away)


def _axes(errors: NDArray) -> tuple[NDArray, NDArray]:
    """The eigenvalues and eigenvectors of the covariance of estimates minus the first of them."""
    squares = errors**2
    return np.linalg.eigh((squares[:, :1] + squares[:1] - squares) / 2)


def rounding_of(estimate: NDArray) -> float:
    """The largest difference that counts as rounding."""
    largest = np.max(np.abs(estimate[np.isfinite(estimate)]), initial=0)
    return float(largest) * tolerance(estimate, _DIFFERENCE_ROUNDING)


def _by_ranks(models: Compared) -> Tests:
    """Coins decide which examples' ranks two models exchange."""
    if models.side.margin:
        raise ValueError('margin has no meaning for test="permutation"')
    differences, size = _of_ranks(models, to_draw_from(models.found, models.drawn.random_state))
    number, count = models.drawn.n_resamples, models.estimate.shape[0]
    whole, tell = number * count * (count - 1) // 2, reporter(models.drawn.progress, "compare")
    done = itertools.count()

    def tested(first: int, second: int) -> PairTest:
        start = next(done) * number
        run = functools.partial(differences, (first, second))
        so_far = lambda k, _: tell(start + k, whole)  # noqa: E731
        values = in_parts(NUMPY, run, range(number), size, so_far)
        by = float(models.estimate[first]) - float(models.estimate[second])
        return of_permutations(by, values, rounding_of(models.estimate))

    return Tests(tested, "permutation")


OfDifferences: TypeAlias = Callable[[float, NDArray, float, float, float], PairTest]
"""The test from a difference and those in resamples, for a level, rounding and a margin."""
Exchange: TypeAlias = tuple[Callable[[tuple[int, int], range], NDArray], int]
"""Gives the first of a pair of models minus the second, after each exchange of a range; and of how
many at once.
"""


def _of_ranks(models: Compared, found: Validated) -> Exchange:
    """Exchanges of ranks: each score becomes twice the mean rank of its tie group, minus 1."""
    drawn, examples = models.drawn, found.examples
    xp, length, valid = namespace(examples.scores), examples.scores.shape[-1], examples.valid
    with xp.computing():
        key = xp.order_key(examples.scores)
        there = xp.ones_like(key, dtype=xp.bool) if valid is None else valid
        ranks = twice_below(xp, xp.where(there, key, xp.zeros_like(key)), [there])[0]
        units = Units((length,), length, None)
        if drawn.clusters is not None:
            number, owner = owners(xp, examples, drawn.clusters)
            units = Units((number,), number, owner)
    coins, on_host = units.coins(ranks, drawn.random_state), isinstance(ranks, np.ndarray)

    def measured(scores: Array, valid: Array | None) -> NDArray:
        with xp.computing():
            columns = examples.map(lambda x: x[0, ...])._replace(scores=scores, valid=valid)
            columns = columns.map(lambda x: xp.broadcast_to(x, scores.shape))
        return host_floats(value_again(models.call.measure, rank_examples(columns, drawn.ties)))

    def differences(pair: tuple[int, int], numbers: range) -> NDArray:
        (a, b), flips = (ranks[model, ...] for model in pair), coins(numbers)
        with xp.computing():
            both = None if valid is None else valid[pair[0], ...] & valid[pair[1], ...]
            swapped = xp.stack([xp.where(flips, b, a), xp.where(flips, a, b)], axis=-2)
        if on_host:  # which is much faster one by one
            values = np.asarray([[measured(x, both) for x in lists] for lists in swapped])
        else:
            values = measured(swapped, both)
        apart: NDArray = values[:, 0] - values[:, 1]
        return apart

    _check_of_order(models, measured(ranks, valid))
    return differences, (HOST_BATCH if on_host else at_once(drawn.max_memory, 16 * length))


def _by_groups(models: Compared) -> Tests:
    """Exchanges of the values of groups, each of which is measured once for each model.

    If some groups exchange them, the difference of the weighted sums is turned to at most its
    negative exactly where the mean over these groups lies on the other side of 0.  So the means
    over parts of the groups tell the test.
    """
    drawn, mean = models.drawn, mean_over_groups(models.call.measure)
    found = to_draw_from(models.found, drawn.random_state)
    units = whole_groups(found, drawn.clusters)
    if mean is None or units is None:
        raise ValueError(
            'test="permutation" with groups exchanges whole groups, so it needs group_mean; '
            'use test="bootstrap"'
        )
    groups = mean.of_groups(ranked_by_group(found, drawn.ties, mean.ideal))
    parts, numbers = _parts_of(units, models)

    def means(some: range) -> NDArray:
        return host_floats(mean_of_groups(groups, parts(some)).value)

    on_host = isinstance(groups.size, np.ndarray)
    size = HOST_BATCH if on_host else at_once(drawn.max_memory, 16 * units.places)
    values = in_parts(NUMPY, means, numbers, size, reporter(drawn.progress, "compare"))
    return tests_of(models.estimate, values, models.side.level, models.side.margin, of_parts)


def _parts_of(units: Units, models: Compared) -> tuple[Counts, range]:
    """All parts of the units but the empty one, if these are at most R, or else R random ones;
    warns if they cannot tell models apart.
    """
    drawn, count, level = models.drawn, models.estimate.shape[0], models.confidence_level
    every, owner = units.places <= math.log2(1 + drawn.n_resamples), units.owner
    if not every:
        if few := few_resamples(drawn.n_resamples, count, level):
            warn_once(few)
        return units.coins(owner, drawn.random_state), range(drawn.n_resamples)
    if units.places < (needed := groups_needed(level)):
        few = f"{units.places} {'groups' if drawn.clusters is None else 'clusters'}"
        warn_once(f"only {few}: fewer than {needed} cannot tell any two models apart")
    return units.parts(owner), range(1, 2**units.places)


def _check_of_order(models: Compared, of_ranks: NDArray) -> None:
    """Raise if replacing the scores by ranks changes the measure."""
    relative = tolerance(models.estimate, _RANKS_ROUNDING)
    if not np.allclose(of_ranks, models.estimate, relative, relative, equal_nan=True):
        raise ValueError(
            'test="permutation" replaces scores by ranks, but this measure depends on the values '
            'of the scores; use test="bootstrap"'
        )


def _by_delong(models: Compared) -> Tests:
    name = area_name(models.call.measure)
    if name is None:
        raise ValueError('test="delong" is for roc_auc, gini and pem without options of their own')
    if wrong := _no_closed_form(models):
        raise ValueError(f'test="delong" {wrong}')
    given = {**models.call.data, "measure": name, "confidence_level": models.side.level}

    def tested(first: int, second: int) -> PairTest:
        pair = [models.found.examples.scores[model, ...] for model in (first, second)]
        with silently():  # few examples have been told of
            found = delong_test(models.call.y_true, pair, **given)
        by, lower, upper, error, _, p_value = (float(host_floats(x)) for x in found)
        if by == 0 and error == 0:
            lower, upper, p_value = 0.0, 0.0, 1.0
        greater, less = (normal_tail(x + models.side.margin, error) for x in (by, -by))
        return PairTest(lower, upper, p_value, greater, less, error, error)

    return Tests(tested, "delong")


def _by_score(models: Compared) -> Tests:
    at, data = quota_of(models.call.measure), dict(models.call.data)
    if at is None or data.keys() & {"groups", "cost", "gain"}:
        raise ValueError('test="score" is for hit_rate at one quota or fraction')
    if wrong := _no_closed_form(models):
        raise ValueError(f'test="score" {wrong}')
    refuse_weights(data.pop("sample_weight", None))
    both = selections(models.call.y_true, models.found.examples.scores, data, at)

    def tested(first: int, second: int) -> PairTest:
        return both.by_score(first, second, models.side)[1]

    return Tests(tested, "score")


def of_resamples(
    difference: float, values: NDArray, level: float, rounding: float, margin: float = 0.0
) -> PairTest:
    """The test from the differences in resamples; differences within rounding count as 0.

    1 - p is the level of the widest percentile interval without 0, with the estimate as one more
    resample; for one side it is the level of the bound that leaves out the margin.
    """
    values = values[~np.isnan(values)]
    if np.isnan(difference) or not values.size:
        return PairTest(np.nan, np.nan, np.nan)
    values = np.where(np.abs(values) <= rounding, 0.0, values)
    tail = (1 - level) / 2
    lower, upper = np.quantile(values, [tail, 1 - tail])
    drawn = 1 + values.size
    fewer = min(np.count_nonzero(values <= 0), np.count_nonzero(values >= 0))
    greater, less = (np.count_nonzero(x <= rounding - margin) for x in (values, -values))
    p_values = (min(1.0, 2 * (1 + fewer) / drawn), (1 + greater) / drawn, (1 + less) / drawn)
    error = float(np.std(values, ddof=1)) if values.size > 1 else math.nan
    return PairTest(float(lower), float(upper), *p_values, error, error)


def by_resamples(units: int) -> OfDifferences:
    """The test from resamples of single examples, or else of so many clusters or groups."""
    few = 0 < units < ENOUGH_CLUSTERS
    return functools.partial(_of_few_units, max(units, 2)) if few else of_resamples


def _of_few_units(
    units: int, difference: float, values: NDArray, level: float, rounding: float, margin: float
) -> PairTest:
    """The t test of resamples of few clusters, whose standard error is too small by a factor."""
    error = of_resamples(difference, values, level, rounding).error
    error *= math.sqrt(units / (units - 1))
    return by_student(difference, error, units - 1.0, level, rounding, margin)


def of_parts(
    difference: float, values: NDArray, level: float, rounding: float, margin: float = 0.0
) -> PairTest:
    """The test of exchanged groups, from the differences of the means over parts of them; the
    interval has the differences that would not be rejected.

    The empty part and others that weigh nothing agree with any difference.
    """
    if np.isnan(difference):
        return PairTest(np.nan, np.nan, np.nan)
    drawn, values = 1 + values.size, np.sort(np.where(np.abs(values) <= rounding, 0.0, values))
    values = values[~np.isnan(values)]
    empty = drawn - values.size

    def p_values(margin: float) -> list[float]:
        beyond = (np.count_nonzero(x <= rounding - margin) for x in (values, -values))
        return [(empty + x) / drawn for x in beyond]

    left_out = math.floor(round(drawn * (1 - level) / 2, 6)) - empty
    ends = (values[left_out], values[-1 - left_out]) if left_out >= 0 else (np.nan, np.nan)
    tested = (min(1.0, 2 * min(p_values(0.0))), *p_values(margin))
    return PairTest(float(ends[0]), float(ends[1]), *tested)


def of_permutations(difference: float, values: NDArray, rounding: float) -> PairTest:
    """The test from the differences after permutations, without an interval."""
    values = values[~np.isnan(values)]
    if np.isnan(difference) or not values.size:
        return PairTest(np.nan, np.nan, np.nan)
    far = [abs(difference) - np.abs(values), difference - values, values - difference]
    p_values = [(1 + np.count_nonzero(x <= rounding)) / (1 + values.size) for x in far]
    return PairTest._make([np.nan, np.nan, *p_values, np.nan, np.nan])


def warn_of_undefined(undefined: np.ndarray[Any, Any], n_resamples: int) -> None:
    """Warn if some, but not all, resamples leave the measure of a model undefined."""
    some = undefined[undefined < n_resamples]
    most = int(np.max(some, initial=0))
    if most:
        warn_once(
            f"the measure is undefined in {most} of {n_resamples} resamples: intervals and "
            "p-values use the others"
        )


# the comparison of several models


_LINES_SHOWN = 10
"""Models that a printed comparison shows."""


@plainly
class JointTest(NamedTuple):
    """The test that several models are equally good: a Wald test of all differences.

    Attributes
    ----------
    statistic : float
        How far the estimates lie from one another, as a sum of squares in units of their
        covariance.
    degrees_of_freedom : int
        The rank of this covariance: one less than the number of models if none repeats another.
    p_value : float
        The probability of a larger statistic, from the χ² distribution, if all are equally good.
        NaN if a model is undefined, if the test has no standard errors (a permutation test), and if
        those of the pairs fit no covariance, as may happen for hit rates in small data.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


def joint_test(estimate: NDArray, errors: NDArray) -> JointTest:
    """From the standard errors of all differences, shape (M, M).

    They tell the covariance of the estimates, but for what all have in common.
    """
    if np.isnan(errors).any() or not np.isfinite(estimate).all():
        return JointTest(np.nan, 0, np.nan)
    values, axes = _axes(errors)
    away = axes.T @ (estimate - estimate[0])
    there = values > tolerance(estimate, _DIFFERENCE_ROUNDING) * values.max()
    statistic, freedom = float(np.sum(away[there] ** 2 / values[there])), int(there.sum())
    if np.any(np.abs(away[~there]) > rounding_of(estimate)):
        return JointTest(np.nan, freedom, np.nan)
    return JointTest(statistic, freedom, chi_square_p_value(statistic, freedom))


class Comparison(NamedTuple):
    """Models in order of a measure, and the tests of all pairs; on the host.

    Tables of pairs have the shape (M, M), in the order of the names: row i, column j is model i
    minus model j.

    Attributes
    ----------
    names : tuple of str
        The models, best first; those with NaN last.
    estimate : float array, shape (M,)
        The measure of each model.
    difference : float array, shape (M, M)
        The row's estimate minus the column's.
    lower, upper : float arrays, shape (M, M)
        Ends of the confidence interval of each difference; NaN if scores were exchanged, and if
        there are too few groups for any interval of the level.
    p_value : float array, shape (M, M)
        Of the test that a pair does not differ, or not as `alternative` says; 1 on the diagonal.
    p_adjusted : float array, shape (M, M)
        The p-values corrected for the number of tests by Holm's method: one for each pair, or two
        if tests are one-sided.
    p_as_best : float array, shape (M, M)
        Row i has the two-sided p-values of model i against each of the others, corrected for being
        the best of M.  The first is surely the best if all of its row but itself are at most
        ``1 - confidence_level``; otherwise those above it may be as good.
    letters : tuple of str
        For each model the letters of the groups that it is in.  Two models differ, by two-sided
        tests whose ``p_adjusted <= 1 - confidence_level``, if they have no letter in common.
    groups : tuple of tuples of str
        The largest groups of models that cannot be told apart, in the order of the letters.
    test : str
        Which test it was: "bootstrap", "permutation", "delong" or "score"; in `evaluate` also
        "student", Student's t of what models bring.
    expected : float
        The expected measure of the first model on other examples: its estimate minus what the
        choice of the best has added to it, but not worse than the mean of all models.  NaN if
        scores were exchanged.
    joint : JointTest
        One test of all models together, that they are equally good.
    """

    names: tuple[str, ...]
    estimate: NDArray
    difference: NDArray
    lower: NDArray
    upper: NDArray
    p_value: NDArray
    p_adjusted: NDArray
    p_as_best: NDArray
    letters: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    test: Tested
    expected: float
    joint: JointTest

    def __repr__(self) -> str:
        """The models, best first, with their letters and the p-value against the first: adjusted,
        or that of a one-sided test, which is for a pair chosen beforehand.
        """
        wide, marks = (max(map(len, x), default=0) for x in (self.names, self.letters))
        rows = zip(self.names, self.estimate.tolist(), self.letters, strict=True)
        lines = [f"  {name:{wide}}  {digits(value):>9}  {x:{marks}}" for name, value, x in rows]
        ends = ("p less", self.lower), ("p greater", self.upper)  # a one-sided test lacks one
        sides = [name for name, x in ends if np.isinf(x).any()] or ["p"]
        values = self.p_adjusted if sides == ["p"] else self.p_value
        for k, p in enumerate(values[0, 1:_LINES_SHOWN].tolist(), 1):
            lines[k] += f"  {sides[0]} = {formatted(p, '.2g')}"
        more = [f"  and {len(lines) - _LINES_SHOWN} more"] if len(lines) > _LINES_SHOWN else []
        if len(lines) > 2 and not math.isnan(self.joint.p_value):
            more += [f"All alike: p = {formatted(self.joint.p_value, '.2g')}"]
        head = f"Comparison of {len(lines)} models; those without a common letter differ:"
        return "\n".join([head, *(line.rstrip() for line in lines[:_LINES_SHOWN]), *more])

    def to_frame(self, library: Library | None = None) -> Any:
        """Every pair as a row of a data frame: the difference, its interval and both p-values.

        The columns `first` and `second` are models, in order.  By default the frame is one of the
        library that is imported, of pandas if both are.
        """
        above = np.triu_indices(len(self.names), 1)
        names = np.asarray(self.names, dtype=np.object_)
        columns = {
            name: names[k].tolist() for name, k in zip(("first", "second"), above, strict=True)
        }
        for name in ("difference", "lower", "upper", "p_value", "p_adjusted"):
            columns[name] = getattr(self, name)[above].tolist()
        return frame_of(columns, library)


@forwarding(rank)
def compare(
    measure: Any,
    y_true: Any,
    models: Any,
    *,
    test: TestName | None = None,
    greater_is_better: bool | None = None,
    alternative: Alternative = "two-sided",
    margin: float = 0.0,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    stratified: bool = False,
    clusters: Any = None,
    random_state: Any = None,
    max_memory: int = 2**30,
    progress: bool | Callable[[int, int], None] | None = None,
    **options: Any,
) -> Comparison:
    """Which of several models is better: differences of all pairs, tests, and a ranking.

    Parameters
    ----------
    measure : callable
        A function of a `Ranking` that gives one number for each ranking of a batch: a measure of
        this library, ``functools.partial`` of one, or your own.  If it returns a record, one field
        is compared: `whole` of `impact_at_quota` and `impact`, `value` of `best_quota` and
        `best_boundary`, `mean` of `outcome_impact`.
    y_true, sample_weight, where, pos_label, ties, validate, gain, gain_rejected, cost, treatment
        The examples, given as to `rank`, arrays of shape (n,) for all models; not ``ties="given"``.
    models : mapping from names to arrays, shape (n,), a data frame, or an array, shape (M, n)
        The scores of at least two models.  In a data frame each column is a model;
        the models of an array, or of a list of arrays, are called "0", "1", ….
    test : {"bootstrap", "permutation", "delong", "score"}, optional
        The paired bootstrap, the exchange of scores between two models, or a closed form:
        `delong_test` for `roc_auc`, `gini` and `pem`, and the score test of `compare_selections`
        for `hit_rate` at one quota.  The default is the closed form if the measure has one and
        examples have no weights and no clusters, the exchange of whole groups for `group_mean`
        without clusters, and else the bootstrap.
    greater_is_better : bool, optional
        Whether more is better.  By default as the measure says; give it for functions of your own,
        and for measures without a direction, such as `bias`.
    alternative : {"two-sided", "greater", "less"}
        What the test of row i, column j may show: that model i and model j differ, or that i has
        more than j, or less.  One-sided tests are for pairs chosen before.
    margin : float
        In units of the measure, and only for a one-sided test: "greater" may show that the
        difference is above -margin (model i is not inferior), "less" that it is below the margin.
        A negative margin asks for more than any difference.
    n_resamples : int
        The number of resamples, or of exchanges for each pair, R.
    confidence_level : float
        The level of each single interval, or bound.  Adjusted p-values up to 1 - confidence_level
        tell models apart.
    stratified : bool
        Draw positives and negatives separately, as many of each as there are, in the bootstrap.
    groups, num_groups : array and int, optional
        The group of each example, and how many groups there are, for `group_mean` and functions of
        your own: models are compared by a mean over groups.
    clusters : array, shape (n,), optional
        Examples with the same value are drawn, or exchanged, together.  For `group_mean` the
        default is the groups.
    random_state : None, int, or a random generator of the scores' library, optional
        A whole number gives the same resamples again.
    max_memory : int
        Bytes that a batch of resamples may take, on devices and in JAX.
    progress : bool or callable, optional
        ``progress(done, n_resamples)`` is called from time to time; by default a terminal shows a
        line.
    **options
        The measure's own arguments, such as ``quota=100``.

    Returns
    -------
    Comparison
        On the host.  If a model's measure is undefined, all its results are NaN; so are results for
        which all resamples are undefined.  Such pairs count as not told apart.

    Raises
    ------
    TypeError
        Models that are not a mapping from strings, a data frame or an array; scores without values,
        in a trace; a measure that returns another record; no `greater_is_better` for a measure
        without a direction.
    ValueError
        Fewer than two models; scores of different lengths; a measure with more than one number for
        each model, such as at several quotas or of groups; a measure that depends on the values of
        scores, or a margin, where a permutation test exchanges scores; with ``test="delong"`` or
        ``test="score"`` a measure that has no such test, weights, clusters or another tie policy; a
        margin that is not finite, or of a two-sided test.

    Warns
    -----
    UserWarning
        There are too few resamples, or groups, to tell any pair of so many models apart.  P-values
        of the bootstrap and DeLong's test are too small, with fewer than 30 positives or
        negatives.  Intervals of an AUC above 0.97 are too narrow, with
        fewer than 3/(1 - AUC) positives or negatives.  The measure is undefined in some resamples,
        or all have the same hit rate.

    See Also
    --------
    compare_selections : two models at one quota, by the examples that only one of them selects.
    compare_curves : which model is best at which quota.

    Notes
    -----
    Bootstrap.  All models are measured on the same resamples.  The interval has the percentiles of
    the differences d*, and p = min(1, 2·(1 + k)/(1 + R)), where k is the smaller of the numbers of
    d* <= 0 and d* >= 0.  So p is about the level at which the interval just touches 0.  The test
    assumes only that the measures are equal.  Few clusters, or groups, vary too little in
    resamples.  If fewer than 60, C, have the rarer class, the interval is d ± t·s·√(C/(C - 1)) with
    the standard deviation s of d* and Student's t of C - 1 degrees of freedom, and p is that of the
    t test.  In simulations with 4 to 40 clusters it rejected equal AUC in 2 to 6 % and equal hit
    rates in 0 to 5, where percentiles rejected in up to 14.

    Permutation.  The scores of each model are replaced by their ranks (mean ranks of ties), because
    two models may have different scales.  Then a coin for each example decides whether the two
    models exchange its ranks: p = (1 + k)/(1 + R), where k is the number of exchanges after which
    the difference is at least as large as before.  The test is exact if the models are
    exchangeable, which is more than one equal measure.  It has no interval.

    For `group_mean` the models exchange the values of whole groups: in all ways, if these are no
    more than R, and else in R random ones.  The test is exact, for any number of groups, if either
    model might as well have had the values of the other in each group.  G groups have no two-sided
    p-value below 2/2^G, so fewer than 6 never differ at the 5 % level.  The interval has the
    differences that would not be rejected if they were subtracted in each group.  In simulations
    with 4 to 40 groups the test rejected equal means in at most 5 %, also where the differences of
    the groups were skewed, and 95 % intervals covered the difference in 92 to 100 %.

    One-sided tests have a bound: `lower` for "greater", `upper` for "less"; the other end is
    infinite.  The bootstrap's p = (1 + k)/(1 + R), where k is the number of d* <= -margin, or of d*
    >= margin.  Letters are those of the two-sided tests.

    The joint test is that of [DeLong 1988] for AUC.  It takes the covariance of the differences
    from the standard errors of all pairs: for hit rates those of the score test, for the bootstrap
    those of the resamples.  A covariance that is not of full rank has a pseudo-inverse.

    The model that is best on some examples owes part of that to chance.  In each resample take the
    best model's measure there, minus the same model's measure on the examples.  The mean of these
    differences is the part due to chance.  `expected` is the first model's estimate minus this
    part; it is no worse than the mean of all models, below which the best of them is not expected
    to be, and no better than the estimate.  If all models are equally good, this removes about two
    thirds of the excess.  Closed forms use 4096 fixed draws of normal estimates, with the standard
    errors of their differences, instead of resamples.

    In simulations of two equal models the bootstrap and DeLong's test rejected at the 5 % level in
    7 to 9 % of data sets with 5 to 20 positives.  The bootstrap rejected in 14 to 70 with 3 to 1
    positives, in 6 at an AUC of 0.98, in 7 to 9 with 4 to 30 clusters and in 38 with 2.  The score
    test rejected in at most 6.4.  Intervals of differences of AUC near 1 are too narrow: 95 %
    intervals covered the difference in 85 to 88 % with an AUC of 0.998 and 30 positives.  Bootstrap
    intervals of hit rates covered it in 92 % there, and in 49 % near a hit rate of 1.

    Whether the first is the best is a question of its own pairs.  In its row of `p_as_best` the
    k-th largest p-value is multiplied by k(k + 1)/2, the number of pairs among the first and those
    k models, and then lowered to the next larger one if that is less, as in the step-up method of
    [Hochberg 1988].  So the first is surely the best where the largest p-value alone says so, and
    models that are clearly left behind change nothing.  In simulations with 2 to 20 models, of
    equal and unequal precision, at most 5.2 % of comparisons left a model behind that was as good.
    Hochberg's factor k is for a first model chosen beforehand: with 8 equal models it does so in
    13 %.

    R resamples cannot give a p-value below 2/(1 + R), and R exchanges none below 1/(1 + R).  Holm's
    method multiplies it by up to the number of pairs, M(M - 1)/2.

    References
    ----------
    [Efron 1993] chapters 13 and 16; [DeLong 1988]; [Venkatraman 1996]; [Bandos 2005]; [Holm 1979];
    [Hochberg 1988]; [Piepho 2004].

    Examples
    --------
    >>> import numpy as np
    >>> from quotakernels import compare, hit_rate
    >>> rng = np.random.default_rng(1)
    >>> labels = rng.random(2000) < 0.2
    >>> signal = rng.normal(labels)
    >>> models = {
    ...     "noisy": signal + 2 * rng.normal(size=2000),
    ...     "copy": signal + 0.1 * rng.normal(size=2000),
    ...     "plain": signal,
    ... }
    >>> found = compare(hit_rate, labels, models, quota=200)
    >>> print(found.names, found.estimate, found.letters)
    ('copy', 'plain', 'noisy') [0.605 0.59  0.315] ('a', 'a', 'b')
    >>> print(found.lower[0].round(2), found.p_adjusted[0].round(3))
    [ 0.   -0.01  0.21] [1.    0.123 0.   ]
    """
    call = call_of(measure, y_true, options)
    call = call._replace(measure=compared(call.measure))
    how = (random_state, call.ties, n_resamples, max_memory, progress)
    drawn = DrawOptions(clusters, stratified, False, *how).checked(confidence_level, "percentile")
    side = Side.of(alternative, margin, confidence_level)
    _check_test(test, stratified)
    named = named_scores(models, y_true)
    found = validated_models_of(call, {label_of(models, k): x for k, x in named.items()})
    estimate, sign = estimates_of(call, found, greater_is_better)
    models = Compared(call, found, confidence_level, side, drawn, estimate)
    tests = by_test(test or test_for(models), models)._replace(side=side)
    return comparison_of(list(named), estimate, sign, tests, confidence_level)


def validated_models_of(call: Call, named: dict[str, Any]) -> Validated:
    """The checked scores of all models, shape (M, n), with labels and other columns."""
    beside = {k: x for k, x in call.data.items() if k not in ("groups", "num_groups")}
    return call.validated(stacked(named, call.y_true, **beside))


def estimates_of(
    call: Call, data: Validated, greater_is_better: bool | None
) -> tuple[NDArray, int]:
    """The measure of each model, one number, and the sign that makes larger values better."""
    measure = call.measure
    found = value_of(measure, ranked_by_group(data, call.ties, needs_ideal(measure)))
    hint = "; of groups pass group_mean of the measure" if data.groups else ""
    several = "; of several quotas or thresholds pass one at a time"
    if not is_array(found):
        kind = type(found).__name__
        raise TypeError(f"measure must give one number for each model; got a {kind}{hint}")
    number = data.examples.scores.shape[0]
    if tuple(found.shape) != (number,):
        raise ValueError(
            f"measure must give one number for each model, shape {(number,)}; "
            f"got shape {tuple(found.shape)}{hint or (several if found.ndim > 1 else '')}"
        )
    estimate = host_floats(found)
    return estimate, 1 if direction_of(measure, greater_is_better) else -1


def comparison_of(
    names: list[str], estimate: NDArray, sign: int, tests: Tests, confidence_level: float
) -> Comparison:
    """Models in order, and the tests of all their pairs."""
    worth = sign * estimate.astype(np.float64)
    lost, worth = np.isnan(worth), np.nan_to_num(worth, posinf=np.inf, neginf=-np.inf)
    known = worth if lost.all() else worth[~lost]
    order = sorted(range(len(names)), key=lambda k: (lost[k], -worth[k], names[k]))
    estimate, names = estimate[order].astype(np.float64), [names[k] for k in order]
    pairs = list(itertools.combinations(range(len(names)), 2))
    results: Any = [tests.of_pair(order[i], order[j]) for i, j in pairs]
    of: Any = PairTest._make(np.asarray(x) for x in zip(*results, strict=True))
    if tests.resamples is None:
        more = normal_optimism(worth[order], _table(pairs, of.error, of.error, 0))
    else:
        more = optimism(worth, sign * tests.resamples)
    adjusted = holm(of.p_value)
    groups = groups_alike(_table(pairs, adjusted, adjusted, 1) <= round(1 - confidence_level, 12))
    with np.errstate(invalid="ignore"):
        difference = estimate[:, None] - estimate
    ends = (of.lower, 0.0 - of.upper), (of.upper, 0.0 - of.lower)
    lower, upper = (_table(pairs, *x, 0) for x in ends)
    return Comparison(
        tuple(names),
        estimate,
        difference,
        *tests.side.ends(lower, upper),
        *_p_values(pairs, of, tests.side),
        as_best(_table(pairs, of.p_value, of.p_value, 1)),
        letters_of(groups, len(names)),
        tuple(tuple(names[k] for k in group) for group in groups),
        tests.name,
        sign * float(np.clip(worth[order[0]] - more, np.mean(known), worth[order[0]])),
        joint_test(estimate, _table(pairs, of.if_equal, of.if_equal, 0)),
    )


def _p_values(pairs: list[tuple[int, int]], of: Any, side: Side) -> tuple[NDArray, NDArray]:
    """Tables of the p-values of what is asked of each pair, and adjusted for their number."""
    above, below = of.p_value_of(side), of.p_value_of(side._replace(sign=-side.sign))
    adjusted = holm(np.concatenate([above, below]) if side.sign else above)
    first, last = adjusted[: len(pairs)], adjusted[-len(pairs) :]
    return _table(pairs, above, below, 1), _table(pairs, first, last, 1)


def _table(
    pairs: list[tuple[int, int]], above: NDArray, below: NDArray, diagonal: float
) -> NDArray:
    """A square table of all pairs, from the values for each pair and for its reverse."""
    number = pairs[-1][1] + 1
    table = np.full((number, number), float(diagonal))
    rows, columns = np.asarray(pairs).T
    table[rows, columns], table[columns, rows] = above, below
    return table


# many pairs: letters for groups that cannot be told apart


def groups_alike(differ: NDArray) -> list[tuple[int, ...]]:
    """The largest groups without two models that differ, by insertion and absorption.

    In the order of their first members; a model may be in several.
    """
    groups = [frozenset(range(differ.shape[0]))]
    for pair in np.argwhere(np.triu(differ)).tolist():
        split = []
        for group in groups:
            split += [group - {model} for model in pair] if group.issuperset(pair) else [group]
        split = list(dict.fromkeys(split))
        groups = [group for group in split if not any(group < other for other in split)]
    return sorted(tuple(sorted(group)) for group in groups)


def letters_of(groups: list[tuple[int, ...]], number: int) -> tuple[str, ...]:
    """For each model the letters of the groups that it is in: a, b, …; beyond 52 their numbers."""
    alphabet = string.ascii_letters
    names = [alphabet[k] if k < len(alphabet) else f"({k + 1})" for k in range(len(groups))]
    return tuple(
        "".join(name for name, group in zip(names, groups, strict=True) if model in group)
        for model in range(number)
    )
