"""Bands of curves and intervals of the best cut: what they are made of, and what they hold."""

from __future__ import annotations

from typing import Any

import exact as ex
import numpy as np
import pytest
from backends import MODES, Mode, parameters, random_state
from expected import as_floats
from hypothesis import given
from hypothesis import strategies as st
from resamples import counts_drawn

import quotakernels as qk

RNG = np.random.default_rng(7)
N = 60
Y = RNG.random(N) < 0.4
S = np.stack([RNG.normal(Y).round(1), RNG.integers(0, 4, N) / 2])
W = RNG.integers(0, 3, N) / 2
AT = [0.1, 0.35, 0.5, 1]
PLACES: dict[str, dict[str, Any]] = {
    "hit_rate": {"quota": [1, 7.5, N]},
    "qrecall": {"fraction": AT},
    "lift": {"fraction": AT},
    "roc": {"fpr": [0, *AT]},
}
MEASURES: dict[str, Any] = {
    "hit_rate": qk.hit_rate,
    "qrecall": qk.qrecall,
    "lift": qk.lift,
    "roc": lambda ranking, fpr: qk.points.tpr_at(ranking, fpr=fpr, interpolate=True).value,
}
main_modes = [m for m in MODES if m.name in ("numpy", "strictest-device1", "torch", "jax32-jit")]
DRAWN: dict[str, Any] = {"n_resamples": 200, "random_state": 5, "method": "percentile"}


def small(*data: Any, **options: Any) -> qk.results.CurveBand:
    found: qk.results.CurveBand = qk.inference.curve_band(
        *data, **{"n_resamples": 200, "random_state": 5, **options}
    )
    return found


# the height of the ROC curve


RATES = [0.0, 0.125, 0.25, 0.3125, 0.5, 0.75, 1.0]


@pytest.mark.full
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(1, 3)), max_size=9))
def test_the_roc_curve_at_a_rate(rows: list[tuple[int, bool, int]]):
    rows = [*rows, (1, True, 1), (2, False, 2)]
    scores, labels, weights = (list(x) for x in zip(*rows, strict=True))
    for own in ([1] * len(rows), weights):
        groups = ex.groups(list(map(int, labels)), scores, own)
        wanted = as_floats([ex.operating.tpr_at(groups, x, interpolate=True).value for x in RATES])
        data = {} if own is not weights else {"sample_weight": np.asarray(own) * 0.1}
        found = small("roc", labels, scores, fpr=RATES, n_resamples=1, **data)
        np.testing.assert_allclose(found.estimate, wanted, rtol=0, atol=1e-14)


def test_rates_that_are_none():
    for label in (0, 1):
        assert np.isnan(small("roc", [label] * 2, [0.2, 0.1], fpr=[0.5, 1]).estimate).all()


# bands


def together(
    found: qk.results.BootstrapResult, top: Any, bottom: float = 0
) -> tuple[np.ndarray, np.ndarray]:
    """The edges of the simultaneous band, resample by resample."""
    largest = []
    for curve in found.resamples.T:
        pairs = zip(curve, found.estimate, found.standard_error, strict=True)
        largest.append(max(abs(x - middle) / s for x, middle, s in pairs if s > 1e-12))
    half = np.quantile(largest, 0.95) * found.standard_error * (found.standard_error > 1e-12)
    low, high = np.maximum(found.estimate - half, bottom), np.minimum(found.estimate + half, top)
    return np.minimum(low, found.lower), np.maximum(high, found.upper)


