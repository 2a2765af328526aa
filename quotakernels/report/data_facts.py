"""What the data of a page are: rows, positives, ties, and how the page was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from quotakernels._text import number, percent
from quotakernels.cli.evaluation import Evaluation
from quotakernels.report.words import counted

__all__ = ["Fact", "data_facts", "data_line"]


class Fact(NamedTuple):
    """Something about the data, and how much of it."""

    name: str
    value: str


def data_line(evaluation: Evaluation) -> str:
    """The data in a line."""
    task = evaluation.task
    chosen = "" if task.where is None else f" with {task.where[0]} = {task.where[1]}"
    return (
        f"{task.source}: {counted(evaluation.rows, 'row', 'rows')}{chosen}, "
        f"{number(evaluation.positives)} positive ({task.label}), "
        f"{counted(len(task.scores), 'model', 'models')}"
    )


def data_facts(evaluation: Evaluation) -> Iterator[Fact]:
    """Rows, positives, weights and ties."""
    task, rows = evaluation.task, evaluation.rows
    yield Fact("File", task.source)
    yield Fact("Rows in the file", number(evaluation.rows_read))
    left = evaluation.rows_read - rows
    if task.where is not None:
        column, value = task.where
        yield Fact("Rows left out", f"{number(left)}, which lack {column} = {value}")
    else:
        yield Fact("Rows left out", "none")
    yield Fact("Rows evaluated", number(rows))
    positive = f"{task.label} = {task.pos_label or 1}"
    yield Fact("Positive rows", f"{number(evaluation.positives)} ({positive})")
    if task.weight is not None:
        weights = (
            f"{number(evaluation.total)}, of the positives {number(evaluation.positive_total)}"
        )
        yield Fact(f"Weight ({task.weight})", weights)
    yield Fact("Prevalence", percent(evaluation.prevalence))
    if task.unit is not None:
        yield Fact("What rows bring", str(task.unit))
    yield from _ties(evaluation)


def _ties(evaluation: Evaluation) -> Iterator[Fact]:
    for name, ranking in zip(evaluation.task.scores, evaluation.rankings, strict=True):
        counts = np.asarray(ranking.counts)
        groups = int(np.count_nonzero(counts))
        tied = int(counts[counts > 1].sum())
        said = counted(groups, "different score", "different scores")
        largest = (
            f"; {number(tied)} rows share theirs, up to {number(counts.max(initial=0))} of them"
        )
        yield Fact(f"Ties of {name}", f"{said}{largest if tied else ', no ties'}")
