"""Measures over folds: their mean and its interval, and the comparison of two models."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters

import quotakernels as qk

RNG = np.random.default_rng(11)
N, K = 60, 5
Y = np.arange(N) % 3 == 0
FOLDS = np.arange(N) // 3 % K
A, B = RNG.normal(Y), RNG.normal(Y).round(1)
W = RNG.integers(1, 4, N)
main_modes = [m for m in MODES if m.name in ("numpy", "strictest-device1", "torch", "jax32-jit")]


def by_hand(measure: Any, scores: np.ndarray, folds: Any, **data: Any) -> list[float]:
    found = []
    for fold in sorted(set(folds) - {-1}):
        at = [i for i, x in enumerate(folds) if x == fold]
        weights = {name: x[at] for name, x in data.items()}
        found.append(float(measure(Y[at], scores[at], **weights)))
    return found


def corrected(values: list[float], ratio: float) -> tuple[float, float, float]:
    """Mean, standard deviation and standard error."""
    number = len(values)
    mean = math.fsum(values) / number
    square = math.fsum((x - mean) ** 2 for x in values) / (number - 1)
    return mean, math.sqrt(square), math.sqrt((1 / number + ratio) * square)


# one model


@pytest.mark.parametrize("weights", [None, W])
def test_the_mean_of_the_folds_and_its_interval(weights: Any):
    stats = pytest.importorskip("scipy.stats")
    data = {} if weights is None else {"sample_weight": weights}
    found = qk.inference.fold_summary(qk.roc_auc, Y, A, FOLDS, confidence_level=0.9, **data)
    values = by_hand(qk.roc_auc, A, FOLDS, **data)
    mean, deviation, error = corrected(values, 1 / (K - 1))
    half = stats.t.ppf(0.95, K - 1) * error
    assert found.values == pytest.approx(values, rel=1e-12)
    wanted = (mean, mean - half, mean + half, error, deviation, 0)
    assert found[:6] == pytest.approx(wanted, rel=1e-12)
    assert found.pooled is None


def test_gains_go_with_the_examples_of_each_fold():
    gain, other = RNG.normal(size=N), RNG.normal(size=N)
    measure = qk.impact_at_quota.with_options(fraction=0.4)
    given: dict[str, Any] = {"gain": gain, "gain_rejected": other}
    found = qk.inference.fold_summary(measure, None, A, FOLDS, pooled=True, **given)
    whole = lambda *x, **options: measure(*x, **options).whole  # noqa: E731
    values = by_hand(whole, A, FOLDS, **given)
    assert found.whole.values == pytest.approx(values, rel=1e-12)
    assert found.whole.pooled == measure(None, A, **given).whole
    models = {"a": A, "b": B}
    test = qk.inference.fold_test(measure, Y, models, FOLDS, **given)
    others = by_hand(whole, B, FOLDS, **given)
    assert test.whole.values == pytest.approx(np.subtract(values, others), rel=1e-12)
    best = qk.inference.fold_summary(lambda x: qk.best_quota(x).value, Y, B, FOLDS, gain=gain)
    assert best.estimate == pytest.approx(np.mean(best.values))


def test_scores_of_two_folds_are_not_ranked_together_unless_asked():
    """Each fold is perfect, on a scale of its own that undoes this for all of them together."""
    scores = np.where(Y, 1, 0) + 10 * FOLDS
    found = qk.inference.fold_summary(qk.roc_auc, Y, scores, FOLDS, pooled=True)
    assert found[:6] == (1, 1, 1, 0, 0, 0)
    assert found.pooled == qk.roc_auc(Y, scores) < 0.7
    alike = qk.inference.fold_summary(qk.roc_auc, Y, np.where(Y, 1, 0), FOLDS, pooled=True)
    assert alike.pooled == 1


def test_repeats_and_models():
    """Every repeat has folds of its own; the other leading axes are models."""
    folds = np.stack([FOLDS, np.roll(FOLDS, 7), FOLDS[::-1]])
    scores = np.stack([A, B, A + B])
    found = qk.inference.fold_summary(
        qk.hit_rate, Y, np.stack([scores, -scores]), folds, fraction=0.5
    )
    measure = functools.partial(qk.hit_rate, fraction=0.5)
    for sign, model in ((1, 0), (-1, 1)):
        values = [by_hand(measure, sign * s, f) for s, f in zip(scores, folds, strict=True)]
        assert found.values[model] == pytest.approx(np.asarray(values))
        mean, deviation, error = corrected([x for part in values for x in part], 1 / (K - 1))
        assert found.estimate[model] == pytest.approx(mean)
        assert found.standard_error[model] == pytest.approx(error)
        assert found.standard_deviation[model] == pytest.approx(deviation)
    assert found.values.shape == (2, 3, K)
    together = qk.inference.fold_summary(qk.roc_auc, Y, scores, folds, pooled=True).pooled
    assert together == pytest.approx(np.mean(qk.roc_auc(Y, scores)))


def test_examples_that_were_not_tested():
    """Of a random half the models were trained on the other half, or on fewer."""
    folds = np.where(np.arange(N) % 2 == 0, 3, -1)
    repeated = np.stack([folds, np.roll(folds, 1)])
    for n_train, ratio in ((None, 1.0), (20, 1.5)):
        found = qk.inference.fold_summary(
            qk.roc_auc, Y, np.stack([A, A]), repeated, n_train=n_train
        )
        values = [by_hand(qk.roc_auc, A, x)[0] for x in repeated]
        _, _, error = corrected(values, ratio)
        assert found.values == pytest.approx(np.asarray(values)[:, None])
        assert found.standard_error == pytest.approx(error)


def test_records_mappings_and_names_of_folds():
    measures = {"all": qk.summary, "hits": functools.partial(qk.hit_rate, quota=[1, 2])}
    found = qk.inference.fold_summary(measures, Y, A, [f"fold {x}" for x in FOLDS], pooled=True)
    assert isinstance(found["all"], qk.results.Summary)
    assert found["all"].roc_auc.values == pytest.approx(by_hand(qk.roc_auc, A, FOLDS))
    assert found["hits"].values.shape == (2, K)
    assert found["hits"].pooled == pytest.approx(qk.hit_rate(Y, A, quota=[1, 2]))


LACKING = np.where(FOLDS == 3, False, Y)


def test_folds_without_a_class_are_named_and_left_out():
    message = r"roc_auc is undefined in 1 of 5 folds, which are left out: 3 \(no positives\)"
    with pytest.warns(UserWarning, match=message):
        found = qk.inference.fold_summary(qk.roc_auc, LACKING, A, FOLDS)
    mean, _, error = corrected(by_hand(qk.roc_auc, A, np.where(FOLDS == 3, -1, FOLDS)), 1 / 4)
    assert found.undefined == 1
    assert np.isnan(found.values).tolist() == [False, False, False, True, False]
    assert found[0::3][:2] == pytest.approx((mean, error))
    with pytest.warns(UserWarning, match=r"3 of repeat 1 \(no negatives\)"):
        qk.inference.fold_summary(qk.roc_auc, ~LACKING, np.stack([A, A]), np.stack([FOLDS, FOLDS]))
    with pytest.warns(UserWarning, match=message):
        qk.inference.fold_summary(qk.roc_auc, LACKING, A, FOLDS, sample_weight=np.arange(N) + 1.0)
    with pytest.warns(UserWarning, match=r"12 of 12 .* 4 \(no .*\) and 7 more"):
        alone = qk.inference.fold_summary(qk.roc_auc, Y[:12], A[:12], np.arange(12))
    assert np.all(np.isnan(np.stack(alone[:5])))
    assert alone.undefined == 12


def test_one_fold_has_no_interval():
    found = qk.inference.fold_summary(qk.roc_auc, Y, A, np.zeros(N), n_train=100)
    assert found.estimate == qk.roc_auc(Y, A)
    assert np.all(np.isnan(np.stack(found[1:5])))


# two models


def test_two_models_over_the_same_folds():
    """By the formula of Nadeau and Bengio, one step after the other."""
    stats = pytest.importorskip("scipy.stats")
    found = qk.inference.fold_test(qk.roc_auc, Y, [A, B], FOLDS)
    pairs = zip(by_hand(qk.roc_auc, A, FOLDS), by_hand(qk.roc_auc, B, FOLDS), strict=True)
    values = [a - b for a, b in pairs]
    mean, _, error = corrected(values, (N / K) / (N - N / K))
    half = stats.t.ppf(0.975, K - 1) * error
    p = 2 * stats.t.sf(abs(mean / error), K - 1)
    wanted = (mean, mean - half, mean + half, error, mean / error, K - 1, p, 0)
    assert found[:8] == pytest.approx(wanted, rel=1e-10)
    assert found.values == pytest.approx(values)
    back = qk.inference.fold_test(qk.roc_auc, Y, [B, A], FOLDS)
    assert back[:2] == pytest.approx((-found.difference, -found.upper))
    assert back.p_value == found.p_value


def test_models_that_differ_by_the_same_everywhere():
    """Up to rounding; there is nothing to compare the difference with."""
    same = qk.inference.fold_test(qk.roc_auc, Y, [A, A.copy()], FOLDS)
    assert same[:4] == (0, 0, 0, 0)
    assert np.isnan([same.statistic, same.p_value]).all()
    perfect = qk.inference.fold_test(qk.roc_auc, Y, [Y * 1, Y * -1], FOLDS)
    assert perfect[:4] == (1, 1, 1, 0)
    assert np.isnan(perfect.p_value)
    steps = {"a": 0.1 * (FOLDS + 2), "b": 0.1 * FOLDS}

    def mean_score(ranking: qk.Ranking) -> Any:
        mass = ranking.positive_weights + ranking.negative_weights
        return np.sum(ranking.thresholds * mass) / np.sum(mass)

    near = qk.inference.fold_test(mean_score, Y, [steps["a"], steps["b"]], FOLDS)
    assert near.difference == pytest.approx(0.2)
    assert near.standard_error == 0
    assert np.isnan(near.p_value)


def test_folds_that_leave_one_of_two_undefined():
    with pytest.warns(UserWarning, match=r"3 \(no positives\)"):
        found = qk.inference.fold_test(qk.roc_auc, LACKING, [A, B], FOLDS)
    assert (found.undefined, found.degrees_of_freedom) == (1, K - 2)
    assert 0 < found.p_value < 1


def test_unsigned_tensors():
    torch = pytest.importorskip("torch")
    scores = np.argsort(np.argsort(A)).astype(np.uint16)
    found = qk.inference.fold_summary(qk.roc_auc, torch.tensor(Y), torch.tensor(scores), FOLDS)
    assert found.values.tolist() == by_hand(qk.roc_auc, A, FOLDS)


@pytest.mark.parametrize("mode", parameters(main_modes))
@pytest.mark.long_program
def test_every_library(mode: Mode):
    def both(y: Any, a: Any, b: Any) -> Any:
        options = {"fraction": 0.25}
        summary = qk.inference.fold_summary(qk.hit_rate, y, a, FOLDS, pooled=True, **options)
        return summary, qk.inference.fold_test(qk.hit_rate, y, [a, b], FOLDS, **options)

    for found, wanted in zip(mode.run(both, Y, A, B), both(Y, A, B), strict=True):
        for field in found._fields:
            value, right = getattr(found, field), getattr(wanted, field)
            np.testing.assert_allclose(value, right, rtol=1e-5, err_msg=field)
