"""The ways in: models and libraries; and what is refused."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import quotakernels as qk
from plots.conftest import LABELS, SCORES, TIED
from quotakernels import plots

STACKED = np.stack([*SCORES.values()])
HIT = plots.HitRateDisplay.from_predictions


def drawn(display: Any) -> list[np.ndarray]:
    return [np.asarray(line.get_ydata()) for line in display.lines_]


def test_models_are_named_one_way_or_another(ax: Any):
    by_name = HIT(LABELS, SCORES, ax=ax)
    assert list(by_name.rankings) == list(SCORES)
    stacked = HIT(LABELS, STACKED, name=list(SCORES), ax=ax)
    rankings = {name: qk.rank(LABELS, x) for name, x in SCORES.items()}
    ranked = plots.HitRateDisplay.from_ranking(rankings, ax=ax)
    batch = plots.HitRateDisplay.from_ranking(qk.rank(LABELS, STACKED), ax=ax)
    assert list(batch.rankings) == ["model 0", "model 1", "model 2"]
    for display in (stacked, ranked, batch):
        for one, other in zip(drawn(by_name), drawn(display), strict=True):
            assert np.array_equal(one, other)
    labels = [line.get_label() for line in by_name.lines_]
    assert labels[0] == f"tied (AHR = {qk.average_hit_rate(TIED):.3f})"


def test_hulls_are_of_few_models(ax: Any):
    four = dict.fromkeys("abcd", TIED)
    assert len(plots.PrecisionRecallDisplay(four).plot(ax).hulls_) == 0
    del four["d"]
    assert len(plots.PrecisionRecallDisplay(four).plot(ax).hulls_) == 3


@pytest.mark.full
@pytest.mark.parametrize("library", ["jax.numpy", "torch"])
def test_arrays_of_other_libraries(library: str, ax: Any):
    xp = pytest.importorskip(library)
    host = STACKED.astype("float32")
    ranking = qk.rank(xp.asarray(LABELS), xp.asarray(host))
    assert not isinstance(ranking.counts, np.ndarray)
    expected = qk.rank(LABELS, host)
    for display, own in (
        (plots.HitRateDisplay, {}),
        (plots.PrecisionRecallDisplay, {}),
        (plots.ImpactDisplay, {"impacts": (4, -2, -1, 0)}),
    ):
        lines = (drawn(display.from_ranking(x, ax=ax, **own)) for x in (ranking, expected))
        for one, other in zip(*lines, strict=True):
            assert np.array_equal(one, other)


def test_small_floats_and_gains_of_other_libraries(ax: Any):
    torch = pytest.importorskip("torch")
    scores = torch.as_tensor(STACKED, dtype=torch.bfloat16)
    options = {"impacts": (4, -2, -1, 0), "against": "threshold", "ax": ax}
    display = plots.ImpactDisplay.from_predictions(torch.as_tensor(LABELS), scores, **options)
    assert set(display.lines_[1].get_xdata()) == set(scores[1].tolist())
    gains = plots.ImpactDisplay.from_gains(scores, torch.as_tensor(LABELS * 3.0 - 1), ax=ax)
    assert isinstance(gains.best["model 1"].value, np.ndarray)


def test_thirty_five_lines_differ_and_stand_out(ax: Any):
    many = np.random.default_rng(2).normal(size=(35, len(LABELS)))
    lines = HIT(LABELS, many, ax=ax).lines_
    looks = {(x.get_color(), x.get_linestyle(), str(x._dash_pattern)) for x in lines}
    assert len(looks) == 35
    for colour in {x.get_color() for x in lines}:
        assert 1.05 / (luminance(colour) + 0.05) > 3  # the contrast that WCAG asks of graphics


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_nothing_defined_is_an_empty_plot(ax: Any):
    nothing = qk.rank([1, 0], [0.5, 0.4], where=[False, False])
    for display in (
        plots.HitRateDisplay,
        plots.QrecallDisplay,
        plots.RocDisplay,
        plots.PrecisionRecallDisplay,
    ):
        for ranking in (nothing, qk.rank([0, 0], [0.5, 0.4])):
            display.from_ranking(ranking, ax=ax).figure_.draw_without_rendering()


def test_columns_of_a_data_frame_are_models(ax: Any):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": STACKED[0], "b": STACKED[1]})
    display = HIT(LABELS, frame, ax=ax)
    assert list(display.rankings) == ["a", "b"]
    assert qk.roc_auc(display.rankings["a"]) == qk.roc_auc(LABELS, STACKED[0])


def test_names_are_shown_as_they_are():
    names = ["_hidden", "$a$ of b$"]
    scores = dict(zip(names, STACKED, strict=False))
    for display, own in (
        (plots.HitRateDisplay, {}),
        (plots.LiftTableDisplay, {}),
        (plots.ImpactDisplay, {"impacts": (4, -2, -1, 0), "unit": "US$ or A$"}),
    ):
        ax = display.from_predictions(LABELS, scores, ax=Figure().subplots(), **own).ax_
        texts = [ax.yaxis.label, *ax.get_legend().get_texts()]
        assert {seen(x).strip().split(" (")[0].split(",")[0] for x in texts[1:]} >= set(names)
        assert own == {} or seen(texts[0]).endswith("(US$ or A$)")
    rows = plots.DominanceDisplay.from_predictions(LABELS, scores).ax_.get_yticklabels()
    assert [seen(x).strip().rsplit(", ", 1)[0] for x in rows] == names


def seen(text: Any) -> str:
    """What is drawn of a text, which must not be mathematics."""
    drawn, mathematics = text._preprocess_math(text.get_text())
    assert mathematics is False
    return drawn


def test_weights_of_any_size_are_drawn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = plots.LiftTableDisplay.from_predictions(
            LABELS, SCORES, sample_weight=np.full(len(LABELS), 1e300)
        )
        display.figure_.draw_without_rendering()


def test_traced_rankings_are_refused():
    jax = pytest.importorskip("jax")
    with pytest.raises(TypeError, match="traced, or holds shapes only"):
        jax.eval_shape(
            lambda x: plots.HitRateDisplay.from_predictions(LABELS, x), SCORES["distinct"]
        )


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch):
    for name in [x for x in sys.modules if x.startswith("quotakernels.plots")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delattr(qk, "plots")
    with pytest.raises(ImportError, match=r"pip install 'quotakernels\[plots\]'"):
        import quotakernels.plots  # noqa: F401
