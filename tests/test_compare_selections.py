"""Two selections at one quota, against sums over all examples."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from backends import MODES, Mode, parameters

import quotakernels as qk

main_modes = [
    m for m in MODES if m.name in ("numpy", "strictest-device1", "torch", "jax32", "cupy")
]
RNG = np.random.default_rng(3)
N = 80
Y = RNG.random(N) < 0.4
A, B = RNG.permutation(N) + 20 * Y, RNG.permutation(N) + 0.0


def test_the_examples_that_only_one_selects():
    found = qk.inference.compare_selections(Y, [A, B], quota=25)
    in_a, in_b = (x > np.sort(x)[-26] for x in (A, B))
    only_a, only_b = in_a & ~in_b, in_b & ~in_a
    assert found.discordant == only_a.sum() == only_b.sum()
    assert (found.positives_a, found.positives_b) == (np.sum(Y & only_a), np.sum(Y & only_b))
    hit_rates = [qk.hit_rate(Y, x, quota=25) for x in (A, B)]
    assert found.difference == pytest.approx(hit_rates[0] - hit_rates[1], abs=1e-15)


def test_a_quota_that_cuts_a_tie_group():
    """By the selection probabilities; whole where both models cut the same group."""
    y, a, b = [1, 1, 0, 1, 0, 0], [4, 3, 3, 3, 1, 0], [4, 3, 0, 1, 3, 3]
    found = qk.inference.compare_selections(y, [a, b], quota=2)
    assert found.discordant == pytest.approx(2 / 3)
    assert (found.positives_a, found.positives_b) == pytest.approx((1 / 3, 0))
    assert found.difference == pytest.approx((4 / 3 - 4 / 3 + 1 / 3) / 2)
    same_group = [[5, 2, 2, 4, 1, 0], [5, 2, 2, 1, 0, 4]]
    assert qk.inference.compare_selections(y, same_group, quota=3)[-2:] == (1, 0)


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


def test_selections_that_are_alike():
    found = qk.inference.compare_selections(Y, [A, 2 * A], fraction=0.3)
    assert (found.difference, found.p_value, found.discordant) == (0, 1, 0)
    assert found.lower == -found.upper < 0


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
