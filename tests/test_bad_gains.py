"""Gains that are none: refused where values can be read, undefined where they cannot."""

from __future__ import annotations

from typing import Any

import everything as every
import numpy as np
import pytest
from backends import MODES, Mode, available, parameters

import quotakernels as qk

Y = np.asarray([1, 0, 1, 0])
S = np.asarray([0.9, 0.8, 0.8, 0.1])
G = np.asarray([3.0, -2.0, 5.0, -1.0])


def at_quota(s: Any, g: Any, **given: Any) -> Any:
    return qk.impact_at_quota(None, s, gain=g, quota=2, **given).whole


def best(s: Any, g: Any, **given: Any) -> Any:
    return qk.best_quota(None, s, gain=g, **given).value


CALLS = [at_quota, best]
EVERY_CALL = pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
READ = parameters([mode for mode in every.EAGER if mode.name != "jax64"])
UNREAD = ("strictest-device1", "jax32-jit", "torch-vmap", "cupy")
UNREAD_MODES = pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in UNREAD]))


@EVERY_CALL
@pytest.mark.parametrize("mode", READ)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_gains_that_are_not_finite(mode: Mode, value: float, call: Any):
    bad = np.where(np.arange(4) == 2, value, G)
    expected = rf"is {value} at position 2; expected a finite number"
    with pytest.raises(ValueError, match=f"^gain {expected}"):
        mode.run(call, S, bad)
    with pytest.raises(ValueError, match=f"^gain_rejected {expected}"):
        mode.run(lambda s, g, r: call(s, g, gain_rejected=r), S, G, bad)


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


@EVERY_CALL
def test_shapes_and_types(call: Any):
    with pytest.raises(ValueError, match=r"^gain must have shape \(4,\), as y_score has"):
        call(S, G[:3])
    with pytest.raises(ValueError, match=r"^gain must have shape \(4,\), as y_score has"):
        call(S, 5.0)
    with pytest.raises(ValueError, match=r"^gain_rejected must have shape \(4,\), as y_score has"):
        call(S, G, gain_rejected=G[:3])
    with pytest.raises(TypeError, match=r"^gain must hold real numbers or booleans; got dtype <U"):
        call(S, ["a", "b", "c", "d"])
    with pytest.raises(
        TypeError, match=r"^gain must hold real numbers or booleans; got dtype comp"
    ):
        call(S, G * 1j)
    with pytest.raises(ValueError, match=r"^gain has missing values; fill them .* where="):
        call(S, [1, None, 2, 3])
    with pytest.raises(TypeError, match=r"^gain must be an array; got None"):
        call(S, None)
    with pytest.raises(TypeError, match=r"^gain_rejected must be an array; got None"):
        call(S, G, gain_rejected=None)
    for bad in ("1", True, np.True_):
        with pytest.raises(TypeError, match=r"^gain_rejected must be a number or an array"):
            call(S, G, gain_rejected=bad)
    with pytest.raises(ValueError, match=r"^gain_rejected is nan at position 0; expected a finite"):
        call(S, G, gain_rejected=np.nan)
    with pytest.raises(ValueError, match=r"^y_score is nan at position 1"):
        call([1, np.nan], [1, 2])
    with pytest.raises(ValueError, match=r"^sample_weight is -1.0 at position 1"):
        call(S, G, sample_weight=[1.0, -1, 1, 1])


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
@EVERY_CALL
def test_gains_of_another_library(call: Any):
    import torch

    with pytest.raises(TypeError, match="^y_score is an array of torch and gain one of numpy"):
        call(torch.as_tensor(S), G)
    of_tensors = call(torch.as_tensor(S), torch.as_tensor(G), gain_rejected=torch.tensor(0.5))
    assert of_tensors.item() == call(S, G, gain_rejected=0.5)
    assert call(torch.as_tensor(S), torch.as_tensor(G), gain_rejected=np.float64(0.5)) == of_tensors


def test_quotas_are_those_of_select():
    with pytest.raises(TypeError, match="^give exactly one of quota="):
        qk.impact_at_quota(None, S, gain=G)
    with pytest.raises(ValueError, match=r"^quota is 5.0; expected a number from 0 to 4.0"):
        qk.impact_at_quota(None, S, gain=G, quota=5)
    with pytest.raises(ValueError, match=r"^fraction is 0.0; expected a share"):
        qk.impact_at_quota(None, S, gain=G, fraction=0)
