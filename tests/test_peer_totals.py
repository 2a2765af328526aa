"""The page about checks shows what the suites of other libraries' tests counted."""

from __future__ import annotations

import json
from pathlib import Path

import _pages as pages
import pytest
from peers import totals

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
    assert json.loads((kept / "totals.json").read_text("utf-8"))["a"] == {
        "version": "1.0",
        "cases": {"hold": 5, "skipped": 2},
    }
    shown = pages.section((kept / "page.md").read_text("utf-8"), "a")
    assert shown.splitlines()[2:] == [
        "| 7 | all, of version 1.0 |",
        "| 5 | hold |",
        "| 2 | skipped |",
    ]


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
