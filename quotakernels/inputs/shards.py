"""Data on several shards: what is summed, and what all of them must agree on."""

from __future__ import annotations

from typing import Any

from quotakernels._array import (
    Across,
    Array,
    Namespace,
    cast,
    computing,
    constant,
    device,
    is_array,
    namespace,
    readable,
)
from quotakernels.inputs.examples import Examples
from quotakernels.inputs.keywords import brief

_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
)


def checked_sum(across: Any) -> Across:
    """The caller's sum over the shards, from which something else than a sum is an error."""
    if not callable(across):
        raise TypeError(f"across must be a function that sums over the shards; got {brief(across)}")

    def summed(x: Array) -> Array:
        total = across(x)
        if is_array(total) and (total.shape, total.dtype) == (x.shape, x.dtype):
            return total
        what = type(total).__name__
        if is_array(total):
            what = f"an array of dtype {total.dtype} and shape {tuple(total.shape)}"
        raise TypeError(
            f"across must return the sum over all shards, an array of dtype {x.dtype} and shape "
            f"{tuple(x.shape)}; got {what}"
        )

    return summed


def sound_examples(
    examples: Examples, good: Array | None, across: Across
) -> tuple[Examples, Array]:
    """The examples, without those of a row of the batch that holds a bad value on any shard.

    And which rows of the batch hold none, shape (..., 1).

    `good` tells the good rows of this shard.
    """
    xp, scores = namespace(examples.scores), examples.scores
    with computing(xp):
        invalid = xp.zeros((*scores.shape[:-1], 1), dtype=xp.int64, device=device(scores))
        if good is not None:
            invalid = invalid + cast(xp, ~good, xp.int64)
        own = xp.broadcast_to(_type_marks(xp, scores), (*invalid.shape[:-1], 3))
        sums = across(xp.concat([invalid, own], axis=-1))
        _check_one_type(scores, sums)
        good = sums[..., :1] == 0
        sound = xp.broadcast_to(good, scores.shape)
        valid = sound if examples.valid is None else examples.valid & sound
        return examples._replace(valid=valid), good


def _type_marks(xp: Namespace, scores: Array) -> Array:
    """1, the number of the scores' type, and its square, to be summed over the shards."""
    name = str(scores.dtype).rpartition(".")[2]
    number = _TYPES.index(name) if name in _TYPES else len(_TYPES)
    return constant(xp, [1, number, number**2], xp.int64, device(scores))


def _check_one_type(scores: Array, sums: Array) -> None:
    """Raise, on every shard, if their scores differ in type; their bits could not be compared."""
    shards, number, squares = (sums[..., k] for k in (1, 2, 3))
    differ = shards * squares != number * number  # equal only where nothing varies
    if readable(differ) and bool(namespace(differ).any(differ)):
        raise TypeError(
            f"y_score has dtype {scores.dtype} here and another on other shards; "
            "all need the same, those without examples too"
        )
