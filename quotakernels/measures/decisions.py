"""Decisions: net benefit and decision curves, cost and Brier curves, and expected profits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, tolerance
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.numbers import Domains, checked, numbers_like, plain_number
from quotakernels.inputs.totals import Totals, divisor
from quotakernels.measures._measure import Measure, measure
from quotakernels.measures.hull import (
    FRACTION_ROUNDS,
    SAME_COST,
    cheapest_cuts,
    hull_table,
    losses_around,
    mass_costs,
)
from quotakernels.measures.tables.confusion import (
    ConfusionTable,
    TableMeasure,
    cells_as_floats,
    cells_at,
)
from quotakernels.measures.tables.rates import tuned
from quotakernels.ops import namespace

_DOMAINS: Domains = {
    "threshold_probability": (lambda x: (x >= 0) & (x < 1), "a probability, at least 0, below 1"),
    "prevalence": (lambda x: (x > 0) & (x < 1), "a share of positives, between 0 and 1"),
}


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionMeasure(TableMeasure):
    """A measure of tables at a threshold probability, by default the threshold of the cut."""

    def take_own(self, keywords: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Take its numbers and its options, of which the threshold is one too."""
        numbers, own = super().take_own(keywords)
        if numbers.get("threshold") is not None:
            own.setdefault("threshold_probability", numbers["threshold"])
        return numbers, own


def _odds(probability: Array | None) -> Array:
    if probability is None:
        raise TypeError("give threshold_probability=, or a threshold= that is one")
    return probability / (1 - probability)


def _with_prevalence(table: ConfusionTable, prevalence: Array | None) -> ConfusionTable:
    """The cells; or their shares where the positives are another share of all."""
    return table if prevalence is None else tuned(table, prevalence / (1 - prevalence))


def _benefit(table: ConfusionTable, odds: Array) -> Array:
    """The net benefit of all examples together."""
    return table.tp - table.fp * odds


def _avoided(table: ConfusionTable, odds: Array) -> Array:
    return table.tn - table.fn / odds


def _per_positive(table: ConfusionTable, benefit: Array) -> Array:
    positives = table.tp + table.fn
    return namespace(positives).nan_unless(positives > 0, benefit / positives)


def _examples(table: ConfusionTable) -> Array:
    return table.tp + table.fn + (table.fp + table.tn)


@measure(DecisionMeasure, greater_is_better=True, domains=_DOMAINS)
def net_benefit(
    table: ConfusionTable, *, threshold_probability: Any = None, prevalence: Any = None
) -> Array:
    """Net benefit: true positives less false ones, of which a threshold probability sets the price.

    (tp - fp·p/(1 - p))/n.  Who treats at a risk of p or more holds 1/p - 1 needless treatments to
    be as bad as one that is missed.  The unit is a true positive per example.

    Takes a `ConfusionTable`, or what `confusion_table` takes: also a quota, a fraction or a budget.

    Parameters
    ----------
    threshold_probability : number or array, optional
        p, from 0 and below 1; by default the `threshold`.  With a quota, or a table, it is needed.
        It broadcasts against the cells.
    prevalence : number or array, optional
        The share of positives among those whom the model is for, between 0 and 1, where the
        examples are a case-control sample.  By default it is theirs.

    Returns
    -------
    array, shape of the cells
        At most the prevalence; 0 is what treating nobody has.  NaN where n = 0, and with
        `prevalence` where one class is absent.

    Raises
    ------
    TypeError
        No threshold probability.
    ValueError
        A threshold probability, or a prevalence, that is out of range; NaN instead where values
        cannot be read.

    See Also
    --------
    decision_curve : at many threshold probabilities, beside treating everybody.
    impact : the general case; this one is ``impacts=(1, -p/(1 - p), 0, 0)``.

    Notes
    -----
    At a threshold the scores must be calibrated probabilities, and ``score >= threshold`` treats.
    Some programs treat at ``score > threshold``, which differs for scores that equal it:
    ``inclusive=False``.

    References
    ----------
    [Vickers 2006].

    Examples
    --------
    >>> from quotakernels.decisions import net_benefit
    >>> sick, risk = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(net_benefit(sick, risk, threshold=[0.2, 0.75]).round(4))
    [ 0.55 -0.2 ]
    >>> print(net_benefit(sick, risk, quota=2, threshold_probability=0.2))
    0.275
    >>> print(net_benefit(sick, risk, threshold=0.2, prevalence=0.1).round(4))
    -0.0125
    """
    table = _with_prevalence(table, prevalence)
    return _benefit(table, _odds(threshold_probability)) / _examples(table)


