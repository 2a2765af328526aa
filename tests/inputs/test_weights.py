"""Weights of any size and type; rows of weight 0; no weight at all."""

from __future__ import annotations

from typing import Any

import everything as every
import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, available, parameters
from expected import as_floats, ulps
from public_names import PUBLIC

import quotakernels as qk

Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0])
S = np.asarray([0.875, 0.75, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0])
W = np.asarray([1.0, 0.5, 2, 1, 3, 0.25, 1, 1])
AUC = qk.roc_auc(Y, S)
NAMES = ("numpy", "strict", "jax64-jit", "torch", "torch-vmap", "cupy")
TRACED = parameters([mode for mode in MODES if mode.name in NAMES])

WEIGHTS = [
    [1e-20, 1e20, 1, 1e-20, 1e20, 3, 1e10, 1e-10],
    [1e20] * 8,
    [1e-20] * 8,
    [1e20, 1e20, 1e20, 1e20, 1e-20, 1e-20, 1e-20, 1e-20],
    [1, 2, 3, 4, 5, 6, 7, 8],
    [0, 2, 0, 4, 5, 0, 7, 8],
    [0, 0, 3e20, 0, 0, 1e-20, 0, 0],
    *([w * 2.0**k for w in (1, 2, 3, 4, 5, 6, 7, 8)] for k in (-1000, -500, 500, 900)),
    [1e-300] * 8,
    [1e154] * 8,
]
BY_CLASS = [
    (1e20, 1e-20),
    (1e-20, 1e20),
    (1e8, 1e-7),
    (1.0, 1e-15),
    (1e-15, 1.0),
    (3.0, 1e-17),
    (2e3, 1e-3),
]
OF_CLASSES = [np.where(Y == 1, *each) for each in BY_CLASS]
LEVELS = [np.arange(8)[::-1] * distinct // 8 / 8.0 for distinct in (8, 3, 1)]
LISTS = [(S, x) for x in WEIGHTS] + [(scores, x) for scores in LEVELS for x in OF_CLASSES]


@pytest.mark.parametrize("mode", TRACED)
@pytest.mark.long_program
def test_weights_of_any_size_are_right(mode: Mode):
    """Nor is a class of little weight lost beside the other in a difference of sums."""
    scores, weights = (np.asarray(x) for x in zip(*LISTS, strict=True))
    found = mode.run(scale_free, np.broadcast_to(Y, weights.shape), scores, weights)
    for index, row in enumerate(zip(weights, scores, strict=True)):
        for name, value in exact_scale_free(*row).items():
            near = 4e-16 if name == "pem" else 0  # a difference of shares, in units of 1
            np.testing.assert_allclose(found[name][index], value, 1e-13, near, err_msg=name)


def scale_free(y: Any, s: Any, w: Any) -> dict[str, Any]:
    ranking = qk.rank(y, s, sample_weight=w)
    names = ("roc_auc", "pem", "average_hit_rate", "average_qrecall")
    found = {name: PUBLIC[name](ranking) for name in names}
    for measure in (qk.hit_rate, qk.qrecall, qk.lift):
        found[measure.__name__] = measure(ranking, fraction=1)
    return found


def exact_scale_free(weights: np.ndarray, scores: np.ndarray) -> dict[str, Any]:
    groups = ex.groups(Y.tolist(), scores.tolist(), weights.tolist())
    names = ("roc_auc", "pem", "average_hit_rate", "average_qrecall")
    wanted = {name: as_floats(getattr(ex, name)(groups)) for name in names}
    whole = ex.total_weight(groups)
    for measure in (ex.hit_rate, ex.qrecall, ex.lift):
        wanted[measure.__name__] = as_floats(measure(groups, whole))
    return wanted


def test_sums_of_weights_that_overflow_float32(mode: Mode):
    weights = np.full(8, 3e38, dtype=np.float32)
    found = mode.run(lambda y, s, w: qk.roc_auc(y, s, sample_weight=w), Y, S, weights)
    assert ulps(found, np.asarray(AUC)) <= 4


@pytest.mark.long_program
@every.main_modes
def test_all_weights_zero(mode: Mode):
    def both(y: Any, s: Any, w: Any) -> Any:
        given: Any = {"sample_weight": w}
        return qk.roc_auc(y, s, **given), qk.select(s, fraction=0.5, **given)

    found = mode.run(both, np.stack([Y, Y]), np.stack([S, S]), np.stack([0 * W, W]))
    for value in found:
        np.testing.assert_array_equal(np.isnan(value).reshape(2, -1).all(axis=1), [True, False])
        assert not np.isnan(value[1]).any()


def lowest(s: Any, w: Any, where: Any) -> Any:
    given: Any = {"sample_weight": w, "where": where}
    whole = qk.quota_threshold(s, fraction=1, **given)
    return (
        whole.threshold,
        qk.select(s, fraction=1, **given),
        qk.qrecall(s > 0, s, fraction=1, **given),
    )


def added_in_parallel(x: Any, /, *, axis: int, dtype: Any = None) -> Any:
    """Running sums by doubling, as devices make them: a zero behind may change their digits."""
    import array_api_strict as xs

    sums, by = np.array(x, dtype=(dtype or x.dtype)._np_dtype), 1
    while by < sums.shape[axis]:
        sums[..., by:] = sums[..., by:] + sums[..., :-by]
        by *= 2
    return xs.asarray(sums)


@pytest.mark.skipif(not available("array_api_strict"), reason="the strict library is missing")
def test_sums_made_in_parallel_end_with_the_last_example(monkeypatch: pytest.MonkeyPatch):
    import array_api_strict as xs

    monkeypatch.setattr(xs, "cumulative_sum", added_in_parallel)
    check_whole_mass(next(mode for mode in MODES if mode.name == "strict"))


@pytest.mark.parametrize("mode", TRACED)
@pytest.mark.long_program
def test_all_of_the_mass_is_all_of_the_examples(mode: Mode):
    """However the sums of the weights are rounded, and whatever is masked."""
    check_whole_mass(mode)


def check_whole_mass(mode: Mode) -> None:
    draw = np.random.default_rng(7)
    scores = draw.normal(size=(200, 9))
    weights = draw.random((200, 9)) * 10.0 ** draw.integers(-3, 3, (200, 9))
    where = draw.random((200, 9)) < 0.7
    where[:, 0] = True
    threshold, chosen, recall = mode.run(lowest, scores, weights, where)
    np.testing.assert_array_equal(threshold, np.where(where, scores, np.inf).min(axis=-1))
    np.testing.assert_allclose(chosen, where, rtol=1e-7)  # of a small weight at the end
    assert (chosen <= 1).all()
    positive = (where & (scores > 0)).any(axis=-1)
    np.testing.assert_allclose(recall, np.where(positive, 1, np.nan), rtol=1e-13)
    assert not (recall > 1).any()


@pytest.mark.parametrize("ties", ["optimistic", "pessimistic"])
def test_tie_policies_leave_no_negative_mass(ties: Any):
    draw = np.random.default_rng(3)
    for _ in range(200):
        labels, weights = draw.integers(0, 2, 6), 10.0 ** draw.uniform(-20, 2, 6)
        ranking = qk.rank(labels, np.zeros(6), sample_weight=weights, ties=ties)
        assert (ranking.weights >= ranking.positive_weights).all()
        assert (ranking.positive_weights >= 0).all()


@pytest.mark.parametrize(("ties", "wanted"), [("optimistic", 1.0), ("pessimistic", 0.0)])
def test_tie_policies_split_masses_of_any_size(ties: Any, wanted: float):
    given: Any = {"sample_weight": [1e20, 1.0, 1.0], "ties": ties}
    assert qk.roc_auc([1, 0, 1], [0.5, 0.5, 0.5], **given) == wanted
    assert qk.gini([0, 1, 0], [0.5, 0.5, 0.5], **given) == 2 * wanted - 1


@pytest.mark.full
def test_weights_of_any_length_are_compiled():
    """From the second length on torch.compile traces with a symbol in its place."""
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()

    def auc(y: Any, s: Any, w: Any) -> Any:
        return qk.roc_auc(y, s, sample_weight=w)

    made = torch.compile(auc, fullgraph=True, backend="eager")
    for n in (8, 9, 11):
        y, s, w = (
            torch.tensor(x) for x in (np.arange(n) % 2, np.sin(np.arange(n)), 1.0 + np.arange(n))
        )
        assert made(y, s, w) == auc(y, s, w)
