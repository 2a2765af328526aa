"""Results of rows of the batch that had a bad value which could not be read: NaN."""

from __future__ import annotations

from typing import Any

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    compiled,
    constant,
    device,
    finish,
    known,
    known_end,
    namespace,
    of_kind,
    wide_float,
    with_fields,
)
from quotakernels.inputs.warned import warn_once

NUMBERS = ("model",)
"""Fields that hold no amounts: which one of several it is."""


def with_marks(masses: tuple[Array, ...], good: Array | None) -> tuple[Array, ...]:
    """Masses of a ranking, of which those mark a row that is not `good`, shape (..., 1)."""
    if good is None:
        return masses
    xp = namespace(masses[0])
    if not of_kind(xp, masses[0].dtype, "integral"):
        nans: dict[Any, Array] = {}
        return tuple(ops.nan_unless(xp, good, x, nans) for x in masses)
    mark = constant(xp, -1, masses[0].dtype, device(good))
    return tuple(xp.where(good, x, mark) for x in masses)


def good_rows(ranking: Any) -> Array | None:
    """The rows of the batch that had no bad value, shape (..., 1), or the groups, (..., S, 1).

    None where it is known that none had.
    """
    if ranking.groups:
        good = ranking.groups.good
        return None if isinstance(good, tuple) or known(good) else good
    mass = ranking.positive_weights
    end = known_end(mass)
    if end is not None and (end >= 0).all():
        return None
    return mass[..., -1:] >= 0


def warn_of_bad(bad: Array) -> None:
    """Warn of the batches of a state that had a bad value, if their numbers, of each list of
    scores, can be read.
    """
    host = known_end(bad[..., None])
    if host is None or not host.any():
        return
    batches, lists = host.sum(), (host > 0).sum()
    number = "1 batch" if batches == 1 else f"{batches} batches"
    what = "all measures" if bad.ndim == 0 else f"the measures of {lists} of {host.size} lists"
    warn_once(
        f"{what} of this state are NaN: {number} held a bad value, such as a NaN score or a wrong "
        "label, which a program or validate=False let pass"
    )


def nan_unless_valid(xp: Namespace, result: Any, good: Array | None) -> Any:
    """The result with NaN where a row of the batch is not `good`, shape (..., 1).

    Whole numbers become the widest floats, which are exact up to 2**53; flags and `NUMBERS` stay.
    """
    return result if good is None or known(good) else compiled(_with_nan, xp)(result, good)


def _with_nan(result: Any, good: Array) -> Any:
    return _masked(result, good, {})


def _masked(result: Any, good: Array, nans: dict[Any, Array]) -> Any:
    if hasattr(result, "_fields"):
        parts = {k: x for k, x in result._asdict().items() if k not in NUMBERS}
        return with_fields(result, **{k: _masked(x, good, nans) for k, x in parts.items()})
    if isinstance(result, tuple):
        return tuple(_masked(x, good, nans) for x in result)
    xp = namespace(result)
    if of_kind(xp, result.dtype, "bool"):
        return result
    if of_kind(xp, result.dtype, "integral"):
        result = cast(xp, result, wide_float(xp, device(result)))
    batch = tuple(good.shape[:-1])
    where = xp.reshape(good, (*batch, *(1 for _ in result.shape[len(batch) :])))
    return finish(xp, ops.nan_unless(xp, where, result, nans), result.dtype)
