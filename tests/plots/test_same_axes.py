"""Displays that are drawn one after the other on the same axes look as one of all their models."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.figure import Figure

import quotakernels as qk
from plots.conftest import LABELS, SCORES
from quotakernels import plots

RANKINGS = {name: qk.rank(LABELS, scores) for name, scores in SCORES.items()}
OTHER = {"few": qk.rank([1, 0, 0, 0, 0, 1] * 10, range(60))}


def one_by_one(display: Any, rankings: dict[str, Any], **own: Any) -> Any:
    ax = Figure().subplots()
    for name, ranking in rankings.items():
        made = display.from_ranking(ranking, name=name, ax=ax, **own)
    return made


def looks(ax: Any) -> list[Any]:
    """How the curves look, and where they lie, whatever the order in which they were drawn."""
    lines = [
        (x.get_color(), str(x.get_linestyle()), x.get_marker(), x.get_xydata().round(9).tolist())
        for x in ax.lines
    ]
    bars = [(x.get_facecolor(), x.get_hatch(), x.get_bbox().bounds) for x in ax.patches]
    return [sorted(map(repr, lines)), sorted(map(repr, bars))]


CASES = [
    (plots.HitRateDisplay, {"optimal": True}),
    (plots.LiftDisplay, {}),
    (plots.QrecallDisplay, {"areas": False}),
    (plots.LiftTableDisplay, {"cumulative": True}),
    (plots.RocDisplay, {}),
    (plots.PrecisionRecallDisplay, {}),
    (plots.PowersChartDisplay, {"kind": "bprd", "iso": "informedness", "levels": (0.1, 0.3)}),
    (plots.PowersChartDisplay, {"kind": "bift", "hull": True}),
    (plots.ImpactDisplay, {"impacts": (4, -2, -1, 0)}),
]


@pytest.mark.parametrize(("display", "own"), CASES)
def test_one_by_one_is_as_all_at_once(display: Any, own: Any):
    several = one_by_one(display, RANKINGS, **own)
    at_once = display.from_ranking(RANKINGS, ax=Figure().subplots(), **own)
    assert looks(several.ax_) == looks(at_once.ax_)
    texts = [x.ax_.get_legend().get_texts() for x in (several, at_once)]
    labels = [[text.get_text() for text in each] for each in texts]
    assert labels[0] == labels[1]
    assert len(set(labels[0])) == len(labels[0])
    for axis in ("xlim", "ylim"):
        limits = [getattr(x.ax_, f"get_{axis}")() for x in (several, at_once)]
        assert limits[0] == pytest.approx(limits[1])


def test_only_the_first_model_is_shaded():
    ax = Figure().subplots()
    first, second = (
        plots.QrecallDisplay.from_ranking(x, ax=ax) for x in list(RANKINGS.values())[:2]
    )
    assert (len(first.areas_), len(second.areas_)) == (2, 0)


def test_references_of_other_examples_are_drawn_beside():
    rankings = {"one": RANKINGS["tied"], **OTHER}
    labels = one_by_one(plots.HitRateDisplay, rankings).ax_.get_legend_handles_labels()[1]
    assert labels[1:2] == ["random"]
    assert len(labels) == 3


def test_a_cleared_axes_begins_anew():
    ax = Figure().subplots()
    for _ in range(2):
        ax.clear()
        display = plots.RocDisplay.from_ranking(RANKINGS["tied"], ax=ax)
        assert display.lines_[0].get_color() == "#0072B2"
        assert display.hulls_[0].get_label().startswith("hull (area")


def test_bands_are_named_once():
    ax = Figure().subplots()
    for name, scores in SCORES.items():
        band = qk.inference.curve_band("roc", LABELS, scores, n_resamples=9, random_state=0)
        plots.RocDisplay.from_ranking(RANKINGS[name], name=name, band=band, ax=ax)
    assert len({tuple(x.get_facecolor()[0]) for x in ax.collections}) == len(SCORES)
    assert ax.get_legend_handles_labels()[1].count("confidence band") == 1
