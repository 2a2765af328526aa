"""Measures over all quotas at once: one pass over the table for several of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from quotakernels import ops
from quotakernels._array import compiled, computing, device, finished, namespace, result_float
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._reduction import Reduction, reduced
from quotakernels.measures.over_quotas.areas import advantage_areas, pairs_won
from quotakernels.measures.over_quotas.averages import hit_rate_mean, qrecall_mean


@plainly
class Summary(NamedTuple, Generic[T]):
    """All measures over all quotas, each of shape (...).

    Attributes
    ----------
    roc_auc, gini, pem, average_hit_rate, average_qrecall : array
        As the functions of these names give them.
    s1, s2, s3 : array
        As `pem_areas` gives them: by sums, or with sample weights by areas.
    """

    roc_auc: T
    gini: T
    pem: T
    average_hit_rate: T
    average_qrecall: T
    s1: T
    s2: T
    s3: T


@measure(Measure, greater_is_better=None, by_positives=True, by_group=True, by_sums=True)
def summary(table: ops.Groups) -> Summary:
    """All measures over all quotas in one pass, for less than the time of two of them.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    Summary
        Each value equals that of its own function, and is NaN where it is undefined.

    References
    ----------
    [AR] eq. 12-15.

    Examples
    --------
    >>> from quotakernels import summary
    >>> values = summary([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1])
    >>> print(values.pem.round(4), values.average_qrecall.round(4))
    0.3333 0.8889
    """
    xp = namespace(table[0])
    total = Totals(xp, table)
    method: Literal["sum", "area"] = "area" if table.weighted else "sum"
    won, hit_rate, qrecall, areas = reduced(
        xp,
        table,
        pairs_won(xp, table, total),
        hit_rate_mean(xp, table, total),
        qrecall_mean(xp, table, total),
        advantage_areas(xp, table, total, method),
    )
    surplus = won.surplus
    return Summary(won.share, surplus, surplus, hit_rate, qrecall, *areas)


def sharing(measures: Mapping[str, Any]) -> dict[str, Measure]:
    """Those that are sums over the rows, and can share a pass."""
    return {
        name: each
        for name, each in measures.items()
        if isinstance(each, Measure) and each.sums is not None
    }


def in_one_pass(measures: Mapping[str, Measure], table: ops.Groups) -> dict[str, Any]:
    """The values of measures that share a pass, each the one that the measure gives by itself."""
    xp = namespace(table.counts)
    dtype = result_float(xp, device(table.counts))
    sums = {name: measure.sums for name, measure in measures.items() if measure.sums is not None}
    makes = tuple(dict.fromkeys(each.make for each in sums.values()))
    with computing(xp):
        by_positives = all(measure.by_positives for measure in measures.values())
        rows = (by_positives and ops.merged_groups(xp, table)) or table
        found = compiled(_reduced, xp, ("makes",))(rows, makes=makes)
        values = dict(zip(makes, found, strict=True))
        return {
            name: finished(xp, each.take(values[each.make]), dtype) for name, each in sums.items()
        }


def _reduced(table: Any, *, makes: tuple[Callable[..., Reduction], ...]) -> list[Any]:
    xp: Any = namespace(table[0])
    total = Totals(xp, table)
    return reduced(xp, table, *(make(xp, table, total) for make in makes))
