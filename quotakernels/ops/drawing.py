"""How often each example is drawn in a resample, and fair coins for it, from a seed.

Examples are drawn with replacement inside strata, which stand one after the other; what stands
behind the last stratum is never drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels._array import Array, Device, Namespace, cast, compiled, device, wide_float
from quotakernels.ops import native
from quotakernels.ops._draws import entropy, poisson_steps


def source_of_draws(xp: Namespace, random_state: Any, dev: Device) -> Any:
    """Where draws come from: a generator of the library, or what seeds those of NumPy."""
    library = native.library(xp)
    if library == "jax":
        return native.jax_.source_of_draws(random_state)
    if library == "torch":
        return native.torch_.source_of_draws(random_state, dev)
    if library == "cupy":
        return native.cupy_.source_of_draws(random_state)
    return entropy(random_state)


def coins(xp: Namespace, source: Any, resamples: range, like: Array) -> Array:
    """Heads or tails for each place: booleans of shape (R, n), where `like` has n places."""
    library = native.library(xp)
    if library == "jax":
        return native.jax_.coins(source, resamples, like)
    if library == "torch":
        return native.torch_.coins(source, resamples, like)
    if library == "cupy":
        return native.cupy_.coins(source, resamples, like)
    length = like.shape[-1]
    seeds = [np.random.SeedSequence(source, spawn_key=(number,)) for number in resamples]
    flips = [np.random.default_rng(seed).integers(0, 2, length, dtype=np.bool) for seed in seeds]
    return xp.asarray(np.stack(flips), device=device(like))


def uniform(xp: Namespace, source: Any, resamples: range, like: Array) -> Array:
    """Numbers from 0 to 1: shape (R, n), where `like` has n places."""
    library = native.library(xp)
    if library == "jax":
        return native.jax_.uniform(source, resamples, like)
    if library == "torch":
        return native.torch_.uniform(source, resamples, like)
    if library == "cupy":
        return native.cupy_.uniform(source, resamples, like)
    seeds = [np.random.SeedSequence(source, spawn_key=(number,)) for number in resamples]
    host = np.stack([np.random.default_rng(seed).random(like.shape[-1]) for seed in seeds])
    return xp.asarray(host, dtype=wide_float(xp, device(like)), device=device(like))


def draws(
    xp: Namespace, source: Any, resamples: range, sizes: tuple[Any, ...], like: Array, poisson: bool
) -> Array:
    """How often each place is drawn: shape (R, n), where `like` has n places.

    As many are drawn from a stratum as it has places, or with `poisson` each one independently,
    once on average.
    """
    if native.library(xp) == "numpy":
        return native.numpy_.draws(source, resamples, sizes, like, poisson)
    numbers = uniform(xp, source, resamples, like)
    return compiled(_drawn, xp, ("xp", "poisson"))(xp, numbers, sizes, poisson)


def _drawn(xp: Namespace, numbers: Array, sizes: tuple[Any, ...], poisson: bool) -> Array:
    index, there = places_drawn(xp, numbers, sizes)
    if poisson:
        steps = xp.asarray(poisson_steps(), dtype=numbers.dtype, device=device(numbers))
        counts = xp.searchsorted(steps, numbers, side="right")
        return xp.where(there, counts, xp.zeros_like(counts))
    size = numbers.shape[-1]
    index = xp.where(there, index, xp.full_like(index, size))
    return cast(xp, xp.bincount(index, size), xp.int64)


def places_drawn(xp: Namespace, uniform: Array, sizes: tuple[Any, ...]) -> tuple[Array, Array]:
    """Places in the strata that uniform numbers, shape (..., n), draw, and which are drawn at all.

    Sizes may be arrays, so that they need not be read.
    """
    place = xp.arange(uniform.shape[-1], dtype=xp.int64, device=device(uniform))
    start, length = xp.zeros_like(place), xp.ones_like(place)
    before: Any = 0
    for size in sizes:
        inside = (place >= before) & (place < before + size)
        start = xp.where(inside, before, start)
        length = xp.where(inside, size, length)
        before = before + size
    within = cast(xp, xp.floor(uniform * cast(xp, length, uniform.dtype)), xp.int64)
    return start + xp.minimum(within, length - 1), place < before
