"""Who fills the quota: the rows behind the command `select`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels._text import counted, number
from quotakernels.cli.errors import InputError
from quotakernels.evaluation.choice import how_filled, how_filled_each
from quotakernels.evaluation.settings import Quota, UnfitError
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
