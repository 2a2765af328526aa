"""An evaluation as tables for people."""

from __future__ import annotations

import math
import os

from rich.console import Console
from rich.table import Table
from rich.text import Text

from quotakernels._text import formatted, money, number, plain
from quotakernels.cli.tables import UNLIMITED, grid, grid_of_limits, new_table
from quotakernels.cli.terminal import TextConsole
from quotakernels.evaluation.evaluation import Evaluation
from quotakernels.evaluation.intervals import Differences
from quotakernels.evaluation.notes import (
    compared_by,
    heading_of,
    in_sentences,
    notes_of_intervals,
    pair_rows,
)
from quotakernels.evaluation.results import Results, Section
from quotakernels.evaluation.segments import in_words
from quotakernels.evaluation.tables import chosen_on
from quotakernels.evaluation.words import MINUS

_MARK = "* the best model by that measure (of S2, the area below chance, the smallest)"
_PEARSON = "Pearson: correlation of the selected scores with their own labels, 0 and 1"


def table_console() -> Console:
    """Return a console for stdout, as wide as the tables need when no terminal limits it."""
    console = TextConsole(highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = UNLIMITED
    return console


def print_evaluation(evaluation: Evaluation, console: Console) -> None:
    """Print what the data are and the measures of every model."""
    console.print(_data_line(evaluation))
    for section in evaluation.sections:
        console.print(f"\n{_heading(evaluation, section)}", style="bold")
        console.print(grid(evaluation.models, section.values, evaluation.rows).fitting(console))
        if section.limits is not None:
            console.print("")
            console.print(grid_of_limits(evaluation.models, section.limits).fitting(console))
    marked = any(x.values.best(evaluation.rows).any() for x in evaluation.sections)
    notes = ([_MARK] if marked else []) + ([_PEARSON] if evaluation.at_quota else [])
    if notes:
        console.print("\n" + "\n".join(notes))
    _print_intervals(evaluation, console)
    for k, line in enumerate(in_words(evaluation.best, evaluation.models)):
        console.print(line if k else f"\n{line}")
    for line in evaluation.recommendation.splitlines() if evaluation.gains is not None else ():
        console.print("\n" + line.replace(MINUS, "-"))


def _print_intervals(evaluation: Results, console: Console) -> None:
    """Say what the intervals are, and print the tests of differences."""
    for differences in evaluation.differences:
        console.print(f"\n{compared_by(evaluation, differences)}", style="bold")
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
    table = new_table("better", 20)
    table.add_column("than", overflow="fold", max_width=20)
    for heading in ("by", "[lower, upper]", "p (Holm)"):
        table.add_column(heading, justify="right", no_wrap=True)
    for better, worse, by, lower, upper, p in pair_rows(differences):
        table.add_row(*map(Text, (better, worse, by, f"[{lower}, {upper}]", p)))
    return table


def _heading(evaluation: Results, section: Section) -> str:
    """What a table is of; S3 is told there, as it is the same for all models."""
    part, quota, gains = section.part, section.quota, evaluation.gains
    if part == "over_all":
        s3 = float(section.values.of("s3")[0])
        known = "" if math.isnan(s3) else f" (S3 = {plain(formatted(s3, '.4f'))})"
        return f"Over all quotas{known}"
    if part == "areas":
        return "ROC and precision-recall space"
    if gains is None or part == "at_quota":
        return "" if quota is None else heading_of(evaluation, quota)
    if quota is not None:
        return f"What quota {quota} brings"
    settings = evaluation.settings
    return (
        f"What the best cut brings ({settings.unit}){chosen_on(settings)}\n"
        f"selecting nobody brings {money(gains.nobody)}, selecting all {money(gains.everybody)}"
    )


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
