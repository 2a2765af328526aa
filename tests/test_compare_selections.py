"""Two selections at one quota, against SciPy's tests and sums over every way to break ties."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters

import quotakernels as qk
from quotakernels.inference.selections import (
    by_halves,
    by_sizes,
    interval_by_halves,
    interval_by_sizes,
    normal_tails,
)

main_modes = [
    m for m in MODES if m.name in ("numpy", "strictest-device1", "torch", "jax32", "cupy")
]
RNG = np.random.default_rng(3)
N = 80
Y = RNG.random(N) < 0.4
A, B = RNG.permutation(N) + 20 * Y, RNG.permutation(N) + 0.0


NUMBERS = [(0, 0, 4), (3, 3, 3), (0, 5, 7), (9, 2, 9), (30, 55, 60), (9000, 8790, 12000)]


@pytest.mark.parametrize(("first", "second", "size"), NUMBERS)
def test_p_values_are_those_of_scipy(first: int, second: int, size: int):
    stats = pytest.importorskip("scipy.stats")
    number, least = first + second, min(first, second)
    wanted = stats.binomtest(first, number).pvalue if number else 1
    assert by_halves(first, second, False) == pytest.approx(wanted, rel=1e-10)
    coins, places = stats.binom(number, 0.5), stats.hypergeom(2 * size, number, size)
    wanted = 2 * coins.cdf(least) - coins.pmf(least)
    assert by_halves(first, second, True) == pytest.approx(wanted, rel=1e-10)
    square = [[first, second], [size - first, size - second]]
    wanted = stats.fisher_exact(square).pvalue
    assert by_sizes(first, second, size, False) == pytest.approx(wanted, rel=1e-10)
    wanted = 2 * places.cdf(least) - places.pmf(least)
    assert by_sizes(first, second, size, True) == pytest.approx(wanted, rel=1e-10)
    if number:
        for corrected in (False, True):
            apart = max(abs(first - second) - corrected, 0)
            wanted = stats.chi2.sf(apart**2 / number, 1)
            assert normal_tails(first, second, None, corrected) == pytest.approx(wanted, rel=1e-12)
    if 0 < number < 2 * size:
        wanted = stats.chi2_contingency(square, correction=False).pvalue
        assert normal_tails(first, second, size, False) == pytest.approx(wanted, rel=1e-10)


def test_tails_far_out_are_not_lost():
    assert by_halves(0, 1000, False) == 2.0**-999
    assert by_halves(0, 10**6, False) == 0
    assert by_sizes(0, 900, 900, False) == pytest.approx(2 / math.comb(1800, 900), rel=1e-12)


@pytest.mark.parametrize("mid_p", [False, True])
def test_the_definition(mid_p: bool):
    found = qk.inference.compare_selections(Y, [A, B], quota=25, mid_p=mid_p, test="mcnemar")
    in_a, in_b = (x > np.sort(x)[-26] for x in (A, B))
    only_a, only_b = in_a & ~in_b, in_b & ~in_a
    first, second, size = (int(x.sum()) for x in (Y & only_a, Y & only_b, only_a))
    assert found.discordant == size == only_b.sum()
    assert (found.positives_a, found.positives_b) == (first, second)
    hit_rates = [qk.hit_rate(Y, x, quota=25) for x in (A, B)]
    assert found.difference == pytest.approx(hit_rates[0] - hit_rates[1], abs=1e-15)
    assert found.p_value == by_halves(first, second, mid_p)
    fisher = qk.inference.compare_selections(Y, [A, B], quota=25, mid_p=mid_p, test="fisher")
    assert fisher.p_value == by_sizes(first, second, size, mid_p) < found.p_value
    assert found.lower < fisher.lower < found.difference < fisher.upper < found.upper
    for one, test in ((found, "mcnemar"), (fisher, "fisher")):
        turned = qk.inference.compare_selections(Y, [B, A], quota=25, mid_p=mid_p, test=test)
        assert turned.p_value == one.p_value
        assert (turned.lower, turned.upper) == pytest.approx((-one.upper, -one.lower))


def test_a_quota_that_cuts_a_tie_group():
    """By the selection probabilities; whole where both models cut the same group."""
    y, a, b = [1, 1, 0, 1, 0, 0], [4, 3, 3, 3, 1, 0], [4, 3, 0, 1, 3, 3]
    found = qk.inference.compare_selections(y, [a, b], quota=2, test="mcnemar")
    assert found.discordant == pytest.approx(2 / 3)
    assert (found.positives_a, found.positives_b) == pytest.approx((1 / 3, 0))
    assert found.difference == pytest.approx((4 / 3 - 4 / 3 + 1 / 3) / 2)
    assert found.p_value == 1  # corrected
    given: dict[str, Any] = {"quota": 2, "mid_p": True}
    less = qk.inference.compare_selections(y, [a, b], test="mcnemar", **given)
    assert less.p_value == pytest.approx(math.erfc(math.sqrt(1 / 6)))
    sizes = qk.inference.compare_selections(y, [a, b], test="fisher", **given)
    assert sizes.p_value == pytest.approx(math.erfc(math.sqrt(1 / 6 / 0.75)))
    same_group = qk.inference.compare_selections(
        y, [[5, 2, 2, 4, 1, 0], [5, 2, 2, 1, 0, 4]], quota=3, test="mcnemar"
    )
    assert (same_group.positives_a, same_group.positives_b, same_group.p_value) == (1, 0, 1)
    assert qk.inference.compare_selections(y, [a, a], quota=2).difference == 0


def test_the_score_test():
    """Sums over all examples of (y - m₁)·[first] - (y - m₂)·[second], m the rate at the cut."""
    found = qk.inference.compare_selections(Y, [A, B], quota=25)
    width = 25**0.8 / 2
    window = np.asarray([25 - width, 25 + width])
    within = [window * qk.hit_rate(Y, x, quota=window) for x in (A, B)]
    m = [(x[1] - x[0] + 0.5) / (2 * width + 1) for x in within]
    chosen = [x > np.sort(x)[-26] for x in (A, B)]
    mean = (found.positives_a + found.positives_b) / 2

    apart, size = found.positives_a - found.positives_b, found.discordant
    both = np.sum(chosen[0] & chosen[1]) - 25**2 / N
    equal = sum(mean * (1 - r) ** 2 + (size - mean) * r**2 for r in m)
    z = apart / math.sqrt(equal + both * (m[0] - m[1]) ** 2)
    assert found.p_value == pytest.approx(2 * NormalDist().cdf(-abs(z)))
    each = (Y - m[0]) * chosen[0] - (Y - m[1]) * chosen[1]
    halves = sum((1 - r) ** 2 + r**2 for r in m) / 2
    error = math.sqrt(N * np.var(each) + halves)
    ends = [(apart + sign * 1.959963984540054 * error) / 25 for sign in (-1, 1)]
    assert (found.lower, found.upper) == pytest.approx(ends)
    turned = qk.inference.compare_selections(Y, [B, A], quota=25)
    assert (turned.p_value, turned.lower) == pytest.approx((found.p_value, -found.upper))


@pytest.mark.full
def test_the_score_test_where_few_are_positive_at_the_cuts():
    """Half of the selected are positive, a twentieth of those at the cuts: Fisher's is too bold."""
    dice, rejected = np.random.default_rng(4), {"score": 0, "fisher": 0}
    for _ in range(400):
        u = dice.random((2, 4000))
        near, other = u[0] < 0.15, u[1] < 0.15
        falling = np.clip(0.95 - 9 * u, 0, 1)
        share = np.select([near & ~other, other & ~near, near], [*falling, 0.5], 0.02)
        y = dice.random(4000) < share
        for test in rejected:
            found = qk.inference.compare_selections(
                y, -u, quota=400, test=test, mid_p=test == "fisher"
            )
            rejected[test] += found.p_value <= 0.05
    assert rejected["score"] <= 400 * 0.05 + 3 * math.sqrt(400 * 0.05 * 0.95) < rejected["fisher"]


