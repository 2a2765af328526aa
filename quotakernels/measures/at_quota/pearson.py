"""Pearson's correlation of the best scores with their labels, at a quota."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import chain, count
from typing import Literal, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, constant, device, wide_float
from quotakernels.inputs.cuts import wanted_masses
from quotakernels.inputs.keywords import show_value
from quotakernels.inputs.totals import divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._scale import usual_unit
from quotakernels.measures.at_quota.curves import Curve, cut_quotas, cut_thresholds
from quotakernels.ops import namespace

Labels: TypeAlias = Literal["expected", "observed"]
_Numbers: TypeAlias = Callable[[], Iterable[Array]]
"""What gives the numbers of each part of a table."""


class _Moments(NamedTuple):
    """Mass, its sum of scores and of labels, and the three centred second moments."""

    mass: Array
    score: Array
    label: Array
    score_score: Array
    score_label: Array
    label_label: Array


class _Part(NamedTuple):
    """The mass taken of a tie group, and the group's own mass, positive mass and score.

    `within` is the variance of its labels; None if its expected label is correlated, of which it
    has one only.
    """

    taken: Array
    mass: Array
    positive: Array
    score: Array
    within: Array | None


def _again(parts: list[ops.Groups], make: Callable[[], Iterator[Array]]) -> _Numbers:
    """What is made for each part, made anew for each reader where all together may be long."""
    if len(parts) > 1:
        return make
    made = list(make())
    return lambda: made


def _relative_scores(xp: Namespace, parts: list[ops.Groups]) -> Iterable[Array]:
    """Scores minus the best one of the list or group, in units of their range; 0 in empty rows.

    Squares of such numbers neither lose an offset's worth of digits nor overflow.
    """
    filled = _again(parts, lambda: (part.counts > 0 for part in parts))
    scores = _near_one(xp, parts, filled)
    first = next(iter(scores()))
    inf = constant(xp, xp.inf, first.dtype, device(first))
    counted = (xp.where(there, x, -inf) for x, there in zip(scores(), filled(), strict=True))
    best = _largest(xp, parts, counted)

    def below_best() -> Iterator[Array]:
        for x, there in zip(scores(), filled(), strict=True):
            yield xp.where(there, x - best, xp.zeros_like(x))

    below = _again(parts, below_best)
    span = _largest(
        xp, parts, (xp.where(xp.isfinite(x), xp.abs(x), xp.zeros_like(x)) for x in below())
    )
    span = xp.where(span > 0, span, xp.ones_like(span))
    return (x / span for x in below())


def _near_one(xp: Namespace, parts: list[ops.Groups], filled: _Numbers) -> _Numbers:
    """The scores times a power of two for each list or group, where they are far from 1.

    Then their range is no more than the largest float, and they are not subnormal.
    """

    def size(scores: Array, filled: Array) -> Array:
        key = xp.order_key(xp.abs(scores))
        return xp.where(filled & xp.isfinite(scores), key, xp.zeros_like(key))

    wide = _again(parts, lambda: (xp.widened(part.thresholds) for part in parts))
    largest = _largest(xp, parts, map(size, wide(), filled()))
    largest = xp.from_order_key(largest, next(iter(wide())).dtype)
    power = usual_unit(xp, largest)
    if power is None:
        return wide
    return _again(parts, lambda: (xp.scaled(x, power) for x in wide()))


def _largest(xp: Namespace, parts: list[ops.Groups], numbers: Iterable[Array]) -> Array:
    """The largest number of all parts of a list, shape (..., 1), or of the group of each row."""
    if parts[0].segments:
        return ops.repeat_per_row(xp, parts[0], ops.group_max(xp, parts[0], *numbers))
    return reduce(xp.maximum, (xp.max(x, axis=-1, keepdims=True) for x in numbers))


def _steps(xp: Namespace, mass: Array, score: Array, label: Array, part: _Part) -> Iterator[Array]:
    """What a part adds to the second moments of what is before it (the parallel-variance rule).

    Nothing where there is no mass before it, but for the variance within, or none in it.
    """
    share = mass * (part.taken / divisor(xp, mass + part.taken))
    gap = part.score - score / divisor(xp, mass)
    weighted = gap * share
    yield gap * weighted
    del gap
    # a difference of fractions over their common denominator: exactly 0 where they are equal
    unequal = part.positive * mass - label * part.mass
    label_gap = unequal / divisor(xp, part.mass * mass)
    del unequal
    yield label_gap * weighted
    del weighted
    between = label_gap * label_gap * share
    yield between if part.within is None else between + part.taken * part.within


def _moments_before(
    xp: Namespace, table: ops.Groups, labels: Labels
) -> Iterator[tuple[Iterator[Array], _Part]]:
    """For each part of a table: the moments of all rows before each of its rows, and these.

    The moments are made one after the other, since each may be as long as the table.
    """
    wide, parts = wide_float(xp, device(table.counts)), ops.in_parts(xp, table)
    ends: list[Array | None] = [None] * len(_Moments._fields)

    def before(column: int, x: Array) -> Array:
        if table.segments:
            exact = column in (0, 2) and not table.weighted
            return ops.row_before(xp, table, ops.running_total(xp, table, x, exact))
        sums = xp.exclusive(x, ends[column])
        if len(parts) > 1:
            ends[column] = sums[..., -1:] + x[..., -1:]
        return sums

    for part, score in zip(parts, _relative_scores(xp, parts), strict=True):
        mass, positive = (cast(xp, x, wide) for x in (part.mass, part.positive))
        row = _Part(mass, mass, positive, score, _variance_within(xp, part, labels))
        first = before(0, mass), before(1, mass * score), before(2, positive)
        yield chain(first, map(before, count(3), _steps(xp, *first, row))), row


def _variance_within(xp: Namespace, table: ops.Groups, labels: Labels) -> Array | None:
    """The variance of the labels of each group; None of expected ones, which are all the same."""
    if labels == "expected":
        return None
    if labels != "observed":
        raise ValueError(f'labels must be "expected" or "observed"; got {show_value(labels)}')
    wide = wide_float(xp, device(table.counts))
    mass = divisor(xp, cast(xp, table.mass, wide))
    positive, negative = (cast(xp, x, wide) / mass for x in (table.positive, table.negative))
    return positive * negative


def _correlation(xp: Namespace, before: _Moments, part: _Part) -> Array:
    """Correlation over what stands before and a part; NaN where either does not vary."""
    steps = _steps(xp, before.mass, before.score, before.label, part)
    score, both, label = (x + step for x, step in zip(before[3:], steps, strict=True))
    varies = (score > 0) & (label > 0)
    value = both / (xp.sqrt(score) * xp.sqrt(label))
    value = xp.clip(value, -1.0, 1.0)
    return xp.nan_unless(varies, value)


class _Pearson(Measure):
    validator = staticmethod(wanted_masses)


@measure(
    _Pearson,
    greater_is_better=None,
    by_group=True,
    advice=', and labels="observed": with the expected labels few distinct scores make it large',
)
def pearson(table: ops.Groups, wanted: Array, *, labels: Labels = "expected") -> Array:
    """Pearson's correlation of the j best scores with their labels ([AR] eq. 8-11).

    Takes what `hit_rate` takes: labels and scores, or a `Ranking`, and a quota, fraction or budget.

    Parameters
    ----------
    labels : {"expected", "observed"}
        The labels that are correlated with the scores.  "expected" is the share of positives in the
        tie group of each example ([AR] eq. 5); "observed" is its own label, 0 or 1.

    Returns
    -------
    array, shape (..., *Q), or (..., S, *Q) of S groups
        From -1 to 1; NaN where the scores or these labels within the quota do not vary, and where
        a score within the quota is infinite.

    Notes
    -----
    The moments are those of a population.  A quota that ends inside a group takes that part of the
    group's mass, positives and negatives alike.  This is the only measure that computes with the
    scores, so it changes when they are transformed.  The optimistic and the pessimistic policy give
    no bounds here.

    With expected labels, few distinct scores make the value large by themselves, and two distinct
    scores make it 1, -1 or NaN: a coin toss gets 1.  So this measure has no direction, and
    `compare` asks for `greater_is_better`.  Compare models by observed labels.  These have the same
    covariance with the scores and the variance h(1 - h), where h is the hit rate; the result is the
    point-biserial correlation.  If no tie group has both classes, both correlations are the same.

    Moments are updated from tie group to tie group, without differences of sums of squares, so a
    common offset of the scores costs no digits.

    References
    ----------
    [AR] eq. 8-11.

    Examples
    --------
    >>> from quotakernels import pearson
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(pearson(y_true, y_score, quota=[1, 3, 5]).round(3))
    [  nan 1.    0.708]
    >>> print(pearson(y_true, y_score, quota=[1, 3, 5], labels="observed").round(3))
    [ nan 0.5  0.54]
    """
    return correlation_within(namespace(wanted), table, wanted, labels)


def correlation_within(xp: Namespace, table: ops.Groups, wanted: Array, labels: Labels) -> Array:
    """The correlation within each wanted mass, shape (..., K), or (..., S, K) of groups."""
    table = ops.head(xp, table, wanted)
    index, _ = ops.rows_at(xp, table, wanted)
    start, value = 0, wanted
    for moments, row in _moments_before(xp, table, labels):
        length = row.mass.shape[-1]
        is_whole = length == table.counts.shape[-1]
        at = index if is_whole else xp.clip(index - start, 0, length - 1)
        before = _Moments(*(ops.column_at(xp, table, x, at) for x in moments))
        part = _Part(*(None if x is None else ops.column_at(xp, table, x, at) for x in row))
        part = part._replace(taken=xp.minimum(wanted - before.mass, part.mass))
        here = _correlation(xp, before, part)
        value = here if is_whole else xp.where(index >= start, here, value)
        start += length
    return value


@measure(Measure, greater_is_better=None)
def pearson_curve(table: ops.Groups, *, labels: Labels = "expected") -> Curve:
    """Pearson's correlation at every cut ([AR] eq. 8-11): see `pearson` and `Curve`.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    labels : {"expected", "observed"}
        As in `pearson`.

    Returns
    -------
    Curve
        ``value`` is NaN where `pearson` is NaN, such as at the empty cut and the one after it.

    References
    ----------
    [AR] eq. 8-11.

    Examples
    --------
    >>> from quotakernels import pearson_curve
    >>> curve = pearson_curve([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1])
    >>> print(curve.quota, curve.value.round(3))
    [0 1 3 4 5] [   nan    nan  1.    -0.229  0.708]
    """
    xp = namespace(table.counts)
    values = [
        _correlation(xp, _Moments(*moments), row)
        for moments, row in _moments_before(xp, table, labels)
    ]
    value = xp.concat([xp.full_like(values[0][..., :1], xp.nan), *values], axis=-1)
    return Curve(cut_quotas(xp, table), value, cut_thresholds(xp, table))
