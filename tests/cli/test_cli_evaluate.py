"""`evaluate`: the numbers it computes, and what people see of them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import quotakernels as qk
from quotakernels.cli import progress

MODELS = ("tree", "naive_bayes", "neural_net")
PUBLISHED_AUC = {"tree": 0.605, "naive_bayes": 0.8035, "neural_net": 0.7471}
Run = Callable[..., Any]


def test_json_holds_what_the_library_computes(
    run: Run, credit: dict[str, np.ndarray[Any, Any]]
) -> None:
    outcome = run("evaluate", "--example", "credit", "--quota", "50", "--quota", "5%", "--json")
    assert outcome.status == 0
    content = json.loads(outcome.out)
    assert (content["rows"], content["positives"]) == (340, 250)
    assert content["prevalence"] == 250 / 340
    assert [model["score"] for model in content["models"]] == list(MODELS)
    for model in content["models"]:
        ranking = qk.rank(credit["repaid"], credit[model["score"]])
        for measure in ("roc_auc", "pem", "average_hit_rate", "average_qrecall"):
            assert model[measure] == getattr(qk, measure)(ranking)
        for text, argument in (("50", {"quota": 50}), ("5%", {"fraction": 0.05})):
            for measure in ("hit_rate", "qrecall", "lift"):
                assert model["quotas"][text][measure] == getattr(qk, measure)(ranking, **argument)
        assert model["quotas"]["50"]["places"] == 50
        assert model["quotas"]["5%"]["places"] == pytest.approx(17)
        assert model["roc_auc"] == pytest.approx(PUBLISHED_AUC[model["score"]], abs=5e-4)


def test_weights(run: Run, table: Callable[..., Path]) -> None:
    labels, scores, weights = [1, 0, 1, 0], [0.9, 0.8, 0.3, 0.3], [1.0, 2.5, 0.0, 4.0]
    path = table(y=labels, s=scores, w=weights)
    arguments = ("evaluate", path, "--label", "y", "--score", "s", "--weight", "w", "--quota", 3)
    content = json.loads(run(*arguments, "--json").out)
    assert (content["total_weight"], content["positive_weight"]) == (7.5, 1.0)
    assert content["prevalence"] == pytest.approx(1 / 7.5)
    model = content["models"][0]
    assert model["roc_auc"] == qk.roc_auc(labels, scores, sample_weight=weights)
    assert model["quotas"]["3"]["hit_rate"] == qk.hit_rate(
        labels, scores, sample_weight=weights, quota=3.0
    )
    assert "4 rows, 2 positive (y), total weight 7.5 (w), prevalence 0.1333" in run(*arguments).out


def test_quota_of_the_whole_weight(run: Run, table: Callable[..., Path]) -> None:
    weights = [0.7, 0.2, 0.1]
    assert np.sum(weights) < 1
    path = table(y=[1, 0, 1], s=[0.3, 0.2, 0.1], w=weights)
    arguments = ("--label", "y", "--score", "s", "--weight", "w", "--quota", 1, "--json")
    quotas = json.loads(run("evaluate", path, *arguments).out)["models"][0]["quotas"]
    assert quotas["1"]["qrecall"] == pytest.approx(1)


def test_undefined_is_null_and_never_best(run: Run, table: Callable[..., Path]) -> None:
    path = table(y=[1, 1], a=[0.1, 0.2], b=[0.3, 0.4])
    arguments = ("evaluate", path, "--label", "y", "--score", "a", "--score", "b", "--quota", 0)
    model = json.loads(run(*arguments, "--json").out)["models"][0]
    assert model["roc_auc"] is None
    assert model["quotas"]["0"] == {"places": 0, "hit_rate": None, "qrecall": 0, "lift": None}
    text = run(*arguments).out
    assert "undefined" in text
    assert "undefined*" not in text


def test_file_without_rows(run: Run, table: Callable[..., Path]) -> None:
    arguments = ("evaluate", table(y=[], s=[]), "--label", "y", "--score", "s")
    content = json.loads(run(*arguments, "--json").out)
    assert (content["rows"], content["prevalence"]) == (0, None)
    assert "0 rows, 0 positive (y), prevalence undefined" in run(*arguments).out


def test_example_at_80_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    outcome = run("evaluate", "--example", "credit")
    assert outcome.status == 0
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "340 rows, 250 positive (repaid), prevalence 0.7353" in lines
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.count(" 0.") > 3}
    assert rows["tree"][0] == "0.6054"
    assert rows["naive_bayes"][0] == "0.8035*"
    assert rows["neural_net"][0] == "0.7471"
    assert "10.24432/C5NC77" in outcome.out
    assert "CC BY 4.0" in outcome.out


def test_example_says_what_the_numbers_mean(
    run: Run, credit: dict[str, np.ndarray[Any, Any]]
) -> None:
    repaid = {m: 100 * qk.hit_rate(credit["repaid"], credit[m], quota=100) for m in MODELS}
    assert repaid["tree"] % 1 != 0  # ties at the threshold: an expected number
    sentence = (
        f"With money for 100 loans, choosing by naive_bayes: {repaid['naive_bayes']:.0f} of 100 "
        f"are repaid, by neural_net {repaid['neural_net']:.0f}, by tree {repaid['tree']:.1f}; "
        "at random 73.5."
    )
    assert sentence in run("evaluate", "--example", "credit").out.splitlines()


def test_example_with_other_quotas_and_models(run: Run) -> None:
    arguments = ("--score", "tree", "--quota", "50%", "--quota", "20", "--quota", "20")
    lines = run("evaluate", "--example", "credit", *arguments).out.splitlines()
    assert "@50% is 170 rows" in lines
    assert sum(line.startswith("With money for 170 loans") for line in lines) == 1
    assert sum(line.startswith("With money for 20 loans") for line in lines) == 1
    assert not any("*" in line for line in lines), "a single model is not the best of anything"


@pytest.mark.parametrize("width", [None, 80, 62])
def test_every_layout_shows_every_number(
    run: Run, credit_file: Path, monkeypatch: pytest.MonkeyPatch, width: int | None
) -> None:
    if width is not None:
        monkeypatch.setenv("COLUMNS", str(width))
    scores = [text for name in MODELS for text in ("--score", name)]
    quotas = ("--quota", 20, "--quota", "5%")
    arguments = ("evaluate", credit_file, "--label", "repaid", *scores, *quotas)
    text = run(*arguments).out
    model_rows = [line for line in text.splitlines() if line.startswith(MODELS)]
    assert len(model_rows) == (0 if width else 3), "too narrow: the measures become the rows"
    assert max(map(len, text.splitlines())) <= (width or 140)
    for model in json.loads(run(*arguments, "--json").out)["models"]:
        for group in (model, *model["quotas"].values()):
            for value in group.values():
                assert not isinstance(value, float) or f"{value:.4f}" in text or value in (17, 20)


def test_many_models_with_long_names_at_80_columns(
    run: Run, table: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"model_{index}_{'x' * 40}" for index in range(6)]
    path = table(y=[1, 0, 1], **{name: [0.5, 0.2, 0.1] for name in names})
    scores = [text for name in names for text in ("--score", name)]
    text = run("evaluate", path, "--label", "y", *scores, "--quota", 1, "--quota", 2).out
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("model_5") == 3, "one table for the whole ranking and one per quota"
    assert text.count("1.5000*") == 6, "all tied models are marked"


def test_colour_only_where_asked(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in run("evaluate", "--example", "credit").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m0.8035*\x1b[0m" in run("evaluate", "--example", "credit").out


def test_progress_bar_appears_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.0)
    monkeypatch.setattr(
        progress,
        "Console",
        lambda **_: Console(file=shown, force_terminal=True, force_interactive=True),
    )
    with progress.progress_bar(steps=2) as step:
        step("reading")
        step("naive_bayes")
    assert "naive_bayes" in shown.getvalue()
    assert "1/2" in shown.getvalue()
