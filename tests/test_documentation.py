"""Every public name is documented whole: its docstring, its place in the reference, its page."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections import Counter
from pathlib import Path

import pytest
from public_names import PATHS, PUBLIC
from test_docs import ROOT, measures

DOCS = ROOT / "docs"
SECTIONS = ("Parameters", "Returns", "References", "Examples")
ENTRY = re.compile(r"^::: quotakernels\.([\w.]+)$", re.MULTILINE)


def docstring(name: str) -> str:
    return inspect.getdoc(PUBLIC[name]) or ""


@pytest.mark.parametrize("name", sorted(measures()))
def test_docstrings_of_measures_have_all_sections(name: str):
    headings = re.findall(r"^(.+)\n-+$", docstring(name), re.MULTILINE)
    assert [x for x in SECTIONS if x not in headings] == []


def undefined_somewhere() -> set[str]:
    """Measures for which the README's table says when they are undefined."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|") for line in lines if line.startswith("| ")]
    said = [row for row in rows if row[-2].strip() and row[2].strip() != "function"]
    return {
        name
        for row in said
        for name in re.findall(r"`(?:tables\.|charts\.|inference\.|states\.)?(\w+)`", row[2])
    }


def test_docstrings_say_when_a_measure_is_undefined():
    named = undefined_somewhere()
    assert len(named) > 60
    assert [x for x in named if not re.search("NaN|undefined", docstring(x))] == []


def offered(path: Path) -> list[str]:
    """The public names of a module, by its source: few of its libraries are installed anywhere."""
    names = re.search(r"^__all__ = \[(.*?)\]$", path.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return re.findall(r'"(\w+)"', names[1])


def adapters() -> list[str]:
    """What the modules of other frameworks offer."""
    paths = sorted((ROOT / "quotakernels" / "adapters").glob("[!_]*.py"))
    return [f"adapters.{path.stem}.{x}" for path in paths for x in offered(path)]


def displays() -> list[str]:
    return [f"plots.{x}" for x in offered(ROOT / "quotakernels" / "plots" / "__init__.py")]


def test_reference_has_every_public_name_once():
    pages = sorted((DOCS / "reference").glob("*.md"))
    entries = Counter(x for page in pages for x in ENTRY.findall(page.read_text("utf-8")))
    own = [x.removeprefix("quotakernels.") for x in PATHS.values()]
    public = [*own, *adapters(), *displays()]
    assert sorted(entries) == sorted(public)
    assert set(entries.values()) == {1}


def test_every_page_is_in_the_navigation():
    config = (ROOT / ".mkdocs.yml").read_text(encoding="utf-8")
    linked = re.findall(r"^ +- .+: (\S+\.md)$", config, re.MULTILINE)
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert sorted(linked) == sorted(pages | {"index.md", "changelog.md", "licence.md", "data.md"})


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="mkdocs is not available")
def test_links_to_files_elsewhere_become_links_to_pages():
    path = DOCS / "tools" / "pages.py"
    spec = importlib.util.spec_from_file_location("pages", path)
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    assert pages.linked("[a](docs/roc.md#costs) [b](LICENSE)", "index.md") == (
        "[a](roc.md#costs) [b](licence.md)"
    )
    assert pages.linked("[c](../roc.md)", "backends/jax.md") == "[c](../roc.md)"
    assert pages.linked("[d](../README.md) [e](../tests/exact)", "roc.md") == "[d](index.md) e"
    assert pages.fences("```python continued\nx\n```\n") == "```python\nx\n```\n"
