"""Intervals and tests of published tables, against formulas of textbooks and by simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters
from public_names import PUBLIC

import quotakernels as qk
from quotakernels.inference import compare_tables, table_interval
from quotakernels.tables import ConfusionTable

TABLE = ConfusionTable(tp=45, fp=10, fn=5, tn=140)
Z = 1.959963984540054
ONE_NUMBER = (
    *("accuracy", "precision", "recall", "informedness", "markedness", "f_score", "cohen_kappa"),
    *("matthews_corrcoef", "g_measure", "scott_pi", "bennett_s", "positive_likelihood_ratio"),
    *("negative_likelihood_ratio", "diagnostic_odds_ratio", "weighted_relative_accuracy"),
)


def by_logarithm(value: float, variance: float) -> tuple[float, float]:
    half = Z * math.sqrt(variance)
    return value * math.exp(-half), value * math.exp(half)


@pytest.mark.parametrize(
    ("name", "lower", "upper"),
    [
        ("recall", 0.786397, 0.956524),  # Wilson's
        (
            "diagnostic_odds_ratio",
            *by_logarithm(45.5 * 140.5 / 10.5 / 5.5, 1 / 45.5 + 1 / 10.5 + 1 / 5.5 + 1 / 140.5),
        ),
        (
            "positive_likelihood_ratio",
            *by_logarithm(45.5 / 51 * 151 / 10.5, 1 / 45.5 - 1 / 51 + 1 / 10.5 - 1 / 151),
        ),
    ],
)
def test_intervals_are_those_of_textbooks(name: str, lower: float, upper: float):
    found = table_interval(PUBLIC[name], TABLE)
    assert found.estimate == PUBLIC[name](TABLE)
    assert found[1:] == pytest.approx((lower, upper), rel=1e-5)


def test_differences_of_shares_are_newcombes():
    """56/70 - 48/80 by his method 10."""
    first, second = (ConfusionTable(k, 1, n - k, 1) for k, n in ((56, 70), (48, 80)))
    found = compare_tables(qk.recall, first, second)
    assert found[:3] == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    both = ConfusionTable(tp=56, fp=48, fn=14, tn=32)
    np.testing.assert_allclose(table_interval(qk.informedness, both), found[:3])
    level = {"confidence_level": 1 - float(found.p_value)}
    assert compare_tables(qk.recall, first, second, **level).lower == pytest.approx(0)
    above = compare_tables(qk.recall, first, second, alternative="greater")
    assert (above.p_value, above.upper) == (pytest.approx(found.p_value / 2), math.inf)
    worse = compare_tables(qk.recall, second, first, alternative="greater", margin=0.3)
    assert worse.p_value < 0.1


@pytest.mark.parametrize("rates", [(0.2, 0.8, 0.1), (0.5, 0.95, 0.03)])
def test_intervals_and_tests_hold_their_level(rates: Any):
    prevalence, tpr, fpr = rates
    negative = 1 - prevalence
    shares = [prevalence * tpr, negative * fpr, prevalence * (1 - tpr), negative * (1 - fpr)]
    first, second = np.random.default_rng(3).multinomial(200, shares, (2, 1000)).swapaxes(1, 2)
    for name in ONE_NUMBER:
        truth = PUBLIC[name](ConfusionTable(*(np.asarray(shares) * 1e9)))
        found = table_interval(PUBLIC[name], ConfusionTable(*first))
        assert np.mean((found.lower <= truth) & (truth <= found.upper)) > 0.92, name
        tested = compare_tables(PUBLIC[name], ConfusionTable(*first), ConfusionTable(*second))
        assert np.mean(tested.p_value < 0.05) < 0.07, name
        missed = (tested.lower > 0) | (tested.upper < 0)
        np.testing.assert_array_equal(missed, tested.p_value < 0.05)


def test_impacts_and_own_functions_have_the_interval_of_a_mean():
    def earned(table: Any) -> Any:
        return qk.tables.impact(table, impacts=(5, -4, 0, 0)).whole

    values = np.repeat([5, -4, 0, 0], [45, 10, 5, 140])
    mean, half = values.mean(), Z * values.std() / math.sqrt(200)
    found = table_interval(earned, TABLE)
    assert found == pytest.approx((mean, mean - half, mean + half), rel=1e-5)


def test_measures_of_several_numbers_and_names_that_ours_have():
    impacts = (5, -4, 0, 0)
    tables = ConfusionTable(*(np.asarray([x, 3 * x]) for x in TABLE))
    several = table_interval(qk.tables.impact, tables, impacts=impacts)
    assert several.lower.shape == (3, 2)
    for k in (0, 1, 2):
        one = table_interval(lambda t, k=k: qk.tables.impact(t, impacts=impacts)[k], tables)
        np.testing.assert_allclose([x[k] for x in several], one)
    shares = table_interval(qk.tables.normalize_table, ConfusionTable(*TABLE))
    for k in range(4):
        one = table_interval(lambda t, k=k: qk.tables.normalize_table(t)[k], TABLE)
        np.testing.assert_allclose([x[k] for x in shares], one)

    def precision(table: Any) -> Any:
        return table.tp / (table.tp + table.fn)

    table = ConfusionTable(tp=45, fp=45, fn=5, tn=5)
    half = Z * math.sqrt(0.9 * 0.1 / 50)
    assert table_interval(precision, table)[1:] == pytest.approx((0.9 - half, 0.9 + half), rel=1e-5)


def test_ends_of_a_difference_hold_both_estimates():
    """κ of 1, to whose table half examples are added, is not below its interval."""
    best, other = ConfusionTable(5, 0, 0, 5), ConfusionTable(3, 2, 2, 3)
    found = compare_tables(PUBLIC["cohen_kappa"], best, other)
    lower = table_interval(PUBLIC["cohen_kappa"], other).lower
    assert found.upper == pytest.approx(1 - lower)


def test_what_is_undefined_or_empty():
    empty = ConfusionTable(tp=[0, 0, 7], fp=[0, 3, 0], fn=[0, 2, 0], tn=[9, 9, 9])
    found = table_interval(qk.precision, empty)
    assert np.isnan(found).tolist() == [[True, False, False]] * 3
    for name in ONE_NUMBER:
        estimate, lower, upper = table_interval(PUBLIC[name], empty)
        there = ~np.isnan(estimate)
        assert ((lower <= estimate) & (estimate <= upper))[there].all(), name
        assert np.isfinite(lower[there]).all()
    infinite = compare_tables(
        PUBLIC["positive_likelihood_ratio"], ConfusionTable(5, 0, 5, 9), TABLE
    )
    assert np.isnan(infinite).all()
    with pytest.raises(ValueError, match="counts, which are whole numbers: .* got 0.225"):
        table_interval(qk.recall, ConfusionTable(tp=0.225, fp=0.05, fn=0.025, tn=0.7))
    with pytest.raises(TypeError, match="must be a ConfusionTable; got dict"):
        table_interval(qk.recall, {})
    with pytest.raises(ValueError, match="above 0 and below 1"):
        table_interval(qk.recall, TABLE, confidence_level=95)


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in ("strict", "torch")]))
def test_tables_of_every_library(mode: Mode):
    table = ConfusionTable(*(mode.array(np.asarray([x, 2 * x])) for x in TABLE))
    found = table_interval(qk.f_score, table, beta=2)
    for k in (0, 1):
        single = ConfusionTable(*((k + 1) * x for x in TABLE))
        wanted = table_interval(qk.f_score, single, beta=2)
        np.testing.assert_allclose([x[k] for x in found], wanted, rtol=1e-6)
