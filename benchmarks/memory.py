"""Peak memory of one call: by the library's own means, else by those of a process made for it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.backends import BACKENDS, Backend
from benchmarks.cases import CASES, Case
from benchmarks.harness import Entry

ROOT = Path(__file__).resolve().parents[1]
RESET_PEAK = "5"
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
"""Makes glibc give memory back at once, so that what was freed before does not hide a peak."""


class Peak(NamedTuple):
    """Bytes beyond the arguments, or None, and how they were found or why not."""

    bytes: int | None
    by: str


def peak(case: Case, backend: Backend, n: int, entry: Entry) -> Peak:
    """Of one more call of an entry that has been called before."""
    found = backend.peak_bytes(entry.function, entry.arguments)
    if found is not None:
        return Peak(found, backend.memory_by)
    return _of_process(case.name, backend, n)


def _of_process(case: str, backend: Backend, n: int) -> Peak:
    if not Path("/proc/self/clear_refs").exists():
        return Peak(None, "the system does not tell the peak of a process")
    arguments = [sys.executable, "-m", "benchmarks.memory", case, backend.name, str(n)]
    path = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        arguments,
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **ALLOCATOR, "PYTHONPATH": path},
        text=True,
    )
    if done.returncode:
        return Peak(None, "the process that measures it failed")
    return Peak(int(done.stdout), backend.memory_by)


def resident(field: str) -> int:
    """A line of the kernel's account of this process, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"the system does not tell {field}")
    return int(found[1]) * 1024


def growth(call: Callable[[], Any]) -> int:
    """How far the resident set rises during a call, above where it was before."""
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text(RESET_PEAK, encoding="utf-8")
    call()
    return resident("VmHWM") - before


def main(case: str, backend: str, n: str) -> None:
    chosen, library = CASES[case], BACKENDS[backend]
    call = chosen.build(library, int(n))[chosen.main].bound(library)
    library.ready(call())
    print(growth(lambda: library.ready(call())))


if __name__ == "__main__":
    main(*sys.argv[1:])
