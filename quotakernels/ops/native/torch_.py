"""Native forms for PyTorch: bit patterns, its own sorts and scans, CPU memory as NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch
from torch.nn.functional import pad

from quotakernels._array import (
    Across,
    Array,
    Device,
    from_host_view,
    host_view,
    is_compiling,
    readable,
    standard_namespace,
    to_numpy,
    tree_map,
)
from quotakernels.ops._table import (
    CutRow,
    ExampleColumns,
    Few,
    GroupIndex,
    InPlace,
    Running,
    TieTable,
)
from quotakernels.ops.arrays import (
    all_readable,
    bits_from_key,
    flagged_places,
    is_below,
    key_from_bits,
)
from quotakernels.ops.native._numpy_words import bits_of_key, key_of_bits
from quotakernels.ops.native.numpy_ import HOST
from quotakernels.ops.standard import Standard

_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_SIGNED = {torch.uint16: torch.int32, torch.uint32: torch.int64}


def order_key(scores: Array) -> Array:
    """Always signed, since unsigned tensors lack comparisons."""
    if scores.dtype.is_floating_point:
        width = scores.dtype.itemsize
        bits = _seen_as(scores.detach().contiguous(), _INTEGERS[width])
        if readable(bits):
            return torch.from_numpy(key_of_bits(to_numpy(bits)))
        return key_from_bits(bits, 8 * width)
    if scores.dtype == torch.bool:
        return scores.to(torch.uint8)
    if scores.dtype == torch.uint64:
        return _seen_as(scores, torch.int64) ^ -(2**63)
    return scores.to(_SIGNED.get(scores.dtype, scores.dtype))


def from_order_key(key: Array, dtype: Any) -> Array:
    """The scores to which `order_key` gave these keys (0.0 for -0.0)."""
    if dtype.is_floating_point:
        if readable(key):
            return torch.from_numpy(bits_of_key(to_numpy(key))).view(dtype)
        return _seen_as(bits_from_key(key, 8 * dtype.itemsize), dtype)
    if dtype == torch.uint64:
        return _seen_as(key ^ -(2**63), dtype)
    return key.to(dtype)


class _SeenAs(torch.autograd.Function):  # type: ignore[misc]
    """View bytes as numbers of another type, which `vmap` cannot do before PyTorch 2.13."""

    @staticmethod
    def forward(x: Array, dtype: Any) -> Array:
        return x.view(dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Bits have no gradient."""

    @staticmethod
    def vmap(_: Any, in_dims: Any, x: Array, dtype: Any) -> tuple[Array, Any]:
        return _SeenAs.apply(x, dtype), in_dims[0]


def _seen_as(x: Array, dtype: Any) -> Array:
    return _SeenAs.apply(x, dtype) if are_mapped(x) else x.view(dtype)


def _by_group(
    scores: Array, valid: Array | None, codes: Array, size: int, stable: bool
) -> tuple[Array, Array, Array]:
    """Scores and groups, sorted by group and best first, NaN before all, and the order."""
    key, by_score = torch.sort(scores, dim=-1, descending=True, stable=stable)
    codes = codes if valid is None else torch.where(valid, codes, size)
    codes, by_group = torch.sort(torch.gather(codes, -1, by_score), dim=-1, stable=True)
    key, order = (torch.gather(x, -1, by_group) for x in (key, by_score))
    return key, codes, order


def _table(
    examples: tuple[Array, Array, Array | None, Array | None],
    key: Array,
    order: Array,
    differs: Array,
) -> TieTable:
    """The table of examples by their sorted keys, which ones differ from those before them."""
    scores, labels, weights, valid = examples
    there = None if valid is None else torch.gather(valid, -1, order)
    positive = torch.gather(labels if valid is None else labels & valid, -1, order)
    edge = torch.ones((*key.shape[:-1], 1), dtype=torch.bool, device=key.device)
    first = torch.cat([edge, differs], dim=-1)
    integer = torch.int32 if key.shape[-1] < 2**31 else torch.int64
    masses = () if weights is None else _by_class(weights, order, positive, there)
    sums = _sums_of_runs(first, (there, positive), masses, integer)
    counts, positives, *weighed = sums
    is_float = scores.dtype.is_floating_point
    thresholds = 0 - key if is_float else from_order_key(key, scores.dtype)
    return TieTable(thresholds, counts, positives, *(weighed or (None, None)))


