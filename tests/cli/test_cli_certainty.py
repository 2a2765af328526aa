"""`evaluate --confidence` and `--compare`: intervals, and which differences are real."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quotakernels as qk
from quotakernels.evaluation import intervals

Run = Callable[..., Any]
EXAMPLE = ("evaluate", "--example", "credit", "--resamples", 40, "--seed", 3)


@pytest.mark.parametrize(
    ("asked", "drawn"),
    [
        (("--quota", 100), []),
        (("--quota", 100, "--quota", "5%", "--weight", "w"), ["hit_rate"] * 2),
        (("--budget", 90, "--cost", "w"), ["hit_rate"]),
        (("--quota", 100, "--treatment", "t"), ["uplift_at_quota"]),
        ((), []),
    ],
)
def test_the_answer_draws_what_it_tells(
    run: Run,
    table: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    asked: tuple[Any, ...],
    drawn: list[str],
) -> None:
    """And its intervals are those of all measures together."""
    rng = np.random.default_rng(2)
    y, w, t = rng.integers(0, 2, 300), rng.integers(1, 4, 300), rng.integers(0, 2, 300)
    path = table(y=y, w=w, t=t, s=rng.normal(y).round(2))
    given = ("evaluate", path, "--label", "y", "--score", "s", *asked, "--confidence", 0.9)
    given = (*given, "--resamples", 30)
    everything, bootstrap, names = run(*given, "--all").out, intervals.bootstrap, []

    def recording(measures: dict[tuple[Any, ...], Any], *columns: Any, **options: Any) -> Any:
        names.extend(key[-1] for key in measures)
        return bootstrap(measures, *columns, **options)

    monkeypatch.setattr(intervals, "bootstrap", recording)
    outcome = run(*given)
    assert outcome.status == 0
    assert names == drawn
    answer = outcome.out.partition("\n--all prints")[0]
    assert everything.startswith(answer.rstrip())


def test_json_holds_the_intervals_of_the_library(
    run: Run, credit: dict[str, np.ndarray[Any, Any]]
) -> None:
    asked = ("--confidence", 0.9, "--quota", "5%", "--compare", "--json")
    outcome = run(*EXAMPLE, "--score", "tree", "--score", "neural_net", *asked)
    content = json.loads(outcome.out)
    names = ("roc_auc", "gini", "pem", "average_precision", "average_hit_rate")
    closed = dict.fromkeys(names, "logit") | {"hit_rate": "score"}
    asked_for = {"level": 0.9, "resamples": 40, "seed": 3}
    assert content["confidence"].pop("notes")[0].startswith("No intervals of hull AUC")
    assert content["confidence"] == {**asked_for, "closed_forms": closed}
    drawn: dict[str, Any] = {"confidence_level": 0.9, "n_resamples": 40, "random_state": 3}
    at_quota = partial(qk.lift, quota=17)
    for model in content["models"]:
        data = credit["repaid"], credit[model["score"]]
        found = qk.bootstrap(qk.pr_auc, *data, **drawn)
        ends = pytest.approx([found.lower, found.upper], rel=1e-12)
        assert model["intervals"]["pr_auc"] == ends
        for name in ("average_precision", "average_hit_rate"):
            area = qk.inference.average_precision_interval(
                *data, measure=name, confidence_level=0.9
            )
            assert model["intervals"][name] == [area.lower, area.upper]
        gini = qk.inference.auc_interval(*data, measure="gini", confidence_level=0.9)
        assert model["intervals"]["gini"] == [gini.lower, gini.upper]
        rate = qk.inference.hit_rate_interval(*data, fraction=0.05, confidence_level=0.9)
        assert model["quotas"]["5%"]["intervals"]["hit_rate"] == [rate.lower, rate.upper]
        lift = qk.bootstrap(at_quota, *data, **drawn)
        ends = pytest.approx([lift.lower, lift.upper], rel=1e-12)
        assert model["quotas"]["5%"]["intervals"]["lift"] == ends
    by_auc, by_rate = content["differences"]
    models = {name: credit[name] for name in ("tree", "neural_net")}
    wanted = qk.compare(qk.roc_auc, credit["repaid"], models, **drawn)
    (pair,) = by_auc["pairs"]
    assert (pair["better"], pair["worse"]) == ("neural_net", "tree") == wanted.names
    assert pair["interval"] == [wanted.lower[0, 1], wanted.upper[0, 1]]
    assert pair["p_adjusted"] == wanted.p_adjusted[0, 1]
    assert (by_rate["measure"], by_rate["quota"]) == ("hit_rate", "5%")


def test_tables_show_intervals_and_sentences(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(
        *EXAMPLE, "--all", "--confidence", 0.95, "--compare", "--resamples", 200
    ).out.splitlines()
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert "<0.0001" in text, "a p-value is never 0"
    assert text.count("\nnaive_bayes  [") == 2  # the measures over all quotas stand in rows
    assert "\naverage Qrecall    [" in text
    assert "Differences of AUC\n" in text
    assert "Differences of the hit rate at quota 100\n" in text
    assert "naive_bayes and neural_net cannot be told apart by these 340 rows." in text
    assert "neural_net is better than tree." in text
    text = " ".join(text.split())
    assert (
        "hit rate: score interval; all others: corrected percentiles of 200 resamples of the rows"
        in text
    )
    assert (
        "Differences: 95% interval of each pair. AUC: DeLong's test; hit rate: score test. Pairs"
        in text
    )


def test_what_the_best_cut_and_a_quota_bring(
    run: Run, credit: dict[str, np.ndarray[Any, Any]]
) -> None:
    """As far as other resamples of the rows agree; impacts of all rows, not of one."""
    asked = ("--confidence", 0.9, "--impact", "0,-5,-1,0", "--resamples", 600, "--json")
    outcome = run(*EXAMPLE, *asked, "--quota", 100, "--score", "naive_bayes")
    (model,) = json.loads(outcome.out)["models"]
    best = model["best_cut"]
    wanted = qk.inference.best_cut_interval(
        qk.best_boundary,
        credit["repaid"],
        credit["naive_bayes"],
        impacts=(0, -5, -1, 0),
        confidence_level=0.9,
        random_state=1,
    )
    rows = credit["repaid"].size
    assert best["expected"] == pytest.approx(rows * wanted.expected.estimate, abs=2)
    for name, found in (("quota", wanted.quota), ("expected", wanted.expected)):
        ends = np.asarray([found.lower, found.upper]) * (rows if name == "expected" else 1)
        assert best["intervals"][name] == pytest.approx(ends, abs=12), name
    lower, upper = model["quotas"]["100"]["intervals"]["brings"]
    assert lower < model["quotas"]["100"]["brings"] < upper


def test_nobody_brings_as_much_on_others(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=[0, 1, 0, 1, 0, 0, 1], s=range(7, 0, -1))
    arguments = ("evaluate", path, "--label", "y", "--score", "s", "--impact", "2,-3,0,0")
    asked = ("--confidence", 0.9, "--resamples", 60, "--quota", 3)
    text = " ".join(run(*arguments, *asked).out.split())
    assert "Nobody. No number of places within the quota brings more than selecting nobody." in text
    assert "Selecting nobody brings 0.00," in text
    assert "Expect" not in text
    assert "will probably bring" not in text
    (model,) = json.loads(run(*arguments, *asked, "--json").out)["models"]
    assert model["best_cut"]["expected"] == 0
    assert model["best_cut"]["intervals"]["expected"] == [0, 0]


@pytest.mark.parametrize("top", [0, 1], ids=["all selected are positive", "one is not"])
def test_what_a_quota_brings_by_two_hit_rates(
    run: Run, table: Callable[..., Path], top: int
) -> None:
    """Positives among the others are a loss: the more there are, the less is brought."""
    y, s = np.asarray([1, 1, 1 - top, 1, 1] + [0, 1, 0] * 5), np.arange(20, 0, -1)
    arguments = ("evaluate", table(y=y, s=s), "--label", "y", "--score", "s", "--quota", 5)
    asked = ("--impact", "5,-4,-1,0.5", "--confidence", 0.9, "--resamples", 5, "--json")
    (model,) = json.loads(run(*arguments, *asked).out)["models"]
    given: dict[str, Any] = {"method": "wilson", "confidence_level": 0.9}
    chosen = qk.inference.hit_rate_interval(y, s, quota=5, **given)
    others = qk.inference.hit_rate_interval(y, -s, quota=15, **given)
    most = 5 * 5 + 0.5 * 15
    brings = 5 * (5 - top) - 4 * top - 1 * 5 + 0.5 * 10
    at_cut = (y[:10].sum() + 0.5) / 11
    apart = 9 * (1 - top / 5 - at_cut) + 1.5 * (1 / 3 - at_cut)
    moved = 1.6448536269514722 * apart * np.sqrt(5 * (1 - 5 / 20))
    below = 45 * (chosen.estimate - chosen.lower), 22.5 * (others.upper - others.estimate)
    above = 45 * (chosen.upper - chosen.estimate), 22.5 * (others.estimate - others.lower)
    less, more = (np.sqrt(moved**2 + np.square(ends).sum()) for ends in (below, above))
    found = model["quotas"]["5"]
    assert found["brings"] == pytest.approx(brings)
    assert found["intervals"]["brings"] == pytest.approx([brings - less, min(brings + more, most)])
    assert less > 10, "also where all of the selected are positive"


def test_notes_are_of_what_was_asked_and_could_be_found(
    run: Run, table: Callable[..., Path]
) -> None:
    path = table(y=[0] * 24 + [1], s=range(25), t=[k // 2 for k in range(25)])
    arguments = ("evaluate", path, "--label", "y", "--score", "s", "--score", "t")
    asked = ("--impact", "9,-1,0,0", "--confidence", 0.9, "--resamples", 30)
    text = " ".join(run(*arguments, "--all", *asked).out.split())
    assert "score interval" not in text
    assert "Scores with few values (t): choosing a cut adds little" in text
    assert "AUC, Gini, average hit rate and average precision have no intervals: their" in text
    text = " ".join(run(*arguments, "--all", *asked, "--quota", 3).out.split())
    closed = "AUC, Gini, average hit rate and average precision: logit, in closed form; "
    assert f"{closed}hit rate: score interval; all others" in text
    assert "What a quota brings: from score intervals" in text
    path = table(y=[0] * 24 + [1, 1], s=range(26), w=range(1, 27))
    weighted = ("evaluate", path, "--label", "y", "--score", "s", *asked)
    text = " ".join(run(*weighted, "--all", "--weight", "w").out.split())
    assert (
        "90% intervals: corrected percentiles of 30 resamples of the rows with their weights"
        in text
    )
    assert "have no intervals" not in text + run(*weighted, "--all").out


def test_gains_of_weighted_rows_and_of_a_cut_from_other_rows(
    run: Run, table: Callable[..., Path]
) -> None:
    """Two rows: half of the resamples hold one of them twice."""
    path = table(y=[1, 0, 1, 0], s=[4, 3, 2, 1], w=[1, 2, 1, 1], g=[5, -1, 3, 1], p=list("aabb"))
    arguments = ("evaluate", path, "--label", "y", "--score", "s", "--gain", "g", "--weight", "w")
    asked = ("--where", "p=a", "--confidence", 0.9, "--resamples", 60, "--quota", 1)
    text = " ".join(run(*arguments, "--all", *asked).out.split())
    assert "per brings on model from quota of all brings place other rows" in text
    assert "Expect " in text
    content = json.loads(run(*arguments, "--all", *asked, "--tune", "p=b", "--json").out)
    assert content["confidence"]["closed_forms"] == {}
    (model,) = content["models"]
    assert model["best_cut"]["intervals"] == {"brings": [-4, 10]}, (
        "selects all that score 1 or more"
    )
    assert model["quotas"]["1"]["intervals"]["brings"] == [-1, 5]


def test_weights_and_measures_that_are_undefined(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=[1, 1, 1], s=[0.9, 0.8, 0.3], w=[1.0, 2.5, 4.0])
    arguments = ("evaluate", path, "--label", "y", "--score", "s", "--weight", "w")
    outcome = run(*arguments, "--all", "--confidence", 0.9, "--resamples", 20, "--quota", 7)
    assert "undefined" in outcome.out
    assert "With their weights 3 rows tell as much as 2.4 of equal weight (Kish)." in outcome.out
    assert "AUC-PR are too narrow for few rows of a class" in outcome.out
    assert "Intervals from resamples are too narrow for hit rates near 1: " in outcome.out


def test_intervals_that_say_less_than_they_seem_to(run: Run, table: Callable[..., Path]) -> None:
    """A perfect model, whose only two positives are not in all resamples."""
    path = table(y=[1, 1] + [0] * 18, s=range(20, 0, -1), t=range(20))
    arguments = ("evaluate", path, "--label", "y", "--score", "s", "--score", "t", "--quota", 1)
    asked = ("--confidence", 0.9, "--compare", "--resamples", 50)
    text = run(*arguments, "--all", *asked).out
    assert "If an interval has no width, all resamples agree; that does not mean" in text
    few = "Intervals of average hit rate, average precision and AUC-PR are too narrow for few"
    assert few in text
    assert "lift and Qrecall at quotas are too narrow for the AUC of s, which" in text
    narrow = "Intervals of the hit rate are too narrow for a model that has found nearly all of few"
    assert narrow not in text, "no more places than positives"
    assert narrow in run(*arguments[:-1], 3, *asked).out
    assert "only 2 positives: p-values are too small" in text
    assert text.count("hull") == 2  # in the table of values and in the note
    model, _ = json.loads(run(*arguments, "--all", *asked, "--json").out)["models"]
    lost = model["undefined"]["s1"]
    assert 0 < lost < 50
    assert model["undefined"]["roc_auc"] == 0, "in closed form"
    assert "Intervals of s leave out up to " in text
    assert "roc_hull_auc" not in model["intervals"]
    assert "roc_hull_auc" in model
    assert model["quotas"]["1"]["undefined"]["hit_rate"] == 0


def test_too_few_resamples_are_said_to_be(run: Run) -> None:
    text = run(*EXAMPLE, "--all", "--compare", "--impact", "1,-1,0,0").out
    assert "95% intervals" not in text, "which are of measures"
    rates = "hit rate, and what quotas bring: score test"
    assert f"{rates}; all others: percentiles of 40 resamples of the rows" in text
    assert "40 resamples cannot tell any of 3 models apart; pass --resamples 119 or more" in text
