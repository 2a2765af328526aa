"""The simulation of coverage: its populations are what they say, and its page is up to date."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import quotakernels as qk
from benchmarks.coverage import folds, page, seen
from benchmarks.coverage.__main__ import main
from benchmarks.coverage.shortfalls import DEFAULTS, shortfalls
from benchmarks.coverage.sources import MEASURES, SOURCES, WORSE
from benchmarks.coverage.study import KINDS, POPULATIONS, kinds_of

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[1]


def test_populations_have_the_values_of_closed_forms():
    strong = SOURCES["strong"]
    everybody = strong.everybody()
    auc = NormalDist().cdf(strong.apart / math.sqrt(2))
    assert strong.truth("AUC") == pytest.approx(auc, abs=1e-7)
    share = everybody.positives.sum() / everybody.counts.sum()
    assert share == pytest.approx(strong.positive, abs=1e-9)


@pytest.mark.parametrize("name", SOURCES)
def test_samples_are_of_their_populations(name: str):
    source, rng = SOURCES[name]._replace(n=200_000), np.random.default_rng(0)
    worse = source._replace(apart=WORSE * source.apart)
    labels, scores = source.sample(rng)
    both, better, other = source.pair(rng, same=False)
    samples = [(labels, scores, source), (both, better, source), (both, other, worse)]
    samples.append((*source.customers(rng)[:2], source))
    labels, scores, _ = source.branches(rng, 50_000)
    samples += [(labels, x, source) for x in scores]
    for y, s, population in samples:
        for what in ("AUC", "AQR", "hit rate"):
            assert MEASURES[what](y, s) == pytest.approx(population.truth(what), abs=0.02)
    assert (len(np.unique(scores)) < 20) == (name in ("tied", "coarse"))


def test_models_that_are_trained_are_as_good_as_is_said():
    """On average over data sets; the folds hold as many of each class."""
    source = SOURCES["strong"]._replace(n=100, apart=1.5)
    found, rng = [], np.random.default_rng(1)
    for _ in range(60):
        labels, features = folds._examples(source, rng, 1)
        split = folds._folds(labels, 1, rng)
        positives = [np.sum(labels[split[0] == fold]) for fold in range(folds.FOLDS)]
        assert max(positives) - min(positives) <= 1
        scores = folds._scores(source, labels, features, split)[0]
        found.append(qk.inference.fold_summary(qk.roc_auc, labels, scores, split).estimate)
    assert np.mean(found) == pytest.approx(folds._truth(source, "AUC"), abs=0.02)


def test_what_is_seen_is_counted():
    found: dict[Any, Any] = {}
    ends = ((0.1, 0.4), (0.2, 0.6), (0.6, 0.9), (np.nan, np.nan), ([0.4, 0.6], [0.6, 0.7]))
    seen.summed(found, [seen.Seen("AUC", "x", *pair, 0.5) for pair in ends])
    seen.summed(found, [seen.Tested("AUC", "y", p) for p in (0.04, 0.05, 0.06, np.nan)])
    intervals, tests = seen.rows(found)
    assert [intervals[x] for x in ("number", "above", "below")] == [4, 2, 1]
    assert intervals["width"] == pytest.approx((0.3 + 0.4 + 0.3 + 0.15) / 4)
    assert (tests["number"], tests["rejected"]) == (3, 2)
    assert page._cell({**intervals, "number": 100}, 100) == "97.0"
    assert page._cell({**intervals, "number": 20}, 20) == "85.0 −"
    assert page._cell({"number": 1000, "rejected": 20}, 1000) == "2.0 +"
    assert page._cell({"number": 28, "rejected": 0}, 500) == "0.0 of 28"
    assert page._cell({"number": 450, "rejected": 0}, 500) == "0.0 +"


def test_the_command_stores_and_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    stored, shown = tmp_path / "run.json", tmp_path / "page.md"
    given = ["--replications", "2", "--resamples", "40", "--sources", "strong", "moderate"]
    assert main([*given, "--kinds", "folds", "--json", str(stored)]) == 0
    others = [kind for kind in KINDS if kind != "folds"]
    again = [*given, "--seed", "2"]
    assert main([*again, "--kinds", *others, "--json", str(stored)]) == 0
    last = capsys.readouterr().out.strip()
    assert main(["report", str(stored), "-o", str(shown)]) == 0
    text = shown.read_text("utf-8")
    assert last.endswith(text.strip())
    assert (text.count("--seed 1`"), text.count("--seed 2`")) == (1, len(others))
    results = json.loads(stored.read_text("utf-8"))
    assert list(results) == list(KINDS)
    for kind, found in results.items():
        (part, *_) = found.values()
        hows = {row["how"] for row in part["rows"]}
        assert hows >= set(page.SECTIONS[kind].columns), kind


def test_seeds_of_kinds_and_populations_are_their_own():
    assert len({kind.number for kind in KINDS.values()}) == len(KINDS)
    assert list(POPULATIONS) == list(SOURCES)
    assert len(set(POPULATIONS.values())) == len(SOURCES)


def test_the_page_is_made_of_the_stored_run():
    run = json.loads((ROOT / page.STORED).read_text("utf-8"))
    stored = [(kind, name) for kind, found in run.items() for name in found]
    assert set(stored) == {(kind, name) for name in SOURCES for kind in kinds_of(name)}
    for kind, name in stored:
        assert run[kind][name]["replications"] >= 500
    assert (ROOT / page.PAGE).read_text("utf-8") == page.page(run)


def test_where_defaults_fall_short_their_docstrings_say_so():
    """And none says so of what is well; the page has a word in bold for each of them."""
    run = json.loads((ROOT / page.STORED).read_text("utf-8"))
    short = {(x.kind, x.how) for x in shortfalls(run)}
    said = {(kind, how) for kind, hows in DEFAULTS.items() for how in hows if hows[how][1]}
    assert short == said
    for kind, how in short:
        name, words = DEFAULTS[kind][how]
        function = getattr(qk, name, None) or getattr(qk.inference, name)
        assert words in " ".join(function.__doc__.split()), (kind, how)
        assert "**" in page.SECTIONS[kind].about, kind
