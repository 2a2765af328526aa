"""Powers' charts, the areas under them, under κ and under parts of curves, against exact ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, mode_fixture, parameters
from everything import main_modes
from exact.charts import Point, log2
from expected import as_floats, assert_within, compact, row_of

import quotakernels as qk
from measures.test_published import columns as published
from measures.test_small_cases import padded_cases

mode = mode_fixture(QUICK)

KINDS: tuple[Any, ...] = (
    *("pn", "roc", "boc", "boc_dual", "pr", "pr_reciprocal", "pr_log", "lift"),
    *("bift", "bprd", "bird", "bird_informedness", "kappa", "kappa_bias", "scott", "scott_bias"),
)
PARTS: tuple[dict[str, Any], ...] = (
    {"max_fpr": 0.5},
    {"max_fpr": 0.3, "standardized": False},
    {"min_tpr": 0.5},
    {"min_tpr": 0.7, "standardized": False},
    {"max_fpr": 0.75, "min_tpr": 0.25, "standardized": False},
)
PR_PARTS: tuple[dict[str, Any], ...] = (
    {"min_recall": 0.3, "max_recall": 0.7},
    {"min_recall": 0.5},
    {"max_recall": 0.45, "start": "horizontal"},
)
KAPPAS = ("cohen", "scott", "bennett")


def exact_pr(groups: Any, **part: Any) -> float | None:
    return ex.pr.partial_pr_auc(groups, **{"min_recall": 0.0, "max_recall": 1.0} | part)


AREAS: dict[str, list[tuple[Any, Callable[..., Any]]]] = {
    "kappa": [
        (qk.charts.auk.with_options(kappa=x), partial(ex.charts.auk, kappa=x)) for x in KAPPAS
    ],
    "chart": [
        (qk.charts.chart_area.with_options(kind=kind), exact)
        for kind, exact in {
            "pn": lambda g: ex.charts.area_under(ex.charts.pn_points(g)),
            "roc": ex.roc_auc,
            "boc": ex.charts.boc_area,
            "boc_dual": ex.charts.boc_dual_area,
            "pr": ex.pr_auc_exact,
            "lift": ex.charts.lift_area,
            "bift": ex.charts.bift_area,
            "bprd": ex.charts.bprd_area,
        }.items()
    ],
    "ROC": [(qk.roc_auc.with_options(**x), partial(ex.partial_auc, **x)) for x in PARTS],
    "PR": [(qk.pr_auc.with_options(**x), partial(exact_pr, **x)) for x in PR_PARTS],
}
"""Kinds of areas, and each with its exact counterpart."""
LENGTH = 4
CASES = list(ex.cases(LENGTH))
GROUPS = [ex.groups(y, s) for y, s in CASES]
PADDED = padded_cases(LENGTH, ex.cases)
"""Labels, scores and a mask of these cases."""
WEIGHTED = [(y, s, [float(x) for x in w]) for y, s, w in ex.weighted_cases(3) if len(y) == 3]
RNG = np.random.default_rng(12)
CLASSES = {"positives": 5.0, "negatives": 3.0}


# the exact charts


def reciprocal(value: Fraction | None) -> Fraction | float | None:
    return None if value is None else math.inf if value == 0 else 1 / value


def bits(value: Fraction | None) -> float | None:
    return None if value is None else math.inf if value == 0 else -log2(value)


@cache
def wanted_points(groups: tuple[ex.Group, ...], kind: str) -> list[Point]:
    """The points of the empty cut and of every tie group's end."""
    if kind == "roc":
        return [Point(v.fpr, v.tpr) for v in ex.roc_curve(groups)]
    if kind == "pr":
        return [Point(v.recall, v.precision) for v in ex.pr_curve(groups)]
    if kind in ("pr_reciprocal", "pr_log"):
        function = reciprocal if kind == "pr_reciprocal" else bits
        pairs = ex.charts.chart(groups, ex.confusion.recall, ex.confusion.precision)
        return [Point(function(x), function(y)) for x, y in pairs]
    points: list[Point] = getattr(ex.charts, f"{kind}_points")(groups)
    return points


def assert_chart(kind: str, found: Any, groups: Any, *, units: float) -> None:
    """The exact points, the last of them repeated; rounded by so many 2⁻⁵³ of at least 1."""
    wanted = wanted_points(tuple(groups), kind)
    unit = 2.0**-53 if np.asarray(found.x).dtype == np.float64 else 2.0**-24
    for axis in ("x", "y"):
        column = np.asarray(getattr(found, axis))
        exact = as_floats([getattr(point, axis) for point in wanted])
        exact = np.append(exact, np.full(column.size - exact.size, exact[-1]))
        there = np.isinf(exact)
        np.testing.assert_array_equal(column[there], exact[there], err_msg=f"{kind} {axis}")
        rest = np.where(there, 0, column), np.where(there, 0, exact)
        tolerance = units * unit * np.maximum(1, np.abs(rest[1]))
        assert_within(*rest, tolerance, f"{kind} {axis}")


