"""The pictures as a whole, compared with one that was looked at.

``PYTHONPATH=. python tests/plots/test_images.py`` writes it anew.  It has no text, whose letters
depend a little on the library that draws them; `tests/contracts` keeps the words.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images

import quotakernels as qk
from quotakernels import plots

BASELINE = Path(__file__).with_name("displays.png")
STYLE = {
    **matplotlib.rcParamsDefault,
    "backend": "Agg",
    "font.family": "DejaVu Sans",
    "svg.hashsalt": "quotakernels",
}


def scored(n: int = 50) -> tuple[Any, dict[str, Any]]:
    """Labels and scores of whole numbers, the same with every generator of random numbers."""
    place = np.arange(n)
    labels = (place * 7 % 10 < 4).astype(int)
    distinct = 10 * (place * 37 % 50 + 9 * labels) + labels
    return labels, {"tied": distinct // 70, "distinct": distinct}


def sheet() -> Figure:
    """All displays on one small sheet, without text."""
    labels, scores = scored()
    figure = Figure(figsize=(6, 6), dpi=50)
    axes = figure.subplots(4, 3).flat
    options = {"legend": False}
    made = lambda display, **own: display.from_predictions(  # noqa: E731
        labels, own.pop("scores", scores), ax=next(axes), **own
    )
    made(plots.HitRateDisplay, optimal=True, **options)
    made(plots.QrecallDisplay, scores=-scores["tied"] % 5, **options)
    made(plots.LiftDisplay, percent=True, **options)
    made(plots.LiftTableDisplay, bins=4, **options)
    made(plots.RocDisplay, **options)
    made(plots.PrecisionRecallDisplay, **options)
    made(plots.ImpactDisplay, impacts=(4, -2, -1, 0), **options)
    made(plots.DominanceDisplay)
    for kind, iso in (("bift", "informedness"), ("bird", "harmonic_mean"), ("bprd", "skew")):
        made(plots.PowersChartDisplay, kind=kind, iso=iso, levels=(0.2, 0.6), **options)
    at = np.linspace(0.1, 1, 10)
    edges = (x * np.ones(10) for x in (0.6, 0.4, 0.8, 0.1, 0))
    ax = next(axes)
    band = qk.results.CurveBand(at, *edges)
    plots.HitRateDisplay.from_predictions(labels, scores["tied"], band=band, ax=ax, **options)
    without_text(figure)
    return figure


def without_text(figure: Figure) -> None:
    for ax in figure.axes:
        for each in (ax, *ax.child_axes):
            each.set(xlabel="", ylabel="")
            each.tick_params(labelbottom=False, labeltop=False, labelleft=False)
        ax.set_title("")
        for text in ax.texts:
            text.set_visible(False)


def write(path: Path) -> None:
    with matplotlib.rc_context(STYLE):
        sheet().savefig(path, metadata={"Software": None})


def test_displays_look_as_they_did(tmp_path: Path):
    write(tmp_path / "displays.png")
    difference = compare_images(str(BASELINE), str(tmp_path / "displays.png"), tol=4)
    assert difference is None


def test_another_picture_is_told_apart(tmp_path: Path):
    """One curve of one small plot that is missing is more than the tolerance."""
    with matplotlib.rc_context(STYLE):
        figure = sheet()
        figure.axes[0].lines[0].remove()
        figure.savefig(tmp_path / "other.png")
    assert compare_images(str(BASELINE), str(tmp_path / "other.png"), tol=4) is not None


@pytest.mark.full
def test_figures_of_the_documents_can_be_drawn():
    folder = Path(__file__).resolve().parents[2] / "docs" / "figures"
    made = runpy.run_path(str(folder / "plots.py"))
    figures, folder = made["FIGURES"], made["FOLDER"]
    assert {draw.__name__ for draw in figures} == {path.stem for path in folder.glob("*.svg")}
    for draw in figures:
        assert draw().axes


if __name__ == "__main__":
    write(BASELINE)
