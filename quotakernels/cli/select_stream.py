"""The rows that fill a quota, of Parquet files that memory does not hold: the threshold first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from quotakernels import _text
from quotakernels.cli.batches import Rows, score_kind, scores_of
from quotakernels.cli.columns import score_column
from quotakernels.cli.selection import Selection, Ties, check_quota, reached, select_rows
from quotakernels.evaluation.batches import Batch, counted_cells, opened
from quotakernels.evaluation.settings import Quota


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
    check_quota(quota, total, f"the {_text.counted(total, 'row', 'rows')}")
    places = float(ties.places(quota, np.asarray(total)))
    while not cells[score].ties[end := min(cells[score].ends(places))]:
        cells = opened(passes, cells, {score: {end}})
    return cells[score].least[end], total
