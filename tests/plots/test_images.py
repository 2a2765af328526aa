"""The pictures as a whole, compared with ones that were looked at.

``PYTHONPATH=. python tests/plots/test_images.py`` writes them anew.  One is of curves, without
text.  The other is of text, whose letters depend a little on the library that draws them: it is
compared by the mean darkness of strips that hold a word.
"""

from __future__ import annotations

import io
import runpy
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.image
import numpy as np
import pytest
from backends import in_full
from matplotlib.figure import Figure
from matplotlib.testing.compare import compare_images

import quotakernels as qk
from quotakernels import plots

BASELINE = Path(__file__).with_name("displays.png")
WORDS = Path(__file__).with_name("words.png")
STRIP, DARKER = (12, 50), 0.11
"""Height and width of a strip in pixels, and by how much of black and white one may differ."""
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


def words() -> Figure:
    """A display with all its text: title, labels of the axes, legend, names and B*."""
    labels, scores = scored()
    figure = Figure(figsize=(5, 4), dpi=80, layout="constrained")
    options = {"impacts": (4, -2, -1, 0), "unit": "€", "ax": figure.subplots()}
    plots.ImpactDisplay.from_predictions(labels, scores, **options)
    return figure


def difference(figure: Figure) -> float:
    """The largest, of any strip's darkness, from the picture that was looked at."""
    with io.BytesIO() as file:
        figure.savefig(file, format="png")
        file.seek(0)
        found, expected = (darkness(matplotlib.image.imread(x)) for x in (file, WORDS))
    apart = found - expected
    return max(float(np.abs(means(x)).max()) for x in (apart, apart.T))


def darkness(pixels: np.ndarray) -> np.ndarray:
    return 1 - pixels[..., :3].mean(axis=-1)


def means(pixels: np.ndarray) -> np.ndarray:
    """The mean of each strip that lies flat."""
    strips = np.lib.stride_tricks.sliding_window_view(
        pixels.cumsum(0).cumsum(1), [x + 1 for x in STRIP]
    )
    corners = strips[..., 0, 0] - strips[..., 0, -1] - strips[..., -1, 0] + strips[..., -1, -1]
    return corners / np.prod(STRIP)


CHANGES = {
    "legend": lambda ax: ax.get_legend().remove(),
    "entry of the legend": lambda ax: ax.get_legend().get_texts()[1].set_text(""),
    "label below": lambda ax: ax.set_xlabel(""),
    "label beside": lambda ax: ax.set_ylabel(""),
    "title": lambda ax: ax.set_title(""),
    "second scale": lambda ax: ax.child_axes[0].remove(),
    "best cut in the legend": lambda ax: ax.get_legend().get_texts()[0].set_text("tied"),
}


@pytest.mark.full
def test_words_stand_where_they_did():
    with matplotlib.rc_context(STYLE):
        assert difference(words()) < DARKER
        for hinting in ("no_hinting", "force_autohint"):  # letters of another shape
            with matplotlib.rc_context({"text.hinting": hinting}):
                assert difference(words()) < DARKER


@pytest.mark.parametrize("missing", [x if k == 0 else in_full(x) for k, x in enumerate(CHANGES)])
def test_missing_words_are_seen(missing: str):
    with matplotlib.rc_context(STYLE):
        figure = words()
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        CHANGES[missing](figure.axes[0])
        assert difference(figure) > 1.25 * DARKER


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
    with matplotlib.rc_context(STYLE):
        words().savefig(WORDS, metadata={"Software": None})
