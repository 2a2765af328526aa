"""The mean hit rate over a range of quotas, and over quotas with a prior, against fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import QUICK, Mode, mode_fixture
from expected import as_floats, assert_within

import quotakernels as qk

METHODS = {"sum": ex.mean_hit_rate, "area": ex.area_of_hit_rate}
POLICIES = ("expected", "optimistic", "pessimistic")
mode = mode_fixture(QUICK)
RNG = np.random.default_rng(7)
SIZE = 40
LABELS = RNG.integers(0, 2, SIZE)
SCORES = RNG.choice([-1.0, 0.25, 0.5, 3.0], (2, SIZE))
SCORES[1] = RNG.permutation(SIZE)
WEIGHTS = RNG.choice([0.5, 1.0, 3.0], SIZE)
WHERE = RNG.random(SIZE) < 0.9
RANGES = ((1, 30), (7, 7), (2.5, 20.25), (0, 12))


def near(actual: Any, wanted: Any) -> None:
    assert_within(actual, wanted, 1e-14 if np.asarray(actual).dtype == np.float64 else 1e-6, "")


def wanted(method: str, first: float, last: float, **beside: Any) -> np.ndarray:
    """The exact values of both lists."""
    y, s = LABELS.tolist(), SCORES.tolist()
    tables = [ex.groups(y, x, **beside) for x in s]
    return as_floats([METHODS[method](x, first, last) for x in tables])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.full), 31])
def test_ranges_of_small_cases(method: Any, every: int):
    """All of them, or one in 31."""
    number = 0
    for y, s in ex.cases(3):
        table, ranking = ex.groups(y, s), qk.rank(y, s)
        ends = [Fraction(k, 2) for k in range(2 * len(y) + 1)]
        for ends_of_range in combinations_with_replacement(ends, 2):
            number += 1
            if number % every == 0:
                between = tuple(map(float, ends_of_range))
                found = qk.mean_hit_rate(ranking, between=between, method=method)
                near(found, as_floats(METHODS[method](table, *ends_of_range)))


@pytest.mark.long_program
@pytest.mark.parametrize("ties", POLICIES)
def test_ranges_everywhere(mode: Mode, ties: Any):
    each = [(method, ends) for method in METHODS for ends in RANGES]

    def run(y: Any, s: Any, where: Any) -> list[Any]:
        ranking = qk.rank(y, s, where=where, ties=ties)
        return [qk.mean_hit_rate(ranking, between=x, method=method) for method, x in each]

    found = mode.run(run, LABELS, SCORES, WHERE)
    for value, (method, ends) in zip(found, each, strict=True):
        near(value, wanted(method, *ends, where=WHERE.tolist(), ties=ties))


@pytest.mark.long_program
def test_weights_everywhere(mode: Mode):
    """As areas, in any unit of mass; in one without a float to square too."""
    for unit in (1.0, *(() if mode.float32 else (1e-300,))):

        def run(y: Any, s: Any, w: Any, unit: float = unit) -> list[Any]:
            ranking = qk.rank(y, s, sample_weight=w)
            ranges = [(first * unit, last * unit) for first, last in RANGES]
            return [qk.mean_hit_rate(ranking, between=x, method="area") for x in ranges]

        found = mode.run(run, LABELS, SCORES, WEIGHTS * unit)
        for each, (first, last) in zip(found, RANGES, strict=True):
            near(each, wanted("area", first, last, sample_weight=WEIGHTS.tolist()))


def test_ends_may_be_traced(mode: Mode):
    def run(y: Any, s: Any, ends: Any) -> Any:
        return qk.mean_hit_rate(y, s, between=(ends[..., 0], ends[..., 1]))

    near(mode.run(run, LABELS, SCORES, np.asarray([3.0, 9.0])), wanted("sum", 3, 9))


@pytest.mark.full
@pytest.mark.parametrize("weighted", [False, True])
def test_a_prior_over_quotas(mode: Mode, weighted: bool):
    quotas, prior = np.asarray([0.0, 3, 4.5, 30]), np.asarray([0.0, 0.5, 0.25, 3])
    weights = WEIGHTS if weighted else np.ones(SIZE)

    def run(y: Any, s: Any, w: Any, quotas: Any, prior: Any) -> Any:
        beside = {"sample_weight": w} if weighted else {}
        return qk.mean_hit_rate(y, s, quota=quotas, prior=prior, **beside)

    exact = []
    for s in SCORES.tolist():
        table = ex.groups(LABELS.tolist(), s, weights.tolist())
        rates = [ex.hit_rate(table, Fraction(q)) for q in quotas[1:].tolist()]
        parts = zip(prior[1:].tolist(), rates, strict=True)
        exact.append(sum(Fraction(p) * r for p, r in parts) / Fraction(prior.sum()))
    near(mode.run(run, LABELS, SCORES, weights, quotas, prior), as_floats(exact))


def test_long_lists_in_closed_form():
    """Of 100 000 examples in large groups and in none, beside the plain sum."""
    labels = RNG.integers(0, 2, 10**5)
    for scores in (RNG.integers(0, 50, 10**5), RNG.permutation(10**5)):
        ranking = qk.rank(labels, scores)
        every = qk.hit_rate(ranking, quota=np.arange(1000, 60_001))
        assert qk.mean_hit_rate(ranking, between=(1000, 60_000)) == pytest.approx(
            float(np.mean(every, dtype=np.longdouble)), rel=1e-14
        )
