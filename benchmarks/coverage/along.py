"""Bands around curves, and the best cut."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

import quotakernels as qk
from benchmarks.coverage.seen import Seen
from benchmarks.coverage.single import ends_of
from benchmarks.coverage.sources import Array, Draw, Scores

PLACES = np.asarray([0.05, 0.1, 0.2, 0.3, 0.5, 0.7])
AT = {0.1: 1, 0.5: 4}
CURVES = {"hit_rate": "fraction", "qrecall": "fraction", "roc": "fpr"}
TITLES = {"hit_rate": "hit rate", "qrecall": "Qrecall", "roc": "ROC"}


def bands(source: Scores, draw: Draw) -> Iterator[Seen]:
    """Pointwise and simultaneous bands, at single places and at all of them."""
    data, given = source.sample(draw.rng), draw.arguments()
    for curve, places in CURVES.items():
        truth, what = _curve(source, curve), TITLES[curve]
        own = {places: PLACES, **given}
        point = qk.inference.curve_band(curve, *data, **own)
        for at, k in AT.items():
            yield Seen(what, f"pointwise at {at}", point.lower[k], point.upper[k], truth[k])
        yield Seen(what, "pointwise, at all", point.lower, point.upper, truth)
        whole = qk.inference.curve_band(curve, *data, simultaneous=True, **own)
        yield Seen(what, "simultaneous, at all", whole.lower, whole.upper, truth)


@lru_cache(maxsize=64)
def _curve(source: Scores, curve: str) -> Array:
    """The curve of the whole population."""
    everybody = source.everybody()
    if curve != "roc":
        return np.asarray(getattr(qk, curve)(everybody, fraction=PLACES))
    fpr, tpr = qk.roc_curve(everybody)[:2]
    return np.asarray(np.interp(PLACES, fpr, tpr))


class Best(NamedTuple):
    """The best cut of the whole population, and what its cuts bring by their rising thresholds."""

    value: float
    share: float
    threshold: Array
    along: Array


def optimum(source: Scores, draw: Draw) -> Iterator[Seen]:
    """What the best cut brings: the population's best, and the chosen one among the population."""
    labels, scores = source.sample(draw.rng)
    given = {"impacts": _impacts(source), **draw.arguments()}
    found = qk.inference.best_cut_interval(qk.best_boundary, labels, scores, method="bca", **given)
    best = _best(source)
    place = np.searchsorted(best.threshold, float(found.threshold.estimate))
    chosen = float(best.along[place]) if place < best.along.size else 0.0
    share = found.quota._replace(resamples=found.quota.resamples / source.n)
    truths = {"the best cut's value": best.value, "the chosen cut's value": chosen}
    for what, truth in truths.items():
        for method in ("percentile", "basic"):
            yield Seen(what, method, *ends_of(method, found.value), truth)
        yield Seen(what, "BCa", found.value.lower, found.value.upper, truth)
        yield Seen(what, "expected", found.expected.lower, found.expected.upper, truth)
    yield Seen("the best share", "percentile", *ends_of("percentile", share), best.share)


def _impacts(source: Scores) -> tuple[float, float, float, float]:
    """Those by which a cut brings its TPR less its FPR."""
    return 1 / source.positive, -1 / (1 - source.positive), 0.0, 0.0


@lru_cache(maxsize=8)
def _best(source: Scores) -> Best:
    everybody = source.everybody()
    found = qk.best_boundary(everybody, impacts=_impacts(source))
    whole = float(found.curve.quota[-1])
    falling, along = found.curve.threshold[1:], found.curve.value[1:]
    share = float(found.quota) / whole
    return Best(float(found.value), share, falling[::-1], along[::-1])
