"""Screening: early recognition of the few that count, and the work that a ranking saves."""

from __future__ import annotations

from functools import partial
from typing import Any

from quotakernels import ops
from quotakernels._array import Array, Namespace
from quotakernels.inputs.cuts import whole_if_close
from quotakernels.inputs.numbers import plain_number
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._sums import log_and_remainder
from quotakernels.measures.operating import wanted_rate
from quotakernels.measures.retrieval import refuse_weights
from quotakernels.ops import namespace

# exponential weights


def _checked(alpha: float) -> float:
    number = plain_number("alpha", alpha)
    if not 0 < number < float("inf"):
        raise ValueError(f"alpha must be a finite number above 0; got {alpha!r}")
    return number


def _weight_of_positives(xp: Namespace, table: ops.TieTable, total: Totals, alpha: float) -> Array:
    """Σ over the positives of the area under exp(-α·x)·α/n at their places.

    A tie group spreads its positives evenly over its places.
    """
    whole = xp.repeat_per_row(table, total.whole)

    def terms(rows: Any) -> tuple[Array]:
        before, _, mass, here = ops.CutRow.of(rows)
        falls = -xp.expm1(-alpha * (mass / whole))
        return (here / divisor(xp, mass) * xp.exp(-alpha * (before / whole)) * falls,)

    return xp.sum_rows(table, ops.RowSum(terms, lambda x: x))[0]


@measure(Measure, greater_is_better=True, by_positives=True, by_group=True)
def bedroc(table: ops.TieTable, *, alpha: float = 20.0) -> Array:
    """BEDROC: how early the positives come, with exponentially falling weights.

    `rie` scaled to 0 for the worst order and 1 for the best one.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    alpha : float
        α, above 0: how fast the weight exp(-α·r/n) of rank r falls.  With 20, about 80 % of it
        stands in the best 8 % of the examples.

    Returns
    -------
    array, shape (...)
        From 0 to 1, where all positives are first; NaN where one class is absent.

    See Also
    --------
    rie : the same as a ratio to a random order.
    normalized_enrichment_factor : at one quota.

    Notes
    -----
    With ties it is the expectation over their orders, which no order of the rows moves.  With
    weights ranks are masses.  Values of data with other shares of positives, or of another α, are
    not comparable.  Rounding moves it by a few 2**-53, times 1/α for an α below 1.  The optimistic
    and the pessimistic policy give bounds.

    References
    ----------
    [Truchon 2007].

    Examples
    --------
    >>> from quotakernels.screening import bedroc
    >>> active, score = [1, 0, 1, 0, 0, 1, 0, 0], [5, 5, 5, 4, 3, 3, 2, 1]
    >>> print(bedroc(active, score).round(4), bedroc(active, score, alpha=5).round(4))
    0.6667 0.6875
    """
    alpha, xp = _checked(alpha), namespace(table.counts)
    total = Totals(xp, table)
    positives, negatives = (x / total.whole for x in (total.positive, total.negative))
    best = -xp.expm1(-alpha * positives)
    last = xp.exp(-alpha * negatives)
    share = _weight_of_positives(xp, table, total, alpha) / best
    value = xp.clip((share - last) / -xp.expm1(-alpha * negatives), 0.0)
    value = xp.nan_unless(negatives > 0, value)
    return total.within(value, xp.ones_like(value))


@measure(Measure, greater_is_better=True, by_positives=True, by_group=True)
def rie(table: ops.TieTable, *, alpha: float = 20.0) -> Array:
    """RIE, robust initial enhancement: the falling weights of the positives, over those by chance.

    (1/P)·Σ exp(-α·r/n) over the ranks r of the positives, divided by its mean over all ranks.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    alpha : float
        α, above 0: how fast the weight of a rank falls, as in `bedroc`.

    Returns
    -------
    array, shape (...)
        1 by chance, and at most n/P·(1 - exp(-α·P/n))/(1 - exp(-α)); NaN where there are no
        positives.

    Notes
    -----
    With ties it is the expectation over their orders.  A group of m examples, p of them positive,
    after S others adds p/m·(exp(-α·S/n) - exp(-α·(S + m)/n)) to a sum that is divided by
    P/n·(1 - exp(-α)).  The optimistic and the pessimistic policy give bounds.

    References
    ----------
    [Sheridan 2001], [Truchon 2007].

    Examples
    --------
    >>> from quotakernels.screening import rie
    >>> active, score = [1, 0, 1, 0, 0, 1, 0, 0], [5, 5, 5, 4, 3, 3, 2, 1]
    >>> print(rie(active, score).round(4))
    1.7769
    """
    alpha, xp = _checked(alpha), namespace(table.counts)
    total = Totals(xp, table)
    found = _weight_of_positives(xp, table, total, alpha)
    return found / -xp.expm1(xp.full_like(found, -alpha)) / (total.positive / total.whole)


