"""Native forms for CuPy: bit patterns, sorted words that carry their code, its own sums."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import cupy as cp
import cupyx.scipy.special
import numpy as np

from quotakernels._array import Array
from quotakernels.ops.arrays import bits_from_key, key_from_bits
from quotakernels.ops.standard import Standard


class CuPyTypes(Standard):
    """What the standard cannot say of CuPy's arrays."""

    def computing(self) -> Any:
        """CuPy does not warn of 0/0."""
        return nullcontext()

    def special(self, name: str) -> Callable[[Array], Array]:
        """CuPy has those of SciPy."""
        function: Callable[[Array], Array] = getattr(cupyx.scipy.special, name)
        return function

    def order_key(self, scores: Array) -> Array:
        """The bits are a view."""
        if scores.dtype.kind != "f":
            return scores.view(cp.uint8) if scores.dtype.kind == "b" else scores
        size = scores.dtype.itemsize
        return key_from_bits(cp.ascontiguousarray(scores).view(f"i{size}"), 8 * size)

    def unkeyed(self, key: Array, dtype: Any) -> Array:
        """The bits are a view."""
        if dtype.kind != "f":
            return key.view(dtype) if dtype.kind == "b" else key.astype(dtype, copy=False)
        return bits_from_key(key, 8 * dtype.itemsize).view(dtype)

    def widened(self, scores: Array) -> Array:
        """Kernels of CuPy flush subnormals of 32 bits, which are made of their bits here."""
        wide = scores.astype(cp.float64)
        if scores.dtype != cp.float32:
            return wide
        bits = cp.ascontiguousarray(scores).view(cp.int32)
        magnitude = bits & (2**31 - 1)
        small = magnitude.astype(cp.float64) * 2.0**-149
        return cp.where(magnitude < 2**23, cp.where(bits < 0, -small, small), wide)


class CuPy(CuPyTypes):
    """What CuPy does faster."""

    def source_of_draws(self, random_state: Any, dev: Any) -> Any:
        """A generator of CuPy is one already."""
        if isinstance(random_state, cp.random.Generator):
            return random_state
        entropy = super().source_of_draws(random_state, dev)
        seed = np.random.SeedSequence(entropy).generate_state(1, np.uint64)
        return cp.random.default_rng(int(seed[0]))

    def coins(self, source: Any, resamples: range, like: Array) -> Array:
        """One stream serves all resamples, in turn."""
        return source.integers(0, 2, (len(resamples), like.shape[-1])) > 0

    def uniform(self, source: Any, resamples: range, like: Array) -> Array:
        """One stream serves all resamples, in turn."""
        return source.random((len(resamples), like.shape[-1]))

    def total(self, x: Array) -> Array:
        """Sums on the device are trees."""
        return cp.sum(x, axis=-1)

    def counts(self, flags: list[Array]) -> Array:
        """All kinds in one step."""
        return self.count(cp.stack(flags, axis=-2))[..., 0]

    def nans(self, x: Array) -> Array:
        """Of a list with NaN it is the largest number."""
        return cp.isnan(cp.max(x, axis=-1, keepdims=True))

    def neither(self, whole: Array, one: Array) -> Array:
        """Numbers are compared with flags in one step."""
        return whole != one

    def bincount(self, codes: Array, length: int) -> Array:
        """Each is added where it belongs, in places that are those of its list."""
        lists = codes.reshape(-1, codes.shape[-1]).astype(cp.int64)
        lists += (length + 1) * cp.arange(lists.shape[0], dtype=cp.int64)[:, None]
        counts = cp.zeros((length + 1) * lists.shape[0], dtype=cp.int32)
        cp.add.at(counts, lists.reshape(-1), 1)
        return counts.reshape(*codes.shape[:-1], length + 1)[..., :-1]

    def bisect(self, ends: Array, wanted: Array, beyond: bool = False) -> Array:
        """In one search of one list; NaN is below everything."""
        if ends.ndim != 1:
            return super().bisect(ends, wanted, beyond)
        index = cp.searchsorted(ends, wanted, side="right" if beyond else "left")
        return cp.where(wanted == wanted, index, 0)
