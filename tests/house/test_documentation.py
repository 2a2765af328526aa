"""Every public name is documented whole: its docstring, its place in the reference, its page."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from collections import Counter
from pathlib import Path

import pytest
from public_names import PATHS, PUBLIC

from house.test_docs import ROOT, measures
from quotakernels import results

DOCS = ROOT / "docs"
SECTIONS = ("Returns", "References", "Examples")
CUT = ("threshold", "quota", "fraction", "budget", "inclusive", "when_short")
SHARED = {
    "rank": tuple(inspect.signature(PUBLIC["rank"]).parameters),
    "bootstrap": tuple(inspect.signature(PUBLIC["bootstrap"]).parameters)[3:],
    "hit_rate": ("quota", "fraction", "budget", "when_short"),
    "confusion_table": ("table", *CUT),
    "impact": ("impacts", "table", *CUT),
}
"""Parameters that many functions have, by the one whose docstring describes them."""
OPENED = ("Attributes", "Parameters", "Raises", "Returns")
"""Sections of entries, each of which a name or a type opens."""
ENTRY = re.compile(r"^::: quotakernels\.([\w.]+)$", re.MULTILINE)
SECTION = re.compile(r"^(.+)\n-+\n", re.MULTILINE)
SECTION_OF_PAGE = re.compile(r"^## (.+)$", re.MULTILINE)
KEY = re.compile(r"\[([A-Z]{2}|[A-Z][\w ]* \d{4})\]")


def docstring(name: str) -> str:
    return inspect.getdoc(PUBLIC[name]) or ""


def sections(document: str) -> dict[str, str]:
    """What stands under each heading of a docstring; under no name what is before the first."""
    before, *parts = SECTION.split(document)
    return {"": before, **dict(zip(parts[::2], parts[1::2], strict=True))}


@pytest.mark.parametrize("name", sorted(measures()))
def test_docstrings_of_measures_have_all_sections(name: str):
    assert [x for x in SECTIONS if x not in sections(docstring(name))] == []


@pytest.mark.parametrize("name", sorted(measures()))
def test_parameters_of_measures_are_described_or_said_to_be_shared(name: str):
    """Its own in its docstring, and for all others there is a name where to read on."""
    found = sections(docstring(name))
    entries = re.findall(r"^(\*{0,2}\w.*?)(?: :|$)", found.get("Parameters", ""), re.MULTILINE)
    described = {x.strip("* ") for entry in entries for x in entry.split(",")}
    elsewhere = {x for x in SHARED if x != name and f"`{x}`" in found[""]}
    shared = {parameter for x in elsewhere for parameter in SHARED[x]}
    shared |= set(SHARED["rank"]) if elsewhere else set()  # the others name `rank` themselves
    parameters = inspect.signature(PUBLIC[name]).parameters.values()
    own = {x.name for x in parameters if not x.kind.name.startswith("VAR_")} - shared
    assert own - described == set()


def docstrings(folder: Path) -> list[str]:
    """Of all modules, classes and functions in a folder, public or not, by the source."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted(folder.rglob("*.py"))]
    nodes = [x for tree in trees for x in ast.walk(tree) if isinstance(x, kinds)]
    return [text for x in nodes if (text := ast.get_docstring(x))]


def prose(document: str) -> list[str]:
    """The lines of a docstring in which something is said.

    These are all but empty lines, headings and what underlines them, the names and types that
    open entries, and examples.
    """
    said = []
    for heading, text in sections(document).items():
        if heading != "Examples":
            lines = filter(str.strip, text.splitlines())
            said += [x.strip() for x in lines if heading not in OPENED or x.startswith(" ")]
    return said


