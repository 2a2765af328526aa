"""Write docs/capabilities.md of what the tests declare: ``python docs/tools/capabilities.py``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from backends import MODES, QUICK  # noqa: E402
from capabilities import ARGUMENTS, FORMS, PROGRAM_MODES, REFUSED, WITHOUT, functions, has  # noqa: E402

HEAD = """# What works where

`python docs/tools/capabilities.py` makes this page from what the tests declare and run. A dash
means that a function has no such argument, cannot run in that form, or that no test runs it so.
[Backends](backends.md) says how the libraries differ.

## Libraries, and ways to run a function

Tests compare the measures of a ranking with their exact values in each of these. Most other
tests run the quick ones only.

| name | library | results | values can be read | in the quick set |
|---|---|---|---|---|
"""
FUNCTIONS = """
*strictest* forbids boolean indexing and data-dependent shapes. *device1* runs on a device that is
not the default. CuPy runs if there is a GPU; elsewhere a test checks that the names exist which the
library uses. Every function that works in `jax.jit` is lowered for CUDA, ROCm and TPU.

## Modes that programs set

What is not named here has not been tried. The tests of `use_deterministic_algorithms` and of CUDA
graphs need a GPU, and have run on an H100.

| library | mode | works | does not | test |
|---|---|---|---|---|
{program_modes}
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


def program_modes() -> str:
    """A row for each mode of a library that programs set."""
    return "".join(
        f"| {library} | {mode} | {works or '–'} | {refused or '–'} | `{test}` |\n"
        for library, mode, works, refused, test in PROGRAM_MODES
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
    settings = FUNCTIONS.format(program_modes=program_modes())
    return HEAD + modes() + settings + heading + rows + "\n" + notes()


if __name__ == "__main__":
    (ROOT / "docs" / "capabilities.md").write_text(page(), encoding="utf-8")
