"""Curves as paths of straight lines from (0, 0), with jumps, and how two of them compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, device, wide_float
from quotakernels.validation import MASS_ROUNDING

__all__ = [
    "Path",
    "Points",
    "Source",
    "Steps",
    "Totals",
    "alike",
    "limits",
    "nowhere_above",
    "rounding_of",
    "totals_of",
]


class Steps(NamedTuple):
    """Negative and positive mass of each tie group, best first; shape (..., G)."""

    negative: Array
    positive: Array


class Points(NamedTuple):
    """False and true positives at each cut, from the empty one on; shape (..., V)."""

    fp: Array
    tp: Array


Source: TypeAlias = Steps | Points


class Path(NamedTuple):
    """Points that never fall on the axis `x`, joined by straight lines; shape (..., V)."""

    x: Array
    y: Array


class Totals(NamedTuple):
    """Negatives and positives of each of M curves, and which differ from the first one's.

    A curve of no examples at all is not said to differ.  Shape (..., M).
    """

    negative: Array
    positive: Array
    differ: Array


def rounding_of(xp: Namespace, sources: Sequence[Source]) -> float:
    """Relative difference between two masses that is put down to rounding; 0 for counts."""
    dtypes = [x.dtype for source in sources for x in source]
    if all(xp.isdtype(dtype, "integral") for dtype in dtypes):
        return 0.0
    return 2.0**-20 if xp.float32 in dtypes else MASS_ROUNDING


def alike(xp: Namespace, sources: Sequence[Source]) -> list[Points]:
    """The points of all curves, in one batch shape and in one type: int64, or wide floats."""
    dev = device(sources[0][0])
    number = xp.int64 if rounding_of(xp, sources) == 0 else wide_float(xp, dev)
    batch = _common_shape([tuple(source[0].shape[:-1]) for source in sources])
    columns = []
    for source in sources:
        fp, tp = (
            xp.broadcast_to(cast(xp, x, number), (*batch, x.shape[-1])) for x in tuple(source)
        )
        columns.append(Points(fp, tp) if isinstance(source, Points) else _cumulated(xp, fp, tp))
    return columns


def _cumulated(xp: Namespace, negative: Array, positive: Array) -> Points:
    zero = xp.zeros_like(negative[..., :1])
    sums = (xp.concat([zero, ops.prefix_sum(xp, x)], axis=-1) for x in (negative, positive))
    return Points(*sums)


def _common_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which all of them can be broadcast."""
    depth = max(len(shape) for shape in shapes)
    common = []
    for sizes in zip(*((1,) * (depth - len(shape)) + shape for shape in shapes), strict=True):
        others = {size for size in sizes if size != 1}
        if len(others) > 1:
            named = " and ".join(str(shape) for shape in dict.fromkeys(shapes))
            raise ValueError(f"curves of batches of different shapes cannot be compared: {named}")
        common.append(others.pop() if others else 1)
    return tuple(common)


def totals_of(xp: Namespace, curves: Sequence[Points], rounding: float) -> Totals:
    """The last points of the curves, side by side."""
    negative, positive = (
        xp.stack([x[..., -1] for x in column], axis=-1) for column in zip(*curves, strict=True)
    )
    equal = xp.ones_like(negative, dtype=xp.bool)
    for x in (negative, positive):
        first = x[..., :1]
        equal = equal & (xp.abs(x - first) <= rounding * first if rounding else x == first)
    filled = (negative > 0) | (positive > 0)
    return Totals(negative, positive, ~equal & filled & filled[..., :1])


def nowhere_above(xp: Namespace, lower: Path, upper: Path) -> Array:
    """Whether at no place of the axis the one path is above the other, limits at jumps included.

    Between two neighbouring abscissae of points both are straight, so that the limits there
    decide.  At a jump the lowest point is the limit from the left, the highest that from the
    right; where one of the two must not be taken for the other, the points between are left out.
    """
    edge = xp.zeros_like(lower.x[..., :1], dtype=xp.bool)
    lowest = xp.concat([edge, lower.x[..., 1:] > lower.x[..., :-1]], axis=-1)
    edge = xp.zeros_like(upper.x[..., :1], dtype=xp.bool)
    highest = xp.concat([upper.x[..., 1:] > upper.x[..., :-1], edge], axis=-1)
    point_above = (
        _exceeds(xp, *_heights(xp, upper, lower, beyond=True)),
        _exceeds(xp, *_heights(xp, upper, lower, beyond=False)) & lowest,
    )
    point_below = (
        _below(xp, lower, upper, beyond=True) & highest,
        _below(xp, lower, upper, beyond=False),
    )
    found = [xp.any(x, axis=-1) for x in (*point_above, *point_below)]
    return ~(found[0] | found[1] | found[2] | found[3])


def _below(xp: Namespace, path: Path, points: Path, beyond: bool) -> Array:
    rise, width, slope, run = _heights(xp, path, points, beyond)
    return _exceeds(xp, slope, run, rise, width)


def _heights(
    xp: Namespace, path: Path, points: Path, beyond: bool
) -> tuple[Array, Array, Array, Array]:
    """Factors (a, b, c, d) such that a·b - c·d has the sign of a point's height above the path.

    That is the path's limit from the left, or from the right if `beyond`.  Before its start and
    after its end it has no slope, and the points there are given the height 0.
    """
    x0, y0, x1, y1 = _segment(xp, path, points.x, beyond)
    return points.y - y0, x1 - x0, y1 - y0, points.x - x0


def _segment(
    xp: Namespace, path: Path, x: Array, beyond: bool
) -> tuple[Array, Array, Array, Array]:
    """Both ends of the line on the left, or if `beyond` on the right, of each abscissa."""
    right = ops.bisect(xp, path.x, x, beyond)
    last = path.x.shape[-1] - 1
    ends = (xp.clip(right - 1, min=0), xp.clip(right, max=last))
    x0, y0, x1, y1 = (xp.take_along_axis(z, at, axis=-1) for at in ends for z in path)
    return x0, y0, x1, y1


def _exceeds(xp: Namespace, a: Array, b: Array, c: Array, d: Array) -> Array:
    """Whether a·b > c·d; of int64, exactly while the products are below 2**112.

    Their difference is right in 64 bits, though the products overflow, wherever floats, which
    are then off by less than 2**62, tell that it fits.
    """
    if xp.isdtype(a.dtype, "real floating"):
        return a * b > c * d
    wide = wide_float(xp, device(a))
    x, y, z, w = (cast(xp, factor, wide) for factor in (a, b, c, d))
    near = x * y - z * w
    return xp.where(xp.abs(near) < 2.0**62, a * b - c * d > 0, near > 0)


def limits(xp: Namespace, path: Path, x: Array, beyond: bool) -> Array:
    """The path of floats in the limit at each abscissa from the left, or the right if `beyond`."""
    x0, y0, x1, y1 = _segment(xp, path, x, beyond)
    width = x1 - x0
    share = (x - x0) / xp.where(width > 0, width, xp.ones_like(width))
    return y0 + (y1 - y0) * xp.where(width > 0, share, xp.zeros_like(share))