@measure(DecisionMeasure, greater_is_better=True, domains=_DOMAINS)
def standardized_net_benefit(
    table: ConfusionTable, *, threshold_probability: Any = None, prevalence: Any = None
) -> Array:
    """Standardized net benefit: net benefit divided by the prevalence, its largest value.

    Takes what `net_benefit` takes: a `ConfusionTable`, or what `confusion_table` takes.

    Parameters
    ----------
    threshold_probability, prevalence : numbers or arrays, optional
        What sets the price of a false positive, and the share of positives, as in `net_benefit`.

    Returns
    -------
    array, shape of the cells
        1 where all positives and no negatives are selected, 0 where nothing is; NaN without
        positives, and with `prevalence` also without negatives.

    References
    ----------
    [Kerr 2016], the name; [Vickers 2006].

    Examples
    --------
    >>> from quotakernels.decisions import standardized_net_benefit
    >>> sick, risk = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(standardized_net_benefit(sick, risk, threshold=0.2).round(4))
    0.9167
    """
    table = _with_prevalence(table, prevalence)
    return _per_positive(table, _benefit(table, _odds(threshold_probability)))


@measure(DecisionMeasure, greater_is_better=True, domains=_DOMAINS)
def net_interventions_avoided(
    table: ConfusionTable, *, threshold_probability: Any = None, prevalence: Any = None
) -> Array:
    """Net interventions avoided: what a model saves per example, compared with treating everybody.

    (tn - fn·(1 - p)/p)/n: the gain of net benefit over that of treating everybody, in unnecessary
    treatments.

    Takes what `net_benefit` takes: a `ConfusionTable`, or what `confusion_table` takes.

    Parameters
    ----------
    threshold_probability, prevalence : numbers or arrays, optional
        What sets the price of a missed positive, and the share of positives, as in `net_benefit`.

    Returns
    -------
    array, shape of the cells
        At most the share of negatives; multiply by 100 for interventions per 100 patients.  0 is
        what treating everybody has.  At a threshold probability of 0 it is -infinity where a
        positive is missed, and NaN elsewhere; NaN also where n = 0.

    References
    ----------
    [Vickers 2006], the net benefit; ``net_intervention_avoided`` of dcurves.

    Examples
    --------
    >>> from quotakernels.decisions import net_interventions_avoided
    >>> sick, risk = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> print(net_interventions_avoided(sick, risk, threshold=0.2))
    0.2
    """
    table = _with_prevalence(table, prevalence)
    return _avoided(table, _odds(threshold_probability)) / _examples(table)


@plainly
class DecisionCurve(NamedTuple, Generic[T]):
    """Net benefit over the threshold probability; treating nobody has 0.

    Every field has shape (..., *Q), or (..., S, *Q) of S groups.

    Attributes
    ----------
    threshold_probability : array
        The risk from which on a model treats.
    net_benefit : array
        That of the model.
    treat_all : array
        The net benefit of treating everybody.
    standardized : array
        `standardized_net_benefit` of the model.
    interventions_avoided : array
        `net_interventions_avoided` of the model.
    """

    threshold_probability: T
    net_benefit: T
    treat_all: T
    standardized: T
    interventions_avoided: T