def charts(ranking: qk.Ranking) -> dict[str, Any]:
    return {kind: qk.charts.powers_chart(ranking, kind=kind) for kind in KINDS}


def areas(kind: str, ranking: qk.Ranking) -> list[Any]:
    return [area(ranking) for area, _ in AREAS[kind]]


@cache
def exact_areas(kind: str, groups: tuple[ex.Group, ...]) -> list[Any]:
    return [exact(groups) for _, exact in AREAS[kind]]


def assert_areas(kind: str, found: list[Any], groups: Any, units: float) -> None:
    """Gini is a difference, which BPRD shows over its whole range, 1/π; κ has both signs."""
    wanted = as_floats([exact_areas(kind, tuple(g)) for g in groups])
    for k, value in enumerate(found):
        unit = 2.0**-53 if np.asarray(value).dtype == np.float64 else 2.0**-24
        scale = np.maximum(1, np.abs(wanted[:, k]))
        if AREAS[kind][k][1] is ex.charts.bprd_area:
            scale = as_floats([ex.charts.bprd_points(g)[-1].x for g in groups])
        assert_within(value, wanted[:, k], units * unit * scale, f"{kind} {k}")


UNITS = {kind: 8.0 if kind.startswith(("bird", "pr_")) else 1.0 for kind in KINDS}


@main_modes
@pytest.mark.long_program
def test_every_small_case(mode: Mode):
    found = mode.run(lambda y, s, m: charts(qk.rank(y, s, where=m)), *PADDED)
    for row, groups in enumerate(GROUPS):
        for kind, chart in found.items():
            assert_chart(kind, row_of(chart, row), groups, units=UNITS[kind])


@pytest.mark.parametrize("kind", AREAS)
def test_areas_of_every_small_case(mode: Mode, kind: str):
    found = mode.run(lambda y, s, m: areas(kind, qk.rank(y, s, where=m)), *PADDED)
    assert_areas(kind, found, GROUPS, 4)


@pytest.mark.long_program
@pytest.mark.parametrize("kind", AREAS)
def test_areas_with_weights(mode: Mode, kind: str):
    columns = (np.asarray(x) for x in zip(*WEIGHTED, strict=True))
    found = mode.run(lambda y, s, w: areas(kind, qk.rank(y, s, sample_weight=w)), *columns)
    assert_areas(kind, found, [ex.groups(*case) for case in WEIGHTED], 4)


@pytest.mark.long_program
def test_weights(mode: Mode):
    """In every mode; one kind stands for all, since their cells are made in the same way."""

    def run(y: Any, s: Any, w: Any) -> Any:
        ranking = qk.rank(y, s, sample_weight=w)
        return qk.charts.powers_chart(ranking, kind="boc_dual")

    found = mode.run(run, *(np.asarray(x) for x in zip(*WEIGHTED, strict=True)))
    for row, case in enumerate(WEIGHTED):
        assert_chart("boc_dual", row_of(found, row), ex.groups(*case), units=8)


@pytest.mark.full
def test_compact_charts_have_a_point_per_cut_and_its_threshold_and_quota():
    for (y, s), groups in zip(CASES, GROUPS, strict=True):
        curve, found = qk.qrecall_curve(y, s), charts(qk.rank(y, s))
        quota, threshold = compact(curve.quota, curve.quota, curve.threshold)
        for kind, chart in found.items():
            assert chart.x.shape == (len(groups) + 1,)
            assert_chart(kind, chart, groups, units=UNITS[kind])
            np.testing.assert_array_equal(chart.threshold, threshold)
            np.testing.assert_array_equal(chart.quota, quota)
            assert chart.quota.dtype.kind == "i"


@pytest.mark.full
def test_random_weights_of_many_sizes():
    for _ in range(150):
        n = RNG.integers(2, 14)
        y, s = RNG.integers(0, 2, n), RNG.integers(0, 9, n).astype(float)
        w = RNG.random(n) * 10.0 ** RNG.integers(-4, 5, n)
        y[:2] = 0, 1
        ranking, columns = qk.rank(y, s, sample_weight=w), [x.tolist() for x in (y, s, w)]
        groups = ex.groups(*columns)
        for kind, chart in charts(ranking).items():
            assert_chart(kind, chart, groups, units=16)
            assert chart.quota.dtype == np.float64
        for kind in AREAS:
            assert_areas(kind, areas(kind, ranking), [groups], 8 if kind == "kappa" else 16)
            assert_areas(kind, areas(kind, qk.rank(y, s)), [ex.groups(*columns[:2])], 4)


