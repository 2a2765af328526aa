"""Points at a rate, and points that stand out, against fractions."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from backends import QUICK, Mode, mode_fixture
from exact import groups, operating
from expected import as_floats, assert_within
from test_charts import CASES, GROUPS, WEIGHTED, padded

import quotakernels as qk

mode = mode_fixture(QUICK)
AT = {"recall_at": "precision", "precision_at": "recall", "tpr_at": "fpr", "fpr_at": "tpr"}
ALONE = ("equal_error_rate", "break_even_point", "kolmogorov_smirnov")
RATES = [0.0, 0.25, 0.5, 0.7, 0.9, 1.0]


def points(ranking: qk.Ranking) -> dict[str, Any]:
    """All of them, those at rates with and without points between the cuts."""
    found = {name: getattr(qk.points, name)(ranking) for name in ALONE}
    for name, given in AT.items():
        measure = getattr(qk.points, name)
        found[name] = measure(ranking, **{given: RATES})
        found[f"{name} between"] = measure(ranking, **{given: RATES}, interpolate=True)
    return found


def exact_points(table: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [getattr(operating, name)(table)] for name in ALONE}
    for name in AT:
        point = getattr(operating, name)
        found[name] = [point(table, x) for x in RATES]
        found[f"{name} between"] = [point(table, x, True) for x in RATES]
    return found


def assert_points(found: dict[str, Any], wanted: list[dict[str, list[Any]]], units: float) -> None:
    """Values and quotas to rounding; thresholds of cuts exactly."""
    for name, point in found.items():
        own = np.asarray([[list(x) for x in each[name]] for each in wanted], dtype=object)
        unit = units * (2.0**-53 if np.asarray(point.value).dtype == np.float64 else 2.0**-24)
        for k, field in ((0, "value"), (2, "quota"), (1, "threshold")):
            value = np.asarray(getattr(point, field))
            exact = as_floats(own[..., k]).reshape(value.shape)
            scale = unit * np.maximum(1, np.nan_to_num(exact)) if k != 1 else 0.0
            assert_within(value, exact.astype(value.dtype), scale, f"{name} {field}")


@cache
def wanted_of_small_cases() -> list[dict[str, list[Any]]]:
    return [exact_points(table) for table in GROUPS]


@pytest.mark.long_program
def test_every_small_case(mode: Mode):
    found = mode.run(lambda y, s, m: points(qk.rank(y, s, where=m)), *padded())
    assert_points(found, wanted_of_small_cases(), 8)


def test_compact_tables():
    for (y, s), wanted in zip(CASES[::7], wanted_of_small_cases()[::7], strict=True):
        assert_points(points(qk.rank(y, s)), [wanted], 8)


@pytest.mark.full
def test_weights(mode: Mode):
    columns = (np.asarray(x) for x in zip(*WEIGHTED, strict=True))
    found = mode.run(lambda y, s, w: points(qk.rank(y, s, sample_weight=w)), *columns)
    assert_points(found, [exact_points(groups(*case)) for case in WEIGHTED], 16)


def test_weights_of_any_size():
    y, s = [1, 0, 1, 0, 1, 0], [6.0, 5, 4, 4, 2, 1]
    for scale in (1e-290, 1.0, 1e290):
        w = np.asarray([1.0, 2, 0.5, 3, 1, 0.25]) * scale
        table = groups(y, s, w.tolist())
        point = qk.points.equal_error_rate(y, s, sample_weight=w)
        wanted = operating.equal_error_rate(table)
        np.testing.assert_allclose(point.value, float(wanted.value), 1e-14)
        np.testing.assert_allclose(point.quota, float(wanted.quota), 1e-14)
        assert qk.points.kolmogorov_smirnov(y, s, sample_weight=w).value == pytest.approx(
            float(operating.kolmogorov_smirnov(table).value), rel=1e-14
        )


def test_det_curve():
    for (y, s), table in zip(CASES[::5], GROUPS[::5], strict=True):
        found = qk.points.det_curve(y, s)
        for column, wanted in zip(
            found, zip(*operating.det_curve(table), strict=True), strict=True
        ):
            np.testing.assert_array_equal(column, as_floats(list(wanted)))
