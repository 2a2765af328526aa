"""Who fills the quota: the rows behind the command `select`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels.cli.errors import InputError
from quotakernels.evaluation.choice import how_filled, how_filled_each
from quotakernels.evaluation.quota import Quota, UnfitError
from quotakernels.inputs.groups import GroupsOfExamples

PROBABILITY = "selection_probability"


@dataclass(frozen=True)
class Selection:
    """The rows that are in or tied for the last places, how it came about, and their order."""

    table: pa.Table
    said: str
    order: str = "best first"


def select_rows(table: pa.Table, scores: NDArray[Any], quota: Quota) -> Selection:
    """Return the rows of a table whose scores fill a quota, with their probability to be in."""
    _check(table, quota, len(scores), f"the {len(scores)} rows")
    places, argument = quota.places(len(scores)), quota.argument(len(scores))
    probabilities = qk.select(scores, **argument)
    rows = best_first(scores, np.flatnonzero(probabilities))
    threshold = str(scores[rows[-1]]) if len(rows) else ""
    cut = qk.quota_threshold(scores, **argument)
    said = how_filled(places, threshold, int(cut.above), int(cut.tied))
    return Selection(taken(table, rows, probabilities), said)


def select_of_each(
    table: pa.Table, scores: NDArray[Any], quota: Quota, column: str, groups: GroupsOfExamples
) -> Selection:
    """Return the rows that fill a quota of each group, group by group."""
    sizes = np.bincount(groups.codes)
    largest = int(sizes.max(initial=0))
    _check(table, quota, largest, f"the {largest} rows of the largest group by {column!r}")
    probabilities = qk.select(scores, groups=groups.codes, **quota.argument(largest))
    rows = best_first(scores, np.flatnonzero(probabilities))
    rows = by_group(rows, groups)
    places = float(quota.of_each(sizes).sum())
    said = how_filled_each(places, quota, column, sizes)
    return Selection(taken(table, rows, probabilities), said, f"best first of each {column}")


def refuse_probability(table: pa.Table) -> None:
    """Raise for a table that has the column which is added."""
    if PROBABILITY in table.schema.names:
        raise InputError(f"the file has a column {PROBABILITY!r} already")


def _check(table: pa.Table, quota: Quota, most: int, what: str) -> None:
    refuse_probability(table)
    try:
        quota.check(most, what, of_rows=True, command=True)
    except UnfitError as error:
        raise InputError(str(error)) from error


def taken(table: pa.Table, rows: NDArray[Any], probabilities: NDArray[Any]) -> pa.Table:
    """Return these rows of the table, each with its probability."""
    return table.take(rows).append_column(PROBABILITY, pa.array(probabilities[rows]))


def reached(scores: NDArray[Any], threshold: float | None) -> Quota:
    """Return the quota that selects all scores from a threshold on."""
    if threshold is None or math.isnan(threshold):
        raise InputError(f"--threshold {threshold} is not a number")
    return Quota(float(np.count_nonzero(scores >= threshold)), percent=False)


def by_group(rows: NDArray[np.intp], groups: GroupsOfExamples) -> NDArray[np.intp]:
    """Order rows by their groups; those of a group keep their order."""
    return rows[np.argsort(groups.codes[rows], kind="stable")]


def best_first(scores: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Order rows by falling score; equal scores keep the order of the file."""
    # Sorting the reversed rows upwards and reversing again is stable for every type of score.
    backwards = rows[::-1]
    return backwards[np.argsort(scores[backwards], kind="stable")][::-1]
