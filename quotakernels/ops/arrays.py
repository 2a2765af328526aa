"""Operations on plain arrays: sums, counts, places, keys of scores, and numbers by themselves.

All go along the last axis; leading axes are batches.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from quotakernels._array import (
    Across,
    Array,
    Device,
    F,
    Namespace,
    device,
    is_compiling,
    known,
    readable,
    tree_map,
)

_KIND_OF_LETTER = {"b": "bool", "i": "integral", "u": "integral", "f": "real floating"}
"""By the letters that NumPy has for them; the kinds of its other types are asked for by name."""


class Arrays:
    """Sums, counts, places, keys of scores, and numbers by themselves, in any library."""

    stable_sort_is_faster = False

    def __init__(self, xp: Namespace):
        own = {name: x for name, x in vars(xp).items() if not hasattr(type(self), name)}
        self.__dict__.update(own)
        self.__name__ = xp.__name__

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    # types, constants and programs

    takes_host_arrays = False
    """Whether NumPy arrays may stand beside those of the library."""

    def from_host(self, name: str, x: np.ndarray[Any, Any], is_score: bool) -> Array:
        """A NumPy array as one of the library, where that `takes_host_arrays`."""
        return self.asarray(x)

    def of_kind(self, dtype: Any, kinds: str | tuple[str, ...]) -> bool:
        """``isdtype``, which in NumPy refuses the extension type bfloat16."""
        if isinstance(dtype, np.dtype) and dtype.kind in _KIND_OF_LETTER:
            return _KIND_OF_LETTER[dtype.kind] in ((kinds,) if isinstance(kinds, str) else kinds)
        if getattr(dtype, "name", None) == "bfloat16":
            return "real floating" in kinds
        found: bool = self.isdtype(dtype, kinds)
        return found

    def cast(self, x: Array, dtype: Any) -> Array:
        """`x` with the given dtype, not copied if it has it already."""
        return x if x.dtype == dtype else self.astype(x, dtype, copy=False)

    def constant(self, value: Any, dtype: Any, dev: Device) -> Array:
        """A plain number, or a list of them, as an array."""
        return self.asarray(value, dtype=dtype, device=dev)

    def wide_float(self, dev: Device) -> Any:
        """The widest real float in which the device computes; float64 on JAX inside `computing`."""
        return self.float64

    def result_float(self, dev: Device) -> Any:
        """The float type of results: the widest that the caller's configuration has.

        To be asked before `computing` is entered, which changes that configuration.
        """
        return self.wide_float(dev)

    def computing(self) -> Any:
        """The context in which measures are computed.

        It silences the warnings about 0/0, which here is the definition of an undefined result.
        """
        return np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore")

    def compiled(self, function: F, static: tuple[str, ...] = ()) -> F:
        """`function` as one compiled program where the library needs that to be fast (JAX)."""
        return function

    def finish(self, x: Array, dtype: Any) -> Array:
        """A result as the caller gets it: in the given dtype, and from NumPy as a scalar."""
        return self.cast(x, dtype)

    def finished(self, result: Any, dtype: Any) -> Any:
        """Float arrays of a result in the caller's precision; other dtypes stay."""
        wide = self.float64
        return tree_map(lambda x: self.finish(x, dtype if x.dtype == wide else x.dtype), result)

    def special(self, name: str) -> Callable[[Array], Array] | None:
        """A special function of the library, which traces; None where it has none."""
        return None

    # sums and maxima

    def shift_right(self, x: Array, by: int, fill: Any) -> Array:
        """`x` moved `by` places towards the end, with `fill` moving in."""
        pad = self.full((*x.shape[:-1], by), fill, dtype=x.dtype, device=device(x))
        return self.concat([pad, x[..., :-by]], axis=-1)

    def running_max(self, x: Array) -> Array:
        """The largest value up to each position, of non-negative numbers."""
        by = 1
        while by < x.shape[-1]:
            x = self.maximum(x, self.shift_right(x, by, 0))
            by *= 2
        return x

    def prefix_sum(self, x: Array, dtype: Any = None, whole: bool = False) -> Array:
        """Sums up to and with each position, by default in the type of the numbers.

        Where all are `whole`, PyTorch sums integers: its CUDA has no deterministic sum of floats.
        """
        return self.cumulative_sum(x, axis=-1, dtype=x.dtype if dtype is None else dtype)

    def running_count(self, x: Array) -> Array:
        """Sums of fewer than 2**31 examples: XLA widens them in the loops that read them."""
        return self.prefix_sum(x, self.int64)

    def rising_sum(self, x: Array) -> Array:
        """Sums up to and with each position, of which none is above the last, and all are equal
        from where nothing follows: libraries that add in parallel round each sum in another order.
        """
        sums = self.prefix_sum(x)
        place = self.arange(x.shape[-1], dtype=self.int64, device=device(x))
        end = self.max(self.where(x > 0, place, self.zeros_like(place)), axis=-1, keepdims=True)
        last = sums[..., -1:]
        return self.where(place >= end, last, self.minimum(sums, last))

    def exclusive(self, x: Array, start: Array | None = None) -> Array:
        """Sums of what stands before each position, on from a `start`, shape (..., 1)."""
        if start is not None:
            return self.prefix_sum(self.concat([start, x], axis=-1))[..., :-1]
        return self.shift_right(self.prefix_sum(x), 1, 0) if x.shape[-1] else x

    def exclusive_at(self, x: Array, index: Array) -> Array:
        """What `exclusive` has at each index, of floats."""
        return self.take_last_axis(self.exclusive(x), index)

    def segment_sum(self, x: Array, first: Array) -> Array:
        """Sums from the first element of each segment up to each position.

        No sum crosses a segment, so that one of huge weights leaves no trace in the next.
        """
        return self.segment_scan(x, first, self.add)

    def segment_max(self, x: Array, first: Array) -> Array:
        """The largest number from the first of each segment to each position."""
        return self.segment_scan(x, first, self.maximum)

    def segment_scan(
        self, x: Array, first: Array, combine: Callable[[Array, Array], Array]
    ) -> Array:
        """What is combined from the first of each segment up to each position."""
        by = 1
        while by < x.shape[-1] and not known(first):
            x = self.where(first, x, combine(self.shift_right(x, by, 0), x))
            first = first | self.shift_right(first, by, True)
            by *= 2
        return x

    def total(self, x: Array) -> Array:
        """Sum over the last axis by a balanced tree: the rounding error grows with log n only.

        The first half is a power of two, so that no other is shorter than its neighbour.
        """
        while (size := x.shape[-1]) > 1 and not self.of_kind(x.dtype, "integral"):
            half = 1 << ((size - 1).bit_length() - 1)
            rest = x[..., half:]
            if (lacking := 2 * half - size) > 0:
                pad = self.zeros((*x.shape[:-1], lacking), dtype=x.dtype, device=device(x))
                rest = self.concat([rest, pad], axis=-1)
            x = x[..., :half] + rest
        return x[..., 0] if x.shape[-1] == 1 else self.sum(x, axis=-1, dtype=x.dtype)

    # counts

    def count(self, flags: Array) -> Array:
        """The number of raised flags, with the last axis kept at length 1."""
        return self.count_nonzero(flags, axis=-1, keepdims=True)

    def counts(self, flags: list[Array]) -> Array:
        """The number of raised flags of each of several kinds, shape (..., kinds)."""
        return self.concat([self.count(x) for x in flags], axis=-1)

    def nans(self, x: Array) -> Array:
        """Where floats are NaN, or of each list, shape (..., 1), whether one is."""
        return self.isnan(x)

    def has_nan(self, x: Array) -> Array:
        """Whether there is a NaN among floats."""
        return self.any(self.isnan(x))

    def bincount(self, codes: Array, length: int) -> Array:
        """How often each number below `length` occurs in each list, where that itself may too."""
        place = self.arange(length, dtype=codes.dtype, device=device(codes))
        place = self.broadcast_to(place, (*codes.shape[:-1], length))
        upto = self.bisect(self.sort(codes, axis=-1), place, beyond=True)
        return upto - self.shift_right(upto, 1, 0)

    def any_of_each(
        self, flags: Array, codes: Array, size: int, anyway: Array | None = None
    ) -> Array:
        """For each number below `size`, whether a flag is raised where it is the code.

        In a list with one flag raised `anyway`, it is of all numbers.
        """
        codes = self.broadcast_to(codes, flags.shape)
        counted = self.where(flags, codes, self.full_like(codes, size))
        found = self.bincount(counted, size) > 0
        return found if anyway is None else found | self.any(anyway, axis=-1, keepdims=True)

    def increased(self, counts: Array, codes: Array, valid: Array | None) -> tuple[Array, Array]:
        """Counts of each number in lists, with how often it occurs among the codes that are valid.

        The second are those of the codes, in their order.
        """
        length, counted = counts.shape[-1], codes
        if valid is not None:
            counted = self.where(valid, codes, self.full_like(codes, length))
        raised = counts + self.cast(self.bincount(counted, length), counts.dtype)
        return raised, self.take_last_axis(raised, codes)

    # places

    def bisect(self, ends: Array, wanted: Array, beyond: bool = False) -> Array:
        """Index of the first of the non-decreasing `ends` that reaches each wanted value, or that
        lies `beyond` it.
        """
        length = ends.shape[-1]
        if wanted.shape[-1] == 1:
            return self.count(ends <= wanted if beyond else ends < wanted)

        def below(place: Array) -> Array:
            inside = place <= length
            index = self.where(inside, place - 1, self.zeros_like(place))
            end = self.take_last_axis(ends, index)
            return inside & (end <= wanted if beyond else end < wanted)

        none = self.zeros(wanted.shape, dtype=self.int64, device=device(ends))
        return self.last_below(length, none, below)

    def last_below(self, length: int, low: Array, below: Callable[[Array], Array]) -> Array:
        """The last place down to which all behind `low` are `below`, of at most so many places."""
        bits = 62 if is_symbolic(length) else max(length - 1, 0).bit_length()

        def halved(number: Any, found: Array) -> Array:
            place = found + ((1 << bits) >> number)
            return self.where(below(place), place, found)

        return self.repeated(bits + 1, halved, low)

    def repeated(self, times: int, step: Callable[[Any, Array], Array], state: Array) -> Array:
        """The state after a number of steps."""
        for number in range(times):
            state = step(number, state)
        return state

    def flagged_first(self, flags: Array) -> Array:
        """Places of the raised flags, in order; then that of the last of them again and again.

        Of one list that can be read, the places only, if there are any.
        """
        size = flags.shape[-1]
        upto = self.prefix_sum(self.cast(flags, self.int64))
        wanted = self.arange(1, size + 1, dtype=self.int64, device=device(flags))
        wanted = self.minimum(self.broadcast_to(wanted, flags.shape), upto[..., -1:])
        return self.clip(self.bisect(upto, wanted), max=max(size - 1, 0))

    def take_last_axis(self, x: Array, index: Array) -> Array:
        """What stands at each index, of numbers of any type."""
        return self.take_along_axis(x, index, axis=-1)

    def write_slice(self, target: Array, source: Array, start: Array, length: Array | int) -> Array:
        """`target` with the first `length` of the `source` written to it, from the place `start`
        on.

        What would be written beyond its end is lost.
        """
        index = self.arange(target.shape[-1], dtype=self.int64, device=device(target)) - start
        there = (index >= 0) & (index < source.shape[-1])
        index = self.where(there, index, self.zeros_like(index))
        found = self.take_last_axis(source, self.broadcast_to(index, target.shape))
        return self.where(self.broadcast_to(there & (index < length), target.shape), found, target)

    # keys of scores

    def order_key(self, scores: Array) -> Array:
        """Numbers that compare as the exact values of the scores do, on hardware that flushes too.

        Without access to the bits a float is its own key.
        """
        return self.cast(scores, self.uint8) if self.isdtype(scores.dtype, "bool") else scores

    def comparable(self, scores: Array) -> Array:
        """The scores themselves where a library compares all floats exactly, else their keys."""
        return self.order_key(scores)

    def from_order_key(self, key: Array, dtype: Any, counted: Array | None = None) -> Array:
        """The scores to which `order_key` gave these keys (0.0 for -0.0).

        Where they are not `counted` floats are 0: the lowest key is that of a NaN.
        """
        if counted is not None and self.of_kind(dtype, "real floating"):
            key = self.where(counted, key, self.zeros_like(key))
        return key + 0 if self.of_kind(key.dtype, "real floating") else self.unkeyed(key, dtype)

    def unkeyed(self, key: Array, dtype: Any) -> Array:
        """The scores to which `order_key` gave whole numbers."""
        return self.cast(key, dtype)

    def lowest_key(self, key: Array) -> Array:
        """A key that no score undercuts; examples that do not count are given it."""
        if self.of_kind(key.dtype, "real floating"):
            return self.constant(-self.inf, key.dtype, device(key))
        return self.constant(self.iinfo(key.dtype).min, key.dtype, device(key))

    def widened(self, scores: Array) -> Array:
        """The scores as the widest floats, none of them changed but integers beyond 2**53."""
        return self.wide(scores)

    def wide(self, x: Array) -> Array:
        """Numbers in the widest float of their device; some libraries lose subnormals."""
        return self.cast(x, self.wide_float(device(x)))

    def scaled(self, x: Array, power: Array) -> Array:
        """Floats times powers of two, of one float type; subnormal ones are not taken for 0."""
        return x * power

    def key_bits(self, dtype: Any) -> int:
        """The number of bits that tell all scores of a type apart."""
        size = getattr(dtype, "itemsize", None)
        if isinstance(size, int):
            return 8 * size
        if self.of_kind(dtype, "bool"):
            return 8
        info = self.iinfo if self.of_kind(dtype, "integral") else self.finfo
        width: int = info(dtype).bits
        return width

    def nearest(self, scores: Array, number: float) -> float:
        """The number of the scores' floating type that is nearest to a plain one, of two the even
        one.

        It is left to the library where it may be a symbol, and where the scores are no floats.
        """
        if not self.of_kind(scores.dtype, "real floating") or is_compiling():
            return number
        if isinstance(scores, np.ndarray) and scores.dtype.kind != "f":
            return number  # bfloat16, of which NumPy knows no limits
        info = self.finfo(scores.dtype)
        if info.bits == 64 or not math.isfinite(number):
            return number
        least, most = math.frexp(info.smallest_normal)[1], math.ldexp(info.max, 0)  # Python's float
        unit = math.ldexp(info.eps, max(math.frexp(number)[1], least) - 1)
        rounded = round(number / unit) * unit
        return rounded if abs(rounded) <= most else math.copysign(math.inf, number)

    def reaching(self, scores: Array, threshold: Array | float, inclusive: bool) -> Array:
        """Which scores are at least a threshold, or above it; none if that is NaN."""
        key, wanted = scores, threshold
        if not isinstance(threshold, float):
            if scores.dtype != threshold.dtype:
                scores, threshold = self.widened(scores), self.widened(threshold)
            key, wanted = self.comparable(scores), self.comparable(threshold)
        reached = key >= wanted if inclusive else key > wanted
        if is_float(self, key) or not is_float(self, threshold):
            return reached
        return reached & ~self.isnan(threshold)

    def sort_with(self, key: Array, *columns: Array) -> tuple[Array, ...]:
        """The keys, largest first, and what stands beside them; of equal keys in their order."""
        order = self.argsort(key, axis=-1, descending=True, stable=True)
        return tuple(self.take_along_axis(x, order, axis=-1) for x in (key, *columns))

    def sort_coded(
        self, key: Array, code: Array, payload: tuple[Array, ...], stable: bool
    ) -> tuple[Array, ...]:
        """Sort by key, largest first; an integer code of two bits and any other columns come along.

        Only `stable` promises an order among equal keys: that of the input.
        """
        if stable or payload or is_float(self, key) or self.key_bits(key.dtype) > 32:
            found: tuple[Array, ...] = self.sort_with(key, code, *payload)
            return found
        words = (
            ~self.cast(key, self.int64) << 2
        ) | code  # sorted several times faster than gathered
        words = self.sort(
            words, axis=-1, stable=self.stable_sort_is_faster
        )  # equal ones are the same
        return self.cast(~(words >> 2), key.dtype), self.cast(words & 3, code.dtype)

    def kth_largest(self, key: Array, k: Array | int, across: Across | None = None) -> Array:
        """The k-th largest key, shape (..., 1), where k is 1 for the largest: a number, or
        (..., 1).

        The keys are those of all shards that are summed `across`, which get the same answer.
        """
        if across is not None:
            return largest_by_bits(self, key, k, self.repeated, across)
        rising = self.sort(key, axis=-1)
        if isinstance(k, int):
            return rising[..., -k, None]
        return self.take_last_axis(rising, key.shape[-1] - k)

    # each number by itself

    def at_most(
        self, value: Array, most: Array | float, reached: Callable[[], Array] | None = None
    ) -> Array:
        """Each value, limited to `most`, above which only rounding can lift it.

        Where ``reached()`` holds, the result is exactly `most`, unless the value is 0.
        """
        if reached is None:
            return self.clip(value, max=most)
        if known((value < 0.99 * most) | (value == most)):
            return value
        return self.where(reached() & (value > 0), most, self.minimum(value, most))

    def rate(self, part: Array, whole: Array) -> Array:
        """The quotient, of equals exactly 1."""
        return part / whole

    def nan_unless(self, defined: Array, x: Array, nans: dict[Any, Array] | None = None) -> Array:
        """Each number that is `defined`, and NaN elsewhere; `nans` keeps what is made for each
        type.

        JAX makes no NaN beside those, so that its `debug_nans` stops at undefined results only.
        """
        kept = {} if nans is None else nans
        if x.dtype not in kept:
            kept[x.dtype] = self.constant(self.nan, x.dtype, device(x))
        return self.where(defined, x, kept[x.dtype])

    def neither(self, whole: Array, one: Array) -> Array:
        """Where whole numbers are neither 0 nor 1, of which it is known where they are `one`."""
        return one == (whole == 0)

    def piecewise(
        self,
        rare: Array,
        if_rare: Callable[..., Array],
        otherwise: Callable[..., Array],
        *arguments: Array,
    ) -> Array:
        """`if_rare(*arguments)` where the condition `rare` holds, else `otherwise(*arguments)`.

        `otherwise` may be evaluated everywhere, so it should be the cheaper of the two.
        """
        return self.where(rare, if_rare(*arguments), otherwise(*arguments))


