"""Bad and extreme input gets what it must: a sample of the table of `bad_inputs`, in every way.

``python docs/tools/bad_inputs.py`` runs the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from backends import in_full, missing
from bad_inputs import CALLS, INPUTS, OPTIONS, Input
from bad_outcomes import WAYS, Failure, Way, judge, judge_option

PLAIN = {"float64", "int64", "bool"}
STEP = {"numpy": 1, "torch": 2, "torch-compile": 40}
"""Every how manieth case is taken, by mode; every tenth of the others."""
SAMPLED = [way for way in WAYS if way.mode.name not in ("strict", "jax64", "jax32-jit")]
"""Every library, transformation and precision, but not each with each."""


def sample(way: Way, cases: Sequence[Any]) -> list[Any]:
    """Some cases, others for each way."""
    step = STEP.get(way.mode.name, 10)
    return list(cases[WAYS.index(way) % step :: step])


def some_calls(way: Way) -> list[str]:
    """All calls, or a third of them where they are compiled."""
    return list(CALLS)[WAYS.index(way) % 3 :: 3] if way.traced else list(CALLS)


def compiled_once(case: Input) -> bool:
    """Whether a trace of the plain types and shapes serves for a case that gives values."""
    arrays = case.arguments().values()
    plain = all(getattr(x, "shape", None) == (8,) and str(x.dtype) in PLAIN for x in arrays)
    return case.outcome == "refused" or (plain and len(arrays) == 2)


def taken(way: Way) -> list[Input]:
    """The inputs of the sample."""
    cases = [case for case in INPUTS if way.takes(case)]
    return sample(way, [case for case in cases if compiled_once(case)] if way.traced else cases)


@pytest.mark.long_program
@pytest.mark.parametrize("way", [w if w.checked else in_full(w) for w in SAMPLED], ids=str)
def test_bad_and_extreme_input(way: Way):
    if why := missing(way.mode.library):
        pytest.skip(why)
    cases, calls = taken(way), some_calls(way)
    failures = [failure for case in cases for failure in judge(way, case, calls)]
    assert cases
    assert not failures, "\n".join(map(str, failures))


@pytest.mark.parametrize("way", SAMPLED, ids=str)
@pytest.mark.long_program
def test_bad_options(way: Way):
    if why := missing(way.mode.library):
        pytest.skip(why)
    failures = [failure for case in sample(way, OPTIONS) for failure in judge_option(way, case)]
    assert not failures, "\n".join(map(str, failures))


def test_the_table_is_large():
    """So many cases, of each kind."""
    cases = [(name, case) for case in INPUTS for name in WAYS[0].calls(case)]
    outcomes = [case.outcome for _, case in cases]
    assert len(cases) + len(OPTIONS) > 3000
    assert min(map(outcomes.count, ("fine", "bad", "refused"))) > 300
    assert {name for name, _ in cases} == set(CALLS)


def test_a_wrong_outcome_is_a_failure():
    """The judge finds a number in place of an error, an error in place of one, a wrong number."""
    numpy = WAYS[0]
    good, bad = (next(c for c in INPUTS if c.outcome == x) for x in ("fine", "bad"))
    other = good._replace(clean={"y_true": 1 - good.arguments()["y_true"]})
    for case in (
        good._replace(outcome="refused", argument="y_score"),
        bad._replace(outcome="fine"),
        other,
    ):
        failures = judge(numpy, case)
        assert failures
        assert all(isinstance(x, Failure) for x in failures)
