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

OF_ROWS = ("AUC", "AHR", "hit rate")
LISTS = (1.05, 1.25, 2, 10)
"""Sizes of finite lists, in sizes of the sample."""


def bootstrap(source: Scores, draw: Draw) -> Iterator[Seen]:
    """Percentile, basic, BCa and stratified intervals."""
    labels, scores = source.sample(draw.rng)
    given = draw.arguments()
    drawn = qk.bootstrap(MEASURES, labels, scores, method="bca", **given)
    strata = qk.bootstrap(MEASURES, labels, scores, stratified=True, **given)
    for name, result in drawn.items():
        truth = source.truth(name)
        for method in ("percentile", "basic"):
            yield Seen(name, method, *ends_of(method, result), truth)
        yield Seen(name, "BCa", result.lower, result.upper, truth)
        yield Seen(name, "stratified", strata[name].lower, strata[name].upper, truth)


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
    return _percentiles("groups", source, labels, scores, clusters=owner, **draw.arguments())


def poisson(source: Scores, draw: Draw) -> Iterator[Seen]:
    """Examples that are drawn independently."""
    labels, scores = source.sample(draw.rng)
    return _percentiles("Poisson", source, labels, scores, poisson=True, **draw.arguments())


def _percentiles(
    how: str, source: Scores, labels: Array, scores: Array, **given: Any
) -> Iterator[Seen]:
    measures = {name: MEASURES[name] for name in OF_ROWS}
    for name, found in qk.bootstrap(measures, labels, scores, **given).items():
        yield Seen(name, how, found.lower, found.upper, source.truth(name))


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
