"""`quotakernels report`: what the page says, and that it needs nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from command import CREDIT, run, write_csv
from pyarrow import csv as arrow_csv
from pyarrow import parquet

import quotakernels as qk
from quotakernels.evaluation.settings import Resampling, few_resamples, resamples_for

from .conftest import EVIL, ODD

Made = Callable[..., Path]
EMPTY = {"meta", "link", "br", "input"}
FEW = ("--resamples", 20)
PART = ("--label", "y", "--score", "a", "--where", "part=u", "--quota", 7, *FEW)
EXAMPLE = ("--example", "credit", "--quota", 100)


class Page(HTMLParser):
    """The elements and texts of a page; fails where elements are not closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(page.replace("<wbr>", ""))  # where a name may be broken
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), self.get_starttag_text()
        self.elements.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self.open, "only there an element may close itself"
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    @property
    def text(self) -> str:
        """All that is read, with single spaces."""
        return " ".join(
            " ".join(x for tag, x in self.texts if tag not in ("style", "script")).split()
        )

    def attributes(self, name: str) -> Iterator[str]:
        return (x[name] or "" for _, x in self.elements if name in x)


def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def credit(made: Made) -> Page:
    return read(made(*EXAMPLE))


# the facts


def test_tables_hold_the_values_of_the_library(credit: Page) -> None:
    for name in ("tree", "naive_bayes", "neural_net"):
        ranking = qk.rank(CREDIT["repaid"], CREDIT[name])
        values = [measure(ranking, quota=100) for measure in (qk.hit_rate, qk.qrecall, qk.lift)]
        values += [qk.roc_auc(ranking), qk.average_qrecall(ranking), qk.pr_auc(ranking)]
        missing = [x for x in values if f" {x:.4f}" not in credit.text]
        assert missing == [], name
        end = qk.quota_threshold(CREDIT[name], quota=100)
        row = f"{name} {end.threshold} {end.above:.0f} {end.tied:.0f} {100 - end.above:.0f}"
        assert row in credit.text
    models = {name: CREDIT[name] for name in ("tree", "naive_bayes", "neural_net")}
    test = qk.compare(qk.hit_rate, CREDIT["repaid"], models, quota=100)
    interval = f"−{-test.lower[0, 1]:.3f} to {test.upper[0, 1]:.3f}"
    p = f"{test.p_as_best[0, 1]:.4f}"
    assert f"naive_bayes neural_net 0.0500 {interval} {p}" in credit.text


def test_a_number_is_one_text_on_a_page(made: Made, tmp_path: Path) -> None:
    """NumPy rounds 1.15 up, and Python down."""
    y, a = [1] * 4 + [0] * 36, [3] + [2] * 20 + [1] * 19
    path = write_csv(tmp_path / "tied.csv", y=y, a=a)
    text = read(made(path, "--label", "y", "--score", "a", "--quota", 2, drawn=False)).text
    assert "Take the first 2 rows by a: 1.2 are positive (y)" in text
    assert "1.2 positives, at random 0.2 That is 0.95 more" in text
    assert "mark the best model" not in text, "there is one"


def test_an_order_by_gains_is_tested_by_gains(made: Made, small: Path) -> None:
    options = ("--label", "y", "--score", "a", "--score", "b", "--gain", "g", "--quota", 9)
    page = read(made(small, *options, *FEW, drawn=False))
    columns = arrow_csv.read_csv(small)
    brings = {
        name: qk.impact_at_quota(
            None, columns[name].to_numpy(), gain=columns["g"].to_numpy(), quota=9
        ).whole
        for name in ("a", "b")
    }
    second, first = sorted(brings, key=lambda name: brings[name])
    more = f"{brings[first] - brings[second]:.2f}"
    assert f"{first} brings {more} more than {second} (95% interval" in page.text


def test_commands_that_it_shows_do_what_it_says(made: Made, small: Path, tmp_path: Path) -> None:
    page = read(made(small, *PART, drawn=False))
    command = next(x for tag, x in page.texts if tag == "code" and " select " in x)
    words = shlex.split(command.replace("selected.csv", shlex.quote(str(tmp_path / "out.csv"))))
    assert words[:2] == ["quotakernels", "select"]
    filled = run(*words[1:]).out.splitlines()[-2]
    assert f"{filled}." in page.text
    assert arrow_csv.read_csv(tmp_path / "out.csv")["part"].unique().to_pylist() == ["u"]


