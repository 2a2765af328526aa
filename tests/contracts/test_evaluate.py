"""What `evaluate` returns and prints: texts, tables, frames and records of a set of calls."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from command import by_model

import quotakernels as qk
from contracts.snapshots import agrees

pytestmark = pytest.mark.filterwarnings("ignore")
N = 240
RNG = np.random.default_rng(11)
Y = (RNG.random(N) < 0.3).astype(np.int64)
MODELS = {
    "good": (Y + RNG.normal(0, 0.8, N)).round(3),
    "tied": (Y + RNG.normal(0, 1.2, N)).round(1),
    "poor": RNG.normal(0, 1, N).round(3),
}
TWO = {name: MODELS[name] for name in ("good", "tied")}
ONE = {"good": MODELS["good"]}
GAIN = np.where(Y == 1, 7.5, -2.25) + np.arange(N) % 7 / 4
COST = 1 + np.arange(N) % 5 / 2
WEIGHT = 0.5 + np.arange(N) % 3
REGION = np.array(["north", "east", "south", "west"])[np.arange(N) % 4]
MANY = np.arange(N) % 32
TREATED = RNG.integers(0, 2, N)
HALF = np.arange(N) % 2 == 0
SURE: dict[str, Any] = {"confidence_level": 0.9, "compare": True, "n_resamples": 40}
IMPACTS = (5.0, -2.0, -1.0, 0.0)

CALLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "one_model": (ONE, {"quota": 30}),
    "two_models": (TWO, {"quota": [30, 5], "fraction": 0.07}),
    "no_quota": (MODELS, {}),
    "deciles": (ONE, {"quota": 30, "deciles": True}),
    "no_quota_sure": (TWO, SURE),
    "compared": (MODELS, {"quota": 30, "positives": "buyers", **SURE}),
    "one_sure": (ONE, {"quota": 30, "confidence_level": 0.9, "n_resamples": 40}),
    "no_places": (TWO, {"quota": 0}),
    "all_places": (TWO, {"fraction": 1.0}),
    "impacts": (TWO, {"quota": 30, "impacts": IMPACTS}),
    "impacts_sure": (TWO, {"quota": 30, "impacts": IMPACTS, "currency": "EUR", **SURE}),
    "ratio": (TWO, {"quota": 30, "impacts": IMPACTS, "ratio": 2.5}),
    "no_best_cut": (TWO, {"impacts": (-1, -1, 0, 0)}),
    "gain": (TWO, {"quota": 30, "gain": GAIN, "place_cost": 1.5, "positives": "buyers"}),
    "gain_sure": (MODELS, {"quota": [30, 90], "gain": GAIN, **SURE}),
    "gain_without_loss": (TWO, {"quota": 30, "gain": np.abs(GAIN)}),
    "gain_weighted": (TWO, {"quota": 30, "gain": GAIN, "sample_weight": WEIGHT, **SURE}),
    "tuned": (TWO, {"quota": 30, "gain": GAIN, "tune": HALF, "where": ~HALF, **SURE}),
    "budget": (TWO, {"budget": [20, 50], "cost": COST}),
    "budget_sure": (TWO, {"budget": 40, "cost": COST, **SURE}),
    "budget_gain": (TWO, {"budget": 40, "cost": COST, "gain": GAIN, "currency": "EUR"}),
    "weighted": (TWO, {"quota": 30.5, "sample_weight": WEIGHT}),
    "weighted_sure": (TWO, {"quota": 30, "sample_weight": WEIGHT, **SURE}),
    "per": (TWO, {"quota": 10, "per": REGION}),
    "per_sure": (TWO, {"fraction": 0.1, "per": MANY, **SURE}),
    "per_budget": (TWO, {"budget": 12, "cost": COST, "per": REGION, **SURE}),
    "by": (TWO, {"quota": 40, "by": REGION}),
    "by_sure": (TWO, {"quota": 40, "by": MANY, "gain": GAIN, **SURE}),
    "by_no_quota": (ONE, {"by": REGION, "confidence_level": 0.9, "n_resamples": 40}),
    "uplift": (TWO, {"quota": 60, "treatment": TREATED}),
    "uplift_sure": (MODELS, {"quota": 60, "treatment": TREATED, "positives": "buyers", **SURE}),
    "uplift_of_one_arm": (TWO, {"quota": 9, "treatment": np.ones(N)}),
    "uplift_of_chance": (TWO, {"quota": 60, "treatment": 1 - Y, "positives": "buyers", **SURE}),
    "nobody_sure": (TWO, {"impacts": (-1, -1, 0, 0), **SURE}),
    "tuned_full": (TWO, {"quota": 3, "impacts": IMPACTS, "tune": HALF, "where": ~HALF}),
    "tuned_one": (TWO, {"quota": 1, "impacts": IMPACTS, "tune": HALF, "where": ~HALF}),
    "budget_nothing": (TWO, {"budget": 0, "cost": COST}),
    "budget_free": (TWO, {"budget": 0, "cost": 0 * COST, "gain": np.abs(GAIN)}),
    "budget_all": (TWO, {"budget": float(COST.sum()), "cost": COST}),
    "per_few_sure": (TWO, {"quota": 10, "per": REGION, **SURE}),
    "per_one_sure": (ONE, {"quota": 10, "per": REGION, "confidence_level": 0.9}),
    "near_one": ({"a": Y + RNG.random(N) * 1.02, **ONE}, {"quota": 30, **SURE}),
    "turned": ({"turned": -MODELS["good"], "same": np.zeros(N)}, {"quota": 30}),
    "one_row": (TWO, {"fraction": 0.5, "where": np.arange(N) == int(np.argmax(Y))}),
    "three_rows": (TWO, {"fraction": 0.34, "where": np.arange(N) < 3, "positives": "buyers"}),
    "all_positive": (TWO, {"quota": 10, "where": Y == 1}),
    "no_positive": (TWO, {"quota": 10, "where": Y == 0}),
}


def told(found: qk.results.Evaluation) -> str:
    """All that an evaluation says: words, tables, the frame, and the record part by part."""
    said = [repr(found), found.recommendation, "\n".join(found.notes)]
    tables = ["\n".join([*x.lines(12), *x.notes]) for x in found.tables]
    frame = [" | ".join(map(str, row)) for row in columns(found)]
    record = by_model(found.to_dict())
    models = [json.dumps(x) for x in record.pop("models")]
    parts = [f"{key}: {json.dumps(x)}" for key, x in record.items()]
    return "\n\n".join([*said, *tables, "\n".join(frame), "\n".join([*parts, *models])])


def columns(found: qk.results.Evaluation) -> Iterator[tuple[Any, ...]]:
    """The frame, row by row, of many the first and the last ones."""
    frame = found.to_frame("pandas")
    yield tuple(frame.columns)
    rows = list(frame.itertuples(index=False, name=None))
    yield from rows if len(rows) < 40 else (*rows[:8], *rows[-8:])
    yield ("rows", len(rows), "sum of values", float(frame["value"].sum()))


@pytest.mark.parametrize("name", CALLS)
def test_evaluations(name: str) -> None:
    pytest.importorskip("pandas")
    models, options = CALLS[name]
    found = qk.evaluate(Y, models, **options)
    html = sum(len(x._repr_html_()) for x in found.tables), len(found._repr_html_())
    agrees(f"evaluate/{name}", f"{told(found)}\n\nHTML {html}")


@pytest.mark.parametrize("name", ["plain", "gain", "cost"])
def test_evaluations_of_rankings(name: str) -> None:
    pytest.importorskip("pandas")
    beside = {"plain": {}, "gain": {"gain": GAIN}, "cost": {"cost": COST}}[name]
    quota: dict[str, Any] = {"budget": 40} if name == "cost" else {"quota": 30}
    rankings = {key: qk.rank(Y, x, **beside) for key, x in TWO.items()}
    agrees(f"evaluate/rankings_{name}", told(qk.evaluate(rankings, **quota)))
