"""Intervals of the hit rate at a quota, against tails in rational numbers and other tools."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, mode_fixture, parameters
from exact import draws as ex

import quotakernels as qk

FEW = ("strict", "torch-compile", "jax64", "jax64-jit", "jax32-jit")
mode = mode_fixture([mode for mode in MODES if mode.name not in FEW])
EAGER = [mode for mode in MODES if mode.name in ("numpy", "strictest-device1", "torch", "jax32")]

QUOTAS = [0, 1, 2.5, 6, 10]
Z95 = 1.959963984540054


def batch() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores with ties, and a mask; no positive in the first row, no negative in the next,
    and no example in the third.
    """
    dice = np.random.default_rng(7)
    y, s = dice.integers(0, 2, (8, 12)), dice.integers(0, 5, (8, 12)).astype(float)
    valid = np.ones(y.shape, dtype=bool)
    y[0], y[1], valid[2], valid[3:, :2] = 0, 1, False, False
    return y, np.where(valid, s, np.nan), valid


def everything(y: Any, s: Any, valid: Any) -> dict[str, Any]:
    calls = {
        "score": {},
        "score, listed": {"population": 30},
        "wilson": {"method": "wilson"},
        "listed": {"method": "wilson", "population": 30},
        "known": {"method": "wilson", "population": 12},
    }
    given = {"where": valid, "quota": QUOTAS}
    return {
        name: qk.inference.hit_rate_interval(y, s, **given, **own) for name, own in calls.items()
    }


def ends_of(
    found: float, trials: float, variance: float, cut: float = 0, moves: float = 0
) -> tuple[float, float]:
    """Where (T - p·j)² = z²·variance·j·[p(1 - p) + moves·(p - cut)²], as a quadratic of p."""
    if trials == 0 or math.isnan(found):
        return math.nan, math.nan
    share, square = found / trials, variance * Z95**2 / trials
    a, c = 1 + square * (1 - moves), share**2 - square * moves * cut**2
    half = share + square * (0.5 - moves * cut)
    root = math.sqrt(max(half**2 - a * c, 0))
    return max((half - root) / a, 0), min((half + root) / a, 1)


def moving(y: np.ndarray, s: np.ndarray, quota: float, n: int) -> tuple[float, float]:
    """The rate of positives at the cut, and the share of the examples beyond it."""
    width = max(5, quota**0.8 / 2)
    first, last = max(quota - width, 0), min(quota + width, n)
    before, after = (x * qk.hit_rate(y, s, quota=x) if x else 0 for x in (first, last))
    return (float(after - before) + 0.5) / (last - first + 1), 1 - quota / n


def factor(quota: float, n: int, population: int) -> float:
    places = quota * population / n
    return min(1.0, (places - quota) / (places - 1)) if places > max(quota, 1) else 0.0


@pytest.mark.long_program
def test_in_every_mode(mode: Mode):
    y, s, valid = batch()
    found = mode.run(everything, y, s, valid)
    rate = qk.hit_rate(y, s, where=valid, quota=QUOTAS)[3:]
    n, double = 10, found["wilson"].estimate.dtype == np.float64
    rtol, atol = (1e-10, 1e-14) if double else (2e-6, 1e-6)
    for name, (estimate, lower, upper) in found.items():
        assert np.isnan(np.stack([estimate, lower, upper])[:, 2]).all(), name
        assert np.isnan(np.stack([estimate, lower, upper])[..., 0]).all(), name
        np.testing.assert_allclose(estimate[3:], rate, rtol, atol, err_msg=name)
        for (row, k), share in np.ndenumerate(rate):
            quota = QUOTAS[k]
            f = {"listed": factor(quota, n, 30), "known": factor(quota, n, 12)}
            ends = lower[3 + row, k], upper[3 + row, k]
            if quota:
                cut = moving(y[3 + row][2:], s[3 + row][2:], quota, n) if "score" in name else ()
                wanted = ends_of(
                    share * quota, quota, f.get(name.removeprefix("score, "), 1.0), *cut
                )
                np.testing.assert_allclose(ends, wanted, rtol, max(atol, 1e-7 * (not double)))


@pytest.mark.parametrize("mode", parameters(EAGER))
def test_tails_of_the_exact_interval(mode: Mode):
    """At either end, as many successes or failures have 2.5 %; fractions are rounded outwards."""

    def exact(y: Any, s: Any, valid: Any) -> Any:
        return qk.inference.hit_rate_interval(y, s, where=valid, quota=QUOTAS, method="exact")

    y, s, valid = batch()
    found = mode.run(exact, y, s, valid)
    rates, rel = qk.hit_rate(y, s, where=valid, quota=QUOTAS), 1e-9
    if found.lower.dtype == np.float32:
        rel = 1e-4
    assert np.isnan(np.stack(found)[:, 2]).all()
    assert np.isnan(np.stack(found)[..., 0]).all()
    for k, quota in enumerate(QUOTAS[1:], 1):
        for row in range(3, 8):
            count = rates[row, k] * quota
            ends = (count, found.lower[row, k]), (quota - count, 1 - found.upper[row, k])
            for number, end in ends:
                whole = math.floor(number + 1e-6)
                tail = ex.binomial_tail(whole, math.ceil(quota), Fraction(float(end)))
                assert (whole == end == 0) or float(tail) == pytest.approx(0.025, rel=rel)