def test_bands_of_impacts():
    """They are made of the resamples of the whole, and nothing ends them at 0."""
    given: dict[str, Any] = {"gain": np.where(Y, 1.0, -3), "quota": [7.5, 30, 45]}
    for labels in (Y, None):
        drawn = qk.bootstrap(qk.impact_at_quota, labels, S[0], **DRAWN, **given).whole
        pointwise = small(qk.impact_at_quota, labels, S[0], **given)
        for field in pointwise._fields[1:]:
            np.testing.assert_array_equal(getattr(pointwise, field), getattr(drawn, field))
        band = small("impact_at_quota", labels, S[0], simultaneous=True, **given)
        for x, z in zip((band.lower, band.upper), together(drawn, np.inf, -np.inf), strict=True):
            np.testing.assert_allclose(x, z, rtol=1e-12)
        assert band.upper[2] < 0 < band.upper[0]


@pytest.mark.parametrize("curve", PLACES)
def test_bands_are_made_of_the_resamples_of_the_measure(curve: str):
    at = PLACES[curve]
    (places,) = at.values()
    whole = qk.bootstrap(MEASURES[curve], Y, S[0], **DRAWN, **at)
    pointwise = small(curve, Y, S[0], **at)
    sure = np.asarray(places) != 1 if curve == "hit_rate" else np.asarray(places) != 0
    for field in pointwise._fields[1:]:
        pair = getattr(pointwise, field)[sure], getattr(whole, field)[sure]
        np.testing.assert_allclose(*pair, rtol=1e-13)
    np.testing.assert_array_equal(pointwise.at, places)
    band = small(curve, Y, S[0], simultaneous=True, **at)
    top = 1 / np.asarray(places) if curve == "lift" else 1
    low, high = together(whole, top)
    np.testing.assert_allclose(band.lower[sure], low[sure], rtol=1e-12)
    np.testing.assert_allclose(band.upper[sure], high[sure], rtol=1e-12)
    assert np.all(band.lower <= pointwise.lower)
    assert np.all(band.upper >= pointwise.upper)
    width, narrower = band.upper - band.lower, pointwise.upper - pointwise.lower
    assert np.sum(width - narrower) > 0.05


def test_curves_by_their_measures_and_on_the_usual_grid():
    for curve in (qk.qrecall, qk.qrecall_curve):
        np.testing.assert_array_equal(small(curve, Y, S[0])[1], small("qrecall", Y, S[0])[1])
    found = small(qk.roc_curve, Y, S[0], stratified=True)
    assert found.at.shape == found.estimate.shape == (20,)
    assert found.at[0] == 0.05
    assert found[1:4] == pytest.approx(np.asarray(small("roc", Y, S[0], stratified=True)[1:4]))


def test_bands_of_what_does_not_vary():
    """A perfect model, drawn by class: all resamples are the same."""
    data = np.arange(8) >= 4, np.arange(8)
    for simultaneous in (False, True):
        found = small("roc", *data, stratified=True, simultaneous=simultaneous)
        assert np.all(found.estimate == 1)
        assert np.all(found.upper == 1)
        assert found.lower == pytest.approx([0.025**0.25] * 19 + [1]), "four positives"
        assert np.all(found.standard_error == 0)
        found = small("hit_rate", *data, quota=[3, 8], simultaneous=simultaneous)
        assert found.lower[0] == pytest.approx(0.025 ** (1 / 3))
        none = small("qrecall", *data[:1], -data[1], quota=[3], simultaneous=simultaneous)
        assert none.upper == pytest.approx(1 - 0.025**0.25)
        pairs = small("roc", *data, fpr=[0.5], clusters=[0, 0, 1, 1, 2, 2, 3, 3])
        assert pairs.lower == pytest.approx(0.025**0.5), "two clusters with a positive"
    weights = [1, 1, 1, 1, 5, 1, 0, 1]
    for model in (data, (data[0], -data[1])):
        heavy = small("roc", *model, fpr=[0.5], sample_weight=weights)
        least = 0.025 ** (27 / 49)
        wanted = (least, 1) if model is data else (0, 1 - least)
        assert (heavy.lower, heavy.upper) == pytest.approx(wanted), "as 49/27 positives"
    tied = small("lift", Y, np.zeros(N), simultaneous=True)
    assert np.allclose([tied.lower, tied.upper], 1, atol=1e-12)


