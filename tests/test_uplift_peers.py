"""Measures of uplift beside those of scikit-uplift, whose names they have in the documents, and
beside the definitions of causalml.
"""

from __future__ import annotations

import csv
from importlib import metadata

import numpy as np
import pytest
from backends import missing

import quotakernels as qk

lacking = missing("sklift")
with_peer = pytest.mark.skipif(bool(lacking), reason=lacking)
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # it calls scikit-learn so


def arms(seed: int, levels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Responses, scores and arms of a campaign that helps those with high scores."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 300))
    score = rng.integers(1, levels + 1, n) / levels if levels < n else rng.permutation(n) / n
    treated = rng.integers(0, 2, n)
    return (rng.random(n) < 0.2 + 0.4 * treated * score).astype(int), score, treated


@with_peer
@pytest.mark.parametrize("levels", [9, 1000])
@pytest.mark.parametrize("seed", range(10))
def test_areas_and_curves(seed: int, levels: int):
    y, s, t = arms(seed, levels)
    are_those_of_the_peer(y, s, t)


def are_those_of_the_peer(y: np.ndarray, s: np.ndarray, t: np.ndarray) -> None:
    from sklift import metrics

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


@with_peer
@pytest.mark.skipif(bool(missing("lifelines")), reason=missing("lifelines") or "")
def test_a_randomised_experiment():
    """Financial aid for half of 432 released convicts: who was not arrested again within a year."""
    files = metadata.files("lifelines") or []
    path = next(x for x in files if x.name == "rossi.csv").locate()
    with open(str(path), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    arrested, aid, convictions = (
        np.asarray([int(row[name]) for row in rows]) for name in ("arrest", "fin", "prio")
    )
    free = 1 - arrested
    effect = qk.uplift.uplift_at_quota(free, convictions, treatment=aid, quota=432)
    assert effect == pytest.approx(66 / 216 - 48 / 216, rel=1e-12)
    are_those_of_the_peer(free, convictions, aid)


@with_peer
@pytest.mark.parametrize("seed", range(10))
def test_at_a_quota(seed: int):
    from sklift import metrics

    y, s, t = arms(seed, 1000)
    quota = int(0.3 * len(y))
    theirs = metrics.uplift_at_k(y, s, t, strategy="overall", k=quota)
    ours = qk.uplift.uplift_at_quota(y, s, treatment=t, quota=quota)
    assert ours == pytest.approx(theirs, rel=1e-12)


def as_causalml(y: np.ndarray, s: np.ndarray, t: np.ndarray, curve: str) -> tuple[np.ndarray, int]:
    """The curve at 0, 1, …, n positions, and the first one at which both arms are there; by its
    definition, read in 0.17, not run.

    Up to there the line from 0 stands for it, of gains for the difference of the rates.
    """
    order = np.argsort(-s, kind="stable")
    y, t, places = y[order], t[order], np.arange(1, len(y) + 1)
    treated, treated_positive = np.cumsum(t), np.cumsum(t * y)
    control, control_positive = places - treated, np.cumsum((1 - t) * y)
    first = int(np.argmax((treated > 0) & (control > 0)))
    there = np.arange(first, len(y))
    if curve == "qini":
        heights = treated_positive - control_positive * treated / np.maximum(control, 1)
    else:
        rates = treated_positive / np.maximum(treated, 1), control_positive / np.maximum(control, 1)
        heights = rates[0] - rates[1]
    known = np.concatenate([[0], there + 1]), np.concatenate([[0], heights[there]])
    found = np.interp(np.arange(len(y) + 1), *known)
    return (found if curve == "qini" else found * np.arange(len(y) + 1)), first + 1


@pytest.mark.parametrize("seed", range(10))
def test_definitions_of_causalml(seed: int):
    """The same from the first cut at which both arms are there; a mean over 0, 1, …, n, not the
    area; and chance is the straight line.
    """
    y, s, t = arms(seed, 1000)
    n, ranking = len(y), qk.rank(y, s, treatment=t)
    for name, curve in (("uplift", qk.uplift.uplift_curve), ("qini", qk.uplift.qini_curve)):
        theirs, first = as_causalml(y, s, t, name)
        ours = curve(ranking).value
        np.testing.assert_allclose(ours[first:], theirs[first:], rtol=1e-12, atol=1e-12)
        score = np.mean(theirs) / abs(theirs[-1])
        before = (ours - theirs)[:first].sum() / abs(theirs[-1])
        total = qk.uplift.auuc(ranking, curve=name, normalize="total")
        end = np.sign(theirs[-1])
        assert n * total + end / 2 == pytest.approx((n + 1) * score + before, rel=1e-12)
        if name == "qini":
            chance = np.mean(np.linspace(0, theirs[-1], n + 1)) / abs(theirs[-1])
            assert chance == pytest.approx(end / 2, rel=1e-12)
