"""Hulls of ROC curves, and the cuts and expected losses that costs choose on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, concrete, device, tolerance
from quotakernels._records import plainly
from quotakernels._types import A, Generic, Number, NumberOf, T
from quotakernels.inputs.columns import MASS_ROUNDING
from quotakernels.inputs.cuts import warn_below_one
from quotakernels.inputs.examples import nan_unless_valid
from quotakernels.inputs.keywords import check_choice, public
from quotakernels.inputs.models import of_one_dtype
from quotakernels.inputs.numbers import (
    COST,
    Domains,
    checked,
    common_shape,
    numbers_like,
    of_numbers,
)
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._models import Family, Models, cut_masses_of, family_of, named_models
from quotakernels.measures._units import in_usual_units
from quotakernels.measures.at_quota import cut_thresholds
from quotakernels.measures.over_quotas import pairs_won
from quotakernels.measures.roc_pr import PrCurve, area_under_pr, pr_vertices, roc_vertices
from quotakernels.ops import namespace


@plainly
class RocHull(NamedTuple, Generic[T]):
    """The vertices of the upper convex hull of a ROC curve, from (0, 0) to (1, 1).

    No vertex lies on the straight line between others.  Where shapes are fixed, the last one is
    repeated up to the length G + 1.

    Attributes
    ----------
    fpr, tpr : array, shape (..., V)
        False and true positive rate, FP/N and TP/P; both are NaN where one class is absent.
    threshold : array, shape (..., V)
        Score of the last selected example; NaN at the empty cut.
    fp, tp : array, shape (..., V)
        Selected negatives and positives: whole numbers, or with weights their masses.
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
def roc_hull(table: ops.TieTable) -> RocHull:
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
    return hull_vertices(xp, xp.filled_first(hull_table(xp, table)))


def hull_table(xp: Namespace, table: ops.TieTable) -> ops.TieTable:
    """The table in which the groups along each edge of the hull are one."""
    return xp.merged(table, hull_ends(xp, table))


def hull_ends(xp: Namespace, table: ops.TieTable) -> Array:
    """Which rows end at a vertex; masses as shares of their class, whose products stay in range."""
    if table.weighted:
        classes = (table.positive, table.negative)
        shares = (x / divisor(xp, xp.total(x)[..., None]) for x in classes)
        table = ops.TieTable(*table[:3], *shares)
    return xp.hull_ends(table)


def hull_vertices(xp: Namespace, table: ops.TieTable, model: Array | None = None) -> RocHull:
    """The hull of a table of its edges, empty rows at the end; `model` is that of each vertex."""
    curve = roc_vertices(xp, table)
    _, positive, negative = (xp.expand_dims(x, axis=-1) for x in Totals(xp, table))
    up, along = (xp.cast(x, positive.dtype) for x in (table.positive, table.negative))
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


@measure(Measure, greater_is_better=True, monotone="always", by_positives=True, best_of_cuts=True)
def roc_hull_auc(table: ops.TieTable) -> Array:
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
    return xp.sum_rows(hull_table(xp, table), pairs_won(xp, table, Totals(xp, table)))[0].share


@measure(Measure, greater_is_better=None)
def achievable_pr_curve(table: ops.TieTable) -> PrCurve:
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
    return pr_vertices(xp, xp.filled_first(hull_table(xp, table)), "roc")


@measure(Measure, greater_is_better=True, monotone="always", best_of_cuts=True)
def achievable_pr_auc(table: ops.TieTable) -> Array:
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
    return xp.sum_rows(hull_table(xp, table), area)[0]


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
        The scores of the last examples that the two cuts select; NaN for the empty cut.
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
        Rankings of the same examples by M models; batch axes are broadcast.  ``model`` counts the
        models from 0 in this order.

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
        No model; batches that cannot be broadcast; models with different numbers of positives or
        of negatives (NaN instead where they cannot be read).

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
    xp, family, rounding = family_of(named_models(models))
    dtype = xp.result_float(device(family.agree))
    with xp.computing():
        find = xp.compiled(_hull_of_family, ("rounding",))
        hull = xp.finished(find(family, rounding=rounding), dtype)
        result: RocHull = nan_unless_valid(xp, hull, family.agree[..., None])
    return result


class _Points(NamedTuple):
    """The points of all models from the left to the right, the highest first, each with its cut."""

    fp: Array
    tp: Array
    threshold: Array
    model: Array


