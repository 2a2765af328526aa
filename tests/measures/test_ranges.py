"""Weights are rounded: a perfect order is exactly 1 all the same, and no value leaves its range."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters
from public_names import PUBLIC

import quotakernels as qk
from quotakernels import charts, points, states

SIZES = (3, 20)
ROWS = 6
OF_TABLES = (
    *("accuracy", "precision", "recall", "informedness", "markedness", "cohen_kappa"),
    *("matthews_corrcoef", "f_score", "scott_pi", "fleiss_kappa", "information_coefficient"),
    *("bennett_s", "g_measure", "true_negative_rate", "inverse_precision", "bookmaker_correlation"),
)
SIGNED = {
    *("gini", "pem", "auk", "pearson", "informedness", "markedness", "matthews_corrcoef"),
    *("cohen_kappa", "scott_pi", "fleiss_kappa", "bennett_s", "bookmaker_correlation"),
}
"""Measures from -1 to 1; all others are from 0 to 1."""


def averages(*given: Any, **data: Any) -> dict[str, Any]:
    """Measures that are 1 where all positives are above all negatives; groups are taken too."""
    names = ("roc_auc", "gini", "pem", "average_hit_rate", "average_qrecall")
    found = {name: PUBLIC[name](*given, **data) for name in (*names, "average_precision", "pr_auc")}
    found["auc_left"] = qk.roc_auc(*given, max_fpr=0.3, **data)
    found["auc_above"] = qk.roc_auc(*given, min_tpr=0.3, **data)
    found["pr_auc_horizontal"] = qk.pr_auc(*given, start="horizontal", **data)
    found["kolmogorov_smirnov"] = points.kolmogorov_smirnov(*given, **data).value
    found["qrecall_of_all"] = qk.qrecall(*given, fraction=1, **data)
    return found


def of_one_list(*given: Any, **data: Any) -> dict[str, Any]:
    """The same of measures that take no groups."""
    curves = qk.roc_curve(*given, **data), qk.roc_hull(*given, **data)
    found = {name: PUBLIC[name](*given, **data) for name in ("roc_hull_auc", "achievable_pr_auc")}
    found |= {
        f"end {k}.{f}": getattr(c, f)[..., -1] for k, c in enumerate(curves) for f in ("fpr", "tpr")
    }
    found["end of recall"] = qk.pr_curve(*given, **data).recall[..., -1]
    found["end of qrecall"] = qk.qrecall_curve(*given, **data).value[..., -1]
    found["h_measure"] = qk.h_measure(*given, **data)
    return found


def in_range(*given: Any, **data: Any) -> dict[str, Any]:
    """What need not be 1 of a perfect order."""
    found = {}
    for fraction in (0.1, 0.5, 1.0):
        cut = {"fraction": fraction, **data}
        for name in ("hit_rate", "qrecall", "pearson", *OF_TABLES):
            found[f"{name} {fraction}"] = PUBLIC[name](*given, **cut)
    found |= {
        f"lift_table.{f}": getattr(qk.lift_table(*given, bins=3, **data), f)
        for f in ("hit_rate", "cumulative_hit_rate", "qrecall")
    }
    return found


def curves(*given: Any, **data: Any) -> dict[str, Any]:
    found = {
        "auk": charts.auk(*given, **data),
        "break_even_point": points.break_even_point(*given, **data).value,
    }
    for name, fields in (
        ("roc_curve", ("fpr", "tpr")),
        ("pr_curve", ("recall", "precision")),
        ("achievable_pr_curve", ("recall", "precision")),
        ("hit_rate_curve", ("value",)),
        ("qrecall_curve", ("value",)),
        ("lift_curve", ()),
    ):
        curve = PUBLIC[name](*given, **data)
        found |= {f"{name}.{field}": getattr(curve, field) for field in fields}
    return found


def batch(n: int, order: str, seed: int) -> tuple[np.ndarray, ...]:
    """Labels, scores with ties and weights of several lists, perfect, reversed or mixed."""
    draw = np.random.default_rng(seed)
    shape = (ROWS, n)
    y = (draw.random(shape) < draw.uniform(0.1, 0.9, (ROWS, 1))).astype(int)
    y[:, 0], y[:, -1] = 1, 0
    ties = draw.integers(0, max(2, n // 2), shape) / n
    score = {"perfect": ties + 2 * y, "reversed": ties - 2 * y, "mixed": ties}[order]
    weights = (
        draw.random(shape) + 0.01,
        draw.integers(1, 10, shape) / 10,
        np.exp(draw.normal(0, 3, shape)),
    )
    return y, score, np.concatenate([x[k::3] for k, x in enumerate(weights)])


def check(found: dict[str, Any], ones: bool = False) -> None:
    for name, value in found.items():
        least = -1 if name.split()[0] in SIGNED else 0
        value = np.asarray(value)
        defined = value[~np.isnan(value)]
        assert np.all((defined >= least) & (defined <= 1)), (name, defined.max(), defined.min())
        assert not ones or np.all(defined == 1), (name, defined.min())


MODES_HERE = [
    m for m in MODES if m.name in ("numpy", "strictest-device1", "jax64-jit", "torch", "torch-vmap")
]


@pytest.mark.parametrize("mode", parameters(MODES_HERE))
@pytest.mark.long_program
def test_batches_with_weights(mode: Mode):
    """One program of each size serves all orders; JAX compiles that of one size."""
    programs = {
        function: mode.compiled(lambda y, s, w, f=function: f(y, s, sample_weight=w))
        for function in (averages, of_one_list, in_range, curves)
    }
    masked = mode.compiled(lambda y, s, w, m: averages(y, s, sample_weight=w, where=m))
    for seed, n in enumerate(SIZES[1:] if mode.library == "jax" else SIZES):
        for order in ("perfect", "reversed", "mixed"):
            y, score, w = batch(n, order, seed)
            where = np.random.default_rng(seed).random(y.shape) < 0.8
            for function, program in programs.items():
                ones = order == "perfect" and function in (averages, of_one_list)
                check(mode.run(program, y, score, w), ones)
            check(mode.run(masked, y, score, w, where), order == "perfect")


@pytest.mark.parametrize("order", ["perfect", "reversed", "mixed"])
@pytest.mark.parametrize(
    "mode", parameters([m for m in MODES if m.name in ("numpy", "torch", "strict")])
)
def test_lists_groups_and_tie_policies_with_weights(mode: Mode, order: str):
    for seed, n in enumerate(SIZES[1:] if mode.name == "strict" else SIZES):  # which takes long
        for y, score, w in zip(*batch(n, order, seed + 9), strict=True):
            ones = order == "perfect"
            for ties in ("expected", "optimistic", "pessimistic"):
                found = mode.run(
                    lambda y, s, w, t=ties: averages(y, s, sample_weight=w, ties=t), y, score, w
                )
                check(found, ones)
            codes = np.arange(n) % 2
            found = mode.run(
                lambda y, s, w, g: averages(y, s, sample_weight=w, groups=g, num_groups=2),
                y,
                score,
                w,
                codes,
            )
            check(found, ones)
            check(mode.run(lambda y, s, w: in_range(y, s, sample_weight=w), y, score, w))
            check(mode.run(lambda y, s, w: curves(y, s, sample_weight=w), y, score, w))


@pytest.mark.parametrize("order", ["perfect", "reversed", "mixed"])
def test_long_lists_states_and_grouped_counts(order: str):
    for n, seed in ((70_000, 1), (300, 2), (300, 3)):
        y, score, w = (x[0] for x in batch(n, order, seed))
        check(averages(y, score, sample_weight=w), order == "perfect")
        ranking = qk.rank(y, score, sample_weight=w)
        check(of_one_list(ranking), order == "perfect")
        check(in_range(ranking))
    counts, positives = np.asarray([3, 2**55 + 1, 2**56 - 3, 7]), np.asarray([3, 2**55 + 1, 0, 0])
    if order == "perfect":
        many = qk.Ranking.from_counts([4.0, 3.0, 2.0, 1.0], counts, positives)
        check({k: x for k, x in averages(many).items() if k != "average_qrecall"}, True)


def state(kind: Any, y: np.ndarray, score: np.ndarray, w: np.ndarray) -> Any:
    """The state of two batches of weighted examples, of which the longer one is merged."""
    size = {"capacity": y.shape[-1]} if kind is states.FixedScoreBuffer else {}
    size |= {"bits": 12} if kind is states.ScoreHistogram else {}
    size |= {} if kind is states.ScoreBuffer else {"weighted": True}
    first, rest = (
        kind.empty(score, **size).update(y[..., k], score[..., k], sample_weight=w[..., k])
        for k in (slice(0, 1), slice(1, None))
    )
    return first.merge(rest)


@pytest.mark.parametrize("order", ["perfect", "reversed", "mixed"])
@pytest.mark.parametrize(
    "kind", [states.ScoreHistogram, states.ScoreBuffer, states.FixedScoreBuffer]
)
def test_states_with_weights(kind: Any, order: str):
    for seed, n in enumerate(SIZES):
        for one in (slice(None), 0, 2):
            data = (x[one] for x in batch(n, order, seed + 20))
            ranking = state(kind, *data).ranking()
            for function in (averages, of_one_list):
                check(function(ranking), order == "perfect")
            for function in (in_range, curves):
                check(function(ranking))


@pytest.mark.parametrize("order", ["perfect", "mixed"])
def test_weights_that_vanish_beside_others(order: str):
    for seed in range(8):
        y, score, w = batch(20, order, seed)
        w = np.where(y == seed % 2, w * 10.0 ** -np.random.default_rng(seed).integers(14, 20), w)
        for function in (averages, of_one_list):
            check(function(y, score, sample_weight=w), order == "perfect")
        for function in (in_range, curves):
            check(function(y, score, sample_weight=w))


def test_masses_that_vanish_in_sums_keep_shares_from_being_whole():
    """A negative that is less than an ulp of the next row is still above it."""
    y, s, w = [0, 1], [2.0, 1.0], [1e-10, 1e7]
    quota = [2e-10, 1e-9, 1e-3]
    wanted = [0.5, 0.9, 0.9999999]
    given = {"sample_weight": w}
    np.testing.assert_allclose(qk.hit_rate(y, s, quota=quota, **given), wanted, 1e-12)
    np.testing.assert_allclose(qk.precision(y, s, quota=quota, **given), wanted, 1e-12)
    batch = qk.hit_rate([y, y], [s, s], quota=quota, sample_weight=[w, w])
    np.testing.assert_allclose(batch, [wanted, wanted], 1e-12)
    area = qk.mean_hit_rate(y, s, between=(0, 2e-10), method="area", **given)
    np.testing.assert_allclose(area, 0.5 - np.log(2) / 2, 1e-12)
    many = qk.Ranking.from_counts([3, 2, 1], [1, 2**55, 5], [0, 2**55, 0])
    np.testing.assert_allclose(qk.mean_hit_rate(many, between=(1, 3)), 7 / 18, 1e-12)


def test_all_examples_hold_all_positives():
    """Also where the mass of the last one vanishes in the sum of all."""
    given = {"sample_weight": [1e7, 1.0, 1e-10], "fraction": 1.0}
    assert qk.qrecall([0, 0, 1], [3.0, 2, 1], **given) == 1
    assert np.isnan(qk.qrecall([0, 0, 0], [3.0, 2, 1], **given))


def test_a_weighted_hit_rate_of_positives_alone_is_exactly_one():
    draw = np.random.default_rng(0)
    y, score, weight = np.r_[np.ones(6), 0, 1], -np.arange(8.0), draw.random((50, 8))
    quota = weight[:, :6].sum(axis=1) * draw.random(50)
    rates = [
        qk.hit_rate(y, score, quota=q, sample_weight=w) for q, w in zip(quota, weight, strict=True)
    ]
    assert rates == [1.0] * 50
