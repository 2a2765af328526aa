"""What is drawn is what the measures say."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from expected import compact
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import quotakernels as qk
from plots.conftest import LABELS, SCORES, TIED, scored
from quotakernels import plots

N, P = len(LABELS), int(LABELS.sum())
IMPACTS = (4, -2, -1, 0)
KINDS = ["pn", "roc", "boc", "boc_dual", "pr", "pr_reciprocal", "pr_log", "lift", "bift"]
KINDS += ["bprd", "bird", "bird_informedness", "kappa", "kappa_bias", "scott", "scott_bias"]


def vertices(line: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)


def passes_through(line: Any, x: np.ndarray, y: np.ndarray) -> bool:
    """Whether each of the points is a vertex of the line, bit for bit."""
    drawn = set(zip(*(v.tolist() for v in vertices(line)), strict=True))
    points = [(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True) if a == a and b == b]
    return len(points) > 3 and drawn.issuperset(points)


@pytest.mark.parametrize("model", SCORES)
def test_quota_curves_are_those_of_the_measures(model: str, ax: Any):
    ranking = qk.rank(LABELS, SCORES[model])
    cases = [
        (plots.HitRateDisplay, qk.hit_rate_curve, qk.hit_rate),
        (plots.LiftDisplay, qk.lift_curve, qk.lift),
        (plots.QrecallDisplay, qk.qrecall_curve, qk.qrecall),
    ]
    for display, curve, measure in cases:
        (line,) = display.from_ranking(ranking, ax=ax).lines_
        found = curve(ranking)
        assert passes_through(line, found.quota.astype(float), found.value)
        x, y = vertices(line)
        assert x[0] == 0
        assert np.isfinite(y).all()
        between = (x > 0) & (x <= N)
        assert np.allclose(y[between], measure(ranking, quota=x[between]), rtol=1e-12)
        if display is not plots.QrecallDisplay:
            assert np.diff(x).max() <= N / 200


@pytest.mark.parametrize("curve", ["uplift", "qini"])
def test_uplift_curves_are_those_of_the_measures(curve: Any, ax: Any):
    treatment = np.arange(N) % 3 < 2
    given = {"treatment": treatment, "curve": curve, "optimal": True}
    display = plots.UpliftDisplay.from_predictions(LABELS, SCORES, ax=ax, **given)
    measure = {"uplift": qk.uplift.uplift_curve, "qini": qk.uplift.qini_curve}[curve]
    for line, scores in zip(display.lines_, SCORES.values(), strict=True):
        found = measure(LABELS, scores, treatment=treatment)
        assert passes_through(line, found.quota.astype(float), found.value)
    chance, best = (x for x in ax.lines if x.get_label() in ("random", "optimal"))
    assert chance.get_ydata()[-1] == best.get_ydata()[-1] == found.value[-1]
    x, y = vertices(best)
    areas = [np.trapezoid(y, x), *(np.trapezoid(x.value, x.quota) for x in (found,))]
    perfect = qk.uplift.auuc(LABELS, scores, treatment=treatment, curve=curve, normalize="perfect")
    half = N * found.value[-1] / 2
    assert perfect == pytest.approx((areas[1] - half) / (areas[0] - half))


@pytest.mark.parametrize("kind", KINDS)
def test_charts_are_those_of_the_measures(kind: Any, ax: Any):
    ranking = qk.rank(LABELS, SCORES["tied"])
    display = plots.PowersChartDisplay.from_ranking(ranking, kind=kind, hull=True, ax=ax)
    chart = qk.charts.powers_chart(ranking, kind=kind)
    finite = np.isfinite(chart.x) & np.isfinite(chart.y)
    assert passes_through(display.lines_[0], chart.x[finite], chart.y[finite])
    hull = qk.roc_hull(ranking)
    placed = qk.charts.chart_points(hull.fp, hull.tp, positives=P, negatives=N - P, kind=kind)
    finite = np.isfinite(placed.x) & np.isfinite(placed.y)
    x, y = vertices(display.hulls_[0])
    assert set(placed.x[finite]) <= set(x)
    assert set(placed.y[finite]) <= set(y)
    labels = ax.get_legend_handles_labels()[1]
    assert labels[-2:] == ["chance", "break-even"]


def test_precision_is_curved_between_cuts(ax: Any):
    """From (FP, TP) = (5, 5) to (30, 10) of 20 positives: DG Figure 6."""
    ranking = qk.Ranking.from_points(fp=[5, 30, 2000], tp=[5, 10, 20])
    x, y = vertices(plots.PrecisionRecallDisplay.from_ranking(ranking, ax=ax).lines_[0])
    inside = (x >= 0.25) & (x <= 0.5)
    expected = qk.interpolate_pr((5, 5), (30, 10), positives=20, recall=x[inside]).precision
    assert inside.sum() > 50
    assert np.allclose(y[inside], expected, rtol=1e-12)


def test_shaded_areas_are_s1_and_s2():
    for scores in SCORES.values():
        display = plots.QrecallDisplay.from_predictions(LABELS, scores)
        drawn = [
            sum(area_of(path.vertices) for path in shade.get_paths()) for shade in display.areas_
        ]
        s1, s2, _ = qk.pem_areas(LABELS, scores, method="area")
        assert drawn == pytest.approx([s1, s2], abs=1e-9)
        assert display.areas_[0].get_label() == f"S1 = {s1:.4g}, above chance"
    several = plots.QrecallDisplay.from_predictions(LABELS, SCORES)
    assert several.areas_ == []
    assert len(plots.QrecallDisplay.from_predictions(LABELS, SCORES, areas=True).areas_) == 6


def area_of(polygon: np.ndarray) -> float:
    """The shoelace formula."""
    x, y = polygon.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def test_references_are_chance_and_the_optimum(ax: Any):
    display = plots.QrecallDisplay.from_ranking(TIED, ax=ax)
    random, optimal = (line for line in ax.lines if line not in display.lines_)
    assert [list(v) for v in vertices(random)] == [[0, N], [0, 1]]
    assert [list(v) for v in vertices(optimal)] == [[0, P, N], [0, 1, 1]]


@pytest.mark.parametrize("kind", ["impact", "outcome"])
def test_best_boundary_is_marked(kind: Any, ax: Any):
    display = plots.ImpactDisplay.from_predictions(
        LABELS, SCORES, impacts=IMPACTS, kind=kind, ax=ax
    )
    for model, line, marker in zip(SCORES, display.lines_, display.markers_, strict=True):
        best = qk.best_boundary(LABELS, SCORES[model], impacts=IMPACTS, kind=kind)
        assert passes_through(line, best.curve.quota.astype(float), best.curve.value)
        assert [x.tolist() for x in vertices(marker)] == [[best.quota], [best.value]]
        said = f"{model}, B* at quota {best.quota:g}: {best.value:.4g}"
        assert line.get_label() == said.replace("-", "−")
    name = {"impact": "Impact per example", "outcome": "Outcome impact (classes of equal mass)"}
    assert ax.get_ylabel() == name[kind]
    assert ax.get_title() == name[kind].split(" per")[0].split(" (")[0] + " at every quota"


def test_each_class_ratio_has_a_curve(ax: Any):
    given = {"impacts": IMPACTS, "ratio": [0.5, 2.1]}
    display = plots.ImpactDisplay.from_predictions(LABELS, SCORES, **given, ax=ax)
    names = [(name, r) for name in SCORES for r in (0.5, 2.1)]
    assert list(display.best) == [f"{name}, ratio {r:g}" for name, r in names]
    for (name, r), line in zip(names, display.lines_, strict=True):
        found = qk.best_boundary(LABELS, SCORES[name], impacts=IMPACTS, ratio=r)
        drawn = display.best[f"{name}, ratio {r:g}"]
        assert drawn.value == found.value
        assert passes_through(line, found.curve.quota.astype(float), found.curve.value)
        one = plots.ImpactDisplay.from_predictions(LABELS, SCORES, impacts=IMPACTS, ratio=r)
        assert one.best[name].value == found.value


def test_cuts_that_are_as_good_are_marked_and_counted(ax: Any):
    cases = [
        ([1, 0, 1, 0], [3.0], " and 1 other"),
        ([1, 0, 1, 0, 1, 0], [3.0, 5.0], " and 2 others"),
    ]
    for labels, others, said in cases:
        scores = -np.arange(len(labels))
        display = plots.ImpactDisplay.from_predictions(labels, scores, impacts=(1, -1, 0, 0), ax=ax)
        (line,), (marker,) = display.lines_, display.markers_
        assert line.get_label() == f"B* at quota 1{said}: {1 / len(labels):.4g}"
        assert vertices(marker)[0].tolist() == [1]
        hollow = [x for x in ax.lines if x.get_markerfacecolor() == "white"][-1]
        assert vertices(hollow)[0].tolist() == others
    labels = np.arange(200) % 2 == 0
    many = plots.ImpactDisplay.from_predictions(
        labels, -np.arange(200), impacts=(1, -1, 0, 0), against="threshold", ax=Figure().subplots()
    )
    assert many.lines_[0].get_label() == "B* at quota 1 and 99 others: 0.005"
    assert not [x for x in many.ax_.lines if x.get_markerfacecolor() == "white"]


def test_impact_against_the_boundary_is_a_step_function(ax: Any):
    display = plots.ImpactDisplay.from_ranking(TIED, impacts=IMPACTS, against="threshold", ax=ax)
    best = qk.best_boundary(TIED, impacts=IMPACTS)
    x, y = vertices(display.lines_[0])
    assert display.lines_[0].get_drawstyle() == "steps-pre"
    thresholds, values = compact(best.curve.quota, best.curve.threshold, best.curve.value)
    assert (x == thresholds[:0:-1]).all()
    assert (y == values[:0:-1]).all()
    assert vertices(display.markers_[0])[0] == best.threshold


def test_gains_of_single_examples(ax: Any):
    gain = np.where(LABELS, 30.0, -20.0) + np.arange(N)
    display = plots.ImpactDisplay.from_gains(SCORES, gain, ax=ax, unit="€")
    best = qk.best_quota(None, SCORES["tied"], gain=gain)
    assert [x.tolist() for x in vertices(display.markers_[0])] == [[best.quota], [best.value]]
    assert ax.get_ylabel() == "Impact of all decisions (€)"
    batch = plots.ImpactDisplay.from_gains(np.stack([*SCORES.values()]), gain, name=[*SCORES])
    assert list(batch.best) == list(SCORES)
    assert batch.best["reversed"].value == display.best["reversed"].value


def test_bins_are_those_of_the_lift_table(ax: Any):
    display = plots.LiftTableDisplay.from_predictions(
        LABELS, SCORES, bins=5, cumulative=True, ax=ax
    )
    for name, bars, line in zip(SCORES, display.bars_, display.lines_, strict=True):
        table = qk.lift_table(LABELS, SCORES[name], bins=5)
        assert [bar.get_height() for bar in bars] == table.lift.tolist()
        assert (vertices(line)[0] == 100 * table.stop / N).all()
        assert (vertices(line)[1] == table.cumulative_lift).all()


def test_histograms_are_shares_of_the_classes(ax: Any):
    display = plots.ScoreDistributionDisplay.from_predictions(
        LABELS, SCORES, bins=7, quota=9, ax=ax
    )
    for k, scores in enumerate(SCORES.values()):
        edges = np.histogram_bin_edges(scores, 7)
        for label, steps in zip((1, 0), display.steps_[2 * k :], strict=False):
            mine = np.histogram(np.asarray(scores)[label == LABELS], edges)[0]
            found = steps.get_data()
            np.testing.assert_allclose(found.values, mine / (label == LABELS).sum())
            assert (found.edges == edges).all()
    cuts = {line.get_xdata()[0] for line in ax.get_children() if isinstance(line, Line2D)}
    assert cuts == {qk.quota_threshold(x, quota=9).threshold for x in SCORES.values()}
    with pytest.raises(TypeError, match="give one"):
        display.plot(quota=3, threshold=0.5)


@pytest.mark.full
@pytest.mark.parametrize("axis", ["quota", "fpr", "recall"])
def test_bars_of_dominance_are_the_regions(axis: Any, ax: Any):
    display = plots.DominanceDisplay.from_predictions(LABELS, SCORES, axis=axis, ax=ax)
    regions = qk.compare_curves({k: qk.rank(LABELS, v) for k, v in SCORES.items()}, axis=axis)
    whole = N if axis == "quota" else 1
    for model, (bars, share) in enumerate(zip(display.bars_, display.shares.values(), strict=True)):
        spans = [path.get_extents().intervalx for path in bars.get_paths()]
        lengths = (regions.stop - regions.start) * regions.best[:, model]
        assert sum(np.ptp(x) for x in spans) == pytest.approx(lengths.sum())
        assert share == pytest.approx(lengths.sum() / whole)
        for start, stop in spans:
            within = (regions.start < stop - 1e-9) & (regions.stop > start + 1e-9)
            assert regions.best[within, model].all()


def test_both_scales_of_the_quota_axis(ax: Any):
    display = plots.HitRateDisplay.from_ranking(TIED, ax=ax)
    again = plots.HitRateDisplay.from_ranking(TIED, ax=ax)
    assert ax is display.ax_ is again.ax_
    (second,) = ax.child_axes
    ax.get_figure().draw_without_rendering()
    assert ax.get_xlim() == (0, N)
    assert second.get_xlim() == pytest.approx((0, 100))
    assert (ax.get_xlabel(), second.get_xlabel()) == ("Quota (examples)", "Quota (% of examples)")
    percent = plots.HitRateDisplay.from_ranking(TIED, percent=True)
    assert percent.lines_[0].get_xdata()[-1] == 100
    assert percent.ax_.get_xlabel() == "Quota (% of examples)"


def test_rankings_of_other_sizes_need_per_cent():
    labels, scores = scored(40)
    sizes = {"all": TIED, "some": qk.rank(labels, scores["tied"])}
    display = plots.HitRateDisplay.from_ranking(sizes, percent=True)
    assert [line.get_xdata()[-1] for line in display.lines_] == [100, 100]
    assert display.ax_.child_axes == []


def test_logarithmic_axes(ax: Any):
    ax.set_xscale("log")
    x, _ = vertices(plots.HitRateDisplay.from_ranking(TIED, ax=ax).lines_[0])
    assert np.diff(np.log(x[x > 0])).max() < 0.05


def test_bands(ax: Any):
    options = {"n_resamples": 30, "random_state": 0, "fraction": [0.1, 0.5, 1.0]}
    band = qk.inference.curve_band("hit_rate", LABELS, np.stack([*SCORES.values()]), **options)
    display = plots.HitRateDisplay.from_predictions(LABELS, SCORES, band=band, ax=ax)
    drawn = [shade.get_paths()[0].vertices for shade in ax.collections]
    for model, polygon in enumerate(drawn):
        points = {(x, y) for x, y in polygon.tolist()}
        for at, low, high in zip(band.at, band.lower[model], band.upper[model], strict=True):
            assert {(at * N, low), (at * N, high)} <= points
    one = qk.inference.curve_band("roc", LABELS, SCORES["tied"], n_resamples=20, random_state=0)
    named = plots.RocDisplay.from_predictions(LABELS, SCORES, band={"tied": one})
    assert len(named.ax_.collections) == 1
    assert len(display.ax_.collections) == 3


def test_weights_are_masses(ax: Any):
    weight = np.linspace(0.5, 2, N)
    display = plots.HitRateDisplay.from_predictions(
        LABELS, SCORES["tied"], sample_weight=weight, where=np.arange(N) != 7, ax=ax
    )
    kept = weight.sum() - weight[7]
    assert display.lines_[0].get_xdata()[-1] == pytest.approx(kept)
    assert ax.get_xlabel() == "Quota (sample weight)"


def test_lines_of_equal_measure(ax: Any):
    display = plots.PowersChartDisplay.from_ranking(
        TIED, kind="bift", iso="informedness", levels=(0.1, 0.2), ax=ax
    )
    size = {"positives": P, "negatives": N - P, "kind": "bift"}
    for line, level in zip(ax.lines[-2:], (0.1, 0.2), strict=True):
        expected = qk.charts.iso_line(level, of="informedness", **size)
        assert passes_through(line, expected.x, expected.y)
    assert {text.get_text() for text in ax.texts} == {"0.1", "0.2"}
    assert display.lines_[0] is ax.lines[0]


def test_figures_are_made_only_where_none_is_given(ax: Any):
    plots.RocDisplay.from_ranking(TIED, ax=ax)
    assert plt.get_fignums() == []
    display = plots.RocDisplay.from_ranking(TIED)
    assert plt.get_fignums() == [display.figure_.number]


def test_options_reach_the_lines(ax: Any):
    ax.set_title("mine")
    display = plots.RocDisplay.from_ranking(TIED, ax=ax, lw=3, c="red", hull=False, legend=False)
    assert (display.lines_[0].get_linewidth(), display.lines_[0].get_color()) == (3, "red")
    assert display.hulls_ == []
    assert (ax.get_title(), ax.get_legend()) == ("mine", None)


@pytest.mark.full
def test_figures_of_the_documents_can_be_drawn():
    folder = Path(__file__).resolve().parents[2] / "docs" / "figures"
    made = runpy.run_path(str(folder / "plots.py"))
    figures, folder = made["FIGURES"], made["FOLDER"]
    assert {draw.__name__ for draw in figures} == {path.stem for path in folder.glob("*.svg")}
    for draw in figures:
        assert draw().axes


# displays that are drawn one after the other on the same axes look as one of all their models


RANKINGS = {name: qk.rank(LABELS, scores) for name, scores in SCORES.items()}
OTHER = {"few": qk.rank([1, 0, 0, 0, 0, 1] * 10, range(60))}


def one_by_one(display: Any, rankings: dict[str, Any], **own: Any) -> Any:
    ax = Figure().subplots()
    for name, ranking in rankings.items():
        made = display.from_ranking(ranking, name=name, ax=ax, **own)
    return made


def looks(ax: Any) -> list[Any]:
    """How the curves look, and where they lie, whatever the order in which they were drawn."""
    lines = [
        (x.get_color(), str(x.get_linestyle()), x.get_marker(), x.get_xydata().round(9).tolist())
        for x in ax.lines
    ]
    bars = [(x.get_facecolor(), x.get_hatch(), x.get_bbox().bounds) for x in ax.patches]
    return [sorted(map(repr, lines)), sorted(map(repr, bars))]


CASES = [
    (plots.HitRateDisplay, {"optimal": True}),
    (plots.LiftDisplay, {}),
    (plots.QrecallDisplay, {"areas": False}),
    (plots.LiftTableDisplay, {"cumulative": True}),
    (plots.RocDisplay, {}),
    (plots.PrecisionRecallDisplay, {}),
    (plots.PowersChartDisplay, {"kind": "bprd", "iso": "informedness", "levels": (0.1, 0.3)}),
    (plots.PowersChartDisplay, {"kind": "bift", "hull": True}),
    (plots.ImpactDisplay, {"impacts": (4, -2, -1, 0)}),
    (plots.CostCurveDisplay, {}),
    (plots.PrecisionRecallGainDisplay, {}),
    (plots.DecisionCurveDisplay, {"threshold_probability": [0.1, 0.3, 0.5]}),
]


@pytest.mark.parametrize(("display", "own"), CASES)
def test_one_by_one_is_as_all_at_once(display: Any, own: Any):
    several = one_by_one(display, RANKINGS, **own)
    at_once = display.from_ranking(RANKINGS, ax=Figure().subplots(), **own)
    assert looks(several.ax_) == looks(at_once.ax_)
    texts = [x.ax_.get_legend().get_texts() for x in (several, at_once)]
    labels = [[text.get_text() for text in each] for each in texts]
    assert labels[0] == labels[1]
    assert len(set(labels[0])) == len(labels[0])
    for axis in ("xlim", "ylim"):
        limits = [getattr(x.ax_, f"get_{axis}")() for x in (several, at_once)]
        assert limits[0] == pytest.approx(limits[1])


def test_only_the_first_model_is_shaded():
    ax = Figure().subplots()
    first, second = (
        plots.QrecallDisplay.from_ranking(x, ax=ax) for x in list(RANKINGS.values())[:2]
    )
    assert (len(first.areas_), len(second.areas_)) == (2, 0)


def test_references_of_other_examples_are_drawn_beside():
    rankings = {"one": RANKINGS["tied"], **OTHER}
    labels = one_by_one(plots.HitRateDisplay, rankings).ax_.get_legend_handles_labels()[1]
    assert labels[1:2] == ["random"]
    assert len(labels) == 3


def test_a_cleared_axes_begins_anew():
    ax = Figure().subplots()
    for _ in range(2):
        ax.clear()
        display = plots.RocDisplay.from_ranking(RANKINGS["tied"], ax=ax)
        assert display.lines_[0].get_color() == "#0072B2"
        assert display.hulls_[0].get_label().startswith("hull (area")


def test_bands_are_named_once():
    ax = Figure().subplots()
    for name, scores in SCORES.items():
        band = qk.inference.curve_band("roc", LABELS, scores, n_resamples=9, random_state=0)
        plots.RocDisplay.from_ranking(RANKINGS[name], name=name, band=band, ax=ax)
    assert len({tuple(x.get_facecolor()[0]) for x in ax.collections}) == len(SCORES)
    assert ax.get_legend_handles_labels()[1].count("confidence band") == 1
