"""Differences of two models: intervals where they differ, and tests where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import quotakernels as qk
from benchmarks.coverage.seen import LEVEL, SLACK, Seen, Tested, Verdict
from benchmarks.coverage.sources import ALIKE, FRACTION, MEASURES, WORSE, Draw, Scores

COMPARED = ("AUC", "AHR", "hit rate")
TESTED = {"AUC": ("bootstrap", "permutation"), "hit rate": ("bootstrap",)}
EXCHANGES = 199
"""With so many a permutation test at 5 % is exact."""


def _worse(source: Scores) -> Scores:
    return source._replace(apart=WORSE * source.apart)


def _truth(source: Scores, name: str) -> float:
    return source.truth(name) - _worse(source).truth(name)


def _compared(labels: Any, a: Any, b: Any, name: str, **given: Any) -> tuple[float, float, float]:
    """Both ends of the first less the second, and p."""
    found = qk.compare(MEASURES[name], labels, {"a": a, "b": b}, **given)
    i, j = found.names.index("a"), found.names.index("b")
    return float(found.lower[i, j]), float(found.upper[i, j]), float(found.p_value[i, j])


def differences(source: Scores, draw: Draw) -> Iterator[Seen]:
    """Intervals of the difference of two models that are not equally good."""
    labels, a, b = source.pair(draw.rng, same=False)
    given = draw.arguments()
    for name in COMPARED:
        ends = _compared(labels, a, b, name, test="bootstrap", **given)[:2]
        yield Seen(name, "bootstrap", *ends, _truth(source, name))
    paired = qk.inference.delong_test(labels, [a, b])
    yield Seen("AUC", "DeLong", paired.lower, paired.upper, _truth(source, "AUC"))
    other = qk.rank(*_worse(source).sample(draw.rng))
    alone = qk.inference.delong_test_unpaired(qk.rank(labels, a), other)
    yield Seen("AUC", "DeLong, unpaired", alone.lower, alone.upper, _truth(source, "AUC"))
    chosen = qk.inference.compare_selections(labels, [a, b], fraction=FRACTION)
    yield Seen("hit rate", "score", chosen.lower, chosen.upper, _truth(source, "hit rate"))


def levels(source: Scores, draw: Draw) -> Iterator[Tested]:
    """p-values of two models that are equally good."""
    labels, a, b = source.pair(draw.rng, same=True)
    given = draw.arguments()
    for name, tests in TESTED.items():
        for test in tests:
            number = EXCHANGES if test == "permutation" else draw.resamples
            own = {**given, "test": test, "n_resamples": number}
            yield Tested(name, test, _compared(labels, a, b, name, **own)[2])
    yield Tested("AUC", "DeLong", qk.inference.delong_test(labels, [a, b]).p_value)
    alone = qk.inference.delong_test_unpaired(qk.rank(labels, a), qk.rank(*source.sample(draw.rng)))
    yield Tested("AUC", "DeLong, unpaired", alone.p_value)
    chosen = qk.inference.compare_selections(labels, [a, b], fraction=FRACTION)
    yield Tested("hit rate", "score", chosen.p_value)


STUDIES = (
    (0.7, 0.3, 0.5),
    (1.0, 0.3, 0.1),
    (1.2, 0.1, 0.05),
    (1.2, 0.02, 0.05),
    (1.2, 0.1, 0.2),
    (2.0, 0.1, 0.1),
    (2.0, 0.05, 0.02),
    (2.5, 0.4, 0.3),
)
"""Studies that are planned: the better model's shift, the share of positives, and the quota."""


def planned(source: Scores, draw: Draw) -> Iterator[Verdict]:
    """Whether studies of the planned size find the difference of two models that have one."""
    for apart, positive, fraction in STUDIES:
        study = source._replace(apart=apart, positive=positive)
        assumed: dict[str, Any] = {
            "auc": _worse(study).truth("AUC"),
            "prevalence": positive,
            "correlation": ALIKE,
        }
        tests: dict[Any, Any] = {
            qk.roc_auc: (qk.inference.delong_test, {}),
            qk.hit_rate: (qk.inference.compare_selections, {"fraction": fraction}),
        }
        for measure, (test, at) in tests.items():
            a, b = (float(measure(x.everybody(), **at)) for x in (study, _worse(study)))
            found = qk.inference.sample_size(measure, difference=a - b, **assumed, **at)
            labels, *pair = study._replace(n=int(found.examples)).pair(draw.rng, same=False)
            what = (
                f"{measure.__name__}, shift {apart}, {positive:.0%} positive, quota {fraction:.0%}"
            )
            yield Verdict(what, "power", test(labels, pair, **at).p_value <= 1 - LEVEL + SLACK)


EARLY = (
    (1000, 0.1, 50, 1.2, 0.9),
    (500, 0.2, 25, 1.0, 0.6),
    (2000, 0.05, 40, 1.5, 1.1),
    (1000, 0.1, 50, 2.0, 1.4),
    (1000, 0.1, 50, 3.0, 2.2),
    (1000, 0.1, 30, 2.5, 1.7),
    (300, 0.1, 15, 2.0, 1.0),
    (2000, 0.02, 20, 2.0, 1.3),
)
"""Rows, the share of positives, a quota that ends before most of them, and two models' shifts."""


def early(source: Scores, draw: Draw) -> Iterator[Tested | Verdict]:
    """The score test and Fisher's with mid-p, which holds its level there, at early quotas."""
    for rows, positive, quota, apart, less in EARLY:
        study = source._replace(n=rows, positive=positive, apart=apart)
        what = f"{rows} rows, {positive:.0%} positive, quota {quota}, shift {apart}"
        for better in (False, True):
            labels, scores = study.models(draw.rng, (1.0, less / apart if better else 1.0))
            found = qk.inference.compare_selections(labels, scores, quota=quota)
            for test, p in (("score", found.p_value), ("Fisher's", _mid_p(found))):
                if better:
                    yield Verdict(what, f"found by {test}", p <= 1 - LEVEL)
                else:
                    yield Tested(what, test, p)


def _mid_p(found: Any) -> float:
    """Fisher's p-value, of which what is as probable as what was found counts half."""
    from scipy.stats import hypergeom

    alone, first = round(found.discordant), round(found.positives_a)
    both = first + round(found.positives_b)
    chances = hypergeom.pmf(np.arange(both + 1), 2 * alone, both, alone)
    alike = np.isclose(chances, chances[first], rtol=1e-9)
    return float(np.sum(chances[(chances < chances[first]) & ~alike]) + np.sum(chances[alike]) / 2)
