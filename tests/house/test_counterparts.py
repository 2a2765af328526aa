"""Every public measure has an exact counterpart in tests/exact, and is tested against it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import exact as ex
import numpy as np
import pytest
from exact.counterparts import COUNTERPARTS, OF_TABLES
from expected import AT_QUOTA, NUMBERS, as_floats, compact

import quotakernels as qk

TESTS = Path(__file__).resolve().parents[1]


def rooms() -> Iterator[ModuleType]:
    """The package and its public modules."""
    yield qk
    found = (getattr(qk, name) for name in dir(qk) if not name.startswith("_"))
    yield from (x for x in found if isinstance(x, ModuleType))


def public() -> dict[str, Any]:
    return {name: getattr(x, name) for x in rooms() for name in getattr(x, "__all__", ())}


def measures() -> set[str]:
    """What says whether more of it is better is a measure."""
    return {name for name, x in public().items() if hasattr(x, "greater_is_better")}


def test_every_public_measure_has_an_exact_counterpart():
    without = measures() - COUNTERPARTS.keys()
    assert without == set(), "write them in tests/exact/, and name them in its counterparts.py"


def test_only_public_functions_have_counterparts():
    assert COUNTERPARTS.keys() - public().keys() == set()


def test_counterparts_are_of_the_exact_reference():
    modules = {x.__module__.partition(".")[0] for found in COUNTERPARTS.values() for x in found}
    assert modules == {"exact"}


@cache
def words_of_tests() -> list[set[str]]:
    """The names in each file of tests, of code and of strings, with those of helpers it imports."""
    helpers = {path.stem: words(path) for path in TESTS.glob("*.py")}
    rooms = ("measures", "inference", "ranking", "libraries", "house")
    tests = [words(path) for room in rooms for path in (TESTS / room).glob("test_*.py")]
    return [own.union(*(helpers[name] for name in own & helpers.keys())) for own in tests]


def words(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    texts = (x for node in ast.walk(tree) for _, x in ast.iter_fields(node) if isinstance(x, str))
    return {word for text in texts for word in re.findall(r"\w+", text)}


@pytest.mark.parametrize("name", sorted(COUNTERPARTS.keys() - OF_TABLES - {*NUMBERS, *AT_QUOTA}))
def test_a_test_names_a_measure_with_its_counterpart(name: str):
    """In one file, with those of its helpers.  Those of tables, and numbers of a ranking or at a
    quota, are tested wherever all of them are.
    """
    for exact in COUNTERPARTS[name]:
        files = (x for x in words_of_tests() if {name, exact.__name__, "exact"} <= x)
        assert any(files), f"no test compares {name} with {exact.__name__} of tests/exact/"


# measures that no other test compares with their counterparts

CASES = [(ex.groups(y, s), qk.rank(y, s)) for y, s in ex.ordered_cases(3)]


def assert_near(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, as_floats(wanted), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", ["hit_rate", "lift", "pearson", "qrecall"])
def test_curves_of_all_small_cases(name: str):
    """A curve is the measure at all cuts."""
    (exact,) = COUNTERPARTS[f"{name}_curve"]
    for groups, ranking in CASES:
        curve = public()[f"{name}_curve"](ranking)
        cuts, values = compact(curve.quota, curve.quota, curve.value)
        np.testing.assert_array_equal(cuts, as_floats(ex.cuts(groups)))
        assert_near(values, [exact(groups, quota) for quota in ex.cuts(groups)])


def test_marks_of_all_small_cases():
    for groups, ranking in CASES:
        n, positives = ex.total_count(groups), int(ex.total_positive_weight(groups))
        hit_rate = ex.normalized_mark(
            ex.average_hit_rate(groups), ex.chance_average_hit_rate(n, positives)
        )
        qrecall = ex.normalized_mark(
            ex.average_qrecall(groups), ex.chance_average_qrecall(n, positives)
        )
        correlation = ex.pearson(groups, n, labels="observed")
        wanted = (hit_rate, qrecall, ex.pem(groups), ex.gini(groups), correlation)
        assert_near(qk.normalized_marks(ranking), wanted)


def test_tables_of_all_small_cases():
    """Of scores that occur and of scores between them, and of whole and broken quotas."""
    for groups, ranking in CASES:
        size = ex.total_count(groups)
        scores = sorted({group.score for group in groups})
        scores = [*scores, scores[0] - 1, *(x + Fraction(1, 4) for x in scores)]
        for inclusive in (True, False):
            at_scores = qk.confusion_table(
                ranking, threshold=[float(x) for x in scores], inclusive=inclusive
            )
            wanted = [ex.confusion.table_at_threshold(groups, x, inclusive) for x in scores]
            assert_near(np.stack(at_scores, axis=-1), wanted)
        quotas = [Fraction(k, 2) for k in range(2, 2 * size + 1)]
        at_quotas = qk.confusion_table(ranking, quota=[float(q) for q in quotas])
        wanted = [ex.confusion.table_at_quota(groups, quota) for quota in quotas]
        assert_near(np.stack(at_quotas, axis=-1), wanted)