# the beginning of the ROC curve


@measure(Measure, greater_is_better=True, by_positives=True, by_group=True)
def log_auc(table: ops.TieTable, *, min_fpr: float = 0.001, max_fpr: float = 1.0) -> Array:
    """LogAUC: the mean true positive rate over the logarithm of the false positive rate.

    ∫ TPR d(log FPR) from `min_fpr` to `max_fpr`, over log(max_fpr/min_fpr).

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    min_fpr, max_fpr : float
        The range of false positive rates, 0 < min_fpr < max_fpr ≤ 1.

    Returns
    -------
    array, shape (...)
        From 0 to 1, which a perfect order has; NaN where one class is absent.

    See Also
    --------
    roc_auc : with ``max_fpr=`` the area of a part, in which all rates count alike.
    roc_enrichment : at one false positive rate.

    Notes
    -----
    By chance it is (max_fpr - min_fpr)/log(max_fpr/min_fpr), which is 0.1446 by default; less that,
    it is the adjusted LogAUC.  Within a tie group the ROC curve is a straight line, of which this
    is the exact integral; torchmetrics' ``binary_logauc`` joins its points by lines over the
    logarithm, and has the range 0.001 to 0.1.  The optimistic and the pessimistic policy give
    bounds.

    References
    ----------
    [Mysinger 2010].

    Examples
    --------
    >>> from quotakernels.screening import log_auc
    >>> active, score = [1, 0, 1, 0, 0, 1, 0, 0], [5, 5, 5, 4, 3, 3, 2, 1]
    >>> print(log_auc(active, score).round(4), log_auc(active, score, min_fpr=0.1).round(4))
    0.2851 0.7121
    """
    low, high = plain_number("min_fpr", min_fpr), plain_number("max_fpr", max_fpr)
    if not 0 < low < high <= 1:
        raise ValueError(
            "min_fpr and max_fpr must be rates above 0, the first below the second; got "
            f"{min_fpr!r} and {max_fpr!r}"
        )
    xp = namespace(table.counts)
    total = Totals(xp, table)
    first, last = (xp.repeat_per_row(table, x * total.negative) for x in (low, high))

    def terms(rows: Any) -> tuple[Array]:
        """∫ T d(log x), of the part of each row that lies within the range."""
        before, found, wrong, here = (
            *(rows.negative_before, rows.positive_before),
            *(rows.negative, rows.positive),
        )
        start = xp.maximum(before, first)
        size = xp.clip(xp.minimum(before + wrong, last) - start, 0.0)
        slope = here / divisor(xp, wrong)
        log, remainder = log_and_remainder(xp, size / divisor(xp, start))
        area = (found + (start - before) * slope) * log + slope * start * remainder
        return (xp.where(size > 0, area, xp.zeros_like(area)),)

    area = xp.sum_rows(table, ops.RowSum(terms, lambda x: x))[0]
    span = xp.log(xp.full_like(area, high / low))
    value = xp.nan_unless(total.negative > 0, area / total.positive / span)
    return total.within(value, xp.ones_like(value))