def _at_probabilities(
    xp: Namespace,
    table: ops.TieTable,
    *,
    threshold_probability: Any = None,
    prevalence: Any = None,
    inclusive: bool = True,
) -> tuple[tuple[Array, ...], tuple[int, ...] | None]:
    """The cells at each threshold probability, shape (..., K), and these, shape (K,)."""
    if threshold_probability is None:
        threshold_probability = [k / 100 for k in range(1, 100)]
    cells, shape = cells_at(xp, table, threshold=threshold_probability, inclusive=inclusive)
    given = {"threshold_probability": threshold_probability}
    given |= {} if prevalence is None else {"prevalence": prevalence}
    numbers = {name: numbers_like(table.counts, name, x) for name, x in given.items()}
    numbers = checked(xp, numbers, {name: _DOMAINS[name] for name in numbers})
    cells = _with_prevalence(cells_as_floats(xp, cells), numbers.get("prevalence"))
    return (*cells, xp.reshape(numbers["threshold_probability"], (-1,))), shape


@measure(Measure, numbers=_at_probabilities, greater_is_better=None, by_group=True)
def decision_curve(_table: ops.TieTable, *cells_and_probability: Array) -> DecisionCurve:
    """Decision curve: net benefit at many threshold probabilities, beside treating everybody.

    Takes labels and scores that are calibrated probabilities, or a `Ranking`; the other keywords
    are those of `rank`.

    Parameters
    ----------
    threshold_probability : number or array, shape Q, optional
        The risks from which on a model treats, from 0 and below 1; by default 0.01, 0.02, …, 0.99.
    prevalence : number, optional
        The share of positives among those whom the model is for, where the examples are a
        case-control sample.
    inclusive : bool
        Whether a score that equals the threshold probability is treated.

    Returns
    -------
    DecisionCurve
        NaN where the measures of its fields are undefined; all of it where there are no examples.

    Raises
    ------
    ValueError
        Threshold probabilities not from 0 to below 1, or a prevalence not between 0 and 1; NaN
        where they cannot be read.

    See Also
    --------
    net_benefit : at one threshold, at a quota, or of a table.

    Notes
    -----
    A model is of use for those threshold probabilities at which its net benefit is above both that
    of treating everybody and 0.  `bootstrap` of this function gives intervals.

    References
    ----------
    [Vickers 2006].

    Examples
    --------
    >>> from quotakernels.decisions import decision_curve
    >>> sick, risk = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> curve = decision_curve(sick, risk, threshold_probability=[0.2, 0.5, 0.75])
    >>> print(curve.net_benefit.round(2), curve.treat_all.round(2))
    [ 0.55  0.4  -0.2 ] [ 0.5  0.2 -0.6]
    """
    *cells, probability = cells_and_probability
    xp, table, odds = namespace(probability), ConfusionTable(*cells), _odds(probability)
    nobody = xp.zeros_like(table.tp)
    everybody = ConfusionTable(table.tp + table.fn, table.fp + table.tn, nobody, nobody)
    benefit, whole = _benefit(table, odds), _examples(table)
    return DecisionCurve(
        xp.nan_unless(whole > 0, probability + nobody),
        benefit / whole,
        _benefit(everybody, odds) / whole,
        _per_positive(table, benefit),
        _avoided(table, odds) / whole,
    )


# cost curves


@plainly
class CostCurve(NamedTuple, Generic[T]):
    """The cost of the best cuts, over how much the classes weigh; every field has shape (..., *Q).

    Attributes
    ----------
    probability_cost : array
        The weight of the positives: the share that they have of what all errors cost.
    cost : array
        The normalized expected cost of the best cut there.
    trivial : array
        That of selecting nobody, or everybody if that is cheaper.
    threshold : array
        Score of the last example that the best cut selects; NaN if it selects none.
    quota : array
        How many it selects, with weights their mass.
    """

    probability_cost: T
    cost: T
    trivial: T
    threshold: T | Any
    quota: Any


