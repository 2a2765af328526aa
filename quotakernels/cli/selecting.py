"""Who fills a quota, spends a budget or reaches a threshold: `select` from end to end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels._replacing import is_stdout
from quotakernels._text import counted, number
from quotakernels.cli.columns import cost_column, group_column, of_rows, row_numbers, score_column
from quotakernels.cli.errors import InputError, in_options, printable
from quotakernels.cli.files import read_rows, read_table, without_missing
from quotakernels.cli.given import given
from quotakernels.cli.paths import name_of
from quotakernels.cli.rendering import progress_bar
from quotakernels.cli.run import refuse_to_overwrite, refuse_unread_options
from quotakernels.cli.writing import output_format, write_table
from quotakernels.evaluation.results import how_filled, how_filled_each
from quotakernels.evaluation.settings import Quota, UnfitError
from quotakernels.evaluation.words import Conditions
from quotakernels.inputs.groups import GroupsOfExamples

_PROBABILITY = "selection_probability"


class Asked(NamedTuple):
    """Which rows are to be selected, and what becomes of those that are tied at the edge."""

    score: str
    quota: Quota | None
    threshold: float | None
    budget: float | None
    cost: str | None
    over_cost: bool
    per: str | None
    where: Conditions
    all_ties: bool
    seed: int | None

    def check(self) -> None:
        """Refuse what does not go together."""
        paid, ends = self.budget is not None, (self.quota, self.threshold, self.budget)
        by_score = self.threshold is not None
        refusals = {
            "--all-ties and --seed go with --quota or --budget.": by_score
            and (self.all_ties or self.seed is not None),
            "--all-ties draws no rows, so it cannot be combined with --seed.": self.all_ties
            and self.seed is not None,
            "--budget needs --cost.": paid and self.cost is None,
            "--cost and --over-cost go with --budget.": not paid
            and (self.cost is not None or self.over_cost),
            "Give one of --quota and --threshold, or --budget with --cost.": ends.count(None) != 2,
            "--per goes with --quota or --budget.": by_score and self.per is not None,
        }
        for said, wrong in refusals.items():
            if wrong:
                raise click.UsageError(said)

    @property
    def ties(self) -> dict[str, Any]:
        """The keyword arguments of `qk.select` for ties: some rows are drawn, or all share."""
        return {} if self.all_ties else {"whole": True, "random_state": self.seed or 0}

    def quota_of(self, scores: NDArray[Any]) -> Quota:
        """The quota, or the one that selects all scores from the threshold on."""
        if self.quota is not None:
            return self.quota
        return Quota(float(np.count_nonzero(scores >= self.threshold)))

    def places(self, quota: Quota, totals: NDArray[Any]) -> NDArray[np.float64]:
        """How many places a quota is of each total; only ties that share can fill a part of one."""
        return quota.of_each(totals) if self.all_ties else quota.whole_places(totals)


class Candidates(NamedTuple):
    """The rows to select from: their places, what reads rows at places, and what decides."""

    places: NDArray[np.intp]
    read: Callable[[NDArray[np.intp]], pa.Table]
    scores: NDArray[Any]
    costs: NDArray[np.float64] | None = None
    groups: GroupsOfExamples | None = None

    def best_first(self, parts: NDArray[Any]) -> NDArray[np.intp]:
        """The selected rows by falling score, group by group; equal ones as in the file."""
        # Sorting the reversed rows upwards and reversing again is stable for every type of score.
        backwards = np.flatnonzero(parts)[::-1]
        rows = backwards[np.argsort(self.scores[backwards], kind="stable")][::-1]
        if self.groups is None:
            return rows
        return rows[np.argsort(self.groups.codes[rows], kind="stable")]


class Selection(NamedTuple):
    """The selected rows, how it came about, their order, and what was drawn, if anything was."""

    table: pa.Table
    said: str
    order: str
    drawn: str = ""


def _fill(asked: Asked, rows: Candidates) -> Selection:
    """The rows that fill a quota."""
    quota, total = asked.quota_of(rows.scores), len(rows.scores)
    of_all = counted(total, "row", "rows")
    _check_quota(quota, total, f"the {of_all}")
    places = float(asked.places(quota, np.asarray(total)))
    parts = qk.select(rows.scores, quota=places, **asked.ties)
    best = rows.best_first(parts)
    last = rows.scores[best[-1]] if len(best) else np.inf
    above, tied = (int(np.count_nonzero(x)) for x in (rows.scores > last, rows.scores == last))
    said = how_filled(places, str(last), above, tied)
    if places < (exact := quota.places(total)) and number(exact) != number(places):
        share = f"{quota} of {of_all} is " if quota.percent else ""
        said += f"; {share}{number(exact)}, rounded down"
    return _selection(asked, rows, parts, said, "best first")


def _fill_each(asked: Asked, rows: Candidates, groups: GroupsOfExamples) -> Selection:
    """The rows that fill a quota of each group, group by group."""
    quota, column = asked.quota_of(rows.scores), str(asked.per)
    sizes = np.bincount(groups.codes)
    largest = int(sizes.max(initial=0))
    largest_group = f"the {counted(largest, 'row', 'rows')} of the largest group by {column!r}"
    _check_quota(quota, largest, largest_group)
    places = asked.places(quota, sizes)
    parts = qk.select(rows.scores, groups=groups.codes, quota=places[:, None], **asked.ties)
    said = how_filled_each(float(places.sum()), quota, column, sizes)
    if (places < quota.of_each(sizes)).any():
        said += ", rounded down in each"
    return _selection(asked, rows, parts, said, f"best first of each {column}")


def _spend(asked: Asked, rows: Candidates, budget: float, costs: NDArray[np.float64]) -> Selection:
    """The best rows that a budget, or one of each group, pays for."""
    if asked.over_cost:
        rows = rows._replace(scores=_over_cost(rows.scores, costs))
    codes = {} if rows.groups is None else {"groups": rows.groups.codes}
    limit = {"cost": costs, "budget": budget, "when_short": "all", **codes}
    parts = qk.select(rows.scores, **limit, **asked.ties)
    many = counted(float(parts.sum()), "row", "rows")
    said = f"{many} for {number(float(parts @ costs))}, of a budget of {number(budget)}"
    order = "best first by score over cost" if asked.over_cost else "best first"
    if rows.groups is not None:
        said += f" of each {asked.per} ({counted(len(rows.groups.ids), 'group', 'groups')})"
        order += f" of each {asked.per}"
    return _selection(asked, rows, parts, said, order)


def _over_cost(scores: NDArray[Any], cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores over the costs; what is free comes first."""
    if (scores < 0).any():
        raise InputError("--over-cost divides the scores, which must not be negative")
    free = cost == 0
    return np.where(free, np.inf, scores / np.where(free, 1.0, cost))