def _running_counts(scores: Array, labels: Array, valid: Array | None) -> TieTable:
    """The running counts of the tie groups of one list, without reading a value."""
    size, bits = scores.shape[0], 8 * scores.dtype.itemsize
    if scores.dtype.is_floating_point and bits == 16 and size > 2**bits:
        return _running_patterns(scores, labels, valid)
    key, order = _best_first(scores, valid)
    positive = torch.gather(labels if valid is None else labels & valid, -1, order)
    edges = pad(key[1:] != key[:-1], (1, 1), value=True)
    items = _places(edges, size)
    dtype = torch.int32 if size < 2**30 else torch.int64  # of which the sum of two is one too
    found = torch.cumsum(pad(positive, (1, 0)), dim=0, dtype=dtype)[items]
    if valid is not None:
        items = torch.minimum(items, torch.count_nonzero(valid))
    return TieTable.of_running(items, found, Running(edges[:-1]))


def _best_first(scores: Array, valid: Array | None, stable: bool = False) -> tuple[Array, Array]:
    """What compares as the scores do, sorted, and the order; what does not count comes last.

    Floats are negated, and zero loses its sign.
    """
    is_float = scores.dtype.is_floating_point
    key = 0 - scores.detach() if is_float else order_key(scores)
    if valid is not None:
        key = torch.where(valid, key, torch.nan if is_float else torch.iinfo(key.dtype).min)
    found: tuple[Array, Array] = torch.sort(key, dim=-1, descending=not is_float, stable=stable)
    return found


def _by_class(
    weights: Array, order: Array, positive: Array, there: Array | None
) -> tuple[Array, Array]:
    """The weights of positives and of negatives, in an order."""
    weights, nothing = torch.gather(weights, -1, order), weights.new_zeros(())
    if there is not None:
        weights = torch.where(there, weights, nothing)
    return torch.where(positive, weights, nothing), torch.where(positive, nothing, weights)


def _sums_of_runs(
    first: Array, counts: tuple[Array | None, ...], masses: tuple[Array, ...], dtype: Any
) -> tuple[Array, ...]:
    """Sums over the runs that have a `first`, in the place of their last; counts of None are ones.

    All lists are one here, which begins with a run.  Ends of runs come first, and what they lack in
    number goes behind the end.  Differences of running sums of whole numbers are exact.  No sum of
    floats crosses a run.
    """
    size, flags = first.numel(), first.reshape(-1)
    flags = torch.cat([flags, flags[:1]])
    ends = _places(flags, size + 1)
    nothing = ~flags[:1]

    def upto(x: Array | None) -> Array:
        if x is None:
            return ends.to(dtype)
        padded = torch.cat([nothing, x.reshape(-1), nothing])
        return torch.cumsum(padded, dim=0, dtype=dtype)[ends]

    def in_place(sums: Array) -> tuple[Array, ...]:
        found = sums.new_zeros((sums.shape[0], size + 2))
        found = found.scatter(-1, ends[1:].expand(sums.shape), sums)[:, 1:-1]
        return tuple(found.reshape(-1, *first.shape).unbind(0))

    found = in_place(torch.diff(torch.stack([upto(x) for x in counts])))
    if not masses:
        return found
    bounds = ends.clamp(max=size)
    sums = (
        torch.segment_reduce(x.reshape(-1), "sum", offsets=bounds, unsafe=True, initial=0)
        for x in masses
    )
    return *found, *in_place(torch.stack(list(sums)))


def _counted_patterns(counts: Array, scores: Array, labels: Array) -> tuple[Array, Array]:
    """Each place in the counts of both classes is made of the bits and the label of an example.

    Where something is bad, what is counted does not matter.
    """
    labels = labels.to(torch.int64)
    bad = torch.logical_or(torch.isnan(scores), labels & -2).any(dim=-1)
    place = torch.add(labels, scores.detach().view(torch.int16), alpha=2) & 0x1FFFF
    place = torch.where(place > 0x10001, place, (place ^ 0xFFFE) & 0xFFFF)  # -0.0 goes to 0.0
    raised = counts.flatten(-2).scatter(-1, place, 1, reduce="add")
    left = raised.amin(dim=-1) >> 63  # -1 where a count has left the integers
    return raised.view(counts.shape), torch.add(bad, left, alpha=-1)


