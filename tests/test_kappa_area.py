"""The area under κ, against the exact one."""

from __future__ import annotations

from functools import cache
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import QUICK, Mode, mode_fixture
from everything import main_modes
from expected import as_floats, assert_within
from test_charts import GROUPS, PADDED, WEIGHTED

import quotakernels as qk

mode = mode_fixture(QUICK)
KAPPAS = ("cohen", "scott", "bennett")

RNG = np.random.default_rng(14)


def near(found: Any, wanted: Any, units: float) -> None:
    """Within so many 2⁻⁵³: the parts of the area have both signs."""
    unit = 2.0**-53 if np.asarray(found).dtype == np.float64 else 2.0**-24
    assert_within(found, as_floats(wanted), units * unit, "auk")


def test_every_small_case(mode: Mode):
    def areas(y: Any, s: Any, m: Any) -> list[Any]:
        ranking = qk.rank(y, s, where=m)
        return [qk.charts.auk(ranking, kappa=x) for x in KAPPAS]

    for found, wanted in zip(mode.run(areas, *PADDED), wanted_of_small_cases(), strict=True):
        near(found, wanted, 4)


@cache
def wanted_of_small_cases() -> list[list[float | None]]:
    return [[ex.charts.auk(groups, x) for groups in GROUPS] for x in KAPPAS]


@pytest.mark.long_program
@main_modes
def test_weights(mode: Mode):
    columns = (np.asarray(x) for x in zip(*WEIGHTED, strict=True))
    found = mode.run(lambda y, s, w: qk.charts.auk(y, s, sample_weight=w), *columns)
    near(found, [ex.charts.auk(ex.groups(*case)) for case in WEIGHTED], 4)


@pytest.mark.full
def test_random_cases_with_and_without_weights():
    for _ in range(150):
        n = RNG.integers(2, 14)
        y, s = RNG.integers(0, 2, n), RNG.integers(0, 9, n).astype(float)
        w = RNG.random(n) * 10.0 ** RNG.integers(-4, 5, n)
        y[:2] = 0, 1
        plain, weighted = (
            ex.groups(y.tolist(), s.tolist()),
            ex.groups(*(x.tolist() for x in (y, s, w))),
        )
        for kappa in KAPPAS:
            near(qk.charts.auk(y, s, kappa=kappa), ex.charts.auk(plain, kappa), 4)
            found = qk.charts.auk(y, s, sample_weight=w, kappa=kappa)
            near(found, ex.charts.auk(weighted, kappa), 8)


@pytest.mark.full
@pytest.mark.parametrize("size", [10**4, 10**9, 10**15])
def test_large_counts_of_classes_of_any_ratio(size: int):
    for _ in range(40):
        shares = RNG.choice([1, 1e-3, 1e-9], (2, 1)) * RNG.random((2, RNG.integers(2, 20)))
        positives, negatives = np.maximum(size * shares, 1).astype(np.int64)
        scores = np.arange(positives.size, 0, -1)
        counts = positives + negatives
        ranking = qk.Ranking.from_counts(scores, counts, positives)
        groups = ex.groups_from_counts(*(x.tolist() for x in (scores, counts, positives)))
        for kappa in KAPPAS:
            near(qk.charts.auk(ranking, kappa=kappa), ex.charts.auk(groups, kappa), 4)


def test_nearly_as_many_positives_as_negatives():
    """Where a logarithm of nearly 1 is divided by its square."""
    for gap in (1e-3, 1e-8, 1e-15, 0.0):
        y, s, w = [1, 0, 0, 1, 0], [5.0, 4, 4, 2, 1], [1.0, 0.5, 0.25, 1.0, 1.25 + gap]
        near(qk.charts.auk(y, s, sample_weight=w), ex.charts.auk(ex.groups(y, s, w)), 4)


def test_a_class_that_nearly_vanishes():
    for w in ([1e-100, 2e60, 1e-100, 1e60, 3e60], [1e60, 2e-100, 1e60, 1e-100, 1e-100]):
        y, s = [1, 0, 1, 0, 0], [5.0, 4, 3, 2, 1]
        wanted = ex.charts.auk(ex.groups(y, s, w))
        np.testing.assert_allclose(qk.charts.auk(y, s, sample_weight=w), wanted, rtol=1e-14)
