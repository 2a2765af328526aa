"""Where defaults fall short: below 92 of 100 intervals, above 6 of 100 tests; and how far."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

LEAST, MOST = 92.0, 6.0


class Default(NamedTuple):
    """The function whose default it is, and in how many of 100 data sets its intervals held, or its
    tests found a difference: the fewest and the most of all settings.
    """

    function: str
    lowest: float
    highest: float


DEFAULTS: dict[tuple[str, str], Default] = {
    ("bootstrap", "expanded"): Default("bootstrap", 4.8, 97.2),
    ("closed forms", "logit"): Default("auc_interval", 93.8, 96.6),
    ("closed forms", "score"): Default("hit_rate_interval", 88.2, 99.8),
    ("groups", "expanded"): Default("bootstrap", 10.6, 94.6),
    ("finite list", "score"): Default("hit_rate_interval", 89.2, 99.8),
    ("differences", "bootstrap"): Default("compare", 49.2, 94.6),
    ("differences", "DeLong"): Default("delong_test", 85.4, 94.4),
    ("differences", "DeLong, unpaired"): Default("delong_test_unpaired", 85.8, 96.2),
    ("differences", "score"): Default("compare_selections", 94.2, 100.0),
    ("levels", "bootstrap"): Default("compare", 0.0, 7.4),
    ("levels", "DeLong"): Default("delong_test", 0.4, 7.2),
    ("levels", "DeLong, unpaired"): Default("delong_test_unpaired", 0.4, 5.6),
    ("levels", "permutation"): Default("compare", 2.4, 5.8),
    ("levels", "score"): Default("compare_selections", 0.0, 5.8),
    ("bands", "pointwise at 0.1"): Default("curve_band", 92.4, 100.0),
    ("bands", "pointwise at 0.5"): Default("curve_band", 91.6, 100.0),
    ("bands", "simultaneous, at all"): Default("curve_band", 80.8, 97.4),
    ("optimum", "percentile"): Default("best_cut_interval", 88.6, 97.4),
    ("optimum", "expected"): Default("best_cut_interval", 85.8, 94.0),
    ("folds", "5 folds"): Default("fold_summary", 2.8, 98.8),
    ("folds", "5 × 5 folds"): Default("fold_summary", 5.4, 96.6),
    ("levels over folds", "5 folds"): Default("fold_test", 0.0, 2.6),
    ("levels over folds", "5 × 5 folds"): Default("fold_test", 0.0, 5.8),
    ("poisson", "expanded"): Default("bootstrap", 6.0, 96.4),
    ("verdicts", "wrongly sure"): Default("evaluate", 0.0, 4.6),
    ("averages", "closed form"): Default("average_precision_interval", 89.6, 96.2),
    ("averages", "expanded"): Default("bootstrap", 83.8, 96.0),
    ("lift", "expanded"): Default("bootstrap", 79.4, 97.2),
    ("weights", "expanded"): Default("bootstrap", 8.6, 94.4),
    ("few positives", "bootstrap"): Default("compare", 4.8, 69.8),
    ("few positives", "DeLong"): Default("delong_test", 4.4, 17.8),
    ("few positives", "logit"): Default("auc_interval", 96.2, 100.0),
    ("few positives", "permutation"): Default("compare", 0.0, 5.6),
    ("few positives", "expanded"): Default("bootstrap", 16.8, 96.6),
    ("few clusters", "bootstrap"): Default("compare", 4.0, 37.6),
    ("few clusters", "expanded"): Default("bootstrap", 29.6, 95.0),
    ("few groups", "expanded"): Default("bootstrap", 74.6, 95.6),
    ("hulls", "expanded"): Default("bootstrap", 84.8, 94.0),
}
"""By kind and method."""


class Found(NamedTuple):
    """In how many of 100 data sets of a setting an interval held, or a test found a difference."""

    kind: str
    what: str
    how: str
    of_100: float
    is_test: bool

    @property
    def is_default(self) -> bool:
        """Whether it is that of a default."""
        return (self.kind, self.how) in DEFAULTS

    @property
    def is_short(self) -> bool:
        """Whether these are too few, or too many."""
        return self.of_100 > MOST if self.is_test else self.of_100 < LEAST


def found_in(run: dict[str, Any]) -> Iterator[Found]:
    """All of a stored run, of what has a value at all."""
    for kind, parts in run.items():
        for row in (x for part in parts.values() for x in part["rows"]):
            if row["number"] and "more" not in row:
                wrong = row.get("rejected", row.get("said"))
                right = row["number"] - row["above"] - row["below"] if wrong is None else wrong
                of_100 = round(100 * right / row["number"], 1)
                yield Found(kind, row["what"], row["how"], of_100, wrong is not None)


def quoted(text: str, found: list[Found]) -> list[range]:
    """The percentages of a text and the ranges of them, such as 90 to 94, that were found."""
    known = {round(x.of_100) for x in found}
    numbers = re.findall(
        r"(?<![\d.])(\d+)(?: to (\d+))?\b(?!\.\d| to \d| positives| clusters)", text
    )
    ends = [(int(low), int(high or low)) for low, high in numbers]
    return [range(a, b + 1) for a, b in ends if a <= b and known.issuperset((a, b))]
