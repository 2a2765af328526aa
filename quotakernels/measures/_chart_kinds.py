"""One map from decisions to the coordinates of a chart: of cuts, of single points, of lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels._array import Array, Namespace, namespace
from quotakernels._keywords import brief
from quotakernels.measures._cells import ConfusionTable
from quotakernels.measures._table_measure import TableMeasure
from quotakernels.measures.table_classes import informedness
from quotakernels.measures.table_rates import bias, false_positive_rate, precision, recall

__all__ = ["Kind", "Place", "check_kind", "coordinates", "decisions"]

Kind: TypeAlias = Literal[
    "pn",
    "roc",
    "boc",
    "boc_dual",
    "pr",
    "pr_reciprocal",
    "pr_log",
    "lift",
    "bift",
    "bprd",
    "bird",
    "bird_informedness",
]

FAR = 1000
"""Bits of a quotient beyond which it may leave the range of floats, or lose its digits there."""


class Place(NamedTuple):
    """Where decisions stand in a chart."""

    x: Array
    y: Array


_Chart: TypeAlias = Callable[[ConfusionTable, Any], tuple[Array, Array]]


def _of(x: TableMeasure, y: TableMeasure) -> _Chart:
    """The chart of one measure of tables on another."""

    def chart(table: ConfusionTable, _: Any) -> tuple[Array, Array]:
        xp = namespace(table.tp)
        return x.value(xp, table, {}), y.value(xp, table, {})

    return chart


def _counts(table: ConfusionTable, _: Any) -> tuple[Array, Array]:
    return table.fp, table.tp


def _reciprocals(table: ConfusionTable, _: Any) -> tuple[Array, Array]:
    return (table.tp + table.fn) / table.tp, (table.tp + table.fp) / table.tp


def _logarithms(table: ConfusionTable, _: Any) -> tuple[Array, Array]:
    return _bits_of_share(table.tp, table.fn), _bits_of_share(table.tp, table.fp)


def _on_drift(table: ConfusionTable, _: Any) -> tuple[Array, Array]:
    xp, positive = namespace(table.tp), table.tp + table.fn
    drift = (table.tp + table.fp) / positive
    drift = xp.where(positive > 0, drift, xp.full_like(drift, xp.nan))
    return drift, informedness.value(xp, table, {})


def _bird(table: ConfusionTable, s: Any) -> tuple[Array, Array]:
    found = (s + table.tp) / (s + (table.tp + table.fn))
    wrong = (s + table.fp) / (s + (table.fp + table.tn))
    return _bits_of_drift(table, s), _bits(found, wrong)


def _bird_informedness(table: ConfusionTable, s: Any) -> tuple[Array, Array]:
    """1 - informedness is FNR + FPR, which is exact near 0, as informedness is near chance."""
    xp = namespace(table.tp)
    value = informedness.value(xp, table, {})
    missed = table.fn / (table.tp + table.fn) + table.fp / (table.fp + table.tn)
    near_chance = xp.log1p(-value) / math.log(2)
    y = xp.where(xp.abs(value) < 0.5, near_chance, xp.log2(missed))
    return _bits_of_drift(table, s), -y


def _bits_of_drift(table: ConfusionTable, s: Any) -> Array:
    """Smoothed bias over prevalence."""
    return _bits(s + (table.tp + table.fp), s + (table.tp + table.fn))


def _bits(over: Array, under: Array) -> Array:
    """Logarithm to base 2 of a quotient, also of one that no float holds."""
    xp = namespace(over)
    direct = xp.log2(over / under)
    return xp.where(xp.abs(direct) > FAR, xp.log2(over) - xp.log2(under), direct)


def _bits_of_share(part: Array, rest: Array) -> Array:
    """-log₂(part/(part + rest)), to full precision also where that is small."""
    xp = namespace(part)
    direct = xp.log1p(rest / part) / math.log(2)
    return xp.where(direct > FAR, xp.log2(rest) - xp.log2(part), direct)


_CHARTS: Mapping[str, _Chart] = {
    "pn": _counts,
    "roc": _of(false_positive_rate, recall),
    "boc": _of(false_positive_rate, informedness),
    "boc_dual": _of(recall, informedness),
    "pr": _of(recall, precision),
    "pr_reciprocal": _reciprocals,
    "pr_log": _logarithms,
    "lift": _of(bias, recall),
    "bift": _of(bias, informedness),
    "bprd": _on_drift,
    "bird": _bird,
    "bird_informedness": _bird_informedness,
}


def check_kind(kind: Any) -> None:
    """Refuse what is no kind of chart."""
    if not isinstance(kind, str) or kind not in _CHARTS:
        names = ", ".join(map(repr, _CHARTS))
        raise ValueError(f"kind must be one of {names}; got {brief(kind)}")


def coordinates(xp: Namespace, kind: Kind, table: ConfusionTable, smoothing: Any) -> Place:
    """The places of decisions whose cells are floats of one shape; NaN without examples."""
    there = (table.tp + table.fn) + (table.fp + table.tn) > 0
    place = _CHARTS[kind](table, smoothing)
    return Place(*(xp.where(there, x, xp.full_like(x, xp.nan)) for x in place))


def decisions(
    xp: Namespace, fp: Array, tp: Array, positives: Array, negatives: Array
) -> ConfusionTable:
    """The cells of decisions that select these of so many; arrays of one shape."""
    return ConfusionTable(tp, fp, xp.clip(positives - tp, 0), xp.clip(negatives - fp, 0))
