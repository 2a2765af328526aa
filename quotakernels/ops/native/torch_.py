"""Native forms for PyTorch: bit patterns, its own sorts and scans, CPU memory as NumPy's."""

from __future__ import annotations

from typing import Any

import array_api_compat.numpy as host
import numpy as np
import torch

from quotakernels._array import Across, Array, Namespace, readable, to_numpy
from quotakernels.ops import binning, drawing, hull, standard
from quotakernels.ops._bits import bits_from_key, in_python, key_at_by_bits, key_from_bits
from quotakernels.ops._table import Groups
from quotakernels.ops.native import numpy_

_WORDS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_SIGNED = {torch.uint16: torch.int32, torch.uint32: torch.int64}


def order_key(xp: Namespace, scores: Array) -> Array:
    """See `standard.order_key`; always signed, since unsigned tensors lack comparisons."""
    if scores.dtype.is_floating_point:
        width = scores.dtype.itemsize
        bits = scores.detach().contiguous().view(_WORDS[width])
        if readable(bits):
            return torch.from_numpy(numpy_.key_of_bits(to_numpy(bits)))
        return key_from_bits(bits, 8 * width)
    if scores.dtype == torch.bool:
        return scores.to(torch.uint8)
    if scores.dtype == torch.uint64:
        return scores.view(torch.int64) ^ -(2**63)
    return scores.to(_SIGNED.get(scores.dtype, scores.dtype))


def from_order_key(xp: Namespace, key: Array, dtype: Any) -> Array:
    """See `standard.from_order_key`."""
    if dtype.is_floating_point:
        if readable(key):
            return torch.from_numpy(numpy_.bits_of_key(to_numpy(key))).view(dtype)
        return bits_from_key(key, 8 * dtype.itemsize).view(dtype)
    if dtype == torch.uint64:
        return (key ^ -(2**63)).view(dtype)
    return key.to(dtype)


def sort_coded(
    xp: Namespace, key: Array, code: Array, weights: Array | None, stable: bool
) -> tuple[Array, Array, Array | None]:
    """See `standard.sort_coded`; keys of up to 32 bits are sorted as words that end in the code."""
    if not stable and weights is None and key.dtype.itemsize <= 4:
        words = torch.sort((~key.to(torch.int64) << 2) | code, dim=-1).values
        return (~(words >> 2)).to(key.dtype), (words & 3).to(code.dtype), None
    flipped, order = torch.sort(~key.to(torch.int64), dim=-1, stable=True)
    weights = None if weights is None else torch.take_along_dim(weights, order, dim=-1)
    return (~flipped).to(key.dtype), torch.take_along_dim(code, order, dim=-1), weights


def binned(
    xp: Namespace,
    scores: Array,
    labels: Array,
    weights: Array | None,
    valid: Array | None,
    bits: int,
) -> tuple[Array, Array | None]:
    """See `binning.binned`; without weights each example is added where it belongs."""
    on_host = _all_readable(scores, labels, weights, valid)
    if weights is not None and scores.dtype not in _SIGNED and on_host:
        key, mask = to_numpy(order_key(xp, scores)), None if valid is None else to_numpy(valid)
        found = binning.binned(host, key, to_numpy(labels), to_numpy(weights), mask, bits)
        return torch.from_numpy(found[0]), torch.from_numpy(found[1])
    if weights is not None:
        return binning.binned(xp, scores, labels, weights, valid, bits)
    rows = binning.bin_rows(xp, scores, bits)
    if rows.ndim == 1 and valid is None and readable(rows) and readable(labels):
        codes, positive = to_numpy(rows), to_numpy(labels)
        return torch.from_numpy(numpy_.counted(codes.__getitem__, positive, bits)), None
    codes = binning.bin_codes(xp, rows.to(torch.int64), labels, valid, bits)
    size = (*codes.shape[:-1], (2 << bits) + 1)
    counts = torch.zeros(size, dtype=torch.int64, device=codes.device)
    counts = counts.scatter_add(-1, codes, torch.ones_like(codes))
    return counts[..., :-1].reshape(*codes.shape[:-1], -1, 2), None


def key_at(xp: Namespace, key: Array, place: Array, across: Across | None = None) -> Array:
    """See `around.key_at`; one list in readable memory is partitioned by NumPy."""
    if across is not None or key.ndim != 1 or not (readable(key) and readable(place)):
        return key_at_by_bits(xp, key, place, in_python, across)
    return torch.from_numpy(numpy_.key_at(host, to_numpy(key), to_numpy(place)))


def _all_readable(*arrays: Array | None) -> bool:
    """Whether all can be read; of some that were given, ``vmap`` may go over one alone."""
    return all(x is None or readable(x) for x in arrays)


