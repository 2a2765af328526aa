"""DeLong's variance of AUC: intervals and tests, against the definition and published values."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, mode_fixture
from exact import delong as ex
from expected import as_floats

import quotakernels as qk
from quotakernels.inference._distributions import (
    normal_p_value,
    normal_width,
    student_p_value,
    student_t,
)
from quotakernels.ops import namespace

XP = namespace(np.empty(0))

FEW = ("strict", "torch-compile", "jax64", "jax64-jit", "jax32-jit")
mode = mode_fixture([mode for mode in MODES if mode.name not in FEW])

stats = pytest.importorskip("scipy.stats")
ROWS, MODELS, WIDTH = 14, 3, 12


def batch() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores of three models and a mask; what is masked is garbage.

    In the first rows a class is absent, or has one example; then one model wins all pairs, one
    loses them and one ties them; then two models are alike.
    """
    dice = np.random.default_rng(3)
    y = (dice.random((ROWS, WIDTH)) < 0.4).astype(int)
    levels = 3 + np.arange(ROWS)[:, None, None]
    s = dice.integers(0, levels, (ROWS, MODELS, WIDTH)).astype(float)
    valid = dice.random((ROWS, WIDTH)) < 0.8
    valid[:6] = True
    places = np.arange(WIDTH)
    y[0], y[1], y[2], y[3] = 0, 1, places == 0, places > 0
    y[4], y[5] = places < 5, places < 4
    s[4] = -places, places, places * 0
    s[5, 1] = s[5, 0]
    s[np.broadcast_to(~valid[:, None], s.shape)] = np.nan
    return tuple(np.array(np.broadcast_to(x, s.shape)) for x in (y[:, None], s, valid[:, None]))


def everything(y: Any, s: Any, valid: Any) -> dict[str, Any]:
    first, second = ((y[..., m, :], s[..., m, :]) for m in range(2))
    mask = valid[..., 0, :]
    rankings = [qk.rank(*each, where=mask) for each in (first, second)]
    return {
        "logit": qk.inference.auc_interval(y, s, where=valid),
        "wald": qk.inference.auc_interval(y, s, where=valid, method="wald", measure="pem"),
        "auc": qk.inference.auc_covariance(y, s, where=valid),
        "paired": qk.inference.delong_test(first[0], [first[1], second[1]], where=mask),
        "unpaired": qk.inference.delong_test_unpaired(*rankings, measure="pem"),
    }


def exact_rows() -> list[Any]:
    """AUC and covariances of each row."""
    found = []
    for y, s, valid in zip(*batch(), strict=True):
        kept = valid[0]
        found.append(ex.auc_covariance(y[0][kept].tolist(), [x[kept].tolist() for x in s]))
    return found


def tolerances(found: Any) -> tuple[float, float]:
    """Relative and absolute."""
    return (1e-12, 1e-14) if found.dtype == np.float64 else (2e-5, 1e-6)


@pytest.mark.long_program
def test_definition_in_every_mode(mode: Mode):
    found = mode.run(everything, *batch())
    rows = exact_rows()
    auc = as_floats([auc for auc, _ in rows])
    covariance = as_floats([c for _, c in rows])
    rtol, atol = tolerances(found["auc"].estimate)
    np.testing.assert_allclose(found["auc"].estimate, auc, rtol, atol)
    np.testing.assert_allclose(found["auc"].covariance, covariance, rtol, atol)
    error = np.sqrt(np.einsum("rmm->rm", covariance))
    for name, scale in (("logit", 1), ("wald", 2)):
        np.testing.assert_allclose(found[name].standard_error, scale * error, rtol, atol)
    np.testing.assert_allclose(found["logit"].estimate, auc, rtol, atol)
    check_tests(found, auc, covariance, rtol, atol)


def welch(covariance: np.ndarray) -> np.ndarray:
    """The degrees of freedom of the first two models, as of two sets of examples."""
    n = batch()[2][:, 0].sum(axis=-1)
    variances = covariance[:, 0, 0], covariance[:, 1, 1]
    with np.errstate(invalid="ignore"):
        return sum(variances) ** 2 / sum(v**2 / (n - 1) for v in variances)


