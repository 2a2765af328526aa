"""Measures that only ratios of masses decide: as many times larger or smaller, the same values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import QUICK, Mode, parameters
from public_names import PUBLIC
from table_formulas import COSTS, IMPACTS, NAMES
from test_table_measures import S, Y

import quotakernels as qk

TWO = np.asarray([[7.0, 3, 2, 5], [30, 1, 2, 4.5], [1, 1, 1, 1], [3, 0, 0, 4]]).T
SEVERAL = np.random.default_rng(3).integers(1, 9, (2, 3, 3)).astype(float)
SIZES = [2.0**k for k in (-500, -300, -266, -100, 100, 266, 300, 500)]
OWN = {"expected_cost": COSTS, "base_ratio": {"impacts": IMPACTS}}
OF_CLASSES = (
    "accuracy",
    "misclassification_rate",
    "informedness",
    "markedness",
    "matthews_corrcoef",
    "cohen_kappa",
    "mutual_information",
    "information_coefficient",
)
IMPACT = ("impact", "outcome_impact", "conditional_impact")
OF_SCORES: dict[str, dict[str, Any]] = {
    "roc_auc": {},
    "gini": {},
    "pem": {},
    "average_hit_rate": {},
    "average_qrecall": {},
    "average_precision": {},
    "pr_auc": {},
    "roc_hull_auc": {},
    "achievable_pr_auc": {},
    "h_measure": {},
    "auk": {},
    "hit_rate": {"fraction": [0.3, 0.77]},
    "mean_hit_rate": {"fraction": [0.3, 0.77]},
    "qrecall": {"fraction": [0.3, 0.77]},
    "lift": {"fraction": [0.3, 0.77]},
}
AREAS = ("roc", "boc", "boc_dual", "bift", "bprd", "lift", "pr")


@pytest.mark.parametrize("name", [*NAMES, *IMPACT])
def test_cells_of_any_size(name: str):
    own = {"impacts": IMPACTS} if name in IMPACT else OWN.get(name, {})
    measure = PUBLIC[name]
    wanted = np.asarray(measure(qk.tables.ConfusionTable(*TWO), **own))
    for size in SIZES:
        found = measure(qk.tables.ConfusionTable(*TWO * size), **own)
        np.testing.assert_array_equal(found, wanted, err_msg=f"{size}")


@pytest.mark.parametrize("name", OF_CLASSES)
def test_cells_of_several_classes_of_any_size(name: str):
    measure = PUBLIC[name]
    for size in SIZES:
        found = measure(qk.tables.ClassTable(SEVERAL * size))
        np.testing.assert_array_equal(
            found, measure(qk.tables.ClassTable(SEVERAL)), err_msg=f"{size}"
        )


@pytest.mark.parametrize("name", OF_SCORES)
def test_weights_of_any_size(name: str):
    measure, weights = PUBLIC[name], np.arange(1.0, 1 + Y.shape[-1])
    wanted = measure(Y, S, sample_weight=weights, **OF_SCORES[name])
    for size in SIZES:
        found = measure(Y, S, sample_weight=weights * size, **OF_SCORES[name])
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-15, err_msg=f"{size}")


@pytest.mark.parametrize("kind", AREAS)
def test_areas_with_weights_of_any_size(kind: Any):
    weights = np.arange(1.0, 1 + Y.shape[-1])
    wanted = qk.charts.chart_area(Y, S, sample_weight=weights, kind=kind)
    for size in SIZES:
        found = qk.charts.chart_area(Y, S, sample_weight=weights * size, kind=kind)
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-15, err_msg=f"{size}")


def test_sums_of_products_of_three_masses():
    weights = np.arange(1.0, 1 + Y.shape[-1])
    ranking = qk.rank(Y, S, sample_weight=weights)
    for size in (2.0**-300, 2.0**300):
        scaled = qk.rank(Y, S, sample_weight=weights * size)
        pairs = [(qk.pem_areas(x, method="area"), qk.summary(x)) for x in (scaled, ranking)]
        for found, wanted in zip(*pairs, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-15)
    for size in (2.0**-450, 2.0**500):
        found = qk.pearson(Y, S, sample_weight=weights * size, fraction=0.77)
        np.testing.assert_allclose(found, qk.pearson(ranking, fraction=0.77), rtol=1e-13)


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
