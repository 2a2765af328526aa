"""Tables of tie groups that were made apart, put together into one ranking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quotakernels import Ranking, ops
from quotakernels.inputs.examples import check_tie_policy
from quotakernels.inputs.groups import GroupsOfExamples, groups_of
from quotakernels.ops import namespace
from quotakernels.ranking import TiePolicy, ranking_of


def check_grouped_ties(ties: str) -> None:
    """Raise unless `ties` names a policy that needs no order of the examples."""
    check_tie_policy(ties)
    if ties == "given":
        raise ValueError('ties="given" needs the order of the examples; use rank')


def combined(tables: Sequence[ops.TieTable]) -> ops.TieTable:
    """One table of several: equal scores are one group, best first, groups without examples gone.

    Counts are added in 64 bits, and so exactly; masses in the order of the tables.
    """
    table = _one_below_the_other(tables)
    table = _rows(table, table.counts > 0)
    if not len(table.counts):
        return table
    xp = namespace(table.thresholds)
    key = xp.order_key(table.thresholds)
    order = np.argsort(~key, kind="stable")  # falling, and stable as no reversal would be
    key = key[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    thresholds = xp.from_order_key(key[starts], table.thresholds.dtype)  # never -0.0
    sums = table._replace(thresholds=table.counts).map(lambda x: np.add.reduceat(x[order], starts))
    return sums._replace(thresholds=thresholds)


def _one_below_the_other(tables: Sequence[ops.TieTable]) -> ops.TieTable:
    kinds = list(dict.fromkeys(table.thresholds.dtype for table in tables))
    if len(kinds) > 1:
        raise TypeError(f"y_score must be of one dtype; got {kinds[0]} and {kinds[1]}")
    columns = zip(*(table.arrays() for table in tables), strict=True)
    joined = map(np.concatenate, columns)
    table = tables[0].map(lambda _: next(joined))
    wide = {name: getattr(table, name).astype(np.int64) for name in ("counts", "positives")}
    return table._replace(**wide)


def _rows(table: ops.TieTable, kept: np.ndarray) -> ops.TieTable:
    return table if kept.all() else table.map(lambda x: x[kept])


def ranking_of_groups(table: ops.TieTable, ties: TiePolicy) -> Ranking:
    """The ranking of a combined table, with counts of the dtype that `rank` gives them."""
    xp = namespace(table.counts)
    with xp.computing():
        return ranking_of(xp.split_ties(_with_narrow_counts(table), ties))


def ranking_by_group(table: ops.TieTable, groups: GroupsOfExamples, ties: TiePolicy) -> Ranking:
    """The ranking of groups of examples, from a table with a row for each score and group."""
    if not len(table.counts):
        table = table.map(lambda x: np.zeros(1, dtype=x.dtype))
        groups = groups._replace(codes=np.zeros(1, dtype=np.int64))
    xp = namespace(table.counts)
    with xp.computing():
        found, both = _combined_by_group(table, groups)
        found = xp.split_ties(_with_narrow_counts(found), ties)
        return ranking_of(xp.parted(found, both, groups.ids))


def _combined_by_group(
    table: ops.TieTable, groups: GroupsOfExamples
) -> tuple[ops.TieTable, ops.Combined]:
    """A row for each score and group, which thresholds stand for together."""
    xp = namespace(table.counts)
    both = xp.combined(table.thresholds, groups.codes, None)
    return combined([table._replace(thresholds=both.scores)]), both


def rows_by_group(
    tables: Sequence[ops.TieTable], ids: Sequence[np.ndarray]
) -> tuple[ops.TieTable, np.ndarray]:
    """One table of several, with a row for each score and group, and the group's id of each row."""
    table = _one_below_the_other(tables)
    kept = table.counts > 0
    if not kept.any():
        return _rows(table, kept), ids[0][:0]
    groups = groups_of("groups", np.concatenate([x for x in ids if len(x)])[kept])
    found, both = _combined_by_group(_rows(table, kept), groups)
    xp = namespace(table.counts)
    found = xp.parted(found, both, groups.ids)
    return found._replace(segments=()), groups.ids[found.segments.of_row]


def _with_narrow_counts(table: ops.TieTable) -> ops.TieTable:
    if not len(table.counts):
        table = table.map(lambda x: np.zeros(1, dtype=x.dtype))
    if table.counts.sum() >= 2**31:
        return table
    narrow = {name: getattr(table, name).astype(np.int32) for name in ("counts", "positives")}
    return table._replace(**narrow)
