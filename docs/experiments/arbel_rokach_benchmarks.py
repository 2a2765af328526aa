"""Tables 8 and 9 of Arbel & Rokach: the rows whose scores are at hand, as printed and as defined.

``python docs/experiments/arbel_rokach_benchmarks.py [--write]``

The scores are of Weka and lie beside the repository; ``QUOTAKERNELS_DATA`` names another folder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import _pages
import arbel_rokach_printed as printed
import numpy as np

import quotakernels as qk

Examples = tuple[np.ndarray, np.ndarray]

DATA_SETS = {
    "Hepatitis": ("hepatitis", "DIE", "LIVE"),
    "Iris": ("iris", "Iris-virginica", "Iris-setosa"),
    "Labor": ("labor", "bad", "good"),
    "Pima I. Dia.": ("pima_diabetes", "tested_positive", "tested_negative"),
}
"""Name in the paper: file, smallest class, largest class."""
MODELS = {"C4.5": ("J48", "C4.5"), "NB": ("NB", "naive Bayes"), "NN": ("MLP", "neural network")}
NOT_PRINTED = "·"
NOT_AVERAGED = "·"
GREY = "#bbbbbb"

AS_PRINTED: dict[str, Callable[[Examples], Any]] = {
    "auc": lambda x: qk.roc_auc(*x),
    "average_hitrate": lambda x: qk.average_hit_rate(*x, ties="given"),
    "average_qrecall": lambda x: qk.average_qrecall(*x, ties="given", start="P+1"),
    "pem": lambda x: qk.pem(*x, ties="given"),
}
"""Tied examples in the order of the test file; the mean of Qrecall starts at P + 1."""
AS_DEFINED: dict[str, Callable[[Examples], Any]] = {
    "auc": lambda x: qk.roc_auc(*x),
    "average_hitrate": lambda x: qk.average_hit_rate(*x),
    "average_qrecall": lambda x: qk.average_qrecall(*x),
    "pem": lambda x: qk.pem(*x),
}
"""By eq. 5, the expectation over the order of ties, and eq. 13, which starts at P."""
HEADINGS = {
    "auc": ("AUC printed", "AUC"),
    "average_hitrate": ("AHR printed", "in file order", "eq. 12"),
    "average_qrecall": ("AQR printed", "in file order, from P + 1", "eq. 13"),
    "pem": ("PEM printed", "in file order", "eq. 14"),
}
"""The columns of each measure: what is printed, what that is, and what is right."""


class Cell(NamedTuple):
    """One measure of one classifier: printed, computed in the printed way, and as defined."""

    table: str
    data_set: str
    model: str
    measure: str
    printed: str
    as_printed: float
    as_defined: float


def examples(data_set: str, model: str, table: str) -> Examples:
    """Labels and scores of the smallest class (Table 8) or the largest (Table 9)."""
    name, smallest, largest = DATA_SETS[data_set]
    positive = largest if table == "9" else smallest
    path = _pages.data_folder() / "weka" / f"{name}__{MODELS[model][0]}.csv"
    read = _pages.columns(path)
    return read["actual"] == positive, read[f"p_{positive}"].astype(float)


@cache
def cells() -> list[Cell]:
    """All cells of the rows whose scores are at hand."""
    found = []
    for row in printed.ROWS:
        if row.data_set not in DATA_SETS:
            continue
        key = row.table, row.data_set, row.classifier
        data = examples(*key[1:], key[0])
        found += [
            Cell(*key, name, row.cells[name], float(given(data)), float(AS_DEFINED[name](data)))
            for name, given in AS_PRINTED.items()
        ]
    return found


def rows(table: str) -> str:
    """One table: of each measure what is printed, what that is, and what is right."""
    mine = [cell for cell in cells() if cell.table == table]
    lines = []
    for key in dict.fromkeys((cell.data_set, cell.model) for cell in mine):
        row = [cell for cell in mine if (cell.data_set, cell.model) == key]
        lines.append([key[0], MODELS[key[1]][1], *(text for x in row for text in _shown(x))])
    header = ["data set", "classifier", *(x for group in HEADINGS.values() for x in group)]
    return _pages.table(header, lines)


def _shown(cell: Cell) -> list[str]:
    """The cell's columns; what is right is bold where the printed digits are not of it."""
    right, read = f"{cell.as_defined:.4f}", f"{cell.as_printed:.4f}"
    if cell.measure == "auc":
        return [cell.printed, right]
    shown = right if printed.matches(cell.printed or read, cell.as_defined) else f"**{right}**"
    return [cell.printed or NOT_PRINTED, read, shown]