def _selection(
    asked: Asked, rows: Candidates, parts: NDArray[Any], said: str, order: str
) -> Selection:
    """The selected rows of the table, where all ties share with the probability of each."""
    best = rows.best_first(parts)
    found = rows.read(rows.places[best])
    if asked.all_ties:
        if _PROBABILITY in found.column_names:
            raise InputError(f"the file has a column {_PROBABILITY!r} already")
        return Selection(found.append_column(_PROBABILITY, pa.array(parts[best])), said, order)
    codes = 0 if rows.groups is None else rows.groups.codes
    drawn, tied = _drawn(rows.scores, parts, codes)
    if not drawn:
        return Selection(found, said, order)
    was = "was" if drawn == 1 else "were"
    told = f"{number(drawn)} of {number(tied)} tied rows {was} drawn (seed {asked.seed or 0})"
    more = "--all-ties writes all of them, each with its probability"
    return Selection(found, said, order, f"{told}; {more}")


def _drawn(scores: NDArray[Any], taken: NDArray[Any], codes: NDArray[Any] | int) -> tuple[int, int]:
    """How many rows are taken of those ties that are taken in part, and how many these have."""
    values, value = np.unique(scores, return_inverse=True)
    _, tie = np.unique(codes * len(values) + value, return_inverse=True)
    sizes, parts = np.bincount(tie), np.bincount(tie, taken)
    partly = (parts > 0) & (parts < sizes)
    return int(parts[partly].sum()), int(sizes[partly].sum())


def _check_quota(quota: Quota, most: int, what: str) -> None:
    """Refuse a quota of more rows than there are, which `what` describes."""
    try:
        quota.check(most, what, of_rows=True)
    except UnfitError as error:
        raise InputError(in_options(error)) from error


def write_selected(file: Path, output: Path, asked: Asked) -> None:
    """Write the rows that fill a quota, spend a budget or reach a threshold, and say so."""
    asked.check()
    refuse_unread_options(file)
    refuse_to_overwrite(file, output)
    if given().get("escape_formulas") and output_format(output) != "csv":
        raise click.UsageError(f"--escape-formulas is for CSV; {output.name} keeps texts as texts.")
    with progress_bar() as step:
        step(f"selecting rows of {name_of(file)}")
        selection = _select(asked, file, output)
    write_table(output, selection.table, file)
    to_stderr = is_stdout(output)
    click.echo(printable(selection.said), err=to_stderr)
    if selection.drawn:
        click.echo(selection.drawn, err=True)
    rows = f"{counted(selection.table.num_rows, 'row', 'rows')}, {selection.order}"
    click.echo(f"{output.name}: {printable(rows)}", err=to_stderr)


def _select(asked: Asked, file: Path, output: Path) -> Selection:
    """The rows, selected of all by the columns that decide, which are held in memory."""
    beside = [x for x in (asked.per, asked.cost) if x is not None]
    names = [asked.score, *beside, *(x.column for x in asked.where)]
    read = partial(read_rows, file, as_text=output_format(output) == "csv")

    def candidates(table: pa.Table) -> Candidates:
        places, scores = row_numbers(table) - 1, score_column(table, asked.score)
        groups = None if asked.per is None else group_column(table, asked.per)
        costs = None if asked.cost is None else cost_column(table, asked.cost)
        return Candidates(places, read, scores, costs, groups)

    rows = of_rows(without_missing(read_table(file, names)), asked.where, candidates)
    if asked.budget is not None and rows.costs is not None:
        return _spend(asked, rows, asked.budget, rows.costs)
    return _fill(asked, rows) if rows.groups is None else _fill_each(asked, rows, rows.groups)
