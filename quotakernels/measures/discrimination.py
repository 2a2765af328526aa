"""Discrimination over all pairs: ROC AUC, the Gini coefficient, PEM."""

from __future__ import annotations

from operator import attrgetter
from typing import NamedTuple

from quotakernels import ops
from quotakernels._array import Array, Namespace, namespace
from quotakernels.measures._measure import by_positives, measure, monotone, sums
from quotakernels.measures._reduction import Reduction, Totals, reduced, totals

__all__ = ["gini", "pairs_won", "pem", "roc_auc"]


class Won(NamedTuple):
    """Share of the pairs won, ties counted half; and pairs won less pairs lost, over all."""

    share: Array
    surplus: Array


def pairs_won(_xp: Namespace, _table: ops.Groups, total: Totals) -> Reduction:
    """AUC is the share of the pairs of a positive and a negative that are won, Gini the surplus."""

    def won_twice(found: Array, here: Array, below: Array) -> tuple[Array]:
        return (below * (2 * found + here),)

    def value(won: Array) -> Won:
        pairs = total.positive * total.negative
        return Won(won / (2 * pairs), (won - pairs) / pairs)

    return Reduction(("positive_before", "positive", "negative"), won_twice, value)


def _won(table: ops.Groups) -> Won:
    xp = namespace(table.counts)
    return reduced(xp, table, pairs_won(xp, table, totals(xp, table)))[0]  # type: ignore[no-any-return]


@sums(pairs_won, attrgetter("share"))
@by_positives
@monotone("always")
@measure(greater_is_better=True)
def roc_auc(table: ops.Groups) -> Array:
    """Area under the ROC curve: the share of pairs ranked rightly, ties counted half.

    A pair is a positive and a negative; it is ranked rightly if the positive has the higher
    score.

    Parameters
    ----------
    y_true, y_score : arrays, shape (..., n)
        Labels 0 and 1, and scores, as in `rank`; or one `Ranking` in place of both.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`; refused beside a `Ranking`, which was made with them.

    Returns
    -------
    array, shape (...)
        In the library and on the device of the input, in the widest real float there (float64;
        float32 under JAX without x64, on TPU and on MPS).
        From 0 to 1; NaN where one class is absent.

    Raises
    ------
    TypeError, ValueError
        As in `rank`.

    Notes
    -----
    Numerator and denominator are whole numbers, exact as long as 2PN < 2**53 (n up to 1.3e8);
    beyond that the result is within a few ulp.  With weights a pair counts the product of its
    weights.  The optimistic and the pessimistic policy give bounds.

    References
    ----------
    Hanley & McNeil (1982), "The Meaning and Use of the Area under a Receiver Operating
    Characteristic (ROC) Curve", Radiology 143.

    Examples
    --------
    >>> from quotakernels import roc_auc
    >>> print(roc_auc([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]))
    0.75
    >>> print(roc_auc([1, 1], [0.9, 0.8]))
    nan
    """
    return _won(table).share


@sums(pairs_won, attrgetter("surplus"))
@by_positives
@monotone("always", signed=True)
@measure(greater_is_better=True)
def gini(table: ops.Groups) -> Array:
    """Gini coefficient, 2·AUC - 1.

    Parameters
    ----------
    y_true, y_score : arrays, shape (..., n)
        Labels 0 and 1, and scores, as in `rank`; or one `Ranking` in place of both.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`; refused beside a `Ranking`, which was made with them.

    Returns
    -------
    array, shape (...)
        In the library and on the device of the input, in the widest real float there (float64;
        float32 under JAX without x64, on TPU and on MPS).
        From -1 to 1; NaN where one class is absent.

    Raises
    ------
    TypeError, ValueError
        As in `rank`.

    See Also
    --------
    pem : always the same number.
    roc_auc : the area, and what holds for weights and ties.

    References
    ----------
    PW: Powers, "Visualization of Tradeoff in Evaluation: from Precision-Recall & PN to LIFT,
    ROC & BIRD".

    Examples
    --------
    >>> from quotakernels import gini
    >>> print(gini([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]))
    0.5
    """
    return _won(table).surplus


@sums(pairs_won, attrgetter("surplus"))
@by_positives
@monotone("always", signed=True)
@measure(greater_is_better=True)
def pem(table: ops.Groups) -> Array:
    """PEM, the performance relative to chance and optimum over all quotas (AR eq. 14-15).

    PEM = (S1 - S2) / S3 = (Σ Q(j) - (n + 1)/2) / (N/2), summed over j = 1..n.

    Parameters
    ----------
    y_true, y_score : arrays, shape (..., n)
        Labels 0 and 1, and scores, as in `rank`; or one `Ranking` in place of both.
    sample_weight, where, pos_label, ties, validate : optional
        As in `rank`; refused beside a `Ranking`, which was made with them.

    Returns
    -------
    array, shape (...)
        In the library and on the device of the input, in the widest real float there (float64;
        float32 under JAX without x64, on TPU and on MPS).
        From -1 (worst) over 0 (chance) to 1 (optimum); NaN where one class is absent.

    Raises
    ------
    TypeError, ValueError
        As in `rank`.

    See Also
    --------
    pem_areas : S1, S2 and S3.

    Notes
    -----
    Since Σ Q(j) = (P + 1)/2 + N·AUC, PEM equals 2·AUC - 1, the Gini coefficient, for every
    ranking, with ties, and for either class.  It is computed as such, and with weights it is
    defined as such.  The optimistic and the pessimistic policy give bounds.

    References
    ----------
    AR eq. 14-15: Arbel & Rokach, "Classifier Evaluation under Limited Resources".

    Examples
    --------
    >>> from quotakernels import pem
    >>> print(pem([1, 0, 1, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.1]))
    0.5
    >>> print(pem([0, 1], [0.9, 0.1]))
    -1.0
    """
    return _won(table).surplus
