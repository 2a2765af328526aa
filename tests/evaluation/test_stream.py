"""Passes over batches: exact at quotas, bounds over all of them, whatever the cells are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from backends import in_full

import quotakernels as qk
from quotakernels.evaluation import batches
from quotakernels.evaluation.settings import Quota, Sample, Settings, UnfitError

N = 700
QUOTAS = (Quota(1), Quota(33), Quota(12.5, "percent"), Quota(N), Quota(100, "percent"))
RNG = np.random.default_rng(5)
NEAR = 1 + RNG.integers(0, 200, N) * 2.0**-30
SCORES = {
    "normal": RNG.normal(size=N),
    "single": RNG.normal(size=N).astype("f4"),
    "half": RNG.normal(size=N).astype("f2"),
    "near": NEAR,
    "tied": RNG.normal(size=N).round(1),
    "bytes": RNG.integers(-100, 100, N).astype("i1"),
    "ends": RNG.choice([-np.inf, np.inf, 0.0, -0.0, 5e-324, 1e308], N),
    "equal": np.full(N, 0.5),
}
LABELS = RNG.random(N) < 0.3


class Passes:
    """The rows in batches, and how often they were read."""

    def __init__(self, labels: Any = LABELS, weights: Any = None) -> None:
        self.labels, self.weights, self.number = labels, weights, 0

    def __call__(self) -> Iterator[Sample]:
        self.number += 1
        for part in np.array_split(np.arange(N), 7):
            scores = {k: x[part] for k, x in SCORES.items()}
            weights = None if self.weights is None else self.weights[part]
            yield Sample(self.labels[part], scores, weights)


@pytest.mark.parametrize("bits", [in_full(20), 6, in_full(4)])
def test_quotas_are_exact_and_bounds_hold(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    monkeypatch.setattr(batches, "_BITS", bits)
    passes = Passes()
    found = batches.evaluate_stream(Settings("", "y", tuple(SCORES), QUOTAS), passes)
    assert passes.number <= (3 if bits == 20 else 40)
    assert (found.rows, found.positives) == (N, LABELS.sum())
    for k, scores in enumerate(SCORES.values()):
        ranking = qk.rank(LABELS, scores)
        for quota in found.settings.quotas:
            cut = quota.argument(N)
            wanted = [f(ranking, **cut) for f in (qk.hit_rate, qk.qrecall, qk.lift)]
            assert found.at_quota[quota].array[k].tolist() == wanted
        for name, (lower, upper, _) in found.over_all.ends.items():
            assert lower[k] <= getattr(qk, name)(ranking) <= upper[k], name


@pytest.mark.parametrize("bits", [in_full(20), 6, in_full(4)])
def test_weights_count_as_in_memory(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    monkeypatch.setattr(batches, "_BITS", bits)
    weights = RNG.choice([0.0, 0.1, 3.0, 1e-9, 1e9], N)
    settings = Settings("", "y", tuple(SCORES), (Quota(2e9), Quota(12.5, "percent")), weight="w")
    found = batches.evaluate_stream(settings, Passes(weights=weights))
    assert (found.rows, found.positives) == (N, LABELS.sum()), "also those that weigh nothing"
    assert found.total == pytest.approx(weights.sum(), rel=1e-13)
    assert found.positive_total == pytest.approx(weights[LABELS].sum(), rel=1e-13)
    narrow = 0
    for k, scores in enumerate(SCORES.values()):
        ranking = qk.rank(LABELS, scores, sample_weight=weights)
        for quota in found.settings.quotas:
            cut = quota.argument(weights.sum())
            wanted = [f(ranking, **cut) for f in (qk.hit_rate, qk.qrecall, qk.lift)]
            np.testing.assert_allclose(found.at_quota[quota].array[k], wanted, rtol=1e-12)
        for name, ends in {**found.over_all.ends, **found.areas.ends}.items():
            lower, upper = (x[k] for x in ends[:2])
            exact = getattr(qk, name)(ranking)
            assert lower - 1e-12 <= exact <= upper + 1e-12, name
            narrow += bool(upper - lower < 0.2)
    assert narrow > 20


def test_rows_without_any_weight_are_undefined() -> None:
    settings = Settings("", "y", ("normal",), (Quota(5, "percent"),), weight="w")
    found = batches.evaluate_stream(settings, Passes(weights=np.zeros(N)))
    assert np.isnan(found.over_all.ends["roc_auc"][:2]).all()
    assert (found.rows, found.total) == (N, 0)
    with pytest.raises(UnfitError, match="the sum of the weights is too large for a number"):
        batches.evaluate_stream(settings, Passes(weights=np.full(N, 1e308)))


def test_ties_alone_leave_nothing_unknown() -> None:
    found = batches.evaluate_stream(Settings("", "y", ("half", "tied", "bytes")), Passes())
    lower, upper, _ = found.over_all.ends["roc_auc"]
    assert lower.tolist() == upper.tolist()
    assert lower[1] == qk.roc_auc(LABELS, SCORES["tied"])


@pytest.mark.parametrize("labels", [np.ones(N, bool), np.zeros(N, bool)])
def test_one_class_is_undefined(labels: Any) -> None:
    found = batches.evaluate_stream(Settings("", "y", ("near",), QUOTAS[:1]), Passes(labels))
    assert np.isnan(found.over_all.ends["roc_auc"][:2]).all()
    assert found.at_quota[found.settings.quotas[0]].of("hit_rate") == labels[0]


def test_rows_that_change_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "_BITS", 4)
    passes = Passes()
    for late in ("fewer", "others", "none"):

        def changing(late: str = late) -> Iterator[Sample]:
            for k, (labels, scores, *_) in enumerate(passes()):
                number = len(labels) if passes.number == 1 or late == "others" else k and 9
                shift = 9.5 if passes.number > 1 and late != "fewer" else 0.0
                found = {name: x[:number] + shift for name, x in scores.items()}
                yield Sample(labels[:number], found)

        passes.number = 0
        with pytest.raises(ValueError, match="changed between two passes"):
            batches.evaluate_stream(Settings("", "y", ("normal",), QUOTAS[:2]), changing)


@pytest.mark.parametrize("quotas", [(), QUOTAS[:1]])
def test_a_second_pass_narrows_the_bounds(quotas: tuple[Quota, ...]) -> None:
    passes = Passes()
    found = batches.evaluate_stream(Settings("", "y", ("near",), quotas), passes)
    lower, upper, _ = found.over_all.ends["roc_auc"]
    assert upper[0] - lower[0] < 1e-4
    assert passes.number >= 2
