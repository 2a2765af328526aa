"""How often each example is drawn in a resample, from a seed.

Examples are drawn with replacement inside strata, which stand one after the other; what stands
behind the last stratum is never drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels._array import Array, Device, Namespace, device, to_numpy

__all__ = ["draws", "places_drawn", "poisson_steps", "source_of_draws"]


def source_of_draws(xp: Namespace, random_state: Any, dev: Device) -> Any:
    """Where draws come from: whole numbers that seed NumPy's generators."""
    if isinstance(random_state, np.random.Generator):
        return [int(x) for x in random_state.integers(2**32, size=4)]
    if random_state is None or isinstance(random_state, (int, np.integer)):
        return np.random.SeedSequence(random_state).entropy
    raise TypeError(
        "random_state must be None, a whole number or a random generator of the scores' library; "
        f"got {random_state!r}"
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
    drawn = [_drawn(source, number, sizes, like.shape[-1], poisson) for number in resamples]
    return xp.asarray(np.stack(drawn), device=device(like))


def _drawn(source: Any, number: int, sizes: tuple[Any, ...], length: int, poisson: bool) -> Any:
    """One resample; each has a stream of its own, so they can be drawn in any order."""
    seed = np.random.SeedSequence(source, spawn_key=(number,))
    generator = np.random.Generator(np.random.PCG64(seed))
    sizes = tuple(int(to_numpy(size)) if hasattr(size, "shape") else size for size in sizes)
    if poisson:
        steps = poisson_steps()
        parts = [np.searchsorted(steps, generator.random(size), side="right") for size in sizes]
    else:
        parts = [
            np.bincount(generator.integers(0, size, size, dtype=_word(size)), minlength=size)
            for size in sizes
            if size
        ]
    rest = length - sum(sizes)
    whole = parts if len(parts) == 1 and not rest else [*parts, np.zeros(rest, dtype=np.int64)]
    return whole[0] if len(whole) == 1 else np.concatenate(whole)


def _word(size: int) -> Any:
    return np.int32 if size < 2**31 else np.int64


def poisson_steps() -> np.ndarray[Any, Any]:
    """The probabilities that a Poisson variable of mean 1 is at most 0, 1, 2, …; up to 1."""
    factorials = np.cumprod(np.append(1.0, np.arange(1.0, 20.0)))
    steps: np.ndarray[Any, Any] = np.minimum(np.cumsum(np.exp(-1.0) / factorials), 1.0)
    return steps


def places_drawn(xp: Namespace, uniform: Array, sizes: tuple[Any, ...]) -> tuple[Array, Array]:
    """Places in the strata that uniform numbers, shape (..., n), draw, and which are drawn at all.

    Sizes may be arrays, so that they need not be read.
    """
    place = xp.arange(uniform.shape[-1], dtype=uniform.dtype, device=device(uniform))
    start, length = xp.zeros_like(place), xp.ones_like(place)
    before: Any = 0
    for size in sizes:
        inside = (place >= before) & (place < before + size)
        start = xp.where(inside, before, start)
        length = xp.where(inside, size, length)
        before = before + size
    index = start + xp.minimum(xp.floor(uniform * length), length - 1)
    return xp.astype(index, xp.int64), place < before