def test_a_known_list_has_no_width_and_an_endless_one_is_none():
    dice = np.random.default_rng(2)
    y, s = dice.integers(0, 2, 50), dice.normal(size=50)
    for method in ("score", "wilson", "exact"):
        given = {"quota": [1, 7, 50], "method": method}
        known = qk.inference.hit_rate_interval(y, s, population=50, **given)
        np.testing.assert_allclose(known.lower, known.estimate, 1e-15)
        np.testing.assert_allclose(known.upper, known.estimate, 1e-15)
        endless = qk.inference.hit_rate_interval(y, s, population=5 * 10**7, **given)
        plain = qk.inference.hit_rate_interval(y, s, **given)
        np.testing.assert_allclose(endless, plain, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("mode", [Mode("numpy", "numpy"), Mode("torch", "torch")], ids=str)
def test_exact_interval_of_a_list(mode: Mode):
    """All hypergeometric, ties at the end of the quota rounded outwards."""
    pytest.importorskip(mode.library)
    y = np.asarray([1, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0])
    s = np.asarray([9, 8, 7, 7, 6, 5, 5, 5, 4, 3, 2, 1])

    def listed(y: Any, s: Any) -> Any:
        return qk.inference.hit_rate_interval(
            y, s, quota=[2, 3, 6.5, 12], population=31, method="exact"
        )

    found = mode.run(listed, y, s)
    for k, (quota, positives) in enumerate([(2, 2), (3, 2.5), (6.5, 3.5), (12, 5)]):
        parts = [math.floor(positives), math.floor(quota - positives)]
        places = math.ceil(Fraction(quota) * 31 / 12)
        wanted = ex.listed_interval(*parts, math.ceil(quota), places, Fraction(1, 40))
        np.testing.assert_allclose((found.lower[k], found.upper[k]), [float(x) for x in wanted])


def test_ten_million_examples():
    """The exact ends of scipy; both kinds lie near those of the normal distribution."""
    stats = pytest.importorskip("scipy.stats")
    ranking = qk.Ranking.from_counts([2, 1], [4 * 10**6, 6 * 10**6], [10**6, 12345])
    exact = qk.inference.hit_rate_interval(
        ranking, quota=4 * 10**6, method="exact", confidence_level=0.9
    )
    plain = qk.inference.hit_rate_interval(
        ranking, quota=4 * 10**6, method="wilson", confidence_level=0.9
    )
    lower = stats.beta.ppf(0.05, 10**6, 3 * 10**6 + 1)
    upper = stats.beta.ppf(0.95, 10**6 + 1, 3 * 10**6)
    np.testing.assert_allclose(exact[1:], [lower, upper], rtol=1e-11)
    np.testing.assert_allclose(plain[1:], exact[1:], rtol=2e-6)
    listed = qk.inference.hit_rate_interval(
        ranking, quota=4 * 10**6, population=2 * 10**7, method="exact", confidence_level=0.9
    )
    widths = [x.upper - x.lower for x in (listed, exact)]
    assert widths[0] / widths[1] == pytest.approx(math.sqrt(0.5), rel=1e-3)


def test_intervals_of_proportions_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    y = np.arange(30) % 3 == 0
    for quota, level in ((1, 0.8), (7, 0.95), (30, 0.999)):
        positives = int(y[:quota].sum())
        for method in ("wilson", "exact"):
            found = qk.inference.hit_rate_interval(
                y, -np.arange(30), quota=quota, confidence_level=level, method=method
            )
            wanted = stats.binomtest(positives, quota).proportion_ci(level, method)
            np.testing.assert_allclose(found[1:], [wanted.low, wanted.high], 1e-10, 1e-14)


# bad input

Y, S = [1, 0, 1, 0], [4, 3, 2, 1]


@pytest.mark.full
def test_in_a_trace():
    jax = pytest.importorskip("jax")
    with pytest.raises(ValueError, match='runs on the host.*"wilson"'):
        jax.jit(lambda y, s: qk.inference.hit_rate_interval(y, s, quota=2, method="exact"))(
            np.asarray(Y), np.asarray(S)
        )
    found = jax.jit(lambda y, s, n: qk.inference.hit_rate_interval(y, s, quota=2, population=n))
    assert np.isnan(found(np.asarray(Y), np.asarray(S), 3).lower)
    assert not np.isnan(found(np.asarray(Y), np.asarray(S), 5).lower)
