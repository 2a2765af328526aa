"""What every display draws: texts, limits and artists of a set of calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import quotakernels as qk
from contracts.snapshots import agrees

pytest.importorskip("matplotlib")
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from quotakernels import plots

N = 60
RNG = np.random.default_rng(3)
Y = (RNG.random(N) < 0.4).astype(np.int64)
MODELS = {"a": (Y + RNG.normal(0, 1, N)).round(1), "b_$": RNG.normal(0, 1, N).round(1)}
WEIGHT = 0.5 + np.arange(N) % 3
TREATED = RNG.integers(0, 2, N)
GAIN = np.where(Y == 1, 3.0, -2.0)
CHARTS = ("pn", "boc", "boc_dual", "pr_reciprocal", "pr_log", "lift", "bift", "bprd", "bird")

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "hit_rate": ("HitRateDisplay", {"optimal": True}),
    "hit_rate_percent": ("HitRateDisplay", {"percent": True, "random": False, "color": "red"}),
    "hit_rate_weighted": ("HitRateDisplay", {"sample_weight": WEIGHT, "legend": False}),
    "lift": ("LiftDisplay", {"optimal": True}),
    "qrecall": ("QrecallDisplay", {}),
    "qrecall_areas": ("QrecallDisplay", {"areas": True, "optimal": False}),
    "uplift": ("UpliftDisplay", {"treatment": TREATED, "optimal": True}),
    "qini": ("UpliftDisplay", {"treatment": TREATED, "curve": "qini"}),
    "toc": ("UpliftDisplay", {"treatment": TREATED, "curve": "toc", "optimal": True}),
    "lift_table": ("LiftTableDisplay", {"bins": 4, "cumulative": True}),
    "roc": ("RocDisplay", {}),
    "roc_plain": ("RocDisplay", {"hull": False, "chance": False, "break_even": True}),
    "precision_recall": ("PrecisionRecallDisplay", {"iso": "harmonic_mean", "levels": [0.5]}),
    "precision_recall_gain": ("PrecisionRecallGainDisplay", {}),
    "impact": ("ImpactDisplay", {"impacts": (5, -4, 0, 0), "unit": "EUR"}),
    "impact_threshold": ("ImpactDisplay", {"impacts": (5, -4, 0, 0), "against": "threshold"}),
    "outcome": ("ImpactDisplay", {"impacts": (5, -4, 0, 0), "kind": "outcome", "ratio": [1, 2]}),
    "decision_curve": ("DecisionCurveDisplay", {"prevalence": 0.3}),
    "cost_curve": ("CostCurveDisplay", {}),
    "brier_curve": ("CostCurveDisplay", {"kind": "brier"}),
    "dominance": ("DominanceDisplay", {}),
    "dominance_fpr": ("DominanceDisplay", {"axis": "fpr"}),
} | {f"chart_{x}": ("PowersChartDisplay", {"kind": x, "hull": True}) for x in CHARTS}


def drawn(display: Any) -> Iterator[str]:
    """The texts of the axes, their limits, and each artist with a summary of its points."""
    display.figure_.canvas.draw()
    ax = display.ax_
    yield f"{ax.get_title()} | {ax.get_xlabel()} | {ax.get_ylabel()}"
    yield f"{_short(ax.get_xlim())} {_short(ax.get_ylim())} {ax.get_aspect()}"
    yield from (f"second axis: {x.get_xlabel()}" for x in ax.child_axes)
    yield f"ticks: {[x.get_text() for x in ax.get_yticklabels()]}"
    for line in ax.lines:
        x, y = line.get_data()
        look = (line.get_color(), line.get_linestyle(), line.get_marker(), line.get_linewidth())
        yield f"line {line.get_label()} {look} {len(x)}: {_short(x)} {_short(y)}"
    for each in ax.collections:
        points = np.concatenate([x.vertices for x in each.get_paths()])
        colours = [to_hex(x) for x in each.get_facecolor()]
        yield f"area {each.get_label()} {colours} {len(points)}: {_short(points.ravel())}"
    for bar in ax.patches:
        box = [bar.get_x(), bar.get_width(), bar.get_height()]
        yield f"bar {to_hex(bar.get_facecolor())} {bar.get_hatch()} {_short(box)}"
    yield from (f"text {x.get_text()} {_short(x.get_position())}" for x in ax.texts)
    legend = ax.get_legend()
    yield f"legend: {[x.get_text() for x in legend.get_texts()] if legend else None}"
    made = {key: len(x) for key, x in vars(display).items() if key.endswith("s_")}
    yield f"kept: {made}"


def _short(points: Any) -> str:
    """The first and the last number, and the sum of all that are finite."""
    x = np.asarray(points, dtype=np.float64)
    if not x.size:
        return "[]"
    return f"[{x[0]:.6g} … {x[-1]:.6g}, sum {x[np.isfinite(x)].sum():.6g}]"


@pytest.mark.parametrize("name", CALLS)
def test_displays(name: str) -> None:
    display, options = CALLS[name]
    made = getattr(plots, display).from_predictions(Y, MODELS, ax=Figure().subplots(), **options)
    agrees(f"plots/{name}", "\n".join(drawn(made)))


def test_other_ways_in() -> None:
    """Gains, bands, an array of models, and two displays on the same axes."""
    rankings = {key: qk.rank(Y, x) for key, x in MODELS.items()}
    ax = Figure().subplots()
    plots.RocDisplay.from_ranking(rankings["a"], name="first", ax=ax)
    both = plots.RocDisplay.from_ranking(rankings["b_$"], name="second", ax=ax)
    found = qk.inference.curve_band("hit_rate", Y, MODELS["a"], n_resamples=20, random_state=0)
    made = {
        "same axes": both,
        "gains": plots.ImpactDisplay.from_gains(MODELS, GAIN, percent=True, ax=Figure().subplots()),
        "array": plots.LiftDisplay.from_predictions(
            Y, np.stack([*MODELS.values()]), name=["x", "y"], ax=Figure().subplots()
        ),
        "band": plots.HitRateDisplay.from_ranking(
            rankings["a"], band=found, ax=Figure().subplots()
        ),
    }
    agrees("plots/ways", "\n".join("\n".join([f"## {k}", *drawn(x)]) for k, x in made.items()))
