"""Native forms for JAX: bit patterns, sorted words that carry their code, `lax` scans."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.scipy.special
import numpy as np
from jax.custom_batching import sequential_vmap

from quotakernels._array import Across, Array, Device, F, concrete, tolerance
from quotakernels.ops._table import EXACT_IN_INT64, TOLERANCE, RowSum, TieTable
from quotakernels.ops.arrays import (
    bits_from_key,
    is_below,
    is_symbolic,
    key_from_bits,
    largest_by_bits,
)
from quotakernels.ops.standard import Standard

ELEMENTS_PER_RARE = 32
"""Single elements are picked out of an array if at most one in so many is wanted."""
PARTS_COUNTED = 16
"""Parts into which codes are divided before they are counted."""
_INTEGERS = {8: jnp.int8, 16: jnp.int16, 32: jnp.int32, 64: jnp.int64}


@contextmanager
def computing() -> Iterator[None]:
    """With 64-bit integers and floats, as sums of order n² fit neither int32 nor float32.

    Types and ranks of arrays mix as they do by default, whatever the caller forbids.
    """
    types, ranks = jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow")
    with jax.enable_x64(True), types, ranks:
        yield


@functools.cache
def _jitted(function: Callable[..., Any], static: tuple[str, ...]) -> Callable[..., Any]:
    return jax.jit(function, static_argnames=static)


def _platform() -> str:
    """What JAX computes or traces for: the mesh in use, which may be abstract, or its default."""
    target = jax.sharding.get_abstract_mesh().abstract_device or jax.config.jax_default_device
    if target is None:
        return str(jax.default_backend())
    name: str = getattr(target, "platform", None) or getattr(target, "device_kind", target)
    return name.lower().split()[0]


def _wide_float() -> Any:
    """TPUs have no float64."""
    return jnp.float32 if _platform() == "tpu" else jnp.float64


def _warn_of_new_ties(
    name: str, scores: np.ndarray[Any, Any], rounded: np.ndarray[Any, Any]
) -> None:
    scores, rounded = np.sort(scores, axis=-1), np.sort(rounded, axis=-1)
    distinct = scores[..., 1:] != scores[..., :-1]
    lost = np.count_nonzero(distinct & (rounded[..., 1:] == rounded[..., :-1]))
    if lost:
        warnings.warn(
            f"{name} is {scores.dtype} and JAX runs without x64: as {rounded.dtype} the scores "
            f"have {lost} new ties; call jax.config.update('jax_enable_x64', True) to keep "
            "them apart",
            stacklevel=2,
        )


def _is_float(dtype: Any) -> bool:
    return bool(jnp.issubdtype(dtype, jnp.floating))


def _added(counts: Array, codes: Array, ones: Array) -> Array:
    """The counts with each number where its code says."""

    def of_one(counts: Array, codes: Array, ones: Array) -> Array:
        return counts.at[codes].add(ones.astype(counts.dtype), mode="drop")

    for _ in codes.shape[:-1]:
        of_one = jax.vmap(of_one)
    return of_one(counts, codes, ones)


def _counted_in_turn(counts: Array, positives: Array, last: Array) -> tuple[Array, Array]:
    """Sums of two columns over each run of rows, at its `last` row: one row after another."""

    def step(upto: Any, here: Any) -> Any:
        *own, ends = here
        sums = [x + y for x, y in zip(upto, own, strict=True)]
        left = [jnp.where(ends, nothing, x) for x in sums]
        return left, [jnp.where(ends, x, nothing) for x in sums]

    nothing = jnp.zeros(last.shape[:-1], dtype=counts.dtype)
    rows = [jnp.moveaxis(x, -1, 0) for x in (counts, positives, last)]
    found = jax.lax.scan(step, [nothing, nothing], rows)[1]
    return jnp.moveaxis(found[0], 0, -1), jnp.moveaxis(found[1], 0, -1)


def _counted_in_words(counts: Array, positives: Array, last: Array) -> tuple[Array, Array]:
    """Sums of two columns over each run of rows, at its `last` row: both as halves of words."""
    axis, dtype = last.ndim - 1, counts.dtype
    words = (counts.astype(jnp.int64) << 32) | positives.astype(jnp.int64)
    ends = jax.lax.cummax(jnp.where(last, jnp.cumsum(words, axis=axis), 0), axis=axis)
    own = ends - jnp.concat([jnp.zeros_like(ends[..., :1]), ends[..., :-1]], axis=-1)
    return (own >> 32).astype(dtype), (own & (2**32 - 1)).astype(dtype)


@jax.jit  # type: ignore[untyped-decorator]
def _flipped(source: Any, numbers: Array, like: Array) -> Array:
    def one(number: Array) -> Array:
        key = jax.random.fold_in(source, number)
        return jax.random.bits(key, like.shape[-1:], jnp.uint32) >> 31 > 0

    return jax.vmap(one)(numbers)


@jax.jit  # type: ignore[untyped-decorator]
def _uniform(source: Any, numbers: Array, like: Array) -> Array:
    """Numbers of 53 random bits, which JAX cannot draw by itself where its x64 flag is off."""

    def one(number: Array) -> Array:
        key, shape = jax.random.fold_in(source, number), (2, like.shape[-1])
        high, low = jax.random.bits(key, shape, jnp.uint32).astype(_wide_float())
        return (jnp.floor(high / 2**5) * 2.0**26 + jnp.floor(low / 2**6)) * 2.0**-53

    return jax.vmap(one)(numbers)


class _Chain(NamedTuple):
    """The hull of the rows so far: finished edges, and one that may still become one with them.

    An edge is what it rises, what it runs, and the row with which it ends; -1 stands for none.
    The finished ones stand from place 1 to `top` of the `edges`, shape (G + 2, 3).  The one at the
    `top` is known apart, so that nothing is read before it is written in the same step: all
    edges would be copied.  `row` is the next one.
    """

    edges: Array
    top: Array
    row: Array
    at_top: Array
    open: Array


def _ends_in_turn(table: TieTable) -> Array:
    """The ends of the hull, list by list."""
    shape = table.counts.shape
    if 0 in shape:
        return jnp.zeros(shape, dtype=bool)
    columns = (table.counts, table.positive, *((table.negative,) if table.weighted else ()))
    lists = (x.reshape(-1, shape[-1]) for x in columns)
    return jax.vmap(_ends)(*lists).reshape(shape)


@sequential_vmap  # type: ignore[untyped-decorator]
def _ends(counts: Array, positive: Array, *masses: Array) -> Array:
    """Negatives without masses of their own are counted row by row, which takes no room."""
    with computing():  # batches trace this anew
        size = counts.shape[0]
        turns = _turning(positive, *(masses or (counts - positive,)))

        def edge_of(row: Array) -> Array:
            filled = (row < size) & (_at(counts, row) > 0)
            end = jnp.where(filled, row, -1).astype(positive.dtype)
            up, along = _at(positive, row), _at(masses[0] if masses else counts, row)
            return jnp.stack([up, along if masses else along - up, end])

        def step(chain: _Chain) -> _Chain:
            edges, top, row, at_top, now = chain
            joined = (top > 0) & (now[2] >= 0) & ~turns(*at_top[:2], *now[:2])
            edges = jax.lax.dynamic_update_index_in_dim(
                edges, now, top + 1, 0, allow_negative_indices=False
            )
            top = jnp.where(joined, top - 1, top + (now[2] >= 0))
            both = jnp.append(at_top[:2] + now[:2], now[2])
            now = jnp.where(joined, both, edge_of(row))
            return _Chain(edges, top, row + ~joined, _at(edges, top), now)

        nothing = jnp.minimum(positive[0], 0)  # which has to wait for the columns, as has its room
        edges = jnp.broadcast_to(nothing, (size + 2, 3))
        none, one = jnp.zeros((), jnp.int32), jnp.ones((), jnp.int32)
        first = _Chain(edges, none, one, edges[0], edge_of(none))
        last = jax.lax.while_loop(lambda chain: chain.row <= size, step, first)
        return _raised(size, last.edges[:, 2].astype(jnp.int32), last.top)


def _raised(size: int, ends: Array, top: Array) -> Array:
    """Flags of the rows that stand from place 1 to `top`."""

    def raised(place: Array, flags: Array) -> Array:
        return flags.at[_at(ends, place)].set(True, mode="promise_in_bounds")

    flags: Array = jax.lax.fori_loop(1, top + 1, raised, jnp.zeros(size, dtype=bool))
    return flags


def _at(x: Array, place: Array) -> Array:
    return jax.lax.dynamic_index_in_dim(x, place, keepdims=False, allow_negative_indices=False)


def _turning(positive: Array, negative: Array) -> Callable[..., Array]:
    """Whether the second of two edges is less steep: of masses by more than their rounding."""
    if positive.dtype == jnp.int32:
        return _turns_exactly
    if jnp.issubdtype(positive.dtype, jnp.floating):
        return partial(_turns, tolerance(positive, TOLERANCE))
    found, others = (jnp.sum(x).astype(jnp.float64) for x in (positive, negative))
    exact = found * others < EXACT_IN_INT64
    rounded = partial(_turns, TOLERANCE)
    return lambda *edges: jnp.where(exact, _turns_exactly(*edges), rounded(*edges))


def _turns_exactly(*edges: Array) -> Array:
    up, along, up_next, along_next = (x.astype(jnp.int64) for x in edges)
    return up * along_next > along * up_next


def _turns(near: float, *edges: Array) -> Array:
    up, along, up_next, along_next = (x.astype(jnp.float64) for x in edges)
    steeper = up * along_next
    return steeper > along * up_next + near * steeper


def _taken(x: Array, index: Array) -> Array:
    """No index is beyond the ends, so that the program need not look."""
    return jnp.take_along_axis(x, index, axis=-1, mode="promise_in_bounds")


def _segment_scan(x: Array, first: Array, combine: Callable[[Array, Array], Array]) -> Array:
    """What is combined from the first of each segment on, of a symbolic number of elements.

    The steps double, and are compiled once.
    """
    place = jnp.arange(x.shape[-1], dtype=jnp.int64)

    def step(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        by, x, first = state
        before = jnp.broadcast_to(jnp.maximum(place - by, 0), x.shape)
        combined = jnp.where(first, x, combine(_taken(x, before), x))
        return 2 * by, combined, first | _taken(first, before)

    first = jnp.broadcast_to(first | (place == 0), x.shape)
    state = jnp.ones((), jnp.int64), x, first
    found: Array = jax.lax.while_loop(lambda state: state[0] < x.shape[-1], step, state)[1]
    return found


def _sorted_by_words(key: Array, columns: tuple[Array, ...]) -> tuple[Array, ...]:
    """Of keys of 32 bits words that end in the place are sorted, by which the rest is gathered."""
    place = jax.lax.broadcasted_iota(jnp.int64, key.shape, key.ndim - 1)
    words = jax.lax.sort((~key.astype(jnp.int64) << 31) | place)
    order = words & (2**31 - 1)
    return (~(words >> 31)).astype(key.dtype), *(_taken(x, order) for x in columns)


def _totals(*terms: Array) -> list[Array]:
    """Sums over the last axis, all in one loop that makes the terms too.

    Beside each sum of floats stands what rounding has taken from it: it is right within an ulp.
    """
    shape, operands = jnp.broadcast_shapes(*(x.shape for x in terms)), []
    nothing = {x.dtype: jnp.zeros((), x.dtype) for x in terms}
    lost = {kind: jnp.broadcast_to(x, shape) for kind, x in nothing.items() if _is_float(kind)}
    for x in terms:
        operands += [jnp.broadcast_to(x, shape), *([lost[x.dtype]] if x.dtype in lost else [])]

    def added(left: tuple[Array, ...], right: tuple[Array, ...]) -> tuple[Array, ...]:
        pairs, sums = zip(left, right, strict=True), []
        for x, y in pairs:
            both = x + y
            sums.append(both)
            if x.dtype in lost:
                own, (lost_before, lost_there) = both - x, next(pairs)
                sums.append(lost_before + lost_there + ((x - (both - own)) + (y - own)))
        return tuple(sums)

    start = tuple(nothing[x.dtype] for x in operands)
    sums = iter(jax.lax.reduce(tuple(operands), start, added, (len(shape) - 1,)))
    return [next(sums) + next(sums) if x.dtype in lost else next(sums) for x in terms]


_in_one_program = jax.jit(_totals)
"""Or else the operations would be compiled one by one."""


class JaxTypes(Standard):
    """What the standard cannot say of JAX's arrays, whose lengths may be symbolic."""

    takes_host_arrays = True

    def wide_float(self, dev: Device) -> Any:
        """TPUs have no float64."""
        return _wide_float()

    def result_float(self, dev: Device) -> Any:
        """Without x64 the caller has no float64."""
        return self.wide_float(dev) if jax.config.jax_enable_x64 else jnp.float32

    def computing(self) -> Any:
        """The context in which results are computed in 64 bits, whatever the caller has set."""
        return computing()

    def compiled(self, function: F, static: tuple[str, ...] = ()) -> F:
        """One program for each function, shapes and static options."""
        return _jitted(function, static)  # type: ignore[return-value]

    def special(self, name: str) -> Callable[[Array], Array]:
        """JAX has them."""
        function: Callable[[Array], Array] = getattr(jax.scipy.special, name)
        return function

    def from_host(self, name: str, x: np.ndarray[Any, Any], is_score: bool) -> Array:
        """A NumPy array as one of JAX.

        Scores get the precision that JAX is set to; everything else is kept as the device can.
        """
        if not is_score or x.dtype.kind != "f":
            with computing(), np.errstate(over="ignore", under="ignore"):
                wide = x.dtype == np.float64
                return jnp.asarray(x.astype(self.wide_float(None), copy=False) if wide else x)
        widest = np.dtype(self.result_float(None))
        if x.dtype.itemsize > widest.itemsize:
            with np.errstate(over="ignore", under="ignore"):
                rounded = x.astype(widest)
            _warn_of_new_ties(name, x, rounded)
            x = rounded
        return jnp.asarray(x)

    def clip(self, x: Array, min: float | None = None, max: float | None = None) -> Array:
        """Bounds that are not of the type of `x` are float64 in the trace."""
        bounds = (None if bound is None else jnp.asarray(bound, x.dtype) for bound in (min, max))
        return jnp.clip(x, *bounds)

    def order_key(self, scores: Array) -> Array:
        """XLA on CPU compares subnormal floats equal, their bits not."""
        if not _is_float(scores.dtype):
            return scores.astype(jnp.uint8) if scores.dtype == jnp.bool else scores
        width = 8 * scores.dtype.itemsize
        return key_from_bits(jax.lax.bitcast_convert_type(scores, _INTEGERS[width]), width)

    def unkeyed(self, key: Array, dtype: Any) -> Array:
        """The bits are seen as floats."""
        if not _is_float(dtype):
            return key.astype(dtype)
        return jax.lax.bitcast_convert_type(bits_from_key(key, 8 * dtype.itemsize), dtype)

    def infinite_keys(self, like: Array) -> Array:
        """Keys next to those of the largest floats: JAX may be set to stop at infinities."""
        most = jnp.finfo(like.dtype).max
        ends = self.order_key(jnp.asarray([-most, most], like.dtype)).astype(jnp.int64)
        return ends + jnp.asarray([-1, 1], jnp.int64)

    def widened(self, scores: Array) -> Array:
        """XLA on CPU flushes subnormals, which are made of their bits here."""
        wide = scores.astype(_wide_float())
        if scores.dtype not in (jnp.float32, jnp.bfloat16):
            return wide
        info = jnp.finfo(scores.dtype)
        bits = jax.lax.bitcast_convert_type(scores, _INTEGERS[info.bits])
        magnitude = bits & jnp.iinfo(bits.dtype).max
        small = magnitude.astype(wide.dtype) * 2.0 ** (info.minexp - info.nmant)
        return jnp.where(magnitude < 2**info.nmant, jnp.where(bits < 0, -small, small), wide)

    def scaled(self, x: Array, power: Array) -> Array:
        """XLA on CPU flushes subnormals, which are made of their bits here."""
        info = jnp.finfo(x.dtype)
        bits = jax.lax.bitcast_convert_type(x, _INTEGERS[info.bits])
        magnitude = bits & jnp.iinfo(bits.dtype).max
        least = jax.lax.bitcast_convert_type(power, bits.dtype)  # power times the least subnormal
        least = jnp.maximum(least - ((info.nmant - int(info.minexp)) << info.nmant), 0)
        small = magnitude.astype(x.dtype) * jax.lax.bitcast_convert_type(least, x.dtype)
        return jnp.where(magnitude < 2**info.nmant, jnp.where(bits < 0, -small, small), x * power)

    def rate(self, part: Array, whole: Array) -> Array:
        """XLA multiplies by the inverse of what it spreads."""
        return jnp.where(part == whole, whole / whole, part / whole)

    def nan_unless(self, defined: Array, x: Array, nans: dict[Any, Array] | None = None) -> Array:
        """For JAX's search for NaN it is 0/0 where it is not defined, and 0/1 elsewhere."""
        if not jax.config.jax_debug_nans:
            return jnp.where(defined, x, jnp.asarray(jnp.nan, x.dtype))
        undefined = jnp.zeros((), x.dtype) / defined.astype(x.dtype)
        return jnp.where(defined, x, undefined)

    def segment_scan(
        self, x: Array, first: Array, combine: Callable[[Array, Array], Array]
    ) -> Array:
        """Of a symbolic number of elements in a loop."""
        if is_symbolic(x.shape[-1]):
            return _segment_scan(x, first, combine)
        return super().segment_scan(x, first, combine)

    def total(self, x: Array) -> Array:
        """Of floats it is right within an ulp."""
        found: Array = _in_one_program(x)[0] if _is_float(x.dtype) else super().total(x)
        return found

    def totals_of_rows(self, table: TieTable, sums: tuple[RowSum, ...]) -> list[tuple[Array, ...]]:
        """In one loop, so that no term has to be stored."""
        if table.groups:
            return super().totals_of_rows(table, sums)
        terms, wide = list(self.terms_of_rows(table, sums)), _wide_float()
        found = iter(_totals(*(x for own in terms for x in own)))
        return [tuple(self.cast(next(found), wide) for _ in own) for own in terms]


