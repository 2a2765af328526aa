"""Who fills a quota, spends a budget or reaches a threshold: `select` from end to end."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels._replacing import is_stdout
from quotakernels._text import counted, number
from quotakernels.cli.batches import Rows, score_kind, scores_of, selects_in_passes
from quotakernels.cli.columns import (
    chosen_rows,
    cost_column,
    filtered,
    group_column,
    of_rows,
    score_column,
)
from quotakernels.cli.errors import InputError, printable
from quotakernels.cli.files import kept_rows, read_table, read_with_scores
from quotakernels.cli.given import given
from quotakernels.cli.paths import name_of
from quotakernels.cli.rendering import progress_bar
from quotakernels.cli.run import refuse_to_overwrite, refuse_unread_options
from quotakernels.cli.writing import output_format, write_table
from quotakernels.evaluation.batches import Batch, counted_cells, opened
from quotakernels.evaluation.choice import how_filled, how_filled_each
from quotakernels.evaluation.settings import Quota, UnfitError
from quotakernels.evaluation.words import Conditions
from quotakernels.inputs.groups import GroupsOfExamples

PROBABILITY = "selection_probability"


@dataclass(frozen=True)
class Ties:
    """What becomes of rows tied at the edge: some of them are drawn, or all share the places."""

    all: bool
    seed: int

    @property
    def argument(self) -> dict[str, Any]:
        """The keyword arguments of `qk.select`."""
        return {} if self.all else {"whole": True, "random_state": self.seed}

    def places(self, quota: Quota, totals: NDArray[Any]) -> NDArray[np.float64]:
        """How many places a quota is of each total; only ties that share can fill a part of one."""
        return quota.of_each(totals) if self.all else quota.whole_places(totals)

    def drawn(self, drawn: int, tied: int) -> str:
        """Say that rows were drawn, if any were."""
        was = "was" if drawn == 1 else "were"
        how = f"(seed {self.seed}); --all-ties writes all of them, each with its probability"
        return f"{number(drawn)} of {number(tied)} tied rows {was} drawn {how}" if drawn else ""


class Selection(NamedTuple):
    """The selected rows, how it came about, their order, and what was drawn, if anything was."""

    table: pa.Table
    said: str
    order: str
    drawn: str


def select_rows(
    table: pa.Table, scores: NDArray[Any], quota: Quota, ties: Ties, total: int | None = None
) -> Selection:
    """Return the rows of a table whose scores fill a quota; it is of `total` rows, where some that
    cannot be selected are left out.
    """
    total = len(scores) if total is None else total
    check_quota(quota, total, f"the {counted(total, 'row', 'rows')}")
    places = float(ties.places(quota, np.asarray(total)))
    parts = qk.select(scores, quota=places, **ties.argument)
    rows = best_first(scores, np.flatnonzero(parts))
    last = scores[rows[-1]] if len(rows) else np.inf
    above, tied = (int(np.count_nonzero(x)) for x in (scores > last, scores == last))
    said = how_filled(places, str(last), above, tied)
    if places < (asked := quota.places(total)) and number(asked) != number(places):
        share = f"{quota} of {counted(total, 'row', 'rows')} is " if quota.percent else ""
        said += f"; {share}{number(asked)}, rounded down"
    return selected(table, scores, rows, parts, ties)._replace(said=said)


def select_of_each(
    table: pa.Table,
    scores: NDArray[Any],
    quota: Quota,
    column: str,
    groups: GroupsOfExamples,
    ties: Ties,
) -> Selection:
    """Return the rows that fill a quota of each group, group by group."""
    sizes = np.bincount(groups.codes)
    largest = int(sizes.max(initial=0))
    check_quota(
        quota, largest, f"the {counted(largest, 'row', 'rows')} of the largest group by {column!r}"
    )
    places = ties.places(quota, sizes)
    parts = qk.select(scores, groups=groups.codes, quota=places[:, None], **ties.argument)
    rows = by_group(best_first(scores, np.flatnonzero(parts)), groups)
    said = how_filled_each(float(places.sum()), quota, column, sizes)
    if (places < quota.of_each(sizes)).any():
        said += ", rounded down in each"
    found = selected(table, scores, rows, parts, ties, groups.codes)
    return found._replace(said=said, order=f"best first of each {column}")


def selected(
    table: pa.Table,
    scores: NDArray[Any],
    rows: NDArray[np.intp],
    parts: NDArray[Any],
    ties: Ties,
    codes: NDArray[Any] | int = 0,
) -> Selection:
    """Return these rows of the table, where all ties share with the probability of each."""
    found = table.take(rows)
    if not ties.all:
        return Selection(found, "", "best first", ties.drawn(*_drawn(scores, parts, codes)))
    if PROBABILITY in table.schema.names:
        raise InputError(f"the file has a column {PROBABILITY!r} already")
    found = found.append_column(PROBABILITY, pa.array(parts[rows]))
    return Selection(found, "", "best first", "")


def _drawn(scores: NDArray[Any], taken: NDArray[Any], codes: NDArray[Any] | int) -> tuple[int, int]:
    """How many rows are taken of those ties that are taken in part, and how many these have."""
    values, value = np.unique(scores, return_inverse=True)
    _, tie = np.unique(codes * len(values) + value, return_inverse=True)
    sizes, parts = np.bincount(tie), np.bincount(tie, taken)
    partly = (parts > 0) & (parts < sizes)
    return int(parts[partly].sum()), int(sizes[partly].sum())


def check_quota(quota: Quota, most: int, what: str) -> None:
    """Refuse a quota of more rows than there are, which `what` describes."""
    try:
        quota.check(most, what, of_rows=True, command=True)
    except UnfitError as error:
        raise InputError(str(error)) from error


def reached(scores: NDArray[Any], threshold: float | None) -> Quota:
    """Return the quota that selects all scores from a threshold on."""
    if threshold is None or math.isnan(threshold):
        raise InputError(f"--threshold {threshold} is not a number")
    return Quota(float(np.count_nonzero(scores >= threshold)))


def by_group(rows: NDArray[np.intp], groups: GroupsOfExamples) -> NDArray[np.intp]:
    """Order rows by their groups; those of a group keep their order."""
    return rows[np.argsort(groups.codes[rows], kind="stable")]


def best_first(scores: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Order rows by falling score; equal scores keep the order of the file."""
    # Sorting the reversed rows upwards and reversing again is stable for every type of score.
    backwards = rows[::-1]
    return backwards[np.argsort(scores[backwards], kind="stable")][::-1]


