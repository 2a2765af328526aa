"""Confidence intervals of AUC, PEM and Gini in closed form (DeLong)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack, overload

from quotakernels import ops
from quotakernels._array import Array, Namespace, namespace
from quotakernels._records import plainly
from quotakernels._types import A, ArrayOf, Generic, GroupedData, T
from quotakernels.inference import _student as student
from quotakernels.inference._areas import AreaMeasure, refuse_masses, scale_of
from quotakernels.inference._normal import check_level, quantile
from quotakernels.inference.delong.placements import Area, area_of, share
from quotakernels.inputs.keywords import brief
from quotakernels.measures._measure import Measure, measure
from quotakernels.ranking import Ranking


@plainly
class AucInterval(NamedTuple, Generic[T]):
    """An area with its confidence interval; all of one shape.

    Attributes
    ----------
    estimate : array
        The area.
    lower, upper : array
        The ends of the interval.
    standard_error : array
        The root of the estimated variance.
    """

    estimate: T
    lower: T
    upper: T
    standard_error: T


class _AucIntervalMeasure(Measure):
    if TYPE_CHECKING:

        @overload
        def __call__(
            self,
            ranking: Ranking[T],
            *,
            measure: AreaMeasure = "roc_auc",
            confidence_level: float = 0.95,
            method: Literal["logit", "wald"] = "logit",
        ) -> AucInterval[T]: ...
        @overload
        def __call__(
            self,
            y_true: ArrayOf[A],
            y_score: ArrayOf[A],
            *,
            measure: AreaMeasure = "roc_auc",
            confidence_level: float = 0.95,
            method: Literal["logit", "wald"] = "logit",
            **data: Unpack[GroupedData[A]],
        ) -> AucInterval[A]: ...
        def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...


@measure(_AucIntervalMeasure, greater_is_better=None, by_group=True)
def auc_interval(
    table: ops.Groups,
    *,
    measure: AreaMeasure = "roc_auc",
    confidence_level: float = 0.95,
    method: Literal["logit", "wald"] = "logit",
) -> AucInterval:
    """Confidence interval of AUC, or of PEM and Gini, from DeLong's variance.

    With the standard error s of an AUC of A and the quantile z of the normal distribution, the Wald
    interval is A ± z·s.  The logit interval is made for ln(A/(1 - A)), whose standard error is
    s/(A(1 - A)), by Student's t with min(P, N) - 1 degrees of freedom, and transformed back.  It
    stays between 0 and 1, and covers better where A is near 1 or a class is small.

    Takes labels and scores, or a `Ranking`; the other keywords are those of `rank`.

    Parameters
    ----------
    sample_weight : None
        Refused, like a ranking with weights, because the variance assumes examples drawn one by
        one.
    measure : {"roc_auc", "gini", "pem"}, or the measure itself
        AUC, or 2·AUC - 1, which is Gini and PEM, with its bounds.
    confidence_level : float
        Above 0 and below 1.
    method : {"logit", "wald"}
        Which interval; Wald's is cut off at 0 and 1.

    Returns
    -------
    AucInterval
        Arrays of shape (...), with `groups` (..., S).  The bounds and the standard error are NaN
        where P < 2 or N < 2.

    See Also
    --------
    auc_covariance : how AUC of several models vary together.
    delong_test : whether two models differ.

    Notes
    -----
    The variance S⁺/P + S⁻/N (see `auc_covariance`) is 0 if all pairs are won (ranked correctly),
    all are lost, or all are tied.  AUC is still uncertain, so both methods then give an exact
    bound.  It comes from m = min(P, N) pairs that share no example and so are independent.  If all
    m have the same outcome, this outcome has a probability of at least t = (α/2)^(1/m), where α = 1
    - confidence_level; otherwise the data would be too unlikely.  So AUC is at least t if all pairs
    are won, at most 1 - t if all are lost, and from t/2 to 1 - t/2 if all are tied.

    References
    ----------
    [DeLong 1988] section 3.

    Examples
    --------
    >>> from quotakernels.inference import auc_interval
    >>> y_true, y_score = [1, 0, 1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.8, 0.6, 0.5, 0.4, 0.3, 0.1]
    >>> found = auc_interval(y_true, y_score)
    >>> print(found.estimate, found.lower.round(4), found.upper.round(4))
    0.78125 0.1071 0.9907
    >>> perfect = auc_interval([1, 1, 1, 0, 0, 0], [6, 5, 4, 3, 2, 1])
    >>> print(perfect.standard_error, perfect.lower.round(4), perfect.upper)
    0.0 0.2924 1.0
    """
    scale = scale_of(measure)
    check_level(confidence_level)
    if method not in ("logit", "wald"):
        raise ValueError(f'method must be "logit" or "wald"; got {brief(method)}')
    refuse_masses(table, "the ranking")
    xp = namespace(table.counts)
    area = area_of(xp, table)
    won, error = share(xp, area.lost, area.pairs, 1), xp.sqrt(area.variance)
    lost = area.lost / (2 * area.pairs)
    if method == "wald":
        half = quantile(confidence_level) * error
        lower, upper = ops.clip(xp, won - half, 0.0), ops.clip(xp, won + half, None, 1.0)
    else:
        fewer = xp.minimum(area.positive, area.negative)
        half = student.quantiles(xp, confidence_level, fewer - 1) * error
        odds = xp.exp(-half / (won * lost))  # not its inverse, which may be infinite
        lower, upper = won * odds / (won * odds + lost), won / (won + lost * odds)
    certain = area.variance == 0
    alike = _likely(xp, area, confidence_level)
    lower = xp.where(certain, alike * won, lower)
    upper = xp.where(certain, 1 - alike * lost, upper)
    ends = [x if scale == 1 else 2 * x - 1 for x in (lower, upper)]
    return AucInterval(share(xp, area.lost, area.pairs, scale), ends[0], ends[1], scale * error)


def _likely(xp: Namespace, area: Area, confidence_level: float) -> Array:
    """The least probability of an outcome that independent pairs are all likely to have."""
    pairs = xp.minimum(area.positive, area.negative)
    return xp.exp(math.log((1 - confidence_level) / 2) / pairs)
