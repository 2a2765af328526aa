"""What runs on several devices, in a process that has them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]


@pytest.mark.full
def test_a_model_on_eight_devices_is_measured_as_on_one():
    pytest.importorskip("jax")
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    devices = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    done = subprocess.run(
        [sys.executable, str(HERE.with_name("eight_devices.py"))],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **devices, "PYTHONPATH": str(ROOT)},
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stdout) == (0, "equal\n"), done.stderr
