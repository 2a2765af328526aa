"""A batch gives each list what the list alone has: of many lengths, numbers of rows and types.

A table of many rows is laid out in another way than a short one, so that a single list says what
each of its rows must be.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters
from expected import ulps

import quotakernels as qk

TYPES = ("float16", "float32", "float64", "int8", "int32", "uint64")
SIZES = ((1, 3000), (2, 2), (3, 700), (40, 97), (511, 8), (512, 8), (513, 40), (2000, 20))
"""How many lists, and how many examples each has."""
LIBRARIES = [m for m in MODES if m.name in ("numpy", "strict", "jax64", "jax32-jit", "torch")]
AT = (1, 2.5)


def scores(rng: np.random.Generator, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Few and many different scores by turns, with both zeros, both infinities, and the ends."""
    drawn = np.where(rng.random(shape) < 0.5, rng.integers(-3, 4, shape), rng.normal(0, 2, shape))
    if np.dtype(kind).kind in "iu":
        info = np.iinfo(kind)
        found = np.abs(drawn * 8).astype(kind) if info.min == 0 else (drawn * 8).astype(kind)
        ends = np.asarray([info.min, info.max, 0], kind)
    else:
        found = drawn.astype(kind)
        info = np.finfo(kind)
        ends = np.asarray(
            [0.0, -0.0, np.inf, -np.inf, info.max, info.min, info.tiny, info.smallest_subnormal],
            kind,
        )
    special = rng.random(shape) < rng.choice([0.0, 0.3, 1.0], (*shape[:-1], 1))
    return np.where(special, rng.choice(ends, shape), found)


def labels(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Rows of few, of about half, and of only positives, and of none."""
    shares = rng.choice([0.0, 0.05, 0.5, 0.95, 1.0], (*shape[:-1], 1), p=[0.1, 0.3, 0.4, 0.1, 0.1])
    return (rng.random(shape) < shares).astype(np.int64)


def sums(y: Any, s: Any, **given: Any) -> dict[str, Any]:
    """The measures that are sums over the table."""
    ranking = qk.rank(y, s, **given)
    found = {"roc_auc": qk.roc_auc(ranking), "partial": qk.roc_auc(ranking, max_fpr=0.3)}
    found |= {"average_hit_rate": qk.average_hit_rate(ranking), "pem": qk.pem(ranking)}
    found |= {"average_precision": qk.average_precision(ranking)}
    found |= {"average_qrecall": qk.average_qrecall(ranking), "pr_auc": qk.pr_auc(ranking)}
    found |= {"roc_hull_auc": qk.roc_hull_auc(ranking)}
    areas = qk.pem_areas(ranking, method="area")
    found |= {f"s{k}": x for k, x in enumerate(areas, 1)}
    found |= {f"hit_rate at {q}": qk.hit_rate(ranking, fraction=q / 4) for q in AT}
    return found


def direct(y: Any, s: Any) -> dict[str, Any]:
    """What needs no table of all examples."""
    found = {"auc": qk.roc_auc(y, s), "hit_rate": qk.hit_rate(y, s, fraction=0.25)}
    found |= {"hit rates": qk.qrecall(y, s, fraction=[0.25, 0.6]), "pem": qk.pem(y, s)}
    return found | {"selected": qk.select(s, fraction=0.25)}


def near(name: str, found: np.ndarray, wanted: np.ndarray) -> bool:
    """Twice four units in the last place, as each may be off by four; of 1 where terms cancel."""
    if name in ("pem", "s1", "s2"):
        gaps = np.abs(np.nan_to_num(found - wanted))
        return np.array_equal(np.isnan(found), np.isnan(wanted)) and gaps.max(initial=0) <= (
            1e-5 if found.dtype == np.float32 else 1e-13
        )
    return ulps(found, wanted) <= 8


def agree(batch: dict[str, Any], singles: list[dict[str, Any]], rows: list[int]) -> None:
    for name, values in batch.items():
        found = np.asarray(values)[rows]
        wanted = np.stack([np.asarray(single[name]) for single in singles]).astype(found.dtype)
        assert near(name, found, wanted), name


def case(kind: str, size: tuple[int, int]) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
    rng = np.random.default_rng([TYPES.index(kind), *size])
    return rng, labels(rng, size), scores(rng, kind, size)


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("kind", TYPES)
def test_rows_of_a_batch_are_as_the_lists_alone(kind: str, size: tuple[int, int]):
    rng, y, s = case(kind, size)
    masks, weights = rng.random(size) < 0.8, rng.choice([0.0, 0.5, 1, 3], size)
    rows = [*range(min(size[0], 30)), *rng.integers(0, size[0], 40), size[0] - 1]
    agree(direct(y, s), [direct(y[k], s[k]) for k in rows], rows)
    for beside in ({}, {"where": masks}, {"sample_weight": weights}, {"ties": "optimistic"}):
        of_row = [{k: x[row] if k != "ties" else x for k, x in beside.items()} for row in rows]
        singles = [sums(y[k], s[k], **own) for k, own in zip(rows, of_row, strict=True)]
        agree(sums(y, s, **beside), singles, rows)


@pytest.mark.long_program
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("mode", parameters([m for m in LIBRARIES if m.name != "numpy"]))
def test_rows_of_a_batch_of_every_library(mode: Mode, kind: str):
    """As NumPy's single lists, with all that float32 can tell apart."""
    for size in ((513, 40), (3, 700)):
        rng, y, s = case(kind, size)
        if mode.float32:
            with np.errstate(over="ignore"):
                s = s.astype(np.float32).astype(kind)
        rows = [*range(12), *rng.integers(0, size[0], 20)] if size[0] > 12 else [0, 1, 2]
        agree(mode.run(direct, y, s), [direct(y[k], s[k]) for k in rows], rows)
        agree(mode.run(sums, y, s), [sums(y[k], s[k]) for k in rows], rows)
