"""Weights in any unit: shares stay, masses come out in the caller's unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import MODES, QUICK, Mode, parameters
from expected import AT_QUOTA
from public_names import PUBLIC
from table_formulas import PLAIN

import quotakernels as qk

POWERS = (-1000, -500, -266, -100, 100, 266, 500, 900)
draw = np.random.default_rng(0)
Y, S = draw.integers(0, 2, 12), draw.integers(0, 6, 12) / 8
W = draw.integers(1, 9, 12) / 4
IMPACTS = (3, -1, 0, 2)
OF_CLASSES = (
    *("matthews_corrcoef", "cohen_kappa", "informedness", "mutual_information", "accuracy"),
    *("misclassification_rate", "markedness", "information_coefficient"),
)
OF_IMPACTS = ("impact", "outcome_impact", "conditional_impact", "base_ratio")
OF_RANKINGS = (
    *("roc_auc", "gini", "pem", "average_hit_rate", "average_qrecall", "average_precision"),
    *("pr_auc", "roc_hull_auc", "achievable_pr_auc", "auk", "h_measure", "summary", "lift_table"),
    *("roc_curve", "pr_curve", "roc_hull", "achievable_pr_curve"),
    *("hit_rate_curve", "pearson_curve"),
)
KINDS = ("roc", "pr", "lift", "bift", "bprd")


def found(w: Any, u: Any) -> dict[str, Any]:
    """Everything of weights, and of numbers in their unit u."""
    ranking, other = qk.rank(Y, S, sample_weight=w), qk.rank(Y, S - S * S, sample_weight=w)
    table = qk.tables.ConfusionTable(3 * u, 2 * u, 1 * u, 5 * u)
    classes = qk.tables.ClassTable(np.asarray([[3.0, 1, 2], [0, 4, 1], [2, 2, 5]]) * u)
    values: dict[str, Any] = {name: PUBLIC[name](ranking) for name in OF_RANKINGS}
    values["areas"] = qk.pem_areas(ranking, method="area")
    for name in (*AT_QUOTA, "confusion_table", "f_score"):
        measure = PUBLIC[name]
        values[f"{name} share"] = measure(ranking, fraction=[0.1, 0.4, 1.0])
        values[f"{name} mass"] = measure(ranking, quota=np.asarray([3.0, 5.0]) * u)
    for name in PLAIN:
        values[f"{name} table"] = PUBLIC[name](table)
        values[f"{name} curve"] = qk.tables.table_curve(PUBLIC[name], ranking)
        values[f"{name} best"] = qk.best_cut(PUBLIC[name], ranking, greater_is_better=True)
    values |= {f"{name} classes": PUBLIC[name](classes) for name in OF_CLASSES}
    values |= {f"{name} table": PUBLIC[name](table, impacts=IMPACTS) for name in OF_IMPACTS}
    values |= {f"area {kind}": qk.charts.chart_area(ranking, kind=kind) for kind in KINDS}
    values |= {
        f"chart {kind}": qk.charts.powers_chart(ranking, kind=kind) for kind in ("bift", "pr")
    }
    values["total"] = qk.tables.total_impact(ranking, threshold=0.3, impacts=IMPACTS)
    values["total classes"] = qk.tables.total_impact(classes, impacts=np.arange(9.0).reshape(3, 3))
    values["boundary"] = qk.best_boundary(ranking, impacts=IMPACTS)
    values["cost"] = qk.best_operating_point(ranking, cost_fp=1, cost_fn=2)
    values["quota"] = qk.impact_at_quota(None, S, gain=2.0 * Y - 1, quota=4 * u, sample_weight=w)
    values["select"] = qk.select(S, quota=4 * u, sample_weight=w)
    values["regions"] = qk.compare_curves([ranking, other])
    values["family"] = qk.family_hull([ranking, other])
    values["mixture"] = qk.mixture(qk.roc_hull(ranking), quota=5 * u)
    return values


def leaves(name: str, value: Any) -> dict[str, np.ndarray]:
    if not isinstance(value, tuple):
        return {name: np.asarray(value)}
    parts = zip(value._fields, value, strict=True)
    return {k: x for field, part in parts for k, x in leaves(f"{name}.{field}", part).items()}


def flat(values: dict[str, Any]) -> dict[str, np.ndarray]:
    return {k: x for name, value in values.items() for k, x in leaves(name, value).items()}


MASSES = ("quota", "start", "stop", "positives", "tp", "fp", "fn", "tn")
TOTALS = ("total", "total classes", "quota")


def in_unit(name: str) -> bool:
    measure, _, field = name.partition(".")
    if measure.split()[0] == "regions":
        return field in ("start", "stop")
    return field.rpartition(".")[2] in MASSES or measure in TOTALS


BASE = flat(found(W, 1.0))


@pytest.mark.parametrize("power", POWERS)
def test_the_unit_of_weights_does_not_matter(power: int):
    unit = 2.0**power
    for name, value in flat(found(W * unit, unit)).items():
        wanted = BASE[name] * (unit if in_unit(name) else 1)
        np.testing.assert_array_equal(value, wanted, err_msg=name)


def test_a_class_of_little_weight_stays_beside_a_heavy_one():
    weights = np.where(Y == 1, 1e-300, 1e300)
    assert qk.roc_auc(Y, S, sample_weight=weights) == qk.roc_auc(Y, S, sample_weight=Y + 1.0)
    table = qk.tables.ConfusionTable(1e300, 1e-300, 1e-300, 1e300)
    assert qk.tables.diagnostic_odds_ratio(table) == np.inf
    assert qk.recall(table) == 1


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_cut_of_everything_takes_what_vanishes_in_the_sum(library: str):
    xp = pytest.importorskip(library)
    labels, weights = xp.asarray([0, 0, 1]), xp.asarray([1e7, 1.0, 1e-10], dtype=xp.float64)
    for cut in ({"fraction": 1}, {"fraction": [1.0]}, {"quota": 1e7 + 1 + 1e-10}):
        data = labels, xp.asarray([3, 2, 1])
        found = qk.confusion_table(*data, sample_weight=weights, **cut)
        assert (found.tp, found.fn, found.tn) == (1e-10, 0, 0)
        assert qk.recall(*data, sample_weight=weights, **cut) == 1


def test_weights_whose_sum_would_be_infinite():
    heavy = qk.roc_auc(Y, S, sample_weight=np.full(12, 1e307))
    np.testing.assert_allclose(heavy, qk.roc_auc(Y, S), rtol=4e-16)
    invalid = qk.roc_auc(Y, S, sample_weight=np.full(12, 1e308), validate=False)
    assert np.isnan(invalid)


NAMES = ("strictest-device1", "jax64-jit", "torch-vmap")
LAZY = parameters([mode for mode in MODES if mode.name in NAMES])


@pytest.mark.parametrize("mode", LAZY)
@pytest.mark.long_program
def test_rows_of_a_batch_have_units_of_their_own(mode: Mode):
    units = 2.0 ** np.asarray([0, *POWERS])[:, None]
    arrays = [np.broadcast_to(x, (len(units), 12)).copy() for x in (Y, S)]
    values = mode.run(some, *arrays, W * units, 4 * units)
    for name, value in some(*arrays, W * units, 4 * units).items():
        np.testing.assert_allclose(values[name], value, rtol=1e-15, err_msg=name)
        np.testing.assert_allclose(value, np.broadcast_to(value[:1], value.shape), 1e-15)


def some(y: Any, s: Any, w: Any, q: Any) -> dict[str, Any]:
    ranking = qk.rank(y, s, sample_weight=w)
    names = ("roc_auc", "average_qrecall", "average_hit_rate")
    values = {name: PUBLIC[name](ranking) for name in names}
    values["share"] = qk.hit_rate(ranking, fraction=0.4)
    values["lift"] = qk.lift_table(ranking, bins=3).lift
    values["matthews"] = qk.matthews_corrcoef(ranking, threshold=0.3)
    table = qk.confusion_table(ranking, fraction=0.4)
    return values | {"cells": table.tp / w[..., 0]}


TWO = np.asarray([[7.0, 3, 2, 5], [30, 1, 2, 4.5], [1, 1, 1, 1], [3, 0, 0, 4]]).T
SEVERAL = np.random.default_rng(3).integers(1, 9, (2, 3, 3)).astype(float)
SIZES = [2.0**k for k in (-500, -300, -266, -100, 100, 266, 300, 500)]


WIDE = parameters([mode for mode in QUICK if not mode.float32])


@pytest.mark.parametrize("mode", WIDE)
def test_correlation_of_cells_of_any_size(mode: Mode):
    sizes = np.asarray([1.0, *SIZES])[:, None]
    wanted = qk.matthews_corrcoef(qk.tables.ConfusionTable(*TWO))
    found = mode.run(
        lambda *cells: qk.matthews_corrcoef(qk.tables.ConfusionTable(*cells)), *TWO[:, None] * sizes
    )
    np.testing.assert_allclose(found, np.broadcast_to(wanted, found.shape), rtol=1e-15)
    large = mode.run(
        lambda c: qk.matthews_corrcoef(qk.tables.ClassTable(c)), SEVERAL * sizes[:, :, None, None]
    )
    wanted = qk.matthews_corrcoef(qk.tables.ClassTable(SEVERAL))
    np.testing.assert_allclose(large, np.broadcast_to(wanted, large.shape), rtol=1e-15)
    printed = mode.run(
        lambda *cells: qk.matthews_corrcoef(qk.tables.ConfusionTable(*cells)),
        *np.asarray([[3e77, 3e-80], [1e77, 1e-80], [2e77, 2e-80], [4e77, 4e-80]]),
    )
    np.testing.assert_allclose(printed, 10 / np.sqrt(4 * 6 * 5 * 5), rtol=1e-15)
