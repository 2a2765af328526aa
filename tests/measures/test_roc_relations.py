"""Relations between the measures of ROC and PR space, and hulls that are hard to find."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, mode_fixture, parameters
from expected import as_floats, row_of, ulps
from hypothesis import given

import quotakernels as qk
from measures.test_relations import ranked_data

mode = mode_fixture(QUICK)

CLOSE = 1e-12


def vertices(curve: Any) -> list[tuple[float, float]]:
    return list(zip(curve.fp.tolist(), curve.tp.tolist(), strict=True))


@given(ranked_data())
def test_the_hull_is_above_the_curve_and_its_own_hull(data: Any):
    ranking = qk.rank(*data)
    hull = qk.roc_hull(ranking)
    assert qk.roc_hull_auc(ranking) >= max(qk.roc_auc(ranking) - CLOSE, 0.5)
    assert qk.achievable_pr_auc(ranking) >= qk.pr_auc(ranking) - CLOSE
    assert qk.achievable_pr_auc(ranking) >= data[0].mean() - CLOSE
    again = qk.roc_hull(qk.Ranking.from_points(hull.fp, hull.tp))
    assert vertices(again) == vertices(hull)
    assert qk.roc_hull_auc(qk.Ranking.from_points(hull.fp, hull.tp)) == qk.roc_hull_auc(ranking)
    on_hull = ranking.at_thresholds(hull.threshold)
    assert vertices(qk.roc_curve(on_hull)) == vertices(hull)
    assert qk.roc_auc(on_hull) == qk.roc_hull_auc(ranking)
    assert qk.pr_auc(on_hull) == pytest.approx(float(qk.achievable_pr_auc(ranking)), rel=1e-14)
    heights = np.interp(qk.roc_curve(ranking).fpr, hull.fpr, hull.tpr)
    assert np.all(qk.roc_curve(ranking).tpr <= heights + CLOSE)


# hulls that are hard to find


def chain(fp: Any, tp: Any) -> list[tuple[int, int]]:
    """The strict vertices of the upper hull by a monotone chain in Python's integers."""
    hull = [(0, 0)]
    for x, y in zip(np.asarray(fp).tolist(), np.asarray(tp).tolist(), strict=True):
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (y1 - y0) * (x - x1) > (y - y1) * (x1 - x0):
                break
            hull.pop()
        if (x, y) != hull[-1]:
            hull.append((x, y))
    return hull


