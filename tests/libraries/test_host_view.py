"""Tensors in host memory are computed with by NumPy: what comes back, and what stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import available
from everything import everything

import quotakernels as qk

if not available("torch"):
    pytest.skip("torch is not available", allow_module_level=True)
import torch

RNG = np.random.default_rng(11)
SCORES = RNG.integers(-6, 6, (2, 40)) / 4  # the same in every float type
LABELS = RNG.random((2, 40)) < 0.4
WEIGHTS = RNG.integers(0, 4, (2, 40)) / 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("batch", [False, True])
def test_tensors_get_the_numbers_of_numpy(batch: bool, weighted: bool):
    arrays = [LABELS, SCORES, *([WEIGHTS] if weighted else [])]
    arrays = arrays if batch else [x[0] for x in arrays]
    wanted, found = everything(*arrays), everything(*map(torch.from_numpy, arrays))
    for name, value in found.items():
        assert isinstance(value, torch.Tensor), name
        np.testing.assert_array_equal(value.numpy(), wanted[name], err_msg=name)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_thresholds_keep_the_type_of_the_scores(dtype: str):
    scores = torch.from_numpy(SCORES[0]).to(getattr(torch, dtype))
    labels = torch.from_numpy(LABELS[0])
    ranking = qk.rank(labels, scores, sample_weight=torch.from_numpy(WEIGHTS[0]))
    curve = qk.roc_curve(ranking)
    assert ranking.thresholds.dtype == curve.threshold.dtype == scores.dtype
    assert ranking.positive_weights.dtype == curve.fpr.dtype == torch.float64
    wanted = qk.roc_curve(LABELS[0], SCORES[0], sample_weight=WEIGHTS[0])
    for x, y in zip(curve, wanted, strict=True):
        np.testing.assert_array_equal(x.double().numpy(), y)


@pytest.mark.parametrize("smallest", [1, 0x8001])
def test_subnormals_are_not_lost(smallest: int):
    bits = torch.tensor([0, smallest], dtype=torch.uint16).view(torch.bfloat16)
    flush = torch.set_flush_denormal(True)
    try:
        ranking = qk.rank(torch.tensor([0, 1]), bits)
    finally:
        torch.set_flush_denormal(False)
    assert flush
    assert ranking.thresholds.view(torch.int16).tolist() == sorted(
        bits.view(torch.int16).tolist(), reverse=True
    )


def test_gradients_of_weights_stay():
    weights = torch.from_numpy(WEIGHTS).requires_grad_()
    area = qk.roc_auc(
        torch.from_numpy(LABELS), torch.from_numpy(SCORES), sample_weight=weights
    ).sum()
    (found,) = torch.autograd.grad(area, weights)

    def moved(by: float) -> Any:
        changed = WEIGHTS.copy()
        changed[1, 3] += by
        return qk.roc_auc(LABELS, SCORES, sample_weight=changed).sum()

    assert WEIGHTS[1, 3] > 0
    assert found[1, 3].item() == pytest.approx((moved(1e-4) - moved(-1e-4)) / 2e-4, abs=1e-7)


def test_gradients_of_a_quota_stay():
    quota = torch.tensor([3.0, 7.25], dtype=torch.float64, requires_grad=True)
    ranking = qk.rank(torch.from_numpy(LABELS[0]), torch.from_numpy(SCORES[0]))
    value = qk.qrecall(ranking, quota=quota)
    np.testing.assert_array_equal(
        value.detach().numpy(), qk.qrecall(LABELS[0], SCORES[0], quota=[3.0, 7.25])
    )
    assert value.requires_grad


def test_scores_with_gradients_are_only_compared():
    scores = torch.from_numpy(SCORES[0]).requires_grad_()
    area = qk.roc_auc(torch.from_numpy(LABELS[0]), scores)
    assert not area.requires_grad
    assert area.item() == qk.roc_auc(LABELS[0], SCORES[0])


def test_a_result_may_be_written_to():
    curve = qk.pr_curve(torch.from_numpy(LABELS[0]), torch.from_numpy(SCORES[0]))
    for column in curve:
        column += 1
    table = qk.lift_table(torch.from_numpy(LABELS), torch.from_numpy(SCORES), bins=3)
    table.start.zero_()


def some_measures(lists: dict[str, Any]) -> tuple[Any, ...]:
    ranking = qk.rank(**lists)
    at_once = qk.hit_rate(**lists, fraction=0.3)
    state = qk.states.ScoreHistogram.of(**lists, bits=10)
    return qk.roc_auc(ranking), qk.roc_hull_auc(ranking), at_once, state.bounds(qk.roc_auc).upper


@pytest.mark.parametrize("one", ["y_true", "y_score", "sample_weight", "where"])
def test_vmap_goes_over_one_argument_and_not_over_others(one: str):
    """The others can be read, and what they make together with it cannot."""
    both = {"y_true": LABELS, "y_score": SCORES, "sample_weight": WEIGHTS, "where": WEIGHTS < 1.5}
    lists = {name: torch.from_numpy(x[0]) for name, x in both.items()}
    mapped = torch.from_numpy(both[one])
    found = torch.func.vmap(lambda x: some_measures(lists | {one: x}))(mapped)
    for k, each in enumerate(mapped):
        for x, wanted in zip(found, some_measures(lists | {one: each}), strict=True):
            np.testing.assert_allclose(x[k], wanted, rtol=1e-12)