def _hull_of_family(family: Family, *, rounding: float) -> RocHull:
    xp = namespace(family.agree)
    points = _points_from_the_left(xp, family, rounding)
    stairs = _stairs(xp, points, xp.expand_dims(family.agree, axis=-1))
    edges = xp.filled_first(xp.merged(stairs, hull_ends(xp, stairs)))
    place = edges.thresholds
    threshold, model = (xp.take_last_axis(x, place) for x in (points.threshold, points.model))
    model = xp.concat([xp.zeros_like(model[..., :1]), model], axis=-1)
    edges = edges._replace(thresholds=threshold)
    return _HULL_VERTICES(edges, model)


_HULL_VERTICES = in_usual_units(
    lambda table, model: hull_vertices(namespace(model), table, model), of_masses=False
)


def _points_from_the_left(xp: Namespace, family: Family, rounding: float) -> _Points:
    """Of points that are the same the first model's comes first."""
    integer = family.tables[0].counts.dtype
    fp, tp = (_to_one_end(xp, x) for x in cut_masses_of(xp, family, rounding, integer))
    cuts = {number: cut_thresholds(xp, table) for number, table in enumerate(family.tables)}
    thresholds = of_one_dtype(xp, cuts)
    models = [
        xp.full(x.shape, number, dtype=xp.int32, device=device(x)) for number, x in enumerate(fp)
    ]
    points = _Points(*(xp.concat(list(x), axis=-1) for x in (fp, tp, thresholds, models)))
    for name, falling in (("tp", True), ("fp", False)):
        order = xp.argsort(getattr(points, name), axis=-1, descending=falling, stable=True)
        points = _Points(*(xp.take_last_axis(x, order) for x in points))
    return points


def _to_one_end(xp: Namespace, columns: tuple[Array, ...]) -> list[Array]:
    """All models end where the first does: their totals differ by the order of adding only."""
    end = columns[0][..., -1:]
    return [xp.where(x == x[..., -1:], end, xp.minimum(x, end)) for x in columns]


def _stairs(xp: Namespace, points: _Points, agree: Array) -> ops.TieTable:
    """The steps along the highest points up to each FP; thresholds are places among the points."""
    highest = xp.running_max(points.tp)
    along, up = (x - xp.shift_right(x, 1, 0) for x in (points.fp, highest))
    along, up = (xp.where(agree, x, xp.zeros_like(x)) for x in (along, up))
    place = xp.arange(along.shape[-1], dtype=xp.int64, device=device(along))
    place = xp.broadcast_to(place, along.shape)
    if xp.of_kind(along.dtype, "integral"):
        return ops.TieTable(place, along + up, up, None, None)
    there, found = (xp.cast(x, xp.int32) for x in ((along > 0) | (up > 0), up > 0))
    return ops.TieTable(place, there, found, up, along)


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
    dtype = xp.result_float(device(hull.fpr))
    with xp.computing():
        wanted = numbers_like(hull.fpr, name, value)
        if name == "quota" and xp.of_kind(hull.fp.dtype, "integral") and concrete(hull.fp):
            warn_below_one(value)
        along = hull.fp + hull.tp if name == "quota" else getattr(hull, name)
        along = xp.cast(along, wanted.dtype)
        within = _within(xp, hull, along, name, wanted)
        mixed = xp.compiled(_mixture)(hull, along, within)
        shape = (*hull.fpr.shape[:-1], *wanted.shape)
        return xp.finished(Mixture(*(xp.reshape(x, shape) for x in mixed)), dtype)


def _within(xp: Namespace, hull: RocHull, along: Array, name: str, value: Array) -> Array:
    """The wanted values, shape (..., K); NaN where they are beyond the hull, or it is undefined."""
    whole: Array | int = 1
    highest: Array | int = 1
    whole_numbers = xp.of_kind(hull.fp.dtype, "integral")
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
    lower, upper = (xp.cast(x, xp.int32) for x in (lower, upper))
    return Mixture(lower, upper, share, *rates, *cuts)


# cuts for given costs


FRACTION_ROUNDS = 10
"""Rounds of the continued fraction that suffice for parameters from 1 to 2."""
Losses: TypeAlias = Callable[[Array, Array], tuple[Array, Array]]


