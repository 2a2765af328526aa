"""Pages of the site that are files elsewhere, and what Markdown means on a site.

The home page is the README; the changelog, the licence and the data's README are pages too.  Links
to these files, which lead from file to file in the repository, become links between pages.
"""

from __future__ import annotations

import operator
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "LICENSE": "licence.md",
    "quotakernels/data/README.md": "data.md",
}
"""Files outside of `docs`, and the pages that they become."""
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")
NAMES = "<!-- names -->"
FENCE = re.compile(r"^(```)(\w+)[^\n`]*$", re.MULTILINE)
WIDE = ("capabilities.md",)
"""Pages whose tables need the room of the table of contents."""
CODE = re.compile(
    r"(?<![`\[])`((?:(?:tables|charts|budgets|decisions|screening|uplift|inference|states|results)\.)?\w+)`(?![`\]])"
)
ROW = re.compile(r"^\| .*$", re.MULTILINE)
UNLINKED = ("capabilities.md",)
"""Pages whose tables have links of their own."""
FOREIGN = ("coming_from.md",)
"""Pages whose tables begin with names of other libraries."""
LANGUAGES = {"output": "text", "table": "text"}


def place_of(page: str) -> str:
    """Where the file of a page is in the repository."""
    elsewhere = {made: source for source, made in PAGES.items()}
    return elsewhere.get(page, f"docs/{page}")


def linked(markdown: str, page: str) -> str:
    """Links from file to file as links from page to page; those to no page as plain text."""
    folder = posixpath.dirname(place_of(page))

    def moved(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        path = posixpath.normpath(posixpath.join(folder, target))
        if path in PAGES:
            path = f"docs/{PAGES[path]}"
        elif not path.startswith("docs/") and (ROOT / path).exists():
            return text
        elif not path.startswith("docs/"):
            return found[0]
        start = posixpath.dirname(f"docs/{page}")
        return f"[{text}]({posixpath.relpath(path, start)}{anchor})"

    return LINK.sub(moved, markdown)


def fences(markdown: str) -> str:
    """Only the language is left of what the tests read beside it."""
    return FENCE.sub(lambda x: f"{x[1]}{LANGUAGES.get(x[2], x[2])}", markdown)


def paths() -> dict[str, str]:
    """Where in the package every public name is: at the top, or else in its family."""
    import quotakernels

    families = ("results", "states", "inference", "budgets", "charts", "tables", "uplift")
    families += ("decisions", "screening")
    found = {
        x: f"{family}.{x}" for family in families for x in getattr(quotakernels, family).__all__
    }
    return found | {x: x for x in quotakernels.__all__}


def names() -> str:
    """Every public name with the first sentence of its docstring."""
    import quotakernels

    rows = ["## All names\n", "| name | what it is |", "|---|---|"]
    for path in sorted(paths().values(), key=lambda x: x.rpartition(".")[2].casefold()):
        first = (operator.attrgetter(path)(quotakernels).__doc__ or "").strip().splitlines()[0]
        first = first.replace("|", r"\|")
        rows.append(f"| [`{path}`][quotakernels.{path}] | {first} |")
    return "\n".join(rows)


def rows_with_links(markdown: str, first: int) -> str:
    """Names of the library in tables as links to the reference, from the cell `first` on."""
    public = paths()

    def entry(found: re.Match[str]) -> str:
        path = public.get(found[1].rpartition(".")[2])
        return found[0] if path is None else f"[{found[0]}][quotakernels.{path}]"

    def row(found: re.Match[str]) -> str:
        cells = found[0].split("|")
        return "|".join([*cells[:first], *(CODE.sub(entry, cell) for cell in cells[first:])])

    return ROW.sub(row, markdown)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are files elsewhere."""
    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        if source == "LICENSE":
            text = f"# Licence\n\n{text}"
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Change links and fences."""
    if NAMES in markdown:
        markdown = markdown.replace(NAMES, names())
    if page.file.src_uri in WIDE:
        page.meta["hide"] = ["toc"]
    if page.file.src_uri not in UNLINKED:
        markdown = rows_with_links(markdown, 2 if page.file.src_uri in FOREIGN else 1)
    return fences(linked(markdown, page.file.src_uri))
