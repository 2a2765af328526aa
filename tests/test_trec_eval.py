"""NDCG of retrieved lists, as trec_eval defines it, by the recipe of docs/coming_from.md."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import pytest

from quotakernels.retrieval import dcg

CUTS = (1, 3, 5, 10)


def by_definition(grade: dict[str, int], run: dict[str, float], cut: int | None) -> float:
    """DCG of the documents retrieved, over that of all judged ones in the order of their grades."""
    retrieved = sorted(run, key=lambda x: -run[x])[:cut]
    gains = [max(grade.get(x, 0), 0) for x in retrieved]
    best = sorted((x for x in grade.values() if x > 0), reverse=True)[:cut]
    found, ideal = (sum(x / log2(i + 2) for i, x in enumerate(row)) for row in (gains, best))
    return found / ideal if ideal else 0.0


def by_recipe(grade: dict[str, int], run: dict[str, float], cut: int | None) -> float:
    every = sorted({*grade, *run})
    gain = np.asarray([grade.get(x, 0) for x in every])
    score = np.asarray([run.get(x, -np.inf) for x in every])
    retrieved, end = len(run), len(every) if cut is None else min(cut, len(every))
    found = dcg(None, score, gain=gain, quota=min(retrieved, end))
    ideal = dcg(None, gain, gain=gain, quota=end)
    return float(found / ideal) if ideal > 0 else 0.0


def random_runs(number: int) -> list[tuple[dict[str, int], dict[str, float]]]:
    draw = np.random.default_rng(7)
    names = [f"d{k:02}" for k in range(30)]
    runs = []
    for _ in range(number):
        judged = draw.choice(names, draw.integers(1, 25), replace=False)
        retrieved = draw.choice(names, draw.integers(1, 25), replace=False)
        grades = {str(x): int(draw.integers(0, 4)) for x in judged}
        scores = draw.permutation(len(retrieved)).astype(float)
        runs.append((grades, dict(zip(map(str, retrieved), scores.tolist(), strict=True))))
    return runs


def test_four_relevant_and_one_of_them_retrieved():
    grade, run = dict.fromkeys("abcd", 1), {"a": 2.0, "x": 1.0}
    assert round(by_definition(grade, run, None), 4) == round(by_recipe(grade, run, None), 4)
    assert round(by_recipe(grade, run, None), 4) == 0.3904


def test_random_runs():
    for grade, run in random_runs(200):
        for cut in (None, *CUTS):
            assert by_recipe(grade, run, cut) == pytest.approx(
                by_definition(grade, run, cut), 1e-14
            )


def test_trec_eval_itself():
    pytrec_eval: Any = pytest.importorskip("pytrec_eval")
    runs = {f"q{k}": x for k, x in enumerate(random_runs(200))}
    judged = {q: grade for q, (grade, _) in runs.items()}
    cuts = ",".join(map(str, CUTS))
    evaluator = pytrec_eval.RelevanceEvaluator(judged, {"ndcg", f"ndcg_cut.{cuts}"})
    for q, found in evaluator.evaluate({q: run for q, (_, run) in runs.items()}).items():
        for cut in (None, *CUTS):
            wanted = found["ndcg" if cut is None else f"ndcg_cut_{cut}"]
            assert by_recipe(*runs[q], cut) == pytest.approx(wanted, 1e-12)
