"""Tables 2, 3 and 5 of Arbel & Rokach: ten examples, row by row.

python docs/experiments/arbel_rokach_tables.py [--write]
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import NamedTuple

import _pages
import numpy as np

import quotakernels as qk

LABELS = {"Table 2": [1, 0, 1, 1, 0, 0, 1, 0, 0, 0], "Table 3": [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]}
"""Labels in rank order: a ranking, and the best one."""


class Result(NamedTuple):
    """A value below one of the tables, as printed and as computed."""

    table: str
    measure: str
    printed: str
    value: float


def ranking(name: str) -> qk.Ranking:
    """The examples of a table; only the order of the scores matters, so any falling ones do."""
    return qk.rank(LABELS[name], np.arange(10, 0, -1))


def rows(name: str) -> list[list[str]]:
    """Position, label, hit rate, Qrecall, and Qrecall less that of chance."""
    examples = ranking(name)
    hit_rate, qrecall = qk.hit_rate_curve(examples), qk.qrecall_curve(examples)
    chance = qrecall.quota / 10
    return [
        [f"{j}", f"{label}", f"{hit_rate.value[j]:.3f}", f"{q:.3f}", f"{q - c:+.2f}"]
        for j, label, q, c in zip(
            range(1, 11), LABELS[name], qrecall.value[1:], chance[1:], strict=True
        )
    ]


def results() -> list[Result]:
    """What the paper gives below the tables."""
    one, best = ranking("Table 2"), ranking("Table 3")
    areas = qk.pem_areas(one)
    return [
        Result("2", "average Qrecall (eq. 13)", "0.893", float(qk.average_qrecall(one))),
        Result("2", "average hit rate (eq. 12)", "0.747", float(qk.average_hit_rate(one))),
        Result("3", "average Qrecall", "1", float(qk.average_qrecall(best))),
        Result("3", "average hit rate", "1", float(qk.average_hit_rate(best))),
        Result("5", "S1", "1.75", float(areas.s1)),
        Result("5", "S2", "0", float(areas.s2)),
        Result("5", "S3", "3", float(areas.s3)),
        Result("5", "PEM (eq. 14)", "", float(qk.pem(one))),
    ]


def positions() -> str:
    """The rows of the three tables."""
    header = ["j", "label", "hit rate", "Qrecall", "d(j)"]
    both = [[*row, *other[1:]] for row, other in zip(rows("Table 2"), rows("Table 3"), strict=True)]
    marked = [header[0], *(f"{x}, Table 2" for x in header[1:])]
    return _pages.table([*marked, *(f"{x}, Table 3" for x in header[1:])], both)


def summary() -> str:
    """What the paper prints below them, beside what is computed."""
    lines = [
        [x.table, x.measure, x.printed, f"{x.value:.4f}", _fraction(x.value)] for x in results()
    ]
    return _pages.table(["Table", "measure", "printed", "computed", "that is"], lines)


def _fraction(value: float) -> str:
    return str(Fraction(value).limit_denominator(1000))


if __name__ == "__main__":
    made = {"tables 2, 3 and 5": positions, "results of tables 2, 3 and 5": summary}
    sys.exit(_pages.command(__doc__, "arbel_rokach.md", made))