def test_selections_that_are_alike():
    found = qk.inference.compare_selections(Y, [A, 2 * A], fraction=0.3)
    assert (found.difference, found.p_value, found.discordant) == (0, 1, 0)
    assert found.lower == -found.upper < 0
    fisher = qk.inference.compare_selections(Y, [A, 2 * A], fraction=0.3, test="fisher")
    assert tuple(fisher) == (0, 0, 0, 1, 0, 0, 0)


def test_intervals_hold_the_difference():
    """In as many of 2000 samples as they say, three errors less."""
    dice, least = np.random.default_rng(1), 0.9 - 3 * math.sqrt(0.09 / 2000)
    for shares in ((0.04, 0.03), (0.02, 0.002), (0.1, 0.05)):
        draws = dice.multinomial(200, [*shares, 1 - sum(shares)], size=2000).tolist()
        apart = 200 * (shares[0] - shares[1])
        ends = [interval_by_halves(b, c, 200, 0.9) for b, c, _ in draws]
        assert np.mean([lower <= apart <= upper for lower, upper in ends]) > least
    for shares in ((0.3, 0.1), (0.9, 0.9), (0.98, 0.7)):
        draws = dice.binomial(20, shares, size=(2000, 2)).tolist()
        ends = [interval_by_sizes(b, c, 20, 0.9) for b, c in draws]
        apart = 20 * (shares[0] - shares[1])
        assert np.mean([lower <= apart <= upper for lower, upper in ends]) > least


@pytest.mark.parametrize("mode", parameters(main_modes))
def test_every_library(mode: Mode):
    mask = np.arange(N) % 5 > 0
    wanted = qk.inference.compare_selections(Y[mask], [A[mask], B[mask]], quota=20)
    with mode.context():
        y, a, b, there = (mode.array(x) for x in (Y, A, B, mask))
        found = qk.inference.compare_selections(y, [a, b], quota=20, where=there)
    assert found == pytest.approx(wanted, rel=1e-6)
    assert all(type(x) is float for x in found)


def test_bad_values_that_cannot_be_read_are_nan():
    bad = {"labels": Y * 2, "scores": A * np.nan}
    for y, a in ((bad["labels"], A), (Y, bad["scores"])):
        found = qk.inference.compare_selections(y, [a, B], quota=3, validate=False)
        assert all(math.isnan(x) for x in found)
    assert all(math.isnan(x) for x in qk.inference.compare_selections(Y, [A, B], quota=0))
    assert all(math.isnan(x) for x in qk.inference.compare_selections([], [[], []], fraction=0.5))
