"""The simulation of coverage: its populations are what they say, and its page is up to date."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

import quotakernels as qk
from benchmarks.coverage import page, shapes
from benchmarks.coverage.__main__ import main
from benchmarks.coverage.shortfalls import DEFAULTS, Found, found_in, quoted
from benchmarks.coverage.sources import MEASURES, SOURCES, WORSE
from benchmarks.coverage.study import KINDS, kinds_of

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[2]


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


def test_the_command_stores_and_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shapes, "MANY", 1000)  # of which values are not as exact
    stored, shown = tmp_path / "run.json", tmp_path / "page.md"
    given = ["--resamples", "40", "--sources", "strong", "moderate", "--replications"]
    assert main([*given, "2", "--kinds", "folds", "--json", str(stored)]) == 0
    others = [kind for kind in KINDS if kind != "folds"]
    again = [*given, "1", "--seed", "2"]
    assert main([*again, "--kinds", *others, "--json", str(stored)]) == 0
    last = capsys.readouterr().out.strip()
    assert main(["report", str(stored), "--all"]) == 0
    text = capsys.readouterr().out.strip()
    assert last.endswith(text)
    assert (text.count("--seed 1\n"), text.count("--seed 2\n")) == (1, len(others))
    assert main(["report", str(stored), "-o", str(shown)]) == 0
    assert "`fold_summary`, 5 folds" in shown.read_text("utf-8")
    results = json.loads(stored.read_text("utf-8"))
    assert list(results) == list(KINDS)
    assert DEFAULTS.keys() <= {(x.kind, x.how) for x in found_in(results)}


def test_the_page_is_made_of_the_stored_run():
    run = json.loads((ROOT / page.STORED).read_text("utf-8"))
    stored = [(kind, name) for kind, found in run.items() for name in found]
    assert set(stored) == {(kind, name) for name in SOURCES for kind in kinds_of(name)}
    for kind, name in stored:
        assert run[kind][name]["replications"] >= 500
    assert (ROOT / page.PAGE).read_text("utf-8") == page.page(run)


def _stored() -> list[Found]:
    return list(found_in(json.loads((ROOT / page.STORED).read_text("utf-8"))))


FUNCTIONS = sorted(set(DEFAULTS.values()))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_quote_how_far_defaults_fall_short(name: str):
    """Each setting's percentage is in a range whose ends are percentages that were simulated."""
    own = [key for key, function in DEFAULTS.items() if function == name]
    found = [x for x in _stored() if x.kind in dict(own)]
    function = getattr(qk, name, None) or getattr(qk.inference, name)
    _check_quoted(function.__doc__, [x for x in found if (x.kind, x.how) in own], found)


def test_the_page_has_every_shortfall():
    text = (ROOT / page.PAGE).read_text("utf-8")
    short = [x for x in _stored() if x.is_default and x.is_short]
    assert len(short) > 80
    assert len(re.findall(r"(?<!at) \d+\.\d[;, ]", text.partition("## Intervals")[2])) == len(short)


def _check_quoted(text: str, defaults: list[Found], found: list[Found]) -> None:
    """All that fall short are in the text, the worst interval and test as an end of a range."""
    ranges = quoted(" ".join(text.split()), found)
    for short in (x for x in defaults if x.is_short):
        assert any(round(short.of_100) in x for x in ranges), short
    ends = {end for x in ranges for end in (x[0], x[-1])}
    for worst, is_test in ((min, False), (max, True)):
        if short := [x.of_100 for x in defaults if x.is_short and x.is_test == is_test]:
            assert round(worst(short)) in ends


def test_what_is_quoted_was_found():
    found = [Found("bands", "rare", "ROC", "x", percent, False) for percent in (79.6, 94.0)]
    assert quoted("of 95 % they held 80 to 94 %", found) == [range(80, 95)]
    assert quoted("80 to 93, 80 positives, 0.80, 80.2 or 94", found) == [range(94, 95)]
