"""Two selections at one quota: is one of them right more often where they differ?"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

from quotakernels._array import Array, cast, computing, namespace
from quotakernels.inference._mcnemar import chi_square, exact, paired_interval
from quotakernels.inference._scores import host_floats, stacked
from quotakernels.inference._z_values import check_level
from quotakernels.measures.selection import select
from quotakernels.validation import admit

__all__ = ["SelectionComparison", "compare_selections"]


class SelectionComparison(NamedTuple):
    """What two selections of equal size differ in; plain numbers.

    Attributes
    ----------
    difference : float
        The first hit rate less the second.
    lower, upper : float
        Ends of its confidence interval.
    p_value : float
        Of the two-sided test that neither selection hits more often.
    discordant : float
        How many examples only the first selects; the second alone selects as many.
    positives_a, positives_b : float
        How many of these are positive, for the first selection and for the second.
    """

    difference: float
    lower: float
    upper: float
    p_value: float
    discordant: float
    positives_a: float
    positives_b: float


def compare_selections(
    y_true: Any,
    a: Any,
    b: Any,
    *,
    quota: Any = None,
    fraction: Any = None,
    method: Literal["exact", "mid-p"] = "exact",
    confidence_level: float = 0.95,
    where: Any = None,
    pos_label: Any = None,
    validate: bool = True,
) -> SelectionComparison:
    """Whether one of two models fills a quota j better: a test of McNemar's kind.

    Examples that both models select say nothing about which is better, and those that neither
    selects.  Of the others, let B be the positives that only `a` selects, and C those that only `b`
    does: the hit rates differ by (B - C)/j.  If neither model is better a positive is as likely to
    be one of the B as of the C, and B of B + C is binomial with probability ½.

    Parameters
    ----------
    y_true : array, shape (n,)
        Labels, as in `rank`.
    a, b : arrays, shape (n,)
        Scores of the two models, as in `rank`.
    quota, fraction : number
        The size of the selections, as in `select`; one of the two.
    method : {"exact", "mid-p"}
        The binomial test, which is wrong at most as often as it says; or the same with half the
        probability of the numbers at hand, which is wrong about as often as it says.
    confidence_level : float
        Of the interval; above 0 and below 1.
    where, pos_label, validate : optional
        As in `rank`.

    Returns
    -------
    SelectionComparison
        Python's floats.  NaN for the quota 0, for no examples, and where a bad value could not be
        read; but the p-value is 1 if no positive is selected by one model alone.

    Raises
    ------
    TypeError
        Scores without values, in a trace; both or none of `quota` and `fraction`; as in `rank`.
    ValueError
        More than one quota, or one that is out of range; another `method`; as in `rank`.

    See Also
    --------
    compare : more than two models, other measures, weights.
    select : who is selected.

    Notes
    -----
    Where a quota ends in a tie group an example is selected with a probability, s.  It is then
    selected by `a` alone with max(s_a - s_b, 0): as far as possible both select the same.  The
    difference stays that of the expected hit rates.  If such numbers are not whole for some example
    the test is McNemar's χ² with the fractional B and C, in place of the exact test with Edwards'
    correction for continuity, (max(|B - C| - 1, 0))²/(B + C), and in place of mid-p without.

    The interval is Bonett and Price's: with b = (B + 1)/(n + 2) and c = (C + 1)/(n + 2), the ends
    (n/j)·(b - c ± z·√((b + c - (b - c)²)/(n + 2))), at most 1 from 0.  For small numbers it may
    include 0 where p is small, and the other way round.

    The test takes the number of positives that one model selects alone as it is.  As both select
    equally many, it is careful where most of what only one selects is positive.

    References
    ----------
    McNemar, "Note on the sampling error of the difference between correlated proportions or
    percentages", Psychometrika 12 (1947).
    Bonett & Price, "Adjusted Wald confidence interval for a difference of binomial proportions
    based on paired data", Journal of Educational and Behavioral Statistics 37 (2012).

    Examples
    --------
    >>> from quotakernels import compare_selections
    >>> y_true = [1, 1, 1, 0, 1, 0, 0, 0, 0, 1]
    >>> a = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    >>> b = [1, 2, 3, 9, 8, 7, 6, 0, 4, 5]
    >>> found = compare_selections(y_true, a, b, quota=4)
    >>> print(found.difference, found.positives_a, found.positives_b, found.p_value)
    0.5 3.0 1.0 0.625
    """
    if method not in ("exact", "mid-p"):
        raise ValueError(f'method must be "exact" or "mid-p"; got {method!r}')
    check_level(confidence_level)
    scores = stacked({"a": a, "b": b}, y_true, None, where, pos_label, validate)
    labels, valid = admit(y_true, scores, None, where, pos_label, validate)[1::2]
    chosen = select(scores, quota=quota, fraction=fraction, where=where, validate=validate)
    *numbers, examples, selected, whole = _counts(chosen, labels, valid)
    first, second = numbers[1:]
    if not (examples > 0 and selected > 0):
        return SelectionComparison(*[math.nan] * 7)
    if whole:
        p_value = exact(round(first), round(second), method == "mid-p")
    else:
        p_value = chi_square(first, second, method == "exact")
    interval = paired_interval(first, second, examples, selected, confidence_level)
    return SelectionComparison((first - second) / selected, *interval, p_value, *numbers)


def _counts(chosen: Array, labels: Array, valid: Array | None) -> list[float]:
    """Examples and positives that only the first selects, positives that only the second selects,
    all examples, all that one selects, and whether each example is selected by one alone or not.
    """
    xp = namespace(chosen)
    with computing(xp):
        more = chosen[0, ...] - chosen[1, ...]
        zero = xp.zeros_like(more)
        only = [xp.maximum(x, zero) for x in (more, -more)]
        positive = [xp.where(labels[0, ...], x, zero) for x in only]
        there = xp.ones_like(labels[0, ...]) if valid is None else valid[0, ...] & valid[1, ...]
        whole = xp.all((more == 0) | (xp.abs(more) == 1))
        sums = [only[0], *positive, cast(xp, there, more.dtype), chosen[0, ...]]
        numbers = [*(xp.sum(x) for x in sums), cast(xp, whole, more.dtype)]
        return [float(x) for x in host_floats(xp.stack(numbers))]
