"""Fixtures shared by all tests."""

from __future__ import annotations

import importlib.util
import mmap
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from backends import DISTINCT, FIRST, Mode, mode_fixture, of_fast_forms
from hypothesis import settings

from quotakernels.ops import STANDARD_ONLY


def known_to_xla(name: str) -> bool:
    """Whether the XLA that is installed has a setting; one that it has not ends the process."""
    jaxlib = importlib.util.find_spec("jaxlib")
    library = Path(str(jaxlib and jaxlib.origin)).with_name("libjax_common.so")
    if not library.is_file():
        return False
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return text.find(b"\0" + name.encode() + b"\0") >= 0  # whole, as settings are registered


if not os.environ.get("QUOTAKERNELS_XLA_OPTIMIZES"):
    # Most of the time goes into compiling. LLVM's optimizations make a program fast and do not
    # change what it says; XLA's own, which rewrite formulas, stay. Its older writer of loops is
    # twice as fast as the newer one.
    flags = [os.environ.get("XLA_FLAGS"), "--xla_backend_optimization_level=0"]
    if known_to_xla("xla_cpu_use_fusion_emitters"):
        flags.append("--xla_cpu_use_fusion_emitters=false")
    os.environ["XLA_FLAGS"] = " ".join(filter(None, flags))
if STANDARD_ONLY:
    # XLA fuses a running maximum in steps, each of which uses the last one twice, into code that
    # doubles with every step: a program of a hundred lines then compiles for minutes, in gigabytes.
    flags = [os.environ.get("XLA_FLAGS"), "--xla_disable_hlo_passes=fusion"]
    os.environ["XLA_FLAGS"] = " ".join(filter(None, flags))

for variable in ("COLUMNS", "LINES", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(variable, None)  # what the command prints is for no terminal

EXAMPLES = int(os.environ.get("QUOTAKERNELS_EXAMPLES", "25"))
"""How many examples show that a property holds; CI takes more."""
settings.register_profile("default", deadline=None, derandomize=True, max_examples=EXAMPLES)
settings.load_profile("default")

collect_ignore = ["sharded_jax.py", "sharded_torch.py"]  # programs, which test_shards runs

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


mode = mode_fixture(DISTINCT)


PRINT_TABLES = {
    *("best_boundary", "best_quota", "compare_curves", "cut_tables", "hit_rate_curve"),
    *("lift_curve", "best_cut", "pearson_curve", "qrecall_curve", "rank", "table_curve"),
}
"""Functions whose examples print a table of one list, which is padded without the fast forms."""


FAST_EXAMPLES = PRINT_TABLES | {"compare", "curve_band", "best_cut_interval"}
"""Those, and functions whose examples print what other draws than the fast ones would change."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Neighbours share programs and exact values: workers begin at a half each, not in turns."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.name.rpartition(".")[2] in FAST_EXAMPLES:
            item.add_marker(of_fast_forms)
    mark_full(items)
    mark_quick(items)


def mark_full(items: list[pytest.Item]) -> None:
    """Leave most modes to the full matrix: a case keeps one of each library.

    Of JAX and the strict library a test keeps one case alone, as each is a program to compile
    or takes several times NumPy's time; and none if that is long and another test runs the measure
    there too.
    """
    modes = {item: mode for item in items if (mode := mode_of(item))}
    kept: dict[tuple[str, str], pytest.Item] = {}
    for item, mode in sorted(modes.items(), key=lambda x: place(x[1])):
        test, _, parameters = item.nodeid.partition("[")
        alone = mode.library in ("jax", "array_api_strict")
        case = "" if alone else parameters.replace(mode.name, "", 1)
        long = alone and item.get_closest_marker("long_program") is not None
        if mode.name in FIRST and not long:
            kept.setdefault((f"{test}[{case}", mode.library), item)
    for item in modes.keys() - kept.values():
        item.add_marker("full")
    mark_repeated({item: mode for item, mode in modes.items() if item not in kept.values()})


def mark_repeated(modes: dict[pytest.Item, Mode]) -> None:
    """Let the modes of a library take turns over the cases of a test, of the full matrix.

    Each case then has one of them, and each of them a case.
    """
    tests: dict[tuple[str, str], dict[str, list[pytest.Item]]] = {}
    for item, mode in modes.items():
        test, _, parameters = item.nodeid.partition("[")
        cases = tests.setdefault((test, mode.library), {})
        cases.setdefault(parameters.replace(mode.name, "", 1), []).append(item)
    for cases in tests.values():
        names = list(dict.fromkeys(modes[item].name for items in cases.values() for item in items))
        for i, items in enumerate(cases.values()):
            for item in items:
                turn = names.index(modes[item].name)
                if i % len(names) != turn and turn % len(cases) != i:
                    item.add_marker("repeated")


QUICK = frozenset(
    re.findall(
        r"\w+",
        """
test_static test_documentation test_counterparts test_capabilities test_misspelt
test_every_measure_is_right_on_every_small_case test_relations test_metamorphic test_published
test_errata test_ranking_by_hand test_table_measures test_class_measures test_confusion
test_impact test_example_impact test_best_cut test_points test_bootstrap
test_intervals test_text test_bad_inputs inputs
test_names_elsewhere test_mass_units test_cli_evaluate test_cli_gains test_cli_files test_cli_select
test_directions test_the_table_has_every_measure
test_every_public_function_is_among_the_cases test_what_is_said_of_compile_is_what_is_traced
test_the_named_measures_are_those_with_bounds
test_what_was_decided_is_still_in_the_library test_stubs_and_lists_of_names_are_current
""",
    )
)
"""Files, folders and tests of which `pytest -m quick` takes what is of NumPy, or of no library."""


QUICK_OF = os.environ.get("QUOTAKERNELS_QUICK_OF", "numpy").split()
"""Other libraries in NumPy's place, for machines where they have a device."""


def mark_quick(items: list[pytest.Item]) -> None:
    """Of what the test command takes, some tests that show most mistakes and compile nothing."""
    for item in items:
        mode = mode_of(item)
        names = {item.path.stem, item.path.parent.name, getattr(item, "originalname", None)}
        of_library = mode is None or mode.library in QUICK_OF
        if names & QUICK and of_library and item.get_closest_marker("full") is None:
            item.add_marker("quick")


def mode_of(item: pytest.Item) -> Mode | None:
    """The mode of a test, or that of one of its parameters."""
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    found = (getattr(x, "mode", x) for x in parameters)
    return next((x for x in found if isinstance(x, Mode)), None)


def place(mode: Mode) -> int:
    """The place among the modes that the test command takes first."""
    return FIRST.index(mode.name) if mode.name in FIRST else len(FIRST)


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
