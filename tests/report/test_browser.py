"""The page in a browser, as wide as on a desk and on a phone: what fits, what is read first."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import CREDIT, write_csv

import quotakernels as qk

from .conftest import EVIL, ODD

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None and "chromium" in os.environ.get("QUOTAKERNELS_REQUIRE", "").split():
    raise RuntimeError("chromium is required here and is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not available")

SIZES = {"desk": (1280, 800), "phone": (390, 844)}
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1400,1000"),
)
MOVE = """
addEventListener("load", () => {
  const page = document.querySelector("iframe").contentDocument;
  const slider = page.getElementById("slider"), field = page.getElementById("field");
  const seen = () => ({
    hidden: page.getElementById("any-quota").hidden,
    brief: getComputedStyle(page.querySelector(".brief")).display,
    field: field.value, slider: slider.value,
    said: page.getElementById("said").textContent,
    rows: [...page.querySelectorAll("#any-quota tbody tr")].map((row) => row.innerText),
    cut: [...page.querySelectorAll("#any-quota tbody tr:first-child > *")].map(
      (x) => x.getBoundingClientRect().right
        > page.querySelector("#any-quota .scroll").getBoundingClientRect().right),
    best: [...page.querySelectorAll("#any-quota .first th")].map((x) => x.textContent),
    lines: [...page.querySelectorAll("#hit-rate [data-at]")].map(
      (x) => x.getBoundingClientRect().left),
    axis: page.querySelector("#hit-rate svg").getBoundingClientRect().width / 360
      * page.querySelector("#hit-rate svg").dataset.perPlace,
  });
  const moved = (input, to) => { input.value = to; input.dispatchEvent(new Event("input")); };
  const found = [seen()];
  moved(slider, 300); found.push(seen());
  moved(field, 151); found.push(seen());
  for (const typed of [12.6, 9999, -3]) {
    moved(field, typed); field.dispatchEvent(new Event("change")); found.push(seen());
  }
  document.body.textContent = JSON.stringify(found);
});
"""
"""Move the quota as a reader does, and tell what is seen before and after."""
MEASURE = """
const scale = (matrix) => Math.hypot(matrix.a, matrix.b);
addEventListener("load", () => {
  const found = [...document.querySelectorAll("iframe")].map((frame) => {
    const page = frame.contentDocument, box = (x) => x.getBoundingClientRect();
    const texts = [...page.querySelectorAll("figure text")];
    const sizes = texts.map(
      (x) => scale(x.getScreenCTM()) * parseFloat(getComputedStyle(x).fontSize));
    const wide = [...page.querySelectorAll("body *:not(svg *)")].filter(
      (x) => !x.closest(".scroll, pre, nav") && box(x).right > frame.clientWidth + 0.5);
    const out = texts.filter((x) => {
      const drawing = box(x.ownerSVGElement), text = box(x);
      return text.left < drawing.left - 1 || text.right > drawing.right + 1;
    });
    const scrolled = [...page.querySelectorAll(".scroll")].filter((x) => {
      if (x.scrollWidth <= x.clientWidth) return false;
      x.scrollLeft = x.scrollWidth;
      const out = (y) => box(y).left < box(x).left - 1 || box(y).right > box(x).right + 1;
      return x.scrollLeft <= 0 || [...x.querySelectorAll("caption, tbody tr > :first-child")]
        .filter((y) => y.checkVisibility()).some(out);
    });
    return {
      lost: scrolled.map((x) => x.textContent.trim().slice(0, 40)),
      overflow: page.documentElement.scrollWidth - frame.clientWidth,
      wide: wide.map((x) => x.tagName), out: out.map((x) => x.textContent),
      answer: box(page.getElementById("answer")).bottom - frame.clientHeight,
      verdicts: page.querySelectorAll("#answer .verdict").length,
      smallest: Math.min(...sizes), largest: Math.max(...sizes),
      height: page.documentElement.scrollHeight,
    };
  });
  document.body.textContent = JSON.stringify(found);
});
"""
"""Nothing is added to a page: what measures it is outside of its frame."""


def measured(pages: dict[str, str], folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """What the browser finds in each page at each size."""
    frames = "".join(
        f'<iframe style="width:{width}px;height:{height}px;border:0" srcdoc="{html.escape(page)}">'
        "</iframe>"
        for page in pages.values()
        for width, height in SIZES.values()
    )
    keys = [(page, size) for page in pages for size in SIZES]
    return dict(zip(keys, told_by(MEASURE, frames, folder), strict=True))


def told_by(script: str, frames: str, folder: Path) -> list[dict[str, Any]]:
    """What a script finds in the frames."""
    outside = folder / "outside.html"
    outside.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><script>{script}</script><body>{frames}</body>',
        encoding="utf-8",
    )
    command = [str(CHROMIUM), *QUIET, f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    done = subprocess.run([*command, outside.as_uri()], capture_output=True, text=True, check=True)
    body = re.search(r"<body>(.*)</body>", done.stdout, re.DOTALL)
    assert body is not None, done.stderr
    found: list[dict[str, Any]] = json.loads(html.unescape(body[1]))
    return found


@pytest.mark.full
def test_the_quota_moves(made: Callable[..., Path], tmp_path: Path) -> None:
    """By the slider and by the field beside it; hit rates are those of the library."""
    page = made("--example", "credit", "--quota", 100).read_text(encoding="utf-8")
    frame = f'<iframe style="width:1280px;height:800px" srcdoc="{html.escape(page)}"></iframe>'
    first, far, typed, part, above, below = told_by(MOVE, frame, tmp_path)
    assert not first["hidden"]
    assert first["brief"] == "none", "the table that moves has the same"
    assert first["said"] == (
        "naive_bayes finds 95 of 250 positives in 100 places (at random 73.5)."
    )
    assert first["rows"][1].split() == ["naive_bayes", "95", "95.0%", "1.29"]
    assert first["best"] == ["naive_bayes"]
    names = ("tree", "naive_bayes", "neural_net")
    for seen, quota in ((far, 300), (typed, 151)):
        assert seen["field"] == seen["slider"] == str(quota)
        rates = [qk.hit_rate(CREDIT["repaid"], CREDIT[x], quota=quota) for x in names]
        hits = [f"{x:.1%}" for x in rates]
        assert [row.split()[2] for row in seen["rows"][:3]] == hits
        assert seen["best"] == [x for x, y in zip(names, rates, strict=True) if y == max(rates)]
        moved = seen["lines"][0] - first["lines"][0]
        assert moved == pytest.approx((quota - 100) * first["axis"], abs=0.5)
    for seen, quota in ((part, 13), (above, 340), (below, 0)):
        assert seen["field"] == seen["slider"] == str(quota), "whole places that there are"
    assert part["said"].endswith(" in 13 places (at random 9.6).")
    assert below["said"] == "That selects nobody."


@pytest.mark.full
def test_small_rates_have_two_digits_as_in_the_text(
    made: Callable[..., Path], tmp_path: Path
) -> None:
    y = [int(x in (3, 100, 150, 399)) for x in range(400)]
    path = write_csv(tmp_path / "rare.csv", y=y, s=range(400, 0, -1))
    page = made(path, "--label", "y", "--score", "s", "--quota", 350, "--resamples", 20)
    frame = f'<iframe srcdoc="{html.escape(page.read_text(encoding="utf-8"))}"></iframe>'
    first, more, *_ = told_by(MOVE, frame, tmp_path)
    assert [row.split()[-2] for row in first["rows"]] == ["0.86%", "1.0%"]
    assert more["rows"][0].split()[-2] == "1.0%"


@pytest.mark.full
def test_what_the_quota_brings_is_seen_on_a_phone(
    made: Callable[..., Path], tmp_path: Path
) -> None:
    asked = ("--quota", 100, "--impact", "0,-5,-1,0", "--resamples", 20)
    page = made("--example", "credit", *asked).read_text(encoding="utf-8")
    frame = f'<iframe style="width:390px;height:800px" srcdoc="{html.escape(page)}"></iframe>'
    first, *_ = told_by(MOVE, frame, tmp_path)
    table = page.partition('id="any-quota"')[2].partition("<tbody")[0]
    heads = re.findall(r"<th [^>]*>([^<]*)", table)
    row = dict(zip(heads, first["rows"][1].split(), strict=True))
    assert row == {
        "model": "naive_bayes",
        "finds": "95",
        "hit rate": "95.0%",
        "brings": "−180.00",
        "lift": "1.29",
    }
    assert heads[-1] == "lift", "of which a phone may show less"
    assert not any(first["cut"][:-1])


@pytest.mark.full
def test_large_amounts_of_a_currency_are_seen_on_a_phone(
    made: Callable[..., Path], tmp_path: Path
) -> None:
    asked = ("--quota", 100, "--impact", "0,-5000,-1000,0", "--currency", "EUR", "--resamples", 20)
    page = made("--example", "credit", *asked).read_text(encoding="utf-8")
    frame = f'<iframe style="width:390px;height:800px" srcdoc="{html.escape(page)}"></iframe>'
    first, *_ = told_by(MOVE, frame, tmp_path)
    assert first["rows"][1].split()[-2] == "−180,000"
    assert not any(first["cut"][:-1])


@pytest.mark.full
def test_what_fits_and_what_is_read_first(
    made: Callable[..., Path], small: Path, tmp_path: Path
) -> None:
    few = ("--resamples", 20)
    names = ("--label", "</title><b>label", "--score", EVIL, "--score", ODD)
    a, *labels = np.loadtxt(small, delimiter=",", skiprows=1, usecols=(1, 0)).T
    models = {f"a model of a long name, number {k}": a + k * np.sin(k * a) for k in range(12)}
    many = write_csv(tmp_path / "many.csv", y=labels[0].astype(int), **models)
    scores = [word for name in models for word in ("--score", name)]
    pages = {
        "credit": made("--example", "credit", "--quota", 100),
        "gains": made(
            "--example", "credit", "--quota", 100, "--impact", "0,-5,-1,0", "--resamples", 100
        ),
        "hostile": made(small, *names, "--gain", "g", "--quota", 7, "--quota", "50%", *few),
        "many": made(many, "--label", "y", *scores, "--quota", 7, *few),
    }
    texts = {name: path.read_text(encoding="utf-8") for name, path in pages.items()}
    for (page, size), found in measured(texts, tmp_path).items():
        where = f"{page} at the {size}: {found}"
        assert found["overflow"] <= 0, where
        assert found["wide"] == found["out"] == [], where
        assert found["lost"] == [], f"what rows are stays in sight: {where}"
        assert found["verdicts"] == 4 + (page == "hostile"), f"two quotas: {where}"
        assert found["smallest"] >= 10, where
        assert found["largest"] <= 16, where
        if page == "many" and size == "desk":
            assert found["height"] < 8000, where
        if page in ("credit", "gains"):
            assert found["answer"] <= 0, where