def _expected_losses(
    xp: Namespace, cost_distribution: CostDistribution, share: Array, other: Array
) -> Losses:
    """What gives expected losses of a negative and of a positive, times a + b, of v and 1 - v.

    With Beta(a, b) they are A = a·I_v(a + 1, b) and B = b·I_{1-v}(b + 1, a) with the regularised
    incomplete beta function I.  The expectation of min(c·(1 - v), (1 - c)·v) over c is (1 - v)·A +
    v·B, whose slope is B - A.  The parameters are 1 + π and 2 - π of a share π of positives, for
    which B(a, b) = π(1 - π)·(pi/2)/sin(pi·π); or both are 2.
    """
    if cost_distribution != "prevalence":
        return lambda v, rest: (2 * v**3 * (1 + 3 * rest), 2 * rest**3 * (1 + 3 * v))
    angle = math.pi * xp.minimum(share, other)
    log_normaliser = xp.log(xp.maximum(share, other) * (angle / xp.sin(angle)) / 2)
    return partial(losses_around, xp, 1 + share, 1 + other, log_normaliser)


def losses_around(
    xp: Namespace,
    a: Array,
    b: Array,
    log_normaliser: Any,
    share: Array,
    other: Array,
    rounds: int = FRACTION_ROUNDS,
) -> tuple[Array, Array]:
    """The expectations of c below v, and of 1 - c above it, times a + b, for c of Beta(a, b).

    They change places with v and 1 - v.  For v below the mean, roughly, the continued fraction of
    the first is quick, and the second follows from it without loss.
    """
    swapped = share * (a + b + 2) > a + 1
    v, rest = xp.where(swapped, other, share), xp.where(swapped, share, other)
    a, b = xp.where(swapped, b, a), xp.where(swapped, a, b)
    exponent = a * _log(xp, v, rest) + b * _log(xp, rest, v) - log_normaliser
    density = xp.exp(exponent) * (1 / a + 1 / b)
    first = v * b * density / ((a + 1) * _fraction(xp, a + 1, b, v, rest, rounds))
    negative, positive = a * first, b * (1 - density - first)
    return xp.where(swapped, positive, negative), xp.where(swapped, negative, positive)


def _log(xp: Namespace, share: Array, other: Array) -> Array:
    """The logarithm of a share, from 1 minus it where that is known better."""
    return xp.where(share > 0.5, xp.log1p(-other), xp.log(share))


def _fraction(xp: Namespace, a: Array, b: Array, x: Array, rest: Array, rounds: int) -> Array:
    """The continued fraction 1 + d₁/(1 + d₂/(1 + …)) in I_x(a, b) (DLMF 8.17.22), from its tail.

    The coefficients d tend to -x/4, of which the tail is made.
    """
    value = (1 + xp.sqrt(rest)) / 2
    for m in range(rounds, 0, -1):
        value = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / value
        k = m - 1
        value = 1 - (a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1)) / value
    return value


CostDistribution: TypeAlias = Literal["prevalence"] | tuple[float, float]


@measure(Measure, greater_is_better=True)
def h_measure(table: ops.TieTable, *, cost_distribution: CostDistribution = "prevalence") -> Array:
    """H-measure: the share of the expected cost of errors that the ranking saves ([Hand 2009]).

    H = 1 - L/Lmax.  L is the expectation over c of the smallest c·(1 - π)·FPR + (1 - c)·π·(1 - TPR)
    of all cuts; Lmax is that of a constant score.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    cost_distribution : "prevalence" or (2, 2)
        The distribution of c, the cost of a false positive as a share of the costs of both
        errors: Beta(1 + π, 2 - π), with its mode at π, or Beta(2, 2).

    Returns
    -------
    array, shape (...)
        From 0 (chance) to 1 (optimum); NaN where one class is absent.

    See Also
    --------
    best_operating_point : the best cut for known costs.
    roc_hull : the cuts that are best for some c.

    Notes
    -----
    [Hand 2009] took Beta(2, 2).  [Hand 2014] proposes the default, since an error in the rarer
    class is mostly the more serious one.

    With the edges of the ROC hull, m examples of which the share v is positive, L = Σ (m/n)·g(v)
    and Lmax = g(π), where g(v) is the expectation of min(c·(1 - v), (1 - c)·v).  For Beta(2, 2)
    g(v) = v(1 - v)(1 + v(1 - v))/2; the other takes the incomplete beta function.  In float64 the
    absolute error is below 1e-13.  With weights m, n and π are masses, and sums in another order,
    as of a batch, can move H by 1e-15, so a small H has few certain digits.  The optimistic and
    the pessimistic policy give bounds.

    References
    ----------
    [Hand 2009], [Hand 2014].

    Examples
    --------
    >>> from quotakernels import h_measure
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(h_measure(y_true, y_score).round(4))
    0.4436
    >>> print(h_measure(y_true, y_score, cost_distribution=(2, 2)).round(4))
    0.4524
    >>> print(h_measure(y_true, [0.5] * 5))
    0.0
    """
    check_choice("cost_distribution", cost_distribution, "prevalence", (2, 2))
    xp = namespace(table.counts)
    hull = hull_table(xp, table)
    total = Totals(xp, hull)
    whole, positive, negative = (xp.expand_dims(x, axis=-1) for x in total)
    of_shares = _expected_losses(xp, cost_distribution, positive / whole, negative / whole)

    def losses(mass: Array, positive: Array, negative: Array) -> tuple[Array, Array]:
        divisor = xp.where(mass > 0, mass, xp.ones_like(mass))
        return of_shares(positive / divisor, negative / divisor)

    chance = losses(whole, positive, negative)

    def saved(rows: Any) -> tuple[Array]:
        """Beside a cut for everybody, whose costs are the tangent: no term is negative."""
        positive, negative = rows.positive, rows.negative
        of_negative, of_positive = losses(rows.mass, positive, negative)
        return (negative * (chance[0] - of_negative) + positive * (chance[1] - of_positive),)

    worst = (negative * chance[0] + positive * chance[1])[..., 0]

    def value(found: Array) -> Array:
        found = xp.maximum(found, xp.zeros_like(found))  # negative by rounding alone
        return total.within(found, worst) / worst

    return xp.sum_rows(hull, ops.RowSum(saved, value))[0]


