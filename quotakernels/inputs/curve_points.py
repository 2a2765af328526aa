"""Tables that are made of the points of a curve."""

from __future__ import annotations

from typing import Any

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    cast,
    computing,
    device,
    namespace,
    of_kind,
    wide_float,
)
from quotakernels.inputs.columns import adopt, as_column, refuse_columns
from quotakernels.inputs.grouped_counts import BadValues, good_rows


def table_of_points(fp: Any, tp: Any, thresholds: Any) -> tuple[ops.Groups, Array | None]:
    """The table whose cuts are the given points: false and true positives, rising from 0.

    And which rows of the batch are good, shape (..., 1); None if all are.
    """
    named = {"fp": as_column("fp", fp), "tp": as_column("tp", tp)}
    if thresholds is not None:
        named["thresholds"] = as_column("thresholds", thresholds)
    _check_columns(named)
    xp, columns = adopt(named)
    with computing(xp):
        points = _of_one_type(xp, columns)
        steps = {name: _steps(xp, x) for name, x in points.items()}
        given = columns.get("thresholds")
        bad = _bad_points(xp, points, steps)
        if given is not None:
            unfit = _not_falling(xp, given, steps)
            bad.append(("thresholds", unfit, "scores that fall from point to point"))
        good = good_rows(xp, named, bad, None)
        if good is not None:
            steps = {name: xp.where(good, x, xp.zeros_like(x)) for name, x in steps.items()}
        if given is None:
            length = steps["fp"].shape[-1]
            falling = xp.arange(length, 0, -1, dtype=xp.int64, device=device(steps["fp"]))
            given = xp.broadcast_to(falling, steps["fp"].shape)
        return ops.without_empty_rows(xp, _table(xp, given, steps["fp"], steps["tp"])), good


def _check_columns(named: dict[str, Array]) -> None:
    shape = tuple(named["fp"].shape)
    for name, x in named.items():
        if name == "fp" and 0 in (x.ndim, *shape[-1:]):
            raise ValueError(f"fp must hold at least one point; got shape {shape}")
        if tuple(x.shape) != shape:
            raise ValueError(
                f"{name} must have the shape of fp, {shape}; got shape {tuple(x.shape)}"
            )
        if not of_kind(namespace(x), x.dtype, ("integral", "real floating")):
            raise TypeError(f"{name} must hold real numbers; got dtype {x.dtype}")
    refuse_columns({name: tuple(x.shape) for name, x in named.items()}, held="points")


def _of_one_type(xp: Namespace, columns: dict[str, Array]) -> dict[str, Array]:
    """The points in 64 bits; whole numbers only if both coordinates are."""
    points = {name: columns[name] for name in ("fp", "tp")}
    whole = all(of_kind(xp, x.dtype, "integral") for x in points.values())
    dtype = xp.int64 if whole else wide_float(xp, device(points["fp"]))
    return {name: cast(xp, x, dtype) for name, x in points.items()}


def _steps(xp: Namespace, x: Array) -> Array:
    """What each point adds to the one before it."""
    return x - ops.shifted(xp, x, 1, 0)


def _bad_points(xp: Namespace, points: dict[str, Array], steps: dict[str, Array]) -> BadValues:
    bad: BadValues = [
        (name, ~((x >= 0) & _is_finite(xp, x)), "finite numbers that rise from 0")
        for name, x in steps.items()
    ]
    total = points["fp"] + points["tp"]  # that of whole numbers becomes negative at 2**63
    return [*bad, ("fp", total < 0, "fewer than 2**63 examples in all")]


def _not_falling(xp: Namespace, thresholds: Array, steps: dict[str, Array]) -> Array:
    """Where a threshold is not below that of the last point before it that added something."""
    there = (steps["fp"] > 0) | (steps["tp"] > 0)
    key, higher, has_one = _after_another(xp, thresholds, there)
    unfit = (key >= higher) & has_one
    if of_kind(xp, thresholds.dtype, "real floating"):
        unfit = unfit | xp.isnan(thresholds)
    return unfit & there


def _after_another(xp: Namespace, thresholds: Array, there: Array) -> tuple[Array, Array, Array]:
    """The keys of thresholds, those of the last rows before them that are there, if there are."""
    key = ops.order_key(xp, thresholds)
    places = xp.arange(1, key.shape[-1] + 1, dtype=xp.int64, device=device(there))
    upto = ops.running_max(xp, xp.where(there, places, xp.zeros_like(places)))
    before = ops.shifted(xp, upto, 1, 0)
    higher = xp.take_along_axis(key, xp.clip(before - 1, min=0), axis=-1)
    return key, higher, before > 0


def _is_finite(xp: Namespace, x: Array) -> Array:
    if of_kind(xp, x.dtype, "real floating"):
        return xp.isfinite(x)
    return xp.ones_like(x, dtype=xp.bool)


def _table(xp: Namespace, thresholds: Array, negative: Array, positive: Array) -> ops.Groups:
    """Whole numbers are counts; of other masses each row counts as one example."""
    if of_kind(xp, positive.dtype, "integral"):
        return ops.Groups(thresholds, negative + positive, positive, None, None)
    there = cast(xp, (negative > 0) | (positive > 0), xp.int64)
    found = cast(xp, positive > 0, xp.int64)
    return ops.Groups(thresholds, there, found, positive, negative)