def test_prose_is_what_is_said():
    text = "One.\n\nReturns\n-------\nint\n    Two.\n\nExamples\n--------\n>>> 1\n1\n"
    assert prose(text) == ["One.", "Two."]


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_each_line_of_see_also_names_one_entry(name: str):
    """What it names, and after a colon what that is; entries have no other lines."""
    lines = sections(docstring(name)).get("See Also", "").splitlines()
    assert [x for x in lines if x.count(" : ") > 1 or x.startswith(" ")] == []


@pytest.mark.full
def test_docstrings_of_measures_say_little_twice():
    """Less than a tenth of the lines of their docstrings stand in another one too."""
    said = [prose(text) for text in docstrings(ROOT / "quotakernels" / "measures")]
    several = Counter(line for lines in said for line in set(lines))
    lines = [line for each in said for line in each]
    assert len(lines) > 1000
    assert sum(several[line] > 1 for line in lines) < len(lines) / 10


def test_works_that_docstrings_name_are_in_the_bibliography():
    """All of them, and no others; a key stands in brackets."""
    works = SECTION_OF_PAGE.findall((DOCS / "bibliography.md").read_text("utf-8"))
    texts = docstrings(ROOT / "quotakernels")
    assert sorted({x for text in texts for x in KEY.findall(text)}) == sorted(works)
    assert [x for text in texts for x in re.findall(r"(?<!\[)\b(?:AR|DG|EL|PW)\b", text)] == []


@pytest.mark.parametrize("name", sorted(measures()))
def test_references_of_measures_are_keys(name: str):
    said = sections(docstring(name))["References"]
    assert KEY.match(said) or said.startswith("Of this library"), "or name a work by its key"


def undefined_somewhere() -> set[str]:
    """Measures for which the table of all measures says when they are undefined."""
    lines = (DOCS / "all_measures.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|") for line in lines if line.startswith("| ")]
    said = [row for row in rows if row[-2].strip() and row[2].strip() != "function"]
    return {
        name
        for row in said
        for name in re.findall(
            r"`(?:(?:tables|charts|points|groups|budgets|retrieval|decisions|screening|uplift|inference|states)\.)?(\w+)`",
            row[2],
        )
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
    missing = "docs/reference/ has one entry `::: quotakernels.NAME` of every public name"
    assert entries == Counter(public), missing
    assert set(entries.values()) == {1}


@pytest.mark.parametrize("name", results.__all__)
def test_results_are_made_of_public_types(name: str):
    entries = re.findall(r"^\w.* : (.+)$", sections(docstring(name)).get("Attributes", ""), re.M)
    held = {x for entry in entries for x in re.findall(r"\b[A-Z][a-z]\w+", entry)} - {"None"}
    assert held <= PUBLIC.keys()


def linked_pages(upto: str | None = None) -> list[str]:
    """The pages of the navigation, or those before a section."""
    config = (ROOT / ".mkdocs.yml").read_text(encoding="utf-8").partition(f"  - {upto}:\n")[0]
    return re.findall(r"^ +- .+: (\S+\.md)$", config, re.MULTILINE)


def test_every_page_is_in_the_navigation():
    linked = linked_pages()
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    assert sorted(linked) == sorted(pages | {"index.md", "changelog.md", "licence.md", "data.md"})


def test_guides_are_short():
    """With their code; beside the README, the reference and the evidence."""
    guides = [DOCS / x for x in linked_pages("Reference") if x != "index.md"]
    words = {x.name: len(x.read_text("utf-8").split()) for x in guides}
    longest = ", ".join(sorted(words, key=lambda name: words[name])[-3:])
    count = sum(words.values())
    assert count <= 20_000, f"{count} words: use fewer, here or in the longest guides, {longest}"
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= 900
    assert len((DOCS / "design.md").read_text("utf-8").split()) <= 1500


@pytest.mark.parametrize("name", ["benchmarks", "benchmarks_scale", "coverage"])
def test_evidence_is_short(name: str):
    """The commands that these pages name print the rest."""
    assert len((DOCS / f"{name}.md").read_text("utf-8").split()) <= 1000


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
