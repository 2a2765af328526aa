"""States and the AUC of the examples on all devices, inside JAX programs."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

from quotakernels import ops
from quotakernels._array import Array
from quotakernels.adapters import requiring
from quotakernels.inputs.examples import validated
from quotakernels.inputs.keywords import public
from quotakernels.measures.selection import good_examples
from quotakernels.states import FixedScoreBuffer, ScoreBuffer, ScoreHistogram
from quotakernels.states.buffer import joined_ids
from quotakernels.states.fixed_buffer import OWN

with requiring("JAX", "jax"):
    import jax
    import jax.numpy as jnp
    from jax import lax

__all__ = ["across_devices", "emptied", "roc_auc_across"]

PARTS_SEARCHED = 16
"""Parts of a device's positives that are searched for one after the other, to save memory."""
StateT = TypeVar("StateT", bound=ScoreHistogram | ScoreBuffer | FixedScoreBuffer)


@public
def across_devices(state: StateT, axis_name: Any) -> StateT:
    """The merged state of all devices, the same on each of them.

    It equals merging the states in the order of the devices.  Histograms are added; for buffers
    each device gets all examples.

    Parameters
    ----------
    state : ScoreHistogram, ScoreBuffer or FixedScoreBuffer
        The state of this device, inside ``jax.shard_map``, ``jax.pmap`` or ``jax.vmap``.  A state
        that is the same on all devices would be counted once per device.
    axis_name : str or tuple of str
        The axis, or axes, of the devices.

    Returns
    -------
    State of the kind that was given
        `FixedScoreBuffer` gets the capacity of all devices together; if one of them got more than
        its capacity, all places count as taken.  ``shard_map`` may return it with
        ``PartitionSpec()``.

    Raises
    ------
    TypeError
        Another state.

    See Also
    --------
    quotakernels.states.ScoreHistogram.merge : the same outside of such programs.

    Notes
    -----
    The sums of masses in a weighted histogram do not depend on the order of the devices, up to one
    rounding at the end.  For histograms of 2**63 examples or more all measures are NaN.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from quotakernels import roc_auc
    >>> from quotakernels.states import ScoreHistogram
    >>> from quotakernels.adapters.jax import across_devices
    >>> labels = jnp.array([[1, 0], [0, 1]])
    >>> scores = jnp.array([[3, 1], [2, 4]], jnp.bfloat16)
    >>> def evaluate(labels, scores):
    ...     return across_devices(ScoreHistogram.of(labels, scores), "data").compute(roc_auc)
    >>> print(jax.vmap(evaluate, axis_name="data")(labels, scores))  # as on two devices
    [1. 1.]
    """
    join = _JOINS[_kind(state)]
    with ops.namespace(jnp.zeros(())).computing():
        joined: StateT = join(state, axis_name)
        return joined


@public
def emptied(state: StateT) -> StateT:
    """An empty state, like another one.

    Its arrays are new, so they can be donated to a program (``donate_argnums``).

    Parameters
    ----------
    state : ScoreHistogram, ScoreBuffer or FixedScoreBuffer
        Of JAX or NumPy arrays.

    Returns
    -------
    State of the kind that was given, of JAX arrays

    Raises
    ------
    TypeError
        Another state.
    """
    kind, kept = _kind(state), state
    if kind is ScoreBuffer:
        kept = kind(state.like, (), state.bad)
    with ops.namespace(jnp.zeros(())).computing():
        empty: StateT = jax.tree.map(jnp.zeros_like, kept)
        return empty


