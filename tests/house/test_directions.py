"""Whether more of a measure is better, and who reads that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exact.counterparts import DECISIONS
from public_names import MEASURES

import quotakernels as qk

Y = np.asarray([1, 0, 1, 1, 0, 0, 1, 0, 0, 0])
GOOD = np.asarray([9, 3, 8, 7, 6, 5, 4, 2, 1, 0])
BAD = np.asarray([4, 8, 6, 2, 7, 1, 3, 9, 5, 0])
OWN = {
    "quota": 4,
    "cost_fp": 2,
    "cost_fn": 3,
    "impacts": (5, -4, -1, 0),
    "kind": "roc",
    **dict.fromkeys(("fpr", "tpr", "recall", "precision"), 0.5),
    "gain": np.where(Y, 5.0, -4.0),
}
COST = np.full(10, 2.0)
TREATMENT = np.asarray([1, 0, 1, 1, 0, 0, 0, 1, 1, 0])
SPECIAL: dict[str, dict[str, Any]] = {
    "success": {"quota": 1},
    "ndcg": {"gain": None},
    "selection_by_group": {"groups": Y % 2},
    "budget_curve": {"cost": COST},
    "cost_at_quota": {"cost": COST},
    "gain_per_cost": {"cost": COST},
    "positives_per_cost": {"cost": COST},
    **{key: {"treatment": TREATMENT} for key in qk.uplift.__all__},
    **{key: {"threshold_probability": 0.25} for key in DECISIONS},
    "entities": {"groups": Y % 2},
    "recall_at": {"precision": 0.76, "sample_weight": np.where(BAD > 6, 0.1, 1.0)},
}
"""What these need besides, or instead."""


def value(measure: Any, scores: Any) -> Any:
    """The measure, with whatever it needs; of an impact the first of three."""
    defaults = {name: x.default for name, x in measure.__signature__.parameters.items()}
    own = {name: x for name, x in OWN.items() if not isinstance(defaults.get(name, ""), str)}
    found = measure(Y, scores, **own | SPECIAL.get(measure.__name__, {}))
    if headline := getattr(measure, "headline", ""):
        return getattr(found, headline)
    return found[0] if isinstance(found, (qk.results.Impact, qk.results.OutcomeImpact)) else found


@pytest.mark.parametrize("name", MEASURES)
def test_the_better_model_has_the_better_value(name: str):
    measure = MEASURES[name]
    good, bad = value(measure, GOOD), value(measure, BAD)
    better = measure.greater_is_better
    if isinstance(good, tuple):
        assert better is None, "a record has a direction only if it has a headline"
    elif better is not None:
        said = "greater_is_better is wrong, or the measure needs arguments of its own in SPECIAL"
        assert good > bad if better else good < bad, said


def test_the_page_of_measures_names_those_without_a_direction():
    page = (Path(__file__).parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| `None`, (.+) \|$", page, re.MULTILINE)
    numbers = {name for name, x in MEASURES.items() if x.is_array and x.greater_is_better is None}
    said = "that row has the numbers of which neither more nor less is better, and says why"
    assert set(re.findall(r"`(\w+)`", row)) == numbers, said
