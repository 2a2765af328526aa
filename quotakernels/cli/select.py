"""From files to a file of the selected rows: `select` from end to end."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import click
import pyarrow as pa

from quotakernels._replacing import is_stdout
from quotakernels._text import counted
from quotakernels.cli.batches import Rows
from quotakernels.cli.columns import group_column, score_column
from quotakernels.cli.conditions import chosen_rows, of_rows
from quotakernels.cli.engine import selects_in_passes
from quotakernels.cli.exact import read_with_scores
from quotakernels.cli.files import read_table
from quotakernels.cli.given import given
from quotakernels.cli.missing import kept_rows
from quotakernels.cli.money import money_of, select_paid
from quotakernels.cli.places import filtered
from quotakernels.cli.progress import progress_bar
from quotakernels.cli.select_stream import select_stream
from quotakernels.cli.selection import Selection, Ties, reached, select_of_each, select_rows
from quotakernels.cli.streams import name_of
from quotakernels.cli.task import refuse_to_overwrite, refuse_unread_options
from quotakernels.cli.terminal import printable
from quotakernels.cli.writing import output_format, write_table
from quotakernels.evaluation.settings import Quota
from quotakernels.evaluation.words import Conditions


class _Asked(NamedTuple):
    """Which rows are to be selected."""

    score: str
    quota: Quota | None
    threshold: float | None
    per: str | None
    where: Conditions
    ties: Ties
    paid: Any

    def check(self) -> None:
        """Refuse what does not go together."""
        if sum(x is not None for x in (self.quota, self.threshold, self.paid)) != 1:
            raise click.UsageError("Give one of --quota and --threshold, or --budget with --cost.")
        if self.per is not None and self.threshold is not None:
            raise click.UsageError("--per goes with --quota or --budget.")


def write_selected(
    file: Path,
    output: Path,
    score: str,
    quota: Quota | None,
    threshold: float | None,
    per: str | None,
    where: Conditions,
    ties: Ties,
    **money: Any,
) -> None:
    """Write the rows that fill a quota, spend a budget or reach a threshold, and say so."""
    asked = _Asked(score, quota, threshold, per, where, ties, money_of(**money))
    asked.check()
    refuse_unread_options(file)
    refuse_to_overwrite(file, output)
    if given().get("escape_formulas") and output_format(output) != "csv":
        raise click.UsageError(f"--escape-formulas is for CSV; {output.name} keeps texts as texts.")
    with progress_bar(1) as step:
        step(f"selecting rows of {name_of(file)}")
        if asked.paid is None and per is None and selects_in_passes(file):
            rows = Rows(str(file), file, where, (score,))
            selection = select_stream(rows, score, quota, threshold, ties)
        else:
            selection = _selected(file, output, asked)
    write_table(output, selection.table, file)
    _tell(output, selection)


def _selected(file: Path, output: Path, asked: _Asked) -> Selection:
    """The rows, selected of all in memory."""
    score, quota, threshold, per, where, ties, paid = asked
    beside = [x for x in (per, getattr(paid, "cost", None)) if x is not None]
    beside += [x.column for x in where]
    typed, table = _read_for(output, file, score, beside)
    scores = of_rows(typed, where, lambda rows: score_column(rows, score))
    table = table.filter(chosen_rows(typed, where)) if where else table
    groups = None
    if per is not None:
        groups = per, of_rows(typed, where, lambda rows: group_column(rows, per))
    if paid is not None:
        return select_paid(table, scores, paid, typed, where, ties, groups)
    if groups is None or quota is None:
        return select_rows(table, scores, quota or reached(scores, threshold), ties)
    return select_of_each(table, scores, quota, *groups, ties)


def _read_for(output: Path, file: Path, score: str, beside: list[str]) -> tuple[pa.Table, pa.Table]:
    """The columns that decide, as numbers, and all columns of the same rows, to be written."""
    typed = read_with_scores(file, [score, *beside], [score])
    table = read_table(file, as_text=output_format(output) == "csv")
    kept = kept_rows(typed)
    return (typed, table) if kept is None else (filtered(typed, kept), table.filter(kept))


def _tell(output: Path, selection: Selection) -> None:
    to_stderr = is_stdout(output)
    click.echo(printable(selection.said), err=to_stderr)
    if selection.drawn:
        click.echo(selection.drawn, err=True)
    rows = f"{counted(selection.table.num_rows, 'row', 'rows')}, {selection.order}"
    click.echo(f"{output.name}: {printable(rows)}", err=to_stderr)