def test_facts_of_the_data_and_the_page(made: Made, small: Path) -> None:
    page = read(made(small, *PART, drawn=False))
    assert "Rows in the file 40 Rows left out 20: not part = u Rows evaluated 20" in page.text
    assert f"Made by quotakernels {qk.__version__} on 20" in page.text
    made_by = next(x for tag, x in reversed(page.texts) if tag == "code")
    assert shlex.split(made_by)[:-1] == ["quotakernels", "report", *map(str, (small, *PART)), "-o"]


def test_words_of_commands_for_all_shells(made: Made, small: Path) -> None:
    in_double = ["Score A", "it's", "age>=40", "k. A."]
    in_single = ["", 'say "a"', "$HOME x", "a\\b", "so!", "9% x", "a`b", "a\nb"]
    shown = [*(f'"{x}"' for x in in_double), *map(shlex.quote, in_single)]
    words = [y for x in (*in_double, *in_single) for y in ("--missing", x)]
    text = read(made(small, "--label", "y", "--score", "a", *words, *FEW, drawn=False)).texts
    made_by = next(x for tag, x in reversed(text) if tag == "code")
    assert " ".join(f"--missing {x}" for x in shown) in made_by
    assert [x for x in shlex.split(made_by) if x in words] == words


# what is undefined


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--label none --score a --quota 5", "None of the 40 rows is positive (none"),
        ("--label none --score a --quota 5", "curves of positives are undefined"),
        ("--label y --score a --quota 5", "Not sure that it is better than a random"),
        ("--label y --score a --score b", "Give --quota to learn it for your"),
        (
            "--label y --score a --score b --quota 1% --quota 50%",
            "A quota of 1% selects nobody",
        ),
        (
            "--label y --score a --weight w --gain g --quota 8.5",
            "counts rows and not weights, so it takes the score and selects a weight of 9, more t",
        ),
    ],
)
def test_undefined_cases_are_said_in_words(
    made: Made, small: Path, options: str, said: str
) -> None:
    page = read(made(small, *options.split(), *FEW, drawn=False))
    assert said in page.text
    assert re.search(r"\b(nan|inf|None)\b(?! of| of the)", page.text.replace("None: a", "")) is None


def test_options_are_code_which_no_line_breaks(made: Made, small: Path) -> None:
    page = read(made(small, "--label", "y", "--score", "a", "--score", "b", *FEW, drawn=False))
    assert ("code", "--quota") in page.texts
    style = "".join(text for tag, text in page.texts if tag == "style")
    assert "\np code, li > code, dd code { white-space: nowrap; }" in style


def test_axes_are_of_rows_as_the_text_is(made: Made, small: Path) -> None:
    page = read(made(small, "--label", "y", "--score", "a", "--quota", 5, *FEW))
    labels = [text for tag, text in page.texts if tag == "text"]
    assert "Quota (rows)" in labels
    assert "Quota (% of rows)" in labels
    assert "examples" not in page.text


