"""Lines of equal measures: they have their level, and go from border to border."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from backends import MODES, Mode, parameters
from everything import main_modes
from test_charts import KINDS

import quotakernels as qk
from quotakernels.measures.charts import Of

OF: tuple[Any, ...] = get_args(Of)
LEVELS: dict[str, tuple[float, ...]] = {
    "informedness": (-1, -0.75, -1 / 3, 0, 0.1, 0.5, 1),
    "cost": (0, 0.01, 0.25, 0.7),
    "skew": (0, 0.1, 1, 2.5, 40, np.inf),
    "arithmetic_mean": (0, 1e-3, 0.2, 0.5, 0.55, 0.8, 1),
    "harmonic_mean": (0, 1e-3, 0.2, 0.5, 0.8, 1),
    "geometric_mean": (0, 1e-3, 0.2, 0.5, 0.8, 1),
}
SIZES = [(40.0, 60.0), (3.0, 3.0), (1.0, 1e4), (500.0, 0.3)]
MEANS = ("arithmetic_mean", "harmonic_mean", "geometric_mean")
SIZE = {"positives": 40, "negatives": 60}


def costs(of: str) -> dict[str, float]:
    return {"cost_fp": 0.7, "cost_fn": 1.3} if of == "cost" else {}


def level_at(of: str, fp: Any, tp: Any, positives: float, negatives: float) -> Any:
    """What should be the same all along the line; for lines without a level, 0."""
    table = qk.tables.ConfusionTable(
        tp, fp, np.clip(positives - tp, 0, None), np.clip(negatives - fp, 0, None)
    )
    with np.errstate(all="ignore"):
        return {
            "informedness": lambda: qk.informedness(table),
            "cost": lambda: qk.expected_cost(table, **costs("cost")),
            "skew": lambda: (positives + negatives - fp - tp) / (fp + tp),
            "arithmetic_mean": lambda: (qk.recall(table) + qk.precision(table)) / 2,
            "harmonic_mean": lambda: qk.f_score(table),
            "geometric_mean": lambda: qk.tables.g_measure(table),
            "chance": lambda: qk.informedness(table),
            "break_even": lambda: qk.precision(table) - qk.recall(table),
        }[of]()


def assert_line(of: str, level: float, line: Any, positives: float, negatives: float) -> None:
    """Points of the ROC square, from border to border and without turning round."""
    x, y = line
    assert ((x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)).all()
    falls = of in ("skew", "break_even")
    assert (np.diff(x) >= -1e-15).all()
    assert (np.diff(-y if falls else y) >= -1e-15).all()
    assert x[0] == 0 or y[0] == (1 if falls else 0)
    assert x[-1] == 1 or y[-1] == (0 if falls else 1) or level == np.inf
    found = level_at(of, x * negatives, y * positives, positives, negatives)
    if level < np.inf:  # where no one is selected the skew is infinite, and means are undefined
        there = x + y > 0
        np.testing.assert_allclose(found[there], level, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("of", OF)
def test_lines_have_their_level_from_border_to_border(of: Any, sizes: Any):
    given = {"positives": sizes[0], "negatives": sizes[1], "kind": "roc", **costs(of)}
    for level in LEVELS.get(of, (None,)):
        line = qk.charts.iso_line(level, of=of, **given)
        assert line.x.shape == line.y.shape == (101,)
        highest = (0.7 * sizes[1] + 1.3 * sizes[0]) / sum(sizes)
        if of == "cost" and level > highest:
            assert np.isnan(line).all()
        else:
            assert_line(of, 0.0 if level is None else level, line, *sizes)


def test_bent_lines_have_points_everywhere():
    """One positive among a million: steps of one of the rates alone would leave gaps."""
    for of in ("arithmetic_mean", "geometric_mean"):
        line = qk.charts.iso_line(0.3, of=of, kind="roc", positives=1, negatives=1e6)
        for axis in line:
            assert np.diff(axis).max() <= 0.0201 * (axis[-1] - axis[0])


@pytest.mark.full
@main_modes
@pytest.mark.long_program
def test_lines_in_every_chart_and_mode(mode: Mode):
    """They are where `chart_points` has their decisions, and in "pr" at the limit for none."""
    kinds = ("pr",) if mode.library == "jax" else KINDS
    levels = np.asarray([0.2, 0.5, 0.8])

    def run(levels: Any) -> Any:
        found, sizes = {}, {"positives": levels * 0 + 40, "negatives": 60}
        for of in OF:
            level = () if of in ("chance", "break_even") else (levels,)
            options = {"of": of, "points": 7, **sizes, **costs(of)}
            fp, tp = qk.charts.iso_line(*level, kind="pn", **options)
            for kind in kinds:
                points = qk.charts.chart_points(fp, tp, kind=kind, positives=40, negatives=60)
                found[of, kind] = (qk.charts.iso_line(*level, kind=kind, **options), points)
        return found

    close = 1e-5 if mode.float32 else 1e-14
    for (of, kind), (line, points) in mode.run(run, levels).items():
        assert line.x.shape == (3, 7)
        for one, other in zip(line, points, strict=True):
            defined = ~np.isnan(other) | (kind != "pr")
            np.testing.assert_allclose(
                one[defined], other[defined], close, close, err_msg=f"{of} {kind}"
            )
            assert not np.isnan(one[~defined]).any()


@pytest.mark.parametrize("of", ["chance", "informedness", "cost", *MEANS])
def test_precision_begins_at_its_limit(of: Any):
    given: dict[str, Any] = {"of": of, "kind": "pr", **SIZE, **costs(of)}
    levels = {"cost": [0.52], "chance": [], "informedness": [0.0], "harmonic_mean": [0.0]}
    level = levels.get(of, [0.3 if of == "arithmetic_mean" else 0.0])
    limit, second = (qk.charts.iso_line(*level, points=n, **given) for n in (3, 100_001))
    assert limit.x[0] == 0
    assert not np.isnan(limit.y).any()
    np.testing.assert_allclose(limit.y[0], second.y[1], rtol=1e-3)
    if of == "arithmetic_mean":
        assert limit.y[0] == 0.6
        below = qk.charts.iso_line([0.0, 0.2], points=5, **given)
        np.testing.assert_array_equal(below.y[:, 0], [0, 0.4])


def test_where_nobody_is_selected_there_is_no_precision():
    line = qk.charts.iso_line(np.inf, of="skew", kind="pr", **SIZE)
    assert np.isnan(line.y).all()
    assert (line.x == 0).all()
    assert np.isnan(qk.charts.iso_line(of="chance", kind="pr_log", **SIZE).y[0])


def test_numbers_are_broadcast():
    levels = [[0.1], [0.5]]
    found = qk.charts.iso_line(
        levels, of="informedness", kind="lift", positives=[1, 2, 5], negatives=7, points=4
    )
    assert found.x.shape == found.y.shape == (2, 3, 4)
    one = qk.charts.iso_line(
        0.5, of="informedness", kind="lift", positives=2, negatives=7, points=4
    )
    np.testing.assert_array_equal(found.x[1, 1], one.x)
    smooth = qk.charts.iso_line(of="chance", kind="bird", smoothing=[1, 2], points=4, **SIZE)
    assert smooth.x.shape == (2, 4)


@pytest.mark.parametrize("of", OF)
def test_undefined_without_a_class(of: Any):
    level = () if of in ("chance", "break_even") else (0.5,)
    for sizes in ({"positives": 0, "negatives": 3}, {"positives": 3, "negatives": 0}):
        line = qk.charts.iso_line(*level, of=of, kind="pn", **sizes, **costs(of))
        assert np.isnan(line).all()


def test_levels_that_cannot_be_reached():
    given = {"of": "cost", "kind": "roc", **SIZE}
    line = qk.charts.iso_line([0.1, 0.6, 0.61], cost_fp=1, cost_fn=0, **given)
    np.testing.assert_array_equal(np.isnan(line.x).any(axis=-1), [False, False, True])
    np.testing.assert_array_equal(line.x[1], 1)
    nothing = qk.charts.iso_line([0.0, 0.1], cost_fp=0, cost_fn=0, **given)
    assert np.isnan(nothing).all()
    for cost_fp, cost_fn in np.random.default_rng(3).random((30, 2)):
        dearest = (cost_fp * 60 + cost_fn * 40) / 100
        line = qk.charts.iso_line(dearest, cost_fp=cost_fp, cost_fn=cost_fn, **given)
        assert not np.isnan(line).any()
    corner = qk.charts.iso_line(0.1 * 40 / 100 + 0.3 * 60 / 100, cost_fp=0.3, cost_fn=0.1, **given)
    np.testing.assert_allclose(corner.x, 1, rtol=1e-15)
    np.testing.assert_allclose(corner.y, 0, atol=1e-15)


# bad calls


LAZY = [m for m in MODES if m.name in ("jax32-jit", "strictest-device1", "torch-vmap", "cupy")]


@pytest.mark.parametrize("mode", parameters(LAZY))
def test_bad_levels_that_cannot_be_read_are_nan(mode: Mode):
    levels = np.asarray([0.5, 1.5, np.nan, -0.1])
    means = ("harmonic_mean", "geometric_mean")
    found = mode.run(
        lambda x: {of: qk.charts.iso_line(x, of=of, kind="pn", points=5, **SIZE) for of in means},
        levels,
    )
    for line in found.values():
        for axis in line:
            np.testing.assert_array_equal(np.isnan(axis).all(axis=-1), [False, True, True, True])
            assert not np.isnan(axis[0]).any()
