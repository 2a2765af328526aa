"""The simulation of coverage: its populations are what they say, and its page is up to date."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

import quotakernels as qk
from benchmarks import coverage

ROOT = Path(__file__).resolve().parents[1]


def test_populations_have_the_values_of_closed_forms():
    strong = coverage.SCORES["strong"]
    everybody = strong.everybody()
    auc = NormalDist().cdf(strong.apart / math.sqrt(2))
    assert float(qk.roc_auc(everybody)) == pytest.approx(auc, abs=1e-7)
    share = everybody.positives.sum() / everybody.counts.sum()
    assert share == pytest.approx(strong.positive, abs=1e-9)


@pytest.mark.parametrize("name", coverage.SCORES)
def test_samples_are_of_their_populations(name: str):
    source = coverage.SCORES[name]._replace(n=200_000)
    labels, scores = source.sample(np.random.default_rng(0))
    everybody = source.everybody()
    for measure in (qk.roc_auc, qk.average_qrecall, coverage.MEASURES["hit rate"]):
        assert measure(labels, scores) == pytest.approx(float(measure(everybody)), abs=0.02)
    assert (len(np.unique(scores)) < 20) == (name == "tied")


def test_misses_are_counted():
    ends = np.asarray([[0.1, 0.4], [0.2, 0.6], [0.6, 0.9], [np.nan, np.nan]])
    found = coverage._summary(ends, 0.5)
    assert found == {"intervals": 3, "above": 1, "below": 1, "width": pytest.approx(0.3333)}
    assert coverage._cell({**found, "intervals": 100}, 1.0) == "98.0 +"
    assert coverage._cell({**found, "intervals": 20}, 1.0) == "90.0 −"


def test_the_command_stores_and_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    stored, page = tmp_path / "run.json", tmp_path / "page.md"
    given = ["--replications", "2", "--resamples", "8", "--only", "strong"]
    assert coverage.main([*given, "--json", str(stored)]) == 0
    shown = capsys.readouterr().out
    assert coverage.main(["report", str(stored), "-o", str(page)]) == 0
    assert page.read_text("utf-8").strip() == shown.strip()
    rows = json.loads(stored.read_text("utf-8"))["results"]["strong"]["rows"]
    assert len(rows) == 5 * 4 + 2 * 2 + 2
    assert all(row["intervals"] == 2 for row in rows if row["method"] in ("percentile", "logit"))


def test_the_page_is_made_of_the_stored_run():
    run = json.loads((ROOT / coverage.STORED).read_text("utf-8"))
    assert run["plan"]["replications"] >= 1000
    assert run["results"].keys() == coverage.SCORES.keys()
    assert (ROOT / coverage.PAGE).read_text("utf-8") == coverage.page(run)
