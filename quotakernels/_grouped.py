"""The door for scores that arrive grouped: `Ranking.from_counts`."""

from __future__ import annotations

from typing import Any

import numpy as np

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, computing, device, readable, wide_float
from quotakernels.validation import adopt, as_column, first_bad

__all__ = ["admit_groups"]


def admit_groups(given: dict[str, Any]) -> ops.Groups:
    """Check and sort the rows of a grouped table."""
    if (given["weights"] is None) != (given["positive_weights"] is None):
        raise ValueError("weights and positive_weights must be given together")
    named = {name: as_column(name, x) for name, x in given.items() if x is not None}
    _check_columns(named)
    xp, arrays = adopt(named)
    _check_dtypes(xp, arrays)
    with computing(xp):
        if arrays["counts"].shape[-1] == 0:
            arrays = {name: _one_empty_row(xp, name, x) for name, x in arrays.items()}
        arrays = {
            name: cast(xp, x, wide_float(xp, device(x))) if "weights" in name else x
            for name, x in arrays.items()
        }
        columns = _best_first(xp, arrays)
        good = _check_values(xp, columns)
        if good is not None:
            columns = {
                name: x if name == "thresholds" else xp.where(good, x, xp.zeros_like(x))
                for name, x in columns.items()
            }
    return ops.Groups(*(columns.get(name) for name in ops.Groups._fields))


def _check_columns(named: dict[str, Array]) -> None:
    shape = named["thresholds"].shape
    for name, x in named.items():
        if x.ndim == 0 or x.shape != shape:
            raise ValueError(
                f"{name} must have the shape of thresholds, {tuple(shape)}, with at least one "
                f"axis; got shape {tuple(x.shape)}"
            )


def _check_dtypes(xp: Namespace, arrays: dict[str, Array]) -> None:
    for name, x in arrays.items():
        kinds = ("integral",) if name in ("counts", "positives") else ("integral", "real floating")
        empty = x.shape[-1] == 0
        if not (xp.isdtype(x.dtype, kinds) or empty or _is_extension_float(name, x)):
            raise TypeError(f"{name} must have a {' or '.join(kinds)} dtype; got {x.dtype}")


def _is_extension_float(name: str, x: Array) -> bool:
    return name == "thresholds" and getattr(x.dtype, "name", "") == "bfloat16"


def _one_empty_row(xp: Namespace, name: str, x: Array) -> Array:
    dtype = xp.int64 if name in ("counts", "positives") else x.dtype
    return xp.zeros((*x.shape[:-1], 1), dtype=dtype, device=device(x))


def _best_first(xp: Namespace, arrays: dict[str, Array]) -> dict[str, Array]:
    key = ops.order_key(xp, arrays["thresholds"])
    if isinstance(key, np.ndarray) and bool((key[..., 1:] < key[..., :-1]).all()):
        return arrays
    order = xp.argsort(key, axis=-1, descending=True, stable=True)
    return {name: xp.take_along_axis(x, order, axis=-1) for name, x in arrays.items()}


def _check_values(xp: Namespace, columns: dict[str, Array]) -> Array | None:
    """Raise for the first bad value; where values cannot be read, tell the good batch rows."""
    good = None
    for name, wrong, expected in _bad_values(xp, columns):
        if not readable(wrong):
            row = ~xp.any(wrong, axis=-1, keepdims=True)
            good = row if good is None else good & row
        elif bool(xp.any(wrong)):
            raise ValueError(first_bad(name, columns[name], wrong, expected))
    return good


def _bad_values(xp: Namespace, columns: dict[str, Array]) -> list[tuple[str, Array, str]]:
    thresholds, counts, positives = (
        columns[name] for name in ("thresholds", "counts", "positives")
    )
    key = ops.order_key(xp, thresholds)
    edge = xp.zeros((*key.shape[:-1], 1), dtype=xp.bool, device=device(key))
    repeated = xp.concat([edge, key[..., 1:] == key[..., :-1]], axis=-1)
    bad = [("thresholds", repeated, "distinct thresholds")]
    if not xp.isdtype(thresholds.dtype, "integral"):
        bad.append(("thresholds", xp.isnan(thresholds), "a number"))
    total = ops.prefix_sum(xp, cast(xp, counts, wide_float(xp, device(counts))))
    bad += [
        ("counts", counts < 0, "a count, not negative"),
        ("counts", total >= 2.0**63, "fewer than 2**63 examples in all"),
        ("positives", (positives < 0) | (positives > counts), "between 0 and the row's count"),
    ]
    if "weights" in columns:
        mass, positive = columns["weights"], columns["positive_weights"]
        bad += [
            ("weights", ~((mass >= 0) & (mass < xp.inf)), "a finite mass, not negative"),
            ("positive_weights", ~((positive >= 0) & (positive <= mass)), "between 0 and weights"),
        ]
    return bad
