"""What the command prints, writes and answers to mistakes, compared with `command_line.txt`.

That file is a transcript. A line that begins with `$` is typed, and below it are the lines of the
standard output, those of the standard error after `!`, and the exit status in brackets if it is not
0. Every part under a heading is one test, in a directory of its own with the files of
`write_inputs`. Beside the command,

- `printf TEXT > FILE …` writes files, `cat FILE` shows one, and `words FILE` shows the text of a
  page;
- `iconv ENCODING FILE` writes a file again in another encoding, `convert FILE.csv FILE.parquet` and
  `sheet FILE.csv FILE.xlsx TITLE …` write it in another format, a sheet behind those of the titles;
- `auc` is `evaluate` that shows only the AUC of the first model;
- `rows` is `evaluate` that shows only how many rows and positives there are: from memory, and then
  from a stream if that says something else.

Where a heading ends with `(few bits)`, streams tell few scores apart, so that bounds are left.

With QUOTAKERNELS_WRITE=1 in the environment it is written again: read what has changed.
"""

from __future__ import annotations

import gzip
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, time
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")

import numpy as np
import pyarrow as pa
from command import Outcome, run, write_excel
from pyarrow import csv, feather, parquet

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


def of_many_types() -> pa.Table:
    """Six rows with a column of each type that conditions may be about."""
    wide, hours = 12345678901234567890, [datetime(2026, 1, k, 12, tzinfo=UTC) for k in range(1, 7)]
    prices = map(Decimal, ("1.50", "2.25", "-3.10", "0.01", "9.99", "0"))
    return pa.table(
        {
            "y": [0, 1, 0, 1, 1, 0],
            "s": [0.1, 0.9, 0.3, 0.7, 0.5, 0.2],
            "h": np.float16([0.1, 0.9, 0.3, 0.7, 0.5, 0.2]),
            "train": [False, True, False, False, False, True],
            "big": [2**53, 2**53 + 1, 2**53 + 2, 2**60, 5, 6],
            "u1": pa.array([1, 2, 3, 200, 255, 0], pa.uint8()),
            "u8": pa.array([2**64 - 1, 2**64 - 2, 1, 2, 3, 4], pa.uint64()),
            "price": pa.array(prices, pa.decimal128(9, 2)),
            "wide": pa.array([Decimal(wide + k) for k in range(6)], pa.decimal128(38, 0)),
            "k": [1.0, 2.0, np.nan, 4.0, np.inf, -6.0],
            "text": ["a", "b", "nan", "1", "a", "0"],
            "day": [x.date() for x in hours],
            "zoned": pa.array(hours, pa.timestamp("us", "UTC")),
            "hour": [time(k) for k in range(6)],
            "list": [[1]] * 6,
        }
    )


def write_inputs() -> None:
    """Write the same rows in several formats, and in parts; a long list, and many types."""
    parquet.write_table(of_many_types(), "types.parquet", row_group_size=4)
    feather.write_feather(of_many_types(), "types.arrow", compression="uncompressed")
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


def printf(text: str, _: str, *names: str) -> str:
    for name in names:
        content = text.encode().decode("unicode_escape").encode("latin-1")
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return ""


def cat(name: str) -> str:
    return Path(name).read_bytes().decode().replace("\r", "\\r")


def iconv(encoding: str, name: str) -> str:
    Path(name).write_bytes(Path(name).read_bytes().decode().encode(encoding))
    return ""


def convert(source: str, target: str) -> str:
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    lines = csv.ParseOptions(newlines_in_values=True)
    empty = csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    parquet.write_table(csv.read_csv(source, None, lines, empty), target)
    return ""


def sheet(source: str, target: str, *before: str) -> str:
    write_excel(Path(target), Path(source).read_text(encoding="utf-8").splitlines(), *before)
    return ""


def words(name: str) -> str:
    page = Words()
    page.feed(Path(name).read_text(encoding="utf-8"))
    return page.lines()


def auc(*arguments: str) -> str:
    outcome = run("evaluate", *arguments, "--json")
    return printed(outcome if outcome.status else replace(outcome, out=f"{outcome.auc}\n"))


def rows(*arguments: str) -> str:
    told = []
    for engine in ("memory", "stream"):
        outcome = run("evaluate", *arguments, "--json", "--engine", engine)
        if outcome.status == 0:
            found = "rows: {rows}, positive: {positives}\n".format(**outcome.record)
            outcome = replace(outcome, out=found)
        told.append(printed(outcome))
    return told[0] if told[0] == told[1] else "".join(told)


def printed(outcome: Outcome) -> str:
    complaints = "".join(f"! {x}\n" for x in outcome.err.splitlines())
    return outcome.out + complaints + (f"[{outcome.status}]\n" if outcome.status else "")


BESIDE: dict[str, Callable[..., str]] = {
    x.__name__: x for x in (printf, cat, iconv, convert, sheet, words, auc, rows)
}


def typed(line: str) -> str:
    """What is printed below a line."""
    name, *arguments = shlex.split(line)
    return BESIDE[name](*arguments) if name in BESIDE else printed(run(name, *arguments))


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
    if heading.endswith("(few bits)"):
        monkeypatch.setattr("quotakernels.evaluation.batches._BITS", 6)
    monkeypatch.chdir(tmp_path)
    kept = parts()[heading]
    found = played(kept)
    if os.environ.get("QUOTAKERNELS_WRITE"):
        TRANSCRIPT.write_text(TRANSCRIPT.read_text("utf-8").replace(kept, found), "utf-8")
    else:
        assert found == kept
