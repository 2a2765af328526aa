"""One quota of raw scores: found without sorting them, and equal to that of a ranking."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from backends import QUICK, Mode, of_fast_forms, parameters

import quotakernels as qk

LOCAL = (qk.hit_rate, qk.qrecall, qk.f_score)
RNG = np.random.default_rng(7)
LABELS = RNG.random((2, 9)) < 0.5
SCORES = RNG.integers(-3, 3, (2, 9)).astype(np.float32) / 2
MASK = np.array([[True] * 9, [True, False] * 4 + [False]])
QUOTAS = (0, 2.5)


def at_quotas(labels: Any, scores: Any, mask: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for quota in QUOTAS:
        for measure in LOCAL:
            found[f"{measure.__name__} {quota}"] = measure(labels, scores, where=mask, quota=quota)
        end = qk.quota_threshold(scores, where=mask, quota=quota)
        found |= {f"end {k} {quota}": x for k, x in end._asdict().items()}
    found["all"] = qk.hit_rate(labels, scores, where=mask, fraction=1.0)
    return found


def of_rankings(labels: Any, scores: Any, mask: Any) -> dict[str, Any]:
    """The same, from sorted scores."""
    ranking = qk.rank(labels, scores, where=mask)
    found: dict[str, Any] = {}
    for quota in QUOTAS:
        for measure in LOCAL:
            found[f"{measure.__name__} {quota}"] = measure(ranking, quota=quota)
        ends = qk.quota_threshold(scores, where=mask, quota=[quota])
        found |= {f"end {k} {quota}": x[..., 0] for k, x in ends._asdict().items()}
    found["all"] = qk.hit_rate(ranking, fraction=1.0)
    return found


@pytest.mark.long_program
@pytest.mark.parametrize("mode", parameters(QUICK))
def test_equal_to_the_ranking(mode: Mode) -> None:
    found = mode.run(at_quotas, LABELS, SCORES, MASK)
    wanted = mode.run(of_rankings, LABELS, SCORES, MASK)
    for name, value in found.items():
        np.testing.assert_array_equal(value, wanted[name], err_msg=name)


@of_fast_forms
def test_nothing_is_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("sorted")

    monkeypatch.setattr(np, "sort", refuse)
    monkeypatch.setattr(np, "argsort", refuse)
    for name, module in list(sys.modules.items()):
        for sorting in {"packed_words", "compact_groups", "groups_around_zero"} & vars(
            module
        ).keys():
            if name.startswith("quotakernels.ops.native."):
                monkeypatch.setattr(module, sorting, refuse)
    assert qk.hit_rate(LABELS[0], SCORES[0], quota=9) == LABELS[0].mean()
    for measured in (qk.roc_auc, qk.rank):
        with pytest.raises(AssertionError, match="sorted"):
            measured(LABELS[0], SCORES[0])


@of_fast_forms
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_one_quota_of_every_float_of_pytorch(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    labels = torch.from_numpy(LABELS[0])
    scores = torch.from_numpy(SCORES[0]).to(getattr(torch, dtype))
    cuts: tuple[dict[str, Any], ...] = ({"quota": 1}, {"quota": 4}, {"fraction": 0.7})
    for cut in cuts:
        for measure in (qk.hit_rate, qk.qrecall, qk.lift, qk.precision):
            for beside in ({}, {"where": torch.from_numpy(MASK[1])}, {"ties": "pessimistic"}):
                ranking = qk.rank(labels, scores, **beside)
                assert measure(labels, scores, **cut, **beside) == measure(ranking, **cut)
        shares = qk.select(scores, **cut)
        assert shares.tolist() == qk.select(scores.to(torch.float64), **cut).tolist()
        exact = qk.quota_threshold(scores.to(torch.float64), **cut)
        assert float(qk.quota_threshold(scores, **cut).threshold) == float(exact.threshold)