@public
def roc_auc_across(
    y_true: Array, y_score: Array, axis_name: Any, *, where: Array | None = None
) -> Array:
    """Exact AUC of the examples of all devices, none of which gets all scores.

    Each device sorts its own negatives.  These go round all devices, which count how many are below
    each of their own positives and how many are tied with it.

    Parameters
    ----------
    y_true : array, shape (n,) or that of `y_score`
        Labels 0 and 1 of this device, inside ``jax.shard_map`` or ``jax.vmap``.
    y_score : array, shape (..., n)
        Scores of this device.
    axis_name : str or tuple of str
        The axis, or axes, of the devices.
    where : boolean array, shape (n,) or that of `y_score`, optional
        False for examples to leave out (padding).

    Returns
    -------
    array, shape (...)
        The same on all devices, and the same number as `roc_auc` of all examples: exact up to 2PN =
        2**53.  NaN where one class is absent, or where a score or label on any device is bad.

    See Also
    --------
    quotakernels.roc_auc : outside of such programs; of sharded arrays each device gets all scores.
    quotakernels.rank_at_quota : measures at one quota.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from quotakernels.adapters.jax import roc_auc_across
    >>> labels = jnp.array([[1, 0, 1], [1, 0, 0]])
    >>> scores = jnp.array([[0.9, 0.8, 0.8], [0.6, 0.1, 0.8]])
    >>> def evaluate(labels, scores):
    ...     return roc_auc_across(labels, scores, "data")
    >>> print(jax.vmap(evaluate, axis_name="data")(labels, scores))  # as on two devices
    [0.6666667 0.6666667]
    """
    given = {"y_true": y_true, "y_score": y_score, "where": where, "validate": False}
    examples, good, *_ = validated(given)
    examples, good = good_examples(examples, good, lambda x: lax.psum(x, axis_name))
    xp = ops.namespace(examples.scores)
    dtype = xp.result_float(None)
    with xp.computing():
        columns = xp.order_key(examples.scores), examples.labels, examples.valid
        count = functools.partial(_pairs_won, axis_name)
        for _ in examples.scores.shape[:-1]:
            count = jax.vmap(count)
        twice, positives, negatives = map(xp.wide, lax.psum(count(*columns), axis_name))
        auc = twice / (2 * positives * negatives)
        return xp.finished(xp.nan_unless(good[..., 0], auc), dtype)


