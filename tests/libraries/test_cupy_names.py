"""What the source calls exists in CuPy, with these arguments: its wheel imports without a GPU."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import quotakernels

if importlib.util.find_spec("cupy") is None:
    if "cupy-names" in os.environ.get("QUOTAKERNELS_REQUIRE", "").split():
        raise RuntimeError("cupy is required here and cannot be imported")
    pytest.skip("cupy is not installed", allow_module_level=True)

import array_api_compat.cupy
import cupy

from quotakernels.ops.native.cupy_ import CuPy

PACKAGE = Path(quotakernels.__file__).parent
NATIVE = PACKAGE / "ops" / "native"
OTHERS = [NATIVE / f"{name}.py" for name in ("_numpy_hull", "jax_", "numpy_", "torch_")]
SOURCES = [x for x in sorted(PACKAGE.rglob("*.py")) if x not in OTHERS and "cli" not in x.parts]
UFUNC_KEYWORDS = {"out", "dtype"}
XP = CuPy(array_api_compat.cupy)
"""The namespace, with the operations of this library."""
OF_TENSORS = {"won_twice_by_group"}
"""Operations that only PyTorch has, of tables that it alone makes."""


class Use(NamedTuple):
    """An attribute of a namespace, and what it is called with if it is."""

    name: str
    call: ast.Call | None
    place: str


def is_namespace(node: ast.expr) -> bool:
    """`xp`, or `namespace(x)`."""
    if isinstance(node, ast.Call):
        node = node.func
        return isinstance(node, ast.Name) and node.id == "namespace"
    return isinstance(node, ast.Name) and node.id == "xp"


def is_cupy(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "cp"


def uses(tree: ast.AST, of: Any, where: str) -> Iterator[Use]:
    calls = {id(x.func): x for x in ast.walk(tree) if isinstance(x, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and of(node.value):
            yield Use(node.attr, calls.get(id(node)), f"{where}:{node.lineno}")


def problem(module: Any, use: Use) -> str | None:
    """What is wrong with a use; None where nothing is, or where it cannot be told."""
    found = getattr(module, use.name, None)
    if found is None:
        return f"{use.place}: no {use.name}"
    if use.call is None:
        return None
    count = len(use.call.args)
    unknown = any(isinstance(x, ast.Starred) for x in use.call.args)
    keywords = [x.arg for x in use.call.keywords if x.arg is not None]
    if isinstance(found, cupy.ufunc):
        fits = (unknown or count == found.nin) and UFUNC_KEYWORDS.issuperset(keywords)
        return None if fits else f"{use.place}: {use.name} is a ufunc of {found.nin} arrays"
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return None
    if surplus := set(keywords) - signature.parameters.keys():  # **kwargs may take anything
        return f"{use.place}: {use.name} has no argument {sorted(surplus)}"
    try:
        signature.bind_partial(*[None] * (0 if unknown else count), **dict.fromkeys(keywords))
    except TypeError as error:
        return f"{use.place}: {use.name}: {error}"
    return None


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_names_of_the_standard():
    found = [use for path in SOURCES for use in uses(parsed(path), is_namespace, path.name)]
    assert {"where", "take_along_axis", "int64", "matrix_transpose"} <= {x.name for x in found}
    found = [x for x in found if x.name not in {"__name__", *OF_TENSORS}]
    assert [x for use in found if (x := problem(XP, use))] == []


def test_names_of_cupy_itself():
    tree = parsed(NATIVE / "cupy_.py")
    found = list(uses(tree, is_cupy, "cupy_.py"))
    assert {"add", "sum"} <= {x.name for x in found}
    assert [x for use in found if (x := problem(cupy, use))] == []


def root(node: ast.expr) -> str:
    """The name that an expression of attributes and calls begins with."""
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


def test_methods_of_arrays_and_generators():
    tree = parsed(NATIVE / "cupy_.py")
    modules = {x.asname or x.name for node in ast.walk(tree) for x in getattr(node, "names", [])}
    called = {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if root(node.func.value) not in modules | {"xp"}
    }
    assert {"astype", "view", "random"} <= called
    assert called <= {*dir(cupy.ndarray), *dir(cupy.random.Generator), *dir(XP)}


def test_constants_and_types_are_of_the_standard():
    names = {use.name for path in SOURCES for use in uses(parsed(path), is_namespace, path.name)}
    for name in names & {"nan", "inf"}:
        assert isinstance(getattr(XP, name), float)


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("xp.not_there(x)", "no not_there"),
        ("namespace(x).not_there", "no not_there"),
        ("xp.sort(x, axis=-1, backwards=True)", "backwards"),
        ("xp.isnan(x, y)", "ufunc of 1"),
        ("xp.maximum(x, y, axis=-1)", "ufunc of 2"),
        ("xp.expand_dims(x, 0, 1, 2)", "too many"),
        ("xp.clip(x, min=0)", None),
        ("xp.stack([x, y], axis=-1)", None),
        ("xp.full((), 0.5, dtype=xp.float64, device=device)", None),
    ],
)
def test_problems_are_found(code: str, wrong: str | None):
    found = [problem(XP, use) for use in uses(ast.parse(code), is_namespace, "")]
    found = [x for x in found if x]
    if wrong is None:
        assert found == []
    else:
        (message,) = found
        assert wrong in message
