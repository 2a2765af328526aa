"""Scripts beside the tests: changes of the library, suites of other libraries, other standards."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import _pages as pages
import mutants
import numpy as np
import pytest
from peers import totals

import quotakernels as qk


@pytest.mark.full
@pytest.mark.parametrize("only", ["ranking.py", "measures/at_quota.py", "inference/hit_rates.py"])
def test_each_change_is_one_place_of_a_file_that_still_compiles(only: str):
    count, tried = mutants.sampled(only, 20, 0)
    assert count > len(tried) == 20
    assert len(set(tried)) == 20
    for mutant in tried:
        before = (mutants.ROOT / mutant.path).read_text("utf-8").splitlines()
        after = mutants.source_of(mutant).splitlines()
        compile("\n".join(after), mutant.path, "exec")
        edits = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        (place,) = [x for x in edits if x[0] != "equal"]
        assert place[1] == mutant.line - 1


def test_what_was_decided_is_still_in_the_library():
    gone = [
        (path, line)
        for path, line in mutants.DECIDED
        if line not in {x[0].change for x in mutants.changes_of(mutants.ROOT / path)}
    ]
    assert gone == [], "DECIDED of tests/mutants.py has lines that moved or went: move or drop them"


# the page about checks shows what the suites of other libraries' tests counted


KEPT = json.loads(totals.KEPT.read_text("utf-8"))
SUITES = ("rax", "scikit-learn", "torchmetrics", "torchmetrics' examples")


def test_every_suite_has_its_totals():
    assert sorted(KEPT) == list(SUITES)
    files = {x.name.partition("_")[0] for x in Path(totals.__file__).parent.glob("*_suite.py")}
    assert files == {"rax", "sklearn", "torchmetrics"}


@pytest.mark.parametrize("suite", SUITES)
def test_the_page_shows_what_a_suite_counted(suite: str):
    text = totals.PAGE.read_text("utf-8")
    assert pages.section(text, suite) == totals.section(KEPT[suite])
    assert not any("differ unexpectedly" in reason for reason in KEPT[suite]["cases"])


def counted(**reasons: int) -> totals.Total:
    total = totals.Total()
    total.reasons.update(reasons)
    return total


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Totals and a page of a suite."""
    monkeypatch.setattr(totals, "KEPT", tmp_path / "totals.json")
    monkeypatch.setattr(totals, "PAGE", tmp_path / "page.md")
    totals.PAGE.write_text("<!-- made: a -->\n\nold\n\n<!-- end: a -->\n", encoding="utf-8")
    assert totals.told("a", "1.0", counted(hold=5, skipped=2), ["--write"]) == 0
    return tmp_path


def test_a_suite_keeps_its_totals_and_writes_the_page(kept: Path):
    total = json.loads((kept / "totals.json").read_text("utf-8"))["a"]
    assert total == {"version": "1.0", "cases": {"hold": 5, "skipped": 2}}
    shown = pages.section((kept / "page.md").read_text("utf-8"), "a")
    rows = ["| 7 | all, of version 1.0 |", "| 5 | hold |", "| 2 | skipped |"]
    assert shown.splitlines()[2:] == rows


def test_a_sample_has_no_outcome_that_the_page_does_not_have(
    kept: Path, capsys: pytest.CaptureFixture[str]
):
    assert totals.told("a", "1.0", counted(hold=1), ["--sample"]) == 0
    for reasons in ({"hold": 6}, {"hold": 1, "new": 1}, {}):
        assert totals.told("a", "1.0", counted(**reasons), ["--sample"]) == 1
    assert "more than 0: new" in capsys.readouterr().out


def test_what_differs_unexpectedly_fails_and_is_not_kept(kept: Path):
    before = (kept / "totals.json").read_text("utf-8")
    total = counted(hold=9)
    total.unexpected.append("differs: some test")
    assert totals.told("a", "1.0", total, ["--write"]) == 1
    assert (kept / "totals.json").read_text("utf-8") == before


# other libraries of the array API standard, in all of its versions since 2024.12


@pytest.mark.parametrize("version", ["2024.12", "2025.12"])
def test_versions_of_the_standard(version: str):
    xs = pytest.importorskip("array_api_strict")
    if version == "2025.12" and xs.__array_api_version__ < version:
        pytest.skip("this array-api-strict has no such version")
    y, s = xs.asarray([1, 0, 1]), xs.asarray([0.3, 0.2, 0.1])
    with xs.ArrayAPIStrictFlags(api_version=version):
        assert float(qk.roc_auc(y, s)) == 0.5


def test_ndonnx():
    ndx = pytest.importorskip("ndonnx")
    known = (np.asarray([1, 0, 1]), np.asarray([0.3, 0.2, 0.1]))
    assert float(qk.roc_auc(*(ndx.asarray(x) for x in known)).unwrap_numpy()) == 0.5
