"""Draw the figures of docs/plots.md: ``python docs/figures/plots.py``.

They are made from the example scores that ship with the package.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import quotakernels as qk
from quotakernels import plots

MODELS = ("tree", "naive_bayes", "neural_net")
IMPACTS = (0, -5, -1, 0)
"""A bad loan costs 5, a good one that was lost 1."""


def applicants() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Who repaid, and what each model said."""
    text = (files("quotakernels") / "data" / "german_credit_scores.csv").read_text("utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    scores = {name: np.array([float(row[name]) for row in rows]) for name in MODELS}
    return np.array([int(row["repaid"]) for row in rows]), scores


REPAID, SCORES = applicants()


def blank(width: float = 6.2, height: float = 4.2) -> Figure:
    """An empty figure."""
    return Figure(figsize=(width, height), layout="constrained")


def dominance() -> Figure:
    """Hit rates, and below them which model is the best."""
    figure = blank(6.2, 5.0)
    above, below = figure.subplots(2, sharex=True, height_ratios=(3.2, 1))
    plots.HitRateDisplay.from_predictions(REPAID, SCORES, ax=above)
    plots.DominanceDisplay.from_predictions(REPAID, SCORES, ax=below)
    above.label_outer()
    below.set_title("")
    return figure


def qrecall() -> Figure:
    """The areas of PEM: a ranking that begins below chance."""
    figure = blank()
    scores = SCORES["tree"]
    plots.QrecallDisplay.from_predictions(REPAID, scores, name="tree", ax=figure.subplots())
    return figure


def lift_table() -> Figure:
    """The lift of each tenth of two rankings."""
    figure = blank(6.2, 3.6)
    two = {name: SCORES[name] for name in MODELS[:2]}
    plots.LiftTableDisplay.from_predictions(REPAID, two, ax=figure.subplots())
    return figure


def roc_and_pr() -> Figure:
    """Two models in ROC and in precision-recall space, with their hulls."""
    figure = blank(9, 4.2)
    left, right = figure.subplots(1, 2)
    two = {name: SCORES[name] for name in MODELS[:2]}
    plots.RocDisplay.from_predictions(REPAID, two, ax=left)
    plots.PrecisionRecallDisplay.from_predictions(REPAID, two, ax=right)
    return figure


def powers() -> Figure:
    """BIFT with lines of equal informedness, BIRD."""
    figure = blank(9, 4.2)
    left, right = figure.subplots(1, 2)
    rankings = {name: qk.rank(REPAID, scores) for name, scores in SCORES.items()}
    iso = {"iso": "informedness", "levels": (0.2, 0.4)}
    plots.PowersChartDisplay.from_ranking(rankings, kind="bift", ax=left, **iso)
    plots.PowersChartDisplay.from_ranking(rankings, kind="bird", ax=right, **iso)
    return figure


def impact() -> Figure:
    """What lending brings, and the best cut of each model."""
    figure = blank()
    plots.ImpactDisplay.from_predictions(REPAID, SCORES, impacts=IMPACTS, ax=figure.subplots())
    return figure


def band() -> Figure:
    """A hit rate and how sure it is."""
    figure = blank()
    scores = SCORES["naive_bayes"]
    found = qk.inference.curve_band(
        "hit_rate", REPAID, scores, fraction=np.linspace(0.05, 1, 39), random_state=1
    )
    options = {"name": "naive_bayes", "band": found, "ax": figure.subplots()}
    plots.HitRateDisplay.from_predictions(REPAID, scores, **options)
    return figure


FOLDER = Path(__file__).with_name("plots")
FIGURES = (dominance, qrecall, lift_table, roc_and_pr, powers, impact, band)


def main() -> None:
    """Write them into the folder ``plots`` beside this file, the same bytes each time."""
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, "svg.hashsalt": "quotakernels"}):
        for draw in FIGURES:
            path = FOLDER / f"{draw.__name__}.svg"
            draw().savefig(path, metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