@dataclass(frozen=True)
class Money:
    """A budget, the column of costs, and how they rank."""

    budget: float
    cost: str
    over_cost: bool


def money_of(budget: float | None, cost: str | None, over_cost: bool) -> Money | None:
    """Return what the options say of a budget, None if nothing."""
    if budget is None or cost is None:
        if budget is not None:
            raise click.UsageError("--budget needs --cost.")
        if cost is not None or over_cost:
            raise click.UsageError("--cost and --over-cost go with --budget.")
        return None
    return Money(budget, cost, over_cost)


def select_paid(
    table: pa.Table,
    scores: NDArray[Any],
    money: Money,
    typed: pa.Table,
    where: Conditions,
    ties: Ties,
    per: tuple[str, GroupsOfExamples] | None = None,
) -> Selection:
    """Return the best rows that a budget pays for.

    With a column and its groups each group has the budget, and they come one after the other.
    """
    cost = of_rows(typed, where, lambda rows: cost_column(rows, money.cost))
    if money.over_cost:
        scores = _over_cost(scores, cost)
    limit: dict[str, Any] = {"cost": cost, "budget": money.budget, "when_short": "all"}
    limit |= {} if per is None else {"groups": per[1].codes}
    parts = qk.select(scores, **limit, **ties.argument)
    rows = best_first(scores, np.flatnonzero(parts))
    spent, many = number(float(parts @ cost)), counted(float(parts.sum()), "row", "rows")
    said = f"{many} for {spent}, of a budget of {number(money.budget)}"
    order = "best first by score over cost" if money.over_cost else "best first"
    if per is not None:
        column, groups = per
        rows = by_group(rows, groups)
        said += f" of each {column} ({counted(len(groups.ids), 'group', 'groups')})"
        order += f" of each {column}"
    codes = 0 if per is None else per[1].codes
    found = selected(table, scores, rows, parts, ties, codes)
    return found._replace(said=said, order=order)


def _over_cost(scores: NDArray[Any], cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores over the costs; what is free comes first."""
    if (scores < 0).any():
        raise InputError("--over-cost divides the scores, which must not be negative")
    free = cost == 0
    return np.where(free, np.inf, scores / np.where(free, 1.0, cost))


def select_stream(
    rows: Rows, score: str, quota: Quota | None, threshold: float | None, ties: Ties
) -> Selection:
    """Return the rows whose scores fill a quota, or reach a threshold, in passes over all rows.

    Only the selected rows, and those that are tied with the last of them, are held in memory.
    """
    kind = score_kind(rows, score)
    edge, total = threshold, None
    if quota is not None:
        edge, total = _edge(rows, score, kind, quota, ties)

    def candidates(table: pa.Table) -> pa.Table:
        return table.filter(pa.array(scores_of(table, score, kind) >= edge))

    table = pa.concat_tables(rows.read(None, candidates), promote_options="permissive")
    scores = score_column(table, score)
    return select_rows(table, scores, quota or reached(scores, threshold), ties, total)


def _edge(rows: Rows, score: str, kind: np.dtype[Any], quota: Quota, ties: Ties) -> tuple[Any, int]:
    """The score at which a quota ends, and of how many rows it is."""
    names = [score, *(x.column for x in rows.where)]

    def passes() -> Iterator[Batch]:
        for scores in rows.read(names, lambda table: scores_of(table, score, kind)):
            yield Batch(np.zeros(len(scores), dtype=bool), {score: scores})

    cells = counted_cells(passes, [score])
    total = int(cells[score].counts.sum())
    check_quota(quota, total, f"the {counted(total, 'row', 'rows')}")
    places = float(ties.places(quota, np.asarray(total)))
    while not cells[score].ties[end := min(cells[score].ends(places))]:
        cells = opened(passes, cells, {score: {end}})
    return cells[score].least[end], total


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
