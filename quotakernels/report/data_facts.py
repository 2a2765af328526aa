"""What the data of a page are: rows, positives, ties, and how the page was made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from quotakernels._text import counted, number, percent
from quotakernels.evaluation.results import Results
from quotakernels.evaluation.words import in_words


class Fact(NamedTuple):
    """Something about the data, and how much of it."""

    name: str
    value: str


def data_line(evaluation: Results) -> str:
    """The data in a line."""
    settings = evaluation.settings
    chosen = f" with {in_words(settings.where)}" if settings.where else ""
    source = f"{settings.source}: " if settings.source else ""
    missing = evaluation.rows_missing
    left_out = f"; {number(missing)} with a missing value left out" if missing else ""
    return (
        f"{source}{counted(evaluation.rows, 'row', 'rows')}{chosen}, "
        f"{settings.counted(evaluation.positives)}, "
        f"{counted(len(settings.models), 'model', 'models')}{left_out}"
    )


def data_facts(evaluation: Results) -> Iterator[Fact]:
    """Rows, positives, weights and ties."""
    settings, rows = evaluation.settings, evaluation.rows
    if settings.command:
        yield Fact("File", settings.source)
    read = "Rows in the file" if settings.command else "Rows given"
    yield Fact(read, number(evaluation.rows_read))
    yield Fact("Rows left out", ", ".join(_left_out(evaluation)) or "none")
    yield Fact("Rows evaluated", number(rows))
    positive = f"{settings.label} = {settings.pos_label or 1}"
    yield Fact("Positive rows", f"{number(evaluation.positives)} ({positive})")
    if settings.weight is not None:
        weights = (
            f"{number(evaluation.total)}, of the positives {number(evaluation.positive_total)}"
        )
        yield Fact(f"Weight ({settings.weight})", weights)
    yield Fact("Prevalence", percent(evaluation.prevalence))
    if settings.cost is not None:
        yield Fact(f"Cost of all rows ({settings.cost})", number(evaluation.total_cost))
    if settings.unit is not None:
        yield Fact("What rows bring", str(settings.unit))
    if evaluation.groups is not None:
        yield Fact(f"Groups ({settings.grouped_by})", number(len(evaluation.groups.names)))
    yield from _ties(evaluation)


def _left_out(evaluation: Results) -> Iterator[str]:
    missing, where = evaluation.rows_missing, evaluation.settings.where
    if missing:
        yield f"{number(missing)}: a missing value"
    if where:
        others = evaluation.rows_read - missing - evaluation.rows
        yield f"{number(others)}: not {in_words(where)}"


def _ties(evaluation: Results) -> Iterator[Fact]:
    for name, ranking in zip(evaluation.models, evaluation.rankings, strict=True):
        counts = np.asarray(ranking.counts)
        groups = int(np.count_nonzero(counts))
        tied = int(counts[counts > 1].sum())
        said = counted(groups, "different score", "different scores")
        largest = (
            f"; {number(tied)} rows share theirs, up to {number(counts.max(initial=0))} of them"
        )
        yield Fact(f"Ties of {name}", f"{said}{largest if tied else ', no ties'}")
