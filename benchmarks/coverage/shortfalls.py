"""Where defaults fall short: below 92 of 100 intervals, above 6 of 100 tests; and who says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

LEAST, MOST = 92.0, 6.0
DEFAULTS: dict[str, dict[str, tuple[str, str]]] = {
    "bootstrap": {"expanded": ("bootstrap", "held AUC, AHR and AQR in 92 to 97 %")},
    "closed forms": {
        "logit": ("auc_interval", ""),
        "score": ("hit_rate_interval", "the score interval held 88 %"),
    },
    "groups": {"expanded": ("bootstrap", "A hit rate near 1 they held in 5 to 11")},
    "finite list": {"score": ("hit_rate_interval", "with a population 89 to 93")},
    "differences": {
        "bootstrap": ("compare", "held 85 to 88 %"),
        "DeLong": ("delong_test", "held 85 %"),
        "DeLong, unpaired": ("delong_test_unpaired", "held 86 %"),
        "score": ("compare_selections", ""),
    },
    "levels": {
        "bootstrap": ("compare", "7 to 9 % of all data sets"),
        "DeLong": ("delong_test", "7 to 10 % of all data sets"),
        "DeLong, unpaired": ("delong_test_unpaired", ""),
        "permutation": ("compare", ""),
        "score": ("compare_selections", ""),
    },
    "bands": {
        "pointwise at 0.1": ("curve_band", ""),
        "pointwise at 0.5": ("curve_band", "at a point in 92"),
        "simultaneous, at all": ("curve_band", "and 30 positives they held in 81 to 91"),
    },
    "optimum": {
        "percentile": ("optimum_interval", "percentiles of the value in 89 to 94"),
        "expected": ("optimum_interval", "88 with scores of eight values"),
    },
    "folds": {
        "5 folds": ("fold_summary", "in 91 with 20 positives"),
        "5 × 5 folds": ("fold_summary", "held 86 to 89"),
    },
    "levels over folds": {"5 folds": ("fold_test", ""), "5 × 5 folds": ("fold_test", "")},
    "poisson": {"expanded": ("bootstrap", "At an AUC of 0.98 they held in 90 to 94")},
    "verdicts": {"wrongly sure": ("evaluate", "")},
    "averages": {
        "closed form": ("average_precision_interval", "20 positives among 1000 in 90"),
        "expanded": ("bootstrap", "80 to 89 at one of 0.998"),
    },
    "weights": {"expanded": ("bootstrap", "At an AUC of 0.98 they held in 90 to 94")},
    "few positives": {
        "bootstrap": ("compare", "7 to 9 % of all data sets with 5 to 20 positives"),
        "DeLong": ("delong_test", "7 to 10 % of all data sets with 3 to 20 positives"),
        "logit": ("auc_interval", ""),
        "permutation": ("compare", ""),
        "expanded": ("bootstrap", "with 1 to 3 they held AUC in 17 to 84"),
    },
    "few clusters": {
        "bootstrap": ("compare", "in 7 to 9 with 4 to 30 clusters"),
        "expanded": (
            "bootstrap",
            "with 10 or 30 those of 95 % held 90 to 94 %, with 4 or 6 76 to 85",
        ),
    },
    "hulls": {"expanded": ("bootstrap", "whose intervals lie too high")},
}
"""By kind and method: the function whose default it is, and the words with which its docstring says
where it falls short; none where it does not.
"""


class Shortfall(NamedTuple):
    """A setting in which a default misses, and how many of 100 hold, or find a difference."""

    kind: str
    source: str
    what: str
    how: str
    of_100: float


def shortfalls(run: dict[str, Any]) -> Iterator[Shortfall]:
    """Those of a stored run, of what has a value at all."""
    for kind, found in run.items():
        for source, part in found.items():
            for row in (x for x in part["rows"] if x["how"] in DEFAULTS[kind] and x["number"]):
                wrong = row.get("rejected", row.get("said"))
                right = row["number"] - row["above"] - row["below"] if wrong is None else wrong
                of_100 = 100 * right / row["number"]
                if of_100 < LEAST if wrong is None else of_100 > MOST:
                    yield Shortfall(kind, source, row["what"], row["how"], of_100)