def largest_by_bits(
    xp: Namespace, key: Array, k: Array, repeated: Callable[..., Array], across: Across | None
) -> Array:
    """The k-th largest key, shape (..., 1), which is made bit by bit: each takes a count.

    The smallest integer differs from 0 in the highest bit only, so that also this one is tried by
    flipping it.
    """
    if xp.of_kind(key.dtype, "real floating"):
        raise TypeError(f"y_score has dtype {key.dtype}, whose bits shards cannot count here")
    width = xp.iinfo(key.dtype).bits
    like = key[..., :1] if isinstance(k, int) else k  # which is the same on all shards
    lowest = xp.full_like(like, xp.iinfo(key.dtype).min, dtype=key.dtype)

    def next_bit(number: Any, found: Array) -> Array:
        tried = found ^ (xp.ones_like(found) << (width - 1 - number))
        reached = xp.count(key >= tried)
        reached = reached if across is None else across(reached)
        return xp.where(reached >= k, tried, found)

    return repeated(width, next_bit, lowest)


def flagged_places(xp: Arrays, flags: Array) -> Array:
    """Places of the raised flags, in order: those only if one list can be read and has any, else
    followed by that of the last again and again.
    """
    if flags.ndim == 1 and readable(flags) and flags.any():
        return xp.nonzero(flags)[0]
    return Arrays.flagged_first(xp, flags)


