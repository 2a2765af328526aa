"""The area under κ over the false positive rate."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, cast, device, namespace, wide_float
from quotakernels.inputs.keywords import show_value
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures.at_quota.curves import row_ends
from quotakernels.measures.over_quotas.harmonic import log_and_remainder
from quotakernels.measures.tables.cells import ConfusionTable, cut_cells
from quotakernels.measures.tables.informedness import surplus

Kappa = Literal["cohen", "scott", "fleiss", "bennett"]
Ends: TypeAlias = Callable[[Array], tuple[Array, Array]]
"""What stands above and below each row, of numbers of all cuts."""
LEVEL = 2.0**-60
"""Relative growth of a denominator up to which it is taken as constant."""


@measure(Measure, greater_is_better=True, monotone="always", signed=True, by_group=True)
def auk(table: ops.Groups, *, kappa: Kappa = "cohen") -> Array:
    """AUK, the exact area under κ over the false positive rate.

    AUK = ∫ κ dFPR along the segments of the ROC curve, on which Cohen's κ is a quotient of two
    linear functions, κ = 2(N·TP - P·FP)/(P·(FN + TN) + N·(TP + FP)).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    kappa : {"cohen", "scott", "fleiss", "bennett"}
        Which κ: `cohen_kappa`, `scott_pi` (equal to `fleiss_kappa`) or `bennett_s`.

    Returns
    -------
    array, shape (...)
        From -1 to 1; Cohen's is 0 by chance.  NaN where one class is absent.

    Raises
    ------
    ValueError
        Another κ.

    See Also
    --------
    cohen_kappa, scott_pi, bennett_s : κ of one table.
    chart_area : the areas under other charts.

    Notes
    -----
    With as many positives as negatives κ is informedness, and AUK is Gini/2.  The integral over
    t from 0 to 1 of (a + b·t)/(c + d·t) is [a·(L - M) + (a + b)·M]/c with x = d/c,
    L = log(1 + x)/x and M = (x - log(1 + x))/x², none of which cancels; c is the smaller one of
    the denominators at both ends.  Scott's π is 1 - w/A - w/(2n - A) with w = FP + FN and
    A = P + TP + FP, two such quotients; Bennett's S is linear.  The optimistic and the pessimistic
    policy give bounds.

    References
    ----------
    [PW], AUK, and AUK of other kappas.

    Examples
    --------
    >>> from quotakernels import gini
    >>> from quotakernels.charts import auk
    >>> print(auk([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]).round(4))
    0.2553
    >>> print(auk([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]), gini([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6]))
    0.25 0.5
    >>> print(auk([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1], kappa="scott").round(4))
    0.1842
    """
    if kappa not in _MEANS:
        known = ", ".join(map(repr, _MEANS))
        raise ValueError(f"kappa must be one of {known}; got {show_value(kappa)}")
    xp = namespace(table.counts)
    wide = wide_float(xp, device(table.counts))
    _, positive, negative = Totals(xp, table)
    cells = ConfusionTable(*(cast(xp, x, wide) for x in cut_cells(xp, table)))
    share = cast(xp, table.negative, wide) / ops.spread(xp, table, negative)
    area = ops.group_total(xp, table, share * _MEANS[kappa](partial(row_ends, xp, table), cells))
    defined = (positive > 0) & (negative > 0)
    return ops.nan_unless(xp, defined, area)


def _cohen(ends: Ends, cells: ConfusionTable) -> Array:
    """The mean of κ along each segment."""
    positive, negative = cells.tp + cells.fn, cells.fp + cells.tn
    chance = (cells.tp + cells.fp) * negative + positive * (cells.fn + cells.tn)
    return 2 * _mean_quotient(ends(surplus(cells)), ends(chance))


def _scott(ends: Ends, cells: ConfusionTable) -> Array:
    wrong = cells.fp + cells.fn
    chances = 2 * cells.tp + wrong, 2 * cells.tn + wrong
    first, second = (_mean_quotient(ends(wrong), ends(chance)) for chance in chances)
    return 1 - first - second


def _bennett(ends: Ends, cells: ConfusionTable) -> Array:
    right, wrong = cells.tp + cells.tn, cells.fp + cells.fn
    first, last = ends((right - wrong) / (right + wrong))
    return (last + first) / 2


_MEANS = {"cohen": _cohen, "scott": _scott, "fleiss": _scott, "bennett": _bennett}


def _mean_quotient(above: tuple[Array, Array], below: tuple[Array, Array]) -> Array:
    """Means of quotients whose parts grow linearly from their first to their last number.

    Those `below` are positive.
    """
    xp = namespace(above[0])
    first, last = below
    falls = last < first
    near, far = xp.where(falls, *above[::-1]), xp.where(falls, *above)
    base = xp.minimum(last, first)
    growth = xp.abs(last - first)
    is_level = growth <= LEVEL * base
    growth = xp.where(is_level, base, growth)
    x = growth / base
    log, remainder = log_and_remainder(xp, x)
    mean = xp.where(is_level, xp.ones_like(x), log / x)
    late = xp.where(is_level, xp.full_like(x, 0.5), remainder / x / x)
    return (near * (mean - late) + far * late) / base
