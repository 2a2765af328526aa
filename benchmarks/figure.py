"""The time of the four measures over that of the sort, against the number of scores."""

from __future__ import annotations

from typing import Any

from benchmarks.backends import missing
from benchmarks.cases import MEASURES, SORT
from benchmarks.marks import results, seconds

STYLES = {"uniform": "-", "tie-free": "--"}


def draw(run: dict[str, Any], path: str) -> str | None:
    """Write the figure; why not, if it cannot be drawn."""
    if absent := missing("matplotlib"):
        return absent
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    colours: dict[str, Any] = {}
    for backend in run["backends"]:
        for case, style in STYLES.items():
            found = results(run, case, backend)
            if found:
                ratios = [seconds(r, MEASURES) / seconds(r, SORT) for r in found]
                sizes = [r["n"] for r in found]
                colour = colours.setdefault(backend, f"C{len(colours)}")
                axes.plot(
                    sizes, ratios, style, marker="o", color=colour, label=f"{backend}, {case}"
                )
    if not colours:
        return "no scalar measures in this run"
    axes.set(xscale="log", yscale="log", xlabel="scores", ylabel="time / own sort of the scores")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
    return None
