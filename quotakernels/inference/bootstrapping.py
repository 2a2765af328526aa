"""Bootstrap intervals of any measure, from one sort."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from quotakernels._array import (
    Array,
    Namespace,
    cast,
    compiled,
    computing,
    concrete,
    device,
    finished,
    float_of,
    from_host_view,
    is_array,
    readable,
    to_numpy,
    tree_map,
    wide_float,
)
from quotakernels._text import digits
from quotakernels.inference._call import (
    CORRECTED,
    Drawing,
    IntervalMethod,
    call_of,
    warn_of_maxima,
)
from quotakernels.inference._distributions import (
    normal_cdf,
    normal_quantile,
    normal_width,
    student_t,
)
from quotakernels.inference._few import warn_of_equal_rates
from quotakernels.inference._resamples import groups_to_draw_from
from quotakernels.inference._values import examples_drawn, means_drawn, reporter, trees_map
from quotakernels.inputs.examples import Validated
from quotakernels.inputs.keywords import forwarding
from quotakernels.inputs.models import stacked_by_name
from quotakernels.measures._facts import needs_ideal
from quotakernels.ops import namespace
from quotakernels.ranking import rank, ranked_by_group

# intervals from the values of resamples, which stand on the last axis


def defined(xp: Namespace, values: Array) -> Array:
    """How many values are not NaN, shape (...)."""
    return xp.count(values == values)[..., 0]


def standard_deviation(xp: Namespace, values: Array) -> Array:
    """The standard deviation of the values that are defined; NaN for fewer than two."""
    there = values == values
    number = cast(xp, xp.count(there), values.dtype)
    mean = xp.sum(xp.where(there, values, xp.zeros_like(values)), axis=-1, keepdims=True) / number
    square = xp.where(there, (values - mean) ** 2, xp.zeros_like(values))
    freedom = number[..., 0] - 1
    freedom = xp.nan_unless(freedom > 0, freedom)
    return xp.sqrt(xp.sum(square, axis=-1) / freedom)


def interval(
    xp: Namespace,
    method: IntervalMethod,
    estimate: Array,
    values: Array,
    left_out: Array | None,
    confidence_level: float,
    freedom: Array | None = None,
) -> tuple[Array, Array]:
    """Both ends; NaN where the estimate is, or where no resample has the measure defined.

    The expanded ones want the degrees of freedom of Student's t.
    """
    tail = (1 - confidence_level) / 2
    ranked = _ranked(xp, values)
    number = defined(xp, values)
    shares = [xp.full_like(estimate, x) for x in (tail, 1 - tail)]
    if method in CORRECTED:
        away = xp.full_like(estimate, normal_width(confidence_level))
        if freedom is not None:
            away = away * 0 + student_t(xp, confidence_level, freedom)
        bias, slant = _bias(xp, estimate, values, number), _acceleration(xp, left_out)
        shifted = compiled(_corrected_share, xp, ("xp",))
        shares = [shifted(xp, bias, slant, x) for x in (-away, away)]
    low, high = (_quantiles(xp, ranked, number, share) for share in shares)
    if method == "basic":
        low, high = 2 * estimate - high, 2 * estimate - low
    unknown = xp.isnan(estimate)
    low, high = (xp.nan_unless(~unknown, x) for x in (low, high))
    return low, high


def quantile(xp: Namespace, values: Array, share: float) -> Array:
    """A quantile of the values that are defined; NaN where none is."""
    shares = xp.full_like(values[..., 0], share)
    return _quantiles(xp, _ranked(xp, values), defined(xp, values), shares)


def _ranked(xp: Namespace, values: Array) -> Array:
    """The values in rising order, those that are undefined behind the others.

    There all libraries sort NaN; infinity in its place would stop JAX with `debug_infs`.
    """
    return xp.sort(values, axis=-1)


def _quantiles(xp: Namespace, ranked: Array, number: Array, share: Array) -> Array:
    """Linear between the order statistics of the first `number` values, as in NumPy."""
    place = share * cast(xp, number - 1, ranked.dtype)
    place = xp.where(place > 0, place, xp.zeros_like(place))  # also for NaN
    below = xp.floor(place)
    index = cast(xp, below, xp.int64)
    after = xp.minimum(index + 1, xp.maximum(number - 1, xp.zeros_like(number)))
    low, high = (
        xp.take_along_axis(ranked, xp.expand_dims(x, axis=-1), axis=-1)[..., 0]
        for x in (index, after)
    )
    part = place - below
    between = xp.where(part > 0, low + part * (high - low), low)
    return xp.nan_unless((number > 0) & (share == share), between)


def _bias(xp: Namespace, estimate: Array, values: Array, number: Array) -> Array:
    """How far the estimate is from the middle of the resamples, as a normal number.

    Of one that is beyond all of them, as if half a resample were.
    """
    at = xp.expand_dims(estimate, axis=-1)
    below = (xp.count(values < at) + xp.count(values <= at))[..., 0]
    twice = cast(xp, 2 * number, estimate.dtype)
    least = xp.ones_like(twice)
    found = xp.minimum(xp.maximum(cast(xp, below, estimate.dtype), least), twice - least)
    return normal_quantile(xp, found / twice)


def _corrected_share(xp: Namespace, bias: Array, slant: Array, away: Array) -> Array:
    """The share of the distribution below a normal number, corrected for bias and acceleration."""
    shift = bias + away
    slope = 1 - slant * shift
    there = slope > 0  # else beyond all resamples
    far = xp.where(shift > 0, xp.full_like(shift, xp.inf), xp.full_like(shift, -xp.inf))
    found = xp.where(there, shift / xp.where(there, slope, xp.ones_like(slope)), far)
    return normal_cdf(xp, bias + xp.where(xp.isnan(slope), slope, found))


def _acceleration(xp: Namespace, left_out: Any) -> Array:
    """From the values without one part of the examples each, but for those that are undefined."""
    there = left_out == left_out
    known = xp.where(there, left_out, xp.zeros_like(left_out))
    number = cast(xp, xp.count(there), left_out.dtype)
    some = xp.maximum(number, xp.ones_like(number))
    away = xp.expand_dims(xp.total(known), axis=-1) / some - known
    away = xp.where(there, away, xp.zeros_like(away))
    cubes, squares = xp.total(away**3), xp.total(away**2)
    varies = squares > 0
    root = xp.where(varies, squares, xp.ones_like(squares))
    return xp.where(varies, cubes / (6 * root**1.5), xp.zeros_like(squares))


# the bootstrap


_FEW = 8


class BootstrapResult(NamedTuple):
    """An estimate with its interval and its resamples.

    Attributes
    ----------
    estimate : array, shape (...)
        The measure of the examples themselves.
    lower, upper : arrays, shape (...)
        Ends of the confidence interval.
    standard_error : array, shape (...)
        The standard deviation of the measure over the resamples.
    undefined : integer array, shape (...)
        How many resamples leave the measure undefined, for example without positives.  The interval
        and the standard error are those of the others.
    resamples : array, shape (..., R)
        The measure of each resample.
    """

    estimate: Array
    lower: Array
    upper: Array
    standard_error: Array
    undefined: Array
    resamples: Array

    def __repr__(self) -> str:
        """The estimate and its interval; of the resamples their number."""
        *fields, _ = zip(self._fields, self, strict=True)
        values = (f"{name}={_shown(x)}" for name, x in fields)
        number = getattr(self.resamples, "shape", ("no",))[-1]
        return f"BootstrapResult({', '.join(values)}, of {number} resamples)"


def _shown(x: Any) -> str:
    """Numbers as texts, if they are few and can be read."""
    if not (is_array(x) and concrete(x) and readable(x)):
        return f"<{type(x).__name__}>"
    values = to_numpy(x)
    if values.size > _FEW:
        return f"<shape {values.shape}>"
    texts = [digits(value) for value in values.ravel().tolist()]
    return f"[{', '.join(texts)}]" if values.ndim else texts[0]


@forwarding(rank)
def bootstrap(
    measure: Any,
    y_true: Any,
    y_score: Any,
    *,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    method: IntervalMethod = "expanded",
    stratified: bool = False,
    clusters: Any = None,
    poisson: bool = False,
    random_state: Any = None,
    max_memory: int = 2**30,
    progress: bool | Callable[[int, int], None] | None = None,
    **options: Any,
) -> Any:
    """Confidence intervals of any measure or curve, by drawing the examples again and again.

    The scores are sorted once.  A resample is a list of counts, how often each example was drawn,
    and so it is a ranking with other counts.  Its measures equal those of a table in which each row
    is repeated so many times.  Several models, as leading axes of `y_score`, are measured on the
    same resamples.

    Parameters
    ----------
    measure : callable, or a mapping from names to callables
        A function of a `Ranking` that gives arrays of fixed shapes: a measure of this library,
        ``functools.partial`` of one, or your own.
    y_true, y_score, sample_weight, where, pos_label, ties, validate, gain, gain_rejected, cost
        As in `rank`; not ``ties="given"``.  `y_score` may map names of models to their scores.  The
        weight, gain and cost of an example count each time that it is drawn.  `where` has the shape
        (n,).  If a resample costs less than the budget, the measure is undefined, unless
        ``when_short="all"``.
    treatment : array, optional
        As in `rank`, for measures of uplift.
    groups, num_groups : array and int, optional
        As in `rank`, for measures that take groups: an interval for each group, or for the mean
        over groups, `group_mean`.
    n_resamples : int
        The number of resamples, R.
    confidence_level : float
        The share of such intervals that should contain the true value.
    method : {"expanded", "bca", "percentile", "basic"}
        "bca" is Efron's bias-corrected and accelerated interval: quantiles of the resamples,
        corrected for bias and skewness.  "expanded" is the same with the tails of Student's t for
        few positives or negatives.  "percentile" takes plain quantiles, and "basic" mirrors these
        at the estimate.
    stratified : bool
        Draw positives and negatives separately, so that every resample has as many of each as the
        examples.
    clusters : array, shape (n,), optional
        Examples with the same value, such as all rows of one customer, are drawn together.  There
        must be at least two different values.  For `group_mean` the default is the groups.
    poisson : bool
        Draw each example independently, once on average, instead of n examples in all.
    random_state : None, int, or a random generator of the scores' library, optional
        A whole number gives the same resamples again, for the same library and, on a device, the
        same `max_memory`.  For JAX it may be a key.  Two calls with the same number are not paired,
        because each list is sorted first: to compare models, pass them as leading axes of one call.
    max_memory : int
        Bytes that a batch of resamples may take, on devices and in JAX.
    progress : bool or callable, optional
        ``progress(done, n_resamples)`` is called from time to time.  By default a terminal shows a
        line of progress once it takes long.
    **options
        The measure's own arguments, such as ``quota=100``.  Type checkers know those of this
        library; for functions of your own use ``functools.partial``.

    Returns
    -------
    BootstrapResult
        For a mapping of measures, or a measure that returns a record, the same with a result in
        place of each array.  For models with names, a mapping from the names to these results.

    Raises
    ------
    TypeError, ValueError
        What the measure raises; arguments out of range.

    Warns
    -----
    UserWarning
        Intervals of a hull's area lie too high: 95 % intervals covered the true value in 85 to
        94 %.  Intervals are too narrow with fewer than 5 positives or negatives, or clusters that
        have one, and with fewer than 60 clusters, or 20 groups of `group_mean`.  Unequal weights
        amount to fewer examples (Kish).  Above an AUC of 0.97 averages over all cuts need 3/(1 -
        AUC) positives and negatives.  Nearly all resamples have the same hit rate, so that its
        interval has no width.  In simulations 95 % intervals covered the true value in 90 to 95 %
        with 10 to 40 clusters, 76 to 85 with 4 or 6, and 30 to 44 with 2.  They covered it in 90 to
        96 % with 10 or 15 groups, 86 to 90 with 6, and 75 to 84 with 4.

    Notes
    -----
    The acceleration of BCa comes from leaving out each example in turn.  More than 200 examples are
    left out in 200 parts, or in as many parts as there are resamples, but at least 20.  Parts that
    leave the measure undefined, such as the only positive, do not count.  With few examples BCa is
    too narrow.  The default interval replaces the normal quantile by that of Student's t with
    min(P, N) - 1 degrees of freedom; [Hesterberg 2015] does so with percentiles.  With 20 positives
    its interval of 95 % is BCa's of 96.4 %.  Weights amount to fewer positives and negatives
    (Kish).  The examples of a cluster, or of a group that is drawn whole, count as one.

    In simulations 95 % intervals covered the true AUC, AHR and AQR in 92 to 97 %, and at an AUC of
    0.98 in 90 to 94.  At an AUC of 0.998 coverage was 80 to 89, and for the lift 79 to 90.  With 20
    positives it was 91 to 97 for AHR, AUC-PR and hit rates.  With 1 to 3 positives it was 17 to 84
    for AUC.  For a hit rate near 1 it was 5 to 11.  There use `auc_interval`,
    `average_precision_interval` and `hit_rate_interval`.

    For `group_mean` whole groups are drawn, and a group that is drawn twice counts twice: each is
    measured once, and a resample is another weighted mean.  So it is with clusters of whole
    groups.  If clusters split a group, examples are drawn as for any measure, and a group consists
    of what the resample has of it.  Groups without a value are left out, in resamples too.

    References
    ----------
    [Efron 1993] chapters 13 and 14; [Hesterberg 2015].

    Examples
    --------
    >>> import numpy as np
    >>> from quotakernels import bootstrap, hit_rate
    >>> rng = np.random.default_rng(1)
    >>> labels = rng.random(500) < 0.2
    >>> scores = rng.normal(labels)
    >>> found = bootstrap(hit_rate, labels, scores, quota=50, random_state=1)
    >>> print(found.estimate, found.lower.round(2), found.upper.round(2))
    0.48 0.36 0.64
    """
    call = call_of(measure, y_true, options)
    how = (random_state, call.ties, n_resamples, max_memory, progress)
    drawn = Drawing(clusters, stratified, poisson, *how).checked(confidence_level, method)
    found = call.validated(stacked_by_name(y_score, y_true))
    return _of_each(y_score, intervals_of(call.measure, found, drawn, method, confidence_level))


def _of_each(models: Any, result: Any) -> Any:
    """What was found of each model by its name, if they came by name."""
    if not isinstance(models, Mapping):
        return result
    return {name: tree_map(operator.itemgetter(k), result) for k, name in enumerate(models)}


def intervals_of(
    measure: Any, raw: Validated, how: Drawing, method: IntervalMethod, confidence_level: float
) -> Any:
    """What an estimate, its resamples and the parts left out say of it."""
    warn_of_maxima(measure)
    found = groups_to_draw_from(raw, how.random_state)
    ranking = ranked_by_group(found, how.ties, needs_ideal(measure))
    draws = means_drawn(measure, ranking, found, how)
    draws = draws or examples_drawn(measure, ranking, found, how)
    drawn = draws.values(range(how.n_resamples), reporter(how.progress, "bootstrap"))
    warn_of_equal_rates(measure, drawn, ranking.counts.ndim - 1)
    left_out = draws.left_out(how.n_resamples) if method in CORRECTED else drawn
    found_of_each = [draws.estimate, drawn, left_out]
    result = _summaries(method, confidence_level, draws.freedom, found_of_each)
    return result if found is raw else from_host_view(result, raw.examples.scores)


def _summaries(
    method: IntervalMethod, confidence_level: float, freedom: Sequence[Array], found: list[Any]
) -> Any:
    """What was found of each array of a result, in its place."""
    given = freedom if method == "expanded" else None
    return trees_map(functools.partial(summary, method, confidence_level, freedom=given), found)


def summary(
    method: IntervalMethod,
    confidence_level: float,
    found: list[Array],
    freedom: Sequence[Array] | None = None,
) -> BootstrapResult:
    """What the values of the resamples, and of the parts left out, say of one estimate."""
    estimate, values, left_out = found
    xp = namespace(values)
    dtype = float_of(estimate)
    with computing(xp):
        wide = wide_float(xp, device(values))
        estimate, values, left_out = (cast(xp, x, wide) for x in (estimate, values, left_out))
        number = None
        if freedom is not None:
            number = cast(xp, _for_each(xp, freedom, estimate), wide)
        ends = interval(xp, method, estimate, values, left_out, confidence_level, number)
        undefined = values.shape[-1] - defined(xp, values)
        result = BootstrapResult(estimate, *ends, standard_deviation(xp, values), undefined, values)
        return finished(xp, result, dtype)  # type: ignore[no-any-return]


def _for_each(xp: Namespace, known: Sequence[Array], estimate: Array) -> Array:
    """Of each group or list for each of its values; where a measure joins lists the least."""
    fitting = (x for x in known if estimate.shape[: x.ndim] == x.shape)
    freedom = next(fitting, xp.min(known[-1]))
    return xp.reshape(freedom, (*freedom.shape, *(1,) * (estimate.ndim - freedom.ndim)))
