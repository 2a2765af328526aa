"""Averages over all quotas: hit rate and Qrecall."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from quotakernels import ops
from quotakernels._array import Array, Namespace, namespace, of_kind
from quotakernels.inputs.keywords import show_value
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._reduction import Reduction, Sums, item_scale, reduced
from quotakernels.measures.over_quotas.harmonic import WIDE, harmonic_sums, narrow_sums

EXACT = 2.0**53
"""Whole numbers below this are exact in float64."""
_COLUMNS = ("mass_before", "positive_before", "mass", "positive")


@measure(
    Measure,
    greater_is_better=True,
    by_positives=True,
    sums=Sums(lambda xp, table, total: hit_rate_mean(xp, table, total)),  # noqa: PLW0108  defined below
)
def average_hit_rate(table: ops.Groups) -> Array:
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
    return reduced(xp, table, hit_rate_mean(xp, table, Totals(xp, table)))[0]


def hit_rate_mean(xp: Namespace, table: ops.Groups, total: Totals) -> Reduction:
    """AHR: Σ t[j]·HitRate(j) over the positives."""

    def several(*row: Array) -> Array:
        before, _, mass, *_ = row
        is_wide = before < WIDE * divisor(xp, mass)
        wide, narrow = (partial(_tied_share, xp, sums) for sums in (harmonic_sums, narrow_sums))
        return ops.piecewise(xp, is_wide, wide, narrow, *row)

    def terms(*row: Array) -> tuple[Array]:
        *_, here, items = row
        tied = (items > 1) & (here > 0)  # without positives any formula gives 0
        return (ops.piecewise(xp, tied, several, partial(_single_share, xp), *row),)

    def each(
        found: Array, here: Array, items: Array, place: Array, quota: Array, *masses: Array
    ) -> tuple[Array]:
        share = here / items
        if table.weighted:
            before, mass = masses
            quota = divisor(xp, before + mass * (place / items))
        return (share * ((found + share * place) / quota),)

    value = lambda x: total.of_sums(x, total.positive) / total.positive  # noqa: E731
    sums = ("mass_before", "mass_upto", "mass", "positive_before", "positive_upto")
    columns = (*sums, "positive", "items")
    masses = ("group_mass_before", "group_mass") if table.weighted else ()
    of_position = ("group_positive_before", "group_positive", "group_size", "place", "position")
    by_position = ops.Summands((*of_position, *masses), each)
    return Reduction(columns, terms, value, False, by_position)


def _single_share(
    xp: Namespace,
    _before: Array,
    mass_upto: Array,
    _mass: Array,
    _found: Array,
    found_upto: Array,
    here: Array,
    _items: Array,
) -> Array:
    """t[j]·HitRate(j) of a group of one."""
    return here * (found_upto / divisor(xp, mass_upto))


def _tied_share(
    xp: Namespace,
    sums: Callable[..., tuple[Array, Array]],
    mass_before: Array,
    _upto: Array,
    mass: Array,
    found: Array,
    _found_upto: Array,
    here: Array,
    items: Array,
) -> Array:
    """The same sum over a group of any size, of its harmonic sums."""
    mass, items = divisor(xp, mass), divisor(xp, items)
    ones, ramps = sums(xp, mass_before * (items / mass), items)
    return here / mass * (found * ones + here / items * ramps)


@measure(
    Measure,
    greater_is_better=True,
    monotone="always",
    drifting=True,
    by_positives=True,
    by_counts=True,
    sums=Sums(lambda xp, table, total: qrecall_mean(xp, table, total)),  # noqa: PLW0108
)
def average_qrecall(table: ops.Groups, *, start: Literal["P", "P+1"] = "P") -> Array:
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
    if start not in ("P", "P+1"):
        raise ValueError(f'start must be "P" or "P+1"; got {show_value(start)}')
    if start == "P+1" and table.weighted:
        raise ValueError(
            'start="P+1" is how published tables were computed, without sample weights; '
            'use start="P"'
        )
    xp = namespace(table[0])
    return reduced(xp, table, qrecall_mean(xp, table, Totals(xp, table), start == "P+1"))[0]


def qrecall_mean(xp: Namespace, table: ops.Groups, total: Totals, late: bool = False) -> Reduction:
    """AQR: ΣQ(j) / (N + 1) from j = P, or `late`, ΣQ(j) / N from j = P + 1."""
    by_area = table.weighted
    reduction = _qrecall_area(xp, table, total) if by_area else _qrecall_sum(xp, table, total, late)
    if not (late or table.rounded or table.segments):
        return reduction  # undefined values are 0/0
    last = total.negative if late else total.whole
    defined = (total.positive > 0) & (last > 0)
    if not by_area:
        defined = defined & (total.whole < EXACT)  # beyond, positions are not told apart

    def value(*sums: Array) -> Array:
        return ops.nan_unless(xp, defined, reduction.value(*sums))

    return reduction._replace(value=value)


def _owner(xp: Namespace, table: ops.Groups, wanted: Array) -> tuple[Array, ...]:
    """The row that owns one wanted mass per row of the batch: what is before it, and its own."""
    _, row = ops.rows_at(xp, table, xp.expand_dims(wanted, axis=-1))
    return tuple(x[..., 0] for x in (row.mass_before, row.mass, row.positive_before, row.positive))


def _ends_of_owner(xp: Namespace, table: Any, total: Totals, late: bool) -> tuple[Array, ...]:
    """What is before the row that owns the first position, and down to its end."""
    first = xp.minimum(total.positives + 1, total.examples) if late else total.positives
    _, *ends = ops.ends_of_row_at(xp, table, first[..., None])
    return tuple(x[..., 0] for x in ends)


def _qrecall_sum(xp: Namespace, table: Any, total: Totals, late: bool) -> Reduction:
    """In whole numbers: twice ΣT is `integer + part / items`.

    The only fraction is that of the group which the first position falls into.  While all that
    fits float64 there is one rounding, that of the division; otherwise there are four.
    """
    owner = _ends_of_owner(xp, table, total, late)

    def full_groups(before: Array, items: Array, found: Array, upto: Array) -> tuple[Array, ...]:
        """Without what each group has found, which adds up to what the rest finds."""
        whole = of_kind(xp, before.dtype, "integral")
        first = total.positives if whole else total.positive
        least = ops.spread(xp, table, first + 1 if late else first)
        nothing = xp.zeros_like(least, dtype=before.dtype)
        return (xp.where(before >= least, items * (found + upto), nothing),)

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

    columns = ("mass_before", "mass", "positive_before", "positive_upto")
    return Reduction(columns, full_groups, value, True)


def _qrecall_area(xp: Namespace, table: ops.Groups, total: Totals) -> Reduction:
    """As areas under T, by the trapezoid rule, on masses of mean one."""
    start = ops.spread(xp, table, total.positive)

    def area(before: Array, found: Array, mass: Array, here: Array) -> tuple[Array]:
        """Area under T from P on, within each row."""
        left_out = xp.minimum(ops.clip(xp, start - before, 0.0), mass)
        left = found + left_out * here / divisor(xp, mass)
        return ((mass - left_out) * (left + found + here) / 2,)

    def value(below: Array) -> Array:
        scale = item_scale(xp, table, total)
        before, mass, found, here = _owner(xp, table, total.positive)
        found = found + (total.positive - before) / divisor(xp, mass) * here
        most = total.positive * (scale * total.negative + 1)
        return total.within(below * scale + (total.positive + found) / 2, most) / most

    return Reduction(_COLUMNS, area, value)