def check_tests(
    found: Any, auc: np.ndarray, covariance: np.ndarray, rtol: float, atol: float
) -> None:
    own = covariance[:, 0, 0] + covariance[:, 1, 1]
    paired = np.where(auc[:, 0] == auc[:, 1], 0, own - 2 * covariance[:, 0, 1])
    alike = np.arange(ROWS) == 5
    assert paired[5] == 0
    assert own[4] == 0
    for name, scale, variance in (("paired", 1, paired), ("unpaired", 2, own)):
        test, difference = found[name], scale * (auc[:, 0] - auc[:, 1])
        np.testing.assert_allclose(test.difference, difference, rtol, atol, err_msg=name)
        error = scale * np.sqrt(np.where(alike & (name == "paired"), 0, variance))
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(error > 0, difference / error, np.nan)
        undefined = np.isnan(z)
        np.testing.assert_allclose(test.statistic, z, 10 * rtol, 10 * atol, err_msg=name)
        law = stats.norm if name == "paired" else stats.t(welch(covariance))
        np.testing.assert_allclose(test.p_value, 2 * law.sf(abs(z)), 100 * rtol, atol, err_msg=name)
        for end, sign in ((test.lower, -1), (test.upper, 1)):
            wanted = np.where(undefined, np.nan, difference + sign * law.ppf(0.975) * error)
            np.testing.assert_allclose(end, wanted, 10 * rtol, 10 * atol, err_msg=name)


# what others published


def asah(shared: Path, *names: str) -> list[np.ndarray]:
    with (shared / "published" / "proc_asah.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    return [np.asarray([float(row[name]) for row in rows]) for name in names]


def test_paired_test_of_proc(shared: Path):
    """What pROC prints for two markers: z, p-value and the interval of the difference."""
    found = qk.inference.delong_test(*asah(shared, "y_true"), asah(shared, "s100b", "wfns"))
    assert f"{found.statistic:.4g}" == "-2.209"
    assert f"{found.p_value:.4g}" == "0.02718"
    assert found.lower == pytest.approx(-0.17421442, abs=5e-9)
    assert found.upper == pytest.approx(-0.01040618, abs=5e-9)
    assert found.difference == pytest.approx(0.7313686 - 0.8236789, abs=1e-7)


def test_intervals_of_proc(shared: Path):
    """It prints that of Wald."""
    found = qk.inference.auc_interval(*asah(shared, "y_true", "s100b"), method="wald")
    assert f"{found.lower:.4f} {found.upper:.4f}" == "0.6301 0.8326"


def test_one_variance_from_the_table_and_from_the_examples(shared: Path):
    y, *models = asah(shared, "y_true", "s100b", "wfns", "ndka")
    covariance = qk.inference.auc_covariance(y, np.asarray(models), measure="gini")
    for m, scores in enumerate(models):
        ranking = qk.rank(y, scores)
        found = qk.inference.auc_interval(ranking, measure="gini")
        assert found.estimate == covariance.estimate[m] == qk.gini(ranking)
        assert found.standard_error**2 == pytest.approx(covariance.covariance[m, m], rel=1e-13)
    a, b = models[:2]
    test = qk.inference.delong_test(y, [a, b], measure="gini")
    variance = np.asarray([1, -1, 0]) @ covariance.covariance @ [1, -1, 0]
    assert test.standard_error**2 == pytest.approx(variance, rel=1e-12)


# what the intervals are


def test_logit_interval_and_the_bound_of_separated_classes():
    ranking = qk.rank(*([1, 0, 1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.3, 0.1]))
    found = qk.inference.auc_interval(ranking, confidence_level=0.9)
    auc, half = found.estimate, 2.3533634348018233 * found.standard_error  # t of 3 degrees
    slope = 1 / (auc * (1 - auc))
    for end, sign in ((found.lower, -1), (found.upper, 1)):
        logit = math.log(auc / (1 - auc)) + sign * half * slope
        assert end == pytest.approx(1 / (1 + math.exp(-logit)), rel=1e-12)
    y = [1] * 4 + [0] * 6
    least = 0.05 ** (1 / 4)
    ends = {1: (least, 1), 0: (least / 2, 1 - least / 2), -1: (0, 1 - least)}
    for method in ("logit", "wald"):
        for sign, wanted in ends.items():
            s = [-sign * k for k in range(10)]
            found = qk.inference.auc_interval(y, s, confidence_level=0.9, method=method)
            assert found.standard_error == 0
            np.testing.assert_allclose(found[1:3], wanted, 1e-14)


def test_intervals_are_nested_and_within_bounds():
    dice = np.random.default_rng(1)
    y, s = dice.integers(0, 2, (200, 9)), dice.integers(0, 5, (200, 9))
    for method in ("logit", "wald"):
        levels = [
            qk.inference.auc_interval(y, s, method=method, confidence_level=x) for x in (0.5, 0.999)
        ]
        inner, outer = (np.stack(x) for x in levels)
        kept = ~np.isnan(inner[3])
        assert kept.sum() > 150
        assert (inner[1][kept] <= inner[0][kept]).all()
        assert (inner[0][kept] <= inner[2][kept]).all()
        assert (outer[1][kept] <= inner[1][kept]).all()
        assert (inner[2][kept] <= outer[2][kept]).all()
        assert (outer[1][kept] >= 0).all()
        assert (outer[2][kept] <= 1).all()


# large cases, and the normal distribution


def test_ten_million_examples_in_few_groups():
    """The variance of counts in closed form: 64 groups, of which P and N are beyond 2**22."""
    dice = np.random.default_rng(2)
    positives, negatives = dice.integers(1, 2 * 10**5, (2, 64))
    ranking = qk.Ranking.from_counts(-np.arange(64), positives + negatives, positives)
    found = qk.inference.auc_interval(ranking)
    auc, variance = ex.from_counts(positives.tolist(), negatives.tolist())
    assert found.estimate == float(auc)
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-14)


