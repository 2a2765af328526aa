"""What the experiments share: their data, their tables and figures, and the pages that show them.

A page is written by hand but for its sections between ``<!-- made: NAME -->`` and
``<!-- end: NAME -->``.  A script prints its sections; with ``--write`` it puts them into its page
and draws its figures.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

Draw = Callable[[], Any]
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VARIABLE = "QUOTAKERNELS_DATA"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Told apart by the colour-blind (Okabe and Ito)."""
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
STYLE = {
    "axes.grid": True,
    "axes.titlesize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": 100,
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "svg.hashsalt": "quotakernels",
}

# data


def data_folder() -> Path:
    """Where the data lie that are not in this repository."""
    return Path(os.environ.get(VARIABLE) or ROOT.parent / "shared" / "data")


def columns(path: Path) -> dict[str, np.ndarray]:
    """The columns of a CSV file, as strings."""
    if not path.is_file():
        raise SystemExit(f"{path} is not there; set {VARIABLE} to the folder with the data")
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    rows = list(csv.DictReader(text.splitlines()))
    return {name: np.asarray([row[name] for row in rows]) for name in rows[0]}


# pages


def table(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table in Markdown."""
    lines = [list(header), *([str(cell) for cell in row] for row in rows)]
    shown = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([shown[0], "|---" * len(lines[0]) + "|", *shown[1:]])


def marks(name: str) -> tuple[str, str]:
    """What a made section begins and ends with."""
    return f"<!-- made: {name} -->", f"<!-- end: {name} -->"


def section(text: str, name: str) -> str:
    """What a page shows as this section."""
    begin, end = marks(name)
    return text.partition(begin)[2].partition(end)[0].strip("\n")


def replaced(text: str, name: str, body: str) -> str:
    """The page with another body of this section."""
    begin, end = marks(name)
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not (found and ended):
        raise ValueError(f"the page has no section {name!r}")
    return f"{before}{begin}\n\n{body}\n\n{end}{after}"


# figures


def new_figure(width: float = 7.0, height: float = 4.0) -> Any:
    """An empty figure, in inches; draw on it inside ``style()``."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def style() -> Any:
    """The one style of all figures, as a context."""
    import matplotlib

    return matplotlib.rc_context(STYLE)


def save(draw: Draw, path: Path) -> None:
    """Draw a figure and store it; an SVG has the same bytes whenever it is drawn."""
    with style():
        figure = draw()
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


# the command


def parser(document: str | None, page: str) -> argparse.ArgumentParser:
    """The options that all experiments have."""
    kept = argparse.RawDescriptionHelpFormatter
    made = argparse.ArgumentParser(description=document, formatter_class=kept)
    made.add_argument("--write", action="store_true", help=f"renew docs/experiments/{page}")
    return made


def write(page: str, sections: Mapping[str, str], figures: Mapping[str, Draw]) -> None:
    """Put the sections into the page and draw the figures beside it."""
    path = HERE / page
    text = path.read_text(encoding="utf-8")
    for name, body in sections.items():
        text = replaced(text, name, body)
    path.write_text(text, encoding="utf-8")
    for name, draw in figures.items():
        save(draw, HERE / name)
        print(HERE / name, file=sys.stderr)


def command(
    document: str | None,
    page: str,
    sections: Mapping[str, Callable[[], str]],
    figures: Mapping[str, Draw] | None = None,
) -> int:
    """Print the sections; with ``--write`` put them into the page, and draw the figures."""
    chosen = parser(document, page).parse_args()
    made = {name: make() for name, make in sections.items()}
    print("\n\n".join(made.values()))
    if chosen.write:
        write(page, made, figures or {})
    return 0
