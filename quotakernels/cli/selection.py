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
from quotakernels.evaluation.choice import how_filled
from quotakernels.evaluation.quota import Quota, UnfitError

PROBABILITY = "selection_probability"


@dataclass(frozen=True)
class Selection:
    """The rows that are in or tied for the last places, best first, and how it came about."""

    table: pa.Table
    places: float
    threshold: str
    above: int
    tied: int

    def __str__(self) -> str:
        return how_filled(self.places, self.threshold, self.above, self.tied)


def select_rows(table: pa.Table, scores: NDArray[Any], quota: Quota) -> Selection:
    """Return the rows of a table whose scores fill a quota, with their probability to be in."""
    if PROBABILITY in table.schema.names:
        raise InputError(f"the file has a column {PROBABILITY!r} already")
    try:
        quota.check(len(scores), f"the {len(scores)} rows", of_rows=True, command=True)
    except UnfitError as error:
        raise InputError(str(error)) from error
    places = quota.places(len(scores))
    if places == 0:
        chosen = table.slice(0, 0).append_column(PROBABILITY, pa.array([], pa.float64()))
        return Selection(chosen, places, "", 0, 0)
    argument = quota.argument(len(scores))
    probabilities = qk.select(scores, **argument)
    cut = qk.quota_threshold(scores, **argument)
    rows = _best_first(scores, np.flatnonzero(probabilities))
    chosen = table.take(rows).append_column(PROBABILITY, pa.array(probabilities[rows]))
    return Selection(chosen, places, str(scores[rows[-1]]), int(cut.above), int(cut.tied))


def reached(scores: NDArray[Any], threshold: float | None) -> Quota:
    """Return the quota that selects all scores from a threshold on."""
    if threshold is None or math.isnan(threshold):
        raise InputError(f"--threshold {threshold} is not a number")
    return Quota(float(np.count_nonzero(scores >= threshold)), percent=False)


def _best_first(scores: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Order rows by falling score; equal scores keep the order of the file."""
    # Sorting the reversed rows upwards and reversing again is stable for every type of score.
    backwards = rows[::-1]
    return backwards[np.argsort(scores[backwards], kind="stable")][::-1]
