"""Ranked lists: success, reciprocal rank, DCG, NDCG, AP at a cutoff, against exact values."""

from __future__ import annotations

import functools
from fractions import Fraction
from math import comb, log2
from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, QUICK, Mode, in_full, mode_fixture, parameters
from everything import MAIN
from exact.retrieval import (
    average_precision_at,
    dcg,
    dcg_of_list,
    mean_over_orders,
    ndcg,
    precisions_of_list,
    reciprocal_rank,
    reciprocal_rank_of_list,
    success,
)
from expected import as_floats, ulps

import quotakernels as qk
from measures.test_small_cases import LENGTH, padded_cases
from quotakernels import retrieval

EXACT = {
    "dcg": dcg,
    "expected_average_precision": average_precision_at,
    "ndcg": ndcg,
    "reciprocal_rank": reciprocal_rank,
    "success": success,
}
QUOTAS = (Fraction(0), Fraction(1), Fraction(5, 2), Fraction(4))
MEASURES = {name: getattr(retrieval, name) for name in EXACT}
mode = mode_fixture(QUICK)
of_main = pytest.mark.parametrize(
    "mode", parameters([m for m in MODES if m.name in (*MAIN, "jax64-jit")])
)


def near(name: str, found: Any, wanted: Any) -> None:
    """Within a few units in the last place, NaN in the same places."""
    found, wanted = np.asarray(found), as_floats(wanted)
    assert found.shape == wanted.shape, name
    assert ulps(found, wanted) <= 8, (name, ulps(found, wanted))


def computed(ranking: qk.Ranking, quotas: Any, **own: Any) -> dict[str, Any]:
    """All of the measures, without a cutoff and with several."""
    whole = {f"{name} of all": measure(ranking) for name, measure in MEASURES.items()}
    return whole | {name: x(ranking, quota=quotas, **own) for name, x in MEASURES.items()}


def wanted(groups: list[ex.Group], when_short: str = "all") -> dict[str, Any]:
    """The exact values, which do not depend on the scores but on their order."""
    return in_order(tuple(g._replace(score=-k) for k, g in enumerate(groups)), when_short)


@functools.cache
def in_order(groups: tuple[ex.Group, ...], when_short: str) -> dict[str, Any]:
    size = ex.total_count(groups)
    found: dict[str, Any] = {f"{name} of all": exact(groups) for name, exact in EXACT.items()}
    for name, exact in EXACT.items():
        fits = [size > 0 and (q <= size or when_short == "all") for q in QUOTAS]
        at = zip(fits, QUOTAS, strict=True)
        found[name] = [exact(groups, min(q, size)) if there else None for there, q in at]
    return found


def assert_all(found: dict[str, Any], rows: Any) -> None:
    for name, value in found.items():
        near(name, value, rows(name))


# the exact reference itself


@pytest.mark.full
def test_exact_values_are_means_over_all_orders():
    for labels, scores in ex.cases(4):
        groups, positives = ex.groups(labels, scores), sum(labels)
        for k in range(len(labels) + 1):
            mean = functools.partial(mean_over_orders, labels=labels, scores=scores, k=k)
            assert reciprocal_rank(groups, k) == mean(reciprocal_rank_of_list)
            assert success(groups, k) == mean(lambda x, k: Fraction(1 in x[:k]))
            assert dcg(groups, k) == mean(dcg_of_list)
            if positives:
                assert average_precision_at(groups, k) == mean(precisions_of_list) / positives
        assert average_precision_at(groups) == ex.expected_average_precision(groups)


# the library


@pytest.mark.long_program
@pytest.mark.parametrize("when_short", ["all", in_full("nan")])
def test_every_small_case(mode: Mode, when_short: str):
    """Up to n = 5 in NumPy, up to 4 elsewhere."""
    longest = LENGTH if mode.library == "numpy" else LENGTH - 1
    quotas = [float(q) for q in QUOTAS]

    def measures(y: Any, s: Any, mask: Any) -> dict[str, Any]:
        return computed(qk.rank(y, s, where=mask), mode.array(quotas), when_short=when_short)

    found = mode.run(measures, *padded_cases(longest))
    rows = [wanted(ex.groups(y, s), when_short) for y, s in ex.ordered_cases(longest)]
    assert_all(found, lambda name: [row[name] for row in rows])


@pytest.mark.parametrize(
    "ties", ["expected", *map(in_full, ("pessimistic", "optimistic", "given"))]
)
def test_compact_tables_of_every_small_case(ties: str):
    for y, s in ex.cases(4):
        ranking = qk.rank(y, s, ties=ties)
        found = computed(ranking, [float(q) for q in QUOTAS], when_short="all")
        exact = wanted(ex.groups(y, s, ties=ties))
        assert_all(found, exact.__getitem__)


