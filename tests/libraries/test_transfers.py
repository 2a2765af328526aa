"""Nothing is copied to the host, and nothing waits for the device.

What can be proved without a device is here too; the rest runs where there is one.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from backends import available
from copies import host_copies

from libraries.test_lazy import CASES, EVERY_CASE, IDS, folds


def has_cuda() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def jax_platform() -> str:
    if importlib.util.find_spec("jax") is None:
        return ""
    import jax

    return str(jax.default_backend())


@pytest.mark.skipif(not available("torch"), reason="torch is not available")
def test_copies_are_found():
    """With which test_lazy proves that plain numbers become tensors on their device."""
    import torch

    with host_copies() as copies:
        total = torch.ones(3) + torch.asarray(2.0)
    assert copies == ["asarray(2.0)"]
    assert total.shape == (3,)


@pytest.mark.skipif(not has_cuda(), reason="PyTorch sees no CUDA device")
@EVERY_CASE
def test_nothing_waits_for_a_cuda_device(function: Any, arrays: Any):
    import torch

    if function is folds:
        pytest.skip("the places of the folds are copied to the device")
    moved = [torch.as_tensor(np.array(x), device="cuda") for x in arrays]
    wanted = function(*(np.stack([x, x]) for x in arrays))
    torch.cuda.set_sync_debug_mode("error")
    try:
        found = function(*moved)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    for name, value in found.items():
        assert value.device.type == "cuda", name
        np.testing.assert_allclose(value.cpu(), wanted[name][0], 1e-12, 1e-12, err_msg=name)


def run_guarded(function: Any, arrays: Any, jit: bool) -> None:
    import jax

    moved = [jax.device_put(np.array(x)) for x in arrays]
    wanted = function(*(np.stack([x, x]) for x in map(np.asarray, moved)))  # as precise as JAX
    with jax.transfer_guard_device_to_host("disallow"):
        found = (jax.jit(function) if jit else function)(*moved)
    for name, value in found.items():
        np.testing.assert_allclose(value, wanted[name][0], 1e-5, 2e-6, err_msg=name)


@pytest.mark.skipif(jax_platform() in ("", "cpu"), reason="JAX sees no device but the CPU")
@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
@EVERY_CASE
def test_nothing_is_copied_from_a_device_of_jax(function: Any, arrays: Any, jit: bool):
    run_guarded(function, arrays, jit)


@pytest.mark.skipif(jax_platform() != "cpu", reason="JAX has a device, or is not available")
def test_the_guard_of_jax_is_passed_on_the_cpu():
    """Where it forbids nothing, since host and device are one."""
    run_guarded(*CASES[IDS.index("tie policies")], jit=True)
