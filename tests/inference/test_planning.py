"""How many examples a test needs: against definitions, and against the tests themselves."""

from __future__ import annotations

import math
import warnings
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from backends import MODES, Mode, parameters

from quotakernels import hit_rate, roc_auc
from quotakernels.inference import compare_selections, delong_test, sample_size

CURVES: dict[str, Any] = {"auc": 0.8, "prevalence": 0.1, "correlation": 0.6}
NORMAL = NormalDist()


def drawn(rng: np.random.Generator, count: int, areas: tuple[float, float]) -> Any:
    """Labels and the scores of two models, as they are assumed."""
    y, signal = rng.random(count) < 0.1, math.sqrt(0.6) * rng.normal(size=count)
    shifts = (math.sqrt(2) * NORMAL.inv_cdf(x) * y for x in areas)
    return y, np.stack([x + signal + math.sqrt(0.4) * rng.normal(size=count) for x in shifts])


Y, PAIR = drawn(np.random.default_rng(4), 4000, (0.85, 0.8))


def test_a_pilot_sample():
    """By the standard errors of the tests; of some rows, a quota being its share of them."""
    some = np.arange(4000) % 4 > 0
    found = sample_size(roc_auc, Y, PAIR, difference=-0.02, where=some)
    error = delong_test(Y, PAIR, where=some).standard_error
    widths = NORMAL.inv_cdf(0.975) + NORMAL.inv_cdf(0.8)
    assert found.examples == math.ceil((widths * error / 0.02) ** 2 * 3000)
    assert found.positives == math.ceil(found.examples * Y[some].mean())
    assert found.standard_error == pytest.approx(0.02 / widths, rel=1e-3)
    assert found[3:] == pytest.approx(roc_auc(Y[some], PAIR[:, some]))
    rates = sample_size("hit_rate", Y, PAIR, difference=0.05, quota=150, where=some)
    apart = compare_selections(Y, PAIR, quota=150, where=some)
    assert rates.standard_error * math.sqrt(rates.examples / 3000) == pytest.approx(
        (apart.upper - apart.lower) / 2 / NORMAL.inv_cdf(0.975), rel=0.02
    )
    again = sample_size(hit_rate, Y[some], PAIR[:, some], difference=0.05, fraction=0.05)
    assert again == pytest.approx(rates)


def test_a_small_pilot_has_no_p_value_to_warn_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sample_size("roc_auc", Y[:60], PAIR[:, :60], difference=0.02)


def test_one_sided_tests_and_margins():
    two_sided = sample_size("roc_auc", difference=0.02, **CURVES, confidence_level=0.9)
    given: dict[str, Any] = {"alternative": "greater", **CURVES}
    assert sample_size("roc_auc", difference=0.02, **given) == two_sided
    wider = sample_size("roc_auc", difference=0.02, margin=0.02, **given).examples
    assert wider == pytest.approx(two_sided.examples / 4, abs=1)


@pytest.mark.parametrize(
    ("measure", "test", "at"),
    [("roc_auc", delong_test, {}), ("hit_rate", compare_selections, {"fraction": 0.05})],
)
def test_assumed_curves_have_the_power_that_was_asked_for(measure: Any, test: Any, at: Any):
    """And are what a large pilot sample finds."""
    rng, areas, runs = np.random.default_rng(1), (0.86, 0.8), 200
    pilot = drawn(rng, 200_000, areas)
    apart = float(-np.diff({"roc_auc": roc_auc, "hit_rate": hit_rate}[measure](*pilot, **at))[0])
    assumed = sample_size(measure, difference=apart, **CURVES, **at)
    assert sample_size(measure, *pilot, difference=apart, **at) == pytest.approx(assumed, rel=0.05)
    samples = (drawn(rng, int(assumed.examples), areas) for _ in range(runs))
    found = [test(*each, **at).p_value <= 0.05 for each in samples]
    assert abs(np.mean(found) - 0.8) <= 0.04 + 2 * math.sqrt(0.16 / runs)


def test_a_pilot_sample_that_tells_nothing():
    for labels, pair in ((Y, PAIR[[0, 0]]), (Y & False, PAIR)):
        for measure, at in (("roc_auc", {}), ("hit_rate", {"quota": 150})):
            assert np.isnan(sample_size(measure, labels, pair, difference=0.1, **at)[:3]).all()


@pytest.mark.parametrize("mode", parameters([m for m in MODES if m.name in ("strict", "torch")]))
def test_pilot_samples_of_every_library(mode: Mode):
    for measure, at in (("roc_auc", {}), ("hit_rate", {"quota": 150})):
        given = {"difference": 0.02, **at}
        found = sample_size(measure, mode.array(Y), mode.array(PAIR), **given)
        assert found == pytest.approx(sample_size(measure, Y, PAIR, **given), rel=1e-6)
