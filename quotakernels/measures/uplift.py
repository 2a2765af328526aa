"""What a campaign adds: among the best, examples that were treated are compared with controls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace
from quotakernels.inputs.cuts import wanted_masses
from quotakernels.inputs.keywords import check_choice
from quotakernels.inputs.totals import divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures._sums import harmonic_sums
from quotakernels.measures.at_quota import Curve, above_cuts, curve_of
from quotakernels.ops import namespace
from quotakernels.ranking import Ranking


@measure(
    Measure, numbers=wanted_masses, needs=("treatment",), greater_is_better=True, by_group=True
)
def uplift_at_quota(table: ops.TieTable, wanted: Array) -> Array:
    """The response rate of the treated among the best, minus that of the controls among them.

    Rₜ/Nₜ - R_c/N_c of the best j: Nₜ treated examples with Rₜ positives, N_c controls with R_c.

    Takes what `hit_rate` takes, and `treatment`, 1 for each treated example and 0 for each control;
    or a `Ranking` that was made with it.
    The score is usually a predicted uplift, but any score will do.

    Returns
    -------
    array, shape (..., *Q)
        From -1 to 1; NaN where the best lack treated examples or controls.

    See Also
    --------
    uplift_curve : what the treatment adds to the positives, at every cut.

    Notes
    -----
    In a tie group at the edge all four numbers are expectations ([AR] eq. 5): each example counts
    with its probability of being selected.  The rates are quotients of these.  If the treated were
    chosen at random, the result estimates the effect of the treatment on the selected.

    References
    ----------
    [Gutierrez 2017] section 4.1; ``uplift_at_k`` of scikit-uplift, strategy "overall".

    Examples
    --------
    >>> from quotakernels.uplift import uplift_at_quota
    >>> bought, score = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.6, 0.1]
    >>> mailed = [1, 0, 1, 1, 0, 0]
    >>> print(uplift_at_quota(bought, score, treatment=mailed, quota=[2, 3, 5, 6]).round(4))
    [1.     1.     0.1667 0.3333]
    """
    xp = namespace(wanted)
    arms = arms_of(table, lambda x: xp.sums_within(table, wanted, x)[0])
    treated, control = _sizes(arms)
    return arms.treated_positive / treated - arms.control_positive / control


@measure(Measure, needs=("treatment",), greater_is_better=None, in_masses=True)
def uplift_curve(table: ops.TieTable) -> Curve:
    """The positives that treating all of the best adds, at every cut: the ends of tie groups.

    j·(Rₜ/Nₜ - R_c/N_c), the number of the best times `uplift_at_quota`.

    Takes labels, scores and `treatment`, 1 for each treated example and 0 for each control; or a
    `Ranking` made with it.  The other keywords are those of `rank`.

    Returns
    -------
    Curve
        ``value`` counts examples, with weights their mass.  It is 0 at the empty cut.  If the best
        lack an arm, its rate is 0 there.  All NaN where one arm has no examples at all.

    See Also
    --------
    auuc : the area under it.
    qini_curve : the same for the treated alone.

    References
    ----------
    [Gutierrez 2017] section 4.1; ``uplift_curve`` of scikit-uplift, ``get_cumgain`` of causalml,
    where the difference of the rates rises in a straight line while an arm is missing.

    Examples
    --------
    >>> from quotakernels.uplift import uplift_curve
    >>> bought, score = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.6, 0.1]
    >>> curve = uplift_curve(bought, score, treatment=[1, 0, 1, 1, 0, 0])
    >>> print(curve.quota, curve.value.round(4))
    [0 1 2 3 5 6] [0.     1.     2.     3.     0.8333 2.    ]
    """
    return _curve(table, "uplift")


@measure(Measure, needs=("treatment",), greater_is_better=None, in_masses=True)
def qini_curve(table: ops.TieTable) -> Curve:
    """The positives that the treatment has added among the treated, at the end of each tie group.

    Takes labels, scores and `treatment`, 1 for each treated example and 0 for each control; or a
    `Ranking` made with it.  The other keywords are those of `rank`.

    Returns
    -------
    Curve
        ``value`` counts treated examples, with weights their mass.  It is 0 at the empty cut.
        Without controls among the best nothing is subtracted.  All NaN where one arm has no
        examples at all.

    See Also
    --------
    qini_coefficient : its area, from chance to the best order.
    uplift_curve : the same for all of the best.

    References
    ----------
    [Radcliffe 2007]; ``qini_curve`` of scikit-uplift, ``get_qini`` of causalml.

    Examples
    --------
    >>> from quotakernels.uplift import qini_curve
    >>> bought, score = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.6, 0.1]
    >>> curve = qini_curve(bought, score, treatment=[1, 0, 1, 1, 0, 0])
    >>> print(curve.quota, curve.value)
    [0 1 2 3 5 6] [0.  1.  1.  2.  0.5 1. ]
    """
    return _curve(table, "qini")


@measure(Measure, needs=("treatment",), greater_is_better=True, by_group=True)
def auuc(table: ops.TieTable, *, curve: str = "uplift", normalize: str | None = None) -> Array:
    """The area under the uplift curve (AUUC), or under the Qini curve.

    A = ∫ V dj over the quotas 0 to n, V being straight between the cuts of `uplift_curve`.

    Takes labels, scores and `treatment`, 1 for each treated example and 0 for each control; or a
    `Ranking` made with it.  The other keywords are those of `rank`.

    Parameters
    ----------
    curve : {"uplift", "qini"}
        Which curve is V.
    normalize : {None, "total", "perfect"}
        The unit of the area.  None gives A/n², the mean of V/n over all quotas.  "total" gives
        A/(n·abs(V(n))), where chance is about 1/2.  "perfect" gives (A - A₀)/(A* - A₀), where A₀ =
        n·V(n)/2 is the triangle under the straight line of chance, and A* the area of
        scikit-uplift's best order.

    Returns
    -------
    array, shape (...)
        NaN where one arm has no examples, and where the divisor is 0.

    Raises
    ------
    ValueError
        Another curve or unit.

    Notes
    -----
    causalml's ``auuc_score(normalize=True)`` is close to "total": the mean of V/abs(V(n)) over the
    positions 0 to n, with ties as they happen to be sorted.  Its ``qini_score`` is the same for the
    Qini curve, minus 1/2, with the sign of V(n).  scikit-uplift's ``uplift_auc_score`` and
    ``qini_auc_score`` are "perfect", and its ``auuc`` is A.  For the uplift curve its best order
    has treated positives first, then negative controls, then the treated negatives or the positive
    controls, whichever are more, and last the others.  For the Qini curve it has treated positives,
    all negatives, positive controls.

    References
    ----------
    [Gutierrez 2017] section 4.1; scikit-uplift and causalml as above.

    Examples
    --------
    >>> from quotakernels import rank
    >>> from quotakernels.uplift import auuc
    >>> bought, score = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.6, 0.1]
    >>> ranking = rank(bought, score, treatment=[1, 0, 1, 1, 0, 0])
    >>> for unit in (None, "total", "perfect"):
    ...     print(unit, auuc(ranking, normalize=unit).round(4))
    None 0.2708
    total 0.8125
    perfect 0.45
    """
    _check(curve, normalize)
    xp, arms = namespace(table.counts), _whole(table)
    size, value, area = _mass(arms), height(xp, arms, curve), _area(xp, table, curve)
    if normalize is None:
        found = area / (size * size)
    elif normalize == "total":
        found = _ratio(xp, area, size * abs(value))
    else:
        chance = size * value / 2
        found = _ratio(xp, area - chance, _perfect_area(xp, arms, curve) - chance)
    return _defined(xp, arms, found)


@measure(Measure, needs=("treatment",), greater_is_better=True, by_group=True)
def qini_coefficient(table: ops.TieTable, *, negative_effects: bool = True) -> Array:
    """The area between the Qini curve and chance, as a share of that of the best order.

    (A - A₀)/(A* - A₀) of `qini_curve`, A₀ = n·V(n)/2 being the triangle of chance.

    Takes labels, scores and `treatment`, 1 for each treated example and 0 for each control; or a
    `Ranking` made with it.  The other keywords are those of `rank`.

    Parameters
    ----------
    negative_effects : bool
        With True the best order has treated positives first and positive controls last, so it also
        gains from negative effects.  With False its V rises by 1 with each example up to V(n) and
        stays there; a model may exceed that.

    Returns
    -------
    array, shape (...)
        1 for the best order, 0 for chance.  NaN where one arm has no examples, where all orders are
        equally good, and, with ``negative_effects=False``, where the treatment adds nothing in
        total.

    See Also
    --------
    auuc : the areas in other units; this one is ``auuc(curve="qini", normalize="perfect")``.

    Notes
    -----
    The R package uplift and causalml give the same name to the area between the curve and chance.
    In the unit of n² it is ``auuc(ranking, curve="qini")`` minus V(n)/(2·n).

    References
    ----------
    [Radcliffe 2007]; ``qini_auc_score`` of scikit-uplift with ``negative_effect``.

    Examples
    --------
    >>> from quotakernels.uplift import qini_coefficient
    >>> bought, score = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.6, 0.1]
    >>> print(qini_coefficient(bought, score, treatment=[1, 0, 1, 1, 0, 0]).round(4))
    0.5
    """
    xp, arms = namespace(table.counts), _whole(table)
    size, value = _mass(arms), height(xp, arms, "qini")
    chance = size * value / 2
    if negative_effects:
        most = _perfect_area(xp, arms, "qini") - chance
    else:
        most = xp.where(value > 0, value * (size - value) / 2, xp.zeros_like(value))
    found = _ratio(xp, _area(xp, table, "qini") - chance, most)
    return _defined(xp, arms, found)


@measure(Measure, needs=("treatment",), greater_is_better=None)
def toc_curve(table: ops.TieTable) -> Curve:
    """Targeting operator characteristic, TOC: the effect among the best less that on all.

    V(j)/j - V(n)/n at every cut.  V(j) sums the scores of the best j examples: for a positive that
    was treated n/Nₜ, for one that was not -n/N_c, of n examples with Nₜ treated and N_c controls.

    Takes labels, scores and `treatment`, 1 for each treated example and 0 for each control; or a
    `Ranking` made with it.  The other keywords are those of `rank`.

    Returns
    -------
    Curve
        ``value`` is NaN at the empty cut and 0 at the last one.  All NaN where one arm has no
        examples at all.

    See Also
    --------
    autoc : its mean over all quotas.
    uplift_at_quota : divides by the numbers of each arm among the best.

    Notes
    -----
    The scores weigh by the inverse of the arms' shares, as fits an experiment in which these do not
    depend on the example.  V(n)/n is the difference of the two response rates.

    References
    ----------
    [Yadlowsky 2021].

    Examples
    --------
    >>> from quotakernels.uplift import toc_curve
    >>> bought, score = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.6, 0.1]
    >>> curve = toc_curve(bought, score, treatment=[1, 0, 1, 1, 0, 0])
    >>> print(curve.quota, curve.value.round(4))
    [0 1 2 3 5 6] [   nan 1.6667 0.6667 1.     0.0667 0.    ]
    """
    xp, whole = namespace(table.counts), _whole(table)
    each = Arms(*(xp.expand_dims(x, axis=-1) for x in whole))
    upto = Arms(*(above_cuts(xp, table, x) for x in arms_of(table, lambda x: x)))
    value = _defined(xp, each, effect_above_all(upto, each))
    return curve_of(xp, table, value)


@measure(Measure, needs=("treatment",), greater_is_better=True, by_group=True)
def autoc(table: ops.TieTable) -> Array:
    """AUTOC, a rank-weighted average treatment effect: the mean of TOC(j) over j = 1 to n.

    TOC is that of `toc_curve`: how much more the treatment does among the best than for all.

    Takes labels, scores and `treatment`, 1 for each treated example and 0 for each control; or a
    `Ranking` made with it.  The other keywords are those of `rank`.

    Returns
    -------
    array, shape (...)
        0 by chance, or where the treatment does the same for all; NaN where one arm has no
        examples.

    See Also
    --------
    auuc : with ``curve="uplift"``, an area in which the first places count less.

    Notes
    -----
    The best examples enter every mean, so it suits effects on few, and is noisier than areas.  A
    tie group spreads its sums evenly over its examples; with weights these stay the positions.

    For other scores of the effect, such as doubly robust ones, TOC(j) is
    ``impact_at_quota(None, y_score, gain=scores, quota=j).whole / j`` less their mean.

    References
    ----------
    [Yadlowsky 2021]; ``rank_average_treatment_effect.fit`` of grf, target "AUTOC".

    Examples
    --------
    >>> from quotakernels.uplift import autoc
    >>> bought, score = [1, 0, 1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6, 0.6, 0.1]
    >>> print(autoc(bought, score, treatment=[1, 0, 1, 1, 0, 0]).round(4))
    0.6361
    """
    xp, whole = namespace(table.counts), _whole(table)
    sizes = [xp.repeat_per_row(table, x) for x in _sizes(whole)]
    here, upto = (_effect(x, *sizes) for x in (arms_of(table, lambda x: x), _upto(xp, table)))
    items, mass = (xp.cast(x, here.dtype) for x in (table.counts, table.mass))
    before = xp.row_before(table, xp.running_total(table, mass, exact=not table.weighted))
    ones, ramps = harmonic_sums(xp, before * (items / divisor(xp, mass)), items)
    part = xp.row_before(table, upto) * ones + here / divisor(xp, items) * ramps
    part = xp.where(mass > 0, part, xp.zeros_like(part))
    mean = xp.group_total(table, part) - _effect(whole, *_sizes(whole))
    return _defined(xp, whole, mean)


def _effect(arms: Arms, treated: Array, control: Array) -> Array:
    """The sum of the scores of these arms over the number of all, of which the sizes are given."""
    effect: Array = arms.treated_positive / treated - arms.control_positive / control
    return effect


def effect_above_all(arms: Arms, whole: Arms) -> Array:
    """TOC where so much of the arms is selected."""
    sizes = _sizes(whole)
    mean = _effect(arms, *sizes) * (_mass(whole) / _mass(arms))
    return mean - _effect(whole, *sizes)


def _check(curve: str, normalize: str | None) -> None:
    check_choice("curve", curve, "uplift", "qini")
    check_choice("normalize", normalize, None, "total", "perfect")


class Arms(NamedTuple):
    """The masses of treated examples and of controls, by class."""

    treated_positive: Array
    treated_negative: Array
    control_positive: Array
    control_negative: Array


def arms_of(table: ops.TieTable | Ranking, sums: Callable[[Array], Array]) -> Arms:
    """What a function makes of the arms of the rows."""
    columns = table.columns
    return Arms(*(sums(x) for x in (*columns["treated"], *columns["control"])))


def _sizes(arms: Arms) -> tuple[Array, Array]:
    """The mass of the treated and that of the controls."""
    treated: Array = arms.treated_positive + arms.treated_negative
    control: Array = arms.control_positive + arms.control_negative
    return treated, control


def _mass(arms: Arms) -> Array:
    """The mass of both arms."""
    treated, control = _sizes(arms)
    return treated + control


def height(xp: Namespace, arms: Arms, curve: str) -> Array:
    """What a curve has where so much of the arms is selected; an arm without has a rate of 0."""
    treated, control = _sizes(arms)
    rates = _rate(xp, arms.treated_positive, treated), _rate(xp, arms.control_positive, control)
    added = rates[0] - rates[1]
    return treated * added if curve == "qini" else (treated + control) * added


def _rate(xp: Namespace, positive: Array, mass: Array) -> Array:
    return positive / xp.where(mass > 0, mass, xp.ones_like(mass))


def _ratio(xp: Namespace, part: Array, whole: Array) -> Array:
    """A quotient; NaN of nothing, also where XLA knows that the first is 0."""
    return xp.nan_unless(whole != 0, part / whole)


def _defined(xp: Namespace, arms: Arms, found: Array) -> Array:
    """A result, NaN where one of the arms, which are the whole ones, has no examples."""
    treated, control = _sizes(arms)
    return xp.nan_unless((treated > 0) & (control > 0), found)


def _upto(xp: Namespace, table: ops.TieTable) -> Arms:
    """The arms of the examples down to each row."""
    return arms_of(table, lambda x: xp.running_total(table, x, exact=not table.weighted))


def _whole(table: ops.TieTable) -> Arms:
    """The arms of all examples, or of those of each group of examples."""
    return arms_of(table, lambda x: namespace(x).group_total(table, x))


def _curve(table: ops.TieTable, curve: str) -> Curve:
    """The heights of a curve at every cut."""
    xp = namespace(table.counts)
    value = height(xp, _upto(xp, table), curve)
    value = xp.concat([xp.zeros_like(value[..., :1]), value], axis=-1)
    whole = Arms(*(xp.expand_dims(x, axis=-1) for x in _whole(table)))
    value = _defined(xp, whole, value)
    return curve_of(xp, table, value)


def _area(xp: Namespace, table: ops.TieTable, curve: str) -> Array:
    """The area under a curve whose cuts are joined by straight lines."""
    value = height(xp, _upto(xp, table), curve)
    both = value + xp.row_before(table, value)
    return xp.group_total(table, both * xp.cast(table.mass, both.dtype) / 2)


def _perfect_area(xp: Namespace, arms: Arms, curve: str) -> Array:
    """The area under the curve of the best order, which has three tie groups, or four."""
    area = before = xp.zeros_like(arms.treated_positive)
    upto = Arms(*[before] * 4)
    for step in best_order(xp, arms, curve):
        upto = Arms(*(x + y for x, y in zip(upto, step, strict=True)))
        value = height(xp, upto, curve)
        area = area + (before + value) * _mass(step) / 2
        before = value
    return area


def best_order(xp: Namespace, arms: Arms, curve: str) -> Iterable[Arms]:
    """The steps of `_perfect_area`; see the notes of `auuc`."""
    treated, refused, responding, others = arms
    none = xp.zeros_like(treated)
    yield Arms(treated, none, none, none)
    if curve != "uplift":
        yield Arms(none, refused, none, others)
        yield Arms(none, none, responding, none)
        return
    yield Arms(none, none, none, others)
    first = responding > refused  # the positive controls, and then the treated negatives
    yield Arms(none, xp.where(first, none, refused), xp.where(first, responding, none), none)
    yield Arms(none, xp.where(first, refused, none), xp.where(first, none, responding), none)
