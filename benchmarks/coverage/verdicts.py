"""What is said of several models: whether one is surely the first, and what it has."""

from __future__ import annotations

from collections.abc import Iterator

import quotakernels as qk
from benchmarks.coverage.seen import LEVEL, Seen, Shown, Verdict
from benchmarks.coverage.sources import FRACTION, WORSE, Draw, Scores

MODELS = {
    "five alike": (1.0,) * 5,
    "one of five the best": (1.0, *(WORSE,) * 4),
    "two of five the best": (1.0, 1.0, *(WORSE,) * 3),
}
SHOWN = "five alike", "one of five the best"
"""Those whose hit rates are compared too."""
WINNERS = {
    "eight alike": (1.0,) * 8,
    "eight of noise": (0.0,) * 8,
    "one of eight the best": (1.0, *(WORSE,) * 7),
}


def verdicts(source: Scores, draw: Draw) -> Iterator[Verdict | Shown]:
    """By AUC, and by the hit rate, as `evaluate` says it; in closed forms, without resamples."""
    for title, shares in MODELS.items():
        labels, scores = source.models(draw.rng, shares)
        models = {str(k): x for k, x in enumerate(scores)}
        yield from _said("AUC", title, qk.evaluate(labels, models, compare=True), source)
        if title in SHOWN:
            found = qk.evaluate(labels, models, fraction=FRACTION, compare=True)
            yield from _said("hit rate", title, found, source)


def _said(
    measure: str, title: str, found: qk.results.Evaluation, source: Scores
) -> Iterator[Verdict | Shown]:
    """Whether the first is sure to be that; it is right if it is the only best one.  Then what it
    has, and what it is expected to have.
    """
    what, shares = f"{measure}, {title}", MODELS[title]
    test = found.differences[-1].found
    first = int(test.names[0])
    sure = "sure that" in found.answers[3].verdict.lower()
    alone = shares[first] == max(shares) and shares.count(max(shares)) == 1
    yield Verdict(what, "wrongly sure", sure and not alone)
    if shares.count(max(shares)) == 1:
        yield Verdict(what, "rightly sure", sure and alone)
        apart = all(set(x).isdisjoint(test.letters[0]) for x in test.letters[1:])
        yield Verdict(what, "by Holm", apart and alone)
    truth = source._replace(apart=source.apart * shares[first]).truth(measure)
    yield Shown(what, "shown", float(test.estimate[0]), truth)
    yield Shown(what, "expected", test.expected, truth)


def winners(source: Scores, draw: Draw) -> Iterator[Seen | Verdict]:
    """The interval of the hit rate of the best of several, and which others are left behind it."""
    for title, shares in WINNERS.items():
        labels, scores = source.models(draw.rng, shares)
        models, what = {str(k): x for k, x in enumerate(scores)}, f"hit rate, {title}"
        found = qk.evaluate(
            labels, models, fraction=FRACTION, confidence_level=LEVEL, n_resamples=2
        )
        (values,) = found.at_quota.values()
        test = qk.compare(qk.hit_rate, labels, models, fraction=FRACTION)
        first, *others = map(int, test.names)
        truth = source._replace(apart=source.apart * shares[first]).truth("hit rate")
        yield Seen(what, "of the best", *found.as_best(values, "hit_rate", first)[:2], truth)
        behind = [k for k, p in zip(others, test.p_as_best[0, 1:], strict=True) if p <= 1 - LEVEL]
        wrongly = any(shares[k] >= shares[first] for k in behind)
        yield Verdict(what, "wrongly left behind", wrongly)
