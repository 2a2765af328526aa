"""Tables 6 to 9 of Arbel & Rokach as they are printed.

Table 8 names one data set Aust and Table 9 Aust Cred; here it has the second name.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

CLASSIFIERS = ("C4.5", "NB", "NN")
MEASURES = ("auc", "average_hitrate", "average_qrecall", "pem")

PEAKS = {
    "AHR": ("32", "23", "12", "38"),
    "AQR": ("11", "13", "33", "13"),
    "PEM": ("11 and 31", "13 and 25", "12", "26"),
    "Pearson": ("32", "25", "12", "31"),
}
"""Table 6: how many models vote where a measure is highest, in each of four experiments."""

CORRELATIONS = {
    ("AHR", "AQR"): (0.878913, 0.779044, -0.01978, 0.639342),
    ("AHR", "PEM"): (0.941348, 0.871575, 0.457021, 0.78519),
    ("AHR", "Pearson"): (0.951883, 0.892064, 0.79621, 0.859306),
    ("AQR", "PEM"): (0.98482, 0.982845, 0.870869, 0.974288),
    ("AQR", "Pearson"): (0.92394, 0.939599, 0.419468, 0.912067),
    ("PEM", "Pearson"): (0.970244, 0.971571, 0.758552, 0.971114),
}
"""Table 7, in four experiments."""


class Row(NamedTuple):
    """One classifier in Table 8, of the smallest class, or Table 9, of the largest.

    Attributes
    ----------
    cells : mapping from measures to digits as printed
        Empty for PEM of the NN in Table 8: the copies of the paper at hand end before it.
    """

    table: str
    data_set: str
    instances: int
    classes: int
    classifier: str
    cells: dict[str, str]


def _rows() -> list[Row]:
    with Path(__file__).with_name("arbel_rokach_8_9.csv").open(encoding="utf-8") as lines:
        return [_row(line) for line in csv.DictReader(lines)]


def _row(line: dict[str, str]) -> Row:
    cells = {name: line[name] for name in MEASURES}
    sizes = int(line["n"]), int(line["classes"])
    return Row(line["table"], line["dataset"], *sizes, line["classifier"], cells)


ROWS = _rows()


def matches(digits: str, value: Any) -> bool:
    """Whether these digits are those of the value, rounded or cut off, as the paper does both.

    It prints 1 and .91 beside .9101: three digits are taken at least.
    """
    last = 10.0 ** -max(3, len(digits.partition(".")[2]))
    return bool(-last / 2 <= float(value) - float(digits) < last)
