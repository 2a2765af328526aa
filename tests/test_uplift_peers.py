"""Measures of uplift beside those of scikit-uplift, whose names they have in the documents."""

from __future__ import annotations

import numpy as np
import pytest
from backends import missing

import quotakernels as qk

lacking = missing("sklift")
pytestmark = [
    pytest.mark.skipif(bool(lacking), reason=lacking),
    pytest.mark.filterwarnings("ignore::FutureWarning"),  # scikit-uplift calls scikit-learn so
]


def arms(seed: int, levels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Responses, scores and arms of a campaign that helps those with high scores."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 300))
    score = rng.integers(1, levels + 1, n) / levels if levels < n else rng.permutation(n) / n
    treated = rng.integers(0, 2, n)
    return (rng.random(n) < 0.2 + 0.4 * treated * score).astype(int), score, treated


@pytest.mark.parametrize("levels", [9, 1000])
@pytest.mark.parametrize("seed", range(10))
def test_areas_and_curves(seed: int, levels: int):
    from sklift import metrics

    y, s, t = arms(seed, levels)
    perfect = {"treatment": t, "normalize": "perfect"}
    pairs = {
        "uplift": (
            metrics.uplift_auc_score(y, s, t),
            qk.uplift.auuc(y, s, curve="uplift", **perfect),
        ),
        "qini": (metrics.qini_auc_score(y, s, t), qk.uplift.auuc(y, s, curve="qini", **perfect)),
        "coefficient": (
            metrics.qini_auc_score(y, s, t),
            qk.uplift.qini_coefficient(y, s, treatment=t),
        ),
        "without negative effects": (
            metrics.qini_auc_score(y, s, t, negative_effect=False),
            qk.uplift.qini_coefficient(y, s, treatment=t, negative_effects=False),
        ),
    }
    for name, (theirs, ours) in pairs.items():
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-14), name
    for name in ("uplift_curve", "qini_curve"):
        quotas, heights = getattr(metrics, name)(y, s, t)
        curve = getattr(qk.uplift, name)(y, s, treatment=t)
        ours = np.interp(quotas, curve.quota, curve.value)
        np.testing.assert_allclose(ours, heights, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("seed", range(10))
def test_at_a_quota(seed: int):
    from sklift import metrics

    y, s, t = arms(seed, 1000)
    quota = int(0.3 * len(y))
    theirs = metrics.uplift_at_k(y, s, t, strategy="overall", k=quota)
    ours = qk.uplift.uplift_at_quota(y, s, treatment=t, quota=quota)
    assert ours == pytest.approx(theirs, rel=1e-12)
