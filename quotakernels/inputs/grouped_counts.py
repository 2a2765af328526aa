"""Scores that arrive grouped, checked: `Ranking.from_counts`."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    computing,
    device,
    namespace,
    of_kind,
    readable,
    tolerance,
    wide_float,
)
from quotakernels.inputs.columns import MASS_ROUNDING, adopt, as_column, first_bad
from quotakernels.inputs.shapes import refuse_columns

BadValues: TypeAlias = list[tuple[str, Array, str]]
"""For some arguments: where they are bad, and what was expected."""


def validate_groups(given: dict[str, Any]) -> tuple[ops.Groups, Array | None]:
    """Check and sort the rows of a grouped table; and which rows of the batch are good."""
    optional = ("weights", "positive_weights")
    absent = {name for name in optional if given[name] is None}
    if len(absent) == 1:
        raise ValueError("weights and positive_weights must be given together")
    named = {name: as_column(name, x) for name, x in given.items() if name not in absent}
    _check_columns(named)
    xp, columns = adopt(named)
    with computing(xp):
        if columns["counts"].shape[-1] == 0:
            columns = {name: _one_empty_row(xp, name, x) for name, x in columns.items()}
        columns = {name: _computable(xp, name, x) for name, x in columns.items()}
        good = good_rows(xp, named, _bad_values(xp, columns), None)
        columns, repeated = _best_first(xp, columns)
        good = good_rows(xp, named, [("thresholds", repeated, "distinct thresholds")], good)
        columns = _by_class(xp, _without_the_bad(xp, columns, good))
    return ops.Groups(*(columns.get(name) for name in ops.Groups._fields[:5])), good


def _check_columns(named: dict[str, Array]) -> None:
    shape = tuple(named["thresholds"].shape)
    for name, x in named.items():
        if x.ndim == 0 or tuple(x.shape) != shape:
            raise ValueError(
                f"{name} must have the shape of thresholds, {shape}, with at least one axis; "
                f"got shape {tuple(x.shape)}"
            )
        counting = name in ("counts", "positives")
        kinds = ("integral",) if counting else ("integral", "real floating")
        kinds = (*kinds, "bool") if name == "thresholds" else kinds
        if shape[-1] and not of_kind(namespace(x), x.dtype, kinds):
            what = "integers" if counting else "real numbers"
            raise TypeError(f"{name} must hold {what}; got dtype {x.dtype}")
    refuse_columns({name: tuple(x.shape) for name, x in named.items()}, held="tie groups")


def _one_empty_row(xp: Namespace, name: str, x: Array) -> Array:
    dtype = xp.int64 if name in ("counts", "positives") else x.dtype
    return xp.zeros((*x.shape[:-1], 1), dtype=dtype, device=device(x))


def _computable(xp: Namespace, name: str, x: Array) -> Array:
    """Masses as wide floats, counts in 64 bits, in which 2**63 and more becomes negative."""
    if name in ("weights", "positive_weights"):
        return cast(xp, x, wide_float(xp, device(x)))
    return x if name == "thresholds" else cast(xp, x, xp.int64)


def _bad_values(xp: Namespace, columns: dict[str, Array]) -> BadValues:
    """For every argument: where it is bad, and what was expected."""
    thresholds, counts, positives = (
        columns[name] for name in ("thresholds", "counts", "positives")
    )
    bad = []
    if of_kind(xp, thresholds.dtype, "real floating"):
        bad.append(("thresholds", xp.isnan(thresholds) & (counts > 0), "a number"))
    total = ops.prefix_sum(xp, counts)
    bad += [
        ("counts", counts < 0, "a count, from 0 to 2**63 - 1"),
        ("counts", total < 0, "fewer than 2**63 examples in all"),
        ("positives", (positives < 0) | (positives > counts), "between 0 and the row's count"),
    ]
    if "weights" in columns:
        mass, positive = columns["weights"], columns["positive_weights"]
        right = (mass >= 0) & (mass < xp.inf) & ((mass == 0) | (counts > 0))
        bad.append(("weights", ~right, "a finite mass, not negative, and 0 for no examples"))
        close = mass * tolerance(mass, MASS_ROUNDING)
        right = (positive >= 0) & (positive <= mass + close) & ((positive == 0) | (positives > 0))
        right = right & ((positives < counts) | (positive >= mass - close))
        expected = "a mass between 0 and the row's weight; 0 for no positives, all of it for only"
        bad.append(("positive_weights", ~right, expected))
    return bad


def _by_class(xp: Namespace, columns: dict[str, Array]) -> dict[str, Array]:
    """The masses of the two classes; where there are only positives, the rest is rounding."""
    if "weights" not in columns:
        return columns
    negative = columns.pop("weights") - columns["positive_weights"]
    there = (negative > 0) & (columns["positives"] < columns["counts"])
    return columns | {"negative_weights": xp.where(there, negative, xp.zeros_like(negative))}


def good_rows(
    xp: Namespace, as_given: dict[str, Array], bad: BadValues, good: Array | None
) -> Array | None:
    """Raise for the first bad value; where values cannot be read, tell the good batch rows."""
    for name, wrong, expected in bad:
        if not readable(wrong):
            row = ~xp.any(wrong, axis=-1, keepdims=True)
            good = row if good is None else good & row
        elif bool(xp.any(wrong)):
            raise ValueError(first_bad(name, as_given[name], wrong, expected))
    return good


def _best_first(xp: Namespace, columns: dict[str, Array]) -> tuple[dict[str, Array], Array]:
    """Rows by falling threshold, padding last; and which rows, in the given order, repeat one."""
    key = ops.order_key(xp, columns["thresholds"])
    if isinstance(key, np.ndarray) and bool((key[..., 1:] < key[..., :-1]).all()):
        return columns, np.zeros(key.shape, dtype=bool)
    order = xp.argsort(key, axis=-1, descending=True, stable=True)
    padding = xp.take_along_axis(columns["counts"] == 0, order, axis=-1)
    padding_last = xp.argsort(cast(xp, padding, xp.int8), axis=-1, stable=True)
    order = xp.take_along_axis(order, padding_last, axis=-1)
    columns = {name: xp.take_along_axis(x, order, axis=-1) for name, x in columns.items()}
    key = xp.take_along_axis(key, order, axis=-1)
    again = (key[..., 1:] == key[..., :-1]) & (columns["counts"][..., 1:] > 0)
    first = xp.zeros((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    repeated = xp.concat([first, again], axis=-1)
    return columns, xp.take_along_axis(repeated, xp.argsort(order, axis=-1), axis=-1)


def _without_the_bad(
    xp: Namespace, columns: dict[str, Array], good: Array | None
) -> dict[str, Array]:
    """No counts where the weights are 0, and nothing at all in the bad rows of the batch."""
    if "weights" in columns:
        there = columns["weights"] > 0
        counted = {name: columns[name] for name in ("counts", "positives")}
        columns |= {name: xp.where(there, x, xp.zeros_like(x)) for name, x in counted.items()}
    if good is None:
        return columns
    return {
        name: x if name == "thresholds" else xp.where(good, x, xp.zeros_like(x))
        for name, x in columns.items()
    }
