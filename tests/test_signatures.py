"""What type checkers and editors know of the public functions."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import pydoc
import re
import subprocess
import sys
import textwrap
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from public_names import PUBLIC

import quotakernels as qk
from quotakernels import _types
from quotakernels.inference.folds import FoldOptions
from quotakernels.measures._measure import Measure, ValueMeasure

ROOT = Path(__file__).resolve().parents[1]
CALLS = sorted(Path(__file__).parent.glob("typed/*_calls.py"))
CHECKERS = {
    "mypy": [
        "--strict",
        "--config-file=",
        "--python-version=3.11",
        "--cache-dir=.mypy_cache/calls",
    ],
    "basedpyright": ["--project=tests/typed", f"--pythonpath={sys.executable}"],
}
MEASURES = {name: x for name, x in PUBLIC.items() if isinstance(x, Measure)}
STATED = {"inclusive": True, "when_short": None}
"""What the types of cuts have, with its default."""
EITHER = ("quota", "fraction", "budget", "cost", "threshold", "between", "treatment")
"""Of which one has to be given, and none by its name alone; a budget wants costs."""


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


def stated(kind: type[Measure]) -> Iterator[dict[str, Any]]:
    """The keywords of each overload of a kind, with their defaults; Ellipsis where it has none."""
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(kind)))):
        if not isinstance(node, ast.FunctionDef) or not node.decorator_list:
            continue
        pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        found = {x.arg: ... if value is None else ast.literal_eval(value) for x, value in pairs}
        if node.args.kwarg is not None:
            name = re.findall(r"Unpack\[(\w+)", ast.unparse(node.args.kwarg.annotation))[0]
            keys = getattr(_types, name).__annotations__
            shared = inspect.signature(qk.rank).parameters
            own = {x for x in keys if x not in shared or x in EITHER}
            found |= {x: ... if x in own else shared[x].default for x in keys}
            found |= {x: known for x, known in STATED.items() if x in keys}
        yield found


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_has_the_signature_of_its_kind(name: str):
    parameters = dict(inspect.signature(MEASURES[name]).parameters)
    data = [parameters.pop(x) for x in ("y_true", "y_score")]
    assert all(x.kind is x.POSITIONAL_OR_KEYWORD and x.default is x.empty for x in data)
    kinds = type(MEASURES[name]).__mro__[:-1]
    overloads = next(found for kind in kinds if (found := list(stated(kind))))
    shown = {x for found in overloads for x in found}
    assert shown == set(parameters), "overloads show what it takes; by_group=True takes groups"
    for found in overloads:
        for keyword, value in found.items():
            default = parameters[keyword].default
            free = default is None and keyword in EITHER
            assert value == (... if free or default is inspect.Parameter.empty else default)


FUNCTIONS = {name: x for name, x in PUBLIC.items() if inspect.isfunction(x)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_shows_its_parameters(name: str):
    """Only what a measure takes, whichever is given, stands for itself."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    several = {x.kind for x in parameters.values() if x.kind in (x.VAR_POSITIONAL, x.VAR_KEYWORD)}
    takes_measures = not parameters.keys().isdisjoint(("measure", "best", "curve"))
    assert several <= ({inspect.Parameter.VAR_KEYWORD} if takes_measures else set())


@pytest.mark.parametrize(("name", "like"), [("best_cut", qk.gini), ("table_curve", qk.roc_curve)])
def test_a_function_of_cuts_shows_the_parameters_of_measures(name: str, like: Measure):
    shown = inspect.signature(FUNCTIONS[name]).parameters
    of_measures = inspect.signature(like).parameters
    assert {key: shown[key] for key in of_measures} == dict(of_measures)


def test_checkers_know_the_options_of_every_measure():
    known = set(typing.get_type_hints(FoldOptions)) | set(
        inspect.signature(qk.bootstrap).parameters
    )
    known |= {"measure"}  # of `one_vs_rest`, which takes no ranking
    assert {x for each in MEASURES.values() for x in each.own_keywords} <= known


Y, S = np.asarray([1, 0, 1, 0, 1]), np.asarray([5, 4, 3, 2, 1], dtype=np.float32) / 8
OWN: dict[str, Any] = {
    **{
        key: {"gain": S}
        for key in ("best_quota", "cell_impacts", "impact_at_quota", "gain_per_cost")
    },
    "best_operating_point": {"cost_fp": 1, "cost_fn": 2},
    "chart_area": {"kind": "pn"},
    "expected_cost": {"cost_fp": 1, "cost_fn": 2},
    "fpr_at": {"tpr": 0.5},
    "precision_at": {"recall": 0.5},
    "recall_at": {"precision": 0.5},
    "tpr_at": {"fpr": 0.5},
    "powers_chart": {"kind": "pn"},
    "selection_by_group": {"groups": [0, 0, 1, 1, 1]},
}
"""What a measure needs beside labels, scores and a quota."""


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
    taken = inspect.signature(MEASURES[name]).parameters
    own = {"quota": 2} if "quota" in taken else {}
    own |= {"cost": S} if MEASURES[name].of_costs else {}
    own |= {"treatment": Y} if MEASURES[name].of_arms else {}
    own |= {"impacts": (2, -1, -1, 0)} if "impacts" in taken else {}
    found = MEASURES[name](Y, S, **own, **OWN.get(name, {}))
    assert not (isinstance(found, tuple) and isinstance(MEASURES[name], ValueMeasure))
    for x in floats(found):
        assert isinstance(x, np.ndarray | np.float64)
        assert x.dtype == np.float64


@pytest.mark.parametrize("name", MEASURES)
def test_help_opens_with_the_call(name: str):
    text = pydoc.plain(pydoc.render_doc(MEASURES[name]))
    call, told = text.split("\n\n", 1)[1].split(")\n", 1)  # the call takes one line or several
    assert "".join(call.split()).startswith(f"{name}(y_true:")
    assert told.splitlines()[0].strip() == MEASURES[name].__doc__.splitlines()[0]
