"""How often each example is drawn in a resample, and fair coins for it, from a seed.

Examples are drawn with replacement inside strata, which stand one after the other; what stands
behind the last stratum is never drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels._array import Array, Device, Namespace, cast, constant, device, wide_float
from quotakernels.inputs.keywords import brief
from quotakernels.ops import standard

__all__ = ["coins", "draws", "places_drawn", "poisson_steps", "source_of_draws"]


def source_of_draws(xp: Namespace, random_state: Any, dev: Device) -> Any:
    """Where draws come from: whole numbers that seed NumPy's generators."""
    if isinstance(random_state, np.random.Generator):
        return [int(x) for x in random_state.integers(2**32, size=4)]
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if whole and random_state < 0:
        raise ValueError(f"random_state must be a whole number from 0 on; got {random_state}")
    if random_state is None or whole:
        return np.random.SeedSequence(random_state).entropy
    raise TypeError(
        "random_state must be None, a whole number or a random generator of the scores' library; "
        f"got {brief(random_state)}"
    )


def draws(
    xp: Namespace,
    source: Any,
    resamples: range,
    sizes: tuple[Any, ...],
    like: Array,
    poisson: bool,
) -> Array:
    """How often each place is drawn: shape (R, n), where `like` has n places.

    As many are drawn from a stratum as it has places, or with `poisson` each one independently,
    once on average.
    """
    from quotakernels import ops

    shape = (len(resamples), like.shape[-1])
    seeds = [np.random.SeedSequence(source, spawn_key=(number,)) for number in resamples]
    host = np.stack([np.random.default_rng(seed).random(shape[1]) for seed in seeds])
    uniform = xp.asarray(host, dtype=wide_float(xp, device(like)), device=device(like))
    index, there = places_drawn(xp, uniform, sizes)
    if poisson:
        steps = constant(xp, poisson_steps().tolist(), uniform.dtype, device(like))
        counts = ops.bisect(
            xp, xp.broadcast_to(steps, (shape[0], *steps.shape)), uniform, beyond=True
        )
        return xp.where(there, counts, xp.zeros_like(counts))
    index = xp.sort(xp.where(there, index, xp.full_like(index, shape[1])), axis=-1)
    place = xp.arange(shape[1], dtype=xp.int64, device=device(like))
    upto = ops.bisect(xp, index, xp.broadcast_to(place, shape), beyond=True)
    return upto - standard.shifted(xp, upto, 1, 0)


def coins(xp: Namespace, source: Any, resamples: range, like: Array) -> Array:
    """Heads or tails for each place: booleans of shape (R, n), where `like` has n places."""
    length = like.shape[-1]
    seeds = [np.random.SeedSequence(source, spawn_key=(number,)) for number in resamples]
    flips = [np.random.default_rng(seed).integers(0, 2, length, dtype=np.bool) for seed in seeds]
    return xp.asarray(np.stack(flips), device=device(like))


def poisson_steps() -> np.ndarray[Any, Any]:
    """The probabilities that a Poisson variable of mean 1 is at most 0, 1, 2, …; up to 1."""
    factorials = np.cumprod(np.append(1.0, np.arange(1.0, 20.0)))
    steps: np.ndarray[Any, Any] = np.minimum(np.cumsum(np.exp(-1.0) / factorials), 1.0)
    return steps


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