def all_readable(*arrays: Array | None) -> bool:
    """Whether all can be read; of some that were given, ``vmap`` may go over one alone."""
    return all(x is None or readable(x) for x in arrays)


def is_float(xp: Namespace, key: Array) -> bool:
    """Whether the keys are the scores themselves, as the library has no access to their bits."""
    return xp.of_kind(key.dtype, "real floating")


def key_from_bits(bits: Array, width: int) -> Array:
    """Order-preserving key of the bit patterns, given and returned as signed integers.

    Read as such, the bits of non-negative floats are in order already; those of negative floats are
    in reverse order, so all their bits but the sign are flipped.  Minus zero, which that sends to
    -1, is moved to 0, where plus zero is.
    """
    key = bits ^ ((bits >> (width - 1)) & (2 ** (width - 1) - 1))
    return key + (key == -1)


def bits_from_key(key: Array, width: int) -> Array:
    """The bit patterns of which `key_from_bits` made these keys."""
    return key ^ ((key >> (width - 1)) & (2 ** (width - 1) - 1))


def is_symbolic(size: Any) -> bool:
    """Whether a length stands for many, in a program that `jax.export` makes for all of them."""
    export = None if isinstance(size, int) else sys.modules.get("jax.export")
    symbolic: bool = export is not None and export.is_symbolic_dim(size)
    return symbolic


def is_below(low: Any, high: Any) -> bool:
    """Whether one length is less than another; of symbolic ones, whether constraints say so."""
    if is_symbolic(low) or is_symbolic(high):
        try:
            below: bool = low < high
        except sys.modules["jax"].errors.InconclusiveDimensionOperation:
            return False
    else:
        below = low < high
    return below
