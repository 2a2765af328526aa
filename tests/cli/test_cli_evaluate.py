"""`evaluate`: the numbers it computes, and what people see of them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from command import CREDIT, CREDIT_FILE, run, table
from public_names import PUBLIC

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
