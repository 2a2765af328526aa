"""What is said of several models: whether one is surely the first, and what it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import quotakernels as qk
from benchmarks.coverage.seen import Shown, Verdict
from benchmarks.coverage.sources import FRACTION, WORSE, Draw, Scores

MODELS = {
    "five alike": (1.0,) * 5,
    "one of five the best": (1.0, *(WORSE,) * 4),
    "two of five the best": (1.0, 1.0, *(WORSE,) * 3),
}
SHOWN = "five alike", "one of five the best"
"""Those whose hit rates are compared too, by resamples."""
PAIRS = 399
"""With so many resamples Holm's method can tell five models apart at 5 %."""


def verdicts(source: Scores, draw: Draw) -> Iterator[Verdict | Shown]:
    """By AUC, and by the hit rate, as `evaluate` says it."""
    for title, shares in MODELS.items():
        labels, scores = source.models(draw.rng, shares)
        models = {str(k): x for k, x in enumerate(scores)}
        yield from _said(f"AUC, {title}", qk.evaluate(labels, models, compare=True), shares)
        if title in SHOWN:
            given: dict[str, Any] = {"n_resamples": max(draw.resamples, PAIRS), "compare": True}
            given["random_state"] = draw.arguments()["random_state"]
            found = qk.evaluate(labels, models, fraction=FRACTION, **given)
            yield from _said(f"hit rate, {title}", found, shares)
            yield from _shown(f"hit rate, {title}", found, source, shares)


def _said(what: str, found: qk.results.Evaluation, shares: tuple[float, ...]) -> Iterator[Verdict]:
    """Whether the first is sure to be that; it is right if it is the only best one."""
    test = found.differences[-1].found
    first = int(test.names[0])
    sure = "sure that" in found.answers[3].verdict.lower()
    alone = shares[first] == max(shares) and shares.count(max(shares)) == 1
    yield Verdict(what, "wrongly sure", sure and not alone)
    if shares.count(max(shares)) == 1:
        yield Verdict(what, "rightly sure", sure and alone)
        apart = all(set(x).isdisjoint(test.letters[0]) for x in test.letters[1:])
        yield Verdict(what, "by Holm", apart and alone)


def _shown(
    what: str, found: qk.results.Evaluation, source: Scores, shares: tuple[float, ...]
) -> Iterator[Shown]:
    """The hit rate of the first one, and what it is expected to be."""
    test = found.differences[-1].found
    apart = source.apart * shares[int(test.names[0])]
    truth = source._replace(apart=apart).truth("hit rate")
    yield Shown(what, "shown", float(test.estimate[0]), truth)
    yield Shown(what, "expected", test.expected, truth)