SAME_COST = 2.0**-48
"""Relative difference below which two costs are taken as equal."""


@plainly
class OperatingPoint(NamedTuple, Generic[T]):
    """A cut and what it costs; every field has the shape of the batch and the costs.

    Attributes
    ----------
    threshold, quota : array
        Score of the last selected example, NaN for the empty cut; number of the selected, with
        weights their mass.
    fpr, tpr : array
        Its false and true positive rate.
    cost : array
        Its expected cost per example.
    """

    threshold: T | Any
    quota: Any
    fpr: T
    tpr: T
    cost: T


_DOMAINS: Domains = {
    "cost_fp": COST,
    "cost_fn": COST,
    "prevalence": (lambda x: (x >= 0) & (x <= 1), "a share, from 0 to 1"),
}


@public
def iso_performance_slope(cost_fp: NumberOf[A], cost_fn: NumberOf[A], prevalence: NumberOf[A]) -> A:
    """Slope in ROC space, ΔTPR/ΔFPR, of the lines along which the expected cost is the same.

    It is cost_fp·(1 - π) / (cost_fn·π).

    Parameters
    ----------
    cost_fp, cost_fn : number or array
        Costs of a false positive and of a false negative, finite and not negative.
    prevalence : number or array
        π, the share of positives where the classifier will be used, from 0 to 1.

    Returns
    -------
    array
        In the broadcast shape of the three.  Not negative, infinite if only false positives cost,
        and NaN if neither error costs anything.

    Raises
    ------
    ValueError
        Negative, NaN or infinite costs, a prevalence outside 0 to 1.  Where values cannot be
        read the result is NaN instead.

    See Also
    --------
    best_operating_point : the cut that the highest of these lines touches.

    Notes
    -----
    Every line of this slope joins points of equal cost.  The higher the line, the smaller the cost.
    The vertex of `roc_hull` with ``slope_min <= slope <= slope_max`` has the smallest cost.

    References
    ----------
    [Provost 2001].

    Examples
    --------
    >>> from quotakernels.charts import iso_performance_slope
    >>> print(iso_performance_slope(1, 5, 0.5))
    0.2
    >>> print(iso_performance_slope(1, [1, 5, 0], 0.25))
    [3.  0.6 inf]
    """
    named = {"cost_fp": cost_fp, "cost_fn": cost_fn, "prevalence": prevalence}
    return of_numbers(_slope, named, _DOMAINS)


def _slope(_: Namespace, cost_fp: Array, cost_fn: Array, prevalence: Array) -> Array:
    return cost_fp * (1 - prevalence) / (cost_fn * prevalence)