@plainly
class BrierCurve(NamedTuple, Generic[T]):
    """The loss at a threshold that is the cost proportion; every field has shape (..., *Q).

    Attributes
    ----------
    cost_proportion : array
        What a false positive costs, as a share of what both errors cost together.
    loss : array
        That of selecting the scores from there on.
    best : array
        The loss of the best cut.
    trivial : array
        The loss of selecting nobody, or everybody if that is less.
    """

    cost_proportion: T
    loss: T
    best: T
    trivial: T


_SHARES: Domains = {
    name: (lambda x: (x >= 0) & (x <= 1), "a share, from 0 to 1")
    for name in ("probability_cost", "cost_proportion")
}
_GRID = [k / 100 for k in range(101)]


def _share_of_costs(xp: Namespace, table: ops.TieTable, name: str, given: Any) -> Array:
    """Checked shares of costs, by default a grid of them."""
    value = numbers_like(table.counts, name, _GRID if given is None else given)
    return checked(xp, {name: value}, {name: _SHARES[name]})[name]


def _at_probability_costs(
    xp: Namespace, table: ops.TieTable, *, probability_cost: Any = None
) -> tuple[tuple[Array, ...], tuple[int, ...]]:
    """The costs of errors at each weight of the classes, each shape (..., K); and the weights."""
    share = _share_of_costs(xp, table, "probability_cost", probability_cost)
    costs, shape = mass_costs(xp, table, cost_fp=1 - share, cost_fn=share, prevalence=0.5)
    return (*costs, xp.reshape(share, (-1,))), shape


@measure(Measure, numbers=_at_probability_costs, greater_is_better=None)
def cost_curve(table: ops.TieTable, of_fp: Array, of_fn: Array, share: Array) -> CostCurve:
    """Cost curve: the normalized expected cost of the best cut, for all costs and class ratios.

    FNR·x + FPR·(1 - x), the smallest of all cuts.  The probability cost x of the positives is
    π·c₁/(π·c₁ + (1 - π)·c₀), where a missed positive costs c₁, a selected negative c₀, and π is the
    share of positives where the scores will be used.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    probability_cost : number or array, shape Q, optional
        x, from 0 to 1; by default 0, 0.01, …, 1.

    Returns
    -------
    CostCurve
        All NaN where one class is absent.  The cost is from 0 to ``trivial``, which is at most
        0.5; the unit is the cost if all were wrong.

    Raises
    ------
    ValueError
        A probability cost that is out of range; NaN instead where values cannot be read.

    See Also
    --------
    best_operating_point : for known costs, in their unit.
    brier_curve : the loss where scores are taken as probabilities.
    roc_hull : whose vertices are the lines below which this curve lies.

    Notes
    -----
    Between the slopes of two edges of the ROC hull the curve is straight.  Of cuts that cost the
    same the one that selects least is taken, as in `best_operating_point`.

    References
    ----------
    [Drummond 2006].

    Examples
    --------
    >>> from quotakernels.decisions import cost_curve
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> curve = cost_curve(y_true, y_score, probability_cost=[0.2, 0.5, 0.8])
    >>> print(curve.cost.round(3), curve.trivial.round(3), curve.quota)
    [0.133 0.25  0.1  ] [0.2 0.5 0.2] [1. 4. 4.]
    """
    xp = namespace(of_fp)
    best = cheapest_cuts(table, of_fp, of_fn)
    share = xp.nan_unless(~xp.isnan(of_fp), share + xp.zeros_like(of_fp))
    trivial = xp.minimum(share, 1 - share)
    cost = xp.minimum(2 * best.cost, trivial)
    return CostCurve(share, cost, trivial, best.threshold, best.quota)


def _at_cost_proportions(
    xp: Namespace, table: ops.TieTable, *, cost_proportion: Any = None
) -> tuple[tuple[Array, ...], tuple[int, ...]]:
    """The errors at each proportion, what they cost, each of shape (..., K); the proportions."""
    share = _share_of_costs(xp, table, "cost_proportion", cost_proportion)
    threshold = _GRID if cost_proportion is None else cost_proportion
    cells, _ = cells_at(xp, table, threshold=threshold)
    costs, shape = mass_costs(xp, table, cost_fp=share, cost_fn=1 - share)
    _, fp, fn, _ = cells_as_floats(xp, cells)
    return (fp, fn, *costs, xp.reshape(share, (-1,))), shape


