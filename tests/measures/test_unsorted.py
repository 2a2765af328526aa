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
        for sorting in {"packed_words", "compact_groups"} & vars(module).keys():
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


# calls with one list of NumPy or CPU tensors alone go a direct way, to the same result


SUMS = (
    qk.roc_auc,
    qk.gini,
    qk.pem,
    qk.average_hit_rate,
    qk.average_qrecall,
    qk.pem_areas,
    qk.summary,
)
CUTS = (qk.hit_rate, qk.qrecall, qk.lift)
TYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint32", "uint64", "bool")
KINDS = ("no ties", "few levels", "both signs", "one class", "one score")


def examples(dtype: str, kind: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([size, KINDS.index(kind)])
    scores = rng.permutation(size) if kind == "no ties" else rng.integers(0, 5, size)
    scores = scores * (kind != "one score")
    if kind == "both signs":
        scores = scores / 2 - 1  # the middle one is 0.0 or -0.0
        scores = np.where(rng.random(size) < 0.5, scores, -scores)
    if not dtype.startswith("float"):
        scores = np.abs(scores) if dtype[0] in "ub" else scores
    labels = rng.random(size) < (1 if kind == "one class" else 0.4)
    return labels.astype(rng.choice(["bool", "int64", "uint8"])), scores.astype(dtype)


def both_ways(measure: Any, *data: Any, **quota: Any) -> None:
    """Keywords that say what is the default lead to the general way."""
    beside = {"ties": "expected"} if len(data) == 2 else {"when_short": None} if quota else {}
    found, wanted = measure(*data, **quota), measure(*data, **quota, **beside)
    assert type(found) is type(wanted)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_values(dtype: str, kind: str):
    for size in (1, 2, 9, 100):
        data = examples(dtype, kind, size)
        for measure in SUMS:
            both_ways(measure, *data)
        for measure in CUTS:
            for quota in (0, 1, size / 2, size):
                both_ways(measure, *data, **({"quota": quota} if quota >= 1 else {"fraction": 0.3}))
            both_ways(measure, *data, quota=[size, 0, size / 2])
            both_ways(measure, *data, fraction=(0.3, 1))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int64", "bool"])
def test_tensors_take_it_too(dtype: str):
    torch = pytest.importorskip("torch")
    labels, scores = examples("float32", "few levels", 100)
    data = torch.as_tensor(labels), torch.as_tensor(scores).to(getattr(torch, dtype))
    for measure in SUMS:
        both_ways(measure, *data)
    for measure in CUTS:
        both_ways(measure, *data, quota=7)
        both_ways(measure, *data, fraction=[0.3, 1])
        assert measure(*data, quota=[7, 8]).shape == (2,)


@pytest.mark.parametrize("kind", KINDS)
def test_rankings(kind: str):
    ranking = qk.rank(*examples("float32", kind, 100))
    for measure, options in ((qk.roc_auc, {"max_fpr": None}), (qk.average_qrecall, {"start": "P"})):
        np.testing.assert_array_equal(measure(ranking), measure(ranking, **options))


@pytest.mark.parametrize("wrong", ["label", "score", "quota", "lengths", "quotas"])
def test_errors_are_those_of_the_general_way(wrong: str):
    labels, scores = np.array([1, 0, 1, 0]), np.array([0.5, 0.25, 1.0, 0.0])
    quota: dict[str, Any] = {"quota": 5 if wrong == "quota" else 2}
    labels[2] = 2 if wrong == "label" else 1
    scores[1] = np.nan if wrong == "score" else 0.25
    labels = labels[1:] if wrong == "lengths" else labels
    quota |= {"fraction": 0.5} if wrong == "quotas" else {}
    messages = []
    for beside in ({}, {"ties": "expected"}):
        with pytest.raises((TypeError, ValueError)) as error:
            qk.hit_rate(labels, scores, **quota, **beside)
        messages.append((error.type, str(error.value)))
    assert messages[0] == messages[1]
