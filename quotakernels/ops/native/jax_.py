"""Native forms for JAX: bit patterns, sorted words that carry their code, `lax` scans."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import array_api_compat.numpy as host
import jax
import jax.numpy as jnp
import numpy as np

from quotakernels._array import Across, Array, Namespace, concrete, wide_float
from quotakernels.ops import binning, drawing, hull
from quotakernels.ops._bits import bits_from_key, in_python, key_at_by_bits, key_from_bits
from quotakernels.ops._table import Groups
from quotakernels.ops.native import numpy_

HOST_CALLS = os.environ.get("QUOTAKERNELS_JAX_CALLBACKS", "1") != "0"
"""Whether programs for the CPU may call NumPy; one that does cannot be exported."""
CALL_FROM = 2**14
"""Length from which a call of the host pays."""
FEW = 32
"""Part of an array up to which it pays to pick single elements out."""
_WORDS = {8: jnp.int8, 16: jnp.int16, 32: jnp.int32, 64: jnp.int64}


def _is_float(dtype: Any) -> bool:
    return bool(jnp.issubdtype(dtype, jnp.floating))


def order_key(xp: Namespace, scores: Array) -> Array:
    """See `standard.order_key`; XLA on CPU compares subnormal floats equal, their bits not."""
    if not _is_float(scores.dtype):
        return scores.astype(jnp.uint8) if scores.dtype == jnp.bool else scores
    width = 8 * scores.dtype.itemsize
    return key_from_bits(jax.lax.bitcast_convert_type(scores, _WORDS[width]), width)


def from_order_key(xp: Namespace, key: Array, dtype: Any) -> Array:
    """See `standard.from_order_key`."""
    if not _is_float(dtype):
        return key.astype(dtype)
    return jax.lax.bitcast_convert_type(bits_from_key(key, 8 * dtype.itemsize), dtype)


def widened(xp: Namespace, scores: Array) -> Array:
    """See `standard.widened`; XLA on CPU flushes subnormals, which are made of their bits here."""
    wide = scores.astype(wide_float(xp, None))
    if scores.dtype not in (jnp.float32, jnp.bfloat16):
        return wide
    info = jnp.finfo(scores.dtype)
    bits = jax.lax.bitcast_convert_type(scores, _WORDS[info.bits])
    magnitude = bits & jnp.iinfo(bits.dtype).max
    small = magnitude.astype(wide.dtype) * 2.0 ** (info.minexp - info.nmant)
    return jnp.where(magnitude < 2**info.nmant, jnp.where(bits < 0, -small, small), wide)


def scaled(xp: Namespace, x: Array, power: Array) -> Array:
    """See `standard.scaled`; XLA on CPU flushes subnormals, which are made of their bits here."""
    info = jnp.finfo(x.dtype)
    bits = jax.lax.bitcast_convert_type(x, _WORDS[info.bits])
    magnitude = bits & jnp.iinfo(bits.dtype).max
    least = jax.lax.bitcast_convert_type(power, bits.dtype)  # power times the least subnormal
    least = jnp.maximum(least - ((info.nmant - int(info.minexp)) << info.nmant), 0)
    small = magnitude.astype(x.dtype) * jax.lax.bitcast_convert_type(least, x.dtype)
    return jnp.where(magnitude < 2**info.nmant, jnp.where(bits < 0, -small, small), x * power)


def sort_coded(
    xp: Namespace, key: Array, code: Array, weights: Array | None, stable: bool
) -> tuple[Array, Array, Array | None]:
    """See `standard.sort_coded`; keys of up to 32 bits are sorted as words that end in the code."""
    if not stable and weights is None and key.dtype.itemsize <= 4:
        words = jnp.sort((~key.astype(jnp.int64) << 2) | code.astype(jnp.int64), axis=-1)
        return (~(words >> 2)).astype(key.dtype), (words & 3).astype(code.dtype), None
    payload = (code,) if weights is None else (code, weights)
    key, *payload = jax.lax.sort((~key, *payload), num_keys=1, is_stable=stable)
    return ~key, payload[0], None if weights is None else payload[1]


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

    def of_one(codes: Array) -> Array:
        return jnp.zeros(2 << bits, dtype=jnp.int32).at[codes].add(1, mode="drop")

    counts = jax.vmap(of_one)(codes.reshape(-1, codes.shape[-1]))
    return counts.reshape(*codes.shape[:-1], -1, 2), None


def hull_ends(xp: Namespace, table: Groups) -> Array:
    """See `hull.hull_ends`; of a long table a CPU finds it outside of the program, by NumPy."""
    if not HOST_CALLS or table.counts.size < CALL_FROM:
        return _hull_in_rounds(table)
    return jax.lax.platform_dependent(table, cpu=_hull_by_numpy, default=_hull_in_rounds)


def _hull_in_rounds(table: Groups) -> Array:
    """It ends with the round that finds nothing."""
    return hull.ends_by(jnp, table, _split_until_done)


def _hull_by_numpy(table: Groups) -> Array:
    def found(table: Groups) -> Any:
        return numpy_.hull_ends(host, table.map(np.asarray))

    ends = jax.ShapeDtypeStruct(table.counts.shape, jnp.bool)
    return jax.pure_callback(found, ends, table, vmap_method="broadcast_all")


def _split_until_done(xp: Namespace, points: hull.Points, chain: Array, rounds: int) -> Array:
    def split(state: tuple[Array, Array]) -> tuple[Array, Array]:
        chain, _ = state
        found = hull.farthest_above(xp, points, chain)
        return chain | found, jnp.any(found)

    start = (chain, jnp.any(points.filled))
    done: Array = jax.lax.while_loop(lambda state: state[1], split, start)[0]
    return done


def flagged_first(xp: Namespace, flags: Array) -> Array:
    """See `standard.flagged_first`; each place is scattered to where it stands."""
    size = flags.shape[-1]

    def of_one(flags: Array) -> Array:
        upto = jnp.cumsum(flags, dtype=jnp.int64)
        place = jnp.arange(size, dtype=jnp.int64)
        found = jnp.zeros_like(place).at[jnp.where(flags, upto - 1, size)].set(place, mode="drop")
        count = upto[-1]
        return jnp.where(place < count, found, found[jnp.maximum(count - 1, 0)])

    if size == 0:
        return jnp.zeros(flags.shape, dtype=jnp.int64)
    lists = jax.vmap(of_one)(flags.reshape(-1, size))
    return lists.reshape(flags.shape)


def key_at(xp: Namespace, key: Array, place: Array, across: Across | None = None) -> Array:
    """See `around.key_at`; outside of a trace shards may be summed by whatever can."""

    def repeated(times: int, step: Callable[[Any, Array], Array], state: Array) -> Array:
        last: Array = jax.lax.fori_loop(0, times, step, state)
        return last

    steps = in_python if across is not None and concrete(key) else repeated
    return key_at_by_bits(xp, key, place, steps, across)


def piecewise(
    xp: Namespace,
    rare: Array,
    if_rare: Callable[..., Array],
    otherwise: Callable[..., Array],
    *arguments: Array,
) -> Array:
    """See `standard.piecewise`; a CPU evaluates the rare formula as often as it is wanted.

    Other devices evaluate it everywhere: a choice would make them wait for the host.
    """
    usual = jnp.broadcast_to(otherwise(*arguments), rare.shape)
    few = rare.size // FEW

    def nowhere(rare: Array, usual: Array, *x: Array) -> Array:
        return usual

    def everywhere(rare: Array, usual: Array, *x: Array) -> Array:
        return jnp.where(rare, if_rare(*x), usual)

    def somewhere(rare: Array, usual: Array, *x: Array) -> Array:
        places = jnp.nonzero(rare.reshape(-1), size=few, fill_value=rare.size)[0]
        chosen = (jnp.broadcast_to(y, rare.shape).reshape(-1) for y in x)
        values = if_rare(*(y.at[places].get(mode="fill", fill_value=1) for y in chosen))
        return usual.reshape(-1).at[places].set(values, mode="drop").reshape(rare.shape)

    def chosen(rare: Array, usual: Array, *x: Array) -> Array:
        count = jnp.sum(rare)
        number = (count > 0).astype(jnp.int32) + (count > few)
        return jax.lax.switch(number, [nowhere, somewhere, everywhere], rare, usual, *x)

    if few < 2**10:
        return everywhere(rare, usual, *arguments)
    return jax.lax.platform_dependent(rare, usual, *arguments, cpu=chosen, default=everywhere)


def clip(xp: Namespace, x: Array, low: float | None = None, high: float | None = None) -> Array:
    """See `standard.clip`; bounds that are not of the type of `x` are float64 in the trace."""
    low, high = (None if bound is None else jnp.asarray(bound, x.dtype) for bound in (low, high))
    return jnp.clip(x, low, high)


def running_max(xp: Namespace, x: Array) -> Array:
    """See `standard.running_max`."""
    return jax.lax.cummax(x, axis=x.ndim - 1)


def source_of_draws(xp: Namespace, random_state: Any, dev: Any) -> Any:
    """See `drawing.source_of_draws`; a key of JAX is one already."""
    if isinstance(random_state, jax.Array):
        return random_state
    source = drawing.source_of_draws(xp, random_state, dev)
    seeds = np.random.SeedSequence(source).generate_state(2, np.uint32)
    return jax.random.wrap_key_data(jnp.asarray(seeds), impl="threefry2x32")


def coins(xp: Namespace, source: Any, resamples: range, like: Array) -> Array:
    """See `drawing.coins`; each resample has a key of its own."""
    numbers = jnp.arange(resamples.start, resamples.stop)
    return _flipped(source, numbers, like)


@functools.partial(jax.jit)
def _flipped(source: Any, numbers: Array, like: Array) -> Array:
    def one(number: Array) -> Array:
        key = jax.random.fold_in(source, number)
        return jax.random.bits(key, like.shape[-1:], jnp.uint32) >> 31 > 0

    return jax.vmap(one)(numbers)


def draws(
    xp: Namespace,
    source: Any,
    resamples: range,
    sizes: tuple[Any, ...],
    like: Array,
    poisson: bool,
) -> Array:
    """See `drawing.draws`; each resample has a key of its own."""
    numbers = jnp.arange(resamples.start, resamples.stop)
    return _drawn(source, numbers, sizes, like, poisson=poisson)


@functools.partial(jax.jit, static_argnames="poisson")
def _drawn(source: Any, numbers: Array, sizes: Any, like: Array, *, poisson: bool) -> Array:
    length = like.shape[-1]

    def one(number: Array) -> Array:
        uniform = _uniform(jax.random.fold_in(source, number), length)
        index, there = drawing.places_drawn(jnp, uniform, sizes)
        if poisson:
            counts = jnp.searchsorted(jnp.asarray(drawing.poisson_steps()), uniform, side="right")
            return jnp.where(there, counts, 0)
        index = jnp.where(there, index, length)
        return jnp.zeros(length, dtype=jnp.int64).at[index].add(1, mode="drop")

    return jax.vmap(one)(numbers)


def _uniform(key: Any, length: int) -> Array:
    """Numbers of 53 random bits, which JAX cannot draw by itself where its x64 flag is off."""
    high, low = jax.random.bits(key, (2, length), jnp.uint32).astype(wide_float(jnp, None))
    return (jnp.floor(high / 2**5) * 2.0**26 + jnp.floor(low / 2**6)) * 2.0**-53
