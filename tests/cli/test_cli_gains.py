"""`evaluate --gain` and `--impact`: the best cut, and what it and a quota bring."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quotakernels.evaluation.compute import BROUGHT
from quotakernels.evaluation.results import Values
from quotakernels.inference import comparing

Run = Callable[..., Any]
LABELS = [1, 0, 1, 0, 0, 1]
SCORES = {"a": [6, 5, 4, 3, 2, 1], "b": [1, 1, 1, 2, 2, 2]}
GAIN = [10, -4, 3, 0, 1, -1]
HILLSTROM = "quota/hillstrom_scores.csv.gz"


@pytest.fixture
def arguments(table: Callable[..., Path]) -> list[Any]:
    """A file with two models and what each row brings."""
    path = table(y=LABELS, g=GAIN, w=[1, 2, 1, 1, 1, 0.5], part=list("uuuuvv"), **SCORES)
    return ["evaluate", path, "--label", "y", "--score", "a", "--score", "b"]


def models(run: Run, *arguments: Any) -> dict[str, Any]:
    outcome = run(*arguments, "--json")
    assert outcome.status == 0, outcome.err
    return {model["score"]: model for model in json.loads(outcome.out)["models"]}


def test_gains_of_rows(run: Run, arguments: list[Any]) -> None:
    found = models(run, *arguments, "--gain", "g", "--quota", 2, "--quota", "50%")
    assert found["a"]["best_cut"] == {
        "threshold": 6,
        "quota": 1,
        "fraction": pytest.approx(1 / 6),
        "brings": 10,
        "per_place": 10,
    }
    assert found["b"]["best_cut"]["brings"] == 9, "the tied ones of two groups, all of them"
    assert found["b"]["best_cut"]["quota"] == 6
    assert [found[name]["quotas"]["2"]["brings"] for name in "ab"] == [6, 0]
    assert [found[name]["quotas"]["50%"]["per_place"] for name in "ab"] == [3, 0]


def test_impacts_less_what_a_place_costs(run: Run, arguments: list[Any]) -> None:
    """A buyer brings 40, and a letter costs 1.50."""
    asked = ("--quota", 3, "--confidence", "90%", "--compare", "--resamples", 40)
    for more in ((), ("--ratio", 3)):
        given = (*arguments, *asked, *more)
        paid = run(*given, "--json", "--impact", "40,0,0,-2", "--place-cost", "1,50")
        assert paid.status == 0, paid.err
        assert paid.out == run(*given, "--json", "--impact", "38.5,-1.5,0,-2").out
    words = ("--positives", "buyers", "--currency", "EUR")
    said = run(*arguments, "--quota", 3, *words, "--impact", "40,0,0,-2", "--place-cost", 1.5).out
    counted = "buyers selected 38.5, others selected -1.5, buyers left 0, others left -2."
    assert f"\nCounted in EUR for each row: {counted}\n" in said


@pytest.mark.parametrize(("impact", "worth"), [("38.5,-1.5,0,0", 40), ("-3,1,0.5,0", -4.5)])
def test_tests_of_impacts_are_those_of_the_hit_rate(run: Run, impact: str, worth: float) -> None:
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
        assert pair["interval"] == pytest.approx([100 * abs(worth) * x for x in rate["interval"]])
        assert pair["p_value"] == rate["p_value"]


def test_money_for_a_place_has_cents(run: Run, arguments: list[Any]) -> None:
    text = run(*arguments, "--all", "--impact", "100.5,0,0,0", "--quota", 3).out
    assert re.search(r"\na +201\.00\*? +67\.00\n", text)
    assert "67.00 on average" in text


def test_conditions_with_a_decimal_comma(run: Run, arguments: list[Any]) -> None:
    printed = [run(*arguments, "--where", x).out for x in ("w>0,5", "w>0.5")]
    assert printed[0].partition("\n")[2] == printed[1].partition("\n")[2] != ""
    assert "5 rows, 2 positive (y)" in printed[0]


def test_impacts_at_another_class_ratio(run: Run, arguments: list[Any]) -> None:
    given = (*arguments, "--impact", "4,-3,-1,0", "--quota", 2)
    for option in (("--ratio", 3), ("--prevalence", 0.75)):
        found = models(run, *given, *option)
        assert found["a"]["quotas"]["2"]["brings"] == pytest.approx(1.5 * (4 - 2) - 0.5 * 3)
    text = run(*given, "--all", "--ratio", 3).out
    assert "What the best cut brings (tp 4, fp -3, fn -1, tn 0, of 3 positives to one" in text


def test_of_rows_that_are_no_loss_no_cut_is_chosen(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=LABELS, g=[10, 0, 3, 0, 1, 0], s=SCORES["a"])
    text = run("evaluate", path, "--label", "y", "--score", "s", "--gain", "g", "--quota", 2).out
    assert "All 2 places.\nNo row is a loss, so more places never bring less; give --p" in text
    assert "Best cuts were chosen" not in text


def test_cost_of_a_place(run: Run, arguments: list[Any]) -> None:
    found = models(run, *arguments, "--gain", "g", "--place-cost", "2.5", "--quota", 2)
    assert found["a"]["best_cut"]["brings"] == 7.5
    assert found["a"]["quotas"]["2"]["brings"] == 1
    text = run(*arguments, "--all", "--gain", "g", "--place-cost", "2.5", "--quota", 2).out
    assert "What the best cut brings (g - 2.5 for each place)\n" in text
    assert "\nSelecting nobody brings 0.00, selecting all -6.00.\n" in text
    assert (
        "How many should I take? 1 of the 2 places.\nThe first one of a brings 7.50, more than all "
        "2 places do.\nBest cuts were chosen on the rows that judge them, so they will "
        "probably bring less on others; --tune chooses them on separate rows.\n" in text
    )
    assert "What will it bring? 1.00, at random -2.00.\nWith 2 places. Sel" in text
    assert "brings 0.00, selecting all -6.00; each place adds 0.50 on average." in text
    assert "--compare tests them.\n" in text
    nobody = run(*arguments, "--all", "--gain", "g", "--place-cost", "20", "--quota", 1).out
    none = "How many should I take? Nobody.\nNo number of places within the quota brings more "
    none += "than selecting nobody."
    assert none in nobody
    what = "What will it bring? -10.00, at random -18.50.\nWith 1 place. Selecting"
    assert what in nobody
    everybody = run(*arguments, "--all", "--gain", "g", "--place-cost", "-20").out
    assert "selecting all 129.00." in everybody
    assert "How many should I take? All.\nThe most comes from selecting all: 129.00." in everybody


def test_of_models_that_differ_by_rounding_the_first_is_the_best() -> None:
    for sign in (1, -1):
        brings = sign * np.array([[0.3], [0.1 + 0.2]])
        assert Values(BROUGHT[:1], brings).first_best == 0
    assert Values(BROUGHT[:1], np.array([[np.nan], [0.3], [0.31]])).first_best == 2


def test_difference_of_what_models_bring_is_that_of_the_same_resamples() -> None:
    resamples = np.array([[3.0, 6.0, 5.0, np.nan], [1.0, 2.0, 2.0, 0.0]])
    tested = comparing.tests_of(np.array([4.0, 2.0]), resamples, 0.5).of_pair
    assert tested(0, 1)[:3] == (2.5, 3.5, 2 / 4)
    assert tested(1, 0)[:3] == (-3.5, -2.5, 2 / 4)


def test_weighted_gains(run: Run, arguments: list[Any]) -> None:
    found = models(run, *arguments, "--gain", "g", "--weight", "w", "--quota", 2)
    assert found["a"]["quotas"]["2"]["brings"] == 6, "half of the row of weight 2"
    assert found["b"]["best_cut"]["brings"] == 5.5
    assert found["b"]["best_cut"]["quota"] == 6.5


def test_impacts_of_cells(run: Run, arguments: list[Any]) -> None:
    found = models(run, *arguments, "--impact", "5,-4,-1,0.5", "--quota", 3)
    best, nobody = 2 * 5 - 4 - 1 + 2 * 0.5, 3 * -1 + 3 * 0.5
    assert found["a"]["best_cut"]["brings"] == best
    assert found["a"]["best_cut"]["quota"] == 3
    assert found["a"]["best_cut"]["per_place"] == (best - nobody) / 3
    assert found["a"]["quotas"]["3"]["brings"] == best
    text = run(*arguments, "--all", "--impact", "5,-4,-1,0.5", "--quota", 3).out
    assert "What the best cut brings (tp 5, fp -4, fn -1, tn 0.5)\n" in text
    assert "\nSelecting nobody brings -1.50, selecting all 3.00.\n" in text
    assert "What will it bring? 6.00, at random 0.75.\nWith 3 places. " in text
    worse = [*arguments[:4], "--score", "b", "--impact", "5,-4,0,0", "--quota", 1]
    text = run(*worse, "--all").out
    assert "Which model should fill my quota? None: a random choice does better." in text
    assert "What will it bring? -1.00, at random 0.50." in text
    small = run(*arguments, "--all", "--impact", "0.001,-0.004,0,0").out
    assert "The most comes from the first one of a (16.7% of all): 0.001." in small
    assert "Selecting nobody brings 0.00, selecting all -0.009." in small


def test_rows_of_a_part(run: Run, arguments: list[Any]) -> None:
    chosen = [*arguments, "--where", "part=u", "--gain", "g"]
    found = models(run, *chosen, "--quota", 4)
    assert found["a"]["quotas"]["4"]["brings"] == 9
    assert "data.csv, rows with part = u\n4 rows, 2 positive (y)" in run(*chosen).out
    assert json.loads(run(*chosen, "--json").out)["where"] == ["part=u"]
    assert models(run, *arguments, "--where", "w=0.5")["a"]["roc_auc"] is None
    both = run(*arguments, "--where", "part!=v", "--where", "a>=3", "--where", "a==5").out
    assert "data.csv, rows with part != v, a >= 3 and a = 5\n" in both


def test_the_words_of_the_user(run: Run, arguments: list[Any]) -> None:
    words = ("--positives", "buyers", "--currency", "EUR")
    text = run(*arguments, "--quota", 2, "--gain", "g", *words).out
    assert "6 rows, 3 buyers (y), " in text
    assert "The first 2 rows by a: 1 is positive (y), a hit rate of 50.0%." in text
    assert "brings in EUR" in text
    assert "What will it bring? 6.00 EUR, at random " in text
    one = run(*arguments, "--quota", 1, "--positives", "buyers").out
    assert "Take the first row by a: 1 is positive (y), a hit rate of 100.0%" in one


def test_example(run: Run) -> None:
    """The data's own costs: a bad loan that is granted 5, a good one that is refused 1."""
    found = models(run, "evaluate", "--example", "credit", "--impact", "0,-5,-1,0")
    best = found["naive_bayes"]["best_cut"]
    assert (best["quota"], best["brings"]) == (152, -164)


