"""Write docs/capabilities.md of what the tests declare: ``python docs/tools/capabilities.py``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from backends import MODES, QUICK  # noqa: E402
from capabilities import ARGUMENTS, FORMS, REFUSED, WITHOUT, functions, has  # noqa: E402

HEAD = """# What works where

Made by `python docs/tools/capabilities.py` of what the tests declare and run, so that it cannot say
more than they do. A dash means that a function has no such argument, cannot be run in that form, or
that no test does so. [Backends](backends.md) tells what differs between the libraries.

## Libraries, and ways to run a function

The measures of a ranking meet their exact values in each of these. The quick ones are run in more
tests.

| name | library | results | values can be read | in the quick set |
|---|---|---|---|---|
"""
FUNCTIONS = """
*strictest* is without boolean indexing and data-dependent shapes, *device1* on a device that is not
the default. CuPy runs where there is a GPU; elsewhere the names that the library uses of it are
checked. For CUDA, ROCm and TPU every function that works in `jax.jit` is lowered.

## Functions

*Shapes alone* are meta tensors, fake tensors of PyTorch and `jax.eval_shape`: no value is read.

"""


def yes(value: bool) -> str:
    """A cell."""
    return "yes" if value else "–"


def modes() -> str:
    """A row for each library and way."""
    return "".join(
        f"| {mode} | {mode.library} | {'float32' if mode.float32 else 'float64'} "
        f"| {yes(not mode.lazy)} | {yes(mode in QUICK)} |\n"
        for mode in MODES
    )


def entries() -> dict[str, str]:
    """Where in the reference each name is."""
    pages = sorted((ROOT / "docs" / "reference").glob("*.md"))
    return {
        path.rpartition(".")[2]: f"{page.name}#quotakernels.{path}"
        for page in pages
        for path in re.findall(r"^::: quotakernels\.([\w.]+)$", page.read_text("utf-8"), re.M)
    }


def row(name: str, page: str) -> str:
    """What one function takes, and where it runs."""
    refused = REFUSED.get(name, {})
    cells = ["no, see below" if x in refused else yes(has(name, x)) for x in ARGUMENTS]
    cells += [yes(form not in WITHOUT.get(name, ())) for form in FORMS]
    return f"| [`{name}`](reference/{page}) | {' | '.join(cells)} |\n"


def notes() -> str:
    """Why a function does not take what it has a parameter for."""
    return "".join(
        f"- `{name}`: {argument} {why}.\n"
        for name, refused in sorted(REFUSED.items())
        for argument, why in refused.items()
    )


def page() -> str:
    """The text of the page."""
    columns = ("function", *ARGUMENTS, *FORMS)
    heading = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
    places = entries()
    if lacking := sorted(functions().keys() - places.keys()):
        raise SystemExit(f"no page of docs/reference/ has an entry for {', '.join(lacking)}")
    rows = "".join(row(name, places[name]) for name in sorted(functions()))
    return HEAD + modes() + FUNCTIONS + heading + rows + "\n" + notes()


if __name__ == "__main__":
    (ROOT / "docs" / "capabilities.md").write_text(page(), encoding="utf-8")