def running_max(xp: Namespace, x: Array) -> Array:
    """See `standard.running_max`."""
    return torch.cummax(x, dim=-1).values


def prefix_sum(xp: Namespace, x: Array) -> Array:
    """See `standard.prefix_sum`."""
    return torch.cumsum(x, dim=-1, dtype=x.dtype)


def total(xp: Namespace, x: Array) -> Array:
    """See `standard.total`; sums of tensors cascade."""
    return torch.sum(x, dim=-1)


def hull_ends(xp: Namespace, table: Groups) -> Array:
    """See `hull.hull_ends`; in readable memory it is found by NumPy."""
    if not _all_readable(*table):
        return hull.hull_ends(xp, table)
    return torch.from_numpy(numpy_.hull_ends(host, _columns(table, table.counts)))


def merged(xp: Namespace, table: Groups, last: Array) -> Groups:
    """See `standard.merged`; one list in readable memory becomes a table without empty rows."""
    if last.ndim != 1 or not _all_readable(last, *table):  # of one row, only last
        return standard.merged(xp, table, last)
    places = _columns(table, torch.arange(last.shape[0]))
    groups = numpy_.merged(host, places, to_numpy(last)).map(torch.from_numpy)
    return groups._replace(thresholds=table.thresholds[groups.thresholds])


def _columns(table: Groups, thresholds: Array) -> Groups:
    """In NumPy's view, which has not all types that thresholds may have: others stand for them."""
    return table._replace(thresholds=thresholds).map(to_numpy)


def flagged_first(xp: Namespace, flags: Array) -> Array:
    """See `standard.flagged_first`; of one readable list, the places of the raised flags only."""
    if flags.ndim == 1 and readable(flags) and bool(flags.any()):
        return torch.nonzero(flags)[:, 0]
    return standard.flagged_first(xp, flags)


def filled_first(xp: Namespace, table: Groups) -> Groups:
    """See `standard.filled_first`; unsigned tensors cannot be gathered, but their keys can."""
    dtype = table.thresholds.dtype
    if dtype not in (*_SIGNED, torch.uint64):
        return standard.filled_first(xp, table)
    keys = table._replace(thresholds=order_key(xp, table.thresholds))
    taken = standard.filled_first(xp, keys)
    return taken._replace(thresholds=from_order_key(xp, taken.thresholds, dtype))


def tie_groups(
    xp: Namespace,
    scores: Array,
    labels: Array,
    weights: Array | None,
    valid: Array | None,
    given: bool,
) -> Groups:
    """See `standard.tie_groups`; one list of scores in readable memory is ranked by NumPy."""
    if scores.ndim != 1 or not _all_readable(scores, labels, weights, valid):
        return standard.tie_groups(xp, scores, labels, weights, valid, given)
    key = to_numpy(order_key(xp, scores))
    masses, mask = (None if x is None else to_numpy(x) for x in (weights, valid))
    groups = numpy_.tie_groups(host, key, to_numpy(labels), masses, mask, given)
    table = groups.map(torch.from_numpy)
    return table._replace(thresholds=from_order_key(xp, table.thresholds, scores.dtype))


def source_of_draws(xp: Namespace, random_state: Any, dev: Any) -> Any:
    """See `drawing.source_of_draws`; a generator of PyTorch is one already."""
    if isinstance(random_state, torch.Generator):
        return random_state
    source = drawing.source_of_draws(xp, random_state, dev)
    seed = np.random.SeedSequence(source).generate_state(1, np.uint64)
    return torch.Generator(dev).manual_seed(int(seed[0] >> 1))


def coins(xp: Namespace, source: Any, resamples: range, like: Array) -> Array:
    """See `drawing.coins`; one stream serves all resamples, in turn."""
    shape = (len(resamples), like.shape[-1])
    flips = torch.randint(2, shape, generator=source, dtype=torch.int8, device=like.device)
    return flips.to(torch.bool)


def draws(
    xp: Namespace,
    source: Any,
    resamples: range,
    sizes: tuple[Any, ...],
    like: Array,
    poisson: bool,
) -> Array:
    """See `drawing.draws`; one stream serves all resamples, in turn."""
    shape = (len(resamples), like.shape[-1])
    device = like.device
    uniform = torch.rand(shape, generator=source, dtype=torch.float64, device=device)
    index, there = drawing.places_drawn(xp, uniform, sizes)
    there = there.to(torch.int64).expand(shape)
    if poisson:
        steps = torch.from_numpy(drawing.poisson_steps()).to(device)
        return torch.searchsorted(steps, uniform, right=True) * there
    counts = torch.zeros(shape, dtype=torch.int64, device=device)
    return counts.scatter_add(-1, index, there)
