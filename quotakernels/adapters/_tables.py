"""Tables of tie groups from several parts, merged into one ranking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quotakernels import Ranking, ops
from quotakernels.inputs.groups import groups_of
from quotakernels.ops import namespace
from quotakernels.ranking import TiePolicy, ranking_of

Ids = np.ndarray | None
"""The id of each row's group of examples; None without groups."""


def merged(
    tables: Sequence[ops.TieTable], of_rows: Sequence[np.ndarray] = ()
) -> tuple[ops.TieTable, Ids]:
    """One table of several, in which equal rows are one, by group and best first, and their groups.

    Rows without examples are dropped.  Counts are added in 64 bits, so exactly; masses are added in
    the order of the tables.
    """
    joined = map(np.concatenate, zip(*(table.arrays() for table in tables), strict=True))
    table = tables[0].map(lambda _: next(joined))
    there = [x for x in of_rows if len(x)] or of_rows[:1]
    ids = np.concatenate(there) if there else None
    xp = namespace(table.thresholds)
    falling = ~xp.order_key(table.thresholds)
    keys = [falling] if ids is None else [falling, ids]
    kept = np.flatnonzero(table.counts > 0)
    order = kept[np.lexsort([key[kept] for key in keys])]
    first = np.ones(len(order), dtype=bool)
    first[1:] = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
    starts = np.flatnonzero(first)
    sums = table._replace(thresholds=table.counts).map(lambda x: np.add.reduceat(x[order], starts))
    chosen = order[starts]
    thresholds = xp.from_order_key(~falling[chosen], table.thresholds.dtype)  # never -0.0
    return sums._replace(thresholds=thresholds), None if ids is None else ids[chosen]


def ranking_of_merged(table: ops.TieTable, ids: Ids, ties: TiePolicy) -> Ranking:
    """The ranking of a merged table, with counts of the dtype that `rank` gives them."""
    groups = None if ids is None else groups_of("groups", ids)
    if not len(table.counts):
        table = table.map(lambda x: np.zeros(1, dtype=x.dtype))
    if table.counts.sum() < 2**31:
        narrow = {name: getattr(table, name).astype(np.int32) for name in ("counts", "positives")}
        table = table._replace(**narrow)
    xp = namespace(table.counts)
    with xp.computing():
        if groups is None:
            return ranking_of(xp.split_ties(table, ties))
        codes = groups.codes if len(groups.codes) else np.zeros(1, dtype=np.int64)
        both = xp.combined(table.thresholds, codes, None)
        found = xp.split_ties(table._replace(thresholds=both.scores), ties)
        return ranking_of(xp.parted(found, both, groups.ids))
