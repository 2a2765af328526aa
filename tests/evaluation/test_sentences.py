"""The sentences of an evaluation: each is said somewhere, with all that goes into it."""

from __future__ import annotations

import ast
import string
import tomllib
from pathlib import Path

import quotakernels

PACKAGE = Path(quotakernels.__file__).parent
TABLES = tomllib.loads((PACKAGE / "data" / "sentences.toml").read_text("utf-8"))
SENTENCES = {f"{part}.{name}": x for part, named in TABLES.items() for name, x in named.items()}
ROOMS = ("evaluation", "report", "cli")
NODES = [
    node
    for room in ROOMS
    for path in (PACKAGE / room).rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text("utf-8")))
]


def texts(node: ast.AST) -> set[str]:
    found = {x.value for x in ast.walk(node) if isinstance(x, ast.Constant)}
    return {x for x in found if isinstance(x, str) and "." in x}


def test_all_are_said():
    said = {node.value for node in NODES if isinstance(node, ast.Constant)}
    assert SENTENCES.keys() - said == set()


def test_each_has_all_that_goes_into_it():
    calls = [x for x in NODES if isinstance(x, ast.Call) and ast.unparse(x.func) == "say"]
    assert len(calls) > 50
    for call in calls:
        parts = {x.arg for x in call.keywords}
        for name in texts(call.args[0]):
            needed = {field for _, field, _, _ in string.Formatter().parse(SENTENCES[name])}
            assert None in parts or needed - {None} <= parts, name
