"""What type checkers and editors know of the public functions."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import pydoc
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from capabilities import called
from public_names import MEASURES, PUBLIC
from stubs import files

import quotakernels as qk

ROOT = Path(__file__).resolve().parents[2]
CALLS = sorted(Path(__file__).parents[1].glob("typed/*_calls.py"))
CHECKERS = {
    "mypy": [
        *("--strict", "--config-file=", "--python-version=3.11"),
        "--cache-dir=.mypy_cache/calls",
    ],
    "basedpyright": ["--project=tests/typed", f"--pythonpath={sys.executable}"],
}


def installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


@pytest.mark.parametrize("checker", CHECKERS)
def test_checkers_find_every_wrong_call_and_refuse_no_right_one(checker: str):
    if not installed(checker):
        pytest.skip(f"{checker} is not installed")
    files = [x for x in CALLS if installed(x.stem.removesuffix("_calls"))]
    command = [sys.executable, "-m", checker, *CHECKERS[checker]]
    command += [str(x) for x in files] if checker == "mypy" else []
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    wrong = 0
    for file in files:
        found = {int(x) for x in re.findall(rf"{file.name}:(\d+):.*error", said)}
        lines = file.read_text(encoding="utf-8").splitlines()
        marked = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
        assert found == marked, [lines[number - 1] for number in found ^ marked]
        wrong += len(marked)
    assert wrong >= 60


def test_stubs_and_lists_of_names_are_current():
    for path, text in files().items():
        assert path.read_text(encoding="utf-8") == text, "run python docs/tools/stubs.py"


def overloads() -> dict[str, list[dict[str, Any]]]:
    """The keywords of each call of each measure in the stubs; Ellipsis where one has no default."""
    found: dict[str, list[dict[str, Any]]] = {}
    for text in (x for path, x in files().items() if path.suffix == ".pyi"):
        kinds = {}
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef):
                calls = (x.args for x in node.body if isinstance(x, ast.FunctionDef))
                kinds[node.name] = [
                    {
                        x.arg: ... if value is None else ast.literal_eval(value)
                        for x, value in zip(call.kwonlyargs, call.kw_defaults, strict=True)
                    }
                    for call in calls
                ] or kinds.get(ast.unparse(node.bases[0]))
            elif isinstance(node, ast.AnnAssign):
                found[ast.unparse(node.target)] = kinds[ast.unparse(node.annotation)]
    return found


STATED = overloads()


@pytest.mark.parametrize("name", MEASURES)
def test_the_calls_of_a_measure_show_all_that_it_takes(name: str):
    parameters = dict(inspect.signature(MEASURES[name]).parameters)
    data = [parameters.pop(x) for x in ("y_true", "y_score")]
    assert all(x.kind is x.POSITIONAL_OR_KEYWORD and x.default is x.empty for x in data)
    assert {x for call in STATED[name] for x in call} == set(parameters)
    for call in STATED[name]:
        for keyword, value in call.items():
            default = parameters[keyword].default
            may_be_needed = default in (None, inspect.Parameter.empty)
            assert value == default or (value is ... and may_be_needed)


FUNCTIONS = {name: x for name, x in PUBLIC.items() if inspect.isfunction(x)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_shows_its_parameters(name: str):
    """Only what a measure takes, whichever is given, stands for itself."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    several = {x.kind for x in parameters.values() if x.kind in (x.VAR_POSITIONAL, x.VAR_KEYWORD)}
    takes_measures = not parameters.keys().isdisjoint(("measure", "best", "curve"))
    assert several <= ({inspect.Parameter.VAR_KEYWORD} if takes_measures else set())


@pytest.mark.parametrize(("name", "like"), [("best_cut", qk.gini), ("table_curve", qk.roc_curve)])
def test_a_function_of_cuts_shows_the_parameters_of_measures(name: str, like: Any):
    shown = inspect.signature(FUNCTIONS[name]).parameters
    of_measures = inspect.signature(like).parameters
    assert {key: shown[key] for key in of_measures} == dict(of_measures)


def floats(found: Any) -> Iterator[Any]:
    """The numbers of a result, and those of its columns that are said to be arrays like these."""
    if not hasattr(found, "_fields"):
        yield found
        return
    for name, kind in inspect.get_annotations(type(found)).items():
        if re.fullmatch(r"(\w+\[)?T\]?", kind.__forward_arg__):
            yield from floats(getattr(found, name))


@pytest.mark.parametrize("name", MEASURES)
def test_results_of_numpy_are_doubles_where_they_are_said_to_be(name: str):
    found = called(name, moved=lambda x: x.astype(np.float32) if x.dtype.kind == "f" else x)
    assert isinstance(found, tuple) != MEASURES[name].is_array
    for x in floats(found):
        assert isinstance(x, np.ndarray | np.float64)
        assert x.dtype == np.float64


@pytest.mark.parametrize("name", MEASURES)
def test_help_opens_with_the_call(name: str):
    text = pydoc.plain(pydoc.render_doc(MEASURES[name]))
    call, told = text.split("\n\n", 1)[1].split(")\n", 1)  # the call takes one line or several
    assert "".join(call.split()).startswith(f"{name}(y_true:")
    assert told.splitlines()[0].strip() == MEASURES[name].__doc__.splitlines()[0]
