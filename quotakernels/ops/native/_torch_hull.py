"""The upper hull for PyTorch where no value is read: chains of vertices merged two by two.

A chain over B examples has O(B^(2/3)) vertices, as its edges are different pairs of coprime
numbers.  So shapes that are known beforehand shrink.
"""

from __future__ import annotations

from math import gcd

import torch

from quotakernels._array import Array
from quotakernels.ops._table import Groups

LEVELS = 25
LONGEST = 2**LEVELS
"""Examples up to which floats tell any two slopes apart, and hold the products of steps."""


def _most_vertices() -> tuple[int, ...]:
    """Of a chain of 1, 2, 4, … points: an edge is as many steps long as the sum of its pair."""
    found, edges, steps, length, slopes = [], 0, 0, 1, 2
    for level in range(LEVELS + 2):
        while steps + slopes * length < 2**level:
            edges, steps, length = edges + slopes, steps + slopes * length, length + 1
            slopes = sum(gcd(k, length) == 1 for k in range(length))
        found.append(edges + (2**level - 1 - steps) // length + 1)
    return tuple(found)


_MOST = _most_vertices()


def ends_by_merging(table: Groups, row: Array) -> Array:
    """The ends of a hull of counts, in a table in place, with the `row` of each position.

    Tied examples are points too, the negatives first: they lie below the edges of their group.
    """
    size = table.counts.shape[-1]
    counts, positives, row = (x.reshape(-1, size) for x in (table.counts, table.positives, row))
    place = torch.arange(1, size + 1, dtype=torch.float64, device=counts.device)
    found = torch.cumsum(positives, dim=-1, dtype=torch.int64).to(torch.float64)
    behind = (place - found).gather(-1, row)
    found = torch.maximum(found, place - behind)
    points = 2
    while points <= size:  # with the origin; a program serves all sizes up to this
        points *= 2
    path = torch.stack([place - found, found])
    ends = _chain(torch.nn.functional.pad(path, (points - size, 0))).sum(0)
    places = place.expand(counts.shape).contiguous()
    is_vertex = ends.gather(-1, torch.searchsorted(ends, places)) == place
    last = place == torch.sum(counts, dim=-1, keepdim=True)
    return ((counts > 0) & (is_vertex | last)).reshape(table.counts.shape)


def _chain(path: Array) -> Array:
    """The vertices of each path, shape (2, lists, T) as it is, after the first one repeated."""
    pairs = path.unflatten(-1, (-1, 2))
    chains, level = torch.cat([pairs[..., :1], pairs], dim=-1), 1
    while chains.shape[-2] > 1:
        level += 1
        chains = _merged(chains.unflatten(-2, (-1, 2)), _MOST[level] + 1)
    return chains[..., 0, :]


def _merged(pairs: Array, length: int) -> Array:
    """One chain for each pair, whose vertices stand at the end of that `length`.

    An edge stays where the whole other chain is below its line, of which the point nearest to
    the line tells.  These are the first edges of the left chain and the last ones of the right.
    """
    starts, steps = pairs[..., :-1], pairs[..., 1:] - pairs[..., :-1]
    along, up = steps
    angle = torch.atan2(along, up)
    nearest = torch.searchsorted(angle.flip(-2), angle)
    size = pairs.shape[-1]
    other = torch.arange(size, -1, -size, device=pairs.device)[:, None]
    both = pairs.flatten(-2)
    far = both.gather(-1, (nearest + other).flatten(-2).expand(2, *([-1] * (both.ndim - 1))))
    x, y = far.unflatten(-1, (2, -1)) - starts
    kept = torch.cumsum((along * y < up * x).flatten(-2), dim=-1)
    rank = kept[..., -1:] + torch.arange(2 - length, 2, device=pairs.device)
    index = torch.searchsorted(kept, rank)
    return both[..., 1:].gather(-1, index.expand(2, *([-1] * index.ndim)))
