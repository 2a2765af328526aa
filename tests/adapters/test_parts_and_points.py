"""Parts and points of the curves wherever a measure may stand, all by the same mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quotakernels as qk

RNG = np.random.default_rng(8)
Y = RNG.integers(0, 2, 80)
S = np.stack([RNG.normal(0.8 * Y), RNG.normal(size=80)]).astype(np.float16)
MEASURES = {
    "partial AUC": qk.roc_auc.with_options(max_fpr=0.3),
    "raw partial AUC": qk.roc_auc.with_options(min_tpr=0.4, standardized=False),
    "two-way partial AUC": qk.roc_auc.with_options(max_fpr=0.5, min_tpr=0.4, standardized=False),
    "partial AUC-PR": qk.pr_auc.with_options(min_recall=0.2, max_recall=0.7),
    "recall": qk.points.recall_at.with_options(precision=0.4),
    "precision": qk.points.precision_at.with_options(recall=0.6),
    "TPR": qk.points.tpr_at.with_options(fpr=0.3),
    "FPR": qk.points.fpr_at.with_options(tpr=0.7),
    "TPR between cuts": qk.points.tpr_at.with_options(fpr=0.3, interpolate=True),
    "KS": qk.points.kolmogorov_smirnov,
    "EER": qk.points.equal_error_rate,
    "break-even": qk.points.break_even_point,
}
DRAWN: dict[str, Any] = {"n_resamples": 40, "random_state": 1}
every = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


def value(found: Any) -> Any:
    """The number of a point, or itself."""
    return getattr(found, "value", found)


@pytest.mark.filterwarnings("ignore:the measure is undefined in")
@every
def test_intervals_and_comparisons(measure: Any) -> None:
    single = value(measure(Y, S[0]))
    found = value(qk.bootstrap(measure, Y, S[0], **DRAWN))
    assert found.estimate == pytest.approx(single, rel=1e-14)
    assert found.lower <= single <= found.upper
    test = qk.compare(measure, Y, S, confidence_level=0.9, **DRAWN)
    other = value(measure(Y, S[1]))
    np.testing.assert_allclose(sorted(test.estimate), sorted([single, other]))
    less = getattr(measure, "func", measure).greater_is_better is False
    assert test.names[0] == ("1" if (other > single) != less else "0")


@every
def test_scorers(measure: Any) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    from quotakernels.adapters.sklearn import scorer

    features = S.T.astype(float)
    model = linear.LogisticRegression().fit(features, Y)
    wanted = value(measure(Y, model.decision_function(features)))
    less = getattr(measure, "func", measure).greater_is_better is False
    assert scorer(measure)(model, features, Y) == pytest.approx(-wanted if less else wanted)
