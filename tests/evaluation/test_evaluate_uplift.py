"""What an evaluation says of a treatment: the uplift at each quota, with intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Outcome, run, write_csv

import quotakernels as qk
from quotakernels.uplift import uplift_at_quota

N = 300
RNG = np.random.default_rng(8)
MAILED = RNG.integers(0, 2, N)
EFFECT = RNG.choice([0.5, 0.0], N)
BOUGHT = RNG.random(N) < 0.2 + EFFECT * MAILED
MODELS = {"uplift": EFFECT + 0.01 * RNG.random(N), "chance": RNG.random(N)}


def added(found: qk.Evaluation) -> Any:
    return next(x for x in found.answers if x.question == "What does the treatment add?")


def test_uplift_at_each_quota():
    found = qk.evaluate(BOUGHT, MODELS, quota=[60, 150], fraction=0.1, treatment=MAILED)
    for quota, values in found.at_quota.items():
        argument = quota.argument(N)
        for model, name in enumerate(MODELS):
            wanted = uplift_at_quota(BOUGHT, MODELS[name], treatment=MAILED, **argument)
            assert values.of("uplift_at_quota")[model] == wanted
    answer = added(found)
    assert answer.question == "What does the treatment add?"
    first = 100 * found.at_quota[found.settings.quotas[0]].of("uplift_at_quota")[0]
    assert answer.verdict == f"{first:.1f} positives per 100 selected by uplift"
    assert "by chance." in answer.sentences[1]
    assert "uplift is the best of 2 here, so probably less on new data." in answer.sentences
    assert len(qk.evaluate(BOUGHT, MODELS, quota=60).answers) == 4
    alone = qk.evaluate(BOUGHT, MODELS["uplift"], quota=60, treatment=MAILED)
    assert added(alone).verdict == answer.verdict.replace("uplift", "model")
    assert not any("Others" in x for x in added(alone).sentences)


def test_models_are_compared_by_uplift():
    given: dict[str, Any] = {"treatment": MAILED, "n_resamples": 400}
    models = {"uplift": MODELS["uplift"], "worst": -MODELS["uplift"]}
    found = qk.evaluate(BOUGHT, models, quota=[60, 150], compare=True, **given)
    kinds = [(x.measure, x.quota and x.quota.amount) for x in found.differences]
    at_quotas = [(x, k) for x in ("hit_rate", "uplift_at_quota") for k in (60, 150)]
    assert kinds == [("roc_auc", None), *at_quotas]
    wanted = qk.compare(uplift_at_quota, BOUGHT, models, quota=60, random_state=0, **given)
    assert found.differences[3].found.p_value.tolist() == wanted.p_value.tolist()
    assert wanted.expected < wanted.estimate[0]
    expected = f"uplift is the best of 2 here; expect {100 * wanted.expected:.1f} on new data."
    assert added(found).sentences[2:4] == (expected, "Sure that uplift adds the most.")
    assert [x.caption for x in found.tables[-2:]] == [
        f"Differences of uplift at quota {x}" for x in (60, 150)
    ]
    assert "all others: percentiles" in " ".join(found.settings.resampling.in_words(found.settings))
    alike = {"one": RNG.random(N), "other": RNG.random(N)}
    found = qk.evaluate(BOUGHT, alike, quota=60, compare=True, **given)
    assert added(found).sentences[3].startswith("Not sure that o")
    one_arm = {**given, "treatment": np.ones(N)}
    found = qk.evaluate(BOUGHT, alike, quota=60, compare=True, **one_arm)
    assert added(found).verdict == "Unknown"


def test_intervals_weights_masks_and_budgets():
    weight, cost = RNG.integers(1, 3, N), RNG.random(N) + 0.5
    where = RNG.random(N) < 0.9
    given: dict[str, Any] = {"sample_weight": weight, "where": where, "treatment": MAILED}
    sure: dict[str, Any] = {"confidence_level": 0.9, "n_resamples": 50, "compare": True}
    found = qk.evaluate(BOUGHT, MODELS, budget=40, cost=cost, **sure, **given)
    (values,) = found.at_quota.values()
    wanted = uplift_at_quota(BOUGHT, MODELS["uplift"], cost=cost, budget=40, **given)
    assert values.of("uplift_at_quota")[0] == pytest.approx(wanted, rel=1e-12)
    lower, upper = values.interval("uplift_at_quota", 0)
    assert lower < wanted < upper
    assert "90% interval" in added(found).sentences[0]
    assert (lower <= 0) == ("It may add nothing." in added(found).sentences[0])


def test_the_command(tmp_path: Path):
    def asked(path: Path, *more: str) -> Outcome:
        given = ("--label", "bought", "--score", "uplift", "--treatment", "mailed", *more)
        return run("evaluate", path, "--quota", "60", *given)

    def written(name: str, treatment: Any) -> Path:
        columns = {"bought": BOUGHT.astype(int), "mailed": treatment, **MODELS}
        return write_csv(tmp_path / name, **{k: x.tolist() for k, x in columns.items()})

    path = written("rows.csv", MAILED)
    wanted = uplift_at_quota(BOUGHT, MODELS["uplift"], treatment=MAILED, quota=60)
    content = asked(path, "--json").record
    assert content["treatment"] == "mailed"
    assert content["models"][0]["quotas"]["60"]["uplift_at_quota"] == float(wanted)
    words = written("words.csv", np.where(MAILED, "Mail", "none yet"))
    either = "treatments are 'Mail' and 'none yet', expected 0 and 1; say which one is treated with"
    assert either in asked(words).error.replace("'none yet' and 'Mail'", "'Mail' and 'none yet'")
    assert "did you mean --treated Mail?" in asked(words, "--treated", "mail").error
    by_words = asked(words, "--json", "--treated", "Mail").record
    assert by_words == {**content, "source": "words.csv", "treated": "Mail"}
    turned = asked(path, "--json", "--treated", "0").record
    assert turned["models"][0]["quotas"]["60"]["uplift_at_quota"] == -float(wanted)
