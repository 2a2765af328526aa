"""Where defaults fall short: below 92 of 100 intervals, above 6 of 100 tests; and how far."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

LEAST, MOST = 92.0, 6.0
DEFAULTS: dict[tuple[str, str], str] = {
    ("closed forms", "score of AUC"): "auc_interval",
    ("closed forms", "score"): "hit_rate_interval",
    ("closed forms", "score of Qrecall"): "qrecall_interval",
    ("quotas", "score"): "qrecall_interval",
    ("unequal weights", "area"): "auc_interval",
    ("unequal weights", "rate"): "hit_rate_interval",
    ("unequal weights", "part"): "qrecall_interval",
    ("campaigns", "uplift"): "evaluate",
    ("finite list", "score"): "hit_rate_interval",
    ("averages", "closed form"): "average_precision_interval",
    ("bootstrap", "expanded"): "bootstrap",
    ("averages", "expanded"): "bootstrap",
    ("lift", "expanded"): "bootstrap",
    ("hulls", "expanded"): "bootstrap",
    ("weights", "expanded"): "bootstrap",
    ("groups", "expanded"): "bootstrap",
    ("poisson", "expanded"): "bootstrap",
    ("few positives", "score"): "auc_interval",
    ("shapes", "score"): "auc_interval",
    ("few positives", "expanded"): "bootstrap",
    ("few clusters", "expanded"): "bootstrap",
    ("few groups", "student"): "bootstrap",
    ("differences", "bootstrap"): "compare",
    ("differences", "DeLong"): "delong_test",
    ("differences", "DeLong, unpaired"): "delong_test_unpaired",
    ("differences", "score"): "compare_selections",
    ("bands", "pointwise at 0.1"): "curve_band",
    ("bands", "pointwise at 0.5"): "curve_band",
    ("bands", "simultaneous, at all"): "curve_band",
    ("optimum", "percentile"): "best_cut_interval",
    ("optimum", "expected"): "best_cut_interval",
    ("folds", "5 folds"): "fold_summary",
    ("folds", "5 × 5 folds"): "fold_summary",
    ("levels", "bootstrap"): "compare",
    ("levels", "permutation"): "compare",
    ("levels", "DeLong"): "delong_test",
    ("levels", "DeLong, unpaired"): "delong_test_unpaired",
    ("levels", "score"): "compare_selections",
    ("few positives", "bootstrap"): "compare",
    ("few positives", "permutation"): "compare",
    ("few positives", "DeLong"): "delong_test",
    ("few clusters", "bootstrap"): "compare",
    ("few groups", "permutation"): "compare",
    ("levels over folds", "5 folds"): "fold_test",
    ("levels over folds", "5 × 5 folds"): "fold_test",
    ("verdicts", "wrongly sure"): "evaluate",
    ("winners", "wrongly left behind"): "compare",
    ("winners", "of the best"): "evaluate",
    ("early quotas", "score"): "compare_selections",
    ("gains", "sum"): "evaluate",
    ("gains", "difference"): "evaluate",
    ("gains", "expected of the best cut"): "evaluate",
    ("gains", "wrongly sure of gains"): "evaluate",
}
"""The functions whose defaults they are, by kind and method."""


class Found(NamedTuple):
    """In how many of 100 data sets of a setting an interval held, or a test found a difference."""

    kind: str
    source: str
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
        for source, row in ((name, x) for name, part in parts.items() for x in part["rows"]):
            if row["number"] and "more" not in row:
                wrong = row.get("rejected", row.get("said"))
                right = row["number"] - row["above"] - row["below"] if wrong is None else wrong
                of_100 = round(100 * right / row["number"], 1)
                yield Found(kind, source, row["what"], row["how"], of_100, wrong is not None)


def quoted(text: str, found: list[Found]) -> list[range]:
    """The percentages of a text and the ranges of them, such as 90 to 94, that were found."""
    known = {round(x.of_100) for x in found}
    numbers = re.findall(
        r"(?<![\d.])(\d+)(?: to (\d+))?\b(?!\.\d| to \d| positives| clusters)", text
    )
    ends = [(int(low), int(high or low)) for low, high in numbers]
    return [range(a, b + 1) for a, b in ends if a <= b and known.issuperset((a, b))]
