"""Decisions at a threshold probability: net benefit, and decision curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace
from quotakernels._records import plainly
from quotakernels._types import Generic, T
from quotakernels.inputs.numbers import Domains, checked, numbers_like
from quotakernels.measures._measure import Measure, measure
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
        A threshold probability, or a prevalence, that is out of range; NaN instead where values
        cannot be read.

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
