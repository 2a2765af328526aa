"""How the AUC of models with the same examples vary together (DeLong)."""

from __future__ import annotations

from typing import Any, NamedTuple

from quotakernels import ops
from quotakernels._array import Array, computed, computing, namespace
from quotakernels._records import plainly
from quotakernels.inference._areas import AreaMeasure, refuse_weights, scale_of
from quotakernels.inference.delong.placements import lost_pairs, share, spread_of
from quotakernels.inputs.columns import as_column, read_without_fault
from quotakernels.inputs.examples import Validated, validate_columns
from quotakernels.inputs.keywords import public


@plainly
class AucCovariance(NamedTuple):
    """Areas of several models on the same examples, and their covariances.

    Attributes
    ----------
    estimate : array, shape (..., M)
        The area of each model.
    covariance : array, shape (..., M, M)
        Their estimated variances and covariances.
    """

    estimate: Array
    covariance: Array


@public
def auc_covariance(
    y_true: Any,
    y_score: Any,
    *,
    measure: AreaMeasure = "roc_auc",
    sample_weight: None = None,
    where: Any = None,
    pos_label: Any = None,
    validate: bool = True,
) -> AucCovariance:
    """Variances and covariances of the AUC of models with the same examples ([DeLong 1988]).

    The placement V of an example is the share of its pairs with the other class that are ranked
    correctly, ties counted half.  AUC is the mean of V over either class.  The covariance of two
    AUC is S⁺/P + S⁻/N, where S⁺ is the sample covariance (over P - 1) of the placements of the
    positives under the two models, and S⁻ that of the negatives.  Labels, scores and keywords are
    those of `rank`, except the following.

    Parameters
    ----------
    y_true : array, shape (n,) or that of `y_score`
        The same labels for all models.
    y_score : array, shape (..., M, n)
        Scores of M models.
    measure : {"roc_auc", "gini", "pem"}, or the measure itself
        AUC, or 2·AUC - 1, which is Gini and PEM, with 4 times the covariance.
    sample_weight : None
        Refused, because the variance assumes examples drawn one by one.
    where : boolean array, shape (n,) or that of `y_score`, optional
        An example that is masked for one model is left out for all.

    Returns
    -------
    AucCovariance
        The covariance is NaN where P < 2 or N < 2, the estimate where one class is absent.

    Raises
    ------
    ValueError
        Scores without an axis of models; labels that differ between models.

    See Also
    --------
    auc_interval : an interval for each of any number of models.
    delong_test : whether two models differ.

    Notes
    -----
    The scores of each model are sorted once, so the time is O(M·n·log n + M²·n).  The numbers of
    pairs that an example loses are whole, and their deviations from the mean are squared, so no
    digits are lost at n = 10⁷ or for a nearly perfect model.

    References
    ----------
    [DeLong 1988] section 3.

    Examples
    --------
    >>> from quotakernels.inference import auc_covariance
    >>> found = auc_covariance([1, 0, 1, 0, 1], [[5, 4, 3, 2, 1], [5, 1, 4, 3, 3]])
    >>> print(found.estimate)
    [0.5        0.91666667]
    >>> print(found.covariance.round(4))
    [[0.1111 0.0069]
     [0.0069 0.0139]]
    """
    scale = scale_of(measure)
    refuse_weights(sample_weight)
    given = {"y_score": y_score, "y_true": y_true, "sample_weight": None, "where": where}
    validated = validate_columns(given, pos_label, validate)
    scores = validated.examples.scores
    if scores.ndim < 2:
        raise ValueError(
            "y_score must have an axis of models before that of the examples; "
            f"got shape {tuple(scores.shape)}"
        )
    data = (scores, *_same_for_all(y_true, validated, validate))
    found: AucCovariance = computed(_covariance, data, scale=scale)
    return found


def _same_for_all(y_true: Any, validated: Validated, validate: bool) -> tuple[Array, Array, Array]:
    """Which examples are positive and which negative, for all models, and which models are good."""
    labels: Array = validated.examples.labels
    valid, good = validated.examples.valid, validated.good
    xp = namespace(labels)
    with computing(xp):
        everything = xp.ones_like(labels)
        good = everything[..., :1] if good is None else good
        valid = everything if valid is None else valid
        valid = xp.all(valid | ~good, axis=-2, keepdims=True)  # a bad model leaves nothing out
        wrong = (labels != labels[..., :1, :]) & valid
        expected = "the label that the example has for the first model"
        column = as_column("y_true", y_true)
        if not read_without_fault(xp, "y_true", column, wrong, expected, validate):
            good = good & ~xp.any(wrong, axis=-1, keepdims=True)
        positive = xp.broadcast_to(labels[..., :1, :] & valid, labels.shape)
        negative = xp.broadcast_to(~labels[..., :1, :] & valid, labels.shape)
        return positive, negative, good


def _covariance(
    scores: Array, positive: Array, negative: Array, good: Array, *, scale: int
) -> AucCovariance:
    xp = namespace(scores)
    lost = lost_pairs(xp, scores, positive, negative)
    found = spread_of(xp, lost, positive, negative, good)
    estimate = share(xp, found.lost, found.pairs, scale)
    estimate = ops.nan_unless(xp, good[..., 0], estimate)
    rows = [
        found.covariance(xp, *(x[..., m : m + 1, :] for x in found[2:]))
        for m in range(estimate.shape[-1])
    ]
    return AucCovariance(estimate, scale**2 * xp.stack(rows, axis=-2))