def mass_costs(
    xp: Namespace, table: ops.TieTable, *, cost_fp: Any, cost_fn: Any, prevalence: Any = None
) -> tuple[tuple[Array, Array], tuple[int, ...]]:
    """What each selected negative and each other positive adds to the cost per example.

    Both of shape (..., K); NaN where a class is absent or a value is bad.
    """
    given = {"cost_fp": cost_fp, "cost_fn": cost_fn}
    given |= {} if prevalence is None else {"prevalence": prevalence}
    values = {name: numbers_like(table.counts, name, x) for name, x in given.items()}
    shape = common_shape(values)
    values = checked(xp, values, {name: _DOMAINS[name] for name in values})
    flat = {name: xp.reshape(xp.broadcast_to(x, shape), (-1,)) for name, x in values.items()}
    whole, positive, negative = (xp.expand_dims(x, axis=-1) for x in Totals(xp, table))
    one_fp, one_fn = 1 / whole, 1 / whole
    if prevalence is not None:
        one_fp, one_fn = (1 - flat["prevalence"]) / negative, flat["prevalence"] / positive
    of_fp, of_fn = flat["cost_fp"] * one_fp, flat["cost_fn"] * one_fn
    known = (positive > 0) & (negative > 0) & ~xp.isnan(of_fp + of_fn)
    return (xp.nan_unless(known, of_fp), xp.nan_unless(known, of_fn)), shape


@measure(Measure, numbers=mass_costs, greater_is_better=None)
def best_operating_point(table: ops.TieTable, of_fp: Array, of_fn: Array) -> OperatingPoint:
    """The cut with the smallest expected cost, for given costs of the two kinds of errors.

    The cost per example is cost_fp·(1 - π)·FPR + cost_fn·π·(1 - TPR).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    cost_fp, cost_fn, prevalence : number or array
        Costs of a false positive and of a false negative, finite and not negative; and the share of
        positives where the classifier will be used, from 0 to 1, by default that of the data.
        They are broadcast together to the shape Q.

    Returns
    -------
    OperatingPoint
        Arrays of shape (..., *Q), all NaN where one class is absent.

    Raises
    ------
    ValueError
        Costs or a prevalence that `iso_performance_slope` refuses; shapes that do not fit together.

    See Also
    --------
    iso_performance_slope : the slope of lines of equal cost.
    roc_hull : all cuts that are best for some costs.

    Notes
    -----
    All cuts take part, also those that select nothing and everything.  Among cuts of the same cost
    the result is the one with the smallest quota.  A cut that selects more must save a relative
    2**-48 more than it costs, which is more than rounding.  A tie group is selected whole or not at
    all; no part of one is cheaper than both.  Only vertices of the hull can be best, and its slope
    falls, so each cost takes one binary search.

    References
    ----------
    [Provost 2001].

    Examples
    --------
    >>> from quotakernels import best_operating_point
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> best = best_operating_point(y_true, y_score, cost_fp=1, cost_fn=[0.2, 1, 5])
    >>> print(best.threshold, best.quota, best.cost)
    [0.9 0.6 0.6] [1. 4. 4.] [0.08 0.2  0.2 ]
    >>> print(best_operating_point(y_true, y_score, cost_fp=1, cost_fn=5, prevalence=0.02).quota)
    1.0
    """
    return cheapest_cuts(table, of_fp, of_fn)


def cheapest_cuts(table: ops.TieTable, of_fp: Array, of_fn: Array) -> OperatingPoint:
    """The cheapest cut where each selected negative and each other positive costs so much."""
    xp = namespace(table.counts)
    hull = xp.filled_first(hull_table(xp, table))
    up, along = (xp.cast(x, of_fp.dtype) for x in (hull.positive, hull.negative))
    price = xp.where(up > 0, along / up, xp.full_like(up, xp.inf))
    taken = xp.bisect(price, of_fn / of_fp * (1 - tolerance(price, SAME_COST)))
    unknown = xp.isnan(of_fp)

    def there(x: Array) -> Array:
        return xp.nan_unless(~unknown, xp.take_last_axis(x, taken))

    whole = not hull.weighted
    (fp, tn), (tp, fn) = (map(there, _selected_and_not(xp, x, whole)) for x in (along, up))
    cost = of_fp * fp + of_fn * fn
    return OperatingPoint(
        there(cut_thresholds(xp, hull)), fp + tp, fp / (fp + tn), tp / (tp + fn), cost
    )


def _selected_and_not(xp: Namespace, mass: Array, whole: bool) -> tuple[Array, Array]:
    """The mass before and from each cut on, each summed from 0."""
    nothing = xp.zeros_like(mass[..., :1])
    both = (xp.prefix_sum(x, whole=whole) for x in (mass, xp.flip(mass, axis=-1)))
    before, after = (xp.concat([nothing, x], axis=-1) for x in both)
    return before, xp.flip(after, axis=-1)