def _running_patterns(scores: Array, labels: Array, valid: Array | None) -> TieTable:
    """The first pattern is a NaN, of which good scores have none."""
    sums = torch.cumsum(_pattern_counts(scores, labels, valid), dim=-1, dtype=torch.int64)
    others, found = sums.unbind(0)
    return TieTable.of_running(others + found, found)


def _pattern_counts(scores: Array, labels: Array, valid: Array | None) -> Array:
    """Of both classes, the number of examples with each bit pattern, from the highest score on.

    Places are made of the bits, as signed integers, and the label, which is true or false.
    """
    integer, half = torch.int32 if scores.shape[0] < 2**31 else torch.int64, 2**15
    one = labels.new_ones((), dtype=integer)
    middle = torch.add(one, labels, alpha=2)
    places = torch.add(scores.detach().view(torch.int16), middle, alpha=half)
    added = one.expand(places.shape) if valid is None else valid.to(integer)
    found = labels.new_zeros(4 * half, dtype=integer).index_add(0, places, added)
    found = found.view(2, 2 * half)
    below, zero, above = found[:, 1:half], found[:, half, None] + found[:, :1], found[:, half + 1 :]
    return torch.cat([above.flip(-1), zero, below], dim=-1)


def are_mapped(*arrays: Array | None) -> bool:
    """Whether ``vmap`` goes over one of them, for which some functions copy, or loop."""
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    given = (x for x in arrays if x is not None)
    return not torch.compiler.is_compiling() and any(wrapped(x) for x in given)


def _on_host(tree: Any) -> Any:
    return tree_map(to_numpy, tree)


def _on_device(scores: Array, *arrays: Array | None) -> bool:
    """Whether there are values, over which no ``vmap`` goes."""
    return 0 not in scores.shape and not are_mapped(scores, *arrays)


def _has_short_chains(table: TieTable) -> bool:
    """Whether rows are positions of counted examples, and a search, of floats too, is there."""
    short = table.in_place and not table.weighted and table.counts.shape[-1] < LONGEST
    mapped = are_mapped(table.counts, table.positives)
    return short and not mapped and bool(table.counts.device.type != "mps")


def _columns_on_host(table: TieTable, thresholds: Array) -> TieTable:
    """In NumPy's view, which has not all types that thresholds may have: others stand for them."""
    return table._replace(thresholds=thresholds).map(to_numpy)


def _places(flags: Array, behind: int) -> Array:
    """Where flags are raised, in order, and then `behind` until there are as many as flags.

    A number that is filled in is part of a program of torch.compile, which the length must not be.
    """
    if not torch.compiler.is_compiling():
        return torch.nonzero_static(flags, size=flags.shape[0], fill_value=behind)[:, 0]
    found = torch.nonzero_static(flags, size=flags.shape[0], fill_value=-1)[:, 0]
    return torch.where(found < 0, behind, found)


def _searched(ends: Array, wanted: Array, beyond: bool = False) -> Array:
    """In one search; the kernels of torch.compile search a tensor, but no part of one."""
    if not torch.compiler.is_compiling():
        return torch.searchsorted(ends, wanted, right=beyond)
    whole = torch.cat([ends, ends[..., -1:]], dim=-1)
    return torch.searchsorted(whole, wanted, right=beyond).clamp(max=ends.shape[-1])


def _rows_of_groups_at(table: TieTable, wanted: Array) -> tuple[Array, CutRow]:
    """The row of each group that owns each wanted mass.

    Of no mass it is the row before the group, or its first one; either gives no positives.  No
    mass is beyond the group.
    """
    begins = table.groups.starts[:-1, None]
    place = torch.ceil(begins + wanted).to(begins.dtype)  # of NaN a number not above 0
    row = _searched(table.counts[1:], place)
    begin = begins.expand(row.shape)[..., None]
    ends = torch.cat([begin, table.counts.unfold(0, 2, 1)[row]], dim=-1)
    before, mass = torch.diff(ends).to(wanted.dtype).unbind(-1)
    positive_before, positive = torch.diff(table.positives[ends]).to(wanted.dtype).unbind(-1)
    return row, CutRow(before, positive_before, mass, positive)


MERGED_LEVELS = 27
LONGEST = 2**MERGED_LEVELS
"""Examples below which floats tell any two slopes apart, and hold the products of steps."""