@measure(
    Measure, numbers=wanted_rate("fpr"), greater_is_better=True, by_positives=True, by_group=True
)
def roc_enrichment(table: ops.TieTable, wanted: Array) -> Array:
    """ROC enrichment: the true positive rate at a false positive rate, divided by that rate.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    fpr : number or array, shape Q
        The false positive rate, from 0 to 1.

    Returns
    -------
    array, shape (..., *Q)
        From 0 to 1/fpr, 1 by chance; NaN where one class is absent.  At a rate of 0 it is infinite
        if a positive is above all negatives, and NaN if none is.

    Raises
    ------
    ValueError
        A rate outside 0…1; NaN instead where values cannot be read.

    See Also
    --------
    tpr_at : the rate itself, and its cut.
    lift : the enrichment factor, at a share of all examples.

    Notes
    -----
    Unlike the enrichment factor it does not depend on the ratio of the classes.  Between two cuts
    the rate follows the straight line of the ROC curve; where the curve rises at this very rate,
    its upper end counts.

    References
    ----------
    [Jain 2008].

    Examples
    --------
    >>> from quotakernels.screening import roc_enrichment
    >>> active, score = [1, 0, 1, 0, 0, 1, 0, 0], [5, 5, 5, 4, 3, 3, 2, 1]
    >>> print(roc_enrichment(active, score, fpr=[0.1, 0.2, 0.5]).round(4))
    [3.3333 3.3333 1.6667]
    """
    xp = namespace(wanted)
    total = Totals(xp, table)
    limits = whole_if_close(xp, wanted * total.negative[..., None])

    def terms(limit: Array, rows: Any) -> tuple[Array]:
        left = limit - rows.negative_before
        part = xp.clip(left / divisor(xp, rows.negative), 0.0, 1.0)
        whole = xp.where(left >= 0, xp.ones_like(left), xp.zeros_like(left))
        return (rows.positive * xp.where(rows.negative > 0, part, whole),)

    rate = xp.rate(_sums_at(xp, table, limits, terms), total.positive[..., None])
    return xp.nan_unless(total.negative[..., None] > 0, rate / wanted)


def _sums_at(xp: Namespace, table: ops.TieTable, limits: Array, terms: Any) -> Array:
    """The sums of ``terms(limit, rows)`` for each limit, shape (..., K), or (..., S, K)."""
    sums = (
        ops.RowSum(partial(terms, xp.repeat_per_row(table, limits[..., k])), lambda x: x)
        for k in range(limits.shape[-1])
    )
    found = xp.stack(xp.sum_rows(table, *sums), axis=-1)
    return xp.nan_unless(limits == limits, found)


# reviews


@measure(
    Measure, numbers=wanted_rate("recall"), greater_is_better=True, by_positives=True, by_group=True
)
def work_saved_over_sampling(
    table: ops.TieTable, wanted: Array, *, normalized: bool = False
) -> Array:
    """Work saved over sampling, WSS@r: the share of examples that need no screening at a recall r.

    (TN + FN)/n - (1 - r), when the ranking is screened from the top until the share r of the
    positives is found.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    recall : number or array, shape Q
        r, from 0 to 1, often 0.95.
    normalized : bool
        With True TN/N, the true negative rate then, which is 1 for the best order whatever the
        share of positives.
    sample_weight : None
        Refused, because positions are examples here.

    Returns
    -------
    array, shape (..., *Q)
        By chance about 0, at most r·N/n; normalized from 0 to 1.  NaN where there are no
        positives, and normalized where there are no negatives.

    Raises
    ------
    ValueError
        Sample weights; a rate outside 0…1, or NaN instead where values cannot be read.

    See Also
    --------
    fpr_at : the smallest false positive rate with at least a recall, of whole tie groups.

    Notes
    -----
    The screening ends with the positive that makes the recall at least r.  If that is the k-th of
    p positives in a tie group of m examples after S others, it is expected at the position
    S + k·(m + 1)/(p + 1).

    References
    ----------
    [Cohen 2006]; normalized [Kusa 2023].

    Examples
    --------
    >>> from quotakernels.screening import work_saved_over_sampling
    >>> relevant, score = [1, 0, 1, 0, 0, 1, 0, 0], [5, 5, 5, 4, 3, 3, 2, 1]
    >>> print(work_saved_over_sampling(relevant, score, recall=[0.5, 0.95]).round(4))
    [0.1667 0.2625]
    >>> print(work_saved_over_sampling(relevant, score, recall=0.95, normalized=True))
    0.5
    """
    refuse_weights(table, "work_saved_over_sampling")
    xp = namespace(wanted)
    total = Totals(xp, table)
    whole, positive, negative = (x[..., None] for x in total)
    needed = xp.ceil(whole_if_close(xp, wanted * positive))

    def terms(limit: Array, rows: Any) -> tuple[Array]:
        before, found, mass, here = ops.CutRow.of(rows)
        left = limit - found
        ends = before + left * ((mass + 1) / (here + 1))
        return (xp.where((left > 0) & (left <= here), ends, xp.zeros_like(ends)),)

    screened = xp.nan_unless(positive > 0, _sums_at(xp, table, needed, terms))
    if normalized:
        return xp.clip(1 - (screened - needed) / negative, 0.0)
    return wanted - screened / whole
