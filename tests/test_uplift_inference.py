"""Uplift in resamples, comparisons and folds: both arms are drawn together."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, in_full, mode_fixture
from exact import uplift as ex
from resamples import counts_drawn

import quotakernels as qk
from quotakernels.inference import fold_summary, fold_test
from quotakernels.uplift import auuc, qini_coefficient, uplift_at_quota

pytestmark = pytest.mark.filterwarnings("ignore:only .* with fewer than")  # the data are few
RNG = np.random.default_rng(31)
N, R, QUOTA = 40, 30, 24
Y, T = RNG.integers(0, 2, (2, N))
S = np.stack([RNG.integers(0, 6, N) / 4, RNG.normal(Y * T)])
WEIGHT = RNG.choice([0.0, 0.5, 1.0, 3.0], N)
GROUPS = np.arange(N) % 5
MODELS = {"first": S[0], "second": S[1]}
NEAR = {"rtol": 2**-44, "atol": 2**-44}
MEASURES = {
    "uplift": functools.partial(uplift_at_quota, fraction=0.3),
    "auuc": auuc,
    "qini": qini_coefficient,
}
mode = mode_fixture(
    [m for m in MODES if m.name in ("numpy", "strictest-device1", "torch", "jax64")]
)


def exact(name: str, rows: list[ex.Person]) -> float:
    """The measure of some rows, in fractions."""
    groups = ex.arm_groups(rows)
    size = ex.together(rows).mass
    if name == "uplift":
        found = ex.uplift(groups, size * 3 / 10) if size else None
    else:
        of = {"auuc": ("uplift", None), "qini": ("qini", "perfect")}
        found = ex.auuc(rows, groups, *of[name])
    return float("nan") if found is None else float(found)


@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        ({}, None),
        ({"clusters": GROUPS}, WEIGHT),
        *(in_full(x, w) for x in ({"stratified": True}, {"poisson": True}) for w in (None, WEIGHT)),
    ],
)
def test_a_resample_is_of_rows_that_are_repeated(kind: Any, weights: Any):
    given = {"sample_weight": weights, "random_state": 3, "n_resamples": R, **kind}
    found = qk.bootstrap(MEASURES, Y, S, treatment=T, **given)
    counts = counts_drawn(Y, R, weights, **kind)
    for (model, scores), k in itertools.product(enumerate(S), range(0, R, 3)):
        index = np.repeat(np.arange(N), counts[k])
        beside = {} if weights is None else {"sample_weight": weights[index].tolist()}
        rows = ex.people(*(x[index].tolist() for x in (Y, scores, T)), **beside)
        for name in MEASURES:
            value = found[name].resamples[model, k]
            np.testing.assert_allclose(value, exact(name, rows), **NEAR, err_msg=name)


def test_resamples_of_every_library(mode: Mode):
    y, s, t = (mode.array(x) for x in (Y, S, T))
    given = {"random_state": 3, "n_resamples": R, "quota": QUOTA}
    with mode.context():
        found = qk.bootstrap(uplift_at_quota, y, s, treatment=t, **given)
    wanted = uplift_at_quota(Y, S, treatment=T, quota=QUOTA)
    np.testing.assert_allclose(mode.to_numpy(found.estimate), wanted, rtol=1e-6)
    assert np.all(mode.to_numpy(found.lower) < mode.to_numpy(found.upper))


@pytest.mark.filterwarnings("ignore:.*cannot tell any")
@pytest.mark.parametrize("test", ["bootstrap", "permutation"])
def test_models_are_compared(test: Any):
    given = {"test": test, "n_resamples": 100, "random_state": 3}
    found = qk.compare(uplift_at_quota, Y, MODELS, treatment=T, quota=QUOTA, **given)
    wanted = [uplift_at_quota(Y, MODELS[x], treatment=T, quota=QUOTA) for x in found.names]
    np.testing.assert_allclose(found.estimate, wanted)
    assert wanted == sorted(wanted, reverse=True)
    assert found.test == test


def test_folds():
    folds = np.arange(N) % 4
    found = fold_summary(auuc, Y, S[0], folds, treatment=T, pooled=True)
    each = [folds == k for k in range(4)]
    values = [auuc(Y[x], S[0][x], treatment=T[x]) for x in each]
    np.testing.assert_allclose(found.values, values, **NEAR)
    np.testing.assert_allclose(found.pooled, auuc(Y, S[0], treatment=T), **NEAR)
    others = [auuc(Y[x], S[1][x], treatment=T[x]) for x in each]
    tested = fold_test(auuc, Y, MODELS, folds, treatment=T)
    np.testing.assert_allclose(tested.values, np.subtract(values, others), **NEAR)


def test_whole_groups_are_drawn():
    mean = qk.group_mean(uplift_at_quota, quota=4)
    given = {"n_resamples": R, "random_state": 3}
    found = qk.bootstrap(mean, Y, S, treatment=T, groups=GROUPS, **given)
    each = uplift_at_quota(Y, S, treatment=T, groups=GROUPS, quota=4)
    np.testing.assert_allclose(found.value.estimate, np.nanmean(each, axis=-1))
