"""Draws of resamples by NumPy's generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels._array import Namespace
from quotakernels.ops import drawing

NDArray = np.ndarray[Any, Any]

__all__ = ["draws"]


def draws(
    xp: Namespace,
    source: Any,
    resamples: range,
    sizes: tuple[Any, ...],
    like: NDArray,
    poisson: bool,
) -> NDArray:
    """See `drawing.draws`; each resample has a stream of its own."""
    whole = tuple(int(size) for size in sizes)
    drawn = [_drawn(source, number, whole, like.shape[-1], poisson) for number in resamples]
    return drawn[0][None] if len(drawn) == 1 else np.stack(drawn)


def _drawn(source: Any, number: int, sizes: tuple[int, ...], length: int, poisson: bool) -> NDArray:
    seed = np.random.SeedSequence(source, spawn_key=(number,))
    generator = np.random.Generator(np.random.PCG64(seed))
    if poisson:
        steps = drawing.poisson_steps()
        parts = [np.searchsorted(steps, generator.random(size), side="right") for size in sizes]
    else:
        parts = [
            np.bincount(generator.integers(0, size, size), minlength=size)
            for size in sizes
            if size
        ]
    rest = length - sum(sizes)
    whole = parts if len(parts) == 1 and not rest else [*parts, np.zeros(rest, dtype=np.int64)]
    return whole[0] if len(whole) == 1 else np.concatenate(whole)

