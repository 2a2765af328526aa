"""How often each example is drawn in a resample, and fair coins for it, from a seed.

Examples are drawn with replacement inside strata, which stand one after the other; what stands
behind the last stratum is never drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels._array import Array, Device, Namespace, device
from quotakernels.inputs.keywords import show_value
from quotakernels.ops.arrays import Arrays


class Drawing(Arrays):
    """How often each example is drawn in a resample, and fair coins for it, from a seed."""

    def source_of_draws(self, random_state: Any, dev: Device) -> Any:
        """Where draws come from: a generator of the library, or what seeds those of NumPy."""
        return entropy(random_state)

    def coins(self, source: Any, resamples: range, like: Array) -> Array:
        """Heads or tails for each place: booleans of shape (R, n), where `like` has n places."""
        length = like.shape[-1]
        seeds = [np.random.SeedSequence(source, spawn_key=(number,)) for number in resamples]
        flips = [
            np.random.default_rng(seed).integers(0, 2, length, dtype=np.bool) for seed in seeds
        ]
        return self.asarray(np.stack(flips), device=device(like))

    def uniform(self, source: Any, resamples: range, like: Array) -> Array:
        """Numbers from 0 to 1: shape (R, n), where `like` has n places."""
        seeds = [np.random.SeedSequence(source, spawn_key=(number,)) for number in resamples]
        host = np.stack([np.random.default_rng(seed).random(like.shape[-1]) for seed in seeds])
        return self.asarray(host, dtype=self.wide_float(device(like)), device=device(like))

    def draws(
        self, source: Any, resamples: range, sizes: tuple[Any, ...], like: Array, poisson: bool
    ) -> Array:
        """How often each place is drawn: shape (R, n), where `like` has n places.

        As many are drawn from a stratum as it has places, or with `poisson` each one independently,
        once on average.
        """
        numbers = self.uniform(source, resamples, like)
        return self.compiled(_drawn, ("xp", "poisson"))(self, numbers, sizes, poisson)

    def places_drawn(self, uniform: Array, sizes: tuple[Any, ...]) -> tuple[Array, Array]:
        """Places in the strata that uniform numbers, shape (..., n), draw, and which are drawn at
        all.

        Sizes may be arrays, so that they need not be read.
        """
        place = self.arange(uniform.shape[-1], dtype=self.int64, device=device(uniform))
        start, length = self.zeros_like(place), self.ones_like(place)
        before: Any = 0
        for size in sizes:
            inside = (place >= before) & (place < before + size)
            start = self.where(inside, before, start)
            length = self.where(inside, size, length)
            before = before + size
        within = self.cast(self.floor(uniform * self.cast(length, uniform.dtype)), self.int64)
        return start + self.minimum(within, length - 1), place < before


def _drawn(xp: Namespace, numbers: Array, sizes: tuple[Any, ...], poisson: bool) -> Array:
    index, there = xp.places_drawn(numbers, sizes)
    if poisson:
        steps = xp.asarray(poisson_steps(), dtype=numbers.dtype, device=device(numbers))
        counts = xp.searchsorted(steps, numbers, side="right")
        return xp.where(there, counts, xp.zeros_like(counts))
    size = numbers.shape[-1]
    index = xp.where(there, index, xp.full_like(index, size))
    return xp.cast(xp.bincount(index, size), xp.int64)


def entropy(random_state: Any) -> Any:
    """Whole numbers that seed NumPy's generators."""
    if isinstance(random_state, np.random.Generator):
        return [int(x) for x in random_state.integers(2**32, size=4)]
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if whole and random_state < 0:
        raise ValueError(f"random_state must be a whole number from 0 on; got {random_state}")
    if random_state is None or whole:
        return np.random.SeedSequence(random_state).entropy
    raise TypeError(
        "random_state must be None, a whole number or a random generator of the scores' library; "
        f"got {show_value(random_state)}"
    )


def poisson_steps() -> np.ndarray[Any, Any]:
    """The probabilities that a Poisson variable of mean 1 is at most 0, 1, 2, …; up to 1."""
    factorials = np.cumprod(np.append(1.0, np.arange(1.0, 20.0)))
    steps: np.ndarray[Any, Any] = np.minimum(np.cumsum(np.exp(-1.0) / factorials), 1.0)
    return steps
