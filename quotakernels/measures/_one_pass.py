"""Several measures of one table, in one pass over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quotakernels import ops
from quotakernels._array import compiled, computing, device, finished, namespace, result_float
from quotakernels.measures._measure import Measure
from quotakernels.measures._reduction import Reduction, reduced, totals


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
        found = compiled(_reduced, xp, ("makes",))(table, makes=makes)
        values = dict(zip(makes, found, strict=True))
        return {
            name: finished(xp, each.take(values[each.make]), dtype) for name, each in sums.items()
        }


def _reduced(table: ops.Groups, *, makes: tuple[Callable[..., Reduction], ...]) -> list[Any]:
    xp: Any = namespace(table.counts)
    total = totals(xp, table)
    return reduced(xp, table, *(make(xp, table, total) for make in makes))
