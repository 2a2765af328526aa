"""`evaluate`: the numbers it computes, and what people see of them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import CREDIT, CREDIT_FILE, by_model, run, table
from public_names import PUBLIC
from pyarrow import csv as arrow_csv

import quotakernels as qk
from quotakernels.cli import rendering
from quotakernels.cli.rendering import TextConsole
from quotakernels.evaluation.results import Column, Values

OVER_ALL = ("roc_auc", "gini", "pem", "average_hit_rate", "average_qrecall")
AREAS = ("s1", "s2", "s3")
CURVES = ("roc_hull_auc", "pr_auc", "achievable_pr_auc", "average_precision")
PEARSON = "pearson_labels_observed"
AT_QUOTA = {name: PUBLIC[name] for name in ("hit_rate", "qrecall", "lift")}
AT_QUOTA[PEARSON] = qk.pearson.with_options(labels="observed")
MODELS = ("tree", "naive_bayes", "neural_net")
PUBLISHED_AUC = {"tree": 0.605, "naive_bayes": 0.8035, "neural_net": 0.7471}


def test_json_holds_what_the_library_computes() -> None:
    outcome = run("evaluate", "--example", "credit", "--quota", "50", "--quota", "5%", "--json")
    content = outcome.record
    assert (content["rows"], content["positives"]) == (340, 250)
    assert content["prevalence"] == 250 / 340
    assert [model["score"] for model in content["models"]] == list(MODELS)
    for model in content["models"]:
        ranking = qk.rank(CREDIT["repaid"], CREDIT[model["score"]])
        assert set(model) == {"score", *OVER_ALL, *AREAS, *CURVES, "quotas"}
        for measure in (*OVER_ALL, *CURVES):
            assert model[measure] == getattr(qk, measure)(ranking)
        assert tuple(model[area] for area in AREAS) == qk.pem_areas(ranking)
        for text, argument in (("50", {"quota": 50}), ("5%", {"fraction": 0.05})):
            at_quota = model["quotas"][text]
            assert set(at_quota) == {*AT_QUOTA}
            for name, measure in AT_QUOTA.items():
                value = measure(ranking, **argument)
                assert at_quota[name] == (None if np.isnan(value) else value)
        assert content["places"] == {"50": 50, "5%": pytest.approx(17)}
        assert model["roc_auc"] == pytest.approx(PUBLISHED_AUC[model["score"]], abs=5e-4)


def test_a_coin_toss_is_not_the_best_by_pearson(tmp_path: Path) -> None:
    """Of its two scores all correlations with expected labels are -1 or 1."""
    rng = np.random.default_rng(3)
    y = (rng.random(500) < 0.3).astype(int)
    good, toss = y + rng.normal(size=500), rng.integers(0, 2, 500)
    assert abs(qk.pearson(y, toss, quota=450) - 1) < 1e-12
    path = table(tmp_path, y=y.tolist(), good=good.tolist(), toss=toss.tolist())
    arguments = ("evaluate", path, "--label", "y", "--score", "good", "--score", "toss")
    text = run(*arguments, "--all", "--quota", 450).out
    rows = [line.split() for line in text.split("At quota 450")[2].splitlines()]
    (starred,) = [row for row in rows if row[:1] == ["good"]]
    (plain,) = [row for row in rows if row[:1] == ["toss"]]
    assert starred[4].endswith("*")
    assert abs(float(plain[4])) < 0.1
    assert "\nPearson: correlation of the selected scores with their own labels, 0 and 1" in text
    assert "Pearson:" not in run(*arguments, "--all").out


def best_of(measure: Column, column: list[float], rows: int = 10) -> list[int]:
    return list(np.flatnonzero(Values((measure,), np.array([column]).T).best(rows)))


def test_best() -> None:
    more, less = Column("s1"), Column("expected_cost", function=qk.expected_cost)
    nan = float("nan")
    assert best_of(more, [1.0, 3.0, nan, 3.0 * (1 + 1e-15), 2.0]) == [1, 3]
    assert best_of(less, [1.0, 3.0, nan, 1.0 * (1 + 1e-15), 2.0]) == [0, 3]
    assert best_of(more, [-0.5, -0.1]) == [1]
    assert best_of(less, [0.0, 1e-14, 1e-9]) == [0, 1], "rounding left some of an area of 0"
    assert best_of(less, [1e-9, 0.0, 1.0], rows=10**6) == [0, 1]
    for measure in (more, less):
        assert best_of(measure, [1.0, nan]) == [], "one value is the best of nothing"
        assert best_of(measure, [2.0, nan, 2.0]) == [], "of all that tie none is the best"
        assert best_of(measure, [nan, nan]) == []
        assert best_of(measure, [1.0]) == []


def test_the_least_area_below_chance_is_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("evaluate", "--all", "--example", "credit").out.splitlines()
    cells = next(line.split() for line in lines if line.startswith("S2 "))
    assert cells == ["S2", "1.3798", "0.0000*", "0.0000*"]


def after_the_answer(text: str) -> str:
    """What --all prints below it."""
    return text[text.index("Over all quotas (S3 = ") :]


@pytest.mark.parametrize(
    ("width", "model_rows"), [(None, 12), (80, 12), (62, 9), (40, 24), (30, 36)]
)
def test_every_layout_shows_every_number(
    monkeypatch: pytest.MonkeyPatch, width: int | None, model_rows: int
) -> None:
    if width is not None:
        monkeypatch.setenv("COLUMNS", str(width))
    scores = [text for name in MODELS for text in ("--score", name)]
    quotas = ("--quota", 20, "--quota", "5%")
    arguments = ("evaluate", CREDIT_FILE, "--label", "repaid", *scores, *quotas)
    text = after_the_answer(run(*arguments, "--all").out)
    assert sum(line.startswith(MODELS) for line in text.splitlines()) == model_rows
    assert max(map(len, text.splitlines())) <= (width or 80)
    assert (
        " ".join(text.split()).count("S1 and S2: sums over all quotas of how far Qrecall is") == 1
    )
    for model in run(*arguments, "--json").record["models"]:
        assert f"S3 = {model.pop('s3'):.0f})" in text
        for group in (model, *model["quotas"].values()):
            assert group.pop("places", 20) in (17, 20)
            for value in group.values():
                assert not isinstance(value, float) or f"{value:.4f}" in text
    assert "…" not in text


def test_tables_are_cut_where_they_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    names = [f"model_{index}_{'x' * 40}" for index in range(6)]
    path = table(tmp_path, y=[1, 0, 1], **{name: [0.5, 0.2, 0.1] for name in names})
    scores = [text for name in names for text in ("--score", name)]
    text = run("evaluate", "--all", path, "--label", "y", *scores).out
    assert max(map(len, text.splitlines())) <= 50
    text = after_the_answer(text)
    assert text.count("model_5") == 4
    assert text.count("Over all quotas") == 1
    first, second = text.split("\n\n")[:2]
    for heading in ("AUC", "= PEM", "hit rate", "Qrecall", "S1", "S2"):
        assert (heading in first) != (heading in second), "each measure is in one of the tables"


def test_colour_only_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in run("evaluate", "--all", "--example", "credit").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m0.8035*\x1b[0m" in run("evaluate", "--all", "--example", "credit").out


def test_progress_bar_appears_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(rendering, "_BAR_AFTER_S", 0.0)
    monkeypatch.setattr(
        rendering,
        "TextConsole",
        lambda **_: TextConsole(file=shown, force_terminal=True, force_interactive=True),
    )
    with rendering.progress_bar() as step:
        step("reading")
        step("naive_bayes")
        step.tell(1, 2)
        assert step.bar is not None
        assert (step.bar.tasks[0].completed, step.bar.tasks[0].total) == (1, 2)
    assert "naive_bayes" in shown.getvalue()


# `evaluate --gain` and `--impact`: the best cut, and what it and a quota bring


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
    assert f"\nValues in EUR for each row: {counted}\n" in said


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


def test_every_threshold_shown_selects_what_is_said() -> None:
    text = run("evaluate", "--all", "--example", "credit", "--impact", "0,-5,-1,0").out
    rows = text.partition("What the best cut")[2].partition("What quota")[0].splitlines()
    cells = [row.split() for row in rows if row.startswith(("tree", "naive_bayes", "neural_net"))]
    assert len(cells) == 3
    for name, threshold, quota, *_ in cells:
        assert np.count_nonzero(CREDIT[name] >= float(threshold)) == int(quota)


# `evaluate --confidence` and `--compare`: intervals, and which differences are real


EXAMPLE = ("evaluate", "--example", "credit", "--resamples", 40, "--seed", 3)


def test_json_holds_the_intervals_of_the_library() -> None:
    asked = ("--confidence", 0.9, "--quota", "5%", "--compare", "--json")
    outcome = run(*EXAMPLE, "--score", "tree", "--score", "neural_net", *asked)
    content = outcome.record
    closed = dict.fromkeys(("roc_auc", "gini", "pem", "hit_rate", "qrecall", "lift"), "score")
    closed |= dict.fromkeys(("average_precision", "average_hit_rate"), "logit")
    asked_for = {"level": 0.9, "resamples": 40, "test_resamples": 40, "seed": 3}
    assert content["confidence"].pop("notes")[0].startswith("No intervals of hull AUC")
    told = {**asked_for, "effective_rows": None, "clusters": 0, "closed_forms": closed}
    assert content["confidence"] == told
    drawn: dict[str, Any] = {"confidence_level": 0.9, "n_resamples": 40, "random_state": 3}
    for model in content["models"]:
        data = CREDIT["repaid"], CREDIT[model["score"]]
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
        at = {"fraction": 0.05, "confidence_level": 0.9}
        lift = qk.inference.qrecall_interval(*data, measure="lift", **at)
        assert model["quotas"]["5%"]["intervals"]["lift"] == [lift.lower, lift.upper]
    by_auc, by_rate = content["differences"]
    models = {name: CREDIT[name] for name in ("tree", "neural_net")}
    wanted = qk.compare(qk.roc_auc, CREDIT["repaid"], models, **drawn)
    (pair,) = by_auc["pairs"]
    assert (pair["better"], pair["worse"]) == ("neural_net", "tree") == wanted.names
    assert [pair["lower"], pair["upper"]] == [wanted.lower[0, 1], wanted.upper[0, 1]]
    assert pair["p_as_best"] == wanted.p_as_best[0, 1]
    assert (by_rate["measure"], by_rate["quota"]) == ("hit_rate", "5%")


@pytest.mark.parametrize("top", [0, 1], ids=["all selected are positive", "one is not"])
def test_what_a_quota_brings_by_two_hit_rates(tmp_path: Path, top: int) -> None:
    """Positives among the others are a loss: the more there are, the less is brought."""
    y, s = np.asarray([1, 1, 1 - top, 1, 1] + [0, 1, 0] * 5), np.arange(20, 0, -1)
    path = table(tmp_path, y=y, s=s)
    arguments = ("evaluate", path, "--label", "y", "--score", "s", "--quota", 5)
    asked = ("--impact", "5,-4,-1,0.5", "--confidence", 0.9, "--resamples", 5, "--json")
    (model,) = run(*arguments, *asked).record["models"]
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


# the command on published scores and on a mail campaign, against printed values and `evaluate`


SCORED = [f"{name}.score" for name in ("logistic", "svm", "linear", "rf")]
GIVEN_SCORES = [x for name in SCORED for x in ("--score", name)]
CAMPAIGN = ["--label", "conversion", *GIVEN_SCORES, "--where", "train=0", "--gain", "spend"]
CAMPAIGN += ["--place-cost", "0.8", "--quota", "5%"]


@pytest.fixture
def campaign(shared: Path) -> Path:
    """Customers, of whom half were for training, with what they spent after a mailing."""
    return shared / "quota" / "hillstrom_scores.csv.gz"


def test_published_values(shared: Path) -> None:
    path = shared / "published" / "yardstick_two_class_example.csv"
    arguments = ("--label", "truth", "--pos-label", "Class1", "--score", "Class1", "--json")
    model = run("evaluate", path, *arguments).record["models"][0]
    assert model["roc_auc"] == pytest.approx(0.93931386, abs=5e-9)
    assert model["pem"] == pytest.approx(0.87862771, abs=5e-9)


def test_sizes_of_a_campaign(campaign: Path) -> None:
    quotas = ("--quota", "1000", "--quota", "5%", "--json")
    content = run("evaluate", campaign, "--label", "conversion", *GIVEN_SCORES, *quotas).record
    assert (content["rows"], content["positives"]) == (64000, 578)
    assert content["places"] == {"1000": 1000, "5%": 3200}


def test_whom_to_mail(campaign: Path) -> None:
    """The best cut, what a quota brings, and both with the cut chosen on other rows."""
    text = run("evaluate", "--all", campaign, *CAMPAIGN).out
    assert "the first 15,555 by logistic.score (48.6%) earns the most: 7,351." in text
    assert ", all 3,400;" in text
    doubted = "How many should I take? Not clear that any number pays.\nThe first 1,075 by logistic"
    assert doubted in text, "31 of the selected rows have bought"
    assert "2,119, at random 170.02." in text
    tuned = run("evaluate", "--all", campaign, *CAMPAIGN, "--tune", "train=1").out
    assert "How many should I take? All 1,600 places.\nThe best cut of logistic.score was " in tuned
    assert "Here 21,277 rows reach it, and they bring 7,038.\n" in tuned


def test_a_campaign_in_python(campaign: Path) -> None:
    """`evaluate` of the columns is what the command finds."""
    asked = ["--tune", "train=1", "--confidence", 0.95, "--compare", "--resamples", 20, "--json"]
    printed = run("evaluate", campaign, *CAMPAIGN, *asked).record
    table = arrow_csv.read_csv(campaign)
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    trained = columns["train"] == 1
    sure: dict[str, Any] = {"confidence_level": 0.95, "compare": True, "n_resamples": 20}
    rows = {"gain": columns["spend"], "where": ~trained, "tune": trained}
    models = {name: columns[name] for name in SCORED}
    cut: dict[str, Any] = {"fraction": 0.05, "place_cost": 0.8}
    found = qk.evaluate(columns["conversion"], models, **cut, **rows, **sure)
    content = by_model(found.to_json())
    named = {"source", "label", "where", "tune", "unit"}
    ours, theirs = ({k: x[k] for k in x.keys() - named} for x in (content, printed))
    assert ours == theirs
    assert found.rows_read == len(trained)