def circle(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Whole points near a quarter of a circle, from the origin up and to the right."""
    angle = np.linspace(0, np.pi / 2, n)
    radius = 2**30
    points = np.unique(
        np.round(radius * np.stack([1 - np.cos(angle), np.sin(angle)])).astype(np.int64), axis=1
    )
    return points[0], points[1]


def parabola(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Each point is a vertex."""
    steps = np.arange(n)
    return np.cumsum(steps), np.cumsum(n - steps)


def line(n: int) -> tuple[np.ndarray, np.ndarray]:
    return 3 * np.arange(1, n + 1), 2 * np.arange(1, n + 1)


def hollow(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Nothing is above the diagonal."""
    tp, fp = circle(n)
    return np.append(fp[:-1], fp[-1] + 1), tp


def labels_at_random(n: int) -> tuple[np.ndarray, np.ndarray]:
    labels = np.random.default_rng(n).random(n) < 0.3
    return np.cumsum(~labels), np.cumsum(labels)


def tail(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Square roots: each chord from the origin is farthest from its point nearest to its end."""
    root = np.unique(np.floor(1.5 ** np.arange(1, 52)).astype(np.int64))
    return root * root // 1000, root


def close_to_a_chord(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A point above the chord by less than a float of 53 bits can tell: y·N - x·P = 1."""
    whole, positive = 2**28, 3**17
    y = pow(whole, -1, positive)
    return np.asarray([(y * whole - 1) // positive, whole]), np.asarray([y, positive])


WAYS = ("numpy", "strictest-device1", "jax64-jit", "jax32", "torch", "cupy")
HARD = (circle, parabola, line, hollow, labels_at_random, tail, close_to_a_chord)


@cache
def hard(make: Any, n: int) -> tuple[np.ndarray, np.ndarray, list[tuple[int, int]]]:
    fp, tp = make(n)
    return fp, tp, chain(fp, tp)


def test_the_cases_are_hard():
    assert len(hard(parabola, 300)[2]) > 290
    assert len(hard(circle, 10**5)[2]) > 10**4
    assert len(hard(line, 10)[2]) == len(hard(hollow, 10)[2]) == 2
    assert len(hard(tail, 0)[2]) > 40
    assert len(hard(close_to_a_chord, 0)[2]) == 3


def hull_of_points(fp: Any, tp: Any) -> qk.results.RocHull:
    return qk.roc_hull(qk.Ranking.from_points(fp, tp))


def strictly(found: Any) -> list[tuple[int, int]]:
    """The vertices without their padding."""
    points = vertices(found)
    return [point for k, point in enumerate(points) if k == 0 or point != points[k - 1]]


@pytest.mark.parametrize("make", HARD)
@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in WAYS]))
@pytest.mark.long_program
def test_hard_hulls(mode: Mode, make: Any):
    size = 200
    fp, tp, wanted = hard(make, size)
    if mode.float32 and max(fp[-1], tp[-1]) >= 2**31:
        pytest.skip("no such number in this mode")
    fp, tp = (np.pad(x, (0, size - len(x)), mode="edge") for x in (fp, tp))
    found = mode.run(hull_of_points, fp, tp)
    assert strictly(found) == wanted


@pytest.mark.full
@pytest.mark.parametrize("make", HARD)
@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in ("numpy", "torch")]))
def test_long_hulls(mode: Mode, make: Any):
    fp, tp, wanted = hard(make, 10**6)
    found = mode.run(hull_of_points, fp, tp)
    assert vertices(found) == wanted


@pytest.mark.long_program
@pytest.mark.parametrize("make", [circle, labels_at_random])
@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name == "jax64-jit"]))
def test_long_hulls_in_fixed_shapes(mode: Mode, make: Any):
    fp, tp, wanted = hard(make, 20_000)
    found = mode.run(hull_of_points, fp, tp)
    assert strictly(found) == wanted


@pytest.mark.full
def test_a_million_examples():
    """Scores of 32 bits: all distinct, many tied, all tied; and the area on the hull."""
    rng = np.random.default_rng(2)
    labels = rng.random(10**6) < 0.1
    for scores in (rng.random(10**6, dtype=np.float32), rng.integers(0, 1000, 10**6), labels * 0):
        curve, hull = qk.roc_curve(labels, scores), qk.roc_hull(labels, scores)
        wanted = chain(curve.fp, curve.tp)
        assert vertices(hull) == wanted
        doubled = sum((b[0] - a[0]) * (a[1] + b[1]) for a, b in pairwise(wanted))
        assert qk.roc_hull_auc(labels, scores) == doubled / (2 * wanted[-1][0] * wanted[-1][1])


@every.main_modes
@pytest.mark.long_program
def test_masses_of_all_sizes(mode: Mode):
    """Weights from 1e-20 to 1e20 on a curve whose chords lose one vertex at a time."""
    fp = np.exp(np.arange(-46.0, 46.5))
    tp = fp**0.95
    found = mode.run(hull_of_points, fp, tp)
    assert len(strictly(found)) == len(fp) + 1


@every.main_modes
@pytest.mark.long_program
def test_lists_of_a_batch_do_not_disturb_each_other(mode: Mode):
    """Many whole numbers together, and masses of far different sizes."""

    fp, tp, wanted = hard(parabola, 50)
    scales = np.asarray([1.0, 2.0**60, 2.0**-60, 1.0])[:, None]
    found = mode.run(hull_of_points, fp * scales, tp * scales)
    for row, scale in enumerate(scales[:, 0]):
        scaled = [(x * scale, y * scale) for x, y in wanted]
        assert strictly(row_of(found, row)) == scaled
    fp, tp, wanted = hard(close_to_a_chord, 50)
    found = mode.run(hull_of_points, np.tile(fp, (300, 1)), np.tile(tp, (300, 1)))
    for row in range(300):
        assert strictly(row_of(found, row)) == wanted


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters([m for m in MODES if not m.float32]))
def test_products_beyond_64_bits_beside_others(mode: Mode):
    """Rows of one batch whose turns are exact, and one whose turns are rounded."""
    fp = np.asarray([[2**20, 2**21, 2**40, 2**41], [1, 2, 3, 2**61]])
    tp = np.asarray([[2**40, 2**41, 2**42, 2**42 + 1], [1, 2, 4, 2**61]])
    found = mode.run(hull_of_points, fp, tp)
    for row in range(2):
        assert strictly(row_of(found, row)) == chain(fp[row], tp[row])


@pytest.mark.parametrize("make", [circle, parabola, tail])
def test_slopes_of_hard_hulls(make: Any):
    fp, tp, wanted = hard(make, 200)
    hull = qk.roc_hull(qk.Ranking.from_points(fp, tp))
    exact = ex.roc_hull(ex.groups_from_points(fp.tolist(), tp.tolist()))
    assert [(v.fp, v.tp) for v in exact] == wanted
    for field in ("slope_min", "slope_max", "fpr", "tpr"):
        column = as_floats([getattr(v, field) for v in exact])
        np.testing.assert_allclose(getattr(hull, field), column, rtol=1e-15)


# areas in ROC and PR space on ten thousand random small cases with ties, and again weighted


CASES, LENGTH = 10_000, 12
AREAS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "pr_auc": (qk.pr_auc, ex.pr_auc_exact),
    "roc_hull_auc": (qk.roc_hull_auc, ex.roc_hull_auc),
    "achievable_pr_auc": (qk.achievable_pr_auc, ex.achievable_pr_auc),
}


@pytest.mark.full
@pytest.mark.parametrize(("weighted", "units"), [(False, 4), (True, 16)])
def test_areas_are_within_some_units_of_the_exact_ones(weighted: bool, units: int):
    draw = np.random.default_rng(17)
    shape = (CASES, LENGTH)
    labels = draw.integers(0, 2, shape)
    scores = draw.integers(0, draw.integers(2, 12, (CASES, 1)), shape)
    where = np.arange(LENGTH) < draw.integers(1, LENGTH + 1, (CASES, 1))
    weights = draw.random(shape) * 10.0 ** draw.integers(-3, 4, shape) if weighted else None
    ranking = qk.rank(labels, scores, sample_weight=weights, where=where)
    groups = [
        ex.groups(
            labels[row].tolist(),
            scores[row].tolist(),
            None if weights is None else weights[row].tolist(),
            where[row].tolist(),
        )
        for row in range(CASES)
    ]
    for name, (found, exact) in AREAS.items():
        values = found(ranking)
        assert ulps(values, as_floats([exact(row) for row in groups])) <= units, name
        for row in range(0, CASES, 50):
            there = where[row]
            w = None if weights is None else weights[row, there]
            alone = found(labels[row, there], scores[row, there], sample_weight=w)
            assert ulps(alone, as_floats(exact(groups[row]))) <= units, name
