"""The confusion table at every cut: the rows behind the command `tables`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import quotakernels as qk
from quotakernels.cli.columns import label_column, of_rows, score_column, weight_column
from quotakernels.cli.errors import InputError

__all__ = ["CutTask", "rows_of_cuts"]


@dataclass(frozen=True)
class CutTask:
    """Which columns of a file to cut, and the class ratio to tune the tables to."""

    label: str
    score: str
    weight: str | None = None
    pos_label: str | None = None
    ratio: float | None = None
    where: tuple[str, str] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that have to be read."""
        optional = (self.weight, None if self.where is None else self.where[0])
        return (self.label, self.score, *(name for name in optional if name is not None))


def rows_of_cuts(table: pa.Table, task: CutTask) -> pa.Table:
    """Return one row per cut, the empty one first; that has no threshold."""
    return of_rows(table, task.where, lambda rows: _rows_of_cuts(rows, task))


def _rows_of_cuts(table: pa.Table, task: CutTask) -> pa.Table:
    labels = label_column(table, task.label, task.pos_label)
    scores = score_column(table, task.score)
    weights = None if task.weight is None else weight_column(table, task.weight)
    ranking = qk.rank(labels, scores, sample_weight=weights)
    if not ranking.counts.any():
        raise InputError("no row has any weight")
    cuts = qk.tables.cut_tables(ranking, ratio=_checked(task.ratio, ranking))
    thresholds = pa.array(ranking.thresholds)
    columns = {"threshold": pa.concat_arrays([pa.nulls(1, thresholds.type), thresholds])}
    columns |= {"quota": pa.array(cuts.quota)}
    columns |= {name: pa.array(x) for name, x in cuts.table._asdict().items()}
    real = np.append(True, ranking.counts > 0)  # the others are padding
    return pa.table(columns).filter(pa.array(real))


def _checked(ratio: float | None, ranking: qk.Ranking) -> float | None:
    if ratio is None:
        return None
    if not 0 < ratio < math.inf:
        raise InputError(f"--ratio {ratio} is not a finite number above 0")
    masses: dict[str, NDArray[Any]]
    masses = {"positive": ranking.positive_weights, "negative": ranking.negative_weights}
    for name, mass in masses.items():
        if not mass.any():
            raise InputError(f"--ratio needs both classes; there is no {name} row")
    return ratio
