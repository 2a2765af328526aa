"""What is said in one place of the public functions is so, and so is the page made of it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from capabilities import (
    ARGUMENTS,
    OF_FILES,
    PROGRAM_MODES,
    REFUSED,
    WITHOUT,
    called,
    functions,
    has,
)

ROOT = Path(__file__).resolve().parents[2]
OF_SCORES = [x for x in functions() if has(x, "weights") or has(x, "batch axes")]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [x for x in OF_SCORES if x not in OF_FILES])
def test_functions_take_what_is_said(name: str):
    called(name)
    for argument in ARGUMENTS:
        if argument in REFUSED.get(name, {}):
            with pytest.raises((TypeError, ValueError)):
                called(name, argument)
        elif has(name, argument):
            called(name, argument)


def test_exceptions_are_of_public_functions():
    assert {*REFUSED, *WITHOUT} <= set(functions())
    assert all(has(name, x) for name, refused in REFUSED.items() for x in refused)


def test_modes_name_tests_that_exist():
    files = list((ROOT / "tests").rglob("test_*.py"))
    text = "".join(x.read_text(encoding="utf-8") for x in files)
    for *_, test in PROGRAM_MODES:
        assert f"def {test}(" in text or test in {x.stem for x in files}, test


def tool() -> ModuleType:
    path = ROOT / "docs" / "tools" / "capabilities.py"
    spec = importlib.util.spec_from_file_location("capabilities_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_is_made_of_them():
    page = (ROOT / "docs" / "capabilities.md").read_text(encoding="utf-8")
    assert page == tool().page(), "python docs/tools/capabilities.py writes it anew"