def test_hit_rates_of_weighted_or_clustered_rows_end_as_their_resamples_do():
    data, rows = (np.arange(40) >= 20, np.arange(40)), np.arange(40)
    assert small("hit_rate", *data, quota=[2]).lower == pytest.approx(0.025**0.5)
    for more in ({"sample_weight": 1 + rows % 3}, {"clusters": rows // 2}):
        assert small("hit_rate", *data, quota=[2], **more).lower == 1
    none = {"sample_weight": (rows < 20) * 1.0}
    assert np.isnan(small("roc", *data, fpr=[0.5], **none).lower).all()


def test_a_basic_band_ends_where_the_curve_must():
    scores = np.where(Y, 2.0, 0.0) + S[0] / 4
    for curve in ("qrecall", "lift"):
        given: dict[str, Any] = {"fraction": AT, "method": "basic"}
        plain = small(curve, Y, scores, **given)
        band = small(curve, Y, scores, simultaneous=True, **given)
        highest = 1 / np.asarray(AT) if curve == "lift" else np.ones(4)
        assert np.any(plain.upper > highest)
        assert np.all(band.lower >= 0)
        assert np.all(band.upper <= highest)


def test_bands_of_nothing_are_undefined():
    for simultaneous in (False, True):
        found = small("qrecall", np.zeros(5), np.arange(5), simultaneous=simultaneous)
        assert np.all(np.isnan(np.stack(found[1:5])))
        assert np.all(found.undefined == 200)
    single = small("qrecall", Y, S[0], fraction=[0.1], simultaneous=True, n_resamples=1)
    assert np.isnan([single.lower, single.upper, single.standard_error]).all()
    rare = small("qrecall", np.arange(8) == 3, np.arange(8), fraction=AT, simultaneous=True)
    assert 40 < rare.undefined[0] < 100
    assert np.all(np.isfinite(np.stack(rare[1:5])))


# the best cut

IMPACTS = (3, -1, 0, 0.5)
CHOICES: list[tuple[Any, dict[str, Any]]] = [
    (qk.best_boundary, {"impacts": IMPACTS}),
    (qk.best_cut, {"measure": qk.expected_cost, "cost_fp": 1, "cost_fn": 2}),
]


@pytest.mark.parametrize(("best", "own"), CHOICES)
@pytest.mark.parametrize("weights", [None, W])
def test_the_best_cut_of_each_resample(best: Any, own: dict[str, Any], weights: Any):
    """Of rows that are really repeated, and what its threshold brings on all examples."""
    given = {"sample_weight": weights, "random_state": 3}
    found = qk.inference.best_cut_interval(best, Y, S, n_resamples=30, **given, **own)
    more = np.empty((2, 30))
    for number, counts in enumerate(counts_drawn(Y, 30, weights)):
        rows = np.repeat(np.arange(N), counts)
        taken = None if weights is None else weights[rows]
        for model, scores in enumerate(S):
            data, measured = (Y[rows], scores[rows]), dict(own)
            if "measure" in own:
                data = (measured.pop("measure"), *data)
            cut = best(*data, sample_weight=taken, **measured)
            for field in ("value", "threshold", "quota"):
                part = getattr(found, field).resamples[model, number]
                np.testing.assert_allclose(part, getattr(cut, field), rtol=1e-12)
            chosen = scores >= cut.threshold if cut.threshold == cut.threshold else scores > 9
            table = qk.tables.confusion_table_from_predictions(Y, chosen, sample_weight=weights)
            if best is qk.best_boundary:
                brought = qk.tables.impact(table, impacts=IMPACTS).whole
            else:
                brought = qk.expected_cost(table, cost_fp=1, cost_fn=2)
            more[model, number] = cut.value - brought
    np.testing.assert_allclose(found.optimism, more.mean(axis=-1), rtol=1e-10)
    left = found.value.estimate[:, None] - more
    expected = found.expected
    np.testing.assert_allclose(expected.resamples, left, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(expected.estimate, left.mean(axis=-1), rtol=1e-9)
    ends = np.quantile(left, [0.025, 0.975], axis=-1)
    np.testing.assert_allclose([expected.lower, expected.upper], ends, rtol=1e-9)
    assert np.all(found.optimism * (1 if best is qk.best_boundary else -1) > 0)


@pytest.mark.parametrize("mode", parameters(main_modes))
@pytest.mark.long_program
def test_every_library_gives_bands_and_optima(mode: Mode):
    """Of two models; they draw differently, so they agree as far as 300 resamples do."""

    def found_by(y: Any, s: Any) -> Any:
        draw = {"n_resamples": 300, "random_state": random_state(mode)}
        band = qk.inference.curve_band("roc", y, s, fpr=[0.2, 0.5, 1], simultaneous=True, **draw)
        return band, qk.inference.best_cut_interval(qk.best_boundary, y, s, impacts=IMPACTS, **draw)

    band, best = mode.run(found_by, Y, S)
    wanted = small("roc", Y, S, fpr=[0.2, 0.5, 1], simultaneous=True)
    for name in ("at", "estimate"):
        assert np.allclose(getattr(band, name), getattr(wanted, name), atol=1e-6)
    assert np.allclose(band.lower, wanted.lower, atol=0.12)
    assert np.allclose(band.upper, wanted.upper, atol=0.12)
    assert np.all(band.lower[:, -1] == 1)
    wanted = qk.inference.best_cut_interval(qk.best_boundary, Y, S, impacts=IMPACTS, random_state=1)
    for name in ("value", "threshold", "quota"):
        np.testing.assert_allclose(getattr(best, name)[0], getattr(wanted, name)[0], rtol=1e-6)
    assert np.allclose(best.value.lower, wanted.value.lower, atol=0.1)
    assert np.allclose(best.optimism, wanted.optimism, atol=0.02)


def test_where_it_is_best_to_select_nobody():
    found = qk.inference.best_cut_interval(
        qk.best_boundary, Y, S[0], impacts=(-1, -1, 0, 0), n_resamples=20
    )
    assert found.quota[:5] == (0, 0, 0, 0, 0)
    assert found.value.estimate == found.optimism == 0
    assert np.isnan(found.threshold.estimate)
    assert found.threshold.undefined == 20


def test_what_nobody_brings_is_certain_unless_the_labels_decide_it():
    labels, scores = np.arange(7) % 2, np.asarray([6, 1, 5, 2, 4, 3, 0])
    drawn: dict[str, Any] = {"n_resamples": 100, "random_state": 1}
    for impacts, value in (((2, -9, 0, 0), 0), ((2, -9, 0.3, 0.3), 0.3), ((0.7, 0.7, -9, 0), 0.7)):
        found = qk.inference.best_cut_interval(
            qk.best_boundary, labels, scores, impacts=impacts, **drawn
        )
        assert found.quota.estimate == (7 if value == 0.7 else 0)
        assert value == 0.7 or found.value.upper > value, "resamples have better cuts"
        assert found.expected[:3] == pytest.approx((value,) * 3, abs=1e-12)
        assert found.optimism == 0
    found = qk.inference.best_cut_interval(
        qk.best_boundary, labels, scores, impacts=(2, -9, -1, 0), **drawn
    )
    assert found.quota.estimate == 0
    assert found.expected.lower < found.expected.upper


def test_keywords_that_are_none_are_absent():
    y, s = [1, 0, 1, 0, 0, 1], [6, 5, 4, 3, 2, 1]
    given = {"fpr": [0.5], "n_resamples": 20, "random_state": 0}
    usual = qk.inference.curve_band(qk.roc_curve, y, s, **given)
    found = qk.inference.curve_band(qk.roc_curve, y, s, groups=None, cost=None, **given)
    assert found.lower == usual.lower