def agreement() -> str:
    """How many printed numbers are reproduced by each reading."""
    filled = [cell for cell in cells() if cell.printed]
    lines = []
    for name, (heading, *_) in HEADINGS.items():
        mine = [cell for cell in filled if cell.measure == name]
        counts = (
            sum(printed.matches(x.printed, x.as_printed) for x in mine),
            sum(printed.matches(x.printed, x.as_defined) for x in mine),
        )
        lines.append([heading.split()[0], *(f"{count} of {len(mine)}" for count in counts)])
    return _pages.table(["measure", "read as the tables do", "as defined"], lines)


class Spread(NamedTuple):
    """PEM of C4.5 under any order of its ties."""

    data_set: str
    table: str
    printed: float
    defined: float
    worst: float
    best: float


def spreads() -> list[Spread]:
    """What the order of the ties can make of PEM, for each row of C4.5."""
    found = []
    for cell in cells():
        if (cell.model, cell.measure) == ("C4.5", "pem"):
            data = examples(cell.data_set, cell.model, cell.table)
            worst, best = (float(qk.pem(*data, ties=x)) for x in ("pessimistic", "optimistic"))
            key = cell.data_set, cell.table
            found.append(Spread(*key, float(cell.printed), cell.as_defined, worst, best))
    return sorted(found)


def ties() -> str:
    """PEM of C4.5 for both classes: printed, right, and between which bounds."""
    lines = []
    for small, large in zip(spreads()[::2], spreads()[1::2], strict=True):
        same = np.isclose(small.defined, large.defined)
        mean = f"{(small.printed + large.printed) / 2:.4f}" if same else NOT_AVERAGED
        lines.append(
            [
                small.data_set,
                *(f"{x.printed:.4f}" for x in (small, large)),
                mean,
                *(f"{x.defined:.4f}" for x in (small, large)),
                *(f"{x.worst:.4f} … {x.best:.4f}" for x in (small, large)),
            ]
        )
    both = ("smallest class", "largest class")
    header = ["data set", *(f"printed, {x}" for x in both), "their mean"]
    header += [f"as defined, {x}" for x in both] + [f"any order, {x}" for x in both]
    return _pages.table(header, lines)


def draw() -> Any:
    """PEM of C4.5 as printed and as defined, and what other orders of the ties would give."""
    figure = _pages.new_figure(7.0, 3.4)
    axes = figure.subplots()
    found = spreads()[::-1]
    places = np.arange(len(found)) + 0.6 * (np.arange(len(found)) // 2)
    for y, x in zip(places, found, strict=True):
        axes.plot([x.worst, x.best], [y, y], color=GREY, linewidth=6, solid_capstyle="butt")
    kinds = (("defined", "o", "expected over the ties"), ("printed", "D", "printed"))
    for colour, (field, marker, label) in zip(_pages.COLOURS, kinds, strict=False):
        values = [getattr(x, field) for x in found]
        axes.plot(
            values,
            places,
            marker,
            color=colour,
            markersize=6.5,
            markeredgecolor="white",
            label=label,
        )
    axes.plot([], [], color=GREY, linewidth=6, label="any order of the ties")
    names = {"8": "smallest", "9": "largest"}
    axes.set_yticks(places, [f"{x.data_set}, {names[x.table]} class" for x in found])
    axes.set(xlabel="PEM of C4.5", xlim=(0.22, 1.02))
    axes.grid(axis="y", visible=False)
    figure.legend(loc="outside upper center", ncols=3)
    return figure


SECTIONS = {
    "table 8": lambda: rows("8"),
    "table 9": lambda: rows("9"),
    "agreement": agreement,
    "ties": ties,
}
FIGURES = {"arbel_rokach_ties.svg": draw}

if __name__ == "__main__":
    sys.exit(_pages.command(__doc__, "arbel_rokach.md", SECTIONS, FIGURES))
