"""Intervals of measures of one model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import quotakernels as qk
from benchmarks.coverage.seen import LEVEL, Seen
from benchmarks.coverage.sources import FRACTION, MEASURES, Array, Draw, Scores
from quotakernels._array import namespace
from quotakernels.inference.resampling.intervals import interval

CORRECTED: dict[str, dict[str, Any]] = {
    "expanded": {},
    "BCa": {"method": "bca"},
    "stratified": {"stratified": True},
}
OF_ROWS = ("AUC", "AHR", "hit rate")
LISTS = (1.05, 1.25, 2, 10)
"""Sizes of finite lists, in sizes of the sample."""


def bootstrap(source: Scores, draw: Draw) -> Iterator[Seen]:
    """Expanded, BCa, percentile and basic intervals, and those of strata."""
    labels, scores = source.sample(draw.rng)
    given = draw.arguments()
    corrected = {
        how: qk.bootstrap(MEASURES, labels, scores, **given, **more)
        for how, more in CORRECTED.items()
    }
    for name, result in corrected["expanded"].items():
        truth = source.truth(name)
        for how, found in corrected.items():
            yield Seen(name, how, found[name].lower, found[name].upper, truth)
        for method in ("percentile", "basic"):
            yield Seen(name, method, *ends_of(method, result), truth)


def ends_of(method: Any, found: qk.results.BootstrapResult) -> tuple[Any, Any]:
    """Those of another method, from the same resamples."""
    estimate = np.asarray(found.estimate)
    return interval(namespace(estimate), method, estimate, found.resamples, None, LEVEL)


def closed_forms(source: Scores, draw: Draw) -> Iterator[Seen]:
    """DeLong's logit and Wald intervals; score, Wilson's and exact intervals of the hit rate."""
    labels, scores = source.sample(draw.rng)
    for method in ("logit", "wald"):
        area = qk.inference.auc_interval(labels, scores, method=method)
        yield Seen("AUC", method, area.lower, area.upper, source.truth("AUC"))
    for way in ("score", "wilson", "exact"):
        rate = qk.inference.hit_rate_interval(labels, scores, fraction=FRACTION, method=way)
        yield Seen("hit rate", way, rate.lower, rate.upper, source.truth("hit rate"))


def groups(source: Scores, draw: Draw) -> Iterator[Seen]:
    """Customers with several rows, drawn whole."""
    labels, scores, owner = source.customers(draw.rng)
    return _both(source, labels, scores, clusters=owner, **draw.arguments())


def poisson(source: Scores, draw: Draw) -> Iterator[Seen]:
    """Examples that are drawn independently."""
    labels, scores = source.sample(draw.rng)
    return _both(source, labels, scores, poisson=True, **draw.arguments())


def _both(source: Scores, labels: Array, scores: Array, **given: Any) -> Iterator[Seen]:
    """Expanded intervals, and percentiles."""
    measures = {name: MEASURES[name] for name in OF_ROWS}
    for name, found in qk.bootstrap(measures, labels, scores, **given).items():
        truth = source.truth(name)
        yield Seen(name, "expanded", found.lower, found.upper, truth)
        yield Seen(name, "percentile", *ends_of("percentile", found), truth)


def finite_list(source: Scores, draw: Draw) -> Iterator[Seen]:
    """The hit rate of the best tenth of a list, of which the examples are a sample."""
    for times in LISTS:
        size = round(times * source.n)
        labels, scores = source._replace(n=size).sample(draw.rng)
        truth = float(qk.hit_rate(labels, scores, fraction=FRACTION))
        drawn = draw.rng.permutation(size)[: source.n]
        given: dict[str, Any] = {"fraction": FRACTION, "population": size}
        for method in ("score", "wilson", "exact"):
            rate = qk.inference.hit_rate_interval(
                labels[drawn], scores[drawn], method=method, **given
            )
            yield Seen(f"list of {times:g}·n", method, rate.lower, rate.upper, truth)