class Jax(JaxTypes):
    """What JAX does faster."""

    stable_sort_is_faster = True

    def source_of_draws(self, random_state: Any, dev: Any) -> Any:
        """A key of JAX is one already."""
        if isinstance(random_state, jax.Array):
            return random_state
        entropy = super().source_of_draws(random_state, dev)
        seeds = np.random.SeedSequence(entropy).generate_state(2, np.uint32)
        return jax.random.wrap_key_data(jnp.asarray(seeds), impl="threefry2x32")

    def coins(self, source: Any, resamples: range, like: Array) -> Array:
        """Each resample has a key of its own."""
        return _flipped(source, jnp.arange(resamples.start, resamples.stop), like)

    def uniform(self, source: Any, resamples: range, like: Array) -> Array:
        """Each resample has a key of its own."""
        return _uniform(source, jnp.arange(resamples.start, resamples.stop), like)

    def number(self, table: TieTable, x: Array, summed: bool = False) -> Array:
        """In place, where there are no more than rows, XLA widens it last.

        If they are summed row by row anyway, it needs no sum of its own beside the last of these.
        """
        if table.groups or not table.in_place:
            return super().number(table, x, summed)
        whole = self.running_count(x)[..., -1] if summed else jnp.sum(x, axis=-1, dtype=x.dtype)
        return whole.astype(jnp.int64)

    def counts_of_runs(self, counts: Array, positives: Array, last: Array) -> tuple[Array, Array]:
        """A CPU counts in turn, other devices in one running sum of words of both."""
        if counts.dtype != jnp.int32:
            return super().counts_of_runs(counts, positives, last)
        columns = counts, positives, jnp.broadcast_to(last, counts.shape)
        if is_symbolic(last.shape[-1]):
            return _counted_in_words(*columns)
        found: tuple[Array, Array] = jax.lax.platform_dependent(
            *columns, cpu=_counted_in_turn, default=_counted_in_words
        )
        return found

    def rows_of_positions(self, counts: Array, places: Array) -> Array:
        """XLA has the smallest number from each place on."""
        last = counts.shape[-1] - 1
        rows = jnp.where(counts > 0, jnp.arange(last + 1, dtype=jnp.int32), last)
        return jax.lax.cummin(rows, axis=counts.ndim - 1, reverse=True)

    def hull_ends(self, table: TieTable) -> Array:
        """A CPU takes the rows in turn."""
        in_rounds = super().hull_ends
        return jax.lax.platform_dependent(table, cpu=_ends_in_turn, default=in_rounds)

    def grown(
        self, flags: Array, some: Array, more: Callable[[Array], Array], rounds: int
    ) -> Array:
        """Until there are no more."""

        def step(state: tuple[Array, Array]) -> tuple[Array, Array]:
            flags, _ = state
            found = more(flags)
            return flags | found, jnp.any(found)

        last: Array = jax.lax.while_loop(lambda state: state[1], step, (flags, some))[0]
        return last

    def running_max(self, x: Array) -> Array:
        """XLA has it."""
        return jax.lax.cummax(x, axis=x.ndim - 1)

    def running_count(self, x: Array) -> Array:
        """XLA widens them in the loops that read them."""
        return self.prefix_sum(x)

    def segment_sum(self, x: Array, first: Array) -> Array:
        """A CPU sums one by one, other devices by steps that double."""
        first = jnp.broadcast_to(first, x.shape)

        def joined(left: tuple[Array, Array], right: tuple[Array, Array]) -> tuple[Array, Array]:
            (sums, some), (here, begins) = left, right
            return jnp.where(begins, here, sums + here), some | begins

        def in_turn(x: Array, first: Array) -> Array:
            def step(sum_before: Array, here: tuple[Array, Array]) -> tuple[Array, Array]:
                sums = joined((sum_before, here[1]), here)[0]
                return sums, sums

            rows = jnp.moveaxis(x, -1, 0), jnp.moveaxis(first, -1, 0)
            return jnp.moveaxis(jax.lax.scan(step, jnp.zeros_like(x[..., 0]), rows)[1], 0, -1)

        def by_steps(x: Array, first: Array) -> Array:
            return jax.lax.associative_scan(joined, (x, first), axis=x.ndim - 1)[0]

        if is_symbolic(x.shape[-1]):
            return self.segment_scan(x, first, jnp.add)
        return jax.lax.platform_dependent(x, first, cpu=in_turn, default=by_steps)

    def count(self, flags: Array) -> Array:
        """XLA widens the sum, and not each flag."""
        if not is_below(flags.shape[-1], 2**31):
            return super().count(flags)
        return jnp.sum(flags, axis=-1, keepdims=True, dtype=jnp.int32).astype(jnp.int64)

    def bincount(self, codes: Array, length: int) -> Array:
        """Each is added where it belongs, part by part: XLA makes a one for each code of a part."""
        *batch, size = codes.shape
        zeros = jnp.zeros((*batch, length), dtype=jnp.int32)
        parts = PARTS_COUNTED if not is_symbolic(size) and size > length else 1
        if lacking := -size % parts:
            codes = jnp.concat([codes, jnp.full((*batch, lacking), length, codes.dtype)], axis=-1)

        def step(counts: Array, own: Array) -> tuple[Array, None]:
            return _added(counts, own, jnp.ones_like(own)), None

        rows = jnp.moveaxis(codes.reshape(*batch, parts, -1), -2, 0)
        counts: Array = jax.lax.scan(step, zeros, rows)[0]
        return counts

    def increased(self, counts: Array, codes: Array, valid: Array | None) -> tuple[Array, Array]:
        """Each is added where it belongs, in place if nobody else needs the counts."""
        ones = jnp.ones_like(codes) if valid is None else jnp.broadcast_to(valid, codes.shape)
        raised = _added(counts, codes, ones)
        return raised, self.take_last_axis(raised, codes)

    def repeated(self, times: int, step: Callable[[Any, Array], Array], state: Array) -> Array:
        """The state after a number of steps, which are compiled once."""
        last: Array = jax.lax.fori_loop(0, times, step, state)
        return last

    def flagged_first(self, flags: Array) -> Array:
        """Each place is scattered to where it stands."""
        size = flags.shape[-1]

        def of_one(flags: Array) -> Array:
            upto = jnp.cumsum(flags, dtype=jnp.int64)
            place = jnp.arange(size, dtype=jnp.int64)
            found = (
                jnp.zeros_like(place).at[jnp.where(flags, upto - 1, size)].set(place, mode="drop")
            )
            count = upto[-1]
            return jnp.where(place < count, found, found[jnp.maximum(count - 1, 0)])

        if size == 0:
            return jnp.zeros(flags.shape, dtype=jnp.int64)
        return jax.vmap(of_one)(flags.reshape(-1, size)).reshape(flags.shape)

    def take_last_axis(self, x: Array, index: Array) -> Array:
        """No index is beyond the ends, so that the program need not look."""
        return _taken(x, index)

    def sort_with(self, key: Array, *columns: Array) -> tuple[Array, ...]:
        """What comes along is an operand of the sort, or gathered by words of short keys."""
        if is_below(key.shape[-1], 2**31) and 8 * key.dtype.itemsize <= 32:
            return _sorted_by_words(key, columns)
        key, *rest = jax.lax.sort((~key, *columns), num_keys=1, is_stable=True)
        return ~key, *rest

    def kth_largest(self, key: Array, k: Array | int, across: Across | None = None) -> Array:
        """In a loop, unless the host sums what shards count."""
        on_host = across is not None and concrete(key)
        loop = super().repeated if on_host else self.repeated
        return largest_by_bits(self, key, k, loop, across)

    def piecewise(
        self,
        rare: Array,
        if_rare: Callable[..., Array],
        otherwise: Callable[..., Array],
        *arguments: Array,
    ) -> Array:
        """A CPU evaluates the rare formula as often as it is wanted.

        Other devices evaluate it everywhere: a choice would make them wait for the host.
        """
        usual = jnp.broadcast_to(otherwise(*arguments), rare.shape)
        few = rare.size // ELEMENTS_PER_RARE

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

        if any(map(is_symbolic, rare.shape)) or few < 2**10:
            return everywhere(rare, usual, *arguments)
        return jax.lax.platform_dependent(rare, usual, *arguments, cpu=chosen, default=everywhere)
