"""Davis & Goadrich (2006): Table 1, the areas of Figures 5, 6 and 7, and a hull that is tested.

Run as ``python docs/experiments/davis_goadrich.py [--write]``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from _pages import COLOURS, columns, command, data_folder, new_figure, table

import quotakernels as qk

PAGE = "davis_goadrich.md"
TABLE_1 = (0.500, 0.375, 0.318, 0.286, 0.265, 0.250)
"""Precision as printed, from A with 5 true positives to B with 10."""
A, B = (5, 5), (30, 10)
POSITIVES = 20

EXAMPLE = qk.Ranking.from_points(fp=[5, 30, 600, 900, 2000], tp=[5, 10, 12, 19, 20])
"""A curve with a dent, through A and B; the points of Figure 5 are not in the text."""
FIGURE_6 = qk.Ranking.from_points(fp=[0, 56164], tp=[8.66, 433])
CURVES = {
    "I": qk.Ranking.from_points(fp=[0, 1500, 2000], tp=[10, 20, 20]),
    "II": qk.Ranking.from_points(fp=[500, 2000], tp=[20, 20]),
}
"""Figure 7: inferred from the printed areas; the text gives the numbers of examples only."""

MAIL = "quota/hillstrom_scores.csv.gz"
MODELS = ("logistic", "svm", "linear", "rf")

# areas that are not those of the library


def straight_area(ranking: qk.Ranking) -> float:
    """The area below straight lines between the cuts in precision-recall space, which is wrong."""
    curve = qk.pr_curve(ranking)
    return float(np.trapezoid(curve.precision, curve.recall))


def rectangles(ranking: qk.Ranking, side: str) -> float:
    """Rectangles one true positive wide, as high as the curve at their left or right end."""
    curve = qk.pr_curve(ranking)
    total = 0.0
    for start, stop in pairwise(zip(curve.fp, curve.tp, strict=True)):
        if stop[1] > start[1]:
            points = qk.interpolate_pr(start, stop, positives=curve.tp[-1])
            heights = points.precision[:-1] if side == "left" else points.precision[1:]
            total += float(np.sum(heights * np.diff(points.recall)))
    return total


def trapezoid(ranking: qk.Ranking) -> float:
    """The paper's composite trapezoid, from a TP that need not be whole, as that of Figure 6.

    `pr_auc(method="trapezoid")` is this for whole ones.
    """
    return (rectangles(ranking, "left") + rectangles(ranking, "right")) / 2


def late_trapezoid(ranking: qk.Ranking) -> float:
    """The composite trapezoid, but that the first stretch has the precision of its right end.

    It is the reading that gives the printed area of curve I; the paper does not say so.
    """
    curve = qk.pr_curve(ranking)
    first = curve.tp[1]
    points = qk.interpolate_pr(
        (curve.fp[1], first), (curve.fp[2], curve.tp[2]), positives=POSITIVES
    )
    over = (points.precision[0] - points.precision[1]) / 2 / POSITIVES
    return float(qk.pr_auc(ranking, method="trapezoid")) - float(over)


# tables


def table_1() -> str:
    """Table 1, printed and computed."""
    points = qk.interpolate_pr(A, B, positives=POSITIVES)
    tp = points.recall * POSITIVES
    fp = tp * (1 / points.precision - 1)
    straight = np.interp(points.recall, points.recall[[0, -1]], points.precision[[0, -1]])
    columns = zip(tp, fp, points.recall, TABLE_1, points.precision, straight, strict=True)
    rows = [
        (f"{t:.0f}", f"{f:.0f}", f"{r:.2f}", f"{printed:.3f}", f"{p:.3f}", f"{wrong:.3f}")
        for t, f, r, printed, p, wrong in columns
    ]
    header = ("TP", "FP", "recall", "precision, printed", "precision, here", "on a straight line")
    return table(header, rows)


def figure_5() -> str:
    """Areas of the example's curve and of its hull, in both spaces."""
    hull = qk.roc_hull(EXAMPLE)
    vertices = qk.Ranking.from_points(fp=hull.fp, tp=hull.tp)
    rows = [
        ("all cuts", "ROC", f"{qk.roc_auc(EXAMPLE):.4f}"),
        ("convex hull", "ROC", f"{qk.roc_hull_auc(EXAMPLE):.4f}"),
        ("all cuts", "precision-recall", f"{qk.pr_auc(EXAMPLE):.4f}"),
        ("achievable curve", "precision-recall", f"{qk.achievable_pr_auc(EXAMPLE):.4f}"),
        ("straight lines, wrong", "precision-recall", f"{straight_area(vertices):.4f}"),
    ]
    return table(("curve", "space", "area"), rows)


