"""The command as it is installed: without its extra, and as a module."""

from __future__ import annotations

import subprocess
import sys

import pytest
from command import ROOT, run

import quotakernels as qk


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.parametrize("package", ["click", "pyarrow", "rich"])
def test_missing_extra_says_what_to_install(package: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None; from quotakernels.cli import main; "
        "sys.argv = ['quotakernels', 'evaluate', '--example', 'credit']; sys.exit(main())"
    )
    done = python("-c", code)
    assert done.returncode == 2
    assert done.stdout == ""
    assert 'pip install "quotakernels[cli]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_module_can_be_run() -> None:
    done = python("-m", "quotakernels", "--help")
    assert done.returncode == 0
    assert "evaluate" in done.stdout
    assert done.stdout == run("--help").out


def test_version() -> None:
    assert run("--version").out == f"quotakernels, version {qk.__version__}\n"