@measure(Measure, numbers=_at_cost_proportions, greater_is_better=None)
def brier_curve(
    table: ops.TieTable, fp: Array, fn: Array, of_fp: Array, of_fn: Array, share: Array
) -> BrierCurve:
    """Brier curve: the loss over the cost proportion c, if scores from c on are selected.

    2·(c·FP + (1 - c)·FN)/n.  That threshold is right for calibrated probabilities; how far the
    curve is above ``best`` is what it loses to the best cut.

    Takes labels and scores that are probabilities, or a `Ranking`; the other keywords are those of
    `rank`.

    Parameters
    ----------
    cost_proportion : number or array, shape Q, optional
        c, from 0 to 1; by default 0, 0.01, …, 1.

    Returns
    -------
    BrierCurve
        All NaN where one class is absent.

    Raises
    ------
    ValueError
        A cost proportion that is out of range; NaN instead where values cannot be read.

    See Also
    --------
    cost_curve : the best cuts, with the class ratio in the weight.
    net_benefit : B at the threshold probability c, by which the loss is 2·(1 - c)·(π - B).

    Notes
    -----
    The area under the curve is the Brier score, the mean of (y - score)².

    References
    ----------
    [Hernández 2011].

    Examples
    --------
    >>> from quotakernels.decisions import brier_curve
    >>> y_true, y_score = [1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]
    >>> curve = brier_curve(y_true, y_score, cost_proportion=[0.2, 0.5, 0.7])
    >>> print(curve.loss.round(2), curve.best.round(2), curve.trivial.round(2))
    [0.08 0.2  0.4 ] [0.08 0.2  0.24] [0.16 0.4  0.36]
    """
    xp = namespace(of_fp)
    total = Totals(xp, table)
    loss = of_fp * fp + of_fn * fn
    nobody, everybody = of_fn * total.positive[..., None], of_fp * total.negative[..., None]
    best = xp.minimum(cheapest_cuts(table, of_fp, of_fn).cost, xp.minimum(nobody, everybody))
    share = xp.nan_unless(~xp.isnan(of_fp), share + xp.zeros_like(of_fp))
    return BrierCurve(share, 2 * loss, 2 * best, 2 * xp.minimum(nobody, everybody))


# expected profits


@plainly
class MaximumProfit(NamedTuple, Generic[T]):
    """What the best cut earns, and how much it selects.

    Attributes
    ----------
    profit : array, shape (...)
        The expected profit per example, of the cut that is best each time; 0 where no cut earns
        anything.
    fraction : array, shape (...)
        The expected share of the examples that this cut selects.
    """

    profit: T
    fraction: T


Above: TypeAlias = Callable[[Namespace, Array, Array], tuple[Array, Array]]
"""Of a random share γ, and of x and 1 - x: the expectation of max(γ - x, 0), and P(γ > x)."""


def _above_known(share: float) -> Above:
    def above(xp: Namespace, x: Array, _: Array) -> tuple[Array, Array]:
        least = share * (1 - tolerance(x, SAME_COST))
        return share - x, xp.where(x < least, xp.ones_like(x), xp.zeros_like(x))

    return above


def _above_beta(a: float, b: float) -> Above:
    rounds = FRACTION_ROUNDS + math.ceil(2 * math.sqrt(max(a, b)))
    log_normaliser = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    def above(xp: Namespace, x: Array, rest: Array) -> tuple[Array, Array]:
        first, second = (xp.full_like(x, value) for value in (a, b))
        below, others = losses_around(xp, first, second, log_normaliser, x, rest, rounds)
        over = a - below
        return (rest * over - x * others) / (a + b), (over + others) / (a + b)

    return above


def _above_uniform(none: float, everything: float) -> Above:
    """The share is 0 and 1 with these probabilities, else uniform between."""

    def above(_: Namespace, __: Array, rest: Array) -> tuple[Array, Array]:
        between = (1 - none - everything) * rest
        return rest * (everything + between / 2), everything + between

    return above


