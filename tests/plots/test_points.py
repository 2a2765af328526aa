"""Thinned curves look as the whole ones do, however adversarial."""

from __future__ import annotations

import numpy as np
import pytest

from quotakernels.plots._axes import thinned

RNG = np.random.default_rng(5)
N = 30_011
EVEN = np.arange(N, dtype=float)
COLUMNS = 400
CURVES = {
    "zigzag": (EVEN, EVEN % 2),
    "noise": (EVEN, RNG.normal(size=N)),
    "spikes": (EVEN, np.where(EVEN % 997 == 3, 1.0, 0.0)),
    "walk": (EVEN, np.cumsum(RNG.normal(size=N))),
    "steep": (EVEN, EVEN**0.1),
    "steps": (EVEN // 2, EVEN // 2 % 7),
    "at the ends": (np.where(EVEN < N / 2, 0.0, 1.0), RNG.random(N)),
    "at powers": (2.0 ** (EVEN / 30), RNG.random(N)),
    "upright": (np.zeros(N), RNG.random(N)),
}


def covered(x: np.ndarray, y: np.ndarray, span: tuple[float, float]) -> np.ndarray:
    """The lowest and highest place of a line in each of the columns, ends interpolated."""
    edges = np.linspace(*span, COLUMNS + 1)
    at_edges = np.interp(edges, x, y)
    low, high = np.minimum(at_edges[:-1], at_edges[1:]), np.maximum(at_edges[:-1], at_edges[1:])
    column = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, COLUMNS - 1)
    np.minimum.at(low, column, y)
    np.maximum.at(high, column, y)
    return np.stack([low, high])


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("falling", [False, True])
def test_no_column_of_pixels_is_filled_otherwise(name: str, falling: bool):
    """A column is a quarter of a pixel; the line covers of it the same, to 1/1000 of the height."""
    x, y = CURVES[name]
    if falling:
        x = -x
    kept = thinned(x, y, 4 * COLUMNS)
    assert len(kept) <= 16 * COLUMNS < N
    assert (np.diff(kept) > 0).all()
    assert (kept[0], kept[-1]) == (0, N - 1)
    x = -x if falling else x
    span = (x[0], x[-1]) if x[-1] > x[0] else (x[0], x[0] + 1)
    whole, rest = covered(x, y, span), covered(x[kept], y[kept], span)
    assert np.abs(whole - rest).max() <= 1e-3 * np.ptp(y)


@pytest.mark.parametrize("name", ["walk", "steep"])
def test_curves_are_nowhere_a_fraction_of_a_pixel_apart(name: str):
    """Vertically, where a column is no higher than that: 1600 columns, a figure 300 pixels high."""
    x, y = (1 - np.exp(-EVEN / 4e3), 1 - np.exp(-EVEN / 2e3)) if name == "steep" else (EVEN, EVEN)
    kept = thinned(x, y, 4 * COLUMNS)
    assert np.abs(np.interp(x, x[kept], y[kept]) - y).max() * 300 / np.ptp(y) < 0.25


def test_short_curves_stay_as_they_are():
    x = np.arange(40.0)
    assert (thinned(x, x, 10) == np.arange(40)).all()
    assert len(thinned(np.arange(41.0), np.zeros(41), 10)) < 41


def test_breaks_stay_breaks():
    y = np.sin(EVEN)
    y[:3] = y[5000:6000] = np.nan
    y[-1] = np.inf
    kept = thinned(EVEN, y, 100)
    there = np.isfinite(y[kept])
    assert [EVEN[k] for k in kept[~there]] == [0, 5000, N - 1]
    assert {3, 4999, 6000, N - 2} <= set(kept.tolist())
    assert len(thinned(EVEN, np.full(N, np.nan), 100)) == 1
