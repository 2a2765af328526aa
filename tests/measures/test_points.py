"""Single points of ROC and PR space, and the way between two of them."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from backends import QUICK, Mode, available, mode_fixture
from exact import groups, operating
from expected import as_floats, assert_within, ulps

import quotakernels as qk
from measures.test_charts import CASES, GROUPS, PADDED, WEIGHTED

mode = mode_fixture(QUICK)

CLASSES = {"positives": 20, "negatives": 2000}
TABLE_1 = [0.5, 0.375, 0.318, 0.286, 0.265, 0.25]
FIFTHS = [Fraction(k, 5) for k in range(6)]
GRID = [(x, y) for x in FIFTHS for y in FIFTHS]
XS, YS = (as_floats([point[k] for point in GRID]) for k in (0, 1))


def areas(points: qk.results.PrPoints) -> np.ndarray:
    """Strips between the points under straight lines."""
    return np.diff(points.recall) * (points.precision[1:] + points.precision[:-1]) / 2


def grid_points(x: Any, y: Any, positives: Any, negatives: Any) -> dict[str, Any]:
    classes = {"positives": positives, "negatives": negatives}
    found = every.record("pr", qk.roc_to_pr(x, y, **classes))
    return found | every.record("numbers", qk.roc_to_pr(x, y, positives=4, negatives=9.5))


def test_conversion_of_a_grid(mode: Mode):
    found = mode.run(grid_points, XS, YS, np.asarray(4), np.asarray(9.5))
    wanted = [ex.roc_to_pr(*point, positives=4, negatives=Fraction(19, 2)) for point in GRID]
    for which in ("pr", "numbers"):
        for field in ("recall", "precision"):
            exact = as_floats([getattr(point, field) for point in wanted])
            assert ulps(found[f"{which}.{field}"], exact) <= 4


def test_the_way_back_of_a_grid(mode: Mode):
    """From points that can be reached; precision 0 leaves the false positives open."""

    def back(recall: Any, precision: Any) -> Any:
        return qk.pr_to_roc(recall, precision, positives=4, negatives=40)

    reachable = [point for point in GRID if point[1] > 0 or point[0] == 0]
    columns = [as_floats([point[k] for point in reachable]) for k in (0, 1)]
    found = mode.run(back, *columns)
    wanted = [ex.pr_to_roc(*point, positives=4, negatives=40) for point in reachable]
    for field in ("fpr", "tpr"):
        exact = as_floats([getattr(point, field) for point in wanted])
        rounding = 8 * np.finfo(getattr(found, field).dtype).eps
        np.testing.assert_allclose(getattr(found, field), exact, rounding, rounding)


# the way between two cuts


def test_table_1():
    points = qk.interpolate_pr((5, 5), (30, 10), positives=20)
    np.testing.assert_array_equal(points.precision.round(3), TABLE_1)
    np.testing.assert_allclose(points.recall, np.arange(5, 11) / 20, rtol=1e-15)


@every.reading_modes
def test_table_1_at_its_recalls(mode: Mode):
    def along(recall: Any) -> Any:
        return qk.interpolate_pr((5, 5), (30, 10), positives=20, recall=recall)

    asked = np.asarray([0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.2, 0.55, 0.0, 1.0, np.nan, -1.0])
    found = mode.run(along, asked)
    np.testing.assert_array_equal(found.precision[:6].round(3), np.asarray(TABLE_1, found[1].dtype))
    assert np.isnan(found.precision[6:]).all()
    np.testing.assert_array_equal(found.recall, asked.astype(found.recall.dtype))


WAYS = [
    ((0, 0), (0, 4)),
    ((0, 0), (8, 4)),
    ((3, 0), (3, 4)),
    ((3, 0), (7, 4)),
    ((1, 2), (1, 4)),
    ((0.5, 0.25), (2.5, 3.5)),
    ((2, 1.5), (2.25, 1.75)),
]


@pytest.mark.parametrize(("start", "stop"), WAYS)
def test_interpolation_is_exact(start: Any, stop: Any):
    found, wanted = (module.interpolate_pr(start, stop, positives=4) for module in (qk, ex))
    exact = [as_floats([getattr(point, k) for point in wanted]) for k in ("recall", "precision")]
    for got, column in zip(found, exact, strict=True):
        assert ulps(got, column) <= 4
    asked = [0, 0.125, 0.25, 0.5, 0.625, 0.875, 1]
    found = qk.interpolate_pr(start, stop, positives=4, recall=asked)
    wanted = ex.interpolate_pr(start, stop, positives=4, recall=asked)
    assert ulps(found.precision, as_floats([point.precision for point in wanted])) <= 4


@every.main_modes
def test_the_cuts_may_be_arrays(mode: Mode):
    """Many pairs of cuts at once."""

    def along(fp: Any, tp: Any, recall: Any) -> Any:
        return qk.interpolate_pr((fp, tp), (fp * 6, tp * 2), positives=20, recall=recall)

    fp, tp = np.asarray([5.0, 0.0, 2.0]), np.asarray([5.0, 10.0, 4.0])
    recall = np.asarray([0.4, 0.75, 0.5])
    found = mode.run(along, fp, tp, recall)
    pairs = zip(fp, tp, recall, strict=True)
    wanted = [
        ex.interpolate_pr((x, y), (6 * x, 2 * y), positives=20, recall=[r])[0].precision
        for x, y, r in pairs
    ]
    assert ulps(found.precision, as_floats(wanted)) <= 4


# DG Figures 6 and 7


def test_figure_6():
    """One point, recall .02 with precision 1; the printed .031 is a sum of left rectangles."""
    roc = qk.pr_to_roc(0.02, 1, positives=433, negatives=56164)
    assert tuple(roc) == (0, 0.02)
    found = 0.02 * 433
    ranking = qk.Ranking.from_points([0, 56164], [found, 433])
    assert round(float(qk.pr_auc(ranking)), 4) == 0.0287
    points = qk.interpolate_pr((0, found), (56164, 433), positives=433)
    assert round(0.02 + float(areas(points).sum()), 4) == 0.0295
    straight = 0.02 + 0.98 * (1 + points.precision[-1]) / 2
    assert round(float(straight), 2) == 0.51


def test_figure_7():
    """Curve I is best in PR space, curve II in ROC space; the printed .514 is neither area."""
    first = qk.Ranking.from_points([0, 1500, 2000], [10, 20, 20])
    second = qk.Ranking.from_points([500, 2000], [20, 20])
    assert (qk.roc_auc(first), qk.roc_auc(second)) == (0.8125, 0.875)
    assert round(float(qk.pr_auc(first)), 4) == 0.5198
    assert qk.pr_auc(second) == pytest.approx(1 / 26, rel=1e-15)
    points = qk.interpolate_pr((0, 10), (1500, 20), positives=20)
    summed = 0.5 + float(areas(points).sum())
    assert round(summed, 4) == 0.5373
    assert qk.pr_auc(first, method="trapezoid") == pytest.approx(summed, rel=1e-14)
    assert qk.pr_auc(second, method="trapezoid") == pytest.approx(1 / 26, rel=1e-14)
    assert qk.roc_hull_auc(first) == 0.8125


# bad points


def test_points_that_no_classifier_has():
    everyone = qk.pr_to_roc([1, 1], [0.1, 0.1 * (1 - 1e-15)], positives=10, negatives=90)
    np.testing.assert_allclose(everyone.fpr, 1, rtol=1e-15)
    assert everyone.fpr.max() == 1
    for precision in (0.0, np.nan):
        for recall in (0.0, 0.5):
            assert np.isnan(qk.pr_to_roc(recall, precision, **CLASSES).fpr)
    assert qk.pr_to_roc(0, 0.5, **CLASSES).fpr == 0


@every.reading_modes
def test_bad_points_are_errors_or_nan(mode: Mode):
    def points(fpr: Any, tpr: Any) -> dict[str, Any]:
        moved = qk.pr_to_roc(fpr, tpr, positives=1, negatives=4)
        return every.record("pr", qk.roc_to_pr(fpr, tpr, **CLASSES)) | every.record("roc", moved)

    x, y = np.asarray([0.5, 1.5, 0.25, 1.0]), np.asarray([0.5, 0.5, -0.25, 0.125])
    if not mode.lazy:
        return
    found = mode.run(points, x, y)
    bad = {"pr.recall": [2], "pr.precision": [1, 2], "roc.fpr": [1, 2, 3], "roc.tpr": [1]}
    for name, value in found.items():
        assert set(np.flatnonzero(np.isnan(value))) >= set(bad[name]), name
        assert not np.isnan(value[0]), name


@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_a_way_that_goes_nowhere_is_nan_when_traced():
    import jax

    def along(fp: Any, tp: Any) -> Any:
        return qk.interpolate_pr((1, 1), (fp, tp), positives=4, recall=0.5).precision

    assert jax.jit(along)(3, 3) == pytest.approx(0.5)
    for fp, tp in ((0, 3), (3, 1), (3, 0), (3, 5), (np.inf, 3), (np.nan, 3)):
        assert np.isnan(jax.jit(along)(fp, tp)), (fp, tp)
    with pytest.raises(ValueError, match=r"^stop TP must be one number that can be read"):
        jax.jit(lambda tp: qk.interpolate_pr((1, 1), (2, tp), positives=4))(3)


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
def test_numbers_beside_arrays_and_two_libraries():
    import torch

    fpr = torch.asarray([0.25, 0.5], dtype=torch.float32)
    found = qk.roc_to_pr(fpr, 1, positives=np.int64(20), negatives=torch.asarray(2000))
    assert found.precision.dtype == torch.float64
    assert found.recall.shape == (2,)
    with pytest.raises(TypeError, match=r"^fpr is an array of torch and tpr one of numpy"):
        qk.roc_to_pr(fpr, np.asarray([0.5, 0.5]), **CLASSES)
    points = qk.interpolate_pr((torch.asarray(5), 5), (30, torch.asarray(10)), positives=20)
    np.testing.assert_array_equal(np.asarray(points.precision).round(3), TABLE_1)


@pytest.mark.skipif(not available("jax"), reason="jax is not available")
def test_traced_numbers_beside_cuts_that_can_be_read():
    import jax

    def along(fp: Any, positives: Any) -> Any:
        return qk.interpolate_pr((5, 5), (fp, 10), positives=positives)

    found, wanted = jax.jit(along)(30, 20), along(30, 20)
    for got, exact in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, exact, rtol=1e-6)


# points at a rate, and points that stand out, against fractions


AT = {"recall_at": "precision", "precision_at": "recall", "tpr_at": "fpr", "fpr_at": "tpr"}
ALONE = ("equal_error_rate", "break_even_point", "kolmogorov_smirnov")
RATES = [0.0, 0.25, 0.5, 0.7, 0.9, 1.0]


def points(ranking: qk.Ranking) -> dict[str, Any]:
    """All of them, those at rates with and without points between the cuts."""
    found = {name: getattr(qk.points, name)(ranking) for name in ALONE}
    found["two sides"] = qk.points.kolmogorov_smirnov(ranking, two_sided=True)
    for name, given in AT.items():
        measure = getattr(qk.points, name)
        found[name] = measure(ranking, **{given: RATES})
        found[f"{name} between"] = measure(ranking, **{given: RATES}, interpolate=True)
    return found


def exact_points(table: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [getattr(operating, name)(table)] for name in ALONE}
    found["two sides"] = [operating.kolmogorov_smirnov(table, two_sided=True)]
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
        if hasattr(point, "sign"):
            np.testing.assert_array_equal(np.ravel(point.sign), as_floats(own[..., 3]).ravel())


@cache
def wanted_of_small_cases() -> list[dict[str, list[Any]]]:
    return [exact_points(table) for table in GROUPS]


@pytest.mark.long_program
def test_every_small_case(mode: Mode):
    found = mode.run(lambda y, s, m: points(qk.rank(y, s, where=m)), *PADDED)
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
            float(operating.kolmogorov_smirnov(table)[0]), rel=1e-14
        )


def test_det_curve():
    for (y, s), table in zip(CASES[::5], GROUPS[::5], strict=True):
        found = qk.points.det_curve(y, s)
        for column, wanted in zip(
            found, zip(*operating.det_curve(table), strict=True), strict=True
        ):
            np.testing.assert_array_equal(column, as_floats(list(wanted)))
