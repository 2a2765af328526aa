"""Gains that are none: refused where values can be read, undefined where they cannot."""

from __future__ import annotations

from typing import Any

import everything as every
import numpy as np
import pytest
from backends import MODES, Mode, available, parameters

import quotakernels as qk

S = np.asarray([0.9, 0.8, 0.8, 0.1])
G = np.asarray([3.0, -2.0, 5.0, -1.0])


def at_quota(s: Any, g: Any, **given: Any) -> Any:
    return qk.impact_at_quota(None, s, gain=g, quota=2, **given).whole


def best(s: Any, g: Any, **given: Any) -> Any:
    return qk.best_quota(None, s, gain=g, **given).value


CALLS = [at_quota, best]
EVERY_CALL = pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
UNREAD = ("strictest-device1", "jax32-jit", "torch-vmap", "cupy")
UNREAD_MODES = pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in UNREAD]))


@pytest.mark.long_program
@EVERY_CALL
@UNREAD_MODES
def test_where_they_cannot_be_read_the_row_is_undefined(mode: Mode, call: Any):
    scores, gains = np.stack([S, S, S]), np.stack([G, G, G])
    rejected = np.zeros_like(gains)
    gains[0, 1], rejected[2, 3] = np.nan, np.inf
    run = lambda s, g, r: call(s, g, gain_rejected=r)  # noqa: E731
    found = mode.run(run, scores, gains, rejected)
    assert np.isnan(found).tolist() == [True, False, True]
    assert found[1] == pytest.approx(call(S, G))


@EVERY_CALL
@every.main_modes
@pytest.mark.long_program
def test_what_does_not_take_part_may_be_anything(mode: Mode, call: Any):
    scores, gains = np.append(S, [np.nan, 0.5]), np.append(G, [np.inf, np.nan])
    where, weights = np.arange(6) != 4, np.asarray([1.0, 1, 1, 1, 1, 0])
    run = lambda s, g, m, w: call(s, g, gain_rejected=g, where=m, sample_weight=w)  # noqa: E731
    assert mode.run(run, scores, gains, where, weights) == pytest.approx(G.sum())


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
@EVERY_CALL
def test_gains_of_another_library(call: Any):
    import torch

    with pytest.raises(TypeError, match="^y_score is an array of torch and gain one of numpy"):
        call(torch.as_tensor(S), G)
    of_tensors = call(torch.as_tensor(S), torch.as_tensor(G), gain_rejected=torch.tensor(0.5))
    assert of_tensors.item() == call(S, G, gain_rejected=0.5)
    assert call(torch.as_tensor(S), torch.as_tensor(G), gain_rejected=np.float64(0.5)) == of_tensors
