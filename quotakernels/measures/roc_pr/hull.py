"""Hulls of ROC curves, of one model and of a family, and points between their vertices."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    compiled,
    computing,
    concrete,
    device,
    finished,
    of_kind,
    result_float,
    tolerance,
    wide_float,
)
from quotakernels._records import plainly
from quotakernels._types import Generic, Number, T
from quotakernels.inputs.columns import MASS_ROUNDING
from quotakernels.inputs.cuts import warn_below_one
from quotakernels.inputs.examples import nan_unless_valid
from quotakernels.inputs.keywords import public
from quotakernels.inputs.numbers import checked, numbers_like
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._models import Family, Models, family_of
from quotakernels.measures._reduction import reduced
from quotakernels.measures._scale import in_usual_units
from quotakernels.measures.at_quota.curves import cut_masses, cut_thresholds
from quotakernels.measures.over_quotas.areas import pairs_won
from quotakernels.measures.roc_pr.curves import PrCurve, area_under_pr, pr_vertices, roc_vertices
from quotakernels.ops import namespace


@plainly
class RocHull(NamedTuple, Generic[T]):
    """The vertices of the upper convex hull of a ROC curve, from (0, 0) to (1, 1).

    No vertex lies on the straight line between others.  The last one is repeated as in `RocCurve`.

    Attributes
    ----------
    fpr, tpr, threshold, fp, tp : array, shape (..., V)
        As in `RocCurve`; both rates are NaN where one class is absent.
    slope_min, slope_max : array, shape (..., V)
        The slopes ΔTPR/ΔFPR of the hull after and before the vertex.  The vertex is the best of all
        cuts if one unit of FPR costs as much as s units of TPR, with s between these: s is
        ``cost_fp * (1 - π) / (cost_fn * π)`` with the prevalence π.  Both are 0 for repeated
        vertices.
    model : integer array, shape (..., V)
        Which model of a family the cut belongs to; 0 for a single ranking.
    """

    fpr: T
    tpr: T
    threshold: T | Any
    fp: Any
    tp: Any
    slope_min: T
    slope_max: T
    model: Any


@measure(Measure, greater_is_better=None)
def roc_hull(table: ops.Groups) -> RocHull:
    """Upper convex hull of the ROC curve: the cuts that are best for some costs.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    RocHull
        Its rates and slopes are NaN where one class is absent.

    See Also
    --------
    family_hull : the hull of several models together.
    mixture : how to reach any point between two vertices.

    Notes
    -----
    Slopes are compared in whole numbers, exactly while 2PN < 2**63.  With weights, slopes that
    differ by less than a relative 2**-48 count as equal.

    References
    ----------
    [DG] section 3, the convex hull.

    Examples
    --------
    >>> from quotakernels import roc_hull
    >>> hull = roc_hull([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.2, 0.1])
    >>> print(hull.fp, hull.tp, hull.threshold)
    [0 0 1 3] [0 1 3 3] [nan 0.9 0.6 0.1]
    >>> print(hull.slope_min, hull.slope_max)
    [inf  2.  0.  0.] [inf inf  2.  0.]
    """
    xp = namespace(table.counts)
    return hull_vertices(xp, ops.filled_first(xp, hull_table(xp, table)))


def hull_table(xp: Namespace, table: ops.Groups) -> ops.Groups:
    """The table in which the groups along each edge of the hull are one."""
    return ops.merged(xp, table, hull_ends(xp, table))


def hull_ends(xp: Namespace, table: ops.Groups) -> Array:
    """Which rows end at a vertex; masses as shares of their class, whose products stay in range."""
    if table.weighted:
        classes = (table.positive, table.negative)
        shares = (x / divisor(xp, xp.total(x)[..., None]) for x in classes)
        table = ops.Groups(*table[:3], *shares)
    return ops.hull_ends(xp, table)


def hull_vertices(xp: Namespace, table: ops.Groups, model: Array | None = None) -> RocHull:
    """The hull of a table of its edges, empty rows at the end; `model` is that of each vertex."""
    curve = roc_vertices(xp, table)
    _, positive, negative = (xp.expand_dims(x, axis=-1) for x in Totals(xp, table))
    up, along = (cast(xp, x, positive.dtype) for x in (table.positive, table.negative))
    slope = up * negative / (along * positive)
    slope = xp.where(table.counts > 0, slope, xp.zeros_like(slope))
    slope_min = xp.concat([slope, xp.zeros_like(slope[..., :1])], axis=-1)
    slope_max = xp.concat([xp.full_like(slope[..., :1], xp.inf), slope], axis=-1)
    defined = (positive > 0) & (negative > 0)
    floats = (curve.fpr, curve.tpr, slope_min, slope_max)
    fpr, tpr, slope_min, slope_max = (xp.nan_unless(defined, x) for x in floats)
    if model is None:
        model = xp.zeros(fpr.shape, dtype=xp.int32, device=device(fpr))
    return RocHull(fpr, tpr, *curve[2:], slope_min, slope_max, model)


@measure(
    Measure,
    greater_is_better=True,
    monotone="always",
    by_positives=True,
    best_of_cuts=True,
)
def roc_hull_auc(table: ops.Groups) -> Array:
    """Area under the upper convex hull of the ROC curve.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        From 0.5 to 1; NaN where one class is absent.

    See Also
    --------
    roc_auc : the area under the curve itself, which is not larger.

    Notes
    -----
    It is the AUC of a ranking in which the groups along each edge of the hull are tied.  On the
    data on which the hull was found it is too high; `Ranking.at_thresholds` applies the hull to
    other data.

    References
    ----------
    [DG] section 3, convex hulls.

    Examples
    --------
    >>> from quotakernels import roc_auc, roc_hull_auc
    >>> y_true, y_score = [1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.2, 0.1]
    >>> print(roc_hull_auc(y_true, y_score).round(4), roc_auc(y_true, y_score).round(4))
    0.8889 0.7778
    """
    xp = namespace(table.counts)
    won = reduced(xp, hull_table(xp, table), pairs_won(xp, table, Totals(xp, table)))[0]
    return won.share


@measure(Measure, greater_is_better=None)
def achievable_pr_curve(table: ops.Groups) -> PrCurve:
    """Achievable precision-recall curve: the vertices of the ROC hull in precision-recall space.

    It is the best curve that can be reached by mixing cuts, as the hull is in ROC space.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    PrCurve
        The recall is NaN where there are no positives.

    References
    ----------
    [DG] section 3, the achievable curve and Corollary 3.1.

    Examples
    --------
    >>> from quotakernels import achievable_pr_curve
    >>> curve = achievable_pr_curve([0, 1, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> print(curve.recall, curve.precision.round(3))
    [0. 1. 1.] [0.667 0.667 0.5  ]
    """
    xp = namespace(table.counts)
    return pr_vertices(xp, ops.filled_first(xp, hull_table(xp, table)), "roc")


@measure(Measure, greater_is_better=True, monotone="always", best_of_cuts=True)
def achievable_pr_auc(table: ops.Groups) -> Array:
    """Exact area under the achievable precision-recall curve.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        From the prevalence to 1; NaN where there are no positives.

    See Also
    --------
    pr_auc : the area under the curve of the cuts themselves, which is not larger.

    References
    ----------
    [DG] sections 3-5, the area under the achievable curve.

    Examples
    --------
    >>> from quotakernels import achievable_pr_auc, pr_auc
    >>> y_true, y_score = [0, 1, 1, 0], [0.9, 0.8, 0.7, 0.1]
    >>> print(achievable_pr_auc(y_true, y_score).round(4), pr_auc(y_true, y_score).round(4))
    0.6667 0.4507
    """
    xp = namespace(table.counts)
    area = area_under_pr(xp, Totals(xp, table), "roc")
    return reduced(xp, hull_table(xp, table), area)[0]


@plainly
class Mixture(NamedTuple, Generic[T]):
    """Two cuts of a hull, and how to mix them to reach a point between them.

    Attributes
    ----------
    lower, upper : integer array, shape (..., *Q)
        Positions of the two vertices in the hull; equal where the point is a vertex, and 0 where it
        is undefined.
    share : array, shape (..., *Q)
        Probability of using the upper cut for an example.
    fpr, tpr : array, shape (..., *Q)
        The expected rates of the mixture.
    threshold_lower, threshold_upper : array, shape (..., *Q)
        Thresholds of the two cuts, as in `Curve`.
    model_lower, model_upper : integer array, shape (..., *Q)
        The models of the two cuts in the family.
    """

    lower: T
    upper: T
    share: T
    fpr: T
    tpr: T
    threshold_lower: T | Any
    threshold_upper: T | Any
    model_lower: Any
    model_upper: Any


@public
def family_hull(models: Models[T]) -> RocHull[T]:
    """Upper convex hull of the ROC points of several models; each vertex names its model.

    Parameters
    ----------
    models : mapping or sequence of `Ranking`, or one `Ranking` of shape (..., M, G)
        Rankings of the same examples by M models.  ``model`` counts them from 0 in this order.

    Returns
    -------
    RocHull
        The hull of all their points together.  A point that several models have belongs to the
        first of them.  Rates and slopes are NaN where one class is absent.

    Raises
    ------
    TypeError
        Anything but rankings.
    ValueError
        No model; models with different numbers of positives or of negatives (NaN instead where they
        cannot be read).

    See Also
    --------
    roc_hull : the hull of one model.
    mixture : how to reach a point between its vertices.

    References
    ----------
    [AR] section 2.2.2.

    Examples
    --------
    >>> from quotakernels import family_hull, rank
    >>> y_true = [1, 1, 0, 0, 1, 0]
    >>> models = {
    ...     "strict": rank(y_true, [0.9, 0.2, 0.5, 0.4, 0.3, 0.1]),
    ...     "mild": rank(y_true, [0.5, 0.9, 0.8, 0.2, 0.7, 0.1]),
    ... }
    >>> hull = family_hull(models)
    >>> print(hull.fp, hull.tp, hull.model)
    [0 0 1 3] [0 1 3 3] [0 0 1 0]
    """
    family = family_of(models)
    xp = namespace(family.agree)
    dtype = result_float(xp, device(family.agree))
    with computing(xp):
        hull = finished(xp, compiled(_hull_of_family, xp)(family), dtype)
        result: RocHull = nan_unless_valid(xp, hull, family.agree[..., None])
    return result


class _Points(NamedTuple):
    """The points of all models from the left to the right, the highest first, each with its cut."""

    fp: Array
    tp: Array
    threshold: Array
    model: Array


def _hull_of_family(family: Family) -> RocHull:
    xp = namespace(family.agree)
    points = _points_from_the_left(xp, family)
    stairs = _stairs(xp, points, xp.expand_dims(family.agree, axis=-1))
    edges = ops.filled_first(xp, ops.merged(xp, stairs, hull_ends(xp, stairs)))
    place = edges.thresholds
    threshold, model = (xp.take_last_axis(x, place) for x in (points.threshold, points.model))
    model = xp.concat([xp.zeros_like(model[..., :1]), model], axis=-1)
    edges = edges._replace(thresholds=threshold)
    return _HULL_VERTICES(edges, model)  # type: ignore[no-any-return]


_HULL_VERTICES = in_usual_units(
    lambda table, model: hull_vertices(namespace(model), table, model), of_masses=False
)


def _points_from_the_left(xp: Namespace, family: Family) -> _Points:
    """Of points that are the same the first model's comes first."""
    columns = ((*cut_masses(xp, table), cut_thresholds(xp, table)) for table in family.tables)
    fp, tp, thresholds = (_of_one_type(xp, list(x)) for x in zip(*columns, strict=True))
    fp, tp = _to_one_end(xp, fp), _to_one_end(xp, tp)
    models = [
        xp.full(x.shape, number, dtype=xp.int32, device=device(x)) for number, x in enumerate(fp)
    ]
    points = _Points(*(xp.concat(list(x), axis=-1) for x in (fp, tp, thresholds, models)))
    for name, falling in (("tp", True), ("fp", False)):
        order = xp.argsort(getattr(points, name), axis=-1, descending=falling, stable=True)
        points = _Points(*(xp.take_last_axis(x, order) for x in points))
    return points


def _of_one_type(xp: Namespace, columns: list[Array]) -> list[Array]:
    """Columns of several models; counts beside masses become masses too."""
    dtypes = {x.dtype for x in columns}
    if len(dtypes) == 1:
        return columns
    whole = all(of_kind(xp, dtype, "integral") for dtype in dtypes)
    common = xp.int64 if whole else wide_float(xp, device(columns[0]))
    return [cast(xp, x, common) for x in columns]


def _to_one_end(xp: Namespace, columns: list[Array]) -> list[Array]:
    """All models end where the first does: their totals differ by the order of adding only."""
    end = columns[0][..., -1:]
    return [xp.where(x == x[..., -1:], end, xp.minimum(x, end)) for x in columns]


def _stairs(xp: Namespace, points: _Points, agree: Array) -> ops.Groups:
    """The steps along the highest points up to each FP; thresholds are places among the points."""
    highest = xp.running_max(points.tp)
    along, up = (x - xp.shift_right(x, 1, 0) for x in (points.fp, highest))
    along, up = (xp.where(agree, x, xp.zeros_like(x)) for x in (along, up))
    place = xp.arange(along.shape[-1], dtype=xp.int64, device=device(along))
    place = xp.broadcast_to(place, along.shape)
    if of_kind(xp, along.dtype, "integral"):
        return ops.Groups(place, along + up, up, None, None)
    there, found = (cast(xp, x, xp.int32) for x in ((along > 0) | (up > 0), up > 0))
    return ops.Groups(place, there, found, up, along)


@public
def mixture(
    hull: RocHull[T],
    *,
    fpr: Number | None = None,
    tpr: Number | None = None,
    quota: Number | None = None,
) -> Mixture[T]:
    """The two vertices of a hull, and the probability of each, that reach a point between them.

    For each example use the upper vertex's cut with probability `share`, else the lower vertex's
    cut.  The expected rates then lie on the hull, above any cut between the two.

    Parameters
    ----------
    hull : RocHull
        The result of `roc_hull` or `family_hull`.
    fpr, tpr : number or array, shape Q, optional
        Wanted false or true positive rate, 0…1.
    quota : number or array, shape Q, optional
        Wanted number of selected examples (with weights: mass), from 0 to n.  Give exactly one of
        the three.

    Returns
    -------
    Mixture
        At a vertex, lower and upper are the same and the share is 0: at FPR 0 the vertex with the
        highest TPR, at TPR 1 the one with the lowest FPR.  NaN where the hull is undefined.

    Raises
    ------
    TypeError
        Not exactly one of `fpr`, `tpr` and `quota`; anything but a hull.
    ValueError
        A rate outside 0…1, a quota outside 0…n; NaN instead where values cannot be read, and in
        those rows of a batch whose n it exceeds.

    References
    ----------
    [DG] section 4, the weighted coin.

    Examples
    --------
    >>> from quotakernels import mixture, roc_hull
    >>> hull = roc_hull([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.2, 0.1])
    >>> mixed = mixture(hull, quota=2)
    >>> print(mixed.threshold_lower, mixed.threshold_upper, mixed.share.round(3))
    0.9 0.6 0.333
    >>> print(mixed.fpr.round(3), mixed.tpr.round(3))
    0.111 0.556
    """
    given = {"fpr": fpr, "tpr": tpr, "quota": quota}
    named: dict[str, Any] = {name: x for name, x in given.items() if x is not None}
    if len(named) != 1:
        raise TypeError("give exactly one of fpr=, tpr= and quota=")
    if not isinstance(hull, RocHull):
        raise TypeError(f"hull must be a RocHull; got {type(hull).__name__}")
    ((name, value),) = named.items()
    xp = namespace(hull.fpr)
    dtype = result_float(xp, device(hull.fpr))
    with computing(xp):
        wanted = numbers_like(hull.fpr, name, value)
        if name == "quota" and of_kind(xp, hull.fp.dtype, "integral") and concrete(hull.fp):
            warn_below_one(value)
        along = hull.fp + hull.tp if name == "quota" else getattr(hull, name)
        along = cast(xp, along, wanted.dtype)
        within = _within(xp, hull, along, name, wanted)
        mixed = compiled(_mixture, xp)(hull, along, within)
        shape = (*hull.fpr.shape[:-1], *wanted.shape)
        return finished(xp, Mixture(*(xp.reshape(x, shape) for x in mixed)), dtype)  # type: ignore[no-any-return]


def _within(xp: Namespace, hull: RocHull, along: Array, name: str, value: Array) -> Array:
    """The wanted values, shape (..., K); NaN where they are beyond the hull, or it is undefined."""
    whole: Array | int = 1
    highest: Array | int = 1
    whole_numbers = of_kind(xp, hull.fp.dtype, "integral")
    rounded_up = 1.0 if whole_numbers else 1 + tolerance(along, MASS_ROUNDING)
    expected = "a rate, from 0 to 1"
    if name == "quota":
        whole = xp.max(along, axis=-1, keepdims=True)
        highest = xp.max(whole) * rounded_up
        expected = "a number from 0 to that of all examples"
    none = highest == 0  # of no examples every quota is undefined
    fits = {name: (lambda x: (x >= 0) & ((x <= highest) | none), expected)}
    flat = xp.reshape(checked(xp, {name: value}, fits)[name], (-1,))
    wanted = xp.broadcast_to(flat, (*along.shape[:-1], *flat.shape))
    defined = ~xp.isnan(hull.fpr[..., :1])
    good = (wanted >= 0) & (wanted <= whole * rounded_up) & defined
    return xp.nan_unless(good, xp.clip(wanted, max=whole))


def _mixture(hull: RocHull, along: Array, wanted: Array) -> Mixture:
    """`along` does not fall from vertex to vertex; it reaches every wanted value but NaN."""
    xp = namespace(along)
    last = along.shape[-1] - 1

    def at(x: Array, places: Array) -> Array:
        return xp.take_last_axis(x, places)

    upper = xp.clip(xp.bisect(along, wanted), max=last)
    above = xp.clip(upper + 1, max=last)
    higher = (at(along, above) == wanted) & (at(hull.tpr, above) > at(hull.tpr, upper))
    upper = xp.where(higher, above, upper)
    lower = xp.where(at(along, upper) == wanted, upper, xp.clip(upper - 1, min=0))
    way = at(along, upper) - at(along, lower)
    share = (wanted - at(along, lower)) / xp.where(way == 0, xp.ones_like(way), way)
    rates = tuple(
        at(x, lower) + share * (at(x, upper) - at(x, lower)) for x in (hull.fpr, hull.tpr)
    )
    cuts = tuple(at(x, place) for x in (hull.threshold, hull.model) for place in (lower, upper))
    lower, upper = (cast(xp, x, xp.int32) for x in (lower, upper))
    return Mixture(lower, upper, share, *rates, *cuts)