def _most_vertices() -> tuple[int, ...]:
    """Of a chain of 1, 2, 4, … points: an edge is as many steps long as the sum of its pair."""
    found, edges, steps, length, slopes = [], 0, 0, 1, 2
    for level in range(MERGED_LEVELS + 1):
        while steps + slopes * length < 2**level:
            edges, steps, length = edges + slopes, steps + slopes * length, length + 1
            slopes = int(np.sum(np.gcd(np.arange(length), length) == 1))
        found.append(edges + (2**level - 1 - steps) // length + 1)
    return tuple(found)


_MOST_VERTICES = _most_vertices()


def _ends_by_merging(table: TieTable, row: Array) -> Array:
    """The ends of a hull of counts, in a table in place, with the `row` of each position.

    Tied examples are points too, the negatives first: they lie below the edges of their group.
    """
    size = table.counts.shape[-1]
    counts, positives, row = (x.reshape(-1, size) for x in (table.counts, table.positives, row))
    place = torch.arange(1, size + 1, dtype=torch.float64, device=counts.device)
    others = place - torch.cumsum(positives, dim=-1, dtype=torch.int64)
    others = torch.minimum(others, others.gather(-1, row))
    points = 2
    while points <= size:  # with the origin; a program serves all sizes up to this
        points *= 2
    path = torch.stack([others, place.expand(counts.shape)])
    _, ends = _chain(pad(path, (points - size, 0)))
    ends = torch.cat([ends.to(torch.int64), torch.sum(counts, dim=-1, keepdim=True)], dim=-1)
    is_vertex = counts.new_zeros((len(counts), size + 1), dtype=torch.bool)
    is_vertex = is_vertex.scatter(-1, ends, True)[:, 1:]
    return ((counts > 0) & is_vertex).reshape(table.counts.shape)


def _chain(path: Array) -> Array:
    """The vertices of each path, shape (2, lists, T) as it is, after the first one repeated.

    A point is told by the negatives down to it, and by its place.
    """
    pairs = path.unflatten(-1, (-1, 2))
    chains, level = torch.cat([pairs[..., :1], pairs], dim=-1), 1
    ranks = torch.arange(1 - path.shape[-1], 2, device=path.device)
    while chains.shape[-2] > 1:
        level += 1
        chains = _merged(chains.unflatten(-2, (-1, 2)), ranks[-_MOST_VERTICES[level] - 1 :])
    return chains[..., 0, :]


def _merged(pairs: Array, ranks: Array) -> Array:
    """One chain for each pair, whose last vertex has rank 1, in as many places as there are ranks.

    An edge stays where the whole other chain is below its line, of which the point nearest to
    the line tells.  These are the first edges of the left chain and the last ones of the right.
    """
    starts, steps = pairs[..., :-1], pairs[..., 1:] - pairs[..., :-1]
    others, places = steps
    slope = others / places.clamp(min=1)
    nearest = torch.searchsorted(slope.flip(-2), slope)
    size = pairs.shape[-1]
    other = torch.arange(size, -1, -size, device=pairs.device)[:, None]
    both = pairs.flatten(-2)
    far = both.gather(-1, (nearest + other).flatten(-2).expand(2, *([-1] * (both.ndim - 1))))
    x, place = far.unflatten(-1, (2, -1)) - starts
    kept = torch.cumsum((others * place < places * x).flatten(-2), dim=-1)
    index = torch.searchsorted(kept, kept[..., -1:] + ranks)
    return both[..., 1:].gather(-1, index.expand(2, *([-1] * index.ndim)))


def _selected(key: Array, k: int) -> Array:
    """The k-th largest key, from the nearer end."""
    if 2 * k <= key.shape[-1]:
        return torch.amin(torch.topk(key, k, dim=-1, sorted=False).values, dim=-1, keepdim=True)
    rest = torch.topk(key, key.shape[-1] + 1 - k, dim=-1, largest=False, sorted=False).values
    return torch.amax(rest, dim=-1, keepdim=True)


def _partitioned(key: Array, k: Array | int) -> Array:
    """One list in readable memory is partitioned by NumPy, which knows no bfloat16."""
    place = k if isinstance(k, int) else to_numpy(k)
    is_short = key.is_floating_point() and key.dtype.itemsize <= 2
    wide = key.to(torch.float32) if is_short else key
    return torch.from_numpy(HOST.kth_largest(to_numpy(wide), place)).to(key.dtype)


class TorchTypes(Standard):
    """What the standard cannot say of tensors."""

    def constant(self, value: Any, dtype: Any, dev: Device) -> Array:
        """Filled on the device: a copy from the host would wait for it.  So are the constants of
        torch.compile, which would compile anew for each number.
        """
        if value == [] or (dev.type == "cpu" and not is_compiling()):
            return torch.asarray(value, dtype=dtype, device=dev)
        if not isinstance(value, list):
            return torch.full((), value, dtype=dtype, device=dev)
        return torch.stack([torch.full((), x, dtype=dtype, device=dev) for x in value])

    def wide_float(self, dev: Device) -> Any:
        """MPS has no float64."""
        return torch.float32 if getattr(dev, "type", None) == "mps" else torch.float64

    def computing(self) -> Any:
        """PyTorch does not warn of 0/0."""
        return nullcontext()

    def special(self, name: str) -> Callable[[Array], Array]:
        """PyTorch has them."""
        function: Callable[[Array], Array] = getattr(torch.special, name)
        return function

    def clip(self, x: Array, min: float | None = None, max: float | None = None) -> Array:
        """Also where a bound is a length that is not known."""
        return x if min is max is None else torch.clamp(x, min, max)

    def prefix_sum(self, x: Array, dtype: Any = None, whole: bool = False) -> Array:
        """CUDA has no deterministic sum of floats, but one of whole numbers."""
        dtype = x.dtype if dtype is None else dtype
        return torch.cumsum(x, dim=-1, dtype=torch.int64 if whole else dtype).to(dtype)

    def count(self, flags: Array) -> Array:
        """Before 2.13 `vmap` loops over the standard's function."""
        return torch.sum(flags, dim=-1, keepdim=True, dtype=torch.int64)

    def take_last_axis(self, x: Array, index: Array) -> Array:
        """Unsigned tensors cannot be gathered, but signed ones of the same bits can."""
        dtype = x.dtype
        is_unsigned = dtype in (*_SIGNED, torch.uint64)
        x = _seen_as(x, _INTEGERS[dtype.itemsize]) if is_unsigned else x
        batch = torch.broadcast_shapes(x.shape[:-1], index.shape[:-1])
        x, index = (y.expand(*batch, y.shape[-1]) for y in (x, index))
        found = torch.gather(x, -1, index)
        return _seen_as(found, dtype) if is_unsigned else found

    def order_key(self, scores: Array) -> Array:
        """Always signed, since unsigned tensors lack comparisons."""
        return order_key(scores)

    def unkeyed(self, key: Array, dtype: Any) -> Array:
        """Bits are seen as numbers of another type."""
        return from_order_key(key, dtype)


class Torch(TorchTypes):
    """What PyTorch does faster; what is in readable memory is NumPy's as well.

    On a device single examples are sorted faster than words.
    """

    # tables

    def tie_groups(self, examples: ExampleColumns, given: bool = False) -> TieTable:
        """One list in readable memory is ranked by NumPy.

        On a device masses of a group are summed in the order of the input, and of no other with it.
        """
        *arrays, columns = examples
        scores, _, weights, valid = arrays
        if scores.ndim == 1 and all_readable(*arrays, *columns.values()):
            host = _on_host((self.order_key(scores), *examples[1:]))
            table = tree_map(torch.from_numpy, HOST.tie_groups(host, given))
            return table._replace(thresholds=from_order_key(table.thresholds, scores.dtype))
        if columns or given or not _on_device(*arrays):
            return super().tie_groups(examples, given)
        key, order = _best_first(scores, valid, stable=weights is not None)
        table = _table(examples[:4], key, order, key[..., 1:] != key[..., :-1])
        return table._replace(layout=self.layout_of(scores, valid))

    def tie_groups_by_group(
        self, examples: tuple[Array, Array, Array | None, Array | None], codes: Array, ids: Array
    ) -> TieTable | None:
        """Examples are sorted by score, and then by group, which keeps their order.

        Those that do not count are of a group behind the others.
        """
        if all_readable(*examples, codes) or not _on_device(*examples, codes):
            return None
        scores, _, weights, valid = examples
        given = self.comparable(scores), valid, codes, ids.shape[-1]
        key, codes, order = _by_group(*given, stable=weights is not None)
        differs = (key[..., 1:] != key[..., :-1]) | (codes[..., 1:] != codes[..., :-1])
        key = -key if key.dtype.is_floating_point else key
        groups = self.group_index(codes, ids, behind=valid is not None)
        layout = self.layout_of(codes, valid)  # as joint keys have it
        return _table(examples, key, order, differs)._replace(layout=layout, groups=groups)

    def merged(self, table: TieTable, last: Array) -> TieTable:
        """One list in readable memory becomes a table without empty rows."""
        if last.ndim == 1 and all_readable(last, *table.arrays()) and last.any():
            places = _columns_on_host(table, torch.arange(last.shape[0]))
            groups = HOST.merged(places, to_numpy(last)).map(torch.from_numpy)
            return groups._replace(thresholds=table.thresholds[groups.thresholds])
        if not _on_device(last, *table.arrays()):  # of one row, vmap may go over `last` alone
            return super().merged(table, last)
        edge = torch.ones_like(last[..., :1])  # a list without a run is no part of the next
        first = torch.cat([edge, last[..., :-1]], dim=-1)
        counts = (table.counts, table.positives)
        masses = [x for x in table[3:5] if x is not None]
        sums = _sums_of_runs(first, counts, (*masses, *table.sums()), table.counts.dtype)
        weighed = sums[2:4] if masses else (None, None)
        return table.with_sums(sums[:2], weighed, sums[2 + len(masses) :])

    def running_counts(
        self, scores: Array, labels: Array, valid: Array | None, by_positives: bool = False
    ) -> TieTable | None:
        """NumPy finds them in readable memory; elsewhere they are the counts of a sort."""
        if by_positives and valid is None and (host := host_view((scores.detach(), labels))):
            found = HOST.running_counts(host[0], host[1], None, True)
            return found and tree_map(torch.from_numpy, found)
        arrays = (scores, labels, valid)
        if scores.ndim != 1 or all_readable(*arrays) or are_mapped(*arrays):
            return None
        apart = isinstance(self.layout_of(scores, valid), InPlace)
        counted = _running_counts(*arrays)
        return counted if apart else counted._replace(layout=Running())

    def running_counts_by_group(
        self,
        examples: tuple[Array, Array, Array | None],
        invalid: Array | None,
        codes: Array,
        number: int,
    ) -> TieTable | None:
        """On a device, of one list of scores that floats hold.

        An invalid label makes its score NaN, and NaN is the first score of its group.  Codes of no
        group are before or behind all others.  A tie group ends where a group of examples begins.
        """
        scores, labels, valid = examples
        arrays, is_float = (*examples, codes), scores.dtype.is_floating_point
        if scores.ndim != 1 or all_readable(*arrays) or not _on_device(*arrays):
            return None
        if not is_float and self.key_bits(scores.dtype) > 32:
            return None
        size = there = scores.shape[0]
        key = scores.detach() if is_float else scores.to(torch.float64)
        key = key if invalid is None else key.masked_fill(invalid, torch.nan)
        key, codes, order = _by_group(key, valid, codes, number, stable=False)
        positive = torch.gather(labels if valid is None else labels & valid, -1, order)
        ids = torch.arange(number + 1, dtype=codes.dtype, device=codes.device)
        starts = torch.searchsorted(codes, ids)
        ends = torch.cat([positive[:1], key[1:] != key[:-1], positive[:1]])
        items = _places(ends.index_fill_(0, starts, True), size)
        dtype = torch.int32 if size < 2**30 else torch.int64
        upto = torch.cumsum(pad(positive, (1, 0)), dim=0, dtype=dtype)
        if valid is not None:
            items, there = torch.minimum(items, starts[-1]), torch.count_nonzero(valid)
        first = key[starts[:-1] - size]  # that of another group, if it has no example
        good = ((first == first) & (starts[-1] - starts[0] == there)).to(torch.float64)
        groups = GroupIndex(ids[:-1], starts, codes)
        return TieTable.of_running(items, upto, Running(mark=good / good), groups)

    def rows_at(self, table: Any, wanted: Array) -> tuple[Any, CutRow]:
        """One search serves the running counts of all groups of examples."""
        if table.running and table.groups:
            return _rows_of_groups_at(table, wanted)
        return super().rows_at(table, wanted)

    def won_twice_by_group(self, table: TieTable) -> tuple[Array, Array]:
        """Twice the pairs won within each group of examples, ties counted half, and all pairs.

        Both are whole.  What stands before a group is taken off at the end.
        """
        starts = table.groups.starts
        found = table.positives[table.counts]
        won = torch.diff(table.counts - found) * (found[1:] + found[:-1])
        upto = torch.cumsum(torch.cat([table.counts[:1], won]), dim=0)
        before = table.positives[starts]
        positive = torch.diff(before)
        negative = torch.diff(starts) - positive
        twice = torch.diff(upto[torch.searchsorted(table.counts, starts)])
        return torch.addcmul(twice, before[:-1], negative, value=-2), positive * negative

    def owner_in_place(self, counts: Array, place: Array) -> Array:
        """In one search."""
        upto = self.prefix_sum(counts, torch.int64)
        return self.bisect(upto, torch.minimum(place, upto[..., -1:]))

    def rows_of_positions(self, counts: Array, places: Array) -> Array:
        """In one search; under `vmap` places are made of the counts, to be a batch if these are.

        The end of the last row is not needed, as it owns all places behind the others.
        """
        if are_mapped(counts):
            places = torch.cumsum(torch.ones_like(counts), dim=-1, dtype=torch.int64)
        upto = torch.cumsum(counts[..., :-1], dim=-1, dtype=torch.int64)
        return torch.searchsorted(upto, places.expand(counts.shape).contiguous())

    def hull_ends(self, table: TieTable) -> Array:
        """In readable memory it is found by NumPy, and of short lists by merging chains."""
        if all_readable(*table.arrays()):
            return torch.from_numpy(HOST.hull_ends(_columns_on_host(table, table.counts)))
        counts = table.counts
        if not _has_short_chains(table):
            return super().hull_ends(table)
        places = torch.arange(1, counts.shape[-1] + 1, device=counts.device)
        return _ends_by_merging(table, self.rows_of_positions(counts, places))

    # resamples and bins

    def source_of_draws(self, random_state: Any, dev: Any) -> Any:
        """A generator of PyTorch is one already."""
        if isinstance(random_state, torch.Generator):
            return random_state
        entropy = super().source_of_draws(random_state, dev)
        seed = np.random.SeedSequence(entropy).generate_state(1, np.uint64)
        return torch.Generator(dev).manual_seed(int(seed[0] >> 1))

    def coins(self, source: Any, resamples: range, like: Array) -> Array:
        """One stream serves all resamples, in turn."""
        shape = (len(resamples), like.shape[-1])
        flips = torch.randint(2, shape, generator=source, dtype=torch.int8, device=like.device)
        return flips.to(torch.bool)

    def uniform(self, source: Any, resamples: range, like: Array) -> Array:
        """One stream serves all resamples, in turn."""
        shape = (len(resamples), like.shape[-1])
        return torch.rand(shape, generator=source, dtype=torch.float64, device=like.device)

    def pattern_groups(self, scores: Array, labels: Array, valid: Array | None) -> TieTable:
        """Of one list of floats of two bytes, bits and label make the place of each."""
        if scores.ndim > 1 or scores.dtype.itemsize != 2 or are_mapped(scores, labels, valid):
            return super().pattern_groups(scores, labels, valid)
        negatives, positives = _pattern_counts(scores, labels, valid).unbind(0)
        steps = (2**15 - 1, -1, -1), (1 - 2**15, 0)
        bits = [torch.arange(*x, dtype=torch.int16, device=scores.device) for x in steps]
        thresholds, counts = torch.cat(bits).view(scores.dtype), negatives + positives
        layout = Few() if is_below(scores.shape[-1], 2**31) else ()
        return TieTable(thresholds, counts, positives, None, None, layout=layout)

    def binned(
        self, counts: Array, examples: ExampleColumns, bits: int, groups: Array | None = None
    ) -> tuple[Array, dict[str, Array], Array]:
        """NumPy counts what is in readable memory, by keys of the same number of bits."""
        scores, _, weights, _, columns = examples
        plain = (scores.ndim == 1 or weights is not None) and groups is None and not columns
        if not (plain and all_readable(counts, *examples[:4])):
            return super().binned(counts, examples, bits, groups)
        key = self.order_key(scores)
        if self.key_bits(key.dtype) != self.key_bits(scores.dtype):
            return super().binned(counts, examples, bits, groups)
        found = HOST.binned(*_on_host((counts, (key, *examples[1:]))), bits)
        counts, sums, left = from_host_view(found, counts)
        return counts, sums, left

    def binned_if_good(
        self, counts: Array, scores: Array, labels: Any, bits: int
    ) -> tuple[Array, Array | None] | None:
        """Of floats of two bytes."""
        if not isinstance(labels, torch.Tensor) or labels.shape != scores.shape:
            return None
        if 0 in (scores.ndim, *scores.shape):
            return None
        if labels.dtype.is_floating_point or labels.device != scores.device:
            return None
        halves = scores.dtype.is_floating_point and scores.dtype.itemsize == 2 and bits == 16
        return _counted_patterns(counts, scores, labels) if halves else None

    # plain arrays

    def running_max(self, x: Array) -> Array:
        """PyTorch has it."""
        return torch.cummax(x, dim=-1).values

    def total(self, x: Array) -> Array:
        """Sums of tensors cascade."""
        return torch.sum(x, dim=-1)

    def counts(self, flags: list[Array]) -> Array:
        """All kinds in one step."""
        return self.count(torch.stack(flags, dim=-2))[..., 0]

    def nans(self, x: Array) -> Array:
        """Of a list with NaN it is the largest number."""
        return torch.isnan(torch.amax(x, dim=-1, keepdim=True))

    def neither(self, whole: Array, one: Array) -> Array:
        """Numbers are compared with flags in one step."""
        return whole != one

    def bincount(self, codes: Array, length: int) -> Array:
        """Each is added where it belongs."""
        dtype = torch.int32 if codes.shape[-1] < 2**31 else torch.int64
        counts = codes.new_zeros((*codes.shape[:-1], length + 1), dtype=dtype)
        one = codes.new_ones((), dtype=dtype).expand(codes.shape)
        return counts.scatter_add(-1, codes.to(torch.int64), one)[..., :-1]

    def any_of_each(
        self, flags: Array, codes: Array, size: int, anyway: Array | None = None
    ) -> Array:
        """Each code has a place for each kind of flag; where several write, all write the same."""
        codes = codes.expand(flags.shape)
        places = torch.add(codes.to(torch.int64), flags, alpha=size)
        some = None if anyway is None else torch.any(anyway, dim=-1, keepdim=True)
        before = flags.new_zeros(()) if some is None else some
        before = before.expand(*flags.shape[:-1], 2 * size)
        return before.scatter(-1, places, True)[..., size:]

    def increased(self, counts: Array, codes: Array, valid: Array | None) -> tuple[Array, Array]:
        """Each is added where it belongs."""
        ones = (
            torch.ones_like(codes) if valid is None else valid.to(torch.int64).expand(codes.shape)
        )
        raised = counts.scatter_add(-1, codes, ones)
        return raised, raised.gather(-1, codes)

    def bisect(self, ends: Array, wanted: Array, beyond: bool = False) -> Array:
        """In one search; NaN is below everything."""
        if are_mapped(ends, wanted):
            return super().bisect(ends, wanted, beyond)
        batch = torch.broadcast_shapes(ends.shape[:-1], wanted.shape[:-1])
        ends, wanted = (x.expand(*batch, x.shape[-1]).contiguous() for x in (ends, wanted))
        index = _searched(ends, wanted, beyond)
        return torch.where(wanted == wanted, index, 0) if wanted.is_floating_point() else index

    def flagged_first(self, flags: Array) -> Array:
        """Of one list in readable memory the places only."""
        return flagged_places(self, flags)

    def write_slice(self, target: Array, source: Array, start: Array, length: Array | int) -> Array:
        """A copy is written to, where places can be read."""
        if not all_readable(target, source, start):
            return super().write_slice(target, source, start, length)
        return torch.from_numpy(
            HOST.write_slice(*map(to_numpy, (target, source, start)), int(length))
        )

    def comparable(self, scores: Array) -> Array:
        """All floats are compared exactly."""
        return scores.detach() if scores.is_floating_point() else self.order_key(scores)

    def sort_with(self, key: Array, *columns: Array) -> tuple[Array, ...]:
        """By the keys that the standard's order has, in one sort."""
        flipped, order = torch.sort(~key.to(torch.int64), dim=-1, stable=True)
        return (~flipped).to(key.dtype), *(torch.gather(x, -1, order) for x in columns)

    def kth_largest(self, key: Array, k: Array | int, across: Across | None = None) -> Array:
        """One list in readable memory is partitioned by NumPy."""
        plain = isinstance(k, int)
        if across is None and key.ndim == 1 and readable(key) and (plain or readable(k)):
            return _partitioned(key, k)
        if across is None and plain:
            return _selected(key, k)
        return super().kth_largest(key, k, across)


NAMESPACES = [
    library(standard_namespace(torch.empty(0))) for library in (Torch, TorchTypes, Standard)
]
"""With all forms, with those beyond the standard, and with none."""