def test_whom_to_mail(run: Run, shared: Path) -> None:
    """Customers' spending, less a mailing's cost: the sentences that a marketer needs."""
    names = [f"{name}.score" for name in ("logistic", "svm", "linear", "rf")]
    scores = [x for name in names for x in ("--score", name)]
    chosen = ["--where", "train=0", "--gain", "spend", "--place-cost", "0.8", "--quota", "5%"]
    path = shared / HILLSTROM
    text = run("evaluate", "--all", path, "--label", "conversion", *scores, *chosen).out
    assert "from the first 15,555 of logistic.score (48.6% of all): 7,351.41." in text
    assert "selecting all 3,400.39;" in text
    assert "How many should I take? 1,075 of the 1,600 places.\nThe first 1,075 of logistic" in text
    assert "bring? All 1,600 places: 2,118.84, at random 170.02.\nWith 1,600 places. " in text
    tuned = run(
        "evaluate", "--all", path, "--label", "conversion", *scores, *chosen, "--tune", "train=1"
    ).out
    assert "for each place), chosen on the rows with train = 1\n" in tuned
    assert "How many should I take? All 1,600 places.\nThe best cut of logistic.score, " in tuned
    assert "is reached by 21,277 of these rows and brings 7,037.83.\nThat is no less th" in tuned


