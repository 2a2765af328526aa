"""Points of the ROC and the precision-recall curve that a rate asks for, or that stand out.

A rate at a cut is compared with the wanted one as floats are; crossings are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from .at_quota import ratio
from .roc import RocVertex, roc_curve
from .table import Group, Number


class CurvePoint(NamedTuple):
    """The rate, the score of the last selected example, what is selected."""

    value: Fraction | None
    threshold: Number | None
    quota: Fraction | None


class _Place(NamedTuple):
    fp: Fraction
    tp: Fraction
    threshold: Number | None


Rate: TypeAlias = Callable[[Fraction, Fraction], Fraction | None]
NOWHERE = CurvePoint(None, None, None)


def _crossings(vertices: Sequence[RocVertex], level: Rate) -> Iterator[_Place]:
    """Where a linear function of (fp, tp) is 0 strictly between two cuts."""
    for a, b in pairwise(vertices):
        first, last = level(a.fp, a.tp), level(b.fp, b.tp)
        if first * last < 0:
            share = first / (first - last)
            fp, tp = a.fp + share * (b.fp - a.fp), a.tp + share * (b.tp - a.tp)
            yield _Place(fp, tp, b.threshold)


def _chosen(places: Sequence[_Place], rate: Rate, largest: bool, most: bool) -> CurvePoint:
    points = [CurvePoint(rate(x.fp, x.tp), x.threshold, x.fp + x.tp) for x in places]
    points = [x for x in points if x.value is not None]
    if not points:
        return NOWHERE
    sign = (1 if largest else -1, 1 if most else -1)
    return max(points, key=lambda x: (sign[0] * x.value, sign[1] * x.quota))


def _rates(vertices: Sequence[RocVertex]) -> dict[str, Rate]:
    negatives, positives = vertices[-1].fp, vertices[-1].tp
    return {
        "fpr": lambda fp, _: ratio(fp, negatives),
        "tpr": lambda _, tp: ratio(tp, positives),
        "recall": lambda _, tp: ratio(tp, positives),
        "precision": lambda fp, tp: ratio(tp, fp + tp),
    }


def _at(
    ranking: Sequence[Group],
    value: str,
    given: str,
    wanted: float,
    level: Callable[[RocVertex], Rate],
    interpolate: bool,
) -> CurvePoint:
    vertices = roc_curve(ranking)
    rates = _rates(vertices)
    places = []
    for x in vertices:
        rate = rates[given](x.fp, x.tp)
        if rate is not None and (
            float(rate) <= wanted if given == "fpr" else float(rate) >= wanted
        ):
            places.append(_Place(x.fp, x.tp, x.threshold))
    if interpolate:
        places += _crossings(vertices, level(vertices[-1]))
    most = value in ("precision", "fpr")
    return _chosen(places, rates[value], value != "fpr", most)


def recall_at(ranking: Sequence[Group], precision: float, interpolate: bool = False) -> CurvePoint:
    """The largest recall with at least this precision."""
    exactly = Fraction(precision)
    level = lambda _: lambda fp, tp: tp - exactly * (fp + tp)  # noqa: E731
    return _at(ranking, "recall", "precision", precision, level, interpolate)


def precision_at(ranking: Sequence[Group], recall: float, interpolate: bool = False) -> CurvePoint:
    """The largest precision with at least this recall."""
    level = lambda end: lambda fp, tp: tp - Fraction(recall) * end.tp  # noqa: E731
    return _at(ranking, "precision", "recall", recall, level, interpolate)


def tpr_at(ranking: Sequence[Group], fpr: float, interpolate: bool = False) -> CurvePoint:
    """The largest TPR with at most this FPR."""
    level = lambda end: lambda fp, tp: fp - Fraction(fpr) * end.fp  # noqa: E731
    return _at(ranking, "tpr", "fpr", fpr, level, interpolate)


def fpr_at(ranking: Sequence[Group], tpr: float, interpolate: bool = False) -> CurvePoint:
    """The smallest FPR with at least this TPR."""
    level = lambda end: lambda fp, tp: tp - Fraction(tpr) * end.tp  # noqa: E731
    return _at(ranking, "fpr", "tpr", tpr, level, interpolate)


def _where_zero(
    ranking: Sequence[Group], value: str, level: Callable[[RocVertex], Rate]
) -> CurvePoint:
    vertices = roc_curve(ranking)
    own = level(vertices[-1])
    places = [_Place(x.fp, x.tp, x.threshold) for x in vertices if own(x.fp, x.tp) == 0]
    places += _crossings(vertices, own)
    return _chosen(places, _rates(vertices)[value], True, False)


def equal_error_rate(ranking: Sequence[Group]) -> CurvePoint:
    """FPR where it is 1 - TPR."""
    return (
        _where_zero(
            ranking, "fpr", lambda end: lambda fp, tp: fp * end.tp + tp * end.fp - end.tp * end.fp
        )
        if _both(ranking)
        else NOWHERE
    )


def break_even_point(ranking: Sequence[Group]) -> CurvePoint:
    """Recall where as many are selected as there are positives."""
    return _where_zero(ranking, "recall", lambda end: lambda fp, tp: fp + tp - end.tp)


def kolmogorov_smirnov(ranking: Sequence[Group], two_sided: bool = False) -> tuple[Any, ...]:
    """The largest TPR - FPR of all cuts, or FPR - TPR if that is larger; and which it is."""
    if not _both(ranking):
        return (*NOWHERE, None)
    places = [_Place(x.fp, x.tp, x.threshold) for x in roc_curve(ranking)]
    rates = _rates(roc_curve(ranking))
    edge = lambda fp, tp: rates["tpr"](fp, tp) - rates["fpr"](fp, tp)  # noqa: E731
    above = _chosen(places, edge, True, False)
    below = _chosen(places, lambda fp, tp: -edge(fp, tp), True, False)
    return (*below, -1) if two_sided and below.value > above.value else (*above, 1)


def det_curve(
    ranking: Sequence[Group],
) -> list[tuple[Fraction | None, Fraction | None, Number | None]]:
    """FPR, FNR and threshold of every cut."""
    return [(x.fpr, None if x.tpr is None else 1 - x.tpr, x.threshold) for x in roc_curve(ranking)]


def _both(ranking: Sequence[Group]) -> bool:
    end = roc_curve(ranking)[-1]
    return end.fp > 0 and end.tp > 0
