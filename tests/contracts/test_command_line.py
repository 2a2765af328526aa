"""What the command prints, writes and answers to mistakes, compared with `command_line.txt`.

That file is a transcript. A line that begins with `$` is typed, and below it are the lines of the
standard output, those of the standard error after `!`, and the exit status in brackets if it is not
0. Every part under a heading is one test, in a directory of its own with the files of `INPUTS`.
Beside the command, `printf TEXT > FILE` writes a file, `cat FILE` shows one, and `words FILE` shows
the text of a page. After a change that is meant, `python tests/contracts/test_command_line.py`
writes the transcript again.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")

import numpy as np
import pyarrow as pa
from pyarrow import csv, feather, parquet

from quotakernels.cli import main

TRANSCRIPT = Path(__file__).with_name("command_line.txt")
HIDDEN = re.compile(
    r"^(Usage: .*|Try 'quotakernels .*|)$|\d{4}-\d\d-\d\d \d\d:\d\d UTC|^quotakernels \d|: \d+ kB,"
)


def customers() -> pa.Table:
    """Forty rows with ties: two models, money, groups and a treatment."""
    rows = np.arange(40)
    bought = (rows * 7 % 10 < 3).astype(int)
    return pa.table(
        {
            "id": rows + 1,
            "bought": bought,
            "a": np.round(0.5 * bought + rows * 13 % 20 / 20, 2),
            "b": np.round(rows * 11 % 17 / 10, 1),
            "w": 1.0 + rows % 2,
            "spend": np.round(bought * (rows % 6 + 1.5) - 0.25, 2),
            "cost": 1.0 + rows % 3,
            "branch": [("north", "south", "west")[x % 3] for x in rows],
            "mailed": rows % 2,
            "part": ["u" if x < 20 else "v" for x in rows],
        }
    )


def long_list() -> pa.Table:
    """200 rows: `a` is right about 50 of the 80 positives, and about the 20 that bring much; `b`
    about all positives. `noise` is 1 at the first row of `a`, 0 at the second, and then at random.
    """
    rows, rng = np.arange(200), np.random.default_rng(5)
    y = (rows < 80).astype(int)
    noise = (rng.random(200) < 0.5).astype(int)
    noise[:2] = [1, 0]
    return pa.table(
        {
            "y": y,
            "bad": 1 - y,
            "a": np.where(rows < 50, 400 - rows, rng.permutation(200)),
            "b": np.where(y, 200, 0) + rng.permutation(200) / 1000,
            "w": 1 + y,
            "noise": noise,
            "gain": np.where(rows < 20, 100, -9),
            "loss": -1 - rng.random(200).round(2),
        }
    )


def write_inputs() -> None:
    """Write the same rows in several formats, and in parts; and a long list."""
    csv.write_csv(long_list(), "long.csv")
    table = customers()
    csv.write_csv(table, "c.csv")
    parquet.write_table(table, "c.parquet")
    feather.write_feather(table, "c.arrow")
    Path("parts").mkdir()
    for k in range(2):
        parquet.write_table(table.slice(20 * k, 20), f"parts/{k}.parquet")


class Words(HTMLParser):
    """The text of a page, without that of styles and scripts, a line for each block."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = [""]
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden += tag in ("style", "script", "svg")
        if tag not in ("code", "b", "strong", "span", "em", "wbr", "a", "th", "td"):
            self.found.append("")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("style", "script", "svg")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.found[-1] += f"{data} "

    def lines(self) -> str:
        joined = (" ".join(x.split()) for x in self.found)
        return "".join(f"{x}\n" for x in joined if x)


def typed(line: str) -> str:
    """What is printed below a line."""
    command, *words = shlex.split(line)
    if command == "printf":
        text, _, name = words
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(text.encode().decode("unicode_escape").encode("latin-1"))
        return ""
    if command == "cat":
        return Path(words[0]).read_bytes().decode().replace("\r", "\\r")
    if command == "words":
        page = Words()
        page.feed(Path(words[0]).read_text(encoding="utf-8"))
        return page.lines()
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["quotakernels", command, *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            status = main()
        except SystemExit as stop:
            status = int(stop.code or 0)
    complaints = "".join(f"! {x}\n" for x in err.getvalue().splitlines())
    return out.getvalue() + complaints + (f"[{status}]\n" if status else "")


def shown(line: str) -> str:
    """The line and what is printed, without what differs from day to day."""
    lines = [x.rstrip() for x in typed(line).splitlines()]
    kept = [x for x in lines if not HIDDEN.search(x.removeprefix("! ").removeprefix("!"))]
    return "\n".join([f"$ {line}", *kept])


def parts() -> dict[str, str]:
    """The parts of the transcript by their headings."""
    _, *found = re.split(r"^## (.*)\n", TRANSCRIPT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(found[::2], (x.strip("\n") for x in found[1::2]), strict=True))


def played(part: str) -> str:
    """A part with what its lines print now."""
    write_inputs()
    lines = (x.removeprefix("$ ") for x in part.splitlines() if x.startswith("$ "))
    return "\n".join(map(shown, lines))


@pytest.mark.parametrize("heading", parts())
def test_the_command_prints_what_it_did(
    heading: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if heading.endswith("(page)"):
        pytest.importorskip("jinja2")
        pytest.importorskip("matplotlib")
    if heading.endswith("(sheet)"):
        pytest.importorskip("openpyxl")
    monkeypatch.chdir(tmp_path)
    for variable in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(variable, raising=False)
    expected = parts()[heading]
    assert played(expected) == expected


def write() -> None:
    """Write the transcript again."""
    texts = []
    home = Path.cwd()
    for heading, part in parts().items():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            texts.append(f"## {heading}\n{played(part)}\n")
            os.chdir(home)
    TRANSCRIPT.write_text("\n".join(texts), encoding="utf-8")


if __name__ == "__main__":
    write()
