"""Intervals and tests by DeLong, of hit rates and of average precision, against definitions."""

from __future__ import annotations

import csv
import math
import warnings
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, mode_fixture, parameters
from everything import MAIN, raises
from exact import delong as ex
from exact import draws, influence
from expected import as_floats
from hypothesis import given
from hypothesis import strategies as st

import quotakernels as qk
from quotakernels.inference import _distributions as laws
from quotakernels.inference import average_precision_interval
from quotakernels.ops import namespace

XP = namespace(np.empty(0))

FEW = ("strict", "torch-compile", "jax64", "jax64-jit", "jax32-jit")
mode = mode_fixture([mode for mode in MODES if mode.name not in FEW])

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
    pair, mask = (first[0], [first[1], second[1]]), valid[..., 0, :]
    rankings = [qk.rank(*each, where=mask) for each in (first, second)]
    one_sided = {"where": mask, "alternative": "greater", "margin": 0.05}
    return {
        "score": qk.inference.auc_interval(y, s, where=valid),
        "wald": qk.inference.auc_interval(y, s, where=valid, method="wald", measure="pem"),
        "auc": qk.inference.auc_covariance(y, s, where=valid),
        "paired": qk.inference.delong_test(*pair, where=mask),
        "unpaired": qk.inference.delong_test_unpaired(*rankings, measure="pem"),
        "greater": qk.inference.delong_test(*pair, **one_sided),
        "less": qk.inference.delong_test_unpaired(
            *rankings, measure="pem", alternative="less", margin=-0.05, confidence_level=0.9
        ),
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
    for name, scale in (("score", 1), ("wald", 2)):
        np.testing.assert_allclose(found[name].standard_error, scale * error, rtol, atol)
    np.testing.assert_allclose(found["score"].estimate, auc, rtol, atol)
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
    stats = pytest.importorskip("scipy.stats")
    own = covariance[:, 0, 0] + covariance[:, 1, 1]
    paired = np.where(auc[:, 0] == auc[:, 1], 0, own - 2 * covariance[:, 0, 1])
    alike = np.arange(ROWS) == 5
    assert paired[5] == 0
    assert own[4] == 0
    variances = {"paired": paired, "unpaired": own, "greater": paired, "less": own}
    for name, variance in variances.items():
        scale = 1 if variance is paired else 2
        test, difference = found[name], scale * (auc[:, 0] - auc[:, 1])
        np.testing.assert_allclose(test.difference, difference, rtol, atol, err_msg=name)
        error = scale * np.sqrt(np.where(alike & (variance is paired), 0, variance))
        more = {"greater": 0.05, "less": 0.05}.get(name, 0)  # less: -0.05 is taken away
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(error > 0, (difference + more) / error, np.nan)
        undefined = np.isnan(z)
        np.testing.assert_allclose(test.statistic, z, 10 * rtol, 10 * atol, err_msg=name)
        law = stats.norm if variance is paired else stats.t(welch(covariance))
        p_value = {"greater": law.sf(z), "less": law.cdf(z)}.get(name, 2 * law.sf(abs(z)))
        np.testing.assert_allclose(test.p_value, p_value, 100 * rtol, atol, err_msg=name)
        shares = {"greater": (0.05, 1), "less": (0, 0.9)}.get(name, (0.025, 0.975))
        for end, share in zip((test.lower, test.upper), shares, strict=True):
            away = law.ppf(share) * np.where(error > 0, error, 1)
            wanted = np.where(undefined, np.nan, difference + away)
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


def score_ends(variance: Fraction, auc: Fraction, positive: int, negative: int) -> list[float]:
    """The roots of (A - p)² = z²·V·p(1 - p), z being 2, to 40 digits."""
    few, product = min(positive, negative), auc * (1 - auc)
    most = Fraction(1, positive) + Fraction(1, negative) - Fraction(1, positive * negative)
    unseen = Fraction(7, 100) / few
    share = (variance / most + unseen) / (product + unseen)
    square = 4 * most * (few * share + 4) / (few + 4)
    with localcontext(prec=40):
        middle, room = 2 * auc + square, square * (square + 4 * product)
        root = (Decimal(room.numerator) / room.denominator).sqrt()
        ends = [Decimal(middle.numerator) / middle.denominator + sign * root for sign in (-1, 1)]
        below = 2 * (1 + square)
        return [float(x * below.denominator / below.numerator) for x in ends]


def test_score_interval_is_the_root_of_its_equation():
    level = math.erf(math.sqrt(2))  # z = 2
    dice = np.random.default_rng(5)
    y = dice.integers(0, 2, (40, 12))
    y[:, :2], y[:, -2:] = 1, 0
    for labels, scores in zip(y, dice.integers(0, 6, y.shape) + 2 * y, strict=True):
        (auc,), ((variance,),) = ex.auc_covariance(labels.tolist(), [scores.tolist()])
        found = qk.inference.auc_interval(labels, scores, confidence_level=level)
        if variance > 0:
            ends = score_ends(variance, auc, int(labels.sum()), int((1 - labels).sum()))
            np.testing.assert_allclose(found[1:3], ends, 1e-13)


@pytest.mark.parametrize("measure", ["roc_auc", "gini"])
def test_score_intervals_hold_the_truth_near_1(measure: Any):
    """Of 20 positives, with heavy tails and with two distinct scores: logit intervals held it in 71
    and 63 %.
    """
    dice = np.random.default_rng(6)
    y = np.arange(600) < 20
    heavy = dice.standard_t(2, (500, 600)) + 6 * y
    binary = dice.random((500, 600)) < np.where(y, 0.95, 0.01)
    for scores, auc in ((heavy, 0.9699), (binary, 0.97)):
        found = qk.inference.auc_interval(y, scores, measure=measure)
        truth = auc if measure == "roc_auc" else 2 * auc - 1
        assert ((found.lower <= truth) & (truth <= found.upper)).mean() >= 0.92


def test_the_bound_of_separated_classes():
    y = [1] * 4 + [0] * 6
    least = 0.05 ** (1 / 4)
    ends = {1: (least, 1), 0: (least / 2, 1 - least / 2), -1: (0, 1 - least)}
    for method in ("score", "wald"):
        for sign, wanted in ends.items():
            s = [-sign * k for k in range(10)]
            found = qk.inference.auc_interval(y, s, confidence_level=0.9, method=method)
            assert found.standard_error == 0
            np.testing.assert_allclose(found[1:3], wanted, 1e-14)


def test_intervals_are_nested_and_within_bounds():
    dice = np.random.default_rng(1)
    y, s = dice.integers(0, 2, (200, 9)), dice.integers(0, 5, (200, 9))
    for method in ("score", "wald"):
        levels = [
            qk.inference.auc_interval(y, s, method=method, confidence_level=x) for x in (0.5, 0.999)
        ]
        inner, outer = (np.stack(x) for x in levels)
        kept = ~np.isnan(inner[3])
        assert kept.sum() > 150
        ends = (inner[0] * 0, outer[1], inner[1], inner[0], inner[2], outer[2], inner[0] * 0 + 1)
        assert (np.diff(np.stack(ends)[:, kept], axis=0) >= 0).all()


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
    np.testing.assert_allclose(laws.normal_p_value(XP, z), wanted, 1e-13)
    assert laws.normal_p_value(XP, np.asarray([np.inf, np.nan])).tolist()[0] == 0
    for level in (1e-9, 0.5, 0.95, 1 - 1e-12):
        assert math.erf(laws.normal_width(level) / math.sqrt(2)) == pytest.approx(level, rel=1e-15)


def test_tails_and_quantiles_of_student():
    stats = pytest.importorskip("scipy.stats")
    freedom = np.asarray([1, 1.3, 2, 9.7, 100, 1e5, 1e9])
    for t in (0, 0.1, 1.96, 20, 60):
        wanted = 2 * stats.t.sf(t, freedom)
        there = wanted > 0
        found = laws.student_p_value(XP, np.full_like(freedom, t), freedom)
        np.testing.assert_allclose(found[there], wanted[there], 3e-13)
    for level in (0.1, 0.95, 0.999):
        wanted = stats.t.ppf((1 + level) / 2, freedom)
        np.testing.assert_allclose(laws.student_t(XP, level, freedom), wanted, 1e-12)
    few = np.asarray([0, 0.5, np.nan])
    assert np.isnan(laws.student_p_value(XP, few, few)).all()
    assert np.isnan(laws.student_t(XP, 0.95, few)).all()


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


# intervals of Qrecall and lift


def test_ends_of_qrecall_solve_their_equation():
    """Or all that is selected is positive, where positives are as rare as they may be."""
    dice, capped = np.random.default_rng(8), 0
    square = Fraction(2.7764451051977987) ** 2  # Student's t of 4 degrees of freedom
    for quota in range(1, 16):
        ranked = np.isin(np.arange(40), dice.choice(quota + 10, 5, replace=False)).astype(int)
        found = qk.inference.qrecall_interval(ranked, -np.arange(40.0), quota=quota)
        assert found.estimate == qk.qrecall(ranked, -np.arange(40.0), quota=quota)
        everybody = {"quota": 40, "method": "wilson"}
        rarest = qk.inference.hit_rate_interval(ranked, -np.arange(40.0), **everybody).lower
        limit = quota / (40 * rarest)
        assert found.upper <= limit * (1 + 1e-12)
        capped += (at_limit := found.upper == pytest.approx(limit, rel=1e-12))
        for end in map(Fraction, (found.lower, found.upper)[: 1 if at_limit else 2]):
            away = int(ranked[:quota].sum()) - 5 * end
            room = square * draws.variance_of_found(ranked.tolist(), quota, end)
            assert end in (0, 1) or float(away**2 / room) == pytest.approx(1, rel=1e-9)
    assert 0 < capped < 15


def test_qrecall_and_lift_agree_and_hold_the_truth_at_a_late_quota():
    """Of 20 positives that nearly all are in 30 places, of 200; the bootstrap held it in 60 %."""
    dice = np.random.default_rng(9)
    y = dice.random((500, 200)) < 0.1
    s = dice.normal(size=y.shape) + 4 * y
    qrecall = qk.inference.qrecall_interval(y, s, quota=30)
    lift = qk.inference.qrecall_interval(y, s, quota=30, measure=qk.lift)
    assert ((qrecall.lower <= 0.99212) & (qrecall.upper >= 0.99212)).mean() >= 0.92
    np.testing.assert_allclose(np.stack(qrecall) / 0.15, np.stack(lift), 1e-14)
    np.testing.assert_array_equal(lift.estimate, qk.lift(y, s, quota=30))


@pytest.mark.parametrize("y", [[0, 1, 0], [1, 0, 1]])
@pytest.mark.parametrize(("quota", "found"), [(0, 0.0), (3, 1.0)])
def test_nothing_and_everything_find_what_they_find(y: list[int], quota: int, found: float):
    assert qk.inference.qrecall_interval(y, [3, 2, 1], quota=quota)[:3] == (found,) * 3


# intervals of the hit rate at a quota, against tails in rational numbers and other tools


EAGER = [mode for mode in MODES if mode.name in ("numpy", "strictest-device1", "torch", "jax32")]

QUOTAS = [0, 1, 2.5, 6, 10]
Z95 = 1.959963984540054


def lists() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores with ties, and a mask; no positive in the first row, no negative in the next,
    and no example in the third.
    """
    dice = np.random.default_rng(7)
    y, s = dice.integers(0, 2, (8, 12)), dice.integers(0, 5, (8, 12)).astype(float)
    valid = np.ones(y.shape, dtype=bool)
    y[0], y[1], valid[2], valid[3:, :2] = 0, 1, False, False
    return y, np.where(valid, s, np.nan), valid


def of_all(y: Any, s: Any, valid: Any) -> dict[str, Any]:
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
    """The rate of positives around the cut, or beyond it if that is further from the hit rate; and
    the share of the examples beyond it.
    """
    width = max(5, quota**0.8 / 2)
    first, last = max(quota - width, 0), min(quota + width, n)
    ends = first, quota, last
    before, here, after = (float(x * qk.hit_rate(y, s, quota=x)) if x else 0 for x in ends)
    around, beyond = (
        (after - x + 0.5) / (last - at + 1) for x, at in ((before, first), (here, quota))
    )
    rate = here / quota
    return max(around, beyond, key=lambda x: abs(x - rate)), 1 - quota / n


def factor(quota: float, n: int, population: int) -> float:
    places = quota * population / n
    return min(1.0, (places - quota) / (places - 1)) if places > max(quota, 1) else 0.0


@pytest.mark.long_program
def test_in_every_mode(mode: Mode):
    y, s, valid = lists()
    found = mode.run(of_all, y, s, valid)
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
                variance = f.get(name.removeprefix("score, "), 1.0)
                wanted = ends_of(share * quota, quota, variance, *cut)
                if variance and (listed := {"listed": 30, "known": 12}.get(name.split()[-1])):
                    half = n / (2 * listed * quota)  # half a place more
                    wanted = max(0, wanted[0] - half), min(1, wanted[1] + half)
                np.testing.assert_allclose(ends, wanted, rtol, max(atol, 1e-7 * (not double)))


def weighed(y: Any, s: Any, valid: Any, w: Any) -> dict[str, Any]:
    given = {"where": valid, "sample_weight": w}
    return {
        "rate": qk.inference.hit_rate_interval(y, s, fraction=[0.3, 0.6], **given),
        "share": qk.inference.qrecall_interval(y, s, fraction=[0.3, 0.6], **given),
        "area": qk.inference.auc_interval(y, s, **given),
    }


@pytest.mark.long_program
def test_weights_in_every_mode(mode: Mode):
    """As of each list alone, in another order, and in another unit."""
    y, s, valid = lists()
    w = np.random.default_rng(2).lognormal(size=y.shape)
    found = mode.run(weighed, y, s, valid, w)
    for row in range(3, 8):
        kept = np.flatnonzero(valid[row])[::-1]
        wanted = weighed(y[row, kept], s[row, kept], None, 3 * w[row, kept])
        for name, interval in wanted.items():
            rtol, atol = (1e-9, 1e-12) if found[name].lower.dtype == np.float64 else (2e-5, 1e-5)
            parts = [x[row] for x in found[name]]
            np.testing.assert_allclose(parts, interval, rtol, atol, err_msg=name)


def test_weights_of_classes_count_by_the_rows_of_each():
    """Equal weights are none, but for Student's t; negatives that stand for 10 widen by h more."""
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(4)
    y = rng.random(300) < 0.3
    s = rng.normal(y)
    equal, plain = weighed(y, s, None, np.full(300, 7.0)), weighed(y, s, None, None)
    for name in ("share", "area"):
        np.testing.assert_allclose(equal[name], plain[name], 1e-9)
    w = np.where(y, 1.0, 10.0)
    found = qk.inference.hit_rate_interval(y, s, quota=200, sample_weight=w, method="wilson")
    counted = 1 + 9 * found.estimate
    t = stats.t.ppf(0.975, 200 / counted - 1)
    wanted = ends_of(200 * found.estimate, 200, counted * t**2 / Z95**2)
    np.testing.assert_allclose((found.lower, found.upper), wanted, 1e-9)


@pytest.mark.parametrize("mode", parameters(EAGER))
def test_tails_of_the_exact_interval(mode: Mode):
    """At either end, as many successes or failures have 2.5 %; fractions are rounded outwards."""

    def exact(y: Any, s: Any, valid: Any) -> Any:
        return qk.inference.hit_rate_interval(y, s, where=valid, quota=QUOTAS, method="exact")

    y, s, valid = lists()
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
                tail = draws.binomial_tail(whole, math.ceil(quota), Fraction(float(end)))
                assert (whole == end == 0) or float(tail) == pytest.approx(0.025, rel=rel)


def test_a_known_list_has_no_width_and_an_endless_one_is_none():
    dice = np.random.default_rng(2)
    y, s = dice.integers(0, 2, 50), dice.normal(size=50)
    for method in ("score", "wilson", "exact"):
        given = {"quota": [1, 7, 50], "method": method}
        one = qk.inference.hit_rate_interval(y, s, quota=7, method=method)
        assert {type(end) for end in one} == {np.float64}
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
        wanted = draws.listed_interval(*parts, math.ceil(quota), places, Fraction(1, 40))
        np.testing.assert_allclose((found.lower[k], found.upper[k]), [float(x) for x in wanted])


def test_ten_million_examples():
    """The exact ends of scipy; both kinds lie near those of the normal distribution."""
    stats = pytest.importorskip("scipy.stats")
    ranking = qk.Ranking.from_counts([2, 1], [4 * 10**6, 6 * 10**6], [10**6, 12345])
    given: dict[str, Any] = {"quota": 4 * 10**6, "confidence_level": 0.9}
    exact = qk.inference.hit_rate_interval(ranking, method="exact", **given)
    plain = qk.inference.hit_rate_interval(ranking, method="wilson", **given)
    lower = stats.beta.ppf(0.05, 10**6, 3 * 10**6 + 1)
    upper = stats.beta.ppf(0.95, 10**6 + 1, 3 * 10**6)
    np.testing.assert_allclose(exact[1:], [lower, upper], rtol=1e-11)
    np.testing.assert_allclose(plain[1:], exact[1:], rtol=2e-6)
    given |= {"population": 2 * 10**7, "method": "exact"}
    listed = qk.inference.hit_rate_interval(ranking, **given)
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

LABELS, S = [1, 0, 1, 0], [4, 3, 2, 1]


@pytest.mark.full
def test_in_a_trace():
    jax = pytest.importorskip("jax")
    with pytest.raises(ValueError, match='runs on the host.*"wilson"'):
        jax.jit(lambda y, s: qk.inference.hit_rate_interval(y, s, quota=2, method="exact"))(
            np.asarray(LABELS), np.asarray(S)
        )
    found = jax.jit(lambda y, s, n: qk.inference.hit_rate_interval(y, s, quota=2, population=n))
    assert np.isnan(found(np.asarray(LABELS), np.asarray(S), 3).lower)
    assert not np.isnan(found(np.asarray(LABELS), np.asarray(S), 5).lower)


# intervals of average precision and average hit rate by their influence functions


ap_modes = pytest.mark.parametrize(
    "mode", parameters([m for m in MODES if m.name in (*MAIN, "strictest", "jax64-jit")])
)
RNG = np.random.default_rng(12)
N = 30
AP_LABELS = RNG.integers(0, 2, N)
AP_SCORES = np.stack(
    [RNG.integers(0, 4, N) / 2.0, RNG.normal(AP_LABELS), np.repeat([1.0, 0.0], N // 2)]
)
WHERE = RNG.random(N) < 0.8
NAMES = ("average_precision", "average_hit_rate")


def influence_of(name: str, y: np.ndarray, s: np.ndarray) -> tuple[float, float]:
    """The measure and its standard error, from fractions."""
    measure = getattr(influence, name)
    value, variance = influence.value_and_variance(y.tolist(), s.tolist(), measure)
    return float(value), float(variance) ** 0.5


def near_to(found: Any, exact: Any, factor: float = 64) -> None:
    rounding = factor * np.finfo(found.dtype).eps
    np.testing.assert_allclose(found, exact, rtol=rounding, atol=rounding)


@ap_modes
@pytest.mark.long_program
@pytest.mark.parametrize("masked", [False, True])
def test_standard_errors_are_those_of_the_influences(mode: Mode, masked: bool):
    def computed(y: Any, s: Any, where: Any) -> Any:
        ranking = qk.rank(y, s, where=where if masked else None)
        return {name: average_precision_interval(ranking, measure=name) for name in NAMES}

    for scores in AP_SCORES:
        found = mode.run(computed, AP_LABELS, scores, WHERE)
        there = WHERE if masked else np.ones(N, dtype=bool)
        for name in NAMES:
            value, error = influence_of(name, AP_LABELS[there], scores[there])
            near_to(found[name].estimate, value)
            near_to(found[name].standard_error, error, 512)


@given(st.data())
def test_small_cases(data: st.DataObject):
    size = data.draw(st.integers(4, 8))
    lists = {"min_size": size, "max_size": size}
    y = np.asarray(data.draw(st.lists(st.integers(0, 1), **lists)))
    s = np.asarray(data.draw(st.lists(st.integers(0, 3), **lists)))
    fewer = min(y.sum(), size - y.sum())
    for name in NAMES:
        found = average_precision_interval(y, s, measure=name)
        if fewer < 2:
            assert np.isnan(found[1:]).all()
            continue
        value, error = influence_of(name, y, s)
        near_to(found.estimate, value)
        if value < 1:
            near_to(found.standard_error, error, 512)
            t = laws.student_t(XP, 0.95, np.asarray(fewer - 1.0))
            logit = np.log(value / (1 - value))
            half = t * error / (value * (1 - value))
            ends = 1 / (1 + np.exp(-(logit + np.asarray([-half, half]))))
            np.testing.assert_allclose([found.lower, found.upper], ends, rtol=1e-9)


def test_large_tie_groups():
    """Sums over positions are closed forms there; in fractions they would take long."""
    y = np.arange(3000) % 7 < 2
    s = np.repeat([5.0, 4.0, 3.0, 2.0], [9, 900, 2000, 91])
    base = np.ones(3000)
    ranking = qk.rank(y, s)
    squares = np.zeros(len(s))
    for group in np.unique(s):
        for label in (False, True):
            members = np.flatnonzero((s == group) & (y == label))
            up, down = base.copy(), base.copy()
            up[members[0]] += 1e-4
            down[members[0]] -= 1e-4
            pair = [qk.average_hit_rate(y, s, sample_weight=x) for x in (up, down)]
            squares[members] = ((pair[0] - pair[1]) / 2e-4) ** 2
    error = np.sqrt(squares.sum() * 3000 / 2999)
    found = average_precision_interval(ranking, measure="average_hit_rate")
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-7)
    np.testing.assert_allclose(found.estimate, qk.average_hit_rate(ranking), rtol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_all_positives_first(name: Any):
    y = np.asarray([1] * 5 + [0] * 7)
    for scores in (-np.arange(12), y, np.asarray([3] * 3 + [2] * 2 + [1] * 7)):
        found = average_precision_interval(y, scores, measure=name)
        assert found.standard_error == 0
        near_to(found.estimate, 1.0)
        near_to(found.lower, 0.025 ** (1 / 5))
        near_to(found.upper, 1.0)


def test_groups_of_examples_and_models():
    groups = np.arange(N) % 2
    for name in NAMES:
        both = average_precision_interval(AP_LABELS, AP_SCORES, measure=name)
        each = average_precision_interval(AP_LABELS, AP_SCORES[0], measure=name, groups=groups)
        for k in range(len(AP_SCORES)):
            alone = average_precision_interval(AP_LABELS, AP_SCORES[k], measure=name)
            for x, one in zip(both, alone, strict=True):
                near_to(x[k], one, 512)
        for k in range(2):
            here = groups == k
            alone = average_precision_interval(AP_LABELS[here], AP_SCORES[0][here], measure=name)
            for x, one in zip(each, alone, strict=True):
                near_to(x[k], one, 512)


@ap_modes
@pytest.mark.long_program
def test_bad_scores(mode: Mode):
    scores = np.stack([AP_SCORES[0], np.where(np.arange(N) == 3, np.nan, AP_SCORES[0])])
    if mode.lazy:
        found = mode.run(average_precision_interval, AP_LABELS, scores)
        np.testing.assert_array_equal(np.isnan(found.estimate), [False, True])
        np.testing.assert_array_equal(np.isnan(found.lower), [False, True])
        return
    with raises(mode, ValueError, "^y_score is nan at position"):
        mode.run(average_precision_interval, AP_LABELS, scores)


@pytest.mark.parametrize(("n_positive", "shift"), [(6, 1), (40, 4), (40, 1)])
def test_tests_of_areas_warn_of_few(n_positive: int, shift: float):
    y = np.arange(400) < n_positive
    scores = np.random.default_rng(1).normal(size=(2, 400)) + shift * y
    wrong = {6: "p-values are too small", 40: "intervals near an AUC of 1"}[n_positive]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        qk.inference.delong_test(y, scores)
        qk.inference.delong_test_unpaired(*(qk.rank(y, x) for x in scores))
    assert len(found) == (0 if (n_positive, shift) == (40, 1) else 3)
    assert all(wrong in str(x.message) for x in found)
