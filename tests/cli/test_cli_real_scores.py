"""The command on published scores and on a mail campaign, against printed values and `evaluate`."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import by_model, run
from pyarrow import csv as arrow_csv

import quotakernels as qk

MODELS = [f"{name}.score" for name in ("logistic", "svm", "linear", "rf")]
SCORES = [x for name in MODELS for x in ("--score", name)]
CAMPAIGN = ["--label", "conversion", *SCORES, "--where", "train=0", "--gain", "spend"]
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
    content = run("evaluate", campaign, "--label", "conversion", *SCORES, *quotas).record
    assert (content["rows"], content["positives"]) == (64000, 578)
    assert content["places"] == {"1000": 1000, "5%": 3200}


def test_whom_to_mail(campaign: Path) -> None:
    """The best cut, what a quota brings, and both with the cut chosen on other rows."""
    text = run("evaluate", "--all", campaign, *CAMPAIGN).out
    assert "from the first 15,555 of logistic.score (48.6% of all): 7,351.41." in text
    assert "selecting all 3,400.39;" in text
    assert "How many should I take? 1,075 of the 1,600 places.\nThe first 1,075 of logistic" in text
    assert "2,118.84, at random 170.02." in text
    tuned = run("evaluate", "--all", campaign, *CAMPAIGN, "--tune", "train=1").out
    assert "How many should I take? All 1,600 places.\nThe best cut of logistic.score, " in tuned
    assert "is reached by 21,277 of these rows and brings 7,037.83.\n" in tuned


def test_a_campaign_in_python(campaign: Path) -> None:
    """`evaluate` of the columns is what the command finds."""
    asked = ["--tune", "train=1", "--confidence", 0.95, "--compare", "--resamples", 20, "--json"]
    printed = run("evaluate", campaign, *CAMPAIGN, *asked).record
    table = arrow_csv.read_csv(campaign)
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    trained = columns["train"] == 1
    found = qk.evaluate(
        columns["conversion"],
        {name: columns[name] for name in MODELS},
        fraction=0.05,
        gain=columns["spend"],
        place_cost=0.8,
        where=~trained,
        tune=trained,
        confidence_level=0.95,
        compare=True,
        n_resamples=20,
    )
    content = by_model(found.to_json())
    named = {"source", "label", "where", "tune", "unit"}
    assert {k: x for k, x in content.items() if k not in named} == {
        k: x for k, x in printed.items() if k not in named
    }
    assert found.rows_read == len(trained)
