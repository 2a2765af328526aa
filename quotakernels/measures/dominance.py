"""Dominance: whether one curve is above another, and where."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from quotakernels._array import Array, Namespace, device, known, readable, tolerance
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.columns import MASS_ROUNDING
from quotakernels.inputs.keywords import check_choice, public
from quotakernels.measures._models import Family, Models, cut_masses_of, family_of, named_models
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking

_HEIGHTS_AT_ONCE = 2**16
"""How many heights of lines are computed at once."""


class _Stretches(NamedTuple):
    """Stretches on which no other of M paths becomes the best, some of them without width.

    Where each starts, shape (..., S); which paths are best there, (..., M, S); whether it is wide
    enough to count; and the end of the axis, (..., 1).
    """

    starts: Array
    best: Array
    kept: Array
    whole: Array


def _stretches(xp: Namespace, paths: Sequence[Polyline], rounding: float) -> _Stretches:
    """The stretches of paths whose abscissae are right to a share `rounding` of the axis."""
    path = _side_by_side(xp, paths)
    whole = path.x[..., 0, -1:]
    *batch, models, length = path.x.shape
    knots = xp.sort(xp.reshape(path.x, (*batch, models * length)), axis=-1)
    begin, end = knots[..., :-1], knots[..., 1:]
    close = _tallest(xp, path) * tolerance(whole, MASS_ROUNDING)
    parts = [
        _between(xp, path, begin[..., k], end[..., k], close, rounding)
        for k in _blocks(begin, len(paths))
    ]
    starts, width, best = (xp.concat(x, axis=-1) for x in zip(*parts, strict=True))
    kept = width > tolerance(width, MASS_ROUNDING) * whole
    return _Stretches(starts, best, kept, whole)


def _blocks(begin: Array, lines: int) -> list[slice]:
    """Stretches that are compared at once: all, or of one list so many that caches hold them."""
    size = begin.shape[-1]
    if begin.ndim > 1 or not readable(begin):
        return [slice(None)]
    step = max(_HEIGHTS_AT_ONCE // lines, 1)
    return [slice(k, min(k + step, size)) for k in range(0, size, step)]


def _between(
    xp: Namespace, path: Polyline, begin: Array, end: Array, close: Array, rounding: float
) -> tuple[Array, Array, Array]:
    """The stretches between neighbouring knots and where paths cross there: where each starts, how
    wide it is, some have no width, and which of the M paths are the highest there, (..., M, S).
    """
    shape = (*path.y.shape[:-1], begin.shape[-1])
    ends = (xp.broadcast_to(xp.expand_dims(x, axis=-2), shape) for x in (begin, end))
    left, right = _heights(xp, path, *ends)
    if rounding:
        whole = xp.expand_dims(path.x[..., 0, -1:], axis=-1)
        close = close + rounding * _steepest_slope(xp, left, right, end - begin) * whole
    edges = _switches(xp, left, right, close)
    starts = xp.stack([begin + t * (end - begin) for t in edges[:-1]], axis=-1)
    width = xp.stack([(t1 - t0) * (end - begin) for t0, t1 in pairwise(edges)], axis=-1)
    middles = [(t0 + t1) / 2 for t0, t1 in pairwise(edges)]
    best = xp.stack([_best_at(xp, t, left, right, close) for t in middles], axis=-1)
    starts, width, best = (
        xp.reshape(x, (*x.shape[:-2], x.shape[-2] * x.shape[-1])) for x in (starts, width, best)
    )
    return starts, width, best


def _tallest(xp: Namespace, path: Polyline) -> Array:
    """The height at the end of the axis, shape (..., 1, 1)."""
    highest = xp.max(xp.abs(path.y[..., -1]), axis=-1)
    return xp.reshape(highest, (*highest.shape, 1, 1))


def _steepest_slope(xp: Namespace, left: Array, right: Array, width: Array) -> Array:
    """Of any of the M lines over each of K stretches, shape (..., 1, K)."""
    rise = xp.max(xp.abs(right - left), axis=-2, keepdims=True)
    return rise / xp.expand_dims(xp.where(width > 0, width, xp.ones_like(width)), axis=-2)


def _side_by_side(xp: Namespace, paths: Sequence[Polyline]) -> Polyline:
    """The paths as one of shape (..., M, V), of floats; they end where the first one does."""
    size = max(path.x.shape[-1] for path in paths)
    whole = xp.wide(paths[0].x[..., -1:])
    columns = []
    for path in paths:
        x, y = (_padded(xp, xp.wide(z), size) for z in path)
        columns.append((x * (whole / x[..., -1:]), y))
    return Polyline(*(xp.stack(column, axis=-2) for column in zip(*columns, strict=True)))


def _padded(xp: Namespace, x: Array, size: int) -> Array:
    """`x` with its last value repeated up to a length."""
    missing = size - x.shape[-1]
    if missing == 0:
        return x
    return xp.concat([x, xp.broadcast_to(x[..., -1:], (*x.shape[:-1], missing))], axis=-1)


def _switches(xp: Namespace, left: Array, right: Array, close: Array) -> list[Array]:
    """Where, from 0 to 1, another of M lines becomes the highest: M + 1 edges, some of them equal.

    The lines are given by their heights at both ends, shape (..., M, K).  Who overtakes the one
    that leads ends above it, so that each does so at most once; where it can be read that nobody
    does any more, no further edges follow.
    """
    top = xp.max(left, axis=-2, keepdims=True)
    lead = _steepest(xp, left >= top - close, left, right)
    edges = [xp.zeros_like(top)]
    for _ in range(left.shape[-2] - 1):
        gain, behind = right - lead.y, xp.clip(lead.x - left, 0.0)
        rising = gain > close
        if rising.ndim == 2 and known(~rising):
            break
        total = xp.where(rising, behind + gain, xp.ones_like(gain))
        place = xp.where(rising, behind / total, xp.ones_like(gain))
        first = xp.min(place, axis=-2, keepdims=True)
        next_lead = _steepest(xp, rising & (place == first), left, right)
        goes_on = ~xp.any(rising, axis=-2, keepdims=True)
        lead = Polyline(*(xp.where(goes_on, x, y) for x, y in zip(lead, next_lead, strict=True)))
        edges.append(xp.maximum(edges[-1], first))
    edges.append(xp.ones_like(top))
    return [xp.squeeze(edge, axis=-2) for edge in edges]


def _steepest(xp: Namespace, among: Array, left: Array, right: Array) -> Polyline:
    """The heights at both ends of that of some lines which ends the highest."""
    none = xp.full_like(left, -xp.inf)
    end = xp.max(xp.where(among, right, none), axis=-2, keepdims=True)
    start = xp.max(xp.where(among & (right == end), left, none), axis=-2, keepdims=True)
    return Polyline(start, end)


def _best_at(xp: Namespace, place: Array, left: Array, right: Array, close: Array) -> Array:
    """Which lines are the highest at a place from 0 to 1 between their ends."""
    height = left + xp.expand_dims(place, axis=-2) * (right - left)
    return height >= xp.max(height, axis=-2, keepdims=True) - close


def _merged(xp: Namespace, stretches: _Stretches, defined: Array) -> tuple[Array, Array, Array]:
    """Neighbours among the kept stretches whose best paths are the same as one.

    Returns both ends of each, shape (..., R), and the paths that are best there, (..., R, M).
    Where it is not `defined` there is one stretch at least, and that means nothing.
    """
    starts, best, kept, whole = stretches
    index = xp.arange(kept.shape[-1], dtype=xp.int64, device=device(kept))
    there = xp.running_max(xp.where(kept, index + 1, xp.zeros_like(index)))
    before = xp.concat([xp.zeros_like(there[..., :1]), there[..., :-1]], axis=-1)
    same = best == _taken(xp, best, xp.clip(before - 1, min=0))
    first = kept & ((before == 0) | ~xp.all(same, axis=-2))
    first = first | ((index == 0) & ~xp.expand_dims(defined, axis=-1))
    place = xp.flagged_first(first)
    row = xp.arange(place.shape[-1], dtype=xp.int64, device=device(kept))
    number = xp.sum(xp.cast(first, xp.int64), axis=-1, keepdims=True)
    start = xp.take_last_axis(starts, place)
    start = xp.where(row == 0, xp.zeros_like(start), xp.where(row < number, start, whole))
    stop = xp.concat([start[..., 1:], whole], axis=-1)
    return start, stop, xp.matrix_transpose(_taken(xp, best, place))


def _taken(xp: Namespace, best: Array, place: Array) -> Array:
    """Columns of a matrix of shape (..., M, S)."""
    shape = (*best.shape[:-1], place.shape[-1])
    return xp.take_last_axis(best, xp.broadcast_to(xp.expand_dims(place, axis=-2), shape))


class Polyline(NamedTuple):
    """Points that never fall on the axis `x`, joined by straight lines; shape (..., V)."""

    x: Array
    y: Array


def _heights(xp: Namespace, path: Polyline, begin: Array, end: Array) -> list[Array]:
    """The limits of the path of floats at both ends of stretches, within which it has no point.

    Those of a stretch without width mean nothing.
    """
    right = xp.bisect(path.x, begin, beyond=True)
    points = (xp.clip(right - 1, min=0), xp.clip(right, max=path.x.shape[-1] - 1))
    x0, y0, x1, y1 = (xp.take_last_axis(z, at) for at in points for z in path)
    width = x1 - x0
    is_line, width = width > 0, xp.where(width > 0, width, xp.ones_like(width))
    rise = xp.where(is_line, y1 - y0, xp.zeros_like(y0))
    return [y0 + rise * ((x - x0) / width) for x in (begin, end)]


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
def dominates(a: Ranking[T], b: Ranking[T], *, space: Literal["roc", "pr"] = "roc") -> Array:
    """Whether one curve is nowhere lower than another.

    In ROC space that is the true positive rate at each false positive rate, in precision-recall
    space the precision at each recall.  At a jump both limits count.

    Parameters
    ----------
    a, b : Ranking
        Rankings of the same examples; batch axes are broadcast.  `Ranking.from_points` makes one of
        the points of a curve or a hull.
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
        Anything but a ranking.
    ValueError
        Another `space`; batches that cannot be broadcast; curves whose numbers of positives or
        of negatives differ.  Where these cannot be read (in a trace, on an accelerator) the
        result is False instead.

    See Also
    --------
    compare_curves : where each of several curves is the highest.

    Notes
    -----
    The comparison is made in the chosen space; both always agree, by Theorem 3.2 of [DG].  It is
    that of `compare_curves`: curves that differ by less than 2**-40 of their range count as equal
    (2**-20 where weights are in float32).

    References
    ----------
    [DG] Theorem 3.2.

    Examples
    --------
    >>> from quotakernels import Ranking, dominates, rank, roc_hull
    >>> a = rank([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> b = rank([1, 0, 1, 0], [0.9, 0.9, 0.2, 0.4])
    >>> print(dominates(a, b), dominates(b, a))
    True False
    >>> hull = roc_hull(b)
    >>> print(dominates(Ranking.from_points(hull.fp, hull.tp), b))
    True
    >>> print(dominates(a, b, space="pr"))
    True
    """
    check_choice("space", space, "roc", "pr")
    xp, family, rounding = family_of({"a": a, "b": b})
    with xp.computing():
        compare = xp.compiled(_is_best, ("axis", "rounding"))
        axis = "fpr" if space == "roc" else "recall"
        return xp.finished(compare(family, axis=axis, rounding=rounding), xp.bool)


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
    check_choice("axis", axis, "quota", "fpr", "recall")
    xp, family, rounding = family_of(named_models(models))
    dtype = xp.result_float(device(family.agree))
    with xp.computing():
        compare = xp.compiled(_regions, ("axis", "rounding"))
        found: Regions = compare(family, axis=axis, rounding=rounding)
        return xp.finished(found, dtype)


def _compared(family: Family, axis: str, rounding: float) -> tuple[_Stretches, Array]:
    """The stretches of the axis, and whether all curves have the same totals and both classes."""
    xp = namespace(family.agree)
    masses = zip(*cut_masses_of(xp, family, rounding, xp.int64), strict=True)
    curves = [Polyline(*x) for x in masses]
    fp, tp = curves[0]
    defined = family.agree & (fp[..., -1] > 0) & (tp[..., -1] > 0)
    return _stretches(xp, [_path(x, axis) for x in curves], rounding), defined


def _is_best(family: Family, *, axis: str, rounding: float) -> Array:
    """Whether the first curve is the best, or equal to the best, on all stretches."""
    xp = namespace(family.agree)
    (_, best, kept, _), defined = _compared(family, axis, rounding)
    return defined & xp.all(best[..., 0, :] | ~kept, axis=-1)


def _regions(family: Family, *, axis: str, rounding: float) -> Regions:
    xp = namespace(family.agree)
    stretches, defined = _compared(family, axis, rounding)
    start, stop, best = _merged(xp, stretches, defined)
    if axis != "quota":
        whole = stop[..., -1:]
        start, stop = start / whole, stop / whole
    there = xp.expand_dims(defined, axis=-1)
    start, stop = (xp.nan_unless(there, x) for x in (start, stop))
    return Regions(start, stop, best & xp.expand_dims(there, axis=-1))


def _path(curve: Polyline, axis: str) -> Polyline:
    """The curve over the axis, as a path on which higher is better."""
    fp, tp = curve
    if axis == "quota":
        return Polyline(fp + tp, tp)
    return curve if axis == "fpr" else Polyline(tp, -fp)
