"""Powers (2015): the charts of a model of four classes, as the labels become noisier.

Run as ``python docs/experiments/powers.py [--write]``.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from _pages import COLOURS, DASHES, command, new_figure, table

import quotakernels as qk

PAGE = "powers.md"
GROUPS = {"0": (0,), "1 or 2": (1, 2), "3 to 5": (3, 4, 5), "6 to 9": (6, 7, 8, 9)}
"""Four classes of 1, 2, 3 and 4 digits, so that their prevalences differ."""
NOISE = (0.0, 0.1, 0.2, 0.4)
SMALL, ALL = 25, 40
"""How many cuts are drawn: evenly spaced in the logarithm of the quota, and in the quota."""


class Run(NamedTuple):
    """Labels of the test examples, as given and as noise has left them, and the model's scores."""

    clean: np.ndarray
    labels: np.ndarray
    scores: np.ndarray


# the model


def noisy(labels: np.ndarray, share: float, seed: int) -> np.ndarray:
    """A share of the labels, drawn at random, becomes another class, each as often as the others.

    Of two shares the labels that the smaller one changes are among those of the larger one.
    """
    draws = np.random.RandomState(seed)  # whose numbers never change, as those of default_rng may
    order = draws.permutation(labels.size)
    shift = draws.randint(1, len(GROUPS), labels.size)
    changed = np.isin(np.arange(labels.size), order[: round(share * labels.size)])
    return np.where(changed, (labels + shift) % len(GROUPS), labels)


@cache
def run(share: float) -> Run:
    """Linear discriminants, fitted to every other digit with noisy labels, tested on the others."""
    from sklearn.datasets import load_digits
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    images, digits = load_digits(return_X_y=True)
    group_of = [index for index, group in enumerate(GROUPS.values()) for _ in group]
    classes = np.asarray(group_of)[digits]
    labels = noisy(classes, share, seed=1)
    train = np.arange(classes.size) % 2 == 0
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1)
    model.fit(images[train], labels[train])
    scores = model.predict_proba(images[~train])
    return Run(classes[~train], labels[~train], scores)


# tables


@cache
def areas(share: float, kind: str) -> Any:
    """The area of a chart of each class against the rest, and their mean."""
    measured = run(share)
    measure = qk.charts.auk if kind == "auk" else qk.charts.chart_area
    own = {} if kind == "auk" else {"kind": kind}
    return qk.one_vs_rest(measure, measured.labels, measured.scores, **own)


def area_table() -> str:
    """Areas, mean over the classes, by chart and noise."""
    names = {"roc": "ROC", "pr": "PR", "lift": "LIFT", "bift": "BIFT", "bprd": "BPRD", "auk": "AUK"}
    rows = [
        (name, *(f"{areas(share, kind).value:.3f}" for share in NOISE))
        for kind, name in names.items()
    ]
    return table(("chart", *(f"noise {share:.0%}" for share in NOISE)), rows)


def class_table() -> str:
    """Areas of each class without noise, and with the most."""
    rows = []
    for index, name in enumerate(GROUPS):
        share = np.mean(run(0.0).labels == index)
        cells = [
            f"{areas(noise, kind).per_class[index]:.3f}"
            for noise in (NOISE[0], NOISE[-1])
            for kind in ("roc", "pr", "lift", "bift", "bprd")
        ]
        rows.append((name, f"{share:.3f}", *cells))
    kinds = ("ROC", "PR", "LIFT", "BIFT", "BPRD")
    return table(("class", "prevalence", *kinds, *(f"{kind}, 40%" for kind in kinds)), rows)


def decision_table() -> str:
    """Measures of the K×K table of the most probable classes, by noise."""
    measures = {
        "accuracy": qk.accuracy,
        "informedness": qk.informedness,
        "markedness": qk.tables.markedness,
        "MCC": qk.matthews_corrcoef,
        "Cohen's κ": qk.tables.cohen_kappa,
    }
    tables = [decisions(share) for share in NOISE]
    rows = [(name, *(f"{m(found):.3f}" for found in tables)) for name, m in measures.items()]
    truth = [float(qk.informedness(decisions(share, clean=True))) for share in NOISE]
    expected = [float(qk.informedness(expected_decisions(share))) for share in NOISE]
    rows.append(("informedness about the true labels", *(f"{value:.3f}" for value in truth)))
    rows.append(("what noise should leave of it", *(f"{value:.3f}" for value in expected)))
    return table(("measure", *(f"noise {share:.0%}" for share in NOISE)), rows)


