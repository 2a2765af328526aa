"""What an import of the package needs, loads and takes, in an interpreter of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

ONLY_NUMPY = """
import sys

class Blocker:
    def find_spec(name, path=None, target=None):
        standard = name.startswith("_sysconfigdata")  # its name tells the platform
        if not standard and name.partition(".")[0] not in NEEDED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

NEEDED = sys.stdlib_module_names | {"array_api_compat", "numpy", "quotakernels"}
sys.meta_path.insert(0, Blocker)
"""
USE = """
import quotakernels as qk
print(qk.roc_auc([0, 1], [0.2, 0.8]), qk.hit_rate([0, 1], [0.2, 0.8], quota=1))
"""
WITHOUT_SCIPY = """
import numpy as np
import quotakernels as qk
y, s = np.arange(12) % 2, np.arange(12) * 7 % 12
qk.bootstrap(qk.roc_auc, y, s, n_resamples=20, method="bca")
qk.inference.auc_interval(y, s)
qk.inference.delong_test(y, [s, -s])
qk.inference.hit_rate_interval(y, s, quota=3)
qk.h_measure(y, s)
qk.inference.fold_summary(qk.roc_auc, y, s, np.arange(12) // 4)
qk.inference.fold_test(qk.roc_auc, y, [s, -s], np.arange(12) // 4)
for population in (None, 50):
    try:
        qk.inference.hit_rate_interval(y, s, quota=3, method="exact", population=population)
    except ImportError as error:
        print(error)
"""
LOADED = """
import sys
import array_api_compat.numpy  # which loads all of NumPy, and what that uses where it finds it
before = set(sys.modules)
import quotakernels as qk
qk.summary([0, 1], [0.2, 0.8])
print(*(set(sys.modules) - before))
"""
COMMAND = """
import sys
from quotakernels.cli import {0}
sys.argv = ["quotakernels", *{1!r}.split()]
try:
    {0}()
finally:
    print(*sys.modules, *sys.meta_path)
"""


def python(code: str) -> str:
    """What a fresh interpreter prints; it may keep compiled modules, as installed ones are."""
    env = {name: x for name, x in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, capture_output=True, check=False, cwd=ROOT, env=env, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_nothing_but_numpy_and_the_compat_layer_is_needed():
    assert python(ONLY_NUMPY + USE) == "1.0 1.0"


@pytest.mark.full
def test_what_needs_scipy_says_so():
    told = python(ONLY_NUMPY + WITHOUT_SCIPY).splitlines()
    assert told == ['this needs SciPy; install it by pip install "quotakernels[inference]"'] * 2


@pytest.mark.full
def test_displays_without_matplotlib_are_a_name_that_is_missing():
    code = "import quotakernels as qk\nprint(hasattr(qk, 'plots'), 'plots' in dir(qk))\nqk.plots"
    assert python(ONLY_NUMPY + code.rpartition("\n")[0]).startswith("False")
    with pytest.raises(AssertionError, match="AttributeError: quotakernels.plots needs Matplotlib"):
        python(ONLY_NUMPY + code)


def test_the_blocker_blocks():
    with pytest.raises(AssertionError, match="No module named 'pytest'"):
        python(f"{ONLY_NUMPY}import pytest")


def test_nothing_else_is_imported():
    loaded = {name.partition(".")[0] for name in python(LOADED).split()}
    installed = packages_distributions().keys() | {"quotakernels"}
    assert loaded & installed - {"array_api_compat", "numpy"} == {"quotakernels"}


def test_functions_load_when_they_are_first_used():
    before, after = python(
        "import sys, quotakernels as qk\nprint(*sys.modules)\nqk.roc_auc\nprint(*sys.modules)"
    ).splitlines()
    own = {"quotakernels", "quotakernels._version"}
    assert {x for x in before.split() if x.partition(".")[0] in ("numpy", "quotakernels")} == own
    assert "quotakernels.inference" not in after.split()


@pytest.mark.parametrize("options", ["--version", "--help", "evaluate --help"])
def test_a_command_that_computes_nothing_loads_nothing_for_it(options: str):
    pytest.importorskip("click")
    loaded = {name.partition(".")[0] for name in python(COMMAND.format("main", options)).split()}
    assert "click" in loaded
    assert loaded & {"numpy", "pyarrow", "rich"} == set()


def test_a_program_that_runs_the_command_finds_pandas_afterwards():
    pytest.importorskip("click")
    hidden = [
        "_NoPandas" in python(COMMAND.format(name, "--version")) for name in ("main", "command")
    ]
    assert hidden == [False, True]


def test_an_evaluation_loads_what_it_reads_and_prints_with():
    pytest.importorskip("pyarrow")
    loaded = set(python(COMMAND.format("command", "evaluate --example credit")).split())
    assert {"pyarrow", "rich"} <= loaded
    assert loaded & {"matplotlib", "pandas", "pyarrow.parquet", "scipy"} == set()