def test_a_page_that_cannot_be_written_is_refused_before_the_work(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quotakernels.cli.run.evaluate_file", None)
    command = ("report", small, "--label", "y", "--score", "a", "-o")
    assert "not a directory" in run(*command, tmp_path / "none" / "a.html").error
    assert "is the input" in run(*command, small).error


@pytest.mark.full
def test_missing_extra_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['jinja2'] = None; from quotakernels.cli import main; "
        "sys.argv = 'quotakernels report --example credit -o x.html'.split(); sys.exit(main())"
    )
    command = [sys.executable, "-c", code]
    root = Path(qk.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert 'pip install "quotakernels[report]"' in done.stderr


# one file, and nothing that data could smuggle in


@pytest.fixture(scope="module")
def hostile(made: Made, small: Path) -> Path:
    names = ("--label", "</title><b>label", "--score", EVIL, "--score", ODD)
    return made(small, *names, "--gain", "g", "--quota", 7, "--quota", "50%", *FEW)


@pytest.mark.full
def test_names_from_the_data_are_texts(hostile: Path) -> None:
    page = read(hostile)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("title") == 1
    assert tags.count("script") == 2, "those of the page itself"
    assert not {"b", "i", "foreignobject"} & set(tags)
    assert EVIL in page.text
    drawn = [x for tag, x in page.texts if tag == "text"]
    assert any(x.startswith("<script>") for x in drawn), "in a drawing too"
    assert ODD in drawn, "not taken for mathematics"


@pytest.mark.parametrize("which", ["credit", "hostile"])
def test_nothing_comes_from_elsewhere(made: Made, hostile: Path, which: str) -> None:
    path = made(*EXAMPLE) if which == "credit" else hostile
    source, page = path.read_text(encoding="utf-8"), read(path)
    assert not [x for tag, x in page.elements if tag in {"img", "iframe", "object"}]
    assert_only_its_own_script_runs(source, page)
    assert list(page.attributes("src")) == []
    links = (*page.attributes("href"), *page.attributes("xlink:href"))
    assert all(x.startswith(("#", "data:,")) for x in links)
    assert all(x.startswith("#") for x in re.findall(r"url\(([^)]*)\)", source))
    assert "@import" not in source
    handlers = {name for _, x in page.elements for name in x if name.startswith("on")}
    assert handlers == set()
    assert len(source.encode()) < 300_000


def assert_only_its_own_script_runs(source: str, page: Page) -> None:
    """A policy with the hash of the script; the other one is data, which no name can end."""
    lines, script = (x for tag, x in page.texts if tag == "script")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(x for x in page.attributes("content") if "default-src" in x)
    assert f"script-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy.partition("script-src")[2]
    assert len(script) < 6_000
    assert len(lines) < 50_000
    assert [set(x) for x in json.loads(lines)["models"]]
    assert not set("<>&") & set(lines)
    assert source.count("<script") == 2


def test_ids_are_unique_and_references_find_them(credit: Page) -> None:
    ids = list(credit.attributes("id"))
    assert len(ids) == len(set(ids))
    used = {x[1:] for x in credit.attributes("href") if x.startswith("#")}
    used |= {
        name
        for _, attributes in credit.elements
        for value in attributes.values()
        for name in re.findall(r"url\(#([^)]*)\)", value or "")
    }
    assert used
    assert used <= set(ids)


def test_drawings_are_named_and_hold_text(credit: Page) -> None:
    drawings = [x for tag, x in credit.elements if tag == "svg" and "aria-hidden" not in x]
    *of_all, scores = drawings
    assert len(of_all) == 6
    assert all(x["role"] == "img" and "naive_bayes" in (x["aria-label"] or "") for x in of_all)
    assert (scores["aria-label"] or "").startswith("Scores of both classes by ")
    assert ("text", "Qrecall") in credit.texts
    assert "neural_net the quota random choice" in credit.text, "which a slider moves"


@pytest.mark.full
def test_a_page_of_many_rows_is_small(made: Made, tmp_path: Path) -> None:
    """64,000 rows and four models, whose noisy curves are the longest to draw."""
    rng = np.random.default_rng(1)
    y = rng.random(64_000) < 0.4
    names = ["a", "b", "c", "d"]
    columns = {"y": y} | {x: rng.normal(size=y.size) + 0.3 * y for x in names}
    parquet.write_table(pa.table(columns), tmp_path / "many.parquet")
    scores = [word for x in names for word in ("--score", x)]
    options = ("--label", "y", *scores, "--quota", "5%", "--impact", "1,-1,0,0", "--resamples", 1)
    assert made(tmp_path / "many.parquet", *options).stat().st_size < 1_000_000


@pytest.mark.full
def test_groups_are_drawn_and_listed(made: Made, small: Path) -> None:
    options = ("--label", "y", "--score", "a", "--score", "b", "--quota", 5, "--resamples", 20)
    page = read(made(small, *options, "--per", "part"))
    assert "Hit rate by part" in page.text
    assert "Hit rate in each part, at quota 5 of each part (10 rows)." in page.text
    assert "These curves are of all rows together, not of each part." in page.text
    assert "At quota 5 of each part (10 rows): means over part (2)" in page.text
    assert "--quota 5 --per part -o selected.csv" in page.text
    assert "10 places: 5 of each part (2 groups)." in page.text


def test_rows_with_a_missing_value_are_counted_and_left_out_by_its_command_too(
    made: Made, tmp_path: Path
) -> None:
    """A share of the rows that have every value is told to the command as a number of places."""
    file, rng = tmp_path / "Bäume.csv", np.random.default_rng(5)
    labels = [
        "ja" if x else "" if k % 20 == 3 else "nein" for k, x in enumerate(rng.random(100) < 0.4)
    ]
    rows = [f"{y};{x:.3f}".replace(".", ",") for y, x in zip(labels, rng.random(100), strict=True)]
    file.write_text("\n".join(["Käufer;Wert", *rows]), encoding="latin-1")
    reading = ("--encoding", "latin-1", "--drop-missing")
    options = ("--label", "Käufer", "--score", "Wert", "--pos-label", "ja", "--quota", "10%")
    page = read(made(file, *options, *reading, *FEW, drawn=False))
    missing = sum(not x for x in labels)
    assert 0 < missing < 10
    assert f"Rows left out {missing}: a missing value Rows evaluated {100 - missing}" in page.text
    assert f", 1 model; {missing} with a missing value left out" in page.text
    command = next(x for tag, x in page.texts if tag == "code" and " select " in x)
    words = shlex.split(command.replace("selected.csv", shlex.quote(str(tmp_path / "out.csv"))))
    assert run(*words[1:]).status == 0
    chosen = (tmp_path / "out.csv").read_text(encoding="utf-8-sig").splitlines()[1:]
    assert len(chosen) == (100 - missing) // 10


# what the page answers where models tie, where nothing pays, and where resamples say little


Making = Callable[..., Path]
TWO = ("--label", "y", "--score", "a", "--score", "b")
SIXTY = ("--resamples", 60)


def answers(made: Making, *arguments: Any) -> str:
    return read(made(*arguments, drawn=False)).text.partition("On this page")[0]


def test_tests_of_many_models_get_resamples_enough() -> None:
    ample = [8 * 239, 8 * 839]
    assert [resamples_for(n, None) for n in (0, 3, 4, 7, 60)] == [1000, 1000, *ample, 20000]
    assert resamples_for(4, 0.9) == 1000
    for models in (2, 7, 8, 30):
        plain, drawn = (
            Resampling.asked(None, True, None, None, models, gains=x) for x in (False, True)
        )
        assert plain is not None
        assert drawn is not None
        assert not few_resamples(drawn.resamples, models, 0.95)
        assert (drawn.resamples == 1000) == (models < 8)
        assert plain == replace(drawn, resamples=1000)


def test_the_first_for_sure_is_not_told_again_to_be_better(made: Making, tmp_path: Path) -> None:
    best = list(range(200, 0, -1))
    path = write_csv(tmp_path / "sure.csv", y=[1] * 80 + [0] * 120, a=best, b=best[::-1])
    said = answers(made, path, *TWO, "--quota", 60, *SIXTY)
    assert "Sure that a is the best a finds 60 more than b in 60 places" in said
    assert "It is better than" not in said


def test_models_that_find_as_many_share_quotas(made: Making, tmp_path: Path) -> None:
    """So that what the first three have adds up to more than all, and leaves no rest."""
    y = [1, 0] * 10
    best = [2 * x - k / 20 for k, x in enumerate(y)]
    columns = dict(zip("abcd", (best, best, best, y), strict=True))
    path = write_csv(tmp_path / "alike.csv", y=y, e=range(20, 0, -1), **columns)
    scores = [x for name in "abcde" for x in ("--score", name)]
    said = answers(made, path, "--label", "y", *scores, *SIXTY)
    assert ": a at 100.0% of all quotas, b at 100.0%, c at 100.0% and others at no more." in said


def test_fewer_places_have_a_command(made: Making, tmp_path: Path) -> None:
    """Where they are the answer, and the best of all cuts lies beyond the quota."""
    y = [1] * 10 + [0] * 10 + [1] * 30 + [0] * 50
    path = write_csv(tmp_path / "waves.csv", y=y, s=range(100, 0, -1), gain=[2 * x - 1 for x in y])
    asked = (path, "--label", "y", "--score", "s", "--gain", "gain", *SIXTY, "--quota")
    page = read(made(*asked, 20, drawn=False)).text
    assert "How many should I take? 10 of the 20 places" in page
    fill = "Fill 10 of the 20 places by s, which bring more than all: quotakernels select"
    assert fill in page
    assert "--score s --quota 10 -o selected.csv" in page.partition(fill)[2]
    assert "which bring more than all" not in read(made(*asked, 60, drawn=False)).text


def test_no_more_is_expected_of_a_best_cut_than_it_brings() -> None:
    gains, drawn = [1.0, 1, -1, 1], {"confidence_level": 0.95, "n_resamples": 2}
    for seed in range(20):
        found = qk.evaluate([1, 0, 1, 0], [4, 3, 2, 1], gain=gains, random_state=seed, **drawn)
        assert found.gains.at_best_cut.of("expected")[0] <= 2


@pytest.mark.full
def test_letters_without_a_glyph_are_no_warning(made: Making, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "kanji.csv", y=[0, 1, 0, 1], 漢字=[4, 3, 2, 1], b=[1, 2, 3, 4])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Glyph")
        page = read(made(path, "--label", "y", "--score", "漢字", "--score", "b", *SIXTY))
    assert ("text", "漢字") in page.texts
