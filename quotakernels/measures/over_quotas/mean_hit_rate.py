"""The mean hit rate over several quotas, where it is not known which of them will be filled."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, namespace
from quotakernels._types import WhenShort
from quotakernels.inputs.cuts import quota_masses, wanted_masses
from quotakernels.inputs.keywords import show_value
from quotakernels.inputs.numbers import checked, numbers_like
from quotakernels.inputs.totals import divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._reduction import Reduction, reduced
from quotakernels.measures._scale import in_usual_units
from quotakernels.measures.at_quota.hit_rate import share_found
from quotakernels.measures.over_quotas.harmonic import harmonic_sums, log_and_remainder

Method: TypeAlias = Literal["sum", "area"]
_PRIOR = (lambda x: (x >= 0) & (x < float("inf")), "a finite number, not negative")


def _quotas(
    xp: Namespace,
    table: ops.Groups,
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
    short: WhenShort | None = "nan" if table.segments else None
    ends = xp.stack([first, last])
    return quota_masses(xp, table, quota=ends, when_short=short, called="between")[0], None


def _likely(xp: Namespace, table: ops.Groups, prior: Any, shape: tuple[int, ...]) -> Array:
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


class _MeanHitRate(Measure):
    validator = staticmethod(_quotas)


@measure(_MeanHitRate, greater_is_better=True, monotone="always", by_positives=True, by_group=True)
def mean_hit_rate(table: ops.Groups, *numbers: Array, method: Method = "sum") -> Array:
    """Mean hit rate over a range of quotas, or over quotas with a prior.

    For a quota that is not known yet: Σ HitRate(j) / (b - a + 1) over the whole quotas j = a … b,
    or Σ w·HitRate(q) / Σ w over some quotas q with weights w.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    between : two numbers, optional
        The range (a, b), 0 ≤ a ≤ b ≤ n (with weights: masses).
    quota, fraction, when_short : optional
        K quotas instead of a range, as in `hit_rate`.  Give exactly one of `between`, `quota` and
        `fraction`.
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
        As in `hit_rate`; a > b; a prior of another length or with negative numbers.

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
    if method not in ("sum", "area"):
        raise ValueError(f'method must be "sum" or "area"; got {show_value(method)}')
    if len(numbers) == 2:
        if method != "sum":
            raise ValueError("method= goes with between=")
        wanted, prior = numbers
        return _expected(_RATES(table, wanted), prior)
    if method == "sum" and table.weighted:
        raise ValueError('with sample weights there are no whole quotas; use method="area"')
    mean: Array = _BETWEEN(table, *numbers, method=method)
    return mean


def _expected(rates: Array, prior: Array) -> Array:
    """The mean of the rates; those that are out of the question may be undefined."""
    xp = namespace(rates)
    weighed = xp.where(prior > 0, prior * rates, xp.zeros_like(rates))
    return ops.total(xp, weighed) / ops.total(xp, prior)


_RATES = in_usual_units(lambda table, wanted: share_found(namespace(wanted), table, wanted))
_BETWEEN = in_usual_units(lambda table, ends, method: _between(table, ends, method))  # noqa: PLW0108


def _between(table: ops.Groups, ends: Array, method: Method) -> Array:
    xp = namespace(table.counts)
    start, stop = ends[..., 0], ends[..., 1]
    if method == "sum":  # over (start, stop] of whole numbers
        start = ops.clip(xp, xp.ceil(start) - 1, 0.0)
        stop = xp.floor(stop)
    mean: Array = reduced(xp, table, _range_mean(xp, table, start, stop, method == "sum"))[0]
    return mean


def _range_mean(
    xp: Namespace, table: ops.Groups, start: Array, stop: Array, whole: bool
) -> Reduction:
    """Σ or ∫ of T(j)/j from start to stop, over its length, in the parts of it that are summed."""
    low, high = (ops.spread(xp, table, x) for x in (start, stop))
    sums = harmonic_sums if whole else _log_sums

    def terms(before: Array, mass: Array, found: Array, here: Array) -> tuple[Array, Array]:
        first = xp.maximum(before, low)
        size = ops.clip(xp, xp.minimum(before + mass, high) - first, 0.0)
        share = here / divisor(xp, mass)
        ones, ramps = sums(xp, first, size)
        part = (found + (first - before) * share) * ones + share * ramps
        pure = (found >= before) & (here >= mass)
        part = xp.where(pure, size, xp.minimum(part, size))
        nothing = xp.zeros_like(size)
        return xp.where(size > 0, part, nothing), xp.where(size > 0, size, nothing)

    def each(
        found: Array, here: Array, items: Array, place: Array, at: Array
    ) -> tuple[Array, Array]:
        rate = (found + here * place / items) / at
        inside, nothing = (at > low) & (at <= high), xp.zeros_like(rate)
        return xp.where(inside, rate, nothing), xp.where(inside, xp.ones_like(rate), nothing)

    columns = ("mass_before", "mass", "positive_before", "positive")
    of_position = ("group_positive_before", "group_positive", "group_size", "place", "position")
    by_position = ops.Summands(of_position, each) if whole else None
    return Reduction(columns, terms, lambda sums, size: sums / size, by_position=by_position)


def _log_sums(xp: Namespace, before: Array, size: Array) -> tuple[Array, Array]:
    """∫ 1/(S+x) dx and ∫ x/(S+x) dx for x from 0 to the size; at S = 0 the second alone."""
    some = before > 0
    place = xp.where(some, before, xp.ones_like(before))
    log, remainder = log_and_remainder(xp, size / place)
    return xp.where(some, log, xp.zeros_like(log)), xp.where(some, place * remainder, size)
