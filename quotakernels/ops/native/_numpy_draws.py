"""Draws of resamples by NumPy's generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels.ops._draws import poisson_steps
from quotakernels.ops.native._numpy_rows import blocks

NDArray = np.ndarray[Any, Any]


def draws(
    source: Any, resamples: range, sizes: tuple[Any, ...], like: NDArray, poisson: bool
) -> NDArray:
    """Each resample has a stream of its own."""
    whole = tuple(int(size) for size in sizes)
    drawn = [_drawn(source, number, whole, like.shape[-1], poisson) for number in resamples]
    return drawn[0][None] if len(drawn) == 1 else np.stack(drawn)


def _drawn(source: Any, number: int, sizes: tuple[int, ...], length: int, poisson: bool) -> NDArray:
    seed = np.random.SeedSequence(source, spawn_key=(number,))
    generator = np.random.Generator(np.random.PCG64(seed))
    if poisson:
        steps = poisson_steps()
        parts = [np.searchsorted(steps, generator.random(size), side="right") for size in sizes]
    else:
        parts = [_counts(generator, size) for size in sizes]
    rest = length - sum(sizes)
    whole = (
        parts if len(parts) == 1 and not rest else [*parts, np.zeros(rest, dtype=parts[0].dtype)]
    )
    return whole[0] if len(whole) == 1 else np.concatenate(whole)


def _counts(generator: np.random.Generator, size: int) -> NDArray:
    """How often each of so many places is drawn; block by block, in memory that stays in the cache.

    New pages of memory would cost as much as the draws.
    """
    counts = np.zeros(size, dtype=np.int32 if size < 2**31 else np.int64)
    for block in blocks(size):
        drawn = generator.integers(0, size, block.stop - block.start)
        np.add.at(counts, drawn, counts.dtype.type(1))
    return counts
