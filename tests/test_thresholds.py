"""A plain threshold is compared in the scores' own precision, an array with its own values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, available, parameters

import quotakernels as qk
from quotakernels import tables

LABELS = np.asarray([1, 0, 1, 1, 0, 1])
SCORES = np.asarray([0.7, 0.9, 0.1, 0.3, 0.7, 0.6], np.float32)
LIBRARIES = parameters(
    [
        m
        for m in MODES
        if m.name in ("numpy", "strictest", "jax64-jit", "jax32-jit", "torch", "torch-compile")
    ]
)


def at(threshold: Any, inclusive: bool = True) -> Any:
    """The recall of lists, rankings, batches and groups, and what impacts and gains read."""
    cut = {"threshold": threshold, "inclusive": inclusive}

    def values(y: Any, s: Any) -> dict[str, Any]:
        ranking = qk.rank(y, s)
        return {
            "list": qk.recall(y, s, **cut),
            "ranking": qk.recall(ranking, **cut),
            "table": qk.confusion_table(y, s, **cut),
            "groups": qk.recall(y, s, groups=y * 0, num_groups=1, **cut),
            "impact": qk.tables.total_impact(ranking, impacts=(3, -1, 0, 2), **cut),
            "gains": tables.cell_impacts(y, s, gain=y * 2, **cut),
        }

    return values


@pytest.mark.parametrize("inclusive", [True, False])
@pytest.mark.parametrize("mode", LIBRARIES)
def test_numbers_and_lists_of_them_select_what_the_library_selects(mode: Mode, inclusive: bool):
    programs = mode.name.endswith("compile")  # each number makes its own
    for number in (0.7, 0.9) if programs else (0.7, 0.9, 0.1, 0.6, 0.3):
        own = np.float32(number)
        selected = own <= SCORES if inclusive else own < SCORES
        wanted = np.sum(LABELS[selected]) / 4
        found = mode.run(at(number, inclusive), LABELS, SCORES)
        listed = mode.run(at([number], inclusive), LABELS, SCORES)
        exact = at(np.float32(number), inclusive)(LABELS, SCORES)
        assert found["list"] == listed["list"][0] == found["ranking"] == wanted, number
        assert found["groups"][0] == wanted
        assert found["table"].tp + found["table"].fp == np.sum(selected)
        for name in ("impact", "gains"):
            np.testing.assert_allclose(found[name], exact[name], rtol=1e-6)


@pytest.mark.skipif(not available("jax"), reason="jax is not available")
@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
def test_plain_numbers_given_to_programs_of_jax(kind: str):
    """JAX marks them, and compares them with scores as plain numbers."""
    import jax

    with jax.enable_x64(True):
        y, s = jax.numpy.asarray(LABELS), jax.numpy.asarray(SCORES, dtype=kind)
        program = jax.jit(lambda y, s, t: qk.recall(y, s, threshold=t))
        for number in (0.7, 0.9, 0.1):
            wanted = (LABELS * np.asarray(s >= number)).sum() / 4
            assert program(y, s, number) == qk.recall(y, s, threshold=number) == wanted


def test_of_many_scores_rounded_to_two_places():
    score = np.round(np.random.default_rng(0).random(100_000), 2).astype(np.float32)
    table = qk.confusion_table(np.arange(100_000) % 2, score, threshold=0.9)
    assert table.tp + table.fp == np.sum(score >= 0.9)
    cut = qk.rank(np.arange(100_000) % 2, score).at_thresholds([0.9])
    assert cut.counts[0] == np.sum(score >= 0.9)


def test_arrays_keep_the_values_they_have():
    for exact in (np.float64(0.7), np.asarray(0.7), np.asarray([0.7])):
        assert np.all(qk.recall(LABELS, SCORES, threshold=exact) == 0)
    assert qk.recall(LABELS, SCORES, threshold=np.float32(0.7)) == 0.25
    exact = qk.rank(LABELS, SCORES).at_thresholds(np.asarray([0.7]))
    assert exact.counts[0] == np.sum(SCORES.astype(float) >= 0.7)


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float32", "float64"])
def test_tensors_of_every_float(kind: str):
    torch = pytest.importorskip("torch")
    y, s = torch.from_numpy(LABELS), torch.from_numpy(SCORES).to(getattr(torch, kind))
    for number in (0.7, 0.1, 0.3, 1e300, -1e300, 1e-60):
        selected = s >= torch.tensor(number, dtype=torch.float64).to(s.dtype)
        wanted = (y[selected].sum() / 4).item()
        assert qk.recall(y, s, threshold=number) == wanted
        assert qk.recall(qk.rank(y, s), threshold=number) == wanted
        assert qk.recall(qk.rank(y, s), threshold=[number])[0] == wanted
        assert (
            qk.confusion_table(qk.rank(y, s), threshold=number).tp
            == selected.logical_and(y == 1).sum()
        )


def test_whole_scores_and_numbers_between_them():
    score = np.asarray([2**53 + 1, 2**53, 3, 2, 1, 0])
    assert qk.recall(LABELS, score, threshold=2**53 + 1) == 0.25
    assert qk.recall(LABELS, score, threshold=1.5) == 0.75