@pytest.mark.full
def test_examples_beyond_the_range_of_products():
    """300 000 examples of each class: their pairs do not fit 32 bits."""
    dice = np.random.default_rng(4)
    y = np.repeat([1, 0], 300_000)
    a = dice.normal(size=y.size) + y
    b = np.round(a + dice.normal(size=y.size), 1)
    test = qk.inference.delong_test(y, [a, b])
    areas = qk.inference.auc_covariance(y, np.stack([a, b]))
    (first, both), (_, second) = areas.covariance
    assert test.standard_error**2 == pytest.approx(first + second - 2 * both, rel=1e-12)
    for m, scores in enumerate((a, b)):
        table = qk.inference.auc_interval(y, scores)
        assert areas.estimate[m] == table.estimate
        assert areas.covariance[m, m] == pytest.approx(table.standard_error**2, rel=1e-12)
    assert test.p_value == 0 or test.p_value < 1e-300


def test_tails_and_quantiles_of_the_normal_distribution():
    z = np.concatenate([[0, -1.5], np.geomspace(1e-12, 37, 2001)])
    wanted = [math.erfc(abs(x) / math.sqrt(2)) for x in z]
    np.testing.assert_allclose(normal_p_value(XP, z), wanted, 1e-13)
    assert normal_p_value(XP, np.asarray([np.inf, np.nan])).tolist()[0] == 0
    for level in (1e-9, 0.5, 0.95, 1 - 1e-12):
        assert math.erf(normal_width(level) / math.sqrt(2)) == pytest.approx(level, rel=1e-15)


def test_tails_and_quantiles_of_student():
    freedom = np.asarray([1, 1.3, 2, 9.7, 100, 1e5, 1e9])
    for t in (0, 0.1, 1.96, 20, 60):
        wanted = 2 * stats.t.sf(t, freedom)
        there = wanted > 0
        found = student_p_value(XP, np.full_like(freedom, t), freedom)
        np.testing.assert_allclose(found[there], wanted[there], 3e-13)
    for level in (0.1, 0.95, 0.999):
        wanted = stats.t.ppf((1 + level) / 2, freedom)
        np.testing.assert_allclose(student_t(XP, level, freedom), wanted, 1e-12)
    few = np.asarray([0, 0.5, np.nan])
    assert np.isnan(student_p_value(XP, few, few)).all()
    assert np.isnan(student_t(XP, 0.95, few)).all()


def test_one_pair_has_a_difference_and_no_error():
    found = qk.inference.delong_test([1, 0], [[2, 1], [1, 2]])
    assert (found.difference, np.isnan(found.standard_error)) == (1, True)


# bad input

Y, A = [1, 0, 1, 0], [4, 3, 2, 1]


def test_scores_are_named_as_they_were_passed():
    nan = [4, math.nan, 2, 1]
    assert np.isnan(qk.inference.delong_test(Y, [A, nan], validate=False)).all()


def test_a_measure_stands_for_its_name():
    for name in ("roc_auc", "gini", "pem"):
        of_name = qk.inference.auc_interval(Y, A, measure=name)
        assert qk.inference.auc_interval(Y, A, measure=getattr(qk, name)) == of_name


def test_one_bad_model_leaves_the_others_alone():
    scores = np.asarray([A, [4, math.nan, 2, 1], [1, 3, 4, 2]])
    found = qk.inference.auc_covariance(Y, scores, validate=False)
    alone = qk.inference.auc_covariance(Y, scores[[0, 2]])
    assert np.isnan(found.covariance[1]).all()
    np.testing.assert_array_equal(found.covariance[::2, ::2], alone.covariance)
    np.testing.assert_array_equal(found.estimate, [0.75, math.nan, 0.5])
