"""The upper hull for JAX on a CPU: the rows in turn, without a call of the host."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.custom_batching import sequential_vmap

from quotakernels._array import Array, computing, tolerance
from quotakernels.ops._table import EXACT, TOLERANCE, Groups


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


def ends_in_turn(table: Groups) -> Array:
    """The ends of the hull, list by list."""
    shape = table.counts.shape
    if 0 in shape:
        return jnp.zeros(shape, dtype=bool)
    columns = (table.counts, table.positive, table.negative)
    lists = (x.reshape(-1, shape[-1]) for x in columns)
    return jax.vmap(_ends)(*lists).reshape(shape)


@sequential_vmap  # type: ignore[untyped-decorator]
def _ends(counts: Array, positive: Array, negative: Array) -> Array:
    with computing(jnp):  # batches trace this anew
        size, turns = counts.shape[0], _turning(positive, negative)

        def edge_of(row: Array) -> Array:
            filled = (row < size) & (_at(counts, row) > 0)
            end = jnp.where(filled, row, -1).astype(positive.dtype)
            return jnp.stack([_at(positive, row), _at(negative, row), end])

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

        edges = jnp.zeros((size + 2, 3), positive.dtype)
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
    exact = found * others < EXACT
    rounded = partial(_turns, TOLERANCE)
    return lambda *edges: jnp.where(exact, _turns_exactly(*edges), rounded(*edges))


def _turns_exactly(*edges: Array) -> Array:
    up, along, up_next, along_next = (x.astype(jnp.int64) for x in edges)
    return up * along_next > along * up_next


def _turns(near: float, *edges: Array) -> Array:
    up, along, up_next, along_next = (x.astype(jnp.float64) for x in edges)
    steeper = up * along_next
    return steeper > along * up_next + near * steeper
