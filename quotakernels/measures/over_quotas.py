"""Averages over all quotas: AUC, the Gini coefficient, PEM, average hit rate and Qrecall."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, device
from quotakernels._records import plainly
from quotakernels._types import Generic, T, WhenShort
from quotakernels.inputs.cuts import quota_masses, wanted_masses
from quotakernels.inputs.keywords import check_choice, show_value
from quotakernels.inputs.numbers import checked, numbers_like, plain_number
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._sums import (
    WIDE,
    OfRowSum,
    harmonic_sums,
    item_scale,
    log_and_remainder,
    narrow_sums,
)
from quotakernels.measures._units import in_usual_units
from quotakernels.measures.at_quota import correlation_within, hit_rate_at
from quotakernels.ops import namespace


@plainly
class PemAreas(NamedTuple, Generic[T]):
    """The three areas of PEM = (S1 - S2) / S3, each of shape (...).

    Attributes
    ----------
    s1 : array
        Where Qrecall is above chance, d(j) = Q(j) - j/n > 0.
    s2 : array
        Where it is below chance, counted positive.
    s3 : array
        S1 of the optimal ranking, N/2.
    """

    s1: T
    s2: T
    s3: T


@measure(Measure, greater_is_better=None, by_positives=True, by_sums=True)
def pem_areas(table: ops.TieTable, *, method: Literal["sum", "area"] = "sum") -> PemAreas:
    """The areas S1, S2 and S3 in PEM = (S1 - S2)/S3 ([AR] eq. 14-15, Table 5).

    With d(j) = Q(j) - j/n, S1 sums the positive d(j), S2 sums -d(j) over the negative ones, and
    S3 = N/2 is S1 of the optimal ranking.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    method : {"sum", "area"}
        "sum" adds up d(j) at j = 1..n, as Table 5 does; it refuses sample weights, which have no
        such positions.  "area" integrates d(x) from 0 to n, so it also counts both parts of a step
        in which the sign changes.

    Returns
    -------
    PemAreas
        In units of examples.  All 0 where there are no negatives, NaN where there are no positives.

    Notes
    -----
    (S1 - S2) / S3 is the same by both methods.  Weighted areas are on masses rescaled to a mean
    of one per example.  The optimistic policy gives upper bounds of S1 and lower bounds of S2,
    the pessimistic policy the other way round.

    References
    ----------
    [AR] eq. 14-15, Table 5.

    Examples
    --------
    >>> from quotakernels import pem_areas
    >>> y_true, y_score = [1, 0, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.1]
    >>> print(*pem_areas(y_true, y_score))
    0.4 0.4 1.5
    >>> print(*pem_areas(y_true, y_score, method="area"))
    0.375 0.375 1.5
    """
    check_choice("method", method, "sum", "area")
    if method == "sum" and table.weighted:
        raise ValueError(
            'with sample weights there are no positions to sum over; use method="area"'
        )
    xp = namespace(table[0])
    return xp.sum_rows(table, advantage_areas(xp, table, Totals(xp, table), method))[0]


def advantage_areas(
    xp: Namespace, table: Any, total: Totals, method: Literal["sum", "area"]
) -> ops.RowSum:
    """S1, S2 and S3; d is a straight line within each row."""
    whole, positive = (xp.repeat_per_row(table, x) for x in (total.whole, total.positive))
    by_sum = method == "sum"

    def terms(rows: Any) -> tuple[Array, ...]:
        """n·P·Σd of each row, above and below zero."""
        half, half_positive, size = whole / 2, positive / 2, rows.mass
        start = half * rows.positive_before - half_positive * rows.mass_before
        return _by_side(xp, by_sum, start, half * rows.positive - half_positive * size, size)

    def value(above: Array, below: Array) -> PemAreas:
        unit, optimum = total.whole * total.positive, total.pairs / (2 * total.positive)
        if table.weighted:
            scale = item_scale(xp, table, total)
            unit, optimum = unit / scale, optimum * scale
        return PemAreas(above / unit, xp.abs(below) / unit, optimum)

    def each(at: Any) -> tuple[Array, Array]:
        """n·P·d of each position, above and below zero; exactly 0 in a group without a slope.

        A program of fixed shape has a row for each example anyway.  There the few steps of a
        position take less time than the crossings of `_by_side`, which only few rows have.
        """
        before, size = at.at_most(at.mass_before, whole), at.size
        start = whole * at.positive_before - positive * before
        line = start + at.place * (whole * at.positive - positive * at.mass) / size
        return xp.clip(line, 0.0), xp.clip(line, None, 0.0)

    of_stretch = partial(_on_one_side, xp, by_sum, whole, positive)
    return ops.RowSum(terms, value, by_position=each if by_sum else None, by_stretch=of_stretch)


def _on_one_side(
    xp: Namespace, by_sum: bool, whole: Array, positive: Array, rows: Any, area: Array
) -> tuple[Array, ...]:
    """Where d has one sign even if all negatives come first, or all positives; and its sums."""
    half, half_positive = whole / 2, positive / 2
    start = half * rows.positive_before - half_positive * rows.mass_before
    rise, fall = half * rows.positive, half_positive * rows.mass
    line = rows.mass * (2 * start - fall) + half * area
    line = line + rise - fall if by_sum else line
    return (start >= fall) | (start + rise <= 0), xp.clip(line, 0.0), xp.clip(line, None, 0.0)


def _by_side(
    xp: Namespace, by_sum: bool, start: Array, change: Array, size: Array
) -> tuple[Array, Array]:
    """Sums, or areas, above zero and below of lines, of which half the heights are given."""
    step, end = (1.0 if by_sum else 0.0), start + change
    line = size * (start + end)
    line = line + change if by_sum else line

    def crossing(start: Array, change: Array, size: Array, _: Array) -> Array:
        """Where a line crosses zero: the sum at k = 1..size, or the area, of what is positive.

        A value so near zero that rounding puts it on the wrong side adds nothing either way.
        """
        zero = size * xp.abs(start / change)
        zero = xp.floor(zero) if by_sum else zero
        rises = change > 0
        first = xp.where(rises, zero + step, xp.full_like(size, step))
        last = xp.where(rises, size, zero)
        ends = (xp.clip(start + k * (change / size), 0.0) for k in (first, last))
        return (last - first + step) * sum(ends)

    whole = lambda *x: xp.clip(x[-1], 0.0)  # noqa: E731
    above = xp.piecewise(start * end < 0, crossing, whole, start, change, size, line)
    return above, xp.clip(line - above, None, 0.0)


class Won(NamedTuple):
    """Twice the pairs won, ties counted half; and the number of pairs."""

    twice: Array
    pairs: Array

    @property
    def share(self) -> Array:
        """Pairs won, of all."""
        return self.twice / (2 * self.pairs)

    @property
    def surplus(self) -> Array:
        """Pairs won less pairs lost, over all."""
        return (self.twice - self.pairs) / self.pairs


def pairs_won(_xp: Namespace, table: Any, total: Totals) -> ops.RowSum:
    """AUC is the share of the pairs of a positive and a negative that are won, Gini the surplus.

    Whole numbers of positives go on from one group of examples to the next, which takes fewer
    steps: those before the group are taken off at the end.
    """
    in_list = len(table.groups) > 0 and not total.rounded

    def won_twice(rows: Any) -> tuple[Array]:
        return (rows.won_twice,)

    def value(twice: Array) -> Won:
        if in_list:
            twice = twice - 2 * total.positive_before * total.negative
        won = total.within(twice, 2 * total.pairs) if total.rounded else twice
        return Won(won, total.pairs)

    return ops.RowSum(won_twice, value, whole=True, in_list=in_list, positives_suffice=True)


def _won(table: Any) -> Won:
    """The sum of `pairs_won`, the one formula of AUC.

    Groups that PyTorch counts on a device, where their values are not read, have a second form, in
    whole numbers from the running counts on: it takes 45 launches, where sums over rows take 53.
    """
    xp = namespace(table[0])
    if table.groups and (mark := table.mark) is not None:
        twice, pairs = xp.won_twice_by_group(table)
        return Won(xp.cast(twice, mark.dtype), pairs * mark)
    total = Totals(xp, table)
    return ops.shared(table, "won", lambda: xp.sum_rows(table, pairs_won(xp, table, total))[0])


@measure(
    Measure,
    greater_is_better=True,
    monotone="always",
    by_positives=True,
    by_counts=True,
    sums=OfRowSum(pairs_won, attrgetter("share")),
)
def roc_auc(
    table: ops.TieTable,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    standardized: Standardized = "mcclish",
) -> Array:
    """Area under the ROC curve: the share of pairs ranked correctly, ties counted half.

    A pair is a positive and a negative; it is ranked correctly if the positive has the higher
    score.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    max_fpr : float, optional
        Only the part up to this false positive rate f, ∫ TPR dFPR from 0 to f; 0 < f ≤ 1.
    min_tpr : float, optional
        Only the part above this true positive rate t, ∫ (1 - FPR) dTPR from t to 1; 0 ≤ t < 1.
        With weights a part near 1 is right to about 1e-16/(1 - t) of itself.
        With both bounds it is the area that lies in both parts, ∫ max(TPR - t, 0) dFPR from 0 to f.
    standardized : {"mcclish", False}
        "mcclish" scales the area of a part to (1 + (area - chance)/(best - chance))/2, so that
        chance is 0.5; chance is f²/2 and the best f, or (1 - t)²/2 and 1 - t.  False gives the area
        itself, and is required with both bounds.

    Returns
    -------
    array, shape (...)
        From 0 to 1; NaN where one class is absent.

    Raises
    ------
    TypeError, ValueError
        A bound that is not a number or is out of range; another value of `standardized`; both
        bounds standardized.

    Notes
    -----
    Numerator and denominator are whole numbers, exact as long as 2PN of all groups together is
    below 2**53 (n up to 1.3e8); beyond that the result is within a few ulp.  With weights a pair
    counts the product of its weights.  Parts are within a few 2**-53 of their largest area; inside
    a tie group the curve is a straight line.  The optimistic and the pessimistic policy give
    bounds.

    References
    ----------
    [Hanley 1982]; of parts [McClish 1989], [Jiang 1996], of both bounds [Yang 2019].

    Examples
    --------
    >>> from quotakernels import roc_auc
    >>> print(roc_auc([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]))
    0.75
    >>> print(roc_auc([1, 1], [0.9, 0.8]))
    nan
    >>> y_true, y_score = [1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.1]
    >>> print(roc_auc(y_true, y_score, max_fpr=0.5, standardized=False).round(4))
    0.2778
    >>> print(roc_auc(y_true, y_score, max_fpr=0.5).round(4))
    0.7037
    """
    max_fpr, min_tpr = checked_part(max_fpr, min_tpr, standardized)
    if max_fpr is not None or min_tpr is not None:
        return partial_auc(table, max_fpr, min_tpr, standardized)
    return _won(table).share


@measure(
    Measure,
    greater_is_better=True,
    monotone="always",
    signed=True,
    by_positives=True,
    by_counts=True,
    sums=OfRowSum(pairs_won, attrgetter("surplus")),
)
def gini(table: ops.TieTable) -> Array:
    """Gini coefficient, 2·AUC - 1.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        From -1 to 1; NaN where one class is absent.

    See Also
    --------
    pem : always the same number.
    roc_auc : the area, with notes on weights and ties.

    References
    ----------
    [PW], AUC and Gini.

    Examples
    --------
    >>> from quotakernels import gini
    >>> print(gini([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]))
    0.5
    """
    return _won(table).surplus


@measure(
    Measure,
    greater_is_better=True,
    monotone="always",
    signed=True,
    by_positives=True,
    by_counts=True,
    sums=OfRowSum(pairs_won, attrgetter("surplus")),
)
def pem(table: ops.TieTable) -> Array:
    """PEM, the performance relative to chance and optimum over all quotas ([AR] eq. 14-15).

    PEM = (S1 - S2) / S3 = (Σ Q(j) - (n + 1)/2) / (N/2), summed over j = 1..n.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        From -1 (worst) over 0 (chance) to 1 (optimum); NaN where one class is absent.

    See Also
    --------
    pem_areas : S1, S2 and S3.

    Notes
    -----
    Since Σ Q(j) = (P + 1)/2 + N·AUC, PEM equals 2·AUC - 1, the Gini coefficient, for every
    ranking, with ties, and for either class.  It is computed as such, and with weights it is
    defined as such.  The optimistic and the pessimistic policy give bounds.

    References
    ----------
    [AR] eq. 14-15.

    Examples
    --------
    >>> from quotakernels import pem
    >>> print(pem([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]))
    0.5
    >>> print(pem([0, 1], [0.9, 0.1]))
    -1.0
    """
    return _won(table).surplus


# a part of the area under the ROC curve


Standardized: TypeAlias = Literal["mcclish", False]


def checked_part(
    max_fpr: Any, min_tpr: Any, standardized: Any
) -> tuple[float | None, float | None]:
    """Both rates as Python's floats; raise unless they say which part of the ROC curve, and in
    which unit its area is.
    """
    fpr = None if max_fpr is None else plain_number("max_fpr", max_fpr)
    tpr = None if min_tpr is None else plain_number("min_tpr", min_tpr)
    if not (fpr is None or 0 < fpr <= 1):
        raise ValueError(f"max_fpr must be a rate above 0 and at most 1; got {show_value(max_fpr)}")
    if not (tpr is None or 0 <= tpr < 1):
        raise ValueError(f"min_tpr must be a rate from 0 to below 1; got {show_value(min_tpr)}")
    if not (standardized is False or standardized == "mcclish"):
        raise ValueError(f'standardized must be "mcclish" or False; got {show_value(standardized)}')
    if standardized and fpr is not None and tpr is not None:
        raise ValueError(
            "McClish's standard is for an area with one bound; with max_fpr= and min_tpr= pass "
            "standardized=False"
        )
    return fpr, tpr


def partial_auc(
    table: ops.TieTable, max_fpr: float | None, min_tpr: float | None, standardized: Standardized
) -> Array:
    """The area below the ROC curve to the left of one rate and above the other."""
    xp = namespace(table[0])
    width, height = 1.0 if max_fpr is None else max_fpr, 1 - (min_tpr or 0.0)
    best = width * height
    part = _left_and_above(xp, table, Totals(xp, table), width, min_tpr or 0.0)
    area: Array = xp.sum_rows(table, part)[0] * best
    if not standardized:
        return area
    chance = width * width / 2 if min_tpr is None else height * height / 2
    return (1 + (area - chance) / (best - chance)) / 2


def beside_level(before: Array, here: Array, whole: Array, level: float) -> tuple[Array, Array]:
    """How far a group begins below a level, and how far it ends above it.

    The group follows on the mass `before`; the level is a share of the whole.  In the upper half
    masses are measured from the end: the share up to there has lost digits of a small rest.
    """
    if level < 0.5:
        lacking = level * whole - before
        return lacking, here - lacking
    rest, room = whole - before, (1 - level) * whole
    return rest - room, room - (rest - here)


def _left_and_above(
    xp: Namespace, table: ops.TieTable, total: Totals, max_fpr: float, min_tpr: float
) -> ops.RowSum:
    """∫ max(TPR - min_tpr, 0) dFPR from 0 to max_fpr, segment by segment, of the most it can be."""
    negatives, positives = (xp.repeat_per_row(table, x) for x in (total.negative, total.positive))

    def terms(rows: Any) -> tuple[Array]:
        wide, high = rows.negative, rows.positive
        run, rise = divisor(xp, wide), divisor(xp, high)
        lacking, over = beside_level(rows.positive_before, high, positives, min_tpr)
        inside, outside = beside_level(rows.negative_before, wide, negatives, max_fpr)
        enters, stays = (xp.clip(x / rise, 0.0, 1.0) for x in (lacking, over))
        leaves, beyond = (xp.clip(x / run, 0.0, 1.0) for x in (inside, outside))
        share = xp.where(leaves < 0.5, leaves - enters, stays - beyond)
        share = xp.clip(share, 0.0)
        return (wide * share * (xp.clip(-lacking, 0.0) + high * share / 2),)

    def value(area: Array) -> Array:
        most = max_fpr * (1 - min_tpr) * total.pairs
        return total.within(area, most) / most

    return ops.RowSum(terms, value)


# averages


def _of_ties(xp: Namespace, sums: Callable[..., tuple[Array, Array]], *row: Array) -> Array:
    """What a tie group of any size adds, by its harmonic sums."""
    before, mass, found, here, items = row
    mass, items = divisor(xp, mass), divisor(xp, items)
    ones, ramps = sums(xp, before * (items / mass), items)
    return here / mass * (found * ones + here / items * ramps)


def hit_rate_mean(xp: Namespace, table: ops.TieTable, total: Totals) -> ops.RowSum:
    """AHR: Σ t[j]·HitRate(j) over the positives.

    It has two forms.  That of a row is closed, for tie groups of any size, and serves tables of few
    rows.  In a table in place it would be computed for every position, where one term is enough.
    """

    def several(mass_before: Array, mass: Array, *row: Array) -> Array:
        is_wide = mass_before < WIDE * divisor(xp, mass)
        wide, narrow = (partial(_of_ties, xp, sums) for sums in (harmonic_sums, narrow_sums))
        return xp.piecewise(is_wide, wide, narrow, mass_before, mass, *row)

    def terms(rows: Any) -> tuple[Array]:
        here, items = rows.positive, rows.items
        alone = here * (rows.positive_upto / divisor(xp, rows.mass_upto))
        is_tied = (items > 1) & (here > 0)  # without positives any formula gives 0
        row = (rows.mass_before, rows.mass, rows.positive_before, here, items)
        return (xp.piecewise(is_tied, several, lambda *_: alone, *row),)

    def each(at: Any) -> tuple[Array]:
        share, quota = at.positive / at.size, at.position
        if table.weighted:
            quota = divisor(xp, at.mass_before + at.mass * (at.place / at.size))
        return (share * ((at.positive_before + share * at.place) / quota),)

    value = lambda x: total.of_sums(x, total.positive) / total.positive  # noqa: E731
    return ops.RowSum(terms, value, by_position=each, positives_suffice=True)


@measure(Measure, greater_is_better=True, by_positives=True, sums=OfRowSum(hit_rate_mean))
def average_hit_rate(table: ops.TieTable) -> Array:
    """Average hit rate: the mean of HitRate(j) over the positives ([AR] eq. 12).

    AHR = Σ t[j]·HitRate(j) / P over all positions j, where t[j] is the expected label at j.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        Above 0 and at most 1; NaN where there are no positives.

    Notes
    -----
    Eq. 12 is taken literally: t[j] is the weight of position j and also enters HitRate(j).  Without
    ties this is the average precision.  With ties it is at most the mean of AHR over all tie
    orders.  It can be below the pessimistic value: labels 0, 0, 1 with scores 0, 1, 0 give 7/24,
    and 1/3 with positives last.  So the optimistic and the pessimistic policy give no bounds.  All
    scores equal: AHR is the prevalence.

    With weights, the mass and the positive mass of a tie group are spread evenly over its
    examples, which stay the positions.  Positions are examples, so a weight of 2 is not a
    repetition.

    References
    ----------
    [AR] eq. 12.

    Examples
    --------
    >>> from quotakernels import average_hit_rate
    >>> print(average_hit_rate([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1]).round(4))
    0.8056
    >>> print(average_hit_rate([0, 0, 1], [0, 1, 0]).round(4))
    0.2917
    """
    xp = namespace(table[0])
    return xp.sum_rows(table, hit_rate_mean(xp, table, Totals(xp, table)))[0]


def qrecall_mean(
    xp: Namespace, table: ops.TieTable, total: Totals, late: bool = False
) -> ops.RowSum:
    """AQR: ΣQ(j) / (N + 1) from j = P, or `late`, ΣQ(j) / N from j = P + 1.

    It has two forms.  Of counts it is a sum over positions, in whole numbers, and rounded once.
    Weights have no positions, so theirs is an area, whose terms are rounded.
    """
    by_area = table.weighted
    reduction = _qrecall_area(xp, table, total) if by_area else _qrecall_sum(xp, table, total, late)
    if not (late or table.rounded or table.groups):
        return reduction  # undefined values are 0/0
    last = total.negative if late else total.whole
    defined = (total.positive > 0) & (last > 0)
    if not by_area:
        defined = defined & (total.whole < ops.EXACT_IN_FLOAT64)  # else positions are rounded

    def value(*sums: Array) -> Array:
        return xp.nan_unless(defined, reduction.value(*sums))

    return reduction._replace(value=value)


def _ends_of_owner(xp: Namespace, table: Any, total: Totals, late: bool) -> tuple[Array, ...]:
    """What is before the row that owns the first position, and down to its end."""
    first = xp.minimum(total.positives + 1, total.examples) if late else total.positives
    _, *ends = xp.ends_of_row_at(table, first[..., None])
    return tuple(x[..., 0] for x in ends)


def _qrecall_sum(xp: Namespace, table: Any, total: Totals, late: bool) -> ops.RowSum:
    """In whole numbers: twice ΣT is `integer + part / items`.

    The only fraction is that of the group which the first position falls into.  While all that
    fits float64 there is one rounding, that of the division; otherwise there are four.
    """
    owner = _ends_of_owner(xp, table, total, late)

    def full_groups(rows: Any) -> tuple[Array, ...]:
        """Behind the one that the first position falls into."""
        whole = xp.of_kind(rows.mass_before.dtype, "integral")
        first = total.positives if whole else total.positive
        first = xp.repeat_per_row(table, first + 1 if late else first)
        return (rows.below_from(first, owner[1][..., None]),)

    def value(below: Array) -> Array:
        before, end, found, upto = owner
        items = end - before  # 0 only where there are no examples, where all is 0/0
        first = total.positive + 1 if late else total.positive
        place, number = first - before, end - first + 1
        partly = (upto - found) * place
        full = partly // items
        integer = below + (total.positive - upto) + number * (found + upto + full)
        part = number * (partly - full * items)
        whole = 2 * total.positive * (total.negative if late else total.negative + 1)
        return (integer * items + part) / (whole * items)

    return ops.RowSum(full_groups, value, whole=True, positives_suffice=True)


def _qrecall_area(xp: Namespace, table: ops.TieTable, total: Totals) -> ops.RowSum:
    """Average Qrecall as areas under T, by the trapezoid rule, on masses of mean one."""
    start = xp.repeat_per_row(table, total.positive)

    def area(rows: Any) -> tuple[Array]:
        """Area under T from P on, within each row."""
        mass, found, here = rows.mass, rows.positive_before, rows.positive
        left_out = xp.minimum(xp.clip(start - rows.mass_before, 0.0), mass)
        left = found + left_out * here / divisor(xp, mass)
        return ((mass - left_out) * (left + found + here) / 2,)

    def value(below: Array) -> Array:
        scale = item_scale(xp, table, total)
        _, row = xp.rows_at(table, total.positive[..., None])
        before, found, mass, here = (x[..., 0] for x in row)
        found = found + (total.positive - before) / divisor(xp, mass) * here
        most = total.positive * (scale * total.negative + 1)
        return total.within(below * scale + (total.positive + found) / 2, most) / most

    return ops.RowSum(area, value)


@measure(
    Measure,
    greater_is_better=True,
    monotone="always",
    drifting=True,
    by_positives=True,
    by_counts=True,
    sums=OfRowSum(qrecall_mean),
)
def average_qrecall(table: ops.TieTable, *, start: Literal["P", "P+1"] = "P") -> Array:
    """Average Qrecall: the mean of Q(j) over the quotas that can hold all positives ([AR] eq. 13).

    AQR = Σ Q(j) / (N + 1) over j = P..n.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    start : {"P", "P+1"}
        The first quota of the sum.  "P" is eq. 13.  "P+1" starts one later and divides by N, as
        the published tables 8 and 9 do; it takes no sample weights.

    Returns
    -------
    array, shape (...)
        Above 0 and at most 1; NaN where there are no positives and, with ``start="P+1"``, where
        there are no negatives; and, without weights, from n = 2**53 on, where floats do not tell
        positions apart.

    Notes
    -----
    AQR is 1 exactly where all positives are ranked above all negatives.  It is not a function of
    the AUC.  All scores equal: (1 + P/n) / 2.  It is linear in the expected labels, so it is the
    mean over all tie orders, and the optimistic and the pessimistic policy give bounds.

    With weights, masses are rescaled to a mean of one per example, and the sum is the area
    [∫ T(x)dx from P to n + (T(P) + P)/2] / (P(N + 1)), which for constant weights equals eq. 13.

    References
    ----------
    [AR] eq. 13.

    Examples
    --------
    >>> from quotakernels import average_qrecall
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1]
    >>> print(average_qrecall(y_true, y_score).round(4))
    0.8889
    >>> print(average_qrecall(y_true, y_score, start="P+1"))
    1.0
    """
    check_choice("start", start, "P", "P+1")
    if start == "P+1" and table.weighted:
        raise ValueError(
            'start="P+1" is how published tables were computed, without sample weights; '
            'use start="P"'
        )
    xp = namespace(table[0])
    return xp.sum_rows(table, qrecall_mean(xp, table, Totals(xp, table), start == "P+1"))[0]


Method: TypeAlias = Literal["sum", "area"]
_PRIOR = (lambda x: (x >= 0) & (x < float("inf")), "a finite number, not negative")


def _quotas(
    xp: Namespace,
    table: ops.TieTable,
    *,
    between: Any = None,
    quota: Any = None,
    fraction: Any = None,
    prior: Any = None,
    when_short: WhenShort | None = None,
) -> tuple[tuple[Array, ...], None]:
    """The ends of a range, shape (..., 2); or quotas, shape (..., K), and how likely each is."""
    if between is None:
        if quota is None and fraction is None:
            raise TypeError("give exactly one of between=, quota= and fraction=")
        (wanted,), shape = wanted_masses(
            xp, table, quota=quota, fraction=fraction, when_short=when_short
        )
        return (wanted, _likely(xp, table, prior, shape)), None
    beside = {"quota": quota, "fraction": fraction, "prior": prior, "when_short": when_short}
    for name, given in beside.items():
        if given is not None:
            raise TypeError(f"between= cannot be combined with {name}=")
    if not (isinstance(between, (list, tuple)) and len(between) == 2):
        raise TypeError(
            f"between must be two quotas, the first and the last; got {show_value(between)}"
        )
    first, last = (numbers_like(table.counts, "between", x) for x in between)
    if first.ndim or last.ndim:
        raise ValueError("between must be two single quotas; got arrays of them")
    ordered = (lambda x: x <= last, "at most the last quota of the range")
    first = checked(xp, {"between": first}, {"between": ordered})["between"]
    short: WhenShort | None = "nan" if table.groups else None
    ends = xp.stack([first, last])
    return quota_masses(xp, table, quota=ends, when_short=short, called="between")[0], None


def _likely(xp: Namespace, table: ops.TieTable, prior: Any, shape: tuple[int, ...]) -> Array:
    """The weights, shape (K,), of quotas of that shape."""
    if len(shape) > 1:
        raise ValueError(f"quotas must be a number or a list of them; got shape {shape}")
    size = shape[0] if shape else 1
    given = numbers_like(table.counts, "prior", [1.0] * size if prior is None else prior)
    if tuple(given.shape) not in {shape, (size,)}:
        raise ValueError(
            f"prior must have a number for each of {size} quotas; got shape {tuple(given.shape)}"
        )
    return xp.reshape(checked(xp, {"prior": given}, {"prior": _PRIOR})["prior"], (size,))


def _expected(rates: Array, prior: Array) -> Array:
    """The mean of the rates; those that are out of the question may be undefined."""
    xp = namespace(rates)
    weighed = xp.where(prior > 0, prior * rates, xp.zeros_like(rates))
    return xp.total(weighed) / xp.total(prior)


_HIT_RATES = in_usual_units(lambda table, wanted: hit_rate_at(namespace(wanted), table, wanted))


def _log_sums(xp: Namespace, before: Array, size: Array) -> tuple[Array, Array]:
    """∫ 1/(S+x) dx and ∫ x/(S+x) dx for x from 0 to the size; at S = 0 the second alone."""
    some = before > 0
    place = xp.where(some, before, xp.ones_like(before))
    log, remainder = log_and_remainder(xp, size / place)
    return xp.where(some, log, xp.zeros_like(log)), xp.where(some, place * remainder, size)


def _mean_between(table: ops.TieTable, ends: Array, *, method: Method) -> Array:
    """Σ or ∫ of T(j)/j from the first end to the last, over its length."""
    xp, by_sum = namespace(table.counts), method == "sum"
    start, stop = ends[..., 0], ends[..., 1]
    if by_sum:  # over (start, stop] of whole numbers
        start, stop = xp.clip(xp.ceil(start) - 1, 0.0), xp.floor(stop)
    low, high = (xp.repeat_per_row(table, x) for x in (start, stop))

    def terms(rows: Any) -> tuple[Array, Array]:
        before, found, mass, here = ops.CutRow.of(rows)
        first = xp.maximum(before, low)
        size = xp.clip(xp.minimum(before + mass, high) - first, 0.0)
        share = here / divisor(xp, mass)
        ones, ramps = (harmonic_sums if by_sum else _log_sums)(xp, first, size)
        part = (found + (first - before) * share) * ones + share * ramps
        pure = (found >= before) & (here >= mass)
        part = xp.where(pure, size, xp.minimum(part, size))
        nothing = xp.zeros_like(size)
        return xp.where(size > 0, part, nothing), xp.where(size > 0, size, nothing)

    mean: Array = xp.sum_rows(table, ops.RowSum(terms, lambda x, size: x / size))[0]
    return mean


_BETWEEN = in_usual_units(_mean_between)


@measure(
    Measure,
    numbers=_quotas,
    greater_is_better=True,
    monotone="always",
    by_positives=True,
    by_group=True,
)
def mean_hit_rate(table: ops.TieTable, *numbers: Array, method: Method = "sum") -> Array:
    """Mean hit rate over a range of quotas, or over quotas with a prior.

    For a quota that is not known yet: Σ HitRate(j) / (b - a + 1) over the whole quotas j = a … b,
    or Σ w·HitRate(q) / Σ w over some quotas q with weights w.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    between : two numbers, optional
        The range (a, b), 0 ≤ a ≤ b ≤ n (with weights: masses).
    quota, fraction, when_short : optional
        K quotas instead of a range: numbers of examples (with weights, masses), or shares of all.
        Give exactly one of `between`, `quota` and `fraction`.  A quota above the number of examples
        selects all of them if `when_short` is "all", and gives NaN if it is "nan".
    prior : K numbers, optional
        How likely each of these quotas is: numbers that are not negative, with any sum.  By default
        all are equally likely.
    method : {"sum", "area"}
        For a range: "sum" averages over its whole quotas from 1 on, and refuses sample weights,
        which have no such quotas.  "area" is ∫ HitRate(q) dq / (b - a), over all real quotas.

    Returns
    -------
    array, shape (...)
        From 0 to 1.  NaN without examples, where a group has fewer than b, for a range without a
        whole quota or, as an area, without width; for a prior of zeros only, or if a quota with a
        positive prior has no hit rate.

    Raises
    ------
    TypeError, ValueError
        None or several of `between`, `quota` and `fraction`; a quota that `hit_rate` refuses;
        a > b; a prior of another length or with negative numbers.

    See Also
    --------
    average_hit_rate : the mean over the positions of all positives.

    Notes
    -----
    Within a tie group HitRate(j) is a linear function of j, divided by j.  Its part of the sum has
    a closed form, and its part of the area is a logarithm.  The optimistic and the pessimistic
    policy give bounds.

    References
    ----------
    [AR] section 2.3, on quotas that are not known in advance.

    Examples
    --------
    >>> from quotakernels import mean_hit_rate
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(mean_hit_rate(y_true, y_score, between=(2, 4)).round(4))
    0.7222
    >>> print(mean_hit_rate(y_true, y_score, quota=[2, 4], prior=[0.9, 0.1]))
    0.75
    """
    check_choice("method", method, "sum", "area")
    if len(numbers) == 2:
        if method != "sum":
            raise ValueError("method= goes with between=")
        wanted, prior = numbers
        return _expected(_HIT_RATES(table, wanted), prior)
    if method == "sum" and table.weighted:
        raise ValueError('with sample weights there are no whole quotas; use method="area"')
    mean: Array = _BETWEEN(table, *numbers, method=method)
    return mean


# several in one pass


@plainly
class Marks(NamedTuple, Generic[T]):
    """Normalised measures, each of shape (...), or (..., S) of S groups: 0 is chance and 1 the
    optimum, or worst and best.

    Attributes
    ----------
    average_hit_rate, average_qrecall, pem, roc_auc, pearson : array
        The mark of that measure; `pearson` of all examples with their own labels.
    """

    average_hit_rate: T
    average_qrecall: T
    pem: T
    roc_auc: T
    pearson: T


@measure(Measure, greater_is_better=None, by_group=True)
def normalized_marks(
    table: ops.TieTable, *, method: Literal["chance", "minmax"] = "chance"
) -> Marks:
    """AHR, AQR, PEM, AUC and Pearson's correlation on one axis ([AR] Figure 10).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    method : {"chance", "minmax"}
        "chance" gives (v - c) / (1 - c), where c is the expectation of the measure under random
        order; it refuses sample weights.  "minmax" gives (v - min) / (max - min) over the models,
        which are the last batch axis of the scores.

    Returns
    -------
    Marks
        "chance" gives NaN where the measure is undefined, such as Pearson's correlation of constant
        scores, or where c = 1 (all examples positive).  "minmax" gives NaN where all models have
        the same value or one of them is undefined.

    Notes
    -----
    [AR] section 4.2.1 normalises AHR and AQR and does not say how.  "chance" changes just these two
    of its four measures, because PEM, and `pearson` with ``labels="observed"``, are 0 by chance.
    The expectations are (n + P)/(2n) for AQR, 0 for PEM, 1/2 for AUC, and for AHR b + (1 - b)·H/n
    with b = (P - 1)/(n - 1) and H = 1 + 1/2 + … + 1/n.  They are over orders without ties: a
    constant score has AHR = P/n, below that expectation, and so a negative mark.  The marks of PEM
    and AUC are equal by "chance".  Marks of different measures are not comparable with each other.

    References
    ----------
    [AR] section 4.2.1, Figure 10.

    Examples
    --------
    >>> from quotakernels import normalized_marks
    >>> marks = normalized_marks([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1])
    >>> print(marks.average_qrecall.round(4), marks.pem.round(4), marks.roc_auc.round(4))
    0.4444 0.3333 0.3333
    """
    check_choice("method", method, "chance", "minmax")
    xp = namespace(table.counts)
    total = Totals(xp, table)
    won, hit_rate, qrecall = xp.sum_rows(
        table,
        pairs_won(xp, table, total),
        hit_rate_mean(xp, table, total),
        qrecall_mean(xp, table, total),
    )
    correlation = correlation_within(xp, table, total.whole[..., None], "observed")[..., 0]
    values = Marks(hit_rate, qrecall, won.surplus, won.share, correlation)
    if method == "minmax":
        models = -2 if table.groups else -1
        return Marks(*(_between_models(xp, x, models) for x in values))
    if table.weighted:
        raise ValueError(
            "the expectation under random order is not defined with sample weights; "
            'use method="minmax"'
        )
    chance = _chance(xp, total.whole, total.positive)
    pairs = zip(values, chance, strict=True)
    return Marks(*((value - expected) / (1 - expected) for value, expected in pairs))


def _between_models(xp: Namespace, values: Array, axis: int) -> Array:
    if values.ndim < -axis:
        raise ValueError('method="minmax" compares models; give scores of shape (models, n)')
    low = xp.min(values, axis=axis, keepdims=True)
    return (values - low) / (xp.max(values, axis=axis, keepdims=True) - low)


def _chance(xp: Namespace, whole: Array, positive: Array) -> Marks:
    """The expectation of each measure when the examples are in random order."""
    harmonic, _ = harmonic_sums(xp, xp.zeros_like(whole), whole)
    others = xp.where(whole > 1, whole - 1, xp.ones_like(whole))
    share = (positive - 1) / others
    zero = xp.zeros_like(whole)
    hit_rate = share + (1 - share) * harmonic / whole
    return Marks(hit_rate, (whole + positive) / (2 * whole), zero, zero + 0.5, zero)


@plainly
class Summary(NamedTuple, Generic[T]):
    """All measures over all quotas, each of shape (...).

    Attributes
    ----------
    roc_auc, gini, pem, average_hit_rate, average_qrecall : array
        The measures of these names.
    s1, s2, s3 : array
        The areas between Qrecall and chance, `pem_areas`: by sums, or with sample weights by areas.
    """

    roc_auc: T
    gini: T
    pem: T
    average_hit_rate: T
    average_qrecall: T
    s1: T
    s2: T
    s3: T


@measure(Measure, greater_is_better=None, by_positives=True, by_sums=True)
def summary(table: ops.TieTable) -> Summary:
    """All measures over all quotas in one pass, for less than the time of two of them.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Returns
    -------
    Summary
        Each value equals that of its own function, and is NaN where it is undefined.

    References
    ----------
    [AR] eq. 12-15.

    Examples
    --------
    >>> from quotakernels import summary
    >>> values = summary([1, 0, 1, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.1])
    >>> print(values.pem.round(4), values.average_qrecall.round(4))
    0.3333 0.8889
    """
    xp = namespace(table[0])
    total = Totals(xp, table)
    method: Literal["sum", "area"] = "area" if table.weighted else "sum"
    won, hit_rate, qrecall, areas = xp.sum_rows(
        table,
        pairs_won(xp, table, total),
        hit_rate_mean(xp, table, total),
        qrecall_mean(xp, table, total),
        advantage_areas(xp, table, total, method),
    )
    surplus = won.surplus
    return Summary(won.share, surplus, surplus, hit_rate, qrecall, *areas)


def sharing(measures: Mapping[str, Any]) -> dict[str, Measure]:
    """The measures that are sums over the rows, and can share a pass."""
    return {
        name: each
        for name, each in measures.items()
        if isinstance(each, Measure) and each.sums is not None
    }


def in_one_pass(measures: Mapping[str, Measure], table: ops.TieTable) -> dict[str, Any]:
    """The values of measures that share a pass, each the one that the measure gives by itself."""
    xp = namespace(table.counts)
    dtype = xp.result_float(device(table.counts))
    sums = {name: measure.sums for name, measure in measures.items() if measure.sums is not None}
    makes = tuple(dict.fromkeys(each.make for each in sums.values()))
    with xp.computing():
        by_positives = all(measure.by_positives for measure in measures.values())
        rows = (by_positives and xp.merged_groups(table)) or table
        found = xp.compiled(_values_of, ("makes",))(rows, makes=makes)
        values = dict(zip(makes, found, strict=True))
        return {
            name: xp.finished(each.take(values[each.make]), dtype) for name, each in sums.items()
        }


def _values_of(table: Any, *, makes: tuple[Callable[..., ops.RowSum], ...]) -> list[Any]:
    xp: Any = namespace(table[0])
    total = Totals(xp, table)
    return xp.sum_rows(table, *(make(xp, table, total) for make in makes))
