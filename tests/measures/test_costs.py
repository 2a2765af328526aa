"""The best cut for given costs, and lines of equal cost; every small case of the H-measure."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from backends import LAZY, QUICK, Mode, available, mode_fixture, parameters
from expected import as_floats, assert_within, ulps

import quotakernels as qk
from measures.test_small_cases import padded_cases

mode = mode_fixture(QUICK)

LENGTH = 5
COSTS = ((1, 1), (0, 1), (2, 1), (0.5, 1.5), (1, 0), (0, 0), (3, 4))
PREVALENCES = (0.5, 0.25, 1.0, 0.0, 0.75, 0.5, 0.125)
COST_FP, COST_FN = (np.array(column, dtype=float) for column in zip(*COSTS, strict=True))
SHARES = np.array(PREVALENCES)
DISTRIBUTIONS = {"prevalence": (), "two": (2, 2)}

Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0])
S = np.asarray([0.875, 0.75, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0])


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


@pytest.mark.full
@pytest.mark.long_program
def test_every_small_case(mode):
    check_small_cases(mode, "expected")


@pytest.mark.full
@pytest.mark.parametrize("ties", ["expected", "given"])
def test_compact_tables(ties):
    """In NumPy, which computes for tensors in memory too."""

    def run(y: Any, s: Any, *numbers: Any) -> dict[str, Any]:
        return decisions(qk.rank(y, s, ties=ties), *numbers)

    for y, s in ex.cases(LENGTH):
        found = run(y, s, COST_FP, COST_FN, SHARES)
        assert_right(found, exact_decisions(tuple(ex.groups(y, s, ties=ties))))


@cache
def weighted_cases() -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    cases = [(y, s, [float(x) for x in w]) for y, s, w in ex.weighted_cases(3) if len(y) == 3]
    columns = [np.array(column) for column in zip(*cases, strict=True)]
    return columns, stacked(ex.groups(*case) for case in cases)


@pytest.mark.full
@pytest.mark.long_program
def test_weighted_small_cases(mode):
    def run(y: Any, s: Any, w: Any, *numbers: Any) -> dict[str, Any]:
        return decisions(qk.rank(y, s, sample_weight=w), *numbers)

    columns, wanted = weighted_cases()
    assert_right(mode.run(run, *columns, COST_FP, COST_FN, SHARES), wanted, exact=False)


# the best cut


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


# lines of equal cost


def test_slopes(mode):
    cost_fp, cost_fn = (x.reshape(-1)[:, None] for x in np.meshgrid([0, 0.5, 3], [0, 1, 7.0]))
    found = mode.run(qk.charts.iso_performance_slope, cost_fp, cost_fn, SHARES[:5])
    assert found.dtype == (np.float32 if mode.float32 else np.float64)
    for row, fp, fn in zip(found, cost_fp[:, 0], cost_fn[:, 0], strict=True):
        for slope, share in zip(row, PREVALENCES, strict=False):
            if fn * share:
                wanted = float(ex.iso_performance_slope(fp, fn, share))
                np.testing.assert_allclose(slope, wanted, rtol=1e-6 if mode.float32 else 4e-16)
            else:
                np.testing.assert_array_equal(slope, np.inf if fp * (1 - share) else np.nan)


# where costs are traced


@pytest.mark.full
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
    found = jax.vmap(lambda c: qk.charts.iso_performance_slope(1, c, 0.5))(costs)
    np.testing.assert_allclose(found, 1 / np.asarray(costs), rtol=1e-6)


# costs that are none

LAZY_MODES = parameters(LAZY)


@pytest.mark.long_program
@pytest.mark.parametrize("mode", LAZY_MODES)
def test_bad_costs_are_nan_where_they_cannot_be_read(mode):
    bad = np.asarray([1.0, -1.0, np.nan, np.inf, 1.0, 1.0, 1.0, 1.0])
    shares = np.asarray([0.5, 0.5, 0.5, 0.5, -0.5, 1.5, np.nan, 0.25])
    wrong = np.asarray([0, 1, 1, 1, 1, 1, 1, 0], dtype=bool)

    def run(y: Any, s: Any, c: Any, p: Any) -> Any:
        first = qk.best_operating_point(y, s, cost_fp=c, cost_fn=1, prevalence=p)
        second = qk.best_operating_point(y, s, cost_fp=1, cost_fn=c, prevalence=p)
        return (
            first,
            second,
            qk.charts.iso_performance_slope(c, 1, p),
            qk.charts.iso_performance_slope(1, c, p),
        )

    first, second, *slopes = mode.run(run, Y, S, bad, shares)
    for values in (*first[1:], *second[1:], *slopes):
        np.testing.assert_array_equal(np.isnan(values), wrong)
    np.testing.assert_array_equal(slopes[0][[0, 7]], [1, 3])


# the H-measure: large counts, rare classes, and what is no distribution


@pytest.mark.parametrize("name", ["prevalence", (2, 2)])
def test_h_of_large_counts(name):
    dice = np.random.default_rng(5)
    for size in (2, 5, 9) * 4:
        counts = dice.integers(1, 10 ** dice.integers(1, 9), size)
        positives = (counts * dice.random(size) ** dice.integers(1, 9)).astype(int)
        check_h(name, counts, positives, 1e-13)


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


def test_kinds_of_numbers_for_a_distribution():
    wanted = qk.h_measure(Y, S, cost_distribution=(2, 2))
    for pair in ([2.0, 2], (np.float32(2), np.int64(2)), (2, np.float64(2))):
        assert qk.h_measure(Y, S, cost_distribution=pair) == wanted


@pytest.mark.long_program
@every.reading_modes
def test_a_distribution_is_no_array(mode):
    for value in (np.asarray([2.0, 2.0]), {"a": 2}):
        with every.raises(mode, TypeError, r"^cost_distribution must be a plain value; got "):
            mode.run(lambda y, s, d=value: qk.h_measure(y, s, cost_distribution=d), Y, S)


@pytest.mark.parametrize("name", ["prevalence", (2, 2)], ids=str)
def test_a_small_h_is_the_same_of_a_list_and_of_a_batch(name: Any):
    rng = np.random.default_rng(6)
    for size in (50, 1000, 40_000):
        y, s, w = rng.integers(0, 2, size), rng.random(size), rng.random(size)
        for weights, close in (({}, {"rtol": 1e-14}), ({"sample_weight": w}, {"atol": 2e-15})):
            alone = qk.h_measure(y, s, cost_distribution=name, **weights)
            batch = {key: np.stack([x, x]) for key, x in weights.items()}
            found = qk.h_measure(y, np.stack([s, s]), cost_distribution=name, **batch)
            np.testing.assert_allclose(found, [alone, alone], **({"rtol": 0.0} | close))
