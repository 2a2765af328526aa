"""Values in docs/sources.md are what they say, and quotations stand in the papers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import arbel_rokach_printed as printed
import numpy as np
import pytest
from public_names import PUBLIC

import quotakernels as qk
from house.test_docs import DOCUMENTS, ROOT, place

PAGE = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
TEXTS = {
    "AR": ("arbel_rokach.txt", "arbel_rokach_second_copy.txt"),
    "DG": ("davis_goadrich.txt",),
    "EL": ("eiland_liebrock.txt",),
    "PW": ("powers.txt",),
}
QUOTATION = re.compile(r'"([^"]+)"\s+\((AR|DG|EL|PW)\b')
SAME = {ord(x): "-" for x in "‐‑‒–—−"} | str.maketrans("“”’ι₊₋", '""\'t+-', "_^")
MOST_WORDS = 12


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading of the page."""
    body = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in body.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines[1:]]


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the block of the page defines."""
    found: dict[str, Any] = {}
    exec(re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0], found)
    return found


@pytest.mark.parametrize("row", rows("Values"), ids=lambda row: ", ".join(row[:2]))
def test_values_are_as_printed_or_marked(row: list[str], names: dict[str, Any]):
    _, _, code, digits, computed = row
    values = np.atleast_1d(eval(code.strip("`"), names))
    agree = all(printed.matches(*pair) for pair in zip(digits.split(), values, strict=True))
    assert agree != computed.startswith("**")
    if computed != "the same":
        assert computed.strip("*") == " ".join(f"{value:.4f}" for value in values)


def test_characteristics_of_ar_table_4():
    rng = np.random.default_rng(0)
    for labels in rng.integers(0, 2, (20, 12)):
        rates, recalls = (
            curve(labels, np.arange(12, 0, -1)).value[1:]
            for curve in (qk.hit_rate_curve, qk.qrecall_curve)
        )
        steps = np.diff(recalls, prepend=0)
        assert (steps >= 0).all()
        assert (rates[-1], recalls[-1]) == (labels.mean(), 1)
        assert rates.min() >= 0
        assert max(rates.max(), recalls.max()) <= 1
        np.testing.assert_allclose(steps[labels == 1], 1 / labels.sum())  # the same at all places
        assert (steps[labels == 0] == 0).all()
        assert (np.diff(rates)[(labels[1:] == 0) & (rates[:-1] > 0)] < 0).all()
        gains = np.diff(rates)[labels[1:] == 1]
        assert (gains >= 0).all()


def test_names_of_places_are_public():
    named = [name for _, _, here in rows("Places") for name in re.findall(r"`(\w+)`", here)]
    assert len(named) > 40
    assert set(named) <= PUBLIC.keys()


def normal(text: str) -> str:
    """Without differences of spaces, dashes, quotes, raised signs and of what was read as ι."""
    return re.sub(" ?- ?", "-", " ".join(text.translate(SAME).split()))


def quotations() -> list[tuple[str, str, str]]:
    """Quotations that name a paper, and those in its errata: where, the words, the paper."""
    texts = {place(path): path.read_text(encoding="utf-8") for path in DOCUMENTS}
    found = [(where, *x) for where, text in texts.items() for x in QUOTATION.findall(text)]
    errata = re.sub(r"^```.*?^```$|`[^`]+`", "", texts["docs/errata.md"], flags=re.M | re.S)
    for paper, body in re.findall(r"^## (\w\w): .+\n((?:(?!## ).*\n)*)", errata, re.MULTILINE):
        found += [("errata", words, paper) for words in re.findall(r'"([^"]+)"', body)]
    return found


def test_quotations_are_short():
    found = quotations()
    assert found
    assert [x for x in found if len(x[1].split()) > MOST_WORDS] == []


def test_quotations_stand_in_the_papers(shared: Path):
    folder = shared.parent / "sources"
    if not folder.is_dir():
        pytest.skip("the texts of the papers are not beside the repository")
    texts = {
        key: [normal((folder / name).read_text(encoding="utf-8")) for name in files]
        for key, files in TEXTS.items()
    }
    texts["PW"] = [text.partition("david m.w. powers")[0] for text in texts["PW"]]  # the abstract
    missing = [
        (where, words)
        for where, words, paper in quotations()
        if not all(normal(words) in text for text in texts[paper])
    ]
    assert missing == []
