"""`evaluate --gain` and `--impact`: the best cut, and what it and a quota bring."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import CREDIT, run, table

from quotakernels.evaluation.results import BROUGHT, GainResults, Values

LABELS = [1, 0, 1, 0, 0, 1]
SCORES = {"a": [6, 5, 4, 3, 2, 1], "b": [1, 1, 1, 2, 2, 2]}
GAIN = [10, -4, 3, 0, 1, -1]


@pytest.fixture
def arguments(tmp_path: Path) -> list[Any]:
    """A file with two models and what each row brings."""
    path = table(tmp_path, y=LABELS, g=GAIN, w=[1, 2, 1, 1, 1, 0.5], part=list("uuuuvv"), **SCORES)
    return ["evaluate", path, "--label", "y", "--score", "a", "--score", "b"]


def test_impacts_less_what_a_place_costs(arguments: list[Any]) -> None:
    """A buyer brings 40, and a letter costs 1.50."""
    asked = ("--quota", 3, "--confidence", "90%", "--compare", "--resamples", 40)
    for more in ((), ("--ratio", 3)):
        given = (*arguments, *asked, *more)
        paid = run(*given, "--json", "--impact", "40,0,0,-2", "--place-cost", "1.50")
        assert paid.status == 0, paid.err
        assert paid.out == run(*given, "--json", "--impact", "38.5,-1.5,0,-2").out
    words = ("--positives", "buyers", "--currency", "EUR")
    said = run(*arguments, "--quota", 3, *words, "--impact", "40,0,0,-2", "--place-cost", 1.5).out
    counted = "buyers selected 38.5, others selected -1.5, buyers left 0, others left -2."
    assert f"\nCounted in EUR for each row: {counted}\n" in said


@pytest.mark.parametrize(("impact", "worth"), [("38.5,-1.5,0,0", 40), ("-3,1,0.5,0", -4.5)])
def test_tests_of_impacts_are_those_of_the_hit_rate(impact: str, worth: float) -> None:
    """Also where fewer positives bring more: one question has one p-value."""
    asked = ("--example", "credit", "--quota", 100, "--impact", impact, "--compare")
    found = json.loads(run("evaluate", *asked, "--resamples", 40, "--json").out)["differences"]
    rates, brings = (x for x in found if x["quota"] == "100")
    assert (rates["test"], brings["test"]) == ("score", "score")
    names = ("better", "worse") if worth > 0 else ("worse", "better")
    by_rates = {(x[names[0]], x[names[1]]): x for x in rates["pairs"]}
    assert len(by_rates) == 3
    for pair in brings["pairs"]:
        rate = by_rates[pair["better"], pair["worse"]]
        assert pair["difference"] == pytest.approx(100 * abs(worth) * rate["difference"])
        for end in ("lower", "upper"):
            assert pair[end] == pytest.approx(100 * abs(worth) * rate[end])
        assert pair["p_value"] == rate["p_value"]


def test_of_models_that_differ_by_rounding_the_first_is_the_best() -> None:
    for sign in (1, -1):
        brings = sign * np.array([[0.3], [0.1 + 0.2]])
        assert best_model(brings) == 0
    assert best_model(np.array([[np.nan], [0.3], [0.31]])) == 2


def best_model(brings: np.ndarray[Any, Any]) -> int:
    return GainResults(0.0, 0.0, {}, at_best_cut=Values(BROUGHT[:1], brings)).best_model


def test_every_threshold_shown_selects_what_is_said() -> None:
    text = run("evaluate", "--all", "--example", "credit", "--impact", "0,-5,-1,0").out
    rows = text.partition("What the best cut")[2].partition("What quota")[0].splitlines()
    cells = [row.split() for row in rows if row.startswith(("tree", "naive_bayes", "neural_net"))]
    assert len(cells) == 3
    for name, threshold, quota, *_ in cells:
        assert np.count_nonzero(CREDIT[name] >= float(threshold)) == int(quota)
