"""The cuts of a ranking by what they bring: the best of them, and the tables of all."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    device,
    namespace,
    tolerance,
    tree_map,
    wide_float,
)
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.keywords import show_value
from quotakernels.inputs.numbers import POSITIVE, checked, numbers_like
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures.at_quota.curves import Curve, cut_quotas, cut_thresholds
from quotakernels.measures.tables.best_cut import SAME_VALUE, best_of_these, cuts_of
from quotakernels.measures.tables.cells import ConfusionTable, cut_cells
from quotakernels.measures.tables.impact import mean_impact, mean_outcome
from quotakernels.measures.tables.measure import impacts_like, in_usual_unit, largest
from quotakernels.measures.tables.tuning import tuned

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
        The cut, as in `Curve`.
    optima : boolean array, shape (..., G + 1)
        Which cuts are best, up to rounding; the first of them is the one reported.
    curve : Curve
        The same impact at every cut.

    With S groups of examples the first three have the shape (..., S), and `optima` and `curve` are
    empty tuples, because each group has a different number of cuts.
    """

    value: T
    threshold: T | Any
    quota: T
    optima: Any
    curve: Curve[T] | Any


@plainly
class CutTables(NamedTuple, Generic[T]):
    """The confusion table at every cut: cut g selects the first g tie groups, cut 0 nothing.

    Attributes
    ----------
    threshold, quota : array, shape (..., G + 1)
        The cuts, as in `Curve`.
    table : ConfusionTable
        Cells of shape (..., G + 1).
    """

    threshold: T | Any
    quota: Any
    table: ConfusionTable[Any]


def _validate_ratio(
    xp: Namespace, table: ops.Groups, *, ratio: Any = None
) -> tuple[tuple[Array, ...], None]:
    """The ratio, or several, if any is given."""
    if ratio is None:
        return (), None
    number = {"ratio": numbers_like(table.counts, "ratio", ratio)}
    if number["ratio"].ndim > (0 if table.segments else 1):
        shape = tuple(number["ratio"].shape)
        what = "one number with groups" if table.segments else "a number or a list of them"
        raise ValueError(f"ratio must be {what}; got shape {shape}")
    return tuple(checked(xp, number, {"ratio": POSITIVE}).values()), None


def _impacts_and_ratio(
    xp: Namespace, table: ops.Groups, *, impacts: Any, ratio: Any = None
) -> tuple[tuple[Array, ...], None]:
    given, _ = _validate_ratio(xp, table, ratio=ratio)
    return (*impacts_like(xp, table.counts, impacts), *given), None


def _at_each(ratio: Array, x: Array) -> Array:
    """An array of shape (..., G + 1) as (..., K, G + 1) for K ratios; for one ratio as it is."""
    if not ratio.ndim:
        return x
    xp = namespace(x)
    return xp.broadcast_to(x[..., None, :], (*x.shape[:-1], ratio.shape[0], x.shape[-1]))


def _tuned_to(ratio: Array, cells: ConfusionTable) -> ConfusionTable:
    """The cells of every cut, (..., G + 1), tuned to a ratio, or to K, (..., K, G + 1)."""
    if ratio.ndim:
        cells, ratio = ConfusionTable(*(x[..., None, :] for x in cells)), ratio[:, None]
    return tuned(cells, ratio / (1 + ratio), 1 / (1 + ratio))


class _BestBoundary(Measure):
    validator = staticmethod(_impacts_and_ratio)


@measure(_BestBoundary, greater_is_better=True, headline="value", by_group=True)
def best_boundary(table: ops.Groups, *numbers: Array, kind: ImpactKind = "impact") -> BestBoundary:
    """The cut that brings the most, B*, and what every cut brings ([EL]).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    impacts : four numbers or arrays
        (i_tp, i_fp, i_fn, i_tn), as `impact` takes them.
    ratio : number or K numbers, optional
        The user's class ratio r = P′/N′, finite and above 0.  The table of every cut is tuned to
        it, as by `tune_ratio`.  The default is the ratio of the data.  ι_σ is the same at
        every ratio.  With K ratios all results have one more axis, (..., K) and (..., K, G + 1).
        With groups it is one number.
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
    >>> print(best_boundary(ranking, impacts=(5, -4, 0, 0), ratio=[1 / 4, 1, 4]).quota)
    [1. 4. 4.]
    """
    if kind not in ("impact", "outcome"):
        raise ValueError(f'kind must be "impact" or "outcome"; got {show_value(kind)}')
    xp = namespace(table.counts)
    cells, quota, real = cuts_of(table)
    curve = Curve(quota, quota, cut_thresholds(xp, table))
    wide = wide_float(xp, device(table.counts))
    floats = ConfusionTable(*(cast(xp, x, wide) for x in cells))
    floats = in_usual_unit(floats) if table.weighted else floats
    impacts, ratios = numbers[:4], numbers[4:]
    for ratio in ratios:
        curve, real = tree_map(partial(_at_each, ratio), (curve, real))
        impacts = tuple(x[..., None, :] if x.ndim and ratio.ndim else x for x in impacts)
        by_class = kind == "impact"
        floats = (
            _tuned_to(ratio, floats) if by_class else tree_map(partial(_at_each, ratio), floats)
        )
    of_cells = mean_impact if kind == "impact" else mean_outcome
    curve = curve._replace(value=of_cells(floats, ConfusionTable(*impacts)))
    unit = largest(*impacts)
    unit = xp.max(unit, axis=-1, keepdims=True) if unit.ndim else unit
    best = best_of_these(table, curve, real, tolerance(unit, SAME_VALUE) * unit)
    return BestBoundary(*best, () if table.segments else curve)


class _CutTables(Measure):
    validator = staticmethod(_validate_ratio)


@measure(_CutTables, greater_is_better=None)
def cut_tables(table: ops.Groups, ratio: Array | None = None) -> CutTables:
    """The confusion table at every cut, to publish for readers with their own impacts ([EL]).

    A reader who has the tables of all cuts can apply impacts of their own with `impact`, and a
    class ratio of their own with `tune_ratio`.  So they find the cut that is best for them.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    ratio : number or K numbers, optional
        Tune the tables to this class ratio r = P′/N′, finite and above 0, as `tune_ratio`
        does; 1 gives the tables of `normalize_table`.  With K ratios all results have the shape
        (..., K, G + 1).

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
    xp = namespace(table.counts)
    cuts, cells = (cut_thresholds(xp, table), cut_quotas(xp, table)), cut_cells(xp, table)
    if ratio is not None:
        wide = wide_float(xp, device(table.counts))
        floats = ConfusionTable(*(cast(xp, x, wide) for x in cells))
        cuts, cells = tree_map(partial(_at_each, ratio), cuts), _tuned_to(ratio, floats)
    return CutTables(*cuts, cells)
