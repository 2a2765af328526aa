"""What the page on Davis & Goadrich shows, and what it says of the printed numbers."""

from __future__ import annotations

import math
from pathlib import Path

import _pages
import davis_goadrich as dg
import numpy as np
import pytest

import quotakernels as qk


@pytest.mark.parametrize("name", dg.SECTIONS)
def test_page_shows_what_the_script_makes(name: str):
    text = (_pages.HERE / dg.PAGE).read_text(encoding="utf-8")
    assert _pages.section(text, name) == dg.SECTIONS[name]()


@pytest.mark.full
def test_hulls_of_a_campaign_keep_less_than_they_promise(
    shared: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(_pages.VARIABLE, str(shared))
    made = dg.chosen()
    text = (_pages.HERE / dg.PAGE).read_text(encoding="utf-8")
    assert _pages.section(text, "chosen") == made
    for row in made.splitlines()[2:]:
        tuning, chosen, every, own = (float(x) for x in row.strip("| ").split(" | ")[-4:])
        assert chosen < tuning
        assert own > max(chosen, every)


def test_table_1_is_reproduced():
    points = qk.interpolate_pr(dg.A, dg.B, positives=dg.POSITIVES)
    assert tuple(points.precision.round(3)) == dg.TABLE_1


def test_printed_areas_of_figure_6_are_left_rectangles_and_a_straight_line():
    assert round(dg.rectangles(dg.FIGURE_6, "left"), 3) == 0.031
    end = 433 / (433 + 56164)
    assert dg.straight_area(dg.FIGURE_6) == pytest.approx(0.02 + 0.98 * (1 + end) / 2)
    assert round(dg.trapezoid(dg.FIGURE_6), 4) == 0.0295


def test_right_area_of_figure_6_by_its_antiderivative():
    """∫ t/(t + k·(t - a)) dt from a to P, over P, with the skew k."""
    a, positives, k = 8.66, 433.0, 56164 / (433 - 8.66)
    b, c = 1 + k, -k * a
    below = [t / b - c / b**2 * math.log(b * t + c) for t in (a, positives)]
    assert qk.pr_auc(dg.FIGURE_6) == pytest.approx((a + below[1] - below[0]) / positives)


def test_curves_of_figure_7_change_places():
    one, two = dg.CURVES.values()
    assert qk.roc_auc(one) < qk.roc_auc(two)
    assert qk.pr_auc(one) > 10 * qk.pr_auc(two)
    assert not qk.dominates(one, two)
    assert not qk.dominates(two, one)
    areas = [qk.pr_auc(one), qk.pr_auc(one, method="trapezoid"), dg.straight_area(one)]
    areas += [dg.rectangles(one, side) for side in ("left", "right")]
    assert all(round(float(area), 3) != 0.514 for area in areas)


def test_printed_areas_of_figure_7():
    one, two = dg.CURVES.values()
    assert (qk.roc_auc(one), qk.roc_auc(two)) == (0.8125, 0.875)
    assert int(1000 * qk.pr_auc(two)) == 38
    assert round(dg.late_trapezoid(one), 6) == 0.514003


def test_rectangles_enclose_the_area_and_their_mean_is_the_trapezoid():
    for curve in (dg.FIGURE_6, *dg.CURVES.values()):
        sides = [dg.rectangles(curve, side) for side in ("right", "left")]
        assert min(sides) - 1e-15 <= qk.pr_auc(curve) <= max(sides) + 1e-15
    for curve in (dg.EXAMPLE, *dg.CURVES.values()):
        assert dg.trapezoid(curve) == pytest.approx(qk.pr_auc(curve, method="trapezoid"))


def test_the_dent_of_figure_5_is_not_on_the_hull():
    hull = qk.roc_hull(dg.EXAMPLE)
    assert 12 not in hull.tp
    assert qk.achievable_pr_auc(dg.EXAMPLE) > qk.pr_auc(dg.EXAMPLE)
    path = dg.pr_path(dg.EXAMPLE)
    assert np.trapezoid(path[1], path[0]) == pytest.approx(qk.pr_auc(dg.EXAMPLE), rel=1e-3)
