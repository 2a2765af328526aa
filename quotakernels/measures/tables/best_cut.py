"""The cuts of a ranking: the best by a table or by what it brings, and the tables of all."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, device, is_array, tolerance
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.columns import COLUMNS
from quotakernels.inputs.examples import good_rows, nan_unless_valid
from quotakernels.inputs.keywords import check_choice, forwarding, refuse_unknown, show_value
from quotakernels.inputs.numbers import POSITIVE, checked, in_library_of, numbers_like
from quotakernels.measures._facts import direction_of, fact, title_of
from quotakernels.measures._measure import GROUPS, Measure, flat, measure, taken_of_rank
from quotakernels.measures.at_quota import Curve, beside_cuts, cut_quotas, cut_thresholds, real_cuts
from quotakernels.measures.tables.confusion import (
    FINITE,
    ConfusionTable,
    TableMeasure,
    cells_as_floats,
    cut_cells,
    impacts_like,
    in_usual_unit,
    largest,
)
from quotakernels.measures.tables.rates import impact_of, outcome_of, tuned
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking, rank, table_of

OfTables: TypeAlias = TableMeasure | functools.partial[Any] | Callable[[ConfusionTable[Any]], Any]
SAME_VALUE = 2.0**-49
"""Difference up to which two values are taken as equal, relative to what their rounding is."""


@plainly
class BestCut(NamedTuple, Generic[T]):
    """The best of all cuts by a measure; if several are best, the first.

    Attributes
    ----------
    value : array, shape (...)
        The measure there; NaN if it is undefined at every cut.
    threshold, quota : array, shape (...)
        Score of the last selected example, and number of the selected (with weights their mass),
        a float; NaN if there is no best cut.
    optima : boolean array, shape (..., G + 1)
        Which cuts of `table_curve` are best, up to rounding; never those of padding.

    With S groups of examples the first three have the shape (..., S), and `optima` is an empty
    tuple.
    """

    value: T
    threshold: T | Any
    quota: T
    optima: Any


@forwarding(rank, without=(*COLUMNS, *GROUPS))
def table_curve(measure: Any, *data: Any, **options: Any) -> Curve:
    """A measure of confusion tables at every cut of a ranking.

    After the measure come labels and scores, or a `Ranking`; the other keywords are those of
    `rank`.

    Parameters
    ----------
    measure : measure of a `ConfusionTable`
        `f_score`, `informedness`, …, also with options fixed; or a function of your own of a table
        whose cells are floats of shape (..., G + 1), and of keyword-only numbers.
    **options
        The measure's own arguments, such as `beta`, which broadcast against (..., G + 1).

    Returns
    -------
    Curve
        ``value`` is NaN where the measure is undefined.

    Raises
    ------
    TypeError
        Anything but such a measure.

    See Also
    --------
    best_cut : the best of these cuts, also of each group.

    References
    ----------
    [EL] section 7.2, measures over the boundary.

    Examples
    --------
    >>> from quotakernels import f_score
    >>> from quotakernels.tables import table_curve
    >>> curve = table_curve(f_score, [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], beta=2)
    >>> print(curve.quota, curve.value.round(3))
    [0 1 3 4 5] [0.    0.385 0.667 0.938 0.882]
    """
    chosen, ranking, own = _called("table_curve", measure, data, options)
    xp = namespace(ranking.counts)
    dtype = xp.result_float(device(ranking.counts))
    with xp.computing():
        threshold, quota, cells = _good_cuts(xp, table_of(xp, ranking), good_rows(ranking), cuts_of)
        return xp.finished(Curve(quota, chosen.value(xp, cells, own), threshold), dtype)


@forwarding(rank, without=COLUMNS)
def best_cut(
    measure: Any, *data: Any, greater_is_better: bool | None = None, **options: Any
) -> BestCut:
    """The cut of a ranking at which a measure of confusion tables is best.

    After the measure come labels and scores, or a `Ranking`; the other keywords are those of
    `rank`.

    Parameters
    ----------
    measure : measure of a `ConfusionTable`
        `f_score`, `informedness`, …, also with options fixed; or a function of your own of a table
        whose cells are floats of shape (..., G + 1), one for each cut.
    greater_is_better : bool, optional
        True if the largest value is the best, False if the smallest is.  By default as the measure
        says; give it for measures without a direction, such as `bias`.
    **options
        The measure's own arguments, one number each.

    Returns
    -------
    BestCut
        NaN where the measure is undefined at every cut.

    Raises
    ------
    TypeError
        A measure that `table_curve` refuses, or that does not say whether more is better.

    See Also
    --------
    table_curve : the measure at all cuts.
    best_operating_point : the cheapest cut for given costs and another prevalence.

    Notes
    -----
    All cuts between tie groups are compared, also the empty one and that of all examples.  Cuts
    where the measure is undefined are left out; +∞ is a value, larger than all others.  Values
    count as equal if they differ by no more than 2**-49, or by that share of the best value if it
    is above 1; values of `expected_cost`, if they differ by no more than that share of the larger
    cost.

    References
    ----------
    [EL] section 7.2, the boundary B*.

    Examples
    --------
    >>> from quotakernels import expected_cost, informedness, best_cut, rank
    >>> ranking = rank([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> best = best_cut(informedness, ranking)
    >>> print(best.value, best.threshold, best.quota, best.optima)
    0.5 0.6 4.0 [False False False  True False]
    >>> print(best_cut(expected_cost, ranking, cost_fp=3, cost_fn=1).threshold)
    0.9
    >>> of_each = best_cut(informedness, [1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6], groups=list("aabb"))
    >>> print(of_each.value, of_each.threshold)
    [1. 0.] [0.9 nan]
    """
    return best_and_curve(measure, data, greater_is_better, options)[0]


def best_and_curve(
    measure: TableMeasure | None,
    data: tuple[Any, ...],
    greater_is_better: bool | None,
    options: dict[str, Any],
    thresholds: bool = False,
) -> tuple[BestCut, Curve]:
    """The best cut, and the measure at all cuts; their thresholds begin with NaN, so where JAX is
    to stop at NaN no program may give them out unless they are wanted.
    """
    chosen, ranking, own = _called("best_cut", measure, data, options)
    largest = direction_of(chosen, greater_is_better)
    xp = namespace(ranking.counts)
    dtype = xp.result_float(device(ranking.counts))
    with xp.computing():
        table = table_of(xp, ranking, by_group=True)
        quota, cells = _good_cuts(xp, table, good_rows(ranking), _without_thresholds)
        value = chosen.value(xp, cells, own)
        if isinstance(value, tuple):
            raise TypeError(f"best_cut compares single values; {chosen.__name__} has several")
        unit = chosen.unit_of(xp, cells, own)
        rounding = None if unit is None else tolerance(unit, SAME_VALUE) * unit
        best = xp.compiled(_best_of_values, ("greater_is_better",))
        found = best(table, quota, value, rounding, greater_is_better=largest)
        curve = Curve(quota, value, cut_thresholds(xp, table) if thresholds else ())
        return xp.finished((found, curve), dtype)


def _called(
    caller: str, measure: Any, data: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[TableMeasure, Ranking, dict[str, Any]]:
    """The measure, the ranking, and the measure's own numbers."""
    while isinstance(measure, functools.partial) and not measure.args:
        measure, keywords = measure.func, measure.keywords | keywords
    if callable(measure) and not isinstance(measure, (Measure, type)):
        measure = _of_ones_own(measure)
    if not isinstance(measure, TableMeasure):
        raise TypeError(
            f"{caller} needs a measure of confusion tables, such as f_score, and it comes first, "
            f"before labels and scores or a Ranking; got {show_value(measure)}"
        )
    own = {name: keywords.pop(name) for name in measure.options if name in keywords}
    measure.check_required(own)
    refuse_unknown(caller, keywords, ("ranking",), taken_of_rank((), by_group=True))
    ranking = measure.ranking(data, keywords, {}, caller)
    return measure, in_library_of(ranking, *flat(own)), own


def _of_ones_own(function: Callable[..., Array]) -> TableMeasure:
    """The measure that a function of the cells is; its keyword-only numbers are finite."""
    parameters = inspect.signature(function).parameters.values()
    own = [x.name for x in parameters if x.kind is x.KEYWORD_ONLY]
    direction = fact(function, "greater_is_better")

    @functools.wraps(function)
    def of_cells(table: ConfusionTable, **numbers: Any) -> Array:
        value = function(table, **numbers)
        if not (is_array(value) and tuple(value.shape) == tuple(table.tp.shape)):
            raise TypeError(
                f"{title_of(function)} must give a number for each cut, an array of shape "
                f"{tuple(table.tp.shape)}; got {show_value(value)}"
            )
        return value

    return TableMeasure(of_cells, greater_is_better=direction, domains=dict.fromkeys(own, FINITE))


def _good_cuts(
    xp: Namespace, table: ops.TieTable, good: Array | None, make: Callable[..., Any]
) -> Any:
    """What is made of every cut, NaN in rows of the batch, or of groups, with a bad value."""
    found = xp.compiled(make)(table)
    if good is not None and table.groups:
        good = xp.expand_dims(beside_cuts(xp, table, good[..., 0]), axis=-1)
    return nan_unless_valid(xp, found, good)


def cuts_of(table: ops.TieTable) -> CutTables:
    """The table at every cut."""
    xp = namespace(table.counts)
    return CutTables(cut_thresholds(xp, table), *_without_thresholds(table))


def _without_thresholds(table: ops.TieTable) -> tuple[Array, ConfusionTable]:
    xp = namespace(table.counts)
    return cut_quotas(xp, table), cut_cells(xp, table)


def _best_of_values(
    table: ops.TieTable,
    quota: Array,
    value: Array,
    rounding: Array | None,
    *,
    greater_is_better: bool,
) -> BestCut:
    """The best cut; that of no examples has no threshold, which no program may give out."""
    curve = Curve(quota, value, cut_thresholds(namespace(value), table))
    return best_of_these(table, curve, rounding, greater_is_better=greater_is_better)


def best_of_these(
    table: ops.TieTable,
    curve: Curve,
    rounding: Array | None = None,
    *,
    greater_is_better: bool = True,
) -> BestCut:
    """The first of the best points of a curve, or of that of each group, among the `real_cuts`.

    Values that differ by no more than `rounding`, which is beside the cuts, are equal: by default
    `SAME_VALUE`, or that share of the best value if that is more.
    """
    xp = namespace(curve.value)
    value = curve.value if greater_is_better else -curve.value
    there = real_cuts(xp, table) & ~xp.isnan(value)
    value = xp.where(there, value, xp.full_like(value, -xp.inf))
    top = beside_cuts(xp, table, _highest(xp, table, value))
    if rounding is None:
        finite = xp.where(xp.isinf(top), xp.zeros_like(top), top)
        rounding = tolerance(top, SAME_VALUE) * xp.clip(xp.abs(finite), 1.0)
    near = top - value <= rounding
    optima = there & ((value == top) | near)
    first, some = _first(xp, table, optima)

    def at_first(x: Array) -> Array:
        x = xp.take_last_axis(x, first)
        x = xp.nan_unless(some, x)
        return x if table.groups else x[..., 0]

    quota = xp.wide(curve.quota)
    value, threshold, quota = (at_first(x) for x in (curve.value, curve.threshold, quota))
    return BestCut(value, threshold, quota, () if table.groups else optima)


def _highest(xp: Namespace, table: ops.TieTable, value: Array) -> Array:
    """The best of the values of all cuts, shape (...), or of those of each group, (..., S)."""
    if not table.groups:
        return xp.max(value, axis=-1)
    rows = table.counts.shape[-1]
    return xp.maximum(xp.group_max(table, value[..., :rows], -xp.inf), value[..., rows:])


def _first(xp: Namespace, table: ops.TieTable, flags: Array) -> tuple[Array, Array]:
    """The first of the cuts that are flagged, shape (..., 1), or (..., S), and if there is one."""
    last = flags.shape[-1] - 1
    places = xp.arange(last + 1, dtype=xp.int64, device=device(flags))
    if not table.groups:
        places = xp.where(flags, places, xp.full_like(places, last))
        return xp.min(places, axis=-1, keepdims=True), xp.any(flags, axis=-1, keepdims=True)
    rows = table.counts.shape[-1]
    empty = flags[..., rows:]
    first, some = xp.first_flagged(table, flags[..., :rows])
    return xp.where(empty, places[rows:], first), empty | some


ImpactKind: TypeAlias = Literal["impact", "outcome"]


@plainly
class BestBoundary(NamedTuple, Generic[T]):
    """The cut with the largest impact, and the impact of every cut.

    Attributes
    ----------
    value : array, shape (...)
        The impact there: per example from `best_boundary`, in total from `best_quota`.  NaN if it
        is undefined at every cut.
    threshold, quota : array, shape (...)
        Score of the last selected example, NaN for the empty cut; number of the selected, with
        weights their mass.
    optima : boolean array, shape (..., G + 1)
        Which cuts are best, up to rounding; the first of them is the one reported.
    curve : Curve
        The impact at every cut, of which `value` is the largest.

    With S groups of examples the first three have the shape (..., S), and `optima` and `curve` are
    empty tuples, because each group has a different number of cuts.
    """

    value: T
    threshold: T | Any
    quota: T
    optima: Any
    curve: Curve[T] | Any

    def near(self, loss: Any) -> tuple[T, T]:
        """How far the cut may move: the range of quotas around it at which no more is lost.

        It answers the third question of [EL] section 4, how sensitive the impact is to the choice
        of the boundary.

        Parameters
        ----------
        loss : number or array, shape (...)
            How much less than `value` a cut may earn, not negative, in the unit of the impacts.

        Returns
        -------
        first, last : array, shape (...)
            The smallest and the largest quota of the cuts next to each other around the best one,
            each within `loss` of it; NaN where there is no best cut, or `loss` is not a number.

        Examples
        --------
        >>> from quotakernels import best_boundary
        >>> best = best_boundary([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], impacts=(5, -4, 0, 0))
        >>> first, last = best.near(0.9)
        >>> print(best.quota, first, last)
        4.0 4.0 5.0
        """
        xp = namespace(self.curve.value)
        earned: Array = self.curve.value
        quota = xp.astype(self.curve.quota, earned.dtype)
        lost = earned < xp.expand_dims(self.value - loss, axis=-1)
        best = xp.expand_dims(self.quota, axis=-1)
        end = xp.full_like(quota, float("inf"))
        below = xp.max(xp.where(lost & (quota < best), quota, -end), axis=-1, keepdims=True)
        above = xp.min(xp.where(lost & (quota > best), quota, end), axis=-1, keepdims=True)
        around = (quota > below) & (quota < above)
        first = xp.min(xp.where(around, quota, end), axis=-1)
        last = xp.max(xp.where(around, quota, -end), axis=-1)
        return tuple(xp.nan_unless(xp.isfinite(x), x) for x in (first, last))


@plainly
class CutTables(NamedTuple, Generic[T]):
    """The confusion table at every cut: cut g selects the first g tie groups, cut 0 nothing.

    Attributes
    ----------
    threshold, quota : array, shape (..., G + 1)
        Score of the last selected example, NaN at cut 0; number of the selected, with weights
        their mass.
    table : ConfusionTable
        Cells of shape (..., G + 1).
    """

    threshold: T | Any
    quota: Any
    table: ConfusionTable[Any]


def _validate_ratio(
    xp: Namespace, table: ops.TieTable, *, ratio: Any = None
) -> tuple[tuple[Array, ...], None]:
    """The ratio, if it is given."""
    if ratio is None:
        return (), None
    number = {"ratio": numbers_like(table.counts, "ratio", ratio)}
    if number["ratio"].ndim:
        shape = tuple(number["ratio"].shape)
        raise ValueError(f"ratio must be one number; got shape {shape}")
    return tuple(checked(xp, number, {"ratio": POSITIVE}).values()), None


def _impacts_and_ratio(
    xp: Namespace, table: ops.TieTable, *, impacts: Any, ratio: Any = None
) -> tuple[tuple[Array, ...], None]:
    given, _ = _validate_ratio(xp, table, ratio=ratio)
    return (*impacts_like(xp, table.counts, impacts), *given), None


@measure(
    Measure, numbers=_impacts_and_ratio, greater_is_better=True, headline="value", by_group=True
)
def best_boundary(
    table: ops.TieTable, *numbers: Array, kind: ImpactKind = "impact"
) -> BestBoundary:
    """The cut that brings the most, B*, and what every cut brings ([EL]).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    impacts : four numbers or arrays
        (i_tp, i_fp, i_fn, i_tn), as `impact` takes them.
    ratio : number, optional
        The user's class ratio r = P′/N′, finite and above 0.  The table of every cut is tuned to
        it, as by `tune_ratio`.  The default is the ratio of the data.  ι_σ is the same at
        every ratio.
    kind : {"impact", "outcome"}
        The impact per example ι_I, for impacts that add up, or ι_σ of `outcome_impact`, for
        decisions that count by themselves.

    Returns
    -------
    BestBoundary
        NaN where no cut has an impact, such as where a class is absent and `ratio` is given.  At
        every ratio the quotas of the cuts are those of the data.

    See Also
    --------
    best_cut : the cut that is best by any measure of confusion tables.
    best_quota : the cut that brings the most where each example has its own gain.

    Notes
    -----
    If a true positive brings more than a false negative, and a true negative more than a false
    positive, a best cut of ι_I is a vertex of the ROC hull.  Cuts count as equally good if they
    differ by no more than 2**-49 of the largest absolute impact.

    References
    ----------
    [EL] sections 4 and 7.2, the boundary of the best impact; section 8, the three steps to it.

    Examples
    --------
    >>> from quotakernels import best_boundary
    >>> best = best_boundary([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], impacts=(5, -4, 0, 0))
    >>> print(best.value.round(3), best.threshold, best.quota)
    2.2 0.6 4.0
    >>> print(best.curve.value)
    [0.  1.  1.2 2.2 1.4]

    For users with one positive to four negatives:

    >>> from quotakernels import rank
    >>> ranking = rank([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> rare = best_boundary(ranking, impacts=(5, -4, 0, 0), ratio=1 / 4)
    >>> print(rare.value.round(3), rare.threshold, rare.quota)
    0.333 0.9 1.0
    """
    check_choice("kind", kind, "impact", "outcome")
    xp = namespace(table.counts)
    threshold, quota, cells = cuts_of(table)
    floats = cells_as_floats(xp, cells)
    floats = in_usual_unit(floats) if table.weighted else floats
    impacts, ratios = ConfusionTable(*numbers[:4]), numbers[4:]
    if kind == "outcome":
        value = outcome_of(tuned(floats, 1.0), impacts).mean
    else:
        value = impact_of(tuned(floats, *ratios) if ratios else floats, impacts).whole
    unit = largest(*impacts)
    unit = xp.max(unit, axis=-1, keepdims=True) if unit.ndim else unit
    curve = Curve(quota, value, threshold)
    best = best_of_these(table, curve, tolerance(unit, SAME_VALUE) * unit)
    return BestBoundary(*best, () if table.groups else curve)


@measure(Measure, numbers=_validate_ratio, greater_is_better=None)
def cut_tables(table: ops.TieTable, ratio: Array | None = None) -> CutTables:
    """The confusion table at every cut, to publish for readers with their own impacts ([EL]).

    A reader who has the tables of all cuts can apply impacts of their own with `impact`, and a
    class ratio of their own with `tune_ratio`.  So they find the cut that is best for them.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    ratio : number, optional
        Tune the tables to this class ratio r = P′/N′, finite and above 0, as `tune_ratio`
        does; 1 gives the tables of `normalize_table`.

    Returns
    -------
    CutTables
        Exact counts, or masses where there are weights; with `ratio` masses that add up to 1, and
        NaN for the cells of an absent class.

    See Also
    --------
    best_boundary : the cut that brings the most.
    confusion_table : the table at chosen cuts.

    References
    ----------
    [EL] section 8, what to publish.

    Examples
    --------
    >>> from quotakernels.tables import cut_tables, impact
    >>> found = cut_tables([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(found.threshold, found.table.tp, found.table.fp)
    [nan 0.9 0.8 0.6 0.1] [0 1 2 3 3] [0 0 1 1 2]
    >>> print(impact(found.table, impacts=(5, -4, 0, 0)).whole)
    [0.  1.  1.2 2.2 1.4]
    """
    threshold, quota, cells = cuts_of(table)
    if ratio is not None:
        cells = tuned(cells_as_floats(namespace(table.counts), cells), ratio)
    return CutTables(threshold, quota, cells)
