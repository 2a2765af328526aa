"""Measures with options under a name of their own stand wherever partial functions do."""

from __future__ import annotations

import functools
import pickle
from typing import Any

import numpy as np
import pytest
from public_names import PUBLIC

import quotakernels as qk

RNG = np.random.default_rng(6)
Y = RNG.integers(0, 2, 60)
S = RNG.integers(0, 40, (2, 60)) / 40
QUOTA = {"quota": 20}
NAMED = qk.hit_rate.with_options(**QUOTA)
PARTIAL = functools.partial(qk.hit_rate, **QUOTA)


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        (NAMED, "hit_rate_quota_20"),
        (qk.hit_rate.with_options(fraction=0.1), "hit_rate_fraction_0.1"),
        (qk.f_score.with_options(beta=2, threshold=0.5), "f_score_beta_2_threshold_0.5"),
        (qk.lift.with_options(quota=[1, 2.5]), "lift_quota_1_2.5"),
        (qk.pr_auc.with_options(method="trapezoid"), "pr_auc_method_trapezoid"),
        (qk.roc_auc.with_options(pos_label=None), "roc_auc_pos_label_None"),
        (qk.roc_auc.with_options(), "roc_auc"),
        (qk.hit_rate.with_options(name="found", **QUOTA), "found"),
        (qk.hit_rate.with_options(name="found", quota=np.asarray([1, 2])), "found"),
    ],
)
def test_the_name_has_the_options_in_it(measure: Any, name: str):
    again = pickle.loads(pickle.dumps(measure))
    for each in (measure, again):
        assert each.__name__ == name
        assert repr(each) == f"<measure {name}>"
    np.testing.assert_array_equal(again(Y, S), measure.func(Y, S, **measure.keywords))


def test_no_measure_has_an_option_called_name():
    measures = [x for x in PUBLIC.values() if hasattr(x, "with_options")]
    assert len(measures) > 50
    assert not [x for x in measures if "name" in x.__signature__.parameters]


@pytest.mark.parametrize("use", ["bootstrap", "compare", "compute", "bounds", "scorer"])
def test_it_stands_where_a_partial_function_does(use: str):
    def found(measure: Any) -> Any:
        if use == "bootstrap":
            return qk.bootstrap({"m": measure}, Y, S, random_state=1, n_resamples=50)["m"].resamples
        if use == "compare":
            return qk.compare(
                measure, Y, dict(zip("ab", S, strict=True)), random_state=1, n_resamples=50
            ).difference
        if use == "scorer":
            scorer = pytest.importorskip("quotakernels.adapters.sklearn").scorer
            return scorer(measure).measure(Y, S)
        state = qk.states.ScoreHistogram.empty(S, bits=6).update(Y, S)
        return state.bounds(measure) if use == "bounds" else state.compute({"m": measure})["m"]

    np.testing.assert_array_equal(found(NAMED), found(PARTIAL))
