"""Whether one curve dominates another, and which of several models is best where."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    compiled,
    computing,
    device,
    finished,
    namespace,
    result_float,
)
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.columns import adopt, check_same_totals
from quotakernels.inputs.keywords import public, show_value
from quotakernels.measures._models import Models, named_models
from quotakernels.measures.roc_pr.hull import RocHull
from quotakernels.measures.roc_pr.precision_recall import PrCurve
from quotakernels.measures.roc_pr.regions import (
    CurveTotals,
    Points,
    Polyline,
    Steps,
    StepsOrPoints,
    alike,
    best_stretches,
    nowhere_above,
    rounding_of,
    totals_of,
)
from quotakernels.measures.roc_pr.roc import RocCurve
from quotakernels.ranking import Ranking, refuse_groups

_SPACES = ("roc", "pr")
_AXES = ("quota", "fpr", "recall")


@plainly
class Regions(NamedTuple, Generic[T]):
    """The stretches of an axis in which the same models are best, from 0 to its end.

    Each stretch begins where the one before it ends.  Where shapes are fixed (in a batch, in a
    trace, on an accelerator) empty rows follow the last stretch: they repeat its models, and both
    their ends are the end of the axis.

    Attributes
    ----------
    start, stop : array, shape (..., R)
        The ends of the stretch: a quota, in examples or with weights a mass, or a rate.  NaN
        where one class is absent.
    best : boolean array, shape (..., R, M)
        Which of the M models are best on the whole stretch, or equal to the best.
    """

    start: Any
    stop: Any
    best: Any


@public
def dominates(a: Any, b: Any, *, space: Literal["roc", "pr"] = "roc") -> Array:
    """Whether one curve is nowhere lower than another.

    In ROC space that is the true positive rate at each false positive rate, in precision-recall
    space the precision at each recall.  At a jump both limits count.

    Parameters
    ----------
    a, b : Ranking, RocCurve, PrCurve or RocHull
        Curves of the same examples; batch axes are broadcast.
    space : {"roc", "pr"}
        Where to compare.

    Returns
    -------
    boolean array, shape (...)
        True if no point of `b` is above the curve of `a`, and so also if the two are equal.
        False where one class is absent, which leaves a curve undefined.

    Raises
    ------
    TypeError
        Anything but a ranking or a curve.
    ValueError
        Another `space`; batches that cannot be broadcast; curves whose numbers of positives or
        of negatives differ.  Where these cannot be read (in a trace, on an accelerator) the
        result is False instead.

    See Also
    --------
    compare_curves : where each of several curves is the highest.

    Notes
    -----
    The comparison is made in the chosen space; both always agree, by Theorem 3.2 of [DG].  Without
    weights the answer is exact while PN < 2**112.  With weights, two masses that differ by less
    than 2**-40, relatively, count as equal (2**-20 if the curve is in float32).

    References
    ----------
    [DG] Theorem 3.2.

    Examples
    --------
    >>> from quotakernels import dominates, rank, roc_hull
    >>> a = rank([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> b = rank([1, 0, 1, 0], [0.9, 0.9, 0.2, 0.4])
    >>> print(dominates(a, b), dominates(b, a), dominates(roc_hull(a), a))
    True False True
    >>> print(dominates(a, b, space="pr"))
    True
    """
    if space not in _SPACES:
        raise ValueError(f'space must be "roc" or "pr"; got {show_value(space)}')
    xp, sources = _admitted({"a": a, "b": b}, curves_too=True)
    with computing(xp):
        found, totals = compiled(_dominates, xp, ("space",))(*sources, space=space)
        check_same_totals(["a", "b"], *totals)
        return finished(xp, found, xp.bool)


@public
def compare_curves(
    models: Models[T], *, axis: Literal["quota", "fpr", "recall"] = "quota"
) -> Regions[T]:
    """Where each of several models is the best: their areas of dominance.

    Parameters
    ----------
    models : mapping or sequence of Rankings, or a Ranking of shape (..., M, G)
        Rankings of the same examples; a single one holds the models along its last batch axis.
    axis : {"quota", "fpr", "recall"}
        What to fix, and so what to compare: at a quota the expected number of positives (and
        with it hit rate, Qrecall and lift), at a false positive rate the true positive rate, at a
        recall the precision.

    Returns
    -------
    Regions
        In the order of the models; NaN and False where one class is absent.

    Raises
    ------
    TypeError
        Anything but rankings.
    ValueError
        Another `axis`; no model; batches that cannot be broadcast; models whose numbers of
        positives or of negatives differ.  Where these cannot be read, the result is NaN and False
        instead.

    See Also
    --------
    dominates : whether one curve is the best everywhere.

    Notes
    -----
    The curves may also cross between cuts, where they are straight lines, or hyperbolas in
    precision-recall space.  Curves that differ by less than 2**-40 of their range (with weights
    upwards or along the axis) count as equal.  Stretches shorter than 2**-40 of the axis are left
    out.

    References
    ----------
    [AR] Figure 4.

    Examples
    --------
    >>> from quotakernels import compare_curves, rank
    >>> y_true = [1, 0, 0, 1, 0]
    >>> models = {
    ...     "distinct": rank(y_true, [0.9, 0.8, 0.7, 0.6, 0.5]),
    ...     "tied": rank(y_true, [0.7, 0.7, 0.1, 0.7, 0.1]),
    ... }
    >>> regions = compare_curves(models)
    >>> print(regions.start, regions.stop)
    [0.  1.5 4. ] [1.5 4.  5. ]
    >>> print(regions.best)
    [[ True False]
     [False  True]
     [ True  True]]
    """
    if axis not in _AXES:
        raise ValueError(f'axis must be "quota", "fpr" or "recall"; got {show_value(axis)}')
    named = named_models(models)
    xp, sources = _admitted(named, curves_too=False)
    dtype = result_float(xp, device(sources[0][0]))
    with computing(xp):
        regions, totals = compiled(_regions, xp, ("axis",))(sources, axis=axis)
        check_same_totals(list(named), *totals)
        return Regions(*finished(xp, regions, dtype))


def _admitted(
    named: dict[str, Any], curves_too: bool
) -> tuple[Namespace, tuple[StepsOrPoints, ...]]:
    """What is compared, in one library and on one device."""
    columns: dict[str, Array] = {}
    kinds: list[type[Steps] | type[Points]] = []
    for name, given in named.items():
        if isinstance(given, Ranking):
            refuse_groups(given, name)
            kinds.append(Steps)
            columns[f"{name}.negative_weights"] = given.negative_weights
            columns[f"{name}.positive_weights"] = given.positive_weights
        elif curves_too and isinstance(given, (RocCurve, PrCurve, RocHull)):
            kinds.append(Points)
            columns[f"{name}.fp"], columns[f"{name}.tp"] = given.fp, given.tp
        else:
            known = "Ranking, RocCurve, PrCurve or RocHull" if curves_too else "Ranking"
            raise TypeError(f"{name} must be a {known}; got {type(given).__name__}")
    xp, columns = adopt(columns)
    pairs = iter(columns.values())
    return xp, tuple(kind(next(pairs), next(pairs)) for kind in kinds)


def _dominates(a: StepsOrPoints, b: StepsOrPoints, *, space: str) -> tuple[Array, CurveTotals]:
    """The answer, and the totals of both curves."""
    xp = namespace(a[0])
    rounding = rounding_of(xp, (a, b))
    curves = alike(xp, (a, b))
    totals = totals_of(xp, curves, rounding)
    if space == "roc":
        upper, lower = (Polyline(curve.fp, curve.tp) for curve in curves)
    else:  # at each TP the fewest FP are the highest precision
        lower, upper = (Polyline(curve.tp, curve.fp) for curve in curves)
    if rounding:
        upper, lower = (Polyline(*(x / x[..., -1:] for x in path)) for path in (upper, lower))
        upper = Polyline(upper.x * (1 - rounding), upper.y * (1 + rounding))
    return nowhere_above(xp, lower, upper) & _comparable(xp, totals), totals


def _comparable(xp: Namespace, totals: CurveTotals) -> Array:
    """Whether all curves have both classes, and the same totals."""
    right = ~totals.differ & (totals.negative > 0) & (totals.positive > 0)
    return xp.all(right, axis=-1)


def _regions(models: tuple[StepsOrPoints, ...], *, axis: str) -> tuple[Regions, CurveTotals]:
    """The regions, and the totals of all models."""
    xp = namespace(models[0][0])
    curves = alike(xp, models)
    rounding = rounding_of(xp, models)
    totals = totals_of(xp, curves, rounding)
    paths = [_path(curve, axis) for curve in curves]
    defined = _comparable(xp, totals)
    start, stop, best = best_stretches(xp, paths, defined, rounding)
    if axis != "quota":
        whole = stop[..., -1:]
        start, stop = start / whole, stop / whole
    there = xp.expand_dims(defined, axis=-1)
    start, stop = (ops.nan_unless(xp, there, x) for x in (start, stop))
    return Regions(start, stop, best & xp.expand_dims(there, axis=-1)), totals


def _path(curve: Points, axis: str) -> Polyline:
    """The curve over the axis, as a path on which higher is better."""
    fp, tp = curve
    if axis == "quota":
        return Polyline(fp + tp, tp)
    return Polyline(fp, tp) if axis == "fpr" else Polyline(tp, -fp)
