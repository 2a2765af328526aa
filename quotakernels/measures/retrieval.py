"""Measures of ranked retrieval: success, reciprocal rank, DCG and NDCG of each list."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, device
from quotakernels.inputs.cuts import masses_and_positions, masses_or_all
from quotakernels.inputs.totals import Totals
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._sums import NEAR, series
from quotakernels.ops import namespace

_LOG_GAMMA = (
    -1 / 24,
    7 / 2880,
    -31 / 40320,
    127 / 215040,
    -511 / 608256,
    1414477 / 738017280,
    -8191 / 1277952,
    118518239 / 4010803200,
)
"""Coefficients of x⁻¹, x⁻³, … in ln Γ(x + ½) - x·ln x + x - ½·ln 2π."""


class Chance(NamedTuple):
    """The probabilities that there is no positive, and that there is one; each is accurate."""

    none: Array
    some: Array


def chance_of_none(xp: Namespace, items: Array, positives: Array, drawn: Array) -> Chance:
    """Whether whole numbers of draws, 0 to `items`, find a positive.

    The formula is the same with draws and positives exchanged, so that the fewer of them are
    multiplied.
    """
    few, many = xp.minimum(positives, drawn), xp.maximum(positives, drawn)
    far = xp.clip(few - NEAR, 0.0)
    log = xp.piecewise(
        far > 0,
        lambda *x: _log_of_far(xp, *x),
        lambda items, _, __: xp.zeros_like(items),
        *(items, many, far),
    )
    none, some = xp.exp(log), -xp.expm1(log)
    for k in range(NEAR):
        left = items - (far + k)
        there = far + k < few
        left = xp.where(there, left, xp.ones_like(left))
        hit = xp.where(there, xp.minimum(many, left), xp.zeros_like(left)) / left
        none, some = none * (1 - hit), some + (1 - some) * hit
    return Chance(none, some)


def _log_of_far(xp: Namespace, items: Array, positives: Array, drawn: Array) -> Array:
    """The logarithm for at least 8 examples that are neither drawn nor positive."""
    top = items + 0.5
    least = xp.full_like(top, NEAR + 0.5)
    left, other = xp.maximum(top - drawn, least), xp.maximum(top - positives, least)
    rest = xp.maximum(left - positives, least)
    both = xp.log1p(-drawn / xp.maximum(top, drawn + least)) * positives
    both = both + xp.log1p(-positives / xp.maximum(top, positives + least)) * drawn
    log = both - rest * _log_ratio(xp, top, left, other, rest)
    return log + (_tail(other) - _tail(top)) + (_tail(left) - _tail(rest))


def _log_ratio(xp: Namespace, top: Array, left: Array, other: Array, rest: Array) -> Array:
    """ln(top·rest/(left·other)), whose argument is 1 - (top - left)·(top - other)/(left·other)."""
    part = (top - left) / left * ((top - other) / other)
    near = part < 0.5
    nothing = xp.zeros_like(part)
    return xp.where(
        near, xp.log1p(-xp.where(near, part, nothing)), xp.log(top / left * (rest / other))
    )


def _tail(x: Array) -> Array:
    return (series(_LOG_GAMMA[1:], 1 / (x * x)) + _LOG_GAMMA[0]) / x


class ListPositions:
    """The positions of each list, or of each group of examples, as rows of a table.

    ``rank`` counts them from 1 on; ``place`` is that within the tie group.  Both are floats.
    """

    def __init__(self, xp: Namespace, table: ops.TieTable, numbers: Array):
        counts = table.counts
        ends = xp.prefix_sum(counts, xp.int64)
        number = xp.broadcast_to(numbers, (*counts.shape[:-1], numbers.shape[0]))
        row = xp.row_of_each(table, ends, numbers)
        self._xp, self._row, self._rows = xp, row, table
        self._wide = xp.wide_float(device(counts))
        items, end = xp.take_last_axis(counts, row), xp.take_last_axis(ends, row)
        self.there = (items > 0) & (number <= end)
        self.place = self._floating(number - end + items)
        self.items = self._floating(xp.where(self.there, items, xp.ones_like(items)))
        self._known, first = ends[..., -1:] <= numbers.shape[0], 0
        self.table = table
        if table.groups:
            self.table = self._with_groups(ends, items)
            before = self.table.groups.starts[..., :-1]
            first = xp.repeat_per_row(self.table, before)
        self.rank = self._floating(xp.where(self.there, number - first, xp.ones_like(number)))

    def _with_groups(self, ends: Array, items: Array) -> ops.TieTable:
        """A table of as many rows as positions, of which only its groups are looked at."""
        xp, groups = self._xp, self._rows.groups
        none = xp.zeros((*ends.shape[:-1], 1), dtype=ends.dtype, device=device(ends))
        starts = xp.take_last_axis(xp.concat([none, ends], axis=-1), groups.starts)
        of_row = xp.take_last_axis(groups.of_row, self._row)
        groups = groups._replace(starts=starts, of_row=of_row)
        return ops.TieTable(items, items, items, None, None, groups=groups)

    def _floating(self, x: Array) -> Array:
        return self._xp.cast(x, self._wide)

    def of_row(self, column: Array) -> Array:
        """What a column of the table has in the row of each position, as a float."""
        return self._floating(self._xp.take_last_axis(column, self._row))

    def sums(self, wanted: Array, *terms: Array) -> list[Array]:
        """The sums of each of the terms within the wanted masses, shape (..., K).

        A fractional quota takes a part of the last position.
        """
        xp = self._xp
        terms = tuple(xp.where(self.there, x, xp.zeros_like(x)) for x in terms)
        found: list[list[Array]] = [[] for _ in terms]
        for k in range(wanted.shape[-1]):
            limit = wanted[..., k]
            taken = xp.clip(xp.repeat_per_row(self.table, limit) - (self.rank - 1), 0.0, 1.0)
            inside = taken > 0  # not NaN
            defined = self._defined(limit)
            for sums, term in zip(found, terms, strict=True):
                part = xp.where(inside, taken * term, xp.zeros_like(taken))
                total = xp.group_total(self.table, part)
                sums.append(xp.nan_unless(defined, total))
        return [xp.stack(sums, axis=-1) for sums in found]

    def _defined(self, limit: Array) -> Array:
        """Where a wanted mass is a number, and all positions within it are known."""
        known = self._known if self.table.groups else self._known[..., 0]
        if not self.table.groups:
            known = known | (limit <= self.rank.shape[-1])
        return known & (limit == limit)


def refuse_weights(table: ops.TieTable, name: str) -> None:
    """Raise for masses, of which there are no positions."""
    if table.weighted:
        raise ValueError(
            f"{name} takes no sample weights or other masses: positions are examples; to weigh "
            "lists, pass weights= to group_mean"
        )


def found_before(xp: Namespace, table: ops.TieTable) -> Array:
    """How many positives stand above each row, in its list or group."""
    return xp.running_total(table, table.positives) - table.positives


@measure(Measure, numbers=masses_or_all, greater_is_better=True, by_positives=True, by_group=True)
def success(table: ops.TieTable, wanted: Array) -> Array:
    """Success at a cutoff, elsewhere hit rate at k: whether any positive is among the best.

    With ties it is the probability over their orders.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    quota, fraction, when_short : optional
        The cutoff: how many of the best examples count, or which share of all; by default all.
    sample_weight : None
        Refused, because positions are examples here.

    Returns
    -------
    array, shape (..., *Q)
        From 0 to 1; NaN where there are no examples.  With `groups` the shape is (..., S, *Q).

    See Also
    --------
    hit_rate : the share of positives among the best, which is precision at k.
    qrecall : the share of all positives among the best, which is recall at k.

    Notes
    -----
    If the quota takes d of m tied examples with p positives, and no positive comes before them, it
    is 1 - C(m - p, d)/C(m, d).  Between whole quotas it is a straight line.

    References
    ----------
    [McSherry 2008] for ties; ``success`` of [Buckley 2008].

    Examples
    --------
    >>> from quotakernels.retrieval import success
    >>> y_true, y_score = [0, 1, 0, 1], [0.9, 0.5, 0.5, 0.5]
    >>> print(success(y_true, y_score, quota=[1, 2, 3]).round(4))
    [0.     0.6667 1.    ]
    """
    refuse_weights(table, "success")
    xp = namespace(wanted)

    def chance(limit: Array, rows: Any) -> tuple[Array]:
        before, found, items, here = ops.CutRow.of(rows)
        drawn = xp.minimum(xp.clip(limit - before, 0.0), items)
        drawn = xp.where((found == 0) & (here > 0), drawn, xp.zeros_like(drawn))
        row = (here / xp.clip(items, 1.0), drawn, items, here)
        single = lambda share, drawn, *_: share * drawn  # noqa: E731
        return (xp.piecewise(drawn > 1, partial(_some, xp), single, *row),)

    def of(limit: Array) -> ops.RowSum:
        limit = xp.repeat_per_row(table, xp.where(limit == limit, limit, xp.zeros_like(limit)))
        return ops.RowSum(partial(chance, limit), lambda x: x)

    sums = xp.sum_rows(table, *(of(wanted[..., k]) for k in range(wanted.shape[-1])))
    return xp.where(xp.isnan(wanted), wanted, xp.stack(sums, axis=-1))


def _some(xp: Namespace, _share: Array, drawn: Array, items: Array, here: Array) -> Array:
    """The chance of a positive among the drawn; between whole numbers a straight line."""
    whole = xp.floor(drawn)
    chance = chance_of_none(xp, items, here, whole)
    left = xp.clip(items - whole, 1.0)
    return chance.some + chance.none * (drawn - whole) * here / left


@measure(
    Measure, numbers=masses_and_positions, greater_is_better=True, by_positives=True, by_group=True
)
def reciprocal_rank(table: ops.TieTable, wanted: Array, numbers: Array) -> Array:
    """Reciprocal rank: 1 over the position of the first positive, 0 if there is none.

    With ties it is the expectation over their orders.  Its mean over lists, `group_mean`, is MRR.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    quota, fraction, when_short : optional
        A cutoff, a number or a share of the best examples: a first positive after it does not
        count.  By default all examples.
    sample_weight : None
        Refused, because positions are examples here.

    Returns
    -------
    array, shape (..., *Q)
        From 0 to 1; NaN where there are no examples.  With `groups` the shape is (..., S, *Q).

    Raises
    ------
    ValueError
        Sample weights; a `Ranking` of counts with more than 10**8 positions within the quota.  In a
        compiled program a ranking with more positions than rows gives NaN.

    Notes
    -----
    Let a tie group of m examples, p of them positive, follow S negatives.  Its first positive has
    place i in the group with probability C(m - i, p - 1)/C(m, p), and then the reciprocal rank is
    1/(S + i).

    References
    ----------
    [McSherry 2008] for ties; ``recip_rank`` of [Buckley 2008].

    Examples
    --------
    >>> from quotakernels.retrieval import reciprocal_rank
    >>> y_true, y_score = [0, 1, 0, 1], [0.9, 0.5, 0.5, 0.5]
    >>> print(reciprocal_rank(y_true, y_score).round(4))
    0.4444
    >>> print(reciprocal_rank(y_true, y_score, groups=["a", "a", "b", "b"]))
    [0.5  0.75]
    """
    refuse_weights(table, "reciprocal_rank")
    xp = namespace(wanted)
    at = ListPositions(xp, table, numbers)
    here = at.of_row(table.positives)
    first = (at.of_row(found_before(xp, table)) == 0) & (here > 0) & at.there
    here = xp.where(first, here, xp.zeros_like(here))

    def later(items: Array, here: Array, place: Array) -> Array:
        none = chance_of_none(xp, items, here, place - 1).none
        return none * here / (items - (place - 1))

    chance = xp.piecewise(
        first & (at.place > 1),
        later,
        lambda items, here, _: here / items,
        *(at.items, here, xp.minimum(at.place, at.items)),
    )
    return at.sums(wanted, chance / at.rank)[0]


def _discounts(xp: Namespace, at: ListPositions) -> Array:
    """1/log2(1 + position)."""
    return 1 / xp.log2(at.rank + 1)


@measure(
    Measure,
    numbers=masses_and_positions,
    takes=("gain",),
    greater_is_better=True,
    most=None,
    by_group=True,
)
def dcg(table: ops.TieTable, wanted: Array, numbers: Array) -> Array:
    """Discounted cumulative gain: the sum of gain/log2(1 + position).

    With ties it is the expectation over their orders: each tied example has the mean gain.

    Takes labels, scores and perhaps gains, or a `Ranking` with or without gains; the other keywords
    are those of `rank`.

    Parameters
    ----------
    y_true : array, optional
        Labels; without `gain` a positive brings 1.  May be None if `gain` is given.
    gain : array, shape (n,) or that of `y_score`, optional
        What each example brings, such as its graded relevance, used as it is.  For exponential
        gains pass ``2.0**grade - 1``.
    gain_rejected, sample_weight : None
        Refused.
    quota, fraction, when_short : optional
        A cutoff: how many of the best examples count, or which share of all; by default all.

    Returns
    -------
    array, shape (..., *Q)
        NaN where there are no examples.  With `groups` the shape is (..., S, *Q).

    Raises
    ------
    ValueError
        Sample weights; a `Ranking` of counts with more than 10**8 positions within the quota.

    See Also
    --------
    ndcg : DCG divided by that of the ideal order.

    References
    ----------
    [Järvelin 2002], with the discount of [Burges 2005], which is 1 at the first position;
    [McSherry 2008] for ties.

    Examples
    --------
    >>> from quotakernels.retrieval import dcg
    >>> print(dcg([1, 0, 1], [0.9, 0.8, 0.7]))
    1.5
    >>> print(dcg(None, [0.9, 0.8, 0.7], gain=[3, 0, 2], quota=[1, 3]))
    [3. 4.]
    """
    refuse_weights(table, "dcg")
    xp = namespace(wanted)
    at = ListPositions(xp, table, numbers)
    return at.sums(wanted, _mean_gain(table, at) * _discounts(xp, at))[0]


def _mean_gain(table: ops.TieTable, at: ListPositions) -> Array:
    """What an example of the tie group at each position brings on average."""
    if "gain" not in table.columns:
        return at.of_row(table.positives) / at.items
    if "gain_rejected" in table.columns:
        raise ValueError("dcg takes no gain_rejected; what stands behind the quota adds nothing")
    return at.of_row(table.columns["gain"].whole) / at.items


@measure(
    Measure,
    numbers=masses_and_positions,
    takes=("gain",),
    ideal=True,
    greater_is_better=True,
    monotone="always",
    by_positives=True,
    by_group=True,
)
def ndcg(table: ops.TieTable, wanted: Array, numbers: Array) -> Array:
    """Normalized discounted cumulative gain: DCG over the DCG of the ideal order, best gain first.

    With ties it is the expectation over their orders; the ideal order does not depend on ties.

    Takes labels and scores, and gains as in `dcg`; or a `Ranking` without gains, since a ranking
    keeps only the sum of the gains of a tie group.  The other keywords are those of `rank`.  With
    gains, intervals and comparisons resample whole lists: use `group_mean` of it, and pass
    `groups`.

    Parameters
    ----------
    quota, fraction, when_short : optional
        A cutoff of both orders: how many of the best examples count, or which share of all; by
        default all.

    Returns
    -------
    array, shape (..., *Q)
        From 0 to 1; NaN where there are no positives, or no gain above 0.

    Raises
    ------
    ValueError
        Sample weights; a `Ranking` of counts with more than 10**8 positions within the quota;
        negative gains; a `Ranking` with gains, or a resample of examples.

    Notes
    -----
    Both sums end at the cutoff.  To keep the ideal order uncut, as for documents that were judged
    but not retrieved, divide `dcg` by the `dcg` of the gains as scores.  scikit-learn,
    trec_eval and torchmetrics take gains as they are; rax takes ``2**grade - 1``.

    References
    ----------
    [Järvelin 2002], [Burges 2005]; [McSherry 2008] for ties; ``ndcg_cut`` of [Buckley 2008].

    Examples
    --------
    >>> from quotakernels.retrieval import ndcg
    >>> print(ndcg([1, 0, 1], [0.9, 0.8, 0.7]).round(4))
    0.9197
    >>> print(ndcg(None, [0.9, 0.8, 0.7], gain=[3, 0, 2], quota=2).round(4))
    0.7039
    """
    refuse_weights(table, "ndcg")
    xp = namespace(wanted)
    at = ListPositions(xp, table, numbers)
    discounts = _discounts(xp, at)
    gain, best = _mean_gain(table, at), _best_gain(table, at, numbers)
    found, ideal = at.sums(wanted, gain * discounts, best * discounts)
    return xp.at_most(found / ideal, 1.0)


def _best_gain(table: ops.TieTable, at: ListPositions, numbers: Array) -> Array:
    """What an example brings at each position of the ideal order."""
    xp = namespace(numbers)
    if "gain" not in table.columns:
        positives = xp.repeat_per_row(at.table, Totals(xp, table).positive)
        return xp.where(at.rank <= positives, xp.ones_like(at.rank), xp.zeros_like(at.rank))
    if isinstance(table.ideal, tuple):
        raise ValueError(
            "ndcg of gains needs the gain of each example, which neither a Ranking nor a resample "
            "of examples has; call it with scores and gain=, or draw whole lists by groups= and "
            "group_mean"
        )
    place = xp.clip(numbers - 1, max=table.ideal.shape[-1] - 1)
    return xp.take_last_axis(table.ideal, xp.broadcast_to(place, at.rank.shape))
