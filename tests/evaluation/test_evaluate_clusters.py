"""Rows that are not independent: all rows of a customer are drawn together, everywhere."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quotakernels as qk

pytest.importorskip("pyarrow")
pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pandas")

import pandas as pd
from command import run

SURE = {"confidence_level": 0.9, "n_resamples": 80, "random_state": 3}
ASKED = ("--label", "bought", "--score", "a", "--score", "b", "--quota", 90)
SAID_SURE = ("--confidence", 0.9, "--resamples", 80, "--seed", 3)


@pytest.fixture(scope="module")
def rows() -> Any:
    """Customers of one to four rows that are alike."""
    draw = np.random.default_rng(5)
    customer = np.repeat(np.arange(300), draw.integers(1, 5, 300))
    nature = draw.normal(size=300)[customer]
    found = {"customer_id": customer, "bought": (nature > 0.4).astype(int)}
    found |= {name: nature + draw.normal(size=300)[customer] for name in "ab"}
    return pd.DataFrame(found | {"amount": draw.random(customer.size).round(2)})


@pytest.fixture
def file(rows: Any, tmp_path: Path) -> Path:
    rows.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


def evaluated(rows: Any, **options: Any) -> Any:
    return qk.evaluate("bought", rows[["bought", "a", "b", "customer_id"]], quota=90, **options)


def test_intervals_and_tests_are_those_of_whole_clusters(rows: Any):
    y, scores, clusters = (rows[x].to_numpy() for x in ("bought", "a", "customer_id"))
    found = evaluated(rows, clusters="customer_id", compare=True, **SURE)
    drawn = {"clusters": clusters, **SURE}
    area = qk.bootstrap(qk.roc_auc, y, scores, **drawn)
    rate = qk.bootstrap(partial(qk.hit_rate, quota=90), y, scores, **drawn)
    assert found.over_all.interval("roc_auc", 0) == (area.lower, area.upper)
    (at_quota,) = found.at_quota.values()
    assert at_quota.interval("hit_rate", 0) == (rate.lower, rate.upper)
    for test, options in zip(found.differences, ({}, {"quota": 90}), strict=True):
        measure = qk.roc_auc if test.quota is None else qk.hit_rate
        models = {name: rows[name].to_numpy() for name in "ab"}
        by_hand = qk.compare(measure, y, models, **options, **drawn)
        np.testing.assert_array_equal(test.found.p_value, by_hand.p_value)
        assert test.found.test == "bootstrap"


def test_doubled_rows_tell_no_more_than_one_of_each(rows: Any):
    """Without clusters the intervals of doubled rows would be narrower by a factor of 1.4."""
    sure: dict[str, Any] = {"confidence_level": 0.9, "n_resamples": 300}
    one = rows.drop_duplicates("customer_id")
    twice = pd.concat([one, one], ignore_index=True)
    for name in ("roc_auc", "average_hit_rate"):
        alone, doubled, wrong = (
            np.diff(found.over_all.interval(name, 0)).item()
            for found in (
                evaluated(one, clusters="customer_id", **sure),
                evaluated(twice, clusters="customer_id", **sure),
                evaluated(twice[["bought", "a", "b", "customer_id"]], **sure),
            )
        )
        assert doubled == pytest.approx(alone, rel=0.15)
        assert wrong < 0.85 * alone


@pytest.mark.parametrize(
    "options",
    [{"sample_weight": "amount"}, {"gain": "amount"}, {"impacts": (5, -1, 0, 0)}, {"by": "kind"}],
)
def test_all_that_is_asked_for_draws_clusters(rows: Any, options: dict[str, Any]):
    """No interval or test of what rows bring, weigh or share is a formula for single rows."""
    data = rows.assign(kind=np.arange(len(rows)) % 3)
    shuffled = data.assign(customer_id=np.arange(len(rows)))
    asked = {"quota": 90, "clusters": "customer_id", "compare": True, **options, **SURE}
    found, other = (qk.evaluate("bought", x, **asked) for x in (data, shuffled))
    ends = found.to_frame()[["lower", "upper"]].to_numpy()
    of_others = other.to_frame()[["lower", "upper"]].to_numpy()
    assert np.isfinite(ends).any()
    with_ends = np.isfinite(ends).all(axis=1)
    assert (ends != of_others).any(axis=1)[with_ends].mean() > 0.9
    by_clusters = {x.found.test for x in found.differences if x.measure != "brings"}
    assert by_clusters == {"bootstrap"}


def test_the_command_says_the_same(rows: Any, file: Path):
    found = evaluated(rows, clusters="customer_id", compare=True, **SURE)
    asked = (*ASKED, *SAID_SURE, "--compare", "--cluster", "customer_id")
    printed = json.loads(run("evaluate", file, *asked, "--json").out)
    assert {**json.loads(found.to_json()), "source": "rows.csv"} == printed
    said = run("evaluate", file, *asked).out
    assert "300 clusters (customer_id)" in said
    assert "several rows" not in said.lower()


def test_few_clusters_are_said_to_be_few(rows: Any):
    few = rows[rows["customer_id"] < 40]
    for options in ({"confidence_level": 0.9}, {"compare": True}):
        found = evaluated(few, clusters="customer_id", n_resamples=20, **options)
        assert any(x.startswith("Only 40 clusters:") for x in found.notes)
    found = evaluated(rows, clusters="customer_id", n_resamples=20, compare=True)
    assert not any("clusters" in x for x in found.notes)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *[(x, True) for x in ("customer_id", "Customer ID", "PatientId", "user", "card-no")],
        *[(x, False) for x in ("amount", "paid", "valid", "cards", "humid")],
    ],
)
def test_a_column_that_looks_like_an_id_is_named(rows: Any, file: Path, name: str, said: bool):
    rows.rename(columns={"customer_id": name}).to_csv(file, index=False)
    found = run("evaluate", file, *ASKED, "--confidence", 0.9, "--resamples", 20)
    assert found.status == 0
    note = f"Several rows share a value of {name!r}."
    assert (note in found.out) == said
    assert not said or "give that column as --cluster;" in found.out
    assert note not in run("evaluate", file, *ASKED).out


def test_ids_of_single_rows_or_of_many_are_not_named(rows: Any, file: Path):
    for ids in (np.arange(len(rows)), np.arange(len(rows)) % 3):
        rows.assign(customer_id=ids).to_csv(file, index=False)
        found = run("evaluate", file, *ASKED, "--confidence", 0.9, "--resamples", 20)
        assert found.status == 0
        assert "Several rows share" not in found.out


def test_clusters_need_something_that_is_drawn(rows: Any, file: Path):
    with pytest.raises(ValueError, match=r"clusters= goes with confidence_level= or compare="):
        evaluated(rows, clusters="customer_id")
    error = run("evaluate", file, *ASKED, "--cluster", "customer_id").error
    assert "--cluster goes with --confidence or --compare" in error
    error = run("evaluate", file, *ASKED, *SAID_SURE, "--cluster", "nobody").error
    assert "no column 'nobody'" in error
