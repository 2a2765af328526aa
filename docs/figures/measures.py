"""Draw one figure per family of measures: ``python docs/figures/measures.py``.

The numbers are those of the library; the same input gives the same files.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import numpy as np

import quotakernels as qk

FOLDER = Path(__file__).parent
STYLE = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "font.size": 9,
    "grid.color": "#e6e6e6",
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "svg.fonttype": "none",
    "svg.hashsalt": "quotakernels",
}
TEAL, ORANGE, GREY, PURPLE = "#00796b", "#e07b00", "#8a8a8a", "#6a4fb3"

LABELS = np.array([1, 1, 0, 1, 0, 1, 0, 0])
SCORES = np.array([0.9, 0.8, 0.8, 0.8, 0.6, 0.5, 0.4, 0.1])
RANKING = qk.rank(LABELS, SCORES)
PLACES = np.linspace(0, 8, 161)


def credit(model: str) -> qk.Ranking:
    """The shipped example, as one model ranks it."""
    data = files("quotakernels") / "data" / "german_credit_scores.csv"
    rows = list(csv.DictReader(data.read_text(encoding="utf-8").splitlines()))
    return qk.rank([int(row["repaid"]) for row in rows], [float(row[model]) for row in rows])


def quota(figure: Any) -> None:
    """T(j), hit rate, Qrecall and lift of eight examples."""
    left, right = figure.subplots(1, 2)
    left.plot(PLACES, 4 * qk.qrecall(RANKING, quota=PLACES), color=TEAL)
    left.plot([0, 8], [0, 4], ":", color=GREY)
    left.axvspan(1, 4, color="#fff3e0", zorder=0)
    left.text(2.5, 0.15, "three tied,\ntwo positive", ha="center", color=ORANGE)
    for place, label in enumerate(LABELS, start=1):
        left.text(place - 0.5, 4.25, str(label), ha="center", color=TEAL if label else GREY)
    left.set(title="Expected positives T(j)", xlabel="quota j", ylim=(0, 4.6))
    some = PLACES[PLACES >= 0.5]
    for name, measure, color in (
        ("hit rate T(j)/j", qk.hit_rate, TEAL),
        ("Qrecall T(j)/P", qk.qrecall, PURPLE),
        ("lift, over P/n", qk.lift, ORANGE),
    ):
        right.plot(some, measure(RANKING, quota=some), color=color, label=name)
    right.set(title="At each quota", xlabel="quota j", ylim=(0, 2.1))
    right.legend()


def averages(figure: Any) -> None:
    """What PEM, AQR and AHR are made of."""
    left, middle, right = figure.subplots(1, 3)
    places = np.arange(9)
    found = qk.qrecall(RANKING, quota=places)
    best = np.minimum(places / 4, 1)
    left.fill_between(places, best, places / 8, color="#d9eeeb", label="best order: S3")
    left.fill_between(places, found, places / 8, color=TEAL, alpha=0.6, label="S1")
    left.plot([0, 8], [0, 1], ":", color=GREY)
    left.set(
        title=f"PEM = (S1 − S2)/S3 = {qk.pem(RANKING):.3f}", xlabel="quota j", ylabel="Qrecall"
    )
    left.legend(loc="lower right")
    late = places >= 4
    middle.bar(places[1:], found[1:], color=np.where(late, PURPLE, "#ddd")[1:])
    middle.set(title=f"AQR, mean from P = {qk.average_qrecall(RANKING):.3f}", xlabel="quota j")
    shares = qk.hit_rate(RANKING, quota=places[1:])
    expected = np.diff(4 * found)
    right.bar(places[1:], shares, width=0.9 * expected, color=ORANGE)
    right.set(title=f"AHR = {qk.average_hit_rate(RANKING):.3f}", xlabel="quota j (bars t[j] wide)")
    right.set_ylabel("hit rate")


def roc(figure: Any) -> None:
    """A curve with ties, its hull, and the best vertex for given costs."""
    axes = figure.subplots()
    curve, hull = qk.roc_curve(RANKING), qk.roc_hull(RANKING)
    axes.plot(hull.fpr, hull.tpr, "--", color=ORANGE, label=f"hull {qk.roc_hull_auc(RANKING):.3f}")
    axes.plot(curve.fpr, curve.tpr, "o-", color=TEAL, label=f"curve {qk.roc_auc(RANKING):.3f}")
    axes.plot([0, 1], [0, 1], ":", color=GREY)
    best = qk.best_operating_point(RANKING, cost_fp=1.5, cost_fn=1)
    slope = float(qk.charts.iso_performance_slope(1.5, 1, 0.5))
    x = np.linspace(0, 0.4, 2)
    axes.plot(x, best.tpr + slope * (x - best.fpr), color=PURPLE, lw=1, label="line of equal cost")
    axes.set(xlabel="false positive rate", ylabel="true positive rate", ylim=(0, 1.03))
    axes.set_title("Three tied examples are one sloped line")
    axes.legend(loc="lower right")


def precision_recall(figure: Any) -> None:
    """Right and wrong between two cuts; the curve and the achievable one."""
    left, right = figure.subplots(1, 2)
    between = qk.interpolate_pr((5, 5), (30, 10), positives=20)
    left.plot(between.recall, between.precision, "o-", ms=3, color=TEAL, label="right")
    ends = [0, -1]
    left.plot(between.recall[ends], between.precision[ends], "--", color=ORANGE, label="wrong")
    left.set(title="Between two cuts", xlabel="recall", ylabel="precision")
    left.legend()
    model = credit("neural_net")
    for name, curve, color in (
        (f"achievable {qk.achievable_pr_auc(model):.3f}", qk.achievable_pr_curve(model), ORANGE),
        (f"curve {qk.pr_auc(model):.3f}", qk.pr_curve(model), TEAL),
    ):
        right.plot(curve.recall, curve.precision, color=color, label=name)
    right.axhline(250 / 340, ls=":", color=GREY)
    right.set(title="neural_net of the example", xlabel="recall", ylim=(0.65, 1.02))
    right.legend(loc="lower left")


def charts(figure: Any) -> None:
    """One ranking in six charts."""
    model = credit("naive_bayes")
    kinds = {"pn": "tp on fp", "roc": "recall on FPR", "boc": "informedness on FPR"}
    kinds |= {"lift": "recall on bias", "bift": "informedness on bias", "pr": "precision on recall"}
    for axes, (kind, what) in zip(figure.subplots(2, 3).flat, kinds.items(), strict=True):
        chart = qk.charts.powers_chart(model, kind=kind)
        axes.plot(chart.x, chart.y, color=TEAL)
        axes.set_title(f"{kind.upper()}: {what}")


def tables(figure: Any) -> None:
    """The cells, and the shares that are made of them."""
    axes = figure.subplots()
    axes.set_axis_off()
    cells = {"tp": (0, 1, "#b2dfdb"), "fp": (1, 1, "#ffe0b2"), "fn": (0, 0, "#ffe0b2")}
    cells["tn"] = (1, 0, "#b2dfdb")
    for name, (x, y, color) in cells.items():
        axes.add_patch(plt.Rectangle((x, y), 0.97, 0.97, color=color))
        axes.text(x + 0.48, y + 0.48, name, ha="center", va="center", size=13)
    for x, name in ((0.48, "positive"), (1.48, "negative")):
        axes.text(x, 2.06, name, ha="center")
    for y, name, share in (
        (1.48, "selected", "precision = tp/(tp + fp)"),
        (0.48, "rejected", "inverse precision = tn/(fn + tn)"),
    ):
        axes.text(-0.05, y, name, ha="right")
        axes.text(2.05, y, share)
    axes.text(0.48, -0.2, "recall =\ntp/(tp + fn)", ha="center", va="top")
    axes.text(1.48, -0.2, "specificity =\ntn/(fp + tn)", ha="center", va="top")
    axes.text(2.05, -0.2, "accuracy =\n(tp + tn)/n", va="top")
    axes.set(xlim=(-0.7, 3.9), ylim=(-0.7, 2.3))


def impact(figure: Any) -> None:
    """What each cut brings."""
    axes = figure.subplots()
    for model, color in (("tree", ORANGE), ("neural_net", PURPLE), ("naive_bayes", TEAL)):
        best = qk.best_boundary(credit(model), impacts=(0, -5, -1, 0))
        axes.plot(best.curve.quota, best.curve.value, color=color, label=model)
        axes.plot(best.quota, best.value, "o", color=color)
    axes.set(xlabel="loans granted", ylabel="impact per applicant")
    axes.set_title("A bad loan costs 5, a good one refused 1; dots: the best cuts")
    axes.legend(loc="lower left")


def uncertainty(figure: Any) -> None:
    """Intervals at one quota, and a band."""
    left, right = figure.subplots(1, 2)
    models = ("tree", "neural_net", "naive_bayes")
    for row, model in enumerate(models):
        found = qk.inference.hit_rate_interval(credit(model), quota=100)
        left.plot([found.lower, found.upper], [row, row], color=TEAL)
        left.plot(found.estimate, row, "o", color=TEAL)
    left.set_yticks(range(3), models)
    left.set(title="Hit rate at quota 100, 95 %", ylim=(-0.5, 2.5))
    data = files("quotakernels") / "data" / "german_credit_scores.csv"
    rows = list(csv.DictReader(data.read_text(encoding="utf-8").splitlines()))
    labels = np.array([int(row["repaid"]) for row in rows])
    scores = np.array([float(row["naive_bayes"]) for row in rows])
    band = qk.inference.curve_band("roc", labels, scores, random_state=1)
    right.fill_between(band.at, band.lower, band.upper, color="#b2dfdb")
    right.plot(band.at, band.estimate, color=TEAL)
    right.plot([0, 1], [0, 1], ":", color=GREY)
    right.set(title="ROC curve of naive_bayes with a band", xlabel="false positive rate")


def states(figure: Any) -> None:
    """The bounds that a coarse histogram gives."""
    axes = figure.subplots()
    rng = np.random.default_rng(3)
    labels = rng.random(400) < 0.4
    scores = rng.normal(2 * labels)
    exact = qk.rank(labels, scores)
    coarse = qk.states.ScoreHistogram.of(labels, scores, bits=12)
    for ties in ("optimistic", "pessimistic"):
        curve = qk.roc_curve(coarse.ranking(ties))
        axes.plot(curve.fpr, curve.tpr, color=ORANGE, lw=1)
    curve = qk.roc_curve(exact)
    axes.plot(curve.fpr, curve.tpr, color=TEAL)
    lower, upper = coarse.compute(qk.roc_auc)
    axes.set(xlabel="false positive rate", ylabel="true positive rate")
    axes.set_title(f"12 bits: AUC from {lower:.3f} to {upper:.3f}, exactly {qk.roc_auc(exact):.3f}")


FIGURES: dict[Callable[[Any], None], tuple[float, float]] = {
    quota: (7.5, 2.9),
    averages: (9, 2.9),
    roc: (4.6, 3.6),
    precision_recall: (7.5, 3),
    charts: (7.5, 4.4),
    tables: (5.6, 2.7),
    impact: (5.6, 3),
    uncertainty: (7.5, 3),
    states: (4.6, 3.6),
}


def main(kind: str = "svg", folder: Path = FOLDER) -> None:
    """Write all figures."""
    with mpl.rc_context(STYLE):
        for draw, size in FIGURES.items():
            figure = plt.figure(figsize=size, layout="constrained")
            draw(figure)
            path = folder / f"{draw.__name__}.{kind}"
            figure.savefig(path, metadata={"Date": None} if kind == "svg" else None)
            plt.close(figure)


if __name__ == "__main__":
    main()