def test_cuts_chosen_on_other_rows(run: Run, arguments: list[Any]) -> None:
    chosen = ["--gain", "g", "--tune", "part=u", "--where", "part=v"]
    found = models(run, *arguments, *chosen)
    assert found["a"]["best_cut"]["threshold"] == 6, "the best of u"
    assert found["a"]["best_cut"]["quota"] == 0
    assert found["b"]["best_cut"] == {
        "threshold": 1,
        "quota": 2,
        "fraction": 1,
        "brings": 0,
        "per_place": 0,
    }
    text = run(*arguments, "--all", *chosen).out
    assert "(g), chosen on the rows with part = u\n" in text
    assert "--tune" not in text


def test_every_threshold_shown_selects_what_is_said(
    run: Run, credit: dict[str, np.ndarray[Any, Any]]
) -> None:
    text = run("evaluate", "--all", "--example", "credit", "--impact", "0,-5,-1,0").out
    rows = text.partition("What the best cut")[2].partition("What quota")[0].splitlines()
    cells = [row.split() for row in rows if row.startswith(("tree", "naive_bayes", "neural_net"))]
    assert len(cells) == 3
    for name, threshold, quota, *_ in cells:
        assert np.count_nonzero(credit[name] >= float(threshold)) == int(quota)


def test_weights_whose_sums_are_rounded(run: Run, table: Callable[..., Path]) -> None:
    weights = np.random.default_rng(5).random(50)
    path = table(y=[0, 1] * 25, s=list(range(50)), g=[1] * 50, w=weights.tolist())
    given = ["evaluate", path, "--label", "y", "--score", "s", "--gain", "g", "--weight", "w"]
    assert "How many should I take? All.\n" in run(*given).out
    text = run(*given, "--place-cost", "2", "--quota", "10%").out
    assert "How many should I take? Nobody.\n" in text
    assert "With a weight of " in text