def figure_6() -> str:
    """The area of Figure 6, computed in several ways."""
    rows = [
        ("exact integral", "", f"{qk.pr_auc(FIGURE_6):.4f}"),
        ("composite trapezoid", "", f"{trapezoid(FIGURE_6):.4f}"),
        ("left rectangles, one TP wide", ".031", f"{rectangles(FIGURE_6, 'left'):.4f}"),
        ("straight line, wrong", ".50", f"{straight_area(FIGURE_6):.4f}"),
    ]
    return table(("AUC-PR by", "printed", "here"), rows)


def figure_7() -> str:
    """Both areas of the two curves of Figure 7; AUC-PR computed in several ways."""
    ways = {
        "AUC-ROC": qk.roc_auc,
        "AUC-PR, exact integral": qk.pr_auc,
        "AUC-PR, composite trapezoid": lambda curve: qk.pr_auc(curve, method="trapezoid"),
        "AUC-PR, left rectangles": lambda curve: rectangles(curve, "left"),
        "AUC-PR, right rectangles": lambda curve: rectangles(curve, "right"),
        "AUC-PR, straight lines, wrong": straight_area,
    }
    printed = {"AUC-ROC": (".813", ".875"), "AUC-PR, exact integral": (".514", ".038")}
    rows = []
    for way, area in ways.items():
        one, two = (f"{area(curve):.4f}" for curve in CURVES.values())
        of_one, of_two = printed.get(way, ("", ""))
        rows.append((way, of_one, one, of_two, two))
    late = f"{late_trapezoid(CURVES['I']):.4f}"
    rows.append(("AUC-PR, trapezoid, the first stretch at its right end", ".514", late, "", ""))
    return table(("area", "I, printed", "I, here", "II, printed", "II, here"), rows)


def tested(tuning: qk.Ranking, test: qk.Ranking) -> qk.Ranking:
    """The test set at the cuts of the hull of the tuning set."""
    return test.at_thresholds(qk.roc_hull(tuning).threshold)


def chosen() -> str:
    """Areas of hulls on tuning data, and of their cuts on test data."""
    data = columns(data_folder() / MAIL)
    unseen = data["train"] == "0"
    bought = data["conversion"][unseen].astype(int)
    rows = []
    for model in MODELS:
        scores = data[f"{model}.score"][unseen].astype(float)
        tuning, test = (qk.rank(bought[k::2], scores[k::2]) for k in (0, 1))
        cuts = tested(tuning, test)
        roc = qk.roc_hull_auc(tuning), qk.roc_auc(cuts), qk.roc_auc(test), qk.roc_hull_auc(test)
        pr = qk.achievable_pr_auc(tuning), qk.pr_auc(cuts)
        pr += qk.pr_auc(test), qk.achievable_pr_auc(test)
        number = str(qk.roc_hull(tuning).tpr.size)
        rows.append((model, number, "ROC", *(f"{x:.3f}" for x in roc)))
        rows.append((model, number, "precision-recall", *(f"{x:.4f}" for x in pr)))
    sets = ("hull, tuning", "chosen, test", "all cuts, test", "its own hull, test")
    return table(("model", "vertices", "space", *sets), rows)


# figures


def pr_path(ranking: qk.Ranking) -> tuple[np.ndarray, np.ndarray]:
    """Recall and precision all along a curve, hyperbolas between the cuts."""
    curve = qk.pr_curve(ranking)
    recall, precision = [], []
    near_start = np.linspace(0, 1, 60) ** 4  # the hyperbolas are steep there
    for start, stop in pairwise(zip(curve.fp, curve.tp, strict=True)):
        if stop[1] > start[1]:
            at = (start[1] + (stop[1] - start[1]) * near_start) / curve.tp[-1]
            points = qk.interpolate_pr(start, stop, positives=curve.tp[-1], recall=at)
            recall.append(points.recall)
            precision.append(points.precision)
    last = (curve.recall[-1:], curve.precision[-1:])
    return np.concatenate([*recall, last[0]]), np.concatenate([*precision, last[1]])


