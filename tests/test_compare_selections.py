"""Two selections at one quota, against SciPy's tests and sums over every way to break ties."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters

import quotakernels as qk
from quotakernels.inference._mcnemar import chi_square, exact, paired_interval

main_modes = [
    m for m in MODES if m.name in ("numpy", "strictest-device1", "torch", "jax32", "cupy")
]
RNG = np.random.default_rng(3)
N = 80
Y = RNG.random(N) < 0.4
A, B = RNG.permutation(N) + 20 * Y, RNG.permutation(N) + 0.0


@pytest.mark.parametrize(
    ("first", "second"), [(0, 0), (3, 3), (0, 5), (9, 2), (30, 55), (9000, 8790)]
)
def test_p_values_are_those_of_scipy(first: int, second: int):
    stats = pytest.importorskip("scipy.stats")
    number = first + second
    wanted = stats.binomtest(first, number).pvalue if number else 1
    assert exact(first, second, False) == pytest.approx(wanted, rel=1e-10)
    coins = stats.binom(number, 0.5)
    wanted = 2 * coins.cdf(min(first, second)) - coins.pmf(first)
    assert exact(first, second, True) == pytest.approx(wanted, rel=1e-10)
    if number:
        for corrected in (0, 1):
            apart = max(abs(first - second) - corrected, 0)
            wanted = stats.chi2.sf(apart**2 / number, 1)
            assert chi_square(first, second, bool(corrected)) == pytest.approx(wanted, rel=1e-12)


def test_a_tail_far_out_is_not_lost():
    assert exact(0, 1000, False) == 2.0**-999
    assert exact(0, 10**6, False) == 0


@pytest.mark.parametrize("method", ["exact", "mid-p"])
def test_the_definition(method: Any):
    found = qk.compare_selections(Y, A, B, quota=25, method=method)
    in_a, in_b = (x > np.sort(x)[-26] for x in (A, B))
    only_a, only_b = in_a & ~in_b, in_b & ~in_a
    positives = (Y & only_a).sum(), (Y & only_b).sum()
    assert found.discordant == only_a.sum() == only_b.sum()
    assert (found.positives_a, found.positives_b) == positives
    hit_rates = [qk.hit_rate(Y, x, quota=25) for x in (A, B)]
    assert found.difference == pytest.approx(hit_rates[0] - hit_rates[1], abs=1e-15)
    assert found.p_value == exact(*map(int, positives), method == "mid-p")
    assert found.lower < found.difference < found.upper
    turned = qk.compare_selections(Y, B, A, quota=25, method=method)
    assert turned.p_value == found.p_value
    assert (turned.lower, turned.upper) == pytest.approx((-found.upper, -found.lower))


def test_a_quota_that_cuts_a_tie_group():
    """By the selection probabilities; whole where both models cut the same group."""
    y, a, b = [1, 1, 0, 1, 0, 0], [4, 3, 3, 3, 1, 0], [4, 3, 0, 1, 3, 3]
    found = qk.compare_selections(y, a, b, quota=2)
    assert found.discordant == pytest.approx(2 / 3)
    assert (found.positives_a, found.positives_b) == pytest.approx((1 / 3, 0))
    assert found.difference == pytest.approx((4 / 3 - 4 / 3 + 1 / 3) / 2)
    assert found.p_value == 1  # corrected
    less = qk.compare_selections(y, a, b, quota=2, method="mid-p")
    assert less.p_value == pytest.approx(math.erfc(math.sqrt(1 / 6)))
    same_group = qk.compare_selections(y, [5, 2, 2, 4, 1, 0], [5, 2, 2, 1, 0, 4], quota=3)
    assert (same_group.positives_a, same_group.positives_b, same_group.p_value) == (1, 0, 1)
    assert qk.compare_selections(y, a, a, quota=2).difference == 0


def test_selections_that_are_alike():
    found = qk.compare_selections(Y, A, 2 * A, fraction=0.3)
    assert (found.difference, found.p_value, found.discordant) == (0, 1, 0)
    assert found.lower == -found.upper < 0


def test_intervals_hold_the_difference():
    """In as many of 2000 samples of n examples as they say, three errors less."""
    dice = np.random.default_rng(1)
    for shares in ((0.04, 0.03), (0.02, 0.002), (0.1, 0.05)):
        draws = dice.multinomial(200, [*shares, 1 - sum(shares)], size=2000)
        scale = 200 / 60
        held = 0
        for b, c, _ in draws.tolist():
            lower, upper = paired_interval(b, c, 200, 60, 0.9)
            held += lower <= scale * (shares[0] - shares[1]) <= upper
        assert held / 2000 > 0.9 - 3 * math.sqrt(0.09 / 2000)


@pytest.mark.parametrize("mode", parameters(main_modes))
def test_every_library(mode: Mode):
    mask = np.arange(N) % 5 > 0
    wanted = qk.compare_selections(Y[mask], A[mask], B[mask], quota=20)
    with mode.context():
        y, a, b, there = (mode.array(x) for x in (Y, A, B, mask))
        found = qk.compare_selections(y, a, b, quota=20, where=there)
    assert found == pytest.approx(wanted, rel=1e-6)
    assert all(type(x) is float for x in found)


def test_bad_values_that_cannot_be_read_are_nan():
    bad = {"labels": Y * 2, "scores": A * np.nan}
    for y, a in ((bad["labels"], A), (Y, bad["scores"])):
        found = qk.compare_selections(y, a, B, quota=3, validate=False)
        assert all(math.isnan(x) for x in found)
    assert all(math.isnan(x) for x in qk.compare_selections(Y, A, B, quota=0))
    assert all(math.isnan(x) for x in qk.compare_selections([], [], [], fraction=0.5))


BAD_CALLS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({}, TypeError, "exactly one of quota"),
    ({"quota": [1, 2]}, ValueError, "one quota"),
    ({"quota": N + 1}, ValueError, "quota is 81"),
    ({"quota": 3, "method": "mid"}, ValueError, "method must be"),
    ({"quota": 3, "confidence_level": 1}, ValueError, "confidence_level must be"),
    ({"quota": 3, "b": B[1:]}, ValueError, "b must have as many scores as a, 80; got 79"),
    ({"quota": 3, "a": [A]}, ValueError, r"a must have shape \(n,\)"),
    ({"quota": 3, "b": B * np.nan}, ValueError, "b is nan at position 0"),
]


@pytest.mark.parametrize(("given", "error", "message"), BAD_CALLS)
def test_bad_calls(given: dict[str, Any], error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        qk.compare_selections(Y, **{"a": A, "b": B, **given})
