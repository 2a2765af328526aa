"""Which of several paths is the highest, stretch by stretch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from quotakernels import ops
from quotakernels._array import Array, Namespace, cast, device, tolerance, wide_float
from quotakernels.measures._paths import Path, limits
from quotakernels.validation import MASS_ROUNDING

__all__ = ["best_stretches"]


def best_stretches(
    xp: Namespace, paths: Sequence[Path], defined: Array, rounding: float = 0.0
) -> tuple[Array, Array, Array]:
    """Both ends of each stretch, shape (..., R), and the paths that are best there, (..., R, M).

    The abscissae are right to a share `rounding` of the axis.  Where it is not `defined` there is
    one stretch at least, and that means nothing.
    """
    path = _side_by_side(xp, paths)
    whole = path.x[..., 0, -1:]
    knots = xp.sort(xp.reshape(path.x, (*path.x.shape[:-2], -1)), axis=-1)
    begin, end = knots[..., :-1], knots[..., 1:]
    shape = (*path.y.shape[:-1], begin.shape[-1])
    left, right = (
        limits(xp, path, xp.broadcast_to(xp.expand_dims(x, axis=-2), shape), beyond)
        for x, beyond in ((begin, True), (end, False))
    )
    close = _tallest(xp, path) * tolerance(whole, MASS_ROUNDING)
    if rounding:
        close = close + rounding * _steepest_slope(xp, left, right, end - begin) * whole[..., None]
    edges = _switches(xp, left, right, close)
    starts = xp.stack([begin + t * (end - begin) for t in edges[:-1]], axis=-1)
    widths = [(t1 - t0) * (end - begin) for t0, t1 in pairwise(edges)]
    middles = [(t0 + t1) / 2 for t0, t1 in pairwise(edges)]
    best = xp.stack([_best_at(xp, t, left, right, close) for t in middles], axis=-1)
    starts, width = (
        xp.reshape(x, (*x.shape[:-2], -1)) for x in (starts, xp.stack(widths, axis=-1))
    )
    best = xp.reshape(best, (*best.shape[:-2], -1))
    kept = width > tolerance(width, MASS_ROUNDING) * whole
    return _merged(xp, starts, best, kept, whole, defined)


def _tallest(xp: Namespace, path: Path) -> Array:
    """The height at the end of the axis, shape (..., 1, 1)."""
    highest = xp.max(xp.abs(path.y[..., -1]), axis=-1)
    return xp.reshape(highest, (*highest.shape, 1, 1))


def _steepest_slope(xp: Namespace, left: Array, right: Array, width: Array) -> Array:
    """Of any of the M lines over each of K stretches, shape (..., 1, K)."""
    rise = xp.max(xp.abs(right - left), axis=-2, keepdims=True)
    return rise / xp.expand_dims(xp.where(width > 0, width, xp.ones_like(width)), axis=-2)


def _side_by_side(xp: Namespace, paths: Sequence[Path]) -> Path:
    """The paths as one of shape (..., M, V), of floats; they end where the first one does."""
    wide = wide_float(xp, device(paths[0].x))
    size = max(path.x.shape[-1] for path in paths)
    whole = cast(xp, paths[0].x[..., -1:], wide)
    columns = []
    for path in paths:
        x, y = (_padded(xp, cast(xp, z, wide), size) for z in path)
        columns.append((x * (whole / x[..., -1:]), y))
    return Path(*(xp.stack(column, axis=-2) for column in zip(*columns, strict=True)))


def _padded(xp: Namespace, x: Array, size: int) -> Array:
    """`x` with its last value repeated up to a length."""
    missing = size - x.shape[-1]
    if missing == 0:
        return x
    return xp.concat([x, xp.broadcast_to(x[..., -1:], (*x.shape[:-1], missing))], axis=-1)


def _switches(xp: Namespace, left: Array, right: Array, close: Array) -> list[Array]:
    """Where, from 0 to 1, another of M lines becomes the highest: M + 1 edges, some of them equal.

    The lines are given by their heights at both ends, shape (..., M, K).  Who overtakes the one
    that leads ends above it, so that each does so at most once.
    """
    top = xp.max(left, axis=-2, keepdims=True)
    lead = _steepest(xp, left >= top - close, left, right)
    edges = [xp.zeros_like(top)]
    for _ in range(left.shape[-2] - 1):
        gain, behind = right - lead.y, ops.clip(xp, lead.x - left, 0.0)
        rising = gain > close
        total = xp.where(rising, behind + gain, xp.ones_like(gain))
        place = xp.where(rising, behind / total, xp.ones_like(gain))
        first = xp.min(place, axis=-2, keepdims=True)
        next_lead = _steepest(xp, rising & (place == first), left, right)
        goes_on = ~xp.any(rising, axis=-2, keepdims=True)
        lead = Path(*(xp.where(goes_on, x, y) for x, y in zip(lead, next_lead, strict=True)))
        edges.append(xp.maximum(edges[-1], first))
    edges.append(xp.ones_like(top))
    return [xp.squeeze(edge, axis=-2) for edge in edges]


def _steepest(xp: Namespace, among: Array, left: Array, right: Array) -> Path:
    """The heights at both ends of that of some lines which ends the highest."""
    none = xp.full_like(left, -xp.inf)
    end = xp.max(xp.where(among, right, none), axis=-2, keepdims=True)
    start = xp.max(xp.where(among & (right == end), left, none), axis=-2, keepdims=True)
    return Path(start, end)


def _best_at(xp: Namespace, place: Array, left: Array, right: Array, close: Array) -> Array:
    """Which lines are the highest at a place from 0 to 1 between their ends."""
    height = left + xp.expand_dims(place, axis=-2) * (right - left)
    return height >= xp.max(height, axis=-2, keepdims=True) - close


def _merged(
    xp: Namespace, starts: Array, best: Array, kept: Array, whole: Array, defined: Array
) -> tuple[Array, Array, Array]:
    """Neighbours among the kept stretches whose best paths are the same as one."""
    index = xp.arange(kept.shape[-1], dtype=xp.int64, device=device(kept))
    there = ops.running_max(xp, xp.where(kept, index + 1, xp.zeros_like(index)))
    before = xp.concat([xp.zeros_like(there[..., :1]), there[..., :-1]], axis=-1)
    same = best == _taken(xp, best, xp.clip(before - 1, min=0))
    first = kept & ((before == 0) | ~xp.all(same, axis=-2))
    first = first | ((index == 0) & ~xp.expand_dims(defined, axis=-1))
    place = ops.flagged_first(xp, first)
    row = xp.arange(place.shape[-1], dtype=xp.int64, device=device(kept))
    number = xp.sum(cast(xp, first, xp.int64), axis=-1, keepdims=True)
    start = xp.take_along_axis(starts, place, axis=-1)
    start = xp.where(row == 0, xp.zeros_like(start), xp.where(row < number, start, whole))
    stop = xp.concat([start[..., 1:], whole], axis=-1)
    return start, stop, xp.matrix_transpose(_taken(xp, best, place))


def _taken(xp: Namespace, best: Array, place: Array) -> Array:
    """Columns of a matrix of shape (..., M, S)."""
    shape = (*best.shape[:-1], place.shape[-1])
    index = xp.broadcast_to(xp.expand_dims(place, axis=-2), shape)
    return xp.take_along_axis(best, index, axis=-1)
