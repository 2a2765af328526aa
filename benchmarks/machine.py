"""What a result depends on besides the code: the machine, its load, versions, the date."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

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
SAME = 1.5
"""Sorts whose times differ by no more than this factor may be of one machine."""


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


def features() -> list[str]:
    """The vector instructions that NumPy uses here, beyond those it always has."""
    return list(np.show_config(mode="dicts")["SIMD Extensions"].get("found", ()))


def sort_ns(n: int = 10**6) -> float:
    """The CPU time of NumPy's sort for each of n uniform float32, in ns; the fastest of 15."""
    scores = np.random.default_rng(n).random(n, dtype=np.float32)
    times = []
    for _ in range(15):
        start = time.process_time()
        np.sort(scores)
        times.append(time.process_time() - start)
    return min(times) / n * 1e9


def code() -> str | None:
    """The commit of the library, with a + where files differ from it; None outside a checkout."""
    asked = ["git", "describe", "--always", "--exclude=*", "--dirty=+"]
    here = Path(__file__).parent
    try:
        said = subprocess.run(asked, cwd=here, check=True, capture_output=True, text=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None
    return said.stdout.strip()


def measured(on_gpu: bool) -> dict[str, Any]:
    """What `describe` tells, and what tells machines of one processor apart."""
    return describe(on_gpu) | {"features": features(), "sort_ns": sort_ns(), "code": code()}


def label(about: dict[str, Any], known: Iterable[str]) -> str:
    """The name of a machine: processor, NumPy's instructions, and nanoseconds of its sort.

    It is that of the known one which differs in the time of the sort alone, and by little.
    """
    found = about["features"]
    level = [x for x in found if x.startswith("X86_V")] or found or ["baseline"]
    parts = (about["cpu"], about["gpu"] or "", level[-1])
    start = re.sub(r"[^a-z0-9]+", "-", " ".join(parts).lower()).strip("-")
    for name in sorted(known):
        beside = re.fullmatch(rf"{re.escape(start)}-([\d.]+)ns", name)
        if beside and 1 / SAME <= about["sort_ns"] / float(beside[1]) <= SAME:
            return name
    return f"{start}-{about['sort_ns']:.2g}ns"