def expected_decisions(share: float) -> qk.tables.ClassTable:
    """The table that noise is expected to make of that of the true labels."""
    classes = len(GROUPS)
    moves = np.full((classes, classes), share / (classes - 1))
    np.fill_diagonal(moves, 1 - share)
    return qk.tables.ClassTable(cells=moves.T @ decisions(share, clean=True).cells)


def decisions(share: float, clean: bool = False) -> qk.tables.ClassTable:
    """The table of labels and most probable classes."""
    measured = run(share)
    labels = measured.clean if clean else measured.labels
    predictions = measured.scores.argmax(axis=1)
    return qk.tables.confusion_table_from_predictions(labels, predictions, num_classes=len(GROUPS))


# figures

LABELS = {
    "roc": ("ROC", "FPR", "recall (TPR)"),
    "pr": ("PR", "recall", "precision"),
    "lift": ("LIFT", "bias", "recall"),
    "bift": ("BIFT", "bias", "informedness"),
    "bprd": ("BPRD", "bias / prevalence", "informedness"),
    "bird": ("BIRD", "log₂ relative drift", "log₂ sTPR − log₂ sFPR"),
}
LIMITS = {
    "roc": {"xlim": (0, 1), "ylim": (0, 1.02)},
    "pr": {"xlim": (0, 1), "ylim": (0, 1.02)},
    "lift": {"xlim": (0, 1), "ylim": (0, 1.02)},
    "bift": {"xlim": (0, 1), "ylim": (-0.05, 1.02)},
    "bprd": {"xlim": (0, 4), "ylim": (-0.05, 1.02)},
    "bird": {"xlim": (-6, 4), "ylim": (-0.5, 10.5)},
}
APART = ("pr", "bird")
"""Charts in which each class has a chance line of its own."""


def thinned(ranking: qk.Ranking, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """The chart at some of the cuts, among them the first, the last and the most informed one."""
    chart = qk.charts.powers_chart(ranking, kind=kind)
    n = chart.quota[-1]
    wanted = np.concatenate([np.geomspace(1, n, SMALL), np.linspace(0, n, ALL)])
    peak = np.argmax(qk.charts.powers_chart(ranking, kind="bift").y)
    kept = np.unique([*np.searchsorted(chart.quota, np.floor(wanted)), peak])
    return chart.x[kept], chart.y[kept]


def draw_panel(axes: Any, kind: str, share: float) -> None:
    """A chart of every class against the rest, and the chance line."""
    measured = run(share)
    looks = zip(GROUPS, COLOURS, DASHES, strict=False)
    for index, (name, colour, dash) in enumerate(looks):
        against = measured.labels == index
        ranking = qk.rank(against, measured.scores[:, index])
        axes.plot(*thinned(ranking, kind), color=colour, linestyle=dash, linewidth=1.3, label=name)
        sizes = {"positives": int(against.sum()), "negatives": int((~against).sum())}
        if kind in APART or index == 0:
            points = 601 if kind == "bird" else 2  # elsewhere it is straight
            chance = qk.charts.iso_line(of="chance", kind=kind, points=points, **sizes)
            look = {"color": colour if kind in APART else "0.5", "linestyle": dash}
            axes.plot(chance.x, chance.y, **look, linewidth=0.6, alpha=0.8)
    axes.set(**LIMITS[kind])
    if LIMITS[kind]["xlim"] == (0, 1):
        axes.set(xticks=(0, 0.5, 1))


def draw_charts(kinds: tuple[str, ...]) -> Any:
    """One row for each chart, one column for each amount of noise."""
    figure = new_figure(8.6, 2.1 * len(kinds) + 0.5)
    grid = figure.subplots(len(kinds), len(NOISE), sharex="row", sharey="row", squeeze=False)
    for row, kind in zip(grid, kinds, strict=True):
        name, x, y = LABELS[kind]
        for axes, share in zip(row, NOISE, strict=True):
            draw_panel(axes, kind, share)
            axes.set(xlabel=x)
        row[0].set(ylabel=f"{name}\n{y}")
    for axes, share in zip(grid[0], NOISE, strict=True):
        axes.set(title=f"noise {share:.0%}")
    lines = grid[0][0].get_lines()
    named = [line for line in lines if not line.get_label().startswith("_")]
    figure.legend(handles=named, loc="outside lower center", ncols=len(GROUPS), title="digits")
    return figure


SECTIONS = {"areas": area_table, "classes": class_table, "decisions": decision_table}
FIGURES = {
    "powers_rates.svg": lambda: draw_charts(("roc", "pr", "lift")),
    "powers_informedness.svg": lambda: draw_charts(("bift", "bprd", "bird")),
}

if __name__ == "__main__":
    raise SystemExit(command(__doc__, PAGE, SECTIONS, FIGURES))
