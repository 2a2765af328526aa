"""Averages over quotas: average hit rate, average Qrecall, mean hit rate of a range of quotas."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, of_kind
from quotakernels._types import WhenShort
from quotakernels.inputs.cuts import quota_masses, wanted_masses
from quotakernels.inputs.keywords import show_value
from quotakernels.inputs.numbers import checked, numbers_like
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._reduction import Reduction, Sums, item_scale, reduced
from quotakernels.measures._scale import in_usual_units
from quotakernels.measures.at_quota.hit_rate import share_found
from quotakernels.ops import namespace

NEAR = 8
"""Terms that are summed one by one: all of a small group, or those before S = 8, from where on
the asymptotic series holds."""

WIDE = 200
"""Groups of at most as many examples as this part of those before them are narrow."""

_TAIL = (
    1 / 24,
    -7 / 960,
    31 / 8064,
    -127 / 30720,
    511 / 67584,
    -1414477 / 67092480,
    8191 / 98304,
    -118518239 / 267386880,
    5749691557 / 1882718208,
    -91546277357 / 3460300800,
)
"""Coefficients of x⁻², x⁻⁴, … in H(x - ½) - γ - ln x."""

_BERNOULLI = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
)
"""Coefficients of u², u⁴, … in (u/2)·coth(u/2) - 1."""
_NEAR_ZERO = 0.56**2
"""Where u² is below this, they leave out less than 2**-52 of the deficit."""


def _series(coefficients: tuple[float, ...], y: Array) -> Array:
    """The sum of c·y, c·y², c·y³, … over the coefficients."""
    value = coefficients[-1] * y
    for coefficient in reversed(coefficients[:-1]):
        value = (value + coefficient) * y
    return value


def _tail(x: Array) -> Array:
    """H(x - ½) - γ - ln x for x ≥ 8½."""
    return _series(_TAIL, 1 / (x * x))


def log_and_deficit(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """log(1 + x), and 1 - log(1 + x)/x to full precision; x is finite."""
    log, is_near, near = _near_zero(xp, x)
    return log, xp.where(is_near, near, 1 - log / x)


def log_and_remainder(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """log(1 + x), and x - log(1 + x) to full precision."""
    log, is_near, near = _near_zero(xp, x)
    return log, xp.where(is_near, x * near, x - log)


def _near_zero(xp: Namespace, x: Array) -> tuple[Array, Array, Array]:
    """The logarithm u = log(1 + x), whether x is near 0, and 1 - u/x if it is.

    The quotient u/x is u/(e^u - 1) = (u/2)·coth(u/2) - u/2.
    """
    log = xp.log1p(x)
    square = log * log
    return log, square < _NEAR_ZERO, log / 2 - _series(_BERNOULLI, square)


def _far_sums(xp: Namespace, before: Array, items: Array) -> tuple[Array, Array]:
    x = items / (before + 0.5)
    log, remainder = log_and_remainder(xp, x)
    tail = _tail(before + items + 0.5) - _tail(before + 0.5)
    return log + tail, before * (remainder - tail) + x / 2


def narrow_sums(_xp: Namespace, before: Array, items: Array) -> tuple[Array, Array]:
    """The harmonic sums of m ≤ S / `WIDE` places, by powers of the distances from the middle."""
    middle = before + (items + 1) / 2
    square = items * items
    second = (square - 1) / (12 * middle * middle)
    fourth = second * (3 * square - 7) / (20 * middle * middle)
    bent = items * (second + fourth)
    ones = (items + bent) / middle
    return ones, (items + 1) / 2 * ones - bent


def harmonic_sums(xp: Namespace, before: Array, items: Array) -> tuple[Array, Array]:
    """Σ 1/(S+k) and Σ k/(S+k) for k = 1..m; S ≥ 0 is real, m a whole number."""
    near = xp.clip(xp.ceil(NEAR - before), 0.0, float(NEAR))
    near = xp.where(items <= NEAR, items, near)
    ones, ramps = xp.partial_harmonic_sums(before, near, NEAR)
    is_far = items > near

    farther = partial(_far_sums, xp)
    far_ones, far_ramps = xp.where_rare(is_far, 2, farther, before + near, items - near)
    return ones + far_ones, ramps + far_ramps + near * far_ones


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
        return xp.piecewise(is_wide, wide, narrow, *row)

    def terms(*row: Array) -> tuple[Array]:
        *_, here, items = row
        tied = (items > 1) & (here > 0)  # without positives any formula gives 0
        return (xp.piecewise(tied, several, partial(_single_share, xp), *row),)

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
    """The share that a tie group of any size adds, of its harmonic sums."""
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
        return xp.nan_unless(defined, reduction.value(*sums))

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
        least = ops.repeat_per_row(xp, table, first + 1 if late else first)
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
    start = ops.repeat_per_row(xp, table, total.positive)

    def area(before: Array, found: Array, mass: Array, here: Array) -> tuple[Array]:
        """Area under T from P on, within each row."""
        left_out = xp.minimum(xp.clip(start - before, 0.0), mass)
        left = found + left_out * here / divisor(xp, mass)
        return ((mass - left_out) * (left + found + here) / 2,)

    def value(below: Array) -> Array:
        scale = item_scale(xp, table, total)
        before, mass, found, here = _owner(xp, table, total.positive)
        found = found + (total.positive - before) / divisor(xp, mass) * here
        most = total.positive * (scale * total.negative + 1)
        return total.within(below * scale + (total.positive + found) / 2, most) / most

    return Reduction(_COLUMNS, area, value)


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
    return xp.total(weighed) / xp.total(prior)


_RATES = in_usual_units(lambda table, wanted: share_found(namespace(wanted), table, wanted))
_BETWEEN = in_usual_units(lambda table, ends, method: _between(table, ends, method))  # noqa: PLW0108


def _between(table: ops.Groups, ends: Array, method: Method) -> Array:
    xp = namespace(table.counts)
    start, stop = ends[..., 0], ends[..., 1]
    if method == "sum":  # over (start, stop] of whole numbers
        start = xp.clip(xp.ceil(start) - 1, 0.0)
        stop = xp.floor(stop)
    mean: Array = reduced(xp, table, _range_mean(xp, table, start, stop, method == "sum"))[0]
    return mean


def _range_mean(
    xp: Namespace, table: ops.Groups, start: Array, stop: Array, whole: bool
) -> Reduction:
    """Σ or ∫ of T(j)/j from start to stop, over its length, in the parts of it that are summed."""
    low, high = (ops.repeat_per_row(xp, table, x) for x in (start, stop))
    sums = harmonic_sums if whole else _log_sums

    def terms(before: Array, mass: Array, found: Array, here: Array) -> tuple[Array, Array]:
        first = xp.maximum(before, low)
        size = xp.clip(xp.minimum(before + mass, high) - first, 0.0)
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
