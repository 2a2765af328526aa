"""Calls with one list of NumPy or CPU tensors alone go a direct way, to the same result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import quotakernels as qk

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
    for measure, options in (
        (qk.roc_auc, {"max_fpr": None}),
        (qk.average_qrecall, {"start": "P"}),
    ):
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