def _best_profit(
    table: ops.TieTable, above: Above, gain: float, of_positive: float, of_negative: float
) -> MaximumProfit:
    """Where a selected positive earns γ·gain - of_positive, and a negative costs of_negative.

    The best cut of a γ takes the edges of the hull that earn something.
    """
    xp = namespace(table.counts)
    hull = hull_table(xp, table)
    total = Totals(xp, hull)

    def terms(rows: Any) -> tuple[Array, Array]:
        most = gain * rows.positive
        price = of_positive * rows.positive + of_negative * rows.negative
        shares = (xp.clip(x / divisor(xp, most), 0.0, 1.0) for x in (price, most - price))
        earned, taken = above(xp, *shares)
        some = (most > 0) & (price < most)
        earned, taken = (xp.where(some, x, xp.zeros_like(x)) for x in (xp.clip(earned, 0.0), taken))
        return most * earned, rows.mass * taken

    sums = xp.sum_rows(hull, ops.RowSum(terms, lambda *x: x))[0]
    return MaximumProfit(*(x / total.whole for x in sums))


LARGEST_PARAMETER = 1000.0
_PARAMETERS = f"two parameters of a beta distribution, above 0 and at most {LARGEST_PARAMETER:.0f}"
_PROBABILITIES = "the probabilities of losing nothing and everything, at most 1 together"


def _of_acceptance(acceptance: Any) -> Above:
    if not isinstance(acceptance, (tuple, list)):
        return _above_known(_share("acceptance", acceptance))
    return _above_beta(*_pair("acceptance", acceptance, _PARAMETERS, _are_parameters))


def _are_parameters(numbers: tuple[float, ...]) -> bool:
    return 0 < min(numbers) <= max(numbers) <= LARGEST_PARAMETER


def _are_probabilities(numbers: tuple[float, ...]) -> bool:
    return min(numbers) >= 0 and sum(numbers) <= 1


def _of_loss(loss: Any) -> Above:
    if not isinstance(loss, (tuple, list)):
        return _above_known(_share("loss", loss))
    return _above_uniform(*_pair("loss", loss, _PROBABILITIES, _are_probabilities))


def _pair(name: str, value: Any, what: str, fits: Callable[[Any], bool]) -> tuple[float, ...]:
    numbers = tuple(plain_number(name, x) for x in value)
    if not (len(numbers) == 2 and fits(numbers)):
        raise ValueError(f"{name} must be a share, or {what}; got {value!r}")
    return numbers


def _share(name: str, value: Any) -> float:
    number = plain_number(name, value)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be a share, from 0 to 1; got {value!r}")
    return number


def _amount(name: str, value: Any) -> float:
    number = plain_number(name, value)
    if not 0 <= number < math.inf:
        raise ValueError(f"{name} must be finite and not negative; got {value!r}")
    return number