def _pairs_won(
    axis_name: Any, key: Array, labels: Array, valid: Array
) -> tuple[Array, Array, Array]:
    """Twice the pairs of all devices that the positives of this one win, ties counted half.

    And how many positives and negatives it has.
    """
    devices, top = lax.psum(1, axis_name), jnp.iinfo(key.dtype).max
    size = -(-key.shape[0] // PARTS_SEARCHED)

    def sorted_of(own: Array) -> tuple[Array, Array]:
        """The keys of one class, before larger ones, and their number."""
        return jnp.sort(jnp.where(own, key, top)), jnp.sum(own, dtype=jnp.int64)

    (ours, positives), (theirs, negatives) = map(sorted_of, (valid & labels, valid & ~labels))

    def with_part(number: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        keys, count, twice = state
        start = jnp.minimum(number * size, key.shape[0] - size)
        part = lax.dynamic_slice_in_dim(ours, start, size)
        place = start + jnp.arange(size)
        wanted = (place >= number * size) & (place < positives)
        below, upto = jnp.searchsorted(keys, jnp.stack([part, part + 1]), method="scan")
        won = below + jnp.where(part == top, count, upto)  # those left out have this key too
        return keys, count, twice + jnp.sum(jnp.where(wanted, won, 0))

    def with_device(_: Any, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        parts = (positives + size - 1) // size
        keys, count, twice = lax.fori_loop(0, parts, with_part, state)
        to_next = [(k, (k + 1) % devices) for k in range(devices)]
        return *lax.ppermute((keys, count), axis_name, to_next), twice

    start = theirs, negatives, 0 * negatives
    return lax.fori_loop(0, devices, with_device, start)[2], positives, negatives


def _kind(state: Any) -> type[Any]:
    for kind in _JOINS:
        if isinstance(state, kind):
            return kind
    kinds = ", ".join(kind.__name__ for kind in _JOINS)
    raise TypeError(f"state must be one of {kinds}; got {type(state).__name__}")


def _histogram(state: ScoreHistogram, axis_name: Any) -> ScoreHistogram:
    wide = ops.namespace(state.counts).wide_float(None)
    examples = jnp.sum(state.counts.astype(wide), axis=(-2, -1))
    counts, bad, examples = lax.psum((state.counts, state.bad, examples), axis_name)
    too_many = (examples >= 2.0**63) | jnp.any(counts < 0, axis=(-2, -1))
    state = state._replace(like=_nothing(state.like), counts=counts, bad=bad + too_many)
    columns = {
        name: jnp.stack(_sum_of_masses(x[..., 0], x[..., 1], axis_name), axis=-1)
        for name, x in state.columns.items()
    }
    return state._replace(columns=columns)


def _sum_of_masses(masses: Array, corrections: Array, axis_name: Any) -> tuple[Array, Array]:
    """Sums over the devices, and the rounding errors of these.

    The leading bits of the masses, multiples of one number, are so few that their sum is exact.
    """
    devices = lax.psum(1, axis_name)
    _, exponent = jnp.frexp(lax.pmax(masses, axis_name))
    unit = jnp.ldexp(jnp.asarray(2.0 * devices, masses.dtype), exponent)
    leading = (masses + unit) - unit
    sums: tuple[Array, Array] = lax.psum((leading, (masses - leading) + corrections), axis_name)
    return sums


def _buffer(state: ScoreBuffer, axis_name: Any) -> ScoreBuffer:
    examples = state.examples().map(lambda x: _end_to_end(x, axis_name))
    ids = joined_ids(jnp, state.groups, len(state.pieces))
    groups = () if ids is None else (_end_to_end(ids, axis_name),)
    bad = lax.psum(state.bad, axis_name)
    return ScoreBuffer(_nothing(state.like), (examples,), bad, groups)


def _end_to_end(x: Array, axis_name: Any) -> Array:
    length = x.shape[-1]
    return _sum_of_places(x, lax.axis_index(axis_name) * length, length, axis_name)


def _fixed_buffer(state: FixedScoreBuffer, axis_name: Any) -> FixedScoreBuffer:
    devices, here = lax.psum(1, axis_name), lax.axis_index(axis_name)
    length = jnp.minimum(state.filled, state.capacity)
    lengths = lax.psum(jnp.where(jnp.arange(devices) == here, length, 0), axis_name)
    start = jnp.sum(jnp.where(jnp.arange(devices) < here, lengths, 0))

    def joined(x: Array) -> Array:
        return _sum_of_places(x, start, length, axis_name)

    own = {name: joined(getattr(state, name)) for name in OWN}
    columns = {name: joined(x) for name, x in state.columns.items()}
    bad = lax.psum(state.bad, axis_name)
    lost = lax.psum(state.filled - length, axis_name)  # if any, the whole counts as full
    filled = jnp.where(lost > 0, devices * state.capacity + lost, jnp.sum(lengths))
    return state._replace(**own, filled=filled, bad=bad, columns=columns)


def _sum_of_places(x: Array, start: Array, length: Any, axis_name: Any) -> Array:
    """The first parts of the last axes of all devices, one after the other on a long axis.

    Their bits are summed with zeros: JAX does not consider gathered arrays equal on all devices.
    """
    if x.shape[-1] == 0:
        return _nothing(x)
    devices = lax.psum(1, axis_name)
    is_bool = x.dtype == jnp.bool
    bits = x.astype(jnp.uint8) if is_bool else lax.bitcast_convert_type(x, f"u{x.dtype.itemsize}")
    long = jnp.zeros((*x.shape[:-1], devices * x.shape[-1]), bits.dtype)
    long = lax.psum(ops.namespace(long).write_slice(long, bits, start, length), axis_name)
    return long.astype(x.dtype) if is_bool else lax.bitcast_convert_type(long, x.dtype)


def _nothing(x: Array) -> Array:
    """An array as empty as `x` that belongs to no device."""
    return jnp.zeros(x.shape, x.dtype)


_JOINS: dict[type[Any], Any] = {
    ScoreHistogram: _histogram,
    ScoreBuffer: _buffer,
    FixedScoreBuffer: _fixed_buffer,
}
