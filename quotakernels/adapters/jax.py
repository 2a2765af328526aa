"""Merge the states of all devices into one, inside JAX programs."""

from __future__ import annotations

from typing import Any, TypeVar

from quotakernels import ops
from quotakernels._array import Array
from quotakernels.adapters import requiring
from quotakernels.inputs.keywords import public
from quotakernels.states import FixedScoreBuffer, ScoreBuffer, ScoreHistogram
from quotakernels.states.buffer import joined_ids
from quotakernels.states.fixed_buffer import OWN

with requiring("JAX", "jax"):
    import jax
    import jax.numpy as jnp
    from jax import lax

__all__ = ["across_devices", "emptied"]

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