def test_a_class_of_little_weight_keeps_its_digits():
    """Masses are added up from either end, so that the last cuts are as exact as the first."""
    y, s = [1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0]
    w = [1e9, 1e-9, 1e-9, 3e-9]
    chart = qk.charts.powers_chart(y, s, sample_weight=w, kind="pr_log")
    groups = ex.groups(y, s, w)
    exact = [bits(ex.confusion.recall(t)) for t in ex.confusion.tables_at_cuts(groups)]
    np.testing.assert_allclose(chart.x[1:], exact[1:], rtol=1e-15)
    assert 0 < chart.x[1] < 2e-18


def test_logarithms_of_any_size():
    far = qk.charts.chart_points(1e300, 1e-300, positives=1e-300, negatives=1e300, kind="pr_log")
    assert (far.x, far.y) == (0, pytest.approx(600 * math.log2(10)))
    sizes = {"positives": 0.0, "negatives": 1e300, "smoothing": 1e-200}
    far = qk.charts.chart_points(1e300, 0.0, kind="bird", **sizes)
    assert (far.x, far.y) == (pytest.approx(500 * math.log2(10)), 0)
    sizes = {"positives": 1e200, "negatives": 1e200, "smoothing": 1e-100}
    far = qk.charts.chart_points(0.0, 1e200, kind="bird", **sizes)
    assert (far.x, far.y) == (0, pytest.approx(300 * math.log2(10)))


def test_information_near_chance():
    sizes = {"positives": 1e9, "negatives": 3e9, "kind": "bird_informedness"}
    y = qk.charts.chart_points([0, 1e9, 999999999], [1, 1e9 / 3, 333333333], **sizes).y
    np.testing.assert_allclose(y[0], 1e-9 / math.log(2) * (1 + 0.5e-9), rtol=1e-15)
    assert abs(y[1]) < 1e-16
    assert y[2] == 0


@pytest.mark.parametrize("smoothing", [0.25, 1, 10])
def test_smoothing(smoothing: float):
    for (y, s), groups in zip(CASES[::5], GROUPS[::5], strict=True):
        chart = qk.charts.powers_chart(y, s, kind="bird", smoothing=smoothing)
        wanted = ex.charts.bird_points(groups, Fraction(smoothing))
        exact = as_floats(wanted)
        np.testing.assert_allclose(np.stack(chart[:2], axis=-1), exact, 1e-15, 1e-15)


# areas


@pytest.mark.full
@pytest.mark.parametrize("size", [10**4, 10**9, 10**15])
def test_kappa_of_large_counts_of_classes_of_any_ratio(size: int):
    for _ in range(40):
        shares = RNG.choice([1, 1e-3, 1e-9], (2, 1)) * RNG.random((2, RNG.integers(2, 20)))
        positives, negatives = np.maximum(size * shares, 1).astype(np.int64)
        scores = np.arange(positives.size, 0, -1)
        counts = positives + negatives
        ranking = qk.Ranking.from_counts(scores, counts, positives)
        groups = ex.groups_from_counts(*(x.tolist() for x in (scores, counts, positives)))
        assert_areas("kappa", areas("kappa", ranking), [groups], 4)


def test_kappa_of_nearly_as_many_positives_as_negatives():
    """Where a logarithm of nearly 1 is divided by its square."""
    for gap in (1e-3, 1e-8, 1e-15, 0.0):
        y, s, w = [1, 0, 0, 1, 0], [5.0, 4, 4, 2, 1], [1.0, 0.5, 0.25, 1.0, 1.25 + gap]
        ranking = qk.rank(y, s, sample_weight=w)
        assert_areas("kappa", areas("kappa", ranking), [ex.groups(y, s, w)], 4)


def test_kappa_where_a_class_nearly_vanishes():
    for w in ([1e-100, 2e60, 1e-100, 1e60, 3e60], [1e60, 2e-100, 1e60, 1e-100, 1e-100]):
        y, s = [1, 0, 1, 0, 0], [5.0, 4, 3, 2, 1]
        wanted = ex.charts.auk(ex.groups(y, s, w))
        np.testing.assert_allclose(qk.charts.auk(y, s, sample_weight=w), wanted, rtol=1e-14)


