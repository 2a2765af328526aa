"""What PyTorch counts of groups of examples, one after the other in one list."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import pad

from quotakernels._array import Array
from quotakernels.ops._table import Cumulative, Parts, Rows


def places(flags: Array, behind: int) -> Array:
    """Where flags are raised, in order, and then `behind` until there are as many as flags.

    A number that is filled in is part of a program of torch.compile, which the length must not be.
    """
    if not torch.compiler.is_compiling():
        return torch.nonzero_static(flags, size=flags.shape[0], fill_value=behind)[:, 0]
    found = torch.nonzero_static(flags, size=flags.shape[0], fill_value=-1)[:, 0]
    return torch.where(found < 0, behind, found)


def searched(ends: Array, wanted: Array, beyond: bool = False) -> Array:
    """In one search; the kernels of torch.compile search a tensor, but no part of one."""
    if not torch.compiler.is_compiling():
        return torch.searchsorted(ends, wanted, right=beyond)
    whole = torch.cat([ends, ends[..., -1:]], dim=-1)
    return torch.searchsorted(whole, wanted, right=beyond).clamp(max=ends.shape[-1])


def cumulative_segments(
    scores: Array,
    labels: Array,
    valid: Array | None,
    codes: Array,
    ids: Array | int,
    unfit: Array | None,
) -> Cumulative:
    """See `cumulative.cumulative_segments`; a tie group ends where a group of examples begins.

    Bad scores are the first ones of their group, and bad codes are before or behind all others.
    """
    size, number = scores.shape[0], ids if isinstance(ids, int) else ids.shape[0]
    scores = scores.detach() if scores.is_floating_point() else scores.to(torch.float64)
    scores = scores if unfit is None else scores.masked_fill(unfit, torch.nan)
    codes = codes if valid is None else torch.where(valid, codes, number)
    key, by_score = torch.sort(scores, descending=True)
    codes, by_group = torch.sort(torch.gather(codes, -1, by_score), stable=True)
    key, order = (torch.gather(x, -1, by_group) for x in (key, by_score))
    positive = torch.gather(labels if valid is None else labels & valid, -1, order)
    every = torch.arange(number + 1, dtype=codes.dtype, device=codes.device)
    starts = torch.searchsorted(codes, every)
    ends = torch.cat([positive[:1], key[1:] != key[:-1], positive[:1]])
    items = places(ends.index_fill_(0, starts, True), size)
    dtype = torch.int32 if size < 2**30 else torch.int64
    upto = torch.cumsum(pad(positive, (1, 0)), dim=0, dtype=dtype)
    there: Any = size
    if valid is not None:
        items, there = torch.minimum(items, starts[-1]), torch.count_nonzero(valid)
    first = key[starts[:-1] - size]  # of a group behind all examples it is that of another
    good = ((first == first) & (starts[-1] - starts[0] == there)).to(torch.float64)
    parts = Parts(every[:-1] if isinstance(ids, int) else ids, starts, upto, codes)
    return Cumulative(items, (), mark=good / good, segments=parts)


def rows_of_groups_at(table: Cumulative, wanted: Array) -> tuple[Array, Rows]:
    """See `segments.summed_rows_of_groups_at`."""
    parts = table.segments
    begins = parts.items[:-1, None]
    place = torch.ceil(begins + wanted).to(begins.dtype)  # of NaN a number not above 0
    row = searched(table.items[1:], place)
    begin = begins.expand(row.shape)[..., None]
    ends = torch.cat([begin, table.items.unfold(0, 2, 1)[row]], dim=-1)
    before, mass = torch.diff(ends).to(wanted.dtype).unbind(-1)
    positive_before, positive = torch.diff(parts.upto[ends]).to(wanted.dtype).unbind(-1)
    return row, Rows(before, before, positive_before, mass, mass, positive)


def won_twice_by_group(table: Cumulative) -> tuple[Array, Array]:
    """Twice the pairs won within each group of examples, and the number of pairs.

    Both are whole.  What stands before a group is taken off at the end.
    """
    parts = table.segments
    found = parts.upto[table.items]
    won = torch.diff(table.items - found) * (found[1:] + found[:-1])
    upto = torch.cumsum(torch.cat([table.items[:1], won]), dim=0)
    before = parts.upto[parts.items]
    positive = torch.diff(before)
    negative = torch.diff(parts.items) - positive
    twice = torch.diff(upto[torch.searchsorted(table.items, parts.items)])
    return torch.addcmul(twice, before[:-1], negative, value=-2), positive * negative
