"""Few examples of a class, few clusters, and few groups of which a mean is taken."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Literal

import numpy as np

import quotakernels as qk
from benchmarks.coverage.pairs import EXCHANGES
from benchmarks.coverage.seen import Seen, Tested
from benchmarks.coverage.single import ends_of, of_measures
from benchmarks.coverage.sources import MEASURES, Draw, Scores

ROWS = 200
POSITIVES = (1, 2, 3, 5, 10, 30)
CLUSTERS = (2, 4, 6, 10, 30, 40, 60)
GROUPS = (4, 6, 10, 15, 20, 40)
ROWS_OF_GROUP, ALL_GROUPS = 40, 50_000


def positives(source: Scores, draw: Draw) -> Iterator[Seen | Tested]:
    """Tests and intervals of AUC."""
    for number in POSITIVES:
        few = source._replace(n=ROWS, positive=number / ROWS, fixed=True)
        labels, a, b = few.pair(draw.rng, same=True)
        given, what = draw.arguments(), f"{number} positive{'s' * (number > 1)}"
        numbers: dict[Literal["bootstrap", "permutation"], int]
        numbers = {"bootstrap": draw.resamples, "permutation": EXCHANGES}
        for test, resamples in numbers.items():
            drawn = {**given, "n_resamples": resamples}
            found = qk.compare(qk.roc_auc, labels, {"a": a, "b": b}, test=test, **drawn)
            yield Tested(what, test, found.p_value[0, 1])
        yield Tested(what, "DeLong", qk.inference.delong_test(labels, [a, b]).p_value)
        truth = source.truth("AUC")
        for method in ("score", "wald"):
            area = qk.inference.auc_interval(labels, a, method=method)
            yield Seen(what, method, area.lower, area.upper, truth)
        resampled = qk.bootstrap(qk.roc_auc, labels, a, **given)
        yield Seen(what, "expanded", resampled.lower, resampled.upper, truth)
        yield Seen(what, "percentile", *ends_of("percentile", resampled), truth)


def clusters(source: Scores, draw: Draw) -> Iterator[Seen | Tested]:
    """Tests of AUC, and intervals of AUC and AHR."""
    few = source._replace(n=ROWS)
    for number in CLUSTERS:
        labels, (a, b), owner = few.branches(draw.rng, number)
        given: dict[str, Any] = {"clusters": owner, **draw.arguments()}
        found = qk.compare(qk.roc_auc, labels, {"a": a, "b": b}, **given)
        what = f"{number} clusters"
        yield Tested(f"{what}, AUC", "bootstrap", found.p_value[0, 1])
        for each in of_measures(source, ("AUC", "AHR"), labels, a, **given):
            yield each._replace(what=f"{what}, {each.what}")


def groups(source: Scores, draw: Draw) -> Iterator[Seen | Tested]:
    """Intervals of means over groups of AUC and hit rate, and tests of two models by them."""
    for number in GROUPS:
        of_groups = source._replace(n=number * ROWS_OF_GROUP)
        labels, (scores, other), owner = of_groups.branches(draw.rng, number)
        means = {name: qk.group_mean(MEASURES[name]) for name in ("AUC", "hit rate")}
        drawn = qk.bootstrap(means, labels, scores, groups=owner, **draw.arguments())
        for name, found in drawn.items():
            seen, mean, truth = f"{number} groups, {name}", found.value, _mean(source, name)
            yield Seen(seen, "student", mean.lower, mean.upper, truth)
            yield Seen(seen, "percentile", *ends_of("percentile", mean), truth)
            models = {"a": scores, "b": other}
            tested = qk.compare(means[name], labels, models, groups=owner, **draw.arguments())
            yield Tested(seen, "permutation", tested.p_value[0, 1])


@lru_cache
def _mean(source: Scores, name: str) -> float:
    """The mean over so many groups that their number does not matter."""
    many = source._replace(n=ALL_GROUPS * ROWS_OF_GROUP)
    labels, (scores, _), owner = many.branches(np.random.default_rng(0), ALL_GROUPS)
    return float(qk.group_mean(MEASURES[name])(labels, scores, groups=owner).value)