def test_partial_areas_of_proc(shared: Path):
    data = published(shared / "published" / "proc_asah.csv")
    y, wfns = (data[name].astype(float) for name in ("y_true", "wfns"))
    found = qk.roc_auc(y, wfns, max_fpr=0.1, standardized=False)
    assert found == pytest.approx(0.0334417344173, abs=5e-14)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.float64, np.asarray])
def test_rates_of_any_precision(kind: Any):
    y, s = RNG.integers(0, 2, 30), RNG.integers(0, 9, 30)
    for name in ("max_fpr", "min_tpr"):
        wanted = qk.roc_auc(y, s, **{name: 0.125})
        np.testing.assert_array_equal(qk.roc_auc(y, s, **{name: kind(0.125)}), wanted)
        tenth = float(kind(0.1)[()])
        found = qk.roc_auc(y, s, **{name: kind(0.1)})
        np.testing.assert_array_equal(found, qk.roc_auc(y, s, **{name: tenth}))
    for name in ("min_recall", "max_recall"):
        wanted = qk.pr_auc(y, s, **{name: 0.125})
        np.testing.assert_array_equal(qk.pr_auc(y, s, **{name: kind(0.125)}), wanted)
    with pytest.raises(ValueError, match="^max_fpr must be a rate above 0 and at most 1; got "):
        qk.roc_auc(y, s, max_fpr=kind(1.5))


@pytest.mark.parametrize("step", [2.0**-10, 2.0**-30, 2.0**-40, 2.0**-50])
def test_narrow_parts_keep_their_digits(step: float):
    y, s = RNG.integers(0, 2, 40), RNG.integers(0, 6, 40)
    groups, top, bottom = ex.groups(y.tolist(), s.tolist()), 1 - step, step
    ends: tuple[dict[str, Any], ...] = (
        {"min_tpr": top},
        {"max_fpr": bottom},
        {"min_tpr": top, "max_fpr": top},
    )
    for part in ends:
        part = part | {"standardized": False}
        for model, rows in ((s, groups), (-s, ex.groups(y.tolist(), (-s).tolist()))):
            found, wanted = qk.roc_auc(y, model, **part), float(ex.partial_auc(rows, **part))
            assert found == pytest.approx(wanted, rel=1e-14, abs=0)
    for band in ({"min_recall": top}, {"max_recall": bottom}):
        found, wanted = qk.pr_auc(y, s, **band), exact_pr(groups, **band)
        assert found == pytest.approx(float(wanted), rel=1e-13, abs=0)
    one = qk.pr_auc([1, 0, 1], [1, 1, 1], min_recall=0.25, max_recall=0.25 + step)
    assert one == pytest.approx(2 / 3 * step, rel=1e-14, abs=0)


# single points, and several classes


@main_modes
@pytest.mark.long_program
def test_points_are_where_the_cuts_are(mode: Mode):
    """But for the precision of the empty cut."""
    kinds = ("pr", "bird") if mode.library == "jax" else KINDS

    def run(y: Any, s: Any) -> Any:
        ranking = qk.rank(y, s)
        roc = qk.roc_curve(ranking)
        sizes = {"positives": roc.tp[..., -1:], "negatives": roc.fp[..., -1:]}
        points = {
            kind: qk.charts.chart_points(roc.fp, roc.tp, kind=kind, **sizes) for kind in kinds
        }
        return points, {kind: qk.charts.powers_chart(ranking, kind=kind) for kind in kinds}

    points, cuts = mode.run(run, *(x[:60] for x in PADDED[:2]))
    for kind in kinds:
        x, y = cuts[kind][:2]
        if kind == "pr":
            empty = cuts[kind].quota == 0
            assert np.isnan(points[kind].y[empty]).all()
            y = np.where(empty, np.nan, y)
        # of tensors the cuts are NumPy's, whose logarithms may differ by a last place
        places = 4 * np.finfo(x.dtype).eps if mode.library == "torch" else 0
        np.testing.assert_allclose(points[kind].x, x, rtol=places, atol=0)
        np.testing.assert_allclose(points[kind].y, y, rtol=places, atol=0)


# bad calls


LAZY = [m for m in MODES if m.name in ("jax32-jit", "strictest-device1", "torch-vmap", "cupy")]


@pytest.mark.parametrize("mode", parameters(LAZY))
def test_bad_points_that_cannot_be_read_are_nan(mode: Mode):
    fp = np.asarray([0.0, 1, -1, 6, np.inf, np.nan])
    found = mode.run(lambda fp: qk.charts.chart_points(fp, 1.0, kind="bift", **CLASSES), fp)
    np.testing.assert_array_equal(np.isnan(found.y), [False, False, True, True, True, True])
