"""An evaluation as tables for people."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from quotakernels._text import formatted, money, number, plain
from quotakernels.cli.tables import UNLIMITED, grid, grid_of_bounds
from quotakernels.cli.terminal import TextConsole
from quotakernels.evaluation.advice import advice
from quotakernels.evaluation.intervals import Bounds, Differences
from quotakernels.evaluation.notes import DIFFERENCES, in_sentences, notes_of_intervals, pair_rows
from quotakernels.evaluation.quota import Quota
from quotakernels.evaluation.results import GainResults, Results, Values
from quotakernels.evaluation.segments import in_words

__all__ = ["print_evaluation", "table_console"]

_MARK = "* the best model by that measure (of S2, the area below chance, the smallest)"
_PEARSON = "Pearson: correlation of the selected scores with their own labels, 0 and 1"


def table_console() -> Console:
    """Return a console for stdout, as wide as the tables need when no terminal limits it."""
    console = TextConsole(highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = UNLIMITED
    return console


def print_evaluation(evaluation: Results, console: Console) -> None:
    """Print what the data are and the measures of every model."""
    console.print(_data_line(evaluation))
    marks = False
    for heading, values, ends in _sections(evaluation):
        console.print(f"\n{heading}", style="bold")
        shown = grid(evaluation.models, values, evaluation.rows)
        console.print(Group(*_spaced(shown.tables(console))))
        marks = marks or bool(shown.marked.any())
        if ends is not None:
            console.print("")
            intervals = grid_of_bounds(evaluation.models, ends)
            console.print(Group(*_spaced(intervals.tables(console))))
    notes = ([_MARK] if marks else []) + ([_PEARSON] if evaluation.at_quota else [])
    if notes:
        console.print("\n" + "\n".join(notes))
    _print_intervals(evaluation, console)
    for k, line in enumerate(in_words(evaluation.best, evaluation.models)):
        console.print(line if k else f"\n{line}")
    for line in advice(evaluation):
        console.print(f"\n{line}")


def _print_intervals(evaluation: Results, console: Console) -> None:
    """Say what the intervals are, and print the tests of differences."""
    for differences in evaluation.differences:
        quota = differences.quota
        where = "" if quota is None else f" {_quota_heading(evaluation, quota).lower()}"
        console.print(f"\n{DIFFERENCES[differences.measure]}{where}", style="bold")
        console.print(_pairs(differences))
        console.print(f"\n{in_sentences(differences, evaluation.rows)}")
        for note in differences.notes:
            console.print(note)
    if (resampling := evaluation.settings.resampling) is not None:
        console.print("")
        for line in resampling.in_words(evaluation.weighted, bool(evaluation.at_quota)):
            console.print(line)
    for note in notes_of_intervals(evaluation):
        console.print(note)


def _pairs(differences: Differences) -> Table:
    """A row for each pair: the better model first, the difference, its interval, and p."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0, 0, 1), pad_edge=False)
    table.add_column("better", overflow="fold", max_width=20)
    table.add_column("than", overflow="fold", max_width=20)
    for heading in ("by", "[lower, upper]", "p (Holm)"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in pair_rows(differences):
        table.add_row(*map(Text, row))
    return table


Section: TypeAlias = tuple[str, Values, Bounds | None]


def _sections(evaluation: Results) -> Iterator[Section]:
    found = evaluation.intervals
    over_all, areas = (None, None) if found is None else (found.over_all, found.areas)
    yield _over_all_heading(evaluation.over_all.of("s3")), evaluation.over_all, over_all
    yield "ROC and precision-recall space", evaluation.areas, areas
    for quota, values in evaluation.at_quota.items():
        ends = None if found is None else found.at_quota[quota]
        yield _quota_heading(evaluation, quota), values, ends
    if evaluation.gains is not None:
        yield from _gain_sections(evaluation, evaluation.gains)


def _gain_sections(evaluation: Results, gains: GainResults) -> Iterator[Section]:
    tune, ends = evaluation.settings.tune, gains.ends
    chosen = "" if tune is None else f", chosen on the rows with {tune[0]} = {tune[1]}"
    yield (
        f"What the best cut brings ({evaluation.settings.unit}){chosen}\n"
        f"selecting nobody brings {money(gains.nobody)}, selecting all {money(gains.everybody)}",
        gains.at_best_cut,
        None if ends is None else ends.at_best_cut,
    )
    for quota, values in gains.at_quota.items():
        yield f"What quota {quota} brings", values, None if ends is None else ends.at_quota[quota]


def _spaced(tables: list[Table]) -> Iterator[Table | str]:
    for k, table in enumerate(tables):
        if k:
            yield ""
        yield table


def _over_all_heading(s3: NDArray[np.float64]) -> str:
    """Tell S3 here, as it is the same for all models."""
    known = "" if math.isnan(s3[0]) else f" (S3 = {plain(formatted(s3[0], '.4f'))})"
    return f"Over all quotas{known}"


def _quota_heading(evaluation: Results, quota: Quota) -> str:
    if not quota.percent:
        return f"At quota {quota}"
    unit = "rows" if not evaluation.weighted else "of the total weight"
    return f"At quota {quota} ({number(evaluation.places(quota))} {unit})"


def _data_line(evaluation: Results) -> str:
    settings = evaluation.settings
    parts = [
        f"{number(evaluation.rows)} rows",
        f"{number(evaluation.positives)} positive ({settings.label})",
    ]
    if settings.weight is not None:
        parts.append(f"total weight {number(evaluation.total)} ({settings.weight})")
    prevalence = evaluation.prevalence
    shown = "undefined" if math.isnan(prevalence) else formatted(prevalence, ".4g")
    parts.append(f"prevalence {shown}")
    where = settings.where
    chosen = "" if where is None else f", rows with {where[0]} = {where[1]}"
    return f"{settings.source}{chosen}\n" + ", ".join(parts)
