"""What the axes of Powers' charts say, and how far they go."""

from __future__ import annotations

from typing import NamedTuple

ABOVE = "upper center"

_INFORMEDNESS = "Informedness (TPR − FPR)"
_FPR = "False positive rate"
_TPR = "True positive rate"
_BITS = "Drift: log₂[(s + selected)/(s + positives)] (bits)"


class ChartLook(NamedTuple):
    """Title and labels; which axes go from 0 to 1; whether cuts are joined by straight lines.

    The legend has a place, or above all curves two columns.
    """

    title: str
    x: str
    y: str
    rates: str = ""
    straight: bool = True
    legend: str = "best"


CHARTS = {
    "pn": ChartLook(
        "PN chart", "False positives (examples)", "True positives (examples)", legend="lower right"
    ),
    "roc": ChartLook("ROC curve", _FPR, _TPR, "xy", legend="lower right"),
    "boc": ChartLook("BOC chart", _FPR, _INFORMEDNESS, "x", legend=ABOVE),
    "boc_dual": ChartLook("Dual BOC chart", _TPR, _INFORMEDNESS, "x", legend=ABOVE),
    "pr": ChartLook("Precision–recall curve", "Recall", "Precision", "x", straight=False),
    "pr_reciprocal": ChartLook("Reciprocal precision–recall chart", "1 / recall", "1 / precision"),
    "pr_log": ChartLook(
        "Logarithmic precision–recall chart",
        "−log₂ recall (bits)",
        "−log₂ precision (bits)",
        straight=False,
    ),
    "lift": ChartLook(
        "LIFT chart", "Bias (share of examples selected)", "Recall", "xy", legend="lower right"
    ),
    "bift": ChartLook(
        "BIFT chart", "Bias (share of examples selected)", _INFORMEDNESS, "x", legend=ABOVE
    ),
    "bprd": ChartLook("BPRD chart", "Drift (bias / prevalence)", _INFORMEDNESS, legend=ABOVE),
    "bird": ChartLook("BIRD chart", _BITS, "log₂ sTPR − log₂ sFPR (bits)", straight=False),
    "bird_informedness": ChartLook(
        "BIRD chart of informedness",
        _BITS,
        "−log₂(1 − informedness) (bits)",
        straight=False,
        legend=ABOVE,
    ),
}
