"""Cross-validation: models that are trained, and intervals and tests over their folds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

import quotakernels as qk
from benchmarks.coverage.seen import Seen, Tested
from benchmarks.coverage.sources import MEASURES, Array, Draw, Scores

FEATURES, FOLDS = 5, 5
REPEATS = {"5 folds": 1, "5 × 5 folds": 5}
ALIKE = 0.5
"""Correlation of the features of two models."""
TRAININGS = 4000
FOLDED = ("AUC", "hit rate")


def summaries(source: Scores, draw: Draw) -> Iterator[Seen]:
    """The mean over folds, for the mean of models trained on so many examples."""
    labels, features = _examples(source, draw.rng, 1)
    for how, repeats in REPEATS.items():
        folds = _folds(labels, repeats, draw.rng)
        (scores,) = _scores(source, labels, features, folds)
        for name in FOLDED:
            mean = qk.inference.fold_summary(MEASURES[name], labels, scores, folds)
            yield Seen(name, how, mean.lower, mean.upper, _truth(source, name))


def levels(source: Scores, draw: Draw) -> Iterator[Tested]:
    """Two models that are equally good on average over training sets."""
    labels, features = _examples(source, draw.rng, 2)
    for how, repeats in REPEATS.items():
        folds = _folds(labels, repeats, draw.rng)
        scores = _scores(source, labels, features, folds)
        for name in FOLDED:
            test = qk.inference.fold_test(MEASURES[name], labels, [scores[0], scores[1]], folds)
            yield Tested(name, how, test.p_value)


def _examples(source: Scores, rng: np.random.Generator, models: int) -> tuple[Array, Array]:
    """Labels, and features of shape (models, n, d), of which the first one knows the label."""
    labels = source.labels(rng)
    shape = (source.n, FEATURES)
    noise = np.sqrt(1 - ALIKE) * rng.normal(size=(models, *shape))
    features = noise + np.sqrt(ALIKE) * rng.normal(size=shape)
    features[..., 0] += source.apart * labels
    return labels, features


def _folds(labels: Array, repeats: int, rng: np.random.Generator) -> Array:
    """Folds with as many of each class, shape (repeats, n)."""
    folds = np.empty((repeats, labels.size), dtype=np.int64)
    for row in folds:
        order = rng.permutation(labels.size)
        row[order[np.argsort(labels[order], kind="stable")]] = np.arange(labels.size) % FOLDS
    return folds


def _scores(source: Scores, labels: Array, features: Array, folds: Array) -> Array:
    """Along the line between both classes' means in the other folds, shape (M, repeats, n)."""
    scores = np.empty((features.shape[0], *folds.shape))
    for model, repeat in np.ndindex(scores.shape[:2]):
        x = features[model]
        for fold in range(FOLDS):
            tested = folds[repeat] == fold
            good, bad = x[~tested & labels], x[~tested & ~labels]
            line = good.mean(axis=0) - bad.mean(axis=0)
            scores[model, repeat, tested] = x[tested] @ (line / np.linalg.norm(line))
    return np.round(scores / source.step) * source.step if source.step else scores


@lru_cache(maxsize=64)
def _truth(source: Scores, name: str) -> float:
    """The mean over models that are trained on all folds but one."""
    rng = np.random.default_rng(0)
    size = round(source.n * (1 - 1 / FOLDS))
    good = np.maximum(rng.binomial(size, source.positive, TRAININGS), 1)
    error = np.sqrt(1 / good + 1 / (size - good))
    lines = error[:, None] * rng.normal(size=(TRAININGS, FEATURES))
    lines[:, 0] += source.apart
    apart = source.apart * lines[:, 0] / np.linalg.norm(lines, axis=-1)
    grid = np.linspace(min(0, apart.min()), source.apart, 13)
    values = [source._replace(apart=float(x)).truth(name) for x in grid]
    return float(np.mean(np.interp(apart, grid, values)))
