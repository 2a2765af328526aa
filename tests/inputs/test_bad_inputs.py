"""Bad and extreme input gets what it must: a sample of the table of `bad_inputs`, in every way.

``python docs/tools/bad_inputs.py`` runs the whole table.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, in_full, missing, parameters
from bad_inputs import CALLS, INPUTS, OPTIONS, Input
from bad_outcomes import WAYS, Failure, Way, judge, judge_option

import quotakernels as qk

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


# arguments that are missing, unknown, given twice, or make no sense together


Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0])
S = np.asarray([0.875, 0.75, 0.75, 0.5, 0.25, 0.25, 0.125, 0.0])


def test_measures_and_rankings_can_be_pickled():
    ranking = qk.rank(Y, S)
    measure, again = pickle.loads(pickle.dumps((qk.roc_auc, ranking)))
    assert measure is qk.roc_auc
    assert measure(again) == qk.roc_auc(Y, S)


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name == "jax32"]))
def test_a_pickled_ranking_keeps_every_bit(mode: Mode):
    counts, weights = np.asarray([2**40, 3]), np.asarray([1e200, 0.1])
    with mode.context():
        thresholds = mode.array(np.asarray([2.0, 1.0]))
        masses = {"weights": weights, "positive_weights": weights}
        ranking = qk.Ranking.from_counts(thresholds, counts, counts, **masses)
        again = pickle.loads(pickle.dumps(ranking))
    assert again.columns == ranking.columns == {}
    for before, after in zip(ranking[:5], again[:5], strict=True):
        assert after.dtype == before.dtype
        np.testing.assert_array_equal(np.asarray(after), np.asarray(before))
    np.testing.assert_array_equal(np.asarray(again.counts), counts)
    assert type(again.thresholds) is type(thresholds)


def test_amounts_go_to_functions_from_elsewhere_too():
    """Of which nobody knows whether they take a budget, gains or treatments."""
    rng = np.random.default_rng(5)
    y, s, amount = rng.integers(0, 2, 60), rng.random(60), rng.random(60)
    cases: tuple[tuple[dict[str, Any], Any], ...] = (
        ({"cost": amount}, qk.hit_rate.with_options(budget=5)),
        ({"cost": amount, "gain": amount}, qk.budgets.gain_per_cost.with_options(budget=5)),
        ({"treatment": np.arange(60) % 2}, qk.uplift.uplift_at_quota.with_options(quota=9)),
    )
    for given, measure in cases:
        own = {"n_resamples": 9, "random_state": 1, **given}
        wanted = qk.bootstrap(measure, y, s, **own)
        found = qk.bootstrap(lambda ranking, measure=measure: measure(ranking), y, s, **own)
        np.testing.assert_allclose(found.lower, wanted.lower, rtol=1e-12)
