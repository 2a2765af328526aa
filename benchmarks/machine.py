"""What a result depends on besides the code: the machine, its load, versions, the date."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.backends import missing

PACKAGES = (
    "quotakernels",
    "numpy",
    "jax",
    "torch",
    "cupy",
    "scikit-learn",
    "torchmetrics",
    "google-metrax",
)
MEMORY_SHARE = 0.5
"""How much of the available memory a benchmark may take."""


def _lines(path: str) -> list[str]:
    file = Path(path)
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def cpu() -> str:
    """The model's name, and the widest vector instructions where they are known."""
    pairs = (line.partition(":") for line in _lines("/proc/cpuinfo"))
    fields = {name.strip(): value.strip() for name, _, value in pairs}
    model = fields.get("model name") or platform.processor() or platform.machine()
    wide = {"avx512f": "AVX-512", "avx2": "AVX2"}
    known = [name for flag, name in wide.items() if flag in fields.get("flags", "").split()]
    return f"{model} ({known[0]})" if known else model


def cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def available_bytes() -> int | None:
    """Memory that can be had without swapping, where the system tells."""
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def gpu() -> str | None:
    if missing("torch") is None:
        import torch

        if torch.cuda.is_available():
            return str(torch.cuda.get_device_name())
    if missing("jax") is None:
        import jax

        try:
            return str(jax.devices("gpu")[0].device_kind)
        except RuntimeError:
            pass
    return None


def gpu_bytes() -> int | None:
    """Free memory of the GPU, where PyTorch or CuPy can tell."""
    if missing("torch") is None:
        import torch

        if torch.cuda.is_available():
            return int(torch.cuda.mem_get_info()[0])
    if missing("cupy") is None:
        import cupy

        return int(cupy.cuda.runtime.memGetInfo()[0])
    return None


def versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def load() -> float | None:
    """Processes that wanted to run in the last minute, per core."""
    return round(os.getloadavg()[0] / cores(), 2) if hasattr(os, "getloadavg") else None


def describe(on_gpu: bool) -> dict[str, Any]:
    """What the results stand for; a GPU is named where it is used."""
    available = available_bytes()
    return {
        "cpu": cpu(),
        "architecture": platform.machine(),
        "cores": cores(),
        "memory_gib": round(available / 2**30) if available else None,
        "gpu": gpu() if on_gpu else None,
        "load_per_core": load(),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": versions(),
    }
