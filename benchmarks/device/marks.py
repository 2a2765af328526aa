"""The marks: the most that a call may cost at a million examples."""

from __future__ import annotations

from math import log2
from typing import NamedTuple

N = 10**6
"""The number of examples for which the marks are set."""


class Counted(NamedTuple):
    """What PyTorch runs: operations that are no views, and bytes over those of the scores."""

    launches: float
    bytes: float


class Compiled(NamedTuple):
    """What XLA makes: temporaries over the bytes of the scores, and lines of StableHLO."""

    temporaries: float
    lines: float


class Seconds(NamedTuple):
    """CPU seconds of compiling for 1024 and for a million examples."""

    short: float
    long: float


LAUNCHES = {
    "roc_auc": Counted(35, 75),
    "four": Counted(120, 330),
    "summary": Counted(110, 230),
    "hit_rate": Counted(35, 25),
    "f_score": Counted(25, 15),
    "pr_auc": Counted(60, 220),
    "lift_table": Counted(55, 50),
    "roc_hull_auc": Counted(20 * log2(N) + 60, 700),
    "rank, weights": Counted(60, 170),
    "update, bfloat16": Counted(15, float("inf")),
    "roc_auc, bfloat16": Counted(35, 33),
    "roc_auc, bfloat16, long": Counted(35, 25),
}
PROGRAMS = {
    "roc_auc": Compiled(8, 200),
    "average_hit_rate": Compiled(14, 300),
    "average_qrecall": Compiled(12, 300),
    "pr_auc": Compiled(10, 400),
    "summary": Compiled(10, 900),
    "hit_rate, traced": Compiled(5, 200),
    "lift_table": Compiled(6, 450),
    "roc_hull_auc": Compiled(8, 350),
    "roc_auc, weights": Compiled(12, 250),
    "roc_auc, bfloat16": Compiled(3, 150),
}
SCALAR = Seconds(0.6, 1.0)
COMPILING = {
    **dict.fromkeys(PROGRAMS, SCALAR),
    "summary": Seconds(1.0, 1.6),
    **dict.fromkeys(("roc_hull_auc", "h_measure", "lift_table", "pearson"), Seconds(1.0, 1.0)),
}
