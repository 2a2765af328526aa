"""The best cut for given costs, lines of equal cost, and the H-measure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, available, mode_fixture, parameters
from expected import as_floats, assert_within, ulps
from hypothesis import given
from hypothesis import strategies as st
from test_small_cases import padded_cases

import quotakernels as qk

mode = mode_fixture(QUICK)

LENGTH = 5
COSTS = ((1, 1), (0, 1), (2, 1), (0.5, 1.5), (1, 0), (0, 0), (3, 4))
PREVALENCES = (0.5, 0.25, 1.0, 0.0, 0.75, 0.5, 0.125)
COST_FP, COST_FN = (np.array(column, dtype=float) for column in zip(*COSTS, strict=True))
SHARES = np.array(PREVALENCES)
DISTRIBUTIONS = {"prevalence": (), "two": (2, 2), "other": (1, 3)}

Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0])
S = np.asarray([0.875, 0.75, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0])
W = np.asarray([1.0, 0.5, 2, 0, 3, 0.25, 1, 1])

EAGER = parameters(every.EAGER)
LAZY = parameters([mode for mode in MODES if mode.lazy])


def distribution(name: str) -> Any:
    return DISTRIBUTIONS[name] or "prevalence"


# against exact numbers


def decisions(ranking: qk.Ranking, cost_fp: Any, cost_fn: Any, shares: Any) -> dict[str, Any]:
    costs = {"cost_fp": cost_fp, "cost_fn": cost_fn}
    found = every.record("own", qk.best_operating_point(ranking, **costs))
    elsewhere = qk.best_operating_point(ranking, **costs, prevalence=shares)
    found |= every.record("elsewhere", elsewhere)
    for name in DISTRIBUTIONS:
        found[name] = qk.h_measure(ranking, cost_distribution=distribution(name))
    return found


@cache
def exact_decisions(groups: tuple[ex.Group, ...]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for name, shares in (("own", [None] * len(COSTS)), ("elsewhere", PREVALENCES)):
        points = [
            ex.best_operating_point(groups, *pair, share) or (None,) * 5
            for pair, share in zip(COSTS, shares, strict=True)
        ]
        for k, field in enumerate(ex.OperatingPoint._fields):
            found[f"{name}.{field}"] = as_floats([point[k] for point in points])
    for name, pair in DISTRIBUTIONS.items():
        h = ex.h_measure(groups, *pair) if pair else ex.h_measure_float(groups)
        found[name] = as_floats(h)
    return found


def stacked(rankings: Iterable[list[ex.Group]]) -> dict[str, np.ndarray]:
    rows = [exact_decisions(tuple(groups)) for groups in rankings]
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}


def assert_right(found: dict[str, Any], wanted: dict[str, Any], exact: bool = True) -> None:
    """Decisions are exactly right; rates too, without weights; costs within 4 ulp."""
    assert found.keys() == wanted.keys()
    for name, value in found.items():
        if name in DISTRIBUTIONS:
            tolerance = 1e-13 if value.dtype == np.float64 else 1e-7
            assert_within(value, wanted[name], tolerance, name)
        elif name.endswith("threshold") or (exact and not name.endswith("cost")):
            rounded = wanted[name].astype(value.dtype)
            np.testing.assert_array_equal(value, rounded, err_msg=name)
        else:
            assert ulps(value, wanted[name]) <= 4, name


@cache
def small_cases(ties: str) -> dict[str, np.ndarray]:
    return stacked(ex.groups(y, s, ties=ties) for y, s in ex.ordered_cases(LENGTH))


def check_small_cases(mode: Mode, ties: Any) -> None:
    def run(y: Any, s: Any, mask: Any, *numbers: Any) -> dict[str, Any]:
        return decisions(qk.rank(y, s, where=mask, ties=ties), *numbers)

    found = mode.run(run, *padded_cases(), COST_FP, COST_FN, SHARES)
    assert_right(found, small_cases(ties))


def test_every_small_case(mode):
    check_small_cases(mode, "expected")


@pytest.mark.parametrize("ties", ["optimistic", "pessimistic"])
@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in ("numpy", "jax64")]))
def test_every_small_case_with_good_or_bad_luck(mode, ties):
    check_small_cases(mode, ties)


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in ("numpy", "torch")]))
@pytest.mark.parametrize("ties", ["expected", "given"])
def test_compact_tables(mode, ties):
    def run(y: Any, s: Any, *numbers: Any) -> dict[str, Any]:
        return decisions(qk.rank(y, s, ties=ties), *numbers)

    for y, s in ex.cases(LENGTH):
        found = mode.run(run, y, s, COST_FP, COST_FN, SHARES)
        assert_right(found, exact_decisions(tuple(ex.groups(y, s, ties=ties))))


@cache
def weighted_cases() -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    cases = [(y, s, [float(x) for x in w]) for y, s, w in ex.weighted_cases(3) if len(y) == 3]
    columns = [np.array(column) for column in zip(*cases, strict=True)]
    return columns, stacked(ex.groups(*case) for case in cases)


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name != "torch-compile"]))
def test_weighted_small_cases(mode):
    def run(y: Any, s: Any, w: Any, *numbers: Any) -> dict[str, Any]:
        return decisions(qk.rank(y, s, sample_weight=w), *numbers)

    columns, wanted = weighted_cases()
    assert_right(mode.run(run, *columns, COST_FP, COST_FN, SHARES), wanted, exact=False)


# the best cut


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_no_cut_is_cheaper(seed, weighted):
    dice = np.random.default_rng(seed)
    n = int(dice.integers(2, 60))
    labels, scores = dice.integers(0, 2, (3, n)), np.round(dice.random((3, n)), 1)
    labels[:, :2] = 0, 1
    weights = dice.random(n) ** 4 + 1e-3 if weighted else None
    ranking = qk.rank(labels, scores, sample_weight=weights)
    cost_fp, cost_fn = dice.random(4), 10 ** dice.uniform(-2, 2, 4)
    share = float(dice.random())
    curve = qk.roc_curve(ranking)
    for prevalence in (None, share):
        best = qk.best_operating_point(
            ranking, cost_fp=cost_fp, cost_fn=cost_fn, prevalence=prevalence
        )
        mass = ranking.weights.sum(axis=-1)[:, None, None]
        pi = ranking.positive_weights.sum(axis=-1)[:, None, None] / mass
        pi = pi if prevalence is None else prevalence
        fpr, tpr = curve.fpr[:, None, :], curve.tpr[:, None, :]
        costs = cost_fp[:, None] * (1 - pi) * fpr + cost_fn[:, None] * pi * (1 - tpr)
        np.testing.assert_allclose(best.cost, costs.min(axis=-1), rtol=1e-12, atol=1e-14)
        at = np.abs(curve.fpr[:, None] - best.fpr[..., None])
        at = at + np.abs(curve.tpr[:, None] - best.tpr[..., None])
        assert (at.min(axis=-1) < 1e-13).all()


def test_the_smallest_quota_of_equal_costs():
    labels, scores = [1, 0, 1, 0, 1, 0], [6, 5, 4, 3, 2, 1]
    for ratio in (1.0, 3.0, 0.1, 1e-9, 7e11):
        best = qk.best_operating_point(labels, scores, cost_fp=ratio, cost_fn=ratio)
        assert best.quota == 1
    for count in (3, 7, 10, 49):  # a group that is worth exactly what it costs
        labels = [1] + [0] * count
        for cost in (0.1, 0.3, 1 / 3, 1e-5):
            best = qk.best_operating_point(
                labels, [1] * (count + 1), cost_fp=cost, cost_fn=count * cost
            )
            assert best.quota == 0
            more = qk.best_operating_point(
                labels, [1] * (count + 1), cost_fp=cost, cost_fn=count * cost * (1 + 1e-13)
            )
            assert more.quota == count + 1


def test_the_empty_cut_and_the_whole():
    nothing = qk.best_operating_point(Y, S, cost_fp=1, cost_fn=0)
    assert np.isnan(nothing.threshold)
    assert nothing[1:] == (0, 0, 0, 0)
    everyone = qk.best_operating_point(Y, -S, cost_fp=1, cost_fn=100)
    assert everyone[:4] == (-0.875, 8, 1, 1)
    assert everyone.cost == 0.5


def test_the_threshold_selects_the_quota():
    best = qk.best_operating_point(Y, S, cost_fp=1, cost_fn=np.linspace(0.1, 5, 30))
    for threshold, quota in zip(best.threshold, best.quota, strict=True):
        assert np.count_nonzero(threshold <= S) == quota
    assert len(set(best.quota.tolist())) > 2


def test_integer_scores_have_float_thresholds():
    best = qk.best_operating_point([1, 0], [7, 3], cost_fp=1, cost_fn=[0, 1])
    np.testing.assert_array_equal(best.threshold, [np.nan, 7])


def test_the_best_cut_lies_on_the_hull_where_its_slopes_say():
    dice = np.random.default_rng(3)
    ranking = qk.rank(dice.integers(0, 2, 300), np.round(dice.normal(size=300), 1))
    hull = qk.roc_hull(ranking)
    cost_fn = 10 ** dice.uniform(-1, 1, 40)
    slopes = qk.iso_performance_slope(1, cost_fn, 0.3)
    best = qk.best_operating_point(ranking, cost_fp=1, cost_fn=cost_fn, prevalence=0.3)
    for slope, tpr, fpr in zip(slopes, best.tpr, best.fpr, strict=True):
        at = np.flatnonzero((hull.slope_min <= slope) & (slope <= hull.slope_max))
        assert (fpr, tpr) in set(zip(hull.fpr[at], hull.tpr[at], strict=True))


def test_shapes_are_those_of_batch_and_costs():
    scores = np.stack([S, -S, S * 0])
    best = qk.best_operating_point(
        Y, scores, cost_fp=np.ones((2, 1)), cost_fn=[1, 2, 3, 4], prevalence=0.5
    )
    assert {x.shape for x in best} == {(3, 2, 4)}
    one = qk.best_operating_point(Y, scores, cost_fp=1, cost_fn=3, prevalence=0.5)
    assert {x.shape for x in one} == {(3,)}
    for whole, single in zip(best, one, strict=True):
        np.testing.assert_array_equal(whole[:, 1, 2], single)
    empty = qk.best_operating_point(Y, S, cost_fp=np.ones((0,)), cost_fn=1)
    assert {x.shape for x in empty} == {(0,)}


def test_each_row_has_its_own_prevalence():
    labels = np.stack([Y, 1 - Y, np.ones_like(Y), np.arange(8) == 0])
    best = qk.best_operating_point(labels, np.stack([S] * 4), cost_fp=1, cost_fn=2)
    for k, row in enumerate(labels):
        alone = qk.best_operating_point(row, S, cost_fp=1, cost_fn=2)
        np.testing.assert_array_equal(alone, [x[k] for x in best])
        if 0 < row.mean() < 1:
            given = qk.best_operating_point(
                row, S, cost_fp=1, cost_fn=2, prevalence=float(row.mean())
            )
            np.testing.assert_allclose(given, alone)
    assert np.isnan([x[2] for x in best]).all()


@every.main_modes
def test_costs_in_every_form(mode):
    wanted = qk.best_operating_point(Y, S, cost_fp=[1.0, 2.0], cost_fn=[2.0, 1.0])
    forms = [([1, 2], (2, 1)), (np.asarray([1, 2], "i1"), np.asarray([2, 1], "f4"))]
    for cost_fp, cost_fn in forms:
        found = mode.run(
            lambda y, s, a=cost_fp, b=cost_fn: qk.best_operating_point(y, s, cost_fp=a, cost_fn=b),
            Y,
            S,
        )
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


# the H-measure


@pytest.mark.parametrize("name", ["prevalence", (2, 2), (1, 1), (0.5, 0.5), (30, 4), (0.1, 90.5)])
def test_h_of_large_counts(name):
    dice = np.random.default_rng(5)
    for size in (2, 5, 9) * 4:
        counts = dice.integers(1, 10 ** dice.integers(1, 9), size)
        positives = (counts * dice.random(size) ** dice.integers(1, 9)).astype(int)
        check_h(name, counts, positives, 1e-13)


@pytest.mark.parametrize("name", [(1000, 1000), (0.1, 1000), (1000, 0.1), (2, 1000.0), (150, 1.5)])
def test_h_of_extreme_distributions(name):
    dice = np.random.default_rng(6)
    for size in (2, 6, 12):
        counts = dice.integers(1, 3000, size)
        positives = (counts * dice.random(size) ** dice.integers(1, 9)).astype(int)
        check_h(name, counts, positives, 1e-12)


def check_h(name: Any, counts: np.ndarray, positives: np.ndarray, tolerance: float) -> None:
    scores = np.arange(counts.size, 0, -1)
    groups = ex.groups_from_counts(scores.tolist(), counts.tolist(), positives.tolist())
    pair = () if name == "prevalence" else map(Fraction, name)
    wanted = np.asarray(as_floats(ex.h_measure_float(groups, *pair)))
    ranking = qk.Ranking.from_counts(scores, counts, positives)
    assert_within(qk.h_measure(ranking, cost_distribution=name), wanted, tolerance, str(name))


def test_h_where_one_class_is_rare():
    for rare in (1e-3, 1e-6, 1e-9):
        counts, n = np.asarray([10, 10, 980]), round(1 / rare)
        for positives in ([1, 0, 0], [1, 3, 1]):
            scaled = counts * (n // 1000)
            check_h("prevalence", scaled, np.asarray(positives), 1e-13)
            check_h("prevalence", scaled, scaled - positives, 1e-13)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_h_of_chance_the_optimum_and_the_worst(name):
    given = {"cost_distribution": distribution(name)}
    labels = np.sort(Y)
    assert qk.h_measure(labels, np.arange(8), **given) == 1
    assert qk.h_measure(labels, -np.arange(8), **given) == 0
    assert qk.h_measure(labels, np.zeros(8), **given) == 0
    assert qk.h_measure(labels, np.zeros(8), sample_weight=W / 3 + 0.1, **given) == 0


@given(st.integers(0, 2**32 - 1))
def test_what_h_does_not_change_with(seed):
    dice = np.random.default_rng(seed)
    n = int(dice.integers(2, 40))
    labels, scores = dice.integers(0, 2, n), np.round(dice.normal(size=n), 1)
    labels[:2] = 0, 1
    weights = dice.integers(1, 4, n)
    for a, b in ((2, 2), (0.7, 3.5)):
        value = qk.h_measure(labels, scores, cost_distribution=(a, b))
        assert 0 <= value <= 1
        other = qk.h_measure(1 - labels, -scores, cost_distribution=(b, a))
        np.testing.assert_allclose(other, value, atol=2e-14)
    value = qk.h_measure(labels, scores)
    np.testing.assert_allclose(qk.h_measure(1 - labels, -scores), value, atol=2e-14)
    order = dice.permutation(n)
    assert qk.h_measure(labels[order], np.exp(scores[order])) == value
    repeated = qk.h_measure(np.repeat(labels, weights), np.repeat(scores, weights))
    weighted = qk.h_measure(labels, scores, sample_weight=weights * 0.3)
    np.testing.assert_allclose(weighted, repeated, atol=2e-14)
    bounds = [qk.h_measure(labels, scores, ties=t) for t in ("pessimistic", "optimistic")]
    assert bounds[0] <= value + 1e-15
    assert value <= bounds[1] + 1e-15


def test_h_of_the_hull_is_h():
    hull = qk.roc_hull(Y, S)
    counts = np.diff(hull.fp + hull.tp)
    of_hull = qk.Ranking.from_counts(-np.arange(counts.size), counts, np.diff(hull.tp))
    for name in DISTRIBUTIONS:
        given = {"cost_distribution": distribution(name)}
        assert qk.h_measure(of_hull, **given) == qk.h_measure(Y, S, **given)


def test_kinds_of_numbers_for_a_distribution():
    wanted = qk.h_measure(Y, S, cost_distribution=(1.5, 3.0))
    for pair in ([1.5, 3], (np.float32(1.5), np.int64(3)), (1.5, np.float64(3))):
        assert qk.h_measure(Y, S, cost_distribution=pair) == wanted


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in ("jax32", "strict")]))
def test_kinds_of_numbers_for_a_distribution_elsewhere(mode):
    wanted = qk.h_measure(Y, S, cost_distribution=(1.5, 3.0))
    for pair in ([1.5, 3], (np.float32(1.5), np.int64(3))):
        found = mode.run(lambda y, s, d=pair: qk.h_measure(y, s, cost_distribution=d), Y, S)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


# lines of equal cost


def test_slopes(mode):
    cost_fp, cost_fn = (x.reshape(-1)[:, None] for x in np.meshgrid([0, 0.5, 3], [0, 1, 7.0]))
    found = mode.run(qk.iso_performance_slope, cost_fp, cost_fn, SHARES[:5])
    assert found.dtype == (np.float32 if mode.float32 else np.float64)
    for row, fp, fn in zip(found, cost_fp[:, 0], cost_fn[:, 0], strict=True):
        for slope, share in zip(row, PREVALENCES, strict=False):
            if fn * share:
                wanted = float(ex.iso_performance_slope(fp, fn, share))
                np.testing.assert_allclose(slope, wanted, rtol=1e-6 if mode.float32 else 4e-16)
            else:
                np.testing.assert_array_equal(slope, np.inf if fp * (1 - share) else np.nan)


def test_slopes_of_plain_numbers():
    assert qk.iso_performance_slope(1, 5, 0.5) == 0.2
    assert qk.iso_performance_slope(cost_fp=1e-200, cost_fn=1e-200, prevalence=0.5) == 1
    assert isinstance(qk.iso_performance_slope(1, 5, 0.5), np.float64)
    np.testing.assert_array_equal(qk.iso_performance_slope(1, [1, 5, 0], 0.25), [3, 0.6, np.inf])


# bad numbers

BAD = [
    ("cost_fp", -1, r"cost_fp is -1(\.0)?; expected a finite cost, not negative"),
    ("cost_fn", -1e-300, r"cost_fn is -1e-300; expected a finite cost"),
    ("cost_fp", math.nan, r"cost_fp is nan; expected a finite cost"),
    ("cost_fn", math.inf, r"cost_fn is inf; expected a finite cost"),
    ("cost_fn", [1, 2, -3.0, -4], r"cost_fn is -3\.0 at position 2; expected a finite cost"),
    ("prevalence", -0.1, r"prevalence is -0\.1; expected a share, from 0 to 1"),
    ("prevalence", 1.5, r"prevalence is 1\.5; expected a share"),
    ("prevalence", math.nan, r"prevalence is nan; expected a share"),
    ("prevalence", [[0.5], [20.0]], r"prevalence is 20\.0 at position \(1, 0\); expected a share"),
]
GOOD = {"cost_fp": 1.0, "cost_fn": 2.0, "prevalence": 0.5}


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_bad_costs(name: str, value: Any, message: str):
    given = GOOD | {name: value}
    with pytest.raises(ValueError, match=f"^{message}"):
        qk.best_operating_point(Y, S, **given)
    with pytest.raises(ValueError, match=f"^{message}"):
        qk.iso_performance_slope(**given)


@pytest.mark.parametrize("mode", EAGER)
def test_bad_costs_of_every_library(mode):
    with mode.context():
        y, s = mode.array(Y), mode.array(S)
        for name, bad in (("cost_fp", -3.0), ("cost_fn", np.nan), ("prevalence", 1.25)):
            given = GOOD | {name: mode.array(np.asarray([0.5, bad]))}
            message = rf"^{name} is {bad} at position 1; expected a "
            with pytest.raises(ValueError, match=message):
                qk.best_operating_point(y, s, **given)
            with pytest.raises(ValueError, match=message):
                qk.iso_performance_slope(**given)


@pytest.mark.parametrize("mode", LAZY)
def test_bad_costs_are_nan_where_they_cannot_be_read(mode):
    bad = np.asarray([1.0, -1.0, np.nan, np.inf, 1.0, 1.0, 1.0, 1.0])
    shares = np.asarray([0.5, 0.5, 0.5, 0.5, -0.5, 1.5, np.nan, 0.25])
    wrong = np.asarray([0, 1, 1, 1, 1, 1, 1, 0], dtype=bool)

    def run(y: Any, s: Any, c: Any, p: Any) -> Any:
        first = qk.best_operating_point(y, s, cost_fp=c, cost_fn=1, prevalence=p)
        second = qk.best_operating_point(y, s, cost_fp=1, cost_fn=c, prevalence=p)
        return first, second, qk.iso_performance_slope(c, 1, p), qk.iso_performance_slope(1, c, p)

    first, second, *slopes = mode.run(run, Y, S, bad, shares)
    for values in (*first[1:], *second[1:], *slopes):
        np.testing.assert_array_equal(np.isnan(values), wrong)
    np.testing.assert_array_equal(slopes[0][[0, 7]], [1, 3])


NOT_NUMBERS = ["10", "5%", True, 1j, b"1", np.True_, [True], ["1"], {"a": 1}]


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
@pytest.mark.parametrize("name", GOOD)
def test_what_is_no_cost(name: str, value: Any):
    message = rf"^{name} must be a number or an array of numbers; got "
    with pytest.raises(TypeError, match=message):
        qk.best_operating_point(Y, S, **(GOOD | {name: value}))
    with pytest.raises(TypeError, match=message):
        qk.iso_performance_slope(**(GOOD | {name: value}))


def test_what_is_missing():
    for name in ("cost_fp", "cost_fn"):
        given = {key: x for key, x in GOOD.items() if key != name}
        with pytest.raises(TypeError, match=rf"^best_operating_point needs {name}"):
            qk.best_operating_point(Y, S, **given)
        with pytest.raises(TypeError, match=rf"^{name} must be an array; got None"):
            qk.best_operating_point(Y, S, **given, **{name: None})
    for missing in ([1, None], np.ma.array([1, 2], mask=[0, 1])):
        with pytest.raises(ValueError, match=r"^cost_fn has missing values"):
            qk.best_operating_point(Y, S, cost_fp=1, cost_fn=missing)


def test_shapes_that_do_not_fit():
    message = r"^cost_fp, cost_fn, prevalence must fit together; got the shapes \(2,\), \(3,\), "
    with pytest.raises(ValueError, match=message):
        qk.best_operating_point(Y, S, cost_fp=[1, 2], cost_fn=[1, 2, 3], prevalence=0.5)


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
def test_costs_of_another_library():
    import torch

    with pytest.raises(TypeError, match=r"^cost_fp is an array of torch and the scores are of num"):
        qk.best_operating_point(Y, S, cost_fp=torch.ones(2), cost_fn=1)


BAD_DISTRIBUTIONS = ["Prevalence", "beta", None, 2, (2,), (2, 2, 2), (0, 1), (1, -1), (2, 0.05)]
BAD_DISTRIBUTIONS += [(1001, 2), (math.nan, 2), (2, math.inf), (True, 2), ("2", 2), (1j, 1)]


@pytest.mark.parametrize("value", BAD_DISTRIBUTIONS, ids=repr)
def test_bad_distributions(value: Any):
    message = r'^cost_distribution must be "prevalence" or two numbers \(a, b\) from 0\.1 to 1000'
    with pytest.raises(ValueError, match=message):
        qk.h_measure(Y, S, cost_distribution=value)


@every.reading_modes
def test_a_distribution_is_no_array(mode):
    for value in (np.asarray([2.0, 2.0]), {"a": 2}):
        with every.raises(mode, TypeError, r"^cost_distribution must be a plain value; got "):
            mode.run(lambda y, s, d=value: qk.h_measure(y, s, cost_distribution=d), Y, S)


# where costs are traced


@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_traced_costs():
    import jax
    import jax.numpy as jnp

    y, s = jnp.asarray(Y), jnp.asarray(S, dtype=jnp.float32)
    ranking = qk.rank(y, s)
    costs = jnp.asarray([0.3, 1.0, 5.0])
    wanted = qk.best_operating_point(Y, S, cost_fp=1, cost_fn=np.asarray(costs))

    def quota(cost: Any, data: tuple[Any, ...] = (ranking,)) -> Any:
        return qk.best_operating_point(*data, cost_fp=1, cost_fn=cost).quota

    np.testing.assert_array_equal(jax.jit(quota)(costs), wanted.quota)
    np.testing.assert_array_equal(jax.vmap(quota)(costs), wanted.quota)
    np.testing.assert_array_equal(jax.jit(jax.vmap(quota))(costs), wanted.quota)
    np.testing.assert_array_equal(jax.jit(lambda c: quota(c, (Y, S)))(costs), wanted.quota)
    found = jax.vmap(lambda c: qk.iso_performance_slope(1, c, 0.5))(costs)
    np.testing.assert_allclose(found, 1 / np.asarray(costs), rtol=1e-6)


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
def test_mapped_costs_of_torch():
    import torch

    costs = torch.tensor([0.3, 1.0, 5.0], dtype=torch.float64)
    wanted = qk.best_operating_point(Y, S, cost_fp=1, cost_fn=costs.numpy())
    y, s = torch.as_tensor(Y), torch.as_tensor(S)
    found = torch.func.vmap(lambda c: qk.best_operating_point(y, s, cost_fp=1, cost_fn=c))(costs)
    for value, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(value, right, rtol=1e-15)
