"""Native forms for CuPy: bit patterns, sorted words that carry their code, its own sums."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from quotakernels._array import Across, Array, Namespace
from quotakernels.ops import binning, drawing, standard
from quotakernels.ops._bits import bits_from_key, in_python, key_at_by_bits, key_from_bits


def order_key(xp: Namespace, scores: Array) -> Array:
    """See `standard.order_key`."""
    if scores.dtype.kind != "f":
        return scores.view(cp.uint8) if scores.dtype.kind == "b" else scores
    size = scores.dtype.itemsize
    return key_from_bits(cp.ascontiguousarray(scores).view(f"i{size}"), 8 * size)


def from_order_key(xp: Namespace, key: Array, dtype: Any) -> Array:
    """See `standard.from_order_key`."""
    if dtype.kind != "f":
        return key.view(dtype) if dtype.kind == "b" else key.astype(dtype, copy=False)
    return bits_from_key(key, 8 * dtype.itemsize).view(dtype)


def sort_coded(
    xp: Namespace, key: Array, code: Array, weights: Array | None, stable: bool
) -> tuple[Array, Array, Array | None]:
    """See `standard.sort_coded`; keys of up to 32 bits are sorted as words that end in the code."""
    if stable or weights is not None or key.dtype.itemsize > 4:
        return standard.sort_coded(xp, key, code, weights, stable)
    words = cp.sort((~key.astype(cp.int64) << 2) | code, axis=-1)
    return (~(words >> 2)).astype(key.dtype), (words & 3).astype(code.dtype), None


def binned(
    xp: Namespace,
    scores: Array,
    labels: Array,
    weights: Array | None,
    valid: Array | None,
    bits: int,
) -> tuple[Array, Array | None]:
    """See `binning.binned`; without weights each example is added where it belongs."""
    if weights is not None:
        return binning.binned(xp, scores, labels, weights, valid, bits)
    rows = binning.bin_rows(xp, scores, bits)
    codes = binning.bin_codes(xp, rows, labels, valid, bits)
    lists = codes.reshape(-1, codes.shape[-1]).astype(cp.int64)
    size = (2 << bits) + 1
    lists += size * cp.arange(lists.shape[0], dtype=cp.int64)[:, None]
    counts = cp.zeros(size * lists.shape[0], dtype=cp.int32)
    cp.add.at(counts, lists.reshape(-1), 1)
    counts = counts.reshape(-1, size)[:, :-1]
    return counts.reshape(*codes.shape[:-1], -1, 2), None


def key_at(xp: Namespace, key: Array, place: Array, across: Across | None = None) -> Array:
    """See `around.key_at`."""
    return key_at_by_bits(xp, key, place, in_python, across)


def total(xp: Namespace, x: Array) -> Array:
    """See `standard.total`; sums on the device are trees."""
    return cp.sum(x, axis=-1)


def source_of_draws(xp: Namespace, random_state: Any, dev: Any) -> Any:
    """See `drawing.source_of_draws`; a generator of CuPy is one already."""
    if isinstance(random_state, cp.random.Generator):
        return random_state
    source = drawing.source_of_draws(xp, random_state, dev)
    seed = np.random.SeedSequence(source).generate_state(1, np.uint64)
    return cp.random.default_rng(int(seed[0]))


def coins(xp: Namespace, source: Any, resamples: range, like: Array) -> Array:
    """See `drawing.coins`; one stream serves all resamples, in turn."""
    return source.integers(0, 2, (len(resamples), like.shape[-1])) > 0


def draws(
    xp: Namespace,
    source: Any,
    resamples: range,
    sizes: tuple[Any, ...],
    like: Array,
    poisson: bool,
) -> Array:
    """See `drawing.draws`; one stream serves all resamples, in turn."""
    shape = (len(resamples), like.shape[-1])
    uniform = source.random(shape)
    index, there = drawing.places_drawn(xp, uniform, sizes)
    there = cp.broadcast_to(there.astype(cp.int64), shape)
    if poisson:
        return cp.searchsorted(cp.asarray(drawing.poisson_steps()), uniform, side="right") * there
    counts = cp.zeros(shape, dtype=cp.int64)
    cp.add.at(counts, (cp.arange(shape[0])[:, None], index), there)
    return counts
