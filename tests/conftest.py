"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from backends import MODES, mode_fixture, of_fast_forms
from hypothesis import settings

from quotakernels.ops import STANDARD_ONLY

if not os.environ.get("QUOTAKERNELS_XLA_OPTIMIZES"):
    # Most of the time goes into compiling. LLVM's optimizations make a program fast and do not
    # change what it says; XLA's own, which rewrite formulas, stay.
    flags = (os.environ.get("XLA_FLAGS"), "--xla_backend_optimization_level=0")
    os.environ["XLA_FLAGS"] = " ".join(filter(None, flags))
if STANDARD_ONLY:
    # XLA fuses a running maximum in steps, each of which uses the last one twice, into code that
    # doubles with every step: a program of a hundred lines then compiles for minutes, in gigabytes.
    flags = (os.environ.get("XLA_FLAGS"), "--xla_disable_hlo_passes=fusion")
    os.environ["XLA_FLAGS"] = " ".join(filter(None, flags))

settings.register_profile("default", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("default")

collect_ignore = ["sharded_jax.py", "sharded_torch.py"]  # programs, which test_shards runs

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


mode = mode_fixture(MODES)


PRINT_TABLES = {
    *("best_boundary", "best_quota", "compare_curves", "cut_tables", "hit_rate_curve"),
    *("lift_curve", "optimal_cut", "pearson_curve", "qrecall_curve", "rank", "table_curve"),
}
"""Functions whose examples print a table of one list, which is padded without the fast forms."""


FAST_EXAMPLES = PRINT_TABLES | {"compare", "curve_band", "optimum_interval"}
"""Those, and functions whose examples print what other draws than the fast ones would change."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Neighbours share programs and exact values: workers begin at a half each, not in turns."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name.rpartition(".")[2] in FAST_EXAMPLES:
            item.add_marker(of_fast_forms)


@pytest.fixture(scope="module", autouse=True)
def programs_are_forgotten() -> Iterator[None]:
    """Compiled programs of one file hardly serve another, and thousands of them fill the memory."""
    yield
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()


@pytest.fixture(autouse=True)
def figures_are_closed() -> Iterator[None]:
    """Those that displays have made by themselves, which pyplot keeps."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Reference scores of other tools, beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip("the reference scores are not beside this checkout")
    return SHARED
