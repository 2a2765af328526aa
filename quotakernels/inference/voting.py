"""Many models by several measures: the mean scores of the best, and measures that agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from quotakernels._array import Array, device
from quotakernels._records import plainly
from quotakernels.inference._call import call_of, from_one
from quotakernels.inference.comparing import (
    NDArray,
    estimates_of,
    rounding_of,
    validated_models_of,
)
from quotakernels.inputs.columns import adopt, as_column
from quotakernels.inputs.keywords import forwarding, show_value
from quotakernels.inputs.models import label_of, named_scores
from quotakernels.measures._facts import compared
from quotakernels.measures.by_group import mean_over_groups
from quotakernels.measures.tables.best_cut import SAME_VALUE
from quotakernels.ops import namespace
from quotakernels.ranking import rank

# selective voting: the mean score of the best of several models, and how many these should be


@plainly
class Vote(NamedTuple):
    """Models in order of a measure, and the measure of the mean scores of the best.

    Attributes
    ----------
    names : tuple of str
        The models, best first; those with NaN last.
    single : float array, shape (M,)
        The measure of each model.
    votes : float array, shape (M,)
        The measure of the mean score of the best X, X = 1 … M.
    voters : int
        How many models vote: the given number, or else the smallest X with the best measure.
    """

    names: tuple[str, ...]
    single: NDArray
    votes: NDArray
    voters: int

    def mean(self, models: Any, voters: int | None = None) -> Any:
        """The mean score of the best X models for other examples, shape (n,).

        Parameters
        ----------
        models : mapping, data frame or array
            The scores of the same models, as `vote` takes them.
        voters : int, optional
            How many vote, instead of `Vote.voters`.
        """
        number = _checked(voters, len(self.names)) or self.voters
        return self.means(models)[number - 1, ...]

    def means(self, models: Any) -> Any:
        """The mean scores of the best X models, X = 1 … M, shape (M, n).

        Parameters
        ----------
        models : mapping, data frame or array
            The scores of the same models, as `vote` takes them.
        """
        named = named_scores(models, None)
        if missing := sorted(set(self.names) - named.keys()):
            raise ValueError(
                f"models must hold those that were ranked; it lacks {show_value(missing[0])}"
            )
        labels = [label_of(models, name) for name in self.names]
        given = {x: as_column(x, named[name]) for x, name in zip(labels, self.names, strict=True)}
        for label, x in given.items():
            if x.ndim != 1 or x.shape != given[labels[0]].shape:
                raise ValueError(
                    f"{label} must be a list of as many scores as {labels[0]} has; "
                    f"got shape {tuple(x.shape)}"
                )
        _, columns = adopt(given, tuple(given))
        return _running_means([columns[x] for x in labels])


@forwarding(rank)
def vote(
    measure: Any,
    y_true: Any,
    models: Any,
    *,
    voters: int | None = None,
    greater_is_better: bool | None = None,
    **options: Any,
) -> Vote:
    """Rank models by a measure, and average the scores of the best X ([AR] section 4.2.1).

    Rank the models, and choose X, on examples that none of them has seen.  `Vote.mean` then gives
    the mean score of the same models for any other examples.

    Parameters
    ----------
    measure : callable
        A function of a `Ranking` that gives one number for each model: a measure of this library,
        ``functools.partial`` of one, or your own.
    y_true : array, shape (n,)
        Labels 0 and 1, or any two with `pos_label`.
    models : mapping from names to arrays, data frame, or array, shape (M, n)
        The scores of each model, on one scale, such as probabilities.  The models of an array, or
        of a list of arrays, are called "0", "1", ….
    voters : int, optional
        X, how many models vote; by default the number for which `measure` is best.
    greater_is_better : bool, optional
        Whether the largest value is the best.  By default as the measure says.
    sample_weight, where, pos_label, ties, validate, gain, gain_rejected, cost, treatment : optional
        Keywords of `rank`, arrays of shape (n,) for all models.
    groups, num_groups : array and int, optional
        The group of each example, and how many groups there are, for `group_mean`.
    **options
        The measure's own arguments, such as ``quota=100``.

    Returns
    -------
    Vote
        On the host.  Of equally good models the first, in the given order, counts as better.  NaN
        where the measure is undefined; if it is undefined for all models, one model votes.

    Raises
    ------
    TypeError, ValueError
        Models or a measure that `compare` refuses; `voters` that is no whole number from 1 to M.

    See Also
    --------
    compare : whether models differ by more than chance.

    Notes
    -----
    Values of the measure count as equal if they differ by no more than 2**-49 of the best one, or
    of 1 if that is more.  On the examples that chose X, the measure of the best X is too good.

    References
    ----------
    [AR] section 4.2.1.

    Examples
    --------
    >>> from quotakernels import pem
    >>> from quotakernels.inference import vote
    >>> labels = [1, 1, 0, 1, 0, 0]
    >>> models = {
    ...     "noise": [0.25, 0.5, 0.375, 0.125, 0.875, 0.375],
    ...     "first": [0.875, 0.25, 0.5, 0.75, 0.125, 0.0],
    ...     "second": [0.75, 0.875, 0.5, 0.375, 0.375, 0.25],
    ... }
    >>> found = vote(pem, labels, models)
    >>> print(found.names, found.votes.round(2), found.voters)
    ('first', 'second', 'noise') [0.78 1.   0.56] 2
    >>> print(found.mean({"noise": [0.0, 0.0], "first": [0.5, 0.25], "second": [1.0, 0.75]}))
    [0.75 0.5 ]
    """
    call = call_of(measure, y_true, options)
    call = call._replace(measure=compared(call.measure))
    named = named_scores(models, y_true)
    wanted = _checked(voters, len(named))
    found = validated_models_of(call, {label_of(models, name): x for name, x in named.items()})
    single, sign = estimates_of(call, found, greater_is_better)
    order = np.argsort(-sign * single, kind="stable")  # NaN last
    means = _running_means([found.examples.scores[k, ...] for k in order.tolist()])
    together = {str(k): means[k, ...] for k in range(len(named))}
    votes, _ = estimates_of(call, validated_models_of(call, together), greater_is_better)
    names = tuple([*named][k] for k in order)
    return Vote(names, single[order], votes, wanted or _first_best(sign * votes))


def _checked(voters: Any, number: int) -> int | None:
    """The checked number of models that vote; None if it is not given."""
    wanted = None if voters is None else from_one("voters", voters)
    if wanted is not None and wanted > number:
        raise ValueError(f"voters must be at most {number}, the number of models; got {wanted}")
    return wanted


def _first_best(worth: NDArray) -> int:
    """The smallest X of the best; 1 if none is defined."""
    if np.isnan(worth).all():
        return 1
    top = np.nanmax(worth)
    narrower = float(np.finfo(worth.dtype).eps) * 2**52
    rounding = min(SAME_VALUE * narrower, 2.0**-20) * max(1.0, abs(float(top)))
    return 1 + int(np.argmax((worth == top) | (top - worth <= rounding)))


def _running_means(scores: Sequence[Array]) -> Array:
    """The mean scores of the first X models, X = 1, 2, …, as the widest floats."""
    xp = namespace(scores[0])
    dtype = xp.result_float(device(scores[0]))
    with xp.computing():
        total = xp.widened(scores[0])
        means = [total]
        for number, x in enumerate(scores[1:], 2):
            total = total + xp.widened(x)
            means.append(total / number)
        stacked: Array = xp.finished(xp.stack(means), dtype)
        return stacked


# which measures agree


@plainly
class MeasureCorrelations(NamedTuple):
    """How several measures of the same models agree.

    Attributes
    ----------
    names : tuple of str
        The K measures, in the order in which they were given.
    values : float array, shape (K, M)
        Each measure of each model.
    correlation : float array, shape (K, K)
        Pearson's correlation of their values over the models.
    """

    names: tuple[str, ...]
    values: NDArray
    correlation: NDArray


@forwarding(rank)
def measure_correlations(
    measures: Mapping[str, Any], y_true: Any, models: Any, **rank_options: Any
) -> MeasureCorrelations:
    """Pearson's correlation of measures over models: which say the same of them ([AR] Table 7).

    Parameters
    ----------
    measures : mapping from names to callables
        Functions of a `Ranking` that give one number for each model, as `compare` takes them.
    y_true : array, shape (n,)
        Labels 0 and 1, or any two with `pos_label`.
    models : mapping from names to arrays, data frame, or array, shape (M, n)
        The scores of each model; at least two.
    sample_weight, where, pos_label, ties, validate, gain, gain_rejected, cost, treatment : optional
        Keywords of `rank`, arrays of shape (n,) for all models.
    groups, num_groups : array and int, optional
        The group of each example, and how many groups there are, for `group_mean`.

    Returns
    -------
    MeasureCorrelations
        On the host.  The correlations of a measure are NaN if it is the same for all models, but
        for rounding, or is undefined or infinite for one of them.

    Raises
    ------
    TypeError, ValueError
        Models or a measure that `compare` refuses; measures that are no mapping.

    See Also
    --------
    vote : the mean scores of the best models by one measure.

    Notes
    -----
    A measure of which less is better, such as `expected_cost`, correlates negatively with one of
    which more is better.

    References
    ----------
    [AR] section 4.2.2, Table 7.

    Examples
    --------
    >>> import quotakernels as qk
    >>> from quotakernels.inference import measure_correlations
    >>> labels = [1, 1, 0, 1, 0, 0]
    >>> models = [[6, 5, 4, 3, 2, 1], [5, 6, 4, 1, 3, 2], [1, 2, 6, 3, 4, 5], [6, 2, 3, 1, 4, 5]]
    >>> measures = {"AUC": qk.roc_auc, "first three": qk.hit_rate.with_options(quota=3)}
    >>> found = measure_correlations(measures, labels, models)
    >>> print(found.names, found.correlation.round(2).tolist())
    ('AUC', 'first three') [[1.0, 0.97], [0.97, 1.0]]
    """
    if not isinstance(measures, Mapping) or not measures:
        what = show_value(measures)
        raise TypeError(f"measures must be a mapping from names to measures; got {what}")
    call = call_of(measures, y_true, rank_options)
    named = {label_of(models, name): x for name, x in named_scores(models, y_true).items()}
    found = validated_models_of(call, named)
    each = [call._replace(measure=compared(mean_over_groups(x) or x)) for x in measures.values()]
    values = [estimates_of(x, found, greater_is_better=True)[0].astype(float) for x in each]
    return MeasureCorrelations(tuple(measures), np.stack(values), _correlations(values))


def _correlations(values: Sequence[NDArray]) -> NDArray:
    """Pearson's correlations of some lists of numbers; NaN of those that vary by rounding only."""
    with np.errstate(invalid="ignore", divide="ignore"):
        varies = [[np.ptp(x) > rounding_of(x)] for x in values]
        away = np.stack([x - np.mean(x) for x in values])
        away = np.where(varies, away / np.linalg.norm(away, axis=1, keepdims=True), np.nan)
        return np.clip(away @ away.T, -1, 1)
