"""Measures of cumulative counts, which stand in for a table where tensors cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
from backends import of_fast_forms, tree_map

import quotakernels as qk
from quotakernels import ops

torch = pytest.importorskip("torch")
pytestmark = of_fast_forms

EXACT = {
    "roc_auc": qk.roc_auc,
    "gini": qk.gini,
    "average_qrecall": qk.average_qrecall,
    "late": qk.average_qrecall.with_options(start="P+1"),
    "lift_table": qk.lift_table.with_options(bins=3),
}
NEAR = {
    "average_hit_rate": qk.average_hit_rate,
    "pem_areas": qk.pem_areas,
    "areas": qk.pem_areas.with_options(method="area"),
    "pr_auc": qk.pr_auc,
    "horizontal": qk.pr_auc.with_options(start="horizontal"),
    "trapezoids": qk.pr_auc.with_options(method="trapezoid"),
    "summary": qk.summary,
}
MEASURES = EXACT | NEAR
TYPES = ("float16", "float32", "float64", "int32", "uint8", "bool")


@pytest.fixture(autouse=True)
def unread() -> Iterator[None]:
    """Tensors are taken for those of a device."""
    with mock.patch("quotakernels._array._concrete_tensor", return_value=False):
        yield


def on_device(measure: Any, *columns: np.ndarray, **beside: np.ndarray) -> Any:
    with mock.patch.object(ops, "cumulative_groups", side_effect=ops.cumulative_groups) as counted:
        found = measure(*map(torch.from_numpy, columns), **tree_map(torch.from_numpy, beside))
    assert counted.call_count == 1
    return tree_map(lambda x: x.numpy(), found)


def examples(dtype: str, size: int, levels: int) -> list[np.ndarray]:
    """Labels, scores and a mask."""
    rng = np.random.default_rng(size + levels)
    scores = rng.integers(0, levels, size)
    scores = scores > levels // 2 if dtype == "bool" else scores.astype(dtype)
    if scores.dtype.kind == "f":
        special = rng.choice([0.0, -0.0, np.inf, -np.inf], size).astype(dtype)
        scores = np.where(rng.random(size) < 0.3, special, scores)
    return [(rng.random(size) < 0.4).astype(np.int64), scores, rng.random(size) < 0.7]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", MEASURES)
def test_values(name: str, dtype: str):
    for size, levels in ((1, 2), (2, 2), (40, 3), (40, 200)):
        y, s, mask = examples(dtype, size, levels)
        for beside in ({}, {"where": mask}, {"where": np.zeros_like(mask)}):
            found = on_device(MEASURES[name], y, s, **beside)
            wanted = MEASURES[name](y, s, **beside)
            most = 0 if name in EXACT else 1e-14
            for x, w in zip(*map(np.atleast_1d, (found, wanted)), strict=True):
                np.testing.assert_allclose(x, w, rtol=most, atol=most)


@pytest.mark.full
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", MEASURES)
def test_more_halves_than_there_are(name: str, dtype: str):
    y, s, mask = examples("float16", 2**16 + 5, 90)
    halves = torch.from_numpy(s).to(getattr(torch, dtype))
    for where in (None, mask):
        beside = {} if where is None else {"where": where}
        given = {k: torch.from_numpy(x) for k, x in beside.items()}
        found = MEASURES[name](torch.from_numpy(y), halves, **given)
        wanted = MEASURES[name](y, halves.float().numpy(), **beside)
        most = 0 if name in EXACT else 1e-14
        for x, w in zip(*map(np.atleast_1d, (found, wanted)), strict=True):
            np.testing.assert_allclose(x, w, rtol=most, atol=most)


@pytest.mark.parametrize("size", [40, 2**16 + 5])
@pytest.mark.parametrize("name", MEASURES)
def test_bad_values(name: str, size: int):
    y, s, _ = examples("float16", size, 30)
    for bad_y, bad_s in ((np.where(y == 1, 2**40, y), s), (y, np.where(s == 1, np.nan, s))):
        found = on_device(MEASURES[name], bad_y, bad_s.astype(np.float16))
        assert np.isnan(np.concatenate([np.ravel(x) for x in np.atleast_1d(found)])).all()