@measure(Measure, greater_is_better=True, by_positives=True, best_of_cuts=True, headline="profit")
def emp_churn(
    table: ops.TieTable,
    *,
    acceptance: float | tuple[float, float] = (6.0, 14.0),
    clv: float = 200.0,
    incentive: float = 10.0,
    contact: float = 1.0,
) -> MaximumProfit:
    """Expected maximum profit of a campaign against churn, EMPC, per customer.

    A selected churner costs the contact f, and with the probability γ takes the incentive d and
    stays, which is worth CLV - d; any other selected customer costs d + f.  The cut is the best one
    for γ, and the profit its expectation over γ.

    Takes labels, 1 for churners, and scores, or a `Ranking`; the other keywords are those of
    `rank`.

    Parameters
    ----------
    acceptance : (number, number) or number
        The distribution of γ: the two parameters of a beta distribution, above 0 and at most 1000;
        or γ itself, from 0 to 1, which gives the maximum profit, MPC.
    clv, incentive, contact : number
        What a customer who stays is worth, more than the incentive; what an incentive and a contact
        cost.  All in one unit of money.

    Returns
    -------
    MaximumProfit
        NaN where there are no examples.

    Raises
    ------
    TypeError, ValueError
        Values or shares of customers that are no such numbers.

    See Also
    --------
    emp_credit : with the distribution of losses of loans.
    h_measure : expected losses, with a distribution of the ratio of costs.
    best_quota : with the gain of each single customer.

    Notes
    -----
    For each γ the best cut is a vertex of the ROC hull.  It takes the edges that earn something, so
    the result is a sum over the edges: (CLV - d)·p·E[max(γ - x, 0)] for an edge of p churners and m
    others, with x = (f·p + (d + f)·m)/((CLV - d)·p).  In float64 the profit is within 1e-12 of
    CLV.  For a known γ an edge that earns nothing, up to a relative 2**-48, is left out.  The
    optimistic and the pessimistic policy give bounds.

    References
    ----------
    [Verbraken 2013]; ``empChurn`` of the R package EMP.

    Examples
    --------
    >>> from quotakernels.decisions import emp_churn
    >>> left, score = [0, 1, 0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.8, 0.9]
    >>> best = emp_churn(left, score)
    >>> print(best.profit.round(4), best.fraction.round(4))
    23.8756 0.8744
    >>> print(emp_churn(left, score, acceptance=0.3).profit.round(4))
    23.875
    """
    above = _of_acceptance(acceptance)
    worth, offer = _amount("clv", clv), _amount("incentive", incentive)
    call = _amount("contact", contact)
    if worth <= offer:
        raise ValueError(f"clv must be above the incentive; got {clv!r} and {incentive!r}")
    return _best_profit(table, above, worth - offer, call, offer + call)


@measure(Measure, greater_is_better=True, by_positives=True, best_of_cuts=True, headline="profit")
def emp_credit(
    table: ops.TieTable,
    *,
    loss: float | tuple[float, float] = (0.55, 0.1),
    roi: float = 0.2644,
) -> MaximumProfit:
    """Expected maximum profit of rejecting loans, EMP for credit scoring, per unit lent.

    A rejected loan that would default saves its loss λ, and another one forgoes the return ROI.
    The cut is the best one for λ, and the profit its expectation over λ.

    Takes labels, 1 for defaults, and scores, higher ones for worse risks, or a `Ranking`; the other
    keywords are those of `rank`.

    Parameters
    ----------
    loss : (number, number) or number
        The distribution of λ, the lost share of a loan in default: the probabilities that it is 0
        and 1, and else it is uniform between; or λ itself, which gives the maximum profit.
    roi : number
        The return on a loan that is repaid, as a share of it.

    Returns
    -------
    MaximumProfit
        The profit beside accepting all, as a share of the average loan; `fraction` is that of
        rejected loans.  NaN where there are no examples.

    Raises
    ------
    TypeError, ValueError
        Shares or returns that are no such numbers.

    See Also
    --------
    emp_churn : with the distribution of responses to a campaign.
    best_quota : with the gain of each single loan.

    Notes
    -----
    It is a sum over the edges of the ROC hull, as in `emp_churn`: p·E[max(λ - x, 0)] for an edge of
    p defaults and m others, with x = ROI·m/p.  With q₁ the probability of a whole loss and q that
    of one between, the expectation is (1 - x)·(q₁ + q·(1 - x)/2) for an x below 1.  Loans of
    different sizes are weights.  The optimistic and the pessimistic policy give bounds.

    References
    ----------
    [Verbraken 2014]; ``empCreditScoring`` of the R package EMP.

    Examples
    --------
    >>> from quotakernels.decisions import emp_credit
    >>> default, risk = [0, 1, 0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.8, 0.9]
    >>> best = emp_credit(default, risk)
    >>> print(best.profit.round(4), best.fraction.round(4))
    0.0975 0.3243
    """
    return _best_profit(table, _of_loss(loss), 1.0, 0.0, _amount("roi", roi))
