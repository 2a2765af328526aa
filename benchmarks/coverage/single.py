"""Intervals of measures of one model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

import quotakernels as qk
from benchmarks.coverage.seen import LEVEL, Seen
from benchmarks.coverage.sources import FRACTION, MEASURES, Array, Draw, Scores
from quotakernels.inference.bootstrapping import interval
from quotakernels.ops import namespace

CORRECTED: dict[str, dict[str, Any]] = {
    "expanded": {},
    "BCa": {"method": "bca"},
    "stratified": {"stratified": True},
}
OF_ROWS = ("AUC", "AHR", "hit rate")
OF_ALL = ("AUC", "AHR", "AQR", "hit rate")
HULLS = ("hull AUC", "achievable AUC-PR")
PRECISION: dict[str, Literal["average_precision", "average_hit_rate"]] = {
    "AP": "average_precision",
    "AHR": "average_hit_rate",
}
LISTS = (1.05, 1.25, 2, 10)
"""Sizes of finite lists, in sizes of the sample."""
TILT, OFTEN = 0.5, 10.0


def bootstrap(source: Scores, draw: Draw) -> Iterator[Seen]:
    """Expanded, BCa, percentile and basic intervals, and those of strata."""
    labels, scores = source.sample(draw.rng)
    given = draw.arguments()
    corrected = {
        how: qk.bootstrap(chosen(OF_ALL), labels, scores, **given, **more)
        for how, more in CORRECTED.items()
    }
    for name, result in corrected["expanded"].items():
        truth = source.truth(name)
        for how, found in corrected.items():
            yield Seen(name, how, found[name].lower, found[name].upper, truth)
        for method in ("percentile", "basic"):
            yield Seen(name, method, *ends_of(method, result), truth)


def chosen(names: Sequence[str]) -> dict[str, Callable[..., Any]]:
    """Some of the measures."""
    return {name: MEASURES[name] for name in names}


def averages(source: Scores, draw: Draw) -> Iterator[Seen]:
    """Average precision and average hit rate, in closed form and by resamples of the same data."""
    labels, scores = source.sample(draw.rng)
    for name, measure in PRECISION.items():
        found = qk.inference.average_precision_interval(labels, scores, measure=measure)
        yield Seen(name, "closed form", found.lower, found.upper, source.truth(name))
    resampled = (*PRECISION, "AUC-PR")
    yield from of_measures(source, resampled, labels, scores, **draw.arguments())


def lift(source: Scores, draw: Draw) -> Iterator[Seen]:
    """By resamples; and the hit rate's interval over the prevalence, as if that were known."""
    labels, scores = source.sample(draw.rng)
    if labels.any():
        rate = qk.inference.hit_rate_interval(labels, scores, fraction=FRACTION)
        known = float(labels.mean())
        yield Seen("lift", "divided", rate.lower / known, rate.upper / known, source.truth("lift"))
    yield from of_measures(source, ("lift",), labels, scores, **draw.arguments())


def hulls(source: Scores, draw: Draw) -> Iterator[Seen]:
    """Areas of the best of many cuts."""
    return of_measures(source, HULLS, *source.sample(draw.rng), **draw.arguments())


def weights(source: Scores, draw: Draw) -> Iterator[Seen]:
    """Examples whose weights have nothing to do with what is measured."""
    labels, scores = source.sample(draw.rng)
    weight = draw.rng.lognormal(size=source.n)
    return _both(source, labels, scores, sample_weight=weight, **draw.arguments())


def unequal(source: Scores, draw: Draw) -> Iterator[Seen]:
    """Closed forms with several kinds of weights, also by class and by score."""
    labels, scores = source.sample(draw.rng)
    at: dict[str, Any] = {"fraction": FRACTION}
    for name, (weights, odds) in _weights(source, draw.rng, labels, scores).items():
        share = odds * source.positive
        known = source._replace(positive=share / (share + 1 - source.positive))
        area = qk.inference.auc_interval(labels, scores, sample_weight=weights)
        yield Seen(f"{name}: AUC", "area", area.lower, area.upper, source.truth("AUC"))
        rate = qk.inference.hit_rate_interval(labels, scores, sample_weight=weights, **at)
        yield Seen(f"{name}: hit rate", "rate", rate.lower, rate.upper, known.truth("hit rate"))
        part = qk.inference.qrecall_interval(labels, scores, sample_weight=weights, **at)
        yield Seen(f"{name}: Qrecall", "part", part.lower, part.upper, known.truth("Qrecall"))


def _weights(
    source: Scores, rng: np.random.Generator, labels: Array, scores: Array
) -> dict[str, tuple[Array, float]]:
    """Weights of several kinds, and how much the odds of positives grow by them."""
    few = np.where(rng.random(source.n) < 0.1, 20.0, 1.0)
    found = {
        "log-normal weights": (rng.lognormal(size=source.n), 1.0),
        "a tenth counts 20 times": (few, 1.0),
        "negatives count 10 times": (np.where(labels, 1.0, OFTEN), 1 / OFTEN),
        "positives count 10 times": (np.where(labels, OFTEN, 1.0), OFTEN),
    }
    if not source.step:  # rounding moves the scores
        tilted = np.exp(TILT * scores), math.exp(TILT * source.apart)
        found["high scores count more"] = tilted
    return found


def ends_of(method: Any, found: qk.results.BootstrapResult) -> tuple[Any, Any]:
    """Those of another method, from the same resamples."""
    estimate = np.asarray(found.estimate)
    return interval(namespace(estimate), method, LEVEL, estimate, found.resamples, None)


def closed_forms(source: Scores, draw: Draw) -> Iterator[Seen]:
    """DeLong's score and Wald intervals; score, Wilson's and exact intervals of the hit rate;
    and the score interval of Qrecall, which is that of the lift.
    """
    labels, scores = source.sample(draw.rng)
    for method in ("score", "wald"):
        area = qk.inference.auc_interval(labels, scores, method=method)
        yield Seen("AUC", f"{method} of AUC", area.lower, area.upper, source.truth("AUC"))
    for way in ("score", "wilson", "exact"):
        rate = qk.inference.hit_rate_interval(labels, scores, fraction=FRACTION, method=way)
        yield Seen("hit rate", way, rate.lower, rate.upper, source.truth("hit rate"))
    share = qk.inference.qrecall_interval(labels, scores, fraction=FRACTION)
    truth = source.truth("Qrecall")
    yield Seen("Qrecall", "score of Qrecall", share.lower, share.upper, truth)


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
    return of_measures(source, OF_ROWS, labels, scores, **given)


def of_measures(
    source: Scores, names: Sequence[str], labels: Array, scores: Array, **given: Any
) -> Iterator[Seen]:
    """Expanded intervals of measures, and percentiles."""
    for name, found in qk.bootstrap(chosen(names), labels, scores, **given).items():
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