@pytest.mark.long_program
@of_main
def test_graded_gains(mode: Mode):
    scores, gain = np.array([3.0, 1, 1, 2, 1, 0]), np.array([0, 3, 1, 2, 0, 5])
    groups = ex.groups([0] * 6, scores.tolist())
    sums = [Fraction(x) for x in (0, 2, 4, 5)]
    quotas = [float(q) for q in QUOTAS]

    def measures(s: Any, g: Any) -> Any:
        both = {"gain": g, "quota": quotas}
        ranking = qk.rank(s > 9, s, gain=g)
        return {
            "dcg": retrieval.dcg(None, s, **both),
            "of a ranking": retrieval.dcg(ranking, quota=quotas),
            "ndcg": retrieval.ndcg(None, s, **both),
        }

    found = mode.run(measures, scores, gain)
    exact = [dcg(groups, q, sums) for q in QUOTAS]
    best = sorted(gain.tolist(), reverse=True)
    ideal_order = ex.groups([0] * 6, range(6, 0, -1))
    ideal = [dcg(ideal_order, q, [Fraction(x) for x in best]) for q in QUOTAS]
    near("dcg", found["dcg"], exact)
    near("dcg", found["of a ranking"], exact)
    near("ndcg", found["ndcg"], [x / y if y else None for x, y in zip(exact, ideal, strict=True)])


def test_a_negative_grade_that_is_not_read_spoils_its_group():
    given: dict[str, Any] = {"gain": [1, -1, 2, 1], "groups": [0, 0, 1, 1], "validate": False}
    found = retrieval.ndcg(None, [4, 3, 2, 1], **given)
    np.testing.assert_array_equal(found, [np.nan, 1])


def test_chances_of_large_groups():
    """Of tie groups in which nothing could be enumerated."""
    sizes = [
        (10**6, 3, 10),
        (10**6, 900, 1200),
        (50_000, 49_000, 7),
        (5000, 40, 4955),
        (300, 9, 280),
    ]
    for items, positives, drawn in sizes:
        none = Fraction(comb(items - positives, drawn), comb(items, drawn))
        table = qk.Ranking.from_counts([0.5], [items], [positives])
        assert retrieval.success(table, quota=drawn) == pytest.approx(float(1 - none), rel=2e-15)


@pytest.mark.full
def test_a_large_tie_group():
    ranking = qk.Ranking.from_counts([0.9, 0.5, 0.1], [3, 2000, 5], [0, 40, 5])
    groups = ex.groups_from_counts([0.9, 0.5, 0.1], [3, 2000, 5], [0, 40, 5])
    for name, measure in MEASURES.items():
        for quota in (1, 7, 10.5, 600, None):
            value = measure(ranking, quota=quota)
            assert float(value) == pytest.approx(float(EXACT[name](groups, quota)), rel=4e-15), name


def test_bad_gains():
    assert np.isnan(retrieval.ndcg(None, [0.2, 0.1], gain=[1.0, -1.0], validate=False))
    masked = {"gain": [1.0, -1.0], "where": [True, False]}
    assert retrieval.ndcg(None, [0.2, 0.1], **masked) == 1


def test_counts_of_more_positions_than_are_looked_at():
    ranking = qk.Ranking.from_counts([0.9, 0.5], [10**9, 10**9], [1, 5])
    assert retrieval.success(ranking) == 1
    assert float(retrieval.reciprocal_rank(ranking, quota=10)) == pytest.approx(2.92896825e-9)


TREC_EVAL = {
    "P_2": [1, 0.5, 0],
    "P_5": [0.4, 0.6, 0],
    "recall_2": [0.6667, 0.3333, 0],
    "map": [0.6667, 0.8056, 0],
    "map_cut_2": [0.6667, 0.3333, 0],
    "recip_rank": [1, 1, 0],
    "success_1": [1, 1, 0],
    "ndcg_cut_3": [0.7654, 0.5250, 0],
}
"""What trec_eval 10.0-rc3 prints of these three lists; the last document of the first one is judged
and not retrieved.
"""


def test_definitions_are_those_of_trec_eval():
    given = {"groups": list("aaaabbbbcc")}
    grade = np.array([1.0, 0, 1, 1, 2, 0, 1, 3, 0, 0])
    score = np.array([0.9, 0.5, 0.7, -1, 0.9, 0.8, 0.7, 0.6, 0.9, 0.8])
    lists = qk.rank(grade > 0, score, **given)
    positives, retrieved = qk.group_counts(lists).positives, np.array([3, 4, 2])
    hits = qk.qrecall(lists, quota=retrieved[:, None])[:, 0] * positives
    found = {
        "P_2": qk.hit_rate(lists, quota=2),
        "P_5": np.where(positives > 0, hits, 0) / 5,
        "recall_2": qk.qrecall(lists, quota=2),
        "map": qk.expected_average_precision(lists, quota=retrieved[:, None])[:, 0],
        "map_cut_2": qk.expected_average_precision(lists, quota=2),
        "recip_rank": retrieval.reciprocal_rank(lists, quota=retrieved[:, None])[:, 0],
        "success_1": retrieval.success(lists, quota=1),
        "ndcg_cut_3": retrieval.ndcg(None, score, gain=grade, **given, quota=3),
    }
    for name, printed in TREC_EVAL.items():
        there = ~np.isnan(found[name])
        np.testing.assert_allclose(found[name][there], np.array(printed)[there], atol=5e-5)
        undefined = name in ("recall_2", "map", "map_cut_2", "ndcg_cut_3")
        assert there.tolist() == [True, True, not undefined]
    short = qk.rank([1, 0, 1], [0.9, 0.5, 0.7], groups=[0, 0, 0])
    assert qk.hit_rate(short, quota=5) == [2 / 3]


# NDCG of retrieved lists, as trec_eval defines it, by the recipe of docs/coming_from.md


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
    found = retrieval.dcg(None, score, gain=gain, quota=min(retrieved, end))
    ideal = retrieval.dcg(None, gain, gain=gain, quota=end)
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
