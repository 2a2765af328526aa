"""Measures of cumulative counts, which stand in for a table where tensors cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
from backends import of_fast_forms, tree_map
from public_names import PUBLIC

import quotakernels as qk

torch = pytest.importorskip("torch")
from quotakernels.ops.native.torch_ import Torch  # noqa: E402

pytestmark = of_fast_forms

EXACT = ("roc_auc", "gini", "average_qrecall", "late", "lift_table", "threes")
MEASURES = {name: x for name, x in PUBLIC.items() if getattr(x, "by_sums", False)} | {
    "late": qk.average_qrecall.with_options(start="P+1"),
    "threes": qk.lift_table.with_options(bins=3),
    "areas": qk.pem_areas.with_options(method="area"),
    "horizontal": qk.pr_auc.with_options(start="horizontal"),
    "trapezoids": qk.pr_auc.with_options(method="trapezoid"),
}
"""Those that are `by_sums`, and their options."""
TYPES = ("float16", "float32", "float64", "int32", "uint8", "bool")


@pytest.fixture(autouse=True)
def unread() -> Iterator[None]:
    """Tensors are taken for those of a device."""
    with mock.patch("quotakernels._array._concrete_tensor", return_value=False):
        yield


def spied(operation: str) -> Any:
    """A context in which calls of an operation of PyTorch are counted."""
    own = getattr(Torch, operation)
    return mock.patch.object(Torch, operation, autospec=True, side_effect=own)


def on_device(measure: Any, *columns: np.ndarray, **beside: np.ndarray) -> Any:
    with spied("running_counts") as counted:
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


BY_GROUP = {
    name: x.with_options(quota=[0, 0.5, 4.25, 30]) if "quota" in x.own_keywords else x
    for name, x in PUBLIC.items()
    if getattr(x, "by_counts", False)
} | {
    "part": qk.roc_auc.with_options(max_fpr=0.4),
    "late": qk.average_qrecall.with_options(start="P+1"),
    "hit_rate at 3": qk.hit_rate.with_options(quota=3),
    "qrecall at 0.3": qk.qrecall.with_options(fraction=0.3),
    "lift at 2": qk.lift.with_options(quota=2, when_short="nan"),
    "threes": qk.lift_table.with_options(bins=3),
}
"""Those that are `by_counts`, and their options."""
GROUPS = 6


def in_groups(name: str, *columns: np.ndarray, **beside: np.ndarray) -> list[np.ndarray]:
    """The fields of what cumulative counts give, with a row for each group."""
    measure, arrays = BY_GROUP[name], tree_map(torch.from_numpy, beside)
    with spied("running_counts_by_group") as counted:
        found = measure(*map(torch.from_numpy, columns), num_groups=GROUPS, **arrays)
    assert counted.call_count == 1
    return fields(tree_map(lambda x: x.numpy(), found))


def fields(found: Any) -> list[np.ndarray]:
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", BY_GROUP)
def test_values_by_group(name: str, dtype: str):
    """Some groups have no examples."""
    for size, levels in ((1, 2), (2, 2), (60, 3), (60, 200)):
        y, s, mask = examples(dtype, size, levels)
        groups = np.random.default_rng(size).choice([1, 2, 4], size)
        for beside in ({}, {"where": mask}, {"where": np.zeros_like(mask)}):
            found = in_groups(name, y, s, groups=groups, **beside)
            wanted = BY_GROUP[name](y, s, groups=groups, num_groups=GROUPS, **beside)
            for x, w in zip(found, fields(wanted), strict=True):
                np.testing.assert_allclose(x, w, rtol=0, atol=1e-15 if name == "part" else 0)


@pytest.mark.parametrize("name", BY_GROUP)
def test_bad_values_by_group(name: str):
    """They spoil their own group, and one of no group spoils all."""
    y, s, _ = examples("float32", 60, 9)
    groups, bad = np.arange(60) % GROUPS, np.arange(60) == 7
    wanted = fields(BY_GROUP[name](y, s, groups=groups, num_groups=GROUPS))
    nan = np.where(bad, np.nan, s).astype(np.float32)
    for bad_y, bad_s in ((np.where(bad, 2, y), s), (y, nan)):
        found = in_groups(name, bad_y, bad_s, groups=groups)
        for x, w in zip(found, wanted, strict=True):
            w[1] = np.nan
            np.testing.assert_allclose(x, w, rtol=0, atol=1e-15 if name == "part" else 0)
    for number in (-1, GROUPS, 2**40):
        found = in_groups(name, y, s, groups=np.where(bad, number, groups))
        assert all(np.isnan(x).all() for x in found)
