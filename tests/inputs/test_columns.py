"""Gains, costs and treatments that are none: refused where they can be read, else undefined."""

from __future__ import annotations

from typing import Any

import everything as every
import numpy as np
import pytest
from backends import MODES, Mode, available, mode_fixture
from everything import MAIN

import quotakernels as qk

mode = mode_fixture([m for m in MODES if m.name in (*MAIN, "strictest", "jax64-jit")])
S = np.asarray([0.9, 0.8, 0.8, 0.1])
GAIN = np.asarray([3.0, -2.0, 5.0, -1.0])


def brought(s: Any, gain: Any, **given: Any) -> Any:
    return qk.impact_at_quota(None, s, gain=gain, quota=2, **given).whole


def best(s: Any, gain: Any, **given: Any) -> Any:
    return qk.best_quota(None, s, gain=gain, **given).value


def rejected(s: Any, gain: Any, **given: Any) -> Any:
    return qk.impact_at_quota(None, s, gain=0 * s, gain_rejected=gain, quota=2, **given).whole


def paid(s: Any, cost: Any, **given: Any) -> Any:
    return qk.hit_rate(s > 0.85, s, cost=cost, budget=2, **given)


def uplift(s: Any, treatment: Any, **given: Any) -> Any:
    labels = (s > 0.85) | (s < 0.5)
    return qk.uplift.uplift_at_quota(labels, s, treatment=treatment, quota=3, **given)


CALLS: dict[str, tuple[Any, np.ndarray, tuple[float, ...], str]] = {
    "gain": (brought, GAIN, (np.nan, -np.inf), "expected a finite"),
    "gain of the best": (best, GAIN, (np.nan, np.inf), "expected a finite"),
    "gain_rejected": (rejected, GAIN, (np.nan, np.inf), "expected a finite"),
    "cost": (paid, np.asarray([2.0, 1, 3, 4]), (-1.0, np.nan, np.inf), "expected a finite cost, n"),
    "treatment": (
        uplift,
        np.asarray([1.0, 0, 1, 0]),
        (0.5, np.nan, 7.0),
        "expected 1 for a treated example, or 0 ",
    ),
}
"""What uses a column, one that is good, values that are bad, and what is said of these."""
every_call = pytest.mark.parametrize("name", CALLS)


@pytest.mark.long_program
@every_call
def test_a_bad_value_is_refused_or_makes_its_row_undefined(mode: Mode, name: str):
    call, good, values, message = CALLS[name]
    scores = np.stack([S, S])
    for value in values:
        columns = np.stack([np.where(np.arange(4) == 2, value, good), good])
        if mode.lazy:
            found = mode.run(call, scores, columns)
            assert np.isnan(found).tolist() == [True, False]
            assert found[1] == pytest.approx(call(S, good), rel=1e-6 if mode.float32 else 1e-15)
        else:
            expected = f"^{name.split()[0]} is {value} at position .*2.*; {message}"
            with every.raises(mode, ValueError, expected):
                mode.run(call, scores, columns)


@pytest.mark.long_program
@every_call
def test_what_does_not_take_part_may_be_anything(mode: Mode, name: str):
    call, good, values, _ = CALLS[name]
    scores, column = np.append(S, [np.nan, 0.7]), np.append(good, values[:2])
    where, weights = np.arange(6) != 4, np.asarray([1.0, 1, 1, 1, 1, 0])
    run = lambda s, x, m, w: call(s, x, where=m, sample_weight=w)  # noqa: E731
    found = mode.run(run, scores, column, where, weights)
    assert found == pytest.approx(call(S, good), rel=1e-6 if mode.float32 else 1e-15)


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
@pytest.mark.parametrize("call", [brought, best])
def test_gains_of_another_library(call: Any):
    import torch

    scores, gain = torch.as_tensor(S), torch.as_tensor(GAIN)
    with pytest.raises(TypeError, match="^y_score is an array of torch and gain one of numpy"):
        call(scores, GAIN)
    of_tensors = call(scores, gain, gain_rejected=torch.tensor(0.5))
    assert of_tensors.item() == call(S, GAIN, gain_rejected=0.5)
    assert call(scores, gain, gain_rejected=np.float64(0.5)) == of_tensors