def roc_space(axes: Any) -> None:
    axes.set(xlabel="false positive rate", ylabel="true positive rate", title="ROC space")
    axes.plot([0, 1], [0, 1], ":", color="0.6", label="chance")


def pr_space(axes: Any, title: str = "precision-recall space") -> None:
    axes.set(xlabel="recall", ylabel="precision", title=title, ylim=(-0.02, 1.04))


def draw_figure_5() -> Any:
    """All cuts, their hull, and the achievable curve."""
    figure = new_figure(7.6, 3.6)
    left, right = figure.subplots(1, 2)
    roc, hull = qk.roc_curve(EXAMPLE), qk.roc_hull(EXAMPLE)
    roc_space(left)
    left.plot(roc.fpr, roc.tpr, "o-", color=COLOURS[0], markersize=4, label="all cuts")
    left.plot(hull.fpr, hull.tpr, "--", color=COLOURS[1], label="convex hull")
    left.legend(loc="lower right")
    cuts, achievable = qk.pr_curve(EXAMPLE), qk.achievable_pr_curve(EXAMPLE)
    pr_space(right)
    right.plot(*pr_path(EXAMPLE), color=COLOURS[0], label="all cuts")
    right.plot(cuts.recall, cuts.precision, "o", color=COLOURS[0], markersize=4)
    path = pr_path(qk.Ranking.from_points(fp=hull.fp, tp=hull.tp))
    right.plot(*path, "--", color=COLOURS[1], label="achievable curve")
    straight = (achievable.recall, achievable.precision)
    right.plot(*straight, ":", color=COLOURS[6], label="straight lines: not achievable")
    right.legend(loc="upper right")
    return figure


def draw_figure_6() -> Any:
    """The straight line, and the right way, in Table 1 and in Figure 6."""
    figure = new_figure(7.6, 3.6)
    left, right = figure.subplots(1, 2)
    points = qk.interpolate_pr(A, B, positives=POSITIVES)
    at = np.linspace(points.recall[0], points.recall[-1], 60)
    smooth = qk.interpolate_pr(A, B, positives=POSITIVES, recall=at)
    pr_space(left, "Table 1, from A to B")
    left.set(ylim=(0.2, 0.55))
    ends = (points.recall[[0, -1]], points.precision[[0, -1]])
    left.plot(*ends, ":", color=COLOURS[6], label="straight line: wrong")
    left.plot(*smooth, color=COLOURS[0], label="the way of the cuts between")
    left.plot(*points, "o", color=COLOURS[0], markersize=4)
    for name, x, y in zip("AB", *ends, strict=True):
        left.annotate(name, (x, y), (4, 6), textcoords="offset points")
    left.legend(loc="upper right")
    pr_space(right, "Figure 6, from one point to the end")
    curve = qk.pr_curve(FIGURE_6)
    right.plot(curve.recall, curve.precision, ":", color=COLOURS[6], label="straight line: wrong")
    right.plot(*pr_path(FIGURE_6), color=COLOURS[0], label="right")
    right.plot(curve.recall[1:], curve.precision[1:], "o", color=COLOURS[0], markersize=4)
    right.legend(loc="upper right")
    return figure


def draw_figure_7() -> Any:
    """The larger area in one space is the smaller one in the other."""
    figure = new_figure(7.6, 3.6)
    left, right = figure.subplots(1, 2)
    roc_space(left)
    pr_space(right)
    for (name, curve), colour, dash in zip(CURVES.items(), COLOURS, ("-", "--"), strict=False):
        roc = qk.roc_curve(curve)
        look = {"color": colour, "linestyle": dash}
        left.plot(roc.fpr, roc.tpr, **look, label=f"{name}, area {qk.roc_auc(curve):.4f}")
        right.plot(*pr_path(curve), **look, label=f"{name}, area {qk.pr_auc(curve):.4f}")
    left.legend(loc="lower right")
    right.legend(loc="center right")
    return figure


SECTIONS = {"table 1": table_1, "figure 5": figure_5, "figure 6": figure_6, "figure 7": figure_7}
FIGURES = {
    "davis_goadrich_5.svg": draw_figure_5,
    "davis_goadrich_6.svg": draw_figure_6,
    "davis_goadrich_7.svg": draw_figure_7,
}

if __name__ == "__main__":
    of_data = {"chosen": chosen} if (data_folder() / MAIL).is_file() else {}
    raise SystemExit(command(__doc__, PAGE, SECTIONS | of_data, FIGURES))
