"""What it saves to leave out points that cannot be seen: each curve drawn thinned, and whole.

``python -m benchmarks.drawing`` measures it of scores that are all distinct;
``docs/benchmarks_scale.md`` tells what is left out.  Bars have no curve and are not here.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

import quotakernels as qk
from benchmarks import machine

DISPLAYS: dict[str, dict[str, Any]] = {
    "HitRateDisplay": {},
    "LiftDisplay": {},
    "QrecallDisplay": {"areas": False},
    "RocDisplay": {"hull": False},
    "PrecisionRecallDisplay": {"hull": False},
    "PowersChartDisplay": {"kind": "bift"},
    "ImpactDisplay": {"impacts": (4, -2, -1, 0)},
    "UpliftDisplay": {},
}
"""Each with options that leave the curve alone."""


class Drawing(NamedTuple):
    """Seconds from a computed curve to a bitmap, NaN if Matplotlib gives up, and points drawn."""

    seconds: float
    points: int


def _all_points(x: Any, y: Any, columns: int) -> Any:  # noqa: ARG001
    return np.arange(len(x))


def drawing(name: str, ranking: qk.Ranking, *, whole: bool) -> Drawing:
    """Draw a display, with all points of its curve or without those that cannot be seen."""
    from matplotlib.figure import Figure

    from quotakernels import plots
    from quotakernels.plots import _display
    from quotakernels.plots._axes import thinned

    line, spent = _display.Canvas.line, [0.0]

    def timed(*given: Any) -> Any:
        start = time.perf_counter()
        result = line(*given)
        spent[0] += time.perf_counter() - start
        return result

    kept = _all_points if whole else thinned
    timing = mock.patch.object(_display.Canvas, "line", timed)
    with timing, mock.patch.object(_display, "thinned", kept):
        ax = Figure(layout="constrained").subplots()
        display = getattr(plots, name).from_ranking(ranking, ax=ax, **DISPLAYS[name])
    start = time.perf_counter()
    try:
        display.figure_.savefig(io.BytesIO(), format="png")
    except OverflowError:
        spent[0] = float("nan")
    return Drawing(
        spent[0] + time.perf_counter() - start, len(display.lines_[0].get_xdata(orig=False))
    )


def scored(rows: int) -> qk.Ranking:
    """Every tenth is positive, every other one is treated, and no score is there twice."""
    rng = np.random.default_rng(0)
    labels = rng.random(rows) < 0.1
    scores = rng.normal(labels.astype(float))
    return qk.rank(labels, scores, treatment=np.arange(rows) % 2)


def row(name: str, ranking: qk.Ranking) -> str:
    """A display's line of the table."""
    thinned, whole = (drawing(name, ranking, whole=x) for x in (False, True))
    times = f"{thinned.seconds:9.2f}{whole.seconds:9.2f}{whole.seconds / thinned.seconds:8.1f}"
    return f"{name:24s}{thinned.points:9d}{whole.points:10d}{times}"


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drawing", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the ranking")
    chosen = parser.parse_args(arguments)
    print(f"{machine.cpu()}, {machine.cores()} cores; {chosen.rows} rows")
    print("display                   points    of all  thinned    whole   ratio")
    ranking = scored(chosen.rows)
    for name in DISPLAYS:
        print(row(name, ranking), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
